/* A second set of objects is committed while the first runs, and takes over at a boundary of both. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

/* What one task saw. */
struct seen {
    uint64_t instances;
    MPIRT_Timespec first, last; /* planned starts */
    int out_of_order;
};

/* One set: a task with a name that is the member's own. */
struct set {
    struct seen seen;
    MPIRT_Qos qos;
    MPIRTX_Task task;
};

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct seen *seen = argument;
    (void)task;
    if (seen->instances == 0)
        seen->first = instance->start;
    /* On a busy machine one may be skipped, which the record tells; none runs twice, and none early. */
    seen->out_of_order += instance->number < seen->instances || instance->start < seen->last;
    seen->last = instance->start;
    seen->instances++;
}

static void make(struct set *set, const char *kind, MPIRT_Timespec start, MPIRT_Timespec period)
{
    char name[MPIRT_NAME_MAX];
    memset(set, 0, sizeof *set);
    snprintf(name, sizeof name, "%s-%d", kind, rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, start, start + 4 * ms, period, &set->qos));
    MUST(MPIRTX_Task_create(name, counts, &set->seen, set->qos, ms / 20, &set->task));
}

/* A task runs, be the machine as busy as it may. */
static void wait_for(uint64_t *instances, uint64_t number)
{
    for (int looks = 0; looks < 1000 && __atomic_load_n(instances, __ATOMIC_RELAXED) < number; looks++)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms));
    CHECK(__atomic_load_n(instances, __ATOMIC_RELAXED) >= number);
}

static void unmake(struct set *set)
{
    OK(MPIRTX_Task_free(&set->task));
    OK(MPIRT_Qos_free(&set->qos));
}

/* spec: MODE-OPEN-01, MODE-OPEN-03, MODE-SWITCH-01, MODE-SWITCH-02, MODE-SWITCH-03, MODE-SWITCH-05, MPIRTX_Mode_open */
/* spec: MPIRTX_Mode_commit, MPIRTX_Mode_switch, MPIRTX_Mode_get_current, MPIRTX_Mode_open/OBJECT_COMMITTED */
/* spec: MPIRTX_Mode_commit/OBJECT_COMMITTED, MPIRTX_Mode_switch/ARGUMENT */
static void test_a_mode_takes_over_at_a_boundary(void)
{
    struct set slow, quick;
    MPIRTX_Mode mode, other, current;
    MPIRT_Timespec before, at = 0, epoch, now;
    make(&slow, "slow", 5 * ms, 20 * ms);
    OK(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&before));
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    MUST(MPIRTX_Mode_open("quick", &mode));
    EXPECT(MPIRTX_Mode_open("another", &other), MPIRT_ERR_OBJECT_COMMITTED);
    CHECK(other.bits == 0);
    make(&quick, "quick", 5 * ms, 10 * ms);
    EXPECT(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Task_set_name(slow.task, "fixed"), MPIRT_ERR_OBJECT_COMMITTED);
    MUST(MPIRTX_Mode_commit(mode));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Mode_open("another", &other), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Mode_free(&mode), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRTX_Task_set_name(quick.task, "fixed"), MPIRT_ERR_OBJECT_COMMITTED);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == 0);
    CHECK(quick.seen.instances == 0);
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    OK(MPIRTX_Get_epoch(&epoch));
    OK(MPIRT_Get_time(&now));
    CHECK(epoch == at && at <= now);
    CHECK(at > before && (at - before) % (20 * ms) == 0);
    /* None after the switch; that the last one before it was performed is in the record. Each set counts from its own epoch. */
    CHECK(slow.seen.instances <= (uint64_t)((at - before) / (20 * ms)));
    CHECK(slow.seen.out_of_order == 0 && slow.seen.last < at);
    OK(MPIRTX_Mode_get_current(&current));
    CHECK(current.bits == mode.bits);
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_OBJECT_COMMITTED);
    now = at;
    EXPECT(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &now), MPIRT_ERR_ARGUMENT);
    CHECK(now == at);
    EXPECT(MPIRTX_Mode_free(&mode), MPIRT_ERR_OBJECT_COMMITTED);
    /* What ran before can be changed and freed, what runs cannot. */
    OK(MPIRTX_Task_set_name(slow.task, "former"));
    unmake(&slow);
    EXPECT(MPIRTX_Task_free(&quick.task), MPIRT_ERR_OBJECT_COMMITTED);
    wait_for(&quick.seen.instances, 1);
    OK(MPIRT_Uncommit());
    CHECK(quick.seen.out_of_order == 0 && quick.seen.first >= at);
    EXPECT(MPIRTX_Mode_get_current(&current), MPIRT_ERR_NOT_COMMITTED);
    unmake(&quick);
    OK(MPIRTX_Mode_free(&mode));
    CHECK(mode.bits == 0);
}

