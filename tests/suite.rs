//! The suite of this repository holds what its manifest promises.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test may end on what it did not expect"
)]

use gosurvey::patch::apply_all;
use gosurvey::suite::{ReferenceSource, Workload};
use gosurvey::suite_folder::SuiteFolder;
use std::collections::BTreeSet;
use std::path::Path;

/// Longer references are generated too slowly without optimisation.
const LARGEST_GENERATED_BYTES: u64 = 4 << 20;

fn folder() -> SuiteFolder {
    SuiteFolder::load(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn ten_tasks_have_twelve_rows_in_three_sizes() {
    let suite = folder().suite;
    let rows: Vec<_> = suite.programs.iter().filter(|program| !program.extra).collect();
    assert_eq!(rows.len(), 12);
    let tasks: BTreeSet<&str> = rows.iter().map(|program| program.task.as_str()).collect();
    assert_eq!(tasks.len(), 10);
    for program in &suite.programs {
        let sizes: Vec<&str> = program.sizes.keys().map(String::as_str).collect();
        assert_eq!(sizes, ["check", "full", "quick"], "{}", program.name);
    }
}

#[test]
fn every_reference_is_there_and_has_the_digest_of_the_manifest() {
    let folder = folder();
    for program in &folder.suite.programs {
        for Workload { expect, .. } in program.sizes.values() {
            let is_file = matches!(expect.source, ReferenceSource::File(_));
            if is_file || expect.bytes <= LARGEST_GENERATED_BYTES {
                folder.expected_output(expect).unwrap();
            }
        }
    }
}

#[test]
fn every_patch_applies_after_those_above_it_and_gives_the_tree_of_the_manifest() {
    let folder = folder();
    for program in &folder.suite.programs {
        for count in 1..=program.patches.len() {
            let patches: Vec<_> = program.patches[..count]
                .iter()
                .map(|patch| (patch, folder.patch(program, &patch.file)))
                .collect();
            if let Err(error) = apply_all(folder.source(program), &patches) {
                panic!("{}: {error}", program.name);
            }
        }
    }
}

#[test]
fn no_reference_file_or_patch_is_left_that_nothing_names() {
    let folder = folder();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |path: &Path| -> BTreeSet<String> {
        // A program that no release needs a patch for has no folder of them.
        let entries = std::fs::read_dir(path).into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let mut references = BTreeSet::from(["README.md".to_owned()]);
    for program in &folder.suite.programs {
        let patches: BTreeSet<String> =
            program.patches.iter().map(|patch| patch.file.clone()).collect();
        assert_eq!(names(&root.join("patches").join(&program.name)), patches, "{}", program.name);
        for workload in program.sizes.values() {
            if let ReferenceSource::File(file) = &workload.expect.source {
                references.insert(file.clone());
            }
        }
    }
    assert_eq!(names(&root.join("reference-output")), references);
}
