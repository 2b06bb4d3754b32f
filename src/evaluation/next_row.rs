//! Train on synthetic, test on real (Esteban, Hyland and Rätsch, *Real-valued (Medical) Time Series Generation with
//! Recurrent Conditional GANs*, 2017): does what synthetic sequences teach about the next row hold in real ones?

mod category;
mod number;

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use crate::rng::{Purpose, Seed};
use crate::table::{ComparedCells, ComparedTable, MISSING_CODE};

/// Columns foretold: the first of the table that belong to the rows.
const MOST_TARGETS: usize = 20;
/// Columns a prediction rests on: the first of the table.
const MOST_INPUTS: usize = 40;
/// Pairs of rows learned from and tested on; drawn where there are more.
const MOST_PAIRS: usize = 4_000;
const FEWEST_PAIRS: usize = 40;
const TREES: usize = 40;

/// How well the next row can be foretold by who has learned from synthetic sequences alone.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NextRowReport {
    /// Mean of the columns' scores; [0, 1], 1 best.
    pub score: Option<f64>,
    /// Whether the tests are held-out sequences; else they are one half of the real ones, the other half being what
    /// the real teacher learns from.
    pub on_holdout: bool,
    /// One for each of the first 20 columns that belong to the rows.
    pub columns: Vec<NextRowColumn>,
}

/// How well one column of the next row can be foretold.
///
/// A skill is the share of a naive guess's error that is avoided: 1 is perfect, 0 no better than naive, below 0 worse;
/// no less than -1. For numbers the error is squared, and naive is the better of two guesses, the mean of the tests (a
/// skill against it is R²) and the value of the row before: against the mean alone a date or a slow level would be
/// foretold nearly perfectly whatever it had been learned from. For categories the error is the share of wrong guesses,
/// and naive is the most frequent category of the tests.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NextRowColumn {
    /// Name of the column.
    pub column: String,
    /// Skill of what learned from real rows, at most 1.
    pub real_skill: Option<f64>,
    /// Skill of what learned from synthetic rows, at most 1.
    pub synthetic_skill: Option<f64>,
    /// 1 less the skill that learning from synthetic instead of real rows loses; [0, 1], 1 best. `None` where there are
    /// fewer than 40 pairs of rows to learn from or to test on, or where the naive guess is never wrong.
    pub score: Option<f64>,
    /// Standard error of `score`, in skill, over the tested sequences: as large as the loss itself where chance may have
    /// made it. `None` where fewer than two sequences are tested.
    pub score_error: Option<f64>,
}

pub(super) fn next_row(comparison: &Comparison) -> NextRowReport {
    let halves = comparison
        .holdout
        .is_none()
        .then(|| comparison.halves())
        .flatten();
    let (teacher, test) = match (&comparison.holdout, &halves) {
        (Some(holdout), _) => (&comparison.real, holdout),
        (None, Some(halves)) => (&halves.real, &halves.synthetic),
        (None, None) => (&comparison.real, &comparison.real),
    };
    let targets: Vec<usize> = (0..comparison.columns.len())
        .filter(|&column| comparison.varies(column))
        .filter(|&column| {
            comparison.columns[column].is_number() || comparison.columns[column].is_category()
        })
        .take(MOST_TARGETS)
        .collect();
    let inputs: Vec<usize> = comparison
        .numbers()
        .chain(comparison.categories())
        .take(MOST_INPUTS)
        .collect();
    let [real, synthetic, test] = [teacher, &comparison.synthetic, test]
        .map(|table| Pairs::of(table, &inputs, comparison.seed));
    let columns: Vec<NextRowColumn> = targets
        .into_par_iter()
        .map(|column| {
            let foretold = |pairs: &Pairs| foretold(pairs, &test, column);
            let (by_real, by_synthetic) = (foretold(&real), foretold(&synthetic));
            let (real_skill, synthetic_skill) = (
                by_real.as_ref().map(Foretold::skill),
                by_synthetic.as_ref().map(Foretold::skill),
            );
            NextRowColumn {
                column: comparison.columns[column].name.clone(),
                real_skill,
                synthetic_skill,
                score: real_skill
                    .zip(synthetic_skill)
                    .map(|(real, synthetic)| (1.0 - (real - synthetic)).clamp(0.0, 1.0)),
                score_error: by_real
                    .zip(by_synthetic)
                    .and_then(|(real, synthetic)| score_error(&real, &synthetic, &test)),
            }
        })
        .collect();
    let scores: Vec<f64> = columns.iter().filter_map(|column| column.score).collect();
    NextRowReport {
        score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64),
        on_holdout: comparison.holdout.is_some(),
        columns,
    }
}

/// Rows that have a next one, and what predictions rest on.
struct Pairs<'a> {
    table: &'a ComparedTable,
    rows: Vec<usize>,
    /// Parallel to `rows`.
    sequences: Vec<usize>,
    /// `[inputs + 1]` columns of one number a row: the row's cells, and its place in the sequence.
    inputs: Vec<Vec<f64>>,
}

