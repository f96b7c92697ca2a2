/* A program that nobody started as a member: it is a job of one. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(20000000000);
enum { TRANSFERS = 5 };

/* spec: SETUP-INIT-04 */
static void test_the_world_has_one_member(void)
{
    char name[MPIRT_NAME_MAX];
    CHECK(rank == 0 && members == 1);
    OK(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, 0, name));
    CHECK(strcmp(name, "0") == 0);
}

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance;
    __atomic_fetch_add((uint64_t *)argument, 1, __ATOMIC_RELAXED);
}

static void await(uint64_t *count)
{
    for (uint64_t before = __atomic_load_n(count, __ATOMIC_RELAXED); __atomic_load_n(count, __ATOMIC_RELAXED) < before + 5;)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
}

/* Channels under each quality of service, a task, and commit after commit. */
static void test_it_runs(void)
{
    static uint64_t count;
    MPIRT_Qos qoses[3] = {MPIRT_QOS_BEST_EFFORT, MPIRT_QOS_NULL, MPIRT_QOS_NULL};
    MPIRT_Bufiter in[3], out[3], recvin[3], recvout[3];
    MPIRT_Channel channels[3];
    MPIRTX_Task task;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 40 * ms, 50 * ms, &qoses[1]));
    OK(MPIRT_Qos_channel_priority_create(NULL, 10, &qoses[2]));
    MUST(MPIRTX_Task_create("task", counts, &count, qoses[1], ms, &task));
    for (int commit = 0; commit < 2; commit++) {
        for (int place = 0; place < 3; place++) {
            char name[MPIRT_NAME_MAX];
            snprintf(name, sizeof name, "self-%d", place);
            in[place] = iterator_of(1, 0), out[place] = iterator_of(1, 2), recvin[place] = iterator_of(1, 2), recvout[place] = iterator_of(1, 0);
            MUST(MPIRT_Ptchannel_create(name, in[place], out[place], 0, 0, MPIRT_GROUP_WORLD, qoses[place], &channels[place]));
            OK(MPIRT_Channel_set_recvinbufiter(channels[place], recvin[place]));
            OK(MPIRT_Channel_set_recvoutbufiter(channels[place], recvout[place]));
        }
        MUST(MPIRT_Commit());
        for (int64_t number = 0; number < TRANSFERS; number++) {
            for (int place = 0; place < 3; place++) {
                MPIRT_Buffer buffer;
                void *base;
                MUST(MPIRT_Bufiter_remove(out[place], &buffer));
                MUST(MPIRT_Buffer_get_base(buffer, &base));
                *(int64_t *)base = number;
                OK(MPIRT_Bufiter_insert(in[place], buffer));
                OK(MPIRT_Channel_start(channels[place]));
                MUST(MPIRT_Channel_wait(channels[place], patience));
                MUST(MPIRT_Bufiter_remove(recvout[place], &buffer));
                MUST(MPIRT_Buffer_get_base(buffer, &base));
                CHECK(*(int64_t *)base == number);
                OK(MPIRT_Bufiter_insert(recvin[place], buffer));
            }
        }
        await(&count);
        if (commit == 0)
            OK(MPIRT_Uncommit());
        else
            OK(MPIRTX_Uncommit_group(MPIRT_GROUP_WORLD));
        for (int place = 0; place < 3; place++)
            OK(MPIRT_Channel_free(&channels[place]));
    }
    OK(MPIRTX_Task_free(&task));
}

/* Nobody else has to agree, but the host has to have room. */
static void test_a_refusal(void)
{
    static uint64_t count;
    const char *detail;
    MPIRT_Qos qos;
    MPIRTX_Task task;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create("long", counts, &count, qos, 10 * ms, &task));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "long") != NULL);
    OK(MPIRTX_Task_free(&task));
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

static void test_a_change_of_mode(void)
{
    static uint64_t before, after;
    MPIRT_Timespec at, epoch;
    MPIRT_Qos qos;
    MPIRTX_Task first, second;
    MPIRTX_Mode mode;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 20 * ms, &qos));
    MUST(MPIRTX_Task_create("first", counts, &before, qos, ms, &first));
    MUST(MPIRT_Commit());
    await(&before);
    OK(MPIRTX_Mode_open("next", &mode));
    MUST(MPIRTX_Task_create("second", counts, &after, qos, ms, &second));
    MUST(MPIRTX_Mode_commit(mode));
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    OK(MPIRTX_Get_epoch(&epoch));
    CHECK(epoch == at);
    await(&after);
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_world_has_one_member();
    test_it_runs();
    test_a_refusal();
    test_a_change_of_mode();
    return end();
}
