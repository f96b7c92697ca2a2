/* A process that is no part of a job and disturbs one, at instants that it is given, and writes down when it really did so:
 *
 *     plant KIND PIPE LOG CORE PERIOD FROM FOR AT [NUMBER]
 *
 * In each of the periods AT (comma-separated) it disturbs from FROM on, for FOR (nanoseconds). The pipe gives it the epoch and the process
 * number of the member that it disturbs, whose task's thread has the name V.user. Each line of the log says what was done, when it began and
 * ended (CLOCK_MONOTONIC), and by which process and thread. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BURSTS_MAX = 16, MS = 1000000, RANK = 95 };

static const char *kind, *log_path;
static int core, bursts, number;
static int64_t period, from, length, epoch, at[BURSTS_MAX];
static pid_t member, thread;

static void fail(const char *what)
{
    fprintf(stderr, "plant %s: %s: %s\n", kind, what, strerror(errno));
    exit(1);
}

static void must(int succeeded, const char *what)
{
    if (!succeeded)
        fail(what);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void sleep_until(int64_t instant)
{
    struct timespec time = {instant / 1000000000, instant % 1000000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
}

static void spin_until(int64_t instant)
{
    while (now() < instant)
        ;
}

static int64_t start_of(int burst) { return epoch + at[burst] * period + from; }

static int other_core(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int each = 0; each < CPU_SETSIZE; each++)
        if (CPU_ISSET(each, &set) && each != core)
            return each;
    return core;
}

static void pin(pid_t who, int where)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(where, &set);
    must(sched_setaffinity(who, sizeof set, &set) == 0, "sched_setaffinity");
}

static void rank(pid_t who, int policy, int priority)
{
    struct sched_param parameter = {.sched_priority = priority};
    must(sched_setscheduler(who, policy, &parameter) == 0, "sched_setscheduler");
}

/* In one write: several processes write to the same log. */
static void note_as(int64_t began, int64_t ended, pid_t pid, pid_t tid)
{
    char line[128], name[32] = "";
    int log = open(log_path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    snprintf(line, sizeof line, "/proc/%d/comm", tid);
    FILE *comm = fopen(line, "r");
    if (comm) {
        if (fgets(name, sizeof name, comm))
            name[strcspn(name, "\n")] = 0;
        fclose(comm);
    }
    int bytes = snprintf(line, sizeof line, "%s %" PRId64 " %" PRId64 " %d %d %s\n", kind, began, ended, pid, tid, *name ? name : "plant");
    must(log >= 0 && write(log, line, (size_t)bytes) == bytes, log_path);
    close(log);
}

static void note(int64_t began, int64_t ended) { note_as(began, ended, getpid(), gettid()); }

/* Writes a text into a file of a control group. */
static int put(const char *folder, const char *file, const char *format, ...)
{
    char path[256], text[64];
    va_list arguments;
    va_start(arguments, format);
    int bytes = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    int to = open(path, O_WRONLY);
    int done = to >= 0 && write(to, text, (size_t)bytes) == bytes;
    if (to >= 0)
        close(to);
    return done;
}

static void find_thread(void)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/%d/task", member);
    DIR *folder = opendir(path);
    must(folder != NULL, path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[32] = "";
        snprintf(path, sizeof path, "/proc/%d/task/%s/comm", member, entry->d_name);
        FILE *comm = fopen(path, "r");
        if (comm && fgets(name, sizeof name, comm) && !strcmp(name, "V.user\n"))
            thread = atoi(entry->d_name);
        if (comm)
            fclose(comm);
    }
    closedir(folder);
    must(thread != 0, "the member has no thread V.user");
}

/* For what acts upon the member without taking its core: acts in time, from another core. */
static void stand_aside(void)
{
    pin(0, other_core());
    rank(0, SCHED_FIFO, RANK - 1);
}

/* Holds the core from each start on, in whatever class this thread has. */
static void hold(void)
{
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        int64_t began = now();
        spin_until(start_of(burst) + length);
        note(began, now());
    }
}

static void ranked(int policy, int priority)
{
    pin(0, core);
    rank(0, policy, priority);
    hold();
}

