/* Buffer iterators with each policy and form, at both ends of a channel. */
#include "harness.h"

enum { SIZE = 4096, COUNT = 3, ROUNDS = 12 };
static const MPIRT_Timespec patience = INT64_C(10000000000);

struct side {
    MPIRT_Buffer buffers[COUNT];
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
};

static MPIRT_Container vector_of(const MPIRT_Buffer *buffers, int count)
{
    MPIRT_Object objects[COUNT];
    MPIRT_Cvector made;
    for (int place = 0; place < count; place++)
        objects[place] = MPIRT_OBJECT(buffers[place]);
    OK(MPIRT_Cvector_create("allowed", count, objects, &made));
    return MPIRT_CONTAINER(made);
}

static char own[2][COUNT][SIZE];

/* This member's end of a channel from 0 to 1, with an input iterator of a policy over `count` buffers. */
static struct side side(const char *name, MPIRT_Bufiter_policy policy, int count, int is_system)
{
    struct side side;
    for (int place = 0; place < count; place++) {
        void *base = is_system ? MPIRT_SYSTEM_MEM_ALLOC : own[rank][place];
        OK(MPIRT_Buffer_create(NULL, base, SIZE, MPIRT_BYTE, &side.buffers[place]));
        OK(MPIRT_Buffer_set_label(side.buffers[place], -place));
    }
    OK(MPIRT_Bufiter_create("in", policy, SIZE, MPIRT_BYTE, vector_of(side.buffers, count), &side.in));
    OK(MPIRT_Bufiter_create("out", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &side.out));
    OK(MPIRT_Ptchannel_create(name, side.in, side.out, 0, 1, MPIRT_GROUP_WORLD, channel_qos(), &side.channel));
    return side;
}

static void free_side(struct side *side, int count)
{
    OK(MPIRT_Channel_free(&side->channel));
    OK(MPIRT_Bufiter_free(&side->in));
    OK(MPIRT_Bufiter_free(&side->out));
    for (int place = 0; place < count; place++)
        OK(MPIRT_Buffer_free(&side->buffers[place]));
}

static int place_of(const struct side *side, MPIRT_Buffer buffer)
{
    for (int place = 0; place < COUNT; place++)
        if (side->buffers[place].bits == buffer.bits)
            return place;
    return -1;
}

static char *bytes(MPIRT_Buffer buffer)
{
    void *base;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    return base;
}

