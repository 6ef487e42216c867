//! Replays the corpus of every fuzz target. `fuzz/README.md` says what the targets assert.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../fuzz/checks.rs"]
mod checks;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Inputs are meant to be small, and to stay it.
const MAX_INPUT_BYTES: u64 = 8 * 1024;

fn fuzz_folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(below)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn stems(folder: &str) -> BTreeSet<String> {
    let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    entries(&fuzz_folder(folder)).into_iter().map(stem).collect()
}

#[test]
fn every_target_has_a_fuzzer_and_a_corpus() {
    let targets: BTreeSet<String> =
        checks::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(targets.len(), checks::TARGETS.len(), "two targets of one name");
    assert_eq!(stems("fuzz_targets"), targets);
    assert_eq!(stems("corpus"), targets);
}

#[test]
fn no_input_of_the_corpus_breaks_a_property() {
    for (name, check) in checks::TARGETS {
        let inputs = entries(&fuzz_folder("corpus").join(name));
        assert!(!inputs.is_empty(), "the corpus of {name} is empty");
        for path in inputs {
            let input = fs_err::read(&path).unwrap();
            assert!(input.len() as u64 <= MAX_INPUT_BYTES, "{} is large", path.display());
            let broken = std::panic::catch_unwind(|| check(&input)).is_err();
            assert!(!broken, "{} breaks a property of {name}", path.display());
        }
    }
}
