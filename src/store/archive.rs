//! A module zip, looked through before anything of it is written.
//!
//! What is checked, hashed and written are the same bytes under the same names, read once, by one
//! reader, through the central directory. A file that another reader could understand in another way
//! (two entries of a name, overlaps, bytes before or after, headers that disagree) is refused.
//!
//! Source of the rules: <https://go.dev/ref/mod#zip-files>; stricter where no toolchain needs the
//! freedom (no folders, no links, no 64-bit extension, which 500 MiB never call for).

use std::io::{self, Read, Write};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use zip::CompressionMethod;
use zip::read::{ArchiveOffset, Config, ZipArchive, ZipFileEntry};
use zip::result::ZipError;

use self::layout::END_BYTES;
use super::bytes::{Bytes, Reader};
use crate::module::{EntryError, check_entries, limits};

/// The size of the pieces in which files are unpacked, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// The directory of the largest toolchain is below 2 MiB; this bounds what is held in memory.
const DIRECTORY_BYTES: u64 = 32 << 20;

/// Why a file is not a module zip that may be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file as a whole.
    #[error("not a module zip: {0}")]
    Shape(String),
    /// The name of an entry.
    #[error(transparent)]
    Name(#[from] EntryError),
    /// Anything else about an entry.
    #[error("zip entry {entry:?}: {reason}")]
    Entry { entry: String, reason: String },
    /// The file could not be read.
    #[error("cannot read the downloaded zip")]
    Read(#[source] io::Error),
}

/// A zip whose shape, names, types and declared sizes are those of a module.
///
/// Contents are checked as they are read, in [`Archive::copy`]. Clones share what was looked through
/// and can be read at the same time, one in each thread.
#[derive(Clone)]
pub struct Archive {
    zip: ZipArchive<Reader>,
    entries: Arc<[Entry]>,
    piece: Vec<u8>,
}

/// One file of the zip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The full name, with the module's prefix.
    pub name: String,
    /// The declared size, unpacked, in bytes.
    pub size_bytes: u64,
}

impl Archive {
    /// Looks a zip through; every name must begin with `prefix`.
    ///
    /// # Errors
    ///
    /// [`ArchiveError`] for the first rule found broken.
    pub fn open(bytes: impl Bytes + 'static, prefix: &str) -> Result<Self, ArchiveError> {
        let entry_count = check_end(&bytes)?;
        let bytes = Arc::new(bytes);
        let reader =
            Reader::new(Arc::clone(&bytes) as Arc<dyn Bytes>).map_err(ArchiveError::Read)?;
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let mut zip = ZipArchive::with_config(config, reader).map_err(shape_error)?;
        if zip.len() as u64 != entry_count {
            let found = zip.len();
            return Err(shape(format!("{entry_count} entries have only {found} names")));
        }
        let entries = read_directory(&zip)?;
        check_entries(prefix, entries.iter().map(|entry| entry.name.as_str()))?;
        zip.validate_header_consistency().map_err(shape_error)?;
        if let Some(at) = layout::find_gap(&zip, &*bytes).map_err(shape_error)? {
            return Err(shape(format!("what lies at byte {at} belongs to no entry")));
        }
        Ok(Archive { zip, entries: entries.into(), piece: Vec::new() })
    }

    /// The files, in the order of the central directory.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The size of all files together, unpacked, in bytes.
    pub fn unpacked_bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.size_bytes).sum()
    }

    /// Unpacks the file at `place` in [`Archive::entries`] into `into`.
    ///
    /// A damaged file is unpacked as far as it goes, but never beyond its declared size; what came
    /// out of it is hashed all the same, so that a damaged zip can be told by its digest.
    ///
    /// # Errors
    ///
    /// If `into` cannot be written.
    ///
    /// # Panics
    ///
    /// If there is no such entry.
    pub fn copy(&mut self, place: usize, into: &mut dyn Write) -> io::Result<Copied> {
        let entry = &self.entries[place];
        let mut hash = Sha256::new();
        let piece = &mut self.piece;
        piece.resize(PIECE_BYTES, 0);
        let mut copy = |zip: &mut ZipArchive<Reader>| {
            let mut content = zip.by_index(place).map_err(|e| Trouble::Damage(e.to_string()))?;
            copy_content(&mut content, entry.size_bytes, piece, &mut hash, into)
        };
        let damage = match copy(&mut self.zip) {
            Ok(()) => None,
            Err(Trouble::Write(error)) => return Err(error),
            Err(Trouble::Damage(reason)) => {
                Some(ArchiveError::Entry { entry: entry.name.clone(), reason })
            }
        };
        Ok(Copied { sha256: hash.finalize().into(), damage })
    }
}

/// What came out of one file of a zip.
#[derive(Debug)]
pub struct Copied {
    /// The SHA-256 of what was written.
    pub sha256: [u8; 32],
    /// Why that is not the file that was packed: it is cut short, longer or shorter than declared,
    /// or its checksum is wrong.
    pub damage: Option<ArchiveError>,
}

/// Why copying a file ended early.
enum Trouble {
    Damage(String),
    Write(io::Error),
}

fn copy_content(
    content: &mut impl Read,
    declared: u64,
    piece: &mut [u8],
    hash: &mut Sha256,
    into: &mut dyn Write,
) -> Result<(), Trouble> {
    let mut done = 0_u64;
    loop {
        let count = match content.read(piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(Trouble::Damage(e.to_string())),
        };
        done += count as u64;
        if done > declared {
            let reason = format!("unpacks to more than the {declared} bytes declared");
            return Err(Trouble::Damage(reason));
        }
        hash.update(&piece[..count]);
        into.write_all(&piece[..count]).map_err(Trouble::Write)?;
    }
    if done != declared {
        let reason = format!("unpacks to {done} bytes, {declared} declared");
        return Err(Trouble::Damage(reason));
    }
    Ok(())
}

