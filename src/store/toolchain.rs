//! An installed toolchain and what is known of where it came from.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::tarball::peek_version;
use crate::module::{ToolchainModule, TreeDigest};
use crate::platform::Platform;
use crate::release::Release;
use crate::sumdb::Proof;

/// More than any `VERSION` has.
const VERSION_BYTES: u64 = 4 * 1024;

/// A GOROOT of one release for one platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolchain {
    pub release: Release,
    pub platform: Platform,
    /// The GOROOT.
    pub root: PathBuf,
    pub evidence: Evidence,
}

/// Why a toolchain is believed to be the release it says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A checksum database vouches for the tree.
    Proven(Proven),
    /// Nothing does: the GOROOT was given by its path.
    Unproven {
        /// The digest that the tree has as a module, if it can be one.
        h1: Option<TreeDigest>,
        /// Why it is not proven, as the end of a sentence.
        reason: String,
    },
}

/// A tree and the record of a checksum database that names its digest.
///
/// The tree in the store is one that was hashed when it was unpacked. A GOROOT that is used where it
/// lies was hashed when it was taken, and is whatever its owner makes of it afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// The digest of the tree, computed when it was installed or taken, and equal to the one in the
    /// record.
    pub h1: TreeDigest,
    /// The URL of the zip, or the path of the release archive or GOROOT.
    pub source: String,
    /// The name of the checksum database.
    pub database: String,
    /// The number of the record in the database.
    pub record_id: u64,
    /// The number of records below the signed head in which the record was found.
    pub tree_size: u64,
    /// The root hash of that head, in base64 as in the signed note.
    pub tree_root: String,
}

impl Proven {
    pub(super) fn new(proof: Proof, source: String) -> Self {
        Proven {
            h1: proof.h1,
            source,
            database: proof.database,
            record_id: proof.record_id,
            tree_size: proof.tree_size,
            tree_root: proof.root,
        }
    }
}

impl Toolchain {
    /// The go command.
    pub fn go(&self) -> PathBuf {
        self.root.join("bin/go")
    }
}

/// A folder that looks like a GOROOT, and what its files say of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goroot {
    /// The folder, as an absolute path.
    pub root: PathBuf,
    pub release: Release,
    pub platform: Platform,
    /// The text of `VERSION`.
    pub version: String,
}

impl Goroot {
    /// Looks at a folder: release from the first line of `VERSION`, platform from `pkg/tool`.
    ///
    /// # Errors
    ///
    /// If the folder does not look like a GOROOT: no `bin/go`, no `src`, no `VERSION` that begins
    /// with a release, or no tools.
    pub fn read(root: &Path) -> anyhow::Result<Self> {
        Goroot::read_as(root, root)
    }

    /// Like [`Goroot::read`], for a folder that was made of what its user calls `shown`.
    ///
    /// # Errors
    ///
    /// As [`Goroot::read`].
    pub fn read_as(root: &Path, shown: &Path) -> anyhow::Result<Self> {
        let root = fs_err::canonicalize(root)
            .with_context(|| format!("no GOROOT at {}", shown.display()))?;
        for (part, is_there) in
            [("bin/go", root.join("bin/go").is_file()), ("src", root.join("src").is_dir())]
        {
            if !is_there {
                bail!("{} is not a GOROOT: it has no {part}", shown.display());
            }
        }
        let version = read_version(&root.join("VERSION"))?;
        let release = parse_version(&version)
            .with_context(|| format!("{} names no release", shown.join("VERSION").display()))?;
        let platform = read_platform(&root, shown)?;
        Ok(Goroot { root, release, platform, version })
    }

    /// The module whose tree this must be to be proven.
    pub fn module(&self) -> ToolchainModule {
        ToolchainModule { release: self.release.clone(), platform: self.platform.clone() }
    }
}

/// The release that a toolchain on disk, a GOROOT or a release archive, says it is.
///
/// # Errors
///
/// If it is neither, as far as can be told without reading all of it.
pub fn local_release(path: &Path) -> anyhow::Result<Release> {
    if path.is_file() {
        return parse_version(&peek_version(path, VERSION_BYTES)?);
    }
    Ok(Goroot::read(path)?.release)
}

fn read_version(path: &Path) -> anyhow::Result<String> {
    let file = fs_err::File::open(path).context(
        "a GOROOT of a release has a VERSION file; one built from the repository has not",
    )?;
    let mut version = String::new();
    file.take(VERSION_BYTES).read_to_string(&mut version)?;
    Ok(version)
}

fn parse_version(version: &str) -> anyhow::Result<Release> {
    let first = version.split_whitespace().next().unwrap_or_default();
    let release = first.strip_prefix("go").and_then(|version| version.parse().ok());
    release.with_context(|| {
        let line = version.lines().next().unwrap_or_default();
        format!("expected a release such as go1.27.1 in the first line, found {line:?}")
    })
}

/// Finds the platform by the folder of the tools, `pkg/tool/linux_amd64`: the host's if the tree has
/// tools for it, else the only one there.
fn read_platform(root: &Path, shown: &Path) -> anyhow::Result<Platform> {
    const FOLDER: &str = "pkg/tool";
    let folder = shown.join(FOLDER);
    let mut platforms = Vec::new();
    for entry in fs_err::read_dir(root.join(FOLDER))? {
        let name = entry?.file_name();
        if let Some((os, arch)) = name.to_str().and_then(|name| name.split_once('_')) {
            platforms.push(Platform { os: os.to_owned(), arch: arch.to_owned() });
        }
    }
    let host = Platform::host();
    if platforms.contains(&host) {
        return Ok(host);
    }
    match platforms.as_slice() {
        [only] => Ok(only.clone()),
        [] => bail!("{} has no folder like linux_amd64", folder.display()),
        _ => bail!("{} has tools for several platforms, none of them {host}", folder.display()),
    }
}
