//! Signed notes: a text and the signatures of those who stand by it.
//!
//! ```text
//! go.sum database tree
//! 55649875
//! SYguAQfB2uSqQkrBN4DEuGej7YGwxKVlGFswF1yBGrg=
//!
//! — sum.golang.org Az3grrUtiH0M75PDwhxqtZ+F2Fy4gAFT…
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::key::{SignerKey, VerifierKey, is_key_name};

/// The longest note that is looked at.
const MAX_NOTE_BYTES: usize = 1_000_000;

/// The most signatures a note may carry.
const MAX_SIGNATURES: usize = 100;

/// Bytes that are not a note, or a note that the expected key does not stand by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("the note has {bytes} bytes, more than {MAX_NOTE_BYTES}")]
    TooLong { bytes: usize },
    #[error("the note is not UTF-8 text, or holds control characters")]
    NotText,
    #[error("the note has no blank line with signatures after it")]
    NoSignatures,
    #[error("{line:?} is not a signature line (expected — name base64)")]
    SignatureLine { line: String },
    #[error("the note has more than {MAX_SIGNATURES} signatures")]
    TooManySignatures,
    #[error("the note is not signed by {key}")]
    Unsigned { key: String },
    #[error("the signature by {key} is not one over this text")]
    BadSignature { key: String },
}

/// Returns the text of a note that `key` has signed, with its final line feed.
///
/// Signatures by other keys are ignored, whatever they hold: a note gains signers over time. Of
/// several by `key` the first decides.
///
/// # Errors
///
/// [`NoteError`] for anything that is not a note to the letter, has no signature by `key`, or one
/// that does not verify.
///
/// Source: golang.org/x/mod/sumdb/note.
pub fn open<'a>(note: &'a [u8], key: &VerifierKey) -> Result<&'a str, NoteError> {
    if note.len() > MAX_NOTE_BYTES {
        return Err(NoteError::TooLong { bytes: note.len() });
    }
    let note = std::str::from_utf8(note).map_err(|_| NoteError::NotText)?;
    if !is_note_text(note) {
        return Err(NoteError::NotText);
    }
    let blank_line = note.rfind("\n\n").ok_or(NoteError::NoSignatures)?;
    let (text, signatures) = (&note[..=blank_line], &note[blank_line + 2..]);
    let signatures = signatures.strip_suffix('\n').ok_or(NoteError::NoSignatures)?;

    let mut by_key = None;
    for (index, line) in signatures.split('\n').enumerate() {
        if index == MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures);
        }
        let signature = SignatureLine::parse(line)
            .ok_or_else(|| NoteError::SignatureLine { line: line.to_owned() })?;
        if signature.name == key.name() && signature.key_hash == key.hash() {
            by_key.get_or_insert(signature.bytes);
        }
    }
    match by_key {
        None => Err(NoteError::Unsigned { key: key.to_string() }),
        Some(signature) if !key.verifies(text, &signature) => {
            Err(NoteError::BadSignature { key: key.to_string() })
        }
        Some(_) => Ok(text),
    }
}

/// Writes a note of `text` signed by `key`.
///
/// # Panics
///
/// If `text` does not end in a line feed or holds other control characters, which would not be a
/// note.
pub fn sign(text: &str, key: &SignerKey) -> String {
    assert!(text.ends_with('\n') && is_note_text(text), "not the text of a note: {text:?}");
    let mut signature = key.verifier().hash().to_be_bytes().to_vec();
    signature.extend(key.signature(text));
    format!("{text}\n\u{2014} {} {}\n", key.verifier().name(), STANDARD.encode(signature))
}

struct SignatureLine<'a> {
    name: &'a str,
    key_hash: u32,
    bytes: Vec<u8>,
}

impl<'a> SignatureLine<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (name, encoded) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
        if !is_key_name(name) {
            return None;
        }
        let bytes = STANDARD.decode(encoded).ok()?;
        let (hash, signature) = bytes.split_first_chunk::<4>()?;
        if signature.is_empty() {
            return None;
        }
        Some(SignatureLine { name, key_hash: u32::from_be_bytes(*hash), bytes: signature.to_vec() })
    }
}

