/* A pipeline in C: three stages, driven by events.
 *
 * Member 0 feeds numbers in, member 1 squares them, member 2 adds them up. Nobody polls and nobody waits for a message: whoever has
 * sent one fires an event, at which the next stage's handler runs. A handler takes the message, works, sends, and fires in its
 * turn; it never blocks. The main threads only wait for the event that says that all is done.
 *
 *     cc pipeline.c $(pkg-config --cflags --libs mpirt) -o pipeline && leveret run -n 3 ./pipeline
 */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>

enum { STAGES = 3, ITEMS = 10, BYTES = sizeof(int64_t) };

static const MPIRT_Timespec patience = INT64_C(10000000000);

/* What a stage has: where messages come from, where they go, and what it fires when it has sent one. */
struct stage {
    MPIRT_Bufiter received, full, idle;
    MPIRT_Channel in, out;
    MPIRT_Trigger sent, done;
    int64_t sums[ITEMS], sum;
    int count, failed;
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

/* Stage 1: squares the number where it lies, and sends it on. */
static void square(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    struct stage *stage = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)receptor;
    (void)event;
    if (MPIRT_Bufiter_remove(stage->received, &buffer) != MPIRT_SUCCESS ||
        MPIRT_Buffer_get_base(buffer, &base) != MPIRT_SUCCESS) {
        stage->failed = 1;
        return;
    }
    *(int64_t *)base *= *(int64_t *)base;
    stage->failed |= MPIRT_Bufiter_insert(stage->full, buffer) != MPIRT_SUCCESS;
    stage->failed |= MPIRT_Channel_start(stage->out) != MPIRT_SUCCESS;
    stage->failed |= MPIRT_Trigger_fire(stage->sent) != MPIRT_SUCCESS;
}

/* Stage 2: adds the number up, and says when it was the last. */
static void add(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    struct stage *stage = argument;
    MPIRT_Buffer buffer;
    void *base;
    (void)receptor;
    (void)event;
    if (MPIRT_Bufiter_remove(stage->received, &buffer) != MPIRT_SUCCESS ||
        MPIRT_Buffer_get_base(buffer, &base) != MPIRT_SUCCESS) {
        stage->failed = 1;
        return;
    }
    stage->sum += *(int64_t *)base;
    stage->sums[stage->count++] = stage->sum;
    if (stage->count == ITEMS)
        stage->failed |= MPIRT_Trigger_fire(stage->done) != MPIRT_SUCCESS;
}

static MPIRT_Bufiter iterator(const char *name)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(name, MPIRT_BUFITER_FIFO, BYTES, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static void stock(MPIRT_Bufiter where)
{
    for (int count = 0; count < ITEMS; count++) {
        MPIRT_Buffer buffer;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, BYTES, MPIRT_INT64, &buffer));
        MUST(MPIRT_Bufiter_insert(where, buffer));
    }
}

/* Every item may be on its way at once. */
static MPIRT_Channel channel(int source, MPIRT_Bufiter in, MPIRT_Bufiter out)
{
    MPIRT_Channel made;
    MUST(MPIRT_Ptchannel_create(source == 0 ? "numbers" : "squares", in, out, source, source + 1, MPIRT_GROUP_WORLD,
                                MPIRT_QOS_BEST_EFFORT, &made));
    MUST(MPIRTX_Channel_set_slack(made, ITEMS));
    return made;
}

static MPIRT_Trigger trigger(const char *event)
{
    MPIRT_Trigger made;
    MUST(MPIRT_Trigger_create(event, MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made));
    return made;
}

/* Where an event runs a handler, or is waited for. */
static MPIRT_Receptor receptor(const char *event, MPIRT_Handler_function *function, struct stage *stage)
{
    MPIRT_Receptor made;
    MPIRT_Handler handler;
    MPIRT_Cset handlers = MPIRT_CSET_NULL;
    if (function != NULL) {
        MUST(MPIRT_Handler_create(event, function, stage, MPIRT_QOS_NULL, &handler));
        MUST(MPIRT_Cset_create(NULL, &handlers));
        MUST(MPIRT_Cset_insert(handlers, MPIRT_OBJECT(handler)));
    }
    MUST(MPIRT_Receptor_create(event, MPIRT_GROUP_WORLD, MPIRT_CONTAINER(handlers), &made));
    return made;
}

/* The first stage sends when both others have said that they are ready. */
static void feed(const struct stage *stage, MPIRT_Receptor ready)
{
    for (int other = 1; other < STAGES; other++)
        MUST(MPIRT_Receptor_wait(ready, patience));
    for (int64_t number = 1; number <= ITEMS; number++) {
        MPIRT_Buffer buffer;
        void *base;
        MUST(MPIRT_Bufiter_remove(stage->idle, &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        *(int64_t *)base = number;
        MUST(MPIRT_Bufiter_insert(stage->full, buffer));
        MUST(MPIRT_Channel_start(stage->out));
        MUST(MPIRT_Trigger_fire(stage->sent));
    }
}

int main(int argc, char **argv)
{
    static struct stage stage;
    MPIRT_Bufiter empty;
    MPIRT_Trigger is_ready;
    MPIRT_Receptor ready, done;
    int rank, size;
    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    MUST(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    if (size != STAGES) {
        fprintf(stderr, "pipeline: it has %d members, not %d; start it with -n %d\n", STAGES, size, STAGES);
        return EXIT_FAILURE;
    }
    stage.received = iterator("received");
    stage.full = iterator("full");
    stage.idle = iterator("idle");
    empty = iterator("empty");
    stock(rank == 0 ? stage.idle : empty);
    if (rank > 0)
        stage.in = channel(rank - 1, empty, stage.received);
    if (rank < STAGES - 1)
        stage.out = channel(rank, stage.full, stage.idle);
    stage.sent = trigger(rank == 0 ? "number" : "square");
    stage.done = trigger("done");
    is_ready = trigger("ready");
    ready = rank == 0 ? receptor("ready", NULL, NULL) : MPIRT_RECEPTOR_NULL;
    done = receptor("done", NULL, NULL);
    if (rank == 1)
        receptor("number", square, &stage);
    if (rank == 2)
        receptor("square", add, &stage);

    MUST(MPIRT_Commit());
    if (rank == 0) {
        feed(&stage, ready);
    } else {
        for (int count = 0; count < ITEMS; count++)
            MUST(MPIRT_Channel_start(stage.in));
        MUST(MPIRT_Trigger_fire(is_ready));
    }
    MUST(MPIRT_Receptor_wait(done, patience));
    MUST(MPIRT_Uncommit());
    for (int place = 0; place < stage.count; place++)
        printf("sink: the squares up to %d are %lld\n", place + 1, (long long)stage.sums[place]);
    if (stage.failed)
        fprintf(stderr, "pipeline: a handler of stage %d could not do its work\n", rank);
    MUST(MPIRT_Finalize());
    return stage.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
