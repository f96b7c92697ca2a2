/* What committing a mode does to what runs: nothing. Its threads stay as they were, and nobody beside them gets a class that could take
 * processor time from them. */
#define _GNU_SOURCE
#include "harness.h"

#include <dirent.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;
enum { THREADS_MAX = 64, BESIDE = 6, REFUSALS = 5 };

/* A thread as the kernel schedules it. */
struct thread {
    pid_t number;
    int policy, priority;
    cpu_set_t cores;
};

static struct thread look(pid_t number)
{
    struct thread thread;
    struct sched_param parameters = {0};
    memset(&thread, 0, sizeof thread);
    thread.number = number;
    thread.policy = sched_getscheduler(number) & ~SCHED_RESET_ON_FORK;
    if (sched_getparam(number, &parameters) == 0)
        thread.priority = parameters.sched_priority;
    sched_getaffinity(number, sizeof thread.cores, &thread.cores);
    return thread;
}

static int is_same(const struct thread *one, const struct thread *other)
{
    return one->number == other->number && one->policy == other->policy && one->priority == other->priority
           && CPU_EQUAL(&one->cores, &other->cores);
}

static int look_at_all(struct thread *threads)
{
    DIR *folder = opendir("/proc/self/task");
    struct dirent *entry;
    int count = 0;
    CHECK(folder != NULL);
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && count < THREADS_MAX)
            threads[count++] = look((pid_t)atoi(entry->d_name));
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* What runs all the time: who runs it, and which instances. */
struct always {
    pid_t thread;
    uint64_t instances, next, skipped;
    int again, moved;
};

static void runs(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct always *always = argument;
    pid_t thread = (pid_t)syscall(SYS_gettid);
    (void)task;
    always->moved += always->instances > 0 && always->thread != thread;
    always->thread = thread;
    always->again += instance->number < always->next;
    always->skipped += instance->number - always->next;
    always->next = instance->number + 1;
    __atomic_store_n(&always->instances, always->instances + 1, __ATOMIC_RELEASE);
}

static void never(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

static void wait_for_more(struct always *always, uint64_t count)
{
    uint64_t before = __atomic_load_n(&always->instances, __ATOMIC_ACQUIRE);
    for (int looks = 0; looks < 2000 && __atomic_load_n(&always->instances, __ATOMIC_ACQUIRE) < before + count; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    CHECK(__atomic_load_n(&always->instances, __ATOMIC_ACQUIRE) >= before + count);
}

static MPIRTX_Task make_task(const char *kind, int number, MPIRT_Qos qos, MPIRT_Timespec budget)
{
    char name[MPIRT_NAME_MAX];
    MPIRTX_Task task;
    snprintf(name, sizeof name, "%s%d-%d", kind, number, rank);
    MUST(MPIRTX_Task_create(name, never, NULL, qos, budget, &task));
    return task;
}

/* The threads that were there are as they were; gives how many there are more, none of which has a class. */
static int check_threads(const struct thread *before, int count)
{
    struct thread now[THREADS_MAX];
    int found = look_at_all(now), more = found - count;
    for (int known = 0; known < count; known++) {
        int same = 0;
        for (int place = 0; place < found; place++)
            same += is_same(&before[known], &now[place]);
        CHECK(same == 1);
    }
    for (int place = 0; place < found; place++) {
        int is_new = 1;
        for (int known = 0; known < count; known++)
            is_new &= before[known].number != now[place].number;
        if (is_new)
            CHECK(now[place].policy == SCHED_OTHER && now[place].priority == 0);
    }
    return more;
}

/* spec: MODE-COMMIT-02, MODE-COMMIT-03, TASK-PORTABLE-01 */
static void test_what_runs_stays_as_it_is(void)
{
    static struct always always;
    struct thread before[THREADS_MAX];
    MPIRT_Qos qos;
    MPIRTX_Task task, beside[BESIDE];
    MPIRTX_Mode mode;
    MPIRTX_Task_metrics metrics;
    char name[MPIRT_NAME_MAX];
    int count;
    MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 9 * ms, 10 * ms, &qos));
    snprintf(name, sizeof name, "always-%d", rank);
    MUST(MPIRTX_Task_create(name, runs, &always, qos, ms / 20, &task));
    MUST(MPIRT_Commit());
    wait_for_more(&always, 3);
    count = look_at_all(before);
    /* Pinned, which a thread with a deadline of its own cannot be. */
    struct thread own = look(always.thread);
    CHECK(CPU_COUNT(&own.cores) == 1);
    /* Refused again and again, it leaves no thread, and changes none. */
    MUST(MPIRTX_Mode_open("beside", &mode));
    for (int refusal = 0; refusal < REFUSALS; refusal++) {
        for (int number = 0; number < BESIDE; number++)
            beside[number] = make_task("heavy", number, qos, 6 * ms);
        EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ADMISSION);
        CHECK(check_threads(before, count) == 0);
        for (int number = 0; number < BESIDE; number++)
            OK(MPIRTX_Task_free(&beside[number]));
    }
    /* Committed, it has a thread for each task, and none with a class. */
    for (int number = 0; number < BESIDE; number++)
        beside[number] = make_task("light", number, qos, ms / 50);
    MUST(MPIRTX_Mode_commit(mode));
    CHECK(check_threads(before, count) == BESIDE);
    wait_for_more(&always, 3);
    CHECK(check_threads(before, count) == BESIDE);
    OK(MPIRTX_Task_get_metrics(task, &metrics));
    OK(MPIRT_Uncommit());
    /* One thread ran them all, each once, in their order; those that the machine kept from their window were told. */
    CHECK(always.moved == 0 && always.again == 0);
    CHECK(always.instances + always.skipped == always.next);
    CHECK(metrics.completed + metrics.skipped <= always.next);
    OK(MPIRTX_Task_free(&task));
    for (int number = 0; number < BESIDE; number++)
        OK(MPIRTX_Task_free(&beside[number]));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_what_runs_stays_as_it_is();
    return end();
}
