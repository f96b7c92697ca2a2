/* When instances take place: windows, phases, one epoch; and what a receiver sees of a miss. Channels go from member 0 to member 1. What
 * the record of the run says of the same instances, the test that starts this program compares. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);
enum { STOCK = 4, TRANSFERS = 8 };

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
    MPIRT_Qos qos;
    int64_t contents[STOCK];
};

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* This member's end of a channel, with STOCK buffers, or none where there is nothing to send. */
static void make_end(struct end *end, const char *name, const MPIRT_Timespec times[4], MPIRTX_Miss_policy policy, int stock)
{
    end->in = iterator();
    end->out = iterator();
    MUST(MPIRT_Qos_channel_time_create(NULL, times[0], times[1], times[2], &end->qos));
    /* Without a call it is 0. */
    if (times[3] != 0)
        OK(MPIRTX_Qos_set_phase(end->qos, times[3]));
    OK(MPIRTX_Qos_set_miss_policy(end->qos, policy));
    MUST(MPIRT_Ptchannel_create(name, end->in, end->out, 0, 1, MPIRT_GROUP_WORLD, end->qos, &end->channel));
    for (int place = 0; place < stock; place++) {
        MPIRT_Buffer buffer;
        end->contents[place] = -1;
        MUST(MPIRT_Buffer_create(NULL, &end->contents[place], sizeof(int64_t), MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(end->in, buffer));
    }
}

static void free_end(struct end *end)
{
    OK(MPIRT_Channel_free(&end->channel));
    OK(MPIRT_Bufiter_free(&end->in));
    OK(MPIRT_Bufiter_free(&end->out));
    OK(MPIRT_Qos_free(&end->qos));
}

/* Start, deadline, period and phase. */
static const MPIRT_Timespec timings[3][4] = {
    {INT64_C(4000000), INT64_C(12000000), INT64_C(40000000), 0},
    {INT64_C(4000000), INT64_C(12000000), INT64_C(40000000), INT64_C(17000000)},
    {0, INT64_C(20000000), INT64_C(20000000), INT64_C(19000000)},
};

/* Gives a buffer back to its input iterator with what is to be sent: the epoch as this member knows it. */
static void send_again(struct end *end, MPIRT_Timespec epoch)
{
    MPIRT_Buffer buffer;
    void *base;
    while (MPIRT_Bufiter_remove(end->out, &buffer) == MPIRT_SUCCESS) {
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        *(int64_t *)base = epoch;
        OK(MPIRT_Bufiter_insert(end->in, buffer));
    }
}

/* spec: QOS-TIME-START-01, QOS-TIME-WINDOW-01, QOS-TIME-WINDOW-02, QOS-TIME-PHASE-01, QOS-TIME-PHASE-02, QOS-TIME-EPOCH-01 */
/* spec: SETUP-TIME-04 */
static void test_a_message_is_there_at_its_deadline_and_not_before(void)
{
    struct end ends[3];
    MPIRT_Bufiter in = iterator(), out = iterator();
    MPIRT_Channel done = MPIRT_CHANNEL_NULL;
    MPIRT_Buffer nothing;
    MPIRT_Timespec epoch = 0;
    int taken[3] = {0, 0, 0}, in_time[3] = {0, 0, 0}, flag = 0;
    memset(ends, 0, sizeof ends);
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &nothing));
    OK(MPIRT_Bufiter_insert(in, nothing));
    /* By this member 1 says that it has seen enough. */
    if (rank < 2)
        MUST(MPIRT_Ptchannel_create("done", in, out, 1, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &done));
    for (int place = 0; place < 3 && rank < 2; place++) {
        char name[MPIRT_NAME_MAX];
        MPIRT_Timespec phase = -1;
        snprintf(name, sizeof name, "window-%d", place);
        make_end(&ends[place], name, timings[place], MPIRTX_MISS_SKIP, STOCK);
        OK(MPIRTX_Qos_get_phase(ends[place].qos, &phase));
        CHECK(phase == timings[place][3]);
    }
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    for (int place = 0; place < 3 && rank < 2; place++)
        OK(MPIRT_Channel_activate(ends[place].channel));
    /* The sender's buffers are there long before their windows; the receiver looks without a pause. */
    while (rank == 1 && (taken[0] < TRANSFERS || taken[1] < TRANSFERS || taken[2] < TRANSFERS)) {
        for (int place = 0; place < 3; place++) {
            const MPIRT_Timespec *times = timings[place];
            MPIRT_Timespec now, inserted, begin;
            MPIRT_Buffer buffer;
            uint64_t instance;
            void *base;
            if (MPIRT_Bufiter_remove(ends[place].out, &buffer) != MPIRT_SUCCESS)
                continue;
            OK(MPIRT_Get_time(&now));
            OK(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
            begin = epoch + times[3] + (MPIRT_Timespec)instance * times[2];
            CHECK(now >= begin + times[1]);
            /* A busy machine looks too late now and then, but not each time. */
            in_time[place] += now < begin + times[1] + times[2];
            CHECK(inserted >= begin + times[0] && inserted <= begin + times[1]);
            /* The sender's epoch, in every message but the first few. */
            MUST(MPIRT_Buffer_get_base(buffer, &base));
            CHECK(*(int64_t *)base == epoch || *(int64_t *)base == -1);
            CHECK(taken[place] < STOCK || *(int64_t *)base == epoch);
            taken[place]++;
            OK(MPIRT_Bufiter_insert(ends[place].in, buffer));
        }
    }
    CHECK(rank != 1 || (in_time[0] > 0 && in_time[1] > 0 && in_time[2] > 0));
    if (rank < 2)
        OK(MPIRT_Channel_start(done));
    while (rank == 0 && !flag) {
        for (int place = 0; place < 3; place++)
            send_again(&ends[place], epoch);
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
        MUST(MPIRT_Channel_test(done, &flag));
    }
    if (rank == 1)
        OK(MPIRT_Channel_wait(done, patience));
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 3 && rank < 2; place++)
        free_end(&ends[place]);
    if (rank < 2)
        OK(MPIRT_Channel_free(&done));
}

