/* A change of mode in C++: a second set of objects takes over from the first while it runs. As mode-change.c, which explains it, and with
 * the same output.
 *
 *     c++ -std=c++17 mode-change.cpp $(pkg-config --cflags --libs mpirt) -o mode-change
 *     leveret run -n 2 --rounds 200 ./mode-change
 */
#include <mpirt.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int members = 2, buffers = 2;

struct mode {
    const char *name;
    mpirt::duration period;
    int numbers; // in a message
};

constexpr mode slow_mode{"slow", 20ms, 1}, fast_mode{"fast", 5ms, 4};

/* One end of the channel with everything that it needs; its destructor frees all of it. */
class end {
public:
    end(const mode &mode, int rank) : mode_(mode)
    {
        const auto release = rank == 0 ? 0ms : 2ms; // the controller runs when the message has come
        for (int count = 0; count < buffers; count++) {
            buffers_.push_back(mpirt::buffer::of<std::int64_t>(nullptr, mode.numbers));
            (rank == 0 ? out_ : in_).insert(buffers_.back());
        }
        const auto qos = mpirt::qos::channel_time(nullptr, release, release + 1ms, mode.period);
        task_ = rank == 0
            ? mpirt::task::create("sensor", [this](const mpirt::instance &now) { measure(now); }, qos, 100us)
            : mpirt::task::create("controller", [this] { control(); }, qos, 100us);
        task_.bind(channel_);
    }
    end(const end &) = delete; // the task has its address

    /* Gives how many were wrong. */
    std::uint64_t tell(int rank) const
    {
        if (rank == 1) {
            std::printf("controller: %s: took %llu messages of %d numbers, %llu wrong\n", mode_.name,
                        static_cast<unsigned long long>(taken_), mode_.numbers, static_cast<unsigned long long>(wrong_));
            std::fflush(stdout);
        }
        return wrong_;
    }

private:
    mpirt::bufiter iterator(const char *name) const
    {
        return mpirt::bufiter::of<std::int64_t>(name, mpirt::bufiter_policy::fifo, mode_.numbers);
    }

    mpirt::channel channel() const
    {
        const auto qos = mpirt::qos::channel_time(nullptr, 1ms, 2ms, mode_.period);
        return mpirt::channel::ptchannel("readings", in_, out_, 0, 1, mpirt::world(), qos);
    }

    /* Member 0: every number of the message is the instance's. */
    void measure(const mpirt::instance &now)
    {
        if (const auto buffer = out_.try_remove()) {
            auto *numbers = static_cast<std::int64_t *>(buffer->base());
            for (int place = 0; place < mode_.numbers; place++) {
                numbers[place] = static_cast<std::int64_t>(now.number);
            }
            in_.insert(*buffer);
        }
    }

    /* Member 1: numbers only grow, and all in a message are the same. */
    void control()
    {
        if (const auto buffer = out_.try_remove()) {
            const auto *numbers = static_cast<const std::int64_t *>(buffer->base());
            wrong_ += numbers[0] < expected_;
            for (int place = 1; place < mode_.numbers; place++) {
                wrong_ += numbers[place] != numbers[0];
            }
            expected_ = numbers[0] + 1;
            taken_++;
            in_.insert(*buffer);
        }
    }

    const mode &mode_;
    mpirt::bufiter in_ = iterator("in"), out_ = iterator("out");
    std::vector<mpirt::buffer> buffers_;
    mpirt::channel channel_ = channel();
    mpirt::task task_;
    std::int64_t expected_ = 0;
    std::uint64_t taken_ = 0, wrong_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    try {
        mpirt::session session(argc, argv);
        const int rank = mpirt::world().rank(), size = mpirt::world().size();
        if (size != members) {
            std::fprintf(stderr, "mode-change: it has %d members, not %d; start it with -n %d\n", members, size, members);
            return 1;
        }
        std::optional<end> slow(std::in_place, slow_mode, rank);
        auto committed = session.commit();
        // What this thread makes from here on belongs to the mode, until it is committed.
        const auto mode = mpirt::mode::open(fast_mode.name);
        const end fast(fast_mode, rank);
        mode.commit();
        mode.switch_(committed.epoch() + 400ms);
        auto wrong = slow->tell(rank);
        slow.reset();
        committed.run();
        wrong += fast.tell(rank);
        return wrong > 0 ? 1 : 0;
    } catch (const mpirt::error &error) {
        std::fprintf(stderr, "mode-change: %s\n", error.what());
        return 1;
    }
}
