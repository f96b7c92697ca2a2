/* Setup without memory: what cannot be done is refused, and changes nothing; nothing ends the program. In a job of one
 * member.
 *
 * Stands in for the start of threads too: of those that this one starts one is refused. */
#define _GNU_SOURCE
#include "harness.h"
#include "scarce.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

enum { FAILURES_MAX = 400, MADE_MAX = 60000, ELEMENTS = 64 };
static const MPIRT_Timespec ms = INT64_C(1000000);

/* From the next thread on that is started nothing is to be had. */
static int is_awaited;

/* Threads that start before one does not; below 0: each starts. */
static _Thread_local long to_start = -1;
static _Thread_local int refused;

typedef int create_thread(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static create_thread *really_create;

int pthread_create(pthread_t *made, const pthread_attr_t *attributes, void *(*begin)(void *), void *argument)
{
    if (really_create == NULL)
        *(void **)&really_create = dlsym(RTLD_NEXT, "pthread_create");
    if (__atomic_exchange_n(&is_awaited, 0, __ATOMIC_ACQ_REL))
        __atomic_store_n(&is_nowhere, 1, __ATOMIC_RELEASE);
    if (to_start < 0 || to_start-- > 0) {
        int answer;
        is_starting = 1;
        answer = really_create(made, attributes, begin, argument);
        is_starting = 0;
        return answer;
    }
    refused++;
    return EAGAIN;
}

/* --- every function that takes memory --- */

static MPIRT_Object objects[ELEMENTS];
static MPIRT_Container container, handlers, parts;
static MPIRT_Cset set;
static MPIRT_Bufiter iterator;
static MPIRT_Qos qos;
static MPIRTX_Task task;
static MPIRT_Channel channel;
static MPIRT_Trigger trigger;
static MPIRT_Receptor receptor;
static int keyval;
static int runs, handlings;

static void body(MPIRTX_Task own, const MPIRTX_Instance *instance, void *argument)
{
    (void)own, (void)instance, (void)argument;
    __atomic_add_fetch(&runs, 1, __ATOMIC_RELAXED);
}

/* An error and its text, on a thread that had none before. */
static void ask_what_is_wrong(void)
{
    MPIRT_Timespec epoch;
    OK(MPIRTX_Get_epoch(&epoch));
    EXPECT(MPIRT_Trigger_fire(MPIRT_TRIGGER_NULL), MPIRT_ERR_NULL_OBJECT);
    CHECK(detail_says("MPIRT_Trigger_fire: the handle is null; give"));
}

static void handles(MPIRT_Receptor own, const MPIRTX_Event *event, void *argument)
{
    (void)own, (void)event, (void)argument;
    ask_what_is_wrong();
    __atomic_add_fetch(&handlings, 1, __ATOMIC_RELAXED);
}

#define MAKES(name, type, ...)                                                                                                            \
    static int name(MPIRT_Object *object)                                                                                                 \
    {                                                                                                                                     \
        type made = {UINT64_MAX};                                                                                                         \
        int code = (__VA_ARGS__);                                                                                                         \
        object->bits = made.bits;                                                                                                         \
        return code;                                                                                                                      \
    }

MAKES(make_buffer, MPIRT_Buffer, MPIRT_Buffer_create("made", MPIRT_SYSTEM_MEM_ALLOC, 64, MPIRT_BYTE, &made))
MAKES(make_bufiter, MPIRT_Bufiter, MPIRT_Bufiter_create("made", MPIRT_BUFITER_SORTED_ORDERED, 8, MPIRT_INT64, container, &made))
MAKES(make_cset, MPIRT_Cset, MPIRT_Cset_create("made", &made))
MAKES(make_cvector, MPIRT_Cvector, MPIRT_Cvector_create("made", ELEMENTS, objects, &made))
MAKES(make_walk, MPIRT_Container_iterator, MPIRT_Container_iterator_create("made", container, &made))
MAKES(make_group, MPIRT_Group, MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, (int[]){0}, "made", &made))
MAKES(make_union, MPIRT_Group, MPIRT_Group_union(MPIRT_GROUP_WORLD, MPIRT_GROUP_WORLD, "made", &made))
MAKES(make_flat, MPIRT_Container, MPIRT_Container_flatten(container, "made", &made))
MAKES(make_filtered, MPIRT_Container, MPIRT_Container_filter(container, MPIRT_TYPE_BUFFER, "made", &made))
MAKES(make_qos, MPIRT_Qos, MPIRT_Qos_channel_time_create("made", 0, ms, 10 * ms, &made))
MAKES(make_channel, MPIRT_Channel,
      MPIRT_Ptchannel_create("made", iterator, iterator, 0, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &made))
