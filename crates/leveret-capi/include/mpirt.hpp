/* mpirt.hpp: MPI/RT-style objects in C++17, over the functions of mpirt.h and nothing else.
 *
 * Made of spec/mpirt/ and of crates/leveret-capi/cpp/mpirt.hpp.in by `cargo xtask spec --header`; do not edit.
 *
 * Each class comes as a reference (`buffer_ref`: 64 bits, copied freely, owns nothing) and as an owner (`buffer`: its destructor
 * frees the object). Each operation comes as one that throws `mpirt::error`, and as one that begins with try_, throws nothing, and
 * returns a `result`: an error code, or the value. What an operation does and which errors it has stands in mpirt.h at the function
 * that is named beside it. */
#ifndef MPIRT_HPP
#define MPIRT_HPP

#if __cplusplus < 201703L
#error "mpirt.hpp needs C++17 or later: compile with -std=c++17 (mpirt.h can be used from C++98 on)"
#endif

#include <mpirt.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L
#include <span>
#endif

/* 1 where exceptions are on. Without them only the forms that begin with try_ are there. */
#if !defined(MPIRT_EXCEPTIONS)
#if defined(__cpp_exceptions)
#define MPIRT_EXCEPTIONS 1
#else
#define MPIRT_EXCEPTIONS 0
#endif
#endif

namespace mpirt {

// --- Errors ---

/// The error codes of mpirt.h.
enum class errc : int {
    success = MPIRT_SUCCESS, ///< the call did what it says
    not_initialized = MPIRT_ERR_NOT_INITIALIZED, ///< MPIRT_Init has not succeeded yet
    object_committed = MPIRT_ERR_OBJECT_COMMITTED, ///< the object is committed, or objects are, and the call would change or create one
    undef_for_object = MPIRT_ERR_UNDEF_FOR_OBJECT, ///< the operation is not defined for this object
    cset_member_not_found = MPIRT_ERR_CSET_MEMBER_NOT_FOUND, ///< the set has no such member
    inv_keyval = MPIRT_ERR_INV_KEYVAL, ///< the key was not created, or was freed
    already_initialized = MPIRT_ERR_ALREADY_INITIALIZED, ///< MPIRT_Init has succeeded already
    finalized = MPIRT_ERR_FINALIZED, ///< MPIRT_Finalize has succeeded already
    not_committed = MPIRT_ERR_NOT_COMMITTED, ///< the call needs a commit, and there is none
    real_time = MPIRT_ERR_REAL_TIME, ///< a handler or a task may not make this call
    null_object = MPIRT_ERR_NULL_OBJECT, ///< the handle is null
    stale_object = MPIRT_ERR_STALE_OBJECT, ///< the object of the handle was freed
    inv_object = MPIRT_ERR_INV_OBJECT, ///< the handle was never given out
    wrong_class = MPIRT_ERR_WRONG_CLASS, ///< the object is of another class
    null_pointer = MPIRT_ERR_NULL_POINTER, ///< a pointer is null
    name = MPIRT_ERR_NAME, ///< the name is too long, has no end, or is no UTF-8 without control characters
    argument = MPIRT_ERR_ARGUMENT, ///< a value is out of its range, or two do not go together
    index = MPIRT_ERR_INDEX, ///< the index is out of range
    inv_rank = MPIRT_ERR_INV_RANK, ///< the rank is out of range, or named twice
    not_member = MPIRT_ERR_NOT_MEMBER, ///< the caller has no part in it
    bufsize = MPIRT_ERR_BUFSIZE, ///< the size is out of range or does not fit
    dataspec = MPIRT_ERR_DATASPEC, ///< the dataspec is none or does not fit
    operation = MPIRT_ERR_OPERATION, ///< the operation of a reduction is none or does not fit
    time = MPIRT_ERR_TIME, ///< a time or a duration is out of its range
    time_past = MPIRT_ERR_TIME_PAST, ///< the instant has passed or can no longer be met
    not_allowed = MPIRT_ERR_NOT_ALLOWED, ///< the buffer is not in the allowed set, or out of its order
    buffer_in_use = MPIRT_ERR_BUFFER_IN_USE, ///< the buffer is in an iterator or in a transfer
    empty = MPIRT_ERR_EMPTY, ///< there is nothing to take
    full = MPIRT_ERR_FULL, ///< there is no room
    slack = MPIRT_ERR_SLACK, ///< as many transfers as the slack allows are under way, or another thread uses the end
    active = MPIRT_ERR_ACTIVE, ///< this end is activated
    not_started = MPIRT_ERR_NOT_STARTED, ///< the channel is neither started nor activated
    timeout = MPIRT_ERR_TIMEOUT, ///< the time has passed
    missed = MPIRT_ERR_MISSED, ///< the transfer was not performed
    peer_lost = MPIRT_ERR_PEER_LOST, ///< another member has died or left
    committed = MPIRT_ERR_COMMITTED, ///< Commit has ended the sleep
    uncommitted = MPIRT_ERR_UNCOMMITTED, ///< the end of what is committed has ended the wait or the sleep
    mismatch = MPIRT_ERR_MISMATCH, ///< what the members declare does not go together: ends of a channel, names, groups or events differ or are missing
    admission = MPIRT_ERR_ADMISSION, ///< the declarations cannot be met together
    agent = MPIRT_ERR_AGENT, ///< the agent of the job cannot be reached or refuses
    end = MPIRT_ERR_END, ///< there is no further member
    changed = MPIRT_ERR_CHANGED, ///< the container changed under its iterator
    limit = MPIRT_ERR_LIMIT, ///< there are as many as there can be
    no_memory = MPIRT_ERR_NO_MEMORY, ///< out of memory
    internal = MPIRT_ERR_INTERNAL, ///< the library has failed; the detail says where
};

namespace detail {

class error_category final : public std::error_category {
public:
    const char *name() const noexcept override { return "mpirt"; }

    std::string message(int code) const override
    {
        const char *text = "";
        (void)MPIRT_Error_string(code, &text);
        return text;
    }
};

} // namespace detail

/// The category of `errc` as a `std::error_code`.
inline const std::error_category &category() noexcept
{
    static const detail::error_category only;
    return only;
}

inline std::error_code make_error_code(errc code) noexcept { return {static_cast<int>(code), category()}; }

/// The text of a code.
inline const char *message(errc code) noexcept
{
    const char *text = "";
    (void)MPIRT_Error_string(static_cast<int>(code), &text);
    return text;
}

/// What the thread's last error was about, with place and remedy; empty if there was none.
inline const char *error_detail() noexcept
{
    const char *text = "";
    (void)MPIRTX_Error_detail(&text);
    return text;
}

#if MPIRT_EXCEPTIONS
/// What every operation throws that does not begin with try_. `what()` has the call and what the code means, and of setup the
/// place and the remedy, as `error_detail()`.
class error : public std::system_error {
public:
    error(errc code, const char *call)
        : std::system_error(make_error_code(code)), call_(call), text_(std::make_shared<const std::string>(text(code, call)))
    {
    }

    const char *what() const noexcept override { return text_->c_str(); }

    /// The code of mpirt.h.
    errc number() const noexcept { return static_cast<errc>(code().value()); }

    /// The function of mpirt.h that failed.
    const char *call() const noexcept { return call_; }

private:
    static std::string text(errc code, const char *call)
    {
        const std::string_view detail = error_detail();
        const auto begins = [detail](std::string_view with) { return detail.compare(0, with.size(), with) == 0; };
        const std::string begin = std::string(call).append(": ");
        if (begins(begin)) {
            return std::string(detail);
        }
        // Why a commit is refused is the same sentence on all members and names no function; what names another is of a later error, and so is
        // such a sentence where this error's own names its function.
        return detail.empty() || begins("MPIRT") || names_its_function(code) ? begin + message(code) : std::string(begin).append(detail);
    }

    /// Of transfers and walks.
    static bool names_its_function(errc code) noexcept
    {
        switch (code) {
        case errc::empty:
        case errc::full:
        case errc::slack:
        case errc::active:
        case errc::not_started:
        case errc::timeout:
        case errc::missed:
        case errc::uncommitted:
        case errc::end:
        case errc::changed: return true;
        default: return false;
        }
    }

    // Shared, since copies of an exception may not fail.
    const char *call_;
    std::shared_ptr<const std::string> text_;
};
#endif

/// A value, or why there is none. The function of mpirt.h that gave it is remembered for the exception.
template <class T> class [[nodiscard]] result {
public:
    result(T value) noexcept : value_(std::move(value)) {}
    result(errc code, const char *call) noexcept : code_(code), call_(call) {}

    explicit operator bool() const noexcept { return code_ == errc::success; }
    errc code() const noexcept { return code_; }

    /// Only where there is one.
    T &operator*() noexcept { return *value_; }
    const T &operator*() const noexcept { return *value_; }
    T *operator->() noexcept { return &*value_; }
    const T *operator->() const noexcept { return &*value_; }
    T value_or(T other) && { return value_ ? std::move(*value_) : std::move(other); }

#if MPIRT_EXCEPTIONS
    /// The value; throws `mpirt::error` where there is none.
    T value() &&
    {
        if (code_ != errc::success) {
            throw error(code_, call_);
        }
        return std::move(*value_);
    }
#endif

private:
    std::optional<T> value_;
    errc code_ = errc::success;
    const char *call_ = "";
};

/// Success, or an error.
template <> class [[nodiscard]] result<void> {
public:
    result() noexcept = default;
    result(errc code, const char *call) noexcept : code_(code), call_(call) {}

    explicit operator bool() const noexcept { return code_ == errc::success; }
    errc code() const noexcept { return code_; }

#if MPIRT_EXCEPTIONS
    /// Throws `mpirt::error` unless all went well.
    void value() const
    {
        if (code_ != errc::success) {
            throw error(code_, call_);
        }
    }
#endif

private:
    errc code_ = errc::success;
    const char *call_ = "";
};

// --- Time ---

/// Durations are exact: nanoseconds in 64 bits, as in C.
using duration = std::chrono::nanoseconds;

/// The job's clock: the same instants on every member.
struct clock {
    using duration = mpirt::duration;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<clock>;
    static constexpr bool is_steady = true;

    static result<time_point> try_now() noexcept
    {
        MPIRT_Timespec now = 0;
        const int code = MPIRT_Get_time(&now);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Get_time"};
        }
        return time_point(duration(now));
    }
#if MPIRT_EXCEPTIONS
    static time_point now() { return try_now().value(); }
#endif
};

/// An instant since the job's base.
using time_point = clock::time_point;

/// As a timeout: none.
inline constexpr duration no_limit = duration(MPIRT_TIME_SPEC_IGNORE);
/// As an instant: none.
inline constexpr time_point no_instant = time_point(no_limit);

// --- Spans, texts, names ---

/* What C++17 and C++20 spell differently must not share a name for the linker. */
#if __cplusplus >= 202002L
inline namespace cpp20 {
template <class T> using span = std::span<T>;
}
#else
inline namespace cpp17 {
/// Elements that lie one after the other and belong to somebody else.
template <class T> class span {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;

    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <class Container, class = decltype(static_cast<T *>(std::declval<Container &>().data()))>
    constexpr span(Container &container) noexcept : data_(container.data()), size_(container.size())
    {
    }
    template <class Container, class = decltype(static_cast<T *>(std::declval<const Container &>().data()))>
    constexpr span(const Container &container) noexcept : data_(container.data()), size_(container.size())
    {
    }

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr std::size_t size_bytes() const noexcept { return size_ * sizeof(T); }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t place) const noexcept { return data_[place]; }
    constexpr T &front() const noexcept { return data_[0]; }
    constexpr T &back() const noexcept { return data_[size_ - 1]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};
} // namespace cpp17
#endif

/// A text that goes in: a C string, a `std::string`, or nothing.
class text {
public:
    constexpr text(std::nullptr_t) noexcept {}
    constexpr text(const char *string) noexcept : string_(string) {}
    text(const std::string &string) noexcept : string_(string.c_str()) {}
    constexpr const char *c_str() const noexcept { return string_; }

private:
    const char *string_ = nullptr;
};

/// A name that comes out. It lies in the object itself, so nothing is allocated.
class name {
public:
    name() noexcept = default;
    char *data() noexcept { return bytes_.data(); }
    const char *c_str() const noexcept { return bytes_.data(); }
    std::string_view view() const noexcept { return bytes_.data(); }
    std::string string() const { return bytes_.data(); }
    operator std::string_view() const noexcept { return view(); }
    friend bool operator==(const name &one, std::string_view other) noexcept { return one.view() == other; }
    friend bool operator!=(const name &one, std::string_view other) noexcept { return one.view() != other; }

private:
    std::array<char, MPIRT_NAME_MAX> bytes_{};
};

// --- Kinds and structures ---

/// The state of a channel end.
enum class channel_state : int {
    idle = MPIRTX_CHANNEL_IDLE,
    started = MPIRTX_CHANNEL_STARTED,
    active = MPIRTX_CHANNEL_ACTIVE,
};

/// The state of the clock.
enum class clock_state : int {
    free = MPIRTX_CLOCK_FREE,
    locked = MPIRTX_CLOCK_LOCKED,
    holdover = MPIRTX_CLOCK_HOLDOVER,
};

/// How receptors are combined.
enum class combination : int {
    any = MPIRTX_ANY,
    all = MPIRTX_ALL,
};

/// What the receiver sees of a miss.
enum class miss_policy : int {
    skip = MPIRTX_MISS_SKIP,
    hold_last = MPIRTX_MISS_HOLD_LAST,
    stop = MPIRTX_MISS_STOP,
};

/// How an instance of a channel ended.
enum class outcome : int {
    none = MPIRTX_OUTCOME_NONE,
    complete = MPIRTX_OUTCOME_COMPLETE,
    no_sender_buffer = MPIRTX_OUTCOME_NO_SENDER_BUFFER,
    no_receiver_buffer = MPIRTX_OUTCOME_NO_RECEIVER_BUFFER,
    late = MPIRTX_OUTCOME_LATE,
    invalid = MPIRTX_OUTCOME_INVALID,
    paused = MPIRTX_OUTCOME_PAUSED,
    peer_lost = MPIRTX_OUTCOME_PEER_LOST,
};

/// What follows when a task needs more than its budget.
enum class overrun_policy : int {
    skip = MPIRTX_OVERRUN_SKIP,
    late = MPIRTX_OVERRUN_LATE,
    stop = MPIRTX_OVERRUN_STOP,
};

/// The kind of a QoS.
enum class qos_kind : int {
    best_effort = MPIRTX_QOS_BEST_EFFORT,
    time = MPIRTX_QOS_TIME,
    event = MPIRTX_QOS_EVENT,
    priority = MPIRTX_QOS_PRIORITY,
    handler = MPIRTX_QOS_HANDLER,
};

/// The order of removal, and MAPPED or ORDERED.
enum class bufiter_policy : int {
    fifo = MPIRT_BUFITER_FIFO,
    lifo = MPIRT_BUFITER_LIFO,
    sorted = MPIRT_BUFITER_SORTED,
    unordered = MPIRT_BUFITER_UNORDERED,
    fifo_mapped = MPIRT_BUFITER_FIFO_MAPPED,
    lifo_mapped = MPIRT_BUFITER_LIFO_MAPPED,
    sorted_mapped = MPIRT_BUFITER_SORTED_MAPPED,
    unordered_mapped = MPIRT_BUFITER_UNORDERED_MAPPED,
    fifo_ordered = MPIRT_BUFITER_FIFO_ORDERED,
    lifo_ordered = MPIRT_BUFITER_LIFO_ORDERED,
    sorted_ordered = MPIRT_BUFITER_SORTED_ORDERED,
    unordered_ordered = MPIRT_BUFITER_UNORDERED_ORDERED,
};

/// What a buffer holds.
enum class dataspec : int {
    int_ = MPIRT_INT,
    float_ = MPIRT_FLOAT,
    double_ = MPIRT_DOUBLE,
    logical = MPIRT_LOGICAL,
    char_ = MPIRT_CHAR,
    byte = MPIRT_BYTE,
    time = MPIRT_TIME,
    int8 = MPIRT_INT8,
    int16 = MPIRT_INT16,
    int32 = MPIRT_INT32,
    int64 = MPIRT_INT64,
    uint8 = MPIRT_UINT8,
    uint16 = MPIRT_UINT16,
    uint32 = MPIRT_UINT32,
    uint64 = MPIRT_UINT64,
    float32 = MPIRT_FLOAT32,
    float64 = MPIRT_FLOAT64,
};

/// On what a trigger fires.
enum class event_kind : int {
    call = MPIRT_EVENT_CALL,
    completion = MPIRT_EVENT_COMPLETION,
    miss = MPIRT_EVENT_MISS,
    missing_buffer = MPIRT_EVENT_MISSING_BUFFER,
    error = MPIRT_EVENT_ERROR,
    time = MPIRT_EVENT_TIME,
};

/// The class of an object.
enum class object_type : int {
    null = MPIRT_TYPE_NULL,
    cset = MPIRT_TYPE_CSET,
    cvector = MPIRT_TYPE_CVECTOR,
    group = MPIRT_TYPE_GROUP,
    container_iterator = MPIRT_TYPE_CONTAINER_ITERATOR,
    buffer = MPIRT_TYPE_BUFFER,
    bufiter = MPIRT_TYPE_BUFITER,
    ptchannel = MPIRT_TYPE_PTCHANNEL,
    bcast_channel = MPIRT_TYPE_BCAST_CHANNEL,
    scatter_channel = MPIRT_TYPE_SCATTER_CHANNEL,
    gather_channel = MPIRT_TYPE_GATHER_CHANNEL,
    reduce_channel = MPIRT_TYPE_REDUCE_CHANNEL,
    barrier_channel = MPIRT_TYPE_BARRIER_CHANNEL,
    alltoall_channel = MPIRT_TYPE_ALLTOALL_CHANNEL,
    qos = MPIRT_TYPE_QOS,
    trigger = MPIRT_TYPE_TRIGGER,
    receptor = MPIRT_TYPE_RECEPTOR,
    handler = MPIRT_TYPE_HANDLER,
    task = MPIRT_TYPE_TASK,
    mode = MPIRT_TYPE_MODE,
    container = MPIRT_TYPE_CONTAINER,
    channel = MPIRT_TYPE_CHANNEL,
};

/// The operation of a reduction.
enum class op : int {
    sum = MPIRT_OP_SUM,
    prod = MPIRT_OP_PROD,
    min = MPIRT_OP_MIN,
    max = MPIRT_OP_MAX,
    land = MPIRT_OP_LAND,
    lor = MPIRT_OP_LOR,
    lxor = MPIRT_OP_LXOR,
    band = MPIRT_OP_BAND,
    bor = MPIRT_OP_BOR,
    bxor = MPIRT_OP_BXOR,
};

/// How a time is meant.
enum class time_mode : int {
    relative = MPIRT_TIME_RELATIVE,
    absolute = MPIRT_TIME_ABSOLUTE,
};

