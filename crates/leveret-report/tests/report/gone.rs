//! What a member did not send because it was dead or stood stopped.

use leveret_report::Report;
use leveret_report::record::{
    Actor, Ending, Event, EventKind, Fate, Left, Outcome, Phase, SwitchEvent, ThreadKind,
};
use leveret_report::synthetic::{A, B, C, DUMMY, Plant, Ring, ring};
use leveret_report::verdict::{Assessment, Cause, Miss, Party, Stage, Subject, assess, verdicts};
use leveret_report::why::why;
use leveret_types::Nanos;

const MICRO: i64 = 1_000;

fn micros(value: i64) -> Nanos {
    Nanos(value * MICRO)
}

fn with(plants: Vec<(u64, Plant)>) -> Ring {
    Ring { rounds: 400, plants, ..Ring::default() }
}

fn of_channel(misses: &[Miss], channel: usize, instance: u64) -> &Miss {
    let wanted = |miss: &&Miss| miss.subject == Subject::Channel(channel) && miss.instance == instance;
    misses.iter().find(wanted).unwrap_or_else(|| panic!("no miss of channel {channel}: {misses:#?}"))
}

#[test]
fn dead_member_is_ours_and_loud() {
    let record = ring(&with(vec![(200, Plant::Died { task: B })]));
    let assessment = assess(&record);
    let message = of_channel(&assessment.misses, B, 200);
    assert_eq!((message.cause, message.party), (Cause::PeerDied, Party::Job));
    assert!(message.evidence[0].contains("SIGKILL"));
    assert!(assessment.irregularities.iter().any(|found| found.kind == "member-died"));
    assert_eq!(assessment.exit_code(), 1);
}

/// What the sender to a dead member has no buffer for follows from the first message that the dead one did not give back.
#[test]
fn a_dead_receiver_is_one_root_however_many_messages_it_keeps() {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    let phase = &mut record.phases[0];
    let ran = phase.tasks[B].instances.last().expect("some").instance;
    let unsent = phase.channels[A].messages.iter_mut().filter(|message| message.instance > ran + 1);
    for message in unsent {
        (message.fate, message.inserted, message.taken) = (Fate::NoBuffer, None, None);
    }
    let misses = verdicts(&record);
    let of_sender: Vec<&Miss> = misses.iter().filter(|miss| miss.subject == Subject::Channel(A)).collect();
    assert!(of_sender.len() > 100, "{}", of_sender.len());
    for miss in &of_sender {
        assert_eq!(
            (miss.stage, miss.cause, miss.party),
            (Stage::Taking, Cause::PeerDied, Party::Job),
            "{miss:#?}"
        );
    }
    let roots = of_sender.iter().filter(|miss| miss.root.is_none()).count();
    assert!(roots <= 1, "{roots} root causes");
    let said = Report::of(&record).conclusion();
    assert!(said.contains("B: the member died"), "{said}");
}

/// What the dead one does not send, what nobody can send to it, and what others could not pass on: all that is of one death.
#[test]
fn a_death_is_one_root_whatever_follows_from_it() {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    let phase = &mut record.phases[0];
    let ran = phase.tasks[B].instances.last().expect("some").instance;
    for (channel, first) in [(A, ran + 2), (C, ran + 1)] {
        let missed = phase.channels[channel].messages.iter_mut().filter(|message| message.instance >= first);
        for message in missed {
            message.fate = if channel == A { Fate::NoBuffer } else { Fate::Missing };
            (message.inserted, message.taken) = (None, None);
        }
    }
    let assessment = assess(&record);
    for channel in [A, B, C] {
        let of_it = assessment.misses.iter().filter(|miss| miss.subject == Subject::Channel(channel));
        assert!(of_it.count() > 100, "{channel}");
    }
    let roots: Vec<&Miss> = assessment.misses.iter().filter(|miss| miss.root.is_none()).collect();
    assert_eq!(roots.len(), 1, "{roots:#?}");
    assert_eq!((roots[0].subject, assessment.counts.job_roots), (Subject::Channel(B), 1));
    let of_others = assessment.misses.iter().filter_map(|miss| miss.root.as_ref());
    assert!(of_others.clone().all(|root| (root.task, root.instance) == (B, ran + 1)));
}

