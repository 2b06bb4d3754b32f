//! The 22 bytes that every version of the format begins with.
//! In: bytes of unknown origin and the file's length. Out: a [`Header`] whose length and checksum hold.

use super::Flaw;

pub(super) const MAGIC: [u8; 8] = *b"PARSYNTH";
/// The format that this build writes, and the last it reads.
pub(super) const FORMAT: u16 = 1;
pub(super) const HEADER_BYTES: usize = 22;
/// Where the checksum lies; it covers the bytes before it, too.
const CHECKSUM_AT: usize = 18;
/// Larger files are refused before they are read: 16 GiB, thrice the largest network the options allow.
pub(super) const MOST_PAYLOAD_BYTES: u64 = 1 << 34;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) format: u16,
    pub(super) payload_bytes: u64,
    pub(super) checksum: u32,
    /// The bytes that the checksum covers.
    covered: [u8; CHECKSUM_AT],
}

impl Header {
    /// The header of a payload.
    pub(super) fn of(format: u16, payload: &[u8]) -> Header {
        let mut covered = [0; CHECKSUM_AT];
        covered[..8].copy_from_slice(&MAGIC);
        covered[8..10].copy_from_slice(&format.to_le_bytes());
        let payload_bytes = payload.len() as u64;
        covered[10..].copy_from_slice(&payload_bytes.to_le_bytes());
        Header {
            format,
            payload_bytes,
            checksum: checksum(&covered, payload),
            covered,
        }
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..CHECKSUM_AT].copy_from_slice(&self.covered);
        bytes[CHECKSUM_AT..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Reads the header of a file of `file_bytes` bytes, of which `start` is the beginning.
    pub(super) fn read(start: &[u8], file_bytes: u64) -> Result<Header, Flaw> {
        let seen = start.len().min(MAGIC.len());
        if seen == 0 || start[..seen] != MAGIC[..seen] {
            return Err(Flaw::NotAModel);
        }
        let Ok(bytes) = <[u8; HEADER_BYTES]>::try_from(start) else {
            return Err(Flaw::Length {
                found: file_bytes,
                wanted: HEADER_BYTES as u64,
            });
        };
        let mut covered = [0; CHECKSUM_AT];
        covered.copy_from_slice(&bytes[..CHECKSUM_AT]);
        let mut length = [0; 8];
        length.copy_from_slice(&bytes[10..CHECKSUM_AT]);
        let payload_bytes = u64::from_le_bytes(length);
        let wanted = payload_bytes.saturating_add(HEADER_BYTES as u64);
        if file_bytes != wanted {
            return Err(Flaw::Length {
                found: file_bytes,
                wanted,
            });
        }
        if payload_bytes > MOST_PAYLOAD_BYTES {
            return Err(Flaw::TooLarge {
                found: payload_bytes,
            });
        }
        Ok(Header {
            format: u16::from_le_bytes([bytes[8], bytes[9]]),
            payload_bytes,
            checksum: u32::from_le_bytes([bytes[18], bytes[19], bytes[20], bytes[21]]),
            covered,
        })
    }

    /// Whether header and payload are the bytes that were written.
    pub(super) fn check(&self, payload: &[u8]) -> Result<(), Flaw> {
        if checksum(&self.covered, payload) == self.checksum {
            Ok(())
        } else {
            Err(Flaw::Checksum)
        }
    }
}

fn checksum(covered: &[u8], payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(covered);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_says_what_the_spec_says() {
        let header = Header::of(1, b"abc");
        let bytes = header.to_bytes();
        assert_eq!(bytes[..18], *b"PARSYNTH\x01\x00\x03\0\0\0\0\0\0\0");
        assert_eq!(Header::read(&bytes, 25).ok(), Some(header));
        assert!(header.check(b"abc").is_ok());
        assert!(matches!(header.check(b"abd"), Err(Flaw::Checksum)));
    }

    #[test]
    fn the_checksum_covers_format_and_length() {
        let mut bytes = Header::of(1, b"abc").to_bytes();
        bytes[8] = 2;
        let header = Header::read(&bytes, 25).expect("the length fits");
        assert!(matches!(header.check(b"abc"), Err(Flaw::Checksum)));
    }

    #[test]
    fn a_length_that_the_file_has_not_is_refused_before_anything_is_read() {
        let bytes = Header::of(1, b"abc").to_bytes();
        for file_bytes in [22, 24, 26] {
            assert!(matches!(
                Header::read(&bytes, file_bytes),
                Err(Flaw::Length { wanted: 25, .. })
            ));
        }
        let mut huge = bytes;
        huge[10..18].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(matches!(
            Header::read(&huge, u64::MAX),
            Err(Flaw::TooLarge { found: u64::MAX })
        ));
    }

    #[test]
    fn a_file_cut_within_the_header_is_short_and_an_empty_one_no_model() {
        let bytes = Header::of(1, b"abc").to_bytes();
        for length in 1..HEADER_BYTES {
            assert!(matches!(
                Header::read(&bytes[..length], length as u64),
                Err(Flaw::Length { .. })
            ));
        }
        assert!(matches!(Header::read(&[], 0), Err(Flaw::NotAModel)));
        assert!(matches!(
            Header::read(b"PK\x03\x04", 4),
            Err(Flaw::NotAModel)
        ));
    }
}
