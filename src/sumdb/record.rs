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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PATH: &str = "golang.org/toolchain";
    const VERSION: &str = "v0.0.1-go1.27.1.linux-amd64";

    fn record() -> ModuleRecord {
        ModuleRecord {
            path: PATH.to_owned(),
            version: VERSION.to_owned(),
            h1: TreeDigest::from_bytes([1; 32]),
            go_mod_h1: TreeDigest::from_bytes([2; 32]),
        }
    }

    fn find(text: &str) -> Result<ModuleRecord, RecordError> {
        find_module(text, PATH, VERSION)
    }

    #[test]
    fn lookups_are_asked_by_the_escaped_name() {
        assert_eq!(
            lookup_path(PATH, VERSION).unwrap(),
            "lookup/golang.org/toolchain@v0.0.1-go1.27.1.linux-amd64"
        );
        assert_eq!(lookup_path("a.test/B", "v1.0.0-X").unwrap(), "lookup/a.test/!b@v1.0.0-!x");
    }

    #[test]
    fn an_answer_ends_its_record_at_the_first_blank_line() {
        let answer = Answer::parse(b"7\na\nb\n\nc\n\nd\n").unwrap();
        assert_eq!(answer, Answer { id: 7, record: "a\nb\n", note: "c\n\nd\n" });
    }

    #[test]
    fn refuses_what_is_not_an_answer() {
        let id = |found: &str| Err(RecordError::Id { found: found.to_owned() });
        assert_eq!(Answer::parse(b""), id(""));
        assert_eq!(Answer::parse(b"<html>\n"), id("<html>"));
        assert_eq!(Answer::parse(b"\n7\na\n\n"), id(""));
        for answer in ["7", "7\n", "7\n\n", "7\n\n\n", "7\na", "7\na\n", "7\n\na\n\nb\n"] {
            assert_eq!(Answer::parse(answer.as_bytes()), Err(RecordError::NoRecord), "{answer:?}");
        }
        for answer in [&b"7\r\na\r\n\r\n"[..], b"7\na\0\n\n", b"7\n\xff\n\n"] {
            assert_eq!(Answer::parse(answer), Err(RecordError::NotText));
        }
    }

    #[test]
    fn a_line_must_name_exactly_the_module_and_version() {
        let text = record().text();
        assert_eq!(find(&text), Ok(record()));
        let no_line = Err(RecordError::NoLine { module: format!("{PATH} {VERSION}") });
        for other in [
            text.replace(PATH, "golang.org/toolchains"),
            text.replace(PATH, "xgolang.org/toolchain"),
            text.replace(PATH, "golang.org/Toolchain"),
            text.replace("go1.27.1.", "go1.27.10."),
            text.replace("amd64 ", "amd64x "),
            text.replace("amd64 h1", "amd64  h1").replace(' ', "  "),
            text.replace(' ', "\u{a0}"),
            text.replace("golang", " golang"),
        ] {
            assert_eq!(find(&other), no_line, "{other}");
        }
    }

    #[test]
    fn other_lines_do_not_matter() {
        let text = record().text();
        let h2 = format!("{PATH} {VERSION} h2:AAAA\n");
        assert_eq!(find(&format!("{h2}other v1 h1:x\n{text}{h2}")), Ok(record()));
    }

    #[test]
    fn a_digest_must_be_one_to_the_letter() {
        let text = record().text();
        let digest = record().h1.to_h1();
        for bad in
            ["h1:", "h1:AAAA", &format!("{digest} x"), &format!(" {digest}"), &format!("{digest} ")]
        {
            let error = find(&text.replace(&digest, bad));
            assert_eq!(
                error,
                Err(RecordError::NoH1 {
                    module: format!("{PATH} {VERSION}"),
                    found: bad.to_owned()
                })
            );
        }
    }

    #[test]
    fn two_lines_contradict_each_other_even_if_they_agree() {
        let text = record().text();
        let (first, _) = text.split_once('\n').unwrap();
        assert!(matches!(
            find(&format!("{first}\n{text}")),
            Err(RecordError::SeveralLines { count: 2, .. })
        ));
    }

    proptest! {
        #[test]
        fn records_round_trip(h1: [u8; 32], go_mod_h1: [u8; 32], id in 0..=i64::MAX as u64) {
            let record = ModuleRecord {
                h1: TreeDigest::from_bytes(h1),
                go_mod_h1: TreeDigest::from_bytes(go_mod_h1),
                ..record()
            };
            let answer = format!("{id}\n{}\nnote\n", record.text());
            let answer = Answer::parse(answer.as_bytes()).unwrap();
            prop_assert_eq!((answer.id, answer.note), (id, "note\n"));
            prop_assert_eq!(find(answer.record), Ok(record));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>, text: String, tail in "[0-9a-z\n h:]{0,60}") {
            let _ = Answer::parse(&bytes);
            let _ = Answer::parse(tail.as_bytes());
            let _ = Answer::parse(format!("1\n{text}\n\n").as_bytes());
            let _ = find_module(&text, &text, &tail);
        }
    }
}
