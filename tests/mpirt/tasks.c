/* Tasks that run to the job's horizon. The job has one: it is started with a number of rounds. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

/* What a task may not call, it is told; what may be called at any time answers. */
static int answers[8];

static void calls_what_it_may_not(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Cset set;
    int flag = 0;
    (void)task, (void)instance, (void)argument;
    answers[0] = MPIRT_Cset_create("set", &set);
    answers[1] = MPIRT_Commit();
    answers[2] = MPIRT_Uncommit();
    answers[3] = MPIRTX_Run();
    answers[4] = MPIRT_Sleep(MPIRT_TIME_RELATIVE, MPIRT_TIME_SPEC_IGNORE);
    answers[5] = MPIRT_Channel_wait(MPIRT_CHANNEL_NULL, MPIRT_TIME_SPEC_IGNORE);
    answers[6] = MPIRT_Init(NULL, NULL);
    answers[7] = MPIRT_Is_initialized(&flag);
}

/* spec: TASK-LAW-01 */
static void test_calls_from_a_task(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "caller-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    OK(MPIRTX_Task_create(name, calls_what_it_may_not, NULL, qos, ms, &task));
    OK(MPIRT_Commit());
    OK(MPIRTX_Run());
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    for (int place = 0; place < 6; place++)
        CHECK(answers[place] == MPIRT_ERR_REAL_TIME);
    CHECK(answers[6] == MPIRT_ERR_ALREADY_INITIALIZED);
    CHECK(answers[7] == MPIRT_SUCCESS);
}

/* Getters answer in a task, of what was committed. */
static struct {
    MPIRT_Cset set;
    MPIRT_Cvector vector;
    int codes[11], own, size, count, flag, found, many;
    MPIRT_Object element;
    MPIRT_Object_type type;
    char name[MPIRT_NAME_MAX], world[MPIRT_NAME_MAX], member[MPIRT_NAME_MAX];
} asked;

static void asks(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    int *code = asked.codes;
    (void)task, (void)instance, (void)argument;
    *code++ = MPIRT_Group_rank(MPIRT_GROUP_WORLD, &asked.own);
    *code++ = MPIRT_Group_size(MPIRT_GROUP_WORLD, &asked.size);
    *code++ = MPIRT_Container_access_count(MPIRT_CONTAINER(asked.set), &asked.count);
    *code++ = MPIRT_Object_get_name(MPIRT_OBJECT(asked.set), asked.name);
    *code++ = MPIRT_Group_get_name(MPIRT_GROUP_WORLD, asked.world);
    *code++ = MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, rank, asked.member);
    *code++ = MPIRTX_Group_find_member(MPIRT_GROUP_WORLD, asked.member, &asked.found);
    *code++ = MPIRT_Cvector_get_element(asked.vector, 0, &asked.element);
    *code++ = MPIRTX_Cset_contains(asked.set, MPIRT_OBJECT(asked.vector), &asked.flag);
    *code++ = MPIRT_Cvector_get_size(asked.vector, &asked.many);
    *code++ = MPIRT_Object_get_object_type(MPIRT_OBJECT(asked.vector), &asked.type);
}

static void test_getters_answer_in_a_task(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "asker-%d", rank);
    OK(MPIRT_Cset_create("asked", &asked.set));
    OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(MPIRT_GROUP_WORLD)}, &asked.vector));
    OK(MPIRT_Cset_insert(asked.set, MPIRT_OBJECT(asked.vector)));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    OK(MPIRTX_Task_create(name, asks, NULL, qos, ms, &task));
    MUST(MPIRT_Commit());
    OK(MPIRTX_Run());
    for (int place = 0; place < 11; place++)
        OK(asked.codes[place]);
    CHECK(asked.own == rank && asked.size == members && asked.count == 1 && asked.flag == 1 && asked.many == 1);
    CHECK(strcmp(asked.name, "asked") == 0 && strlen(asked.world) > 0 && asked.found == rank);
    CHECK(asked.element.bits == MPIRT_OBJECT(MPIRT_GROUP_WORLD).bits && asked.type == MPIRT_TYPE_CVECTOR);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Cset_free(&asked.set));
    OK(MPIRT_Cvector_free(&asked.vector));
}

/* What a task was told of its instances. */
static struct {
    uint64_t instances;
    int early, out_of_order;
    MPIRT_Timespec epoch, off;
} seen;

static const MPIRT_Timespec period = 20000000;

static void watches(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Timespec now, epoch;
    (void)task, (void)argument;
    MPIRT_Get_time(&now);
    seen.early += now < instance->start;
    seen.out_of_order += instance->number < seen.instances;
    seen.instances = instance->number + 1;
    /* Its instants are on the clock that everybody reads. */
    if (MPIRTX_Get_epoch(&epoch) == MPIRT_SUCCESS && instance->deadline != epoch + (MPIRT_Timespec)(instance->number + 1) * period)
        seen.off++;
    seen.epoch = epoch;
}

static void check_durations(const MPIRTX_Duration_metrics *durations, uint64_t count)
{
    CHECK(durations->count == count);
    CHECK(durations->least <= durations->last && durations->last <= durations->greatest);
    CHECK(durations->sum >= durations->greatest && durations->sum <= durations->greatest * (MPIRT_Timespec)count);
}

/* spec: TASK-CREATE-01, TASK-RUN-01, TASK-PORTABLE-01, SETUP-TIME-04, MPIRTX_Run */
/* spec: MPIRTX_Task_get_metrics, TASK-METRIC-TASK-01, TASK-METRIC-TASK-02, TASK-METRIC-RUN-01 */
/* spec: MPIRTX_Task_set_core, MPIRTX_Task_set_core/ARGUMENT */
/* spec: MPIRTX_Task_set_overrun_policy, MPIRTX_Task_set_overrun_policy/ARGUMENT */
/* spec: TASK-RUN-03 */
static void test_a_task_is_watched_while_it_runs(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRTX_Task_metrics metrics, later;
    MPIRT_Timespec epoch;
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "watched-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, period, period, &qos));
    OK(MPIRTX_Task_create(name, watches, NULL, qos, ms, &task));
    EXPECT(MPIRTX_Task_set_core(task, 1 << 20), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Task_set_core(task, -2), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Task_set_core(task, 0));
    OK(MPIRTX_Task_set_core(task, MPIRTX_CORE_ANY));
    EXPECT(MPIRTX_Task_set_overrun_policy(task, (MPIRTX_Overrun_policy)3), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Task_set_overrun_policy(task, MPIRTX_OVERRUN_LATE));
    EXPECT(MPIRTX_Task_get_metrics(task, &metrics), MPIRT_ERR_NOT_COMMITTED);
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    do
        OK(MPIRTX_Task_get_metrics(task, &metrics));
    while (metrics.completed < 3 && MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms) == MPIRT_SUCCESS);
    CHECK(metrics.completed >= 3 && metrics.skipped == 0);
    check_durations(&metrics.compute, metrics.completed);
    check_durations(&metrics.start_lateness, metrics.completed);
    CHECK(metrics.start_lateness.least >= 0);
    OK(MPIRTX_Task_get_metrics(task, &later));
    CHECK(later.completed >= metrics.completed && later.missed >= metrics.missed);
    OK(MPIRTX_Run());
    CHECK(seen.early == 0 && seen.out_of_order == 0 && seen.off == 0 && seen.epoch == epoch);
    CHECK(seen.instances >= 3);
    EXPECT(MPIRTX_Run(), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_calls_from_a_task();
    test_getters_answer_in_a_task();
    test_a_task_is_watched_while_it_runs();
    return end();
}
