//! Which processes are of the job, those that have ended too: by who began them.

use crate::other_jobs;
use leveret_os::perf::{Birth, BirthLog, BirthRecord, UNKNOWN_THREAD};
use leveret_os::{facts, scheduling, threads_of};
use leveret_types::Nanos;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Threads that are remembered, some 6 MiB. Beyond this the older half of the ended ones is dropped, the job's own last.
const KNOWN_MAX: usize = 65_536;
/// Between a process and the first one of its host.
const ANCESTORS_MAX: usize = 64;
/// Older processes that are asked whose they are at a look, each by some files: after a loss all seem older that began before.
const ASKED_MAX: usize = 64;

/// Of what a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// The job: begun by the agent or a member, or by what these began, and so on.
    Own,
    /// Not the job.
    Foreign,
    /// The kernel.
    Kernel,
    /// Nobody saw it begin, or what came before it.
    Unknown,
}

/// A thread since it began.
#[derive(Clone, Debug)]
struct Known {
    /// When it began; the beginning of time for one that is older than the log.
    born: Nanos,
    has_ended: bool,
    /// The process that began it; 0 of one that is older than the log.
    by: u32,
    family: Family,
    /// Empty where it never was named.
    name: String,
}

impl Known {
    fn older(family: Family, name: String) -> Self {
        Self { born: Nanos(i64::MIN), has_ended: false, by: 0, family, name }
    }
}

#[derive(Debug)]
struct State {
    log: Option<BirthLog>,
    lost: u64,
    /// Asked at this look who is older than the log.
    asked: usize,
    /// Whatever began since the log was opened is known, or was forgotten and is not of the job.
    is_whole: bool,
    known: BTreeMap<u32, Known>,
}

/// The processes of this job and of others, from the agent's start on.
#[derive(Debug)]
pub(crate) struct Families {
    socket: PathBuf,
    /// Why births are not logged.
    shortcoming: Option<String>,
    state: RefCell<State>,
}

impl Families {
    /// Of the job whose members know this socket. Opened before the first of them starts.
    pub(crate) fn open(socket: &Path) -> Self {
        match BirthLog::open(&facts::online_cores()) {
            Ok(log) => Self::of(socket, Some(log), None),
            Err(error) => Self::of(socket, None, Some(error.to_string())),
        }
    }

    /// The same without a log of the kernel's.
    #[cfg(test)]
    pub(crate) fn blind(socket: &Path) -> Self {
        Self::of(socket, None, None)
    }

    fn of(socket: &Path, log: Option<BirthLog>, shortcoming: Option<String>) -> Self {
        let state = State { is_whole: log.is_some(), log, lost: 0, asked: 0, known: BTreeMap::new() };
        let families = Self { socket: socket.to_owned(), shortcoming, state: RefCell::new(state) };
        families.adopt(scheduling::process_id());
        families
    }

    /// What is not known where births are not logged, and why they are not.
    pub(crate) fn shortcoming(&self) -> Option<String> {
        let why = self.shortcoming.as_ref()?;
        Some(format!("{why}; of a process that has ended nobody knows whose it was"))
    }

    /// Takes in who has begun since the last call.
    pub(crate) fn look(&self) {
        let mut state = self.state.borrow_mut();
        let Some(log) = &mut state.log else { return };
        let (births, lost) = (log.drain(), log.lost());
        state.asked = 0;
        births.into_iter().for_each(|birth| state.take(birth, &self.socket));
        if lost > state.lost {
            state.lost = lost;
            state.distrust();
        }
    }

    /// Marks a process as the job's that another service of the host may have started for it, its ancestors that have the job's socket in
    /// their environment, and all descendants of these.
    pub(crate) fn adopt(&self, process: u32) {
        let mut state = self.state.borrow_mut();
        let mut next = Some(process);
        for _ in 0..ANCESTORS_MAX {
            let Some(process) = next.filter(|next| !state.is_own(*next)) else { break };
            let known = state.known.remove(&process);
            let known = known.unwrap_or_else(|| Known::older(Family::Own, String::new()));
            state.known.insert(process, Known { family: Family::Own, ..known });
            next = threads_of::parent_of(process).filter(|parent| other_jobs::is_own(&self.socket, *parent));
        }
        state.adopt_children();
    }

    /// Of what a thread is, which may have ended, or its process.
    pub(crate) fn of_thread(&self, thread: u32, process: u32) -> Family {
        let state = self.state.borrow();
        let known = |number: u32| state.known.get(&number).map(|known| known.family);
        let numbers = [thread, process].into_iter().filter(|number| is_number(*number));
        numbers.filter_map(known).next().unwrap_or(Family::Unknown)
    }

