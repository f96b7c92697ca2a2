/* Any function of mpirt.h after any other, in a job of one member. Each gives a code of its list, and none ends the program or hangs.
 *
 * A seed may be given; otherwise there are some that stay the same. */
#define _GNU_SOURCE
#include "harness.h"

#include "any.h"

enum { ROUNDS = 12, STEPS = 3000 };

static uint64_t state;

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

static int may_commit(void)
{
    return below(4) == 0;
}

static long successes;

static void step(int round, int turn)
{
    const struct call *call;
    int code = any_call(&call);
    if (code < 0)
        return;
    successes += code == MPIRT_SUCCESS;
    if (!is_listed(call, code)) {
        const char *detail;
        OK(MPIRTX_Error_detail(&detail));
        fprintf(stderr, "round %d, turn %d: %s gives %d: %s\n", round, turn, call->name, code, detail);
        failures++;
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
    make_room();
    test_any_call_after_any_other(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
    free_all();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
