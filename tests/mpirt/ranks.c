/* Ranks and members' names, told for the job's manifest to be compared with; groups that match at commit. */
#include "harness.h"

static MPIRT_Channel channel_in(MPIRT_Group group, MPIRT_Bufiter iterator)
{
    MPIRT_Channel made;
    OK(MPIRT_Ptchannel_create("within", iterator, iterator, 0, 1, group, MPIRT_QOS_NULL, &made));
    return made;
}

/* Made in different ways, with the same members in the same order they are one group; in another order they are not. */
/* spec: GROUP-MATCH-02 */
static void test_groups_without_names_match_by_their_members(void)
{
    static const int forth[2] = {0, 1}, back[2] = {1, 0}, only[1] = {0};
    MPIRT_Group all, first, group, reversed;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel;
    if (members != 2)
        return;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 2, back, NULL, &reversed));
    if (rank == 0) {
        OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 2, forth, NULL, &group));
    } else {
        OK(MPIRT_Group_incl(MPIRT_GROUP_WORLD, 1, only, NULL, &first));
        OK(MPIRT_Group_excl(MPIRT_GROUP_WORLD, 1, only, NULL, &all));
        OK(MPIRT_Group_union(first, all, NULL, &group));
    }
    channel = channel_in(group, iterator);
    OK(MPIRT_Commit());
    OK(MPIRT_Uncommit());
    OK(MPIRT_Channel_free(&channel));
    /* Member 0 is rank 0 of one and rank 1 of the other, so either way it is an end of both. */
    channel = channel_in(rank == 0 ? group : reversed, iterator);
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    OK(MPIRT_Channel_free(&channel));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    for (int other = 0; other < members; other++) {
        char name[MPIRT_NAME_MAX];
        OK(MPIRTX_Group_get_member_name(MPIRT_GROUP_WORLD, other, name));
        printf("to %d rank %d is %s\n", rank, other, name);
    }
    test_groups_without_names_match_by_their_members();
    return end();
}
