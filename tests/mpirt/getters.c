/* What objects were made with can be asked of them, in setup, while they are committed, and in a task. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

/* As the header promises of static handles. */
static MPIRT_Buffer no_buffer = MPIRTX_NULL_INITIALIZER;
static const struct {
    int number;
    MPIRT_Channel channels[2];
    MPIRTX_Task task;
} nothing = {1, {MPIRTX_NULL_INITIALIZER, MPIRTX_NULL_INITIALIZER}, MPIRTX_NULL_INITIALIZER};

#if MPIRTX_VERSION_NUMBER < 1000 || MPIRTX_VERSION_NUMBER >= (MPIRTX_VERSION_MAJOR + 1) * 1000000
#error "the version's number cannot be compared"
#endif

/* spec: LANG-CONSTANT-01 */
static void test_null_handles_are_constants(void)
{
    int flag = 0;
    CHECK(no_buffer.bits == MPIRT_BUFFER_NULL.bits && nothing.task.bits == MPIRTX_TASK_NULL.bits);
    OK(MPIRT_Object_is_null(MPIRT_OBJECT(nothing.channels[1]), &flag));
    CHECK(flag == 1);
}

/* spec: SETUP-VERSION-02 */
static void test_the_versions_number(void)
{
    int major, minor, patch;
    OK(MPIRTX_Get_version(&major, &minor, &patch));
    CHECK(MPIRTX_VERSION_NUMBER == major * 1000000 + minor * 1000 + patch);
}

/* One channel from the first member to the last, and one of each kind of the whole group, whose root is the last. */
enum { TO_LAST, BCAST, SCATTER, GATHER, REDUCE, BARRIER, ALLTOALL, CHANNELS };
static MPIRT_Channel channels[CHANNELS];

/* `MPIRT_RANK_UNDEFINED` stands for an error. */
static int source_of(int number)
{
    int found;
    int code = MPIRTX_Channel_get_source(channels[number], &found);
    CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_UNDEF_FOR_OBJECT);
    return code == MPIRT_SUCCESS ? found : MPIRT_RANK_UNDEFINED;
}

static int target_of(int number)
{
    int found;
    int code = MPIRTX_Channel_get_target(channels[number], &found);
    CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_UNDEF_FOR_OBJECT);
    return code == MPIRT_SUCCESS ? found : MPIRT_RANK_UNDEFINED;
}

static int root_of(int number)
{
    int found;
    int code = MPIRTX_Channel_get_root(channels[number], &found);
    CHECK(code == MPIRT_SUCCESS || code == MPIRT_ERR_UNDEF_FOR_OBJECT);
    return code == MPIRT_SUCCESS ? found : MPIRT_RANK_UNDEFINED;
}

static void make_channels(void)
{
    MPIRT_Bufiter out = iterator_of(1, 0), in = iterator_of(1, 0), whole = iterator_of(members, 0), pieces = iterator_of(members, 0);
    MPIRT_Bufiter none = MPIRT_BUFITER_NULL;
    MPIRT_Group world = MPIRT_GROUP_WORLD;
    int root = members - 1, is_root = rank == root;
    if (rank == 0 || is_root)
        MUST(MPIRT_Ptchannel_create("to-last", out, out, 0, root, world, MPIRT_QOS_NULL, &channels[TO_LAST]));
    if (members == 1) {
        OK(MPIRT_Channel_set_recvinbufiter(channels[TO_LAST], in));
        OK(MPIRT_Channel_set_recvoutbufiter(channels[TO_LAST], in));
    }
    MUST(MPIRT_Bcast_channel_create("bcast", is_root ? out : none, is_root ? out : none, in, in, root, world, MPIRT_QOS_NULL,
                                    &channels[BCAST]));
    MUST(MPIRT_Scatter_channel_create("scatter", is_root ? whole : none, is_root ? whole : none, in, in, root, world, MPIRT_QOS_NULL,
                                      &channels[SCATTER]));
    MUST(MPIRT_Gather_channel_create("gather", out, out, is_root ? whole : none, is_root ? whole : none, root, world, MPIRT_QOS_NULL,
                                     &channels[GATHER]));
    MUST(MPIRT_Reduce_channel_create("reduce", out, out, is_root ? in : none, is_root ? in : none, MPIRT_OP_BXOR, root, world,
                                     MPIRT_QOS_NULL, &channels[REDUCE]));
    MUST(MPIRT_Barrier_channel_create("barrier", world, MPIRT_QOS_NULL, &channels[BARRIER]));
    MUST(MPIRT_Alltoall_channel_create("alltoall", whole, whole, pieces, pieces, world, MPIRT_QOS_NULL, &channels[ALLTOALL]));
}

