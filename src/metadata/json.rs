//! SDV's metadata JSON, in and out.
//! Reading is strict: an unknown field is a spelling mistake more often than a wish. Fields that SDV
//! has and we do not use are type-checked, carried along and written back.

mod unique;
mod upgrade;

use std::path::Path;

use crate::files::write_text;
use serde_json::{Map, Value, json};

use super::{Column, Metadata, MetadataBuilder, MetadataError, PersonalKind, SdType, nearest_name};
use unique::Unique;

const VERSION: &str = "METADATA_SPEC_VERSION";
const TABLE_FIELDS: [&str; 6] = [
    "columns",
    "primary_key",
    "alternate_keys",
    "sequence_key",
    "sequence_index",
    "column_relationships",
];
const COLUMN_FIELDS: [&str; 13] = [
    "sdtype",
    "datetime_format",
    "regex_format",
    "computer_representation",
    "pii",
    "order",
    "order_by",
    "range_min",
    "range_max",
    "range_is_nullable",
    "range_values",
    "decimal_places",
    "high_cardinality",
];
/// Fields that `V1` does not have.
const SECOND_FIELDS: [&str; 6] = [
    "range_min",
    "range_max",
    "range_is_nullable",
    "range_values",
    "decimal_places",
    "high_cardinality",
];
const LEARNED: [&str; 5] = ["numerical", "categorical", "boolean", "datetime", "id"];

pub(super) fn read(text: &str) -> Result<Metadata, MetadataError> {
    let top = parse(text)?;
    match top.get(VERSION) {
        Some(Value::String(version)) if version == "V1" || version == "V2" => read_several(top),
        Some(Value::String(version))
            if version == "SINGLE_TABLE_V1" || version == "SINGLE_TABLE_V2" =>
        {
            let mut table = top;
            table.shift_remove(VERSION);
            read_table("table", table)
        }
        found => {
            if found.is_none() && top.contains_key("fields") {
                return Err(MetadataError::Outdated);
            }
            if found.is_none() {
                // A misspelt version field should be called that, not missing.
                check_known(
                    &top,
                    &[&[VERSION, "tables", "relationships"], &TABLE_FIELDS[..]].concat(),
                    "the file",
                )?;
            }
            Err(MetadataError::SpecVersion {
                found: found.map_or_else(|| "missing".to_owned(), Value::to_string),
            })
        }
    }
}

/// Reads what SDV wrote before 1.0.
pub(super) fn read_outdated(text: &str) -> Result<Metadata, MetadataError> {
    let (name, table) = upgrade::upgraded(parse(text)?)?;
    read_table(&name, table)
}

fn parse(text: &str) -> Result<Map<String, Value>, MetadataError> {
    // Some editors put a byte-order mark in front, which JSON does not allow.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Unique(value) = serde_json::from_str(text).map_err(|error| MetadataError::Json {
        line: error.line(),
        column: error.column(),
        reason: bare_reason(&error),
    })?;
    object(value, "metadata", "the file")
}

fn read_several(mut top: Map<String, Value>) -> Result<Metadata, MetadataError> {
    check_known(&top, &[VERSION, "tables", "relationships"], "the file")?;
    match top.get("relationships") {
        None | Some(Value::Null) => {}
        Some(Value::Array(list)) if list.is_empty() => {}
        Some(Value::Array(_)) => return Err(MetadataError::Relationships),
        Some(other) => {
            return Err(field_type(
                "relationships",
                "the file",
                "an empty list",
                other,
            ));
        }
    }
    let tables = top
        .shift_remove("tables")
        .ok_or_else(|| missing("tables", "the file"))?;
    let tables = object(tables, "tables", "the file")?;
    if tables.len() != 1 {
        return Err(MetadataError::TableCount {
            found: tables.len(),
        });
    }
    let (name, table) = tables
        .into_iter()
        .next()
        .ok_or(MetadataError::TableCount { found: 0 })?;
    let mut table = object(table, &name, "tables")?;
    table.shift_remove(VERSION); // some versions of SDV repeat it inside
    read_table(&name, table)
}

fn read_table(name: &str, mut table: Map<String, Value>) -> Result<Metadata, MetadataError> {
    let place = format!("table `{name}`");
    check_known(&table, &TABLE_FIELDS, &place)?;
    let columns = table
        .shift_remove("columns")
        .ok_or_else(|| missing("columns", &place))?;
    let mut builder = MetadataBuilder {
        table: Some(name.to_owned()),
        sequence_key: key_columns(table.shift_remove("sequence_key"), &place)?,
        sequence_index: index_column(table.shift_remove("sequence_index"), &place)?,
        ..MetadataBuilder::default()
    };
    for (column, fields) in object(columns, "columns", &place)? {
        let place = format!("column `{column}`");
        let fields = object(fields, &column, "columns")?;
        let (sdtype, kept) = read_column(&column, &place, fields)?;
        builder = builder.column_with(column, sdtype, kept);
    }
    builder.kept = table;
    check_kept(&builder, &place)?;
    builder.build()
}

