/* Events: how triggers, receptors and handlers are made, named and freed, and what commit refuses. */
#include "events.h"

static void idle(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

/* spec: MPIRT_Trigger_create, MPIRT_Trigger_create/ARGUMENT, MPIRT_Trigger_create/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Trigger_create/NOT_MEMBER, MPIRT_Trigger_free, EVENT-TRIGGER-SOURCE-01 */
static void test_creation_of_triggers(void)
{
    static const MPIRT_Event_kind watching[] = {MPIRT_EVENT_COMPLETION, MPIRT_EVENT_MISSING_BUFFER, MPIRT_EVENT_ERROR, MPIRT_EVENT_MISS};
    MPIRT_Trigger trigger;
    MPIRTX_Task task;
    MPIRT_Group other;
    MPIRT_Buffer buffer;
    MPIRT_Qos time, urgent = qos_of(5);
    MPIRT_Bufiter ends;
    MPIRT_Channel channel;
    int peer = (rank + 1) % members;
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &ends));
    OK(MPIRT_Ptchannel_create("watched", ends, ends, rank, peer, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, ms, &time));
    OK(MPIRTX_Task_create("watched", idle, NULL, time, ms / 10, &task));
#define CREATE(kind, source, group, qos) MPIRT_Trigger_create("e", kind, source, group, qos, &trigger)
    EXPECT(CREATE((MPIRT_Event_kind)6, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(CREATE((MPIRT_Event_kind)-1, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_NULL, MPIRT_QOS_NULL), MPIRT_ERR_NULL_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, time), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT(channel), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_TIME, MPIRT_OBJECT(channel), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_COMPLETION, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_MISS, MPIRT_OBJECT(buffer), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT(task), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    for (int place = 0; place < 4; place++) {
        EXPECT(CREATE(watching[place], MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(CREATE(watching[place], MPIRT_OBJECT(buffer), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
        /* A task can be watched for misses alone. */
        EXPECT(CREATE(watching[place], MPIRT_OBJECT(task), MPIRT_GROUP_WORLD, urgent),
               watching[place] == MPIRT_EVENT_MISS ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
    }
    OK(MPIRT_Trigger_free(&trigger));
    EXPECT(MPIRT_Trigger_create(NULL, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, urgent, &trigger),
           MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Trigger_create("e", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, urgent, NULL),
           MPIRT_ERR_NULL_POINTER);
    if (members > 1) {
        OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &peer, NULL, &other));
        EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, other, urgent), MPIRT_ERR_NOT_MEMBER);
        OK(MPIRT_Group_free(&other));
    }
    OK(CREATE(MPIRT_EVENT_ERROR, MPIRT_OBJECT(channel), MPIRT_GROUP_WORLD, urgent));
#undef CREATE
    OK(MPIRT_Trigger_free(&trigger));
    CHECK(trigger.bits == 0);
    EXPECT(MPIRT_Trigger_free(&trigger), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&ends));
    OK(MPIRT_Buffer_free(&buffer));
    OK(MPIRT_Qos_free(&time));
    OK(MPIRT_Qos_free(&urgent));
}

/* spec: MPIRTX_Trigger_set_time/TIME, MPIRTX_Trigger_set_time/UNDEF_FOR_OBJECT */
static void test_times_belong_to_triggers_of_the_kind_time(void)
{
    MPIRT_Trigger trigger = call("e");
    EXPECT(MPIRTX_Trigger_set_time(trigger, 0, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_create("e", MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    EXPECT(MPIRTX_Trigger_set_time(trigger, -1, 0), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Trigger_set_time(trigger, 0, -1), MPIRT_ERR_TIME);
    OK(MPIRTX_Trigger_set_time(trigger, 0, 0));
    OK(MPIRT_Trigger_free(&trigger));
}

/* spec: MPIRTX_Qos_handler_create, MPIRTX_Qos_handler_create/ARGUMENT, MPIRTX_Qos_handler_create/TIME */
/* spec: MPIRT_Handler_create, MPIRT_Handler_create/UNDEF_FOR_OBJECT, MPIRT_Handler_free */
static void test_creation_of_handlers(void)
{
    MPIRT_Handler handler;
    MPIRT_Qos qos;
    EXPECT(MPIRTX_Qos_handler_create(NULL, 0, ms, ms, &qos), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Qos_handler_create(NULL, MPIRT_PRIORITY_MAX + 1, ms, ms, &qos), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Qos_handler_create(NULL, 1000, ms, ms, &qos), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Qos_handler_create(NULL, 1, 0, ms, &qos), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Qos_handler_create(NULL, 1, ms, -1, &qos), MPIRT_ERR_TIME);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, ms, &qos));
    EXPECT(MPIRT_Handler_create("h", nothing, NULL, qos, &handler), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Handler_create("h", NULL, NULL, MPIRT_QOS_NULL, &handler), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Handler_create("h", nothing, NULL, MPIRT_QOS_NULL, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Handler_create("h", nothing, NULL, MPIRT_QOS_BEST_EFFORT, &handler));
    OK(MPIRT_Handler_free(&handler));
    CHECK(handler.bits == 0);
    OK(MPIRT_Qos_free(&qos));
}

/* spec: MPIRT_Receptor_create, MPIRT_Receptor_create/UNDEF_FOR_OBJECT, MPIRT_Receptor_create/NOT_MEMBER, MPIRT_Receptor_free */
/* spec: MPIRTX_Receptor_combine/ARGUMENT, MPIRTX_Receptor_combine/UNDEF_FOR_OBJECT, EVENT-COMBINE-03, EVENT-COMBINE-04 */
static void test_creation_of_receptors(void)
{
    MPIRT_Receptor parts[3] = {receptor_of("a"), receptor_of("b"), {0}}, pair, nested, other;
    MPIRT_Handler handler = handler_of(nothing, NULL, 0);
    MPIRT_Object wrong = MPIRT_OBJECT(parts[0]), right = MPIRT_OBJECT(handler);
    MPIRT_Object both[2] = {MPIRT_OBJECT(parts[0]), MPIRT_OBJECT(parts[1])};
    MPIRT_Object twice[2] = {MPIRT_OBJECT(parts[1]), MPIRT_OBJECT(parts[1])};
    MPIRT_Cset set;
    MPIRT_Group group;
    int peer = (rank + 1) % members;
#define COMBINE(combination, parts, handlers) MPIRTX_Receptor_combine("c", combination, parts, handlers, &other)
    EXPECT(MPIRT_Receptor_create("e", MPIRT_GROUP_WORLD, container_of(1, &wrong), &other), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Receptor_create("e", MPIRT_GROUP_NULL, MPIRT_CONTAINER_NULL, &other), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Receptor_create(NULL, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &other), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Receptor_create("e", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, NULL), MPIRT_ERR_NULL_POINTER);
    if (members > 1) {
        OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &peer, NULL, &group));
        EXPECT(MPIRT_Receptor_create("e", group, MPIRT_CONTAINER_NULL, &other), MPIRT_ERR_NOT_MEMBER);
        OK(MPIRT_Group_free(&group));
    }
    EXPECT(COMBINE((MPIRTX_Combination)2, container_of(2, both), MPIRT_CONTAINER_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(COMBINE(MPIRTX_ANY, container_of(0, NULL), MPIRT_CONTAINER_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(COMBINE(MPIRTX_ANY, container_of(2, twice), MPIRT_CONTAINER_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(COMBINE(MPIRTX_ANY, MPIRT_CONTAINER_NULL, MPIRT_CONTAINER_NULL), MPIRT_ERR_NULL_OBJECT);
    EXPECT(COMBINE(MPIRTX_ANY, container_of(1, &right), MPIRT_CONTAINER_NULL), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(COMBINE(MPIRTX_ANY, container_of(2, both), container_of(1, &wrong)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    parts[2] = handled("e", 1, &right);
    wrong = MPIRT_OBJECT(parts[2]);
    EXPECT(COMBINE(MPIRTX_ANY, container_of(1, &wrong), MPIRT_CONTAINER_NULL), MPIRT_ERR_ARGUMENT);
    OK(MPIRT_Cset_create(NULL, &set));
    OK(MPIRT_Cset_insert(set, both[0]));
    OK(MPIRT_Cset_insert(set, both[1]));
    OK(MPIRTX_Receptor_combine("pair", MPIRTX_ALL, MPIRT_CONTAINER(set), MPIRT_CONTAINER_NULL, &pair));
    /* Nothing comes to contain itself: a combination's parts are parts of it for good. */
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(pair)));
    EXPECT(COMBINE(MPIRTX_ANY, MPIRT_CONTAINER(set), MPIRT_CONTAINER_NULL), MPIRT_ERR_ARGUMENT);
    wrong = MPIRT_OBJECT(pair);
    OK(MPIRTX_Receptor_combine("nested", MPIRTX_ANY, container_of(1, &wrong), MPIRT_CONTAINER_NULL, &nested));
    EXPECT(COMBINE(MPIRTX_ANY, container_of(1, &wrong), MPIRT_CONTAINER_NULL), MPIRT_ERR_ARGUMENT);
    /* Deep, but not without end. */
    MPIRT_Receptor levels[17] = {receptor_of("deep")};
    for (int level = 1; level <= 16; level++) {
        wrong = MPIRT_OBJECT(levels[level - 1]);
        OK(MPIRTX_Receptor_combine(NULL, MPIRTX_ANY, container_of(1, &wrong), MPIRT_CONTAINER_NULL, &levels[level]));
    }
    wrong = MPIRT_OBJECT(levels[16]);
    EXPECT(COMBINE(MPIRTX_ANY, container_of(1, &wrong), MPIRT_CONTAINER_NULL), MPIRT_ERR_LIMIT);
    CHECK(detail_says("there would be 17, and there can be 16"));
    for (int level = 16; level >= 0; level--)
        OK(MPIRT_Receptor_free(&levels[level]));
#undef COMBINE
    OK(MPIRT_Cset_free(&set));
    free_containers();
    OK(MPIRT_Receptor_free(&nested));
    OK(MPIRT_Receptor_free(&pair));
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Receptor_free(&parts[place]));
    CHECK(parts[0].bits == 0);
    OK(MPIRT_Handler_free(&handler));
}

/* spec: MPIRT_Trigger_get_name, MPIRT_Trigger_set_name, MPIRT_Receptor_get_name, MPIRT_Receptor_set_name */
/* spec: MPIRT_Handler_get_name, MPIRT_Handler_set_name */
/* spec: MPIRTX_Object_as_trigger, MPIRTX_Object_as_receptor, MPIRTX_Object_as_handler, OBJECT-HANDLE-06, OBJECT-NAME-03 */
static void test_names_classes_and_casts(void)
{
    MPIRT_Trigger trigger = call("e"), same_trigger;
    MPIRT_Receptor receptor = receptor_of("e"), same_receptor;
    MPIRT_Handler handler = handler_of(nothing, NULL, 3), same_handler;
    MPIRT_Object_type type;
    char name[MPIRT_NAME_MAX];
    OK(MPIRT_Trigger_get_name(trigger, name));
    CHECK(strcmp(name, "e") == 0);
    OK(MPIRT_Trigger_set_name(trigger, "f"));
    OK(MPIRT_Trigger_get_name(trigger, name));
    CHECK(strcmp(name, "f") == 0);
    OK(MPIRT_Receptor_set_name(receptor, "g"));
    OK(MPIRT_Receptor_get_name(receptor, name));
    CHECK(strcmp(name, "g") == 0);
    OK(MPIRT_Handler_set_name(handler, "h"));
    OK(MPIRT_Handler_get_name(handler, name));
    CHECK(strcmp(name, "h") == 0);
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(trigger), &type));
    CHECK(type == MPIRT_TYPE_TRIGGER);
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(receptor), &type));
    CHECK(type == MPIRT_TYPE_RECEPTOR);
    OK(MPIRT_Object_get_object_type(MPIRT_OBJECT(handler), &type));
    CHECK(type == MPIRT_TYPE_HANDLER);
    OK(MPIRTX_Object_as_trigger(MPIRT_OBJECT(trigger), &same_trigger));
    OK(MPIRTX_Object_as_receptor(MPIRT_OBJECT(receptor), &same_receptor));
    OK(MPIRTX_Object_as_handler(MPIRT_OBJECT(handler), &same_handler));
    CHECK(same_trigger.bits == trigger.bits && same_receptor.bits == receptor.bits && same_handler.bits == handler.bits);
    EXPECT(MPIRTX_Object_as_trigger(MPIRT_OBJECT(handler), &same_trigger), MPIRT_ERR_WRONG_CLASS);
    EXPECT(MPIRTX_Object_as_receptor(MPIRT_OBJECT(trigger), &same_receptor), MPIRT_ERR_WRONG_CLASS);
    EXPECT(MPIRTX_Object_as_handler(MPIRT_OBJECT_NULL, &same_handler), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Handler_free(&handler));
}

/* spec: EVENT-NAME-02 */
static void test_a_receptor_without_a_trigger_is_refused_for_all(void)
{
    MPIRT_Receptor receptor;
    const char *detail;
    if (rank == members - 1)
        receptor = receptor_of("unheard of");
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "event \"unheard of\" of group \"world\""));
    CHECK(strstr(detail, "no member of the group has a trigger"));
    if (rank == members - 1)
        OK(MPIRT_Receptor_free(&receptor));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_creation_of_triggers();
    test_times_belong_to_triggers_of_the_kind_time();
    test_creation_of_handlers();
    test_creation_of_receptors();
    test_names_classes_and_casts();
    test_a_receptor_without_a_trigger_is_refused_for_all();
    return end();
}
