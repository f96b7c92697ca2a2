/* A change of mode in C: a second set of objects is committed while the first runs, and takes over at one instant.
 *
 * Member 0 measures and member 1 controls: first slowly with one number in a message, then, with other objects, four times as
 * often with four. The fast set is made and admitted while the slow one runs, and takes over at the end of a round of that: the last
 * slow message and the first fast one are both taken. From then on the slow objects can be freed. The fast set runs to the job's
 * horizon.
 *
 *     cc mode-change.c $(pkg-config --cflags --libs mpirt) -o mode-change && leveret run -n 2 --rounds 200 ./mode-change
 */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>

enum { MEMBERS = 2, NUMBERS_MAX = 4, BUFFERS = 2 };

#define US INT64_C(1000) /* nanoseconds */
#define SLOW_FOR (400000 * US)

struct mode {
    const char *name;
    MPIRT_Timespec period;
    int numbers; /* in a message */
};

static const struct mode slow_mode = {"slow", 20000 * US, 1}, fast_mode = {"fast", 5000 * US, NUMBERS_MAX};

/* One end of the channel with everything that it needs, and what was counted. */
struct end {
    const struct mode *mode;
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffers[BUFFERS];
    MPIRT_Qos channel_qos, task_qos;
    MPIRT_Channel channel;
    MPIRTX_Task task;
    int64_t expected;
    unsigned long long taken, wrong;
};

static void must(int error, const char *what)
{
    const char *text, *detail;
    if (error == MPIRT_SUCCESS)
        return;
    MPIRT_Error_string(error, &text);
    MPIRTX_Error_detail(&detail);
    fprintf(stderr, "mode-change: %s: %s\n%s\n", what, text, detail);
    exit(EXIT_FAILURE);
}
#define MUST(call) must(call, #call)

/* Member 0: every number of the message is the instance's. */
static void measure(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct end *end = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)task;
    if (MPIRT_Bufiter_remove(end->out, &buffer) != MPIRT_SUCCESS)
        return;
    MPIRT_Buffer_get_base(buffer, &base);
    for (int place = 0; place < end->mode->numbers; place++)
        ((int64_t *)base)[place] = (int64_t)instance->number;
    MPIRT_Bufiter_insert(end->in, buffer);
}

/* Member 1: numbers only grow, and all in a message are the same. */
static void control(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct end *end = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)task;
    (void)instance;
    if (MPIRT_Bufiter_remove(end->out, &buffer) != MPIRT_SUCCESS)
        return;
    MPIRT_Buffer_get_base(buffer, &base);
    end->wrong += ((int64_t *)base)[0] < end->expected;
    for (int place = 1; place < end->mode->numbers; place++)
        end->wrong += ((int64_t *)base)[place] != ((int64_t *)base)[0];
    end->expected = ((int64_t *)base)[0] + 1;
    end->taken++;
    MPIRT_Bufiter_insert(end->in, buffer);
}

static void declare(struct end *end, int rank)
{
    size_t bytes = (size_t)end->mode->numbers * sizeof(int64_t);
    MPIRT_Timespec period = end->mode->period;
    MPIRT_Timespec release = rank == 0 ? 0 : 2000 * US; /* the controller runs when the message has come */
    MUST(MPIRT_Bufiter_create("in", MPIRT_BUFITER_FIFO, bytes, MPIRT_INT64, MPIRT_CONTAINER_NULL, &end->in));
    MUST(MPIRT_Bufiter_create("out", MPIRT_BUFITER_FIFO, bytes, MPIRT_INT64, MPIRT_CONTAINER_NULL, &end->out));
    for (int place = 0; place < BUFFERS; place++) {
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, bytes, MPIRT_INT64, &end->buffers[place]));
        MUST(MPIRT_Bufiter_insert(rank == 0 ? end->out : end->in, end->buffers[place]));
    }
    MUST(MPIRT_Qos_channel_time_create(NULL, 1000 * US, 2000 * US, period, &end->channel_qos));
    MUST(MPIRT_Ptchannel_create("readings", end->in, end->out, 0, 1, MPIRT_GROUP_WORLD, end->channel_qos, &end->channel));
    MUST(MPIRT_Qos_channel_time_create(NULL, release, release + 1000 * US, period, &end->task_qos));
    MUST(MPIRTX_Task_create(rank == 0 ? "sensor" : "controller", rank == 0 ? measure : control, end, end->task_qos,
                            100 * US, &end->task));
    MUST(MPIRTX_Task_bind(end->task, end->channel));
}

static void release(struct end *end)
{
    MUST(MPIRTX_Task_free(&end->task));
    MUST(MPIRT_Channel_free(&end->channel));
    MUST(MPIRT_Qos_free(&end->task_qos));
    MUST(MPIRT_Qos_free(&end->channel_qos));
    for (int place = 0; place < BUFFERS; place++)
        MUST(MPIRT_Buffer_free(&end->buffers[place]));
    MUST(MPIRT_Bufiter_free(&end->in));
    MUST(MPIRT_Bufiter_free(&end->out));
}

static void tell(const struct end *end, int rank)
{
    if (rank == 1)
        printf("controller: %s: took %llu messages of %d numbers, %llu wrong\n", end->mode->name, end->taken,
               end->mode->numbers, end->wrong);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct end slow = {.mode = &slow_mode}, fast = {.mode = &fast_mode};
    MPIRTX_Mode mode;
    MPIRT_Timespec epoch, at;
    int rank, size;
    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    MUST(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    if (size != MEMBERS) {
        fprintf(stderr, "mode-change: it has %d members, not %d; start it with -n %d\n", MEMBERS, size, MEMBERS);
        return EXIT_FAILURE;
    }
    declare(&slow, rank);
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Get_epoch(&epoch));
    /* What this thread makes from here on belongs to the mode, until it is committed. */
    MUST(MPIRTX_Mode_open(fast.mode->name, &mode));
    declare(&fast, rank);
    MUST(MPIRTX_Mode_commit(mode));
    MUST(MPIRTX_Mode_switch(mode, epoch + SLOW_FOR, &at));
    tell(&slow, rank);
    release(&slow);
    MUST(MPIRTX_Run());
    tell(&fast, rank);
    release(&fast);
    MUST(MPIRTX_Mode_free(&mode));
    MUST(MPIRT_Finalize());
    return slow.wrong + fast.wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
