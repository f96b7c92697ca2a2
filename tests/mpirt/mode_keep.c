/* Channels and tasks that a mode keeps go on across the switch: with the same buffers, instance numbers and counters, and with what is
 * under way in them. */
#define BUFFERS 4
#include "mode_ends.h"
#include "mode_own.h"

#include <pthread.h>

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(20000000000);
enum { NUMBERS_MAX = 1 << 14 };

static void look_where(struct end *end, void **bases)
{
    for (int number = 0; number < BUFFERS; number++)
        OK(MPIRT_Buffer_get_base(end->buffers[number], &bases[number]));
}

static void check_same_buffers(struct end *end)
{
    void *now[BUFFERS];
    look_where(end, now);
    for (int number = 0; number < BUFFERS; number++)
        CHECK(now[number] != NULL && now[number] == end->bases[number]);
}

/* What the task at the sending end does: each message is the number of the instance that sends it. */
struct talk {
    struct end end;
    MPIRTX_Task task;
    uint64_t next;
    int again;
};

static void talks(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct talk *talk = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)task;
    talk->again += instance->number < talk->next;
    talk->next = instance->number + 1;
    if (MPIRT_Bufiter_remove(talk->end.out, &buffer) != MPIRT_SUCCESS)
        return;
    if (MPIRT_Buffer_get_base(buffer, &base) == MPIRT_SUCCESS)
        *(int64_t *)base = (int64_t)instance->number;
    MPIRT_Bufiter_insert(talk->end.in, buffer);
}

/* What the one at the receiving end hears: which numbers, each in its instance or not, and whether every instance is accounted for. */
struct hear {
    struct end end;
    MPIRTX_Task task;
    uint64_t next, heard, missed, instances, runs;
    int again, misplaced, unaccounted;
    unsigned char numbers[NUMBERS_MAX];
};

static void hears(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct hear *hear = argument;
    MPIRT_Buffer buffer;
    MPIRTX_Channel_metrics metrics;
    MPIRTX_Status status;
    (void)task;
    memset(&metrics, 0, sizeof metrics);
    hear->again += instance->number < hear->next;
    hear->next = instance->number + 1;
    if (MPIRTX_Channel_get_metrics(hear->end.channel, &metrics) == MPIRT_SUCCESS)
        hear->missed = metrics.no_sender_buffer + metrics.no_receiver_buffer + metrics.late + metrics.invalid + metrics.paused;
    while (MPIRT_Bufiter_remove(hear->end.out, &buffer) == MPIRT_SUCCESS) {
        uint64_t number = NUMBERS_MAX;
        MPIRT_Timespec inserted;
        void *base;
        if (MPIRT_Buffer_get_base(buffer, &base) == MPIRT_SUCCESS
            && MPIRTX_Buffer_get_instance(buffer, &number, &inserted) == MPIRT_SUCCESS && number < NUMBERS_MAX) {
            /* On a busy machine that skips an instance a message may have waited for one; none comes before its own. */
            hear->misplaced += *(int64_t *)base > (int64_t)number || (*(int64_t *)base < (int64_t)number && hear->missed == 0);
            hear->again += hear->numbers[number];
            hear->numbers[number] = 1;
            hear->heard++;
        }
        MPIRT_Bufiter_insert(hear->end.in, buffer);
    }
    if (MPIRTX_Channel_get_status(hear->end.channel, &status) == MPIRT_SUCCESS && status.outcome != MPIRTX_OUTCOME_NONE) {
        hear->instances = status.instance + 1;
        hear->unaccounted += metrics.completed + hear->missed != hear->instances || metrics.completed != hear->heard;
    }
    __atomic_store_n(&hear->runs, hear->runs + 1, __ATOMIC_RELEASE);
}

/* One member sends to the next. The receiver's window ends before the message of the same period is there, so that each is under way from
 * one period to the next. */
struct ring {
    MPIRT_Qos qos_of_channel, qos_of_tasks;
    struct talk talk;
    struct hear hear;
};

static struct ring ring;

