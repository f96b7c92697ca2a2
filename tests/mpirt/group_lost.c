/* Three members. The last one does not come to a group's commit, for which it is not ended, and later kills itself in one; what the
 * others have committed without it goes on. */
#include "harness.h"

#include <signal.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;

static MPIRT_Group group_of(int count, const int *ranks)
{
    MPIRT_Group group;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, count, ranks, NULL, &group));
    return group;
}

/* spec: MPIRTX_Commit_group/TIMEOUT */
static void test_whoever_does_not_come_is_not_ended(void)
{
    MPIRT_Group ends = group_of(2, (const int[]){0, 2});
    if (rank == 0) {
        EXPECT(MPIRTX_Commit_group(ends), MPIRT_ERR_TIMEOUT);
        CHECK(detail_says("member \"2\" did not commit in time"));
    }
    OK(MPIRT_Group_free(&ends));
    /* The last one was here all the time. */
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

/* spec: MPIRTX_Commit_group/PEER_LOST, MPIRTX_Uncommit_group/PEER_LOST */
static void test_a_death_is_for_its_group_alone(void)
{
    MPIRT_Group ends = group_of(2, (const int[]){0, 2}), middle = group_of(1, (const int[]){1});
    MPIRT_Group survivors = group_of(2, (const int[]){0, 1});
    if (rank == 1) {
        MUST(MPIRTX_Commit_group(middle));
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 500 * ms));
        OK(MPIRTX_Uncommit_group(middle));
    } else {
        MUST(MPIRTX_Commit_group(ends));
        if (rank == 2)
            raise(SIGKILL);
        EXPECT(MPIRTX_Uncommit_group(ends), MPIRT_ERR_PEER_LOST);
        CHECK(names_the_last());
        EXPECT(MPIRTX_Uncommit_group(ends), MPIRT_ERR_NOT_COMMITTED);
        EXPECT(MPIRTX_Commit_group(ends), MPIRT_ERR_PEER_LOST);
        CHECK(detail_says("member \"2\" has died"));
    }
    /* Without the dead there can be commits. */
    MUST(MPIRTX_Commit_group(survivors));
    OK(MPIRTX_Uncommit_group(survivors));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_PEER_LOST);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whoever_does_not_come_is_not_ended();
    test_a_death_is_for_its_group_alone();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
