/* Time-driven collective channels: zero-sided by the periods that all members name, started by all, and both in one group. */
#include "collective.h"

/* FIRST: 1.2 s after the epoch, when every member has named it. */
enum { TRANSFERS = 4, FIRST = 20 };

static MPIRT_Qos time_driven(void)
{
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 45 * ms, 60 * ms, &qos));
    return qos;
}

static uint64_t completed(const struct end *end)
{
    MPIRTX_Channel_metrics metrics;
    OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
    CHECK(metrics.no_sender_buffer == 0 && metrics.no_receiver_buffer == 0 && metrics.invalid == 0);
    return metrics.completed;
}

/* No call per transfer: the passing of time moves the data. */
/* spec: COLLECTIVE-QOS-01 */
static void test_zero_sided(void)
{
    MPIRT_Qos qos = time_driven();
    struct end ends[KINDS];
    int ended;
    for (int kind = 0; kind < KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "zero-%d", kind);
        ends[kind] = make_end(kind, name, kind % members, qos);
    }
    MUST(MPIRT_Commit());
    for (int kind = 0; kind < KINDS; kind++) {
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++)
            provide(&ends[kind], transfer);
        OK(MPIRTX_Channel_activate_at(ends[kind].channel, FIRST));
        OK(MPIRTX_Channel_deactivate_at(ends[kind].channel, FIRST + TRANSFERS));
    }
    for (int kind = 0; kind < KINDS; kind++) {
        while ((ended = MPIRT_Channel_wait(ends[kind].channel, patience)) == MPIRT_SUCCESS)
            ;
        CHECK(ended == MPIRT_ERR_NOT_STARTED);
        CHECK(completed(&ends[kind]) == TRANSFERS);
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++)
            check(&ends[kind], transfer);
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++)
        free_end(&ends[kind]);
    OK(MPIRT_Qos_free(&qos));
}

/* Members start when they come to it; a transfer takes place once all have. */
/* spec: COLLECTIVE-START-01, COLLECTIVE-ONE-01, COLLECTIVE-BARRIER-01 */
static void test_two_sided(void)
{
    MPIRT_Qos qos = time_driven();
    struct end ends[KINDS];
    for (int kind = 0; kind < KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "two-%d", kind);
        ends[kind] = make_end(kind, name, (kind + 1) % members, qos);
    }
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int kind = 0; kind < KINDS; kind++) {
            provide(&ends[kind], transfer);
            OK(MPIRT_Channel_start(ends[kind].channel));
            MUST(MPIRT_Channel_wait(ends[kind].channel, patience));
            CHECK(completed(&ends[kind]) == (uint64_t)transfer + 1);
            check(&ends[kind], transfer);
        }
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++)
        free_end(&ends[kind]);
    OK(MPIRT_Qos_free(&qos));
}

/* The last member holds the others up for more than two periods: none is through before it has started. */
/* spec: COLLECTIVE-BARRIER-01 */
static void test_nobody_passes_a_barrier_alone(void)
{
    MPIRT_Qos qos = time_driven();
    struct end there = make_end(BARRIER, "barrier", 0, qos), late = make_end(BCAST, "late", members - 1, MPIRT_QOS_NULL);
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < 2; transfer++) {
        if (rank < members - 1) {
            OK(MPIRT_Channel_start(there.channel));
            EXPECT(MPIRT_Channel_wait(there.channel, 150 * ms), MPIRT_ERR_TIMEOUT);
            /* The last one starts when all have taken this, and not before. */
            OK(MPIRT_Channel_start(late.channel));
            MUST(MPIRT_Channel_wait(late.channel, patience));
        } else {
            provide(&late, transfer);
            OK(MPIRT_Channel_start(late.channel));
            MUST(MPIRT_Channel_wait(late.channel, patience));
            OK(MPIRT_Channel_start(there.channel));
        }
        check(&late, transfer);
        MUST(MPIRT_Channel_wait(there.channel, patience));
    }
    OK(MPIRT_Uncommit());
    free_end(&there);
    free_end(&late);
    OK(MPIRT_Qos_free(&qos));
}

/* The last member starts, the others are activated: each start is one transfer for all. */
static void test_one_sided(void)
{
    MPIRT_Qos qos = time_driven();
    struct end ends[KINDS];
    int starts = rank == members - 1;
    for (int kind = 0; kind < KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "one-%d", kind);
        ends[kind] = make_end(kind, name, 0, qos);
    }
    MUST(MPIRT_Commit());
    for (int kind = 0; kind < KINDS; kind++) {
        struct end *end = &ends[kind];
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++)
            provide(end, transfer);
        if (!starts)
            OK(MPIRT_Channel_activate(end->channel));
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
            if (starts) {
                OK(MPIRT_Channel_start(end->channel));
                MUST(MPIRT_Channel_wait(end->channel, patience));
            } else {
                /* What is missed never completes: who waited for it would wait for ever. */
                while (completed(end) <= (uint64_t)transfer)
                    MUST(MPIRT_Channel_wait(end->channel, patience));
            }
            check(end, transfer);
        }
        CHECK(completed(end) == TRANSFERS);
        if (!starts)
            OK(MPIRT_Channel_deactivate(end->channel));
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++)
        free_end(&ends[kind]);
    OK(MPIRT_Qos_free(&qos));
}

/* A channel from each member to itself, best effort and by the clock: what it sends comes out of its second pair of iterators. */
/* spec: CHANNEL-PT-02 */
static void test_a_channel_to_oneself(void)
{
    MPIRT_Qos qos = time_driven();
    struct end ends[2];
    for (int is_timed = 0; is_timed < 2; is_timed++) {
        struct end *end = &ends[is_timed];
        char name[MPIRT_NAME_MAX];
        *end = (struct end){.kind = BCAST, .root = rank, .own = rank, .size = 1, .in = iterator_of(COUNT, 0), .out = iterator_of(COUNT, STOCK),
                            .recvin = iterator_of(COUNT, STOCK), .recvout = iterator_of(COUNT, 0)};
        snprintf(name, sizeof name, "self-%d-%d", rank, is_timed);
        MUST(MPIRT_Ptchannel_create(name, end->in, end->out, rank, rank, MPIRT_GROUP_WORLD, is_timed ? qos : MPIRT_QOS_NULL, &end->channel));
        OK(MPIRT_Channel_set_recvinbufiter(end->channel, end->recvin));
        OK(MPIRT_Channel_set_recvoutbufiter(end->channel, end->recvout));
    }
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int is_timed = 0; is_timed < 2; is_timed++) {
            provide(&ends[is_timed], transfer);
            OK(MPIRT_Channel_start(ends[is_timed].channel));
            OK(MPIRT_Channel_wait(ends[is_timed].channel, patience));
            CHECK(completed(&ends[is_timed]) == (uint64_t)transfer + 1);
            check(&ends[is_timed], transfer);
        }
    }
    OK(MPIRT_Uncommit());
    free_end(&ends[0]);
    free_end(&ends[1]);
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_zero_sided();
    test_two_sided();
    test_nobody_passes_a_barrier_alone();
    test_one_sided();
    test_a_channel_to_oneself();
    return end();
}