/// The dataspec of an element type.
template <class T> struct dataspec_of;
template <> struct dataspec_of<char> : std::integral_constant<dataspec, dataspec::char_> {};
template <> struct dataspec_of<std::byte> : std::integral_constant<dataspec, dataspec::byte> {};
template <> struct dataspec_of<std::int8_t> : std::integral_constant<dataspec, dataspec::int8> {};
template <> struct dataspec_of<std::int16_t> : std::integral_constant<dataspec, dataspec::int16> {};
template <> struct dataspec_of<std::int32_t> : std::integral_constant<dataspec, dataspec::int32> {};
template <> struct dataspec_of<std::int64_t> : std::integral_constant<dataspec, dataspec::int64> {};
template <> struct dataspec_of<std::uint8_t> : std::integral_constant<dataspec, dataspec::uint8> {};
template <> struct dataspec_of<std::uint16_t> : std::integral_constant<dataspec, dataspec::uint16> {};
template <> struct dataspec_of<std::uint32_t> : std::integral_constant<dataspec, dataspec::uint32> {};
template <> struct dataspec_of<std::uint64_t> : std::integral_constant<dataspec, dataspec::uint64> {};
template <> struct dataspec_of<float> : std::integral_constant<dataspec, dataspec::float32> {};
template <> struct dataspec_of<double> : std::integral_constant<dataspec, dataspec::float64> {};
template <> struct dataspec_of<duration> : std::integral_constant<dataspec, dataspec::time> {};
template <> struct dataspec_of<time_point> : std::integral_constant<dataspec, dataspec::time> {};
template <class T> inline constexpr dataspec dataspec_of_v = dataspec_of<std::remove_cv_t<T>>::value;

/// Whether elements of a type may lie in a buffer of this dataspec. The standard's own dataspecs are C's types.
template <class T> constexpr bool fits(dataspec spec) noexcept
{
    switch (spec) {
    case dataspec::int_:
    case dataspec::logical:
        return std::is_same_v<std::remove_cv_t<T>, int>;
    case dataspec::float_:
        return std::is_same_v<std::remove_cv_t<T>, float>;
    case dataspec::double_:
        return std::is_same_v<std::remove_cv_t<T>, double>;
    default:
        return spec == dataspec_of_v<T>;
    }
}

/// Durations that were measured. (MPIRTX_Duration_metrics)
struct duration_metrics {
    std::uint64_t count{};
    mpirt::duration last{};
    mpirt::duration least{};
    mpirt::duration greatest{};
    mpirt::duration sum{};

    static duration_metrics of(const MPIRTX_Duration_metrics &from) noexcept
    {
        return {from.count, mpirt::duration(from.last), mpirt::duration(from.least), mpirt::duration(from.greatest), mpirt::duration(from.sum)};
    }
};

/// A firing as a receptor gets it. (MPIRTX_Event)
struct event {
    int source{};
    std::uint64_t number{};
    mpirt::time_point time{};
    std::uint64_t pending{};
    std::uint64_t lost{};

    static event of(const MPIRTX_Event &from) noexcept
    {
        return {from.source, from.number, mpirt::time_point(mpirt::duration(from.time)), from.pending, from.lost};
    }
};

/// One run of a task. (MPIRTX_Instance)
struct instance {
    std::uint64_t number{};
    mpirt::time_point start{};
    mpirt::time_point deadline{};

    static instance of(const MPIRTX_Instance &from) noexcept
    {
        return {from.number, mpirt::time_point(mpirt::duration(from.start)), mpirt::time_point(mpirt::duration(from.deadline))};
    }
};

/// The state of a channel end. (MPIRTX_Status)
struct status {
    mpirt::channel_state state{};
    mpirt::outcome outcome{};
    std::uint64_t instance{};
    int under_way{};

    static status of(const MPIRTX_Status &from) noexcept
    {
        return {static_cast<mpirt::channel_state>(from.state), static_cast<mpirt::outcome>(from.outcome), from.instance, from.under_way};
    }
};

/// What was measured of a channel end. (MPIRTX_Channel_metrics)
struct channel_metrics {
    mpirt::duration_metrics latency{};
    std::uint64_t completed{};
    std::uint64_t no_sender_buffer{};
    std::uint64_t no_receiver_buffer{};
    std::uint64_t late{};
    std::uint64_t invalid{};
    std::uint64_t paused{};
    std::uint64_t late_binding_copies{};

    static channel_metrics of(const MPIRTX_Channel_metrics &from) noexcept
    {
        return {mpirt::duration_metrics::of(from.latency), from.completed, from.no_sender_buffer, from.no_receiver_buffer, from.late, from.invalid, from.paused, from.late_binding_copies};
    }
};

/// What was measured of a handler. (MPIRTX_Handler_metrics)
struct handler_metrics {
    mpirt::duration_metrics compute{};
    std::uint64_t overruns{};
    std::uint64_t failed{};

    static handler_metrics of(const MPIRTX_Handler_metrics &from) noexcept
    {
        return {mpirt::duration_metrics::of(from.compute), from.overruns, from.failed};
    }
};

/// What was measured of a task. (MPIRTX_Task_metrics)
struct task_metrics {
    mpirt::duration_metrics compute{};
    mpirt::duration_metrics start_lateness{};
    std::uint64_t completed{};
    std::uint64_t missed{};
    std::uint64_t overruns{};
    std::uint64_t skipped{};

    static task_metrics of(const MPIRTX_Task_metrics &from) noexcept
    {
        return {mpirt::duration_metrics::of(from.compute), mpirt::duration_metrics::of(from.start_lateness), from.completed, from.missed, from.overruns, from.skipped};
    }
};

// --- Handles ---

/// Owns an object: its destructor frees it, a move leaves null, and it cannot be copied. What others refer to lives on until
/// they let go, so owners may end in any order. While committed nothing can be freed; such an object goes with Finalize.
template <class Ref> class owner : public Ref {
public:
    owner() noexcept = default;
    /// Takes over a handle that C gave out.
    explicit owner(typename Ref::c_type handle) noexcept : Ref(handle) {}
    owner(const owner &) = delete;
    owner &operator=(const owner &) = delete;
    owner(owner &&other) noexcept : Ref(other.detach()) {}
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            (void)try_free();
            this->bits_ = other.detach().bits();
        }
        return *this;
    }
    ~owner()
    {
        if (this->bits_ != 0) {
            (void)try_free();
        }
    }

    /// Frees the object now; the handle is null afterwards.
    result<void> try_free() noexcept { return Ref::release(this->bits_); }
#if MPIRT_EXCEPTIONS
    /// Frees the object now; the handle is null afterwards.
    void free() { try_free().value(); }
#endif

    /// Gives the handle away unfreed.
    Ref detach() noexcept
    {
        const Ref handle = *this;
        this->bits_ = 0;
        return handle;
    }
};

namespace detail {

/// What tasks and handlers call: it lies where nothing frees it before Finalize, since an object may outlive its owner.
struct closure {
    closure *next = nullptr;
    virtual ~closure() = default;
};

inline std::atomic<closure *> closures{nullptr};

inline void keep(closure *made) noexcept
{
    made->next = closures.load(std::memory_order_relaxed);
    while (!closures.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

inline void release_closures() noexcept
{
    for (closure *left = closures.exchange(nullptr, std::memory_order_acquire); left != nullptr;) {
        delete std::exchange(left, left->next);
    }
}

#if MPIRT_EXCEPTIONS
/// The first exception that left a task or a handler, for whoever ends the commit.
struct failure {
    std::atomic<int> state{0}; // 0: none, 1: being stored, 2: there
    std::exception_ptr first;
};

inline failure &the_failure() noexcept
{
    static failure only;
    return only;
}

inline void keep_failure() noexcept
{
    int none = 0;
    // pthread_exit and cancellation unwind through here too, without a C++ exception.
    if (std::current_exception() != nullptr && the_failure().state.compare_exchange_strong(none, 1)) {
        the_failure().first = std::current_exception();
        the_failure().state.store(2);
    }
}

inline void rethrow_failure()
{
    int there = 2;
    if (the_failure().state.compare_exchange_strong(there, 1)) {
        std::exception_ptr first = std::exchange(the_failure().first, nullptr);
        the_failure().state.store(0);
        std::rethrow_exception(first);
    }
}
#endif

/// Runs a body of the program's, whose exception the library takes for its failure.
template <class Body> void kept(Body &&body)
{
#if MPIRT_EXCEPTIONS
    try {
        body();
    } catch (...) {
        keep_failure();
        throw;
    }
#else
    body();
#endif
}

/// Runs a body of the program's; an exception must not reach C. Says whether none came. What unwinds without being an exception (pthread_exit,
/// a cancellation) goes on: nobody may swallow it.
template <class Body> bool guarded(Body &&body)
{
#if MPIRT_EXCEPTIONS
    try {
        body();
    } catch (...) {
        if (std::current_exception() == nullptr) {
            throw;
        }
        keep_failure();
        return false;
    }
#else
    body();
#endif
    return true;
}

} // namespace detail

class object_ref;
class qos_ref;
class container_ref;
class cset_ref;
class cvector_ref;
class group_ref;
class container_iterator_ref;
class buffer_ref;
class bufiter_ref;
class channel_ref;
class trigger_ref;
class receptor_ref;
class handler_ref;
class task_ref;
class mode_ref;

/// A reference to any object.
class object_ref {
public:
    using c_type = MPIRT_Object;

    object_ref() noexcept = default;
    explicit object_ref(c_type handle) noexcept : bits_(handle.bits) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// Whether there is a handle; whether its object still lives, only a call can say.
    explicit operator bool() const noexcept { return bits_ != 0; }
    /// The handle as a number.
    std::uint64_t bits() const noexcept { return bits_; }
    friend bool operator==(const object_ref &one, const object_ref &other) noexcept { return one.bits_ == other.bits_; }
    friend bool operator!=(const object_ref &one, const object_ref &other) noexcept { return one.bits_ != other.bits_; }

    /// Says whether a handle is null. (MPIRT_Object_is_null)
    result<bool> try_is_null() const noexcept;
    /// Gives the leaf class of an object. (MPIRT_Object_get_object_type)
    result<mpirt::object_type> try_object_type() const noexcept;
    /// Gives the name of an object. (MPIRT_Object_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names an object. (MPIRT_Object_set_name)
    result<void> try_set_name(text name) const noexcept;
    /// Says whether two handles name the same object. Two null handles are the same. (MPIRTX_Object_compare)
    result<bool> try_compare(object_ref second) const noexcept;
    /// Gives the handle of an object as that of a container. (MPIRTX_Object_as_container)
    result<container_ref> try_as_container() const noexcept;
    /// Gives the handle of an object as that of a set. (MPIRTX_Object_as_cset)
    result<cset_ref> try_as_cset() const noexcept;
    /// Gives the handle of an object as that of a vector. (MPIRTX_Object_as_cvector)
    result<cvector_ref> try_as_cvector() const noexcept;
    /// Gives the handle of an object as that of a group. (MPIRTX_Object_as_group)
    result<group_ref> try_as_group() const noexcept;
    /// Gives the handle of an object as that of a buffer. (MPIRTX_Object_as_buffer)
    result<buffer_ref> try_as_buffer() const noexcept;
    /// Gives the handle of an object as that of a buffer iterator. (MPIRTX_Object_as_bufiter)
    result<bufiter_ref> try_as_bufiter() const noexcept;
    /// Gives the handle of an object as that of a channel. (MPIRTX_Object_as_channel)
    result<channel_ref> try_as_channel() const noexcept;
    /// Gives the handle of an object as that of a QoS. (MPIRTX_Object_as_qos)
    result<qos_ref> try_as_qos() const noexcept;
    /// Gives the handle of an object as that of a trigger. (MPIRTX_Object_as_trigger)
    result<trigger_ref> try_as_trigger() const noexcept;
    /// Gives the handle of an object as that of a receptor. (MPIRTX_Object_as_receptor)
    result<receptor_ref> try_as_receptor() const noexcept;
    /// Gives the handle of an object as that of a handler. (MPIRTX_Object_as_handler)
    result<handler_ref> try_as_handler() const noexcept;
    /// Gives the handle of an object as that of a task. (MPIRTX_Object_as_task)
    result<task_ref> try_as_task() const noexcept;
    /// Stores a pointer under a key at an object, in place of a former one, whose delete function runs first; an error of that is given back, and the former pointer stays. (MPIRT_Object_put_attr)
    result<void> try_put_attr(int keyval, void *value) const noexcept;
    /// Gives the pointer that is stored under a key at an object. (MPIRT_Object_get_attr)
    result<std::tuple<void *, bool>> try_attr(int keyval) const noexcept;
    /// Removes the pointer that is stored under a key at an object, after its delete function; an error of that is given back, and the pointer stays. (MPIRT_Object_delete_attr)
    result<void> try_delete_attr(int keyval) const noexcept;
#if MPIRT_EXCEPTIONS
    bool is_null() const;
    mpirt::object_type object_type() const;
    mpirt::name name() const;
    void set_name(text name) const;
    bool compare(object_ref second) const;
    container_ref as_container() const;
    cset_ref as_cset() const;
    cvector_ref as_cvector() const;
    group_ref as_group() const;
    buffer_ref as_buffer() const;
    bufiter_ref as_bufiter() const;
    channel_ref as_channel() const;
    qos_ref as_qos() const;
    trigger_ref as_trigger() const;
    receptor_ref as_receptor() const;
    handler_ref as_handler() const;
    task_ref as_task() const;
    void put_attr(int keyval, void *value) const;
    std::tuple<void *, bool> attr(int keyval) const;
    void delete_attr(int keyval) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Object_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Object_free"};
    }
    std::uint64_t bits_ = 0;
};

/// A reference to a quality of service.
class qos_ref : public object_ref {
public:
    using c_type = MPIRT_Qos;

    qos_ref() noexcept = default;
    explicit qos_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// Time-driven without a period: a single shot at an absolute time.
    static result<owner<qos_ref>> try_channel_once(text name, time_point start, time_point deadline) noexcept
    {
        return try_channel_time(name, start.time_since_epoch(), deadline.time_since_epoch(), duration::zero());
    }
#if MPIRT_EXCEPTIONS
    static owner<qos_ref> channel_once(text name, time_point start, time_point deadline)
    {
        return try_channel_once(name, start, deadline).value();
    }
#endif

    /// Makes a time-driven QoS: a window in each period, or one window at an absolute time, for a channel from one member to another. The place of a single window is kept in every round of the plan, the one that matters being at that time; where the window is longer than a round, in its last part. Modes and commits of a group cannot have a single window. (MPIRT_Qos_channel_time_create)
    static result<owner<qos_ref>> try_channel_time(text name, duration start, duration deadline, duration period) noexcept;
    /// Makes an event-driven QoS, for channels and tasks: a transfer for each start event, a completion event for each transfer. Its priority is 1, the least urgent, unless set. Firings count from the activation of the end that sends on, not before; each waits for a message to send, and that for a buffer to be received into. The member that receives fires the completion event, once the message is in its output iterator; of a task, the member that has run it. The library makes what takes and fires these events: a program needs a trigger only for what it fires itself, and a receptor only for what it waits for. (MPIRT_Qos_channel_event_create)
    static result<owner<qos_ref>> try_channel_event(text name, text start_event, text completion_event) noexcept;
    /// Makes a priority-driven QoS. (MPIRT_Qos_channel_priority_create)
    static result<owner<qos_ref>> try_channel_priority(text name, int priority) noexcept;
    /// Makes the QoS of a handler. (MPIRTX_Qos_handler_create)
    static result<owner<qos_ref>> try_handler(text name, int priority, duration budget, duration interval) noexcept;
    /// Gives the kind. (MPIRTX_Qos_get_kind)
    result<mpirt::qos_kind> try_kind() const noexcept;
    /// Gives the times of a time-driven QoS. (MPIRTX_Qos_get_time)
    result<std::tuple<mpirt::duration, mpirt::duration, mpirt::duration>> try_time() const noexcept;
    /// Gives the events of an event-driven QoS. (MPIRTX_Qos_get_events)
    result<std::tuple<mpirt::name, mpirt::name>> try_events() const noexcept;
    /// Gives the priority of an event-driven, priority-driven or handler's QoS. (MPIRTX_Qos_get_priority)
    result<int> try_priority() const noexcept;
    /// Sets the priority of an event-driven QoS. That of another kind is given when it is made. (MPIRTX_Qos_set_priority)
    result<void> try_set_priority(int priority) const noexcept;
    /// Gives how long after the epoch the periods begin, of a time-driven QoS. (MPIRTX_Qos_get_phase)
    result<mpirt::duration> try_phase() const noexcept;
    /// Sets how long after the epoch the periods begin, of a time-driven QoS. (MPIRTX_Qos_set_phase)
    result<void> try_set_phase(duration phase) const noexcept;
    /// Gives what the receiver sees of a miss (skip, hold-last or stop), of a time-driven QoS. (MPIRTX_Qos_get_miss_policy)
    result<mpirt::miss_policy> try_miss_policy() const noexcept;
    /// Sets what the receiver sees of a miss (skip, hold-last or stop), of a time-driven QoS. (MPIRTX_Qos_set_miss_policy)
    result<void> try_set_miss_policy(mpirt::miss_policy policy) const noexcept;
    /// Gives the longest time from start to completion that admission grants, of an event-driven or priority-driven QoS. (MPIRTX_Qos_get_deadline)
    result<mpirt::duration> try_deadline() const noexcept;
    /// Sets the longest time from start to completion that admission grants, of an event-driven or priority-driven QoS. (MPIRTX_Qos_set_deadline)
    result<void> try_set_deadline(duration deadline) const noexcept;
    /// Gives the smallest time between two transfers that admission counts on, of an event-driven or priority-driven QoS. (MPIRTX_Qos_get_interval)
    result<mpirt::duration> try_interval() const noexcept;
    /// Sets the smallest time between two transfers that admission counts on, of an event-driven or priority-driven QoS. A transfer that is asked for sooner is made as if it were asked for then. (MPIRTX_Qos_set_interval)
    result<void> try_set_interval(duration interval) const noexcept;
    /// Gives the name of a QoS. (MPIRT_Qos_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a QoS. (MPIRT_Qos_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<qos_ref> channel_time(text name, duration start, duration deadline, duration period);
    static owner<qos_ref> channel_event(text name, text start_event, text completion_event);
    static owner<qos_ref> channel_priority(text name, int priority);
    static owner<qos_ref> handler(text name, int priority, duration budget, duration interval);
    mpirt::qos_kind kind() const;
    std::tuple<mpirt::duration, mpirt::duration, mpirt::duration> time() const;
    std::tuple<mpirt::name, mpirt::name> events() const;
    int priority() const;
    void set_priority(int priority) const;
    mpirt::duration phase() const;
    void set_phase(duration phase) const;
    mpirt::miss_policy miss_policy() const;
    void set_miss_policy(mpirt::miss_policy policy) const;
    mpirt::duration deadline() const;
    void set_deadline(duration deadline) const;
    mpirt::duration interval() const;
    void set_interval(duration interval) const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Qos_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Qos_free"};
    }
};

/// A reference to a set, a vector or a group.
class container_ref : public object_ref {
public:
    using c_type = MPIRT_Container;

