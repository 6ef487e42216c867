//! What the client needs from outside: a database to ask, and a memory between runs.

/// Where a checksum database's answers are read.
pub trait Database: Sync {
    /// Reads the answer under `path`, for example
    /// `lookup/golang.org/toolchain@v0.0.1-go1.27.1.linux-amd64` or `tile/8/0/x178/752`: module
    /// names are escaped already, and no slash leads.
    ///
    /// # Errors
    ///
    /// [`ReadError::NotFound`] only if the database says so itself, [`ReadError::TooLarge`] for an
    /// answer of more than `limit` bytes; everything else is [`ReadError::Unavailable`].
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// Where answers come from, for messages; `None` if nothing has been read yet, or nowhere that
    /// has an address.
    fn address(&self) -> Option<String> {
        None
    }
}

/// Why a database gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("not found")]
    NotFound,
    #[error("larger than allowed")]
    TooLarge,
    /// With the reason, and the URL that was asked.
    #[error("{0}")]
    Unavailable(String),
}

/// What is remembered of one database between runs.
///
/// The latest head is what later heads are held against. All else is a hint: everything read from
/// here is verified again.
pub trait Memory: Sync {
    /// The signed note of the newest head that was proven, if there is one. A memory may start from
    /// a head that was shipped with the program.
    ///
    /// # Errors
    ///
    /// If it cannot be told whether there is one.
    fn latest(&self) -> anyhow::Result<Option<String>>;

    /// Where the latest head is kept, for messages: the path of a file.
    fn latest_place(&self) -> String {
        "wherever it is kept".to_owned()
    }

    /// Replaces the latest head by `new` if it still is `old`, in one step; returns false and
    /// changes nothing if somebody else has replaced it.
    ///
    /// # Errors
    ///
    /// If it cannot be replaced.
    fn replace_latest(&self, old: Option<&str>, new: &str) -> anyhow::Result<bool>;

    /// An answer kept under `path` before, if it still is there.
    fn cached(&self, path: &str) -> Option<Vec<u8>>;

    /// Keeps an answer that was proven. A failure to keep it is not an error.
    fn keep(&self, path: &str, content: &[u8]);

    /// Drops an answer that turned out to be damaged.
    fn forget(&self, path: &str);
}
