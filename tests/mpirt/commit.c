/* Commits that are refused, and that nothing has changed then. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

static void nothing(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

static int detail_says(const char *part)
{
    const char *detail;
    OK(MPIRTX_Error_detail(&detail));
    return strstr(detail, part) != NULL;
}

static MPIRT_Bufiter iterator(size_t size)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, size, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* spec: MPIRT_Commit/MISMATCH */
static void test_ends_that_differ_are_refused_for_all(void)
{
    MPIRT_Bufiter ends = MPIRT_BUFITER_NULL;
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    if (members < 2)
        return;
    if (rank < 2) {
        ends = iterator(rank == 0 ? 8 : 16);
        OK(MPIRT_Ptchannel_create("uneven", ends, ends, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("uneven"));
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    if (rank < 2) {
        OK(MPIRT_Channel_free(&channel));
        OK(MPIRT_Bufiter_free(&ends));
    }
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
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

/* spec: MPIRT_Commit/ARGUMENT */
static void test_what_is_incomplete_is_refused_here(void)
{
    MPIRT_Qos qos;
    MPIRT_Bufiter ends = iterator(8);
    MPIRT_Channel channel;
    if (rank == 0) {
        OK(MPIRT_Qos_channel_time_create(NULL, 0, ms, 10 * ms, &qos));
        OK(MPIRT_Ptchannel_create("itself", ends, ends, 0, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("\"itself\" has no iterator; set one with set_recvinbufiter"));
        OK(MPIRT_Channel_free(&channel));
    }
    if (rank == 0 && members > 1) {
        OK(MPIRT_Ptchannel_create("without", ends, MPIRT_BUFITER_NULL, 0, 1, MPIRT_GROUP_WORLD, qos, &channel));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("\"without\" has no output iterator"));
        OK(MPIRT_Channel_free(&channel));
    }
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
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
    test_what_is_incomplete_is_refused_here();
    test_tasks();
    return end();
}
