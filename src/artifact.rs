//! A model as one file, and back.
//! In: an [`Artifact`], everything that a fit learned. Out: the bytes below, or the reason why they were refused.
//! Whatever the bytes, reading gives an error or a model that samples; it never panics, and never allocates more than
//! a small multiple of the file's size.
//!
//! # Format 1
//!
//! All numbers are little-endian.
//!
//! ```text
//! offset  bytes  content
//!      0      8  magic, the letters PARSYNTH
//!      8      2  u16  format, 1
//!     10      8  u64  n, bytes of the payload; the file has 22 + n
//!     18      4  u32  CRC-32 (IEEE) of bytes 0..18 and of the payload
//!     22      n  payload
//! ```
//!
//! Every later format keeps this header, and begins its payload with the first two fields, so that an older build can
//! say who wrote a file it cannot read. The payload of format 1 is one `ArtifactV1` in bincode 2's standard
//! configuration:
//!
//! ```text
//! u8, bool                 one byte
//! f32, f64                 4 and 8 bytes
//! u16 to u128, lengths     one byte up to 250, else 251 (u16), 252 (u32), 253 (u64) or 254 (u128) and that many bytes
//! i16 to i128              zigzag (0, -1, 1, -2, ... are 0, 1, 2, 3, ...), then as unsigned
//! text                     length in bytes, UTF-8
//! list                     length, items          option    0, or 1 and the value
//! struct                   its fields in order    enum      the variant's number from 0 as u32, its fields
//! ```
//!
//! `ArtifactV1` and what it is made of stand in `artifact/v1.rs`; their fields, in order:
//!
//! ```text
//! text, text               version of parsynth, version of libtorch
//! text                     metadata, as SDV's JSON
//! list of columns          name, role, storage, base (i128)
//! layout                   context columns, row columns, index, longest
//! list of identifiers      by column: none, a counter, or a pattern with keyed hashes
//! report, options, sizes
//! list of tensors          context network: name, shape (list of u64), values (list of f32), in the buffer's order
//! list of tensors          sequence network; the LSTM's come first, in cuDNN's order
//! i64, i64                 when the builder was made and the fit ended, in seconds since 1970, UTC
//! text, text               versions of parsynth and of libtorch that fitted
//! text                     constraints, as JSON
//! list of what each learned   nothing, combinations of classes, followers of classes, or how totals begin
//! list of personal codecs  by column: none, or locales, keyed hashes and what numbers looked like
//! list of spreads          by column: whether a made-up one is constant in each sequence, share of missing cells
//! ```
//!
//! A changed field makes a format 2 and a function from 1 to 2; the structs of format 1 stay as they are.

mod header;
mod v1;

use crate::codec::identifier::IdentifierCodec;
use crate::codec::personal::PersonalCodec;
use crate::codec::spread::Spread;
use crate::constraint::Rules;
use crate::files::replace;
use crate::health::Versions;
use crate::info::Provenance;
use crate::layout::Layout;
use crate::metadata::{Metadata, MetadataError};
use crate::model::Sizes;
use crate::params::{OptionError, ValidFitOptions};
use crate::report::FitReport;
use crate::table::Schema;
use header::{FORMAT, HEADER_BYTES, Header, MOST_PAYLOAD_BYTES};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use v1::{ArtifactV1, VersionsV1};

/// Why a model file was refused, or could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// There is no such file.
    #[error("model file {} is missing", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The path leads to a folder or a device.
    #[error("{} is not a file", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("cannot read model file {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file cannot be written; what it held before is untouched.
    #[error("cannot write model file {}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file does not begin as a model does.
    #[error("{} is no parsynth model: it does not begin with PARSYNTH", .path.display())]
    NotAModel {
        /// The file.
        path: PathBuf,
    },
    /// The file was cut short, or something was appended to it.
    #[error("model file {} has {found} bytes, its header says {wanted}; copy it again", .path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// Bytes in the file.
        found: u64,
        /// Bytes it should have.
        wanted: u64,
    },
    /// The model is larger than a file may be.
    #[error("model {} has {found} bytes of content, at most {most} are allowed", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes of its content.
        found: u64,
        /// The most bytes allowed.
        most: u64,
    },
    /// The bytes are not those that were written.
    #[error("model file {} is damaged: its checksum does not fit; copy it again", .path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
    },
    /// The file has a format that this build does not know.
    #[error(
        "model file {} was written by {written_by} with format {found}; this build reads up to {newest}: upgrade parsynth",
        .path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// What wrote the file.
        written_by: String,
        /// Its format.
        found: u16,
        /// The last format that this build reads.
        newest: u16,
    },
    /// The content does not follow the format.
    #[error("model file {} cannot be decoded: {problem}", .path.display())]
    Undecodable {
        /// The file.
        path: PathBuf,
        /// What the decoder says.
        problem: String,
    },
    /// A part of the content contradicts another, or cannot be.
    #[error("model {}: {place}: {problem}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The part.
        place: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The metadata in the file is not valid.
    #[error("model file {} holds metadata that is not valid", .path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: MetadataError,
    },
    /// An option in the file is outside its range.
    #[error("model file {} holds an option outside its range", .path.display())]
    Option {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: OptionError,
    },
}