/* Ordinary, but for the bursts; on a busy machine it gets its core all the same. */
static void raising(void)
{
    pin(0, core);
    setpriority(PRIO_PROCESS, 0, -20);
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        rank(0, SCHED_FIFO, RANK);
        int64_t began = now();
        spin_until(start_of(burst) + length);
        rank(0, SCHED_OTHER, 0);
        note(began, now());
    }
}

/* Processes that live for two milliseconds, one after the other, in two rows. */
static void row(void)
{
    pid_t second = fork();
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        int64_t end = start_of(burst) + length;
        sleep_until(start_of(burst) + (second ? 0 : MS));
        while (now() < end) {
            pid_t child = fork();
            if (child == 0) {
                pin(0, core);
                rank(0, SCHED_FIFO, RANK);
                int64_t began = now();
                spin_until(began + 2 * MS);
                note(began, now());
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
    }
    if (second == 0)
        _exit(0);
    waitpid(second, NULL, 0);
}

static void *deadline_thread(void *unused)
{
    /* As in linux/sched/types.h, which cannot be had beside the C library's own. */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {sizeof attr, 6, 0, 0, 0, (uint64_t)(length + MS), (uint64_t)(length + 2 * MS), (uint64_t)period};
    must(syscall(SYS_sched_setattr, 0, &attr, 0) == 0, "sched_setattr");
    hold();
    return unused;
}

static void *ordinary_thread(void *unused)
{
    pin(0, core);
    setpriority(PRIO_PROCESS, 0, number);
    hold();
    return unused;
}

/* Several threads that do the same. */
static void threads(int count, void *(*body)(void *))
{
    pthread_t each[8];
    for (int place = 0; place < count; place++)
        must(pthread_create(&each[place], NULL, body, NULL) == 0, "pthread_create");
    for (int place = 0; place < count; place++)
        pthread_join(each[place], NULL);
}

static pthread_mutex_t boosting;
static pthread_barrier_t both;

static void *waits_for_the_boosted(void *unused)
{
    pin(0, other_core());
    rank(0, SCHED_FIFO, RANK);
    for (int burst = 0; burst < bursts; burst++) {
        pthread_barrier_wait(&both);
        pthread_mutex_lock(&boosting);
        pthread_mutex_unlock(&boosting);
    }
    return unused;
}

/* An ordinary thread that holds a mutex for which a thread of a high priority waits: the kernel lends it that priority. */
static void boosted(void)
{
    pthread_mutexattr_t inherit;
    pthread_mutexattr_init(&inherit);
    pthread_mutexattr_setprotocol(&inherit, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&boosting, &inherit);
    pthread_barrier_init(&both, NULL, 2);
    pin(0, core);
    setpriority(PRIO_PROCESS, 0, -20);
    pthread_t waiter;
    pthread_create(&waiter, NULL, waits_for_the_boosted, NULL);
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        pthread_mutex_lock(&boosting);
        pthread_barrier_wait(&both);
        int64_t began = now();
        spin_until(start_of(burst) + length);
        int64_t ended = now();
        pthread_mutex_unlock(&boosting);
        note(began, ended);
    }
    pthread_join(waiter, NULL);
}

/* In a PID namespace of its own, where it is process 1: its number in ours is what it writes down. */
static void namespaced(void)
{
    int64_t *times = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(times != MAP_FAILED && unshare(CLONE_NEWPID) == 0, "unshare");
    pid_t child = fork();
    if (child == 0) {
        pin(0, core);
        rank(0, SCHED_FIFO, RANK);
        for (int burst = 0; burst < bursts; burst++) {
            sleep_until(start_of(burst));
            times[2 * burst] = now();
            spin_until(start_of(burst) + length);
            times[2 * burst + 1] = now();
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    for (int burst = 0; burst < bursts; burst++)
        note_as(times[2 * burst], times[2 * burst + 1], child, child);
}

static void stopping(pid_t whom)
{
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        kill(whom, SIGSTOP);
        int64_t began = now();
        sleep_until(start_of(burst) + length);
        note(began, now());
        kill(whom, SIGCONT);
    }
}

/* Stops the member and lets it go on again and again: each time it may run for so many microseconds, and stands still for four times as many. */
static void storm(void)
{
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        int64_t end = start_of(burst) + length, runs = (int64_t)number * 1000;
        sleep_until(start_of(burst));
        int64_t began = now();
        while (now() < end) {
            kill(member, SIGSTOP);
            spin_until(now() + 4 * runs);
            kill(member, SIGCONT);
            spin_until(now() + runs);
        }
        note(began, now());
    }
}

