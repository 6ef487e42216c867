//! The rows file: which programs to take from an archive, and what to change in them.

use super::edit::Edit;
use crate::suite::{CLibrary, check_digest, check_file_name};
use serde::Deserialize;
use std::collections::BTreeSet;

/// The rows of the published survey.
const BENCHMARKSGAME: &str = include_str!("benchmarksgame.toml");

/// More rows than any list of programs has; it bounds what is read from an archive.
const MOST_ROWS: usize = 200;

/// A list of the programs to take from an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    /// What the suite is, in a line.
    pub about: String,
    pub rows: Vec<Row>,
}

/// A program to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name in the suite that is made.
    pub program: String,
    pub about: String,
    /// How its path in the archive may end. Whole path elements are compared, so that it does not
    /// matter in which folder of the archive the sources are.
    pub files: Vec<String>,
    /// The program whose task, workloads and references it shares.
    pub like: String,
    pub c_library: Option<CLibrary>,
    /// SHA-256 of the edition that the edits were made for.
    pub sha256: Option<String>,
    /// The row it can replace; it is taken only on demand.
    pub stands_in_for: Option<String>,
    /// Why it cannot be taken, if it cannot.
    pub left_out: Option<String>,
    pub edits: Vec<Edit>,
    /// Files of ours that its edits refer to.
    pub added: Vec<AddedFile>,
}

/// A Go file put beside a program's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedFile {
    pub name: String,
    pub why: String,
    pub text: String,
}

