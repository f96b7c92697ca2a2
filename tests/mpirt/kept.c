/* A receiver that keeps the buffers which it shares with the sender: the sender has none to fill. */
#include "harness.h"

/* The first period with a transfer: 1 s after the epoch, when both members have named it. */
enum { SIZE = 64, COUNT = 2, TRANSFERS = 8, FIRST = 50 };
static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);

/* spec: BUFITER-MAPPED-01, CHANNEL-MISS-01 */
static void test_who_keeps_the_buffers_is_late(void)
{
    MPIRT_Object made[COUNT];
    MPIRT_Buffer buffers[COUNT];
    MPIRT_Cvector allowed;
    MPIRT_Bufiter in, out;
    MPIRT_Qos qos;
    MPIRT_Channel channel;
    MPIRTX_Channel_metrics metrics;
    int ended;
    for (int place = 0; place < COUNT; place++) {
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &buffers[place]));
        made[place] = MPIRT_OBJECT(buffers[place]);
    }
    MUST(MPIRT_Cvector_create(NULL, COUNT, made, &allowed));
    MUST(MPIRT_Bufiter_create("in", MPIRT_BUFITER_FIFO_MAPPED, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(allowed), &in));
    MUST(MPIRT_Bufiter_create("out", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &out));
    for (int place = 0; place < COUNT; place++)
        MUST(MPIRT_Bufiter_insert(in, buffers[place]));
    MUST(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qos));
    MUST(MPIRT_Ptchannel_create("kept", in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
    MUST(MPIRT_Commit());
    OK(MPIRTX_Channel_activate_at(channel, FIRST));
    OK(MPIRTX_Channel_deactivate_at(channel, FIRST + TRANSFERS));
    do
        ended = MPIRT_Channel_wait(channel, patience);
    while (ended == MPIRT_SUCCESS || ended == MPIRT_ERR_MISSED);
    CHECK(ended == MPIRT_ERR_NOT_STARTED);
    OK(MPIRTX_Channel_get_metrics(channel, &metrics));
    CHECK(metrics.completed == COUNT);
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_who_keeps_the_buffers_is_late();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
