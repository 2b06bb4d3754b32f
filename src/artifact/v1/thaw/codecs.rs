//! Column codecs from frozen types to live ones, each checked.

use super::*;
use crate::codec::number::Sorted;

impl CategoryCodecV1 {
    pub(super) fn thaw(&self, place: &str) -> Result<CategoryCodec, Flaw> {
        let labels: Vec<Label> = self.labels.iter().map(LabelV1::thaw).collect();
        ensure(
            labels.windows(2).all(|pair| pair[0] < pair[1]),
            place,
            "its labels are not in order, or one is there twice",
        )?;
        ensure(
            !labels
                .iter()
                .any(|label| matches!(label, Label::Float(value) if value.is_nan())),
            place,
            "a label is NaN",
        )?;
        let codec = CategoryCodec {
            labels,
            has_missing: self.has_missing,
            has_hidden: self.has_hidden,
        };
        ensure(
            !codec.labels.is_empty() || codec.has_missing,
            place,
            "it has no class that can be drawn",
        )?;
        ensure(
            u32::try_from(codec.classes()).is_ok_and(|classes| classes < u32::MAX),
            place,
            "it has too many classes",
        )?;
        Ok(codec)
    }
}

impl LabelV1 {
    pub(super) fn thaw(&self) -> Label {
        match self {
            LabelV1::Boolean(value) => Label::Boolean(*value),
            LabelV1::Integer(value) => Label::Integer(*value),
            LabelV1::Float(value) => Label::Float(*value),
            LabelV1::Text(value) => Label::Text(value.0.clone()),
        }
    }
}

pub(super) fn finite(values: &[f64], place: &str) -> Result<(), Flaw> {
    ensure(
        values.iter().all(|value| value.is_finite()),
        place,
        "a number is NaN or infinite",
    )
}

pub(super) fn rising(values: &[f64], place: &str) -> Result<(), Flaw> {
    finite(values, place)?;
    ensure(
        values.windows(2).all(|pair| pair[0] < pair[1]),
        place,
        "values are not in order, or one is there twice",
    )
}

impl QuantileMapV1 {
    pub(super) fn thaw(&self, place: &str) -> Result<QuantileMap, Flaw> {
        finite(&self.knots, place)?;
        finite(&self.shares, place)?;
        ensure(
            self.knots.len() == self.shares.len() && self.knots.len() >= 2,
            place,
            "its distribution has fewer than two knots, or not one share for each",
        )?;
        let is_sorted = |values: &[f64]| values.windows(2).all(|pair| pair[0] <= pair[1]);
        ensure(
            is_sorted(&self.knots) && is_sorted(&self.shares),
            place,
            "its distribution is not in order",
        )?;
        ensure(
            self.shares.iter().all(|share| (0.0..=1.0).contains(share))
                && self.margin > 0.0
                && self.margin < 0.5,
            place,
            "its distribution has a share outside 0 to 1",
        )?;
        let unit = match self.unit {
            UnitV1::Plain => Unit::Plain,
            UnitV1::Count => Unit::Count,
            UnitV1::Logarithm { floor } => {
                ensure(
                    floor.is_normal() && floor > 0.0,
                    place,
                    "its logarithms have no smallest number",
                )?;
                ensure(
                    self.knots.iter().all(|knot| knot.exp().is_finite()),
                    place,
                    "a logarithm is too large",
                )?;
                Unit::Logarithm { floor }
            }
        };
        Ok(QuantileMap {
            knots: Sorted::new(self.knots.clone()),
            shares: Sorted::new(self.shares.clone()),
            margin: self.margin,
            unit,
        })
    }
}

impl NumberCodecV1 {
    pub(super) fn thaw(&self, place: &str) -> Result<NumberCodec, Flaw> {
        finite(&[self.low, self.high], place)?;
        ensure(
            self.low <= self.high,
            place,
            "its smallest value is larger than its largest",
        )?;
        rising(&self.support, place)?;
        ensure(
            self.support.len() != 1,
            place,
            "a single value is all there is",
        )?;
        rising(&self.atoms, place)?;
        let grid = self.grid.as_ref();
        let grid = grid.map(|grid| grid.thaw(place)).transpose()?;
        let ends: Vec<f64> = self
            .bins
            .iter()
            .flat_map(|bin| [bin.low, bin.high])
            .collect();
        finite(&ends, place)?;
        ensure(
            ends.is_sorted(),
            place,
            "its bins are not in order, or overlap",
        )?;
        ensure(
            self.bins.is_empty()
                || (self.atoms.is_empty() && self.support.is_empty() && self.continuous.is_none()),
            place,
            "it has bins, and other classes for its values",
        )?;
        let codec = NumberCodec {
            low: self.low,
            high: self.high,
            grid,
            support: self.support.clone(),
            has_missing: self.has_missing,
            has_same: self.has_same,
            atoms: self.atoms.clone(),
            continuous: self
                .continuous
                .as_ref()
                .map(|map| map.thaw(place))
                .transpose()?,
            bins: self
                .bins
                .iter()
                .map(|bin| Bin {
                    low: bin.low,
                    high: bin.high,
                })
                .collect(),
            is_rounded: self.is_rounded,
        };
        ensure(codec.classes() > 0, place, "it has no class")?;
        Ok(codec)
    }
}

