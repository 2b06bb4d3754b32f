use super::*;

fn id() -> SdType {
    SdType::Id { regex_format: None }
}

fn text_of(error: MetadataError) -> String {
    error.to_string()
}

fn table(fields: &str) -> String {
    format!(
        r#"{{"METADATA_SPEC_VERSION": "V1", "tables": {{"visits": {{{fields}}}}}, "relationships": []}}"#
    )
}

const COLUMNS: &str = r#""columns": {"k": {"sdtype": "id"}, "t": {"sdtype": "numerical"}, "v": {"sdtype": "numerical"}}"#;

fn refusal(fields: &str) -> String {
    text_of(Metadata::from_json(&table(fields)).unwrap_err())
}

#[test]
fn both_spec_versions_say_the_same() {
    let several = Metadata::from_json(&table(&format!(
        r#"{COLUMNS}, "sequence_key": "k", "sequence_index": "t""#
    )))
    .unwrap();
    let single = Metadata::from_json(&format!(
        r#"{{"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", {COLUMNS}, "sequence_key": "k", "sequence_index": "t"}}"#
    ))
    .unwrap();
    let built = Metadata::builder()
        .column("k", id())
        .column("t", SdType::Numerical)
        .column("v", SdType::Numerical)
        .sequence_key("k")
        .sequence_index("t")
        .build()
        .unwrap();
    assert_eq!(single, built);
    assert!(several.columns().eq(built.columns()));
    assert_eq!(several.sequence_key(), ["k"]);
    assert_eq!(several.sequence_index(), Some("t"));
    assert_eq!(several.sdtype("v"), Some(&SdType::Numerical));
}

#[test]
fn written_metadata_reads_back_equal_with_unused_fields_kept() {
    let text = table(
        r#""columns": {
            "z": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"},
            "row": {"sdtype": "id", "regex_format": "[A-Z]{3}\\d+", "pii": true},
            "a": {"sdtype": "categorical", "order_by": "alphabetical"},
            "n": {"sdtype": "numerical", "computer_representation": "Int64"},
            "b": {"sdtype": "boolean"}
        }, "primary_key": "row", "alternate_keys": ["a"], "column_relationships": []"#,
    );
    let metadata = Metadata::from_json(&text).unwrap();
    let written = metadata.to_json();
    assert_eq!(Metadata::from_json(&written).unwrap(), metadata);
    for kept in [
        "Int64",
        "alphabetical",
        "alternate_keys",
        "visits",
        "\"pii\": true",
    ] {
        assert!(written.contains(kept), "{kept} was lost from {written}");
    }
    let names: Vec<&str> = metadata.columns().map(|(name, _)| name).collect();
    assert_eq!(names, ["z", "row", "a", "n", "b"]);
}

#[test]
fn a_written_file_reads_back_equal_and_a_missing_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.json");
    let metadata = Metadata::builder()
        .column("v", SdType::Numerical)
        .build()
        .unwrap();
    metadata.to_json_file(&path).unwrap();
    metadata.to_json_file(&path).unwrap(); // writing over a file is fine
    assert_eq!(Metadata::from_json_file(&path).unwrap(), metadata);
    let missing = folder.path().join("none.json");
    assert!(text_of(Metadata::from_json_file(&missing).unwrap_err()).contains("none.json"));
    assert!(
        metadata
            .to_json_file(folder.path().join("no/folder.json"))
            .is_err()
    );
}

