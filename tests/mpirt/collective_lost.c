/* The death of one member ends the waits of all others, also of those to whom it would have sent nothing: three members, and the
 * last one kills itself while the others wait. */
#include "collective.h"

#include <pthread.h>
#include <signal.h>

static struct end ends[2 * KINDS], pair;

static void *waits(void *argument)
{
    struct end *end = argument;
    EXPECT(MPIRT_Channel_wait(end->channel, patience), MPIRT_ERR_PEER_LOST);
    return NULL;
}

/* A channel from the last member to the first. */
static void make_pair(void)
{
    if (rank == 1)
        return;
    pair = (struct end){.kind = BCAST, .root = 2, .own = rank, .size = 2, .in = iterator_of(COUNT, 1), .out = iterator_of(COUNT, 0)};
    MUST(MPIRT_Ptchannel_create("pair", pair.in, pair.out, 2, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &pair.channel));
}

/* spec: COLLECTIVE-TREE-01, CHANNEL-WAIT-08, MPIRT_Channel_start/PEER_LOST, MPIRT_Channel_wait/PEER_LOST */
/* spec: MPIRT_Channel_test/PEER_LOST, MPIRT_Channel_activate/PEER_LOST, MPIRTX_Channel_activate_at/PEER_LOST */
/* spec: MPIRT_Container_start/PEER_LOST, MPIRT_Container_wait/PEER_LOST, MPIRT_Container_test/PEER_LOST */
/* spec: MPIRT_Container_activate/PEER_LOST */
static void test_a_death_ends_every_wait(void)
{
    MPIRT_Object channels[2 * KINDS + 1];
    pthread_t threads[2 * KINDS + 1];
    int count = 0, flag;
    MPIRT_Receptor ready;
    MPIRT_Trigger trigger;
    MPIRT_Cvector vector;
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 45 * ms, 60 * ms, &qos));
    for (int kind = 0; kind < 2 * KINDS; kind++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "lost-%d", kind);
        ends[kind] = make_end(kind % KINDS, name, 0, kind < KINDS ? MPIRT_QOS_NULL : qos);
        channels[count++] = MPIRT_OBJECT(ends[kind].channel);
    }
    make_pair();
    if (rank != 1)
        channels[count++] = MPIRT_OBJECT(pair.channel);
    OK(MPIRT_Cvector_create(NULL, count, channels, &vector));
    OK(MPIRT_Trigger_create("ready", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create("ready", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &ready));
    MUST(MPIRT_Commit());
    if (rank == 2) {
        for (int number = 0; number < 2; number++)
            OK(MPIRT_Receptor_wait(ready, MPIRT_TIME_SPEC_IGNORE));
        /* Long enough that the others sleep, most of the time; whatever happens first, the answers are the same. */
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 100 * ms));
        raise(SIGKILL);
    }
    /* Nothing of what they wait for can come: the last member starts nothing, and the root of what is best effort sends nothing. */
    for (int place = 0; place < count; place++) {
        struct end *end = place < 2 * KINDS ? &ends[place] : &pair;
        MUST(MPIRT_Channel_start(end->channel));
        CHECK(pthread_create(&threads[place], NULL, waits, end) == 0);
    }
    OK(MPIRT_Trigger_fire(trigger));
    for (int place = 0; place < count; place++)
        CHECK(pthread_join(threads[place], NULL) == 0);
    for (int place = 0; place < count; place++) {
        struct end *end = place < 2 * KINDS ? &ends[place] : &pair;
        EXPECT(MPIRT_Channel_start(end->channel), MPIRT_ERR_PEER_LOST);
        EXPECT(MPIRT_Channel_test(end->channel, &flag), MPIRT_ERR_PEER_LOST);
        EXPECT(MPIRT_Channel_activate(end->channel), MPIRT_ERR_PEER_LOST);
        EXPECT(MPIRT_Channel_wait(end->channel, patience), MPIRT_ERR_PEER_LOST);
        if (place >= KINDS && place < 2 * KINDS)
            EXPECT(MPIRTX_Channel_activate_at(end->channel, UINT64_C(1) << 30), MPIRT_ERR_PEER_LOST);
    }
    EXPECT(MPIRT_Container_start(MPIRT_CONTAINER(vector)), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_wait(MPIRT_CONTAINER(vector), patience), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_test(MPIRT_CONTAINER(vector), &flag), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Container_activate(MPIRT_CONTAINER(vector)), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_death_ends_every_wait();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
