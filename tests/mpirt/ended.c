/* Functions of the program that end the thread that calls them (pthread_exit), and threads that are cancelled (pthread_cancel): in
 * handlers, in delete functions, and in calls of the library. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>

static const MPIRT_Timespec ms = 1000000;

static void sleep_a_little(void)
{
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
}

/* --- handlers --- */

static int handled;
static pthread_t handler_thread;

enum { RETURNS, EXITS, IS_CANCELLED, CANCELS_ITSELF, ENABLES };

static void handler_function(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    int how = *(int *)argument;
    (void)receptor, (void)event;
    handler_thread = pthread_self();
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
    switch (how) {
    case EXITS: pthread_exit(NULL);
    case CANCELS_ITSELF:
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
        pthread_cancel(pthread_self());
        pthread_testcancel();
        break;
    /* Only until it returns, and nothing is to be waited for here. */
    case ENABLES: pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL); break;
    default: pthread_testcancel();
    }
}

/* The failure is the handler's, and the next firing is handled.
 * spec: ERROR-PROCESS-06 */
static void test_handlers(void)
{
    MPIRT_Trigger trigger;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRT_Cvector handlers;
    MPIRTX_Handler_metrics metrics;
    char name[MPIRT_NAME_MAX];
    /* A thread that has once ended itself is not cancelled any more. */
    static const int hows[] = {RETURNS, IS_CANCELLED, RETURNS, ENABLES, RETURNS, IS_CANCELLED, CANCELS_ITSELF, RETURNS,
                               EXITS, RETURNS, EXITS, EXITS, RETURNS};
    enum { RUNS = sizeof hows / sizeof *hows };
    int how, expected = 0;
    snprintf(name, sizeof name, "ended-%d", rank);
    OK(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Handler_create(NULL, handler_function, &how, MPIRT_QOS_NULL, &handler));
    OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(handler)}, &handlers));
    OK(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
    MUST(MPIRT_Commit());
    for (int run = 0; run < RUNS; run++) {
        how = hows[run];
        /* It waits until the thread has it enabled, which is never. */
        if (how == IS_CANCELLED)
            pthread_cancel(handler_thread);
        expected += how == EXITS || how == CANCELS_ITSELF;
        OK(MPIRT_Trigger_fire(trigger));
        do {
            sleep_a_little();
            OK(MPIRTX_Handler_get_metrics(handler, &metrics));
        } while (metrics.compute.count < (uint64_t)run + 1);
        CHECK(metrics.failed == (uint64_t)expected);
        CHECK(__atomic_load_n(&handled, __ATOMIC_ACQUIRE) == run + 1);
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Trigger_free(&trigger));
}

/* --- delete functions --- */

static int ends;

static int delete_function(MPIRT_Object object, int keyval, void *value, void *extra)
{
    (void)object, (void)keyval, (void)value, (void)extra;
    if (ends)
        pthread_exit(NULL);
    return MPIRT_SUCCESS;
}

/* The attribute stays, and the thread goes on: it is in a call, which answers. */
static void *deletes(void *unused)
{
    MPIRT_Cset set;
    MPIRT_Object object;
    int key, flag;
    void *value;
    (void)unused;
    OK(MPIRT_Cset_create("set", &set));
    object = MPIRT_OBJECT(set);
    OK(MPIRT_Keyval_create(delete_function, NULL, &key));
    OK(MPIRT_Object_put_attr(object, key, &key));
    ends = 1;
    for (int turn = 0; turn < 2; turn++) {
        EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("pthread_exit") && detail_says("delete function") && detail_says("must return"));
        EXPECT(MPIRT_Object_put_attr(object, key, NULL), MPIRT_ERR_ARGUMENT);
        EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_ARGUMENT);
        OK(MPIRT_Object_get_attr(object, key, &value, &flag));
        CHECK(flag == 1 && value == &key);
    }
    ends = 0;
    OK(MPIRT_Cset_free(&set));
    OK(MPIRT_Keyval_free(&key));
    return &ends;
}

/* spec: ERROR-PROCESS-06 */
static void test_delete_functions(void)
{
    pthread_t thread;
    void *left = NULL;
    CHECK(pthread_create(&thread, NULL, deletes, NULL) == 0);
    pthread_join(thread, &left);
    CHECK(left == &ends);
}

/* --- the program's own threads --- */

static int begun;

/* AddressSanitizer does not know of frames that a cancellation takes down, so there are no addresses of their variables. */
static __attribute__((noinline)) void make_and_sleep(void)
{
    MPIRT_Cset set;
    OK(MPIRT_Cset_create("set", &set));
    sleep_a_little();
    OK(MPIRT_Cset_free(&set));
}

static void *makes_and_sleeps(void *unused)
{
    (void)unused;
    for (;;) {
        make_and_sleep();
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
        pthread_testcancel();
    }
    return NULL;
}

static __attribute__((noinline)) void commit_and_uncommit(void)
{
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

static void *commits(void *unused)
{
    (void)unused;
    for (;;) {
        commit_and_uncommit();
        __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
        pthread_testcancel();
    }
    return NULL;
}

static MPIRT_Receptor awaited;

static __attribute__((noinline)) void wait_for_it(void)
{
    OK(MPIRT_Receptor_wait(awaited, MPIRT_TIME_SPEC_IGNORE));
}

static void *waits(void *unused)
{
    (void)unused;
    __atomic_store_n(&begun, 1, __ATOMIC_RELEASE);
    wait_for_it();
    pthread_testcancel();
    return NULL;
}

static pthread_t started(void *(*function)(void *))
{
    pthread_t thread;
    begun = 0;
    CHECK(pthread_create(&thread, NULL, function, NULL) == 0);
    while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
        sleep_a_little();
    return thread;
}

static void is_cancelled(pthread_t thread)
{
    void *left = NULL;
    pthread_join(thread, &left);
    CHECK(left == PTHREAD_CANCELED);
}

/* A cancellation waits until the call is over.
 * spec: ERROR-PROCESS-07 */
static void test_cancelled_calls(void)
{
    MPIRT_Trigger trigger;
    MPIRT_Cset set;
    char name[MPIRT_NAME_MAX];
    pthread_t thread;
    int flag = 1;
    thread = started(makes_and_sleeps);
    pthread_cancel(thread);
    is_cancelled(thread);
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Cset_free(&set));
    if (members == 1) {
        /* While nobody else waits for its commits. */
        thread = started(commits);
        pthread_cancel(thread);
        is_cancelled(thread);
    }
    snprintf(name, sizeof name, "awaited-%d", rank);
    OK(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &awaited));
    MUST(MPIRT_Commit());
    thread = started(waits);
    pthread_cancel(thread);
    OK(MPIRT_Trigger_fire(trigger));
    is_cancelled(thread);
    /* The call was not cut off: it has taken the firing that came after the cancellation. */
    OK(MPIRTX_Receptor_test(awaited, &flag));
    CHECK(flag == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&awaited));
    OK(MPIRT_Trigger_free(&trigger));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_handlers();
    test_delete_functions();
    test_cancelled_calls();
    return end();
}
