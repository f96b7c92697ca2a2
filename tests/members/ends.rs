//! A pair of members for the tests that call their channel ends when they like: A and B, by name. Each checks what
//! it sees, and a wrong sight is an exit status of 1 with its reason.
//!
//! - `poll`: A sends numbered messages best effort, B polls for them and echoes each on a waking channel;
//! - `full`: A sends best effort until nothing is free, and goes on trying, before B takes anything;
//! - `start`: A starts transfers of a time-driven channel one by one, B waits for each;
//! - `activate`: A's task sends each period; A deactivates and activates its end meanwhile.
//! - `pause`: the same, but it is the receiving end that B deactivates and activates.

use leveret::{
    ByteSize, CountingAllocator, Ended, Input, Instance, Member, MissingPolicy, Nanos, ReceivingEnd,
    SendRefusal, SendingEnd, StartError, WaitError, WaitMode,
};
use std::process::ExitCode;
use std::sync::mpsc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

type Failed = Box<dyn std::error::Error>;

const PERIOD: Nanos = Nanos::from_millis(20);
/// Nothing that is waited for here takes a tenth of it.
const WATCHDOG: Nanos = Nanos::from_secs(60);
const MESSAGES: u64 = 2000;
const TRANSFERS: u64 = 10;

fn main() -> ExitCode {
    let what = std::env::args().nth(1).unwrap_or_default();
    let done = match what.as_str() {
        "poll" => poll(),
        "full" => full(),
        "start" => start(),
        "activate" => activate(),
        "pause" => pause(),
        other => Err(format!("there is no test \"{other}\"").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ends {what}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn check(holds: bool, what: impl Into<String>) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what.into().into()) }
}

/// Best effort there and back: order and content of every message.
fn poll() -> Result<(), Failed> {
    let mut member = Member::join()?;
    let is_sender = member.name() == "A";
    let mut declarations = member.declare("poll");
    let size = ByteSize(64);
    if is_sender {
        let there = declarations.source("there").size(size).buffers(4).best_effort().declare();
        let back =
            declarations.target("back").size(size).buffers(4).best_effort().wait(WaitMode::Wake).declare();
        let mut session = member.commit(declarations)?;
        let mut there = session.sender(there).ok_or("no sending end")?;
        let mut back = session.receiver(back).ok_or("no receiving end")?;
        check(there.test() == Err(WaitError::NothingStarted), "nothing was started yet")?;
        check(matches!(there.send(&[0; 65]), Err(StartError::TooLong { length: 65, most: 64 })), "too long")?;
        for number in 0..MESSAGES {
            there.send(&number.to_le_bytes())?;
            expect(&mut back, number)?;
        }
        there.wait(WATCHDOG)?;
        check(there.test() == Ok(true), "the last message was taken back")?;
        session.uncommit()?;
    } else {
        let there = declarations.target("there").size(size).buffers(4).best_effort().declare();
        let back =
            declarations.source("back").size(size).buffers(4).best_effort().wait(WaitMode::Wake).declare();
        let mut session = member.commit(declarations)?;
        let mut there = session.receiver(there).ok_or("no receiving end")?;
        let mut back = session.sender(back).ok_or("no sending end")?;
        for number in 0..MESSAGES {
            expect(&mut there, number)?;
            back.send(&number.to_le_bytes())?;
        }
        session.uncommit()?;
    }
    println!("poll {}: {MESSAGES}", if is_sender { "A" } else { "B" });
    Ok(())
}

fn expect(end: &mut ReceivingEnd, number: u64) -> Result<(), Failed> {
    let message = end.receive(WATCHDOG)?;
    let mut bytes = [0; 64];
    let length = message.copy_to(&mut bytes).map_err(|torn| format!("message {number}: {torn:?}"))?;
    check(length == 8 && bytes[..8] == number.to_le_bytes(), format!("message {number} is another"))
}

