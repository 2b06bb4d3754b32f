//! Categories of the next row: one classifier for each of the most frequent, the highest score wins.

use super::{FEWEST_PAIRS, Foretold, Pairs, TREES};
use crate::evaluation::boosting::{Goal, learn_and_predict};

/// Categories told apart, the most frequent of the tests; the others are never foretold.
const MOST_CATEGORIES: usize = 6;

pub(super) fn foretold(
    learned: &Pairs,
    known: &[u32],
    test: &Pairs,
    wanted: &[u32],
) -> Option<Foretold> {
    let next = |pairs: &Pairs, cells: &[u32]| -> Vec<u32> {
        pairs.rows.iter().map(|row| cells[row + 1]).collect()
    };
    let (known, wanted) = (next(learned, known), next(test, wanted));
    if known.len() < FEWEST_PAIRS || wanted.len() < FEWEST_PAIRS {
        return None;
    }
    let frequent = frequent(&wanted);
    let most = wanted
        .iter()
        .filter(|&code| Some(code) == frequent.first())
        .count();
    let constant_wrong = wanted.len() - most;
    if constant_wrong == 0 {
        return None;
    }
    let (inputs, asked) = (&learned.inputs, &test.inputs);
    // One classifier a category; what is never seen in learning has no chance.
    let scores: Vec<Option<Vec<f64>>> = frequent
        .iter()
        .map(|&code| {
            let targets: Vec<f64> = known
                .iter()
                .map(|&known| f64::from(u8::from(known == code)))
                .collect();
            let seen = targets.iter().filter(|&&target| target > 0.0).count();
            if seen == 0 {
                return None;
            }
            if seen == targets.len() {
                return Some(vec![f64::MAX; wanted.len()]);
            }
            learn_and_predict(Goal::Class, TREES, inputs, &targets, asked)
        })
        .collect();
    let errors = wanted.iter().enumerate().map(|(row, code)| {
        let best = (0..frequent.len())
            .filter_map(|at| scores[at].as_ref().map(|scores| (at, scores[row])))
            .max_by(|left, right| left.1.total_cmp(&right.1));
        let wrong = best.map(|(at, _)| frequent[at]) != Some(*code);
        f64::from(u8::from(wrong)) / constant_wrong as f64
    });
    Some(Foretold {
        errors: errors.collect(),
        places: (0..wanted.len()).collect(),
    })
}

/// The codes seen most often, the most frequent first.
fn frequent(codes: &[u32]) -> Vec<u32> {
    let mut sorted = codes.to_vec();
    sorted.sort_unstable();
    let mut counts: Vec<(usize, u32)> = sorted
        .chunk_by(|left, right| left == right)
        .map(|same| (same.len(), same[0]))
        .collect();
    counts.sort_unstable_by_key(|&(count, code)| (std::cmp::Reverse(count), code));
    counts
        .into_iter()
        .take(MOST_CATEGORIES)
        .map(|(_, code)| code)
        .collect()
}
