/* Channels of a group, and channels from a member to itself, at a priority and by events: the library's threads move them. */
#include "collective.h"

enum { TRANSFERS = 10, QOSES = 4 };

/* Best effort, by the clock, at a priority, by events. */
static void make_qoses(MPIRT_Qos qoses[QOSES])
{
    qoses[0] = MPIRT_QOS_BEST_EFFORT;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 40 * ms, 100 * ms, &qoses[1]));
    OK(MPIRT_Qos_channel_priority_create(NULL, 20, &qoses[2]));
    OK(MPIRT_Qos_channel_event_create(NULL, "go", "done", &qoses[3]));
}

static void free_qoses(MPIRT_Qos qoses[QOSES])
{
    for (int place = 1; place < QOSES; place++)
        OK(MPIRT_Qos_free(&qoses[place]));
}

static uint64_t completed(const struct end *end)
{
    MPIRTX_Channel_metrics metrics = {0};
    OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
    return metrics.completed;
}

/* Every kind from every root, started by all members. */
/* spec: COLLECTIVE-QOS-01 */
static void test_every_kind_delivers_at_a_priority(void)
{
    struct end ends[KINDS][4];
    MPIRT_Qos qos;
    int flag;
    OK(MPIRT_Qos_channel_priority_create(NULL, 30, &qos));
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++) {
            char name[MPIRT_NAME_MAX];
            snprintf(name, sizeof name, "kind-%d-root-%d", kind, root);
            ends[kind][root] = make_end(kind, name, root, qos);
        }
    }
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int root = 0; root < members; root++) {
                struct end *end = &ends[kind][root];
                if (transfer == 0)
                    EXPECT(MPIRT_Channel_wait(end->channel, patience), MPIRT_ERR_NOT_STARTED);
                /* What comes after the start is waited for. */
                if (transfer % 2 == 0)
                    provide(end, transfer);
                OK(MPIRT_Channel_start(end->channel));
                if (transfer % 2 == 1)
                    provide(end, transfer);
                MUST(MPIRT_Channel_wait(end->channel, patience));
                OK(MPIRT_Channel_test(end->channel, &flag));
                CHECK(flag == 1 && completed(end) == (uint64_t)transfer + 1);
                check(end, transfer);
            }
        }
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++)
            free_end(&ends[kind][root]);
    }
    OK(MPIRT_Qos_free(&qos));
}

/* Activated ends move with what is inserted; their distance in time is kept by the member that sends. */
static void test_activated_ends(void)
{
    struct end ends[KINDS];
    MPIRT_Qos qos;
    OK(MPIRT_Qos_channel_priority_create(NULL, 30, &qos));
    OK(MPIRTX_Qos_set_interval(qos, 5 * ms));
    for (int kind = 0; kind < KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        if (kind == BARRIER)
            continue;
        snprintf(name, sizeof name, "active-%d", kind);
        ends[kind] = make_end(kind, name, members - 1, qos);
    }
    MUST(MPIRT_Commit());
    for (int kind = 0; kind < KINDS; kind++) {
        struct end *end = &ends[kind];
        if (kind == BARRIER)
            continue;
        OK(MPIRT_Channel_activate(end->channel));
        EXPECT(MPIRT_Channel_start(end->channel), MPIRT_ERR_ACTIVE);
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
            provide(end, transfer);
            /* One wait tells of all that have ended before it. */
            while (completed(end) <= (uint64_t)transfer)
                MUST(MPIRT_Channel_wait(end->channel, patience));
            check(end, transfer);
        }
        OK(MPIRT_Channel_deactivate(end->channel));
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++) {
        if (kind != BARRIER)
            free_end(&ends[kind]);
    }
    OK(MPIRT_Qos_free(&qos));
}

/* The last member fires; each kind makes a transfer for it, and tells once when it is complete. */
/* spec: COLLECTIVE-QOS-01 */
static void test_events_start_and_end_transfers(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        MPIRT_Trigger trigger = MPIRT_TRIGGER_NULL;
        MPIRT_Receptor done;
        MPIRT_Qos qos;
        MPIRTX_Event event;
        struct end end;
        int flag = 1;
        OK(MPIRT_Qos_channel_event_create(NULL, "go", "done", &qos));
        end = make_end(kind, "fired", 0, qos);
        if (rank == members - 1)
            OK(MPIRT_Trigger_create("go", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
        OK(MPIRT_Receptor_create("done", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &done));
        MUST(MPIRT_Commit());
        for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
            provide(&end, transfer);
            OK(MPIRT_Channel_start(end.channel));
            if (rank == members - 1) {
                if (transfer == 0) {
                    OK(MPIRT_Channel_test(end.channel, &flag));
                    CHECK(flag == 0);
                }
                /* Until all have started: a firing that comes before is for nobody. */
                while (MPIRT_Channel_wait(end.channel, ms) == MPIRT_ERR_TIMEOUT)
                    OK(MPIRT_Trigger_fire(trigger));
            }
            MUST(MPIRT_Channel_wait(end.channel, patience));
            check(&end, transfer);
            MUST(MPIRT_Receptor_wait(done, patience));
            OK(MPIRTX_Receptor_get_event(done, &event));
            CHECK(event.number == (uint64_t)transfer && event.source == 0);
        }
        CHECK(completed(&end) == TRANSFERS);
        OK(MPIRT_Uncommit());
        if (rank == members - 1)
            OK(MPIRT_Trigger_free(&trigger));
        OK(MPIRT_Receptor_free(&done));
        free_end(&end);
        OK(MPIRT_Qos_free(&qos));
    }
}

