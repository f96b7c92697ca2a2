//! The page that draws a picture: one file, with style, script and data inside.

use super::{Bar, Picture};
use crate::html::{embeddable, escape, fill};
use leveret_types::Nanos;
use serde_json::json;
use std::fmt::Write;

const PAGE: &str = include_str!("../../assets/plan/page.html");
const STYLES: [&str; 2] =
    [include_str!("../../assets/theme.css"), include_str!("../../assets/plan/page.css")];
const SCRIPTS: [&str; 7] = [
    include_str!("../../assets/common.js"),
    include_str!("../../assets/theme.js"),
    include_str!("../../assets/plan/model.js"),
    include_str!("../../assets/plan/view.js"),
    include_str!("../../assets/plan/draw.js"),
    include_str!("../../assets/plan/tell.js"),
    include_str!("../../assets/plan/page.js"),
];

/// Most bars in one page: some 10 MB, which a browser opens at once and draws as the pointer moves.
pub const BARS_MAX: usize = 400_000;

/// More than a page can draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "{bars} slots lie between {from} and {until}, and a page draws {BARS_MAX} at most; draw a part of them: `--from {from} --until {fits}`, \
     or `--channel NAME`"
)]
pub struct TooLarge {
    /// How many there are.
    pub bars: usize,
    /// Start of what was to be drawn.
    pub from: Nanos,
    /// Its end.
    pub until: Nanos,
    /// An end that would probably do.
    pub fits: Nanos,
}

/// The page.
///
/// # Errors
/// When there is more than it can draw.
pub fn page(picture: &Picture) -> Result<String, TooLarge> {
    let (from, until) = picture.span;
    if picture.bars.len() > BARS_MAX {
        let share = i128::from((until - from).0) * BARS_MAX as i128 * 9 / 10 / picture.bars.len() as i128;
        let fits = from + Nanos(i64::try_from(share).unwrap_or(i64::MAX).max(1));
        return Err(TooLarge { bars: picture.bars.len(), from, until, fits });
    }
    let script = format!("\"use strict\";\n(() => {{\n{}\n}})();\n", SCRIPTS.join("\n"));
    Ok(fill(
        PAGE,
        &[
            ("title", escape(&picture.title)),
            ("style", STYLES.join("\n")),
            ("data", embeddable(&data(picture))),
            ("script", script),
        ],
    ))
}

/// The picture as the script reads it. Bars lie in columns, row by row and by start within the round; each start counts from the one
/// before it in its row.
fn data(picture: &Picture) -> String {
    let round = picture.round.0.max(1);
    let start = |bar: &Bar| bar.start.0.rem_euclid(round);
    let mut order: Vec<u32> = (0..picture.bars.len() as u32).collect();
    order.sort_by_key(|index| {
        let bar = &picture.bars[*index as usize];
        (bar.row, start(bar), *index)
    });
    let mut place = vec![0u32; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    let bars = || order.iter().map(|index| &picture.bars[*index as usize]);
    let mut counts = vec![0i64; picture.rows.len()];
    let mut before = (u32::MAX, 0);
    let mut starts = Vec::with_capacity(order.len());
    for bar in bars() {
        counts[bar.row as usize] += 1;
        let last = if before.0 == bar.row { before.1 } else { 0 };
        starts.push(start(bar) - last);
        before = (bar.row, start(bar));
    }
    // 0 is nobody.
    let after = |bar: &Bar| bar.after.map_or(0, |after| i64::from(place[after as usize]) + 1);
    let mut text = head(picture, &place);
    let columns: [(&str, Vec<i64>); 7] = [
        ("counts", counts),
        ("start", starts),
        ("length", bars().map(|bar| bar.length.0).collect()),
        ("instance", bars().map(|bar| i64::from(bar.instance)).collect()),
        ("part", bars().map(|bar| i64::from(bar.part)).collect()),
        ("after", bars().map(after).collect()),
        ("lead", bars().map(|bar| bar.lead.0).collect()),
    ];
    text.push_str(",\"bars\":{");
    for (name, column) in columns {
        push(&mut text, name, column.into_iter());
    }
    let turned = bars().enumerate().filter(|(_, bar)| bar.start.0.div_euclid(round) != 0);
    push(&mut text, "turned", turned.flat_map(|(index, bar)| [index as i64, bar.start.0.div_euclid(round)]));
    close(&mut text);
    let instances = &picture.instances;
    text.push_str(",\"instances\":{");
    push(&mut text, "group", instances.iter().map(|one| i64::from(one.group)));
    push(&mut text, "number", instances.iter().map(|one| i64::from(one.number)));
    push(&mut text, "copy", instances.iter().map(|one| i64::from(one.copy)));
    push(&mut text, "earliest", instances.iter().map(|one| one.earliest.0));
    push(&mut text, "window", instances.iter().map(|one| (one.latest - one.earliest).0));
    push(&mut text, "slack", instances.iter().map(|one| (one.latest - one.end).0));
    close(&mut text);
    let arrows = picture.arrows.iter().flat_map(|arrow| {
        let (from, to) = (place[arrow.from as usize], place[arrow.to as usize]);
        [i64::from(arrow.group), i64::from(from), i64::from(to), arrow.rounds, arrow.at.0]
    });
    text.push(',');
    push(&mut text, "arrows", arrows);
    close(&mut text);
    text
}

/// Everything of which there is little, without the closing brace; `place` is where each bar stands in the columns.
fn head(picture: &Picture, place: &[u32]) -> String {
    let rows: Vec<_> = picture
        .rows
        .iter()
        .map(|row| {
            let reserved: Vec<_> =
                row.reserved.iter().map(|one| [one.period, one.start, one.length]).collect();
            json!([
                row.name,
                row.section,
                reserved.iter().map(|one| one.map(|time| time.0)).collect::<Vec<_>>()
            ])
        })
        .collect();
    let groups: Vec<_> = picture
        .groups
        .iter()
        .map(|group| json!([group.name, group.kind, group.part, group.facts, group.members]))
        .collect();
    let traces = picture.traces.iter().map(|trace| {
        let bars: Vec<u32> = trace.bars.iter().map(|bar| place[*bar as usize]).collect();
        json!([trace.group, trace.name, trace.value, [trace.span.0.0, trace.span.1.0], bars, trace.steps])
    });
    let traces: Vec<_> = traces.collect();
    let mut text = json!({
        "title": picture.title,
        "round": picture.round.0,
        "span": [picture.span.0.0, picture.span.1.0],
        "rows": rows,
        "groups": groups,
        "traces": traces,
    })
    .to_string();
    text.pop();
    text
}

/// A named list of numbers and a comma.
fn push(text: &mut String, name: &str, numbers: impl Iterator<Item = i64>) {
    // Writing to a text does not fail.
    let _ = write!(text, "\"{name}\":[");
    for (index, number) in numbers.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{number}");
    }
    text.push_str("],");
}

/// Ends what [`push`] has left open.
fn close(text: &mut String) {
    text.pop();
    text.push('}');
}
