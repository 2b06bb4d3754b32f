//! Formulas between numbers, as text.
//! In: a formula and the columns there are. Out: [`Formula`], which names its inputs and computes.

use exmex::{Express, FlatEx};

/// Characters of a formula; the parser's own depth is bounded by them.
const MOST_CHARACTERS: usize = 1_000;

/// Pairs of numbers from which an input is looked for.
const STARTS: [[f64; 2]; 4] = [[1.0, 2.0], [100.0, 101.0], [-1.0, -2.0], [0.01, 0.02]];
/// Steps in which it must be found; a formula that is linear in it takes one.
const MOST_STEPS: usize = 60;

/// A formula with its inputs.
#[derive(Debug, Clone)]
pub(super) struct Formula {
    expression: FlatEx<f64>,
    /// Columns in the order in which [`Formula::value`] takes their numbers.
    pub(super) inputs: Vec<String>,
}

impl Formula {
    /// Reads a formula; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Formula, String> {
        if text.chars().count() > MOST_CHARACTERS {
            return Err(format!(
                "the formula is longer than {MOST_CHARACTERS} characters"
            ));
        }
        let expression = exmex::parse::<f64>(text).map_err(|error| error.msg().to_owned())?;
        let inputs = expression.var_names().to_vec();
        if inputs.is_empty() {
            return Err("the formula names no column".to_owned());
        }
        Ok(Formula { expression, inputs })
    }

    /// The result for numbers in the order of `inputs`; NaN where it is no finite number.
    pub(super) fn value(&self, inputs: &[f64]) -> f64 {
        let value = self.expression.eval(inputs).unwrap_or(f64::NAN);
        if value.is_finite() { value } else { f64::NAN }
    }

    /// The number of one input with which the others give a result, looked for by the secant method; none where it is
    /// not found.
    pub(super) fn solved(&self, input: usize, inputs: &[f64], result: f64) -> Option<f64> {
        let mut numbers = inputs.to_vec();
        let mut missed_by = |number: f64| {
            *numbers.get_mut(input)? = number;
            let value = self.value(&numbers);
            (!value.is_nan()).then_some(value - result)
        };
        let mut from = |start: [f64; 2]| {
            let [mut before, mut here] = start;
            let (mut missed_before, mut missed) = (missed_by(before)?, missed_by(here)?);
            for _ in 0..MOST_STEPS {
                if missed.abs() <= 4.0 * f64::EPSILON * result.abs() {
                    return Some(here);
                }
                let next = here - missed * (here - before) / (missed - missed_before);
                if !next.is_finite() {
                    break;
                }
                (before, missed_before) = (here, missed);
                (here, missed) = (next, missed_by(next)?);
            }
            (missed.abs() <= 1e-9 * result.abs()).then_some(here)
        };
        STARTS.into_iter().find_map(&mut from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_spaces_stand_in_braces() {
        let formula = Formula::parse("{unit price} * quantity - 1").expect("parses");
        let mut inputs = formula.inputs.clone();
        inputs.sort();
        assert_eq!(inputs, ["quantity", "unit price"]);
        assert_eq!(formula.value(&[3.0, 2.0]), 5.0);
    }

    #[test]
    fn what_is_no_finite_number_is_missing() {
        let formula = Formula::parse("1 / x").expect("parses");
        assert!(formula.value(&[0.0]).is_nan());
        assert!(formula.value(&[f64::NAN]).is_nan());
    }

    #[test]
    fn an_input_is_found_that_gives_the_result() {
        let solved = |text: &str, inputs: [f64; 2], result: f64| {
            let formula = Formula::parse(text).expect("parses");
            formula.solved(0, &inputs, result)
        };
        assert_eq!(solved("a + b", [0.0, 7.0], 10.0), Some(3.0));
        assert_eq!(solved("b - a", [0.0, 7.0], 7.0), Some(0.0));
        assert_eq!(solved("a * b", [0.0, 0.5], 1e9), Some(2e9));
        assert_eq!(solved("b / a", [0.0, 8.0], 0.25), Some(32.0));
        let root = solved("a^2 + b", [0.0, 1.0], 17.0).expect("4");
        assert!((root - 4.0).abs() < 1e-9, "{root}");
        assert_eq!(solved("a^2 + b", [0.0, 1.0], -17.0), None);
        assert_eq!(solved("a * b", [0.0, 0.0], 3.0), None);
    }

    #[test]
    fn a_formula_that_cannot_be_read_says_so() {
        assert!(Formula::parse("price *").is_err());
        assert!(Formula::parse("((((").is_err());
        assert_eq!(
            Formula::parse("1 + 2").err().as_deref(),
            Some("the formula names no column")
        );
        assert!(Formula::parse(&"(".repeat(100_000)).is_err());
    }
}
