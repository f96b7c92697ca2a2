/* What several threads of a member may do at once: sleep, commit, make objects, use the data path; and what each is told. */
#define _GNU_SOURCE
#include "agree.h"

#include <pthread.h>

static const MPIRT_Timespec ms = 1000000;

/* --- a thread that sleeps while another commits --- */

static struct {
    int is_done, committed, uncommitted, other;
} slept;

/* How many commits (0) and uncommits (1) this member's first thread has begun and ended. */
static int begun[2], ended[2];

static int count_of(const int *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE);
}

static void *sleeps(void *unused)
{
    MPIRT_Timespec limit = MPIRT_TIME_SPEC_IGNORE;
    (void)unused;
    while (!__atomic_load_n(&slept.is_done, __ATOMIC_ACQUIRE)) {
        int before[2] = {count_of(&ended[0]), count_of(&ended[1])};
        int code = MPIRT_Sleep(MPIRT_TIME_RELATIVE, limit);
        /* It was ended by what it says, and by nothing else if it has no limit. */
        slept.other += code == MPIRT_ERR_COMMITTED && count_of(&begun[0]) == before[0];
        slept.other += code == MPIRT_ERR_UNCOMMITTED && count_of(&begun[1]) == before[1];
        slept.other += code == MPIRT_SUCCESS && limit == MPIRT_TIME_SPEC_IGNORE;
        slept.committed += code == MPIRT_ERR_COMMITTED;
        slept.uncommitted += code == MPIRT_ERR_UNCOMMITTED;
        slept.other += code != MPIRT_ERR_COMMITTED && code != MPIRT_ERR_UNCOMMITTED && code != MPIRT_SUCCESS;
        /* Once it may begin after the last of all commits it needs an end of its own. */
        limit = slept.committed > 0 && slept.uncommitted > 0 ? 1000 * ms : MPIRT_TIME_SPEC_IGNORE;
    }
    return NULL;
}

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance;
    __atomic_add_fetch((int *)argument, 1, __ATOMIC_RELEASE);
}

/* spec: MPIRT_Sleep, MPIRT_Sleep/COMMITTED, MPIRT_Sleep/UNCOMMITTED, SETUP-SLEEP-03, SETUP-SLEEP-04 */
static void test_a_sleep_ends_with_commit_and_uncommit(void)
{
    enum { ROUNDS = 4 };
    MPIRT_Qos qos;
    MPIRTX_Task task;
    pthread_t sleeper;
    char name[MPIRT_NAME_MAX];
    int count = 0;
    snprintf(name, sizeof name, "counter-%d", rank);
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 10 * ms, &qos));
    OK(MPIRTX_Task_create(name, counts, &count, qos, ms, &task));
    CHECK(pthread_create(&sleeper, NULL, sleeps, NULL) == 0);
    for (int round = 0; round < ROUNDS; round++) {
        __atomic_store_n(&slept.is_done, round == ROUNDS - 1, __ATOMIC_RELEASE);
        __atomic_add_fetch(&begun[0], 1, __ATOMIC_ACQ_REL);
        MUST(MPIRT_Commit());
        __atomic_add_fetch(&ended[0], 1, __ATOMIC_ACQ_REL);
        count = 0;
        /* Time does the work while the other sleeps. */
        while (__atomic_load_n(&count, __ATOMIC_ACQUIRE) < 3)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
        __atomic_add_fetch(&begun[1], 1, __ATOMIC_ACQ_REL);
        OK(MPIRT_Uncommit());
        __atomic_add_fetch(&ended[1], 1, __ATOMIC_ACQ_REL);
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 30 * ms));
    }
    pthread_join(sleeper, NULL);
    CHECK(slept.committed > 0 && slept.uncommitted > 0 && slept.other == 0);
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Qos_free(&qos));
}

/* --- details --- */

static void *errs_elsewhere(void *unused)
{
    const char *detail;
    (void)unused;
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strcmp(detail, "") == 0);
    EXPECT(MPIRT_Buffer_free(NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strncmp(detail, "MPIRT_Buffer_free: ", 19) == 0);
    return NULL;
}

/* spec: MPIRTX_Error_detail, ERROR-DETAIL-01, ERROR-DETAIL-02 */
static void test_a_detail_is_its_threads(void)
{
    pthread_t thread;
    const char *detail;
    int size;
    EXPECT(MPIRT_Group_size(MPIRT_GROUP_NULL, &size), MPIRT_ERR_NULL_OBJECT);
    CHECK(pthread_create(&thread, NULL, errs_elsewhere, NULL) == 0);
    pthread_join(thread, NULL);
    OK(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strncmp(detail, "MPIRT_Group_size: the handle is null; ", 38) == 0);
    EXPECT(MPIRTX_Error_detail(NULL), MPIRT_ERR_NULL_POINTER);
}

/* --- objects that two threads make, use and free while a third commits --- */

static int is_over;

