/* A set with one task, and a mode with another of the same QoS beside it: what the files about the moment of a switch begin with. */
#ifndef MODE_PAIR_H
#define MODE_PAIR_H

#include "harness.h"

#include <signal.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

struct pair {
    MPIRT_Qos qos;
    MPIRTX_Task task, other;
    MPIRTX_Mode mode;
    /* Instances of the set's task and of the mode's. */
    uint64_t before, after;
};

static inline void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    ++*(uint64_t *)argument;
}

/* What the first instance from an instant on does, on the member that names the instant: between the agreement on a switch and the switch,
 * no other thread of a member is free to do anything. */
static MPIRT_Timespec acts_at;
static void (*acts)(void);

static inline void counts_and_acts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Timespec at = __atomic_load_n(&acts_at, __ATOMIC_ACQUIRE);
    counts(task, instance, argument);
    if (at != 0 && instance->start >= at) {
        __atomic_store_n(&acts_at, 0, __ATOMIC_RELAXED);
        acts();
    }
}

static inline void act_at(MPIRT_Timespec at, void (*what)(void))
{
    acts = what;
    __atomic_store_n(&acts_at, at, __ATOMIC_RELEASE);
}

static inline void stands_still(void)
{
    kill(getpid(), SIGSTOP);
}

static inline void dies(void)
{
    _exit(7);
}

/* Commits the set, and opens the mode. The set's task runs `function`, with the pair's `before`. */
static inline void begin_pair(struct pair *pair, const char *mode, MPIRTX_Task_function *function)
{
    char name[MPIRT_NAME_MAX];
    pair->before = pair->after = 0;
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &pair->qos));
    MUST(MPIRTX_Task_create(name, function, &pair->before, pair->qos, ms / 20, &pair->task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open(mode, &pair->mode));
    snprintf(name, sizeof name, "then-%d", rank);
    MUST(MPIRTX_Task_create(name, counts, &pair->after, pair->qos, ms / 20, &pair->other));
}

static inline void free_pair(struct pair *pair)
{
    OK(MPIRTX_Mode_free(&pair->mode));
    OK(MPIRTX_Task_free(&pair->task));
    OK(MPIRTX_Task_free(&pair->other));
    OK(MPIRT_Qos_free(&pair->qos));
}

/* As end(), for a job that cannot commit any more. */
static inline int end_without_commit(void)
{
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
