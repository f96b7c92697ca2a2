//! Plans as pictures: what is drawn is what was planned, what is left out is what was asked for, and the page holds it.

use leveret_plan::network::{Effort, NetworkPlan, Stream, Traffic, plan_network};
use leveret_plan::{CoreChoice, Costs, Job, Member, OverrunPolicy, Task};
use leveret_report::picture::{
    self, BARS_MAX, Bar, Group, Instance, Picture, Row, Selection, TooLarge, select,
};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{ByteSize, MemberId, Nanos, NodeId};
use proptest::prelude::*;

const MICRO: i64 = 1_000;

/// Two switches with two hosts each; one stream to two hosts, one back.
fn planned() -> (Traffic, NetworkPlan) {
    let mut network = shape(Shape::Line, 2, 4);
    let reservation =
        Reservation { period: Nanos(500 * MICRO), start: Nanos(400 * MICRO), length: Nanos(50 * MICRO) };
    network.links[0].reserved.push(reservation);
    let period = |us: i64| Nanos(us * MICRO);
    let mut wide = Stream::new("wide", NodeId(2), NodeId(3), ByteSize(900), period(1000));
    wide.targets.push(NodeId(5));
    let back = Stream::new("back", NodeId(5), NodeId(4), ByteSize(64), period(500));
    let traffic = Traffic {
        network,
        streams: vec![wide, back],
        flows: Vec::new(),
        clock_error: Nanos(100),
        whole_cycles: false,
    };
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    (traffic, plan)
}

#[test]
fn every_slot_is_a_bar_that_follows_the_one_before() {
    let (traffic, plan) = planned();
    let picture = picture::network("n", &traffic, &plan);
    assert_eq!(picture.bars.len(), plan.links.iter().map(Vec::len).sum::<usize>());
    for bar in &picture.bars {
        let instance = picture.instances[bar.instance as usize];
        let way = &plan.ways[instance.group as usize][0];
        let hop = way.tree.hops[usize::from(bar.part)];
        assert_eq!(picture.rows[bar.row as usize].name, traffic.network.link_name(hop.link));
        let before = bar.after.map(|after| picture.bars[after as usize]);
        assert_eq!(before.map(|before| u32::from(before.part)), hop.parent);
        assert!(before.is_none_or(|before| before.instance == bar.instance && before.start < bar.start));
        let slots = &plan.links[hop.link.index()];
        let same =
            |slot: &&leveret_plan::network::Slot| slot.start == bar.start && slot.stream.0 == instance.group;
        assert_eq!(slots.iter().filter(same).count(), 1);
    }
    // Slack is that of the summary.
    let summary = leveret_plan::network::summarise(&traffic, &plan);
    for (group, stream) in summary.streams.iter().enumerate() {
        let slacks = picture.instances.iter().filter(|one| one.group as usize == group);
        assert_eq!(slacks.map(|one| one.latest - one.end).min(), Some(stream.slack));
    }
    let reserved: usize = picture.rows.iter().map(|row| row.reserved.len()).sum();
    assert_eq!(reserved, 1);
}

#[test]
fn ways_lead_downwards() {
    let (traffic, plan) = planned();
    let picture = picture::network("n", &traffic, &plan);
    let downwards = |bar: &Bar| bar.after.is_none_or(|after| picture.bars[after as usize].row < bar.row);
    assert!(picture.bars.iter().all(downwards));
    assert_eq!(picture.rows[0].section, "from hosts");
}

#[test]
fn what_is_asked_for_is_drawn_alone() {
    let (traffic, plan) = planned();
    let whole = || picture::network("n", &traffic, &plan);
    let only = Selection { groups: vec!["back".to_owned()], ..Selection::default() };
    let back = select(whole(), &only).expect("a channel");
    assert_eq!((back.rows.len(), back.bars.len(), back.instances.len()), (3, 6, 2));
    assert!(
        back.bars.iter().all(|bar| bar.after.is_none_or(|after| back.bars[after as usize].part < bar.part))
    );
    let early = Selection { until: Some(Nanos(200 * MICRO)), ..Selection::default() };
    let early = select(whole(), &early).expect("a stretch");
    assert_eq!(early.span, (Nanos::ZERO, Nanos(200 * MICRO)));
    assert!(!early.bars.is_empty() && early.bars.len() < whole().bars.len());
    let wrong = Selection { groups: vec!["bakc".to_owned()], ..Selection::default() };
    let error = select(whole(), &wrong).expect_err("no such channel").to_string();
    assert_eq!(error, "there is no channel, task or chain \"bakc\"; did you mean \"back\"");
}

#[test]
fn too_much_is_told_with_what_fits() {
    let bar = |index: usize| Bar {
        row: 0,
        instance: 0,
        start: Nanos(index as i64 * 10),
        length: Nanos(5),
        lead: Nanos::ZERO,
        part: 0,
        after: None,
    };
    let count = BARS_MAX * 2;
    let round = Nanos(count as i64 * 10);
    let instance =
        Instance { group: 0, number: 0, copy: 0, earliest: Nanos::ZERO, latest: round, end: round };
    let picture = Picture {
        round,
        span: (Nanos::ZERO, round),
        rows: vec![Row::default()],
        groups: vec![Group::default()],
        instances: vec![instance],
        bars: (0..count).map(bar).collect(),
        ..Picture::default()
    };
    let TooLarge { bars, fits, .. } = picture::page(&picture).expect_err("too much");
    assert_eq!(bars, count);
    let part = select(picture, &Selection { until: Some(fits), ..Selection::default() }).expect("a stretch");
    assert!(part.bars.len() <= BARS_MAX && part.bars.len() > BARS_MAX / 2);
    assert!(picture::page(&part).is_ok());
}

