//! Messages from thread to thread, in order. As the standard library's `mpsc`, but that keeps words of each thread that waits, for which
//! it takes memory when a thread first waits and ends the process if there is none. Here a waiting thread needs nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

struct State<T> {
    messages: VecDeque<T>,
    senders: usize,
    has_receiver: bool,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// There is a message, or no sender any more.
    changed: Condvar,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts messages in.
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// Takes them out.
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

/// There is no receiver any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unheard;

/// A mailbox with one sender. Up to so many messages wait in it without further memory.
pub(crate) fn mailbox<T>(room: usize) -> (Sender<T>, Receiver<T>) {
    let state = State { messages: VecDeque::with_capacity(room), senders: 1, has_receiver: true };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(shared.clone()), Receiver(shared))
}

impl<T> Sender<T> {
    /// Never waits for the receiver.
    ///
    /// # Errors
    /// [`Unheard`]; the message is dropped then.
    pub(crate) fn send(&self, message: T) -> Result<(), Unheard> {
        let mut state = self.0.state();
        if !state.has_receiver {
            return Err(Unheard);
        }
        state.messages.push_back(message);
        drop(state);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.state().senders += 1;
        Self(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.senders -= 1;
        let is_last = state.senders == 0;
        drop(state);
        if is_last {
            self.0.changed.notify_one();
        }
    }
}

impl<T> Receiver<T> {
    /// The next message, waiting for it; `None` when there is none and no sender any more.
    pub(crate) fn receive(&self) -> Option<T> {
        let is_awaited = |state: &mut State<T>| state.messages.is_empty() && state.senders > 0;
        let state = self.0.changed.wait_while(self.0.state(), is_awaited);
        state.unwrap_or_else(PoisonError::into_inner).messages.pop_front()
    }

    /// Every message, until there is no sender any more.
    pub(crate) fn all(&self) -> impl Iterator<Item = T> + '_ {
        std::iter::from_fn(|| self.receive())
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.has_receiver = false;
        let unheard = std::mem::take(&mut state.messages);
        drop(state);
        // Not under the lock: a message may be a sender of this very mailbox.
        drop(unheard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveret_os::thread::Thread;

    #[test]
    fn messages_come_in_order_and_end_with_the_last_sender() {
        let (sender, receiver) = mailbox(1);
        let second = sender.clone();
        for number in 0..5 {
            assert_eq!(sender.send(number), Ok(()));
        }
        drop(sender);
        assert_eq!(second.send(5), Ok(()));
        drop(second);
        assert!(receiver.all().eq(0..6));
        assert_eq!(receiver.receive(), None);
    }

    #[test]
    fn a_receiver_waits_for_each_of_its_senders() {
        let (sender, receiver) = mailbox(0);
        let threads: Vec<Thread<()>> = (0..4)
            .map(|thread| {
                let sender = sender.clone();
                let send =
                    move || (0..100).for_each(|number| assert_eq!(sender.send((thread, number)), Ok(())));
                Thread::start("sends", send).expect("a thread")
            })
            .collect();
        drop(sender);
        let mut next = [0; 4];
        for (thread, number) in receiver.all() {
            assert_eq!(number, next[thread]);
            next[thread] += 1;
        }
        assert_eq!(next, [100; 4]);
        threads.into_iter().for_each(|thread| thread.join().expect("it holds"));
    }

    #[test]
    fn what_nobody_hears_is_told_and_dropped() {
        let (sender, receiver) = mailbox(2);
        let message = Arc::new(());
        assert_eq!(sender.send(message.clone()), Ok(()));
        drop(receiver);
        assert_eq!(Arc::strong_count(&message), 1);
        assert_eq!(sender.send(message.clone()), Err(Unheard));
        assert_eq!(Arc::strong_count(&message), 1);
    }
}