#[test]
fn death_noticed_late_explains_what_the_dead_did_not_send() {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    for event in record.phases.iter_mut().flat_map(|phase| &mut phase.events) {
        event.at = event.at + micros(20_000);
    }
    let message = of_channel(&verdicts(&record), B, 200).clone();
    assert_eq!((message.cause, message.party), (Cause::PeerDied, Party::Job), "{message:#?}");
    assert!(message.evidence[0].contains("SIGKILL"), "{message:#?}");
}

/// A member that is stopped until the run is over, when it is ended: what it did not send is the stop's, of one root, and not its death's.
#[test]
fn a_stop_to_the_end_explains_what_was_not_sent() {
    for is_own in [Some(false), Some(true), None] {
        let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
        let phase = &mut record.phases[0];
        let member = phase.job.tasks[B].member.0;
        let died = phase.events.iter_mut().find(|event| matches!(event.kind, EventKind::MemberDied { .. }));
        let died = died.expect("planted");
        let since = died.at - micros(50);
        died.at = phase.channels[B].messages.last().expect("some").due + micros(5_000_000);
        let by = Actor { process: 700, thread: 701, name: "stopper".to_owned(), is_own };
        let at = |at, kind| Event { at, kind };
        // The agent says since when it may have been.
        phase.events.push(at(since + micros(1_900), EventKind::StopSent { member, signal: 19, by }));
        phase.events.push(at(since, EventKind::MemberStopped { member }));
        phase.events.sort_by_key(|event| event.at);
        let assessment = assess(&record);
        let missing: Vec<_> = assessment
            .misses
            .iter()
            .filter(|miss| miss.subject == Subject::Channel(B) && miss.instance >= 200)
            .collect();
        assert!(missing.len() > 50, "{}", missing.len());
        let party = if is_own == Some(false) { Party::Process } else { Party::Job };
        for miss in &missing {
            assert_eq!(
                (miss.cause, miss.party, miss.unproven),
                (Cause::StoppedMember, party, is_own.is_none()),
                "{miss:#?}"
            );
            assert!(miss.evidence[0].contains("SIGSTOP"), "{miss:#?}");
        }
        let roots = missing.iter().filter(|miss| miss.root.is_none()).count();
        assert_eq!(roots, 1, "{:#?}", missing[1]);
    }
}

/// A task that never returns: what it does not send, and what is asked of its later instances, follows from the one that began.
#[test]
fn an_instance_that_never_ended_is_the_root_of_whatever_follows() {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    let phase = &mut record.phases[0];
    let (planned, instance) = {
        let last = phase.tasks[B].instances.last().expect("some");
        (last.planned + phase.job.tasks[B].period, last.instance + 1)
    };
    for event in &mut phase.events {
        // It is ended for it after the end.
        event.at = phase.channels[B].messages.last().expect("some").due + micros(5_000_000);
    }
    let kind = EventKind::NeverEnded { task: B as u16, instance };
    phase.events.insert(0, Event { at: planned, kind });
    let assessment = assess(&record);
    let misses = &assessment.misses;
    let of_b: Vec<&Miss> = misses.iter().filter(|miss| miss.subject == Subject::Channel(B)).collect();
    assert!(of_b.len() > 100, "{}", of_b.len());
    for miss in of_b {
        let root = miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        assert_eq!((root, miss.party), (Cause::Overrun, Party::Job), "{miss:#?}");
        assert!(miss.evidence[0].contains(&format!("instance {instance} of B.user began")), "{miss:#?}");
    }
    assert_eq!(assessment.counts.job_roots, 1);
    let unaccounted = assessment.irregularities.iter().find(|found| found.kind == "unaccounted");
    assert!(unaccounted.is_some_and(|found| found.sentence.contains("never ended")), "{unaccounted:?}");
    let report = Report::of(&record);
    let of = |instance| why(&report, "B.user", instance).expect("it is known");
    assert!(
        of(instance).contains("verdict: it began")
            && of(instance).contains("and never ended; its member ended")
    );
    assert!(of(instance + 1).contains(&format!("verdict: it never began: instance {instance} began")));
    assert!(of(instance - 1).contains("kept its window"));
    assert!(why(&report, "B.user", 400).is_err(), "there is no such round");
}

