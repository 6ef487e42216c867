//! Why a toolchain is not to be had.

use std::io;

use super::archive::ArchiveError;
use crate::module::{ToolchainModule, TreeDigest};
use crate::proxy::FetchError;
use crate::sumdb::SumdbError;

/// Why a toolchain was not installed. Nothing of it is left then.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no such toolchain, neither in the database nor on the proxy.
    #[error("{module} is not published{hint}")]
    NotFound { module: String, hint: String, source: FetchError },

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

    /// The zip could not be downloaded.
    #[error("{module} could not be downloaded")]
    Fetch { module: String, source: FetchError },

    /// The store could not be read or written.
    #[error("the store could not be read or written{}", advice(.0.kind()))]
    Store(#[from] io::Error),

    /// The user asked to stop. What was downloaded is kept.
    #[error("stopped before {module} was installed")]
    Stopped { module: String },
}

/// What an [`InstallError`] means for the one who wanted the toolchain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstallFailure {
    /// There is no such toolchain; others may be had.
    NotPublished,
    /// There is something, and it must not be used.
    Refused,
    /// Network, disk or permission failed; it may work another time.
    Environment,
    /// The user asked to stop.
    Stopped,
}

impl InstallError {
    /// Tells apart what callers act on.
    pub fn failure(&self) -> InstallFailure {
        match self {
            InstallError::NotFound { .. } => InstallFailure::NotPublished,
            InstallError::Mismatch { .. } | InstallError::Archive { .. } => InstallFailure::Refused,
            InstallError::Fetch { source: FetchError::TooLarge { .. }, .. } => {
                InstallFailure::Refused
            }
            InstallError::Fetch { .. } | InstallError::Store(_) => InstallFailure::Environment,
            InstallError::Stopped { .. } => InstallFailure::Stopped,
            InstallError::Unproven { source, .. } => match **source {
                SumdbError::Unavailable { .. }
                | SumdbError::Contended { .. }
                | SumdbError::Memory { .. } => InstallFailure::Environment,
                _ => InstallFailure::Refused,
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
fn advice(kind: io::ErrorKind) -> &'static str {
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
