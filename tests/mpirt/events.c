/* Events: triggers, receptors and handlers, within each member and across all of them. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FIRINGS = 50, LOG_MAX = 64, KEPT = MPIRT_PENDING_MAX };
static const MPIRT_Timespec ms = INT64_C(1000000);
static const MPIRT_Timespec patience = INT64_C(10000000000);

/* Allocations of each thread, the library's included: its allocator is that of the program. A sanitizer brings its own. */
static _Thread_local unsigned long allocations;
#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    allocations++;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : 12;
}
#endif

static MPIRT_Qos qos_of(int priority)
{
    MPIRT_Qos qos;
    OK(MPIRTX_Qos_handler_create(NULL, priority, ms, ms, &qos));
    return qos;
}

/* A trigger of the kind call in the world. */
static MPIRT_Trigger call(const char *event)
{
    MPIRT_Trigger trigger;
    OK(MPIRT_Trigger_create(event, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    return trigger;
}

static MPIRT_Receptor receptor_of(const char *event)
{
    MPIRT_Receptor receptor;
    OK(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    return receptor;
}

/* Containers are read when something is created of them, and keep what is in them until they go. */
static MPIRT_Cvector containers[32];
static int container_count;

static MPIRT_Container container_of(int count, const MPIRT_Object *objects)
{
    MPIRT_Cvector *vector = &containers[container_count++];
    OK(MPIRT_Cvector_create(NULL, count, objects, vector));
    return MPIRT_CONTAINER(*vector);
}

static void free_containers(void)
{
    while (container_count > 0)
        OK(MPIRT_Cvector_free(&containers[--container_count]));
}

static MPIRT_Receptor handled(const char *event, int count, const MPIRT_Object *handlers)
{
    MPIRT_Receptor receptor;
    OK(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, container_of(count, handlers), &receptor));
    free_containers();
    return receptor;
}

static MPIRT_Receptor combined(MPIRTX_Combination combination, int count, const MPIRT_Object *parts)
{
    MPIRT_Receptor receptor;
    OK(MPIRTX_Receptor_combine(NULL, combination, container_of(count, parts), MPIRT_CONTAINER_NULL, &receptor));
    free_containers();
    return receptor;
}

static MPIRT_Handler handler_of(MPIRT_Handler_function *function, void *argument, int priority)
{
    MPIRT_Handler handler;
    OK(MPIRT_Handler_create(NULL, function, argument, priority ? qos_of(priority) : MPIRT_QOS_NULL, &handler));
    return handler;
}

/* An event's name that no other member uses. */
static const char *own(const char *event)
{
    static char names[4][MPIRT_NAME_MAX];
    static int next;
    char *name = names[next++ % 4];
    snprintf(name, MPIRT_NAME_MAX, "%s-%d", event, rank);
    return name;
}

static int is_pending(MPIRT_Receptor receptor)
{
    int flag = -1;
    OK(MPIRTX_Receptor_test(receptor, &flag));
    return flag;
}

static void nothing(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

/* spec: MPIRT_Trigger_create, MPIRT_Trigger_create/ARGUMENT, MPIRT_Trigger_create/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Trigger_create/NOT_MEMBER, MPIRT_Trigger_free, EVENT-TRIGGER-SOURCE-01 */
static void test_creation_of_triggers(void)
{
    MPIRT_Trigger trigger;
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
#define CREATE(kind, source, group, qos) MPIRT_Trigger_create("e", kind, source, group, qos, &trigger)
    EXPECT(CREATE((MPIRT_Event_kind)6, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(CREATE((MPIRT_Event_kind)-1, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL), MPIRT_ERR_ARGUMENT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_NULL, MPIRT_QOS_NULL), MPIRT_ERR_NULL_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, time), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_CALL, MPIRT_OBJECT(channel), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_TIME, MPIRT_OBJECT(channel), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_COMPLETION, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(CREATE(MPIRT_EVENT_MISS, MPIRT_OBJECT(buffer), MPIRT_GROUP_WORLD, urgent), MPIRT_ERR_UNDEF_FOR_OBJECT);
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
/* spec: MPIRTX_Object_as_trigger, MPIRTX_Object_as_receptor, MPIRTX_Object_as_handler */
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

/* Member 0 fires, and all hear it; what has another name or group is not heard. */
/* spec: EVENT-NAME-01, EVENT-TRIGGER-CALL-01, EVENT-DELIVER-01, EVENT-DELIVER-02, EVENT-DELIVER-03, EVENT-DELIVER-04 */
/* spec: EVENT-DELIVER-06, EVENT-INFO-01, MPIRT_Trigger_fire, MPIRT_Receptor_wait, MPIRTX_Receptor_get_event */
/* spec: MPIRTX_Receptor_get_event/EMPTY, MPIRT_Trigger_fire/UNDEF_FOR_OBJECT, EVENT-TRIGGER-CALL-02 */
static void test_every_receptor_gets_every_firing_in_order(void)
{
    MPIRT_Receptor one, two, other, apart = {0};
    MPIRT_Trigger trigger = {0}, elsewhere = call("elsewhere"), aside = {0}, timed;
    MPIRT_Group group;
    MPIRTX_Event event;
    int first = 0;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &first, NULL, &group));
    one = receptor_of("go");
    two = receptor_of("go");
    other = receptor_of("elsewhere");
    if (rank == 0) {
        trigger = call("go");
        OK(MPIRT_Trigger_create("go", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, group, MPIRT_QOS_NULL, &aside));
        OK(MPIRT_Receptor_create("go", group, MPIRT_CONTAINER_NULL, &apart));
        EXPECT(MPIRT_Trigger_fire(trigger), MPIRT_ERR_NOT_COMMITTED);
    }
    OK(MPIRT_Trigger_create(own("timed"), MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &timed));
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Trigger_fire(timed), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_get_event(one, &event), MPIRT_ERR_EMPTY);
    if (rank == 0)
        for (int firing = 0; firing < FIRINGS; firing++)
            OK(MPIRT_Trigger_fire(trigger));
    MPIRT_Timespec last = INT64_MIN;
    for (uint64_t firing = 0; firing < FIRINGS; firing++) {
        MUST(MPIRT_Receptor_wait(one, patience));
        OK(MPIRTX_Receptor_get_event(one, &event));
        CHECK(event.source == 0 && event.number == firing && event.lost == 0);
        CHECK(event.time >= last);
        last = event.time;
    }
    EXPECT(MPIRT_Receptor_wait(one, 0), MPIRT_ERR_TIMEOUT);
    CHECK(event.pending == 0);
    OK(MPIRTX_Receptor_get_event(one, &event));
    CHECK(event.number == FIRINGS - 1);
    for (int firing = 0; firing < FIRINGS; firing++)
        CHECK(is_pending(two) == 1);
    CHECK(is_pending(two) == 0);
    CHECK(is_pending(other) == 0);
    if (rank == 0) {
        CHECK(is_pending(apart) == 0);
        OK(MPIRT_Trigger_fire(aside));
        CHECK(is_pending(apart) == 1);
        CHECK(is_pending(one) == 0);
    }
    OK(MPIRT_Uncommit());
    EXPECT(MPIRTX_Receptor_get_event(one, &event), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRT_Receptor_free(&one));
    OK(MPIRT_Receptor_free(&two));
    OK(MPIRT_Receptor_free(&other));
    OK(MPIRT_Trigger_free(&elsewhere));
    OK(MPIRT_Trigger_free(&timed));
    if (rank == 0) {
        OK(MPIRT_Trigger_free(&trigger));
        OK(MPIRT_Trigger_free(&aside));
        OK(MPIRT_Receptor_free(&apart));
    }
    OK(MPIRT_Group_free(&group));
}

/* A token goes round: each member waits for its predecessor's firing, and fires. */
/* spec: EVENT-DELIVER-06, EVENT-RECEPTOR-WAIT-01 */
static void test_a_token_goes_round(void)
{
    char there[MPIRT_NAME_MAX], here[MPIRT_NAME_MAX];
    snprintf(there, sizeof there, "token-%d", (rank + 1) % members);
    snprintf(here, sizeof here, "token-%d", rank);
    MPIRT_Trigger trigger = call(there);
    MPIRT_Receptor receptor = receptor_of(here);
    MPIRTX_Event event;
    MUST(MPIRT_Commit());
    for (uint64_t round = 0; round < FIRINGS; round++) {
        if (rank == 0)
            OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(receptor, patience));
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(event.number == round && event.source == (rank + members - 1) % members);
        if (rank != 0)
            OK(MPIRT_Trigger_fire(trigger));
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&receptor));
}

