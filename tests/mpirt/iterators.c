/* What iterators promise beside their order: ties, names of what is due, limits of the set, late binding, sharing; and that a channel
 * is one-way. */
#include "harness.h"

enum { SIZE = 64, COUNT = 6 };

static MPIRT_Buffer buffer_of(size_t size)
{
    MPIRT_Buffer made;
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, size, MPIRT_BYTE, &made));
    return made;
}

static MPIRT_Bufiter any(MPIRT_Bufiter_policy policy)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, policy, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static char *bytes(MPIRT_Buffer buffer)
{
    void *base = NULL;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    return base;
}

/* spec: BUFITER-SORTED-02 */
static void test_equal_labels_leave_in_their_order(void)
{
    static const int64_t labels[COUNT] = {7, 3, 7, 3, 7, 3};
    static const int order[COUNT] = {1, 3, 5, 0, 2, 4};
    MPIRT_Bufiter sorted = any(MPIRT_BUFITER_SORTED);
    MPIRT_Buffer buffers[COUNT], removed;
    for (int place = 0; place < COUNT; place++) {
        buffers[place] = buffer_of(SIZE);
        OK(MPIRT_Buffer_set_label(buffers[place], labels[place]));
    }
    for (int is_committed = 0; is_committed < 2; is_committed++) {
        if (is_committed)
            MUST(MPIRT_Commit());
        for (int place = 0; place < COUNT; place++)
            OK(MPIRT_Bufiter_insert(sorted, buffers[place]));
        for (int place = 0; place < COUNT; place++) {
            OK(MPIRT_Bufiter_remove(sorted, &removed));
            CHECK(removed.bits == buffers[order[place]].bits);
        }
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < COUNT; place++)
        OK(MPIRT_Buffer_free(&buffers[place]));
    OK(MPIRT_Bufiter_free(&sorted));
}

/* The text is made when it is asked for: it has the name that the buffer has then. */
/* spec: BUFITER-ORDERED-02, ERROR-DETAIL-03 */
static void test_who_is_out_of_order_is_told_who_is_due(void)
{
    static const char *const names[3] = {"first", "second", "third"};
    MPIRT_Buffer buffers[3];
    MPIRT_Object objects[3];
    MPIRT_Cvector allowed;
    MPIRT_Bufiter ordered;
    const char *detail;
    int count;
    for (int place = 0; place < 3; place++) {
        OK(MPIRT_Buffer_create(names[place], MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &buffers[place]));
        objects[place] = MPIRT_OBJECT(buffers[place]);
    }
    OK(MPIRT_Cvector_create(NULL, 3, objects, &allowed));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_LIFO_ORDERED, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(allowed), &ordered));
    for (int is_committed = 0; is_committed < 2; is_committed++) {
        MPIRT_Buffer removed;
        if (is_committed)
            MUST(MPIRT_Commit());
        OK(MPIRT_Bufiter_insert(ordered, buffers[0]));
        EXPECT(MPIRT_Bufiter_insert(ordered, buffers[2]), MPIRT_ERR_NOT_ALLOWED);
        if (!is_committed) {
            OK(MPIRT_Buffer_set_name(buffers[1], "renamed since"));
            CHECK(detail_says("\"renamed since\""));
            OK(MPIRT_Buffer_set_name(buffers[1], names[1]));
        }
        OK(MPIRTX_Error_detail(&detail));
        CHECK(strstr(detail, "\"second\"") != NULL);
        OK(MPIRTX_Bufiter_get_count(ordered, &count));
        CHECK(count == 1);
        OK(MPIRT_Bufiter_insert(ordered, buffers[1]));
        OK(MPIRT_Bufiter_insert(ordered, buffers[2]));
        for (int place = 0; place < 3; place++)
            OK(MPIRT_Bufiter_remove(ordered, &removed));
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Bufiter_free(&ordered));
    OK(MPIRT_Cvector_free(&allowed));
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Buffer_free(&buffers[place]));
}

