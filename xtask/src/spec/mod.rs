//! `cargo xtask spec`: the requirements of `spec/`, and the tests that show them.
//!
//! `spec/README.md` says what the files look like and how a test names what it shows. The step `spec` of CI runs the same checks.

mod calls;
mod coverage;
mod cpp;
mod expected;
mod functions;
mod header;
mod list;
mod manual;
mod marks;
mod page;
mod show;
mod signature;

use crate::tidy::Finding;
use crate::workspace::{self, TrackedFile};
use std::io::Write;
use std::path::Path;

/// The folder of the layer that has a list.
const FOLDER: &str = "spec/mpirt/";
/// The C header that is made of the list.
const HEADER: &str = "crates/leveret-capi/include/mpirt.h";
/// The page that shows the list to users.
const PAGE: &str = "docs/mpirt.md";

/// The whole list with what was found wrong with it.
pub struct Spec {
    list: list::List,
    functions: functions::Functions,
    marks: Vec<marks::Mark>,
    findings: Vec<Finding>,
    /// The functions that the library exports.
    exported: std::collections::BTreeSet<String>,
}

impl Spec {
    fn read(root: &Path) -> Result<Self, String> {
        Ok(Self::of(&workspace::tracked_files(root)?))
    }

    fn of(files: &[TrackedFile]) -> Self {
        let mut findings = Vec::new();
        let list = list::List::read(files, FOLDER, &mut findings);
        let functions = functions::Functions::read(files, FOLDER, &list, &mut findings);
        let marks = marks::find(files, &mut findings);
        findings.extend(coverage::check(&list, &functions, &marks));
        findings.extend(header::check_codes(files, &functions));
        findings.extend(expected::check(files, &functions));
        let exported = header::exported(files);
        for name in
            exported.iter().filter(|name| !functions.functions.iter().any(|known| known.name() == *name))
        {
            let message = format!("the library exports {name}, which the list does not have");
            findings.push(Finding::new("spec", FOLDER, 0, message));
        }
        Self { list, functions, marks, findings, exported }
    }

    fn summary(&self) -> String {
        let open = self.list.requirements.iter().filter(|requirement| requirement.open).count();
        let functions_open = self.functions.functions.iter().filter(|function| function.open).count();
        format!(
            "{} requirements, {open} of them open; {} functions, {functions_open} of them open",
            self.list.requirements.len(),
            self.functions.functions.len()
        )
    }
}

/// Checks the list, the tests that name it, and the page. Gives what was looked at, in words, or all findings.
pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let spec = Spec::read(root).map_err(|error| vec![error])?;
    let mut findings: Vec<String> = spec.findings.iter().map(ToString::to_string).collect();
    let page = std::fs::read_to_string(root.join(PAGE)).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    match page::refresh(&page, &spec) {
        Ok(fresh) if fresh == page => {}
        Ok(_) => {
            findings.push(format!("{PAGE}: is not up to date: run `cargo xtask spec --page {PAGE}`"));
        }
        Err(error) => findings.push(format!("{PAGE}: {error}")),
    }
    if std::fs::read_to_string(root.join(HEADER)).ok().as_deref()
        != Some(&*header::text(&spec, &spec.exported))
    {
        findings.push(format!("{HEADER}: is not up to date: run `cargo xtask spec --header`"));
    }
    if std::fs::read_to_string(root.join(calls::FILE)).ok().as_deref() != Some(&*calls::text(&spec)) {
        findings.push(format!("{}: is not up to date: run `cargo xtask spec --header`", calls::FILE));
    }
    match cpp_text(root, &spec) {
        Ok(text) if std::fs::read_to_string(root.join(cpp::HEADER)).ok().as_deref() == Some(&*text) => {}
        Ok(_) => {
            findings.push(format!("{}: is not up to date: run `cargo xtask spec --header`", cpp::HEADER))
        }
        Err(error) => findings.push(error),
    }
    if findings.is_empty() { Ok(spec.summary()) } else { Err(findings) }
}

/// The manual pages: file name and text.
pub fn manual(root: &Path) -> Result<Vec<(String, String)>, String> {
    let files = workspace::tracked_files(root)?;
    let spec = Spec::of(&files);
    let mut examples = std::collections::BTreeMap::new();
    for file in &files {
        let name = file.path.strip_prefix(manual::EXAMPLES).and_then(|name| name.strip_suffix(".c"));
        let Some(name) = name else { continue };
        if !spec.exported.contains(name) {
            return Err(format!("{}: the library has no function of this name", file.path));
        }
        examples.insert(name.to_owned(), file.text().unwrap_or_default().to_owned());
    }
    Ok(manual::pages(&spec, &examples))
}

/// `mpirt.hpp` as it ought to be.
fn cpp_text(root: &Path, spec: &Spec) -> Result<String, String> {
    let template = std::fs::read_to_string(root.join(cpp::TEMPLATE))
        .map_err(|error| format!("{}: {error}", cpp::TEMPLATE))?;
    cpp::text(spec, &template)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    open: bool,
    json: bool,
    header: bool,
    page: Option<String>,
}

/// Prints the list. The exit code is 1 if something is wrong with it.
pub fn main(root: &Path, arguments: &[String]) -> Result<u8, String> {
    let request = parse(arguments)?;
    let spec = Spec::read(root)?;
    if request.header {
        let path = root.join(HEADER);
        let text = header::text(&spec, &spec.exported);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = root.join(cpp::HEADER);
        let text = cpp_text(root, &spec)?;
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = root.join(calls::FILE);
        let text = calls::text(&spec);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    } else if let Some(path) = &request.page {
        // The page is shown as the list stands, wrong or not; the findings follow.
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let fresh = page::refresh(&text, &spec).map_err(|error| format!("{path}: {error}"))?;
        std::fs::write(path, fresh).map_err(|error| format!("{path}: {error}"))?;
    } else {
        let text = if request.json {
            show::json(&spec, request.open) + "\n"
        } else {
            show::table(&spec, request.open)
        };
        match std::io::stdout().write_all(text.as_bytes()) {
            // Whoever reads may have seen enough.
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.to_string()),
            _ => {}
        }
    }
    for finding in &spec.findings {
        eprintln!("{finding}");
    }
    Ok(u8::from(!spec.findings.is_empty()))
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--open" => request.open = true,
            "--format" => match rest.next().map(String::as_str) {
                Some("json") => request.json = true,
                Some("table") => request.json = false,
                _ => return Err("--format takes json or table".into()),
            },
            "--header" => request.header = true,
            "--page" => request.page = Some(rest.next().ok_or("--page takes a file")?.clone()),
            other => {
                return Err(format!(
                    "'{other}' is unknown; spec takes --open, --format json|table, --header and --page FILE"
                ));
            }
        }
    }
    Ok(request)
}

#[cfg(test)]
mod tests;
