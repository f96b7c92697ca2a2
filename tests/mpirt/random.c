/* Random calls with handles that are good, freed, null, of another class or made up, and with sizes, policies and pointers of
 * all kinds: each answers with a code of the list that is no failure of the library, and no call ends the program or hangs.
 *
 * The sequence depends on the round alone, so that all members commit in the same places. */
#include "harness.h"

enum { POOL = 48, ROUNDS = 24, CALLS = 600, ARENA = 65536, LAST_CODE = MPIRT_ERR_INTERNAL };

static uint64_t state;
static uint64_t pool[POOL];
static char arena[ARENA];

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int below(int bound)
{
    return (int)(next_random() % (uint64_t)bound);
}

/* Mostly something that was made; now and then a neighbour of it, or nonsense. */
static uint64_t handle(void)
{
    uint64_t made = pool[below(POOL)];
    switch (below(12)) {
    case 0: return 0;
    case 1: return next_random();
    case 2: return made ^ (UINT64_C(1) << below(64));
    case 3: return MPIRT_GROUP_WORLD.bits;
    default: return made;
    }
}

static void keep(uint64_t made)
{
    pool[below(POOL)] = made;
}

static size_t size(void)
{
    static const size_t sizes[] = {0, 1, 3, 4, 8, 8, 8, 64, 4096, ARENA, (size_t)MPIRT_BUFSIZE_MAX + 1, SIZE_MAX};
    return sizes[below((int)(sizeof sizes / sizeof *sizes))];
}

static const char *name(void)
{
    static char longest[MPIRT_NAME_MAX + 1];
    static const char *const names[] = {NULL, "", "a", "b", "\x01", "\xff\xfe", longest};
    memset(longest, 'n', MPIRT_NAME_MAX);
    return names[below((int)(sizeof names / sizeof *names))];
}

static void *base(void)
{
    switch (below(6)) {
    case 0: return NULL;
    case 1: return arena;
    default: return MPIRT_SYSTEM_MEM_ALLOC;
    }
}

static int create(void)
{
    MPIRT_Object objects[3];
    uint64_t made = 0;
    int code;
    for (int place = 0; place < 3; place++)
        objects[place].bits = handle();
    switch (below(7)) {
    case 0: case 1: {
        MPIRT_Buffer buffer = {0};
        code = MPIRT_Buffer_create(name(), base(), size(), (MPIRT_Dataspec)below(19), below(16) ? &buffer : NULL);
        made = buffer.bits;
        break;
    }
    case 2: case 3: {
        MPIRT_Bufiter iterator = {0};
        MPIRT_Container allowed = {below(2) ? 0 : handle()};
        code = MPIRT_Bufiter_create(name(), (MPIRT_Bufiter_policy)(below(14) - 1), size(), (MPIRT_Dataspec)below(18), allowed,
                                    &iterator);
        made = iterator.bits;
        break;
    }
    case 4: {
        MPIRT_Cvector vector = {0};
        code = MPIRT_Cvector_create(name(), below(5) - 1, below(16) ? objects : NULL, &vector);
        made = vector.bits;
        break;
    }
    case 5: {
        MPIRT_Cset set = {0};
        code = MPIRT_Cset_create(name(), &set);
        made = set.bits;
        break;
    }
    default: {
        MPIRT_Channel channel = {0};
        MPIRT_Bufiter in = {handle()}, out = {handle()};
        MPIRT_Group group = MPIRT_GROUP_WORLD;
        if (below(4) == 0)
            group.bits = handle();
        code = MPIRT_Ptchannel_create("c", in, out, below(members + 1), below(members + 1), group, MPIRT_QOS_BEST_EFFORT,
                                      &channel);
        /* It would have one end only where a member is not among the two. */
        if (code == MPIRT_SUCCESS)
            code = MPIRT_Channel_free(&channel);
        break;
    }
    }
    if (code == MPIRT_SUCCESS && made != 0)
        keep(made);
    return code;
}

