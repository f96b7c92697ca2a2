/* Keys, and what a program hangs on objects. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

/* What the delete functions were called with, and what they answer. */
static int calls, answer;
static MPIRT_Object last_object;
static int last_key;
static void *last_value, *last_extra;

static int count_it(MPIRT_Object object, int keyval, void *value, void *extra)
{
    char name[MPIRT_NAME_MAX];
    int null = -1;
    calls++;
    last_object = object, last_key = keyval, last_value = value, last_extra = extra;
    /* The object is still there, and the library may be called. */
    OK(MPIRT_Object_is_null(object, &null));
    CHECK(null == 0);
    OK(MPIRT_Object_get_name(object, name));
    return answer;
}

static MPIRT_Cset new_set(void)
{
    MPIRT_Cset set;
    MUST(MPIRT_Cset_create("set", &set));
    return set;
}

/* spec: MPIRT_Keyval_create, MPIRT_Keyval_free, MPIRT_Keyval_free/INV_KEYVAL */
/* spec: ATTR-KEY-01, ATTR-KEY-02, ATTR-KEY-03 */
static void test_keys(void)
{
    MPIRT_Cset set = new_set();
    MPIRT_Object object = MPIRT_OBJECT(set);
    int keys[3], freed, flag, extra, invented = 1 << 30;
    void *value = &extra;
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Keyval_create(count_it, &extra, &keys[place]));
    CHECK(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    CHECK(keys[0] != MPIRT_KEYVAL_INVALID && keys[1] != MPIRT_KEYVAL_INVALID && keys[2] != MPIRT_KEYVAL_INVALID);
    EXPECT(MPIRT_Keyval_create(count_it, &extra, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Keyval_free(NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Keyval_free(&invented), MPIRT_ERR_INV_KEYVAL);
    CHECK(invented == 1 << 30);
    OK(MPIRT_Object_put_attr(object, keys[1], value));
    freed = keys[1];
    OK(MPIRT_Keyval_free(&keys[1]));
    CHECK(keys[1] == MPIRT_KEYVAL_INVALID);
    EXPECT(MPIRT_Keyval_free(&keys[1]), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_put_attr(object, freed, value), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_get_attr(object, freed, &value, &flag), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_delete_attr(object, freed), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_put_attr(object, 0, value), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_put_attr(object, invented, value), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_get_attr(object, invented, &value, &flag), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_delete_attr(object, invented), MPIRT_ERR_INV_KEYVAL);
    EXPECT(MPIRT_Object_put_attr(object, INT32_MIN, value), MPIRT_ERR_INV_KEYVAL);
    /* What was stored under it still reaches its delete function. */
    calls = 0;
    OK(MPIRT_Cset_free(&set));
    CHECK(calls == 1 && last_key == freed && last_value == value && last_extra == &extra);
    OK(MPIRT_Keyval_free(&keys[0]));
    OK(MPIRT_Keyval_free(&keys[2]));
}

/* spec: MPIRT_Object_put_attr, MPIRT_Object_put_attr/INV_KEYVAL, MPIRT_Object_get_attr, MPIRT_Object_get_attr/INV_KEYVAL */
/* spec: MPIRT_Object_delete_attr, MPIRT_Object_delete_attr/INV_KEYVAL */
/* spec: ATTR-PUT-01, ATTR-GET-01, ATTR-DELETE-01, ATTR-DELETE-02, ATTR-DELETE-03 */
static void test_values(void)
{
    MPIRT_Cset set = new_set(), copy = set;
    MPIRT_Object object = MPIRT_OBJECT(set), other = MPIRT_OBJECT(MPIRT_GROUP_WORLD);
    int key, plain, first = 1, second = 2, flag = -1, extra;
    void *value = &flag;
    OK(MPIRT_Keyval_create(count_it, &extra, &key));
    OK(MPIRT_Keyval_create(NULL, NULL, &plain));
    calls = 0;
    OK(MPIRT_Object_get_attr(object, key, &value, &flag));
    CHECK(flag == 0 && value == &flag);
    EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_INV_KEYVAL);
    OK(MPIRT_Object_put_attr(object, key, &first));
    OK(MPIRT_Object_put_attr(object, plain, NULL));
    OK(MPIRT_Object_get_attr(object, plain, &value, &flag));
    CHECK(flag == 1 && value == NULL);
    OK(MPIRT_Object_get_attr(object, key, &value, &flag));
    CHECK(flag == 1 && value == &first && calls == 0);
    OK(MPIRT_Object_get_attr(other, key, &value, &flag));
    CHECK(flag == 0);
    /* A second put replaces the first, whose delete function runs first. */
    OK(MPIRT_Object_put_attr(object, key, &second));
    CHECK(calls == 1 && last_value == &first && last_key == key && last_extra == &extra && last_object.bits == object.bits);
    /* One that refuses keeps what is there, in every call that would remove it. */
    answer = MPIRT_ERR_FULL;
    EXPECT(MPIRT_Object_put_attr(object, key, &first), MPIRT_ERR_FULL);
    EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_FULL);
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_FULL);
    CHECK(set.bits == copy.bits && calls == 4);
    answer = -7;
    EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("delete function") && detail_says("-7"));
    /* Whatever the number is: it is the program that says it, and the detail tells whose it is. */
    answer = MPIRT_ERR_INTERNAL;
    EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_INTERNAL);
    CHECK(detail_says("the program's delete function of key") && detail_says("MPIRT_ERR_INTERNAL") && detail_says("stays"));
    answer = MPIRT_SUCCESS;
    OK(MPIRT_Object_get_attr(object, key, &value, &flag));
    CHECK(flag == 1 && value == &second);
    calls = 0;
    OK(MPIRT_Object_delete_attr(object, key));
    CHECK(calls == 1 && last_value == &second);
    OK(MPIRT_Object_get_attr(object, key, &value, &flag));
    CHECK(flag == 0 && value == &second);
    /* Free runs it once. */
    OK(MPIRT_Object_put_attr(object, key, &first));
    calls = 0;
    OK(MPIRT_Cset_free(&set));
    CHECK(calls == 1 && last_value == &first && last_object.bits == copy.bits);
    EXPECT(MPIRT_Object_get_attr(object, key, &value, &flag), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Object_put_attr(object, key, value), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRT_Object_put_attr(MPIRT_OBJECT_NULL, key, value), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Object_get_attr(other, key, NULL, &flag), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Object_get_attr(other, key, &value, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Keyval_free(&key));
    OK(MPIRT_Keyval_free(&plain));
}