/* Messages of all lengths, in the order of the policy; each comes into the buffer of the same place when they are mapped. */
static void transfers(struct side *side, int is_mapped)
{
    static const size_t lengths[] = {SIZE, 0, 1, SIZE - 1};
    MPIRT_Buffer buffer;
    size_t length;
    int count;
    if (rank == 1 && !is_mapped)
        OK(MPIRT_Bufiter_insert(side->in, side->buffers[0]));
    for (int round = 0; round < ROUNDS; round++) {
        int place = round % COUNT;
        size_t expected = lengths[round % 4];
        if (rank == 0) {
            buffer = side->buffers[place];
            memset(bytes(buffer), 'a' + round, SIZE);
            /* What was set for an earlier message does not hold for a later one. */
            if (expected < SIZE)
                OK(MPIRTX_Buffer_set_length(buffer, expected));
            OK(MPIRT_Bufiter_insert(side->in, buffer));
            OK(MPIRT_Channel_start(side->channel));
            MUST(MPIRT_Channel_wait(side->channel, patience));
            /* A buffer that the receiver still reads comes back later. */
            while (MPIRT_Bufiter_remove(side->out, &buffer) == MPIRT_ERR_EMPTY)
                CHECK(buffer.bits == 0);
            CHECK(place_of(side, buffer) == place);
            for (size_t byte = 0; byte < SIZE; byte++)
                CHECK(bytes(buffer)[byte] == 'a' + round);
        } else {
            uint64_t instance;
            MPIRT_Timespec inserted, now;
            OK(MPIRT_Channel_start(side->channel));
            MUST(MPIRT_Channel_wait(side->channel, patience));
            OK(MPIRTX_Bufiter_get_count(side->out, &count));
            CHECK(count == 1);
            MUST(MPIRT_Bufiter_remove(side->out, &buffer));
            OK(MPIRTX_Buffer_get_length(buffer, &length));
            CHECK(length == expected);
            for (size_t byte = 0; byte < length; byte++)
                CHECK(bytes(buffer)[byte] == 'a' + round);
            CHECK(place_of(side, buffer) == place);
            OK(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
            OK(MPIRT_Get_time(&now));
            CHECK(instance == (uint64_t)round && inserted > 0 && inserted <= now);
            if (is_mapped)
                OK(MPIRT_Bufiter_insert(side->in, buffer));
            else if (round + 1 < ROUNDS)
                OK(MPIRT_Bufiter_insert(side->in, side->buffers[(round + 1) % COUNT]));
        }
    }
}

/* spec: BUFITER-EVERY-01, BUFITER-MAPPED-01, BUFFER-LENGTH-01, BUFFER-LENGTH-02, BUFFER-LENGTH-03, CHANNEL-SIZE-01, CHANNEL-ALIAS-03 */
/* spec: BUFFER-CONTENT-01, BUFFER-IDENTITY-01, BUFITER-INSERT-01, BUFITER-REMOVE-02, BUFITER-REMOVE-03, BUFFER-MEMORY-01 */
/* spec: MPIRTX_Buffer_get_instance, MPIRTX_Buffer_get_length, MPIRTX_Buffer_set_length, MPIRTX_Bufiter_get_count */
static void test_every_policy_and_form_at_both_ends(void)
{
    for (int policy = MPIRT_BUFITER_FIFO; policy <= MPIRT_BUFITER_UNORDERED_ORDERED; policy++)
        for (int is_system = 0; is_system < 2; is_system++) {
            struct side mine;
            /* All may be there at once where messages are for certain buffers. */
            int is_mapped = policy >= MPIRT_BUFITER_FIFO_MAPPED
                            && (policy <= MPIRT_BUFITER_UNORDERED_MAPPED || is_system);
            if (rank < 2 && members > 1) {
                mine = side("every", (MPIRT_Bufiter_policy)policy, COUNT, is_system);
                if (rank == 1 && is_mapped)
                    for (int place = 0; place < COUNT; place++)
                        OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[place]));
            }
            MUST(MPIRT_Commit());
            for (int place = 0; rank < 2 && members > 1 && !is_system && place < COUNT; place++)
                CHECK(bytes(mine.buffers[place]) == own[rank][place]);
            if (rank < 2 && members > 1)
                transfers(&mine, is_mapped);
            OK(MPIRT_Uncommit());
            if (rank < 2 && members > 1)
                free_side(&mine, COUNT);
        }
}

/* All are in before the first transfer: the sender gives them by its base policy, and each comes into the one of its place. */
/* spec: BUFITER-MAPPED-06, BUFITER-ORDERED-04, BUFITER-MAPPED-01 */
static void test_the_sender_gives_by_its_base_policy(void)
{
    /* By base policy; labels fall with the place. */
    static const int orders[][COUNT] = {{0, 1, 2}, {2, 1, 0}, {2, 1, 0}};
    for (int policy = MPIRT_BUFITER_FIFO_MAPPED; members > 1 && policy <= MPIRT_BUFITER_UNORDERED_ORDERED; policy++) {
        struct side mine;
        MPIRT_Buffer buffer;
        int seen[COUNT] = {0, 0, 0};
        if (rank < 2) {
            mine = side("by-policy", (MPIRT_Bufiter_policy)policy, COUNT, 1);
            for (int place = 0; place < COUNT; place++)
                OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[place]));
        }
        MUST(MPIRT_Commit());
        for (int place = 0; rank == 0 && place < COUNT; place++)
            memset(bytes(mine.buffers[place]), 'a' + place, SIZE);
        for (int turn = 0; rank < 2 && turn < COUNT; turn++) {
            OK(MPIRT_Channel_start(mine.channel));
            MUST(MPIRT_Channel_wait(mine.channel, patience));
            if (rank == 1) {
                int place;
                MUST(MPIRT_Bufiter_remove(mine.out, &buffer));
                place = place_of(&mine, buffer);
                CHECK(place >= 0 && !seen[place] && bytes(buffer)[SIZE - 1] == 'a' + place);
                CHECK(policy % 4 == MPIRT_BUFITER_UNORDERED || place == orders[policy % 4][turn]);
                seen[place] = 1;
            }
        }
        OK(MPIRT_Uncommit());
        if (rank < 2)
            free_side(&mine, COUNT);
    }
}