fn read_column(
    column: &str,
    place: &str,
    mut fields: Map<String, Value>,
) -> Result<(SdType, Map<String, Value>), MetadataError> {
    check_known(&fields, &COLUMN_FIELDS, place)?;
    let sdtype = fields
        .shift_remove("sdtype")
        .ok_or_else(|| missing("sdtype", place))?;
    let Value::String(sdtype) = sdtype else {
        return Err(field_type("sdtype", place, "text", &sdtype));
    };
    for (field, value) in &fields {
        let (fits, wanted) = match field.as_str() {
            "pii" | "range_is_nullable" | "high_cardinality" => {
                (value.is_boolean(), "true or false")
            }
            "order" | "range_values" => (value.is_array(), "a list"),
            "decimal_places" => (value.is_u64(), "a whole number"),
            "range_min" | "range_max" => {
                (value.is_number() || value.is_string(), "a number or text")
            }
            _ => (value.is_string(), "text"),
        };
        if !fits && !value.is_null() {
            return Err(field_type(field, place, wanted, value));
        }
    }
    if let Some(kind) = PersonalKind::from_name(&sdtype) {
        let pii = !matches!(fields.shift_remove("pii"), Some(Value::Bool(false)));
        return Ok((SdType::Personal { kind, pii }, fields));
    }
    let is_learned = LEARNED.contains(&sdtype.as_str()) && sdtype != "id";
    if is_learned && fields.get("pii") == Some(&Value::Bool(true)) {
        // SDV refuses it too; to learn what is called personal would be worse.
        return Err(MetadataError::PersonalButLearned {
            column: column.to_owned(),
            sdtype,
        });
    }
    let mut text = |field: &str| match fields.shift_remove(field) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let sdtype = match sdtype.as_str() {
        "numerical" => SdType::Numerical,
        // Categories in an order, which we learn as we learn any.
        "categorical" | "ordinal" => SdType::Categorical,
        "boolean" => SdType::Boolean,
        "datetime" => SdType::Datetime {
            format: text("datetime_format"),
        },
        "id" => SdType::Id {
            regex_format: text("regex_format"),
        },
        other => {
            return Err(unknown_sdtype(column, other));
        }
    };
    Ok((sdtype, fields))
}

/// All words for an sdtype.
pub(super) fn known_sdtypes() -> Vec<&'static str> {
    let personal = PersonalKind::ALL.map(PersonalKind::name);
    LEARNED.into_iter().chain(personal).collect()
}

fn unknown_sdtype(column: &str, sdtype: &str) -> MetadataError {
    MetadataError::UnknownSdType {
        column: column.to_owned(),
        sdtype: sdtype.to_owned(),
        nearest: nearest_name(sdtype, known_sdtypes().into_iter()),
    }
}

/// The fields we carry must at least name columns that exist, or they would mislead the next reader.
pub(super) fn check_kept(builder: &MetadataBuilder, place: &str) -> Result<(), MetadataError> {
    for (field, role) in [
        ("primary_key", "primary_key"),
        ("alternate_keys", "alternate_keys"),
    ] {
        let Some(value) = builder.kept.get(field) else {
            continue;
        };
        let mut names = Vec::new();
        if !collect_names(value, 2, &mut names) {
            return Err(field_type(
                field,
                place,
                "a column name or a list of them",
                value,
            ));
        }
        for name in names {
            if !builder.columns.iter().any(|column| column.name == name) {
                return Err(MetadataError::RoleNotAColumn {
                    role,
                    column: name.to_owned(),
                    nearest: nearest_name(
                        name,
                        builder.columns.iter().map(|column| column.name.as_str()),
                    ),
                });
            }
        }
    }
    match builder.kept.get("column_relationships") {
        None | Some(Value::Array(_) | Value::Null) => Ok(()),
        Some(other) => Err(field_type("column_relationships", place, "a list", other)),
    }
}

/// Column names in a name, a list of names, or (composite alternate keys) a list of lists.
fn collect_names<'a>(value: &'a Value, depth: usize, names: &mut Vec<&'a str>) -> bool {
    match value {
        Value::Null => true,
        Value::String(name) => {
            names.push(name);
            true
        }
        Value::Array(items) if depth > 0 => items
            .iter()
            .all(|item| collect_names(item, depth - 1, names)),
        _ => false,
    }
}

