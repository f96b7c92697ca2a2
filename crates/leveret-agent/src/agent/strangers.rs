//! Connections that have not said who they are: few, not for long, and nobody waits for them.

use crate::aside::MemberConnection;
use leveret_os::control::{Connection, Frame};
use leveret_types::Nanos;
use std::time::Duration;

/// So many may there be beside one for each member; then the oldest goes.
const STRANGERS_MAX: usize = 64;
/// A member says who it is as soon as it is connected.
const HELLO_WITHIN: Nanos = Nanos::from_secs(5);
/// Who does not read a refusal is not waited for.
const DEAF_AFTER: Duration = Duration::from_millis(100);
/// Far more than a Hello has.
const HELLO_BYTES_MAX: usize = 4096;

struct Stranger {
    connection: MemberConnection,
    since: Nanos,
}

/// The strangers, oldest first.
pub(super) struct Strangers {
    waiting: Vec<Stranger>,
    most: usize,
    turned_away: bool,
}

impl Strangers {
    pub(super) fn new(members: usize) -> Self {
        Self { waiting: Vec::new(), most: members + STRANGERS_MAX, turned_away: false }
    }

    pub(super) fn connections(&self) -> impl DoubleEndedIterator<Item = &Connection> + ExactSizeIterator {
        self.waiting.iter().map(|stranger| &*stranger.connection)
    }

    /// Whether connections are accepted: not from a failure of that until the next tick, which would fail again at
    /// once and leave the agent with nothing else to do.
    pub(super) fn are_welcome(&self) -> bool {
        !self.turned_away
    }

    pub(super) fn admit(&mut self, connection: Connection, now: Nanos) {
        let connection = MemberConnection::new(connection);
        connection.set_receive_limit(HELLO_BYTES_MAX);
        connection.set_send_timeout(Some(DEAF_AFTER));
        if self.waiting.len() >= self.most {
            self.waiting.remove(0);
        }
        self.waiting.push(Stranger { connection, since: now });
    }

    /// A connection could not be accepted: there is no further descriptor, or no memory. The oldest gives its own.
    pub(super) fn turn_away(&mut self) {
        self.turned_away = true;
        if !self.waiting.is_empty() {
            self.waiting.remove(0);
        }
    }

    /// The first message of a stranger, who is none after it. Whoever sends no message goes.
    pub(super) fn hear(&mut self, index: usize) -> Option<(MemberConnection, Frame)> {
        match self.waiting[index].connection.receive_arrived() {
            Ok(None) => None,
            Ok(Some(frame)) => Some((self.waiting.remove(index).connection, frame)),
            Err(_) => {
                self.waiting.remove(index);
                None
            }
        }
    }

    /// Called at every tick.
    pub(super) fn lose_patience(&mut self, now: Nanos) {
        self.turned_away = false;
        self.waiting.retain(|stranger| now - stranger.since <= HELLO_WITHIN);
    }

    pub(super) fn dismiss(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(strangers: &mut Strangers, now: Nanos) -> Connection {
        let (here, there) = Connection::pair().unwrap();
        strangers.admit(here, now);
        there
    }

    #[test]
    fn strangers_are_few_and_do_not_stay() {
        let mut strangers = Strangers::new(2);
        let peers: Vec<Connection> = (0..100).map(|now| admitted(&mut strangers, Nanos(now))).collect();
        assert_eq!(strangers.connections().len(), 66);
        // The oldest went, and its peer finds the connection closed.
        assert!(peers[33].receive_arrived().is_err() && peers[34].receive_arrived().unwrap().is_none());
        strangers.lose_patience(HELLO_WITHIN + Nanos(90));
        assert_eq!(strangers.connections().len(), 10);
        assert!(peers[89].receive_arrived().is_err() && peers[90].receive_arrived().unwrap().is_none());
    }

    #[test]
    fn one_that_cannot_be_accepted_costs_the_oldest_and_a_pause() {
        let mut strangers = Strangers::new(2);
        let peers = [0, 1].map(|now| admitted(&mut strangers, Nanos(now)));
        strangers.turn_away();
        assert!(!strangers.are_welcome());
        assert!(peers[0].receive_arrived().is_err() && peers[1].receive_arrived().unwrap().is_none());
        strangers.turn_away();
        strangers.turn_away();
        strangers.lose_patience(Nanos(2));
        assert!(strangers.are_welcome());
        assert_eq!(strangers.connections().len(), 0);
    }

    #[test]
    fn nobody_says_more_than_a_hello() {
        let mut strangers = Strangers::new(0);
        let long = admitted(&mut strangers, Nanos(0));
        let short = admitted(&mut strangers, Nanos(0));
        long.send(&vec![b'x'; HELLO_BYTES_MAX + 1], &[]).unwrap();
        assert!(strangers.hear(0).is_none());
        assert_eq!(strangers.connections().len(), 1);
        assert!(strangers.hear(0).is_none());
        short.send(&vec![b'x'; HELLO_BYTES_MAX], &[]).unwrap();
        let (connection, frame) = strangers.hear(0).expect("a message");
        assert_eq!((frame.bytes.len(), strangers.connections().len()), (HELLO_BYTES_MAX, 0));
        // A refusal to somebody who does not read is given up.
        assert!(connection.send(&vec![0; 16 << 20], &[]).is_err());
    }
}
