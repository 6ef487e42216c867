//! Toolchains from disk: official release archives, which are proven and installed like downloads,
//! and GOROOTs, which are used where they lie, proven or not.

use std::path::Path;

use anyhow::Error;

use super::durable::FolderLock;
use super::error::{Digests, InstallError, may_pass};
use super::install::{ProvenTree, UNPACKED_PER_ZIP_BYTE};
use super::place::Place;
use super::tarball::{TarballError, UnpackedTarball};
use super::toolchain::{Evidence, Goroot, Proven, Toolchain};
use super::tree::Unpacked;
use super::{GorootFiles, Store, space};
use crate::module::{ToolchainModule, TreeDigest};
use crate::proxy::ChecksumDatabase;
use crate::sumdb::SumdbError;

/// Whether the user asked to stop.
type IsStopped<'a> = &'a (dyn Fn() -> bool + Sync);

impl Store {
    /// Takes the toolchain at `path`: an official release archive, if it is a file, else a GOROOT.
    ///
    /// The tree of an archive must have the digest that the checksum database has on record for the
    /// release and platform that it says it is; it is then installed like a download.
    ///
    /// A GOROOT is used where it lies. It is proven if its tree has that digest. Otherwise it is
    /// unproven, with the reason, unless the database itself turns out not to be trusted. It can
    /// change afterwards, so its digest is taken each time.
    ///
    /// # Errors
    ///
    /// [`InstallError`]; [`InstallError::NoToolchain`] if there is neither at `path`.
    pub fn take_local(
        &self,
        path: &Path,
        database: &ChecksumDatabase<'_>,
        is_stopped: IsStopped<'_>,
    ) -> Result<Toolchain, InstallError> {
        match path.is_file() {
            true => self.install_tarball(path, database, is_stopped),
            false => self.take_goroot(path, database, is_stopped),
        }
    }

    fn install_tarball(
        &self,
        path: &Path,
        database: &ChecksumDatabase<'_>,
        is_stopped: IsStopped<'_>,
    ) -> Result<Toolchain, InstallError> {
        let path = fs_err::canonicalize(path)?;
        let shown = path.display().to_string();
        let work = tempfile::tempdir_in(self.private()?.path())?;
        let root = work.path().join("tree");
        let unpacked = self.unpack_tarball(&path, &root, is_stopped)?;
        let goroot = Goroot::read_as(&root, &path)
            .map_err(|source| InstallError::NoToolchain { path: shown.clone(), source })?;
        let module = goroot.module();
        let tree = Unpacked::from_tarball(&unpacked, &module, &root);
        let found = tree.listing().digest();

        // Which toolchain it is, was not known before.
        let place = Place::of(self, &module);
        let _lock = FolderLock::acquire(&place.lock)?;
        let proof = self.proof(&module, database).map_err(|source| {
            let (path, module, source) = (shown.clone(), module.to_string(), Box::new(source));
            InstallError::TarballUnproven { path, module, found, source }
        })?;
        if proof.h1 != found {
            return Err(InstallError::TarballMismatch {
                path: shown,
                module: module.to_string(),
                database: proof.database,
                digests: Box::new(Digests { expected: proof.h1, found }),
            });
        }
        if let Some(toolchain) = place.installed(&proof)? {
            return Ok(toolchain);
        }
        let toolchain = ProvenTree::new(tree, proof, shown)?.publish(self, &place, &work)?;
        // What there is of a download that was interrupted has no use any more.
        place.download.discard()?;
        Ok(toolchain)
    }

    fn unpack_tarball(
        &self,
        path: &Path,
        root: &Path,
        is_stopped: IsStopped<'_>,
    ) -> Result<UnpackedTarball, InstallError> {
        // Not held beyond this: whoever unpacks a download holds the lock of its toolchain already.
        let _turn = FolderLock::acquire(&self.lock("unpack"))?;
        let bytes = fs_err::metadata(path)?.len();
        space::check(self.root(), bytes.saturating_mul(UNPACKED_PER_ZIP_BYTE))?;
        UnpackedTarball::unpack(path, root, is_stopped).map_err(|error| match error {
            TarballError::Write(_) if is_stopped() => stopped(path),
            TarballError::Write(error) => InstallError::Store(error),
            source => InstallError::Tarball { path: path.display().to_string(), source },
        })
    }

    fn take_goroot(
        &self,
        path: &Path,
        database: &ChecksumDatabase<'_>,
        is_stopped: IsStopped<'_>,
    ) -> Result<Toolchain, InstallError> {
        let goroot = Goroot::read(path).map_err(|source| {
            let path = path.display().to_string();
            InstallError::NoToolchain { path, source }
        })?;
        let evidence = match GorootFiles::list(&goroot.root, &goroot.module()) {
            Ok(files) => match files.hash(is_stopped) {
                Ok(listing) => self.evidence(&goroot, listing.digest(), database)?,
                Err(_) if is_stopped() => return Err(stopped(path)),
                Err(error) => unproven(None, format!("the tree cannot be read: {error}")),
            },
            Err(error) => unproven(None, format!("the tree cannot be a module: {error:#}")),
        };
        let Goroot { root, release, platform, .. } = goroot;
        Ok(Toolchain { release, platform, root, evidence })
    }

    /// What the database says of a GOROOT whose tree has the digest `h1`.
    fn evidence(
        &self,
        goroot: &Goroot,
        h1: TreeDigest,
        database: &ChecksumDatabase<'_>,
    ) -> Result<Evidence, InstallError> {
        let module = goroot.module();
        let path = goroot.root.display().to_string();
        match self.proof(&module, database) {
            Ok(proof) if proof.h1 == h1 => Ok(Evidence::Proven(Proven::new(proof, path))),
            Ok(proof) => {
                let reason = format!(
                    "the checksum database {} has {} on record for {module}, this tree is {h1}",
                    proof.database, proof.h1
                );
                Ok(unproven(Some(h1), reason))
            }
            Err(error) => match no_proof(&module, error) {
                Ok(reason) => Ok(unproven(Some(h1), reason)),
                Err(source) => {
                    let (module, source) = (module.to_string(), Box::new(source));
                    Err(InstallError::Untrustworthy { path, module, source })
                }
            },
        }
    }
}

fn unproven(h1: Option<TreeDigest>, reason: String) -> Evidence {
    Evidence::Unproven { h1, reason }
}

/// Says why there is no proof, or returns what is no reason but a security failure.
fn no_proof(module: &ToolchainModule, error: SumdbError) -> Result<String, SumdbError> {
    match error {
        SumdbError::NotFound { database, .. } => {
            Ok(format!("the checksum database {database} has no record of {module}"))
        }
        SumdbError::Unavailable { database, reason, .. } => {
            Ok(format!("the checksum database {database} could not be asked: {reason}"))
        }
        error if may_pass(&error) => Ok(format!("{:#}", Error::from(error))),
        error => Err(error),
    }
}

fn stopped(path: &Path) -> InstallError {
    InstallError::Stopped { module: path.display().to_string() }
}
