//! One place to read from, and how reading from it fails.

use std::fs::File;
use std::io;

/// One base of the module proxy protocol: an address below which paths are read.
///
/// Paths are relative, separated by `/`, already escaped as the protocol wants module paths and
/// versions; an implementation adds only what its own kind of address needs (percent signs in URLs).
pub trait Source: Send + Sync {
    /// Reads what lies at `path`, at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Any [`FetchError`] but [`FetchError::Write`].
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FetchError>;

    /// Copies what lies at `path`, at most `limit` bytes, into `into` and returns its size in bytes.
    ///
    /// The file is emptied first, and again whenever a broken transfer starts over; after an error
    /// what it holds means nothing. `on_bytes` is called with the bytes written so far and, where
    /// the server said it, how many there will be.
    ///
    /// # Errors
    ///
    /// Any [`FetchError`].
    fn download(
        &self,
        path: &str,
        limit: u64,
        into: &mut File,
        on_bytes: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, FetchError>;

    /// The address, for messages and records: a URL without its password.
    fn describe(&self) -> String;
}

/// Why something could not be fetched.
///
/// The kinds are what a GOPROXY list and the callers of this module tell apart.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The server says there is no such thing (404, 410), or there is no such file.
    #[error("{url}: not found")]
    NotFound { url: String },

    /// GOPROXY says that nothing may be fetched.
    #[error("{path}: not fetched, because GOPROXY ends with \"off\" here")]
    Off { path: String },

    /// The server understood and said no, or answered what the protocol does not know.
    #[error("{url}: refused with status {status}{}", refusal_hint(*.status))]
    Refused { url: String, status: u16 },

    /// The server could not be reached, broke off, or is in trouble.
    #[error("{url}: {reason}; try again later, or name another proxy in GOPROXY")]
    Unavailable { url: String, reason: String },

    /// More bytes than anything honest has at this path.
    #[error("{url}: larger than the {limit} bytes allowed for it")]
    TooLarge { url: String, limit: u64 },

    /// What came in could not be written to disk: no fault of the server's.
    #[error("cannot write what {url} sent to the disk")]
    Write { url: String, source: io::Error },
}

impl FetchError {
    /// Whether the error says that the thing does not exist there, which lets a list go on after `,`.
    pub fn is_not_found(&self) -> bool {
        matches!(self, FetchError::NotFound { .. } | FetchError::Off { .. })
    }

    /// Whether the trouble is on this machine, so that no other proxy can help.
    pub fn is_local(&self) -> bool {
        matches!(self, FetchError::Write { .. })
    }
}

fn refusal_hint(status: u16) -> &'static str {
    match status {
        401 | 403 | 407 => " (are the credentials in GOPROXY right?)",
        _ => "",
    }
}
