//! Why a toolchain is not to be had.

use std::fmt;
use std::io;

use super::archive::ArchiveError;
use super::tarball::TarballError;
use crate::module::{ToolchainModule, TreeDigest};
use crate::proxy::FetchError;
use crate::sumdb::SumdbError;

/// What to do with an archive that is not proven. Whether to is not for us to say.
const ADVICE: &str =
    "to use it unproven all the same, unpack it and name the folder instead; reports will say so";

/// The advice, where only proof is wanting and nothing speaks against the archive.
fn advice(error: &SumdbError) -> String {
    match error {
        SumdbError::NotFound { .. } => format!(" ({ADVICE})"),
        error if may_pass(error) => format!(" ({ADVICE})"),
        _ => String::new(),
    }
}

/// Why a toolchain was not installed. Nothing of it is left then.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no such toolchain, neither in the database nor on the proxy.
    #[error("{module} is not published{hint}")]
    NotFound { module: String, hint: String, source: FetchError },

    /// The checksum database has it on record, but no proxy has it.
    #[error("{module} is on record in {database}, but no proxy of GOPROXY has it")]
    NotServed { module: String, database: String, source: FetchError },

    /// The zip holds other files than the checksum database has on record.
    #[error(
        "{url} is not what the checksum database {database} has on record: expected {expected}, \
         found {found}; nothing was installed. Either the download is damaged or somebody changed \
         it: try another proxy, and tell the one who runs this one{}",
        damage.as_ref().map(|damage| format!(" ({damage})")).unwrap_or_default()
    )]
    Mismatch {
        url: String,
        database: String,
        expected: TreeDigest,
        found: TreeDigest,
        /// What is wrong with the zip itself, where something is.
        damage: Option<Box<ArchiveError>>,
    },

    /// The checksum database does not vouch for the toolchain.
    #[error("{module} is not proven")]
    Unproven { module: String, source: Box<SumdbError> },

    /// The zip is not one that may be unpacked.
    #[error(
        "{url} cannot be unpacked; nothing was installed (try another proxy, and tell the one who \
         runs this one)"
    )]
    Archive { url: String, source: ArchiveError },

    /// The path that was given leads to no toolchain.
    #[error("{path} is no toolchain")]
    NoToolchain { path: String, source: anyhow::Error },

    /// The file that was given is no release archive that may be unpacked.
    #[error("{path} cannot be used; nothing was installed")]
    Tarball { path: String, source: TarballError },

    /// The release archive holds other files than the checksum database has on record.
    #[error(
        "{path} is not what the checksum database {database} has on record for {module}: {digests}; \
         nothing was installed ({ADVICE})"
    )]
    TarballMismatch { path: String, module: String, database: String, digests: Box<Digests> },

    /// The checksum database does not vouch for the release archive.
    #[error("{path}, with the digest {found}, is not proven to be {module}{}", advice(source))]
    TarballUnproven { path: String, module: String, found: TreeDigest, source: Box<SumdbError> },

    /// Whether a GOROOT can be proven could not be told, because the checksum database is not to be
    /// trusted.
    #[error("whether {path} is {module} cannot be told")]
    Untrustworthy { path: String, module: String, source: Box<SumdbError> },

    /// The zip could not be downloaded.
    #[error("{module} could not be downloaded")]
    Fetch { module: String, source: FetchError },

    /// The store could not be read or written.
    #[error("the store could not be read or written{}", store_advice(.0.kind()))]
    Store(#[from] io::Error),

    /// The user asked to stop. What was downloaded is kept.
    #[error("stopped before {module} was installed")]
    Stopped { module: String },
}

/// Two digests that should be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digests {
    /// The one on record.
    pub expected: TreeDigest,
    pub found: TreeDigest,
}

impl fmt::Display for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// What an [`InstallError`] means for the one who wanted the toolchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallFailure {
    /// There is no such toolchain; others may be had.
    NotPublished,
    /// There is something, and it must not be used.
    Refused,
    /// What was named on disk is no toolchain; others may be had.
    Unusable,
    /// Network, disk or permission failed; it may work another time.
    Environment,
    /// The user asked to stop.
    Stopped,
}

impl InstallError {
    /// Tells apart what callers act on.
    pub fn failure(&self) -> InstallFailure {
        match self {
            InstallError::NotFound { .. } | InstallError::NotServed { .. } => {
                InstallFailure::NotPublished
            }
            InstallError::Mismatch { .. } | InstallError::Archive { .. } => InstallFailure::Refused,
            InstallError::Fetch { source: FetchError::TooLarge { .. }, .. } => {
                InstallFailure::Refused
            }
            InstallError::Fetch { .. } | InstallError::Store(_) => InstallFailure::Environment,
            InstallError::Stopped { .. } => InstallFailure::Stopped,
            InstallError::NoToolchain { .. } => InstallFailure::Unusable,
            InstallError::Tarball { source: TarballError::Read(_), .. } => {
                InstallFailure::Environment
            }
            InstallError::Tarball { .. } | InstallError::TarballMismatch { .. } => {
                InstallFailure::Refused
            }
            InstallError::Unproven { source, .. }
            | InstallError::TarballUnproven { source, .. }
            | InstallError::Untrustworthy { source, .. } => match may_pass(source) {
                true => InstallFailure::Environment,
                false => InstallFailure::Refused,
            },
        }
    }

    /// Nobody has the toolchain of `module`.
    pub(super) fn not_found(module: &ToolchainModule, source: FetchError) -> Self {
        let release = &module.release;
        // From Go 1.21 on `go1.21` is a version of the language; the first release is `go1.21.0`.
        let is_language_version = release.version() == release.minor().to_string();
        let hint = if is_language_version && !release.is_stable() {
            format!(": {release} is a version of the language, its first release is {release}.0")
        } else {
            String::new()
        };
        InstallError::NotFound { module: module.to_string(), hint, source }
    }
}

/// What to do about a store that fails.
fn store_advice(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            " (make room, for example with gosurvey toolchains --prune, or name another place with \
             --store)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            " (name a place that may be written with --store)"
        }
        _ => "",
    }
}

/// Whether the database gave no answer, and may give one another time; everything else but the
/// absence of a record speaks against the database.
pub(super) fn may_pass(error: &SumdbError) -> bool {
    matches!(
        error,
        SumdbError::Unavailable { .. } | SumdbError::Contended { .. } | SumdbError::Memory { .. }
    )
}
