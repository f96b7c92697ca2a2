/* Every function of mpirt.h with what it must not be given: in the wrong state of the library and at the wrong place, with handles
 * that are null, freed, made up or of another class, with pointers that are null, names that are none, and values at their limits.
 *
 * What to expect follows from the list in spec/ alone (calls.h is made of it), by the order of errors: state of the library, place of
 * the call, handles, pointers, names, values, state of the objects. */
#define _GNU_SOURCE
#include "harness.h"

#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"

/* A live object of each class, a freed one, and one of another class; `OF_MPIRT_Object` and the like have one of a leaf below. */
static uint64_t good[CLASSES], stale[CLASSES], other[CLASSES];
/* A name without an end: what follows its last byte cannot be read. */
static char *endless;
/* Where results go. */
static unsigned char room[PARAMETERS_MAX][ROOM];
static long checked;

static void nothing(void)
{
}

/* Gives what is right for each parameter, but for numbers, which are 0. */
static void fill(const struct call *call, union value *given)
{
    memset(room, PATTERN, sizeof room);
    for (int place = 0; place < call->count; place++) {
        const struct parameter *parameter = &call->parameters[place];
        memset(&given[place], 0, sizeof given[place]);
        switch (parameter->kind) {
        case HANDLE: given[place].bits = good[parameter->class_of]; break;
        case CHANGED_HANDLE:
            memcpy(room[place], &good[parameter->class_of], sizeof(uint64_t));
            given[place].pointer = room[place];
            break;
        case TEXT: given[place].pointer = (void *)(uintptr_t)"name"; break;
        case FUNCTION: given[place].function = nothing; break;
        case NUMBER: break;
        default: given[place].pointer = room[place]; break;
        }
    }
    /* A cast takes an object of the class that it gives. */
    if (call->count == 2 && call->parameters[0].class_of == OF_MPIRT_Object && call->parameters[1].kind == OUT_HANDLE)
        given[0].bits = good[call->parameters[1].class_of];
}

static int is_pattern(const unsigned char *bytes)
{
    for (int place = 0; place < ROOM; place++)
        if (bytes[place] != PATTERN)
            return 0;
    return 1;
}

static void fails(const struct call *call, int found, int expected, const char *why)
{
    failures++;
    fprintf(stderr, "member %d: %s with %s gives %d, not %d\n", rank, call->name, why, found, expected);
}

/* On an error every handle that comes out is null, and every other result is as it was. */
static void check_results(const struct call *call, const union value *given, const char *why)
{
    for (int place = 0; place < call->count; place++) {
        uint64_t bits;
        if (given[place].pointer != room[place])
            continue;
        memcpy(&bits, room[place], sizeof bits);
        switch (call->parameters[place].kind) {
        case OUT_HANDLE:
            memset(room[place], PATTERN, sizeof bits);
            if (bits != 0 || !is_pattern(room[place]))
                fails(call, (int)bits, 0, why);
            break;
        case OUT:
            if (!is_pattern(room[place]))
                fails(call, room[place][0], PATTERN, why);
            break;
        default: break;
        }
    }
}

static void expect_call(const struct call *call, const union value *given, int expected, const char *why)
{
    int found = call->call(given);
    checked++;
    if (found != expected)
        fails(call, found, expected, why);
    if (found != MPIRT_SUCCESS)
        check_results(call, given, why);
}

/* Whether there is an object for each handle that goes in. */
static int can_be_called(const struct call *call)
{
    for (int place = 0; place < call->count; place++) {
        enum kind kind = call->parameters[place].kind;
        if ((kind == HANDLE || kind == CHANGED_HANDLE) && good[call->parameters[place].class_of] == 0)
            return 0;
    }
    return 1;
}

/* Makes every pointer null, and every name one without an end: but for this parameter, and for handles and numbers. */
static void spoil_the_rest(const struct call *call, union value *given, int but)
{
    for (int place = 0; place < call->count; place++) {
        enum kind kind = call->parameters[place].kind;
        if (place == but || kind == HANDLE || kind == CHANGED_HANDLE || kind == NUMBER)
            continue;
        memset(&given[place], 0, sizeof given[place]);
        if (kind == TEXT)
            given[place].pointer = endless;
    }
}

