//! The sequence index: the unit it counts in, and what the calendar tells the network about a moment.
//! In: raw index values (units since the column's base). Out: index numbers, calendar features, and raw values again.

use super::number::{KnotPlacement, NumberScale};
use crate::protection::Protection;
use chrono::{Datelike, Months, NaiveDate};
use std::borrow::Cow;
use std::collections::BTreeSet;

const DAY_SECONDS: f64 = 86_400.0;
const WEEK_SECONDS: f64 = 7.0 * DAY_SECONDS;
/// The mean Gregorian year.
const YEAR_SECONDS: f64 = 365.2425 * DAY_SECONDS;
/// Starts at up to this many times of day are drawn as a time of day and a date.
const MOST_TIMES_OF_DAY: usize = 48;
/// Standard deviations from the mean index, clipped here.
pub(crate) const STANDARD_LIMIT: f64 = 4.0;

/// What a datetime column's numbers mean in time: `base + step × number` raw units since 1970.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeUnit {
    pub(crate) seconds_per_raw_unit: f64,
    pub(crate) base: i128,
    pub(crate) step: i128,
    /// The least number of steps between two moments that the column writes differently.
    pub(crate) least_gap: f64,
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "whole numbers of units; what lies beyond i128 stops at its ends"
)]
impl TimeUnit {
    fn seconds_per_unit(self) -> f64 {
        self.seconds_per_raw_unit * self.step as f64
    }

    fn raw_units_per_day(self) -> i128 {
        ((DAY_SECONDS / self.seconds_per_raw_unit).round() as i128).max(1)
    }

    fn raw(self, value: f64) -> i128 {
        let whole = value.floor();
        let part = ((value - whole) * self.step as f64).round() as i128;
        (whole as i128)
            .saturating_mul(self.step)
            .saturating_add(part)
            .saturating_add(self.base)
    }

    /// Time since midnight, in the column's steps.
    fn time_of_day(self, value: f64) -> f64 {
        self.raw(value).rem_euclid(self.raw_units_per_day()) as f64 / self.step as f64
    }

    fn date(self, value: f64) -> Option<NaiveDate> {
        let days = self.raw(value).div_euclid(self.raw_units_per_day());
        NaiveDate::from_epoch_days(i32::try_from(days).ok()?)
    }

    /// The number, near 0, at which a period that began in 1970 begins anew.
    fn origin(self, period_seconds: f64) -> f64 {
        let period = (period_seconds / self.seconds_per_raw_unit).round() as i128;
        -((self.base % period.max(1)) as f64) / self.step as f64
    }

    fn value_of_date(self, date: NaiveDate) -> f64 {
        let raw = i128::from(date.to_epoch_days()) * self.raw_units_per_day() - self.base;
        raw.div_euclid(self.step) as f64 + raw.rem_euclid(self.step) as f64 / self.step as f64
    }
}

/// Index values that all fall on one day of the month, counted in months.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MonthGrid {
    /// Day of the month, 1 to 28; none means the last day of each month.
    pub(crate) day: Option<u32>,
    /// Units since midnight.
    pub(crate) time_of_day: f64,
}

/// A period of the calendar, seen by the network through sines and cosines of its phase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cycle {
    /// In index numbers.
    pub(crate) period: f64,
    /// In index numbers, where phase 0 lies.
    pub(crate) origin: f64,
    pub(crate) harmonics: Vec<f64>,
}

/// Everything learned about the sequence index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexCodec {
    pub(crate) unit: Option<TimeUnit>,
    pub(crate) months: Option<MonthGrid>,
    /// Starts are drawn as a time of day and a date.
    pub(crate) splits_time_of_day: bool,
    pub(crate) cycles: Vec<Cycle>,
    /// Level and distribution of all index numbers.
    pub(crate) scale: NumberScale,
    /// Level and distribution of the time since the start of a sequence.
    pub(crate) elapsed: NumberScale,
    pub(crate) longest_elapsed: f64,
    /// The last index number of the table, as far as it may be told.
    pub(crate) last: f64,
    pub(crate) median_gap: f64,
    /// A good part of the sequences ends because the table's time ends.
    pub(crate) is_censored: bool,
}

