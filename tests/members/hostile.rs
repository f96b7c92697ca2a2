//! A member for the tests that does not keep the control protocol; its argument says how.

use leveret_memory::{LAYOUT_VERSION, OwnSegment, Region};
use leveret_os::control::Connection;
use leveret_os::host::environment;
use leveret_os::memory_file::MemoryFile;
use leveret_protocol::control::{CONTROL_VERSION, FromMember, ToMember, decode_to_member, encode};
use leveret_protocol::declaration::{MemberDeclarations, TaskDeclaration};
use leveret_protocol::mode::ModeRequest;
use leveret_runtime::{Admitted, MEMBER_VARIABLE, SOCKET_VARIABLE, TOKEN_VARIABLE};
use leveret_types::{MemberId, Nanos};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

type Failed = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let how = std::env::args().nth(1).unwrap_or_default();
    match act(&how) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hostile {how}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn act(how: &str) -> Result<(), Failed> {
    let socket = environment(SOCKET_VARIABLE).ok_or("no socket")?;
    match how {
        "garbage" => {
            let mut stream = UnixStream::connect(socket)?;
            stream.write_all(&[0xa5; 4096])?;
            wait_for_ever(&mut stream)
        }
        "endless-name" => {
            // It would be told that there is no such member, but it never reads.
            let connection = Connection::connect(Path::new(&socket))?;
            let (version, token) = (CONTROL_VERSION, String::new());
            // That the agent breaks off is what is expected.
            let hello =
                FromMember::Hello { version, layout: LAYOUT_VERSION, token, member: "x".repeat(15_000_000) };
            let _ = send(&connection, &hello, &[]);
            loop {
                leveret_os::clock::sleep_until(Nanos::MAX);
            }
        }
        "silent" => wait_for_ever(&mut UnixStream::connect(socket)?),
        "not-json" => {
            let connection = join(&socket)?;
            connection.send(b"\xff{not a message", &[])?;
            last(&connection)
        }
        "lingering" | "lingering-segment" => lingering(how, &join(&socket)?),
        "huge" => {
            // A frame that announces more than any frame may have, after a proper Hello.
            let connection = join(&socket)?;
            let mut stream = UnixStream::from(connection.as_fd().try_clone_to_owned()?);
            stream.write_all(b"LVRC\xff\xff\xff\xff\0\0\0\0")?;
            wait_for_ever(&mut stream)
        }
        "wrong-secret" => {
            let connection = Connection::connect(Path::new(&socket))?;
            send(&connection, &hello("0123456789abcdef0123456789abcdef"), &[])?;
            last(&connection)
        }
        "old-library" => {
            let connection = Connection::connect(Path::new(&socket))?;
            let (version, layout, token) = (CONTROL_VERSION, LAYOUT_VERSION - 1, String::new());
            send(&connection, &FromMember::Hello { version, layout, token, member: "H".to_owned() }, &[])?;
            last(&connection)
        }
        // So said Hello those of control version 7.
        "older-library" => {
            let connection = Connection::connect(Path::new(&socket))?;
            connection.send(br#"{"Hello":{"version":7,"token":"","member":"H"}}"#, &[])?;
            last(&connection)
        }
        "others-task" => {
            let connection = join(&socket)?;
            declare(&connection, "A.user")?;
            last(&connection)
        }
        "finished-first" => {
            let connection = join(&socket)?;
            send(&connection, &FromMember::Finished { generation: Default::default(), stop: None }, &[])?;
            last(&connection)
        }
        "vanish-after-declare" => {
            let connection = join(&socket)?;
            declare(&connection, "H.user")
        }
        _ => with_a_segment(how, &socket),
    }
}

/// Follows the protocol up to the segment.
fn with_a_segment(how: &str, socket: &str) -> Result<(), Failed> {
    let connection = join(socket)?;
    declare(&connection, "H.user")?;
    let ToMember::Planned { generation, assembled, plan, .. } = receive(&connection)? else {
        return Err("refused".into());
    };
    let admitted = Admitted { assembled: &assembled, plan: &plan, generation };
    let size = admitted.layout(own_rank(&assembled.job)?)?.size() as u64;
    let message = FromMember::Segment { generation, size };
    match how {
        "unsealed" => {
            let path = std::env::temp_dir().join(format!("leveret-hostile-{}", std::process::id()));
            let file = File::options().read(true).write(true).create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            file.set_len(size)?;
            send(&connection, &message, &[file.into()])?;
        }
        // Goes on only if somebody says so.
        "stopped-inside" => {
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?
        }
        "foreign-thread" | "first-thread" | "two-threads" => {
            let (file, _mapping) = proper_segment(&admitted, size)?;
            send(&connection, &message, &[file])?;
            let ToMember::Peers { .. } = receive(&connection)? else { return Err("no peers".into()) };
            let own = std::process::id();
            let own_task =
                assembled.job.tasks.iter().position(|task| task.name == "H.user").ok_or("no task")? as u16;
            let threads = match how {
                "foreign-thread" => vec![(own_task, std::os::unix::process::parent_id())],
                "first-thread" => vec![(own_task, 1)],
                _ => vec![(own_task, own), (own_task, own)],
            };
            let ready = FromMember::Ready {
                generation,
                threads,
                scheduling: "none".to_owned(),
                warnings: Vec::new(),
            };
            send(&connection, &ready, &[])?;
        }
        "mode-thread" => return mode_thread(&connection, &admitted, &message),
        "loud" => return loud(&connection, &admitted, &message),
        "no-segment" => send(&connection, &message, &[])?,
        "small-segment" => {
            let (file, _mapping) = MemoryFile::create("hostile", size / 2)?;
            send(&connection, &message, &[file])?;
        }
        "wrong-size" => {
            let (file, _mapping) = MemoryFile::create("hostile", size * 2)?;
            send(&connection, &FromMember::Segment { generation, size: size * 2 }, &[file])?;
        }
        "empty-segment" => {
            let (file, _mapping) = MemoryFile::create("hostile", size)?;
            send(&connection, &message, &[file])?;
        }
        other => return Err(format!("there is no way \"{other}\"").into()),
    }
    last(&connection)
}

/// Sends with a message a socket whose last close takes an hour: it has data that its other end, here, does not take.
fn lingering(how: &str, connection: &Connection) -> Result<(), Failed> {
    let message = if how == "lingering" {
        FromMember::RunOverran { what: "a message that carries none".to_owned() }
    } else {
        declare(connection, "H.user")?;
        let ToMember::Planned { generation, .. } = receive(connection)? else { return Err("refused".into()) };
        FromMember::Segment { generation, size: 4096 }
    };
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut stream = TcpStream::connect(listener.local_addr()?)?;
    let (_unread, _) = listener.accept()?;
    stream.set_nonblocking(true)?;
    while stream.write(&[0; 1 << 16]).is_ok() {}
    let hour = std::time::Duration::from_secs(3600);
    rustix::net::sockopt::set_socket_linger(&stream, Some(hour))?;
    stream.set_nonblocking(false)?;
    // The agent has the last of it, once this has sent it.
    send(connection, &message, &[stream.into()])?;
    last(connection)
}

/// Comes as far as the run, and then says more than can be: many texts that command a terminal, and numbers beyond all time.
fn loud(connection: &Connection, admitted: &Admitted<'_>, message: &FromMember) -> Result<(), Failed> {
    let warnings = (0..20_000).map(|number| format!("\u{1b}[2J\u{9b}2J{number}")).collect();
    set_up(connection, admitted, message, (std::process::id(), warnings))?;
    let ToMember::Go { .. } = receive(connection)? else { return Err("no start".into()) };
    for number in 0..2000 {
        let what = format!("handler \u{1b}[2J{number}");
        send(connection, &FromMember::RunsFailed { what: what.clone(), times: u64::MAX }, &[])?;
        send(connection, &FromMember::RunOverran { what }, &[])?;
    }
    Ok(())
}

/// From the plan to being ready, with this thread for its task.
fn set_up(
    connection: &Connection,
    admitted: &Admitted<'_>,
    message: &FromMember,
    (thread, warnings): (u32, Vec<String>),
) -> Result<(), Failed> {
    let FromMember::Segment { generation, size } = message else { return Err("no segment".into()) };
    let (file, _mapping) = proper_segment(admitted, *size)?;
    send(connection, message, &[file])?;
    let ToMember::Peers { .. } = receive(connection)? else { return Err("no peers".into()) };
    let tasks = &admitted.assembled.job.tasks;
    let own_task = tasks.iter().position(|task| task.name == "H.user").ok_or("no task")? as u16;
    let (threads, scheduling) = (vec![(own_task, thread)], "none".to_owned());
    send(connection, &FromMember::Ready { generation: *generation, threads, scheduling, warnings }, &[])
}

/// Keeps the protocol until a mode is committed beside what runs, for whose task it names another's thread.
fn mode_thread(connection: &Connection, admitted: &Admitted<'_>, message: &FromMember) -> Result<(), Failed> {
    set_up(connection, admitted, message, (std::process::id(), Vec::new()))?;
    let ToMember::Go { generation, .. } = receive(connection)? else { return Err("no start".into()) };
    let (name, declarations) = ("mode".to_owned(), Box::new(declarations_of("H.user")));
    let declare = ModeRequest::Declare { beside: generation, attempt: 0, name, declarations };
    send(connection, &FromMember::Mode(declare), &[])?;
    let ToMember::Planned { generation, assembled, plan, .. } = receive(connection)? else {
        return Err("refused".into());
    };
    let admitted = Admitted { assembled: &assembled, plan: &plan, generation };
    let size = admitted.layout(own_rank(&assembled.job)?)?.size() as u64;
    let segment = FromMember::Segment { generation, size };
    set_up(connection, &admitted, &segment, (std::os::unix::process::parent_id(), Vec::new()))?;
    last(connection)
}

/// A segment as an honest member makes it.
fn proper_segment(admitted: &Admitted<'_>, size: u64) -> Result<(OwnedFd, Arc<dyn Region>), Failed> {
    let layout = admitted.layout(own_rank(&admitted.assembled.job)?)?;
    let (file, mapping) = MemoryFile::create("hostile", size)?;
    let region: Arc<dyn Region> = Arc::new(mapping);
    OwnSegment::create(region.clone(), &layout)?;
    Ok((file, region))
}

fn own_rank(job: &leveret_plan::Job) -> Result<MemberId, Failed> {
    let name = environment(MEMBER_VARIABLE).ok_or("no name")?;
    let rank = job.members.iter().position(|member| member.name == name).ok_or("not of this job")?;
    Ok(MemberId(rank as u16))
}

fn hello(token: &str) -> FromMember {
    let member = environment(MEMBER_VARIABLE).unwrap_or_default();
    FromMember::Hello { version: CONTROL_VERSION, layout: LAYOUT_VERSION, token: token.to_owned(), member }
}

/// Joins as a member should.
fn join(socket: &str) -> Result<Connection, Failed> {
    let connection = Connection::connect(Path::new(socket))?;
    send(&connection, &hello(&environment(TOKEN_VARIABLE).ok_or("no secret")?), &[])?;
    match receive(&connection)? {
        ToMember::Welcome { .. } => Ok(connection),
        other => Err(format!("not welcome: {other:?}").into()),
    }
}

fn declare(connection: &Connection, task: &str) -> Result<(), Failed> {
    let declarations = declarations_of(task);
    send(connection, &FromMember::Declare { attempt: 0, declarations }, &[])
}

fn declarations_of(task: &str) -> MemberDeclarations {
    let task = TaskDeclaration {
        name: task.to_owned(),
        period: Some(Nanos::from_millis(20)),
        budget: Some(Nanos::from_millis(1)),
        ..TaskDeclaration::default()
    };
    MemberDeclarations { tasks: vec![task], ..MemberDeclarations::default() }
}

fn send(connection: &Connection, message: &FromMember, files: &[OwnedFd]) -> Result<(), Failed> {
    let files: Vec<_> = files.iter().map(AsFd::as_fd).collect();
    Ok(connection.send(&encode(message), &files)?)
}

fn receive(connection: &Connection) -> Result<ToMember, Failed> {
    Ok(decode_to_member(&connection.receive()?.bytes)?)
}

/// Reads until the agent breaks off; being expelled means that this never returns.
fn last(connection: &Connection) -> Result<(), Failed> {
    loop {
        println!("hostile heard {:?}", receive(connection)?);
    }
}

fn wait_for_ever(stream: &mut UnixStream) -> Result<(), Failed> {
    // However the connection ends, the process stays.
    let _ = stream.read_to_end(&mut Vec::new());
    loop {
        leveret_os::clock::sleep_until(Nanos::MAX);
    }
}
