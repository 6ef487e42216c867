//! The Merkle tree over a checksum database's records, and its head.
//!
//! ```text
//!              root                    root of 5 records
//!            /      \
//!         ab_cd      e                 a tree splits at the largest power of two below its size
//!        /     \
//!      ab       cd
//!     /  \     /  \
//!    a    b   c    d                   leaves: hashes of records
//! ```

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The hash of a leaf, of a node, or of a whole tree. Displays in base64.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The length of a hash in a tile, in bytes.
    pub const BYTES: usize = 32;

    /// Reads a hash in base64, spelled as `Display` does.
    fn parse(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Hash)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({self})")
    }
}

/// Hashes the text of a record to its leaf.
///
/// Source: RFC 6962, section 2.1.
pub fn leaf_hash(record_text: &[u8]) -> Hash {
    let mut digest = Sha256::new();
    digest.update([0]);
    digest.update(record_text);
    Hash(digest.finalize().into())
}

/// Hashes two neighbours to the node above them.
///
/// Source: RFC 6962, section 2.1.
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    let mut both = [1; 1 + 2 * Hash::BYTES];
    both[1..=Hash::BYTES].copy_from_slice(&left.0);
    both[1 + Hash::BYTES..].copy_from_slice(&right.0);
    let mut hash = Hash([0; Hash::BYTES]);
    Sha256::new_with_prefix(both).finalize_into((&mut hash.0).into());
    hash
}

/// Computes the root over `hashes`, left to right; the root over none is that of the empty tree.
///
/// The hashes may stand for leaves or for subtrees. The result is the root of the tree over all
/// their leaves if all but the last are complete subtrees of one size and the last has no more
/// leaves than they.
///
/// Source: RFC 6962, section 2.1.
pub fn root_over(hashes: &[Hash]) -> Hash {
    match hashes {
        [] => Hash(Sha256::digest([]).into()),
        [only] => *only,
        _ => {
            let half = hashes.len().next_power_of_two() / 2;
            let (left, right) = hashes.split_at(half);
            node_hash(&root_over(left), &root_over(right))
        }
    }
}

/// How many records a log has, and the hash that stands for exactly these records in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeHead {
    /// Records in the log; at least 1.
    pub size: u64,
    pub root: Hash,
}

/// The text is not a tree head.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeHeadError {
    #[error("expected {FIRST_LINE:?} as the first line, found {found:?}")]
    FirstLine { found: String },
    #[error("expected the number of records, 1 or more, as the second line, found {found:?}")]
    Size { found: String },
    #[error("expected a hash in base64 as the third line, found {found:?}")]
    Root { found: String },
}

const FIRST_LINE: &str = "go.sum database tree";

impl TreeHead {
    /// Reads the text of a signed tree note.
    ///
    /// Lines after the third are ignored, as the format demands.
    ///
    /// # Errors
    ///
    /// [`TreeHeadError`] for other text, numbers that are not in canonical decimal or beyond 2⁶³−1,
    /// and an empty tree, which proves nothing.
    ///
    /// Source: golang.org/x/mod/sumdb/tlog.
    pub fn parse(text: &str) -> Result<Self, TreeHeadError> {
        // Without its final line feed a line is incomplete, and so no line.
        let mut lines = text.split_inclusive('\n').map(|line| line.strip_suffix('\n'));
        let mut next_line = || lines.next().flatten().unwrap_or_default();

        let first = next_line();
        if first != FIRST_LINE {
            return Err(TreeHeadError::FirstLine { found: first.to_owned() });
        }
        let size = next_line();
        let root = next_line();
        Ok(TreeHead {
            size: parse_count(size)
                .filter(|&size| size > 0)
                .ok_or_else(|| TreeHeadError::Size { found: size.to_owned() })?,
            root: Hash::parse(root)
                .ok_or_else(|| TreeHeadError::Root { found: root.to_owned() })?,
        })
    }

    /// Writes the text that is signed.
    pub fn text(&self) -> String {
        format!("{FIRST_LINE}\n{}\n{}\n", self.size, self.root)
    }
}