static void make_mapped_ring(int is_mapped)
{
    char name[MPIRT_NAME_MAX];
    memset(&ring, 0, sizeof ring);
    MUST(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 18 * ms, 20 * ms, &ring.qos_of_channel));
    MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 10 * ms, 20 * ms, &ring.qos_of_tasks));
    make_mapped_end(&ring.talk.end, "ring", rank, ring.qos_of_channel, is_mapped);
    make_mapped_end(&ring.hear.end, "ring", (rank + members - 1) % members, ring.qos_of_channel, is_mapped);
    for (int number = 0; number < BUFFERS; number++) {
        OK(MPIRT_Bufiter_insert(ring.talk.end.out, ring.talk.end.buffers[number]));
        OK(MPIRT_Bufiter_insert(ring.hear.end.in, ring.hear.end.buffers[number]));
    }
    snprintf(name, sizeof name, "talk-%d", rank);
    MUST(MPIRTX_Task_create(name, talks, &ring.talk, ring.qos_of_tasks, ms / 20, &ring.talk.task));
    MUST(MPIRTX_Task_bind(ring.talk.task, ring.talk.end.channel));
    snprintf(name, sizeof name, "hear-%d", rank);
    MUST(MPIRTX_Task_create(name, hears, &ring.hear, ring.qos_of_tasks, ms / 20, &ring.hear.task));
    MUST(MPIRTX_Task_bind(ring.hear.task, ring.hear.end.channel));
}

static void make_ring(void)
{
    make_mapped_ring(0);
}

static void free_ring(void)
{
    OK(MPIRTX_Task_free(&ring.talk.task));
    OK(MPIRTX_Task_free(&ring.hear.task));
    free_end(&ring.talk.end);
    free_end(&ring.hear.end);
    OK(MPIRT_Qos_free(&ring.qos_of_channel));
    OK(MPIRT_Qos_free(&ring.qos_of_tasks));
}

/* Behind the tasks of the ring. */
static MPIRTX_Task make_late_task(const char *kind, MPIRT_Timespec period, MPIRT_Qos *qos)
{
    return make_task_from(kind, 12 * ms, 20 * ms, period, qos);
}

