//! Leveret: real-time message passing for Linux.
//!
//! A program *declares* what must move, how often and by when; *commit* admits it with a checked plan or refuses it
//! with the reason; then the passing of time moves the data: no process makes a call per message.
//!
//! ```no_run
//! use leveret::{ByteSize, Input, Member, Nanos};
//!
//! let mut member = Member::join()?;
//! let mut declarations = member.declare("example");
//! let readings = declarations.target("readings").size(ByteSize(8)).declare();
//! let commands = declarations.source("commands").size(ByteSize(8)).declare();
//! declarations
//!     .task("controller")
//!     .period(Nanos::from_millis(1))
//!     .budget(Nanos::from_micros(50))
//!     .reads(readings)
//!     .writes(commands)
//!     .body(move |instance| {
//!         let mut bytes = [0_u8; 8];
//!         if let Input::Message(message) = instance.input(readings) {
//!             let _ = message.copy_to(&mut bytes);
//!         }
//!         let _ = instance.send(commands, &bytes);
//!     });
//! let ended = member.commit(declarations)?.run()?;
//! println!("{ended:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What wrong use looks like to the compiler: a committed declaration is gone,
//! ```compile_fail,E0382
//! # fn wrong(mut member: leveret::Member) -> Result<(), Box<dyn std::error::Error>> {
//! let mut declarations = member.declare("once");
//! let session = member.commit(declarations)?;
//! declarations.source("too late");
//! # Ok(()) }
//! ```
//! a second commit must wait for the first to end,
//! ```compile_fail,E0499
//! # fn wrong(mut member: leveret::Member) -> Result<(), Box<dyn std::error::Error>> {
//! let first = member.declare("first");
//! let second = member.declare("second");
//! let running = member.commit(first)?;
//! let other = member.commit(second)?;
//! running.run()?;
//! # Ok(()) }
//! ```
//! and a message cannot outlive its instance:
//! ```compile_fail
//! # fn wrong(declarations: &mut leveret::Declarations, target: leveret::Target) {
//! let mut kept = None;
//! declarations.task("greedy").body(move |instance| {
//!     kept = instance.input(target).message();
//! });
//! # }
//! ```
//! What needs a commit is offered by what a commit gives: a world of objects cannot start a channel,
//! ```compile_fail,E0599
//! # fn wrong(library: &leveret::objects::Library, channel: leveret::objects::Handle) {
//! library.world.start(channel);
//! # }
//! ```
//! nobody makes up that something is committed,
//! ```compile_fail,E0451
//! # fn wrong(world: leveret::objects::World) {
//! let committed = leveret::objects::Committed { world };
//! # }
//! ```
//! and an uncommit waits until nobody uses what it ends by borrowing it:
//! ```compile_fail,E0502
//! # fn wrong(library: &mut leveret::objects::Library, channel: leveret::objects::Handle) {
//! let committed = library.committed().expect("it is committed");
//! let ended = library.uncommit();
//! committed.start(channel);
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod planning;

/// Version of this library.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

pub use leveret_memory::{SharedBytes, Torn};
pub use leveret_os::allocator::CountingAllocator;
pub use leveret_plan::{CoreChoice, MissingPolicy, OverrunPolicy, Placement};
pub use leveret_protocol::control::Horizon;
pub use leveret_protocol::declaration::{BufferMemory, IteratorPolicy, WaitMode};
pub use leveret_runtime::objects;
pub use leveret_runtime::{
    Aborter, Absence, AnyEnd, CommitError, DeclarationError, Declarations, EndBuilder, Ended, Input, Inputs,
    JoinError, Member, Message, OutputSlot, Outputs, Received, ReceivingEnd, SendRefusal, SendingEnd,
    SendingSlot, Session, Source, StartError, Target, TaskBuilder, TaskContext, WaitError,
};
pub use leveret_types::{ByteSize, Generation, Instance, MemberId, Nanos, ParseDurationError};

/// The pages whose code is tested with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tutorial.md")]
#[doc = include_str!("../../../docs/how-to/best-effort-channels.md")]
mod pages {}
