//! How names of C are written in C++.

/// Words that C++ keeps for itself and that names of the list would become.
const KEYWORDS: &[&str] =
    &["bool", "char", "default", "delete", "double", "float", "int", "new", "null", "switch", "union"];

/// Without the prefix.
pub fn bare(name: &str) -> &str {
    name.strip_prefix("MPIRTX_").or_else(|| name.strip_prefix("MPIRT_")).unwrap_or(name)
}

/// In lower case; a keyword gets an underscore.
pub fn lower(name: &str) -> String {
    let name = name.to_lowercase();
    if KEYWORDS.contains(&name.as_str()) && name != "null" { name + "_" } else { name }
}

/// The class of references to a handle's objects.
pub fn reference(handle: &str) -> String {
    format!("{}_ref", lower(bare(handle)))
}

/// What the values of an enumeration have in common, up to an underscore.
pub fn common_prefix(values: &[String]) -> &str {
    let Some(first) = values.first() else { return "" };
    let same = |at: usize| values.iter().all(|value| value.as_bytes().get(at) == first.as_bytes().get(at));
    let length = (0..first.len()).take_while(|at| same(*at)).count();
    &first[..first[..length].rfind('_').map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_prefixes() {
        assert_eq!(reference("MPIRT_Container_iterator"), "container_iterator_ref");
        assert_eq!(reference("MPIRTX_Task"), "task_ref");
        assert_eq!(lower("union"), "union_");
        let values = ["MPIRTX_ANY".to_owned(), "MPIRTX_ALL".to_owned()];
        assert_eq!(common_prefix(&values), "MPIRTX_");
    }
}
