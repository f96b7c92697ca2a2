/* The machine alone: two pinned processes that do nothing but the transfer.
 *
 *   line   8 bytes: one word bounces, one cache line each way; nothing else moves
 *   copy   the sender fills a shared buffer in place and publishes; the receiver copies it out: one copy a way
 *   line-wake, copy-wake   the same, and the receiver sleeps in a futex
 *
 * usage: raw CORE_PING CORE_PONG */
#include "child.h"
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct side {
    _Alignas(256) uint64_t word;
    _Alignas(256) unsigned char payload[SIZE_MAX_BYTES];
};

struct shared {
    struct side ping, pong;
};

struct end {
    struct side *own;
    const struct side *peer;
    unsigned char *private_copy;
    uint64_t seen;
    size_t size;
    int copies, wakes;
};

static void publish(struct end *end, uint64_t word)
{
    if (end->copies)
        fill(end->own->payload, end->size, word);
    __atomic_store_n(&end->own->word, word == LAST_WORD ? word : word + 1, __ATOMIC_RELEASE);
    if (end->wakes)
        syscall(SYS_futex, &end->own->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint64_t take(struct end *end)
{
    uint64_t word;
    while ((word = __atomic_load_n(&end->peer->word, __ATOMIC_ACQUIRE)) == end->seen) {
        if (end->wakes)
            syscall(SYS_futex, &end->peer->word, FUTEX_WAIT, (uint32_t)end->seen, NULL, NULL, 0);
        else
            relax();
    }
    end->seen = word;
    if (!end->copies)
        return word == LAST_WORD ? word : word - 1;
    memcpy(end->private_copy, end->peer->payload, end->size);
    return first_word(end->private_copy);
}

static int trip(void *state, uint64_t word)
{
    publish(state, word);
    return take(state) != word;
}

static void apply(struct end *end, const struct order *order)
{
    end->size = order->size;
    end->copies = strncmp(order->kind, "copy", 4) == 0;
    end->wakes = strstr(order->kind, "-wake") != NULL;
}

static int pong(struct end *end, int orders)
{
    struct order order;
    while (read(orders, &order, sizeof order) == (ssize_t)sizeof order) {
        uint64_t word;
        apply(end, &order);
        do {
            word = take(end);
            publish(end, word);
        } while (word != LAST_WORD);
    }
    return 0;
}

static int ping(struct end *end, int orders)
{
    struct order order;
    printf("ready C\n");
    fflush(stdout);
    while (next_order(&order)) {
        apply(end, &order);
        if (write(orders, &order, sizeof order) != (ssize_t)sizeof order)
            return 1;
        if (ping_round(trip, end, order.milliseconds)) {
            printf("error a word came back changed\n");
            return 1;
        }
    }
    return 0;
}

int main(int count, char **arguments)
{
    int pipes[2];
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    struct end end = {.private_copy = aligned_alloc(4096, SIZE_MAX_BYTES)};
    if (count != 3 || shared == MAP_FAILED || !end.private_copy || pipe(pipes)) {
        printf("error usage: raw CORE_PING CORE_PONG\n");
        return 2;
    }
    memset(end.private_copy, 1, SIZE_MAX_BYTES);
    pid_t child = fork();
    if (child < 0)
        return 2;
    int is_ping = child != 0;
    if (!is_ping)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    end.own = is_ping ? &shared->ping : &shared->pong;
    end.peer = is_ping ? &shared->pong : &shared->ping;
    if (pin(atoi(arguments[is_ping ? 1 : 2])))
        printf("error cannot pin\n");
    close(pipes[is_ping ? 0 : 1]);
    return is_ping ? ping(&end, pipes[1]) : pong(&end, pipes[0]);
}
