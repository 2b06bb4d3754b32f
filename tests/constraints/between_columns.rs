//! Rules within a row and with the context.

use crate::common::{Generator, cents, datetime, fitted, id, numbers, sampled, sequences, texts};
use parsynth::{Constraint, Relation, SdType};
use polars::prelude::*;

const SEQUENCES: usize = 12;
const ROWS: usize = 8;

fn keys() -> Vec<String> {
    (0..SEQUENCES)
        .flat_map(|key| std::iter::repeat_n(format!("key {key}"), ROWS))
        .collect()
}

fn dates(days: &[i32]) -> Column {
    let days: Vec<Option<i32>> = days.iter().map(|&day| Some(day)).collect();
    Column::new("dates".into(), days)
        .cast(&DataType::Date)
        .unwrap()
}

/// Prices: low, open and high to two decimals, some missing; days between the first and last date of their key.
fn prices() -> DataFrame {
    let mut generator = Generator(1);
    let rows = SEQUENCES * ROWS;
    let (mut low, mut open, mut high) = (Vec::new(), Vec::new(), Vec::new());
    let (mut first, mut last, mut days) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..rows {
        let middle = 50.0 + 40.0 * generator.uniform();
        low.push(Some(cents(middle - 3.0 * generator.uniform().powi(3))));
        open.push((generator.uniform() > 0.1).then(|| cents(middle)));
        high.push(Some(cents(middle + 3.0 * generator.uniform().powi(3))));
        let key = i32::try_from(row / ROWS).unwrap();
        let start = 18_000 + 37 * key;
        first.push(start);
        last.push(start + 20);
        days.push(
            start
                + 2 * i32::try_from(row % ROWS).unwrap()
                + i32::try_from(generator.below(2)).unwrap(),
        );
    }
    let mut frame = df!("k" => keys(), "low" => low, "open" => open, "high" => high).unwrap();
    for (name, values) in [("first", first), ("t", days), ("last", last)] {
        let column = dates(&values).with_name(name.into());
        frame.with_column(column).unwrap();
    }
    frame
}

fn price_columns() -> Vec<(&'static str, SdType)> {
    vec![
        ("low", SdType::Numerical),
        ("open", SdType::Numerical),
        ("high", SdType::Numerical),
        ("first", datetime()),
        ("t", datetime()),
        ("last", datetime()),
    ]
}

fn holds(low: &[f64], high: &[f64]) -> bool {
    low.iter()
        .zip(high)
        .all(|(low, high)| low.is_nan() || high.is_nan() || low <= high)
}

#[test]
fn low_open_high_and_dates_between_two_others_hold_in_every_row() {
    let constraints = vec![
        Constraint::range("low", "open", "high"),
        Constraint::range("first", "t", "last"),
    ];
    let model = fitted(
        &price_columns(),
        Some("t"),
        &["first", "last"],
        constraints,
        &prices(),
    )
    .unwrap();
    let synthetic = sampled(&model, 300);
    let column = |name: &str| numbers(&synthetic, name);
    assert!(synthetic.height() > 300);
    assert!(holds(&column("low"), &column("open")));
    assert!(holds(&column("open"), &column("high")));
    assert!(holds(&column("low"), &column("high")));
    assert!(holds(&column("first"), &column("t")));
    assert!(holds(&column("t"), &column("last")));
    // Prices keep their cents and are not all pressed onto the bound.
    let (low, high) = (column("low"), column("high"));
    assert!(low.iter().all(|value| cents(*value) == *value));
    let touching = low
        .iter()
        .zip(&high)
        .filter(|(low, high)| low == high)
        .count();
    assert!(touching * 2 < low.len(), "{touching} of {}", low.len());
}

#[test]
fn without_the_rule_the_same_network_breaks_it() {
    let model = fitted(
        &price_columns(),
        Some("t"),
        &["first", "last"],
        vec![],
        &prices(),
    )
    .unwrap();
    let synthetic = sampled(&model, 300);
    let column = |name: &str| numbers(&synthetic, name);
    assert!(!holds(&column("low"), &column("high")) && !holds(&column("t"), &column("last")));
}