pub(super) fn write(metadata: &Metadata) -> String {
    let columns: Map<String, Value> = metadata
        .columns
        .iter()
        .map(|column| (column.name.clone(), Value::Object(write_column(column))))
        .collect();
    let mut table = Map::new();
    table.insert("columns".to_owned(), Value::Object(columns));
    table.extend(metadata.table_fields());
    let mut tables = Map::new();
    tables.insert(metadata.table.clone(), Value::Object(table));
    // Readers of the older version refuse the fields of the newer one.
    let is_second = |column: &Column| {
        SECOND_FIELDS
            .iter()
            .any(|field| column.kept.contains_key(*field))
    };
    let version = if metadata.columns.iter().any(is_second) {
        "V2"
    } else {
        "V1"
    };
    let top = json!({ VERSION: version, "tables": tables, "relationships": [] });
    format!("{top:#}")
}

impl Metadata {
    /// The fields of the table, its columns aside.
    pub(super) fn table_fields(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        match self.sequence_key() {
            [] => {}
            [key] => {
                fields.insert("sequence_key".to_owned(), key.as_str().into());
            }
            keys => {
                fields.insert("sequence_key".to_owned(), keys.into());
            }
        }
        if let Some(index) = self.sequence_index() {
            fields.insert("sequence_index".to_owned(), index.into());
        }
        fields.extend(self.kept.clone());
        fields
    }
}

/// What is said of a column, in one line.
pub(super) fn column_text(column: &Column) -> String {
    Value::Object(write_column(column)).to_string()
}

fn write_column(column: &Column) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("sdtype".to_owned(), column.sdtype.name().into());
    match &column.sdtype {
        SdType::Datetime {
            format: Some(format),
        } => {
            fields.insert("datetime_format".to_owned(), format.as_str().into());
        }
        SdType::Id {
            regex_format: Some(regex),
        } => {
            fields.insert("regex_format".to_owned(), regex.as_str().into());
        }
        SdType::Personal { pii, .. } => {
            fields.insert("pii".to_owned(), (*pii).into());
        }
        SdType::Numerical
        | SdType::Categorical
        | SdType::Boolean
        | SdType::Datetime { format: None }
        | SdType::Id { regex_format: None } => {}
    }
    fields.extend(column.kept.clone());
    fields
}

pub(super) fn write_file(metadata: &Metadata, path: &Path) -> std::io::Result<()> {
    write_text(path, &format!("{}\n", write(metadata)))
}

/// The sequence key's columns: one name, or a list of them.
fn key_columns(value: Option<Value>, place: &str) -> Result<Vec<String>, MetadataError> {
    let wanted = "a column name or a list of them";
    match value {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(name)) => Ok(vec![name]),
        Some(Value::Array(names)) if !names.is_empty() => names
            .into_iter()
            .map(|name| match name {
                Value::String(name) => Ok(name),
                other => Err(field_type("sequence_key", place, wanted, &other)),
            })
            .collect(),
        Some(other) => Err(field_type("sequence_key", place, wanted, &other)),
    }
}

fn index_column(value: Option<Value>, place: &str) -> Result<Option<String>, MetadataError> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name)),
        Some(other) => Err(field_type("sequence_index", place, "a column name", &other)),
    }
}

fn check_known(
    fields: &Map<String, Value>,
    known: &[&str],
    place: &str,
) -> Result<(), MetadataError> {
    match fields.keys().find(|field| !known.contains(&field.as_str())) {
        None => Ok(()),
        Some(field) => Err(MetadataError::UnknownField {
            field: field.clone(),
            place: place.to_owned(),
            nearest: nearest_name(field, known.iter().copied()),
        }),
    }
}

fn object(value: Value, field: &str, place: &str) -> Result<Map<String, Value>, MetadataError> {
    match value {
        Value::Object(fields) => Ok(fields),
        other => Err(field_type(field, place, "an object", &other)),
    }
}

fn missing(field: &'static str, place: &str) -> MetadataError {
    MetadataError::MissingField {
        field,
        place: place.to_owned(),
    }
}

fn field_type(field: &str, place: &str, wanted: &'static str, found: &Value) -> MetadataError {
    MetadataError::FieldType {
        field: field.to_owned(),
        place: place.to_owned(),
        wanted,
        found: match found {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        },
    }
}

/// serde_json ends its message in the position, which our own message already says.
fn bare_reason(error: &serde_json::Error) -> String {
    let full = error.to_string();
    let tail = format!(" at line {} column {}", error.line(), error.column());
    full.strip_suffix(&tail).unwrap_or(&full).to_owned()
}
