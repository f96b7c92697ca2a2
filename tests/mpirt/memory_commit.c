/* Commits while a member has not the memory that one needs: it takes its part all the same, all are refused with the same words, nothing has
 * changed, and the next commit does not know of it. */
#define _GNU_SOURCE
#include "harness.h"
#include "scarce.h"

#include <sys/resource.h>

static const MPIRT_Timespec patience = INT64_C(20000000000);
enum { ATTEMPTS = 40, OBJECTS_MORE = 64, MEMBERS_MAX = 4 };

/* How memory comes to an end: no allocation of any thread succeeds, or the kernel gives no more. */
enum end { NOWHERE, AT_THE_LIMIT };

static void end_of_memory(enum end end, int is_here)
{
    static struct rlimit before;
    struct rlimit low;
    if (end == NOWHERE) {
        __atomic_store_n(&is_nowhere, is_here, __ATOMIC_RELEASE);
        return;
    }
    if (is_here)
        CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    low = before;
    if (is_here)
        low.rlim_cur = 0;
    CHECK(setrlimit(RLIMIT_AS, &low) == 0);
}

/* More objects need more memory: what an earlier commit has left in reserve is not enough for the next. */
static void make_more(void)
{
    MPIRT_Cset made;
    for (int count = 0; count < OBJECTS_MORE; count++)
        MUST(MPIRT_Cset_create("more", &made));
}

/* What is committed: each call commits all, a group or a mode. */
struct what {
    MPIRT_Group group;
    MPIRTX_Mode mode;
};

static int commits(const struct what *what)
{
    if (what->mode.bits != 0)
        return MPIRTX_Mode_commit(what->mode);
    return what->group.bits != 0 ? MPIRTX_Commit_group(what->group) : MPIRT_Commit();
}

/* A commit for which each of these members, a bit for each rank in the world, lacks memory. */
static void refused_to_all(const struct what *what, unsigned poor, enum end end)
{
    char words[MEMBERS_MAX * 160] = "";
    const char *detail;
    int is_poor = poor >> rank & 1, code, same;
    for (int member = 0; member < members; member++)
        if (poor >> member & 1)
            snprintf(words + strlen(words), sizeof words - strlen(words),
                     "%smember \"%d\" cannot commit: out of memory; free what is not needed any more, or raise the limit of the process",
                     words[0] ? "\n" : "", member);
    make_more();
    if (is_poor)
        end_of_memory(end, 1);
    code = commits(what);
    OK(MPIRTX_Error_detail(&detail));
    same = strcmp(detail, words) == 0;
    if (is_poor)
        end_of_memory(end, 0);
    EXPECT(code, MPIRT_ERR_NO_MEMORY);
    if (!same)
        fprintf(stderr, "member %d: \"%s\" and not \"%s\"\n", rank, detail, words);
    CHECK(same);
}

/* A channel from the first member of a group to the last, and one transfer on it. */
struct link {
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffer;
    MPIRT_Channel channel;
    int sends, receives;
};

/* Uncommit has taken the buffer out. */
static void stock(struct link *link)
{
    if (link->channel.bits != 0)
        OK(MPIRT_Bufiter_insert(link->sends ? link->out : link->in, link->buffer));
}

static struct link make_link(const char *name, MPIRT_Group group)
{
    struct link link = {.sends = 0};
    int own, size;
    OK(MPIRT_Group_rank(group, &own));
    OK(MPIRT_Group_size(group, &size));
    link.sends = own == 0;
    link.receives = own == size - 1;
    if (size == 1 || !(link.sends || link.receives))
        return link;
    link.in = iterator_of(1, 0);
    link.out = iterator_of(1, 0);
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &link.buffer));
    MUST(MPIRT_Ptchannel_create(name, link.in, link.out, 0, size - 1, group, MPIRT_QOS_NULL, &link.channel));
    stock(&link);
    return link;
}

