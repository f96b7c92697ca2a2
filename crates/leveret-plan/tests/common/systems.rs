//! Random systems: 2 to 4 hosts behind 1 to 3 switches, in a row or a ring, 3 to 20 tasks, 2 to 10 channels, and chains along them.

use super::{US, empty, task, time_driven, us};
use leveret_plan::network::Traffic;
use leveret_plan::system::{Chain, Crossing, NETWORK_MEMBER, Port, Step, System, SystemHost, Window};
use leveret_plan::{CoreChoice, Costs, Member};
use leveret_topology::{Shape, shape};
use leveret_types::{ByteSize, ChannelId, Nanos, NodeId, TaskId};
use proptest::prelude::*;

/// A system of so many hosts behind so many switches, without tasks.
pub fn bare(switches: u32, hosts: u32, clock_error: i64) -> System {
    // Of three switches in a ring there are two ways.
    let network = shape(if switches == 3 { Shape::Ring } else { Shape::Line }, switches, hosts);
    let costs = Costs { guard: us(10), clock_error: Nanos(clock_error), ..Costs::default() };
    let host = |index: u32| {
        let mut job = empty(&[0, 1], costs);
        job.name = format!("h{index}");
        job.members[0].name = format!("m{index}");
        job.members.push(Member { name: NETWORK_MEMBER.to_owned() });
        SystemHost { node: NodeId(switches + index), job }
    };
    System {
        name: "test".to_owned(),
        traffic: Traffic { network, clock_error: Nanos(clock_error), ..Traffic::default() },
        hosts: (0..hosts).map(host).collect(),
        ..System::default()
    }
}

/// Adds a task; all times in microseconds.
pub fn add_task(
    system: &mut System,
    host: u16,
    name: &str,
    period: i64,
    window: (i64, i64),
    budget: i64,
) -> Step {
    let tasks = &mut system.hosts[usize::from(host)].job.tasks;
    let window = (window.0 * US, window.1 * US);
    tasks.push(task(name, CoreChoice::Any, period * US, window, budget * US));
    Step::Task { host, task: TaskId(tasks.len() as u16 - 1) }
}

fn port(system: &mut System, name: &str, host: u16, ends: (u16, u16), period: Nanos, size: u64) -> Port {
    let channels = &mut system.hosts[usize::from(host)].job.channels;
    let mut channel = time_driven(name, ends, period.0, (0, period.0));
    channel.size = ByteSize(size);
    channel.group = format!("g{}", channels.len());
    channels.push(channel);
    Port { host, channel: ChannelId(channels.len() as u16 - 1) }
}

fn parts(system: &mut System, step: Step) -> (u16, &mut leveret_plan::Task) {
    let Step::Task { host, task } = step else { panic!("a task") };
    (host, &mut system.hosts[usize::from(host)].job.tasks[task.index()])
}

/// Adds a channel from a task to others, all on other hosts; a window in microseconds, or none.
pub fn add_crossing(
    system: &mut System,
    name: &str,
    writer: Step,
    readers: &[Step],
    size: u64,
    window: Option<(i64, i64)>,
) -> Step {
    let (host, task) = parts(system, writer);
    let period = task.period;
    let source = port(system, name, host, (0, 1), period, size);
    parts(system, writer).1.writes.push(source.channel);
    let mut targets = Vec::new();
    for reader in readers {
        let host = parts(system, *reader).0;
        let target = port(system, name, host, (1, 0), period, size);
        parts(system, *reader).1.reads.push(target.channel);
        targets.push(target);
    }
    let window = window.map(|(release, deadline)| Window { release: us(release), deadline: us(deadline) });
    system.crossings.push(Crossing {
        name: name.to_owned(),
        source,
        targets,
        size: ByteSize(size),
        period,
        window,
        latency: None,
        jitter: None,
        copies: 1,
        ways: None,
    });
    Step::Crossing(system.crossings.len() as u16 - 1)
}

/// Adds a channel between two tasks of one host.
pub fn add_local(system: &mut System, name: &str, writer: Step, reader: Step, window: (i64, i64)) -> Step {
    let (host, task) = parts(system, writer);
    let period = task.period;
    let port = port(system, name, host, (0, 0), period, 64);
    let channel = &mut system.hosts[usize::from(host)].job.channels[port.channel.index()];
    *channel = leveret_plan::Channel {
        group: "world".to_owned(),
        ..time_driven(name, (0, 0), period.0, (window.0 * US, window.1 * US))
    };
    parts(system, writer).1.writes.push(port.channel);
    parts(system, reader).1.reads.push(port.channel);
    Step::Channel(port)
}

pub fn add_chain(system: &mut System, path: &[Step], reaction: Option<i64>, age: Option<i64>) {
    let name = format!("chain{}", system.chains.len());
    let (reaction, age) = (reaction.map(us), age.map(us));
    system.chains.push(Chain { name, path: path.to_vec(), reaction, age });
}

