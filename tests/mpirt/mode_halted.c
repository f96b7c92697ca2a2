/* A member is stopped between the agreement on a switch and the switch, which nobody can refuse any more: the others are in the mode, the
 * one that is not is ended for it, and nobody waits without end. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    ++*(uint64_t *)argument;
}

static void *stops_soon(void *argument)
{
    (void)argument;
    usleep(400000);
    kill(getpid(), SIGSTOP);
    return NULL;
}

/* spec: MODE-SWITCH-04 */
static void test_who_does_not_switch_is_ended_and_the_others_hear_of_it(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task, other;
    MPIRTX_Mode mode, current;
    MPIRT_Timespec at = 0, now;
    uint64_t before = 0, after = 0;
    char name[MPIRT_NAME_MAX];
    pthread_t thread;
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create(name, nothing, &before, qos, ms / 20, &task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("halted", &mode));
    MUST(MPIRTX_Task_create(name, nothing, &after, qos, ms / 20, &other));
    MUST(MPIRTX_Mode_commit(mode));
    if (rank == members - 1)
        CHECK(pthread_create(&thread, NULL, stops_soon, NULL) == 0);
    OK(MPIRT_Get_time(&now));
    OK(MPIRTX_Mode_switch(mode, now + 1500 * ms, &at));
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == mode.bits && at >= now + 1500 * ms && before > 0);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
    CHECK(after > 0);
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRTX_Task_free(&other));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_who_does_not_switch_is_ended_and_the_others_hear_of_it();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
