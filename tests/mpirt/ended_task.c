/* A task's function that ends its thread: its member has failed and is told so, the job ends with a sentence that names the task, and no member
 * hangs, whatever it waits for. */
#include "harness.h"

#include <pthread.h>

static const MPIRT_Timespec ms = 1000000;

static void ends(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)argument;
    if (instance->number == 3)
        pthread_exit(NULL);
}

/* It does not wait for the others, who would wait for the agent to end this member. */
/* spec: MPIRT_Finalize/AGENT */
static void test_finalize_after_a_failed_task(void)
{
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_AGENT);
    CHECK(detail_says("a task failed: ") && detail_says("ended the library's thread"));
}

int main(int argc, char **argv)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    begin(&argc, &argv);
    snprintf(name, sizeof name, "ends-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    if (rank == 0)
        OK(MPIRTX_Task_create(name, ends, NULL, qos, ms, &task));
    MUST(MPIRT_Commit());
    if (rank == 0) {
        /* The process should end now, with its failure. */
        EXPECT(MPIRTX_Run(), MPIRT_ERR_INTERNAL);
        test_finalize_after_a_failed_task();
        if (failures == 0)
            printf("member %d: passed\n", rank);
        return EXIT_FAILURE;
    }
    EXPECT(MPIRTX_Run(), MPIRT_ERR_PEER_LOST);
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