    container_ref() noexcept = default;
    explicit container_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Gives the number of members. (MPIRT_Container_access_count)
    result<int> try_access_count() const noexcept;
    /// Gives the name of a container. (MPIRT_Container_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a container. (MPIRT_Container_set_name)
    result<void> try_set_name(text name) const noexcept;
    /// Starts every channel of a container. (MPIRT_Container_start)
    result<void> try_start() const noexcept;
    /// Waits for every channel of a container, with one timeout for all. (MPIRT_Container_wait)
    result<void> try_wait(duration timeout = no_limit) const noexcept;
    /// Says whether every channel of a container is complete, and then completes all like wait; otherwise, and with an error, what was missed is reported and what is complete stays so. A channel that is there twice is complete when two tests of it in a row would say so. Never blocks. (MPIRT_Container_test)
    result<bool> try_test() const noexcept;
    /// Waits until one channel of a container is complete, gives it with how its instance ended, performed or not, and leaves the others as they are. The search begins behind the channel that was found last, so that none is passed over for ever. A start counts once: a channel that was given is no longer started. Ends that are neither started nor activated are left out; one whose peer is lost is given only when no other is complete, and then each time until the commit ends: deactivate it. All are looked at for 50 us without a pause, or for as long as it takes where one of them polls (`MPIRTX_Channel_set_polling`), and then the wait sleeps until something changes at one of them. (MPIRTX_Container_wait_any)
    result<std::tuple<channel_ref, mpirt::outcome>> try_wait_any(duration timeout = no_limit) const noexcept;
    /// As `MPIRTX_Container_wait_any`, and never blocks. (MPIRTX_Container_test_any)
    result<std::tuple<bool, channel_ref, mpirt::outcome>> try_test_any() const noexcept;
    /// Activates every channel of a container. (MPIRT_Container_activate)
    result<void> try_activate() const noexcept;
    /// Deactivates every channel of a container. (MPIRT_Container_deactivate)
    result<void> try_deactivate() const noexcept;
    /// Sets the quality of service of every channel of a container. (MPIRT_Container_set_qos)
    result<void> try_set_qos(qos_ref qos = {}) const noexcept;
    /// Makes a container of the same class that holds the members of contained containers in their place, each once, without groups and null elements. (MPIRT_Container_flatten)
    result<owner<container_ref>> try_flatten(text name) const noexcept;
    /// Makes a container of the same class that holds the members of one type, each once. (MPIRT_Container_filter)
    result<owner<container_ref>> try_filter(mpirt::object_type type, text name) const noexcept;
#if MPIRT_EXCEPTIONS
    int access_count() const;
    mpirt::name name() const;
    void set_name(text name) const;
    void start() const;
    void wait(duration timeout = no_limit) const;
    bool test() const;
    std::tuple<channel_ref, mpirt::outcome> wait_any(duration timeout = no_limit) const;
    std::tuple<bool, channel_ref, mpirt::outcome> test_any() const;
    void activate() const;
    void deactivate() const;
    void set_qos(qos_ref qos = {}) const;
    owner<container_ref> flatten(text name) const;
    owner<container_ref> filter(mpirt::object_type type, text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Container_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Container_free"};
    }
};

/// A reference to an unordered set of references, of any size.
class cset_ref : public container_ref {
public:
    using c_type = MPIRT_Cset;

    cset_ref() noexcept = default;
    explicit cset_ref(c_type handle) noexcept : container_ref(container_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Makes an empty set. (MPIRT_Cset_create)
    static result<owner<cset_ref>> try_create(text name) noexcept;
    /// Adds a member. A null handle, or one that is a member already, changes nothing and is no error. (MPIRT_Cset_insert)
    result<void> try_insert(object_ref object) const noexcept;
    /// Removes a member. (MPIRT_Cset_remove)
    result<void> try_remove(object_ref object) const noexcept;
    /// Gives the name of a set. (MPIRT_Cset_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a set. (MPIRT_Cset_set_name)
    result<void> try_set_name(text name) const noexcept;
    /// Says whether an object is a member. (MPIRTX_Cset_contains)
    result<bool> try_contains(object_ref object) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<cset_ref> create(text name);
    void insert(object_ref object) const;
    void remove(object_ref object) const;
    mpirt::name name() const;
    void set_name(text name) const;
    bool contains(object_ref object) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Cset_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Cset_free"};
    }
};

/// A reference to an array of references; the leaf below Cvector_base.
class cvector_ref : public container_ref {
public:
    using c_type = MPIRT_Cvector;

    cvector_ref() noexcept = default;
    explicit cvector_ref(c_type handle) noexcept : container_ref(container_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// An array of references of fixed length; null handles are allowed among them.
    static result<owner<cvector_ref>> try_create(text name, span<const object_ref> elements) noexcept
    {
        static_assert(sizeof(object_ref) == sizeof(MPIRT_Object) && std::is_standard_layout_v<object_ref>);
        MPIRT_Cvector made{};
        const auto *handles = reinterpret_cast<const MPIRT_Object *>(elements.data());
        const int code = MPIRT_Cvector_create(name.c_str(), static_cast<int>(elements.size()), handles, &made);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Cvector_create"};
        }
        return owner<cvector_ref>(made);
    }
    /// An array of null references.
    static result<owner<cvector_ref>> try_create(text name, int size) noexcept
    {
        MPIRT_Cvector made{};
        const int code = MPIRT_Cvector_create(name.c_str(), size, nullptr, &made);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Cvector_create"};
        }
        return owner<cvector_ref>(made);
    }
#if MPIRT_EXCEPTIONS
    static owner<cvector_ref> create(text name, span<const object_ref> elements)
    {
        return try_create(name, elements).value();
    }
    static owner<cvector_ref> create(text name, int size) { return try_create(name, size).value(); }
#endif

    /// Gives the length. (MPIRT_Cvector_get_size)
    result<int> try_size() const noexcept;
    /// Gives one element. (MPIRT_Cvector_get_element)
    result<object_ref> try_element(int index) const noexcept;
    /// Replaces one element. (MPIRT_Cvector_set_element)
    result<void> try_set_element(int index, object_ref element) const noexcept;
    /// Gives the name of a vector. (MPIRT_Cvector_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a vector. (MPIRT_Cvector_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    int size() const;
    object_ref element(int index) const;
    void set_element(int index, object_ref element) const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Cvector_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Cvector_free"};
    }
};

/// A reference to an ordered set of members of the job.
class group_ref : public container_ref {
public:
    using c_type = MPIRT_Group;

    group_ref() noexcept = default;
    explicit group_ref(c_type handle) noexcept : container_ref(container_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// The group of the named ranks, in the order named.
    result<owner<group_ref>> try_incl(span<const int> ranks, text name = nullptr) const noexcept
    {
        MPIRT_Group made{};
        const int code = MPIRT_Group_incl(c(), static_cast<int>(ranks.size()), ranks.data(), name.c_str(), &made);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Group_incl"};
        }
        return owner<group_ref>(made);
    }
    /// The group of the ranks not named, in their former order.
    result<owner<group_ref>> try_excl(span<const int> ranks, text name = nullptr) const noexcept
    {
        MPIRT_Group made{};
        const int code = MPIRT_Group_excl(c(), static_cast<int>(ranks.size()), ranks.data(), name.c_str(), &made);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Group_excl"};
        }
        return owner<group_ref>(made);
    }
    /// For each rank of this group the rank of the same member in another, into as many places.
    result<void> try_translate_ranks(span<const int> ranks, group_ref target, span<int> translated) const noexcept
    {
        if (translated.size() < ranks.size()) {
            return {errc::argument, "MPIRT_Group_translate_ranks"};
        }
        const int count = static_cast<int>(ranks.size());
        const int code = MPIRT_Group_translate_ranks(c(), count, ranks.data(), target.c(), translated.data());
        return {static_cast<errc>(code), "MPIRT_Group_translate_ranks"};
    }
#if MPIRT_EXCEPTIONS
    owner<group_ref> incl(span<const int> ranks, text name = nullptr) const { return try_incl(ranks, name).value(); }
    owner<group_ref> excl(span<const int> ranks, text name = nullptr) const { return try_excl(ranks, name).value(); }
    void translate_ranks(span<const int> ranks, group_ref target, span<int> translated) const
    {
        try_translate_ranks(ranks, target, translated).value();
    }
#endif

    /// Gives the number of members. (MPIRT_Group_size)
    result<int> try_size() const noexcept;
    /// Gives the caller's rank. (MPIRT_Group_rank)
    result<int> try_rank() const noexcept;
    /// Makes the group of all of the first, then those of the second that are not in it. (MPIRT_Group_union)
    result<owner<group_ref>> try_union_(group_ref second, text name) const noexcept;
    /// Makes the group of those of the first that are in the second. (MPIRT_Group_intersection)
    result<owner<group_ref>> try_intersection(group_ref second, text name) const noexcept;
    /// Makes the group of those of the first that are not in the second. (MPIRT_Group_difference)
    result<owner<group_ref>> try_difference(group_ref second, text name) const noexcept;
    /// Compares the members of two groups. (MPIRT_Group_compare)
    result<int> try_compare(group_ref second) const noexcept;
    /// Gives the name of a member of the job. (MPIRTX_Group_get_member_name)
    result<mpirt::name> try_member_name(int rank) const noexcept;
    /// Gives the rank of a member of the job by its name. (MPIRTX_Group_find_member)
    result<int> try_find_member(text name) const noexcept;
    /// Gives the name of a group. (MPIRT_Group_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a group. (MPIRT_Group_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    int size() const;
    int rank() const;
    owner<group_ref> union_(group_ref second, text name) const;
    owner<group_ref> intersection(group_ref second, text name) const;
    owner<group_ref> difference(group_ref second, text name) const;
    int compare(group_ref second) const;
    mpirt::name member_name(int rank) const;
    int find_member(text name) const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Group_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Group_free"};
    }
};

/// A reference to a walk over a container.
class container_iterator_ref : public object_ref {
public:
    using c_type = MPIRT_Container_iterator;

    container_iterator_ref() noexcept = default;
    explicit container_iterator_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Makes an iterator that stands before the first member. (MPIRT_Container_iterator_create)
    static result<owner<container_iterator_ref>> try_create(text name, container_ref container) noexcept;
    /// Gives the next member; of a vector each element, a null one as the null handle. (MPIRT_Container_iterator_next)
    result<object_ref> try_next() const noexcept;
    /// Sets the iterator before the first member. (MPIRT_Container_iterator_reset)
    result<void> try_reset() const noexcept;
    /// Gives the name of an iterator. (MPIRT_Container_iterator_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names an iterator, which takes part in no commit. (MPIRT_Container_iterator_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<container_iterator_ref> create(text name, container_ref container);
    object_ref next() const;
    void reset() const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Container_iterator_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Container_iterator_free"};
    }
};

/// A reference to storage for a message.
class buffer_ref : public object_ref {
public:
    using c_type = MPIRT_Buffer;

    buffer_ref() noexcept = default;
    explicit buffer_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// A buffer of elements, with memory that commit provides.
    template <class T> static result<owner<buffer_ref>> try_of(text name, std::size_t count) noexcept
    {
        return try_create(name, MPIRT_SYSTEM_MEM_ALLOC, count * sizeof(T), dataspec_of_v<T>);
    }
    /// A buffer over elements of the program's own, which must stay where they are.
    template <class T> static result<owner<buffer_ref>> try_over(text name, mpirt::span<T> elements) noexcept
    {
        return try_create(name, elements.data(), elements.size() * sizeof(T), dataspec_of_v<T>);
    }
    /// The elements where they lie; `errc::dataspec` for another element type than the buffer's. Empty for system memory that
    /// no commit has made yet. `errc::not_allowed` for elements that are not `const` of a buffer that may only be read, because its memory is
    /// the sender's: ask for `span<const T>()` of what was received.
    template <class T> result<mpirt::span<T>> try_span() const noexcept
    {
        const auto spec = try_dataspec();
        if (!spec || !fits<T>(*spec)) {
            return {spec ? errc::dataspec : spec.code(), "mpirt::buffer_ref::span"};
        }
        const auto bytes = try_bufsize();
        const auto base = try_base();
        if (!bytes || !base) {
            return {bytes ? base.code() : bytes.code(), "mpirt::buffer_ref::span"};
        }
        if constexpr (!std::is_const_v<T>) {
            const auto writable = try_writable();
            if (!writable || !*writable) {
                return {writable ? errc::not_allowed : writable.code(), "mpirt::buffer_ref::span"};
            }
        }
        return mpirt::span<T>(static_cast<T *>(*base), *base == nullptr ? 0 : *bytes / sizeof(T));
    }
#if MPIRT_EXCEPTIONS
    template <class T> static owner<buffer_ref> of(text name, std::size_t count) { return try_of<T>(name, count).value(); }
    template <class T> static owner<buffer_ref> over(text name, mpirt::span<T> elements)
    {
        return try_over<T>(name, elements).value();
    }
    template <class T> mpirt::span<T> span() const { return try_span<T>().value(); }
#endif

    /// Makes a buffer over the program's own memory, or with memory that Commit provides. (MPIRT_Buffer_create)
    static result<owner<buffer_ref>> try_create(text name, void *base, std::size_t bufsize, mpirt::dataspec dataspec) noexcept;
    /// Gives the size in bytes. (MPIRT_Buffer_get_bufsize)
    result<std::size_t> try_bufsize() const noexcept;
    /// Sets the size in bytes. (MPIRT_Buffer_set_bufsize)
    result<void> try_set_bufsize(std::size_t bufsize) const noexcept;
    /// Gives where the memory begins; of system memory only while committed. Where the buffers of both ends of a channel are one (system memory, MAPPED or ORDERED at both), those of the receiving end may be read and not written: the memory is the sender's, and a store there is reported on standard error with the names of member, channel and buffer, and ends the process by SIGSEGV unless a handler that the program had installed before the commit does otherwise. `MPIRTX_Buffer_get_writable` says which buffers these are. (MPIRT_Buffer_get_base)
    result<void *> try_base() const noexcept;
    /// Tells whether the program may write to the buffer's memory: not while committed where it is the sender's, because the buffers of both ends of a channel are one. (MPIRTX_Buffer_get_writable)
    result<bool> try_writable() const noexcept;
    /// Sets where the memory begins. (MPIRT_Buffer_set_base)
    result<void> try_set_base(void *base) const noexcept;
    /// Gives what the buffer holds. (MPIRT_Buffer_get_dataspec)
    result<mpirt::dataspec> try_dataspec() const noexcept;
    /// Sets what the buffer holds. (MPIRT_Buffer_set_dataspec)
    result<void> try_set_dataspec(mpirt::dataspec dataspec) const noexcept;
    /// Gives the name of a buffer. (MPIRT_Buffer_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a buffer. (MPIRT_Buffer_set_name)
    result<void> try_set_name(text name) const noexcept;
    /// Gives the label that orders the buffer in SORTED iterators. (MPIRT_Buffer_get_label)
    result<std::int64_t> try_label() const noexcept;
    /// Sets the label that orders the buffer in SORTED iterators; also while committed. (MPIRT_Buffer_set_label)
    result<void> try_set_label(std::int64_t label) const noexcept;
    /// Gives the size of the message in the buffer. (MPIRTX_Buffer_get_length)
    result<std::size_t> try_length() const noexcept;
    /// Sets the size of the message in the buffer, up to its bufsize. (MPIRTX_Buffer_set_length)
    result<void> try_set_length(std::size_t length) const noexcept;
    /// Gives which message of its channel a received buffer carries, and when it was inserted. (MPIRTX_Buffer_get_instance)
    result<std::tuple<std::uint64_t, mpirt::time_point>> try_instance() const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<buffer_ref> create(text name, void *base, std::size_t bufsize, mpirt::dataspec dataspec);
    std::size_t bufsize() const;
    void set_bufsize(std::size_t bufsize) const;
    void * base() const;
    bool writable() const;
    void set_base(void *base) const;
    mpirt::dataspec dataspec() const;
    void set_dataspec(mpirt::dataspec dataspec) const;
    mpirt::name name() const;
    void set_name(text name) const;
    std::int64_t label() const;
    void set_label(std::int64_t label) const;
    std::size_t length() const;
    void set_length(std::size_t length) const;
    std::tuple<std::uint64_t, mpirt::time_point> instance() const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Buffer_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Buffer_free"};
    }
};

/// A reference to an ordered store of buffers at a channel end.
class bufiter_ref : public object_ref {
public:
    using c_type = MPIRT_Bufiter;

    bufiter_ref() noexcept = default;
    explicit bufiter_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// An iterator for buffers of this many elements.
    template <class T>
    static result<owner<bufiter_ref>> try_of(text name, bufiter_policy policy, std::size_t count,
                                             container_ref allowed = {}) noexcept
    {
        return try_create(name, policy, count * sizeof(T), dataspec_of_v<T>, allowed);
    }
#if MPIRT_EXCEPTIONS
    template <class T>
    static owner<bufiter_ref> of(text name, bufiter_policy policy, std::size_t count, container_ref allowed = {})
    {
        return try_of<T>(name, policy, count, allowed).value();
    }
#endif

    /// Makes a buffer iterator. (MPIRT_Bufiter_create)
    static result<owner<bufiter_ref>> try_create(text name, mpirt::bufiter_policy policy, std::size_t bufsize, mpirt::dataspec dataspec, container_ref allowed = {}) noexcept;
    /// Puts a buffer into the iterator. Never blocks, never allocates. Where a transfer of a channel with a priority waits for it, it makes one system call if the thread that serves the channel sleeps. (MPIRT_Bufiter_insert)
    result<void> try_insert(buffer_ref buffer) const noexcept;
    /// Takes a buffer out by the policy. Never blocks, never allocates. Where messages are for certain buffers (MAPPED, or ORDERED with aliased buffers), what leaves the input iterator of the receiving end is any. (MPIRT_Bufiter_remove)
    result<buffer_ref> try_remove() const noexcept;
    /// Gives how many buffers the iterator holds. (MPIRTX_Bufiter_get_count)
    result<int> try_count() const noexcept;
    /// Gives the policy. (MPIRT_Bufiter_get_policy)
    result<mpirt::bufiter_policy> try_policy() const noexcept;
    /// Gives the size of the buffers. (MPIRT_Bufiter_get_bufsize)
    result<std::size_t> try_bufsize() const noexcept;
    /// Gives what the buffers hold. (MPIRT_Bufiter_get_dataspec)
    result<mpirt::dataspec> try_dataspec() const noexcept;
    /// Gives the allowed set. Its handle may have been freed meanwhile; then this says so, as for any stale handle. (MPIRT_Bufiter_get_allowed)
    result<container_ref> try_allowed() const noexcept;
    /// Gives the name of a buffer iterator. (MPIRT_Bufiter_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a buffer iterator. (MPIRT_Bufiter_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<bufiter_ref> create(text name, mpirt::bufiter_policy policy, std::size_t bufsize, mpirt::dataspec dataspec, container_ref allowed = {});
    void insert(buffer_ref buffer) const;
    buffer_ref remove() const;
    int count() const;
    mpirt::bufiter_policy policy() const;
    std::size_t bufsize() const;
    mpirt::dataspec dataspec() const;
    container_ref allowed() const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Bufiter_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Bufiter_free"};
    }
};

/// A reference to one end of a channel of any kind.
class channel_ref : public object_ref {
public:
    using c_type = MPIRT_Channel;