/* spec: BUFITER-ALLOWED-05, BUFITER-LATE-03 */
static void test_sets_of_none_and_of_the_most(void)
{
    static char memory[SIZE];
    MPIRT_Buffer all[MPIRT_BUFFERS_MAX + 1];
    MPIRT_Cset set;
    MPIRT_Bufiter iterator;
    MPIRT_Buffer removed;
    int count;
    OK(MPIRT_Cset_create(NULL, &set));
    EXPECT(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(set), &iterator), MPIRT_ERR_ARGUMENT);
    for (int place = 0; place <= MPIRT_BUFFERS_MAX; place++) {
        OK(MPIRT_Buffer_create(NULL, memory, SIZE, MPIRT_BYTE, &all[place]));
        if (place == MPIRT_BUFFERS_MAX) {
            OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(set), &iterator));
            OK(MPIRT_Bufiter_free(&iterator));
        }
        OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(all[place])));
    }
    EXPECT(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(set), &iterator), MPIRT_ERR_LIMIT);
    CHECK(detail_says("there would be") && detail_says("there can be"));
    OK(MPIRT_Cset_free(&set));
    OK(MPIRT_Buffer_free(&all[MPIRT_BUFFERS_MAX]));
    /* Without a set there is room for all that there are, before the commit and while it stands. */
    iterator = any(MPIRT_BUFITER_FIFO);
    for (int is_committed = 0; is_committed < 2; is_committed++) {
        if (is_committed)
            MUST(MPIRT_Commit());
        for (int place = 0; place < MPIRT_BUFFERS_MAX; place++)
            OK(MPIRT_Bufiter_insert(iterator, all[place]));
        OK(MPIRTX_Bufiter_get_count(iterator, &count));
        CHECK(count == MPIRT_BUFFERS_MAX);
        for (int place = 0; place < MPIRT_BUFFERS_MAX; place++) {
            OK(MPIRT_Bufiter_remove(iterator, &removed));
            CHECK(removed.bits == all[place].bits);
        }
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Bufiter_free(&iterator));
    for (int place = 0; place < MPIRT_BUFFERS_MAX; place++)
        OK(MPIRT_Buffer_free(&all[place]));
}

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static struct end end_of(const char *name, MPIRT_Bufiter in, MPIRT_Bufiter out)
{
    struct end end = {in, out, MPIRT_CHANNEL_NULL};
    OK(MPIRT_Ptchannel_create(name, in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &end.channel));
    return end;
}

static void free_end(struct end *end)
{
    OK(MPIRT_Channel_free(&end->channel));
    OK(MPIRT_Bufiter_free(&end->in));
    OK(MPIRT_Bufiter_free(&end->out));
}

static void moves(const struct end *end)
{
    OK(MPIRT_Channel_start(end->channel));
    OK(MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE));
}

/* With any buffers a transfer copies at each end, which is counted; what is sent is what comes, and nothing goes back. */
/* spec: BUFITER-LATE-01, BUFITER-LATE-02, CHANNEL-END-03, TASK-METRIC-CHANNEL-01 */
static void test_late_binding_copies_and_a_channel_is_one_way(void)
{
    struct end end;
    MPIRT_Buffer buffer = MPIRT_BUFFER_NULL;
    MPIRTX_Channel_metrics metrics;
    if (members == 1)
        return;
    if (rank < 2) {
        end = end_of("late", any(MPIRT_BUFITER_FIFO), any(MPIRT_BUFITER_FIFO));
        buffer = buffer_of(SIZE);
    }
    MUST(MPIRT_Commit());
    for (int round = 0; rank < 2 && round < COUNT; round++) {
        memset(bytes(buffer), rank == 0 ? 'a' + round : 'z', SIZE);
        OK(MPIRT_Bufiter_insert(end.in, buffer));
        moves(&end);
        OK(MPIRT_Bufiter_remove(end.out, &buffer));
        for (int place = 0; place < SIZE; place++)
            CHECK(bytes(buffer)[place] == 'a' + round);
    }
    if (rank < 2) {
        const MPIRTX_Duration_metrics *latency = &metrics.latency;
        OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
        CHECK(metrics.completed == COUNT && metrics.late_binding_copies == COUNT);
        CHECK(metrics.no_sender_buffer == 0 && metrics.no_receiver_buffer == 0 && metrics.late == 0 && metrics.invalid == 0);
        CHECK(latency->count == (rank == 0 ? 0 : COUNT));
        if (latency->count > 0)
            CHECK(0 < latency->least && latency->least <= latency->last && latency->last <= latency->greatest);
        CHECK(latency->sum >= latency->greatest && latency->sum <= (MPIRT_Timespec)latency->count * latency->greatest);
    }
    OK(MPIRT_Uncommit());
    if (rank < 2) {
        free_end(&end);
        OK(MPIRT_Buffer_free(&buffer));
    }
}

