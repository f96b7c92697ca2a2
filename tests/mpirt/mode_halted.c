/* A member is stopped between the agreement on a switch and the switch, which nobody can refuse any more: the others are in the mode, the
 * one that is not is ended for it, and nobody waits without end. */
#define _GNU_SOURCE
#include "mode_pair.h"

/* spec: MODE-SWITCH-04 */
static void test_who_does_not_switch_is_ended_and_the_others_hear_of_it(void)
{
    struct pair pair;
    MPIRTX_Mode current;
    MPIRT_Timespec at = 0, now;
    begin_pair(&pair, "halted", counts_and_acts);
    MUST(MPIRTX_Mode_commit(pair.mode));
    OK(MPIRT_Get_time(&now));
    if (rank == members - 1)
        act_at(now + 1000 * ms, stands_still);
    OK(MPIRTX_Mode_switch(pair.mode, now + 1500 * ms, &at));
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == pair.mode.bits && at >= now + 1500 * ms && pair.before > 0);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
    CHECK(pair.after > 0);
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_who_does_not_switch_is_ended_and_the_others_hear_of_it();
    return end_without_commit();
}