MAKES(make_barrier, MPIRT_Channel, MPIRT_Barrier_channel_create("made", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made))
MAKES(make_trigger, MPIRT_Trigger,
      MPIRT_Trigger_create("made", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made))
MAKES(make_handler, MPIRT_Handler, MPIRT_Handler_create("made", handles, NULL, MPIRT_QOS_NULL, &made))
MAKES(make_receptor, MPIRT_Receptor, MPIRT_Receptor_create("made", MPIRT_GROUP_WORLD, handlers, &made))
MAKES(make_combined, MPIRT_Receptor, MPIRTX_Receptor_combine("made", MPIRTX_ANY, parts, MPIRT_CONTAINER_NULL, &made))
MAKES(make_task, MPIRTX_Task, MPIRTX_Task_create("made", body, NULL, qos, ms / 10, &made))

static const struct maker {
    const char *name;
    int (*make)(MPIRT_Object *object);
} makers[] = {
    {"buffer", make_buffer}, {"iterator", make_bufiter}, {"set", make_cset}, {"vector", make_cvector}, {"walk", make_walk},
    {"group", make_group}, {"union", make_union}, {"flat", make_flat}, {"filtered", make_filtered}, {"QoS", make_qos},
    {"channel", make_channel}, {"barrier", make_barrier}, {"trigger", make_trigger}, {"handler", make_handler},
    {"receptor", make_receptor}, {"combination", make_combined}, {"task", make_task},
};
enum { MAKERS = sizeof makers / sizeof *makers };

static void prepare(void)
{
    MPIRT_Buffer buffer;
    MPIRT_Cvector vector;
    MPIRT_Handler handler;
    MPIRT_Bufiter received;
    for (int place = 0; place < ELEMENTS; place++) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &buffer));
        objects[place] = MPIRT_OBJECT(buffer);
    }
    OK(MPIRT_Cvector_create("allowed", ELEMENTS, objects, &vector));
    container = MPIRT_CONTAINER(vector);
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Handler_create(NULL, handles, NULL, MPIRT_QOS_NULL, &handler));
    OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(handler)}, &vector));
    handlers = MPIRT_CONTAINER(vector);
    OK(MPIRT_Trigger_create("part", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create("part", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(receptor)}, &vector));
    parts = MPIRT_CONTAINER(vector);
    OK(MPIRT_Bufiter_create("in", MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &iterator));
    OK(MPIRT_Qos_channel_time_create("qos", 0, ms, 10 * ms, &qos));
    OK(MPIRTX_Task_create("task", body, NULL, qos, ms / 10, &task));
    OK(MPIRT_Ptchannel_create("self", iterator, iterator, 0, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &channel));
    OK(MPIRT_Bufiter_create("received", MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &received));
    OK(MPIRT_Channel_set_recvinbufiter(channel, received));
    OK(MPIRT_Channel_set_recvoutbufiter(channel, received));
    OK(MPIRT_Keyval_create(NULL, NULL, &keyval));
}

static void begin_failing(long after, int one)
{
    failed = 0;
    only_one = one;
    left = after;
}

static long end_failing(void)
{
    left = -1;
    return failed;
}