/* A process that becomes another program, of another name, when it has the core: others may have met it before. */
static void becoming(void)
{
    for (int burst = 0; burst < bursts; burst++) {
        pid_t child = fork();
        if (child == 0) {
            char end[32];
            snprintf(end, sizeof end, "%" PRId64, start_of(burst) + length);
            pin(0, core);
            rank(0, SCHED_FIFO, RANK);
            for (int early = 45; early > 25; early--)
                sleep_until(start_of(burst) - early * MS);
            sleep_until(start_of(burst));
            execl("/proc/self/exe", "exe", "became", log_path, end, NULL);
            fail("execl");
        }
        waitpid(child, NULL, 0);
    }
}

static int became(const char *log, int64_t end)
{
    kind = "becoming";
    log_path = log;
    int64_t began = now();
    spin_until(end);
    note(began, now());
    return 0;
}

/* What a debugger does: stops the thread, and holds it, lets it go instruction by instruction, or system call by system call. */
static void tracing(int request)
{
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        int64_t end = start_of(burst) + length;
        sleep_until(start_of(burst));
        must(ptrace(PTRACE_SEIZE, thread, 0, 0) == 0, "PTRACE_SEIZE");
        must(ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0, "PTRACE_INTERRUPT");
        must(waitpid(thread, NULL, __WALL) == thread, "waitpid");
        int64_t began = now();
        if (!request)
            sleep_until(end);
        while (now() < end) {
            if (request == PTRACE_SYSCALL)
                sleep_until(now() + 3 * MS);
            ptrace(request, thread, 0, 0);
            if (request == PTRACE_SYSCALL)
                ptrace(PTRACE_INTERRUPT, thread, 0, 0);
            waitpid(thread, NULL, __WALL);
        }
        note(began, now());
        must(ptrace(PTRACE_DETACH, thread, 0, 0) == 0, "PTRACE_DETACH");
    }
}

/* Waits until the member has ended: who looks late finds it where it was. */
static void await_the_member(void)
{
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, member, 0), .events = POLLIN};
    while (end.fd >= 0 && poll(&end, 1, -1) < 0 && errno == EINTR)
        ;
}

/* What `docker pause` does. */
static void freezing(const char *root, const char *file, const char *on, const char *off)
{
    char group[128];
    snprintf(group, sizeof group, "%s/leveret-plant-%d", root, getpid());
    must(mkdir(group, 0755) == 0, group);
    must(put(group, "cgroup.procs", "%d", member), "moving the member into a control group");
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        must(put(group, file, "%s", on), "freezing");
        int64_t began = now();
        sleep_until(start_of(burst) + length);
        note(began, now());
        must(put(group, file, "%s", off), "thawing");
    }
    await_the_member();
    rmdir(group);
}

/* The member is moved into a group that is frozen already, and out of it again. */
static void into_the_frozen(const char *root)
{
    char group[128], outside[160];
    snprintf(group, sizeof group, "%s/leveret-plant-%d", root, getpid());
    snprintf(outside, sizeof outside, "%s-outside", group);
    must(mkdir(group, 0755) == 0 && mkdir(outside, 0755) == 0, group);
    must(put(group, "cgroup.freeze", "1"), "freezing");
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        must(put(group, "cgroup.procs", "%d", member), "moving the member into a frozen group");
        int64_t began = now();
        sleep_until(start_of(burst) + length);
        note(began, now());
        must(put(outside, "cgroup.procs", "%d", member), "moving the member out of it");
    }
    await_the_member();
    rmdir(group);
    rmdir(outside);
}

static char quota_group[128];
static pthread_barrier_t joined;