/// Whether `text` has no control character but line feeds. (DEL and the controls beyond ASCII are
/// none to the format.)
pub(super) fn is_note_text(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' || byte == b'\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "A survey is only as good\n\nas its evidence.\n";

    fn signer(name: &str) -> SignerKey {
        SignerKey::from_seed(name, &[1; 32]).unwrap()
    }

    fn alice() -> SignerKey {
        signer("alice")
    }

    fn open_by_alice(note: &str) -> Result<&str, NoteError> {
        open(note.as_bytes(), alice().verifier())
    }

    fn signature_line(text: &str, key: &SignerKey) -> String {
        sign(text, key)[text.len() + 1..].to_owned()
    }

    #[test]
    fn a_note_signed_by_the_go_implementation_opens() {
        // Made with golang.org/x/mod/sumdb/note and the example key of its documentation.
        let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
        let signature = "x08go21/DCW20TQvtre5s+Ir87R4CNcvh/bK44XVJTrjolPg20cM2s7hmPb/mXHiHPF1qOrzAPVkXUWihl4e7qY0Fw4=";
        let note = format!("{TEXT}\n— PeterNeumann {signature}\n");
        assert_eq!(open(note.as_bytes(), &VerifierKey::parse(key).unwrap()), Ok(TEXT));

        let secret =
            "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
        let signer = SignerKey::parse(secret).unwrap();
        assert_eq!(signer.verifier().to_string(), key);
        assert_eq!(sign(TEXT, &signer), note);
    }

    #[test]
    fn the_text_ends_at_the_last_blank_line() {
        assert_eq!(open_by_alice(&sign(TEXT, &alice())), Ok(TEXT));
    }

    #[test]
    fn every_flipped_byte_is_refused() {
        let note = sign(TEXT, &alice());
        for at in 0..note.len() {
            for bit in 0..8 {
                let mut bytes = note.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                assert!(open(&bytes, alice().verifier()).is_err(), "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn every_shortened_note_is_refused() {
        let note = sign(TEXT, &alice());
        for end in 0..note.len() {
            assert!(open(&note.as_bytes()[..end], alice().verifier()).is_err(), "{end}");
        }
    }

    #[test]
    fn a_key_of_another_name_or_hash_has_not_signed() {
        let unsigned = Err(NoteError::Unsigned { key: alice().verifier().to_string() });
        assert_eq!(open_by_alice(&sign(TEXT, &signer("bob"))), unsigned);
        let renamed = sign(TEXT, &alice()).replace("— alice ", "— alicf ");
        assert_eq!(open_by_alice(&renamed), unsigned);
        let other_key = SignerKey::from_seed("alice", &[2; 32]).unwrap();
        assert_eq!(open_by_alice(&sign(TEXT, &other_key)), unsigned);
    }

    #[test]
    fn a_bad_signature_by_the_key_is_fatal_even_beside_a_good_one() {
        let other = signature_line("other text\n", &alice());
        let good = signature_line(TEXT, &alice());
        let bad = Err(NoteError::BadSignature { key: alice().verifier().to_string() });
        assert_eq!(open_by_alice(&format!("{TEXT}\n{other}")), bad);
        assert_eq!(open_by_alice(&format!("{TEXT}\n{other}{good}")), bad);
        assert_eq!(open_by_alice(&format!("{TEXT}\n{good}{other}")), Ok(TEXT));
    }

    #[test]
    fn a_signature_of_wrong_length_is_bad() {
        let line = signature_line(TEXT, &alice());
        let encoded = line.trim_end().rsplit(' ').next().unwrap();
        let bytes = STANDARD.decode(encoded).unwrap();
        for length in [5, 67] {
            let short = STANDARD.encode(&bytes[..length]);
            let note = format!("{TEXT}\n— alice {short}\n");
            assert!(matches!(open_by_alice(&note), Err(NoteError::BadSignature { .. })));
        }
    }

    #[test]
    fn unknown_signatures_are_ignored_up_to_the_limit() {
        let good = signature_line(TEXT, &alice());
        let unknown = "— carol AAAAAAAA\n";
        assert_eq!(open_by_alice(&format!("{TEXT}\n{unknown}{good}{unknown}")), Ok(TEXT));
        assert_eq!(open_by_alice(&format!("{TEXT}\n{}{good}", unknown.repeat(99))), Ok(TEXT));
        assert_eq!(
            open_by_alice(&format!("{TEXT}\n{good}{}", unknown.repeat(100))),
            Err(NoteError::TooManySignatures)
        );
    }

    #[test]
    fn malformed_signature_lines_are_fatal() {
        let good = signature_line(TEXT, &alice());
        for line in [
            "-- carol AAAAAAAA",
            "—carol AAAAAAAA",
            "— carol",
            "—  AAAAAAAA",
            "— ca+rol AAAAAAAA",
            "— ca\u{a0}rol AAAAAAAA",
            "— carol AAAA",
            "— carol AAAAAA==",
            "— carol AAAAAAB=",
            "— carol AAAAAAAA ",
            "— carol AAAAAAAA AAAA",
            "— carol !",
        ] {
            assert_eq!(
                open_by_alice(&format!("{TEXT}\n{line}\n{good}")),
                Err(NoteError::SignatureLine { line: line.to_owned() })
            );
        }
    }

    #[test]
    fn refuses_what_is_not_text() {
        let note = sign(TEXT, &alice());
        assert_eq!(open_by_alice(&note.replace(' ', "\t")), Err(NoteError::NotText));
        assert_eq!(open_by_alice(&note.replace('\n', "\r\n")), Err(NoteError::NotText));
        let mut bytes = note.into_bytes();
        bytes[0] = 0xff;
        assert_eq!(open(&bytes, alice().verifier()), Err(NoteError::NotText));
        assert_eq!(open_by_alice(TEXT.trim_end()), Err(NoteError::NoSignatures));
        assert_eq!(open_by_alice(&format!("{TEXT}\n")), Err(NoteError::NoSignatures));
        assert_eq!(open_by_alice(""), Err(NoteError::NoSignatures));
        let long = "a".repeat(MAX_NOTE_BYTES + 1);
        assert_eq!(open_by_alice(&long), Err(NoteError::TooLong { bytes: long.len() }));
    }

    proptest! {
        #[test]
        fn notes_round_trip(text in "([ -~äö—]{0,20}\n){1,5}", seed: [u8; 32]) {
            let key = SignerKey::from_seed("k", &seed).unwrap();
            let note = sign(&text, &key);
            prop_assert_eq!(open(note.as_bytes(), key.verifier()), Ok(text.as_str()));
        }

        #[test]
        fn arbitrary_bytes_never_open(bytes: Vec<u8>, tail in "[—\n a-zA-Z=]{0,60}") {
            prop_assert!(open(&bytes, alice().verifier()).is_err());
            let note = format!("text\n\n— {tail}\n");
            prop_assert!(open_by_alice(&note).is_err());
        }
    }
}
