//! Our side, as any user's: a job of one or two members with triggers, receptors and handlers.
//!
//! Every round is a commit of its own, so that between our rounds nothing of ours runs while the others are measured.

use crate::BenchError;
use crate::child::{LAST_WORD, Order, ping_round, serve};
use crate::job::{self, Role};
use leveret::objects::{Code, Committed, EventKind, Handle, HandlerFunction, Library, TriggerDescription};
use leveret::{Horizon, Nanos};
use leveret_os::scheduling::pin;
use std::fmt::Display;
use std::sync::Arc;

/// No trip takes as long.
pub(super) const PATIENCE: Nanos = Nanos::from_secs(10);

pub(super) fn broken(error: impl Display) -> BenchError {
    BenchError::Round { subject: "leveret".to_owned(), reason: error.to_string() }
}

/// The child that the harness starts: `child events across|same wait|handler CORE_PING CORE_PONG`.
pub fn agent([place, receiver, ping, pong]: [&str; 4]) -> Result<(), BenchError> {
    let role = |name, core: &str, of_library: &str| {
        let arguments = [&format!("events-{name}"), place, receiver, core, of_library].map(str::to_owned);
        Ok::<_, BenchError>(Role::new(name, of_library.parse().map_err(broken)?, arguments))
    };
    let roles = match place {
        // The library's threads run on the core of their member: here that of the thread which answers.
        "same" => vec![role("ping", ping, pong)?],
        _ => vec![role("ping", ping, ping)?, role("pong", pong, pong)?],
    };
    // The job ends when ping has no more orders and leaves; pong's next commit is refused then.
    job::run("events", &roles, Horizon::Unbounded).map(drop)
}

/// Joins the job on a core.
pub(super) fn join(core: &str) -> Result<Library, BenchError> {
    pin(core.parse().map_err(broken)?).map_err(broken)?;
    Library::join().map_err(broken)
}

pub(super) fn trigger(library: &mut Library, event: &str) -> Result<Handle, BenchError> {
    let (source, qos) = (Handle::default(), Handle::default());
    let about = TriggerDescription { kind: EventKind::Call, source, group: Handle::GROUP_WORLD, qos };
    library.world.trigger(event, about).map_err(broken)
}

pub(super) fn receptor(library: &mut Library, event: &str) -> Result<Handle, BenchError> {
    library.world.receptor(event, Handle::GROUP_WORLD, Handle::default()).map_err(broken)
}

/// What answers: its receptor, which it waits for or which runs its handler, what it fires, and when it stops.
struct Answering {
    there: Handle,
    back: Handle,
    stop: Handle,
}

impl Answering {
    fn declare(library: &mut Library, by_handler: bool) -> Result<Self, BenchError> {
        let back = trigger(library, "back")?;
        let handlers = if by_handler {
            let answer: HandlerFunction = Arc::new(move |_, _, committed| {
                // A trip that is not answered is told by who waits for it.
                let _ = committed.fire(back);
            });
            let handler = library.world.handler("answer", Handle::default(), answer).map_err(broken)?;
            library.world.cvector("", &[handler]).map_err(broken)?
        } else {
            Handle::default()
        };
        let there = library.world.receptor("there", Handle::GROUP_WORLD, handlers).map_err(broken)?;
        Ok(Self { there, back, stop: receptor(library, "stop")? })
    }

    /// Answers until it is stopped.
    fn answer(&self, committed: &Committed, by_handler: bool) -> Result<(), Code> {
        if by_handler {
            return committed.receptor_wait(self.stop, PATIENCE).map(drop);
        }
        loop {
            committed.receptor_wait(self.there, PATIENCE)?;
            committed.fire(self.back)?;
            if committed.receptor_test(self.stop)?.is_some() {
                return Ok(());
            }
        }
    }
}

pub(super) fn committed(library: &mut Library) -> Result<Arc<Committed>, Code> {
    library.commit()?;
    library.committed().cloned().ok_or(Code::NotCommitted)
}

/// The member that takes the harness's orders: `child events-ping across|same wait|handler CORE CORE_OF_THE_OTHER_THREAD`.
pub fn ping([place, receiver, core, other]: [&str; 4]) -> Result<(), BenchError> {
    let by_handler = receiver == "handler";
    let other: u32 = other.parse().map_err(broken)?;
    let mut library = join(core)?;
    let there = trigger(&mut library, "there")?;
    let stop = trigger(&mut library, "stop")?;
    let back = receptor(&mut library, "back")?;
    let own = if place == "same" { Some(Answering::declare(&mut library, by_handler)?) } else { None };
    serve(env!("CARGO_PKG_VERSION"), |order| {
        let committed = committed(&mut library).map_err(|error| format!("{error}: {}", library.refusal()))?;
        let outcome = std::thread::scope(|scope| {
            if let Some(own) = &own {
                let committed = &committed;
                scope.spawn(move || {
                    // Where it cannot be pinned it still answers.
                    let _ = pin(other);
                    own.answer(committed, by_handler)
                });
            }
            round(&committed, (order, by_handler), [there, stop, back])
        });
        library.uncommit().map_err(|error| error.to_string())?;
        outcome
    })?;
    Ok(())
}

/// Each trip checks that the answer is the one to this event.
fn round(
    committed: &Committed,
    (order, by_handler): (&Order, bool),
    [there, stop, back]: [Handle; 3],
) -> Result<String, String> {
    let mut trips = 0;
    let mut failure = None;
    let outcome = ping_round(order.duration, |word| {
        let trip = || {
            let is_last = word == LAST_WORD;
            // Who waits looks after its answer whether that was the last; handlers end with who waits for the stop.
            if is_last && !by_handler {
                committed.fire(stop)?;
            }
            committed.fire(there)?;
            let answer = committed.receptor_wait(back, PATIENCE)?;
            if is_last && by_handler {
                committed.fire(stop)?;
            }
            Ok(answer)
        };
        let answered: Result<_, Code> = trip();
        trips += 1;
        match answered {
            Ok(firing) if firing.number == trips - 1 => word,
            Ok(firing) => firing.number,
            Err(code) => {
                failure = Some(code.to_string());
                !word
            }
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None => outcome,
    }
}

/// The member that answers: `child events-pong across wait|handler CORE CORE`.
pub fn pong([_, receiver, core, _]: [&str; 4]) -> Result<(), BenchError> {
    let by_handler = receiver == "handler";
    let mut library = join(core)?;
    let answering = Answering::declare(&mut library, by_handler)?;
    loop {
        let committed = match committed(&mut library) {
            Ok(committed) => committed,
            Err(Code::Agent) => return Ok(()),
            Err(error) => return Err(broken(format!("{error}: {}", library.refusal()))),
        };
        answering.answer(&committed, by_handler).map_err(broken)?;
        library.uncommit().map_err(broken)?;
    }
}
