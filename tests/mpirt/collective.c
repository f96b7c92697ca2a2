/* Collective channels with best effort: what each kind delivers, in groups of every size, and how their ends are used. */
#include "collective.h"

#include <pthread.h>

enum { TRANSFERS = 20 };

/* Every kind, from every root, in the world. */
/* spec: COLLECTIVE-CREATE-01, COLLECTIVE-CREATE-03, COLLECTIVE-BCAST-01, COLLECTIVE-SCATTER-01, COLLECTIVE-GATHER-01 */
/* spec: COLLECTIVE-REDUCE-01, COLLECTIVE-ALLTOALL-01, COLLECTIVE-ALLTOALL-02, COLLECTIVE-ONE-01, COLLECTIVE-START-01 */
/* spec: COLLECTIVE-CREATE-02, COLLECTIVE-QOS-01, MPIRT_Bcast_channel_create, MPIRT_Scatter_channel_create, MPIRT_Gather_channel_create */
/* spec: MPIRT_Reduce_channel_create, MPIRT_Barrier_channel_create, MPIRT_Alltoall_channel_create */
static void test_every_kind_delivers(void)
{
    struct end ends[KINDS][4];
    int flag;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++) {
            char name[MPIRT_NAME_MAX];
            snprintf(name, sizeof name, "kind-%d-root-%d", kind, root);
            ends[kind][root] = make_end(kind, name, root, MPIRT_QOS_NULL);
        }
    }
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int root = 0; root < members; root++) {
                struct end *end = &ends[kind][root];
                if (transfer == 0)
                    EXPECT(MPIRT_Channel_wait(end->channel, patience), MPIRT_ERR_NOT_STARTED);
                provide(end, transfer);
                OK(MPIRT_Channel_start(end->channel));
                MUST(MPIRT_Channel_wait(end->channel, patience));
                OK(MPIRT_Channel_test(end->channel, &flag));
                CHECK(flag == 1);
                check(end, transfer);
            }
        }
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++)
            free_end(&ends[kind][root]);
    }
}

/* Groups whose ranks are not those of the world: all members backwards, and those of even rank. */
/* spec: COLLECTIVE-SCATTER-01, COLLECTIVE-GATHER-01, COLLECTIVE-ALLTOALL-01, COLLECTIVE-ALLTOALL-02 */
static void test_groups(void)
{
    int ranks[4], count = 0;
    MPIRT_Group backwards, even;
    for (int place = 0; place < members; place++)
        ranks[place] = members - 1 - place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, members, ranks, "backwards", &backwards));
    for (int place = 0; place < members; place += 2)
        ranks[count++] = place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, count, ranks, NULL, &even));
    for (int kind = 0; kind < KINDS; kind++) {
        struct end all = make_end_in(kind, "grouped", 0, backwards, MPIRT_QOS_NULL), some;
        if (rank % 2 == 0)
            some = make_end_in(kind, "grouped", count - 1, even, MPIRT_QOS_NULL);
        MUST(MPIRT_Commit());
        for (int64_t transfer = 0; transfer < 3; transfer++) {
            provide(&all, transfer);
            OK(MPIRT_Channel_start(all.channel));
            if (rank % 2 == 0) {
                provide(&some, transfer);
                OK(MPIRT_Channel_start(some.channel));
                MUST(MPIRT_Channel_wait(some.channel, patience));
                check(&some, transfer);
            }
            MUST(MPIRT_Channel_wait(all.channel, patience));
            check(&all, transfer);
        }
        OK(MPIRT_Uncommit());
        free_end(&all);
        if (rank % 2 == 0)
            free_end(&some);
    }
    OK(MPIRT_Group_free(&backwards));
    OK(MPIRT_Group_free(&even));
}

/* The last member holds the others up: none is through before it has started, and all are afterwards. */
/* spec: COLLECTIVE-BARRIER-01 */
static void test_nobody_passes_a_barrier_alone(void)
{
    struct end there = make_end(BARRIER, "barrier", 0, MPIRT_QOS_NULL), late = make_end(BCAST, "late", members - 1, MPIRT_QOS_NULL);
    int flag = 1;
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        if (rank < members - 1) {
            OK(MPIRT_Channel_start(there.channel));
            EXPECT(MPIRT_Channel_start(there.channel), MPIRT_ERR_SLACK);
            EXPECT(MPIRT_Channel_activate(there.channel), MPIRT_ERR_SLACK);
            OK(MPIRT_Channel_test(there.channel, &flag));
            CHECK(flag == 0);
            EXPECT(MPIRT_Channel_wait(there.channel, 0), MPIRT_ERR_TIMEOUT);
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
        OK(MPIRT_Channel_test(there.channel, &flag));
        CHECK(flag == 1);
    }
    OK(MPIRT_Uncommit());
    free_end(&there);
    free_end(&late);
}

