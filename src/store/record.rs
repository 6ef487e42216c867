//! The file beside an installed toolchain that says where it came from and what proves it.

use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Store;
use super::toolchain::Proven;
use crate::module::ToolchainModule;

/// More than any record has.
const RECORD_BYTES: u64 = 64 * 1024;

/// The record as it is written. Everything in it is checked again before it is believed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    module: String,
    h1: String,
    source: String,
    proof: WireProof,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireProof {
    database: String,
    record_id: u64,
    tree_size: u64,
    tree_root: String,
}

/// Writes the record of `module`.
///
/// # Errors
///
/// If the file cannot be written.
pub fn write(
    store: &Store,
    path: &Path,
    module: &ToolchainModule,
    proven: &Proven,
) -> io::Result<()> {
    let proven = proven.clone();
    let wire = Wire {
        module: module.to_string(),
        h1: proven.h1.to_h1(),
        source: proven.source,
        proof: WireProof {
            database: proven.database,
            record_id: proven.record_id,
            tree_size: proven.tree_size,
            tree_root: proven.tree_root,
        },
    };
    let text = toml::to_string(&wire).map_err(io::Error::other)?;
    store.write(path, text.as_bytes())
}

/// Reads the record of `module`; `None` if there is none, or none that can be understood.
///
/// A record is a note to ourselves: one that is damaged is worth as much as none, and the toolchain
/// is installed again.
///
/// # Errors
///
/// If the file is there and cannot be read.
pub fn read(path: &Path, module: &ToolchainModule) -> io::Result<Option<Proven>> {
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.take(RECORD_BYTES).read_to_end(&mut text)?;
    let wire = toml::from_slice::<Wire>(&text).ok().filter(|w| w.module == module.to_string());
    Ok(wire.and_then(|wire| {
        Some(Proven {
            h1: wire.h1.parse().ok()?,
            source: wire.source,
            database: wire.proof.database,
            record_id: wire.proof.record_id,
            tree_size: wire.proof.tree_size,
            tree_root: wire.proof.tree_root,
        })
    }))
}