#[test]
fn a_sequence_never_goes_past_a_date_of_its_context_whatever_is_given() {
    let constraints = vec![Constraint::inequality("t", "last")];
    let model = fitted(
        &price_columns(),
        Some("t"),
        &["first", "last"],
        constraints,
        &prices(),
    )
    .unwrap();
    // Earlier than every start that was seen: all that is left is to start there and stop.
    let given = df!("last" => [17_500, 18_100, 18_400]).unwrap();
    let last = given.column("last").unwrap().cast(&DataType::Date).unwrap();
    let given = DataFrame::new_infer_height(vec![last]).unwrap();
    let synthetic = model.sample_sequential_columns(&given).unwrap();
    assert_eq!(sequences(&synthetic).len(), 3);
    assert!(holds(
        &numbers(&synthetic, "t"),
        &numbers(&synthetic, "last")
    ));
}

#[test]
fn strict_inequalities_hold_between_dtypes_of_other_precision() {
    let mut generator = Generator(3);
    let rows = SEQUENCES * ROWS;
    let whole: Vec<i32> = (0..rows)
        .map(|_| generator.below(50).try_into().unwrap())
        .collect();
    let single: Vec<f32> = whole
        .iter()
        .map(|&value| value as f32 + 0.1 + generator.uniform() as f32)
        .collect();
    let double: Vec<f64> = single
        .iter()
        .map(|&value| f64::from(value) + 1e-3 + generator.uniform())
        .collect();
    let data =
        df!("k" => keys(), "whole" => whole, "single" => single, "double" => double).unwrap();
    let columns = [
        ("whole", SdType::Numerical),
        ("single", SdType::Numerical),
        ("double", SdType::Numerical),
    ];
    let rule = Constraint::ordered(["whole", "single", "double"]).strict();
    let model = fitted(&columns, None, &[], vec![rule], &data).unwrap();
    let synthetic = sampled(&model, 400);
    let (whole, single, double) = (
        numbers(&synthetic, "whole"),
        numbers(&synthetic, "single"),
        numbers(&synthetic, "double"),
    );
    assert!((0..whole.len()).all(|row| whole[row] < single[row] && single[row] < double[row]));
}

#[test]
fn a_date_and_a_time_of_day_compare_to_the_microsecond() {
    let rows = SEQUENCES * ROWS;
    let mut generator = Generator(8);
    let days: Vec<i32> = (0..rows)
        .map(|_| 19_000 + generator.below(90).cast_signed())
        .collect();
    let seconds: Vec<i64> = days
        .iter()
        .map(|&day| {
            i64::from(day) * 86_400_000_000 + i64::from(generator.below(86_400_000)) * 1_000 + 7
        })
        .collect();
    let stamps = Column::new("stamp".into(), seconds)
        .cast(&DataType::Datetime(TimeUnit::Microseconds, None))
        .unwrap();
    let mut data = df!("k" => keys()).unwrap();
    data.with_column(dates(&days).with_name("day".into()))
        .unwrap();
    data.with_column(stamps).unwrap();
    let columns = [("day", datetime()), ("stamp", datetime())];
    let rule = Constraint::inequality("day", "stamp");
    let model = fitted(&columns, None, &[], vec![rule], &data).unwrap();
    let synthetic = sampled(&model, 200);
    let days = numbers(&synthetic, "day");
    let stamps = synthetic.column("stamp").unwrap();
    let stamps = stamps.cast(&DataType::Int64).unwrap();
    let kept = days
        .iter()
        .zip(stamps.i64().unwrap().iter())
        .all(|(&day, stamp)| day as i64 * 86_400_000_000 <= stamp.unwrap());
    assert!(kept);
}

#[test]
fn rules_that_share_columns_hold_together() {
    let constraints = vec![
        Constraint::inequality("low", "open"),
        Constraint::inequality("open", "high").strict(),
        Constraint::scalar("high", Relation::Below, 90.0),
        Constraint::positive("low").strict(),
        Constraint::scalar("t", Relation::AtLeast, "2019-04-15"),
        Constraint::unique_index("t"),
    ];
    // Rows that keep all of it.
    let data = prices();
    let (open, high) = (numbers(&data, "open"), numbers(&data, "high"));
    let kept: BooleanChunked = (0..data.height())
        .map(|row| high[row] < 90.0 && (open[row].is_nan() || open[row] < high[row]))
        .collect();
    let data = data.filter(&kept).unwrap();
    let model = fitted(
        &price_columns(),
        Some("t"),
        &["first", "last"],
        constraints,
        &data,
    )
    .unwrap();
    let synthetic = sampled(&model, 300);
    let (low, open, high) = (
        numbers(&synthetic, "low"),
        numbers(&synthetic, "open"),
        numbers(&synthetic, "high"),
    );
    assert!(holds(&low, &open) && low.iter().all(|&low| low > 0.0));
    assert!((0..open.len()).all(|row| open[row].is_nan() || open[row] < high[row]));
    // What follows by way of a missing middle value holds as well.
    assert!((0..open.len()).all(|row| low[row] < high[row]));
    assert!(high.iter().all(|&high| high < 90.0));
    let t = numbers(&synthetic, "t");
    assert!(t.iter().all(|&t| t >= 18_001.0));
    for rows in sequences(&synthetic) {
        assert!(t[rows].windows(2).all(|pair| pair[0] < pair[1]));
    }
}

