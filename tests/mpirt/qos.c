/* Qualities of service as objects: what they are made of, what can be set, and what commit makes of them. */
#include "harness.h"

static const MPIRT_Timespec us = 1000, ms = 1000000;

static MPIRT_Qos time_driven(void)
{
    MPIRT_Qos qos = MPIRT_QOS_NULL;
    OK(MPIRT_Qos_channel_time_create("t", 1 * ms, 3 * ms, 10 * ms, &qos));
    return qos;
}

static MPIRT_Qos event_driven(void)
{
    MPIRT_Qos qos = MPIRT_QOS_NULL;
    OK(MPIRT_Qos_channel_event_create("e", "go", "gone", &qos));
    return qos;
}

static MPIRT_Qos priority_driven(void)
{
    MPIRT_Qos qos = MPIRT_QOS_NULL;
    OK(MPIRT_Qos_channel_priority_create("p", 7, &qos));
    return qos;
}

static MPIRT_Qos handlers(void)
{
    MPIRT_Qos qos = MPIRT_QOS_NULL;
    OK(MPIRTX_Qos_handler_create("h", 8, 20 * us, ms, &qos));
    return qos;
}

/* spec: MPIRT_Qos_channel_time_create, MPIRT_Qos_channel_time_create/TIME, MPIRTX_Qos_get_time, QOS-GET-01 */
/* spec: MPIRTX_Qos_get_time/UNDEF_FOR_OBJECT, QOS-TIME-CREATE-01, QOS-TIME-WINDOW-03 */
static void test_times_are_read_back_and_must_make_a_window(void)
{
    /* Start, deadline and period that make no window: negative ones, a deadline that is not after the start, a window that is longer than
     * its period, in which as many as the slack allows would be under way. */
    static const MPIRT_Timespec wrong[7][3] = {
        {3000000, 3000000, 10000000}, {4000000, 3000000, 10000000}, {-1, 3000000, 10000000}, {0, 3000000, -10000000},
        {0, 10000001, 10000000}, {3000000, 3000000, 0}, {-1, 3000000, 0},
    };
    MPIRT_Qos qos = time_driven(), other = priority_driven();
    MPIRT_Timespec start, deadline, period;
    const char *detail;
    OK(MPIRTX_Qos_get_time(qos, &start, &deadline, &period));
    CHECK(start == 1 * ms && deadline == 3 * ms && period == 10 * ms);
    EXPECT(MPIRTX_Qos_get_time(other, &start, &deadline, &period), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_get_time(qos, &start, NULL, &period), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Qos_free(&other));
    for (int place = 0; place < 7; place++) {
        EXPECT(MPIRT_Qos_channel_time_create(NULL, wrong[place][0], wrong[place][1], wrong[place][2], &other), MPIRT_ERR_TIME);
        OK(MPIRTX_Error_detail(&detail));
        CHECK(strstr(detail, "MPIRT_Qos_channel_time_create: a start of ") != NULL);
        if (place == 4)
            CHECK(strstr(detail, "a deadline of 10.000001ms and a period of 10ms") != NULL);
    }
    /* Without a period the window is one, at an absolute time. */
    OK(MPIRT_Qos_channel_time_create(NULL, 3 * ms, 3 * ms + 1, 0, &other));
    OK(MPIRTX_Qos_get_time(other, &start, &deadline, &period));
    CHECK(start == 3 * ms && deadline == 3 * ms + 1 && period == 0);
    OK(MPIRT_Qos_free(&other));
    EXPECT(MPIRT_Qos_channel_time_create(NULL, 0, 3 * ms, 10 * ms, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Qos_free(&qos));
}

/* spec: MPIRTX_Qos_get_kind, QOS-KIND-01, QOS-KIND-03 */
static void test_every_kind_says_what_it_is(void)
{
    MPIRT_Qos all[5] = {MPIRT_QOS_BEST_EFFORT, time_driven(), event_driven(), priority_driven(), handlers()};
    static const MPIRTX_Qos_kind kinds[5] = {MPIRTX_QOS_BEST_EFFORT, MPIRTX_QOS_TIME, MPIRTX_QOS_EVENT,
                                             MPIRTX_QOS_PRIORITY, MPIRTX_QOS_HANDLER};
    MPIRT_Timespec time, times[3];
    MPIRTX_Miss_policy policy;
    char start[MPIRT_NAME_MAX], completion[MPIRT_NAME_MAX];
    MPIRT_Qos stale = all[1];
    int priority;
    for (int place = 0; place < 5; place++) {
        MPIRTX_Qos_kind kind = MPIRTX_QOS_BEST_EFFORT;
        OK(MPIRTX_Qos_get_kind(all[place], &kind));
        CHECK(kind == kinds[place]);
        EXPECT(MPIRTX_Qos_get_time(all[place], &times[0], &times[1], &times[2]),
               place == 1 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRTX_Qos_get_events(all[place], start, completion), place == 2 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRTX_Qos_get_interval(all[place], &time),
               place == 2 || place == 3 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
        /* Pointers are looked at before what the object can do. */
        EXPECT(MPIRTX_Qos_get_time(all[place], &times[0], NULL, &times[2]), MPIRT_ERR_NULL_POINTER);
        EXPECT(MPIRTX_Qos_get_phase(all[place], NULL), MPIRT_ERR_NULL_POINTER);
        EXPECT(MPIRTX_Qos_get_miss_policy(all[place], NULL), MPIRT_ERR_NULL_POINTER);
        EXPECT(MPIRTX_Qos_get_phase(all[place], &time), place == 1 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRTX_Qos_get_miss_policy(all[place], &policy), place == 1 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRTX_Qos_get_priority(all[place], &priority), place > 1 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
        EXPECT(MPIRTX_Qos_get_deadline(all[place], &time),
               place == 2 || place == 3 ? MPIRT_SUCCESS : MPIRT_ERR_UNDEF_FOR_OBJECT);
    }
    EXPECT(MPIRTX_Qos_get_kind(MPIRT_QOS_NULL, NULL), MPIRT_ERR_NULL_OBJECT);
    for (int place = 1; place < 5; place++)
        OK(MPIRT_Qos_free(&all[place]));
    EXPECT(MPIRT_Qos_free(&all[0]), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_get_phase(stale, &time), MPIRT_ERR_STALE_OBJECT);
}

/* spec: MPIRTX_Qos_get_phase, MPIRTX_Qos_get_phase/UNDEF_FOR_OBJECT, MPIRTX_Qos_set_phase, MPIRTX_Qos_set_phase/TIME */
/* spec: MPIRTX_Qos_set_phase/UNDEF_FOR_OBJECT, MPIRTX_Qos_get_miss_policy, MPIRTX_Qos_get_miss_policy/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Qos_set_miss_policy, MPIRTX_Qos_set_miss_policy/ARGUMENT, MPIRTX_Qos_set_miss_policy/UNDEF_FOR_OBJECT */
/* spec: QOS-TIME-PHASE-02, QOS-TIME-MISS-01, QOS-GET-01 */
static void test_phase_and_miss_policy(void)
{
    MPIRT_Qos qos = time_driven(), other = event_driven();
    MPIRT_Timespec phase = -1;
    MPIRTX_Miss_policy policy = MPIRTX_MISS_STOP;
    OK(MPIRTX_Qos_get_phase(qos, &phase));
    OK(MPIRTX_Qos_get_miss_policy(qos, &policy));
    CHECK(phase == 0 && policy == MPIRTX_MISS_SKIP);
    OK(MPIRTX_Qos_set_phase(qos, 9 * ms));
    OK(MPIRTX_Qos_get_phase(qos, &phase));
    CHECK(phase == 9 * ms);
    EXPECT(MPIRTX_Qos_set_phase(qos, -1), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Qos_set_phase(qos, 10 * ms), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Qos_set_phase(other, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_get_phase(other, &phase), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRTX_Qos_get_phase(qos, &phase));
    CHECK(phase == 9 * ms);
    for (int next = MPIRTX_MISS_SKIP; next <= MPIRTX_MISS_STOP; next++) {
        OK(MPIRTX_Qos_set_miss_policy(qos, (MPIRTX_Miss_policy)next));
        OK(MPIRTX_Qos_get_miss_policy(qos, &policy));
        CHECK((int)policy == next);
    }
    EXPECT(MPIRTX_Qos_set_miss_policy(qos, (MPIRTX_Miss_policy)3), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Qos_get_miss_policy(qos, &policy));
    CHECK(policy == MPIRTX_MISS_STOP);
    EXPECT(MPIRTX_Qos_set_miss_policy(other, MPIRTX_MISS_SKIP), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_get_miss_policy(other, &policy), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Qos_free(&other));
}

/* spec: MPIRT_Qos_channel_event_create, MPIRT_Qos_channel_event_create/ARGUMENT, MPIRTX_Qos_get_events */
/* spec: MPIRTX_Qos_get_events/UNDEF_FOR_OBJECT, MPIRTX_Qos_set_priority, MPIRTX_Qos_set_priority/ARGUMENT */
/* spec: MPIRTX_Qos_set_priority/UNDEF_FOR_OBJECT */
/* spec: QOS-GET-01 */
static void test_events_are_read_back_and_one_must_be_there(void)
{
    MPIRT_Qos qos = event_driven(), other = priority_driven(), half;
    char start[MPIRT_NAME_MAX], completion[MPIRT_NAME_MAX];
    int priority = 0;
    OK(MPIRTX_Qos_get_events(qos, start, completion));
    CHECK(strcmp(start, "go") == 0 && strcmp(completion, "gone") == 0);
    EXPECT(MPIRTX_Qos_get_events(other, start, completion), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_get_events(qos, start, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Qos_channel_event_create(NULL, NULL, NULL, &half), MPIRT_ERR_ARGUMENT);
    OK(MPIRT_Qos_channel_event_create(NULL, NULL, "gone", &half));
    OK(MPIRTX_Qos_get_events(half, start, completion));
    CHECK(strcmp(start, "") == 0 && strcmp(completion, "gone") == 0);
    OK(MPIRTX_Qos_get_priority(qos, &priority));
    CHECK(priority == 1);
    OK(MPIRTX_Qos_set_priority(qos, MPIRT_PRIORITY_MAX));
    EXPECT(MPIRTX_Qos_set_priority(qos, 0), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Qos_set_priority(qos, MPIRT_PRIORITY_MAX + 1), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Qos_set_priority(other, 5), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRTX_Qos_get_priority(qos, &priority));
    CHECK(priority == MPIRT_PRIORITY_MAX);
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Qos_free(&other));
    OK(MPIRT_Qos_free(&half));
}

/* spec: MPIRT_Qos_channel_priority_create, MPIRT_Qos_channel_priority_create/ARGUMENT, MPIRTX_Qos_get_priority */
/* spec: MPIRTX_Qos_get_priority/UNDEF_FOR_OBJECT, QOS-PRIORITY-03 */
/* spec: QOS-GET-01 */
static void test_priorities_have_a_range(void)
{
    static const int wrong[4] = {0, -1, MPIRT_PRIORITY_MAX + 1, 263};
    MPIRT_Qos qos, other = time_driven();
    int priority = 0;
    for (int place = 0; place < 4; place++)
        EXPECT(MPIRT_Qos_channel_priority_create(NULL, wrong[place], &qos), MPIRT_ERR_ARGUMENT);
    for (int given = 1; given <= MPIRT_PRIORITY_MAX; given += MPIRT_PRIORITY_MAX - 1) {
        OK(MPIRT_Qos_channel_priority_create(NULL, given, &qos));
        OK(MPIRTX_Qos_get_priority(qos, &priority));
        CHECK(priority == given);
        OK(MPIRT_Qos_free(&qos));
    }
    EXPECT(MPIRTX_Qos_get_priority(other, &priority), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Qos_free(&other));
}

/* spec: MPIRTX_Qos_get_deadline, MPIRTX_Qos_get_deadline/UNDEF_FOR_OBJECT, MPIRTX_Qos_set_deadline */
/* spec: MPIRTX_Qos_set_deadline/TIME, MPIRTX_Qos_set_deadline/UNDEF_FOR_OBJECT, MPIRTX_Qos_get_interval */
/* spec: MPIRTX_Qos_get_interval/UNDEF_FOR_OBJECT, MPIRTX_Qos_set_interval, MPIRTX_Qos_set_interval/TIME */
/* spec: MPIRTX_Qos_set_interval/UNDEF_FOR_OBJECT */
/* spec: QOS-GET-01 */
static void test_deadline_and_interval(void)
{
    MPIRT_Qos both[2] = {event_driven(), priority_driven()}, other = time_driven();
    MPIRT_Timespec time = 0;
    for (int place = 0; place < 2; place++) {
        OK(MPIRTX_Qos_get_deadline(both[place], &time));
        CHECK(time == MPIRT_TIME_SPEC_IGNORE);
        OK(MPIRTX_Qos_get_interval(both[place], &time));
        CHECK(time == MPIRT_TIME_SPEC_IGNORE);
        OK(MPIRTX_Qos_set_deadline(both[place], 5 * ms));
        OK(MPIRTX_Qos_set_interval(both[place], 10 * ms));
        EXPECT(MPIRTX_Qos_set_deadline(both[place], 0), MPIRT_ERR_TIME);
        EXPECT(MPIRTX_Qos_set_interval(both[place], -1), MPIRT_ERR_TIME);
        OK(MPIRTX_Qos_get_deadline(both[place], &time));
        CHECK(time == 5 * ms);
        OK(MPIRTX_Qos_get_interval(both[place], &time));
        CHECK(time == 10 * ms);
        OK(MPIRTX_Qos_set_deadline(both[place], MPIRT_TIME_SPEC_IGNORE));
        OK(MPIRTX_Qos_get_deadline(both[place], &time));
        CHECK(time == MPIRT_TIME_SPEC_IGNORE);
        OK(MPIRT_Qos_free(&both[place]));
    }
    EXPECT(MPIRTX_Qos_get_deadline(other, &time), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_set_deadline(other, ms), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_get_interval(other, &time), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Qos_set_interval(other, ms), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Qos_free(&other));
}

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* spec: QOS-PRIORITY-01, QOS-PRIORITY-04, QOS-PRIORITY-05, QOS-ADMIT-01, MPIRT_Channel_set_qos/UNDEF_FOR_OBJECT */
static void test_admission_covers_what_has_a_priority(void)
{
    for (int has_events = 0; has_events <= 1; has_events++) {
        MPIRT_Qos qos = has_events ? event_driven() : priority_driven(), other = handlers();
        MPIRT_Bufiter in = iterator(), out = iterator();
        MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
        MPIRT_Trigger go;
        OK(MPIRT_Trigger_create("go", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &go));
        if (members > 1 && rank < 2) {
            OK(MPIRT_Ptchannel_create("alarm", in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
            EXPECT(MPIRT_Channel_set_qos(channel, other), MPIRT_ERR_UNDEF_FOR_OBJECT);
        }
        if (members > 1) {
            /* Nobody can promise an end who does not know how often it begins. */
            OK(MPIRTX_Qos_set_deadline(qos, 5 * ms));
            EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
            CHECK(detail_says("interval"));
            /* Nor one that is sooner than the transfer itself. */
            OK(MPIRTX_Qos_set_interval(qos, 10 * ms));
            OK(MPIRTX_Qos_set_deadline(qos, us));
            EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
            CHECK(detail_says("alarm") && detail_says("what would fit"));
            OK(MPIRTX_Qos_set_deadline(qos, 5 * ms));
        }
        MUST(MPIRT_Commit());
        EXPECT(MPIRTX_Qos_set_deadline(qos, ms), MPIRT_ERR_OBJECT_COMMITTED);
        EXPECT(MPIRTX_Qos_set_interval(qos, ms), MPIRT_ERR_OBJECT_COMMITTED);
        EXPECT(MPIRTX_Qos_set_priority(qos, 2), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRT_Uncommit());
        if (channel.bits != 0)
            OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Trigger_free(&go));
        OK(MPIRT_Bufiter_free(&in));
        OK(MPIRT_Bufiter_free(&out));
        OK(MPIRT_Qos_free(&qos));
        OK(MPIRT_Qos_free(&other));
    }
}

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

enum { TIMED = 1, STARTED = 2, CHANNEL = 4, ALL = 7 };

/* Of a channel that is to end early in each 10 ms; with best effort nothing is promised. */
static MPIRT_Qos soon(MPIRTX_Qos_kind kind)
{
    MPIRT_Qos qos = MPIRT_QOS_BEST_EFFORT;
    if (kind == MPIRTX_QOS_TIME)
        OK(MPIRT_Qos_channel_time_create("soon", 0, 3 * ms, 10 * ms, &qos));
    else if (kind == MPIRTX_QOS_EVENT)
        OK(MPIRT_Qos_channel_event_create("soon", "admitted", NULL, &qos));
    else if (kind == MPIRTX_QOS_PRIORITY)
        OK(MPIRT_Qos_channel_priority_create("soon", 7, &qos));
    if (kind == MPIRTX_QOS_EVENT)
        OK(MPIRTX_Qos_set_priority(qos, 7));
    if (kind == MPIRTX_QOS_EVENT || kind == MPIRTX_QOS_PRIORITY) {
        OK(MPIRTX_Qos_set_interval(qos, 10 * ms));
        OK(MPIRTX_Qos_set_deadline(qos, 5 * ms));
    }
    return qos;
}

/* A channel of some quality of service, and what does not fit with it: 0 if nothing. */
struct case_of_admission {
    MPIRTX_Qos_kind kind;
    /* What moving a message takes by the clock. */
    MPIRT_Timespec mover;
    int conflict;
};

/* Commits those of the two tasks and the channel that are asked for. */
static void commit_some(int parts, MPIRT_Qos timed, MPIRT_Qos started, const struct case_of_admission *with)
{
    MPIRTX_Task tasks[2] = {MPIRTX_TASK_NULL, MPIRTX_TASK_NULL};
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    MPIRT_Bufiter in = iterator(), out = iterator();
    MPIRT_Qos qos = soon(with->kind);
    if (rank == 0 && (parts & TIMED)) {
        OK(MPIRTX_Task_create("of the table", nothing, NULL, timed, 4 * ms, &tasks[0]));
        OK(MPIRTX_Task_set_core(tasks[0], 0));
    }
    if (rank == 0 && (parts & STARTED)) {
        OK(MPIRTX_Task_create("of an event", nothing, NULL, started, 4 * ms, &tasks[1]));
        OK(MPIRTX_Task_set_core(tasks[1], 0));
    }
    if (rank < 2 && (parts & CHANNEL)) {
        OK(MPIRT_Ptchannel_create("in time", in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
        OK(MPIRTX_Channel_set_mover_budget(channel, with->mover));
    }
    if (with->conflict == 0 || (parts & with->conflict) != with->conflict) {
        MUST(MPIRT_Commit());
        OK(MPIRT_Uncommit());
    } else {
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
        CHECK(detail_says("in time"));
        CHECK(with->conflict != ALL || (detail_says("of the table") && detail_says("of an event")));
    }
    for (int place = 0; place < 2; place++)
        if (tasks[place].bits != 0)
            OK(MPIRTX_Task_free(&tasks[place]));
    if (channel.bits != 0)
        OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Bufiter_free(&out));
    if (with->kind != MPIRTX_QOS_BEST_EFFORT)
        OK(MPIRT_Qos_free(&qos));
}

/* On one core: a task of the time table and one that an event starts take 4 ms of each 10 ms, and a channel of a lower priority is to end
 * within 5 ms. Any two fit; the three do not, and the refusal names them all. By the clock a channel fits unless its message takes longer
 * than its window. To best effort nothing is promised, so it always fits. */
/* spec: QOS-ADMIT-01, QOS-BEST-01 */
static void test_admission_covers_all_kinds_together(void)
{
    static const struct case_of_admission cases[] = {
        {MPIRTX_QOS_EVENT, MPIRT_TIME_SPEC_IGNORE, ALL},    {MPIRTX_QOS_PRIORITY, MPIRT_TIME_SPEC_IGNORE, ALL},
        {MPIRTX_QOS_TIME, 4000000, CHANNEL},                {MPIRTX_QOS_TIME, MPIRT_TIME_SPEC_IGNORE, 0},
        {MPIRTX_QOS_BEST_EFFORT, MPIRT_TIME_SPEC_IGNORE, 0},
    };
    MPIRT_Qos timed, started;
    MPIRT_Trigger trigger;
    OK(MPIRT_Qos_channel_time_create("timed", 0, 10 * ms, 10 * ms, &timed));
    OK(MPIRT_Qos_channel_event_create("started", "admitted", NULL, &started));
    OK(MPIRTX_Qos_set_priority(started, 60));
    OK(MPIRTX_Qos_set_interval(started, 10 * ms));
    OK(MPIRTX_Qos_set_deadline(started, 10 * ms));
    OK(MPIRT_Trigger_create("admitted", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    for (size_t number = 0; number < sizeof cases / sizeof *cases && members > 1; number++)
        for (int parts = number == 0 ? 1 : CHANNEL; parts <= ALL; parts++)
            commit_some(parts, timed, started, &cases[number]);
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Qos_free(&timed));
    OK(MPIRT_Qos_free(&started));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_times_are_read_back_and_must_make_a_window();
    test_every_kind_says_what_it_is();
    test_phase_and_miss_policy();
    test_events_are_read_back_and_one_must_be_there();
    test_priorities_have_a_range();
    test_deadline_and_interval();
    test_admission_covers_what_has_a_priority();
    test_admission_covers_all_kinds_together();
    return end();
}
