/* What calls of mpirt.h cost: two members of a job, of which the first takes orders. benches/src/c_abi/member.rs is its twin in Rust.
 *
 *   insert, remove   a buffer into, and out of, an iterator that no channel uses: 256 at a time
 *   test             a transfer that was started and whose message has not come: 256 times
 *   trip             start and wait, there and back
 *   poll             as trip, with test until it says yes instead of wait, as MPI does within its wait
 *   start, wait      64 channels whose other end has started and sent: each is started, and then each is waited for
 *   relay            on ends that are active, over iterators that both channels share: what arrives is sent back in its buffer
 *
 * usage: leveret-benches starts it; the argument is the core. */
#include "child.h"
#include <mpirt.h>

enum { POOL = 256, BYTES = 8, STOCK = 2, PAIRS = 64 };

#define PATIENCE INT64_C(10000000000)

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffers[STOCK];
    MPIRT_Channel channel;
};

/* Both channels of a member between three iterators: what arrives, what goes out, and what there is for the next message. */
struct relay {
    MPIRT_Bufiter arrivals, outgoing, supply;
    MPIRT_Buffer buffers[STOCK], spare, at_hand;
    MPIRT_Channel sends, receives;
};

/* One end of a channel that is started again and again with the buffer that it has. */
struct pair {
    MPIRT_Bufiter buffers;
    MPIRT_Buffer buffer;
    MPIRT_Channel channel;
};

struct member {
    struct pair pairs[PAIRS];
    MPIRT_Bufiter pool;
    MPIRT_Buffer buffers[POOL];
    struct end sends, receives;
    struct relay relay;
    int polls;
};

/* What the first word of a round tells the other. */
enum { WAITS, POLLS, RELAYS, STARTS };

static void must(int error, const char *what)
{
    const char *text, *detail;
    if (error == MPIRT_SUCCESS)
        return;
    MPIRT_Error_string(error, &text);
    MPIRTX_Error_detail(&detail);
    printf("error %s: %s %s\n", what, text, detail);
    fflush(stdout);
    exit(EXIT_FAILURE);
}
#define MUST(call) must(call, #call)

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, BYTES, MPIRT_UINT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

static MPIRT_Buffer buffer(void)
{
    MPIRT_Buffer made;
    MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, BYTES, MPIRT_UINT64, &made));
    return made;
}

static void declare(struct end *end, const char *name, int source, int target)
{
    end->in = iterator();
    end->out = iterator();
    for (int place = 0; place < STOCK; place++)
        end->buffers[place] = buffer();
    MUST(MPIRT_Ptchannel_create(name, end->in, end->out, source, target, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT,
                                &end->channel));
}

static void declare_relay(struct relay *relay, int rank)
{
    MPIRT_Channel *forth = rank == 0 ? &relay->sends : &relay->receives;
    MPIRT_Channel *back = rank == 0 ? &relay->receives : &relay->sends;
    relay->arrivals = iterator();
    relay->outgoing = iterator();
    relay->supply = iterator();
    for (int place = 0; place < STOCK; place++)
        relay->buffers[place] = buffer();
    relay->spare = buffer();
    for (int source = 0; source < 2; source++) {
        int is_sender = source == rank;
        MUST(MPIRT_Ptchannel_create(source == 0 ? "forth" : "again", is_sender ? relay->outgoing : relay->supply,
                                    is_sender ? relay->supply : relay->arrivals, source, 1 - source, MPIRT_GROUP_WORLD,
                                    MPIRT_QOS_BEST_EFFORT, source == 0 ? forth : back));
    }
}

static void declare_pair(struct pair *pair, int number)
{
    char name[16];
    snprintf(name, sizeof name, "pair-%d", number);
    pair->buffers = iterator();
    pair->buffer = buffer();
    MUST(MPIRT_Ptchannel_create(name, pair->buffers, pair->buffers, 1, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_BEST_EFFORT, &pair->channel));
}

/* Uncommit has emptied the iterators. */
static void stock(struct member *member)
{
    for (int number = 0; number < PAIRS; number++)
        MUST(MPIRT_Bufiter_insert(member->pairs[number].buffers, member->pairs[number].buffer));
    for (int place = 0; place < STOCK; place++) {
        MUST(MPIRT_Bufiter_insert(member->sends.out, member->sends.buffers[place]));
        MUST(MPIRT_Bufiter_insert(member->receives.in, member->receives.buffers[place]));
        MUST(MPIRT_Bufiter_insert(member->relay.supply, member->relay.buffers[place]));
    }
}

