/* A pipeline in C++: three stages, driven by events. As pipeline.c, which explains it, and with the same output.
 *
 *     c++ -std=c++17 pipeline.cpp $(pkg-config --cflags --libs mpirt) -o pipeline && leveret run -n 3 ./pipeline
 */
#include <mpirt.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int stages = 3, items = 10;
constexpr auto patience = 10s;

std::int64_t &number_in(mpirt::buffer_ref buffer) { return *static_cast<std::int64_t *>(buffer.base()); }

mpirt::bufiter iterator(const char *name)
{
    return mpirt::bufiter::of<std::int64_t>(name, mpirt::bufiter_policy::fifo, 1);
}

/* What a stage has: where messages come from, where they go, and what it fires when it has sent one. */
class stage {
public:
    explicit stage(int rank) : rank_(rank)
    {
        for (int count = 0; count < items; count++) {
            buffers_.push_back(mpirt::buffer::of<std::int64_t>(nullptr, 1));
            (rank == 0 ? idle_ : empty_).insert(buffers_.back());
        }
        if (rank > 0) {
            in_ = channel(rank - 1, empty_, received_);
        }
        if (rank < stages - 1) {
            out_ = channel(rank, full_, idle_);
        }
        if (rank == 0) {
            ready_ = mpirt::receptor::create("ready", mpirt::world());
        }
        if (rank == 1) {
            run_at("number", [this] { square(); });
        }
        if (rank == 2) {
            sums_.reserve(items);
            run_at("square", [this] { add(); });
        }
    }
    stage(const stage &) = delete; // the handlers have its address

    void run()
    {
        if (rank_ == 0) {
            feed();
        } else {
            for (int count = 0; count < items; count++) {
                in_.start();
            }
            is_ready_.fire();
        }
        done_.wait(patience);
    }

    const std::vector<std::int64_t> &sums() const { return sums_; }

private:
    /* Every item may be on its way at once. */
    static mpirt::channel channel(int source, mpirt::bufiter_ref in, mpirt::bufiter_ref out)
    {
        auto made = mpirt::channel::ptchannel(source == 0 ? "numbers" : "squares", in, out, source, source + 1, mpirt::world());
        made.set_slack(items);
        return made;
    }

    static mpirt::trigger trigger(const char *event)
    {
        return mpirt::trigger::create(event, mpirt::event_kind::call, {}, mpirt::world());
    }

    template <class Function> void run_at(const char *event, Function function)
    {
        const auto handler = mpirt::handler::create(event, function);
        const auto handlers = mpirt::cset::create(nullptr);
        handlers.insert(handler);
        /* What the receptor refers to lives as long as it does. */
        runs_ = mpirt::receptor::create(event, mpirt::world(), handlers);
    }

    /* The first stage sends when both others have said that they are ready. */
    void feed()
    {
        for (int other = 1; other < stages; other++) {
            ready_.wait(patience);
        }
        for (std::int64_t number = 1; number <= items; number++) {
            const auto buffer = idle_.remove();
            number_in(buffer) = number;
            full_.insert(buffer);
            out_.start();
            sent_.fire();
        }
    }

    /* Stage 1: squares the number where it lies, and sends it on. */
    void square()
    {
        const auto buffer = received_.remove();
        number_in(buffer) *= number_in(buffer);
        full_.insert(buffer);
        out_.start();
        sent_.fire();
    }

    /* Stage 2: adds the number up, and says when it was the last. */
    void add()
    {
        sum_ += number_in(received_.remove());
        sums_.push_back(sum_);
        if (sums_.size() == items) {
            done_trigger_.fire();
        }
    }

    int rank_;
    mpirt::bufiter received_ = iterator("received"), full_ = iterator("full");
    mpirt::bufiter idle_ = iterator("idle"), empty_ = iterator("empty");
    std::vector<mpirt::buffer> buffers_;
    mpirt::channel in_, out_;
    mpirt::trigger sent_ = trigger(rank_ == 0 ? "number" : "square"), done_trigger_ = trigger("done");
    mpirt::trigger is_ready_ = trigger("ready");
    mpirt::receptor done_ = mpirt::receptor::create("done", mpirt::world()), ready_, runs_;
    std::int64_t sum_ = 0;
    std::vector<std::int64_t> sums_;
};

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
        stage stage(rank);
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
