/* Objects, sets, vectors: right uses and wrong handles. */
#include "harness.h"

/* spec: MPIRT_Object_is_null, MPIRT_Object_get_object_type, OBJECT-NULL-01 */
static void test_null_handles_and_classes(void)
{
    MPIRT_Cset set;
    MPIRT_Object_type type;
    int flag = -1;
    OK(MPIRT_Object_is_null(MPIRT_OBJECT_NULL, &flag));
    CHECK(flag == 1);
    OK(MPIRT_Object_is_null(MPIRT_OBJECT(MPIRT_BUFFER_NULL), &flag));
    CHECK(flag == 1);
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Object_is_null(MPIRT_OBJECT(set), &flag));
    CHECK(flag == 0);
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(set), &type));
    CHECK(type == MPIRT_TYPE_CSET);
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(MPIRT_GROUP_WORLD), &type));
    CHECK(type == MPIRT_TYPE_GROUP);
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(MPIRT_QOS_BEST_EFFORT), &type));
    CHECK(type == MPIRT_TYPE_QOS);
    EXPECT(MPIRT_Object_is_null(MPIRT_OBJECT(set), NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Object_get_object_type(MPIRT_OBJECT(set), NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Cset_free(&set));
}

/* spec: OBJECT-NULL-01, OBJECT-NULL-02, OBJECT-NULL-05, OBJECT-TYPE-02 */
static void test_the_null_handle_of_every_class(void)
{
    const MPIRT_Object nulls[] = {
        MPIRT_OBJECT_NULL, MPIRT_OBJECT(MPIRTX_MODE_NULL), MPIRT_OBJECT(MPIRTX_TASK_NULL), MPIRT_OBJECT(MPIRT_BUFFER_NULL),
        MPIRT_OBJECT(MPIRT_BUFITER_NULL), MPIRT_OBJECT(MPIRT_CHANNEL_NULL), MPIRT_OBJECT(MPIRT_CONTAINER_NULL),
        MPIRT_OBJECT(MPIRT_CONTAINER_ITERATOR_NULL), MPIRT_OBJECT(MPIRT_CSET_NULL), MPIRT_OBJECT(MPIRT_CVECTOR_NULL),
        MPIRT_OBJECT(MPIRT_GROUP_NULL), MPIRT_OBJECT(MPIRT_HANDLER_NULL), MPIRT_OBJECT(MPIRT_QOS_NULL),
        MPIRT_OBJECT(MPIRT_RECEPTOR_NULL), MPIRT_OBJECT(MPIRT_TRIGGER_NULL),
    };
    for (size_t place = 0; place < sizeof nulls / sizeof *nulls; place++) {
        MPIRT_Object_type type = MPIRT_TYPE_CSET;
        int flag = -1;
        CHECK(nulls[place].bits == 0);
        OK(MPIRT_Object_is_null(nulls[place], &flag));
        CHECK(flag == 1);
        OK(MPIRT_Object_get_object_type(nulls[place], &type));
        CHECK(type == MPIRT_TYPE_NULL);
    }
}

/* spec: MPIRT_Object_get_name, MPIRT_Object_set_name, MPIRT_Object_set_name/UNDEF_FOR_OBJECT */
/* spec: OBJECT-NAME-02, OBJECT-NAME-04, OBJECT-NAME-05, OBJECT-NAME-06 */
static void test_names(void)
{
    /* Broken off, longer than need be, half of a pair, and control characters of one byte and of two. */
    static const char *const wrong[] = {"\xc3", "\xc0\xaf", "\xed\xa0\x80", "\t", "\x7f", "\xc2\x85"};
    /* Characters of two, three and four bytes. */
    static const char *const beyond_ascii = "gr\xc3\xb6\xc3\x9f" "e \xe2\x82\xac \xf0\x9f\x90\x87";
    char name[MPIRT_NAME_MAX], longest[MPIRT_NAME_MAX], endless[2 * MPIRT_NAME_MAX];
    MPIRT_Cset set, nameless;
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    memset(endless, 'x', sizeof endless);
    OK(MPIRT_Cset_create("first", &set));
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(set), name));
    CHECK(strcmp(name, "first") == 0);
    OK(MPIRT_Object_set_name(MPIRT_OBJECT(set), longest));
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(set), name));
    CHECK(strcmp(name, longest) == 0);
    EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(set), endless), MPIRT_ERR_NAME);
    EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(set), "\xff\xfe"), MPIRT_ERR_NAME);
    EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(set), "two\nlines"), MPIRT_ERR_NAME);
    for (size_t place = 0; place < sizeof wrong / sizeof *wrong; place++)
        EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(set), wrong[place]), MPIRT_ERR_NAME);
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(set), name));
    CHECK(strcmp(name, longest) == 0);
    OK(MPIRT_Object_set_name(MPIRT_OBJECT(set), beyond_ascii));
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(set), name));
    CHECK(strcmp(name, beyond_ascii) == 0);
    OK(MPIRT_Cset_create(NULL, &nameless));
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(nameless), name));
    CHECK(strcmp(name, "") == 0);
    OK(MPIRT_Cset_free(&nameless));
    OK(MPIRT_Object_set_name(MPIRT_OBJECT(set), NULL));
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(set), name));
    CHECK(strcmp(name, "") == 0);
    EXPECT(MPIRT_Object_get_name(MPIRT_OBJECT(set), NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(MPIRT_GROUP_WORLD), "mine"), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Cset_free(&set));
}

