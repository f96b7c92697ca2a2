/* Who starts and who is activated: two-, one- and zero-sided transfers, slack, and what is an error when.
 *
 * Member 0 sends to every other. No task serves an end: threads of the program start, wait and test, and the passing of
 * time moves what is time-driven. */
#include "harness.h"

#include <pthread.h>

/* FIRST: 1 s after the epoch, when every member has named it. */
enum { STOCK = 6, TRANSFERS = 5, FIRST = 25 };
static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);

struct end {
    int is_source;
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
    int64_t contents[STOCK];
};

static struct end ends[4];
static int count;

static void wait_a_moment(MPIRT_Timespec time)
{
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, time));
}

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* The members' ends of one channel from member 0 to each other; full buffers, with numbers from 0 on, at the source. */
static void make_ends(const char *what, MPIRT_Qos qos, int slack)
{
    count = 0;
    for (int peer = 1; peer < members; peer++) {
        struct end *end = &ends[count];
        char name[MPIRT_NAME_MAX];
        if (rank != 0 && rank != peer)
            continue;
        count++;
        snprintf(name, sizeof name, "%s-%d", what, peer);
        end->is_source = rank == 0;
        end->in = iterator();
        end->out = iterator();
        MUST(MPIRT_Ptchannel_create(name, end->in, end->out, 0, peer, MPIRT_GROUP_WORLD, qos, &end->channel));
        OK(MPIRTX_Channel_set_slack(end->channel, slack));
        for (int64_t number = 0; number < STOCK; number++) {
            int64_t *place = &end->contents[number];
            MPIRT_Buffer buffer;
            *place = end->is_source ? number : -1;
            MUST(MPIRT_Buffer_create(NULL, place, sizeof *place, MPIRT_INT64, &buffer));
            OK(MPIRT_Bufiter_insert(end->in, buffer));
        }
    }
}

static void free_ends(void)
{
    for (int place = 0; place < count; place++) {
        OK(MPIRT_Channel_free(&ends[place].channel));
        OK(MPIRT_Bufiter_free(&ends[place].in));
        OK(MPIRT_Bufiter_free(&ends[place].out));
    }
}

static int64_t taken(const struct end *end)
{
    MPIRT_Buffer buffer;
    void *base;
    MUST(MPIRT_Bufiter_remove(end->out, &buffer));
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    return *(int64_t *)base;
}

static void expect_taken(const struct end *end, int64_t from, int64_t until)
{
    MPIRT_Buffer buffer;
    for (int64_t number = from; number < until; number++)
        CHECK(taken(end) == number);
    EXPECT(MPIRT_Bufiter_remove(end->out, &buffer), MPIRT_ERR_EMPTY);
}

static void expect_status(const struct end *end, MPIRTX_Channel_state state, MPIRTX_Outcome outcome, int under_way)
{
    MPIRTX_Status status;
    OK(MPIRTX_Channel_get_status(end->channel, &status));
    CHECK(status.state == state);
    CHECK(status.outcome == outcome);
    CHECK(status.under_way == under_way);
}

static uint64_t completed(const struct end *end)
{
    MPIRTX_Channel_metrics metrics;
    OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
    CHECK(metrics.no_sender_buffer == 0 && metrics.no_receiver_buffer == 0 && metrics.invalid == 0);
    /* What is late never completes: who waited for it would wait for ever. */
    MUST(metrics.late == 0 ? MPIRT_SUCCESS : MPIRT_ERR_MISSED);
    CHECK(end->is_source || metrics.latency.count <= metrics.completed);
    CHECK(metrics.latency.count == 0 || (metrics.latency.least > 0 && metrics.latency.least <= metrics.latency.greatest));
    return metrics.completed;
}