/* So many more messages are taken, or missed for what the machine does. */
static void hear_more(uint64_t count)
{
    uint64_t before = __atomic_load_n(&ring.hear.runs, __ATOMIC_ACQUIRE);
    for (int looks = 0; looks < 2000 && __atomic_load_n(&ring.hear.runs, __ATOMIC_ACQUIRE) < before + count; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    CHECK(__atomic_load_n(&ring.hear.runs, __ATOMIC_ACQUIRE) >= before + count);
}

/* spec: MODE-KEEP-01, MODE-PEND-01, MPIRTX_Mode_keep, MODE-SWITCH-02, MODE-SWITCH-05 */
static void test_channels_and_tasks_go_on_through_three_modes(int is_mapped)
{
    static const MPIRT_Timespec periods[] = {20, 40, 60, 20};
    MPIRT_Qos qos[4];
    MPIRTX_Task own[4];
    MPIRTX_Mode mode[4];
    MPIRT_Timespec first, epoch, at;
    uint64_t switches[4] = {0};
    if (members == 1)
        return;
    make_mapped_ring(is_mapped);
    own[0] = make_late_task("own0", periods[0] * ms, &qos[0]);
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&first));
    look_where(&ring.talk.end, ring.talk.end.bases);
    look_where(&ring.hear.end, ring.hear.end.bases);
    hear_more(4);
    for (int number = 1; number < 4; number++) {
        char kind[16];
        MPIRTX_Task_metrics before, after;
        MPIRTX_Channel_metrics sent_before, sent_after;
        snprintf(kind, sizeof kind, "own%d", number);
        MUST(MPIRTX_Mode_open(kind, &mode[number]));
        /* The channels of a task are kept with it. */
        MUST(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(ring.talk.task)));
        MUST(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(ring.hear.task)));
        OK(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(ring.hear.end.channel)));
        own[number] = make_late_task(kind, periods[number] * ms, &qos[number]);
        MUST(MPIRTX_Mode_commit(mode[number]));
        EXPECT(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(ring.talk.task)), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRTX_Task_get_metrics(ring.hear.task, &before));
        OK(MPIRTX_Channel_get_metrics(ring.talk.end.channel, &sent_before));
        MUST(MPIRTX_Mode_switch(mode[number], MPIRT_TIME_SPEC_IGNORE, &at));
        OK(MPIRTX_Get_epoch(&epoch));
        CHECK(epoch == at && (at - first) % (20 * ms) == 0);
        switches[number] = (uint64_t)((at - first) / (20 * ms));
        OK(MPIRTX_Task_get_metrics(ring.hear.task, &after));
        OK(MPIRTX_Channel_get_metrics(ring.talk.end.channel, &sent_after));
        CHECK(after.completed >= before.completed && after.completed > 0);
        CHECK(sent_after.completed >= sent_before.completed && sent_after.completed > 0);
        check_same_buffers(&ring.talk.end);
        check_same_buffers(&ring.hear.end);
        /* What is kept is fixed, and what is not can be freed. */
        EXPECT(MPIRTX_Task_set_name(ring.talk.task, "renamed"), MPIRT_ERR_OBJECT_COMMITTED);
        EXPECT(MPIRT_Channel_free(&ring.talk.end.channel), MPIRT_ERR_OBJECT_COMMITTED);
        EXPECT(MPIRT_Buffer_free(&ring.hear.end.buffers[0]), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRTX_Task_free(&own[number - 1]));
        OK(MPIRT_Qos_free(&qos[number - 1]));
        hear_more(4);
    }
    OK(MPIRT_Uncommit());
    /* No number comes twice or in another instance, and each that was not heard is a miss that was told. */
    CHECK(ring.talk.again == 0 && ring.hear.again == 0);
    CHECK(ring.hear.misplaced == 0);
    CHECK(ring.hear.unaccounted == 0);
    CHECK(ring.hear.heard + ring.hear.missed == ring.hear.instances);
    /* The message that was under way at a switch has come after it, in its instance. */
    for (int number = 1; number < 4; number++) {
        uint64_t last = switches[number] - 1;
        CHECK(last < NUMBERS_MAX && ring.hear.instances > last + 2);
        CHECK(ring.hear.numbers[last] + ring.hear.numbers[last + 1] + ring.hear.missed >= 2);
    }
    free_ring();
    OK(MPIRTX_Task_free(&own[3]));
    OK(MPIRT_Qos_free(&qos[3]));
    for (int number = 1; number < 4; number++)
        OK(MPIRTX_Mode_free(&mode[number]));
}

/* Best-effort ends: what is sent before the switch is received after it. */
static struct end sends, receives;

static void make_pair(void)
{
    make_end(&sends, "pair", rank, MPIRT_QOS_BEST_EFFORT);
    make_end(&receives, "pair", (rank + members - 1) % members, MPIRT_QOS_BEST_EFFORT);
    OK(MPIRTX_Channel_set_slack(sends.channel, BUFFERS));
    OK(MPIRTX_Channel_set_slack(receives.channel, BUFFERS));
    for (int number = 0; number < BUFFERS; number++)
        OK(MPIRT_Bufiter_insert(receives.in, receives.buffers[number]));
}

static void send(int number, int64_t value)
{
    void *base;
    OK(MPIRT_Buffer_get_base(sends.buffers[number], &base));
    if (base != NULL)
        *(int64_t *)base = value;
    OK(MPIRT_Bufiter_insert(sends.in, sends.buffers[number]));
    OK(MPIRT_Channel_start(sends.channel));
}

