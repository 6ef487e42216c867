//! Compiles the launcher (`launcher/`) into a program of its own, which `src/exec` then carries.
//!
//! It is no cargo target because it must not have what cargo targets have: a standard library, a C
//! library, dynamic linking. One compiler call makes it, for the same target and by the same
//! compiler as gosurvey itself; nothing but the linker that gosurvey needs anyway is required.

#![expect(clippy::disallowed_methods, reason = "cargo speaks to build scripts through variables")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler's options: no start-up code, no library, small.
const OPTIONS: &[&str] = &[
    "--edition=2024",
    "--crate-name=launcher",
    "--crate-type=bin",
    "-Copt-level=s",
    "-Cpanic=abort",
    "-Clto=fat",
    "-Ccodegen-units=1",
    "-Cdebuginfo=0",
    "-Cstrip=symbols",
    // Fixed addresses: nothing to relocate at start, so fewer pages of its own.
    "-Crelocation-model=static",
    "-Ctarget-feature=+crt-static",
    "-Clink-arg=-nostartfiles",
    "-Clink-arg=-nostdlib",
    "-Clink-arg=-static",
];

fn main() {
    name_commit();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=launcher");
    let (system, machine) = (variable("CARGO_CFG_TARGET_OS"), variable("CARGO_CFG_TARGET_ARCH"));
    if system != "linux" || !["x86_64", "aarch64"].contains(&machine.as_str()) {
        println!(
            "cargo::error=gosurvey measures processes on Linux on x86_64 and aarch64; \
             the launcher does not exist for {system} on {machine}"
        );
        return;
    }
    compile_launcher(&PathBuf::from(variable("OUT_DIR")).join("launcher"));
}

fn compile_launcher(output: &Path) {
    let mut compiler = Command::new(variable("RUSTC"));
    compiler.args(OPTIONS).arg("--target").arg(variable("TARGET")).arg("-o").arg(output);
    if variable("CARGO_CFG_TARGET_ENV") == "musl" {
        // Else the compiler adds the start-up code of its own C library.
        compiler.arg("-Clink-self-contained=no");
    }
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        compiler.arg(format!("-Clinker={linker}"));
    }
    compiler.arg("launcher/main.rs");
    match compiler.output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => {
            println!("cargo::error=the launcher does not compile: {compiler:?}");
            for line in String::from_utf8_lossy(&output.stderr).lines() {
                println!("cargo::error={line}");
            }
        }
        Err(error) => println!("cargo::error=cannot run {compiler:?}: {error}"),
    }
}

/// Tells the code which commit it is: a survey records it. Outside a checkout it is `unknown`.
fn name_commit() {
    for file in ["HEAD", "index"] {
        // The index changes with every commit and checkout, HEAD only with the branch.
        if Path::new(".git").join(file).exists() {
            println!("cargo::rerun-if-changed=.git/{file}");
        }
    }
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let is_dirty = git(&["status", "--porcelain", "--", "src", "launcher", "Cargo.lock"])
        .is_some_and(|changes| !changes.is_empty());
    println!("cargo::rustc-env=GOSURVEY_COMMIT={commit}{}", if is_dirty { "+changes" } else { "" });
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
