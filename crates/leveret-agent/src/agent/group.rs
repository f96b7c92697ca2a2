//! Commits of groups: members that commit by themselves, beside others that do, each group with its table, epoch and record.
//!
//! A member is in one commit at a time, so what is kept of it (segment, threads) is of that one. A group's coordinator lives for one
//! commit, or for one attempt: whoever declares after a refusal begins anew.
//!
//! ```text
//!  clock        0 ....... k * 10 ms                      m * 4 ms
//!  group A, B             |== epoch, rounds of 10 ms ==...            epochs are multiples of the rounds on one clock, so two tables
//!  group C, D                                            |== epoch, rounds of 4 ms ==...      that were planned apart stay apart
//! ```

use super::commit::plan_message;
use super::ending::overdue;
use super::phase::{LEAD, UNCOMMIT_LEAD, rounds_of};
use super::{Agent, Running, TICK};
use crate::News;
use crate::aside::PassedFiles;
use crate::awake::KeptAwake;
use crate::lateness::Lateness;
use crate::monitor::{Monitor, Watched};
use crate::patience::{Patience, Waiting};
use leveret_os::clock;
use leveret_os::scheduling::{self, Class};
use leveret_plan::{Costs, InstancesBefore, Job, Kept, Other, Plan};
use leveret_protocol::admission::{Refused, admit, without_shots};
use leveret_protocol::assemble::Mismatch;
use leveret_protocol::control::{EndReason, FromMember, RefusalCause, ToMember, encode};
use leveret_protocol::coordinator::{Action, Coordinator, Stage};
use leveret_protocol::declaration::{JobDeclaration, MemberDeclarations};
use leveret_protocol::group::{LAST_BEFORE_GROUPS, beyond_group, of_group};
use leveret_protocol::mode::ModeAnswer;
use leveret_report::record::{Ending, EventKind};
use leveret_types::{Generation, MemberId, Nanos};
use std::sync::mpsc;

/// Names of more members than these are not listed.
const MEMBERS_NAMED: usize = 8;

/// A commit of a group, or an attempt at one.
pub(super) struct Group {
    number: u32,
    /// Who takes part, in the order of rank.
    members: Vec<MemberId>,
    name: String,
    /// Those of them that have declared: who waits for an answer, or runs.
    joined: Vec<MemberId>,
    coordinator: Coordinator,
    /// What waits to be planned.
    request: Option<Vec<MemberDeclarations>>,
    running: Option<Running>,
    monitor: Option<Monitor>,
    mismatches: Vec<Mismatch>,
    patience: Patience,
    /// Who is not yet at its end.
    lateness: Lateness,
}

/// Members that the others of a group wait for.
struct GroupWait {
    /// Of the group.
    members: Vec<MemberId>,
    missing: Vec<MemberId>,
    waiting: Waiting,
    uncommitting: bool,
    setting_up: bool,
}

/// A plan that is being made beside what runs.
struct Planning {
    /// Of the group.
    number: u32,
    verdict: mpsc::Receiver<Result<(Running, Costs), Refused>>,
}

/// Every commit of a group that is made or runs.
#[derive(Default)]
pub(super) struct Groups {
    all: Vec<Group>,
    planning: Option<Planning>,
    /// How many there were.
    begun: u32,
    /// Which was the last attempt, if it was refused, and why.
    pub(super) refusal: Option<String>,
}

