//! The scripts of the report's page and of the plan's page, run by headless Chromium on real pages. `browser/*.js` hold the tests; each runs
//! inside the page's own scope, so that it sees what the scripts see, and computes what must be there from the page's data by itself.

use leveret_plan::network::{Effort, Stream, Traffic, plan_network};
use leveret_report::picture;
use leveret_report::synthetic::{A, B, C, Plant, Ring, ring};
use leveret_report::{Report, html};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const HARNESS: &str = include_str!("browser/harness.js");

/// What every page must bear: a name that would end the script or begin an element if it were not escaped.
const HOSTILE: &str = "</script><img src=x onerror=\"failures.push('a name was executed')\">&amp;";

fn chromium() -> Option<&'static str> {
    let starts = |name: &&str| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    NAMES.into_iter().find(starts)
}

/// The page with the tests at the end of its own scripts' scope.
fn with_tests(page: &str, tests: &str) -> String {
    // Without a screen nothing asks for frames, so that they come by the timer, in virtual time.
    let first = "<head><script>
        var failures = [];
        addEventListener('error', (event) => failures.push(`error: ${event.message}`));
        requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
        </script>";
    let (before, after) = page.rsplit_once("\n})();\n").expect("the page's scripts have one scope");
    format!("{before}\n{{\n{HARNESS}\n{tests}\nrunAll();\n}}\n}})();\n{after}").replacen("<head>", first, 1)
}

/// Opens the page at this address and size, and gives the names of the tests that passed.
fn passed(page: &Path, fragment: &str, size: (u32, u32)) -> Vec<String> {
    let profile = tempfile::tempdir().expect("a folder for the profile");
    let mut profile_argument = OsString::from("--user-data-dir=");
    profile_argument.push(profile.path());
    let output = Command::new(chromium().expect("asked before"))
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-quic"])
        // Frames and timers come by virtual time: nothing waits for the machine.
        .args([
            "--force-color-profile=srgb",
            "--virtual-time-budget=60000",
            "--dump-dom",
            "--enable-logging=stderr",
        ])
        .arg(format!("--window-size={},{}", size.0, size.1))
        .arg(profile_argument)
        .arg(format!("file://{}{fragment}", page.display()))
        .output()
        .expect("Chromium starts");
    let document = String::from_utf8_lossy(&output.stdout).into_owned();
    let result =
        document.split_once("<pre id=\"test-result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let Some((result, _)) = result else {
        let errors = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = errors.lines().filter(|line| line.contains("CONSOLE")).collect();
        panic!("no result: {said:#?}\n{}", tail(&errors));
    };
    let text = result.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let result: Value = serde_json::from_str(&text).expect("the harness writes JSON");
    let failures = result["failures"].as_array().expect("a list");
    assert!(failures.is_empty(), "{size:?} {fragment}: {failures:#?}");
    let names = result["passed"].as_array().expect("a list").iter();
    names.map(|name| name.as_str().expect("a name").to_owned()).collect()
}

fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(2000);
    text.get(from..).unwrap_or(text)
}

/// Runs the tests on the page in each size and theme; every test that the file declares has to run in each.
fn run(page: &str, tests: &str, runs: &[(&str, (u32, u32))]) {
    if chromium().is_none() {
        println!("SKIPPED: no Chromium ({}), so the pages' scripts are not run", NAMES.join(", "));
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    std::fs::write(&path, with_tests(page, tests)).expect("the page can be written");
    let declared = tests.lines().filter(|line| line.starts_with("test(")).count();
    assert!(declared > 0);
    for (fragment, size) in runs {
        assert_eq!(passed(&path, fragment, *size).len(), declared, "{size:?} {fragment}");
    }
}

const WIDE: (u32, u32) = (1280, 900);
const NARROW: (u32, u32) = (500, 800);

#[test]
fn the_reports_scripts() {
    let plants = vec![
        (70, Plant::Hog { task: B, priority: 90, by: Nanos::from_micros(260) }),
        (150, Plant::PageFault { task: A, by: Nanos::from_micros(140), logged: true }),
        (220, Plant::StallInSpin { task: C, by: Nanos::from_micros(300) }),
        (300, Plant::NotInserted { channel: 1 }),
    ];
    let mut record =
        ring(&Ring { rounds: 500, sizes: vec![4, 1024], stalls: true, plants, ..Ring::default() });
    record.job = HOSTILE.to_owned();
    let page = html::page(&Report::of(&record));
    let runs = [("", WIDE), ("#dark", WIDE), ("#light", NARROW)];
    run(&page, include_str!("browser/report.js"), &runs);
}

#[test]
fn the_plans_scripts() {
    let mut network = shape(Shape::Line, 3, 6);
    network.links[0].reserved.push(Reservation {
        period: Nanos::from_micros(500),
        start: Nanos::from_micros(400),
        length: Nanos::from_micros(50),
    });
    let hosts: Vec<NodeId> = (3..9).map(NodeId).collect();
    let stream = |name: String, from: usize, to: usize, bytes: u64, us: i64| {
        Stream::new(&name, hosts[from], hosts[to], ByteSize(bytes), Nanos::from_micros(us))
    };
    let mut streams = vec![stream("wide".into(), 0, 5, 1400, 1000), stream("back".into(), 5, 0, 64, 500)];
    streams.extend((0..12).map(|number| {
        stream(format!("s{number}"), number % 6, (number * 5 + 1) % 6, 100 + 90 * number as u64, 1000)
    }));
    streams.retain(|stream| stream.targets.iter().all(|target| *target != stream.source));
    streams[1].targets.push(hosts[3]);
    let mut traffic =
        Traffic { network, streams, flows: Vec::new(), clock_error: Nanos(100), whole_cycles: false };
    let (plan, _) = plan_network(&traffic, Effort::default()).expect("a plan");
    // No manifest can have such a name; the page must bear it all the same.
    traffic.streams[0].name = HOSTILE.to_owned();
    let page = picture::page(&picture::network(HOSTILE, &traffic, &plan)).expect("a small plan");
    let runs = [("", WIDE), ("#back", WIDE), ("", NARROW)];
    run(&page, include_str!("browser/plan.js"), &runs);
}