/* spec: BUFITER-MAPPED-02, BUFITER-MAPPED-03 */
static void test_sets_that_do_not_belong_together(void)
{
    static const struct {
        MPIRT_Bufiter_policy policies[2];
        int counts[2], fits;
    } cases[] = {
        {{MPIRT_BUFITER_FIFO_MAPPED, MPIRT_BUFITER_LIFO_MAPPED}, {3, 3}, 1},
        {{MPIRT_BUFITER_FIFO_MAPPED, MPIRT_BUFITER_FIFO_MAPPED}, {3, 2}, 0},
        {{MPIRT_BUFITER_FIFO_MAPPED, MPIRT_BUFITER_FIFO}, {3, 3}, 0},
        {{MPIRT_BUFITER_SORTED, MPIRT_BUFITER_SORTED_MAPPED}, {3, 3}, 0},
        {{MPIRT_BUFITER_FIFO_ORDERED, MPIRT_BUFITER_FIFO_ORDERED}, {3, 2}, 1},
        {{MPIRT_BUFITER_FIFO_ORDERED, MPIRT_BUFITER_FIFO}, {3, 3}, 1},
    };
    for (size_t number = 0; members > 1 && number < sizeof cases / sizeof *cases; number++) {
        struct side mine;
        const char *detail;
        int code = cases[number].fits ? MPIRT_SUCCESS : MPIRT_ERR_MISMATCH;
        if (rank < 2)
            mine = side("pair", cases[number].policies[rank], cases[number].counts[rank], 1);
        EXPECT(MPIRT_Commit(), code);
        if (code == MPIRT_SUCCESS) {
            OK(MPIRT_Uncommit());
        } else {
            OK(MPIRTX_Error_detail(&detail));
            CHECK(strstr(detail, "set of allowed buffers") != NULL && strstr(detail, "mapped, 3 of them") != NULL);
            CHECK(strstr(detail, cases[number].counts[1] == 2 ? "mapped, 2 of them" : "not mapped") != NULL);
            CHECK(strstr(detail, "member-0") != NULL || strstr(detail, "\"0\"") != NULL);
            CHECK(strstr(detail, "member-1") != NULL || strstr(detail, "\"1\"") != NULL);
        }
        if (rank < 2)
            free_side(&mine, cases[number].counts[rank]);
    }
}

/* Where buffers are one, what the sender writes is what the receiver reads; where they are not, it is not. That the sender
 * writes after the transfer, while the receiver has the buffer, is here to show it. */
