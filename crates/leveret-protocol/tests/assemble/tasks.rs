use crate::{end, manifest, meet, refused, sized, text, two_ends, us};
use leveret_plan::{CoreChoice, Costs, OverrunPolicy};
use leveret_protocol::assemble::assemble;
use leveret_protocol::declaration::*;
use leveret_types::TASKS_MAX;
use leveret_types::{ChannelId, MemberId, Nanos};

fn open_task() -> TaskDeclaration {
    TaskDeclaration { name: "work".to_owned(), ..TaskDeclaration::default() }
}

fn timed() -> TaskDeclaration {
    TaskDeclaration { period: Some(us(1_000)), budget: Some(us(100)), ..open_task() }
}

/// The code of `rank` declares these tasks; the others nothing.
fn code(rank: usize, tasks: Vec<TaskDeclaration>) -> Vec<MemberDeclarations> {
    let mut code = vec![MemberDeclarations::default(); 3];
    code[rank].tasks = tasks;
    code
}

fn of_manifest(member: &str, task: TaskDeclaration) -> JobDeclaration {
    JobDeclaration { tasks: vec![(member.to_owned(), task)], ..manifest() }
}

type Set = fn(&mut TaskDeclaration, bool);

const PROPERTIES: [(&str, Set); 7] = [
    ("period", |task, other| task.period = Some(us(if other { 2_000 } else { 1_000 }))),
    ("release", |task, other| task.release = Some(us(if other { 20 } else { 10 }))),
    ("deadline", |task, other| task.deadline = Some(us(if other { 900 } else { 800 }))),
    ("budget", |task, other| task.budget = Some(us(if other { 101 } else { 100 }))),
    ("core", |task, other| {
        task.core = Some(if other { CoreChoice::Any } else { CoreChoice::Pinned(1) });
    }),
    ("preemptible", |task, other| task.preemptible = Some(other)),
    ("overrun", |task, other| {
        task.overrun = Some(if other { OverrunPolicy::Stop } else { OverrunPolicy::Late });
    }),
];

#[test]
fn manifest_and_code_that_differ_are_both_named() {
    for (property, set) in PROPERTIES {
        let (mut left, mut right) = (timed(), timed());
        set(&mut left, false);
        set(&mut right, true);
        let words = ["task \"work\"", property, "the manifest", "member \"B\"", "make them equal"];
        refused(&of_manifest("B", left), &code(1, vec![right]), &words);
    }
}

#[test]
fn the_manifest_sets_the_budget_of_a_mover() {
    let mover = TaskDeclaration { mover: true, ..timed() };
    let in_manifest = TaskDeclaration { budget: Some(us(30)), ..open_task() };
    let task = &meet(&of_manifest("B", in_manifest), &code(1, vec![mover.clone()])).job.tasks[0];
    assert_eq!((task.budget, task.mover), (us(30), true));
    let task = &meet(&of_manifest("B", open_task()), &code(1, vec![mover])).job.tasks[0];
    assert_eq!(task.budget, us(100), "what is left open there is the library's estimate");
}

#[test]
fn manifest_and_code_complete_each_other() {
    for (property, set) in PROPERTIES {
        for in_manifest in [false, true] {
            let (mut left, mut right) = (timed(), open_task());
            set(if in_manifest { &mut left } else { &mut right }, false);
            let task = &meet(&of_manifest("B", left), &code(1, vec![right])).job.tasks[0];
            assert_eq!(task.member, MemberId(1));
            match property {
                "release" => assert_eq!(task.release, us(10)),
                "deadline" => assert_eq!(task.deadline, us(800)),
                "core" => assert_eq!(task.core, CoreChoice::Pinned(1)),
                "preemptible" => assert!(!task.preemptible),
                "overrun" => assert_eq!(task.overrun, OverrunPolicy::Late),
                _ => assert_eq!((task.period, task.budget), (us(1_000), us(100))),
            }
        }
    }
}

#[test]
fn what_nobody_gives_has_a_default_or_is_asked_for() {
    let on_core_of_member = meet(&manifest(), &code(0, vec![timed()])).job.tasks.remove(0);
    assert_eq!(on_core_of_member.core, CoreChoice::Pinned(0));
    assert_eq!((on_core_of_member.release, on_core_of_member.deadline), (Nanos::ZERO, us(1_000)));
    assert_eq!((on_core_of_member.preemptible, on_core_of_member.overrun), (false, OverrunPolicy::Skip));
    let anywhere = meet(&manifest(), &code(2, vec![timed()])).job.tasks.remove(0);
    assert_eq!(anywhere.core, CoreChoice::Any, "member C has no core");

    for property in ["period", "budget"] {
        let mut task = timed();
        if property == "period" {
            task.period = None
        } else {
            task.budget = None
        }
        let missing = format!("no {property} is given");
        refused(&manifest(), &code(0, vec![task]), &["task \"work\"", &missing, "member \"A\""]);
    }
}

