#include <mpirt.h>
#include <stdint.h>

static void count(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    *(uint64_t *)argument = instance->number;
}

/* Each millisecond, within the first 200 us, for at most 50 us. */
int declare(uint64_t *counted, MPIRTX_Task *task)
{
    MPIRT_Qos qos;
    int error = MPIRT_Qos_channel_time_create(NULL, 0, 200000, 1000000, &qos);
    if (error == MPIRT_SUCCESS)
        error = MPIRTX_Task_create("count", count, counted, qos, 50000, task);
    return error;
}
