//! The ring in made-up time.

use super::{A, Plant, Random, Ring, model};
use crate::record::{
    AloneProbe, ChannelRecord, DataPathCounts, Ending, Event, EventKind, Fate, GAP_BOUNDS_NS, InstanceRecord,
    Left, MachineFacts, MessageRecord, Outcome, Phase, RunRecord, SwitchEvent, TaskRecord, ThreadKind,
    TimerInterrupt,
};
use leveret_types::Nanos;

const GUARD: Nanos = Nanos::from_micros(50);
const HOG: u32 = 812;

/// The record of a made-up run.
pub(super) fn run(ring: &Ring) -> RunRecord {
    let mut random = Random(ring.seed);
    let mut phases: Vec<Phase> = ring
        .sizes
        .iter()
        .enumerate()
        .map(|(number, &size)| {
            let plants = if number == 0 { &ring.plants[..] } else { &[] };
            Simulation::new(ring, size, plants, random.next()).phase(size)
        })
        .collect();
    let scheduling = if ring.real_time { "SCHED_FIFO" } else { "SCHED_OTHER" };
    let lateness_ns: Vec<u32> = (0..ring.rounds)
        .map(|_| {
            let stall = ring.stalls && random.unit() < 0.02;
            (random.between(3_000, 9_000) + if stall { random.tail(8e3, 1.7, 4e6) } else { 0 }) as u32
        })
        .collect();
    let beside_each = lateness_ns.len().div_ceil(phases.len().max(1)).max(1);
    for (phase, lateness_ns) in phases.iter_mut().zip(lateness_ns.chunks(beside_each)) {
        phase.alone = AloneProbe {
            core: 1,
            period: ring.period,
            scheduling: format!("{scheduling} 1"),
            lateness_ns: lateness_ns.to_vec(),
        };
    }
    RunRecord {
        job: "ring".to_owned(),
        started_unix_s: 1_780_000_000,
        machine: MachineFacts {
            kernel: "Linux 6.18.5 #1 SMP PREEMPT_DYNAMIC".to_owned(),
            processor: "Made-up Processor at 2.8 GHz".to_owned(),
            cores_online: 2,
            scheduling: scheduling.to_owned(),
            warnings: if ring.real_time {
                Vec::new()
            } else {
                vec!["No right to real-time scheduling: other programs can delay every start. Grant it with `ulimit -r 80`.".to_owned()]
            },
            idle_states_held: ring.real_time,
            kept_awake: false,
            switch_log_whole_core: ring.whole_core_log,
        },
        phases,
        ending: Ending::Completed,
    }
}

struct Simulation<'a> {
    ring: &'a Ring,
    plants: &'a [(u64, Plant)],
    random: Random,
    phase: Phase,
    /// Per core: when it comes free and from which task.
    busy: [(Nanos, usize); 2],
    dead: [bool; 4],
}

/// What a plant or the machine does to one instance.
#[derive(Default)]
struct Disturbance {
    wake_until: Option<(Nanos, ThreadKind, &'static str)>,
    unlogged: bool,
    gap: Nanos,
    gap_fault: bool,
    body: Nanos,
    body_off: Option<(ThreadKind, bool)>,
    fault: Option<bool>,
    suspicious: bool,
}

impl<'a> Simulation<'a> {
    fn new(ring: &'a Ring, size: u32, plants: &'a [(u64, Plant)], seed: u64) -> Self {
        let job = model::job(ring.period, size);
        let plan = model::plan(&job, ring.period);
        let task = |index: usize| TaskRecord {
            thread: 100 + index as u32,
            priority: if ring.real_time { 80 - index as u8 } else { 0 },
            data_path: DataPathCounts {
                allocations: Some(0),
                page_faults: Some(0),
                involuntary_switches: Some(0),
                system_calls: Some(ring.rounds),
                planned_sleeps: ring.rounds,
            },
            ..TaskRecord::default()
        };
        let phase = Phase {
            label: format!("{size} B"),
            epoch_monotonic: Nanos::from_secs(1234),
            rounds: ring.rounds,
            tasks: (0..4).map(task).collect(),
            channels: vec![ChannelRecord::default(); 3],
            switches: Vec::new(),
            timers: Vec::new(),
            events: Vec::new(),
            alone: AloneProbe::default(),
            job,
            plan,
        };
        Self {
            ring,
            plants,
            random: Random(seed),
            phase,
            busy: [(Nanos(i64::MIN), usize::MAX); 2],
            dead: [false; 4],
        }
    }

