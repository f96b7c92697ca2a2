/* Single shots: one transfer in a window at an absolute time. Member 0 sends to every other. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(30000000000);

struct end {
    int is_source;
    int64_t content;
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

/* To each of three others, four times at most. */
static struct end ends[12];
static int count;
static MPIRT_Cset all;
static MPIRT_Timespec window[2];

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* An end of a channel between two members, with a buffer in its input iterator. */
static struct end *add_end(const char *name, int source, int target, MPIRT_Qos qos)
{
    struct end *end = &ends[count++];
    MPIRT_Buffer buffer;
    end->is_source = rank == source;
    end->content = end->is_source ? 4711 : -1;
    end->in = iterator();
    end->out = iterator();
    MUST(MPIRT_Ptchannel_create(name, end->in, end->out, source, target, MPIRT_GROUP_WORLD, qos, &end->channel));
    MUST(MPIRT_Buffer_create(NULL, &end->content, sizeof end->content, MPIRT_INT64, &buffer));
    OK(MPIRT_Bufiter_insert(end->in, buffer));
    return end;
}

static void add_ends(const char *what, MPIRT_Qos qos)
{
    char name[MPIRT_NAME_MAX];
    for (int peer = 1; peer < members; peer++) {
        snprintf(name, sizeof name, "%s-%d", what, peer);
        if (rank == 0 || rank == peer)
            add_end(name, 0, peer, qos);
    }
}

static void free_ends(void)
{
    if (all.bits != 0)
        OK(MPIRT_Cset_free(&all));
    all.bits = 0;
    for (; count > 0; count--) {
        OK(MPIRT_Channel_free(&ends[count - 1].channel));
        OK(MPIRT_Bufiter_free(&ends[count - 1].in));
        OK(MPIRT_Bufiter_free(&ends[count - 1].out));
    }
}

/* An instant that every member knows. */
static MPIRT_Timespec common_instant(void)
{
    MPIRT_Timespec epoch = 0;
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    OK(MPIRT_Uncommit());
    return epoch;
}

/* Commits shots of so many kinds, all in a window that lies ahead. On a machine so busy that it has passed by then, every member is told so, and
 * all try again with more time. */
static MPIRT_Qos commit_shots(const char *const *what, int kinds)
{
    MPIRT_Timespec ahead = 800 * ms;
    MPIRT_Qos qos;
    for (;;) {
        int committed;
        MPIRT_Timespec now = common_instant();
        window[0] = now + ahead;
        window[1] = window[0] + 400 * ms;
        MUST(MPIRT_Qos_channel_time_create(NULL, window[0], window[1], 0, &qos));
        for (int kind = 0; kind < kinds; kind++)
            add_ends(what[kind], qos);
        OK(MPIRT_Cset_create(NULL, &all));
        for (int place = 0; place < count; place++)
            OK(MPIRT_Cset_insert(all, MPIRT_OBJECT(ends[place].channel)));
        committed = MPIRT_Commit();
        if (committed != MPIRT_ERR_TIME_PAST || ahead > 30000 * ms) {
            MUST(committed);
            return qos;
        }
        free_ends();
        OK(MPIRT_Qos_free(&qos));
        ahead *= 2;
    }
}

static void uncommit(MPIRT_Qos *qos)
{
    OK(MPIRT_Uncommit());
    free_ends();
    OK(MPIRT_Qos_free(qos));
}

static void expect_outcome(const struct end *end, MPIRTX_Outcome outcome)
{
    MPIRTX_Status status;
    OK(MPIRTX_Channel_get_status(end->channel, &status));
    CHECK(status.outcome == outcome && status.instance == 0 && status.under_way == 0);
    CHECK(status.state == MPIRTX_CHANNEL_IDLE);
}