/* Uses up what its control group may have; a long gap between two readings of the clock is its being throttled. */
static void *consumes(void *real_time)
{
    pin(0, core);
    rank(0, SCHED_OTHER, 0);
    setpriority(PRIO_PROCESS, 0, -20);
    must(put(quota_group, "tasks", "%d", gettid()), "joining the control group");
    if (real_time)
        rank(0, SCHED_FIFO, RANK);
    pthread_barrier_wait(&joined);
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst) - 4 * MS);
        int64_t end = start_of(burst) + length, last = now(), next;
        for (; last < end; last = next)
            if ((next = now()) - last > 2 * MS)
                note(last, next);
    }
    return NULL;
}

/* The member's thread in a control group that may use a millisecond in twenty for a while, and uses it up at once. Joining a group takes the
 * kernel long, so that is done before. */
static void limited(int real_time)
{
    const char *root = "/sys/fs/cgroup/cpu", *quota = real_time ? "cpu.rt_runtime_us" : "cpu.cfs_quota_us";
    pthread_t consumer;
    snprintf(quota_group, sizeof quota_group, "%s/leveret-plant-%d", root, getpid());
    must(mkdir(quota_group, 0755) == 0, quota_group);
    must(put(quota_group, real_time ? "cpu.rt_period_us" : "cpu.cfs_period_us", "20000"), "setting a period");
    must(put(quota_group, quota, "15000"), "setting a quota");
    pthread_barrier_init(&joined, NULL, 2);
    pthread_create(&consumer, NULL, consumes, real_time ? quota_group : NULL);
    must(put(quota_group, "tasks", "%d", thread), "moving the thread into the control group");
    pthread_barrier_wait(&joined);
    stand_aside();
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst) - 4 * MS);
        must(put(quota_group, quota, "1000"), "lowering the quota");
        sleep_until(start_of(burst) + length);
        must(put(quota_group, quota, "15000"), "raising the quota");
    }
    pthread_join(consumer, NULL);
    await_the_member();
    rmdir(quota_group);
}

/* Puts the member's thread on another core, which it holds. */
static void displacing(void)
{
    int there = other_core(), here = core;
    core = there;
    pin(0, there);
    rank(0, SCHED_FIFO, RANK);
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        pin(thread, there);
        int64_t began = now();
        spin_until(start_of(burst) + length);
        pin(thread, here);
        note(began, now());
    }
}

/* Writes down each gap between two readings of the clock that is longer than what a tick takes: somebody else had this core. */
static void watch_for_gaps(int64_t end)
{
    for (int64_t last = now(), next; last < end; last = next)
        if ((next = now()) - last > MS / 2)
            note(last, next);
}

/* An ordinary thread arms thousands of timers for the same instant: the interrupt in which the kernel serves them is long. */
static void timers(void)
{
    enum { COUNT = 6000 };
    static timer_t each[COUNT];
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    pin(0, core);
    setpriority(PRIO_PROCESS, 0, -20);
    for (int place = 0; place < COUNT; place++)
        must(timer_create(CLOCK_MONOTONIC, &event, &each[place]) == 0, "timer_create");
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst) - 40 * MS);
        int64_t start = start_of(burst) + MS / 5 * 4;
        struct itimerspec when = {.it_value = {start / 1000000000, start % 1000000000}};
        for (int place = 0; place < COUNT; place++)
            timer_settime(each[place], TIMER_ABSTIME, &when, NULL);
        sleep_until(start - MS);
        watch_for_gaps(start_of(burst) + length);
        while (sigtimedwait(&blocked, NULL, &(struct timespec){0, 0}) > 0)
            ;
    }
}

/* An instruction for the kernel's BPF machine. */
struct instruction {
    uint8_t code, registers;
    int16_t offset;
    int32_t immediate;
};

