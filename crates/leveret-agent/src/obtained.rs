//! Which scheduling the members' tasks have obtained, in words.

use std::collections::BTreeMap;

/// What a member may say of a task, each once and in this order.
const CLASSES: [&str; 4] = ["SCHED_DEADLINE", "SCHED_FIFO", "SCHED_IDLE", "SCHED_OTHER"];
/// Between the classes of a member whose tasks differ.
const AND: &str = " and ";

/// By member: one may have rights that another has not.
#[derive(Debug, Default)]
pub(crate) struct Obtained(BTreeMap<usize, String>);

impl Obtained {
    /// Takes in what a member says of its tasks; one without tasks says nothing of them.
    pub(crate) fn take(&mut self, rank: usize, alleged: &str) {
        let known: Vec<&str> =
            CLASSES.into_iter().filter(|class| alleged.split(AND).any(|said| said == *class)).collect();
        if !known.is_empty() {
            self.0.insert(rank, known.join(AND));
        }
    }

    /// What most of the members have, and who has something else: `SCHED_FIFO; SCHED_OTHER: V`. Empty as long as nobody has any.
    pub(crate) fn told<'n>(&self, name: impl Fn(usize) -> &'n str) -> String {
        let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (rank, class) in &self.0 {
            members.entry(class).or_default().push(*rank);
        }
        let mut classes: Vec<_> = members.into_iter().collect();
        classes.sort_by_key(|(_, ranks)| std::cmp::Reverse(ranks.len()));
        let others = classes.iter().skip(1).map(|(class, ranks)| {
            let names: Vec<&str> = ranks.iter().map(|rank| name(*rank)).collect();
            format!("{class}: {}", names.join(", "))
        });
        let most = classes.first().map(|(class, _)| (*class).to_owned());
        most.into_iter().chain(others).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(said: &[&str]) -> String {
        let mut obtained = Obtained::default();
        said.iter().enumerate().for_each(|(rank, said)| obtained.take(rank, said));
        obtained.told(|rank| ["A", "B", "C", "D"][rank])
    }

    #[test]
    fn who_has_another_scheduling_than_most_is_named_whoever_was_ready_last() {
        assert_eq!(told(&["SCHED_FIFO", "none", "SCHED_FIFO"]), "SCHED_FIFO");
        assert_eq!(told(&["SCHED_FIFO", "SCHED_OTHER"]), "SCHED_FIFO; SCHED_OTHER: B");
        assert_eq!(told(&["SCHED_OTHER", "SCHED_FIFO"]), "SCHED_FIFO; SCHED_OTHER: A");
        assert_eq!(told(&["SCHED_OTHER", "SCHED_FIFO", "SCHED_OTHER"]), "SCHED_OTHER; SCHED_FIFO: B");
        let mixed = ["SCHED_FIFO", "SCHED_FIFO and SCHED_OTHER", "SCHED_OTHER", "SCHED_FIFO"];
        assert_eq!(told(&mixed), "SCHED_FIFO; SCHED_FIFO and SCHED_OTHER: B; SCHED_OTHER: C");
        assert_eq!(told(&["none"]), "");
    }

    #[test]
    fn what_a_member_says_is_repeated_only_where_it_is_a_class() {
        assert_eq!(told(&["SCHED_FIFO\u{1b}[31m", "root", "", "SCHED_OTHER and SCHED_OTHER"]), "SCHED_OTHER");
    }

    #[test]
    fn of_a_member_the_last_word_counts() {
        let mut obtained = Obtained::default();
        obtained.take(0, "SCHED_OTHER");
        obtained.take(0, "SCHED_FIFO");
        assert_eq!(obtained.told(|_| "A"), "SCHED_FIFO");
    }
}