/* What is sent is stamped when it is inserted, not when it is taken; what nobody takes is under way until Uncommit. */
/* spec: BUFFER-IDENTITY-01, BUFFER-STATE-01, BUFFER-STATE-02, BUFFER-LABEL-03, CHANNEL-START-02, CHANNEL-START-05 */
static void test_what_is_sent_and_not_taken(void)
{
    static const MPIRT_Timespec moment = 20000000;
    struct end end;
    MPIRT_Buffer buffer = MPIRT_BUFFER_NULL, removed;
    MPIRT_Timespec times[2] = {0, 0}, inserted, last = 0;
    uint64_t instance;
    int64_t label;
    int count;
    if (members == 1)
        return;
    if (rank < 2) {
        end = end_of("untaken", any(MPIRT_BUFITER_FIFO), any(MPIRT_BUFITER_FIFO));
        buffer = buffer_of(SIZE);
    }
    MUST(MPIRT_Commit());
    for (int round = 0; rank < 2 && round < 3; round++) {
        if (rank == 0) {
            /* Each message tells a time before its insertion, and one after that of the message before. */
            OK(MPIRT_Get_time(&times[0]));
            memcpy(bytes(buffer), times, sizeof times);
            /* The started transfer waits for its buffer. */
            OK(MPIRT_Channel_start(end.channel));
            OK(MPIRT_Bufiter_insert(end.in, buffer));
            OK(MPIRT_Get_time(&times[1]));
        } else {
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, moment));
            OK(MPIRT_Bufiter_insert(end.in, buffer));
            OK(MPIRT_Channel_start(end.channel));
        }
        MUST(MPIRT_Channel_wait(end.channel, 500 * moment));
        MUST(MPIRT_Bufiter_remove(end.out, &buffer));
        if (rank == 1) {
            memcpy(times, bytes(buffer), sizeof times);
            OK(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
            CHECK(instance == (uint64_t)round && times[0] <= inserted);
            CHECK(round == 0 || last <= times[1]);
            last = inserted;
        }
    }
    if (rank == 0) {
        OK(MPIRT_Buffer_set_label(buffer, 7));
        OK(MPIRT_Bufiter_insert(end.in, buffer));
        OK(MPIRT_Channel_start(end.channel));
        EXPECT(MPIRT_Channel_wait(end.channel, 0), MPIRT_ERR_TIMEOUT);
        EXPECT(MPIRT_Bufiter_insert(end.in, buffer), MPIRT_ERR_BUFFER_IN_USE);
        EXPECT(MPIRT_Bufiter_insert(end.out, buffer), MPIRT_ERR_BUFFER_IN_USE);
        EXPECT(MPIRT_Buffer_set_label(buffer, 8), MPIRT_ERR_BUFFER_IN_USE);
        OK(MPIRT_Buffer_get_label(buffer, &label));
        CHECK(label == 7);
        EXPECT(MPIRT_Bufiter_remove(end.in, &removed), MPIRT_ERR_EMPTY);
        EXPECT(MPIRT_Bufiter_remove(end.out, &removed), MPIRT_ERR_EMPTY);
    }
    OK(MPIRT_Uncommit());
    if (rank < 2) {
        OK(MPIRTX_Bufiter_get_count(end.out, &count));
        CHECK(count == 0);
        OK(MPIRT_Buffer_set_label(buffer, 8));
        OK(MPIRT_Bufiter_insert(end.out, buffer));
        MUST(MPIRT_Bufiter_remove(end.out, &removed));
        CHECK(removed.bits == buffer.bits);
        free_end(&end);
        OK(MPIRT_Buffer_free(&buffer));
    }
}

