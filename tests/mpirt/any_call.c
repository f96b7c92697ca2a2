/* Any function of mpirt.h after any other, in a job of one member: with handles that are good, freed, null or made up, numbers of all
 * kinds, and now and then a null pointer or a wrong name. Each gives a code of its list, and none ends the program or hangs.
 *
 * A seed may be given; otherwise there are some that stay the same. */
#define _GNU_SOURCE
#include "harness.h"

#include "calls.h"

enum { POOL = 64, ROUNDS = 12, STEPS = 3000, TEXTS = 6 };

static uint64_t state;
static uint64_t pool[POOL];
static unsigned char room[PARAMETERS_MAX][ROOM];

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int below(int bound)
{
    return (int)(next_random() % (uint64_t)bound);
}

/* Mostly something that was made; now and then a neighbour of it, or nonsense. */
static uint64_t handle(void)
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
static int64_t number(int blocks)
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
        case HANDLE: given[place].bits = handle(); break;
        case NUMBER: given[place].number = number(blocks); break;
        case TEXT: given[place].pointer = is_null ? NULL : (void *)(uintptr_t)texts[below(TEXTS)]; break;
        case FUNCTION: given[place].function = is_null ? NULL : (void (*)(void))nothing; break;
        default:
            given[place].pointer = is_null ? NULL : room[place];
            memset(room[place], 0, ROOM);
            if (parameter->kind == CHANGED_HANDLE) {
                uint64_t bits = handle();
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
    static const char *const names[] = {"MPIRT_Finalize", "MPIRTX_Run", "MPIRTX_Trigger_set_time", NULL};
    for (const char *const *name = names; *name != NULL; name++)
        if (strcmp(call->name, *name) == 0)
            return 1;
    return 0;
}

static long successes;

static void step(int round, int turn)
{
    const struct call *call = &calls[below(CALLS)];
    union value given[PARAMETERS_MAX];
    int code;
    /* A commit takes long, and so does what ends it. */
    if (is_left_out(call) || (strstr(call->name, "ommit") != NULL && below(4) != 0))
        return;
    fill(call, given);
    code = call->call(given);
    successes += code == MPIRT_SUCCESS;
    if (!is_listed(call, code)) {
        const char *detail;
        OK(MPIRTX_Error_detail(&detail));
        fprintf(stderr, "round %d, turn %d: %s gives %d: %s\n", round, turn, call->name, code, detail);
        failures++;
    }
    for (int place = 0; code == MPIRT_SUCCESS && place < call->count; place++)
        if (call->parameters[place].kind == OUT_HANDLE) {
            uint64_t made;
            MPIRT_Object former = {pool[below(POOL)]};
            memcpy(&made, room[place], sizeof made);
            /* What leaves the pool is freed, most of the time. */
            for (int other = 0; other < POOL; other++)
                if (pool[other] == former.bits)
                    pool[other] = made;
            if (below(8) != 0 && former.bits != made)
                MPIRT_Object_free(&former);
        }
}

/* spec: ERROR-FUZZ-01, ERROR-LIST-01 */
static void test_any_call_after_any_other(uint64_t seed)
{
    MPIRT_Timespec epoch;
    for (int round = 1; round <= ROUNDS; round++) {
        state = (seed + (uint64_t)round) * UINT64_C(0x9e3779b97f4a7c15);
        for (int turn = 0; turn < STEPS; turn++)
            step(round, turn);
        if (MPIRTX_Get_epoch(&epoch) == MPIRT_SUCCESS)
            OK(MPIRT_Uncommit());
    }
    /* Calls that are all refused show nothing. */
    CHECK(successes > ROUNDS * STEPS / 20);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_any_call_after_any_other(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
    for (int place = 0; place < POOL; place++) {
        MPIRT_Object object = {pool[place]};
        MPIRT_Object_free(&object);
    }
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
