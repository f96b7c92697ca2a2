//! What every picture of a plan keeps, whole and in part.

use leveret_report::picture::{Picture, Selection, page, select};
use leveret_types::Nanos;

/// Draws a picture, its middle, and each of some groups with what it is linked with.
pub fn drawn(picture: &Picture) {
    sound(picture);
    if let Ok(page) = page(picture) {
        assert!(page.trim_end().ends_with("</html>"), "the page is whole");
    }
    let middle = Selection {
        from: Some(Nanos(picture.round.0 / 3)),
        until: Some(Nanos(picture.round.0 / 3 * 2)),
        groups: Vec::new(),
    };
    let names = picture.groups.iter().take(GROUPS_MAX).map(|group| group.name.clone());
    let of_groups = names.map(|name| Selection { groups: vec![name], ..Selection::default() });
    for selection in of_groups.chain([middle]) {
        let part = select(picture.clone(), &selection).expect("the picture has such a group");
        sound(&part);
        assert!(part.bars.len() <= picture.bars.len(), "a part is more than the whole");
    }
    let nobody = Selection { groups: vec!["\u{0}".to_owned()], ..Selection::default() };
    assert!(select(picture.clone(), &nobody).is_err(), "a group that no manifest can name");
}

/// Groups that are drawn by themselves.
const GROUPS_MAX: usize = 4;

/// Whatever a picture names is there, and no row has two things at once.
fn sound(picture: &Picture) {
    let bars = picture.bars.len() as u32;
    assert!(picture.instances.iter().all(|one| (one.group as usize) < picture.groups.len()));
    for bar in &picture.bars {
        assert!((bar.row as usize) < picture.rows.len() && (bar.instance as usize) < picture.instances.len());
        assert!(bar.after.is_none_or(|before| before < bars));
    }
    assert!(picture.arrows.iter().all(|arrow| arrow.from < bars && arrow.to < bars));
    for trace in &picture.traces {
        assert!(trace.span.0 <= trace.span.1 && trace.bars.iter().all(|bar| *bar < bars));
    }
    let round = picture.round.0;
    let mut taken: Vec<(u32, i64, i64)> = Vec::with_capacity(picture.bars.len());
    for bar in &picture.bars {
        let start = bar.start.0.rem_euclid(round);
        taken.push((bar.row, start, start + bar.length.0));
    }
    taken.sort_unstable();
    let together = |two: &[(u32, i64, i64)]| two[0].0 == two[1].0 && two[0].2 > two[1].1;
    assert!(!taken.windows(2).any(together), "two bars of a row at once");
}