/* spec: MPIRT_Receptor_wait/TIMEOUT, MPIRT_Receptor_wait/TIME, MPIRT_Receptor_wait/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Receptor_test, MPIRTX_Receptor_test/UNDEF_FOR_OBJECT, EVENT-RECEPTOR-TEST-01 */
/* spec: EVENT-RECEPTOR-WAIT-02, EVENT-RECEPTOR-WAIT-03, EVENT-RECEPTOR-WAIT-04, EVENT-DELIVER-07, EVENT-COMBINE-04 */
static void test_waits_and_their_errors(void)
{
    MPIRT_Trigger trigger = call(own("e"));
    MPIRT_Receptor receptor = receptor_of(own("e")), part = receptor_of(own("e")), whole, busy;
    MPIRT_Handler handler = handler_of(nothing, NULL, 0);
    MPIRT_Object handlers = MPIRT_OBJECT(handler), parts = MPIRT_OBJECT(part);
    MPIRT_Timespec before, after;
    int flag;
    whole = combined(MPIRTX_ANY, 1, &parts);
    busy = handled(own("e"), 1, &handlers);
    EXPECT(MPIRT_Receptor_wait(receptor, 0), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRTX_Receptor_test(receptor, &flag), MPIRT_ERR_NOT_COMMITTED);
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Receptor_wait(MPIRT_RECEPTOR_NULL, ms), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Receptor_wait(receptor, -1), MPIRT_ERR_TIME);
    EXPECT(MPIRT_Receptor_wait(receptor, 0), MPIRT_ERR_TIMEOUT);
    OK(MPIRT_Get_time(&before));
    EXPECT(MPIRT_Receptor_wait(receptor, ms), MPIRT_ERR_TIMEOUT);
    OK(MPIRT_Get_time(&after));
    CHECK(after - before >= ms);
    EXPECT(MPIRT_Receptor_wait(busy, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Receptor_wait(part, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_test(busy, &flag), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_test(part, &flag), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_test(receptor, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Receptor_get_event(receptor, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Trigger_free(&trigger), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Receptor_set_name(receptor, "f"), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(is_pending(receptor) == 0);
    /* A firing after a timeout is kept; one before a wait ends it at once. */
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Receptor_wait(receptor, MPIRT_TIME_SPEC_IGNORE));
    CHECK(is_pending(receptor) == 1);
    CHECK(is_pending(receptor) == 0);
    OK(MPIRT_Receptor_wait(whole, 0));
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Uncommit());
    MUST(MPIRT_Commit());
    CHECK(is_pending(receptor) == 0);
    CHECK(is_pending(whole) == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&whole));
    OK(MPIRT_Receptor_free(&part));
    OK(MPIRT_Receptor_free(&busy));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
}

/* spec: EVENT-DELIVER-08 */
static void test_no_firing_is_dropped_but_times_are(void)
{
    MPIRT_Trigger trigger = call(own("flood"));
    MPIRT_Receptor receptor = receptor_of(own("flood"));
    MPIRTX_Event event;
    MUST(MPIRT_Commit());
    for (int firing = 0; firing < KEPT + 10; firing++)
        OK(MPIRT_Trigger_fire(trigger));
    for (uint64_t firing = 0; firing < KEPT + 10; firing++) {
        CHECK(is_pending(receptor) == 1);
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(event.number == firing && event.pending == KEPT + 9 - firing);
        CHECK((event.time == MPIRT_TIME_SPEC_IGNORE) == (firing < 10));
        CHECK(event.lost == (firing < 10 ? firing + 1 : 10));
    }
    CHECK(is_pending(receptor) == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Trigger_free(&trigger));
}

static unsigned long in_handler;

static void fire_and_count(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    MPIRT_Trigger *trigger = argument;
    (void)receptor;
    if (event->number == 0)
        in_handler = allocations;
    OK(MPIRT_Trigger_fire(*trigger));
    if (event->number > 0)
        in_handler = allocations - in_handler;
}

/* Firing, testing, waiting and handling: nothing is allocated after the first call of a thread. */
static void test_the_data_path_allocates_nothing(void)
{
    MPIRT_Trigger trigger = call(own("lean")), done = call(own("done"));
    MPIRT_Handler handler = handler_of(fire_and_count, &done, 10);
    MPIRT_Object object = MPIRT_OBJECT(handler);
    MPIRT_Receptor receptor = receptor_of(own("lean")), other = handled(own("lean"), 1, &object),
                   ended = receptor_of(own("done"));
    MPIRTX_Event event;
    unsigned long before;
#ifndef __SANITIZE_ADDRESS__
    CHECK(allocations > 0);
#endif
    MUST(MPIRT_Commit());
    CHECK(is_pending(receptor) == 0);
    before = allocations;
    for (int round = 0; round < 2; round++) {
        OK(MPIRT_Trigger_fire(trigger));
        OK(MPIRT_Receptor_wait(receptor, patience));
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(is_pending(receptor) == 0);
        EXPECT(MPIRT_Receptor_wait(receptor, 1000), MPIRT_ERR_TIMEOUT);
        MUST(MPIRT_Receptor_wait(ended, patience));
    }
    CHECK(allocations == before);
    OK(MPIRT_Uncommit());
    CHECK(in_handler == 0);
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&other));
    OK(MPIRT_Receptor_free(&ended));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&done));
}

