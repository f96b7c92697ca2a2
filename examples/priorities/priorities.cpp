/* Priorities in C++: two channels under load. As priorities.c, which explains it, and with the same output.
 *
 *     c++ -std=c++17 priorities.cpp $(pkg-config --cflags --libs mpirt) -o priorities && leveret run -n 2 ./priorities
 */
#include <mpirt.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int logs_sent = 8, alarms_sent = 4, messages = logs_sent + alarms_sent;
/* Alarms are messages from this number on. */
constexpr std::int64_t first_alarm = 1000;
constexpr auto patience = 10s;

std::int64_t &number_in(mpirt::buffer_ref buffer) { return *static_cast<std::int64_t *>(buffer.base()); }

mpirt::bufiter iterator() { return mpirt::bufiter::of<std::int64_t>(nullptr, mpirt::bufiter_policy::fifo, 1); }

/* As many messages as there are may wait at the receiver. */
mpirt::channel channel(const char *name, int priority, mpirt::bufiter_ref in, mpirt::bufiter_ref out)
{
    const auto qos = mpirt::qos::channel_priority(name, priority);
    auto made = mpirt::channel::ptchannel(name, in, out, 0, 1, mpirt::world(), qos);
    made.set_slack(logs_sent);
    return made;
}

void send(mpirt::bufiter_ref in, mpirt::buffer_ref buffer, std::int64_t number)
{
    number_in(buffer) = number;
    in.insert(buffer);
}

/* Fires "arrived" for each message of a channel. */
mpirt::trigger watch(const mpirt::channel &channel)
{
    return mpirt::trigger::create("arrived", mpirt::event_kind::completion, channel, mpirt::world());
}

class member {
public:
    explicit member(int rank) : rank_(rank)
    {
        for (int count = 0; count <= messages; count++) {
            buffers_.push_back(mpirt::buffer::of<std::int64_t>(nullptr, 1));
        }
        received_.reserve(messages);
        if (rank == 1) {
            end_.insert(buffers_.back());
            watched_.push_back(watch(of_logs_));
            watched_.push_back(watch(of_alarms_));
            arrived_ = mpirt::receptor::create("arrived", mpirt::world());
        }
    }

    void run()
    {
        of_logs_.activate();
        of_alarms_.activate();
        of_end_.activate();
        if (rank_ == 0) {
            for (int number = 0; number < logs_sent; number++) {
                send(logs_, buffers_[number], number + 1);
            }
            for (int number = 0; number < alarms_sent; number++) {
                send(alarms_, buffers_[logs_sent + number], first_alarm + number + 1);
            }
            send(end_, buffers_.back(), 0);
        }
        of_end_.wait(patience);
        for (int place = 0; rank_ == 1 && place < messages; place++) {
            logs_.insert(buffers_[place]);
            arrived_.wait(patience);
            received_.push_back(number_in(out_.remove()));
        }
    }

    const std::vector<std::int64_t> &received() const { return received_; }

private:
    int rank_;
    mpirt::bufiter logs_ = iterator(), alarms_ = iterator(), end_ = iterator(), out_ = iterator(), gone_ = iterator();
    std::vector<mpirt::buffer> buffers_;
    mpirt::channel of_logs_ = channel("logs", 5, logs_, out_);
    /* The receiver's buffers are for both. */
    mpirt::channel of_alarms_ = channel("alarms", 40, rank_ == 0 ? alarms_ : logs_, out_);
    /* The least urgent of all: when it has come, everything else lies there. */
    mpirt::channel of_end_ = channel("end", 1, end_, gone_);
    std::vector<mpirt::trigger> watched_;
    mpirt::receptor arrived_;
    std::vector<std::int64_t> received_;
};

} // namespace

int main(int argc, char **argv)
{
    try {
        mpirt::session session(argc, argv);
        const int rank = mpirt::world().rank(), size = mpirt::world().size();
        if (size != 2) {
            std::fprintf(stderr, "priorities: it has 2 members, not %d; start it with -n 2\n", size);
            return 1;
        }
        member member(rank);
        auto committed = session.commit();
        member.run();
        committed.uncommit();
        for (const auto number : member.received()) {
            const bool is_alarm = number > first_alarm;
            std::printf("receiver: %s %lld\n", is_alarm ? "alarm" : "log",
                        static_cast<long long>(number - is_alarm * first_alarm));
        }
        return 0;
    } catch (const mpirt::error &error) {
        std::fprintf(stderr, "priorities: %s\n", error.what());
        return 1;
    }
}
