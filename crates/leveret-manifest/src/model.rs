//! What a manifest says.

use leveret_plan::Costs;
use leveret_protocol::control::Scheduling;
use leveret_protocol::coordinator::DeathPolicy;
use leveret_protocol::declaration::{JobDeclaration, MemberDeclaration};
use leveret_types::{ByteSize, IdleCores, NAME_BYTES_MAX, Nanos};
use std::ops::RangeInclusive;

/// A manifest without errors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest {
    /// What it declares of the model; the code of the members may declare more.
    pub declaration: JobDeclaration,
    /// How each member is started, in rank order.
    pub launch: Vec<Launch>,
    /// What happens when a member dies.
    pub policy: DeathPolicy,
    /// Hyperperiods to run per commit. With `duration` also open: until interrupted.
    pub rounds: Option<u64>,
    /// Time to run per commit; never given together with `rounds`.
    pub duration: Option<Nanos>,
    /// How the tasks are scheduled.
    pub scheduling: Scheduling,
    /// What the machine's own acts cost.
    pub costs: CostChoice,
    /// What the job's cores do while nothing of it runs.
    pub idle: IdleCores,
    /// What is kept of a run takes so many bytes at most.
    pub record_limit: Option<ByteSize>,
}

/// What a record can be limited to: with less there is no room for its report, and no disk has more.
pub const RECORD_LIMITS: RangeInclusive<u64> = 8 << 20..=1 << 50;

impl Manifest {
    /// A job without a manifest: so many members of one program, named by their ranks, which declare everything in
    /// code and run until they uncommit.
    pub fn of_program(program: &str, members: u32, cores: Vec<u32>) -> Self {
        let names = || (0..members).map(|rank| rank.to_string());
        // Names may not hold everything that file names may.
        let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name: String =
            program.rsplit('/').next().unwrap_or_default().chars().filter(|c| allowed(*c)).collect();
        let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
        let declaration = JobDeclaration {
            name: if name.is_empty() { "job" } else { name }.chars().take(NAME_BYTES_MAX).collect(),
            cores,
            members: names().map(|name| MemberDeclaration { name, core: None }).collect(),
            ..JobDeclaration::default()
        };
        let launch = |member| Launch { member, command: vec![program.to_owned()], environment: Vec::new() };
        Self {
            declaration,
            launch: names().map(launch).collect(),
            policy: DeathPolicy::default(),
            rounds: None,
            duration: None,
            scheduling: Scheduling::default(),
            costs: CostChoice::default(),
            idle: IdleCores::default(),
            record_limit: None,
        }
    }
}

/// How one member is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Launch {
    /// The member's name.
    pub member: String,
    /// Program and arguments; never empty, and the program is never the empty text.
    pub command: Vec<String>,
    /// Environment variables beside the inherited ones, in the order of their names.
    pub environment: Vec<(String, String)>,
}

/// How long before a start a task wakes and spins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Guard {
    /// As measured on the machine before the run.
    #[default]
    Measured,
    /// As stated in the manifest.
    Fixed(Nanos),
}

/// What the machine's own acts cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CostChoice {
    /// The guard, measured or fixed.
    pub guard: Guard,
    /// The other costs; the guard in it is the default one.
    pub base: Costs,
}

impl CostChoice {
    /// The costs to plan with. `measured` is the guard that was measured on this machine; without one (planning
    /// offline) a measured guard falls back to the default of [`Costs`].
    pub fn costs(&self, measured: Option<Nanos>) -> Costs {
        let guard = match self.guard {
            Guard::Fixed(guard) => guard,
            Guard::Measured => measured.unwrap_or(Costs::default().guard),
        };
        Costs { guard, ..self.base }
    }
}