#[test]
fn a_task_has_one_owner_and_a_body() {
    let mut twice = code(0, vec![timed()]);
    twice[1].tasks.push(timed());
    refused(&manifest(), &twice, &["task \"work\"", "member \"A\"", "member \"B\"", "only one may"]);
    let itself = code(0, vec![timed(), timed()]);
    refused(&manifest(), &itself, &["task \"work\"", "both member \"A\" and member \"A\""]);
    let others = assemble(&of_manifest("A", timed()), &code(1, vec![timed()]), Costs::default());
    let others = text(&others.expect_err("it is A's"));
    assert!(others.contains("both member \"A\" and member \"B\""), "{others}");
    refused(&of_manifest("A", timed()), &code(1, vec![]), &["task \"work\"", "member \"A\"", "no body"]);
    refused(&of_manifest("Z", timed()), &code(1, vec![]), &["task \"work\"", "no member \"Z\""]);
    let twice =
        JobDeclaration { tasks: vec![("A".to_owned(), timed()), ("B".to_owned(), timed())], ..manifest() };
    refused(&twice, &[], &["task \"work\"", "both the manifest"]);
    assert_eq!(meet(&of_manifest("A", timed()), &[]).job.tasks.len(), 1, "without code no body is asked for");
}

/// A writes "AB" in `world` and in group "pair"; B reads both.
fn two_groups() -> Vec<MemberDeclarations> {
    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    for (rank, which) in [(0, End::Source), (1, End::Target)] {
        let channel = ChannelDeclaration { group: Some("pair".to_owned()), ..sized() };
        code[rank].ends.push(end(which, channel));
        let members = vec!["A".to_owned(), "B".to_owned()];
        code[rank].groups.push(GroupDeclaration { name: "pair".to_owned(), members });
    }
    code
}

#[test]
fn channels_of_a_task_are_found_at_its_members_end() {
    let mut code = two_groups();
    let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    code[0].tasks.push(TaskDeclaration { writes: listed(&["AB", "pair/AB"]), ..timed() });
    let reader =
        TaskDeclaration { name: "reader".to_owned(), reads: listed(&["pair/AB", "pair/AB"]), ..timed() };
    code[1].tasks.push(reader);
    let job = meet(&manifest(), &code).job;
    assert_eq!(job.tasks[0].writes, [ChannelId(0), ChannelId(1)]);
    assert_eq!(job.tasks[1].reads, [ChannelId(1)], "each once");

    code[0].tasks[0].writes = Vec::new();
    code[0].tasks[0].reads = listed(&["AB"]);
    refused(
        &manifest(),
        &code,
        &["task \"work\"", "no channel whose target is this task's member", "\"AB\""],
    );
}

#[test]
fn a_name_that_two_groups_know_is_not_guessed() {
    let mut code = two_groups();
    for member in &mut code[..2] {
        member.ends[0].channel.group = Some("other".to_owned());
        let members = vec!["A".to_owned(), "B".to_owned()];
        member.groups.push(GroupDeclaration { name: "other".to_owned(), members });
    }
    code[0].tasks.push(TaskDeclaration { writes: vec!["AB".to_owned()], ..timed() });
    refused(&manifest(), &code, &["task \"work\"", "other or pair", "GROUP/AB"]);
}

#[test]
fn more_than_can_be_numbered_is_refused() {
    let many = (0..=TASKS_MAX).map(|index| TaskDeclaration { name: index.to_string(), ..timed() }).collect();
    refused(
        &manifest(),
        &code(0, many),
        &["job \"job\"", &(TASKS_MAX + 1).to_string(), &TASKS_MAX.to_string()],
    );
    let mut code = code(0, Vec::new());
    let ends = |index: usize| end(End::Source, ChannelDeclaration { name: index.to_string(), ..sized() });
    code[0].ends = (0..70_000).map(ends).collect();
    let errors = assemble(&manifest(), &code, Costs::default()).expect_err("too many ends");
    assert!(text(&errors).contains("70000 channels, but at most 4096"), "{}", text(&errors));
}

#[test]
fn a_task_by_another_spelling_is_named() {
    let misspelt = TaskDeclaration { name: "wrok".to_owned(), ..timed() };
    let errors = assemble(&of_manifest("B", misspelt), &code(1, vec![timed()]), Costs::default());
    let text = text(&errors.expect_err("the manifest's task has no body"));
    let hint = "gives it no body; it declares \"work\", which the manifest does not: name them alike";
    assert!(text.contains(hint), "{text}");
    // Another member's task is another task.
    let misspelt = TaskDeclaration { name: "wrok".to_owned(), ..timed() };
    let words = ["task \"wrok\"", "gives it no body"];
    let text = refused(&of_manifest("B", misspelt), &code(0, vec![timed()]), &words);
    assert!(!text.contains("\"work\""), "{text}");
}

#[test]
fn a_misspelt_channel_of_a_task_is_told_its_name() {
    let reads = TaskDeclaration { reads: vec!["BA".to_owned()], ..timed() };
    let mut code = two_ends(end(End::Source, sized()), end(End::Target, sized()));
    code[1].tasks = vec![reads];
    refused(
        &manifest(),
        &code,
        &["no channel whose target is this task's member, named \"BA\"; did you mean \"AB\"?"],
    );
}
