/* What the detail of an error says where its code fits many cases: what was given, what can be, and what to do. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

static void body(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

/* spec: ERROR-DETAIL-01 */
static void test_budgets(void)
{
    const MPIRT_Timespec budgets[] = {-1, 0, 2 * ms};
    const char *words[] = {"a budget of -1ns", "a budget of 0ns", "a budget of 2ms"};
    MPIRTX_Task task;
    MPIRT_Qos qos, none;
    OK(MPIRT_Qos_channel_time_create(NULL, ms, 2 * ms, 10 * ms, &qos));
    for (int place = 0; place < 3; place++) {
        EXPECT(MPIRTX_Task_create("of one", body, NULL, qos, budgets[place], &task), MPIRT_ERR_TIME);
        CHECK(detail_says(words[place]) && detail_says("\"of one\"") && detail_says("no more than its window of 1ms"));
    }
    /* Another error is not told with these words. */
    EXPECT(MPIRT_Qos_channel_time_create(NULL, 2 * ms, ms, 10 * ms, &none), MPIRT_ERR_TIME);
    CHECK(detail_says("MPIRT_Qos_channel_time_create: "));
    OK(MPIRT_Qos_free(&qos));
}

static void test_slack_and_base(void)
{
    MPIRT_Bufiter ends = iterator_of(1, 0);
    MPIRT_Channel channel;
    MPIRT_Buffer buffer;
    OK(MPIRT_Ptchannel_create("taut", ends, ends, rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    EXPECT(MPIRTX_Channel_set_slack(channel, 65), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("the slack of the channel \"taut\" cannot be 65; give it one from 1 to 64"));
    EXPECT(MPIRTX_Channel_set_slack(channel, -2), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("cannot be -2"));
    OK(MPIRTX_Channel_set_slack(channel, 64));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&ends));
    EXPECT(MPIRT_Buffer_create(NULL, NULL, 8, MPIRT_INT64, &buffer), MPIRT_ERR_NULL_POINTER);
    CHECK(detail_says("the base is null") && detail_says("MPIRT_SYSTEM_MEM_ALLOC"));
}

static void test_what_is_out_of_range(void)
{
    MPIRT_Buffer buffer;
    MPIRT_Bufiter mapped;
    MPIRT_Qos qos;
    EXPECT(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 0, MPIRT_BYTE, &buffer), MPIRT_ERR_BUFSIZE);
    CHECK(detail_says("0 bytes were given; give 1 to MPIRT_BUFSIZE_MAX"));
    EXPECT(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 7, MPIRT_INT32, &buffer), MPIRT_ERR_BUFSIZE);
    CHECK(detail_says("7 bytes were given") && detail_says("a multiple of the size of one element"));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 64, MPIRT_BYTE, &buffer));
    EXPECT(MPIRTX_Buffer_set_length(buffer, 65), MPIRT_ERR_BUFSIZE);
    CHECK(detail_says("65 bytes were given; give no more than the buffer has"));
    OK(MPIRT_Buffer_free(&buffer));
    EXPECT(MPIRT_Qos_channel_priority_create(NULL, 91, &qos), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("the priority 91 was given; give one from 1, the least urgent, to 90"));
    EXPECT(MPIRTX_Abort(256, "too much"), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("the code 256 was given; give one from 1 to 255"));
    EXPECT(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO_MAPPED, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &mapped), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("give a Cvector of buffers"));
}

static void test_the_group_that_is_committed(void)
{
    MPIRT_Group self;
    MPIRT_Cset set;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &self));
    MUST(MPIRTX_Commit_group(self));
    EXPECT(MPIRTX_Uncommit_group(MPIRT_GROUP_WORLD), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says(rank == 0 ? "with the group of \"0\"; give that group" : "with the group of \"1\"; give that group"));
    OK(MPIRTX_Uncommit_group(self));
    /* What is in the way of a call is the group's commit, and the group has a name. */
    OK(MPIRT_Group_set_name(self, "alone"));
    MUST(MPIRTX_Commit_group(self));
    EXPECT(MPIRT_Cset_create("late", &set), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("MPIRT_Cset_create: the object is committed"));
    CHECK(detail_says("do it before MPIRTX_Commit_group, or after MPIRTX_Uncommit_group, of the group \"alone\" of \""));
    EXPECT(MPIRT_Group_free(&self), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("MPIRT_Group_free: ") && detail_says("MPIRTX_Uncommit_group, of the group \"alone\""));
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("MPIRT_Finalize: ") && detail_says("MPIRTX_Uncommit_group"));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("MPIRT_Commit: ") && detail_says("MPIRTX_Uncommit_group"));
    OK(MPIRTX_Uncommit_group(self));
    OK(MPIRT_Group_free(&self));
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Cset_create("late", &set), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("do it before MPIRT_Commit, or after MPIRT_Uncommit"));
    OK(MPIRT_Uncommit());
}