    channel_ref() noexcept = default;
    explicit channel_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Gives the iterator that buffers are taken from. (MPIRT_Channel_get_inbufiter)
    result<bufiter_ref> try_inbufiter() const noexcept;
    /// Sets the iterator that buffers are taken from. (MPIRT_Channel_set_inbufiter)
    result<void> try_set_inbufiter(bufiter_ref bufiter = {}) const noexcept;
    /// Gives the iterator that buffers are put into. (MPIRT_Channel_get_outbufiter)
    result<bufiter_ref> try_outbufiter() const noexcept;
    /// Sets the iterator that buffers are put into. (MPIRT_Channel_set_outbufiter)
    result<void> try_set_outbufiter(bufiter_ref bufiter = {}) const noexcept;
    /// Gives the iterator that buffers to receive into are taken from, of a member that also sends. (MPIRT_Channel_get_recvinbufiter)
    result<bufiter_ref> try_recvinbufiter() const noexcept;
    /// Sets the iterator that buffers to receive into are taken from, of a member that also sends. (MPIRT_Channel_set_recvinbufiter)
    result<void> try_set_recvinbufiter(bufiter_ref bufiter = {}) const noexcept;
    /// Gives the iterator that received buffers are put into, of a member that also sends. (MPIRT_Channel_get_recvoutbufiter)
    result<bufiter_ref> try_recvoutbufiter() const noexcept;
    /// Sets the iterator that received buffers are put into, of a member that also sends. (MPIRT_Channel_set_recvoutbufiter)
    result<void> try_set_recvoutbufiter(bufiter_ref bufiter = {}) const noexcept;
    /// Gives the quality of service. (MPIRT_Channel_get_qos)
    result<qos_ref> try_qos() const noexcept;
    /// Sets the quality of service. (MPIRT_Channel_set_qos)
    result<void> try_set_qos(qos_ref qos = {}) const noexcept;
    /// Starts one transfer, and returns at once. Time-driven, it takes place in the first instance that both ends can make and in which the other end is active or has started one too; else as soon as both ends are ready and have buffers. Of a channel with a priority a thread of the library moves it, which is woken by one system call if it sleeps. (MPIRT_Channel_start)
    result<void> try_start() const noexcept;
    /// Waits until the last started transfer is complete, or at an activated end for the next instance, performed or missed, that no wait or test has reported: of a time-driven channel it reports all that are over, with the outcome of the last; of others one, missed ones first, so that there is a message for each success. What was started is reported as often as anybody asks. At a sending end a time-driven transfer is complete at its deadline. In a task, of a time-driven end that the task is bound to, it returns at once; of any other end it is `MPIRT_ERR_REAL_TIME` there. (MPIRT_Channel_wait)
    result<void> try_wait(duration timeout = no_limit) const noexcept;
    /// Says whether wait would return at once, and then completes like it. Never blocks. (MPIRT_Channel_test)
    result<bool> try_test() const noexcept;
    /// Gives the processor time that moving one message takes at this member's end at most, where a mover of the library's does it. (MPIRTX_Channel_get_mover_budget)
    result<mpirt::duration> try_mover_budget() const noexcept;
    /// Sets the processor time that moving one message takes at this member's end at most. A time-driven end that no task is bound to has a mover, a task of the library's in the plan; ends of one side and window share it. Its budget is 10 us, and for each end the time that is set here, or else 5 us and 250 ns for each KiB. The report has what movers took, and polices their budgets; in the manifest the budget of a mover as a whole can be set, as that of a task of its name. (MPIRTX_Channel_set_mover_budget)
    result<void> try_set_mover_budget(duration budget) const noexcept;
    /// Gives a descriptor for poll and epoll, which becomes readable when a wait at this end of a priority- or event-driven channel would return at once. Read its eight bytes, and then test until nothing is complete; it may be readable for nothing. It is the library's until the uncommit or the switch of a mode, which close it: take it out of epoll before, and do not close it. The first call starts a thread that sleeps until then; who does not call it pays nothing. (MPIRTX_Channel_get_descriptor)
    result<int> try_descriptor() const noexcept;
    /// Lets transfers take place by the QoS, from the first period on that all ends can still make; without periods, whenever buffers are there, or for each firing of the start event. A local call; of a channel with a priority it makes one system call if the thread that serves it sleeps. A time-driven end that a task is bound to is active from the epoch on, every other one when it is activated. Firings of a start event before that make no transfer. (MPIRT_Channel_activate)
    result<void> try_activate() const noexcept;
    /// Activates from a named period on. (MPIRTX_Channel_activate_at)
    result<void> try_activate_at(std::uint64_t period) const noexcept;
    /// Ends the activated state with the period under way. (MPIRT_Channel_deactivate)
    result<void> try_deactivate() const noexcept;
    /// Ends the activated state at a named period. (MPIRTX_Channel_deactivate_at)
    result<void> try_deactivate_at(std::uint64_t period) const noexcept;
    /// Makes the caller's end of a point-to-point channel. (MPIRT_Ptchannel_create)
    static result<owner<channel_ref>> try_ptchannel(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, int source, int target, group_ref group, qos_ref qos = {}) noexcept;
    /// Gives the sender of a point-to-point channel. (MPIRTX_Channel_get_source)
    result<int> try_source() const noexcept;
    /// Gives the receiver of a point-to-point channel. (MPIRTX_Channel_get_target)
    result<int> try_target() const noexcept;
    /// Gives the root of a broadcast, scatter, gather or reduction. (MPIRTX_Channel_get_root)
    result<int> try_root() const noexcept;
    /// Gives the operation of a reduction. (MPIRTX_Channel_get_operation)
    result<mpirt::op> try_operation() const noexcept;
    /// Gives how many transfers may be under way. (MPIRTX_Channel_get_slack)
    result<int> try_slack() const noexcept;
    /// Sets how many started transfers may be under way. An activated end that is not time-driven is not bound by it: as many messages as the sender has buffers may wait at a receiver that has none for them. (MPIRTX_Channel_set_slack)
    result<void> try_set_slack(int slack) const noexcept;
    /// Tells whether a wait at this end of a best-effort channel polls for as long as it takes. (MPIRTX_Channel_get_polling)
    result<int> try_polling() const noexcept;
    /// Sets whether a wait at this end of a best-effort channel polls for as long as it takes: it burns a core, and makes no system call. Otherwise it polls for some microseconds and then sleeps, which is the default. The other end may do as it likes. (MPIRTX_Channel_set_polling)
    result<void> try_set_polling(int polls) const noexcept;
    /// Tells whether this end asks for a checksum of each message's bytes. (MPIRTX_Channel_get_checksum)
    result<int> try_checksum() const noexcept;
    /// Sets whether each message carries a checksum of its bytes, which the sender computes and the receiver compares: a message whose bytes were changed in between counts as invalid. An end that does not call this takes what the other end or the manifest says; commit refuses ends that say different things. (MPIRTX_Channel_set_checksum)
    result<void> try_set_checksum(int checksum) const noexcept;
    /// Gives the group. (MPIRT_Channel_get_group)
    result<group_ref> try_group() const noexcept;
    /// Gives state, last instance, its outcome, and the transfers under way. What the receiver had no buffer for, the sender's status reports one instance later. While another thread uses the end it is that from before. (MPIRTX_Channel_get_status)
    result<mpirt::status> try_status() const noexcept;
    /// Gives what was counted at this end since the commit, misses by kind, copies by late binding, and at a receiving end latencies from insertion to the output iterator (of what the clock does not move, those of the first 64 messages and of every 16th after them; `latency.count` says of how many). (MPIRTX_Channel_get_metrics)
    result<mpirt::channel_metrics> try_metrics() const noexcept;
    /// Gives the name of a channel. (MPIRT_Channel_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a channel. (MPIRT_Channel_set_name)
    result<void> try_set_name(text name) const noexcept;
    /// Makes the caller's end of a broadcast: every member receives what the root sends. (MPIRT_Bcast_channel_create)
    static result<owner<channel_ref>> try_bcast(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos = {}) noexcept;
    /// Makes the caller's end of a scatter: each member receives its section of what the root sends. (MPIRT_Scatter_channel_create)
    static result<owner<channel_ref>> try_scatter(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos = {}) noexcept;
    /// Makes the caller's end of a gather: the root receives the members' data, section by section. (MPIRT_Gather_channel_create)
    static result<owner<channel_ref>> try_gather(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos = {}) noexcept;
    /// Makes the caller's end of a reduction: the root receives the result of an operation over all members' data. (MPIRT_Reduce_channel_create)
    static result<owner<channel_ref>> try_reduce(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, mpirt::op op, int root, group_ref group, qos_ref qos = {}) noexcept;
    /// Makes the caller's end of a barrier. (MPIRT_Barrier_channel_create)
    static result<owner<channel_ref>> try_barrier(text name, group_ref group, qos_ref qos = {}) noexcept;
    /// Makes the caller's end of an all-to-all: the i-th piece of each member's data goes to the i-th member. (MPIRT_Alltoall_channel_create)
    static result<owner<channel_ref>> try_alltoall(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, group_ref group, qos_ref qos = {}) noexcept;
#if MPIRT_EXCEPTIONS
    bufiter_ref inbufiter() const;
    void set_inbufiter(bufiter_ref bufiter = {}) const;
    bufiter_ref outbufiter() const;
    void set_outbufiter(bufiter_ref bufiter = {}) const;
    bufiter_ref recvinbufiter() const;
    void set_recvinbufiter(bufiter_ref bufiter = {}) const;
    bufiter_ref recvoutbufiter() const;
    void set_recvoutbufiter(bufiter_ref bufiter = {}) const;
    qos_ref qos() const;
    void set_qos(qos_ref qos = {}) const;
    void start() const;
    void wait(duration timeout = no_limit) const;
    bool test() const;
    mpirt::duration mover_budget() const;
    void set_mover_budget(duration budget) const;
    int descriptor() const;
    void activate() const;
    void activate_at(std::uint64_t period) const;
    void deactivate() const;
    void deactivate_at(std::uint64_t period) const;
    static owner<channel_ref> ptchannel(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, int source, int target, group_ref group, qos_ref qos = {});
    int source() const;
    int target() const;
    int root() const;
    mpirt::op operation() const;
    int slack() const;
    void set_slack(int slack) const;
    int polling() const;
    void set_polling(int polls) const;
    int checksum() const;
    void set_checksum(int checksum) const;
    group_ref group() const;
    mpirt::status status() const;
    mpirt::channel_metrics metrics() const;
    mpirt::name name() const;
    void set_name(text name) const;
    static owner<channel_ref> bcast(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos = {});
    static owner<channel_ref> scatter(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos = {});
    static owner<channel_ref> gather(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos = {});
    static owner<channel_ref> reduce(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, mpirt::op op, int root, group_ref group, qos_ref qos = {});
    static owner<channel_ref> barrier(text name, group_ref group, qos_ref qos = {});
    static owner<channel_ref> alltoall(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, group_ref group, qos_ref qos = {});
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Channel_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Channel_free"};
    }
};

/// A reference to what fires an event.
class trigger_ref : public object_ref {
public:
    using c_type = MPIRT_Trigger;

    trigger_ref() noexcept = default;
    explicit trigger_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Makes a trigger, which fires an event on a condition. (MPIRT_Trigger_create)
    static result<owner<trigger_ref>> try_create(text event, mpirt::event_kind kind, object_ref source, group_ref group, qos_ref qos = {}) noexcept;
    /// Gives on what a trigger fires. (MPIRTX_Trigger_get_kind)
    result<mpirt::event_kind> try_kind() const noexcept;
    /// Gives when a trigger of the kind time fires. (MPIRTX_Trigger_get_time)
    result<std::tuple<mpirt::duration, mpirt::duration>> try_time() const noexcept;
    /// Sets when a trigger of the kind time fires. One whose times were not set fires once, at the epoch. (MPIRTX_Trigger_set_time)
    result<void> try_set_time(duration first, duration period) const noexcept;
    /// Fires a trigger of the kind call, and returns at once. It makes one system call if somebody sleeps until it comes, else none. (MPIRT_Trigger_fire)
    result<void> try_fire() const noexcept;
    /// Gives the name of a trigger. (MPIRT_Trigger_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a trigger. (MPIRT_Trigger_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<trigger_ref> create(text event, mpirt::event_kind kind, object_ref source, group_ref group, qos_ref qos = {});
    mpirt::event_kind kind() const;
    std::tuple<mpirt::duration, mpirt::duration> time() const;
    void set_time(duration first, duration period) const;
    void fire() const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Trigger_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Trigger_free"};
    }
};

/// A reference to what takes the firings of an event.
class receptor_ref : public object_ref {
public:
    using c_type = MPIRT_Receptor;

    receptor_ref() noexcept = default;
    explicit receptor_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Makes a receptor, which takes the firings of an event. (MPIRT_Receptor_create)
    static result<owner<receptor_ref>> try_create(text event, group_ref group, container_ref handlers = {}) noexcept;
    /// Makes a receptor that occurs when any, or all, of its parts have occurred. (MPIRTX_Receptor_combine)
    static result<owner<receptor_ref>> try_combine(text name, mpirt::combination combination, container_ref parts, container_ref handlers = {}) noexcept;
    /// Waits for the event, and consumes one firing. (MPIRT_Receptor_wait)
    result<void> try_wait(duration timeout = no_limit) const noexcept;
    /// Gives a descriptor for poll and epoll, which becomes readable when a firing is pending. Read its eight bytes, and then test until nothing is pending; it may be readable for nothing. It is the library's until the uncommit or the switch of a mode, which close it: take it out of epoll before, and do not close it. The first call starts a thread that sleeps until then; who does not call it pays nothing. (MPIRTX_Receptor_get_descriptor)
    result<int> try_descriptor() const noexcept;
    /// Says whether a firing is pending, and consumes it. Never blocks. (MPIRTX_Receptor_test)
    result<bool> try_test() const noexcept;
    /// Gives source, number and time of the firing that the last wait or test consumed, how many are pending, and of how many the time was lost. (MPIRTX_Receptor_get_event)
    result<mpirt::event> try_event() const noexcept;
    /// Gives the name of a receptor. (MPIRT_Receptor_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a receptor. (MPIRT_Receptor_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<receptor_ref> create(text event, group_ref group, container_ref handlers = {});
    static owner<receptor_ref> combine(text name, mpirt::combination combination, container_ref parts, container_ref handlers = {});
    void wait(duration timeout = no_limit) const;
    int descriptor() const;
    bool test() const;
    mpirt::event event() const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Receptor_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Receptor_free"};
    }
};

/// A reference to what runs at a firing.
class handler_ref : public object_ref {
public:
    using c_type = MPIRT_Handler;

    handler_ref() noexcept = default;
    explicit handler_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// A handler that runs a callable: with nothing, with the event, or with the receptor and the event. The callable lies
    /// where nothing frees it before Finalize.
    template <class Function>
    static result<owner<handler_ref>> try_create(text name, Function &&function, qos_ref qos = {}) noexcept
    {
        using call = closure<std::decay_t<Function>>;
        call *made = new (std::nothrow) call(std::forward<Function>(function));
        if (made == nullptr) {
            return {errc::no_memory, "MPIRT_Handler_create"};
        }
        MPIRT_Handler handler{};
        const int code = MPIRT_Handler_create(name.c_str(), call::run, made, qos.c(), &handler);
        if (code != MPIRT_SUCCESS) {
            delete made;
            return {static_cast<errc>(code), "MPIRT_Handler_create"};
        }
        detail::keep(made);
        return owner<handler_ref>(handler);
    }
#if MPIRT_EXCEPTIONS
    template <class Function> static owner<handler_ref> create(text name, Function &&function, qos_ref qos = {})
    {
        return try_create(name, std::forward<Function>(function), qos).value();
    }
#endif
    template <class Function> struct closure final : detail::closure {
        template <class From> explicit closure(From &&from) : function(std::forward<From>(from)) {}
        Function function;

        static void run(MPIRT_Receptor receptor, const MPIRTX_Event *c_event, void *argument)
        {
            auto &function = static_cast<closure *>(argument)->function;
            const bool is_whole = detail::guarded([&] {
                if constexpr (std::is_invocable_v<Function &, receptor_ref, const mpirt::event &>) {
                    function(receptor_ref(receptor), mpirt::event::of(*c_event));
                } else if constexpr (std::is_invocable_v<Function &, const mpirt::event &>) {
                    function(mpirt::event::of(*c_event));
                } else {
                    function();
                }
            });
            if (!is_whole) {
                // Only where no handler runs could it be refused.
                (void)MPIRTX_Handler_fail();
            }
        }
    };

    /// Gives the name of a handler. (MPIRT_Handler_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a handler. (MPIRT_Handler_set_name)
    result<void> try_set_name(text name) const noexcept;
    /// Gives how often a handler has run since the commit, what that cost, how often it took more than its budget and how often it failed. The processor time is measured of handlers with a budget. (MPIRTX_Handler_get_metrics)
    result<mpirt::handler_metrics> try_metrics() const noexcept;
    /// Says that the run of a handler that calls this has failed: it is counted in the handler's metrics, once, and told in the job's report, which then ends with exit code 1. The run goes on. `mpirt.hpp` calls it for an exception that leaves a handler. (MPIRTX_Handler_fail)
    static result<void> try_fail() noexcept;
#if MPIRT_EXCEPTIONS
    mpirt::name name() const;
    void set_name(text name) const;
    mpirt::handler_metrics metrics() const;
    static void fail();
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRT_Handler_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRT_Handler_free"};
    }
};

/// A reference to a periodic or event-started computation.
class task_ref : public object_ref {
public:
    using c_type = MPIRTX_Task;

    task_ref() noexcept = default;
    explicit task_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }
    /// A task that runs a callable: with nothing, with the instance, or with the task and the instance. The callable lies
    /// where nothing frees it before Finalize; what it refers to must live until the commit has ended. A call of it
    /// allocates nothing. An exception that leaves it has failed the member at once, as `MPIRTX_Fail`
    /// does, and is thrown again by `committed::run` or `committed::uncommit`.
    template <class Function>
    static result<owner<task_ref>> try_create(text name, Function &&function, qos_ref qos, duration budget) noexcept
    {
        using call = closure<std::decay_t<Function>>;
        call *made = new (std::nothrow) call(std::forward<Function>(function));
        if (made == nullptr) {
            return {errc::no_memory, "MPIRTX_Task_create"};
        }
        MPIRTX_Task task{};
        const int code = MPIRTX_Task_create(name.c_str(), call::run, made, qos.c(), budget.count(), &task);
        if (code != MPIRT_SUCCESS) {
            delete made;
            return {static_cast<errc>(code), "MPIRTX_Task_create"};
        }
        detail::keep(made);
        return owner<task_ref>(task);
    }
#if MPIRT_EXCEPTIONS
    template <class Function>
    static owner<task_ref> create(text name, Function &&function, qos_ref qos, duration budget)
    {
        return try_create(name, std::forward<Function>(function), qos, budget).value();
    }
#endif
    template <class Function> struct closure final : detail::closure {
        template <class From> explicit closure(From &&from) : function(std::forward<From>(from)) {}
        Function function;

        static void run(MPIRTX_Task task, const MPIRTX_Instance *c_instance, void *argument)
        {
            auto &function = static_cast<closure *>(argument)->function;
            detail::kept([&] {
                if constexpr (std::is_invocable_v<Function &, task_ref, const mpirt::instance &>) {
                    function(task_ref(task), mpirt::instance::of(*c_instance));
                } else if constexpr (std::is_invocable_v<Function &, const mpirt::instance &>) {
                    function(mpirt::instance::of(*c_instance));
                } else {
                    function();
                }
            });
        }
    };

    /// Says that the task uses the caller's end of a channel, so that both are planned together. A time-driven end is served by the task's window, and is active from the epoch on; a best-effort one stays the program's to start and test. (MPIRTX_Task_bind)
    result<void> try_bind(channel_ref channel) const noexcept;
    /// Gives the processor time of one run at most. (MPIRTX_Task_get_budget)
    result<mpirt::duration> try_budget() const noexcept;
    /// Gives the QoS that says when the task runs. (MPIRTX_Task_get_qos)
    result<qos_ref> try_qos() const noexcept;
    /// Gives the processor core that the task is pinned to. (MPIRTX_Task_get_core)
    result<int> try_core() const noexcept;
    /// Pins the task to a processor core. (MPIRTX_Task_set_core)
    result<void> try_set_core(int core) const noexcept;
    /// Gives what the program has said that follows when the task needs more than its budget. Of a task of which it has said nothing that is `MPIRTX_OVERRUN_SKIP`, unless the manifest says otherwise. (MPIRTX_Task_get_overrun_policy)
    result<mpirt::overrun_policy> try_overrun_policy() const noexcept;
    /// Sets what follows when the task needs more than its budget. (MPIRTX_Task_set_overrun_policy)
    result<void> try_set_overrun_policy(mpirt::overrun_policy policy) const noexcept;
    /// Gives compute times, start lateness, misses, overruns and skipped instances since the commit. The start of a task that runs for an event is due at the firing; none of its runs is skipped. (MPIRTX_Task_get_metrics)
    result<mpirt::task_metrics> try_metrics() const noexcept;
    /// Gives the name of a task. (MPIRTX_Task_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a task. (MPIRTX_Task_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    void bind(channel_ref channel) const;
    mpirt::duration budget() const;
    qos_ref qos() const;
    int core() const;
    void set_core(int core) const;
    mpirt::overrun_policy overrun_policy() const;
    void set_overrun_policy(mpirt::overrun_policy policy) const;
    mpirt::task_metrics metrics() const;
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRTX_Task_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRTX_Task_free"};
    }
};