/* The transfer took place at its instant, and there is no other. */
static void expect_one(struct end *end)
{
    MPIRTX_Channel_metrics metrics;
    MPIRT_Timespec now, inserted;
    MPIRT_Buffer buffer;
    uint64_t instance;
    OK(MPIRT_Get_time(&now));
    CHECK(now >= window[1]);
    expect_outcome(end, MPIRTX_OUTCOME_COMPLETE);
    MUST(MPIRT_Bufiter_remove(end->out, &buffer));
    CHECK(end->content == 4711);
    if (!end->is_source) {
        OK(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
        CHECK(instance == 0 && inserted >= window[0] && inserted <= window[1]);
    }
    EXPECT(MPIRT_Channel_start(end->channel), MPIRT_ERR_TIME_PAST);
    EXPECT(MPIRT_Channel_activate(end->channel), MPIRT_ERR_TIME_PAST);
    OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
    CHECK(metrics.completed == 1 && metrics.late + metrics.no_sender_buffer + metrics.no_receiver_buffer == 0);
}

/* spec: QOS-TIME-START-02, QOS-TIME-CREATE-01 */
/* spec: MPIRT_Channel_start/TIME_PAST, MPIRT_Channel_activate/TIME_PAST */
/* spec: MPIRT_Container_start/TIME_PAST, MPIRT_Container_activate/TIME_PAST */
static void test_started_at_both_ends(void)
{
    static const char *const names[] = {"started"};
    MPIRT_Qos qos;
    int flag = 1;
    if (members == 1)
        return;
    qos = commit_shots(names, 1);
    for (int place = 0; place < count; place++) {
        EXPECT(MPIRT_Channel_wait(ends[place].channel, 0), MPIRT_ERR_NOT_STARTED);
        OK(MPIRT_Channel_start(ends[place].channel));
        EXPECT(MPIRT_Channel_start(ends[place].channel), MPIRT_ERR_SLACK);
        EXPECT(MPIRT_Channel_activate(ends[place].channel), MPIRT_ERR_SLACK);
        OK(MPIRT_Channel_test(ends[place].channel, &flag));
        CHECK(flag == 0);
    }
    for (int place = 0; place < count; place++) {
        OK(MPIRT_Channel_wait(ends[place].channel, patience));
        expect_one(&ends[place]);
        OK(MPIRT_Channel_wait(ends[place].channel, 0));
    }
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(all)), MPIRT_ERR_TIME_PAST);
    EXPECT(MPIRT_Container_activate(MPIRT_CONTAINER(all)), MPIRT_ERR_TIME_PAST);
    uncommit(&qos);
}

