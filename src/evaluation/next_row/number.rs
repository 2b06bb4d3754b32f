//! Numbers of the next row: the line of least squares through the row before, and trees for what it leaves.

use super::{FEWEST_PAIRS, Foretold, Pairs, TREES};
use crate::evaluation::boosting::{Goal, learn_and_predict};

/// Squared errors, as shares of the square of the largest value, below which they are the noise of floats.
const NOISE: f64 = 1e-24;

pub(super) fn foretold(
    learned: &Pairs,
    known: &[f64],
    test: &Pairs,
    wanted: &[f64],
) -> Option<Foretold> {
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
    let constant: f64 = wanted.errors(|_| centre).sum();
    let last: f64 = wanted
        .errors(|at| present_or(wanted.last[at], centre))
        .sum();
    let naive = constant.min(last);
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
    let errors = wanted.errors(|at| line.at(wanted.last[at]) + guesses[at] * spread);
    Some(Foretold {
        errors: errors.map(|error| error / naive).collect(),
        places: wanted.places,
    })
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

    /// Squared errors of guesses.
    fn errors(&self, guess: impl Fn(usize) -> f64) -> impl Iterator<Item = f64> {
        let next = self.next.iter().enumerate();
        next.map(move |(at, next)| (next - guess(at)).powi(2))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// np.polyfit([1, 2, 4], [2, 3, 6], 1) == [1.35714286, 0.5]
    #[test]
    fn the_line_is_that_of_numpy_and_stands_at_the_mean_where_cells_are_missing() {
        let line = Line::through(&[1.0, 2.0, f64::NAN, 4.0], &[2.0, 3.0, 9.0, 6.0]);
        assert!((line.at(3.0) - (3.0 * 19.0 / 14.0 + 0.5)).abs() < 1e-12);
        assert!((line.at(f64::NAN) - 11.0 / 3.0).abs() < 1e-12);
        assert_eq!(Line::through(&[5.0, 5.0], &[1.0, 3.0]).at(7.0), 2.0);
    }
}
