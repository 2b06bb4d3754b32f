//! What the numbers of a column count, so that those of two columns can be compared.
//! In: a fitted column. Out: [`Measure`], which turns a number of one column into that of another without rounding
//! whole units, however far apart the columns' bases lie.

use super::dates::{finest_part, parse_all};
use super::read::{date_formats, is_number};
use super::{ColumnSchema, Storage};
use crate::metadata::DateFormat;

/// Base, step and unit of a column's numbers: `(base + step × number)` raw units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    base: i128,
    step: i128,
    /// Nanoseconds of a raw unit of dates; none for plain numbers.
    nanoseconds: Option<i128>,
}

impl Measure {
    /// Plain numbers.
    pub(crate) const PLAIN: Measure = Measure {
        base: 0,
        step: 1,
        nanoseconds: None,
    };

    /// Whether the numbers are moments in time.
    pub(crate) fn is_time(self) -> bool {
        self.nanoseconds.is_some()
    }

    /// A number of this column as a number of another one of the same kind.
    pub(crate) fn convert(self, number: f64, to: Measure) -> f64 {
        if self == to || !number.is_finite() {
            return number;
        }
        let (unit, to_unit) = match (self.nanoseconds, to.nanoseconds) {
            (Some(unit), Some(to_unit)) => (unit, to_unit),
            _ => (1, 1),
        };
        self.exactly(number, unit, to, to_unit).unwrap_or_else(|| {
            let raw = (self.base as f64 + self.step as f64 * number) * unit as f64;
            (raw / to_unit as f64 - to.base as f64) / to.step as f64
        })
    }

    /// None where a whole number does not hold it.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "only whole numbers below 2^53 are cast"
    )]
    fn exactly(self, number: f64, unit: i128, to: Measure, to_unit: i128) -> Option<f64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() != 0.0 || number.abs() > EXACT {
            return None;
        }
        let raw = (number as i128)
            .checked_mul(self.step)?
            .checked_add(self.base)?;
        let distance = raw
            .checked_mul(unit)?
            .checked_sub(to.base.checked_mul(to_unit)?)?;
        let step = to.step.checked_mul(to_unit)?;
        let (whole, rest) = (
            distance.div_euclid(step) as f64,
            distance.rem_euclid(step) as f64 / step as f64,
        );
        let sum = whole + rest;
        // What lies between two whole numbers stays between them: a nanosecond before midnight is the day before.
        Some(if rest > 0.0 && sum >= whole + 1.0 {
            (whole + 1.0).next_down()
        } else if rest > 0.0 && sum <= whole {
            whole.next_up()
        } else {
            sum
        })
    }
}

impl ColumnSchema {
    /// What the column's numbers count; none for a column of labels.
    pub(crate) fn measure(&self) -> Option<Measure> {
        is_number(&self.sdtype, self.role).then(|| Measure {
            base: self.base,
            step: self.step,
            nanoseconds: self.storage.unit_nanoseconds(),
        })
    }

    /// The least distance, in the column's steps, between two of its values that are written differently.
    pub(crate) fn least_gap(&self) -> f64 {
        match &self.storage {
            Storage::TextDate { format } | Storage::IntegerDate { format, .. } => {
                finest_part(format) as f64 / self.step as f64
            }
            _ => 1.0,
        }
    }

    /// A date that a text names, in the column's format or an ISO one, as a number of this measure; none for a text
    /// that is no date, and for columns that hold none.
    pub(crate) fn date(&self, text: &str) -> Option<(f64, Measure)> {
        self.measure()?.nanoseconds?;
        let base = date_formats(self).iter().find_map(|format| {
            let format = DateFormat::new(format).ok()?;
            parse_all(&[Some(text)], &format, 1).ok()?.first().copied()
        })?;
        let measure = Measure {
            base,
            step: 1,
            nanoseconds: Some(1),
        };
        Some((0.0, measure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(base: i128) -> Measure {
        Measure {
            base,
            step: 1,
            nanoseconds: Some(86_400_000_000_000),
        }
    }

    #[test]
    fn days_and_nanoseconds_compare_to_the_last_nanosecond() {
        let nanoseconds = Measure {
            base: 1_600_000_000_000_000_001,
            step: 1,
            nanoseconds: Some(1),
        };
        let number = days(0).convert(18_519.0, nanoseconds);
        assert_eq!(
            number,
            (18_519_i128 * 86_400_000_000_000 - 1_600_000_000_000_000_001) as f64
        );
        // A nanosecond short of midnight lies in the day before.
        let before = nanoseconds.convert(number - 1.0, days(0));
        assert!(before < 18_519.0 && before > 18_518.99, "{before}");
    }

    #[test]
    fn plain_numbers_of_other_bases_compare() {
        let shifted = Measure {
            base: 1 << 60,
            step: 1_000,
            nanoseconds: None,
        };
        assert_eq!(
            shifted.convert(2.0, Measure::PLAIN),
            ((1_i128 << 60) + 2_000) as f64
        );
        assert_eq!(Measure::PLAIN.convert(0.5, Measure::PLAIN), 0.5);
    }
}
