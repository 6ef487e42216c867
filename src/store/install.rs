//! The one way a toolchain becomes usable.
//!
//! ```text
//! prove ─▶ download ─▶ unpack and hash ─▶ digest = proven? ─▶ go.mod copies ─▶ flush ─▶ rename
//!   │                                          │
//!   └─ no proof, no download                   └─ ProvenTree: nothing else can be given a name
//! ```

use std::io;
use std::path::PathBuf;

use tempfile::TempDir;

use super::archive::{Archive, ArchiveError};
use super::durable::{self, FolderLock};
use super::tree::Unpacked;
use super::{Evidence, Proven, Store, SumdbMemory, Toolchain, record};
use crate::module::{self, ToolchainModule, TreeDigest, limits};
use crate::platform::Platform;
use crate::proxy::{ChecksumDatabase, FetchError, Kept, Proxies, Recipient};
use crate::sumdb::{Client, Proof, SumdbError};

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
    #[error("{url} cannot be unpacked; nothing was installed")]
    Archive { url: String, source: ArchiveError },

    /// The zip could not be downloaded.
    #[error("{module} could not be downloaded")]
    Fetch { module: String, source: FetchError },

    /// The store could not be read or written.
    #[error("the store could not be read or written")]
    Store(#[from] io::Error),
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
            InstallError::Unproven { source, .. } => match **source {
                SumdbError::Unavailable { .. }
                | SumdbError::Contended { .. }
                | SumdbError::Memory { .. } => InstallFailure::Environment,
                _ => InstallFailure::Refused,
            },
        }
    }
}

impl Store {
    /// Installs a toolchain, or finds it installed, and proves it either way.
    ///
    /// An installed one is not hashed again: its digest, taken when it was unpacked, is held against
    /// the database's record, which is proven anew, without the network where the store remembers
    /// enough. Of several processes or threads that want one toolchain, one installs it and the
    /// others wait. `on_bytes` is told of the download: bytes so far, and how many there will be.
    ///
    /// # Errors
    ///
    /// [`InstallError`]; no toolchain has its name in the store then that had not before.
    pub fn install(
        &self,
        module: &ToolchainModule,
        proxies: &Proxies,
        database: &ChecksumDatabase<'_>,
        on_bytes: &mut (dyn FnMut(u64, Option<u64>) + Send),
    ) -> Result<Toolchain, InstallError> {
        let place = Place::of(self, module);
        let _lock = FolderLock::acquire(&place.lock)?;
        self.remove_leftovers(&place)?;
        let proof = self.prove(module, proxies, database)?;
        if let Some(toolchain) = place.installed(module, &proof)? {
            return Ok(toolchain);
        }
        let work =
            tempfile::Builder::new().prefix(&place.private_prefix()).tempdir_in(self.tmp())?;
        let tree = self.fetch(module, proxies, proof, &work, on_bytes)?;
        Ok(tree.publish(module, &place, &work)?)
    }

