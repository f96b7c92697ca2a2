//! Orphans are found by their environment. In a process of its own, since it adopts whatever its children leave behind.

use leveret_os::process::Adoption;
use leveret_os::scheduling::thread_id;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::mpsc;

fn is_asleep(thread: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{thread}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
}

/// What a wrapper leaves behind may not have changed into its program yet: until it has, the kernel shows no environment.
#[test]
fn one_that_is_about_to_become_its_program_is_found() {
    let Some(adoption) = Adoption::begin() else { return println!("SKIPPED: this kernel gives no orphans") };
    let becomes = "echo without; exec > /dev/null; read told; export A_SECRET=7; exec sleep 60";
    // What runs beside a shell has no standard input unless it is given.
    let wrapper = ["-c", "exec 3<&0; env -i /bin/sh -c \"$0\" <&3 & exit 0", becomes];
    let mut wrapper =
        Command::new("/bin/sh").args(wrapper).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (tell, mut said) = (wrapper.stdin.take().unwrap(), String::new());
    BufReader::new(wrapper.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!((said.as_str(), wrapper.wait().unwrap().success()), ("without\n", true));
    let adoption = &adoption;
    std::thread::scope(|scope| {
        let (own, searcher) = mpsc::channel();
        let search = scope.spawn(move || {
            own.send(thread_id()).unwrap();
            adoption.find("A_SECRET", "7")
        });
        // It sleeps when it has looked and not found.
        let searcher = searcher.recv().unwrap();
        while !is_asleep(searcher) && !search.is_finished() {
            std::thread::yield_now();
        }
        drop(tell);
        let found = search.join().unwrap().expect("the one that was left behind");
        assert_eq!(adoption.find("A_SECRET", "8"), None);
        assert!(Command::new("kill").args(["-9", &found.to_string()]).status().unwrap().success());
    });
}
