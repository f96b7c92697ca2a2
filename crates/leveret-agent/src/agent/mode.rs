//! A second set of objects beside the one that runs: planned on a thread of its own, bound, and at one instant the successor.

use super::commit::plan_message;
use super::starved::bound_of;
use super::{Agent, Running};
use crate::aside::PassedFiles;
use crate::members::HeldSegment;
use crate::monitor::{Monitor, Watched};
use crate::patience::{FINISH_WITHIN, Waiting};
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_plan::Costs;
use leveret_protocol::admission::{Refused, admit, admit_switch, kept_together, without_shots};
use leveret_protocol::assemble::Mismatch;
use leveret_protocol::control::{EndReason, ToMember};
use leveret_protocol::coordinator::Action;
use leveret_protocol::declaration::MemberDeclarations;
use leveret_protocol::mode::{ModeAnswer, unreachable};
use leveret_report::record::EventKind;
use leveret_types::{Generation, Nanos};
use std::sync::mpsc;

/// From the agreement to the switch at least: every control thread has heard of it, and every thread of the mode sleeps until its
/// first instance.
const SWITCH_LEAD: Nanos = Nanos::from_millis(100);

/// A mode from its plan to its switch.
pub(super) struct Next {
    pub(super) running: Running,
    pub(super) segments: Vec<Option<HeldSegment>>,
    threads: Vec<Vec<(u16, u32)>>,
    /// From the agreement on, with the instant of the switch.
    watched: Option<(Monitor, Nanos)>,
}

impl Next {
    /// The monitor of the mode, once the switch is agreed.
    pub(super) fn monitor(&mut self) -> Option<&mut Monitor> {
        self.watched.as_mut().map(|(monitor, _)| monitor)
    }
}

/// A plan that is being made beside the run.
pub(super) struct Planning {
    verdict: mpsc::Receiver<Result<(Running, Costs), Refused>>,
}

