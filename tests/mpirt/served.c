/* Channels and tasks that the library's threads serve: priority-driven and event-driven. Member 0 sends to member 1. */
#include "events.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { SIZE = 8, COUNT = 20, BACKLOG = 4 };

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* Buffers are made before commit; each is used once. */
enum { STOCK = 64 };
static struct { int64_t content; MPIRT_Buffer buffer; } stock[STOCK];
static int used;

static void make_stock(void)
{
    used = 0;
    for (int place = 0; place < STOCK; place++)
        MUST(MPIRT_Buffer_create(NULL, &stock[place].content, SIZE, MPIRT_INT64, &stock[place].buffer));
}

static void free_stock(void)
{
    for (int place = 0; place < STOCK; place++)
        OK(MPIRT_Buffer_free(&stock[place].buffer));
}

/* A message of this number goes into an iterator. */
static void put(MPIRT_Bufiter where, int64_t number)
{
    stock[used].content = number;
    MUST(MPIRT_Bufiter_insert(where, stock[used++].buffer));
}

static int64_t number_of(MPIRT_Buffer buffer)
{
    void *base;
    int64_t number;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    memcpy(&number, base, sizeof number);
    return number;
}

static MPIRT_Qos priority_of(int priority)
{
    MPIRT_Qos qos;
    OK(MPIRT_Qos_channel_priority_create(NULL, priority, &qos));
    return qos;
}

static MPIRT_Channel channel(const char *name, MPIRT_Bufiter in, MPIRT_Bufiter out, int source, MPIRT_Qos qos)
{
    MPIRT_Channel made;
    MUST(MPIRT_Ptchannel_create(name, in, out, source, 1 - source, MPIRT_GROUP_WORLD, qos, &made));
    OK(MPIRTX_Channel_set_slack(made, BACKLOG));
    return made;
}

static void free_end(struct end *end)
{
    OK(MPIRT_Channel_free(&end->channel));
    OK(MPIRT_Bufiter_free(&end->in));
    OK(MPIRT_Bufiter_free(&end->out));
}

static int state_of(MPIRT_Channel channel)
{
    MPIRTX_Status status = {0};
    OK(MPIRTX_Channel_get_status(channel, &status));
    return (int)status.state;
}

/* Two-sided: each start at both ends is a transfer, which the threads make. */
static void test_started_transfers(void)
{
    struct end end = {iterator(), iterator(), MPIRT_CHANNEL_NULL};
    MPIRT_Qos qos = priority_of(7);
    MPIRT_Buffer buffer;
    int flag = -1;
    make_stock();
    end.channel = channel("started", end.in, end.out, 0, qos);
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Channel_wait(end.channel, 0), MPIRT_ERR_NOT_STARTED);
    EXPECT(MPIRT_Channel_test(end.channel, &flag), MPIRT_ERR_NOT_STARTED);
    EXPECT(MPIRT_Channel_deactivate(end.channel), MPIRT_ERR_NOT_STARTED);
    EXPECT(MPIRTX_Channel_activate_at(end.channel, 1), MPIRT_ERR_UNDEF_FOR_OBJECT);
    CHECK(state_of(end.channel) == MPIRTX_CHANNEL_IDLE);
    for (int64_t number = 0; number < COUNT; number++) {
        /* The buffer comes after the start, which waits for it. */
        OK(MPIRT_Channel_start(end.channel));
        EXPECT(MPIRT_Channel_activate(end.channel), MPIRT_ERR_SLACK);
        put(end.in, rank == 0 ? number : -1);
        MUST(MPIRT_Channel_wait(end.channel, patience));
        MUST(MPIRT_Bufiter_remove(end.out, &buffer));
        CHECK(number_of(buffer) == number);
    }
    for (int started = 0; started < BACKLOG; started++)
        OK(MPIRT_Channel_start(end.channel));
    EXPECT(MPIRT_Channel_start(end.channel), MPIRT_ERR_SLACK);
    CHECK(state_of(end.channel) == MPIRTX_CHANNEL_STARTED);
    for (int64_t number = 0; number < BACKLOG; number++)
        put(end.in, number);
    MUST(MPIRT_Channel_wait(end.channel, patience));
    OK(MPIRT_Channel_test(end.channel, &flag));
    CHECK(flag == 1 && state_of(end.channel) == MPIRTX_CHANNEL_IDLE);
    OK(MPIRT_Uncommit());
    free_end(&end);
    free_stock();
    OK(MPIRT_Qos_free(&qos));
}

