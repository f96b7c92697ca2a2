/* A member is stopped between the agreement on a switch and the switch, and goes on in the mode: what it has not done is missed there, for
 * the reason that it stood still. Its kept task is handed over late, by threads that stood still too. Whoever started the job lets it go on. */
#define _GNU_SOURCE
#include "mode_pair.h"

/* spec: MODE-SWITCH-04 */
static void test_who_goes_on_after_the_switch_is_in_the_mode_with_the_others(void)
{
    struct pair pair;
    MPIRTX_Mode current;
    MPIRT_Timespec at = 0, now;
    uint64_t before;
    begin_pair(&pair, "paused", counts_and_acts);
    OK(MPIRTX_Mode_keep(pair.mode, MPIRT_OBJECT(pair.task)));
    MUST(MPIRTX_Mode_commit(pair.mode));
    OK(MPIRT_Get_time(&now));
    if (rank == members - 1)
        act_at(now + 1000 * ms, stands_still);
    OK(MPIRTX_Mode_switch(pair.mode, now + 1500 * ms, &at));
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == pair.mode.bits && at >= now + 1500 * ms);
    before = __atomic_load_n(&pair.before, __ATOMIC_RELAXED);
    for (int looks = 0; looks < 2000 && __atomic_load_n(&pair.before, __ATOMIC_RELAXED) < before + 20; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    CHECK(__atomic_load_n(&pair.before, __ATOMIC_RELAXED) >= before + 20);
    MUST(MPIRT_Uncommit());
    CHECK(pair.after > 0);
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_who_goes_on_after_the_switch_is_in_the_mode_with_the_others();
    return end_without_commit();
}
