/* Point-to-point channels: transfers between member 0 and the others, and within member 0 when it is alone. */
#include "harness.h"

enum { SIZE = 8, TRANSFERS = 200 };
static const MPIRT_Timespec patience = INT64_C(10000000000);

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static struct end channel(const char *name, int source, int target)
{
    struct end end = {iterator(), iterator(), MPIRT_CHANNEL_NULL};
    OK(MPIRT_Ptchannel_create(name, end.in, end.out, source, target, MPIRT_GROUP_WORLD, channel_qos(), &end.channel));
    return end;
}

/* spec: MPIRT_Ptchannel_create, MPIRT_Ptchannel_create/INV_RANK, MPIRT_Ptchannel_create/NOT_MEMBER, MPIRT_Channel_free */
/* spec: MPIRT_Channel_get_inbufiter, MPIRT_Channel_get_outbufiter */
static void test_ends_of_a_channel(void)
{
    struct end end = channel("attributes", rank, (rank + 1) % members);
    MPIRT_Bufiter found;
    MPIRT_Channel other;
    OK(MPIRT_Channel_get_inbufiter(end.channel, &found));
    CHECK(found.bits == end.in.bits);
    OK(MPIRT_Channel_get_outbufiter(end.channel, &found));
    CHECK(found.bits == end.out.bits);
    OK(MPIRT_Channel_set_inbufiter(end.channel, end.out));
    OK(MPIRT_Channel_set_outbufiter(end.channel, MPIRT_BUFITER_NULL));
    OK(MPIRT_Channel_get_outbufiter(end.channel, &found));
    CHECK(found.bits == 0);
    EXPECT(MPIRT_Ptchannel_create("c", end.in, end.out, members, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &other),
           MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Ptchannel_create("c", end.in, end.out, -1, rank, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &other),
           MPIRT_ERR_INV_RANK);
    EXPECT(MPIRT_Ptchannel_create("c", end.in, end.out, rank, rank, MPIRT_GROUP_NULL, MPIRT_QOS_NULL, &other),
           MPIRT_ERR_NULL_OBJECT);
    if (members > 2) {
        int one = (rank + 1) % members, another = (rank + 2) % members;
        EXPECT(MPIRT_Ptchannel_create("c", end.in, end.out, one, another, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &other),
               MPIRT_ERR_NOT_MEMBER);
    }
    EXPECT(MPIRT_Channel_start(end.channel), MPIRT_ERR_NOT_COMMITTED);
    OK(MPIRT_Channel_free(&end.channel));
    OK(MPIRT_Bufiter_free(&end.in));
    OK(MPIRT_Bufiter_free(&end.out));
}

static void stock(MPIRT_Bufiter where)
{
    MPIRT_Buffer buffer;
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_INT64, &buffer));
    OK(MPIRT_Bufiter_insert(where, buffer));
}

static void send(const struct end *end, int64_t number)
{
    MPIRT_Buffer buffer;
    void *base;
    MUST(MPIRT_Bufiter_remove(end->out, &buffer));
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    memcpy(base, &number, sizeof number);
    OK(MPIRT_Bufiter_insert(end->in, buffer));
    OK(MPIRT_Channel_start(end->channel));
}

static void receive(const struct end *end, int64_t expected)
{
    MPIRT_Buffer buffer;
    int64_t number;
    void *base;
    MUST(MPIRT_Channel_wait(end->channel, patience));
    MUST(MPIRT_Bufiter_remove(end->out, &buffer));
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    memcpy(&number, base, sizeof number);
    CHECK(number == expected);
    OK(MPIRT_Bufiter_insert(end->in, buffer));
}

/* Member 0 sends numbers to every other and gets them back, two-sided. */
/* spec: MPIRT_Channel_start/SLACK */
static void test_two_sided_transfers(void)
{
    struct end there[4], back[4];
    int peers = members - 1, flag;
    if (members == 1)
        return;
    for (int peer = 1; peer <= peers; peer++) {
        char name[MPIRT_NAME_MAX];
        if (rank != 0 && rank != peer)
            continue;
        snprintf(name, sizeof name, "there-%d", peer);
        there[peer - 1] = channel(name, 0, peer);
        snprintf(name, sizeof name, "back-%d", peer);
        back[peer - 1] = channel(name, peer, 0);
        stock(rank == 0 ? there[peer - 1].out : there[peer - 1].in);
        stock(rank == 0 ? back[peer - 1].in : back[peer - 1].out);
    }
    OK(MPIRT_Commit());
    for (int peer = 1; peer <= peers; peer++) {
        const struct end *mine = rank == 0 ? &back[peer - 1] : &there[peer - 1];
        if (rank != 0 && rank != peer)
            continue;
        EXPECT(MPIRT_Channel_wait(mine->channel, 0), MPIRT_ERR_NOT_STARTED);
        EXPECT(MPIRT_Channel_test(mine->channel, &flag), MPIRT_ERR_NOT_STARTED);
        for (int64_t number = 0; number < TRANSFERS; number++) {
            OK(MPIRT_Channel_start(mine->channel));
            if (rank == 0) {
                /* Nothing can have come: the peer answers what is sent below. */
                EXPECT(MPIRT_Channel_start(mine->channel), MPIRT_ERR_SLACK);
                OK(MPIRT_Channel_test(mine->channel, &flag));
                CHECK(flag == 0);
                EXPECT(MPIRT_Channel_wait(mine->channel, 1000), MPIRT_ERR_TIMEOUT);
                send(&there[peer - 1], number);
            }
            receive(mine, number);
            OK(MPIRT_Channel_test(mine->channel, &flag));
            CHECK(flag == 1);
            if (rank != 0) {
                send(&back[peer - 1], number);
                OK(MPIRT_Channel_wait(back[peer - 1].channel, patience));
            } else {
                OK(MPIRT_Channel_wait(there[peer - 1].channel, patience));
            }
        }
    }
    OK(MPIRT_Uncommit());
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_ends_of_a_channel();
    test_two_sided_transfers();
    return end();
}
