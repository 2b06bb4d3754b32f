//! Constraints where a part of what they bind is given, filled, or chosen among candidates.

use crate::common::*;
use parsynth::SdType::{Categorical, Numerical};
use parsynth::{
    Condition, Constraint, ContinueOptions, ImputeOptions, NumericalDistribution, ParSynthesizer,
    PersonalKind, SampleOptions, SdType,
};
use polars::prelude::*;

/// Prices of thirty keys with `low <= open <= high`, three rows to eight, in two markets.
fn prices() -> DataFrame {
    let lengths: Vec<usize> = (0..30).map(|key| 3 + key % 6).collect();
    let rows: usize = lengths.iter().sum();
    let noise = noise(3 * rows);
    let low: Vec<f64> = (0..rows).map(|row| (noise[row] * 100.0).round()).collect();
    let open: Vec<f64> = (0..rows)
        .map(|row| low[row] + (noise[rows + row] * 9.0).round())
        .collect();
    let high: Vec<f64> = (0..rows)
        .map(|row| open[row] + (noise[2 * rows + row] * 9.0).round())
        .collect();
    let markets = lengths.iter().enumerate();
    let markets = markets.flat_map(|(key, &rows)| vec![["x", "y"][key % 2]; rows]);
    df!("k" => keys(&lengths), "market" => markets.collect::<Vec<_>>(), "low" => low, "open" => open, "high" => high)
        .unwrap()
}

fn fitted() -> ParSynthesizer {
    untrained(&[
        ("k", id()),
        ("market", Categorical),
        ("low", Numerical),
        ("open", Numerical),
        ("high", Numerical),
    ])
    .context_columns(["market"])
    .constraints([Constraint::ordered(["low", "open", "high"])])
    .fit(&prices())
    .unwrap()
}

/// Whether every row has all three, in order.
fn is_in_order(frame: &DataFrame) -> bool {
    let [low, open, high] = ["low", "open", "high"].map(|column| reals(frame, column));
    let is_met = |row: usize| match (low[row], open[row], high[row]) {
        (Some(low), Some(open), Some(high)) => low <= open && open <= high,
        _ => false,
    };
    (0..frame.height()).all(is_met)
}

fn without(frame: &DataFrame, column: &str, is_out: impl Fn(usize) -> bool) -> DataFrame {
    let cells = reals(frame, column).into_iter().enumerate();
    let cells: Vec<Option<f64>> = cells
        .map(|(row, cell)| cell.filter(|_| !is_out(row)))
        .collect();
    let mut changed = frame.clone();
    changed
        .with_column(Column::new(column.into(), cells))
        .unwrap();
    changed
}

#[test]
fn filled_cells_keep_the_rules_with_known_ones_before_and_after_them() {
    let (data, synthesizer) = (prices(), fitted());
    for columns in [
        ["low"].as_slice(),
        &["open"],
        &["high"],
        &["low", "open"],
        &["low", "high"],
        &["low", "open", "high"],
    ] {
        let mut given = data.clone();
        for column in columns {
            given = without(&given, column, |row| row % 2 == 0);
        }
        let options = ImputeOptions::default().seed(1);
        let filled = synthesizer.impute_with(&given, &options).unwrap();
        assert!(is_in_order(&filled), "{columns:?}");
        for column in ["low", "open", "high"] {
            let (before, after) = (reals(&given, column), reals(&filled, column));
            let mut pairs = before.iter().zip(&after);
            assert!(pairs.all(|(before, after)| before.is_none() || before == after));
        }
    }
}

#[test]
fn known_cells_that_break_a_rule_are_left_and_the_gap_is_filled_all_the_same() {
    let given = df!("k" => keys(&[2]), "market" => ["x", "x"], "low" => [90.0, 10.0], "open" => [None, Some(12.0)], "high" => [5.0, 14.0])
        .unwrap();
    let filled = fitted().impute(&given).unwrap();
    assert_eq!(nulls(&filled, "open"), 0);
    assert_eq!(filled.column("low").unwrap(), given.column("low").unwrap());
}

