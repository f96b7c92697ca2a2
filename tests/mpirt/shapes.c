/* What iterators of one end, and the two ends of a channel, have to be alike in. Channels go from member 0 to member 1. */
#include "harness.h"

static const MPIRT_Timespec patience = INT64_C(10000000000);

static MPIRT_Bufiter iterator(size_t size, MPIRT_Dataspec dataspec)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, size, dataspec, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* spec: CHANNEL-ITER-03 */
static void test_the_iterators_of_one_end_are_alike(void)
{
    MPIRT_Bufiter narrow = iterator(8, MPIRT_INT64), wide = iterator(16, MPIRT_INT64), real = iterator(8, MPIRT_DOUBLE);
    MPIRT_Bufiter wrong[2] = {wide, real};
    MPIRT_Channel channel;
    /* Each may be set before the other; that both are alike is asked at commit. */
    MUST(MPIRT_Ptchannel_create("alike", narrow, wide, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    for (int place = 0; place < 2; place++) {
        OK(MPIRT_Channel_set_inbufiter(channel, narrow));
        OK(MPIRT_Channel_set_outbufiter(channel, wrong[place]));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        CHECK(detail_says("\"alike\"") && detail_says("8 bytes of int64") && detail_says(place == 0 ? "16 bytes of int64" : "8 bytes of double"));
        OK(MPIRT_Channel_set_inbufiter(channel, wrong[place]));
        OK(MPIRT_Channel_set_outbufiter(channel, narrow));
        EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
    }
    OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&narrow));
    OK(MPIRT_Bufiter_free(&wide));
    OK(MPIRT_Bufiter_free(&real));
}

/* Commits a channel whose ends have these dataspecs, and carries a message over it if that succeeds. */
static int commits(const MPIRT_Dataspec dataspecs[2])
{
    MPIRT_Dataspec own = dataspecs[rank == 1];
    MPIRT_Bufiter in = iterator(8, own), out = iterator(8, own);
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    MPIRT_Buffer buffer;
    int committed;
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, own, &buffer));
    OK(MPIRT_Bufiter_insert(in, buffer));
    if (rank < 2)
        MUST(MPIRT_Ptchannel_create("typed", in, out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    committed = MPIRT_Commit();
    if (committed == MPIRT_SUCCESS) {
        if (rank < 2) {
            OK(MPIRT_Channel_start(channel));
            OK(MPIRT_Channel_wait(channel, patience));
        }
        OK(MPIRT_Uncommit());
    }
    if (rank < 2)
        OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&in));
    OK(MPIRT_Bufiter_free(&out));
    OK(MPIRT_Buffer_free(&buffer));
    return committed;
}

/* spec: CHANNEL-MATCH-02 */
static void test_the_ends_of_a_channel_agree_in_size(void)
{
    MPIRT_Bufiter both = iterator(rank == 1 ? 16 : 8, MPIRT_INT64);
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    if (rank < 2)
        MUST(MPIRT_Ptchannel_create("sized", both, both, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("channel \"sized\"") && detail_says("size differs"));
    CHECK(detail_says("member \"0\" says 8 B") && detail_says("member \"1\" says 16 B"));
    if (rank < 2)
        OK(MPIRT_Channel_free(&channel));
    OK(MPIRT_Bufiter_free(&both));
}

/* spec: BUFFER-SPEC-04, CHANNEL-MATCH-02 */
static void test_the_ends_of_a_channel_agree_in_what_the_bytes_mean(void)
{
    static const MPIRT_Dataspec alike[5][2] = {
        {MPIRT_INT64, MPIRT_INT64}, {MPIRT_INT, MPIRT_INT32}, {MPIRT_UINT8, MPIRT_BYTE},
        {MPIRT_FLOAT, MPIRT_FLOAT32}, {MPIRT_FLOAT64, MPIRT_DOUBLE},
    };
    static const MPIRT_Dataspec different[6][2] = {
        {MPIRT_INT, MPIRT_UINT32}, {MPIRT_INT64, MPIRT_DOUBLE}, {MPIRT_CHAR, MPIRT_BYTE},
        {MPIRT_TIME, MPIRT_INT64}, {MPIRT_LOGICAL, MPIRT_INT}, {MPIRT_INT8, MPIRT_BYTE},
    };
    for (int place = 0; place < 5; place++)
        EXPECT(commits(alike[place]), MPIRT_SUCCESS);
    for (int place = 0; place < 6; place++) {
        EXPECT(commits(different[place]), MPIRT_ERR_MISMATCH);
        CHECK(detail_says("channel \"typed\"") && detail_says("dataspec differs"));
        CHECK(detail_says("member \"0\" says") && detail_says("member \"1\" says"));
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (members > 1) {
        if (rank < 2)
            test_the_iterators_of_one_end_are_alike();
        for (int others = 0; rank > 1 && others < 4; others++)
            EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
        test_the_ends_of_a_channel_agree_in_size();
        test_the_ends_of_a_channel_agree_in_what_the_bytes_mean();
    }
    return end();
}