/* The last member has all that it needs, and does not start: nobody gets anything from it, and it gets nothing. */
/* spec: COLLECTIVE-START-01 */
static void test_nothing_moves_without_a_start(void)
{
    struct end ends[KINDS], late = make_end(BCAST, "late", members - 1, MPIRT_QOS_NULL);
    MPIRT_Buffer buffer;
    for (int kind = 0; kind < KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "unstarted-%d", kind);
        ends[kind] = make_end(kind, name, kind == BCAST || kind == SCATTER ? members - 1 : 0, MPIRT_QOS_NULL);
    }
    MUST(MPIRT_Commit());
    for (int kind = 0; kind < KINDS; kind++) {
        struct end *end = &ends[kind];
        provide(end, 0);
        if (rank < members - 1) {
            OK(MPIRT_Channel_start(end->channel));
            if (receives(end) || kind == BARRIER)
                EXPECT(MPIRT_Channel_wait(end->channel, 20 * ms), MPIRT_ERR_TIMEOUT);
            /* The last one goes on when all have taken this, and not before. */
            OK(MPIRT_Channel_start(late.channel));
            MUST(MPIRT_Channel_wait(late.channel, patience));
        } else {
            provide(&late, kind);
            OK(MPIRT_Channel_start(late.channel));
            MUST(MPIRT_Channel_wait(late.channel, patience));
            if (receives(end))
                EXPECT(MPIRT_Bufiter_remove(end->recvout, &buffer), MPIRT_ERR_EMPTY);
            OK(MPIRT_Channel_start(end->channel));
        }
        check(&late, kind);
        MUST(MPIRT_Channel_wait(end->channel, patience));
        check(end, 0);
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++)
        free_end(&ends[kind]);
    free_end(&late);
}

/* Several transfers under way, and ends that are activated and move with whatever their owner inserts. */
static void test_slack_and_activation(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct end ends[2];
        for (int is_active = 0; is_active < 2; is_active++) {
            ends[is_active] = make_end(kind, is_active ? "active" : "slack", 0, MPIRT_QOS_NULL);
            OK(MPIRTX_Channel_set_slack(ends[is_active].channel, STOCK));
        }
        MUST(MPIRT_Commit());
        for (int64_t transfer = 0; transfer < STOCK; transfer++)
            provide(&ends[0], transfer);
        for (int64_t transfer = 0; transfer < STOCK; transfer++)
            OK(MPIRT_Channel_start(ends[0].channel));
        MUST(MPIRT_Channel_wait(ends[0].channel, patience));
        for (int64_t transfer = 0; transfer < STOCK; transfer++)
            check(&ends[0], transfer);
        /* An active barrier would go on for ever. */
        if (kind != BARRIER) {
            OK(MPIRT_Channel_activate(ends[1].channel));
            EXPECT(MPIRT_Channel_start(ends[1].channel), MPIRT_ERR_ACTIVE);
            for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
                MPIRTX_Channel_metrics metrics;
                provide(&ends[1], transfer);
                OK(MPIRTX_Channel_get_metrics(ends[1].channel, &metrics));
                /* One wait may tell of several that ended since the one before. */
                while (metrics.completed <= (uint64_t)transfer) {
                    MUST(MPIRT_Channel_wait(ends[1].channel, patience));
                    OK(MPIRTX_Channel_get_metrics(ends[1].channel, &metrics));
                }
                check(&ends[1], transfer);
            }
            OK(MPIRT_Channel_deactivate(ends[1].channel));
        }
        OK(MPIRT_Uncommit());
        free_end(&ends[0]);
        free_end(&ends[1]);
    }
}

