//! A source archive that a user downloaded: a zip, or a folder with the same in it.
//!
//! Nothing of it is written anywhere by this module. Names are listed after all of them were
//! checked; a file is read only when it is asked for, up to a limit, whatever the archive says of
//! its size. An archive that two readers could understand in two ways is refused.

use std::collections::BTreeSet;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use fs_err::os::unix::fs::OpenOptionsExt;
use sha2::{Digest, Sha256};
use zip::CompressionMethod;
use zip::read::{ArchiveOffset, Config, ZipArchive, ZipFileEntry};

use crate::hex::hex;

/// The game's archive has 1.4 MB.
const ZIP_BYTES: u64 = 64 << 20;
/// The game's archive has a thousand.
const ENTRIES: usize = 20_000;
/// No program of the game has a hundredth of it.
const FILE_BYTES: u64 = 1 << 20;
const NAME_BYTES: usize = 1_024;

/// Why an archive, or a file in it, is not read.
#[derive(Debug, thiserror::Error)]
pub enum SourceArchiveError {
    /// It is not what it should be.
    #[error("{path}: {reason}", path = .path.display())]
    Refused { path: PathBuf, reason: String },
    /// The system does not let it be read.
    #[error("cannot read the archive")]
    Read(#[from] io::Error),
}

/// The files of a source archive.
#[derive(Debug)]
pub struct SourceArchive {
    path: PathBuf,
    content: Content,
    /// Of regular files, sorted.
    names: Vec<String>,
}

enum Content {
    Zip { zip: ZipArchive<Cursor<Vec<u8>>>, sha256: String },
    Folder,
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Content::Zip { .. } => "zip",
            Content::Folder => "folder",
        })
    }
}

impl SourceArchive {
    /// Opens a zip or a folder, and checks every name in it.
    ///
    /// # Errors
    ///
    /// [`SourceArchiveError::Refused`] if it is neither, is too large, or has a name that leads out
    /// of it or that is there twice.
    pub fn open(path: &Path) -> Result<Self, SourceArchiveError> {
        let (content, mut names) = match fs_err::metadata(path)? {
            folder if folder.is_dir() => (Content::Folder, walk(path)?),
            file if file.is_file() => open_zip(path)?,
            _ => return Err(refused(path, "expected a zip or a folder".to_owned())),
        };
        names.sort();
        Ok(SourceArchive { path: path.to_owned(), content, names })
    }

    /// The paths of all regular files, sorted, with `/` between their elements.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// SHA-256 of the zip, in hex; of a folder there is none.
    pub fn sha256(&self) -> Option<&str> {
        match &self.content {
            Content::Zip { sha256, .. } => Some(sha256),
            Content::Folder => None,
        }
    }

    /// Reads a file, which must be UTF-8 text of at most 1 MiB.
    ///
    /// # Errors
    ///
    /// [`SourceArchiveError::Refused`] if it is not, is damaged, or there is no such file.
    pub fn read(&mut self, name: &str) -> Result<String, SourceArchiveError> {
        let path = &self.path;
        if self.names.binary_search_by(|known| known.as_str().cmp(name)).is_err() {
            return Err(refused(path, format!("it has no file {name}")));
        }
        let bytes = match &mut self.content {
            Content::Zip { zip, .. } => read_entry(zip, name)
                .map_err(|reason| refused(path, format!("zip entry {name}: {reason}")))?,
            Content::Folder => read_file(&path.join(name))?,
        };
        if bytes.len() as u64 > FILE_BYTES {
            return Err(refused(path, format!("{name} has more than {FILE_BYTES} bytes")));
        }
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Ok(text),
            _ => Err(refused(path, format!("{name} is not UTF-8 text"))),
        }
    }
}

fn refused(path: &Path, reason: String) -> SourceArchiveError {
    SourceArchiveError::Refused { path: path.to_owned(), reason }
}

