/* Triggers and receptors through changes of mode: those that are kept lose no firing and count on, and their handlers run on. */
#define _POSIX_C_SOURCE 200809L
#include "events.h"
#include "mode_own.h"

#include <pthread.h>
#include <stdatomic.h>

enum { SWITCHES = 3 };

static void keep(MPIRTX_Mode mode, int count, const MPIRT_Object *objects)
{
    for (int place = 0; place < count; place++)
        MUST(MPIRTX_Mode_keep(mode, objects[place]));
}

/* What a handler has seen of each member's firings. */
static struct seen {
    atomic_ullong count[8];
    atomic_int out_of_order;
} seen[2];

static void counts(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    struct seen *mine = argument;
    (void)receptor;
    if (event->source < 0 || event->source >= 8 || event->number != atomic_load(&mine->count[event->source]))
        atomic_fetch_add(&mine->out_of_order, 1);
    else
        atomic_fetch_add(&mine->count[event->source], 1);
}

static struct firing {
    MPIRT_Trigger trigger;
    atomic_int is_over;
    uint64_t fired;
} firing;

static void *fires(void *argument)
{
    (void)argument;
    while (!atomic_load(&firing.is_over)) {
        OK(MPIRT_Trigger_fire(firing.trigger));
        firing.fired++;
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 4 * ms));
    }
    return NULL;
}

static void see_more(uint64_t count)
{
    uint64_t before = atomic_load(&seen[1].count[rank]);
    for (int looks = 0; looks < 4000 && atomic_load(&seen[1].count[rank]) < before + count; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    CHECK(atomic_load(&seen[1].count[rank]) >= before + count);
}

/* Every member fires all the time, and hears all: by handlers on two threads, and by a receptor that nobody reads until the end. */
/* spec: MODE-KEEP-03, MODE-PRIORITY-01, MPIRTX_Mode_keep */
static void test_no_firing_is_lost_or_comes_twice_through_three_modes(void)
{
    static const MPIRT_Timespec periods[] = {20, 40, 60, 20};
    MPIRT_Qos qos[SWITCHES + 1];
    MPIRTX_Task own_task[SWITCHES + 1];
    MPIRTX_Mode mode[SWITCHES + 1];
    MPIRT_Handler handlers[2] = {handler_of(counts, &seen[0], 40), handler_of(counts, &seen[1], 0)};
    MPIRT_Object objects[2] = {MPIRT_OBJECT(handlers[0]), MPIRT_OBJECT(handlers[1])}, kept[3];
    MPIRT_Receptor heard, unread;
    MPIRTX_Handler_metrics metrics;
    pthread_t thread;
    uint64_t fired[8] = {0};
    memset(seen, 0, sizeof seen);
    memset(&firing, 0, sizeof firing);
    heard = handled("all", 2, objects);
    unread = receptor_of("all");
    firing.trigger = call("all");
    own_task[0] = make_task("own0", periods[0] * ms, &qos[0]);
    kept[0] = MPIRT_OBJECT(heard), kept[1] = MPIRT_OBJECT(unread), kept[2] = MPIRT_OBJECT(firing.trigger);
    MUST(MPIRT_Commit());
    CHECK(pthread_create(&thread, NULL, fires, NULL) == 0);
    see_more(5);
    for (int number = 1; number <= SWITCHES; number++) {
        char kind[16];
        MPIRT_Timespec at;
        snprintf(kind, sizeof kind, "own%d", number);
        MUST(MPIRTX_Mode_open(kind, &mode[number]));
        keep(mode[number], 3, kept);
        own_task[number] = make_task(kind, periods[number] * ms, &qos[number]);
        MUST(MPIRTX_Mode_commit(mode[number]));
        MUST(MPIRTX_Mode_switch(mode[number], MPIRT_TIME_SPEC_IGNORE, &at));
        EXPECT(MPIRT_Receptor_free(&heard), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRTX_Task_free(&own_task[number - 1]));
        OK(MPIRT_Qos_free(&qos[number - 1]));
        see_more(5);
    }
    atomic_store(&firing.is_over, 1);
    pthread_join(thread, NULL);
    /* A member's own firings are all there; of the others' all come in their order that have been seen. */
    for (int looks = 0; looks < 4000 && atomic_load(&seen[1].count[rank]) < firing.fired; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    CHECK(atomic_load(&seen[0].count[rank]) == firing.fired && atomic_load(&seen[1].count[rank]) == firing.fired);
    CHECK(atomic_load(&seen[0].out_of_order) == 0 && atomic_load(&seen[1].out_of_order) == 0);
    for (;;) {
        MPIRTX_Event event;
        if (!is_pending(unread)) {
            if (fired[rank] == firing.fired)
                break;
            continue;
        }
        OK(MPIRTX_Receptor_get_event(unread, &event));
        CHECK(event.source >= 0 && event.source < members && event.number == fired[event.source & 7]);
        fired[event.source & 7]++;
    }
    OK(MPIRTX_Handler_get_metrics(handlers[0], &metrics));
    CHECK(metrics.compute.count >= firing.fired && metrics.failed == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&heard));
    OK(MPIRT_Receptor_free(&unread));
    OK(MPIRT_Trigger_free(&firing.trigger));
    OK(MPIRTX_Task_free(&own_task[SWITCHES]));
    OK(MPIRT_Qos_free(&qos[SWITCHES]));
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Handler_free(&handlers[place]));
    for (int number = 1; number <= SWITCHES; number++)
        OK(MPIRTX_Mode_free(&mode[number]));
}