impl Groups {
    /// Nobody's time is up for what the agent has not seen.
    pub(super) fn hold(&mut self, lost: Nanos) {
        for group in &mut self.all {
            group.patience.hold(lost);
            group.lateness.hold(lost);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// What watches the groups that run.
    pub(super) fn monitors(&mut self) -> impl Iterator<Item = &mut Monitor> {
        self.all.iter_mut().filter_map(|group| group.monitor.as_mut())
    }

    /// Whether any member has ever committed with a group.
    pub(super) fn are_used(&self) -> bool {
        self.begun > 0
    }

    /// What came of a group's commit that was refused, if none has succeeded since.
    pub(super) fn after_refusal(&self, what: String) -> String {
        match &self.refusal {
            Some(refusal) => format!("{what}; before that {refusal}"),
            None => what,
        }
    }

    /// The group with which a member commits or has committed.
    fn of(&self, rank: usize) -> Option<usize> {
        let member = MemberId(rank as u16);
        self.all.iter().position(|group| group.joined.contains(&member))
    }

    pub(super) fn has(&self, member: MemberId) -> bool {
        self.of(member.index()).is_some()
    }

    /// Who commits with whom. What is done for one group can end it, so others are found by their members.
    fn keys(&self) -> Vec<Vec<MemberId>> {
        self.all.iter().map(|group| group.members.clone()).collect()
    }

    fn place(&self, members: &[MemberId]) -> Option<usize> {
        self.all.iter().position(|group| group.members == members)
    }
}

/// What a member says of a commit that is no longer made; of a group's, it may have crossed the refusal.
fn generation_of(message: &FromMember) -> Option<Generation> {
    match message {
        FromMember::Segment { generation, .. }
        | FromMember::Ready { generation, .. }
        | FromMember::Withdraw { generation, .. } => Some(*generation),
        _ => None,
    }
}

impl Agent<'_> {
    /// Takes a message that is about a group's commit; gives back any other.
    pub(super) fn take_group_message(
        &mut self,
        rank: usize,
        message: FromMember,
        files: PassedFiles,
    ) -> Option<(FromMember, PassedFiles)> {
        match (message, self.groups.of(rank)) {
            (FromMember::DeclareGroup { members, declarations }, None) => {
                if let Err(reason) = self.declare_group(rank, members, declarations) {
                    self.expel(rank, &reason);
                }
            }
            (message, None) => {
                let is_of_group = |generation: Generation| generation > LAST_BEFORE_GROUPS;
                if !generation_of(&message).is_some_and(is_of_group) {
                    return Some((message, files));
                }
            }
            (message, Some(place)) => {
                if let Err(reason) = self.group_message(place, rank, message, files) {
                    self.expel(rank, &reason);
                }
            }
        }
        None
    }

    /// A member commits with others. `Err`: no honest member does that.
    fn declare_group(
        &mut self,
        rank: usize,
        mut members: Vec<MemberId>,
        declarations: MemberDeclarations,
    ) -> Result<(), String> {
        let member = MemberId(rank as u16);
        members.sort_unstable();
        members.dedup();
        let is_known = members.last().is_some_and(|last| last.index() < self.seats.len());
        if !members.contains(&member) || !is_known {
            return Err("it commits for a group that it is not in, or that is none".to_owned());
        }
        if self.coordinator.is_committing(member) || self.seats[rank].leaving {
            return Err("it commits twice at once, or after its end".to_owned());
        }
        let place = match self.groups.place(&members) {
            Some(place) if self.groups.all[place].coordinator.stage() == Stage::Gathering => place,
            // It was started again while the others end.
            Some(_) => {
                let reason = "the group has a commit that ends without this member; try again";
                self.refuse_one(rank, reason, RefusalCause::PeerLost);
                return Ok(());
            }
            None => match last_generation(self.groups.begun) {
                Some(last) => self.begin_group(members, last),
                None => {
                    let reason =
                        "there have been as many commits of groups as there can be; start the job again";
                    self.refuse_one(rank, reason, RefusalCause::Over);
                    return Ok(());
                }
            },
        };
        let group = &mut self.groups.all[place];
        group.joined.push(member);
        let actions = group.coordinator.declared(member, declarations);
        self.act_for_group(place, actions);
        Ok(())
    }

    /// Refuses what one member asks for alone.
    fn refuse_one(&mut self, rank: usize, reason: &str, cause: RefusalCause) {
        let (reason, mismatches) = (reason.to_owned(), Vec::new());
        self.send_to([rank], &encode(&ToMember::GroupRefused { reason, cause, mismatches }));
    }

    fn begin_group(&mut self, members: Vec<MemberId>, last: Generation) -> usize {
        let names: Vec<String> =
            self.config.declaration.members.iter().map(|member| member.name.clone()).collect();
        let listed: Vec<&str> =
            members.iter().take(MEMBERS_NAMED).map(|member| names[member.index()].as_str()).collect();
        let more = if members.len() > MEMBERS_NAMED { " and more" } else { "" };
        let name = format!("the group of {}{more}", listed.join(", "));
        self.groups.begun += 1;
        let mut coordinator =
            Coordinator::new(self.seats.len(), self.config.policy).with_names(names).of_group(&members, last);
        for (rank, seat) in self.seats.iter().enumerate() {
            let member = MemberId(rank as u16);
            if seat.leaving || !self.coordinator.is_alive(member) {
                coordinator.lacks(member, seat.leaving);
            }
        }
        if let Some(reason) = self.coordinator.over() {
            coordinator.end_of_job(reason.to_owned());
        }
        self.groups.all.push(Group {
            number: self.groups.begun,
            members,
            name,
            joined: Vec::new(),
            coordinator,
            request: None,
            running: None,
            monitor: None,
            mismatches: Vec::new(),
            patience: Patience::new(self.seats.len()),
            lateness: Lateness::default(),
        });
        self.groups.all.len() - 1
    }

    fn group_message(
        &mut self,
        place: usize,
        rank: usize,
        message: FromMember,
        files: PassedFiles,
    ) -> Result<(), String> {
        let group = &mut self.groups.all[place];
        let is_now = |generation: &Generation| *generation == group.coordinator.generation();
        match &message {
            FromMember::Segment { generation, size } if is_now(generation) => {
                let running = group.running.as_ref().ok_or("a segment without a plan")?;
                self.seats[rank].segment = Some(running.verified(rank, *generation, *size, files)?);
            }
            FromMember::Ready { generation, threads, scheduling, warnings } if is_now(generation) => {
                group.running.as_ref().ok_or("ready without a plan")?.owns(rank, threads)?;
                self.seats[rank].threads = self.known_threads(rank, threads)?;
                self.take_scheduling(rank, scheduling);
                self.warn_of(rank, warnings);
            }
            FromMember::Declare { .. } | FromMember::DeclareGroup { .. } | FromMember::Leave => {
                return Err("it commits or ends while it is in a group's commit".to_owned());
            }
            _ => {}
        }
        let actions = self.groups.all[place].coordinator.message(MemberId(rank as u16), message);
        self.act_for_group(place, actions);
        Ok(())
    }

    /// Does what a group's coordinator wants. What is over is gone afterwards, so places of others may have changed.
    fn act_for_group(&mut self, place: usize, actions: Vec<Action>) {
        let mut queue = std::collections::VecDeque::from(actions);
        let mut is_over = false;
        while let Some(action) = queue.pop_front() {
            is_over |= matches!(action, Action::Refuse { .. } | Action::Uncommitted(_) | Action::JobEnded);
            queue.extend(self.perform_for_group(place, action));
        }
        if is_over {
            self.groups.all.remove(place);
            self.end_if_over();
        }
    }

    fn perform_for_group(&mut self, place: usize, action: Action) -> Vec<Action> {
        match action {
            Action::Plan(declarations) => {
                self.measure_for(&declarations);
                self.groups.all[place].request = Some(declarations);
                self.plan_next_group();
            }
            Action::DistributePeers => self.distribute_to_group(place),
            Action::Start => self.start_group(place),
            Action::Refuse { reason, cause, .. } => self.refuse_group(place, reason, cause),
            Action::StopAll(reason) => self.stop_group(place, reason),
            Action::AnnounceDeath(member, how) => {
                self.send_to_group(place, &ToMember::PeerDied { member, how });
            }
            Action::Uncommitted(reason) => {
                self.close_group(place, &reason);
                let generation = self.groups.all[place].coordinator.generation();
                self.send_to_group(place, &ToMember::Uncommitted { generation, reason });
            }
            Action::Expel(member, reason) => self.expel(member.index(), &reason),
            Action::PlanMode { .. } => {
                let reason = "modes are for commits of all members, and this one is of a group; uncommit, and commit with \
                              all";
                return self.groups.all[place].coordinator.mode_planned(Err(reason.to_owned()));
            }
            Action::RefuseMode { reason, cause } => {
                let refused = ModeAnswer::Refused { reason, cause, mismatches: Vec::new() };
                self.send_to_group(place, &ToMember::Mode(refused));
            }
            // A group has no modes, and starts nobody again.
            _ => {}
        }
        Vec::new()
    }

    /// Plans the next commit that waits for it, without keeping the watcher from its work; one at a time, since each is planned around those
    /// before.
    fn plan_next_group(&mut self) {
        if self.groups.planning.is_some() {
            return;
        }
        let waiting = self.groups.all.iter_mut().find_map(|group| Some((group.request.take()?, group)));
        let Some((declarations, group)) = waiting else { return };
        let (number, members, name) = (group.number, group.members.clone(), group.name.clone());
        let running = self.groups.all.iter().filter_map(|group| group.running.as_ref());
        let others: Vec<(String, Job, Plan)> = running
            .map(|Running { assembled, plan, label, .. }| {
                (label.clone(), assembled.job.clone(), plan.clone())
            })
            .collect();
        let label = format!("commit {} of {name}", self.ended.count() + others.len() as u64 + 1);
        let (manifest, costs) = (self.config.declaration.clone(), (self.costs, self.config.guard_fixed));
        let (answer, verdict) = mpsc::channel();
        self.groups.planning = Some(Planning { number, verdict });
        let unplanned = answer.clone();
        let planner = std::thread::Builder::new().name("leveret-planner".to_owned()).spawn(move || {
            // A thread has the class of the one that started it.
            let _ = scheduling::apply(Class::Other);
            // Whoever asked may have ended meanwhile.
            let _ = answer.send(admitted((manifest, costs), &declarations, &members, (label, &others)));
        });
        if planner.is_err() {
            let _ = unplanned.send(Err(Refused::plain("a thread for planning cannot be had".to_owned())));
        }
    }

    /// Takes the verdict on what was planned, if it is there.
    fn look_at_group_plan(&mut self) {
        let Some(planning) = &self.groups.planning else { return };
        let verdict = match planning.verdict.try_recv() {
            Ok(verdict) => verdict,
            Err(mpsc::TryRecvError::Empty) => return,
            Err(mpsc::TryRecvError::Disconnected) => Err(Refused::plain("the planner has failed".to_owned())),
        };
        let number = planning.number;
        self.groups.planning = None;
        // One that was refused meanwhile is gone.
        if let Some(place) = self.groups.all.iter().position(|group| group.number == number) {
            let verdict = match verdict {
                Ok((running, costs)) => {
                    self.warn_of_guard(costs);
                    self.groups.all[place].running = Some(running);
                    Ok(())
                }
                Err(Refused { reason, mismatches }) => {
                    self.groups.all[place].mismatches = mismatches;
                    Err(reason)
                }
            };
            let mut actions = self.groups.all[place].coordinator.planned(verdict);
            actions.extend(self.send_group_plan(place));
            self.act_for_group(place, actions);
        }
        self.plan_next_group();
    }

    fn send_group_plan(&mut self, place: usize) -> Vec<Action> {
        let group = &mut self.groups.all[place];
        let (Stage::Segments, Some(running)) = (group.coordinator.stage(), &group.running) else {
            return Vec::new();
        };
        let message = ToMember::Planned {
            generation: group.coordinator.generation(),
            assembled: Box::new(running.assembled.clone()),
            plan: Box::new(running.plan.clone()),
            horizon: self.config.horizon,
        };
        let message = match plan_message(&message) {
            Ok(message) => message,
            Err(reason) => return group.coordinator.plan_unsent(reason),
        };
        for member in &group.members {
            self.seats[member.index()].segment = None;
        }
        self.send_to(self.ranks_of(place), &message);
        Vec::new()
    }

    fn distribute_to_group(&mut self, place: usize) {
        let group = &self.groups.all[place];
        let Some(running) = &group.running else { return };
        let segments: Vec<_> = self.seats.iter().map(|seat| seat.segment.as_ref()).collect();
        let generation = group.coordinator.generation();
        let failed =
            self.distribute_segments(running, generation, &segments, |member| group.joined.contains(&member));
        for (rank, error) in failed {
            self.expel(rank, &error);
        }
    }

    fn start_group(&mut self, place: usize) {
        let group = &self.groups.all[place];
        let Some(running) = &group.running else { return };
        let earliest = clock::now() + LEAD;
        let (round, cores) = (running.plan.hyperperiod, running.cores());
        // Where nothing is reserved there is nothing to keep apart.
        let epoch = if running.plan.tasks.is_empty() { earliest } else { next_multiple(earliest, round) };
        let generation = group.coordinator.generation();
        let of_group = |rank: usize| group.members.contains(&MemberId(rank as u16));
        let seats = || self.seats.iter().enumerate().map(|(rank, seat)| (of_group(rank), seat));
        let segments = seats().map(|(inside, seat)| seat.segment.as_ref().filter(|_| inside)).collect();
        let threads =
            seats().filter(|(inside, _)| *inside).flat_map(|(_, seat)| seat.threads.iter().copied());
        let (monitor, warnings) = Monitor::start(Watched {
            label: running.label.clone(),
            assembled: &running.assembled,
            plan: &running.plan,
            epoch,
            segments: running.attached(generation, segments),
            threads: threads.collect(),
            stopped: self.stopped(of_group),
            aside: false,
            before: InstancesBefore::default(),
            families: &self.families,
            limit: self.record_left(),
            is_saved: self.journal.is_some(),
        });
        (self.tell)(News::Started {
            label: &running.label,
            rounds: rounds_of(self.config.horizon, round),
            hyperperiod: round,
            has_table: running.assembled.job.has_time_table(),
            cores: &running.plan.cores,
        });
        self.facts.switch_log_whole_core = monitor.whole_core();
        let group = &mut self.groups.all[place];
        group.monitor = Some(monitor);
        group.patience.started(epoch + self.config.horizon.span(round));
        self.share_record();
        self.groups.refusal = None;
        self.send_to_group(place, &ToMember::Go { generation, epoch });
        self.warn(warnings);
        self.keep_awake(&cores);
    }

    /// To those that have declared: whoever has not begins anew.
    fn refuse_group(&mut self, place: usize, reason: String, cause: RefusalCause) {
        let mismatches = std::mem::take(&mut self.groups.all[place].mismatches);
        let told = format!("a commit of {} was refused: {reason}", self.groups.all[place].name);
        self.note(&told);
        self.send_to_group(place, &ToMember::GroupRefused { reason, cause, mismatches });
        self.groups.refusal = Some(told);
    }

    fn stop_group(&mut self, place: usize, reason: EndReason) {
        let group = &mut self.groups.all[place];
        let Some(monitor) = &mut group.monitor else { return };
        let generation = group.coordinator.generation();
        let instant = match reason {
            EndReason::Completed => monitor.uncommit_instant(clock::now() + UNCOMMIT_LEAD),
            _ => monitor.stop_instant(clock::now() + Nanos(TICK.as_nanos() as i64)),
        };
        if reason == EndReason::Completed {
            group.patience.uncommits_at(instant);
        } else {
            group.patience.ends_by(instant);
        }
        // The first cause of an end stands.
        if let (Ending::Completed, EndReason::Stopped(why)) = (&self.ending, &reason) {
            self.ending = Ending::Stopped(why.clone());
        }
        self.send_to_group(place, &ToMember::StopAt { generation, instant, reason });
    }

    fn close_group(&mut self, place: usize, reason: &EndReason) {
        let group = &mut self.groups.all[place];
        let planned_end = group.patience.planned_end();
        if let Some(monitor) = group.monitor.take() {
            self.close(monitor, reason, planned_end);
        }
        if self.groups.all.iter().all(|group| group.monitor.is_none()) {
            self.awake = KeptAwake::default();
        }
        if let (Ending::Completed, EndReason::Stopped(why)) = (&self.ending, reason) {
            self.ending = Ending::Stopped(why.clone());
        }
    }

    /// To the members of a group that take part in its commit.
    fn send_to_group(&mut self, place: usize, message: &ToMember) {
        self.send_to(self.ranks_of(place), &encode(message));
    }

    fn ranks_of(&self, place: usize) -> Vec<usize> {
        self.groups.all[place].joined.iter().map(|member| member.index()).collect()
    }

    /// A member has ended or leaves the job: every group that waits for it or runs with it hears of it. Says whether it was in a commit
    /// that it should not have left.
    pub(super) fn lost_to_groups(
        &mut self,
        rank: usize,
        (in_order, because_of_the_end): (bool, bool),
        how: &str,
    ) -> bool {
        let member = MemberId(rank as u16);
        let mut was_needed = false;
        for members in self.groups.keys() {
            let Some(place) = self.groups.place(&members).filter(|_| members.contains(&member)) else {
                continue;
            };
            let group = &mut self.groups.all[place];
            let was_in = group.joined.contains(&member);
            group.joined.retain(|joined| *joined != member);
            let leaves = in_order && group.coordinator.stage() == Stage::Gathering;
            was_needed |= was_in && !leaves;
            let actions = if leaves {
                group.coordinator.left(member)
            } else if was_in && because_of_the_end {
                if let Some(monitor) = &mut group.monitor {
                    let ended = EventKind::MemberEnded { member: member.0, how: how.to_owned() };
                    monitor.event(clock::now(), ended);
                }
                group.coordinator.ended_with_the_run(member)
            } else {
                if let Some(monitor) = &mut group.monitor {
                    let died = EventKind::MemberDied { member: member.0, how: how.to_owned() };
                    monitor.event(clock::now(), died);
                }
                group.coordinator.died(member, how)
            };
            self.act_for_group(place, actions);
        }
        was_needed
    }

    /// For what the group's commit that a member is in is being ended before its time, if it is, and whether it is over; `None` if it is in
    /// none.
    pub(super) fn stopping_of_group(&self, rank: usize, now: Nanos) -> Option<(Option<&EndReason>, bool)> {
        let group = &self.groups.all[self.groups.of(rank)?];
        Some((group.coordinator.stopping(), group.patience.is_run_over(now)))
    }

    /// The job stops: so does every group.
    pub(super) fn stop_groups(&mut self, reason: &EndReason) {
        for members in self.groups.keys() {
            if let Some(place) = self.groups.place(&members) {
                let actions = self.groups.all[place].coordinator.stop(reason.clone());
                self.act_for_group(place, actions);
            }
        }
    }

    /// The group's commit that a member is in: its stage, with whom, and whom it waits for.
    pub(super) fn in_a_group(&self, member: MemberId) -> Option<(Stage, String, String)> {
        let group = &self.groups.all[self.groups.of(member.index())?];
        let awaited = self.named(&group.coordinator.awaited());
        Some((group.coordinator.stage(), group.name.clone(), format!("which waits for {awaited}")))
    }

    /// A member is about to be ended since it did not commit in time: its groups hear of that, and not of a death.
    pub(super) fn overdue_to_groups(&mut self, member: MemberId) {
        for group in &mut self.groups.all {
            group.coordinator.overdue(member);
        }
    }

    /// The monitor of the commit that a member is in with a group.
    pub(super) fn monitor_of_group(&mut self, rank: usize) -> Option<&mut Monitor> {
        let place = self.groups.of(rank)?;
        self.groups.all[place].monitor.as_mut()
    }

    /// Whom the commits of groups wait for.
    pub(super) fn awaited_in_groups(&self) -> impl Iterator<Item = MemberId> {
        self.groups.all.iter().flat_map(|group| group.coordinator.awaited())
    }

    pub(super) fn close_groups(&mut self) {
        while let Some(mut group) = self.groups.all.pop() {
            if let Some(monitor) = group.monitor.take() {
                self.close(monitor, &EndReason::Interrupted, group.patience.planned_end());
            }
        }
    }

    /// Reads what members have left, and looks after those that keep others waiting.
    pub(super) fn tick_groups(&mut self, now: Nanos) {
        self.look_at_group_plan();
        let mut waits = Vec::new();
        for members in self.groups.keys() {
            let Some(place) = self.groups.place(&members) else { continue };
            let end = self.groups.all[place].patience.end();
            if let Some(monitor) = &mut self.groups.all[place].monitor {
                monitor.drain();
                let unreturned = monitor.unreturned(clock::now());
                let threadless = monitor.threadless(end, clock::now());
                self.warn(unreturned);
                self.end_threadless(threadless);
            }
            self.end_what_does_not_stop(place, now);
            if let Some(place) = self.groups.place(&members) {
                waits.extend(self.wait_of_group(place, now));
            }
        }
        // What one group gives up changes where its members are, and those of others wait for them there.
        let elsewhere: Vec<String> = waits.iter().map(|wait| self.elsewhere(&wait.missing)).collect();
        for (wait, elsewhere) in waits.into_iter().zip(elsewhere) {
            if let Some(place) = self.groups.place(&wait.members) {
                self.lose_patience_with_group(place, wait, (&elsewhere, now));
            }
        }
    }

    fn end_what_does_not_stop(&mut self, place: usize, now: Nanos) {
        let group = &self.groups.all[place];
        let is_running = matches!(group.coordinator.stage(), Stage::Running | Stage::Finishing);
        let is_ended = is_running && group.patience.is_run_over(now);
        let late: Vec<MemberId> = group.coordinator.unfinished().filter(|_| is_ended).collect();
        let processes = self.processes_of(&late);
        let group = &mut self.groups.all[place];
        let due = group.patience.end();
        for member in group.lateness.over(due, &processes, now) {
            self.expel_for_staying(member);
        }
        let starved = self.groups.all[place].lateness.starved();
        self.name_holders(starved, "should have stopped", now);
    }

    /// Whom a group waits for, where there is something to say or to do about it.
    fn wait_of_group(&mut self, place: usize, now: Nanos) -> Option<GroupWait> {
        let setting_up = self.groups.all[place].coordinator.is_setting_up();
        let group = &self.groups.all[place];
        let runs_on = group.coordinator.awaited_to_uncommit();
        let uncommitting = !runs_on.is_empty();
        let awaited = group.coordinator.awaited();
        let missing = if uncommitting { runs_on } else { awaited };
        let bound = missing.iter().filter(|_| !uncommitting);
        let bound: Vec<_> = bound.map(|member| (*member, self.allowed(setting_up, *member, now))).collect();
        let group = &mut self.groups.all[place];
        let waiting = group.patience.committing_some(&missing, &bound, now);
        let members = group.members.clone();
        let is_said = waiting != Waiting::Quiet;
        is_said.then_some(GroupWait { members, missing, waiting, uncommitting, setting_up })
    }

    fn lose_patience_with_group(&mut self, place: usize, wait: GroupWait, (elsewhere, now): (&str, Nanos)) {
        let names = self.named(&wait.missing);
        let group = &mut self.groups.all[place];
        match wait.waiting {
            Waiting::Quiet => {}
            Waiting::Told(waited) => {
                let (with, waited) = (&group.name, waited.0 / 1_000_000_000);
                let (what, elsewhere) =
                    if wait.uncommitting { ("uncommit", "") } else { ("commit", elsewhere) };
                let told = format!(
                    "waiting for {names} to {what} with {with}: the others wait for {waited} s{elsewhere}"
                );
                self.note(&told);
            }
            // It may honestly be in another group's commit.
            Waiting::Over(_) if group.coordinator.stage() == Stage::Gathering => {
                let actions = group.coordinator.give_up(format!("{names} did not commit in time{elsewhere}"));
                self.act_for_group(place, actions);
            }
            Waiting::Over(over) => {
                for member in over {
                    let within = self.limit(wait.setting_up, member, now);
                    self.groups.all[place].coordinator.overdue(member);
                    self.expel(member.index(), &overdue(wait.setting_up, within));
                }
            }
        }
    }
}

/// Declarations as they meet, planned around what others have committed, with the plan's label; what reaches beyond the group refuses
/// them.
fn admitted(
    (manifest, costs): (JobDeclaration, (Costs, bool)),
    declarations: &[MemberDeclarations],
    members: &[MemberId],
    (label, others): (String, &[(String, Job, Plan)]),
) -> Result<(Running, Costs), Refused> {
    let beyond = beyond_group(&manifest, declarations, members);
    if !beyond.is_empty() {
        let reason = beyond.iter().map(Mismatch::to_string).collect::<Vec<_>>().join("\n");
        return Err(Refused { reason, mismatches: beyond });
    }
    let others: Vec<Other<'_>> = others.iter().map(|(name, job, plan)| Other { name, job, plan }).collect();
    let manifest = of_group(&manifest, declarations, members);
    let (assembled, plan, costs) = admit(&manifest, declarations, costs, &others)?;
    without_shots(&assembled, "the commit of a group")?;
    Ok((Running { assembled, plan, label, kept: Kept::default() }, costs))
}

/// The generation before that of the next group's commit, after so many; `None` if there is no further one.
fn last_generation(begun: u32) -> Option<Generation> {
    LAST_BEFORE_GROUPS.0.checked_add(begun).filter(|last| *last < u32::MAX).map(Generation)
}

/// The first multiple of `step` after `instant`.
fn next_multiple(instant: Nanos, step: Nanos) -> Nanos {
    let step = step.0.max(1);
    Nanos(instant.0.div_euclid(step).saturating_add(1).saturating_mul(step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_commit_until_their_numbers_are_used_up() {
        assert_eq!(last_generation(0), Some(LAST_BEFORE_GROUPS));
        let most = u32::MAX - LAST_BEFORE_GROUPS.0;
        assert_eq!(last_generation(most - 1), Some(Generation(u32::MAX - 1)));
        assert_eq!((last_generation(most), last_generation(u32::MAX)), (None, None));
    }
}
