/* A member is stopped while the others uncommit, and again while they finalize: they wait, and `leveret run` says for whom, and how to let
 * it go on. */
#define _GNU_SOURCE
#include "harness.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Stands still until a process of its own lets it go on, some seconds later: after others have been said to wait. */
static void stand_still(void)
{
    pid_t helper = fork();
    CHECK(helper >= 0);
    if (helper == 0) {
        sleep(5);
        kill(getppid(), SIGCONT);
        _exit(EXIT_SUCCESS);
    }
    kill(getpid(), SIGSTOP);
    CHECK(waitpid(helper, NULL, 0) == helper);
}

/* spec: SETUP-COMMIT-08 */
static void test_a_member_that_is_stopped_is_waited_for(void)
{
    MUST(MPIRT_Commit());
    if (rank == members - 1)
        stand_still();
    OK(MPIRT_Uncommit());
    if (rank == members - 1)
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
