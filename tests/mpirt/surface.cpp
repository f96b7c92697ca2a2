/* The C++ interface: owners and references, both forms of an operation, time, spans, tasks from lambdas. Every file of the suite
 * is one program, which runs at 1 to 4 members. */
#include <mpirt.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

int failures;
int rank;

void check(bool holds, const char *what, int line)
{
    if (!holds) {
        failures++;
        std::fprintf(stderr, "%s:%d: member %d: %s does not hold\n", __FILE__, line, rank, what);
    }
}
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __LINE__)

/* The call throws this code, and says which function failed. */
template <class Call> void expect_throw(Call &&call, mpirt::errc code, int line)
{
    try {
        call();
        check(false, "it throws", line);
    } catch (const mpirt::error &error) {
        check(error.number() == code, error.what(), line);
        check(std::string(error.what()).find(error.call()) == 0, error.what(), line);
    }
}
#define EXPECT_THROW(code, ...) expect_throw([&] { __VA_ARGS__; }, code, __LINE__)

/* spec: LANG-CPP-RAII-01, OBJECT-HANDLE-01 */
void test_owners_free_and_move()
{
    static_assert(!std::is_copy_constructible_v<mpirt::buffer> && !std::is_copy_assignable_v<mpirt::buffer>);
    static_assert(std::is_nothrow_move_constructible_v<mpirt::buffer> && std::is_nothrow_move_assignable_v<mpirt::buffer>);
    static_assert(sizeof(mpirt::buffer) == sizeof(MPIRT_Buffer) && std::is_trivially_copyable_v<mpirt::buffer_ref>);
    static_assert(sizeof(mpirt::buffer_ref) == 8 && alignof(mpirt::buffer_ref) == alignof(MPIRT_Buffer));
    mpirt::cset_ref left;
    {
        auto set = mpirt::cset::create("owned");
        left = set;
        CHECK(left.name() == "owned");
        mpirt::cset moved = std::move(set);
        CHECK(!set && moved && moved == left);
        moved = mpirt::cset::create("other");
        CHECK(left.try_name().code() == mpirt::errc::stale_object);
        left = moved;
        CHECK(left.name() == "other");
        moved.free();
        CHECK(!moved && left.try_name().code() == mpirt::errc::stale_object);
        moved = mpirt::cset::create("third");
        left = moved;
    }
    CHECK(left.try_name().code() == mpirt::errc::stale_object);
    const mpirt::cset given(mpirt::cset::create("given").detach().c());
    CHECK(given.name() == "given");
}

/* Owners end in any order: what a set refers to stays until the set lets go. */
/* spec: LANG-CPP-RAII-01 */
void test_owners_end_in_any_order()
{
    auto set = std::make_unique<mpirt::cset>(mpirt::cset::create(nullptr));
    auto member = std::make_unique<mpirt::cset>(mpirt::cset::create("member"));
    set->insert(*member);
    member.reset();
    CHECK(set->access_count() == 1);
    set.reset();
}

/* spec: LANG-CPP-ERROR-01 */
void test_an_operation_throws_or_answers()
{
    const mpirt::buffer_ref none;
    EXPECT_THROW(mpirt::errc::null_object, (void)none.label());
    const auto label = none.try_label();
    CHECK(!label && label.code() == mpirt::errc::null_object);
    const std::error_code code = label.code();
    CHECK(code.value() == MPIRT_ERR_NULL_OBJECT && code.category() == mpirt::category());
    CHECK(code.message() == mpirt::message(mpirt::errc::null_object));
    EXPECT_THROW(mpirt::errc::bufsize, mpirt::buffer::of<int>(nullptr, 0));
    CHECK(mpirt::buffer::try_of<int>(nullptr, 0).code() == mpirt::errc::bufsize);
    const auto buffer = mpirt::buffer::of<int>("b", 1);
    buffer.set_label(-3);
    CHECK(buffer.label() == -3 && *buffer.try_label() == -3);
    EXPECT_THROW(mpirt::errc::already_initialized, mpirt::session());
    CHECK(mpirt::session::try_begin().code() == mpirt::errc::already_initialized);
    EXPECT_THROW(mpirt::errc::name, mpirt::cset::create(std::string(MPIRT_NAME_MAX, 'x')));
}

