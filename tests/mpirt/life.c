/* Init where a thread cannot be had; Finalize, which waits for all and frees what is left. */
#define _GNU_SOURCE
#include "harness.h"
#include "mapped.h"

#include <sys/resource.h>
#include <unistd.h>

/* Room on the heap, and for what the library keeps in reserve, but for no thread's stack. */
/* spec: MPIRT_Init/NO_MEMORY */
static void test_without_memory_for_a_thread(int *argc, char ***argv)
{
    struct rlimit before, narrow;
    const char *detail;
    int flag = -1;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    narrow = before;
    narrow.rlim_cur = (rlim_t)mapped_bytes() + (2 << 20);
    CHECK(setrlimit(RLIMIT_AS, &narrow) == 0);
    EXPECT(MPIRT_Init(argc, argv), MPIRT_ERR_NO_MEMORY);
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "thread") != NULL);
    OK(MPIRT_Is_initialized(&flag));
    CHECK(flag == 0);
}

static int answers[2];

static int finalizes(MPIRT_Object object, int keyval, void *value, void *extra)
{
    (void)object, (void)keyval, (void)value, (void)extra;
    answers[0] = MPIRT_Finalize();
    answers[1]++;
    return MPIRT_SUCCESS;
}

/* spec: MPIRT_Finalize/UNDEF_FOR_OBJECT, SETUP-FINAL-03 */
/* spec: OBJECT-FREE-07 */
static void test_finalize_waits_for_all_and_frees_what_is_left(void)
{
    char path[64];
    MPIRT_Cset set;
    MPIRT_Buffer buffer;
    FILE *file;
    int keyval;
    OK(MPIRT_Keyval_create(finalizes, NULL, &keyval));
    OK(MPIRT_Cset_create("left", &set));
    OK(MPIRT_Buffer_create("left", MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
    OK(MPIRT_Cset_insert(set, MPIRT_OBJECT(buffer)));
    OK(MPIRT_Object_put_attr(MPIRT_OBJECT(set), keyval, NULL));
    /* The last one to call leaves a sign before. */
    snprintf(path, sizeof path, "/tmp/mpirt-finalize-%ld", (long)getppid());
    if (rank == members - 1) {
        OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 100000000));
        file = fopen(path, "w");
        CHECK(file != NULL && fclose(file) == 0);
    }
    OK(MPIRT_Finalize());
    CHECK(access(path, F_OK) == 0);
    CHECK(answers[0] == MPIRT_ERR_UNDEF_FOR_OBJECT && answers[1] == 1);
    EXPECT(MPIRT_Cset_free(&set), MPIRT_ERR_FINALIZED);
}

int main(int argc, char **argv)
{
    test_without_memory_for_a_thread(&argc, &argv);
    begin(&argc, &argv);
    /* A job whose members never commit has not run. */
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
    test_finalize_waits_for_all_and_frees_what_is_left();
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
