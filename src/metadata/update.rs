//! Changes to a statement. Each gives a new, checked [`Metadata`]; the old one stays as it was, and so does a fitted
//! model, which keeps its own copy.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Metadata, MetadataBuilder, MetadataError, SdType, json, nearest_name};

/// Columns that together hold no value twice, and what they are called.
#[derive(Debug)]
pub(crate) struct UniqueKey<'a> {
    pub(crate) role: &'static str,
    pub(crate) columns: Vec<&'a str>,
}

impl Metadata {
    /// The primary key and each alternate key.
    pub(crate) fn unique_keys(&self) -> Vec<UniqueKey<'_>> {
        let alternates = match self.kept.get("alternate_keys") {
            Some(Value::Array(keys)) => keys.as_slice(),
            Some(key @ Value::String(_)) => std::slice::from_ref(key),
            _ => &[],
        };
        let mut keys = vec![UniqueKey {
            role: "primary key",
            columns: self.primary_key(),
        }];
        keys.extend(alternates.iter().map(|key| UniqueKey {
            role: "alternate key",
            columns: names(key),
        }));
        keys
    }

    /// The builder that states the same, for more to be stated.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// assert_eq!(metadata.to_builder().build()?, metadata);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    pub fn to_builder(&self) -> MetadataBuilder {
        MetadataBuilder {
            table: Some(self.table.clone()),
            columns: self.columns.clone(),
            sequence_key: self.sequence_key.clone(),
            sequence_index: self.sequence_index.clone(),
            kept: self.kept.clone(),
        }
    }

    /// States a column as another sdtype.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let metadata = metadata.update_column("nb_customers", SdType::Categorical)?;
    /// assert_eq!(metadata.sdtype("nb_customers"), Some(&SdType::Categorical));
    /// // What would contradict itself is refused.
    /// assert!(metadata.update_column("date", SdType::Boolean).is_err());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    /// # Errors
    /// [`MetadataError::UnknownColumn`] when there is no such column; others as [`MetadataBuilder::build`].
    pub fn update_column(&self, name: &str, sdtype: SdType) -> Result<Metadata, MetadataError> {
        self.update_columns([name], sdtype)
    }

    /// States several columns as one sdtype.
    ///
    /// ```
    /// # use parsynth::{Metadata, SdType};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let coded = metadata.update_columns(["nb_customers", "total_sales"], SdType::Categorical)?;
    /// assert!(coded.column_names(|sdtype| *sdtype == SdType::Numerical).is_empty());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`update_column`](Metadata::update_column).
    pub fn update_columns<S: AsRef<str>>(
        &self,
        names: impl IntoIterator<Item = S>,
        sdtype: SdType,
    ) -> Result<Metadata, MetadataError> {
        let mut builder = self.to_builder();
        for name in names {
            let position = self.position(name.as_ref())?;
            let column = &mut builder.columns[position];
            if std::mem::discriminant(&column.sdtype) != std::mem::discriminant(&sdtype) {
                column.kept.clear(); // a number's representation says nothing of a category
            }
            column.sdtype = sdtype.clone();
        }
        checked(builder)
    }

    /// States one more column.
    ///
    /// ```
    /// # use parsynth::{Metadata, SdType};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let wider = metadata.add_column("weather", SdType::Categorical)?;
    /// assert_eq!(wider.columns().last(), Some(("weather", &SdType::Categorical)));
    /// assert!(wider.add_column("weather", SdType::Numerical).is_err());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// [`MetadataError::DuplicateColumn`] when it is stated already; others as [`MetadataBuilder::build`].
    pub fn add_column(
        &self,
        name: impl Into<String>,
        sdtype: SdType,
    ) -> Result<Metadata, MetadataError> {
        checked(self.to_builder().column(name, sdtype))
    }

    /// Leaves a column out, and what the alternate keys and column relationships said of it.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let narrower = metadata.remove_column("nb_customers")?;
    /// assert_eq!(narrower.sdtype("nb_customers"), None);
    /// // A column with a role stays until something else has it.
    /// assert!(metadata.remove_column("store_id").is_err());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// [`MetadataError::UnknownColumn`] when there is no such column, [`MetadataError::RemovedRole`] when it is in the
    /// sequence key or the primary key or is the sequence index, [`MetadataError::NoColumns`] when it was the last.
    pub fn remove_column(&self, name: &str) -> Result<Metadata, MetadataError> {
        let position = self.position(name)?;
        let in_primary_key = match self.kept.get("primary_key") {
            Some(Value::String(key)) => key == name,
            Some(Value::Array(keys)) => keys.iter().any(|key| key == name),
            _ => false,
        };
        let role = if self.is_key(name) {
            Some("sequence_key")
        } else if self.sequence_index() == Some(name) {
            Some("sequence_index")
        } else {
            in_primary_key.then_some("primary_key")
        };
        if let Some(role) = role {
            return Err(MetadataError::RemovedRole {
                column: name.to_owned(),
                role,
            });
        }
        let mut builder = self.to_builder();
        builder.columns.remove(position);
        for field in ["alternate_keys", "column_relationships"] {
            if let Some(Value::Array(items)) = builder.kept.get_mut(field) {
                items.retain(|item| !mentions(item, name));
            }
        }
        checked(builder)
    }

    /// Makes a column the sequence key, instead of what was.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// assert_eq!(metadata.set_sequence_key("region")?.sequence_key(), ["region"]);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`MetadataBuilder::build`]: a name that is no column, a column with another role.
    pub fn set_sequence_key(&self, column: impl Into<String>) -> Result<Metadata, MetadataError> {
        checked(self.to_builder().sequence_key(column))
    }

    /// States that the table is one sequence.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// assert!(metadata.remove_sequence_key()?.sequence_key().is_empty());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// None that the statement did not have before.
    pub fn remove_sequence_key(&self) -> Result<Metadata, MetadataError> {
        self.set_sequence_key_columns::<String>([])
    }

    /// Makes several columns together the sequence key, instead of what was.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let metadata = metadata.set_sequence_key_columns(["region", "store_id"])?;
    /// assert_eq!(metadata.sequence_key(), ["region", "store_id"]);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`set_sequence_key`](Metadata::set_sequence_key).
    pub fn set_sequence_key_columns<S: Into<String>>(
        &self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Metadata, MetadataError> {
        checked(self.to_builder().sequence_key_columns(columns))
    }

    /// Makes a numerical or datetime column the sequence index, instead of what was.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let metadata = metadata.set_sequence_index("nb_customers")?;
    /// assert_eq!(metadata.sequence_index(), Some("nb_customers"));
    /// assert!(metadata.set_sequence_index("region").is_err());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`MetadataBuilder::build`]: a name that is no column, a column with another role or sdtype.
    pub fn set_sequence_index(&self, column: impl Into<String>) -> Result<Metadata, MetadataError> {
        checked(self.to_builder().sequence_index(column))
    }

    /// Leaves the rows in the order of the input.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// assert_eq!(metadata.remove_sequence_index()?.sequence_index(), None);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// None that the statement did not have before.
    pub fn remove_sequence_index(&self) -> Result<Metadata, MetadataError> {
        let mut builder = self.to_builder();
        builder.sequence_index = None;
        checked(builder)
    }

    /// Makes a column the primary key, which holds no value twice; it is an alternate key no more. A primary key is
    /// made up if its column is an id, and else learned: what it is for, SDV's other tools know.
    ///
    /// ```
    /// # use parsynth::{Metadata, SdType};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let metadata = metadata.add_column("receipt", SdType::Id { regex_format: None })?.set_primary_key("receipt")?;
    /// assert_eq!(metadata.primary_key(), ["receipt"]);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// As [`MetadataBuilder::build`]: a name that is no column, a column with another role.
    pub fn set_primary_key(&self, column: &str) -> Result<Metadata, MetadataError> {
        let mut builder = self.to_builder();
        builder.kept.insert("primary_key".to_owned(), column.into());
        if let Some(Value::Array(keys)) = builder.kept.get_mut("alternate_keys") {
            keys.retain(|key| key != column);
        }
        checked(builder)
    }

    /// States that there is no primary key.
    ///
    /// ```
    /// # use parsynth::{Metadata, SdType};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let metadata = metadata.add_column("receipt", SdType::Id { regex_format: None })?.set_primary_key("receipt")?;
    /// assert!(metadata.remove_primary_key()?.primary_key().is_empty());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    ///
    /// # Errors
    /// None that the statement did not have before.
    pub fn remove_primary_key(&self) -> Result<Metadata, MetadataError> {
        let mut builder = self.to_builder();
        builder.kept.shift_remove("primary_key");
        checked(builder)
    }

    /// Names further columns that hold no value twice; those named before stay.
    ///
    /// ```
    /// # use parsynth::{Metadata, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let stores = read_csv("data/stores.csv", &metadata)?;
    /// metadata.validate_data(&stores)?;
    /// // A day comes once for each store.
    /// let metadata = metadata.add_alternate_keys(["date"])?;
    /// assert!(metadata.validate_data(&stores).unwrap_err().to_string().contains("alternate key"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`MetadataError::RoleNotAColumn`] when a name is no column.
    pub fn add_alternate_keys<S: AsRef<str>>(
        &self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Metadata, MetadataError> {
        let mut builder = self.to_builder();
        let mut keys = match builder.kept.shift_remove("alternate_keys") {
            Some(Value::Array(keys)) => keys,
            Some(key @ Value::String(_)) => vec![key],
            _ => Vec::new(),
        };
        for column in columns {
            let key = Value::from(column.as_ref());
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        builder
            .kept
            .insert("alternate_keys".to_owned(), Value::Array(keys));
        checked(builder)
    }

    /// The primary key: one column, or several together; none unless a file or
    /// [`set_primary_key`](Metadata::set_primary_key) named it.
    pub fn primary_key(&self) -> Vec<&str> {
        match self.kept.get("primary_key") {
            Some(key) => names(key),
            None => Vec::new(),
        }
    }

    /// Names of the columns whose sdtype is wanted, in the order they were stated.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let numbers = metadata.column_names(|sdtype| *sdtype == SdType::Numerical);
    /// assert_eq!(numbers, ["total_sales", "nb_customers"]);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    pub fn column_names(&self, is_wanted: impl Fn(&SdType) -> bool) -> Vec<&str> {
        self.columns()
            .filter(|(_, sdtype)| is_wanted(sdtype))
            .map(|(name, _)| name)
            .collect()
    }

    /// The same statement about columns called `col1`, `col2` and so on, and a table called `table`, to be shown to
    /// those who are not to know the names. Formats, patterns and the order of categories stay.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let anonymous = metadata.anonymize();
    /// assert_eq!(anonymous.columns().count(), metadata.columns().count());
    /// assert_eq!(anonymous.sequence_key(), ["col1"]);
    /// assert!(!anonymous.to_json().contains("store"));
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    pub fn anonymize(&self) -> Metadata {
        let new_names: BTreeMap<&str, String> = self
            .columns()
            .enumerate()
            .map(|(at, (name, _))| (name, format!("col{}", at + 1)))
            .collect();
        let new_name = |name: &str| new_names.get(name).cloned().unwrap_or_default();
        let mut anonymous = self.clone();
        "table".clone_into(&mut anonymous.table);
        for column in &mut anonymous.columns {
            column.name = new_name(&column.name);
        }
        for key in &mut anonymous.sequence_key {
            *key = new_name(key);
        }
        anonymous.sequence_index = self.sequence_index().map(new_name);
        for (field, value) in &mut anonymous.kept {
            if field == "column_relationships" {
                let items = value.as_array_mut().into_iter().flatten();
                for names in items.filter_map(|item| item.get_mut("column_names")) {
                    rename(names, &new_names);
                }
            } else {
                rename(value, &new_names);
            }
        }
        anonymous
    }

    fn position(&self, name: &str) -> Result<usize, MetadataError> {
        self.columns
            .iter()
            .position(|column| column.name == name)
            .ok_or_else(|| MetadataError::UnknownColumn {
                column: name.to_owned(),
                nearest: nearest_name(name, self.columns().map(|(name, _)| name)),
            })
    }
}

/// A name, or a list of them.
fn names(key: &Value) -> Vec<&str> {
    match key {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => Vec::from_iter(name.as_str()),
    }
}

fn checked(builder: MetadataBuilder) -> Result<Metadata, MetadataError> {
    let place = format!("table `{}`", builder.table.as_deref().unwrap_or("table"));
    json::check_kept(&builder, &place)?;
    builder.build()
}

fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        Value::Object(fields) => fields
            .get("column_names")
            .is_some_and(|names| mentions(names, name)),
        _ => false,
    }
}

