/* Priority-driven channels and changes of mode: sets that have them are left and entered, and those that are kept lose nothing. */
#define _POSIX_C_SOURCE 200809L
#define BUFFERS 8
#include "mode_ends.h"
#include "mode_own.h"

#include <pthread.h>
#include <stdatomic.h>

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(20000000000);
enum { SWITCHES = 3 };

/* An end of a channel on which as many transfers may be under way as it has buffers. */
static void make_wide_end(struct end *end, const char *kind, int source, MPIRT_Qos qos)
{
    make_end(end, kind, source, qos);
    OK(MPIRTX_Channel_set_slack(end->channel, BUFFERS));
}

static MPIRT_Qos priority(int level, MPIRT_Timespec interval)
{
    MPIRT_Qos qos;
    OK(MPIRT_Qos_channel_priority_create(NULL, level, &qos));
    if (interval > 0)
        OK(MPIRTX_Qos_set_interval(qos, interval));
    return qos;
}

/* What two threads of a member do through all switches: one sends the numbers from 0 on, the other sees which come. */
struct stream {
    struct end to, from;
    atomic_int is_over;
    int64_t sent;
    atomic_llong come;
    int out_of_order;
    int64_t expected;
};

static struct stream stream;

static void pause_a_little(void)
{
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms / 2));
}

static void *sends(void *argument)
{
    (void)argument;
    while (!atomic_load(&stream.is_over)) {
        MPIRT_Buffer buffer;
        int code = MPIRT_Bufiter_remove(stream.to.out, &buffer);
        if (code == MPIRT_SUCCESS)
            insert(stream.to.in, buffer, stream.sent++);
        else
            CHECK(code == MPIRT_ERR_EMPTY);
        pause_a_little();
    }
    return NULL;
}

static void *takes(void *argument)
{
    (void)argument;
    while (atomic_load(&stream.come) < stream.expected) {
        MPIRT_Buffer buffer;
        void *base = NULL;
        int code = MPIRT_Bufiter_remove(stream.from.out, &buffer);
        if (code != MPIRT_SUCCESS) {
            CHECK(code == MPIRT_ERR_EMPTY);
            pause_a_little();
            continue;
        }
        OK(MPIRT_Buffer_get_base(buffer, &base));
        stream.out_of_order += base == NULL || *(int64_t *)base != atomic_load(&stream.come);
        atomic_fetch_add(&stream.come, 1);
        OK(MPIRT_Bufiter_insert(stream.from.in, buffer));
    }
    return NULL;
}

