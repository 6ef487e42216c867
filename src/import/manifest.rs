//! The `suite.toml` of a suite of imported programs.

use super::rows::Row;
use crate::suite::{CLibrary, Stdin, Suite, SuiteError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A program as it was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken<'a> {
    pub row: &'a Row,
    /// Its path in the archive.
    pub file: String,
    /// SHA-256 of the file in the archive, before any edit, in hex.
    pub sha256: String,
    /// Whether it is left out of geometric means.
    pub extra: bool,
}

/// No suite can be made of what was taken.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error(
        "row {program}: is like {like}, but the suite with the workloads has no such program (it has {known})"
    )]
    NoSuchProgram { program: String, like: String, known: String },
    #[error("the rows make no suite")]
    NoSuite(#[source] SuiteError),
    #[error("the suite with the workloads")]
    Workloads(#[source] SuiteError),
}

#[derive(Serialize)]
struct WireProgram<'a> {
    name: &'a str,
    task: &'a str,
    about: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    extra: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    c_library: Option<&'a CLibrary>,
    size: &'a toml::Value,
}

/// Writes the manifest of the suite called `name`, and reads it back.
///
/// Sizes and inputs are those of `workloads`, the manifest of another suite, taken over as they
/// stand there. Comments say where each program came from and what was changed in it, so they are
/// part of the suite's digest.
///
/// # Errors
///
/// [`ManifestError`] if a row is like a program that the other suite lacks, or if what comes out is
/// no suite.
pub fn manifest(
    name: &str,
    about: &str,
    taken: &[Taken<'_>],
    workloads: &str,
) -> Result<(String, Suite), ManifestError> {
    let known = Suite::parse(workloads).map_err(ManifestError::Workloads)?;
    let tables: toml::Table = toml::from_str(workloads).expect("it has just been parsed");
    let mut text = String::from(
        "# Written by `gosurvey import programs`. What is below is recorded with every survey: edit the list of rows and\n\
         # import again rather than this file.\n\n",
    );
    text += &format!("name = {}\nabout = {}\n", quoted(name), quoted(about));
    text += &inputs(taken, &known, &tables);
    for taken in taken {
        text += &program(taken, &known, &tables)?;
    }
    let suite = Suite::parse(&text).map_err(ManifestError::NoSuite)?;
    Ok((text, suite))
}

/// The `[[input]]` entries that the programs read.
fn inputs(taken: &[Taken<'_>], known: &Suite, tables: &toml::Table) -> String {
    let programs = taken.iter().filter_map(|taken| known.program(&taken.row.like));
    let read: BTreeSet<u64> = programs
        .flat_map(|program| program.sizes.values())
        .filter_map(|workload| match workload.stdin {
            Stdin::Fasta(n) => Some(n),
            Stdin::Null => None,
        })
        .collect();
    let described = known.inputs.iter().zip(entries(tables, "input"));
    let wanted = described.filter(|(input, _)| read.contains(&input.fasta));
    wanted.map(|(_, entry)| format!("\n{}", section("input", entry))).collect()
}

fn program(
    taken: &Taken<'_>,
    known: &Suite,
    tables: &toml::Table,
) -> Result<String, ManifestError> {
    let row = taken.row;
    let mut like = known.programs.iter().zip(entries(tables, "program"));
    let Some((like, entry)) = like.find(|(program, _)| program.name == row.like) else {
        let names: Vec<&str> = known.programs.iter().map(|program| program.name.as_str()).collect();
        return Err(ManifestError::NoSuchProgram {
            program: row.program.clone(),
            like: row.like.clone(),
            known: names.join(", "),
        });
    };
    let program = WireProgram {
        name: &row.program,
        task: &like.task,
        about: &row.about,
        extra: taken.extra,
        c_library: row.c_library.as_ref(),
        size: &entry["size"],
    };
    Ok(format!("\n{}{}", origin(taken), section("program", &program)))
}

/// Comment lines that say what a program is made of.
fn origin(taken: &Taken<'_>) -> String {
    let mut text = format!("# {}\n# SHA-256 {}\n", comment(&taken.file), taken.sha256);
    for edit in &taken.row.edits {
        let _ = writeln!(text, "# {}", comment(&edit.to_string()));
    }
    for added in &taken.row.added {
        let _ = writeln!(text, "# added {}: {}", added.name, comment(&added.why));
    }
    text
}

/// A text on one line.
fn comment(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "?")
}

fn entries<'a>(tables: &'a toml::Table, key: &str) -> impl Iterator<Item = &'a toml::Value> {
    tables.get(key).and_then(toml::Value::as_array).into_iter().flatten()
}

