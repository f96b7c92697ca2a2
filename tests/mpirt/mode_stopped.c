/* The user ends the job between the agreement on a switch and the switch: what runs ends, and the mode never begins. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    ++*(uint64_t *)argument;
}

static void *ends_the_job(void *argument)
{
    (void)argument;
    usleep(400000);
    kill(getppid(), SIGTERM);
    return NULL;
}

/* spec: MPIRTX_Mode_switch/UNCOMMITTED */
static void test_a_stop_before_the_switch_is_the_end_of_what_runs(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task, other;
    MPIRTX_Mode mode;
    MPIRT_Timespec at = 0, now;
    uint64_t instances = 0, never = 0;
    char name[MPIRT_NAME_MAX];
    pthread_t thread;
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create(name, counts, &instances, qos, ms / 20, &task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("never", &mode));
    MUST(MPIRTX_Task_create(name, counts, &never, qos, ms / 20, &other));
    MUST(MPIRTX_Mode_commit(mode));
    if (rank == 0)
        CHECK(pthread_create(&thread, NULL, ends_the_job, NULL) == 0);
    OK(MPIRT_Get_time(&now));
    EXPECT(MPIRTX_Mode_switch(mode, now + 20000 * ms, &at), MPIRT_ERR_UNCOMMITTED);
    CHECK(at == 0 && never == 0 && instances > 0);
    if (rank == 0)
        pthread_join(thread, NULL);
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRTX_Task_free(&other));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_stop_before_the_switch_is_the_end_of_what_runs();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
