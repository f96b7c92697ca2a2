/* The user ends the job between the agreement on a switch and the switch: what runs ends, and the mode never begins. */
#define _GNU_SOURCE
#include "mode_pair.h"

static void ends_the_job(void)
{
    kill(getppid(), SIGTERM);
}

/* spec: MPIRTX_Mode_switch/UNCOMMITTED */
static void test_a_stop_before_the_switch_is_the_end_of_what_runs(void)
{
    struct pair pair;
    MPIRT_Timespec at = 0, now;
    begin_pair(&pair, "never", counts_and_acts);
    MUST(MPIRTX_Mode_commit(pair.mode));
    OK(MPIRT_Get_time(&now));
    if (rank == 0)
        act_at(now + 1000 * ms, ends_the_job);
    EXPECT(MPIRTX_Mode_switch(pair.mode, now + 20000 * ms, &at), MPIRT_ERR_UNCOMMITTED);
    CHECK(at == 0 && pair.after == 0 && pair.before > 0);
    OK(MPIRT_Uncommit());
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_stop_before_the_switch_is_the_end_of_what_runs();
    return end_without_commit();
}
