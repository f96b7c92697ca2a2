/* The miss policy stop: the first instance that is missed ends the job, on every member and with its reason. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* Member 0 sends twice what member 1 waits for, and then has nothing more; the others wait for the end. */
/* spec: CHANNEL-MISS-06, MPIRTX_Run/MISSED */
static void test_the_first_miss_ends_the_job(void)
{
    MPIRT_Bufiter in = iterator(), out = iterator();
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    MPIRT_Qos qos;
    int waited = MPIRT_SUCCESS, missed = 0;
    MUST(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 20 * ms, 40 * ms, &qos));
    OK(MPIRTX_Qos_set_miss_policy(qos, MPIRTX_MISS_STOP));
    if (rank < 2) {
        MUST(MPIRT_Ptchannel_create("must-come", in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
        for (int number = 0; number < (rank == 0 ? 2 : 20); number++) {
            MPIRT_Buffer buffer;
            MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &buffer));
            OK(MPIRT_Bufiter_insert(in, buffer));
        }
    }
    MUST(MPIRT_Commit());
    if (rank < 2) {
        OK(MPIRT_Channel_activate(channel));
        /* Nobody waits for ever. */
        while (waited == MPIRT_SUCCESS || waited == MPIRT_ERR_MISSED) {
            waited = MPIRT_Channel_wait(channel, MPIRT_TIME_SPEC_IGNORE);
            missed += waited == MPIRT_ERR_MISSED;
        }
        EXPECT(waited, MPIRT_ERR_UNCOMMITTED);
        /* The receiver's instance that ended the job, and none after it. */
        CHECK(rank == 0 || missed <= 1);
        OK(MPIRT_Uncommit());
    } else {
        EXPECT(MPIRTX_Run(), MPIRT_ERR_MISSED);
        CHECK(detail_says("the job was stopped: member \"") && detail_says("has stopped it: a message of a channel with the policy"));
    }
    /* Nothing can be committed after it, and the program ends as any other. */
    EXPECT(MPIRT_Commit(), MPIRT_ERR_AGENT);
    if (rank < 2)
        OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_first_miss_ends_the_job();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