impl Agent<'_> {
    /// Members name one mode alike.
    fn name_of_mode(&self, names: &[String]) -> Result<String, Refused> {
        let first = names.first().cloned().unwrap_or_default();
        let other = names.iter().zip(&self.config.declaration.members).find(|(name, _)| **name != first);
        let Some((name, member)) = other else { return Ok(first) };
        let said_by = |member: &str| format!("member \"{member}\"");
        let mismatch = Mismatch::Differs {
            object: "the mode".to_owned(),
            property: "name".to_owned(),
            left_side: said_by(&self.config.declaration.members[0].name),
            left: format!("\"{first}\""),
            right_side: said_by(&member.name),
            right: format!("\"{name}\""),
        };
        Err(Refused { reason: mismatch.to_string(), mismatches: vec![mismatch] })
    }

    /// What the coordinator wants of a mode.
    pub(super) fn perform_of_mode(&mut self, action: Action) -> Vec<Action> {
        match action {
            Action::PlanMode { names, declarations } => self.plan_mode(&names, declarations),
            Action::RefuseMode { reason, cause } => {
                self.next = None;
                let mismatches = std::mem::take(&mut self.mode_mismatches);
                self.note(&format!("a mode was refused; what runs goes on: {reason}"));
                let refused = ModeAnswer::Refused { reason, cause, mismatches };
                self.broadcast(&ToMember::Mode(refused));
            }
            Action::DistributeModePeers => self.distribute_mode(),
            Action::ModeStands(generation) => {
                self.broadcast(&ToMember::Mode(ModeAnswer::Stands { generation }));
            }
            Action::Switch { generation, earliest } => return self.switch(generation, earliest),
            Action::RefuseSwitch { generation, reason, cause } => {
                let refused = ModeAnswer::SwitchRefused { generation, reason, cause };
                self.broadcast(&ToMember::Mode(refused));
            }
            Action::TakenOver(_) => self.taken_over(),
            // Performed where modes are not spoken of.
            _ => {}
        }
        Vec::new()
    }

    /// Plans the mode beside the run, without keeping the watcher from its work.
    pub(super) fn plan_mode(&mut self, names: &[String], declarations: Vec<MemberDeclarations>) {
        let (answer, verdict) = mpsc::channel();
        self.plannings.push_back(Planning { verdict });
        let label = match self.name_of_mode(names) {
            Ok(name) if name.is_empty() => format!("commit {}", self.ended.count() + 2),
            Ok(name) => name,
            Err(refused) => {
                let _ = answer.send(Err(refused));
                return;
            }
        };
        let Some(before) =
            self.running.as_ref().map(|running| (running.assembled.clone(), running.plan.clone()))
        else {
            let _ = answer.send(Err(Refused::plain("nothing runs".to_owned())));
            return;
        };
        self.measure_for(&declarations);
        let (declaration, costs) = (self.config.declaration.clone(), self.costs);
        let guard_fixed = self.config.guard_fixed;
        let unplanned = answer.clone();
        let planner = std::thread::Builder::new().name("leveret-planner".to_owned()).spawn(move || {
            // A thread has the class of the one that started it.
            let _ = scheduling::apply(Class::Other);
            let admitted = kept_together(&before.0, &declarations)
                .and_then(|()| admit(&declaration, &declarations, (costs, guard_fixed), &[]));
            let verdict = admitted.and_then(|(assembled, plan, costs)| {
                without_shots(&assembled, "a mode")?;
                let kept = admit_switch((&before.0, &before.1), (&assembled, &plan), &declarations)?;
                Ok((Running { assembled, plan, label, kept }, costs))
            });
            // Whoever asked may have ended meanwhile.
            let _ = answer.send(verdict);
        });
        if planner.is_err() {
            let _ = unplanned.send(Err(Refused::plain("a thread for planning cannot be had".to_owned())));
        }
    }

    /// Takes the verdict on the oldest plan, if it is there.
    pub(super) fn look_at_plans(&mut self) {
        while let Some(planning) = self.plannings.front() {
            let verdict = match planning.verdict.try_recv() {
                Ok(verdict) => verdict,
                Err(mpsc::TryRecvError::Empty) => return,
                Err(mpsc::TryRecvError::Disconnected) => {
                    Err(Refused::plain("the planner has failed".to_owned()))
                }
            };
            self.plannings.pop_front();
            let actions = match verdict {
                Ok((running, costs)) => {
                    let mut actions = self.coordinator.mode_planned(Ok(()));
                    if self.coordinator.mode_generation().is_some() && self.next.is_none() {
                        self.warn_of_guard(costs);
                        actions.extend(self.send_mode(running));
                    }
                    actions
                }
                Err(Refused { reason, mismatches }) => {
                    self.mode_mismatches = mismatches;
                    self.coordinator.mode_planned(Err(reason))
                }
            };
            self.act(actions);
            self.mode_mismatches.clear();
        }
    }

    fn send_mode(&mut self, running: Running) -> Vec<Action> {
        let Some(generation) = self.coordinator.mode_generation() else { return Vec::new() };
        let message = ToMember::Planned {
            generation,
            assembled: Box::new(running.assembled.clone()),
            plan: Box::new(running.plan.clone()),
            horizon: self.config.horizon,
        };
        let message = match plan_message(&message) {
            Ok(message) => message,
            Err(reason) => return self.coordinator.mode_unsent(reason),
        };
        let members = self.seats.len();
        self.next = Some(Next {
            running,
            segments: (0..members).map(|_| None).collect(),
            threads: vec![Vec::new(); members],
            watched: None,
        });
        self.send_to(0..members, &message);
        Vec::new()
    }

    pub(super) fn distribute_mode(&mut self) {
        let (Some(generation), Some(next)) = (self.coordinator.mode_generation(), self.next.take()) else {
            return;
        };
        let segments: Vec<_> = next.segments.iter().map(Option::as_ref).collect();
        let failed = self.distribute_segments(&next.running, generation, &segments, |_| true);
        drop(segments);
        self.next = Some(next);
        for (rank, error) in failed {
            self.expel(rank, &error);
        }
    }

    /// As for what runs, if the generation is that of the mode; what belongs to a mode that was refused is passed over.
    pub(super) fn take_mode_segment(
        &mut self,
        rank: usize,
        (generation, size): (Generation, u64),
        files: PassedFiles,
    ) -> Result<(), String> {
        if self.coordinator.mode_generation() != Some(generation) {
            return Ok(());
        }
        let Some(next) = &mut self.next else { return Ok(()) };
        next.segments[rank] = Some(next.running.verified(rank, generation, size, files)?);
        Ok(())
    }

    pub(super) fn take_mode_ready(
        &mut self,
        rank: usize,
        generation: Generation,
        threads: &[(u16, u32)],
    ) -> Result<(), String> {
        if self.coordinator.mode_generation() != Some(generation) {
            return Ok(());
        }
        let Some(next) = &self.next else { return Ok(()) };
        next.running.owns(rank, threads)?;
        let threads = self.known_threads(rank, threads)?;
        if let Some(next) = &mut self.next {
            next.threads[rank] = threads;
        }
        Ok(())
    }

    /// Chooses the instant, begins to watch the mode, and tells everybody.
    pub(super) fn switch(&mut self, generation: Generation, earliest: Option<Nanos>) -> Vec<Action> {
        let now = clock::now();
        let (Some(monitor), Some(next)) = (&self.monitor, &self.next) else {
            return self.coordinator.switch_impossible("there is nothing to switch to".to_owned());
        };
        if let Some(reason) = unreachable(earliest, now) {
            return self.coordinator.switch_impossible(reason);
        }
        let at = earliest.unwrap_or(now).max(now + SWITCH_LEAD);
        let Some(instant) = monitor.switch_instant(at, self.config.horizon) else {
            let reason = "what runs ends before the switch could take place".to_owned();
            return self.coordinator.switch_impossible(reason);
        };
        let cores = next.running.cores();
        let segments = next.segments.iter().map(Option::as_ref).collect();
        let (watched, warnings) = Monitor::start(Watched {
            label: next.running.label.clone(),
            assembled: &next.running.assembled,
            plan: &next.running.plan,
            epoch: instant,
            segments: next.running.attached(generation, segments),
            threads: next.threads.iter().flatten().copied().collect(),
            stopped: self.stopped(|_| true),
            aside: true,
            before: monitor.instances_before(instant, &next.running.assembled.job, &next.running.kept),
            families: &self.families,
            limit: self.record_left(),
            is_saved: self.journal.is_some(),
        });
        if let (Some(monitor), Some(next)) = (&mut self.monitor, &mut self.next) {
            monitor.give_way(instant);
            next.watched = Some((watched, instant));
        }
        self.share_record();
        self.broadcast(&ToMember::Mode(ModeAnswer::SwitchAt { generation, instant }));
        self.keep_awake(&cores);
        let horizon = self
            .next
            .as_ref()
            .map_or(Nanos::MAX, |next| instant + self.config.horizon.span(next.running.plan.hyperperiod));
        self.patience.started(horizon);
        self.warn(warnings);
        Vec::new()
    }

    /// A stop at `instant` or, where a mode takes over before, at a boundary of that.
    pub(super) fn stop_of_next(&mut self, instant: Nanos, at: Nanos) -> Nanos {
        match self.next.as_mut().and_then(|next| next.watched.as_mut()) {
            Some((monitor, switch)) if instant >= *switch => monitor.stop_instant(at.max(*switch)),
            _ => instant,
        }
    }

    /// The mode is what runs; what ran before has left its last stamps.
    pub(super) fn taken_over(&mut self) {
        let Some(next) = self.next.take() else { return };
        self.record_phase(&EndReason::Completed);
        for (seat, (segment, threads)) in
            self.seats.iter_mut().zip(next.segments.into_iter().zip(next.threads))
        {
            seat.segment = segment;
            seat.threads = threads;
        }
        let hyperperiod = next.running.plan.hyperperiod;
        (self.tell)(crate::News::Started {
            label: &next.running.label,
            rounds: super::phase::rounds_of(self.config.horizon, hyperperiod),
            hyperperiod,
            has_table: next.running.assembled.job.has_time_table(),
            cores: &next.running.plan.cores,
        });
        self.running = Some(next.running);
        self.monitor = next.watched.map(|(monitor, _)| monitor);
    }

    /// What happens before a switch that is agreed on matters to the mode too.
    pub(super) fn event_of_next(&mut self, at: Nanos, kind: &EventKind) {
        if let Some((monitor, _)) = self.next.as_mut().and_then(|next| next.watched.as_mut()) {
            monitor.event(at, kind.clone());
        }
    }

    /// Members that stand still now, and since when, of those that are asked for.
    pub(super) fn stopped(&self, is_asked: impl Fn(usize) -> bool) -> Vec<(u16, Nanos)> {
        let seats = self.seats.iter().enumerate().filter(|(rank, _)| is_asked(*rank));
        seats.filter_map(|(rank, seat)| Some((rank as u16, seat.stopped?))).collect()
    }

    pub(super) fn drain_next(&mut self) {
        if let Some((monitor, _)) = self.next.as_mut().and_then(|next| next.watched.as_mut()) {
            monitor.drain();
        }
    }

    /// Names members that keep a mode waiting, and refuses it in the end: what runs goes on.
    pub(super) fn lose_patience_with_mode(&mut self, now: Nanos) {
        let missing = self.coordinator.awaited_for_mode();
        let setting_up = self.coordinator.is_setting_up_mode();
        let bound: Vec<_> =
            missing.iter().map(|member| (*member, self.allowed(setting_up, *member, now))).collect();
        match self.mode_patience.committing_some(&missing, &bound, now) {
            Waiting::Quiet => {}
            Waiting::Told(waited) => {
                let (names, waited) = (self.named(&missing), waited.0 / 1_000_000_000);
                self.note(&format!("waiting for {names} to change the mode: the others wait for {waited} s"));
            }
            Waiting::Over(over) => {
                let names = self.named(&over);
                let actions = self.coordinator.mode_overdue(&names);
                self.act(actions);
            }
        }
    }
    /// A switch that is agreed on cannot be refused any more: who is neither in the mode nor at its end some time after the instant
    /// keeps all others in it from uncommitting, and is ended.
    pub(super) fn lose_patience_with_switch(&mut self, now: Nanos) {
        let watched = self.next.as_ref().and_then(|next| next.watched.as_ref());
        let instant = watched.map(|(_, instant)| *instant).filter(|instant| now > *instant);
        // Before the instant, and where there is none, nobody is late; that is said too, or else it would count for the next switch.
        let late = instant.map_or_else(Vec::new, |_| self.coordinator.awaited_in_mode());
        let processes = self.processes_of(&late);
        let due = instant.unwrap_or(Nanos::MAX);
        for member in self.switch_lateness.over(due, &processes, now) {
            let reason =
                format!("it did not change the mode within {FINISH_WITHIN} of the instant agreed on");
            self.expel(member.index(), &reason);
        }
        let starved = self.switch_lateness.starved();
        let bound = bound_of(&starved);
        self.name_holders(starved, "should have changed the mode", now);
        if let Waiting::Told(waited) = self.switch_patience.committing(&late, Nanos::MAX, now) {
            let (names, waited) = (self.named(&late), waited.0 / 1_000_000_000);
            self.note(&format!("{names} should have changed the mode {waited} s ago; {bound}"));
        }
    }
}
