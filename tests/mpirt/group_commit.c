/* Commits of groups: side by side, without those outside, and beside what others have reserved. */
#define _GNU_SOURCE
#include "harness.h"

#include <sched.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(20000000000);
enum { STOCK = 4, TRANSFERS = 5 };

static MPIRT_Group group_of(int from, int to)
{
    int ranks[4];
    MPIRT_Group group;
    for (int member = from; member < to; member++)
        ranks[member - from] = member;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, to - from, ranks, NULL, &group));
    return group;
}

struct end {
    MPIRT_Bufiter in, out, recvin, recvout;
    MPIRT_Channel channel;
};

/* The caller's end of a broadcast from rank 0 of a group. */
static struct end make_end(const char *name, MPIRT_Group group, MPIRT_Qos qos)
{
    struct end end = {{0}, {0}, iterator_of(1, STOCK), iterator_of(1, 0), {0}};
    int own;
    OK(MPIRT_Group_rank(group, &own));
    if (own == 0) {
        end.in = iterator_of(1, 0);
        end.out = iterator_of(1, STOCK);
    }
    MUST(MPIRT_Bcast_channel_create(name, end.in, end.out, end.recvin, end.recvout, 0, group, qos, &end.channel));
    return end;
}

static void free_end(struct end *end)
{
    MPIRT_Bufiter *iterators[] = {&end->in, &end->out, &end->recvin, &end->recvout};
    OK(MPIRT_Channel_free(&end->channel));
    for (int place = 0; place < 4; place++) {
        if (iterators[place]->bits != 0)
            OK(MPIRT_Bufiter_free(iterators[place]));
    }
}

static void transfer(struct end *end, int64_t number)
{
    MPIRT_Buffer buffer;
    void *base;
    if (end->in.bits != 0) {
        MUST(MPIRT_Bufiter_remove(end->out, &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        *(int64_t *)base = number;
        OK(MPIRT_Bufiter_insert(end->in, buffer));
    }
    OK(MPIRT_Channel_start(end->channel));
    MUST(MPIRT_Channel_wait(end->channel, patience));
    MUST(MPIRT_Bufiter_remove(end->recvout, &buffer));
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    CHECK(*(int64_t *)base == number);
    OK(MPIRT_Bufiter_insert(end->recvin, buffer));
}

/* All members are here: what follows is not of the time before. */
static void meet(void)
{
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

/* spec: MPIRTX_Commit_group, MPIRTX_Uncommit_group, MPIRTX_Commit_group/NOT_MEMBER, MPIRTX_Uncommit_group/NOT_MEMBER */
/* spec: MPIRTX_Uncommit_group/ARGUMENT */
static void test_errors(void)
{
    MPIRT_Group self = group_of(rank, rank + 1), others;
    MPIRT_Cset set;
    OK(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &others));
    EXPECT(MPIRTX_Uncommit_group(self), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRTX_Commit_group(others), MPIRT_ERR_NOT_MEMBER);
    EXPECT(MPIRTX_Commit_group(MPIRT_GROUP_NULL), MPIRT_ERR_NULL_OBJECT);
    MUST(MPIRTX_Commit_group(self));
    EXPECT(MPIRTX_Commit_group(self), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cset_create("late", &set), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Uncommit_group(others), MPIRT_ERR_NOT_MEMBER);
    EXPECT(MPIRTX_Uncommit_group(MPIRT_GROUP_NULL), MPIRT_ERR_NULL_OBJECT);
    if (members > 1)
        EXPECT(MPIRTX_Uncommit_group(MPIRT_GROUP_WORLD), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Uncommit_group(self));
    EXPECT(MPIRTX_Uncommit_group(self), MPIRT_ERR_NOT_COMMITTED);
    /* Uncommit ends whatever commit there is. */
    MUST(MPIRTX_Commit_group(self));
    OK(MPIRT_Uncommit());
    OK(MPIRT_Group_free(&self));
    OK(MPIRT_Group_free(&others));
}

/* The group of all is the world, whatever the order of its ranks. */
static void test_all_members(void)
{
    int ranks[4];
    MPIRT_Group all;
    struct end end;
    for (int place = 0; place < members; place++)
        ranks[place] = members - 1 - place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, members, ranks, NULL, &all));
    end = make_end("all", all, MPIRT_QOS_NULL);
    MUST(MPIRTX_Commit_group(rank % 2 == 0 ? all : MPIRT_GROUP_WORLD));
    for (int64_t number = 0; number < TRANSFERS; number++)
        transfer(&end, number);
    OK(MPIRTX_Uncommit_group(all));
    free_end(&end);
    OK(MPIRT_Group_free(&all));
}

