/* Whether all members have the same number: each sends its own to member 0 by a channel of its own. Collective. */
#ifndef AGREE_H
#define AGREE_H

#include "harness.h"

static inline MPIRT_Channel agree_channel_(int from, int64_t *base, MPIRT_Bufiter *iterator)
{
    char name[MPIRT_NAME_MAX];
    MPIRT_Buffer buffer;
    MPIRT_Channel channel;
    snprintf(name, sizeof name, "agree-%d", from);
    MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof *base, MPIRT_INT64, MPIRT_CONTAINER_NULL, iterator));
    MUST(MPIRT_Buffer_create(NULL, base, sizeof *base, MPIRT_INT64, &buffer));
    MUST(MPIRT_Bufiter_insert(*iterator, buffer));
    MUST(MPIRT_Ptchannel_create(name, *iterator, *iterator, from, 0, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    return channel;
}

/* Gives 1 on every member but 0 when that has another number; there, how many have the same. */
static inline int all_agree(int64_t number)
{
    int64_t numbers[4] = {number, number, number, number};
    MPIRT_Channel channels[4];
    MPIRT_Bufiter iterators[4];
    int agree = 1;
    for (int from = 1; from < members; from++)
        if (rank == 0 || rank == from)
            channels[from] = agree_channel_(from, &numbers[from], &iterators[from]);
    MUST(MPIRT_Commit());
    for (int from = 1; from < members; from++) {
        if (rank != 0 && rank != from)
            continue;
        OK(MPIRT_Channel_start(channels[from]));
        OK(MPIRT_Channel_wait(channels[from], MPIRT_TIME_SPEC_IGNORE));
        agree &= numbers[from] == number;
    }
    OK(MPIRT_Uncommit());
    for (int from = 1; from < members; from++)
        if (rank == 0 || rank == from) {
            OK(MPIRT_Channel_free(&channels[from]));
            OK(MPIRT_Bufiter_free(&iterators[from]));
        }
    return agree;
}

#endif