    fn phase(mut self, size: u32) -> Phase {
        for round in 0..self.ring.rounds {
            for task in 0..4 {
                self.instance(round, task);
            }
            for channel in 0..3 {
                self.message(round, channel, size);
            }
        }
        self.take();
        self.phase.switches.sort_by_key(|event| event.at);
        self.phase.timers.sort_by_key(|timer| timer.at);
        self.phase.events.sort_by_key(|event| event.at);
        let periods = self.ring.periods_per_round.max(1);
        self.phase.plan = model::repeat(&self.phase.plan, periods);
        self.phase.rounds = self.ring.rounds.div_ceil(periods);
        self.phase
    }

    fn event(&mut self, at: Nanos, kind: EventKind) {
        self.phase.events.push(Event { at, kind });
    }

    fn switch(&mut self, at: Nanos, task: usize, from: u32, to: (u32, ThreadKind, &str), preempted: bool) {
        if self.ring.whole_core_log {
            let core = self.phase.plan.tasks[task].core;
            let (to, to_kind, name) = to;
            self.phase.switches.push(SwitchEvent {
                at,
                core,
                from,
                to,
                left: if preempted { Left::Runnable } else { Left::Asleep },
                to_process: None,
                to_kind,
                to_name: name.to_owned(),
            });
        }
    }

    /// What is planted for this instance.
    fn plan_fate(&mut self, round: u64, task: usize, planned: Nanos) -> Disturbance {
        let mut fate = Disturbance::default();
        let plants: Vec<Plant> =
            self.plants.iter().filter(|(at, _)| *at == round).map(|(_, plant)| plant.clone()).collect();
        let member = self.phase.job.tasks[task].member.0;
        for plant in plants {
            let until = |by: Nanos, kind, name| Some((planned + by, kind, name));
            match plant {
                Plant::Hog { task: victim, priority, by } if victim == task => {
                    fate.wake_until = until(by, ThreadKind::Foreign { priority }, "hog");
                }
                Plant::KernelThread { task: victim, by } if victim == task => {
                    fate.wake_until = until(by, ThreadKind::Kernel, "migration/0");
                }
                Plant::LateTimer { task: victim, by } if victim == task => {
                    fate.wake_until = until(by, ThreadKind::Idle, "");
                }
                Plant::LateUnknown { task: victim, by } if victim == task => {
                    fate.wake_until = until(by, ThreadKind::Unknown, "");
                    fate.unlogged = true;
                }
                Plant::StallInSpin { task: victim, by } if victim == task => fate.gap = by,
                Plant::FaultInSpin { task: victim, by } if victim == task => {
                    (fate.gap, fate.gap_fault) = (by, true)
                }
                Plant::StallInBody { task: victim, by } | Plant::Overrun { task: victim, by }
                    if victim == task =>
                {
                    fate.body = by;
                    if matches!(plant, Plant::Overrun { .. }) {
                        self.event(planned + by, EventKind::Overrun { task: task as u16, instance: round });
                    }
                }
                Plant::PageFault { task: victim, by, logged } if victim == task => {
                    (fate.body, fate.fault) = (by, Some(logged));
                }
                Plant::Preempted { task: victim, priority, by } if victim == task => {
                    (fate.body, fate.body_off) = (by, Some((ThreadKind::Foreign { priority }, true)));
                }
                Plant::Blocked { task: victim, by } if victim == task => {
                    (fate.body, fate.body_off) = (by, Some((ThreadKind::Idle, false)));
                }
                Plant::Stopped { task: victim, by } if victim == task => {
                    let from = planned - GUARD - Nanos::from_micros(20);
                    self.event(from, EventKind::MemberStopped { member });
                    self.event(from + by, EventKind::MemberContinued { member });
                    fate.wake_until = Some((from + by, ThreadKind::Idle, ""));
                }
                Plant::ClockStep { task: victim, by } if victim == task => {
                    self.event(
                        planned - GUARD - Nanos::from_micros(10),
                        EventKind::ClockStepped { task: victim as u16, by },
                    );
                    fate.wake_until = until(by - GUARD, ThreadKind::Idle, "");
                }
                Plant::Died { task: victim } if victim == task => {
                    let how = "signal 9 (SIGKILL)".to_owned();
                    self.event(planned - GUARD, EventKind::MemberDied { member, how });
                    self.dead[task] = true;
                }
                _ => continue,
            }
            fate.suspicious = true;
        }
        fate
    }

