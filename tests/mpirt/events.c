/* Events: fired within each member and across all of them, waited for, combined. */
#define _GNU_SOURCE
#include "events.h"

#include "asleep.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FIRINGS = 50, KEPT = MPIRT_PENDING_MAX };

/* Allocations of each thread, the library's included: its allocator is that of the program. A sanitizer brings its own. */
static _Thread_local unsigned long allocations;
#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    allocations++;
    return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    allocations++;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : 12;
}
#endif

/* Member 0 fires, and all hear it; what has another name or group is not heard. */
/* spec: EVENT-NAME-01, EVENT-TRIGGER-CALL-01, EVENT-DELIVER-01, EVENT-DELIVER-02, EVENT-DELIVER-03, EVENT-DELIVER-04 */
/* spec: EVENT-DELIVER-06, EVENT-INFO-01, MPIRT_Trigger_fire, MPIRT_Receptor_wait, MPIRTX_Receptor_get_event */
/* spec: MPIRTX_Receptor_get_event/EMPTY, MPIRT_Trigger_fire/UNDEF_FOR_OBJECT, EVENT-TRIGGER-CALL-02 */
static void test_every_receptor_gets_every_firing_in_order(void)
{
    MPIRT_Receptor one, two, other, apart = {0};
    MPIRT_Trigger trigger = {0}, elsewhere = call("elsewhere"), aside = {0}, timed;
    MPIRT_Group group;
    MPIRTX_Event event;
    int first = 0;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &first, NULL, &group));
    one = receptor_of("go");
    two = receptor_of("go");
    other = receptor_of("elsewhere");
    if (rank == 0) {
        trigger = call("go");
        OK(MPIRT_Trigger_create("go", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, group, MPIRT_QOS_NULL, &aside));
        OK(MPIRT_Receptor_create("go", group, MPIRT_CONTAINER_NULL, &apart));
        EXPECT(MPIRT_Trigger_fire(trigger), MPIRT_ERR_NOT_COMMITTED);
    }
    OK(MPIRT_Trigger_create(own("timed"), MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &timed));
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Trigger_fire(timed), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_get_event(one, &event), MPIRT_ERR_EMPTY);
    if (rank == 0)
        for (int firing = 0; firing < FIRINGS; firing++)
            OK(MPIRT_Trigger_fire(trigger));
    MPIRT_Timespec last = INT64_MIN;
    for (uint64_t firing = 0; firing < FIRINGS; firing++) {
        MUST(MPIRT_Receptor_wait(one, patience));
        OK(MPIRTX_Receptor_get_event(one, &event));
        CHECK(event.source == 0 && event.number == firing && event.lost == 0);
        CHECK(event.time >= last);
        last = event.time;
    }
    EXPECT(MPIRT_Receptor_wait(one, 0), MPIRT_ERR_TIMEOUT);
    CHECK(event.pending == 0);
    OK(MPIRTX_Receptor_get_event(one, &event));
    CHECK(event.number == FIRINGS - 1);
    for (int firing = 0; firing < FIRINGS; firing++)
        CHECK(is_pending(two) == 1);
    CHECK(is_pending(two) == 0);
    CHECK(is_pending(other) == 0);
    if (rank == 0) {
        CHECK(is_pending(apart) == 0);
        OK(MPIRT_Trigger_fire(aside));
        CHECK(is_pending(apart) == 1);
        CHECK(is_pending(one) == 0);
    }
    OK(MPIRT_Uncommit());
    EXPECT(MPIRTX_Receptor_get_event(one, &event), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRT_Receptor_free(&one));
    OK(MPIRT_Receptor_free(&two));
    OK(MPIRT_Receptor_free(&other));
    OK(MPIRT_Trigger_free(&elsewhere));
    OK(MPIRT_Trigger_free(&timed));
    if (rank == 0) {
        OK(MPIRT_Trigger_free(&trigger));
        OK(MPIRT_Trigger_free(&aside));
        OK(MPIRT_Receptor_free(&apart));
    }
    OK(MPIRT_Group_free(&group));
}

