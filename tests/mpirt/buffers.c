/* Buffers and their iterators, before and after commit. */
#include "harness.h"

enum { SIZE = 8, COUNT = 3 };

static MPIRT_Buffer buffer(int label)
{
    MPIRT_Buffer made;
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_INT32, &made));
    OK(MPIRT_Buffer_set_label(made, label));
    return made;
}

static MPIRT_Bufiter iterator(MPIRT_Bufiter_policy policy, MPIRT_Container allowed)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, policy, SIZE, MPIRT_INT32, allowed, &made));
    return made;
}

/* spec: MPIRT_Buffer_create, MPIRT_Buffer_create/BUFSIZE, MPIRT_Buffer_create/DATASPEC, MPIRT_Buffer_free */
/* spec: MPIRT_Buffer_get_bufsize, MPIRT_Buffer_get_base, MPIRT_Buffer_get_label, MPIRT_Buffer_set_label */
static void test_attributes_of_a_buffer(void)
{
    int32_t own[2];
    MPIRT_Buffer made;
    size_t size;
    int64_t label;
    void *base;
    OK(MPIRT_Buffer_create("own", own, sizeof own, MPIRT_INT32, &made));
    OK(MPIRT_Buffer_get_bufsize(made, &size));
    OK(MPIRT_Buffer_get_base(made, &base));
    CHECK(size == sizeof own && base == own);
    OK(MPIRT_Buffer_set_label(made, INT64_MIN));
    OK(MPIRT_Buffer_get_label(made, &label));
    CHECK(label == INT64_MIN);
    OK(MPIRT_Buffer_free(&made));
    EXPECT(MPIRT_Buffer_get_bufsize(made, &size), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Buffer_create("b", own, 0, MPIRT_INT32, &made), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_create("b", own, 6, MPIRT_INT32, &made), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_create("b", own, (size_t)MPIRT_BUFSIZE_MAX + 4, MPIRT_INT32, &made), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_create("b", own, SIZE_MAX, MPIRT_BYTE, &made), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_create("b", own, 4, (MPIRT_Dataspec)99, &made), MPIRT_ERR_DATASPEC);
    EXPECT(MPIRT_Buffer_create("b", (void *)(UINTPTR_MAX - 7), 16, MPIRT_INT32, &made), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_create("b", NULL, 4, MPIRT_INT32, &made), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Buffer_create("b", own, 4, MPIRT_INT32, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: MPIRT_Buffer_set_bufsize, MPIRT_Buffer_set_bufsize/BUFSIZE, MPIRT_Buffer_set_base, MPIRT_Buffer_get_dataspec */
/* spec: MPIRT_Buffer_set_dataspec, MPIRT_Buffer_set_dataspec/DATASPEC, MPIRT_Buffer_set_dataspec/BUFSIZE */
/* spec: MPIRTX_Buffer_set_length/BUFSIZE, MPIRTX_Buffer_get_instance/UNDEF_FOR_OBJECT */
/* spec: BUFFER-CREATE-01, BUFFER-SET-01, BUFFER-SIZE-01, BUFFER-SIZE-02, BUFFER-LABEL-02 */
static void test_attributes_that_change(void)
{
    char own[2][16], name[MPIRT_NAME_MAX];
    MPIRT_Buffer made;
    MPIRT_Dataspec spec;
    MPIRT_Timespec inserted;
    uint64_t instance;
    int64_t label;
    size_t size;
    void *base;
    OK(MPIRT_Buffer_create("changes", own[0], 16, MPIRT_INT64, &made));
    OK(MPIRT_Buffer_get_label(made, &label));
    OK(MPIRT_Buffer_get_dataspec(made, &spec));
    OK(MPIRT_Buffer_get_name(made, name));
    CHECK(label == 0 && spec == MPIRT_INT64 && strcmp(name, "changes") == 0);
    EXPECT(MPIRT_Buffer_set_bufsize(made, 12), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_set_bufsize(made, 0), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_set_bufsize(made, (size_t)MPIRT_BUFSIZE_MAX + 8), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Buffer_set_bufsize(MPIRT_BUFFER_NULL, 8), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRTX_Buffer_set_length(made, 9));
    OK(MPIRTX_Buffer_get_length(made, &size));
    CHECK(size == 9);
    EXPECT(MPIRTX_Buffer_set_length(made, 17), MPIRT_ERR_BUFSIZE);
    OK(MPIRT_Buffer_set_bufsize(made, 8));
    OK(MPIRT_Buffer_get_bufsize(made, &size));
    CHECK(size == 8);
    OK(MPIRTX_Buffer_get_length(made, &size));
    CHECK(size == 8);
    EXPECT(MPIRT_Buffer_set_dataspec(made, (MPIRT_Dataspec)17), MPIRT_ERR_DATASPEC);
    OK(MPIRT_Buffer_set_bufsize(made, 16));
    OK(MPIRT_Buffer_set_dataspec(made, MPIRT_CHAR));
    OK(MPIRT_Buffer_set_bufsize(made, 13));
    EXPECT(MPIRT_Buffer_set_dataspec(made, MPIRT_DOUBLE), MPIRT_ERR_BUFSIZE);
    OK(MPIRT_Buffer_get_dataspec(made, &spec));
    CHECK(spec == MPIRT_CHAR);
    OK(MPIRT_Buffer_set_base(made, own[1]));
    OK(MPIRT_Buffer_get_base(made, &base));
    CHECK(base == own[1]);
    EXPECT(MPIRT_Buffer_set_base(made, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Buffer_set_base(made, MPIRT_SYSTEM_MEM_ALLOC));
    OK(MPIRT_Buffer_get_base(made, &base));
    CHECK(base == NULL);
    EXPECT(MPIRTX_Buffer_get_instance(made, &instance, &inserted), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Buffer_get_instance(made, NULL, &inserted), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Commit());
    EXPECT(MPIRT_Buffer_set_bufsize(made, 8), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Buffer_set_base(made, own[0]), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Buffer_set_dataspec(made, MPIRT_BYTE), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Buffer_get_instance(made, &instance, &inserted), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Buffer_get_dataspec(made, &spec));
    OK(MPIRT_Buffer_get_bufsize(made, &size));
    CHECK(spec == MPIRT_CHAR && size == 13);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Buffer_free(&made));
}

/* spec: MPIRT_Dataspec_size, MPIRT_Dataspec_size/DATASPEC, BUFFER-SPEC-01, BUFFER-SPEC-02, BUFFER-SPEC-03 */
static void test_sizes_of_elements(void)
{
    static const size_t sizes[] = {
        [MPIRT_INT] = sizeof(int), [MPIRT_FLOAT] = sizeof(float), [MPIRT_DOUBLE] = sizeof(double),
        [MPIRT_LOGICAL] = sizeof(int), [MPIRT_CHAR] = sizeof(char), [MPIRT_BYTE] = 1, [MPIRT_TIME] = sizeof(MPIRT_Timespec),
        [MPIRT_INT8] = 1, [MPIRT_INT16] = 2, [MPIRT_INT32] = 4, [MPIRT_INT64] = 8,
        [MPIRT_UINT8] = 1, [MPIRT_UINT16] = 2, [MPIRT_UINT32] = 4, [MPIRT_UINT64] = 8,
        [MPIRT_FLOAT32] = 4, [MPIRT_FLOAT64] = 8,
    };
    size_t size;
    for (size_t spec = 0; spec < sizeof sizes / sizeof *sizes; spec++) {
        OK(MPIRT_Dataspec_size((MPIRT_Dataspec)spec, &size));
        CHECK(size == sizes[spec]);
    }
    EXPECT(MPIRT_Dataspec_size((MPIRT_Dataspec)17, &size), MPIRT_ERR_DATASPEC);
    EXPECT(MPIRT_Dataspec_size((MPIRT_Dataspec)-1, &size), MPIRT_ERR_DATASPEC);
    EXPECT(MPIRT_Dataspec_size(MPIRT_INT, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: BUFFER-MEMORY-02, BUFFER-MEMORY-03, BUFFER-MEMORY-04, BUFFER-MEMORY-05 */
static void test_memory_of_the_library(void)
{
    enum { BUFFERS = 5 };
    static const size_t sizes[BUFFERS] = {1, 63, 64, 5000, 100000};
    MPIRT_Buffer made[BUFFERS];
    void *bases[BUFFERS];
    for (int place = 0; place < BUFFERS; place++) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizes[place], MPIRT_BYTE, &made[place]));
        OK(MPIRT_Buffer_get_base(made[place], &bases[place]));
        CHECK(bases[place] == NULL);
    }
    OK(MPIRT_Commit());
    for (int place = 0; place < BUFFERS; place++) {
        OK(MPIRT_Buffer_get_base(made[place], &bases[place]));
        CHECK(bases[place] != NULL && (uintptr_t)bases[place] % 64 == 0);
        for (size_t byte = 0; bases[place] != NULL && byte < sizes[place]; byte++)
            CHECK(((char *)bases[place])[byte] == 0);
        memset(bases[place], 0x77, sizes[place]);
    }
    for (int place = 0; place < BUFFERS; place++)
        for (int other = 0; other < place; other++)
            CHECK((char *)bases[place] + sizes[place] <= (char *)bases[other]
                  || (char *)bases[other] + sizes[other] <= (char *)bases[place]);
    OK(MPIRT_Uncommit());
    for (int place = 0; place < BUFFERS; place++) {
        OK(MPIRT_Buffer_get_base(made[place], &bases[place]));
        CHECK(bases[place] == NULL);
        OK(MPIRT_Buffer_free(&made[place]));
    }
}

/* spec: MPIRT_Bufiter_create, MPIRT_Bufiter_create/ARGUMENT, MPIRT_Bufiter_create/BUFSIZE, MPIRT_Bufiter_create/DATASPEC */
/* spec: MPIRT_Bufiter_free */
static void test_what_an_iterator_is_made_of(void)
{
    MPIRT_Bufiter made;
    MPIRT_Cset empty;
    MPIRT_Container none = MPIRT_CONTAINER_NULL;
    OK(MPIRT_Cset_create("empty", &empty));
    EXPECT(MPIRT_Bufiter_create("i", (MPIRT_Bufiter_policy)77, SIZE, MPIRT_INT32, none, &made), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT32, MPIRT_CONTAINER(empty), &made),
           MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO_ORDERED, SIZE, MPIRT_INT32, none, &made), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, 6, MPIRT_INT32, none, &made), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, SIZE, (MPIRT_Dataspec)-1, none, &made), MPIRT_ERR_DATASPEC);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT32, none, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Bufiter_create("i", MPIRT_BUFITER_LIFO, SIZE, MPIRT_INT32, none, &made));
    OK(MPIRT_Bufiter_free(&made));
    OK(MPIRT_Cset_free(&empty));
}

