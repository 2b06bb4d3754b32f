//! What a category may be followed by, begin as and end as, and which classes can still reach the end.
//! In: the rules of one column on first rows, last rows and pairs of rows. Out: whether a class may stand in a row, so
//! that the rows after it can keep the rules too.

use super::rules::{Moment, Transitions};
use super::{Cell, Constraint};
use std::sync::Arc;

/// Steps back from the end that are looked at; beyond, the sets are taken to stay as they are.
const MOST_STEPS: usize = 1_000;
/// Steps back from a known class of a row that is given.
const MOST_STEPS_TO_KNOWN: usize = 64;
/// Cells of all sets together.
const MOST_CELLS: usize = 10_000_000;

/// The rules between rows of one category column.
#[derive(Debug, Clone)]
pub(super) struct Chain {
    classes: usize,
    missing: Option<usize>,
    transitions: Option<Arc<Transitions>>,
    is_constant: bool,
    never_repeats: bool,
    first: Option<Vec<bool>>,
    last: Option<Vec<bool>>,
    /// By rows to come, the classes from which the end can be reached; after the end of the list it goes round from
    /// `round`.
    reaching: Vec<Vec<bool>>,
    round: usize,
}

impl Chain {
    pub(super) fn new(classes: usize, missing: Option<usize>) -> Chain {
        Chain {
            classes,
            missing,
            transitions: None,
            is_constant: false,
            never_repeats: false,
            first: None,
            last: None,
            reaching: Vec::new(),
            round: 0,
        }
    }

    pub(super) fn follow(&mut self, transitions: Arc<Transitions>) {
        self.transitions = Some(transitions);
    }

    pub(super) fn stay(&mut self) {
        self.is_constant = true;
    }

    pub(super) fn never_repeat(&mut self) {
        self.never_repeats = true;
    }

    pub(super) fn begin_as(&mut self, classes: &[u32]) {
        narrow(&mut self.first, self.classes, classes);
    }

    pub(super) fn end_as(&mut self, classes: &[u32]) {
        narrow(&mut self.last, self.classes, classes);
    }

    /// Works out which classes can reach the end; after the rules are all in.
    pub(super) fn finish(&mut self) {
        let all = vec![true; self.classes];
        let mut sets = vec![self.last.clone().unwrap_or(all)];
        let most = MOST_STEPS.min(MOST_CELLS / self.classes.max(1)).max(1);
        self.round = 0;
        while sets.len() <= most {
            let next = self.before(&sets[sets.len() - 1]);
            if let Some(round) = sets.iter().position(|set| *set == next) {
                self.round = round;
                break;
            }
            self.round = sets.len();
            sets.push(next);
        }
        self.round = self.round.min(sets.len() - 1);
        self.reaching = sets;
    }

    /// The classes from which a row of the set can follow.
    fn before(&self, set: &[bool]) -> Vec<bool> {
        let count = set.iter().filter(|reaches| **reaches).count();
        (0..self.classes)
            .map(|class| match &self.transitions {
                Some(transitions) => transitions.0.get(class).is_some_and(|next| {
                    next.iter().any(|&next| {
                        let next = next as usize;
                        set.get(next) == Some(&true) && self.pair(class, next)
                    })
                }),
                None if self.is_constant => set[class] && self.pair(class, class),
                None => {
                    let alone = count == 1 && set[class] && !self.pair(class, class);
                    count > 0 && !alone
                }
            })
            .collect()
    }

    /// Whether one class may follow another, transitions aside.
    fn pair(&self, before: usize, after: usize) -> bool {
        let is_same = before == after;
        let is_told_apart = !self.never_repeats || !is_same || self.missing == Some(after);
        (!self.is_constant || is_same) && is_told_apart
    }

    /// Whether one class was seen to follow another, where that counts.
    fn was_seen(&self, before: usize, after: usize) -> bool {
        self.transitions.as_ref().is_none_or(|transitions| {
            let next = transitions.0.get(before);
            next.is_some_and(|next| {
                next.binary_search_by_key(&after, |&next| next as usize)
                    .is_ok()
            })
        })
    }

    fn reaches(&self, class: usize, rows_after: usize) -> bool {
        let at = if rows_after < self.reaching.len() {
            rows_after
        } else {
            self.round + (rows_after - self.round) % (self.reaching.len() - self.round).max(1)
        };
        let set = self.reaching.get(at);
        set.and_then(|set| set.get(class)).copied().unwrap_or(true)
    }

