use super::v1::*;
use super::*;
use crate::{ParSynthesizer, PersonalKind, SdType};
use polars::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const GOLDEN: &str = "tests/golden/v1.parsynth";
/// What format 1's structs hold after reading [`GOLDEN`]; made anew with it (see `tests/artifact.rs`).
const GOLDEN_TEXT: &str = "tests/golden/v1.txt";

/// What a case does to a healthy artifact.
type Damage = fn(&mut ArtifactV1);

fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A model with every kind of column: key, date index, context number, category and id, number, category, text id,
/// personal data, duration.
fn artifact() -> Artifact {
    let metadata = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("day", SdType::Datetime { format: None })
        .column("age", SdType::Numerical)
        .column("town", SdType::Categorical)
        .column("size", SdType::Numerical)
        .column("well", SdType::Boolean)
        .column(
            "ticket",
            SdType::Id {
                regex_format: Some("T[0-9]{4}".to_owned()),
            },
        )
        .column("nurse", SdType::personal(PersonalKind::Name))
        .column("lap", SdType::Numerical)
        .sequence_key("key")
        .sequence_index("day")
        .build()
        .expect("valid");
    let mut frame = df!(
        "key" => [1_i64, 1, 1, 2, 2, 3],
        "day" => ["2024-01-01", "2024-01-02", "2024-01-05", "2024-02-03", "2024-02-04", "2024-03-01"],
        "age" => [Some(30.5), Some(30.5), Some(30.5), None, None, Some(41.0)],
        "town" => ["x", "x", "x", "y", "y", "x"],
        "size" => [1.5, 2.5, 2.0, 3.5, 1.0, 2.25],
        "well" => [Some(true), None, Some(false), Some(true), Some(true), Some(false)],
        "ticket" => ["T0001", "T0002", "T0003", "T0004", "T0005", "T0006"],
        "nurse" => [Some("Ann"), Some("Ben"), None, Some("Cleo"), Some("Ann"), Some("Dan")],
    )
    .expect("a frame");
    let lap = Column::new(
        "lap".into(),
        [60_000_i64, 61_500, 59_000, 60_500, 62_000, 60_250],
    )
    .cast(&DataType::Duration(TimeUnit::Milliseconds))
    .expect("durations");
    frame.with_column(lap).expect("a column of six");
    let model = ParSynthesizer::builder(metadata)
        .context_columns(["age", "town"])
        .hidden_size(2)
        .epochs(1)
        .threads(1)
        .seed(3)
        .max_training_time(std::time::Duration::from_millis(90_500))
        .fit(&frame)
        .expect("a fit");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.parsynth");
    model.save(&path).expect("saved");
    let (read, _) = read(&path).expect("read");
    // What the file gives is what was fitted, part by part.
    assert_eq!(&read.metadata, model.metadata());
    assert_eq!(read.schema, model.schema);
    assert_eq!(read.layout, *model.layout);
    assert_eq!(read.identifiers, model.identifiers);
    assert_eq!(read.personal, model.personal);
    assert_eq!(read.spreads, model.spreads);
    assert_eq!(&read.report, model.report());
    assert_eq!(read.options, model.options);
    assert_eq!(read.saved_by, Versions::running());
    read
}

fn frozen() -> ArtifactV1 {
    ArtifactV1::freeze(&artifact()).expect("frozen")
}

#[test]
fn a_model_survives_the_file_whole() {
    let artifact = artifact();
    let frozen = ArtifactV1::freeze(&artifact).expect("frozen");
    let payload = encode(&frozen).expect("encoded");
    assert_eq!(decode(&payload).expect("decoded"), frozen);
    assert_eq!(frozen.thaw().expect("thawed"), artifact);
}

/// The message of thawing a model after a change.
fn refusal(frozen: &ArtifactV1, change: impl Fn(&mut ArtifactV1)) -> String {
    let mut changed = frozen.clone();
    change(&mut changed);
    assert!(&changed != frozen, "nothing was changed");
    let flaw = changed
        .thaw()
        .expect_err("a model that cannot be was accepted");
    let error = flaw.at(Path::new("m"));
    let cause = std::error::Error::source(&error).map_or(String::new(), |e| e.to_string());
    format!("{error} {cause}")
}

