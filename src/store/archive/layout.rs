//! Where the parts of a zip lie: one after the other from its first byte to its last, with nothing
//! before, between or behind.
//!
//! What no entry and no header covers could be another zip to another reader.

use std::io;

use zip::read::ZipArchive;
use zip::result::ZipResult;

use super::read_exact_at;
use crate::store::bytes::{Bytes, Reader};

/// The length of the record at the end of a zip without a comment.
pub(super) const END_BYTES: u64 = 22;
const LOCAL_HEADER_BYTES: u64 = 30;
const DIRECTORY_HEADER_BYTES: u64 = 46;
/// The flag of an entry whose sizes follow its body, because its writer did not know them before.
const SIZES_FOLLOW: u16 = 1 << 3;

/// A part of the file: its first byte and the one after its last.
type Span = (u64, u64);

/// Returns where the first gap or overlap is, if there is one.
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn find_gap(zip: &ZipArchive<Reader>, bytes: &impl Bytes) -> ZipResult<Option<u64>> {
    let directory_start = zip.central_directory_start();
    let mut spans = Vec::with_capacity(2 * zip.len() + 1);
    for place in 0..zip.len() {
        let entry = zip.by_index_data(place)?;
        let header = DirectoryHeader::read(bytes, entry.central_header_start())?;
        let mut body = body_span(bytes, entry.header_start(), entry.compressed_size())?;
        if header.flags & SIZES_FOLLOW != 0 && body.1 < directory_start {
            body.1 += sizes_bytes(bytes, body.1)?;
        }
        spans.extend([header.span, body]);
    }
    let size = bytes.size()?;
    spans.push((size - END_BYTES, size));
    spans.sort_unstable();
    let mut end = 0;
    for (start, next_end) in spans {
        let is_in_its_part = start >= directory_start || next_end <= directory_start;
        if start != end || !is_in_its_part {
            return Ok(Some(end));
        }
        end = next_end;
    }
    Ok(None)
}

/// The header of an entry in the directory, with the name and all that follows it.
struct DirectoryHeader {
    span: Span,
    flags: u16,
}

impl DirectoryHeader {
    fn read(bytes: &impl Bytes, start: u64) -> io::Result<Self> {
        let mut header = [0; DIRECTORY_HEADER_BYTES as usize];
        read_exact_at(bytes, &mut header, start)?;
        let number = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        let following: u64 = [28, 30, 32].map(|at| u64::from(number(at))).into_iter().sum();
        let end = start + DIRECTORY_HEADER_BYTES + following;
        Ok(DirectoryHeader { span: (start, end), flags: number(8) })
    }
}

/// An entry before the directory: header, name and body.
fn body_span(bytes: &impl Bytes, start: u64, packed_bytes: u64) -> io::Result<Span> {
    let mut lengths = [0; 4];
    read_exact_at(bytes, &mut lengths, start + 26)?;
    let [name_low, name_high, extra_low, extra_high] = lengths;
    let name_bytes = u64::from(u16::from_le_bytes([name_low, name_high]));
    let extra_bytes = u64::from(u16::from_le_bytes([extra_low, extra_high]));
    let body_start = start + LOCAL_HEADER_BYTES + name_bytes + extra_bytes;
    Ok((start, body_start.saturating_add(packed_bytes)))
}

/// The length of the sizes that follow a body: writers may or may not mark them.
fn sizes_bytes(bytes: &impl Bytes, at: u64) -> io::Result<u64> {
    let mut mark = [0; 4];
    read_exact_at(bytes, &mut mark, at)?;
    Ok(if &mark == b"PK\x07\x08" { 16 } else { 12 })
}
