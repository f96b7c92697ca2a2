/* What a transfer of each size costs the sender and the receiver, in calls of the C interface: plain FIFO, ORDERED with the
 * library's memory (aliased) and ORDERED with the program's own. Two members:
 *
 *     cc -O2 transfer_cost.c $(pkg-config --cflags --libs mpirt) -o transfer_cost && leveret run -n 2 ./transfer_cost
 *
 * The quickest of many, in nanoseconds: what the calls themselves need when nothing else is in the way. */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4, TRANSFERS = 400, SIZES = 5, KINDS = 3 };
static const size_t sizes[SIZES] = {64, 1024, 16384, 262144, 4194304};
static const char *const kinds[KINDS] = {"plain FIFO", "ORDERED, one memory", "ORDERED, own memory"};

static void must(int code, const char *what)
{
    const char *detail;
    if (code == MPIRT_SUCCESS)
        return;
    MPIRTX_Error_detail(&detail);
    fprintf(stderr, "%s gives %d: %s\n", what, code, detail);
    exit(EXIT_FAILURE);
}
#define MUST(call) must((call), #call)

static MPIRT_Timespec now(void)
{
    MPIRT_Timespec time;
    MUST(MPIRT_Get_time(&time));
    return time;
}

static int rank;

static MPIRT_Timespec quickest(int kind, size_t size)
{
    MPIRT_Bufiter_policy policy = kind == 0 ? MPIRT_BUFITER_FIFO : MPIRT_BUFITER_FIFO_ORDERED;
    MPIRT_Buffer buffers[COUNT], buffer;
    MPIRT_Object objects[COUNT];
    MPIRT_Timespec least = INT64_MAX, before, took;
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
    MPIRT_Cvector set;
    char *own[COUNT];
    for (int place = 0; place < COUNT; place++) {
        own[place] = malloc(size);
        memset(own[place], 1, size);
        MUST(MPIRT_Buffer_create(NULL, kind == 2 ? (void *)own[place] : MPIRT_SYSTEM_MEM_ALLOC, size, MPIRT_BYTE,
                                 &buffers[place]));
        objects[place] = MPIRT_OBJECT(buffers[place]);
    }
    MUST(MPIRT_Cvector_create(NULL, COUNT, objects, &set));
    MUST(MPIRT_Bufiter_create(NULL, policy, size, MPIRT_BYTE, MPIRT_CONTAINER(set), &in));
    MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, size, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &out));
    MUST(MPIRT_Ptchannel_create("cost", in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &channel));
    MUST(MPIRT_Commit());
    for (int place = 0; rank == 1 && place < COUNT; place++)
        MUST(MPIRT_Bufiter_insert(in, buffers[place]));
    for (int transfer = 0; transfer < TRANSFERS; transfer++) {
        if (rank == 0) {
            before = now();
            MUST(MPIRT_Bufiter_insert(in, buffers[transfer % COUNT]));
            MUST(MPIRT_Channel_start(channel));
            took = now() - before;
            MUST(MPIRT_Channel_wait(channel, INT64_C(10000000000)));
            while (MPIRT_Bufiter_remove(out, &buffer) == MPIRT_ERR_EMPTY)
                continue;
        } else {
            /* Long enough for the message to be there: what is timed is the reception, not the wait for the sender. */
            MUST(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 200000 + (MPIRT_Timespec)size / 2));
            before = now();
            MUST(MPIRT_Channel_start(channel));
            MUST(MPIRT_Channel_wait(channel, INT64_C(10000000000)));
            MUST(MPIRT_Bufiter_remove(out, &buffer));
            took = now() - before;
            MUST(MPIRT_Bufiter_insert(in, buffer));
        }
        if (took < least)
            least = took;
    }
    MUST(MPIRT_Uncommit());
    MUST(MPIRT_Channel_free(&channel));
    MUST(MPIRT_Bufiter_free(&in));
    MUST(MPIRT_Bufiter_free(&out));
    for (int place = 0; place < COUNT; place++) {
        MUST(MPIRT_Buffer_free(&buffers[place]));
        free(own[place]);
    }
    return least;
}

int main(int argc, char **argv)
{
    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    for (int kind = 0; kind < KINDS; kind++)
        for (int size = 0; size < SIZES; size++) {
            MPIRT_Timespec least = quickest(kind, sizes[size]);
            printf("%-20s %8zu B  %s %8lld ns\n", kinds[kind], sizes[size], rank == 0 ? "send" : "receive",
                   (long long)least);
        }
    MUST(MPIRT_Finalize());
    return EXIT_SUCCESS;
}
