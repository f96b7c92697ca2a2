/* What every C child of the benchmarks shares: the line protocol, the stamp, the histogram, the payload.
 *
 *   harness -> child   go CASE SIZE MILLISECONDS
 *   child -> harness   ready VERSION                                  once
 *                      done PLAIN_PICOSECONDS VALUE:COUNT VALUE:COUNT ...
 *                      error TEXT
 *
 * PLAIN is the mean of a batch of round trips without a stamp inside; VALUE is in nanoseconds. */
#ifndef LEVERET_BENCH_CHILD_H
#define LEVERET_BENCH_CHILD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE_MAX_BYTES (4u << 20)
/* The word of the last message of a round. */
#define LAST_WORD UINT64_MAX
/* Round trips before the first stamp. */
#define WARM_UP_TRIPS 64

static inline uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ __volatile__("yield");
#endif
}

/* Every sender writes its whole payload for every message. */
static inline void fill(void *buffer, size_t size, uint64_t word)
{
    uint64_t *words = buffer;
    for (size_t i = 0; i < size / 8; i++)
        words[i] = word;
}

static inline uint64_t first_word(const void *buffer)
{
    uint64_t word;
    memcpy(&word, buffer, sizeof word);
    return word;
}

static inline int pin(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* 512 steps an octave: a value is off by at most 0.2 %. */
#define STEPS 512u
#define OCTAVES 36u
static uint64_t histogram[OCTAVES * STEPS];

static inline void record(uint64_t value)
{
    unsigned shift = value < STEPS ? 0 : 63u - (unsigned)__builtin_clzll(value) - 9u + 1u;
    unsigned place = value < STEPS ? (unsigned)value : shift * STEPS + (unsigned)(value >> (shift - 1)) - STEPS;
    if (place >= OCTAVES * STEPS)
        place = OCTAVES * STEPS - 1;
    histogram[place]++;
}

static inline uint64_t value_at(unsigned place)
{
    if (place < STEPS)
        return place;
    unsigned shift = place / STEPS;
    return (uint64_t)(place % STEPS + STEPS) << (shift - 1);
}

static inline void answer(uint64_t plain_total_ns, uint64_t plain_count)
{
    printf("done %llu", (unsigned long long)(plain_count ? plain_total_ns * 1000 / plain_count : 0));
    for (unsigned place = 0; place < OCTAVES * STEPS; place++)
        if (histogram[place])
            printf(" %llu:%llu", (unsigned long long)value_at(place), (unsigned long long)histogram[place]);
    printf("\n");
    fflush(stdout);
    memset(histogram, 0, sizeof histogram);
}

/* One round trip; `word` travels there and back. Non-zero when what came back is not what was sent. */
typedef int (*trip_function)(void *state, uint64_t word);

/* Three quarters of the time stamped, one quarter plain, then the last word. */
static inline int ping_round(trip_function trip, void *state, uint64_t milliseconds)
{
    uint64_t word = 0, count = 0;
    for (int i = 0; i < WARM_UP_TRIPS; i++)
        if (trip(state, word++))
            return 1;
    uint64_t start = now_ns(), end = start + milliseconds * 750000, last = start;
    while (last < end) {
        uint64_t before = now_ns();
        if (trip(state, word++))
            return 1;
        last = now_ns();
        record(last - before);
        count++;
    }
    uint64_t plain = count / 3 + 1, plain_start = now_ns();
    for (uint64_t i = 0; i < plain; i++)
        if (trip(state, word++))
            return 1;
    uint64_t plain_total = now_ns() - plain_start;
    if (trip(state, LAST_WORD))
        return 1;
    answer(plain_total, plain);
    return 0;
}

/* A round that the harness asked for. */
struct order {
    char kind[32];
    size_t size;
    uint64_t milliseconds;
};

/* 0 at the end of the input. */
static inline int next_order(struct order *order)
{
    char line[128];
    unsigned long size, milliseconds;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "go %31s %lu %lu", order->kind, &size, &milliseconds) != 3 || size < 8 ||
            size > SIZE_MAX_BYTES || size % 8) {
            printf("error this is not an order: %s", line);
            fflush(stdout);
            continue;
        }
        order->size = size;
        order->milliseconds = milliseconds;
        return 1;
    }
    return 0;
}

#endif