/// A reference to a second set of objects, to switch to.
class mode_ref : public object_ref {
public:
    using c_type = MPIRTX_Mode;

    mode_ref() noexcept = default;
    explicit mode_ref(c_type handle) noexcept : object_ref(object_ref::c_type{handle.bits}) {}
    /// As C has it.
    c_type c() const noexcept { return c_type{bits_}; }

    /// Begins a second set of objects while the first runs: what this thread creates from here on belongs to it. (MPIRTX_Mode_open)
    static result<owner<mode_ref>> try_open(text name) noexcept;
    /// Takes a running channel, task, trigger or receptor over into the mode, with what it uses: a channel with its iterators and their buffers, a task with the channels that it serves, a trigger with what it watches, a receptor with its handlers and the receptors that it combines. It goes on across the switch with the same buffers, instance numbers and counters, and stays fixed: what is under way or pending stays so, a wait goes on, and handlers run on. A channel is kept by the members at both of its ends, or by neither; the triggers and receptors of an event are kept all together, by all members, or none of them is. (MPIRTX_Mode_keep)
    result<void> try_keep(object_ref object) const noexcept;
    /// Binds the mode and tests admission of it and of the switch, while the first set runs. Collective over the world, all or nothing. A time-driven channel with a period of 0 (a single shot) is refused, since the epoch is bound to what runs. (MPIRTX_Mode_commit)
    result<void> try_commit() const noexcept;
    /// Agrees on the first common period boundary, at or after an instant, at which the mode takes over, and returns when it runs. Collective over the world. (MPIRTX_Mode_switch)
    result<mpirt::time_point> try_switch_(time_point earliest) const noexcept;
    /// Gives the mode that runs. (MPIRTX_Mode_get_current)
    static result<mode_ref> try_current() noexcept;
    /// Gives the name of a mode. (MPIRTX_Mode_get_name)
    result<mpirt::name> try_name() const noexcept;
    /// Names a mode. (MPIRTX_Mode_set_name)
    result<void> try_set_name(text name) const noexcept;
#if MPIRT_EXCEPTIONS
    static owner<mode_ref> open(text name);
    void keep(object_ref object) const;
    void commit() const;
    mpirt::time_point switch_(time_point earliest) const;
    static mode_ref current();
    mpirt::name name() const;
    void set_name(text name) const;
#endif

protected:
    static result<void> release(std::uint64_t &bits) noexcept
    {
        c_type handle{bits};
        const int code = MPIRTX_Mode_free(&handle);
        bits = handle.bits;
        return {static_cast<errc>(code), "MPIRTX_Mode_free"};
    }
};









/// Gives the bytes of one element. (MPIRT_Dataspec_size)
result<std::size_t> try_dataspec_size(mpirt::dataspec dataspec) noexcept;
/// Sets the handler of the firings of a kind that no receptor takes. (MPIRTX_Default_handler_set)
result<void> try_default_handler_set(mpirt::event_kind kind, handler_ref handler = {}) noexcept;
/// Makes a key for attributes. The delete function may call what setup may call; what it returns beside MPIRT_SUCCESS is an error code, or counts as MPIRT_ERR_ARGUMENT. (MPIRT_Keyval_create)
result<int> try_keyval(MPIRT_Delete_function *delete_function, void *extra) noexcept;
/// Frees a key and sets it to `MPIRT_KEYVAL_INVALID`. (MPIRT_Keyval_free)
result<void> try_keyval_free(int &keyval) noexcept;
/// Ends the whole job and this process, and does not return: the message is printed to standard error under the member's name, the other members stop whatever the job's death policy is, none is started again, and `leveret run` reports and exits with the code. From any thread, also of a task or a handler, and while another thread waits in Commit. What the C library still holds for standard output is printed; nothing that `atexit` knows runs. It returns on errors only. (MPIRTX_Abort)
result<void> try_abort(int code, text message) noexcept;
/// Says that this member has failed, and comes back at once: its tasks and handlers begin no further run, and nothing is waited for, so that the program can say why, put its files in order and end. To the others the member has died when its process ends; the job's death policy decides what follows, and the run is a failed one. A process that has not ended after 5 s is ended. Uncommit and Run give `MPIRT_ERR_AGENT` afterwards. The destructor of a committed session in C++ calls it when an exception passes. (MPIRTX_Fail)
result<void> try_fail(text reason) noexcept;
/// Says whether Init has succeeded. Can be called at any time. (MPIRT_Is_initialized)
result<bool> try_is_initialized() noexcept;
/// Says whether Finalize has succeeded. Can be called at any time. (MPIRT_Is_finalized)
result<bool> try_is_finalized() noexcept;
/// Gives the clock's resolution. (MPIRT_Get_time_resolution)
result<mpirt::duration> try_get_time_resolution() noexcept;
/// Gives the bound of the clock's error, and its state. (MPIRTX_Get_clock)
result<std::tuple<mpirt::duration, mpirt::clock_state>> try_get_clock() noexcept;
/// Splits a time into two halves of 32 bits. Can be called at any time. (MPIRT_Int64_export)
result<std::tuple<std::uint32_t, std::uint32_t>> try_int64_export(time_point time) noexcept;
/// Gives the library's version. Can be called at any time. (MPIRTX_Get_version)
result<std::tuple<int, int, int>> try_get_version() noexcept;
#if MPIRT_EXCEPTIONS
std::size_t dataspec_size(mpirt::dataspec dataspec);
void default_handler_set(mpirt::event_kind kind, handler_ref handler = {});
int keyval(MPIRT_Delete_function *delete_function, void *extra);
void keyval_free(int &keyval);
void abort(int code, text message);
void fail(text reason);
bool is_initialized();
bool is_finalized();
mpirt::duration get_time_resolution();
std::tuple<mpirt::duration, mpirt::clock_state> get_clock();
std::tuple<std::uint32_t, std::uint32_t> int64_export(time_point time);
std::tuple<int, int, int> get_version();
#endif

inline result<bool> object_ref::try_is_null() const noexcept
{
    int flag_{};
    const int code_ = MPIRT_Object_is_null(c(), &flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Object_is_null"};
    }
    return flag_ != 0;
}

inline result<mpirt::object_type> object_ref::try_object_type() const noexcept
{
    MPIRT_Object_type type_{};
    const int code_ = MPIRT_Object_get_object_type(c(), &type_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Object_get_object_type"};
    }
    return static_cast<mpirt::object_type>(type_);
}

inline result<mpirt::name> object_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Object_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Object_get_name"};
    }
    return name_;
}

inline result<void> object_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Object_set_name(c(), name.c_str())), "MPIRT_Object_set_name"};
}

inline result<bool> object_ref::try_compare(object_ref second) const noexcept
{
    int same_{};
    const int code_ = MPIRTX_Object_compare(c(), second.c(), &same_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_compare"};
    }
    return same_ != 0;
}

inline result<container_ref> object_ref::try_as_container() const noexcept
{
    MPIRT_Container container_{};
    const int code_ = MPIRTX_Object_as_container(c(), &container_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_container"};
    }
    return container_ref(container_);
}

inline result<cset_ref> object_ref::try_as_cset() const noexcept
{
    MPIRT_Cset set_{};
    const int code_ = MPIRTX_Object_as_cset(c(), &set_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_cset"};
    }
    return cset_ref(set_);
}

inline result<cvector_ref> object_ref::try_as_cvector() const noexcept
{
    MPIRT_Cvector vector_{};
    const int code_ = MPIRTX_Object_as_cvector(c(), &vector_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_cvector"};
    }
    return cvector_ref(vector_);
}

inline result<group_ref> object_ref::try_as_group() const noexcept
{
    MPIRT_Group group_{};
    const int code_ = MPIRTX_Object_as_group(c(), &group_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_group"};
    }
    return group_ref(group_);
}

inline result<buffer_ref> object_ref::try_as_buffer() const noexcept
{
    MPIRT_Buffer buffer_{};
    const int code_ = MPIRTX_Object_as_buffer(c(), &buffer_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_buffer"};
    }
    return buffer_ref(buffer_);
}

inline result<bufiter_ref> object_ref::try_as_bufiter() const noexcept
{
    MPIRT_Bufiter bufiter_{};
    const int code_ = MPIRTX_Object_as_bufiter(c(), &bufiter_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_bufiter"};
    }
    return bufiter_ref(bufiter_);
}

inline result<channel_ref> object_ref::try_as_channel() const noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRTX_Object_as_channel(c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_channel"};
    }
    return channel_ref(channel_);
}

inline result<qos_ref> object_ref::try_as_qos() const noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRTX_Object_as_qos(c(), &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_qos"};
    }
    return qos_ref(qos_);
}

inline result<trigger_ref> object_ref::try_as_trigger() const noexcept
{
    MPIRT_Trigger trigger_{};
    const int code_ = MPIRTX_Object_as_trigger(c(), &trigger_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_trigger"};
    }
    return trigger_ref(trigger_);
}

inline result<receptor_ref> object_ref::try_as_receptor() const noexcept
{
    MPIRT_Receptor receptor_{};
    const int code_ = MPIRTX_Object_as_receptor(c(), &receptor_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_receptor"};
    }
    return receptor_ref(receptor_);
}

inline result<handler_ref> object_ref::try_as_handler() const noexcept
{
    MPIRT_Handler handler_{};
    const int code_ = MPIRTX_Object_as_handler(c(), &handler_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_handler"};
    }
    return handler_ref(handler_);
}

inline result<task_ref> object_ref::try_as_task() const noexcept
{
    MPIRTX_Task task_{};
    const int code_ = MPIRTX_Object_as_task(c(), &task_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Object_as_task"};
    }
    return task_ref(task_);
}

inline result<void> object_ref::try_put_attr(int keyval, void *value) const noexcept
{
    return {static_cast<errc>(MPIRT_Object_put_attr(c(), keyval, value)), "MPIRT_Object_put_attr"};
}

inline result<std::tuple<void *, bool>> object_ref::try_attr(int keyval) const noexcept
{
    void *value_ = nullptr;
    int flag_{};
    const int code_ = MPIRT_Object_get_attr(c(), keyval, &value_, &flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Object_get_attr"};
    }
    return std::tuple<void *, bool>(value_, flag_ != 0);
}

inline result<void> object_ref::try_delete_attr(int keyval) const noexcept
{
    return {static_cast<errc>(MPIRT_Object_delete_attr(c(), keyval)), "MPIRT_Object_delete_attr"};
}

inline result<owner<qos_ref>> qos_ref::try_channel_time(text name, duration start, duration deadline, duration period) noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRT_Qos_channel_time_create(name.c_str(), start.count(), deadline.count(), period.count(), &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Qos_channel_time_create"};
    }
    return owner<qos_ref>(qos_);
}

inline result<owner<qos_ref>> qos_ref::try_channel_event(text name, text start_event, text completion_event) noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRT_Qos_channel_event_create(name.c_str(), start_event.c_str(), completion_event.c_str(), &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Qos_channel_event_create"};
    }
    return owner<qos_ref>(qos_);
}

inline result<owner<qos_ref>> qos_ref::try_channel_priority(text name, int priority) noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRT_Qos_channel_priority_create(name.c_str(), priority, &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Qos_channel_priority_create"};
    }
    return owner<qos_ref>(qos_);
}

inline result<owner<qos_ref>> qos_ref::try_handler(text name, int priority, duration budget, duration interval) noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRTX_Qos_handler_create(name.c_str(), priority, budget.count(), interval.count(), &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_handler_create"};
    }
    return owner<qos_ref>(qos_);
}

inline result<mpirt::qos_kind> qos_ref::try_kind() const noexcept
{
    MPIRTX_Qos_kind kind_{};
    const int code_ = MPIRTX_Qos_get_kind(c(), &kind_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_kind"};
    }
    return static_cast<mpirt::qos_kind>(kind_);
}

inline result<std::tuple<mpirt::duration, mpirt::duration, mpirt::duration>> qos_ref::try_time() const noexcept
{
    MPIRT_Timespec start_{};
    MPIRT_Timespec deadline_{};
    MPIRT_Timespec period_{};
    const int code_ = MPIRTX_Qos_get_time(c(), &start_, &deadline_, &period_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_time"};
    }
    return std::tuple<mpirt::duration, mpirt::duration, mpirt::duration>(duration(start_), duration(deadline_), duration(period_));
}

inline result<std::tuple<mpirt::name, mpirt::name>> qos_ref::try_events() const noexcept
{
    mpirt::name start_event_;
    mpirt::name completion_event_;
    const int code_ = MPIRTX_Qos_get_events(c(), start_event_.data(), completion_event_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_events"};
    }
    return std::tuple<mpirt::name, mpirt::name>(start_event_, completion_event_);
}

inline result<int> qos_ref::try_priority() const noexcept
{
    int priority_ = 0;
    const int code_ = MPIRTX_Qos_get_priority(c(), &priority_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_priority"};
    }
    return priority_;
}

inline result<void> qos_ref::try_set_priority(int priority) const noexcept
{
    return {static_cast<errc>(MPIRTX_Qos_set_priority(c(), priority)), "MPIRTX_Qos_set_priority"};
}

inline result<mpirt::duration> qos_ref::try_phase() const noexcept
{
    MPIRT_Timespec phase_{};
    const int code_ = MPIRTX_Qos_get_phase(c(), &phase_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_phase"};
    }
    return duration(phase_);
}

inline result<void> qos_ref::try_set_phase(duration phase) const noexcept
{
    return {static_cast<errc>(MPIRTX_Qos_set_phase(c(), phase.count())), "MPIRTX_Qos_set_phase"};
}

inline result<mpirt::miss_policy> qos_ref::try_miss_policy() const noexcept
{
    MPIRTX_Miss_policy policy_{};
    const int code_ = MPIRTX_Qos_get_miss_policy(c(), &policy_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_miss_policy"};
    }
    return static_cast<mpirt::miss_policy>(policy_);
}

inline result<void> qos_ref::try_set_miss_policy(mpirt::miss_policy policy) const noexcept
{
    return {static_cast<errc>(MPIRTX_Qos_set_miss_policy(c(), static_cast<MPIRTX_Miss_policy>(policy))), "MPIRTX_Qos_set_miss_policy"};
}

inline result<mpirt::duration> qos_ref::try_deadline() const noexcept
{
    MPIRT_Timespec deadline_{};
    const int code_ = MPIRTX_Qos_get_deadline(c(), &deadline_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_deadline"};
    }
    return duration(deadline_);
}

inline result<void> qos_ref::try_set_deadline(duration deadline) const noexcept
{
    return {static_cast<errc>(MPIRTX_Qos_set_deadline(c(), deadline.count())), "MPIRTX_Qos_set_deadline"};
}

inline result<mpirt::duration> qos_ref::try_interval() const noexcept
{
    MPIRT_Timespec interval_{};
    const int code_ = MPIRTX_Qos_get_interval(c(), &interval_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Qos_get_interval"};
    }
    return duration(interval_);
}

inline result<void> qos_ref::try_set_interval(duration interval) const noexcept
{
    return {static_cast<errc>(MPIRTX_Qos_set_interval(c(), interval.count())), "MPIRTX_Qos_set_interval"};
}

inline result<mpirt::name> qos_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Qos_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Qos_get_name"};
    }
    return name_;
}

inline result<void> qos_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Qos_set_name(c(), name.c_str())), "MPIRT_Qos_set_name"};
}

inline result<int> container_ref::try_access_count() const noexcept
{
    int count_ = 0;
    const int code_ = MPIRT_Container_access_count(c(), &count_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_access_count"};
    }
    return count_;
}

inline result<mpirt::name> container_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Container_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_get_name"};
    }
    return name_;
}

inline result<void> container_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Container_set_name(c(), name.c_str())), "MPIRT_Container_set_name"};
}

inline result<void> container_ref::try_start() const noexcept
{
    return {static_cast<errc>(MPIRT_Container_start(c())), "MPIRT_Container_start"};
}

inline result<void> container_ref::try_wait(duration timeout) const noexcept
{
    return {static_cast<errc>(MPIRT_Container_wait(c(), timeout.count())), "MPIRT_Container_wait"};
}

inline result<bool> container_ref::try_test() const noexcept
{
    int flag_{};
    const int code_ = MPIRT_Container_test(c(), &flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_test"};
    }
    return flag_ != 0;
}

inline result<std::tuple<channel_ref, mpirt::outcome>> container_ref::try_wait_any(duration timeout) const noexcept
{
    MPIRT_Channel channel_{};
    MPIRTX_Outcome outcome_{};
    const int code_ = MPIRTX_Container_wait_any(c(), timeout.count(), &channel_, &outcome_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Container_wait_any"};
    }
    return std::tuple<channel_ref, mpirt::outcome>(channel_ref(channel_), static_cast<mpirt::outcome>(outcome_));
}

inline result<std::tuple<bool, channel_ref, mpirt::outcome>> container_ref::try_test_any() const noexcept
{
    int flag_{};
    MPIRT_Channel channel_{};
    MPIRTX_Outcome outcome_{};
    const int code_ = MPIRTX_Container_test_any(c(), &flag_, &channel_, &outcome_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Container_test_any"};
    }
    return std::tuple<bool, channel_ref, mpirt::outcome>(flag_ != 0, channel_ref(channel_), static_cast<mpirt::outcome>(outcome_));
}

inline result<void> container_ref::try_activate() const noexcept
{
    return {static_cast<errc>(MPIRT_Container_activate(c())), "MPIRT_Container_activate"};
}

inline result<void> container_ref::try_deactivate() const noexcept
{
    return {static_cast<errc>(MPIRT_Container_deactivate(c())), "MPIRT_Container_deactivate"};
}

inline result<void> container_ref::try_set_qos(qos_ref qos) const noexcept
{
    return {static_cast<errc>(MPIRT_Container_set_qos(c(), qos.c())), "MPIRT_Container_set_qos"};
}

inline result<owner<container_ref>> container_ref::try_flatten(text name) const noexcept
{
    MPIRT_Container result_{};
    const int code_ = MPIRT_Container_flatten(c(), name.c_str(), &result_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_flatten"};
    }
    return owner<container_ref>(result_);
}

