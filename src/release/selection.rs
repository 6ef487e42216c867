//! The `--go` language: which releases and variants a user means.

use super::variant::{Patches, Setting, local_name};
use super::{Listing, Minor, Release, ReleaseError, ToolchainName, Variant, VariantError};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What `--go` names: a comma list of releases (`1.21.13`), minors (`1.23`, meaning its latest
/// patch), ranges (`1.2..1.27`, `1.21.3..1.21.8`), `latest`, `newest-2` (the latest patches of the
/// two newest minors), `all` (of every minor), each with settings after a `+`
/// (`1.26.5+nogreenteagc`), and toolchains from disk (`tip=/path/to/goroot`, or an
/// official release archive).
///
/// `1.20` is the minor; its first release is written `1.20.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    base: Base,
    settings: Vec<Setting>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Base {
    Latest,
    Newest(usize),
    All,
    Minor(Minor),
    Release(Release),
    Minors(Minor, Minor),
    Releases(Release, Release),
    Local { name: String, path: PathBuf },
}

/// What a selection stands for, given what can be had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Oldest first, without duplicates; toolchains from disk last, in the order named.
    pub variants: Vec<Variant>,
    /// What was named and is not offered, with the reason.
    pub missing: Vec<(String, String)>,
}

/// The text is not a selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    #[error("no release is named (expected something like 1.21,1.24 or 1.2..1.27 or latest)")]
    Empty,
    #[error(transparent)]
    Variant(#[from] VariantError),
    #[error("{text:?}: {error}")]
    End { text: String, error: ReleaseError },
    #[error(
        "{text:?} goes from a minor to a release (expected 1.21..1.23, the latest patch of each \
         minor, or 1.21.3..1.21.8, every release between)"
    )]
    Mixed { text: String },
    #[error("{text:?} goes backwards")]
    Backwards { text: String },
    #[error("{text:?} spans more than {MOST_MINORS} minors")]
    TooWide { text: String },
    #[error("{name} names two toolchains")]
    TwoPaths { name: String },
}

/// A bound on what a slip of the finger can ask for.
const MOST_MINORS: u64 = 200;

impl Selection {
    /// Whether a proxy's list is needed to know what is meant; exact releases and toolchains from
    /// disk are known without.
    pub fn needs_listing(&self) -> bool {
        !self.terms.iter().all(|term| matches!(term.base, Base::Release(_) | Base::Local { .. }))
    }

    /// The same selection without and with all patches: each term twice.
    pub fn unpatched_and_patched(&self) -> Selection {
        let with = |term: &Term, patches| {
            let mut settings = term.settings.clone();
            settings.retain(|setting| !matches!(setting, Setting::Patches(_)));
            settings.push(Setting::Patches(patches));
            Term { base: term.base.clone(), settings }
        };
        let both = |term: &Term| [with(term, Patches::None), with(term, Patches::All)];
        Selection { terms: self.terms.iter().flat_map(both).collect() }
    }

    /// The toolchains from disk, by name, with their paths.
    pub fn local(&self) -> Vec<(&str, &Path)> {
        self.terms
            .iter()
            .filter_map(|term| match &term.base {
                Base::Local { name, path } => Some((name.as_str(), path.as_path())),
                _ => None,
            })
            .collect()
    }

    /// Finds the variants meant; `listing` may be empty if it is not needed.
    pub fn resolve(&self, listing: &Listing) -> Wanted {
        let mut wanted = Wanted::default();
        for term in &self.terms {
            wanted.add(term, listing);
        }
        wanted.variants.sort_by(|one, other| order(one).cmp(&order(other)));
        wanted
    }
}

/// The toolchains that variants use, each once, in their order.
pub fn distinct_toolchains(variants: &[Variant]) -> Vec<&ToolchainName> {
    let mut names: Vec<&ToolchainName> = Vec::new();
    for variant in variants {
        if !names.contains(&&variant.toolchain) {
            names.push(&variant.toolchain);
        }
    }
    names
}