/* A token goes round: each member waits for its predecessor's firing, and fires. */
/* spec: EVENT-DELIVER-06, EVENT-INFO-01, EVENT-RECEPTOR-WAIT-01 */
static void test_a_token_goes_round(void)
{
    char there[MPIRT_NAME_MAX], here[MPIRT_NAME_MAX];
    snprintf(there, sizeof there, "token-%d", (rank + 1) % members);
    snprintf(here, sizeof here, "token-%d", rank);
    MPIRT_Trigger trigger = call(there);
    MPIRT_Receptor receptor = receptor_of(here);
    MPIRTX_Event event;
    MUST(MPIRT_Commit());
    for (uint64_t round = 0; round < FIRINGS; round++) {
        if (rank == 0)
            OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(receptor, patience));
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(event.number == round && event.source == (rank + members - 1) % members);
        if (rank != 0)
            OK(MPIRT_Trigger_fire(trigger));
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Receptor_free(&receptor));
}

/* spec: MPIRT_Receptor_wait/TIMEOUT, MPIRT_Receptor_wait/TIME, MPIRT_Receptor_wait/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Receptor_test, MPIRTX_Receptor_test/UNDEF_FOR_OBJECT, EVENT-RECEPTOR-TEST-01 */
/* spec: ERROR-OUT-02, EVENT-RECEPTOR-WAIT-01, EVENT-RECEPTOR-WAIT-02, EVENT-RECEPTOR-WAIT-03, EVENT-RECEPTOR-WAIT-04, EVENT-DELIVER-06, EVENT-DELIVER-07, EVENT-COMBINE-04 */
static void test_waits_and_their_errors(void)
{
    MPIRT_Trigger trigger = call(own("e"));
    MPIRT_Receptor receptor = receptor_of(own("e")), part = receptor_of(own("e")), whole, busy;
    MPIRT_Handler handler = handler_of(nothing, NULL, 0);
    MPIRT_Object handlers = MPIRT_OBJECT(handler), parts = MPIRT_OBJECT(part);
    MPIRT_Timespec before, after;
    struct cost cost;
    int flag;
    whole = combined(MPIRTX_ANY, 1, &parts);
    busy = handled(own("e"), 1, &handlers);
    EXPECT(MPIRT_Receptor_wait(receptor, 0), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRTX_Receptor_test(receptor, &flag), MPIRT_ERR_NOT_COMMITTED);
    MUST(MPIRT_Commit());
    EXPECT(MPIRT_Receptor_wait(MPIRT_RECEPTOR_NULL, ms), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Receptor_wait(receptor, -1), MPIRT_ERR_TIME);
    EXPECT(MPIRT_Receptor_wait(receptor, 0), MPIRT_ERR_TIMEOUT);
    OK(MPIRT_Get_time(&before));
    cost = cost_so_far();
    EXPECT(MPIRT_Receptor_wait(receptor, 100 * ms), MPIRT_ERR_TIMEOUT);
    check_slept(cost, 100 * ms);
    OK(MPIRT_Get_time(&after));
    CHECK(after - before >= 100 * ms);
    EXPECT(MPIRT_Receptor_wait(busy, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRT_Receptor_wait(part, 0), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_test(busy, &flag), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_test(part, &flag), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Receptor_test(receptor, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Receptor_get_event(receptor, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Trigger_free(&trigger), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Receptor_set_name(receptor, "f"), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(is_pending(receptor) == 0);
    /* A firing after a timeout is kept; one before a wait ends it at once. */
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Trigger_fire(trigger));
    /* A call that is refused has consumed none of them. */
    EXPECT(MPIRTX_Receptor_test(receptor, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRT_Receptor_wait(receptor, MPIRT_TIME_SPEC_IGNORE));
    CHECK(is_pending(receptor) == 1);
    CHECK(is_pending(receptor) == 0);
    OK(MPIRT_Receptor_wait(whole, 0));
    OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Uncommit());
    MUST(MPIRT_Commit());
    CHECK(is_pending(receptor) == 0);
    CHECK(is_pending(whole) == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&whole));
    OK(MPIRT_Receptor_free(&part));
    OK(MPIRT_Receptor_free(&busy));
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
}

/* spec: EVENT-DELIVER-08, EVENT-INFO-01 */
static void test_no_firing_is_dropped_but_times_are(void)
{
    MPIRT_Trigger trigger = call(own("flood"));
    MPIRT_Receptor receptor = receptor_of(own("flood"));
    MPIRT_Timespec began, over;
    MPIRTX_Event event;
    MUST(MPIRT_Commit());
    OK(MPIRT_Get_time(&began));
    for (int firing = 0; firing < KEPT + 10; firing++)
        OK(MPIRT_Trigger_fire(trigger));
    OK(MPIRT_Get_time(&over));
    for (uint64_t firing = 0; firing < KEPT + 10; firing++) {
        CHECK(is_pending(receptor) == 1);
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(event.number == firing && event.pending == KEPT + 9 - firing);
        CHECK((event.time == MPIRT_TIME_SPEC_IGNORE) == (firing < 10));
        CHECK(event.source == rank && (firing < 10 || (event.time >= began && event.time <= over)));
        CHECK(event.lost == (firing < 10 ? firing + 1 : 10));
    }
    CHECK(is_pending(receptor) == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Trigger_free(&trigger));
}

static unsigned long in_handler;

static void fire_and_count(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    MPIRT_Trigger *trigger = argument;
    (void)receptor;
    if (event->number == 0)
        in_handler = allocations;
    OK(MPIRT_Trigger_fire(*trigger));
    if (event->number > 0)
        in_handler = allocations - in_handler;
}

/* Firing, testing, waiting and handling: nothing is allocated after the first call of a thread. */
static void test_the_data_path_allocates_nothing(void)
{
    MPIRT_Trigger trigger = call(own("lean")), done = call(own("done"));
    MPIRT_Handler handler = handler_of(fire_and_count, &done, 10);
    MPIRT_Object object = MPIRT_OBJECT(handler);
    MPIRT_Receptor receptor = receptor_of(own("lean")), other = handled(own("lean"), 1, &object),
                   ended = receptor_of(own("done"));
    MPIRTX_Event event;
    unsigned long before;
#ifndef __SANITIZE_ADDRESS__
    CHECK(allocations > 0);
#endif
    MUST(MPIRT_Commit());
    CHECK(is_pending(receptor) == 0);
    before = allocations;
    for (int round = 0; round < 2; round++) {
        OK(MPIRT_Trigger_fire(trigger));
        OK(MPIRT_Receptor_wait(receptor, patience));
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(is_pending(receptor) == 0);
        EXPECT(MPIRT_Receptor_wait(receptor, 1000), MPIRT_ERR_TIMEOUT);
        MUST(MPIRT_Receptor_wait(ended, patience));
    }
    CHECK(allocations == before);
    OK(MPIRT_Uncommit());
    CHECK(in_handler == 0);
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Receptor_free(&other));
    OK(MPIRT_Receptor_free(&ended));
    OK(MPIRT_Handler_free(&handler));
    OK(MPIRT_Trigger_free(&trigger));
    OK(MPIRT_Trigger_free(&done));
}

/* spec: EVENT-DELIVER-09 */
static void test_the_order_between_triggers(void)
{
    MPIRT_Trigger plain = call(own("e")), urgent;
    MPIRT_Qos qos = qos_of(7);
    MPIRT_Receptor receptor = receptor_of(own("e"));
    MPIRTX_Event event;
    OK(MPIRT_Trigger_create(own("e"), MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, qos, &urgent));
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(plain));
    OK(MPIRT_Trigger_fire(plain));
    OK(MPIRT_Trigger_fire(urgent));
    static const uint64_t order[] = {0, 0, 1};
    MPIRT_Timespec first = 0;
    for (int firing = 0; firing < 3; firing++) {
        OK(MPIRT_Receptor_wait(receptor, 0));
        OK(MPIRTX_Receptor_get_event(receptor, &event));
        CHECK(event.number == order[firing]);
        if (firing == 0)
            first = event.time;
        else
            CHECK(event.time <= first);
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&receptor));
    OK(MPIRT_Trigger_free(&plain));
    OK(MPIRT_Trigger_free(&urgent));
    OK(MPIRT_Qos_free(&qos));
}

