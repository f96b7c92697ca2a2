/* A farm in C++: member 0 hands out jobs, the most urgent first, and the others work. As farm.c, and with the same output.
 *
 *     c++ -std=c++17 farm.cpp $(pkg-config --cflags --libs mpirt) -o farm && leveret run -n 3 ./farm
 */
#include <mpirt.hpp>

#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using mpirt::bufiter_policy;

namespace {

constexpr int jobs_in_all = 12, workers_max = 4, answer_buffers = 4;
constexpr std::size_t numbers = 2; // in a message
constexpr auto patience = 10s;

mpirt::bufiter iterator(const char *name, bufiter_policy policy)
{
    return mpirt::bufiter::of<std::int64_t>(name, policy, numbers);
}

mpirt::channel end(const char *kind, int source, int target, mpirt::bufiter_ref in, mpirt::bufiter_ref out)
{
    const auto name = std::string(kind) + "-" + std::to_string(source + target);
    return mpirt::channel::ptchannel(name, in, out, source, target, mpirt::world());
}

std::int64_t *numbers_of(mpirt::buffer_ref buffer) { return static_cast<std::int64_t *>(buffer.base()); }

void transfer(mpirt::channel_ref channel)
{
    channel.start();
    channel.wait(patience);
}

void hand_out(mpirt::session &session, int workers)
{
    const auto jobs = iterator("jobs", bufiter_policy::sorted), spent = iterator("spent", bufiter_policy::lifo);
    const auto ready = iterator("ready", bufiter_policy::lifo), answered = iterator("answered", bufiter_policy::fifo);
    std::vector<mpirt::channel> orders, answers;
    for (int worker = 1; worker <= workers; worker++) {
        orders.push_back(end("order", 0, worker, jobs, spent));
        answers.push_back(end("answer", worker, 0, ready, answered));
    }
    std::vector<mpirt::buffer> job, answer;
    for (int place = 0; place < jobs_in_all; place++) {
        job.push_back(mpirt::buffer::of<std::int64_t>(nullptr, numbers));
    }
    for (int place = 0; place < answer_buffers; place++) {
        answer.push_back(mpirt::buffer::of<std::int64_t>(nullptr, numbers));
        ready.insert(answer.back());
    }
    auto committed = session.commit();
    for (int place = 0; place < jobs_in_all; place++) {
        job[place].set_label(jobs_in_all - place); // the last one is the most urgent
        numbers_of(job[place])[0] = place + 1;
        jobs.insert(job[place]);
    }
    std::set<std::uint64_t> used;
    for (int round = 0; round < jobs_in_all / workers; round++) {
        for (const auto &order : orders) {
            transfer(order);
        }
        for (const auto &channel : answers) {
            transfer(channel);
            const auto came = answered.remove();
            used.insert(came.bits());
            std::printf("farmer: %lld squared is %lld\n", static_cast<long long>(numbers_of(came)[0]),
                        static_cast<long long>(numbers_of(came)[1]));
            ready.insert(came);
        }
    }
    std::printf("farmer: %d answers came into %zu of %d buffers\n", jobs_in_all, used.size(), answer_buffers);
    committed.uncommit();
}

void work(mpirt::session &session, int rank, int workers)
{
    const auto empty = iterator("empty", bufiter_policy::fifo), full = iterator("full", bufiter_policy::fifo);
    const auto orders = end("order", 0, rank, empty, full);
    const auto answers = end("answer", rank, 0, full, empty);
    const auto buffer = mpirt::buffer::of<std::int64_t>(nullptr, numbers);
    empty.insert(buffer);
    auto committed = session.commit();
    for (int round = 0; round < jobs_in_all / workers; round++) {
        transfer(orders);
        const auto order = full.remove();
        numbers_of(order)[1] = numbers_of(order)[0] * numbers_of(order)[0];
        full.insert(order);
        transfer(answers);
    }
    committed.uncommit();
}

} // namespace

int main(int argc, char **argv)
{
    try {
        mpirt::session session(argc, argv);
        const int rank = mpirt::world().rank(), size = mpirt::world().size();
        if (size < 2 || size > workers_max + 1) {
            std::fprintf(stderr, "farm: it has 2 to %d members, not %d; start it with -n 3\n", workers_max + 1, size);
            return 1;
        }
        if (rank == 0) {
            hand_out(session, size - 1);
        } else {
            work(session, rank, size - 1);
        }
        return 0;
    } catch (const mpirt::error &error) {
        std::fprintf(stderr, "farm: %s\n", error.what());
        return 1;
    }
}
