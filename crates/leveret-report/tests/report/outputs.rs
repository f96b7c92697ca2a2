//! The outputs: the page, the JSON against its schema, the trace, the table, `why`, the budgets.

use leveret_plan::{CoreChoice, PlannedSporadic, Qos, Sporadic, Start};
use leveret_report::record::{
    Event, EventKind, InstanceRecord, Left, Outcome, Phase, SwitchEvent, ThreadKind,
};
use leveret_report::synthetic::{A, B, C, Plant, Ring, ring};
use leveret_report::why::{self, WhyError, why};
use leveret_report::{Report, html, json, learn, text, trace};
use leveret_types::{ChannelId, MemberId, Nanos};
use serde_json::Value;

fn planted() -> leveret_report::record::RunRecord {
    let plants = vec![
        (70, Plant::Hog { task: B, priority: 90, by: Nanos::from_micros(260) }),
        (150, Plant::PageFault { task: A, by: Nanos::from_micros(140), logged: true }),
        (220, Plant::StallInSpin { task: C, by: Nanos::from_micros(300) }),
    ];
    ring(&Ring { rounds: 500, sizes: vec![4, 1024], stalls: true, plants, ..Ring::default() })
}

/// The part of JSON Schema that `docs/report.schema.json` uses.
fn check(schema: &Value, root: &Value, value: &Value, place: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target =
            root.pointer(reference.trim_start_matches('#')).ok_or(format!("{place}: no {reference}"))?;
        return check(target, root, value, place);
    }
    let types = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let fits = |kind: &&str| match *kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{place}: the schema uses the unknown type {other}"),
    };
    if !types.is_empty() && !types.iter().any(fits) {
        return Err(format!("{place}: {value} is not {types:?}"));
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return Err(format!("{place}: {value} is not one of {allowed:?}"));
    }
    if let Some(constant) = schema.get("const")
        && constant != value
    {
        return Err(format!("{place}: {value} is not {constant}"));
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                return Err(format!("{place}: \"{name}\" is missing"));
            }
        }
        for (name, member) in object {
            match (schema["properties"].get(name), schema.get("additionalProperties")) {
                (Some(of), _) => check(of, root, member, &format!("{place}/{name}"))?,
                (None, Some(Value::Bool(false))) => {
                    return Err(format!("{place}: \"{name}\" is not in the schema"));
                }
                (None, Some(of)) if of.is_object() => check(of, root, member, &format!("{place}/{name}"))?,
                _ => {}
            }
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        check(&schema["items"], root, item, &format!("{place}/{number}"))?;
    }
    Ok(())
}

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../docs/report.schema.json")).expect("the schema is JSON")
}

#[test]
fn json_matches_its_schema() {
    let schema = schema();
    for record in [planted(), ring(&Ring { rounds: 1, ..Ring::default() })] {
        let value: Value = serde_json::from_str(&json::text(&Report::of(&record))).expect("JSON");
        check(&schema, &schema, &value, "").unwrap_or_else(|fault| panic!("{fault}"));
    }
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = schema();
    let good = json::value(&Report::of(&planted()));
    for pointer in [
        "/rounds",
        "/misses/job",
        "/data_path/allocations_after_commit",
        "/phases/0/tasks/0/start_lateness_ns/p99",
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is there")) = Value::from("text");
        assert!(check(&schema, &schema, &bad, "").is_err(), "{pointer}");
    }
    let mut more = good;
    more["surprise"] = Value::from(1);
    assert!(check(&schema, &schema, &more, "").is_err());
}

#[test]
fn json_counts_what_the_verdicts_say() {
    let record = planted();
    let report = Report::of(&record);
    let value = json::value(&report);
    assert_eq!(value["misses"]["job"], report.assessment.counts.job);
    assert_eq!(value["misses"]["machine"], report.assessment.counts.machine);
    assert_eq!(value["misses"]["list"].as_array().map(Vec::len), Some(report.assessment.misses.len()));
    assert_eq!(value["rounds"], 1000);
    assert_eq!(value["data_path"]["allocations_after_commit"], 0);
    assert_eq!(value["exit_code"], 1);
}

