//! The SHA-256 of files on disk.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fs_err::File;
use sha2::{Digest, Sha256};

use super::parallel::on_all_cores;

/// The size of the pieces in which files are read, in bytes.
const PIECE_BYTES: usize = 128 * 1024;

/// Hashes files on all cores, in their order.
///
/// # Errors
///
/// If one cannot be read, or with [`io::ErrorKind::Interrupted`] when `is_stopped` says so.
pub(super) fn sha256_of_files(
    paths: &[PathBuf],
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> io::Result<Vec<[u8; 32]>> {
    on_all_cores(
        paths.len(),
        || vec![0; PIECE_BYTES],
        |piece, place| {
            if is_stopped() {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped while hashing"));
            }
            sha256_of(&paths[place], piece)
        },
    )
}

fn sha256_of(path: &Path, piece: &mut [u8]) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    loop {
        match file.read(piece) {
            Ok(0) => return Ok(hash.finalize().into()),
            Ok(count) => hash.update(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
