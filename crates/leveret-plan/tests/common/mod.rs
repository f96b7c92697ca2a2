//! Jobs for the tests.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod generate;
pub mod oracle;
pub mod packed;
pub mod player;
pub mod right_plan;
pub mod switch_player;
pub mod system_player;
pub mod systems;
pub mod wire;

use leveret_plan::{
    Channel, CoreChoice, Costs, Job, Member, MissingPolicy, OverrunPolicy, Placement, Qos, Sporadic, Start,
    Task,
};
use leveret_types::{ByteSize, ChannelId, MemberId, Nanos};

pub const US: i64 = 1_000;

pub fn us(value: i64) -> Nanos {
    Nanos::from_micros(value)
}

/// A job without tasks on the given cores, with one member.
pub fn empty(cores: &[u32], costs: Costs) -> Job {
    Job {
        name: "test".to_owned(),
        cores: cores.to_vec(),
        members: vec![Member { name: "m".to_owned() }],
        tasks: Vec::new(),
        channels: Vec::new(),
        sporadics: Vec::new(),
        costs,
    }
}

/// Costs that keep sums easy: a guard and nothing else.
pub fn guard_only(guard: i64) -> Costs {
    Costs {
        guard: Nanos(guard),
        switch: Nanos::ZERO,
        preemption: Nanos(1),
        publish: Nanos::ZERO,
        copy_per_kib: Nanos::ZERO,
        clock_error: Nanos::ZERO,
        utilisation_permille: 1000,
    }
}

pub fn task(name: &str, core: CoreChoice, period: i64, window: (i64, i64), budget: i64) -> Task {
    Task {
        name: name.to_owned(),
        member: MemberId(0),
        period: Nanos(period),
        release: Nanos(window.0),
        deadline: Nanos(window.1),
        budget: Nanos(budget),
        core,
        preemptible: false,
        overrun: OverrunPolicy::Skip,
        reads: Vec::new(),
        writes: Vec::new(),
        mover: false,
    }
}

pub fn time_driven(name: &str, ends: (u16, u16), period: i64, window: (i64, i64)) -> Channel {
    Channel {
        name: name.to_owned(),
        group: "world".to_owned(),
        source: MemberId(ends.0),
        target: MemberId(ends.1),
        size: ByteSize(4),
        buffers: 2,
        placement: Placement::Separate,
        qos: Qos::TimeDriven {
            period: Nanos(period),
            release: Nanos(window.0),
            deadline: Nanos(window.1),
            missing: MissingPolicy::Skip,
        },
    }
}

/// Work beside the table, started by an event, in nanoseconds.
pub fn sporadic(
    name: &str,
    core: CoreChoice,
    priority: u8,
    (interval, deadline): (i64, i64),
    budget: i64,
) -> Sporadic {
    Sporadic {
        name: name.to_owned(),
        member: MemberId(0),
        start: Start::Event { group: "world".to_owned(), name: name.to_owned() },
        priority,
        interval: Some(Nanos(interval)),
        deadline: Some(Nanos(deadline)),
        budget: Nanos(budget),
        core,
    }
}

/// The ring of the HARE thesis, Table 5.1, with a foreign task on each core.
pub fn ring(period_us: i64) -> Job {
    let mut job = empty(&[0, 1], Costs::default());
    job.name = "ring".to_owned();
    job.members = ["A", "B", "C"].map(|name| Member { name: name.to_owned() }).to_vec();
    let period = period_us * US;
    job.channels = vec![
        time_driven("AB", (0, 1), period, (75 * US, 200 * US)),
        time_driven("BC", (1, 2), period, (275 * US, 400 * US)),
        time_driven("CA", (2, 0), period, (475 * US, 600 * US)),
    ];
    for (rank, (name, core, release)) in [("A", 0, 0), ("B", 1, 200), ("C", 0, 400)].into_iter().enumerate() {
        let window = (release * US, (release + 75) * US);
        let mut user = task(&format!("{name}.user"), CoreChoice::Pinned(core), period, window, 50 * US);
        user.member = MemberId(rank as u16);
        user.reads = vec![ChannelId(((rank + 2) % 3) as u16)];
        user.writes = vec![ChannelId(rank as u16)];
        job.tasks.push(user);
    }
    for core in [0, 1] {
        let name = format!("dummy{core}");
        job.tasks.push(task(&name, CoreChoice::Pinned(core), period, (0, period), 50 * US));
    }
    job
}
