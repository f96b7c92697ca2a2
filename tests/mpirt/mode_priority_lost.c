/* A member dies whose priority-driven channels are kept in a mode, in a job that continues: at two members between the agreement on the switch and
 * the switch, at three after it. Who waits is told, and nothing is lost: what had been sent is taken after the death, too. */
#define _GNU_SOURCE
#define BUFFERS 4
#include "mode_ends.h"
#include "mode_pair.h"

static const MPIRT_Timespec patience = INT64_C(30000000000);
enum { ROOM = 2 };

/* Those of the channels from the last member, which sends as much as it has buffers for. */
static void make_urgent_end(struct end *end, int target, MPIRT_Qos qos)
{
    const int ranks[2] = {members - 1, target};
    char name[MPIRT_NAME_MAX];
    snprintf(name, sizeof name, "urgent-%d", target);
    make_end_between(end, name, ranks, qos, 0);
    OK(MPIRTX_Channel_set_slack(end->channel, BUFFERS));
}

static int64_t value_of(MPIRT_Buffer buffer)
{
    void *base = NULL;
    OK(MPIRT_Buffer_get_base(buffer, &base));
    return base == NULL ? -1 : *(int64_t *)base;
}

/* The receiver has room for a part of what is sent until the death is told, and then for all: what was sent is still there. */
static void hear_of_the_death(struct end *from)
{
    MPIRTX_Channel_metrics metrics;
    MPIRT_Buffer buffer;
    int64_t come = 0;
    int code;
    do
        code = MPIRT_Channel_wait(from->channel, patience);
    while (code == MPIRT_SUCCESS);
    CHECK(code == MPIRT_ERR_PEER_LOST);
    for (int number = ROOM; number < BUFFERS; number++)
        OK(MPIRT_Bufiter_insert(from->in, from->buffers[number]));
    for (int looks = 0; looks < 4000 && come < BUFFERS; looks++) {
        if (MPIRT_Bufiter_remove(from->out, &buffer) == MPIRT_SUCCESS)
            CHECK(value_of(buffer) == come++);
        else
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, 5 * ms));
    }
    OK(MPIRTX_Channel_get_metrics(from->channel, &metrics));
    CHECK(come == BUFFERS && metrics.completed == BUFFERS && metrics.invalid == 0);
    do
        code = MPIRT_Channel_wait(from->channel, patience);
    while (code == MPIRT_SUCCESS);
    CHECK(code == MPIRT_ERR_PEER_LOST);
    EXPECT(MPIRT_Bufiter_remove(from->out, &buffer), MPIRT_ERR_EMPTY);
}

/* spec: MODE-KEEP-02, MODE-SWITCH-04 */
static void test_a_death_is_told_at_kept_channels_with_a_priority(void)
{
    struct pair pair;
    struct end ends[2];
    MPIRT_Qos qos;
    MPIRT_Timespec at = 0, now;
    int is_last = rank == members - 1, count = is_last ? members - 1 : 1;
    OK(MPIRT_Qos_channel_priority_create(NULL, 30, &qos));
    for (int end = 0; end < count; end++) {
        make_urgent_end(&ends[end], is_last ? end : rank, qos);
        for (int number = 0; number < ROOM && !is_last; number++)
            OK(MPIRT_Bufiter_insert(ends[end].in, ends[end].buffers[number]));
    }
    begin_pair(&pair, "lost", counts_and_acts);
    for (int end = 0; end < count; end++) {
        MUST(MPIRTX_Mode_keep(pair.mode, MPIRT_OBJECT(ends[end].channel)));
        OK(MPIRT_Channel_activate(ends[end].channel));
        for (int number = 0; number < BUFFERS && is_last; number++)
            insert(ends[end].in, ends[end].buffers[number], number);
    }
    MUST(MPIRTX_Mode_commit(pair.mode));
    OK(MPIRT_Get_time(&now));
    if (is_last && members == 2)
        act_at(now + 1000 * ms, dies);
    OK(MPIRTX_Mode_switch(pair.mode, now + 1500 * ms, &at));
    if (is_last)
        dies();
    hear_of_the_death(&ends[0]);
    CHECK(at >= now + 1500 * ms);
    (void)MPIRT_Uncommit(); /* whose answer is another file's concern */
    free_end(&ends[0]);
    OK(MPIRT_Qos_free(&qos));
    free_pair(&pair);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_death_is_told_at_kept_channels_with_a_priority();
    return end_without_commit();
}