    /// Whether a class may stand in a row, after the class of the row before.
    pub(super) fn allows(&self, before: Option<u32>, class: usize, moment: Moment) -> bool {
        let may_follow = match before {
            Some(before) => {
                self.was_seen(before as usize, class) && self.pair(before as usize, class)
            }
            None if moment.row == 0 => {
                let first = self.first.as_ref();
                first.is_none_or(|first| first.get(class) == Some(&true))
            }
            None => true,
        };
        may_follow
            && moment
                .rows_after
                .is_none_or(|rows| self.reaches(class, rows))
    }

    /// The classes from which so many rows lead to a class; none where that is too far to tell.
    pub(super) fn leading_to(&self, class: u32, rows: usize) -> Option<Vec<bool>> {
        if rows > MOST_STEPS_TO_KNOWN {
            return None;
        }
        let mut set: Vec<bool> = (0..self.classes).map(|at| at == class as usize).collect();
        for _ in 0..rows {
            set = self.before(&set);
        }
        Some(set)
    }

    /// Whether data keeps one of the column's constraints in a row.
    pub(super) fn keeps(
        &self,
        constraint: &Constraint,
        before: Cell,
        here: Cell,
        moment: Moment,
    ) -> bool {
        let Cell::Class(class) = here else {
            return true;
        };
        let at = class as usize;
        let is_in = |set: &Option<Vec<bool>>| {
            let set = set.as_ref();
            set.is_none_or(|set| set.get(at) == Some(&true))
        };
        match (constraint, before) {
            (Constraint::FirstRow { .. }, _) => moment.row > 0 || is_in(&self.first),
            (Constraint::LastRow { .. }, _) => moment.rows_after != Some(0) || is_in(&self.last),
            (Constraint::NoRepeats { .. }, Cell::Class(before)) => {
                before != class || self.missing == Some(at)
            }
            (Constraint::Constant { .. }, Cell::Class(before)) => before == class,
            (Constraint::SeenTransitions { .. }, Cell::Class(before)) => {
                self.was_seen(before as usize, at)
            }
            _ => true,
        }
    }

    /// Whether a sequence can have so many rows.
    pub(super) fn can_last(&self, rows: usize) -> bool {
        let moment = Moment {
            row: 0,
            rows_after: rows.checked_sub(1),
        };
        (0..self.classes).any(|class| self.allows(None, class, moment))
    }
}

fn narrow(set: &mut Option<Vec<bool>>, classes: usize, wanted: &[u32]) {
    let may = |class: usize| wanted.iter().any(|&wanted| wanted as usize == class);
    let before = set.take();
    *set = Some(
        (0..classes)
            .map(|class| may(class) && before.as_ref().is_none_or(|before| before[class]))
            .collect(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(row: usize, rows_after: usize) -> Moment {
        Moment {
            row,
            rows_after: Some(rows_after),
        }
    }

    /// Signup (0) is followed by onboarding (1), that by use (2), use by itself or by leaving (3).
    fn customer() -> Chain {
        let mut chain = Chain::new(4, None);
        chain.follow(Arc::new(Transitions(vec![
            vec![1],
            vec![2],
            vec![2, 3],
            vec![],
        ])));
        chain
    }

    #[test]
    fn a_row_never_leads_where_the_last_row_cannot_be_reached() {
        let mut chain = customer();
        chain.begin_as(&[0]);
        chain.end_as(&[3]);
        chain.finish();
        assert!(!chain.can_last(3) && chain.can_last(4) && chain.can_last(5_000));
        assert!(chain.allows(Some(2), 3, moment(3, 0)));
        assert!(
            !chain.allows(Some(2), 2, moment(3, 0)),
            "it would not end as leaving"
        );
        assert!(
            !chain.allows(Some(2), 3, moment(3, 1)),
            "nothing follows leaving"
        );
    }

    #[test]
    fn two_classes_that_must_differ_reach_the_end_by_parity() {
        let mut chain = Chain::new(2, None);
        chain.never_repeat();
        chain.begin_as(&[0]);
        chain.end_as(&[1]);
        chain.finish();
        let lengths: Vec<usize> = (1..8).filter(|&rows| chain.can_last(rows)).collect();
        assert_eq!(lengths, [2, 4, 6]);
        assert!(chain.can_last(100_000) && !chain.can_last(100_001));
    }

    #[test]
    fn a_constant_column_begins_as_it_is_to_end() {
        let mut chain = Chain::new(3, Some(2));
        chain.stay();
        chain.end_as(&[1]);
        chain.finish();
        assert!(chain.allows(None, 1, moment(0, 9)) && !chain.allows(None, 0, moment(0, 9)));
    }

    #[test]
    fn missing_may_repeat_where_values_may_not() {
        let mut chain = Chain::new(3, Some(2));
        chain.never_repeat();
        chain.finish();
        assert!(chain.allows(Some(2), 2, moment(1, 1)) && !chain.allows(Some(1), 1, moment(1, 1)));
    }
}
