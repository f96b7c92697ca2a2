/* Persistent ping-pong between two ranks of any MPI. Rank 0 takes orders; between rounds rank 1 sleeps in a
 * named pipe, so that it does not disturb the others' rounds.
 *
 *   copy            the sender fills its buffer, MPI moves it into the receiver's buffer, by persistent requests
 *   copy-blocking   the same by MPI_Send and MPI_Recv
 *
 * usage: mpiexec -n 2 mpi_pingpong CORE_PING CORE_PONG NAMED_PIPE */
#include "child.h"
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

struct end {
    unsigned char *source, *target;
    MPI_Request send, receive;
    size_t size;
    int peer;
    int blocking;
};

static void begin(struct end *end, const struct order *order)
{
    end->size = order->size;
    end->blocking = strcmp(order->kind, "copy-blocking") == 0;
    MPI_Send_init(end->source, (int)end->size, MPI_BYTE, end->peer, 1, MPI_COMM_WORLD, &end->send);
    MPI_Recv_init(end->target, (int)end->size, MPI_BYTE, end->peer, 1, MPI_COMM_WORLD, &end->receive);
}

static void free_requests(struct end *end)
{
    MPI_Request_free(&end->send);
    MPI_Request_free(&end->receive);
}

static void publish(struct end *end, uint64_t word)
{
    fill(end->source, end->size, word);
    if (end->blocking) {
        MPI_Send(end->source, (int)end->size, MPI_BYTE, end->peer, 1, MPI_COMM_WORLD);
        return;
    }
    MPI_Start(&end->send);
    MPI_Wait(&end->send, MPI_STATUS_IGNORE);
}

/* A persistent reception is begun before the peer can send, a blocking one when it is waited for. */
static void expect(struct end *end)
{
    if (!end->blocking)
        MPI_Start(&end->receive);
}

static uint64_t take(struct end *end)
{
    if (end->blocking)
        MPI_Recv(end->target, (int)end->size, MPI_BYTE, end->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Wait(&end->receive, MPI_STATUS_IGNORE);
    return first_word(end->target);
}

static int trip(void *state, uint64_t word)
{
    struct end *end = state;
    expect(end);
    publish(end, word);
    return take(end) != word;
}

static int ping(struct end *end, int orders)
{
    struct order order;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = 0;
    printf("ready %s\n", version);
    fflush(stdout);
    while (next_order(&order)) {
        if (write(orders, &order, sizeof order) != (ssize_t)sizeof order)
            return 1;
        begin(end, &order);
        if (ping_round(trip, end, order.milliseconds)) {
            printf("error a word came back changed\n");
            return 1;
        }
        free_requests(end);
    }
    return 0;
}

static int pong(struct end *end, int orders)
{
    struct order order;
    while (read(orders, &order, sizeof order) == (ssize_t)sizeof order) {
        uint64_t word;
        begin(end, &order);
        expect(end);
        do {
            word = take(end);
            if (word != LAST_WORD)
                expect(end);
            publish(end, word);
        } while (word != LAST_WORD);
        free_requests(end);
    }
    return 0;
}

int main(int count, char **arguments)
{
    int rank, ranks;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count != 4 || ranks != 2) {
        printf("error usage: mpiexec -n 2 mpi_pingpong CORE_PING CORE_PONG NAMED_PIPE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    struct end end = {.peer = 1 - rank, .source = aligned_alloc(4096, SIZE_MAX_BYTES), .target = aligned_alloc(4096, SIZE_MAX_BYTES)};
    int orders = open(arguments[3], rank == 0 ? O_WRONLY : O_RDONLY);
    if (!end.source || !end.target || orders < 0 || pin(atoi(arguments[rank == 0 ? 1 : 2]))) {
        printf("error cannot open the pipe or pin\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    memset(end.source, 1, SIZE_MAX_BYTES);
    memset(end.target, 1, SIZE_MAX_BYTES);
    int failed = rank == 0 ? ping(&end, orders) : pong(&end, orders);
    close(orders);
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
