/* A member dies on the way to another mode: no other is left waiting, or in another mode than the rest. The job ends by that, so each
 * number of members shows another moment: two, before Mode_commit; three, before Mode_switch; four, between agreement and switch. */
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

/* spec: MPIRTX_Mode_commit/PEER_LOST, MPIRTX_Mode_switch/PEER_LOST, MODE-SWITCH-04 */
static void test_whoever_changes_the_mode_hears_of_a_death(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task, other;
    MPIRTX_Mode mode, current;
    MPIRT_Timespec at = 0, now;
    uint64_t instances = 0, never = 0;
    char name[MPIRT_NAME_MAX];
    int dies = rank == members - 1;
    pthread_t thread;
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create(name, nothing, &instances, qos, ms / 20, &task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("lost", &mode));
    MUST(MPIRTX_Task_create(name, nothing, &never, qos, ms / 20, &other));
    if (dies && members == 2)
        dies_soon(NULL);
    if (members == 2) {
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_PEER_LOST);
    } else {
        MUST(MPIRTX_Mode_commit(mode));
        if (dies && members == 3)
            dies_soon(NULL);
        if (dies && members == 4)
            CHECK(pthread_create(&thread, NULL, dies_soon, NULL) == 0);
        OK(MPIRT_Get_time(&now));
        EXPECT(MPIRTX_Mode_switch(mode, now + 3000 * ms, &at), MPIRT_ERR_PEER_LOST);
    }
    CHECK(at == 0 && never == 0 && instances > 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRTX_Mode_get_current(&current), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRTX_Task_free(&other));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whoever_changes_the_mode_hears_of_a_death();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
