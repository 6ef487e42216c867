//! The `h1:` digest of a tree of files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use crate::hex::{hex, unhex};

/// What `go.sum` and the checksum database call the `h1:` hash of a module.
///
/// It covers names and contents of all files. Modes, times, order and compression do not count,
/// so a zip, the tree unpacked from it and the same files packed again have one digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreeDigest([u8; 32]);

/// The text is not an `h1:` digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an h1 digest (expected h1: and 44 characters of base64)")]
pub struct H1Error {
    pub text: String,
}

/// A file that cannot be part of a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DigestError {
    #[error("{name:?}: a file name with a line break cannot be hashed")]
    LineBreak { name: String },
    #[error("{name:?}: there are two files of this name")]
    Duplicate { name: String },
}

impl TreeDigest {
    /// Wraps the 32 bytes of a digest.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        TreeDigest(bytes)
    }

    /// Reads the form that `to_h1` writes; no other spelling of the same digest is accepted.
    ///
    /// # Errors
    ///
    /// [`H1Error`] for anything else, `h2:` included.
    pub fn from_h1(text: &str) -> Result<Self, H1Error> {
        let refused = || H1Error { text: text.to_owned() };
        let encoded = text.strip_prefix("h1:").ok_or_else(refused)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| refused())?;
        bytes.try_into().map(TreeDigest).map_err(|_| refused())
    }

    /// Writes `h1:` and the digest in base64: 47 characters.
    pub fn to_h1(&self) -> String {
        format!("h1:{}", STANDARD.encode(self.0))
    }

    /// Writes the digest as 64 lower-case hexadecimal digits.
    pub fn to_hex(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Display for TreeDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_h1())
    }
}

impl FromStr for TreeDigest {
    type Err = H1Error;

    fn from_str(text: &str) -> Result<Self, H1Error> {
        TreeDigest::from_h1(text)
    }
}

/// The files of a tree with the SHA-256 of each.
///
/// Its text has one line a file, sorted by name as bytes: the file's SHA-256 in hexadecimal, two
/// spaces, the name, a line feed. The SHA-256 of that text is the tree's digest, so a listing that
/// was kept proves itself against the digest. The name of a file in a module zip is the full name
/// of its entry, with the module's prefix.
///
/// Source: `Hash1` of golang.org/x/mod/sumdb/dirhash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeListing {
    files: BTreeMap<String, [u8; 32]>,
}

/// The text is not a listing in the one form that [`TreeListing::to_text`] writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of the listing is not a SHA-256, two spaces and a name, in the order of names"
)]
pub struct ListingError {
    /// Counted from 1.
    pub line: usize,
}

impl TreeListing {
    /// Starts with no file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, in any order, by its name and the SHA-256 of its content.
    ///
    /// # Errors
    ///
    /// [`DigestError`] if the name holds a line break, which would let one file pose as two, or
    /// was added before.
    pub fn add(&mut self, name: &str, sha256: [u8; 32]) -> Result<(), DigestError> {
        if name.contains('\n') {
            return Err(DigestError::LineBreak { name: name.to_owned() });
        }
        match self.files.entry(name.to_owned()) {
            Entry::Vacant(place) => place.insert(sha256),
            Entry::Occupied(_) => return Err(DigestError::Duplicate { name: name.to_owned() }),
        };
        Ok(())
    }

    /// The files by name.
    pub fn files(&self) -> &BTreeMap<String, [u8; 32]> {
        &self.files
    }

    /// Computes the digest of the tree.
    pub fn digest(&self) -> TreeDigest {
        TreeDigest(Sha256::digest(self.to_text()).into())
    }

    /// Writes the text that the digest is of.
    pub fn to_text(&self) -> String {
        self.files.iter().map(|(name, sha256)| format!("{}  {name}\n", hex(sha256))).collect()
    }

    /// Reads what [`TreeListing::to_text`] writes, and nothing else: names sorted, none twice.
    ///
    /// # Errors
    ///
    /// [`ListingError`] with the first line that is otherwise.
    pub fn parse(text: &str) -> Result<Self, ListingError> {
        let mut files = BTreeMap::new();
        let mut last = "";
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let refused = || ListingError { line: index + 1 };
            let line = line.strip_suffix('\n').ok_or_else(refused)?;
            let (sha256, name) = line.split_once("  ").ok_or_else(refused)?;
            let sha256 = unhex(sha256).ok_or_else(refused)?;
            if index > 0 && name <= last {
                return Err(refused());
            }
            files.insert(name.to_owned(), sha256);
            last = name;
        }
        Ok(TreeListing { files })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn digest_of(files: &[(&str, &str)]) -> TreeDigest {
        let mut listing = TreeListing::new();
        for (name, content) in files {
            listing.add(name, Sha256::digest(content).into()).unwrap();
        }
        listing.digest()
    }