    /// Of what a thread is that lives, of the process `process`. None of the job's is older than the agent, and each is a child of the agent's, or of
    /// one of these; what a member leaves behind becomes the agent's.
    pub(crate) fn of_living(&self, thread: u32, process: u32) -> Family {
        let family = self.of_thread(thread, process);
        if family == Family::Own || other_jobs::is_own(&self.socket, thread) {
            return Family::Own;
        }
        match family {
            // A program that the kernel has started is a process like any other.
            Family::Foreign | Family::Kernel => Family::Foreign,
            _ if self.state.borrow().is_whole => Family::Foreign,
            _ => self.by_parents(thread),
        }
    }

    /// The same by whose child it is now.
    fn by_parents(&self, thread: u32) -> Family {
        let mut process = threads_of::process_of(thread);
        for _ in 0..ANCESTORS_MAX {
            let Some(number) = process else { return Family::Unknown };
            if self.state.borrow().is_own(number) {
                return Family::Own;
            }
            process = match threads_of::parent_of(number) {
                None if threads_of::about(number).is_ok() => return Family::Foreign,
                parent => parent,
            };
        }
        Family::Unknown
    }

    /// What a thread was last called, if the log knows.
    pub(crate) fn name_of(&self, thread: u32) -> Option<String> {
        let state = self.state.borrow();
        state.known.get(&thread).map(|known| known.name.clone()).filter(|name| !name.is_empty())
    }

    /// When the thread began that has this number now, or had it last: numbers are used again.
    pub(crate) fn born(&self, thread: u32) -> Nanos {
        self.state.borrow().known.get(&thread).map_or(Nanos(i64::MIN), |known| known.born)
    }

    /// A foreign thread's name, with the job that it is of where that is another Leveret job.
    pub(crate) fn named(&self, thread: u32, name: String) -> String {
        other_jobs::named(&self.socket, thread, name)
    }
}

/// Whether it is a thread's: 0 stands for those that a container does not see, and for the idle task.
fn is_number(number: u32) -> bool {
    ![0, UNKNOWN_THREAD].contains(&number)
}

impl State {
    fn is_own(&self, process: u32) -> bool {
        self.known.get(&process).is_some_and(|known| known.family == Family::Own)
    }

    /// What one of the job has begun before it was known to be of the job is too.
    fn adopt_children(&mut self) {
        for _ in 0..ANCESTORS_MAX {
            let is_child = |known: &Known| known.family != Family::Own && self.is_own(known.by);
            let children = self.known.iter().filter(|(_, known)| is_child(known)).map(|(thread, _)| *thread);
            let children: Vec<u32> = children.collect();
            if children.is_empty() {
                return;
            }
            for child in children {
                self.known.entry(child).and_modify(|known| known.family = Family::Own);
            }
        }
    }

    fn take(&mut self, birth: BirthRecord, socket: &Path) {
        let BirthRecord { time, thread, what } = birth;
        match what {
            // What a container does not see.
            _ if !is_number(thread) => {}
            Birth::Named { name, is_program } => {
                if let Some(known) = self.known.get_mut(&thread) {
                    known.name = name;
                    // Whoever becomes another program takes the number of the first thread of its process, which ends.
                    known.has_ended &= !is_program;
                    if is_program && known.family == Family::Kernel {
                        // Started by the kernel, for whom is not known.
                        known.family = Family::Unknown;
                    }
                }
            }
            Birth::Ended => {
                if let Some(known) = self.known.get_mut(&thread) {
                    known.has_ended = true;
                }
            }
            Birth::Began { process, by, by_thread } => {
                // A thread is of its process, whoever of it began it.
                let parent = if thread == process { by } else { process };
                let family = self.family_of_parent(parent, socket);
                let called = self.known.get(&by_thread).or_else(|| self.known.get(&parent));
                let name = called.map_or_else(String::new, |known| known.name.clone());
                self.known.insert(thread, Known { born: time, has_ended: false, by: parent, family, name });
                if self.known.len() > KNOWN_MAX {
                    self.forget();
                }
            }
        }
    }

    /// One that was not seen to begin is older than the log; it is asked once.
    fn family_of_parent(&mut self, parent: u32, socket: &Path) -> Family {
        if let Some(known) = self.known.get(&parent) {
            return known.family;
        }
        self.asked += 1;
        if self.asked > ASKED_MAX {
            return Family::Unknown;
        }
        let found = threads_of::about(parent);
        let family = match found {
            Ok(ref found) if found.kernel => Family::Kernel,
            Ok(_) if other_jobs::is_own(socket, parent) => Family::Own,
            _ if !self.is_whole => Family::Unknown,
            // The first of the host's processes, which a container does not see, has the number 0 here.
            _ => Family::Foreign,
        };
        let name = found.map_or_else(|_| String::new(), |found| found.name);
        self.known.insert(parent, Known::older(family, name));
        family
    }

