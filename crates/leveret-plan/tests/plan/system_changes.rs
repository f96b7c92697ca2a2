//! Plans of systems that are compared, and that keep what others have.

use crate::common::systems::{add_chain, add_crossing, add_local, add_task, bare, cell};
use crate::common::us;
use leveret_plan::checker::check_system;
use leveret_plan::network::{Effort, Flow, KeepError};
use leveret_plan::system::{
    KeptSystem, Step, System, SystemDiff, SystemPlan, SystemRefusal, diff_systems, keep_system, plan_system,
    summarise_system,
};
use leveret_types::{ByteSize, Nanos, NodeId};

fn planned(system: &System) -> SystemPlan {
    let plan =
        plan_system(system, Effort::default()).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&plan, system).expect("a right plan");
    plan
}

fn diff(first: &System, second: &System) -> SystemDiff {
    diff_systems((first, &planned(first)), (second, &planned(second)))
}

/// Camera, controller and drive, and beside them a task that writes for another.
fn base() -> System {
    let mut system = cell(false, None);
    let see = add_task(&mut system, 0, "see", 4000, (0, 4000), 100);
    let log = add_task(&mut system, 0, "log", 4000, (0, 4000), 100);
    add_local(&mut system, "notes", see, log, (0, 2000));
    system
}

#[test]
fn the_same_plan_differs_in_nothing() {
    let system = base();
    let diff = diff(&system, &system);
    assert!(diff.is_empty(), "{diff:?}");
    assert_eq!((diff.kept_tasks, diff.network.kept), (5, 2));
    assert_eq!(
        diff.render(),
        "tasks: 5 kept, 0 changed, 0 added, 0 removed\nnetwork: 2 kept, 0 changed, 0 added, 0 removed\nchains: as before\n"
    );
}

