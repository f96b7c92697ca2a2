//! Windows for crossings that declare none. Along a path of tasks and channels, each is given time in proportion to what it needs; who
//! turned out to have too little is counted as needing more.

use super::chain::clocks;
use super::model::{Chain, Crossing, Step, System, Window};
use super::needs::Needs;
use crate::bind::{Transfer, div_ceil};
use leveret_types::{Nanos, TaskId};

/// One, in the unit of factors.
const ONE: i64 = 1000;
/// Largest factor.
const FACTOR_MAX: i64 = 1000 * ONE;

/// How much more than it needs each part is to have, beside the others, in thousandths; and what each chain is to take.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Shares {
    pub tasks: Vec<Vec<i64>>,
    pub crossings: Vec<i64>,
    /// From the start of the first task to the end of the last.
    pub chains: Vec<i64>,
    /// How often the room of a chain's first and last task was halved: the first is to start late, the last to end early.
    pub halvings: Vec<u32>,
}

impl Shares {
    /// Everybody alike, and chains as long as their limits allow.
    pub(super) fn even(system: &System) -> Self {
        Self {
            tasks: system.hosts.iter().map(|host| vec![ONE; host.job.tasks.len()]).collect(),
            crossings: vec![ONE; system.crossings.len()],
            chains: system.chains.iter().map(|chain| aim(system, chain)).collect(),
            halvings: vec![0; system.chains.len()],
        }
    }

    /// Half as much again.
    pub(super) fn more(factor: &mut i64) {
        *factor = (*factor + *factor / 2).min(FACTOR_MAX);
    }
}

/// What a chain may take from the start of its first task to the end of its last; a period where nothing is said.
fn aim(system: &System, chain: &Chain) -> i64 {
    let clocks = clocks(system, chain);
    let period = |step: &Step| match *step {
        Step::Task { host, task } => system.task(host, task).period.0,
        _ => 0,
    };
    let sampling = chain.path.first().map_or(0, period);
    let longest = chain.path.iter().map(period).max().unwrap_or(0);
    let limits = [chain.age.map(|age| age.0 - clocks), chain.reaction.map(|most| most.0 - sampling - clocks)];
    limits.into_iter().flatten().min().unwrap_or(longest).max(0)
}

/// A window for each crossing: the declared one where there is one.
pub(super) fn windows(system: &System, needs: &Needs, shares: &Shares) -> Vec<Window> {
    let mut chooser = Chooser {
        system,
        needs,
        shares,
        windows: system.crossings.iter().map(|crossing| crossing.window).collect(),
    };
    // The tightest chain first: who comes later finds windows that stand.
    let mut chains: Vec<(i64, usize)> = system
        .chains
        .iter()
        .enumerate()
        .map(|(index, chain)| (chooser.stretch(&chain.path, shares.chains[index]), index))
        .collect();
    chains.sort_unstable();
    for (_, index) in chains {
        chooser.lay(&system.chains[index].path, shares.chains[index]);
    }
    for path in chooser.open_paths() {
        let period = path.iter().find_map(|step| match step {
            Step::Crossing(index) => Some(system.crossings[usize::from(*index)].period.0),
            _ => None,
        });
        chooser.lay(&path, period.unwrap_or(0));
    }
    let any = |(window, crossing): (Option<Window>, &super::Crossing)| {
        window.unwrap_or(Window { release: Nanos::ZERO, deadline: crossing.period })
    };
    chooser.windows.into_iter().zip(&system.crossings).map(any).collect()
}

/// Windows at the ends of periods, so long in eighths of them, and no shorter than what is needed: writers have what comes before, and readers their whole next
/// period. Everything on the way takes a period longer so.
pub(super) fn at_ends(system: &System, needs: &Needs, eighths: i64) -> Vec<Window> {
    let window = |(crossing, need): (&Crossing, &i64)| {
        let period = crossing.period.0;
        let length = (period / 8).saturating_mul(eighths).max(*need).min(period);
        crossing.window.unwrap_or(Window { release: Nanos(period - length), deadline: crossing.period })
    };
    system.crossings.iter().zip(&needs.crossings).map(window).collect()
}

struct Chooser<'a> {
    system: &'a System,
    needs: &'a Needs,
    shares: &'a Shares,
    windows: Vec<Option<Window>>,
}