    /// Adds the machine's own stalls.
    fn machine(&mut self, fate: &mut Disturbance) {
        if !self.ring.stalls {
            return;
        }
        let chance = self.random.unit();
        if chance < 0.05 {
            fate.gap = fate.gap.max(Nanos(self.random.tail(1e3, 1.2, 9e3)));
        } else if chance < 0.07 {
            let stall = Nanos(self.random.tail(8e3, 1.7, 4e6));
            match self.random.unit() {
                part if part < 0.85 => fate.gap = fate.gap.max(stall),
                part if part < 0.9 => fate.body = fate.body.max(stall),
                _ => fate.wake_until = fate.wake_until.or(Some((stall, ThreadKind::Idle, ""))),
            }
            fate.suspicious |= stall > Nanos::from_micros(15);
        }
    }

    fn instance(&mut self, round: u64, task: usize) {
        let base = self.ring.period.saturating_mul(round as i64);
        let planned = base + self.phase.plan.tasks[task].instances[0].start();
        let deadline = base + self.phase.job.tasks[task].deadline;
        let budget = self.phase.job.tasks[task].budget;
        let mut fate = self.plan_fate(round, task, planned);
        if self.dead[task] {
            return;
        }
        let due = planned - GUARD;
        let core = self.phase.plan.tasks[task].core as usize;
        let (free, holder) = self.busy[core];
        if free <= due - Nanos(5_000) {
            self.machine(&mut fate);
        }
        let mut woken = due + Nanos(self.random.between(3_000, 8_000));
        if let Some((until, kind, name)) = fate.wake_until {
            // The machine's own late timers are given as a length, planted ones as an instant.
            let until = if fate.unlogged || until > due { until } else { due + until };
            woken = woken.max(until);
            if !fate.unlogged {
                let idle = kind == ThreadKind::Idle;
                let before = if idle { 0 } else { HOG };
                self.switch(due - Nanos(5_000), task, 0, (before, kind, name), false);
                self.log_start(task, before, woken);
                // An idle core is woken by its timer; whoever else has the core is interrupted by it in time.
                let at = if idle { woken - Nanos(500) } else { due + Nanos(300) };
                if self.ring.whole_core_log {
                    self.phase.timers.push(TimerInterrupt { at, core: core as u32 });
                }
            }
        }
        if free > woken {
            woken = free + Nanos(800);
            self.log_wait(task, holder, due);
            self.log_start(task, 0, woken);
            fate.suspicious = true;
        } else if fate.suspicious && fate.wake_until.is_none() {
            self.log_wake(task, woken - Nanos(500));
            self.log_start(task, 0, woken);
        }
        let jitter = Nanos(self.random.between(15, 60));
        let (gap_at, gap) = self.gap(task, woken, planned, &fate);
        let ready = woken.max(planned).max(if gap_at + gap > planned { gap_at + gap } else { planned });
        let mut record = InstanceRecord {
            instance: round,
            planned,
            deadline,
            woken,
            gap,
            gap_at,
            ..InstanceRecord::default()
        };
        if ready + budget > deadline {
            (record.started, record.ended, record.outcome) =
                (woken, ready + Nanos(900), Outcome::SkippedCritical);
            if free > due && holder == task {
                record.outcome = Outcome::SkippedOverrun;
            }
        } else {
            record.started = ready + jitter;
            self.body(task, &fate, &mut record);
        }
        self.busy[core] = (record.ended, task);
        if fate.suspicious {
            self.switch(record.ended + Nanos(200), task, 100 + task as u32, (0, ThreadKind::Idle, ""), false);
        }
        self.phase.tasks[task].instances.push(record);
    }

    fn log_start(&mut self, task: usize, before: u32, woken: Nanos) {
        let name = self.phase.job.tasks[task].name.clone();
        let own = (100 + task as u32, ThreadKind::Task(task as u16), name.as_str());
        self.switch(woken - Nanos(400), task, before, own, false);
    }

    /// The end of a sleep while another task has the core: whose own instance before has it does not sleep.
    fn log_wait(&mut self, task: usize, holder: usize, due: Nanos) {
        if holder != task {
            self.log_wake(task, due + Nanos(300));
        }
    }

    /// The end of a sleep puts a thread on its core's queue.
    fn log_wake(&mut self, task: usize, at: Nanos) {
        if self.ring.whole_core_log {
            let core = self.phase.plan.tasks[task].core;
            self.event(at, EventKind::Woken { task: task as u16, core, by: None });
        }
    }

