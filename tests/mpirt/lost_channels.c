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

/* spec: CHANNEL-WAIT-08, MPIRT_Channel_wait/PEER_LOST, MPIRT_Channel_start/PEER_LOST, MPIRT_Channel_test/PEER_LOST */
/* spec: MPIRT_Channel_activate/PEER_LOST, MPIRTX_Channel_activate_at/PEER_LOST, MPIRT_Container_start/PEER_LOST */
/* spec: MPIRT_Container_wait/PEER_LOST, MPIRT_Container_test/PEER_LOST, MPIRT_Container_activate/PEER_LOST */
static void test_every_call_is_told_of_the_dead(void)
{
    MPIRT_Qos qos;
    MPIRT_Channel back, there, timed;
    MPIRT_Object channels[2];
    MPIRT_Cvector all;
    int flag;
    OK(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qos));
    back = end_of("back", 1, MPIRT_QOS_NULL);
    there = end_of("there", 0, MPIRT_QOS_NULL);
    timed = end_of("timed", 0, qos);
    channels[0] = MPIRT_OBJECT(back);
    channels[1] = MPIRT_OBJECT(there);
    OK(MPIRT_Cvector_create(NULL, 2, channels, &all));
    MUST(MPIRT_Commit());
    if (rank == 1) {
        /* The other waits by now, or will: its answers are the same. */
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 100 * ms));
        raise(SIGKILL);
    }
    OK(MPIRT_Channel_start(back));
    EXPECT(MPIRT_Channel_wait(back, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_wait(back, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_test(back, &flag), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_test(MPIRT_CONTAINER(all), &flag), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_start(there), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_activate(there), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(all)), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_activate(MPIRT_CONTAINER(all)), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_start(timed), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Channel_activate(timed), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRTX_Channel_activate_at(timed, UINT64_C(1000000)), MPIRT_ERR_PEER_LOST);
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