/* spec: MPIRTX_Receptor_combine, EVENT-COMBINE-01, EVENT-COMBINE-02, EVENT-COMBINE-03 */
static void test_combinations(void)
{
    MPIRT_Trigger a = call(own("a")), b = call(own("b")), c = call(own("c"));
    MPIRT_Receptor any_parts[2] = {receptor_of(own("a")), receptor_of(own("b"))};
    MPIRT_Receptor all_parts[2] = {receptor_of(own("a")), receptor_of(own("b"))};
    MPIRT_Receptor in_parts[2] = {receptor_of(own("a")), receptor_of(own("b"))}, c_part = receptor_of(own("c"));
    MPIRT_Object any_objects[2] = {MPIRT_OBJECT(any_parts[0]), MPIRT_OBJECT(any_parts[1])};
    MPIRT_Object all_objects[2] = {MPIRT_OBJECT(all_parts[0]), MPIRT_OBJECT(all_parts[1])};
    MPIRT_Object in_objects[2] = {MPIRT_OBJECT(in_parts[0]), MPIRT_OBJECT(in_parts[1])}, out_objects[2];
    MPIRT_Receptor any = combined(MPIRTX_ANY, 2, any_objects), all = combined(MPIRTX_ALL, 2, all_objects);
    MPIRT_Receptor inner = combined(MPIRTX_ANY, 2, in_objects), outer;
    out_objects[0] = MPIRT_OBJECT(inner);
    out_objects[1] = MPIRT_OBJECT(c_part);
    outer = combined(MPIRTX_ALL, 2, out_objects);
    MUST(MPIRT_Commit());
    OK(MPIRT_Trigger_fire(a));
    OK(MPIRT_Trigger_fire(a));
    CHECK(is_pending(all) == 0);
    CHECK(is_pending(outer) == 0);
    OK(MPIRT_Trigger_fire(b));
    OK(MPIRT_Receptor_wait(all, 0));
    CHECK(is_pending(all) == 0);
    for (int firing = 0; firing < 3; firing++)
        OK(MPIRT_Receptor_wait(any, 0));
    CHECK(is_pending(any) == 0);
    OK(MPIRT_Trigger_fire(c));
    OK(MPIRT_Receptor_wait(outer, 0));
    CHECK(is_pending(outer) == 0);
    OK(MPIRT_Trigger_fire(c));
    OK(MPIRT_Trigger_fire(c));
    OK(MPIRT_Trigger_fire(c));
    CHECK(is_pending(outer) == 1);
    CHECK(is_pending(outer) == 1);
    CHECK(is_pending(outer) == 0);
    OK(MPIRT_Trigger_fire(b));
    CHECK(is_pending(all) == 1);
    CHECK(is_pending(outer) == 1);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&any));
    OK(MPIRT_Receptor_free(&all));
    OK(MPIRT_Receptor_free(&outer));
    OK(MPIRT_Receptor_free(&inner));
    OK(MPIRT_Receptor_free(&c_part));
    for (int place = 0; place < 2; place++) {
        OK(MPIRT_Receptor_free(&any_parts[place]));
        OK(MPIRT_Receptor_free(&all_parts[place]));
        OK(MPIRT_Receptor_free(&in_parts[place]));
    }
    OK(MPIRT_Trigger_free(&a));
    OK(MPIRT_Trigger_free(&b));
    OK(MPIRT_Trigger_free(&c));
}