inline result<owner<container_ref>> container_ref::try_filter(mpirt::object_type type, text name) const noexcept
{
    MPIRT_Container result_{};
    const int code_ = MPIRT_Container_filter(c(), static_cast<MPIRT_Object_type>(type), name.c_str(), &result_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_filter"};
    }
    return owner<container_ref>(result_);
}

inline result<owner<cset_ref>> cset_ref::try_create(text name) noexcept
{
    MPIRT_Cset set_{};
    const int code_ = MPIRT_Cset_create(name.c_str(), &set_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Cset_create"};
    }
    return owner<cset_ref>(set_);
}

inline result<void> cset_ref::try_insert(object_ref object) const noexcept
{
    return {static_cast<errc>(MPIRT_Cset_insert(c(), object.c())), "MPIRT_Cset_insert"};
}

inline result<void> cset_ref::try_remove(object_ref object) const noexcept
{
    return {static_cast<errc>(MPIRT_Cset_remove(c(), object.c())), "MPIRT_Cset_remove"};
}

inline result<mpirt::name> cset_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Cset_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Cset_get_name"};
    }
    return name_;
}

inline result<void> cset_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Cset_set_name(c(), name.c_str())), "MPIRT_Cset_set_name"};
}

inline result<bool> cset_ref::try_contains(object_ref object) const noexcept
{
    int flag_{};
    const int code_ = MPIRTX_Cset_contains(c(), object.c(), &flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Cset_contains"};
    }
    return flag_ != 0;
}

inline result<int> cvector_ref::try_size() const noexcept
{
    int size_ = 0;
    const int code_ = MPIRT_Cvector_get_size(c(), &size_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Cvector_get_size"};
    }
    return size_;
}

inline result<object_ref> cvector_ref::try_element(int index) const noexcept
{
    MPIRT_Object element_{};
    const int code_ = MPIRT_Cvector_get_element(c(), index, &element_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Cvector_get_element"};
    }
    return object_ref(element_);
}

inline result<void> cvector_ref::try_set_element(int index, object_ref element) const noexcept
{
    return {static_cast<errc>(MPIRT_Cvector_set_element(c(), index, element.c())), "MPIRT_Cvector_set_element"};
}

inline result<mpirt::name> cvector_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Cvector_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Cvector_get_name"};
    }
    return name_;
}

inline result<void> cvector_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Cvector_set_name(c(), name.c_str())), "MPIRT_Cvector_set_name"};
}

inline result<int> group_ref::try_size() const noexcept
{
    int size_ = 0;
    const int code_ = MPIRT_Group_size(c(), &size_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_size"};
    }
    return size_;
}

inline result<int> group_ref::try_rank() const noexcept
{
    int rank_ = 0;
    const int code_ = MPIRT_Group_rank(c(), &rank_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_rank"};
    }
    return rank_;
}

inline result<owner<group_ref>> group_ref::try_union_(group_ref second, text name) const noexcept
{
    MPIRT_Group result_{};
    const int code_ = MPIRT_Group_union(c(), second.c(), name.c_str(), &result_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_union"};
    }
    return owner<group_ref>(result_);
}

inline result<owner<group_ref>> group_ref::try_intersection(group_ref second, text name) const noexcept
{
    MPIRT_Group result_{};
    const int code_ = MPIRT_Group_intersection(c(), second.c(), name.c_str(), &result_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_intersection"};
    }
    return owner<group_ref>(result_);
}

inline result<owner<group_ref>> group_ref::try_difference(group_ref second, text name) const noexcept
{
    MPIRT_Group result_{};
    const int code_ = MPIRT_Group_difference(c(), second.c(), name.c_str(), &result_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_difference"};
    }
    return owner<group_ref>(result_);
}

inline result<int> group_ref::try_compare(group_ref second) const noexcept
{
    int result_ = 0;
    const int code_ = MPIRT_Group_compare(c(), second.c(), &result_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_compare"};
    }
    return result_;
}

inline result<mpirt::name> group_ref::try_member_name(int rank) const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRTX_Group_get_member_name(c(), rank, name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Group_get_member_name"};
    }
    return name_;
}

inline result<int> group_ref::try_find_member(text name) const noexcept
{
    int rank_ = 0;
    const int code_ = MPIRTX_Group_find_member(c(), name.c_str(), &rank_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Group_find_member"};
    }
    return rank_;
}

inline result<mpirt::name> group_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Group_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Group_get_name"};
    }
    return name_;
}

inline result<void> group_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Group_set_name(c(), name.c_str())), "MPIRT_Group_set_name"};
}

inline result<owner<container_iterator_ref>> container_iterator_ref::try_create(text name, container_ref container) noexcept
{
    MPIRT_Container_iterator iterator_{};
    const int code_ = MPIRT_Container_iterator_create(name.c_str(), container.c(), &iterator_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_iterator_create"};
    }
    return owner<container_iterator_ref>(iterator_);
}

inline result<object_ref> container_iterator_ref::try_next() const noexcept
{
    MPIRT_Object object_{};
    const int code_ = MPIRT_Container_iterator_next(c(), &object_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_iterator_next"};
    }
    return object_ref(object_);
}

inline result<void> container_iterator_ref::try_reset() const noexcept
{
    return {static_cast<errc>(MPIRT_Container_iterator_reset(c())), "MPIRT_Container_iterator_reset"};
}

inline result<mpirt::name> container_iterator_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Container_iterator_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Container_iterator_get_name"};
    }
    return name_;
}

inline result<void> container_iterator_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Container_iterator_set_name(c(), name.c_str())), "MPIRT_Container_iterator_set_name"};
}

inline result<owner<buffer_ref>> buffer_ref::try_create(text name, void *base, std::size_t bufsize, mpirt::dataspec dataspec) noexcept
{
    MPIRT_Buffer buffer_{};
    const int code_ = MPIRT_Buffer_create(name.c_str(), base, bufsize, static_cast<MPIRT_Dataspec>(dataspec), &buffer_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Buffer_create"};
    }
    return owner<buffer_ref>(buffer_);
}

inline result<std::size_t> buffer_ref::try_bufsize() const noexcept
{
    std::size_t bufsize_ = 0;
    const int code_ = MPIRT_Buffer_get_bufsize(c(), &bufsize_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Buffer_get_bufsize"};
    }
    return bufsize_;
}

inline result<void> buffer_ref::try_set_bufsize(std::size_t bufsize) const noexcept
{
    return {static_cast<errc>(MPIRT_Buffer_set_bufsize(c(), bufsize)), "MPIRT_Buffer_set_bufsize"};
}

inline result<void *> buffer_ref::try_base() const noexcept
{
    void *base_ = nullptr;
    const int code_ = MPIRT_Buffer_get_base(c(), &base_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Buffer_get_base"};
    }
    return base_;
}

inline result<bool> buffer_ref::try_writable() const noexcept
{
    int writable_{};
    const int code_ = MPIRTX_Buffer_get_writable(c(), &writable_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Buffer_get_writable"};
    }
    return writable_ != 0;
}

inline result<void> buffer_ref::try_set_base(void *base) const noexcept
{
    return {static_cast<errc>(MPIRT_Buffer_set_base(c(), base)), "MPIRT_Buffer_set_base"};
}

inline result<mpirt::dataspec> buffer_ref::try_dataspec() const noexcept
{
    MPIRT_Dataspec dataspec_{};
    const int code_ = MPIRT_Buffer_get_dataspec(c(), &dataspec_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Buffer_get_dataspec"};
    }
    return static_cast<mpirt::dataspec>(dataspec_);
}

inline result<void> buffer_ref::try_set_dataspec(mpirt::dataspec dataspec) const noexcept
{
    return {static_cast<errc>(MPIRT_Buffer_set_dataspec(c(), static_cast<MPIRT_Dataspec>(dataspec))), "MPIRT_Buffer_set_dataspec"};
}

inline result<mpirt::name> buffer_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Buffer_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Buffer_get_name"};
    }
    return name_;
}

inline result<void> buffer_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Buffer_set_name(c(), name.c_str())), "MPIRT_Buffer_set_name"};
}

inline result<std::int64_t> buffer_ref::try_label() const noexcept
{
    std::int64_t label_ = 0;
    const int code_ = MPIRT_Buffer_get_label(c(), &label_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Buffer_get_label"};
    }
    return label_;
}

inline result<void> buffer_ref::try_set_label(std::int64_t label) const noexcept
{
    return {static_cast<errc>(MPIRT_Buffer_set_label(c(), label)), "MPIRT_Buffer_set_label"};
}

inline result<std::size_t> buffer_ref::try_length() const noexcept
{
    std::size_t length_ = 0;
    const int code_ = MPIRTX_Buffer_get_length(c(), &length_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Buffer_get_length"};
    }
    return length_;
}

inline result<void> buffer_ref::try_set_length(std::size_t length) const noexcept
{
    return {static_cast<errc>(MPIRTX_Buffer_set_length(c(), length)), "MPIRTX_Buffer_set_length"};
}

inline result<std::tuple<std::uint64_t, mpirt::time_point>> buffer_ref::try_instance() const noexcept
{
    std::uint64_t instance_ = 0;
    MPIRT_Timespec inserted_{};
    const int code_ = MPIRTX_Buffer_get_instance(c(), &instance_, &inserted_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Buffer_get_instance"};
    }
    return std::tuple<std::uint64_t, mpirt::time_point>(instance_, time_point(duration(inserted_)));
}

inline result<owner<bufiter_ref>> bufiter_ref::try_create(text name, mpirt::bufiter_policy policy, std::size_t bufsize, mpirt::dataspec dataspec, container_ref allowed) noexcept
{
    MPIRT_Bufiter bufiter_{};
    const int code_ = MPIRT_Bufiter_create(name.c_str(), static_cast<MPIRT_Bufiter_policy>(policy), bufsize, static_cast<MPIRT_Dataspec>(dataspec), allowed.c(), &bufiter_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_create"};
    }
    return owner<bufiter_ref>(bufiter_);
}

inline result<void> bufiter_ref::try_insert(buffer_ref buffer) const noexcept
{
    return {static_cast<errc>(MPIRT_Bufiter_insert(c(), buffer.c())), "MPIRT_Bufiter_insert"};
}

inline result<buffer_ref> bufiter_ref::try_remove() const noexcept
{
    MPIRT_Buffer buffer_{};
    const int code_ = MPIRT_Bufiter_remove(c(), &buffer_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_remove"};
    }
    return buffer_ref(buffer_);
}

inline result<int> bufiter_ref::try_count() const noexcept
{
    int count_ = 0;
    const int code_ = MPIRTX_Bufiter_get_count(c(), &count_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Bufiter_get_count"};
    }
    return count_;
}

inline result<mpirt::bufiter_policy> bufiter_ref::try_policy() const noexcept
{
    MPIRT_Bufiter_policy policy_{};
    const int code_ = MPIRT_Bufiter_get_policy(c(), &policy_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_get_policy"};
    }
    return static_cast<mpirt::bufiter_policy>(policy_);
}

inline result<std::size_t> bufiter_ref::try_bufsize() const noexcept
{
    std::size_t bufsize_ = 0;
    const int code_ = MPIRT_Bufiter_get_bufsize(c(), &bufsize_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_get_bufsize"};
    }
    return bufsize_;
}

inline result<mpirt::dataspec> bufiter_ref::try_dataspec() const noexcept
{
    MPIRT_Dataspec dataspec_{};
    const int code_ = MPIRT_Bufiter_get_dataspec(c(), &dataspec_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_get_dataspec"};
    }
    return static_cast<mpirt::dataspec>(dataspec_);
}

inline result<container_ref> bufiter_ref::try_allowed() const noexcept
{
    MPIRT_Container allowed_{};
    const int code_ = MPIRT_Bufiter_get_allowed(c(), &allowed_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_get_allowed"};
    }
    return container_ref(allowed_);
}

inline result<mpirt::name> bufiter_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Bufiter_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bufiter_get_name"};
    }
    return name_;
}

inline result<void> bufiter_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Bufiter_set_name(c(), name.c_str())), "MPIRT_Bufiter_set_name"};
}

inline result<bufiter_ref> channel_ref::try_inbufiter() const noexcept
{
    MPIRT_Bufiter bufiter_{};
    const int code_ = MPIRT_Channel_get_inbufiter(c(), &bufiter_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_inbufiter"};
    }
    return bufiter_ref(bufiter_);
}

inline result<void> channel_ref::try_set_inbufiter(bufiter_ref bufiter) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_set_inbufiter(c(), bufiter.c())), "MPIRT_Channel_set_inbufiter"};
}

inline result<bufiter_ref> channel_ref::try_outbufiter() const noexcept
{
    MPIRT_Bufiter bufiter_{};
    const int code_ = MPIRT_Channel_get_outbufiter(c(), &bufiter_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_outbufiter"};
    }
    return bufiter_ref(bufiter_);
}

inline result<void> channel_ref::try_set_outbufiter(bufiter_ref bufiter) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_set_outbufiter(c(), bufiter.c())), "MPIRT_Channel_set_outbufiter"};
}

inline result<bufiter_ref> channel_ref::try_recvinbufiter() const noexcept
{
    MPIRT_Bufiter bufiter_{};
    const int code_ = MPIRT_Channel_get_recvinbufiter(c(), &bufiter_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_recvinbufiter"};
    }
    return bufiter_ref(bufiter_);
}

inline result<void> channel_ref::try_set_recvinbufiter(bufiter_ref bufiter) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_set_recvinbufiter(c(), bufiter.c())), "MPIRT_Channel_set_recvinbufiter"};
}

inline result<bufiter_ref> channel_ref::try_recvoutbufiter() const noexcept
{
    MPIRT_Bufiter bufiter_{};
    const int code_ = MPIRT_Channel_get_recvoutbufiter(c(), &bufiter_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_recvoutbufiter"};
    }
    return bufiter_ref(bufiter_);
}

inline result<void> channel_ref::try_set_recvoutbufiter(bufiter_ref bufiter) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_set_recvoutbufiter(c(), bufiter.c())), "MPIRT_Channel_set_recvoutbufiter"};
}

inline result<qos_ref> channel_ref::try_qos() const noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRT_Channel_get_qos(c(), &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_qos"};
    }
    return qos_ref(qos_);
}

inline result<void> channel_ref::try_set_qos(qos_ref qos) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_set_qos(c(), qos.c())), "MPIRT_Channel_set_qos"};
}

inline result<void> channel_ref::try_start() const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_start(c())), "MPIRT_Channel_start"};
}

inline result<void> channel_ref::try_wait(duration timeout) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_wait(c(), timeout.count())), "MPIRT_Channel_wait"};
}

inline result<bool> channel_ref::try_test() const noexcept
{
    int flag_{};
    const int code_ = MPIRT_Channel_test(c(), &flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_test"};
    }
    return flag_ != 0;
}

inline result<mpirt::duration> channel_ref::try_mover_budget() const noexcept
{
    MPIRT_Timespec budget_{};
    const int code_ = MPIRTX_Channel_get_mover_budget(c(), &budget_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_mover_budget"};
    }
    return duration(budget_);
}

inline result<void> channel_ref::try_set_mover_budget(duration budget) const noexcept
{
    return {static_cast<errc>(MPIRTX_Channel_set_mover_budget(c(), budget.count())), "MPIRTX_Channel_set_mover_budget"};
}

inline result<int> channel_ref::try_descriptor() const noexcept
{
    int descriptor_ = 0;
    const int code_ = MPIRTX_Channel_get_descriptor(c(), &descriptor_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_descriptor"};
    }
    return descriptor_;
}

inline result<void> channel_ref::try_activate() const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_activate(c())), "MPIRT_Channel_activate"};
}

inline result<void> channel_ref::try_activate_at(std::uint64_t period) const noexcept
{
    return {static_cast<errc>(MPIRTX_Channel_activate_at(c(), period)), "MPIRTX_Channel_activate_at"};
}

inline result<void> channel_ref::try_deactivate() const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_deactivate(c())), "MPIRT_Channel_deactivate"};
}

inline result<void> channel_ref::try_deactivate_at(std::uint64_t period) const noexcept
{
    return {static_cast<errc>(MPIRTX_Channel_deactivate_at(c(), period)), "MPIRTX_Channel_deactivate_at"};
}

inline result<owner<channel_ref>> channel_ref::try_ptchannel(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, int source, int target, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Ptchannel_create(name.c_str(), inbufiter.c(), outbufiter.c(), source, target, group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Ptchannel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<int> channel_ref::try_source() const noexcept
{
    int source_ = 0;
    const int code_ = MPIRTX_Channel_get_source(c(), &source_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_source"};
    }
    return source_;
}

inline result<int> channel_ref::try_target() const noexcept
{
    int target_ = 0;
    const int code_ = MPIRTX_Channel_get_target(c(), &target_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_target"};
    }
    return target_;
}

inline result<int> channel_ref::try_root() const noexcept
{
    int root_ = 0;
    const int code_ = MPIRTX_Channel_get_root(c(), &root_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_root"};
    }
    return root_;
}

inline result<mpirt::op> channel_ref::try_operation() const noexcept
{
    MPIRT_Op operation_{};
    const int code_ = MPIRTX_Channel_get_operation(c(), &operation_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_operation"};
    }
    return static_cast<mpirt::op>(operation_);
}

inline result<int> channel_ref::try_slack() const noexcept
{
    int slack_ = 0;
    const int code_ = MPIRTX_Channel_get_slack(c(), &slack_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_slack"};
    }
    return slack_;
}

inline result<void> channel_ref::try_set_slack(int slack) const noexcept
{
    return {static_cast<errc>(MPIRTX_Channel_set_slack(c(), slack)), "MPIRTX_Channel_set_slack"};
}

inline result<int> channel_ref::try_polling() const noexcept
{
    int polls_ = 0;
    const int code_ = MPIRTX_Channel_get_polling(c(), &polls_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_polling"};
    }
    return polls_;
}

inline result<void> channel_ref::try_set_polling(int polls) const noexcept
{
    return {static_cast<errc>(MPIRTX_Channel_set_polling(c(), polls)), "MPIRTX_Channel_set_polling"};
}

inline result<int> channel_ref::try_checksum() const noexcept
{
    int checksum_ = 0;
    const int code_ = MPIRTX_Channel_get_checksum(c(), &checksum_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_checksum"};
    }
    return checksum_;
}

inline result<void> channel_ref::try_set_checksum(int checksum) const noexcept
{
    return {static_cast<errc>(MPIRTX_Channel_set_checksum(c(), checksum)), "MPIRTX_Channel_set_checksum"};
}

inline result<group_ref> channel_ref::try_group() const noexcept
{
    MPIRT_Group group_{};
    const int code_ = MPIRT_Channel_get_group(c(), &group_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_group"};
    }
    return group_ref(group_);
}

inline result<mpirt::status> channel_ref::try_status() const noexcept
{
    MPIRTX_Status status_{};
    const int code_ = MPIRTX_Channel_get_status(c(), &status_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_status"};
    }
    return mpirt::status::of(status_);
}

inline result<mpirt::channel_metrics> channel_ref::try_metrics() const noexcept
{
    MPIRTX_Channel_metrics metrics_{};
    const int code_ = MPIRTX_Channel_get_metrics(c(), &metrics_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Channel_get_metrics"};
    }
    return mpirt::channel_metrics::of(metrics_);
}

inline result<mpirt::name> channel_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Channel_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Channel_get_name"};
    }
    return name_;
}

inline result<void> channel_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Channel_set_name(c(), name.c_str())), "MPIRT_Channel_set_name"};
}

