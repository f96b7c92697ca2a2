/* Where the memory lies that commit makes: the buffers of one commit side by side in one segment, those that a mode keeps where they were,
 * and those that are one at both ends in the segment of their channel. */
#define _GNU_SOURCE
#include "harness.h"
#include "mapped.h"

#include <sys/resource.h>
#include <unistd.h>

enum { LINE = 64, PAIRS = 3 };

/* From the lowest to the highest of a segment's bytes, as buffers tell. */
struct range {
    char *first, *end;
    size_t room;
};

static void *base_of(MPIRT_Buffer buffer)
{
    void *base = NULL;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    return base;
}

static MPIRT_Buffer buffer_of(size_t size)
{
    MPIRT_Buffer made;
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, size, MPIRT_BYTE, &made));
    return made;
}

static void add(struct range *range, MPIRT_Buffer buffer)
{
    char *base = base_of(buffer);
    size_t size;
    OK(MPIRT_Buffer_get_bufsize(buffer, &size));
    CHECK(base != NULL && (uintptr_t)base % LINE == 0);
    size = (size + LINE - 1) / LINE * LINE;
    if (range->room == 0 || base < range->first)
        range->first = base;
    if (range->room == 0 || base + size > range->end)
        range->end = base + size;
    range->room += size;
}

static int is_within(const struct range *range, MPIRT_Buffer buffer)
{
    char *base = base_of(buffer);
    return base >= range->first && base < range->end;
}

/* Whether one mapping of this process has all of it, that may be written. */
static int is_mapped(const struct range *range)
{
    unsigned long from, to;
    char rights[8], line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3 && strncmp(rights, "rw", 2) == 0)
            found |= (uintptr_t)range->first >= from && (uintptr_t)range->end <= to;
    if (maps != NULL)
        fclose(maps);
    return found;
}

/* spec: BUFFER-MEMORY-06 */
static void test_all_buffers_of_a_commit_lie_side_by_side(void)
{
    enum { BUFFERS = 6 };
    static const size_t sizes[BUFFERS] = {1, 200000, 64, 65, 4096, 7};
    MPIRT_Buffer made[BUFFERS], own;
    char bytes[8];
    for (int commits = 0; commits < 2; commits++) {
        struct range range = {NULL, NULL, 0};
        for (int place = 0; place < BUFFERS; place++)
            made[place] = buffer_of(sizes[place]);
        OK(MPIRT_Buffer_create(NULL, bytes, sizeof bytes, MPIRT_BYTE, &own));
        MUST(MPIRT_Commit());
        for (int place = 0; place < BUFFERS; place++)
            add(&range, made[place]);
        CHECK((size_t)(range.end - range.first) == range.room);
        CHECK(is_mapped(&range));
        CHECK(base_of(own) == bytes && !is_within(&range, own));
        OK(MPIRT_Uncommit());
        for (int place = 0; place < BUFFERS; place++) {
            CHECK(base_of(made[place]) == NULL);
            OK(MPIRT_Buffer_free(&made[place]));
        }
        OK(MPIRT_Buffer_free(&own));
    }
}

/* A channel to the next member, and one from the member before; each member has an end of both. */
struct pair {
    MPIRT_Buffer buffers[PAIRS];
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static void make_pair(struct pair *pair, const char *kind, int source, int is_one_in_memory)
{
    char name[MPIRT_NAME_MAX];
    MPIRT_Object all[PAIRS];
    MPIRT_Cvector allowed;
    MPIRT_Bufiter_policy policy = is_one_in_memory ? MPIRT_BUFITER_FIFO_MAPPED : MPIRT_BUFITER_FIFO;
    for (int place = 0; place < PAIRS; place++) {
        pair->buffers[place] = buffer_of(LINE);
        all[place] = MPIRT_OBJECT(pair->buffers[place]);
    }
    OK(MPIRT_Cvector_create(NULL, PAIRS, all, &allowed));
    OK(MPIRT_Bufiter_create(NULL, policy, LINE, MPIRT_BYTE, MPIRT_CONTAINER(allowed), &pair->in));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, LINE, MPIRT_BYTE, MPIRT_CONTAINER(allowed), &pair->out));
    OK(MPIRT_Cvector_free(&allowed));
    snprintf(name, sizeof name, "%s-%d", kind, source);
    MUST(MPIRT_Ptchannel_create(name, pair->in, pair->out, source, (source + 1) % members, MPIRT_GROUP_WORLD,
                                MPIRT_QOS_BEST_EFFORT, &pair->channel));
}

static void free_pair(struct pair *pair)
{
    OK(MPIRT_Channel_free(&pair->channel));
    OK(MPIRT_Bufiter_free(&pair->in));
    OK(MPIRT_Bufiter_free(&pair->out));
    for (int place = 0; place < PAIRS; place++)
        OK(MPIRT_Buffer_free(&pair->buffers[place]));
}

