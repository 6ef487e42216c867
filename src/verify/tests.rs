use super::comparator::BUFFER_BYTES;
use super::*;
use proptest::prelude::*;

fn expected(text: &[u8]) -> Expected<Vec<u8>> {
    Expected::new(text.to_vec()).unwrap()
}

fn digest(text: &[u8]) -> Digest {
    expected(text).digest().clone()
}

fn compared(output: &[u8], text: &[u8]) -> Comparison {
    compare(&expected(text), output).unwrap()
}

fn told(output: &[u8], text: &[u8]) -> String {
    compared(output, text).first_difference.map_or("none".into(), |d| d.to_string())
}

/// Writes itself in pieces, as generators do.
struct Pieces<'a>(&'a [u8], usize);

impl Text for Pieces<'_> {
    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.chunks(self.1).try_for_each(|piece| out.write_all(piece))
    }
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
    assert_eq!(comparison.digest.bytes(), 3);
    // FIPS 180-2, appendix B.1.
    assert_eq!(
        comparison.digest.sha256(),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

#[test]
fn nothing_matches_nothing() {
    let comparison = compared(b"", b"");
    assert_eq!((comparison.verdict(), comparison.digest), (Verdict::Matches, digest(b"")));
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
fn a_differing_output_is_digested_from_start_to_end() {
    let text = vec![b'a'; 3 * BUFFER_BYTES];
    for place in [0, 1, BUFFER_BYTES - 1, BUFFER_BYTES, 2 * BUFFER_BYTES + 5, text.len() - 1] {
        let mut output = text.clone();
        output[place] = b'b';
        let comparison = compared(&output, &text);
        assert_eq!(comparison.verdict(), Verdict::Differs);
        assert_eq!(comparison.digest, digest(&output), "differs at {place}");
    }
}

#[test]
fn what_is_shown_of_long_lines_is_bounded() {
    let text = vec![b'a'; 3 * BUFFER_BYTES];
    let mut output = text.clone();
    output[2 * BUFFER_BYTES + 5] = b'b';
    let difference = compared(&output, &text).first_difference.unwrap();
    assert_eq!(difference.offset, 2 * BUFFER_BYTES as u64 + 5);
    assert_eq!(difference.before, vec![b'a'; SHOWN_BYTES]);
    assert_eq!(difference.expected, vec![b'a'; SHOWN_BYTES]);
    assert_eq!(difference.found[..2], *b"ba");
    assert_eq!(difference.found.len(), SHOWN_BYTES);
}

#[test]
fn an_output_may_come_through_a_pipe_while_it_is_written() {
    let text: String = (0..50_000).map(|i| format!("{i}\n")).collect();
    let wrong = text.replace("49999\n", "50000\n");
    let through_a_pipe = |output: &[u8]| {
        let (reader, mut writer) = io::pipe().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || writer.write_all(output).unwrap());
            compare(&expected(text.as_bytes()), reader).unwrap()
        })
    };
    assert_eq!(through_a_pipe(text.as_bytes()).verdict(), Verdict::Matches);
    let comparison = through_a_pipe(wrong.as_bytes());
    assert_eq!(comparison.digest, digest(wrong.as_bytes()));
    assert_eq!(comparison.first_difference.unwrap().line, 50_000);
}

#[test]
fn an_output_that_cannot_be_read_is_an_error_not_a_verdict() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    for text in [&b"abc"[..], b"ab", b"axc"] {
        let error = compare(&expected(text), b"ab".chain(Broken)).unwrap_err();
        assert_eq!(error.to_string(), "gone");
    }
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
        prop_assert_eq!(comparison.digest, digest(&output));
    }

    #[test]
    fn the_cutting_of_the_streams_changes_nothing(
        (output, reference) in two_texts(), piece in 1..50_usize, written in 1..50_usize,
    ) {
        let trickle = Trickle { rest: &output, piece, interrupted: false };
        let in_pieces = Expected::new(Pieces(&reference, written)).unwrap();
        prop_assert_eq!(compare(&in_pieces, trickle).unwrap(), compared(&output, &reference));
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
