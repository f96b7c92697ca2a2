/* A member fails while the others are in a wait of the library, whose exception leaves what they have committed: the one that failed is the cause,
 * and the others have ended for it. */
#include <mpirt.hpp>

#include "harness.h"

#include <chrono>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

/* From the member that fails to another. */
static MPIRT_Channel end_of_channel(int target)
{
    const std::string name = "to-" + std::to_string(target);
    MPIRT_Bufiter iterator;
    MPIRT_Buffer buffer;
    MPIRT_Channel made;
    MUST(MPIRT_Bufiter_create(nullptr, MPIRT_BUFITER_FIFO, 8, MPIRT_BYTE, MPIRT_CONTAINER_NULL, &iterator));
    MUST(MPIRT_Buffer_create(nullptr, MPIRT_SYSTEM_MEM_ALLOC, 8, MPIRT_BYTE, &buffer));
    MUST(MPIRT_Bufiter_insert(iterator, buffer));
    MUST(MPIRT_Ptchannel_create(name.c_str(), iterator, iterator, 0, target, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &made));
    return made;
}

static void run(int argc, char **argv)
{
    const std::string way = argv[1];
    mpirt::session session(argc, argv);
    rank = mpirt::world().rank();
    members = mpirt::world().size();
    const auto qos = mpirt::qos::channel_time(nullptr, 0ms, 20ms, 20ms);
    const auto task = mpirt::task::create("task-" + std::to_string(rank), [] {}, qos, 1ms);
    MPIRT_Receptor receptor;
    MPIRT_Trigger trigger;
    MUST(MPIRT_Receptor_create("never", MPIRT_GROUP_WORLD, MPIRT_CONTAINER_NULL, &receptor));
    MUST(MPIRT_Trigger_create("never", MPIRT_EVENT_CALL, MPIRT_OBJECT_NULL, MPIRT_GROUP_WORLD, MPIRT_QOS_NULL, &trigger));
    std::vector<MPIRT_Channel> channels;
    for (int target = 1; target < members; target++)
        if (rank == 0 || rank == target)
            channels.push_back(end_of_channel(target));
    auto committed = session.commit();
    if (rank == 0 && way != "interrupted") {
        mpirt::sleep_for(100ms);
        _exit(7);
    }
    fprintf(stderr, "member %d waits\n", rank);
    if (way == "event")
        mpirt::receptor_ref(receptor).wait(mpirt::no_limit);
    if (way == "channel") {
        const mpirt::channel_ref channel(channels[0]);
        channel.start();
        channel.wait(mpirt::no_limit);
    }
    mpirt::sleep_for(way == "short" ? 1h : mpirt::no_limit);
}

int main(int argc, char **argv)
{
    try {
        run(argc, argv);
    } catch (const std::exception &error) {
        fprintf(stderr, "member %d: %s\n", rank, error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