/// A text is no list of rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    #[error("{0}")]
    Malformed(String),
    #[error("row {program}: {reason}")]
    Row { program: String, reason: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRows {
    about: String,
    #[serde(default)]
    row: Vec<WireRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireRow {
    program: String,
    about: String,
    files: Vec<String>,
    like: String,
    c_library: Option<CLibrary>,
    sha256: Option<String>,
    stands_in_for: Option<String>,
    left_out: Option<String>,
    #[serde(default)]
    edit: Vec<WireEdit>,
    #[serde(default)]
    add: Vec<WireAddedFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireEdit {
    line: usize,
    find: String,
    replace: String,
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WireAddedFile {
    name: String,
    why: String,
    text: String,
}

impl Rows {
    /// The rows of the Benchmarks Game that the published survey measured, as shipped.
    pub fn benchmarksgame() -> Self {
        Rows::parse(BENCHMARKSGAME).expect("a test reads the shipped rows")
    }

    /// Reads a list of rows.
    ///
    /// # Errors
    ///
    /// [`RowsError`] with the line or the row, if a key is unknown or missing, a name is no file
    /// name, an edit is none, or a row is listed twice or stands in for one that is not listed.
    pub fn parse(text: &str) -> Result<Self, RowsError> {
        let wire: WireRows =
            toml::from_str(text).map_err(|error| RowsError::Malformed(error.to_string()))?;
        if wire.row.is_empty() || wire.row.len() > MOST_ROWS {
            let found = wire.row.len();
            return Err(RowsError::Malformed(format!(
                "expected 1 to {MOST_ROWS} [[row]] entries, found {found}"
            )));
        }
        let mut rows = Vec::with_capacity(wire.row.len());
        for row in wire.row {
            let program = row.program.clone();
            rows.push(self::row(row).map_err(|reason| RowsError::Row { program, reason })?);
        }
        let rows = Rows { about: wire.about, rows };
        rows.check_names()?;
        Ok(rows)
    }

    /// Finds a row by its program's name.
    pub fn row(&self, program: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.program == program)
    }

    fn check_names(&self) -> Result<(), RowsError> {
        let wrong = |row: &Row, reason: String| {
            Err(RowsError::Row { program: row.program.clone(), reason })
        };
        let mut seen = BTreeSet::new();
        for row in &self.rows {
            if !seen.insert(&row.program) {
                return wrong(row, "is listed twice".to_owned());
            }
            let Some(original) = &row.stands_in_for else { continue };
            match self.row(original) {
                None => {
                    return wrong(row, format!("stands in for {original}, which is not listed"));
                }
                Some(original) if original.stands_in_for.is_some() => {
                    return wrong(row, format!("stands in for {}, a stand-in", original.program));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

fn row(wire: WireRow) -> Result<Row, String> {
    check_file_name(&wire.program)?;
    check_file_name(&wire.like)?;
    wire.sha256.as_deref().map_or(Ok(()), check_digest)?;
    if wire.files.is_empty() {
        return Err("files is empty".to_owned());
    }
    for file in &wire.files {
        file.split('/')
            .try_for_each(check_file_name)
            .map_err(|reason| format!("file {file:?}: {reason}"))?;
    }
    let edits = wire.edit.into_iter().enumerate().map(|(place, edit)| {
        let WireEdit { line, find, replace, why } = edit;
        Edit::new(line, find, replace, why)
            .map_err(|reason| format!("edit {}: {reason}", place + 1))
    });
    let edits = edits.collect::<Result<Vec<_>, _>>()?;
    let added = wire.add.into_iter().map(added).collect::<Result<Vec<_>, _>>()?;
    Ok(Row {
        program: wire.program,
        about: wire.about,
        files: wire.files,
        like: wire.like,
        c_library: wire.c_library,
        sha256: wire.sha256,
        stands_in_for: wire.stands_in_for,
        left_out: wire.left_out,
        edits,
        added,
    })
}

fn added(wire: WireAddedFile) -> Result<AddedFile, String> {
    let WireAddedFile { name, why, text } = wire;
    check_file_name(&name).map_err(|reason| format!("added file: {reason}"))?;
    if !name.ends_with(".go") || name == Row::MAIN_FILE {
        return Err(format!("added file {name}: expected a Go file that is not main.go"));
    }
    Ok(AddedFile { name, why, text })
}

impl Row {
    /// What a program's own file is called in the suite.
    pub const MAIN_FILE: &str = "main.go";
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROWS: &str = r#"
about = "two rows"
[[row]]
program = "nbody-3"
about = "a row"
files = ["nbody/nbody.go-3.go"]
like = "n-body"
sha256 = "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73"
[[row.edit]]
line = 3
find = "old"
replace = "new"
why = "older releases have no old"
[[row.add]]
name = "new.go"
why = "what new is"
text = "package main"
[[row]]
program = "nbody-2"
about = "another"
files = ["nbody/nbody.go-2.go"]
like = "n-body"
stands_in_for = "nbody-3"
"#;

    fn refused(from: &str, to: &str) -> String {
        let text = ROWS.replacen(from, to, 1);
        assert_ne!(text, ROWS, "{from:?} is not in the rows");
        Rows::parse(&text).unwrap_err().to_string()
    }

    #[test]
    fn rows_are_read() {
        let rows = Rows::parse(ROWS).unwrap();
        let row = rows.row("nbody-3").unwrap();
        assert_eq!((row.edits[0].line(), row.edits[0].find.as_str()), (3, "old"));
        assert_eq!(row.added[0].name, "new.go");
        assert_eq!(rows.row("nbody-2").unwrap().stands_in_for.as_deref(), Some("nbody-3"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_row() {
        let row = |from, to| {
            let message = refused(from, to);
            assert!(message.starts_with("row nbody-"), "{message}");
            message
        };
        assert!(refused("like = \"n-body\"\nsha", "liek = \"n-body\"\nsha").contains("line"));
        assert!(row("nbody-2\"\nabout", "nbody-3\"\nabout").contains("listed twice"));
        assert!(row("for = \"nbody-3\"", "for = \"nbody-4\"").contains("not listed"));
        assert!(row("for = \"nbody-3\"", "for = \"nbody-2\"").contains("a stand-in"));
        assert!(row("nbody/nbody.go-3.go", "../nbody.go-3.go").contains("plain file name"));
        assert!(row("nbody/nbody.go-3.go", "/nbody.go-3.go").contains("plain file name"));
        assert!(row("[\"nbody/nbody.go-3.go\"]", "[]").contains("files is empty"));
        assert!(row("62d1", "62D1").contains("SHA-256"));
        assert!(row("line = 3", "line = 0").contains("edit 1"));
        assert!(row("find = \"old\"", "find = \"\"").contains("edit 1"));
        assert!(row("replace = \"new\"", "replace = \"a\\nb\"").contains("edit 1"));
        assert!(row("new.go", "main.go").contains("not main.go"));
        assert!(row("new.go", "../new.go").contains("plain file name"));
        assert!(refused("program = \"nbody-3\"", "program = \"a/b\"").contains("row a/b"));
        assert!(Rows::parse("about = \"none\"").unwrap_err().to_string().contains("found 0"));
    }

    #[test]
    fn the_shipped_rows_are_those_of_the_published_survey() {
        let rows = Rows::benchmarksgame();
        let usual = rows.rows.iter().filter(|row| row.stands_in_for.is_none());
        let usual: Vec<&str> = usual.map(|row| row.program.as_str()).collect();
        assert_eq!(
            usual,
            [
                "binarytrees-2",
                "fannkuchredux-3",
                "fasta-2",
                "knucleotide-7",
                "mandelbrot-4",
                "nbody-3",
                "pidigits-4",
                "pidigits-6",
                "regexredux-5",
                "regexredux-3",
                "revcomp-6",
                "spectralnorm-4",
            ]
        );
        let edited = rows.rows.iter().filter(|row| !row.edits.is_empty()).count();
        assert_eq!(edited, 5);
    }

    #[test]
    fn the_shipped_rows_quote_no_more_of_a_program_than_a_few_words() {
        for row in Rows::benchmarksgame().rows {
            for edit in row.edits {
                assert!(edit.find.len() <= 24, "{}: {:?}", row.program, edit.find);
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
            let _ = Rows::parse(&text);
        }
    }
}
