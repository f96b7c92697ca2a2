//! The generated parts of the page that shows the list to users.
//!
//! The page holds a pair of marks for each part; what lies between them is replaced:
//!
//! ```text
//! <!-- appendix-a -->
//! ...
//! <!-- end of appendix-a -->
//! ```

use super::Spec;
use super::functions::Function;
use super::list::Origin;
use super::show::counts;

/// The page with its generated parts as the list has them.
pub fn refresh(page: &str, spec: &Spec) -> Result<String, String> {
    let parts = [
        ("groups", groups(spec)),
        ("appendix-a", appendix(spec)),
        ("functions", functions(spec)),
        ("errors", errors(spec)),
        ("decisions", decisions(spec)),
    ];
    let mut text = page.to_owned();
    for (name, table) in parts {
        text = replace(&text, name, &table).ok_or_else(|| format!("has no marks for {name}"))?;
    }
    Ok(text)
}

fn replace(text: &str, name: &str, table: &str) -> Option<String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = text.split_once(&start)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{start}\n{}\n\n{end}{after}", table.trim_end()))
}

/// A table of Markdown.
fn table(heads: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let rule: Vec<&str> = heads.iter().map(|_| "---").collect();
    let mut text = format!("| {} |\n|{}|\n", heads.join(" | "), rule.join("|"));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        text += &format!("| {} |\n", cells.join(" | "));
    }
    text
}

fn status(open: bool) -> String {
    if open { "open" } else { "there" }.to_owned()
}

fn groups(spec: &Spec) -> String {
    let requirements = &spec.list.requirements;
    let rows = counts(requirements.iter().map(|one| (one.group.as_str(), one.open)));
    let kind = |name| requirements.iter().filter(|one| one.origin.parts().0 == name).count();
    let rows = rows
        .into_iter()
        .map(|(name, all, open)| vec![name.into(), all.to_string(), (all - open).to_string()]);
    let text = table(&["group", "requirements", "shown by tests"], rows);
    format!(
        "{text}\n{} requirements: {} quoted facts, {} inferences, {} decisions of ours.",
        requirements.len(),
        kind("fact"),
        kind("inferred"),
        kind("decided")
    )
}

fn appendix(spec: &Spec) -> String {
    let row = |(place, function): (&String, &Function)| {
        let spelling = function.entry.alias.as_deref().unwrap_or(function.name());
        vec![place.clone(), format!("`{spelling}`"), format!("`{}`", function.entry.c), status(function.open)]
    };
    let functions = spec.functions.functions.iter();
    let mut rows: Vec<(&String, &Function)> =
        functions.filter_map(|function| Some((function.entry.appendix.as_ref()?, function))).collect();
    rows.sort_by_key(|(place, _)| *place);
    table(&["Appendix A", "its spelling", "ours", "status"], rows.into_iter().map(row))
}

fn functions(spec: &Spec) -> String {
    let rows = spec.functions.functions.iter().filter(|function| function.entry.appendix.is_none());
    let rows = rows.map(|function| {
        let (kind, source) = function.origin.parts();
        let origin = match function.origin {
            Origin::Fact(_) => source.to_owned(),
            Origin::Inferred(_) => format!("{kind} from {source}"),
            Origin::Decided(_) => "ours".to_owned(),
        };
        vec![format!("`{}`", function.entry.c), function.entry.says.clone(), origin, status(function.open)]
    });
    table(&["function", "what it does", "from", "status"], rows)
}

fn errors(spec: &Spec) -> String {
    let mut errors: Vec<_> = spec.functions.errors.iter().collect();
    errors.sort_by_key(|(_, error)| error.number);
    let rows = errors.into_iter().map(|(name, error)| {
        let prefix = if error.number == 0 { "MPIRT_" } else { "MPIRT_ERR_" };
        let old = error.old_name.as_ref().map(|old| format!("; formerly `{old}`")).unwrap_or_default();
        vec![error.number.to_string(), format!("`{prefix}{name}`"), format!("{}{old}", error.says)]
    });
    table(&["number", "name", "meaning"], rows)
}

fn decisions(spec: &Spec) -> String {
    let mut text = String::new();
    let mut group = "";
    for one in &spec.list.requirements {
        let Origin::Decided(source) = &one.origin else { continue };
        if one.group != group {
            group = &one.group;
            text += &format!("\n### {group}\n\n");
        }
        let source = if source == "this list" { String::new() } else { format!(" ({source})") };
        text += &format!("- `{}` {}{source}\n", one.id, one.says);
    }
    text.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_the_marks_changes() {
        let text = "a\n<!-- x -->\nold\n<!-- end of x -->\nb\n";
        assert_eq!(
            replace(text, "x", "new\n").expect("it has the marks"),
            "a\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nb\n"
        );
        assert_eq!(replace(text, "y", "new"), None);
    }

    #[test]
    fn a_cell_keeps_to_its_column() {
        assert_eq!(
            table(&["a", "b"], [vec!["x|y".into(), "z".into()]]),
            "| a | b |\n|---|---|\n| x\\|y | z |\n"
        );
    }
}