    /// Who has ended begins nobody any more. Where so many live the families of what they begin are not known.
    fn forget(&mut self) {
        let mut births: Vec<Nanos> = self.known.values().map(|known| known.born).collect();
        births.sort_unstable();
        let middle = births[births.len() / 2];
        let is_enough = |known: &BTreeMap<u32, Known>| known.len() <= KNOWN_MAX / 4 * 3;
        let has_gone = |known: &Known| known.born <= middle && known.has_ended;
        self.known.retain(|_, known| !has_gone(known) || known.family == Family::Own);
        if !is_enough(&self.known) {
            self.known.retain(|_, known| !has_gone(known));
        }
        if !is_enough(&self.known) {
            self.known.retain(|_, known| known.born > middle);
            self.is_whole = false;
        }
    }

    /// Numbers may have been used again unseen: only the agent, and what was older than the log when it was adopted, is still known.
    fn distrust(&mut self) {
        self.is_whole = false;
        self.known.retain(|_, known| known.family == Family::Own && known.born == Nanos(i64::MIN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: Nanos = Nanos(i64::MIN);
    /// Numbers that no thread here has.
    const MEMBER: u32 = 5_000_001;

    fn began(time: i64, thread: u32, process: u32, by: u32) -> BirthRecord {
        BirthRecord { time: Nanos(time), thread, what: Birth::Began { process, by, by_thread: by } }
    }

    fn whole() -> Families {
        let families = Families::blind(Path::new("/run/own"));
        families.state.borrow_mut().is_whole = true;
        families
    }

    fn take(families: &Families, births: impl IntoIterator<Item = BirthRecord>) {
        let mut state = families.state.borrow_mut();
        births.into_iter().for_each(|birth| state.take(birth, &families.socket));
    }

    fn family(families: &Families, thread: u32) -> Family {
        families.of_thread(thread, UNKNOWN_THREAD)
    }

    #[test]
    fn one_that_has_ended_is_of_those_that_began_it() {
        let (families, agent) = (whole(), scheduling::process_id());
        let (wrapper, child, thread, stranger) = (MEMBER + 1, MEMBER + 2, MEMBER + 3, MEMBER + 4);
        let births = [
            began(1, MEMBER, MEMBER, agent),
            began(2, wrapper, wrapper, MEMBER),
            began(3, child, child, wrapper),
            began(4, thread, child, child),
            began(5, stranger, stranger, MEMBER + 100),
        ];
        take(&families, births);
        for own in [MEMBER, wrapper, child, thread] {
            assert_eq!(family(&families, own), Family::Own, "{own}");
        }
        assert_eq!(family(&families, stranger), Family::Foreign);
        assert_eq!(family(&families, MEMBER + 200), Family::Unknown, "nobody saw it begin");
        assert_eq!(families.of_thread(MEMBER + 200, child), Family::Own, "by its process");
        // Numbers are used again.
        take(&families, [began(6, child, child, stranger)]);
        assert_eq!((family(&families, child), families.born(child)), (Family::Foreign, Nanos(6)));
        assert_eq!(families.born(MEMBER + 200), OLD);
    }

    #[test]
    fn what_another_service_began_for_the_job_is_the_job_s_from_then_on() {
        let families = whole();
        let early = [
            began(1, MEMBER, MEMBER, 1),
            began(2, MEMBER + 2, MEMBER + 2, MEMBER),
            began(2, MEMBER + 3, MEMBER + 3, MEMBER + 2),
            began(2, MEMBER + 4, MEMBER + 4, 1),
        ];
        take(&families, early);
        assert_eq!(family(&families, MEMBER), Family::Foreign);
        families.adopt(MEMBER);
        take(&families, [began(3, MEMBER + 1, MEMBER + 1, MEMBER)]);
        assert_eq!([MEMBER, MEMBER + 1].map(|each| family(&families, each)), [Family::Own; 2]);
        // And what it had begun before that, and so on.
        for early in [MEMBER + 2, MEMBER + 3] {
            assert_eq!(family(&families, early), Family::Own);
        }
        assert_eq!(family(&families, MEMBER + 4), Family::Foreign, "its neighbour");
    }

    #[test]
    fn a_program_that_the_kernel_starts_is_not_the_kernel() {
        let families = whole();
        let (worker, helper) = (MEMBER, MEMBER + 1);
        families.state.borrow_mut().known.insert(2, Known::older(Family::Kernel, "kthreadd".to_owned()));
        take(&families, [began(1, worker, worker, 2), began(2, helper, helper, worker)]);
        assert_eq!([worker, helper].map(|each| family(&families, each)), [Family::Kernel; 2]);
        let what = Birth::Named { name: "modprobe".to_owned(), is_program: true };
        take(
            &families,
            [BirthRecord { time: Nanos(3), thread: helper, what }, began(4, MEMBER + 2, MEMBER + 2, helper)],
        );
        assert_eq!(family(&families, worker), Family::Kernel);
        assert_eq!([helper, MEMBER + 2].map(|each| family(&families, each)), [Family::Unknown; 2]);
    }

    /// Without an environment that names the job.
    #[test]
    fn one_that_lives_is_of_those_whose_child_it_is_where_births_are_not_known() {
        let child = std::process::Command::new("sleep").arg("60").env_clear().spawn();
        let mut child = child.expect("it is there");
        let (families, number) = (Families::blind(Path::new("/run/own")), child.id());
        assert_eq!(families.of_living(number, number), Family::Own);
        assert_eq!(families.of_living(1, 1), Family::Foreign, "the first process is nobody's child");
        child.kill().and_then(|()| child.wait()).expect("it ends");
        assert_eq!(families.of_living(number, number), Family::Unknown);
    }

    #[test]
    fn a_name_is_that_of_the_program_or_else_of_the_parent() {
        let families = whole();
        let named = |thread, name: &str| BirthRecord {
            time: Nanos(2),
            thread,
            what: Birth::Named { name: name.to_owned(), is_program: true },
        };
        take(&families, [began(1, MEMBER, MEMBER, 1), named(MEMBER, "sh")]);
        take(&families, [began(3, MEMBER + 1, MEMBER + 1, MEMBER)]);
        assert_eq!(families.name_of(MEMBER + 1).as_deref(), Some("sh"));
        take(&families, [named(MEMBER + 1, "kill")]);
        assert_eq!([MEMBER, MEMBER + 1].map(|each| families.name_of(each).unwrap()), ["sh", "kill"]);
    }

    #[test]
    fn where_births_were_lost_or_forgotten_nobody_is_taken_for_another_process() {
        let (families, agent) = (whole(), scheduling::process_id());
        take(&families, [began(1, MEMBER, MEMBER, agent), began(2, MEMBER + 1, MEMBER + 1, 1)]);
        families.state.borrow_mut().distrust();
        let all = [MEMBER, MEMBER + 1].map(|each| family(&families, each));
        assert_eq!((all, family(&families, agent)), ([Family::Unknown; 2], Family::Own));
        take(&families, [began(3, MEMBER + 2, MEMBER + 2, MEMBER), began(4, MEMBER + 3, MEMBER + 3, agent)]);
        assert_eq!([2, 3].map(|each| family(&families, MEMBER + each)), [Family::Unknown, Family::Own]);
    }

    #[test]
    fn what_is_remembered_is_bounded_and_who_may_still_begin_others_is_forgotten_last() {
        let (families, agent) = (whole(), scheduling::process_id());
        let count = 3 * KNOWN_MAX as u32;
        let ended = |time, thread| BirthRecord { time: Nanos(time), thread, what: Birth::Ended };
        let brief = |by: u32| {
            let pair = move |each: u32| {
                let (time, thread) = (each.into(), MEMBER + each);
                [began(time, thread, thread, by), ended(time, thread)]
            };
            (1..count).flat_map(pair)
        };
        let state = || (families.state.borrow().known.len() <= KNOWN_MAX, families.state.borrow().is_whole);
        take(&families, [began(0, MEMBER, MEMBER, agent)]);
        take(&families, brief(1));
        assert_eq!((family(&families, MEMBER), state()), (Family::Own, (true, true)));
        take(&families, brief(MEMBER));
        assert_eq!((family(&families, MEMBER + count - 1), state()), (Family::Own, (true, true)));
        take(&families, (1..count).map(|each| began(each.into(), MEMBER + each, MEMBER + each, MEMBER)));
        assert_eq!(state(), (true, false), "so many live");
    }

    /// A shell that is gone, and what it began, which is gone too.
    #[test]
    fn a_child_s_child_that_is_gone_is_the_job_s() {
        let families = Families::open(Path::new("/run/own"));
        if families.state.borrow().log.is_none() {
            return eprintln!("SKIPPED: births cannot be logged here");
        }
        let output = std::process::Command::new("sh").args(["-c", "sh -c 'echo $$'; true"]).output();
        let text = String::from_utf8(output.expect("sh is there").stdout).unwrap();
        let grandchild: u32 = text.trim().parse().unwrap();
        families.look();
        if families.state.borrow().lost > 0 {
            return eprintln!("SKIPPED: others began too many processes meanwhile");
        }
        assert!(threads_of::about(grandchild).is_err(), "it has ended");
        assert_eq!(families.of_thread(grandchild, grandchild), Family::Own);
        assert_eq!(families.name_of(grandchild).as_deref(), Some("sh"));
    }
}