/* A broadcast carries as much as its buffer holds; what is cut, joined or computed is full, or is told as an error. */
/* A trigger of the kind error tells of each such transfer, once, and of nothing else. */
/* spec: MPIRT_Channel_start/BUFSIZE, MPIRT_Container_start/BUFSIZE, BUFFER-LENGTH-04, EVENT-TRIGGER-ERROR-01 */
static void test_lengths(void)
{
    struct end one = make_end(BCAST, "shorter", 0, MPIRT_QOS_NULL);
    MPIRT_Group self;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &self));
    for (int kind = 0; kind < KINDS; kind++) {
        struct end end = make_end(kind, "full", 0, MPIRT_QOS_NULL);
        int is_fixed = kind != BCAST && kind != BARRIER, odd = is_fixed && sends(&end) && (rank == members - 1 || rank == 0);
        MPIRT_Object channels[1] = {MPIRT_OBJECT(end.channel)};
        MPIRTX_Status status;
        MPIRT_Cvector vector;
        MPIRT_Buffer buffer;
        MPIRT_Trigger failed;
        MPIRT_Receptor told;
        int code, flag = 1;
        OK(MPIRT_Cvector_create(NULL, 1, channels, &vector));
        OK(MPIRT_Trigger_create("failed", MPIRT_EVENT_ERROR, MPIRT_OBJECT(end.channel), self, MPIRT_QOS_NULL, &failed));
        OK(MPIRT_Receptor_create("failed", self, MPIRT_CONTAINER_NULL, &told));
        MUST(MPIRT_Commit());
        for (int by_container = 0; by_container < 2 && odd; by_container++) {
            MUST(MPIRT_Bufiter_remove(end.out, &buffer));
            OK(MPIRTX_Buffer_set_length(buffer, 8));
            OK(MPIRT_Bufiter_insert(end.in, buffer));
            EXPECT(by_container ? MPIRT_Container_start(MPIRT_CONTAINER(vector)) : MPIRT_Channel_start(end.channel), MPIRT_ERR_BUFSIZE);
            OK(MPIRTX_Channel_get_status(end.channel, &status));
            CHECK(status.under_way == 0 && status.state == MPIRTX_CHANNEL_IDLE);
        }
        /* One that comes later costs the transfer for all that need it, and for nobody the next one. */
        OK(MPIRT_Channel_start(end.channel));
        if (odd) {
            MUST(MPIRT_Bufiter_remove(end.out, &buffer));
            OK(MPIRTX_Buffer_set_length(buffer, 8));
            OK(MPIRT_Bufiter_insert(end.in, buffer));
        } else {
            provide(&end, 0);
        }
        code = MPIRT_Channel_wait(end.channel, patience);
        if (odd || (receives(&end) && is_fixed)) {
            MPIRTX_Channel_metrics metrics;
            CHECK(code == MPIRT_ERR_MISSED);
            OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
            CHECK(metrics.invalid == 1 && metrics.completed == 0);
            OK(MPIRT_Receptor_wait(told, patience));
            if (receives(&end))
                EXPECT(MPIRT_Bufiter_remove(end.recvout, &buffer), MPIRT_ERR_EMPTY);
        } else {
            CHECK(code == MPIRT_SUCCESS);
            check(&end, 0);
        }
        for (int64_t transfer = 1; transfer < 3; transfer++) {
            provide(&end, transfer);
            OK(MPIRT_Channel_start(end.channel));
            MUST(MPIRT_Channel_wait(end.channel, patience));
            check(&end, transfer);
        }
        for (size_t length = 0; length <= COUNT * sizeof(int64_t); length++) {
            size_t found;
            if (rank == 0) {
                MUST(MPIRT_Bufiter_remove(one.out, &buffer));
                OK(MPIRTX_Buffer_set_length(buffer, length));
                OK(MPIRT_Bufiter_insert(one.in, buffer));
            }
            OK(MPIRT_Channel_start(one.channel));
            MUST(MPIRT_Channel_wait(one.channel, patience));
            MUST(MPIRT_Bufiter_remove(one.recvout, &buffer));
            OK(MPIRTX_Buffer_get_length(buffer, &found));
            CHECK(found == length);
            OK(MPIRT_Bufiter_insert(one.recvin, buffer));
        }
        OK(MPIRTX_Receptor_test(told, &flag));
        CHECK(flag == 0);
        OK(MPIRT_Uncommit());
        OK(MPIRT_Trigger_free(&failed));
        OK(MPIRT_Receptor_free(&told));
        free_end(&end);
        OK(MPIRT_Cvector_free(&vector));
        /* Uncommit has emptied its iterators. */
        free_end(&one);
        one = make_end(BCAST, "shorter", 0, MPIRT_QOS_NULL);
    }
    free_end(&one);
    OK(MPIRT_Group_free(&self));
}

