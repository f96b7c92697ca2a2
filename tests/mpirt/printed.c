/* The agent that reads what its member prints is killed: the member prints on and lives. It leaves a file, of the name that
 * it is given, as its witness. */
#define _GNU_SOURCE
#include "harness.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More than a pipe holds: 1 MiB where the kernel allows it. */
enum { LINES = 60000 };

int main(int argc, char **argv)
{
    struct pollfd agent = {.events = POLLIN};
    FILE *witness;
    OK(MPIRT_Init(&argc, &argv));
    /* With the agent all that it has started ends, unless it says otherwise. */
    MUST(prctl(PR_SET_PDEATHSIG, 0) == 0 ? MPIRT_SUCCESS : MPIRT_ERR_INTERNAL);
    agent.fd = (int)syscall(SYS_pidfd_open, getppid(), 0);
    CHECK(agent.fd >= 0);
    kill(getppid(), SIGKILL);
    CHECK(poll(&agent, 1, -1) == 1);
    for (int line = 0; line < LINES; line++) {
        CHECK(printf("line %d of a program whose agent is gone\n", line) > 0);
        CHECK(fprintf(stderr, "line %d of a program whose agent is gone\n", line) > 0);
    }
    CHECK(fflush(stdout) == 0);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_AGENT);
    witness = fopen(argv[argc - 1], "w");
    if (failures == 0 && witness != NULL)
        fprintf(witness, "passed\n");
    return witness == NULL || fclose(witness) != 0;
}
