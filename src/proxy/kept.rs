//! Where an unfinished download waits for the next process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How much of a note is read, in bytes; a URL and a tag are the longest things in it.
const NOTE_BYTES: u64 = 64 * 1024;

/// Where the bytes of an unfinished download are kept, with a note beside them of where they come
/// from.
///
/// Without a note that fits, the bytes are worth nothing. Whoever uses this holds a lock on it: two
/// transfers into one place would mix.
#[derive(Clone, Debug)]
pub struct Kept {
    path: PathBuf,
    note: PathBuf,
}

impl Kept {
    /// Names the place; nothing is looked at or made yet. The note is `path` with `.toml` after it.
    pub fn at(path: PathBuf) -> Self {
        let mut note = path.clone().into_os_string();
        note.push(".toml");
        Kept { path, note: note.into() }
    }

    /// Removes the bytes and the note, as far as they are there.
    ///
    /// # Errors
    ///
    /// If one of them is there and stays there.
    pub fn discard(&self) -> io::Result<()> {
        // The bytes first: a note without bytes is harmless, and neither may outlive the other long.
        for path in [&self.path, &self.note, &draft_of(&self.note)] {
            match fs_err::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a later call can make something of what is kept: go on with it, or take it whole.
    pub(super) fn is_of_use(&self) -> io::Result<bool> {
        let Some(origin) = read_note(&self.note)? else { return Ok(false) };
        let bytes = match fs_err::metadata(&self.path) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        Ok(bytes > 0 && (origin.etag.is_some() || origin.total_bytes == Some(bytes)))
    }

    /// Opens what is kept of `url`.
    ///
    /// What is there of another address, or of nobody knows what, counts as nothing. It stays until
    /// [`Partial::begin`]: the address it is from may be asked again, if this one fails.
    pub(super) fn open(&self, url: &str) -> io::Result<Partial> {
        let mut options = fs_err::OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&self.path)?.into_parts().0;
        let bytes = file.seek(SeekFrom::End(0))?;
        let fits = |origin: &Origin| {
            origin.url == url && origin.total_bytes.is_none_or(|total| bytes <= total)
        };
        let origin = read_note(&self.note)?.filter(fits);
        let bytes = if origin.is_some() { bytes } else { 0 };
        Ok(Partial { file, note: self.note.clone(), origin, bytes })
    }
}

/// Where bytes come from, as far as a server says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Origin {
    /// The address asked, before redirects and without credentials.
    pub url: String,
    /// A strong validator as the server wrote it, with its quotation marks: the same tag means the
    /// same bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// How many bytes there are in all.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "bytes")]
    pub total_bytes: Option<u64>,
}

/// The bytes at hand of one version of one thing; never of two.
#[derive(Debug)]
pub(super) struct Partial {
    file: File,
    note: PathBuf,
    origin: Option<Origin>,
    bytes: u64,
}

impl Partial {
    /// How many bytes are at hand.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Where they come from; `None` if there are none.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.origin.as_ref().and_then(|origin| origin.total_bytes) == Some(self.bytes)
    }

    /// Lets go of what is at hand and gets ready for bytes from `origin`, of which the note tells
    /// before the first of them is written.
    pub fn begin(&mut self, origin: Origin) -> io::Result<()> {
        self.empty()?;
        write_note(&self.note, &origin)?;
        self.origin = Some(origin);
        Ok(())
    }

    /// Lets go of what is at hand.
    pub fn empty(&mut self) -> io::Result<()> {
        self.origin = None;
        if self.file.metadata()?.len() > 0 {
            self.file.set_len(0)?;
            // On the disk before a new note is: old bytes must not be taken for those it tells of.
            self.file.sync_all()?;
        }
        self.bytes = 0;
        self.file.rewind()
    }

    /// Notes how many bytes there are in all, now that a server has said it.
    pub fn set_total(&mut self, total_bytes: u64) -> io::Result<()> {
        let Some(origin) = &mut self.origin else { return Ok(()) };
        if origin.total_bytes != Some(total_bytes) {
            origin.total_bytes = Some(total_bytes);
            write_note(&self.note, origin)?;
        }
        Ok(())
    }

    /// Adds a piece.
    pub fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece)?;
        self.bytes += piece.len() as u64;
        Ok(())
    }

    /// The file, at its beginning.
    pub fn into_file(mut self) -> io::Result<File> {
        self.file.rewind()?;
        Ok(self.file)
    }
}