/* spec: LANG-CPP-CHRONO-01 */
void test_times_are_exact()
{
    static_assert(std::is_same_v<mpirt::duration, std::chrono::nanoseconds> && mpirt::clock::is_steady);
    const mpirt::time_point before = mpirt::clock::now();
    mpirt::sleep_for(1ns);
    const mpirt::time_point after = mpirt::clock::now();
    CHECK(after > before);
    const mpirt::time_point later = mpirt::clock::now() + 200ms;
    mpirt::sleep_until(later);
    CHECK(mpirt::clock::now() >= later);
    CHECK(mpirt::try_sleep_for(-1ns).code() == mpirt::errc::time);
    CHECK(mpirt::try_sleep_until(before).code() == mpirt::errc::time_past);
    const auto [high, low] = mpirt::int64_export(mpirt::time_point(0x123456789ns));
    CHECK(high == 0x1 && low == 0x23456789);
    CHECK(mpirt::no_limit.count() == MPIRT_TIME_SPEC_IGNORE);
}

/* Groups through spans of ranks. */
void test_groups()
{
    const int size = mpirt::world().size();
    std::vector<int> ranks;
    for (int place = size - 1; place >= 0; place--) {
        ranks.push_back(place);
    }
    const auto backwards = mpirt::world().incl(ranks, "backwards");
    CHECK(backwards.size() == size && backwards.rank() == size - 1 - rank);
    std::vector<int> translated(ranks.size());
    backwards.translate_ranks(ranks, mpirt::world(), translated);
    for (int place = 0; place < size; place++) {
        CHECK(translated[place] == place);
    }
    CHECK(backwards.try_translate_ranks(ranks, mpirt::world(), {}).code() == mpirt::errc::argument);
    CHECK(mpirt::world().union_(backwards, nullptr).size() == size);
}

/* Vectors through spans of references. */
void test_vectors()
{
    const auto buffer = mpirt::buffer::of<double>(nullptr, 1);
    const std::array<mpirt::object_ref, 2> elements{buffer, {}};
    const auto vector = mpirt::cvector::create("v", elements);
    CHECK(vector.access_count() == 2);
}

/* Collective channels through typed iterators: what each member sends, added up at the root and sent to all. */
void test_collectives(mpirt::session &session)
{
    const int size = mpirt::world().size();
    const bool is_root = rank == 0;
    const auto iterator = [] { return mpirt::bufiter::of<std::int64_t>(nullptr, mpirt::bufiter_policy::fifo, 2); };
    const auto in = iterator(), out = iterator(), recvin = iterator(), recvout = iterator();
    const auto of_all = iterator(), got = iterator();
    const mpirt::bufiter_ref none;
    const auto at_root = [&](const mpirt::bufiter_ref &which) { return is_root ? which : none; };
    const auto sum = mpirt::channel::reduce("sum", in, out, at_root(recvin), at_root(recvout), mpirt::op::sum, 0,
                                            mpirt::world());
    const auto all = mpirt::channel::bcast("all", at_root(recvout), at_root(recvin), of_all, got, 0, mpirt::world());
    const auto meet = mpirt::channel::barrier("meet", mpirt::world());
    EXPECT_THROW(mpirt::errc::inv_rank,
                 mpirt::channel::bcast("wrong", none, none, of_all, got, size, mpirt::world()));
    EXPECT_THROW(mpirt::errc::undef_for_object, (void)meet.inbufiter());
    CHECK(all.object_type() == mpirt::object_type::bcast_channel && all.recvinbufiter() == of_all);
    const auto mine = mpirt::buffer::of<std::int64_t>("mine", 2), result = mpirt::buffer::of<std::int64_t>("result", 2);
    const auto copy = mpirt::buffer::of<std::int64_t>("copy", 2);
    if (is_root) {
        recvin.insert(result);
    }
    of_all.insert(copy);
    auto committed = session.commit();
    const auto numbers = mine.span<std::int64_t>();
    numbers[0] = rank;
    numbers[1] = 1;
    in.insert(mine);
    for (const auto &channel : {mpirt::channel_ref(sum), mpirt::channel_ref(all), mpirt::channel_ref(meet)}) {
        channel.start();
        channel.wait();
    }
    const auto found = mpirt::buffer_ref(got.remove()).span<std::int64_t>();
    CHECK(found[0] == size * (size - 1) / 2 && found[1] == size);
    committed.uncommit();
}

/* Each member commits for itself. */
void test_a_commit_of_a_group(mpirt::session &session)
{
    const std::array<int, 1> own{rank};
    const auto self = mpirt::world().incl(own);
    auto committed = session.commit(self);
    CHECK(session.try_commit(self).code() == mpirt::errc::object_committed);
    CHECK(committed.epoch() > mpirt::time_point());
    if (mpirt::world().size() > 1) {
        CHECK(committed.try_uncommit(mpirt::world()).code() == mpirt::errc::argument);
    }
    committed.uncommit(self);
}

