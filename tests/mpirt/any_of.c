/* Waiting for any of several channels: the one that is complete is given, whatever its place, and none is passed over for ever.
 *
 * The first member receives on a channel from each member, itself included, and says by an event who is to send. */
#define _GNU_SOURCE
#include "harness.h"

#include "asleep.h"

#include <pthread.h>

enum { ROUNDS = 3, MEMBERS_MAX = 8 };

static MPIRT_Channel channels[MEMBERS_MAX];
static MPIRT_Bufiter full, empty, ins[MEMBERS_MAX], outs[MEMBERS_MAX];
static MPIRT_Cvector all;
static MPIRT_Trigger go[MEMBERS_MAX];
static MPIRT_Receptor told;

static void name_of(char *name, const char *what, int number)
{
    snprintf(name, MPIRT_NAME_MAX, "%s-%d", what, number);
}

static void make(void)
{
    MPIRT_Object objects[MEMBERS_MAX];
    char name[MPIRT_NAME_MAX];
    full = iterator_of(1, 4);
    empty = iterator_of(1, 0);
    for (int source = 0; source < members; source++) {
        MPIRT_Bufiter in = ins[source] = iterator_of(1, 4), out = outs[source] = iterator_of(1, 0);
        name_of(name, "from", source);
        if (rank == 0 && source == 0) {
            MUST(MPIRT_Ptchannel_create(name, full, empty, 0, 0, MPIRT_GROUP_WORLD, channel_qos(), &channels[0]));
            OK(MPIRT_Channel_set_recvinbufiter(channels[0], in));
            OK(MPIRT_Channel_set_recvoutbufiter(channels[0], out));
        } else if (rank == 0) {
            MUST(MPIRT_Ptchannel_create(name, in, out, source, 0, MPIRT_GROUP_WORLD, channel_qos(), &channels[source]));
        } else if (rank == source) {
            MUST(MPIRT_Ptchannel_create(name, full, empty, source, 0, MPIRT_GROUP_WORLD, channel_qos(), &channels[source]));
        }
        if (rank == 0 && channels[source].bits != 0)
            OK(MPIRTX_Channel_set_slack(channels[source], 4));
        else if (rank == source)
            OK(MPIRTX_Channel_set_slack(channels[source], 4));
    }
    for (int source = 1; source < members; source++) {
        name_of(name, "go", source);
        if (rank == 0)
            MUST(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &go[source]));
        else if (rank == source)
            MUST(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &told));
    }
    for (int source = 0; source < members; source++)
        objects[source] = MPIRT_OBJECT(channels[source]);
    if (rank == 0)
        MUST(MPIRT_Cvector_create("all", members, objects, &all));
}

/* The member sends one message. */
static void let_send(int source)
{
    if (source == 0)
        OK(MPIRT_Channel_start(channels[0]));
    else
        OK(MPIRT_Trigger_fire(go[source]));
}

static int number_of(MPIRT_Channel channel)
{
    for (int source = 0; source < members; source++)
        if (channels[source].bits == channel.bits)
            return source;
    return -1;
}

/* The channel that was given, whose buffer goes back to it. */
static int taken_from(MPIRT_Channel channel)
{
    int source = number_of(channel);
    MPIRT_Buffer buffer;
    CHECK(source > 0);
    if (source > 0) {
        OK(MPIRT_Bufiter_remove(outs[source], &buffer));
        OK(MPIRT_Bufiter_insert(ins[source], buffer));
    }
    return source;
}

/* Nothing is complete, and what comes out says so. */
static void expect_none(void)
{
    MPIRT_Channel found = channels[0];
    MPIRTX_Outcome outcome = MPIRTX_OUTCOME_COMPLETE;
    int flag = 1;
    OK(MPIRTX_Container_test_any(MPIRT_CONTAINER(all), &flag, &found, &outcome));
    CHECK(flag == 0 && found.bits == 0 && outcome == MPIRTX_OUTCOME_NONE);
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), 0, &found, &outcome), MPIRT_ERR_TIMEOUT);
    CHECK(found.bits == 0);
}

/* spec: MPIRTX_Container_wait_any/NOT_STARTED, MPIRTX_Container_test_any/NOT_STARTED, MPIRTX_Container_wait_any/TIME */
static void test_nothing_is_started(void)
{
    MPIRT_Channel found;
    MPIRTX_Outcome outcome;
    int flag;
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE, &found, &outcome), MPIRT_ERR_NOT_STARTED);
    EXPECT(MPIRTX_Container_test_any(MPIRT_CONTAINER(all), &flag, &found, &outcome), MPIRT_ERR_NOT_STARTED);
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), -1, &found, &outcome), MPIRT_ERR_TIME);
}

/* spec: MPIRTX_Container_wait_any/UNDEF_FOR_OBJECT, MPIRTX_Container_test_any/UNDEF_FOR_OBJECT */
static void test_a_group_has_no_channels(void)
{
    MPIRT_Container world = MPIRT_CONTAINER(MPIRT_GROUP_WORLD);
    MPIRT_Channel found;
    MPIRTX_Outcome outcome;
    int flag;
    EXPECT(MPIRTX_Container_wait_any(world, 0, &found, &outcome), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Container_test_any(world, &flag, &found, &outcome), MPIRT_ERR_UNDEF_FOR_OBJECT);
}

