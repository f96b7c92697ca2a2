/* Children that fork makes of a member: each function of mpirt.h is an error there, whatever the parent's threads were at, and nothing that a
 * child does, its end included, reaches the parent's job. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

#if defined(__SANITIZE_ADDRESS__)
/* The leak checker would find in a child what threads of the parent hold. */
enum { EXITS = 0 };
#else
enum { EXITS = 1 };
#endif

static const MPIRT_Timespec ms = 1000000;
static int key;
static MPIRT_Cset set;
static MPIRT_Channel channel;
static MPIRT_Bufiter iterator;
static MPIRT_Trigger trigger;

/* Every function, with nothing: the state of the library is the first thing that is told. */
static void check_every_call(void)
{
    union value nothing[PARAMETERS_MAX];
    int asked = 0;
    memset(nothing, 0, sizeof nothing);
    for (int number = 0; number < CALLS; number++) {
        const struct call *call = &calls[number];
        int found, is_init = strcmp(call->name, "MPIRT_Init") == 0;
        if ((call->rules & RULE_LIVE) == 0 && !is_init)
            continue;
        asked++;
        found = call->call(nothing);
        if (found != (is_init ? MPIRT_ERR_AGENT : MPIRT_ERR_NOT_INITIALIZED)) {
            failures++;
            fprintf(stderr, "member %d: in a child %s gives %d\n", rank, call->name, found);
        }
        CHECK(detail_says(call->name) && detail_says("fork"));
    }
    CHECK(asked > 100);
}

/* What was right in the parent. */
static void check_in_child(void)
{
    MPIRT_Buffer buffer;
    MPIRT_Object object = MPIRT_OBJECT(set);
    int flag = -1;
    const char *text;
    /* Whoever waits for a lock that a thread of the parent had waits for ever. */
    alarm(60);
    EXPECT(MPIRT_Bufiter_remove(iterator, &buffer), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Channel_start(channel), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Channel_wait(channel, 0), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Trigger_fire(trigger), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Object_delete_attr(object, key), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_INITIALIZED);
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_NOT_INITIALIZED);
    check_every_call();
    /* What needs no library. */
    OK(MPIRT_Is_initialized(&flag));
    CHECK(flag == 0);
    OK(MPIRT_Is_finalized(&flag));
    CHECK(flag == 0);
    OK(MPIRT_Error_string(MPIRT_ERR_AGENT, &text));
    CHECK(strlen(text) > 10);
}

enum { BY_FORK, BY_THE_KERNEL, WAYS };
enum { BY_EXIT, AT_ONCE, BY_A_SIGNAL, BY_EXEC, ENDS };

static void one_child(int way, int end)
{
    int status = 0;
    pid_t child = way == BY_FORK ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        int before = failures;
        check_in_child();
        if (failures > before)
            _exit(EXIT_FAILURE);
        switch (end) {
        case BY_EXIT:
            if (EXITS)
                exit(EXIT_SUCCESS);
            break;
        case BY_A_SIGNAL: raise(SIGKILL); break;
        case BY_EXEC: execlp("true", "true", (char *)NULL); break;
        default: break;
        }
        _exit(EXIT_SUCCESS);
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    if (end == BY_A_SIGNAL)
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    else
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

/* spec: ERROR-PROCESS-05 */
static void test_children_of_all_kinds(void)
{
    for (int way = 0; way < WAYS; way++)
        for (int end = 0; end < ENDS; end++)
            one_child(way, end);
}

/* The parent's locks are held, now and then, when a child is made. */
static int is_over;

static void *keeps_busy(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        MPIRT_Cset made;
        MPIRT_Buffer buffer;
        int code = MPIRT_Cset_create("busy", &made);
        if (code == MPIRT_SUCCESS)
            OK(MPIRT_Cset_free(&made));
        else
            CHECK(code == MPIRT_ERR_OBJECT_COMMITTED);
        code = MPIRT_Bufiter_remove(iterator, &buffer);
        if (code == MPIRT_SUCCESS)
            OK(MPIRT_Bufiter_insert(iterator, buffer));
        else
            CHECK(code == MPIRT_ERR_EMPTY);
    }
    return NULL;
}

static int runs, forked_in_task, handled;

static void task_function(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
    if (!__atomic_exchange_n(&forked_in_task, 1, __ATOMIC_ACQ_REL))
        for (int way = 0; way < WAYS; way++)
            one_child(way, AT_ONCE);
    __atomic_add_fetch(&runs, 1, __ATOMIC_RELEASE);
}

static void handler_function(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
    one_child(BY_FORK, AT_ONCE);
    __atomic_add_fetch(&handled, 1, __ATOMIC_RELEASE);
}

static int deletes;

static int delete_it(MPIRT_Object object, int keyval, void *value, void *extra)
{
    (void)object, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPIRT_SUCCESS;
}

static void prepare(void)
{
    char name[MPIRT_NAME_MAX];
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRT_Cvector handlers;
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Keyval_create(delete_it, NULL, &key));
    OK(MPIRT_Object_put_attr(MPIRT_OBJECT(set), key, NULL));
    iterator = iterator_of(1, 4);
    /* To itself: what comes is what was sent. */
    snprintf(name, sizeof name, "forked-%d", rank);
    OK(MPIRT_Ptchannel_create(name, iterator_of(1, 2), iterator_of(1, 0), rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT,
                              &channel));
    OK(MPIRT_Channel_set_recvinbufiter(channel, iterator_of(1, 2)));
    OK(MPIRT_Channel_set_recvoutbufiter(channel, iterator_of(1, 0)));
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 50 * ms, 50 * ms, &qos));
    OK(MPIRTX_Task_create(name, task_function, NULL, qos, ms, &task));
    OK(MPIRT_Trigger_create(name, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Handler_create(NULL, handler_function, NULL, MPIRT_QOS_NULL, &handler));
    OK(MPIRT_Cvector_create(NULL, 1, (MPIRT_Object[]){MPIRT_OBJECT(handler)}, &handlers));
    OK(MPIRT_Receptor_create(name, MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
}

static void transfer(void)
{
    OK(MPIRT_Channel_start(channel));
    OK(MPIRT_Channel_wait(channel, MPIRT_TIME_SPEC_IGNORE));
}

int main(int argc, char **argv)
{
    pthread_t busy[2];
    int before;
    begin(&argc, &argv);
    prepare();
    test_children_of_all_kinds();
    MUST(MPIRT_Commit());
    transfer();
    for (int thread = 0; thread < 2; thread++)
        CHECK(pthread_create(&busy[thread], NULL, keeps_busy, NULL) == 0);
    for (int round = 0; round < 3; round++)
        test_children_of_all_kinds();
    OK(MPIRT_Trigger_fire(trigger));
    before = __atomic_load_n(&runs, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&runs, __ATOMIC_ACQUIRE) < before + 3 || __atomic_load_n(&handled, __ATOMIC_ACQUIRE) == 0)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int thread = 0; thread < 2; thread++)
        pthread_join(busy[thread], NULL);
    /* All is as it was, and goes on. */
    transfer();
    CHECK(handled == 1 && forked_in_task == 1 && deletes == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Cset_free(&set));
    CHECK(deletes == 1);
    test_children_of_all_kinds();
    return end();
}
