/* Groups, and channels within them. */
#include "harness.h"

enum { SIZE = 8 };

/* What each member takes the world for; who started the members knows how many there are. */
/* spec: GROUP-WORLD-01 */
static void test_the_world_is_everybody(void)
{
    MPIRT_Group everybody;
    int all[8], compared, size, own;
    OK(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    OK(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &own));
    for (int place = 0; place < size; place++)
        all[place] = place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, size, all, "everybody", &everybody));
    OK(MPIRT_Group_compare(MPIRT_GROUP_WORLD, everybody, &compared));
    CHECK(compared == MPIRT_IDENTICAL);
    OK(MPIRT_Group_free(&everybody));
    printf("member %d of %d\n", own, size);
}

/* spec: MPIRT_Group_size, MPIRT_Group_rank, MPIRT_Group_free, MPIRT_Group_free/UNDEF_FOR_OBJECT */
/* spec: MPIRT_Group_incl, MPIRT_Group_incl/INV_RANK, MPIRT_Group_incl/ARGUMENT, GROUP-RANK-01, GROUP-RANK-02, GROUP-INCL-02 */
/* spec: GROUP-EXCL-01 */
/* spec: MPIRT_Group_excl, MPIRT_Group_excl/INV_RANK, MPIRT_Group_excl/ARGUMENT */
static void test_choosing_members(void)
{
    MPIRT_Group first, rest, refused, predefined = MPIRT_GROUP_WORLD;
    int ranks[2] = {0, 0}, beyond, size, own;
    beyond = members;
    CHECK(members >= 1 && rank >= 0 && rank < members);
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, ranks, "first", &first));
    OK(MPIRT_Group_size(first, &size));
    CHECK(size == 1);
    OK(MPIRT_Group_rank(first, &own));
    CHECK(own == (rank == 0 ? 0 : MPIRT_RANK_UNDEFINED));
    OK(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, ranks, "rest", &rest));
    OK(MPIRT_Group_size(rest, &size));
    CHECK(size == members - 1);
    OK(MPIRT_Group_rank(rest, &own));
    CHECK(own == (rank == 0 ? MPIRT_RANK_UNDEFINED : rank - 1));
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 2, ranks, "twice", &refused), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 2, ranks, "twice", &refused), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &beyond, "beyond", &refused), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, &beyond, "beyond", &refused), MPIRT_ERR_INV_RANK);
    beyond = -1;
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &beyond, "before", &refused), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, &beyond, "before", &refused), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_WORLD, -1, ranks, "negative", &refused), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Group_excl(MPIRT_GROUP_WORLD, -1, ranks, "negative", &refused), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, NULL, "null", &refused), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, ranks, "null", NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Group_incl(MPIRT_GROUP_NULL, 1, ranks, "null", &refused), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Group_size(first, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Group_rank(MPIRT_GROUP_NULL, &own), MPIRT_ERR_NULL_OBJECT);
    EXPECT(MPIRT_Group_free(&predefined), MPIRT_ERR_UNDEF_FOR_OBJECT);
    OK(MPIRT_Group_free(&first));
    EXPECT(MPIRT_Group_free(&first), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Group_free(&rest));
}

