//! One fetch from the real Go module proxy, proven by the real checksum database. Off by default:
//!
//!     cargo test --test live -- --ignored --nocapture

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "what the program says is part of the result")]

use std::path::Path;
use std::process::Command;

/// Runs gosurvey with the go command's own defaults, or with the GOPROXY given.
fn gosurvey(store: &Path, goproxy: Option<&str>, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gosurvey"));
    // A proxy of the network, and the certificates it may need, are the machine's business.
    for name in ["GOPROXY", "GOSUMDB", "GOSURVEY_STORE"] {
        command.env_remove(name);
    }
    command.envs(goproxy.map(|goproxy| ("GOPROXY", goproxy)));
    let output = command.arg("--store").arg(store).args(args).output().unwrap();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("$ gosurvey {}\n{out}{err}", args.join(" "));
    assert!(output.status.success(), "{}", output.status);
    out.into_owned()
}

#[test]
#[ignore = "asks the real Go module proxy and checksum database"]
fn a_toolchain_of_the_real_proxy_is_proven_by_the_real_database() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path();
    let fetched = gosurvey(store, None, &["fetch", "--go", "1.27.3"]);
    assert!(fetched.starts_with("go1.27.3  h1:"), "{fetched}");
    assert!(fetched.contains(" in sum.golang.org\n"), "{fetched}");

    let root = fetched.lines().nth(1).unwrap().trim();
    let version = Command::new(Path::new(root).join("bin/go")).arg("version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    println!("$ go version\n{version}");
    assert!(version.starts_with("go version go1.27.3 "), "{version}");

    // What was proven once is proven again from what the store remembers.
    assert_eq!(gosurvey(store, Some("off"), &["fetch", "--go", "1.27.3"]), fetched);
    let verified = gosurvey(store, Some("off"), &["toolchains", "--verify"]);
    assert!(verified.contains("  intact: "), "{verified}");
}
