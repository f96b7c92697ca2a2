/* What calls of mpirt.h cost: two members of a job, of which the first takes orders. benches/src/c_abi/member.rs is its twin in Rust.
 *
 *   insert, remove   a buffer into, and out of, an iterator that no channel uses: 256 at a time
 *   test             a transfer that was started and whose message has not come: 256 times
 *   trip             start and wait, there and back
 *   poll             as trip, with test until it says yes instead of wait, as MPI does within its wait
 *
 * usage: leveret-benches starts it; the argument is the core. */
#include "child.h"
#include <mpirt.h>

enum { POOL = 256, BYTES = 8, STOCK = 2 };

#define PATIENCE INT64_C(10000000000)

struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Buffer buffers[STOCK];
    MPIRT_Channel channel;
};

struct member {
    MPIRT_Bufiter pool;
    MPIRT_Buffer buffers[POOL];
    struct end sends, receives;
    int polls;
};

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

/* Uncommit has emptied the iterators. */
static void stock(struct member *member)
{
    for (int place = 0; place < STOCK; place++) {
        MUST(MPIRT_Bufiter_insert(member->sends.out, member->sends.buffers[place]));
        MUST(MPIRT_Bufiter_insert(member->receives.in, member->receives.buffers[place]));
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

static void count(uint64_t took, uint64_t *total, uint64_t *calls)
{
    record(took / POOL);
    *total += took;
    *calls += POOL;
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
        /* The first word tells the other how to wait. */
        uint64_t first = strcmp(order.kind, "poll") == 0;
        stock(member);
        member->polls = 0;
        MUST(MPIRT_Commit());
        if (trip(member, first)) {
            printf("error a word came back changed\n");
            fflush(stdout);
            exit(EXIT_FAILURE);
        }
        member->polls = (int)first;
        if (is_trip) {
            if (ping_round(trip, member, order.milliseconds)) {
                printf("error a word came back changed\n");
                fflush(stdout);
                exit(EXIT_FAILURE);
            }
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
            if (first)
                member->polls = word == 1;
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
    if (rank == 0)
        ping(&member);
    else
        pong(&member);
    return EXIT_SUCCESS;
}