fn open_zip(path: &Path) -> Result<(Content, Vec<String>), SourceArchiveError> {
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(ZIP_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > ZIP_BYTES {
        return Err(refused(path, format!("more than {ZIP_BYTES} bytes")));
    }
    let sha256 = hex(&Sha256::digest(&bytes));
    let (zip, names) = read_zip(bytes).map_err(|reason| refused(path, reason))?;
    Ok((Content::Zip { zip, sha256 }, names))
}

type Zip = ZipArchive<Cursor<Vec<u8>>>;

/// Reads the directory of a zip and checks all of it.
fn read_zip(bytes: Vec<u8>) -> Result<(Zip, Vec<String>), String> {
    let announced = announced_entries(&bytes)?;
    if announced > ENTRIES {
        return Err(format!("{announced} entries, expected at most {ENTRIES}"));
    }
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let damaged = |error| format!("damaged zip: {error}");
    let mut zip = ZipArchive::with_config(config, Cursor::new(bytes)).map_err(damaged)?;
    // The reader keeps one entry of a name, whichever it may be.
    if zip.len() != announced {
        let found = zip.len();
        return Err(format!(
            "{announced} entries have only {found} names; some name is there twice"
        ));
    }
    let mut names = Vec::with_capacity(zip.len());
    for place in 0..zip.len() {
        let entry = zip.by_index_data(place).map_err(damaged)?;
        let name = entry.name_raw();
        let name = match checked_name(name) {
            Ok(name) => name.to_owned(),
            Err(reason) => {
                return Err(format!("zip entry {:?}: {reason}", String::from_utf8_lossy(name)));
            }
        };
        if file_type(&entry) != Some(FileType::Folder) {
            names.push(name);
        }
    }
    zip.validate_header_consistency().map_err(damaged)?;
    check_tree(&names)?;
    Ok((zip, names))
}

/// The number of entries that the record at the end of a zip announces.
fn announced_entries(bytes: &[u8]) -> Result<usize, String> {
    const END_BYTES: usize = 22;
    const LONGEST_COMMENT: usize = 0xffff;
    let first = bytes.len().saturating_sub(END_BYTES + LONGEST_COMMENT);
    let ends: Vec<usize> = (first..(bytes.len() + 1).saturating_sub(END_BYTES))
        .filter(|at| bytes[*at..].starts_with(b"PK\x05\x06"))
        .collect();
    // A comment may follow the record, but only a comment, and no other record in it.
    let [at] = ends[..] else {
        return Err(match ends.len() {
            0 => "not a zip: no end record".to_owned(),
            _ => "not one zip: it has more than one end record".to_owned(),
        });
    };
    let u16_at =
        |place: usize| usize::from(u16::from_le_bytes([bytes[at + place], bytes[at + place + 1]]));
    if at + END_BYTES + u16_at(20) != bytes.len() {
        return Err("damaged zip: bytes after its end".to_owned());
    }
    if u16_at(4) != 0 || u16_at(6) != 0 || u16_at(8) != u16_at(10) {
        return Err("it is one of several parts of a zip".to_owned());
    }
    Ok(u16_at(10))
}

/// A relative path without detours, of an entry or a file.
fn checked_name(name: &[u8]) -> Result<&str, &'static str> {
    let Ok(name) = str::from_utf8(name) else { return Err("the name is not UTF-8") };
    if name.len() > NAME_BYTES {
        return Err("the name is too long");
    }
    if name.contains(|c: char| c.is_control() || c == '\\' || c == ':') {
        return Err("the name has a control character, a backslash or a colon");
    }
    let elements = name.strip_suffix('/').unwrap_or(name);
    if elements.split('/').any(|element| ["", ".", ".."].contains(&element)) {
        return Err("the name leads out of the archive, or to a place in a roundabout way");
    }
    Ok(name)
}

/// No file may be in another one.
fn check_tree(names: &[String]) -> Result<(), String> {
    let files: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    for name in names {
        let mut folders = name.match_indices('/').map(|(end, _)| &name[..end]);
        if let Some(folder) = folders.find(|folder| files.contains(folder)) {
            return Err(format!("{folder} is a file, and a folder with {name} in it"));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FileType {
    Regular,
    Folder,
}

/// What an entry is; `None` if it is something else than a regular file or a folder.
fn file_type(entry: &ZipFileEntry<'_>) -> Option<FileType> {
    let is_named_folder = entry.name_raw().ends_with(b"/");
    // The upper half of the attributes is a Unix mode, zero where the writer knew none.
    match (entry.external_attributes() >> 16) & 0o170_000 {
        0o040_000 if is_named_folder => Some(FileType::Folder),
        0o100_000 if !is_named_folder => Some(FileType::Regular),
        0 if is_named_folder => Some(FileType::Folder),
        0 => Some(FileType::Regular),
        _ => None,
    }
}

fn read_entry(zip: &mut Zip, name: &str) -> Result<Vec<u8>, String> {
    let damaged = |error| format!("damaged: {error}");
    let place = zip.index_for_name(name).ok_or("it is not there")?;
    let entry = zip.by_index_data(place).map_err(damaged)?;
    if file_type(&entry) != Some(FileType::Regular) {
        return Err("it is not a regular file".to_owned());
    }
    if entry.encrypted() {
        return Err("it is encrypted".to_owned());
    }
    if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
        return Err("the compression is neither stored nor deflate".to_owned());
    }
    drop(entry);
    let mut bytes = Vec::new();
    let content = zip.by_index(place).map_err(damaged)?;
    content.take(FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The regular files below a folder. Links are not followed and not listed.
fn walk(root: &Path) -> Result<Vec<String>, SourceArchiveError> {
    let mut names = Vec::new();
    let mut folders = vec![String::new()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(root.join(&folder))? {
            let entry = entry?;
            entries += 1;
            if entries > ENTRIES {
                return Err(refused(root, format!("more than {ENTRIES} files and folders")));
            }
            let name = entry.file_name();
            // What cannot be the name of a program is none.
            let Ok(name) = checked_name(name.as_encoded_bytes()) else { continue };
            let name = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
            let file_type = entry.file_type()?;
            if file_type.is_dir() && name.len() <= NAME_BYTES {
                folders.push(name);
            } else if file_type.is_file() {
                names.push(name);
            }
        }
    }
    Ok(names)
}

fn read_file(path: &Path) -> Result<Vec<u8>, SourceArchiveError> {
    // It was a regular file when it was listed. A link that has taken its place is not followed,
    // a pipe not waited for.
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file = fs_err::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
