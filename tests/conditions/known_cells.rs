//! Missing cells that follow from known ones, or that known ones further on bind.

use crate::common::*;
use parsynth::SdType::{Categorical, Numerical};
use parsynth::{Constraint, ImputeOptions, ParSynthesizer};
use polars::prelude::*;

/// Twenty keys of six rows: goods and freight make a sum, goods add up to a total, a level rises, a phase moves on.
fn orders() -> DataFrame {
    let lengths = [6; 20];
    let noise = noise(240);
    let goods: Vec<i64> = (0..120).map(|row| (noise[row] * 20.0) as i64).collect();
    let freight: Vec<u8> = (120..240).map(|row| (noise[row] * 20.0) as u8).collect();
    let sum: Vec<f64> = (0..120)
        .map(|row| goods[row] as f64 + f64::from(freight[row]))
        .collect();
    let before = |row: usize| goods[row - row % 6..=row].iter().sum::<i64>();
    let total: Vec<i64> = (0..120).map(before).collect();
    let mut level: Vec<i64> = (0..120)
        .map(|row| (noise[row] * 1e4) as i64 % 997)
        .collect();
    level.chunks_mut(6).for_each(<[i64]>::sort_unstable);
    let place = |row: usize| (row % 6).saturating_sub(row / 6 % 3) / 2;
    let phase: Vec<&str> = (0..120).map(|row| ["a", "b", "c"][place(row)]).collect();
    df!("k" => keys(&lengths), "sum" => sum, "goods" => goods, "freight" => freight, "total" => total, "level" => level, "phase" => phase)
        .unwrap()
}

fn fitted(orders: &DataFrame) -> ParSynthesizer {
    let mut columns = vec![("k", id())];
    columns.extend(["sum", "goods", "freight", "total", "level"].map(|name| (name, Numerical)));
    columns.push(("phase", Categorical));
    let rules = [
        Constraint::formula("sum", "goods + freight"),
        Constraint::running_total("total", "goods"),
        Constraint::increasing("level"),
        Constraint::seen_transitions("phase"),
    ];
    untrained(&columns).constraints(rules).fit(orders).unwrap()
}

/// A copy in which cells are missing, column by column, by row.
fn punched(
    frame: &DataFrame,
    columns: &[&str],
    is_out: impl Fn(usize, usize) -> bool,
) -> DataFrame {
    let mut changed = frame.clone();
    for (at, name) in columns.iter().enumerate() {
        let cells = frame.column(name).unwrap().as_materialized_series().clone();
        let kept: BooleanChunked = (0..frame.height())
            .map(|row| Some(!is_out(at, row)))
            .collect();
        let none = Series::full_null(cells.name().clone(), cells.len(), cells.dtype());
        let cells = cells.zip_with(&kept, &none).unwrap();
        changed.with_column(cells.into()).unwrap();
    }
    changed
}

fn filled(synthesizer: &ParSynthesizer, frame: &DataFrame) -> DataFrame {
    let options = ImputeOptions::default().seed(3).candidates(2).threads(1);
    synthesizer.impute_with(frame, &options).unwrap()
}

fn assert_sums(frame: &DataFrame) {
    let [sum, goods, freight] = ["sum", "goods", "freight"].map(|column| wholes(frame, column));
    for row in 0..sum.len() {
        assert_eq!(sum[row], goods[row] + freight[row], "row {row}");
    }
}

fn assert_totals(frame: &DataFrame) {
    let [total, goods] = ["total", "goods"].map(|column| wholes(frame, column));
    for row in 0..total.len() {
        let before = if row % 6 == 0 { 0 } else { total[row - 1] };
        assert_eq!(total[row], before + goods[row], "row {row}");
    }
}

#[test]
fn a_missing_input_makes_up_the_known_sum() {
    let orders = orders();
    let synthesizer = fitted(&orders);
    let holes = punched(&orders, &["freight", "total"], |at, row| {
        at == 1 || row % 2 == 0
    });
    assert_sums(&filled(&synthesizer, &holes));
    let holes = punched(&orders, &["goods", "total"], |at, row| {
        at == 1 || row % 2 == 0
    });
    assert_sums(&filled(&synthesizer, &holes));
}

#[test]
fn two_missing_inputs_make_up_the_known_sum_within_their_dtypes() {
    let orders = orders();
    let holes = punched(&orders, &["goods", "freight", "total"], |_, _| true);
    assert_sums(&filled(&fitted(&orders), &holes));
}

#[test]
fn missing_totals_and_amounts_lead_to_the_totals_known_after_them() {
    let orders = orders();
    let synthesizer = fitted(&orders);
    let columns = ["total", "goods", "sum"];
    // The first total is missing, and then every other; the amounts of single rows, and of their neighbours.
    let holes = punched(&orders, &columns, |at, row| match at {
        0 => row % 2 == 0,
        1 => row % 3 == 0,
        _ => true,
    });
    let complete = filled(&synthesizer, &holes);
    assert_totals(&complete);
    assert_sums(&complete);
    let holes = punched(&orders, &columns, |at, row| {
        at == 2 || at == 0 && row % 6 < 5
    });
    let complete = filled(&synthesizer, &holes);
    assert_eq!(wholes(&complete, "total"), wholes(&orders, "total"));
}

#[test]
fn what_rises_and_what_moves_on_meets_what_is_known_further_on() {
    let orders = orders();
    let holes = punched(&orders, &["level", "phase"], |_, row| {
        !(row % 6 == 0 || row % 6 == 4)
    });
    let complete = filled(&fitted(&orders), &holes);
    let level = wholes(&complete, "level");
    let phase = texts(&complete, "phase");
    for row in (0..120).filter(|row| row % 6 > 0) {
        assert!(level[row - 1] <= level[row], "row {row}: {level:?}");
        let pair = [&phase[row - 1], &phase[row]].map(|phase| phase.clone().unwrap());
        let next = ["aa", "ab", "bb", "bc", "cc"].contains(&pair.concat().as_str());
        assert!(next, "row {row}: {pair:?}");
    }
}

#[test]
fn a_missing_birth_lies_before_the_visits_that_are_known() {
    let born: Vec<i32> = (0..40).map(|key| key * 100).collect();
    let visits: Vec<i32> = born.iter().map(|birth| birth + 5).collect();
    let table = df!("k" => keys(&[1; 40]), "birth" => dates(&born), "t" => dates(&visits));
    let table = table.unwrap();
    let columns = [("k", id()), ("birth", datetime()), ("t", datetime())];
    let fit = untrained(&columns).context_columns(["birth"]);
    let fit = fit.constraints([Constraint::inequality("birth", "t")]);
    let synthesizer = fit.fit(&table).unwrap();
    let complete = filled(&synthesizer, &punched(&table, &["birth"], |_, _| true));
    let days = ["birth", "t"].map(|column| wholes(&complete, column));
    for (birth, visit) in days[0].iter().zip(&days[1]) {
        assert!(birth <= visit, "{birth} {visit}");
    }
}