static void receive(int64_t value, uint64_t expected)
{
    MPIRT_Buffer buffer;
    MPIRT_Timespec inserted;
    uint64_t instance = 0;
    void *base = NULL;
    MUST(MPIRT_Bufiter_remove(receives.out, &buffer));
    OK(MPIRT_Buffer_get_base(buffer, &base));
    OK(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
    CHECK(base != NULL && *(int64_t *)base == value);
    CHECK(instance == expected);
}

static void *waits(void *argument)
{
    (void)argument;
    OK(MPIRT_Channel_wait(receives.channel, patience));
    return NULL;
}

/* spec: MODE-KEEP-01, MODE-PEND-01 */
static void test_best_effort_messages_are_under_way_through_a_switch(void)
{
    MPIRTX_Mode mode;
    MPIRT_Timespec at;
    MPIRT_Qos qos[2];
    MPIRTX_Task own[2];
    MPIRTX_Channel_metrics metrics;
    MPIRTX_Status status;
    pthread_t thread;
    if (members == 1)
        return;
    make_pair();
    own[0] = make_late_task("before", 20 * ms, &qos[0]);
    MUST(MPIRT_Commit());
    look_where(&sends, sends.bases);
    look_where(&receives, receives.bases);
    /* One that is complete, two that are under way, and a receiver that waits while the mode changes. */
    OK(MPIRT_Channel_start(receives.channel));
    send(0, 10);
    OK(MPIRT_Channel_wait(receives.channel, patience));
    OK(MPIRT_Channel_wait(sends.channel, patience));
    receive(10, 0);
    MUST(MPIRTX_Mode_open("pair", &mode));
    MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(sends.channel)));
    MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(receives.channel)));
    own[1] = make_late_task("after", 40 * ms, &qos[1]);
    MUST(MPIRTX_Mode_commit(mode));
    send(1, 11);
    send(2, 12);
    for (int started = 0; started < 3; started++)
        OK(MPIRT_Channel_start(receives.channel));
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    check_same_buffers(&sends);
    check_same_buffers(&receives);
    send(3, 13);
    OK(MPIRT_Channel_wait(sends.channel, patience));
    pthread_join(thread, NULL);
    receive(11, 1);
    receive(12, 2);
    receive(13, 3);
    OK(MPIRTX_Channel_get_metrics(receives.channel, &metrics));
    CHECK(metrics.completed == 4);
    OK(MPIRTX_Channel_get_metrics(sends.channel, &metrics));
    CHECK(metrics.completed == 4);
    OK(MPIRTX_Channel_get_status(receives.channel, &status));
    CHECK(status.state == MPIRTX_CHANNEL_IDLE && status.instance == 3);
    OK(MPIRT_Uncommit());
    free_end(&sends);
    free_end(&receives);
    for (int number = 0; number < 2; number++) {
        OK(MPIRTX_Task_free(&own[number]));
        OK(MPIRT_Qos_free(&qos[number]));
    }
    OK(MPIRTX_Mode_free(&mode));
}

/* spec: MPIRTX_Mode_keep/UNDEF_FOR_OBJECT, MPIRTX_Mode_keep/ARGUMENT, MPIRTX_Mode_keep/OBJECT_COMMITTED */
static void test_what_cannot_be_kept(void)
{
    MPIRTX_Mode mode, next;
    MPIRT_Timespec at;
    MPIRT_Qos qos[3];
    MPIRTX_Task own[3];
    MPIRT_Cset set;
    MPIRT_Bufiter in;
    MPIRT_Buffer buffer;
    own[0] = make_late_task("first", 20 * ms, &qos[0]);
    own[2] = make_late_task("former", 20 * ms, &qos[2]);
    in = iterator();
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &buffer));
    OK(MPIRT_Cset_create("of what runs", &set));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("keeps", &mode));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(buffer)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(in)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(set)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(MPIRT_GROUP_WORLD)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(mode)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT_NULL), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRTX_Mode_keep(MPIRTX_MODE_NULL, MPIRT_OBJECT(own[0])), MPIRT_ERR_NULL_OBJECT);
    own[1] = make_late_task("second", 20 * ms, &qos[1]);
    /* What is of the mode already. */
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(own[1])), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(own[0])));
    MUST(MPIRTX_Mode_commit(mode));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(own[2])), MPIRT_ERR_OBJECT_COMMITTED);
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(own[0])), MPIRT_ERR_OBJECT_COMMITTED);
    MUST(MPIRTX_Mode_open("next", &next));
    /* What a mode has taken over from is loose, and joins one by being used. */
    EXPECT(MPIRTX_Mode_keep(next, MPIRT_OBJECT(own[2])), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Mode_keep(next, MPIRT_OBJECT(own[0])));
    MUST(MPIRTX_Mode_commit(next));
    MUST(MPIRTX_Mode_switch(next, MPIRT_TIME_SPEC_IGNORE, &at));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(own[0])), MPIRT_ERR_ARGUMENT);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Buffer_free(&buffer));
    for (int number = 0; number < 3; number++) {
        OK(MPIRTX_Task_free(&own[number]));
        OK(MPIRT_Qos_free(&qos[number]));
    }
    OK(MPIRT_Cset_free(&set));
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Mode_free(&next));
}