/* spec: MPIRTX_Channel_get_source, MPIRTX_Channel_get_source/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Channel_get_target, MPIRTX_Channel_get_target/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Channel_get_root, MPIRTX_Channel_get_root/UNDEF_FOR_OBJECT */
/* spec: MPIRTX_Channel_get_operation, MPIRTX_Channel_get_operation/UNDEF_FOR_OBJECT */
static void test_channels(void)
{
    MPIRT_Op operation = MPIRT_OP_SUM;
    int first = rank == 0 || rank == members - 1 ? TO_LAST : BCAST;
    for (int number = first; number < CHANNELS; number++) {
        int has_root = number >= BCAST && number <= REDUCE;
        CHECK(source_of(number) == (number == TO_LAST ? 0 : MPIRT_RANK_UNDEFINED));
        CHECK(target_of(number) == (number == TO_LAST ? members - 1 : MPIRT_RANK_UNDEFINED));
        CHECK(root_of(number) == (has_root ? members - 1 : MPIRT_RANK_UNDEFINED));
        if (number != REDUCE)
            EXPECT(MPIRTX_Channel_get_operation(channels[number], &operation), MPIRT_ERR_UNDEF_FOR_OBJECT);
    }
    CHECK(operation == MPIRT_OP_SUM);
    OK(MPIRTX_Channel_get_operation(channels[REDUCE], &operation));
    CHECK(operation == MPIRT_OP_BXOR);
}

static MPIRT_Qos qos;
static MPIRTX_Task task;
static int is_asked;

/* spec: MPIRTX_Task_get_budget, MPIRTX_Task_get_core, MPIRTX_Task_get_qos, MPIRTX_Task_get_overrun_policy */
static void test_task(void)
{
    MPIRT_Timespec budget = 0;
    MPIRT_Qos found = MPIRT_QOS_NULL;
    int core = 0;
    MPIRTX_Overrun_policy policy = MPIRTX_OVERRUN_STOP;
    OK(MPIRTX_Task_get_budget(task, &budget));
    CHECK(budget == 3 * ms / 2);
    OK(MPIRTX_Task_get_qos(task, &found));
    CHECK(found.bits == qos.bits);
    OK(MPIRTX_Task_get_core(task, &core));
    CHECK(core == MPIRTX_CORE_ANY);
    OK(MPIRTX_Task_get_overrun_policy(task, &policy));
    CHECK(policy == MPIRTX_OVERRUN_LATE);
}

static void asks(MPIRTX_Task given, const MPIRTX_Instance *instance, void *argument)
{
    (void)instance, (void)argument;
    CHECK(given.bits == task.bits);
    if (__atomic_load_n(&is_asked, __ATOMIC_RELAXED))
        return;
    test_task();
    test_channels();
    __atomic_store_n(&is_asked, 1, __ATOMIC_RELEASE);
}