/* A delete function that does what it should not. */
static int other_key;

static int meddle(MPIRT_Object object, int keyval, void *value, void *extra)
{
    int flag, key = keyval;
    void *found;
    (void)extra;
    calls++;
    EXPECT(MPIRT_Object_delete_attr(object, keyval), MPIRT_ERR_INV_KEYVAL);
    if (value == &calls) {
        /* It is the object that goes. */
        EXPECT(MPIRT_Object_put_attr(object, other_key, value), MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRT_Object_put_attr(object, keyval, value), MPIRT_ERR_UNDEF_FOR_OBJECT);
    } else {
        EXPECT(MPIRT_Object_put_attr(object, keyval, value), MPIRT_ERR_INV_KEYVAL);
        OK(MPIRT_Object_put_attr(object, other_key, value));
    }
    EXPECT(MPIRT_Object_free(&object), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Object_get_attr(object, keyval, &found, &flag));
    CHECK(flag == 1 && found == value);
    OK(MPIRT_Keyval_free(&key));
    return MPIRT_SUCCESS;
}

/* spec: MPIRT_Object_put_attr/UNDEF_FOR_OBJECT */
static void test_delete_functions_may_call_anything(void)
{
    MPIRT_Cset set = new_set();
    MPIRT_Object object = MPIRT_OBJECT(set);
    int key, flag, something;
    void *found;
    OK(MPIRT_Keyval_create(NULL, NULL, &other_key));
    OK(MPIRT_Keyval_create(meddle, NULL, &key));
    OK(MPIRT_Object_put_attr(object, key, &something));
    calls = 0;
    OK(MPIRT_Object_delete_attr(object, key));
    CHECK(calls == 1);
    OK(MPIRT_Object_get_attr(object, other_key, &found, &flag));
    CHECK(flag == 1 && found == &something);
    OK(MPIRT_Keyval_create(meddle, NULL, &key));
    OK(MPIRT_Object_put_attr(object, key, &calls));
    calls = 0;
    OK(MPIRT_Cset_free(&set));
    CHECK(calls == 1);
    OK(MPIRT_Keyval_free(&other_key));
}

static int put_and_take(MPIRT_Object object)
{
    int key, flag = 0, stored, before = failures;
    void *value = NULL;
    OK(MPIRT_Keyval_create(count_it, NULL, &key));
    OK(MPIRT_Object_put_attr(object, key, &stored));
    OK(MPIRT_Object_get_attr(object, key, &value, &flag));
    CHECK(flag == 1 && value == &stored);
    calls = 0;
    OK(MPIRT_Object_delete_attr(object, key));
    CHECK(calls == 1 && last_value == &stored && last_object.bits == object.bits);
    OK(MPIRT_Object_get_attr(object, key, &value, &flag));
    CHECK(flag == 0);
    OK(MPIRT_Keyval_free(&key));
    return failures == before;
}

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

