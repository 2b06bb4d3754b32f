//! Ranges of a table are its slices, whoever makes them.

use crate::common::{
    SEQUENCES, assert_same, cells, conditions, context, model, model_of_many_digits,
    model_with_composite_key, model_with_mixed_key, model_with_personal_key,
    model_with_row_ids_like, model_with_unique_rows, options, together,
};
use parsynth::{Error, ParSynthesizer, SampleOptions};
use polars::prelude::*;
use std::collections::HashSet;

/// Cuts within chunks and between them.
const CUTS: [usize; 6] = [0, 3, 512, 700, 1_299, SEQUENCES];

/// Columns whose cells do not follow from sequence and row alone where lengths are drawn.
const ROW_IDS: [&str; 2] = ["visit", "ticket"];

fn ranges(sample: impl Fn(std::ops::Range<usize>) -> DataFrame) -> DataFrame {
    together(CUTS.windows(2).map(|ends| sample(ends[0]..ends[1])))
}

fn assert_ranges_are_the_table(model: &ParSynthesizer, what: &str, options: &SampleOptions) {
    let whole = model.sample_with(options).unwrap();
    let parts = ranges(|range| {
        let options = options.clone().sequence_range(range);
        model.sample_with(&options).unwrap()
    });
    assert_same(&parts, &whole, what);
}

#[test]
fn ranges_are_the_table_where_lengths_are_said() {
    let model = model();
    let lengths = (0..SEQUENCES).map(|sequence| 1 + sequence % 4);
    for (what, options) in [
        ("length", options().length(3)),
        ("lengths", options().lengths(lengths)),
        ("candidates", options().length(2).candidates(3)),
        (
            "custom constraint",
            options()
                .length(3)
                .custom_constraint("heat", |rows| {
                    let heat = rows.column("heat").unwrap().f64().unwrap();
                    heat.max().is_none_or(|most| most < 6.0)
                })
                .max_tries(1_000),
        ),
    ] {
        assert_ranges_are_the_table(&model, what, &options);
    }
}

#[test]
fn ranges_are_the_table_where_lengths_are_drawn_but_for_ids_of_rows() {
    let model = model();
    let whole = model.sample_with(&options()).unwrap();
    let parts = ranges(|range| model.sample_with(&options().sequence_range(range)).unwrap());
    assert_same(
        &parts.drop_many(ROW_IDS),
        &whole.drop_many(ROW_IDS),
        "drawn lengths",
    );
    for column in ROW_IDS {
        // Missing in the same cells, and never twice the same.
        let (ids, wholes) = (cells(&parts, column), cells(&whole, column));
        let gaps = |ids: &[Option<String>]| ids.iter().map(Option::is_none).collect::<Vec<_>>();
        assert_eq!(gaps(&ids), gaps(&wholes), "{column}");
        let ids: Vec<String> = ids.into_iter().flatten().collect();
        assert_eq!(
            ids.iter().collect::<HashSet<_>>().len(),
            ids.len(),
            "{column}"
        );
    }
    // Whichever way it is cut.
    let all = model
        .sample_with(&options().sequence_range(0..SEQUENCES))
        .unwrap();
    assert_same(&parts, &all, "all in one range");
}

#[test]
fn ranges_are_the_table_whatever_the_key() {
    for (what, model) in [
        ("personal key", model_with_personal_key()),
        ("id beside a drawn column", model_with_composite_key()),
    ] {
        assert_ranges_are_the_table(&model, what, &options());
    }
}

#[test]
fn numbers_do_not_tell_where_a_range_was_cut_in_their_last_bit() {
    let model = model_of_many_digits();
    let options = SampleOptions::sequences(700).seed(7);
    let whole = model.sample_with(&options).unwrap();
    for range in [3..20, 511..513, 600..700] {
        let range = options.clone().sequence_range(range.start..range.end);
        let found = model.sample_with(&range).unwrap();
        let first = cells(&found, "k")[0].clone();
        let start = cells(&whole, "k").iter().position(|key| *key == first);
        let slice = whole.slice(start.unwrap() as i64, found.height());
        assert_same(&found, &slice, "many digits");
    }
}

#[test]
fn ranges_for_conditions_and_for_context_rows_are_the_table() {
    let (model, options) = (model(), SampleOptions::default().seed(7).length(2));
    let conditions = conditions();
    let whole = model
        .sample_from_conditions_with(&conditions, &options)
        .unwrap();
    let parts = ranges(|range| {
        let options = options.clone().sequence_range(range);
        model
            .sample_from_conditions_with(&conditions, &options)
            .unwrap()
    });
    assert_same(&parts, &whole, "conditions");
    let context = context();
    let whole = model
        .sample_sequential_columns_with(&context, &options)
        .unwrap();
    let parts = ranges(|range| {
        let options = options.clone().sequence_range(range);
        model
            .sample_sequential_columns_with(&context, &options)
            .unwrap()
    });
    assert_same(&parts, &whole, "context rows");
}

