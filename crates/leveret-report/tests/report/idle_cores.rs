//! A core that is idle while a thread should run: for how long that is the way out of an idle state, and the machine's.

use leveret_report::record::{Left, SwitchEvent, ThreadKind, TimerInterrupt};
use leveret_report::synthetic::{A, Plant, Ring, ring};
use leveret_report::verdict::{Cause, Party, Subject, verdicts};
use leveret_types::Nanos;

fn micros(value: i64) -> Nanos {
    Nanos(value * 1_000)
}

/// A thread that is held (frozen, traced) leaves its core idle. Others that look in cut that into pieces, each as short as the way out of an
/// idle state.
#[test]
fn many_short_idle_stretches_are_not_the_way_out_of_an_idle_state() {
    let judged = |idle_us: i64| {
        let plant = Plant::LateTimer { task: A, by: micros(5_000) };
        let mut record = ring(&Ring { rounds: 400, plants: vec![(200, plant)], ..Ring::default() });
        let phase = &mut record.phases[0];
        let woken = phase.tasks[A].instances[200].woken;
        let came = phase.switches.iter().position(|one| one.core == 0 && one.at >= woken - micros(1));
        let came = came.expect("A's thread comes to its core");
        let template = phase.switches[came].clone();
        // From the interrupt on an interrupt thread takes 1 us between two idle stretches of 90 us.
        let (idle, helper) = ((ThreadKind::Idle, "idle"), (ThreadKind::Kernel, "irq/9-test"));
        let to = |after: i64, from: u32, to: u32, (kind, name): (ThreadKind, &str)| SwitchEvent {
            at: template.at - micros(after),
            from,
            to,
            to_kind: kind,
            to_name: name.to_owned(),
            to_process: None,
            left: Left::Asleep,
            ..template.clone()
        };
        let pieces = (1..=idle_us / 90).rev();
        let pieces = pieces.flat_map(|n| [to(n * 91, 0, 40, helper), to(n * 91 - 1, 40, 0, idle)]);
        let pieces: Vec<SwitchEvent> = pieces.collect();
        phase.switches.splice(came..came, pieces);
        let at = template.at - micros(idle_us / 90 * 91 + 1);
        phase.timers = vec![TimerInterrupt { at, core: 0 }];
        verdicts(&record)
            .into_iter()
            .find(|miss| miss.subject == Subject::Task(A) && miss.instance == 200)
            .expect("a miss")
    };
    let miss = judged(90);
    assert_eq!((miss.cause, miss.party), (Cause::LateTimer, Party::Machine), "{miss:#?}");
    let miss = judged(4_500);
    assert!(miss.party == Party::Job && miss.unproven, "{miss:#?}");
}
