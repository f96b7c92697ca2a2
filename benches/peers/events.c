/* What programs use to tell one another that something has happened: two pinned processes, or two pinned threads, that raise and wait.
 *
 *   eventfd   a write, and a read that blocks
 *   cond      a counter under a process-shared mutex, and its condition variable
 *
 * usage: events eventfd|cond across|same CORE_PING CORE_PONG */
#include "child.h"
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

struct event {
    pthread_mutex_t mutex;
    pthread_cond_t raised;
    uint64_t count;
    int descriptor;
};

struct shared {
    _Alignas(256) struct event there;
    _Alignas(256) struct event back;
    int cond;
    int core;
};

static int make(struct event *event)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    event->descriptor = eventfd(0, EFD_SEMAPHORE);
    return event->descriptor < 0 || pthread_mutexattr_init(&mutex) || pthread_condattr_init(&cond) ||
           pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED) ||
           pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED) || pthread_mutex_init(&event->mutex, &mutex) ||
           pthread_cond_init(&event->raised, &cond);
}

static void raise_event(struct event *event, int cond)
{
    uint64_t one = 1;
    if (!cond) {
        if (write(event->descriptor, &one, sizeof one) != (ssize_t)sizeof one)
            abort();
        return;
    }
    pthread_mutex_lock(&event->mutex);
    event->count++;
    pthread_mutex_unlock(&event->mutex);
    pthread_cond_signal(&event->raised);
}

static void wait_event(struct event *event, int cond)
{
    uint64_t one;
    if (!cond) {
        if (read(event->descriptor, &one, sizeof one) != (ssize_t)sizeof one)
            abort();
        return;
    }
    pthread_mutex_lock(&event->mutex);
    while (event->count == 0)
        pthread_cond_wait(&event->raised, &event->mutex);
    event->count--;
    pthread_mutex_unlock(&event->mutex);
}

static int trip(void *state, uint64_t word)
{
    struct shared *shared = state;
    (void)word;
    raise_event(&shared->there, shared->cond);
    wait_event(&shared->back, shared->cond);
    return 0;
}

static void *pong(void *state)
{
    struct shared *shared = state;
    if (pin(shared->core))
        abort();
    for (;;) {
        wait_event(&shared->there, shared->cond);
        raise_event(&shared->back, shared->cond);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    struct order order;
    pthread_t thread;
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (count != 5 || shared == MAP_FAILED || make(&shared->there) || make(&shared->back)) {
        printf("error usage: events eventfd|cond across|same CORE_PING CORE_PONG\n");
        return 2;
    }
    shared->cond = strcmp(arguments[1], "cond") == 0;
    shared->core = atoi(arguments[4]);
    if (strcmp(arguments[2], "same") == 0) {
        if (pthread_create(&thread, NULL, pong, shared))
            return 2;
    } else {
        pid_t child = fork();
        if (child < 0)
            return 2;
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pong(shared);
        }
    }
    if (pin(atoi(arguments[3])))
        printf("error cannot pin\n");
    printf("ready C\n");
    fflush(stdout);
    while (next_order(&order))
        if (ping_round(trip, shared, order.milliseconds))
            return 1;
    return 0;
}