#[test]
fn instances_that_were_skipped_count_as_late_starts() {
    let record = planted();
    let report = Report::of(&record);
    let mut skipped = 0;
    for (task, found) in record.phases[0].tasks.iter().zip(&report.statistics.phases[0].tasks) {
        let late = |instance: &InstanceRecord| (instance.started - instance.planned).0;
        let (count, most) = (task.instances.len() as u64, task.instances.iter().map(late).max());
        assert_eq!((found.start_lateness_ns.count, Some(found.start_lateness_ns.max)), (count, most));
        skipped += task.instances.iter().filter(|instance| instance.is_skipped()).count();
    }
    assert!(skipped > 0);
}

#[test]
fn the_page_loads_nothing() {
    let record = planted();
    let page = html::page(&Report::of(&record)).replace("http://www.w3.org/2000/svg", "");
    for forbidden in ["http://", "https://", "src=", "@import", "url(\"", "//cdn", "fetch(", "XMLHttpRequest"]
    {
        assert!(!page.contains(forbidden), "the page contains {forbidden}");
    }
    let links: Vec<&str> = page.match_indices("<link").map(|(place, _)| &page[place..place + 30]).collect();
    assert_eq!(links, ["<link rel=\"icon\" href=\"data:,\""]);
}

#[test]
fn hostile_names_stay_text() {
    let evil = "</script><img src=x onerror=alert(1)>\"'&{{script}}\u{2028}";
    let mut record = planted();
    record.job = evil.to_owned();
    record.machine.warnings.push(evil.to_owned());
    for phase in &mut record.phases {
        phase.label = evil.to_owned();
        phase.job.tasks[B].name = evil.to_owned();
        phase.job.channels[0].name = evil.to_owned();
        phase.job.members[0].name = evil.to_owned();
        for event in &mut phase.switches {
            event.to_name = evil.to_owned();
        }
    }
    let page = html::page(&Report::of(&record));
    assert!(!page.contains("<img"), "markup from a name reached the page");
    let plain = html::page(&Report::of(&planted()));
    let count = |text: &str| (text.matches("</script").count(), text.matches("<script").count());
    assert_eq!(count(&page), count(&plain));
}

#[test]
fn the_data_in_the_page_is_json() {
    let record = planted();
    let page = html::page(&Report::of(&record));
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (text, _) = rest.split_once("</script>").expect("end of data");
    let data: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(data["phases"].as_array().map(Vec::len), Some(2));
    let detail = &data["phases"][0]["detail"];
    for round in [70, 150, 220] {
        assert!(
            detail["rounds"].get(round.to_string()).is_some(),
            "round {round} had a miss and must be in the page"
        );
    }
    assert_eq!(data["phases"][0]["series"].as_array().map(Vec::len), Some(4 * 2 + 3 * 2));
}

/// The ring's record as a job of best-effort channels without tasks leaves it: nothing planned, messages there at once.
fn best_effort() -> leveret_report::record::RunRecord {
    let mut record = ring(&Ring { rounds: 100, ..Ring::default() });
    for phase in &mut record.phases {
        phase.alone = Default::default();
        phase.rounds = 0;
        (phase.job.tasks, phase.plan.tasks, phase.tasks) = Default::default();
        phase.job.channels.iter_mut().for_each(|channel| channel.qos = Qos::BestEffort);
        for planned in &mut phase.plan.channels {
            (planned.instances, planned.latency_bound) = (Vec::new(), Nanos::MAX);
        }
        for channel in &mut phase.channels {
            (channel.sent, channel.taken) = (Some(6400), Some(6399));
            channel
                .messages
                .iter_mut()
                .for_each(|message| message.due = message.inserted.unwrap_or_default());
        }
    }
    record
}