static void transfer(struct link *link)
{
    MPIRT_Buffer buffer;
    void *base;
    if (link->channel.bits == 0)
        return;
    if (link->sends) {
        MUST(MPIRT_Bufiter_remove(link->out, &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        *(int64_t *)base = 42;
        OK(MPIRT_Bufiter_insert(link->in, buffer));
    }
    OK(MPIRT_Channel_start(link->channel));
    MUST(MPIRT_Channel_wait(link->channel, patience));
    if (link->receives) {
        MUST(MPIRT_Bufiter_remove(link->out, &buffer));
        MUST(MPIRT_Buffer_get_base(buffer, &base));
        CHECK(*(int64_t *)base == 42);
        OK(MPIRT_Bufiter_insert(link->in, buffer));
    }
}

static void free_link(struct link *link)
{
    if (link->channel.bits == 0)
        return;
    OK(MPIRT_Channel_free(&link->channel));
    OK(MPIRT_Bufiter_free(&link->in));
    OK(MPIRT_Bufiter_free(&link->out));
    OK(MPIRT_Buffer_free(&link->buffer));
}

static void committed_and_used(const struct what *what, struct link *link)
{
    MUST(commits(what));
    transfer(link);
    OK(MPIRT_Uncommit());
    stock(link);
}

static const struct what all;

/* spec: ERROR-MEMORY-02 */
static void test_commit(void)
{
    struct link link = make_link("link", MPIRT_GROUP_WORLD);
    MPIRT_Timespec epoch;
    for (int end = NOWHERE; end <= AT_THE_LIMIT; end++)
        for (unsigned poor = 1; poor < 1u << members; poor = poor * 2 + 1) {
            refused_to_all(&all, poor, end);
            EXPECT(MPIRTX_Get_epoch(&epoch), MPIRT_ERR_NOT_COMMITTED);
            committed_and_used(&all, &link);
        }
    free_link(&link);
}

/* What a member says it with is there again each time. */
static void test_again_and_again(void)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++)
        refused_to_all(&all, 1u << attempt % members, NOWHERE);
}

static MPIRT_Group group_of(int from, int to)
{
    int ranks[MEMBERS_MAX];
    MPIRT_Group group;
    for (int member = from; member < to; member++)
        ranks[member - from] = member;
    MUST(MPIRT_Group_incl(MPIRT_GROUP_WORLD, to - from, ranks, NULL, &group));
    return group;
}

/* Each group has a member in common with the next, which lacks memory in both: so commits stay in step. Then the one at the end of the
 * chain does, and at last nobody.
 * spec: ERROR-MEMORY-02 */
static void test_groups_that_overlap(void)
{
    for (int end = NOWHERE; end <= AT_THE_LIMIT; end++)
        for (int first = 0; first + 1 < members; first++) {
            struct what what = {.group = group_of(first, first + 2)};
            if (rank == first || rank == first + 1) {
                struct link link = make_link("link", what.group);
                refused_to_all(&what, 1u << (first + 1), end);
                refused_to_all(&what, 1u << first, end);
                refused_to_all(&what, 3u << first, end);
                committed_and_used(&what, &link);
                free_link(&link);
            }
            OK(MPIRT_Group_free(&what.group));
        }
    committed_and_used(&all, &(struct link){.sends = 0});
}

/* spec: ERROR-MEMORY-02 */
static void test_modes(void)
{
    struct link before = make_link("before", MPIRT_GROUP_WORLD), after;
    struct what mode = {.mode = {0}};
    MPIRTX_Mode current;
    MPIRT_Timespec at;
    MUST(MPIRT_Commit());
    MUST(MPIRTX_Mode_open("mode", &mode.mode));
    after = make_link("after", MPIRT_GROUP_WORLD);
    for (int end = NOWHERE; end <= AT_THE_LIMIT; end++)
        for (int poor = 0; poor < members; poor++) {
            refused_to_all(&mode, 1u << poor, end);
            OK(MPIRTX_Mode_get_current(&current));
            CHECK(current.bits == 0);
            transfer(&before);
        }
    MUST(MPIRTX_Mode_commit(mode.mode));
    MUST(MPIRTX_Mode_switch(mode.mode, MPIRT_TIME_SPEC_IGNORE, &at));
    transfer(&after);
    OK(MPIRT_Uncommit());
    free_link(&before);
    free_link(&after);
    OK(MPIRTX_Mode_free(&mode.mode));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_commit();
    test_again_and_again();
    if (members > 1)
        test_groups_that_overlap();
    test_modes();
    return end();
}
