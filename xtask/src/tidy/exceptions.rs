//! The exception list: each line names one finding that is accepted, and why. It is a ratchet: a line that excepts
//! nothing is an error, and so is a ceiling above the size that was measured.
//!
//! A line reads `RULE PATH[#SUBJECT] [CEILING] -- REASON`. Empty lines and lines that begin with `#` are skipped.

use super::Finding;

/// Where the list lies.
pub const PATH: &str = "xtask/tidy-exceptions.txt";

struct Exception {
    line: usize,
    rule: String,
    path: String,
    subject: Option<String>,
    ceiling: Option<usize>,
}

/// How many exceptions the list holds.
pub fn count(list: &str) -> usize {
    entries(list).count()
}

/// Removes the findings that the list accepts, and adds those about the list itself.
pub fn apply(list: &str, findings: Vec<Finding>) -> Vec<Finding> {
    let mut left = Vec::new();
    let mut exceptions = Vec::new();
    for (line, text) in entries(list) {
        match parse(line, text) {
            Ok(exception) => exceptions.push((exception, false)),
            Err(message) => left.push(Finding::new("exception", PATH, line, message)),
        }
    }
    for finding in findings {
        let Some((exception, used)) = exceptions.iter_mut().find(|(exception, _)| exception.covers(&finding))
        else {
            left.push(finding);
            continue;
        };
        *used = true;
        left.extend(exception.judge(finding));
    }
    for (exception, used) in exceptions {
        if !used {
            let message =
                format!("nothing at {} breaks {} any more: remove this line", exception.path, exception.rule);
            left.push(Finding::new("exception", PATH, exception.line, message));
        }
    }
    left
}

impl Exception {
    fn covers(&self, finding: &Finding) -> bool {
        self.rule == finding.rule
            && self.path == finding.path
            && self.subject.as_ref().is_none_or(|subject| *subject == finding.subject)
    }

    /// What is left to say about a finding that this exception covers.
    fn judge(&self, finding: Finding) -> Option<Finding> {
        let about_list = |message: String| Some(Finding::new("exception", PATH, self.line, message));
        match (finding.size, self.ceiling) {
            (None, None) => None,
            (Some(size), Some(ceiling)) if size > ceiling => Some(finding),
            (Some(size), Some(ceiling)) if size < ceiling => {
                about_list(format!("{} is down to {size}: lower the ceiling from {ceiling}", self.path))
            }
            (Some(_), Some(_)) => None,
            (Some(size), None) => {
                about_list(format!("{} limits a size: write the ceiling, {size}", self.rule))
            }
            (None, Some(_)) => about_list(format!("{} limits no size: remove the ceiling", self.rule)),
        }
    }
}

fn entries(list: &str) -> impl Iterator<Item = (usize, &str)> {
    list.lines()
        .enumerate()
        .map(|(at, text)| (at + 1, text.trim()))
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
}

fn parse(line: usize, text: &str) -> Result<Exception, String> {
    let form = "write RULE PATH[#SUBJECT] [CEILING] -- REASON";
    let (head, reason) = text.split_once("--").ok_or_else(|| format!("no reason is given: {form}"))?;
    if reason.split_whitespace().count() < 3 {
        return Err(format!("the reason is too short to be one: {form}"));
    }
    let mut parts = head.split_whitespace();
    let (Some(rule), Some(place)) = (parts.next(), parts.next()) else {
        return Err(format!("rule or path is missing: {form}"));
    };
    let ceiling = match parts.next().map(|number| (number, number.parse())) {
        None => None,
        Some((_, Ok(number))) => Some(number),
        Some((number, Err(_))) => return Err(format!("'{number}' is no ceiling: {form}")),
    };
    let (path, subject) = match place.split_once('#') {
        Some((path, subject)) => (path, Some(subject.to_owned())),
        None => (place, None),
    };
    Ok(Exception { line, rule: rule.into(), path: path.into(), subject, ceiling })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(size: usize) -> Finding {
        Finding::new("function-length", "a.rs", 3, "long".into()).about("run").measuring(size)
    }

    #[test]
    fn an_exception_covers_its_finding_and_no_other() {
        let list = "# why\nfunction-length a.rs#run 80 -- one table of steps\n";
        assert!(apply(list, vec![long(80)]).is_empty());
        let other = long(80).about("walk");
        let left = apply(list, vec![other.clone(), long(80)]);
        assert_eq!(left, [other]);
        assert_eq!(count(list), 1);
    }

    #[test]
    fn growth_beyond_the_ceiling_is_found() {
        assert_eq!(apply("function-length a.rs#run 80 -- one table of steps", vec![long(81)]), [long(81)]);
    }

    #[test]
    fn the_ratchet_turns_one_way() {
        let left = apply("function-length a.rs#run 80 -- one table of steps", vec![long(75)]);
        assert!(left[0].message.contains("lower the ceiling"), "{left:?}");
        let left = apply("unwrap b.rs -- it cannot be otherwise", vec![]);
        assert!(left[0].message.contains("remove this line"), "{left:?}");
    }

    #[test]
    fn a_line_without_a_reason_is_refused() {
        for list in
            ["unwrap b.rs", "unwrap b.rs -- no", "unwrap -- for some good reason", "x a.rs eight -- a b c"]
        {
            let left = apply(list, vec![]);
            assert_eq!(left.len(), 1, "{list}");
            assert!(left[0].message.contains("write RULE PATH"), "{left:?}");
        }
    }

    #[test]
    fn a_ceiling_is_asked_for_where_a_size_is_limited() {
        let left = apply("function-length a.rs -- one table of steps", vec![long(75)]);
        assert!(left[0].message.contains("write the ceiling, 75"), "{left:?}");
    }
}
