//! Missing values: a state of its own, for numbers and categories, null and NaN alike.

use crate::common::*;
use SdType::{Boolean, Categorical, Numerical};
use parsynth::{ParSynthesizer, SampleOptions, SdType};
use polars::prelude::*;

#[test]
fn columns_that_are_missing_everywhere_come_back_so() {
    let data = df!(
        "k" => [1, 1, 1, 2, 2, 2],
        "v" => [0.5, 1.5, 2.5, 3.5, 4.5, 5.5],
        "c" => ["a", "b", "a", "b", "a", "b"],
        "number" => [None::<f64>; 6],
        "category" => [None::<&str>; 6],
        "truth" => [None::<bool>; 6],
        "name" => [None::<&str>; 6],
    )
    .unwrap();
    let date = Series::full_null(
        "date".into(),
        6,
        &DataType::Datetime(TimeUnit::Nanoseconds, None),
    );
    let untyped = Series::full_null("untyped".into(), 6, &DataType::Null);
    let data = data.hstack(&[date.into(), untyped.into()]).unwrap();
    let synthesizer = keyed(&[
        ("v", Numerical),
        ("c", Categorical),
        ("number", Numerical),
        ("category", Categorical),
        ("truth", Boolean),
        ("name", id()),
        ("date", datetime()),
        ("untyped", Categorical),
    ])
    .epochs(3)
    .fit(&data)
    .unwrap();
    let synthetic = sampled(&synthesizer, 20);
    assert_eq!(shape(&synthetic), shape(&data));
    for column in synthetic.columns() {
        let wanted = match column.name().as_str() {
            "k" | "v" | "c" => 0,
            _ => synthetic.height(),
        };
        assert_eq!(column.null_count(), wanted, "{}", column.name());
    }
}

#[test]
fn cells_of_a_column_with_a_list_of_values_stay_missing_as_often() {
    // 21 values that recur all the time, far apart: they are all there are. A quarter of the cells has none.
    let value = |row: usize| (row * row % 41 * (row * row % 41) * 10) as f64;
    let data = df!(
        "k" => (0..2_400_i64).map(|row| row / 12).collect::<Vec<_>>(),
        "v" => (0..2_400).map(|row| (row % 4 != 1).then_some(value(row))).collect::<Vec<_>>(),
    )
    .unwrap();
    let synthesizer = keyed(&[("v", Numerical)]).epochs(10).fit(&data).unwrap();
    let synthetic = sampled(&synthesizer, 200);
    let column = synthetic.column("v").unwrap();
    let missing = column.null_count() as f64 / synthetic.height() as f64;
    assert!((0.15..0.35).contains(&missing), "{missing}");
    let seen: Vec<f64> = (0..41).map(|root| f64::from(root * root * 10)).collect();
    let drawn = column.f64().unwrap().iter().flatten();
    assert!(drawn.into_iter().all(|value| seen.contains(&value)));
}

