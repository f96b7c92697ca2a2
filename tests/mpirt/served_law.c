/* The law of the data path on the library's own threads: from the first transfer on, nothing in a process that serves channels, tasks and
 * handlers makes a heap call. Counted by standing in for the allocator, over all threads. Two members. */
#define _GNU_SOURCE
#include "events.h"

#include <errno.h>
#include <stdatomic.h>

enum { ROUNDS = 200, STOCK = 4 };

static atomic_long heap_calls;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) { atomic_fetch_add(&heap_calls, 1); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { atomic_fetch_add(&heap_calls, 1); return __libc_calloc(count, size); }
void *realloc(void *base, size_t size) { atomic_fetch_add(&heap_calls, 1); return __libc_realloc(base, size); }
void *aligned_alloc(size_t alignment, size_t size) { atomic_fetch_add(&heap_calls, 1); return __libc_memalign(alignment, size); }
void free(void *base) { atomic_fetch_add(&heap_calls, 1); __libc_free(base); }
int posix_memalign(void **base, size_t alignment, size_t size)
{
    atomic_fetch_add(&heap_calls, 1);
    *base = __libc_memalign(alignment, size);
    return *base == NULL ? ENOMEM : 0;
}

static atomic_int ran, handled_count;

static void run(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
    atomic_fetch_add(&ran, 1);
}

static void handle(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
    atomic_fetch_add(&handled_count, 1);
}

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* Member 0 sends at a priority; the arrival starts the way back, that starts a task and a handler at member 0. */
static void test_nothing_is_allocated(void)
{
    MPIRT_Bufiter in = iterator(), between = iterator(), out = iterator();
    MPIRT_Qos there, back, qos;
    MPIRT_Channel channels[2];
    MPIRT_Receptor home = receptor_of("home"), ended, over = receptor_of("over");
    MPIRT_Trigger finish = call("over");
    MPIRT_Handler handler = handler_of(handle, NULL, 33);
    MPIRT_Object object = MPIRT_OBJECT(handler);
    MPIRTX_Task task = MPIRTX_TASK_NULL;
    MPIRT_Buffer buffer;
    long before = 0, after = 0;
    OK(MPIRT_Qos_channel_event_create(NULL, NULL, "there", &there));
    OK(MPIRTX_Qos_set_priority(there, 20));
    OK(MPIRT_Qos_channel_event_create(NULL, "there", "home", &back));
    MUST(MPIRT_Ptchannel_create("there", in, between, 0, 1, MPIRT_GROUP_WORLD, there, &channels[0]));
    MUST(MPIRT_Ptchannel_create("back", between, rank == 0 ? out : in, 1, 0, MPIRT_GROUP_WORLD, back, &channels[1]));
    /* At member 0 what has gone out makes room for what comes back. */
    OK(MPIRT_Qos_channel_event_create(NULL, "home", "ended", &qos));
    if (rank == 0)
        MUST(MPIRTX_Task_create("runs", run, NULL, qos, ms / 50, &task));
    ended = rank == 0 ? receptor_of("ended") : MPIRT_RECEPTOR_NULL;
    MPIRT_Receptor runs_handler = handled("home", 1, &object);
    for (int count = 0; count < STOCK; count++) {
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
        MUST(MPIRT_Bufiter_insert(rank == 0 ? out : in, buffer));
    }
    MUST(MPIRT_Commit());
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Channel_activate(channels[place]));
    OK(MPIRT_Trigger_fire(finish));
    for (int heard = 0; heard < members; heard++)
        MUST(MPIRT_Receptor_wait(over, patience));
    for (int round = 0; rank == 0 && round < ROUNDS; round++) {
        if (round == 1)
            before = atomic_load(&heap_calls);
        MUST(MPIRT_Bufiter_remove(out, &buffer));
        MUST(MPIRT_Bufiter_insert(in, buffer));
        MUST(MPIRT_Receptor_wait(home, patience));
        MUST(MPIRT_Receptor_wait(ended, patience));
    }
    after = atomic_load(&heap_calls);
    if (rank == 0) {
        CHECK(atomic_load(&ran) == ROUNDS && after == before);
        OK(MPIRT_Trigger_fire(finish));
    }
    MUST(MPIRT_Receptor_wait(over, patience));
    OK(MPIRT_Uncommit());
    /* What the handlers have not come to before uncommit is not run any more. */
    CHECK(atomic_load(&handled_count) <= ROUNDS);
    OK(MPIRT_Receptor_free(&runs_handler));
}

int main(int argc, char **argv)
{
    void *volatile block;
    long counted = atomic_load(&heap_calls);
    block = malloc(100);
    free(block);
    begin(&argc, &argv);
    CHECK(atomic_load(&heap_calls) >= counted + 2);
    test_nothing_is_allocated();
    return end();
}