/// Releases by their order, then toolchains from disk; equal ones stay as they were named.
fn order(variant: &Variant) -> (bool, Option<&Release>) {
    match &variant.toolchain {
        ToolchainName::Published(release) => (false, Some(release)),
        ToolchainName::Local { .. } => (true, None),
    }
}

impl Wanted {
    /// The distinct toolchains of the variants, in their order.
    pub fn toolchains(&self) -> Vec<&ToolchainName> {
        distinct_toolchains(&self.variants)
    }

    fn add(&mut self, term: &Term, listing: &Listing) {
        match &term.base {
            Base::Release(release) => self.push(release.clone(), term),
            Base::Minor(minor) => self.push_latest(*minor, term, listing),
            Base::Latest => match listing.stable().next_back() {
                Some(release) => self.push(release.clone(), term),
                None => self.miss("latest".to_owned(), "the proxy lists no release".to_owned()),
            },
            Base::Newest(count) => self.push_newest(*count, term, listing),
            Base::All => self.push_newest(usize::MAX, term, listing),
            Base::Minors(from, to) => {
                for minor in from.minor..=to.minor {
                    self.push_latest(Minor { major: from.major, minor }, term, listing);
                }
            }
            Base::Releases(from, to) => {
                let between: Vec<Release> = listing
                    .stable()
                    .filter(|release| from <= *release && *release <= to)
                    .cloned()
                    .collect();
                if between.is_empty() {
                    let range = format!("{}..{}", from.version(), to.version());
                    self.miss(range, "the proxy lists no release in this range".to_owned());
                }
                between.into_iter().for_each(|release| self.push(release, term));
            }
            Base::Local { name, .. } => {
                let toolchain = ToolchainName::Local { name: name.clone() };
                self.push_variant(Variant { toolchain, settings: term.settings.clone() });
            }
        }
    }

    fn push_newest(&mut self, count: usize, term: &Term, listing: &Listing) {
        for release in listing.latest_patches().into_iter().rev().take(count) {
            self.push(release.clone(), term);
        }
    }

    fn push_latest(&mut self, minor: Minor, term: &Term, listing: &Listing) {
        match listing.latest_patch(minor) {
            Some(release) => self.push(release.clone(), term),
            None => {
                let reason = format!("the proxy lists no release of go{minor}");
                self.miss(minor.to_string(), reason);
            }
        }
    }

    fn push(&mut self, release: Release, term: &Term) {
        let toolchain = ToolchainName::Published(release);
        self.push_variant(Variant { toolchain, settings: term.settings.clone() });
    }

    fn push_variant(&mut self, variant: Variant) {
        if !self.variants.contains(&variant) {
            self.variants.push(variant);
        }
    }

    fn miss(&mut self, what: String, reason: String) {
        if !self.missing.iter().any(|(known, _)| *known == what) {
            self.missing.push((what, reason));
        }
    }
}

impl FromStr for Selection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, SelectionError> {
        let terms = text
            .split(',')
            .map(str::trim)
            .filter(|term| !term.is_empty())
            .map(parse_term)
            .collect::<Result<Vec<Term>, _>>()?;
        if terms.is_empty() {
            return Err(SelectionError::Empty);
        }
        check_paths(&terms)?;
        Ok(Selection { terms })
    }
}

/// One name must not stand for two toolchains.
fn check_paths(terms: &[Term]) -> Result<(), SelectionError> {
    let mut known: Vec<(&str, &PathBuf)> = Vec::new();
    for term in terms {
        let Base::Local { name, path } = &term.base else { continue };
        match known.iter().find(|(other, _)| other == name) {
            Some((_, other)) if *other != path => {
                return Err(SelectionError::TwoPaths { name: name.clone() });
            }
            _ => known.push((name, path)),
        }
    }
    Ok(())
}

fn parse_term(text: &str) -> Result<Term, SelectionError> {
    // A path starts at the first "=/", "=./" or "=../"; a setting's value never does.
    let path_at = ["=/", "=./", "=../"].iter().filter_map(|start| text.find(start)).min();
    let (names, path) = match path_at {
        Some(at) => (&text[..at], Some(PathBuf::from(&text[at + 1..]))),
        None => (text, None),
    };
    let parts: Vec<&str> = names.split('+').collect();
    let settings = Variant::parse_settings(&parts[1..])?;
    let base = match path {
        Some(path) => local(parts[0], path)?,
        None => parse_base(parts[0])?,
    };
    Ok(Term { base, settings })
}

