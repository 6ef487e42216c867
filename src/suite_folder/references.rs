//! Expected outputs: read or generated, and proven to be what the manifest says before they are used.

use crate::suite::fasta::{fasta_bytes, write_fasta};
use crate::suite::mandelbrot::{mandelbrot_bytes, write_mandelbrot};
use crate::suite::reverse_complement::write_reverse_complement;
use crate::suite::{Reference, ReferenceSource};
use crate::verify::{Expected, Text};
use anyhow::{Context, Result, ensure};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What a program should have written, with the digest that was computed from it.
pub type ExpectedOutput = Expected<ReferenceText>;

/// The bytes of a reference, or how to make them at the speed of memory.
#[derive(Debug)]
pub enum ReferenceText {
    /// A file's content, or a picture: 32 MB at most in the suites we know, and too slow to draw again for each run.
    Kept(Vec<u8>),
    Fasta(u64),
    ReverseComplement(u64),
}

impl Text for ReferenceText {
    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            ReferenceText::Kept(bytes) => out.write_all(bytes),
            ReferenceText::Fasta(n) => write_fasta(*n, out),
            ReferenceText::ReverseComplement(n) => write_reverse_complement(*n, out),
        }
    }
}

/// The references of a suite, each proven once.
#[derive(Debug)]
pub(super) struct References {
    folder: PathBuf,
    proven: Mutex<Vec<(Reference, Arc<ExpectedOutput>)>>,
}

impl References {
    /// Those whose files are in `folder`; nothing is read yet.
    pub(super) fn new(folder: PathBuf) -> Self {
        References { folder, proven: Mutex::default() }
    }

    pub(super) fn get(&self, reference: &Reference) -> Result<Arc<ExpectedOutput>> {
        let mut proven = self.proven.lock().expect("nothing here panics");
        if let Some((_, expected)) = proven.iter().find(|(known, _)| known == reference) {
            return Ok(Arc::clone(expected));
        }
        let expected = Arc::new(prove(&self.folder, reference)?);
        proven.push((reference.clone(), Arc::clone(&expected)));
        Ok(expected)
    }
}

fn prove(folder: &Path, reference: &Reference) -> Result<ExpectedOutput> {
    let source = &reference.source;
    // The length comes first: what has the wrong one need not be read or generated.
    let bytes = length(folder, source)?;
    ensure!(bytes == reference.bytes, unlike(reference, folder, &format!("{bytes} bytes")));
    let expected = Expected::new(text(folder, source)?)?;
    let digest = expected.digest();
    ensure!(
        digest.sha256() == reference.sha256,
        unlike(reference, folder, &format!("SHA-256 {}", digest.sha256()))
    );
    Ok(expected)
}

fn length(folder: &Path, source: &ReferenceSource) -> Result<u64> {
    Ok(match source {
        ReferenceSource::File(file) => {
            fs_err::metadata(folder.join(file)).context("a reference output is missing")?.len()
        }
        ReferenceSource::Fasta(n) | ReferenceSource::ReverseComplement(n) => fasta_bytes(*n),
        ReferenceSource::Mandelbrot(n) => mandelbrot_bytes(*n),
    })
}

fn text(folder: &Path, source: &ReferenceSource) -> Result<ReferenceText> {
    Ok(match source {
        ReferenceSource::File(file) => ReferenceText::Kept(fs_err::read(folder.join(file))?),
        ReferenceSource::Fasta(n) => ReferenceText::Fasta(*n),
        ReferenceSource::ReverseComplement(n) => ReferenceText::ReverseComplement(*n),
        ReferenceSource::Mandelbrot(n) => {
            let mut picture = Vec::new();
            write_mandelbrot(*n, &mut picture)?;
            ReferenceText::Kept(picture)
        }
    })
}

