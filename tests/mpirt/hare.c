/* A program that was written for HARE takes what Commit returns for the epoch, and is told so. */
#include "harness.h"

/* spec: SETUP-EPOCH-02 */
static void test_the_return_of_commit_is_no_epoch(void)
{
    static const MPIRT_Timespec period = 1000000;
    MPIRT_Timespec epoch = MPIRT_Commit();
    const char *detail;
    CHECK(epoch == MPIRT_SUCCESS);
    for (int number = 1; number < 4; number++) {
        EXPECT(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + number * period), MPIRT_ERR_TIME_PAST);
        CHECK(detail_says("MPIRTX_Get_epoch"));
    }
    OK(MPIRTX_Get_epoch(&epoch));
    OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + 500 * period));
    /* What has passed since the epoch is reckoned from it. */
    EXPECT(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + period), MPIRT_ERR_TIME_PAST);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "MPIRTX_Get_epoch") == NULL);
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_return_of_commit_is_no_epoch();
    return end();
}
