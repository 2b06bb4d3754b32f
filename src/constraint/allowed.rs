//! What a value may be before it is drawn.
//! In: the bounds, lists and exclusions of all rules on one column at one row. Out: whether a value is among them, and
//! the nearest that is.

/// Draws from the network before the nearest allowed value is taken.
const MOST_DRAWS: usize = 64;

/// One value of a sequence, as rules see it: numbers in their column's own units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    /// Not drawn yet.
    Unknown,
    Missing,
    Number(f64),
    Class(u32),
}

impl Cell {
    /// A number; NaN is missing.
    pub(crate) fn number(value: f64) -> Cell {
        if value.is_nan() {
            Cell::Missing
        } else {
            Cell::Number(value)
        }
    }
}

/// The values that the rules leave a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Allowed {
    Anything,
    /// By class, whether it is allowed.
    Classes(Vec<bool>),
    Numbers(NumberSet),
    /// The one number that follows from others; NaN is missing.
    Exactly(f64),
}

impl Allowed {
    /// Whether a class is among them.
    pub(crate) fn has_class(&self, class: usize) -> bool {
        match self {
            Allowed::Classes(classes) => classes.get(class) == Some(&true),
            Allowed::Anything | Allowed::Numbers(_) | Allowed::Exactly(_) => true,
        }
    }

    /// Whether a known cell is among them.
    pub(crate) fn contains(&self, cell: Cell) -> bool {
        match (self, cell) {
            (Allowed::Anything, _) | (_, Cell::Unknown) => true,
            (Allowed::Classes(classes), Cell::Class(class)) => {
                classes.get(class as usize).copied().unwrap_or(false)
            }
            (Allowed::Numbers(set), Cell::Number(value)) => set.contains(value),
            (Allowed::Numbers(set), Cell::Missing) => set.contains(f64::NAN),
            (Allowed::Exactly(wanted), Cell::Number(value)) => *wanted == value,
            (Allowed::Exactly(wanted), Cell::Missing) => wanted.is_nan(),
            (Allowed::Classes(_), Cell::Number(_) | Cell::Missing)
            | (Allowed::Numbers(_) | Allowed::Exactly(_), Cell::Class(_)) => false,
        }
    }
}

/// Numbers between bounds, of a list, in multiples, without one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberSet {
    low: f64,
    is_low_open: bool,
    high: f64,
    is_high_open: bool,
    any_of: Option<Vec<f64>>,
    without: Vec<f64>,
    multiples: Option<Multiples>,
    /// Whether the column holds f32, which has fewer numbers.
    is_single: bool,
}

/// The numbers `origin + k × increment`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Multiples {
    pub(super) origin: f64,
    pub(super) increment: f64,
}

impl Multiples {
    fn nearest(self, value: f64) -> f64 {
        self.origin + ((value - self.origin) / self.increment).round() * self.increment
    }

    /// A decimal multiple is met as well as f64 can.
    fn contains(self, value: f64) -> bool {
        let off = (value - self.nearest(value)).abs();
        off <= 8.0 * f64::EPSILON * value.abs().max(self.origin.abs())
    }
}

impl NumberSet {
    /// Every number.
    pub(crate) fn all() -> NumberSet {
        NumberSet {
            low: f64::NEG_INFINITY,
            is_low_open: false,
            high: f64::INFINITY,
            is_high_open: false,
            any_of: None,
            without: Vec::new(),
            multiples: None,
            is_single: false,
        }
    }

    /// No number; a missing one alone.
    pub(crate) fn none() -> NumberSet {
        NumberSet {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            ..NumberSet::all()
        }
    }

    pub(super) fn of_single(&mut self) {
        self.is_single = true;
    }

    pub(super) fn at_least(&mut self, low: f64, is_open: bool) {
        if low > self.low || (low == self.low && is_open) {
            (self.low, self.is_low_open) = (low, is_open);
        }
    }

    pub(super) fn at_most(&mut self, high: f64, is_open: bool) {
        if high < self.high || (high == self.high && is_open) {
            (self.high, self.is_high_open) = (high, is_open);
        }
    }

    /// The part between two numbers, where that leaves any; a rule counts for more than what was seen.
    pub(crate) fn within(self, low: f64, high: f64) -> NumberSet {
        let mut part = self.clone();
        part.at_least(low, false);
        part.at_most(high, false);
        let is_empty = part.low > part.high
            || part.low == part.high && (part.is_low_open || part.is_high_open);
        if is_empty { self } else { part }
    }

    pub(super) fn one_of(&mut self, values: &[f64]) {
        let values = values.iter().copied();
        self.any_of = Some(match self.any_of.take() {
            None => values.collect(),
            Some(before) => values.filter(|value| before.contains(value)).collect(),
        });
    }

    pub(super) fn without(&mut self, value: f64) {
        self.without.push(value);
    }

    pub(super) fn multiples(&mut self, multiples: Multiples) {
        self.multiples = Some(multiples);
    }

    /// Whether a number is in the set; missing (NaN) is, unless the values are listed.
    pub(crate) fn contains(&self, value: f64) -> bool {
        if value.is_nan() {
            return self.any_of.is_none();
        }
        let is_above = if self.is_low_open {
            value > self.low
        } else {
            value >= self.low
        };
        let is_below = if self.is_high_open {
            value < self.high
        } else {
            value <= self.high
        };
        is_above
            && is_below
            && !self.without.contains(&value)
            && self
                .any_of
                .as_ref()
                .is_none_or(|list| list.contains(&value))
            && self
                .multiples
                .is_none_or(|multiples| multiples.contains(value))
    }

