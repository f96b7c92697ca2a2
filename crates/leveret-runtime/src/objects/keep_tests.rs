//! Two members whose channel and tasks go on through modes, in virtual time: nothing depends on the machine, so nothing may be lost.

use super::commit::Binding;
use super::keep::Kept;
use super::{
    BufferDescription, ChannelDescription, Code, Committed, Dataspec, EndState, Handle, OwnedStorage, Policy,
    Qos, Storage, World, job_in_tests,
};
use crate::in_process::InProcessJob;
use leveret_types::{MemberId, Nanos};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const PERIOD: Nanos = Nanos::from_millis(10);
const EPOCH: Nanos = Nanos::from_secs(1);
const BUFFERS: usize = 4;

fn ms(value: i64) -> Nanos {
    Nanos::from_millis(value)
}

/// What a member's task has seen: for each message its instance and what is in it; and the task's own instances.
#[derive(Default)]
struct Seen {
    messages: Mutex<Vec<(u64, u64)>>,
    runs: Mutex<Vec<u64>>,
}

/// One member: rank 0 sends, rank 1 receives.
struct Side {
    world: World,
    channel: Handle,
    task: Option<Handle>,
    input: Handle,
    output: Handle,
    buffers: Vec<Handle>,
    seen: Arc<Seen>,
    committed: Option<Arc<Committed>>,
}

fn names() -> Vec<String> {
    ["S", "R"].map(str::to_owned).to_vec()
}

/// The channel's message of a period is there one millisecond before the period's end, and is read in the next.
fn side(rank: usize, with_task: bool) -> Side {
    let mut world = World::new(MemberId(rank as u16), &names()).expect("a world");
    let mut iterator =
        || world.bufiter("i", Policy::Fifo, (8, Dataspec::Int64), Handle::default()).expect("an iterator");
    let (input, output) = (iterator(), iterator());
    let qos = Qos::Time { start: ms(2), deadline: ms(9), period: PERIOD };
    let qos = world.qos("q", qos).expect("a QoS");
    let description =
        ChannelDescription { input, output, source: 0, target: 1, group: Handle::GROUP_WORLD, qos };
    let channel = world.ptchannel("c", description).expect("a channel");
    let mut storages: HashMap<Handle, Arc<dyn Storage>> = HashMap::new();
    let mut buffers = Vec::new();
    for _ in 0..BUFFERS {
        let storage: Arc<dyn Storage> = Arc::new(OwnedStorage::new(8));
        let description = BufferDescription { size: 8, dataspec: Dataspec::Int64, storage: storage.clone() };
        let buffer = world.buffer("b", description).expect("a buffer");
        world.stock(if rank == 0 && with_task { output } else { input }, buffer).expect("it fits");
        storages.insert(buffer, storage);
        buffers.push(buffer);
    }
    let seen = Arc::new(Seen::default());
    let task = with_task.then(|| {
        let window = Qos::Time { start: ms(0), deadline: ms(4), period: PERIOD };
        let qos = world.qos("w", window).expect("a QoS");
        let told = seen.clone();
        let function = move |instance: super::TaskInstance, committed: &Arc<Committed>| {
            told.runs.lock().expect("nobody panicked").push(instance.number);
            while let Ok(buffer) = committed.remove(output) {
                let storage = &storages[&buffer];
                if rank == 0 {
                    // A message is the number of the instance that sends it.
                    storage.write(&mut |bytes| bytes.copy_from_slice(&instance.number.to_le_bytes()));
                    committed.insert(input, buffer).expect("it was taken from there");
                    return;
                }
                let mut number = [0; 8];
                storage.read(&mut |bytes| number.copy_from_slice(bytes));
                let (at, _) = committed.received(buffer).expect("it came with a message");
                told.messages.lock().expect("nobody panicked").push((at, u64::from_le_bytes(number)));
                committed.insert(input, buffer).expect("it was taken from there");
            }
        };
        let task = world.task(&format!("t{rank}"), (qos, Nanos::from_micros(50)), |_| Arc::new(function));
        let task = task.expect("a task");
        world.bind_channel(task, channel).expect("nobody else has it");
        task
    });
    Side { world, channel, task, input, output, buffers, seen, committed: None }
}

/// Both members' bindings as one job.
fn job(bindings: &mut [Binding]) -> InProcessJob {
    let job = job_in_tests(&mut *bindings);
    for (rank, binding) in bindings.iter().enumerate() {
        binding.attach_timed(|end| job.shared_activation(MemberId(rank as u16), end.0));
        binding.committed.settle([]).expect("nothing is mapped");
    }
    job
}

/// The sets that have run, the last of which still has its ports.
struct Run {
    sides: [Side; 2],
    job: InProcessJob,
    /// The end of what has run.
    at: Nanos,
}

