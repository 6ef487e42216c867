//! Bytes that several readers read at once, each at its own place.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Something of a known size that can be read at any place without moving anything.
pub trait Bytes: Send + Sync {
    /// How many bytes there are.
    ///
    /// # Errors
    ///
    /// If that cannot be told.
    fn size(&self) -> io::Result<u64>;

    /// Reads some of the bytes from `at` on; none only at the end, or where `into` is empty.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;
}

impl Bytes for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        FileExt::read_at(self, into, at)
    }
}

impl Bytes for Vec<u8> {
    fn size(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, mut into: &mut [u8], at: u64) -> io::Result<usize> {
        let start = usize::try_from(at).unwrap_or(usize::MAX).min(self.len());
        io::Write::write(&mut into, &self[start..])
    }
}

/// How much a [`Reader`] reads ahead while a zip is looked through, header by header.
const GLANCE_BYTES: usize = 1024;
/// How much its clones read ahead, which unpack: more than most compressed files of a toolchain
/// have, so most cost one system call.
const AHEAD_BYTES: usize = 16 * 1024;

/// A place in [`Bytes`], as the zip reader wants it. A clone has its own place.
pub(super) struct Reader {
    bytes: Arc<dyn Bytes>,
    size: u64,
    at: u64,
    /// How much is read ahead, in bytes.
    ahead_bytes: usize,
    /// What was read last, from `ahead_at` on. Unlike that of a `BufReader` it outlives a seek.
    ahead: Vec<u8>,
    ahead_at: u64,
}

impl Reader {
    pub fn new(bytes: Arc<dyn Bytes>) -> io::Result<Self> {
        let size = bytes.size()?;
        Ok(Reader { bytes, size, at: 0, ahead_bytes: GLANCE_BYTES, ahead: Vec::new(), ahead_at: 0 })
    }

    /// The bytes at hand from the current place on.
    fn at_hand(&self) -> &[u8] {
        let offset = self.at.checked_sub(self.ahead_at).and_then(|n| usize::try_from(n).ok());
        offset.and_then(|offset| self.ahead.get(offset..)).unwrap_or_default()
    }

    fn read_ahead(&mut self) -> io::Result<()> {
        self.ahead.resize(self.ahead_bytes, 0);
        let result = self.bytes.read_at(&mut self.ahead, self.at);
        self.ahead.truncate(*result.as_ref().unwrap_or(&0));
        self.ahead_at = self.at;
        result.map(drop)
    }
}

impl Clone for Reader {
    fn clone(&self) -> Self {
        Reader {
            bytes: Arc::clone(&self.bytes),
            size: self.size,
            at: self.at,
            ahead_bytes: AHEAD_BYTES,
            ahead: Vec::new(),
            ahead_at: 0,
        }
    }
}

impl Read for Reader {
    fn read(&mut self, mut into: &mut [u8]) -> io::Result<usize> {
        if self.at_hand().is_empty() && into.len() < self.ahead_bytes {
            self.read_ahead()?;
        }
        let count = match self.at_hand() {
            [] => self.bytes.read_at(into, self.at)?,
            at_hand => io::Write::write(&mut into, at_hand)?,
        };
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the start");
        self.at = place.ok_or_else(outside)?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_walk_reads_what_a_cursor_reads(
            length in 0_usize..3 * AHEAD_BYTES,
            steps in prop::collection::vec((0_u64..4 * AHEAD_BYTES as u64, 0_usize..2 * AHEAD_BYTES), 1..20),
        ) {
            let bytes: Vec<u8> = (0..length).map(|place| (place * 7 + place / 251) as u8).collect();
            let mut cursor = io::Cursor::new(bytes.clone());
            let mut reader = Reader::new(Arc::new(bytes)).unwrap();
            for (index, (place, count)) in steps.into_iter().enumerate() {
                if index == 5 {
                    reader = reader.clone();
                }
                let (mut expected, mut found) = (Vec::new(), Vec::new());
                cursor.seek(SeekFrom::Start(place)).unwrap();
                reader.seek(SeekFrom::Start(place)).unwrap();
                cursor.by_ref().take(count as u64).read_to_end(&mut expected).unwrap();
                reader.by_ref().take(count as u64).read_to_end(&mut found).unwrap();
                prop_assert!(expected == found, "{count} bytes at {place} of {length}");
                prop_assert_eq!(cursor.position(), reader.stream_position().unwrap());
            }
        }
    }
}