/* spec: EVENT-DELIVER-09 */
static void test_the_order_between_triggers(void)
{
    MPIRT_Trigger plain = call(own("e")), urgent;
    MPIRT_Qos qos = qos_of(7);
    MPIRT_Receptor receptor = receptor_of(own("e"));
    MPIRTX_Event event;
    OK(MPIRT_Trigger_create(own("e"), MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, qos, &urgent));
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(plain));
    OK(MPIRT_Trigger_fire(plain));
    OK(MPIRT_Trigger_fire(urgent));
    static const uint64_t order[] = {0, 0, 1};
    MPIRT_Timespec first = 0;
    for (int firing = 0; firing < 3; firing++) {
        OK(MPIRT_Receptor_wait(receptor, 0));
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(event.number == order[firing]);
        if (firing == 0)
            first = event.time;
        else
            CHECK(event.time <= first);
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Trigger_free(&plain));
    OK(MPIRT_Trigger_free(&urgent));
    OK(MPIRT_Qos_free(&qos));
}

/* spec: MPIRTX_Receptor_combine, EVENT-COMBINE-01, EVENT-COMBINE-02, EVENT-COMBINE-03 */
static void test_combinations(void)
{
    MPIRT_Trigger a = call(own("a")), b = call(own("b")), c = call(own("c"));
    MPIRT_Receptor any_parts[2] = {receptor_of(own("a")), receptor_of(own("b"))};
    MPIRT_Receptor all_parts[2] = {receptor_of(own("a")), receptor_of(own("b"))};
    MPIRT_Receptor in_parts[2] = {receptor_of(own("a")), receptor_of(own("b"))}, c_part = receptor_of(own("c"));
    MPIRT_Object any_objects[2] = {MPIRT_OBJECT(any_parts[0]), MPIRT_OBJECT(any_parts[1])};
    MPIRT_Object all_objects[2] = {MPIRT_OBJECT(all_parts[0]), MPIRT_OBJECT(all_parts[1])};
    MPIRT_Object in_objects[2] = {MPIRT_OBJECT(in_parts[0]), MPIRT_OBJECT(in_parts[1])}, out_objects[2];
    MPIRT_Receptor any = combined(MPIRTX_ANY, 2, any_objects), all = combined(MPIRTX_ALL, 2, all_objects);
    MPIRT_Receptor inner = combined(MPIRTX_ANY, 2, in_objects), outer;
    out_objects[0] = MPIRT_OBJECT(inner);
    out_objects[1] = MPIRT_OBJECT(c_part);
    outer = combined(MPIRTX_ALL, 2, out_objects);
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(a));
    OK(MPIRT_Trigger_fire(a));
    CHECK(is_pending(all) == 0);
    CHECK(is_pending(outer) == 0);
    OK(MPIRT_Trigger_fire(b));
    OK(MPIRT_Receptor_wait(all, 0));
    CHECK(is_pending(all) == 0);
    for (int firing = 0; firing < 3; firing++)
        OK(MPIRT_Receptor_wait(any, 0));
    CHECK(is_pending(any) == 0);
    OK(MPIRT_Trigger_fire(c));
    OK(MPIRT_Receptor_wait(outer, 0));
    CHECK(is_pending(outer) == 0);
    OK(MPIRT_Trigger_fire(c));
    OK(MPIRT_Trigger_fire(c));
    OK(MPIRT_Trigger_fire(c));
    CHECK(is_pending(outer) == 1);
    CHECK(is_pending(outer) == 1);
    CHECK(is_pending(outer) == 0);
    OK(MPIRT_Trigger_fire(b));
    CHECK(is_pending(all) == 1);
    CHECK(is_pending(outer) == 1);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&any));
    OK(MPIRT_Receptor_free(&all));
    OK(MPIRT_Receptor_free(&outer));
    OK(MPIRT_Receptor_free(&inner));
    OK(MPIRT_Receptor_free(&c_part));
    for (int place = 0; place < 2; place++) {
        OK(MPIRT_Receptor_free(&any_parts[place]));
        OK(MPIRT_Receptor_free(&all_parts[place]));
        OK(MPIRT_Receptor_free(&in_parts[place]));
    }
    OK(MPIRT_Trigger_free(&a));
    OK(MPIRT_Trigger_free(&b));
    OK(MPIRT_Trigger_free(&c));
}

