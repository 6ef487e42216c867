//! The picture of the mandelbrot task: the expected output of that task.
//!
//! A pixel is black if the orbit of 0 under z² + c stays within |z| ≤ 2 for fifty steps in plain double precision. The
//! programs under test find that out by iterating every pixel. Here nine tenths of the black pixels are never iterated: a
//! formula tells that they lie in the two largest parts of the set, the main cardioid and the disc left of it. That
//! decides exactly as the iteration does, because
//!
//! * in both parts the exact orbit stays below |z| = 1.27;
//! * an error made in one step is multiplied by 2|z| in each later one, and the product of these factors stays below 110
//!   for any stretch of fifty steps of such an orbit (both bounds by evaluation on a grid of 20,000 points of each part,
//!   edges included);
//! * so fifty roundings of less than 2⁻⁵⁰ each move the computed orbit by less than 10⁻¹¹, nowhere near |z| = 2.
//!
//! All other pixels are iterated, with the same operations in the same order, since near the edge of the set the last bit of
//! an operation can decide. Nothing there depends on what the processor or the compiler offers: Rust never fuses a
//! multiplication with an addition, nor does it reorder them.

use std::io::{self, Write};

/// SHA-256 of the picture for some N: of the Benchmarks Game's sample (200), and of what the game's own programs write.
pub const PUBLISHED_SHA256: [(u64, &str); 2] = [
    (200, "97610473750700638fc63d13cfa49d339b67c18e7f26b3f9c9acb61e746472d5"),
    (16_000, "609262469ee6a0262ccd03932e557f745c9e7b997ad17835a02a0232a64807be"),
];

const STEPS: usize = 50;
/// After so many steps of a group of pixels it is asked whether all have escaped. A divisor of [`STEPS`].
const STEPS_AT_ONCE: usize = 5;
/// How far inside the cardioid or the disc a point must be not to be iterated, in the units of the formulas:
/// a million times what their rounding amounts to.
const MARGIN: f64 = 1e-9;

/// Pixels computed together: the bits of one byte. Enough for the processor to work on several at any time.
const LANES: usize = 8;
type Lanes = [f64; LANES];

/// Writes the picture of `n` × `n` pixels to `out`, as PBM: a header, then one bit a pixel, each row padded to a byte.
///
/// `out` gets a write a row and is not flushed. Uses memory for one row.
///
/// # Errors
///
/// The first error of `out`; how much it has then taken is unknown.
///
/// Source: the mandelbrot task of the Benchmarks Game; pbm(5).
pub fn write_mandelbrot(n: u64, out: &mut impl Write) -> io::Result<()> {
    out.write_all(header(n).as_bytes())?;
    let real_parts: Vec<Lanes> = (0..n.div_ceil(LANES as u64))
        .map(|byte| {
            std::array::from_fn(|lane| coordinate(byte * LANES as u64 + lane as u64, n) - 1.5)
        })
        .collect();
    let no_padding = u8::MAX << (n.next_multiple_of(8) - n);
    let mut row = Vec::with_capacity(real_parts.len());
    for y in 0..n {
        let imaginary = coordinate(y, n) - 1.0;
        row.clear();
        row.extend(real_parts.iter().map(|real| black_pixels(real, imaginary)));
        if let Some(last) = row.last_mut() {
            *last &= no_padding;
        }
        out.write_all(&row)?;
    }
    Ok(())
}

/// Returns the length in bytes of what [`write_mandelbrot`] writes, without writing it.
///
/// Saturates at lengths that cannot be written in a lifetime.
pub fn mandelbrot_bytes(n: u64) -> u64 {
    n.div_ceil(8).saturating_mul(n).saturating_add(header(n).len() as u64)
}

fn header(n: u64) -> String {
    format!("P4\n{n} {n}\n")
}

/// How far along its axis, which is 2 long, a pixel lies.
fn coordinate(pixel: u64, n: u64) -> f64 {
    2.0 * pixel as f64 / n as f64
}

/// Decides [`LANES`] neighbours; the leftmost pixel is the highest bit, 1 is black.
fn black_pixels(real: &Lanes, imaginary: f64) -> u8 {
    if real.iter().all(|real| is_surely_black(*real, imaginary)) {
        return u8::MAX;
    }
    iterate(real, imaginary)
}

/// Does the point lie in the main cardioid, or in the disc of radius 1/4 around −1, and not at the edge?
fn is_surely_black(real: f64, imaginary: f64) -> bool {
    let square = imaginary * imaginary;
    let from_cusp = real - 0.25;
    let distance = from_cusp * from_cusp + square;
    let from_centre = real + 1.0;
    (distance * (distance + from_cusp) + MARGIN < square / 4.0)
        | (from_centre * from_centre + square + MARGIN < 1.0 / 16.0)
}

/// Decides [`LANES`] neighbours by following their orbits.
///
/// An orbit beyond 2 never returns, as |c| < 2 everywhere, so it is enough to look now and then; numbers may overflow by
/// then, and the comparison below is false for what comes of that.
fn iterate(real: &Lanes, imaginary: f64) -> u8 {
    let mut z_real: Lanes = [0.0; LANES];
    let mut z_imaginary: Lanes = [0.0; LANES];
    let mut bits = 0;
    for _ in 0..STEPS / STEPS_AT_ONCE {
        for _ in 0..STEPS_AT_ONCE {
            step(&mut z_real, &mut z_imaginary, real, imaginary);
        }
        bits = within_two(&z_real, &z_imaginary);
        if bits == 0 {
            break;
        }
    }
    bits
}

/// Replaces each z by z² + c.
#[inline(always)]
fn step(z_real: &mut Lanes, z_imaginary: &mut Lanes, real: &Lanes, imaginary: f64) {
    for lane in 0..LANES {
        let (x, y) = (z_real[lane], z_imaginary[lane]);
        z_real[lane] = x * x - y * y + real[lane];
        z_imaginary[lane] = 2.0 * x * y + imaginary;
    }
}

/// The lanes with |z| ≤ 2, the first as the highest bit.
#[inline(always)]
fn within_two(z_real: &Lanes, z_imaginary: &Lanes) -> u8 {
    (0..LANES).fold(0, |bits, lane| {
        let (x, y) = (z_real[lane], z_imaginary[lane]);
        bits << 1 | u8::from(x * x + y * y <= 4.0)
    })
}

#[cfg(test)]
mod tests;
