use super::*;
use proptest::prelude::*;

fn compared(output: &[u8], reference: &[u8]) -> Comparison {
    compare(&mut &output[..], &mut &reference[..]).unwrap()
}

fn told(output: &[u8], reference: &[u8]) -> String {
    compared(output, reference).first_difference.map_or("none".into(), |d| d.to_string())
}

/// Gives at most so many bytes a read, and an interruption before each.
struct Trickle<'a> {
    rest: &'a [u8],
    piece: usize,
    interrupted: bool,
}

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = self.rest.len().min(self.piece).min(buffer.len());
        buffer[..length].copy_from_slice(&self.rest[..length]);
        self.rest = &self.rest[length..];
        Ok(length)
    }
}

#[test]
fn an_equal_output_matches_under_its_digest() {
    let comparison = compared(b"abc", b"abc");
    assert_eq!(comparison.verdict(), Verdict::Matches);
    assert_eq!(comparison.bytes, 3);
    // FIPS 180-2, appendix B.1.
    assert_eq!(
        comparison.sha256,
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn nothing_matches_nothing() {
    let comparison = compared(b"", b"");
    assert_eq!((comparison.verdict(), comparison.bytes), (Verdict::Matches, 0));
}

#[test]
fn a_difference_is_told_with_its_line_from_the_start() {
    assert_eq!(
        told(b"54\tGGT\n24\tGGTA\n4\tGGTATT\n", b"54\tGGT\n25\tGGTA\n4\tGGTATT\n"),
        r#"byte 8 (line 2): expected "25\tGGTA\n4\tGGTATT\n", found "24\tGGTA\n4\tGGTATT\n""#
    );
    assert_eq!(told(b"\xff", b"x"), r#"byte 0 (line 1): expected "x", found "\xff""#);
}

#[test]
fn a_missing_end_is_told() {
    assert_eq!(
        told(b"-0.169075164\n", b"-0.169075164\n-0.169087605\n"),
        r#"byte 13 (line 2): the output ends here, "-0.169087605\n" is missing"#
    );
    assert_eq!(told(b"", b"a"), r#"byte 0 (line 1): the output ends here, "a" is missing"#);
}

#[test]
fn a_surplus_is_told() {
    assert_eq!(
        told(b"done\n\n", b"done\n"),
        r#"byte 5 (line 2): the output should end here, but goes on "\n""#
    );
}

#[test]
fn the_output_is_hashed_to_its_end_also_after_a_difference() {
    let comparison = compared(b"abc", b"xbc and more");
    assert_eq!(comparison.verdict(), Verdict::Differs);
    assert_eq!((comparison.sha256, comparison.bytes), {
        let same = compared(b"abc", b"abc");
        (same.sha256, same.bytes)
    });
}

#[test]
fn what_is_shown_of_long_lines_is_bounded() {
    let reference = vec![b'a'; 3 * BUFFER_BYTES];
    let mut output = reference.clone();
    output[2 * BUFFER_BYTES + 5] = b'b';
    let difference = compared(&output, &reference).first_difference.unwrap();
    assert_eq!(difference.offset, 2 * BUFFER_BYTES as u64 + 5);
    assert_eq!(difference.before, vec![b'a'; SHOWN_BYTES]);
    assert_eq!(difference.expected, vec![b'a'; SHOWN_BYTES]);
    assert_eq!(difference.found[..2], *b"ba");
    assert_eq!(difference.found.len(), SHOWN_BYTES);
}

#[test]
fn a_generator_pushes_its_reference_line_by_line() {
    let output: String = (0..50_000).map(|i| format!("{i}\n")).collect();
    let mut comparator = Comparator::new(output.as_bytes());
    for i in 0..50_000 {
        writeln!(comparator, "{i}").unwrap();
    }
    let comparison = comparator.finish().unwrap();
    assert_eq!(comparison.verdict(), Verdict::Matches);
    assert_eq!(comparison.bytes, output.len() as u64);
}

#[test]
fn an_output_that_cannot_be_read_is_an_error_not_a_verdict() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let error = compare(&mut b"ab".chain(Broken), &mut &b"abc"[..]).unwrap_err();
    assert_eq!(error.to_string(), "gone");
    let error = compare(&mut b"ab".chain(Broken), &mut &b"ab"[..]).unwrap_err();
    assert_eq!(error.to_string(), "gone");
}

/// The same answer from two whole texts in memory.
fn first_difference_of(output: &[u8], reference: &[u8]) -> Option<(u64, u64)> {
    if output == reference {
        return None;
    }
    let offset = output.iter().zip(reference).take_while(|(a, b)| a == b).count();
    let line = 1 + output[..offset].iter().filter(|&&byte| byte == b'\n').count();
    Some((offset as u64, line as u64))
}

/// Texts that often share a beginning.
fn two_texts() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let text = || proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'\n')], 0..120);
    (text(), text(), text())
        .prop_map(|(shared, one, other)| ([shared.clone(), one].concat(), [shared, other].concat()))
}

proptest! {
    #[test]
    fn streaming_finds_what_looking_at_the_whole_finds((output, reference) in two_texts()) {
        let comparison = compared(&output, &reference);
        let place = comparison.first_difference.as_ref().map(|d| (d.offset, d.line));
        prop_assert_eq!(place, first_difference_of(&output, &reference));
        prop_assert_eq!(comparison.bytes, output.len() as u64);
    }

    #[test]
    fn the_cutting_of_the_streams_changes_nothing(
        (output, reference) in two_texts(), piece in 1..50_usize, written in 1..50_usize,
    ) {
        let trickle = Trickle { rest: &output, piece, interrupted: false };
        let mut comparator = Comparator::new(trickle);
        for part in reference.chunks(written) {
            comparator.write_all(part).unwrap();
        }
        prop_assert_eq!(comparator.finish().unwrap(), compared(&output, &reference));
    }

    #[test]
    fn both_sides_are_shown_from_the_same_place((output, reference) in two_texts()) {
        if let Some(difference) = compared(&output, &reference).first_difference {
            let at = difference.offset as usize;
            prop_assert!(output[at..].starts_with(&difference.found));
            prop_assert!(reference[at..].starts_with(&difference.expected));
            prop_assert!(output[..at].ends_with(&difference.before));
            prop_assert!(!difference.before.contains(&b'\n'));
            prop_assert_ne!(difference.expected.first(), difference.found.first());
        }
    }
}