/* Handles, pointers and names that are wrong: one at a time, and with all wrong that is looked at later. */
static void test_parameters(const struct call *call)
{
    union value given[PARAMETERS_MAX];
    if (!can_be_called(call))
        return;
    for (int place = 0; place < call->count; place++) {
        const struct parameter *parameter = &call->parameters[place];
        int class_of = parameter->class_of;
        fill(call, given);
        if (parameter->kind == HANDLE || parameter->kind == CHANGED_HANDLE) {
            uint64_t wrong[] = {0, stale[class_of], good[class_of] | UINT64_C(0xfffffff0), UINT64_C(0xee) << 56 | 1, other[class_of]};
            int codes[] = {MPIRT_ERR_NULL_OBJECT, MPIRT_ERR_STALE_OBJECT, MPIRT_ERR_INV_OBJECT, MPIRT_ERR_INV_OBJECT,
                           MPIRT_ERR_WRONG_CLASS};
            const char *whys[] = {"a null handle", "a freed handle", "a handle beyond all", "a handle of no class",
                                  "a handle of another class"};
            for (int number = 0; number < 5; number++) {
                if (number == 0 && parameter->may_be_null)
                    continue;
                if (number == 4 && other[class_of] == 0)
                    continue;
                fill(call, given);
                if (parameter->kind == HANDLE)
                    given[place].bits = wrong[number];
                else
                    memcpy(room[place], &wrong[number], sizeof wrong[number]);
                expect_call(call, given, codes[number], whys[number]);
                spoil_the_rest(call, given, place);
                expect_call(call, given, codes[number], whys[number]);
            }
        }
        fill(call, given);
        if (parameter->kind != HANDLE && parameter->kind != NUMBER && !parameter->may_be_null) {
            /* Arrays are looked at when there is something to read in them. */
            for (int before = 0; before < place; before++)
                if (call->parameters[before].kind == NUMBER)
                    given[before].number = 1;
            given[place].pointer = NULL;
            expect_call(call, given, MPIRT_ERR_NULL_POINTER, "a null pointer");
            for (int other = 0; other < call->count; other++)
                if (other != place && call->parameters[other].kind == TEXT)
                    given[other].pointer = endless;
            expect_call(call, given, MPIRT_ERR_NULL_POINTER, "a null pointer and a wrong name");
        }
        if (parameter->kind == TEXT) {
            const char *wrong[] = {endless, "a\x01" "b", "\xff\xfe"};
            for (int number = 0; number < 3; number++) {
                fill(call, given);
                given[place].pointer = (void *)(uintptr_t)wrong[number];
                expect_call(call, given, MPIRT_ERR_NAME, "a wrong name");
            }
        }
    }
}

static int is_named(const struct call *call, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(call->name, *names) == 0)
            return 1;
    return 0;
}

/* Each ends the life of the library or of the commit, or waits for all members. */
static const char *const collective[] = {"MPIRT_Init", "MPIRT_Finalize", "MPIRT_Commit", "MPIRT_Uncommit", "MPIRTX_Run",
                                         "MPIRTX_Commit_group", "MPIRTX_Uncommit_group", "MPIRTX_Abort", "MPIRTX_Fail", NULL};

/* All calls that need it, in a state in which they cannot succeed, with nothing and with what is right. */
static void all_in_state(unsigned rules, int expected, const char *why)
{
    union value given[PARAMETERS_MAX];
    for (int number = 0; number < CALLS; number++) {
        const struct call *call = &calls[number];
        if ((call->rules & rules) == 0 || strcmp(call->name, "MPIRT_Init") == 0)
            continue;
        memset(given, 0, sizeof given);
        expect_call(call, given, expected, why);
        fill(call, given);
        expect_call(call, given, expected, why);
    }
}

/* spec: ERROR-PROCESS-02, SETUP-INIT-01, SETUP-FINAL-01 */
static void test_before_and_after(int expected, const char *why)
{
    all_in_state(RULE_LIVE, expected, why);
}

/* spec: ERROR-PROCESS-01, ERROR-PROCESS-04, ERROR-OUT-01, ERROR-OUT-02, ERROR-ORDER-01, ERROR-RETURN-01, ERROR-RETURN-02 */
/* spec: OBJECT-NULL-04, OBJECT-NAME-04, OBJECT-HANDLE-02, OBJECT-HANDLE-03, OBJECT-HANDLE-04 */
static void test_each_parameter_of_each_call(int is_committed, int is_real_time)
{
    long before = checked;
    for (int number = 0; number < CALLS; number++) {
        const struct call *call = &calls[number];
        if (is_named(call, collective) || (!is_committed && (call->rules & RULE_RUNNING)))
            continue;
        if (is_real_time && (call->rules & (RULE_CHANGE | RULE_CREATE | RULE_CREATE_ANY | RULE_SETUP | RULE_BLOCK)))
            continue;
        test_parameters(call);
    }
    CHECK(checked - before > (is_real_time ? 100 : 300));
}