/// So many messages have room on a channel, and so many more do not.
fn full() -> Result<(), Failed> {
    const ROOM: u64 = 4;
    const BEYOND: u64 = 16;
    let mut member = Member::join()?;
    let is_sender = member.name() == "A";
    let mut declarations = member.declare("full");
    let size = ByteSize(64);
    if is_sender {
        let there = declarations.source("there").size(size).buffers(ROOM as u32).best_effort().declare();
        let begin = declarations.source("begin").size(size).buffers(ROOM as u32).best_effort().declare();
        let mut session = member.commit(declarations)?;
        let mut there = session.sender(there).ok_or("no sending end")?;
        let mut begin = session.sender(begin).ok_or("no sending end")?;
        for number in 0..ROOM {
            there.send(&number.to_le_bytes())?;
        }
        for _ in 0..BEYOND {
            check(matches!(there.send(&[0]), Err(StartError::NoBuffer(_))), "there is room for more")?;
        }
        begin.send(&0_u64.to_le_bytes())?;
        there.wait(WATCHDOG)?;
        session.uncommit()?;
    } else {
        let there = declarations.target("there").size(size).buffers(ROOM as u32).best_effort().declare();
        let begin = declarations.target("begin").size(size).buffers(ROOM as u32).best_effort().declare();
        let mut session = member.commit(declarations)?;
        let mut there = session.receiver(there).ok_or("no receiving end")?;
        let mut begin = session.receiver(begin).ok_or("no receiving end")?;
        expect(&mut begin, 0)?;
        for number in 0..ROOM {
            expect(&mut there, number)?;
        }
        session.uncommit()?;
    }
    println!("full {}: {ROOM} and {BEYOND}", if is_sender { "A" } else { "B" });
    Ok(())
}

/// Single transfers by the clock.
fn start() -> Result<(), Failed> {
    let mut member = Member::join()?;
    let is_sender = member.name() == "A";
    let mut declarations = member.declare("start");
    let window = [Nanos::ZERO, Nanos::from_millis(10)];
    let size = ByteSize(64);
    if is_sender {
        let end =
            declarations.source("AB").size(size).time_driven(PERIOD, window, MissingPolicy::Skip).declare();
        let mut session = member.commit(declarations)?;
        let mut end = session.sender(end).ok_or("no sending end")?;
        start_each(&mut end)?;
        session.run()?;
    } else {
        let end =
            declarations.target("AB").size(size).time_driven(PERIOD, window, MissingPolicy::Skip).declare();
        let mut session = member.commit(declarations)?;
        let mut end = session.receiver(end).ok_or("no receiving end")?;
        let mut last = None;
        for _ in 0..TRANSFERS {
            last = Some(next_performed(&mut end, last)?);
        }
        println!("start B: {TRANSFERS}");
        session.run()?;
    }
    Ok(())
}

fn start_each(end: &mut SendingEnd) -> Result<(), Failed> {
    for number in 0..TRANSFERS {
        let started = end.start(&number.to_le_bytes())?;
        // The slack is 1: a second start in the same period is refused, unless the machine let it pass meanwhile.
        match end.start(&number.to_le_bytes()) {
            Err(StartError::Outstanding(instance)) => check(instance == started, "another is outstanding")?,
            Err(error) => return Err(error.into()),
            Ok(_) => return Err("two transfers at once".into()),
        }
        check(end.wait(WATCHDOG)? == started, "waited for another transfer")?;
        check(end.test() == Ok(true), "a transfer that was waited for is complete")?;
    }
    Ok(())
}

/// Waits for periods until one brings a message; which.
fn next_performed(end: &mut ReceivingEnd, last: Option<u64>) -> Result<u64, Failed> {
    loop {
        let mut bytes = [0; 64];
        match end.wait(WATCHDOG) {
            Ok(message) => {
                message.copy_to(&mut bytes).map_err(|torn| format!("torn: {torn:?}"))?;
            }
            Err(WaitError::NotPerformed(_)) => continue,
            Err(error) => return Err(error.into()),
        }
        let number = bytes[..8].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let next = last.map_or(0, |last| last + 1);
        check(number == next, format!("transfer {number} came, {next} had to"))?;
        return Ok(number);
    }
}