/* spec: MODE-SWITCH-03, MPIRTX_Mode_switch/TIME_PAST */
static void test_the_earliest_instant_is_kept(void)
{
    struct set slow, quick;
    MPIRTX_Mode mode;
    MPIRT_Timespec before, now, at = 0;
    make(&slow, "slow", 5 * ms, 20 * ms);
    OK(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&before));
    MUST(MPIRTX_Mode_open("later", &mode));
    make(&quick, "quick", 5 * ms, 10 * ms);
    MUST(MPIRTX_Mode_commit(mode));
    OK(MPIRT_Get_time(&now));
    EXPECT(MPIRTX_Mode_switch(mode, now, &at), MPIRT_ERR_TIME_PAST);
    CHECK(at == 0);
    /* The latest wish of all counts. */
    MUST(MPIRTX_Mode_switch(mode, before + 400 * ms + rank * 20 * ms, &at));
    CHECK(at >= before + 400 * ms + (members - 1) * 20 * ms);
    CHECK((at - before) % (20 * ms) == 0);
    OK(MPIRT_Uncommit());
    unmake(&slow);
    unmake(&quick);
    OK(MPIRTX_Mode_free(&mode));
}

/* spec: MPIRTX_Mode_get_name, MPIRTX_Mode_set_name, MPIRTX_Mode_free, MODE-OPEN-02, OBJECT-NAME-03 */
static void test_a_mode_has_a_name_and_can_be_given_up(void)
{
    struct set slow, never;
    MPIRTX_Mode mode, stale;
    MPIRT_Cset set;
    char name[MPIRT_NAME_MAX];
    EXPECT(MPIRTX_Mode_open("early", &mode), MPIRT_ERR_NOT_COMMITTED);
    make(&slow, "slow", 5 * ms, 20 * ms);
    OK(MPIRT_Commit());
    EXPECT(MPIRTX_Mode_open(NULL, &mode), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Mode_open("x", NULL), MPIRT_ERR_NULL_POINTER);
    MUST(MPIRTX_Mode_open("first", &mode));
    OK(MPIRTX_Mode_get_name(mode, name));
    CHECK(strcmp(name, "first") == 0);
    OK(MPIRTX_Mode_set_name(mode, "second"));
    OK(MPIRTX_Mode_get_name(mode, name));
    CHECK(strcmp(name, "second") == 0);
    make(&never, "never", 5 * ms, 10 * ms);
    stale = mode;
    OK(MPIRTX_Mode_free(&mode));
    CHECK(mode.bits == 0);
    EXPECT(MPIRTX_Mode_get_name(stale, name), MPIRT_ERR_STALE_OBJECT);
    EXPECT(MPIRTX_Mode_commit(stale), MPIRT_ERR_STALE_OBJECT);
    /* Its objects are nobody's now: nothing is created any more, and they can be freed. */
    EXPECT(MPIRT_Cset_create("late", &set), MPIRT_ERR_OBJECT_COMMITTED);
    unmake(&never);
    /* Another may be opened then. */
    MUST(MPIRTX_Mode_open("third", &mode));
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRT_Uncommit());
    CHECK(never.seen.instances == 0);
    unmake(&slow);
}

