//! Rules from row to row.

use crate::common::{Generator, cents, fitted, numbers, sampled, sequences, texts};
use parsynth::{Constraint, ContinueOptions, SampleOptions, SdType};
use polars::prelude::*;

/// Customers sign up, are onboarded, use and leave; a meter rises, a tank empties, a balance adds up.
fn customers() -> DataFrame {
    let mut generator = Generator(7);
    let (mut keys, mut state, mut meter, mut tank) = (vec![], vec![], vec![], vec![]);
    let (mut amount, mut balance, mut spent, mut plan) = (vec![], vec![], vec![], vec![]);
    for key in 0..20 {
        let uses = 1 + generator.below(5);
        let states = ["signup", "onboarding"]
            .into_iter()
            .chain(std::iter::repeat_n("use", uses as usize))
            .chain(["leave"]);
        let (mut reading, mut level) = (f64::from(generator.below(100)), 900.0);
        let (mut total, mut all) = (cents(100.0 * generator.uniform()), 0.0);
        for (row, own) in states.enumerate() {
            reading += f64::from(generator.below(9));
            level -= 1.0 + f64::from(generator.below(20));
            let step = cents(20.0 * generator.uniform() - 10.0);
            if row > 0 {
                total = cents(total + step);
            }
            all = cents(all + step);
            keys.push(format!("customer {key}"));
            state.push(own);
            meter.push((row % 4 != 2).then_some(reading));
            tank.push(level);
            amount.push(step);
            balance.push(total);
            spent.push(all);
            plan.push(if key % 2 == 0 { "basic" } else { "pro" });
        }
    }
    df!("k" => keys, "state" => state, "meter" => meter, "tank" => tank, "balance" => balance,
        "spent" => spent, "amount" => amount, "plan" => plan)
    .unwrap()
}

fn columns() -> Vec<(&'static str, SdType)> {
    vec![
        ("state", SdType::Categorical),
        ("meter", SdType::Numerical),
        ("tank", SdType::Numerical),
        ("balance", SdType::Numerical),
        ("spent", SdType::Numerical),
        ("amount", SdType::Numerical),
        ("plan", SdType::Categorical),
    ]
}

fn rules() -> Vec<Constraint> {
    vec![
        Constraint::seen_transitions("state"),
        Constraint::first_row("state", ["signup"]),
        Constraint::last_row("state", ["leave"]),
        Constraint::increasing("meter"),
        Constraint::decreasing("tank").strict(),
        Constraint::running_total("balance", "amount"),
        Constraint::running_total("spent", "amount"),
        Constraint::constant("plan"),
        Constraint::no_repeats("amount"),
    ]
}

fn check(frame: &DataFrame) {
    let (state, plan) = (texts(frame, "state"), texts(frame, "plan"));
    let [meter, tank, balance, spent, amount] =
        ["meter", "tank", "balance", "spent", "amount"].map(|name| numbers(frame, name));
    let order = ["signup", "onboarding", "use", "leave"];
    let rank = |row: usize| {
        order
            .iter()
            .position(|state_| *state_ == state[row])
            .unwrap()
    };
    for rows in sequences(frame) {
        assert_eq!((rank(rows.start), rank(rows.end - 1)), (0, 3), "{rows:?}");
        let seen: Vec<f64> = meter[rows.clone()]
            .iter()
            .copied()
            .filter(|m| !m.is_nan())
            .collect();
        assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]), "{seen:?}");
        assert_eq!(spent[rows.start], amount[rows.start]);
        for row in rows.start + 1..rows.end {
            let next = [vec![1], vec![2], vec![2, 3], vec![]];
            assert!(
                next[rank(row - 1)].contains(&rank(row)),
                "{:?}",
                &state[rows.clone()]
            );
            assert!(tank[row] < tank[row - 1]);
            assert_eq!(balance[row], cents(balance[row - 1] + amount[row]));
            assert_eq!(spent[row], cents(spent[row - 1] + amount[row]));
            assert_eq!(plan[row], plan[row - 1]);
            assert!(amount[row] != amount[row - 1]);
        }
    }
}

#[test]
fn all_rules_between_rows_hold_at_once() {
    let data = customers();
    check(&data);
    let model = fitted(&columns(), None, &[], rules(), &data).unwrap();
    let synthetic = sampled(&model, 200);
    check(&synthetic);
    // An opening balance of its own, where the data has one.
    let (balance, amount) = (
        numbers(&synthetic, "balance"),
        numbers(&synthetic, "amount"),
    );
    assert!(
        sequences(&synthetic)
            .iter()
            .any(|rows| balance[rows.start] != amount[rows.start])
    );
}

#[test]
fn asked_for_lengths_that_rules_allow_are_met_and_others_are_an_error() {
    let model = fitted(&columns(), None, &[], rules(), &customers()).unwrap();
    let synthetic = model
        .sample_with(&SampleOptions::sequences(20).length(15).seed(1))
        .unwrap();
    assert_eq!(synthetic.height(), 20 * 15);
    check(&synthetic);
    let error = model
        .sample_with(&SampleOptions::sequences(20).length(3).seed(1))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("sequence 0: no 3 rows keep only seen transitions of `state`"),
        "{error}"
    );
}

#[test]
fn continued_sequences_keep_rules_from_their_last_given_row_on() {
    let rules: Vec<Constraint> = rules()
        .into_iter()
        .filter(|rule| {
            !matches!(
                rule,
                Constraint::LastRow { .. } | Constraint::FirstRow { .. }
            )
        })
        .collect();
    let data = customers();
    let model = fitted(&columns(), None, &[], rules, &data).unwrap();
    let history: BooleanChunked = texts(&data, "state")
        .iter()
        .map(|state| state != "leave")
        .collect();
    let history = data.filter(&history).unwrap();
    let options = ContinueOptions::steps(6).seed(3);
    let continued = model.continue_sequences_with(&history, &options).unwrap();
    let [tank, spent, amount] = ["tank", "spent", "amount"].map(|name| numbers(&continued, name));
    for rows in sequences(&continued) {
        for row in rows.start + 1..rows.end {
            assert!(tank[row] < tank[row - 1]);
            assert_eq!(spent[row], cents(spent[row - 1] + amount[row]));
        }
    }
}

#[test]
fn a_category_that_never_repeats_and_an_untrained_network_agree() {
    let data = customers();
    let letters: Vec<&str> = (0..data.height())
        .map(|row| ["a", "b", "c"][row % 3])
        .collect();
    let data = df!("k" => texts(&data, "k"), "letter" => letters).unwrap();
    let columns = [("letter", SdType::Categorical)];
    let model = fitted(
        &columns,
        None,
        &[],
        vec![Constraint::no_repeats("letter")],
        &data,
    )
    .unwrap();
    let synthetic = sampled(&model, 100);
    let letters = texts(&synthetic, "letter");
    for rows in sequences(&synthetic) {
        assert!(letters[rows].windows(2).all(|pair| pair[0] != pair[1]));
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let model = fitted(&columns(), None, &[], rules(), &customers()).unwrap();
    let options = || SampleOptions::sequences(1_100).seed(4);
    let one = model.sample_with(&options().threads(1)).unwrap();
    let two = model.sample_with(&options().threads(2)).unwrap();
    assert!(one.equals_missing(&two));
}
