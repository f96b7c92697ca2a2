/* A switch back and forth a hundred times leaves nothing behind, at the members and at the agent. */
#include "harness.h"

#include <dirent.h>
#include <unistd.h>

static const MPIRT_Timespec ms = 1000000;
enum { SWITCHES = 100, WARM = 10, SLACK_KIB = 1024 };

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    (void)task;
    (void)instance;
    ++*(uint64_t *)argument;
}

static long entries(const char *process, const char *of)
{
    char path[64];
    long found = 0;
    DIR *folder;
    snprintf(path, sizeof path, "/proc/%s/%s", process, of);
    folder = opendir(path);
    CHECK(folder != NULL);
    while (folder != NULL && readdir(folder) != NULL)
        found++;
    if (folder != NULL)
        closedir(folder);
    return found;
}

/* What this process has: descriptors, threads, mappings, resident KiB. */
struct held {
    long descriptors, threads, mappings, resident;
};

static struct held look(void)
{
    struct held held = {entries("self", "fd"), entries("self", "task"), 0, 0};
    long size = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    for (int next; file != NULL && (next = fgetc(file)) != EOF;)
        held.mappings += next == '\n';
    if (file != NULL)
        fclose(file);
    file = fopen("/proc/self/statm", "r");
    CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &held.resident) == 2);
    if (file != NULL)
        fclose(file);
    held.resident *= sysconf(_SC_PAGESIZE) / 1024;
    return held;
}

/* What goes on through all modes: a task, and a channel from each member to the next, with a message in each mode. */
struct kept {
    MPIRT_Qos qos;
    MPIRTX_Task task;
    uint64_t instances;
    MPIRT_Bufiter in[2], out[2];
    MPIRT_Channel channel[2]; /* to the next member, and from the one before */
    MPIRT_Buffer buffer[2];
};

static const MPIRT_Timespec patience = INT64_C(20000000000);

static void make_kept(struct kept *kept)
{
    char name[MPIRT_NAME_MAX];
    kept->instances = 0;
    MUST(MPIRT_Qos_channel_time_create(NULL, 5 * ms, 9 * ms, 10 * ms, &kept->qos));
    snprintf(name, sizeof name, "kept-%d", rank);
    MUST(MPIRTX_Task_create(name, counts, &kept->instances, kept->qos, ms / 20, &kept->task));
    for (int end = 0; end < 2 && members > 1; end++) {
        int source = (rank + members - end) % members;
        MUST(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_INT64, &kept->buffer[end]));
        MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &kept->in[end]));
        MUST(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, 8, MPIRT_INT64, MPIRT_CONTAINER_NULL, &kept->out[end]));
        snprintf(name, sizeof name, "kept-%d", source);
        MUST(MPIRT_Ptchannel_create(name, kept->in[end], kept->out[end], source, (source + 1) % members, MPIRT_GROUP_WORLD,
                                    MPIRT_QOS_BEST_EFFORT, &kept->channel[end]));
        OK(MPIRT_Bufiter_insert(kept->in[end], kept->buffer[end]));
    }
}

static void keep(struct kept *kept, MPIRTX_Mode mode)
{
    MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(kept->task)));
    for (int end = 0; end < 2 && members > 1; end++)
        MUST(MPIRTX_Mode_keep(mode, MPIRT_OBJECT(kept->channel[end])));
}

static void send_and_receive(struct kept *kept, uint64_t number)
{
    uint64_t instance = 0;
    MPIRT_Timespec inserted;
    MPIRT_Buffer buffer;
    for (int end = 0; end < 2 && members > 1; end++)
        OK(MPIRT_Channel_start(kept->channel[end]));
    /* The receiving end first: while all wait for theirs to be taken, nobody takes. */
    for (int end = 1; end >= 0 && members > 1; end--) {
        OK(MPIRT_Channel_wait(kept->channel[end], patience));
        MUST(MPIRT_Bufiter_remove(kept->out[end], &buffer));
        CHECK(buffer.bits == kept->buffer[end].bits);
        if (end == 1) {
            OK(MPIRTX_Buffer_get_instance(buffer, &instance, &inserted));
            CHECK(instance == number);
        }
        OK(MPIRT_Bufiter_insert(kept->in[end], buffer));
    }
}

