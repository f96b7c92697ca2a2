/* The three-node ring of the HARE thesis (section 5.3) in C++: as ring.c, line for line, and with the same output.
 *
 *     c++ -std=c++17 ring.cpp $(pkg-config --cflags --libs mpirt) -o ring-cpp && leveret run -n 3 --rounds 5000 ./ring-cpp
 */
#include <mpirt.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int members = 3;
constexpr std::size_t numbers = 1; // in a message
constexpr auto period = 5ms;
constexpr auto budget = 50us;

struct window {
    mpirt::duration start, deadline;
};

/* When each member computes, from the period's start: the window of its user task. */
constexpr std::array<window, members> computes{{{0us, 75us}, {200us, 275us}, {400us, 475us}}};

mpirt::bufiter iterator(const char *name)
{
    return mpirt::bufiter::of<std::uint32_t>(name, mpirt::bufiter_policy::fifo, numbers);
}

/* What a node has and remembers. */
struct node {
    bool starts_the_round;
    /* To the next member: full buffers go in, empty ones come out. From the one before: the other way round. */
    mpirt::bufiter full = iterator("full"), sent = iterator("sent");
    mpirt::bufiter empty = iterator("empty"), received = iterator("received");
    std::vector<mpirt::buffer> buffers;
    std::uint32_t expected = 0;
    std::uint64_t taken = 0, out_of_order = 0;

    explicit node(bool starts) : starts_the_round(starts) {}

    /* Two buffers, so that one can be filled while the other is on its way. */
    void stock(const mpirt::bufiter &where)
    {
        for (int count = 0; count < 2; count++) {
            buffers.push_back(mpirt::buffer::of<std::uint32_t>(nullptr, numbers));
            where.insert(buffers.back());
        }
    }

    /* One round: nothing here is a system call, and nothing throws unless the program is wrong. */
    void pass_on(const mpirt::instance &instance)
    {
        auto number = static_cast<std::uint32_t>(instance.number);
        bool sends = starts_the_round;
        if (auto buffer = received.try_remove()) {
            const std::uint32_t came = *static_cast<const std::uint32_t *>(buffer->base());
            empty.insert(*buffer);
            taken++;
            out_of_order += came < expected;
            expected = came + 1;
            if (!starts_the_round) {
                number = came;
                sends = true;
            }
        }
        if (!sends) {
            return;
        }
        if (auto buffer = sent.try_remove()) {
            *static_cast<std::uint32_t *>(buffer->base()) = number;
            full.insert(*buffer);
        }
    }
};

/* The channel from one member to the next: what is in time when the sender's window ends is there when the receiver's
 * begins. */
mpirt::channel channel(int source, mpirt::bufiter_ref in, mpirt::bufiter_ref out)
{
    static constexpr std::array<const char *, members> names{"AB", "BC", "CA"};
    const auto start = computes[source].deadline;
    const auto qos = mpirt::qos::channel_time(nullptr, start, start + 125us, period);
    return mpirt::channel::ptchannel(names[source], in, out, source, (source + 1) % members, mpirt::world(), qos);
}

int ring(int &argc, char **&argv)
{
    mpirt::session session(argc, argv);
    const int rank = mpirt::world().rank();
    if (mpirt::world().size() != members) {
        std::fprintf(stderr, "ring: it has %d members, not %d; start it with -n %d\n", members, mpirt::world().size(), members);
        return 1;
    }
    node node(rank == 0);
    node.stock(node.sent);
    node.stock(node.empty);
    const auto to = channel(rank, node.full, node.sent);
    const auto from = channel((rank + members - 1) % members, node.empty, node.received);
    const auto name = std::string(1, static_cast<char>('A' + rank)) + ".user";
    const auto qos = mpirt::qos::channel_time(nullptr, computes[rank].start, computes[rank].deadline, period);
    const auto task = mpirt::task::create(name, [&node](const mpirt::instance &now) { node.pass_on(now); }, qos, budget);
    task.bind(from);
    task.bind(to);

    session.commit().run();
    std::printf("%s: took %llu messages, %llu out of order\n", name.c_str(), static_cast<unsigned long long>(node.taken),
                static_cast<unsigned long long>(node.out_of_order));
    return node.out_of_order == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return ring(argc, argv);
    } catch (const mpirt::error &error) {
        std::fprintf(stderr, "ring: %s\n", error.what());
        return 1;
    }
}