/* All kinds at once, started, waited for and tested as one container. */
static void test_containers(void)
{
    struct end ends[KINDS];
    MPIRT_Object channels[KINDS];
    MPIRT_Cvector vector;
    int flag;
    for (int kind = 0; kind < KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        /* Names at the limit: those of the channels that carry them are cut, and stay apart. */
        memset(name, 'n', sizeof name);
        name[sizeof name - 1] = 0;
        name[sizeof name - 2] = (char)('a' + kind);
        ends[kind] = make_end(kind, name, members - 1, MPIRT_QOS_NULL);
        channels[kind] = MPIRT_OBJECT(ends[kind].channel);
    }
    OK(MPIRT_Cvector_create(NULL, KINDS, channels, &vector));
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int kind = 0; kind < KINDS; kind++)
            provide(&ends[kind], transfer);
        OK(MPIRT_Container_start(MPIRT_CONTAINER(vector)));
        MUST(MPIRT_Container_wait(MPIRT_CONTAINER(vector), patience));
        OK(MPIRT_Container_test(MPIRT_CONTAINER(vector), &flag));
        CHECK(flag == 1);
        for (int kind = 0; kind < KINDS; kind++)
            check(&ends[kind], transfer);
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++)
        free_end(&ends[kind]);
    OK(MPIRT_Cvector_free(&vector));
}

static int64_t combined(MPIRT_Op operation, int64_t one, int64_t other)
{
    switch (operation) {
    case MPIRT_OP_SUM: return one + other;
    case MPIRT_OP_PROD: return one * other;
    case MPIRT_OP_MIN: return one < other ? one : other;
    case MPIRT_OP_MAX: return one > other ? one : other;
    case MPIRT_OP_LAND: return one && other;
    case MPIRT_OP_LOR: return one || other;
    case MPIRT_OP_LXOR: return !one != !other;
    case MPIRT_OP_BAND: return one & other;
    case MPIRT_OP_BOR: return one | other;
    default: return one ^ other;
    }
}

/* Each does what its name in the header says. */
/* spec: COLLECTIVE-REDUCE-02 */
static void test_each_operation(void)
{
    enum { OPERATIONS = 10 };
    static const MPIRT_Op operations[OPERATIONS] = {MPIRT_OP_SUM, MPIRT_OP_PROD, MPIRT_OP_MIN, MPIRT_OP_MAX, MPIRT_OP_LAND,
                                                    MPIRT_OP_LOR, MPIRT_OP_LXOR, MPIRT_OP_BAND, MPIRT_OP_BOR, MPIRT_OP_BXOR};
    /* What the members have in each place: no two operations give the same in all of them. */
    static const int64_t values[COUNT][4] = {{6, 3, 5, 9}, {12, 10, 7, 11}, {0, 5, 0, 5}};
    struct end ends[OPERATIONS];
    MPIRT_Buffer buffer;
    void *base;
    for (int place = 0; place < OPERATIONS; place++) {
        struct end *end = &ends[place];
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "operation-%d", place);
        *end = (struct end){.kind = REDUCE, .root = members - 1, .own = rank, .size = members, .group = MPIRT_GROUP_WORLD,
                            .in = iterator_of(COUNT, 0), .out = iterator_of(COUNT, 1)};
        if (receives(end)) {
            end->recvin = iterator_of(COUNT, 1);
            end->recvout = iterator_of(COUNT, 0);
        }
        MUST(MPIRT_Reduce_channel_create(name, end->in, end->out, end->recvin, end->recvout, operations[place], end->root, end->group,
                                         MPIRT_QOS_NULL, &end->channel));
    }
    MUST(MPIRT_Commit());
    for (int number = 0; number < OPERATIONS; number++) {
        struct end *end = &ends[number];
        MUST(MPIRT_Bufiter_remove(end->out, &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        for (int place = 0; place < COUNT; place++)
            ((int64_t *)base)[place] = values[place][rank];
        OK(MPIRT_Bufiter_insert(end->in, buffer));
        OK(MPIRT_Channel_start(end->channel));
        MUST(MPIRT_Channel_wait(end->channel, patience));
        if (!receives(end))
            continue;
        MUST(MPIRT_Bufiter_remove(end->recvout, &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        for (int place = 0; place < COUNT; place++) {
            int64_t result = values[place][0];
            for (int from = 1; from < members; from++)
                result = combined(operations[number], result, values[place][from]);
            CHECK(((int64_t *)base)[place] == result);
        }
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < OPERATIONS; place++)
        free_end(&ends[place]);
}

/* Sums of numbers of very different size depend on their order, which is that of rank in the group: here the last of the world is first. */
/* spec: COLLECTIVE-REDUCE-03 */
static void test_operands_are_combined_by_rank(void)
{
    MPIRT_Bufiter iterators[4];
    MPIRT_Buffer buffers[2];
    MPIRT_Channel channel;
    MPIRT_Group backwards;
    int ranks[4], own = members - 1 - rank, is_root = own == members - 1;
    MPIRT_Bufiter none = MPIRT_BUFITER_NULL;
    for (int place = 0; place < members; place++)
        ranks[place] = members - 1 - place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, members, ranks, "backwards", &backwards));
    for (int place = 0; place < 4; place++)
        OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(double), MPIRT_DOUBLE, MPIRT_CONTAINER_NULL, &iterators[place]));
    for (int place = 0; place < 2; place++) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(double), MPIRT_DOUBLE, &buffers[place]));
        if (place == 0 || is_root)
            OK(MPIRT_Bufiter_insert(iterators[2 * place + (place == 0)], buffers[place]));
    }
    OK(MPIRT_Reduce_channel_create("ordered", iterators[0], iterators[1], is_root ? iterators[2] : none, is_root ? iterators[3] : none,
                                   MPIRT_OP_SUM, members - 1, backwards, MPIRT_QOS_NULL, &channel));
    MUST(MPIRT_Commit());
    for (int transfer = 0; transfer < TRANSFERS; transfer++) {
        static const double values[] = {1e16, 1.0, -1e16, 1.0};
        double sum = values[0];
        MPIRT_Buffer buffer;
        void *base;
        for (int place = 1; place < members; place++)
            sum += values[place];
        MUST(MPIRT_Bufiter_remove(iterators[1], &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        *(double *)base = values[own];
        OK(MPIRT_Bufiter_insert(iterators[0], buffer));
        OK(MPIRT_Channel_start(channel));
        MUST(MPIRT_Channel_wait(channel, patience));
        if (is_root) {
            MUST(MPIRT_Bufiter_remove(iterators[3], &buffer));
            MUST(MPIRT_Buffer_get_base(buffer, &base));
            CHECK(memcmp(base, &sum, sizeof sum) == 0);
            OK(MPIRT_Bufiter_insert(iterators[2], buffer));
        }
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Channel_free(&channel));
    for (int place = 0; place < 4; place++)
        OK(MPIRT_Bufiter_free(&iterators[place]));
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Buffer_free(&buffers[place]));
    OK(MPIRT_Group_free(&backwards));
}

