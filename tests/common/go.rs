//! Real Go toolchains for tests.

use gosurvey::release::Release;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// GOROOTs to use instead of those `scripts/dev/toolchains` gets, separated by colons.
const GOROOTS: &str = "GOSURVEY_TEST_GOROOTS";
/// The one waiver: with `1`, tests that need a Go toolchain pass without one.
const WAIVER: &str = "GOSURVEY_TEST_WITHOUT_GO";

/// The toolchains to test with, oldest first; `None` if the caller waived such tests.
///
/// # Panics
///
/// If there is no toolchain and no waiver, saying what to do: a test that could not run must not
/// look like one that passed.
pub fn goroots() -> Option<Vec<(Release, PathBuf)>> {
    static FOUND: OnceLock<Option<Vec<(Release, PathBuf)>>> = OnceLock::new();
    FOUND.get_or_init(find).clone()
}

#[expect(clippy::print_stderr, reason = "this is where a test says that it was waived")]
fn find() -> Option<Vec<(Release, PathBuf)>> {
    if variable(WAIVER).as_deref() == Some("1") {
        eprintln!("waived by {WAIVER}=1: this test needs Go toolchains and tests nothing without");
        return None;
    }
    let list = variable(GOROOTS).unwrap_or_else(fetch);
    let mut found: Vec<_> = list
        .split(':')
        .filter(|root| !root.is_empty())
        .map(|root| (release(Path::new(root)), PathBuf::from(root)))
        .collect();
    assert!(!found.is_empty(), "{GOROOTS} is empty; unset it, or name GOROOTs");
    found.sort();
    Some(found)
}

/// Lets the script get toolchains; it finds those of earlier runs, and waits for one that is
/// getting them.
fn fetch() -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/dev/toolchains");
    let output = Command::new(&script)
        .output()
        .unwrap_or_else(|error| panic!("cannot run {}: {error}", script.display()));
    assert!(
        output.status.success(),
        "no Go toolchain to test with; set {GOROOTS} to GOROOTs separated by colons, or waive these \
         tests with {WAIVER}=1. {} said:\n{}",
        script.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("paths are text").trim().to_owned()
}

/// The release a GOROOT says it is.
fn release(goroot: &Path) -> Release {
    let file = goroot.join("VERSION");
    let text = fs_err::read_to_string(&file).unwrap_or_else(|error| panic!("{GOROOTS}: {error}"));
    let version = text.lines().next().unwrap_or_default();
    version.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[expect(clippy::disallowed_methods, reason = "tests have no cmd::Env to ask")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