/* spec: MPIRT_Object_free, MPIRT_Object_free/UNDEF_FOR_OBJECT */
static void test_a_freed_handle_is_null_and_its_copy_stale(void)
{
    MPIRT_Cset set, copy;
    MPIRT_Object object, predefined = MPIRT_OBJECT(MPIRT_GROUP_WORLD), invented = {UINT64_C(0x0100000000ffffff)};
    int count, flag;
    OK(MPIRT_Cset_create("set", &set));
    copy = set;
    object = MPIRT_OBJECT(set);
    OK(MPIRT_Object_free(&object));
    OK(MPIRT_Object_is_null(object, &flag));
    CHECK(flag == 1);
    EXPECT(MPIRT_Object_free(&object), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Cset_free(&copy), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Container_access_count(MPIRT_CONTAINER(set), &count), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Object_free(NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Object_free(&predefined), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Object_free(&invented), MPIRT_ERR_INV_OBJECT);
}

/* spec: MPIRT_Cset_create, MPIRT_Cset_free, MPIRT_Container_access_count */
/* spec: MPIRT_Cset_insert, MPIRT_Cset_insert/ARGUMENT, MPIRT_Cset_remove, MPIRT_Cset_remove/CSET_MEMBER_NOT_FOUND */
static void test_sets(void)
{
    MPIRT_Cset set, inner;
    MPIRT_Buffer buffer;
    MPIRT_Cset wrong;
    int count;
    char byte;
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Cset_create("inner", &inner));
    OK(MPIRT_Buffer_create("buffer", &byte, 1, MPIRT_BYTE, &buffer));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(buffer)));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(buffer)));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT_NULL));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(inner)));
    OK(MPIRT_Container_access_count(MPIRT_CONTAINER(set), &count));
    CHECK(count == 2);
    EXPECT(MPIRT_Cset_insert(set, MPIRT_OBJECT(set)), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Cset_insert(inner, MPIRT_OBJECT(set)), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Cset_remove(set, MPIRT_OBJECT_NULL), MPIRT_ERR_CSET_MEMBER_NOT_FOUND);
    OK(MPIRT_Cset_remove(set, MPIRT_OBJECT(inner)));
    EXPECT(MPIRT_Cset_remove(set, MPIRT_OBJECT(inner)), MPIRT_ERR_CSET_MEMBER_NOT_FOUND);
    wrong.bits = buffer.bits;
    EXPECT(MPIRT_Cset_insert(wrong, MPIRT_OBJECT(inner)), MPIRT_ERR_WRONG_CLASS);
    EXPECT(MPIRT_Cset_insert(MPIRT_CSET_NULL, MPIRT_OBJECT(inner)), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Cset_create("set", NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Container_access_count(MPIRT_CONTAINER(buffer), &count), MPIRT_ERR_WRONG_CLASS);
    EXPECT(MPIRT_Container_access_count(MPIRT_CONTAINER(set), NULL), MPIRT_ERR_NULL_POINTER);
    /* In any order: the set keeps what it holds. */
    OK(MPIRT_Buffer_free(&buffer));
    OK(MPIRT_Container_access_count(MPIRT_CONTAINER(set), &count));
    CHECK(count == 1);
    OK(MPIRT_Cset_free(&set));
    OK(MPIRT_Cset_free(&inner));
}

/* spec: MPIRT_Cvector_create, MPIRT_Cvector_create/ARGUMENT, MPIRT_Cvector_free */
static void test_vectors(void)
{
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    MPIRT_Object elements[2];
    int count;
    OK(MPIRT_Cset_create("set", &set));
    elements[0] = elements[1] = MPIRT_OBJECT(set);
    OK(MPIRT_Cvector_create("vector", 2, elements, &vector));
    OK(MPIRT_Container_access_count(MPIRT_CONTAINER(vector), &count));
    CHECK(count == 2);
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Cvector_create("empty", 0, NULL, &vector));
    OK(MPIRT_Cvector_free(&vector));
    EXPECT(MPIRT_Cvector_create("vector", -1, elements, &vector), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Cvector_create("vector", MPIRT_CONTAINER_MAX + 1, NULL, &vector), MPIRT_ERR_ARGUMENT);
    OK(MPIRT_Cvector_create("vector", MPIRT_CONTAINER_MAX, NULL, &vector));
    OK(MPIRT_Cvector_free(&vector));
    EXPECT(MPIRT_Cvector_create("vector", 2, elements, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Cset_free(&set));
    EXPECT(MPIRT_Cvector_create("vector", 2, elements, &vector), MPIRT_ERR_STALE_OBJECT);
}

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

