/* What the files about events share: triggers, receptors and handlers made in one line each. */
#ifndef EVENTS_H
#define EVENTS_H

#include "harness.h"

static const MPIRT_Timespec ms = INT64_C(1000000);
static const MPIRT_Timespec patience = INT64_C(10000000000);

static inline MPIRT_Qos qos_of(int priority)
{
    MPIRT_Qos qos;
    OK(MPIRTX_Qos_handler_create(NULL, priority, ms / 50, ms, &qos));
    return qos;
}

/* A trigger of the kind call in the world. */
static inline MPIRT_Trigger call(const char *event)
{
    MPIRT_Trigger trigger;
    OK(MPIRT_Trigger_create(event, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    return trigger;
}

static inline MPIRT_Receptor receptor_of(const char *event)
{
    MPIRT_Receptor receptor;
    OK(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    return receptor;
}

/* Containers are read when something is created of them, and keep what is in them until they go. */
static MPIRT_Cvector containers[64];
static int container_count;

static inline MPIRT_Container container_of(int count, const MPIRT_Object *objects)
{
    MPIRT_Cvector *vector = &containers[container_count++];
    OK(MPIRT_Cvector_create(NULL, count, objects, vector));
    return MPIRT_CONTAINER(*vector);
}

static inline void free_containers(void)
{
    while (container_count > 0)
        OK(MPIRT_Cvector_free(&containers[--container_count]));
}

static inline MPIRT_Receptor handled(const char *event, int count, const MPIRT_Object *handlers)
{
    MPIRT_Receptor receptor;
    OK(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, container_of(count, handlers), &receptor));
    free_containers();
    return receptor;
}

static inline MPIRT_Receptor combined(MPIRTX_Combination combination, int count, const MPIRT_Object *parts)
{
    MPIRT_Receptor receptor;
    OK(MPIRTX_Receptor_combine(NULL, combination, container_of(count, parts), MPIRT_CONTAINER_NULL, &receptor));
    free_containers();
    return receptor;
}

static inline MPIRT_Handler handler_of(MPIRT_Handler_function *function, void *argument, int priority)
{
    MPIRT_Handler handler;
    OK(MPIRT_Handler_create(NULL, function, argument, priority ? qos_of(priority) : MPIRT_QOS_NULL, &handler));
    return handler;
}

/* An event's name that no other member uses. */
static inline const char *own(const char *event)
{
    static char names[4][MPIRT_NAME_MAX];
    static int next;
    char *name = names[next++ % 4];
    snprintf(name, MPIRT_NAME_MAX, "%s-%d", event, rank);
    return name;
}

static inline int is_pending(MPIRT_Receptor receptor)
{
    int flag = -1;
    OK(MPIRTX_Receptor_test(receptor, &flag));
    return flag;
}

static inline void nothing(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

#endif
