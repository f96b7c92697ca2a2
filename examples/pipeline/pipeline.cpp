/* A pipeline in C++: three stages, driven by events. As pipeline.c, which explains it, and with the same output.
 *
 *     c++ -std=c++17 pipeline.cpp $(pkg-config --cflags --libs mpirt) -o pipeline && leveret run -n 3 ./pipeline
 *     leveret run -n 3 ./pipeline -- 1000
 */
#include <mpirt.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int stages = 3, depth = 4, items_default = 10, items_max = 1000000;
constexpr auto patience = 10s;
constexpr auto budget = 100us;

std::int64_t &number_in(mpirt::buffer_ref buffer) { return *static_cast<std::int64_t *>(buffer.base()); }

mpirt::bufiter iterator(const char *name)
{
    return mpirt::bufiter::of<std::int64_t>(name, mpirt::bufiter_policy::fifo, 1);
}

/* What `start` starts, and what fires `completion` when it is complete. */
auto between(const char *start, const char *completion)
{
    return mpirt::qos::channel_event(nullptr, start, completion);
}

/* What a stage has: where messages come from, and where they go. Each end of a channel takes buffers from its first iterator, and puts
 * them into its second. */
class stage {
public:
    stage(int rank, std::size_t items) : rank_(rank), items_(items)
    {
        for (int count = 0; count < depth; count++) {
            buffers_.push_back(mpirt::buffer::of<std::int64_t>(nullptr, 1));
            idle_.insert(buffers_.back());
        }
        if (rank > 0) {
            in_ = channel(rank - 1, idle_, received_);
        }
        if (rank < stages - 1) {
            out_ = channel(rank, full_, idle_);
        }
        if (rank == 0) {
            ready_ = mpirt::receptor::create("ready", mpirt::world());
            done_ = mpirt::receptor::create("done", mpirt::world());
        }
        if (rank == 1) {
            task_ = mpirt::task::create("square", [this] { square(); }, between("came", "squared"), budget);
        }
        if (rank == 2) {
            sums_.reserve(items);
            task_ = mpirt::task::create("add", [this] { add(); }, between("arrived", nullptr), budget);
        }
    }
    stage(const stage &) = delete; // the task has its address

    void run()
    {
        if (rank_ > 0) {
            in_.activate();
        }
        if (rank_ < stages - 1) {
            out_.activate();
        }
        /* What an event starts counts from here on. The others only wait until the first stage has had enough. */
        if (rank_ == 0) {
            feed();
        } else {
            is_ready_.fire();
        }
    }

    const std::vector<std::int64_t> &sums() const { return sums_; }

private:
    static mpirt::channel channel(int source, mpirt::bufiter_ref in, mpirt::bufiter_ref out)
    {
        const auto qos = source == 0 ? between("fed", "came") : between("squared", "arrived");
        return mpirt::channel::ptchannel(source == 0 ? "numbers" : "squares", in, out, source, source + 1, mpirt::world(), qos);
    }

    static mpirt::trigger trigger(const char *event)
    {
        return mpirt::trigger::create(event, mpirt::event_kind::call, {}, mpirt::world());
    }

    /* A buffer to fill; when all are on their way, the next that comes back. */
    mpirt::buffer_ref next()
    {
        for (;;) {
            auto buffer = idle_.try_remove();
            if (buffer.code() != mpirt::errc::empty) {
                return std::move(buffer).value(); // or throws what is wrong
            }
            out_.wait(patience);
        }
    }

    /* The first stage sends when both others have said that they are ready, and waits until the last number is added. */
    void feed()
    {
        for (int other = 1; other < stages; other++) {
            ready_.wait(patience);
        }
        for (std::size_t number = 1; number <= items_; number++) {
            const auto buffer = next();
            number_in(buffer) = static_cast<std::int64_t>(number);
            full_.insert(buffer);
            fed_.fire();
        }
        done_.wait(patience);
    }

    /* Stage 1: squares the number where it lies. That it has run sends it on. */
    void square()
    {
        const auto buffer = received_.remove();
        number_in(buffer) *= number_in(buffer);
        full_.insert(buffer);
    }

    /* Stage 2: adds the number up, and says when it was the last. */
    void add()
    {
        const auto buffer = received_.remove();
        sum_ += number_in(buffer);
        sums_.push_back(sum_);
        idle_.insert(buffer);
        if (sums_.size() == items_) {
            done_trigger_.fire();
        }
    }

    int rank_;
    std::size_t items_;
    mpirt::bufiter received_ = iterator("received"), full_ = iterator("full"), idle_ = iterator("idle");
    std::vector<mpirt::buffer> buffers_;
    mpirt::channel in_, out_;
    mpirt::trigger fed_ = trigger("fed"), is_ready_ = trigger("ready"), done_trigger_ = trigger("done");
    mpirt::receptor ready_, done_;
    mpirt::task task_;
    std::int64_t sum_ = 0;
    std::vector<std::int64_t> sums_;
};

/* How many numbers: the program's argument. 0: it is wrong. */
std::size_t items_of(int argc, char **argv)
{
    char *end = nullptr;
    const long items = argc > 1 ? std::strtol(argv[1], &end, 10) : items_default;
    const bool is_number = end == nullptr || (end != argv[1] && *end == '\0');
    return argc <= 2 && is_number && items >= 1 && items <= items_max ? static_cast<std::size_t>(items) : 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        mpirt::session session(argc, argv);
        const int rank = mpirt::world().rank(), size = mpirt::world().size();
        if (size != stages) {
            std::fprintf(stderr, "pipeline: it has %d members, not %d; start it with -n %d\n", stages, size, stages);
            return 1;
        }
        const auto items = items_of(argc, argv);
        if (items == 0) {
            std::fprintf(stderr, "pipeline: its argument is how many numbers go through it, 1 to %d\n", items_max);
            return 1;
        }
        stage stage(rank, items);
        auto committed = session.commit();
        stage.run();
        committed.uncommit();
        int place = 0;
        for (const auto sum : stage.sums()) {
            std::printf("sink: the squares up to %d are %lld\n", ++place, static_cast<long long>(sum));
        }
        return 0;
    } catch (const mpirt::error &error) {
        std::fprintf(stderr, "pipeline: %s\n", error.what());
        return 1;
    }
}