#define NAMES(CLASS, PREFIX, object)                                \
    do {                                                            \
        OK(PREFIX##_set_name(object, #CLASS));                      \
        OK(PREFIX##_get_name(object, name));                        \
        CHECK(strcmp(name, #CLASS) == 0);                           \
        EXPECT(PREFIX##_get_name(object, NULL), MPIRT_ERR_NULL_POINTER); \
    } while (0)

/* spec: MPIRT_Container_get_name, MPIRT_Container_set_name, MPIRT_Container_set_name/UNDEF_FOR_OBJECT, OBJECT-NAME-02, OBJECT-NAME-03 */
/* spec: MPIRT_Cset_get_name, MPIRT_Cset_set_name, MPIRT_Cvector_get_name, MPIRT_Cvector_set_name */
/* spec: MPIRT_Group_get_name, MPIRT_Group_set_name, MPIRT_Group_set_name/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Buffer_get_name, MPIRT_Buffer_set_name, MPIRT_Bufiter_get_name, MPIRT_Bufiter_set_name */
/* spec: MPIRT_Channel_get_name, MPIRT_Channel_set_name, MPIRT_Qos_get_name, MPIRT_Qos_set_name */
/* spec: MPIRT_Qos_set_name/UNDEF_FOR_OBJECT, MPIRTX_Task_get_name, MPIRTX_Task_set_name, MPIRT_Qos_free */
/* spec: MPIRT_Qos_free/UNDEF_FOR_OBJECT, MPIRTX_Task_free */
static void test_names_by_class(void)
{
    const int64_t ms = 1000000;
    char name[MPIRT_NAME_MAX], byte;
    int self = rank;
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    MPIRT_Group group;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel;
    MPIRT_Qos qos, predefined = MPIRT_QOS_BEST_EFFORT;
    MPIRTX_Task task;
    MPIRT_Container wrong;
    OK(MPIRT_Cset_create(NULL, &set));
    OK(MPIRT_Cvector_create(NULL, 0, NULL, &vector));
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &self, NULL, &group));
    OK(MPIRT_Buffer_create(NULL, &byte, 1, MPIRT_BYTE, &buffer));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    OK(MPIRT_Ptchannel_create("", iterator, iterator, 0, 0, group, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, 10 * ms, &qos));
    OK(MPIRTX_Task_create("", nothing, NULL, qos, ms, &task));
    NAMES(set, MPIRT_Cset, set);
    NAMES(container, MPIRT_Container, MPIRT_CONTAINER(set));
    NAMES(vector, MPIRT_Cvector, vector);
    NAMES(container, MPIRT_Container, MPIRT_CONTAINER(vector));
    NAMES(group, MPIRT_Group, group);
    NAMES(buffer, MPIRT_Buffer, buffer);
    NAMES(iterator, MPIRT_Bufiter, iterator);
    NAMES(channel, MPIRT_Channel, channel);
    NAMES(qos, MPIRT_Qos, qos);
    NAMES(task, MPIRTX_Task, task);
    wrong.bits = buffer.bits;
    EXPECT(MPIRT_Container_get_name(wrong, name), MPIRT_ERR_WRONG_CLASS);
    EXPECT(MPIRT_Container_set_name(wrong, "name"), MPIRT_ERR_WRONG_CLASS);
    EXPECT(MPIRT_Container_set_name(MPIRT_CONTAINER(MPIRT_GROUP_WORLD), "mine"), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Group_set_name(MPIRT_GROUP_WORLD, "mine"), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Qos_set_name(MPIRT_QOS_BEST_EFFORT, "mine"), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Qos_free(&predefined), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&iterator));
    OK(MPIRT_Buffer_free(&buffer));
    OK(MPIRT_Group_free(&group));
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Cset_free(&set));
}

/* One object of each class that can be made. */
static struct {
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    MPIRT_Container_iterator walk;
    MPIRT_Group group;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel;
    MPIRT_Qos qos;
    MPIRTX_Task task;
} each;
enum { CLASSES = 9 };
static MPIRT_Object objects[CLASSES];

static void make_each(void)
{
    static char byte;
    const int64_t ms = 1000000;
    int self = rank;
    OK(MPIRT_Cset_create("c0", &each.set));
    OK(MPIRT_Cvector_create("c1", 1, NULL, &each.vector));
    OK(MPIRT_Container_iterator_create("c2", MPIRT_CONTAINER(each.set), &each.walk));
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &self, "c3", &each.group));
    OK(MPIRT_Buffer_create("c4", &byte, 1, MPIRT_BYTE, &each.buffer));
    OK(MPIRT_Bufiter_create("c5", MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &each.iterator));
    OK(MPIRT_Ptchannel_create("c6", each.iterator, each.iterator, 0, 0, each.group, MPIRT_QOS_NULL, &each.channel));
    OK(MPIRT_Qos_channel_time_create("c7", 0, ms, 10 * ms, &each.qos));
    OK(MPIRTX_Task_create("c8", nothing, NULL, each.qos, ms, &each.task));
    MPIRT_Object made[CLASSES] = {
        MPIRT_OBJECT(each.set), MPIRT_OBJECT(each.vector), MPIRT_OBJECT(each.walk), MPIRT_OBJECT(each.group),
        MPIRT_OBJECT(each.buffer), MPIRT_OBJECT(each.iterator), MPIRT_OBJECT(each.channel), MPIRT_OBJECT(each.qos),
        MPIRT_OBJECT(each.task),
    };
    memcpy(objects, made, sizeof made);
}

