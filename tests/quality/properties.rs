//! Whatever the table, a sample looks like it; whatever the input, what is wrong is an error.

use crate::common::*;
use parsynth::{Error, ParSynthesizer, SampleOptions, SdType, TableError};
use polars::prelude::*;
use proptest::prelude::*;

const TEXTS: [&str; 8] = [
    "",
    "a",
    "Zürich",
    "日本語",
    "🙂 two words",
    "a,\"b\"\n",
    "007",
    "(length)",
];

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// A whole number of this many bits, signed or not, over all its range.
    Whole {
        bits: u8,
        is_signed: bool,
    },
    /// Near the end of what 64 bits hold.
    Huge {
        is_signed: bool,
    },
    Float32,
    Float64,
    /// Over the whole range of exponents, with NaN among the missing.
    WildFloat,
    Boolean,
    Text,
    Categorical,
    Date,
    Datetime {
        unit: TimeUnit,
        has_zone: bool,
    },
}

#[derive(Debug, Clone)]
struct ColumnPlan {
    kind: Kind,
    is_category: bool,
    is_context: bool,
    is_constant: bool,
    /// Of four cells, how many are missing.
    missing: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Key {
    None,
    Whole,
    NearTheEnd,
    Text,
}

#[derive(Debug, Clone)]
struct TablePlan {
    lengths: Vec<usize>,
    key: Key,
    index: Option<Kind>,
    columns: Vec<ColumnPlan>,
    is_shuffled: bool,
    epochs: usize,
    seed: u64,
}

fn kinds() -> impl Strategy<Value = Kind> {
    let units = [
        TimeUnit::Nanoseconds,
        TimeUnit::Microseconds,
        TimeUnit::Milliseconds,
    ];
    let mut kinds = vec![
        Kind::Float32,
        Kind::Float64,
        Kind::WildFloat,
        Kind::Boolean,
        Kind::Text,
        Kind::Categorical,
    ];
    kinds.push(Kind::Date);
    for is_signed in [false, true] {
        kinds.extend([8, 16, 32, 64].map(|bits| Kind::Whole { bits, is_signed }));
        kinds.push(Kind::Huge { is_signed });
        kinds.extend(units.map(|unit| Kind::Datetime {
            unit,
            has_zone: is_signed,
        }));
    }
    prop::sample::select(kinds)
}

fn column_plans() -> impl Strategy<Value = ColumnPlan> {
    (
        kinds(),
        any::<bool>(),
        prop::bool::weighted(0.25),
        prop::bool::weighted(0.2),
        0_u8..=4,
    )
        .prop_map(
            |(kind, is_category, is_context, is_constant, missing)| ColumnPlan {
                kind,
                is_category,
                is_context,
                is_constant,
                missing: if missing == 4 { 4 } else { missing / 2 },
            },
        )
}

fn table_plans() -> impl Strategy<Value = TablePlan> {
    let keys = prop::sample::select(vec![Key::None, Key::Whole, Key::NearTheEnd, Key::Text]);
    let indices = prop::option::of(kinds().prop_filter(
        "an index is ordered and is not wild",
        |kind| {
            !matches!(
                kind,
                Kind::Boolean | Kind::Text | Kind::Categorical | Kind::WildFloat
            )
        },
    ));
    (
        prop::collection::vec(1_usize..7, 1..6),
        keys,
        indices,
        prop::collection::vec(column_plans(), 0..5),
        any::<bool>(),
        0_usize..2,
        any::<u64>(),
    )
        .prop_map(
            |(lengths, key, index, columns, is_shuffled, epochs, seed)| TablePlan {
                lengths,
                key,
                // A table of one column and no key is allowed, but there must be a column.
                index: index.or((columns.is_empty() && key == Key::None).then_some(Kind::Date)),
                columns,
                is_shuffled,
                epochs,
                seed,
            },
        )
}

/// A column of some kind; `None` is missing. Draws lie on `0.0..1.0`.
fn series(name: &str, kind: Kind, draws: &[Option<f64>]) -> Series {
    let wholes = |low: f64, width: f64| -> Vec<Option<i64>> {
        draws
            .iter()
            .map(|draw| draw.map(|draw| (low + draw * width).floor() as i64))
            .collect()
    };
    let reals = |real: &dyn Fn(f64) -> f64| -> Vec<Option<f64>> {
        draws.iter().map(|draw| draw.map(real)).collect()
    };
    let texts = || -> Vec<Option<&str>> {
        draws
            .iter()
            .map(|draw| draw.map(|draw| TEXTS[(draw * TEXTS.len() as f64) as usize]))
            .collect()
    };
    let name = PlSmallStr::from(name);
    let (series, dtype) = match kind {
        Kind::Whole { bits, is_signed } => {
            let (dtypes, low) = if is_signed {
                (
                    [
                        DataType::Int8,
                        DataType::Int16,
                        DataType::Int32,
                        DataType::Int64,
                    ],
                    -0.5,
                )
            } else {
                (
                    [
                        DataType::UInt8,
                        DataType::UInt16,
                        DataType::UInt32,
                        DataType::UInt64,
                    ],
                    0.0,
                )
            };
            // 2^40 stands for 64 bits here; `Huge` goes to the end.
            let width = 2_f64.powi(i32::from(bits).min(40));
            let dtype = dtypes[bits.ilog2() as usize - 3].clone();
            (Series::new(name, wholes(low * width, width)), dtype)
        }
        Kind::Huge { is_signed: true } => {
            let near = |draw: f64| {
                let distance = (draw * 500.0) as i64;
                if distance % 2 == 0 {
                    i64::MAX - distance
                } else {
                    i64::MIN + distance
                }
            };
            let cells: Vec<Option<i64>> = draws.iter().map(|draw| draw.map(near)).collect();
            (Series::new(name, cells), DataType::Int64)
        }
        Kind::Huge { is_signed: false } => {
            let cells: Vec<Option<u64>> = draws
                .iter()
                .map(|draw| draw.map(|draw| u64::MAX - (draw * 500.0) as u64))
                .collect();
            (Series::new(name, cells), DataType::UInt64)
        }
        Kind::Float32 => (
            Series::new(name, reals(&|draw| (draw - 0.5) * 7.0)),
            DataType::Float32,
        ),
        Kind::Float64 => (
            Series::new(name, reals(&|draw| (draw * 400.0).round() / 100.0)),
            DataType::Float64,
        ),
        Kind::WildFloat => {
            let cells: Vec<Option<f64>> = draws
                .iter()
                .enumerate()
                .map(|(row, draw)| match draw {
                    None if row % 2 == 0 => Some(f64::NAN),
                    None => None,
                    Some(draw) => {
                        let size = 10_f64.powf(draw * 600.0 - 300.0);
                        Some(if row % 3 == 0 { -size } else { size })
                    }
                })
                .collect();
            (Series::new(name, cells), DataType::Float64)
        }
        Kind::Boolean => {
            let cells: Vec<Option<bool>> = draws
                .iter()
                .map(|draw| draw.map(|draw| draw < 0.5))
                .collect();
            (Series::new(name, cells), DataType::Boolean)
        }
        Kind::Text => (Series::new(name, texts()), DataType::String),
        Kind::Categorical => (
            Series::new(name, texts()),
            DataType::from_categories(Categories::global()),
        ),
        Kind::Date => (
            Series::new(name, wholes(-3_000.0, 20_000.0))
                .cast(&DataType::Int32)
                .unwrap(),
            DataType::Date,
        ),
        Kind::Datetime { unit, has_zone } => {
            let zone = TimeZone::opt_try_new(has_zone.then_some("Europe/Berlin")).unwrap();
            (
                Series::new(name, wholes(-1e15, 1.6e15)),
                DataType::Datetime(unit, zone),
            )
        }
    };
    series.strict_cast(&dtype).unwrap()
}

fn sdtype(kind: Kind, is_category: bool) -> SdType {
    match kind {
        Kind::Boolean => SdType::Boolean,
        Kind::Text | Kind::Categorical => SdType::Categorical,
        _ if is_category => SdType::Categorical,
        Kind::Date | Kind::Datetime { .. } => datetime(),
        _ => SdType::Numerical,
    }
}

/// A table, its metadata's columns, and its context columns.
struct Table {
    frame: DataFrame,
    sdtypes: Vec<(String, SdType)>,
    context: Vec<String>,
}

fn build(plan: &TablePlan) -> Table {
    let mut generator = Generator(plan.seed);
    let lengths = if plan.key == Key::None {
        &plan.lengths[..1]
    } else {
        &plan.lengths[..]
    };
    let owners: Vec<usize> = lengths
        .iter()
        .enumerate()
        .flat_map(|(owner, &length)| vec![owner; length])
        .collect();
    let (mut columns, mut sdtypes, mut context) = (Vec::<Column>::new(), Vec::new(), Vec::new());
    for (at, column) in plan.columns.iter().enumerate() {
        let name = format!("column {at}");
        let constant = generator.uniform();
        let mut draw = || {
            let is_missing = generator.uniform() * 4.0 < f64::from(column.missing);
            let value = generator.uniform();
            (!is_missing).then_some(if column.is_constant { constant } else { value })
        };
        let draws: Vec<Option<f64>> = if column.is_context {
            let each: Vec<Option<f64>> = lengths.iter().map(|_| draw()).collect();
            context.push(name.clone());
            owners.iter().map(|&owner| each[owner]).collect()
        } else {
            owners.iter().map(|_| draw()).collect()
        };
        let mut values = series(&name, column.kind, &draws);
        if column.is_context && column.kind == Kind::WildFloat {
            // The sign goes by row, and a context column must not.
            values = series(&name, Kind::Float64, &draws);
        }
        columns.push(values.into());
        sdtypes.push((name, sdtype(column.kind, column.is_category)));
    }
    if let Some(kind) = plan.index {
        // Draws from a coarse grid repeat, so some rows share their index.
        let draws: Vec<Option<f64>> = owners
            .iter()
            .map(|_| Some((generator.uniform() * 8.0).floor() / 8.0))
            .collect();
        columns.insert(0, series("index", kind, &draws).into());
        sdtypes.push(("index".to_owned(), sdtype(kind, false)));
    }
    let key: Option<Series> = match plan.key {
        Key::None => None,
        Key::Whole => Some(Series::new(
            "key".into(),
            owners
                .iter()
                .map(|&owner| owner as i64 - 2)
                .collect::<Vec<_>>(),
        )),
        Key::NearTheEnd => Some(Series::new(
            "key".into(),
            owners
                .iter()
                .map(|&owner| u64::MAX - owner as u64)
                .collect::<Vec<_>>(),
        )),
        Key::Text => Some(Series::new(
            "key".into(),
            owners
                .iter()
                .map(|&owner| TEXTS[owner + 1])
                .collect::<Vec<_>>(),
        )),
    };
    if let Some(key) = key {
        columns.push(key.into());
        sdtypes.push(("key".to_owned(), id()));
    }
    let mut frame = DataFrame::new(owners.len(), columns).unwrap();
    if plan.is_shuffled {
        let rows: Vec<IdxSize> = {
            let mut keyed: Vec<(u64, IdxSize)> = (0..owners.len())
                .map(|row| ((generator.uniform() * 1e9) as u64, row as IdxSize))
                .collect();
            keyed.sort_unstable();
            keyed.into_iter().map(|(_, row)| row).collect()
        };
        frame = frame.take(&IdxCa::from_vec("rows".into(), rows)).unwrap();
    }
    Table {
        frame,
        sdtypes,
        context,
    }
}

/// A cell, comparable whatever its dtype; dates by their physical number.
#[derive(Debug, Clone, PartialEq, PartialOrd)]
enum Cell {
    Missing,
    Whole(i128),
    Real(f64),
    Text(String),
}

fn cells(column: &Column) -> Vec<Cell> {
    let series = column.as_materialized_series();
    let series = match series.dtype() {
        DataType::Categorical(..) => series.cast(&DataType::String).unwrap(),
        DataType::Float32 => series.cast(&DataType::Float64).unwrap(),
        _ => series.to_physical_repr().into_owned(),
    };
    series
        .iter()
        .map(|cell| match cell {
            AnyValue::Null => Cell::Missing,
            AnyValue::Float64(real) if real.is_nan() => Cell::Missing,
            AnyValue::Float64(real) => Cell::Real(real),
            AnyValue::String(text) => Cell::Text(text.to_owned()),
            AnyValue::Boolean(truth) => Cell::Whole(i128::from(truth)),
            whole => Cell::Whole(whole.extract::<i128>().unwrap()),
        })
        .collect()
}

/// NaN stands only where it must not: samples say null.
fn has_nan(column: &Column) -> bool {
    column.as_materialized_series().iter().any(|cell| {
        matches!(cell, AnyValue::Float64(real) if real.is_nan())
            || matches!(cell, AnyValue::Float32(real) if real.is_nan())
    })
}

fn check_column(
    name: &str,
    sdtype: &SdType,
    real: &[Cell],
    found: &[Cell],
) -> Result<(), TestCaseError> {
    let present = |cells: &[Cell]| {
        cells
            .iter()
            .filter(|cell| **cell != Cell::Missing)
            .cloned()
            .collect::<Vec<_>>()
    };
    let (seen, made) = (present(real), present(found));
    if seen.len() == real.len() {
        prop_assert_eq!(
            made.len(),
            found.len(),
            "column `{}` was never missing",
            name
        );
    }
    if seen.is_empty() {
        prop_assert!(made.is_empty(), "column `{}` was always missing", name);
    }
    if matches!(sdtype, SdType::Categorical | SdType::Boolean) {
        for cell in &made {
            prop_assert!(
                seen.contains(cell),
                "column `{}`: {:?} was never seen",
                name,
                cell
            );
        }
        return Ok(());
    }
    for cell in &made {
        prop_assert!(
            seen.iter().any(|low| low <= cell) && seen.iter().any(|high| high >= cell),
            "column `{}`: {:?} lies outside of what was seen",
            name,
            cell
        );
    }
    Ok(())
}

fn check_sample(
    table: &Table,
    plan: &TablePlan,
    synthetic: &DataFrame,
) -> Result<(), TestCaseError> {
    prop_assert_eq!(shape(synthetic), shape(&table.frame));
    prop_assert!(
        synthetic.columns().iter().all(|column| !has_nan(column)),
        "a NaN came out"
    );
    for (name, sdtype) in &table.sdtypes {
        let (real, found) = (
            cells(table.frame.column(name).unwrap()),
            cells(synthetic.column(name).unwrap()),
        );
        match name.as_str() {
            "key" => prop_assert!(
                found
                    .iter()
                    .all(|key| !real.contains(key) && *key != Cell::Missing)
            ),
            "index" => {
                let ranges = if plan.key == Key::None {
                    vec![]
                } else {
                    sequences(synthetic, "key")
                };
                for rows in ranges {
                    let rising = found[rows.clone()]
                        .windows(2)
                        .all(|pair| pair[0] <= pair[1]);
                    prop_assert!(rising, "index falls: {:?}", &found[rows]);
                }
                prop_assert!(!found.contains(&Cell::Missing));
            }
            _ => check_column(name, sdtype, &real, &found)?,
        }
    }
    Ok(())
}

/// Few cases each time; PROPTEST_CASES asks for more.
fn config() -> ProptestConfig {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        config
    } else {
        ProptestConfig {
            cases: 24,
            ..config
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_small_table_survives_fit_and_sample(plan in table_plans()) {
        let table = build(&plan);
        let stated: Vec<(&str, SdType)> =
            table.sdtypes.iter().map(|(name, sdtype)| (name.as_str(), sdtype.clone())).collect();
        let key = (plan.key != Key::None).then_some("key");
        let metadata = metadata(&stated, key, plan.index.map(|_| "index"));
        let synthesizer = ParSynthesizer::builder(metadata)
            .context_columns(table.context.clone())
            .hidden_size(4)
            .epochs(plan.epochs)
            .seed(plan.seed)
            .fit(&table.frame)
            .map_err(|error| TestCaseError::fail(told(&error)))?;
        for wished_length in [None, Some(20)] {
            let options = match wished_length {
                None => SampleOptions::sequences(4),
                Some(length) => SampleOptions::sequences(2).length(length),
            };
            let synthetic = match synthesizer.sample_with(&options.seed(plan.seed)) {
                // A wished length may lead an index past the last value of its dtype; a drawn one stops before.
                Err(Error::Table(TableError::IndexDoesNotFit { .. })) if wished_length.is_some() => continue,
                sampled => sampled.map_err(|error| TestCaseError::fail(told(&error)))?,
            };
            check_sample(&table, &plan, &synthetic)?;
        }
    }
}

fn machines() -> DataFrame {
    df!("k" => [1, 1, 2, 2, 3, 3], "t" => [0, 1, 0, 1, 0, 1], "v" => [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "c" => ["a", "a", "b", "b", "a", "a"])
        .unwrap()
}

fn machines_builder() -> parsynth::ParSynthesizerBuilder {
    let columns = [
        ("k", id()),
        ("t", SdType::Numerical),
        ("v", SdType::Numerical),
        ("c", SdType::Categorical),
    ];
    ParSynthesizer::builder(metadata(&columns, Some("k"), Some("t")))
        .context_columns(["c"])
        .hidden_size(4)
        .epochs(0)
        .seed(1)
}

#[test]
fn hostile_tables_give_errors_that_name_the_column() {
    let fit = |frame: &DataFrame| machines_builder().fit(frame).unwrap_err();
    let with = |column: Series| machines().with_column(column.into()).unwrap().clone();

    let mut renamed = machines();
    renamed.rename("v", "V".into()).unwrap();
    let error = fit(&renamed);
    assert!(
        error.to_string().contains("`V`") && error.to_string().contains("`v`"),
        "{error}"
    );
    let error = fit(&machines().drop("t").unwrap());
    assert!(
        matches!(&error, Error::Table(TableError::ColumnNotInFrame { column, .. }) if column == "t"),
        "{error}"
    );
    let error = fit(&with(Series::new("extra".into(), [0; 6])));
    assert!(
        matches!(&error, Error::Table(TableError::ColumnNotInMetadata { column, .. }) if column == "extra")
    );
    let error = machines_builder()
        .context_columns(["d"])
        .fit(&machines())
        .unwrap_err();
    assert!(error.to_string().contains("`d`"), "{error}");

    assert!(matches!(
        fit(&machines().head(Some(0))),
        Error::Table(TableError::Empty { what: "rows" })
    ));
    assert!(matches!(
        fit(&DataFrame::empty()),
        Error::Table(TableError::Empty { what: "columns" })
    ));

    for infinite in [f64::INFINITY, f64::NEG_INFINITY] {
        let error = fit(&with(Series::new(
            "v".into(),
            [1.0, 2.0, 3.0, infinite, 5.0, 6.0],
        )));
        assert!(
            matches!(&error, Error::Table(TableError::Infinite { column, row: 3 }) if column == "v"),
            "{error}"
        );
    }
    let missing = [Some(1), None, None, None, None, None];
    for column in ["k", "t"] {
        let error = fit(&with(Series::new(column.into(), missing)));
        assert!(
            matches!(&error, Error::Table(TableError::MissingRole { column: named, row: 1, .. }) if named == column)
        );
    }
    let error = fit(&with(Series::new(
        "c".into(),
        ["a", "b", "b", "b", "a", "a"],
    )));
    assert!(
        matches!(&error, Error::Table(TableError::ContextVaries { column, row: 1, .. }) if column == "c"),
        "{error}"
    );
    let error = fit(&with(Series::new(
        "v".into(),
        ["1", "2", "3", "4", "5", "6"],
    )));
    assert!(
        matches!(&error, Error::Table(TableError::DtypeForSdType { column, .. }) if column == "v"),
        "{error}"
    );
}

#[test]
fn hostile_options_give_errors_that_name_the_option() {
    type Build = fn(parsynth::ParSynthesizerBuilder) -> parsynth::ParSynthesizerBuilder;
    let wrong: [(&str, Build); 12] = [
        ("hidden_size", |builder| builder.hidden_size(0)),
        ("hidden_size", |builder| builder.hidden_size(usize::MAX)),
        ("layers", |builder| builder.layers(0)),
        ("batch_size", |builder| builder.batch_size(0)),
        ("learning_rate", |builder| builder.learning_rate(f64::NAN)),
        ("learning_rate", |builder| builder.learning_rate(0.0)),
        ("learning_rate", |builder| {
            builder.learning_rate(f64::INFINITY)
        }),
        ("dropout", |builder| builder.dropout(f64::NAN)),
        ("dropout", |builder| builder.dropout(1.0)),
        ("validation_share", |builder| {
            builder.validation_share(f64::NAN)
        }),
        ("validation_share", |builder| builder.validation_share(-0.1)),
        ("threads", |builder| builder.threads(0)),
    ];
    for (option, build) in wrong {
        let error = build(machines_builder()).fit(&machines()).unwrap_err();
        assert!(
            matches!(&error, Error::Option(error) if error.option == option),
            "{option}: {error}"
        );
    }

    let synthesizer = machines_builder().fit(&machines()).unwrap();
    let sequences = || SampleOptions::sequences(2);
    for (option, options) in [
        ("length", sequences().length(0)),
        ("length", sequences().length(usize::MAX)),
        ("temperature", sequences().temperature(f64::NAN)),
        ("temperature", sequences().temperature(0.0)),
        ("threads", sequences().threads(0)),
        ("threads", sequences().threads(usize::MAX)),
        ("sequences", SampleOptions::per_context_row()),
    ] {
        let error = synthesizer.sample_with(&options).unwrap_err();
        assert!(
            matches!(&error, Error::Option(error) if error.option == option),
            "{option}: {error}"
        );
    }
    let one = df!("c" => ["a"]).unwrap();
    for (option, options) in [("sequences", sequences()), ("rows", SampleOptions::rows(9))] {
        let error = synthesizer
            .sample_sequential_columns_with(&one, &options)
            .unwrap_err();
        assert!(
            matches!(&error, Error::Option(error) if error.option == option),
            "{option}: {error}"
        );
    }
}

#[test]
fn nothing_asked_for_is_an_empty_frame_of_the_right_columns() {
    let synthesizer = machines_builder().fit(&machines()).unwrap();
    for options in [
        SampleOptions::sequences(0),
        SampleOptions::rows(0),
        SampleOptions::sequences(3).row_limit(0),
    ] {
        let synthetic = synthesizer.sample_with(&options.clone().seed(1)).unwrap();
        assert_eq!(synthetic.height(), 0, "{options:?}");
        assert_eq!(shape(&synthetic), shape(&machines()));
    }
}

#[test]
fn hostile_context_frames_give_errors_that_name_the_column() {
    let synthesizer = machines_builder().fit(&machines()).unwrap();
    let given = |frame: DataFrame| synthesizer.sample_sequential_columns(&frame).unwrap_err();
    let error = given(df!("v" => [1.0]).unwrap());
    assert!(
        matches!(&error, Error::Table(TableError::NotAContextColumn { column, .. }) if column == "v"),
        "{error}"
    );
    let error = given(df!("c" => ["a", "z"]).unwrap());
    assert!(
        matches!(&error, Error::UnseenCategory { column, row: 1, .. } if column == "c"),
        "{error}"
    );
    let error = given(df!("c" => [Some("a"), None]).unwrap());
    assert!(
        matches!(&error, Error::UnseenCategory { column, row: 1, .. } if column == "c"),
        "{error}"
    );
    let error = given(df!("k" => [7, 8, 7], "c" => ["a", "a", "b"]).unwrap());
    assert!(
        matches!(&error, Error::RepeatedKey { column, row: 2, .. } if column == "k"),
        "{error}"
    );
    let error = given(df!("c" => ["a"]).unwrap().head(Some(0)));
    assert!(
        matches!(error, Error::Table(TableError::Empty { what: "rows" })),
        "{error}"
    );
    let error = given(df!("c" => [1.5]).unwrap());
    assert!(error.to_string().contains("`c`"), "{error}");
}
