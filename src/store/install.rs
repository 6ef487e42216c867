//! The one way a toolchain becomes usable.
//!
//! ```text
//! prove ─▶ download ─▶ unpack and hash ─▶ digest = proven? ─▶ go.mod copies ─▶ flush ─▶ rename
//!   │                                          │
//!   └─ no proof, no download                   └─ ProvenTree: nothing else can be given a name
//! ```

use std::io;

use tempfile::TempDir;

use super::archive::{Archive, ArchiveError};
use super::durable::{self, FolderLock};
use super::error::InstallError;
use super::place::Place;
use super::siblings::Siblings;
use super::tree::Unpacked;
use super::{Proven, Store, SumdbMemory, Toolchain, record, space};
use crate::module::{self, ToolchainModule, limits};
use crate::proxy::{ChecksumDatabase, FetchError, Obtained, Proxies, Recipient, Served};
use crate::sumdb::{Client, Proof, SumdbError};

/// How much larger a toolchain is than its zip, at most by common experience. Used to see whether
/// there is room before a download; once the zip is there its directory says it exactly.
pub(super) const UNPACKED_PER_ZIP_BYTE: u64 = 4;

/// Of how many installed toolchains a new one may share files: the next older and the next newer.
const SIBLINGS_EACH_SIDE: usize = 1;

/// Looks on while a toolchain is installed, and may stop it.
pub trait Onlooker: Sync {
    /// A download begins: how many bytes there will be, where that is known, and how many of them
    /// are at hand already. Told again when a transfer starts over.
    fn downloads(&self, total_bytes: Option<u64>, kept_bytes: u64);

    /// So many bytes of the download are at hand now.
    fn received(&self, bytes: u64);

    /// All of the zip is there and is unpacked.
    fn unpacks(&self);

    /// Whether the user asked to stop.
    fn is_stopped(&self) -> bool;
}

/// Nobody looks on, and nothing is stopped.
impl Onlooker for () {
    fn downloads(&self, _total_bytes: Option<u64>, _kept_bytes: u64) {}

    fn received(&self, _bytes: u64) {}

    fn unpacks(&self) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

impl Store {
    /// Installs a toolchain, or finds it installed, and proves it either way.
    ///
    /// An installed one is not hashed again: its digest, taken when it was unpacked, is held against
    /// the database's record, which is proven anew, without the network where the store remembers
    /// enough. Of several processes or threads that want one toolchain, one installs it and the
    /// others wait. What was downloaded before an interruption is gone on with where that is safe.
    ///
    /// # Errors
    ///
    /// [`InstallError`]; no toolchain has its name in the store then that had not before.
    pub fn install(
        &self,
        module: &ToolchainModule,
        proxies: &Proxies,
        database: &ChecksumDatabase<'_>,
        onlooker: &dyn Onlooker,
    ) -> Result<Toolchain, InstallError> {
        let place = Place::of(self, module);
        let _lock = FolderLock::acquire(&place.lock)?;
        let proof = self.prove(module, proxies, database)?;
        if let Some(toolchain) = place.installed(&proof)? {
            // A process that was killed just after it had installed this left its zip.
            place.download.discard()?;
            return Ok(toolchain);
        }
        let install = Install { store: self, place: &place, proof: &proof, proxies, onlooker };
        install.run()
    }

    /// Proves the digest that the module's zip must have.
    fn prove(
        &self,
        module: &ToolchainModule,
        proxies: &Proxies,
        database: &ChecksumDatabase<'_>,
    ) -> Result<Proof, InstallError> {
        self.proof(module, database).map_err(|source| {
            let has_no_record = matches!(source, SumdbError::NotFound { .. });
            // Without a record, whether a proxy serves it anyway tells "unheard of" from "unproven".
            match has_no_record.then(|| proxies.read(&module.info_path(), limits::INFO_BYTES)) {
                Some(Err(error)) if error.is_not_found() => InstallError::not_found(module, error),
                Some(Err(source)) => InstallError::Fetch { module: module.to_string(), source },
                Some(Ok(_)) | None => {
                    InstallError::Unproven { module: module.to_string(), source: Box::new(source) }
                }
            }
        })
    }

    /// Asks the database what it has on record.
    pub(super) fn proof(
        &self,
        module: &ToolchainModule,
        database: &ChecksumDatabase<'_>,
    ) -> Result<Proof, SumdbError> {
        let memory = SumdbMemory::open(self, database.setting());
        let client = Client::new(database, &memory, database.key());
        client.prove(module::PATH, &module.version())
    }

    /// The installed toolchains next in age to `module`, whose files a new tree may share.
    fn siblings(&self, module: &ToolchainModule) -> io::Result<Siblings> {
        let places: Vec<Place> = self
            .places()?
            .into_iter()
            .filter(|place| place.module.platform == module.platform && place.module != *module)
            .collect();
        let newer = places.partition_point(|place| place.module < *module);
        let near =
            newer.saturating_sub(SIBLINGS_EACH_SIDE)..places.len().min(newer + SIBLINGS_EACH_SIDE);
        let mut siblings = Siblings::default();
        for place in &places[near] {
            let Some(proven) = place.recorded()? else { continue };
            if let Some(listing) = place.files(&proven.h1)? {
                siblings.add(&place.root, &place.module.zip_prefix(), &listing);
            }
        }
        Ok(siblings)
    }
}

/// One toolchain on its way into the store, with its lock held.
struct Install<'a> {
    store: &'a Store,
    place: &'a Place,
    proof: &'a Proof,
    proxies: &'a Proxies,
    onlooker: &'a dyn Onlooker,
}