/* The kernel runs this in the interrupt of each timer, before it serves it: on one core, from one instant on, it goes round until another. */
static int spins_in_interrupts(int64_t first, int64_t last)
{
    enum { TIME = 5, CORE = 8, RAW_TRACEPOINT = 17, LOAD = 5, OPEN = 17 };
#define CALL(function) {0x85, 0, 0, function}
#define WIDE(where, value) {0x18, where, 0, (int32_t)(value)}, {0, 0, 0, (int32_t)((value) >> 32)}
    struct instruction program[] = {
        CALL(CORE),
        {0x55, 0x00, 11, core}, /* r0 != core: to the end */
        CALL(TIME),
        WIDE(1, first),
        {0xad, 0x10, 7, 0}, /* r0 < r1: to the end */
        WIDE(6, last),
        {0x3d, 0x60, 4, 0}, /* r0 >= r6: to the end */
        {0xe5, 0x00, 3, 0}, /* may_goto: to the end, after too many rounds */
        CALL(TIME),
        {0xad, 0x60, -3, 0}, /* r0 < r6: once more */
        {0x05, 0x00, 0, 0},
        {0xb7, 0x00, 0, 0},
        {0x95, 0x00, 0, 0},
    };
    struct {
        uint32_t type, count;
        uint64_t instructions, license;
        uint32_t log_level, log_size;
        uint64_t log;
        uint32_t version, flags;
    } load = {RAW_TRACEPOINT, sizeof program / sizeof *program, (uintptr_t)program, (uintptr_t)"GPL", 0, 0, 0, 0, 0};
    int loaded = (int)syscall(SYS_bpf, LOAD, &load, sizeof load);
    if (loaded < 0)
        return -1;
    struct {
        uint64_t name;
        uint32_t program, unused;
    } open = {(uintptr_t)"hrtimer_expire_entry", (uint32_t)loaded, 0};
    int attached = (int)syscall(SYS_bpf, OPEN, &open, sizeof open);
    close(loaded);
    return attached;
}

/* The core on which a thread ran last, and on which what wakes it is due: that of a SCHED_DEADLINE thread is the kernel's choice. */
static int core_of(pid_t who)
{
    char path[64], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", member, who);
    FILE *stat = fopen(path, "r");
    must(stat && fgets(line, sizeof line, stat), path);
    fclose(stat);
    char *field = strrchr(line, ')');
    /* After the name follows the third field; the core is the 39th. */
    for (int number = 2; field && number < 39; number++)
        field = strchr(field + 1, ' ');
    must(field != NULL, path);
    return atoi(field);
}

/* The kernel keeps interrupts off on the core where the disturbed thread sleeps. A thread that sleeps there for a moment again and again writes
   down when it was not woken. */
static void interrupts_off(void)
{
    rank(0, SCHED_FIFO, RANK);
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst) - 4 * MS);
        core = core_of(thread);
        int attached = spins_in_interrupts(start_of(burst), start_of(burst) + length);
        must(attached >= 0, "loading a program into the kernel");
        pin(0, core);
        sleep_until(start_of(burst) - MS);
        for (int64_t due = now(); due < start_of(burst) + length;) {
            sleep_until(due += MS / 10);
            int64_t woken = now();
            if (woken - due > MS / 2)
                note(due, woken);
            due = woken;
        }
        close(attached);
    }
}

/* A lock on a file, which the member's body waits for. */
static void locking(void)
{
    stand_aside();
    int file = open(log_path, O_RDONLY | O_CREAT, 0644);
    must(file >= 0, log_path);
    for (int burst = 0; burst < bursts; burst++) {
        sleep_until(start_of(burst));
        must(flock(file, LOCK_EX) == 0, "flock");
        int64_t began = now();
        sleep_until(start_of(burst) + length);
        note(began, now());
        flock(file, LOCK_UN);
    }
}