struct wait {
    MPIRT_Receptor receptor;
    int code;
};

static void *waits(void *argument)
{
    struct wait *wait = argument;
    wait->code = MPIRT_Receptor_wait(wait->receptor, patience);
    return NULL;
}

static void loses(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event;
    atomic_fetch_add((atomic_int *)argument, 1);
}

/* spec: MODE-KEEP-03, MODE-KEEP-04, MPIRTX_Mode_keep/UNDEF_FOR_OBJECT */
static void test_what_is_pending_and_who_waits_goes_on(void)
{
    static atomic_int unheard;
    MPIRT_Qos qos;
    MPIRTX_Mode mode;
    MPIRT_Timespec at, epoch;
    MPIRT_Trigger late = call(own("late")), pending = call(own("pending")), lonely = call(own("lonely")), clock, loose;
    MPIRT_Receptor for_late = receptor_of(own("late")), for_pending = receptor_of(own("pending"));
    MPIRT_Receptor parts[2] = {receptor_of(own("late")), receptor_of(own("pending"))}, both, ticks, is_loose;
    MPIRT_Object objects[2] = {MPIRT_OBJECT(parts[0]), MPIRT_OBJECT(parts[1])};
    MPIRT_Handler handler = handler_of(loses, &unheard, 0);
    MPIRTX_Event event;
    MPIRTX_Task task;
    struct wait wait, ends;
    pthread_t threads[2];
    both = combined(MPIRTX_ALL, 2, objects);
    OK(MPIRT_Trigger_create(own("clock"), MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &clock));
    OK(MPIRTX_Trigger_set_time(clock, 3 * ms, 5 * ms));
    ticks = receptor_of(own("clock"));
    loose = call(own("loose"));
    is_loose = receptor_of(own("loose"));
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, handler));
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    for (int firings = 0; firings < 3; firings++)
        OK(MPIRT_Trigger_fire(pending));
    OK(MPIRT_Receptor_wait(for_pending, patience));
    OK(MPIRT_Trigger_fire(lonely));
    OK(MPIRT_Trigger_fire(loose));
    wait.receptor = for_late;
    CHECK(pthread_create(&threads[0], NULL, waits, &wait) == 0);
    MUST(MPIRTX_Mode_open("events", &mode));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(parts[0])), MPIRT_ERR_UNDEF_FOR_OBJECT);
    CHECK(detail_says("\"late-") && detail_says("keep that one"));
    EXPECT(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(handler)), MPIRT_ERR_UNDEF_FOR_OBJECT);
    task = make_task("events", 40 * ms, &qos);
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(late)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(for_late)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(lonely)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(clock)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(ticks)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(both)));
    /* Its parts are kept with it, and need what fires them; and another receptor of that event is not kept. */
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("pending-") && detail_says("(its receptor) only; keep it at") && detail_says("(its trigger) too"));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(pending)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(for_pending)));
    MUST(MPIRTX_Mode_commit(mode));
    OK(MPIRT_Trigger_fire(pending));
    ends.receptor = is_loose;
    OK(MPIRT_Receptor_wait(is_loose, patience));
    CHECK(pthread_create(&threads[1], NULL, waits, &ends) == 0);
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    /* A wait that is not for what is kept ends with what ran. */
    pthread_join(threads[1], NULL);
    EXPECT(ends.code, MPIRT_ERR_UNCOMMITTED);
    EXPECT(MPIRT_Trigger_fire(loose), MPIRT_ERR_NOT_COMMITTED);
    CHECK(!is_pending(both));
    OK(MPIRT_Trigger_fire(late));
    pthread_join(threads[0], NULL);
    EXPECT(wait.code, MPIRT_SUCCESS);
    OK(MPIRT_Receptor_wait(both, patience));
    for (uint64_t number = 1; number < 4; number++) {
        OK(MPIRT_Receptor_wait(for_pending, 0));
        OK(MPIRTX_Receptor_get_event(for_pending, &event));
        CHECK(event.number == number && event.pending == 3 - number && event.lost == 0);
    }
    CHECK(!is_pending(for_pending));
    /* The clock goes on from the epoch at which it began: none is left out, none comes twice, none before its time. */
    for (uint64_t number = 0; epoch + 3 * ms + (MPIRT_Timespec)number * 5 * ms < at + 50 * ms; number++) {
        MUST(MPIRT_Receptor_wait(ticks, patience));
        OK(MPIRTX_Receptor_get_event(ticks, &event));
        CHECK(event.number == number);
        if (event.time != MPIRT_TIME_SPEC_IGNORE)
            CHECK(event.time >= epoch + 3 * ms + (MPIRT_Timespec)number * 5 * ms);
    }
    OK(MPIRT_Trigger_fire(lonely));
    for (int looks = 0; looks < 4000 && atomic_load(&unheard) < 2; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    CHECK(atomic_load(&unheard) == 2);
    OK(MPIRT_Uncommit());
    OK(MPIRTX_Default_handler_set(MPIRT_EVENT_CALL, MPIRT_HANDLER_NULL));
    OK(MPIRT_Trigger_free(&late));
    OK(MPIRT_Trigger_free(&pending));
    OK(MPIRT_Trigger_free(&lonely));
    OK(MPIRT_Trigger_free(&clock));
    OK(MPIRT_Trigger_free(&loose));
    OK(MPIRT_Receptor_free(&both));
    OK(MPIRT_Receptor_free(&parts[0]));
    OK(MPIRT_Receptor_free(&parts[1]));
    OK(MPIRT_Receptor_free(&for_late));
    OK(MPIRT_Receptor_free(&for_pending));
    OK(MPIRT_Receptor_free(&ticks));
    OK(MPIRT_Receptor_free(&is_loose));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

/* spec: MODE-KEEP-04, MPIRTX_Mode_commit/MISMATCH, MODE-COMMIT-02 */
static void test_an_event_is_kept_by_all_or_none(void)
{
    MPIRTX_Mode mode;
    MPIRT_Timespec at;
    MPIRT_Qos qos;
    MPIRTX_Task task;
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    MPIRT_Timespec now;
    if (members == 1)
        return;
    trigger = call("shared");
    receptor = receptor_of("shared");
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("some", &mode));
    task = make_task("some", 20 * ms, &qos);
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(receptor)));
    if (rank > 0)
        OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(trigger)));
    /* What is not kept by member 0 is not part of the mode at all: the event would have lost a trigger. */
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("event \"shared\"") && detail_says("only; keep it at member \"0\" (its trigger) too"));
    if (rank == 0)
        OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(trigger)));
    MUST(MPIRTX_Mode_commit(mode));
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    /* Nothing that runs lasts until then, and yet nobody takes over before: who dies meanwhile dies for all in what runs. */
    OK(MPIRT_Get_time(&now));
    CHECK(now >= at);
    OK(MPIRT_Trigger_fire(trigger));
    for (int member = 0; member < members; member++)
        OK(MPIRT_Receptor_wait(receptor, patience));
    CHECK(!is_pending(receptor));
    OK(MPIRT_Uncommit());
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRTX_Mode_free(&mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_no_firing_is_lost_or_comes_twice_through_three_modes();
    test_what_is_pending_and_who_waits_goes_on();
    test_an_event_is_kept_by_all_or_none();
    return end();
}
