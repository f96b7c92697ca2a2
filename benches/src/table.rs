//! Text tables that are Markdown too, and times as people read them.

use std::fmt;

/// Rows under heads; columns are as wide as their widest cell.
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(heads: &[&str]) -> Self {
        Self { heads: heads.iter().map(|head| (*head).to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        assert!(cells.len() == self.heads.len(), "{} cells under {} heads", cells.len(), self.heads.len());
        self.rows.push(cells);
    }

    /// Whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths: Vec<usize> = (0..self.heads.len())
            .map(|column| {
                let cells = std::iter::once(&self.heads).chain(&self.rows);
                cells.map(|cells| cells[column].chars().count()).max().unwrap_or(0).max(3)
            })
            .collect();
        let line = |out: &mut fmt::Formatter<'_>, cells: &[String]| {
            for (cell, width) in cells.iter().zip(&widths) {
                write!(out, "| {cell:width$} ")?;
            }
            writeln!(out, "|")
        };
        line(out, &self.heads)?;
        line(out, &widths.iter().map(|width| "-".repeat(*width)).collect::<Vec<_>>())?;
        self.rows.iter().try_for_each(|cells| line(out, cells))
    }
}

/// `93 ns`, `11.7 us`, `5.89 ms`: three digits.
pub fn nanoseconds(value: u64) -> String {
    let (scaled, unit) = match value {
        0..1_000 => return format!("{value} ns"),
        1_000..1_000_000 => (value as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (value as f64 / 1e6, "ms"),
        _ => (value as f64 / 1e9, "s"),
    };
    let digits = if scaled < 10.0 { 2 } else { usize::from(scaled < 100.0) };
    format!("{scaled:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let texts = [93, 1_234, 11_696, 107_936, 5_890_048, 2_000_000_000].map(nanoseconds);
        assert_eq!(texts, ["93 ns", "1.23 us", "11.7 us", "108 us", "5.89 ms", "2.00 s"]);
    }

    #[test]
    fn a_table_is_aligned() {
        let mut table = Table::new(&["case", "p50"]);
        table.push(["8 B".to_owned(), "131 ns".to_owned()]);
        assert_eq!(table.to_string(), "| case | p50    |\n| ---- | ------ |\n| 8 B  | 131 ns |\n");
    }
}
