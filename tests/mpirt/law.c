/* The law of the data path: in steady state its functions make no heap call, no system call and no page fault, and a thread that
 * stands still in one of them keeps no other from going on.
 *
 * Heap calls are counted by standing in for the allocator, system calls by having the kernel hand each back to this
 * thread (syscall user dispatch, Linux 5.11). Where it does not, that is said, and heap calls are counted all the same. */
#define _GNU_SOURCE
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <ucontext.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

enum { SIZE = 256, COUNT = 4, ROUNDS = 200 };
static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);

static _Thread_local volatile long heap_calls;
static volatile char hands_back;
static volatile long system_calls;
static volatile long last_system_call;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

void *malloc(size_t size) { heap_calls++; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { heap_calls++; return __libc_calloc(count, size); }
void *realloc(void *base, size_t size) { heap_calls++; return __libc_realloc(base, size); }
void *aligned_alloc(size_t alignment, size_t size) { heap_calls++; return __libc_memalign(alignment, size); }
void free(void *base) { heap_calls++; __libc_free(base); }
int posix_memalign(void **base, size_t alignment, size_t size)
{
    heap_calls++;
    *base = __libc_memalign(alignment, size);
    return *base == NULL ? ENOMEM : 0;
}

/* The call is made after all, and the rest of the stretch runs free: one is enough to tell. */
static void on_system_call(int signal, siginfo_t *information, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    register long r10 __asm__("r10") = registers[REG_R10];
    register long r8 __asm__("r8") = registers[REG_R8];
    register long r9 __asm__("r9") = registers[REG_R9];
    long result;
    (void)signal;
    (void)information;
    hands_back = 0;
    system_calls++;
    last_system_call = registers[REG_RAX];
    __asm__ volatile("syscall" : "=a"(result)
                     : "a"(registers[REG_RAX]), "D"(registers[REG_RDI]), "S"(registers[REG_RSI]),
                       "d"(registers[REG_RDX]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    registers[REG_RAX] = result;
}

static int counts_system_calls(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, NULL);
    return prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &hands_back) == 0;
}

/* A net that catches nothing proves nothing: what is forbidden is done once, and seen. */
static void test_what_is_counted(int counts)
{
    long heap = heap_calls, calls = system_calls;
    void *volatile block = malloc(100);
    free(block);
    CHECK(heap_calls == heap + 2);
    if (!counts) {
        printf("SKIPPED: this kernel does not hand system calls back, so they were not counted\n");
        return;
    }
    hands_back = 1;
    (void)prctl(PR_GET_DUMPABLE);
    hands_back = 0;
    CHECK(system_calls == calls + 1);
}

/* Page faults of this thread so far. */
static long faults(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : 0;
}

/* The call gives this code, and makes no heap call, no system call and no page fault. */
#define LAWFUL_AS(call, code) do { \
        long heap_before_ = heap_calls, calls_before_ = system_calls, heap_after_, faults_before_ = faults(), faults_after_; \
        int found_; \
        hands_back = (char)is_counted; \
        found_ = (call); \
        hands_back = 0; \
        heap_after_ = heap_calls; \
        faults_after_ = faults(); \
        if (is_steady && faults_after_ != faults_before_) { \
            failures++; \
            fprintf(stderr, "%s:%d: member %d: %s makes %ld page faults\n", __FILE__, __LINE__, rank, #call, \
                    faults_after_ - faults_before_); \
        } \
        expect_(found_, (code), #call, __FILE__, __LINE__); \
        if (heap_after_ != heap_before_ || system_calls != calls_before_) { \
            failures++; \
            fprintf(stderr, "%s:%d: member %d: %s makes %ld heap calls and %ld system calls, the last %ld\n", __FILE__, \
                    __LINE__, rank, #call, heap_after_ - heap_before_, system_calls - calls_before_, last_system_call); \
        } \
    } while (0)
#define LAWFUL(call) LAWFUL_AS(call, MPIRT_SUCCESS)

static char is_counted;
/* Every page that the data path needs has been touched once. */
static char is_steady;

static MPIRT_Buffer buffers[COUNT];
static MPIRT_Bufiter iterators[12];
static MPIRT_Bufiter in, out;
static MPIRT_Channel there, timed;
/* Of `there` alone. */
static MPIRT_Container all;
static MPIRTX_Task task;
static MPIRT_Trigger trigger;
static MPIRT_Receptor receptor;

static void idles(MPIRTX_Task own, const MPIRTX_Instance *instance, void *argument)
{
    (void)own, (void)instance, (void)argument;
}

static void declare(void)
{
    MPIRT_Object objects[COUNT], only;
    MPIRT_Cvector allowed, vector;
    MPIRT_Qos qos;
    char event[MPIRT_NAME_MAX];
    for (int place = 0; place < COUNT; place++) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &buffers[place]));
        objects[place] = MPIRT_OBJECT(buffers[place]);
    }
    OK(MPIRT_Cvector_create(NULL, COUNT, objects, &allowed));
    for (int policy = 0; policy < 12; policy++)
        OK(MPIRT_Bufiter_create(NULL, (MPIRT_Bufiter_policy)policy, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(allowed),
                                &iterators[policy]));
    /* Each member's own, so that it knows what has come. */
    snprintf(event, sizeof event, "of-%d", rank);
    OK(MPIRT_Trigger_create(event, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    snprintf(event, sizeof event, "idle-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 4 * ms, 10 * ms, 20 * ms, &qos));
    OK(MPIRTX_Task_create(event, idles, NULL, qos, ms, &task));
    if (rank > 1 || members == 1)
        return;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &in));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &out));
    OK(MPIRT_Ptchannel_create("there", in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &there));
    /* A sleep is a system call, which a loaded machine makes necessary at any time. */
    OK(MPIRTX_Channel_set_polling(there, 1));
    OK(MPIRT_Ptchannel_create("timed", in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &timed));
    only = MPIRT_OBJECT(there);
    OK(MPIRT_Cvector_create(NULL, 1, &only, &vector));
    all = MPIRT_CONTAINER(vector);
}

