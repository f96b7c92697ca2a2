/* Instances that are not performed: told at both ends, and the next one is unaffected. The run counts them as misses of
 * ours, as it must. */
#include "harness.h"

/* The first period with a transfer: 1 s after the epoch, when every member has named it. */
enum { TRANSFERS = 6, FIRST = 50 };
static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);

struct end {
    int is_source;
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* The end of members 0 and 1, with so many buffers at each. */
static struct end make_end(const char *name, int source_stock, int target_stock)
{
    struct end end = {rank == 0, iterator(), iterator(), MPIRT_CHANNEL_NULL};
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qos));
    MUST(MPIRT_Ptchannel_create(name, end.in, end.out, 0, 1, MPIRT_GROUP_WORLD, qos, &end.channel));
    for (int number = 0; number < (end.is_source ? source_stock : target_stock); number++) {
        MPIRT_Buffer buffer;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(end.in, buffer));
    }
    return end;
}

/* Runs both ends from period FIRST on, for TRANSFERS periods, and gives how many waits told of a miss. */
static int run(const struct end *end)
{
    int ended, missed = 0;
    OK(MPIRTX_Channel_activate_at(end->channel, FIRST));
    OK(MPIRTX_Channel_deactivate_at(end->channel, FIRST + TRANSFERS));
    do {
        ended = MPIRT_Channel_wait(end->channel, patience);
        missed += ended == MPIRT_ERR_MISSED;
    } while (ended == MPIRT_SUCCESS || ended == MPIRT_ERR_MISSED);
    CHECK(ended == MPIRT_ERR_NOT_STARTED);
    return missed;
}

static int taken(const struct end *end)
{
    MPIRT_Buffer buffer;
    int count = 0;
    while (MPIRT_Bufiter_remove(end->out, &buffer) == MPIRT_SUCCESS)
        count++;
    return count;
}

/* All transfers for which there was no buffer are counted so, but those that a machine that stood still kept from their time: those are told,
 * and the caller of this program knows whether there were any. */
static void check_counted(uint64_t counted)
{
    CHECK(counted > 0 && counted <= TRANSFERS - 2);
    if (counted < TRANSFERS - 2)
        fprintf(stderr, "out of time: %d\n", (int)(TRANSFERS - 2 - counted));
}

/* spec: CHANNEL-MISS-01, CHANNEL-MISS-03, CHANNEL-MISS-04, CHANNEL-WAIT-07, CHANNEL-START-05 */
/* spec: MPIRT_Channel_wait/MISSED, MPIRT_Channel_test/MISSED */
/* spec: TASK-METRIC-CHANNEL-01 */
static void test_the_sender_has_no_buffer(void)
{
    MPIRTX_Channel_metrics metrics;
    MPIRTX_Status status;
    int flag;
    if (rank < 2) {
        struct end end = make_end("no-sender-buffer", 2, TRANSFERS);
        MUST(MPIRT_Commit());
        CHECK(run(&end) > 0);
        OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
        CHECK(metrics.completed == 2);
        check_counted(metrics.no_sender_buffer);
        CHECK(metrics.no_receiver_buffer == 0);
        OK(MPIRTX_Channel_get_status(end.channel, &status));
        CHECK(status.outcome == MPIRTX_OUTCOME_NO_SENDER_BUFFER || metrics.no_sender_buffer < TRANSFERS - 2);
        CHECK(status.instance == FIRST + TRANSFERS - 1);
        CHECK(taken(&end) == 2);
        /* One transfer more, started at both ends, without a buffer at the source. */
        OK(MPIRT_Channel_start(end.channel));
        EXPECT(MPIRT_Channel_wait(end.channel, patience), MPIRT_ERR_MISSED);
        EXPECT(MPIRT_Channel_test(end.channel, &flag), MPIRT_ERR_MISSED);
        OK(MPIRT_Uncommit());
        OK(MPIRT_Channel_free(&end.channel));
    } else {
        MUST(MPIRT_Commit());
        OK(MPIRT_Uncommit());
    }
}

/* spec: CHANNEL-MISS-03, CHANNEL-MISS-07, CHANNEL-MISS-08 */
/* spec: TASK-METRIC-CHANNEL-01 */
static void test_the_receiver_has_no_buffer(void)
{
    MPIRTX_Channel_metrics metrics;
    MPIRTX_Status status;
    if (rank < 2) {
        struct end end = make_end("no-receiver-buffer", TRANSFERS, 2);
        MUST(MPIRT_Commit());
        CHECK((run(&end) > 0) >= !end.is_source);
        /* The sender learns of it with the instance after, in which it takes no part any more. */
        int looks = 0;
        do
            OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
        while (metrics.no_receiver_buffer < TRANSFERS - 2 && looks++ < 1000 && MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms) == MPIRT_SUCCESS);
        check_counted(metrics.no_receiver_buffer);
        CHECK(metrics.completed == 2);
        CHECK(metrics.no_sender_buffer == 0);
        OK(MPIRTX_Channel_get_status(end.channel, &status));
        CHECK(status.outcome == MPIRTX_OUTCOME_NO_RECEIVER_BUFFER || metrics.no_receiver_buffer < TRANSFERS - 2);
        CHECK(status.instance == FIRST + TRANSFERS - 1);
        CHECK(taken(&end) == (end.is_source ? TRANSFERS : 2));
        OK(MPIRT_Uncommit());
        OK(MPIRT_Channel_free(&end.channel));
    } else {
        MUST(MPIRT_Commit());
        OK(MPIRT_Uncommit());
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (members > 1) {
        test_the_sender_has_no_buffer();
        test_the_receiver_has_no_buffer();
    }
    return end();
}
