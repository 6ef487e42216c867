//! `suite.toml` to a [`Suite`].

use super::{CLibrary, Input, Patch, Program, Reference, ReferenceSource, Stdin, Suite, Workload};
use crate::release::{Minor, Release};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A manifest does not describe a suite.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    #[error("suite.toml: {0}")]
    Malformed(String),
    #[error("suite.toml, program {program}: {reason}")]
    Program { program: String, reason: String },
    #[error("suite.toml, input fasta {fasta}: {reason}")]
    Input { fasta: u64, reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireSuite {
    name: String,
    about: String,
    #[serde(default)]
    program: Vec<WireProgram>,
    #[serde(default)]
    input: Vec<WireInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireProgram {
    name: String,
    task: String,
    about: String,
    #[serde(default)]
    extra: bool,
    c_library: Option<CLibrary>,
    #[serde(default)]
    patch: Vec<WirePatch>,
    size: BTreeMap<String, WireWorkload>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WirePatch {
    file: String,
    before: String,
    why: String,
    tree_sha256: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireWorkload {
    args: Vec<String>,
    stdin: Option<WireFasta>,
    expect: WireReference,
    #[serde(default = "one_second")]
    about_ms: u64,
}

fn one_second() -> u64 {
    1_000
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireFasta {
    fasta: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct WireReference {
    file: Option<String>,
    fasta: Option<u64>,
    mandelbrot: Option<u64>,
    reverse_complement: Option<u64>,
    sha256: String,
    bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireInput {
    fasta: u64,
    sha256: String,
    bytes: u64,
}

impl Suite {
    /// Reads a manifest.
    ///
    /// # Errors
    ///
    /// [`SuiteError`] with the line or the program, if a key is unknown or missing, a name would
    /// lead out of its folder, a digest is none, patches are out of order, or an input is read
    /// that no `[[input]]` describes.
    pub fn parse(text: &str) -> Result<Self, SuiteError> {
        let wire: WireSuite =
            toml::from_str(text).map_err(|error| SuiteError::Malformed(error.to_string()))?;
        let inputs = wire.input.into_iter().map(input).collect::<Result<Vec<_>, _>>()?;
        let programs = wire.program.into_iter().map(program).collect::<Result<Vec<_>, _>>()?;
        let suite = Suite { name: wire.name, about: wire.about, programs, inputs };
        suite.check_names()?;
        suite.check_inputs()?;
        Ok(suite)
    }

    fn check_names(&self) -> Result<(), SuiteError> {
        let mut seen = BTreeSet::new();
        match self.programs.iter().find(|program| !seen.insert(&program.name)) {
            Some(twice) => Err(wrong(&twice.name, "is listed twice".to_owned())),
            None if self.programs.is_empty() => {
                Err(SuiteError::Malformed("lists no [[program]]".to_owned()))
            }
            None => Ok(()),
        }
    }

    fn check_inputs(&self) -> Result<(), SuiteError> {
        for program in &self.programs {
            for (size, workload) in &program.sizes {
                let Stdin::Fasta(n) = workload.stdin else { continue };
                if self.input(n).is_none() {
                    let reason =
                        format!("size {size} reads fasta {n}, which no [[input]] describes");
                    return Err(wrong(&program.name, reason));
                }
            }
        }
        Ok(())
    }
}

fn program(wire: WireProgram) -> Result<Program, SuiteError> {
    let name = wire.name;
    check_file_name(&name).map_err(|reason| wrong(&name, reason))?;
    let mut patches = Vec::new();
    for patch in wire.patch {
        patches.push(self::patch(patch).map_err(|reason| wrong(&name, reason))?);
    }
    if !patches.is_sorted_by(|earlier: &Patch, later| earlier.before >= later.before) {
        let reason = "patches are not listed newest requirement first (by `before`)".to_owned();
        return Err(wrong(&name, reason));
    }
    let mut sizes = BTreeMap::new();
    for (size, workload) in wire.size {
        let workload = self::workload(workload)
            .map_err(|reason| wrong(&name, format!("size {size}: {reason}")))?;
        sizes.insert(size, workload);
    }
    if sizes.is_empty() {
        return Err(wrong(&name, "has no size".to_owned()));
    }
    if let Some(library) = &wire.c_library {
        check_c_library(library).map_err(|reason| wrong(&name, reason))?;
    }
    Ok(Program {
        name,
        task: wire.task,
        about: wire.about,
        extra: wire.extra,
        c_library: wire.c_library,
        patches,
        sizes,
    })
}

/// Header and link name become part of a C compiler's input and arguments.
fn check_c_library(library: &CLibrary) -> Result<(), String> {
    let CLibrary { name, header, link, debian } = library;
    let plain = |name: &str| check_file_name(name).is_ok() && !name.starts_with('-');
    if header.split('/').try_for_each(check_file_name).is_ok() && plain(link) && plain(debian) {
        return Ok(());
    }
    Err(format!(
        "c_library {name}: expected header like \"gmp.h\", link like \"gmp\" and debian like \
         \"libgmp-dev\", found {header:?}, {link:?} and {debian:?}"
    ))
}

fn patch(wire: WirePatch) -> Result<Patch, String> {
    check_file_name(&wire.file)?;
    check_digest(&wire.tree_sha256)?;
    let before = minor(&wire.before).ok_or_else(|| {
        format!("patch {}: before = {:?} is not a minor (expected 1.21)", wire.file, wire.before)
    })?;
    Ok(Patch { file: wire.file, before, why: wire.why, tree_sha256: wire.tree_sha256 })
}

fn workload(wire: WireWorkload) -> Result<Workload, String> {
    let stdin = wire.stdin.map_or(Stdin::Null, |stdin| Stdin::Fasta(stdin.fasta));
    let expect = reference(wire.expect)?;
    Ok(Workload { args: wire.args, stdin, expect, about_ms: wire.about_ms })
}

fn reference(wire: WireReference) -> Result<Reference, String> {
    check_digest(&wire.sha256)?;
    if let Some(file) = &wire.file {
        check_file_name(file)?;
    }
    let sources = [
        wire.file.map(ReferenceSource::File),
        wire.fasta.map(ReferenceSource::Fasta),
        wire.mandelbrot.map(ReferenceSource::Mandelbrot),
        wire.reverse_complement.map(ReferenceSource::ReverseComplement),
    ];
    let mut sources = sources.into_iter().flatten();
    match (sources.next(), sources.next()) {
        (Some(source), None) => Ok(Reference { source, sha256: wire.sha256, bytes: wire.bytes }),
        _ => Err("expect names none or several of file, fasta, mandelbrot and reverse-complement"
            .to_owned()),
    }
}

fn input(wire: WireInput) -> Result<Input, SuiteError> {
    check_digest(&wire.sha256).map_err(|reason| SuiteError::Input { fasta: wire.fasta, reason })?;
    Ok(Input { fasta: wire.fasta, sha256: wire.sha256, bytes: wire.bytes })
}

fn wrong(program: &str, reason: String) -> SuiteError {
    SuiteError::Program { program: program.to_owned(), reason }
}

fn minor(text: &str) -> Option<Minor> {
    let (major, minor) = text.split_once('.')?;
    let release: Release = text.parse().ok()?;
    // "1.21.3" and "1.21rc1" are releases, but no minors.
    (major.parse() == Ok(release.minor().major) && minor.parse() == Ok(release.minor().minor))
        .then(|| release.minor())
}

/// Names from a manifest are joined to paths: each must be one plain file name.
pub(crate) fn check_file_name(name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err(format!(
            "{name:?} is not a plain file name (letters, digits, '-', '_' and '.', not first a dot)"
        ));
    }
    Ok(())
}

/// A SHA-256, in lower-case hex digits.
pub(crate) fn check_digest(digest: &str) -> Result<(), String> {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digest.len() != 64 || !digest.bytes().all(hex) {
        return Err(format!("{digest:?} is not a SHA-256 in lower-case hex digits"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DIGEST: &str = "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73";

    const C_LIBRARY: &str = "about = \"counts\"\nc_library = { name = \"GMP\", \
                             header = \"gmp.h\", link = \"gmp\", debian = \"libgmp-dev\" }";

    fn manifest() -> String {
        format!(
            r#"
name = "two"
about = "for tests"
[[input]]
fasta = 1000
sha256 = "{DIGEST}"
bytes = 10245
[[program]]
name = "k-nucleotide"
task = "k-nucleotide"
about = "counts"
[[program.patch]]
file = "0001-new.patch"
before = "1.25"
why = "WaitGroup.Go"
tree_sha256 = "{DIGEST}"
[[program.patch]]
file = "0002-old.patch"
before = "1.22"
why = "range over int"
tree_sha256 = "{DIGEST}"
[program.size.check]
args = ["0"]
stdin = {{ fasta = 1000 }}
expect = {{ file = "k-nucleotide-1000.txt", sha256 = "{DIGEST}", bytes = 242 }}
"#
        )
    }

    fn refused(from: &str, to: &str) -> String {
        let text = manifest().replacen(from, to, 1);
        assert_ne!(text, manifest(), "{from:?} is not in the manifest");
        Suite::parse(&text).unwrap_err().to_string()
    }

    #[test]
    fn a_manifest_becomes_a_suite() {
        let suite = Suite::parse(&manifest()).unwrap();
        let program = suite.program("k-nucleotide").unwrap();
        assert_eq!(program.sizes["check"].stdin, Stdin::Fasta(1000));
        assert_eq!(suite.input(1000).unwrap().bytes, 10_245);
    }

    #[test]
    fn a_reference_is_a_file_or_generated() {
        let source = |named: &str| {
            let text = manifest().replacen("file = \"k-nucleotide-1000.txt\"", named, 1);
            Suite::parse(&text).unwrap().programs[0].sizes["check"].expect.source.clone()
        };
        assert_eq!(source("file = \"a.txt\""), ReferenceSource::File("a.txt".to_owned()));
        assert_eq!(source("fasta = 7"), ReferenceSource::Fasta(7));
        assert_eq!(source("mandelbrot = 7"), ReferenceSource::Mandelbrot(7));
        assert_eq!(source("reverse-complement = 7"), ReferenceSource::ReverseComplement(7));
    }

    #[test]
    fn a_program_may_be_an_extra_and_link_a_c_library() {
        let text = manifest().replacen("about = \"counts\"", C_LIBRARY, 1);
        let text = text.replacen("task = \"k-", "extra = true\ntask = \"k-", 1);
        let suite = Suite::parse(&text).unwrap();
        let program = &suite.programs[0];
        assert!(program.extra);
        assert_eq!(program.c_library.as_ref().unwrap().debian, "libgmp-dev");
        let plain = Suite::parse(&manifest()).unwrap();
        assert!(!plain.programs[0].extra && plain.programs[0].c_library.is_none());
    }

    #[test]
    fn the_oldest_release_decides_the_patches_of_all() {
        let suite = Suite::parse(&manifest()).unwrap();
        let program = suite.program("k-nucleotide").unwrap();
        let files = |oldest: &str| {
            let oldest = oldest.parse::<Release>().unwrap().minor();
            program.patches_for(oldest).iter().map(|p| p.file.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(files("1.25.5"), Vec::<&str>::new());
        assert_eq!(files("1.22.0"), ["0001-new.patch"]);
        assert_eq!(files("1.9.7"), ["0001-new.patch", "0002-old.patch"]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert!(refused("about = \"counts\"", "abuot = \"counts\"").contains("line"));
        assert!(refused("k-nucleotide\"\ntask", "../k\"\ntask").contains("plain file name"));
        assert!(refused("0001-new.patch", "a/b").contains("plain file name"));
        assert!(refused("fasta = 1000 }", "fasta = 1001 }").contains("no [[input]]"));
        assert!(refused("before = \"1.25\"", "before = \"1.20\"").contains("newest requirement"));
        assert!(refused("before = \"1.25\"", "before = \"1.25.3\"").contains("not a minor"));
        assert!(refused(DIGEST, "62d1").contains("not a SHA-256"));
        assert!(refused("file = \"k-nucleotide-1000.txt\", ", "").contains("none or several"));
        let two = "expect = { fasta = 1, mandelbrot = 1,";
        assert!(refused("expect = { file = \"k-nucleotide-1000.txt\",", two).contains("several"));
        assert!(refused("[[program]]", "[[program]]\nx = 1").contains("line"));
        for header in ["/etc/passwd", "../gmp.h", "gmp.h>\\n#error"] {
            let library = C_LIBRARY.replace("gmp.h", header);
            assert!(refused("about = \"counts\"", &library).contains("expected header"));
        }
        let option = C_LIBRARY.replace("\"gmp\"", "\"-o\"");
        assert!(refused("about = \"counts\"", &option).contains("expected header"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = Suite::parse(&text);
        }
    }
}
