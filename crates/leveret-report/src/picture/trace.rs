//! The longest ways through a chain: which instance of each task and which message of each channel, and the bars that these have.

use super::system::Whole;
use super::{Picture, Trace};
use leveret_plan::Qos;
use leveret_plan::system::{Chain, Step, chain_ways};
use leveret_types::Nanos;

/// The longest reaction and the greatest age, with their values; none of a chain whose times are bounds.
pub(super) fn trace(
    whole: &Whole<'_>,
    picture: &Picture,
    group: u32,
    chain: usize,
    values: [String; 2],
) -> Vec<Trace> {
    let (declared, planned) = (&whole.system.chains[chain], whole.plan.chains[chain]);
    let Some(ways) = chain_ways(whole.system, whole.plan, declared) else { return Vec::new() };
    let one = |name, value, elements: &[i64], missed, takes| {
        let walk = Walk { whole, picture, chain: declared, elements };
        Trace { group, name, value, ..walk.follow(missed, takes) }
    };
    let [reaction, age] = values;
    vec![
        one("reaction", reaction, &ways.reaction, Some(ways.missed), planned.reaction),
        one("data age", age, &ways.age, None, planned.age),
    ]
}

struct Walk<'a> {
    whole: &'a Whole<'a>,
    picture: &'a Picture,
    chain: &'a Chain,
    /// An instance or a message for each element of the path.
    elements: &'a [i64],
}

impl Walk<'_> {
    fn follow(&self, missed: Option<i64>, takes: Nanos) -> Trace {
        let first = missed.unwrap_or(self.elements[0]);
        let begin = self.window(0, first).0;
        // Told as if it began in the first round.
        let round = self.picture.round;
        let shift = round.saturating_mul(begin.0.div_euclid(round.0.max(1)));
        let mut steps = Vec::new();
        if let Some(missed) = missed {
            let what = format!("an event, just after {} has started", self.named(0, missed));
            steps.push((what, (begin - shift).to_string()));
        }
        let mut bars = Vec::new();
        let mut end = begin;
        for (place, element) in self.elements.iter().enumerate() {
            let window = self.window(place, *element);
            end = window.1;
            let times = format!("{} to {}", window.0 - shift, window.1 - shift);
            steps.push((self.named(place, *element), times));
            bars.extend(self.bars(place, *element));
        }
        let rest = takes - (end - begin);
        if rest > Nanos::ZERO {
            steps.push(("error of the clocks".to_owned(), rest.to_string()));
        }
        let span = (begin - shift, end - shift);
        Trace { group: 0, name: "", value: String::new(), span, bars, steps }
    }

    /// An element as it is called in the picture, whose numbers begin anew in each round.
    fn named(&self, place: usize, element: i64) -> String {
        let name = self.whole.system.step_name(self.chain.path[place]);
        let count = self.count(place).max(1);
        format!("{name} #{}", element.rem_euclid(count))
    }

    /// How many instances of an element the round has.
    fn count(&self, place: usize) -> i64 {
        let period = match self.chain.path[place] {
            Step::Task { host, task } => {
                self.whole.system.hosts[usize::from(host)].job.tasks[task.index()].period
            }
            Step::Work { .. } => self.picture.round,
            Step::Channel(port) => {
                match self.whole.system.hosts[usize::from(port.host)].job.channels[port.channel.index()].qos {
                    Qos::TimeDriven { period, .. } => period,
                    _ => self.picture.round,
                }
            }
            Step::Crossing(index) => self.whole.system.crossings[usize::from(index)].period,
        };
        self.picture.round.0 / period.0.max(1)
    }

    /// Of a task its planned start and end, of a channel its window, in which the message is visible at the end.
    fn window(&self, place: usize, element: i64) -> (Nanos, Nanos) {
        let (system, plan) = (self.whole.system, self.whole.plan);
        match self.chain.path[place] {
            Step::Task { host, task } => {
                let own = &plan.hosts[usize::from(host)];
                let instances = &own.tasks[task.index()].instances;
                let count = instances.len() as i64;
                let instance = &instances[element.rem_euclid(count) as usize];
                let later = own.hyperperiod.saturating_mul(element.div_euclid(count));
                (instance.start() + later, instance.end() + later)
            }
            Step::Work { .. } => (Nanos::ZERO, Nanos::ZERO),
            Step::Channel(port) => {
                let job = &system.hosts[usize::from(port.host)].job;
                let Qos::TimeDriven { period, release, deadline, .. } =
                    job.channels[port.channel.index()].qos
                else {
                    return (Nanos::ZERO, Nanos::ZERO);
                };
                let begin = period.saturating_mul(element);
                (begin + release, begin + deadline + job.costs.clock_error)
            }
            Step::Crossing(index) => {
                let window = plan.windows[usize::from(index)];
                let begin = system.crossings[usize::from(index)].period.saturating_mul(element);
                (begin + window.release, begin + window.deadline + system.traffic.clock_error)
            }
        }
    }

    /// All bars of a task's instance; of a message those on its way to the host that reads it.
    fn bars(&self, place: usize, element: i64) -> Vec<u32> {
        let step = self.chain.path[place];
        let Some(group) = self.whole.group(step) else { return Vec::new() };
        let (Step::Crossing(index), Some(Step::Task { host, .. })) = (step, self.chain.path.get(place + 1))
        else {
            return self.whole.places.of_instance(group, element).collect();
        };
        let node = self.whole.system.hosts[usize::from(*host)].node;
        let mut found = Vec::new();
        for last in self.whole.arriving(self.picture, index, element, node) {
            let mut way = vec![last];
            while let Some(before) = way.last().and_then(|bar| self.picture.bars[*bar as usize].after) {
                way.push(before);
            }
            found.extend(way.into_iter().rev());
        }
        found
    }
}