/* Right for this object, or else an error and the null handle. */
#define CAST(function, TYPE, object, is_right)                                              \
    do {                                                                                    \
        TYPE found_ = {~UINT64_C(0)};                                                       \
        EXPECT(function(object, &found_), (is_right) ? MPIRT_SUCCESS : MPIRT_ERR_WRONG_CLASS); \
        CHECK(found_.bits == ((is_right) ? (object).bits : 0));                             \
        EXPECT(function(object, NULL), (is_right) ? MPIRT_ERR_NULL_POINTER : MPIRT_ERR_WRONG_CLASS); \
        found_.bits = ~UINT64_C(0);                                                         \
        EXPECT(function(MPIRT_OBJECT_NULL, &found_), MPIRT_ERR_NULL_OBJECT);                \
        CHECK(found_.bits == 0);                                                            \
    } while (0)

/* spec: MPIRTX_Object_as_container, MPIRTX_Object_as_cset, MPIRTX_Object_as_cvector, MPIRTX_Object_as_group */
/* spec: MPIRTX_Object_as_buffer, MPIRTX_Object_as_bufiter, MPIRTX_Object_as_channel, MPIRTX_Object_as_qos */
/* spec: MPIRTX_Object_as_task, OBJECT-HANDLE-06, OBJECT-TREE-01, OBJECT-TYPE-01, OBJECT-TYPE-02, OBJECT-NULL-02 */
/* spec: OBJECT-NAME-01, OBJECT-NAME-02, OBJECT-FREE-01 */
static void test_every_class(void)
{
    static const MPIRT_Object_type types[CLASSES] = {
        MPIRT_TYPE_CSET, MPIRT_TYPE_CVECTOR, MPIRT_TYPE_CONTAINER_ITERATOR, MPIRT_TYPE_GROUP, MPIRT_TYPE_BUFFER,
        MPIRT_TYPE_BUFITER, MPIRT_TYPE_PTCHANNEL, MPIRT_TYPE_QOS, MPIRT_TYPE_TASK,
    };
    make_each();
    for (int place = 0; place < CLASSES; place++) {
        MPIRT_Object object = objects[place];
        MPIRT_Object_type type;
        char name[MPIRT_NAME_MAX], expected[3] = {'c', (char)('0' + place), 0};
        int flag = -1;
        OK(MPIRT_Object_get_object_type(object, &type));
        CHECK(type == types[place]);
        OK(MPIRT_Object_is_null(object, &flag));
        CHECK(flag == 0);
        OK(MPIRT_Object_get_name(object, name));
        CHECK(strcmp(name, expected) == 0);
        CAST(MPIRTX_Object_as_container, MPIRT_Container, object, place == 0 || place == 1 || place == 3);
        CAST(MPIRTX_Object_as_cset, MPIRT_Cset, object, place == 0);
        CAST(MPIRTX_Object_as_cvector, MPIRT_Cvector, object, place == 1);
        CAST(MPIRTX_Object_as_group, MPIRT_Group, object, place == 3);
        CAST(MPIRTX_Object_as_buffer, MPIRT_Buffer, object, place == 4);
        CAST(MPIRTX_Object_as_bufiter, MPIRT_Bufiter, object, place == 5);
        CAST(MPIRTX_Object_as_channel, MPIRT_Channel, object, place == 6);
        CAST(MPIRTX_Object_as_qos, MPIRT_Qos, object, place == 7);
        CAST(MPIRTX_Object_as_task, MPIRTX_Task, object, place == 8);
        CAST(MPIRTX_Object_as_trigger, MPIRT_Trigger, object, 0);
        CAST(MPIRTX_Object_as_receptor, MPIRT_Receptor, object, 0);
        CAST(MPIRTX_Object_as_handler, MPIRT_Handler, object, 0);
    }
    MPIRT_Object_type type;
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(MPIRT_CHANNEL_NULL), &type));
    CHECK(type == MPIRT_TYPE_NULL);
    OK(MPIRTX_Task_free(&each.task));
    OK(MPIRT_Channel_free(&each.channel));
    OK(MPIRT_Qos_free(&each.qos));
    OK(MPIRT_Bufiter_free(&each.iterator));
    OK(MPIRT_Buffer_free(&each.buffer));
    OK(MPIRT_Group_free(&each.group));
    OK(MPIRT_Container_iterator_free(&each.walk));
    OK(MPIRT_Cvector_free(&each.vector));
    OK(MPIRT_Cset_free(&each.set));
    CHECK((each.task.bits | each.channel.bits | each.qos.bits | each.iterator.bits | each.buffer.bits) == 0);
    CHECK((each.group.bits | each.walk.bits | each.vector.bits | each.set.bits) == 0);
}

