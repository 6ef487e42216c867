//! How much of an answer is read before it is refused.
//!
//! The zip limits are the go command's own; the others are far above anything a working server
//! sends (a list of every toolchain is about 0.3 MiB, a lookup about 400 bytes).

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// A module zip. Source: `MaxZipFile` of golang.org/x/mod/zip.
pub const ZIP_BYTES: u64 = 500 * MIB;

/// All files of a module zip together, unpacked. Source: `MaxZipFile` of golang.org/x/mod/zip.
pub const UNPACKED_BYTES: u64 = 500 * MIB;

/// Entries of a module zip. The largest toolchain has about 12,000.
pub const ZIP_ENTRIES: usize = 100_000;

/// A proxy's list of versions.
pub const LIST_BYTES: u64 = 4 * MIB;

/// A proxy's `.info` or `.mod`.
pub const INFO_BYTES: u64 = 64 * KIB;

/// A checksum database's answer to a lookup, or its newest head.
pub const LOOKUP_BYTES: u64 = 64 * KIB;

/// A tile of hashes: 256 of 32 bytes.
pub const TILE_BYTES: u64 = 8 * KIB;
