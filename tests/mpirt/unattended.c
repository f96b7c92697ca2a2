/* Best effort moves without the sender: what was inserted is there for the receiver, however much it is and whatever the sender does.
 *
 * Member 0 sends to member 1. After the insertions it makes no call at the channel, or none of the library at all, until it is told that
 * all has arrived. */
#define _GNU_SOURCE
#include "harness.h"

#include "asleep.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 10, ASKED = 3, ROUNDS = 20, PATIENCE_S = 20 };
static const MPIRT_Timespec patience = PATIENCE_S * INT64_C(1000000000);

/* The process of member 0, which member 1 tells by a signal that all has arrived: that is no call of the library. */
static int64_t sender;
static volatile sig_atomic_t has_arrived;

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
    int64_t contents[MANY];
};

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static void stock(MPIRT_Bufiter iterator, int64_t *contents, int64_t content)
{
    MPIRT_Buffer buffer;
    *contents = content;
    MUST(MPIRT_Buffer_create(NULL, contents, sizeof *contents, MPIRT_INT64, &buffer));
    OK(MPIRT_Bufiter_insert(iterator, buffer));
}

/* So many buffers in the input iterator; full ones, with numbers from 0 on, at the source. */
static void make_end(struct end *end, const char *name, int source, int buffers)
{
    end->in = iterator();
    end->out = iterator();
    MUST(MPIRT_Ptchannel_create(name, end->in, end->out, source, 1 - source, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &end->channel));
    for (int place = 0; place < buffers; place++)
        stock(end->in, &end->contents[place], rank == source ? place : -1);
}

static void free_end(struct end *end)
{
    OK(MPIRT_Channel_free(&end->channel));
    OK(MPIRT_Bufiter_free(&end->in));
    OK(MPIRT_Bufiter_free(&end->out));
}

/* Removes until something is there; what asks for it is the only call. */
static int64_t taken(MPIRT_Bufiter iterator, MPIRT_Buffer *buffer)
{
    void *base;
    int answer;
    while ((answer = MPIRT_Bufiter_remove(iterator, buffer)) == MPIRT_ERR_EMPTY)
        ;
    MUST(answer);
    MUST(MPIRT_Buffer_get_base(*buffer, &base));
    return *(int64_t *)base;
}

static void note(int signal)
{
    (void)signal;
    has_arrived = 1;
}

static void learn_the_sender(void)
{
    struct sigaction action;
    struct end end;
    MPIRT_Buffer buffer;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
    make_end(&end, "sender", 0, 1);
    end.contents[0] = rank == 0 ? (int64_t)getpid() : 0;
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(end.channel));
    if (rank == 1)
        sender = taken(end.out, &buffer);
    OK(MPIRT_Uncommit());
    free_end(&end);
}

static void tell_the_sender(void)
{
    CHECK(kill((pid_t)sender, SIGUSR1) == 0);
}

/* Member 0 computes, or sleeps again and again, until it is told. */
static void call_nothing(int sleeps)
{
    const struct timespec nap = {0, 1000000};
    const time_t limit = time(NULL) + PATIENCE_S;
    volatile uint64_t sum = 0;
    while (!has_arrived && time(NULL) < limit) {
        if (sleeps)
            nanosleep(&nap, NULL);
        for (int number = 0; number < 1000; number++)
            sum += number;
    }
    CHECK(has_arrived);
}

/* Who starts each transfer, at an end whose other is activated. */
enum starter { NOBODY, THE_RECEIVER, THE_SENDER };

/* spec: SIDED-ZERO-01, SIDED-ONE-01, SIDED-ONE-02, CHANNEL-START-03 */
static void test_all_arrive_while_the_sender_calls_nothing(enum starter starter, int sleeps)
{
    struct end end;
    MPIRT_Buffer buffer, full[MANY];
    make_end(&end, "messages", 0, MANY);
    OK(MPIRTX_Channel_set_slack(end.channel, starter == THE_SENDER ? MANY : 1));
    for (int place = 0; rank == 0 && place < MANY; place++)
        MUST(MPIRT_Bufiter_remove(end.in, &full[place]));
    has_arrived = 0;
    MUST(MPIRT_Commit());
    if (starter != (rank == 0 ? THE_SENDER : THE_RECEIVER))
        OK(MPIRT_Channel_activate(end.channel));
    if (rank == 0) {
        for (int place = 0; place < MANY; place++) {
            OK(MPIRT_Bufiter_insert(end.in, full[place]));
            if (starter == THE_SENDER)
                OK(MPIRT_Channel_start(end.channel));
        }
        call_nothing(sleeps);
        for (int64_t number = 0; number < MANY; number++)
            CHECK(taken(end.out, &buffer) == number);
    } else {
        for (int64_t number = 0; number < MANY; number++) {
            if (starter == THE_RECEIVER)
                OK(MPIRT_Channel_start(end.channel));
            CHECK(taken(end.out, &buffer) == number);
        }
        tell_the_sender();
    }
    OK(MPIRT_Uncommit());
    free_end(&end);
}

