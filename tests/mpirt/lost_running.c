/* A member dies while the others run to the job's end. The job ends by that, so this file is a run of its own. */
#define _GNU_SOURCE
#include "harness.h"

#include <unistd.h>

/* spec: MPIRTX_Run/PEER_LOST, MPIRT_Sleep/AGENT */
static void test_whoever_runs_is_told_of_the_dead(void)
{
    OK(MPIRT_Commit());
    if (rank == members - 1) {
        usleep(100000);
        _exit(7);
    }
    EXPECT(MPIRTX_Run(), MPIRT_ERR_PEER_LOST);
    CHECK(names_the_last());
    EXPECT(MPIRTX_Run(), MPIRT_ERR_NOT_COMMITTED);
    /* Nothing will be committed any more, so nothing but the job's end can end this sleep. */
    EXPECT(MPIRT_Commit(), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_RELATIVE, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_AGENT);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whoever_runs_is_told_of_the_dead();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
