//! The pairs of columns that are off most, as tables for heat maps.

use std::cmp::Reverse;

use super::super::Comparison;
use super::super::quality::{Deciles, QualityReport};
use super::{PairAxis, PairTable};
use crate::table::ComparedCells;

/// Pairs shown.
const MOST_PAIRS: usize = 6;
/// Categories of an axis, beside the pooled others and the missing ones.
const MOST_CATEGORIES: usize = 12;

pub(super) fn worst_pairs(comparison: &Comparison, quality: &QualityReport) -> Vec<PairTable> {
    let scored = quality.pairs.iter().enumerate();
    let mut scored: Vec<(f64, usize)> = scored
        .filter_map(|(place, pair)| Some((pair.plain_score?, place)))
        .collect();
    scored.sort_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    scored.truncate(MOST_PAIRS);
    let position = |name: &str| {
        comparison
            .columns
            .iter()
            .position(|column| column.name == name)
    };
    scored
        .into_iter()
        .filter_map(|(score, place)| {
            let pair = &quality.pairs[place];
            let first = Axis::of(comparison, position(&pair.first)?);
            let second = Axis::of(comparison, position(&pair.second)?);
            let shares = |side: usize| shares(&first, &second, side);
            Some(PairTable {
                score: Some(score),
                real: shares(0),
                synthetic: shares(1),
                first: first.axis,
                second: second.axis,
            })
        })
        .collect()
}

/// An axis, and of each row of the real and of the synthetic table its place on it.
struct Axis {
    axis: PairAxis,
    places: [Vec<usize>; 2],
}

impl Axis {
    fn of(comparison: &Comparison, position: usize) -> Axis {
        let column = &comparison.columns[position];
        let cells = [&comparison.real, &comparison.synthetic].map(|table| &table.columns[position]);
        let (mut labels, mut places) = match cells {
            [
                ComparedCells::Numbers(real),
                ComparedCells::Numbers(synthetic),
            ] => ranges(real, synthetic, column.is_date()),
            [real, synthetic] => categories(
                [real, synthetic].map(|cells| cells.codes().unwrap_or_default()),
                &column.labels,
            ),
        };
        let missing = labels.len();
        if places.iter().flatten().any(|&place| place >= missing) {
            labels.push("missing".to_owned());
        }
        for place in places.iter_mut().flatten() {
            *place = (*place).min(missing);
        }
        Axis {
            axis: PairAxis {
                column: column.name.clone(),
                date: column.is_date(),
                labels,
            },
            places,
        }
    }
}

/// Ranges between the deciles of the real column; missing cells have a place beyond.
fn ranges(real: &[f64], synthetic: &[f64], date: bool) -> (Vec<String>, [Vec<usize>; 2]) {
    let mut sorted: Vec<f64> = real.iter().copied().filter(|cell| !cell.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let deciles = Deciles::of(&sorted);
    let write = |number: f64| if date { day(number) } else { short(number) };
    let limits: Vec<String> = deciles.inner.iter().map(|&limit| write(limit)).collect();
    let mut labels = vec![format!("up to {}", limits[0])];
    labels.extend(
        limits
            .windows(2)
            .map(|pair| format!("{} to {}", pair[0], pair[1])),
    );
    labels.push(format!("above {}", limits[limits.len() - 1]));
    let place = |cells: &[f64]| {
        let places = cells.iter().map(|&cell| deciles.place(cell) as usize);
        places.collect::<Vec<usize>>()
    };
    (labels, [place(real), place(synthetic)])
}

/// The most frequent categories, all others in one place; missing cells have a place beyond.
fn categories(sides: [&[u32]; 2], names: &[String]) -> (Vec<String>, [Vec<usize>; 2]) {
    let mut counts = vec![0_usize; names.len()];
    for &code in sides.iter().copied().flatten() {
        if let Some(count) = counts.get_mut(code as usize) {
            *count += 1;
        }
    }
    let mut order: Vec<usize> = (0..names.len()).filter(|&code| counts[code] > 0).collect();
    order.sort_by_key(|&code| (Reverse(counts[code]), code));
    let shown = order.len().min(MOST_CATEGORIES);
    let mut place_of = vec![shown; names.len()];
    for (place, &code) in order[..shown].iter().enumerate() {
        place_of[code] = place;
    }
    let mut labels: Vec<String> = order[..shown]
        .iter()
        .map(|&code| names[code].clone())
        .collect();
    if order.len() > shown {
        labels.push("others".to_owned());
    }
    let place = |codes: &[u32]| {
        let places = codes
            .iter()
            .map(|&code| place_of.get(code as usize).copied());
        places
            .map(|place| place.unwrap_or(usize::MAX))
            .collect::<Vec<usize>>()
    };
    let places = sides.map(place);
    (labels, places)
}

fn shares(first: &Axis, second: &Axis, side: usize) -> Vec<Vec<f64>> {
    let mut counts = vec![vec![0_usize; second.axis.labels.len()]; first.axis.labels.len()];
    for (&row, &column) in first.places[side].iter().zip(&second.places[side]) {
        counts[row][column] += 1;
    }
    let rows = first.places[side].len().max(1) as f64;
    let share = |counts: Vec<usize>| {
        counts
            .into_iter()
            .map(|count| count as f64 / rows)
            .collect()
    };
    counts.into_iter().map(share).collect()
}

/// A number in about four digits.
fn short(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{number:.3e}");
    }
    let decimals = match size {
        _ if size >= 1e3 => 0,
        _ if size >= 100.0 => 1,
        _ if size >= 10.0 => 2,
        _ if size >= 1.0 => 3,
        _ => 5,
    };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A date, with the time of day where there is one; the bare number where there is no such date.
fn day(seconds: f64) -> String {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "what is beyond 64 bits is beyond any date too"
    )]
    let whole = seconds.floor() as i64;
    let Some(date) = chrono::DateTime::from_timestamp(whole, 0) else {
        return short(seconds);
    };
    let format = if whole.rem_euclid(86_400) == 0 {
        "%Y-%m-%d"
    } else {
        "%Y-%m-%d %H:%M"
    };
    date.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_read_well() {
        let numbers = [0.0, 1980.0, 0.123456, 12.5, -3.25, 1e300, 4.44e-16];
        let texts = [
            "0",
            "1980",
            "0.12346",
            "12.5",
            "-3.25",
            "1.000e300",
            "4.440e-16",
        ];
        assert_eq!(numbers.map(short), texts);
        assert_eq!(day(1_577_836_800.0), "2020-01-01");
        assert_eq!(day(1_577_840_400.5), "2020-01-01 01:00");
        assert_eq!(day(1e300), "1.000e300");
    }

    #[test]
    fn rare_categories_share_a_place_and_missing_cells_have_their_own() {
        let names: Vec<String> = (0..20).map(|name| name.to_string()).collect();
        let codes: Vec<u32> = (0..20).chain([3, 3, u32::MAX]).collect();
        let (labels, [places, _]) = categories([&codes, &[]], &names);
        assert_eq!(labels.len(), MOST_CATEGORIES + 1);
        assert_eq!(
            (labels[0].as_str(), labels[MOST_CATEGORIES].as_str()),
            ("3", "others")
        );
        assert_eq!(
            (places[3], places[19], places[22]),
            (0, MOST_CATEGORIES, usize::MAX)
        );
    }
}