#[test]
fn nothing_is_claimed_of_windows_where_there_are_none() {
    let record = best_effort();
    let report = Report::of(&record);
    assert_eq!(report.assessment.exit_code(), 0);
    let page = html::page(&report);
    let (body, data) = page.split_once("id=\"data\">").expect("data");
    for empty in
        ["Every window kept", "kept its window", "0\u{a0}ns", "Start lateness", "Tasks, ", "Rounds</dt>"]
    {
        assert!(!body.contains(empty), "the page says \"{empty}\"");
    }
    let panel =
        body.split("<section ").find(|section| section.contains("id=\"gantt-panel\"")).expect("the panel");
    assert!(panel.split('>').next().is_some_and(|tag| tag.ends_with(" hidden")), "{panel}");
    for wanted in [
        "Nothing here has a window",
        "<b class=\"value\">19200</b><span>3 channels, best effort",
        "not measured",
    ] {
        assert!(body.contains(wanted), "the page does not say \"{wanted}\"");
    }
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap_or("")).expect("JSON");
    let kinds: Vec<&Value> =
        data["phases"][0]["series"].as_array().into_iter().flatten().map(|curve| &curve["kind"]).collect();
    assert_eq!(kinds, ["taken"; 3], "only what was measured can be chosen");
    assert!(text::table(&report).contains("verdict: nothing here has a window"), "{}", text::table(&report));
    let explained = why(&report, "a-to-b", 3).expect("it is there");
    assert!(explained.contains("verdict: it has no window"), "{explained}");
    let summary = json::value(&report);
    assert_eq!(summary["phases"][0]["channels"][0]["latency_ns"]["count"], 0);
    check(&schema(), &schema(), &summary, "").unwrap_or_else(|fault| panic!("{fault}"));
}

#[test]
fn where_there_are_windows_their_panel_is_shown() {
    let page = html::page(&Report::of(&ring(&Ring { rounds: 100, ..Ring::default() })));
    assert!(page.contains("<section id=\"gantt-panel\" aria-labelledby=\"gantt-title\" >"));
    assert!(page.contains("Every window kept") && page.contains("Tasks, 4 B"));
}

#[test]
fn the_row_of_a_miss_names_phase_and_stage() {
    let plants = vec![(70, Plant::Hog { task: B, priority: 90, by: Nanos::from_micros(260) })];
    let page = html::page(&Report::of(&ring(&Ring { rounds: 100, plants, ..Ring::default() })));
    let row =
        page.split("<summary>").nth(1).and_then(|from| from.split("</summary>").next()).expect("a miss");
    for wanted in ["B.user <i>70</i><small>4 B</small>", "<span class=\"stage\">wake</span> run-queue wait"] {
        assert!(row.contains(wanted), "no \"{wanted}\" in {row}");
    }
}

