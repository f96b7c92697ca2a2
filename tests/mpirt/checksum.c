/* The sender's program writes into a message that it has sent: a channel with a checksum notices, one without does not. Member 0 sends on
 * both, damages both messages, and then says so. */
#include "harness.h"

enum { WORDS = 16, BYTES = WORDS * sizeof(int64_t) };
static const MPIRT_Timespec forever = INT64_C(60000000000);

struct pair {
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffer;
    MPIRT_Channel channel;
};

/* One buffer at each end, which are one in memory. */
static struct pair pair(const char *name)
{
    struct pair made;
    MPIRT_Object all[1];
    MPIRT_Cvector allowed;
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, BYTES, MPIRT_INT64, &made.buffer));
    all[0] = MPIRT_OBJECT(made.buffer);
    OK(MPIRT_Cvector_create(NULL, 1, all, &allowed));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO_MAPPED, BYTES, MPIRT_INT64, MPIRT_CONTAINER(allowed), &made.in));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, BYTES, MPIRT_INT64, MPIRT_CONTAINER(allowed), &made.out));
    OK(MPIRT_Cvector_free(&allowed));
    MUST(MPIRT_Ptchannel_create(name, made.in, made.out, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made.channel));
    OK(MPIRT_Bufiter_insert(made.in, made.buffer));
    return made;
}

static int64_t *words_of(const struct pair *pair)
{
    void *base = NULL;
    OK(MPIRT_Buffer_get_base(pair->buffer, &base));
    return base;
}

/* spec: MPIRTX_Channel_get_checksum, MPIRTX_Channel_set_checksum */
static void test_attribute(MPIRT_Channel channel)
{
    int checksum = -1;
    OK(MPIRTX_Channel_get_checksum(channel, &checksum));
    CHECK(checksum == 0);
    OK(MPIRTX_Channel_set_checksum(channel, 1));
    OK(MPIRTX_Channel_get_checksum(channel, &checksum));
    CHECK(checksum == 1);
    EXPECT(MPIRTX_Channel_get_checksum(channel, NULL), MPIRT_ERR_NULL_POINTER);
    EXPECT(MPIRTX_Channel_set_checksum(MPIRT_CHANNEL_NULL, 1), MPIRT_ERR_NULL_OBJECT);
}

/* Both ends say what they want, and member 1 the contrary: the commit names both. */
static void test_mismatch(const struct pair *pair)
{
    OK(MPIRTX_Channel_set_checksum(pair->channel, rank == 0));
    EXPECT(MPIRT_Commit(), MPIRT_ERR_MISMATCH);
    CHECK(detail_says("checksum") && detail_says("member \"0\"") && detail_says("member \"1\""));
    OK(MPIRTX_Channel_set_checksum(pair->channel, 1));
}

int main(int argc, char **argv)
{
    struct pair checked, unchecked, go;
    MPIRTX_Status status;
    MPIRTX_Channel_metrics metrics;
    begin(&argc, &argv);
    checked = pair("checked");
    unchecked = pair("unchecked");
    go = pair("go");
    test_attribute(checked.channel);
    test_mismatch(&checked);
    MUST(MPIRT_Commit());
    if (rank == 0) {
        int64_t *first = words_of(&checked), *second = words_of(&unchecked);
        for (int word = 0; word < WORDS; word++)
            first[word] = second[word] = word;
        OK(MPIRT_Channel_start(checked.channel));
        OK(MPIRT_Channel_start(unchecked.channel));
        first[WORDS - 1] ^= 1;
        second[WORDS - 1] ^= 1;
        OK(MPIRT_Channel_start(go.channel));
        OK(MPIRT_Channel_wait(checked.channel, forever));
        OK(MPIRT_Channel_wait(unchecked.channel, forever));
    } else {
        OK(MPIRT_Channel_start(go.channel));
        OK(MPIRT_Channel_wait(go.channel, forever));
        OK(MPIRT_Channel_start(checked.channel));
        EXPECT(MPIRT_Channel_wait(checked.channel, forever), MPIRT_ERR_MISSED);
        OK(MPIRTX_Channel_get_status(checked.channel, &status));
        CHECK(status.outcome == MPIRTX_OUTCOME_INVALID && status.instance == 0);
        OK(MPIRTX_Channel_get_metrics(checked.channel, &metrics));
        CHECK(metrics.invalid == 1 && metrics.completed == 0);
        OK(MPIRT_Channel_start(unchecked.channel));
        OK(MPIRT_Channel_wait(unchecked.channel, forever));
        CHECK(words_of(&unchecked)[WORDS - 1] == ((WORDS - 1) ^ 1));
    }
    OK(MPIRT_Uncommit());
    return end();
}