/* The commit is refused with this code, and what the exception says has all of these words. */
template <class Commit> void expect_refusal(mpirt::errc code, const std::vector<std::string> &words, Commit &&commit)
{
    try {
        commit().uncommit();
        CHECK(!"the commit is refused");
    } catch (const mpirt::error &error) {
        const std::string what = error.what();
        CHECK(error.number() == code);
        for (const auto &word : words) {
            check(what.find(word) != std::string::npos, ("'" + word + "' in: " + what).c_str(), __LINE__);
        }
    }
}

/* Not only that it is refused: which objects do not fit, and how. */
/* spec: LANG-CPP-ERROR-02 */
void test_a_refused_commit_says_why(mpirt::session &session)
{
    const auto qos = mpirt::qos::channel_time(nullptr, 0ms, 1ms, 1ms);
    const auto own = std::to_string(rank);
    {
        const auto idle = [](mpirt::task_ref, const mpirt::instance &) {};
        const auto left = mpirt::task::create("hungry-left-" + own, idle, qos, 900us);
        const auto right = mpirt::task::create("hungry-right-" + own, idle, qos, 900us);
        left.set_core(0);
        right.set_core(0);
        const auto nothing = mpirt::bufiter::of<std::uint8_t>(nullptr, mpirt::bufiter_policy::fifo, 8);
        auto removed = nothing.try_remove();
        expect_refusal(mpirt::errc::admission, {"MPIRT_Commit: ", "`hungry-left-", "900us"}, [&] { return session.commit(); });
        /* What is thrown later is not told with the reason of another error that came in between. */
        try {
            (void)std::move(removed).value();
            CHECK(!"there was a buffer");
        } catch (const mpirt::error &error) {
            CHECK(std::string(error.what()) == "MPIRT_Bufiter_remove: there is nothing to take");
        }
    }
    if (mpirt::world().size() > 1) {
        std::vector<mpirt::bufiter> ends;
        std::vector<mpirt::channel> channels;
        if (rank < 2) {
            ends.push_back(mpirt::bufiter::of<std::uint8_t>(nullptr, mpirt::bufiter_policy::fifo, rank == 0 ? 8 : 16));
            channels.push_back(mpirt::channel::ptchannel("uneven", ends[0], ends[0], 0, 1, mpirt::world(), mpirt::qos_ref()));
        }
        expect_refusal(mpirt::errc::mismatch, {"MPIRT_Commit: ", "\"uneven\"", "size differs", "\"0\"", "\"1\"", "8 ", "16 "},
                       [&] { return session.commit(); });
    }
    const std::array<int, 1> only{rank};
    const auto self = mpirt::world().incl(only);
    const auto ends = mpirt::bufiter::of<std::uint8_t>(nullptr, mpirt::bufiter_policy::fifo, 8);
    const auto half = mpirt::channel::ptchannel("half-" + own, ends, ends, 0, 0, self, mpirt::qos_ref());
    expect_refusal(mpirt::errc::argument, {"MPIRTX_Commit_group: ", "\"half-" + own + "\"", "MPIRT_Channel_set_recvinbufiter"},
                   [&] { return session.commit(self); });
}

/* A buffer's elements are as many and of the type that its dataspec says. */
/* spec: LANG-CPP-SPAN-01 */
void test_spans_of_buffers(mpirt::session &session)
{
    double own[4] = {1.5, 2.5, 3.5, 4.5};
    const auto words = mpirt::buffer::of<std::int64_t>("words", 3);
    const auto mine = mpirt::buffer::over("mine", mpirt::span<double>(own));
    CHECK(words.bufsize() == 3 * sizeof(std::int64_t) && mine.bufsize() == sizeof own);
    CHECK(words.span<std::int64_t>().empty());
    const auto refuse_others = [&] {
        /* As wide, and not the same. */
        EXPECT_THROW(mpirt::errc::dataspec, (void)words.span<std::uint64_t>());
        EXPECT_THROW(mpirt::errc::dataspec, (void)words.span<double>());
        EXPECT_THROW(mpirt::errc::dataspec, (void)mine.span<std::int64_t>());
        CHECK(words.try_span<std::int32_t>().code() == mpirt::errc::dataspec);
        CHECK(mine.try_span<float>().code() == mpirt::errc::dataspec);
    };
    refuse_others();
    auto committed = session.commit();
    const auto elements = words.span<std::int64_t>();
    CHECK(elements.size() == 3 && elements.data() == words.base());
    for (auto &element : elements) {
        element = &element - elements.data();
    }
    const auto again = words.span<std::int64_t>();
    CHECK(again.data() == elements.data() && again[2] == 2);
    const auto doubles = mine.span<double>();
    CHECK(doubles.data() == own && doubles.size() == 4 && doubles[3] == 4.5);
    refuse_others();
    committed.uncommit();
    CHECK(words.span<std::int64_t>().empty());
}