inline result<owner<channel_ref>> channel_ref::try_bcast(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Bcast_channel_create(name.c_str(), inbufiter.c(), outbufiter.c(), recvinbufiter.c(), recvoutbufiter.c(), root, group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Bcast_channel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<owner<channel_ref>> channel_ref::try_scatter(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Scatter_channel_create(name.c_str(), inbufiter.c(), outbufiter.c(), recvinbufiter.c(), recvoutbufiter.c(), root, group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Scatter_channel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<owner<channel_ref>> channel_ref::try_gather(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Gather_channel_create(name.c_str(), inbufiter.c(), outbufiter.c(), recvinbufiter.c(), recvoutbufiter.c(), root, group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Gather_channel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<owner<channel_ref>> channel_ref::try_reduce(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, mpirt::op op, int root, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Reduce_channel_create(name.c_str(), inbufiter.c(), outbufiter.c(), recvinbufiter.c(), recvoutbufiter.c(), static_cast<MPIRT_Op>(op), root, group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Reduce_channel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<owner<channel_ref>> channel_ref::try_barrier(text name, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Barrier_channel_create(name.c_str(), group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Barrier_channel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<owner<channel_ref>> channel_ref::try_alltoall(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Channel channel_{};
    const int code_ = MPIRT_Alltoall_channel_create(name.c_str(), inbufiter.c(), outbufiter.c(), recvinbufiter.c(), recvoutbufiter.c(), group.c(), qos.c(), &channel_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Alltoall_channel_create"};
    }
    return owner<channel_ref>(channel_);
}

inline result<owner<trigger_ref>> trigger_ref::try_create(text event, mpirt::event_kind kind, object_ref source, group_ref group, qos_ref qos) noexcept
{
    MPIRT_Trigger trigger_{};
    const int code_ = MPIRT_Trigger_create(event.c_str(), static_cast<MPIRT_Event_kind>(kind), source.c(), group.c(), qos.c(), &trigger_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Trigger_create"};
    }
    return owner<trigger_ref>(trigger_);
}

inline result<mpirt::event_kind> trigger_ref::try_kind() const noexcept
{
    MPIRT_Event_kind kind_{};
    const int code_ = MPIRTX_Trigger_get_kind(c(), &kind_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Trigger_get_kind"};
    }
    return static_cast<mpirt::event_kind>(kind_);
}

inline result<std::tuple<mpirt::duration, mpirt::duration>> trigger_ref::try_time() const noexcept
{
    MPIRT_Timespec first_{};
    MPIRT_Timespec period_{};
    const int code_ = MPIRTX_Trigger_get_time(c(), &first_, &period_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Trigger_get_time"};
    }
    return std::tuple<mpirt::duration, mpirt::duration>(duration(first_), duration(period_));
}

inline result<void> trigger_ref::try_set_time(duration first, duration period) const noexcept
{
    return {static_cast<errc>(MPIRTX_Trigger_set_time(c(), first.count(), period.count())), "MPIRTX_Trigger_set_time"};
}

inline result<void> trigger_ref::try_fire() const noexcept
{
    return {static_cast<errc>(MPIRT_Trigger_fire(c())), "MPIRT_Trigger_fire"};
}

inline result<mpirt::name> trigger_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Trigger_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Trigger_get_name"};
    }
    return name_;
}

inline result<void> trigger_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Trigger_set_name(c(), name.c_str())), "MPIRT_Trigger_set_name"};
}

inline result<owner<receptor_ref>> receptor_ref::try_create(text event, group_ref group, container_ref handlers) noexcept
{
    MPIRT_Receptor receptor_{};
    const int code_ = MPIRT_Receptor_create(event.c_str(), group.c(), handlers.c(), &receptor_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Receptor_create"};
    }
    return owner<receptor_ref>(receptor_);
}

inline result<owner<receptor_ref>> receptor_ref::try_combine(text name, mpirt::combination combination, container_ref parts, container_ref handlers) noexcept
{
    MPIRT_Receptor receptor_{};
    const int code_ = MPIRTX_Receptor_combine(name.c_str(), static_cast<MPIRTX_Combination>(combination), parts.c(), handlers.c(), &receptor_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Receptor_combine"};
    }
    return owner<receptor_ref>(receptor_);
}

inline result<void> receptor_ref::try_wait(duration timeout) const noexcept
{
    return {static_cast<errc>(MPIRT_Receptor_wait(c(), timeout.count())), "MPIRT_Receptor_wait"};
}

inline result<int> receptor_ref::try_descriptor() const noexcept
{
    int descriptor_ = 0;
    const int code_ = MPIRTX_Receptor_get_descriptor(c(), &descriptor_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Receptor_get_descriptor"};
    }
    return descriptor_;
}

inline result<bool> receptor_ref::try_test() const noexcept
{
    int flag_{};
    const int code_ = MPIRTX_Receptor_test(c(), &flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Receptor_test"};
    }
    return flag_ != 0;
}

inline result<mpirt::event> receptor_ref::try_event() const noexcept
{
    MPIRTX_Event event_{};
    const int code_ = MPIRTX_Receptor_get_event(c(), &event_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Receptor_get_event"};
    }
    return mpirt::event::of(event_);
}

inline result<mpirt::name> receptor_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Receptor_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Receptor_get_name"};
    }
    return name_;
}

inline result<void> receptor_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Receptor_set_name(c(), name.c_str())), "MPIRT_Receptor_set_name"};
}

inline result<mpirt::name> handler_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRT_Handler_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Handler_get_name"};
    }
    return name_;
}

inline result<void> handler_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRT_Handler_set_name(c(), name.c_str())), "MPIRT_Handler_set_name"};
}

inline result<mpirt::handler_metrics> handler_ref::try_metrics() const noexcept
{
    MPIRTX_Handler_metrics metrics_{};
    const int code_ = MPIRTX_Handler_get_metrics(c(), &metrics_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Handler_get_metrics"};
    }
    return mpirt::handler_metrics::of(metrics_);
}

inline result<void> handler_ref::try_fail() noexcept
{
    return {static_cast<errc>(MPIRTX_Handler_fail()), "MPIRTX_Handler_fail"};
}

inline result<void> task_ref::try_bind(channel_ref channel) const noexcept
{
    return {static_cast<errc>(MPIRTX_Task_bind(c(), channel.c())), "MPIRTX_Task_bind"};
}

inline result<mpirt::duration> task_ref::try_budget() const noexcept
{
    MPIRT_Timespec budget_{};
    const int code_ = MPIRTX_Task_get_budget(c(), &budget_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Task_get_budget"};
    }
    return duration(budget_);
}

inline result<qos_ref> task_ref::try_qos() const noexcept
{
    MPIRT_Qos qos_{};
    const int code_ = MPIRTX_Task_get_qos(c(), &qos_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Task_get_qos"};
    }
    return qos_ref(qos_);
}

inline result<int> task_ref::try_core() const noexcept
{
    int core_ = 0;
    const int code_ = MPIRTX_Task_get_core(c(), &core_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Task_get_core"};
    }
    return core_;
}

inline result<void> task_ref::try_set_core(int core) const noexcept
{
    return {static_cast<errc>(MPIRTX_Task_set_core(c(), core)), "MPIRTX_Task_set_core"};
}

inline result<mpirt::overrun_policy> task_ref::try_overrun_policy() const noexcept
{
    MPIRTX_Overrun_policy policy_{};
    const int code_ = MPIRTX_Task_get_overrun_policy(c(), &policy_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Task_get_overrun_policy"};
    }
    return static_cast<mpirt::overrun_policy>(policy_);
}

inline result<void> task_ref::try_set_overrun_policy(mpirt::overrun_policy policy) const noexcept
{
    return {static_cast<errc>(MPIRTX_Task_set_overrun_policy(c(), static_cast<MPIRTX_Overrun_policy>(policy))), "MPIRTX_Task_set_overrun_policy"};
}

inline result<mpirt::task_metrics> task_ref::try_metrics() const noexcept
{
    MPIRTX_Task_metrics metrics_{};
    const int code_ = MPIRTX_Task_get_metrics(c(), &metrics_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Task_get_metrics"};
    }
    return mpirt::task_metrics::of(metrics_);
}

inline result<mpirt::name> task_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRTX_Task_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Task_get_name"};
    }
    return name_;
}

inline result<void> task_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRTX_Task_set_name(c(), name.c_str())), "MPIRTX_Task_set_name"};
}

inline result<owner<mode_ref>> mode_ref::try_open(text name) noexcept
{
    MPIRTX_Mode mode_{};
    const int code_ = MPIRTX_Mode_open(name.c_str(), &mode_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Mode_open"};
    }
    return owner<mode_ref>(mode_);
}

inline result<void> mode_ref::try_keep(object_ref object) const noexcept
{
    return {static_cast<errc>(MPIRTX_Mode_keep(c(), object.c())), "MPIRTX_Mode_keep"};
}

inline result<void> mode_ref::try_commit() const noexcept
{
    return {static_cast<errc>(MPIRTX_Mode_commit(c())), "MPIRTX_Mode_commit"};
}

inline result<mpirt::time_point> mode_ref::try_switch_(time_point earliest) const noexcept
{
    MPIRT_Timespec at_{};
    const int code_ = MPIRTX_Mode_switch(c(), earliest.time_since_epoch().count(), &at_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Mode_switch"};
    }
    return time_point(duration(at_));
}

inline result<mode_ref> mode_ref::try_current() noexcept
{
    MPIRTX_Mode mode_{};
    const int code_ = MPIRTX_Mode_get_current(&mode_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Mode_get_current"};
    }
    return mode_ref(mode_);
}

inline result<mpirt::name> mode_ref::try_name() const noexcept
{
    mpirt::name name_;
    const int code_ = MPIRTX_Mode_get_name(c(), name_.data());
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Mode_get_name"};
    }
    return name_;
}

inline result<void> mode_ref::try_set_name(text name) const noexcept
{
    return {static_cast<errc>(MPIRTX_Mode_set_name(c(), name.c_str())), "MPIRTX_Mode_set_name"};
}

inline result<std::size_t> try_dataspec_size(mpirt::dataspec dataspec) noexcept
{
    std::size_t size_ = 0;
    const int code_ = MPIRT_Dataspec_size(static_cast<MPIRT_Dataspec>(dataspec), &size_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Dataspec_size"};
    }
    return size_;
}

inline result<void> try_default_handler_set(mpirt::event_kind kind, handler_ref handler) noexcept
{
    return {static_cast<errc>(MPIRTX_Default_handler_set(static_cast<MPIRT_Event_kind>(kind), handler.c())), "MPIRTX_Default_handler_set"};
}

inline result<int> try_keyval(MPIRT_Delete_function *delete_function, void *extra) noexcept
{
    int keyval_ = 0;
    const int code_ = MPIRT_Keyval_create(delete_function, extra, &keyval_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Keyval_create"};
    }
    return keyval_;
}

inline result<void> try_keyval_free(int &keyval) noexcept
{
    return {static_cast<errc>(MPIRT_Keyval_free(&keyval)), "MPIRT_Keyval_free"};
}

inline result<void> try_abort(int code, text message) noexcept
{
    return {static_cast<errc>(MPIRTX_Abort(code, message.c_str())), "MPIRTX_Abort"};
}

inline result<void> try_fail(text reason) noexcept
{
    return {static_cast<errc>(MPIRTX_Fail(reason.c_str())), "MPIRTX_Fail"};
}

inline result<bool> try_is_initialized() noexcept
{
    int flag_{};
    const int code_ = MPIRT_Is_initialized(&flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Is_initialized"};
    }
    return flag_ != 0;
}

inline result<bool> try_is_finalized() noexcept
{
    int flag_{};
    const int code_ = MPIRT_Is_finalized(&flag_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Is_finalized"};
    }
    return flag_ != 0;
}

inline result<mpirt::duration> try_get_time_resolution() noexcept
{
    MPIRT_Timespec resolution_{};
    const int code_ = MPIRT_Get_time_resolution(&resolution_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Get_time_resolution"};
    }
    return duration(resolution_);
}

inline result<std::tuple<mpirt::duration, mpirt::clock_state>> try_get_clock() noexcept
{
    MPIRT_Timespec error_{};
    MPIRTX_Clock_state state_{};
    const int code_ = MPIRTX_Get_clock(&error_, &state_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Get_clock"};
    }
    return std::tuple<mpirt::duration, mpirt::clock_state>(duration(error_), static_cast<mpirt::clock_state>(state_));
}

inline result<std::tuple<std::uint32_t, std::uint32_t>> try_int64_export(time_point time) noexcept
{
    std::uint32_t high_ = 0;
    std::uint32_t low_ = 0;
    const int code_ = MPIRT_Int64_export(time.time_since_epoch().count(), &high_, &low_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRT_Int64_export"};
    }
    return std::tuple<std::uint32_t, std::uint32_t>(high_, low_);
}

inline result<std::tuple<int, int, int>> try_get_version() noexcept
{
    int major_ = 0;
    int minor_ = 0;
    int patch_ = 0;
    const int code_ = MPIRTX_Get_version(&major_, &minor_, &patch_);
    if (code_ != MPIRT_SUCCESS) {
        return {static_cast<errc>(code_), "MPIRTX_Get_version"};
    }
    return std::tuple<int, int, int>(major_, minor_, patch_);
}

#if MPIRT_EXCEPTIONS
inline bool object_ref::is_null() const
{
    return try_is_null().value();
}

inline mpirt::object_type object_ref::object_type() const
{
    return try_object_type().value();
}

inline mpirt::name object_ref::name() const
{
    return try_name().value();
}

inline void object_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline bool object_ref::compare(object_ref second) const
{
    return try_compare(second).value();
}

inline container_ref object_ref::as_container() const
{
    return try_as_container().value();
}

inline cset_ref object_ref::as_cset() const
{
    return try_as_cset().value();
}

inline cvector_ref object_ref::as_cvector() const
{
    return try_as_cvector().value();
}

inline group_ref object_ref::as_group() const
{
    return try_as_group().value();
}

inline buffer_ref object_ref::as_buffer() const
{
    return try_as_buffer().value();
}

inline bufiter_ref object_ref::as_bufiter() const
{
    return try_as_bufiter().value();
}

inline channel_ref object_ref::as_channel() const
{
    return try_as_channel().value();
}

inline qos_ref object_ref::as_qos() const
{
    return try_as_qos().value();
}

inline trigger_ref object_ref::as_trigger() const
{
    return try_as_trigger().value();
}

inline receptor_ref object_ref::as_receptor() const
{
    return try_as_receptor().value();
}

inline handler_ref object_ref::as_handler() const
{
    return try_as_handler().value();
}

inline task_ref object_ref::as_task() const
{
    return try_as_task().value();
}

inline void object_ref::put_attr(int keyval, void *value) const
{
    try_put_attr(keyval, value).value();
}

inline std::tuple<void *, bool> object_ref::attr(int keyval) const
{
    return try_attr(keyval).value();
}

inline void object_ref::delete_attr(int keyval) const
{
    try_delete_attr(keyval).value();
}

inline owner<qos_ref> qos_ref::channel_time(text name, duration start, duration deadline, duration period)
{
    return try_channel_time(name, start, deadline, period).value();
}

inline owner<qos_ref> qos_ref::channel_event(text name, text start_event, text completion_event)
{
    return try_channel_event(name, start_event, completion_event).value();
}

inline owner<qos_ref> qos_ref::channel_priority(text name, int priority)
{
    return try_channel_priority(name, priority).value();
}

inline owner<qos_ref> qos_ref::handler(text name, int priority, duration budget, duration interval)
{
    return try_handler(name, priority, budget, interval).value();
}

inline mpirt::qos_kind qos_ref::kind() const
{
    return try_kind().value();
}

inline std::tuple<mpirt::duration, mpirt::duration, mpirt::duration> qos_ref::time() const
{
    return try_time().value();
}

inline std::tuple<mpirt::name, mpirt::name> qos_ref::events() const
{
    return try_events().value();
}

inline int qos_ref::priority() const
{
    return try_priority().value();
}

inline void qos_ref::set_priority(int priority) const
{
    try_set_priority(priority).value();
}

inline mpirt::duration qos_ref::phase() const
{
    return try_phase().value();
}

inline void qos_ref::set_phase(duration phase) const
{
    try_set_phase(phase).value();
}

inline mpirt::miss_policy qos_ref::miss_policy() const
{
    return try_miss_policy().value();
}

inline void qos_ref::set_miss_policy(mpirt::miss_policy policy) const
{
    try_set_miss_policy(policy).value();
}

inline mpirt::duration qos_ref::deadline() const
{
    return try_deadline().value();
}

inline void qos_ref::set_deadline(duration deadline) const
{
    try_set_deadline(deadline).value();
}

inline mpirt::duration qos_ref::interval() const
{
    return try_interval().value();
}

inline void qos_ref::set_interval(duration interval) const
{
    try_set_interval(interval).value();
}

inline mpirt::name qos_ref::name() const
{
    return try_name().value();
}

inline void qos_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline int container_ref::access_count() const
{
    return try_access_count().value();
}

inline mpirt::name container_ref::name() const
{
    return try_name().value();
}

inline void container_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline void container_ref::start() const
{
    try_start().value();
}

inline void container_ref::wait(duration timeout) const
{
    try_wait(timeout).value();
}

inline bool container_ref::test() const
{
    return try_test().value();
}

inline std::tuple<channel_ref, mpirt::outcome> container_ref::wait_any(duration timeout) const
{
    return try_wait_any(timeout).value();
}

inline std::tuple<bool, channel_ref, mpirt::outcome> container_ref::test_any() const
{
    return try_test_any().value();
}

inline void container_ref::activate() const
{
    try_activate().value();
}

inline void container_ref::deactivate() const
{
    try_deactivate().value();
}

inline void container_ref::set_qos(qos_ref qos) const
{
    try_set_qos(qos).value();
}

inline owner<container_ref> container_ref::flatten(text name) const
{
    return try_flatten(name).value();
}

inline owner<container_ref> container_ref::filter(mpirt::object_type type, text name) const
{
    return try_filter(type, name).value();
}

inline owner<cset_ref> cset_ref::create(text name)
{
    return try_create(name).value();
}

inline void cset_ref::insert(object_ref object) const
{
    try_insert(object).value();
}

inline void cset_ref::remove(object_ref object) const
{
    try_remove(object).value();
}

inline mpirt::name cset_ref::name() const
{
    return try_name().value();
}

inline void cset_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline bool cset_ref::contains(object_ref object) const
{
    return try_contains(object).value();
}

inline int cvector_ref::size() const
{
    return try_size().value();
}

inline object_ref cvector_ref::element(int index) const
{
    return try_element(index).value();
}

inline void cvector_ref::set_element(int index, object_ref element) const
{
    try_set_element(index, element).value();
}

inline mpirt::name cvector_ref::name() const
{
    return try_name().value();
}

inline void cvector_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline int group_ref::size() const
{
    return try_size().value();
}

inline int group_ref::rank() const
{
    return try_rank().value();
}

inline owner<group_ref> group_ref::union_(group_ref second, text name) const
{
    return try_union_(second, name).value();
}

inline owner<group_ref> group_ref::intersection(group_ref second, text name) const
{
    return try_intersection(second, name).value();
}

inline owner<group_ref> group_ref::difference(group_ref second, text name) const
{
    return try_difference(second, name).value();
}

inline int group_ref::compare(group_ref second) const
{
    return try_compare(second).value();
}

inline mpirt::name group_ref::member_name(int rank) const
{
    return try_member_name(rank).value();
}