#[test]
fn a_longer_task_moves_what_waits_for_it() {
    let first = base();
    let mut second = base();
    second.hosts[0].job.tasks[0].budget = us(260);
    let diff = diff(&first, &second);
    let host = &diff.hosts[0];
    let take = host.changed.iter().find(|task| task.name == "take").expect("take");
    assert!(take.declared_otherwise && take.moved == take.instances && take.farthest == us(60), "{take:?}");
    let window = diff.windows.iter().find(|window| window.name == "image").expect("a window");
    assert_eq!(window.after.release - window.before.release, us(60));
    let image = diff.network.changed.iter().find(|channel| channel.name == "image").expect("image");
    assert_eq!(image.farthest, us(60));
    let chain = &diff.chains[0];
    let [before, after] = chain.age.expect("another age");
    assert!(!chain.declared_otherwise && after > before);
    let text = diff.render();
    for words in [
        "~ take on h0: declared otherwise; ",
        "channel image between hosts: window ",
        "~ chain chain0: reaction within ",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_comes_and_goes_is_named() {
    let first = base();
    let mut second = cell(false, None);
    let watch = add_task(&mut second, 1, "watch", 4000, (0, 4000), 50);
    let show = add_task(&mut second, 2, "show", 4000, (0, 4000), 50);
    let seen = add_crossing(&mut second, "seen", watch, &[show], 100, None);
    add_chain(&mut second, &[watch, seen, show], None, None);
    let diff = diff(&first, &second);
    let of = |name: &str| diff.hosts.iter().find(|host| host.name == name).expect("a host");
    assert_eq!(
        (of("h0").removed.as_slice(), of("h0").removed_channels.as_slice()),
        (&["log".to_owned(), "see".to_owned()][..], &["notes".to_owned()][..])
    );
    assert_eq!(
        (of("h1").added.as_slice(), of("h2").added.as_slice()),
        (&["watch".to_owned()][..], &["show".to_owned()][..])
    );
    assert_eq!(
        (diff.network.added.as_slice(), diff.added_chains.as_slice()),
        (&["seen".to_owned()][..], &["chain1".to_owned()][..])
    );
    let text = diff.render();
    for line in ["  + watch on h1\n", "  - channel notes on h0\n", "  + seen\n", "  + chain chain1\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn another_core_other_buffers_and_another_limit_are_told() {
    let first = base();
    let mut second = base();
    let core = planned(&first).hosts[0].tasks[1].core;
    second.hosts[0].job.tasks[1].core = leveret_plan::CoreChoice::Pinned(1 - core);
    second.hosts[0].job.channels[1].buffers = 7;
    second.chains[0].age = Some(us(5000));
    let diff = diff(&first, &second);
    let see = diff.hosts[0].changed.iter().find(|task| task.name == "see").expect("see");
    assert_eq!((see.core, see.declared_otherwise), (Some([core, 1 - core]), true));
    let notes = &diff.hosts[0].changed_channels[0];
    assert!(
        notes.name == "notes"
            && notes.declared_otherwise
            && notes.buffers.is_some_and(|[_, after]| after == 7)
    );
    assert!(diff.chains[0].declared_otherwise);
}

/// A system whose hosts have no tasks is a network; what moves beside the table is compared like all else.
#[test]
fn flows_are_compared() {
    let mut first = bare(2, 3, 0);
    first.hosts.clear();
    let flow = |name: &str, size: u64| Flow::new(name, NodeId(2), NodeId(4), ByteSize(size), us(1000));
    first.traffic.flows = vec![flow("alarm", 100), flow("state", 200), flow("old", 50)];
    let mut second = first.clone();
    assert!(diff(&first, &second).is_empty());
    second.traffic.flows[0].burst = 3;
    second.traffic.flows[2].name = "new".to_owned();
    let diff = diff(&first, &second);
    assert_eq!(
        (&diff.network.added[..], &diff.network.removed[..]),
        (&["new".to_owned()][..], &["old".to_owned()][..])
    );
    let of = |name: &str| diff.network.changed_flows.iter().find(|flow| flow.name == name);
    let alarm = of("alarm").expect("alarm");
    let [before, after] = alarm.bound.expect("another bound");
    assert!(alarm.declared_otherwise && alarm.way.is_none() && after > before, "{alarm:?}");
    // Its port is busier.
    let state = of("state").expect("state");
    assert!(!state.declared_otherwise && state.bound.is_some());
    let text = diff.render();
    assert!(text.contains("~ alarm, beside the time table: declared otherwise; arrives within "), "{text}");
}

fn planner(system: &System) -> Result<SystemPlan, SystemRefusal> {
    plan_system(system, Effort::default())
}

fn kept(first: &System, second: &System) -> (KeptSystem, SystemDiff) {
    let old = planned(first);
    let kept =
        keep_system((first, &old), second, &planner).unwrap_or_else(|refusal| panic!("{}", refusal.reason()));
    check_system(&kept.plan, second).expect("a right plan");
    let diff = diff_systems((first, &old), (second, &kept.plan));
    (kept, diff)
}

#[test]
fn what_nobody_touched_stays() {
    let first = base();
    let mut second = base();
    let watch = add_task(&mut second, 1, "watch", 4000, (0, 4000), 50);
    let show = add_task(&mut second, 1, "show", 4000, (0, 4000), 50);
    add_local(&mut second, "seen", watch, show, (0, 2000));
    let (kept, diff) = kept(&first, &second);
    assert_eq!(kept.hosts, ["h1"]);
    assert!(kept.moved.expect("kept").is_empty());
    assert!(diff.windows.is_empty() && diff.network.is_empty());
    assert!(diff.hosts.iter().all(|host| host.name == "h1"), "{diff:?}");
    assert_eq!(diff.hosts[0].added, ["show", "watch"]);
}

#[test]
fn a_new_channel_leaves_the_others_where_they_are() {
    let first = base();
    let mut second = base();
    let tell = add_task(&mut second, 2, "tell", 2000, (0, 2000), 50);
    let hear = add_task(&mut second, 0, "hear", 2000, (0, 2000), 50);
    let word = add_crossing(&mut second, "word", tell, &[hear], 400, None);
    add_chain(&mut second, &[tell, word, hear], None, None);
    let (kept, diff) = kept(&first, &second);
    assert_eq!(kept.hosts, ["h0", "h2"]);
    assert!(diff.windows.is_empty() && diff.network.changed.is_empty(), "{diff:?}");
    assert_eq!(diff.network.added, ["word"]);
}

#[test]
fn what_cannot_be_kept_is_said() {
    let first = base();
    let mut faster = base();
    for link in &mut faster.traffic.network.links {
        link.rate.0 *= 10;
    }
    let (kept, _) = kept(&first, &faster);
    assert!(matches!(kept.moved, Err(KeepError::Network)));
    // Twice as long, the task does not end before the window that was chosen for what it writes, and what it makes would be too old a period later.
    let limit = Some(planned(&first).chains[0].age + us(400));
    let (mut tight, mut longer) = (base(), base());
    (tight.chains[0].age, longer.chains[0].age) = (limit, limit);
    longer.hosts[0].job.tasks[0].budget = us(400);
    planned(&longer);
    assert!(keep_system((&tight, &planned(&tight)), &longer, &planner).is_err());
}

#[test]
fn the_summary_has_slack_and_buffers_of_everything() {
    let mut system = base();
    system.chains[0].age = Some(us(5000));
    let plan = planned(&system);
    let summary = summarise_system(&system, &plan);
    for (host, own) in summary.hosts.iter().zip(&plan.hosts) {
        assert_eq!(host.cores, own.cores);
        for (task, planned) in host.tasks.iter().zip(&own.tasks) {
            let least = planned.instances.iter().map(|one| one.latest - one.end()).min();
            assert_eq!((task.slack, task.response), (least, Some(planned.response_bound)));
            assert!(task.slack >= Some(Nanos::ZERO));
        }
    }
    let notes = &summary.hosts[0].channels;
    assert_eq!((notes.len(), notes[0].name.as_str()), (1, "notes"));
    assert_eq!(notes[0].buffers, plan.hosts[0].channels[1].buffers);
    // Its message is to be inserted by 2 ms less what publishing takes and the error of the clock.
    let see = plan.hosts[0].tasks[1].instances[0].end();
    assert_eq!(notes[0].slack, Some(us(1999) - Nanos(500) - see));
    for (crossing, channel) in system.crossings.iter().zip(&summary.channels) {
        let port = crossing.source;
        let planned = &plan.hosts[usize::from(port.host)].channels[port.channel.index()];
        assert_eq!((channel.source_buffers, channel.target_buffers.len()), (planned.buffers, 1));
        assert!(channel.insertion_slack >= Some(Nanos::ZERO));
    }
    let (chain, planned) = (&summary.chains[0], plan.chains[0]);
    assert_eq!((chain.age_slack, chain.reaction_slack), (Some(us(5000) - planned.age), None));
    let ways = chain.ways.as_ref().expect("instances");
    assert_eq!((ways.reaction.len(), ways.age.len()), (5, 5));
    assert!(ways.missed < ways.reaction[0]);
    assert!(matches!(system.chains[0].path[0], Step::Task { host: 0, .. }));
    let text = summary.render();
    for head in
        ["task  host  core  ends within", "channel on a host", "best effort", "waits at most", "buffers"]
    {
        assert!(text.contains(head), "{head}: {text}");
    }
}