/* Whichever allocation fails, and whether others do after it: the object is made, or there is none. */
/* spec: ERROR-MEMORY-01 */
static void test_each_allocation_of_each_function_may_fail(void)
{
    for (int place = 0; place < MAKERS; place++)
        for (int one = 0; one < 2; one++) {
            long hit = 1;
            for (long after = 0; hit > 0 && after < FAILURES_MAX; after++) {
                MPIRT_Object made;
                int code;
                begin_failing(after, one);
                code = makers[place].make(&made);
                hit = end_failing();
                if (code == MPIRT_SUCCESS) {
                    char name[MPIRT_NAME_MAX];
                    OK(MPIRT_Object_get_name(made, name));
                    CHECK(strcmp(name, "made") == 0);
                    OK(MPIRT_Object_free(&made));
                } else if (code != MPIRT_ERR_NO_MEMORY || made.bits != 0) {
                    fprintf(stderr, "a %s gives %d and %llu\n", makers[place].name, code, (unsigned long long)made.bits);
                    failures++;
                }
            }
            CHECK(hit == 0);
        }
}

/* What takes memory and makes no object. */
/* spec: ERROR-MEMORY-01 */
static void test_each_allocation_of_a_change_may_fail(void)
{
    for (int one = 0; one < 2; one++) {
        long hit = 1;
        for (long after = 0; hit > 0 && after < FAILURES_MAX; after++) {
            int inserted, stored, other = MPIRT_KEYVAL_INVALID, created, flag, count, expected = 0;
            void *value;
            begin_failing(after, one);
            inserted = MPIRT_Cset_insert(set, objects[0]);
            stored = MPIRT_Object_put_attr(objects[0], keyval, &count);
            created = MPIRT_Keyval_create(NULL, NULL, &other);
            hit = end_failing();
            CHECK(inserted == MPIRT_SUCCESS || inserted == MPIRT_ERR_NO_MEMORY);
            CHECK(stored == MPIRT_SUCCESS || stored == MPIRT_ERR_NO_MEMORY);
            CHECK(created == MPIRT_SUCCESS || (created == MPIRT_ERR_NO_MEMORY && other == MPIRT_KEYVAL_INVALID));
            OK(MPIRT_Container_access_count(MPIRT_CONTAINER(set), &count));
            expected = inserted == MPIRT_SUCCESS;
            CHECK(count == expected);
            OK(MPIRT_Object_get_attr(objects[0], keyval, &value, &flag));
            CHECK(flag == (stored == MPIRT_SUCCESS));
            if (expected)
                OK(MPIRT_Cset_remove(set, objects[0]));
            if (flag)
                OK(MPIRT_Object_delete_attr(objects[0], keyval));
            if (created == MPIRT_SUCCESS)
                OK(MPIRT_Keyval_free(&other));
        }
        CHECK(hit == 0);
    }
}

/* With no memory at all what is in reserve is used up, and then every object is refused; what is there works, and goes; and with memory
 * all is as before. */
/* spec: ERROR-MEMORY-01 */
static void test_with_no_memory_at_all(void)
{
    static MPIRT_Cset made[MADE_MAX];
    MPIRT_Object none;
    char name[MPIRT_NAME_MAX];
    int count = 0, code = MPIRT_SUCCESS;
    begin_failing(0, 0);
    while (count < MADE_MAX && (code = MPIRT_Cset_create("made", &made[count])) == MPIRT_SUCCESS)
        count++;
    EXPECT(code, MPIRT_ERR_NO_MEMORY);
    for (int place = 0; place < MAKERS; place++) {
        code = makers[place].make(&none);
        if (code != MPIRT_ERR_NO_MEMORY || none.bits != 0) {
            fprintf(stderr, "a %s gives %d and %llu\n", makers[place].name, code, (unsigned long long)none.bits);
            failures++;
        }
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_NO_MEMORY);
    CHECK(end_failing() > 0 && count > 0 && count < MADE_MAX);
    begin_failing(0, 0);
    for (int place = 0; place < count; place++) {
        OK(MPIRT_Cset_get_name(made[place], name));
        CHECK(strcmp(name, "made") == 0);
        OK(MPIRT_Cset_free(&made[place]));
    }
    end_failing();
    OK(MPIRT_Container_access_count(MPIRT_CONTAINER(set), &count));
    CHECK(count == 0);
    for (int place = 0; place < MAKERS; place++) {
        OK(makers[place].make(&none));
        OK(MPIRT_Object_free(&none));
    }
}