impl Run {
    fn begin(with_tasks: bool) -> Self {
        let mut sides = [0, 1].map(|rank| side(rank, with_tasks));
        let mut bindings: Vec<Binding> = Vec::new();
        for side in &mut sides {
            let bound = side.world.bind(&Kept::default());
            let binding = bound.unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
            side.committed = Some(binding.committed.clone());
            side.world.committed = true;
            bindings.push(binding);
        }
        let job = job(&mut bindings);
        Self { sides, job, at: EPOCH }
    }

    fn periods(&mut self, rounds: u64, before: impl FnMut(Nanos)) {
        let mut before = before;
        let epoch = self.at;
        self.job.run_virtual_from(epoch, rounds, |_, planned, _| before(epoch + planned));
        self.at = epoch + self.job.hyperperiod().saturating_mul(rounds as i64);
    }

    /// A mode that keeps the channel and the tasks and has a task of its own with this period. What runs leaves its ports when
    /// `left_at` says so.
    fn switch(&mut self, number: usize, period: Nanos, rounds: u64, mut left_at: impl FnMut(Nanos) -> bool) {
        let (mut bindings, mut views, mut all_kept) = (Vec::new(), Vec::new(), Vec::new());
        for (rank, side) in self.sides.iter_mut().enumerate() {
            let world = &mut side.world;
            let mode = world.open_mode("next").expect("nothing is open");
            world.keep(mode, side.task.unwrap_or(side.channel)).expect("it runs");
            let window = Qos::Time { start: ms(5), deadline: ms(9), period };
            let qos = world.qos("own", window).expect("a QoS");
            let name = format!("own{number}-{rank}");
            let budget = Nanos::from_micros(50);
            world.task(&name, (qos, budget), |_| Arc::new(|_, _: &Arc<Committed>| {})).expect("a task");
            let set = world.open_set(mode).expect("it is open");
            let kept = world.kept(side.committed.as_ref().expect("something runs"));
            let view = world.of_set(set, &kept).unwrap_or_else(|unfit| panic!("{}", unfit.detail));
            let binding = view.bind(&kept).unwrap_or_else(|unfit| panic!("{}", unfit.detail));
            world.stands(set, &view);
            bindings.push(binding);
            views.push(view);
            all_kept.push(kept);
        }
        let next = job(&mut bindings);
        for (rank, side) in self.sides.iter_mut().enumerate() {
            let (before, after) = (self.job.watch(MemberId(rank as u16)), next.watch(MemberId(rank as u16)));
            before.succeeded_by(after);
            before.give_way();
            let committed = side.committed.replace(bindings[rank].committed.clone()).expect("something runs");
            committed.hand_over(&all_kept[rank], before, &bindings[rank].committed);
            side.world.take_back(&committed, &all_kept[rank]);
            side.world.take_over(&views[rank]);
        }
        let mut former = Some(std::mem::replace(&mut self.job, next));
        let epoch = self.at;
        let job = &mut self.job;
        job.run_virtual_from(epoch, rounds, |_, planned, _| {
            if left_at(epoch + planned)
                && let Some(mut former) = former.take()
            {
                former.leave();
            }
        });
        self.at = epoch + self.job.hyperperiod().saturating_mul(rounds as i64);
    }

    fn messages(&self) -> Vec<(u64, u64)> {
        self.sides[1].seen.messages.lock().expect("nobody panicked").clone()
    }

    fn runs(&self, side: usize) -> Vec<u64> {
        self.sides[side].seen.runs.lock().expect("nobody panicked").clone()
    }

    fn completed(&self) -> [u64; 2] {
        [0, 1].map(|rank| self.metrics(rank).completed)
    }

    fn metrics(&self, rank: usize) -> super::ChannelMetrics {
        let side = &self.sides[rank];
        side.committed.as_ref().expect("something runs").metrics(side.channel).expect("an end")
    }

    /// Buffers in the iterators, and of the program.
    fn places(&self, rank: usize) -> [usize; 2] {
        let side = &self.sides[rank];
        let committed = side.committed.as_ref().expect("something runs");
        [side.input, side.output].map(|iterator| committed.count(iterator).expect("an iterator"))
    }
}

#[test]
fn what_the_mode_uses_otherwise_than_what_runs_is_named() {
    let mut run = Run::begin(false);
    let Side { world, channel, input, output, committed, .. } = &mut run.sides[0];
    let mode = world.open_mode("next").expect("nothing is open");
    world.keep(mode, *channel).expect("it runs");
    let (group, qos) = (Handle::GROUP_WORLD, Handle::BEST_EFFORT);
    let description = ChannelDescription { input: *input, output: *output, source: 0, target: 1, group, qos };
    world.ptchannel("", description).expect("a channel");
    let set = world.open_set(mode).expect("it is open");
    let kept = world.kept(committed.as_ref().expect("something runs"));
    let detail = world.of_set(set, &kept).err().expect("the iterator has a use").detail;
    let named = "the channel number 2, which has no name, of the mode uses the iterator \"i\", which is kept";
    assert!(detail.contains(named) && detail.contains("at member \"S\""), "{detail}");
}