/* Each member waits for all the others at once, and then for any of them. */
/* spec: EVENT-COMBINE-02, EVENT-DELIVER-06 */
static void test_combinations_across_members(void)
{
    char names[4][MPIRT_NAME_MAX];
    MPIRT_Receptor parts[4], all;
    MPIRT_Object objects[4];
    for (int peer = 0; peer < members; peer++) {
        snprintf(names[peer], MPIRT_NAME_MAX, "arrived-%d", peer);
        parts[peer] = receptor_of(names[peer]);
        objects[peer] = MPIRT_OBJECT(parts[peer]);
    }
    all = combined(MPIRTX_ALL, members, objects);
    MPIRT_Trigger trigger = call(names[rank]);
    MUST(MPIRT_Commit());
    for (int round = 0; round < FIRINGS; round++) {
        OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(all, patience));
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&all));
    for (int peer = 0; peer < members; peer++)
        OK(MPIRT_Receptor_free(&parts[peer]));
    OK(MPIRT_Trigger_free(&trigger));
}

/* spec: MPIRTX_Trigger_set_time, EVENT-TRIGGER-TIME-01, EVENT-TRIGGER-TIME-02, EVENT-TRIGGER-TIME-03 */
static void test_triggers_fire_by_the_clock(void)
{
    MPIRT_Trigger once, periodic;
    MPIRT_Receptor at, each;
    MPIRT_Timespec epoch;
    MPIRTX_Event event;
    enum { PERIODS = 20 };
    OK(MPIRT_Trigger_create(own("once"), MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &once));
    OK(MPIRT_Trigger_create("each", MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &periodic));
    OK(MPIRTX_Trigger_set_time(once, 3 * ms, 0));
    OK(MPIRTX_Trigger_set_time(periodic, ms, 2 * ms));
    at = receptor_of(own("once"));
    each = receptor_of("each");
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    /* Every member has a periodic trigger of this event. */
    uint64_t next[4] = {0};
    for (int firing = 0; firing < PERIODS * members; firing++) {
        MUST(MPIRT_Receptor_wait(each, patience));
        OK(MPIRTX_Receptor_get_event(each, &event));
        CHECK(event.source >= 0 && event.source < members);
        CHECK(event.number == next[event.source]++);
        CHECK(event.time >= epoch + ms + (MPIRT_Timespec)event.number * 2 * ms);
    }
    OK(MPIRT_Receptor_wait(at, patience));
    OK(MPIRTX_Receptor_get_event(at, &event));
    CHECK(event.time >= epoch + 3 * ms && event.number == 0);
    CHECK(is_pending(at) == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Trigger_free(&once));
    OK(MPIRT_Trigger_free(&periodic));
    OK(MPIRT_Receptor_free(&at));
    OK(MPIRT_Receptor_free(&each));
}