/* spec: BUFITER-ORDERED-03, MPIRT_Buffer_get_base, CHANNEL-ALIAS-02, CHANNEL-ALIAS-03, CHANNEL-ALIAS-04, BUFFER-STATE-01 */
/* spec: BUFITER-LATE-01, BUFITER-LATE-02 */
static void test_what_is_one_and_what_is_copied(void)
{
    static const struct {
        MPIRT_Bufiter_policy policies[2];
        int of_system[2], is_one;
    } cases[] = {
        {{MPIRT_BUFITER_FIFO_ORDERED, MPIRT_BUFITER_FIFO_ORDERED}, {1, 1}, 1},
        {{MPIRT_BUFITER_SORTED_MAPPED, MPIRT_BUFITER_LIFO_MAPPED}, {1, 1}, 1},
        {{MPIRT_BUFITER_FIFO_MAPPED, MPIRT_BUFITER_FIFO_ORDERED}, {1, 1}, 1},
        {{MPIRT_BUFITER_FIFO_MAPPED, MPIRT_BUFITER_FIFO_MAPPED}, {1, 0}, 0},
        {{MPIRT_BUFITER_FIFO_ORDERED, MPIRT_BUFITER_FIFO_ORDERED}, {0, 1}, 0},
        {{MPIRT_BUFITER_FIFO, MPIRT_BUFITER_FIFO}, {1, 1}, 0},
    };
    for (size_t number = 0; members > 1 && number < sizeof cases / sizeof *cases; number++) {
        struct side mine;
        struct message { MPIRT_Bufiter in, out; MPIRT_Channel channel; MPIRT_Buffer buffer; } turn[2];
        MPIRT_Buffer buffer;
        MPIRTX_Channel_metrics metrics;
        if (rank < 2) {
            mine = side("one", cases[number].policies[rank], COUNT, cases[number].of_system[rank]);
            /* One channel each way, to take turns. */
            for (int way = 0; way < 2; way++) {
                const char *names[2] = {"there", "back"};
                OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 1, MPIRT_BYTE, &turn[way].buffer));
                OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &turn[way].in));
                OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 1, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &turn[way].out));
                OK(MPIRT_Bufiter_insert(turn[way].in, turn[way].buffer));
                OK(MPIRT_Ptchannel_create(names[way], turn[way].in, turn[way].out, way, 1 - way, MPIRT_GROUP_WORLD,
                                          channel_qos(), &turn[way].channel));
            }
        }
        MUST(MPIRT_Commit());
        if (rank == 0) {
            memset(bytes(mine.buffers[0]), 'x', SIZE);
            OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[0]));
            OK(MPIRT_Channel_start(mine.channel));
            MUST(MPIRT_Channel_wait(mine.channel, patience));
            OK(MPIRT_Channel_start(turn[1].channel));
            MUST(MPIRT_Channel_wait(turn[1].channel, patience));
            /* The receiver has it now: where it is the same, it is not back. */
            EXPECT(MPIRT_Bufiter_remove(mine.out, &buffer), cases[number].is_one ? MPIRT_ERR_EMPTY : MPIRT_SUCCESS);
            EXPECT(MPIRT_Bufiter_insert(mine.in, mine.buffers[0]),
                   cases[number].is_one ? MPIRT_ERR_BUFFER_IN_USE
                   : cases[number].policies[0] == MPIRT_BUFITER_FIFO_ORDERED ? MPIRT_ERR_NOT_ALLOWED : MPIRT_SUCCESS);
            bytes(mine.buffers[0])[SIZE / 2] = 'y';
            OK(MPIRT_Channel_start(turn[0].channel));
            MUST(MPIRT_Channel_wait(turn[0].channel, patience));
        } else if (rank == 1) {
            OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[0]));
            OK(MPIRT_Channel_start(mine.channel));
            MUST(MPIRT_Channel_wait(mine.channel, patience));
            MUST(MPIRT_Bufiter_remove(mine.out, &buffer));
            CHECK(bytes(buffer)[SIZE / 2] == 'x');
            OK(MPIRT_Channel_start(turn[1].channel));
            MUST(MPIRT_Channel_wait(turn[1].channel, patience));
            OK(MPIRT_Channel_start(turn[0].channel));
            MUST(MPIRT_Channel_wait(turn[0].channel, patience));
            CHECK(bytes(buffer)[SIZE / 2] == (cases[number].is_one ? 'y' : 'x'));
        }
        if (rank < 2) {
            /* Each input iterator has its allowed set: no copy is one of late binding. */
            OK(MPIRTX_Channel_get_metrics(mine.channel, &metrics));
            CHECK(metrics.completed == 1 && metrics.late_binding_copies == 0);
        }
        OK(MPIRT_Uncommit());
        if (rank < 2) {
            free_side(&mine, COUNT);
            for (int way = 0; way < 2; way++) {
                OK(MPIRT_Channel_free(&turn[way].channel));
                OK(MPIRT_Bufiter_free(&turn[way].in));
                OK(MPIRT_Bufiter_free(&turn[way].out));
                OK(MPIRT_Buffer_free(&turn[way].buffer));
            }
        }
    }
}