/* What the kernel says of the next thread of this process, from the end of its name on; the line is empty for what is gone. NULL: there is no other. */
static const char *next_thread(DIR *threads, char line[1024], int *is_first)
{
    struct dirent *entry = threads != NULL ? readdir(threads) : NULL;
    char path[300];
    FILE *file;
    const char *end;
    if (entry == NULL)
        return NULL;
    line[0] = '\0';
    *is_first = atoi(entry->d_name) == (int)getpid();
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
    file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (file != NULL && fgets(line, 1024, file) == NULL)
        line[0] = '\0';
    if (file != NULL)
        fclose(file);
    end = strrchr(line, ')');
    return end != NULL ? end : line;
}

/* Until every thread of this name sleeps, and there is one. */
static void await_sleeping(const char *name)
{
    int awake, found;
    do {
        DIR *threads = opendir("/proc/self/task");
        const char *end;
        char line[1024];
        int is_first;
        awake = found = 0;
        while ((end = next_thread(threads, line, &is_first)) != NULL) {
            int is_asked = strstr(line, name) != NULL;
            found += is_asked;
            awake += is_asked && strncmp(end, ") S", 3) != 0;
        }
        if (threads != NULL)
            closedir(threads);
        sched_yield();
    } while (awake > 0 || found == 0);
}

/* The library's threads that serve channels have found nothing more to do. */
static void await_sleeping_servers(void)
{
    await_sleeping("(leveret-serve)");
}

static int last_answer;

static void *wait_without_limit(void *channel)
{
    prctl(PR_SET_NAME, "waits");
    do
        last_answer = MPIRT_Channel_wait(*(MPIRT_Channel *)channel, MPIRT_TIME_SPEC_IGNORE);
    while (last_answer == MPIRT_SUCCESS);
    return NULL;
}

/* Zero-sided: what is inserted arrives without another call, whatever the number of messages. Who waits when the end is deactivated waits no longer. */
/* spec: CHANNEL-WAIT-05 */
static void test_activated_ends_move_all_that_comes(void)
{
    struct end end = {iterator(), iterator(), MPIRT_CHANNEL_NULL};
    MPIRT_Qos qos = priority_of(30);
    MPIRT_Buffer buffer;
    MPIRTX_Channel_metrics metrics;
    pthread_t waiter;
    make_stock();
    end.channel = channel("activated", end.in, end.out, 0, qos);
    OK(MPIRTX_Qos_set_interval(qos, ms / 5));
    if (rank == 1)
        for (int place = 0; place < COUNT; place++)
            put(end.in, -1);
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(end.channel));
    OK(MPIRT_Channel_activate(end.channel));
    EXPECT(MPIRT_Channel_start(end.channel), MPIRT_ERR_ACTIVE);
    if (rank == 0)
        for (int64_t number = 0; number < COUNT; number++)
            put(end.in, number);
    for (int64_t number = 0; number < COUNT; number++) {
        while (MPIRT_Bufiter_remove(end.out, &buffer) != MPIRT_SUCCESS)
            MUST(MPIRT_Channel_wait(end.channel, patience));
        CHECK(number_of(buffer) == number);
    }
    OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
    while (metrics.completed < COUNT) {
        MUST(MPIRT_Channel_wait(end.channel, patience));
        OK(MPIRTX_Channel_get_metrics(end.channel, &metrics));
    }
    CHECK(metrics.completed == COUNT && state_of(end.channel) == MPIRTX_CHANNEL_ACTIVE);
    CHECK(pthread_create(&waiter, NULL, wait_without_limit, &end.channel) == 0);
    await_sleeping("(waits)");
    OK(MPIRT_Channel_deactivate(end.channel));
    CHECK(pthread_join(waiter, NULL) == 0 && last_answer == MPIRT_ERR_NOT_STARTED);
    CHECK(state_of(end.channel) == MPIRTX_CHANNEL_IDLE);
    OK(MPIRT_Uncommit());
    free_end(&end);
    free_stock();
    OK(MPIRT_Qos_free(&qos));
}

/* Messages of three channels lie at member 1, the least urgent of them first; buffers come one by one, and each goes to the most
 * urgent message. */
