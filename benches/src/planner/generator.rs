//! Random jobs of a wished shape: UUniFast utilisations (Bini and Buttazzo, "Measuring the performance of
//! schedulability tests", 2005), periods that divide one hyperperiod, windows inside the period.

use leveret_plan::{CoreChoice, Costs, Job, Member, OverrunPolicy, Task};
use leveret_types::{MemberId, Nanos};

/// What a job should look like.
pub struct Shape {
    /// Task instances in one hyperperiod, about; not regarded where `tasks` is given.
    pub instances: usize,
    /// Number of tasks; 0: as many as the instances need.
    pub tasks: usize,
    /// Processors.
    pub cores: usize,
    /// Of each processor, costs not included.
    pub utilisation_percent: u32,
    /// Whether switches and guards cost what they usually cost, or nothing.
    pub costs: bool,
}

/// Periods are the hyperperiod over these.
const DIVISORS: [u64; 4] = [1, 2, 5, 10];
/// Mean processor time of one instance, costs not included.
const MEAN_BUDGET_US: u64 = 400;

/// Sebastiano Vigna's SplitMix64: small, seeded, good enough here.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// In [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Instances of all tasks in one hyperperiod, which is the longest period.
pub fn instances(job: &Job) -> usize {
    let hyperperiod = job.tasks.iter().map(|task| task.period.0).max().unwrap_or(1);
    job.tasks.iter().map(|task| (hyperperiod / task.period.0) as usize).sum()
}

/// A job that depends on nothing but the shape and the seed.
pub fn generate(shape: &Shape, seed: u64) -> Job {
    let mut random =
        Random::new(seed ^ (shape.instances as u64) << 32 ^ u64::from(shape.utilisation_percent) << 16);
    let divisors = divisors(shape, &mut random);
    let count: u64 = divisors.iter().sum();
    let utilisation = f64::from(shape.utilisation_percent) / 100.0 * shape.cores as f64;
    let hyperperiod_us = (count as f64 * MEAN_BUDGET_US as f64 / utilisation) as u64 / 10 * 10;
    let shares = uunifast(divisors.len(), utilisation, &mut random);
    let tasks = divisors.iter().zip(shares).enumerate();
    let tasks = tasks.map(|(place, (divisor, share))| {
        let period_us = hyperperiod_us / 10 * (10 / divisor);
        task(place, period_us, share, &mut random)
    });
    Job {
        name: format!("generated-{seed}"),
        cores: (0..shape.cores as u32).collect(),
        members: vec![Member { name: "m".to_owned() }],
        tasks: tasks.collect(),
        channels: Vec::new(),
        sporadics: Vec::new(),
        costs: if shape.costs { Costs::default() } else { FREE },
    }
}

/// Nothing costs anything; what is left is placement alone.
const FREE: Costs = Costs {
    guard: Nanos::ZERO,
    switch: Nanos::ZERO,
    preemption: Nanos::ZERO,
    publish: Nanos::ZERO,
    copy_per_kib: Nanos::ZERO,
    clock_error: Nanos::ZERO,
    utilisation_permille: 1000,
};

/// How often each task runs in the hyperperiod; at least one runs once.
fn divisors(shape: &Shape, random: &mut Random) -> Vec<u64> {
    let mut all = vec![1];
    let mut count = 1;
    while if shape.tasks > 0 { all.len() < shape.tasks } else { count < shape.instances } {
        let divisor = DIVISORS[random.below(DIVISORS.len() as u64) as usize];
        if shape.tasks == 0 && count + divisor as usize > shape.instances {
            all.push(1);
            count += 1;
            continue;
        }
        all.push(divisor);
        count += divisor as usize;
    }
    all
}

/// `count` shares that sum to `total`, evenly distributed over all such.
fn uunifast(count: usize, total: f64, random: &mut Random) -> Vec<f64> {
    let mut left = total;
    let mut shares = Vec::with_capacity(count);
    for remaining in (1..count).rev() {
        let next = left * random.unit().powf(1.0 / remaining as f64);
        shares.push(left - next);
        left = next;
    }
    shares.push(left);
    shares
}

fn task(place: usize, period_us: u64, share: f64, random: &mut Random) -> Task {
    // UUniFast may give one task more than a processor has; no planner could place it.
    let budget_us = ((period_us as f64 * share) as u64).clamp(1, period_us * 7 / 10);
    let slack_us = period_us - budget_us;
    let release_us = random.below(slack_us / 4 + 1);
    let deadline_us = period_us - random.below(slack_us / 4 + 1);
    Task {
        name: format!("task-{place}"),
        member: MemberId(0),
        period: Nanos::from_micros(period_us as i64),
        release: Nanos::from_micros(release_us as i64),
        deadline: Nanos::from_micros(deadline_us as i64),
        budget: Nanos::from_micros(budget_us as i64),
        core: CoreChoice::Any,
        preemptible: false,
        overrun: OverrunPolicy::Skip,
        reads: Vec::new(),
        writes: Vec::new(),
        mover: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_the_wished_shape_and_depends_on_its_seed_alone() {
        for wished in [10, 100, 1_000] {
            let shape = Shape { instances: wished, tasks: 0, cores: 2, utilisation_percent: 70, costs: true };
            let job = generate(&shape, 3);
            assert_eq!(instances(&job), wished);
            assert_eq!(job, generate(&shape, 3));
            assert_ne!(job, generate(&shape, 4));
            let used: f64 = job.tasks.iter().map(|task| task.budget.0 as f64 / task.period.0 as f64).sum();
            assert!(used <= 1.41, "{used}");
        }
    }

    #[test]
    fn shares_sum_to_the_total() {
        let shares = uunifast(20, 1.5, &mut Random::new(1));
        assert!((shares.iter().sum::<f64>() - 1.5).abs() < 1e-9);
        assert!(shares.iter().all(|share| *share >= 0.0));
    }
}
