/* The last member does not commit within the job's limit: it is ended, and the others are told. */
#include "harness.h"

#include <unistd.h>

/* spec: MPIRT_Commit/TIMEOUT */
static void test_whoever_does_not_commit_is_not_waited_for(void)
{
    const char *detail;
    if (rank == members - 1)
        for (;;)
            pause();
    EXPECT(MPIRT_Commit(), MPIRT_ERR_TIMEOUT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "in time") != NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_whoever_does_not_commit_is_not_waited_for();
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
