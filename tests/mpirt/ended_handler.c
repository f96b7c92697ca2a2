/* A handler that ends its thread, compiled so that nobody hears of it (without unwind tables): the job ends, and no member hangs. */
#include "harness.h"

#include <pthread.h>

static const MPIRT_Timespec ms = 1000000;
static MPIRT_Trigger trigger;

static void fires(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
    OK(MPIRT_Trigger_fire(trigger));
}

static void ends(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRT_Cvector handlers;
    begin(&argc, &argv);
    if (rank == 0) {
        OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
        OK(MPIRTX_Task_create("fires", fires, NULL, qos, ms, &task));
        OK(MPIRT_Trigger_create("ends", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
        OK(MPIRT_Handler_create(NULL, ends, NULL, MPIRT_QOS_NULL, &handler));
        OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(handler)}, &handlers));
        OK(MPIRT_Receptor_create("ends", MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
    }
    MUST(MPIRT_Commit());
    /* The run was ended, and the detail says by what. */
    EXPECT(MPIRTX_Run(), MPIRT_ERR_MISSED);
    CHECK(detail_says("ended the library's thread"));
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
