//! One self-contained page: style, scripts and data inside, nothing from the network.

mod data;
mod gantt;
mod parts;
mod series;
mod tiles;

pub(crate) use parts::ROWS_MAX;

use crate::Report;

pub(crate) use data::embeddable;
pub(crate) use parts::escape;

const PAGE: &str = include_str!("../assets/page.html");
const STYLES: [&str; 2] = [include_str!("../assets/theme.css"), include_str!("../assets/page.css")];
const SCRIPTS: [&str; 6] = [
    include_str!("../assets/common.js"),
    include_str!("../assets/theme.js"),
    include_str!("../assets/gantt.js"),
    include_str!("../assets/histogram.js"),
    include_str!("../assets/scatter.js"),
    include_str!("../assets/page.js"),
];

/// The page.
pub fn page(report: &Report<'_>) -> String {
    let script = format!("\"use strict\";\n(() => {{\n{}\n}})();\n", SCRIPTS.join("\n"));
    let pieces = [
        ("title", parts::escape(&format!("{}: {}", report.record.job, report.conclusion()))),
        ("style", STYLES.join("\n")),
        ("job", parts::escape(&report.record.job)),
        ("headline", parts::headline(report)),
        ("tiles", tiles::tiles(report)),
        ("phases", parts::phases(report)),
        ("gantt_hidden", parts::gantt_hidden(report).to_owned()),
        ("tables", parts::tables(report)),
        ("misses", parts::misses(report)),
        ("machine", parts::machine(report)),
        ("data", data::embedded(report)),
        ("script", script),
    ];
    fill(PAGE, &pieces)
}

/// Replaces each `{{name}}` of the template once, in one pass, so that no inserted text is taken for a mark.
pub(crate) fn fill(template: &str, pieces: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        if let Some((_, piece)) = pieces.iter().find(|(known, _)| *known == name) {
            page.push_str(piece);
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

#[cfg(test)]
mod tests {
    use super::fill;

    #[test]
    fn inserted_text_is_not_a_template() {
        let pieces = [("a", "{{b}}".to_owned()), ("b", "x".to_owned())];
        assert_eq!(fill("<{{a}}|{{b}}>", &pieces), "<{{b}}|x>");
    }
}
