/* Commits that are refused, and that nothing has changed then. */
#include "agree.h"

static const MPIRT_Timespec ms = 1000000;

/* What this process has mapped. */
static long virtual_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmSize: %ld", &kib) == 1)
            break;
    fclose(status);
    return kib;
}

/* Whether two addresses lie in one mapping. */
static int is_one_mapping(const char *one, const char *other)
{
    char line[512];
    int is_one = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx", &from, &to) == 2)
            is_one |= from <= (uintptr_t)one && (uintptr_t)one < to && from <= (uintptr_t)other && (uintptr_t)other < to;
    }
    fclose(maps);
    return is_one;
}

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

static MPIRT_Bufiter iterator(size_t size)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, size, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* A text as a number, to be compared among members. */
static int64_t digest(const char *text)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    for (; *text != 0; text++)
        digest = (digest ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (int64_t)digest;
}

/* spec: MPIRT_Commit/MISMATCH, SETUP-COMMIT-03, SETUP-COMMIT-05 */
static void test_ends_that_differ_are_refused_for_all(void)
{
    MPIRT_Bufiter ends = MPIRT_BUFITER_NULL;
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    const char *detail;
    int64_t explained;
    if (members < 2)
        return;
    if (rank < 2) {
        ends = iterator(rank == 0 ? 8 : 16);
        OK(MPIRT_Ptchannel_create("uneven", ends, ends, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("uneven"));
    OK(MPIRTX_Error_detail(&detail));
    explained = digest(detail);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    if (rank < 2) {
        OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Bufiter_free(&ends));
    }
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
    CHECK(all_agree(explained));
}

/* Nobody returns before the last has called. */
/* spec: SETUP-COMMIT-01, MPIRT_Commit */
static void test_commit_waits_for_all(void)
{
    MPIRT_Timespec called = 0, returned;
    int64_t latest, soonest;
    if (rank == members - 1)
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 30 * ms));
    OK(MPIRT_Get_time(&called));
    MUST(MPIRT_Commit());
    OK(MPIRT_Get_time(&returned));
    OK(MPIRT_Uncommit());
    latest = called;
    soonest = returned;
    /* Member 0 hears from each when it called, and then when it returned. */
    for (int turn = 0; turn < 2 * (members - 1); turn++) {
        int from = 1 + turn / 2;
        int64_t heard = rank != from ? 0 : turn % 2 == 0 ? called : returned;
        MPIRT_Bufiter iterator;
        MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
        if (rank == 0 || rank == from)
            channel = agree_channel_(from, &heard, &iterator);
        MUST(MPIRT_Commit());
        if (rank == 0 || rank == from) {
            OK(MPIRT_Channel_start(channel));
            OK(MPIRT_Channel_wait(channel, MPIRT_TIME_SPEC_IGNORE));
        }
        OK(MPIRT_Uncommit());
        if (rank == 0 || rank == from)
            OK(MPIRT_Channel_free(&channel));
        if (turn % 2 == 0)
            latest = heard > latest ? heard : latest;
        else
            soonest = heard < soonest ? heard : soonest;
    }
    CHECK(rank != 0 || soonest >= latest);
}

/* spec: MPIRTX_Get_epoch, SETUP-EPOCH-01 */
static void test_the_epoch_is_one_for_all(void)
{
    enum { ROUNDS = 5 };
    MPIRT_Timespec before, after, epoch = 0;
    int ahead = 0;
    EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPIRT_Get_time(&before));
        MUST(MPIRT_Commit());
        OK(MPIRT_Get_time(&after));
        OK(MPIRTX_Get_epoch(&epoch));
        CHECK(epoch > before);
        /* Now and then a busy machine comes back here too late to see it. */
        ahead += epoch > after;
        OK(MPIRT_Uncommit());
    }
    CHECK(ahead > 0);
    CHECK(all_agree(epoch));
}

/* No create call takes what a transfer needs: neither memory of its buffers nor descriptors. */
/* spec: SETUP-BIND-01 */
static void test_resources_come_with_commit(void)
{
    enum { SIZE = 16 << 20 };
    MPIRT_Bufiter iterator_of_large;
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    MPIRT_Buffer buffers[2];
    MPIRT_Cvector allowed;
    MPIRT_Object objects[2];
    char *bases[2];
    void *base = &base;
    long before = virtual_kib();
    for (int place = 0; place < 2; place++) {
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &buffers[place]));
        objects[place] = MPIRT_OBJECT(buffers[place]);
    }
    OK(MPIRT_Cvector_create(NULL, 2, objects, &allowed));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO_ORDERED, SIZE, MPIRT_BYTE, MPIRT_CONTAINER(allowed), &iterator_of_large));
    if (rank < 2 && members > 1)
        OK(MPIRT_Ptchannel_create("large", iterator_of_large, iterator_of_large, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    OK(MPIRT_Buffer_get_base(buffers[0], &base));
    CHECK(base == NULL);
    CHECK(virtual_kib() - before < SIZE / 1024);
    MUST(MPIRT_Commit());
    CHECK(virtual_kib() - before >= SIZE / 1024);
    for (int place = 0; place < 2; place++) {
        OK(MPIRT_Buffer_get_base(buffers[place], &base));
        bases[place] = base;
        CHECK(base != NULL);
    }
    /* Of a channel with aliased buffers they lie in one segment, one after the other. */
    if (rank == 0 && members > 1)
        CHECK(is_one_mapping(bases[0], bases[1]));
    OK(MPIRT_Uncommit());
    OK(MPIRT_Buffer_get_base(buffers[0], &base));
    CHECK(base == NULL);
    if (channel.bits != 0)
        OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&iterator_of_large));
    OK(MPIRT_Cvector_free(&allowed));
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Buffer_free(&buffers[place]));
}