static void put(struct member *member, uint64_t word)
{
    MPIRT_Buffer full;
    void *base;
    MUST(MPIRT_Bufiter_remove(member->sends.out, &full));
    MUST(MPIRT_Buffer_get_base(full, &base));
    memcpy(base, &word, sizeof word);
    MUST(MPIRT_Bufiter_insert(member->sends.in, full));
    MUST(MPIRT_Channel_start(member->sends.channel));
}

static uint64_t take(struct member *member)
{
    MPIRT_Buffer full;
    uint64_t word;
    void *base;
    int flag = !member->polls;
    while (!flag)
        MUST(MPIRT_Channel_test(member->receives.channel, &flag));
    MUST(MPIRT_Channel_wait(member->receives.channel, PATIENCE));
    MUST(MPIRT_Bufiter_remove(member->receives.out, &full));
    MUST(MPIRT_Buffer_get_base(full, &base));
    memcpy(&word, base, sizeof word);
    MUST(MPIRT_Bufiter_insert(member->receives.in, full));
    return word;
}

static int trip(void *state, uint64_t word)
{
    struct member *member = state;
    MUST(MPIRT_Channel_start(member->receives.channel));
    put(member, word);
    return take(member) != word;
}

static void relay_out(struct relay *relay, MPIRT_Buffer full, uint64_t word)
{
    void *base;
    MUST(MPIRT_Buffer_get_base(full, &base));
    memcpy(base, &word, sizeof word);
    MUST(MPIRT_Bufiter_insert(relay->outgoing, full));
}

static uint64_t relay_in(struct relay *relay, MPIRT_Buffer *full)
{
    uint64_t word;
    void *base;
    int answer;
    while ((answer = MPIRT_Bufiter_remove(relay->arrivals, full)) == MPIRT_ERR_EMPTY)
        ;
    MUST(answer);
    MUST(MPIRT_Buffer_get_base(*full, &base));
    memcpy(&word, base, sizeof word);
    return word;
}

static int relay_trip(void *state, uint64_t word)
{
    struct relay *relay = &((struct member *)state)->relay;
    relay_out(relay, relay->at_hand, word);
    return relay_in(relay, &relay->at_hand) != word;
}

static void activate(struct relay *relay)
{
    relay->at_hand = relay->spare;
    MUST(MPIRT_Channel_activate(relay->sends));
    MUST(MPIRT_Channel_activate(relay->receives));
}

static void count_of(uint64_t took, uint64_t batch, uint64_t *total, uint64_t *calls)
{
    record(took / batch);
    *total += took;
    *calls += batch;
}

static void count(uint64_t took, uint64_t *total, uint64_t *calls)
{
    count_of(took, POOL, total, calls);
}

static void start_all(struct member *member)
{
    for (int number = 0; number < PAIRS; number++)
        MUST(MPIRT_Channel_start(member->pairs[number].channel));
}

static void wait_all(struct member *member)
{
    for (int number = 0; number < PAIRS; number++)
        MUST(MPIRT_Channel_wait(member->pairs[number].channel, PATIENCE));
}

/* When a word comes back, the other has started its end of every pair: a start here completes a transfer, and a wait returns at once. */
static void start_and_wait(struct member *member, int counts_start, uint64_t milliseconds)
{
    uint64_t end = now_ns() + milliseconds * 1000000, total = 0, calls = 0, last = 0;
    int is_last = 0;
    while (!is_last) {
        uint64_t start, middle;
        is_last = last >= end;
        if (trip(member, is_last ? LAST_WORD : 0))
            must(MPIRT_ERR_INTERNAL, "a word came back changed");
        start = now_ns();
        start_all(member);
        middle = now_ns();
        wait_all(member);
        last = now_ns();
        count_of(counts_start ? middle - start : last - middle, PAIRS, &total, &calls);
    }
    answer(total, calls);
}

/* The other side of it. */
static void satisfy(struct member *member)
{
    uint64_t word;
    do {
        start_all(member);
        MUST(MPIRT_Channel_start(member->receives.channel));
        word = take(member);
        put(member, word);
        wait_all(member);
    } while (word != LAST_WORD);
}

static void insert_and_remove(struct member *member, int counts_insert, uint64_t milliseconds)
{
    uint64_t end = now_ns() + milliseconds * 1000000, total = 0, calls = 0, last = 0;
    while (last < end) {
        uint64_t start = now_ns(), middle;
        for (int place = 0; place < POOL; place++)
            MUST(MPIRT_Bufiter_insert(member->pool, member->buffers[place]));
        middle = now_ns();
        for (int place = 0; place < POOL; place++)
            MUST(MPIRT_Bufiter_remove(member->pool, &member->buffers[place]));
        last = now_ns();
        count(counts_insert ? middle - start : last - middle, &total, &calls);
    }
    answer(total, calls);
}