/* spec: MPIRTX_Mode_commit/BUFSIZE, MPIRTX_Mode_commit/DATASPEC */
static void test_buffers_of_a_mode_fit_its_iterators(void)
{
    struct set slow;
    MPIRTX_Mode mode;
    MPIRT_Buffer odd;
    MPIRT_Object object;
    MPIRT_Cvector allowed;
    MPIRT_Bufiter iterator;
    make(&slow, "slow", 5 * ms, 20 * ms);
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("quick", &mode));
    OK(MPIRT_Buffer_create("odd", MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &odd));
    object = MPIRT_OBJECT(odd);
    OK(MPIRT_Cvector_create(NULL, 1, &object, &allowed));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER(allowed), &iterator));
    OK(MPIRT_Buffer_set_bufsize(odd, 16));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_BUFSIZE);
    OK(MPIRT_Buffer_set_bufsize(odd, 8));
    OK(MPIRT_Buffer_set_dataspec(odd, MPIRT_DOUBLE));
    EXPECT(MPIRTX_Mode_commit(mode), MPIRT_ERR_DATASPEC);
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRT_Uncommit());
    OK(MPIRT_Bufiter_free(&iterator));
    OK(MPIRT_Cvector_free(&allowed));
    OK(MPIRT_Buffer_free(&odd));
    unmake(&slow);
}

/* spec: MODE-SWITCH-05, MPIRT_Bufiter_insert/OBJECT_COMMITTED, MPIRT_Buffer_set_label/OBJECT_COMMITTED */
static void test_what_a_mode_has_taken_over_from_can_join_another(void)
{
    struct set slow, quick;
    MPIRTX_Mode mode, third;
    MPIRT_Timespec at;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter first, second;
    int count;
    make(&slow, "slow", 5 * ms, 20 * ms);
    OK(MPIRT_Buffer_create("loose", MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &buffer));
    OK(MPIRT_Bufiter_create("first", MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &first));
    OK(MPIRT_Bufiter_insert(first, buffer));
    OK(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("quick", &mode));
    OK(MPIRT_Bufiter_create("second", MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &second));
    EXPECT(MPIRT_Bufiter_insert(second, buffer), MPIRT_ERR_OBJECT_COMMITTED);
    make(&quick, "quick", 5 * ms, 10 * ms);
    MUST(MPIRTX_Mode_commit(mode));
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    /* What runs has no such iterator any more; the program has the buffer back. */
    OK(MPIRTX_Bufiter_get_count(first, &count));
    CHECK(count == 0);
    OK(MPIRT_Buffer_set_label(buffer, 7));
    MUST(MPIRTX_Mode_open("third", &third));
    OK(MPIRT_Bufiter_free(&first));
    OK(MPIRT_Bufiter_create("third", MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &first));
    OK(MPIRT_Bufiter_insert(first, buffer));
    OK(MPIRTX_Bufiter_get_count(first, &count));
    CHECK(count == 1);
    MUST(MPIRTX_Mode_commit(third));
    EXPECT(MPIRT_Buffer_free(&buffer), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Buffer_set_label(buffer, 8), MPIRT_ERR_OBJECT_COMMITTED);
    MUST(MPIRTX_Mode_switch(third, MPIRT_TIME_SPEC_IGNORE, &at));
    OK(MPIRT_Bufiter_remove(first, &buffer));
    OK(MPIRT_Uncommit());
    OK(MPIRT_Buffer_free(&buffer));
    OK(MPIRT_Bufiter_free(&first));
    OK(MPIRT_Bufiter_free(&second));
    unmake(&slow);
    unmake(&quick);
    OK(MPIRTX_Mode_free(&mode));
    OK(MPIRTX_Mode_free(&third));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_mode_takes_over_at_a_boundary();
    test_the_earliest_instant_is_kept();
    test_a_mode_has_a_name_and_can_be_given_up();
    if (members == 1)
        test_buffers_of_a_mode_fit_its_iterators();
    test_what_a_mode_has_taken_over_from_can_join_another();
    return end();
}