// spec: MODE-KEEP-01, MODE-PEND-01, MODE-SWITCH-02
#[test]
fn a_channel_and_its_tasks_go_on_through_three_modes_without_losing_an_instance() {
    let mut run = Run::begin(true);
    let addresses = |run: &Run| -> Vec<usize> {
        let of = |side: &Side| {
            let committed = side.committed.clone().expect("something runs");
            side.buffers
                .iter()
                .map(move |buffer| committed.address(*buffer).expect("a buffer"))
                .collect::<Vec<_>>()
        };
        run.sides.iter().flat_map(of).collect()
    };
    run.periods(5, |_| {});
    let before = addresses(&run);
    // 5 periods; then rounds of 3, of 2, and of 1.
    run.switch(1, ms(30), 2, |_| true);
    run.switch(2, ms(20), 3, |_| true);
    run.switch(3, ms(10), 4, |_| true);
    let periods = 5 + 2 * 3 + 3 * 2 + 4;
    let numbers: Vec<u64> = (0..periods).collect();
    assert_eq!(run.runs(0), numbers, "each instance of the sender ran, once, in its order");
    assert_eq!(run.runs(1), numbers);
    // What is sent in one period is read in the next: the last of each mode is read in the one after.
    let expected: Vec<(u64, u64)> = (0..periods - 1).map(|number| (number, number)).collect();
    assert_eq!(run.messages(), expected);
    assert_eq!(run.completed(), [periods, periods - 1]);
    assert_eq!(addresses(&run), before, "the buffers are where they were");
    for rank in [0, 1] {
        let side = &run.sides[rank];
        let task = side.committed.as_ref().expect("it runs").task_metrics(side.task.expect("it has one"));
        let task = task.expect("a task");
        assert_eq!((task.completed, task.missed, task.skipped), (periods, 0, 0));
        let metrics = run.metrics(rank);
        assert_eq!(metrics.no_sender_buffer + metrics.no_receiver_buffer + metrics.late + metrics.paused, 0);
    }
    assert_eq!(run.metrics(1).latency.count, periods - 1);
}

/// The last instance overruns the switch: the first ones of the mode are skipped, and told as misses, each once.
// spec: MODE-KEEP-01
#[test]
fn what_an_overrun_costs_is_told() {
    let mut run = Run::begin(true);
    run.periods(3, |_| {});
    run.switch(1, ms(10), 7, |at| at >= EPOCH + ms(3 * 10 + 25));
    let (sent, heard) = (run.runs(0), run.runs(1));
    let all = |runs: &[u64]| runs.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(all(&sent) && all(&heard) && sent.len() < 10, "{sent:?} {heard:?}");
    assert_eq!((sent.last(), heard.last()), (Some(&9), Some(&9)));
    for rank in [0, 1] {
        let side = &run.sides[rank];
        let task = side.committed.as_ref().expect("it runs").task_metrics(side.task.expect("it has one"));
        let task = task.expect("a task");
        assert_eq!(task.completed + task.skipped, 10);
        assert_eq!(task.completed, [&sent, &heard][rank].len() as u64);
    }
    let messages = run.messages();
    // The receiver that was skipped has not given back the buffers of the segment, so that the first message of the mode waits.
    let later = |pair: &[(u64, u64)]| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1;
    assert!(
        messages.windows(2).all(later) && messages.iter().all(|(at, number)| number <= at),
        "{messages:?}"
    );
    let metrics = run.metrics(1);
    let missed = metrics.no_sender_buffer + metrics.late + metrics.invalid;
    assert_eq!((metrics.completed, metrics.completed + missed), (messages.len() as u64, 9));
}

/// Ends that no task of the program serves: a transfer that was started before the switch and has its instance after it.
// spec: MODE-PEND-01
#[test]
fn a_started_transfer_has_its_instance_after_the_switch() {
    let mut run = Run::begin(false);
    let starts = |run: &Run| {
        for side in &run.sides {
            side.committed.as_ref().expect("it runs").start(side.channel).expect("nothing is under way");
        }
    };
    run.periods(3, |_| {});
    starts(&run);
    run.switch(1, ms(20), 2, |_| true);
    assert_eq!(run.completed(), [1, 1]);
    assert_eq!(run.places(0), [BUFFERS - 1, 1]);
    assert_eq!(run.places(1), [BUFFERS - 1, 1]);
    for side in &run.sides {
        let status = side.committed.as_ref().expect("it runs").status(side.channel).expect("an end");
        assert_eq!((status.instance, status.under_way, status.state), (3, 0, EndState::Idle));
    }
    starts(&run);
    run.switch(2, ms(10), 2, |_| true);
    assert_eq!(run.completed(), [2, 2]);
}

