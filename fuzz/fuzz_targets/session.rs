//! A plan that is kept while channels come, change and go: after every change it is a plan of what is declared then, and a change that is refused
//! has changed nothing.

use crate::networks;
use leveret_plan::checker::check_network;
use leveret_plan::network::{Effort, Session, Stream, Traffic, diff_networks, plan_network};
use leveret_topology::{Reservation, Shape, shape};
use leveret_types::{ByteSize, Nanos, NodeId};

const SWITCHES: u32 = 4;
const HOSTS: u32 = 6;
/// Bytes of one channel, and of one change.
const CHANNEL_BYTES: usize = 7;
const CHANGE_BYTES: usize = CHANNEL_BYTES + 2;
/// Channels to begin with, and changes.
const CHANNELS_MAX: usize = 16;
const CHANGES_MAX: usize = 12;

fn stream(name: String, bytes: &[u8]) -> Stream {
    let [ends, size, more, period, window, latency, other] = bytes else { unreachable!("as many are taken") };
    let ends = u32::from(*ends);
    let (source, distance) = (ends % HOSTS, 1 + ends / HOSTS % (HOSTS - 1));
    let (from, to) = (NodeId(SWITCHES + source), NodeId(SWITCHES + (source + distance) % HOSTS));
    let size = ByteSize(1 + 16 * u64::from(*size) + u64::from(more % 16));
    let period = Nanos::from_micros([200, 400, 800, 300][usize::from(period % 4)]);
    let mut stream = Stream::new(name, from, to, size, period);
    stream.release = Nanos::from_micros(i64::from(window % 16) * 5);
    stream.deadline = stream.release + Nanos::from_micros(40 + i64::from(window / 16) * 20);
    stream.latency = (latency % 4 == 0).then(|| Nanos::from_micros(10 + i64::from(*latency)));
    stream.jitter = (other % 4 == 0).then(|| Nanos::from_micros(i64::from(other / 8)));
    stream.copies = if other % 8 == 1 { 2 } else { 1 };
    if other % 8 == 2 {
        let third = NodeId(SWITCHES + (source + distance + 1) % HOSTS);
        stream.targets.extend((third != from && third != to).then_some(third));
    }
    stream
}

fn traffic(kind: u8, channels: &[u8]) -> Traffic {
    let which = [Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh][usize::from(kind % 4)];
    let mut network = shape(which, SWITCHES, HOSTS);
    for link in &mut network.links {
        link.queues = 1 + kind / 4 % 8;
        if kind & 32 != 0 {
            let (period, start, length) = (Nanos(100_000), Nanos(20_000), Nanos(15_000));
            link.reserved.push(Reservation { period, start, length });
        }
    }
    let channels = channels.chunks_exact(CHANNEL_BYTES).take(CHANNELS_MAX).enumerate();
    let streams = channels.map(|(index, bytes)| stream(format!("s{index}"), bytes)).collect();
    let clock_error = Nanos(if kind & 64 == 0 { 0 } else { 300 });
    Traffic { network, streams, flows: Vec::new(), clock_error, whole_cycles: kind & 128 != 0 }
}

pub fn run(bytes: &[u8]) {
    let [kind, count, rest @ ..] = bytes else { return };
    let split = (usize::from(*count) % (CHANNELS_MAX + 1) * CHANNEL_BYTES).min(rest.len());
    let (channels, acts) = rest.split_at(split);
    let first = traffic(*kind, channels);
    let Ok((plan, _)) = plan_network(&first, Effort { seed: 0, steps: networks::STEPS }) else { return };
    let Ok(mut session) = Session::new(first, &plan) else { return };
    session.limit(networks::STEPS);
    for (number, act) in acts.chunks_exact(CHANGE_BYTES).take(CHANGES_MAX).enumerate() {
        let before = session.plan();
        let names: Vec<&str> = before.0.streams.iter().map(|stream| stream.name.as_str()).collect();
        let name = names.get(usize::from(act[1]) % names.len().max(1)).map_or("nobody", |name| name);
        let other = stream(format!("new{number}"), &act[2..]);
        let done = match act[0] % 4 {
            0 | 1 => session.add(other),
            2 => session.remove(name).map(|()| leveret_plan::network::Moved::default()),
            _ => session
                .alter(name, if act[0] < 128 { Stream { name: name.to_owned(), ..other } } else { other }),
        };
        let after = session.plan();
        if let Err(violation) = check_network(&after.1, &after.0) {
            panic!("what is kept is no plan: {violation}");
        }
        networks::kept(&after.1, &after.0);
        match done {
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(before == after, "a change that was refused has changed something");
            }
            Ok(moved) => {
                let diff = diff_networks((&before.0, &before.1), (&after.0, &after.1));
                let told = |other: &&str| other == &name || moved.others.iter().any(|moved| moved == other);
                let silent = diff.changed.iter().find(|other| other.moved > 0 && !told(&other.name.as_str()));
                assert!(silent.is_none(), "a channel has moved in silence: {}", diff.render());
            }
        }
    }
}
