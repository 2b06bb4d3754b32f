//! Formulas between numbers, as text.
//! In: a formula and the columns there are. Out: [`Formula`], which names its inputs and computes.

use exmex::{Express, FlatEx};

/// Characters of a formula; the parser's own depth is bounded by them.
const MOST_CHARACTERS: usize = 1_000;

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