/* A trigger that watches a collective channel fires for each of its transfers. */
static void test_completions_are_events(void)
{
    struct end end = make_end(ALLTOALL, "watched", 0, MPIRT_QOS_NULL);
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Group self;
    int flag = 1;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &self));
    OK(MPIRT_Trigger_create("done", MPIRT_EVENT_COMPLETION, MPIRT_OBJECT(end.channel), self, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create("done", self, MPIRT_CONTAINER_NULL, &receptor));
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < 3; transfer++) {
        OK(MPIRTX_Receptor_test(receptor, &flag));
        CHECK(flag == 0);
        provide(&end, transfer);
        OK(MPIRT_Channel_start(end.channel));
        MUST(MPIRT_Channel_wait(end.channel, patience));
        OK(MPIRT_Receptor_wait(receptor, patience));
        check(&end, transfer);
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Group_free(&self));
    free_end(&end);
}

static void *waits(void *vector)
{
    EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(*(MPIRT_Cvector *)vector), MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_UNCOMMITTED);
    return NULL;
}

/* spec: MPIRT_Container_wait/UNCOMMITTED */
static void test_uncommit_ends_a_wait(void)
{
    struct end end = make_end(BCAST, "waiting", 0, MPIRT_QOS_NULL);
    MPIRT_Object channels[] = {MPIRT_OBJECT(end.channel)};
    MPIRT_Cvector vector;
    pthread_t thread;
    OK(MPIRT_Cvector_create(NULL, 1, channels, &vector));
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_start(end.channel));
    CHECK(pthread_create(&thread, NULL, waits, &vector) == 0);
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 50 * ms));
    OK(MPIRT_Uncommit());
    CHECK(pthread_join(thread, NULL) == 0);
    free_end(&end);
    OK(MPIRT_Cvector_free(&vector));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_every_kind_delivers();
    test_groups();
    test_nobody_passes_a_barrier_alone();
    test_nothing_moves_without_a_start();
    test_slack_and_activation();
    test_lengths();
    test_containers();
    test_each_operation();
    test_operands_are_combined_by_rank();
    test_completions_are_events();
    test_uncommit_ends_a_wait();
    return end();
}
