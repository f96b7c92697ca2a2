/* A member dies while the others wait for it in Uncommit, or with the argument "commit" in Commit. The job ends by that, so this file is a
 * run of its own. */
#define _GNU_SOURCE
#include "harness.h"

#include <unistd.h>

/* spec: MPIRT_Uncommit/PEER_LOST, MPIRT_Commit/PEER_LOST */
static void test_whoever_waits_for_the_dead_is_told(void)
{
    OK(MPIRT_Commit());
    if (rank == members - 1) {
        usleep(200000);
        _exit(7);
    }
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_PEER_LOST);
    CHECK(names_the_last());
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
}

/* spec: SETUP-COMMIT-07, MPIRT_Commit/PEER_LOST */
static void test_a_death_ends_the_commit_of_the_others(void)
{
    char words[64];
    if (rank == members - 1) {
        usleep(200000);
        _exit(7);
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_PEER_LOST);
    snprintf(words, sizeof words, "member \"%d\" died during commit (exit status 7)", members - 1);
    CHECK(detail_says(words));
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
}

/* Whoever is dead is not waited for. */
/* spec: SETUP-FINAL-03 */
static void test_finalize_without_the_dead(void)
{
    OK(MPIRT_Finalize());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "commit") == 0)
        test_a_death_ends_the_commit_of_the_others();
    else
        test_whoever_waits_for_the_dead_is_told();
    test_finalize_without_the_dead();
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
