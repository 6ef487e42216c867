//! The files of a GOROOT that make the module of its toolchain, and their digest.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::hash::sha256_of_files;
use crate::module::{
    ToolchainModule, TreeListing, check_entries, limits, module_files, module_name,
};

/// What goes into the module zip of one GOROOT.
#[derive(Debug)]
pub struct GorootFiles {
    /// By the name in the module, so in the order in which they are packed.
    pub files: BTreeMap<String, PathBuf>,
    /// Symbolic links that lead out of the GOROOT, as paths in it. They were followed: the system
    /// packages of some distributions keep half a GOROOT behind such links.
    pub links_out: Vec<String>,
    prefix: String,
}

impl GorootFiles {
    /// Lists the files of the GOROOT at `root`, which must be its canonical path.
    ///
    /// Symbolic links are followed, so the module holds the files as a go command would see them.
    ///
    /// # Errors
    ///
    /// If something is neither file nor folder, a link leads nowhere or in a circle, a name may not
    /// be in a module zip, all files together are larger than a module may be, or a `go.mod` is
    /// another than the `_go.mod` beside it, of which it must be the copy.
    pub fn list(root: &Path, module: &ToolchainModule) -> anyhow::Result<Self> {
        let mut walk = Walk { root, files: BTreeMap::new(), links_out: Vec::new(), total_bytes: 0 };
        walk.folder(root, "", &mut Vec::new())?;
        let paths = walk.files;
        let by_name: BTreeMap<String, PathBuf> = module_files(paths.keys().map(String::as_str))
            .into_iter()
            .map(|file| (file.name, paths[&file.path].clone()))
            .collect();
        let prefix = module.zip_prefix();
        let names: Vec<String> = by_name.keys().map(|name| format!("{prefix}{name}")).collect();
        check_entries(&prefix, names.iter().map(String::as_str))
            .with_context(|| format!("{} cannot be packed as a module", root.display()))?;
        check_copies(&paths, &by_name)?;
        Ok(GorootFiles { files: by_name, links_out: walk.links_out, prefix })
    }

    /// Hashes the files, on all cores.
    ///
    /// # Errors
    ///
    /// If a file cannot be read, or with [`io::ErrorKind::Interrupted`] when `is_stopped` says so.
    pub fn hash(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> io::Result<TreeListing> {
        let paths: Vec<PathBuf> = self.files.values().cloned().collect();
        let mut listing = TreeListing::new();
        for (name, sha256) in self.files.keys().zip(sha256_of_files(&paths, is_stopped)?) {
            let name = format!("{}{name}", self.prefix);
            listing.add(&name, sha256).expect("names were checked when they were listed");
        }
        Ok(listing)
    }
}

/// Makes sure that the files which are no part of the module because they are copies of others are
/// just that: the digest of the module says nothing of them, and the go command reads them.
fn check_copies(
    paths: &BTreeMap<String, PathBuf>,
    by_name: &BTreeMap<String, PathBuf>,
) -> anyhow::Result<()> {
    let packed: BTreeSet<&Path> = by_name.values().map(PathBuf::as_path).collect();
    for (path, place) in paths.iter().filter(|(_, place)| !packed.contains(place.as_path())) {
        let name = module_name(path).context("what the module leaves out was not listed")?;
        let original = &by_name[&name];
        if fs_err::read(place)? != fs_err::read(original)? {
            bail!("{} is no copy of {}", place.display(), original.display());
        }
    }
    Ok(())
}

struct Walk<'a> {
    root: &'a Path,
    files: BTreeMap<String, PathBuf>,
    links_out: Vec<String>,
    total_bytes: u64,
}

impl Walk<'_> {
    /// Lists `folder`, which is called `path` in the GOROOT; `above` are the folders it is in.
    fn folder(
        &mut self,
        folder: &Path,
        path: &str,
        above: &mut Vec<PathBuf>,
    ) -> anyhow::Result<()> {
        let canonical = fs_err::canonicalize(folder)?;
        if above.contains(&canonical) {
            bail!("{} is a symbolic link to a folder that it is in", folder.display());
        }
        above.push(canonical);
        let mut entries = fs_err::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(|entry| entry.file_name());
        for entry in entries {
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                bail!("{}: the name is not UTF-8", entry.path().display());
            };
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") };
            self.entry(&entry.path(), path, above)?;
        }
        above.pop();
        Ok(())
    }

    fn entry(
        &mut self,
        place: &Path,
        path: String,
        above: &mut Vec<PathBuf>,
    ) -> anyhow::Result<()> {
        // What the module leaves out is not looked at: neither a folder nor a file of that name.
        if module_name(&path).is_none() || module_name(&format!("{path}/x")).is_none() {
            return Ok(());
        }
        if fs_err::symlink_metadata(place)?.is_symlink() {
            let target = fs_err::canonicalize(place)
                .with_context(|| format!("{} is a symbolic link to nothing", place.display()))?;
            if !target.starts_with(self.root) {
                self.links_out.push(path.clone());
            }
        }
        let metadata = fs_err::metadata(place)?;
        if metadata.is_dir() {
            return self.folder(place, &path, above);
        }
        if !metadata.is_file() {
            bail!("{} is neither a file nor a folder", place.display());
        }
        self.total_bytes += metadata.len();
        if self.total_bytes > limits::UNPACKED_BYTES {
            let limit = limits::UNPACKED_BYTES;
            bail!("{} has more than the {limit} bytes of a module", self.root.display());
        }
        self.files.insert(path, place.to_owned());
        Ok(())
    }
}
