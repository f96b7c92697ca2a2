/* A member dies between the agreement on a switch and the switch, in a job that continues: the survivors are all in the new mode. */
#define _GNU_SOURCE
#include "mode_pair.h"

/* spec: MODE-SWITCH-04 */
static void test_the_survivors_switch(void)
{
    struct pair pair;
    MPIRTX_Mode current;
    MPIRT_Timespec at = 0, now, epoch;
    begin_pair(&pair, "survived", counts_and_acts);
    MUST(MPIRTX_Mode_commit(pair.mode));
    OK(MPIRT_Get_time(&now));
    if (rank == members - 1)
        act_at(now + 1000 * ms, dies);
    OK(MPIRTX_Mode_switch(pair.mode, now + 2000 * ms, &at));
    OK(MPIRTX_Get_epoch(&epoch));
    CHECK(epoch == at && pair.before > 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == pair.mode.bits);
    for (int looks = 0; looks < 1000 && __atomic_load_n(&pair.after, __ATOMIC_RELAXED) == 0; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    CHECK(__atomic_load_n(&pair.after, __ATOMIC_RELAXED) > 0);
    (void)MPIRT_Uncommit(); /* whose answer is another file's concern */
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_survivors_switch();
    return end_without_commit();
}
