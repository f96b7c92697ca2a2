/* What each call on a channel answers when the member at the other end is killed: two members, and member 1 kills itself. */
#include "harness.h"

#include <signal.h>

static const MPIRT_Timespec ms = 1000000;

static MPIRT_Channel end_of(const char *name, int source, MPIRT_Qos qos)
{
    MPIRT_Bufiter iterator;
    MPIRT_Buffer buffer;
    MPIRT_Channel made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
    OK(MPIRT_Bufiter_insert(iterator, buffer));
    OK(MPIRT_Ptchannel_create(name, iterator, iterator, source, 1 - source, MPIRT_GROUP_WORLD, qos, &made));
    return made;
}

/* What was refused is not asked for. */
static void expect_idle(MPIRT_Channel channel)
{
    MPIRTX_Status status;
    OK(MPIRTX_Channel_get_status(channel, &status));
    CHECK(status.state == MPIRTX_CHANNEL_IDLE && status.under_way == 0);
}

/* By one who sends, of a channel on which nothing was asked for. */
static void expect_refusals(MPIRT_Channel channel)
{
    int flag;
    EXPECT(MPIRT_Channel_start(channel), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_activate(channel), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_test(channel, &flag), MPIRT_ERR_NOT_STARTED);
    EXPECT(MPIRT_Channel_deactivate(channel), MPIRT_ERR_NOT_STARTED);
    expect_idle(channel);
}

/* By one who waits for a message: each time, whatever it waits with. */
static void expect_lost(MPIRT_Channel channel, MPIRT_Container alone)
{
    MPIRT_Channel found = MPIRT_CHANNEL_NULL;
    MPIRTX_Outcome outcome = MPIRTX_OUTCOME_NONE;
    int flag;
    for (int turn = 0; turn < 2; turn++) {
        EXPECT(MPIRT_Channel_wait(channel, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
        EXPECT(MPIRT_Channel_test(channel, &flag), MPIRT_ERR_PEER_LOST);
        EXPECT(MPIRT_Container_wait(alone, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
        EXPECT(MPIRT_Container_test(alone, &flag), MPIRT_ERR_PEER_LOST);
        OK(MPIRTX_Container_wait_any(alone, MPIRT_TIME_SPEC_IGNORE, &found, &outcome));
        CHECK(found.bits == channel.bits && outcome == MPIRTX_OUTCOME_PEER_LOST);
    }
}

enum { BEST_EFFORT, URGENT, TIMED, KINDS };

/* spec: CHANNEL-WAIT-08, MPIRT_Channel_wait/PEER_LOST, MPIRT_Channel_start/PEER_LOST, MPIRT_Channel_test/PEER_LOST */
/* spec: MPIRT_Channel_activate/PEER_LOST, MPIRTX_Channel_activate_at/PEER_LOST, MPIRT_Container_start/PEER_LOST */
/* spec: MPIRT_Container_wait/PEER_LOST, MPIRT_Container_test/PEER_LOST, MPIRT_Container_activate/PEER_LOST */
static void test_every_call_is_told_of_the_dead(void)
{
    static const char *const names[KINDS][2] = {{"back", "there"}, {"urgent-back", "urgent-there"}, {"timed-back", "timed-there"}};
    MPIRT_Qos qoses[KINDS] = {MPIRT_QOS_NULL};
    MPIRT_Channel back[KINDS], there[KINDS];
    MPIRT_Cvector all, alone[KINDS];
    int flag;
    OK(MPIRT_Qos_channel_priority_create(NULL, 9, &qoses[URGENT]));
    OK(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qoses[TIMED]));
    for (int kind = 0; kind < KINDS; kind++) {
        back[kind] = end_of(names[kind][0], 1, qoses[kind]);
        there[kind] = end_of(names[kind][1], 0, qoses[kind]);
        OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(back[kind])}, &alone[kind]));
    }
    OK(MPIRT_Cvector_create(NULL, 2, (MPIRT_Object[]){MPIRT_OBJECT(back[0]), MPIRT_OBJECT(there[0])}, &all));
    MUST(MPIRT_Commit());
    if (rank == 1) {
        /* The other waits by now, or will: its answers are the same. */
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 500 * ms));
        raise(SIGKILL);
    }
    for (int kind = 0; kind < KINDS; kind++)
        OK(MPIRT_Channel_start(back[kind]));
    for (int kind = 0; kind < KINDS; kind++) {
        expect_lost(back[kind], MPIRT_CONTAINER(alone[kind]));
        expect_refusals(there[kind]);
    }
    EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_test(MPIRT_CONTAINER(all), &flag), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(all)), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_activate(MPIRT_CONTAINER(all)), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRTX_Channel_activate_at(there[TIMED], UINT64_C(1000000)), MPIRT_ERR_PEER_LOST);
    expect_idle(there[TIMED]);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_every_call_is_told_of_the_dead();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
