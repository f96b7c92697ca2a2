/* Events that are handled: order, priority, what a handler may do, and who handles what nobody hears. */
#define _GNU_SOURCE /* SCHED_RESET_ON_FORK */
#include "events.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { LOG_MAX = 64, FIRINGS = 50 };

/* What handlers write down, one after the other. */
static struct entry {
    const char *who;
    MPIRT_Receptor receptor;
    MPIRTX_Event event;
    pthread_t thread;
    int policy, level;
} entries[LOG_MAX];
static atomic_int written;
static MPIRT_Trigger done_trigger, low_trigger, high_trigger;

static void note(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    int place = atomic_fetch_add(&written, 1);
    struct sched_param found = {0};
    CHECK(sched_getparam(0, &found) == 0);
    if (place < LOG_MAX)
        entries[place] =
            (struct entry){argument, receptor, *event, pthread_self(), sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, found.sched_priority};
}

/* A thread of the library for each priority, in their order; below them all who has none. Without the right to a real-time class none has one. */
static void check_threads(const struct entry *more_urgent, const struct entry *less_urgent, const struct entry *without)
{
    struct sched_param lowest = {sched_get_priority_min(SCHED_FIFO)}, none = {0};
    int may = sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
    if (may)
        CHECK(sched_setscheduler(0, SCHED_OTHER, &none) == 0);
    CHECK(without->policy == SCHED_OTHER);
    CHECK(more_urgent->policy == (may ? SCHED_FIFO : SCHED_OTHER) && less_urgent->policy == more_urgent->policy);
    CHECK(!may || more_urgent->level > less_urgent->level);
    CHECK(!pthread_equal(more_urgent->thread, pthread_self()) && !pthread_equal(without->thread, pthread_self()));
}

static void note_and_tell(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    note(receptor, event, argument);
    OK(MPIRT_Trigger_fire(done_trigger));
}

/* spec: EVENT-HANDLER-01, EVENT-HANDLER-02, EVENT-HANDLER-03, EVENT-HANDLER-08 */
static void test_handlers_run_in_order_for_every_firing(void)
{
    MPIRT_Trigger trigger = {0};
    MPIRT_Handler handlers[3] = {handler_of(note, "first", 80), handler_of(note, "second", 0),
                                 handler_of(note_and_tell, "third", 40)};
    MPIRT_Object objects[3];
    MPIRT_Receptor receptor, done = receptor_of(own("done"));
    for (int place = 0; place < 3; place++)
        objects[place] = MPIRT_OBJECT(handlers[place]);
    receptor = handled("handled", 3, objects);
    done_trigger = call(own("done"));
    if (rank == 0)
        trigger = call("handled");
    atomic_store(&written, 0);
    MUST(MPIRT_Commit());
    if (rank == 0)
        for (int firing = 0; firing < 10; firing++)
            OK(MPIRT_Trigger_fire(trigger));
    for (int firing = 0; firing < 10; firing++)
        MUST(MPIRT_Receptor_wait(done, patience));
    static const char *const order[] = {"first", "second", "third"};
    CHECK(atomic_load(&written) == 30);
    for (int place = 0; place < 30; place++) {
        CHECK(strcmp(entries[place].who, order[place % 3]) == 0);
        CHECK(entries[place].receptor.bits == receptor.bits);
        CHECK(entries[place].event.number == (uint64_t)place / 3 && entries[place].event.source == 0);
        CHECK(entries[place].event.time != MPIRT_TIME_SPEC_IGNORE);
    }
    check_threads(&entries[0], &entries[2], &entries[1]);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    for (int place = 0; place < 3; place++)
        OK(MPIRT_Handler_free(&handlers[place]));
    OK(MPIRT_Trigger_free(&done_trigger));
    if (rank == 0)
        OK(MPIRT_Trigger_free(&trigger));
}

static void low_then_high(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
    OK(MPIRT_Trigger_fire(low_trigger));
    OK(MPIRT_Trigger_fire(high_trigger));
}

