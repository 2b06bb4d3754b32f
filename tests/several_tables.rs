//! Parents and children: joined for a fit, split after sampling, with keys that fit each other.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use parsynth::{
    Error, Metadata, MetadataError, ParSynthesizer, RelatedTablesError, SampleOptions, SdType,
    join_parent, split_parent,
};
use polars::prelude::*;
use std::collections::HashSet;

fn id() -> SdType {
    SdType::Id { regex_format: None }
}

fn patients() -> DataFrame {
    let born = Series::new("born".into(), [-9_000, 0, 4_000, 11_000]);
    let mut frame = df!(
        "sex" => ["f", "m", "f", "m"],
        "patient" => ["P1", "P2", "P3", "P4"],
        "weight" => [Some(61.5), None, Some(70.25), Some(80.0)],
        "smokes" => [true, false, false, true],
    )
    .unwrap();
    frame
        .with_column(born.cast(&DataType::Date).unwrap().into())
        .unwrap();
    frame
}

/// Not sorted, and of two chunks.
fn visits() -> DataFrame {
    let first =
        df!("day" => [0_i32, 30, 0], "patient" => ["P2", "P1", "P1"], "score" => [1.5, 2.0, 2.5])
            .unwrap();
    let then =
        df!("day" => [7_i32, 9, 4], "patient" => ["P3", "P2", "P3"], "score" => [3.5, 4.0, 0.5])
            .unwrap();
    first.vstack(&then).unwrap()
}

fn message(error: &RelatedTablesError) -> String {
    error.to_string()
}

#[test]
fn joined_and_split_tables_are_the_originals_but_for_the_order_of_parents() {
    let tables = join_parent(&visits(), &patients(), &["patient"]).unwrap();
    assert_eq!(
        tables.joined.get_column_names(),
        ["day", "patient", "score", "sex", "weight", "smokes", "born"]
    );
    let sexes = tables.joined.column("sex").unwrap().str().unwrap();
    assert_eq!(
        sexes.iter().flatten().collect::<Vec<_>>(),
        ["m", "f", "f", "f", "m", "f"]
    );
    assert!(tables.childless.equals_missing(&patients().slice(3, 1)));

    let columns = patients().get_column_names_owned();
    let (parents, children) = split_parent(&tables.joined, &["patient"], &columns).unwrap();
    assert!(children.equals(&visits()));
    assert_eq!(parents.schema(), patients().schema());
    let order = parents.column("patient").unwrap().str().unwrap();
    assert_eq!(
        order.iter().flatten().collect::<Vec<_>>(),
        ["P2", "P1", "P3"]
    );
    let sorted = parents
        .sort(["patient"], SortMultipleOptions::default())
        .unwrap();
    assert!(sorted.equals_missing(&patients().slice(0, 3)));
}

#[test]
fn keys_of_every_dtype_and_of_several_columns_find_their_parent() {
    let text = Series::new("k".into(), ["b", "a", "ü"]);
    let categories = DataType::from_categories(Categories::global());
    let enumeration =
        DataType::from_frozen_categories(FrozenCategories::new(["a", "b", "ü"]).unwrap());
    for key in [
        text.clone(),
        text.cast(&categories).unwrap(),
        text.cast(&enumeration).unwrap(),
        Series::new("k".into(), [2_u64, u64::MAX, 0]),
        Series::new("k".into(), [-1_i8, 0, 1]),
        Series::new("k".into(), [0.5, -0.5, 1e300]),
        Series::new("k".into(), [3, 1, 2])
            .cast(&DataType::Date)
            .unwrap(),
    ] {
        let parents = DataFrame::new(
            3,
            vec![key.clone().into(), Column::new("p".into(), [10, 20, 30])],
        )
        .unwrap();
        let picked = key.take_slice(&[1, 2, 1, 0]).unwrap();
        let children = DataFrame::new(4, vec![picked.into()]).unwrap();
        let joined = join_parent(&children, &parents, &["k"]).unwrap().joined;
        let found = joined.column("p").unwrap().i32().unwrap();
        assert_eq!(
            found.iter().flatten().collect::<Vec<_>>(),
            [20, 30, 20, 10],
            "{}",
            key.dtype()
        );
        assert_eq!(joined.column("k").unwrap().dtype(), key.dtype());
    }
    let parents = df!("a" => [1, 1, 2], "b" => ["x", "y", "x"], "p" => [10, 20, 30]).unwrap();
    let children = df!("b" => ["x", "y"], "v" => [0.5, 1.5], "a" => [2, 1]).unwrap();
    let joined = join_parent(&children, &parents, &["a", "b"])
        .unwrap()
        .joined;
    assert_eq!(joined.get_column_names(), ["b", "v", "a", "p"]);
    assert_eq!(
        joined
            .column("p")
            .unwrap()
            .i32()
            .unwrap()
            .to_vec_null_aware()
            .left()
            .unwrap(),
        [30, 20]
    );
    let (back, _) = split_parent(&joined, &["a", "b"], &["a", "b", "p"]).unwrap();
    assert!(back.equals(&df!("a" => [2, 1], "b" => ["x", "y"], "p" => [30, 20]).unwrap()));
}

