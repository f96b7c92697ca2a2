/* Three members that commit different things, so that each waits for another that waits too: it is said who is where, and nobody is ended
 * for it. Then the last one does not come at all. */
#include "harness.h"

#include <unistd.h>

/* spec: SETUP-COMMIT-08 */
static void test_crossed_commits(MPIRT_Group two)
{
    if (rank == 1) {
        EXPECT(MPIRTX_Commit_group(two), MPIRT_ERR_TIMEOUT);
        CHECK(detail_says("member \"2\" did not commit in time; member \"2\" commits with all members, who wait for member \"1\""));
    }
    MUST(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

/* The first one waits for both others, of which one waits in a group's commit, and is not ended for it. */
static void test_a_member_that_does_not_come(MPIRT_Group two)
{
    while (rank == 2)
        pause();
    if (rank == 1) {
        EXPECT(MPIRTX_Commit_group(two), MPIRT_ERR_TIMEOUT);
        CHECK(detail_says("member \"2\""));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_TIMEOUT);
    } else {
        EXPECT(MPIRT_Commit(), MPIRT_ERR_TIMEOUT);
    }
    CHECK(detail_says("member \"2\" was ended since it did not commit in time"));
}

int main(int argc, char **argv)
{
    MPIRT_Group two;
    begin(&argc, &argv);
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 2, (int[]){1, 2}, NULL, &two));
    test_crossed_commits(two);
    test_a_member_that_does_not_come(two);
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
