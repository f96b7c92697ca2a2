//! Queues for what must not share one: colours of a graph.

use std::collections::BTreeMap;

/// Trials until the answer is left open.
const TRIALS_MAX: u32 = 20_000;

/// A colour below `colours` for each of `nodes`, such that no edge joins two of one colour. None: there is no such choice; `Err`: not known.
pub(super) fn colour(
    nodes: &[u32],
    edges: &[(u32, u32)],
    colours: u8,
) -> Result<Option<BTreeMap<u32, u8>>, OutOfTrials> {
    let mut neighbours: BTreeMap<u32, Vec<u32>> = nodes.iter().map(|node| (*node, Vec::new())).collect();
    for (one, two) in edges {
        neighbours.entry(*one).or_default().push(*two);
        neighbours.entry(*two).or_default().push(*one);
    }
    for list in neighbours.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    let order = order(&neighbours, usize::from(colours));
    let mut chosen = BTreeMap::new();
    let mut trials = 0;
    match place(&order, 0, &neighbours, colours, &mut chosen, &mut trials) {
        Some(true) => Ok(Some(chosen)),
        Some(false) => Ok(None),
        None => Err(OutOfTrials),
    }
}

/// Too many ways to colour were tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutOfTrials;

/// What has fewer neighbours than there are colours can always be coloured last: it is peeled off, again and again, and the core comes first.
fn order(neighbours: &BTreeMap<u32, Vec<u32>>, colours: usize) -> Vec<u32> {
    let mut degree: BTreeMap<u32, usize> =
        neighbours.iter().map(|(node, list)| (*node, list.len())).collect();
    let mut peeled = Vec::new();
    while let Some((&node, _)) = degree.iter().find(|(_, degree)| **degree < colours) {
        degree.remove(&node);
        for other in &neighbours[&node] {
            if let Some(degree) = degree.get_mut(other) {
                *degree -= 1;
            }
        }
        peeled.push(node);
    }
    let mut core: Vec<u32> = degree.keys().copied().collect();
    core.sort_by_key(|node| std::cmp::Reverse(neighbours[node].len()));
    core.extend(peeled.into_iter().rev());
    core
}

/// Colours of `order[index..]`; of colours that nobody has yet only the first is tried, since they are alike.
fn place(
    order: &[u32],
    index: usize,
    neighbours: &BTreeMap<u32, Vec<u32>>,
    colours: u8,
    chosen: &mut BTreeMap<u32, u8>,
    trials: &mut u32,
) -> Option<bool> {
    let Some(&node) = order.get(index) else { return Some(true) };
    let used = chosen.values().max().map_or(0, |most| most + 1);
    for one in 0..colours.min(used.saturating_add(1)) {
        if neighbours[&node].iter().any(|other| chosen.get(other) == Some(&one)) {
            continue;
        }
        *trials += 1;
        if *trials > TRIALS_MAX {
            return None;
        }
        chosen.insert(node, one);
        if place(order, index + 1, neighbours, colours, chosen, trials)? {
            return Some(true);
        }
        chosen.remove(&node);
    }
    Some(false)
}

#[cfg(test)]
mod tests {
    use super::colour;

    #[test]
    fn a_circle_of_five_needs_three_colours() {
        let nodes = [0, 1, 2, 3, 4];
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)];
        assert!(colour(&nodes, &edges, 2).unwrap().is_none());
        let chosen = colour(&nodes, &edges, 3).unwrap().unwrap();
        assert!(edges.iter().all(|(one, two)| chosen[one] != chosen[two]));
    }
}