enum { SUM, ALLTOALL, BARRIER, KINDS };

static struct {
    MPIRT_Bufiter in, out, recvin, recvout;
    MPIRT_Buffer full;
    MPIRT_Channel channel;
} collectives[KINDS];

/* Each member is alone in the group of its reductions, so it is the root. */
static void declare_collectives(void)
{
    MPIRT_Group self;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, NULL, &self));
    for (int kind = 0; kind < KINDS; kind++) {
        MPIRT_Bufiter *made[] = {&collectives[kind].in, &collectives[kind].out, &collectives[kind].recvin, &collectives[kind].recvout};
        MPIRT_Buffer empty;
        if (kind == BARRIER) {
            OK(MPIRT_Barrier_channel_create("barrier", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &collectives[kind].channel));
            continue;
        }
        for (int place = 0; place < 4; place++)
            OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT32, MPIRT_CONTAINER_NULL, made[place]));
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_INT32, &collectives[kind].full));
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_INT32, &empty));
        OK(MPIRT_Bufiter_insert(collectives[kind].recvin, empty));
        if (kind == SUM)
            OK(MPIRT_Reduce_channel_create("sum", *made[0], *made[1], *made[2], *made[3], MPIRT_OP_SUM, 0, self, MPIRT_QOS_NULL,
                                           &collectives[kind].channel));
        else
            OK(MPIRT_Alltoall_channel_create("each-to-each", *made[0], *made[1], *made[2], *made[3], MPIRT_GROUP_WORLD,
                                             MPIRT_QOS_NULL, &collectives[kind].channel));
    }
}

static void attributes(void)
{
    MPIRT_Buffer buffer = buffers[1];
    MPIRT_Timespec inserted, now;
    MPIRT_Dataspec spec;
    uint64_t instance;
    int64_t label;
    size_t size;
    int writable;
    void *base;
    MPIRTX_Task_metrics metrics;
    LAWFUL(MPIRTX_Buffer_get_writable(buffer, &writable));
    LAWFUL(MPIRT_Buffer_get_bufsize(buffer, &size));
    LAWFUL(MPIRT_Buffer_get_base(buffer, &base));
    LAWFUL(MPIRT_Buffer_get_dataspec(buffer, &spec));
    LAWFUL(MPIRT_Buffer_get_label(buffer, &label));
    LAWFUL(MPIRT_Buffer_set_label(buffer, label + 1));
    LAWFUL(MPIRTX_Buffer_get_length(buffer, &size));
    LAWFUL(MPIRTX_Buffer_set_length(buffer, size));
    LAWFUL_AS(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted), MPIRT_ERR_UNDEF_FOR_OBJECT);
    LAWFUL_AS(MPIRTX_Buffer_set_length(buffer, SIZE + 1), MPIRT_ERR_BUFSIZE);
    LAWFUL(MPIRT_Get_time(&now));
    LAWFUL(MPIRTX_Task_get_metrics(task, &metrics));
    CHECK(size <= SIZE && base != NULL);
}

