//! Where the entries of a zip lie: one after the other from its first byte to its directory, with
//! nothing before, between or behind.
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
/// The flag of an entry whose sizes follow its body, because its writer did not know them before.
const SIZES_FOLLOW: u16 = 1 << 3;

/// A part of the file: its first byte and the one after its last.
type Span = (u64, u64);

/// Returns where the first gap or overlap is, if there is one.
///
/// From the directory on, nothing is looked at: that its records fill the rest is checked already.
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn find_gap(zip: &ZipArchive<Reader>, bytes: &impl Bytes) -> ZipResult<Option<u64>> {
    let directory_start = zip.central_directory_start();
    let mut spans = Vec::with_capacity(zip.len());
    for place in 0..zip.len() {
        let entry = zip.by_index_data(place)?;
        let mut body = body_span(bytes, entry.header_start(), entry.compressed_size())?;
        if flags(bytes, entry.central_header_start())? & SIZES_FOLLOW != 0
            && body.1 < directory_start
        {
            body.1 += sizes_bytes(bytes, body.1)?;
        }
        spans.push(body);
    }
    spans.sort_unstable();
    let mut end = 0;
    for (start, next_end) in spans {
        if start != end {
            return Ok(Some(end));
        }
        end = next_end;
    }
    Ok((end != directory_start).then_some(end))
}

/// The flags in the directory's record of an entry.
fn flags(bytes: &impl Bytes, record_start: u64) -> io::Result<u16> {
    let mut flags = [0; 2];
    read_exact_at(bytes, &mut flags, record_start + 8)?;
    Ok(u16::from_le_bytes(flags))
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
