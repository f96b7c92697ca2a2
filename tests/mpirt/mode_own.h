/* What each set has for itself in the files about changes of mode. */
#ifndef MODE_OWN_H
#define MODE_OWN_H

#include "harness.h"

static inline void never(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

/* Something that each mode has for itself, at a period that gives the mode another hyperperiod. */
static inline MPIRTX_Task make_task_from(const char *kind, MPIRT_Timespec start, MPIRT_Timespec deadline, MPIRT_Timespec period, MPIRT_Qos *qos)
{
    static const MPIRT_Timespec budget = 50000;
    char name[MPIRT_NAME_MAX];
    MPIRTX_Task task;
    snprintf(name, sizeof name, "%s-%d", kind, rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, start, deadline, period, qos));
    MUST(MPIRTX_Task_create(name, never, NULL, *qos, budget, &task));
    return task;
}

static inline MPIRTX_Task make_task(const char *kind, MPIRT_Timespec period, MPIRT_Qos *qos)
{
    return make_task_from(kind, 2000000, 18000000, period, qos);
}

#endif
