//! One place to read from, and how reading from it fails.

use std::fs::File;
use std::io;

use super::Kept;

/// One base of the module proxy protocol: an address below which paths are read.
///
/// Paths are relative, separated by `/`, already escaped as the protocol wants module paths and
/// versions; an implementation adds only what its own kind of address needs (percent signs in URLs).
pub trait Source: Send + Sync {
    /// Reads what lies at `path`, at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// Any [`FetchError`] but [`FetchError::Write`] and [`FetchError::Stopped`].
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FetchError>;

    /// Brings what lies at `path`, at most `limit` bytes, to hand as a file.
    ///
    /// A base that is on this machine hands out its own file and leaves `keep` alone. Otherwise the
    /// bytes go to `keep`, and what an earlier transfer left there is used where it is certain to
    /// be the beginning of the same content. After an error the bytes so far stay for the next
    /// call, except after [`FetchError::TooLarge`].
    ///
    /// # Errors
    ///
    /// Any [`FetchError`].
    fn obtain(
        &self,
        path: &str,
        limit: u64,
        keep: &Kept,
        recipient: &dyn Recipient,
    ) -> Result<Obtained, FetchError>;

    /// The address, for messages and records: a URL without its password.
    fn describe(&self) -> String;
}

/// Who waits for a download: told how far it is, and able to end it.
///
/// A list of proxies may need more than one transfer for one download: a base that breaks off for
/// good may be followed by another. Each begins anew with [`Recipient::begin`].
pub trait Recipient: Sync {
    /// Told the size of a transfer when it is known, or known not to be, before anything of it is
    /// written: how many bytes there will be in all, and how many of these are at hand already.
    ///
    /// Told once per transfer, and again only if it has to start over and the size is now another.
    ///
    /// # Errors
    ///
    /// An error (no room on the disk, say) ends the download as [`FetchError::Write`].
    fn begin(&self, total_bytes: Option<u64>, kept_bytes: u64) -> io::Result<()>;

    /// Told how many bytes are at hand now, those from before included; fewer than last time when
    /// a transfer starts over.
    fn received(&self, bytes: u64);

    /// Whether the user asked to stop. Asked after every piece, and several times a second while
    /// nothing comes.
    fn is_stopped(&self) -> bool;
}

/// A download that is at hand, whole.
#[derive(Debug)]
pub struct Obtained {
    /// The content, open for reading, at its beginning.
    pub file: File,
    pub bytes: u64,
    /// Whether some of it was left by an earlier call, and so is only as good as the disk it lay on.
    pub was_kept: bool,
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
    #[error(
        "{url}: larger than the {limit} bytes allowed for it (try another proxy, and tell the one \
         who runs this one)"
    )]
    TooLarge { url: String, limit: u64 },

    /// What came in could not be written to disk: no fault of the server's.
    #[error(
        "{url} cannot be kept on the disk (make room, for example with gosurvey toolchains \
         --prune, or name another place with --store)"
    )]
    Write { url: String, source: io::Error },

    /// The user asked to stop. What has come so far is kept.
    #[error("{url}: stopped")]
    Stopped { url: String },
}

impl FetchError {
    /// Whether the error says that the thing does not exist there, which lets a list go on after `,`.
    pub fn is_not_found(&self) -> bool {
        matches!(self, FetchError::NotFound { .. } | FetchError::Off { .. })
    }

    /// Whether the reason is on this machine, so that no other proxy can help.
    pub fn is_local(&self) -> bool {
        matches!(self, FetchError::Write { .. } | FetchError::Stopped { .. })
    }
}

fn refusal_hint(status: u16) -> &'static str {
    match status {
        401 | 403 => " (are the credentials in GOPROXY right?)",
        407 => " (are the credentials in HTTP_PROXY right?)",
        _ => "",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A recipient that notes what it is told and never stops anything.
    #[derive(Default)]
    pub struct Noted(Mutex<Vec<String>>);

    impl Noted {
        pub fn said(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Recipient for Noted {
        fn begin(&self, total_bytes: Option<u64>, kept_bytes: u64) -> io::Result<()> {
            self.0.lock().unwrap().push(format!("begin {total_bytes:?} {kept_bytes}"));
            Ok(())
        }

        fn received(&self, bytes: u64) {
            self.0.lock().unwrap().push(format!("received {bytes}"));
        }

        fn is_stopped(&self) -> bool {
            false
        }
    }
}
