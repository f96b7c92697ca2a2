//! What an operation on objects may answer beside success. Numbers and texts are those of `spec/mpirt/errors.toml`; `cargo xtask spec`
//! compares.

use std::ffi::CStr;
use std::fmt;

macro_rules! codes {
    ($($name:ident = $number:literal, $symbol:literal, $text:literal;)+) => {
        /// Why an operation on objects failed; the C interface's `MPIRT_ERR_...`.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(i32)]
        pub enum Code {
            $(#[doc = $text] $name = $number,)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code with this number.
            pub fn of(number: i32) -> Option<Self> {
                Self::ALL.iter().copied().find(|code| *code as i32 == number)
            }

            /// What stands behind `MPIRT_ERR_`.
            pub const fn symbol(self) -> &'static str {
                match self {
                    $(Self::$name => $symbol,)+
                }
            }

            /// As [`Code::text`], for C.
            pub const fn c_text(self) -> &'static CStr {
                match self {
                    $(Self::$name => match CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                        Ok(text) => text,
                        Err(_) => c"",
                    },)+
                }
            }

            /// What it means, in one sentence without a closing stop.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)+
                }
            }
        }
    };
}

codes! {
    NotInitialized = 1, "NOT_INITIALIZED", "MPIRT_Init has not succeeded yet";
    ObjectCommitted = 2, "OBJECT_COMMITTED", "the object is committed, or objects are, and the call would change or create one";
    UndefForObject = 3, "UNDEF_FOR_OBJECT", "the operation is not defined for this object";
    CsetMemberNotFound = 4, "CSET_MEMBER_NOT_FOUND", "the set has no such member";
    InvKeyval = 5, "INV_KEYVAL", "the key was not created, or was freed";
    AlreadyInitialized = 6, "ALREADY_INITIALIZED", "MPIRT_Init has succeeded already";
    Finalized = 7, "FINALIZED", "MPIRT_Finalize has succeeded already";
    NotCommitted = 8, "NOT_COMMITTED", "the call needs a commit, and there is none";
    RealTime = 9, "REAL_TIME", "a handler or a task may not make this call";
    NullObject = 10, "NULL_OBJECT", "the handle is null";
    StaleObject = 11, "STALE_OBJECT", "the object of the handle was freed";
    InvObject = 12, "INV_OBJECT", "the handle was never given out";
    WrongClass = 13, "WRONG_CLASS", "the object is of another class";
    NullPointer = 14, "NULL_POINTER", "a pointer is null";
    Name = 15, "NAME", "the name is too long, has no end, or is no UTF-8 without control characters";
    Argument = 16, "ARGUMENT", "a value is out of its range, or two do not go together";
    Index = 17, "INDEX", "the index is out of range";
    InvRank = 18, "INV_RANK", "the rank is out of range, or named twice";
    NotMember = 19, "NOT_MEMBER", "the caller has no part in it";
    Bufsize = 20, "BUFSIZE", "the size is out of range or does not fit";
    Dataspec = 21, "DATASPEC", "the dataspec is none or does not fit";
    Operation = 22, "OPERATION", "the operation of a reduction is none or does not fit";
    Time = 23, "TIME", "a time or a duration is out of its range";
    TimePast = 24, "TIME_PAST", "the instant has passed or can no longer be met";
    NotAllowed = 25, "NOT_ALLOWED", "the buffer is not in the allowed set, or out of its order";
    BufferInUse = 26, "BUFFER_IN_USE", "the buffer is in an iterator or in a transfer";
    Empty = 27, "EMPTY", "there is nothing to take";
    Full = 28, "FULL", "there is no room";
    Slack = 29, "SLACK", "as many transfers as the slack allows are under way, or another thread uses the end";
    Active = 30, "ACTIVE", "this end is activated";
    NotStarted = 31, "NOT_STARTED", "the channel is neither started nor activated";
    Timeout = 32, "TIMEOUT", "the time has passed";
    Missed = 33, "MISSED", "the transfer was not performed";
    PeerLost = 34, "PEER_LOST", "another member has died or left";
    Committed = 35, "COMMITTED", "Commit has ended the sleep";
    Uncommitted = 36, "UNCOMMITTED", "the end of what is committed has ended the wait or the sleep";
    Mismatch = 37, "MISMATCH", "what the members declare does not go together: ends of a channel, names, groups or events differ or are missing";
    Admission = 38, "ADMISSION", "the declarations cannot be met together";
    Agent = 39, "AGENT", "the agent of the job cannot be reached or refuses";
    End = 40, "END", "there is no further member";
    Changed = 41, "CHANGED", "the container changed under its iterator";
    Limit = 42, "LIMIT", "there are as many as there can be";
    NoMemory = 43, "NO_MEMORY", "out of memory";
    Internal = 44, "INTERNAL", "the library has failed; the detail says where";
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

impl std::error::Error for Code {}
