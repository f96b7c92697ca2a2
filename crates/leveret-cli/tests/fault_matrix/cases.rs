//! Every planted cause.

use crate::case::Plant::{Body, Briefly, Debt, Outside, Relative, Sender, Sibling, WithoutRights, Wrapped};
use crate::case::Scheduling::{Deadline, Fifo, Plain};
use crate::case::{Cause, Culprit, Party, Plant, Scheduling, Shape};

const ALL: &[Scheduling] = &[Fifo, Deadline, Plain];
/// What outranks fixed priorities is not delayed by them.
const RANKED: &[Scheduling] = &[Fifo, Plain];

/// Who uses up the quota has the core until then.
const USED_UP: &[&str] = &["quota", "throttl", "limit", "plant"];

/// Of an instance that follows upon it, the report says what delayed the one before.
const OVERRAN: &[&str] = &["body", "budget", "computed", "throttled"];

const fn process(
    name: &'static str,
    plants: &'static [Plant],
    under: &'static [Scheduling],
    words: &'static [&'static str],
) -> Cause {
    Cause {
        name,
        plants,
        under,
        party: Some(Party::Process),
        culprit: Culprit::Planter,
        words,
        shape: Shape::USUAL,
    }
}

const fn job(
    name: &'static str,
    plants: &'static [Plant],
    under: &'static [Scheduling],
    words: &'static [&'static str],
) -> Cause {
    Cause {
        name,
        plants,
        under,
        party: Some(Party::Job),
        culprit: Culprit::Nobody,
        words,
        shape: Shape::USUAL,
    }
}

/// Another process did it, and the kernel does not say which.
const fn unnamed(
    name: &'static str,
    plants: &'static [Plant],
    under: &'static [Scheduling],
    words: &'static [&'static str],
) -> Cause {
    Cause { culprit: Culprit::Unknown, ..process(name, plants, under, words) }
}

/// No process is named for it; where nothing proves that it was the machine, it is nobody's.
const fn machine(name: &'static str, plants: &'static [Plant], under: &'static [Scheduling]) -> Cause {
    Cause { party: Some(Party::Machine), ..unnamed(name, plants, under, &[]) }
}

/// Nothing is missed for it.
const fn harmless(name: &'static str, plants: &'static [Plant], under: &'static [Scheduling]) -> Cause {
    Cause { party: None, ..job(name, plants, under, &[]) }
}