static void orders(void)
{
    MPIRT_Buffer removed;
    int count;
    for (int policy = 0; policy < 12; policy++) {
        for (int place = 0; place < COUNT; place++)
            LAWFUL(MPIRT_Bufiter_insert(iterators[policy], buffers[place]));
        LAWFUL_AS(MPIRT_Bufiter_insert(iterators[policy], buffers[0]), MPIRT_ERR_BUFFER_IN_USE);
        LAWFUL(MPIRTX_Bufiter_get_count(iterators[policy], &count));
        CHECK(count == COUNT);
        for (int place = 0; place < COUNT; place++)
            LAWFUL(MPIRT_Bufiter_remove(iterators[policy], &removed));
        LAWFUL_AS(MPIRT_Bufiter_remove(iterators[policy], &removed), MPIRT_ERR_EMPTY);
    }
    LAWFUL_AS(MPIRT_Bufiter_insert(MPIRT_BUFITER_NULL, buffers[0]), MPIRT_ERR_NULL_OBJECT);
}

static void events(void)
{
    MPIRTX_Event event;
    MPIRT_Timespec epoch;
    uint32_t high, low;
    int flag;
    LAWFUL(MPIRT_Trigger_fire(trigger));
    LAWFUL(MPIRT_Receptor_wait(receptor, patience));
    LAWFUL(MPIRTX_Receptor_get_event(receptor, &event));
    LAWFUL(MPIRTX_Receptor_test(receptor, &flag));
    CHECK(flag == 0);
    LAWFUL(MPIRTX_Get_epoch(&epoch));
    LAWFUL(MPIRT_Int64_export(epoch, &high, &low));
}