/* spec: QOS-PRIORITY-02 */
static void test_the_higher_priority_goes_first(void)
{
    static const int priorities[3] = {5, 40, 20};
    MPIRT_Bufiter in = iterator(), out = iterator();
    struct end done = {iterator(), iterator(), MPIRT_CHANNEL_NULL}, ends[3];
    MPIRT_Qos qos[4];
    MPIRT_Buffer buffer;
    make_stock();
    for (int place = 0; place < 3; place++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "of-%d", priorities[place]);
        qos[place] = priority_of(priorities[place]);
        ends[place] = (struct end){rank == 0 ? iterator() : in, rank == 0 ? iterator() : out, MPIRT_CHANNEL_NULL};
        ends[place].channel = channel(name, ends[place].in, ends[place].out, 0, qos[place]);
    }
    qos[3] = priority_of(1);
    done.channel = channel("done", done.in, done.out, 0, qos[3]);
    if (rank == 1)
        put(done.in, -1);
    MUST(MPIRT_Commit());
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Channel_activate(ends[place].channel));
    OK(MPIRT_Channel_activate(done.channel));
    if (rank == 0) {
        for (int place = 0; place < 3; place++)
            for (int64_t number = 0; number < BACKLOG; number++)
                put(ends[place].in, priorities[place]);
        /* The thread of the least urgent has its turn when those of all others have sent. */
        put(done.in, 0);
    }
    MUST(MPIRT_Channel_wait(done.channel, patience));
    if (rank == 1) {
        static const int order[3] = {40, 20, 5};
        for (int arrived = 0; arrived < 3 * BACKLOG; arrived++) {
            /* What is looking for a buffer at the moment that one comes may have it, however urgent others are. */
            await_sleeping_servers();
            put(in, -1);
            while (MPIRT_Bufiter_remove(out, &buffer) != MPIRT_SUCCESS)
                OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms / 10));
            CHECK(number_of(buffer) == order[arrived / BACKLOG]);
        }
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 3; place++) {
        OK(MPIRT_Channel_free(&ends[place].channel));
        OK(MPIRT_Qos_free(&qos[place]));
    }
    OK(MPIRT_Qos_free(&qos[3]));
    free_end(&done);
    free_stock();
}

/* A chain: there and back again, by events alone. Member 1 makes no call between activation and uncommit. */
/* spec: QOS-EVENT-01, QOS-EVENT-02, QOS-EVENT-03, QOS-EVENT-04 */
static void test_a_chain_of_channels_runs_without_a_call(void)
{
    MPIRT_Bufiter in = iterator(), between = iterator(), out = iterator();
    MPIRT_Qos there, back;
    MPIRT_Channel channels[2];
    MPIRT_Receptor home = receptor_of("home"), over = receptor_of("over");
    MPIRT_Trigger go = call("go"), finish = call("over");
    MPIRTX_Channel_metrics metrics;
    MPIRT_Buffer buffer;
    int flag = -1;
    make_stock();
    OK(MPIRT_Qos_channel_event_create(NULL, "go", "there", &there));
    OK(MPIRT_Qos_channel_event_create(NULL, "there", "home", &back));
    OK(MPIRTX_Qos_set_priority(back, 12));
    /* At member 1 what comes in goes out again, and what has gone out is filled anew. */
    channels[0] = channel("there", in, between, 0, there);
    channels[1] = rank == 0 ? channel("back", between, out, 1, back) : channel("back", between, in, 1, back);
    /* There are more messages than firings, at both ends: at member 1 one lies there from the beginning, with a buffer for it at member 0. */
    for (int64_t number = 0; number < COUNT + (rank == 0 ? BACKLOG : 0); number++)
        put(in, rank == 0 ? number : -1);
    put(between, -1);
    MUST(MPIRT_Commit());
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Channel_activate(channels[place]));
    /* Both ends of both are active from here on. */
    OK(MPIRT_Trigger_fire(finish));
    for (int heard = 0; heard < members; heard++)
        MUST(MPIRT_Receptor_wait(over, patience));
    if (rank == 0) {
        /* Before its event nothing moves, whatever lies there. */
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 20 * ms));
        for (int place = 0; place < 2; place++) {
            OK(MPIRTX_Channel_get_metrics(channels[place], &metrics));
            CHECK(metrics.completed == 0);
        }
        for (int firing = 0; firing < COUNT; firing++)
            OK(MPIRT_Trigger_fire(go));
        for (int64_t number = 0; number < COUNT; number++) {
            MPIRTX_Event event;
            MUST(MPIRT_Receptor_wait(home, patience));
            OK(MPIRTX_Receptor_get_event(home, &event));
            CHECK(event.number == (uint64_t)number && event.source == 0);
            MUST(MPIRT_Bufiter_remove(out, &buffer));
            /* The first is what lay at member 1. */
            CHECK(number_of(buffer) == number - 1);
        }
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 20 * ms));
        OK(MPIRTX_Receptor_test(home, &flag));
        CHECK(flag == 0);
        /* The sending end may still have to hear of the last. */
        OK(MPIRTX_Channel_get_metrics(channels[0], &metrics));
        CHECK(metrics.completed <= COUNT);
        OK(MPIRTX_Channel_get_metrics(channels[1], &metrics));
        CHECK(metrics.completed == COUNT);
        OK(MPIRT_Trigger_fire(finish));
    }
    MUST(MPIRT_Receptor_wait(over, patience));
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Channel_free(&channels[place]));
    free_stock();
    OK(MPIRT_Receptor_free(&home));
    OK(MPIRT_Receptor_free(&over));
    OK(MPIRT_Trigger_free(&go));
    OK(MPIRT_Trigger_free(&finish));
    OK(MPIRT_Qos_free(&there));
    OK(MPIRT_Qos_free(&back));
}

