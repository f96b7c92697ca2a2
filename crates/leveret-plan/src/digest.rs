//! A stable digest of a job, so that a plan can be tied to the one job it was made for.

use crate::{
    Channel, CoreChoice, Costs, Job, MissingPolicy, OverrunPolicy, Placement, Qos, Sporadic, Start, Task,
};
use leveret_types::Nanos;

/// Digest of every declaration in the job: FNV-1a, 64 bits (Fowler, Noll and Vo; RFC 9923), over a canonical
/// encoding in which every text and list carries its length, so no two jobs share an encoding.
///
/// It guards against mistakes, not against an adversary.
pub fn digest(job: &Job) -> u64 {
    let mut encoder = Encoder(0xcbf2_9ce4_8422_2325);
    encoder.text("leveret job 3");
    encoder.text(&job.name);
    encoder.list(&job.cores, |encoder, core| encoder.number(u64::from(*core)));
    encoder.list(&job.members, |encoder, member| encoder.text(&member.name));
    encoder.list(&job.tasks, Encoder::task);
    encoder.list(&job.channels, Encoder::channel);
    encoder.list(&job.sporadics, Encoder::sporadic);
    encoder.costs(&job.costs);
    encoder.0
}

struct Encoder(u64);

impl Encoder {
    fn number(&mut self, value: u64) {
        for byte in value.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn time(&mut self, value: Nanos) {
        self.number(value.0.cast_unsigned());
    }

    fn text(&mut self, text: &str) {
        self.list(text.as_bytes(), |encoder, byte| encoder.number(u64::from(*byte)));
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            each(self, item);
        }
    }

    fn task(&mut self, task: &Task) {
        self.text(&task.name);
        self.number(u64::from(task.member.0));
        for value in [task.period, task.release, task.deadline, task.budget] {
            self.time(value);
        }
        self.core(task.core);
        self.number(u64::from(task.preemptible));
        self.number(match task.overrun {
            OverrunPolicy::Skip => 0,
            OverrunPolicy::Late => 1,
            OverrunPolicy::Stop => 2,
        });
        for ends in [&task.reads, &task.writes] {
            self.list(ends, |encoder, channel| encoder.number(u64::from(channel.0)));
        }
        self.number(u64::from(task.mover));
    }

    fn channel(&mut self, channel: &Channel) {
        self.text(&channel.name);
        self.text(&channel.group);
        self.number(u64::from(channel.source.0));
        self.number(u64::from(channel.target.0));
        self.number(channel.size.0);
        self.number(u64::from(channel.buffers));
        self.number(match channel.placement {
            Placement::Separate => 0,
            Placement::Aliased => 1,
        });
        match &channel.qos {
            Qos::BestEffort => self.number(0),
            Qos::TimeDriven { period, release, deadline, missing } => {
                self.number(1);
                for value in [period, release, deadline] {
                    self.time(*value);
                }
                self.number(match missing {
                    MissingPolicy::Skip => 0,
                    MissingPolicy::HoldLast => 1,
                    MissingPolicy::Stop => 2,
                });
            }
            Qos::PriorityDriven { priority, interval, deadline } => {
                self.number(2);
                self.service(*priority, [*interval, *deadline]);
            }
            Qos::EventDriven { start, completion, priority, interval, deadline } => {
                self.number(3);
                for event in [start, completion] {
                    self.list(event.as_slice(), |encoder, name| encoder.text(name));
                }
                self.service(*priority, [*interval, *deadline]);
            }
        }
    }

    fn core(&mut self, core: CoreChoice) {
        self.number(match core {
            CoreChoice::Any => 0,
            CoreChoice::Pinned(core) => 1 + u64::from(core),
        });
    }

    fn service(&mut self, priority: u8, times: [Option<Nanos>; 2]) {
        self.number(u64::from(priority));
        for time in times {
            self.list(time.as_slice(), |encoder, time| encoder.time(*time));
        }
    }

    fn sporadic(&mut self, sporadic: &Sporadic) {
        self.text(&sporadic.name);
        self.number(u64::from(sporadic.member.0));
        match &sporadic.start {
            Start::Message(channel) => self.list(&[*channel], |encoder, id| encoder.number(u64::from(id.0))),
            Start::Request(channel) => {
                self.text("request");
                self.number(u64::from(channel.0));
            }
            Start::Event { group, name } => self.list(&[group, name], |encoder, text| encoder.text(text)),
        }
        self.service(sporadic.priority, [sporadic.interval, sporadic.deadline]);
        self.time(sporadic.budget);
        self.core(sporadic.core);
    }

    fn costs(&mut self, costs: &Costs) {
        let Costs { guard, switch, preemption, publish, copy_per_kib, clock_error, utilisation_permille } =
            *costs;
        for value in [guard, switch, preemption, publish, copy_per_kib, clock_error] {
            self.time(value);
        }
        self.number(u64::from(utilisation_permille));
    }
}
