/* What a task's metrics say, told to be compared with the report of the same run: one task overruns, another shares its core. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;
/* The instance that tells what was counted of those before it, and the one that takes far more than its budget. */
enum { TELLS = 15, OVERRUNS = 5 };

struct told {
    int is_told;
    uint64_t number;
    MPIRTX_Task_metrics metrics;
};

static void tell(struct told *told, MPIRTX_Task task, const MPIRTX_Instance *instance)
{
    if (told->is_told || instance->number < TELLS)
        return;
    told->number = instance->number;
    told->is_told = MPIRTX_Task_get_metrics(task, &told->metrics) == MPIRT_SUCCESS;
}

static void hog(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Timespec now, until;
    tell(argument, task, instance);
    if (instance->number != OVERRUNS)
        return;
    MPIRT_Get_time(&now);
    until = now + 25 * ms;
    while (now < until)
        MPIRT_Get_time(&now);
}

static void near(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    tell(argument, task, instance);
}

static void say(const char *name, const struct told *told)
{
    const MPIRTX_Task_metrics *metrics = &told->metrics;
    CHECK(told->is_told);
    CHECK(metrics->completed + metrics->skipped == told->number);
    printf("metrics %s-%d: before %llu completed %llu missed %llu overruns %llu skipped %llu compute %lld lateness %lld\n", name, rank,
           (unsigned long long)told->number, (unsigned long long)metrics->completed, (unsigned long long)metrics->missed,
           (unsigned long long)metrics->overruns, (unsigned long long)metrics->skipped, (long long)metrics->compute.sum,
           (long long)metrics->start_lateness.sum);
}

static void test_what_is_counted_is_told(void)
{
    struct told told[2] = {{0}};
    MPIRT_Qos first, second;
    MPIRTX_Task tasks[2];
    char names[2][MPIRT_NAME_MAX];
    snprintf(names[0], sizeof names[0], "hog-%d", rank);
    snprintf(names[1], sizeof names[1], "near-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 20 * ms, &first));
    OK(MPIRT_Qos_channel_time_create(NULL, 10 * ms, 20 * ms, 20 * ms, &second));
    OK(MPIRTX_Task_create(names[0], hog, &told[0], first, ms, &tasks[0]));
    OK(MPIRTX_Task_create(names[1], near, &told[1], second, ms, &tasks[1]));
    for (int task = 0; task < 2; task++)
        OK(MPIRTX_Task_set_core(tasks[task], 0));
    MUST(MPIRT_Commit());
    OK(MPIRTX_Run());
    say("hog", &told[0]);
    say("near", &told[1]);
    /* Whose core another member's task has kept is late or left out, without an overrun of its own. */
    CHECK(told[0].metrics.missed >= 1);
    for (int task = 0; task < 2; task++)
        OK(MPIRTX_Task_free(&tasks[task]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_what_is_counted_is_told();
    return end();
}
