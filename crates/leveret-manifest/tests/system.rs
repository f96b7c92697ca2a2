//! Manifests of tasks on several hosts: what is declared arrives in the model, and what is wrong is named with its place and remedy.

use leveret_manifest::parse_network;
use leveret_plan::system::{NETWORK_MEMBER, Step, System};
use leveret_plan::{CoreChoice, Qos};
use leveret_types::{ChannelId, Nanos};

const EXAMPLE: &str = include_str!("../../../examples/system/job.toml");

fn read(text: &str) -> System {
    match parse_network(text, "job.toml") {
        Ok(manifest) => *manifest.system.expect("a system"),
        Err(errors) => panic!("{}", errors[0]),
    }
}

#[test]
fn the_example_arrives_in_the_model() {
    let system = read(EXAMPLE);
    assert_eq!(system.hosts.len(), 3);
    let control = &system.hosts[1].job;
    assert_eq!((control.name.as_str(), control.cores.as_slice()), ("control-host", [0, 1].as_slice()));
    assert_eq!((control.costs.guard, control.costs.clock_error), (Nanos::from_micros(20), Nanos(500)));
    assert_eq!(control.members[1].name, NETWORK_MEMBER);
    assert_eq!(control.tasks[0].reads, [ChannelId(0)]);
    assert_eq!(control.tasks[0].core, CoreChoice::Any);
    let names: Vec<_> = system.crossings.iter().map(|crossing| crossing.name.as_str()).collect();
    assert_eq!(names, ["image", "setpoint"]);
    assert!(system.crossings.iter().all(|crossing| crossing.window.is_none()));
    assert_eq!(system.traffic.streams.len(), 1);
    assert_eq!(system.chains[0].path.len(), 5);
    assert_eq!(system.chains[0].path[3], Step::Crossing(1));
    assert_eq!(system.chains[0].age, Some(Nanos::from_millis(3)));
}

#[test]
fn several_targets_have_a_port_each() {
    let two = "[[member]]\nname = \"eye\"\nhost = \"drive-host\"\n\n[[task]]\nname = \"drive.act\"";
    let text = EXAMPLE.replacen("[[task]]\nname = \"drive.act\"", two, 1).replacen(
        "target = \"drive\"",
        "targets = [\"drive\", \"eye\", \"camera\"]\nwindow = [\"1ms\", \"1300us\"]",
        1,
    );
    let system = read(&text);
    let crossing = &system.crossings[1];
    assert_eq!(crossing.targets.len(), 3);
    let drive = &system.hosts[usize::from(crossing.targets[0].host)].job;
    let groups: Vec<_> = drive.channels.iter().map(|channel| channel.group.as_str()).collect();
    assert_eq!(groups, ["drive", "eye"]);
    assert_eq!(crossing.window.expect("a window").deadline, Nanos::from_micros(1300));
}

#[test]
fn channels_on_one_host_are_those_of_a_job() {
    let text = EXAMPLE.replacen(
        "[[chain]]",
        "[[member]]\nname = \"logger\"\nhost = \"control-host\"\n\n[[channel]]\nname = \"notes\"\nsource = \"control\"\ntarget = \"logger\"\n\
         size = \"64B\"\nqos = \"event-driven\"\npriority = 5\ninterval = \"2ms\"\ncompletion-event = \"noted\"\n\n[[task]]\nname = \"logger.keep\"\n\
         member = \"logger\"\npriority = 4\nevent = \"noted\"\nbudget = \"20us\"\ninterval = \"2ms\"\n\n[[chain]]\nname = \"kept\"\n\
         path = [\"control.step\", \"notes\", \"logger.keep\"]\n\n[[chain]]",
        1,
    );
    let text = text.replacen("writes = [\"setpoint\"]", "writes = [\"setpoint\", \"notes\"]", 1);
    let system = read(&text);
    let job = &system.hosts[1].job;
    assert!(job.channels.iter().any(|channel| matches!(channel.qos, Qos::EventDriven { .. })));
    assert_eq!(job.sporadics.len(), 3, "both ends of the channel are served, and the logger runs");
    assert!(matches!(system.chains[0].path[2], Step::Work { host: 1, .. }));
}

