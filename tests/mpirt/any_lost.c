/* A member dies while another waits for any of its channels, all of which end at the dead: it hears of the death, and then of the end. */
#include "harness.h"

#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static MPIRT_Channel from_the_last(const char *name, MPIRT_Qos qos)
{
    MPIRT_Bufiter iterator;
    MPIRT_Buffer buffer;
    MPIRT_Channel made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    if (rank == 0) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
        OK(MPIRT_Bufiter_insert(iterator, buffer));
    }
    OK(MPIRT_Ptchannel_create(name, iterator, iterator, members - 1, 0, MPIRT_GROUP_WORLD, qos, &made));
    return made;
}

/* spec: MPIRTX_Container_wait_any/UNCOMMITTED */
static void test_the_end_is_told_to_whoever_has_lost_all(void)
{
    MPIRT_Qos qos;
    MPIRT_Object channels[2];
    MPIRT_Cvector all;
    MPIRT_Channel found;
    MPIRT_Trigger go;
    MPIRT_Receptor told;
    MPIRTX_Outcome outcome;
    int answer, flag;
    if (rank == 0 || rank == members - 1) {
        OK(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qos));
        channels[0] = MPIRT_OBJECT(from_the_last("best-effort", MPIRT_QOS_NULL));
        channels[1] = MPIRT_OBJECT(from_the_last("timed", qos));
        OK(MPIRT_Cvector_create(NULL, 2, channels, &all));
    }
    if (rank == 0)
        MUST(MPIRT_Trigger_create("go", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &go));
    else if (rank == members - 1)
        MUST(MPIRT_Receptor_create("go", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &told));
    MUST(MPIRT_Commit());
    if (rank == members - 1) {
        OK(MPIRT_Receptor_wait(told, MPIRT_TIME_SPEC_IGNORE));
        _exit(7);
    }
    if (rank == 0) {
        OK(MPIRT_Container_activate(MPIRT_CONTAINER(all)));
        OK(MPIRT_Trigger_fire(go));
        /* Nothing was ever sent: it hears of the death alone, of either channel, and a test hears the same. */
        while ((answer = MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE, &found, &outcome)) == MPIRT_SUCCESS) {
            CHECK(outcome == MPIRTX_OUTCOME_PEER_LOST);
            CHECK(MPIRT_OBJECT(found).bits == channels[0].bits || MPIRT_OBJECT(found).bits == channels[1].bits);
            OK(MPIRTX_Container_test_any(MPIRT_CONTAINER(all), &flag, &found, &outcome));
            CHECK(outcome == (flag ? MPIRTX_OUTCOME_PEER_LOST : MPIRTX_OUTCOME_NONE));
        }
        CHECK(answer == MPIRT_ERR_UNCOMMITTED);
    }
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_end_is_told_to_whoever_has_lost_all();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
