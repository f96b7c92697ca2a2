/* Init to Finalize, time, error texts. */
#define _GNU_SOURCE
#include "harness.h"

#include <time.h>

/* spec: MPIRT_Is_initialized, MPIRT_Is_finalized, SETUP-IS-01 */
static void test_the_flags_follow_the_life(int initialized, int finalized)
{
    int flag = -1;
    OK(MPIRT_Is_initialized(&flag));
    CHECK(flag == initialized);
    OK(MPIRT_Is_finalized(&flag));
    CHECK(flag == finalized);
    EXPECT(MPIRT_Is_initialized(NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Is_finalized(NULL), MPIRT_ERR_NULL_POINTER);
}

static void test_nothing_is_possible_before_or_after(int code)
{
    MPIRT_Cset set = MPIRT_CSET_NULL;
    MPIRT_Buffer buffer;
    int number;
    EXPECT(MPIRT_Cset_create("set", &set), code);
    EXPECT(MPIRT_Commit(), code);
    EXPECT(MPIRT_Uncommit(), code);
    EXPECT(MPIRT_Group_size(MPIRT_GROUP_WORLD, &number), code);
    EXPECT(MPIRT_Bufiter_remove(MPIRT_BUFITER_NULL, &buffer), code);
    EXPECT(MPIRT_Channel_start(MPIRT_CHANNEL_NULL), code);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 0), code);
    EXPECT(MPIRTX_Run(), code);
    EXPECT(MPIRT_Channel_wait(MPIRT_CHANNEL_NULL, 0), code);
    EXPECT(MPIRT_Finalize(), code);
}

/* spec: MPIRT_Error_string, MPIRT_Error_string/ARGUMENT, SETUP-STRING-02 */
static void test_every_code_has_a_text_of_its_own(void)
{
    const char *text, *other;
    for (int code = 0; code <= MPIRT_ERR_INTERNAL; code++) {
        OK(MPIRT_Error_string(code, &text));
        CHECK(strlen(text) > 0);
        for (int before = 0; before < code; before++) {
            OK(MPIRT_Error_string(before, &other));
            CHECK(strcmp(text, other) != 0);
        }
    }
    for (int side = 0; side < 2; side++) {
        text = NULL;
        EXPECT(MPIRT_Error_string(side == 0 ? -1 : MPIRT_ERR_INTERNAL + 1, &text), MPIRT_ERR_ARGUMENT);
        CHECK(text != NULL && strstr(text, "no error code") != NULL);
    }
    EXPECT(MPIRT_Error_string(0, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: SETUP-STRING-01 */
static void test_texts_stay_as_they_are(void)
{
    static const char *texts[MPIRT_ERR_INTERNAL + 1];
    static char copies[MPIRT_ERR_INTERNAL + 1][256];
    for (int code = 0; code <= MPIRT_ERR_INTERNAL; code++) {
        const char *text;
        OK(MPIRT_Error_string(code, &text));
        if (texts[code] == NULL)
            snprintf(copies[code], sizeof copies[code], "%s", texts[code] = text);
        CHECK(text == texts[code]);
        CHECK(strcmp(texts[code], copies[code]) == 0);
    }
}

/* spec: MPIRTX_Get_version, SETUP-VERSION-01 */
static void test_the_version_is_that_of_the_header(void)
{
    int major = -1, minor = -1, patch = -1;
    OK(MPIRTX_Get_version(&major, &minor, &patch));
    CHECK(major == MPIRTX_VERSION_MAJOR && minor == MPIRTX_VERSION_MINOR && patch == MPIRTX_VERSION_PATCH);
    EXPECT(MPIRTX_Get_version(&major, &minor, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: MPIRT_Int64_export, SETUP-INT64-01 */
static void test_a_time_has_two_halves(void)
{
    static const int64_t times[] = {0, 1, -1, INT64_MAX, INT64_MIN, INT64_C(-1234567890123456789)};
    uint32_t high, low;
    for (size_t place = 0; place < sizeof times / sizeof *times; place++) {
        OK(MPIRT_Int64_export(times[place], &high, &low));
        CHECK((int64_t)((uint64_t)high << 32 | low) == times[place]);
    }
    OK(MPIRT_Int64_export(INT64_C(0x0123456789abcdef), &high, &low));
    CHECK(high == 0x01234567u && low == 0x89abcdefu);
    OK(MPIRT_Int64_export(-1, &high, &low));
    CHECK(high == 0xffffffffu && low == 0xffffffffu);
    EXPECT(MPIRT_Int64_export(0, NULL, &low), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Int64_export(0, &high, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: MPIRT_Get_time_resolution, SETUP-TIME-02, MPIRTX_Get_clock, SETUP-TIME-03 */
static void test_the_clock(void)
{
    MPIRT_Timespec resolution = 0, error = -1;
    MPIRTX_Clock_state state = MPIRTX_CLOCK_HOLDOVER;
    OK(MPIRT_Get_time_resolution(&resolution));
    CHECK(resolution >= 1 && resolution <= 1000000);
    OK(MPIRTX_Get_clock(&error, &state));
    /* One host, which runs by itself. */
    CHECK(error == 0 && state == MPIRTX_CLOCK_FREE);
}

static int64_t monotonic(void)
{
    struct timespec now = {0, 0};
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* spec: MPIRT_Get_time, SETUP-TIME-01, SETUP-SLEEP-01, SETUP-SLEEP-02, SETUP-SLEEP-05 */
/* spec: MPIRT_Sleep/ARGUMENT, MPIRT_Sleep/TIME, MPIRT_Sleep/TIME_PAST */
static void test_time_goes_on(void)
{
    MPIRT_Timespec before, after;
    int64_t began, ended;
    OK(MPIRT_Get_time(&before));
    for (int reading = 0; reading < 10000; reading++, before = after) {
        OK(MPIRT_Get_time(&after));
        CHECK(after >= before);
    }
    OK(MPIRT_Get_time(&before));
    began = monotonic();
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 3000000));
    ended = monotonic();
    OK(MPIRT_Get_time(&after));
    CHECK(after >= before + 3000000);
    /* In nanoseconds: two clocks of one machine do not go a hundredth apart. */
    CHECK(ended - began >= 3000000 - 30000 && after - before >= (ended - began) / 100 * 99);
    /* Far enough that a busy machine gets there before it. */
    OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, after + 100000000));
    EXPECT(MPIRT_Get_time(NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, before), MPIRT_ERR_TIME_PAST);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_RELATIVE, -1), MPIRT_ERR_TIME);
    EXPECT(MPIRT_Sleep((MPIRT_Time_mode)7, 0), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Sleep((MPIRT_Time_mode)7, MPIRT_TIME_SPEC_IGNORE), MPIRT_ERR_ARGUMENT);
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 0));
    OK(MPIRT_Get_time(&before));
    OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, before + 3000000));
    OK(MPIRT_Get_time(&after));
    CHECK(after >= before + 3000000);
}

