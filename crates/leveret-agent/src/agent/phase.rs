//! One commit while it runs: the epoch is set, the watcher looks, everybody stops at one instant.

use super::{Agent, TICK};
use crate::News;
use crate::awake::KeptAwake;
use crate::monitor::{Monitor, Watched};
use leveret_os::clock;
use leveret_protocol::control::{EndReason, Horizon, ToMember};
use leveret_report::record::{Ending, EventKind};
use leveret_types::Nanos;

/// From `Go` to the epoch: long enough for every thread to be asleep by then.
pub(super) const LEAD: Nanos = Nanos::from_millis(60);
/// From the order to uncommit to its instant at least: long enough for every control thread to have heard of it.
pub(super) const UNCOMMIT_LEAD: Nanos = Nanos::from_millis(40);
/// Progress is told this often.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(200);

impl Agent<'_> {
    pub(super) fn start(&mut self) {
        let Some(running) = &self.running else { return };
        let cores = running.cores();
        let epoch = clock::now() + LEAD;
        let generation = self.coordinator.generation();
        let segments = self.seats.iter().map(|seat| seat.segment.as_ref()).collect();
        let segments = running.attached(generation, segments);
        let threads = self.seats.iter().flat_map(|seat| seat.threads.iter().copied()).collect();
        let (monitor, warnings) = Monitor::start(Watched {
            label: running.label.clone(),
            assembled: &running.assembled,
            plan: &running.plan,
            epoch,
            segments,
            threads,
            aside: false,
            socket: self.listener.path(),
        });
        (self.tell)(News::Started {
            label: &running.label,
            rounds: rounds_of(self.config.horizon, running.plan.hyperperiod),
            hyperperiod: running.plan.hyperperiod,
            cores: &running.plan.cores,
        });
        self.facts.switch_log_whole_core = monitor.whole_core();
        self.monitor = Some(monitor);
        self.patience.started(epoch + self.config.horizon.span(running.plan.hyperperiod));
        self.broadcast(&ToMember::Go { generation, epoch });
        self.warn(warnings);
        self.keep_awake(&cores);
    }

    /// All stop at the same round, so that nothing is sent that nobody takes. Members that uncommit wait for the end of
    /// their round however long it is; whoever stops a run does not.
    pub(super) fn stop_all(&mut self, reason: EndReason) {
        let Some(monitor) = &mut self.monitor else { return };
        let generation = self.coordinator.generation();
        let instant = match reason {
            EndReason::Completed => monitor.uncommit_instant(clock::now() + UNCOMMIT_LEAD),
            _ => {
                let at = clock::now() + Nanos(TICK.as_nanos() as i64);
                let instant = monitor.stop_instant(at);
                self.stop_of_next(instant, at)
            }
        };
        if let EndReason::Stopped(why) = &reason {
            self.ending = Ending::Stopped(why.clone());
        }
        self.patience.ends_by(instant);
        self.broadcast(&ToMember::StopAt { generation, instant, reason });
    }

    pub(super) fn on_tick(&mut self, now: Nanos) {
        self.on_changes();
        self.last_tick = now;
        self.strangers.lose_patience(now);
        self.lose_patience(now);
        self.look_at_plans();
        self.lose_patience_with_mode(now);
        self.tick_groups(now);
        self.drain_next();
        let Some(monitor) = &mut self.monitor else { return };
        monitor.drain();
        if now - self.last_progress >= PROGRESS_EVERY {
            self.last_progress = now;
            let hyperperiod = self.running.as_ref().map_or(Nanos::ZERO, |running| running.plan.hyperperiod);
            let rounds_total = rounds_of(self.config.horizon, hyperperiod);
            let rounds = monitor.rounds(now).min(rounds_total.unwrap_or(u64::MAX));
            let news =
                News::Progress { label: monitor.label(), rounds, rounds_total, misses: monitor.misses };
            (self.tell)(news);
        }
    }

    /// Nothing runs any more.
    pub(super) fn close_phase(&mut self, reason: &EndReason) {
        self.awake = KeptAwake::default();
        self.record_phase(reason);
    }

    /// What ran has ended, whether or not anything follows at once.
    pub(super) fn record_phase(&mut self, reason: &EndReason) {
        if let Some(monitor) = self.monitor.take() {
            self.close(monitor, reason);
        }
    }

    /// The same of any commit.
    pub(super) fn close(&mut self, monitor: Monitor, reason: &EndReason) {
        let (mut phase, alone, notes) = monitor.finish(self.config.horizon, clock::now());
        if let EndReason::PeerRestarted(member) = reason {
            let at = clock::now() - phase.epoch_monotonic;
            phase.events.push(leveret_report::record::Event {
                at,
                kind: EventKind::MemberRestarted { member: member.0 },
            });
        }
        self.phases.push(phase);
        if self.alone.lateness_ns.is_empty() {
            self.alone = alone;
        } else {
            self.alone.lateness_ns.extend(alone.lateness_ns);
        }
        self.warn(notes);
    }
}

/// How many rounds a commit will run, if that is known; the last may be partial.
pub(super) fn rounds_of(horizon: Horizon, hyperperiod: Nanos) -> Option<u64> {
    match horizon {
        Horizon::Rounds(rounds) => Some(rounds),
        Horizon::Duration(duration) => {
            Some(duration.0.max(0).unsigned_abs().div_ceil(hyperperiod.0.max(1).unsigned_abs()))
        }
        Horizon::Unbounded => None,
    }
}