/* spec: MPIRTX_Object_compare, OBJECT-HANDLE-05, OBJECT-NAME-08, OBJECT-NULL-05 */
static void test_handles_are_compared_by_what_they_name(void)
{
    static MPIRT_Cset zero;
    MPIRT_Cset set, other;
    MPIRT_Object freed, copy, invented = {UINT64_C(0x0100000000ffffff)};
    int same = -1;
    OK(MPIRT_Cset_create("equal", &set));
    OK(MPIRT_Cset_create("equal", &other));
    copy = MPIRT_OBJECT(set);
    OK(MPIRTX_Object_compare(MPIRT_OBJECT(set), copy, &same));
    CHECK(same == 1);
    OK(MPIRTX_Object_compare(MPIRT_OBJECT(set), MPIRT_OBJECT(other), &same));
    CHECK(same == 0);
    OK(MPIRTX_Object_compare(MPIRT_OBJECT(set), MPIRT_OBJECT_NULL, &same));
    CHECK(same == 0);
    OK(MPIRTX_Object_compare(MPIRT_OBJECT(zero), MPIRT_OBJECT(MPIRT_BUFFER_NULL), &same));
    CHECK(same == 1);
    EXPECT(MPIRTX_Object_compare(copy, copy, NULL), MPIRT_ERR_NULL_POINTER);
    freed = MPIRT_OBJECT(other);
    OK(MPIRT_Cset_free(&other));
    EXPECT(MPIRTX_Object_compare(copy, freed, &same), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRTX_Object_compare(invented, copy, &same), MPIRT_ERR_INV_OBJECT);
    OK(MPIRT_Cset_free(&set));
}

/* Of other classes two of one name are two objects. */
/* spec: OBJECT-NAME-08 */
static void test_two_channels_of_a_group_have_two_names(void)
{
    MPIRT_Channel channels[2];
    char name[MPIRT_NAME_MAX];
    if (members == 1)
        return;
    for (int place = 0; rank < 2 && place < 2; place++)
        MUST(MPIRT_Ptchannel_create("twin", iterator_of(1, 0), iterator_of(1, 0), 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL,
                                    &channels[place]));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("channel \"twin\"") && detail_says("the source end") && detail_says("the target end"));
    CHECK(detail_says("\"0\"") && detail_says("\"1\""));
    /* Neither was renamed or left out. */
    for (int place = 0; rank < 2 && place < 2; place++) {
        OK(MPIRT_Channel_get_name(channels[place], name));
        CHECK(strcmp(name, "twin") == 0);
    }
    if (rank < 2)
        OK(MPIRT_Channel_set_name(channels[1], "other"));
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
    for (int place = 0; rank < 2 && place < 2; place++)
        OK(MPIRT_Channel_free(&channels[place]));
}

/* spec: OBJECT-HANDLE-02, OBJECT-HANDLE-03, OBJECT-HANDLE-04, OBJECT-NULL-03 */
static void test_wrong_handles(void)
{
    static const uint64_t strangers[] = {
        1, UINT64_C(0xff00000000000001), ~UINT64_C(0), UINT64_C(0x0100000100000001), UINT64_C(0x04ffffff00000001),
        UINT64_C(0x0100000000ffffff), UINT64_C(0x7f000000ffffffff), UINT64_C(0x0000000100000001),
    };
    MPIRT_Cset set, next;
    MPIRT_Object stale;
    MPIRT_Buffer wrong;
    char name[MPIRT_NAME_MAX];
    int flag;
    OK(MPIRT_Cset_create("set", &set));
    stale = MPIRT_OBJECT(set);
    wrong.bits = set.bits;
    EXPECT(MPIRT_Buffer_get_name(wrong, name), MPIRT_ERR_WRONG_CLASS);
    OK(MPIRT_Cset_free(&set));
    /* Also when its place is taken. */
    for (int turn = 0; turn < 3; turn++) {
        MPIRT_Object copy = stale;
        EXPECT(MPIRT_Object_is_null(stale, &flag), MPIRT_ERR_STALE_OBJECT);
        EXPECT(MPIRT_Object_get_name(stale, name), MPIRT_ERR_STALE_OBJECT);
        EXPECT(MPIRT_Object_set_name(stale, "name"), MPIRT_ERR_STALE_OBJECT);
        EXPECT(MPIRT_Object_free(&copy), MPIRT_ERR_STALE_OBJECT);
        CHECK(copy.bits == stale.bits);
        OK(MPIRT_Cset_create("next", &next));
        CHECK(next.bits != stale.bits);
        EXPECT(MPIRT_Object_get_name(stale, name), MPIRT_ERR_STALE_OBJECT);
        OK(MPIRT_Cset_free(&next));
    }
    for (size_t place = 0; place < sizeof strangers / sizeof *strangers; place++) {
        MPIRT_Object stranger = {strangers[place]};
        EXPECT(MPIRT_Object_is_null(stranger, &flag), MPIRT_ERR_INV_OBJECT);
        EXPECT(MPIRT_Object_get_name(stranger, name), MPIRT_ERR_INV_OBJECT);
        EXPECT(MPIRT_Object_free(&stranger), MPIRT_ERR_INV_OBJECT);
    }
}