static void make_task(void)
{
    char name[MPIRT_NAME_MAX];
    int core = MPIRTX_CORE_ANY;
    snprintf(name, sizeof name, "asks-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    MUST(MPIRTX_Task_create(name, asks, NULL, qos, 3 * ms / 2, &task));
    OK(MPIRTX_Task_set_core(task, 0));
    OK(MPIRTX_Task_get_core(task, &core));
    CHECK(core == 0);
    OK(MPIRTX_Task_set_core(task, MPIRTX_CORE_ANY));
    for (int number = MPIRTX_OVERRUN_STOP; number >= MPIRTX_OVERRUN_SKIP; number--) {
        MPIRTX_Overrun_policy policy = MPIRTX_OVERRUN_LATE;
        OK(MPIRTX_Task_get_overrun_policy(task, &policy));
        CHECK((int)policy == (number == MPIRTX_OVERRUN_STOP ? MPIRTX_OVERRUN_SKIP : number + 1));
        OK(MPIRTX_Task_set_overrun_policy(task, (MPIRTX_Overrun_policy)number));
    }
    OK(MPIRTX_Task_set_overrun_policy(task, MPIRTX_OVERRUN_LATE));
}

/* spec: MPIRTX_Channel_get_mover_budget, MPIRTX_Channel_set_mover_budget */
/* spec: MPIRTX_Channel_get_mover_budget/UNDEF_FOR_OBJECT, MPIRTX_Channel_set_mover_budget/UNDEF_FOR_OBJECT, MPIRTX_Channel_set_mover_budget/TIME */
static void test_budgets_of_movers(void)
{
    static const MPIRT_Timespec wrong[] = {0, -1};
    MPIRT_Timespec budget = 0;
    EXPECT(MPIRTX_Channel_get_mover_budget(channels[BCAST], &budget), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Channel_set_mover_budget(channels[BCAST], ms), MPIRT_ERR_UNDEF_FOR_OBJECT);
    if (rank != 0 && rank != members - 1)
        return;
    OK(MPIRTX_Channel_get_mover_budget(channels[TO_LAST], &budget));
    CHECK(budget == MPIRT_TIME_SPEC_IGNORE);
    OK(MPIRTX_Channel_set_mover_budget(channels[TO_LAST], ms));
    for (int number = 0; number < 2; number++)
        EXPECT(MPIRTX_Channel_set_mover_budget(channels[TO_LAST], wrong[number]), MPIRT_ERR_TIME);
    OK(MPIRTX_Channel_get_mover_budget(channels[TO_LAST], &budget));
    CHECK(budget == ms);
    OK(MPIRTX_Channel_set_mover_budget(channels[TO_LAST], MPIRT_TIME_SPEC_IGNORE));
}

/* spec: MPIRTX_Trigger_get_kind, MPIRTX_Trigger_get_time, MPIRTX_Trigger_get_time/UNDEF_FOR_OBJECT */
static void test_triggers(void)
{
    static const MPIRT_Event_kind kinds[] = {MPIRT_EVENT_CALL, MPIRT_EVENT_COMPLETION, MPIRT_EVENT_MISS, MPIRT_EVENT_MISSING_BUFFER,
                                             MPIRT_EVENT_ERROR, MPIRT_EVENT_TIME};
    for (int number = 0; number < (int)(sizeof kinds / sizeof *kinds); number++) {
        MPIRT_Event_kind found = MPIRT_EVENT_CALL;
        MPIRT_Trigger trigger;
        int is_free = kinds[number] == MPIRT_EVENT_CALL || kinds[number] == MPIRT_EVENT_TIME;
        MPIRT_Object source = is_free ? MPIRT_OBJECT_NULL : MPIRT_OBJECT(channels[BCAST]);
        OK(MPIRT_Trigger_create("some", kinds[number], source, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
        OK(MPIRTX_Trigger_get_kind(trigger, &found));
        CHECK(found == kinds[number]);
        if (kinds[number] == MPIRT_EVENT_TIME) {
            MPIRT_Timespec first = 1, period = 1;
            OK(MPIRTX_Trigger_get_time(trigger, &first, &period));
            CHECK(first == 0 && period == 0);
            OK(MPIRTX_Trigger_set_time(trigger, 3 * ms, 7 * ms));
            OK(MPIRTX_Trigger_get_time(trigger, &first, &period));
            CHECK(first == 3 * ms && period == 7 * ms);
        } else {
            MPIRT_Timespec time;
            EXPECT(MPIRTX_Trigger_get_time(trigger, &time, &time), MPIRT_ERR_UNDEF_FOR_OBJECT);
        }
        OK(MPIRT_Trigger_free(&trigger));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_null_handles_are_constants();
    test_the_versions_number();
    make_channels();
    make_task();
    test_channels();
    test_triggers();
    test_budgets_of_movers();
    test_task();
    MUST(MPIRT_Commit());
    test_channels();
    test_task();
    while (!__atomic_load_n(&is_asked, __ATOMIC_ACQUIRE))
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
    OK(MPIRT_Uncommit());
    return end();
}