/// Camera, controller and drive behind two switches, with windows that are declared or not.
pub fn cell(declared: bool, age: Option<i64>) -> System {
    let mut system = bare(2, 3, 500);
    let take = add_task(&mut system, 0, "take", 2000, (0, 2000), 200);
    let step = add_task(&mut system, 1, "step", 2000, (0, 2000), 300);
    let act = add_task(&mut system, 2, "act", 2000, (0, 2000), 100);
    let windows = if declared { [Some((400, 900)), Some((1400, 1700))] } else { [None, None] };
    let image = add_crossing(&mut system, "image", take, &[step], 9000, windows[0]);
    let setpoint = add_crossing(&mut system, "setpoint", step, &[act], 64, windows[1]);
    add_chain(&mut system, &[take, image, step, setpoint, act], None, age);
    system
}

#[derive(Clone, Debug)]
struct TaskDraw {
    host: u16,
    period: usize,
    release: i64,
    budget: i64,
    whole: bool,
}

#[derive(Clone, Debug)]
struct ChannelDraw {
    /// Writer, reader, and one more reader where that is possible.
    ends: (usize, usize, usize),
    size: u64,
    release: i64,
    length: i64,
    open: bool,
}

#[derive(Clone, Debug)]
struct Draw {
    tasks: Vec<TaskDraw>,
    channels: Vec<ChannelDraw>,
    reaction: Option<i64>,
    age: Option<i64>,
    /// Budgets are so many times what was drawn, rates as many times less.
    load: i64,
}

fn task_draw() -> impl Strategy<Value = TaskDraw> {
    (0..4_u16, 0..4_usize, 0..400_i64, 10..120_i64, any::<bool>())
        .prop_map(|(host, period, release, budget, whole)| TaskDraw { host, period, release, budget, whole })
}

fn channel_draw() -> impl Strategy<Value = ChannelDraw> {
    let ends = (0..20_usize, 0..20_usize, 0..20_usize);
    (ends, 1..4000_u64, 100..1500_i64, 100..900_i64, any::<bool>())
        .prop_map(|(ends, size, release, length, open)| ChannelDraw { ends, size, release, length, open })
}

/// Systems that pass validation. Not all of them have a plan.
pub fn systems() -> impl Strategy<Value = System> {
    let tasks = prop::collection::vec(task_draw(), 3..20);
    let channels = prop::collection::vec(channel_draw(), 2..10);
    let limit = || prop::option::weighted(0.3, 1500..9000_i64);
    let load = prop::sample::select(vec![1, 1, 3, 5]);
    let draw = (tasks, channels, limit(), limit(), load)
        .prop_map(|(tasks, channels, reaction, age, load)| Draw { tasks, channels, reaction, age, load });
    (1..4_u32, 2..5_u32, prop::sample::select(vec![0_i64, 300]), draw)
        .prop_map(|(switches, hosts, error, draw)| build(switches, hosts, error, &draw))
}

fn build(switches: u32, hosts: u32, error: i64, draw: &Draw) -> System {
    let mut system = bare(switches, hosts, error);
    for link in &mut system.traffic.network.links {
        link.rate.0 /= u64::try_from(draw.load).unwrap_or(1).pow(2);
    }
    let mut steps = Vec::new();
    for (index, one) in draw.tasks.iter().enumerate() {
        let period = [1000, 2000, 2000, 4000][one.period];
        let window = if one.whole { (0, period) } else { (one.release, one.release + 700) };
        let host = one.host % hosts as u16;
        let budget = one.budget * draw.load;
        steps.push(add_task(&mut system, host, &format!("t{index}"), period, window, budget));
    }
    let mut made: Vec<(Step, Step, Step)> = Vec::new();
    for (index, one) in draw.channels.iter().enumerate() {
        let pick = |index: usize| steps[index % steps.len()];
        let (writer, reader, other) = (pick(one.ends.0), pick(one.ends.1), pick(one.ends.2));
        if writer == reader {
            continue;
        }
        let on = |step| if let Step::Task { host, .. } = step { host } else { 0 };
        let name = format!("c{index}");
        let window = (one.release, one.release + one.length);
        let channel = if on(writer) == on(reader) {
            add_local(&mut system, &name, writer, reader, window)
        } else {
            let more = (other != reader && on(other) != on(writer)).then_some(other);
            let readers: Vec<Step> = std::iter::once(reader).chain(more).collect();
            add_crossing(&mut system, &name, writer, &readers, one.size, (!one.open).then_some(window))
        };
        made.push((writer, channel, reader));
    }
    // From each channel on, as far as no task comes twice.
    for first in made.iter().take(3) {
        let mut path = vec![first.0, first.1, first.2];
        while let Some(next) =
            made.iter().find(|next| Some(&next.0) == path.last() && !path.contains(&next.2))
        {
            path.extend([next.1, next.2]);
        }
        add_chain(&mut system, &path, draw.reaction, draw.age);
    }
    system
}
