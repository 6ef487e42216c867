//! The FASTA text of the Benchmarks Game: input of some programs, expected output of one.
//!
//! Three sequences of 2N, 3N and 5N letters, sixty a line. The first repeats a fixed piece of DNA; the letters of the
//! others are drawn with a linear congruential generator that has only 139,968 states. All three are thus periodic, and
//! so is their text: after the least common multiple of period and line length it starts anew. That much is made once
//! and copied out until the sequence is complete, at the speed of memory and in memory that does not grow with N.
//!
//! The programs under test must do one step of the generator for each letter and compare floating-point numbers. Neither
//! happens here; that makes this text a reference for theirs. Probabilities are exact integers.

use std::io::{self, Write};

/// SHA-256 of the text for some N: of the Benchmarks Game's sample (1000), and of what the game's own
/// programs write (the full-size inputs of regex-redux, k-nucleotide and reverse-complement).
pub const PUBLISHED_SHA256: [(u64, &str); 4] = [
    (1_000, "62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73"),
    (5_000_000, "97197f5957a12f8a859ba7edff6d97994daa18afacd77db21fa68c6f2e447e38"),
    (25_000_000, "3fcf4f78104c8a65ef210fe1d469f4e473456c791225f2f1f9114f4986aa09fa"),
    (100_000_000, "10bb5a4a5aa8e6f5413f97c25a35bf0082396ca3b3bc769339443c9491776db3"),
];

const LINE_LETTERS: usize = 60;

/// What each sequence begins with, how many times N letters it has, and which.
const SEQUENCES: [(&str, u64, Letters); 3] = [
    (">ONE Homo sapiens alu\n", 2, Letters::Repeated(ALU)),
    (">TWO IUB ambiguity codes\n", 3, Letters::Drawn(&IUB)),
    (">THREE Homo sapiens frequency\n", 5, Letters::Drawn(&HOMO_SAPIENS)),
];