/* The receiver's i-th is not there: the message waits for it, and others behind it. */
/* spec: BUFITER-MAPPED-05, CHANNEL-WAIT-03 */
static void test_a_message_without_its_buffer(void)
{
    struct side mine;
    MPIRT_Buffer buffer;
    int flag;
    if (rank < 2 && members > 1)
        mine = side("without", MPIRT_BUFITER_FIFO_MAPPED, COUNT, 1);
    MUST(MPIRT_Commit());
    if (rank == 0 && members > 1) {
        OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[2]));
        OK(MPIRT_Channel_start(mine.channel));
        MUST(MPIRT_Channel_wait(mine.channel, patience));
        while (MPIRT_Bufiter_remove(mine.out, &buffer) == MPIRT_ERR_EMPTY)
            continue;
        CHECK(place_of(&mine, buffer) == 2);
    } else if (rank == 1) {
        OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[0]));
        OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[1]));
        OK(MPIRT_Channel_start(mine.channel));
        EXPECT(MPIRT_Channel_wait(mine.channel, 20000000), MPIRT_ERR_TIMEOUT);
        OK(MPIRT_Channel_test(mine.channel, &flag));
        CHECK(flag == 0);
        OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[2]));
        MUST(MPIRT_Channel_wait(mine.channel, patience));
        MUST(MPIRT_Bufiter_remove(mine.out, &buffer));
        CHECK(place_of(&mine, buffer) == 2);
        OK(MPIRT_Bufiter_insert(mine.in, buffer));
    }
    OK(MPIRT_Uncommit());
    if (rank < 2 && members > 1)
        free_side(&mine, COUNT);
}

/* A MAPPED iterator gives by its policy or by what a message is for, not both. */
static void test_one_mapped_iterator_both_ways(void)
{
    MPIRT_Buffer made[COUNT];
    MPIRT_Bufiter both;
    MPIRT_Channel channels[2];
    const char *detail;
    for (int place = 0; place < COUNT; place++)
        OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &made[place]));
    OK(MPIRT_Bufiter_create("both", MPIRT_BUFITER_FIFO_MAPPED, SIZE, MPIRT_BYTE, vector_of(made, COUNT), &both));
    if (members == 1)
        return;
    if (rank < 2) {
        OK(MPIRT_Ptchannel_create("one", both, both, 0, 1, MPIRT_GROUP_WORLD, channel_qos(), &channels[0]));
        OK(MPIRT_Ptchannel_create("other", both, both, 1, 0, MPIRT_GROUP_WORLD, channel_qos(), &channels[1]));
    }
    EXPECT(MPIRT_Commit(), MPIRT_ERR_ARGUMENT);
    OK(MPIRTX_Error_detail(&detail));
    CHECK(strstr(detail, "use one for each") != NULL);
    if (rank < 2) {
        OK(MPIRT_Channel_free(&channels[0]));
        OK(MPIRT_Channel_free(&channels[1]));
    }
}