/// What A's task could do with an instance.
type Seen = (u64, Result<(), SendRefusal>);

/// Deactivation and activation of one end take effect at the named instances, and at no other.
fn activate() -> Result<(), Failed> {
    let mut member = Member::join()?;
    let is_sender = member.name() == "A";
    let mut declarations = member.declare("activate");
    let (seen, sights) = mpsc::channel::<Seen>();
    if is_sender {
        let end = declarations.source("AB").size(ByteSize(64)).declare();
        declarations.task("A.user").writes(end).body(move |instance| {
            let number = instance.instance().0;
            let sent = instance.send(end, &number.to_le_bytes());
            let _ = seen.send((number, sent));
        });
        let session = member.commit(declarations)?;
        let sight = |from: u64| sights.iter().find(|(number, _)| *number >= from).ok_or("the task has ended");
        check(sight(3)?.1 == Ok(()), "active from the start")?;
        let until = session.deactivate(end).ok_or("no such end")?.0;
        let from = session.activate_at(end, Instance(until + 5)).ok_or("no such end")?.0;
        check(from >= until + 5, "activated before the named instance")?;
        // An instance that is skipped says nothing.
        for (number, sent) in sights.iter().take_while(|(number, _)| *number <= from + 5) {
            let is_off = (until..from).contains(&number);
            let wanted = if is_off { Err(SendRefusal::Inactive) } else { Ok(()) };
            check(sent == wanted, format!("off at {until}, on at {from}: {sent:?} in instance {number}"))?;
        }
        println!("activate A: off at {until}, on at {from}");
        check(matches!(session.run()?, Ended::Completed), "completed")
    } else {
        let end = declarations.target("AB").size(ByteSize(64)).declare();
        declarations.task("B.user").reads(end).body(move |instance| {
            if let Input::Message(message) = instance.input(end) {
                let mut bytes = [0; 64];
                let whole = message.copy_to(&mut bytes) == Ok(8);
                if !whole || bytes[..8] != message.instance().0.to_le_bytes() {
                    instance.report_corrupt(end);
                }
            }
        });
        check(matches!(member.commit(declarations)?.run()?, Ended::Completed), "completed")
    }
}

/// The same of the receiving end: the instances that it does not take part in are not taken, and none else.
fn pause() -> Result<(), Failed> {
    let mut member = Member::join()?;
    let is_sender = member.name() == "A";
    let mut declarations = member.declare("pause");
    if is_sender {
        let end = declarations.source("AB").size(ByteSize(64)).declare();
        declarations.task("A.user").writes(end).body(move |instance| {
            let number = instance.instance().0;
            // Refused while the other end is not active.
            let _ = instance.send(end, &number.to_le_bytes());
        });
        return check(matches!(member.commit(declarations)?.run()?, Ended::Completed), "completed");
    }
    let (seen, sights) = mpsc::channel::<(u64, bool)>();
    let end = declarations.target("AB").size(ByteSize(64)).declare();
    declarations.task("B.user").reads(end).body(move |instance| {
        let number = instance.instance().0;
        let came = matches!(instance.input(end), Input::Message(_));
        let _ = seen.send((number, came));
    });
    let session = member.commit(declarations)?;
    let sight = |from: u64| sights.iter().find(|(number, _)| *number >= from).ok_or("the task has ended");
    check(sight(3)?.1, "active from the start")?;
    let until = session.deactivate(end).ok_or("no such end")?.0;
    let from = session.activate_at(end, Instance(until + 5)).ok_or("no such end")?.0;
    check(from >= until + 5, "activated before the named instance")?;
    // What did not come in the other instances may be the sender's doing.
    for (number, came) in sights.iter().take_while(|(number, _)| *number <= from + 5) {
        let is_off = (until..from).contains(&number);
        check(!(came && is_off), format!("off at {until}, on at {from}: a message in instance {number}"))?;
    }
    println!("pause B: off at {until}, on at {from}");
    check(matches!(session.run()?, Ended::Completed), "completed")
}
