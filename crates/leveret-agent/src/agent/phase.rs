//! One commit while it runs: the epoch is set, the watcher looks, everybody stops at one instant.

use super::{Agent, Running, TICK};
use crate::News;
use crate::awake::KeptAwake;
use crate::ended::is_whole;
use crate::monitor::{Monitor, Watched};
use crate::tick::{Placed, Ticks};
use leveret_os::clock;
use leveret_plan::InstancesBefore;
use leveret_protocol::assemble::{Assembled, Shot};
use leveret_protocol::control::{EndReason, Horizon, ToMember};
use leveret_protocol::coordinator::Action;
use leveret_report::record::{Ending, EventKind};
use leveret_types::Nanos;

/// From `Go` to the epoch: long enough for every thread to be asleep by then.
pub(super) const LEAD: Nanos = Nanos::from_millis(60);
/// From the order to uncommit to its instant at least: long enough for every control thread to have heard of it.
pub(super) const UNCOMMIT_LEAD: Nanos = Nanos::from_millis(40);
/// An end that lies further ahead is told.
const FAR_AHEAD: Nanos = Nanos::from_secs(2);
/// An agent that does not look for so long was kept from it.
const KEPT_FROM_RUNNING: Nanos = Nanos::from_millis(200);
/// Progress is told this often.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(200);

impl Agent<'_> {
    pub(super) fn start(&mut self) -> Vec<Action> {
        let Some(running) = &self.running else { return Vec::new() };
        let cores = running.cores();
        let ticks = self.ticks.clone().unwrap_or_default();
        let placed = match epoch_of(running, &ticks, self.config.horizon, clock::now()) {
            Ok(placed) => placed,
            Err(reason) => return self.coordinator.cannot_start(reason),
        };
        let (epoch, remark) = (placed.epoch, placed.remark(&ticks));
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
            stopped: self.stopped(|_| true),
            aside: false,
            before: InstancesBefore::default(),
            families: &self.families,
            limit: self.record_left(),
            is_saved: self.journal.is_some(),
        });
        (self.tell)(News::Started {
            label: &running.label,
            rounds: rounds_of(self.config.horizon, running.plan.hyperperiod),
            hyperperiod: running.plan.hyperperiod,
            has_table: running.assembled.job.has_time_table(),
            cores: &running.plan.cores,
        });
        self.facts.switch_log_whole_core = monitor.whole_core();
        self.monitor = Some(monitor);
        self.patience.started(epoch + self.config.horizon.span(running.plan.hyperperiod));
        self.share_record();
        self.broadcast(&ToMember::Go { generation, epoch });
        self.warn(warnings);
        if let Some(remark) = remark {
            self.note(&remark);
        }
        self.keep_awake(&cores);
        Vec::new()
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
        // The first cause of an end stands.
        if let (Ending::Completed, EndReason::Stopped(why)) = (&self.ending, &reason) {
            self.ending = Ending::Stopped(why.clone());
        }
        let ahead = instant - clock::now();
        if ahead > FAR_AHEAD {
            let ahead = ahead.0 / 1_000_000_000;
            self.note(&format!(
                "uncommitting at the end of the round, in {ahead} s; Ctrl-C ends it within a second"
            ));
        }
        if reason == EndReason::Completed {
            self.patience.uncommits_at(instant);
        } else {
            self.patience.ends_by(instant);
        }
        self.broadcast(&ToMember::StopAt { generation, instant, reason });
    }

    pub(super) fn on_tick(&mut self, now: Nanos) {
        // Else the loop is woken for them.
        if self.changes.is_none() {
            self.on_changes();
        }
        let since = now - self.last_tick;
        if since > KEPT_FROM_RUNNING {
            self.hold(since);
        }
        self.last_tick = now;
        self.families.look();
        self.strangers.lose_patience(now);
        self.lose_patience(now);
        self.look_at_plans();
        self.lose_patience_with_mode(now);
        self.lose_patience_with_switch(now);
        self.lose_patience_with_leaving(now);
        self.tick_groups(now);
        self.drain_next();
        if let Some(monitor) = &mut self.monitor {
            monitor.drain();
            let unreturned = monitor.unreturned(clock::now());
            let threadless = monitor.threadless(self.patience.end(), clock::now());
            self.warn(unreturned);
            self.end_threadless(threadless);
        }
        self.save(now);
        let Some(monitor) = &mut self.monitor else { return };
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

    /// Nobody's time is up for what the agent has not seen.
    fn hold(&mut self, lost: Nanos) {
        self.patience.hold(lost);
        self.mode_patience.hold(lost);
        self.presence_lateness.hold(lost);
        self.commit_lateness.hold(lost);
        self.switch_lateness.hold(lost);
        self.finish_lateness.hold(lost);
        self.groups.hold(lost);
    }

    /// Nothing runs any more.
    pub(super) fn close_phase(&mut self, reason: &EndReason) {
        self.awake = KeptAwake::default();
        self.record_phase(reason);
    }

    /// What ran has ended, whether or not anything follows at once.
    pub(super) fn record_phase(&mut self, reason: &EndReason) {
        if let Some(monitor) = self.monitor.take() {
            let planned_end = self.patience.planned_end();
            self.close(monitor, reason, planned_end);
        }
    }

    /// The same of any commit, which was to end then.
    pub(super) fn close(&mut self, mut monitor: Monitor, reason: &EndReason, planned_end: Nanos) {
        if let EndReason::PeerRestarted(member) = reason {
            monitor.event(clock::now(), EventKind::MemberRestarted { member: member.0 });
        }
        let (phase, number, notes) = monitor.finish(
            self.config.horizon,
            clock::now(),
            self.journal.as_mut(),
            &self.config.limit_setting(),
        );
        let outstayed = |name: &str| {
            let rank = self.config.launch.iter().position(|launch| launch.member == name);
            rank.is_some_and(|rank| self.seats[rank].outstayed)
        };
        let is_whole = is_whole(&phase, planned_end, clock::now(), outstayed);
        self.is_cut |= *reason != EndReason::Completed && !is_whole;
        self.ended.push(phase, number);
        self.share_record();
        self.warn(notes);
    }
}

