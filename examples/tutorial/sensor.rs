//! The tutorial's sensor: every period it measures a temperature and sends it.

use leveret::{ByteSize, CountingAllocator, Member};
use std::process::ExitCode;

/// Counts allocations, so that the report can say that there were none after commit.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    match sensor() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sensor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn sensor() -> Result<(), Box<dyn std::error::Error>> {
    let mut member = Member::join()?;
    let mut declarations = member.declare("tutorial");
    let temperature = declarations.source("temperature").size(ByteSize(8)).declare();
    declarations.task("sensor.measure").writes(temperature).body(move |instance| {
        let millidegrees = 20_000 + instance.instance().0;
        // One that is refused is a miss of the channel, and shows in the report.
        let _ = instance.send(temperature, &millidegrees.to_le_bytes());
    });
    let ended = member.commit(declarations)?.run()?;
    println!("sensor: {ended:?}");
    Ok(())
}
