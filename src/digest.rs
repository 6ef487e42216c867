//! The SHA-256 of bytes that somebody really had in hand.

use crate::hex::hex;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::io::{self, Read, Write};

/// How much is read at once: few calls, and it stays in the processor's cache.
const PIECE_BYTES: usize = 256 * 1024;

/// The SHA-256 and the length of some bytes.
///
/// There is no other way to one than a [`Digester`] which took those bytes: whoever holds a digest holds a proof that it
/// was computed, not read somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    sha256: String,
    bytes: u64,
}

impl Digest {
    /// Digests all that `reader` still has.
    ///
    /// # Errors
    ///
    /// Whatever reading gives.
    pub fn of(reader: &mut impl Read) -> io::Result<Self> {
        let mut digester = Digester::default();
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(digester.finish()),
                Ok(count) => digester.write_all(&piece[..count])?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The SHA-256 in lower-case hex digits.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// How many bytes there were.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes with SHA-256 {}", self.bytes, self.sha256)
    }
}

/// A sink that digests what is written to it.
#[derive(Clone, Default)]
pub struct Digester {
    hash: Sha256,
    bytes: u64,
}

impl Digester {
    /// The digest of all that was written.
    pub fn finish(self) -> Digest {
        Digest { sha256: hex(&self.hash.finalize()), bytes: self.bytes }
    }
}

impl Write for Digester {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // FIPS 180-2, appendix B.1.
    const ABC: &str =
        "3 bytes with SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn all_that_was_written_is_digested() {
        let mut digester = Digester::default();
        digester.write_all(b"a").unwrap();
        digester.write_all(b"bc").unwrap();
        assert_eq!(digester.finish().to_string(), ABC);
    }

    #[test]
    fn all_that_can_be_read_is_digested() {
        assert_eq!(Digest::of(&mut b"abc".chain(&b""[..])).unwrap().to_string(), ABC);
        let long = vec![b'a'; 2 * PIECE_BYTES + 1];
        let mut digester = Digester::default();
        digester.write_all(&long).unwrap();
        assert_eq!(Digest::of(&mut &long[..]).unwrap(), digester.finish());
    }
}
