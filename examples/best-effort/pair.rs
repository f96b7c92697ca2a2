//! Two members ask and answer on best-effort channels, each from its own main thread. The first of the job asks.

use leveret::{ByteSize, Member, MemberId, Nanos, ReceivingEnd, SendingEnd};
use std::error::Error;
use std::process::ExitCode;

const QUESTIONS: u64 = 1000;
/// Long enough for any machine; a peer that dies is noticed at once.
const PATIENCE: Nanos = Nanos::from_secs(10);

fn main() -> ExitCode {
    match pair() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pair: {error}");
            ExitCode::FAILURE
        }
    }
}

fn pair() -> Result<(), Box<dyn Error>> {
    let mut member = Member::join()?;
    let is_client = member.rank() == MemberId(0);
    let (there, back) = if is_client { ("questions", "answers") } else { ("answers", "questions") };
    let mut declarations = member.declare("pair");
    let source = declarations.source(there).size(ByteSize(64)).best_effort().declare();
    let target = declarations.target(back).size(ByteSize(64)).best_effort().declare();
    let mut session = member.commit(declarations)?;
    // Ends that no task owns are taken from the session, once each.
    let (Some(mut source), Some(mut target)) = (session.sender(source), session.receiver(target)) else {
        return Err("an end was taken before".into());
    };
    if is_client {
        ask(&mut source, &mut target)?
    } else {
        answer(&mut source, &mut target)?
    }
    session.uncommit()?;
    Ok(())
}

fn ask(source: &mut SendingEnd, target: &mut ReceivingEnd) -> Result<(), Box<dyn Error>> {
    let mut bytes = [0; 64];
    for number in 0..QUESTIONS {
        source.send(&number.to_le_bytes())?;
        // The buffer goes back to the sender when the message is dropped.
        let length = target.receive(PATIENCE)?.copy_to(&mut bytes)?;
        if bytes[..length] != (2 * number).to_le_bytes() {
            return Err("a wrong answer".into());
        }
    }
    println!("client: {QUESTIONS} answers");
    Ok(())
}

fn answer(source: &mut SendingEnd, target: &mut ReceivingEnd) -> Result<(), Box<dyn Error>> {
    for _ in 0..QUESTIONS {
        let question = target.receive(PATIENCE)?;
        // Read in place, where the peer may still write if it is faulty: so validate after reading.
        let number = question.bytes().read_u64_le(0).ok_or("a question has eight bytes")?;
        question.validate()?;
        drop(question);
        source.send(&(2 * number).to_le_bytes())?;
    }
    Ok(())
}
