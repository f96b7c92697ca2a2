/* Calls of the C interface as the bytes of an input say: which function, with which of the handles that were made, with what else. */
#include "any.h"

enum { STEPS_MAX = 400 };

static const uint8_t *left;
static size_t left_size;
static int commits;

static int byte(void)
{
    if (left_size == 0)
        return 0;
    left_size--;
    return *left++;
}

static uint64_t next_random(void)
{
    uint64_t number = 0;
    for (int place = 0; place < 8; place++)
        number = number << 8 | (uint64_t)byte();
    return number;
}

static int below(int bound)
{
    int number = byte();
    if (bound > 256)
        number = number << 8 | byte();
    return number % bound;
}

static int may_commit(void)
{
    return commits > 0 && commits-- > 0;
}

/* Makes the job, and commits once: what only begins with a commit is there from then on. */
int c_calls_begin(void)
{
    int code = MPIRT_Init(NULL, NULL);
    make_room();
    if (code == MPIRT_SUCCESS)
        code = MPIRT_Commit();
    return code == MPIRT_SUCCESS ? MPIRT_Uncommit() : code;
}

/* Gives the name of a function whose code is none of its list, or NULL. */
const char *c_calls(const uint8_t *bytes, size_t size, int *code)
{
    const char *wrong = NULL;
    MPIRT_Timespec epoch;
    left = bytes;
    left_size = size;
    /* A commit takes a tenth of a second. */
    commits = byte() % 16 == 1 ? 2 : 0;
    for (int step = 0; step < STEPS_MAX && left_size > 0 && wrong == NULL; step++) {
        const struct call *call;
        *code = any_call(&call);
        if (*code >= 0 && !is_listed(call, *code))
            wrong = call->name;
    }
    left_size = 0;
    if (MPIRTX_Get_epoch(&epoch) == MPIRT_SUCCESS && (*code = MPIRT_Uncommit()) != MPIRT_SUCCESS && wrong == NULL)
        wrong = "MPIRT_Uncommit";
    free_all();
    return wrong;
}