/// When the periods begin: where single shots have their places in the table at their times, else where the kernel's tick meets as few starts as can be.
fn epoch_of(running: &Running, ticks: &Ticks, horizon: Horizon, now: Nanos) -> Result<Placed, String> {
    let earliest = with_shots(&running.assembled, running.plan.hyperperiod, horizon, now)?;
    // Single shots are bound to their instants.
    let ticks = if running.assembled.shots.is_empty() { ticks } else { &Ticks::default() };
    Ok(ticks.epoch(&running.plan, earliest))
}

/// The first instant at which the periods can begin, such that single shots have their places in the table at their times.
fn with_shots(assembled: &Assembled, round: Nanos, horizon: Horizon, now: Nanos) -> Result<Nanos, String> {
    let words = |shot: &Shot| {
        let channel = &assembled.job.channels[shot.channel.index()];
        let [start, deadline] = shot.window;
        let (name, group) = (&channel.name, &channel.group);
        format!("channel \"{name}\" of group \"{group}\" is a single shot from {start} to {deadline}")
    };
    let epoch = assembled.epoch(now + LEAD, round).map_err(|shot| {
        format!(
            "{}, but it is {now} already and nothing can begin before {}; name a start that lies further ahead",
            words(shot),
            now + LEAD
        )
    })?;
    let end = epoch + horizon.span(round);
    match assembled.shots.iter().find(|shot| shot.until > end) {
        Some(shot) => Err(format!("{}, but the run ends at {end}; let it run longer", words(shot))),
        None => Ok(epoch),
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

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_plan::{Channel, Costs, Job, MissingPolicy, Placement, Qos};
    use leveret_types::{ByteSize, ChannelId, MemberId};

    const ROUND: Nanos = Nanos::from_millis(10);

    /// A shot 500 ms after the clock's base.
    fn shot() -> Assembled {
        let [start, deadline] = [500, 503].map(Nanos::from_millis);
        let channel = Channel {
            name: "once".to_owned(),
            group: "world".to_owned(),
            source: MemberId(0),
            target: MemberId(0),
            size: ByteSize(8),
            buffers: 2,
            placement: Placement::Separate,
            qos: Qos::TimeDriven {
                period: ROUND,
                release: Nanos::ZERO,
                deadline: deadline - start,
                missing: MissingPolicy::Skip,
            },
        };
        let job = Job {
            name: "job".to_owned(),
            cores: vec![0],
            members: Vec::new(),
            tasks: Vec::new(),
            channels: vec![channel],
            sporadics: Vec::new(),
            costs: Costs::default(),
        };
        let until = deadline + Nanos::from_millis(5);
        let shots = vec![Shot { channel: ChannelId(0), window: [start, deadline], at: start, until }];
        Assembled { job, bindings: Vec::new(), events: Vec::new(), shots }
    }

    // spec: QOS-TIME-START-03
    #[test]
    fn a_shot_that_cannot_be_met_is_refused_with_its_instants() {
        let epoch = |now, horizon| with_shots(&shot(), ROUND, horizon, Nanos::from_millis(now));
        assert_eq!(epoch(123, Horizon::Unbounded), Ok(Nanos::from_millis(190)), "the next that fits");
        assert_eq!(epoch(440, Horizon::Unbounded), Ok(Nanos::from_millis(500)));
        for now in [441, 502, 600] {
            let reason = epoch(now, Horizon::Unbounded).expect_err("too late");
            assert!(
                reason.contains("channel \"once\" of group \"world\" is a single shot from 500ms to 503ms")
            );
            assert!(reason.contains(&format!("it is {now}ms already")), "{reason}");
        }
        assert_eq!(epoch(440, Horizon::Rounds(1)), Ok(Nanos::from_millis(500)));
        let reason = epoch(123, Horizon::Rounds(31)).expect_err("the run ends before");
        assert!(
            reason.contains("from 500ms to 503ms") && reason.contains("the run ends at 500ms"),
            "{reason}"
        );
    }
}