#[test]
fn what_is_kept_stays_fixed_and_the_rest_is_loose() {
    let mut run = Run::begin(true);
    run.periods(2, |_| {});
    run.switch(1, ms(10), 2, |_| true);
    let side = &mut run.sides[0];
    let (task, channel) = (side.task.expect("it has one"), side.channel);
    for kept in [task, channel, side.input, side.buffers[0]] {
        assert_eq!(side.world.free(kept), Err(Code::ObjectCommitted));
    }
    let mode = side.world.open_mode("last").expect("nothing is open");
    assert_eq!(side.world.keep(mode, side.buffers[0]), Err(Code::UndefForObject));
    assert_eq!(side.world.keep(mode, Handle::GROUP_WORLD), Err(Code::UndefForObject));
    // One that keeps nothing lets all of it go.
    let set = side.world.open_set(mode).expect("it is open");
    let kept = side.world.kept(side.committed.as_ref().expect("something runs"));
    let view = side.world.of_set(set, &kept).unwrap_or_else(|unfit| panic!("{}", unfit.detail));
    side.world.stands(set, &view);
    side.world.take_back(side.committed.as_ref().expect("something runs"), &kept);
    side.world.take_over(&view);
    for loose in [task, channel, side.input, side.buffers[0]] {
        assert_eq!(side.world.free(loose), Ok(()));
    }
}

/// The most steps of a task's instance in a run, with what its ends do for it.
#[cfg(debug_assertions)]
fn most_steps(run: impl FnOnce(&mut dyn FnMut())) -> u64 {
    use leveret_memory::sync::steps;
    let (mut before, mut most) = (None, 0);
    run(&mut || {
        let now = steps::taken();
        most = most.max(before.map_or(0, |before| now - before));
        before = Some(now);
    });
    most
}

// spec: LAW-STEPS-02
#[cfg(debug_assertions)]
#[test]
fn an_instance_takes_as_many_steps_however_long_the_run_has_been() {
    for with_tasks in [false, true] {
        let of = |periods| {
            let mut run = Run::begin(with_tasks);
            let looks = |run: &Run| {
                for side in &run.sides {
                    let committed = side.committed.clone().expect("something runs");
                    let look =
                        |call: &dyn Fn(&Committed)| leveret_memory::sync::steps::of(60, || call(&committed));
                    look(&|committed| _ = committed.start(side.channel));
                    look(&|committed| _ = committed.activate(side.channel));
                    look(&|committed| _ = committed.test(side.channel));
                    look(&|committed| _ = committed.wait(side.channel, Nanos::ZERO));
                    look(&|committed| _ = committed.status(side.channel));
                    look(&|committed| _ = committed.metrics(side.channel));
                    look(&|committed| _ = committed.deactivate(side.channel));
                    if let Some(task) = side.task {
                        look(&|committed| _ = committed.task_metrics(task));
                    }
                }
            };
            looks(&run);
            let most = most_steps(|look| run.periods(periods, |_| look()));
            looks(&run);
            most
        };
        // Most of them are readings of the clock before the planned start, which end by the clock.
        let (few, many) = (of(30), of(600));
        assert!(few > 0 && many <= few, "{few} steps in a short run, {many} in a long one");
    }
}

/// What was skipped before a task could go on with what the one before it left is told in one instance; of a long time the
/// last part.
// spec: LAW-STEPS-02
#[cfg(debug_assertions)]
#[test]
fn an_instance_takes_as_many_steps_however_long_the_one_before_has_overrun() {
    let of = |periods: i64| {
        let mut run = Run::begin(true);
        run.periods(3, |_| {});
        let left = EPOCH + ms((3 + periods) * 10 + 5);
        let most = most_steps(|look| {
            run.switch(1, ms(10), periods as u64 + 5, |at| {
                look();
                at >= left
            });
        });
        let task = |rank: usize| {
            let side = &run.sides[rank];
            let task = side.task.expect("it has one");
            side.committed.as_ref().expect("it runs").task_metrics(task).expect("a task")
        };
        for rank in [0, 1] {
            assert_eq!(task(rank).completed + task(rank).skipped, 3 + periods as u64 + 5, "each is counted");
        }
        most
    };
    let (long, longer) = (of(100), of(1000));
    assert!(longer <= long, "{long} steps after a hundred periods, {longer} after a thousand");
}
