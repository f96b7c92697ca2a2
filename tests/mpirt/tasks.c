/* Tasks that run to the job's horizon. The job has one: it is started with a number of rounds. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

/* What a task may not call, it is told; what may be called at any time answers. */
static int answers[8];

static void calls_what_it_may_not(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Cset set;
    int flag = 0;
    (void)task, (void)instance, (void)argument;
    answers[0] = MPIRT_Cset_create("set", &set);
    answers[1] = MPIRT_Commit();
    answers[2] = MPIRT_Uncommit();
    answers[3] = MPIRTX_Run();
    answers[4] = MPIRT_Sleep(MPIRT_TIME_RELATIVE, MPIRT_TIME_SPEC_IGNORE);
    answers[5] = MPIRT_Channel_wait(MPIRT_CHANNEL_NULL, MPIRT_TIME_SPEC_IGNORE);
    answers[6] = MPIRT_Init(NULL, NULL);
    answers[7] = MPIRT_Is_initialized(&flag);
}

static void test_calls_from_a_task(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "caller-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    OK(MPIRTX_Task_create(name, calls_what_it_may_not, NULL, qos, ms, &task));
    OK(MPIRT_Commit());
    OK(MPIRTX_Run());
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    for (int place = 0; place < 6; place++)
        CHECK(answers[place] == MPIRT_ERR_REAL_TIME);
    CHECK(answers[6] == MPIRT_ERR_ALREADY_INITIALIZED);
    CHECK(answers[7] == MPIRT_SUCCESS);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_calls_from_a_task();
    return end();
}
