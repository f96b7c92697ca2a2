/* A member dies between the agreement on a switch and the switch, in a job that continues: the survivors are all in the new mode. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    ++*(uint64_t *)argument;
}

static void *dies_soon(void *argument)
{
    (void)argument;
    usleep(400000);
    _exit(7);
}

/* spec: MODE-SWITCH-04 */
static void test_the_survivors_switch(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task, other;
    MPIRTX_Mode mode, current;
    MPIRT_Timespec at = 0, now, epoch;
    uint64_t instances = 0, after = 0;
    char name[MPIRT_NAME_MAX];
    pthread_t thread;
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create(name, nothing, &instances, qos, ms / 20, &task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("survived", &mode));
    MUST(MPIRTX_Task_create(name, nothing, &after, qos, ms / 20, &other));
    MUST(MPIRTX_Mode_commit(mode));
    if (rank == members - 1)
        CHECK(pthread_create(&thread, NULL, dies_soon, NULL) == 0);
    OK(MPIRT_Get_time(&now));
    OK(MPIRTX_Mode_switch(mode, now + 2000 * ms, &at));
    OK(MPIRTX_Get_epoch(&epoch));
    CHECK(epoch == at && instances > 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == mode.bits);
    for (int looks = 0; looks < 1000 && __atomic_load_n(&after, __ATOMIC_RELAXED) == 0; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    CHECK(__atomic_load_n(&after, __ATOMIC_RELAXED) > 0);
    (void)MPIRT_Uncommit(); /* whose answer is another file's concern */
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRTX_Task_free(&other));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_survivors_switch();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
