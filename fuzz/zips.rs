//! What must hold of a module zip, whatever its bytes are.

use std::ops::Range;

use gosurvey::module::{check_entries, limits};
use gosurvey::store::Archive;
use sha2::{Digest as _, Sha256};

/// What every name starts with.
pub const PREFIX: &str = "m@v1/";

/// A zip that opens holds exactly what its directory says.
pub fn zip(bytes: &[u8]) {
    unpack(bytes);
}

/// Unpacks a zip and checks it against its directory, read a second time in another way.
///
/// Returns the names and contents of its files, or `None` if the zip is refused or damaged.
pub fn unpack(bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut archive = Archive::open(bytes.to_vec(), PREFIX).ok()?;
    let directory = Directory::read(bytes);
    let names: Vec<&str> = archive.entries().iter().map(|entry| entry.name.as_str()).collect();
    assert!(check_entries(PREFIX, names.iter().copied()).is_ok());
    assert!(archive.unpacked_bytes() <= limits::UNPACKED_BYTES);
    let declared = archive.entries().iter().map(|e| (e.name.as_bytes(), e.size_bytes));
    assert!(declared.eq(directory.0.iter().map(|header| (header.name, header.size_bytes))));
    directory.check_places();

    let mut files = Vec::new();
    let mut is_whole = true;
    let mut other = archive.clone();
    for place in (0..archive.entries().len()).rev() {
        let entry = archive.entries()[place].clone();
        let (mut content, mut again) = (Vec::new(), Vec::new());
        let copied = archive.copy(place, &mut content).expect("memory can be written");
        let copied_again = other.copy(place, &mut again).expect("memory can be written");
        assert_eq!(copied.sha256, <[u8; 32]>::from(Sha256::digest(&content)));
        assert_eq!((copied.sha256, &content), (copied_again.sha256, &again));
        assert!(content.len() as u64 <= entry.size_bytes, "more than declared");
        match copied.damage {
            Some(damage) => {
                assert!(damage.to_string().contains("zip entry"), "{damage}");
                is_whole = false;
            }
            None => directory.0[place].check_content(bytes, &content),
        }
        files.push((entry.name, content));
    }
    files.reverse();
    is_whole.then_some(files)
}

/// The central directory, as simple as the format allows.
struct Directory<'a>(Vec<Header<'a>>);

struct Header<'a> {
    name: &'a [u8],
    method: usize,
    crc: usize,
    size_bytes: u64,
    /// From its local header to the end of its content.
    place: Range<usize>,
    content: Range<usize>,
    /// Where the directory starts.
    end: usize,
}

fn number(bytes: &[u8], at: usize, length: usize) -> usize {
    bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}

impl<'a> Directory<'a> {
    /// Reads the directory of a zip that was accepted, so everything has its place.
    fn read(bytes: &'a [u8]) -> Self {
        let end = bytes.len() - 22;
        let start = number(bytes, end + 16, 4);
        let mut headers = Vec::new();
        let mut at = start;
        while at < end {
            assert_eq!(&bytes[at..at + 4], b"PK\x01\x02");
            headers.push(Header::read(bytes, at, start));
            at += 46 + [28, 30, 32].map(|field| number(bytes, at + field, 2)).iter().sum::<usize>();
        }
        assert_eq!(at, end);
        assert_eq!(headers.len(), number(bytes, end + 10, 2));
        Directory(headers)
    }

    /// No two files share a byte, and none reaches into the directory.
    fn check_places(&self) {
        let mut places: Vec<&Range<usize>> = self.0.iter().map(|header| &header.place).collect();
        places.sort_by_key(|place| place.start);
        assert!(places.windows(2).all(|pair| pair[0].end <= pair[1].start), "{places:?}");
        assert!(self.0.iter().all(|header| header.place.end <= header.end));
    }
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8], at: usize, end: usize) -> Self {
        let name = &bytes[at + 46..at + 46 + number(bytes, at + 28, 2)];
        let method = number(bytes, at + 10, 2);
        let local = number(bytes, at + 42, 4);
        assert_eq!(&bytes[local..local + 4], b"PK\x03\x04");
        assert_eq!(number(bytes, local + 8, 2), method, "two methods");
        let local_name_bytes = number(bytes, local + 26, 2);
        assert_eq!(&bytes[local + 30..local + 30 + local_name_bytes], name, "two names");
        let start = local + 30 + local_name_bytes + number(bytes, local + 28, 2);
        let content = start..start + number(bytes, at + 20, 4);
        Header {
            name,
            method,
            crc: number(bytes, at + 16, 4),
            size_bytes: number(bytes, at + 24, 4) as u64,
            place: local..content.end,
            content,
            end,
        }
    }

    fn check_content(&self, bytes: &[u8], content: &[u8]) {
        assert_eq!(content.len() as u64, self.size_bytes);
        assert_eq!(crc32(content), self.crc);
        if self.method == 0 {
            assert_eq!(content, &bytes[self.content.clone()]);
        }
    }
}

/// Source: RFC 1952, section 8.
fn crc32(content: &[u8]) -> usize {
    let fold = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !content.iter().fold(!0, fold) as usize
}