/// B runs nothing from instance 200 on, and its member is ended long after the run.
fn silent_to_the_end(change: impl FnOnce(&mut Phase, Nanos)) -> Assessment {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    let phase = &mut record.phases[0];
    let since = phase.tasks[B].instances.last().expect("some").planned + phase.job.tasks[B].period;
    let after = phase.channels[B].messages.last().expect("some").due + micros(5_000_000);
    let died = phase.events.iter_mut().find(|event| matches!(event.kind, EventKind::MemberDied { .. }));
    died.expect("planted").at = after;
    change(phase, since);
    phase.events.sort_by_key(|event| event.at);
    phase.switches.sort_by_key(|event| event.at);
    assess(&record)
}

/// Of all that B did not send the cause, whose that is, and how many roots there are.
fn of_silence(assessment: &Assessment) -> (Cause, Party, bool, usize) {
    let of_b = || assessment.misses.iter().filter(|miss| miss.subject == Subject::Channel(B));
    let first = of_b().next().expect("it sent nothing");
    assert!(of_b().count() > 50);
    for miss in of_b() {
        assert_eq!(
            (miss.cause, miss.party, miss.unproven),
            (first.cause, first.party, first.unproven),
            "{miss:#?}"
        );
    }
    let roots = assessment.misses.iter().filter(|miss| miss.root.is_none()).count();
    (first.cause, first.party, first.unproven, roots)
}

fn by(is_own: Option<bool>) -> Actor {
    Actor { process: 700, thread: 701, name: "holder".to_owned(), is_own }
}

#[test]
fn who_holds_a_member_to_the_end_is_named_by_what_is_known() {
    let member = 1;
    let frozen = |group: &str| EventKind::Frozen { member, group: group.to_owned(), by: by(Some(false)) };
    let event = |at, kind| Event { at, kind };
    let to_the_end =
        silent_to_the_end(|phase, since| phase.events.push(event(since - micros(300), frozen("/jail"))));
    assert_eq!(of_silence(&to_the_end), (Cause::Frozen, Party::Process, false, 1));
    let told = |assessment: &Assessment, words: &str| {
        let miss = assessment.misses.iter().find(|miss| miss.subject == Subject::Channel(B)).expect("some");
        assert!(miss.evidence[0].contains(words), "{words}: {miss:#?}");
        let of_task = assessment.irregularities.iter().find(|found| found.kind == "unaccounted");
        assert!(of_task.is_some_and(|found| found.sentence.contains(words)), "{words}: {of_task:?}");
    };
    told(&to_the_end, "control group /jail, which was frozen");
    let trapped = |at, is_own| {
        silent_to_the_end(move |phase, since| {
            phase.events.push(event(since + at, EventKind::Trapped { task: B as u16, by: by(is_own) }));
        })
    };
    let traced = trapped(micros(-400), Some(false));
    assert_eq!(of_silence(&traced), (Cause::Traced, Party::Process, false, 1));
    told(&traced, "was stopped by a debugger");
    assert_eq!(of_silence(&trapped(micros(-400), Some(true))), (Cause::Traced, Party::Job, false, 1));
    // Nothing of this explains it: what let go again, or came later.
    let unknown = (Cause::Unexplained, Party::Job, true, 1);
    let thawed = silent_to_the_end(|phase, since| {
        phase.events.push(event(since - micros(300), frozen("/jail")));
        phase
            .events
            .push(event(since + micros(5_000), EventKind::Thawed { member, group: "/jail".to_owned() }));
    });
    assert_eq!(of_silence(&thawed), unknown);
    assert_eq!(of_silence(&trapped(micros(5_000), Some(false))), unknown);
    assert_eq!(of_silence(&silent_to_the_end(|_, _| ())), unknown);
}