#[test]
fn candidates_conditions_and_ends_keep_the_rules() {
    let synthesizer = fitted();
    let conditions = [Condition::sequences(40).with("market", "y")];
    let options = SampleOptions::default().candidates(4).seed(1);
    let sampled = synthesizer
        .sample_from_conditions_with(&conditions, &options)
        .unwrap();
    assert!(is_in_order(&sampled));
    let end = ContinueOptions::to_the_end().seed(1);
    let whole = synthesizer.continue_sequences_with(&prices().head(Some(4)), &end);
    assert!(is_in_order(&whole.unwrap()));
}

#[test]
fn refused_sequences_keep_their_condition_and_their_length() {
    let synthesizer = fitted();
    let conditions = [
        Condition::sequences(20).with("market", "y"),
        Condition::sequences(20).with("market", "x"),
    ];
    let wanted: Vec<usize> = (0..40).map(|sequence| 2 + sequence % 5).collect();
    let options = SampleOptions::default()
        .lengths(wanted.clone())
        .custom_constraint("starts below the middle", |rows| {
            let first = rows.column("low").unwrap().get(0).unwrap();
            first.extract::<f64>().is_some_and(|low| low < 50.0)
        })
        .max_tries(1_000)
        .seed(1);
    let sampled = synthesizer
        .sample_from_conditions_with(&conditions, &options)
        .unwrap();
    assert_eq!(lengths(&sampled), wanted);
    let markets = first_texts(&sampled, "market");
    assert!(
        markets[..20]
            .iter()
            .all(|market| market.as_deref() == Some("y"))
    );
    assert!(
        markets[20..]
            .iter()
            .all(|market| market.as_deref() == Some("x"))
    );
    let low = reals(&sampled, "low");
    let starts = sequences(&sampled).into_iter();
    assert!(
        starts
            .map(|rows| low[rows.start])
            .all(|low| low < Some(50.0))
    );
}

#[test]
fn personal_data_is_made_up_where_a_condition_gives_none_and_stays_missing_where_it_is() {
    let data = df!(
        "k" => keys(&[2; 6]),
        "mail" => (0..12).map(|row| (row / 2 != 5).then(|| format!("person{}@example.org", row / 2))).collect::<Vec<_>>(),
        "v" => noise(12),
    )
    .unwrap();
    let mail = SdType::Personal {
        kind: PersonalKind::Email,
        pii: true,
    };
    let synthesizer = untrained(&[("k", id()), ("mail", mail), ("v", Numerical)])
        .context_columns(["mail"])
        .fit(&data)
        .unwrap();
    let conditions = [
        Condition::sequences(2).with("mail", "mine@example.org"),
        Condition::sequences(20),
    ];
    let mails = first_texts(
        &synthesizer.sample_from_conditions(&conditions).unwrap(),
        "mail",
    );
    let is_mine = |mail: &Option<String>| mail.as_deref() == Some("mine@example.org");
    assert!(mails[..2].iter().all(is_mine));
    assert!(!mails[2..].iter().any(is_mine));
    assert!(mails[2..].iter().flatten().count() > 5);
    // What is nobody's to guess is left alone.
    assert!(synthesizer.impute(&data).unwrap().equals_missing(&data));
    let mail = ImputeOptions::default().columns(["mail"]);
    let told = synthesizer
        .impute_with(&data, &mail)
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("`mail`, a context column of sdtype email"),
        "{told}"
    );
}

#[test]
fn columns_learned_in_bins_are_filled_too() {
    let data = prices();
    let synthesizer = untrained(&[
        ("k", id()),
        ("market", Categorical),
        ("low", Numerical),
        ("open", Numerical),
        ("high", Numerical),
    ])
    .numerical_distribution("low", NumericalDistribution::Bins(8))
    .fit(&data)
    .unwrap();
    let given = without(&data, "low", |row| row % 3 == 0);
    let filled = synthesizer.impute(&given).unwrap();
    assert_eq!(nulls(&filled, "low"), 0);
}