impl Install<'_> {
    fn run(&self) -> Result<Toolchain, InstallError> {
        let served = self.obtain()?;
        let was_kept = served.value.was_kept;
        match self.use_up(served) {
            Err(error) if was_kept && is_the_zips_fault(&error) => {
                // Perhaps only what an earlier process left was damaged: the disk may have lost it.
                log::warn!("{error}; what an earlier run had downloaded is dropped");
                self.use_up(self.obtain()?)
            }
            result => result,
        }
    }

    /// Unpacks the zip and drops it, unless the user stopped that: then nothing is to be lost.
    fn use_up(&self, served: Served<Obtained>) -> Result<Toolchain, InstallError> {
        let result = self.unpack(served);
        if !matches!(result, Err(InstallError::Stopped { .. })) {
            self.place.download.discard()?;
        }
        result
    }

    fn obtain(&self) -> Result<Served<Obtained>, InstallError> {
        let module = &self.place.module;
        self.proxies
            .obtain(&module.zip_path(), limits::ZIP_BYTES, &self.place.download, self)
            .map_err(|source| match source {
                FetchError::Stopped { .. } => self.stopped(),
                source if source.is_not_found() => InstallError::NotServed {
                    module: module.to_string(),
                    database: self.proof.database.clone(),
                    source,
                },
                source => InstallError::Fetch { module: module.to_string(), source },
            })
    }

    fn unpack(&self, served: Served<Obtained>) -> Result<Toolchain, InstallError> {
        let Served { value: Obtained { file, .. }, url } = served;
        let module = &self.place.module;
        let refused = |source| match source {
            ArchiveError::Read(source) => InstallError::Store(source),
            source => InstallError::Archive { url: url.clone(), source },
        };
        // One at a time, as each takes all cores; and the next finds the files of this one to share.
        let _turn = FolderLock::acquire(&self.store.lock("unpack"))?;
        self.onlooker.unpacks();
        let archive = Archive::open(file, &module.zip_prefix()).map_err(refused)?;
        space::check(self.store.root(), archive.unpacked_bytes())?;
        let work = tempfile::tempdir_in(self.store.private()?.path())?;
        let siblings = self.store.siblings(module)?;
        let is_stopped = || self.onlooker.is_stopped();
        let root = work.path().join("tree");
        let tree = durable::while_flushing(work.path(), || {
            Unpacked::from_archive(&archive, module, &root, &siblings, &is_stopped)
        });
        let tree = tree.map_err(|error| match self.onlooker.is_stopped() {
            true => self.stopped(),
            false => InstallError::Store(error),
        })?;
        ProvenTree::new(tree, self.proof.clone(), url)?
            .publish(self.store, self.place, &work)
            .map_err(InstallError::Store)
    }

    fn stopped(&self) -> InstallError {
        InstallError::Stopped { module: self.place.module.to_string() }
    }
}

impl Recipient for Install<'_> {
    fn begin(&self, total_bytes: Option<u64>, kept_bytes: u64) -> io::Result<()> {
        if let Some(total) = total_bytes {
            let to_come = total.saturating_sub(kept_bytes);
            let unpacked = total.saturating_mul(UNPACKED_PER_ZIP_BYTE);
            space::check(self.store.root(), to_come.saturating_add(unpacked))?;
        }
        self.onlooker.downloads(total_bytes, kept_bytes);
        Ok(())
    }

    fn received(&self, bytes: u64) {
        self.onlooker.received(bytes);
    }

    fn is_stopped(&self) -> bool {
        self.onlooker.is_stopped()
    }
}

fn is_the_zips_fault(error: &InstallError) -> bool {
    matches!(error, InstallError::Mismatch { .. } | InstallError::Archive { .. })
}

/// An unpacked tree whose digest is the one on record. Nothing else can be given a toolchain's name.
pub(super) struct ProvenTree {
    tree: Unpacked,
    proven: Proven,
}

impl ProvenTree {
    pub(super) fn new(
        mut tree: Unpacked,
        proof: Proof,
        source: String,
    ) -> Result<Self, InstallError> {
        let damage = tree.take_damage();
        let found = tree.listing().digest();
        if found != proof.h1 {
            return Err(InstallError::Mismatch {
                url: source,
                database: proof.database,
                expected: proof.h1,
                found,
                damage: damage.map(Box::new),
            });
        }
        // The right files by luck: a checksum that is wrong, say. The go command refuses it too.
        if let Some(damage) = damage {
            return Err(InstallError::Archive { url: source, source: damage });
        }
        Ok(ProvenTree { proven: Proven::new(proof, source), tree })
    }

    /// Gives the tree its name, when all of it is on the disk. `work` is a private folder.
    ///
    /// The order matters for a machine that stops at any point: the record never stands beside a
    /// tree that it is not about, and the name never on a tree that is not whole.
    pub(super) fn publish(
        self,
        store: &Store,
        place: &Place,
        work: &TempDir,
    ) -> io::Result<Toolchain> {
        let listing = self.tree.listing().to_text();
        let goroot = self.tree.into_goroot()?;
        durable::sync_file_system(&goroot)?;
        if place.root.exists() {
            // Without a record that fits, nobody knows what it is.
            fs_err::rename(&place.root, work.path().join("unknown"))?;
        }
        store.write(&place.listing, listing.as_bytes())?;
        record::write(store, &place.record, &place.module, &self.proven)?;
        fs_err::rename(goroot, &place.root)?;
        durable::sync_folder(&store.toolchains())?;
        Ok(place.toolchain(self.proven))
    }
}