/* Numbers at and beyond their limits give an error of the list, or work; so does a call with nothing but what is right. */
/* spec: ERROR-PROCESS-03, ERROR-LIST-01 */
static void test_each_number_of_each_call(void)
{
    static const int64_t numbers[] = {0, 1, -1, 2, 63, 64, 65, 90, 91, 4096, 65536, 65537, INT32_MAX, INT32_MIN, 1 << 30, (1 << 30) + 1,
                                      INT64_MAX, INT64_MIN + 1, INT64_MIN};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    union value given[PARAMETERS_MAX];
    for (int number = 0; number < CALLS; number++) {
        const struct call *call = &calls[number];
        if (is_named(call, collective) || !can_be_called(call))
            continue;
        for (int place = 0; place < call->count; place++) {
            for (int value = 0; value < NUMBERS; value++) {
                int found, makes = -1;
                if (call->parameters[place].kind != NUMBER)
                    continue;
                /* Whatever blocks would do so for long. */
                if ((call->rules & RULE_BLOCK) && (numbers[value] > 1 || numbers[value] == INT64_MIN))
                    continue;
                /* An array is as long as is said of it. */
                if ((call->rules & RULE_LIVE) && numbers[value] > ROOM / 8 && numbers[value] <= INT32_MAX
                    && (place + 1 < call->count && call->parameters[place + 1].kind == POINTER))
                    continue;
                fill(call, given);
                memset(room, 0, sizeof room);
                for (int one = 0; one < call->count; one++)
                    if (call->parameters[one].kind == OUT_HANDLE && (call->rules & (RULE_CREATE | RULE_CREATE_ANY)))
                        makes = one;
                given[place].number = numbers[value];
                found = call->call(given);
                checked++;
                if (!is_listed(call, found))
                    fails(call, found, -1, "a number");
                if (found == MPIRT_SUCCESS && makes >= 0) {
                    MPIRT_Object made;
                    memcpy(&made.bits, room[makes], sizeof made.bits);
                    OK(MPIRT_Object_free(&made));
                }
            }
        }
    }
}

/* With nothing wrong but that it is committed, nothing is changed or made. */
/* spec: ERROR-PROCESS-02 */
static void test_nothing_is_changed_while_committed(void)
{
    union value given[PARAMETERS_MAX];
    int asked = 0;
    for (int number = 0; number < CALLS; number++) {
        const struct call *call = &calls[number];
        int found;
        if ((call->rules & (RULE_CHANGE | RULE_CREATE)) == 0 || is_named(call, collective) || !can_be_called(call))
            continue;
        fill(call, given);
        found = call->call(given);
        asked++;
        /* A number that is wrong is told first. */
        if (found == MPIRT_SUCCESS || !is_listed(call, found))
            fails(call, found, MPIRT_ERR_OBJECT_COMMITTED, "what is committed");
    }
    CHECK(asked > 60);
}