static void disturb(void)
{
    const struct {
        const char *kind;
        int policy, priority;
    } classes[] = {{"fifo", SCHED_FIFO, RANK}, {"rr", SCHED_RR, RANK}, {"low", SCHED_FIFO, 1}, {"idle", SCHED_IDLE, 0}};
    for (size_t each = 0; each < sizeof classes / sizeof *classes; each++)
        if (!strcmp(kind, classes[each].kind)) {
            ranked(classes[each].policy, classes[each].priority);
            return;
        }
    if (!strcmp(kind, "equal")) {
        struct sched_param parameter;
        sched_getparam(thread, &parameter);
        ranked(SCHED_FIFO, parameter.sched_priority);
    } else if (!strcmp(kind, "first")) {
        length = (int64_t)number * 1000;
        ranked(SCHED_FIFO, RANK);
    } else if (!strcmp(kind, "raising"))
        raising();
    else if (!strcmp(kind, "row"))
        row();
    else if (!strcmp(kind, "deadline"))
        threads(2, deadline_thread);
    else if (!strcmp(kind, "ordinary"))
        threads(6, ordinary_thread);
    else if (!strcmp(kind, "boosted"))
        boosted();
    else if (!strcmp(kind, "namespaced"))
        namespaced();
    else if (!strcmp(kind, "stop"))
        stopping(member);
    else if (!strcmp(kind, "stop-agent"))
        stopping(number);
    else if (!strcmp(kind, "storm"))
        storm();
    else if (!strcmp(kind, "becoming"))
        becoming();
    else if (!strcmp(kind, "trace"))
        tracing(0);
    else if (!strcmp(kind, "step"))
        tracing(PTRACE_SINGLESTEP);
    else if (!strcmp(kind, "syscalls"))
        tracing(PTRACE_SYSCALL);
    else if (!strcmp(kind, "freeze1"))
        freezing("/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED");
    else if (!strncmp(kind, "freeze2", 7)) {
        const char *root = access("/sys/fs/cgroup/cgroup.controllers", F_OK) ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup";
        if (!strcmp(kind, "freeze2-first"))
            length = (int64_t)number * 1000;
        if (!strcmp(kind, "freeze2-into"))
            into_the_frozen(root);
        else
            freezing(root, "cgroup.freeze", "1", "0");
    } else if (!strcmp(kind, "quota"))
        limited(0);
    else if (!strcmp(kind, "real-time-quota"))
        limited(1);
    else if (!strcmp(kind, "displacing"))
        displacing();
    else if (!strcmp(kind, "timers"))
        timers();
    else if (!strcmp(kind, "interrupts-off"))
        interrupts_off();
    else if (!strcmp(kind, "lock"))
        locking();
    else
        fail("no such kind");
}

/* The number of the process that started this one. */
static pid_t parent_of(pid_t pid)
{
    char path[64], line[256];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "PPid: %d", &parent);
    if (status)
        fclose(status);
    return parent;
}

int main(int count, char **arguments)
{
    if (count == 2 && !strcmp(arguments[1], "may-load")) {
        kind = arguments[1];
        must(spins_in_interrupts(0, 0) >= 0, "loading a program into the kernel");
        return 0;
    }
    if (count == 4 && !strcmp(arguments[1], "became"))
        return became(arguments[2], atoll(arguments[3]));
    if (count < 9) {
        fprintf(stderr, "plant KIND PIPE LOG CORE PERIOD FROM FOR AT [NUMBER]\n");
        return 2;
    }
    kind = arguments[1];
    log_path = arguments[3];
    core = atoi(arguments[4]);
    period = atoll(arguments[5]);
    from = atoll(arguments[6]);
    length = atoll(arguments[7]);
    for (char *each = strtok(arguments[8], ","); each && bursts < BURSTS_MAX; each = strtok(NULL, ","))
        at[bursts++] = atoll(each);
    number = count > 9 ? atoi(arguments[9]) : 0;
    /* Open for both, so that it has no end before the member has written. */
    int pipe = open(arguments[2], O_RDWR);
    must(pipe >= 0, arguments[2]);
    must(mlockall(MCL_CURRENT) == 0, "mlockall");
    /* A busy machine is not to keep it from hearing of the epoch. */
    rank(0, SCHED_FIFO, RANK - 2);
    puts("ready");
    fflush(stdout);
    char said[64] = "";
    must(read(pipe, said, sizeof said - 1) > 0, "reading the epoch");
    must(sscanf(said, "%" SCNd64 " %d", &epoch, &member) == 2, "the epoch and the member's number");
    if (!strcmp(kind, "stop-agent"))
        number = parent_of(member);
    find_thread();
    rank(0, SCHED_OTHER, 0);
    disturb();
    return 0;
}