    /// The longest gap of the spin; counts it.
    fn gap(&mut self, task: usize, woken: Nanos, planned: Nanos, fate: &Disturbance) -> (Nanos, Nanos) {
        let gap = fate.gap.max(Nanos(self.random.between(40, 300)));
        if woken >= planned {
            return (woken, Nanos::ZERO);
        }
        let planted = fate.suspicious && fate.gap > Nanos::ZERO;
        let room = (planned - woken).0.max(1);
        let at = if planted { planned - Nanos(2_000) } else { woken + Nanos(self.random.between(0, room)) };
        if fate.gap_fault {
            self.event(at + Nanos(10), EventKind::PageFault { task: task as u16, address: 0x7F12_3456_7000 });
        }
        let record = &mut self.phase.tasks[task];
        record.spin_total = record.spin_total + (planned - woken);
        if !planted || self.ring.stalls {
            for (count, bound) in record.gaps.iter_mut().zip(GAP_BOUNDS_NS) {
                *count += u64::from(gap.0 >= i64::from(bound));
            }
        }
        (at, gap)
    }

    fn body(&mut self, task: usize, fate: &Disturbance, record: &mut InstanceRecord) {
        let usual = if task == super::DUMMY {
            self.random.between(90_000, 140_000)
        } else {
            self.random.between(1_600, 3_400)
        };
        record.ended = record.started + Nanos(usual) + fate.body;
        if let Some((kind, preempted)) = fate.body_off {
            let own_thread = 100 + task as u32;
            let other = if kind == ThreadKind::Idle { 0 } else { HOG };
            let name = if other == 0 { "" } else { "hog" };
            let off = record.started + Nanos(500);
            self.switch(off, task, own_thread, (other, kind, name), preempted);
            self.log_start(task, other, off + fate.body + Nanos(400));
            record.switches = 1;
            record.cpu = Nanos(usual);
        }
        if let Some(logged) = fate.fault {
            record.faults = 1;
            self.phase.tasks[task].data_path.page_faults = Some(1);
            if logged {
                let kind = EventKind::PageFault { task: task as u16, address: 0x5580_0000_1000 };
                self.event(record.started + Nanos(300), kind);
            }
        }
    }

    fn message(&mut self, round: u64, channel: usize, size: u32) {
        let base = self.ring.period.saturating_mul(round as i64);
        let due = base + self.phase.plan.channels[channel].instances[0].visible_at;
        let sender = self.phase.tasks[channel].instances.last().filter(|record| record.instance == round);
        let ran = sender.filter(|record| matches!(record.outcome, Outcome::Ran | Outcome::RanLate));
        let inserted = ran.map(|record| record.ended - Nanos(250));
        let planted = |plant: Plant| self.plants.contains(&(round, plant));
        let (inserted, fate) = match inserted {
            _ if planted(Plant::Corrupt { channel }) => (None, Fate::Invalid),
            _ if planted(Plant::NoBuffer { channel }) => (None, Fate::NoBuffer),
            _ if planted(Plant::NotInserted { channel }) => (None, Fate::Missing),
            _ if planted(Plant::TooLong { channel }) => (None, Fate::TooLong),
            Some(at) if at > due => (Some(at), Fate::Late),
            Some(at) if planted(Plant::NoRoom { channel }) => (Some(at), Fate::NoRoom),
            Some(at) => (Some(at), Fate::Taken),
            None => (None, Fate::Missing),
        };
        let size = if fate == Fate::TooLong { size + 1 } else { size };
        let message = MessageRecord { instance: round, inserted, due, taken: None, size, fate };
        self.phase.channels[channel].messages.push(message);
    }

    /// The readers' side: C reads in the round, A in the next.
    fn take(&mut self) {
        for channel in 0..3 {
            let reader = (channel + 1) % 3;
            let shift = u64::from(reader == A);
            let reads = &self.phase.tasks[reader].instances;
            for message in &mut self.phase.channels[channel].messages {
                let wanted = message.instance + shift;
                let found = reads.binary_search_by_key(&wanted, |record| record.instance);
                let found = found
                    .ok()
                    .map(|place| reads[place])
                    .filter(|record| matches!(record.outcome, Outcome::Ran | Outcome::RanLate));
                match (message.fate, found) {
                    (Fate::Taken, Some(record)) => message.taken = Some(record.started + Nanos(300)),
                    (Fate::Taken, None) => message.fate = Fate::Untaken,
                    _ => {}
                }
            }
        }
    }
}