/* spec: CHANNEL-QOS-01, CHANNEL-QOS-02, CHANNEL-ITER-01, QOS-BEST-02, SIDED-SLACK-04, CHANNEL-PT-01 */
/* spec: MPIRT_Channel_get_qos, MPIRT_Channel_set_qos, MPIRT_Channel_get_group, MPIRTX_Channel_get_slack */
/* spec: MPIRTX_Channel_get_polling, MPIRTX_Channel_set_polling */
/* spec: MPIRTX_Channel_set_slack, MPIRTX_Channel_set_slack/ARGUMENT, MPIRT_Channel_set_inbufiter, MPIRT_Channel_set_outbufiter */
/* spec: SIDED-SLACK-01 */
static void test_attributes(void)
{
    MPIRT_Bufiter in = iterator(), out = iterator(), found_iterator;
    MPIRT_Channel channel;
    MPIRT_Group group;
    MPIRT_Qos qos, found;
    int slack = 0;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 5 * ms, 20 * ms, &qos));
    OK(MPIRT_Ptchannel_create("c", in, out, rank, (rank + 1) % members, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Channel_get_qos(channel, &found));
    CHECK(found.bits == MPIRT_QOS_BEST_EFFORT.bits);
    OK(MPIRT_Channel_set_qos(channel, qos));
    OK(MPIRT_Channel_get_qos(channel, &found));
    CHECK(found.bits == qos.bits);
    OK(MPIRT_Channel_set_qos(channel, MPIRT_QOS_NULL));
    OK(MPIRT_Channel_get_qos(channel, &found));
    CHECK(found.bits == MPIRT_QOS_BEST_EFFORT.bits);
    OK(MPIRT_Channel_get_group(channel, &group));
    CHECK(group.bits == MPIRT_GROUP_WORLD.bits);
    OK(MPIRTX_Channel_get_slack(channel, &slack));
    CHECK(slack == 1);
    OK(MPIRTX_Channel_set_slack(channel, MPIRT_SLACK_MAX));
    OK(MPIRTX_Channel_get_slack(channel, &slack));
    CHECK(slack == MPIRT_SLACK_MAX);
    EXPECT(MPIRTX_Channel_set_slack(channel, 0), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Channel_set_slack(channel, -1), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Channel_set_slack(channel, MPIRT_SLACK_MAX + 1), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Channel_get_slack(channel, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRTX_Channel_get_polling(channel, &slack));
    CHECK(slack == 0);
    OK(MPIRTX_Channel_set_polling(channel, 1));
    OK(MPIRTX_Channel_get_polling(channel, &slack));
    CHECK(slack == 1);
    EXPECT(MPIRTX_Channel_get_polling(channel, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Channel_set_polling(MPIRT_CHANNEL_NULL, 1), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Channel_get_group(channel, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Channel_set_qos(MPIRT_CHANNEL_NULL, qos), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Channel_set_inbufiter(channel, out));
    OK(MPIRT_Channel_set_outbufiter(channel, in));
    OK(MPIRT_Channel_get_inbufiter(channel, &found_iterator));
    CHECK(found_iterator.bits == out.bits);
    OK(MPIRT_Channel_get_outbufiter(channel, &found_iterator));
    CHECK(found_iterator.bits == in.bits);
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Bufiter_free(&out));
}

/* spec: CHANNEL-ITER-02 */
/* spec: SIDED-SLACK-04 */
static void test_what_commit_refuses(void)
{
    const char *detail;
    MPIRT_Qos qos;
    if (members == 1)
        return;
    make_ends("lacks", MPIRT_QOS_NULL, 1);
    for (int which = 0; which < 2; which++) {
        for (int place = 0; place < count; place++)
            OK(which ? MPIRT_Channel_set_outbufiter(ends[place].channel, MPIRT_BUFITER_NULL)
                     : MPIRT_Channel_set_inbufiter(ends[place].channel, MPIRT_BUFITER_NULL));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        OK(MPIRTX_Error_detail(&detail));
        CHECK(strstr(detail, which ? "has no output iterator" : "has no input iterator") != NULL);
        CHECK(strstr(detail, "\"lacks-") != NULL && strstr(detail, "cannot commit") != NULL);
        for (int place = 0; place < count; place++) {
            OK(MPIRT_Channel_set_inbufiter(ends[place].channel, ends[place].in));
            OK(MPIRT_Channel_set_outbufiter(ends[place].channel, ends[place].out));
        }
    }
    free_ends();
    make_ends("slack", MPIRT_QOS_NULL, 1 + (rank == 0));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "slack differs") != NULL);
    free_ends();
    OK(MPIRT_Qos_channel_time_create(NULL, (rank == 0) * ms, 5 * ms, 20 * ms, &qos));
    make_ends("qos", qos, 1);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    free_ends();
    OK(MPIRT_Qos_free(&qos));
}

