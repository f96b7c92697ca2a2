/* Init to Finalize, time, error texts. */
#include "harness.h"

/* spec: MPIRT_Is_initialized, MPIRT_Is_finalized */
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

/* spec: MPIRT_Error_string, MPIRT_Error_string/ARGUMENT */
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
    EXPECT(MPIRT_Error_string(-1, &text), MPIRT_ERR_ARGUMENT);
    CHECK(strlen(text) > 0);
    EXPECT(MPIRT_Error_string(MPIRT_ERR_INTERNAL + 1, &text), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Error_string(0, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: MPIRT_Int64_export */
static void test_a_time_has_two_halves(void)
{
    uint32_t high, low;
    OK(MPIRT_Int64_export(INT64_C(0x0123456789abcdef), &high, &low));
    CHECK(high == 0x01234567u && low == 0x89abcdefu);
    OK(MPIRT_Int64_export(-1, &high, &low));
    CHECK(high == 0xffffffffu && low == 0xffffffffu);
    EXPECT(MPIRT_Int64_export(0, NULL, &low), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Int64_export(0, &high, NULL), MPIRT_ERR_NULL_POINTER);
}

/* spec: MPIRT_Get_time */
static void test_time_goes_on(void)
{
    MPIRT_Timespec before, after;
    OK(MPIRT_Get_time(&before));
    OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 1000));
    OK(MPIRT_Get_time(&after));
    CHECK(after >= before + 1000);
    /* Far enough that a busy machine gets there before it. */
    OK(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, after + 100000000));
    EXPECT(MPIRT_Get_time(NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, before), MPIRT_ERR_TIME_PAST);
    EXPECT(MPIRT_Sleep(MPIRT_TIME_RELATIVE, -1), MPIRT_ERR_TIME);
    EXPECT(MPIRT_Sleep((MPIRT_Time_mode)7, 0), MPIRT_ERR_ARGUMENT);
}

static void test_what_is_committed_is_frozen(void)
{
    MPIRT_Cset set, late;
    MPIRT_Timespec epoch;
    OK(MPIRT_Cset_create("set", &set));
    EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
    EXPECT(MPIRT_Uncommit(), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRT_Commit());
    OK(MPIRTX_Get_epoch(&epoch));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cset_create("late", &late), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Object_set_name(MPIRT_OBJECT(set), "other"), MPIRT_ERR_OBJECT_COMMITTED);
    EXPECT(MPIRT_Finalize(), MPIRT_ERR_OBJECT_COMMITTED);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Cset_free(&set));
}

int main(int argc, char **argv)
{
    test_the_flags_follow_the_life(0, 0);
    test_nothing_is_possible_before_or_after(MPIRT_ERR_NOT_INITIALIZED);
    test_every_code_has_a_text_of_its_own();
    begin(&argc, &argv);
    EXPECT(MPIRT_Init(&argc, &argv), MPIRT_ERR_ALREADY_INITIALIZED);
    test_the_flags_follow_the_life(1, 0);
    test_a_time_has_two_halves();
    test_time_goes_on();
    test_what_is_committed_is_frozen();
    /* Once more: what was uncommitted can be committed. */
    test_what_is_committed_is_frozen();
    int code = end();
    test_the_flags_follow_the_life(1, 1);
    test_nothing_is_possible_before_or_after(MPIRT_ERR_FINALIZED);
    EXPECT(MPIRT_Init(&argc, &argv), MPIRT_ERR_FINALIZED);
    return failures == 0 ? code : EXIT_FAILURE;
}
