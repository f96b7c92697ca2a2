//! A task at each of two members, bound to the ends of one channel, in virtual time.

use super::*;
use crate::in_process::InProcessJob;
use crate::objects::{
    BufferDescription, ChannelDescription, Dataspec, OwnedStorage, Policy, Qos, TaskFunction, TaskInstance,
    World, job_in_tests,
};
use leveret_types::{ChannelId, MemberId, Nanos};
use std::sync::{Arc, Mutex};

const PERIOD: Nanos = Nanos::from_millis(10);
const NO_LIMIT: Nanos = Nanos::MAX;

/// What a function saw: its instance, the answer of a wait and of a second one, and whether a buffer had come.
type Seen = Arc<Mutex<Vec<(u64, [Result<(), Code>; 2], bool)>>>;

fn ms(value: i64) -> Nanos {
    Nanos::from_millis(value)
}

/// The channel's window is [0, 4 ms], and the tasks have these. The sender gives its buffer in every third instance anew; the
/// receiver gives its own back at once.
fn pair(windows: [[Nanos; 2]; 2]) -> (InProcessJob, [Seen; 2]) {
    let names = ["a".to_owned(), "b".to_owned()];
    let seen = [Seen::default(), Seen::default()];
    let mut bindings = Vec::new();
    for rank in 0..2 {
        let mut world = World::new(MemberId(rank as u16), &names).expect("a world");
        let mut iterator = || {
            world.bufiter("i", Policy::Fifo, (8, Dataspec::Int64), Handle::default()).expect("an iterator")
        };
        let (input, output) = (iterator(), iterator());
        let mut qos = |[start, deadline]: [Nanos; 2]| {
            world.qos("q", Qos::Time { start, deadline, period: PERIOD }).expect("a QoS")
        };
        let (of_channel, of_task) = (qos([Nanos::ZERO, ms(4)]), qos(windows[rank]));
        let description = ChannelDescription {
            input,
            output,
            source: 0,
            target: 1,
            group: Handle::GROUP_WORLD,
            qos: of_channel,
        };
        let channel = world.ptchannel("c", description).expect("a channel");
        let storage: Arc<dyn crate::objects::Storage> = Arc::new(OwnedStorage::new(8));
        let description = BufferDescription { size: 8, dataspec: Dataspec::Int64, storage };
        let buffer = world.buffer("b", description).expect("a buffer");
        world.stock(input, buffer).expect("it fits");
        let notes = seen[rank].clone();
        let function = move |_: Handle| -> TaskFunction {
            Arc::new(move |instance: TaskInstance, committed: &Arc<Committed>| {
                let answers = [(); 2].map(|()| committed.wait(channel, NO_LIMIT));
                let came = committed.remove(output).is_ok();
                // What has come out goes in again: at the receiver at once, at the sender in every third instance.
                if rank == 1 && came || rank == 0 && instance.number.is_multiple_of(3) {
                    let _ = committed.insert(input, buffer);
                }
                notes.lock().expect("nobody panicked").push((instance.number, answers, came));
            })
        };
        let task = world.task(&format!("t{rank}"), (of_task, ms(1)), function).expect("a task");
        world.bind_channel(task, channel).expect("it is bound once");
        let binding = world
            .bind(&crate::objects::keep::Kept::default())
            .unwrap_or_else(|unfit| panic!("{:?} {}", unfit.code, unfit.detail));
        binding.committed.settle([]).expect("nothing is mapped");
        bindings.push(binding);
    }
    let job = job_in_tests(&mut bindings);
    for (rank, binding) in bindings.iter().enumerate() {
        binding.attach_timed(|end| job.shared_activation(MemberId(rank as u16), end.0));
    }
    (job, seen)
}

// spec: TASK-BIND-02
#[test]
fn a_function_waits_for_nothing_that_its_task_serves() {
    let (mut job, seen) = pair([[Nanos::ZERO, ms(3)], [ms(4), ms(10)]]);
    job.run_virtual(9, |_, _, _| {});
    let [sent, taken] = seen.map(|seen| seen.lock().expect("the run is over").clone());
    assert_eq!((sent.len(), taken.len()), (9, 9));
    for (k, answers, came) in taken {
        // The first message was there at commit; then every third instance has one.
        let expected = if k.is_multiple_of(3) { Ok(()) } else { Err(Code::Missed) };
        assert_eq!(answers, [expected, Err(Code::Timeout)], "instance {k}");
        assert_eq!(came, k.is_multiple_of(3), "instance {k}");
    }
    for (k, answers, _) in sent {
        // At a sending end what ended is that of the instance before.
        let expected = match k {
            0 => Err(Code::Timeout),
            k if (k - 1).is_multiple_of(3) => Ok(()),
            _ => Err(Code::Missed),
        };
        assert_eq!(answers, [expected, Err(Code::Timeout)], "instance {k}");
    }
}

// spec: TASK-BIND-01
#[test]
fn what_a_bound_task_reads_has_arrived_and_what_it_writes_is_there_in_time() {
    // The windows of the tasks alone would let the sender be late and the receiver early.
    let (job, _) = pair([[Nanos::ZERO, ms(10)], [Nanos::ZERO, ms(10)]]);
    let tasks = job.assembled.job.tasks.iter().zip(&job.plan.tasks);
    let mut checked = [0; 2];
    for (task, planned) in tasks {
        let transfers = &job.plan.channels[0].instances;
        let per_round = transfers.len() as i64;
        let of = |instance: i64| {
            let transfer = transfers[instance.rem_euclid(per_round) as usize];
            let rounds = job.plan.hyperperiod.saturating_mul(instance.div_euclid(per_round));
            (transfer.insert_by + rounds, transfer.visible_at + rounds)
        };
        for instance in &planned.instances {
            if let Some(place) = task.reads.iter().position(|channel| *channel == ChannelId(0)) {
                assert!(instance.start() >= of(instance.reads[place]).1, "{}", task.name);
                checked[0] += 1;
            }
            if let Some(place) = task.writes.iter().position(|channel| *channel == ChannelId(0)) {
                assert!(instance.end() <= of(instance.writes[place]).0, "{}", task.name);
                checked[1] += 1;
            }
        }
    }
    assert!(checked.iter().all(|checked| *checked > 0), "{checked:?}");
}