#[test]
fn only_seen_combinations_come_out_of_a_context_and_two_columns_of_the_rows() {
    let places = [
        ("France", "Paris"),
        ("France", "Lyon"),
        ("Japan", "Tokyo"),
        ("Japan", "Kobe"),
    ];
    let (mut country, mut city, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for row in 0..SEQUENCES * ROWS {
        let own = if (row / ROWS).is_multiple_of(2) { 0 } else { 2 };
        let (land, town) = places[own + row % 2];
        country.push(land);
        city.push((row % 5 > 0).then_some(town));
        open.push(town != "Kobe");
    }
    let data = df!("k" => keys(), "country" => country, "city" => city, "open" => open).unwrap();
    let columns = [
        ("country", SdType::Categorical),
        ("city", SdType::Categorical),
        ("open", SdType::Boolean),
    ];
    let rule = Constraint::fixed_combinations(["country", "city", "open"]);
    let model = fitted(&columns, None, &["country"], vec![rule], &data).unwrap();
    let synthetic = sampled(&model, 200);
    let row = |frame: &DataFrame| {
        let columns = ["country", "city", "open"].map(|name| texts(frame, name));
        (0..frame.height())
            .map(|row| columns.clone().map(|column| column[row].clone()))
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert!(row(&synthetic).is_subset(&row(&data)));
    assert!(row(&synthetic).len() > 3);
}

#[test]
fn one_hot_columns_of_numbers_and_booleans_have_one_one() {
    let mut generator = Generator(4);
    let rows = SEQUENCES * ROWS;
    let chosen: Vec<u32> = (0..rows).map(|_| generator.below(3)).collect();
    let is = |wanted: u32| {
        chosen
            .iter()
            .map(|&chosen| i32::from(chosen == wanted))
            .collect::<Vec<_>>()
    };
    let flags: Vec<bool> = chosen.iter().map(|&chosen| chosen == 2).collect();
    let data = df!("k" => keys(), "red" => is(0), "green" => is(1), "blue" => flags).unwrap();
    let columns = [
        ("red", SdType::Numerical),
        ("green", SdType::Categorical),
        ("blue", SdType::Boolean),
    ];
    let rule = Constraint::one_hot(["red", "green", "blue"]);
    let model = fitted(&columns, None, &[], vec![rule], &data).unwrap();
    let synthetic = sampled(&model, 200);
    let [red, green] = ["red", "green"].map(|name| numbers(&synthetic, name));
    let blue = numbers(&synthetic, "blue");
    assert!((0..red.len()).all(|row| red[row] + green[row] + blue[row] == 1.0));
    assert!(red.contains(&1.0) && green.contains(&1.0) && blue.contains(&1.0));
}

#[test]
fn increments_hold_for_whole_and_decimal_numbers() {
    let mut generator = Generator(6);
    let rows = SEQUENCES * ROWS;
    let wages: Vec<i64> = (0..rows)
        .map(|_| 500 * i64::from(generator.below(200)))
        .collect();
    let doses: Vec<f64> = (0..rows)
        .map(|_| 0.05 * f64::from(generator.below(900)))
        .collect();
    let data = df!("k" => keys(), "wage" => wages, "dose" => doses).unwrap();
    let columns = [("wage", SdType::Numerical), ("dose", SdType::Numerical)];
    let rules = vec![
        Constraint::fixed_increments("wage", 500.0),
        Constraint::fixed_increments("dose", 0.05),
    ];
    let model = fitted(&columns, None, &[], rules, &data).unwrap();
    let synthetic = sampled(&model, 200);
    assert!(
        numbers(&synthetic, "wage")
            .iter()
            .all(|wage| wage % 500.0 == 0.0)
    );
    let steps = numbers(&synthetic, "dose")
        .into_iter()
        .map(|dose| dose / 0.05);
    // A twentieth is no binary number: the quotient is whole to 1e-9.
    assert!(
        steps
            .into_iter()
            .all(|steps| (steps - steps.round()).abs() < 1e-9)
    );
}

#[test]
fn formulas_hold_in_any_column_order_and_chain() {
    let mut generator = Generator(2);
    let rows = SEQUENCES * ROWS;
    let price: Vec<f64> = (0..rows)
        .map(|_| cents(1.0 + 9.0 * generator.uniform()))
        .collect();
    let quantity: Vec<Option<i64>> = (0..rows)
        .map(|_| (generator.uniform() > 0.1).then(|| i64::from(1 + generator.below(9))))
        .collect();
    let net: Vec<Option<f64>> = (0..rows)
        .map(|row| quantity[row].map(|quantity| cents(price[row] * quantity as f64)))
        .collect();
    let gross: Vec<Option<f64>> = net
        .iter()
        .map(|net| net.map(|net| cents(net * 1.2)))
        .collect();
    // Results stand before what they are computed from.
    let data = df!("k" => keys(), "gross" => gross, "net value" => net, "quantity" => quantity, "price" => price).unwrap();
    let columns = [
        ("gross", SdType::Numerical),
        ("net value", SdType::Numerical),
        ("quantity", SdType::Numerical),
        ("price", SdType::Numerical),
    ];
    let rules = vec![
        Constraint::formula("gross", "{net value} * 1.2"),
        Constraint::formula("net value", "price * quantity"),
    ];
    let model = fitted(&columns, None, &[], rules, &data).unwrap();
    let synthetic = sampled(&model, 200);
    assert_eq!(synthetic.get_column_names(), data.get_column_names());
    let [gross, net, quantity, price] =
        ["gross", "net value", "quantity", "price"].map(|name| numbers(&synthetic, name));
    for row in 0..gross.len() {
        assert_eq!(net[row].is_nan(), quantity[row].is_nan(), "row {row}");
        if !net[row].is_nan() {
            assert_eq!(net[row], cents(price[row] * quantity[row]), "row {row}");
            assert_eq!(gross[row], cents(net[row] * 1.2), "row {row}");
        }
    }
    assert!(quantity.iter().any(|quantity| quantity.is_nan()));
}

#[test]
fn given_contexts_that_contradict_a_rule_are_an_error_and_others_are_completed() {
    let rows = SEQUENCES * ROWS;
    let birth: Vec<i32> = (0..rows).map(|row| 1940 + (row / ROWS) as i32).collect();
    let entry: Vec<i32> = birth.iter().map(|birth| birth + 20).collect();
    let value: Vec<f64> = (0..rows).map(|row| row as f64).collect();
    let data = df!("k" => keys(), "birth" => birth, "entry" => entry, "v" => value).unwrap();
    let columns = [
        ("birth", SdType::Numerical),
        ("entry", SdType::Numerical),
        ("v", SdType::Numerical),
    ];
    let rule = Constraint::inequality("birth", "entry").strict();
    let model = fitted(&columns, None, &["birth", "entry"], vec![rule], &data).unwrap();
    let given = df!("birth" => [1950, 1990]).unwrap();
    let synthetic = model.sample_sequential_columns(&given).unwrap();
    let (birth, entry) = (numbers(&synthetic, "birth"), numbers(&synthetic, "entry"));
    assert!(
        (0..birth.len()).all(|row| birth[row] < entry[row]),
        "past the latest entry that was seen"
    );
    let impossible = df!("birth" => [1950, 1990], "entry" => [1970, 1980]).unwrap();
    let error = model
        .sample_sequential_columns(&impossible)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "column `birth`: no value keeps `birth` < `entry` together with what was given for sequence 1; give other values, or another length"
    );
}

#[test]
fn a_table_without_key_keeps_rules_too() {
    let low: Vec<f64> = (0..60).map(|row| f64::from(row % 7)).collect();
    let high: Vec<f64> = low.iter().map(|low| low + 1.0).collect();
    let data = df!("low" => low, "high" => high).unwrap();
    let metadata = parsynth::Metadata::builder()
        .column("low", SdType::Numerical)
        .column("high", SdType::Numerical)
        .build()
        .unwrap();
    let model = parsynth::ParSynthesizer::builder(metadata)
        .constraints([Constraint::inequality("low", "high")])
        .epochs(0)
        .fit(&data)
        .unwrap();
    let synthetic = sampled(&model, 5);
    assert!(holds(
        &numbers(&synthetic, "low"),
        &numbers(&synthetic, "high")
    ));
}

/// Orders over two years, delivered 1 to 4 days later, some not yet.
fn deliveries() -> DataFrame {
    let mut generator = Generator(12);
    let (mut keys, mut ordered, mut delivered, mut paid) = (vec![], vec![], vec![], vec![]);
    for key in 0..40 {
        let mut day = 18_000 + generator.below(700).cast_signed();
        for _ in 0..6 {
            day += 1 + generator.below(20).cast_signed();
            let later = day + 1 + generator.below(4).cast_signed();
            keys.push(format!("customer {key}"));
            ordered.push(Some(day));
            delivered.push((generator.uniform() > 0.1).then_some(later));
            paid.push(Some(later + 30));
        }
    }
    let mut frame = df!("k" => keys).unwrap();
    for (name, days) in [
        ("delivered", delivered),
        ("ordered", ordered),
        ("paid", paid),
    ] {
        let column = Column::new(name.into(), days);
        frame
            .with_column(column.cast(&DataType::Date).unwrap())
            .unwrap();
    }
    frame
}

#[test]
fn a_delivery_some_days_after_its_order_stays_some_days_after_it() {
    let data = deliveries();
    // The later date stands before the earlier one.
    let columns = [
        ("delivered", datetime()),
        ("ordered", datetime()),
        ("paid", datetime()),
    ];
    let rules = vec![Constraint::range("ordered", "delivered", "paid").strict()];
    let model = fitted(&columns, Some("ordered"), &[], rules, &data).unwrap();
    let synthetic = sampled(&model, 200);
    assert_eq!(synthetic.schema(), data.schema());
    let days = |frame: &DataFrame| {
        let [ordered, delivered, paid] =
            ["ordered", "delivered", "paid"].map(|name| numbers(frame, name));
        let pairs = ordered.into_iter().zip(delivered).zip(paid);
        pairs
            .map(|((ordered, delivered), paid)| (delivered - ordered, paid - ordered))
            .collect::<Vec<_>>()
    };
    for (to_delivery, to_payment) in days(&synthetic) {
        assert!(
            to_delivery.is_nan() || (1.0..=4.0).contains(&to_delivery),
            "{to_delivery}"
        );
        assert!((31.0..=34.0).contains(&to_payment), "{to_payment}");
    }
    let missing = synthetic.column("delivered").unwrap().null_count();
    assert!(missing > 0 && missing * 4 < synthetic.height(), "{missing}");
    // Dates of real rows are likelier than the same dates a week off, and continue where they are.
    let likelihood = |frame: &DataFrame| {
        let scored = model.log_likelihood(frame).unwrap();
        let nats = scored.sequences().column("nats").unwrap().f64().unwrap();
        nats.sum().unwrap()
    };
    let mut shifted = data.clone();
    let later: Vec<Option<i32>> = numbers(&data, "paid")
        .iter()
        .map(|&day| Some(day as i32 + 7))
        .collect();
    let later = Column::new("paid".into(), later)
        .cast(&DataType::Date)
        .unwrap();
    shifted.with_column(later).unwrap();
    assert!(likelihood(&data) > likelihood(&shifted) + 100.0);
    let continued = model.continue_sequences(&data, 3).unwrap();
    for (_, to_payment) in days(&continued) {
        assert!((31.0..=34.0).contains(&to_payment), "{to_payment}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    model.save(&path).unwrap();
    let loaded = parsynth::ParSynthesizer::load(&path).unwrap();
    assert!(sampled(&loaded, 200).equals_missing(&synthetic));
}

#[test]
fn dates_of_a_row_stay_together_without_a_rule() {
    let data = deliveries();
    let columns = [
        ("delivered", datetime()),
        ("ordered", datetime()),
        ("paid", datetime()),
    ];
    let model = fitted(&columns, None, &[], vec![], &data).unwrap();
    let synthetic = sampled(&model, 200);
    let (ordered, paid) = (numbers(&synthetic, "ordered"), numbers(&synthetic, "paid"));
    let gaps = || {
        ordered
            .iter()
            .zip(&paid)
            .map(|(ordered, paid)| paid - ordered)
    };
    // Away from the last date seen, where both are kept within their range.
    let near = gaps().filter(|gap| (31.0..=34.0).contains(gap)).count();
    assert!(
        near * 100 > ordered.len() * 95,
        "{near} of {}",
        ordered.len()
    );
}

#[test]
fn values_told_by_their_distance_stay_within_the_range_seen_where_rules_allow() {
    let data = deliveries();
    let columns = [
        ("delivered", datetime()),
        ("ordered", datetime()),
        ("paid", datetime()),
    ];
    let rules = vec![Constraint::inequality("ordered", "paid")];
    let model = fitted(&columns, None, &[], rules, &data).unwrap();
    let (seen, drawn) = (
        numbers(&data, "paid"),
        numbers(&sampled(&model, 300), "paid"),
    );
    let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
    assert!(largest(&drawn) <= largest(&seen));
}

#[test]
fn a_sum_of_unrounded_numbers_is_not_rounded() {
    let data = df!(
        "k" => ["a", "a", "b", "b", "c", "c"],
        "price" => [3.0, 8.0, 5.0, 9.0, 2.0, 11.0],
        "fee" => [1.0, 4.0, 2.0, 6.0, 3.0, 5.0],
        "sum" => [4.0, 12.0, 7.0, 15.0, 5.0, 16.0],
        "total" => [3.0, 11.0, 5.0, 14.0, 2.0, 13.0],
    )
    .unwrap();
    let names = ["price", "fee", "sum", "total"];
    let mut metadata = parsynth::Metadata::builder()
        .column("k", id())
        .sequence_key("k");
    for name in names {
        metadata = metadata.column(name, SdType::Numerical);
    }
    let rules = [
        Constraint::formula("sum", "price + fee"),
        Constraint::running_total("total", "price"),
    ];
    let model = parsynth::ParSynthesizer::builder(metadata.build().unwrap())
        .constraints(rules)
        .enforce_rounding(false)
        .epochs(0)
        .seed(5)
        .fit(&data)
        .unwrap();
    let synthetic = sampled(&model, 50);
    let [price, fee, sum, total] = names.map(|name| numbers(&synthetic, name));
    assert!(price.iter().any(|price| price.fract() != 0.0));
    assert!((0..sum.len()).all(|row| (price[row] + fee[row] - sum[row]).abs() < 1e-9));
    let ranges = sequences(&synthetic);
    assert!(
        ranges
            .iter()
            .all(|rows| (total[rows.start] - price[rows.start]).abs() < 1e-9)
    );
}

#[test]
fn a_total_adds_up_amounts_as_their_dtype_holds_them() {
    let amounts: Vec<u8> = (0..60_u8).map(|row| row * 7 % 23).collect();
    let totals: Vec<i64> = amounts.iter().map(|&amount| amount.into()).collect();
    let totals = totals
        .chunks(2)
        .flat_map(|pair| [pair[0], pair[0] + pair[1]]);
    let keys: Vec<u32> = (0..60).map(|row| row / 2).collect();
    let data = df!("k" => keys, "amount" => amounts, "total" => totals.collect::<Vec<_>>());
    let mut metadata = parsynth::Metadata::builder()
        .column("k", id())
        .sequence_key("k");
    for name in ["amount", "total"] {
        metadata = metadata.column(name, SdType::Numerical);
    }
    // Amounts below 0 are drawn, which no byte holds, and fractions.
    let model = parsynth::ParSynthesizer::builder(metadata.build().unwrap())
        .constraints([Constraint::running_total("total", "amount")])
        .enforce_min_max_values(false)
        .enforce_rounding(false)
        .epochs(0)
        .seed(5)
        .fit(&data.unwrap())
        .unwrap();
    let synthetic = sampled(&model, 200);
    let [amount, total] = ["amount", "total"].map(|name| numbers(&synthetic, name));
    for rows in sequences(&synthetic) {
        let mut before = 0.0;
        for row in rows {
            assert_eq!(total[row], before + amount[row], "row {row}");
            before = total[row];
        }
    }
}