#[test]
fn a_misspelt_field_is_answered_with_the_right_one() {
    let message = refusal(&format!(r#"{COLUMNS}, "sequnce_index": "t""#));
    assert!(message.contains("`sequnce_index`"), "{message}");
    assert!(
        message.contains("did you mean `sequence_index`?"),
        "{message}"
    );
    let message = refusal(r#""columns": {"t": {"sdtype": "datetime", "datetime_fromat": "%Y"}}"#);
    assert!(
        message.contains("column `t`") && message.contains("`datetime_format`"),
        "{message}"
    );
    let message = text_of(
        Metadata::from_json(r#"{"METADATA_SPEC_VERSON": "V1", "tables": {}}"#).unwrap_err(),
    );
    assert!(
        message.contains("did you mean `METADATA_SPEC_VERSION`?"),
        "{message}"
    );
    let message = refusal(&format!(r#"{COLUMNS}, "context_columns": ["v"]"#));
    assert!(
        message.contains("unknown field `context_columns`"),
        "{message}"
    );
}

#[test]
fn empty_metadata_is_refused() {
    assert!(matches!(
        Metadata::builder().build(),
        Err(MetadataError::NoColumns)
    ));
    assert!(refusal(r#""columns": {}"#).contains("no columns"));
    assert!(refusal("").contains("no `columns`"));
}

#[test]
fn an_unknown_sdtype_is_named_with_the_known_ones() {
    let message = refusal(r#""columns": {"e": {"sdtype": "numeric"}}"#);
    assert!(
        message.contains("column `e`") && message.contains("unknown; did you mean `numerical`?"),
        "{message}"
    );
    assert!(
        message.contains("numerical, categorical, boolean, datetime, id, first_name"),
        "{message}"
    );
    let message = refusal(r#""columns": {"e": {"sdtype": "e_mail", "pii": true}}"#);
    assert!(message.contains("did you mean `email`?"), "{message}");
    assert!(refusal(r#""columns": {"e": {}}"#).contains("column `e` has no `sdtype`"));
    assert!(refusal(r#""columns": {"e": {"sdtype": 3}}"#).contains("must be text, found a number"));
}

#[test]
fn every_personal_sdtype_is_read_and_written_with_its_pii() {
    for kind in PersonalKind::ALL {
        for (pii, field) in [
            (true, ""),
            (true, r#", "pii": true"#),
            (false, r#", "pii": false"#),
        ] {
            let text = table(&format!(
                r#""columns": {{"e": {{"sdtype": "{}"{field}}}}}"#,
                kind.name()
            ));
            let metadata = Metadata::from_json(&text).unwrap();
            assert_eq!(
                metadata.sdtype("e"),
                Some(&SdType::Personal { kind, pii }),
                "{text}"
            );
            let written = metadata.to_json();
            assert!(written.contains(&format!("\"pii\": {pii}")), "{written}");
            assert_eq!(Metadata::from_json(&written).unwrap(), metadata);
        }
    }
    let uuid = Metadata::from_json(&table(r#""columns": {"e": {"sdtype": "uuid"}}"#)).unwrap();
    assert_eq!(
        uuid.sdtype("e"),
        Some(&SdType::personal(PersonalKind::Uuid))
    );
}

#[test]
fn a_learned_column_cannot_be_called_personal() {
    let message = refusal(r#""columns": {"e": {"sdtype": "categorical", "pii": true}}"#);
    assert!(
        message.contains("column `e`") && message.contains("`pii` is true"),
        "{message}"
    );
    let plain = table(r#""columns": {"e": {"sdtype": "categorical", "pii": false}}"#);
    assert!(Metadata::from_json(&plain).is_ok());
}

#[test]
fn a_role_for_a_column_that_is_not_there_names_the_nearest() {
    let base = || {
        Metadata::builder()
            .column("patient", id())
            .column("visit_day", SdType::Numerical)
    };
    let message = text_of(base().sequence_key("pateint").build().unwrap_err());
    assert!(
        message.contains("`sequence_key` names `pateint`") && message.contains("`patient`?"),
        "{message}"
    );
    let message = text_of(base().sequence_index("visitday").build().unwrap_err());
    assert!(message.contains("did you mean `visit_day`?"), "{message}");
    assert!(
        refusal(&format!(r#"{COLUMNS}, "primary_key": "kk""#)).contains("`primary_key` names `kk`")
    );
    assert!(refusal(&format!(r#"{COLUMNS}, "alternate_keys": [["k", "x"]]"#)).contains("`x`"));
}

#[test]
fn one_column_in_two_roles_is_refused_with_both_named() {
    let base = || Metadata::builder().column("a", SdType::Numerical);
    let message = text_of(
        base()
            .sequence_key("a")
            .sequence_index("a")
            .build()
            .unwrap_err(),
    );
    assert_eq!(
        message,
        "column `a` cannot be both `sequence_key` and `sequence_index`"
    );
    for (role, column) in [("sequence_key", "k"), ("sequence_index", "t")] {
        let message = refusal(&format!(
            r#"{COLUMNS}, "primary_key": "{column}", "{role}": "{column}""#
        ));
        assert!(
            message.contains(&format!("both `{role}` and `primary_key`")),
            "{message}"
        );
    }
}

#[test]
fn a_key_of_two_columns_is_read_and_written() {
    let text = table(&format!(r#"{COLUMNS}, "sequence_key": ["v", "k"]"#));
    let metadata = Metadata::from_json(&text).unwrap();
    assert_eq!(metadata.sequence_key(), ["v", "k"]);
    assert_eq!(Metadata::from_json(&metadata.to_json()).unwrap(), metadata);
    let one = Metadata::from_json(&table(&format!(r#"{COLUMNS}, "sequence_key": ["k"]"#))).unwrap();
    assert_eq!(one.sequence_key(), ["k"]);
    assert!(
        one.to_json().contains(r#""sequence_key": "k""#),
        "{}",
        one.to_json()
    );
}

#[test]
fn a_key_of_several_columns_that_cannot_be_is_refused() {
    let message = refusal(&format!(r#"{COLUMNS}, "sequence_key": ["k", "k"]"#));
    assert!(message.contains("lists column `k` twice"), "{message}");
    let message = refusal(&format!(
        r#"{COLUMNS}, "sequence_key": ["k", "t"], "sequence_index": "t""#
    ));
    assert!(
        message.contains("column `t` cannot be both `sequence_key` and `sequence_index`"),
        "{message}"
    );
    let message = refusal(&format!(r#"{COLUMNS}, "sequence_key": ["k", "vv"]"#));
    assert!(
        message.contains("`sequence_key` names `vv`") && message.contains("`v`?"),
        "{message}"
    );
    let many = vec![r#""k""#; 65].join(", ");
    let message = refusal(&format!(r#"{COLUMNS}, "sequence_key": [{many}]"#));
    assert!(
        message.contains("65 columns") && message.contains("at most 64"),
        "{message}"
    );
    for wrong in ["[]", r#"["k", 3]"#, r#"[["k"]]"#, "7", "{}"] {
        let message = refusal(&format!(r#"{COLUMNS}, "sequence_key": {wrong}"#));
        assert!(
            message.contains("`sequence_key`") && message.contains("a list of them"),
            "{message}"
        );
    }
}

#[test]
fn a_key_column_is_drawn_only_beside_one_that_is_made_up() {
    let built = |keys: &[&str]| {
        Metadata::builder()
            .column("site", SdType::Categorical)
            .column("visit", SdType::Numerical)
            .column("id", id())
            .column("name", SdType::personal(PersonalKind::Name))
            .sequence_key_columns(keys.iter().copied())
            .build()
            .unwrap()
    };
    let made_up = |keys: &[&str]| {
        let metadata = built(keys);
        keys.iter()
            .map(|key| metadata.is_made_up_key(key))
            .collect::<Vec<_>>()
    };
    assert_eq!(made_up(&["site", "id"]), [false, true]);
    assert_eq!(made_up(&["name", "visit"]), [true, false]);
    assert_eq!(made_up(&["site", "visit"]), [true, true]);
    assert_eq!(made_up(&["site"]), [true]);
    assert!(!built(&["id"]).is_made_up_key("site"));
}

#[test]
fn a_text_key_need_not_be_called_id() {
    let metadata = Metadata::builder()
        .column("ticker", SdType::Categorical)
        .column("v", SdType::Numerical)
        .sequence_key("ticker")
        .build()
        .unwrap();
    assert_eq!(metadata.sequence_key(), ["ticker"]);
}

#[test]
fn an_index_that_cannot_be_ordered_in_time_is_refused() {
    for sdtype in [SdType::Categorical, SdType::Boolean, id()] {
        let built = Metadata::builder()
            .column("t", sdtype)
            .sequence_index("t")
            .build();
        assert!(text_of(built.unwrap_err()).contains("must be numerical or datetime"));
    }
}

#[test]
fn a_column_stated_twice_is_refused_in_builder_and_json() {
    let built = Metadata::builder()
        .column("a", id())
        .column("a", id())
        .build();
    assert!(matches!(built, Err(MetadataError::DuplicateColumn { column }) if column == "a"));
    let message = refusal(r#""columns": {"a": {"sdtype": "id"}, "a": {"sdtype": "id"}}"#);
    assert!(
        message.contains("`a` is written twice") && message.contains("line 1"),
        "{message}"
    );
}

#[test]
fn formats_are_checked_when_they_are_stated() {
    let datetime = |format: &str| {
        let sdtype = SdType::Datetime {
            format: Some(format.to_owned()),
        };
        Metadata::builder().column("d", sdtype).build()
    };
    for valid in [
        "%Y-%m-%d",
        "%Y%m%d",
        "%b %d, %Y",
        "%Y-%m",
        "%H:%M",
        "%d/%m/%y %I:%M %p",
        "%Y-%m-%dT%H:%M:%S.%f%z",
        "%A %d %B %Y",
        "%s",
        "%j %Y",
    ] {
        assert!(datetime(valid).is_ok(), "{valid}: {:?}", datetime(valid));
    }
    for wrong in ["", "%", "%Q", "yyyy-mm-dd", "%Y-%", "%K%Y"] {
        let message = text_of(datetime(wrong).unwrap_err());
        assert!(message.contains("column `d`"), "{message}");
    }
    let regex = |regex: &str| {
        let sdtype = SdType::Id {
            regex_format: Some(regex.to_owned()),
        };
        Metadata::builder().column("i", sdtype).build()
    };
    for valid in [
        "[A-Z]{3}",
        "^ID_\\d+$",
        "source-[a-z]{3}",
        "(a|b)c*",
        ".{4}",
        "[äöü]{2}",
    ] {
        assert!(regex(valid).is_ok(), "{valid}: {:?}", regex(valid));
    }
    for wrong in [
        "(",
        "[z-a]",
        "",
        "a\\bb",
        "[a&&b]",
        "((a{1000}){1000}){1000}",
        "a**{",
    ] {
        assert!(regex(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn several_tables_or_relations_are_refused() {
    let two = format!(
        r#"{{"METADATA_SPEC_VERSION": "V1", "tables": {{"a": {{{COLUMNS}}}, "b": {{{COLUMNS}}}}}}}"#
    );
    assert!(text_of(Metadata::from_json(&two).unwrap_err()).contains("2 tables"));
    let related = table(COLUMNS).replace("[]", r#"[{"parent_table_name": "a"}]"#);
    assert!(text_of(Metadata::from_json(&related).unwrap_err()).contains("`relationships`"));
}

#[test]
fn another_spec_version_is_named() {
    let text = table(COLUMNS).replace("\"V1\"", "\"V9\"");
    assert!(text_of(Metadata::from_json(&text).unwrap_err()).contains("\"V9\""));
    let message = text_of(Metadata::from_json(r#"{"tables": {}}"#).unwrap_err());
    assert!(message.contains("missing"), "{message}");
}

#[test]
fn broken_json_is_refused_with_its_line() {
    let error = Metadata::from_json("{\n\"METADATA_SPEC_VERSION\": \"V1\",\n oops}").unwrap_err();
    assert!(
        matches!(error, MetadataError::Json { line: 3, .. }),
        "{error}"
    );
}

#[test]
fn hostile_json_gives_an_error_and_no_crash() {
    for text in [
        "[".repeat(1_000_000),
        "{\"a\":".repeat(500_000),
        String::new(),
        "null".to_owned(),
        "[1]".to_owned(),
        "1e999".to_owned(),
    ] {
        assert!(Metadata::from_json(&text).is_err());
    }
}

#[test]
fn pattern_numbers_give_distinct_texts_that_match() {
    for regex in [
        "[a-c]{2}",
        "ID_\\d{1,2}",
        "(ab|cde)x",
        "[01]+z",
        "x(1|22|333)",
    ] {
        let pattern = Pattern::compile(regex).unwrap();
        assert!(pattern.unambiguous(), "{regex}");
        let texts: std::collections::HashSet<String> = (0..pattern.capacity().min(2000))
            .map(|number| pattern.text(number))
            .collect();
        assert_eq!(texts.len() as u128, pattern.capacity().min(2000), "{regex}");
    }
    assert_eq!(Pattern::compile("[a-c]{2}").unwrap().capacity(), 9);
    assert_eq!(Pattern::compile("\\d\\d").unwrap().capacity(), 100);
    assert!(!Pattern::compile("(ab|cde)x?").unwrap().unambiguous()); // it is, but that is not seen
    assert!(!Pattern::compile("a*a*").unwrap().unambiguous());
    assert!(!Pattern::compile("(a|aa)+").unwrap().unambiguous());
}

#[test]
fn the_nearest_name_is_near_or_none() {
    let names = ["sequence_key", "columns"];
    assert_eq!(
        nearest_name("Sequence_Key", names.into_iter()).as_deref(),
        Some("sequence_key")
    );
    assert_eq!(nearest_name("zzz", names.into_iter()), None);
}

#[test]
fn files_of_sdv_2_are_read_and_written_back() {
    let text = r#"{"METADATA_SPEC_VERSION": "V2", "tables": {"t": {"columns": {
        "k": {"sdtype": "id", "range_is_nullable": false},
        "n": {"sdtype": "numerical", "range_min": 0, "range_max": 9.5, "decimal_places": 1},
        "d": {"sdtype": "datetime", "datetime_format": "%Y", "range_min": "1999"},
        "o": {"sdtype": "ordinal", "range_values": ["low", "high"]},
        "c": {"sdtype": "categorical", "high_cardinality": false}
    }, "sequence_key": "k", "sequence_index": "d"}}, "relationships": []}"#;
    let metadata = Metadata::from_json(text).unwrap();
    assert_eq!(metadata.sdtype("o"), Some(&SdType::Categorical));
    let written = metadata.to_json();
    for part in [
        r#""V2""#,
        r#""range_max": 9.5"#,
        r#""low""#,
        "range_is_nullable",
    ] {
        assert!(written.contains(part), "{part} in {written}");
    }
    assert_eq!(Metadata::from_json(&written).unwrap(), metadata);
    let single = r#"{"METADATA_SPEC_VERSION": "SINGLE_TABLE_V2", "columns": {"n": {"sdtype": "numerical"}}}"#;
    let single = Metadata::from_json(single).unwrap();
    assert!(single.to_json().contains(r#""V1""#));
    let wrong = text.replace("false}", "3}");
    let message = Metadata::from_json(&wrong).unwrap_err().to_string();
    assert!(
        message.contains("`range_is_nullable` in column `k` must be true or false"),
        "{message}"
    );
}

#[test]
fn a_file_of_sdv_before_1_0_is_upgraded_on_request() {
    let text = r#"{"fields": {
        "k": {"type": "id", "subtype": "string"},
        "day": {"type": "datetime", "format": "%Y-%m-%d"},
        "mail": {"type": "categorical", "pii": true, "pii_category": "email"},
        "n": {"type": "numerical", "subtype": "integer"}
    }, "entity_columns": ["k"], "sequence_index": "day", "context_columns": [], "primary_key": null,
    "constraints": [], "model_kwargs": {}, "name": "old"}"#;
    let message = Metadata::from_json(text).unwrap_err().to_string();
    assert!(message.contains("upgrade_json"), "{message}");
    let metadata = Metadata::upgrade_json(text).unwrap();
    assert_eq!(metadata.sequence_key(), ["k"]);
    assert_eq!(metadata.sequence_index(), Some("day"));
    assert_eq!(
        metadata.sdtype("mail"),
        Some(&SdType::personal(PersonalKind::Email))
    );
    let regex_format = Some("[A-Za-z]{5}".to_owned());
    assert_eq!(metadata.sdtype("k"), Some(&SdType::Id { regex_format }));
    let several = format!(r#"{{"tables": {{"a": {text}}}}}"#);
    assert_eq!(
        Metadata::upgrade_json(&several).unwrap().sequence_key(),
        ["k"]
    );
    assert!(Metadata::upgrade_json(r#"{"fields": {"k": {"type": 3}}}"#).is_err());
    assert!(Metadata::upgrade_json(r#"{"tables": {}}"#).is_err());
    assert!(Metadata::upgrade_json("{}").is_err());
}
