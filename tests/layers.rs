//! Holds the layer table of `src/lib.rs`: a module imports only from layers below its own.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Layers from the lowest to the highest; modules of one layer may use each other.
const LAYERS: [&[&str]; 7] = [
    &["units", "platform", "hex", "digest"],
    &["release", "module", "suite", "measurement", "stats"],
    &["sumdb", "patch", "schedule", "record", "verify", "analysis", "import"],
    &["report"],
    &[
        "proxy",
        "store",
        "mirror",
        "build",
        "exec",
        "host",
        "journal",
        "progress",
        "suite_folder",
        "inputs",
        "source_archive",
        "own_suites",
    ],
    &["cmd"],
    &["cli", "main"],
];

/// What the pure layers (below the edges) may not touch: files, processes, network, environment,
/// clocks, randomness.
const IMPURE: [&str; 14] = [
    "std::fs",
    "fs_err",
    "std::net",
    "std::process",
    "std::env::var",
    "std::env::args",
    "std::time::Instant",
    "std::time::SystemTime",
    "Timestamp::now",
    "reqwest",
    "tempfile",
    "nix::",
    "libc::",
    "/dev/urandom",
];

const EDGES: usize = 4;

fn layer_of(module: &str) -> usize {
    LAYERS
        .iter()
        .position(|layer| layer.contains(&module))
        .unwrap_or_else(|| panic!("module {module} is in no layer: add it to the table"))
}

/// Every source file with the top-level module it belongs to.
fn sources() -> BTreeMap<PathBuf, String> {
    fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &mut found);
    found
        .into_iter()
        .filter(|path| !path.ends_with("src/lib.rs"))
        .map(|path| {
            let first = path.strip_prefix(&root).unwrap().iter().next().unwrap();
            let module = first.to_string_lossy().trim_end_matches(".rs").to_owned();
            (path, module)
        })
        .collect()
}

/// The file's text without comments, and without its tests, which may use whatever they like.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let is_tests = |line: &str| line.trim_start().starts_with("#[cfg(test)]");
    text.lines()
        .take_while(|line| !is_tests(line))
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Is this file only tests?
fn is_test_file(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
        || path.iter().any(|part| part == "tests")
}

/// The modules of this crate that a text names after `crate::` or `gosurvey::`.
fn imported(code: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for (at, matched) in code.match_indices("crate::").chain(code.match_indices("gosurvey::")) {
        let rest = &code[at + matched.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let group = &group[..group.find("};").unwrap_or(group.len())];
            modules.extend(group.split(',').map(|part| word(part.trim()).to_owned()));
        } else {
            modules.push(word(rest).to_owned());
        }
    }
    modules
        .retain(|module| LAYERS.iter().flat_map(|layer| layer.iter()).any(|known| known == module));
    modules
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

#[test]
fn modules_import_only_from_lower_layers() {
    let mut wrong = Vec::new();
    for (path, module) in sources() {
        for import in imported(&code(&path)) {
            if layer_of(&import) > layer_of(&module) {
                wrong.push(format!("{}: {module} imports {import} from above", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn pure_layers_touch_nothing_outside() {
    let mut wrong = Vec::new();
    for (path, module) in sources() {
        if layer_of(&module) >= EDGES || is_test_file(&path) {
            continue;
        }
        let code = code(&path);
        for impure in IMPURE.iter().filter(|impure| code.contains(*impure)) {
            wrong.push(format!("{}: uses {impure}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_module_of_the_library_is_in_the_table() {
    for module in sources().values() {
        layer_of(module);
    }
}

#[test]
fn the_import_reader_sees_every_way_to_write_an_import() {
    let code = "use crate::release::{Minor};\nuse crate::{store::Store, cmd};\nlet x = crate::proxy::get();";
    let mut found = imported(code);
    found.sort();
    assert_eq!(found, ["cmd", "proxy", "release", "store"]);
}
