//! What the reverse-complement task makes of the FASTA text: the expected output of that task.
//!
//! The programs under test read the text line by line, look up each letter, and turn whole sequences around. Here
//! nothing is read: each sequence of the text repeats a period ([`super::fasta`]), so its reverse complement repeats the
//! reverse complement of that period, from another place on. At most 139,968 letters are complemented, whatever N is;
//! the rest is copied, as fast as the FASTA text itself.

use super::fasta::{Sequence, sequences};
use std::io::{self, Write};

/// SHA-256 of the output for some N: of the Benchmarks Game's sample (1000), and of what the game's own programs write.
pub const PUBLISHED_SHA256: [(u64, &str); 3] = [
    (1_000, "549dcdcc7df2685145e6cbdfd682469bd9c12ff1beec93c270f8ba447acd4855"),
    (25_000_000, "e5730d4fd55c464f276e5c6062c80f46e0a735281de15d8c957e2731a9baf70e"),
    (100_000_000, "05555f3f43fe8a9b07b784a73c0ca7241dc1844f02eabf8c99fa60a404e4de08"),
];

/// Writes the output of the reverse-complement task for the FASTA text of `n` to `out`.
///
/// It is as long as that text ([`super::fasta::fasta_bytes`]). `out` gets few, large writes (up to 700 KiB) and is not
/// flushed. Uses about 1 MiB of memory for any `n`.
///
/// # Errors
///
/// The first error of `out`; how much it has then taken is unknown.
///
/// Source: the reverse-complement task of the Benchmarks Game.
pub fn write_reverse_complement(n: u64, out: &mut impl Write) -> io::Result<()> {
    sequences(n).into_iter().try_for_each(|sequence| reverse_complement(sequence).write(out))
}

/// Turns a sequence around and replaces each letter by its complement; the header stays.
fn reverse_complement(mut sequence: Sequence) -> Sequence {
    if let Some(incomplete) = sequence.length.checked_rem(sequence.period.len() as u64) {
        // The letters of an incomplete last repetition come first once the sequence is turned around.
        sequence.period.rotate_left(incomplete as usize);
        sequence.period.reverse();
    }
    for letter in &mut sequence.period {
        *letter = complement(*letter);
    }
    sequence
}

/// The letter that pairs with a letter of the IUB code of nucleic acids, in upper case.
///
/// What stands for a set of bases is paired with what stands for the set of their complements.
fn complement(letter: u8) -> u8 {
    match letter.to_ascii_uppercase() {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' => b'A',
        b'B' => b'V',
        b'D' => b'H',
        b'H' => b'D',
        b'K' => b'M',
        b'M' => b'K',
        b'R' => b'Y',
        b'V' => b'B',
        b'Y' => b'R',
        symmetric @ (b'N' | b'S' | b'W') => symmetric,
        other => unreachable!("no letter of the FASTA text: {}", other.escape_ascii()),
    }
}

#[cfg(test)]
mod tests;