/* spec: MPIRT_Bufiter_get_policy, MPIRT_Bufiter_get_bufsize, MPIRT_Bufiter_get_dataspec, MPIRT_Bufiter_get_allowed */
/* spec: BUFITER-CREATE-01, BUFITER-MAPPED-04, BUFITER-ALLOWED-03, BUFITER-ALLOWED-04 */
/* spec: MPIRT_Commit/BUFSIZE, MPIRT_Commit/DATASPEC, MPIRTX_Commit_group/BUFSIZE, MPIRTX_Commit_group/DATASPEC */
static void test_what_an_iterator_tells(void)
{
    MPIRT_Container allowed, none = MPIRT_CONTAINER_NULL;
    MPIRT_Buffer one = buffer(0), wide;
    MPIRT_Bufiter_policy policy;
    MPIRT_Dataspec spec;
    MPIRT_Bufiter made, other;
    MPIRT_Cvector vector, twice;
    MPIRT_Cset set;
    MPIRT_Object objects[2];
    const char *detail;
    size_t size;
    int count;
    objects[0] = objects[1] = MPIRT_OBJECT(one);
    OK(MPIRT_Cvector_create("one", 1, objects, &vector));
    OK(MPIRT_Cvector_create("twice", 2, objects, &twice));
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(one)));
    for (int number = MPIRT_BUFITER_FIFO; number <= MPIRT_BUFITER_UNORDERED_ORDERED; number++) {
        int is_plain = number <= MPIRT_BUFITER_UNORDERED;
        OK(MPIRT_Bufiter_create("i", (MPIRT_Bufiter_policy)number, SIZE, MPIRT_INT32, MPIRT_CONTAINER(vector), &made));
        OK(MPIRT_Bufiter_get_policy(made, &policy));
        OK(MPIRT_Bufiter_get_bufsize(made, &size));
        OK(MPIRT_Bufiter_get_dataspec(made, &spec));
        OK(MPIRT_Bufiter_get_allowed(made, &allowed));
        CHECK((int)policy == number && size == SIZE && spec == MPIRT_INT32 && allowed.bits == vector.bits);
        OK(MPIRT_Bufiter_free(&made));
        EXPECT(MPIRT_Bufiter_create("i", (MPIRT_Bufiter_policy)number, SIZE, MPIRT_INT32, none, &made),
               is_plain ? MPIRT_SUCCESS : MPIRT_ERR_ARGUMENT);
        if (is_plain) {
            OK(MPIRT_Bufiter_get_allowed(made, &allowed));
            CHECK(allowed.bits == 0);
            OK(MPIRT_Bufiter_free(&made));
        }
        EXPECT(MPIRT_Bufiter_create("i", (MPIRT_Bufiter_policy)number, SIZE, MPIRT_INT32, MPIRT_CONTAINER(set), &made),
               is_plain ? MPIRT_SUCCESS : MPIRT_ERR_ARGUMENT);
        if (is_plain)
            OK(MPIRT_Bufiter_free(&made));
    }
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT32, MPIRT_CONTAINER(twice), &made),
           MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, 2 * SIZE, MPIRT_INT32, MPIRT_CONTAINER(vector), &made),
           MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(vector), &made),
           MPIRT_ERR_DATASPEC);
    /* A buffer may be allowed in several; what is changed later is found at commit. */
    OK(MPIRT_Bufiter_create("i", MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT32, MPIRT_CONTAINER(vector), &made));
    OK(MPIRT_Bufiter_create("j", MPIRT_BUFITER_LIFO, SIZE, MPIRT_INT32, MPIRT_CONTAINER(vector), &other));
    OK(MPIRT_Bufiter_insert(made, one));
    EXPECT(MPIRT_Bufiter_insert(other, one), MPIRT_ERR_BUFFER_IN_USE);
    OK(MPIRTX_Bufiter_get_count(made, &count));
    CHECK(count == 1);
    OK(MPIRT_Bufiter_remove(made, &wide));
    OK(MPIRT_Bufiter_insert(other, one));
    OK(MPIRT_Bufiter_remove(other, &wide));
    if (members == 1) {
        OK(MPIRT_Buffer_set_name(one, "odd"));
        OK(MPIRT_Buffer_set_bufsize(one, 2 * SIZE));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_BUFSIZE);
        OK(MPIRTX_Error_detail(&detail));
        CHECK(strstr(detail, "\"odd\"") != NULL);
        /* Where there is no name, numbers and sizes tell which. */
        OK(MPIRT_Buffer_set_name(one, NULL));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_BUFSIZE);
        CHECK(detail_says("the buffer number ") && detail_says("has 16 bytes, and the iterator is for 8"));
        EXPECT(MPIRTX_Commit_group(MPIRT_GROUP_WORLD), MPIRT_ERR_BUFSIZE);
        OK(MPIRT_Buffer_set_bufsize(one, SIZE));
        OK(MPIRT_Buffer_set_dataspec(one, MPIRT_BYTE));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_DATASPEC);
        EXPECT(MPIRTX_Commit_group(MPIRT_GROUP_WORLD), MPIRT_ERR_DATASPEC);
        OK(MPIRT_Buffer_set_dataspec(one, MPIRT_INT32));
    }
    OK(MPIRT_Bufiter_free(&made));
    OK(MPIRT_Bufiter_free(&other));
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Cvector_free(&twice));
    OK(MPIRT_Cset_free(&set));
    OK(MPIRT_Buffer_free(&one));
}