static void free_kept(struct kept *kept)
{
    OK(MPIRTX_Task_free(&kept->task));
    OK(MPIRT_Qos_free(&kept->qos));
    for (int end = 0; end < 2 && members > 1; end++) {
        OK(MPIRT_Channel_free(&kept->channel[end]));
        OK(MPIRT_Bufiter_free(&kept->in[end]));
        OK(MPIRT_Bufiter_free(&kept->out[end]));
        OK(MPIRT_Buffer_free(&kept->buffer[end]));
    }
}

/* spec: MODE-BACK-01, MODE-KEEP-01 */
static void test_a_hundred_switches_leave_nothing_behind(void)
{
    MPIRT_Qos qos[2];
    MPIRTX_Task task[2];
    MPIRTX_Mode mode[2] = {MPIRTX_MODE_NULL, MPIRTX_MODE_NULL};
    MPIRT_Timespec at = 0, before;
    struct held early = {0, 0, 0, 0}, late;
    static struct kept kept;
    uint64_t instances[2] = {0, 0};
    char name[MPIRT_NAME_MAX];
    MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 4 * ms, 10 * ms, &qos[0]));
    snprintf(name, sizeof name, "even-%d", rank);
    MUST(MPIRTX_Task_create(name, counts, &instances[0], qos[0], ms / 20, &task[0]));
    make_kept(&kept);
    MUST(MPIRT_Commit());
    for (int number = 1; number <= SWITCHES; number++) {
        int now = number % 2, other = 1 - now;
        before = at;
        instances[now] = 0;
        MUST(MPIRTX_Mode_open(now ? "odd" : "even", &mode[now]));
        MUST(MPIRT_Qos_channel_time_create(NULL, 2 * ms, 4 * ms, now ? 5 * ms : 10 * ms, &qos[now]));
        snprintf(name, sizeof name, "%s-%d", now ? "odd" : "even", rank);
        MUST(MPIRTX_Task_create(name, counts, &instances[now], qos[now], ms / 20, &task[now]));
        keep(&kept, mode[now]);
        MUST(MPIRTX_Mode_commit(mode[now]));
        MUST(MPIRTX_Mode_switch(mode[now], MPIRT_TIME_SPEC_IGNORE, &at));
        CHECK(at > before);
        send_and_receive(&kept, (uint64_t)(number - 1));
        CHECK(number == 1 || instances[other] <= (uint64_t)((at - before) / (now ? 10 * ms : 5 * ms)));
        OK(MPIRTX_Task_free(&task[other]));
        OK(MPIRT_Qos_free(&qos[other]));
        if (number > 1)
            OK(MPIRTX_Mode_free(&mode[other]));
        if (number == WARM)
            early = look();
    }
    late = look();
    CHECK(late.descriptors == early.descriptors);
    CHECK(late.threads == early.threads);
    CHECK(late.mappings <= early.mappings + 1);
    CHECK(late.resident <= early.resident + SLACK_KIB);
    if (failures > 0)
        fprintf(stderr, "from %ld %ld %ld %ld to %ld %ld %ld %ld\n", early.descriptors, early.threads, early.mappings,
                early.resident, late.descriptors, late.threads, late.mappings, late.resident);
    OK(MPIRT_Uncommit());
    free_kept(&kept);
    OK(MPIRTX_Task_free(&task[0]));
    OK(MPIRT_Qos_free(&qos[0]));
    OK(MPIRTX_Mode_free(&mode[0]));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_hundred_switches_leave_nothing_behind();
    return end();
}