/// Reads a note; one that is missing or makes no sense is none.
fn read_note(path: &Path) -> io::Result<Option<Origin>> {
    let file = match fs_err::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = Vec::new();
    file.take(NOTE_BYTES).read_to_end(&mut text)?;
    Ok(toml::from_slice(&text).ok())
}

/// Writes a note that is whole or not there, whenever the machine stops.
fn write_note(path: &Path, origin: &Origin) -> io::Result<()> {
    let text = toml::to_string(origin).map_err(io::Error::other)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let draft = draft_of(path);
    let mut file = fs_err::File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs_err::rename(&draft, path)?;
    fs_err::File::open(folder)?.sync_all()
}

/// The name under which a note is written; always the same, so that a process that ends here leaves
/// nothing that the next does not find.
fn draft_of(note: &Path) -> PathBuf {
    let mut draft = note.as_os_str().to_owned();
    draft.push(".new");
    draft.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(url: &str, total_bytes: Option<u64>) -> Origin {
        Origin { url: url.to_owned(), etag: Some("\"t\"".to_owned()), total_bytes }
    }

    fn place() -> (tempfile::TempDir, Kept) {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::at(folder.path().join("zip"));
        (folder, kept)
    }

    #[test]
    fn what_is_kept_is_found_again_with_where_it_is_from() {
        let (_folder, kept) = place();
        let mut partial = kept.open("u").unwrap();
        assert_eq!((partial.origin(), partial.bytes()), (None, 0));
        partial.begin(origin("u", Some(5))).unwrap();
        partial.append(b"012").unwrap();
        drop(partial);

        let mut partial = kept.open("u").unwrap();
        assert_eq!((partial.origin(), partial.bytes()), (Some(&origin("u", Some(5))), 3));
        assert!(!partial.is_whole());
        partial.append(b"34").unwrap();
        assert!(partial.is_whole());
        let mut content = String::new();
        partial.into_file().unwrap().read_to_string(&mut content).unwrap();
        assert_eq!(content, "01234");
    }

    #[test]
    fn what_begins_anew_has_nothing_of_the_old() {
        let (folder, kept) = place();
        let mut partial = kept.open("u").unwrap();
        partial.begin(origin("u", Some(5))).unwrap();
        partial.append(b"01234").unwrap();
        partial.begin(origin("v", None)).unwrap();
        partial.append(b"x").unwrap();
        partial.set_total(1).unwrap();
        assert_eq!(fs_err::read(folder.path().join("zip")).unwrap(), b"x");
        assert_eq!(kept.open("u").unwrap().origin(), None, "what is kept is of another address");
        assert_eq!(kept.open("v").unwrap().origin(), Some(&origin("v", Some(1))));
    }

    #[test]
    fn more_bytes_than_the_note_tells_of_are_worth_nothing() {
        let (folder, kept) = place();
        kept.open("u").unwrap().begin(origin("u", Some(2))).unwrap();
        fs_err::write(folder.path().join("zip"), b"012").unwrap();
        let mut partial = kept.open("u").unwrap();
        assert_eq!((partial.origin(), partial.bytes()), (None, 0));
        partial.begin(origin("u", Some(2))).unwrap();
        partial.append(b"x").unwrap();
        assert_eq!(fs_err::read(folder.path().join("zip")).unwrap(), b"x");
    }

    #[test]
    fn whatever_is_left_is_thrown_away() {
        let (folder, kept) = place();
        for name in ["zip", "zip.toml", "zip.toml.new", "zip2"] {
            fs_err::write(folder.path().join(name), b"x").unwrap();
        }
        kept.discard().unwrap();
        let left: Vec<_> = fs_err::read_dir(folder.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