/// Checks the record at the very end of the file and returns the number of entries it announces.
///
/// The reader underneath would also search for the record further up; after this check it is where
/// that search begins, and its directory lies right before it.
fn check_end(bytes: &impl Bytes) -> Result<u64, ArchiveError> {
    let length = bytes.size().map_err(ArchiveError::Read)?;
    if length > limits::ZIP_BYTES {
        return Err(shape(format!("{length} bytes, over the limit of {}", limits::ZIP_BYTES)));
    }
    if length < END_BYTES {
        return Err(shape(format!("only {length} bytes")));
    }
    let mut end = [0; END_BYTES as usize];
    read_exact_at(bytes, &mut end, length - END_BYTES).map_err(ArchiveError::Read)?;
    if !end.starts_with(b"PK\x05\x06") {
        return Err(shape("it does not end with the end record of a zip".to_owned()));
    }
    let u16_at = |at: usize| u64::from(u16::from_le_bytes([end[at], end[at + 1]]));
    let u32_at = |at: usize| u16_at(at) | u16_at(at + 2) << 16;
    let (disk, directory_disk) = (u16_at(4), u16_at(6));
    let (entries_here, entry_count) = (u16_at(8), u16_at(10));
    let (directory_bytes, directory_start) = (u32_at(12), u32_at(16));
    let comment_bytes = u16_at(20);
    if disk != 0 || directory_disk != 0 || entries_here != entry_count {
        return Err(shape("it is spread over several disks".to_owned()));
    }
    if comment_bytes != 0 {
        return Err(shape("it has a comment, which could hide another zip".to_owned()));
    }
    if entry_count >= 0xffff || entry_count as usize > limits::ZIP_ENTRIES {
        return Err(shape(format!("{entry_count} entries or more")));
    }
    if directory_bytes > DIRECTORY_BYTES {
        return Err(shape(format!("a directory of {directory_bytes} bytes")));
    }
    if directory_start + directory_bytes + END_BYTES != length {
        return Err(shape("bytes before the first entry or after the directory".to_owned()));
    }
    let mut directory = vec![0; directory_bytes as usize];
    read_exact_at(bytes, &mut directory, directory_start).map_err(ArchiveError::Read)?;
    check_directory(&directory, entry_count)?;
    Ok(entry_count)
}

/// Checks that the directory holds as many records as announced and nothing else.
///
/// The reader underneath follows the lengths in a record wherever they lead.
fn check_directory(directory: &[u8], entry_count: u64) -> Result<(), ArchiveError> {
    const RECORD_BYTES: usize = 46;
    let mut rest = directory;
    for _ in 0..entry_count {
        let record = rest.first_chunk::<RECORD_BYTES>().filter(|r| r.starts_with(b"PK\x01\x02"));
        // The lengths of the name, of the extra field and of the comment that follow.
        let follow = |record: &[u8; RECORD_BYTES]| -> usize {
            let length = |at| usize::from(u16::from_le_bytes([record[at], record[at + 1]]));
            [28, 30, 32].into_iter().map(length).sum()
        };
        let after = record.and_then(|record| rest.get(RECORD_BYTES + follow(record)..));
        rest = after.ok_or_else(|| shape("its directory ends within a record".to_owned()))?;
    }
    if !rest.is_empty() {
        return Err(shape(format!("its directory has more than {entry_count} records")));
    }
    Ok(())
}

fn read_exact_at(bytes: &impl Bytes, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        let count = bytes.read_at(into, at)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        into = &mut into[count..];
        at += count as u64;
    }
    Ok(())
}

fn read_directory(zip: &ZipArchive<Reader>) -> Result<Vec<Entry>, ArchiveError> {
    let mut entries = Vec::with_capacity(zip.len());
    let mut total_bytes = 0_u64;
    for place in 0..zip.len() {
        let entry = read_entry(&zip.by_index_data(place).map_err(shape_error)?)?;
        total_bytes = total_bytes.saturating_add(entry.size_bytes);
        if total_bytes > limits::UNPACKED_BYTES {
            let limit = limits::UNPACKED_BYTES;
            return Err(shape(format!("its files have more than {limit} bytes together")));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn read_entry(entry: &ZipFileEntry<'_>) -> Result<Entry, ArchiveError> {
    let refused = |reason: &str| ArchiveError::Entry {
        entry: String::from_utf8_lossy(entry.name_raw()).into_owned(),
        reason: reason.to_owned(),
    };
    let Ok(name) = str::from_utf8(entry.name_raw()) else {
        return Err(refused("the name is not UTF-8"));
    };
    if entry.encrypted() {
        return Err(refused("it is encrypted"));
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err(refused("the compression is neither stored nor deflate"));
    }
    // The upper half of the attributes is a Unix mode, zero where the writer knew none.
    let mode = entry.external_attributes() >> 16;
    let (file_type, special_bits) = (mode & 0o170_000, mode & 0o7_000);
    if !matches!(file_type, 0 | 0o100_000) || special_bits != 0 {
        return Err(refused("it is not a regular file"));
    }
    Ok(Entry { name: name.to_owned(), size_bytes: entry.size() })
}

fn shape(reason: String) -> ArchiveError {
    ArchiveError::Shape(reason)
}

fn shape_error(error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            ArchiveError::Read(error)
        }
        error => shape(error.to_string()),
    }
}

mod layout;
#[cfg(test)]
mod tests;