/* spec: OBJECT-FREE-04 */
static void test_frees_in_any_order(void)
{
    /* Orders that begin at each class and go both ways round. */
    for (int first = 0; first < CLASSES; first++) {
        for (int step = 1; step < CLASSES; step += CLASSES - 2) {
            make_each();
            for (int turn = 0; turn < CLASSES; turn++) {
                MPIRT_Object *object = &objects[(first + turn * step) % CLASSES], copy = *object;
                char name[MPIRT_NAME_MAX];
                OK(MPIRT_Object_free(object));
                EXPECT(MPIRT_Object_get_name(copy, name), MPIRT_ERR_STALE_OBJECT);
            }
        }
    }
}

static void handles(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

/* One of every class of the header's list but modes; gives their number. */
static int make_all(MPIRT_Object made[], MPIRT_Object_type types[])
{
    int count = 0, self = rank;
    static char byte;
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    MPIRT_Container_iterator walk;
    MPIRT_Group group;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter at;
    MPIRT_Qos qos;
    MPIRT_Channel channel;
    MPIRT_Trigger trigger;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRTX_Task task;
#define MADE(object, type) (made[count] = MPIRT_OBJECT(object), types[count++] = (type))
    OK(MPIRT_Cset_create("all", &set)), MADE(set, MPIRT_TYPE_CSET);
    OK(MPIRT_Cvector_create("all", 1, NULL, &vector)), MADE(vector, MPIRT_TYPE_CVECTOR);
    OK(MPIRT_Container_iterator_create("all", MPIRT_CONTAINER(set), &walk)), MADE(walk, MPIRT_TYPE_CONTAINER_ITERATOR);
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &self, "all", &group)), MADE(group, MPIRT_TYPE_GROUP);
    OK(MPIRT_Buffer_create("all", &byte, 1, MPIRT_BYTE, &buffer)), MADE(buffer, MPIRT_TYPE_BUFFER);
    OK(MPIRT_Bufiter_create("all", MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &at)), MADE(at, MPIRT_TYPE_BUFITER);
    OK(MPIRT_Qos_channel_time_create("all", 0, 1000000, 10000000, &qos)), MADE(qos, MPIRT_TYPE_QOS);
    OK(MPIRT_Ptchannel_create("all", at, at, 0, 0, group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_PTCHANNEL);
    OK(MPIRT_Bcast_channel_create("all", at, at, at, at, 0, group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_BCAST_CHANNEL);
    OK(MPIRT_Scatter_channel_create("all", at, at, at, at, 0, group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_SCATTER_CHANNEL);
    OK(MPIRT_Gather_channel_create("all", at, at, at, at, 0, group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_GATHER_CHANNEL);
    OK(MPIRT_Reduce_channel_create("all", at, at, at, at, MPIRT_OP_BOR, 0, group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_REDUCE_CHANNEL);
    OK(MPIRT_Barrier_channel_create("all", group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_BARRIER_CHANNEL);
    OK(MPIRT_Alltoall_channel_create("all", at, at, at, at, group, MPIRT_QOS_NULL, &channel)), MADE(channel, MPIRT_TYPE_ALLTOALL_CHANNEL);
    OK(MPIRT_Trigger_create("all", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger)), MADE(trigger, MPIRT_TYPE_TRIGGER);
    OK(MPIRT_Handler_create("all", handles, NULL, MPIRT_QOS_NULL, &handler)), MADE(handler, MPIRT_TYPE_HANDLER);
    OK(MPIRT_Receptor_create("all", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor)), MADE(receptor, MPIRT_TYPE_RECEPTOR);
    OK(MPIRTX_Task_create("all", nothing, NULL, qos, 1000000, &task)), MADE(task, MPIRT_TYPE_TASK);
#undef MADE
    return count;
}

/* The free of the class, if the object is of it. */
#define FREES(TYPE, function, matches)                \
    if (matches) {                                    \
        TYPE own = {object->bits};                    \
        code = function(&own);                        \
        object->bits = own.bits;                      \
        return code;                                  \
    }

static int free_by_its_class(MPIRT_Object *object, MPIRT_Object_type type)
{
    int code;
    FREES(MPIRT_Cset, MPIRT_Cset_free, type == MPIRT_TYPE_CSET)
    FREES(MPIRT_Cvector, MPIRT_Cvector_free, type == MPIRT_TYPE_CVECTOR)
    FREES(MPIRT_Container_iterator, MPIRT_Container_iterator_free, type == MPIRT_TYPE_CONTAINER_ITERATOR)
    FREES(MPIRT_Group, MPIRT_Group_free, type == MPIRT_TYPE_GROUP)
    FREES(MPIRT_Buffer, MPIRT_Buffer_free, type == MPIRT_TYPE_BUFFER)
    FREES(MPIRT_Bufiter, MPIRT_Bufiter_free, type == MPIRT_TYPE_BUFITER)
    FREES(MPIRT_Channel, MPIRT_Channel_free, type >= MPIRT_TYPE_PTCHANNEL && type <= MPIRT_TYPE_ALLTOALL_CHANNEL)
    FREES(MPIRT_Qos, MPIRT_Qos_free, type == MPIRT_TYPE_QOS)
    FREES(MPIRT_Trigger, MPIRT_Trigger_free, type == MPIRT_TYPE_TRIGGER)
    FREES(MPIRT_Receptor, MPIRT_Receptor_free, type == MPIRT_TYPE_RECEPTOR)
    FREES(MPIRT_Handler, MPIRT_Handler_free, type == MPIRT_TYPE_HANDLER)
    FREES(MPIRTX_Task, MPIRTX_Task_free, type == MPIRT_TYPE_TASK)
    FREES(MPIRTX_Mode, MPIRTX_Mode_free, type == MPIRT_TYPE_MODE)
    return MPIRT_ERR_WRONG_CLASS;
}

static void free_each(MPIRT_Object made[], const MPIRT_Object_type types[], int count, int by_class)
{
    for (int place = count - 1; place >= 0; place--) {
        MPIRT_Object stale = made[place];
        MPIRT_Object_type found;
        char name[MPIRT_NAME_MAX];
        int flag = -1;
        OK(MPIRT_Object_get_object_type(stale, &found));
        CHECK(found == types[place]);
        OK(MPIRT_Object_is_null(stale, &flag));
        CHECK(flag == 0);
        OK(MPIRT_Object_get_name(stale, name));
        CHECK(strcmp(name, "all") == 0);
        OK(by_class ? free_by_its_class(&made[place], types[place]) : MPIRT_Object_free(&made[place]));
        CHECK(made[place].bits == 0);
        EXPECT(MPIRT_Object_get_object_type(stale, &found), MPIRT_ERR_STALE_OBJECT);
    }
}

/* spec: OBJECT-FREE-01, OBJECT-FREE-02, OBJECT-NAME-01, OBJECT-NULL-02, OBJECT-TREE-01, OBJECT-TYPE-01 */
static void test_every_class_has_a_free(void)
{
    MPIRT_Object made[MPIRT_TYPE_CONTAINER];
    MPIRT_Object_type types[MPIRT_TYPE_CONTAINER];
    for (int by_class = 0; by_class < 2; by_class++) {
        MPIRTX_Mode mode;
        unsigned seen = 1u << MPIRT_TYPE_MODE;
        int count = make_all(made, types);
        for (int place = 0; place < count; place++)
            seen |= 1u << types[place];
        /* What a later version adds to the list of types has to be added here. */
        CHECK(seen == (1u << MPIRT_TYPE_CONTAINER) - (1u << MPIRT_TYPE_CSET));
        free_each(made, types, count, by_class);
        MUST(MPIRT_Commit());
        OK(MPIRTX_Mode_open("all", &mode));
        made[0] = MPIRT_OBJECT(mode), types[0] = MPIRT_TYPE_MODE;
        free_each(made, types, 1, by_class);
        OK(MPIRT_Uncommit());
    }
}

/* What is freed and referred to is still used: the channel's iterators and the group have no handle any more, and it carries. */
/* spec: OBJECT-FREE-03 */
static void test_what_is_referred_to_lives_on(void)
{
    MPIRT_Bufiter in, out, stale;
    MPIRT_Channel channel;
    MPIRT_Group group;
    MPIRT_Buffer buffer;
    MPIRTX_Channel_metrics metrics;
    int64_t *word;
    int ranks[2] = {0, 1};
    if (members < 2)
        return;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 2, ranks, "two", &group));
    in = iterator_of(1, 0), out = iterator_of(1, 0);
    if (rank < 2)
        OK(MPIRT_Ptchannel_create("lives on", in, out, 0, 1, group, MPIRT_QOS_NULL, &channel));
    stale = out;
    OK(MPIRT_Bufiter_free(&out));
    EXPECT(MPIRT_Bufiter_remove(stale, &buffer), MPIRT_ERR_STALE_OBJECT);
    OK(MPIRT_Group_free(&group));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof *word, MPIRT_INT64, &buffer));
    OK(MPIRT_Bufiter_insert(in, buffer));
    MUST(MPIRT_Commit());
    if (rank < 2) {
        OK(MPIRT_Channel_start(channel));
        OK(MPIRT_Channel_wait(channel, INT64_C(10000000000)));
        OK(MPIRTX_Channel_get_metrics(channel, &metrics));
        CHECK(metrics.completed == 1);
    }
    EXPECT(MPIRT_Bufiter_remove(stale, &buffer), MPIRT_ERR_STALE_OBJECT);
    OK(MPIRT_Uncommit());
    if (rank < 2)
        OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&in));
}

