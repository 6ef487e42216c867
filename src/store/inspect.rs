//! Looking whether installed toolchains are still what was proven.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::durable::FolderLock;
use super::hash::sha256_of_files;
use super::place::Place;
use super::{Store, SumdbMemory, Toolchain};
use crate::module::{self, ToolchainModule, TreeListing, go_mod_copies};
use crate::proxy::SumdbSetting;
use crate::sumdb::{Client, Database, Proof, ReadError};

/// What became of one installed toolchain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    pub module: ToolchainModule,
    pub finding: Finding,
}

/// What an inspection found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Every file is what the checksum database has on record.
    Intact { toolchain: Box<Toolchain>, files: usize },
    /// It is not, and does not count as installed any more.
    Damaged { differences: Vec<Difference> },
    /// The store remembers too little to prove it without the network.
    Unproven { reason: String },
}

/// A file that is not as it was installed; its path in the GOROOT.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    Changed(String),
    Missing(String),
    Extra(String),
    /// Neither a file nor a folder: a link, say.
    NoFile(String),
    /// Something is another than it was, but the list that would tell what is lost.
    Somewhere,
    /// What was noted when it was installed names another digest than the database.
    Record,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Changed(path) => write!(f, "{path} has another content"),
            Difference::Missing(path) => write!(f, "{path} is missing"),
            Difference::Extra(path) => write!(f, "{path} does not belong there"),
            Difference::NoFile(path) => write!(f, "{path} is neither a file nor a folder"),
            Difference::Somewhere => {
                write!(f, "some file is not as it was, and the list that would say which is lost")
            }
            Difference::Record => write!(f, "its record names another digest than the database"),
        }
    }
}

impl Store {
    /// The toolchains that [`Store::inspect`] can look at, oldest first.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn installed_modules(&self) -> io::Result<Vec<ToolchainModule>> {
        let module = |toolchain: Toolchain| ToolchainModule {
            release: toolchain.release,
            platform: toolchain.platform,
        };
        Ok(self.installed()?.into_iter().map(module).collect())
    }

    /// Hashes an installed toolchain and holds it against the checksum database's record, proven
    /// anew from what the store remembers, without the network.
    ///
    /// One that is damaged loses its record: the next fetch installs it again.
    ///
    /// # Errors
    ///
    /// If the store cannot be read or written.
    pub fn inspect(
        &self,
        module: &ToolchainModule,
        setting: &SumdbSetting,
    ) -> io::Result<Inspection> {
        let place = Place::of(self, module);
        let _lock = FolderLock::acquire(&place.lock)?;
        let recorded = place.recorded()?.map(|recorded| recorded.database);
        let finding = match self.prove_offline(module, setting) {
            Err(_) if recorded.as_deref().is_some_and(|database| database != setting.name()) => {
                let (by, now) = (recorded.unwrap_or_default(), setting.name());
                Finding::Unproven { reason: format!("{by} vouches for it, GOSUMDB names {now}") }
            }
            Ok(proof) => self.hold_against(&place, &proof)?,
            Err(reason) => Finding::Unproven { reason },
        };
        Ok(Inspection { module: module.clone(), finding })
    }

    fn prove_offline(
        &self,
        module: &ToolchainModule,
        setting: &SumdbSetting,
    ) -> Result<Proof, String> {
        let memory = SumdbMemory::open(self, setting);
        let proof = Client::new(&Offline, &memory, setting.key())
            .prove(module::PATH, &module.version())
            .map_err(anyhow::Error::from);
        proof.map_err(|error| format!("{error:#}"))
    }

    fn hold_against(&self, place: &Place, proof: &Proof) -> io::Result<Finding> {
        let found = FoundTree::read(&place.root)?;
        let mut differences = found.strange.clone();
        match self.listing(place, proof, &found)? {
            Some(listing) => differences.extend(found.compare(&expected(&place.module, &listing))),
            None => differences.push(Difference::Somewhere),
        }
        match place.installed(proof)? {
            Some(toolchain) if differences.is_empty() => {
                return Ok(Finding::Intact {
                    toolchain: Box::new(toolchain),
                    files: found.files.len(),
                });
            }
            Some(_) => {}
            None => differences.push(Difference::Record),
        }
        fs_err::remove_file(&place.record)?;
        differences.sort();
        Ok(Finding::Damaged { differences })
    }

    /// The listing that has the digest of `proof`: the one that was kept, else that of the tree as
    /// it is, which is then kept.
    fn listing(
        &self,
        place: &Place,
        proof: &Proof,
        found: &FoundTree,
    ) -> io::Result<Option<TreeListing>> {
        if let Some(kept) = place.files(&proof.h1)? {
            return Ok(Some(kept));
        }
        let listing = found.listing(&place.module);
        if listing.digest() != proof.h1 {
            return Ok(None);
        }
        self.write(&place.listing, listing.to_text().as_bytes())?;
        Ok(Some(listing))
    }
}

