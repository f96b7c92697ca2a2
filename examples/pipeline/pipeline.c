/* A pipeline in C: three stages, driven by events.
 *
 * Member 0 feeds numbers in, member 1 squares them, member 2 adds them up. Channels and tasks are event-driven: what completes one
 * starts the next, and nobody calls for a message on its way.
 *
 *     feed --fed--> numbers --came--> square --squared--> squares --arrived--> add
 *     0             0 to 1            1                   1 to 2               2
 *
 * Few buffers carry any count of numbers: whoever has none of them free does not send. Member 0 waits until one comes back. Member 1
 * receives into those that it has sent, so that nothing comes to it that it could not send on.
 *
 *     cc pipeline.c $(pkg-config --cflags --libs mpirt) -o pipeline && leveret run -n 3 ./pipeline
 *     leveret run -n 3 ./pipeline -- 1000
 */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>

enum { STAGES = 3, DEPTH = 4, ITEMS = 10, ITEMS_MAX = 1000000, BYTES = sizeof(int64_t) };

static const MPIRT_Timespec patience = INT64_C(10000000000), budget = INT64_C(100000);

/* What a stage has: where messages come from, and where they go. */
struct stage {
    MPIRT_Bufiter received, full, idle;
    MPIRT_Channel in, out;
    MPIRT_Trigger done;
    int64_t *sums, sum;
    long items, count;
    int failed;
};

static void must(int error, const char *what)
{
    const char *text, *detail;
    if (error == MPIRT_SUCCESS)
        return;
    MPIRT_Error_string(error, &text);
    MPIRTX_Error_detail(&detail);
    fprintf(stderr, "pipeline: %s: %s\n%s\n", what, text, detail);
    exit(EXIT_FAILURE);
}
#define MUST(call) must(call, #call)

/* Stage 1: squares the number where it lies. That it has run sends it on. */
static void square(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct stage *stage = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)task;
    (void)instance;
    if (MPIRT_Bufiter_remove(stage->received, &buffer) != MPIRT_SUCCESS ||
        MPIRT_Buffer_get_base(buffer, &base) != MPIRT_SUCCESS) {
        stage->failed = 1;
        return;
    }
    *(int64_t *)base *= *(int64_t *)base;
    stage->failed |= MPIRT_Bufiter_insert(stage->full, buffer) != MPIRT_SUCCESS;
}

/* Stage 2: adds the number up, and says when it was the last. */
static void add(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct stage *stage = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)task;
    (void)instance;
    if (MPIRT_Bufiter_remove(stage->received, &buffer) != MPIRT_SUCCESS ||
        MPIRT_Buffer_get_base(buffer, &base) != MPIRT_SUCCESS) {
        stage->failed = 1;
        return;
    }
    stage->sum += *(int64_t *)base;
    stage->sums[stage->count++] = stage->sum;
    stage->failed |= MPIRT_Bufiter_insert(stage->idle, buffer) != MPIRT_SUCCESS;
    if (stage->count == stage->items)
        stage->failed |= MPIRT_Trigger_fire(stage->done) != MPIRT_SUCCESS;
}

