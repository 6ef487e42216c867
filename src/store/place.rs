//! Where the parts of one toolchain are in the store.

use std::io::{self, Read};
use std::path::PathBuf;

use super::{Evidence, Proven, Store, Toolchain, record};
use crate::module::{ToolchainModule, TreeDigest, TreeListing};
use crate::platform::Platform;
use crate::proxy::Kept;
use crate::sumdb::Proof;

/// More than the listing of any module within the limits of a zip has.
const LISTING_BYTES: u64 = 64 << 20;

/// The paths of one toolchain.
#[derive(Debug)]
pub(super) struct Place {
    pub module: ToolchainModule,
    /// The GOROOT.
    pub root: PathBuf,
    /// What proves it and where it came from.
    pub record: PathBuf,
    /// Its files with the SHA-256 of each.
    pub listing: PathBuf,
    /// Who holds it may change the others.
    pub lock: PathBuf,
    /// Its zip on the way in.
    pub download: Kept,
}

impl Place {
    pub fn of(store: &Store, module: &ToolchainModule) -> Self {
        let name = format!("{}.{}", module.release, module.platform);
        let in_folder = |name: String| store.toolchains().join(name);
        Place {
            module: module.clone(),
            root: in_folder(name.clone()),
            record: in_folder(format!("{name}.toml")),
            listing: in_folder(format!("{name}.files")),
            lock: store.lock(&name),
            download: Kept::at(store.downloads().join(format!("{name}.zip"))),
        }
    }

    /// The place that a file in `toolchains/` belongs to, if it is a record: `go1.27.1.linux-amd64.toml`.
    pub fn of_record(store: &Store, file_name: &str) -> Option<Self> {
        let (release, platform) = file_name.strip_suffix(".toml")?.rsplit_once('.')?;
        let (os, arch) = platform.split_once('-')?;
        let platform = Platform { os: os.to_owned(), arch: arch.to_owned() };
        let module = ToolchainModule { release: release.parse().ok()?, platform };
        Some(Place::of(store, &module))
    }

    /// What is recorded of the tree, if there are both.
    pub fn recorded(&self) -> io::Result<Option<Proven>> {
        if !self.root.join("bin/go").is_file() {
            return Ok(None);
        }
        record::read(&self.record, &self.module)
    }

    /// The toolchain, if one is there with just the digest of `proof`.
    pub fn installed(&self, proof: &Proof) -> io::Result<Option<Toolchain>> {
        let recorded = self.recorded()?.filter(|recorded| recorded.h1 == proof.h1);
        Ok(recorded.map(|recorded| self.toolchain(Proven::new(proof.clone(), recorded.source))))
    }

    /// The files that were installed, if there is a list of them that has the digest `h1`.
    pub fn files(&self, h1: &TreeDigest) -> io::Result<Option<TreeListing>> {
        let file = match fs_err::File::open(&self.listing) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = Vec::new();
        file.take(LISTING_BYTES).read_to_end(&mut text)?;
        let listing = str::from_utf8(&text).ok().and_then(|text| TreeListing::parse(text).ok());
        Ok(listing.filter(|listing| listing.digest() == *h1))
    }

    pub fn toolchain(&self, proven: Proven) -> Toolchain {
        Toolchain {
            release: self.module.release.clone(),
            platform: self.module.platform.clone(),
            root: self.root.clone(),
            evidence: Evidence::Proven(proven),
        }
    }
}

impl Store {
    /// The places of all toolchains with a record, oldest release first.
    pub(super) fn places(&self) -> io::Result<Vec<Place>> {
        let mut places = Vec::new();
        for entry in fs_err::read_dir(self.toolchains())? {
            let name = entry?.file_name();
            places.extend(name.to_str().and_then(|name| Place::of_record(self, name)));
        }
        places.sort_by(|a, b| a.module.cmp(&b.module));
        Ok(places)
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
        for place in self.places()? {
            if let Some(proven) = place.recorded()? {
                toolchains.push(place.toolchain(proven));
            }
        }
        Ok(toolchains)
    }
}
