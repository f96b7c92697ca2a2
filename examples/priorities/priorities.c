/* Priorities in C: two channels under load.
 *
 * Member 0 sends logs and alarms to member 1, which has been busy and has fallen behind: all of them wait there when it begins to make
 * room, one buffer at a time, in one iterator that serves both channels. Each buffer goes to the most urgent message that waits, so the
 * alarms come first, though they were sent last. Nobody calls start: both ends are activated, and threads of the library move the
 * messages at the priorities of their channels.
 *
 *     cc priorities.c $(pkg-config --cflags --libs mpirt) -o priorities && leveret run -n 2 ./priorities
 */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>

enum { LOGS = 8, ALARMS = 4, MESSAGES = LOGS + ALARMS, BYTES = sizeof(int64_t) };
/* Alarms are messages from this number on. */
enum { FIRST_ALARM = 1000 };

static const MPIRT_Timespec patience = INT64_C(10000000000);

static void must(int error, const char *what)
{
    const char *text, *detail;
    if (error == MPIRT_SUCCESS)
        return;
    MPIRT_Error_string(error, &text);
    MPIRTX_Error_detail(&detail);
    fprintf(stderr, "priorities: %s: %s\n%s\n", what, text, detail);
    exit(EXIT_FAILURE);
}
#define MUST(call) must(call, #call)

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, BYTES, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static MPIRT_Buffer buffer(void)
{
    MPIRT_Buffer made;
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, BYTES, MPIRT_INT64, &made));
    return made;
}

/* As many messages as there are may wait at the receiver. */
static MPIRT_Channel channel(const char *name, int priority, MPIRT_Bufiter in, MPIRT_Bufiter out)
{
    MPIRT_Channel made;
    MPIRT_Qos qos;
    MUST(MPIRT_Qos_channel_priority_create(name, priority, &qos));
    MUST(MPIRT_Ptchannel_create(name, in, out, 0, 1, MPIRT_GROUP_WORLD, qos, &made));
    MUST(MPIRTX_Channel_set_slack(made, LOGS));
    return made;
}

static void send(MPIRT_Bufiter in, MPIRT_Buffer buffer, int64_t number)
{
    void *base;
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    *(int64_t *)base = number;
    MUST(MPIRT_Bufiter_insert(in, buffer));
}

/* Fires "arrived" for each message of a channel. */
static void watch(MPIRT_Channel channel)
{
    MPIRT_Trigger trigger;
    MUST(MPIRT_Trigger_create("arrived", MPIRT_EVENT_COMPLETION, MPIRT_OBJECT(channel), MPIRT_GROUP_WORLD, MPIRT_QOS_NULL,
                              &trigger));
}

int main(int argc, char **argv)
{
    MPIRT_Bufiter logs, alarms, end, out;
    MPIRT_Channel channels[3];
    MPIRT_Buffer buffers[MESSAGES], last;
    MPIRT_Receptor arrived = MPIRT_RECEPTOR_NULL;
    int64_t received[MESSAGES];
    int rank, size;
    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    MUST(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    if (size != 2) {
        fprintf(stderr, "priorities: it has 2 members, not %d; start it with -n 2\n", size);
        return EXIT_FAILURE;
    }
    logs = iterator();
    /* The receiver's buffers are for both. */
    alarms = rank == 0 ? iterator() : logs;
    end = iterator();
    out = iterator();
    channels[0] = channel("logs", 5, logs, out);
    channels[1] = channel("alarms", 40, alarms, out);
    /* The least urgent of all: when it has come, everything else lies there. */
    channels[2] = channel("end", 1, end, iterator());
    for (int place = 0; place < MESSAGES; place++)
        buffers[place] = buffer();
    last = buffer();
    if (rank == 1) {
        MUST(MPIRT_Bufiter_insert(end, last));
        watch(channels[0]);
        watch(channels[1]);
        MUST(MPIRT_Receptor_create("arrived", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &arrived));
    }

    MUST(MPIRT_Commit());
    for (int place = 0; place < 3; place++)
        MUST(MPIRT_Channel_activate(channels[place]));
    if (rank == 0) {
        for (int number = 0; number < LOGS; number++)
            send(logs, buffers[number], number + 1);
        for (int number = 0; number < ALARMS; number++)
            send(alarms, buffers[LOGS + number], FIRST_ALARM + number + 1);
        send(end, last, 0);
    }
    MUST(MPIRT_Channel_wait(channels[2], patience));
    for (int place = 0; rank == 1 && place < MESSAGES; place++) {
        MPIRT_Buffer message;
        void *base;
        MUST(MPIRT_Bufiter_insert(logs, buffers[place]));
        MUST(MPIRT_Receptor_wait(arrived, patience));
        MUST(MPIRT_Bufiter_remove(out, &message));
        MUST(MPIRT_Buffer_get_base(message, &base));
        received[place] = *(int64_t *)base;
    }
    MUST(MPIRT_Uncommit());
    for (int place = 0; rank == 1 && place < MESSAGES; place++) {
        int is_alarm = received[place] > FIRST_ALARM;
        printf("receiver: %s %lld\n", is_alarm ? "alarm" : "log", (long long)received[place] - is_alarm * FIRST_ALARM);
    }
    MUST(MPIRT_Finalize());
    return EXIT_SUCCESS;
}
