/* The last member writes to a buffer that is the first one's: that is reported with every name before the signal ends the process, or
 * before a handler of the program's gets it that was there first. Its argument: "default", or "handler" with the program's own. */
#define _GNU_SOURCE
#include "harness.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

enum { SIZE = 4096, COUNT = 2, BYTE = 77 };
static const MPIRT_Timespec patience = INT64_C(10000000000);

static MPIRT_Buffer frames[COUNT];
static MPIRT_Bufiter in, out;
static MPIRT_Channel camera;
static sigjmp_buf back;

static void handle(int signal, siginfo_t *info, void *context)
{
    void *base;
    (void)context;
    OK(MPIRT_Buffer_get_base(frames[1], &base));
    CHECK(signal == SIGSEGV && info->si_addr == (char *)base + BYTE);
    siglongjmp(back, 1);
}

static void make(void)
{
    MPIRT_Object objects[COUNT];
    MPIRT_Cvector allowed;
    int writable = 0;
    for (int place = 0; place < COUNT; place++) {
        MUST(MPIRT_Buffer_create(place == 1 ? "frame" : NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &frames[place]));
        objects[place] = MPIRT_OBJECT(frames[place]);
        OK(MPIRTX_Buffer_get_writable(frames[place], &writable));
        CHECK(writable == 1);
    }
    OK(MPIRT_Cvector_create(NULL, COUNT, objects, &allowed));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO_MAPPED, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(allowed), &in));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &out));
    OK(MPIRT_Ptchannel_create("camera", in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &camera));
}

/* spec: MPIRTX_Buffer_get_writable, CHANNEL-ALIAS-05 */
static void test_a_store_to_what_was_received(void)
{
    MPIRT_Buffer buffer;
    char *base;
    int writable = -1;
    MUST(MPIRT_Commit());
    OK(MPIRTX_Buffer_get_writable(frames[1], &writable));
    CHECK(writable == (rank == 0));
    OK(MPIRT_Bufiter_insert(in, frames[1]));
    OK(MPIRT_Channel_start(camera));
    MUST(MPIRT_Channel_wait(camera, patience));
    if (rank == 1) {
        MUST(MPIRT_Bufiter_remove(out, &buffer));
        OK(MPIRT_Buffer_get_base(buffer, (void **)&base));
        CHECK(base[BYTE] == 0);
        if (sigsetjmp(back, 1) == 0) {
            ((volatile char *)base)[BYTE] = 1;
            CHECK(!"the store went through");
        }
    }
    OK(MPIRT_Uncommit());
    /* What was received into is the program's again. */
    OK(MPIRTX_Buffer_get_writable(frames[1], &writable));
    CHECK(writable == 1);
    EXPECT(MPIRTX_Buffer_get_writable(frames[1], NULL), MPIRT_ERR_NULL_POINTER);
}

int main(int argc, char **argv)
{
    struct sigaction action;
    begin(&argc, &argv);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    if (argc > 1 && strcmp(argv[1], "handler") == 0)
        sigaction(SIGSEGV, &action, NULL);
    make();
    test_a_store_to_what_was_received();
    return end();
}
