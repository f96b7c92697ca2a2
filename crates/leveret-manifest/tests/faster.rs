//! The examples, asked to be faster and faster: once they are refused, what is told leads to an admitted job.

use leveret_plan::{Job, Qos, plan};
use leveret_protocol::assemble::assemble;
use leveret_types::Nanos;
use std::path::{Path, PathBuf};

fn manifests() -> Vec<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in
        std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        found.extend(files.filter(|path| path.extension().is_some_and(|ext| ext == "toml")));
    }
    found.sort();
    found
}

/// The job that a manifest alone declares, with a guard of 50 us; `None` where the code must say more.
fn job(path: &Path) -> Option<Job> {
    let text = std::fs::read_to_string(path).unwrap();
    let manifest = leveret_manifest::parse(&text, "job.toml").ok()?;
    let costs = manifest.costs.costs(Some(Nanos::from_micros(50)));
    assemble(&manifest.declaration, &[], costs).ok().map(|assembled| assembled.job)
}

/// All periods and intervals divided by this.
fn faster(job: &Job, by: i64) -> Job {
    let mut job = job.clone();
    let less = |time: &mut Nanos| *time = Nanos((time.0 / by).max(1_000));
    job.tasks.iter_mut().for_each(|task| less(&mut task.period));
    job.sporadics.iter_mut().filter_map(|work| work.interval.as_mut()).for_each(less);
    for channel in &mut job.channels {
        match &mut channel.qos {
            Qos::TimeDriven { period, .. } => less(period),
            Qos::PriorityDriven { interval: Some(interval), .. }
            | Qos::EventDriven { interval: Some(interval), .. } => less(interval),
            _ => {}
        }
    }
    job
}

#[test]
fn every_remedy_of_an_example_that_is_too_fast_fits() {
    let (mut jobs, mut refused, mut told) = (0, 0, 0);
    for path in manifests() {
        let Some(job) = job(&path) else { continue };
        jobs += 1;
        for by in [2, 4, 5, 8, 10, 20, 25, 40, 50, 80, 100] {
            let fast = faster(&job, by);
            let Err(refusal) = plan(&fast) else { continue };
            refused += 1;
            told += refusal.fits.len();
            for remedy in &refusal.fits {
                let changed = remedy.apply(&fast).expect("the remedy names objects of the job");
                if let Err(next) = plan(&changed) {
                    panic!("{}, {by} times as fast: {remedy}\n{refusal}\n{next}", path.display());
                }
            }
            let explained = !refusal.fits.is_empty() || refusal.to_string().contains("no change of a single");
            assert!(explained, "{}, {by} times as fast:\n{refusal}", path.display());
        }
    }
    assert!(jobs >= 2 && refused >= 5 && told >= 5, "{jobs} jobs, {refused} refused, {told} remedies");
}
