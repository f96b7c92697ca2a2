#include <mpirt.h>

/* One stage of a pipeline: each message that has come ("came") runs the task, and when it has run ("worked") the next message goes on.
 * After Commit the end that sends is activated before anybody starts the chain. Buffers that were sent are received into anew. */
int stage(MPIRTX_Task_function *work, MPIRT_Bufiter worked, MPIRT_Bufiter idle, int rank, MPIRT_Channel *next)
{
    MPIRT_Qos on_arrival, when_worked;
    MPIRTX_Task task;
    int error = MPIRT_Qos_channel_event_create(NULL, "came", "worked", &on_arrival);
    if (error == MPIRT_SUCCESS)
        error = MPIRTX_Task_create("work", work, NULL, on_arrival, INT64_C(100000), &task);
    if (error == MPIRT_SUCCESS)
        error = MPIRT_Qos_channel_event_create(NULL, "worked", "went", &when_worked);
    if (error == MPIRT_SUCCESS)
        error = MPIRT_Ptchannel_create("next", worked, idle, rank, rank + 1, MPIRT_GROUP_WORLD, when_worked, next);
    return error;
}
