//! The CSV files of the `tsnkit` benchmark collection (version 0.3): a network and its streams, to be planned; and the schedule, for
//! its simulator.
//!
//! ```text
//!  topology   link,q_num,rate,t_proc,t_prop                 "(0, 1)",8,1,2000,0      rate: ns per bit; times in ns
//!  streams    stream,src,dst,size,period,deadline,jitter    0,8,[12],50,2000000,9200,9200   size in bytes
//! ```
//!
//! A node with one link out and one in is an end station, every other a switch. A message is one frame, as long as its size. Its
//! deadline is the longest time from the start of its first transmission to the end of its last; when it starts in its period is free. Processing
//! counts where a frame is forwarded: the collection's simulator does not count it at the end.

mod read;
mod replay;
mod write;

pub use read::{TsnkitError, TsnkitFault, read};
pub use replay::replay;
pub use write::{Schedule, write};