static MPIRT_Channel channel_of(const char *name, MPIRT_Bufiter iterator)
{
    MPIRT_Channel channel;
    MUST(MPIRT_Ptchannel_create(name, iterator, iterator, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    return channel;
}

/* Whatever the data path is asked of the channel, it says that this is not committed, and these words. */
static void expect_elsewhere(MPIRT_Channel channel, const char *words)
{
    MPIRTX_Status status;
    int flag;
    EXPECT(MPIRT_Channel_start(channel), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("MPIRT_Channel_start: the channel") && detail_says(words));
    EXPECT(MPIRT_Channel_wait(channel, 0), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("MPIRT_Channel_wait: the channel") && detail_says(words));
    EXPECT(MPIRT_Channel_test(channel, &flag), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Channel_activate(channel), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Channel_deactivate(channel), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRTX_Channel_get_status(channel, &status), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("MPIRTX_Channel_get_status: the channel") && detail_says(words));
}

/* The same of an event, whose trigger and receptor are of the mode. */
static void expect_no_event(MPIRT_Trigger trigger, MPIRT_Receptor receptor, const char *words)
{
    int flag = -1;
    EXPECT(MPIRT_Trigger_fire(trigger), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("MPIRT_Trigger_fire: ") && detail_says(words));
    EXPECT(MPIRTX_Receptor_test(receptor, &flag), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("MPIRTX_Receptor_test: ") && detail_says(words) && flag == -1);
    EXPECT(MPIRT_Receptor_wait(receptor, 0), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("MPIRT_Receptor_wait: ") && detail_says(words));
}

/* spec: MODE-OPEN-04 */
static void test_channels_that_do_not_run(void)
{
    MPIRT_Bufiter first = iterator_of(1, 0), second;
    MPIRT_Channel early = channel_of("early", first), late, stale, never;
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Timespec at;
    MPIRTX_Mode mode;
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("other", &mode));
    second = iterator_of(1, 0);
    late = channel_of("late", second);
    stale = channel_of("stale", second);
    OK(MPIRT_Trigger_create("later", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create("later", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    expect_elsewhere(late, "is of the mode \"other\", which is open; commit that with MPIRTX_Mode_commit, and switch to it");
    expect_no_event(trigger, receptor, "is of the mode \"other\", which is open; commit that with MPIRTX_Mode_commit, and switch to it");
    never = stale;
    OK(MPIRT_Channel_free(&stale));
    EXPECT(MPIRT_Channel_start(never), MPIRT_ERR_STALE_OBJECT);
    never.bits += 1000;
    EXPECT(MPIRT_Channel_start(never), MPIRT_ERR_INV_OBJECT);
    MUST(MPIRTX_Mode_commit(mode));
    expect_elsewhere(late, "is of the mode \"other\", which waits for its switch; switch to it with MPIRTX_Mode_switch");
    expect_no_event(trigger, receptor, "is of the mode \"other\", which waits for its switch; switch to it with MPIRTX_Mode_switch");
    OK(MPIRT_Channel_start(early));
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    expect_elsewhere(early, "is not of the mode \"other\", which runs; a mode goes on with what MPIRTX_Mode_keep names");
    OK(MPIRT_Channel_start(late));
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Receptor_wait(receptor, INT64_C(10000000000)));
    OK(MPIRT_Uncommit());
    EXPECT(MPIRT_Channel_start(late), MPIRT_ERR_NOT_COMMITTED);
    CHECK(detail_says("call MPIRT_Commit before"));
    OK(MPIRT_Channel_free(&early));
    OK(MPIRT_Channel_free(&late));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Bufiter_free(&first));
    OK(MPIRT_Bufiter_free(&second));
    OK(MPIRTX_Mode_free(&mode));
}

/* An event that nobody fires is told with what waits for it. */
static void test_events_that_nobody_fires(void)
{
    MPIRT_Bufiter in = iterator_of(1, 0), out = iterator_of(1, 0);
    MPIRT_Receptor receptor;
    MPIRT_Channel channel;
    MPIRTX_Task task;
    MPIRT_Qos qos;
    OK(MPIRT_Qos_channel_event_create(NULL, "goo", NULL, &qos));
    OK(MPIRT_Ptchannel_create("starts", in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("event \"goo\" of group \"world\": the transfers of channel \"starts\" start with it at member \"0\""));
    OK(MPIRT_Channel_free(&channel));
    MUST(MPIRTX_Task_create(rank == 0 ? "started" : "too", body, NULL, qos, ms, &task));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("task \"started\" starts with it at member \"0\""));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Receptor_create("goo", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("member \"0\" has a receptor for it") && detail_says("free what waits for it"));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Bufiter_free(&out));
}

/* spec: MPIRTX_Mode_switch/UNCOMMITTED */
static void test_modes(void)
{
    MPIRTX_Mode mode, another;
    MPIRT_Timespec at;
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("open", &mode));
    EXPECT(MPIRTX_Mode_open("another", &another), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("the mode \"open\" is open") && detail_says("MPIRTX_Mode_free"));
    OK(MPIRTX_Mode_commit(mode));
    EXPECT(MPIRTX_Mode_open("another", &another), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(detail_says("the mode \"open\" waits for its switch; switch to it"));
    /* One ends what runs while the other waits for it to switch. */
    if (rank == 0) {
        EXPECT(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at), MPIRT_ERR_UNCOMMITTED);
        CHECK(detail_says("member \"1\""));
    }
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_budgets();
    test_slack_and_base();
    test_what_is_out_of_range();
    test_the_group_that_is_committed();
    test_events_that_nobody_fires();
    test_channels_that_do_not_run();
    test_modes();
    return end();
}
