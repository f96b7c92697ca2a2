/* Ends of channels of one number a message, for the files about channels and changes of mode; each says how many BUFFERS an end has. */
#ifndef MODE_ENDS_H
#define MODE_ENDS_H

#include "harness.h"

/* An end of a channel, with its iterators and buffers. */
struct end {
    MPIRT_Bufiter in, out;
    MPIRT_Channel channel;
    MPIRT_Buffer buffers[BUFFERS];
    void *bases[BUFFERS];
};

static inline MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* Where buffers are MAPPED, those of the two ends are one in memory, and nothing is copied. */
static inline void make_end_between(struct end *end, const char *name, const int ranks[2], MPIRT_Qos qos, int is_mapped)
{
    MPIRT_Object all[BUFFERS];
    for (int number = 0; number < BUFFERS; number++) {
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &end->buffers[number]));
        all[number] = MPIRT_OBJECT(end->buffers[number]);
    }
    if (is_mapped) {
        MPIRT_Cvector allowed;
        MUST(MPIRT_Cvector_create(NULL, BUFFERS, all, &allowed));
        MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO_MAPPED, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER(allowed), &end->in));
        /* It lives on in the iterator. */
        OK(MPIRT_Cvector_free(&allowed));
    } else {
        end->in = iterator();
    }
    end->out = iterator();
    MUST(MPIRT_Ptchannel_create(name, end->in, end->out, ranks[0], ranks[1], MPIRT_GROUP_WORLD, qos, &end->channel));
}

/* An end of a channel from a member to the next. */
static inline void make_mapped_end(struct end *end, const char *kind, int source, MPIRT_Qos qos, int is_mapped)
{
    const int ranks[2] = {source, (source + 1) % members};
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "%s-%d", kind, source);
    make_end_between(end, name, ranks, qos, is_mapped);
}

static inline void make_end(struct end *end, const char *kind, int source, MPIRT_Qos qos)
{
    make_mapped_end(end, kind, source, qos, 0);
}

static inline void insert(MPIRT_Bufiter iterator, MPIRT_Buffer buffer, int64_t value)
{
    void *base = NULL;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    if (base != NULL)
        *(int64_t *)base = value;
    OK(MPIRT_Bufiter_insert(iterator, buffer));
}

static inline void free_end(struct end *end)
{
    OK(MPIRT_Channel_free(&end->channel));
    OK(MPIRT_Bufiter_free(&end->in));
    OK(MPIRT_Bufiter_free(&end->out));
    for (int number = 0; number < BUFFERS; number++)
        OK(MPIRT_Buffer_free(&end->buffers[number]));
}

#endif