/* What handlers write down, one after the other. */
static struct entry {
    const char *who;
    MPIRT_Receptor receptor;
    MPIRTX_Event event;
} entries[LOG_MAX];
static atomic_int written;
static MPIRT_Trigger done_trigger, low_trigger, high_trigger;

static void note(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    int place = atomic_fetch_add(&written, 1);
    if (place < LOG_MAX)
        entries[place] = (struct entry){argument, receptor, *event};
}

static void note_and_tell(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    note(receptor, event, argument);
    OK(MPIRT_Trigger_fire(done_trigger));
}

/* spec: EVENT-HANDLER-01, EVENT-HANDLER-02, EVENT-HANDLER-03, EVENT-HANDLER-08 */
static void test_handlers_run_in_order_for_every_firing(void)
{
    MPIRT_Trigger trigger = {0};
    MPIRT_Handler handlers[3] = {handler_of(note, "first", 80), handler_of(note, "second", 0),
                                 handler_of(note_and_tell, "third", 40)};
    MPIRT_Object objects[3];
    MPIRT_Receptor receptor, done = receptor_of(own("done"));
    for (int place = 0; place < 3; place++)
        objects[place] = MPIRT_OBJECT(handlers[place]);
    receptor = handled("handled", 3, objects);
    done_trigger = call(own("done"));
    if (rank == 0)
        trigger = call("handled");
    atomic_store(&written, 0);
    MUST(MPIRT_Commit());
    if (rank == 0)
        for (int firing = 0; firing < 10; firing++)
            OK(MPIRT_Trigger_fire(trigger));
    for (int firing = 0; firing < 10; firing++)
        MUST(MPIRT_Receptor_wait(done, patience));
    static const char *const order[] = {"first", "second", "third"};
    CHECK(atomic_load(&written) == 30);
    for (int place = 0; place < 30; place++) {
        CHECK(strcmp(entries[place].who, order[place % 3]) == 0);
        CHECK(entries[place].receptor.bits == receptor.bits);
        CHECK(entries[place].event.number == (uint64_t)place / 3 && entries[place].event.source == 0);
        CHECK(entries[place].event.time != MPIRT_TIME_SPEC_IGNORE);
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Handler_free(&handlers[place]));
    OK(MPIRT_Trigger_free(&done_trigger));
    if (rank == 0)
        OK(MPIRT_Trigger_free(&trigger));
}

