/* A task's function that ends its thread behind the back of the C library: no function of the library hears of it, and the agent ends the
 * member for it. */
#define _GNU_SOURCE /* syscall */
#include "harness.h"

#include <sys/syscall.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static void goes(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)argument;
    if (instance->number == 3)
        syscall(SYS_exit, 0);
}

int main(int argc, char **argv)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    begin(&argc, &argv);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    if (rank == 0)
        OK(MPIRTX_Task_create("goes", goes, NULL, qos, ms, &task));
    MUST(MPIRT_Commit());
    EXPECT(MPIRTX_Run(), MPIRT_ERR_PEER_LOST);
    CHECK(detail_says("the thread of its task \"goes\" has ended, and instance 3 has not run"));
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
