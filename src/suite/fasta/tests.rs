use proptest::prelude::*;

use super::*;
use crate::digest::Digester;

fn fasta(n: u64) -> Vec<u8> {
    let mut text = Vec::new();
    write_fasta(n, &mut text).unwrap();
    text
}

/// The task as its description has it: one generator step and one floating-point search a letter.
fn plain_fasta(n: u64) -> Vec<u8> {
    fn push_lines(text: &mut Vec<u8>, header: &str, letters: Vec<u8>) {
        text.extend_from_slice(header.as_bytes());
        for line in letters.chunks(60) {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    fn random(state: &mut u32, symbols: &str, probabilities: &[f64], length: u64) -> Vec<u8> {
        let draw = |_| {
            *state = (*state * 3877 + 29573) % 139_968;
            let random = f64::from(*state) / 139_968.0;
            let mut cumulative = 0.0;
            let index = probabilities.iter().position(|p| {
                cumulative += p;
                cumulative >= random
            });
            symbols.as_bytes()[index.unwrap()]
        };
        (0..length).map(draw).collect()
    }
    let mut text = Vec::new();
    let mut state = 42;
    let alu = ALU.iter().copied().cycle().take(2 * n as usize).collect();
    push_lines(&mut text, ">ONE Homo sapiens alu\n", alu);
    let probabilities =
        [0.27, 0.12, 0.12, 0.27, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02, 0.02];
    let letters = random(&mut state, "acgtBDHKMNRSVWY", &probabilities, 3 * n);
    push_lines(&mut text, ">TWO IUB ambiguity codes\n", letters);
    let probabilities = [0.3029549426680, 0.1979883004921, 0.1975473066391, 0.3015094502008];
    let letters = random(&mut state, "acgt", &probabilities, 5 * n);
    push_lines(&mut text, ">THREE Homo sapiens frequency\n", letters);
    text
}

fn assert_published(n: u64) {
    let (_, published) = PUBLISHED_SHA256.into_iter().find(|(known, _)| *known == n).unwrap();
    let mut digester = Digester::default();
    write_fasta(n, &mut digester).unwrap();
    let digest = digester.finish();
    assert_eq!(digest.sha256(), published);
    assert_eq!(digest.bytes(), fasta_bytes(n));
}

#[test]
fn published_digests_are_met() {
    assert_published(1_000);
    assert_published(5_000_000);
    assert_published(25_000_000);
}

#[test]
#[ignore = "hashes a gigabyte"]
fn published_digest_of_the_largest_is_met() {
    assert_published(100_000_000);
}

#[test]
fn published_lengths_are_met() {
    assert_eq!(fasta_bytes(1_000), 10_245);
    assert_eq!(fasta_bytes(5_000_000), 50_833_411);
    assert_eq!(fasta_bytes(25_000_000), 254_166_745);
    assert_eq!(fasta_bytes(100_000_000), 1_016_666_745);
}

#[test]
fn nothing_but_headers_for_zero() {
    insta::assert_snapshot!(String::from_utf8(fasta(0)).unwrap(), @r"
    >ONE Homo sapiens alu
    >TWO IUB ambiguity codes
    >THREE Homo sapiens frequency
    ");
}

#[test]
fn every_sequence_ends_its_line() {
    insta::assert_snapshot!(String::from_utf8(fasta(1)).unwrap(), @r"
    >ONE Homo sapiens alu
    GG
    >TWO IUB ambiguity codes
    ctt
    >THREE Homo sapiens frequency
    tgagc
    ");
    insta::assert_snapshot!(String::from_utf8(fasta(13)).unwrap(), @r"
    >ONE Homo sapiens alu
    GGCCGGGCGCGGTGGCTCACGCCTGT
    >TWO IUB ambiguity codes
    cttBtatcatatgctaKggNcataaaSatgtaaaDcDRt
    >THREE Homo sapiens frequency
    tgcttcgttagaagtctcgactacgtgtagcctagtgtttgtgttgcgttatagtctatt
    tgtgg
    ");
}

#[test]
fn a_full_last_line_gets_no_second_newline() {
    let text = String::from_utf8(fasta(60)).unwrap();
    assert!(!text.contains("\n\n"), "an empty line in {text}");
    assert_eq!(text.lines().count(), 3 + 2 + 3 + 5);
}

#[test]
fn the_repeated_piece_goes_on_across_lines() {
    let text = String::from_utf8(fasta(1_000)).unwrap();
    let letters: String = text.lines().skip(1).take(2_000 / 60).collect();
    for (index, letter) in letters.bytes().enumerate() {
        assert_eq!(letter, ALU[index % 287], "at letter {index}");
    }
}

/// The third sequence goes on with the state the second one ended in, also past whole rounds of the generator.
#[test]
fn text_equals_the_plain_method_past_the_period() {
    for n in [46_655, 46_656, 46_657, 150_000] {
        assert!(fasta(n) == plain_fasta(n), "texts differ for N = {n}");
    }
}

#[test]
fn lengths_saturate() {
    assert_eq!(fasta_bytes(u64::MAX), u64::MAX);
}

#[test]
fn an_error_of_the_writer_is_passed_on() {
    let mut full = io::Cursor::new([0_u8; 100]);
    let error = write_fasta(1_000, &mut full.get_mut().as_mut_slice()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WriteZero);
}

#[test]
fn memory_of_the_text_does_not_grow_with_the_length() {
    assert_eq!(text_period(&[b'x'; 139_968], u64::MAX).len(), 139_968 * 5 / 60 * 61);
    assert_eq!(text_period(ALU, u64::MAX).len(), 287 * 61);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn length_in_closed_form_is_that_of_the_text(n in 0_u64..3_000) {
        prop_assert_eq!(fasta(n).len() as u64, fasta_bytes(n));
    }

    #[test]
    fn text_equals_the_plain_method(n in 0_u64..2_000) {
        prop_assert!(fasta(n) == plain_fasta(n));
    }
}