static void low_then_high(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
    OK(MPIRT_Trigger_fire(low_trigger));
    OK(MPIRT_Trigger_fire(high_trigger));
}

/* spec: EVENT-HANDLER-07 */
static void test_the_handler_of_higher_priority_runs_first(void)
{
    MPIRT_Trigger trigger = call(own("start"));
    MPIRT_Handler start = handler_of(low_then_high, NULL, 45), low = handler_of(note_and_tell, "low", 10),
                  high = handler_of(note, "high", 80);
    MPIRT_Object objects[3] = {MPIRT_OBJECT(start), MPIRT_OBJECT(low), MPIRT_OBJECT(high)};
    MPIRT_Receptor receptors[4] = {handled(own("start"), 1, &objects[0]), handled(own("low"), 1, &objects[1]),
                                   handled(own("high"), 1, &objects[2]), receptor_of(own("done"))};
    low_trigger = call(own("low"));
    high_trigger = call(own("high"));
    done_trigger = call(own("done"));
    MUST(MPIRT_Commit());
    for (int round = 0; round < 20; round++) {
        atomic_store(&written, 0);
        OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(receptors[3], patience));
        CHECK(atomic_load(&written) == 2);
        CHECK(strcmp(entries[0].who, "high") == 0 && strcmp(entries[1].who, "low") == 0);
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 4; place++)
        OK(MPIRT_Receptor_free(&receptors[place]));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&low_trigger));
    OK(MPIRT_Trigger_free(&high_trigger));
    OK(MPIRT_Trigger_free(&done_trigger));
    OK(MPIRT_Handler_free(&start));
    OK(MPIRT_Handler_free(&low));
    OK(MPIRT_Handler_free(&high));
}