/// One line of the example changed: the message, and the hint.
#[track_caller]
fn refused(from: &str, to: &str, message: &str, hint: &str) {
    assert!(EXAMPLE.contains(from), "the example has no {from}");
    let text = EXAMPLE.replacen(from, to, 1);
    let errors = parse_network(&text, "job.toml").expect_err("a fault");
    let found = errors.iter().find(|error| error.message.contains(message) && error.hint.contains(hint));
    let error = found.unwrap_or_else(|| panic!("expected \"{message}\" and \"{hint}\", found {errors:#?}"));
    // Where the change was made, or at the header above.
    let line = 1 + EXAMPLE[..EXAMPLE.find(from).unwrap_or(0)].lines().count();
    assert!(error.line + 24 > line, "line {} for a change in line {line}", error.line);
}

#[test]
fn faults_have_a_place_and_a_remedy() {
    refused("host = \"camera-host\"", "host = \"camera-hst\"", "no host \"camera-hst\"", "did you mean");
    refused("host = \"camera-host\"", "host = \"s0\"", "no host \"s0\"", "");
    refused("cores = [0]\nguard = \"20us\"\n", "", "host \"camera-host\" has no `cores`", "cores = [0, 1]");
    refused("cores = [0]\n", "", "has no `cores`", "cores = ");
    refused("cores = [0]", "cores = []", "has no cores", "cores = [0]");
    refused(
        "host = \"control-host\"",
        "host = \"control-host\"\ncore = 7",
        "core 7 is not one",
        "use one of 0, 1",
    );
    refused("budget = \"300us\"", "", "has no `budget`", "budget = ");
    refused("period = \"2ms\"\nbudget = \"300us\"", "budget = \"300us\"", "has no `period`", "period = ");
    refused("budget = \"300us\"", "budget = \"300us\"\ncore = 9", "core 9 is not one", "use one of 0");
    refused("name = \"camera\"", "name = \"camera-host\"", "a host or switch is named", "another name");
    refused("name = \"drive\"", "name = \"camera\"", "two members are named \"camera\"", "another name");
    refused("writes = [\"image\"]", "writes = [\"imag\"]", "no channel \"imag\"", "did you mean \"image\"?");
    refused("writes = [\"image\"]", "reads = [\"image\"]", "whose target is \"control\"", "own member");
    refused("source = \"camera\"", "source = \"camra\"", "no member \"camra\"", "did you mean \"camera\"?");
    refused(
        "target = \"control\"",
        "target = \"control-host\"",
        "no member \"control-host\"",
        "both are hosts",
    );
    refused("size = \"64B\"", "size = \"64B\"\nplacement = \"aliased\"", "share no buffer", "separate");
    refused("size = \"64B\"", "size = \"64B\"\npriority = 3", "`priority` is for", "");
    refused("size = \"64B\"", "size = \"64B\"\nburst = 2", "`burst` is for channels between hosts", "remove");
    refused(
        "period = \"2ms\"\nsize = \"64B\"",
        "size = \"64B\"\nqos = \"priority-driven\"\npriority = 3",
        "joins different hosts, and is not time-driven",
        "between the hosts themselves",
    );
    refused("size = \"64B\"", "", "has no `size`", "size = ");
    refused("size = \"64B\"", "size = \"64B\"\nperiods = \"1ms\"", "unknown key `periods`", "did you mean");
    refused("period = \"2ms\"\nsize = \"64B\"", "size = \"64B\"", "has no `period`", "period = ");
    refused(
        "\"image\", \"control.step\"",
        "\"image\", \"control.stop\"",
        "no task \"control.stop\"",
        "did you mean",
    );
    refused(
        "\"camera.take\", \"image\"",
        "\"camera.take\", \"control.step\"",
        "no channel \"control.step\"",
        "in turn",
    );
    refused("\"setpoint\", \"drive.act\"]", "\"setpoint\"]", "has 4 elements", "in turn");
    refused(
        "\"camera.take\", \"image\"",
        "\"control.log\", \"image\"",
        "does not write channel `image`",
        "writes",
    );
    refused(
        "\"control.step\", \"setpoint\"",
        "\"control.log\", \"setpoint\"",
        "does not read channel `image`",
        "reads",
    );
    refused("reaction = \"5ms\"", "reaction = 5", "has no unit", "5us");
    refused("reaction = \"5ms\"", "reactoin = \"5ms\"", "unknown key `reactoin`", "did you mean `reaction`?");
    refused("size = \"64B\"", "size = \"64B\"\nwindow = [\"1ms\", \"1001us\"]", "has a window", "let it end");
}

#[test]
fn no_change_of_a_byte_panics() {
    for place in (0..EXAMPLE.len()).step_by(3) {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        bytes[place] = b"\"]=[0\n#x"[place % 8];
        let text = String::from_utf8_lossy(&bytes);
        if let Err(errors) = parse_network(&text, "job.toml") {
            assert!(!errors.is_empty());
        }
    }
}