/// An [`ArtifactError`] before the file is named.
#[derive(Debug)]
enum Flaw {
    NotAModel,
    Length { found: u64, wanted: u64 },
    TooLarge { found: u64 },
    Checksum,
    Format { written_by: String, found: u16 },
    Undecodable { problem: String },
    Invalid { place: String, problem: String },
    Metadata(MetadataError),
    Option(OptionError),
}

impl Flaw {
    fn at(self, path: &Path) -> ArtifactError {
        let path = path.to_path_buf();
        match self {
            Flaw::NotAModel => ArtifactError::NotAModel { path },
            Flaw::Length { found, wanted } => ArtifactError::Length {
                path,
                found,
                wanted,
            },
            Flaw::TooLarge { found } => ArtifactError::TooLarge {
                path,
                found,
                most: MOST_PAYLOAD_BYTES,
            },
            Flaw::Checksum => ArtifactError::Checksum { path },
            Flaw::Format { written_by, found } => ArtifactError::Format {
                path,
                written_by,
                found,
                newest: FORMAT,
            },
            Flaw::Undecodable { problem } => ArtifactError::Undecodable { path, problem },
            Flaw::Invalid { place, problem } => ArtifactError::Invalid {
                path,
                place,
                problem,
            },
            Flaw::Metadata(source) => ArtifactError::Metadata { path, source },
            Flaw::Option(source) => ArtifactError::Option { path, source },
        }
    }
}

/// Everything that a fit learned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) saved_by: Versions,
    pub(crate) metadata: Metadata,
    pub(crate) schema: Schema,
    pub(crate) layout: Layout,
    /// By schema column.
    pub(crate) identifiers: Vec<Option<IdentifierCodec>>,
    pub(crate) rules: Rules,
    /// By schema column.
    pub(crate) personal: Vec<Option<PersonalCodec>>,
    /// By schema column.
    pub(crate) spreads: Vec<Spread>,
    pub(crate) report: FitReport,
    pub(crate) options: ValidFitOptions,
    pub(crate) sizes: Sizes,
    /// The context network's weights, in its plan's order.
    pub(crate) context: Vec<f32>,
    /// The sequence network's weights, in its plan's order.
    pub(crate) sequence: Vec<f32>,
    pub(crate) provenance: Provenance,
}

/// Writes a model; `path` holds all of it afterwards, or on an error what it held before.
pub(crate) fn write(path: &Path, artifact: &Artifact) -> Result<(), ArtifactError> {
    let bytes = to_bytes(artifact).map_err(|flaw| flaw.at(path))?;
    let written = replace(path, |mut file| file.write_all(&bytes));
    written.map_err(|source| ArtifactError::Write {
        path: path.to_path_buf(),
        source,
    })
}

/// Reads a model, and says how many bytes its file has.
pub(crate) fn read(path: &Path) -> Result<(Artifact, u64), ArtifactError> {
    let (header, payload) = read_bytes(path)?;
    let artifact = from_payload(&header, &payload).map_err(|flaw| flaw.at(path))?;
    Ok((artifact, HEADER_BYTES as u64 + payload.len() as u64))
}

fn to_bytes(artifact: &Artifact) -> Result<Vec<u8>, Flaw> {
    let frozen = ArtifactV1::freeze(artifact)?;
    // What cannot be read back, a weight that is not finite above all, is not written.
    frozen.thaw()?;
    let payload = v1::encode(&frozen)?;
    if payload.len() as u64 > MOST_PAYLOAD_BYTES {
        return Err(Flaw::TooLarge {
            found: payload.len() as u64,
        });
    }
    let mut bytes = Header::of(FORMAT, &payload).to_bytes().to_vec();
    bytes.extend(payload);
    Ok(bytes)
}

fn from_payload(header: &Header, payload: &[u8]) -> Result<Artifact, Flaw> {
    header.check(payload)?;
    if header.format != FORMAT {
        let written_by = v1::decode_start::<VersionsV1>(payload).map_or_else(
            |_| "an unknown parsynth".to_owned(),
            |(versions, _)| format!("parsynth {}", versions.parsynth.0),
        );
        return Err(Flaw::Format {
            written_by,
            found: header.format,
        });
    }
    v1::decode(payload)?.thaw()
}

fn read_bytes(path: &Path) -> Result<(Header, Vec<u8>), ArtifactError> {
    let unreadable = |source: std::io::Error| {
        let path = path.to_path_buf();
        if source.kind() == std::io::ErrorKind::NotFound {
            ArtifactError::Missing { path }
        } else {
            ArtifactError::Read { path, source }
        }
    };
    // Opening a pipe would wait for a writer.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(ArtifactError::NotAFile {
            path: path.to_path_buf(),
        });
    }
    let file = File::open(path).map_err(unreadable)?;
    let file_bytes = file.metadata().map_err(unreadable)?.len();
    let mut start = Vec::with_capacity(HEADER_BYTES);
    (&file)
        .take(HEADER_BYTES as u64)
        .read_to_end(&mut start)
        .map_err(unreadable)?;
    let header = Header::read(&start, file_bytes).map_err(|flaw| flaw.at(path))?;
    let mut payload = Vec::new();
    file.take(header.payload_bytes)
        .read_to_end(&mut payload)
        .map_err(unreadable)?;
    Ok((header, payload))
}

#[cfg(test)]
mod tests;
