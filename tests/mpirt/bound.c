/* Tasks bound to channels' ends: what an instance waits for is there, or missed; nothing blocks. Member 0's task sends in every second
 * instance to that of each other member. */
#include "harness.h"

static const MPIRT_Timespec ms = 1000000;

struct end {
    MPIRT_Channel channel, other;
    MPIRT_Bufiter in, out;
    uint64_t instances;
    int succeeded, missed, quiet, wrong, again, foreign, negative;
};

static MPIRT_Bufiter iterator(void)
{
    MPIRT_Bufiter made;
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, sizeof(int64_t), MPIRT_INT64, MPIRT_CONTAINER_NULL, &made));
    return made;
}

/* Takes its buffer back in every instance, and gives it anew in every second one; a wait tells of an earlier transfer, and never blocks. */
static void sends(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct end *end = argument;
    MPIRT_Buffer buffer;
    int waited = MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE);
    (void)task;
    end->wrong += waited != MPIRT_SUCCESS && waited != MPIRT_ERR_MISSED && waited != MPIRT_ERR_TIMEOUT;
    end->succeeded += waited == MPIRT_SUCCESS;
    end->missed += waited == MPIRT_ERR_MISSED;
    end->again += MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE) != MPIRT_ERR_TIMEOUT;
    if (instance->number % 2 == 0 && MPIRT_Bufiter_remove(end->out, &buffer) == MPIRT_SUCCESS)
        end->wrong += MPIRT_Bufiter_insert(end->in, buffer) != MPIRT_SUCCESS;
    end->instances++;
}

/* What a wait says of an instance, and what the iterator holds, agree. */
static void takes(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    struct end *end = argument;
    MPIRT_Buffer buffer;
    int waited = MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE);
    int removed = MPIRT_Bufiter_remove(end->out, &buffer);
    (void)task, (void)instance;
    if (waited == MPIRT_SUCCESS)
        end->wrong += removed != MPIRT_SUCCESS;
    else
        end->wrong += removed != MPIRT_ERR_EMPTY;
    end->succeeded += waited == MPIRT_SUCCESS;
    end->missed += waited == MPIRT_ERR_MISSED;
    /* Before the first message there is nothing to tell of. */
    end->quiet += waited == MPIRT_ERR_TIMEOUT;
    end->wrong += waited != MPIRT_SUCCESS && waited != MPIRT_ERR_MISSED && waited != MPIRT_ERR_TIMEOUT;
    /* It was told, so a second wait finds nothing new, whatever its timeout. */
    end->again += MPIRT_Channel_wait(end->channel, MPIRT_TIME_SPEC_IGNORE) != MPIRT_ERR_TIMEOUT;
    end->negative += MPIRT_Channel_wait(end->channel, -1) != MPIRT_ERR_TIME;
    /* What the task does not serve it may not wait for. */
    end->foreign += MPIRT_Channel_wait(end->other, 0) != MPIRT_ERR_REAL_TIME;
    if (removed == MPIRT_SUCCESS)
        end->wrong += MPIRT_Bufiter_insert(end->in, buffer) != MPIRT_SUCCESS;
    end->instances++;
}

static void make_end(struct end *end, const char *name, int target, MPIRT_Qos qos, int stock)
{
    end->in = iterator();
    end->out = iterator();
    MUST(MPIRT_Ptchannel_create(name, end->in, end->out, 0, target, MPIRT_GROUP_WORLD, qos, &end->channel));
    for (int number = 0; number < stock; number++) {
        MPIRT_Buffer buffer;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, sizeof(int64_t), MPIRT_INT64, &buffer));
        OK(MPIRT_Bufiter_insert(end->in, buffer));
    }
}

/* spec: TASK-BIND-02 */
static void test_a_task_waits_for_nothing_that_it_serves(void)
{
    static struct end ends[4];
    MPIRTX_Task tasks[4];
    MPIRT_Qos early, late, window;
    int count = 0;
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 15 * ms, 40 * ms, &early));
    MUST(MPIRT_Qos_channel_time_create(NULL, 20 * ms, 40 * ms, 40 * ms, &late));
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 40 * ms, &window));
    for (int peer = 1; peer < members; peer++) {
        struct end *end = &ends[count], other = {0};
        char name[MPIRT_NAME_MAX];
        if (rank != 0 && rank != peer)
            continue;
        snprintf(name, sizeof name, "bound-%d", peer);
        make_end(end, name, peer, window, rank == 0 ? 1 : 2);
        snprintf(name, sizeof name, "unbound-%d", peer);
        make_end(&other, name, peer, window, 0);
        end->other = other.channel;
        snprintf(name, sizeof name, "serves-%d-%d", rank, peer);
        MUST(MPIRTX_Task_create(name, rank == 0 ? sends : takes, end, rank == 0 ? early : late, ms, &tasks[count]));
        OK(MPIRTX_Task_bind(tasks[count], end->channel));
        count++;
    }
    MUST(MPIRT_Commit());
    /* Whoever has nothing to do waits with the others. */
    for (int place = 0; place < count; place++)
        while (__atomic_load_n(&ends[place].instances, __ATOMIC_RELAXED) < 12 && MPIRT_Sleep(MPIRT_TIME_RELATIVE, 10 * ms) == MPIRT_SUCCESS)
            ;
    OK(MPIRT_Uncommit());
    for (int place = 0; place < count; place++) {
        const struct end *end = &ends[place];
        CHECK(end->wrong == 0 && end->again == 0 && end->foreign == 0 && end->negative == 0);
        CHECK(end->succeeded > 0 && end->missed > 0);
        CHECK(rank == 0 || end->quiet <= 1);
    }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    if (members > 1)
        test_a_task_waits_for_nothing_that_it_serves();
    return end();
}