impl<'a> Pairs<'a> {
    fn of(table: &'a ComparedTable, inputs: &[usize], seed: Seed) -> Pairs<'a> {
        let all: Vec<(usize, usize)> = table
            .ranges()
            .enumerate()
            .flat_map(|(sequence, range)| {
                (range.start..range.end - 1).map(move |row| (row, sequence))
            })
            .collect();
        let mut generator = seed.stream(Purpose::EvaluationSubsample);
        let drawn = all.len().min(MOST_PAIRS);
        let mut drawn = rand::seq::index::sample(&mut generator, all.len(), drawn).into_vec();
        drawn.sort_unstable();
        let (rows, sequences): (Vec<usize>, Vec<usize>) =
            drawn.into_iter().map(|at| all[at]).unzip();
        let mut columns: Vec<Vec<f64>> = inputs
            .iter()
            .map(|&column| match &table.columns[column] {
                ComparedCells::Numbers(numbers) => rows.iter().map(|&row| numbers[row]).collect(),
                ComparedCells::Codes(codes) => rows
                    .iter()
                    .map(|&row| {
                        if codes[row] == MISSING_CODE {
                            f64::NAN
                        } else {
                            codes[row].into()
                        }
                    })
                    .collect(),
            })
            .collect();
        let places = rows
            .iter()
            .zip(&sequences)
            .map(|(row, &sequence)| (row - table.offsets[sequence]) as f64);
        columns.push(places.collect());
        Pairs {
            table,
            rows,
            sequences,
            inputs: columns,
        }
    }

    /// The pairs whose next cell is wanted, as inputs.
    fn inputs_at(&self, places: &[usize]) -> Vec<Vec<f64>> {
        let part = |column: &Vec<f64>| places.iter().map(|&place| column[place]).collect();
        self.inputs.iter().map(part).collect()
    }
}

/// What became of the tests.
struct Foretold {
    /// Positions of the tests among the pairs.
    places: Vec<usize>,
    /// Error of each, as a share of the errors of the naive guess at all of them.
    errors: Vec<f64>,
}

impl Foretold {
    fn skill(&self) -> f64 {
        let skill = 1.0 - self.errors.iter().sum::<f64>();
        // A comparison that is false of NaN, where errors are beyond all numbers.
        if skill > -1.0 { skill } else { -1.0 }
    }
}

/// `None` where there is too little to learn from or to test on, or the naive guess at the tests is never wrong.
fn foretold(learned: &Pairs, test: &Pairs, column: usize) -> Option<Foretold> {
    match (&learned.table.columns[column], &test.table.columns[column]) {
        (ComparedCells::Numbers(known), ComparedCells::Numbers(wanted)) => {
            number::foretold(learned, known, test, wanted)
        }
        (ComparedCells::Codes(known), ComparedCells::Codes(wanted)) => {
            category::foretold(learned, known, test, wanted)
        }
        _ => None,
    }
}

/// Standard error of the difference of two skills at the same tests. Sequences are independent of each other, their rows
/// are not.
fn score_error(real: &Foretold, synthetic: &Foretold, test: &Pairs) -> Option<f64> {
    let differences = synthetic.errors.iter().zip(&real.errors);
    let differences: Vec<(usize, f64)> = real
        .places
        .iter()
        .zip(differences)
        .map(|(&place, (synthetic, real))| (test.sequences[place], synthetic - real))
        .collect();
    let sums: Vec<f64> = differences
        .chunk_by(|left, right| left.0 == right.0)
        .map(|rows| rows.iter().map(|row| row.1).sum())
        .collect();
    let count = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let squares: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
    let error = (squares * count / (count - 1.0)).sqrt();
    error.is_finite().then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numpy: sums = [0.1, -0.1]; np.std(sums, ddof=1) * np.sqrt(2)
    #[test]
    fn the_error_of_a_score_is_that_of_sums_over_sequences() {
        let table = ComparedTable {
            offsets: vec![0, 3, 6],
            columns: Vec::new(),
            dtypes: Vec::new(),
        };
        let test = Pairs::of(&table, &[], Seed::new(Some(1)));
        assert_eq!(test.rows, [0, 1, 3, 4]);
        let foretold = |errors: [f64; 4]| Foretold {
            places: vec![0, 1, 2, 3],
            errors: errors.into(),
        };
        let (real, synthetic) = (
            foretold([0.1, 0.2, 0.3, 0.4]),
            foretold([0.2, 0.2, 0.1, 0.5]),
        );
        let error = score_error(&real, &synthetic, &test).unwrap();
        assert!((error - 0.2).abs() < 1e-12, "{error}");
        assert!((real.skill() - 0.0).abs() < 1e-12);
        assert_eq!(foretold([9.0, f64::NAN, 0.0, 0.0]).skill(), -1.0);
    }
}
