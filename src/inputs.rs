//! Generated inputs on disk: made once, known by their digest, verified again on every use.

use crate::hex::hex;
use crate::suite::{Input, fasta};
use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Finds the fasta input in `folder` or makes it there, and returns its path.
///
/// A file that is not what the suite says (a torn disk, another hand) is made again. Reading it
/// for the digest also brings it into the page cache.
///
/// # Errors
///
/// If the disk fails, or the generator does not give the digest that the suite names: then the
/// suite is wrong.
pub fn fasta_input(folder: &Path, input: &Input) -> Result<PathBuf> {
    let path = folder.join(format!("fasta-{}.txt", input.fasta));
    if is_intact(&path, input)? {
        return Ok(path);
    }
    fs_err::create_dir_all(folder)?;
    let temporary = NamedTempFile::new_in(folder)
        .with_context(|| format!("cannot write in {}", folder.display()))?;
    let mut out = Hashing::new(BufWriter::with_capacity(1 << 20, temporary));
    fasta::write_fasta(input.fasta, &mut out)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let (writer, sha256, bytes) = out.finish();
    ensure!(
        sha256 == input.sha256 && bytes == input.bytes,
        "suite.toml says fasta {} has {} bytes with SHA-256 {}, but it has {bytes} with {sha256}",
        input.fasta,
        input.bytes,
        input.sha256
    );
    let temporary = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(&path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

fn is_intact(path: &Path, input: &Input) -> Result<bool> {
    let mut file = match fs_err::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    if file.metadata()?.len() != input.bytes {
        return Ok(false);
    }
    Ok(sha256_of(&mut file)? == input.sha256)
}

/// The SHA-256, in hex digits, of all that `reader` still has.
pub fn sha256_of(reader: &mut impl Read) -> io::Result<String> {
    let mut hashing = Hashing::new(io::sink());
    let mut buffer = vec![0; 1 << 18];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(hashing.finish().1),
            count => hashing.write_all(&buffer[..count])?,
        }
    }
}

/// Passes bytes on and digests them.
struct Hashing<W> {
    inner: W,
    sha256: Sha256,
    bytes: u64,
}

impl<W: Write> Hashing<W> {
    fn new(inner: W) -> Self {
        Hashing { inner, sha256: Sha256::new(), bytes: 0 }
    }

    fn finish(self) -> (W, String, u64) {
        (self.inner, hex(&self.sha256.finalize()), self.bytes)
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(buffer)?;
        self.sha256.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fasta_1000() -> Input {
        Input {
            fasta: 1000,
            sha256: "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73".into(),
            bytes: 10_245,
        }
    }

    #[test]
    fn an_input_is_made_once_and_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = fasta_input(folder.path(), &fasta_1000()).unwrap();
        let made = fs_err::metadata(&path).unwrap().modified().unwrap();
        assert_eq!(fasta_input(folder.path(), &fasta_1000()).unwrap(), path);
        assert_eq!(fs_err::metadata(&path).unwrap().modified().unwrap(), made);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_changed_input_is_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = fasta_input(folder.path(), &fasta_1000()).unwrap();
        let right = fs_err::read(&path).unwrap();
        for wrong in [&right[1..], &[b"x", &right[1..]].concat()] {
            fs_err::write(&path, wrong).unwrap();
            fasta_input(folder.path(), &fasta_1000()).unwrap();
            assert_eq!(fs_err::read(&path).unwrap(), right);
        }
    }

    #[test]
    fn a_wrong_digest_in_the_suite_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let wrong = Input { bytes: 10_244, ..fasta_1000() };
        let message = format!("{:#}", fasta_input(folder.path(), &wrong).unwrap_err());
        assert!(message.contains("10244") && message.contains("10245"), "{message}");
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }
}