    /// The toolchains installed, oldest release first, with the proof they were installed on.
    ///
    /// That proof is as recorded; [`Store::install`] proves anew.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    pub fn installed(&self) -> io::Result<Vec<Toolchain>> {
        let mut toolchains = Vec::new();
        for entry in fs_err::read_dir(self.toolchains())? {
            let Some(module) = entry?.file_name().to_str().and_then(parse_name) else { continue };
            let place = Place::of(self, &module);
            if let Some(proven) = place.recorded(&module)? {
                toolchains.push(place.toolchain(&module, proven));
            }
        }
        toolchains.sort_by(|a, b| (&a.release, &a.platform).cmp(&(&b.release, &b.platform)));
        Ok(toolchains)
    }

    /// Proves the digest that the module's zip must have.
    fn prove(
        &self,
        module: &ToolchainModule,
        proxies: &Proxies,
        database: &ChecksumDatabase<'_>,
    ) -> Result<Proof, InstallError> {
        let memory = SumdbMemory::open(self, database.setting());
        let client = Client::new(database, &memory, database.key());
        client.prove(module::PATH, &module.version()).map_err(|source| {
            let has_no_record = matches!(source, SumdbError::NotFound { .. });
            // Without a record, whether a proxy serves it anyway tells "unheard of" from "unproven".
            match has_no_record.then(|| proxies.read(&module.info_path(), limits::INFO_BYTES)) {
                Some(Err(error)) if error.is_not_found() => not_found(module, error),
                Some(Err(source)) => InstallError::Fetch { module: module.to_string(), source },
                Some(Ok(_)) | None => {
                    InstallError::Unproven { module: module.to_string(), source: Box::new(source) }
                }
            }
        })
    }

    fn fetch(
        &self,
        module: &ToolchainModule,
        proxies: &Proxies,
        proof: Proof,
        work: &TempDir,
        on_bytes: &mut (dyn FnMut(u64, Option<u64>) + Send),
    ) -> Result<ProvenTree, InstallError> {
        let prefix = Place::of(self, module).private_prefix();
        let keep = Kept::at(self.downloads().join(format!("{prefix}zip")));
        let recipient = Adapted(std::sync::Mutex::new(on_bytes), std::sync::Mutex::new(None));
        let served = proxies
            .obtain(&module.zip_path(), limits::ZIP_BYTES, &keep, &recipient)
            .inspect_err(|_| _ = keep.discard())
            .map_err(|source| match source {
                source if source.is_not_found() => not_found(module, source),
                source => InstallError::Fetch { module: module.to_string(), source },
            })?;
        let refused = |source| match source {
            ArchiveError::Read(source) => InstallError::Store(source),
            source => InstallError::Archive { url: served.url.clone(), source },
        };
        keep.discard()?;
        let zip = served.value.file.try_clone()?;
        let mut archive = Archive::open(zip, &module.zip_prefix()).map_err(refused)?;
        let root = work.path().join("tree");
        let tree = Unpacked::from_archive(&mut archive, module, &root)?;
        ProvenTree::new(tree, proof, served.url.clone())
    }

    /// Removes what processes that ended early left of this toolchain. The caller holds its lock, so
    /// nobody is at work on it.
    fn remove_leftovers(&self, place: &Place) -> io::Result<()> {
        let prefix = place.private_prefix();
        for folder in [self.tmp(), self.downloads()] {
            for entry in fs_err::read_dir(folder)? {
                let entry = entry?;
                if !entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
                    continue;
                }
                log::info!("removing what an earlier run left: {}", entry.path().display());
                if entry.file_type()?.is_dir() {
                    fs_err::remove_dir_all(entry.path())?;
                } else {
                    fs_err::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }
}

/// An unpacked tree whose digest is the one on record. Nothing else can be given a toolchain's name.
struct ProvenTree {
    tree: Unpacked,
    proven: Proven,
}

impl ProvenTree {
    fn new(mut tree: Unpacked, proof: Proof, url: String) -> Result<Self, InstallError> {
        let damage = tree.take_damage();
        if tree.digest() != proof.h1 {
            return Err(InstallError::Mismatch {
                url,
                database: proof.database,
                expected: proof.h1,
                found: tree.digest(),
                damage: damage.map(Box::new),
            });
        }
        // The right files by luck: a checksum that is wrong, say. The go command refuses it too.
        if let Some(source) = damage {
            return Err(InstallError::Archive { url, source });
        }
        Ok(ProvenTree { proven: Proven::new(proof, url), tree })
    }

    /// Gives the tree its name, when all of it is on the disk.
    ///
    /// The order matters for a machine that stops at any point: the record never stands beside a
    /// tree that it is not about, and the name never on a tree that is not whole.
    fn publish(
        self,
        module: &ToolchainModule,
        place: &Place,
        work: &TempDir,
    ) -> io::Result<Toolchain> {
        let goroot = self.tree.into_goroot()?;
        durable::sync_file_system(&goroot)?;
        if place.root.exists() {
            // Without a record that fits, nobody knows what it is.
            fs_err::rename(&place.root, work.path().join("unknown"))?;
        }
        record::write(&place.record, module, &self.proven)?;
        fs_err::rename(goroot, &place.root)?;
        durable::sync_folder(&place.folder)?;
        Ok(place.toolchain(module, self.proven))
    }
}

type OnBytes<'a> = &'a mut (dyn FnMut(u64, Option<u64>) + Send);

struct Adapted<'a>(std::sync::Mutex<OnBytes<'a>>, std::sync::Mutex<Option<u64>>);

impl Recipient for Adapted<'_> {
    fn begin(&self, total_bytes: Option<u64>, _kept_bytes: u64) -> io::Result<()> {
        *self.1.lock().expect("nobody panics with it") = total_bytes;
        Ok(())
    }

    fn received(&self, bytes: u64) {
        let total_bytes = *self.1.lock().expect("nobody panics with it");
        (self.0.lock().expect("nobody panics with it"))(bytes, total_bytes);
    }

    fn is_stopped(&self) -> bool {
        false
    }
}

/// Where the parts of one toolchain are in the store.
struct Place {
    name: String,
    folder: PathBuf,
    root: PathBuf,
    record: PathBuf,
    lock: PathBuf,
}

impl Place {
    fn of(store: &Store, module: &ToolchainModule) -> Self {
        let name = format!("{}.{}", module.release, module.platform);
        let folder = store.toolchains();
        Place {
            root: folder.join(&name),
            record: folder.join(format!("{name}.toml")),
            lock: store.lock(&name),
            name,
            folder,
        }
    }

    /// What the names of private files and folders of this toolchain begin with.
    fn private_prefix(&self) -> String {
        format!("{}.", self.name)
    }

    /// What is recorded of the tree, if there are both.
    fn recorded(&self, module: &ToolchainModule) -> io::Result<Option<Proven>> {
        if !self.root.join("bin/go").is_file() {
            return Ok(None);
        }
        record::read(&self.record, module)
    }

    fn installed(&self, module: &ToolchainModule, proof: &Proof) -> io::Result<Option<Toolchain>> {
        let recorded = self.recorded(module)?.filter(|recorded| recorded.h1 == proof.h1);
        Ok(recorded
            .map(|recorded| self.toolchain(module, Proven::new(proof.clone(), recorded.source))))
    }

    fn toolchain(&self, module: &ToolchainModule, proven: Proven) -> Toolchain {
        Toolchain {
            release: module.release.clone(),
            platform: module.platform.clone(),
            root: self.root.clone(),
            evidence: Evidence::Proven(proven),
        }
    }
}

/// Reads the name of a toolchain's record, `go1.27.1.linux-amd64.toml`.
fn parse_name(file_name: &str) -> Option<ToolchainModule> {
    let (release, platform) = file_name.strip_suffix(".toml")?.rsplit_once('.')?;
    let (os, arch) = platform.split_once('-')?;
    Some(ToolchainModule {
        release: release.parse().ok()?,
        platform: Platform { os: os.to_owned(), arch: arch.to_owned() },
    })
}

fn not_found(module: &ToolchainModule, source: FetchError) -> InstallError {
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