/* Time-driven ends: a window within a period of 40 ms, wide enough for the stalls of a busy virtual machine. */
static MPIRT_Qos time_driven(void)
{
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 35 * ms, 40 * ms, &qos));
    return qos;
}

static void test_two_sided_by(const char *what, MPIRT_Qos qos)
{
    int flag;
    make_ends(what, qos, 1);
    MUST(MPIRT_Commit());
    for (int place = 0; place < count; place++) {
        struct end *end = &ends[place];
        EXPECT(MPIRTX_Channel_set_slack(end->channel, 2), MPIRT_ERR_OBJECT_COMMITTED);
        EXPECT(MPIRT_Channel_set_qos(end->channel, MPIRT_QOS_NULL), MPIRT_ERR_OBJECT_COMMITTED);
        EXPECT(MPIRT_Channel_set_inbufiter(end->channel, end->out), MPIRT_ERR_OBJECT_COMMITTED);
        expect_status(end, MPIRTX_CHANNEL_IDLE, MPIRTX_OUTCOME_NONE, 0);
        EXPECT(MPIRT_Channel_wait(end->channel, patience), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Channel_test(end->channel, &flag), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Channel_deactivate(end->channel), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Channel_wait(end->channel, -1), MPIRT_ERR_TIME);
        for (int64_t number = 0; number < TRANSFERS; number++) {
            OK(MPIRT_Channel_start(end->channel));
            OK(MPIRT_Channel_wait(end->channel, patience));
            OK(MPIRT_Channel_test(end->channel, &flag));
            CHECK(flag == 1);
            OK(MPIRT_Channel_wait(end->channel, 0));
            expect_status(end, MPIRTX_CHANNEL_IDLE, MPIRTX_OUTCOME_COMPLETE, 0);
            CHECK(completed(end) == (uint64_t)number + 1);
            CHECK(taken(end) == number);
        }
    }
    OK(MPIRT_Uncommit());
    free_ends();
}

/* spec: SIDED-TWO-01, CHANNEL-START-01, CHANNEL-WAIT-01, CHANNEL-WAIT-05, CHANNEL-TEST-02, CHANNEL-END-02 */
/* spec: CHANNEL-STATUS-01, MPIRT_Channel_start, MPIRT_Channel_wait, MPIRT_Channel_test, MPIRTX_Channel_get_status */
/* spec: MPIRT_Channel_wait/NOT_STARTED, MPIRT_Channel_wait/TIME, MPIRT_Channel_test/NOT_STARTED */
/* spec: MPIRT_Channel_deactivate/NOT_STARTED, MPIRTX_Channel_get_metrics */
/* spec: SIDED-SLACK-04 */
static void test_two_sided(void)
{
    MPIRT_Qos qos;
    if (members == 1)
        return;
    test_two_sided_by("best-effort", MPIRT_QOS_NULL);
    qos = time_driven();
    test_two_sided_by("time-driven", qos);
    OK(MPIRT_Qos_free(&qos));
}