/// All files of an installed toolchain: those of its module and the copies of its `_go.mod`.
fn expected(module: &ToolchainModule, listing: &TreeListing) -> BTreeMap<String, [u8; 32]> {
    let prefix = module.zip_prefix();
    let mut files: BTreeMap<String, [u8; 32]> = listing
        .files()
        .iter()
        .filter_map(|(name, sha256)| Some((name.strip_prefix(&prefix)?.to_owned(), *sha256)))
        .collect();
    for (from, to) in go_mod_copies(files.keys().map(String::as_str)) {
        files.insert(to, files[&from]);
    }
    files
}

/// A database that is not asked: what is not remembered is not to be had.
struct Offline;

impl Database for Offline {
    fn read(&self, path: &str, _limit: u64) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::Unavailable(format!(
            "{path} is not remembered, and the network is not used"
        )))
    }
}

/// A tree as it is on the disk now.
struct FoundTree {
    /// The SHA-256 of every file, by its path in the GOROOT.
    files: BTreeMap<String, [u8; 32]>,
    /// What is there and is no file.
    strange: Vec<Difference>,
}

impl FoundTree {
    fn read(root: &Path) -> io::Result<Self> {
        let mut walk = Walk { root, paths: Vec::new(), strange: Vec::new() };
        walk.folder("")?;
        let Walk { paths, strange, .. } = walk;
        let places: Vec<PathBuf> = paths.iter().map(|path| root.join(path)).collect();
        let hashes = sha256_of_files(&places, &|| false)?;
        Ok(FoundTree { files: paths.into_iter().zip(hashes).collect(), strange })
    }

    /// What the module's listing would be if these were its files, without the copies of `_go.mod`.
    fn listing(&self, module: &ToolchainModule) -> TreeListing {
        let copies: BTreeSet<String> = go_mod_copies(self.files.keys().map(String::as_str))
            .into_iter()
            .map(|(_, to)| to)
            .collect();
        let prefix = module.zip_prefix();
        let mut listing = TreeListing::new();
        for (path, sha256) in self.files.iter().filter(|(path, _)| !copies.contains(*path)) {
            // A name that no listing can have makes this another listing all the same: it is not
            // among the expected files.
            let _ = listing.add(&format!("{prefix}{path}"), *sha256);
        }
        listing
    }

    fn compare(&self, expected: &BTreeMap<String, [u8; 32]>) -> Vec<Difference> {
        let gone = expected.keys().filter(|path| !self.files.contains_key(*path));
        let mut differences: Vec<Difference> = gone.cloned().map(Difference::Missing).collect();
        for (path, sha256) in &self.files {
            match expected.get(path) {
                None => differences.push(Difference::Extra(path.clone())),
                Some(expected) if expected != sha256 => {
                    differences.push(Difference::Changed(path.clone()));
                }
                Some(_) => {}
            }
        }
        differences
    }
}

struct Walk<'a> {
    root: &'a Path,
    paths: Vec<String>,
    strange: Vec<Difference>,
}

impl Walk<'_> {
    /// Lists the folder at `path` below the root. Links are not followed: an installed tree has none.
    fn folder(&mut self, path: &str) -> io::Result<()> {
        for entry in fs_err::read_dir(self.root.join(path))? {
            let entry = entry?;
            let name = entry.file_name();
            let below = if path.is_empty() { String::new() } else { format!("{path}/") };
            let path = format!("{below}{}", name.to_string_lossy());
            let kind = entry.file_type()?;
            if name.to_str().is_none() {
                self.strange.push(Difference::Extra(path));
            } else if kind.is_dir() {
                self.folder(&path)?;
            } else if kind.is_file() {
                self.paths.push(path);
            } else {
                self.strange.push(Difference::NoFile(path));
            }
        }
        Ok(())
    }
}