/* So many more messages come. */
static void hear_more(int64_t count)
{
    int64_t before = atomic_load(&stream.come);
    for (int looks = 0; looks < 4000 && atomic_load(&stream.come) < before + count; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    CHECK(atomic_load(&stream.come) >= before + count);
}

/* How many numbers the member before has sent, once it sends no more. */
static int64_t total_of_the_stream(struct end *to, struct end *from)
{
    MPIRT_Buffer buffer;
    void *base = NULL;
    OK(MPIRT_Channel_start(from->channel));
    insert(to->in, to->buffers[0], stream.sent);
    OK(MPIRT_Channel_start(to->channel));
    MUST(MPIRT_Channel_wait(from->channel, patience));
    MUST(MPIRT_Bufiter_remove(from->out, &buffer));
    OK(MPIRT_Buffer_get_base(buffer, &base));
    return base == NULL ? -1 : *(int64_t *)base;
}

/* spec: MODE-KEEP-02, MODE-PRIORITY-01, MPIRTX_Mode_keep */
static void test_a_kept_channel_loses_nothing_through_three_modes(void)
{
    static const MPIRT_Timespec periods[] = {20, 40, 60, 20};
    MPIRT_Qos urgent = priority(30, ms), less_urgent = priority(10, 0), qos[SWITCHES + 1];
    MPIRTX_Task own[SWITCHES + 1];
    MPIRTX_Mode mode[SWITCHES + 1];
    MPIRTX_Channel_metrics metrics;
    struct end totals_to, totals_from;
    pthread_t threads[2];
    if (members == 1)
        return;
    memset(&stream, 0, sizeof stream);
    stream.expected = INT64_MAX;
    make_wide_end(&stream.to, "stream", rank, urgent);
    make_wide_end(&stream.from, "stream", (rank + members - 1) % members, urgent);
    make_wide_end(&totals_to, "totals", rank, less_urgent);
    make_wide_end(&totals_from, "totals", (rank + members - 1) % members, less_urgent);
    for (int number = 0; number < BUFFERS; number++) {
        OK(MPIRT_Bufiter_insert(stream.to.out, stream.to.buffers[number]));
        OK(MPIRT_Bufiter_insert(stream.from.in, stream.from.buffers[number]));
    }
    OK(MPIRT_Bufiter_insert(totals_from.in, totals_from.buffers[0]));
    own[0] = make_task("own0", periods[0] * ms, &qos[0]);
    MUST(MPIRT_Commit());
    OK(MPIRT_Channel_activate(stream.to.channel));
    OK(MPIRT_Channel_activate(stream.from.channel));
    CHECK(pthread_create(&threads[0], NULL, sends, NULL) == 0);
    CHECK(pthread_create(&threads[1], NULL, takes, NULL) == 0);
    hear_more(10);
    for (int number = 1; number <= SWITCHES; number++) {
        char kind[16];
        MPIRT_Timespec at;
        MPIRTX_Status status;
        snprintf(kind, sizeof kind, "own%d", number);
        MUST(MPIRTX_Mode_open(kind, &mode[number]));
        MUST(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(stream.to.channel)));
        MUST(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(stream.from.channel)));
        MUST(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(totals_to.channel)));
        MUST(MPIRTX_Mode_keep(mode[number], MPIRT_OBJECT(totals_from.channel)));
        own[number] = make_task(kind, periods[number] * ms, &qos[number]);
        MUST(MPIRTX_Mode_commit(mode[number]));
        MUST(MPIRTX_Mode_switch(mode[number], MPIRT_TIME_SPEC_IGNORE, &at));
        /* What was active is so, and goes on counting where it was. */
        OK(MPIRTX_Channel_get_status(stream.from.channel, &status));
        CHECK(status.state == MPIRTX_CHANNEL_ACTIVE);
        EXPECT(MPIRT_Channel_free(&stream.to.channel), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRTX_Task_free(&own[number - 1]));
        OK(MPIRT_Qos_free(&qos[number - 1]));
        /* After the last switch nobody waits for the others before it stops sending. */
        if (number < SWITCHES)
            hear_more(10);
    }
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 20 * ms));
    atomic_store(&stream.is_over, 1);
    pthread_join(threads[0], NULL);
    stream.expected = total_of_the_stream(&totals_to, &totals_from);
    CHECK(stream.expected > 0);
    for (int looks = 0; looks < 4000 && atomic_load(&stream.come) < stream.expected; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    CHECK(atomic_load(&stream.come) == stream.expected);
    CHECK(stream.out_of_order == 0);
    OK(MPIRTX_Channel_get_metrics(stream.from.channel, &metrics));
    CHECK((int64_t)metrics.completed == stream.expected && metrics.invalid == 0);
    if (atomic_load(&stream.come) < stream.expected)
        exit(EXIT_FAILURE);
    pthread_join(threads[1], NULL);
    OK(MPIRT_Channel_wait(totals_to.channel, patience));
    OK(MPIRT_Uncommit());
    free_end(&stream.to);
    free_end(&stream.from);
    free_end(&totals_to);
    free_end(&totals_from);
    OK(MPIRTX_Task_free(&own[SWITCHES]));
    OK(MPIRT_Qos_free(&qos[SWITCHES]));
    OK(MPIRT_Qos_free(&urgent));
    OK(MPIRT_Qos_free(&less_urgent));
    for (int number = 1; number <= SWITCHES; number++)
        OK(MPIRTX_Mode_free(&mode[number]));
}

struct wait {
    MPIRT_Channel channel;
    int code;
};

static void *waits(void *argument)
{
    struct wait *wait = argument;
    wait->code = MPIRT_Channel_wait(wait->channel, patience);
    return NULL;
}

