/* What the files on collective channels share: ends with their buffers, one kind after the other. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include "harness.h"

enum { BCAST, SCATTER, GATHER, REDUCE, BARRIER, ALLTOALL, KINDS };
/* Numbers in a buffer that is neither cut nor joined, and buffers in each iterator. */
enum { COUNT = 3, STOCK = 4 };

static const MPIRT_Timespec ms = 1000000;
static const MPIRT_Timespec patience = INT64_C(20000000000);

struct end {
    int kind, root, own, size;
    MPIRT_Group group;
    MPIRT_Bufiter in, out, recvin, recvout;
    MPIRT_Channel channel;
};

static inline int sends(const struct end *end)
{
    return end->kind == BARRIER ? 0 : end->kind == BCAST || end->kind == SCATTER ? end->own == end->root : 1;
}

static inline int receives(const struct end *end)
{
    return end->kind == BARRIER ? 0 : end->kind == GATHER || end->kind == REDUCE ? end->own == end->root : 1;
}

/* Numbers in a buffer that is sent, and in one that is received. */
static inline int sent_count(const struct end *end)
{
    return end->kind == SCATTER || end->kind == ALLTOALL ? COUNT * end->size : COUNT;
}

static inline int received_count(const struct end *end)
{
    return end->kind == GATHER || end->kind == ALLTOALL ? COUNT * end->size : COUNT;
}

static inline int create(struct end *end, const char *name, MPIRT_Qos qos)
{
    switch (end->kind) {
    case BCAST:
        return MPIRT_Bcast_channel_create(name, end->in, end->out, end->recvin, end->recvout, end->root, end->group, qos, &end->channel);
    case SCATTER:
        return MPIRT_Scatter_channel_create(name, end->in, end->out, end->recvin, end->recvout, end->root, end->group, qos, &end->channel);
    case GATHER:
        return MPIRT_Gather_channel_create(name, end->in, end->out, end->recvin, end->recvout, end->root, end->group, qos, &end->channel);
    case REDUCE:
        return MPIRT_Reduce_channel_create(name, end->in, end->out, end->recvin, end->recvout, MPIRT_OP_SUM, end->root, end->group, qos, &end->channel);
    case BARRIER:
        return MPIRT_Barrier_channel_create(name, end->group, qos, &end->channel);
    default:
        return MPIRT_Alltoall_channel_create(name, end->in, end->out, end->recvin, end->recvout, end->group, qos, &end->channel);
    }
}

/* This member's end of a channel over a group that it is in. Full buffers wait in `out`, where senders find them. */
static inline struct end make_end_in(int kind, const char *name, int root, MPIRT_Group group, MPIRT_Qos qos)
{
    struct end end = {kind, root, 0, 0, group, {0}, {0}, {0}, {0}, {0}};
    OK(MPIRT_Group_rank(group, &end.own));
    OK(MPIRT_Group_size(group, &end.size));
    if (sends(&end)) {
        end.in = iterator_of(sent_count(&end), 0);
        end.out = iterator_of(sent_count(&end), STOCK);
    }
    if (receives(&end)) {
        end.recvin = iterator_of(received_count(&end), STOCK);
        end.recvout = iterator_of(received_count(&end), 0);
    }
    MUST(create(&end, name, qos));
    return end;
}

static inline struct end make_end(int kind, const char *name, int root, MPIRT_Qos qos)
{
    return make_end_in(kind, name, root, MPIRT_GROUP_WORLD, qos);
}

static inline void free_end(struct end *end)
{
    MPIRT_Bufiter *iterators[] = {&end->in, &end->out, &end->recvin, &end->recvout};
    OK(MPIRT_Channel_free(&end->channel));
    for (int place = 0; place < 4; place++) {
        if (iterators[place]->bits != 0)
            OK(MPIRT_Bufiter_free(iterators[place]));
    }
}

/* What a member sends in a transfer, number by number: all differ. */
static inline int64_t sent(int from, int64_t transfer, int place)
{
    return ((transfer * 16 + from) * 64 + place) * 7919 - 1000000;
}

/* What must be received, by the definition of each kind. */
static inline int64_t expected(const struct end *end, int64_t transfer, int place)
{
    int64_t sum = 0;
    switch (end->kind) {
    case BCAST:
        return sent(end->root, transfer, place);
    case SCATTER:
        return sent(end->root, transfer, end->own * COUNT + place);
    case GATHER:
        return sent(place / COUNT, transfer, place % COUNT);
    case REDUCE:
        for (int from = 0; from < end->size; from++)
            sum += sent(from, transfer, place);
        return sum;
    default:
        return sent(place / COUNT, transfer, end->own * COUNT + place % COUNT);
    }
}

/* Fills a buffer of the program's and inserts it. */
static inline void provide(const struct end *end, int64_t transfer)
{
    MPIRT_Buffer buffer;
    void *base;
    if (!sends(end))
        return;
    MUST(MPIRT_Bufiter_remove(end->out, &buffer));
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    for (int place = 0; place < sent_count(end); place++)
        ((int64_t *)base)[place] = sent(end->own, transfer, place);
    OK(MPIRT_Bufiter_insert(end->in, buffer));
}

/* Takes what was received, and compares. */
static inline void check(const struct end *end, int64_t transfer)
{
    MPIRT_Buffer buffer;
    size_t length;
    void *base;
    if (!receives(end))
        return;
    MUST(MPIRT_Bufiter_remove(end->recvout, &buffer));
    MUST(MPIRT_Buffer_get_base(buffer, &base));
    OK(MPIRTX_Buffer_get_length(buffer, &length));
    CHECK(length == received_count(end) * sizeof(int64_t));
    for (int place = 0; place < received_count(end); place++)
        CHECK(((int64_t *)base)[place] == expected(end, transfer, place));
    OK(MPIRT_Bufiter_insert(end->recvin, buffer));
}

#endif
