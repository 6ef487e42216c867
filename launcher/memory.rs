//! The functions on memory that compiled Rust calls by name and that a C library would provide.
//!
//! They handle a few kilobytes per run, outside the measured time, so they are plain loops. The
//! accesses are volatile only to keep the compiler from recognising a loop as the very function it
//! is part of.

/// Copies `count` bytes between regions that do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for i in 0..count {
        // SAFETY: the caller vouches for `count` bytes at both ends.
        unsafe { to.add(i).write_volatile(from.add(i).read()) };
    }
    to
}

/// Copies `count` bytes between regions that may overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if to.cast_const() <= from {
        // SAFETY: as for `memcpy`; copying upwards never overwrites what is still to be read.
        return unsafe { memcpy(to, from, count) };
    }
    for i in (0..count).rev() {
        // SAFETY: as for `memcpy`.
        unsafe { to.add(i).write_volatile(from.add(i).read()) };
    }
    to
}

/// Fills `count` bytes with the low byte of `value`.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    for i in 0..count {
        // SAFETY: the caller vouches for `count` bytes.
        unsafe { to.add(i).write_volatile(value as u8) };
    }
    to
}

/// Compares byte by byte: negative, zero or positive.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for i in 0..count {
        // SAFETY: the caller vouches for `count` bytes at both ends.
        let (a, b) = unsafe { (left.add(i).read_volatile(), right.add(i).read_volatile()) };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// Compares for equality: zero or not.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: the same contract.
    unsafe { memcmp(left, right, count) }
}

/// Measures a NUL-terminated string.
#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const u8) -> usize {
    let mut length = 0;
    // SAFETY: the caller vouches for a NUL byte; nothing beyond it is read.
    while unsafe { text.add(length).read_volatile() } != 0 {
        length += 1;
    }
    length
}