/* Three at a time, whose buffers the sender has from the transfers before; what it waits for is nothing of the library's. */
/* spec: SIDED-ZERO-01 */
static void test_insertions_before_an_answer_beside_the_library(int sleeps)
{
    struct end end;
    MPIRT_Buffer buffers[ASKED];
    void *base;
    make_end(&end, "asked", 0, 0);
    for (int place = 0; place < ASKED; place++)
        stock(rank == 0 ? end.out : end.in, &end.contents[place], -1);
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(end.channel));
    for (int round = 0; round < ROUNDS; round++) {
        for (int64_t number = round * ASKED; number < (round + 1) * ASKED; number++) {
            int64_t content = taken(end.out, &buffers[number % ASKED]);
            CHECK(rank == 0 || content == number);
            OK(MPIRT_Buffer_get_base(buffers[number % ASKED], &base));
            *(int64_t *)base = rank == 0 ? number : -1;
        }
        has_arrived = 0;
        if (rank == 1)
            tell_the_sender();
        for (int place = 0; place < ASKED; place++)
            OK(MPIRT_Bufiter_insert(end.in, buffers[place]));
        if (rank == 0)
            call_nothing(sleeps);
    }
    OK(MPIRT_Uncommit());
    free_end(&end);
}

/* The sender waits on another channel: of the one with the messages it calls nothing after activation. */
/* spec: SIDED-ZERO-01, CHANNEL-START-03 */
static void test_all_arrive_while_the_sender_is_elsewhere(int receiver_waits, int slack)
{
    struct end messages, answer;
    MPIRT_Buffer buffer;
    make_end(&messages, "messages", 0, MANY);
    make_end(&answer, "answer", 1, 1);
    OK(MPIRTX_Channel_set_slack(messages.channel, slack));
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(messages.channel));
    if (rank == 0) {
        OK(MPIRT_Channel_start(answer.channel));
        OK(MPIRT_Channel_wait(answer.channel, patience));
        /* The buffers come back with this member's next call. */
        for (int64_t number = 0; number < MANY; number++)
            CHECK(taken(messages.out, &buffer) == number);
    } else {
        for (int64_t number = 0; number < MANY; number++) {
            if (receiver_waits)
                OK(MPIRT_Channel_wait(messages.channel, patience));
            CHECK(taken(messages.out, &buffer) == number);
        }
        OK(MPIRT_Channel_start(answer.channel));
        OK(MPIRT_Channel_wait(answer.channel, patience));
    }
    OK(MPIRT_Uncommit());
    free_end(&messages);
    free_end(&answer);
}

/* R, S, and so on, of a process's first thread. */
static char state_of(int64_t process)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        fclose(file);
    }
    return state;
}

/* The message is sent when the receiver sleeps, and not before. */
static void test_a_wait_sleeps(void)
{
    const MPIRT_Timespec in_vain = 200000000;
    struct end names, message;
    MPIRT_Buffer buffer;
    make_end(&names, "names", 1, 1);
    make_end(&message, "message", 0, 1);
    names.contents[0] = rank == 1 ? (int64_t)getpid() : 0;
    MUST(MPIRT_Commit());
    if (rank == 1) {
        struct cost before = cost_so_far();
        OK(MPIRT_Channel_start(message.channel));
        EXPECT(MPIRT_Channel_wait(message.channel, in_vain), MPIRT_ERR_TIMEOUT);
        check_slept(before, in_vain);
    }
    OK(MPIRT_Channel_activate(names.channel));
    if (rank == 0) {
        int64_t sleeper = taken(names.out, &buffer);
        while (state_of(sleeper) != 'S')
            ;
        OK(MPIRT_Channel_start(message.channel));
    }
    OK(MPIRT_Channel_wait(message.channel, patience));
    OK(MPIRT_Uncommit());
    free_end(&names);
    free_end(&message);
}

/* As many insertions as it likes, then the answer to them: nobody hangs. Iterators are all that is called. */
/* spec: SIDED-ZERO-01 */
static void test_insertions_before_the_answer_to_them(void)
{
    struct end questions, answers;
    MPIRT_Buffer full[ASKED], answer;
    int64_t content;
    make_end(&questions, "questions", 0, 0);
    make_end(&answers, "answers", 1, 0);
    /* Of the sender of each channel its output iterator has what it may fill. */
    for (int place = 0; place < ASKED; place++)
        stock(rank == 0 ? questions.out : questions.in, &questions.contents[place], place);
    stock(rank == 0 ? answers.in : answers.out, &content, -1);
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(questions.channel));
    OK(MPIRT_Channel_activate(answers.channel));
    for (int round = 0; round < ROUNDS; round++) {
        for (int place = 0; place < ASKED; place++)
            CHECK(taken(questions.out, &full[place]) == place);
        for (int place = 0; place < ASKED; place++)
            OK(MPIRT_Bufiter_insert(questions.in, full[place]));
        taken(answers.out, &answer);
        OK(MPIRT_Bufiter_insert(answers.in, answer));
    }
    OK(MPIRT_Uncommit());
    free_end(&questions);
    free_end(&answers);
}

