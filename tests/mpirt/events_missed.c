/* Triggers that watch channels and tasks: completions, misses, missing buffers. The run counts the misses as ours, as it must. */
#include "harness.h"

#include <stdatomic.h>

/* The first period with a transfer: 1 s after the epoch, when every member has named it. */
enum { TRANSFERS = 6, FIRST = 50, STOCK = 2 };
static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);

/* A trigger of each kind on a source, and a receptor of each; none is heard elsewhere. */
struct watch {
    MPIRT_Trigger triggers[4];
    MPIRT_Receptor receptors[4];
};
enum { COMPLETION, MISS, MISSING_BUFFER, ERROR };

static struct watch watch(const char *what, MPIRT_Object source, int from, int to)
{
    static const MPIRT_Event_kind kinds[] = {MPIRT_EVENT_COMPLETION, MPIRT_EVENT_MISS, MPIRT_EVENT_MISSING_BUFFER,
                                             MPIRT_EVENT_ERROR};
    struct watch watch = {0};
    for (int kind = from; kind <= to; kind++) {
        char event[MPIRT_NAME_MAX];
        snprintf(event, sizeof event, "%s-%d-%d", what, kind, rank);
        MUST(MPIRT_Trigger_create(event, kinds[kind], source, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &watch.triggers[kind]));
        MUST(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &watch.receptors[kind]));
    }
    return watch;
}

static void unwatch(struct watch *watch, int from, int to)
{
    for (int kind = from; kind <= to; kind++) {
        OK(MPIRT_Trigger_free(&watch->triggers[kind]));
        OK(MPIRT_Receptor_free(&watch->receptors[kind]));
    }
}

/* So many firings come, and then none is pending. */
static void expect_firings(MPIRT_Receptor receptor, int count)
{
    int flag;
    for (int firing = 0; firing < count; firing++)
        MUST(MPIRT_Receptor_wait(receptor, patience));
    OK(MPIRTX_Receptor_test(receptor, &flag));
    CHECK(flag == 0);
}

static MPIRT_Bufiter wide_iterator(int stock, int numbers)
{
    MPIRT_Bufiter made;
    MPIRT_Buffer buffer;
    size_t size = (size_t)numbers * sizeof(int64_t);
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, size, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    for (int number = 0; number < stock; number++) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, size, MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(made, buffer));
    }
    return made;
}