/* spec: MPIRT_Commit/ADMISSION */
static void test_more_work_than_time_is_refused_for_all(void)
{
    MPIRT_Qos qos;
    MPIRTX_Task tasks[3];
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, ms, &qos));
    for (int place = 0; place < 3; place++) {
        char name[MPIRT_NAME_MAX];
        snprintf(name, sizeof name, "hungry-%d-%d", rank, place);
        OK(MPIRTX_Task_create(name, nothing, NULL, qos, ms * 9 / 10, &tasks[place]));
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ADMISSION);
    CHECK(detail_says("hungry"));
    for (int place = 0; place < 3; place++)
        OK(MPIRTX_Task_free(&tasks[place]));
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
}

/* What one member has found by itself is told to all, with the same words. */
/* spec: MPIRT_Commit/ARGUMENT, SETUP-COMMIT-02, SETUP-COMMIT-05 */
static void test_what_is_incomplete_at_one_is_refused_to_all(void)
{
    MPIRT_Qos qos;
    MPIRT_Bufiter ends = iterator(8);
    MPIRT_Channel channel;
    for (int place = 0; place < members; place++) {
        char who[MPIRT_NAME_MAX];
        snprintf(who, sizeof who, "member \"%d\" cannot commit", place);
        if (rank == place)
            OK(MPIRT_Ptchannel_create("itself", ends, ends, rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("\"itself\" has no iterator; set one with MPIRT_Channel_set_recvinbufiter"));
        CHECK(detail_says(who));
        if (rank == place)
            OK(MPIRT_Channel_free(&channel));
    }
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, 10 * ms, &qos));
    if (members > 1) {
        if (rank == 0)
            OK(MPIRT_Ptchannel_create("without", ends, MPIRT_BUFITER_NULL, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("\"without\" has no output iterator"));
        if (rank == 0)
            OK(MPIRT_Channel_free(&channel));
    }
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
    OK(MPIRT_Qos_free(&qos));
    OK(MPIRT_Bufiter_free(&ends));
}

/* spec: MPIRTX_Task_create/UNDEF_FOR_OBJECT, MPIRTX_Task_create/TIME, MPIRTX_Task_bind, MPIRTX_Task_bind/ARGUMENT */
static void test_tasks(void)
{
    MPIRT_Qos qos;
    MPIRT_Bufiter ends = iterator(8);
    MPIRT_Channel channel;
    MPIRTX_Task task, other;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, 10 * ms, &qos));
    EXPECT(MPIRTX_Task_create("t", nothing, NULL, MPIRT_QOS_BEST_EFFORT, ms, &task), MPIRT_ERR_UNDEF_FOR_OBJECT);
    EXPECT(MPIRTX_Task_create("t", nothing, NULL, qos, 0, &task), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Task_create("t", nothing, NULL, qos, ms + 1, &task), MPIRT_ERR_TIME);
    EXPECT(MPIRTX_Task_create("t", NULL, NULL, qos, ms, &task), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Task_create("t", nothing, NULL, qos, ms, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRTX_Task_create("one", nothing, NULL, qos, ms, &task));
    OK(MPIRTX_Task_create("other", nothing, NULL, qos, ms, &other));
    OK(MPIRT_Ptchannel_create("own", ends, ends, rank, rank, MPIRT_GROUP_WORLD, qos, &channel));
    OK(MPIRTX_Task_bind(task, channel));
    EXPECT(MPIRTX_Task_bind(other, channel), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRTX_Task_bind(task, MPIRT_CHANNEL_NULL), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRTX_Task_free(&other));
    OK(MPIRTX_Task_free(&task));
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&ends));
    OK(MPIRT_Qos_free(&qos));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_ends_that_differ_are_refused_for_all();
    test_more_work_than_time_is_refused_for_all();
    test_what_is_incomplete_at_one_is_refused_to_all();
    test_tasks();
    test_commit_waits_for_all();
    test_the_epoch_is_one_for_all();
    test_resources_come_with_commit();
    return end();
}
