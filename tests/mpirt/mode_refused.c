/* Modes that are refused: what runs goes on as it was, and another attempt may follow. */
#include "harness.h"

#include <pthread.h>

static const MPIRT_Timespec ms = 1000000;
enum { TASKS_TOO_MANY = 8 };

struct seen {
    uint64_t instances;
    int out_of_order;
};

/* What runs all the time: each test commits it, and it must not miss an instance for what is refused beside it. */
struct run {
    struct seen seen;
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRT_Timespec epoch;
};

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct seen *seen = argument;
    (void)task;
    seen->out_of_order += instance->number < seen->instances;
    seen->instances++;
}

static MPIRTX_Task make_task(const char *kind, MPIRT_Qos qos, MPIRT_Timespec budget, struct seen *seen)
{
    char name[MPIRT_NAME_MAX];
    MPIRTX_Task task;
    snprintf(name, sizeof name, "%s-%d", kind, rank);
    MUST(MPIRTX_Task_create(name, counts, seen, qos, budget, &task));
    return task;
}

static void begin_run(struct run *run)
{
    memset(run, 0, sizeof *run);
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &run->qos));
    run->task = make_task("always", run->qos, ms / 20, &run->seen);
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&run->epoch));
    OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, run->epoch));
}

static void end_run(struct run *run)
{
    uint64_t before;
    MPIRTX_Mode current;
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    before = __atomic_load_n(&run->seen.instances, __ATOMIC_RELAXED);
    for (int looks = 0; looks < 1000 && __atomic_load_n(&run->seen.instances, __ATOMIC_RELAXED) == before; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    CHECK(__atomic_load_n(&run->seen.instances, __ATOMIC_RELAXED) > before);
    OK(MPIRT_Uncommit());
    CHECK(run->seen.out_of_order == 0);
    OK(MPIRTX_Task_free(&run->task));
    OK(MPIRT_Qos_free(&run->qos));
}

/* spec: MODE-COMMIT-02, MPIRTX_Mode_commit/ADMISSION */
static void test_a_mode_that_does_not_fit_can_be_changed_and_tried_again(void)
{
    struct run run;
    struct seen seen = {0, 0};
    MPIRTX_Mode mode;
    MPIRT_Qos qos;
    MPIRTX_Task tasks[TASKS_TOO_MANY];
    MPIRT_Timespec at;
    const char *detail;
    char kind[24];
    begin_run(&run);
    MUST(MPIRTX_Mode_open("too much", &mode));
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &qos));
    for (int place = 0; place < TASKS_TOO_MANY; place++) {
        snprintf(kind, sizeof kind, "heavy%d", place);
        tasks[place] = make_task(kind, qos, 3 * ms, &seen);
    }
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ADMISSION);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "heavy") != NULL);
    for (int place = 0; place < TASKS_TOO_MANY; place++)
        OK(MPIRTX_Task_free(&tasks[place]));
    tasks[0] = make_task("light", qos, ms / 20, &seen);
    OK(MPIRTX_Mode_commit(mode));
    OK(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    CHECK(run.seen.out_of_order == 0 && run.seen.instances <= (uint64_t)((at - run.epoch) / (10 * ms)));
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Task_free(&tasks[0]));
    OK(MPIRTX_Task_free(&run.task));
    OK(MPIRT_Qos_free(&run.qos));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

/* spec: MPIRTX_Mode_commit/MISMATCH */
static void test_members_name_a_mode_alike(void)
{
    struct run run;
    MPIRTX_Mode mode;
    const char *detail;
    begin_run(&run);
    MUST(MPIRTX_Mode_open(rank == 0 ? "one" : "other", &mode));
    if (members > 1) {
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_MISMATCH);
        OK(MPIRTX_Error_detail(&detail));
        CHECK(strstr(detail, "one") != NULL && strstr(detail, "other") != NULL);
    }
    OK(MPIRTX_Mode_set_name(mode, "one"));
    OK(MPIRTX_Mode_commit(mode));
    end_run(&run);
    OK(MPIRTX_Mode_free(&mode));
}

/* spec: MPIRTX_Mode_commit/ARGUMENT */
static void test_a_mode_uses_nothing_of_what_runs_but_what_is_read(void)
{
    struct run run;
    struct seen seen = {0, 0};
    MPIRTX_Mode mode;
    MPIRT_Cset set;
    MPIRTX_Task shares;
    const char *detail;
    begin_run(&run);
    MUST(MPIRTX_Mode_open("sharing", &mode));
    OK(MPIRT_Cset_create("of both", &set));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(run.task)));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "always") != NULL);
    /* So it is where one member alone has such an object. */
    if (rank > 0)
        OK(MPIRT_Cset_free(&set));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ARGUMENT);
    CHECK(detail_says("member \"0\" cannot commit") && detail_says("always"));
    if (rank > 0)
        OK(MPIRT_Cset_create("of both", &set));
    OK(MPIRT_Cset_free(&set));
    shares = make_task("sharing", run.qos, ms / 20, &seen);
    OK(MPIRTX_Mode_commit(mode));
    end_run(&run);
    CHECK(seen.instances == 0);
    OK(MPIRTX_Task_free(&shares));
    OK(MPIRTX_Mode_free(&mode));
}

static void *of_another_thread(void *argument)
{
    MPIRT_Cset set;
    MPIRTX_Task *task = argument;
    EXPECT(MPIRT_Cset_create("foreign", &set), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Task_set_name(*task, "renamed"), MPIRT_ERR_OBJECT_COMMITTED);
    return NULL;
}

/* spec: MODE-OPEN-02 */
static void test_a_mode_is_made_by_the_thread_that_opened_it(void)
{
    struct run run;
    struct seen seen = {0, 0};
    MPIRTX_Mode mode;
    MPIRTX_Task task;
    MPIRT_Cset set;
    pthread_t thread;
    begin_run(&run);
    EXPECT(MPIRT_Cset_create("early", &set), MPIRT_ERR_OBJECT_COMMITTED);
    MUST(MPIRTX_Mode_open("one thread", &mode));
    task = make_task("made", run.qos, ms / 20, &seen);
    OK(MPIRTX_Task_set_name(task, "named"));
    CHECK(pthread_create(&thread, NULL, of_another_thread, &task) == 0);
    pthread_join(thread, NULL);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRTX_Mode_commit(mode));
    EXPECT(MPIRT_Cset_create("late", &set), MPIRT_ERR_OBJECT_COMMITTED);
    end_run(&run);
    OK(MPIRTX_Mode_free(&mode));
}

/* spec: MPIRTX_Mode_commit/UNCOMMITTED */
static void test_who_uncommits_refuses_a_mode_to_the_others(void)
{
    struct run run;
    MPIRTX_Mode mode;
    begin_run(&run);
    if (rank > 0) {
        MUST(MPIRTX_Mode_open("too late", &mode));
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_UNCOMMITTED);
    }
    OK(MPIRT_Uncommit());
    if (rank > 0)
        OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Task_free(&run.task));
    OK(MPIRT_Qos_free(&run.qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_mode_that_does_not_fit_can_be_changed_and_tried_again();
    test_members_name_a_mode_alike();
    test_a_mode_uses_nothing_of_what_runs_but_what_is_read();
    test_a_mode_is_made_by_the_thread_that_opened_it();
    test_who_uncommits_refuses_a_mode_to_the_others();
    return end();
}