/* spec: BUFFER-MEMORY-07 */
static void test_what_is_one_at_both_ends_lies_in_the_channels_segment(void)
{
    struct pair sends, receives;
    struct range range = {NULL, NULL, 0};
    MPIRT_Buffer plain[2];
    if (members < 2)
        return;
    plain[0] = buffer_of(100);
    make_pair(&sends, "one", rank, 1);
    make_pair(&receives, "one", (rank + members - 1) % members, 1);
    plain[1] = buffer_of(100);
    MUST(MPIRT_Commit());
    add(&range, plain[0]);
    add(&range, plain[1]);
    /* There is no room between them for the others. */
    CHECK((size_t)(range.end - range.first) == range.room);
    for (int place = 0; place < PAIRS; place++) {
        CHECK(base_of(sends.buffers[place]) != NULL && !is_within(&range, sends.buffers[place]));
        CHECK(base_of(receives.buffers[place]) != NULL && !is_within(&range, receives.buffers[place]));
    }
    OK(MPIRT_Uncommit());
    free_pair(&sends);
    free_pair(&receives);
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Buffer_free(&plain[place]));
}

/* spec: BUFFER-MEMORY-07 */
static void test_what_a_mode_keeps_stays_where_it_is(void)
{
    struct pair sends, receives;
    struct range before = {NULL, NULL, 0}, after = {NULL, NULL, 0};
    char *bases[2][PAIRS];
    MPIRT_Buffer loose, fresh[2];
    MPIRTX_Mode mode;
    MPIRT_Timespec at;
    if (members < 2)
        return;
    make_pair(&sends, "kept", rank, 0);
    make_pair(&receives, "kept", (rank + members - 1) % members, 0);
    loose = buffer_of(100000);
    MUST(MPIRT_Commit());
    for (int place = 0; place < PAIRS; place++) {
        add(&before, sends.buffers[place]);
        add(&before, receives.buffers[place]);
        bases[0][place] = base_of(sends.buffers[place]);
        bases[1][place] = base_of(receives.buffers[place]);
        memset(bases[0][place], 0x11 + place, LINE);
        memset(bases[1][place], 0x21 + place, LINE);
    }
    add(&before, loose);
    CHECK((size_t)(before.end - before.first) == before.room);
    MUST(MPIRTX_Mode_open("next", &mode));
    fresh[0] = buffer_of(LINE);
    fresh[1] = buffer_of(5000);
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(sends.channel)));
    OK(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(receives.channel)));
    MUST(MPIRTX_Mode_commit(mode));
    MUST(MPIRTX_Mode_switch(mode, MPIRT_TIME_SPEC_IGNORE, &at));
    /* What is not kept has no memory any more, and the rest of its segment is as it was. */
    CHECK(base_of(loose) == NULL);
    for (int place = 0; place < PAIRS; place++) {
        CHECK(base_of(sends.buffers[place]) == bases[0][place] && base_of(receives.buffers[place]) == bases[1][place]);
        for (int byte = 0; byte < LINE; byte++)
            CHECK(bases[0][place][byte] == 0x11 + place && bases[1][place][byte] == 0x21 + place);
        memset(bases[0][place], 0, LINE);
        memset(bases[1][place], 0, LINE);
    }
    CHECK(is_mapped(&before));
    for (int place = 0; place < 2; place++) {
        add(&after, fresh[place]);
        CHECK(!is_within(&before, fresh[place]));
    }
    CHECK((size_t)(after.end - after.first) == after.room && is_mapped(&after));
    OK(MPIRT_Uncommit());
    CHECK(base_of(sends.buffers[0]) == NULL && base_of(fresh[0]) == NULL);
    OK(MPIRTX_Mode_free(&mode));
    free_pair(&sends);
    free_pair(&receives);
    OK(MPIRT_Buffer_free(&loose));
    for (int place = 0; place < 2; place++)
        OK(MPIRT_Buffer_free(&fresh[place]));
}

/* Room for all that a commit makes but for the buffers. The others are told of it, and all can commit without them. */
static void test_without_memory_for_buffers(void)
{
    enum { LARGE = 1 << 30 };
    struct rlimit before, narrow;
    MPIRT_Buffer large = MPIRT_BUFFER_NULL, small = buffer_of(8);
    MPIRT_Timespec epoch;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    if (rank == 0) {
        large = buffer_of(LARGE);
        narrow = before;
        narrow.rlim_cur = (rlim_t)mapped_bytes() + LARGE / 2;
        CHECK(setrlimit(RLIMIT_AS, &narrow) == 0);
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_NO_MEMORY);
    CHECK(detail_says("memory for buffers"));
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
    CHECK(base_of(small) == NULL);
    if (rank == 0) {
        CHECK(base_of(large) == NULL);
        OK(MPIRT_Buffer_free(&large));
    }
    MUST(MPIRT_Commit());
    CHECK(base_of(small) != NULL);
    OK(MPIRT_Uncommit());
    OK(MPIRT_Buffer_free(&small));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_all_buffers_of_a_commit_lie_side_by_side();
    test_what_is_one_at_both_ends_lies_in_the_channels_segment();
    test_what_a_mode_keeps_stays_where_it_is();
    test_without_memory_for_buffers();
    return end();
}