/* The least and the greatest real-time priority of this process's threads whose names hold this, or of its first thread; 0: without
 * one. */
static void real_time_priorities(const char *name, int *least, int *greatest)
{
    DIR *threads = opendir("/proc/self/task");
    const char *field;
    char line[1024];
    int is_first;
    *least = *greatest = -1;
    while ((field = next_thread(threads, line, &is_first)) != NULL) {
        if (line[0] == '\0' || (name != NULL ? strstr(line, name) == NULL : !is_first))
            continue;
        /* The name is the second field, the priority the fortieth. */
        for (int at = 2; field != NULL && at < 40; at++)
            field = strchr(field + 1, ' ');
        int priority = field != NULL ? atoi(field) : -1;
        *least = *least < 0 || priority < *least ? priority : *least;
        *greatest = priority > *greatest ? priority : *greatest;
    }
    if (threads != NULL)
        closedir(threads);
}

/* What moves time-driven messages interrupts what has a priority, which interrupts the program. */
static void check_the_order_of_threads(void)
{
    int movers, served[2], main_thread, unused;
    real_time_priorities("mover", &movers, &unused);
    real_time_priorities("leveret-serve", &served[0], &served[1]);
    real_time_priorities(NULL, &main_thread, &unused);
    CHECK(movers >= 0 && served[0] >= 0 && main_thread == 0);
    if (movers == 0)
        printf("SKIPPED: without the right to real time all threads have one priority\n");
    else
        CHECK(movers > served[1] && served[1] > served[0] && served[0] > main_thread);
}

/* Everything at once: two time-driven channels of one QoS, two priority-driven of another, an event-driven one, best effort. */
/* spec: QOS-KIND-02, QOS-SHARE-01, QOS-BEST-01, QOS-PRIORITY-06 */
static void test_all_kinds_share_a_job(void)
{
    enum { KINDS = 6 };
    static const char *const names[KINDS] = {"timed", "timed-too", "urgent", "urgent-too", "rung", "plain"};
    struct end ends[KINDS];
    MPIRT_Qos timed, urgent = priority_of(60), rung, of[KINDS];
    MPIRT_Trigger ring = call("ring"), ready = call("ready");
    MPIRT_Receptor readied = receptor_of("ready");
    MPIRTX_Channel_metrics metrics;
    MPIRT_Buffer buffer;
    make_stock();
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 20 * ms, &timed));
    OK(MPIRTX_Qos_set_interval(urgent, 5 * ms));
    OK(MPIRTX_Qos_set_deadline(urgent, 20 * ms));
    OK(MPIRT_Qos_channel_event_create(NULL, "ring", NULL, &rung));
    of[0] = of[1] = timed;
    of[2] = of[3] = urgent;
    of[4] = rung;
    of[5] = MPIRT_QOS_BEST_EFFORT;
    for (int kind = 0; kind < KINDS; kind++) {
        ends[kind] = (struct end){iterator(), iterator(), MPIRT_CHANNEL_NULL};
        ends[kind].channel = channel(names[kind], ends[kind].in, ends[kind].out, 0, of[kind]);
        put(ends[kind].in, rank == 0 ? kind : -1);
        put(ends[kind].in, rank == 0 ? KINDS + kind : -1);
    }
    MUST(MPIRT_Commit());
    for (int kind = 0; kind < KINDS; kind++)
        OK(MPIRT_Channel_start(ends[kind].channel));
    OK(MPIRT_Trigger_fire(ready));
    for (int heard = 0; heard < members; heard++)
        MUST(MPIRT_Receptor_wait(readied, patience));
    check_the_order_of_threads();
    if (rank == 0)
        OK(MPIRT_Trigger_fire(ring));
    for (int kind = 0; kind < KINDS; kind++) {
        MUST(MPIRT_Channel_wait(ends[kind].channel, patience));
        MUST(MPIRT_Bufiter_remove(ends[kind].out, &buffer));
        CHECK(number_of(buffer) == kind);
    }
    /* Channels of one QoS are counted each for itself. */
    for (int kind = 1; kind <= 3; kind += 2) {
        OK(MPIRT_Channel_start(ends[kind].channel));
        MUST(MPIRT_Channel_wait(ends[kind].channel, patience));
        MUST(MPIRT_Bufiter_remove(ends[kind].out, &buffer));
        CHECK(number_of(buffer) == KINDS + kind);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        OK(MPIRTX_Channel_get_metrics(ends[kind].channel, &metrics));
        CHECK(metrics.completed == (uint64_t)(kind == 1 || kind == 3 ? 2 : 1));
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++)
        free_end(&ends[kind]);
    free_stock();
    OK(MPIRT_Receptor_free(&readied));
    OK(MPIRT_Trigger_free(&ring));
    OK(MPIRT_Trigger_free(&ready));
    OK(MPIRT_Qos_free(&timed));
    OK(MPIRT_Qos_free(&urgent));
    OK(MPIRT_Qos_free(&rung));
}