static void transfer(void)
{
    MPIRT_Buffer buffer = buffers[0];
    MPIRT_Timespec inserted;
    uint64_t instance;
    int flag;
    LAWFUL(MPIRT_Bufiter_insert(in, buffer));
    LAWFUL(MPIRT_Channel_start(there));
    LAWFUL(MPIRT_Channel_test(there, &flag));
    LAWFUL(MPIRT_Channel_wait(there, patience));
    LAWFUL(MPIRT_Bufiter_remove(out, &buffer));
    if (rank == 1)
        LAWFUL(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
}

/* The same through a container. A wait may doze, so a test looks for the end. */
static void transfers_of_a_container(void)
{
    MPIRT_Buffer buffer = buffers[0];
    MPIRT_Channel which;
    MPIRTX_Outcome outcome;
    int flag = 0;
    LAWFUL(MPIRT_Bufiter_insert(in, buffer));
    LAWFUL(MPIRT_Container_start(all));
    while (!flag)
        LAWFUL(MPIRT_Container_test(all, &flag));
    LAWFUL(MPIRT_Container_wait(all, patience));
    LAWFUL(MPIRT_Bufiter_remove(out, &buffer));
    LAWFUL(MPIRT_Bufiter_insert(in, buffer));
    LAWFUL(MPIRT_Channel_start(there));
    flag = 0;
    while (!flag)
        LAWFUL(MPIRTX_Container_test_any(all, &flag, &which, &outcome));
    CHECK(which.bits == there.bits);
    LAWFUL_AS(MPIRTX_Container_wait_any(all, 0, &which, &outcome), MPIRT_ERR_NOT_STARTED);
    LAWFUL(MPIRT_Bufiter_remove(out, &buffer));
}

/* What is said to an end between transfers, of both kinds. */
static void ends(void)
{
    MPIRTX_Channel_metrics metrics;
    MPIRTX_Status status;
    MPIRT_Channel both[2] = {there, timed};
    for (int kind = 0; kind < 2; kind++) {
        LAWFUL(MPIRT_Channel_activate(both[kind]));
        LAWFUL_AS(MPIRT_Channel_start(both[kind]), MPIRT_ERR_ACTIVE);
        LAWFUL(MPIRTX_Channel_get_status(both[kind], &status));
        LAWFUL(MPIRTX_Channel_get_metrics(both[kind], &metrics));
        LAWFUL(MPIRT_Channel_deactivate(both[kind]));
        if (kind == 0)
            LAWFUL_AS(MPIRTX_Channel_activate_at(both[kind], 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    }
    LAWFUL_AS(MPIRTX_Channel_deactivate_at(there, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    LAWFUL(MPIRT_Container_activate(all));
    LAWFUL(MPIRT_Container_deactivate(all));
}

/* Each kind of collective channel. A wait may doze while others are at it, so a test looks for the end. */
static void collective_transfers(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        MPIRT_Buffer buffer;
        MPIRTX_Status status;
        int flag = 0;
        if (kind != BARRIER)
            LAWFUL(MPIRT_Bufiter_insert(collectives[kind].in, collectives[kind].full));
        LAWFUL(MPIRT_Channel_start(collectives[kind].channel));
        while (!flag)
            LAWFUL(MPIRT_Channel_test(collectives[kind].channel, &flag));
        LAWFUL(MPIRT_Channel_wait(collectives[kind].channel, patience));
        LAWFUL(MPIRTX_Channel_get_status(collectives[kind].channel, &status));
        if (kind != BARRIER) {
            LAWFUL(MPIRT_Bufiter_remove(collectives[kind].out, &buffer));
            LAWFUL(MPIRT_Bufiter_remove(collectives[kind].recvout, &buffer));
            LAWFUL(MPIRT_Bufiter_insert(collectives[kind].recvin, buffer));
        }
    }
}

/* spec: LAW-ALLOC-01, LAW-CALL-01, LAW-FAULT-01, ERROR-DETAIL-03 */
/* spec: TASK-METRIC-RUN-01 */
static void test_the_data_path_makes_no_calls(void)
{
    size_t size;
    declare();
    declare_collectives();
    OK(MPIRT_Commit());
    /* A thread's first call learns what is committed. */
    is_counted = 0;
    OK(MPIRT_Buffer_get_bufsize(buffers[0], &size));
    for (int round = 0; round < ROUNDS; round++) {
        attributes();
        orders();
        events();
        collective_transfers();
        if (rank < 2 && members > 1) {
            transfer();
            transfers_of_a_container();
            ends();
        }
        /* The first round may have touched what every thread touches once. */
        is_counted = (char)(system_calls > 0);
        is_steady = 1;
    }
    is_counted = is_steady = 0;
}

/* --- a thread that stands still --- */

/* How often a thread has begun to stand still, and how often it may go on. */
static int stands, goes_on, is_over;

static void stand_still(int signal)
{
    int number = __atomic_add_fetch(&stands, 1, __ATOMIC_ACQ_REL);
    (void)signal;
    while (__atomic_load_n(&goes_on, __ATOMIC_ACQUIRE) < number)
        ;
}

/* What any thread may be at: an iterator with others, and everything that is read. */
static void uses_everything(void)
{
    MPIRT_Buffer removed;
    MPIRTX_Task_metrics metrics;
    MPIRTX_Event event;
    MPIRT_Timespec time;
    int64_t label;
    int count, flag, heard;
    if (MPIRT_Bufiter_remove(iterators[0], &removed) == MPIRT_SUCCESS)
        OK(MPIRT_Bufiter_insert(iterators[0], removed));
    OK(MPIRTX_Bufiter_get_count(iterators[0], &count));
    OK(MPIRTX_Task_get_metrics(task, &metrics));
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRTX_Receptor_test(receptor, &flag));
    heard = MPIRTX_Receptor_get_event(receptor, &event);
    CHECK(heard == MPIRT_SUCCESS || heard == MPIRT_ERR_EMPTY);
    OK(MPIRT_Buffer_get_label(buffers[0], &label));
    OK(MPIRT_Get_time(&time));
    if (rank < 2 && members > 1) {
        MPIRTX_Status status;
        MPIRTX_Channel_metrics told;
        int code = MPIRT_Channel_start(there);
        CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_SLACK);
        code = MPIRT_Channel_test(there, &flag);
        CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_SLACK || code == MPIRT_ERR_NOT_STARTED);
        OK(MPIRTX_Channel_get_metrics(there, &told));
        OK(MPIRTX_Channel_get_status(there, &status));
    }
}

static void *uses_until_the_end(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
        uses_everything();
    return NULL;
}

/* Stopped wherever it happens to be, time and again. */
/* spec: LAW-LOCK-01 */
/* spec: TASK-METRIC-RUN-01 */
static void test_who_stands_still_holds_up_nobody(void)
{
    enum { STOPS = 50, CALLS = 100 };
    pthread_t other;
    signal(SIGUSR1, stand_still);
    for (int place = 0; place < COUNT; place++)
        OK(MPIRT_Bufiter_insert(iterators[0], buffers[place]));
    CHECK(pthread_create(&other, NULL, uses_until_the_end, NULL) == 0);
    for (int stop = 0; stop < STOPS; stop++) {
        pthread_kill(other, SIGUSR1);
        while (__atomic_load_n(&stands, __ATOMIC_ACQUIRE) <= stop)
            uses_everything();
        for (int call = 0; call < CALLS; call++)
            uses_everything();
        __atomic_store_n(&goes_on, stop + 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_what_is_counted(counts_system_calls());
    test_the_data_path_makes_no_calls();
    test_who_stands_still_holds_up_nobody();
    OK(MPIRT_Uncommit());
    return end();
}
