//! An official release archive, `go1.27.1.linux-amd64.tar.gz`, read once, from its beginning to its
//! end.
//!
//! What comes out are the files that the module of the toolchain has, under their names in it. The
//! archive may come from anywhere: nothing but files and folders below `go/` is accepted, and every
//! size is bounded, that of what is passed over as well. Whether the files are those of the release
//! is not for this module to say; their digest tells.
//!
//! Headers are read by the `tar` crate, one block at a time. Its own way through an archive is not
//! used: it keeps a long name of any length in memory, and takes an archive that was cut off between
//! two files for a whole one.

mod unpack;

use std::io::{self, BufRead, Read, Write};

use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};
use tar::{EntryType, Header, PaxExtensions};

use crate::module::{EntryNames, limits, module_name};

pub use unpack::UnpackedTarball;
pub(super) use unpack::peek_version;

/// The folder that everything in a release archive is in.
const TOP: &str = "go";
/// A tar archive is made of blocks of this size.
const BLOCK_BYTES: usize = 512;
/// The size of the pieces in which files are unpacked, in bytes.
const PIECE_BYTES: usize = 64 * 1024;
/// All of an archive, unpacked: what the module leaves out and the headers come on top of its files.
const STREAM_BYTES: u64 = 2 * limits::UNPACKED_BYTES;
/// A header that gives a name too long for an ordinary one.
const LONG_HEADER_BYTES: u64 = 64 * 1024;

/// Why a file is not a release archive that may be used.
#[derive(Debug, thiserror::Error)]
pub enum TarballError {
    /// The file as a whole.
    #[error("not a release archive: {0}")]
    Shape(String),
    /// One entry.
    #[error("archive entry {entry:?}: {reason}")]
    Entry { entry: String, reason: String },
    /// The file could not be read.
    #[error("cannot read the archive")]
    Read(#[source] io::Error),
    /// What came out could not be written.
    #[error("cannot write what is in the archive")]
    Write(#[source] io::Error),
}

/// One file of the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarballFile {
    /// The name in the module, without the zip's prefix.
    pub name: String,
    /// The name in the archive.
    pub entry: String,
    /// In bytes.
    pub size_bytes: u64,
    /// When it was last changed, in seconds since 1970.
    pub modified_s: u64,
}

/// A release archive that is read file by file.
pub struct Tarball<R> {
    stream: Stream<R>,
    names: EntryNames,
    entries: usize,
    /// The size of the files so far together, in bytes.
    total_bytes: u64,
    /// The name of the entry that was come to last.
    entry: String,
    /// What of its content has not been read.
    content_bytes: u64,
    /// What fills its last block.
    padding_bytes: u64,
    piece: Vec<u8>,
}

impl<R: BufRead> Tarball<R> {
    /// Begins to read an archive; nothing of it is looked at yet.
    pub fn new(source: R) -> Self {
        Tarball {
            stream: Stream { gzip: GzDecoder::new(source), left_bytes: STREAM_BYTES },
            names: EntryNames::new(""),
            entries: 0,
            total_bytes: 0,
            entry: String::new(),
            content_bytes: 0,
            padding_bytes: 0,
            piece: vec![0; PIECE_BYTES],
        }
    }

    /// Goes to the next file of the module, passing over what was not read of the last one and what
    /// the module leaves out; `None` at the end, when the archive has turned out to be whole.
    ///
    /// # Errors
    ///
    /// [`TarballError`] for the first rule found broken.
    pub fn next_file(&mut self) -> Result<Option<TarballFile>, TarballError> {
        let mut long_name = None;
        loop {
            self.pass_over()?;
            let Some(header) = self.header()? else {
                self.stream.end()?;
                return Ok(None);
            };
            match header.entry_type() {
                EntryType::GNULongName => long_name = Some(self.gnu_long_name()?),
                EntryType::XHeader => long_name = self.extensions()?.or(long_name),
                EntryType::XGlobalHeader => {
                    if self.extensions()?.is_some() {
                        return Err(self.refused("it gives one name to all entries"));
                    }
                }
                kind => {
                    let name = long_name.take();
                    let name = name.unwrap_or_else(|| header.path_bytes().into_owned());
                    if let Some(file) = self.entry(&header, kind, &name)? {
                        return Ok(Some(file));
                    }
                }
            }
        }
    }

