//! A program's source text as a tree of named files, and the digest that identifies it.

use crate::hex::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The files of a program, by their name relative to its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTree {
    pub files: BTreeMap<String, Vec<u8>>,
}

impl SourceTree {
    /// The tree's identity: SHA-256, in hex, over one line a file, sorted by name as bytes: the
    /// content's SHA-256 in hex, two blanks, the name, a line feed.
    ///
    /// Equivalent to `sha256sum $(ls) | sha256sum` in the program's folder, under `LC_ALL=C`.
    pub fn sha256(&self) -> String {
        tree_sha256(self.files.iter().map(|(name, content)| (name.as_str(), content.as_slice())))
    }
}

/// Digests named contents, which must come sorted by name; see [`SourceTree::sha256`].
pub fn tree_sha256<'a>(files: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut tree = Sha256::new();
    for (name, content) in files {
        tree.update(format!("{}  {name}\n", hex(&Sha256::digest(content))));
    }
    hex(&tree.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_a_sha256sum_listing() {
        let files = [("a.go", "one\n"), ("b.go", "two\n")];
        let tree = SourceTree {
            files: files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into(),
        };
        // printf 'one\n' >a.go; printf 'two\n' >b.go; sha256sum a.go b.go | sha256sum
        assert_eq!(
            tree.sha256(),
            "6812b9e7a3d40ebb818cbccc89d314a3505b2dcda98861df36900718a508ae03"
        );
    }
}