/* spec: MODE-KEEP-02 */
static void test_what_was_started_before_the_switch_is_performed_after_it(void)
{
    MPIRT_Qos qos = priority(30, 0), of_task;
    struct end to, from;
    struct wait wait;
    MPIRTX_Mode mode;
    MPIRTX_Task own;
    MPIRT_Timespec at;
    pthread_t thread;
    if (members == 1)
        return;
    make_wide_end(&to, "once", rank, qos);
    make_wide_end(&from, "once", (rank + members - 1) % members, qos);
    OK(MPIRT_Bufiter_insert(from.in, from.buffers[0]));
    OK(MPIRT_Bufiter_insert(from.in, from.buffers[1]));
    MUST(MPIRT_Commit());
    /* One message is under way, for which nobody has asked; a reception is asked for, and another started, for a second. */
    insert(to.in, to.buffers[0], 1);
    OK(MPIRT_Channel_start(to.channel));
    MUST(MPIRTX_Mode_open("after", &mode));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(to.channel)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(from.channel)));
    own = make_task("after", 40 * ms, &of_task);
    MUST(MPIRTX_Mode_commit(mode));
    OK(MPIRT_Channel_start(from.channel));
    OK(MPIRT_Channel_start(from.channel));
    OK(MPIRT_Channel_start(to.channel));
    wait.channel = from.channel;
    CHECK(pthread_create(&thread, NULL, waits, &wait) == 0);
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    insert(to.in, to.buffers[1], 2);
    OK(MPIRT_Channel_wait(to.channel, patience));
    pthread_join(thread, NULL);
    EXPECT(wait.code, MPIRT_SUCCESS);
    for (int64_t value = 1; value <= 2; value++) {
        MPIRT_Buffer buffer;
        void *base = NULL;
        MUST(MPIRT_Bufiter_remove(from.out, &buffer));
        OK(MPIRT_Buffer_get_base(buffer, &base));
        CHECK(base != NULL && *(int64_t *)base == value);
    }
    OK(MPIRT_Uncommit());
    free_end(&to);
    free_end(&from);
    OK(MPIRTX_Task_free(&own));
    OK(MPIRT_Qos_free(&of_task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

/* One message to the next member, and one from the member before. */
static void exchange(struct end *to, struct end *from, int64_t value)
{
    MPIRT_Buffer buffer;
    void *base = NULL;
    OK(MPIRT_Bufiter_insert(from->in, from->buffers[0]));
    OK(MPIRT_Channel_start(from->channel));
    insert(to->in, to->buffers[0], value);
    OK(MPIRT_Channel_start(to->channel));
    OK(MPIRT_Channel_wait(from->channel, patience));
    OK(MPIRT_Channel_wait(to->channel, patience));
    MUST(MPIRT_Bufiter_remove(from->out, &buffer));
    OK(MPIRT_Buffer_get_base(buffer, &base));
    CHECK(base != NULL && *(int64_t *)base == value);
    MUST(MPIRT_Bufiter_remove(to->out, &buffer));
}

/* spec: MODE-PRIORITY-01, MODE-PRIORITY-02 */
static void test_sets_with_work_at_priorities_are_entered_and_left(void)
{
    MPIRT_Qos qos[3], urgent = priority(20, 2 * ms), bounded = priority(40, 5 * ms);
    MPIRTX_Task own[3];
    MPIRTX_Mode mode[3];
    MPIRT_Timespec at;
    struct end to[3], from[3];
    struct wait wait;
    pthread_t thread;
    MPIRTX_Status status;
    if (members == 1)
        return;
    OK(MPIRTX_Qos_set_deadline(bounded, 50 * ms));
    own[0] = make_task("plain", 20 * ms, &qos[0]);
    MUST(MPIRT_Commit());
    /* Into a set that has some, from that into another one with a deadline, and out of it. */
    for (int number = 1; number < 3; number++) {
        char kind[16];
        MPIRT_Qos of_channel = number == 1 ? urgent : bounded;
        snprintf(kind, sizeof kind, "served%d", number);
        MUST(MPIRTX_Mode_open(kind, &mode[number]));
        own[number] = make_task(kind, 20 * number * ms, &qos[number]);
        make_wide_end(&to[number], kind, rank, of_channel);
        make_wide_end(&from[number], kind, (rank + members - 1) % members, of_channel);
        MUST(MPIRTX_Mode_commit(mode[number]));
        MUST(MPIRTX_Mode_switch(mode[number], MPIRT_TIME_SPEC_IGNORE, &at));
        if (number == 2) {
            /* What was asked for and has not come ends with the set in which it was asked for. */
            pthread_join(thread, NULL);
            EXPECT(wait.code, MPIRT_ERR_UNCOMMITTED);
            EXPECT(MPIRTX_Channel_get_status(to[1].channel, &status), MPIRT_ERR_NOT_COMMITTED);
            free_end(&to[1]);
            free_end(&from[1]);
        }
        exchange(&to[number], &from[number], number);
        if (number == 1) {
            /* Neither end of this has all that it needs. */
            OK(MPIRT_Bufiter_insert(from[1].in, from[1].buffers[1]));
            OK(MPIRT_Channel_start(from[1].channel));
            OK(MPIRT_Bufiter_insert(to[1].in, to[1].buffers[1]));
            OK(MPIRTX_Channel_get_status(from[1].channel, &status));
            CHECK(status.state == MPIRTX_CHANNEL_STARTED && status.under_way == 1);
            wait.channel = from[1].channel;
            CHECK(pthread_create(&thread, NULL, waits, &wait) == 0);
        }
    }
    MUST(MPIRTX_Mode_open("plain again", &mode[0]));
    OK(MPIRTX_Task_free(&own[0]));
    OK(MPIRT_Qos_free(&qos[0]));
    own[0] = make_task("again", 40 * ms, &qos[0]);
    MUST(MPIRTX_Mode_commit(mode[0]));
    MUST(MPIRTX_Mode_switch(mode[0], MPIRT_TIME_SPEC_IGNORE, &at));
    free_end(&to[2]);
    free_end(&from[2]);
    OK(MPIRT_Uncommit());
    for (int number = 0; number < 3; number++) {
        OK(MPIRTX_Task_free(&own[number]));
        OK(MPIRT_Qos_free(&qos[number]));
        OK(MPIRTX_Mode_free(&mode[number]));
    }
    OK(MPIRT_Qos_free(&urgent));
    OK(MPIRT_Qos_free(&bounded));
}

/* spec: MPIRTX_Mode_commit/ADMISSION, MODE-PRIORITY-01, MODE-COMMIT-02 */
static void test_a_deadline_that_the_switch_breaks_is_refused(void)
{
    MPIRT_Qos promised = priority(20, 10 * ms), any_rate = priority(30, 0);
    MPIRTX_Mode mode;
    struct end to[2], from[2];
    if (members == 1)
        return;
    OK(MPIRTX_Qos_set_deadline(promised, 50 * ms));
    make_wide_end(&to[0], "promised", rank, promised);
    make_wide_end(&from[0], "promised", (rank + members - 1) % members, promised);
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("any rate", &mode));
    /* By itself it promises nothing; beside the last transfer of what runs it does. */
    make_wide_end(&to[1], "any", rank, any_rate);
    make_wide_end(&from[1], "any", (rank + members - 1) % members, any_rate);
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_ADMISSION);
    CHECK(detail_says("\"promised-") && detail_says("of what runs") && detail_says("smallest interval"));
    exchange(&to[0], &from[0], 5);
    free_end(&to[1]);
    free_end(&from[1]);
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRT_Uncommit());
    free_end(&to[0]);
    free_end(&from[0]);
    OK(MPIRT_Qos_free(&promised));
    OK(MPIRT_Qos_free(&any_rate));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_kept_channel_loses_nothing_through_three_modes();
    test_what_was_started_before_the_switch_is_performed_after_it();
    test_sets_with_work_at_priorities_are_entered_and_left();
    test_a_deadline_that_the_switch_breaks_is_refused();
    return end();
}
