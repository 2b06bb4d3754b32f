//! Gradient-boosted trees on columns that may miss cells, and how well they rank.

use forust_ml::{GradientBooster, Matrix, objective::ObjectiveType};

/// As scikit-learn's `min_samples_leaf`.
const FEWEST_LEAF_ROWS: f32 = 20.0;

/// What a booster learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// 0 or 1; predictions are log-odds.
    Class,
    /// A number; predictions are numbers.
    Number,
}

/// Learns `targets` from some rows of `columns`, and predicts other rows. Column by column, NaN is missing; columns that
/// do not vary in the rows learned from are passed over. `None` where nothing varies. One thread, so that one input
/// has one result. Settings are those of scikit-learn's `HistGradientBoostingClassifier` but for the number of trees and
/// for 63 bins instead of 255, which take half the time and tell as much.
pub(super) fn learn_and_predict(
    goal: Goal,
    trees: usize,
    learned: &[Vec<f64>],
    targets: &[f64],
    asked: &[Vec<f64>],
) -> Option<Vec<f64>> {
    let varies = |column: &Vec<f64>| {
        let mut present = column.iter().filter(|cell| !cell.is_nan());
        let first = present.next();
        present.any(|cell| Some(cell) != first)
    };
    let used: Vec<usize> = (0..learned.len())
        .filter(|&at| varies(&learned[at]))
        .collect();
    let rows = targets.len();
    let asked_rows = asked.first().map_or(0, Vec::len);
    if used.is_empty() || rows < 2 || asked_rows == 0 {
        return None;
    }
    let flat = |columns: &[Vec<f64>]| -> Vec<f64> {
        used.iter()
            .flat_map(|&at| columns[at].iter().copied())
            .collect()
    };
    let (learned, asked) = (flat(learned), flat(asked));
    // A leaf of twenty rows: hessians are 1 for squared loss and at most 0.25, where the odds are even, for log loss.
    let (objective, leaf_weight) = match goal {
        Goal::Class => (ObjectiveType::LogLoss, 0.25 * FEWEST_LEAF_ROWS),
        Goal::Number => (ObjectiveType::SquaredLoss, FEWEST_LEAF_ROWS),
    };
    let mut booster = GradientBooster::default()
        .set_objective_type(objective)
        .set_iterations(trees)
        .set_learning_rate(0.1)
        .set_max_depth(12)
        .set_max_leaves(31)
        .set_l2(0.0)
        .set_min_leaf_weight(leaf_weight)
        .set_nbins(63)
        .set_initialize_base_score(true)
        .set_parallel(false)
        .set_seed(0);
    booster
        .fit_unweighted(&Matrix::new(&learned, rows, used.len()), targets, None)
        .ok()?;
    let predicted = booster.predict(&Matrix::new(&asked, asked_rows, used.len()), false);
    predicted
        .iter()
        .all(|value| value.is_finite())
        .then_some(predicted)
}

/// Area under the ROC curve: how often a member of the first group has the higher score than one of the second, ties
/// half; NaN counts as lowest. `None` where a group is empty. Mann and Whitney's U, divided by the number of pairs.
pub(super) fn area_under_curve(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let value = |score: &f64| {
        if score.is_nan() {
            f64::NEG_INFINITY
        } else {
            *score
        }
    };
    let mut scores: Vec<(f64, bool)> = first
        .iter()
        .map(|score| (value(score), true))
        .chain(second.iter().map(|score| (value(score), false)))
        .collect();
    scores.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let (mut wins, mut below) = (0.0, 0.0);
    for ties in scores.chunk_by(|left, right| left.0 == right.0) {
        let firsts = ties.iter().filter(|(_, is_first)| *is_first).count() as f64;
        let seconds = ties.len() as f64 - firsts;
        wins += firsts * (below + seconds / 2.0);
        below += seconds;
    }
    Some(wins / (first.len() as f64 * second.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_wins_and_halves_ties() {
        // sklearn.metrics.roc_auc_score([1, 1, 1, 0, 0], [3, 2, 1, 2, 0]) == 0.75
        assert_eq!(area_under_curve(&[3.0, 2.0, 1.0], &[2.0, 0.0]), Some(0.75));
        assert_eq!(area_under_curve(&[1.0, f64::NAN], &[f64::NAN]), Some(0.75));
        assert_eq!(area_under_curve(&[], &[1.0]), None);
    }

    #[test]
    fn nothing_to_learn_from_is_no_model_and_no_panic() {
        let constant = vec![vec![1.0; 30], vec![f64::NAN; 30]];
        for goal in [Goal::Class, Goal::Number] {
            let targets: Vec<f64> = (0..30).map(|row| f64::from(row % 2)).collect();
            assert_eq!(
                learn_and_predict(goal, 5, &constant, &targets, &constant),
                None
            );
            assert_eq!(learn_and_predict(goal, 5, &[], &[], &[]), None);
        }
    }

    #[test]
    fn a_rule_with_missing_cells_is_learned() {
        let column: Vec<f64> = (0..400)
            .map(|row| {
                if row % 4 == 0 {
                    f64::NAN
                } else {
                    f64::from(row % 7)
                }
            })
            .collect();
        let targets: Vec<f64> = column
            .iter()
            .map(|cell| f64::from(u8::from(cell.is_nan() || *cell > 3.0)))
            .collect();
        let columns = vec![column, vec![0.5; 400]];
        let scores = learn_and_predict(Goal::Class, 30, &columns, &targets, &columns).unwrap();
        for (score, target) in scores.iter().zip(&targets) {
            assert_eq!(f64::from(u8::from(*score > 0.0)), *target);
        }
    }

    #[test]
    fn a_leaf_holds_no_fewer_than_twenty_rows() {
        // The first half is of one class, the second of the other.
        let differ = |rows: u32| {
            let column: Vec<f64> = (0..rows).map(f64::from).collect();
            let targets: Vec<f64> = (0..rows)
                .map(|row| f64::from(u8::from(row < rows / 2)))
                .collect();
            let columns = std::slice::from_ref(&column);
            let scores = learn_and_predict(Goal::Class, 5, columns, &targets, columns).unwrap();
            scores.first() != scores.last()
        };
        assert!(!differ(38) && differ(42));
    }

    #[test]
    fn huge_numbers_do_not_panic() {
        let column: Vec<f64> = (0..100).map(|row| f64::from(row) * 1e300).collect();
        let targets: Vec<f64> = (0..100).map(|row| f64::from(u8::from(row > 50))).collect();
        assert!(
            learn_and_predict(
                Goal::Class,
                5,
                std::slice::from_ref(&column),
                &targets,
                std::slice::from_ref(&column)
            )
            .is_some()
        );
    }
}