/// Where the letters of a sequence come from.
enum Letters {
    /// This piece, over and over.
    Repeated(&'static [u8]),
    /// The generator, a letter as often as its weight says.
    Drawn(&'static [Weight]),
}

const ALU: &[u8; 287] = b"\
    GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACCTGAGG\
    TCAGGAGTTCGAGACCAGCCTGGCCAACATGGTGAAACCCCGTCTCTACTAAAAATACAAAAATTAGCCG\
    GGCGTGGTGGCGCGCGCCTGTAATCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATCGCTTGAACCCGGG\
    AGGCGGAGGTTGCAGTGAGCCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTC\
    TCAAAAA";

/// The probability 1; the task gives thirteen decimals at most.
const CERTAIN: u64 = 10_000_000_000_000;

/// A letter and its probability, in parts of [`CERTAIN`].
type Weight = (u8, u64);

const IUB: [Weight; 15] = [
    (b'a', CERTAIN / 100 * 27),
    (b'c', CERTAIN / 100 * 12),
    (b'g', CERTAIN / 100 * 12),
    (b't', CERTAIN / 100 * 27),
    (b'B', CERTAIN / 100 * 2),
    (b'D', CERTAIN / 100 * 2),
    (b'H', CERTAIN / 100 * 2),
    (b'K', CERTAIN / 100 * 2),
    (b'M', CERTAIN / 100 * 2),
    (b'N', CERTAIN / 100 * 2),
    (b'R', CERTAIN / 100 * 2),
    (b'S', CERTAIN / 100 * 2),
    (b'V', CERTAIN / 100 * 2),
    (b'W', CERTAIN / 100 * 2),
    (b'Y', CERTAIN / 100 * 2),
];

const HOMO_SAPIENS: [Weight; 4] = [
    (b'a', 3_029_549_426_680),
    (b'c', 1_979_883_004_921),
    (b'g', 1_975_473_066_391),
    (b't', 3_015_094_502_008),
];

/// Writes the FASTA text for `n` to `out`.
///
/// `out` gets few, large writes (up to 700 KiB) and is not flushed. Uses about 1 MiB of memory for any `n`.
///
/// # Errors
///
/// The first error of `out`; how much it has then taken is unknown.
///
/// Source: the fasta task of the Benchmarks Game.
pub fn write_fasta(n: u64, out: &mut impl Write) -> io::Result<()> {
    sequences(n).iter().try_for_each(|sequence| sequence.write(out))
}

/// Returns the length in bytes of what [`write_fasta`] writes, without writing it.
///
/// Saturates at lengths that cannot be written in a lifetime.
pub fn fasta_bytes(n: u64) -> u64 {
    SEQUENCES.iter().fold(0, |bytes: u64, (header, times, _)| {
        let letters = n.saturating_mul(*times);
        let newlines = letters.div_ceil(LINE_LETTERS as u64);
        bytes.saturating_add(header.len() as u64).saturating_add(letters).saturating_add(newlines)
    })
}

/// One of the three sequences.
pub(super) struct Sequence {
    /// The line it begins with, newline included.
    pub(super) header: &'static str,
    /// The letters it repeats; the last repetition may be incomplete.
    pub(super) period: Vec<u8>,
    /// How many letters it has.
    pub(super) length: u64,
}

/// Returns the sequences of the text for `n`, in their order.
pub(super) fn sequences(n: u64) -> [Sequence; 3] {
    let mut generator = Generator { state: 42 };
    // The third sequence goes on with the state in which the second one ends.
    SEQUENCES.map(|(header, times, letters)| {
        let length = n.saturating_mul(times);
        let period = match letters {
            Letters::Repeated(letters) => letters.to_vec(),
            Letters::Drawn(weights) => generator.draw(weights, length),
        };
        Sequence { header, period, length }
    })
}

/// The task's linear congruential generator; it visits all [`Generator::STATES`] states before it returns to the first.
struct Generator {
    state: u64,
}

impl Generator {
    const STATES: u64 = 139_968;

    fn step(&mut self) {
        self.state = (self.state * 3877 + 29573) % Self::STATES;
    }

    /// Draws `length` letters, of which it returns the first; those that follow repeat them when they are
    /// [`Generator::STATES`] many.
    fn draw(&mut self, weights: &[Weight], length: u64) -> Vec<u8> {
        let mut ahead = Self { state: self.state };
        let letters = (0..length.min(Self::STATES)).map(|_| {
            ahead.step();
            ahead.letter(weights)
        });
        let letters = letters.collect();
        for _ in 0..length % Self::STATES {
            self.step();
        }
        letters
    }

    /// Returns the first letter whose cumulative probability is at least the state's share of all states.
    fn letter(&self, weights: &[Weight]) -> u8 {
        let mut cumulative = 0;
        for (letter, weight) in weights {
            cumulative += weight;
            // state / STATES <= cumulative / CERTAIN; neither product reaches 2^61.
            if self.state * CERTAIN <= cumulative * Self::STATES {
                return *letter;
            }
        }
        unreachable!("the weights add up to CERTAIN, and the state is less than STATES")
    }
}

impl Sequence {
    /// Writes the header and the letters, with a newline after every sixty and after the last.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.header.as_bytes())?;
        write_lines(&self.period, self.length, out)
    }
}

/// Writes `length` letters, the letters of `period` over and over, with a newline after every sixty and after the last.
fn write_lines(period: &[u8], length: u64, out: &mut impl Write) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let text = text_period(period, length);
    let full_lines = length / LINE_LETTERS as u64;
    let mut left = length.saturating_add(full_lines);
    while left > text.len() as u64 {
        out.write_all(&text)?;
        left -= text.len() as u64;
    }
    out.write_all(&text[..usize::try_from(left).expect("at most the length of a slice")])?;
    if length.is_multiple_of(LINE_LETTERS as u64) { Ok(()) } else { out.write_all(b"\n") }
}

/// Returns lines of `period` over and over, as many as it takes until a line starts as the first one does, or until
/// there are `length` letters.
fn text_period(period: &[u8], length: u64) -> Vec<u8> {
    let lines = period.len() / greatest_common_divisor(period.len(), LINE_LETTERS);
    let lines = length.div_ceil(LINE_LETTERS as u64).min(lines as u64) as usize;
    let mut letters = period.iter().copied().cycle();
    let mut text = Vec::with_capacity(lines * (LINE_LETTERS + 1));
    for _ in 0..lines {
        text.extend(letters.by_ref().take(LINE_LETTERS));
        text.push(b'\n');
    }
    text
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests;
