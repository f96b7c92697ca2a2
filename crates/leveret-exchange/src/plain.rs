//! Names that may stand in scripts and as names of files; tables as text.

use leveret_plan::network::Traffic;

/// A name with nothing in it but letters, digits, dots, dashes and underlines, the first of them no sign. Names of manifests are like that.
pub(crate) fn plain(name: &str) -> String {
    let fits = |(index, c): (usize, char)| match c {
        c if c.is_ascii_alphanumeric() => c,
        '.' | '-' | '_' if index > 0 => c,
        _ => '_',
    };
    name.chars().enumerate().map(fits).collect()
}

/// The plain name of a node, with its number where another has the same.
pub(crate) fn unique(name: &str, node: usize, traffic: &Traffic) -> String {
    let alike = traffic.network.nodes.iter().filter(|other| plain(&other.name) == name).count();
    if alike > 1 { format!("{name}-{node}") } else { name.to_owned() }
}

/// Values between commas, quoted where they must be, below the names of the columns.
pub(crate) fn table<const N: usize>(columns: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and all rows are as long.
    let _ = table.write_record(columns);
    for row in rows {
        let _ = table.write_record(row);
    }
    let bytes = table.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