/// A thread of another process comes to B's core and stays.
#[test]
fn who_keeps_the_core_to_the_end_is_named_where_it_goes_before() {
    let hogged = |priority| {
        silent_to_the_end(move |phase, since| {
            let core = phase.plan.tasks[B].core;
            let before = phase.switches.iter().rfind(|event| event.core == core && event.at < since);
            let from = before.map_or(0, |event| event.to);
            phase.switches.retain(|event| event.core != core || event.at < since);
            phase.switches.push(SwitchEvent {
                at: since - micros(400),
                core,
                from,
                to: 812,
                left: Left::Runnable,
                to_kind: ThreadKind::Foreign { priority },
                to_process: Some(811),
                to_name: "hog".to_owned(),
            });
        })
    };
    let outranked = hogged(90);
    assert_eq!(of_silence(&outranked), (Cause::RunQueueWait, Party::Process, false, 1));
    let miss = outranked.misses.iter().find(|miss| miss.subject == Subject::Channel(B)).expect("some");
    assert!(miss.evidence[0].contains("hog (thread 812, real-time priority 90) came to core"), "{miss:#?}");
    assert!(miss.culprit.as_ref().is_some_and(|culprit| culprit.thread == Some(812)), "{miss:#?}");
    for below in [0, 1] {
        assert_eq!(of_silence(&hogged(below)), (Cause::Unexplained, Party::Job, true, 1));
    }
}

/// The death is what that instance and all after it follow from, and no overrun.
#[test]
fn who_dies_in_a_body_has_not_overrun() {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    let phase = &mut record.phases[0];
    let last = phase.tasks[B].instances.last().expect("some");
    let (at, instance) = (last.planned + phase.job.tasks[B].period, last.instance + 1);
    let died = phase.events.iter_mut().find(|event| matches!(event.kind, EventKind::MemberDied { .. }));
    // A slow one: a panic that tells its calls.
    died.expect("planted").at = at + micros(111_000);
    phase.events.push(Event { at, kind: EventKind::NeverEnded { task: B as u16, instance } });
    phase.events.sort_by_key(|event| event.at);
    let assessment = assess(&record);
    let own = assessment.misses.iter().find(|miss| miss.subject == Subject::Task(B)).expect("it never ended");
    assert_eq!(
        (own.instance, own.cause, own.party, own.unproven),
        (instance, Cause::MemberDied, Party::Job, false)
    );
    assert!(own.evidence[0].contains("never ended: member B died"), "{own:#?}");
    for miss in &assessment.misses {
        assert!(!miss.unproven, "{miss:#?}");
        let root = miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        assert_eq!(root, Cause::MemberDied, "{miss:#?}");
    }
    assert_eq!(assessment.counts.job_roots, 1);
}