/* spec: EVENT-HANDLER-07 */
static void test_the_handler_of_higher_priority_runs_first(void)
{
    MPIRT_Trigger trigger = call(own("start"));
    MPIRT_Handler start = handler_of(low_then_high, NULL, 45), low = handler_of(note_and_tell, "low", 10),
                  high = handler_of(note, "high", 80);
    MPIRT_Object objects[3] = {MPIRT_OBJECT(start), MPIRT_OBJECT(low), MPIRT_OBJECT(high)};
    MPIRT_Receptor receptors[4] = {handled(own("start"), 1, &objects[0]), handled(own("low"), 1, &objects[1]),
                                   handled(own("high"), 1, &objects[2]), receptor_of(own("done"))};
    low_trigger = call(own("low"));
    high_trigger = call(own("high"));
    done_trigger = call(own("done"));
    MUST(MPIRT_Commit());
    for (int round = 0; round < 20; round++) {
        atomic_store(&written, 0);
        /* Every handler may run again by its interval, so that priorities alone decide. */
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 2 * ms));
        OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(receptors[3], patience));
        CHECK(atomic_load(&written) == 2);
        CHECK(strcmp(entries[0].who, "high") == 0 && strcmp(entries[1].who, "low") == 0);
    }
    OK(MPIRT_Uncommit());
    for (int place = 0; place < 4; place++)
        OK(MPIRT_Receptor_free(&receptors[place]));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&low_trigger));
    OK(MPIRT_Trigger_free(&high_trigger));
    OK(MPIRT_Trigger_free(&done_trigger));
    OK(MPIRT_Handler_free(&start));
    OK(MPIRT_Handler_free(&low));
    OK(MPIRT_Handler_free(&high));
}

static MPIRT_Timespec processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (MPIRT_Timespec)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void spend_too_long(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    MPIRT_Timespec begun = processor_time();
    (void)receptor, (void)event, (void)argument;
    while (processor_time() < begun + ms)
        ;
    OK(MPIRT_Trigger_fire(done_trigger));
}

/* spec: EVENT-HANDLER-09, MPIRTX_Handler_get_metrics */
static void test_what_takes_too_long_is_counted(void)
{
    MPIRT_Trigger trigger = call(own("start"));
    MPIRT_Handler slow = handler_of(spend_too_long, NULL, 45), idle = handler_of(nothing, NULL, 5);
    MPIRT_Object object = MPIRT_OBJECT(slow);
    MPIRT_Receptor receptor = handled(own("start"), 1, &object), done = receptor_of(own("done"));
    MPIRTX_Handler_metrics metrics;
    OK(MPIRT_Handler_set_name(slow, "slow"));
    done_trigger = call(own("done"));
    EXPECT(MPIRTX_Handler_get_metrics(slow, &metrics), MPIRT_ERR_NOT_COMMITTED);
    MUST(MPIRT_Commit());
    for (int round = 0; round < 3; round++)
        OK(MPIRT_Trigger_fire(trigger));
    for (int round = 0; round < 3; round++)
        MUST(MPIRT_Receptor_wait(done, patience));
    /* What was fired last was fired within the third run, which is counted when it has ended. */
    do
        MUST(MPIRTX_Handler_get_metrics(slow, &metrics));
    while (metrics.compute.count < 3);
    CHECK(metrics.overruns == 3 && metrics.failed == 0);
    CHECK(metrics.compute.least > ms / 50 && metrics.compute.least <= metrics.compute.greatest);
    CHECK(metrics.compute.sum >= metrics.compute.last);
    OK(MPIRTX_Handler_get_metrics(idle, &metrics));
    CHECK(metrics.compute.count == 0 && metrics.overruns == 0);
    EXPECT(MPIRTX_Handler_get_metrics(MPIRT_HANDLER_NULL, &metrics), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Handler_free(&slow));
    OK(MPIRT_Handler_free(&idle));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&done_trigger));
}

struct channel_end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};
static struct channel_end handed;
static MPIRT_Receptor forbidden;

