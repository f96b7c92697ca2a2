/* The three-node ring of the HARE thesis (section 5.3) in C: members 0, 1 and 2 pass a message around, by the clock.
 *
 * Member 0 increments the message number each round; 1 and 2 pass on what they took. Every receiver checks the order.
 * Nobody calls send or receive: a task takes buffers out of iterators and puts buffers into iterators, and time moves
 * them. Windows, period and budgets are those of Table 5.1. Run it with
 *
 *     cc ring.c $(pkg-config --cflags --libs mpirt) -o ring-c && leveret run -n 3 --rounds 5000 ./ring-c
 */
#include <mpirt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, MESSAGE_BYTES = 4 };

#ifndef US
#define US INT64_C(1000) /* in nanoseconds; a longer one stretches all times of the ring alike */
#endif
#define PERIOD (5000 * US)
#define BUDGET (50 * US)

/* When each member computes, from the period's start: the window of its user task. */
static const int64_t computes[MEMBERS][2] = {{0, 75 * US}, {200 * US, 275 * US}, {400 * US, 475 * US}};

/* What a node has and remembers. */
struct node {
    int starts_the_round;
    MPIRT_Bufiter full, sent;      /* to the next member: full buffers go in, empty ones come out */
    MPIRT_Bufiter empty, received; /* from the one before: empty buffers go in, full ones come out */
    uint32_t expected;
    uint64_t taken, out_of_order;
};

static void must(int error, const char *what)
{
    const char *text, *detail;
    if (error == MPIRT_SUCCESS)
        return;
    MPIRT_Error_string(error, &text);
    MPIRTX_Error_detail(&detail);
    fprintf(stderr, "ring: %s: %s\n%s\n", what, text, detail);
    exit(EXIT_FAILURE);
}
#define MUST(call) must(call, #call)

/* One round of one node: nothing here is a system call. */
static void pass_on(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct node *node = argument;
    uint32_t number = (uint32_t)instance->number;
    int sends = node->starts_the_round;
    MPIRT_Buffer buffer;
    void *base;
    (void)task;
    if (MPIRT_Bufiter_remove(node->received, &buffer) == MPIRT_SUCCESS) {
        uint32_t came;
        MPIRT_Buffer_get_base(buffer, &base);
        memcpy(&came, base, sizeof came);
        MPIRT_Bufiter_insert(node->empty, buffer);
        node->taken++;
        node->out_of_order += came < node->expected;
        node->expected = came + 1;
        if (!node->starts_the_round) {
            number = came;
            sends = 1;
        }
    }
    if (sends && MPIRT_Bufiter_remove(node->sent, &buffer) == MPIRT_SUCCESS) {
        MPIRT_Buffer_get_base(buffer, &base);
        memcpy(base, &number, sizeof number);
        MPIRT_Bufiter_insert(node->full, buffer);
    }
}

static MPIRT_Bufiter iterator(const char *name)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(name, MPIRT_BUFITER_FIFO, MESSAGE_BYTES, MPIRT_UINT32, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* Two buffers, so that one can be filled while the other is on its way. */
static void stock(MPIRT_Bufiter where)
{
    for (int count = 0; count < 2; count++) {
        MPIRT_Buffer buffer;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, MESSAGE_BYTES, MPIRT_UINT32, &buffer));
        MUST(MPIRT_Bufiter_insert(where, buffer));
    }
}

/* The channel from one member to the next: what is in time when the sender's window ends is there when the
 * receiver's begins. */
static MPIRT_Channel channel(int source, MPIRT_Bufiter in, MPIRT_Bufiter out)
{
    static const char *const names[MEMBERS] = {"AB", "BC", "CA"};
    int target = (source + 1) % MEMBERS;
    int64_t start = computes[source][1];
    MPIRT_Qos qos;
    MPIRT_Channel made;
    MUST(MPIRT_Qos_channel_time_create(NULL, start, start + 125 * US, PERIOD, &qos));
    MUST(MPIRT_Ptchannel_create(names[source], in, out, source, target, MPIRT_GROUP_WORLD, qos, &made));
    return made;
}

int main(int argc, char **argv)
{
    struct node node = {0};
    MPIRT_Channel to, from;
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[] = "A.user";
    int rank, size;

    MUST(MPIRT_Init(&argc, &argv));
    MUST(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    MUST(MPIRT_Group_size(MPIRT_GROUP_WORLD, &size));
    if (size != MEMBERS) {
        fprintf(stderr, "ring: it has %d members, not %d; start it with -n %d\n", MEMBERS, size, MEMBERS);
        return EXIT_FAILURE;
    }
    node.starts_the_round = rank == 0;
    node.full = iterator("full");
    node.sent = iterator("sent");
    node.empty = iterator("empty");
    node.received = iterator("received");
    stock(node.sent);
    stock(node.empty);
    to = channel(rank, node.full, node.sent);
    from = channel((rank + MEMBERS - 1) % MEMBERS, node.empty, node.received);
    name[0] = (char)('A' + rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, computes[rank][0], computes[rank][1], PERIOD, &qos));
    MUST(MPIRTX_Task_create(name, pass_on, &node, qos, BUDGET, &task));
    MUST(MPIRTX_Task_bind(task, from));
    MUST(MPIRTX_Task_bind(task, to));

    MUST(MPIRT_Commit());
    MUST(MPIRTX_Run());
    printf("%s: took %llu messages, %llu out of order\n", name, (unsigned long long)node.taken,
           (unsigned long long)node.out_of_order);
    MUST(MPIRT_Finalize());
    return node.out_of_order == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