/* The others wait in Commit for what comes afterwards, so the group's commits take place without them. */
/* spec: SETUP-GROUP-01 */
static void test_members_outside_neither_call_nor_wait(void)
{
    int size = members > 2 ? members - 1 : 1;
    if (rank < size) {
        MPIRT_Group group = group_of(0, size);
        MPIRT_Qos qos;
        OK(MPIRT_Qos_channel_time_create(NULL, 0, 40 * ms, 100 * ms, &qos));
        for (int round = 0; round < 3; round++) {
            struct end quick = make_end("group", group, MPIRT_QOS_NULL), timed = make_end("timed", group, qos);
            MUST(MPIRTX_Commit_group(group));
            for (int64_t number = 0; number < TRANSFERS; number++) {
                transfer(&quick, number);
                transfer(&timed, -number);
            }
            OK(MPIRTX_Uncommit_group(group));
            free_end(&quick);
            free_end(&timed);
        }
        OK(MPIRT_Qos_free(&qos));
        OK(MPIRT_Group_free(&group));
    }
    meet();
}

/* A channel of the world is not for a group, though both its ends are in there. */
/* spec: SETUP-GROUP-02, MPIRTX_Commit_group/MISMATCH */
static void test_what_reaches_beyond_is_named(void)
{
    MPIRT_Group group = group_of(0, members - 1);
    struct end inside, beyond;
    if (rank < members - 1) {
        inside = make_end("inside", group, MPIRT_QOS_NULL);
        beyond = make_end("far", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL);
        EXPECT(MPIRTX_Commit_group(group), MPIRT_ERR_MISMATCH);
        CHECK(detail_says("channel \"far\" of group \"world\""));
        CHECK(detail_says("reaches beyond"));
        CHECK(!detail_says("inside"));
        free_end(&beyond);
        MPIRT_Receptor receptor;
        MPIRT_Trigger trigger;
        OK(MPIRT_Receptor_create("heard", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
        OK(MPIRT_Trigger_create("heard", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
        EXPECT(MPIRTX_Commit_group(group), MPIRT_ERR_MISMATCH);
        CHECK(detail_says("event \"heard\" of group \"world\""));
        OK(MPIRT_Receptor_free(&receptor));
        OK(MPIRT_Trigger_free(&trigger));
        MUST(MPIRTX_Commit_group(group));
        for (int64_t number = 0; number < TRANSFERS; number++)
            transfer(&inside, number);
        OK(MPIRTX_Uncommit_group(group));
        free_end(&inside);
    }
    OK(MPIRT_Group_free(&group));
    meet();
}

/* What does not fit together is told to every member of the group; so is what one has found by itself. */
/* spec: MPIRTX_Commit_group/ARGUMENT */
static void test_what_does_not_fit(void)
{
    MPIRT_Group self = group_of(rank, rank + 1);
    MPIRT_Channel channel;
    MPIRT_Bufiter ends = iterator_of(1, 0);
    OK(MPIRT_Ptchannel_create("unfit", ends, ends, 0, 0, self, MPIRT_QOS_NULL, &channel));
    EXPECT(MPIRTX_Commit_group(self), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("\"unfit\""));
    OK(MPIRT_Channel_free(&channel));
    if (members > 2 && rank < 2) {
        MPIRT_Group two = group_of(0, 2);
        if (rank == 1)
            OK(MPIRT_Ptchannel_create("one's own", ends, ends, 1, 1, two, MPIRT_QOS_NULL, &channel));
        EXPECT(MPIRTX_Commit_group(two), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("\"one's own\"") && detail_says("member \"1\" cannot commit"));
        if (rank == 1)
            OK(MPIRT_Channel_free(&channel));
        OK(MPIRTX_Commit_group(two));
        OK(MPIRTX_Uncommit_group(two));
        OK(MPIRT_Group_free(&two));
    }
    OK(MPIRT_Bufiter_free(&ends));
    OK(MPIRT_Group_free(&self));
}

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance;
    __atomic_fetch_add((uint64_t *)argument, 1, __ATOMIC_RELAXED);
}

static uint64_t count_of(uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Member 0 runs with so many tasks that every core has more than half to do, until member 1 has tried to do as much beside it. */
/* spec: SETUP-GROUP-03, MPIRTX_Commit_group/ADMISSION */
static void test_groups_share_the_host(void)
{
    static uint64_t count;
    MPIRT_Group self = group_of(rank, rank + 1);
    MPIRTX_Task tasks[CPU_SETSIZE];
    MPIRT_Timespec epoch;
    MPIRT_Qos qos;
    cpu_set_t cores;
    char name[MPIRT_NAME_MAX], file[64];
    int made = 0, answer;
    /* The members have one parent. */
    snprintf(file, sizeof file, "/tmp/mpirt-group-commit-%d", (int)getppid());
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0);
    if (rank == 0) {
        for (; made < CPU_COUNT(&cores); made++) {
            snprintf(name, sizeof name, "first-%d", made);
            MUST(MPIRTX_Task_create(name, counts, &count, qos, 11 * ms, &tasks[made]));
        }
        /* While member 1 has what it wants there is no room. */
        while ((answer = MPIRTX_Commit_group(self)) == MPIRT_ERR_ADMISSION)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
        MUST(answer);
        OK(MPIRTX_Get_epoch(&epoch));
        CHECK(epoch % (20 * ms) == 0);
        while (access(file, F_OK) != 0)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
        OK(MPIRTX_Uncommit_group(self));
        unlink(file);
        CHECK(count_of(&count) > 0);
    } else if (rank == 1) {
        FILE *told;
        MUST(MPIRTX_Task_create("second", counts, &count, qos, 11 * ms, &tasks[made++]));
        /* Until member 0 is there it is admitted. */
        while ((answer = MPIRTX_Commit_group(self)) == MPIRT_SUCCESS) {
            OK(MPIRTX_Uncommit_group(self));
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 50 * ms));
        }
        EXPECT(answer, MPIRT_ERR_ADMISSION);
        CHECK(detail_says("second"));
        CHECK(detail_says("beside commit"));
        CHECK(detail_says("of the group of 0"));
        OK(MPIRTX_Task_free(&tasks[--made]));
        /* Less than that has its place, and its own epoch. */
        MUST(MPIRTX_Task_create("third", counts, &count, qos, ms, &tasks[made++]));
        MUST(MPIRTX_Commit_group(self));
        OK(MPIRTX_Get_epoch(&epoch));
        CHECK(epoch % (20 * ms) == 0);
        for (uint64_t before = count_of(&count); count_of(&count) < before + 5;)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 20 * ms));
        OK(MPIRTX_Uncommit_group(self));
        told = fopen(file, "w");
        CHECK(told != NULL && fclose(told) == 0);
    }
    while (made > 0)
        OK(MPIRTX_Task_free(&tasks[--made]));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Group_free(&self));
    meet();
}

/* Modes are of the world's commits. */
static void test_no_modes(void)
{
    MPIRT_Group self = group_of(rank, rank + 1);
    MPIRTX_Mode mode;
    MUST(MPIRTX_Commit_group(self));
    OK(MPIRTX_Mode_open("mode", &mode));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ADMISSION);
    CHECK(detail_says("modes are for commits of all members"));
    OK(MPIRTX_Uncommit_group(self));
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRT_Group_free(&self));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_errors();
    test_all_members();
    test_members_outside_neither_call_nor_wait();
    test_what_does_not_fit();
    if (members > 1) {
        test_what_reaches_beyond_is_named();
        test_groups_share_the_host();
        test_no_modes();
    }
    return end();
}