/* Inserts all, and checks the order in which they come out. */
static void comes_out(MPIRT_Bufiter where, const MPIRT_Buffer *buffers, const int *order)
{
    MPIRT_Buffer removed;
    for (int place = 0; place < COUNT; place++)
        OK(MPIRT_Bufiter_insert(where, buffers[place]));
    EXPECT(MPIRT_Bufiter_insert(where, buffers[0]), MPIRT_ERR_BUFFER_IN_USE);
    for (int place = 0; place < COUNT; place++) {
        OK(MPIRT_Bufiter_remove(where, &removed));
        CHECK(removed.bits == buffers[order[place]].bits);
    }
    EXPECT(MPIRT_Bufiter_remove(where, &removed), MPIRT_ERR_EMPTY);
}

/* spec: MPIRT_Bufiter_remove, MPIRT_Bufiter_remove/EMPTY, MPIRT_Bufiter_insert/NOT_ALLOWED, ERROR-OUT-02 */
/* spec: MPIRT_Bufiter_insert/BUFSIZE, MPIRT_Bufiter_insert/DATASPEC, MPIRT_Bufiter_insert/BUFFER_IN_USE */
/* spec: MPIRT_Bufiter_insert, MPIRT_Buffer_set_label/BUFFER_IN_USE, MPIRTX_Buffer_set_length/BUFFER_IN_USE */
/* spec: BUFITER-FIFO-01, BUFITER-LIFO-01, BUFITER-SORTED-01, BUFITER-ORDERED-01, BUFITER-CREATE-02 */
/* spec: BUFITER-ALLOWED-01, BUFITER-ALLOWED-02, BUFITER-REMOVE-01, BUFFER-LABEL-01, BUFFER-LABEL-03, BUFFER-STATE-01 */
/* spec: BUFFER-STATE-02, BUFFER-STATE-03, BUFITER-LATE-03, MPIRT_Buffer_free/BUFFER_IN_USE, MPIRT_Object_free/BUFFER_IN_USE */
static void test_policies_while_committed(void)
{
    static const int in_order[COUNT] = {0, 1, 2}, backwards[COUNT] = {2, 1, 0}, by_label[COUNT] = {1, 2, 0};
    const int labels[COUNT] = {5, -5, 0};
    MPIRT_Container none = MPIRT_CONTAINER_NULL;
    MPIRT_Buffer buffers[COUNT], stranger, wide, bytes, removed;
    MPIRT_Object objects[COUNT];
    MPIRT_Bufiter fifo, lifo, sorted, ordered, stocked;
    MPIRT_Cvector allowed;
    void *base;
    for (int place = 0; place < COUNT; place++) {
        buffers[place] = buffer(labels[place]);
        objects[place] = MPIRT_OBJECT(buffers[place]);
    }
    stranger = buffer(0);
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 2 * SIZE, MPIRT_INT32, &wide));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &bytes));
    OK(MPIRT_Cvector_create("allowed", COUNT, objects, &allowed));
    fifo = iterator(MPIRT_BUFITER_FIFO, none);
    lifo = iterator(MPIRT_BUFITER_LIFO, none);
    sorted = iterator(MPIRT_BUFITER_SORTED, none);
    ordered = iterator(MPIRT_BUFITER_FIFO_ORDERED, MPIRT_CONTAINER(allowed));
    stocked = iterator(MPIRT_BUFITER_FIFO, none);
    OK(MPIRT_Bufiter_insert(stocked, stranger));
    EXPECT(MPIRT_Bufiter_insert(stocked, stranger), MPIRT_ERR_BUFFER_IN_USE);
    EXPECT(MPIRT_Buffer_free(&stranger), MPIRT_ERR_BUFFER_IN_USE);
    objects[0] = MPIRT_OBJECT(stranger);
    EXPECT(MPIRT_Object_free(&objects[0]), MPIRT_ERR_BUFFER_IN_USE);
    OK(MPIRT_Buffer_get_base(stranger, &base));
    CHECK(base == NULL);

    OK(MPIRT_Commit());
    comes_out(fifo, buffers, in_order);
    comes_out(lifo, buffers, backwards);
    comes_out(sorted, buffers, by_label);
    comes_out(ordered, buffers, in_order);
    EXPECT(MPIRT_Bufiter_insert(ordered, buffers[1]), MPIRT_ERR_NOT_ALLOWED);
    EXPECT(MPIRT_Bufiter_insert(ordered, stranger), MPIRT_ERR_NOT_ALLOWED);
    EXPECT(MPIRT_Bufiter_insert(fifo, wide), MPIRT_ERR_BUFSIZE);
    EXPECT(MPIRT_Bufiter_insert(fifo, bytes), MPIRT_ERR_DATASPEC);
    EXPECT(MPIRT_Bufiter_insert(fifo, stranger), MPIRT_ERR_BUFFER_IN_USE);
    EXPECT(MPIRT_Bufiter_insert(MPIRT_BUFITER_NULL, stranger), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Bufiter_insert(fifo, MPIRT_BUFFER_NULL), MPIRT_ERR_NULL_OBJECT);
    /* It takes nothing out: what is in it comes below. */
    EXPECT(MPIRT_Bufiter_remove(stocked, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Buffer_set_label(stranger, 1), MPIRT_ERR_BUFFER_IN_USE);
    EXPECT(MPIRTX_Buffer_set_length(stranger, 1), MPIRT_ERR_BUFFER_IN_USE);
    OK(MPIRT_Bufiter_remove(stocked, &removed));
    CHECK(removed.bits == stranger.bits);
    OK(MPIRT_Buffer_get_base(stranger, &base));
    CHECK(base != NULL);
    memset(base, 0x5a, SIZE);
    OK(MPIRT_Bufiter_insert(lifo, buffers[2]));
    OK(MPIRT_Uncommit());

    OK(MPIRT_Buffer_get_base(stranger, &base));
    CHECK(base == NULL);
    /* Uncommit takes every buffer out; what is inserted then is there after the next commit. */
    EXPECT(MPIRT_Bufiter_remove(lifo, &removed), MPIRT_ERR_EMPTY);
    OK(MPIRT_Bufiter_insert(fifo, buffers[2]));
    OK(MPIRT_Commit());
    OK(MPIRT_Bufiter_remove(fifo, &removed));
    CHECK(removed.bits == buffers[2].bits);
    EXPECT(MPIRT_Bufiter_remove(lifo, &removed), MPIRT_ERR_EMPTY);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Buffer_free(&stranger));
}

