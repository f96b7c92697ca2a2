//! Plans of systems as pictures: cores and links below each other, what leads from the one to the other, and the longest ways of chains, each against the plan.

use crate::common::systems::{add_local, add_task, cell, systems};
use crate::common::us;
use leveret_plan::ExplainBudget;
use leveret_plan::network::Effort;
use leveret_plan::system::{Step, System, SystemPlan, plan_system_within};
use leveret_report::picture::{self, Arrow, Picture, Selection, Trace, select};
use leveret_types::Nanos;
use proptest::prelude::*;

fn planned(system: &System) -> Option<SystemPlan> {
    plan_system_within(system, Effort { seed: 0, steps: 100_000 }, ExplainBudget::NONE).ok()
}

fn drawn(system: &System) -> (SystemPlan, Picture) {
    let plan = planned(system).expect("a plan");
    let picture = picture::system(system, &plan).expect("a picture");
    (plan, picture)
}

/// The group of a bar.
fn group(picture: &Picture, bar: u32) -> u32 {
    picture.instances[picture.bars[bar as usize].instance as usize].group
}

/// Start and end of a bar.
fn span(picture: &Picture, bar: u32) -> (Nanos, Nanos) {
    let bar = picture.bars[bar as usize];
    (bar.start, bar.start + bar.length)
}

