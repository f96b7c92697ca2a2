/* An exception passes what is committed: its member has failed and waits for nobody, the program says why, and the others hear of a death. */
#include <mpirt.hpp>

#include "harness.h"

#include <atomic>
#include <ctime>
#include <stdexcept>

static const MPIRT_Timespec ms = 1000000;

static std::atomic<int> begun{0};

static void counts(MPIRTX_Task, const MPIRTX_Instance *, void *) { begun++; }

static void run(int argc, char **argv)
{
    MPIRT_Qos qos;
    MPIRTX_Task task;
    char name[MPIRT_NAME_MAX];
    mpirt::session session(argc, argv);
    OK(MPIRT_Group_rank(MPIRT_GROUP_WORLD, &rank));
    snprintf(name, sizeof name, "counts-%d", rank);
    MUST(MPIRT_Qos_channel_time_create(NULL, 0, 20 * ms, 20 * ms, &qos));
    MUST(MPIRTX_Task_create(name, counts, NULL, qos, ms, &task));
    const mpirt::committed committed = session.commit();
    if (rank == 0) {
        while (begun == 0)
            OK(MPIRT_Sleep(MPIRT_TIME_RELATIVE, ms));
        throw std::runtime_error("thrown on purpose");
    }
    EXPECT(MPIRTX_Run(), MPIRT_ERR_PEER_LOST);
    if (failures == 0)
        printf("member %d: passed\n", rank);
}

int main(int argc, char **argv)
{
    try {
        run(argc, argv);
    } catch (const std::exception &error) {
        /* One instance may have been under way; in ten periods a task that goes on would begin as many. */
        const int before = begun;
        const std::timespec ten = {0, 200 * ms};
        nanosleep(&ten, nullptr);
        CHECK(begun <= before + 1);
        EXPECT(MPIRT_Uncommit(), MPIRT_ERR_AGENT);
        fprintf(stderr, "%s\n", error.what());
        if (failures == 0)
            fprintf(stderr, "its tasks have ended\n");
        return EXIT_FAILURE;
    }
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