/* spec: MPIRTX_Mode_keep/UNDEF_FOR_OBJECT */
static void test_what_an_event_starts_is_not_kept(void)
{
    MPIRTX_Mode mode;
    MPIRT_Qos qos;
    struct end to, from;
    if (members == 1)
        return;
    OK(MPIRT_Qos_channel_event_create(NULL, NULL, "done", &qos));
    make_end(&to, "urgent", rank, qos);
    make_end(&from, "urgent", (rank + members - 1) % members, qos);
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("keeps", &mode));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(to.channel)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    CHECK(detail_says("\"urgent-") && detail_says("is event-driven") && detail_says("make it priority-driven"));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(from.channel)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRT_Uncommit());
    free_end(&to);
    free_end(&from);
    OK(MPIRT_Qos_free(&qos));
}

/* spec: MPIRTX_Mode_commit/ARGUMENT, MODE-COMMIT-02 */
static void test_what_is_kept_is_used_as_before(void)
{
    MPIRTX_Mode mode;
    MPIRT_Channel channel;
    const char *detail;
    if (members == 1)
        return;
    make_ring();
    MUST(MPIRT_Commit());
    hear_more(2);
    MUST(MPIRTX_Mode_open("other use", &mode));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(ring.talk.end.channel)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(ring.hear.end.channel)));
    MUST(MPIRT_Ptchannel_create("another", ring.talk.end.in, ring.talk.end.out, rank, (rank + 1) % members, MPIRT_GROUP_WORLD,
                                MPIRT_QOS_BEST_EFFORT, &channel));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "another") != NULL && strstr(detail, "kept") != NULL);
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRTX_Mode_free(&mode));
    hear_more(2);
    OK(MPIRT_Uncommit());
    CHECK(ring.talk.again == 0 && ring.hear.again == 0 && ring.hear.misplaced == 0 && ring.hear.unaccounted == 0);
    free_ring();
}

/* spec: MPIRTX_Mode_commit/MISMATCH, MODE-COMMIT-02 */
static void test_both_ends_keep_a_channel_or_neither(void)
{
    MPIRTX_Mode mode;
    MPIRT_Timespec at;
    MPIRT_Qos qos;
    MPIRTX_Task own;
    const char *detail;
    if (members == 1)
        return;
    make_ring();
    MUST(MPIRT_Commit());
    look_where(&ring.hear.end, ring.hear.end.bases);
    hear_more(2);
    MUST(MPIRTX_Mode_open("one end", &mode));
    /* The sending end, whose receiver lets it go. */
    MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(ring.talk.task)));
    own = make_late_task("own", 40 * ms, &qos);
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_MISMATCH);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "ring-") != NULL && strstr(detail, "(MPIRTX_Mode_keep there), or at none") != NULL);
    /* What runs has not noticed, and the mode can be mended. */
    check_same_buffers(&ring.hear.end);
    hear_more(2);
    MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(ring.hear.task)));
    MUST(MPIRTX_Mode_commit(mode));
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    hear_more(3);
    check_same_buffers(&ring.hear.end);
    OK(MPIRT_Uncommit());
    CHECK(ring.talk.again == 0 && ring.hear.again == 0 && ring.hear.misplaced == 0 && ring.hear.unaccounted == 0);
    free_ring();
    OK(MPIRTX_Task_free(&own));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_channels_and_tasks_go_on_through_three_modes(0);
    test_channels_and_tasks_go_on_through_three_modes(1);
    test_best_effort_messages_are_under_way_through_a_switch();
    test_what_cannot_be_kept();
    test_what_an_event_starts_is_not_kept();
    test_what_is_kept_is_used_as_before();
    test_both_ends_keep_a_channel_or_neither();
    return end();
}
