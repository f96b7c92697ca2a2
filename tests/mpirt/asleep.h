/* What a wait costs. Included after _GNU_SOURCE and harness.h. */
#ifndef ASLEEP_H
#define ASLEEP_H

#include <sys/resource.h>

/* Until now: the processor time of all threads of this process, so that none polls for another, and how often this thread has slept. */
struct cost {
    int64_t processor_us;
    long sleeps;
};

static inline struct cost cost_so_far(void)
{
    struct rusage process, thread;
    struct cost cost;
    CHECK(getrusage(RUSAGE_SELF, &process) == 0 && getrusage(RUSAGE_THREAD, &thread) == 0);
    cost.processor_us = (process.ru_utime.tv_sec + process.ru_stime.tv_sec) * INT64_C(1000000) + process.ru_utime.tv_usec
                        + process.ru_stime.tv_usec;
    cost.sleeps = thread.ru_nvcsw;
    return cost;
}

/* A wait that was to take so long, and ended by its timeout, has slept: who spins takes a processor all the time and never sleeps, and
 * who looks again every millisecond sleeps twice as often as is allowed here. */
static inline void check_slept(struct cost before, MPIRT_Timespec waited)
{
    struct cost after = cost_so_far();
    int64_t ms = waited / 1000000, processor_us = after.processor_us - before.processor_us;
    long sleeps = after.sleeps - before.sleeps;
    int has_slept = sleeps >= 1 && sleeps < ms / 2 && processor_us < ms * 1000 / 10;
    if (!has_slept)
        fprintf(stderr, "member %d: %ld sleeps and %lld us of a processor in %lld ms\n", rank, sleeps, (long long)processor_us, (long long)ms);
    CHECK(has_slept);
}

#endif