fn local(name: &str, path: PathBuf) -> Result<Base, SelectionError> {
    local_name(name)?;
    Ok(Base::Local { name: name.to_owned(), path })
}

fn parse_base(text: &str) -> Result<Base, SelectionError> {
    match text {
        "latest" => return Ok(Base::Latest),
        "all" => return Ok(Base::All),
        _ => {}
    }
    if let Some(count) = text.strip_prefix("newest-").and_then(|count| count.parse().ok()) {
        return Ok(Base::Newest(count));
    }
    let Some((from, to)) = text.split_once("..") else {
        return match minor_or_release(text) {
            Ok(End::Minor(minor)) => Ok(Base::Minor(minor)),
            Ok(End::Release(release)) => Ok(Base::Release(release)),
            Err(error) => Err(VariantError::from(error).into()),
        };
    };
    let end = |end: &str| {
        minor_or_release(end).map_err(|error| SelectionError::End { text: text.to_owned(), error })
    };
    match (end(from)?, end(to)?) {
        (End::Minor(from), End::Minor(to)) => minors(text, from, to),
        (End::Release(from), End::Release(to)) if from <= to => Ok(Base::Releases(from, to)),
        (End::Release(_), End::Release(_)) => {
            Err(SelectionError::Backwards { text: text.to_owned() })
        }
        _ => Err(SelectionError::Mixed { text: text.to_owned() }),
    }
}

fn minors(text: &str, from: Minor, to: Minor) -> Result<Base, SelectionError> {
    if to < from {
        return Err(SelectionError::Backwards { text: text.to_owned() });
    }
    // Nobody knows how many minors a major will have had, so a range stays within one.
    if from.major != to.major || to.minor - from.minor >= MOST_MINORS {
        return Err(SelectionError::TooWide { text: text.to_owned() });
    }
    Ok(Base::Minors(from, to))
}

enum End {
    Minor(Minor),
    Release(Release),
}

fn minor_or_release(text: &str) -> Result<End, ReleaseError> {
    let release: Release = text.parse()?;
    // The grammar takes any word, and a slip of the finger is more likely than a new kind.
    if !["", "alpha", "beta", "rc"].contains(&release.kind()) {
        return Err(ReleaseError { text: text.to_owned() });
    }
    let bare = text.strip_prefix("go").unwrap_or(text);
    if bare == release.minor().to_string() {
        return Ok(End::Minor(release.minor()));
    }
    Ok(End::Release(release))
}

impl fmt::Display for Selection {
    /// Writes the selection in its one canonical spelling, which parses to the same selection.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms: Vec<String> = self.terms.iter().map(Term::to_string).collect();
        f.write_str(&terms.join(","))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.base {
            Base::Latest => f.write_str("latest")?,
            Base::Newest(count) => write!(f, "newest-{count}")?,
            Base::All => f.write_str("all")?,
            Base::Minor(minor) => write!(f, "{minor}")?,
            Base::Release(release) => f.write_str(&spelled_as_release(release))?,
            Base::Minors(from, to) => write!(f, "{from}..{to}")?,
            Base::Releases(from, to) => {
                write!(f, "{}..{}", spelled_as_release(from), spelled_as_release(to))?;
            }
            Base::Local { name, .. } => f.write_str(name)?,
        }
        self.settings.iter().try_for_each(|setting| write!(f, "+{setting}"))?;
        match &self.base {
            Base::Local { path, .. } => write!(f, "={}", path.display()),
            _ => Ok(()),
        }
    }
}

/// `1.20.0` for the release published as `go1.20`, which would otherwise read as the minor.
fn spelled_as_release(release: &Release) -> String {
    let version = release.version();
    if version == release.minor().to_string() { format!("{version}.0") } else { version }
}