/* spec: MPIRT_Group_union, MPIRT_Group_intersection, MPIRT_Group_difference, MPIRT_Group_compare */
/* spec: GROUP-TRANSLATE-01, GROUP-COMPARE-01 */
/* spec: MPIRT_Group_translate_ranks, MPIRT_Group_translate_ranks/INV_RANK, MPIRT_Group_translate_ranks/ARGUMENT */
static void test_groups_of_groups(void)
{
    MPIRT_Group first, rest, backwards, made;
    int zero = 0, ranks[4], translated[4], size, compared;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, &zero, "first", &first));
    OK(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, &zero, "rest", &rest));
    for (int place = 0; place < members; place++)
        ranks[place] = members - 1 - place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, members, ranks, "backwards", &backwards));
    OK(MPIRT_Group_compare(MPIRT_GROUP_WORLD, backwards, &compared));
    CHECK(compared == (members == 1 ? MPIRT_IDENTICAL : MPIRT_SIMILAR));
    OK(MPIRT_Group_compare(first, rest, &compared));
    CHECK(compared == MPIRT_UNEQUAL);
    OK(MPIRT_Group_union(first, rest, "union", &made));
    OK(MPIRT_Group_compare(made, MPIRT_GROUP_WORLD, &compared));
    CHECK(compared == MPIRT_IDENTICAL);
    OK(MPIRT_Group_free(&made));
    OK(MPIRT_Group_intersection(backwards, rest, "intersection", &made));
    OK(MPIRT_Group_size(made, &size));
    CHECK(size == members - 1);
    OK(MPIRT_Group_free(&made));
    OK(MPIRT_Group_difference(backwards, rest, "difference", &made));
    OK(MPIRT_Group_compare(made, first, &compared));
    CHECK(compared == MPIRT_IDENTICAL);
    OK(MPIRT_Group_translate_ranks(backwards, members, ranks, MPIRT_GROUP_WORLD, translated));
    for (int place = 0; place < members; place++)
        CHECK(translated[place] == place);
    OK(MPIRT_Group_translate_ranks(MPIRT_GROUP_WORLD, 1, &zero, rest, translated));
    CHECK(translated[0] == MPIRT_RANK_UNDEFINED);
    size = members;
    EXPECT(MPIRT_Group_translate_ranks(backwards, 1, &size, rest, translated), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Group_translate_ranks(backwards, -1, ranks, rest, translated), MPIRT_ERR_ARGUMENT);
    EXPECT(MPIRT_Group_translate_ranks(backwards, 1, ranks, rest, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Group_compare(first, rest, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRT_Group_union(MPIRT_GROUP_NULL, rest, "u", &made), MPIRT_ERR_NULL_OBJECT);
}

/* spec: MPIRTX_Group_get_member_name, MPIRTX_Group_get_member_name/INV_RANK, MPIRTX_Group_find_member */
/* spec: GROUP-NAME-01, GROUP-WORLD-03 */
static void test_members_have_names(void)
{
    char name[MPIRT_NAME_MAX], endless[2 * MPIRT_NAME_MAX];
    int found = -2, ends[1] = {0}, reversed[4];
    MPIRT_Group first, backwards;
    memset(endless, 'x', sizeof endless);
    OK(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, rank, name));
    CHECK(atoi(name) == rank);
    EXPECT(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, members, name), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, -1, name), MPIRT_ERR_INV_RANK);
    EXPECT(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, rank, NULL), MPIRT_ERR_NULL_POINTER);
    OK(MPIRTX_Group_find_member(MPIRT_GROUP_WORLD, name, &found));
    CHECK(found == rank);
    OK(MPIRTX_Group_find_member(MPIRT_GROUP_WORLD, "nobody", &found));
    CHECK(found == MPIRT_RANK_UNDEFINED);
    /* In another group a rank is that of the group, and so is what is found. */
    for (int place = 0; place < members; place++)
        reversed[place] = members - 1 - place;
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, members, reversed, "backwards", &backwards));
    for (int place = 0; place < members; place++) {
        char other[MPIRT_NAME_MAX], same[MPIRT_NAME_MAX];
        OK(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, place, other));
        OK(MPIRTX_Group_get_member_name(backwards, members - 1 - place, same));
        CHECK(strcmp(other, same) == 0 && atoi(other) == place);
        OK(MPIRTX_Group_find_member(MPIRT_GROUP_WORLD, other, &found));
        CHECK(found == place);
        OK(MPIRTX_Group_find_member(backwards, other, &found));
        CHECK(found == members - 1 - place);
    }
    OK(MPIRT_Group_free(&backwards));
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, ends, "first", &first));
    EXPECT(MPIRTX_Group_get_member_name(first, 1, endless), MPIRT_ERR_INV_RANK);
    OK(MPIRTX_Group_find_member(first, name, &found));
    CHECK(found == (rank == 0 ? 0 : MPIRT_RANK_UNDEFINED));
    EXPECT(MPIRTX_Group_find_member(first, NULL, &found), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Group_find_member(first, name, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Group_find_member(first, endless, &found), MPIRT_ERR_NAME);
    EXPECT(MPIRTX_Group_find_member(MPIRT_GROUP_NULL, name, &found), MPIRT_ERR_NULL_OBJECT);
    OK(MPIRT_Group_free(&first));
    EXPECT(MPIRTX_Group_find_member(first, name, &found), MPIRT_ERR_NULL_OBJECT);
}

/* spec: GROUP-SUB-01, CHANNEL-PT-01, CHANNEL-MATCH-01 */
/* In each of two groups a channel of the same name: they are two channels. */
static void test_names_match_within_a_group(void)
{
    int last = members - 1, ends[2] = {0, last};
    MPIRT_Group pair;
    MPIRT_Bufiter in, out;
    MPIRT_Channel there, here;
    MPIRT_Buffer buffer;
    int64_t number;
    void *base;
    if (members < 2 || (rank != 0 && rank != last)) {
        OK(MPIRT_Commit());
        OK(MPIRT_Uncommit());
        return;
    }
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 2, ends, "pair", &pair));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT64, MPIRT_CONTAINER_NULL, &in));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT64, MPIRT_CONTAINER_NULL, &out));
    OK(MPIRT_Ptchannel_create("same", in, out, 0, last, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &there));
    OK(MPIRT_Ptchannel_create("same", in, out, 0, 1, pair, MPIRT_QOS_NULL, &here));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_INT64, &buffer));
    OK(MPIRT_Commit());
    for (int64_t round = 0; round < 2; round++) {
        MPIRT_Channel channel = round == 0 ? there : here;
        OK(MPIRT_Channel_start(channel));
        OK(MPIRT_Buffer_get_base(buffer, &base));
        number = 7 + round;
        if (rank == 0)
            memcpy(base, &number, sizeof number);
        /* The started transfer waited for it. */
        OK(MPIRT_Bufiter_insert(in, buffer));
        MUST(MPIRT_Channel_wait(channel, INT64_C(10000000000)));
        MUST(MPIRT_Bufiter_remove(out, &buffer));
        memcpy(&number, base, sizeof number);
        CHECK(number == 7 + round);
    }
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_the_world_is_everybody();
    test_choosing_members();
    test_groups_of_groups();
    test_members_have_names();
    test_names_match_within_a_group();
    return end();
}
