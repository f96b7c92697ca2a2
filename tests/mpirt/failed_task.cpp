/* An exception leaves a task: its member has failed at that instant, whoever waits for the end of the commit gets the exception, and the others
 * hear of a death. */
#include <mpirt.hpp>

#include "harness.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>

using namespace std::chrono_literals;

/* No exception of the standard library's. */
struct nozzle {
    int stuck;
};

static std::atomic<int> begun{0}, begun_beside{0}, failed_in{-1};

static void run(int argc, char **argv)
{
    const bool is_a_value = argc > 1 && std::string(argv[1]) == "value";
    mpirt::session session(argc, argv);
    rank = mpirt::world().rank();
    const auto qos = mpirt::qos::channel_time(nullptr, 0ms, 20ms, 20ms);
    const auto name = std::to_string(rank);
    const auto fails = mpirt::task::create(
        "fails-" + name,
        [is_a_value](const mpirt::instance &now) {
            begun++;
            if (rank == 0 && now.number >= 3) {
                failed_in = static_cast<int>(now.number);
                if (is_a_value)
                    throw nozzle{4};
                throw std::runtime_error("thrown on purpose");
            }
        },
        qos, 1ms);
    const auto beside = mpirt::task::create("beside-" + name, [] { begun_beside++; }, qos, 1ms);
    auto committed = session.commit();
    if (rank == 0) {
        committed.run();
        CHECK(false);
    }
    EXPECT(MPIRTX_Run(), MPIRT_ERR_PEER_LOST);
    if (failures == 0)
        printf("member %d: passed\n", rank);
}

static int failed(const char *how)
{
    /* It began no further instance, and the other task one at most. */
    CHECK(begun <= 4 && failed_in >= 3 && begun_beside <= failed_in + 2);
    fprintf(stderr, "caught: %s\n", how);
    if (failures == 0)
        fprintf(stderr, "its tasks have ended\n");
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    try {
        run(argc, argv);
    } catch (const std::exception &error) {
        return failed(error.what());
    } catch (const nozzle &value) {
        CHECK(value.stuck == 4);
        return failed("a nozzle");
    }
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