/* One input iterator serves two channels, and what one gives back the other sends on. */
/* spec: BUFITER-SHARE-01, BUFITER-SHARE-02, BUFITER-SHARE-03 */
static void test_iterators_that_channels_share(void)
{
    enum { MESSAGES = 6 };
    MPIRT_Bufiter store = MPIRT_BUFITER_NULL, arrived = MPIRT_BUFITER_NULL;
    MPIRT_Channel channels[3];
    MPIRT_Buffer buffer, made[COUNT];
    size_t length;
    if (members < 2)
        return;
    if (rank < 2) {
        for (int place = 0; place < COUNT; place++)
            OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &made[place]));
        OK(MPIRT_Bufiter_create("store", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &store));
        OK(MPIRT_Bufiter_create("arrived", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &arrived));
        /* Member 0 sends from one store on both and gets its buffers back there; member 1 sends on what arrives. */
        OK(MPIRT_Ptchannel_create("a", store, rank == 0 ? store : arrived, 0, 1, MPIRT_GROUP_WORLD, channel_qos(),
                                  &channels[0]));
        OK(MPIRT_Ptchannel_create("b", store, rank == 0 ? store : arrived, 0, 1, MPIRT_GROUP_WORLD, channel_qos(),
                                  &channels[1]));
        OK(MPIRT_Ptchannel_create("back", rank == 0 ? arrived : arrived, rank == 0 ? arrived : store, 1, 0,
                                  MPIRT_GROUP_WORLD, channel_qos(), &channels[2]));
    }
    OK(MPIRT_Commit());
    if (rank == 0) {
        for (int place = 0; place < COUNT; place++)
            memset(bytes(made[place]), 'a' + place, SIZE);
        OK(MPIRTX_Buffer_set_length(made[0], 100));
        OK(MPIRT_Bufiter_insert(store, made[0]));
        OK(MPIRT_Bufiter_insert(store, made[1]));
        OK(MPIRT_Bufiter_insert(arrived, made[2]));
        for (int message = 0; message < MESSAGES; message++) {
            /* Each send takes the next of the store, whichever channel it is for. */
            MPIRT_Channel channel = channels[message % 3 == 2];
            OK(MPIRT_Channel_start(channel));
            OK(MPIRT_Channel_start(channels[2]));
            MUST(MPIRT_Channel_wait(channel, patience));
            MUST(MPIRT_Channel_wait(channels[2], patience));
            MUST(MPIRT_Bufiter_remove(arrived, &buffer));
            OK(MPIRTX_Buffer_get_length(buffer, &length));
            CHECK(buffer.bits == made[2].bits && length == (size_t)(message % 2 == 0 ? 100 : SIZE));
            CHECK(bytes(buffer)[0] == 'a' + message % 2);
            OK(MPIRT_Bufiter_insert(arrived, buffer));
        }
    } else if (rank == 1) {
        OK(MPIRT_Bufiter_insert(store, made[0]));
        for (int message = 0; message < MESSAGES; message++) {
            MPIRT_Channel channel = channels[message % 3 == 2];
            OK(MPIRT_Channel_start(channel));
            OK(MPIRT_Channel_start(channels[2]));
            MUST(MPIRT_Channel_wait(channel, patience));
            MUST(MPIRT_Channel_wait(channels[2], patience));
        }
    }
    OK(MPIRT_Uncommit());
    if (rank < 2) {
        for (int channel = 0; channel < 3; channel++)
            OK(MPIRT_Channel_free(&channels[channel]));
        OK(MPIRT_Bufiter_free(&store));
        OK(MPIRT_Bufiter_free(&arrived));
    }
}