impl IndexCodec {
    /// Learns from raw index values, sequence by sequence (`offsets`), each in rising order; `owners` tells whose each
    /// sequence is.
    pub(crate) fn fit(
        values: &[f64],
        offsets: &[usize],
        owners: &[u32],
        unit: Option<TimeUnit>,
        protection: Protection,
    ) -> IndexCodec {
        let months = unit.and_then(|unit| MonthGrid::fit(values, unit));
        let mut codec = IndexCodec {
            unit,
            months,
            splits_time_of_day: false,
            cycles: Vec::new(),
            scale: NumberScale::fit(&[], 0.0, KnotPlacement::Midpoints),
            elapsed: NumberScale::fit(&[], 0.0, KnotPlacement::Midpoints),
            longest_elapsed: 0.0,
            last: 0.0,
            median_gap: 0.0,
            is_censored: false,
        };
        let numbers = codec.numbers(values);
        let numbers = &*numbers;
        let sequences: Vec<&[f64]> = offsets
            .windows(2)
            .map(|ends| &numbers[ends[0]..ends[1]])
            .collect();
        let starts: Vec<f64> = offsets.windows(2).map(|ends| values[ends[0]]).collect();
        // Each list takes as much as the column, so only one lives at a time.
        codec.median_gap = {
            let gaps: Vec<f64> = sequences
                .iter()
                .flat_map(|rows| rows.windows(2).map(|pair| pair[1] - pair[0]))
                .collect();
            let count = |rows: &[f64]| rows.len().saturating_sub(1);
            let mut gaps = told(gaps, owners, &sequences, count, protection);
            gaps.retain(|gap| !gap.is_nan());
            gaps.sort_unstable_by(f64::total_cmp);
            gaps.get(gaps.len() / 2).copied().unwrap_or(0.0)
        };
        {
            let elapsed: Vec<f64> = sequences
                .iter()
                .flat_map(|rows| rows.iter().map(|v| v - rows[0]))
                .collect();
            let elapsed = told(elapsed, owners, &sequences, <[f64]>::len, protection);
            codec.longest_elapsed = elapsed.iter().copied().fold(0.0, f64::max);
            codec.elapsed = NumberScale::fit(&elapsed, 0.0, KnotPlacement::Midpoints);
        }
        let told = match protection.is_on() {
            true => {
                let owners = repeated(owners, &sequences, <[f64]>::len);
                protection.clip(numbers, &owners)
            }
            false => Cow::Borrowed(numbers),
        };
        codec.last = told.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        codec.scale = NumberScale::fit(&told, 0.0, KnotPlacement::Midpoints);
        codec.splits_time_of_day = unit.is_some_and(|unit| {
            let mut times: Vec<(f64, u32)> = starts
                .iter()
                .zip(owners)
                .map(|(&v, &owner)| (unit.time_of_day(v), owner))
                .collect();
            times.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            times.dedup();
            let mut shared = times
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| !protection.hides(same.len()));
            let is_any_shared = shared.any(|is_shared| is_shared);
            times.dedup_by_key(|(time, _)| *time);
            codec.months.is_none()
                && (2..=MOST_TIMES_OF_DAY).contains(&times.len())
                && is_any_shared
        });
        let at_end = sequences
            .iter()
            .filter(|rows| rows.last().is_some_and(|&last| codec.is_at_end(last)))
            .count();
        let share = at_end as f64 / sequences.len().max(1) as f64;
        // One sequence always holds the table's last index; that alone says nothing.
        codec.is_censored = codec.median_gap > 0.0 && at_end > 1 && (0.05..0.95).contains(&share);
        codec.cycles = codec.fit_cycles(&told);
        codec
    }

    fn fit_cycles(&self, numbers: &[f64]) -> Vec<Cycle> {
        let Some(unit) = self.unit else {
            return Vec::new();
        };
        if self.months.is_some() {
            return vec![Cycle {
                period: 12.0,
                origin: 0.0,
                harmonics: vec![1.0, 2.0],
            }];
        }
        let (first, last) = numbers
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| {
                (low.min(v), high.max(v))
            });
        let gap_seconds = self.median_gap * unit.seconds_per_unit();
        let candidates = [
            (DAY_SECONDS, 24.0, vec![1.0, 2.0, 4.0], true, 1.0),
            // With several rows a day the weekday only invites over-fitting.
            (
                WEEK_SECONDS,
                7.0,
                vec![1.0, 2.0, 3.0],
                gap_seconds >= DAY_SECONDS / 2.0,
                1.0,
            ),
            (YEAR_SECONDS, 12.0, vec![1.0, 2.0], true, 0.5),
        ];
        let mut cycles = Vec::new();
        for (seconds, cells, harmonics, applies, least_span) in candidates {
            let cycle = Cycle {
                period: seconds / unit.seconds_per_unit(),
                origin: unit.origin(seconds),
                harmonics,
            };
            let phases: BTreeSet<u64> = numbers
                .iter()
                .map(|&v| {
                    #[allow(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a cell number below 25"
                    )]
                    let cell = (cycle.phase(v) * cells).round() as u64;
                    cell
                })
                .collect();
            if applies && phases.len() > 1 && last - first >= least_span * cycle.period {
                cycles.push(cycle);
            }
        }
        cycles
    }

    /// The least gap after which the index is written differently, where no other is known.
    pub(crate) fn least_gap(&self) -> f64 {
        match (&self.months, self.unit) {
            (None, Some(unit)) => unit.least_gap,
            _ => 1.0,
        }
    }

    /// The index number of a raw value: the value itself, or its month.
    pub(crate) fn number(&self, value: f64) -> f64 {
        match (&self.months, self.unit) {
            (Some(_), Some(unit)) => unit.date(value).map_or(value, |date| {
                f64::from(date.year() * 12) + f64::from(date.month0())
            }),
            _ => value,
        }
    }

    /// The index numbers of raw values.
    pub(crate) fn numbers<'v>(&self, values: &'v [f64]) -> Cow<'v, [f64]> {
        match self.months {
            Some(_) => values.iter().map(|&value| self.number(value)).collect(),
            None => Cow::Borrowed(values),
        }
    }

    /// The raw value of an index number.
    pub(crate) fn value(&self, number: f64) -> f64 {
        match (&self.months, self.unit) {
            (Some(months), Some(unit)) => months.value(number, unit),
            _ => number,
        }
    }

    /// Units since midnight of an index number, and the number without them; 0 and the number where starts are not split.
    pub(crate) fn split(&self, number: f64) -> (f64, f64) {
        match self.unit {
            Some(unit) if self.splits_time_of_day => {
                let time = unit.time_of_day(number);
                (time, number - time)
            }
            _ => (0.0, number),
        }
    }

    /// Whether a sequence whose last index is `last` ends because the table's time ends.
    pub(crate) fn is_at_end(&self, last: f64) -> bool {
        last >= self.last - 0.5 * self.median_gap
    }

    /// Whether an index number lies past the table's last.
    pub(crate) fn is_past_end(&self, number: f64) -> bool {
        number > self.table_end()
    }

    /// The greatest index number that does not lie past the table's last.
    pub(crate) fn table_end(&self) -> f64 {
        self.last + 0.01 * self.median_gap
    }

    /// How far into its sequence a row is, as one feature.
    pub(crate) fn elapsed_feature(&self, elapsed: f64) -> f64 {
        let share = if self.longest_elapsed > 0.0 {
            (elapsed / self.longest_elapsed).min(1.0)
        } else {
            0.0
        };
        0.5 * self.elapsed.score(elapsed) + share
    }

    /// How many features [`IndexCodec::features`] writes.
    pub(crate) fn width(&self) -> usize {
        2 + self
            .cycles
            .iter()
            .map(|cycle| 2 * cycle.harmonics.len())
            .sum::<usize>()
    }

    /// The calendar features of an index number: level, score, and the phase of each cycle.
    pub(crate) fn features(&self, number: f64, mut write: impl FnMut(f64)) {
        write(
            self.scale
                .standard(number)
                .clamp(-STANDARD_LIMIT, STANDARD_LIMIT),
        );
        write(self.scale.score(number));
        for cycle in &self.cycles {
            let angle = cycle.phase(number) * std::f64::consts::TAU;
            for harmonic in &cycle.harmonics {
                write((angle * harmonic).sin());
                write((angle * harmonic).cos());
            }
        }
    }
}