static void forbidden_and_allowed(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    MPIRT_Buffer buffer;
    MPIRT_Trigger trigger;
    (void)receptor, (void)event, (void)argument;
    EXPECT(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Trigger_create("e", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger),
           MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 1), MPIRT_ERR_REAL_TIME);
    EXPECT(MPIRT_Receptor_wait(forbidden, 0), MPIRT_ERR_REAL_TIME);
    if (members > 1 && rank < 2) {
        OK(MPIRT_Bufiter_remove(handed.out, &buffer));
        OK(MPIRT_Bufiter_insert(handed.in, buffer));
        OK(MPIRT_Channel_start(handed.channel));
    }
    OK(MPIRT_Trigger_fire(done_trigger));
}

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* spec: EVENT-HANDLER-04, EVENT-HANDLER-05 */
static void test_what_handlers_may_do(void)
{
    MPIRT_Trigger trigger = call(own("start"));
    MPIRT_Handler handler = handler_of(forbidden_and_allowed, NULL, 50);
    MPIRT_Object object = MPIRT_OBJECT(handler);
    MPIRT_Receptor receptor = handled(own("start"), 1, &object), done = receptor_of(own("done"));
    MPIRT_Buffer buffer;
    done_trigger = call(own("done"));
    forbidden = done;
    if (members > 1 && rank < 2) {
        handed = (struct channel_end){iterator(), iterator(), MPIRT_CHANNEL_NULL};
        OK(MPIRT_Ptchannel_create("handed", handed.in, handed.out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &handed.channel));
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
        OK(MPIRT_Bufiter_insert(handed.out, buffer));
    }
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(trigger));
    MUST(MPIRT_Receptor_wait(done, patience));
    if (members > 1 && rank < 2) {
        OK(MPIRT_Channel_wait(handed.channel, patience));
        OK(MPIRT_Bufiter_remove(handed.out, &buffer));
    }
    OK(MPIRT_Uncommit());
    if (members > 1 && rank < 2) {
        OK(MPIRT_Channel_free(&handed.channel));
        OK(MPIRT_Buffer_free(&buffer));
        OK(MPIRT_Bufiter_free(&handed.in));
        OK(MPIRT_Bufiter_free(&handed.out));
    }
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&done_trigger));
}

static void fails_now_and_then(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    if (event->number % 2 == 1) {
        OK(MPIRTX_Handler_fail());
        OK(MPIRTX_Handler_fail());
    }
    note_and_tell(receptor, event, argument);
}

/* spec: MPIRTX_Handler_fail, MPIRTX_Handler_fail/UNDEF_FOR_OBJECT */
static void test_a_handler_may_say_that_it_failed(void)
{
    enum { RUNS = 5 };
    MPIRT_Trigger trigger = call(own("fails"));
    MPIRT_Handler handler = handler_of(fails_now_and_then, "fails", 20);
    MPIRT_Object object = MPIRT_OBJECT(handler);
    MPIRT_Receptor receptor = handled(own("fails"), 1, &object), done = receptor_of(own("done"));
    MPIRTX_Handler_metrics metrics;
    done_trigger = call(own("done"));
    EXPECT(MPIRTX_Handler_fail(), MPIRT_ERR_NOT_COMMITTED);
    atomic_store(&written, 0);
    MUST(MPIRT_Commit());
    EXPECT(MPIRTX_Handler_fail(), MPIRT_ERR_UNDEF_FOR_OBJECT);
    for (int run = 0; run < RUNS; run++) {
        OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(done, patience));
    }
    /* A run is counted when it is over, which is after it has told. */
    do
        OK(MPIRTX_Handler_get_metrics(handler, &metrics));
    while (metrics.compute.count < RUNS);
    CHECK(metrics.failed == RUNS / 2 && atomic_load(&written) == RUNS);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&done_trigger));
}