/* spec: CHANNEL-START-02, CHANNEL-WAIT-03, CHANNEL-WAIT-04, CHANNEL-TEST-01, SIDED-SLACK-01, SIDED-SLACK-03 */
/* spec: MPIRT_Channel_start/SLACK, MPIRT_Channel_wait/TIMEOUT, MPIRT_Channel_activate/SLACK */
/* spec: MPIRTX_Channel_activate_at/SLACK, SIDED-ACTIVATE-07 */
static void test_what_a_receiver_started_stays_under_way(void)
{
    MPIRT_Qos qos = time_driven();
    int flag = 1;
    for (int kind = 0; kind < 2 && members > 1; kind++) {
        make_ends("alone", kind ? qos : MPIRT_QOS_NULL, 2);
        MUST(MPIRT_Commit());
        for (int place = 0; place < count && rank != 0; place++) {
            struct end *end = &ends[place];
            OK(MPIRT_Channel_start(end->channel));
            OK(MPIRT_Channel_start(end->channel));
            EXPECT(MPIRT_Channel_start(end->channel), MPIRT_ERR_SLACK);
            EXPECT(MPIRT_Channel_activate(end->channel), MPIRT_ERR_SLACK);
            EXPECT(MPIRTX_Channel_activate_at(end->channel, UINT64_C(1) << 40),
                   kind ? MPIRT_ERR_SLACK : MPIRT_ERR_UNDEF_FOR_OBJECT);
            EXPECT(MPIRT_Channel_wait(end->channel, 0), MPIRT_ERR_TIMEOUT);
            EXPECT(MPIRT_Channel_wait(end->channel, 50 * ms), MPIRT_ERR_TIMEOUT);
            OK(MPIRT_Channel_test(end->channel, &flag));
            CHECK(flag == 0);
            expect_status(end, MPIRTX_CHANNEL_STARTED, MPIRTX_OUTCOME_NONE, 2);
        }
        OK(MPIRT_Uncommit());
        free_ends();
    }
    OK(MPIRT_Qos_free(&qos));
}

static void test_one_sided_by(const char *what, MPIRT_Qos qos, int starts_at_source)
{
    make_ends(what, qos, TRANSFERS);
    MUST(MPIRT_Commit());
    for (int place = 0; place < count; place++) {
        struct end *end = &ends[place];
        if (end->is_source == starts_at_source) {
            for (int number = 0; number < TRANSFERS; number++)
                OK(MPIRT_Channel_start(end->channel));
            OK(MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE));
            expect_status(end, MPIRTX_CHANNEL_IDLE, MPIRTX_OUTCOME_COMPLETE, 0);
        } else {
            OK(MPIRT_Channel_activate(end->channel));
            OK(MPIRT_Channel_activate(end->channel));
            EXPECT(MPIRT_Channel_start(end->channel), MPIRT_ERR_ACTIVE);
            /* Each wait tells of one instance, or of several that ended since the one before. */
            while (completed(end) < TRANSFERS)
                MUST(MPIRT_Channel_wait(end->channel, patience));
            OK(MPIRT_Channel_deactivate(end->channel));
        }
        expect_taken(end, 0, TRANSFERS);
        CHECK(completed(end) == TRANSFERS);
    }
    OK(MPIRT_Uncommit());
    free_ends();
}

/* spec: SIDED-ONE-01, SIDED-ONE-02, SIDED-SLACK-05, CHANNEL-START-04, CHANNEL-WAIT-02, MPIRT_Channel_start/ACTIVE */
/* spec: MPIRT_Channel_activate, MPIRT_Channel_deactivate */
/* spec: SIDED-SLACK-03, SIDED-ACTIVATE-06 */
static void test_one_sided(void)
{
    MPIRT_Qos qos;
    if (members == 1)
        return;
    qos = time_driven();
    test_one_sided_by("push", qos, 1);
    test_one_sided_by("pull", qos, 0);
    OK(MPIRT_Qos_free(&qos));
}

/* With best effort the activated end moves what its owner inserts and removes; it needs no other call. */
/* spec: CHANNEL-START-03 */
static void test_best_effort_ends_that_are_active(void)
{
    if (members == 1)
        return;
    make_ends("active", MPIRT_QOS_NULL, 1);
    MUST(MPIRT_Commit());
    for (int place = 0; place < count; place++) {
        struct end *end = &ends[place];
        OK(MPIRT_Channel_activate(end->channel));
        EXPECT(MPIRT_Channel_start(end->channel), MPIRT_ERR_ACTIVE);
        EXPECT(MPIRTX_Channel_deactivate_at(end->channel, 9), MPIRT_ERR_UNDEF_FOR_OBJECT);
        while (completed(end) < STOCK)
            OK(MPIRT_Channel_wait(end->channel, patience));
        expect_taken(end, 0, STOCK);
        OK(MPIRT_Channel_deactivate(end->channel));
    }
    OK(MPIRT_Uncommit());
    free_ends();
}