inline int group_ref::find_member(text name) const
{
    return try_find_member(name).value();
}

inline mpirt::name group_ref::name() const
{
    return try_name().value();
}

inline void group_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline owner<container_iterator_ref> container_iterator_ref::create(text name, container_ref container)
{
    return try_create(name, container).value();
}

inline object_ref container_iterator_ref::next() const
{
    return try_next().value();
}

inline void container_iterator_ref::reset() const
{
    try_reset().value();
}

inline mpirt::name container_iterator_ref::name() const
{
    return try_name().value();
}

inline void container_iterator_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline owner<buffer_ref> buffer_ref::create(text name, void *base, std::size_t bufsize, mpirt::dataspec dataspec)
{
    return try_create(name, base, bufsize, dataspec).value();
}

inline std::size_t buffer_ref::bufsize() const
{
    return try_bufsize().value();
}

inline void buffer_ref::set_bufsize(std::size_t bufsize) const
{
    try_set_bufsize(bufsize).value();
}

inline void * buffer_ref::base() const
{
    return try_base().value();
}

inline bool buffer_ref::writable() const
{
    return try_writable().value();
}

inline void buffer_ref::set_base(void *base) const
{
    try_set_base(base).value();
}

inline mpirt::dataspec buffer_ref::dataspec() const
{
    return try_dataspec().value();
}

inline void buffer_ref::set_dataspec(mpirt::dataspec dataspec) const
{
    try_set_dataspec(dataspec).value();
}

inline mpirt::name buffer_ref::name() const
{
    return try_name().value();
}

inline void buffer_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline std::int64_t buffer_ref::label() const
{
    return try_label().value();
}

inline void buffer_ref::set_label(std::int64_t label) const
{
    try_set_label(label).value();
}

inline std::size_t buffer_ref::length() const
{
    return try_length().value();
}

inline void buffer_ref::set_length(std::size_t length) const
{
    try_set_length(length).value();
}

inline std::tuple<std::uint64_t, mpirt::time_point> buffer_ref::instance() const
{
    return try_instance().value();
}

inline owner<bufiter_ref> bufiter_ref::create(text name, mpirt::bufiter_policy policy, std::size_t bufsize, mpirt::dataspec dataspec, container_ref allowed)
{
    return try_create(name, policy, bufsize, dataspec, allowed).value();
}

inline void bufiter_ref::insert(buffer_ref buffer) const
{
    try_insert(buffer).value();
}

inline buffer_ref bufiter_ref::remove() const
{
    return try_remove().value();
}

inline int bufiter_ref::count() const
{
    return try_count().value();
}

inline mpirt::bufiter_policy bufiter_ref::policy() const
{
    return try_policy().value();
}

inline std::size_t bufiter_ref::bufsize() const
{
    return try_bufsize().value();
}

inline mpirt::dataspec bufiter_ref::dataspec() const
{
    return try_dataspec().value();
}

inline container_ref bufiter_ref::allowed() const
{
    return try_allowed().value();
}

inline mpirt::name bufiter_ref::name() const
{
    return try_name().value();
}

inline void bufiter_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline bufiter_ref channel_ref::inbufiter() const
{
    return try_inbufiter().value();
}

inline void channel_ref::set_inbufiter(bufiter_ref bufiter) const
{
    try_set_inbufiter(bufiter).value();
}

inline bufiter_ref channel_ref::outbufiter() const
{
    return try_outbufiter().value();
}

inline void channel_ref::set_outbufiter(bufiter_ref bufiter) const
{
    try_set_outbufiter(bufiter).value();
}

inline bufiter_ref channel_ref::recvinbufiter() const
{
    return try_recvinbufiter().value();
}

inline void channel_ref::set_recvinbufiter(bufiter_ref bufiter) const
{
    try_set_recvinbufiter(bufiter).value();
}

inline bufiter_ref channel_ref::recvoutbufiter() const
{
    return try_recvoutbufiter().value();
}

inline void channel_ref::set_recvoutbufiter(bufiter_ref bufiter) const
{
    try_set_recvoutbufiter(bufiter).value();
}

inline qos_ref channel_ref::qos() const
{
    return try_qos().value();
}

inline void channel_ref::set_qos(qos_ref qos) const
{
    try_set_qos(qos).value();
}

inline void channel_ref::start() const
{
    try_start().value();
}

inline void channel_ref::wait(duration timeout) const
{
    try_wait(timeout).value();
}

inline bool channel_ref::test() const
{
    return try_test().value();
}

inline mpirt::duration channel_ref::mover_budget() const
{
    return try_mover_budget().value();
}

inline void channel_ref::set_mover_budget(duration budget) const
{
    try_set_mover_budget(budget).value();
}

inline int channel_ref::descriptor() const
{
    return try_descriptor().value();
}

inline void channel_ref::activate() const
{
    try_activate().value();
}

inline void channel_ref::activate_at(std::uint64_t period) const
{
    try_activate_at(period).value();
}

inline void channel_ref::deactivate() const
{
    try_deactivate().value();
}

inline void channel_ref::deactivate_at(std::uint64_t period) const
{
    try_deactivate_at(period).value();
}

inline owner<channel_ref> channel_ref::ptchannel(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, int source, int target, group_ref group, qos_ref qos)
{
    return try_ptchannel(name, inbufiter, outbufiter, source, target, group, qos).value();
}

inline int channel_ref::source() const
{
    return try_source().value();
}

inline int channel_ref::target() const
{
    return try_target().value();
}

inline int channel_ref::root() const
{
    return try_root().value();
}

inline mpirt::op channel_ref::operation() const
{
    return try_operation().value();
}

inline int channel_ref::slack() const
{
    return try_slack().value();
}

inline void channel_ref::set_slack(int slack) const
{
    try_set_slack(slack).value();
}

inline int channel_ref::polling() const
{
    return try_polling().value();
}

inline void channel_ref::set_polling(int polls) const
{
    try_set_polling(polls).value();
}

inline int channel_ref::checksum() const
{
    return try_checksum().value();
}

inline void channel_ref::set_checksum(int checksum) const
{
    try_set_checksum(checksum).value();
}

inline group_ref channel_ref::group() const
{
    return try_group().value();
}

inline mpirt::status channel_ref::status() const
{
    return try_status().value();
}

inline mpirt::channel_metrics channel_ref::metrics() const
{
    return try_metrics().value();
}

inline mpirt::name channel_ref::name() const
{
    return try_name().value();
}

inline void channel_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline owner<channel_ref> channel_ref::bcast(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos)
{
    return try_bcast(name, inbufiter, outbufiter, recvinbufiter, recvoutbufiter, root, group, qos).value();
}

inline owner<channel_ref> channel_ref::scatter(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos)
{
    return try_scatter(name, inbufiter, outbufiter, recvinbufiter, recvoutbufiter, root, group, qos).value();
}

inline owner<channel_ref> channel_ref::gather(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, int root, group_ref group, qos_ref qos)
{
    return try_gather(name, inbufiter, outbufiter, recvinbufiter, recvoutbufiter, root, group, qos).value();
}

inline owner<channel_ref> channel_ref::reduce(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, mpirt::op op, int root, group_ref group, qos_ref qos)
{
    return try_reduce(name, inbufiter, outbufiter, recvinbufiter, recvoutbufiter, op, root, group, qos).value();
}

inline owner<channel_ref> channel_ref::barrier(text name, group_ref group, qos_ref qos)
{
    return try_barrier(name, group, qos).value();
}

inline owner<channel_ref> channel_ref::alltoall(text name, bufiter_ref inbufiter, bufiter_ref outbufiter, bufiter_ref recvinbufiter, bufiter_ref recvoutbufiter, group_ref group, qos_ref qos)
{
    return try_alltoall(name, inbufiter, outbufiter, recvinbufiter, recvoutbufiter, group, qos).value();
}

inline owner<trigger_ref> trigger_ref::create(text event, mpirt::event_kind kind, object_ref source, group_ref group, qos_ref qos)
{
    return try_create(event, kind, source, group, qos).value();
}

inline mpirt::event_kind trigger_ref::kind() const
{
    return try_kind().value();
}

inline std::tuple<mpirt::duration, mpirt::duration> trigger_ref::time() const
{
    return try_time().value();
}

inline void trigger_ref::set_time(duration first, duration period) const
{
    try_set_time(first, period).value();
}

inline void trigger_ref::fire() const
{
    try_fire().value();
}

inline mpirt::name trigger_ref::name() const
{
    return try_name().value();
}

inline void trigger_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline owner<receptor_ref> receptor_ref::create(text event, group_ref group, container_ref handlers)
{
    return try_create(event, group, handlers).value();
}

inline owner<receptor_ref> receptor_ref::combine(text name, mpirt::combination combination, container_ref parts, container_ref handlers)
{
    return try_combine(name, combination, parts, handlers).value();
}

inline void receptor_ref::wait(duration timeout) const
{
    try_wait(timeout).value();
}

inline int receptor_ref::descriptor() const
{
    return try_descriptor().value();
}

inline bool receptor_ref::test() const
{
    return try_test().value();
}

inline mpirt::event receptor_ref::event() const
{
    return try_event().value();
}

inline mpirt::name receptor_ref::name() const
{
    return try_name().value();
}

inline void receptor_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline mpirt::name handler_ref::name() const
{
    return try_name().value();
}

inline void handler_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline mpirt::handler_metrics handler_ref::metrics() const
{
    return try_metrics().value();
}

inline void handler_ref::fail()
{
    try_fail().value();
}

inline void task_ref::bind(channel_ref channel) const
{
    try_bind(channel).value();
}

inline mpirt::duration task_ref::budget() const
{
    return try_budget().value();
}

inline qos_ref task_ref::qos() const
{
    return try_qos().value();
}

inline int task_ref::core() const
{
    return try_core().value();
}

inline void task_ref::set_core(int core) const
{
    try_set_core(core).value();
}

inline mpirt::overrun_policy task_ref::overrun_policy() const
{
    return try_overrun_policy().value();
}

inline void task_ref::set_overrun_policy(mpirt::overrun_policy policy) const
{
    try_set_overrun_policy(policy).value();
}

inline mpirt::task_metrics task_ref::metrics() const
{
    return try_metrics().value();
}

inline mpirt::name task_ref::name() const
{
    return try_name().value();
}

inline void task_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline owner<mode_ref> mode_ref::open(text name)
{
    return try_open(name).value();
}

inline void mode_ref::keep(object_ref object) const
{
    try_keep(object).value();
}

inline void mode_ref::commit() const
{
    try_commit().value();
}

inline mpirt::time_point mode_ref::switch_(time_point earliest) const
{
    return try_switch_(earliest).value();
}

inline mode_ref mode_ref::current()
{
    return try_current().value();
}

inline mpirt::name mode_ref::name() const
{
    return try_name().value();
}

inline void mode_ref::set_name(text name) const
{
    try_set_name(name).value();
}

inline std::size_t dataspec_size(mpirt::dataspec dataspec)
{
    return try_dataspec_size(dataspec).value();
}

inline void default_handler_set(mpirt::event_kind kind, handler_ref handler)
{
    try_default_handler_set(kind, handler).value();
}

inline int keyval(MPIRT_Delete_function *delete_function, void *extra)
{
    return try_keyval(delete_function, extra).value();
}

inline void keyval_free(int &keyval)
{
    try_keyval_free(keyval).value();
}

inline void abort(int code, text message)
{
    try_abort(code, message).value();
}

inline void fail(text reason)
{
    try_fail(reason).value();
}

inline bool is_initialized()
{
    return try_is_initialized().value();
}

inline bool is_finalized()
{
    return try_is_finalized().value();
}

inline mpirt::duration get_time_resolution()
{
    return try_get_time_resolution().value();
}

inline std::tuple<mpirt::duration, mpirt::clock_state> get_clock()
{
    return try_get_clock().value();
}

inline std::tuple<std::uint32_t, std::uint32_t> int64_export(time_point time)
{
    return try_int64_export(time).value();
}

inline std::tuple<int, int, int> get_version()
{
    return try_get_version().value();
}

#endif

/// Owns any object.
using object = owner<object_ref>;
/// Owns a quality of service.
using qos = owner<qos_ref>;
/// Owns a set, a vector or a group.
using container = owner<container_ref>;
/// Owns an unordered set of references, of any size.
using cset = owner<cset_ref>;
/// Owns an array of references; the leaf below Cvector_base.
using cvector = owner<cvector_ref>;
/// Owns an ordered set of members of the job.
using group = owner<group_ref>;
/// Owns a walk over a container.
using container_iterator = owner<container_iterator_ref>;
/// Owns storage for a message.
using buffer = owner<buffer_ref>;
/// Owns an ordered store of buffers at a channel end.
using bufiter = owner<bufiter_ref>;
/// Owns one end of a channel of any kind.
using channel = owner<channel_ref>;
/// Owns what fires an event.
using trigger = owner<trigger_ref>;
/// Owns what takes the firings of an event.
using receptor = owner<receptor_ref>;
/// Owns what runs at a firing.
using handler = owner<handler_ref>;
/// Owns a periodic or event-started computation.
using task = owner<task_ref>;
/// Owns a second set of objects, to switch to.
using mode = owner<mode_ref>;

/// Every member of the job.
inline group_ref world() noexcept { return group_ref(MPIRT_GROUP_WORLD); }

/// The QoS of channels that are given none.
inline qos_ref best_effort() noexcept { return qos_ref(MPIRT_QOS_BEST_EFFORT); }

// --- Sleep ---

/// Sleeps until an instant, or until Commit or Uncommit is called.
inline result<void> try_sleep_until(time_point instant) noexcept
{
    const int code = MPIRT_Sleep(MPIRT_TIME_ABSOLUTE, instant.time_since_epoch().count());
    return {static_cast<errc>(code), "MPIRT_Sleep"};
}

/// Sleeps for a time, or until Commit or Uncommit is called; `no_limit` for no other end.
inline result<void> try_sleep_for(duration time) noexcept
{
    const int code = MPIRT_Sleep(MPIRT_TIME_RELATIVE, time.count());
    return {static_cast<errc>(code), "MPIRT_Sleep"};
}

#if MPIRT_EXCEPTIONS
/// Sleeps until an instant. That Commit or Uncommit was called is an error too.
inline void sleep_until(time_point instant) { try_sleep_until(instant).value(); }
/// Sleeps for a time. That Commit or Uncommit was called is an error too.
inline void sleep_for(duration time) { try_sleep_for(time).value(); }
#endif

// --- The life of a program ---


/// What is committed, until its destructor uncommits. Declare it after the objects, so that it ends before them. An exception that passes it
/// has failed the member, which waits for nobody: end the process, and to the others it has died in the commit. A return before its end waits in the
/// destructor until the others uncommit too, and its tasks go on meanwhile: where that is on an error, call `fail` before it.
class committed {
public:
    committed(const committed &) = delete;
    committed &operator=(const committed &) = delete;
    committed(committed &&other) noexcept : is_live_(std::exchange(other.is_live_, false)) {}
    committed &operator=(committed &&other) noexcept
    {
        std::swap(is_live_, other.is_live_);
        return *this;
    }
    ~committed()
    {
        if (!is_live_) {
            return;
        }
        if (std::uncaught_exceptions() <= exceptions_) {
            (void)try_uncommit();
        } else {
            // The tasks end now, and nobody is waited for on the way to whoever prints the exception.
            (void)MPIRTX_Fail("an exception has passed the end of the commit");
        }
    }

    /// The instant at which the periods begin, the same on every member.
    result<time_point> try_epoch() const noexcept
    {
        MPIRT_Timespec epoch = 0;
        const int code = MPIRTX_Get_epoch(&epoch);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRTX_Get_epoch"};
        }
        return time_point(duration(epoch));
    }
    /// Waits until the job's horizon, or until it is stopped, and uncommits.
    result<void> try_run() noexcept
    {
        is_live_ = false;
        return {static_cast<errc>(MPIRTX_Run()), "MPIRTX_Run"};
    }
    /// Ends all transfers and releases what Commit made.
    result<void> try_uncommit() noexcept
    {
        is_live_ = false;
        return {static_cast<errc>(MPIRT_Uncommit()), "MPIRT_Uncommit"};
    }
    /// The same, of what this group has committed.
    result<void> try_uncommit(group_ref group) noexcept
    {
        const int code = MPIRTX_Uncommit_group(group.c());
        if (code == MPIRT_SUCCESS || code == MPIRT_ERR_PEER_LOST) {
            is_live_ = false;
        }
        return {static_cast<errc>(code), "MPIRTX_Uncommit_group"};
    }
#if MPIRT_EXCEPTIONS
    time_point epoch() const { return try_epoch().value(); }
    /// Waits until the job's horizon, or until it is stopped, and uncommits; throws what left a task or a handler.
    void run()
    {
        const auto ended = try_run();
        detail::rethrow_failure();
        ended.value();
    }
    /// Ends all transfers and releases what Commit made; throws what left a task or a handler.
    void uncommit()
    {
        const auto ended = try_uncommit();
        detail::rethrow_failure();
        ended.value();
    }
    void uncommit(group_ref group)
    {
        const auto ended = try_uncommit(group);
        detail::rethrow_failure();
        ended.value();
    }
#endif

private:
    friend class session;
    committed() noexcept = default;
    bool is_live_ = true;
    /// Of those that were on their way already when it was made.
    int exceptions_ = std::uncaught_exceptions();
};

/// The use of the layer, from Init until its destructor finalizes.
class session {
public:
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    session(session &&other) noexcept : is_live_(std::exchange(other.is_live_, false)) {}
    session &operator=(session &&other) noexcept
    {
        std::swap(is_live_, other.is_live_);
        return *this;
    }
    ~session()
    {
        if (is_live_) {
            (void)try_finalize();
        }
    }

    /// Joins the job.
    static result<session> try_begin(int *argc = nullptr, char ***argv = nullptr) noexcept
    {
        const int code = MPIRT_Init(argc, argv);
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Init"};
        }
        return session(begun());
    }
    /// Binds all declarations, tests admission, and creates what transfers need. Collective over the world.
    result<committed> try_commit() noexcept
    {
        const int code = MPIRT_Commit();
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRT_Commit"};
        }
        return committed();
    }
    /// The same for the members of a group, beside what others have committed. Collective over the group.
    result<committed> try_commit(group_ref group) noexcept
    {
        const int code = MPIRTX_Commit_group(group.c());
        if (code != MPIRT_SUCCESS) {
            return {static_cast<errc>(code), "MPIRTX_Commit_group"};
        }
        return committed();
    }
    /// Leaves the job, and frees all that is left.
    result<void> try_finalize() noexcept
    {
        const int code = MPIRT_Finalize();
        if (code == MPIRT_SUCCESS) {
            is_live_ = false;
            detail::release_closures();
        }
        return {static_cast<errc>(code), "MPIRT_Finalize"};
    }
#if MPIRT_EXCEPTIONS
    /// Joins the job.
    session() : session(nullptr, nullptr) {}
    session(int &argc, char **&argv) : session(&argc, &argv) {}
    committed commit() { return try_commit().value(); }
    committed commit(group_ref group) { return try_commit(group).value(); }
    void finalize() { try_finalize().value(); }
#endif

private:
    struct begun {};
    explicit session(begun) noexcept {}
#if MPIRT_EXCEPTIONS
    session(int *argc, char ***argv) : session(try_begin(argc, argv).value()) {}
#endif
    bool is_live_ = true;
};

} // namespace mpirt

template <> struct std::is_error_code_enum<mpirt::errc> : std::true_type {};

#endif