/* spec: MPIRTX_Default_handler_set, MPIRTX_Default_handler_set/ARGUMENT, EVENT-HANDLER-06 */
static void test_default_handlers_get_what_nobody_hears(void)
{
    MPIRT_Trigger unheard = call(own("unheard")), heard = call(own("heard")), timed;
    MPIRT_Receptor receptor = receptor_of(own("heard")), done = receptor_of(own("done"));
    MPIRT_Handler handler = handler_of(note_and_tell, "default", 20), other = handler_of(note_and_tell, "of time", 20),
                  third = handler_of(note_and_tell, "of completions", 20);
    MPIRT_Trigger unheard_end;
    MPIRT_Channel self;
    MUST(MPIRT_Ptchannel_create(own("self"), iterator_of(1, 1), iterator_of(1, 0), rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &self));
    OK(MPIRT_Channel_set_recvinbufiter(self, iterator_of(1, 1)));
    OK(MPIRT_Channel_set_recvoutbufiter(self, iterator_of(1, 0)));
    done_trigger = call(own("done"));
    OK(MPIRT_Trigger_create(own("unheard-end"), MPIRT_EVENT_COMPLETION, MPIRT_OBJECT(self), MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &unheard_end));
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_COMPLETION, third));
    EXPECT(MPIRTX_Default_handler_set((MPIRT_Event_kind)6, handler), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, handler));
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_TIME, other));
    OK(MPIRT_Trigger_create(own("unheard-time"), MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &timed));
    OK(MPIRTX_Trigger_set_time(timed, ms, 0));
    atomic_store(&written, 0);
    MUST(MPIRT_Commit());
    /* The clock's firing goes to the handler of its kind, and those of calls to theirs. */
    MUST(MPIRT_Receptor_wait(done, patience));
    CHECK(atomic_load(&written) == 1 && strcmp(entries[0].who, "of time") == 0 && entries[0].receptor.bits == 0);
    atomic_store(&written, 0);
    EXPECT(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, handler), MPIRT_ERR_OBJECT_COMMITTED);
    OK(MPIRT_Trigger_fire(heard));
    for (uint64_t firing = 0; firing < 3; firing++) {
        OK(MPIRT_Trigger_fire(unheard));
        MUST(MPIRT_Receptor_wait(done, patience));
        CHECK(entries[firing].receptor.bits == 0 && entries[firing].event.number == firing);
        CHECK(strcmp(entries[firing].who, "default") == 0);
        CHECK(entries[firing].event.source == rank);
    }
    CHECK(atomic_load(&written) == 3);
    /* What the library fires is told apart from that too. */
    OK(MPIRT_Channel_start(self));
    OK(MPIRT_Channel_wait(self, patience));
    MUST(MPIRT_Receptor_wait(done, patience));
    CHECK(atomic_load(&written) == 4 && strcmp(entries[3].who, "of completions") == 0 && entries[3].event.number == 0);
    CHECK(is_pending(receptor) == 1);
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_COMPLETION, MPIRT_HANDLER_NULL));
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, MPIRT_HANDLER_NULL));
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_TIME, MPIRT_HANDLER_NULL));
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(unheard));
    EXPECT(MPIRT_Receptor_wait(done, ms), MPIRT_ERR_TIMEOUT);
    OK(MPIRT_Uncommit());
    CHECK(atomic_load(&written) == 4);
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Handler_free(&other));
    OK(MPIRT_Handler_free(&third));
    OK(MPIRT_Trigger_free(&unheard_end));
    OK(MPIRT_Channel_free(&self));
    OK(MPIRT_Trigger_free(&timed));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&done));
    OK(MPIRT_Trigger_free(&unheard));
    OK(MPIRT_Trigger_free(&heard));
    OK(MPIRT_Trigger_free(&done_trigger));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_handlers_run_in_order_for_every_firing();
    test_the_handler_of_higher_priority_runs_first();
    test_what_takes_too_long_is_counted();
    test_what_handlers_may_do();
    test_a_handler_may_say_that_it_failed();
    test_default_handlers_get_what_nobody_hears();
    return end();
}