struct channel_end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};
static struct channel_end handed;
static MPIRT_Receptor forbidden;

static void forbidden_and_allowed(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    MPIRT_Buffer buffer;
    MPIRT_Trigger trigger;
    (void)receptor, (void)event, (void)argument;
    EXPECT(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Trigger_create("e", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger),
           MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 1), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Receptor_wait(forbidden, 0), MPIRT_ERR_REAL_TIME);
    if (members > 1 && rank < 2) {
        OK(MPIRT_Bufiter_remove(handed.out, &buffer));
        OK(MPIRT_Bufiter_insert(handed.in, buffer));
        OK(MPIRT_Channel_start(handed.channel));
    }
    OK(MPIRT_Trigger_fire(done_trigger));
}

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* spec: EVENT-HANDLER-04, EVENT-HANDLER-05 */
static void test_what_handlers_may_do(void)
{
    MPIRT_Trigger trigger = call(own("start"));
    MPIRT_Handler handler = handler_of(forbidden_and_allowed, NULL, 50);
    MPIRT_Object object = MPIRT_OBJECT(handler);
    MPIRT_Receptor receptor = handled(own("start"), 1, &object), done = receptor_of(own("done"));
    MPIRT_Buffer buffer;
    done_trigger = call(own("done"));
    forbidden = done;
    if (members > 1 && rank < 2) {
        handed = (struct channel_end){iterator(), iterator(), MPIRT_CHANNEL_NULL};
        OK(MPIRT_Ptchannel_create("handed", handed.in, handed.out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &handed.channel));
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
        OK(MPIRT_Bufiter_insert(handed.out, buffer));
    }
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(trigger));
    MUST(MPIRT_Receptor_wait(done, patience));
    if (members > 1 && rank < 2) {
        OK(MPIRT_Channel_wait(handed.channel, patience));
        OK(MPIRT_Bufiter_remove(handed.out, &buffer));
    }
    OK(MPIRT_Uncommit());
    if (members > 1 && rank < 2) {
        OK(MPIRT_Channel_free(&handed.channel));
        OK(MPIRT_Buffer_free(&buffer));
        OK(MPIRT_Bufiter_free(&handed.in));
        OK(MPIRT_Bufiter_free(&handed.out));
    }
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&done_trigger));
}

