/* Collective channels with best effort: what each kind delivers, in groups of every size, and how their ends are used. */
#include "collective.h"

enum { TRANSFERS = 20 };

/* Every kind, from every root, in the world. */
/* spec: COLLECTIVE-CREATE-01, COLLECTIVE-CREATE-03, COLLECTIVE-BCAST-01, COLLECTIVE-SCATTER-01, COLLECTIVE-GATHER-01 */
/* spec: COLLECTIVE-REDUCE-01, COLLECTIVE-ALLTOALL-01, COLLECTIVE-ALLTOALL-02, COLLECTIVE-ONE-01, COLLECTIVE-START-01 */
/* spec: COLLECTIVE-CREATE-02, MPIRT_Bcast_channel_create, MPIRT_Scatter_channel_create, MPIRT_Gather_channel_create */
/* spec: MPIRT_Reduce_channel_create, MPIRT_Barrier_channel_create, MPIRT_Alltoall_channel_create */
static void test_every_kind_delivers(void)
{
    struct end ends[KINDS][4];
    int flag;
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++) {
            char name[MPIRT_NAME_MAX];
            snprintf(name, sizeof name, "kind-%d-root-%d", kind, root);
            ends[kind][root] = make_end(kind, name, root, MPIRT_QOS_NULL);
        }
    }
    MUST(MPIRT_Commit());
    for (int64_t transfer = 0; transfer < TRANSFERS; transfer++) {
        for (int kind = 0; kind < KINDS; kind++) {
            for (int root = 0; root < members; root++) {
                struct end *end = &ends[kind][root];
                if (transfer == 0)
                    EXPECT(MPIRT_Channel_wait(end->channel, patience), MPIRT_ERR_NOT_STARTED);
                provide(end, transfer);
                OK(MPIRT_Channel_start(end->channel));
                MUST(MPIRT_Channel_wait(end->channel, patience));
                OK(MPIRT_Channel_test(end->channel, &flag));
                CHECK(flag == 1);
                check(end, transfer);
            }
        }
    }
    OK(MPIRT_Uncommit());
    for (int kind = 0; kind < KINDS; kind++) {
        for (int root = 0; root < members; root++)
            free_end(&ends[kind][root]);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_every_kind_delivers();
    return end();
}