#[test]
fn what_cannot_be_joined_is_refused_by_table_column_and_row() {
    let refuse = |children: &DataFrame, parents: &DataFrame, key: &[&str]| {
        message(&join_parent(children, parents, key).unwrap_err())
    };
    let parents = df!("k" => ["a", "b"], "p" => [1, 2]).unwrap();
    let children = df!("k" => ["a", "c", "c"], "v" => [1, 2, 3]).unwrap();
    assert_eq!(
        refuse(&children, &parents, &["k"]),
        "children: 2 rows have a key `k` that no parent has, the first of them 1; add the parents, or leave these rows out"
    );
    let twice = df!("k" => ["a", "b", "a"], "p" => [1, 2, 3]).unwrap();
    assert_eq!(
        refuse(&children, &twice, &["k"]),
        "parents: rows 0 and 2 have the same key `k`; wanted is one row a key"
    );
    assert_eq!(
        refuse(&children, &parents, &["kk"]),
        "children: there is no column `kk`; did you mean `k`?"
    );
    let other = df!("kk" => ["a"], "p" => [1]).unwrap();
    assert_eq!(
        refuse(&children, &other, &["k"]),
        "parents: there is no column `k`; did you mean `kk`?"
    );
    let numbers = df!("k" => [1, 2], "p" => [1, 2]).unwrap();
    assert_eq!(
        refuse(&children, &numbers, &["k"]),
        "key column `k` has dtype str in the children and i32 in the parents; cast one of them"
    );
    let both = df!("k" => ["a", "c"], "v" => [1, 2]).unwrap();
    assert_eq!(
        refuse(&children, &both, &["k"]),
        "column `v` is in both tables; rename it in one, or drop it from the children"
    );
    let missing = df!("k" => [Some("a"), None, None], "v" => [1, 2, 3]).unwrap();
    assert_eq!(
        refuse(&missing, &parents, &["k"]),
        "children: key column `k` is missing in 2 rows, the first of them 1; every row needs one"
    );
    assert_eq!(
        refuse(&children, &parents, &[]),
        "the key has no column; name the columns that children and parents share"
    );
    assert_eq!(
        refuse(&children, &parents, &["k", "k"]),
        "column `k` is named twice"
    );
}

#[test]
fn a_table_whose_parents_vary_or_that_lacks_a_column_is_not_split() {
    let table =
        df!("k" => ["a", "b", "a"], "p" => [Some(1), None, None], "v" => [1, 2, 3]).unwrap();
    assert_eq!(
        message(&split_parent(&table, &["k"], &["k", "p"]).unwrap_err()),
        "joined table: column `p` is not the same in rows 0 and 2 of one key; was it fitted as a context column?"
    );
    assert_eq!(
        message(&split_parent(&table, &["k"], &["pp"]).unwrap_err()),
        "joined table: there is no column `pp`; did you mean `p`?"
    );
    let error: Error = split_parent(&table, &["k"], &["p", "p"])
        .unwrap_err()
        .into();
    assert_eq!(error.to_string(), "column `p` is named twice");
}

#[test]
fn empty_tables_join_to_empty_tables() {
    let tables = join_parent(&visits().slice(0, 0), &patients(), &["patient"]).unwrap();
    assert_eq!((tables.joined.height(), tables.childless.height()), (0, 4));
    let columns = patients().get_column_names_owned();
    let (parents, children) = split_parent(&tables.joined, &["patient"], &columns).unwrap();
    assert_eq!(
        (parents.height(), parents.schema()),
        (0, patients().schema())
    );
    assert_eq!(children.schema(), visits().schema());
}

fn metadata() -> (Metadata, Metadata) {
    let visits = Metadata::builder()
        .column("day", SdType::Numerical)
        .column("patient", id())
        .column("score", SdType::Numerical)
        .sequence_key("patient")
        .sequence_index("day")
        .build()
        .unwrap();
    let patients = Metadata::builder()
        .column("sex", SdType::Categorical)
        .column("patient", id())
        .column("weight", SdType::Numerical)
        .column("smokes", SdType::Boolean)
        .column("born", SdType::Datetime { format: None })
        .build()
        .unwrap();
    (visits, patients)
}