/* spec: MPIRTX_Default_handler_set, MPIRTX_Default_handler_set/ARGUMENT, EVENT-HANDLER-06 */
static void test_default_handlers_get_what_nobody_hears(void)
{
    MPIRT_Trigger unheard = call(own("unheard")), heard = call(own("heard"));
    MPIRT_Receptor receptor = receptor_of(own("heard")), done = receptor_of(own("done"));
    MPIRT_Handler handler = handler_of(note_and_tell, "default", 20);
    done_trigger = call(own("done"));
    EXPECT(MPIRTX_Default_handler_set((MPIRT_Event_kind)6, handler), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, handler));
    atomic_store(&written, 0);
    MUST(MPIRT_Commit());
    EXPECT(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, handler), MPIRT_ERR_OBJECT_COMMITTED);
    OK(MPIRT_Trigger_fire(heard));
    for (uint64_t firing = 0; firing < 3; firing++) {
        OK(MPIRT_Trigger_fire(unheard));
        MUST(MPIRT_Receptor_wait(done, patience));
        CHECK(entries[firing].receptor.bits == 0 && entries[firing].event.number == firing);
        CHECK(entries[firing].event.source == rank);
    }
    CHECK(atomic_load(&written) == 3);
    CHECK(is_pending(receptor) == 1);
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, MPIRT_HANDLER_NULL));
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(unheard));
    EXPECT(MPIRT_Receptor_wait(done, ms), MPIRT_ERR_TIMEOUT);
    OK(MPIRT_Uncommit());
    CHECK(atomic_load(&written) == 3);
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Trigger_free(&unheard));
    OK(MPIRT_Trigger_free(&heard));
    OK(MPIRT_Trigger_free(&done_trigger));
}

static MPIRT_Receptor shared;
static atomic_int ended, began;

static void *wait_once(void *code)
{
    atomic_fetch_add(&began, 1);
    *(int *)code = MPIRT_Receptor_wait(shared, patience);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

enum { THREADS = 4 };

/* spec: EVENT-RECEPTOR-WAIT-05, EVENT-RECEPTOR-WAIT-06, EVENT-RECEPTOR-WAIT-07, MPIRT_Receptor_wait/UNCOMMITTED */
static void test_threads_that_wait_together(void)
{
    MPIRT_Trigger trigger = call(own("shared"));
    pthread_t threads[THREADS];
    int codes[THREADS];
    shared = receptor_of(own("shared"));
    atomic_store(&ended, 0);
    atomic_store(&began, 0);
    MUST(MPIRT_Commit());
    for (int place = 0; place < THREADS; place++)
        CHECK(pthread_create(&threads[place], NULL, wait_once, &codes[place]) == 0);
    while (atomic_load(&began) < THREADS)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(atomic_load(&ended) == 0);
    /* Each firing ends one wait. */
    for (int firing = 1; firing < THREADS; firing++) {
        OK(MPIRT_Trigger_fire(trigger));
        while (atomic_load(&ended) < firing)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
        CHECK(atomic_load(&ended) == firing);
    }
    OK(MPIRT_Uncommit());
    int succeeded = 0, uncommitted = 0;
    for (int place = 0; place < THREADS; place++) {
        pthread_join(threads[place], NULL);
        succeeded += codes[place] == MPIRT_SUCCESS;
        uncommitted += codes[place] == MPIRT_ERR_UNCOMMITTED;
    }
    CHECK(succeeded == THREADS - 1 && uncommitted == 1);
    OK(MPIRT_Receptor_free(&shared));
    OK(MPIRT_Trigger_free(&trigger));
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
    test_every_receptor_gets_every_firing_in_order();
    test_a_token_goes_round();
    test_waits_and_their_errors();
    test_no_firing_is_dropped_but_times_are();
    test_the_data_path_allocates_nothing();
    test_the_order_between_triggers();
    test_combinations();
    test_combinations_across_members();
    test_triggers_fire_by_the_clock();
    test_handlers_run_in_order_for_every_firing();
    test_the_handler_of_higher_priority_runs_first();
    test_what_handlers_may_do();
    test_default_handlers_get_what_nobody_hears();
    test_threads_that_wait_together();
    return end();
}
