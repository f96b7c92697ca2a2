/* Objects, sets, vectors: right uses and wrong handles. */
#include "harness.h"

/* spec: MPIRT_Object_is_null, MPIRT_Object_get_object_type */
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

/* spec: MPIRT_Object_get_name, MPIRT_Object_set_name, MPIRT_Object_set_name/UNDEF_FOR_OBJECT */
static void test_names(void)
{
    char name[MPIRT_NAME_MAX], longest[MPIRT_NAME_MAX], endless[2 * MPIRT_NAME_MAX];
    MPIRT_Cset set;
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
    OK(MPIRT_Object_get_name(MPIRT_OBJECT(set), name));
    CHECK(strcmp(name, longest) == 0);
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
    EXPECT(MPIRT_Cvector_create("vector", 2, NULL, &vector), MPIRT_ERR_NULL_POINTER);
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

/* spec: MPIRT_Container_get_name, MPIRT_Container_set_name, MPIRT_Container_set_name/UNDEF_FOR_OBJECT */
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
    OK(MPIRT_Ptchannel_create(NULL, iterator, iterator, 0, 0, group, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, 10 * ms, &qos));
    OK(MPIRTX_Task_create(NULL, nothing, NULL, qos, ms, &task));
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

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_null_handles_and_classes();
    test_names();
    test_a_freed_handle_is_null_and_its_copy_stale();
    test_sets();
    test_vectors();
    test_names_by_class();
    return end();
}
