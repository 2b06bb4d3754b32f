//! Train on synthetic, test on real (Esteban, Hyland and Rätsch, *Real-valued (Medical) Time Series Generation with
//! Recurrent Conditional GANs*, 2017): does what synthetic sequences teach about the next row hold in real ones?

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use super::boosting::{Goal, learn_and_predict};
use crate::table::{ComparedCells, ComparedTable, MISSING_CODE};

/// Columns foretold: the first of the table that belong to the rows.
const MOST_TARGETS: usize = 20;
/// Columns a prediction rests on: the first of the table.
const MOST_INPUTS: usize = 40;
/// Categories told apart; the others of a column are one.
const MOST_CATEGORIES: usize = 6;
/// Pairs of rows learned from and tested on, evenly spread over the table.
const MOST_PAIRS: usize = 4_000;
const FEWEST_PAIRS: usize = 40;
const TREES: usize = 40;
/// Squared errors, as shares of the square of the largest value, below which they are the noise of floats.
const NOISE: f64 = 1e-24;

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
    let [real, synthetic, test] =
        [teacher, &comparison.synthetic, test].map(|table| Pairs::of(table, &inputs));
    let columns: Vec<NextRowColumn> = targets
        .into_par_iter()
        .map(|column| {
            let skill = |pairs: &Pairs| skill(pairs, &test, column);
            let (real_skill, synthetic_skill) = (skill(&real), skill(&synthetic));
            NextRowColumn {
                column: comparison.columns[column].name.clone(),
                real_skill,
                synthetic_skill,
                score: real_skill
                    .zip(synthetic_skill)
                    .map(|(real, synthetic)| (1.0 - (real - synthetic)).clamp(0.0, 1.0)),
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
    /// `[inputs + 1]` columns of one number a row: the row's cells, and its place in the sequence.
    inputs: Vec<Vec<f64>>,
}

impl<'a> Pairs<'a> {
    fn of(table: &'a ComparedTable, inputs: &[usize]) -> Pairs<'a> {
        let all = || {
            table.ranges().flat_map(|range| {
                (range.start..range.end - 1).map(move |row| (row, row - range.start))
            })
        };
        let every = all().count().div_ceil(MOST_PAIRS).max(1);
        let (rows, places): (Vec<usize>, Vec<usize>) = all().step_by(every).unzip();
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
        columns.push(places.into_iter().map(|place| place as f64).collect());
        Pairs {
            table,
            rows,
            inputs: columns,
        }
    }

    /// The pairs whose next cell is wanted, as inputs.
    fn inputs_at(&self, places: &[usize]) -> Vec<Vec<f64>> {
        let part = |column: &Vec<f64>| places.iter().map(|&place| column[place]).collect();
        self.inputs.iter().map(part).collect()
    }
}

/// `None` where there is too little to learn from or to test on, or the tests are all the same.
fn skill(learned: &Pairs, test: &Pairs, column: usize) -> Option<f64> {
    match (&learned.table.columns[column], &test.table.columns[column]) {
        (ComparedCells::Numbers(known), ComparedCells::Numbers(wanted)) => {
            number_skill(learned, known, test, wanted)
        }
        (ComparedCells::Codes(known), ComparedCells::Codes(wanted)) => {
            category_skill(learned, known, test, wanted)
        }
        _ => None,
    }
}

fn number_skill(learned: &Pairs, known: &[f64], test: &Pairs, wanted: &[f64]) -> Option<f64> {
    // By the scale of the tests, so that squares are neither lost nor infinite.
    let wanted_steps = Steps::of(test, wanted);
    let scale = wanted_steps
        .next
        .iter()
        .chain(&wanted_steps.last)
        .fold(0.0, |scale: f64, cell| scale.max(cell.abs()));
    let known = Steps::of(learned, known).divided_by(scale);
    let wanted = wanted_steps.divided_by(scale);
    if known.next.len() < FEWEST_PAIRS || wanted.next.len() < FEWEST_PAIRS {
        return None;
    }
    let centre = mean(&wanted.next);
    let constant = wanted.error(|_| centre);
    let naive = constant.min(wanted.error(|at| present_or(wanted.last[at], centre)));
    if !(naive > NOISE * wanted.next.len() as f64 && naive.is_finite()) {
        return None;
    }
    // A line through the last value first: trees alone follow a trend only as far as they have seen it.
    let line = Line::through(&known.last, &known.next);
    let residuals: Vec<f64> = known
        .next
        .iter()
        .zip(&known.last)
        .map(|(next, &last)| next - line.at(last))
        .collect();
    let spread = mean(&squares(&residuals)).sqrt();
    let guesses = (spread > 0.0 && spread.is_finite()).then(|| {
        let targets: Vec<f64> = residuals.iter().map(|residual| residual / spread).collect();
        learn_and_predict(
            Goal::Number,
            TREES,
            &learned.inputs_at(&known.places),
            &targets,
            &test.inputs_at(&wanted.places),
        )
    });
    let guesses = guesses
        .flatten()
        .unwrap_or_else(|| vec![0.0; wanted.next.len()]);
    let error = wanted.error(|at| line.at(wanted.last[at]) + guesses[at] * spread);
    // As a comparison that is false of NaN.
    let skill = 1.0 - error / naive;
    Some(if skill > -1.0 { skill } else { -1.0 })
}

/// Values of a column of numbers in rows that follow each other.
struct Steps {
    /// Positions of those pairs of rows of which the later has a value.
    places: Vec<usize>,
    next: Vec<f64>,
    /// NaN where missing.
    last: Vec<f64>,
}

impl Steps {
    fn of(pairs: &Pairs, cells: &[f64]) -> Steps {
        let places: Vec<usize> = (0..pairs.rows.len())
            .filter(|&place| !cells[pairs.rows[place] + 1].is_nan())
            .collect();
        let at = |after: usize| {
            places
                .iter()
                .map(|&place| cells[pairs.rows[place] + after])
                .collect()
        };
        Steps {
            next: at(1),
            last: at(0),
            places,
        }
    }

    fn divided_by(mut self, scale: f64) -> Steps {
        if scale > 0.0 {
            for cell in self.next.iter_mut().chain(&mut self.last) {
                *cell /= scale;
            }
        }
        self
    }

    /// Sum of squared errors of guesses.
    fn error(&self, guess: impl Fn(usize) -> f64) -> f64 {
        let errors = self
            .next
            .iter()
            .enumerate()
            .map(|(at, next)| (next - guess(at)).powi(2));
        errors.sum()
    }
}

/// The line of least squares.
struct Line {
    slope: f64,
    last_mean: f64,
    next_mean: f64,
}

impl Line {
    /// Through the pairs that have both; flat where the earlier values do not vary.
    fn through(last: &[f64], next: &[f64]) -> Line {
        let (known_last, known_next): (Vec<f64>, Vec<f64>) = last
            .iter()
            .zip(next)
            .filter(|(last, _)| !last.is_nan())
            .unzip();
        let (last_mean, both_mean) = (mean(&known_last), mean(&known_next));
        let products = known_last
            .iter()
            .zip(&known_next)
            .map(|(last, next)| (last - last_mean) * (next - both_mean));
        let squares = known_last.iter().map(|last| (last - last_mean).powi(2));
        let slope = products.sum::<f64>() / squares.sum::<f64>();
        if slope.is_finite() {
            Line {
                slope,
                last_mean,
                next_mean: both_mean,
            }
        } else {
            Line {
                slope: 0.0,
                last_mean: 0.0,
                next_mean: mean(next),
            }
        }
    }

    /// The mean where the last value is missing.
    fn at(&self, last: f64) -> f64 {
        self.next_mean + self.slope * (present_or(last, self.last_mean) - self.last_mean)
    }
}

fn present_or(cell: f64, other: f64) -> f64 {
    if cell.is_nan() { other } else { cell }
}

/// NaN of nothing.
fn mean(cells: &[f64]) -> f64 {
    cells.iter().sum::<f64>() / cells.len() as f64
}

fn squares(cells: &[f64]) -> Vec<f64> {
    cells.iter().map(|cell| cell * cell).collect()
}

fn category_skill(learned: &Pairs, known: &[u32], test: &Pairs, wanted: &[u32]) -> Option<f64> {
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
    let wrong = wanted
        .iter()
        .enumerate()
        .filter(|&(row, code)| {
            let best = (0..frequent.len())
                .filter_map(|at| scores[at].as_ref().map(|scores| (at, scores[row])))
                .max_by(|left, right| left.1.total_cmp(&right.1));
            best.map(|(at, _)| frequent[at]) != Some(*code)
        })
        .count();
    Some((1.0 - wrong as f64 / constant_wrong as f64).max(-1.0))
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