/* Two time-driven channels with one window after the other take from one iterator by turns, as the plan has them. */
/* spec: BUFITER-SHARE-05 */
static void test_channels_are_served_in_the_order_of_the_plan(void)
{
    /* FIRST: 1 s after the epoch, when both members have named it. */
    enum { FIRST = 10, PERIODS = 3 };
    static const MPIRT_Timespec ms = 1000000;
    struct end ends[2];
    MPIRT_Qos qoses[2];
    MPIRT_Bufiter shared = MPIRT_BUFITER_NULL;
    MPIRT_Buffer buffer;
    if (members == 1)
        return;
    /* Declared the other way round. */
    OK(MPIRT_Qos_channel_time_create(NULL, 52 * ms, 95 * ms, 100 * ms, &qoses[0]));
    OK(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 45 * ms, 100 * ms, &qoses[1]));
    if (rank == 0)
        shared = any(MPIRT_BUFITER_FIFO);
    for (int channel = 0; rank < 2 && channel < 2; channel++) {
        ends[channel] = end_of(channel == 0 ? "second" : "first", rank == 0 ? shared : any(MPIRT_BUFITER_FIFO), any(MPIRT_BUFITER_FIFO));
        OK(MPIRT_Channel_set_qos(ends[channel].channel, qoses[channel]));
    }
    for (int place = 0; rank < 2 && place < 2 * PERIODS; place++) {
        buffer = buffer_of(SIZE);
        OK(MPIRT_Buffer_set_label(buffer, place));
        OK(MPIRT_Bufiter_insert(rank == 0 ? shared : ends[place % 2].in, buffer));
    }
    MUST(MPIRT_Commit());
    for (int channel = 0; rank < 2 && channel < 2; channel++) {
        OK(MPIRTX_Channel_activate_at(ends[channel].channel, FIRST));
        OK(MPIRTX_Channel_deactivate_at(ends[channel].channel, FIRST + PERIODS));
    }
    for (int channel = 1; rank < 2 && channel >= 0; channel--) {
        MPIRTX_Channel_metrics metrics;
        int64_t label, expected = 1 - channel;
        int ended;
        do
            ended = MPIRT_Channel_wait(ends[channel].channel, MPIRT_TIME_SPEC_IGNORE);
        while (ended == MPIRT_SUCCESS || ended == MPIRT_ERR_MISSED);
        EXPECT(ended, MPIRT_ERR_NOT_STARTED);
        OK(MPIRTX_Channel_get_metrics(ends[channel].channel, &metrics));
        if (rank == 0 && metrics.completed < PERIODS)
            fprintf(stderr, "out of time: %d\n", (int)(PERIODS - metrics.completed));
        for (; rank == 0 && MPIRT_Bufiter_remove(ends[channel].out, &buffer) == MPIRT_SUCCESS; expected += 2) {
            OK(MPIRT_Buffer_get_label(buffer, &label));
            CHECK(label == expected || metrics.completed < PERIODS);
        }
        CHECK(rank != 0 || metrics.completed < PERIODS || expected == 1 - channel + 2 * PERIODS);
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 2; place++) {
        if (rank < 2)
            OK(MPIRT_Channel_free(&ends[place].channel));
        OK(MPIRT_Qos_free(&qoses[place]));
    }
}

/* Two channels take from one iterator: in the order in which their transfers start. */
/* spec: BUFITER-SHARE-05 */
static void test_channels_are_served_in_the_order_of_their_starts(void)
{
    /* Which channel each of the transfers is on. */
    static const int turns[COUNT] = {0, 1, 1, 0, 1, 0};
    struct end ends[2];
    MPIRT_Buffer buffer;
    if (members == 1)
        return;
    if (rank == 0) {
        MPIRT_Bufiter shared = any(MPIRT_BUFITER_FIFO);
        ends[0] = end_of("one", shared, any(MPIRT_BUFITER_FIFO));
        ends[1] = end_of("other", shared, any(MPIRT_BUFITER_FIFO));
    } else if (rank == 1) {
        ends[0] = end_of("one", any(MPIRT_BUFITER_FIFO), any(MPIRT_BUFITER_FIFO));
        ends[1] = end_of("other", any(MPIRT_BUFITER_FIFO), any(MPIRT_BUFITER_FIFO));
    }
    for (int channel = 0; rank < 2 && channel < 2; channel++)
        OK(MPIRTX_Channel_set_slack(ends[channel].channel, COUNT));
    /* Each is told from the others by its label. */
    for (int place = 0; rank < 2 && place < COUNT; place++) {
        buffer = buffer_of(SIZE);
        OK(MPIRT_Buffer_set_label(buffer, place));
        OK(MPIRT_Bufiter_insert(rank == 0 ? ends[0].in : ends[turns[place]].in, buffer));
    }
    MUST(MPIRT_Commit());
    for (int turn = 0; rank == 0 && turn < COUNT; turn++)
        OK(MPIRT_Channel_start(ends[turns[turn]].channel));
    for (int channel = 0; rank == 0 && channel < 2; channel++) {
        int64_t before = -1, label;
        OK(MPIRT_Channel_wait(ends[channel].channel, MPIRT_TIME_SPEC_IGNORE));
        while (MPIRT_Bufiter_remove(ends[channel].out, &buffer) == MPIRT_SUCCESS) {
            OK(MPIRT_Buffer_get_label(buffer, &label));
            CHECK(label > before && turns[label] == channel);
            before = label;
        }
        CHECK(before >= COUNT - 2);
    }
    for (int turn = 0; rank == 1 && turn < COUNT; turn++)
        moves(&ends[turns[turn]]);
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_equal_labels_leave_in_their_order();
    test_who_is_out_of_order_is_told_who_is_due();
    test_sets_of_none_and_of_the_most();
    test_late_binding_copies_and_a_channel_is_one_way();
    test_what_is_sent_and_not_taken();
    test_channels_are_served_in_the_order_of_their_starts();
    test_channels_are_served_in_the_order_of_the_plan();
    return end();
}
