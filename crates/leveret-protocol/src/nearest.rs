//! The name that was meant by one that nobody declares.

/// The nearest of `known` to what was found, if it is near enough to be what was meant.
pub fn nearest<'a>(found: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if found.len() > leveret_types::NAME_BYTES_MAX {
        return None;
    }
    let distance_max = match found.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let lowered = found.to_lowercase();
    // No name is nearer than the difference of the lengths.
    known
        .filter(|name| name.len().abs_diff(found.len()) <= distance_max * char::MAX_LEN_UTF8)
        .map(|name| (strsim::damerau_levenshtein(&lowered, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= distance_max && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_short_name_is_not_near_to_every_other_one() {
        assert_eq!(nearest("Q", ["A", "B"].into_iter()), None);
        assert_eq!(nearest("AC", ["AB", "BD"].into_iter()), Some("AB"));
    }
}