fn job() -> Job {
    let task = |name: &str, period: i64, budget: i64, preemptible: bool| Task {
        name: name.to_owned(),
        member: MemberId(0),
        period: Nanos(period * MICRO),
        release: Nanos::ZERO,
        deadline: Nanos(period * MICRO),
        budget: Nanos(budget * MICRO),
        core: CoreChoice::Pinned(2),
        preemptible,
        overrun: OverrunPolicy::Skip,
        reads: Vec::new(),
        writes: Vec::new(),
        mover: false,
    };
    Job {
        name: "</script>".to_owned(),
        cores: vec![2],
        members: vec![Member { name: "m".to_owned() }],
        tasks: vec![task("long", 1000, 400, true), task("short", 250, 50, false)],
        channels: Vec::new(),
        sporadics: Vec::new(),
        costs: Costs::default(),
    }
}

#[test]
fn a_task_that_is_interrupted_has_several_bars() {
    let job = job();
    let plan = leveret_plan::plan(&job).expect("a plan");
    let picture = picture::job(&job, &plan);
    let segments: usize =
        plan.tasks.iter().flat_map(|task| &task.instances).map(|instance| instance.segments.len()).sum();
    assert_eq!(picture.bars.len(), segments);
    assert!(segments > 5, "the long one is interrupted");
    let follows =
        |bar: &&Bar| bar.after.is_some_and(|after| picture.bars[after as usize].part + 1 == bar.part);
    assert_eq!(picture.bars.iter().filter(follows).count(), segments - 5);
    let leads = picture.bars.iter().filter(|bar| bar.lead > Nanos::ZERO).count();
    assert_eq!((leads, picture.rows[0].name.as_str()), (5, "core 2"));
}

#[test]
fn no_name_ends_the_data_or_the_page() {
    let mut job = job();
    job.tasks[0].name = "<!--<script>&\"'".to_owned();
    let plan = leveret_plan::plan(&job).expect("a plan");
    let page = picture::page(&picture::job(&job, &plan)).expect("a page");
    let data = data(&page);
    assert_eq!(data["groups"][0][0], "<!--<script>&\"'");
    assert_eq!(page.matches("</script>").count(), 2, "that of the data and that of the script");
    for outside in ["http:", "https:", "src=", "url(", "@import", "fetch("] {
        let allowed = page.matches("http://www.w3.org/2000/svg").count() * usize::from(outside == "http:");
        assert_eq!(page.matches(outside).count(), allowed, "{outside} would need another file");
    }
}

fn data(page: &str) -> serde_json::Value {
    let begin = page.find("id=\"data\">").expect("data") + 10;
    let end = begin + page[begin..].find("</script>").expect("an end");
    serde_json::from_str(&page[begin..end]).expect("JSON")
}

fn numbers(value: &serde_json::Value) -> Vec<i64> {
    value.as_array().expect("a list").iter().map(|one| one.as_i64().expect("a number")).collect()
}

proptest! {
    /// Bars in any order come out of the page as they went in.
    #[test]
    fn the_page_holds_every_bar(bars in prop::collection::vec((0u32..4, 0u32..6, 0i64..3000, 1i64..40, 0u16..5), 0..60), arrows in any::<bool>()) {
        let round = Nanos(1000);
        let place = |index: usize| (index > 0).then(|| index as u32 - 1);
        let bar = |(index, (row, instance, start, length, part)): (usize, &(u32, u32, i64, i64, u16))| Bar {
            row: *row, instance: *instance, start: Nanos(*start), length: Nanos(*length), lead: Nanos::ZERO, part: *part, after: place(index),
        };
        let all: Vec<Bar> = bars.iter().enumerate().map(bar).collect();
        let instance = |number| Instance { group: 0, number, copy: 0, earliest: Nanos(5), latest: Nanos(50), end: Nanos(40) };
        let arrow = picture::Arrow { group: 0, from: 0, to: 0, rounds: 1, at: Nanos(7) };
        let picture = Picture {
            round,
            span: (Nanos::ZERO, round),
            rows: vec![Row::default(); 4],
            groups: vec![Group::default()],
            instances: (0..6).map(instance).collect(),
            arrows: if arrows && !all.is_empty() { vec![arrow] } else { Vec::new() },
            bars: all.clone(),
            ..Picture::default()
        };
        let data = data(&picture::page(&picture).expect("a page"));
        let column = |name: &str| numbers(&data["bars"][name]);
        let (counts, starts, lengths, instances) = (column("counts"), column("start"), column("length"), column("instance"));
        let (parts, after, turned) = (column("part"), column("after"), column("turned"));
        let turns: std::collections::BTreeMap<i64, i64> = turned.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        let mut found = Vec::new();
        let mut next = 0usize;
        for (row, count) in counts.iter().enumerate() {
            let mut at = 0;
            for _ in 0..*count {
                at += starts[next];
                let start = at + turns.get(&(next as i64)).copied().unwrap_or(0) * round.0;
                found.push((row as u32, instances[next] as u32, start, lengths[next], parts[next] as u16));
                next += 1;
            }
        }
        for (index, after) in after.iter().enumerate().filter(|(_, after)| **after > 0) {
            let before = found[*after as usize - 1];
            let follows = |at: usize| at > 0 && bars[at] == found[index] && bars[at - 1] == before;
            prop_assert!((0..bars.len()).any(follows));
        }
        let mut expected = bars.clone();
        expected.sort_unstable();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}
