//! Constraints that do not fit, contradict each other, or are broken by the data.

use crate::common::fitted;
use parsynth::{Constraint, Relation, SdType};
use polars::prelude::*;

fn data() -> DataFrame {
    df!(
        "k" => ["a", "a", "a", "b", "b"],
        "low" => [1.0, 2.0, 3.0, 4.0, 5.0],
        "high" => [2.0, 1.5, 4.0, 5.0, 4.5],
        "state" => ["new", "used", "old", "new", "used"],
        "size" => [1, 1, 1, 2, 2],
        "birth" => ["2001-01-01", "2001-01-01", "2001-01-01", "2002-02-02", "2002-02-02"],
    )
    .unwrap()
}

fn error(constraints: Vec<Constraint>) -> String {
    let columns = [
        ("low", SdType::Numerical),
        ("high", SdType::Numerical),
        ("state", SdType::Categorical),
        ("size", SdType::Numerical),
        ("birth", SdType::Datetime { format: None }),
    ];
    match fitted(&columns, None, &["size", "birth"], constraints, &data()) {
        Err(error) => error.to_string(),
        Ok(_) => "no error".to_owned(),
    }
}

#[test]
fn data_that_breaks_a_rule_is_reported_with_its_rows() {
    assert_eq!(
        error(vec![Constraint::inequality("low", "high")]),
        "constraint `low` <= `high`: 2 of the data's rows break it, first rows 1, 4; correct or drop them, or leave the constraint out"
    );
    assert!(
        error(vec![Constraint::decreasing("low")])
            .contains("3 of the data's rows break it, first rows 1, 2, 4")
    );
    assert!(error(vec![Constraint::formula("high", "low + 1")]).contains("2 of the data's rows"));
    assert!(error(vec![Constraint::last_row("state", ["old"])]).contains("first row 4"));
    assert!(error(vec![Constraint::first_row("state", ["used"])]).contains("first rows 0, 3"));
    assert!(error(vec![Constraint::constant("state")]).contains("first rows 1, 2, 4"));
    assert!(error(vec![Constraint::fixed_increments("high", 1.0)]).contains("first rows 1, 4"));
    assert!(
        error(vec![Constraint::scalar(
            "birth",
            Relation::Below,
            "2002-02-02"
        )])
        .contains("first rows 3, 4")
    );
    assert!(error(vec![Constraint::running_total("high", "low")]).contains("rows 1, 2, 4"));
}

#[test]
fn columns_that_do_not_fit_are_named_with_the_nearest() {
    assert_eq!(
        error(vec![Constraint::inequality("low", "hihg")]),
        "constraint `low` <= `hihg`: there is no column `hihg`; did you mean `high`?"
    );
    assert!(
        error(vec![Constraint::inequality("low", "state")])
            .contains("column `state` must be numerical or datetime")
    );
    assert!(
        error(vec![Constraint::inequality("low", "birth")])
            .contains("one column holds dates, the other numbers")
    );
    assert!(error(vec![Constraint::inequality("k", "low")]).contains("column `k` is made up"));
    assert!(error(vec![Constraint::inequality("low", "low")]).contains("names column `low` twice"));
    assert!(error(vec![Constraint::ordered(["low"])]).contains("at least two columns"));
    assert!(error(vec![Constraint::increasing("size")]).contains("`size` is a context column"));
    assert!(
        error(vec![Constraint::fixed_combinations(["state", "low"])])
            .contains("`low` must be categorical")
    );
    assert!(
        error(vec![Constraint::scalar("birth", Relation::AtLeast, "soon")])
            .contains("`soon` is no value of column `birth`")
    );
    assert!(
        error(vec![Constraint::scalar("low", Relation::AtLeast, f64::NAN)])
            .contains("no value of column `low`")
    );
    assert!(
        error(vec![Constraint::fixed_increments("low", 0.0)])
            .contains("wanted is a number above 0")
    );
    assert!(
        error(vec![Constraint::first_row("state", ["nwe"])])
            .contains("`nwe` is no value of column `state`")
    );
    assert!(
        error(vec![Constraint::first_row("state", Vec::<String>::new())])
            .contains("lists no value")
    );
    assert!(
        error(vec![Constraint::formula("low", "high +")])
            .starts_with("constraint `low` = high +: ")
    );
    assert!(error(vec![Constraint::formula("low", "heigh + 1")]).contains("no column `heigh`"));
    assert!(error(vec![Constraint::formula("size", "low * 2")]).contains("constant in a sequence"));
}

#[test]
fn rules_that_contradict_each_other_are_refused_with_the_reason() {
    let circle = vec![
        Constraint::inequality("low", "high"),
        Constraint::inequality("high", "low"),
    ];
    assert!(error(circle).contains("in a circle"));
    let bound = vec![
        Constraint::formula("high", "low + 1"),
        Constraint::positive("high"),
    ];
    assert!(
        error(bound)
            .contains("column `high` follows from its inputs, so `high` >= 0 cannot bind it")
    );
    let round = vec![
        Constraint::formula("high", "low + 1"),
        Constraint::formula("low", "high - 1"),
    ];
    assert!(error(round).contains("computed, by way of others, from itself"));
}
