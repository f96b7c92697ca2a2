/* Members that uncommit long after each other: all run on until the last one wants it too. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000, period = 20000000;

struct seen {
    uint64_t instances, next;
    MPIRT_Timespec first;
    int out_of_order, outside;
};

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct seen *seen = argument;
    MPIRT_Timespec epoch;
    (void)task;
    if (seen->instances == 0)
        MPIRT_Get_time(&seen->first);
    /* One that a busy machine has kept from its window is left out. */
    seen->out_of_order += instance->number < seen->next;
    seen->next = instance->number + 1;
    /* The number says which period it is; the budget of 1 ms fits in what is left of it. */
    if (MPIRTX_Get_epoch(&epoch) == MPIRT_SUCCESS) {
        MPIRT_Timespec begin = epoch + (MPIRT_Timespec)instance->number * period;
        seen->outside += instance->start < begin || instance->start > begin + period - ms || instance->deadline != begin + period;
    }
    seen->instances++;
}

/* spec: SETUP-UNCOMMIT-01, SETUP-UNCOMMIT-03, TASK-RUN-02, TASK-RUN-03, MPIRT_Uncommit */
static void test_members_that_uncommit_apart_end_together(void)
{
    struct seen seen = {0};
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRT_Timespec epoch, now;
    uint64_t last;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "counter-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, period, period, &qos));
    OK(MPIRTX_Task_create(name, counts, &seen, qos, ms, &task));
    OK(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    /* A busy machine may come back from Commit when the first instant has passed. */
    if (rank > 0)
        OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, epoch + 300 * ms * rank));
    OK(MPIRT_Uncommit());
    OK(MPIRT_Get_time(&now));
    last = seen.instances;
    /* Nobody comes back before the last has called. */
    CHECK(now >= epoch + 300 * ms * (members - 1));
    /* The first to uncommit has run for as long as the last. */
    CHECK(members == 1 || last > 0);
    CHECK(last == 0 || seen.first >= epoch);
    CHECK(seen.outside == 0 && seen.out_of_order == 0);
    OK(MPIRTX_Task_set_name(task, "other"));
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 50 * ms));
    CHECK(seen.instances == last);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_members_that_uncommit_apart_end_together();
    test_members_that_uncommit_apart_end_together();
    return end();
}