/// The values as they may be told, so many of each sequence.
fn told(
    values: Vec<f64>,
    owners: &[u32],
    sequences: &[&[f64]],
    count: impl Fn(&[f64]) -> usize,
    protection: Protection,
) -> Vec<f64> {
    if !protection.is_on() {
        return values;
    }
    let owners = repeated(owners, sequences, count);
    protection.clip(&values, &owners).into_owned()
}

/// Whose each of `count` values of a sequence is.
fn repeated(owners: &[u32], sequences: &[&[f64]], count: impl Fn(&[f64]) -> usize) -> Vec<u32> {
    owners
        .iter()
        .zip(sequences)
        .flat_map(|(&owner, rows)| std::iter::repeat_n(owner, count(rows)))
        .collect()
}

impl Cycle {
    /// Share of the period gone, in 0..1.
    fn phase(&self, number: f64) -> f64 {
        (number - self.origin).rem_euclid(self.period) / self.period
    }
}

impl MonthGrid {
    /// The grid of a table whose dates all fall on one day of the month and time of day, over three months or more.
    fn fit(values: &[f64], unit: TimeUnit) -> Option<MonthGrid> {
        let time_of_day = unit.time_of_day(*values.first()?);
        if values.iter().any(|&v| unit.time_of_day(v) != time_of_day) {
            return None;
        }
        let dates: Vec<NaiveDate> = values
            .iter()
            .map(|&v| unit.date(v))
            .collect::<Option<_>>()?;
        let mut months: Vec<i32> = dates
            .iter()
            .map(|date| date.year() * 12 + date.month0() as i32)
            .collect();
        months.sort_unstable();
        months.dedup();
        if months.len() < 3 {
            return None;
        }
        let day = dates[0].day();
        if day <= 28 && dates.iter().all(|date| date.day() == day) {
            return Some(MonthGrid {
                day: Some(day),
                time_of_day,
            });
        }
        let last_of_month = |date: &NaiveDate| date.succ_opt().is_none_or(|next| next.day() == 1);
        dates.iter().all(last_of_month).then_some(MonthGrid {
            day: None,
            time_of_day,
        })
    }