/* Where the buffers of both ends are one, those of the receiver are the sender's. */
/* spec: LANG-CPP-SPAN-02 */
void test_spans_of_received_buffers(mpirt::session &session)
{
    if (mpirt::world().size() < 2 || rank > 1) {
        session.commit().uncommit();
        return;
    }
    const auto frame = mpirt::buffer::of<double>("frame", 3);
    const std::array<mpirt::object_ref, 1> frames{frame};
    const auto allowed = mpirt::cvector::create(nullptr, frames);
    const auto in = mpirt::bufiter::create(nullptr, mpirt::bufiter_policy::fifo_mapped, 3 * sizeof(double), mpirt::dataspec::float64, allowed);
    const auto out = mpirt::bufiter::of<double>(nullptr, mpirt::bufiter_policy::fifo, 3);
    const auto camera = mpirt::channel::ptchannel("camera", in, out, 0, 1, mpirt::world(), mpirt::qos_ref(MPIRT_QOS_BEST_EFFORT));
    auto committed = session.commit();
    CHECK(frame.writable() == (rank == 0));
    CHECK(frame.span<const double>().size() == 3);
    if (rank == 0) {
        CHECK(frame.span<double>().size() == 3);
    } else {
        EXPECT_THROW(mpirt::errc::not_allowed, (void)frame.span<double>());
    }
    committed.uncommit();
    CHECK(frame.writable());
}

/* An exception that leaves a handler ends that run alone: it is counted, the next firing is handled, and who ends the commit gets it. */
/* spec: EVENT-HANDLER-10 */
void test_exceptions_in_handlers(mpirt::session &session)
{
    const auto event = "throws-" + std::to_string(rank);
    int runs = 0;
    const auto handler = mpirt::handler::create(nullptr, [&runs](const mpirt::event &firing) {
        runs++;
        if (firing.number == 1) {
            throw std::runtime_error("the second firing");
        }
    });
    const std::array<mpirt::object_ref, 1> handlers{handler};
    const auto vector = mpirt::cvector::create(nullptr, handlers);
    const auto receptor = mpirt::receptor::create(event, mpirt::world(), vector);
    const auto trigger =
        mpirt::trigger::create(event, mpirt::event_kind::call, mpirt::object_ref(), mpirt::world());
    auto committed = session.commit();
    CHECK(MPIRTX_Handler_fail() == MPIRT_ERR_UNDEF_FOR_OBJECT);
    for (std::uint64_t firing = 1; firing <= 3; firing++) {
        trigger.fire();
        while (handler.metrics().compute.count < firing) {
            std::this_thread::yield();
        }
    }
    CHECK(handler.metrics().failed == 1);
    try {
        committed.uncommit();
        check(false, "it throws", __LINE__);
    } catch (const std::runtime_error &error) {
        CHECK(std::string(error.what()) == "the second firing");
    }
    CHECK(runs == 3);
    /* Once. */
    session.commit().uncommit();
}

/* A lambda's state lies with the task. */
void test_tasks_from_lambdas(mpirt::session &session)
{
    const auto qos = mpirt::qos::channel_time(nullptr, 0ms, 5ms, 10ms);
    auto runs = std::make_shared<std::uint64_t>(0);
    {
        const auto name = "counts-" + std::to_string(rank);
        const auto task = mpirt::task::create(
            name,
            [runs](mpirt::task_ref self, const mpirt::instance &now) {
                ++*runs;
                if (!self || now.deadline <= now.start) {
                    throw std::logic_error("a wrong instance");
                }
            },
            qos, 1ms);
        auto committed = session.commit();
        CHECK(session.try_commit().code() == mpirt::errc::object_committed);
        CHECK(committed.epoch() > mpirt::time_point());
        committed.run();
    }
    CHECK(runs.use_count() >= 1);
}

} // namespace

int main(int argc, char **argv)
{
    try {
        mpirt::session session(argc, argv);
        rank = mpirt::world().rank();
        test_owners_free_and_move();
        test_owners_end_in_any_order();
        test_an_operation_throws_or_answers();
        test_times_are_exact();
        test_groups();
        test_vectors();
        test_collectives(session);
        test_a_commit_of_a_group(session);
        test_a_refused_commit_says_why(session);
        test_spans_of_buffers(session);
        test_spans_of_received_buffers(session);
        test_exceptions_in_handlers(session);
        test_tasks_from_lambdas(session);
        session.finalize();
        CHECK(mpirt::is_finalized());
    } catch (const std::exception &error) {
        std::fprintf(stderr, "member %d: %s\n", rank, error.what());
        return 1;
    }
    if (failures == 0) {
        std::printf("member %d: passed\n", rank);
    }
    return failures == 0 ? 0 : 1;
}