    #[test]
    fn digest_is_the_hash_of_the_sorted_sha256sum_listing() {
        // printf 'hello\n' > a; printf 'world\n' > a.b; mkdir a0; printf '' > a0/c
        // sha256sum a a.b a0/c | sha256sum
        let digest = digest_of(&[("a0/c", ""), ("a.b", "world\n"), ("a", "hello\n")]);
        assert_eq!(
            digest.to_hex(),
            "0c137ae4f2875c3be73b774eef41b440aa7a122614bff0dc1ea5e1e3dcf2eedf"
        );
    }

    #[test]
    fn an_empty_go_mod_has_the_digest_the_go_command_knows() {
        let digest = digest_of(&[("go.mod", "")]);
        assert_eq!(digest.to_h1(), "h1:G7mAYYxgmS0lVkHyy2hEOLQCFB0DlQFTMLWggykrydY=");
    }

    #[test]
    fn refuses_names_that_could_forge_a_line() {
        let mut listing = TreeListing::new();
        let name = "a\n0000  b";
        assert_eq!(
            listing.add(name, [0; 32]),
            Err(DigestError::LineBreak { name: name.to_owned() })
        );
    }

    #[test]
    fn refuses_a_second_file_of_one_name_and_keeps_the_first() {
        let mut listing = TreeListing::new();
        listing.add("a", [1; 32]).unwrap();
        let before = listing.digest();
        assert_eq!(listing.add("a", [2; 32]), Err(DigestError::Duplicate { name: "a".to_owned() }));
        assert_eq!(listing.digest(), before);
    }

    #[test]
    fn refuses_every_other_spelling_of_a_digest() {
        let good = TreeDigest::from_bytes([0; 32]).to_h1();
        assert!(TreeDigest::from_h1(&good).is_ok());
        let unused_bits_set = good.replace("A=", "B=");
        for text in [
            "",
            "h1:",
            &good[3..],
            &good.replace("h1", "h2"),
            &good.replace("h1", "H1"),
            &good.replace('=', ""),
            &format!("{good} "),
            &format!("{good}="),
            &unused_bits_set,
            "h1:AAAA",
        ] {
            assert_eq!(TreeDigest::from_h1(text), Err(H1Error { text: text.to_owned() }));
        }
    }

    proptest! {
        #[test]
        fn h1_text_round_trips(bytes: [u8; 32]) {
            let digest = TreeDigest::from_bytes(bytes);
            prop_assert_eq!(digest.to_h1().len(), 47);
            prop_assert_eq!(TreeDigest::from_h1(&digest.to_h1()), Ok(digest));
        }

        #[test]
        fn the_order_of_adding_does_not_count(names in prop::collection::btree_set("[a-c./A]{1,4}", 1..6)) {
            let forward: Vec<_> = names.iter().map(|name| (name.as_str(), "x")).collect();
            let backward: Vec<_> = forward.iter().rev().copied().collect();
            prop_assert_eq!(digest_of(&forward), digest_of(&backward));
        }

        #[test]
        fn arbitrary_text_never_panics(text: String) {
            let _ = TreeDigest::from_h1(&text);
            let _ = TreeListing::parse(&text);
        }

        #[test]
        fn a_listing_is_read_back_from_its_text(
            files in prop::collection::btree_map("[a-c ./A]{0,5}", any::<[u8; 32]>(), 0..6),
        ) {
            let listing = TreeListing { files };
            prop_assert_eq!(TreeListing::parse(&listing.to_text()), Ok(listing));
        }

        #[test]
        fn what_is_read_as_a_listing_is_in_its_one_form(
            lines in prop::collection::vec("(0{64}|[0-9a-f]{63,65})( |  )[ab]{0,2}\n?", 0..4),
        ) {
            let text = lines.concat();
            if let Ok(listing) = TreeListing::parse(&text) {
                prop_assert_eq!(listing.to_text(), text);
            }
        }
    }
}