/* What an iterator gives next is one of those that are in, in UNORDERED any. */
static void gives(MPIRT_Bufiter where, const MPIRT_Buffer *buffers, int *inside, int expected, int is_any)
{
    MPIRT_Buffer removed;
    int place = 0;
    OK(MPIRT_Bufiter_remove(where, &removed));
    while (place < COUNT && buffers[place].bits != removed.bits)
        place++;
    CHECK(place < COUNT && inside[place] && (is_any || place == expected));
    inside[place] = 0;
}

/* All go in, and one comes out before the last is in. While committed an ORDERED iterator takes them in their order, whatever comes
 * out. */
static void comes_and_goes(MPIRT_Bufiter where, const MPIRT_Buffer *buffers, const int *order, int is_any, int is_ordered)
{
    MPIRT_Buffer removed;
    int inside[COUNT] = {1, 1, 1};
    OK(MPIRT_Bufiter_insert(where, buffers[0]));
    EXPECT(MPIRT_Bufiter_insert(where, buffers[0]), MPIRT_ERR_BUFFER_IN_USE);
    if (is_ordered)
        EXPECT(MPIRT_Bufiter_insert(where, buffers[2]), MPIRT_ERR_NOT_ALLOWED);
    OK(MPIRT_Bufiter_insert(where, buffers[1]));
    gives(where, buffers, inside, order[0], is_any);
    for (int place = 0; is_ordered && place < 2; place++)
        if (!inside[place])
            EXPECT(MPIRT_Bufiter_insert(where, buffers[place]), MPIRT_ERR_NOT_ALLOWED);
    OK(MPIRT_Bufiter_insert(where, buffers[2]));
    for (int place = 1; place < COUNT; place++)
        gives(where, buffers, inside, order[place], is_any);
    EXPECT(MPIRT_Bufiter_remove(where, &removed), MPIRT_ERR_EMPTY);
}