/// Reads a number of records: decimal digits without sign or leading zeros, at most 2⁶³−1, which
/// is as far as the servers count.
pub(super) fn parse_count(text: &str) -> Option<u64> {
    let is_canonical = text == "0" || !text.starts_with('0');
    if !is_canonical || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|&count| count <= i64::MAX as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hex(hash: Hash) -> String {
        hash.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn leaves(count: usize) -> Vec<Hash> {
        (0..count).map(|n| leaf_hash(&n.to_le_bytes())).collect()
    }

    #[test]
    fn hashes_are_those_of_rfc_6962() {
        // printf '' | sha256sum; printf '\0' | sha256sum
        assert_eq!(
            hex(root_over(&[])),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            hex(leaf_hash(b"")),
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
        );
        // (printf '\1'; printf '\0' | sha256sum | xxd -r -p; printf '\0' | sha256sum | xxd -r -p) | sha256sum
        assert_eq!(
            hex(node_hash(&leaf_hash(b""), &leaf_hash(b""))),
            "fe43d66afa4a9a5c4f9c9da89f4ffb52635c8f342e7ffb731d68e36c5982072a"
        );
    }

    #[test]
    fn a_tree_splits_at_the_largest_power_of_two_below_its_size() {
        let [a, b, c, d, e] = leaves(5).try_into().unwrap();
        let abcd = node_hash(&node_hash(&a, &b), &node_hash(&c, &d));
        assert_eq!(root_over(&[a, b, c]), node_hash(&node_hash(&a, &b), &c));
        assert_eq!(root_over(&[a, b, c, d]), abcd);
        assert_eq!(root_over(&[a, b, c, d, e]), node_hash(&abcd, &e));
    }

    #[test]
    fn a_leaf_cannot_pose_as_a_node() {
        let [a, b] = leaves(2).try_into().unwrap();
        let both = [a.0, b.0].concat();
        assert_ne!(leaf_hash(&both), node_hash(&a, &b));
    }

    #[test]
    fn heads_must_be_written_canonically() {
        let root = root_over(&[]).to_string();
        let head = |size: &str| TreeHead::parse(&format!("{FIRST_LINE}\n{size}\n{root}\n"));
        assert_eq!(head("1").unwrap().size, 1);
        assert_eq!(head("9223372036854775807").unwrap().size, i64::MAX as u64);
        for size in [
            "",
            "0",
            "-1",
            "+1",
            "01",
            "1 ",
            "1e3",
            "0x1",
            "9223372036854775808",
            "18446744073709551616",
            "١",
        ] {
            assert_eq!(head(size), Err(TreeHeadError::Size { found: size.to_owned() }));
        }
    }

    #[test]
    fn heads_need_all_three_lines_and_may_have_more() {
        let head = TreeHead { size: 3, root: root_over(&[]) };
        let text = head.text();
        assert_eq!(TreeHead::parse(&format!("{text}more\n\nlines")), Ok(head));
        for end in 0..text.len() {
            assert!(TreeHead::parse(&text[..end]).is_err(), "{end}");
        }
        assert!(TreeHead::parse(&text.replace("go.sum", "other")).is_err());
        for bad in ["A", "=", "AAAA", "\r"] {
            let text = text.replace(&head.root.to_string(), bad);
            assert_eq!(TreeHead::parse(&text), Err(TreeHeadError::Root { found: bad.to_owned() }));
        }
    }

    proptest! {
        #[test]
        fn heads_round_trip(size in 1..=i64::MAX as u64, root: [u8; 32]) {
            let head = TreeHead { size, root: Hash(root) };
            prop_assert_eq!(TreeHead::parse(&head.text()), Ok(head));
        }

        #[test]
        fn arbitrary_text_never_panics(text: String, tail in "[0-9\n+-]{0,30}") {
            let _ = TreeHead::parse(&text);
            let _ = TreeHead::parse(&format!("{FIRST_LINE}\n{tail}"));
        }

        /// Why tiles can be folded each for itself: complete subtrees in front, a smaller one last.
        #[test]
        fn subtrees_fold_to_the_root_over_their_leaves(subtrees in 0..6_usize, rest in 1..=4_usize) {
            let leaves = leaves(4 * subtrees + rest);
            let hashes: Vec<Hash> = leaves.chunks(4).map(root_over).collect();
            prop_assert_eq!(root_over(&hashes), root_over(&leaves));
        }
    }
}