#[test]
fn a_missing_context_value_is_a_state_of_its_own() {
    let data = df!(
        "k" => [1, 1, 2, 2, 3, 3, 4, 4],
        "a" => [Some(1.0), Some(1.0), None, None, Some(2.0), Some(2.0), None, None],
        "c" => [None, None, Some("x"), Some("x"), Some("y"), Some("y"), None, None],
        "v" => [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    )
    .unwrap();
    let synthesizer = keyed(&[("a", Numerical), ("c", Categorical), ("v", Numerical)])
        .context_columns(["a", "c"])
        .epochs(3)
        .fit(&data)
        .unwrap();
    let given = df!("a" => [None, Some(1.5)], "c" => [Some("x"), None]).unwrap();
    let synthetic = synthesizer.sample_sequential_columns(&given).unwrap();
    for (sequence, rows) in sequences(&synthetic, "k").into_iter().enumerate() {
        for row in rows {
            for column in ["a", "c"] {
                assert_eq!(
                    synthetic.column(column).unwrap().get(row).unwrap(),
                    given.column(column).unwrap().get(sequence).unwrap(),
                );
            }
        }
    }
}

#[test]
fn missing_cells_of_a_coded_category_are_not_a_new_category() {
    let data = df!(
        "k" => [1, 1, 1, 2, 2, 2],
        "c" => [Some(1.0), Some(2.0), None, Some(f64::NAN), Some(1.0), Some(2.0)],
        "d" => [Some(1.0), Some(2.0), Some(1.0), Some(2.0), Some(1.0), Some(2.0)],
    )
    .unwrap();
    let synthesizer = keyed(&[("c", Categorical), ("d", Categorical)])
        .epochs(5)
        .fit(&data)
        .unwrap();
    let synthetic = sampled(&synthesizer, 100);
    let missing = synthetic.column("c").unwrap().null_count();
    // A third of about 300 cells; NaN never comes out.
    assert!(missing > 0 && missing < synthetic.height());
    assert!(
        numbers(&synthetic, "c")
            .iter()
            .all(|value| [1.0, 2.0].contains(value))
    );
    assert_eq!(synthetic.column("d").unwrap().null_count(), 0);
}

#[test]
fn missing_values_neither_vanish_nor_spread() {
    let mut generator = Generator(23);
    let k: Vec<i32> = (0..40).flat_map(|sequence| [sequence; 10]).collect();
    let v: Vec<Option<f64>> = (0..400)
        .map(|_| {
            let is_missing = generator.uniform() < 0.2;
            let value = generator.normal();
            (!is_missing).then_some(value)
        })
        .collect();
    let w: Vec<f64> = (0..400).map(|_| generator.normal()).collect();
    let data = df!("k" => k, "v" => v, "w" => w).unwrap();
    let synthesizer = keyed(&[("v", Numerical), ("w", Numerical)])
        .epochs(60)
        .fit(&data)
        .unwrap();
    let synthetic = sampled(&synthesizer, 400);
    let missing =
        |frame: &DataFrame| frame.column("v").unwrap().null_count() as f64 / frame.height() as f64;
    // 4,000 draws: sampling error 0.6 points; the claim's limit is 5.
    assert!(
        (missing(&synthetic) - missing(&data)).abs() <= 0.05,
        "{}",
        missing(&synthetic)
    );
    assert_eq!(synthetic.column("w").unwrap().null_count(), 0);
}

#[test]
fn nan_counts_as_missing_and_leaves_the_mean_alone() {
    // The same two sequences ten times over: of two, one would be held out.
    let k: Vec<i32> = (0..20).flat_map(|sequence| [sequence; 2]).collect();
    let v = [Some(1.0), Some(f64::NAN), None, Some(3.0)].repeat(10);
    let data = df!("k" => k, "v" => v).unwrap();
    let synthesizer = keyed(&[("v", Numerical)]).epochs(100).fit(&data).unwrap();
    let synthetic = sampled(&synthesizer, 500);
    assert_eq!(shape(&synthetic), shape(&data));
    let missing = synthetic.column("v").unwrap().null_count() as f64 / synthetic.height() as f64;
    // Half of the cells by training; 1,000 cells: sampling error 1.6 points, the rest is for a fit of 200 steps.
    assert!((0.4..=0.6).contains(&missing), "{missing}");
    let found = numbers(&synthetic, "v");
    assert!(
        found.iter().all(|value| (1.0..=3.0).contains(value)),
        "a NaN, or out of range"
    );
    // About 500 numbers that are 1 or 3: sampling error of the mean 0.045, the rest is for a fit of 200 steps.
    assert!((mean(&found) - 2.0).abs() < 0.3, "{}", mean(&found));
}

#[test]
fn missing_cells_of_a_category_stay_a_state_through_save_and_load() {
    let data = df!(
        "k" => [1, 1, 2, 2, 3, 3],
        "c" => [Some(1.0), Some(1.0), Some(2.0), Some(2.0), None, None],
        "n" => [Some(5_i64), Some(5), None, None, Some(9), Some(9)],
        "v" => [Some(0.5), None, Some(1.5), None, None, Some(2.5)],
    )
    .unwrap();
    let fitted = keyed(&[("c", Categorical), ("n", Numerical), ("v", Numerical)])
        .context_columns(["c", "n"])
        .epochs(1)
        .fit(&data)
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.parsynth");
    fitted.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    let given = df!("c" => [None, Some(2.0), Some(1.0)], "n" => [Some(9_i64), None, Some(5)]);
    let given = given.unwrap();
    let options = SampleOptions::per_context_row().seed(2);
    let [before, after] = [&fitted, &loaded].map(|synthesizer| {
        let frame = synthesizer.sample_sequential_columns_with(&given, &options);
        frame.unwrap()
    });
    assert!(before.equals_missing(&after), "{before}\n{after}");
    for column in ["c", "n"] {
        let cells = texts(&after, column);
        let first: Vec<_> = sequences(&after, "k")
            .into_iter()
            .map(|rows| cells[rows.start].clone())
            .collect();
        assert_eq!(first, texts(&given, column), "{column}");
    }
    assert!(before.column("v").unwrap().null_count() > 0);
}