/* spec: QOS-TIME-START-02 */
static void test_activated_at_both_ends(void)
{
    static const char *const names[] = {"activated"};
    MPIRT_Qos qos;
    if (members == 1)
        return;
    qos = commit_shots(names, 1);
    for (int place = 0; place < count; place++) {
        EXPECT(MPIRTX_Channel_activate_at(ends[place].channel, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
        OK(MPIRT_Channel_activate(ends[place].channel));
        EXPECT(MPIRT_Channel_start(ends[place].channel), MPIRT_ERR_ACTIVE);
        EXPECT(MPIRTX_Channel_deactivate_at(ends[place].channel, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
        /* Given up, and thought better of. */
        OK(MPIRT_Channel_deactivate(ends[place].channel));
        OK(MPIRT_Channel_activate(ends[place].channel));
    }
    for (int place = 0; place < count; place++) {
        OK(MPIRT_Channel_wait(ends[place].channel, patience));
        expect_one(&ends[place]);
        /* There is nothing more to wait for. */
        EXPECT(MPIRT_Channel_wait(ends[place].channel, patience), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Channel_deactivate(ends[place].channel), MPIRT_ERR_NOT_STARTED);
    }
    uncommit(&qos);
}

/* Who takes part alone is told that nothing took place, and waits for nothing more. */
static void test_at_one_end_only(void)
{
    static const char *const names[] = {"activates", "is-activated", "starts", "is-started"};
    enum { KINDS = sizeof names / sizeof names[0] };
    MPIRT_Qos qos;
    if (members == 1)
        return;
    qos = commit_shots(names, KINDS);
    for (int place = 0; place < count; place++) {
        int kind = place / (count / KINDS), by_source = kind % 2, by_start = kind / 2;
        if (ends[place].is_source == by_source)
            OK(by_start ? MPIRT_Channel_start(ends[place].channel) : MPIRT_Channel_activate(ends[place].channel));
    }
    for (int place = 0; place < count; place++) {
        int kind = place / (count / KINDS), by_source = kind % 2, by_start = kind / 2, flag;
        MPIRT_Buffer buffer;
        if (ends[place].is_source != by_source)
            continue;
        EXPECT(MPIRT_Channel_wait(ends[place].channel, patience), MPIRT_ERR_MISSED);
        /* What was started is told of as often as anybody asks, and what was activated once. */
        EXPECT(MPIRT_Channel_test(ends[place].channel, &flag), by_start ? MPIRT_ERR_MISSED : MPIRT_ERR_NOT_STARTED);
        expect_outcome(&ends[place], MPIRTX_OUTCOME_PAUSED);
        EXPECT(MPIRT_Bufiter_remove(ends[place].out, &buffer), MPIRT_ERR_EMPTY);
        OK(MPIRT_Bufiter_remove(ends[place].in, &buffer));
    }
    uncommit(&qos);
}

/* A shot has its place in the table of what is periodic, and costs it nothing. */
static void test_beside_what_is_periodic(void)
{
    enum { TRANSFERS = 5 };
    MPIRT_Qos qos, periodic;
    struct end *beside;
    if (members == 1)
        return;
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 35 * ms, 40 * ms, &periodic));
    for (MPIRT_Timespec ahead = 800 * ms;; ahead *= 2) {
        int committed;
        window[0] = common_instant() + ahead;
        window[1] = window[0] + 30 * ms;
        MUST(MPIRT_Qos_channel_time_create(NULL, window[0], window[1], 0, &qos));
        add_ends("beside", qos);
        beside = rank < 2 ? add_end("periodic", 0, 1, periodic) : NULL;
        committed = MPIRT_Commit();
        if (committed != MPIRT_ERR_TIME_PAST || ahead > 30000 * ms) {
            MUST(committed);
            break;
        }
        free_ends();
        OK(MPIRT_Qos_free(&qos));
    }
    for (int place = 0; place < count; place++)
        OK(MPIRT_Channel_start(ends[place].channel));
    for (int place = 0; place < count; place++) {
        int waited = MPIRT_Channel_wait(ends[place].channel, patience);
        /* A window of 30 ms may be missed on a busy machine; then it is said. */
        CHECK(waited == MPIRT_SUCCESS || waited == MPIRT_ERR_MISSED);
        if (waited == MPIRT_SUCCESS && &ends[place] != beside)
            expect_one(&ends[place]);
    }
    if (beside != NULL) {
        for (int number = 1; number < TRANSFERS; number++) {
            MPIRT_Buffer buffer;
            int waited;
            if (MPIRT_Bufiter_remove(beside->out, &buffer) == MPIRT_SUCCESS)
                OK(MPIRT_Bufiter_insert(beside->in, buffer));
            OK(MPIRT_Channel_start(beside->channel));
            waited = MPIRT_Channel_wait(beside->channel, patience);
            CHECK(waited == MPIRT_SUCCESS || waited == MPIRT_ERR_MISSED);
        }
    }
    uncommit(&qos);
    OK(MPIRT_Qos_free(&periodic));
}

/* spec: QOS-TIME-START-03, MPIRT_Commit/TIME_PAST */
/* spec: SETUP-COMMIT-03 */
static void test_what_lies_in_the_past_is_refused_to_everybody(void)
{
    MPIRT_Qos qos;
    if (members == 1)
        return;
    MUST(MPIRT_Qos_channel_time_create(NULL, 3 * ms, 7 * ms, 0, &qos));
    add_ends("past", qos);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_TIME_PAST);
    CHECK(detail_says("past-") && detail_says("from 3ms to 7ms"));
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    /* Nothing has changed: the same channels are committed with another QoS. */
    for (int place = 0; place < count; place++)
        OK(MPIRT_Channel_set_qos(ends[place].channel, MPIRT_QOS_NULL));
    MUST(MPIRT_Commit());
    for (int place = 0; place < count; place++)
        OK(MPIRT_Channel_start(ends[place].channel));
    for (int place = 0; place < count; place++)
        OK(MPIRT_Channel_wait(ends[place].channel, patience));
    uncommit(&qos);
}

static void serves(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

/* Where a single shot has no meaning. */
static void test_what_a_shot_cannot_be_used_for(void)
{
    MPIRT_Timespec now = common_instant();
    MPIRT_Qos qos, periodic;
    MPIRTX_Task task;
    MPIRTX_Mode mode;
    MPIRT_Bufiter in, out;
    struct end *end;
    MUST(MPIRT_Qos_channel_time_create(NULL, now + 60000 * ms, now + 60100 * ms, 0, &qos));
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &periodic));
    EXPECT(MPIRTX_Task_create("once", serves, NULL, qos, ms, &task), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Qos_set_phase(qos, 0), MPIRT_ERR_TIME);
    /* A channel from a member to itself is moved in steps at several instants. */
    end = add_end("self", rank, rank, qos);
    in = iterator();
    out = iterator();
    OK(MPIRT_Channel_set_recvinbufiter(end->channel, in));
    OK(MPIRT_Channel_set_recvoutbufiter(end->channel, out));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("single shot") && detail_says("\"self\""));
    free_ends();
    if (members > 1) {
        if (rank < 2) {
            char name[MPIRT_NAME_MAX];
            snprintf(name, sizeof name, "serves-%d", rank);
            end = add_end("bound", 0, 1, qos);
            MUST(MPIRTX_Task_create(name, serves, NULL, periodic, ms, &task));
            OK(MPIRTX_Task_bind(task, end->channel));
        }
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("single shot") && detail_says("bound to a task"));
        if (rank < 2) {
            OK(MPIRTX_Task_free(&task));
            free_ends();
        }
        /* A mode begins with a round of what runs. */
        MUST(MPIRT_Commit());
        MUST(MPIRTX_Mode_open("with-a-shot", &mode));
        add_ends("in-a-mode", qos);
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ADMISSION);
        CHECK(detail_says("single shot"));
        OK(MPIRTX_Mode_free(&mode));
        OK(MPIRT_Uncommit());
        free_ends();
    }
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Bufiter_free(&out));
    OK(MPIRT_Qos_free(&periodic));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_started_at_both_ends();
    test_activated_at_both_ends();
    test_at_one_end_only();
    test_beside_what_is_periodic();
    test_what_lies_in_the_past_is_refused_to_everybody();
    test_what_a_shot_cannot_be_used_for();
    return end();
}
