//! Orphans are found by their environment. In a process of its own, since it adopts whatever its children leave behind.

use leveret_os::process::Adoption;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// What a wrapper leaves behind may not have changed into its program yet: until it has, the kernel shows no environment.
#[test]
fn one_that_is_about_to_become_its_program_is_found() {
    let Some(adoption) = Adoption::begin() else { return println!("SKIPPED: this kernel gives no orphans") };
    let becomes = "echo without; exec > /dev/null; sleep 0.01; export A_SECRET=7; exec sleep 60";
    let wrapper = ["-c", "env -i /bin/sh -c \"$0\" & exit 0", becomes];
    let mut wrapper = Command::new("/bin/sh").args(wrapper).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(wrapper.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!((said.as_str(), wrapper.wait().unwrap().success()), ("without\n", true));
    let found = adoption.find("A_SECRET", "7").expect("the one that was left behind");
    assert_eq!(adoption.find("A_SECRET", "8"), None);
    assert!(Command::new("kill").args(["-9", &found.to_string()]).status().unwrap().success());
}