static void *makes(void *unused)
{
    static const int codes[] = {MPIRT_SUCCESS, MPIRT_ERR_OBJECT_COMMITTED};
    (void)unused;
    while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
        MPIRT_Cset set;
        int made = MPIRT_Cset_create("set", &set);
        CHECK(made == codes[0] || made == codes[1]);
        CHECK((made == MPIRT_SUCCESS) == (set.bits != 0));
        while (made == MPIRT_SUCCESS) {
            int freed = MPIRT_Cset_free(&set);
            CHECK(freed == codes[0] || freed == codes[1]);
            if (freed == MPIRT_SUCCESS)
                break;
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 0));
        }
    }
    return NULL;
}

/* spec: SETUP-THREAD-01 */
static void test_setup_calls_of_threads_take_turns(void)
{
    pthread_t threads[2];
    is_over = 0;
    for (int thread = 0; thread < 2; thread++)
        CHECK(pthread_create(&threads[thread], NULL, makes, NULL) == 0);
    for (int round = 0; round < 3; round++) {
        int code = MPIRT_Commit();
        CHECK(code == MPIRT_SUCCESS);
        EXPECT(MPIRT_Commit(), MPIRT_ERR_OBJECT_COMMITTED);
        OK(MPIRT_Uncommit());
        EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    for (int thread = 0; thread < 2; thread++)
        pthread_join(threads[thread], NULL);
}

/* --- the data path --- */

enum { BUFFERS = 4, TURNS = 20000 };

struct own {
    MPIRT_Bufiter iterator;
    MPIRT_Buffer buffers[BUFFERS];
};

static void declare(struct own *own, MPIRT_Bufiter_policy policy)
{
    OK(MPIRT_Bufiter_create(NULL, policy, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &own->iterator));
    for (int place = 0; place < BUFFERS; place++)
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &own->buffers[place]));
}

/* Alone at its iterator, a thread finds what it has put in, in order, whatever the others do. */
static void *uses_its_own(void *argument)
{
    const struct own *own = argument;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int place = 0; place < BUFFERS; place++)
            OK(MPIRT_Bufiter_insert(own->iterator, own->buffers[place]));
        for (int place = 0; place < BUFFERS; place++) {
            MPIRT_Buffer removed;
            OK(MPIRT_Bufiter_remove(own->iterator, &removed));
            CHECK(removed.bits == own->buffers[place].bits);
        }
    }
    return NULL;
}

static struct own shared;
static int inside[BUFFERS];

/* With others at the same iterator it gets buffers that nobody else has, or is told that there is none. */
static void *uses_the_shared(void *unused)
{
    (void)unused;
    for (int turn = 0; turn < TURNS; turn++) {
        MPIRT_Buffer removed;
        int code = MPIRT_Bufiter_remove(shared.iterator, &removed), place = 0;
        if (code != MPIRT_SUCCESS) {
            CHECK(code == MPIRT_ERR_EMPTY && removed.bits == 0);
            continue;
        }
        while (place < BUFFERS - 1 && shared.buffers[place].bits != removed.bits)
            place++;
        CHECK(shared.buffers[place].bits == removed.bits);
        CHECK(__atomic_exchange_n(&inside[place], 1, __ATOMIC_ACQ_REL) == 0);
        __atomic_store_n(&inside[place], 0, __ATOMIC_RELEASE);
        OK(MPIRT_Bufiter_insert(shared.iterator, removed));
    }
    return NULL;
}

/* spec: LAW-THREAD-01, BUFITER-LAW-01, BUFITER-UNORDERED-01 */
static void test_threads_at_iterators(void)
{
    static struct own own[2];
    pthread_t threads[5];
    int count;
    for (int thread = 0; thread < 2; thread++)
        declare(&own[thread], MPIRT_BUFITER_FIFO);
    declare(&shared, MPIRT_BUFITER_UNORDERED);
    MUST(MPIRT_Commit());
    for (int place = 0; place < BUFFERS; place++)
        OK(MPIRT_Bufiter_insert(shared.iterator, shared.buffers[place]));
    for (int thread = 0; thread < 5; thread++)
        CHECK(pthread_create(&threads[thread], NULL, thread < 2 ? uses_its_own : uses_the_shared, thread < 2 ? &own[thread] : NULL) == 0);
    for (int thread = 0; thread < 5; thread++)
        pthread_join(threads[thread], NULL);
    OK(MPIRTX_Bufiter_get_count(shared.iterator, &count));
    CHECK(count == BUFFERS);
    OK(MPIRT_Uncommit());
}

/* --- two channels --- */

enum { LANES = 2, MESSAGES = 2000 };

static struct lane {
    MPIRT_Channel channel;
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffer;
} lanes[LANES];