/* Each member waits for all the others at once, and then for any of them. */
/* spec: EVENT-COMBINE-02, EVENT-DELIVER-06 */
static void test_combinations_across_members(void)
{
    char names[4][MPIRT_NAME_MAX];
    MPIRT_Receptor parts[4], all;
    MPIRT_Object objects[4];
    for (int peer = 0; peer < members; peer++) {
        snprintf(names[peer], MPIRT_NAME_MAX, "arrived-%d", peer);
        parts[peer] = receptor_of(names[peer]);
        objects[peer] = MPIRT_OBJECT(parts[peer]);
    }
    all = combined(MPIRTX_ALL, members, objects);
    MPIRT_Trigger trigger = call(names[rank]);
    MUST(MPIRT_Commit());
    for (int round = 0; round < FIRINGS; round++) {
        OK(MPIRT_Trigger_fire(trigger));
        MUST(MPIRT_Receptor_wait(all, patience));
    }
    OK(MPIRT_Uncommit());
    OK(MPIRT_Receptor_free(&all));
    for (int peer = 0; peer < members; peer++)
        OK(MPIRT_Receptor_free(&parts[peer]));
    OK(MPIRT_Trigger_free(&trigger));
}

/* spec: MPIRTX_Trigger_set_time, EVENT-TRIGGER-TIME-01, EVENT-TRIGGER-TIME-02, EVENT-TRIGGER-TIME-03 */
static void test_triggers_fire_by_the_clock(void)
{
    MPIRT_Trigger once, periodic;
    MPIRT_Receptor at, each;
    MPIRT_Timespec epoch;
    MPIRTX_Event event;
    enum { PERIODS = 20 };
    OK(MPIRT_Trigger_create(own("once"), MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &once));
    OK(MPIRT_Trigger_create("each", MPIRT_EVENT_TIME, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &periodic));
    OK(MPIRTX_Trigger_set_time(once, 3 * ms, 0));
    OK(MPIRTX_Trigger_set_time(periodic, ms, 2 * ms));
    at = receptor_of(own("once"));
    each = receptor_of("each");
    MUST(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    /* Every member has a periodic trigger of this event. */
    uint64_t next[4] = {0};
    int late = 0;
    for (int firing = 0; firing < PERIODS * members; firing++) {
        MUST(MPIRT_Receptor_wait(each, patience));
        OK(MPIRTX_Receptor_get_event(each, &event));
        CHECK(event.source >= 0 && event.source < members);
        CHECK(event.number == next[event.source]++);
        CHECK(event.time >= epoch + ms + (MPIRT_Timespec)event.number * 2 * ms);
        late += event.time > epoch + ms + (MPIRT_Timespec)event.number * 2 * ms;
    }
    /* The time is that of the firing, and not the instant at which it was due: nobody wakes to the nanosecond. */
    CHECK(late > 0);
    OK(MPIRT_Receptor_wait(at, patience));
    OK(MPIRTX_Receptor_get_event(at, &event));
    CHECK(event.time >= epoch + 3 * ms && event.number == 0);
    CHECK(is_pending(at) == 0);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Trigger_free(&once));
    OK(MPIRT_Trigger_free(&periodic));
    OK(MPIRT_Receptor_free(&at));
    OK(MPIRT_Receptor_free(&each));
}

