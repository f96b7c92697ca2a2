/* A member is stopped while the others uncommit, and again while they finalize: they wait, and `leveret run` says for whom, and how to let
 * it go on. Whoever started the job does that. */
#define _GNU_SOURCE
#include "harness.h"

#include <signal.h>
#include <unistd.h>

static void stand_still(void)
{
    if (rank == members - 1)
        CHECK(kill(getpid(), SIGSTOP) == 0);
}

/* spec: SETUP-COMMIT-08 */
static void test_a_member_that_is_stopped_is_waited_for(void)
{
    MUST(MPIRT_Commit());
    stand_still();
    OK(MPIRT_Uncommit());
    stand_still();
    OK(MPIRT_Finalize());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_member_that_is_stopped_is_waited_for();
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