pub const CAUSES: &[Cause] = &[
    // Who has the core instead.
    process("FIFO hog above", &[Outside("fifo", 0)], RANKED, &["plant"]),
    process("FIFO hog of two seconds", &[Outside("fifo", 0)], RANKED, &["plant"]).shaped(Shape::LONG),
    process("FIFO hog at the same priority", &[Outside("equal", 0)], &[Fifo], &["plant"]),
    process("round-robin hog above", &[Outside("rr", 0)], RANKED, &["plant"]),
    process("deadline hog on every core", &[Outside("deadline", 0)], ALL, &["plant"]),
    process("six ordinary hogs", &[Outside("ordinary", 0)], &[Plain], &["plant"]).shaped(Shape::CROWDED),
    process("six hogs of nice -20", &[Outside("ordinary", -20)], &[Plain], &["plant"]).shaped(Shape::CROWDED),
    process("hog that raises itself and drops again", &[Outside("raising", 0)], RANKED, &["plant"]),
    process("short-lived FIFO processes in two rows", &[Outside("row", 0)], RANKED, &["plant"]),
    process("hog that becomes another program", &[Outside("becoming", 0)], RANKED, &["exe"]),
    process("ordinary thread boosted by a PI mutex", &[Outside("boosted", 0)], RANKED, &["plant"]),
    process("FIFO hog in another PID namespace", &[Outside("namespaced", 0)], RANKED, &["plant"]),
    process(
        "ordinary hogs before a member without rights",
        &[WithoutRights, Outside("ordinary", 0)],
        &[Fifo],
        &["plant"],
    )
    .shaped(Shape::CROWDED),
    process(
        "FIFO hog before a member without rights",
        &[WithoutRights, Outside("fifo", 0)],
        &[Fifo],
        &["plant"],
    ),
    harmless("agent stopped for a moment", &[Outside("stop-agent", 0)], &[Fifo, Deadline]),
    harmless("FIFO hog below", &[Outside("low", 0)], &[Fifo, Deadline]),
    // Before an ordinary task it is not: newer kernels let it run on to their next tick.
    harmless("idle-class hog", &[Outside("idle", 0)], &[Fifo, Deadline]),
    harmless("ordinary hogs", &[Outside("ordinary", 0)], &[Fifo, Deadline]),
    harmless("FIFO hog beside a deadline task", &[Outside("fifo", 0)], &[Deadline]),
    // Who keeps the thread from running.
    process("stopped by a signal", &[Outside("stop", 0)], ALL, &["stop"]),
    process("stopped by a signal, started by a shell", &[Wrapped, Outside("stop", 0)], ALL, &["stopped by"]),
    process("stopped and let go on thousands of times", &[Outside("storm", 0)], &[Fifo], &["stop"]),
    // Computes for so long that what it gets between the stops does not suffice.
    process("stopped and let go on every 5 us", &[Outside("storm", 1)], &[Fifo], &["stop"])
        .shaped(Shape { budget: 1_400_000, ..Shape::USUAL }),
    process("held by a debugger", &[Outside("trace", 0)], ALL, &["trac", "debug"]),
    process("single-stepped by a debugger", &[Outside("step", 0)], ALL, &["trac", "debug"]),
    process("stopped at system calls by a tracer", &[Outside("syscalls", 0)], ALL, &["trac", "debug"]),
    unnamed("frozen by cgroup v1", &[Outside("freeze1", 0)], ALL, &["froze"]),
    process("frozen by cgroup v2", &[Outside("freeze2", 0)], ALL, &["froze"]),
    process("put into a frozen cgroup", &[Outside("freeze2-into", 0)], ALL, &["froze"]).shaped(Shape::SLOW),
    unnamed("processor quota of a cgroup", &[Outside("quota", 0)], &[Plain], USED_UP),
    unnamed("real-time quota of a cgroup", &[Outside("real-time-quota", 0)], &[Fifo], USED_UP),
    unnamed("moved to a core that is taken", &[Outside("displacing", 0)], RANKED, &["changed", "plant"]),
    unnamed("interrupt that serves thousands of timers", &[Outside("timers", 0)], &[Fifo], &[]),
    // What the kernel does.
    machine("interrupts kept off by the kernel", &[Outside("interrupts-off", 0)], ALL),
    // What the job does to itself.
    job("long overrun", &[Body("overrun", "5ms")], ALL, OVERRAN),
    job("overrun of one tick", &[Body("overrun", "4ms")], ALL, OVERRAN),
    job("overrun by a little", &[Body("overrun", "2150us")], ALL, OVERRAN),
    job("overrun by 150 us in step with the tick", &[Body("overrun", "650us")], &[Fifo, Deadline], OVERRAN)
        .shaped(Shape::NARROW),
    job("rare long overrun", &[Body("overrun", "5ms")], ALL, OVERRAN).shaped(Shape::RARE),
    job("400 us on a deadline budget of 100 us", &[Debt("400us")], &[Deadline], &["budget", "throttled"])
        .shaped(Shape::ROW),
    job(
        "5 ms on a deadline budget of 100 us",
        &[Body("overrun", "5ms")],
        &[Deadline],
        &["budget", "throttled"],
    )
    .shaped(Shape::SMALL),
    job("overrun into the next instance", &[Body("overrun", "22ms")], ALL, &[]),
    job("sleeps in its body", &[Body("sleep", "5ms")], ALL, &["block", "slept", "wait"]),
    job("waits for a lock of its own process", &[Body("lock", "6ms")], ALL, &["block", "slept", "wait"]),
    job("waits for a byte", &[Body("read", "6ms")], ALL, &["block", "slept", "wait"]),
    job(
        "waits for a lock on a file",
        &[Outside("lock", 0), Body("file-lock", "0ms")],
        ALL,
        &["block", "slept", "wait"],
    ),
    job("page faults", &[Body("pages", "5ms")], ALL, &["fault"]),
    job("runs a program in its body", &[Body("fork", "5ms")], ALL, &[]),
    job("its own helper thread takes the core", &[Body("second", "6ms")], RANKED, &[]),
    // They have ended before anybody can ask whose they are.
    job("short-lived FIFO processes that a member began", &[Relative("row")], RANKED, &["plant"]),
    // Where they share the core evenly, it keeps its window.
    job("another member overruns into its window", &[Sibling], &[Fifo], &[]),
    job("late sender", &[Sender("overrun", "9ms")], ALL, &["A.user"]),
    job("silent sender", &[Sender("silent", "0ms")], ALL, &[]),
    job("sleeping sender", &[Sender("sleep", "9ms")], ALL, &["A.user"]),
    // Two at once.
    job("overrun, interrupted by a FIFO hog", &[Body("overrun", "5ms"), Briefly("fifo")], RANKED, &[]),
    job("overrun, held by a debugger for a moment", &[Body("overrun", "5ms"), Briefly("trace")], ALL, &[]),
    job(
        "overrun beside an idle-class hog",
        &[Body("overrun", "5ms"), Outside("idle", 0)],
        &[Fifo, Deadline],
        &[],
    ),
    job(
        "page faults beside ordinary hogs",
        &[Body("pages", "5ms"), Outside("ordinary", 0)],
        &[Fifo],
        &["fault"],
    ),
    job(
        "sleeps while a FIFO hog below runs",
        &[Body("sleep", "5ms"), Outside("low", 0)],
        &[Fifo, Deadline],
        &["block", "slept", "wait"],
    ),
    process("FIFO hog above and one below", &[Outside("fifo", 0), Outside("low", 0)], &[Fifo], &["plant"]),
    process(
        "boosted thread and round-robin hog",
        &[Outside("boosted", 0), Outside("rr", 0)],
        RANKED,
        &["plant"],
    ),
    process(
        "raising hog and a row of short-lived ones",
        &[Outside("raising", 0), Outside("row", 0)],
        RANKED,
        &["plant"],
    ),
    process(
        "stopped while a FIFO hog has the core",
        &[Outside("stop", 0), Outside("fifo", 0)],
        RANKED,
        &["stop", "plant"],
    ),
    process(
        "frozen, and a FIFO hog until in its window",
        &[Outside("freeze2", 0), Outside("first", 2200)],
        RANKED,
        &["froze"],
    ),
    process(
        "frozen until in its window, and a FIFO hog",
        &[Outside("freeze2-first", 2200), Outside("fifo", 0)],
        RANKED,
        &["froze"],
    ),
    unnamed(
        "frozen and held by a debugger",
        &[Outside("freeze1", 0), Outside("trace", 0)],
        ALL,
        &["froze", "trac", "debug"],
    ),
];
