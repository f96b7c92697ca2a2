/* The last member ends the whole job in the way that its argument names; the others must not run on. */
#define _GNU_SOURCE
#include "harness.h"

#include <pthread.h>
#include <unistd.h>

enum { CODE = 42 };

static const MPIRT_Timespec ms = 1000000;

/* What is printed without the end of a line must come out all the same. */
static void end_it(void)
{
    printf("member %d: about to abort", rank);
    MPIRTX_Abort(CODE, "the \xff valve \x1b[31m is stuck");
    printf("member %d: came back\n", rank);
}

/* spec: MPIRTX_Abort/ARGUMENT */
static void test_wrong_codes(void)
{
    static const int wrong[] = {0, -1, 256, 1 << 30};
    for (size_t number = 0; number < sizeof wrong / sizeof *wrong; number++)
        EXPECT(MPIRTX_Abort(wrong[number], "no code"), MPIRT_ERR_ARGUMENT);
}

static void in_task(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)argument;
    if (instance->number == 3)
        end_it();
}

static void in_handler(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
    end_it();
}

static void *in_thread(void *argument)
{
    (void)argument;
    end_it();
    return NULL;
}

static void make_handler(MPIRT_Trigger *trigger)
{
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRT_Cvector handlers;
    MPIRT_Object object;
    MUST(MPIRT_Trigger_create("stuck", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, trigger));
    MUST(MPIRT_Handler_create(NULL, in_handler, NULL, MPIRT_QOS_NULL, &handler));
    object = MPIRT_OBJECT(handler);
    MUST(MPIRT_Cvector_create(NULL, 1, &object, &handlers));
    MUST(MPIRT_Receptor_create("stuck", MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &receptor));
}

static void make_task(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 10 * ms, &qos));
    MUST(MPIRTX_Task_create("watch", in_task, NULL, qos, ms, &task));
}

/* Ends the job before it is committed, within its commit, or from a task, a handler or a thread of it. */
static void abort_by(const char *way, int is_last)
{
    MPIRT_Trigger trigger = MPIRT_TRIGGER_NULL;
    pthread_t thread;
    if (is_last && strcmp(way, "before") == 0)
        end_it();
    if (is_last && strcmp(way, "handler") == 0)
        make_handler(&trigger);
    else if (is_last && strcmp(way, "task") == 0)
        make_task();
    if (strcmp(way, "waiting") == 0) {
        /* The first member never commits, so the last one's main thread waits in the library. */
        if (is_last && pthread_create(&thread, NULL, in_thread, NULL) != 0)
            exit(EXIT_FAILURE);
        while (rank == 0 && !is_last)
            pause();
    }
    if (MPIRT_Commit() != MPIRT_SUCCESS) {
        printf("member %d: no commit\n", rank);
        exit(EXIT_FAILURE);
    }
    if (is_last && strcmp(way, "main") == 0)
        end_it();
    if (trigger.bits != 0)
        OK(MPIRT_Trigger_fire(trigger));
    if (MPIRTX_Run() != MPIRT_SUCCESS) {
        const char *detail;
        MPIRTX_Error_detail(&detail);
        printf("member %d: %s\n", rank, detail);
    }
    printf("member %d: has stopped\n", rank);
    exit(EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "main";
    EXPECT(MPIRTX_Abort(CODE, "too early"), MPIRT_ERR_NOT_INITIALIZED);
    begin(&argc, &argv);
    test_wrong_codes();
    if (failures > 0)
        return EXIT_FAILURE;
    abort_by(way, rank == members - 1);
    return EXIT_SUCCESS;
}
