//! A writer of zips that writes whatever it is told, right or wrong.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

pub const STORED: u16 = 0;
pub const DEFLATED: u16 = 8;
/// The attributes of a plain file, as written on Unix.
pub const PLAIN_FILE: u32 = 0o100_644 << 16;

/// A zip in parts. What is `Some` or not empty is a lie or an extra; the rest is as it should be.
#[derive(Clone, Default)]
pub struct Zip {
    pub entries: Vec<Entry>,
    /// Bytes before the first entry, between the entries and the directory, after everything.
    pub before: Vec<u8>,
    pub gap: Vec<u8>,
    pub after: Vec<u8>,
    pub comment: Vec<u8>,
    /// Bytes between the directory and the end record.
    pub before_end: Vec<u8>,
    /// What the end record says.
    pub announced_entries: Option<u16>,
    pub directory_bytes: Option<u32>,
    pub directory_start: Option<u32>,
    pub disk: u16,
}

#[derive(Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    pub content: Vec<u8>,
    pub method: u16,
    pub flags: u16,
    pub attributes: u32,
    /// The extra field of the directory's header.
    pub extra: Vec<u8>,
    /// What the headers say of the content.
    pub crc: Option<u32>,
    pub size: Option<u32>,
    pub packed_size: Option<u32>,
    /// What only the local header says.
    pub local_name: Option<Vec<u8>>,
    pub local_size: Option<u32>,
    pub local_method: Option<u16>,
    /// Where the directory says that the local header is.
    pub offset: Option<u32>,
    /// Bytes after the body that nothing tells of.
    pub padding: Vec<u8>,
    /// Left out of the directory, or of the body.
    pub is_unlisted: bool,
    pub is_bodiless: bool,
    /// Written as Go's own writer does: sizes after the content, none in the local header.
    pub is_streamed: bool,
}

impl Entry {
    pub fn new(name: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        Entry {
            name: name.into(),
            content: content.into(),
            method: DEFLATED,
            flags: 0,
            attributes: PLAIN_FILE,
            extra: Vec::new(),
            crc: None,
            size: None,
            packed_size: None,
            local_name: None,
            local_size: None,
            local_method: None,
            offset: None,
            padding: Vec::new(),
            is_unlisted: false,
            is_bodiless: false,
            is_streamed: false,
        }
    }

    fn packed(&self) -> Vec<u8> {
        if self.method == STORED {
            return self.content.clone();
        }
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&self.content).unwrap();
        encoder.finish().unwrap()
    }

    /// Checksum, packed size, size, as the headers have them.
    fn sums(&self, packed: &[u8]) -> [u32; 3] {
        let mut crc = Crc::new();
        crc.update(&self.content);
        [
            self.crc.unwrap_or(crc.sum()),
            self.packed_size.unwrap_or(packed.len() as u32),
            self.size.unwrap_or(self.content.len() as u32),
        ]
    }

    fn flags(&self) -> u16 {
        if self.is_streamed { self.flags | 1 << 3 } else { self.flags }
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        let packed = self.packed();
        let [crc, packed_size, size] = self.sums(&packed);
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let local = match self.is_streamed {
            true => [0, 0, 0],
            false => [crc, packed_size, self.local_size.unwrap_or(size)],
        };
        out.extend(b"PK\x03\x04");
        put16(out, [20, self.flags(), self.local_method.unwrap_or(self.method), 0, 0x21]);
        put32(out, local);
        put16(out, [name.len() as u16, 0]);
        out.extend(name);
        out.extend(packed);
        if self.is_streamed {
            out.extend(b"PK\x07\x08");
            put32(out, [crc, packed_size, size]);
        }
        out.extend(&self.padding);
    }

    fn write_header(&self, out: &mut Vec<u8>, offset: u32) {
        out.extend(b"PK\x01\x02");
        put16(out, [3 << 8 | 20, 20, self.flags(), self.method, 0, 0x21]);
        put32(out, self.sums(&self.packed()));
        put16(out, [self.name.len() as u16, self.extra.len() as u16, 0, 0, 0]);
        put32(out, [self.attributes, self.offset.unwrap_or(offset)]);
        out.extend(&self.name);
        out.extend(&self.extra);
    }
}

impl Zip {
    /// The entry whose name ends so.
    pub fn entry(&mut self, name: &str) -> &mut Entry {
        let found = self.entries.iter_mut().find(|entry| entry.name.ends_with(name.as_bytes()));
        found.expect("the zip has such an entry")
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.before.clone();
        let mut offsets = Vec::new();
        for entry in &self.entries {
            offsets.push(out.len() as u32);
            if !entry.is_bodiless {
                entry.write_body(&mut out);
            }
        }
        out.extend(&self.gap);
        let start = out.len();
        for (entry, offset) in self.entries.iter().zip(offsets) {
            if !entry.is_unlisted {
                entry.write_header(&mut out, offset);
            }
        }
        let directory_bytes = (out.len() - start) as u32;
        let listed = self.entries.iter().filter(|entry| !entry.is_unlisted).count() as u16;
        let announced = self.announced_entries.unwrap_or(listed);
        out.extend(&self.before_end);
        out.extend(b"PK\x05\x06");
        put16(&mut out, [self.disk, self.disk, announced, announced]);
        put32(&mut out, [self.directory_bytes.unwrap_or(directory_bytes)]);
        put32(&mut out, [self.directory_start.unwrap_or(start as u32)]);
        put16(&mut out, [self.comment.len() as u16]);
        out.extend(&self.comment);
        out.extend(&self.after);
        out
    }

    /// Where the directory starts and how long it is, as long as nothing lies about it.
    pub fn directory(&self) -> (u32, u32) {
        let bytes = self.bytes();
        let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
        let number =
            |at: usize| u32::from_le_bytes(bytes[end + at..end + at + 4].try_into().unwrap());
        (number(16), number(12))
    }
}

/// The end record and its locator of the 64-bit extension, announcing a directory.
pub fn zip64_end(entries: u64, bytes: u64, start: u64, own_offset: u64) -> Vec<u8> {
    let mut out = b"PK\x06\x06".to_vec();
    put64(&mut out, [44]);
    put16(&mut out, [45, 45]);
    put32(&mut out, [0, 0]);
    put64(&mut out, [entries, entries, bytes, start]);
    out.extend(b"PK\x06\x07");
    put32(&mut out, [0]);
    put64(&mut out, [own_offset]);
    put32(&mut out, [1]);
    out
}

/// The extra field of the 64-bit extension with a size and a packed size.
pub fn zip64_extra(size: u64, packed_size: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put16(&mut out, [1, 16]);
    put64(&mut out, [size, packed_size]);
    out
}

fn put16(out: &mut Vec<u8>, values: impl IntoIterator<Item = u16>) {
    out.extend(values.into_iter().flat_map(u16::to_le_bytes));
}

fn put32(out: &mut Vec<u8>, values: impl IntoIterator<Item = u32>) {
    out.extend(values.into_iter().flat_map(u32::to_le_bytes));
}

fn put64(out: &mut Vec<u8>, values: impl IntoIterator<Item = u64>) {
    out.extend(values.into_iter().flat_map(u64::to_le_bytes));
}
