//! The module zip of a toolchain, written so that the same files give the same bytes.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use fs_err::File;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::module::{ToolchainModule, TreeDigest, TreeListing, becomes_executable, limits};

/// The size of the pieces in which files are read, in bytes.
const PIECE_BYTES: usize = 128 * 1024;

/// Packs `files` (name in the module, path on disk) into a zip and returns the digest of the tree.
///
/// Names are sorted and times fixed, so that the zip depends on names and contents only.
///
/// # Errors
///
/// If a file cannot be read, the zip cannot be written, or it becomes larger than the go command
/// accepts.
pub fn pack(
    files: &BTreeMap<String, PathBuf>,
    module: &ToolchainModule,
    into: &mut std::fs::File,
) -> anyhow::Result<TreeDigest> {
    let mut zip = ZipWriter::new(BufWriter::new(&mut *into));
    let mut listing = TreeListing::new();
    let prefix = module.zip_prefix();
    for (name, path) in files {
        let entry = format!("{prefix}{name}");
        zip.start_file(&*entry, options(name))?;
        let sha256 = copy_and_hash(path, &mut zip)?;
        listing.add(&entry, sha256)?;
    }
    zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
    let zip_bytes = into.stream_position()?;
    ensure!(
        zip_bytes <= limits::ZIP_BYTES,
        "the zip of {module} has {zip_bytes} bytes, more than the {} that the go command accepts",
        limits::ZIP_BYTES
    );
    Ok(listing.digest())
}

/// The modes are for people who unzip by hand; the go command and we ignore them.
fn options(name: &str) -> SimpleFileOptions {
    SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(if becomes_executable(name) { 0o755 } else { 0o644 })
}

fn copy_and_hash(path: &Path, into: &mut dyn Write) -> anyhow::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = file.read(&mut piece)?;
        if count == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(&piece[..count]);
        into.write_all(&piece[..count]).with_context(|| format!("packing {}", path.display()))?;
    }
}