    /// Unpacks the file that [`Tarball::next_file`] has come to, and returns its SHA-256.
    ///
    /// # Errors
    ///
    /// [`TarballError`] if the archive ends before the file does, is damaged, or `into` cannot be
    /// written.
    pub fn copy(&mut self, into: &mut dyn Write) -> Result<[u8; 32], TarballError> {
        let mut hash = Sha256::new();
        while self.content_bytes > 0 {
            let piece = self.stream.read(&mut self.piece, self.content_bytes)?;
            self.content_bytes -= piece.len() as u64;
            hash.update(piece);
            into.write_all(piece).map_err(TarballError::Write)?;
        }
        Ok(hash.finalize().into())
    }

    fn pass_over(&mut self) -> Result<(), TarballError> {
        let mut left = self.content_bytes.saturating_add(self.padding_bytes);
        while left > 0 {
            left -= self.stream.read(&mut self.piece, left)?.len() as u64;
        }
        (self.content_bytes, self.padding_bytes) = (0, 0);
        Ok(())
    }

    /// Reads the header of the next entry; `None` for the block of zeros that begins the end.
    fn header(&mut self) -> Result<Option<Header>, TarballError> {
        let mut block = [0; BLOCK_BYTES];
        self.stream.read_exact(&mut block)?;
        if block == [0; BLOCK_BYTES] {
            return Ok(None);
        }
        let header = Header::from_byte_slice(&block).clone();
        self.entry = String::from_utf8_lossy(&header.path_bytes()).into_owned();
        // The sum of all bytes, those of the sum itself counted as blanks.
        let others = block[..148].iter().chain(&block[156..]).map(|byte| u32::from(*byte));
        let sum = others.sum::<u32>() + 8 * u32::from(b' ');
        if header.cksum().ok() != Some(sum) {
            return Err(shape("a block that should be a tar header is none".to_owned()));
        }
        let size = header.entry_size().map_err(|_| self.refused("its size is no number"))?;
        self.content_bytes = size;
        self.padding_bytes = size.wrapping_neg() % BLOCK_BYTES as u64;
        self.entries += 1;
        if self.entries > limits::ZIP_ENTRIES {
            return Err(shape(format!("more than {} entries", limits::ZIP_ENTRIES)));
        }
        Ok(Some(header))
    }

    fn entry(
        &mut self,
        header: &Header,
        kind: EntryType,
        name: &[u8],
    ) -> Result<Option<TarballFile>, TarballError> {
        self.entry = String::from_utf8_lossy(name).into_owned();
        let Ok(name) = str::from_utf8(name) else {
            return Err(self.refused("the name is not UTF-8"));
        };
        let is_folder = kind == EntryType::Directory;
        let name = if is_folder { name.strip_suffix('/').unwrap_or(name) } else { name };
        if is_folder && name == TOP {
            return Ok(None);
        }
        let below = name.strip_prefix(TOP).and_then(|name| name.strip_prefix('/'));
        let is_plain = |path: &&str| path.split('/').all(|e| !["", ".", ".."].contains(&e));
        let Some(path) = below.filter(is_plain) else {
            return Err(self.refused("it is not below go/, where a release has all its files"));
        };
        // What the module leaves out is not looked at any further.
        let in_module = if is_folder { format!("{path}/x") } else { path.to_owned() };
        let Some(in_module) = module_name(&in_module) else { return Ok(None) };
        match kind {
            EntryType::Directory => {
                self.names.add_folder(path).map_err(|error| self.refused(&error.rule))?;
                return Ok(None);
            }
            EntryType::Regular => {
                self.names.add(&in_module).map_err(|error| self.refused(&error.rule))?;
            }
            _ => return Err(self.refused("it is neither a file nor a folder")),
        }
        self.total_bytes = self.total_bytes.saturating_add(self.content_bytes);
        if self.total_bytes > limits::UNPACKED_BYTES {
            let limit = limits::UNPACKED_BYTES;
            return Err(shape(format!("its files have more than the {limit} bytes of a module")));
        }
        let modified_s = header.mtime().map_err(|_| self.refused("its time is no number"))?;
        let (entry, size_bytes) = (self.entry.clone(), self.content_bytes);
        Ok(Some(TarballFile { name: in_module, entry, size_bytes, modified_s }))
    }