/* spec: BUFITER-MAPPED-06, BUFITER-ORDERED-01, BUFITER-ORDERED-02, BUFITER-ORDERED-04, BUFITER-SORTED-02, BUFITER-UNORDERED-01 */
static void test_every_form_gives_by_its_base_policy(void)
{
    /* By base policy; of equal labels the one that was inserted first. */
    static const int orders[][COUNT] = {{0, 1, 2}, {1, 2, 0}, {1, 0, 2}, {0, 1, 2}};
    static const int labels[COUNT] = {5, -5, 5};
    MPIRT_Bufiter made[MPIRT_BUFITER_UNORDERED_ORDERED + 1];
    MPIRT_Buffer buffers[COUNT];
    MPIRT_Object objects[COUNT];
    MPIRT_Cvector allowed;
    for (int place = 0; place < COUNT; place++) {
        buffers[place] = buffer(labels[place]);
        objects[place] = MPIRT_OBJECT(buffers[place]);
    }
    OK(MPIRT_Cvector_create("allowed", COUNT, objects, &allowed));
    for (int policy = 0; policy <= MPIRT_BUFITER_UNORDERED_ORDERED; policy++)
        made[policy] = iterator((MPIRT_Bufiter_policy)policy, MPIRT_CONTAINER(allowed));
    OK(MPIRT_Commit());
    for (int policy = 0; policy <= MPIRT_BUFITER_UNORDERED_ORDERED; policy++)
        for (int round = 0; round < 3; round++)
            comes_and_goes(made[policy], buffers, orders[policy % 4], policy % 4 == MPIRT_BUFITER_UNORDERED,
                           policy >= MPIRT_BUFITER_FIFO_ORDERED);
    OK(MPIRT_Uncommit());
    for (int policy = 0; policy <= MPIRT_BUFITER_UNORDERED_ORDERED; policy++)
        OK(MPIRT_Bufiter_free(&made[policy]));
    OK(MPIRT_Cvector_free(&allowed));
    for (int place = 0; place < COUNT; place++)
        OK(MPIRT_Buffer_free(&buffers[place]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_attributes_of_a_buffer();
    test_attributes_that_change();
    test_sizes_of_elements();
    test_memory_of_the_library();
    test_what_an_iterator_is_made_of();
    test_what_an_iterator_tells();
    test_policies_while_committed();
    test_every_form_gives_by_its_base_policy();
    return end();
}