/// Says that a reference is not what the manifest says, and whose fault that is.
fn unlike(reference: &Reference, folder: &Path, found: &str) -> String {
    let (what, remedy) = match &reference.source {
        ReferenceSource::File(file) => (
            folder.join(file).display().to_string(),
            "restore the file, or correct suite.toml if the file is right",
        ),
        ReferenceSource::Fasta(n) => (format!("the output of fasta {n}"), "correct suite.toml"),
        ReferenceSource::Mandelbrot(n) => {
            (format!("the output of mandelbrot {n}"), "correct suite.toml")
        }
        ReferenceSource::ReverseComplement(n) => {
            (format!("the output of reverse-complement for fasta {n}"), "correct suite.toml")
        }
    };
    let Reference { sha256, bytes, .. } = reference;
    format!("{what}: suite.toml says {bytes} bytes with SHA-256 {sha256}, found {found}; {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::compare;

    const SAMPLE: &[u8] = b"-0.169075164\n-0.169087605\n";
    const SAMPLE_SHA256: &str = "76de83d6d51a74f82828547423f516e7815cfe8cfea6290a2831aa173f806de7";

    fn reference(source: ReferenceSource, sha256: &str, bytes: u64) -> Reference {
        Reference { source, sha256: sha256.to_owned(), bytes }
    }

    fn sample() -> Reference {
        reference(ReferenceSource::File("sample.txt".to_owned()), SAMPLE_SHA256, 26)
    }

    fn folder_with(content: &[u8]) -> (tempfile::TempDir, References) {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("sample.txt"), content).unwrap();
        let references = References::new(folder.path().to_owned());
        (folder, references)
    }

    fn refused(references: &References, reference: &Reference) -> String {
        format!("{:#}", references.get(reference).unwrap_err())
    }

    #[test]
    fn a_file_is_the_expected_output() {
        let (_folder, references) = folder_with(SAMPLE);
        let expected = references.get(&sample()).unwrap();
        assert_eq!(expected.digest().sha256(), SAMPLE_SHA256);
        assert_eq!(compare(&expected, SAMPLE).unwrap().first_difference, None);
    }

    #[test]
    fn generated_outputs_are_expected_outputs() {
        let (_folder, references) = folder_with(SAMPLE);
        let published = [
            (
                ReferenceSource::Fasta(1_000),
                "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73",
                10_245,
            ),
            (
                ReferenceSource::ReverseComplement(1_000),
                "549dcdcc7df2685145e6cbdfd682469bd9c12ff1beec93c270f8ba447acd4855",
                10_245,
            ),
            (
                ReferenceSource::Mandelbrot(200),
                "97610473750700638fc63d13cfa49d339b67c18e7f26b3f9c9acb61e746472d5",
                5_011,
            ),
        ];
        for (source, sha256, bytes) in published {
            let expected = references.get(&reference(source, sha256, bytes)).unwrap();
            assert_eq!((expected.digest().sha256(), expected.digest().bytes()), (sha256, bytes));
        }
    }

    #[test]
    fn a_reference_is_proven_once_and_a_wrong_one_never() {
        let (folder, references) = folder_with(b"wrong");
        for _ in 0..2 {
            assert!(refused(&references, &sample()).contains("found 5 bytes"));
        }
        fs_err::write(folder.path().join("sample.txt"), SAMPLE).unwrap();
        let first = references.get(&sample()).unwrap();
        fs_err::write(folder.path().join("sample.txt"), b"changed").unwrap();
        assert!(Arc::ptr_eq(&first, &references.get(&sample()).unwrap()));
    }

    /// One source, two claims: the second is not believed because the first was right.
    #[test]
    fn what_is_proven_is_the_claim_not_the_source() {
        let (_folder, references) = folder_with(SAMPLE);
        references.get(&sample()).unwrap();
        let other = reference(sample().source, &"0".repeat(64), 26);
        assert!(refused(&references, &other).contains(SAMPLE_SHA256));
    }

    #[test]
    fn what_is_not_as_the_manifest_says_is_told_apart() {
        let (folder, references) = folder_with(&SAMPLE[..25]);
        let told = refused(&references, &sample());
        let path = folder.path().join("sample.txt").display().to_string();
        insta::assert_snapshot!(told.replace(&path, "PATH"), @"PATH: suite.toml says 26 bytes with SHA-256 76de83d6d51a74f82828547423f516e7815cfe8cfea6290a2831aa173f806de7, found 25 bytes; restore the file, or correct suite.toml if the file is right");
        fs_err::write(folder.path().join("sample.txt"), b"-0.169075164\n-0.169087604\n").unwrap();
        insta::assert_snapshot!(refused(&references, &sample()).replace(&path, "PATH"), @"PATH: suite.toml says 26 bytes with SHA-256 76de83d6d51a74f82828547423f516e7815cfe8cfea6290a2831aa173f806de7, found SHA-256 5b1f2ef45ccd49e10a84c11683a7aa564c31248e2c709d604143e5c035440336; restore the file, or correct suite.toml if the file is right");
        fs_err::remove_file(folder.path().join("sample.txt")).unwrap();
        assert!(refused(&references, &sample()).starts_with("a reference output is missing: "));
        let wrong = reference(ReferenceSource::Mandelbrot(200), SAMPLE_SHA256, 5_012);
        insta::assert_snapshot!(refused(&references, &wrong), @"the output of mandelbrot 200: suite.toml says 5012 bytes with SHA-256 76de83d6d51a74f82828547423f516e7815cfe8cfea6290a2831aa173f806de7, found 5011 bytes; correct suite.toml");
        let endless = reference(ReferenceSource::ReverseComplement(u64::MAX), SAMPLE_SHA256, 26);
        insta::assert_snapshot!(refused(&references, &endless), @"the output of reverse-complement for fasta 18446744073709551615: suite.toml says 26 bytes with SHA-256 76de83d6d51a74f82828547423f516e7815cfe8cfea6290a2831aa173f806de7, found 18446744073709551615 bytes; correct suite.toml");
    }
}
