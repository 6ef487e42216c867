//! Go releases: their grammar, their order, what a proxy lists of them, and how a user selects some.

mod listing;
mod selection;
mod variant;

pub use listing::{Listing, ListingError};
pub use selection::{Selection, SelectionError, Wanted, distinct_toolchains};
pub use variant::{Patches, Setting, ToolchainName, Variant, VariantError, check_goamd64};

use std::fmt;
use std::str::FromStr;

/// A Go version as the go command understands it, ordered as the go command orders it.
///
/// The grammar is `major[.minor[.patch | kind[pre]]]` without leading zeros; `kind` is lower-case
/// letters (`beta`, `rc`) and nothing may follow a patch, so `1.9.2rc2` is not a version. Before
/// Go 1.21 a missing patch *is* patch 0 (`1.20` and `1.20.0` are one release, published as
/// `go1.20`); from 1.21 on it sorts below every pre-release and names a language version, not a
/// release. The fields are declared in comparison order, so the derived order is the rule.
///
/// Source: `internal/gover` of the go command (`Parse`, `Compare`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    major: u64,
    minor: u64,
    patch: Option<u64>,
    kind: String,
    pre: Option<u64>,
}

/// A release line: `1.21` with all its patches. Displays as `1.21`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor {
    pub major: u64,
    pub minor: u64,
}

/// The text is not a Go version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a Go version (expected something like 1.21.13, go1.2.2 or 1.27rc1)")]
pub struct ReleaseError {
    pub text: String,
}

/// The first minor number whose releases are numbered from `.0`; the go command looks at the minor
/// number alone, whatever the major.
const FIRST_WITH_PATCH_ZERO: u64 = 21;

impl Release {
    /// The release line this version belongs to.
    pub fn minor(&self) -> Minor {
        Minor { major: self.major, minor: self.minor }
    }

    /// Whether this is a published kind of release: no alpha, beta or rc, and, from Go 1.21 on,
    /// with its patch number.
    pub fn is_stable(&self) -> bool {
        self.patch.is_some()
    }

    /// The kind of pre-release, `beta` or `rc`; empty for others.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The version without the `go` before it: `1.21.13`.
    pub fn version(&self) -> String {
        let tail = match (self.patch, self.pre) {
            (None, Some(pre)) => format!("{}{pre}", self.kind),
            (None, None) => self.kind.clone(),
            (Some(0), _) if self.minor < FIRST_WITH_PATCH_ZERO => String::new(),
            (Some(patch), _) => format!(".{patch}"),
        };
        if self.minor == 0 && tail.is_empty() {
            return self.major.to_string();
        }
        format!("{}.{}{tail}", self.major, self.minor)
    }
}

impl FromStr for Release {
    type Err = ReleaseError;

    /// Parses a version with or without the `go` before it.
    fn from_str(text: &str) -> Result<Self, ReleaseError> {
        parse(text.strip_prefix("go").unwrap_or(text))
            .ok_or_else(|| ReleaseError { text: text.to_owned() })
    }
}

impl fmt::Display for Release {
    /// Writes `go1.21.13`, the name under which the release was published.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "go{}", self.version())
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

fn parse(text: &str) -> Option<Release> {
    let (major, rest) = cut_number(text)?;
    let mut release = Release { major, minor: 0, patch: Some(0), kind: String::new(), pre: None };
    if rest.is_empty() {
        return Some(release);
    }
    let (minor, rest) = cut_number(rest.strip_prefix('.')?)?;
    release.minor = minor;
    if rest.is_empty() {
        release.patch = (release.minor < FIRST_WITH_PATCH_ZERO).then_some(0);
        return Some(release);
    }
    if let Some(rest) = rest.strip_prefix('.') {
        let (patch, rest) = cut_number(rest)?;
        release.patch = Some(patch);
        return rest.is_empty().then_some(release);
    }
    release.patch = None;
    let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
    let (kind, rest) = rest.split_at(digits);
    if kind.is_empty() || !kind.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    release.kind = kind.to_owned();
    if rest.is_empty() {
        return Some(release);
    }
    let (pre, rest) = cut_number(rest)?;
    release.pre = Some(pre);
    rest.is_empty().then_some(release)
}

/// Splits a decimal number without leading zeros off the front of `text`.
///
/// The go command compares numbers of any length; one that does not fit a `u64` is refused here,
/// because no release will ever carry it and a bounded value keeps everything after simple.
fn cut_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests;
