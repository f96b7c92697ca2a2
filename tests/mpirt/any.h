/* Any function of mpirt.h, with handles that are good, freed, null or made up, numbers of all kinds, and now and then a null pointer or
 * a wrong name. What comes next says whoever includes this: `next_random`, `below` and `may_commit`. */
#ifndef ANY_H
#define ANY_H

#include "calls.h"

#include <stdlib.h>
#include <string.h>

enum { POOL = 64, TEXTS = 6, MADE_MAX = 4096 };

/* 64 bits. */
static uint64_t next_random(void);
/* From 0 to the bound, which is above 0 and is not reached. */
static int below(int bound);
/* Whether a commit, or what ends one, may be next: they take long. */
static int may_commit(void);

static uint64_t pool[POOL];
/* What was made and may be there still. */
static uint64_t made_handles[MADE_MAX];
static int made_count;
/* Each on its own, so that a checker of memory sees a step beyond. */
static unsigned char *room[PARAMETERS_MAX];

static void make_room(void)
{
    for (int place = 0; place < PARAMETERS_MAX; place++)
        if ((room[place] = calloc(1, ROOM)) == NULL)
            abort();
}

/* Mostly something that was made; now and then a neighbour of it, or nonsense. */
static uint64_t any_handle(void)
{
    uint64_t made = pool[below(POOL)];
    switch (below(14)) {
    case 0: return 0;
    case 1: return next_random();
    case 2: return made ^ (UINT64_C(1) << below(64));
    case 3: return MPIRT_GROUP_WORLD.bits;
    case 4: return MPIRT_QOS_BEST_EFFORT.bits;
    default: return made;
    }
}

/* Sizes, counts, ranks, indices and times; none so large that it would take the machine's memory, none so short as a time that
 * nothing else would run. */
static int64_t any_number(int blocks)
{
    static const int64_t numbers[] = {0, 0, 1, 1, 2, 3, 4, 8, 8, 64, 4096, -1, 20000000, 1000000, 2000000000, (1 << 30) + 1, INT32_MAX,
                                      INT32_MIN, INT64_MAX, INT64_MIN};
    return blocks ? (int64_t)below(3) - 1 : numbers[below((int)(sizeof numbers / sizeof *numbers))];
}

static int nothing(void)
{
    return MPIRT_SUCCESS;
}

static void fill(const struct call *call, union value *given)
{
    static const char *const texts[TEXTS] = {"", "a", "b", "c", "\x01", "\xff\xfe"};
    int blocks = (call->rules & RULE_BLOCK) != 0;
    for (int place = 0; place < call->count; place++) {
        const struct parameter *parameter = &call->parameters[place];
        int is_null = below(40) == 0;
        memset(&given[place], 0, sizeof given[place]);
        switch (parameter->kind) {
        case HANDLE: given[place].bits = any_handle(); break;
        case NUMBER: given[place].number = any_number(blocks); break;
        case TEXT: given[place].pointer = is_null ? NULL : (void *)(uintptr_t)texts[below(TEXTS)]; break;
        case FUNCTION: given[place].function = is_null ? NULL : (void (*)(void))nothing; break;
        default:
            given[place].pointer = is_null ? NULL : room[place];
            memset(room[place], 0, ROOM);
            if (parameter->kind == CHANGED_HANDLE) {
                uint64_t bits = any_handle();
                memcpy(room[place], &bits, sizeof bits);
            } else if (parameter->kind == POINTER && below(2)) {
                given[place].pointer = MPIRT_SYSTEM_MEM_ALLOC;
            }
        }
    }
    /* What is read as an array lies in the room, and is no longer than that. */
    for (int place = 1; place < call->count; place++)
        if (call->parameters[place].kind == POINTER && call->parameters[place - 1].kind == NUMBER) {
            given[place].pointer = room[place];
            given[place - 1].number = below(9) - 1;
        }
    /* An application's buffer is no larger than the room. */
    for (int place = 0; place + 1 < call->count; place++)
        if (call->parameters[place].kind == POINTER && call->parameters[place + 1].kind == NUMBER && given[place + 1].number > ROOM
            && given[place + 1].number <= MPIRT_BUFSIZE_MAX)
            given[place + 1].number = ROOM;
}

/* They end the life of the library, wait for the job's end, or would fire or run without pause. */
static int is_left_out(const struct call *call)
{
    static const char *const names[] = {"MPIRT_Finalize", "MPIRTX_Run", "MPIRTX_Abort", "MPIRTX_Fail", "MPIRTX_Trigger_set_time", NULL};
    for (const char *const *name = names; *name != NULL; name++)
        if (strcmp(call->name, *name) == 0)
            return 1;
    return strstr(call->name, "ommit") != NULL && !may_commit();
}

static void keep(uint64_t made)
{
    MPIRT_Object former = {pool[below(POOL)]};
    if (made_count < MADE_MAX)
        made_handles[made_count++] = made;
    /* What leaves the pool is freed, most of the time. */
    for (int other = 0; other < POOL; other++)
        if (pool[other] == former.bits)
            pool[other] = made;
    if (below(8) != 0 && former.bits != made)
        MPIRT_Object_free(&former);
}

/* Makes a call and gives its code, or -1 when none was made; `*which` is the function. */
static int any_call(const struct call **which)
{
    const struct call *call = &calls[below(CALLS)];
    union value given[PARAMETERS_MAX];
    int code;
    *which = call;
    if (is_left_out(call))
        return -1;
    fill(call, given);
    code = call->call(given);
    for (int place = 0; code == MPIRT_SUCCESS && place < call->count; place++)
        if (call->parameters[place].kind == OUT_HANDLE) {
            uint64_t made;
            memcpy(&made, room[place], sizeof made);
            keep(made);
        }
    return code;
}

/* Nothing that was made is there any more. */
static void free_all(void)
{
    while (made_count > 0) {
        MPIRT_Object object = {made_handles[--made_count]};
        MPIRT_Object_free(&object);
    }
    for (int place = 0; place < POOL; place++) {
        MPIRT_Object object = {pool[place]};
        MPIRT_Object_free(&object);
        pool[place] = 0;
    }
}

#endif
