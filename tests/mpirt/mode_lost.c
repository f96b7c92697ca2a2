/* A member dies on the way to another mode: no other is left waiting, or in another mode than the rest. The job ends by that, so each
 * number of members shows another moment: two, before Mode_commit; three, before Mode_switch; four, between agreement and switch. */
#define _GNU_SOURCE
#include "mode_pair.h"

/* The next instance but some ends this member, which does nothing until then. */
static void waits_to_die(void)
{
    MPIRT_Timespec now;
    OK(MPIRT_Get_time(&now));
    act_at(now + 200 * ms, dies);
    for (;;)
        pause();
}

/* spec: MPIRTX_Mode_commit/PEER_LOST, MPIRTX_Mode_switch/PEER_LOST, MODE-SWITCH-04 */
static void test_whoever_changes_the_mode_hears_of_a_death(void)
{
    struct pair pair;
    MPIRTX_Mode current;
    MPIRT_Timespec at = 0, now;
    int is_last = rank == members - 1;
    begin_pair(&pair, "lost", counts_and_acts);
    if (is_last && members == 2)
        waits_to_die();
    if (members == 2) {
        EXPECT(MPIRTX_Mode_commit(pair.mode), MPIRT_ERR_PEER_LOST);
    } else {
        MUST(MPIRTX_Mode_commit(pair.mode));
        if (is_last && members == 3)
            waits_to_die();
        OK(MPIRT_Get_time(&now));
        if (is_last && members == 4)
            act_at(now + 1000 * ms, dies);
        EXPECT(MPIRTX_Mode_switch(pair.mode, now + 3000 * ms, &at), MPIRT_ERR_PEER_LOST);
        /* Between the agreement and the switch: the words are those of what was ended. */
        if (members == 4)
            CHECK(detail_says("before the switch at which the mode was to take over: ") && names_the_last());
    }
    CHECK(at == 0 && pair.after == 0 && pair.before > 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRTX_Mode_get_current(&current), MPIRT_ERR_NOT_COMMITTED);
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whoever_changes_the_mode_hears_of_a_death();
    return end_without_commit();
}
