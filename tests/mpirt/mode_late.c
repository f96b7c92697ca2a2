/* A member that does not come: the others are told after the job's limit, and what runs goes on. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    ++*(uint64_t *)argument;
}

/* spec: MPIRTX_Mode_commit/TIMEOUT, MPIRTX_Mode_switch/TIMEOUT */
static void test_a_member_that_does_not_come_is_not_waited_for_without_end(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRTX_Mode mode, current;
    MPIRT_Timespec at = 0, epoch;
    uint64_t instances = 0;
    char name[MPIRT_NAME_MAX];
    int is_late = members > 1 && rank == 0;
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create(name, nothing, &instances, qos, ms / 20, &task));
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("late", &mode));
    OK(MPIRTX_Get_epoch(&epoch));
    if (members > 1) {
        /* The late one comes when the others have been told: its own attempt is the one that was refused. */
        OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + (is_late ? 2500 : 0) * ms));
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_TIMEOUT);
        OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + 3000 * ms));
    }
    OK(MPIRTX_Mode_commit(mode));
    if (members > 1) {
        OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + (is_late ? 6500 : 4000) * ms));
        EXPECT(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at), MPIRT_ERR_TIMEOUT);
        OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + 7000 * ms));
        CHECK(instances > 0);
    }
    CHECK(at == 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    OK(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    CHECK(at > 0);
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_member_that_does_not_come_is_not_waited_for_without_end();
    return end();
}