/* Work for every kind of thread that a commit starts. */
static void prepare_threads(void)
{
    MPIRT_Trigger timed;
    MPIRT_Receptor handled;
    OK(MPIRT_Trigger_create("timed", MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &timed));
    OK(MPIRTX_Trigger_set_time(timed, 10 * ms, 0));
    OK(MPIRT_Receptor_create("timed", MPIRT_GROUP_WORLD, handlers, &handled));
}

static void tell(const char *what, int code)
{
    const char *detail;
    OK(MPIRTX_Error_detail(&detail));
    fprintf(stderr, "%s gives %d: %s\n", what, code, detail);
    failures++;
}

/* A commit that fails leaves nothing committed, and the next one does not know of it.
 * spec: ERROR-MEMORY-01 */
static void test_each_allocation_of_a_commit_may_fail(void)
{
    MPIRT_Timespec epoch;
    /* A commit allocates many times, and takes a tenth of a second: so by leaps. */
    for (int one = 0; one < 2; one++)
        for (long after = 0, leap = 1, hit = 1; hit > 0; after += leap, leap += after / 4) {
            int code;
            begin_failing(after, one);
            code = MPIRT_Commit();
            hit = end_failing();
            if (code != MPIRT_SUCCESS && code != MPIRT_ERR_NO_MEMORY)
                tell("a commit", code);
            if (code == MPIRT_SUCCESS)
                OK(MPIRT_Uncommit());
            else
                EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
        }
}

/* As with memory: there is a thread for everything, or nothing has changed. */
static void test_each_thread_of_a_commit_may_be_refused(void)
{
    MPIRT_Timespec epoch;
    int threads = 0;
    for (refused = 1; refused > 0; threads++) {
        int code;
        refused = 0;
        to_start = threads;
        code = MPIRT_Commit();
        to_start = -1;
        if (refused == 0) {
            EXPECT(code, MPIRT_SUCCESS);
            OK(MPIRT_Uncommit());
            continue;
        }
        if (code != MPIRT_ERR_NO_MEMORY)
            tell("a commit without a thread", code);
        CHECK(detail_says("thread"));
        EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
    }
    /* For the task, for handlers and for the time. */
    CHECK(threads > 3);
}

static void *asks(void *argument)
{
    ask_what_is_wrong();
    return argument;
}

/* Nor do the program's own on the data path, from their first call to their end. */
static void test_the_data_path_needs_no_memory(void)
{
    pthread_t thread;
    int made;
    MUST(MPIRT_Commit());
    is_awaited = 1;
    made = pthread_create(&thread, NULL, asks, NULL);
    CHECK(made == 0 && is_awaited == 0);
    pthread_join(thread, NULL);
    __atomic_store_n(&is_nowhere, 0, __ATOMIC_RELEASE);
    OK(MPIRT_Uncommit());
}

/* As above, where it is the kernel that refuses: the program has lowered its limits, and there is not a byte left in the heap. */
static int is_at_its_limit;

static void *asks_without_a_byte(void *argument)
{
    void **taken = NULL;
    while (!__atomic_load_n(&is_at_its_limit, __ATOMIC_ACQUIRE))
        sched_yield();
    for (size_t size = 4096; size >= sizeof(void *); size /= 2) {
        void **piece;
        while ((piece = __libc_malloc(size)) != NULL) {
            *piece = taken;
            taken = piece;
        }
    }
    ask_what_is_wrong();
    while (taken != NULL) {
        void *next = *taken;
        free(taken);
        taken = next;
    }
    return argument;
}

static void test_the_data_path_under_lowered_limits(void)
{
    struct rlimit data, space, low;
    pthread_t thread;
    MUST(MPIRT_Commit());
    CHECK(pthread_create(&thread, NULL, asks_without_a_byte, NULL) == 0);
    CHECK(getrlimit(RLIMIT_DATA, &data) == 0 && getrlimit(RLIMIT_AS, &space) == 0);
    low = data;
    low.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_DATA, &low) == 0);
    low = space;
    low.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_AS, &low) == 0);
    __atomic_store_n(&is_at_its_limit, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK(setrlimit(RLIMIT_DATA, &data) == 0 && setrlimit(RLIMIT_AS, &space) == 0);
    OK(MPIRT_Uncommit());
}

