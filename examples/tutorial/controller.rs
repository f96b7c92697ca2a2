//! The tutorial's controller: takes each temperature, and remembers the highest.

use leveret::{ByteSize, CountingAllocator, Member};
use std::process::ExitCode;

/// Counts allocations, so that the report can say that there were none after commit.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What the body remembers; said when the task has ended, since a body must not print.
struct Highest {
    millidegrees: u64,
    readings: u64,
}

impl Highest {
    fn note(&mut self, millidegrees: u64) {
        self.millidegrees = self.millidegrees.max(millidegrees);
        self.readings += 1;
    }
}

impl Drop for Highest {
    fn drop(&mut self) {
        println!("controller: {} readings, the highest {} millidegrees", self.readings, self.millidegrees);
    }
}

fn main() -> ExitCode {
    match controller() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("controller: {error}");
            ExitCode::FAILURE
        }
    }
}

fn controller() -> Result<(), Box<dyn std::error::Error>> {
    let mut member = Member::join()?;
    let mut declarations = member.declare("tutorial");
    let temperature = declarations.target("temperature").size(ByteSize(8)).declare();
    let mut highest = Highest { millidegrees: 0, readings: 0 };
    declarations.task("controller.control").reads(temperature).body(move |instance| {
        let mut bytes = [0; 8];
        // No message: the instance was late or missing, which the report tells. Torn: only a faulty sender does that.
        let Some(message) = instance.input(temperature).message() else { return };
        if message.copy_to(&mut bytes).is_ok() {
            highest.note(u64::from_le_bytes(bytes));
        }
    });
    let ended = member.commit(declarations)?.run()?;
    println!("controller: {ended:?}");
    Ok(())
}
