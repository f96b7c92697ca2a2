//! A member for the tests that has no task: a thread of it takes a core at a higher priority than any task, for
//! a while, in the periods that its arguments name: `core=0`, `priority=95`, `period=20ms`, `from=4ms`, `for=8ms`,
//! `at=10,20,30`. It says in which of them it began in time.

use leveret::{Member, Nanos};
use leveret_os::scheduling::{self, Class};
use std::process::ExitCode;

/// A burst that begins no later is one that was planted.
const LATE: Nanos = Nanos::from_micros(500);

fn main() -> ExitCode {
    match hog() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hog: {error}");
            ExitCode::FAILURE
        }
    }
}

fn argument(key: &str) -> Result<String, String> {
    let mut arguments = std::env::args().skip(1);
    let found = arguments.find_map(|argument| {
        argument.split_once('=').filter(|(name, _)| *name == key).map(|(_, value)| value.to_owned())
    });
    found.ok_or_else(|| format!("the argument {key}=... is missing"))
}

fn hog() -> Result<(), Box<dyn std::error::Error>> {
    let core: u32 = argument("core")?.parse()?;
    let priority: u8 = argument("priority")?.parse()?;
    let period: Nanos = argument("period")?.parse()?;
    let from: Nanos = argument("from")?.parse()?;
    let length: Nanos = argument("for")?.parse()?;
    let at = argument("at")?;
    let bursts: Vec<i64> = at.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let mut member = Member::join()?;
    let declarations = member.declare("hog");
    let session = member.commit(declarations)?;
    let epoch = session.epoch();
    let thread = std::thread::Builder::new().name("hog".to_owned()).spawn(move || {
        scheduling::pin(core).map_err(|error| error.to_string())?;
        scheduling::apply(Class::Fifo { priority }).map_err(|error| error.to_string())?;
        for burst in bursts {
            let start = epoch + period.saturating_mul(burst) + from;
            leveret_os::clock::sleep_until(start);
            let is_in_time = leveret_os::clock::now() < start + LATE;
            while leveret_os::clock::now() < start + length {}
            if is_in_time {
                eprintln!("hog: held the core in instance {burst}");
            }
        }
        Ok::<(), String>(())
    })?;
    session.run()?;
    thread.join().map_err(|_| "the hogging thread panicked")??;
    Ok(())
}
