//! The metadata of a table to which the columns of another were joined.

use super::{Metadata, MetadataError, nearest_name};

impl Metadata {
    /// The metadata of these children with their parent's columns joined to them, as
    /// [`join_parent`](crate::join_parent) joins the tables: the children's statement, and after their columns those of
    /// the parents without the key. What `parents` says of sequence key, index and unique columns is left out.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let id = || SdType::Id { regex_format: None };
    /// let visits = Metadata::builder()
    ///     .column("patient", id())
    ///     .column("day", SdType::Numerical)
    ///     .sequence_key("patient")
    ///     .sequence_index("day")
    ///     .build()?;
    /// let patients = Metadata::builder().column("patient", id()).column("sex", SdType::Categorical).build()?;
    /// let joined = visits.join_parent(&patients, &["patient"])?;
    /// assert_eq!(joined.sdtype("sex"), Some(&SdType::Categorical));
    /// assert_eq!(joined.sequence_key(), visits.sequence_key());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    /// # Errors
    /// [`MetadataError`] for a key column that one of the two does not state, and for another column that both do.
    pub fn join_parent(&self, parents: &Metadata, key: &[&str]) -> Result<Metadata, MetadataError> {
        for column in key {
            for metadata in [self, parents] {
                if metadata.sdtype(column).is_none() {
                    return Err(MetadataError::RoleNotAColumn {
                        role: "key",
                        column: (*column).to_owned(),
                        nearest: nearest_name(column, metadata.columns().map(|(name, _)| name)),
                    });
                }
            }
        }
        let mut joined = self.clone();
        let others = parents
            .columns
            .iter()
            .filter(|column| !key.contains(&column.name.as_str()));
        joined.columns.extend(others.cloned());
        joined.check()?;
        Ok(joined)
    }
}
