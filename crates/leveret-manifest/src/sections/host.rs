//! `[host]`.

use crate::model::{CostChoice, Guard};
use crate::section::Section;
use crate::source::Problems;
use crate::values::{integer_value, wrong_kind};
use leveret_plan::Costs;
use leveret_types::{IdleCores, Nanos};
use std::collections::BTreeMap;
use toml::de::DeValue;

/// Highest processor number that the kernel's affinity sets hold.
pub(crate) const CORE_MAX: u64 = 1023;
/// Longest time that one act of the machine may be said to take.
const COST_MAX: Nanos = Nanos::from_secs(1);

pub(crate) struct HostSection {
    pub(crate) cores: Option<Vec<u32>>,
    pub(crate) costs: CostChoice,
    pub(crate) idle: IdleCores,
}

pub(crate) fn read(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> HostSection {
    section.require("cores", "[0, 1]", problems);
    let limits = Nanos::ZERO..=COST_MAX;
    let mut base = Costs::default();
    for (key, cost) in [
        ("switch", &mut base.switch),
        ("preemption", &mut base.preemption),
        ("publish", &mut base.publish),
        ("copy-per-kib", &mut base.copy_per_kib),
    ] {
        if let Some(stated) = section.duration(key, &limits, problems) {
            *cost = stated;
        }
    }
    if let Some(share) = section.integer("utilisation-permille", &(1..=1000), problems) {
        base.utilisation_permille = u32::try_from(share).unwrap_or(base.utilisation_permille);
    }
    HostSection {
        cores: cores(section, problems),
        costs: CostChoice { guard: guard(section, problems), base },
        idle: section.choice("idle", &IdleCores::NAMES, problems).unwrap_or_default(),
    }
}

/// `"measured"` or a duration.
fn guard(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Guard {
    let measured = section.value("guard").and_then(|value| value.get_ref().as_str()) == Some("measured");
    if measured {
        return Guard::Measured;
    }
    let word = section.value("guard").and_then(|value| value.get_ref().as_str());
    if let Some(word) =
        word.filter(|word| leveret_protocol::nearest::nearest(word, ["measured"].into_iter()).is_some())
    {
        let message = format!(
            "`guard` must be \"measured\" or a duration, but {} was found",
            crate::source::quoted(word)
        );
        problems.add(section.place("guard"), message, "did you mean \"measured\"?");
        return Guard::Measured;
    }
    section.duration("guard", &(Nanos::ZERO..=COST_MAX), problems).map_or(Guard::Measured, Guard::Fixed)
}

/// The list of processors; `None` when it is missing or unreadable.
fn cores(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Option<Vec<u32>> {
    let value = section.value("cores")?;
    let DeValue::Array(entries) = value.get_ref() else {
        let hint = "write `cores = [0, 1]`, with the kernel's processor numbers";
        problems.add(value.span(), wrong_kind("cores", "a list of processor numbers", value.get_ref()), hint);
        return None;
    };
    let mut cores = Vec::new();
    let mut seen = BTreeMap::new();
    for entry in entries {
        let core = integer_value("cores", entry, &(0..=CORE_MAX), problems)?;
        let core = u32::try_from(core).ok()?;
        if let Some(first) = seen.get(&core) {
            let message = format!("core {core} is listed twice");
            problems.add_related(entry.span(), message, "remove one", (first, "the first is here"));
            continue;
        }
        cores.push(core);
        seen.insert(core, entry.span());
    }
    if cores.is_empty() {
        problems.add(value.span(), "the job has no cores", "list at least one processor: `cores = [0]`");
        return None;
    }
    Some(cores)
}
