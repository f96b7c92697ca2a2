//! `[[link]]`.

use super::{Names, schema};
use crate::section::{Section, several};
use crate::source::{Located, Problems, printable};
use crate::values::{duration_value, integer_value, wrong_kind};
use leveret_topology::{Link, Reservation, Shaper};
use leveret_types::{BitRate, Nanos, NodeId, TRAFFIC_CLASSES};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longest delay of a link.
const DELAY_MAX: Nanos = Nanos::from_secs(1);
/// Longest period of a reservation.
const PERIOD_MAX: Nanos = Nanos::from_secs(3600);

/// Both directions of each link, or one.
pub(super) fn links(root: &DeTable<'_>, names: &Names, problems: &mut Problems<'_>) -> Vec<Located<Link>> {
    let mut links: Vec<Located<Link>> = Vec::new();
    let mut seen: BTreeMap<(NodeId, NodeId), Range<usize>> = BTreeMap::new();
    for section in several(root, &schema::LINK, problems) {
        let Some(link) = read(&section, names, problems) else { continue };
        let both = !section.boolean("one-way", problems).unwrap_or_default();
        let back = both.then(|| Link { source: link.target, target: link.source, ..link.clone() });
        for link in [Some(link), back].into_iter().flatten() {
            if let Some(first) = seen.get(&(link.source, link.target)) {
                let hint = "remove one; a second cable between the same nodes needs a switch of its own between them";
                problems.add_related(
                    section.span.clone(),
                    "two links join the same nodes",
                    hint,
                    (first, "the first is here"),
                );
                break;
            }
            seen.insert((link.source, link.target), section.span.clone());
            links.push(Located { value: link, span: section.span.clone() });
        }
    }
    links
}

fn read(section: &Section<'_, '_>, names: &Names, problems: &mut Problems<'_>) -> Option<Link> {
    section.require("ends", "[\"h0\", \"s0\"]", problems);
    section.require("rate", "\"1Gbit/s\"", problems);
    let delays = Nanos::ZERO..=DELAY_MAX;
    let rate = section.value("rate").and_then(|value| rate("rate", value, problems));
    let propagation = section.duration("propagation", &delays, problems).unwrap_or_default();
    let processing = section.duration("processing", &delays, problems).unwrap_or_default();
    let queues = section.integer("queues", &(1..=8), problems).unwrap_or(8) as u8;
    let preemption = section.boolean("preemption", problems).unwrap_or_default();
    let reserved = reserved(section, problems);
    let shaping = shaping(section, problems);
    let ends = section.texts("ends", "[\"h0\", \"s0\"]", problems)?;
    let [source, target] = ends.as_slice() else {
        let message = format!("`ends` names {} nodes; a link joins two", ends.len());
        problems.add(section.place("ends"), message, "write `ends = [\"h0\", \"s0\"]`");
        return None;
    };
    let (from, to) = (names.find(source, false, problems), names.find(target, false, problems));
    let (from, to) = (from?, to?);
    if from == to {
        problems.add(target.span.clone(), "a link joins a node with itself", "name two nodes");
        return None;
    }
    Some(Link {
        source: from,
        target: to,
        rate: rate?,
        propagation,
        processing,
        queues,
        preemption,
        reserved,
        shaping,
    })
}

fn rate(key: &str, value: &Spanned<DeValue<'_>>, problems: &mut Problems<'_>) -> Option<BitRate> {
    let example = "write a number and a unit, such as \"1Gbit/s\"";
    let text = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.as_str().to_owned(),
        other => {
            problems.add(value.span(), wrong_kind(key, "a rate", other), example);
            return None;
        }
    };
    match text.parse() {
        Ok(rate) => Some(rate),
        Err(_) if text.chars().count() > 40 => {
            problems.add(value.span(), format!("\"{}\" is not a rate", printable(&text)), example);
            None
        }
        Err(error) => {
            let text = error.to_string();
            let (message, hint) = text.split_once("; ").unwrap_or((&text, example));
            problems.add(value.span(), message, hint);
            None
        }
    }
}

/// `reserved = [{ period = "1ms", start = "100us", length = "50us" }]`.
fn reserved(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Vec<Reservation> {
    let Some(value) = section.value("reserved") else { return Vec::new() };
    let form = "write `reserved = [{ period = \"1ms\", start = \"0us\", length = \"50us\" }]`";
    let DeValue::Array(entries) = value.get_ref() else {
        problems.add(value.span(), wrong_kind("reserved", "a list of tables", value.get_ref()), form);
        return Vec::new();
    };
    entries.iter().filter_map(|entry| reservation(entry, form, problems)).collect()
}

fn reservation(entry: &Spanned<DeValue<'_>>, form: &str, problems: &mut Problems<'_>) -> Option<Reservation> {
    let DeValue::Table(table) = entry.get_ref() else {
        problems.add(entry.span(), wrong_kind("reserved", "a list of tables", entry.get_ref()), form);
        return None;
    };
    if let Some(unknown) =
        table.keys().find(|key| !["period", "start", "length"].contains(&key.get_ref().as_ref()))
    {
        problems.add(
            unknown.span(),
            format!("unknown key `{}` in a reservation", printable(unknown.get_ref())),
            form,
        );
        return None;
    }
    let mut time = |key: &str, limits: std::ops::RangeInclusive<Nanos>| match table.get(key) {
        Some(value) => duration_value(key, value, &limits, problems),
        None => {
            problems.add(entry.span(), format!("a reservation has no `{key}`"), form);
            None
        }
    };
    let period = time("period", Nanos(1)..=PERIOD_MAX)?;
    let start = time("start", Nanos::ZERO..=period - Nanos(1))?;
    let length = time("length", Nanos(1)..=period)?;
    Some(Reservation { period, start, length })
}

/// `shaping = [{ class = 5, idle-slope = "20Mbit/s" }]`.
fn shaping(section: &Section<'_, '_>, problems: &mut Problems<'_>) -> Vec<Shaper> {
    let Some(value) = section.value("shaping") else { return Vec::new() };
    let form = "write `shaping = [{ class = 5, idle-slope = \"20Mbit/s\" }]`";
    let DeValue::Array(entries) = value.get_ref() else {
        problems.add(value.span(), wrong_kind("shaping", "a list of tables", value.get_ref()), form);
        return Vec::new();
    };
    entries.iter().filter_map(|entry| shaper(entry, form, problems)).collect()
}

fn shaper(entry: &Spanned<DeValue<'_>>, form: &str, problems: &mut Problems<'_>) -> Option<Shaper> {
    let DeValue::Table(table) = entry.get_ref() else {
        problems.add(entry.span(), wrong_kind("shaping", "a list of tables", entry.get_ref()), form);
        return None;
    };
    if let Some(unknown) = table.keys().find(|key| !["class", "idle-slope"].contains(&key.get_ref().as_ref()))
    {
        let message = format!("unknown key `{}` in shaping", printable(unknown.get_ref()));
        problems.add(unknown.span(), message, form);
        return None;
    }
    let mut required = |key: &str| {
        let value = table.get(key);
        if value.is_none() {
            problems.add(entry.span(), format!("shaping has no `{key}`"), form);
        }
        value
    };
    let (class, slope) = (required("class"), required("idle-slope"));
    let class = integer_value("class", class?, &(0..=u64::from(TRAFFIC_CLASSES) - 1), problems);
    Some(Shaper { idle_slope: rate("idle-slope", slope?, problems)?, class: class? as u8 })
}