#[test]
fn a_range_comes_in_parts_and_its_progress_counts_its_own_sequences() {
    let model = model();
    let range = options().length(3).sequence_range(600..1_200);
    let parts = model.sample_in_parts(&range, 100).unwrap();
    let parts = together(parts.map(Result::unwrap));
    assert_same(
        &parts,
        &model.sample_with(&range).unwrap(),
        "parts of a range",
    );
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let tell = std::sync::Arc::clone(&told);
    let range = range.on_progress(move |progress| {
        let mut told = tell.lock().unwrap();
        told.push((progress.sequences, progress.sequences_wanted, progress.rows));
    });
    model.sample_with(&range).unwrap();
    assert_eq!(
        *told.lock().unwrap(),
        [(424, 600, 1_272), (600, 600, 1_800)]
    );
}

#[test]
fn an_empty_range_is_a_table_without_rows() {
    let model = model();
    let frame = model.sample_with(&options().sequence_range(9..9)).unwrap();
    assert_eq!(frame.height(), 0);
    assert_eq!(
        frame.schema(),
        model.sample_with(&options()).unwrap().schema()
    );
}

#[test]
fn ranges_that_no_one_could_put_together_are_refused() {
    let model = model();
    let refused = |options: SampleOptions| {
        let error = model.sample_with(&options).unwrap_err();
        assert!(matches!(error, Error::Option(_)), "{error}");
        error.to_string()
    };
    assert_eq!(
        refused(SampleOptions::sequences(10).sequence_range(0..5)),
        "option `sequence_range` is 0..5 without a seed, expected SampleOptions::seed(..) beside it, so that all parts are of one table"
    );
    assert_eq!(
        refused(options().sequence_range(1_000..1_301)),
        "option `sequence_range` is 1000..1301, expected an end of at most 1300, the sequences of the whole"
    );
    #[allow(clippy::reversed_empty_ranges, reason = "what is refused")]
    let reversed = refused(options().sequence_range(5..2));
    assert!(
        reversed.contains("5..2, expected a start that is not past the end"),
        "{reversed}"
    );
    for options in [SampleOptions::rows(100).seed(1), options().row_limit(100)] {
        let error = refused(options.sequence_range(0..5));
        assert!(
            error.contains("of a table that rows or row_limit ends"),
            "{error}"
        );
    }
}

#[test]
fn a_key_that_hangs_on_all_sequences_before_is_made_from_the_start_only() {
    let model = model_with_mixed_key();
    let whole = model.sample_with(&options()).unwrap();
    let first = model
        .sample_with(&options().sequence_range(0..600))
        .unwrap();
    assert_same(&first, &whole.head(Some(first.height())), "from the start");
    let error = model
        .sample_with(&options().sequence_range(600..700))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `sequence_range` is 600..700 of key `k`, `region`, whose personal values differ where `region` is the same, expected a start of 0, or a key that holds an id"
    );
}

#[test]
fn rows_that_must_differ_want_a_length() {
    let model = model_with_unique_rows();
    let options = SampleOptions::sequences(100).seed(7);
    let whole = model.sample_with(&options.clone().length(3)).unwrap();
    let late = options.clone().length(3).sequence_range(40..100);
    assert_same(
        &model.sample_with(&late).unwrap(),
        &whole.slice(120, 180),
        "unique rows",
    );
    let error = model
        .sample_with(&options.sequence_range(40..100))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("with drawn lengths and `mail`, which must differ from row to row"),
        "{error}"
    );
}

#[test]
fn ids_of_rows_that_cannot_be_numbered_apart_want_a_length() {
    let model = model_with_row_ids_like("[A-Z][0-9]", &["A1", "B2", "C3", "D4"]);
    let options = SampleOptions::sequences(100).seed(7);
    let late = model.sample_with(&options.clone().sequence_range(90..95));
    let late = cells(&late.unwrap(), "visit");
    assert_eq!(late.iter().collect::<HashSet<_>>().len(), 10);
    // 260 texts without four, two numbers a sequence.
    let options = SampleOptions::sequences(129).seed(7);
    let error = model
        .sample_with(&options.sequence_range(0..5))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("129 sequences need 2 numbers each")
            && error
                .to_string()
                .contains("room for 256 new ids; 258 are wanted"),
        "{error}"
    );
}
