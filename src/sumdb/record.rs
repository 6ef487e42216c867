//! Records of a checksum database, and its answer to a lookup.
//!
//! ```text
//! 24929362                                                      id of the record
//! golang.org/toolchain v0.0.1-go1.21.9.linux-amd64 h1:rRL9…     the record, whose hash is the leaf
//! golang.org/toolchain v0.0.1-go1.21.9.linux-amd64/go.mod h1:8wlg…
//!
//! go.sum database tree                                          a signed head that covers it
//! …
//! ```

use super::note::is_note_text;
use super::tree::parse_count;
use crate::module::{EscapeError, TreeDigest, escape_path, escape_version};

/// What a record says about one version of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleRecord {
    pub path: String,
    pub version: String,
    /// The digest of the module's zip.
    pub h1: TreeDigest,
    /// The digest of its `go.mod`.
    pub go_mod_h1: TreeDigest,
}

impl ModuleRecord {
    /// Writes the text that is logged.
    pub(super) fn text(&self) -> String {
        let ModuleRecord { path, version, h1, go_mod_h1 } = self;
        format!("{path} {version} {h1}\n{path} {version}/go.mod {go_mod_h1}\n")
    }
}

/// The path under which a database answers for `version` of the module `path`.
///
/// # Errors
///
/// [`EscapeError`] if no module or version can be called so.
pub fn lookup_path(path: &str, version: &str) -> Result<String, EscapeError> {
    Ok(format!("lookup/{}@{}", escape_path(path)?, escape_version(version)?))
}

/// An answer to a lookup, taken apart. Nothing in it is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The record's place in the log.
    pub id: u64,
    /// The record, with its final line feed.
    pub record: &'a str,
    /// The signed head.
    pub note: &'a str,
}

/// Text that is not an answer to a lookup, or a record that does not say what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    #[error("the answer is not UTF-8 text, or holds control characters")]
    NotText,
    #[error("expected a record id as the first line, found {found:?}")]
    Id { found: String },
    #[error("the answer has no record followed by a blank line")]
    NoRecord,
    #[error("the record has no line for {module}")]
    NoLine { module: String },
    #[error("the record has {count} h1 lines for {module}, expected 1")]
    SeveralLines { module: String, count: usize },
    #[error("the record has no h1 digest for {module}, only {found:?}")]
    NoH1 { module: String, found: String },
}

impl<'a> Answer<'a> {
    /// Splits an answer at its first blank line.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if it is not text, does not start with a canonical record id, or has no
    /// record.
    ///
    /// Source: golang.org/x/mod/sumdb/tlog.
    pub fn parse(answer: &'a [u8]) -> Result<Self, RecordError> {
        let answer = std::str::from_utf8(answer).map_err(|_| RecordError::NotText)?;
        if !is_note_text(answer) {
            return Err(RecordError::NotText);
        }
        let (id, rest) = answer.split_once('\n').unwrap_or((answer, ""));
        let id = parse_count(id).ok_or_else(|| RecordError::Id { found: id.to_owned() })?;
        let blank_line = rest.find("\n\n").ok_or(RecordError::NoRecord)?;
        if rest.starts_with('\n') {
            return Err(RecordError::NoRecord);
        }
        Ok(Answer { id, record: &rest[..=blank_line], note: &rest[blank_line + 2..] })
    }
}

/// Finds what `record` says about exactly this version of this module.
///
/// Give it nothing but the text whose hash was found in the log: every line in it is believed.
///
/// # Errors
///
/// [`RecordError`] unless there is one `h1:` line for the module and one for its `go.mod`.
/// Lines with other hashes beside them are allowed, for the day there is an `h2:`.
pub fn find_module(record: &str, path: &str, version: &str) -> Result<ModuleRecord, RecordError> {
    Ok(ModuleRecord {
        path: path.to_owned(),
        version: version.to_owned(),
        h1: find_h1(record, path, version)?,
        go_mod_h1: find_h1(record, path, &format!("{version}/go.mod"))?,
    })
}

fn find_h1(record: &str, path: &str, version: &str) -> Result<TreeDigest, RecordError> {
    let module = format!("{path} {version}");
    let of_module = |line: &'_ str| -> Option<String> {
        Some(line.strip_prefix(&module)?.strip_prefix(' ')?.to_owned())
    };
    let (h1s, others): (Vec<String>, Vec<String>) =
        record.split('\n').filter_map(of_module).partition(|digest| digest.starts_with("h1:"));
    match (h1s.as_slice(), others.into_iter().next()) {
        ([h1], _) => {
            TreeDigest::from_h1(h1).map_err(|_| RecordError::NoH1 { module, found: h1.clone() })
        }
        ([], None) => Err(RecordError::NoLine { module }),
        ([], Some(found)) => Err(RecordError::NoH1 { module, found }),
        (several, _) => Err(RecordError::SeveralLines { module, count: several.len() }),
    }
}
