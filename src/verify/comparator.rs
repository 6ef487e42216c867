//! How far an output agrees with the expected text, and nothing else.

use std::io::{self, BufRead, BufReader, Read, Write};

/// How much of the output is read at once: few calls, and it stays in the processor's cache.
pub(super) const BUFFER_BYTES: usize = 256 * 1024;

/// How far both sides are the same.
pub(super) enum Agreement<R> {
    /// From start to end, and they end together.
    Whole,
    /// Up to here.
    Until(Departure<R>),
}

/// The place where an output stops being what was expected.
pub(super) struct Departure<R> {
    /// How many bytes agree.
    pub(super) offset: u64,
    /// The output after these.
    pub(super) rest: BufReader<R>,
}

/// A sink for the expected text, which compares it with the output it reads.
///
/// After the first difference the rest of the text is taken without being looked at.
pub(super) struct Comparator<R> {
    output: BufReader<R>,
    agreed_bytes: u64,
    has_departed: bool,
}

impl<R: Read> Comparator<R> {
    /// Prepares to compare `output`; nothing is read yet.
    pub(super) fn new(output: R) -> Self {
        let output = BufReader::with_capacity(BUFFER_BYTES, output);
        Comparator { output, agreed_bytes: 0, has_departed: false }
    }

    /// Ends the expected text; an output that goes on departs from it.
    pub(super) fn finish(mut self) -> io::Result<Agreement<R>> {
        if !self.has_departed && fill(&mut self.output)?.is_empty() {
            return Ok(Agreement::Whole);
        }
        Ok(Agreement::Until(Departure { offset: self.agreed_bytes, rest: self.output }))
    }
}

impl<R: Read> Write for Comparator<R> {
    /// Takes the next bytes of the expected text, all of them.
    fn write(&mut self, expected: &[u8]) -> io::Result<usize> {
        let mut rest = expected;
        while !rest.is_empty() && !self.has_departed {
            let found = fill(&mut self.output)?;
            let length = found.len().min(rest.len());
            let agreeing = common_prefix(&found[..length], &rest[..length]);
            self.has_departed = agreeing < length || found.is_empty();
            self.output.consume(agreeing);
            self.agreed_bytes += agreeing as u64;
            rest = &rest[agreeing..];
        }
        Ok(expected.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many bytes two slices of one length have in common at their start.
fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    // Comparing whole slices is what the compiler makes fastest, and nearly all are equal.
    if a == b {
        return a.len();
    }
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The bytes that come next, without taking them; none at the end. Reads again if a signal came
/// between.
pub(super) fn fill<R: Read>(output: &mut BufReader<R>) -> io::Result<&[u8]> {
    while let Err(error) = output.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(output.buffer())
}
