/* A hundred commits and uncommits: each gives back what it took, and the last runs as the first. */
#define _GNU_SOURCE
#include "harness.h"

#include <dirent.h>

enum { FIRST = 5, ALL = 100, SIZE = 1 << 16 };
static const MPIRT_Timespec ms = 1000000, patience = INT64_C(10000000000);

static long entries(const char *folder)
{
    long count = 0;
    DIR *open = opendir(folder);
    CHECK(open != NULL);
    while (open != NULL && readdir(open) != NULL)
        count++;
    closedir(open);
    return count;
}

static long status_kib(const char *field)
{
    char line[256], pattern[64];
    long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    snprintf(pattern, sizeof pattern, "%s: %%ld", field);
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, pattern, &kib) == 1)
            break;
    fclose(status);
    return kib;
}

/* Segments are shared with others, so `VmData` has nothing of them. */
static long shared_mappings(void)
{
    char line[512], permissions[5];
    long count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        count += sscanf(line, "%*s %4s", permissions) == 1 && permissions[3] == 's';
    if (maps != NULL)
        fclose(maps);
    return count;
}

/* One transfer, before which nothing is counted of the commit before. */
static void move_one(MPIRT_Channel channel)
{
    MPIRTX_Channel_metrics metrics;
    OK(MPIRTX_Channel_get_metrics(channel, &metrics));
    CHECK(metrics.completed == 0 && metrics.late_binding_copies == 0);
    CHECK(metrics.latency.count == 0 && metrics.latency.sum == 0);
    OK(MPIRT_Channel_start(channel));
    MUST(MPIRT_Channel_wait(channel, patience));
    OK(MPIRTX_Channel_get_metrics(channel, &metrics));
    CHECK(metrics.completed == 1);
}

static int is_zero(const MPIRTX_Task_metrics *metrics)
{
    return metrics->completed + metrics->missed + metrics->overruns + metrics->skipped + metrics->compute.count
           + metrics->start_lateness.count == 0;
}

static void counts(MPIRTX_Task task, const MPIRTX_Instance *instance, void *argument)
{
    MPIRTX_Task_metrics metrics;
    /* What is counted begins at 0 with each commit. */
    if (instance->number == 0 && (MPIRTX_Task_get_metrics(task, &metrics) != MPIRT_SUCCESS || !is_zero(&metrics)))
        __atomic_store_n((int *)argument, -1, __ATOMIC_RELEASE);
    else if (__atomic_load_n((int *)argument, __ATOMIC_ACQUIRE) >= 0)
        __atomic_add_fetch((int *)argument, 1, __ATOMIC_RELEASE);
}

/* spec: SETUP-UNCOMMIT-02, SETUP-UNCOMMIT-04, TASK-METRIC-RUN-03 */
static void test_a_hundred_commits_hold_no_more_than_one(void)
{
    MPIRT_Buffer buffer;
    MPIRT_Bufiter iterator;
    MPIRT_Channel channel = MPIRT_CHANNEL_NULL;
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    long descriptors = 0, threads = 0, data = 0, shared = 0;
    int count = 0;
    OK(MPIRT_Qos_channel_time_create(NULL, 0, 10 * ms, 10 * ms, &qos));
    snprintf(name, sizeof name, "counter-%d", rank);
    OK(MPIRTX_Task_create(name, counts, &count, qos, ms, &task));
    OK(MPIRT_Buffer_create(NULL, MPIRT_SYSTEM_MEM_ALLOC, SIZE, MPIRT_BYTE, &buffer));
    OK(MPIRT_Bufiter_create(NULL, MPIRT_BUFITER_FIFO, SIZE, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    if (rank < 2 && members > 1)
        OK(MPIRT_Ptchannel_create("again", iterator, iterator, 0, 1, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &channel));
    for (int round = 1; round <= ALL; round++) {
        count = 0;
        /* Uncommit has taken it out. */
        OK(MPIRT_Bufiter_insert(iterator, buffer));
        MUST(MPIRT_Commit());
        if (channel.bits != 0)
            move_one(channel);
        while (__atomic_load_n(&count, __ATOMIC_ACQUIRE) == 0)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
        CHECK(count > 0);
        OK(MPIRT_Uncommit());
        if (round == FIRST) {
            descriptors = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
            data = status_kib("VmData");
            shared = shared_mappings();
        }
    }
    CHECK(entries("/proc/self/fd") == descriptors);
    CHECK(entries("/proc/self/task") == threads);
    CHECK(shared_mappings() == shared);
    /* Far less than what so many commits have taken. */
    CHECK(data > 0 && status_kib("VmData") - data < (ALL - FIRST) * (SIZE / 1024) / 8);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    test_a_hundred_commits_hold_no_more_than_one();
    return end();
}