/// Every stretch of every host and every slot of the network has its bar in each turn of its table.
fn same_bars(system: &System, plan: &SystemPlan, picture: &Picture) {
    let mut expected = Vec::new();
    for (host, own) in plan.hosts.iter().enumerate() {
        for (task, planned) in system.hosts[host].job.tasks.iter().zip(&own.tasks) {
            let row = format!("{} core {}", system.host_name(host as u16), planned.core);
            for turn in 0..picture.round.0 / own.hyperperiod.0 {
                let later = own.hyperperiod.saturating_mul(turn);
                let segments = planned.instances.iter().flat_map(|instance| &instance.segments);
                expected.extend(segments.map(|one| (row.clone(), task.name.clone(), one.start + later)));
            }
        }
    }
    let names: Vec<_> = system.traffic.streams.iter().map(|one| &one.name).collect();
    let names: Vec<_> = names.into_iter().chain(system.crossings.iter().map(|one| &one.name)).collect();
    for (link, slots) in plan.network.links.iter().enumerate() {
        let row = system.traffic.network.link_name(leveret_types::LinkId(link as u32));
        for turn in 0..picture.round.0 / plan.network.hyperperiod.0 {
            let later = plan.network.hyperperiod.saturating_mul(turn);
            let slot = |slot: &leveret_plan::network::Slot| {
                (row.clone(), names[slot.stream.index()].clone(), slot.start + later)
            };
            expected.extend(slots.iter().map(slot));
        }
    }
    let bar = |(index, bar): (usize, &picture::Bar)| {
        let name = picture.groups[group(picture, index as u32) as usize].name.clone();
        (picture.rows[bar.row as usize].name.clone(), name, bar.start)
    };
    let mut found: Vec<_> = picture.bars.iter().enumerate().map(bar).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

/// What leads from a task to a link, or from a link to a task, does so within the window of its channel.
fn arrows_fit(system: &System, plan: &SystemPlan, picture: &Picture) {
    let kind = |bar: u32| picture.groups[group(picture, bar) as usize].kind;
    let mut crossing = vec![(0, 0); system.crossings.len()];
    for arrow in &picture.arrows {
        let shift = picture.round.saturating_mul(arrow.rounds);
        let (from, to) = (span(picture, arrow.from), span(picture, arrow.to));
        assert!(from.1 <= to.0 + shift, "{arrow:?}");
        let name = &picture.groups[arrow.group as usize].name;
        let Some(index) = system.crossings.iter().position(|one| one.name == *name) else {
            assert_eq!((kind(arrow.from), kind(arrow.to)), ("task", "task"));
            continue;
        };
        let window = plan.windows[index];
        let Arrow { at, .. } = *arrow;
        match (kind(arrow.from), kind(arrow.to)) {
            ("task", "channel") => {
                crossing[index].0 += 1;
                assert!(from.1 <= at + shift && at <= to.0);
                assert_eq!((at - window.release).0 % system.crossings[index].period.0, 0);
            }
            ("channel", "task") => {
                crossing[index].1 += 1;
                assert!(from.1 <= at && at <= to.0 + shift);
            }
            kinds => panic!("{kinds:?}"),
        }
    }
    for (one, (written, read)) in system.crossings.iter().zip(crossing) {
        let messages = picture.round.0 / one.period.0;
        assert_eq!(written, messages, "{}: each message is written once", one.name);
        let reads = |port: &leveret_plan::system::Port| -> i64 {
            let tasks = system.hosts[usize::from(port.host)].job.tasks.iter();
            tasks
                .filter(|task| task.reads.contains(&port.channel))
                .map(|task| picture.round.0 / task.period.0)
                .sum()
        };
        assert_eq!(read, one.targets.iter().map(reads).sum::<i64>(), "{}: and read by everybody", one.name);
    }
}

/// The trace takes as long as the plan says, over bars that lead from one to the next.
fn trace_fits(system: &System, plan: &SystemPlan, picture: &Picture, trace: &Trace) {
    let chain = picture.groups[trace.group as usize].name.as_str();
    let index = system.chains.iter().position(|one| one.name == chain).expect("a chain");
    let (declared, takes) = (&system.chains[index], plan.chains[index]);
    let takes = if trace.name == "reaction" { takes.reaction } else { takes.age };
    let ends = [declared.path.first(), declared.path.last()].map(|step| match step {
        Some(Step::Task { host, .. }) => Some(*host),
        _ => None,
    });
    let error = system.traffic.clock_error;
    let clocks = if ends[0] == ends[1] { Nanos::ZERO } else { error + error };
    assert_eq!(trace.span.1 - trace.span.0 + clocks, takes);
    assert!(trace.value.starts_with(&takes.to_string()), "{}", trace.value);
    assert!((Nanos::ZERO..picture.round).contains(&trace.span.0));
    let members = &picture.groups[trace.group as usize].members;
    assert!(trace.bars.iter().all(|bar| members.contains(&group(picture, *bar))));
    for pair in trace.bars.windows(2) {
        let (from, to) = (picture.bars[pair[0] as usize], picture.bars[pair[1] as usize]);
        let joined = picture.arrows.iter().any(|arrow| (arrow.from, arrow.to) == (pair[0], pair[1]));
        assert!(to.after == Some(pair[0]) || joined, "{from:?} {to:?}");
    }
    let last = trace.bars.last().expect("bars");
    assert_eq!((trace.span.1 - span(picture, *last).1).0 % picture.round.0, 0);
    let steps =
        declared.path.len() + usize::from(trace.name == "reaction") + usize::from(clocks > Nanos::ZERO);
    assert_eq!(trace.steps.len(), steps);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_drawn_is_what_was_planned(system in systems()) {
        let Some(plan) = planned(&system) else { return Ok(()) };
        let picture = picture::system(&system, &plan).expect("a picture");
        same_bars(&system, &plan, &picture);
        arrows_fit(&system, &plan, &picture);
        prop_assert_eq!(picture.traces.len(), system.chains.len() * 2);
        for trace in &picture.traces {
            trace_fits(&system, &plan, &picture, trace);
        }
        // Slack is that of the summary.
        let summary = leveret_plan::system::summarise_system(&system, &plan);
        for task in summary.hosts.iter().flat_map(|host| &host.tasks) {
            let group = picture.groups.iter().position(|one| one.kind == "task" && one.name == task.name);
            let own = picture.instances.iter().filter(|one| Some(one.group as usize) == group);
            prop_assert_eq!(own.map(|one| one.latest - one.end).min(), task.slack);
        }
    }
}

#[test]
fn a_chain_is_drawn_alone() {
    let mut system = cell(true, Some(4000));
    // On no chain.
    add_task(&mut system, 0, "other", 1000, (0, 1000), 50);
    let (_, picture) = drawn(&system);
    let whole = picture.bars.len();
    assert_eq!(picture.round, us(2000));
    let chain = Selection { groups: vec!["chain0".to_owned()], ..Selection::default() };
    let only = select(picture, &chain).expect("a chain");
    assert_eq!(only.bars.len(), whole - 2);
    for trace in &only.traces {
        let names: Vec<_> =
            trace.bars.iter().map(|bar| only.groups[group(&only, *bar) as usize].name.as_str()).collect();
        assert_eq!(
            names,
            ["take", "image", "image", "image", "step", "setpoint", "setpoint", "setpoint", "act"]
        );
    }
    let early = Selection { until: Some(us(300)), ..Selection::default() };
    let early = select(only, &early).expect("a stretch");
    assert!(early.traces.iter().all(|trace| trace.bars.len() < 9));
}

#[test]
fn the_page_has_the_longest_ways() {
    let (_, picture) = drawn(&cell(true, None));
    let page = picture::page(&picture).expect("a page");
    let begin = page.find("id=\"data\">").expect("data") + 10;
    let end = begin + page[begin..].find("</script>").expect("an end");
    let data: serde_json::Value = serde_json::from_str(&page[begin..end]).expect("JSON");
    let traces = data["traces"].as_array().expect("traces");
    assert_eq!(traces.len(), 2);
    for (told, trace) in traces.iter().zip(&picture.traces) {
        let instances: Vec<_> = told[4]
            .as_array()
            .expect("bars")
            .iter()
            .map(|bar| data["bars"]["instance"][bar.as_u64().expect("a place") as usize].as_u64())
            .collect();
        let expected: Vec<_> =
            trace.bars.iter().map(|bar| Some(u64::from(picture.bars[*bar as usize].instance))).collect();
        assert_eq!(instances, expected);
        assert_eq!(told[1], trace.name);
    }
}

/// Hosts whose tables repeat at different intervals: each is drawn as often as it fits, and a message is read where it was written, however many rounds later.
#[test]
fn tables_of_different_length_have_one_axis() {
    let mut system = cell(false, None);
    let slow = add_task(&mut system, 0, "slow", 6000, (0, 6000), 50);
    let log = add_task(&mut system, 0, "log", 6000, (0, 6000), 50);
    add_local(&mut system, "notes", slow, log, (5000, 11_000));
    let (plan, picture) = drawn(&system);
    assert_eq!((plan.hosts[0].hyperperiod, picture.round), (us(6000), us(6000)));
    assert!(plan.hosts.iter().any(|own| own.hyperperiod == us(2000)));
    same_bars(&system, &plan, &picture);
    arrows_fit(&system, &plan, &picture);
}
