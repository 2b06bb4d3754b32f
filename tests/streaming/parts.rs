//! Parts put together are the table.

use crate::common::{
    SEQUENCES, assert_same, cells, conditions, context, model, model_with_composite_key,
    model_with_mixed_key, model_with_personal_key, model_with_unique_rows, options, together,
};
use parsynth::{Error, ParSynthesizer, SampleOptions};
use polars::prelude::ChunkAgg;
use std::collections::HashSet;

/// Everything that options can ask for.
fn every_option() -> Vec<(&'static str, SampleOptions)> {
    let lengths = (0..SEQUENCES).map(|sequence| 1 + sequence % 4);
    vec![
        ("plain", options()),
        ("length", options().length(3)),
        ("lengths", options().lengths(lengths)),
        ("candidates", options().candidates(2)),
        ("temperature", options().temperature(0.5)),
        ("rows", SampleOptions::rows(2_500).seed(7)),
        ("few rows", SampleOptions::rows(1).seed(7)),
        ("no rows", SampleOptions::rows(0).seed(7)),
        ("row_limit", options().row_limit(2_500)),
        (
            "a first sequence that is cut",
            options().length(9).row_limit(4),
        ),
        ("no sequences", SampleOptions::sequences(0).seed(7)),
        (
            "custom constraints",
            options()
                .custom_constraint("not one row", |rows| rows.height() > 1)
                .custom_constraint("heat", |rows| {
                    let heat = rows.column("heat").unwrap().f64().unwrap();
                    heat.max().is_none_or(|most| most < 7.0)
                })
                .max_tries(1_000),
        ),
        (
            "custom constraint and row_limit",
            options()
                .custom_constraint("not one row", |rows| rows.height() > 1)
                .row_limit(2_500),
        ),
    ]
}

fn assert_parts_are_the_table(model: &ParSynthesizer, what: &str, options: &SampleOptions) {
    let whole = model.sample_with(options).unwrap();
    for (size, threads) in [(37, 3), (512, 1), (5_000, 2)] {
        let parts = model.sample_in_parts(&options.clone().threads(threads), size);
        let parts: Vec<_> = parts.unwrap().map(Result::unwrap).collect();
        if whole.height() == 0 {
            assert!(parts.is_empty(), "{what}");
            continue;
        }
        assert_same(&together(parts), &whole, &format!("{what}, {size} a part"));
    }
}

#[test]
fn parts_are_the_table_whatever_the_options_the_size_and_the_threads() {
    let model = model();
    for (what, options) in every_option() {
        assert_parts_are_the_table(&model, what, &options);
    }
}

#[test]
fn parts_are_the_table_whatever_the_key() {
    for (what, model) in [
        ("personal key", model_with_personal_key()),
        ("personal key beside a drawn column", model_with_mixed_key()),
        ("id beside a drawn column", model_with_composite_key()),
    ] {
        assert_parts_are_the_table(&model, what, &options());
    }
}

#[test]
fn personal_values_that_must_differ_do_so_across_parts() {
    let model = model_with_personal_key();
    let whole = model.sample_with(&options()).unwrap();
    let mut keys = cells(&whole, "k");
    keys.dedup();
    let different: HashSet<_> = keys.iter().collect();
    assert_eq!((keys.len(), different.len()), (SEQUENCES, SEQUENCES));

    let model = model_with_unique_rows();
    let few = SampleOptions::sequences(100).seed(7);
    assert_parts_are_the_table(&model, "unique rows", &few);
    let mails = cells(&model.sample_with(&few).unwrap(), "mail");
    let different: HashSet<_> = mails.iter().collect();
    assert_eq!(different.len(), mails.len());
}

#[test]
fn each_part_has_as_many_whole_sequences_as_asked_for() {
    let model = model();
    let parts = model.sample_in_parts(&options(), 300).unwrap();
    let sizes: Vec<usize> = parts
        .map(|part| {
            let mut keys = cells(&part.unwrap(), "k");
            keys.dedup();
            keys.len()
        })
        .collect();
    assert_eq!(sizes, [300, 300, 300, 300, 100]);
}

#[test]
fn parts_for_conditions_and_for_context_rows_are_the_table() {
    let (model, options) = (model(), SampleOptions::default().seed(7));
    let conditions = conditions();
    let whole = model
        .sample_from_conditions_with(&conditions, &options)
        .unwrap();
    let parts = model.sample_from_conditions_in_parts(&conditions, &options, 170);
    let parts = together(parts.unwrap().map(Result::unwrap));
    assert_same(&parts, &whole, "conditions");
    let mut devices = cells(&whole, "device");
    devices.retain(|device| device.as_deref() == Some("D40"));
    assert!((1..=5).contains(&devices.len()), "given, and not made up");

    let context = context();
    let whole = model
        .sample_sequential_columns_with(&context, &options)
        .unwrap();
    let parts = model.sample_sequential_columns_in_parts(&context, &options, 170);
    let parts = together(parts.unwrap().map(Result::unwrap));
    assert_same(&parts, &whole, "context rows");
    let mut keys = cells(&whole, "k");
    keys.dedup();
    assert_eq!(keys, cells(&context, "k"));
}

#[test]
fn without_a_seed_the_parts_are_of_one_table() {
    let model = model();
    model.seed_sampling(3);
    let options = SampleOptions::sequences(600);
    let whole = model.sample_with(&options).unwrap();
    model.reset_sampling();
    let parts = model.sample_in_parts(&options, 100).unwrap();
    assert_same(&together(parts.map(Result::unwrap)), &whole, "series");
}

#[test]
fn an_error_is_the_last_part() {
    let model = model();
    // The second chunk is done long before the first, and refused.
    let lengths = (0..600).map(|sequence| if sequence < 512 { 40 } else { 1 });
    let refused = SampleOptions::sequences(600)
        .lengths(lengths)
        .custom_constraint("not one row", |rows| rows.height() > 1)
        .max_tries(2)
        .threads(2);
    let mut parts = model.sample_in_parts(&refused, 512).unwrap();
    assert!(parts.next().unwrap().is_ok());
    let error = parts.next().unwrap().unwrap_err();
    assert!(matches!(error, Error::Constraint(_)), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("refused 88 of 88 sequences 2 times each, the first being sequence 512"),
        "{text}"
    );
    assert!(parts.next().is_none());
}

#[test]
fn parts_of_nothing_and_amounts_that_are_not_said_are_refused() {
    let model = model();
    let error = model.sample_in_parts(&options(), 0).unwrap_err();
    assert!(
        error.to_string().contains("`sequences_per_part` is 0"),
        "{error}"
    );
    let error = model
        .sample_in_parts(&SampleOptions::default(), 5)
        .unwrap_err();
    assert!(
        error.to_string().contains("SampleOptions::sequences(n)"),
        "{error}"
    );
}

#[test]
fn too_few_ids_are_told_before_any_is_sampled() {
    let error = model()
        .sample_in_parts(&SampleOptions::sequences(100_001), 10)
        .unwrap_err();
    // 100,000 texts of `S-[0-9]{5}`; those of the fitted table have fewer digits.
    assert_eq!(
        error.to_string(),
        "regex_format `S-[0-9]{5}` has room for 100000 new ids; 100001 are wanted"
    );
}