/* Both ends name the periods: no call in between, and no miss whatever the machine is at. */
/* spec: SIDED-ZERO-01, SIDED-ZERO-02, SIDED-ACTIVATE-04, SIDED-DEACTIVATE-01, SIDED-DEACTIVATE-02 */
/* spec: MPIRTX_Channel_activate_at, MPIRTX_Channel_activate_at/TIME_PAST, MPIRTX_Channel_activate_at/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Channel_deactivate_at, MPIRTX_Channel_deactivate_at/TIME_PAST, MPIRTX_Channel_deactivate_at/NOT_STARTED */
/* spec: MPIRTX_Channel_deactivate_at/UNDEF_FOR_OBJECT, SIDED-ACTIVATE-05 */
static void test_zero_sided(void)
{
    MPIRT_Qos qos = time_driven();
    MPIRTX_Status status;
    int ended;
    make_ends("zero-sided", qos, 1);
    MUST(MPIRT_Commit());
    for (int place = 0; place < count; place++) {
        EXPECT(MPIRTX_Channel_deactivate_at(ends[place].channel, FIRST), MPIRT_ERR_NOT_STARTED);
        OK(MPIRTX_Channel_activate_at(ends[place].channel, FIRST));
        OK(MPIRTX_Channel_deactivate_at(ends[place].channel, FIRST + TRANSFERS));
        expect_status(&ends[place], MPIRTX_CHANNEL_ACTIVE, MPIRTX_OUTCOME_NONE, 0);
    }
    for (int place = 0; place < count; place++) {
        struct end *end = &ends[place];
        while ((ended = MPIRT_Channel_wait(end->channel, patience)) == MPIRT_SUCCESS)
            ;
        CHECK(ended == MPIRT_ERR_NOT_STARTED);
        OK(MPIRTX_Channel_get_status(end->channel, &status));
        CHECK(status.instance == FIRST + TRANSFERS - 1);
        CHECK(completed(end) == TRANSFERS);
        expect_taken(end, 0, TRANSFERS);
        EXPECT(MPIRTX_Channel_activate_at(end->channel, FIRST + 1), MPIRT_ERR_TIME_PAST);
        OK(MPIRTX_Channel_activate_at(end->channel, UINT64_C(1) << 40));
        EXPECT(MPIRTX_Channel_deactivate_at(end->channel, FIRST + 2), MPIRT_ERR_TIME_PAST);
        OK(MPIRT_Channel_deactivate(end->channel));
    }
    OK(MPIRT_Uncommit());
    free_ends();
    OK(MPIRT_Qos_free(&qos));
}

static void *waits(void *argument)
{
    struct end *end = argument;
    EXPECT(MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_UNCOMMITTED);
    return NULL;
}

/* spec: CHANNEL-WAIT-06, MPIRT_Channel_wait/UNCOMMITTED */
static void test_uncommit_ends_a_wait(void)
{
    MPIRT_Qos qoses[] = {MPIRT_QOS_NULL, time_driven(), MPIRT_QOS_NULL};
    OK(MPIRT_Qos_channel_priority_create(NULL, 9, &qoses[2]));
    for (int kind = 0; kind < 3; kind++) {
        pthread_t thread;
        make_ends("waiting", qoses[kind], 1);
        MUST(MPIRT_Commit());
        if (rank != 0) {
            OK(MPIRT_Channel_start(ends[0].channel));
            CHECK(pthread_create(&thread, NULL, waits, &ends[0]) == 0);
            wait_a_moment(100 * ms);
        }
        OK(MPIRT_Uncommit());
        if (rank != 0)
            CHECK(pthread_join(thread, NULL) == 0);
        free_ends();
    }
    OK(MPIRT_Qos_free(&qoses[1]));
    OK(MPIRT_Qos_free(&qoses[2]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_attributes();
    test_what_commit_refuses();
    test_two_sided();
    test_what_a_receiver_started_stays_under_way();
    test_one_sided();
    test_best_effort_ends_that_are_active();
    test_zero_sided();
    test_uncommit_ends_a_wait();
    return end();
}