/* Each in turn, from the last to the first: the others have nothing. */
/* spec: MPIRTX_Container_wait_any, MPIRTX_Container_wait_any/TIMEOUT, CONTAINER-ANY-01 */
static void test_the_one_that_has_a_message(void)
{
    for (int source = members - 1; source > 0; source--) {
        MPIRT_Channel found = MPIRT_CHANNEL_NULL;
        MPIRTX_Outcome outcome = MPIRTX_OUTCOME_NONE;
        expect_none();
        let_send(source);
        OK(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE, &found, &outcome));
        CHECK(taken_from(found) == source && outcome == MPIRTX_OUTCOME_COMPLETE);
    }
    expect_none();
}

static void wait_for_received(int source, uint64_t count)
{
    MPIRTX_Channel_metrics metrics;
    do
        OK(MPIRTX_Channel_get_metrics(channels[source], &metrics));
    while (metrics.completed < count && failures == 0);
}

/* Where all have some, each has its turn. */
/* spec: MPIRTX_Container_test_any, CONTAINER-ANY-02 */
static void test_each_has_its_turn(uint64_t before)
{
    int given[MEMBERS_MAX] = {0};
    for (int source = 1; source < members; source++) {
        let_send(source);
        let_send(source);
    }
    for (int source = 1; source < members; source++)
        wait_for_received(source, before + 2);
    for (int round = 1; round <= 2; round++) {
        for (int each = 1; each < members; each++) {
            MPIRT_Channel found = MPIRT_CHANNEL_NULL;
            MPIRTX_Outcome outcome = MPIRTX_OUTCOME_NONE;
            int flag = 0;
            OK(MPIRTX_Container_test_any(MPIRT_CONTAINER(all), &flag, &found, &outcome));
            CHECK(flag == 1 && outcome == MPIRTX_OUTCOME_COMPLETE);
            if (taken_from(found) < 0)
                return;
            given[number_of(found)]++;
        }
        for (int source = 1; source < members; source++)
            CHECK(given[source] == round);
    }
    expect_none();
}

/* As in MPI: of several starts each is told of once. */
/* spec: CONTAINER-ANY-03 */
static void test_a_start_counts_once(void)
{
    MPIRT_Channel found;
    MPIRTX_Outcome outcome;
    int is_given[MEMBERS_MAX] = {0}, flag;
    for (int source = 1; source < members; source++)
        OK(MPIRT_Channel_deactivate(channels[source]));
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), 0, &found, &outcome), MPIRT_ERR_NOT_STARTED);
    for (int source = 1; source < members; source++) {
        OK(MPIRT_Channel_start(channels[source]));
        let_send(source);
    }
    for (int each = 1; each < members; each++) {
        OK(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE, &found, &outcome));
        CHECK(outcome == MPIRTX_OUTCOME_COMPLETE);
        if (taken_from(found) < 0)
            return;
        CHECK(!is_given[number_of(found)]);
        is_given[number_of(found)] = 1;
        /* It is no longer started, and every other one is as it was. */
        for (int source = 1; source < members; source++) {
            int code = MPIRT_Channel_test(channels[source], &flag);
            CHECK(code == (is_given[source] ? MPIRT_ERR_NOT_STARTED : MPIRT_SUCCESS));
        }
    }
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), 0, &found, &outcome), MPIRT_ERR_NOT_STARTED);
}

/* Nothing comes. */
/* spec: CONTAINER-ANY-04 */
static void test_a_wait_sleeps(void)
{
    const MPIRT_Timespec patience = 400000000;
    MPIRT_Channel found;
    MPIRTX_Outcome outcome;
    struct cost before = cost_so_far();
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), patience, &found, &outcome), MPIRT_ERR_TIMEOUT);
    check_slept(before, patience);
}

static void *waits(void *nothing)
{
    MPIRT_Channel found;
    MPIRTX_Outcome outcome;
    (void)nothing;
    EXPECT(MPIRTX_Container_wait_any(MPIRT_CONTAINER(all), MPIRT_TIME_SPEC_IGNORE, &found, &outcome), MPIRT_ERR_UNCOMMITTED);
    return NULL;
}

/* spec: MPIRTX_Container_wait_any/UNCOMMITTED */
static void test_uncommit_ends_the_wait(void)
{
    pthread_t thread;
    OK(MPIRT_Channel_start(channels[1]));
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 50000000));
    OK(MPIRT_Uncommit());
    CHECK(pthread_join(thread, NULL) == 0);
}

static void receive(void)
{
    test_nothing_is_started();
    test_a_group_has_no_channels();
    for (int source = 1; source < members; source++)
        OK(MPIRT_Channel_activate(channels[source]));
    if (members == 1)
        return;
    test_a_wait_sleeps();
    for (int round = 0; round < ROUNDS; round++) {
        test_the_one_that_has_a_message();
        test_each_has_its_turn(3 * (uint64_t)round + 1);
    }
    test_a_start_counts_once();
}

/* As often as it is told to. */
static void send(void)
{
    for (int number = 0; number < 3 * ROUNDS + 1; number++) {
        MPIRT_Buffer buffer;
        OK(MPIRT_Receptor_wait(told, MPIRT_TIME_SPEC_IGNORE));
        OK(MPIRT_Channel_start(channels[rank]));
        OK(MPIRT_Channel_wait(channels[rank], MPIRT_TIME_SPEC_IGNORE));
        OK(MPIRT_Bufiter_remove(empty, &buffer));
        OK(MPIRT_Bufiter_insert(full, buffer));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    make();
    MUST(MPIRT_Commit());
    if (rank == 0)
        receive();
    else
        send();
    if (rank == 0 && members > 1)
        test_uncommit_ends_the_wait();
    else
        OK(MPIRT_Uncommit());
    return end();
}