static void never(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

static void unheard(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

static const MPIRT_Timespec ms = 1000000;

/* An object of each leaf class; `number` keeps names apart. */
static void make(uint64_t *made, const char *number)
{
    char name[MPIRT_NAME_MAX];
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    MPIRT_Group group;
    MPIRT_Container_iterator walk;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter iterator;
    MPIRT_Qos qos;
    MPIRT_Channel channel;
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Handler handler;
    MPIRTX_Task task;
    MUST(MPIRT_Cset_create("set", &set));
    MUST(MPIRT_Cvector_create("vector", 2, NULL, &vector));
    MUST(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &group));
    MUST(MPIRT_Container_iterator_create("walk", MPIRT_CONTAINER(set), &walk));
    MUST(MPIRT_Buffer_create("buffer", MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
    MUST(MPIRT_Bufiter_create("iterator", MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    MUST(MPIRT_Qos_channel_time_create("qos", 0, 20 * ms, 20 * ms, &qos));
    snprintf(name, sizeof name, "channel-%d-%s", rank, number);
    MUST(MPIRT_Ptchannel_create(name, iterator, iterator, rank, (rank + 1) % members, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    snprintf(name, sizeof name, "event-%d-%s", rank, number);
    MUST(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    MUST(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    MUST(MPIRT_Handler_create("handler", unheard, NULL, MPIRT_QOS_NULL, &handler));
    snprintf(name, sizeof name, "task-%d-%s", rank, number);
    MUST(MPIRTX_Task_create(name, never, NULL, qos, ms, &task));
    made[OF_MPIRT_Object] = made[OF_MPIRT_Container] = made[OF_MPIRT_Cset] = set.bits;
    made[OF_MPIRT_Cvector] = vector.bits;
    made[OF_MPIRT_Group] = group.bits;
    made[OF_MPIRT_Container_iterator] = walk.bits;
    made[OF_MPIRT_Buffer] = buffer.bits;
    made[OF_MPIRT_Bufiter] = iterator.bits;
    made[OF_MPIRT_Qos] = qos.bits;
    made[OF_MPIRT_Channel] = channel.bits;
    made[OF_MPIRT_Trigger] = trigger.bits;
    made[OF_MPIRT_Receptor] = receptor.bits;
    made[OF_MPIRT_Handler] = handler.bits;
    made[OF_MPIRTX_Task] = task.bits;
}

static void prepare(void)
{
    long page = sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    make(stale, "freed");
    for (int class_of = 1; class_of < CLASSES; class_of++) {
        MPIRT_Object object = {stale[class_of]};
        if (object.bits != 0 && class_of != OF_MPIRT_Object && class_of != OF_MPIRT_Container)
            OK(MPIRT_Object_free(&object));
    }
    make(good, "live");
    for (int class_of = 1; class_of < CLASSES; class_of++)
        other[class_of] = class_of == OF_MPIRT_Object ? 0 : class_of == OF_MPIRT_Buffer ? good[OF_MPIRT_Cset] : good[OF_MPIRT_Buffer];
    CHECK(pages != MAP_FAILED);
    CHECK(mprotect(pages + page, (size_t)page, PROT_NONE) == 0);
    endless = pages + page - MPIRT_NAME_MAX;
    memset(endless, 'n', MPIRT_NAME_MAX);
}

/* What was made is as it was: no wrong call has changed it. */
/* spec: ERROR-NOTHING-01, OBJECT-NAME-07 */
static void test_nothing_has_changed(void)
{
    static const char *const names[CLASSES] = {[OF_MPIRT_Cset] = "set", [OF_MPIRT_Cvector] = "vector", [OF_MPIRT_Buffer] = "buffer",
                                               [OF_MPIRT_Bufiter] = "iterator", [OF_MPIRT_Qos] = "qos", [OF_MPIRT_Handler] = "handler"};
    MPIRT_Buffer buffer = {good[OF_MPIRT_Buffer]};
    MPIRT_Bufiter iterator = {good[OF_MPIRT_Bufiter]}, found;
    MPIRT_Channel channel = {good[OF_MPIRT_Channel]};
    MPIRT_Object element;
    MPIRT_Timespec times[3];
    MPIRT_Qos qos;
    size_t size;
    int count;
    for (int class_of = 1; class_of < CLASSES; class_of++) {
        MPIRT_Object object = {good[class_of]};
        char name[MPIRT_NAME_MAX + 1];
        if (names[class_of] == NULL)
            continue;
        memset(name, PATTERN, sizeof name);
        OK(MPIRT_Object_get_name(object, name));
        CHECK(strcmp(name, names[class_of]) == 0);
        CHECK(name[MPIRT_NAME_MAX] == PATTERN);
    }
    OK(MPIRT_Container_access_count((MPIRT_Container){good[OF_MPIRT_Cset]}, &count));
    CHECK(count == 0);
    OK(MPIRT_Buffer_get_bufsize(buffer, &size));
    CHECK(size == 8);
    OK(MPIRTX_Bufiter_get_count(iterator, &count));
    CHECK(count == 0);
    OK(MPIRT_Channel_get_inbufiter(channel, &found));
    CHECK(found.bits == iterator.bits);
    OK(MPIRT_Channel_get_outbufiter(channel, &found));
    CHECK(found.bits == iterator.bits);
    for (int index = 0; index < 2; index++) {
        OK(MPIRT_Cvector_get_element((MPIRT_Cvector){good[OF_MPIRT_Cvector]}, index, &element));
        CHECK(element.bits == 0);
    }
    OK(MPIRT_Group_size((MPIRT_Group){good[OF_MPIRT_Group]}, &count));
    CHECK(count == 1);
    OK(MPIRTX_Qos_get_time((MPIRT_Qos){good[OF_MPIRT_Qos]}, &times[0], &times[1], &times[2]));
    CHECK(times[0] == 0 && times[1] == 20 * ms && times[2] == 20 * ms);
    OK(MPIRTX_Task_get_qos((MPIRTX_Task){good[OF_MPIRTX_Task]}, &qos));
    CHECK(qos.bits == good[OF_MPIRT_Qos]);
}

/* spec: TASK-LAW-01, SETUP-SLEEP-06, EVENT-HANDLER-05, ERROR-PROCESS-02 */
static void test_from_a_task_or_handler(void)
{
    all_in_state(RULE_CHANGE | RULE_CREATE | RULE_CREATE_ANY | RULE_SETUP | RULE_BLOCK, MPIRT_ERR_REAL_TIME, "a task's thread");
    test_each_parameter_of_each_call(1, 1);
}

static void in_handler(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event;
    test_from_a_task_or_handler();
    __atomic_store_n((int *)argument, 1, __ATOMIC_RELEASE);
}

/* The receiving end of the channel that the member before this one sends on. */
static MPIRT_Channel other_end(void)
{
    char name[MPIRT_NAME_MAX];
    int source = (rank + members - 1) % members;
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    snprintf(name, sizeof name, "channel-%d-live", source);
    OK(MPIRT_Ptchannel_create(name, (MPIRT_Bufiter){good[OF_MPIRT_Bufiter]}, (MPIRT_Bufiter){good[OF_MPIRT_Bufiter]}, source, rank,
                              MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    return channel;
}

static void test_while_committed(void)
{
    MPIRT_Channel channel = other_end();
    MPIRT_Trigger trigger;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRT_Object object;
    MPIRT_Cvector handlers;
    MPIRTX_Mode mode;
    char name[MPIRT_NAME_MAX];
    int is_done = 0;
    snprintf(name, sizeof name, "handled-%d", rank);
    MUST(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    MUST(MPIRT_Handler_create(NULL, in_handler, &is_done, MPIRT_QOS_NULL, &handler));
    object = MPIRT_OBJECT(handler);
    MUST(MPIRT_Cvector_create(NULL, 1, &object, &handlers));
    MUST(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
    MUST(MPIRT_Commit());
    test_nothing_is_changed_while_committed();
    test_nothing_has_changed();
    /* Modes are made beside what runs. */
    MUST(MPIRTX_Mode_open("freed", &mode));
    stale[OF_MPIRTX_Mode] = mode.bits;
    OK(MPIRTX_Mode_free(&mode));
    MUST(MPIRTX_Mode_open("live", &mode));
    good[OF_MPIRTX_Mode] = mode.bits;
    test_each_parameter_of_each_call(1, 0);
    test_nothing_has_changed();
    /* On the handler's thread alone: what counts here is not shared. It knows what was committed, and no mode. */
    good[OF_MPIRTX_Mode] = 0;
    OK(MPIRT_Trigger_fire(trigger));
    while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
    good[OF_MPIRTX_Mode] = mode.bits;
    test_each_number_of_each_call();
    OK(MPIRT_Uncommit());
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Cvector_free(&handlers));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
}

/* spec: ERROR-NAMES-01, ERROR-NAMES-02, ERROR-RETURN-01 */
static void test_names_of_codes(void)
{
    CHECK(MPIRT_SUCCESS == 0);
    CHECK(MPIRT_ERR_NOT_INITIALIZED == 1 && MPIRT_ERR_OBJECT_COMMITTED == 2 && MPIRT_ERR_UNDEF_FOR_OBJECT == 3);
    CHECK(MPIRT_ERR_INITIALIZED == MPIRT_ERR_NOT_INITIALIZED);
    CHECK(MPIRT_ERR_COMMITTED_OBJECT == MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(MPIRT_ERR_ERRONEOUS_CALL == MPIRT_ERR_UNDEF_FOR_OBJECT);
}

int main(int argc, char **argv)
{
    test_names_of_codes();
    test_before_and_after(MPIRT_ERR_NOT_INITIALIZED, "no library yet");
    begin(&argc, &argv);
    prepare();
    all_in_state(RULE_RUNNING, MPIRT_ERR_NOT_COMMITTED, "nothing committed");
    test_each_parameter_of_each_call(0, 0);
    test_nothing_has_changed();
    if (members > 1)
        test_while_committed();
    test_each_number_of_each_call();
    /* What those numbers have set may not fit together, so nothing more is committed with it. */
    for (int class_of = 1; class_of < CLASSES; class_of++) {
        MPIRT_Object object = {good[class_of]};
        if (object.bits != 0 && class_of != OF_MPIRT_Object && class_of != OF_MPIRT_Container)
            OK(MPIRT_Object_free(&object));
    }
    int code = end();
    test_before_and_after(MPIRT_ERR_FINALIZED, "no library any more");
    return failures == 0 ? code : EXIT_FAILURE;
}