fn number(column: &mut RowColumnV1) -> &mut NumberColumnV1 {
    match &mut column.kind {
        RowKindV1::Number(number) => number,
        RowKindV1::Category(_) => panic!("a category"),
    }
}

fn context_number(column: &mut ContextColumnV1) -> &mut ContextNumberV1 {
    match &mut column.kind {
        ContextKindV1::Number(number) => number,
        ContextKindV1::Category(_) => panic!("a category"),
    }
}

/// The length's column is the last of the context.
fn length(artifact: &mut ArtifactV1) -> &mut ContextNumberV1 {
    context_number(artifact.layout.context.last_mut().expect("a length"))
}

/// The personal column comes after seven others.
fn nurse(artifact: &mut ArtifactV1) -> &mut PersonalCodecV1 {
    artifact.personal[7].as_mut().expect("a personal column")
}

fn category(column: &mut ContextColumnV1) -> &mut CategoryCodecV1 {
    match &mut column.kind {
        ContextKindV1::Category(codec) => codec,
        ContextKindV1::Number(_) => panic!("a number"),
    }
}

#[test]
fn a_tensor_that_is_missing_extra_misshapen_or_no_number_is_refused() {
    let frozen = frozen();
    let cases: [(&str, Damage); 8] = [
        (
            "sequence network, weight `lstm_input_weight_0`: missing",
            |a| {
                a.sequence.remove(0);
            },
        ),
        ("weight `skip_gate_bias`: missing", |a| {
            a.context.pop();
        }),
        ("context network, weight `more`: no part", |a| {
            a.context.push(TensorV1 {
                name: Text("more".to_owned()),
                shape: vec![1],
                values: vec![0.0],
            });
        }),
        ("weight `lstm_input_weight_0`: shape [", |a| {
            a.sequence[0].shape.reverse();
        }),
        (
            "weight `lstm_input_weight_0`: its shape does not fit",
            |a| {
                a.sequence[0].values.pop();
            },
        ),
        ("weight `lstm_hidden_weight_0`: a number is NaN", |a| {
            a.sequence[1].values[3] = f32::NAN;
        }),
        ("weight `lstm_hidden_weight_0`: a number is NaN", |a| {
            a.sequence[1].values[3] = f32::INFINITY;
        }),
        // Larger networks are refused by their shapes.
        ("weight `lstm_input_weight_0`: shape [", |a| {
            a.options.hidden_size = 4096;
            a.options.layers = 8;
        }),
    ];
    for (wanted, change) in cases {
        let found = refusal(&frozen, change);
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn parts_that_contradict_each_other_or_cannot_be_are_refused() {
    let frozen = frozen();
    // Context: age, town, start, perhaps the end with the table, length. Rows: gap, size, well, lap.
    let cases: [(&str, Damage); 52] = [
        ("option `dropout` is 2", |a| a.options.dropout = 2.0),
        ("option `learning_rate` is NaN", |a| {
            a.options.learning_rate = f64::NAN;
        }),
        ("option `threads` is 0", |a| a.options.threads = 0),
        ("max_training_time", |a| {
            a.options.max_training_time = Some(DurationV1 {
                seconds: u64::MAX,
                nanoseconds: u32::MAX,
            });
        }),
        ("sizes: 0", |a| a.sizes.head = 0),
        ("sizes: 5000", |a| a.sizes.components = 5000),
        ("metadata that is not valid", |a| {
            a.metadata = Text("{}".to_owned());
        }),
        ("longer than 4 MiB", |a| {
            a.metadata = Text(" ".repeat(5 << 20));
        }),
        ("not as many as the metadata states", |a| {
            a.columns.pop();
        }),
        ("`day`: it is there twice", |a| {
            a.columns[2].name = Text("day".to_owned());
        }),
        ("the metadata does not state it", |a| {
            a.columns[2].name = Text("agee".to_owned());
        }),
        ("its role is not the one", |a| {
            a.columns[0].role = RoleV1::Sequential;
        }),
        ("its columns are not those", |a| {
            a.columns[2].role = RoleV1::Sequential;
        }),
        ("too far from 0", |a| a.columns[1].base = i128::MIN),
        ("`well`: it cannot be written", |a| {
            a.columns[5].storage = StorageV1::Date;
        }),
        ("`town`: it cannot be written", |a| {
            a.columns[3].storage = StorageV1::Enumeration(vec![Text("x".to_owned())]);
        }),
        ("`town`: one of its dtype's categories", |a| {
            a.columns[3].storage =
                StorageV1::Enumeration(vec![Text("x".to_owned()), Text("x".to_owned())]);
        }),
        ("`size`: it cannot be written", |a| {
            a.columns[4].storage = StorageV1::TextDate {
                format: Text("%Q".to_owned()),
            };
        }),
        ("`size`: it cannot be written", |a| {
            a.columns[4].storage = StorageV1::Datetime {
                unit: TimeUnitNameV1::Milliseconds,
                zone: Some(Text("Nowhere/Town".to_owned())),
            };
        }),
        ("not one for each column", |a| {
            a.identifiers.pop();
        }),
        ("`size`: it has made-up values", |a| {
            a.identifiers[4] = a.identifiers[0].clone();
        }),
        ("more than 65,535 digits", |a| {
            if let Some(IdentifierCodecV1::Counter { digits, .. }) = &mut a.identifiers[0] {
                *digits = 1 << 40;
            }
        }),
        ("`ticket`: regex_format `T[` is not valid", |a| {
            if let Some(IdentifierCodecV1::Pattern { regex, .. }) = &mut a.identifiers[6] {
                *regex = Text("T[".to_owned());
            }
        }),
        ("hashes of its ids", |a| {
            if let Some(IdentifierCodecV1::Pattern { taken, .. }) = &mut a.identifiers[6] {
                taken.reverse();
            }
        }),
        ("personal columns: not one codec for each", |a| {
            a.personal.pop();
        }),
        ("`size`: it has personal values", |a| {
            a.personal[4] = a.personal[7].clone();
        }),
        ("`nurse`: its dtype cannot hold", |a| {
            a.columns[7].storage = StorageV1::Integer(IntegerTypeV1::I8);
        }),
        ("`nurse`: it has no locale", |a| nurse(a).locales.clear()),
        ("`nurse`: it has no locale, or more", |a| {
            nurse(a).locales = vec![Text("en_US".to_owned()); 1000];
        }),
        ("`nurse`: locale `xx` is unknown", |a| {
            nurse(a).locales = vec![Text("xx".to_owned())];
        }),
        ("`nurse`: hashes of its values", |a| {
            nurse(a).taken.reverse()
        }),
        ("`nurse`: its share of missing cells", |a| {
            a.spreads[7].missing_share = f64::NAN;
        }),
        ("`key`: it is part of the key, and cells", |a| {
            a.spreads[0].missing_share = 0.5;
        }),
        ("spreads: not one for each", |a| {
            a.spreads.pop();
        }),
        ("`nurse`: its numbers have no digits", |a| {
            nurse(a).digits = (3, u32::MAX);
        }),
        ("not 1 to 10,000,000 rows", |a| a.layout.longest = 0),
        ("not 1 to 10,000,000 rows", |a| a.layout.longest = u64::MAX),
        ("length: it goes beyond", |a| {
            length(a).codec.high = 1e300;
        }),
        ("length: it goes beyond", |a| {
            let codec = &mut length(a).codec;
            if let Some(grid) = &mut codec.grid {
                grid.step = 1e9;
            }
        }),
        ("there is a codec without a column", |a| {
            a.layout.index = None;
        }),
        ("its unit is not its column's", |a| {
            if let Some(index) = &mut a.layout.index {
                index.unit = None;
            }
        }),
        ("a cycle has no length", |a| {
            if let Some(index) = &mut a.layout.index {
                index.cycles.push(CycleV1 {
                    period: 0.0,
                    origin: 0.0,
                    harmonics: vec![1.0],
                });
            }
        }),
        ("its time runs backwards", |a| {
            if let Some(index) = &mut a.layout.index {
                index.median_gap = -1.0;
            }
        }),
        ("their columns are not those", |a| {
            a.layout.rows.swap(0, 1);
        }),
        ("there is no column 99", |a| {
            a.layout.rows[1].source = RowSourceV1::Column(99);
        }),
        ("`town`: numbers where categories belong", |a| {
            a.layout.context[1].kind = a.layout.context[0].kind.clone();
        }),
        ("`town`: its labels are not in order", |a| {
            category(&mut a.layout.context[1]).labels.reverse();
        }),
        ("`town`: it has no class that can be drawn", |a| {
            category(&mut a.layout.context[1]).labels.clear();
        }),
        ("`size`: its smallest value is larger", |a| {
            number(&mut a.layout.rows[1]).whole.low = 1e9;
        }),
        ("`size`: values are not in order", |a| {
            number(&mut a.layout.rows[1]).whole.atoms = vec![2.0, 1.5];
        }),
        ("`size`: its distribution has fewer", |a| {
            number(&mut a.layout.rows[1]).scale.map.shares.pop();
        }),
        ("`size`: a number is NaN", |a| {
            number(&mut a.layout.rows[1]).scale.map.knots[0] = f64::NAN;
        }),
    ];
    for (wanted, change) in cases {
        let found = refusal(&frozen, change);
        assert!(found.contains(wanted), "{found}\nwanted: {wanted}");
    }
}

#[test]
fn distributions_and_dates_that_cannot_be_are_refused() {
    let frozen = frozen();
    let cases: [(&str, Damage); 12] = [
        ("dates: one lies before 1970 or after 9999", |a| {
            a.provenance.fitted = -1;
        }),
        ("dates: one lies before 1970 or after 9999", |a| {
            a.provenance.created = i64::MAX;
        }),
        ("option `segment_size` is 0", |a| {
            a.options.segment_size = Some(0);
        }),
        ("bins` is 1, expected 2 to 1000", |a| {
            let one = NumericalDistributionV1::Bins(1);
            a.options.numerical_distributions = vec![(Text("size".to_owned()), one)];
        }),
        ("options: a column has two distributions", |a| {
            let size = (
                Text("size".to_owned()),
                NumericalDistributionV1::Logarithmic,
            );
            a.options.numerical_distributions = vec![size.clone(), size];
        }),
        ("`size`: its logarithms have no smallest number", |a| {
            number(&mut a.layout.rows[1]).scale.map.unit = UnitV1::Logarithm { floor: 0.0 };
        }),
        ("`size`: its logarithms have no smallest number", |a| {
            number(&mut a.layout.rows[1]).scale.map.unit = UnitV1::Logarithm { floor: f64::NAN };
        }),
        ("`size`: a logarithm is too large", |a| {
            let map = &mut number(&mut a.layout.rows[1]).scale.map;
            map.unit = UnitV1::Logarithm { floor: 1.0 };
            map.knots = vec![1.0, 710.0];
            map.shares = vec![0.0, 1.0];
        }),
        ("`size`: a number is NaN or infinite", |a| {
            number(&mut a.layout.rows[1]).whole.bins = vec![BinV1 {
                low: 0.0,
                high: f64::INFINITY,
            }];
        }),
        ("`size`: its bins are not in order, or overlap", |a| {
            let bin = |low, high| BinV1 { low, high };
            number(&mut a.layout.rows[1]).whole.bins = vec![bin(0.0, 2.0), bin(1.0, 3.0)];
        }),
        ("`size`: its bins are not in order, or overlap", |a| {
            let bin = |low, high| BinV1 { low, high };
            number(&mut a.layout.rows[1]).whole.bins = vec![bin(2.0, 1.0)];
        }),
        ("`size`: it has bins, and other classes", |a| {
            let whole = &mut number(&mut a.layout.rows[1]).whole;
            whole.atoms = vec![1.0];
            whole.bins = vec![BinV1 {
                low: 0.0,
                high: 2.0,
            }];
        }),
    ];
    for (wanted, change) in cases {
        let found = refusal(&frozen, change);
        assert!(found.contains(wanted), "{found}\nwanted: {wanted}");
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    let mut payload = encode(&frozen()).expect("encoded");
    payload.extend([0; 3]);
    let flaw = decode(&payload).expect_err("trailing bytes");
    assert!(
        matches!(flaw, Flaw::Undecodable { ref problem } if problem.contains("3 bytes follow"))
    );
}

#[test]
fn a_later_format_is_named_with_what_wrote_it() {
    // Format 2 keeps the two versions in front, and has what it likes behind.
    let later = VersionsV1 {
        parsynth: Text("3.1.4".to_owned()),
        libtorch: Text("2.99.0".to_owned()),
    };
    let mut payload =
        bincode::serde::encode_to_vec(&later, bincode::config::standard()).expect("encoded");
    payload.extend(b"what a later build knows");
    let flaw = from_payload(&Header::of(2, &payload), &payload).expect_err("unknown");
    assert_eq!(
        flaw.at(Path::new("m.parsynth")).to_string(),
        "model file m.parsynth was written by parsynth 3.1.4 with format 2; this build reads up to 1: upgrade parsynth"
    );
}

#[test]
fn an_older_build_of_this_format_is_read() {
    let mut older = artifact();
    older.saved_by = Versions::new("0.0.9".to_owned(), "1.13.0".to_owned());
    let bytes = to_bytes(&older).expect("written");
    let header = Header::read(&bytes[..HEADER_BYTES], bytes.len() as u64).expect("a header");
    let read = from_payload(&header, &bytes[HEADER_BYTES..]).expect("read");
    assert_eq!(read, older);
}

#[test]
fn a_length_that_nothing_follows_is_refused_for_every_list_and_text() {
    let payload = encode(&frozen()).expect("encoded");
    // Every place of the payload in turn begins an integer of 2^34, below the limit of decoding.
    let mut claim = vec![253];
    claim.extend((1_u64 << 34).to_le_bytes());
    for at in 0..payload.len().min(4000) {
        let mut hostile = payload[..at].to_vec();
        hostile.extend(&claim);
        // In place of a float the claim is zeros to what follows: lists that end the payload, empty.
        let read = decode(&hostile).and_then(|artifact| artifact.thaw());
        assert!(read.is_err(), "accepted a length at {at}");
    }
}

#[test]
fn any_bytes_are_refused_or_thaw_without_panic() {
    let payload = encode(&frozen()).expect("encoded");
    let damage = (0..payload.len(), proptest::num::u8::ANY);
    let damages = proptest::collection::vec(damage, 1..4);
    let mut runner = TestRunner::new(Config::with_cases(2000));
    runner
        .run(&damages, |damages| {
            let mut bytes = payload.clone();
            for (at, byte) in damages {
                bytes[at] = byte;
            }
            let _ = decode(&bytes).and_then(|artifact| artifact.thaw());
            Ok(())
        })
        .expect("no panic");
}

/// The frozen structs as text, weights by their sums' bits.
fn described(artifact: &ArtifactV1) -> String {
    let mut rest = artifact.clone();
    let mut text = String::new();
    for (network, tensors) in [
        ("context", &mut rest.context),
        ("sequence", &mut rest.sequence),
    ] {
        for tensor in std::mem::take(tensors) {
            let bytes: Vec<u8> = tensor.values.iter().flat_map(|v| v.to_le_bytes()).collect();
            text += &format!(
                "{network} {} {:?} {:08x}\n",
                tensor.name.0,
                tensor.shape,
                crc32fast::hash(&bytes)
            );
        }
    }
    format!("{rest:#?}\n{text}")
}

#[test]
fn the_golden_file_still_holds_what_was_written() {
    // A swapped or added field of format 1 would read as other values, or not at all.
    let (header, payload) = read_bytes(&in_repository(GOLDEN)).expect("the golden file");
    header.check(&payload).expect("whole");
    let found = described(&decode(&payload).expect("decoded"));
    if std::env::var_os("PARSYNTH_WRITE_GOLDEN").is_some() {
        std::fs::write(in_repository(GOLDEN_TEXT), &found).expect("written");
    }
    let wanted = std::fs::read_to_string(in_repository(GOLDEN_TEXT)).expect("the golden text");
    let wanted = wanted.replace("\r\n", "\n");
    let difference = found
        .lines()
        .zip(wanted.lines())
        .find(|(found, wanted)| found != wanted);
    assert!(
        found == wanted,
        "read and written differ first in {difference:?}"
    );
    assert_eq!(
        encode(&decode(&payload).expect("decoded")).expect("encoded"),
        payload
    );
}