/* What lies in the sender's memory is sent on from there: by the program, and by the iterators that its channels share. */
/* spec: CHANNEL-ALIAS-02, BUFFER-IDENTITY-01, BUFITER-SHARE-01 */
static void test_a_buffer_of_the_senders_is_sent_on(int is_relay)
{
    struct side mine;
    MPIRT_Bufiter in = MPIRT_BUFITER_NULL, out = MPIRT_BUFITER_NULL;
    MPIRT_Channel on = MPIRT_CHANNEL_NULL;
    MPIRT_Buffer buffer, other = MPIRT_BUFFER_NULL;
    size_t length;
    int writable;
    if (rank < 2 && members > 1) {
        mine = side("borrowed", MPIRT_BUFITER_FIFO_MAPPED, COUNT, 1);
        OK(MPIRT_Bufiter_create("on-in", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &in));
        OK(MPIRT_Bufiter_create("on-out", MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &out));
        if (rank == 0) {
            OK(MPIRT_Buffer_create("other", MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &other));
            OK(MPIRT_Bufiter_insert(in, other));
        }
        if (rank == 1 && is_relay)
            OK(MPIRT_Ptchannel_create("on", mine.out, mine.in, 1, 0, MPIRT_GROUP_WORLD, channel_qos(), &on));
        else
            OK(MPIRT_Ptchannel_create("on", in, out, 1, 0, MPIRT_GROUP_WORLD, channel_qos(), &on));
        for (int place = 0; rank == 1 && place < COUNT; place++)
            OK(MPIRT_Bufiter_insert(mine.in, mine.buffers[place]));
    }
    MUST(MPIRT_Commit());
    if (rank == 1 && is_relay) {
        OK(MPIRT_Channel_activate(mine.channel));
        OK(MPIRT_Channel_activate(on));
    }
    for (int round = 0; round < ROUNDS && rank < 2 && members > 1; round++) {
        size_t expected = round % 3 == 0 ? 1000 : SIZE;
        if (rank == 0) {
            buffer = mine.buffers[round % COUNT];
            memset(bytes(buffer), 'a' + round, SIZE);
            OK(MPIRTX_Buffer_set_length(buffer, expected));
            OK(MPIRT_Bufiter_insert(mine.in, buffer));
            OK(MPIRT_Channel_start(mine.channel));
            OK(MPIRT_Channel_start(on));
            MUST(MPIRT_Channel_wait(on, patience));
            MUST(MPIRT_Bufiter_remove(out, &buffer));
            CHECK(buffer.bits == other.bits && bytes(buffer)[0] == 'a' + round);
            OK(MPIRTX_Buffer_get_length(buffer, &length));
            CHECK(length == expected && memcmp(bytes(buffer), bytes(mine.buffers[round % COUNT]), length) == 0);
            OK(MPIRT_Bufiter_insert(in, buffer));
            /* It is back when the other member has put its own back. */
            while (MPIRT_Bufiter_remove(mine.out, &buffer) == MPIRT_ERR_EMPTY)
                ;
            CHECK(place_of(&mine, buffer) == round % COUNT);
        } else if (is_relay) {
            MUST(MPIRT_Channel_wait(on, patience));
        } else {
            OK(MPIRT_Channel_start(mine.channel));
            MUST(MPIRT_Channel_wait(mine.channel, patience));
            MUST(MPIRT_Bufiter_remove(mine.out, &buffer));
            OK(MPIRTX_Buffer_get_writable(buffer, &writable));
            CHECK(!writable);
            OK(MPIRTX_Buffer_get_length(buffer, &length));
            OK(MPIRTX_Buffer_set_length(buffer, length));
            OK(MPIRT_Bufiter_insert(in, buffer));
            OK(MPIRT_Channel_start(on));
            MUST(MPIRT_Channel_wait(on, patience));
            MUST(MPIRT_Bufiter_remove(out, &other));
            CHECK(other.bits == buffer.bits);
            OK(MPIRT_Bufiter_insert(mine.in, buffer));
        }
    }
    OK(MPIRT_Uncommit());
    if (rank < 2 && members > 1) {
        OK(MPIRT_Channel_free(&on));
        OK(MPIRT_Bufiter_free(&in));
        OK(MPIRT_Bufiter_free(&out));
        if (rank == 0)
            OK(MPIRT_Buffer_free(&other));
        free_side(&mine, COUNT);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_every_policy_and_form_at_both_ends();
    test_the_sender_gives_by_its_base_policy();
    test_sets_that_do_not_belong_together();
    test_what_is_one_and_what_is_copied();
    test_a_message_without_its_buffer();
    test_iterators_that_channels_share();
    test_one_mapped_iterator_both_ways();
    test_a_buffer_of_the_senders_is_sent_on(0);
    test_a_buffer_of_the_senders_is_sent_on(1);
    return end();
}
