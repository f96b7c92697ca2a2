/* The agent is killed while its members run. One that outlives it is told so by whatever needs the agent, and nothing hangs; what it has
 * committed is released all the same. */
#define _GNU_SOURCE
#include "harness.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

/* With the agent all that it has started ends, unless it says otherwise. */
static void lose_the_agent(void)
{
    struct pollfd agent = {.fd = (int)syscall(SYS_pidfd_open, getppid(), 0), .events = POLLIN};
    MUST(prctl(PR_SET_PDEATHSIG, 0) == 0 ? MPIRT_SUCCESS : MPIRT_ERR_INTERNAL);
    CHECK(agent.fd >= 0);
    kill(getppid(), SIGKILL);
    CHECK(poll(&agent, 1, -1) == 1);
    close(agent.fd);
}

/* spec: MPIRTX_Mode_commit/AGENT, MPIRTX_Mode_switch/AGENT, MPIRT_Uncommit/AGENT, MPIRT_Commit/AGENT, MPIRTX_Commit_group/AGENT */
/* spec: MPIRTX_Uncommit_group/AGENT, MPIRTX_Run/AGENT */
static void test_whatever_needs_the_agent_says_that_it_is_gone(int ended_by)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRTX_Mode mode;
    MPIRT_Timespec at = 0;
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create("counter", counts, NULL, qos, ms, &task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("other", &mode));
    if (ended_by > 0)
        MUST(MPIRTX_Mode_commit(mode));
    lose_the_agent();
    if (ended_by > 0)
        EXPECT(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at), MPIRT_ERR_AGENT);
    else
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_AGENT);
    if (ended_by == 0)
        EXPECT(MPIRT_Uncommit(), MPIRT_ERR_AGENT);
    else if (ended_by == 1)
        EXPECT(MPIRTX_Run(), MPIRT_ERR_AGENT);
    else
        EXPECT(MPIRTX_Uncommit_group(MPIRT_GROUP_WORLD), MPIRT_ERR_AGENT);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_AGENT);
    EXPECT(MPIRTX_Commit_group(MPIRT_GROUP_WORLD), MPIRT_ERR_AGENT);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whatever_needs_the_agent_says_that_it_is_gone(argc > 1 ? atoi(argv[1]) : 0);
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
