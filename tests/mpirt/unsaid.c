/* Nothing is said after commit: while the agent stands still, which passes on whatever members say to each other, channels go on, and
 * nothing waits at any socket to be passed on. Member 0 sends to member 1. */
#define _GNU_SOURCE
#include "harness.h"

#include <dirent.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(10000000000);
enum { TRANSFERS = 5 };
static int stopped;

static void go_on(void)
{
    if (stopped)
        kill(getppid(), SIGCONT);
    stopped = 0;
}

/* Bytes that this process has sent and nobody has read, over all its sockets, and how many sockets there are. */
static int unread(int *sockets)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    int sum = 0;
    *sockets = 0;
    CHECK(folder != NULL);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int file = atoi(entry->d_name), bytes = 0;
        struct stat about;
        if (entry->d_name[0] == '.' || fstat(file, &about) != 0 || !S_ISSOCK(about.st_mode))
            continue;
        ++*sockets;
        CHECK(ioctl(file, SIOCOUTQ, &bytes) == 0);
        sum += bytes;
    }
    if (folder != NULL)
        closedir(folder);
    return sum;
}

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static struct end make_end(const char *name, MPIRT_Qos qos)
{
    struct end end;
    MPIRT_Bufiter *both[2] = {&end.in, &end.out};
    MPIRT_Buffer buffer;
    for (int place = 0; place < 2; place++)
        MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, both[place]));
    MUST(MPIRT_Ptchannel_create(name, end.in, end.out, 0, 1, MPIRT_GROUP_WORLD, qos, &end.channel));
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &buffer));
    OK(MPIRT_Bufiter_insert(end.in, buffer));
    return end;
}

static void use_again(struct end *end)
{
    MPIRT_Buffer buffer;
    while (MPIRT_Bufiter_remove(end->out, &buffer) == MPIRT_SUCCESS)
        OK(MPIRT_Bufiter_insert(end->in, buffer));
}

static void expect_done(int waited)
{
    /* On a busy machine an instance may be missed, and the next is as good. */
    CHECK(waited == MPIRT_SUCCESS || waited == MPIRT_ERR_MISSED);
}

/* Each call there is on a committed channel. */
static void use(struct end *end, int is_timed, int activates)
{
    MPIRTX_Channel_metrics metrics;
    MPIRTX_Status status;
    int flag, ended;
    for (int number = 0; number < TRANSFERS; number++) {
        OK(MPIRT_Channel_start(end->channel));
        expect_done(MPIRT_Channel_wait(end->channel, patience));
        ended = MPIRT_Channel_test(end->channel, &flag);
        CHECK(ended == MPIRT_SUCCESS || ended == MPIRT_ERR_MISSED);
        use_again(end);
    }
    if (is_timed) {
        OK(MPIRT_Channel_activate(end->channel));
        expect_done(MPIRT_Channel_wait(end->channel, patience));
        use_again(end);
        OK(MPIRT_Channel_deactivate(end->channel));
    } else if (activates) {
        /* One message is all that there is until it is inserted again. */
        OK(MPIRT_Channel_activate(end->channel));
        expect_done(MPIRT_Channel_wait(end->channel, patience));
        OK(MPIRT_Channel_deactivate(end->channel));
        use_again(end);
    }
    OK(MPIRTX_Channel_get_status(end->channel, &status));
    OK(MPIRTX_Channel_get_metrics(end->channel, &metrics));
}

/* spec: CHANNEL-LATE-01 */
static void test_no_call_on_a_committed_channel_says_anything(void)
{
    struct end free_end, timed, alarm;
    MPIRT_Qos by_time, by_priority;
    int sockets;
    MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 30 * ms, 40 * ms, &by_time));
    MUST(MPIRT_Qos_channel_priority_create(NULL, 7, &by_priority));
    if (rank < 2) {
        free_end = make_end("free", MPIRT_QOS_NULL);
        timed = make_end("timed", by_time);
        alarm = make_end("alarm", by_priority);
    }
    MUST(MPIRT_Commit());
    if (rank < 2) {
        /* A message says that both are committed; the next one that the agent stands still. */
        use(&free_end, 0, 0);
        if (rank == 0) {
            stopped = kill(getppid(), SIGSTOP) == 0;
            CHECK(stopped);
        }
        use(&free_end, 0, 1);
        CHECK(unread(&sockets) == 0);
        CHECK(sockets > 0);
        use(&timed, 1, 1);
        use(&alarm, 0, 1);
        use(&free_end, 0, 1);
        CHECK(unread(&sockets) == 0);
        /* Both are through before the agent goes on. */
        use(&free_end, 0, 0);
        go_on();
    }
    OK(MPIRT_Uncommit());
    if (rank < 2) {
        OK(MPIRT_Channel_free(&free_end.channel));
        OK(MPIRT_Channel_free(&timed.channel));
        OK(MPIRT_Channel_free(&alarm.channel));
    }
}

int main(int argc, char **argv)
{
    atexit(go_on);
    begin(&argc, &argv);
    if (members > 1)
        test_no_call_on_a_committed_channel_says_anything();
    return end();
}