static MPIRT_Receptor shared;
static atomic_int ended, began;

static void *wait_once(void *code)
{
    atomic_fetch_add(&began, 1);
    *(int *)code = MPIRT_Receptor_wait(shared, patience);
    atomic_fetch_add(&ended, 1);
    return NULL;
}

enum { THREADS = 4 };

/* spec: EVENT-RECEPTOR-WAIT-05, EVENT-RECEPTOR-WAIT-06, EVENT-RECEPTOR-WAIT-07, MPIRT_Receptor_wait/UNCOMMITTED */
static void test_threads_that_wait_together(void)
{
    MPIRT_Trigger trigger = call(own("shared"));
    pthread_t threads[THREADS];
    int codes[THREADS];
    shared = receptor_of(own("shared"));
    atomic_store(&ended, 0);
    atomic_store(&began, 0);
    MUST(MPIRT_Commit());
    for (int place = 0; place < THREADS; place++)
        CHECK(pthread_create(&threads[place], NULL, wait_once, &codes[place]) == 0);
    while (atomic_load(&began) < THREADS)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(atomic_load(&ended) == 0);
    /* Each firing ends one wait. */
    for (int firing = 1; firing < THREADS; firing++) {
        OK(MPIRT_Trigger_fire(trigger));
        while (atomic_load(&ended) < firing)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
        CHECK(atomic_load(&ended) == firing);
    }
    OK(MPIRT_Uncommit());
    int succeeded = 0, uncommitted = 0;
    for (int place = 0; place < THREADS; place++) {
        pthread_join(threads[place], NULL);
        succeeded += codes[place] == MPIRT_SUCCESS;
        uncommitted += codes[place] == MPIRT_ERR_UNCOMMITTED;
    }
    CHECK(succeeded == THREADS - 1 && uncommitted == 1);
    OK(MPIRT_Receptor_free(&shared));
    OK(MPIRT_Trigger_free(&trigger));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_every_receptor_gets_every_firing_in_order();
    test_a_token_goes_round();
    test_waits_and_their_errors();
    test_no_firing_is_dropped_but_times_are();
    test_the_data_path_allocates_nothing();
    test_the_order_between_triggers();
    test_combinations();
    test_combinations_across_members();
    test_triggers_fire_by_the_clock();
    test_threads_that_wait_together();
    return end();
}