static void runs(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task, (void)instance, (void)argument;
}

static void hears(MPIRT_Receptor receptor, const MPIRTX_Event *event, void *argument)
{
    (void)receptor, (void)event, (void)argument;
}

#define LATE(call) EXPECT(call, MPIRT_ERR_OBJECT_COMMITTED)

/* One of each class, a walk and a mode excepted, which can be made then; nothing is wrong with them but that they come after commit. */
static void expect_nothing_is_made(MPIRT_Cset set, MPIRT_Bufiter ends, MPIRT_Qos timed)
{
    MPIRT_Cset late;
    MPIRT_Cvector vector;
    MPIRT_Container container;
    MPIRT_Group group;
    MPIRT_Buffer buffer;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel;
    MPIRT_Qos qos;
    MPIRT_Trigger trigger;
    MPIRT_Handler handler;
    MPIRT_Receptor receptor;
    MPIRTX_Task task;
    LATE(MPIRT_Cset_create("late", &late));
    LATE(MPIRT_Cvector_create("late", 1, NULL, &vector));
    LATE(MPIRT_Container_flatten(MPIRT_CONTAINER(set), "late", &container));
    LATE(MPIRT_Container_filter(MPIRT_CONTAINER(set), MPIRT_TYPE_CSET, "late", &container));
    LATE(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &rank, "late", &group));
    LATE(MPIRT_Group_union(MPIRT_GROUP_WORLD, MPIRT_GROUP_WORLD, "late", &group));
    LATE(MPIRT_Buffer_create("late", MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
    LATE(MPIRT_Bufiter_create("late", MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    LATE(MPIRT_Ptchannel_create("late", ends, ends, rank, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    LATE(MPIRT_Barrier_channel_create("late", MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    LATE(MPIRT_Qos_channel_time_create("late", 0, 1000000, 10000000, &qos));
    LATE(MPIRT_Qos_channel_event_create("late", "go", "gone", &qos));
    LATE(MPIRT_Qos_channel_priority_create("late", 7, &qos));
    LATE(MPIRTX_Qos_handler_create("late", 7, 1000, 1000000, &qos));
    LATE(MPIRT_Trigger_create("late", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    LATE(MPIRT_Handler_create("late", hears, NULL, MPIRT_QOS_NULL, &handler));
    LATE(MPIRT_Receptor_create("late", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    LATE(MPIRTX_Task_create("late", runs, NULL, timed, 100000, &task));
}

/* spec: SETUP-COMMIT-04, SETUP-COMMIT-06, SETUP-FINAL-02 */
static void test_what_is_committed_is_frozen(void)
{
    MPIRT_Cset set;
    MPIRT_Bufiter ends;
    MPIRT_Qos timed;
    MPIRT_Timespec epoch;
    OK(MPIRT_Cset_create("set", &set));
    OK(MPIRT_Bufiter_create("ends", MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &ends));
    OK(MPIRT_Qos_channel_time_create("timed", 0, 1000000, 10000000, &timed));
    EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_OBJECT_COMMITTED);
    expect_nothing_is_made(set, ends, timed);
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(set), "other"), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_OBJECT_COMMITTED);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Cset_free(&set));
    OK(MPIRT_Bufiter_free(&ends));
    OK(MPIRT_Qos_free(&timed));
}

/* An agent that is not there: Init fails with the reason, and can be called again. */
/* spec: MPIRT_Init/AGENT, SETUP-INIT-05 */
static void test_without_an_agent(int *argc, char ***argv)
{
    static const char *const variable = "LEVERET_SOCKET";
    char *socket = strdup(getenv(variable));
    const char *detail;
    setenv(variable, "/nonexistent/socket", 1);
    EXPECT(MPIRT_Init(argc, argv), MPIRT_ERR_AGENT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "MPIRT_Init") != NULL && strstr(detail, "/nonexistent/socket") != NULL);
    test_the_flags_follow_the_life(0, 0);
    setenv(variable, socket, 1);
    free(socket);
}

/* spec: MPIRT_Init, SETUP-INIT-02, SETUP-INIT-03, MPIRT_Init/ALREADY_INITIALIZED */
static void test_init_comes_once_and_takes_nothing(char *program)
{
    static char option[] = "--rounds", value[] = "3", file[] = "file";
    char *given[] = {program, option, value, file, NULL}, *kept[5], **list = given;
    int count = 4;
    memcpy(kept, given, sizeof given);
    begin(&count, &list);
    CHECK(count == 4 && list == given && memcmp(kept, given, sizeof given) == 0);
    EXPECT(MPIRT_Init(&count, &list), MPIRT_ERR_ALREADY_INITIALIZED);
    CHECK(count == 4 && list == given && memcmp(kept, given, sizeof given) == 0);
    EXPECT(MPIRT_Init(NULL, NULL), MPIRT_ERR_ALREADY_INITIALIZED);
}

/* The set of members does not change. */
/* spec: GROUP-WORLD-02 */
static void test_the_world_stays_as_it_is(void)
{
    int size;
    OK(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    CHECK(size == members);
}

/* spec: MPIRT_Init/FINALIZED, MPIRT_Finalize */
static void test_nothing_begins_again(int *argc, char ***argv)
{
    EXPECT(MPIRT_Init(argc, argv), MPIRT_ERR_FINALIZED);
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_FINALIZED);
}

int main(int argc, char **argv)
{
    test_the_flags_follow_the_life(0, 0);
    test_nothing_is_possible_before_or_after(MPIRT_ERR_NOT_INITIALIZED);
    test_every_code_has_a_text_of_its_own();
    test_texts_stay_as_they_are();
    test_the_version_is_that_of_the_header();
    test_without_an_agent(&argc, &argv);
    test_init_comes_once_and_takes_nothing(argv[0]);
    test_the_flags_follow_the_life(1, 0);
    test_a_time_has_two_halves();
    test_the_clock();
    test_time_goes_on();
    test_what_is_committed_is_frozen();
    /* Once more: what was uncommitted can be committed. */
    test_what_is_committed_is_frozen();
    test_the_world_stays_as_it_is();
    int code = end();
    test_the_flags_follow_the_life(1, 1);
    test_nothing_is_possible_before_or_after(MPIRT_ERR_FINALIZED);
    test_nothing_begins_again(&argc, &argv);
    test_texts_stay_as_they_are();
    return failures == 0 ? code : EXIT_FAILURE;
}
