//! What a module proxy says it has of `golang.org/toolchain`.

use super::{Minor, Release};
use crate::module::ListLine;
use crate::platform::Platform;

/// The releases a proxy lists for one platform, in the go command's order, without duplicates.
///
/// A list is not proof: a proxy may hide releases or invent some. It says what to try.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    releases: Vec<Release>,
}

/// The answer is not a list of versions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no line of the list is a Go toolchain (expected lines like v0.0.1-go1.21.13.linux-amd64, found {first:?})"
)]
pub struct ListingError {
    /// The first line that is not empty, cut to 80 characters.
    pub first: String,
}

impl Listing {
    /// Reads the body of `golang.org/toolchain/@v/list`.
    ///
    /// The list has every platform, is unsorted, repeats lines, and holds at least one name that
    /// is no version (`go1.9.2rc2`); a second field, a time, may follow on each line. What is not
    /// a valid version for `platform` is passed over.
    ///
    /// # Errors
    ///
    /// [`ListingError`] if no line names a toolchain of *any* platform: that is an error page, not
    /// an empty offer.
    pub fn parse(body: &str, platform: &Platform) -> Result<Self, ListingError> {
        let lines: Vec<ListLine<'_>> = body.lines().filter_map(ListLine::parse).collect();
        if lines.is_empty() {
            let first = body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(ListingError { first: first.chars().take(80).collect() });
        }
        let is_ours = |line: &&ListLine<'_>| line.os == platform.os && line.arch == platform.arch;
        let ours = lines.iter().filter(is_ours);
        Ok(ours.filter_map(|line| line.version.parse().ok()).collect())
    }

    /// Every release listed, betas and release candidates among them.
    pub fn all(&self) -> &[Release] {
        &self.releases
    }

    /// The published releases: no beta, no release candidate.
    pub fn stable(&self) -> impl DoubleEndedIterator<Item = &Release> {
        self.releases.iter().filter(|release| release.is_stable())
    }

    /// The latest patch of a minor.
    pub fn latest_patch(&self, minor: Minor) -> Option<&Release> {
        self.stable().rfind(|release| release.minor() == minor)
    }

    /// The latest patch of every minor, oldest first.
    pub fn latest_patches(&self) -> Vec<&Release> {
        let mut latest: Vec<&Release> = Vec::new();
        for release in self.stable() {
            match latest.last_mut() {
                Some(last) if last.minor() == release.minor() => *last = release,
                _ => latest.push(release),
            }
        }
        latest
    }
}

impl FromIterator<Release> for Listing {
    fn from_iter<I: IntoIterator<Item = Release>>(releases: I) -> Self {
        let mut releases: Vec<Release> = releases.into_iter().collect();
        releases.sort();
        releases.dedup();
        Listing { releases }
    }
}