/* spec: QOS-TIME-PHASE-03 */
static void test_a_phase_lies_within_the_period(void)
{
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 5 * ms, 20 * ms, &qos));
    OK(MPIRTX_Qos_set_phase(qos, 20 * ms - 1));
    EXPECT(MPIRTX_Qos_set_phase(qos, 20 * ms), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Qos_set_phase(qos, -1), MPIRT_ERR_TIME);
    OK(MPIRT_Qos_free(&qos));
}

/* One message, and then none: what the receiver has of each further instance. */
static void run_dry(MPIRTX_Miss_policy policy)
{
    static const MPIRT_Timespec times[4] = {INT64_C(4000000), INT64_C(20000000), INT64_C(40000000), 0};
    struct end end;
    MPIRTX_Channel_metrics metrics;
    int is_source = rank == 0, missed = 0, taken = 0;
    memset(&end, 0, sizeof end);
    if (rank < 2) {
        make_end(&end, policy == MPIRTX_MISS_SKIP ? "skips" : "holds", times, policy, is_source ? 1 : STOCK);
        end.contents[0] = is_source ? 4711 : -1;
    }
    MUST(MPIRT_Commit());
    if (rank < 2) {
        OK(MPIRT_Channel_activate(end.channel));
        while (missed < 3) {
            MPIRT_Buffer buffer;
            void *base;
            int waited = MPIRT_Channel_wait(end.channel, patience);
            CHECK(waited == MPIRT_SUCCESS || waited == MPIRT_ERR_MISSED);
            if (waited != MPIRT_SUCCESS && waited != MPIRT_ERR_MISSED)
                break;
            missed += waited == MPIRT_ERR_MISSED;
            /* The message, or under hold-last the last good one, which is told as a miss all the same. */
            while (!is_source && MPIRT_Bufiter_remove(end.out, &buffer) == MPIRT_SUCCESS) {
                MUST(MPIRT_Buffer_get_base(buffer, &base));
                CHECK(*(int64_t *)base == 4711);
                taken++;
                OK(MPIRT_Bufiter_insert(end.in, buffer));
            }
        }
        OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
        CHECK(metrics.completed <= 1 && metrics.no_sender_buffer + metrics.late >= 3);
        if (!is_source && policy == MPIRTX_MISS_SKIP)
            CHECK(taken == (int)metrics.completed);
        if (!is_source && policy == MPIRTX_MISS_HOLD_LAST)
            CHECK(metrics.completed == 0 || taken >= 3);
    }
    OK(MPIRT_Uncommit());
    if (rank < 2)
        free_end(&end);
}

/* spec: QOS-TIME-MISS-01, CHANNEL-MISS-05 */
static void test_what_a_receiver_sees_of_a_miss(void)
{
    MPIRTX_Miss_policy policy = MPIRTX_MISS_STOP;
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 5 * ms, 20 * ms, &qos));
    OK(MPIRTX_Qos_get_miss_policy(qos, &policy));
    CHECK(policy == MPIRTX_MISS_SKIP);
    OK(MPIRT_Qos_free(&qos));
    run_dry(MPIRTX_MISS_SKIP);
    run_dry(MPIRTX_MISS_HOLD_LAST);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_phase_lies_within_the_period();
    if (members > 1) {
        test_a_message_is_there_at_its_deadline_and_not_before();
        test_what_a_receiver_sees_of_a_miss();
    }
    return end();
}
