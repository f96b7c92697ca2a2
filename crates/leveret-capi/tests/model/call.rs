//! What is asked of an interface and what it answers, in words that may travel.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// A call; objects are the numbers of their handles.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Call {
    Buffer {
        size: u64,
        dataspec: i32,
    },
    Vector(Vec<u64>),
    Iterator {
        policy: i32,
        size: u64,
        dataspec: i32,
        allowed: u64,
    },
    /// From member 0 to member 1.
    Channel {
        name: String,
        iterators: [u64; 2],
        slack: i32,
    },
    Free(u64),
    /// Opens a mode: what is made then is of it.
    Mode,
    Commit,
    Uncommit,
    Insert {
        iterator: u64,
        buffer: u64,
    },
    Remove(u64),
    Count(u64),
    SetLabel(u64, i64),
    Label(u64),
    /// Writes a number to the begin of a buffer's memory.
    Write(u64, u64),
    /// Reads it.
    Read(u64),
    Start(u64),
    Activate(u64),
    Deactivate(u64),
    Test(u64),
    Wait(u64, i64),
    /// State, outcome, instance, transfers under way.
    Status(u64),
    /// There is nothing more to ask.
    End,
}

/// What the call gives: its code, and of one that succeeds its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    pub code: i32,
    pub values: [u64; 4],
}

impl Answer {
    pub fn value(value: u64) -> Self {
        Self { code: 0, values: [value, 0, 0, 0] }
    }

    pub fn code(code: i32) -> Self {
        Self { code, values: [0; 4] }
    }
}

/// A way to the objects of one member.
pub trait Interface {
    fn call(&mut self, call: &Call) -> Answer;

    /// A call that must succeed, whatever is tested.
    fn must(&mut self, call: Call) -> u64 {
        let answer = self.call(&call);
        assert_eq!(answer.code, 0, "{call:?}");
        answer.values[0]
    }
}

/// The interface of another member, which does what this one says.
pub struct Remote {
    stream: UnixStream,
}

impl Remote {
    pub fn new(stream: UnixStream) -> Self {
        Self { stream }
    }

    /// Says what to do, and does not wait for it.
    pub fn ask(&mut self, call: &Call) {
        send(&mut self.stream, call);
    }

    /// What came of what was said last.
    pub fn hear(&mut self) -> Answer {
        receive(&mut self.stream)
    }
}

impl Interface for Remote {
    fn call(&mut self, call: &Call) -> Answer {
        self.ask(call);
        self.hear()
    }
}

/// Does what the other member says, until it has nothing more to say.
pub fn serve(mut stream: UnixStream, own: &mut dyn Interface) {
    loop {
        let call: Call = receive(&mut stream);
        if call == Call::End {
            return send(&mut stream, &Answer::default());
        }
        send(&mut stream, &own.call(&call));
    }
}

fn send(stream: &mut UnixStream, what: &impl Serialize) {
    let bytes = postcard::to_stdvec(what).expect("it has a form");
    let length = u32::try_from(bytes.len()).expect("calls are short");
    stream
        .write_all(&length.to_le_bytes())
        .and_then(|()| stream.write_all(&bytes))
        .expect("the other listens");
}

fn receive<T: DeserializeOwned>(stream: &mut UnixStream) -> T {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("the other speaks");
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut bytes).expect("the other speaks");
    postcard::from_bytes(&bytes).expect("it is what was sent")
}