static void test(struct member *member, uint64_t milliseconds)
{
    uint64_t end = now_ns() + milliseconds * 1000000, total = 0, calls = 0, last = 0;
    int flag = 0;
    MUST(MPIRT_Channel_start(member->receives.channel));
    while (last < end) {
        uint64_t start = now_ns();
        for (int place = 0; place < POOL; place++)
            MUST(MPIRT_Channel_test(member->receives.channel, &flag));
        last = now_ns();
        count(last - start, &total, &calls);
    }
    put(member, LAST_WORD);
    if (flag || take(member) != LAST_WORD) {
        printf("error a message came that was not sent\n");
        fflush(stdout);
        exit(EXIT_FAILURE);
    }
    answer(total, calls);
}

static void ping(struct member *member)
{
    struct order order;
    printf("ready mpirt.h\n");
    fflush(stdout);
    while (next_order(&order)) {
        int is_test = strcmp(order.kind, "test") == 0;
        int is_trip = strcmp(order.kind, "trip") == 0 || strcmp(order.kind, "poll") == 0;
        int is_relay = strcmp(order.kind, "relay") == 0;
        int is_start = strcmp(order.kind, "start") == 0, is_wait = strcmp(order.kind, "wait") == 0;
        uint64_t first = strcmp(order.kind, "poll") == 0 ? POLLS : is_relay ? RELAYS : is_start || is_wait ? STARTS : WAITS;
        stock(member);
        member->polls = 0;
        MUST(MPIRT_Commit());
        if (trip(member, first)) {
            printf("error a word came back changed\n");
            fflush(stdout);
            exit(EXIT_FAILURE);
        }
        member->polls = first == POLLS || first == STARTS;
        if (is_relay)
            activate(&member->relay);
        if (is_trip || is_relay) {
            if (ping_round(is_relay ? relay_trip : trip, member, order.milliseconds)) {
                printf("error a word came back changed\n");
                fflush(stdout);
                exit(EXIT_FAILURE);
            }
        } else if (first == STARTS) {
            start_and_wait(member, is_start, order.milliseconds);
        } else if (is_test) {
            test(member, order.milliseconds);
        } else {
            insert_and_remove(member, strcmp(order.kind, "insert") == 0, order.milliseconds);
            if (trip(member, LAST_WORD))
                exit(EXIT_FAILURE);
        }
        MUST(MPIRT_Uncommit());
    }
}

/* Its next commit is refused when the other has no more orders and leaves. */
static void pong(struct member *member)
{
    for (;;) {
        uint64_t word, first = 1;
        stock(member);
        member->polls = 0;
        if (MPIRT_Commit() != MPIRT_SUCCESS)
            exit(EXIT_SUCCESS);
        do {
            MUST(MPIRT_Channel_start(member->receives.channel));
            word = take(member);
            put(member, word);
            if (first && word == RELAYS) {
                MPIRT_Buffer full;
                activate(&member->relay);
                do {
                    word = relay_in(&member->relay, &full);
                    relay_out(&member->relay, full, word);
                } while (word != LAST_WORD);
            }
            if (first)
                member->polls = word == POLLS || word == STARTS;
            if (first && word == STARTS) {
                satisfy(member);
                word = LAST_WORD;
            }
            first = 0;
        } while (word != LAST_WORD);
        MUST(MPIRT_Channel_wait(member->sends.channel, PATIENCE));
        MUST(MPIRT_Uncommit());
    }
}

int main(int count, char **arguments)
{
    static struct member member;
    int rank;
    if (count != 2 || pin(atoi(arguments[1]))) {
        printf("error usage: mpirt_calls CORE\n");
        return EXIT_FAILURE;
    }
    MUST(MPIRT_Init(&count, &arguments));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    member.pool = iterator();
    for (int place = 0; place < POOL; place++)
        member.buffers[place] = buffer();
    declare(rank == 0 ? &member.sends : &member.receives, "there", 0, 1);
    declare(rank == 0 ? &member.receives : &member.sends, "back", 1, 0);
    declare_relay(&member.relay, rank);
    for (int number = 0; number < PAIRS; number++)
        declare_pair(&member.pairs[number], number);
    if (rank == 0)
        ping(&member);
    else
        pong(&member);
    return EXIT_SUCCESS;
}
