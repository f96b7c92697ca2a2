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

/* spec: MPIRT_Bufiter_remove, MPIRT_Bufiter_remove/EMPTY, MPIRT_Bufiter_insert/NOT_ALLOWED */
/* spec: MPIRT_Bufiter_insert/BUFSIZE, MPIRT_Bufiter_insert/DATASPEC, MPIRT_Bufiter_insert/BUFFER_IN_USE */
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
    EXPECT(MPIRT_Bufiter_remove(fifo, NULL), MPIRT_ERR_NULL_POINTER);
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

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_attributes_of_a_buffer();
    test_what_an_iterator_is_made_of();
    test_policies_while_committed();
    return end();
}
