use super::*;
use crate::digest::Digester;
use crate::suite::fasta::{fasta_bytes, write_fasta};
use proptest::prelude::*;

fn output(n: u64) -> Vec<u8> {
    let mut text = Vec::new();
    write_reverse_complement(n, &mut text).unwrap();
    text
}

/// The task as its description has it, on the whole text in memory.
fn plain_output(n: u64) -> Vec<u8> {
    let mut fasta = Vec::new();
    write_fasta(n, &mut fasta).unwrap();
    let mut output = Vec::new();
    for sequence in String::from_utf8(fasta).unwrap().split_inclusive('>').skip(1) {
        let (header, lines) = sequence.split_once('\n').unwrap();
        output.extend_from_slice(format!(">{header}\n").as_bytes());
        let pairs = "ATCGGCTAMKRYWWSSYRKMVBHDDHBVNN".as_bytes().chunks(2);
        let pairs: std::collections::BTreeMap<u8, u8> = pairs.map(|p| (p[0], p[1])).collect();
        let letters = lines.bytes().rev().filter(u8::is_ascii_alphabetic);
        let letters: Vec<u8> = letters.map(|l| pairs[&l.to_ascii_uppercase()]).collect();
        for line in letters.chunks(60) {
            output.extend_from_slice(line);
            output.push(b'\n');
        }
    }
    output
}

fn assert_published(n: u64) {
    let (_, published) = PUBLISHED_SHA256.into_iter().find(|(known, _)| *known == n).unwrap();
    let mut digester = Digester::default();
    write_reverse_complement(n, &mut digester).unwrap();
    assert_eq!(digester.finish().sha256(), published);
}

#[test]
fn published_digests_are_met() {
    assert_published(1_000);
    assert_published(25_000_000);
}

#[test]
#[ignore = "hashes a gigabyte"]
fn published_digest_of_the_largest_is_met() {
    assert_published(100_000_000);
}

#[test]
fn each_sequence_is_turned_around_under_its_own_header() {
    insta::assert_snapshot!(String::from_utf8(output(1)).unwrap(), @r"
    >ONE Homo sapiens alu
    CC
    >TWO IUB ambiguity codes
    AAG
    >THREE Homo sapiens frequency
    GCTCA
    ");
    insta::assert_snapshot!(String::from_utf8(output(13)).unwrap(), @r"
    >ONE Homo sapiens alu
    ACAGGCGTGAGCCACCGCGCCCGGCC
    >TWO IUB ambiguity codes
    AYHGHTTTACATSTTTATGNCCMTAGCATATGATAVAAG
    >THREE Homo sapiens frequency
    CCACAAATAGACTATAACGCAACACAAACACTAGGCTACACGTAGTCGAGACTTCTAACG
    AAGCA
    ");
}

#[test]
fn nothing_but_headers_for_zero() {
    insta::assert_snapshot!(String::from_utf8(output(0)).unwrap(), @r"
    >ONE Homo sapiens alu
    >TWO IUB ambiguity codes
    >THREE Homo sapiens frequency
    ");
}

#[test]
fn complements_are_mutual() {
    for letter in *b"ABCDGHKMNRSTVWY" {
        assert_eq!(complement(complement(letter)), letter);
        assert_eq!(complement(letter.to_ascii_lowercase()), complement(letter));
    }
}

/// Whole periods of the second and third sequence end at multiples of 46,656 and 139,968.
#[test]
fn output_equals_the_plain_method_past_the_period() {
    for n in [46_655, 46_656, 46_657, 139_968, 150_000] {
        assert!(output(n) == plain_output(n), "outputs differ for N = {n}");
    }
}

#[test]
fn an_error_of_the_writer_is_passed_on() {
    let mut full = [0_u8; 100];
    let error = write_reverse_complement(1_000, &mut full.as_mut_slice()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn output_equals_the_plain_method(n in 0_u64..2_000) {
        prop_assert!(output(n) == plain_output(n));
        prop_assert_eq!(output(n).len() as u64, fasta_bytes(n));
    }
}