/// Replaces the names of columns in a name, a list, or a list of lists.
fn rename(value: &mut Value, names: &BTreeMap<&str, String>) {
    match value {
        Value::String(name) => {
            if let Some(new) = names.get(name.as_str()) {
                name.clone_from(new);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated() -> Metadata {
        Metadata::from_json(
            r#"{"METADATA_SPEC_VERSION": "V1", "tables": {"secret": {
                "columns": {
                    "patient": {"sdtype": "id"},
                    "day": {"sdtype": "numerical", "computer_representation": "Int16"},
                    "row": {"sdtype": "id", "regex_format": "r[0-9]{9}"},
                    "badge": {"sdtype": "id"},
                    "street": {"sdtype": "street_address", "pii": true}
                },
                "primary_key": "row", "alternate_keys": ["badge", ["badge", "street"]],
                "sequence_key": "patient", "sequence_index": "day",
                "column_relationships": [{"type": "address", "column_names": ["street", "badge"]}]
            }}}"#,
        )
        .unwrap()
    }

    #[test]
    fn no_name_of_the_table_is_left_in_an_anonymous_one() {
        let anonymous = stated().anonymize();
        let text = anonymous.to_json();
        for name in ["secret", "patient", "day", "row", "badge", "\"street\""] {
            assert!(!text.contains(name), "{name} in {text}");
        }
        assert_eq!(anonymous.sequence_key(), ["col1"]);
        assert_eq!(anonymous.sequence_index(), Some("col2"));
        assert_eq!(anonymous.primary_key(), ["col3"]);
        assert!(text.contains("r[0-9]{9}"), "{text}");
        assert_eq!(Metadata::from_json(&text).unwrap(), anonymous);
    }

    #[test]
    fn a_change_that_leaves_something_half_said_is_refused() {
        let stated = stated();
        let message = |result: Result<Metadata, MetadataError>| result.unwrap_err().to_string();
        assert!(
            message(stated.update_column("dya", SdType::Boolean)).contains("did you mean `day`")
        );
        assert!(message(stated.update_column("day", SdType::Boolean)).contains("sequence_index"));
        for name in ["patient", "day", "row"] {
            assert!(message(stated.remove_column(name)).contains(name));
        }
        assert!(message(stated.set_sequence_key("day")).contains("cannot be both"));
        assert!(message(stated.set_sequence_index("badge")).contains("numerical or datetime"));
        assert!(message(stated.set_primary_key("bage")).contains("did you mean `badge`"));
        assert!(message(stated.add_alternate_keys(["bage"])).contains("did you mean `badge`"));
        assert!(message(stated.add_column("day", SdType::Numerical)).contains("twice"));
        let alone = Metadata::builder()
            .column("a", SdType::Numerical)
            .build()
            .unwrap();
        assert!(message(alone.remove_column("a")).contains("no columns"));
    }

    #[test]
    fn a_changed_column_loses_the_fields_of_its_old_sdtype_only() {
        let stated = stated();
        let same = stated.update_column("day", SdType::Numerical).unwrap();
        assert_eq!(same, stated);
        let dated = SdType::Datetime { format: None };
        let changed = stated.update_columns(["day"], dated).unwrap();
        assert!(!changed.to_json().contains("Int16"));
    }

    #[test]
    fn keys_that_hold_no_value_twice_are_kept_in_order() {
        let stated = stated();
        let keyed = stated.set_primary_key("badge").unwrap();
        assert_eq!(keyed.primary_key(), ["badge"]);
        assert_eq!(
            keyed.remove_primary_key().unwrap().primary_key(),
            Vec::<&str>::new()
        );
        let without = stated.remove_column("street").unwrap();
        assert!(
            !without.to_json().contains("street"),
            "{}",
            without.to_json()
        );
        let more = without.add_alternate_keys(["badge", "row"]).unwrap();
        assert!(more.to_json().contains("alternate_keys"));
        assert_eq!(more.unique_columns(), ["row", "badge", "row"]);
    }

    #[test]
    fn differences_are_told_whatever_the_order_of_columns() {
        let stated = stated();
        let changed = stated
            .update_column("badge", SdType::Categorical)
            .and_then(|changed| changed.remove_sequence_index())
            .and_then(|changed| changed.remove_column("day"))
            .and_then(|changed| changed.add_column("week", SdType::Numerical))
            .unwrap();
        let lines: Vec<String> = stated
            .diff(&changed)
            .to_string()
            .lines()
            .map(str::to_owned)
            .collect();
        assert_eq!(
            lines,
            [
                "column `day`: only in the left one",
                r#"column `badge`: {"sdtype":"id"}; right: {"sdtype":"categorical"}"#,
                "column `week`: only in the right one",
                r#"`sequence_index`: "day"; right: none"#,
            ]
        );
        let mut turned = stated.to_builder();
        turned.columns.reverse();
        assert!(stated.diff(&turned.build().unwrap()).is_empty());
    }
}
