/* Events of several priorities, raised while what serves them is busy: a thread for each priority, SCHED_FIFO on one processor, that waits
 * for an eventfd. benches/src/events/priorities.rs is ours.
 *
 * usage: event_priorities CORE_RAISER CORE_SERVER */
#include "child.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { PRIORITIES = 8, HOLDS = 50, APART_NS = 200000 };

static const int priorities[PRIORITIES] = {5, 10, 15, 20, 25, 30, 35, 40};

static int raised_at[PRIORITIES], hold, held, done;
static atomic_uint started, let_go;
static int order[PRIORITIES];
static uint64_t times[PRIORITIES];

static void raise_event(int descriptor)
{
    uint64_t one = 1;
    if (write(descriptor, &one, sizeof one) != (ssize_t)sizeof one)
        abort();
}

static void wait_event(int descriptor)
{
    uint64_t one;
    if (read(descriptor, &one, sizeof one) != (ssize_t)sizeof one)
        abort();
}

/* Keeps the others waiting until a burst is raised. */
static void *holds(void *unused)
{
    for (unsigned turn = 0;; turn++) {
        wait_event(hold);
        raise_event(held);
        while (atomic_load_explicit(&let_go, memory_order_acquire) <= turn)
            relax();
    }
    return unused;
}

static void *serves(void *argument)
{
    int priority = *(const int *)argument;
    for (;;) {
        uint64_t now;
        unsigned place;
        wait_event(raised_at[priority]);
        now = now_ns();
        place = atomic_fetch_add(&started, 1);
        if (place >= PRIORITIES)
            abort();
        order[place] = priority;
        times[place] = now;
        if (place + 1 == PRIORITIES)
            raise_event(done);
    }
    return NULL;
}

static int begin(void *(*body)(void *), const int *argument, int priority, int core)
{
    pthread_attr_t attributes;
    pthread_t thread;
    cpu_set_t set;
    struct sched_param parameters = {.sched_priority = priority};
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return pthread_attr_init(&attributes) || pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) ||
           pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) || pthread_attr_setschedparam(&attributes, &parameters) ||
           pthread_attr_setaffinity_np(&attributes, sizeof set, &set) ||
           pthread_create(&thread, &attributes, body, (void *)argument);
}

static int begin_all(int core)
{
    static int places[PRIORITIES];
    hold = eventfd(0, EFD_SEMAPHORE);
    held = eventfd(0, EFD_SEMAPHORE);
    done = eventfd(0, EFD_SEMAPHORE);
    if (hold < 0 || held < 0 || done < 0 || begin(holds, NULL, HOLDS, core))
        return 1;
    for (int place = 0; place < PRIORITIES; place++) {
        places[place] = place;
        raised_at[place] = eventfd(0, EFD_SEMAPHORE);
        if (raised_at[place] < 0 || begin(serves, &places[place], priorities[place], core))
            return 1;
    }
    return 0;
}

/* Raises a burst, the least urgent first; gives how often a less urgent one was started before a more urgent one. */
static unsigned burst(int priority)
{
    unsigned inversions = 0;
    uint64_t raised;
    atomic_store(&started, 0);
    raise_event(hold);
    wait_event(held);
    for (int place = 0; place < PRIORITIES; place++)
        raise_event(raised_at[place]);
    raised = now_ns();
    atomic_fetch_add(&let_go, 1);
    wait_event(done);
    for (int place = 0; place < PRIORITIES; place++) {
        if (order[place] == priority)
            record(times[place] > raised ? times[place] - raised : 0);
        for (int later = place + 1; later < PRIORITIES; later++)
            inversions += order[later] > order[place];
    }
    return inversions;
}

int main(int count, char **arguments)
{
    struct order asked;
    if (count != 3 || pin(atoi(arguments[1]))) {
        printf("error usage: event_priorities CORE_RAISER CORE_SERVER\n");
        return 2;
    }
    if (begin_all(atoi(arguments[2]))) {
        printf("error threads with SCHED_FIFO cannot be had\n");
        return 2;
    }
    printf("ready C\n");
    fflush(stdout);
    while (next_order(&asked)) {
        uint64_t end = now_ns() + asked.milliseconds * 1000000;
        unsigned wrong = 0, bursts = 0;
        int priority = -1;
        for (int place = 0; place < PRIORITIES; place++)
            if (strncmp(asked.kind, "priority-", 9) == 0 && atoi(asked.kind + 9) == priorities[place])
                priority = place;
        do {
            wrong += burst(priority);
            bursts++;
            for (uint64_t next = now_ns() + APART_NS; now_ns() < next;)
                relax();
        } while (now_ns() < end);
        if (wrong) {
            printf("error %u inversions in %u bursts\n", wrong, bursts);
            fflush(stdout);
        } else {
            answer(0, 0);
        }
    }
    return 0;
}