#[test]
fn the_page_of_a_long_run_stays_small() {
    let record = ring(&Ring { rounds: 20_000, sizes: vec![4, 1024], stalls: true, ..Ring::default() });
    let page = html::page(&Report::of(&record));
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn the_trace_has_every_member_and_balanced_arrows() {
    let record = planted();
    let trace: Value = serde_json::from_str(&trace::text(&Report::of(&record))).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
    let processes = events.iter().filter(|event| event["name"] == "process_name").count();
    assert_eq!(processes, 4);
    assert_eq!(of("s"), of("f"));
    assert!(of("s") > 2000, "a message per channel and round: {}", of("s"));
    let misses = Report::of(&record).assessment.misses.len();
    let marks =
        events.iter().filter(|event| event["name"].as_str().is_some_and(|name| name.starts_with("miss (")));
    assert_eq!(marks.count(), misses);
}

#[test]
fn the_table_names_what_a_person_asks_for() {
    let record = planted();
    let report = Report::of(&record);
    let table = text::table(&report);
    for wanted in [
        "a-to-b",
        "dummy.load",
        "the machine alone",
        "allocations after commit 0",
        "p99.9",
        "hog (thread 812",
        "verdict: ",
    ] {
        assert!(table.contains(wanted), "no \"{wanted}\" in\n{table}");
    }
    let quiet = ring(&Ring { rounds: 100, ..Ring::default() });
    assert!(
        text::table(&Report::of(&quiet)).contains("verdict: no miss; nothing lost, corrupt or out of order")
    );
}

#[test]
fn a_long_table_shows_the_worst_and_says_where_the_rest_is() {
    let record = at_priorities();
    let with = |count: usize| {
        let mut report = Report::of(&record);
        let phase = &mut report.statistics.phases[0];
        phase.channels = (0..count)
            .map(|number| {
                let mut channel = phase.channels[0].clone();
                channel.name = format!("channel-{number}");
                channel.misses.misses_job = u64::from(number == 1_700 || number == 35);
                channel
            })
            .collect();
        phase.works = (0..count).map(|_| phase.works[0].clone()).collect();
        (text::table(&report), html::page(&report))
    };
    let (table, _) = with(40);
    assert!(!table.contains("more"), "{table}");
    assert!(table.find("channel-0 ") < table.find("channel-35 "), "in their order: {table}");
    let (table, _) = with(41);
    assert!(table.contains("the worst first, and 1 more channels (--format json, or report.html, has all)"));
    assert!(table.find("channel-35 ") < table.find("channel-0 "), "{table}");
    let (table, page) = with(2_048);
    let told = "and 2008 more channels (--format json has all, report.html the worst 500)";
    assert!(table.contains(told) && table.contains("and 2008 more works ("), "{table}");
    assert!(table.contains("channel-1700 ") && table.lines().count() < 150, "{table}");
    assert!(page.contains("The worst 500 rows of 2048 are shown") && page.contains("channel-1700<"));
}

#[test]
fn a_run_that_told_its_warnings_only_counts_them() {
    let mut record = planted();
    record.machine.warnings = vec!["no SCHED_FIFO".to_owned(), "no log of switches".to_owned()];
    let report = Report::of(&record);
    let (anew, after) = (text::table(&report), text::table_after_run(&report));
    assert!(anew.contains("\nwarning: no SCHED_FIFO\nwarning: no log of switches\n"), "{anew}");
    assert!(!after.contains("no SCHED_FIFO") && after.contains("\n2 warnings, told above"), "{after}");
    record.machine.warnings.clear();
    assert_eq!(text::table(&Report::of(&record)), text::table_after_run(&Report::of(&record)));
    assert!(!text::table(&Report::of(&record)).contains("warning"));
}

#[test]
fn why_shows_the_timeline_and_the_verdict() {
    let record = planted();
    let report = Report::of(&record);
    let text = why(&report, "B.user", 70).expect("it is there");
    for wanted in [
        "planned: start",
        "measured: woken",
        "hog",
        "run-queue wait",
        "the miss is another process's (hog, thread 812, SCHED_FIFO 90)",
    ] {
        assert!(text.contains(wanted), "no \"{wanted}\" in\n{text}");
    }
    let message = why(&report, "b-to-c", 70).expect("it is there");
    assert!(message.contains("it follows from B.user, instance 70: run-queue wait"), "{message}");
    assert!(why(&report, "A.user", 3).expect("it is there").contains("verdict: kept its window"));
}

#[test]
fn why_is_the_same_for_programs() {
    let record = planted();
    let report = Report::of(&record);
    let told = |name, instance| why::json(&report, name, instance).expect("it is there")[0].clone();
    let (task, message, kept) = (told("B.user", 70), told("b-to-c", 70), told("A.user", 3));
    let miss = json::value(&report)["misses"]["list"].as_array().expect("a list").clone();
    let listed = miss.iter().find(|miss| miss["name"] == "B.user" && miss["instance"] == 70);
    assert_eq!(Some(&task["miss"]), listed);
    assert_eq!(
        (&message["miss"]["root"]["name"], &message["miss"]["root"]["instance"]),
        (&"B.user".into(), &70.into())
    );
    assert_eq!((&kept["verdict"], kept["miss"].is_null()), (&"kept its window".into(), true));
    let text = why(&report, "B.user", 70).expect("it is there");
    let marks = task["timeline"].as_array().expect("a list");
    assert!(
        marks.len() > 3 && marks.iter().all(|mark| text.contains(mark["what"].as_str().expect("words"))),
        "{marks:?}"
    );
    assert!(marks.is_sorted_by_key(|mark| mark["at_ns"].as_i64()), "{marks:?}");
    assert!(why::json(&report, "B.usr", 70).is_err());
}

/// The record of one period with what a timeline of B shows of it: `change` gets the phase, and where B's instance 70 is due.
fn of_instance_70(change: impl FnOnce(&mut Phase, Nanos)) -> (String, String) {
    let mut record = ring(&Ring { rounds: 100, ..Ring::default() });
    let phase = &mut record.phases[0];
    let due = phase.tasks[B].instances[70].planned - phase.plan.costs.guard;
    change(phase, due);
    let report = Report::of(&record);
    (why(&report, "B.user", 70).expect("it is there"), why(&report, "b-to-c", 70).expect("it is there"))
}

#[test]
fn why_names_what_began_before_its_timeline() {
    let millis = Nanos::from_millis;
    let (task, message) = of_instance_70(|phase, due| {
        let member = phase.job.tasks[B].member.0;
        let stopped = |at| Event { at, kind: EventKind::MemberStopped { member } };
        let went_on = |at| Event { at, kind: EventKind::MemberContinued { member } };
        phase.events =
            vec![stopped(millis(3)), went_on(millis(4)), stopped(millis(10)), went_on(due + millis(9))];
        let hog = |at, from, to, name: &str| SwitchEvent {
            at,
            core: phase.plan.tasks[B].core,
            from,
            to,
            left: Left::Runnable,
            to_process: None,
            to_kind: ThreadKind::Foreign { priority: 90 },
            to_name: name.to_owned(),
        };
        phase.switches = vec![hog(millis(20), 0, 812, "hog"), hog(due + Nanos(5), 812, 813, "next")];
    });
    assert_eq!(task.matches("stands still").count(), 1, "{task}");
    assert!(task.contains("member B stands still, stopped at 10ms"), "{task}");
    assert!(task.contains("had by hog (thread 812, real-time priority 90), which came at 20ms"), "{task}");
    assert!(task.contains("to next"), "{task}");
    assert_eq!(message.matches("member B stands still, stopped at 10ms").count(), 1, "{message}");
    // One that had gone on by then is no part of it.
    let (task, message) = of_instance_70(|phase, _| {
        let member = phase.job.tasks[B].member.0;
        phase.events = vec![
            Event { at: millis(3), kind: EventKind::MemberStopped { member } },
            Event { at: millis(4), kind: EventKind::MemberContinued { member } },
        ];
    });
    assert!(!task.contains("stopped") && !message.contains("stopped"), "{task}{message}");
}

#[test]
fn why_says_once_who_had_the_core_again_and_again() {
    let (task, _) = of_instance_70(|phase, due| {
        let record = &phase.tasks[B];
        let (own, until) = (record.thread, record.instances[70].ended);
        let core = phase.plan.tasks[B].core;
        let step = Nanos((until - due).0 / 50);
        phase.switches = (0..48)
            .map(|number| {
                let (from, to, to_kind) = if number % 2 == 0 {
                    (own, 0, ThreadKind::Idle)
                } else {
                    (0, own, ThreadKind::Task(B as u16))
                };
                let at = due + step.saturating_mul(number + 1);
                {
                    let to_name = String::new();
                    SwitchEvent { at, core, from, to, left: Left::Asleep, to_kind, to_process: None, to_name }
                }
            })
            .collect();
    });
    assert_eq!(task.matches("to the idle task").count(), 1, "{task}");
    assert!(task.contains("to the idle task, the first of 24 times until "), "{task}");
    assert!(task.contains(" in all"), "{task}");
    assert_eq!(task.matches("to the job's own B.user").count(), 1, "{task}");
}

#[test]
fn why_of_a_message_says_that_an_instance_was_skipped() {
    let (_, message) = of_instance_70(|phase, _| {
        let instance = &mut phase.tasks[B].instances[70];
        instance.outcome = Outcome::SkippedCritical;
        instance.started = instance.woken + Nanos::from_millis(364);
        instance.ended = instance.started;
    });
    let skipped = "measured: sender B.user, instance 70: skipped: too little of its window was left";
    assert!(message.contains(skipped) && !message.contains("sender B.user, instance 70: start"), "{message}");
}

#[test]
fn why_helps_with_wrong_names_and_numbers() {
    let record = planted();
    let report = Report::of(&record);
    let error = why(&report, "a-to-v", 1).expect_err("no such channel");
    assert_eq!(error.to_string(), "the run has no task or channel \"a-to-v\"; did you mean \"a-to-b\"?");
    let error = why(&report, "a-to-b", 9999).expect_err("no such instance");
    assert!(matches!(error, WhyError::UnknownInstance { .. }));
    let told = error.to_string();
    assert!(told.contains("phase \"4 B\" has 0 to 499, phase"), "{told}");
    assert!(told.ends_with("; the nearest that is recorded is instance 499, in phase \"4 B\""), "{told}");
}

#[test]
fn instances_that_took_longer_than_their_budget_are_counted_in_the_table_and_on_the_page() {
    let mut record = ring(&Ring { rounds: 40, ..Ring::default() });
    for instance in &mut record.phases[0].tasks[A].instances[7..10] {
        instance.ended = instance.started + Nanos::from_micros(51);
    }
    let report = Report::of(&record);
    let (table, page) = (text::table(&report), html::page(&report));
    let row = |name: &str| table.lines().find(|line| line.trim_start().starts_with(name)).expect("a row");
    assert!(table.contains("budget  beyond it"), "{table}");
    assert!(row("A.user").ends_with("50.0us          3"), "{table}");
    assert!(row("B.user").ends_with("50.0us          0"), "{table}");
    assert!(page.contains(">beyond it</th>"), "the page has the column");
}

#[test]
fn budgets_follow_from_the_longest_execution() {
    let plants = vec![(5, Plant::Overrun { task: A, by: Nanos::from_micros(30) })];
    let record = ring(&Ring { rounds: 1000, plants, ..Ring::default() });
    let report = Report::of(&record);
    let proposals = learn::propose(&report, learn::Options::default());
    let of = |name: &str| proposals.iter().find(|of| of.name == name).expect("proposed").clone();
    let a = of("A.user");
    assert_eq!(a.observations, 1000);
    let expected = Nanos::from_micros((a.max_ns as f64 * 1.2 / 1e3).ceil() as i64);
    assert_eq!(a.proposed_ns, expected);
    assert!(a.max_ns > 30_000 && of("C.user").max_ns < 4_000);
    assert!(a.statement.contains("3.0e-3"), "{}", a.statement);
    let median = learn::propose(&report, learn::Options { quantile: 0.5, margin: 1.0 });
    assert!(median[0].statement.contains("exceed it"), "{}", median[0].statement);
    assert!(learn::toml(&proposals).contains("name = \"A.user\"\nbudget = \""));
    let json: Value = serde_json::from_str(&learn::json(&proposals)).expect("JSON");
    assert_eq!(json["tasks"].as_array().map(Vec::len), Some(4));
    assert_eq!(learn::too_small(&proposals).count(), 0);
    assert_eq!(learn::beyond_windows(&proposals).count(), 0);
    // The same bodies in a window that is shorter than what they take.
    let mut record = report.record.clone();
    for task in &mut record.phases[0].job.tasks {
        task.deadline = task.release + Nanos(1_000);
    }
    let proposals = learn::propose(&Report::of(&record), learn::Options::default());
    let said: Vec<String> = learn::beyond_windows(&proposals).collect();
    assert_eq!(said.len(), proposals.len());
    assert!(said[0].contains("do not fit into its window of 1us"), "{said:?}");
    assert!(learn::toml(&proposals).contains("longer than its window of 1us: widen that too"));
}

#[test]
fn a_channel_beside_the_table_shows_the_bound_that_it_was_promised() {
    let mut record = ring(&Ring { rounds: 5, ..Ring::default() });
    let phase = &mut record.phases[0];
    let qos = Qos::PriorityDriven { priority: 7, interval: Some(Nanos::from_millis(1)), deadline: None };
    phase.job.channels.iter_mut().for_each(|channel| channel.qos = qos.clone());
    phase.plan.channels[0].latency_bound = Nanos::from_micros(90);
    // Something has no interval.
    phase.plan.channels[1].latency_bound = Nanos::MAX;
    let report = json::value(&Report::of(&record));
    let channels = &report["phases"][0]["channels"];
    assert_eq!(channels[0]["latency_bound_ns"], 90_000);
    assert_eq!(channels[1]["latency_bound_ns"], Value::Null);
}

/// As [`best_effort`], with channels that are served at priorities, the last at an event's firings, and a handler.
fn at_priorities() -> leveret_report::record::RunRecord {
    let mut record = best_effort();
    for phase in &mut record.phases {
        let (interval, deadline) = (Some(Nanos::from_millis(1)), Some(Nanos::from_micros(150)));
        let work = |name: &str, start: Start, deadline| Sporadic {
            name: name.to_owned(),
            member: MemberId(1),
            start,
            priority: 40,
            interval,
            deadline,
            budget: Nanos::from_micros(5),
            core: CoreChoice::Pinned(0),
        };
        let sporadics = vec![
            work("a-to-b.service", Start::Message(ChannelId(0)), deadline),
            work("a-to-b.sending", Start::Request(ChannelId(0)), deadline),
            work("b-to-c.service", Start::Message(ChannelId(1)), deadline),
            work("b-to-c.sending", Start::Request(ChannelId(1)), deadline),
            work("alarm", Start::Event { group: "world".to_owned(), name: "smoke".to_owned() }, None),
        ];
        phase.job.sporadics = sporadics;
        phase.job.channels[0].qos = Qos::PriorityDriven { priority: 40, interval, deadline };
        let (start, completion) = (Some("go".to_owned()), None);
        phase.job.channels[1].qos = Qos::EventDriven { start, completion, priority: 40, interval, deadline };
        phase.plan.sporadics = (0..5)
            .map(|sporadic| PlannedSporadic {
                sporadic,
                core: 1,
                level: 0,
                response_bound: Nanos::from_micros(120),
            })
            .collect();
        phase.plan.sporadics[4].response_bound = Nanos::MAX;
        for message in &mut phase.channels[0].messages {
            let late = if message.instance == 7 { 200 } else { 100 };
            message.taken = message.inserted.map(|inserted| inserted + Nanos::from_micros(late));
        }
    }
    record
}

#[test]
fn work_beside_the_table_is_shown_with_what_is_recorded_of_it() {
    let record = at_priorities();
    let report = Report::of(&record);
    let table = text::table(&report);
    for words in [
        "no time table",
        "a-to-b.service",
        "each message of a-to-b",
        "each request on a-to-b",
        "each firing of smoke",
        "each firing of go",
        "not recorded",
        "MPIRTX_Task_get_metrics",
        "1 of 100 recorded transfers at priorities took longer than their deadline",
    ] {
        assert!(table.contains(words), "{words:?} in\n{table}");
    }
    assert!(!table.contains("0 rounds"), "{table}");
    let value = json::value(&report);
    // A broken deadline fails the run, wherever it was declared.
    let irregularities: Vec<&Value> = value["irregularities"].as_array().into_iter().flatten().collect();
    assert_eq!(irregularities.iter().map(|found| &found["kind"]).collect::<Vec<_>>(), ["beyond-deadline"]);
    let sentence = irregularities[0]["sentence"].as_str().unwrap_or_default();
    assert!(sentence.contains("1 of 100 recorded") && sentence.contains("the longest 200us"), "{sentence}");
    assert_eq!((&irregularities[0]["name"], report.assessment.exit_code()), (&"a-to-b.service".into(), 1));
    let works = &value["phases"][0]["works"];
    assert_eq!((&works[0]["runs"], &works[1]["runs"]), (&Value::from(6399), &Value::from(6400)));
    assert_eq!(
        (&works[0]["beyond_deadline"], &works[0]["took_ns"]["count"]),
        (&Value::from(1), &Value::from(100))
    );
    // The firing's instant is not recorded, nor is a run for an event.
    assert_eq!((&works[2]["beyond_deadline"], &works[4]["runs"]), (&Value::Null, &Value::Null));
    let shown = |work: usize, field: &str| works[work][field].clone();
    assert_eq!([0, 1, 2, 3].map(|work| shown(work, "recorded")), [100; 4].map(Value::from));
    assert_eq!([1, 2, 3].map(|work| works[work]["took_ns"]["count"].clone()), [0; 3].map(Value::from));
    assert_eq!((shown(3, "start"), shown(4, "recorded")), (Value::from("each firing of go"), Value::Null));
    assert_eq!(works[4]["response_bound_ns"], Value::Null);
    check(&schema(), &schema(), &value, "").unwrap_or_else(|fault| panic!("{fault}"));
    let page = html::page(&report);
    for words in
        ["Beside the time table, 4 B", "each firing of smoke", "not recorded", "Beyond their deadline"]
    {
        assert!(page.contains(words), "{words:?} in the page");
    }
    assert!(!page.contains("best effort</span>"), "these channels are none");
}

#[test]
fn a_run_without_work_at_priorities_says_nothing_of_it() {
    let record = ring(&Ring { rounds: 50, ..Ring::default() });
    let report = Report::of(&record);
    assert!(
        !text::table(&report).contains("priority") && !html::page(&report).contains("Beside the time table")
    );
    assert!(text::table(&report).contains("50 rounds"));
}

#[test]
fn why_says_what_is_not_recorded_and_how_it_would_be() {
    let record = at_priorities();
    let report = Report::of(&record);
    let told = |name: &str, instance| match why(&report, name, instance) {
        Ok(text) => text,
        Err(error) => error.to_string(),
    };
    let late = told("a-to-b", 7);
    assert!(late.contains("it took 200us, 50.0us longer than its channel's deadline of 150us"), "{late}");
    assert!(told("a-to-b", 8).contains("within its channel's deadline of 150us at priority 40"));
    assert!(told("b-to-c", 8).contains("counts from the firing, whose instant is not recorded"));
    let other = told("a-to-b", 12_345);
    for words in [
        "the first message and every 64th after it is recorded",
        "has 0 to 99, where 6400 were sent and 6399 taken",
        "the nearest that is recorded is instance 99, in phase \"4 B\"",
    ] {
        assert!(other.contains(words), "{words:?} in {other}");
    }
    let handler = told("alarm", 0);
    assert!(
        handler.contains("each firing of smoke") && handler.contains("MPIRTX_Handler_get_metrics"),
        "{handler}"
    );
    assert!(told("a-to-b.service", 0).contains("ask for an instance of its channel"));
    assert!(told("alarn", 0).contains("did you mean \"alarm\"?"));
}