    fn value(&self, number: f64, unit: TimeUnit) -> f64 {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "chrono holds years within 262,000"
        )]
        let month = number.round().clamp(-12.0 * 262_000.0, 12.0 * 262_000.0) as i32;
        let first = NaiveDate::from_ymd_opt(
            month.div_euclid(12),
            month.rem_euclid(12).unsigned_abs() + 1,
            1,
        )
        .unwrap_or(NaiveDate::MAX);
        let date = match self.day {
            Some(day) => first.with_day(day).unwrap_or(first),
            None => first
                .checked_add_months(Months::new(1))
                .and_then(|next| next.pred_opt())
                .unwrap_or(first),
        };
        unit.value_of_date(date) + self.time_of_day
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(values: &[f64], offsets: &[usize], unit: Option<TimeUnit>) -> IndexCodec {
        let owners: Vec<u32> = (0..).take(offsets.len() - 1).collect();
        IndexCodec::fit(values, offsets, &owners, unit, Protection::OFF)
    }

    const DAYS: TimeUnit = TimeUnit {
        seconds_per_raw_unit: DAY_SECONDS,
        base: 0,
        step: 1,
        least_gap: 1.0,
    };

    fn day(text: &str) -> f64 {
        DAYS.value_of_date(text.parse().expect("a date"))
    }

    #[test]
    fn monthly_dates_are_counted_in_months_and_come_back() {
        for days in [
            ["2020-01-15", "2020-02-15", "2021-12-15"],
            ["2020-01-31", "2020-02-29", "2021-02-28"],
        ] {
            let values: Vec<f64> = days.iter().map(|d| day(d)).collect();
            let codec = fit(&values, &[0, 3], Some(DAYS));
            assert!(codec.months.is_some());
            assert_eq!(codec.number(values[1]) - codec.number(values[0]), 1.0);
            for value in values {
                assert_eq!(codec.value(codec.number(value)), value);
            }
        }
    }

    #[test]
    fn hours_are_seen_in_hourly_data_and_not_in_daily_data() {
        let hourly = TimeUnit {
            seconds_per_raw_unit: 1.0,
            base: 0,
            step: 1,
            least_gap: 1.0,
        };
        let values: Vec<f64> = (0..100).map(|i| f64::from(i) * 3600.0).collect();
        let codec = fit(&values, &[0, 100], Some(hourly));
        assert_eq!(
            codec.cycles.iter().map(|c| c.period).collect::<Vec<_>>(),
            [DAY_SECONDS]
        );
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let codec = fit(&values, &[0, 100], Some(DAYS));
        assert_eq!(
            codec.cycles.iter().map(|c| c.period).collect::<Vec<_>>(),
            [7.0]
        );
    }

    #[test]
    fn sequences_that_stop_with_the_table_are_censored() {
        let early_and_late: Vec<f64> = vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0, 4.0, 3.0, 4.0];
        assert!(fit(&early_and_late, &[0, 3, 8, 10], None).is_censored);
        let one_is_last = &early_and_late[..8];
        assert!(!fit(one_is_last, &[0, 3, 8], None).is_censored);
        let all_at_end: Vec<f64> = vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0];
        assert!(!fit(&all_at_end, &[0, 3, 6], None).is_censored);
    }

    #[test]
    fn a_base_far_from_1970_leaves_the_phase_alone() {
        let plain = TimeUnit {
            seconds_per_raw_unit: 1.0,
            base: 0,
            step: 1,
            least_gap: 1.0,
        };
        let moved = TimeUnit {
            seconds_per_raw_unit: 1.0,
            base: 1_000_000,
            step: 1,
            least_gap: 1.0,
        };
        let values: Vec<f64> = (0..100)
            .map(|i| 1_000_000.0 + f64::from(i) * 3600.0)
            .collect();
        let shifted: Vec<f64> = values.iter().map(|v| v - 1_000_000.0).collect();
        let a = fit(&values, &[0, 100], Some(plain));
        let b = fit(&shifted, &[0, 100], Some(moved));
        assert!((a.cycles[0].phase(values[5]) - b.cycles[0].phase(shifted[5])).abs() < 1e-9); // f64
        assert_eq!(
            a.unit.map(|u| u.time_of_day(values[5])),
            b.unit.map(|u| u.time_of_day(shifted[5]))
        );
    }

    #[test]
    fn days_held_in_nanoseconds_are_days() {
        let nanoseconds = TimeUnit {
            seconds_per_raw_unit: 1e-9,
            base: 86_400_000_000_000 * 10_957,
            step: 86_400_000_000_000,
            least_gap: 1.0,
        };
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let codec = fit(&values, &[0, 100], Some(nanoseconds));
        assert_eq!(nanoseconds.date(31.0), "2000-02-01".parse().ok());
        assert_eq!(
            nanoseconds.value_of_date("2000-02-01".parse().expect("a date")),
            31.0
        );
        assert_eq!(
            codec.cycles.iter().map(|c| c.period).collect::<Vec<_>>(),
            [7.0]
        );
    }

    #[test]
    fn a_date_beyond_the_calendar_is_none_not_a_panic() {
        assert!(DAYS.date(1e18).is_none());
        assert!(DAYS.date(f64::NEG_INFINITY).is_none());
    }
}
