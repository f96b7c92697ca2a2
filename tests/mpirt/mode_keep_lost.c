/* A member dies after a switch, in a job that continues: who waits at a kept channel, since before the switch or after it, is told. */
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(30000000000);
enum { KINDS = 2 };

static MPIRT_Channel channels[KINDS];

static void *waits(void *argument)
{
    EXPECT(MPIRT_Channel_wait(channels[0], patience), MPIRT_ERR_PEER_LOST);
    (void)argument;
    return NULL;
}

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance;
    __atomic_fetch_add((uint64_t *)argument, 1, __ATOMIC_RELAXED);
}

/* This member's end of the channels from the last member to another, best effort and time-driven. */
static void make_channels(MPIRT_Channel *made, int target, MPIRT_Qos timed)
{
    static const char *const kinds[KINDS] = {"free", "timed"};
    const MPIRT_Qos qos[KINDS] = {MPIRT_QOS_BEST_EFFORT, timed};
    char name[MPIRT_NAME_MAX];
    for (int kind = 0; kind < KINDS; kind++) {
        MPIRT_Bufiter in, out;
        MPIRT_Buffer buffer;
        MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &in));
        MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &out));
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(in, buffer));
        snprintf(name, sizeof name, "%s-%d", kinds[kind], target);
        MUST(MPIRT_Ptchannel_create(name, in, out, members - 1, target, MPIRT_GROUP_WORLD, qos[kind], &made[kind]));
    }
}

/* spec: MODE-KEEP-01, MODE-SWITCH-04 */
static void test_a_death_is_told_at_kept_channels(void)
{
    MPIRT_Qos timed, qos;
    MPIRTX_Task task;
    MPIRTX_Mode mode;
    MPIRT_Timespec at;
    MPIRT_Channel all[16][KINDS];
    uint64_t instances = 0;
    int is_last = rank == members - 1, ends = is_last ? members - 1 : 1, code;
    char name[MPIRT_NAME_MAX];
    pthread_t thread;
    MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 12 * ms, 20 * ms, &timed));
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    for (int end = 0; end < ends; end++)
        make_channels(all[end], is_last ? end : rank, timed);
    memcpy(channels, all[0], sizeof channels);
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("goes on", &mode));
    for (int end = 0; end < ends; end++)
        for (int kind = 0; kind < KINDS; kind++)
            MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(all[end][kind])));
    snprintf(name, sizeof name, "own-%d", rank);
    MUST(MPIRTX_Task_create(name, counts, &instances, qos, ms / 20, &task));
    MUST(MPIRTX_Mode_commit(mode));
    if (!is_last) {
        OK(MPIRT_Channel_start(channels[0]));
        OK(MPIRT_Channel_activate(channels[1]));
        CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    }
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    if (is_last) {
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 300 * ms));
        _exit(7);
    }
    do
        code = MPIRT_Channel_wait(channels[1], patience);
    while (code == MPIRT_SUCCESS || code == MPIRT_ERR_MISSED);
    CHECK(code == MPIRT_ERR_PEER_LOST);
    pthread_join(thread, NULL);
    EXPECT(MPIRT_Channel_start(channels[0]), MPIRT_ERR_PEER_LOST);
    CHECK(__atomic_load_n(&instances, __ATOMIC_RELAXED) > 0);
    (void)MPIRT_Uncommit(); /* whose answer is another file's concern */
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_death_is_told_at_kept_channels();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
