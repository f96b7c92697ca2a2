/* Two tasks of a member that run at once, each with a channel of its own, between iterators that both channels share. */
#define _POSIX_C_SOURCE 200809L
#include "harness.h"

#include <stdatomic.h>
#include <unistd.h>

enum { TASKS = 2, BUFFERS = 32, SLACK = 16, TURNS = 64, WANTED = 1000, NUMBERS_MAX = 1000000 };
static const MPIRT_Timespec ms = INT64_C(1000000);

/* A message says twice which one it is. */
struct message {
    uint64_t number, check;
};

/* Of a sender: what is to be sent, and what was; of a receiver: what is to be filled, and what was. */
static MPIRT_Bufiter in, out;
static MPIRT_Channel channels[TASKS];
static MPIRT_Buffer buffers[BUFFERS];

static atomic_uint_fast64_t written, received, highest;
static atomic_uchar seen[NUMBERS_MAX];
static atomic_int torn, twice, refused;

/* More than one answer is right, and no other. */
static int one_of(int code, int other)
{
    if (code != MPIRT_SUCCESS && code != other)
        atomic_fetch_add(&refused, 1);
    return code == MPIRT_SUCCESS;
}

static struct message *message_in(MPIRT_Buffer buffer)
{
    void *base = NULL;
    one_of(MPIRT_Buffer_get_base(buffer, &base), MPIRT_SUCCESS);
    return base;
}

static void sends(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Channel *own = argument;
    (void)task, (void)instance;
    for (int turn = 0; turn < TURNS; turn++) {
        MPIRT_Buffer buffer;
        if (one_of(MPIRT_Bufiter_remove(out, &buffer), MPIRT_ERR_EMPTY)) {
            struct message *message = message_in(buffer);
            message->number = atomic_fetch_add(&written, 1);
            message->check = ~message->number;
            one_of(MPIRT_Bufiter_insert(in, buffer), MPIRT_SUCCESS);
        }
        one_of(MPIRT_Channel_start(*own), MPIRT_ERR_SLACK);
    }
}

static void note(const struct message *message)
{
    uint64_t number = message->number, known = atomic_load(&highest);
    if (message->check != ~number || number >= NUMBERS_MAX) {
        atomic_fetch_add(&torn, 1);
        return;
    }
    if (atomic_exchange(&seen[number], 1))
        atomic_fetch_add(&twice, 1);
    while (number > known && !atomic_compare_exchange_weak(&highest, &known, number))
        ;
    atomic_fetch_add(&received, 1);
}

static void receives(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRT_Channel *own = argument;
    (void)task, (void)instance;
    for (int turn = 0; turn < TURNS; turn++) {
        MPIRT_Buffer buffer;
        one_of(MPIRT_Channel_start(*own), MPIRT_ERR_SLACK);
        if (one_of(MPIRT_Bufiter_remove(out, &buffer), MPIRT_ERR_EMPTY)) {
            note(message_in(buffer));
            one_of(MPIRT_Bufiter_insert(in, buffer), MPIRT_SUCCESS);
        }
    }
}

/* One of two for which one core has no room at once, if there is another. */
static void task_for(int place)
{
    static const char *const names[2][TASKS] = {{"sends-a", "sends-b"}, {"receives-a", "receives-b"}};
    static const char *const of_channels[TASKS] = {"a", "b"};
    MPIRT_Timespec begin = rank * 4 * ms, budget = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 5 * ms / 2 : ms;
    MPIRTX_Task task;
    MPIRT_Qos qos;
    OK(MPIRT_Ptchannel_create(of_channels[place], in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &channels[place]));
    OK(MPIRTX_Channel_set_slack(channels[place], SLACK));
    OK(MPIRT_Qos_channel_time_create(NULL, begin, begin + 4 * ms, 10 * ms, &qos));
    OK(MPIRTX_Task_create(names[rank][place], rank == 0 ? sends : receives, &channels[place], qos, budget, &task));
    OK(MPIRTX_Task_set_overrun_policy(task, MPIRTX_OVERRUN_LATE));
    OK(MPIRTX_Task_bind(task, channels[place]));
}

/* Each message arrives once and whole, and none is lost: what has not come is behind the last by no more than can be under way. Each buffer
 * is in one place. */
/* spec: BUFITER-SHARE-04 */
static void test_channels_of_two_tasks_share_their_iterators(void)
{
    uint64_t missing = 0;
    int kept = 0;
    if (rank < 2 && members > 1) {
        OK(MPIRT_Bufiter_create("in", MPIRT_BUFITER_FIFO, sizeof(struct message), MPIRT_BYTE, MPIRT_CONTAINER_NULL, &in));
        OK(MPIRT_Bufiter_create("out", MPIRT_BUFITER_FIFO, sizeof(struct message), MPIRT_BYTE, MPIRT_CONTAINER_NULL, &out));
        for (int place = 0; place < BUFFERS; place++) {
            OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(struct message), MPIRT_BYTE, &buffers[place]));
            OK(MPIRT_Bufiter_insert(rank == 0 ? out : in, buffers[place]));
        }
        for (int place = 0; place < TASKS; place++)
            task_for(place);
    }
    MUST(MPIRT_Commit());
    while (rank == 1 && atomic_load(&received) < WANTED)
        MUST(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    OK(MPIRT_Uncommit());
    CHECK(atomic_load(&refused) == 0);
    if (rank == 1) {
        for (uint64_t number = 0; number < atomic_load(&highest); number++)
            missing += !atomic_load(&seen[number]);
        CHECK(atomic_load(&torn) == 0 && atomic_load(&twice) == 0);
        CHECK(missing <= BUFFERS + TASKS * SLACK);
    }
    if (rank < 2 && members > 1) {
        /* The program has them all again. */
        for (int place = 0; place < BUFFERS; place++)
            kept += MPIRT_Bufiter_insert(in, buffers[place]) == MPIRT_SUCCESS;
        CHECK(kept == BUFFERS);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_channels_of_two_tasks_share_their_iterators();
    if (failures == 0)
        printf("member %d: passed\n", rank);
    OK(MPIRT_Finalize());
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