/* A channel from each member to itself: what it sends comes out of its second pair of iterators. */
/* spec: CHANNEL-SELF-01 */
static void test_a_channel_to_oneself(void)
{
    MPIRT_Qos qoses[QOSES];
    struct end ends[QOSES];
    MPIRT_Group self;
    MPIRT_Trigger trigger;
    MPIRT_Receptor done;
    make_qoses(qoses);
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &self));
    OK(MPIRT_Trigger_create("go", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, self, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create("done", self, MPIRT_CONTAINER_NULL, &done));
    for (int place = 0; place < QOSES; place++) {
        struct end *end = &ends[place];
        char name[MPIRT_NAME_MAX];
        *end = (struct end){.kind = BCAST, .root = rank, .own = rank, .size = 1, .in = iterator_of(COUNT, 0), .out = iterator_of(COUNT, STOCK),
                            .recvin = iterator_of(COUNT, STOCK), .recvout = iterator_of(COUNT, 0)};
        snprintf(name, sizeof name, "self-%d", place);
        MUST(MPIRT_Ptchannel_create(name, end->in, end->out, 0, 0, self, qoses[place], &end->channel));
        OK(MPIRT_Channel_set_recvinbufiter(end->channel, end->recvin));
        OK(MPIRT_Channel_set_recvoutbufiter(end->channel, end->recvout));
    }
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int place = 0; place < QOSES; place++) {
            provide(&ends[place], transfer);
            OK(MPIRT_Channel_start(ends[place].channel));
            if (place == 3) {
                int flag = 1;
                OK(MPIRT_Channel_test(ends[place].channel, &flag));
                CHECK(flag == 0);
                OK(MPIRT_Trigger_fire(trigger));
                MUST(MPIRT_Receptor_wait(done, patience));
            }
            OK(MPIRT_Channel_wait(ends[place].channel, patience));
            CHECK(completed(&ends[place]) == (uint64_t)transfer + 1);
            check(&ends[place], transfer);
        }
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < QOSES; place++)
        free_end(&ends[place]);
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Group_free(&self));
    free_qoses(qoses);
}

/* What no host can do is refused; members that want different priorities are told of both. */
/* spec: COLLECTIVE-QOS-01 */
static void test_admission(void)
{
    const char *detail;
    for (int kind = 0; kind < KINDS; kind++) {
        MPIRT_Qos qos;
        struct end end;
        /* A transfer costs more than a thousandth of this. */
        OK(MPIRT_Qos_channel_priority_create(NULL, 8, &qos));
        OK(MPIRTX_Qos_set_interval(qos, 1000));
        OK(MPIRTX_Qos_set_deadline(qos, 1000));
        end = make_end(kind, "hasty", 0, qos);
        /* Alone in a barrier there is nothing to send. */
        if (kind != BARRIER || members > 1) {
            EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
            OK(MPIRTX_Error_detail(&detail));
            CHECK(strstr(detail, "hasty") != NULL);
        }
        OK(MPIRTX_Qos_set_deadline(qos, 80 * ms));
        OK(MPIRTX_Qos_set_interval(qos, 100 * ms));
        MUST(MPIRT_Commit());
        OK(MPIRT_Uncommit());
        if (members > 1) {
            MPIRT_Qos other;
            OK(MPIRT_Qos_channel_priority_create(NULL, 8 + rank, &other));
            OK(MPIRT_Channel_set_qos(end.channel, other));
            EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
            OK(MPIRTX_Error_detail(&detail));
            CHECK(strstr(detail, "quality of service") != NULL && strstr(detail, "hasty") != NULL);
            OK(MPIRT_Channel_set_qos(end.channel, qos));
            OK(MPIRT_Qos_free(&other));
        }
        free_end(&end);
        OK(MPIRT_Qos_free(&qos));
    }
}

/* Whatever moves the channel, a start says that the buffer that it would send is too short, and the program has it back. */
/* spec: MPIRT_Channel_start/BUFSIZE, BUFFER-LENGTH-04 */
static void test_every_start_checks_the_length(void)
{
    MPIRT_Qos qoses[QOSES];
    make_qoses(qoses);
    for (int which = 0; which < 3; which++) {
        for (int kind = SCATTER; kind < KINDS; kind++) {
            struct end end;
            MPIRTX_Status status;
            MPIRT_Buffer buffer;
            size_t length = 0;
            if (kind == BARRIER)
                continue;
            end = make_end(kind, "checked", 0, qoses[which]);
            MUST(MPIRT_Commit());
            if (sends(&end)) {
                MUST(MPIRT_Bufiter_remove(end.out, &buffer));
                OK(MPIRTX_Buffer_set_length(buffer, 8));
                OK(MPIRT_Bufiter_insert(end.in, buffer));
                EXPECT(MPIRT_Channel_start(end.channel), MPIRT_ERR_BUFSIZE);
                OK(MPIRTX_Channel_get_status(end.channel, &status));
                CHECK(status.under_way == 0 && status.state == MPIRTX_CHANNEL_IDLE);
                for (int place = 0; place < STOCK; place++)
                    MUST(MPIRT_Bufiter_remove(end.out, &buffer));
                OK(MPIRTX_Buffer_get_length(buffer, &length));
                CHECK(length == 8);
            }
            OK(MPIRT_Uncommit());
            free_end(&end);
        }
    }
    free_qoses(qoses);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_every_kind_delivers_at_a_priority();
    test_activated_ends();
    test_events_start_and_end_transfers();
    test_a_channel_to_oneself();
    test_admission();
    test_every_start_checks_the_length();
    return end();
}