/* Alone at its channel, a thread is never told of another: no error, no message of the other's, none left out. */
static void *uses_its_lane(void *argument)
{
    static const MPIRT_Timespec patience = INT64_C(20000000000);
    struct lane *lane = argument;
    for (int64_t number = 0; number < MESSAGES && __atomic_load_n(&failures, __ATOMIC_RELAXED) == 0; number++) {
        int64_t value = LANES * number + (lane - lanes);
        MPIRT_Buffer buffer = MPIRT_BUFFER_NULL;
        void *base = NULL;
        OK(MPIRT_Buffer_get_base(lane->buffer, &base));
        if (rank == 0 && base != NULL)
            memcpy(base, &value, sizeof value);
        OK(MPIRT_Bufiter_insert(lane->in, lane->buffer));
        OK(MPIRT_Channel_start(lane->channel));
        OK(MPIRT_Channel_wait(lane->channel, patience));
        OK(MPIRT_Bufiter_remove(lane->out, &buffer));
        CHECK(buffer.bits == lane->buffer.bits);
        OK(MPIRT_Buffer_get_base(lane->buffer, &base));
        CHECK(base != NULL && memcmp(base, &value, sizeof value) == 0);
    }
    return NULL;
}

/* spec: LAW-THREAD-01 */
static void test_threads_at_two_channels(void)
{
    MPIRTX_Channel_metrics metrics;
    pthread_t threads[LANES];
    for (int number = 0; rank < 2 && number < LANES; number++) {
        struct lane *lane = &lanes[number];
        lane->in = iterator_of(1, 0);
        lane->out = iterator_of(1, 0);
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &lane->buffer));
        MUST(MPIRT_Ptchannel_create(number == 0 ? "lane-0" : "lane-1", lane->in, lane->out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL,
                                    &lane->channel));
    }
    MUST(MPIRT_Commit());
    for (int number = 0; rank < 2 && number < LANES; number++)
        CHECK(pthread_create(&threads[number], NULL, uses_its_lane, &lanes[number]) == 0);
    for (int number = 0; rank < 2 && number < LANES; number++) {
        pthread_join(threads[number], NULL);
        OK(MPIRTX_Channel_get_metrics(lanes[number].channel, &metrics));
        CHECK(metrics.completed == MESSAGES);
    }
    OK(MPIRT_Uncommit());
    for (int number = 0; rank < 2 && number < LANES; number++) {
        OK(MPIRT_Channel_free(&lanes[number].channel));
        OK(MPIRT_Bufiter_free(&lanes[number].in));
        OK(MPIRT_Bufiter_free(&lanes[number].out));
        OK(MPIRT_Buffer_free(&lanes[number].buffer));
    }
}

/* --- one channel's end --- */

static MPIRT_Channel channel;
static long started, refused;

static void *starts(void *unused)
{
    (void)unused;
    for (int turn = 0; turn < TURNS; turn++) {
        MPIRTX_Status status;
        MPIRTX_Channel_metrics metrics;
        int flag, code = MPIRT_Channel_start(channel);
        CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_SLACK);
        __atomic_add_fetch(code == MPIRT_SUCCESS ? &started : &refused, 1, __ATOMIC_RELAXED);
        code = MPIRT_Channel_test(channel, &flag);
        CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_NOT_STARTED);
        OK(MPIRTX_Channel_get_status(channel, &status));
        OK(MPIRTX_Channel_get_metrics(channel, &metrics));
    }
    return NULL;
}

/* What two threads have started is transferred, each once. */
/* spec: LAW-THREAD-02 */
static void test_threads_at_one_end(void)
{
    enum { SLACK = 64 };
    MPIRT_Bufiter iterator;
    MPIRTX_Channel_metrics metrics;
    MPIRT_Trigger trigger;
    MPIRT_Receptor receptor;
    pthread_t threads[2];
    int is_done = 0;
    OK(MPIRT_Trigger_create("done", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    OK(MPIRT_Receptor_create("done", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    if (rank < 2) {
        OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
        for (int place = 0; place < SLACK; place++) {
            MPIRT_Buffer buffer;
            OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
            OK(MPIRT_Bufiter_insert(iterator, buffer));
        }
        OK(MPIRT_Ptchannel_create("shared", iterator, iterator, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
        OK(MPIRTX_Channel_set_slack(channel, SLACK));
    }
    MUST(MPIRT_Commit());
    if (rank == 0) {
        for (int thread = 0; thread < 2; thread++)
            CHECK(pthread_create(&threads[thread], NULL, starts, NULL) == 0);
        for (int thread = 0; thread < 2; thread++)
            pthread_join(threads[thread], NULL);
        OK(MPIRT_Channel_wait(channel, MPIRT_TIME_SPEC_IGNORE));
        OK(MPIRTX_Channel_get_metrics(channel, &metrics));
        CHECK(started > 0 && refused > 0);
        CHECK(metrics.completed == (uint64_t)started);
        OK(MPIRT_Trigger_fire(trigger));
    } else if (rank == 1) {
        OK(MPIRT_Channel_activate(channel));
        while (!is_done) {
            MPIRTX_Status status;
            OK(MPIRTX_Channel_get_status(channel, &status));
            OK(MPIRTX_Receptor_test(receptor, &is_done));
        }
    }
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_detail_is_its_threads();
    test_a_sleep_ends_with_commit_and_uncommit();
    test_setup_calls_of_threads_take_turns();
    test_threads_at_iterators();
    if (members > 1) {
        test_threads_at_two_channels();
        test_threads_at_one_end();
    }
    return end();
}
