/* A handler in C++ that ends its thread: that is no exception, and nobody on the way may swallow it. It ends that run alone, as in C. */
#include <mpirt.hpp>

#include "harness.h"

#include <array>
#include <pthread.h>
#include <thread>

constexpr std::uint64_t FIRINGS = 20;

int main(int argc, char **argv)
{
    mpirt::session session(argc, argv);
    rank = mpirt::world().rank();
    const auto handler = mpirt::handler::create(nullptr, [] { pthread_exit(nullptr); });
    const std::array<mpirt::object_ref, 1> handlers{handler};
    const auto vector = mpirt::cvector::create(nullptr, handlers);
    const std::string event = "ends-" + std::to_string(rank);
    const auto receptor = mpirt::receptor::create(event, mpirt::world(), vector);
    const auto trigger =
        mpirt::trigger::create(event, mpirt::event_kind::call, mpirt::object_ref(), mpirt::world());
    auto committed = session.commit();
    for (std::uint64_t firing = 1; firing <= FIRINGS; firing++) {
        trigger.fire();
        while (handler.metrics().failed < firing)
            std::this_thread::yield();
    }
    committed.uncommit();
    if (failures == 0)
        printf("member %d: passed\n", rank);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