static atomic_int runs;
static MPIRTX_Instance instances[COUNT];

static void note(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    int place = atomic_fetch_add(&runs, 1);
    (void)task, (void)argument;
    if (place < COUNT)
        instances[place] = *instance;
}

/* spec: TASK-CREATE-02, MPIRTX_Task_create, MPIRTX_Task_create/UNDEF_FOR_OBJECT, MPIRTX_Task_create/TIME */
static void test_a_task_runs_once_for_each_firing(void)
{
    MPIRT_Qos qos, wrong, half;
    MPIRTX_Task task, none;
    char tick[MPIRT_NAME_MAX], tock[MPIRT_NAME_MAX];
    snprintf(tick, sizeof tick, "tick-%d", rank);
    snprintf(tock, sizeof tock, "tock-%d", rank);
    OK(MPIRT_Qos_channel_event_create(NULL, tick, tock, &qos));
    OK(MPIRTX_Qos_set_interval(qos, ms));
    OK(MPIRTX_Qos_set_deadline(qos, 20 * ms));
    MUST(MPIRTX_Task_create(tick, note, NULL, qos, ms / 20, &task));
    OK(MPIRT_Qos_channel_priority_create(NULL, 3, &wrong));
    EXPECT(MPIRTX_Task_create("wrong", note, NULL, wrong, ms, &none), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Qos_channel_event_create(NULL, NULL, tock, &half));
    EXPECT(MPIRTX_Task_create("half", note, NULL, half, ms, &none), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Task_create("long", note, NULL, qos, 21 * ms, &none), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Task_create("none", note, NULL, qos, 0, &none), MPIRT_ERR_TIME);
    MPIRT_Trigger trigger = call(tick);
    MPIRT_Receptor ticked = receptor_of(tock);
    atomic_store(&runs, 0);
    MUST(MPIRT_Commit());
    for (int firing = 0; firing < COUNT; firing++)
        OK(MPIRT_Trigger_fire(trigger));
    for (int firing = 0; firing < COUNT; firing++)
        MUST(MPIRT_Receptor_wait(ticked, patience));
    /* The last run is counted after its completion event. */
    MPIRTX_Task_metrics metrics = {.completed = 0};
    for (int look = 0; look < 10000 && metrics.completed < COUNT; look++) {
        OK(MPIRTX_Task_get_metrics(task, &metrics));
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
    }
    CHECK(metrics.completed == COUNT && metrics.compute.count == COUNT && metrics.start_lateness.count == COUNT);
    CHECK(metrics.compute.least > 0 && metrics.compute.least <= metrics.compute.greatest);
    CHECK(metrics.start_lateness.greatest > 0 && metrics.skipped == 0);
    OK(MPIRT_Uncommit());
    CHECK(atomic_load(&runs) == COUNT);
    for (int firing = 0; firing < COUNT; firing++) {
        CHECK(instances[firing].number == (uint64_t)firing);
        CHECK(instances[firing].deadline == instances[firing].start + 20 * ms);
    }
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&ticked));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Qos_free(&wrong));
    OK(MPIRT_Qos_free(&half));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_task_runs_once_for_each_firing();
    if (members == 2) {
        test_started_transfers();
        test_activated_ends_move_all_that_comes();
        test_the_higher_priority_goes_first();
        test_a_chain_of_channels_runs_without_a_call();
        test_all_kinds_share_a_job();
    }
    return end();
}