static MPIRT_Bufiter iterator(const char *name)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(name, MPIRT_BUFITER_FIFO, BYTES, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* What `start` starts, and what fires `completion` when it is complete. */
static MPIRT_Qos between(const char *start, const char *completion)
{
    MPIRT_Qos made;
    MUST(MPIRT_Qos_channel_event_create(NULL, start, completion, &made));
    return made;
}

static MPIRT_Channel channel(int source, MPIRT_Bufiter in, MPIRT_Bufiter out)
{
    MPIRT_Channel made;
    MPIRT_Qos qos = source == 0 ? between("fed", "came") : between("squared", "arrived");
    MUST(MPIRT_Ptchannel_create(source == 0 ? "numbers" : "squares", in, out, source, source + 1, MPIRT_GROUP_WORLD, qos, &made));
    return made;
}

static MPIRT_Trigger trigger(const char *event)
{
    MPIRT_Trigger made;
    MUST(MPIRT_Trigger_create(event, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made));
    return made;
}

static MPIRT_Receptor receptor(const char *event)
{
    MPIRT_Receptor made;
    MUST(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* What this member has of the pipeline. Each end of a channel takes buffers from its first iterator, and puts them into its second. */
static void make(struct stage *stage, int rank)
{
    MPIRTX_Task task;
    stage->received = iterator("received");
    stage->full = iterator("full");
    stage->idle = iterator("idle");
    for (int count = 0; count < DEPTH; count++) {
        MPIRT_Buffer buffer;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, BYTES, MPIRT_INT64, &buffer));
        MUST(MPIRT_Bufiter_insert(stage->idle, buffer));
    }
    if (rank > 0)
        stage->in = channel(rank - 1, stage->idle, stage->received);
    if (rank < STAGES - 1)
        stage->out = channel(rank, stage->full, stage->idle);
    if (rank == 1)
        MUST(MPIRTX_Task_create("square", square, stage, between("came", "squared"), budget, &task));
    if (rank == 2)
        MUST(MPIRTX_Task_create("add", add, stage, between("arrived", NULL), budget, &task));
}

/* A buffer to fill; when all are on their way, the next that comes back. */
static int64_t *next(const struct stage *stage, MPIRT_Buffer *buffer)
{
    void *base;
    int error;
    while ((error = MPIRT_Bufiter_remove(stage->idle, buffer)) == MPIRT_ERR_EMPTY)
        MUST(MPIRT_Channel_wait(stage->out, patience));
    MUST(error);
    MUST(MPIRT_Buffer_get_base(*buffer, &base));
    return base;
}

/* The first stage sends when both others have said that they are ready, and waits until the last number is added. */
static void feed(const struct stage *stage, MPIRT_Trigger fed, MPIRT_Receptor ready, MPIRT_Receptor done)
{
    for (int other = 1; other < STAGES; other++)
        MUST(MPIRT_Receptor_wait(ready, patience));
    for (int64_t number = 1; number <= stage->items; number++) {
        MPIRT_Buffer buffer;
        *next(stage, &buffer) = number;
        MUST(MPIRT_Bufiter_insert(stage->full, buffer));
        MUST(MPIRT_Trigger_fire(fed));
    }
    MUST(MPIRT_Receptor_wait(done, patience));
}

/* How many numbers: the program's argument. */
static long items_of(int argc, char **argv)
{
    char *end = NULL;
    long items = argc > 1 ? strtol(argv[1], &end, 10) : ITEMS;
    if (argc > 2 || items < 1 || items > ITEMS_MAX || (end != NULL && (end == argv[1] || *end != '\0'))) {
        fprintf(stderr, "pipeline: its argument is how many numbers go through it, 1 to %d\n", ITEMS_MAX);
        exit(EXIT_FAILURE);
    }
    return items;
}

int main(int argc, char **argv)
{
    static struct stage stage;
    MPIRT_Trigger fed, is_ready;
    MPIRT_Receptor ready = MPIRT_RECEPTOR_NULL, done = MPIRT_RECEPTOR_NULL;
    int rank, size;
    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    MUST(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    if (size != STAGES) {
        fprintf(stderr, "pipeline: it has %d members, not %d; start it with -n %d\n", STAGES, size, STAGES);
        return EXIT_FAILURE;
    }
    stage.items = items_of(argc, argv);
    stage.sums = calloc((size_t)stage.items, sizeof *stage.sums);
    if (stage.sums == NULL)
        return EXIT_FAILURE;
    make(&stage, rank);
    fed = trigger("fed");
    is_ready = trigger("ready");
    stage.done = trigger("done");
    if (rank == 0) {
        ready = receptor("ready");
        done = receptor("done");
    }

    MUST(MPIRT_Commit());
    if (rank > 0)
        MUST(MPIRT_Channel_activate(stage.in));
    if (rank < STAGES - 1)
        MUST(MPIRT_Channel_activate(stage.out));
    /* What an event starts counts from here on. The others only wait until the first stage has had enough. */
    if (rank == 0)
        feed(&stage, fed, ready, done);
    else
        MUST(MPIRT_Trigger_fire(is_ready));
    MUST(MPIRT_Uncommit());
    for (long place = 0; place < stage.count; place++)
        printf("sink: the squares up to %ld are %lld\n", place + 1, (long long)stage.sums[place]);
    if (stage.failed)
        fprintf(stderr, "pipeline: the task of stage %d could not do its work\n", rank);
    free(stage.sums);
    MUST(MPIRT_Finalize());
    return stage.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
