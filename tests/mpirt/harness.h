/* What every file of the conformance suite shares: expectations that name their place, and a list of tests.
 *
 * A file is one program. It runs at 1, 2, 3 and 4 members; tests that need a peer look at `members`. */
#ifndef HARNESS_H
#define HARNESS_H

#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static int rank, members;

static inline void expect_(int found, int expected, const char *what, const char *file, int line)
{
    const char *text;
    if (found == expected)
        return;
    failures++;
    MPIRT_Error_string(found, &text);
    fprintf(stderr, "%s:%d: member %d: %s gives %d (%s), not %d\n", file, line, rank, what, found, text, expected);
}

static inline void check_(int holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    failures++;
    fprintf(stderr, "%s:%d: member %d: %s does not hold\n", file, line, rank, what);
}

/* The call gives this code. */
#define EXPECT(call, code) expect_((call), (code), #call, __FILE__, __LINE__)
/* The call succeeds. */
#define OK(call) EXPECT(call, MPIRT_SUCCESS)
/* The call succeeds, or the program ends: what follows would have no meaning. */
#define MUST(call) do { int before_ = failures; OK(call); if (failures > before_) exit(EXIT_FAILURE); } while (0)
#define CHECK(condition) check_((condition) != 0, #condition, __FILE__, __LINE__)

/* The QoS of channels that are for something else than their QoS: best effort, or at a priority where the file is compiled for it. */
static inline MPIRT_Qos channel_qos(void)
{
    MPIRT_Qos qos = MPIRT_QOS_BEST_EFFORT;
#ifdef AT_A_PRIORITY
    OK(MPIRT_Qos_channel_priority_create(NULL, 9, &qos));
#endif
    return qos;
}

/* Whether the detail of the last error has these words; it is shown if not. */
static inline int detail_says(const char *words)
{
    const char *detail;
    OK(MPIRTX_Error_detail(&detail));
    if (strstr(detail, words) != NULL)
        return 1;
    fprintf(stderr, "member %d: \"%s\" is not in \"%s\"\n", rank, words, detail);
    return 0;
}

/* Whether the detail of the last error names the last member, which is lost. */
static inline int names_the_last(void)
{
    char words[32];
    snprintf(words, sizeof words, "member \"%d\" died or left", members - 1);
    return detail_says(words);
}

/* A FIFO iterator with so many buffers in system memory, each of so many 64-bit integers. */
static inline MPIRT_Bufiter iterator_of(int count, int stock)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, count * sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    for (int number = 0; number < stock; number++) {
        MPIRT_Buffer buffer;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, count * sizeof(int64_t), MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(made, buffer));
    }
    return made;
}

static inline void begin(int *argc, char ***argv)
{
    OK(MPIRT_Init(argc, argv));
    OK(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    OK(MPIRT_Group_size(MPIRT_GROUP_WORLD, &members));
}

static inline int end(void)
{
    /* A job whose members never commit has not run. */
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
    OK(MPIRT_Finalize());
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
