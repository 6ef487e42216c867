//! A program's captured output, in anonymous memory.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

use nix::sys::memfd::{MFdFlags, memfd_create};

/// What a program wrote to standard output, readable from the start without holding it all.
///
/// The bytes lie in anonymous memory until this is dropped; so drop it before the next run.
#[derive(Debug)]
pub struct Output {
    memory: File,
    length: u64,
    position: u64,
}

impl Output {
    /// Takes over memory that nobody writes to any more.
    pub(super) fn captured(memory: File) -> io::Result<Self> {
        let length = memory.metadata()?.len();
        Ok(Output { memory, length, position: 0 })
    }

    /// Makes an output of these bytes, for tests of code that reads outputs.
    pub fn from_bytes(bytes: &[u8]) -> io::Result<Self> {
        let mut memory = anonymous_memory()?;
        memory.write_all(bytes)?;
        Output::captured(memory)
    }

    /// How many bytes there are in all, whatever has been read already.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Whether nothing was written, or nothing kept.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.memory.read_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// A file in memory for a program to write to; it vanishes with its last descriptor.
pub(super) fn anonymous_memory() -> io::Result<File> {
    let memory = memfd_create("gosurvey-output", MFdFlags::MFD_CLOEXEC)?;
    Ok(File::from(memory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_read_from_the_start_and_keeps_its_length() {
        let mut output = Output::from_bytes(b"The quick brown fox").unwrap();
        let mut first = [0; 4];
        output.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"The ");
        assert_eq!(output.len(), 19);
        let mut rest = String::new();
        output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "quick brown fox");
    }

    #[test]
    fn nothing_is_empty() {
        assert!(Output::from_bytes(b"").unwrap().is_empty());
        assert!(!Output::from_bytes(b"\n").unwrap().is_empty());
    }
}
