//! How occupancies on one core lie within each other: who preempts whom.

/// The reserved stretch of one instance: `[from, from + length)` on the circle of the hyperperiod, guard included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserved {
    pub from: i64,
    pub length: i64,
}

/// For each reserved stretch the one that directly encloses it. The stretches must be properly nested or disjoint
/// on a circle of length `round`, as every placement's are.
pub(crate) fn parents(reserved: &[Reserved], round: i64) -> Vec<Option<usize>> {
    let mut sorted: Vec<usize> = (0..reserved.len()).collect();
    sorted.sort_by_key(|index| (reserved[*index].from, -reserved[*index].length));
    let mut parents = vec![None; reserved.len()];
    let mut open: Vec<(usize, i64)> = Vec::new();
    // Two turns: after the first, everything that is open across the seam is known.
    for turn in [0, round] {
        for index in &sorted {
            let from = reserved[*index].from + turn;
            while open.last().is_some_and(|(_, end)| *end <= from) {
                open.pop();
            }
            parents[*index] = open.last().map(|(parent, _)| *parent);
            open.push((*index, from + reserved[*index].length));
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_found_across_the_seam() {
        let reserved = [
            Reserved { from: 90, length: 30 }, // wraps to 20
            Reserved { from: 95, length: 3 },
            Reserved { from: 5, length: 10 },
            Reserved { from: 7, length: 2 },
            Reserved { from: 20, length: 70 },
        ];
        assert_eq!(parents(&reserved, 100), [None, Some(0), Some(0), Some(2), None]);
    }
}