    /// A value of the set: drawn until one is in it, else the nearest to the last draw that `snap`, the column's
    /// rounding to steps of `resolution`, leaves in it. None when there is no such value.
    pub(crate) fn draw(
        &self,
        mut draw: impl FnMut() -> f64,
        snap: impl Fn(f64) -> f64,
        resolution: f64,
    ) -> Option<f64> {
        let mut last = f64::NAN;
        for _ in 0..MOST_DRAWS {
            let value = draw();
            if self.contains(value) {
                return Some(value);
            }
            if !value.is_nan() {
                last = value;
            }
        }
        self.nearest(last, snap, resolution)
    }

    /// The value of the set nearest to one that is not in it; to the middle of the set where that is NaN.
    fn nearest(&self, value: f64, snap: impl Fn(f64) -> f64, resolution: f64) -> Option<f64> {
        let value = match (value.is_nan(), self.low.is_finite(), self.high.is_finite()) {
            (false, _, _) => value,
            (true, true, true) => f64::midpoint(self.low, self.high),
            (true, true, false) => self.low,
            (true, false, true) => self.high,
            (true, false, false) => 0.0,
        };
        if let Some(list) = &self.any_of {
            let allowed = list.iter().copied().filter(|&value| self.contains(value));
            return allowed
                .min_by(|left, right| (left - value).abs().total_cmp(&(right - value).abs()));
        }
        if self.low > self.high {
            return None;
        }
        let clamped = value.clamp(self.low, self.high);
        let near = |value: f64| match self.multiples {
            Some(multiples) => multiples.nearest(value),
            None => snap(value),
        };
        let step = self
            .multiples
            .map_or(resolution, |multiples| multiples.increment);
        let on_grid = near(clamped);
        let places = [0.0, 1.0, -1.0, 2.0, -2.0].map(|steps| near(on_grid + steps * step));
        // Off the column's grid rather than against the rule.
        let bare = if self.is_single {
            let value = single(clamped);
            [value, value.next_up(), value.next_down()].map(f64::from)
        } else {
            [clamped, clamped.next_up(), clamped.next_down()]
        };
        let is_free = self.multiples.is_none();
        places
            .into_iter()
            .chain(bare.into_iter().filter(|_| is_free))
            .find(|&value| self.contains(value))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the column's own dtype")]
fn single(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hundredths(value: f64) -> f64 {
        (value * 100.0).round() / 100.0
    }

    #[test]
    fn a_draw_outside_goes_to_the_nearest_step_inside() {
        let mut set = NumberSet::all();
        set.at_least(1.234, false);
        set.at_most(1.30, true);
        assert_eq!(set.draw(|| 0.5, hundredths, 0.01), Some(1.24));
        assert_eq!(set.draw(|| 9.0, hundredths, 0.01), Some(1.29));
        assert_eq!(set.draw(|| 1.27, hundredths, 0.01), Some(1.27));
    }

    #[test]
    fn a_set_narrower_than_the_grid_is_met_off_the_grid() {
        let mut set = NumberSet::all();
        set.at_least(1.2341, false);
        set.at_most(1.2342, false);
        assert_eq!(set.draw(|| 7.0, hundredths, 0.01), Some(1.2342));
    }

    #[test]
    fn a_strict_bound_of_an_f32_column_is_passed_by_an_f32() {
        let mut set = NumberSet::all();
        set.of_single();
        set.at_least(f64::from(1.5_f32), true);
        let value = set.draw(|| 0.0, |value| f64::from(single(value)), 0.0);
        assert_eq!(value, Some(f64::from(1.5_f32.next_up())));
    }

    #[test]
    fn bounds_that_cross_leave_no_value() {
        let mut set = NumberSet::all();
        set.at_least(2.0, false);
        set.at_most(1.0, false);
        assert_eq!(set.draw(|| 1.5, hundredths, 0.01), None);
        let mut touching = NumberSet::all();
        touching.at_least(1.0, true);
        touching.at_most(1.0, false);
        assert_eq!(touching.draw(|| 1.0, hundredths, 0.01), None);
    }

    #[test]
    fn multiples_hold_for_decimal_increments() {
        let mut set = NumberSet::all();
        set.multiples(Multiples {
            origin: 0.0,
            increment: 0.1,
        });
        set.at_least(0.25, false);
        assert!(set.contains(0.3) && set.contains(0.1 + 0.2) && !set.contains(0.35));
        let value = set.draw(|| 0.27, hundredths, 0.01).unwrap_or(f64::NAN);
        assert!((value - 0.3).abs() < 1e-12, "{value}");
    }

    #[test]
    fn missing_is_allowed_unless_values_are_listed() {
        let mut set = NumberSet::all();
        set.at_least(1.0, false);
        assert!(set.contains(f64::NAN));
        set.one_of(&[1.0, 2.0]);
        assert!(!set.contains(f64::NAN));
        assert_eq!(set.draw(|| f64::NAN, hundredths, 0.01), Some(1.0));
    }
}
