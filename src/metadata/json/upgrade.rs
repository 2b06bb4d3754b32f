//! Metadata of SDV before 1.0, whose columns are called fields, in the words of today.
//! In: the file's JSON. Out: the fields of one table as `V1` has them.

use serde_json::{Map, Value};

use super::{MetadataError, field_type, missing, object};

/// What SDV 0.x wrote of ids without a pattern.
const WHOLE_IDS: &str = r"\d{30}";
const TEXT_IDS: &str = "[A-Za-z]{5}";

/// The table's name and its fields in `V1`.
pub(super) fn upgraded(
    mut top: Map<String, Value>,
) -> Result<(String, Map<String, Value>), MetadataError> {
    let Some(tables) = top.shift_remove("tables") else {
        let name = match top.get("name") {
            Some(Value::String(name)) => name.clone(),
            _ => "table".to_owned(),
        };
        return Ok((name, upgraded_table(top)?));
    };
    let tables = object(tables, "tables", "the file")?;
    let found = tables.len();
    match tables.into_iter().next() {
        Some((name, table)) if found == 1 => {
            let table = upgraded_table(object(table, &name, "tables")?)?;
            Ok((name, table))
        }
        _ => Err(MetadataError::TableCount { found }),
    }
}

fn upgraded_table(mut old: Map<String, Value>) -> Result<Map<String, Value>, MetadataError> {
    let fields = old
        .shift_remove("fields")
        .ok_or_else(|| missing("fields", "the table"))?;
    let primary_key = old.shift_remove("primary_key").filter(|key| !key.is_null());
    let mut columns = Map::new();
    for (name, field) in object(fields, "fields", "the table")? {
        let field = object(field, &name, "fields")?;
        columns.insert(name.clone(), Value::Object(upgraded_column(&name, field)?));
    }
    let mut table = Map::new();
    table.insert("columns".to_owned(), Value::Object(columns));
    // Tables of sequences named their key in a list, and context columns, which belong to the builder today.
    let key = match old.shift_remove("entity_columns") {
        Some(Value::Array(mut names)) if names.len() == 1 => names.pop(),
        Some(Value::Array(names)) if names.is_empty() => None,
        key => key.filter(|key| !key.is_null()),
    };
    let roles = [
        ("primary_key", primary_key),
        ("sequence_key", key),
        (
            "sequence_index",
            old.shift_remove("sequence_index")
                .filter(|index| !index.is_null()),
        ),
    ];
    for (role, value) in roles {
        if let Some(value) = value {
            table.insert(role.to_owned(), value);
        }
    }
    Ok(table)
}

fn upgraded_column(
    name: &str,
    mut old: Map<String, Value>,
) -> Result<Map<String, Value>, MetadataError> {
    let place = format!("field `{name}`");
    let mut text = |field: &str| match old.shift_remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        // A category of personal data may come with its provider's arguments behind it.
        Some(Value::Array(parts)) => Ok(parts.first().and_then(Value::as_str).map(str::to_owned)),
        Some(other) => Err(field_type(field, &place, "text", &other)),
    };
    let sdtype = text("type")?.ok_or_else(|| missing("type", &place))?;
    let (subtype, format, regex, kind) = (
        text("subtype")?,
        text("format")?,
        text("regex")?,
        text("pii_category")?,
    );
    let is_personal = old.get("pii") == Some(&Value::Bool(true));
    let mut column = Map::new();
    let sdtype = kind.filter(|_| is_personal).unwrap_or(sdtype);
    match sdtype.as_str() {
        "datetime" => {
            if let Some(format) = format {
                column.insert("datetime_format".to_owned(), format.into());
            }
        }
        "id" => {
            let unnamed = match subtype.as_deref() {
                Some("integer") => WHOLE_IDS,
                _ => TEXT_IDS,
            };
            let regex = regex.unwrap_or_else(|| unnamed.to_owned());
            column.insert("regex_format".to_owned(), regex.into());
        }
        _ => {}
    }
    if is_personal {
        column.insert("pii".to_owned(), true.into());
    }
    column.insert("sdtype".to_owned(), sdtype.into());
    Ok(column)
}
