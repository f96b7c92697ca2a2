//! A member for the tests that leaves a commit in the middle, by `how=`:
//!
//! - `error`, `panic`: an error or a panic takes the session along, out of `main`;
//! - `success`: the session is dropped, and `main` returns without an error;
//! - `again`: the session is dropped, and another commit is tried;
//! - `stay`: the session is dropped, and the process lives on;
//! - `task`: the task panics while `main` waits for something else;
//! - `hangup`: its connection with the agent is shut down, and the process lives on;
//! - `exit`, `abort`: the process ends with the session alive;
//! - `killed-after`, `exit-after`, `stay-after`: it runs to the end, and then SIGKILL ends the process, or it ends with exit status 7, or lives on
//!   without its connection.
//!
//! `task=A.user` is its task; it leaves once that has run three times. A member that was started again, and one without `how=`,
//! runs to the end.

use leveret::{Ended, Member};
use rustix::net::{Shutdown, shutdown};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::error::Error;
use std::sync::mpsc;

fn argument(key: &str) -> Option<String> {
    let named = |argument: String| argument.strip_prefix(key)?.strip_prefix('=').map(str::to_owned);
    std::env::args().skip(1).find_map(named)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut member = Member::join()?;
    let how = argument("how").filter(|_| !member.is_restarted());
    while run(&mut member, how.as_deref())? == Ended::PeerRestarted {}
    Ok(())
}

fn run(member: &mut Member, how: Option<&str>) -> Result<Ended, Box<dyn Error>> {
    let (ran, runs) = mpsc::channel::<u64>();
    let mut declarations = member.declare("leaver");
    let fails = how == Some("task");
    declarations.task(&argument("task").ok_or("task=... is missing")?).body(move |instance| {
        let number = instance.instance().0;
        assert!(!fails || number < 3, "planted in a task");
        let _ = ran.send(number);
    });
    let session = member.commit(declarations)?;
    let after = |how: &str| how.ends_with("-after");
    let Some(how) = how.filter(|how| !after(how)) else {
        let ended = session.run()?;
        return if how.is_some_and(after) { end_after(how) } else { Ok(ended) };
    };
    // Until the sender is gone, should the task panic first.
    let _ = runs.iter().find(|number| *number >= 2);
    match how {
        "error" => Err("planted out of main".into()),
        "panic" => panic!("planted in main"),
        "success" => Ok(Ended::Completed),
        "again" => {
            drop(session);
            let again = member.declare("leaver");
            match member.commit(again).map(|_| ()) {
                Ok(()) => println!("another commit"),
                Err(error) => println!("no other commit: {error}"),
            }
            Ok(Ended::Completed)
        }
        "stay" => {
            drop(session);
            wait_for_ever()
        }
        "task" => wait_for_ever(),
        "hangup" => {
            hang_up()?;
            wait_for_ever()
        }
        #[allow(clippy::disallowed_methods, reason = "to end in the middle of a commit is what is planted")]
        "exit" => std::process::exit(3),
        "abort" => std::process::abort(),
        other => Err(format!("how={other} is unknown").into()),
    }
}

#[allow(clippy::disallowed_methods, reason = "to end in disorder after a run is what is planted")]
fn end_after(how: Option<&str>) -> ! {
    println!("the run is over");
    if how == Some("stay-after") {
        hang_up().expect("its own sockets");
        wait_for_ever();
    }
    if how == Some("killed-after") {
        let _ = std::process::Command::new("sh").args(["-c", "kill -KILL $PPID"]).status();
        wait_for_ever();
    }
    std::process::exit(7)
}

/// Shuts all sockets of this process down, whoever uses them.
fn hang_up() -> Result<(), Box<dyn Error>> {
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let number = entry.file_name().to_string_lossy().parse::<i32>()?;
        if std::fs::read_link(entry.path()).is_ok_and(|link| link.to_string_lossy().starts_with("socket:")) {
            let socket = pidfd_getfd(&own, number, PidfdGetfdFlags::empty())?;
            shutdown(&socket, Shutdown::Both)?;
        }
    }
    Ok(())
}

fn wait_for_ever() -> ! {
    loop {
        std::thread::park();
    }
}
