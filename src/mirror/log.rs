//! The mirror's checksum database: its key, the records it has, and those to come.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use super::{DEFAULT_DATABASE, SERVED_MODE};
use crate::module::{self, GO_MOD_H1, ToolchainModule, TreeDigest, limits};
use crate::proxy::SumdbSetting;
use crate::store::durable;
use crate::sumdb::{ModuleRecord, SignerKey, TreeHead, VerifierKey, note, publish};

/// The secret key is for its owner only.
const KEY_MODE: u32 = 0o600;
/// More than a key has, and more than the records of a mirror of everything ever released have.
const FILE_BYTES: u64 = 4 << 20;

/// The log as it is on disk, and what is to be added to it.
///
/// The records are kept in one file beside the key, one line each in the order of the log, and that
/// file is replaced before anything is published. So a run that was cut off at any point is made
/// good by the next one.
pub struct MirrorLog {
    signer: SignerKey,
    records_path: PathBuf,
    /// `www/sumdb/<name>`.
    served: PathBuf,
    records: Vec<ModuleRecord>,
}

impl MirrorLog {
    /// Opens the log of the mirror in `folder`, or begins one.
    ///
    /// # Errors
    ///
    /// If another name is asked for than the key has, or the served head is not one that these
    /// records have had: to go on would make a log that contradicts itself.
    pub fn open(folder: &Path, www: &Path, database: Option<&str>) -> anyhow::Result<Self> {
        let signer = open_key(&folder.join("key"), database)?;
        let log = MirrorLog {
            records_path: folder.join("records"),
            served: www.join("sumdb").join(signer.verifier().name()),
            records: read_records(&folder.join("records"))?,
            signer,
        };
        log.check_served_head()?;
        Ok(log)
    }

    /// The key that proofs are checked against.
    pub fn key(&self) -> &VerifierKey {
        self.signer.verifier()
    }

    /// Whether there is no record at all.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The digest on record for a toolchain.
    pub fn h1(&self, module: &ToolchainModule) -> Option<TreeDigest> {
        let version = module.version();
        let record = self.records.iter().find(|record| record.version == version);
        record.map(|record| record.h1)
    }

    /// The versions on record, in the order of the log.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        self.records.iter().map(|record| record.version.as_str())
    }

    /// Adds a toolchain at the end; nothing is written yet.
    pub fn append(&mut self, module: &ToolchainModule, h1: TreeDigest) {
        self.records.push(record_of(module.version(), h1));
    }

    /// Writes the records, and then all files of the database.
    ///
    /// Tiles come before the heads that need them, so that a client reading meanwhile finds the old
    /// state or the new one complete. Tiles that the new state has no more use for stay, for clients
    /// that still hold an old head.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn publish(&self) -> anyhow::Result<()> {
        let line = |record: &ModuleRecord| format!("{} {}\n", record.version, record.h1);
        let records: String = self.records.iter().map(line).collect();
        durable::write_file(&self.records_path, records.as_bytes(), SERVED_MODE)?;
        let mut files = publish(&self.records, &self.signer)?;
        files.sort_by_key(|(path, _)| !path.starts_with("tile/"));
        for (path, content) in files {
            durable::write_file(&self.served.join(path), &content, SERVED_MODE)?;
        }
        Ok(())
    }

    /// Makes sure that the served head is one that the log has had on the way to its records.
    fn check_served_head(&self) -> anyhow::Result<()> {
        let path = self.served.join("latest");
        let Some(served) = read_text(&path, limits::LOOKUP_BYTES)? else { return Ok(()) };
        let head = note::open(served.as_bytes(), self.key())
            .map_err(anyhow::Error::from)
            .and_then(|text| Ok(TreeHead::parse(text)?))
            .with_context(|| format!("{} is not signed by the mirror's key", path.display()))?;
        let past = usize::try_from(head.size).ok().and_then(|size| self.records.get(..size));
        let had = past.map(|records| publish(records, &self.signer)).transpose()?;
        let is_served = |(path, content): &(String, Vec<u8>)| {
            path == "latest" && content.as_slice() == served.as_bytes()
        };
        ensure!(
            had.is_some_and(|files| files.iter().any(is_served)),
            "{} was signed for other records than those in {}; restore that file, or make another \
             mirror",
            path.display(),
            self.records_path.display()
        );
        Ok(())
    }
}

fn open_key(path: &Path, database: Option<&str>) -> anyhow::Result<SignerKey> {
    let Some(text) = read_text(path, FILE_BYTES)? else {
        return new_key(path, database.unwrap_or(DEFAULT_DATABASE));
    };
    let signer = SignerKey::parse(text.trim_end())
        .with_context(|| format!("{} holds no secret key", path.display()))?;
    let name = signer.verifier().name();
    if let Some(database) = database.filter(|database| *database != name) {
        bail!("the mirror's database is called {name:?}, not {database:?}; a log keeps its name");
    }
    Ok(signer)
}

fn new_key(path: &Path, database: &str) -> anyhow::Result<SignerKey> {
    let mut seed = [0; 32];
    fs_err::File::open("/dev/urandom")?.read_exact(&mut seed)?;
    let signer = SignerKey::from_seed(database, &seed)?;
    // Whoever uses the mirror has to accept the name as well.
    SumdbSetting::parse(&signer.verifier().to_string())?;
    durable::write_file(path, format!("{}\n", signer.private_text()).as_bytes(), KEY_MODE)?;
    Ok(signer)
}

fn read_records(path: &Path) -> anyhow::Result<Vec<ModuleRecord>> {
    let text = read_text(path, FILE_BYTES)?.unwrap_or_default();
    let parse = |(number, line): (usize, &str)| {
        let (version, h1) = line.split_once(' ').context("expected a version and its h1 digest")?;
        anyhow::Ok(record_of(version.to_owned(), h1.parse()?))
            .with_context(|| format!("{}, line {}", path.display(), number + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

fn record_of(version: String, h1: TreeDigest) -> ModuleRecord {
    ModuleRecord {
        path: module::PATH.to_owned(),
        version,
        h1,
        go_mod_h1: TreeDigest::from_h1(GO_MOD_H1).expect("a valid constant"),
    }
}

/// Reads a text of at most `limit` bytes; `None` if there is no such file.
fn read_text(path: &Path, limit: u64) -> anyhow::Result<Option<String>> {
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let mut text = String::new();
    file.take(limit).read_to_string(&mut text).with_context(|| path.display().to_string())?;
    Ok(Some(text))
}
