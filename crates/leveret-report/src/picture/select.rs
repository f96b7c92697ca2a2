//! A part of a picture: a stretch of its round, and some of its groups.

use super::{Arrow, Bar, Picture, Trace};
use leveret_types::Nanos;

/// What is to be drawn of a picture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// From here on; from the start of the round, where left out.
    pub from: Option<Nanos>,
    /// Until here; to the end of the round, where left out.
    pub until: Option<Nanos>,
    /// Groups of these names, and what they are linked with by arrows; all, where none is named.
    pub groups: Vec<String>,
}

/// A name that no group has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no channel, task or chain \"{name}\"{}", nearest.as_ref().map(|one| format!("; did you mean \"{one}\"")).unwrap_or_default())]
pub struct UnknownGroup {
    /// What was asked for.
    pub name: String,
    /// The name most like it.
    pub nearest: Option<String>,
}

/// Leaves out of a picture what is not to be drawn. Rows on which nothing is left go too, where groups are named.
///
/// # Errors
/// A name that no group has.
pub fn select(mut picture: Picture, selection: &Selection) -> Result<Picture, UnknownGroup> {
    let from = selection.from.unwrap_or(Nanos::ZERO).clamp(Nanos::ZERO, picture.round);
    let until = selection.until.unwrap_or(picture.round).clamp(from, picture.round);
    let lit = lit(&picture, &selection.groups)?;
    picture.span = (from, until);
    let round = picture.round.0.max(1);
    let within = |bar: &Bar| {
        let start = bar.start.0.rem_euclid(round);
        let end = start.saturating_add(bar.length.0);
        (start < until.0 && end > from.0) || end - round > from.0
    };
    let keep: Vec<bool> = picture
        .bars
        .iter()
        .map(|bar| lit[picture.instances[bar.instance as usize].group as usize] && within(bar))
        .collect();
    if keep.iter().all(|keep| *keep) {
        return Ok(picture);
    }
    let place = places(&keep);
    let moved = |bar: u32| keep[bar as usize].then(|| place[bar as usize]);
    let kept = picture.bars.iter().zip(&keep).filter(|(_, keep)| **keep);
    let bars = kept.map(|(bar, _)| Bar { after: bar.after.and_then(moved), ..*bar }).collect();
    let arrows = picture
        .arrows
        .iter()
        .filter_map(|arrow| Some(Arrow { from: moved(arrow.from)?, to: moved(arrow.to)?, ..*arrow }));
    let arrows = arrows.collect();
    let traces = picture.traces.iter().map(|trace| {
        let bars = trace.bars.iter().filter_map(|bar| moved(*bar));
        Trace { bars: bars.collect(), ..trace.clone() }
    });
    let traces = traces.collect();
    (picture.bars, picture.arrows, picture.traces) = (bars, arrows, traces);
    if !selection.groups.is_empty() {
        drop_empty_rows(&mut picture);
    }
    drop_empty_instances(&mut picture);
    Ok(picture)
}

/// Which groups stay: those that are named, what they consist of, and what their arrows join.
fn lit(picture: &Picture, names: &[String]) -> Result<Vec<bool>, UnknownGroup> {
    if names.is_empty() {
        return Ok(vec![true; picture.groups.len()]);
    }
    let mut lit = vec![false; picture.groups.len()];
    for name in names {
        let mut found = false;
        for (index, group) in picture.groups.iter().enumerate().filter(|(_, group)| group.name == *name) {
            found = true;
            lit[index] = true;
            for member in &group.members {
                lit[*member as usize] = true;
            }
        }
        if !found {
            let all = picture.groups.iter().map(|group| group.name.as_str());
            let nearest = all.min_by_key(|known| strsim::damerau_levenshtein(known, name));
            return Err(UnknownGroup { name: name.clone(), nearest: nearest.map(str::to_owned) });
        }
    }
    let group_of = |bar: u32| picture.instances[picture.bars[bar as usize].instance as usize].group as usize;
    let asked = lit.clone();
    for arrow in picture.arrows.iter().filter(|arrow| asked[arrow.group as usize]) {
        lit[group_of(arrow.from)] = true;
        lit[group_of(arrow.to)] = true;
    }
    Ok(lit)
}

fn drop_empty_rows(picture: &mut Picture) {
    let mut used = vec![false; picture.rows.len()];
    for bar in &picture.bars {
        used[bar.row as usize] = true;
    }
    let place = places(&used);
    let mut index = 0;
    picture.rows.retain(|_| {
        index += 1;
        used[index - 1]
    });
    for bar in &mut picture.bars {
        bar.row = place[bar.row as usize];
    }
}

fn drop_empty_instances(picture: &mut Picture) {
    let mut used = vec![false; picture.instances.len()];
    for bar in &picture.bars {
        used[bar.instance as usize] = true;
    }
    let place = places(&used);
    let mut index = 0;
    picture.instances.retain(|_| {
        index += 1;
        used[index - 1]
    });
    for bar in &mut picture.bars {
        bar.instance = place[bar.instance as usize];
    }
}

/// Where each of what stays comes to stand.
fn places(stays: &[bool]) -> Vec<u32> {
    let before = stays.iter().scan(0, |count, stays| {
        let place = *count;
        *count += u32::from(*stays);
        Some(place)
    });
    before.collect()
}