/* spec: OBJECT-FREE-05, OBJECT-FREE-06, OBJECT-NAME-09, OBJECT-TREE-03 */
static void test_what_is_committed_or_predefined_stays(void)
{
    MPIRT_Object world = MPIRT_OBJECT(MPIRT_GROUP_WORLD), best = MPIRT_OBJECT(MPIRT_QOS_BEST_EFFORT);
    char name[MPIRT_NAME_MAX], own[MPIRT_NAME_MAX];
    MPIRT_Channel channel;
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Handler handler;
    make_each();
    /* A channel that leads back to its own member cannot be committed. */
    OK(MPIRT_Object_free(&objects[6]));
    OK(MPIRT_Object_free(&objects[8]));
    /* One that can be, and what the others are not. */
    snprintf(own, sizeof own, "stays-%d", rank);
    OK(MPIRT_Ptchannel_create(own, each.iterator, each.iterator, rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Channel_set_recvinbufiter(channel, each.iterator));
    OK(MPIRT_Channel_set_recvoutbufiter(channel, each.iterator));
    OK(MPIRT_Trigger_create(own, MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create(own, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    OK(MPIRT_Handler_create(own, handles, NULL, MPIRT_QOS_NULL, &handler));
    MPIRT_Object more[] = {MPIRT_OBJECT(channel), MPIRT_OBJECT(trigger), MPIRT_OBJECT(receptor), MPIRT_OBJECT(handler)};
    MUST(MPIRT_Commit());
    for (int place = 0; place < 4; place++) {
        MPIRT_Object copy = more[place];
        EXPECT(MPIRT_Object_free(&copy), MPIRT_ERR_OBJECT_COMMITTED);
        CHECK(copy.bits == more[place].bits);
        EXPECT(MPIRT_Object_set_name(copy, "other"), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRT_Object_get_name(copy, name));
        CHECK(strcmp(name, own) == 0);
    }
    EXPECT(MPIRT_Channel_set_inbufiter(channel, each.iterator), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Channel_set_qos(channel, MPIRT_QOS_BEST_EFFORT), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Channel_set_slack(channel, 2), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Trigger_set_time(trigger, 1, 1), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Buffer_set_bufsize(each.buffer, 1), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Qos_set_phase(each.qos, 0), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cset_insert(each.set, MPIRT_OBJECT(each.buffer)), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cvector_set_element(each.vector, 0, MPIRT_OBJECT(each.buffer)), MPIRT_ERR_OBJECT_COMMITTED);
    for (int place = 0; place < CLASSES; place++) {
        MPIRT_Object copy = objects[place];
        if (place == 2 || place == 6 || place == 8)
            continue;
        EXPECT(MPIRT_Object_free(&copy), MPIRT_ERR_OBJECT_COMMITTED);
        CHECK(copy.bits == objects[place].bits);
        EXPECT(MPIRT_Object_set_name(copy, "other"), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRT_Object_get_name(copy, name));
        CHECK(strcmp(name, "other") != 0);
    }
    OK(MPIRT_Uncommit());
    EXPECT(MPIRT_Object_free(&world), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Object_free(&best), MPIRT_ERR_UNDEF_FOR_OBJECT);
    CHECK(world.bits == MPIRT_GROUP_WORLD.bits && best.bits == MPIRT_QOS_BEST_EFFORT.bits);
    EXPECT(MPIRT_Object_set_name(world, "mine"), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Object_set_name(best, "mine"), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Object_get_name(world, name));
    CHECK(strlen(name) > 0);
    OK(MPIRT_Object_get_name(best, name));
    CHECK(strlen(name) > 0);
    for (int place = 0; place < 4; place++)
        OK(MPIRT_Object_free(&more[place]));
    objects[6] = objects[7];
    for (int place = 0; place < 7; place++)
        OK(MPIRT_Object_free(&objects[place]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_null_handles_and_classes();
    test_the_null_handle_of_every_class();
    test_names();
    test_a_freed_handle_is_null_and_its_copy_stale();
    test_sets();
    test_vectors();
    test_names_by_class();
    test_every_class();
    test_handles_are_compared_by_what_they_name();
    test_two_channels_of_a_group_have_two_names();
    test_wrong_handles();
    test_frees_in_any_order();
    test_every_class_has_a_free();
    test_what_is_referred_to_lives_on();
    test_what_is_committed_or_predefined_stays();
    return end();
}
