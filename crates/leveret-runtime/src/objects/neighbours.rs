//! Which ends of a member belong together because one puts buffers where another takes them.

use super::committed::CommittedChannel;
use std::collections::VecDeque;

/// Iterators by their numbers, with channels by theirs.
struct Users {
    givers: Vec<Vec<u32>>,
    takers: Vec<Vec<u32>>,
}

/// Notes at each channel, but for those that a thread serves, which others it is fed by and which it feeds.
pub(super) fn note_neighbours(channels: &mut [CommittedChannel], iterators: usize) {
    let mut users = Users { givers: vec![Vec::new(); iterators], takers: vec![Vec::new(); iterators] };
    let pairs: Vec<Vec<[u32; 2]>> = channels.iter().map(pairs).collect();
    for (number, pairs) in pairs.iter().enumerate() {
        for [input, output] in pairs {
            users.takers[*input as usize].push(number as u32);
            users.givers[*output as usize].push(number as u32);
        }
    }
    for number in 0..channels.len() {
        let before =
            |channel: usize| pairs[channel].iter().flat_map(|[input, _]| &users.givers[*input as usize]);
        let behind =
            |channel: usize| pairs[channel].iter().flat_map(|[_, output]| &users.takers[*output as usize]);
        let mut feeders = nearest_first(number, channels.len(), before);
        feeders.reverse();
        let followers = nearest_first(number, channels.len(), behind);
        channels[number].feeders = feeders.into();
        channels[number].followers = followers.into();
    }
}

/// The iterators of its transfers; none where a thread of the library moves them.
fn pairs(channel: &CommittedChannel) -> Vec<[u32; 2]> {
    match channel.collective.as_deref() {
        _ if channel.served.is_some() => Vec::new(),
        Some(collective) => [collective.sends, collective.receives].into_iter().flatten().collect(),
        None => vec![[channel.input, channel.output]],
    }
}

/// All that are reached from one of `count` channels, without that one.
fn nearest_first<'a, I: Iterator<Item = &'a u32>>(
    from: usize,
    count: usize,
    next: impl Fn(usize) -> I,
) -> Vec<u32> {
    let mut is_known = vec![false; count];
    is_known[from] = true;
    let (mut found, mut left) = (Vec::new(), VecDeque::from([from]));
    while let Some(channel) = left.pop_front() {
        for number in next(channel) {
            if !std::mem::replace(&mut is_known[*number as usize], true) {
                found.push(*number);
                left.push_back(*number as usize);
            }
        }
    }
    found
}