static int release(void)
{
    uint64_t bits = handle();
    MPIRT_Buffer buffer = {bits};
    MPIRT_Bufiter iterator = {bits};
    MPIRT_Cvector vector = {bits};
    MPIRT_Object object = {bits};
    switch (below(4)) {
    case 0: return MPIRT_Buffer_free(&buffer);
    case 1: return MPIRT_Bufiter_free(&iterator);
    case 2: return MPIRT_Cvector_free(&vector);
    default: return MPIRT_Object_free(&object);
    }
}

static int use(void)
{
    MPIRT_Buffer buffer = {handle()};
    MPIRT_Bufiter iterator = {handle()};
    MPIRT_Channel channel = {handle()};
    MPIRT_Cset set = {handle()};
    MPIRT_Object object = {handle()};
    MPIRT_Container container;
    MPIRT_Bufiter_policy policy;
    MPIRT_Timespec inserted;
    MPIRT_Dataspec spec;
    uint64_t instance;
    int64_t label;
    size_t bytes;
    void *where;
    int number;
    switch (below(22)) {
    case 0: return MPIRT_Buffer_get_bufsize(buffer, below(8) ? &bytes : NULL);
    case 1: return MPIRT_Buffer_set_bufsize(buffer, size());
    case 2: return MPIRT_Buffer_get_base(buffer, &where);
    case 3: return MPIRT_Buffer_set_base(buffer, MPIRT_SYSTEM_MEM_ALLOC);
    case 4: return MPIRT_Buffer_get_dataspec(buffer, &spec);
    case 5: return MPIRT_Buffer_set_dataspec(buffer, (MPIRT_Dataspec)below(19));
    case 6: return MPIRT_Buffer_get_label(buffer, &label);
    case 7: return MPIRT_Buffer_set_label(buffer, (int64_t)next_random());
    case 8: return MPIRTX_Buffer_get_length(buffer, &bytes);
    case 9: return MPIRTX_Buffer_set_length(buffer, size());
    case 10: return MPIRTX_Buffer_get_instance(buffer, &instance, &inserted);
    case 11: return MPIRTX_Bufiter_get_count(iterator, &number);
    case 12: return MPIRT_Bufiter_get_policy(iterator, &policy);
    case 13: return MPIRT_Bufiter_get_allowed(iterator, &container);
    case 14: return MPIRT_Channel_start(channel);
    case 15: return MPIRT_Channel_test(channel, &number);
    case 16: return MPIRT_Channel_wait(channel, (MPIRT_Timespec)below(1000));
    case 17: return MPIRT_Cset_insert(set, object);
    case 18: return MPIRT_Bufiter_remove(iterator, &buffer);
    case 19: return MPIRT_Dataspec_size((MPIRT_Dataspec)(below(40) - 10), &bytes);
    default: return MPIRT_Bufiter_insert(iterator, buffer);
    }
}

/* spec: ERROR-FUZZ-01 */
static void test_random_calls(void)
{
    long successes = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        int code, is_committed = 0;
        state = (uint64_t)round * UINT64_C(0x9e3779b97f4a7c15);
        for (int call = 0; call < CALLS; call++) {
            int kind = below(100);
            if (kind == 0) {
                code = is_committed ? MPIRT_Uncommit() : MPIRT_Commit();
                if (code == MPIRT_SUCCESS)
                    is_committed = !is_committed;
            } else {
                code = kind < 40 ? create() : kind < 45 ? release() : use();
            }
            if (code < 0 || code >= LAST_CODE) {
                const char *detail;
                OK(MPIRTX_Error_detail(&detail));
                fprintf(stderr, "round %d, call %d gives %d: %s\n", round, call, code, detail);
                failures++;
            }
            successes += code == MPIRT_SUCCESS;
        }
        if (is_committed)
            OK(MPIRT_Uncommit());
    }
    /* Calls that are all refused show nothing. */
    CHECK(successes > ROUNDS * CALLS / 10);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_random_calls();
    return end();
}
