/* Instances of collective channels that are not performed for want of a buffer: told to those that needed the data, and to
 * nobody else; the next instance is unaffected. The run counts them as misses of ours, as it must. */
#include "collective.h"

/* FIRST: 1.2 s after the epoch, when every member has named it. The instance in the middle is missed. */
enum { TRANSFERS = 3, FIRST = 20 };

static MPIRT_Qos time_driven(void)
{
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 45 * ms, 60 * ms, &qos));
    return qos;
}

/* The channels of all kinds that move data, in one commit. */
enum { MOVING = 5 };
static const int moving[MOVING] = {BCAST, SCATTER, GATHER, REDUCE, ALLTOALL};

static void activate(const struct end *end)
{
    OK(MPIRTX_Channel_activate_at(end->channel, FIRST));
    OK(MPIRTX_Channel_deactivate_at(end->channel, FIRST + TRANSFERS));
}

/* How many waits of the last `await` have told of a miss. */
static int told_of_misses;

static MPIRTX_Channel_metrics await(const struct end *end)
{
    MPIRTX_Channel_metrics metrics;
    int ended, missed = 0;
    do {
        ended = MPIRT_Channel_wait(end->channel, patience);
        missed += ended == MPIRT_ERR_MISSED;
    } while (ended == MPIRT_SUCCESS || ended == MPIRT_ERR_MISSED);
    CHECK(ended == MPIRT_ERR_NOT_STARTED);
    OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
    CHECK(metrics.late == 0 && metrics.invalid == 0 && metrics.paused == 0);
    /* What a receiver lacked is told to its senders afterwards. */
    CHECK(missed == 0 || metrics.completed < TRANSFERS);
    told_of_misses = missed;
    return metrics;
}

static void make_all(struct end *ends, const char *what, MPIRT_Qos qos)
{
    for (int place = 0; place < MOVING; place++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "%s-%d", what, place);
        ends[place] = make_end(moving[place], name, 0, qos);
    }
}

static void free_all(struct end *ends)
{
    OK(MPIRT_Uncommit());
    for (int place = 0; place < MOVING; place++)
        free_end(&ends[place]);
}

/* Who needs what a member sends. */
static int needs(const struct end *end, int from)
{
    return receives(end) && (end->kind == BCAST || end->kind == SCATTER ? from == end->root : 1);
}

static int lacking_sender(const struct end *end)
{
    return end->kind == BCAST || end->kind == SCATTER ? 0 : members - 1;
}

static int lacking_receiver(const struct end *end)
{
    return end->kind == GATHER || end->kind == REDUCE ? 0 : members - 1;
}

/* The last member that sends has one buffer for three instances. */
/* spec: COLLECTIVE-MISS-01 */
static void test_a_sender_without_a_buffer(void)
{
    MPIRT_Qos qos = time_driven();
    struct end ends[MOVING];
    make_all(ends, "no-sender-buffer", qos);
    MUST(MPIRT_Commit());
    for (int place = 0; place < MOVING; place++) {
        int lacks = lacking_sender(&ends[place]);
        for (int64_t transfer = 0; transfer < (rank == lacks ? 1 : TRANSFERS); transfer++)
            provide(&ends[place], transfer);
        activate(&ends[place]);
    }
    for (int place = 0; place < MOVING; place++) {
        struct end *end = &ends[place];
        int lacks = lacking_sender(end), is_hit = rank == lacks || needs(end, lacks);
        MPIRTX_Channel_metrics metrics = await(end);
        CHECK(metrics.completed == (is_hit ? 1 : TRANSFERS));
        /* Its waits say so too: one tells of all that are over, with the outcome of the last, which is missed. */
        CHECK((told_of_misses > 0) == is_hit);
        CHECK(metrics.no_sender_buffer == (is_hit ? TRANSFERS - 1 : 0));
        CHECK(metrics.no_receiver_buffer == 0);
        check(end, 0);
        if (receives(end)) {
            MPIRT_Buffer buffer;
            if (!is_hit) {
                check(end, 1);
                check(end, 2);
            }
            EXPECT(MPIRT_Bufiter_remove(end->recvout, &buffer), MPIRT_ERR_EMPTY);
        }
    }
    free_all(ends);
    OK(MPIRT_Qos_free(&qos));
}

/* The last member that receives has one buffer: that costs nobody else anything, and who sent to it is told. */
/* spec: COLLECTIVE-MISS-01 */
static void test_a_receiver_without_a_buffer(void)
{
    MPIRT_Qos qos = time_driven();
    struct end ends[MOVING];
    make_all(ends, "no-receiver-buffer", qos);
    for (int place = 0; place < MOVING; place++) {
        MPIRT_Buffer taken;
        for (int number = 1; number < STOCK && rank == lacking_receiver(&ends[place]); number++)
            MUST(MPIRT_Bufiter_remove(ends[place].recvin, &taken));
    }
    MUST(MPIRT_Commit());
    for (int place = 0; place < MOVING; place++) {
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++)
            provide(&ends[place], transfer);
        activate(&ends[place]);
    }
    for (int place = 0; place < MOVING; place++) {
        struct end *end = &ends[place];
        MPIRTX_Channel_metrics metrics = await(end);
        CHECK(metrics.no_sender_buffer == 0);
        if (rank == lacking_receiver(end)) {
            CHECK(metrics.completed == 1);
            CHECK(metrics.no_receiver_buffer == TRANSFERS - 1);
            check(end, 0);
            continue;
        }
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++)
            check(end, transfer);
        /* What it sent to the one without a buffer it hears of one instance later. */
        do
            OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
        while (sends(end) && metrics.no_receiver_buffer < TRANSFERS - 1 && MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms) == MPIRT_SUCCESS);
        CHECK(metrics.completed == (sends(end) ? 1 : TRANSFERS));
    }
    free_all(ends);
    OK(MPIRT_Qos_free(&qos));
}

/* spec: MPIRT_Container_wait/MISSED, MPIRT_Container_test/MISSED, COLLECTIVE-MISS-01 */
static void test_a_container_tells_of_a_miss(void)
{
    MPIRT_Qos qos = time_driven();
    struct end lacks = make_end(BCAST, "lacks", 0, qos), right = make_end(BARRIER, "right", 0, qos);
    MPIRT_Object channels[] = {MPIRT_OBJECT(lacks.channel), MPIRT_OBJECT(right.channel)};
    MPIRT_Cvector vector;
    int flag;
    OK(MPIRT_Cvector_create(NULL, 2, channels, &vector));
    MUST(MPIRT_Commit());
    OK(MPIRT_Container_start(MPIRT_CONTAINER(vector)));
    EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(vector), patience), MPIRT_ERR_MISSED);
    EXPECT(MPIRT_Container_test(MPIRT_CONTAINER(vector), &flag), MPIRT_ERR_MISSED);
    OK(MPIRT_Channel_wait(right.channel, 0));
    OK(MPIRT_Uncommit());
    free_end(&lacks);
    free_end(&right);
    OK(MPIRT_Cvector_free(&vector));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_sender_without_a_buffer();
    test_a_receiver_without_a_buffer();
    test_a_container_tells_of_a_miss();
    return end();
}