/// An element of an array of tables.
fn section(key: &str, entry: &impl Serialize) -> String {
    let array = BTreeMap::from([(key, [entry])]);
    toml::to_string(&array).expect("strings, numbers and tables of them")
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::rows::Rows;
    use super::*;

    const DIGEST: &str = "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73";

    fn workloads() -> String {
        format!(
            r#"
name = "other"
about = "for tests"
[[input]]
fasta = 1
sha256 = "{DIGEST}"
bytes = 1
[[input]]
fasta = 1000
sha256 = "{DIGEST}"
bytes = 10245
[[program]]
name = "k-nucleotide"
task = "counting"
about = "counts"
[[program.patch]]
file = "0001-new.patch"
before = "1.25"
why = "WaitGroup.Go"
tree_sha256 = "{DIGEST}"
[program.size.check]
args = ["0"]
stdin = {{ fasta = 1000 }}
expect = {{ file = "k-nucleotide-1000.txt", sha256 = "{DIGEST}", bytes = 242 }}
about_ms = 10
"#
        )
    }

    fn rows(like: &str) -> Rows {
        Rows::parse(&format!(
            r#"
about = "for tests"
[[row]]
program = "knucleotide-7"
about = "a \"map\" of pointers"
files = ["knucleotide/knucleotide.go-7.go"]
like = "{like}"
c_library = {{ name = "GMP", header = "gmp.h", link = "gmp", debian = "libgmp-dev" }}
[[row.edit]]
line = 101
find = "\"old\""
replace = "new"
why = "new\n[[program]]"
[[row.add]]
name = "new.go"
why = "what new is"
text = "package main"
"#
        ))
        .unwrap()
    }

    fn made(rows: &Rows) -> Result<(String, Suite), ManifestError> {
        let row = &rows.rows[0];
        let file = "top/knucleotide/knucleotide.go-7.go".to_owned();
        let taken = Taken { row, file, sha256: DIGEST.to_owned(), extra: true };
        manifest("mine", "all\nof it", &[taken], &workloads())
    }

    #[test]
    fn a_manifest_says_where_its_programs_come_from() {
        let (text, suite) = made(&rows("k-nucleotide")).unwrap();
        insta::assert_snapshot!(text);
        assert_eq!(suite.about, "all\nof it");
        let other = Suite::parse(&workloads()).unwrap();
        let program = suite.program("knucleotide-7").unwrap();
        assert_eq!(program.sizes, other.programs[0].sizes);
        assert_eq!((program.task.as_str(), program.extra), ("counting", true));
        assert_eq!(program.c_library.as_ref().unwrap().link, "gmp");
        assert!(program.patches.is_empty());
        assert_eq!(suite.inputs, [other.inputs[1].clone()]);
    }

    #[test]
    fn a_row_like_no_program_is_refused() {
        insta::assert_snapshot!(made(&rows("nbody")).unwrap_err().to_string(), @"row knucleotide-7: is like nbody, but the suite with the workloads has no such program (it has k-nucleotide)");
    }

    #[test]
    fn a_library_that_is_none_is_refused() {
        let mut rows = rows("k-nucleotide");
        rows.rows[0].c_library.as_mut().unwrap().link = "-o".to_owned();
        assert!(matches!(made(&rows), Err(ManifestError::NoSuite(_))));
    }
}
