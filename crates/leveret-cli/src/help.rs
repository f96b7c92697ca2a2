//! What stands below the options in the help texts: examples, what happens, exit codes.

/// Of the program itself.
pub const PROGRAM: &str = "\
A first look:
  leveret doctor                          what this machine lacks
  leveret check examples/ring/job.toml    is the job admitted?
  leveret run examples/ring/demo.toml     run it
  leveret report out                      see what happened

Exit codes: 0 success; 1 the answer is no (refused, not valid, missed); 2 bad input; 3 only the machine \
missed; 4 other processes did.

With --format json standard output holds one JSON value: the result, or {\"error\", \"details\", \"hint\"} of a command that \
gave none. Progress, notes and errors go to standard error as ever.

Colour is used on terminals only, and never when NO_COLOR is set and not empty.";

/// Of `leveret run`.
pub const RUN: &str = "\
Examples:
  leveret run job.toml
  leveret run job.toml --rounds 100 --output out/short
  leveret run job.toml -- --size 4096    everything after -- goes to every member
  leveret run -n 3 ./ring                no manifest: three members, which declare everything in code

The directory gets report.html (open it in a browser), report.json, trace.json (for ui.perfetto.dev) \
and record.leveret (for `leveret report` and `leveret why`). A former run's are moved to previous/ in it \
when a run starts, so a run that fails before anything ran leaves none.

Ctrl-C, SIGTERM and a closed terminal end the run cleanly, with its report: with its round, or within a \
second where rounds are long. Ctrl-C once more ends the members at once,
and the report is of what was recorded until then; a third ends leveret itself, without a report.

The progress line counts the rounds of what all members committed together. Groups that commit by themselves \
(MPIRTX_Commit_group) have none while they run; the report has them.

Exit codes: 0 no miss; 3 only misses of the machine, all listed; 4 misses of other processes, perhaps of the machine \
too, none of the job; 1 a miss of the job, or one that nothing proves to be another's, or anything lost, \
corrupt or out of order, or the job refused or not run; 2 bad input, or a report that could not be written (what was \
measured is printed, and the files that could be are written). Of a job that a member aborted \
(MPIRTX_Abort) the code is the member's, 2 to 4 too: the report tells them apart. Of a run that a signal \
ended it says the same of what ran until then; ended before the first commit, it is 1.";

/// Of `leveret check`.
pub const CHECK: &str = "\
Examples:
  leveret check job.toml
  leveret check job.toml --format json
  leveret check job.toml --learn out     budgets that the run in out/ suggests

A refusal names the smallest set of declarations that cannot be met together, and the smallest single \
change that would fit. Nothing is started: it looks at the declarations alone, neither at this machine \
(`leveret doctor` does) nor at the programs, whose declarations meet in a run. Ctrl-C ends the search, with nothing printed.

Exit codes: 0 admitted; 1 refused, or no plan found; 2 bad input.";

/// Of `leveret explain`.
pub const EXPLAIN: &str = "\
Examples:
  leveret explain job.toml
  leveret explain network.toml --certificate no.json
  leveret verify no.json network.toml    does it really follow?

Prints the smallest conflicting set found, single changes that would fit, each of them planned, and the \
argument in words. Ctrl-C ends the search, with nothing printed or written.

Exit codes: 0 admitted; 1 refused, or no plan found; 2 bad input.";

/// Of `leveret plan`.
pub const PLAN: &str = "\
Examples:
  leveret plan job.toml
  leveret plan job.toml --format json | jq .hyperperiod
  leveret plan job.toml --output plan.json && leveret verify plan.json job.toml

The same job gives the same plan, byte for byte. Instants in JSON are nanoseconds from the epoch. Of a network whose \
plan is hard to find, the same --threads and --seed do: without --threads it is found on all cores, and another \
machine may find another plan. Jobs on one host need neither. Ctrl-C ends the search, with nothing printed or \
written.

Exit codes: 0 planned; 1 refused, or no plan found; 2 bad input.";

/// Of `leveret verify`.
pub const VERIFY: &str = "\
Examples:
  leveret plan job.toml --output plan.json
  leveret verify plan.json job.toml

The checker shares no code with the planner. Where the manifest leaves the guard to be measured, the \
guard in the plan is taken. Keys of a plan file that this version does not know are ignored.

Exit codes: 0 the plan keeps every declaration; 1 it does not, with reasons; 2 bad input.";

/// Of `leveret gantt`.
pub const GANTT: &str = "\
Examples:
  leveret gantt job.toml --output plan.html
  leveret gantt job.toml --plan plan.json --from 2ms --until 4ms
  leveret gantt job.toml --channel image --channel setpoint

One page, which needs nothing else: a row for each core and each link, a bar for each slot. Wheel, two \
fingers and + and - zoom; dragging and the arrow keys move; a click on a slot lights all slots of its channel \
or task and draws its way; a click on a chain shows by which instances it takes longest. A stored plan is checked first. #NAME at the end of the \
page's address lights NAME, #dark and #light choose its colours.

Exit codes: 0 written; 1 refused, no plan found, or the plan is not valid; 2 bad input, or more slots than a page can draw.";

/// Of `leveret diff`.
pub const DIFF: &str = "\
Examples:
  leveret diff old.json old.toml --to new.json new.toml
  leveret plan new.toml --keep old.json old.toml --output new.json    so that as little as possible differs

Channels, tasks, chains, hosts and switches are the same where their names are.

Exit codes: 0 no difference; 1 they differ; 2 bad input.";

/// Of `leveret import`.
pub const IMPORT: &str = "\
Examples:
  leveret import tsnkit 1_topo.csv 1_task.csv --output job.toml && leveret plan job.toml

What is wrong in the files is named with its file and line.

Exit codes: 0 made; 2 bad input.";

/// Of `leveret export`.
pub const EXPORT: &str = "\
Examples:
  leveret plan job.toml --output plan.json && leveret export tsnkit plan.json job.toml --output run/1
  leveret export taprio plan.json job.toml --output gates    gates/NODE.sh, to be run on each node
  leveret export yang plan.json job.toml --output gates.json
  leveret export launch plan.json job.toml --output launch.csv
  leveret export tables plan.json job.toml --format json     what runs when on each host

The plan is checked first: what does not keep every rule is not written. How gates follow from slots is in \
docs/planning.md; taprio and yang print how many entries each port's list has.

Exit codes: 0 written; 1 the plan is not valid; 2 bad input.";

/// Of `leveret apply`.
pub const APPLY: &str = "\
Examples:
  leveret apply plan.json job.toml --node s0 --port camera=eth0 --port s1=eth1 --dry-run
  leveret apply plan.json job.toml --node s0 --port camera=eth0 --base-time 1700000000000000000

Sets the gates (taprio) of this host's interfaces, and the shapers (cbs) below them, by messages to the kernel that are as \
long as the lists: tc cuts a list behind its entry 30, and the kernel takes some 3,200. The plan is checked first. It takes \
root, and CONFIG_NET_SCH_TAPRIO in the kernel.

Exit codes: 0 set, or shown; 1 the plan is not valid; 2 bad input, or the kernel refused.";

/// Of `leveret report`.
pub const REPORT: &str = "\
Examples:
  leveret report out
  leveret report out --format json | jq .misses

Reads record.leveret in the directory, and writes report.html, report.json and trace.json there.

Exit codes: 0 made, whatever the run's result was; 2 bad input.";

/// Of `leveret why`.
pub const WHY: &str = "\
Examples:
  leveret why out AB 1042        the message 1042 of channel AB
  leveret why out B.user 1042    the instance 1042 of task B.user

Instances count from 0 at the epoch of their commit; of a run with several commits, each one's instance \
is explained. What a mode keeps counts on. Channels that are not time-driven record one message in 64; for one that \
was not recorded, the nearest that was is named.

Exit codes: 0 explained; 2 bad input, such as a name or an instance that the run did not have.";

/// Of `leveret doctor`.
pub const DOCTOR: &str = "\
Examples:
  leveret doctor
  leveret doctor --format json

Changes nothing: every line that would fix something is printed for you to run.

Exit codes: 0 nothing is missing; 1 something is.";

/// Of `leveret completions`.
pub const COMPLETIONS: &str = "\
Examples:
  leveret completions bash > ~/.local/share/bash-completion/completions/leveret
  leveret completions zsh > ~/.zfunc/_leveret
  leveret completions fish > ~/.config/fish/completions/leveret.fish";

/// Of `leveret manual`.
pub const MANUAL: &str = "\
Examples:
  leveret manual ~/.local/share/man/man1    what `make install` does, for a program that cargo has installed
  man leveret-run

Exit codes: 0 written; 2 bad input, such as a folder that cannot be written.";