/// B does nothing after its instance 199, and wants the end `since` it ended; the agent hears of that `told` later, and the others some rounds later.
fn wished(since: Nanos, told: Nanos, fails: bool, change: impl Fn(&mut Phase)) -> Assessment {
    let mut record = ring(&with(vec![(200, Plant::Died { task: B })]));
    record.ending = Ending::Stopped("member \"B\" has stopped it: no light".to_owned());
    let phase = &mut record.phases[0];
    let last = phase.tasks[B].instances.last().expect("some");
    let (since, end) = (last.ended + since, last.planned + micros(6_000));
    phase.rounds = 206;
    for task in [A, C, DUMMY] {
        phase.tasks[task].instances.retain(|instance| instance.planned <= end);
    }
    for channel in [A, B, C] {
        phase.channels[channel].messages.retain(|message| message.due <= end);
    }
    phase.events.retain(|event| !matches!(event.kind, EventKind::MemberDied { .. }));
    let (member, why) = (1, "no light".to_owned());
    let kind = match fails {
        false => EventKind::StopAsked { member, since, why },
        true => EventKind::GaveUp { member, since, why },
    };
    phase.events.push(Event { at: since + told, kind });
    change(phase);
    assess(&record)
}

fn irregular(assessment: &Assessment) -> Vec<&str> {
    assessment.irregularities.iter().map(|found| found.kind.as_str()).collect()
}

#[test]
fn what_a_member_that_ended_the_run_did_not_do_after_that_is_not_missed() {
    let untold = wished(micros(10), micros(900), false, |phase| {
        phase.events.retain(|event| !matches!(event.kind, EventKind::StopAsked { .. }));
    });
    assert!(untold.misses.len() >= 5 && irregular(&untold).contains(&"unaccounted"));
    let told = wished(micros(10), micros(900), false, |_| {});
    assert_eq!(told.misses, []);
    assert_eq!(irregular(&told), ["stopped"]);
    // Who was silent long before has not asked for it until then, whatever it says.
    let long_before = wished(micros(10), micros(200_000), false, |_| {});
    assert!(
        long_before.misses.len() == untold.misses.len() && irregular(&long_before).contains(&"unaccounted")
    );
    // Nor before what it did.
    assert_eq!(wished(micros(-50_000), micros(50_900), false, |_| {}), told);
    // What it owed until it asked it owes.
    let later = wished(micros(2_000), micros(900), false, |_| {});
    assert!(!later.misses.is_empty() && later.misses.len() < untold.misses.len(), "{:#?}", later.misses);
    for miss in &later.misses {
        assert!(miss.unproven && miss.deadline <= later.misses[0].deadline + micros(3_000), "{miss:#?}");
    }
}

/// A says nothing in its instance 203, for which it had all it needs: the end that B has asked for before has nothing to do with that.
#[test]
fn what_others_owe_each_other_they_owe_to_the_end() {
    let assessment = wished(micros(10), micros(900), false, |phase| {
        for message in &mut phase.channels[C].messages {
            message.fate = Fate::Taken;
        }
        let of_a = &mut phase.channels[A].messages;
        let message = of_a.iter_mut().find(|message| message.instance == 203).expect("there");
        (message.fate, message.inserted, message.taken) = (Fate::Missing, None, None);
    });
    let [miss] = &*assessment.misses else { panic!("{:#?}", assessment.misses) };
    assert_eq!((miss.subject, miss.instance, miss.cause), (Subject::Channel(A), 203, Cause::NotInserted));
}

/// The body of B's instance 199 takes until the end that it asks for, five instances later: these follow from it.
#[test]
fn what_an_overrun_that_ends_the_run_kept_a_task_from_follows_from_it() {
    let assessment = wished(micros(5_000), micros(900), false, |phase| {
        let last = phase.tasks[B].instances.last_mut().expect("some");
        (last.ended, last.cpu) = (last.ended + micros(5_000), last.cpu + micros(5_000));
    });
    let is_of_b = |miss: &Miss| {
        let root = miss.root.as_ref().map(|root| (root.task, root.instance));
        root.is_none_or(|root| root == (B, 199)) && miss.cause != Cause::Unexplained && !miss.unproven
    };
    assert!(assessment.misses.len() > 4, "{:#?}", assessment.misses);
    assert!(assessment.misses.iter().all(is_of_b), "{:#?}", assessment.misses);
    assert_eq!(assessment.counts.job_roots, 1);
    assert_eq!(irregular(&assessment), ["stopped"]);
}