impl Chooser<'_> {
    /// What a task or an open crossing is counted as needing.
    fn weight(&self, step: Step) -> i64 {
        match step {
            Step::Task { host, task } => {
                let guard = self.system.hosts[usize::from(host)].job.costs.guard.0;
                let need = self.needs.tasks[usize::from(host)][task.index()].saturating_add(guard);
                need.saturating_mul(self.shares.tasks[usize::from(host)][task.index()]) / ONE
            }
            Step::Crossing(index) if self.windows[usize::from(index)].is_none() => {
                let index = usize::from(index);
                self.needs.crossings[index].saturating_mul(self.shares.crossings[index]) / ONE
            }
            _ => 0,
        }
    }

    /// How many times its weight each part of a path may have, in thousandths, if the whole is to take so long; never less than what it
    /// needs.
    fn stretch(&self, path: &[Step], whole: i64) -> i64 {
        let weights: i64 = path.iter().map(|step| self.weight(*step)).fold(0, i64::saturating_add);
        let fixed = path.iter().map(|step| match *step {
            Step::Crossing(index) => match self.windows[usize::from(index)] {
                Some(window) => (window.deadline - window.release).0,
                None => 0,
            },
            Step::Channel(_) => self.needs.channel(self.system, *step).unwrap_or(0),
            _ => 0,
        });
        let left = whole.saturating_sub(fixed.fold(0, i64::saturating_add)).max(0);
        i64::try_from(i128::from(left) * i128::from(ONE) / i128::from(weights.max(1))).unwrap_or(i64::MAX)
    }

    /// Lays a path out in time from its first task's release on, and gives its open crossings their windows on the way.
    fn lay(&mut self, path: &[Step], whole: i64) {
        let stretch = self.stretch(path, whole);
        let given = |weight: i64| {
            i64::try_from(i128::from(weight) * i128::from(stretch) / i128::from(ONE)).unwrap_or(i64::MAX)
        };
        let mut now = 0;
        for step in path {
            match *step {
                Step::Task { host, task } => {
                    let need = self.needs.tasks[usize::from(host)][task.index()];
                    now = after_task(
                        self.system,
                        self.needs,
                        (host, task),
                        now,
                        given(self.weight(*step)).max(need),
                    );
                }
                Step::Work { host, work } => now += self.system.work(host, work).budget.0,
                Step::Channel(port) => {
                    let job = &self.system.hosts[usize::from(port.host)].job;
                    if let Some(at) = Transfer::of(&job.channels[port.channel.index()], &job.costs) {
                        now = at.visible_at(div_ceil(now - at.insert_by, at.period));
                    }
                }
                Step::Crossing(index) => {
                    let length = given(self.weight(*step)).max(self.needs.crossings[usize::from(index)]);
                    now = after_crossing(self.system, &mut self.windows, usize::from(index), now, length);
                }
            }
        }
    }

    /// Paths through the crossings that are still open: from a writer on to what its reader writes, as far as that goes.
    fn open_paths(&self) -> Vec<Vec<Step>> {
        let mut taken: Vec<bool> = self.windows.iter().map(Option::is_some).collect();
        let mut paths = Vec::new();
        // First those whose writer waits for none of the others; then what is left, where they wait for each other.
        for only_first in [true, false] {
            for index in 0..taken.len() {
                if taken[index] || (only_first && self.waits(index, &taken)) {
                    continue;
                }
                let mut path: Vec<Step> = self.writer(index).into_iter().collect();
                let mut next = Some(index);
                while let Some(index) = next {
                    taken[index] = true;
                    path.push(Step::Crossing(index as u16));
                    let reader = self.reader(index);
                    path.extend(reader);
                    next = reader.and_then(|reader| self.written_by(reader, &taken));
                }
                paths.push(path);
            }
        }
        paths
    }

    fn writer(&self, index: usize) -> Option<Step> {
        let port = self.system.crossings[index].source;
        let tasks = &self.system.hosts[usize::from(port.host)].job.tasks;
        let task = tasks.iter().position(|task| task.writes.contains(&port.channel))?;
        Some(Step::Task { host: port.host, task: TaskId(task as u16) })
    }

    /// The reader that needs most.
    fn reader(&self, index: usize) -> Option<Step> {
        let reads = self.system.crossings[index].targets.iter().flat_map(|port| {
            let tasks = self.system.hosts[usize::from(port.host)].job.tasks.iter().enumerate();
            let readers = tasks.filter(|(_, task)| task.reads.contains(&port.channel));
            readers.map(|(task, _)| Step::Task { host: port.host, task: TaskId(task as u16) })
        });
        reads.max_by_key(|step| self.weight(*step))
    }

    fn waits(&self, index: usize, taken: &[bool]) -> bool {
        let Some(Step::Task { host, task }) = self.writer(index) else { return false };
        let reads = &self.system.task(host, task).reads;
        self.system.crossings.iter().zip(taken).any(|(crossing, taken)| {
            !taken && crossing.targets.iter().any(|port| port.host == host && reads.contains(&port.channel))
        })
    }

    fn written_by(&self, reader: Step, taken: &[bool]) -> Option<usize> {
        let Step::Task { host, task } = reader else { return None };
        let writes = &self.system.task(host, task).writes;
        self.system.crossings.iter().zip(taken).position(|(crossing, taken)| {
            !taken && crossing.source.host == host && writes.contains(&crossing.source.channel)
        })
    }
}

/// When a task that may begin at `now` is to have ended: in the first of its windows that has room.
pub(super) fn after_task(
    system: &System,
    needs: &Needs,
    (host, task): (u16, TaskId),
    now: i64,
    length: i64,
) -> i64 {
    let error = system.traffic.clock_error.0;
    let need = needs.tasks[usize::from(host)][task.index()];
    let declared = system.task(host, task);
    let (release, deadline) = (declared.release.0 + error, declared.deadline.0 - error);
    let period = declared.period.0.max(1);
    let begin = div_ceil(now + need - deadline, period).max(0) * period;
    now.max(begin + release).saturating_add(length).min(begin + deadline).max(now + need)
}

/// When a message that is inserted at `now` is visible. Gives the crossing a window of this length, if it has none.
pub(super) fn after_crossing(
    system: &System,
    windows: &mut [Option<Window>],
    index: usize,
    now: i64,
    length: i64,
) -> i64 {
    let crossing = &system.crossings[index];
    let costs = &system.hosts[usize::from(crossing.source.host)].job.costs;
    let (period, error) = (crossing.period.0, costs.clock_error.0);
    let release = now + costs.publish.0 + error;
    let window = *windows[index].get_or_insert_with(|| {
        let release = release.rem_euclid(period);
        Window { release: Nanos(release), deadline: Nanos(release.saturating_add(length)) }
    });
    let message = div_ceil(release - window.release.0, period);
    message.saturating_mul(period).saturating_add(window.deadline.0 + error)
}