/* What the threads of a commit do takes nothing of the system: neither when they begin, nor while they wait and serve, nor when they end. */
static void test_threads_need_no_memory(void)
{
    MPIRT_Timespec epoch;
    int ran = __atomic_load_n(&runs, __ATOMIC_RELAXED), handled = __atomic_load_n(&handlings, __ATOMIC_RELAXED);
    is_awaited = 1;
    OK(MPIRT_Commit());
    CHECK(is_awaited == 0);
    OK(MPIRTX_Get_epoch(&epoch));
    for (int looks = 0; looks < 1000 && (__atomic_load_n(&runs, __ATOMIC_RELAXED) < ran + 3
                                         || __atomic_load_n(&handlings, __ATOMIC_RELAXED) == handled); looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    OK(MPIRT_Uncommit());
    __atomic_store_n(&is_nowhere, 0, __ATOMIC_RELEASE);
    CHECK(__atomic_load_n(&denied, __ATOMIC_RELAXED) > 0);
    CHECK(runs >= ran + 3 && handlings > handled);
}

/* A mode that cannot have them stays open, and what runs goes on. */
static void test_each_thread_of_a_mode_may_be_refused(void)
{
    MPIRTX_Mode mode, current;
    MPIRTX_Task other;
    MPIRT_Trigger timed;
    MPIRT_Receptor handled;
    MPIRT_Qos own;
    MPIRT_Timespec at;
    int threads = 0;
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("mode", &mode));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, 20 * ms, &own));
    OK(MPIRTX_Task_create("other", body, NULL, own, ms / 10, &other));
    OK(MPIRT_Trigger_create("later", MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &timed));
    OK(MPIRTX_Trigger_set_time(timed, 10 * ms, 0));
    OK(MPIRT_Receptor_create("later", MPIRT_GROUP_WORLD, handlers, &handled));
    for (refused = 1; refused > 0; threads++) {
        int code;
        refused = 0;
        to_start = threads;
        code = MPIRTX_Mode_commit(mode);
        to_start = -1;
        if (refused == 0) {
            EXPECT(code, MPIRT_SUCCESS);
        } else if (code != MPIRT_ERR_NO_MEMORY) {
            tell("a mode without a thread", code);
        }
        OK(MPIRTX_Mode_get_current(&current));
        CHECK(current.bits == 0);
    }
    CHECK(threads > 3);
    /* From here on nothing is needed that could be refused. */
    to_start = 0;
    refused = 0;
    OK(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    to_start = -1;
    CHECK(refused == 0);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == mode.bits);
    OK(MPIRT_Uncommit());
}

/* Nothing is there before Init, and it may be tried again. */
/* spec: ERROR-MEMORY-01 */
static void test_each_allocation_of_init_may_fail(int *argc, char ***argv)
{
    int code, flag;
    to_start = 0;
    EXPECT(MPIRT_Init(argc, argv), MPIRT_ERR_NO_MEMORY);
    to_start = -1;
    CHECK(refused == 1);
    code = MPIRT_ERR_NO_MEMORY;
    for (long after = 0; code != MPIRT_SUCCESS && after < FAILURES_MAX; after++) {
        begin_failing(after, 0);
        code = MPIRT_Init(argc, argv);
        end_failing();
        OK(MPIRT_Is_initialized(&flag));
        CHECK(flag == (code == MPIRT_SUCCESS));
        if (code != MPIRT_SUCCESS && code != MPIRT_ERR_NO_MEMORY)
            tell("Init", code);
    }
    MUST(code);
}

int main(int argc, char **argv)
{
    test_each_allocation_of_init_may_fail(&argc, &argv);
    OK(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    OK(MPIRT_Group_size(MPIRT_GROUP_WORLD, &members));
    prepare();
    test_each_allocation_of_each_function_may_fail();
    test_each_allocation_of_a_change_may_fail();
    test_with_no_memory_at_all();
    prepare_threads();
    test_each_allocation_of_a_commit_may_fail();
    test_each_thread_of_a_commit_may_be_refused();
    test_threads_need_no_memory();
    test_the_data_path_needs_no_memory();
    test_the_data_path_under_lowered_limits();
    test_each_thread_of_a_mode_may_be_refused();
    return end();
}
