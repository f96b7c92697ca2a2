//! The three-node ring of the HARE thesis (section 5.3): A, B and C pass a message around, by the clock.
//!
//! A increments the message number each round and fills the rest of the message from it; B and C pass on what they
//! took. Every receiver checks order and content. Run it with `leveret run examples/ring/job.toml`.

use leveret::{ByteSize, CountingAllocator, Declarations, Ended, Input, Member, TaskContext};
use leveret::{Source, Target};
use std::process::ExitCode;

/// Proves in the report that nothing is allocated after commit.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Message sizes of the published experiment, one commit each.
const SIZES: [u64; 2] = [4, 1024];
const SIZE_MAX: usize = 1024;

fn main() -> ExitCode {
    match ring() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ring: {error}");
            ExitCode::FAILURE
        }
    }
}

fn ring() -> Result<(), Box<dyn std::error::Error>> {
    let mut member = Member::join()?;
    let mut sizes = SIZES.iter();
    while let Some(size) = sizes.next() {
        let declarations = declare(&member, ByteSize(*size))?;
        match member.commit(declarations)?.run()? {
            Ended::Completed => {}
            Ended::Stopped(_) => return Ok(()),
            // A member that was started again knows of no commit before: all begin with the first size again.
            Ended::PeerRestarted => sizes = SIZES.iter(),
        }
    }
    Ok(())
}

/// The two channels and the task of this member; periods, windows and budgets stand in the manifest.
fn declare(member: &Member, size: ByteSize) -> Result<Declarations, String> {
    let (task, from, to) = match member.name() {
        "A" => ("A.user", "CA", "AB"),
        "B" => ("B.user", "AB", "BC"),
        "C" => ("C.user", "BC", "CA"),
        other => return Err(format!("the ring has members A, B and C, not \"{other}\"")),
    };
    let starts_the_round = member.name() == "A";
    let mut declarations = member.declare(&size.to_string());
    let from = declarations.target(from).size(size).declare();
    let to = declarations.source(to).size(size).declare();
    let mut node = Node { expected: 0, bytes: [0; SIZE_MAX], size: size.0 as usize };
    declarations.task(task).reads(from).writes(to).body(move |instance| {
        if starts_the_round { node.start_round(instance, from, to) } else { node.pass_on(instance, from, to) }
    });
    Ok(declarations)
}

/// What a node remembers from round to round.
struct Node {
    /// Number of the message that must come next.
    expected: u32,
    bytes: [u8; SIZE_MAX],
    size: usize,
}

impl Node {
    /// A: takes back the message of the round before, and sends the next number.
    fn start_round(&mut self, instance: &mut TaskContext<'_>, from: Target, to: Source) {
        self.take(instance, from);
        let number = instance.instance().0 as u32;
        fill(&mut self.bytes[..self.size], number);
        // One that is refused is a miss of the channel, and fails the run.
        let _ = instance.send(to, &self.bytes[..self.size]);
    }

    /// B and C: send on what came, unchanged.
    fn pass_on(&mut self, instance: &mut TaskContext<'_>, from: Target, to: Source) {
        if self.take(instance, from) {
            let _ = instance.send(to, &self.bytes[..self.size]);
        }
    }

    /// Takes the message of this round and checks its number and its content.
    fn take(&mut self, instance: &mut TaskContext<'_>, from: Target) -> bool {
        let taken = match instance.input(from) {
            Input::Message(message) => {
                let number = message.instance().0 as u32;
                message.copy_to(&mut self.bytes).ok().map(|length| (number, length))
            }
            Input::Held(..) | Input::Absent(_) => None,
        };
        let Some((number, length)) = taken else { return false };
        if number < self.expected {
            instance.report_out_of_order(from);
        }
        self.expected = number + 1;
        if length != self.size || !is_filled(&self.bytes[..self.size], number) {
            instance.report_corrupt(from);
        }
        true
    }
}

/// The number in the first four bytes, and a pattern that depends on it in the rest.
fn fill(bytes: &mut [u8], number: u32) {
    let (head, rest) = bytes.split_at_mut(4);
    head.copy_from_slice(&number.to_le_bytes());
    for (place, byte) in rest.iter_mut().enumerate() {
        *byte = pattern(number, place);
    }
}

fn is_filled(bytes: &[u8], number: u32) -> bool {
    let (head, rest) = bytes.split_at(4);
    head == number.to_le_bytes()
        && rest.iter().enumerate().all(|(place, byte)| *byte == pattern(number, place))
}

fn pattern(number: u32, place: usize) -> u8 {
    (number as u8).wrapping_add(place as u8)
}
