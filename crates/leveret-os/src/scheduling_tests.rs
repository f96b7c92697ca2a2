use super::*;
use crate::process::{Exit, Spawn, Stream, spawn};
use crate::user::in_unprivileged_thread;

/// Runs `work` on a thread of its own, so that no other test sees its class or affinity.
fn alone<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::spawn(work).join().unwrap()
}

const DEADLINE: Class = Class::Deadline {
    runtime: Nanos::from_millis(2),
    deadline: Nanos::from_millis(10),
    period: Nanos::from_millis(20),
    reclaim: true,
    overrun_signal: true,
};

#[test]
fn a_thread_has_the_class_that_was_applied() {
    alone(|| {
        for class in [Class::Fifo { priority: 7 }, DEADLINE, Class::Other] {
            match apply(class) {
                Ok(()) => assert_eq!(current(), Ok(class)),
                Err(refusal) => eprintln!("SKIPPED: {refusal}"),
            }
        }
    });
}

#[test]
fn a_deadline_thread_can_start_threads_and_hands_on_nothing() {
    alone(|| match apply(DEADLINE) {
        Ok(()) => assert_eq!(alone(current), Ok(Class::Other)),
        Err(refusal) => eprintln!("SKIPPED: {refusal}"),
    });
}

#[test]
fn a_pinned_thread_cannot_be_a_deadline_thread_and_is_told_why() {
    alone(|| {
        let cores = allowed_cores();
        if cores.len() < 2 || !crate::user::has_capability(CapabilitySet::SYS_NICE) {
            eprintln!("SKIPPED: needs two cores and CAP_SYS_NICE");
            return;
        }
        pin(cores[0]).unwrap();
        let message = apply(DEADLINE).unwrap_err().to_string();
        assert!(message.contains("do not pin it"), "{message}");
    });
}

#[test]
fn without_the_right_the_refusal_names_the_remedy() {
    let limit = rustix::process::getrlimit(Resource::Rtprio).current;
    if limit != Some(0) {
        eprintln!("SKIPPED: this user may have real-time priorities up to {limit:?}");
        return;
    }
    let refusals =
        in_unprivileged_thread(|| (apply(Class::Fifo { priority: 1 }), apply(DEADLINE), apply(Class::Other)));
    let (fifo, deadline, other) = refusals.unwrap();
    let message = fifo.unwrap_err().to_string();
    assert!(message.starts_with("SCHED_FIFO: ") && message.contains("ulimit -r"), "{message}");
    let message = deadline.unwrap_err().to_string();
    assert!(message.contains("CAP_SYS_NICE"), "{message}");
    other.unwrap();
}

#[test]
fn impossible_parameters_are_refused() {
    let fifo = apply(Class::Fifo { priority: 100 }).unwrap_err().to_string();
    assert!(fifo.contains("1 to 99") || fifo.contains("rtprio"), "{fifo}");
    let backwards = Class::Deadline {
        runtime: Nanos(-5),
        deadline: Nanos::from_millis(1),
        period: Nanos::from_millis(1),
        reclaim: false,
        overrun_signal: false,
    };
    assert!(apply(backwards).is_err());
}

#[test]
fn a_pinned_thread_may_run_on_that_core_only() {
    alone(|| {
        let cores = allowed_cores();
        let last = *cores.last().unwrap();
        pin(last).unwrap();
        assert_eq!(allowed_cores(), [last]);
        let message = pin(1_000_000).unwrap_err().to_string();
        assert!(message.contains("core 1000000") && message.contains("cpuset"), "{message}");
    });
}

/// In a process of its own: a fork anywhere in the process makes the stack fault once more.
#[test]
fn a_prefaulted_stack_faults_no_more() {
    let (read_end, write_end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let child = spawn(Spawn {
        args: ["--ignored", "--exact", "scheduling::tests::prefault_alone"].map(Into::into).to_vec(),
        stdin: Stream::Null,
        stdout: Stream::File(write_end),
        ..Spawn::new("/proc/self/exe")
    });
    let text = std::io::read_to_string(std::fs::File::from(read_end)).unwrap();
    assert_eq!(child.unwrap().pidfd.wait(), Ok(Exit::Status(0)), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "the test above runs it in a process of its own"]
fn prefault_alone() {
    const BYTES: usize = 1 << 20;
    fn faults() -> i64 {
        // SAFETY: all-zero is a valid rusage, and the call fills it for the calling thread.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is writable and lives through the call.
        assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) }, 0);
        usage.ru_minflt
    }
    std::thread::Builder::new()
        .stack_size(4 * BYTES)
        .spawn(|| {
            let start = faults();
            prefault_stack(BYTES);
            let touched = faults();
            prefault_stack(BYTES - 4 * PAGE_BYTES);
            let again = faults();
            assert!(touched > start, "the first pass faulted nothing: {start} {touched}");
            assert!(again - touched <= 1, "the second pass faulted {} pages", again - touched);
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn ids_are_those_of_the_kernel() {
    assert_eq!(process_id(), std::process::id());
    assert_ne!(alone(thread_id), thread_id());
}

#[test]
fn what_was_changed_of_another_thread_is_seen() {
    let (told, tid) = std::sync::mpsc::channel();
    let (go, end) = std::sync::mpsc::channel::<()>();
    let other = std::thread::spawn(move || {
        let cores = allowed_cores();
        pin(cores[0]).unwrap();
        told.send((thread_id(), cores[0])).unwrap();
        end.recv().unwrap();
        // An ordinary user may always be nicer.
        rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19).unwrap();
        told.send((thread_id(), cores[0])).unwrap();
        end.recv().unwrap();
    });
    let (thread, core) = tid.recv().unwrap();
    let before = of_thread(thread).unwrap();
    assert_eq!(before, of_thread(thread).unwrap());
    let on_core = format!(" on core {core}");
    assert!(
        before.to_string().starts_with("SCHED_OTHER") && before.to_string().ends_with(&on_core),
        "{before}"
    );
    go.send(()).unwrap();
    tid.recv().unwrap();
    let after = of_thread(thread).unwrap();
    assert_ne!(before, after);
    assert_eq!(after.to_string(), format!("SCHED_OTHER nice 19{on_core}"));
    go.send(()).unwrap();
    other.join().unwrap();
    for nobody in [0, u32::MAX, i32::MAX as u32] {
        assert!(of_thread(nobody).is_err(), "{nobody}");
    }
}

/// Members tell it for each of their tasks.
#[test]
fn a_class_that_is_not_allowed_is_one_error_whatever_its_numbers() {
    let refused = |class, errno| {
        SchedulingError::Class { class, failure: Failure::new("sched_setattr", errno) }.to_string()
    };
    let fifo = [7, 8].map(|priority| refused(Class::Fifo { priority }, Errno::PERM));
    assert!(fifo[0] == fifo[1] && fifo[0].starts_with("SCHED_FIFO: sched_setattr"), "{fifo:?}");
    assert!(refused(DEADLINE, Errno::PERM).starts_with("SCHED_DEADLINE: sched_setattr"));
    assert!(refused(DEADLINE, Errno::BUSY).starts_with("SCHED_DEADLINE 2ms/10ms/20ms: sched_setattr"));
}