/* What one channel puts where another takes it goes on, although the program only waits on the first. */
/* spec: BUFITER-SHARE-01 */
static void test_a_relay_is_moved_by_its_waits(void)
{
    struct end there, back;
    MPIRT_Buffer buffer;
    make_end(&there, "there", 0, rank == 0 ? MANY : 1);
    make_end(&back, "back", 1, rank == 0 ? MANY : 0);
    if (rank == 1) {
        OK(MPIRT_Channel_set_inbufiter(back.channel, there.out));
        OK(MPIRT_Channel_set_outbufiter(back.channel, there.in));
    }
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(there.channel));
    OK(MPIRT_Channel_activate(back.channel));
    for (int64_t number = 0; number < MANY; number++) {
        if (rank == 0)
            CHECK(taken(back.out, &buffer) == number);
        else
            OK(MPIRT_Channel_wait(there.channel, patience));
    }
    OK(MPIRT_Uncommit());
    free_end(&there);
    free_end(&back);
}

/* Two channels take from one iterator: what is inserted goes to the one that has fewer messages under way. */
/* spec: BUFITER-SHARE-01 */
static void test_channels_that_share_an_iterator_share_its_buffers(void)
{
    struct end left, right, go;
    MPIRT_Buffer buffer, full[MANY];
    int64_t sum = 0;
    make_end(&left, "left", 0, MANY);
    make_end(&right, "right", 0, rank == 0 ? 0 : MANY);
    make_end(&go, "go", 0, 1);
    OK(MPIRT_Channel_set_inbufiter(right.channel, rank == 0 ? left.in : right.in));
    for (int place = 0; rank == 0 && place < MANY; place++)
        MUST(MPIRT_Bufiter_remove(left.in, &full[place]));
    MUST(MPIRT_Commit());
    for (int turn = 0; turn < 2; turn++) {
        if (turn == rank) {
            OK(MPIRT_Channel_activate(left.channel));
            OK(MPIRT_Channel_activate(right.channel));
        }
        for (int place = 0; turn == 0 && rank == 0 && place < MANY; place++)
            OK(MPIRT_Bufiter_insert(left.in, full[place]));
        /* The receiver takes nothing before all is inserted. */
        if (turn == 0) {
            OK(MPIRT_Channel_start(go.channel));
            OK(MPIRT_Channel_wait(go.channel, patience));
        }
    }
    for (int place = 0; rank == 1 && place < MANY / 2; place++) {
        sum += taken(left.out, &buffer);
        sum += taken(right.out, &buffer);
    }
    CHECK(sum == (rank == 1 ? MANY * (MANY - 1) / 2 : 0));
    OK(MPIRT_Uncommit());
    free_end(&left);
    free_end(&right);
    free_end(&go);
}

/* The root of a broadcast makes no call after its activation until the others have got all of it. */
/* spec: COLLECTIVE-BCAST-01 */
static void test_a_broadcast_whose_root_calls_nothing(void)
{
    MPIRT_Bufiter in = MPIRT_BUFITER_NULL, out = MPIRT_BUFITER_NULL, recvin = iterator(), recvout = iterator();
    static int64_t full[MANY], empty[MANY];
    MPIRT_Channel channel;
    MPIRT_Buffer buffer;
    if (rank == 0) {
        in = iterator();
        out = iterator();
    }
    for (int place = 0; place < MANY; place++) {
        if (rank == 0)
            stock(in, &full[place], place);
        stock(recvin, &empty[place], -1);
    }
    MUST(MPIRT_Bcast_channel_create("all", in, out, recvin, recvout, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    has_arrived = 0;
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(channel));
    for (int64_t number = 0; number < MANY && rank != 0; number++)
        CHECK(taken(recvout, &buffer) == number);
    if (rank == 0)
        call_nothing(1);
    else
        tell_the_sender();
    OK(MPIRT_Uncommit());
    OK(MPIRT_Channel_free(&channel));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (members == 2) {
        learn_the_sender();
        for (int sleeps = 0; sleeps <= 1; sleeps++) {
            for (int starter = NOBODY; starter <= THE_SENDER; starter++)
                test_all_arrive_while_the_sender_calls_nothing((enum starter)starter, sleeps);
            test_insertions_before_an_answer_beside_the_library(sleeps);
        }
        for (int slack = 1; slack <= 4; slack *= 2) {
            test_all_arrive_while_the_sender_is_elsewhere(0, slack);
            test_all_arrive_while_the_sender_is_elsewhere(1, slack);
        }
        test_a_wait_sleeps();
        test_insertions_before_the_answer_to_them();
        test_a_relay_is_moved_by_its_waits();
        test_channels_that_share_an_iterator_share_its_buffers();
        test_a_broadcast_whose_root_calls_nothing();
    }
    return end();
}
