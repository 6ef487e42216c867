//! Applies a program's compat patches, and refuses what they should not have given.
//!
//! A hunk applies where its header says or not at all; `diffy` by itself would move it to the next
//! place where its lines fit, however far that is. And the tree that comes out must have the
//! digest the suite names for it, so that what a patch does is part of the program's identity.

use crate::suite::{Patch, SourceTree, tree_sha256};
use diffy::patch_set::{FileOperation, FilePatch, ParseOptions, PatchSet};
use diffy::{Hunk, Line};
use std::collections::BTreeMap;
use std::fmt;

/// A source tree with patches applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    pub tree: SourceTree,
    /// Digest of the patches, in the order they were applied; empty if there were none.
    ///
    /// Equivalent to `sha256sum 0001-….patch 0002-….patch | sha256sum` in their folder.
    pub patches_sha256: String,
}

/// A patch does not give the tree the suite names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("{patch}: not a unified diff: {reason}")]
    Malformed { patch: String, reason: String },
    #[error("{patch}: {file:?}: {reason}")]
    File { patch: String, file: String, reason: &'static str },
    #[error("{patch}: {file}: hunk {hunk} does not apply: {mismatch}")]
    Hunk { patch: String, file: String, hunk: usize, mismatch: Mismatch },
    #[error(
        "{patch}: applies, but gives a tree with SHA-256 {found}, where the suite says {expected}; \
         the patch or a source file is not the one the suite was made with"
    )]
    Digest { patch: String, expected: String, found: String },
}

/// The first line of a hunk that is not in the source where the hunk says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The line of the source, from 1.
    pub line: usize,
    /// The line the patch has, with its line feed.
    pub expected: String,
    /// The line the source has; `None` past its end.
    pub found: Option<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { line, expected, found } = self;
        write!(f, "line {line}: expected {expected:?}, found ")?;
        match found {
            Some(found) => write!(f, "{found:?}"),
            None => f.write_str("the end of the file"),
        }
    }
}

/// Applies `patches` to `tree` one after the other, each given with its text.
///
/// # Errors
///
/// [`PatchError`] for the first patch that is no diff, names a file it may not, does not apply, or
/// gives another tree than the suite says.
pub fn apply_all(tree: &SourceTree, patches: &[(&Patch, &str)]) -> Result<Patched, PatchError> {
    let mut tree = tree.clone();
    for (patch, text) in patches {
        tree = apply(&tree, patch, text)?;
    }
    let texts = patches.iter().map(|(patch, text)| (patch.file.as_str(), text.as_bytes()));
    let patches_sha256 = if patches.is_empty() { String::new() } else { tree_sha256(texts) };
    Ok(Patched { tree, patches_sha256 })
}

/// Applies one patch and holds the tree it gives against the digest the suite names.
fn apply(tree: &SourceTree, patch: &Patch, text: &str) -> Result<SourceTree, PatchError> {
    let mut files = tree.files.clone();
    for file_patch in PatchSet::parse_bytes(text.as_bytes(), ParseOptions::unidiff()) {
        let file_patch = file_patch.map_err(|error| PatchError::Malformed {
            patch: patch.file.clone(),
            reason: error.to_string(),
        })?;
        FileChange::new(&patch.file, &file_patch)?.apply(&mut files)?;
    }
    let patched = SourceTree { files };
    let found = patched.sha256();
    if found != patch.tree_sha256 {
        let (patch, expected) = (patch.file.clone(), patch.tree_sha256.clone());
        return Err(PatchError::Digest { patch, expected, found });
    }
    Ok(patched)
}

/// What a patch does to one file.
struct FileChange<'a> {
    /// The patch's file, for messages.
    patch: &'a str,
    /// The source file's name in the tree.
    name: String,
    action: Action,
    hunks: &'a diffy::Patch<'a, [u8]>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Create,
    Change,
    Delete,
}

impl<'a> FileChange<'a> {
    fn new(patch: &'a str, file_patch: &'a FilePatch<'_, [u8]>) -> Result<Self, PatchError> {
        let operation = file_patch.operation().strip_prefix(1);
        let (path, action) = match &operation {
            FileOperation::Create(path) => (path, Action::Create),
            FileOperation::Delete(path) => (path, Action::Delete),
            FileOperation::Modify { original, modified } if original == modified => {
                (modified, Action::Change)
            }
            FileOperation::Modify { modified: path, .. }
            | FileOperation::Rename { to: path, .. }
            | FileOperation::Copy { to: path, .. } => {
                return Err(refused(patch, path, "the two names of a file must be the same"));
            }
        };
        let name = match str::from_utf8(path) {
            Ok(name) if leads_inside(name) => name.to_owned(),
            _ => return Err(refused(patch, path, "names no file in the program's folder")),
        };
        let Some(hunks) = file_patch.patch().as_text() else {
            return Err(refused(patch, path, "is patched as a binary file"));
        };
        Ok(FileChange { patch, name, action, hunks })
    }

    fn apply(&self, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), PatchError> {
        let original = match (files.get(&self.name), self.action) {
            (None, Action::Create) => Vec::new(),
            (Some(_), Action::Create) => return Err(self.refused("is to be created but is there")),
            (None, _) => return Err(self.refused("is to be changed but is not there")),
            (Some(original), _) => original.clone(),
        };
        let lines: Vec<&[u8]> = original.split_inclusive(|byte| *byte == b'\n').collect();
        for (index, hunk) in self.hunks.hunks().iter().enumerate() {
            if let Some(mismatch) = mismatch(&lines, hunk) {
                let (patch, file) = (self.patch.to_owned(), self.name.clone());
                return Err(PatchError::Hunk { patch, file, hunk: index + 1, mismatch });
            }
        }
        let patched = diffy::apply_bytes(&original, self.hunks)
            .map_err(|_| self.refused("is patched by hunks that overlap or are out of order"))?;
        match self.action {
            Action::Delete if !patched.is_empty() => {
                return Err(self.refused("is to be deleted but has lines the patch does not know"));
            }
            Action::Delete => files.remove(&self.name),
            Action::Create | Action::Change => files.insert(self.name.clone(), patched),
        };
        Ok(())
    }

    fn refused(&self, reason: &'static str) -> PatchError {
        refused(self.patch, self.name.as_bytes(), reason)
    }
}

/// The first line of `hunk` that `source` does not have where the hunk's header says.
fn mismatch(source: &[&[u8]], hunk: &Hunk<'_, [u8]>) -> Option<Mismatch> {
    let old_lines = hunk.lines().iter().filter_map(|line| match line {
        Line::Context(text) | Line::Delete(text) => Some(*text),
        Line::Insert(_) => None,
    });
    // A hunk of an empty file starts at line 0.
    let numbers = hunk.old_range().start().max(1)..;
    numbers.zip(old_lines).find_map(|(line, expected)| {
        let found = source.get(line - 1).copied();
        let text = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
        (found != Some(expected)).then(|| Mismatch {
            line,
            expected: text(expected),
            found: found.map(text),
        })
    })
}

fn refused(patch: &str, file: &[u8], reason: &'static str) -> PatchError {
    let file = String::from_utf8_lossy(file).into_owned();
    PatchError::File { patch: patch.to_owned(), file, reason }
}

/// Whether a name from a diff stays inside the program's folder.
fn leads_inside(name: &str) -> bool {
    !name.contains(['\\', '\0']) && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

#[cfg(test)]
mod tests;
