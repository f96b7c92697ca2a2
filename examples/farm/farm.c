/* A farm in C: member 0 hands out jobs, the most urgent first, and the others work.
 *
 * Best effort: nothing is planned, every transfer is started by both ends. What does the farming are two policies of buffer
 * iterators:
 *   - SORTED: channels to all workers take their jobs from one iterator, and the lowest label leaves first, whatever the
 *     order of insertion;
 *   - LIFO: answers go into the buffer that was used last, which is still in the processor's cache.
 *
 *     cc farm.c $(pkg-config --cflags --libs mpirt) -o farm && leveret run -n 3 ./farm
 */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 12, WORKERS_MAX = 4, ANSWER_BUFFERS = 4, NUMBERS = 2 };
enum { BYTES = NUMBERS * sizeof(int64_t) };

static const MPIRT_Timespec patience = INT64_C(10000000000);

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static void must(int error, const char *what)
{
    const char *text, *detail;
    if (error == MPIRT_SUCCESS)
        return;
    MPIRT_Error_string(error, &text);
    MPIRTX_Error_detail(&detail);
    fprintf(stderr, "farm: %s: %s\n%s\n", what, text, detail);
    exit(EXIT_FAILURE);
}
#define MUST(call) must(call, #call)

static MPIRT_Bufiter iterator(const char *name, MPIRT_Bufiter_policy policy)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(name, policy, BYTES, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static MPIRT_Buffer buffer(void)
{
    MPIRT_Buffer made;
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, BYTES, MPIRT_INT64, &made));
    return made;
}

static struct end end(const char *kind, int source, int target, MPIRT_Bufiter in, MPIRT_Bufiter out)
{
    struct end made = {in, out, MPIRT_CHANNEL_NULL};
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "%s-%d", kind, source + target);
    MUST(MPIRT_Ptchannel_create(name, in, out, source, target, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &made.channel));
    return made;
}

static int64_t *numbers_of(MPIRT_Buffer of)
{
    void *base;
    MUST(MPIRT_Buffer_get_base(of, &base));
    return base;
}

static void transfer(const struct end *of)
{
    MUST(MPIRT_Channel_start(of->channel));
    MUST(MPIRT_Channel_wait(of->channel, patience));
}

static void hand_out(int workers)
{
    MPIRT_Bufiter jobs = iterator("jobs", MPIRT_BUFITER_SORTED), spent = iterator("spent", MPIRT_BUFITER_LIFO);
    MPIRT_Bufiter ready = iterator("ready", MPIRT_BUFITER_LIFO), answered = iterator("answered", MPIRT_BUFITER_FIFO);
    struct end orders[WORKERS_MAX], answers[WORKERS_MAX];
    MPIRT_Buffer job[JOBS], answer[ANSWER_BUFFERS];
    int is_used[ANSWER_BUFFERS] = {0}, used = 0;
    for (int worker = 0; worker < workers; worker++) {
        orders[worker] = end("order", 0, worker + 1, jobs, spent);
        answers[worker] = end("answer", worker + 1, 0, ready, answered);
    }
    for (int place = 0; place < JOBS; place++)
        job[place] = buffer();
    for (int place = 0; place < ANSWER_BUFFERS; place++) {
        answer[place] = buffer();
        MUST(MPIRT_Bufiter_insert(ready, answer[place]));
    }
    MUST(MPIRT_Commit());
    for (int place = 0; place < JOBS; place++) {
        /* The last one is the most urgent. */
        MUST(MPIRT_Buffer_set_label(job[place], JOBS - place));
        numbers_of(job[place])[0] = place + 1;
        MUST(MPIRT_Bufiter_insert(jobs, job[place]));
    }
    for (int round = 0; round < JOBS / workers; round++) {
        for (int worker = 0; worker < workers; worker++)
            transfer(&orders[worker]);
        for (int worker = 0; worker < workers; worker++) {
            MPIRT_Buffer came;
            int64_t *numbers;
            transfer(&answers[worker]);
            MUST(MPIRT_Bufiter_remove(answered, &came));
            for (int place = 0; place < ANSWER_BUFFERS; place++)
                is_used[place] |= answer[place].bits == came.bits;
            numbers = numbers_of(came);
            printf("farmer: %lld squared is %lld\n", (long long)numbers[0], (long long)numbers[1]);
            MUST(MPIRT_Bufiter_insert(ready, came));
        }
    }
    for (int place = 0; place < ANSWER_BUFFERS; place++)
        used += is_used[place];
    printf("farmer: %d answers came into %d of %d buffers\n", JOBS, used, ANSWER_BUFFERS);
    MUST(MPIRT_Uncommit());
}

static void work(int rank, int workers)
{
    MPIRT_Bufiter empty = iterator("empty", MPIRT_BUFITER_FIFO), full = iterator("full", MPIRT_BUFITER_FIFO);
    struct end orders = end("order", 0, rank, empty, full);
    struct end answers = end("answer", rank, 0, full, empty);
    MUST(MPIRT_Bufiter_insert(empty, buffer()));
    MUST(MPIRT_Commit());
    for (int round = 0; round < JOBS / workers; round++) {
        MPIRT_Buffer order;
        int64_t *numbers;
        transfer(&orders);
        MUST(MPIRT_Bufiter_remove(full, &order));
        numbers = numbers_of(order);
        numbers[1] = numbers[0] * numbers[0];
        MUST(MPIRT_Bufiter_insert(full, order));
        transfer(&answers);
    }
    MUST(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    int rank, size;
    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    MUST(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    if (size < 2 || size > WORKERS_MAX + 1) {
        fprintf(stderr, "farm: it has 2 to %d members, not %d; start it with -n 3\n", WORKERS_MAX + 1, size);
        return EXIT_FAILURE;
    }
    if (rank == 0)
        hand_out(size - 1);
    else
        work(rank, size - 1);
    MUST(MPIRT_Finalize());
    return EXIT_SUCCESS;
}
