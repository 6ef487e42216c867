//! Whether an output is the expected one, byte for byte.
//!
//! Outputs reach a gigabyte, and what some should be exists only as a generator that writes it. So both sides stream:
//! the expected text is *pushed* into a comparator, which *pulls* the output beside it. Memory use does not depend on
//! the size of either, and nothing is done with bytes that agree but to compare them:
//!
//! ```text
//!                      ┌─ all agree ─▶ the digest of the expected text, computed once, is the output's
//! Expected ─push─▶ comparator ◀─pull─ output (Read)
//!                      └─ at some byte they do not ─▶ the expected text is pushed once more, up to that byte:
//!                            it gives line, context and digest of what agreed; the rest of the output is digested
//! ```
//!
//! An output is read once, from start to end; it may be a pipe.

mod comparator;

use crate::digest::{Digest, Digester};
use crate::record::Verdict;
use comparator::{Agreement, Comparator, Departure};
use std::fmt;
use std::io::{self, BufRead, Read, Write};

/// A text that can be written any number of times, and is always the same.
pub trait Text {
    /// Writes all of it to `out`.
    ///
    /// # Errors
    ///
    /// The first error of `out`.
    fn write_to(&self, out: &mut impl Write) -> io::Result<()>;
}

impl Text for Vec<u8> {
    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self)
    }
}

/// What an output should be, with the digest of these very bytes.
#[derive(Debug)]
pub struct Expected<T> {
    text: T,
    digest: Digest,
}

impl<T: Text> Expected<T> {
    /// Writes `text` once, to digest it.
    ///
    /// # Errors
    ///
    /// What the text gives, if it cannot write itself.
    pub fn new(text: T) -> io::Result<Self> {
        let mut digester = Digester::default();
        text.write_to(&mut digester)?;
        Ok(Expected { text, digest: digester.finish() })
    }

    /// The text.
    pub fn text(&self) -> &T {
        &self.text
    }

    /// The digest of the text.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }
}

/// What the comparison of an output with the expected one found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Of the whole output, also where it differs.
    pub digest: Digest,
    /// `None` if every byte is as expected.
    pub first_difference: Option<Difference>,
}

/// Where an output first departs from the expected one, with enough of both to see how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Bytes before the difference; the first byte of an output has offset 0.
    pub offset: u64,
    /// The line the difference is in, from 1.
    pub line: u64,
    /// What both agree on just before the difference, within its line.
    pub before: Vec<u8>,
    /// How the expected text goes on; empty if it ends here.
    pub expected: Vec<u8>,
    /// How the output goes on; empty if it ends here.
    pub found: Vec<u8>,
}

/// How much of both sides a [`Difference`] shows before and after the place.
const SHOWN_BYTES: usize = 40;

/// Compares `output` with the `expected` one and reads it to its end.
///
/// # Errors
///
/// Whatever reading the output gives.
pub fn compare<T: Text>(expected: &Expected<T>, output: impl Read) -> io::Result<Comparison> {
    let mut comparator = Comparator::new(output);
    expected.text.write_to(&mut comparator)?;
    match comparator.finish()? {
        Agreement::Whole => {
            Ok(Comparison { digest: expected.digest.clone(), first_difference: None })
        }
        Agreement::Until(departure) => examine(departure, &expected.text),
    }
}

/// Finds out what there is to know of an output that differs.
fn examine(departure: Departure<impl Read>, expected: &impl Text) -> io::Result<Comparison> {
    let mut agreed = AgreedHead::until(departure.offset);
    expected.write_to(&mut agreed)?;
    let AgreedHead { mut digester, line_feeds, tail, expected, .. } = agreed;
    let mut rest = departure.rest;
    let mut found = Vec::new();
    loop {
        let bytes = comparator::fill(&mut rest)?;
        if bytes.is_empty() {
            break;
        }
        digester.write_all(bytes)?;
        extend_to_shown(&mut found, bytes);
        let length = bytes.len();
        rest.consume(length);
    }
    let line_start = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let difference = Difference {
        offset: departure.offset,
        line: line_feeds + 1,
        before: tail[line_start..].to_vec(),
        expected,
        found,
    };
    Ok(Comparison { digest: digester.finish(), first_difference: Some(difference) })
}

/// A sink for an expected text, of which an output has the first bytes: it learns about these, and
/// how the text goes on.
struct AgreedHead {
    /// Bytes of the head that are still to come.
    left: u64,
    digester: Digester,
    line_feeds: u64,
    /// The last bytes of the head.
    tail: Vec<u8>,
    /// The first bytes after the head.
    expected: Vec<u8>,
}

impl AgreedHead {
    fn until(offset: u64) -> Self {
        AgreedHead {
            left: offset,
            digester: Digester::default(),
            line_feeds: 0,
            tail: Vec::new(),
            expected: Vec::new(),
        }
    }

    fn extend(&mut self, head: &[u8]) -> io::Result<()> {
        self.digester.write_all(head)?;
        self.line_feeds += head.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let new = &head[head.len().saturating_sub(SHOWN_BYTES)..];
        let surplus = (self.tail.len() + new.len()).saturating_sub(SHOWN_BYTES);
        self.tail.drain(..surplus);
        self.tail.extend_from_slice(new);
        self.left -= head.len() as u64;
        Ok(())
    }
}

impl Write for AgreedHead {
    fn write(&mut self, expected: &[u8]) -> io::Result<usize> {
        let in_head = usize::try_from(self.left).unwrap_or(usize::MAX).min(expected.len());
        self.extend(&expected[..in_head])?;
        extend_to_shown(&mut self.expected, &expected[in_head..]);
        Ok(expected.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
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

#[cfg(test)]
mod tests;
