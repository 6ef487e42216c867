//! Whether an output is the reference, byte for byte.
//!
//! Outputs reach a gigabyte, and some references exist only as a generator that writes them. So
//! both sides stream: the reference is *pushed* into a [`Comparator`], which *pulls* the output
//! beside it. Memory use does not depend on the size of either.
//!
//! ```text
//! output (Read) ──pull──▶ Comparator ◀──push── reference (anything that writes)
//!                             │
//!                             └─▶ Comparison { sha256, bytes, first difference }
//! ```

use crate::hex::hex;
use crate::record::Verdict;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{self, Read, Write};

/// What the comparison of an output with its reference found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// SHA-256 of the whole output, in hexadecimal, also where it differs.
    pub sha256: String,
    /// Length of the whole output.
    pub bytes: u64,
    /// `None` if every byte is the reference's.
    pub first_difference: Option<Difference>,
}

/// Where an output first departs from its reference, with enough of both to see how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Bytes before the difference; the first byte of an output has offset 0.
    pub offset: u64,
    /// The line the difference is in, from 1.
    pub line: u64,
    /// What both agree on just before the difference, within its line.
    pub before: Vec<u8>,
    /// How the reference goes on; empty if it ends here.
    pub expected: Vec<u8>,
    /// How the output goes on; empty if it ends here.
    pub found: Vec<u8>,
}

/// How much of the output is read at once.
const BUFFER_BYTES: usize = 256 * 1024;
/// How much of both sides a [`Difference`] shows before and after the place.
const SHOWN_BYTES: usize = 40;

/// Compares `output` with `reference`, reading both to the end.
///
/// # Errors
///
/// Whatever reading either side gives.
pub fn compare(output: &mut impl Read, reference: &mut impl Read) -> io::Result<Comparison> {
    let mut comparator = Comparator::new(output);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let filled = read_some(reference, &mut buffer)?;
        if filled == 0 {
            return comparator.finish();
        }
        comparator.write_all(&buffer[..filled])?;
    }
}

/// A sink for a reference: what is written to it is compared with the output it reads.
///
/// Write the whole reference, then call [`Comparator::finish`]. After the first difference the rest
/// of the reference is taken without being looked at.
pub struct Comparator<R> {
    output: R,
    buffer: Vec<u8>,
    /// The part of `buffer` that was read and not yet compared.
    pending: std::ops::Range<usize>,
    sha256: Sha256,
    /// Bytes read from the output.
    bytes: u64,
    agreed: Agreed,
    first_difference: Option<Difference>,
}

/// What is known of the part on which both sides agree.
struct Agreed {
    bytes: u64,
    line_feeds: u64,
    /// Its last bytes, up to `SHOWN_BYTES` of them.
    tail: Vec<u8>,
}

impl<R: Read> Comparator<R> {
    /// Prepares to compare `output`; nothing is read yet.
    pub fn new(output: R) -> Self {
        Comparator {
            output,
            buffer: vec![0; BUFFER_BYTES],
            pending: 0..0,
            sha256: Sha256::new(),
            bytes: 0,
            agreed: Agreed { bytes: 0, line_feeds: 0, tail: Vec::new() },
            first_difference: None,
        }
    }

    /// Ends the reference, reads the output to its end and tells what was found.
    ///
    /// # Errors
    ///
    /// Whatever reading the output gives.
    pub fn finish(mut self) -> io::Result<Comparison> {
        // Without a difference so far, an output that goes on is one.
        while self.fill()? {
            let found = &self.buffer[self.pending.clone()];
            let difference =
                self.first_difference.get_or_insert_with(|| self.agreed.difference_here());
            extend_to_shown(&mut difference.found, found);
            self.pending = 0..0;
        }
        Ok(Comparison {
            sha256: hex(&self.sha256.finalize()),
            bytes: self.bytes,
            first_difference: self.first_difference,
        })
    }

    /// Makes sure there are pending bytes; false at the end of the output.
    fn fill(&mut self) -> io::Result<bool> {
        if self.pending.is_empty() {
            let filled = read_some(&mut self.output, &mut self.buffer)?;
            self.sha256.update(&self.buffer[..filled]);
            self.bytes += filled as u64;
            self.pending = 0..filled;
        }
        Ok(!self.pending.is_empty())
    }

    /// Compares the start of `reference` with what is pending; returns how much agrees.
    fn agree(&mut self, reference: &[u8]) -> usize {
        let found = &self.buffer[self.pending.clone()];
        let length = found.len().min(reference.len());
        let (found, expected) = (&found[..length], &reference[..length]);
        // Comparing whole slices is what the compiler makes fastest, and nearly all agree.
        let agreeing = if found == expected {
            length
        } else {
            found.iter().zip(expected).take_while(|(a, b)| a == b).count()
        };
        self.agreed.extend(&found[..agreeing]);
        self.pending.start += agreeing;
        agreeing
    }
}

impl<R: Read> Write for Comparator<R> {
    /// Takes the next bytes of the reference, all of them.
    fn write(&mut self, reference: &[u8]) -> io::Result<usize> {
        let mut rest = reference;
        while !rest.is_empty() && self.first_difference.is_none() {
            let goes_on = self.fill()?;
            rest = &rest[self.agree(rest)..];
            if !goes_on || (!rest.is_empty() && !self.pending.is_empty()) {
                self.first_difference = Some(self.agreed.difference_here());
            }
        }
        if let Some(difference) = &mut self.first_difference {
            extend_to_shown(&mut difference.expected, rest);
        }
        Ok(reference.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Agreed {
    fn extend(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.line_feeds += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let new = &bytes[bytes.len().saturating_sub(SHOWN_BYTES)..];
        let surplus = (self.tail.len() + new.len()).saturating_sub(SHOWN_BYTES);
        self.tail.drain(..surplus);
        self.tail.extend_from_slice(new);
    }

    /// A difference at the end of the agreed part, of which neither side is shown yet.
    fn difference_here(&self) -> Difference {
        let line_start = self.tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        Difference {
            offset: self.bytes,
            line: self.line_feeds + 1,
            before: self.tail[line_start..].to_vec(),
            ..Difference::default()
        }
    }
}

impl Comparison {
    /// The comparison as a row records it.
    pub fn verdict(&self) -> Verdict {
        match self.first_difference {
            None => Verdict::Matches,
            Some(_) => Verdict::Differs,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {} (line {}): ", self.offset, self.line)?;
        let shown =
            |tail: &[u8]| [self.before.as_slice(), tail].concat().escape_ascii().to_string();
        match (self.expected.as_slice(), self.found.as_slice()) {
            (expected, []) => {
                write!(f, "the output ends here, \"{}\" is missing", expected.escape_ascii())
            }
            ([], found) => {
                write!(f, "the output should end here, but goes on \"{}\"", found.escape_ascii())
            }
            (expected, found) => {
                write!(f, "expected \"{}\", found \"{}\"", shown(expected), shown(found))
            }
        }
    }
}

/// Appends the start of `bytes` to `shown`, which is kept short.
fn extend_to_shown(shown: &mut Vec<u8>, bytes: &[u8]) {
    let room = SHOWN_BYTES.saturating_sub(shown.len());
    shown.extend_from_slice(&bytes[..room.min(bytes.len())]);
}

/// Reads once into `buffer`, again if a signal came between; 0 means the end.
fn read_some(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests;