static void handles(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

/* spec: ATTR-EVERY-01, ATTR-COMMIT-01 */
static void test_every_class_committed_or_not(void)
{
    char byte, task_name[MPIRT_NAME_MAX];
    int self = rank, left;
    MPIRT_Cset set = new_set();
    MPIRT_Cvector vector;
    MPIRT_Group group;
    MPIRT_Container_iterator walk;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel;
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Handler handler;
    MPIRTX_Mode mode;
    snprintf(task_name, sizeof task_name, "attributes-%d", rank);
    OK(MPIRT_Cvector_create(NULL, 1, NULL, &vector));
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &self, NULL, &group));
    OK(MPIRT_Container_iterator_create(NULL, MPIRT_CONTAINER(set), &walk));
    OK(MPIRT_Buffer_create(NULL, &byte, 1, MPIRT_BYTE, &buffer));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    OK(MPIRT_Ptchannel_create("", iterator, iterator, 0, 0, group, MPIRT_QOS_NULL, &channel));
    CHECK(put_and_take(MPIRT_OBJECT(channel)));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 10 * ms, &qos));
    OK(MPIRTX_Task_create(task_name, nothing, NULL, qos, ms, &task));
    CHECK(put_and_take(MPIRT_OBJECT(task)));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Barrier_channel_create("", group, MPIRT_QOS_NULL, &channel));
    CHECK(put_and_take(MPIRT_OBJECT(channel)));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Trigger_create(task_name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, group, MPIRT_QOS_NULL, &trigger));
    CHECK(put_and_take(MPIRT_OBJECT(trigger)));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_create(task_name, group, MPIRT_CONTAINER_NULL, &receptor));
    CHECK(put_and_take(MPIRT_OBJECT(receptor)));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Handler_create(NULL, handles, NULL, MPIRT_QOS_NULL, &handler));
    CHECK(put_and_take(MPIRT_OBJECT(handler)));
    OK(MPIRT_Handler_free(&handler));
    MPIRT_Object objects[] = {
        MPIRT_OBJECT(set), MPIRT_OBJECT(vector), MPIRT_OBJECT(group), MPIRT_OBJECT(walk), MPIRT_OBJECT(buffer),
        MPIRT_OBJECT(iterator), MPIRT_OBJECT(qos), MPIRT_OBJECT(MPIRT_GROUP_WORLD),
        MPIRT_OBJECT(MPIRT_QOS_BEST_EFFORT),
    };
    int many = (int)(sizeof objects / sizeof *objects);
    for (int place = 0; place < many; place++)
        CHECK(put_and_take(objects[place]));
    OK(MPIRT_Keyval_create(count_it, NULL, &left));
    OK(MPIRT_Object_put_attr(MPIRT_OBJECT(set), left, &byte));
    MUST(MPIRT_Commit());
    for (int place = 0; place < many; place++)
        CHECK(put_and_take(objects[place]));
    OK(MPIRTX_Mode_open("next", &mode));
    CHECK(put_and_take(MPIRT_OBJECT(mode)));
    OK(MPIRTX_Mode_free(&mode));
    /* An object that is committed stays, and so does what hangs on it. */
    calls = 0;
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(calls == 0);
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 7; place++)
        OK(MPIRT_Object_free(&objects[place]));
    CHECK(calls == 1 && last_value == &byte);
    OK(MPIRT_Keyval_free(&left));
}

/* spec: ATTR-DELETE-04 */
static void test_finalize_runs_delete_functions(void)
{
    int key, flag;
    MPIRT_Cset set = new_set();
    OK(MPIRT_Keyval_create(count_it, NULL, &key));
    OK(MPIRT_Object_put_attr(MPIRT_OBJECT(set), key, &key));
    OK(MPIRT_Object_put_attr(MPIRT_OBJECT(MPIRT_GROUP_WORLD), key, &flag));
    calls = 0;
    answer = MPIRT_ERR_FULL;
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_FULL);
    OK(MPIRT_Is_finalized(&flag));
    CHECK(flag == 0 && calls == 1);
    /* The library lives on. */
    answer = MPIRT_SUCCESS;
    CHECK(put_and_take(MPIRT_OBJECT(set)));
    calls = 0;
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_keys();
    test_values();
    test_delete_functions_may_call_anything();
    test_every_class_committed_or_not();
    test_finalize_runs_delete_functions();
    int code = end();
    /* Both that were left. */
    return calls == 2 ? code : EXIT_FAILURE;
}