impl GridV1 {
    pub(super) fn thaw(&self, place: &str) -> Result<Grid, Flaw> {
        ensure(
            self.decimals <= MOST_DECIMALS
                && self.first.abs() <= MOST_WHOLE
                && (1.0..=MOST_WHOLE).contains(&self.step),
            place,
            "its grid is too fine or too wide",
        )?;
        Ok(Grid {
            decimals: self.decimals,
            first: self.first,
            step: self.step,
        })
    }
}

impl NumberScaleV1 {
    pub(super) fn thaw(&self, place: &str) -> Result<NumberScale, Flaw> {
        finite(&[self.mean, self.deviation, self.change_deviation], place)?;
        ensure(
            self.deviation >= 0.0 && self.change_deviation >= 0.0,
            place,
            "a deviation is negative",
        )?;
        Ok(NumberScale {
            map: self.map.thaw(place)?,
            mean: self.mean,
            deviation: self.deviation,
            change_deviation: self.change_deviation,
        })
    }
}

impl IndexCodecV1 {
    pub(super) fn thaw(&self, schema: &Schema) -> Result<IndexCodec, Flaw> {
        let place = "sequence index";
        let wanted = schema.sequence_index().and_then(|column| {
            Some(TimeUnit {
                seconds_per_raw_unit: schema.seconds_per_raw_unit(column)?,
                base: schema.columns[column].base,
                step: schema.columns[column].step,
                least_gap: schema.columns[column].least_gap(),
            })
        });
        let unit = self.unit.as_ref().map(|unit| TimeUnit {
            seconds_per_raw_unit: unit.seconds_per_raw_unit,
            base: unit.base,
            step: unit.step,
            // The format says it, which the file has once.
            least_gap: wanted.map_or(1.0, |wanted| wanted.least_gap),
        });
        ensure(unit == wanted, place, "its unit is not its column's")?;
        let months = match (&self.months, unit) {
            (None, _) => None,
            (Some(months), Some(_)) => {
                ensure(
                    months.day.is_none_or(|day| (1..=28).contains(&day))
                        && months.time_of_day.is_finite(),
                    place,
                    "no month has such a day",
                )?;
                Some(MonthGrid {
                    day: months.day,
                    time_of_day: months.time_of_day,
                })
            }
            (Some(_), None) => return Err(invalid(place, "it counts months and is no date")),
        };
        ensure(
            !self.splits_time_of_day || (unit.is_some() && months.is_none()),
            place,
            "it has times of day and is no date-time",
        )?;
        finite(&[self.longest_elapsed, self.last, self.median_gap], place)?;
        ensure(
            self.longest_elapsed >= 0.0 && self.median_gap >= 0.0,
            place,
            "its time runs backwards",
        )?;
        ensure(
            self.cycles.len() <= MOST_CYCLES
                && self
                    .cycles
                    .iter()
                    .all(|cycle| cycle.harmonics.len() <= MOST_CYCLES),
            place,
            "its calendar has more than 64 cycles or harmonics",
        )?;
        for cycle in &self.cycles {
            finite(&[cycle.period, cycle.origin], place)?;
            finite(&cycle.harmonics, place)?;
            ensure(cycle.period > 0.0, place, "a cycle has no length")?;
        }
        Ok(IndexCodec {
            unit,
            months,
            splits_time_of_day: self.splits_time_of_day,
            cycles: self
                .cycles
                .iter()
                .map(|cycle| Cycle {
                    period: cycle.period,
                    origin: cycle.origin,
                    harmonics: cycle.harmonics.clone(),
                })
                .collect(),
            scale: self.scale.thaw(place)?,
            elapsed: self.elapsed.thaw(place)?,
            longest_elapsed: self.longest_elapsed,
            last: self.last,
            median_gap: self.median_gap,
            is_censored: self.is_censored,
        })
    }
}