    fn gnu_long_name(&mut self) -> Result<Vec<u8>, TarballError> {
        let mut name = self.long_header()?;
        if name.last() == Some(&0) {
            name.pop();
        }
        Ok(name)
    }

    /// Reads a POSIX extended header and returns the name it gives, if it gives one.
    fn extensions(&mut self) -> Result<Option<Vec<u8>>, TarballError> {
        let text = self.long_header()?;
        let mut name = None;
        for extension in PaxExtensions::new(&text) {
            let extension = extension.map_err(|error| self.refused(&error))?;
            match extension.key_bytes() {
                b"path" => name = Some(extension.value_bytes().to_vec()),
                key if key == b"size" || key == b"linkpath" || key.starts_with(b"GNU.sparse.") => {
                    return Err(self.refused("an extended header gives it another size or content"));
                }
                // Times, owners and comments.
                _ => {}
            }
        }
        Ok(name)
    }

    fn long_header(&mut self) -> Result<Vec<u8>, TarballError> {
        if self.content_bytes > LONG_HEADER_BYTES {
            return Err(
                self.refused(&format!("an extended header of {} bytes", self.content_bytes))
            );
        }
        let mut content = Vec::new();
        self.copy(&mut content)?;
        Ok(content)
    }

    fn refused(&self, reason: &(impl ToString + ?Sized)) -> TarballError {
        TarballError::Entry { entry: self.entry.clone(), reason: reason.to_string() }
    }
}

/// The unpacked bytes, which end where they must and not later.
struct Stream<R> {
    gzip: GzDecoder<R>,
    left_bytes: u64,
}

impl<R: BufRead> Stream<R> {
    /// Reads at most `most_bytes` into `piece` and returns them; there is at least one.
    fn read<'a>(&mut self, piece: &'a mut [u8], most_bytes: u64) -> Result<&'a [u8], TarballError> {
        let most = piece.len().min(usize::try_from(most_bytes).unwrap_or(usize::MAX));
        match self.read_some(&mut piece[..most])? {
            0 => Err(shape("it is cut short".to_owned())),
            count => Ok(&piece[..count]),
        }
    }

    fn read_exact(&mut self, mut into: &mut [u8]) -> Result<(), TarballError> {
        while !into.is_empty() {
            let count = self.read(into, u64::MAX)?.len();
            into = &mut into[count..];
        }
        Ok(())
    }

    /// Reads what comes after the first block of zeros: another one at least, zeros to the end of
    /// the compressed stream, and nothing after that.
    fn end(&mut self) -> Result<(), TarballError> {
        let mut block = [1; BLOCK_BYTES];
        self.read_exact(&mut block)?;
        let mut count = BLOCK_BYTES;
        while count > 0 {
            if block[..count].iter().any(|byte| *byte != 0) {
                return Err(shape("there is something after its end".to_owned()));
            }
            count = self.read_some(&mut block)?;
        }
        let after = self.gzip.get_mut().fill_buf().map_err(trouble)?;
        if !after.is_empty() {
            return Err(shape("there is something after the end of the gzip stream".to_owned()));
        }
        Ok(())
    }

    fn read_some(&mut self, into: &mut [u8]) -> Result<usize, TarballError> {
        let count = loop {
            match self.gzip.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result.map_err(trouble)?,
            }
        };
        let left = self.left_bytes.checked_sub(count as u64);
        self.left_bytes =
            left.ok_or_else(|| shape(format!("it unpacks to more than {STREAM_BYTES} bytes")))?;
        Ok(count)
    }
}

fn shape(reason: String) -> TarballError {
    TarballError::Shape(reason)
}

/// Tells a damaged archive from a disk that cannot be read.
fn trouble(error: io::Error) -> TarballError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => shape("it is cut short".to_owned()),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            shape(format!("it cannot be decompressed ({error})"))
        }
        _ => TarballError::Read(error),
    }
}

#[cfg(test)]
mod tests;