#[test]
fn metadata_is_joined_as_tables_are() {
    let (visits, patients) = metadata();
    let joined = visits.join_parent(&patients, &["patient"]).unwrap();
    let names: Vec<&str> = joined.columns().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        ["day", "patient", "score", "sex", "weight", "smokes", "born"]
    );
    assert_eq!(joined.sequence_index(), Some("day"));
    assert_eq!(Metadata::from_json(&joined.to_json()).unwrap(), joined);
    let error = visits.join_parent(&patients, &["patent"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`key` names `patent`, which is not a column; did you mean `patient`?"
    );
    let twice = joined.join_parent(&patients, &["patient"]).unwrap_err();
    assert!(
        matches!(twice, MetadataError::DuplicateColumn { .. }),
        "{twice}"
    );
}

#[test]
fn sampled_tables_have_one_parent_a_key_and_the_dtypes_of_both_originals() {
    let (of_visits, of_patients) = metadata();
    let tables = join_parent(&visits(), &patients(), &["patient"]).unwrap();
    let joined = of_visits.join_parent(&of_patients, &["patient"]).unwrap();
    let model = ParSynthesizer::builder(joined)
        .context_columns(["sex", "weight", "smokes", "born"])
        .hidden_size(4)
        .epochs(1)
        .seed(2)
        .fit(&tables.joined)
        .unwrap();
    let synthetic = model
        .sample_with(&SampleOptions::sequences(50).seed(4))
        .unwrap();
    let columns = patients().get_column_names_owned();
    let (parents, children) = split_parent(&synthetic, &["patient"], &columns).unwrap();
    assert_eq!(parents.height(), 50);
    assert_eq!(parents.schema(), patients().schema());
    assert_eq!(children.schema(), visits().schema());
    let keys = |frame: &DataFrame| -> HashSet<String> {
        let column = frame.column("patient").unwrap().str().unwrap();
        column.iter().flatten().map(str::to_owned).collect()
    };
    assert_eq!(keys(&parents).len(), 50);
    assert_eq!(keys(&parents), keys(&children));
    // The model never saw P4, who has no visit.
    assert!(keys(&parents).is_disjoint(&keys(&visits())));
    // And together again they are what was sampled.
    let again = join_parent(&children, &parents, &["patient"]).unwrap();
    assert!(again.joined.equals_missing(&synthetic) && again.childless.height() == 0);
}

#[test]
fn parents_without_children_can_be_learned_as_sequences_of_one_row() {
    let (_, of_patients) = metadata();
    let mut builder = Metadata::builder().sequence_key("patient");
    for (name, sdtype) in of_patients.columns() {
        builder = builder.column(name, sdtype.clone());
    }
    let model = ParSynthesizer::builder(builder.build().unwrap())
        .context_columns(["sex", "weight", "smokes", "born"])
        .hidden_size(4)
        .epochs(1)
        .fit(&patients())
        .unwrap();
    let made = model.sample(30).unwrap();
    assert_eq!((made.height(), made.schema()), (30, patients().schema()));
    assert_eq!(made.column("patient").unwrap().n_unique().unwrap(), 30);
}

#[test]
fn joins_can_follow_each_other_and_be_undone_one_by_one() {
    let patients = df!("patient" => ["P", "Q"], "sex" => ["f", "m"]).unwrap();
    let stays =
        df!("stay" => [10, 11, 12], "patient" => ["P", "Q", "P"], "ward" => ["a", "b", "c"])
            .unwrap();
    let measured =
        df!("stay" => [10, 10, 11, 12], "hour" => [0, 6, 0, 0], "pulse" => [70, 72, 80, 65])
            .unwrap();
    let of_stay = join_parent(&measured, &stays, &["stay"]).unwrap().joined;
    let of_patient = join_parent(&of_stay, &patients, &["patient"])
        .unwrap()
        .joined;
    let names = ["stay", "hour", "pulse", "patient", "ward", "sex"];
    assert_eq!(of_patient.get_column_names(), names);

    let (people, rest) = split_parent(&of_patient, &["patient"], &["patient", "sex"]).unwrap();
    let (back, rows) = split_parent(&rest, &["stay"], &["stay", "patient", "ward"]).unwrap();
    assert!(people.equals(&patients) && back.equals(&stays) && rows.equals(&measured));
}
