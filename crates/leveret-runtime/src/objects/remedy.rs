//! What to do about an error: the second half of the sentence whose first half is [`Code::text`].

use super::error::Code;

impl Code {
    /// What to do about it, without a closing stop.
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::NotInitialized => "call MPIRT_Init first",
            Self::ObjectCommitted => "do it before MPIRT_Commit, or after MPIRT_Uncommit",
            Self::UndefForObject => "look up in the reference which objects the call takes",
            Self::CsetMemberNotFound => "ask MPIRTX_Cset_contains before",
            Self::InvKeyval => "use a key that MPIRT_Keyval_create gave and MPIRT_Keyval_free has not taken",
            Self::AlreadyInitialized => "call MPIRT_Init once",
            Self::Finalized => "make every call before MPIRT_Finalize",
            Self::NotCommitted => "call MPIRT_Commit before",
            Self::RealTime => "make the call on a thread of the program",
            Self::NullObject => "give the handle of a live object",
            Self::StaleObject => "keep no copy of a handle beyond its free",
            Self::InvObject => "give a handle as the library gave it; it may not have been set",
            Self::WrongClass => "give an object of the class that the parameter's type names",
            Self::NullPointer => {
                "give the address of a variable, or of a text; null is good only where the reference says so"
            }
            Self::Name => "give at most 63 bytes of UTF-8 (MPIRT_NAME_MAX - 1) and a closing zero byte",
            Self::Argument => "the reference says at the function when it is MPIRT_ERR_ARGUMENT",
            Self::Index => "stay below the size",
            Self::InvRank => "stay below the size of the group, and name each rank once",
            Self::NotMember => "call it on the members that take part",
            Self::Bufsize => {
                "give the size of the iterator, which is that of all its buffers: a multiple of the dataspec's size, from 1 to the limit; as a length no \
                 more than the buffer's own size"
            }
            Self::Dataspec => "give one of the constants of MPIRT_Dataspec, the same on both sides",
            Self::Operation => "give an operation that is defined for the dataspec",
            Self::Time => {
                "the reference says at the function when it is MPIRT_ERR_TIME; times are in nanoseconds"
            }
            Self::TimePast => "name an instant that lies further ahead; MPIRT_Get_time gives the present one",
            Self::NotAllowed => "insert the buffers of the allowed set, with ORDERED in their order",
            Self::BufferInUse => "wait for the transfer, and remove the buffer from its iterator first",
            Self::Empty => "wait for a transfer, or insert a buffer first",
            Self::Full => "remove something first",
            Self::Slack => "wait for a transfer first, or set a larger slack before commit",
            Self::Active => "deactivate the channel first, or let the activation do the transfers",
            Self::NotStarted => "start or activate the channel first",
            Self::Timeout => "wait again, or give it more time",
            Self::Missed => "MPIRTX_Channel_get_status says why; the next instance is unaffected",
            Self::PeerLost => "free or uncommit what the lost member had a part in",
            Self::Committed => "go on; what is committed runs",
            Self::Uncommitted => "nothing is transferred any more: uncommit, or go on if that was done",
            Self::Mismatch => "make the declarations of the members agree",
            Self::Admission => "ask for less time, or for more distance between the instances",
            Self::Agent => "start the program with `leveret run`",
            Self::End => "reset the iterator to begin again",
            Self::Changed => "reset the iterator, and walk the container as it is now",
            Self::Limit => "free what is not needed any more, or use less at once",
            Self::NoMemory => "free what is not needed any more, or raise the limit of the process",
            Self::Internal => "please report it",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_is_half_a_sentence() {
        for code in Code::ALL {
            let remedy = code.remedy();
            assert!(!remedy.is_empty() && !remedy.ends_with('.'), "{remedy}");
        }
    }
}