static void commit_and_uncommit(void)
{
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

static MPIRT_Bufiter iterator(int stock)
{
    return wide_iterator(stock, 1);
}

/* Nor does the program fire what watches. */
/* spec: EVENT-TRIGGER-DONE-01, EVENT-TRIGGER-CALL-02 */
static void test_completions_of_a_best_effort_channel(void)
{
    MPIRT_Channel channel;
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffer;
    if (rank > 1) {
        commit_and_uncommit();
        return;
    }
    in = iterator(1);
    out = iterator(0);
    MUST(MPIRT_Ptchannel_create("plain", in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    struct watch seen = watch("plain", MPIRT_OBJECT(channel), COMPLETION, ERROR);
    MUST(MPIRT_Commit());
    for (int kind = COMPLETION; kind <= ERROR; kind++)
        EXPECT(MPIRT_Trigger_fire(seen.triggers[kind]), MPIRT_ERR_UNDEF_FOR_OBJECT);
    for (int transfer = 0; transfer < TRANSFERS; transfer++) {
        OK(MPIRT_Channel_start(channel));
        OK(MPIRT_Channel_wait(channel, patience));
        OK(MPIRT_Bufiter_remove(out, &buffer));
        OK(MPIRT_Bufiter_insert(in, buffer));
    }
    expect_firings(seen.receptors[COMPLETION], TRANSFERS);
    for (int kind = MISS; kind <= ERROR; kind++)
        expect_firings(seen.receptors[kind], 0);
    OK(MPIRT_Uncommit());
    unwatch(&seen, COMPLETION, ERROR);
    OK(MPIRT_Channel_free(&channel));
}

/* What fires where all but STOCK of TRANSFERS instances lack a buffer, here or elsewhere. */
static void expect_lacks(const struct watch *seen, int lacks_here, int learns_afterwards)
{
    int lacked = lacks_here ? MISSING_BUFFER : MISS, other = lacks_here ? MISS : MISSING_BUFFER;
    /* A sender learns afterwards that its receiver had no room; until then those transfers were complete to it. */
    expect_firings(seen->receptors[COMPLETION], learns_afterwards ? TRANSFERS : STOCK);
    expect_firings(seen->receptors[lacked], TRANSFERS - STOCK);
    expect_firings(seen->receptors[other], 0);
    expect_firings(seen->receptors[ERROR], 0);
}

/* Runs a time-driven channel of which one end lacks buffers in all but STOCK of its TRANSFERS instances. */
/* spec: EVENT-TRIGGER-DONE-01, EVENT-TRIGGER-MISS-01, EVENT-TRIGGER-BUFFER-01 */
static void test_an_end_without_buffers(const char *name, int lacking)
{
    MPIRT_Channel channel;
    MPIRT_Qos qos;
    MPIRT_Bufiter in, out;
    if (rank > 1) {
        commit_and_uncommit();
        return;
    }
    in = iterator(rank == lacking ? STOCK : TRANSFERS);
    out = iterator(0);
    MUST(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qos));
    MUST(MPIRT_Ptchannel_create(name, in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
    struct watch seen = watch(name, MPIRT_OBJECT(channel), COMPLETION, ERROR);
    MUST(MPIRT_Commit());
    OK(MPIRTX_Channel_activate_at(channel, FIRST));
    OK(MPIRTX_Channel_deactivate_at(channel, FIRST + TRANSFERS));
    expect_lacks(&seen, rank == lacking, lacking == 1 && rank == 0);
    OK(MPIRT_Uncommit());
    unwatch(&seen, COMPLETION, ERROR);
    OK(MPIRT_Channel_free(&channel));
}

/* The same where every member sends and receives: the second member has no buffers to send, or none to receive into. */
/* spec: EVENT-TRIGGER-MISS-01, EVENT-TRIGGER-BUFFER-01 */
static void test_a_member_of_an_all_to_all_without_buffers(const char *name, int to_send)
{
    enum { BOTH = 2, LACKING = 1 };
    int lacks_here = rank == LACKING;
    MPIRT_Channel channel;
    MPIRT_Qos qos;
    MPIRT_Bufiter in, out, recvin, recvout;
    if (members != BOTH)
        return;
    in = wide_iterator(lacks_here && to_send ? STOCK : TRANSFERS, BOTH);
    recvin = wide_iterator(lacks_here && !to_send ? STOCK : TRANSFERS, BOTH);
    out = wide_iterator(0, BOTH);
    recvout = wide_iterator(0, BOTH);
    MUST(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 16 * ms, 20 * ms, &qos));
    MUST(MPIRT_Alltoall_channel_create(name, in, out, recvin, recvout, MPIRT_GROUP_WORLD, qos, &channel));
    struct watch seen = watch(name, MPIRT_OBJECT(channel), COMPLETION, ERROR);
    MUST(MPIRT_Commit());
    OK(MPIRTX_Channel_activate_at(channel, FIRST));
    OK(MPIRTX_Channel_deactivate_at(channel, FIRST + TRANSFERS));
    expect_lacks(&seen, lacks_here, !lacks_here && !to_send);
    OK(MPIRT_Uncommit());
    unwatch(&seen, COMPLETION, ERROR);
    OK(MPIRT_Channel_free(&channel));
}

static atomic_int overran;

static void overrun_once(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Timespec now;
    (void)task, (void)argument;
    /* Members that share a core do so in different periods. */
    if (instance->number != 5 + 2 * (uint64_t)rank)
        return;
    atomic_store(&overran, 1);
    do
        OK(MPIRT_Get_time(&now));
    while (now <= instance->deadline + ms);
}

/* spec: EVENT-TRIGGER-MISS-01 */
static void test_a_task_that_misses_its_deadline(void)
{
    MPIRTX_Task task;
    MPIRT_Qos qos;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "overrun-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 100 * ms, &qos));
    OK(MPIRTX_Task_create(name, overrun_once, NULL, qos, ms, &task));
    struct watch seen = watch("task", MPIRT_OBJECT(task), MISS, MISS);
    MUST(MPIRT_Commit());
    /* A stall of the machine may make it miss another before. */
    do
        MUST(MPIRT_Receptor_wait(seen.receptors[MISS], patience));
    while (atomic_load(&overran) == 0);
    OK(MPIRT_Uncommit());
    unwatch(&seen, MISS, MISS);
    OK(MPIRTX_Task_free(&task));
}

static void overrun_over_others(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Timespec now;
    (void)task, (void)argument;
    if (instance->number != 5 + 8 * (uint64_t)rank)
        return;
    do
        OK(MPIRT_Get_time(&now));
    while (now <= instance->deadline + 150 * ms);
}

/* What an instance has kept from running is told with the next that runs: in the end as many firings as misses were counted. */
/* spec: EVENT-TRIGGER-MISS-01 */
static void test_instances_that_were_skipped(void)
{
    MPIRTX_Task_metrics metrics = {0};
    MPIRTX_Task task;
    MPIRT_Qos qos;
    uint64_t fired = 0;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "skips-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 50 * ms, &qos));
    OK(MPIRTX_Task_create(name, overrun_over_others, NULL, qos, ms, &task));
    struct watch seen = watch("skips", MPIRT_OBJECT(task), MISS, MISS);
    MUST(MPIRT_Commit());
    for (int looks = 0; looks < 500 && (metrics.skipped == 0 || metrics.overruns == 0 || fired != metrics.missed); looks++) {
        int flag = 1;
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 20 * ms));
        OK(MPIRTX_Task_get_metrics(task, &metrics));
        while (flag) {
            OK(MPIRTX_Receptor_test(seen.receptors[MISS], &flag));
            fired += (uint64_t)flag;
        }
    }
    CHECK(metrics.skipped > 0 && metrics.missed > metrics.skipped && fired == metrics.missed);
    OK(MPIRT_Uncommit());
    unwatch(&seen, MISS, MISS);
    OK(MPIRTX_Task_free(&task));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (members > 1) {
        test_completions_of_a_best_effort_channel();
        test_an_end_without_buffers("no-full-buffer", 0);
        test_an_end_without_buffers("no-empty-buffer", 1);
        test_a_member_of_an_all_to_all_without_buffers("all-no-full-buffer", 1);
        test_a_member_of_an_all_to_all_without_buffers("all-no-empty-buffer", 0);
    }
    test_a_task_that_misses_its_deadline();
    test_instances_that_were_skipped();
    return end();
}