/// A body that hung for two seconds before its member died: what it kept its task from in the last of them is counted as well.
#[test]
fn what_a_hung_body_kept_a_task_from_is_counted_until_its_member_died() {
    let lacking = |hung: bool| {
        let mut record = ring(&Ring { rounds: 2_400, ..with(vec![(200, Plant::Died { task: B })]) });
        let phase = &mut record.phases[0];
        let last = phase.tasks[B].instances.last().expect("some");
        let (at, instance) = (last.planned + phase.job.tasks[B].period, last.instance + 1);
        let died = phase.events.iter_mut().find(|event| matches!(event.kind, EventKind::MemberDied { .. }));
        died.expect("planted").at = at + micros(2_000_000);
        if hung {
            let kind = EventKind::NeverEnded { task: B as u16, instance };
            phase.events.push(Event { at, kind });
            phase.events.sort_by_key(|event| event.at);
        }
        let assessment = assess(&record);
        let found = assessment.irregularities.iter().find(|found| found.kind == "unaccounted");
        found.expect("they lack").count
    };
    let (hung, silent) = (lacking(true), lacking(false));
    assert!((1_990..=2_000).contains(&hung) && (990..=1_001).contains(&silent), "{hung} {silent}");
}

/// It takes its time to end.
#[test]
fn who_says_that_it_has_failed_is_dead_from_then_on() {
    let assessment = wished(micros(10), micros(50), true, |phase| {
        let how = "exit status 1".to_owned();
        let at = phase.events[phase.events.len() - 1].at + micros(4_000_000);
        phase.events.push(Event { at, kind: EventKind::MemberDied { member: 1, how } });
    });
    assert!(assessment.misses.len() >= 5);
    for miss in &assessment.misses {
        let root = miss.root.as_ref().map_or(miss.cause, |root| root.cause);
        assert!(root == Cause::PeerDied && !miss.unproven, "{miss:#?}");
    }
    assert!(assessment.misses[0].evidence[0].contains("(no light)"), "{:#?}", assessment.misses[0]);
    assert!(!irregular(&assessment).contains(&"unaccounted"), "{:?}", irregular(&assessment));
}

/// Two stops, of which the second, of ten periods, also makes nine instances come too late.
#[test]
fn one_stop_is_one_root_whatever_it_holds_up() {
    let stop = |by| Plant::Stopped { task: B, by };
    let mut record = ring(&with(vec![(100, stop(micros(600))), (200, stop(micros(10_000)))]));
    let phase = &mut record.phases[0];
    let until = phase.tasks[B].instances[200].planned + micros(10_000);
    phase.tasks[B].instances[200].ended = until;
    for skipped in &mut phase.tasks[B].instances[201..210] {
        skipped.outcome = Outcome::SkippedCritical;
        (skipped.woken, skipped.started, skipped.ended) = (until, until, until);
    }
    let assessment = assess(&record);
    let of_b = assessment.misses.iter().filter(|miss| miss.subject == Subject::Task(B));
    for miss in of_b {
        assert_eq!(miss.cause, Cause::StoppedMember, "{miss:#?}");
    }
    let roots = |subject| {
        let of = assessment.misses.iter().filter(move |miss| miss.subject == subject);
        let root =
            |miss: &Miss| miss.root.as_ref().map_or((B, miss.instance), |root| (root.task, root.instance));
        of.map(root).collect::<Vec<_>>()
    };
    // Its messages' too, of which those that were never sent belong to instances that follow from the first.
    let of_tasks = roots(Subject::Task(B));
    assert_eq!(of_tasks, [&[(B, 100)][..], &[(B, 200); 10]].concat());
    assert!(
        !roots(Subject::Channel(B))
            .iter()
            .any(|(task, instance)| *task == B && (201..210).contains(instance))
    );
    assert_eq!(assessment.counts.job_roots, 2);
}
