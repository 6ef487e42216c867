//! Compiles a program with a toolchain, and times how long that takes.
//!
//! The go command is started in an environment built from nothing ([`Environment`]), in a private
//! folder laid out the way the release's era wants it ([`Era`]). It is no measured program: it is
//! waited for and its output is captured here, and only its elapsed time is kept.
//!
//! # What build time means
//!
//! The time of one `go build` of the program with the standard library already compiled and the old
//! executable gone. From go1.10 on the go command keeps compiled packages in `GOCACHE`, so building
//! the same text again only links it. Every timed repetition therefore builds the program with one
//! comment line, never seen before, at the end of each Go file: the text differs, so it is compiled;
//! the code is the same, so the work is. The executable that is kept comes from the plain text, of
//! the first build.

mod c_library;
mod command;
mod environment;
mod era;
mod workspace;

pub use c_library::{InstalledLibrary, find_c_library};
pub use environment::{Environment, knows_goamd64};
pub use era::Era;

use crate::measurement::Outcome;
use crate::platform::Platform;
use crate::record::BuildStatus;
use crate::release::Release;
use crate::suite::SourceTree;
use anyhow::{Context, Result, ensure};
use command::{Finished, GoCommand};
use environment::Settings;
use jiff::Timestamp;
use std::path::{Path, PathBuf};
use std::time::Duration;
use workspace::{Workspace, keep_binary};

/// What to build, with what, and where things go.
#[derive(Clone, Debug)]
pub struct BuildRequest<'a> {
    pub release: &'a Release,
    pub platform: &'a Platform,
    /// The toolchain's root folder, absolute.
    pub goroot: &'a Path,
    /// The program's name; it becomes the last element of its import path.
    pub program: &'a str,
    /// The text to compile, with its patches applied.
    pub tree: &'a SourceTree,
    /// `v1` … `v4`. It reaches the go command of releases that know it; anything but `v1` is
    /// unsupported by the others.
    pub goamd64: &'a str,
    /// Words for `GOEXPERIMENT`, separated by commas.
    pub experiments: Option<&'a str>,
    /// Whether the program needs cgo.
    pub cgo: bool,
    /// Timed rebuilds after the first build.
    pub repetitions: u32,
    /// The go command is killed, with everything it started, after this time.
    pub time_limit: Duration,
    pub folders: Folders<'a>,
}

/// The folders of the store a build uses. They are created where missing.
#[derive(Clone, Copy, Debug)]
pub struct Folders<'a> {
    /// The store's root: paths below it are written `$STORE/…` in records.
    pub store: &'a Path,
    /// The go command's build cache, one for each toolchain.
    pub gocache: &'a Path,
    /// Where private folders are made and removed again.
    pub work: &'a Path,
    /// Where executables are kept, each under its SHA-256.
    pub binaries: &'a Path,
}

/// How one build went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The go command's environment, as `NAME=value` separated by blanks; the store's folder is
    /// written `$STORE`, the private one `$WORK`.
    pub environment: String,
    pub outcome: Result<Binary, BuildFailure>,
}

/// An executable in the store, and what it took to make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    pub path: PathBuf,
    pub sha256: String,
    pub bytes: u64,
    /// Elapsed time of the first build, which may also have compiled the standard library.
    pub first_build_ns: u64,
    /// Elapsed time of every rebuild, in the order they were done.
    pub build_ns: Vec<u64>,
}

/// Why there is no executable. It concerns one cell; the survey goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BuildFailure {
    /// [`BuildStatus::Failed`] or [`BuildStatus::Unsupported`].
    pub status: BuildStatus,
    /// What failed, and the first lines of what the go command said, on one line.
    pub reason: String,
}

/// Builds a program, and rebuilds it as often as asked for.
///
/// Failures of the go command are an outcome, not an error. The executable lies in the store's
/// binaries folder when this returns; nothing else is left behind but the go command's cache.
///
/// # Errors
///
/// If the store cannot be written, or the source tree is not one that can be laid out.
pub fn build(request: &BuildRequest<'_>) -> Result<Build> {
    let workspace = Workspace::new(&request.folders)?;
    let gocache = fs_err::canonicalize(request.folders.gocache)?;
    let settings = Settings {
        release: request.release,
        platform: request.platform,
        goroot: request.goroot,
        goamd64: request.goamd64,
        experiments: request.experiments,
        cgo: request.cgo,
        gocache: &gocache,
        home: &workspace.home(),
        gopath: &workspace.gopath(),
        temporary: &workspace.temporary(),
    };
    let environment = match Environment::for_build(&settings) {
        Ok(environment) => environment,
        Err(reason) => {
            let failure = BuildFailure { status: BuildStatus::Unsupported, reason };
            return Ok(Build { environment: String::new(), outcome: Err(failure) });
        }
    };
    let builder = Builder { request, workspace: &workspace, environment: &environment };
    let outcome = match builder.build() {
        Ok(binary) => Ok(binary),
        Err(Stop::Failure(failure)) => Err(failure),
        Err(Stop::Error(error)) => return Err(error),
    };
    let store = fs_err::canonicalize(request.folders.store)?;
    let names =
        [(workspace.path(), "$WORK"), (&*store, "$STORE"), (request.folders.store, "$STORE")];
    Ok(Build { environment: environment.to_text(&names), outcome })
}

/// Asks the toolchain at `goroot` for its version: `go version go1.21.13 linux/amd64`.
///
/// # Errors
///
/// If there is no go command, it does not start or fails, or it does not answer within a minute.
pub fn go_version(goroot: &Path) -> Result<String> {
    let command = GoCommand {
        program: &goroot.join("bin/go"),
        arguments: &["version".into()],
        folder: goroot,
        environment: &Environment::for_version(goroot),
        input: None,
        time_limit: Duration::from_secs(60),
    };
    let finished =
        command.run().with_context(|| format!("cannot run {}", command.program.display()))?;
    let output = finished.output.trim();
    ensure!(
        finished.outcome == Outcome::Exited(0) && output.starts_with("go version "),
        "{} version: {}: {output:?} (expected `go version go1.…`); is it a toolchain for this machine?",
        command.program.display(),
        finished.outcome,
    );
    Ok(output.to_owned())
}

/// Why a build stops early.
enum Stop {
    /// The cell has no executable.
    Failure(BuildFailure),
    /// Nothing can be built here.
    Error(anyhow::Error),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Self {
        Stop::Error(error)
    }
}

/// One build under way.
struct Builder<'a> {
    request: &'a BuildRequest<'a>,
    workspace: &'a Workspace,
    environment: &'a Environment,
}

impl Builder<'_> {
    fn build(&self) -> Result<Binary, Stop> {
        let first = self.compile("build", None)?;
        let output = self.workspace.output();
        if !is_program(&output)? {
            return Err(failed("go build left no program; is the package not main?".to_owned()));
        }
        let (path, sha256, bytes) = keep_binary(&output, self.request.folders.binaries)?;
        let mut build_ns = Vec::new();
        for repetition in 1..=self.request.repetitions {
            let comment = format!("gosurvey: rebuild {repetition} at {}", Timestamp::now());
            build_ns
                .push(nanoseconds(self.compile(&format!("rebuild {repetition}"), Some(&comment))?));
        }
        Ok(Binary { path, sha256, bytes, first_build_ns: nanoseconds(first), build_ns })
    }

    /// Lets the go command build the program once, from the plain text or with a comment that
    /// makes it another; gives the time it took.
    fn compile(&self, what: &str, comment: Option<&str>) -> Result<Duration, Stop> {
        let request = self.request;
        let era = Era::of(request.release);
        self.workspace.write_source(request, comment)?;
        self.workspace.remove_output()?;
        let command = GoCommand {
            program: &request.goroot.join("bin/go"),
            arguments: &era.arguments(request.release, request.program, &self.workspace.output()),
            folder: &self.workspace.source(era, request.program),
            environment: self.environment,
            input: Some(self.workspace.lock()),
            time_limit: request.time_limit,
        };
        match command.run() {
            Ok(Finished { outcome: Outcome::Exited(0), elapsed, .. }) => Ok(elapsed),
            Ok(finished) => Err(failed(format!(
                "{what}: go build: {}: {}",
                finished.outcome,
                first_lines(&finished.output, self.workspace.path())
            ))),
            Err(error) => {
                Err(failed(format!("{what}: cannot run {}: {error}", command.program.display())))
            }
        }
    }
}

fn failed(reason: String) -> Stop {
    Stop::Failure(BuildFailure { status: BuildStatus::Failed, reason })
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether `file` is an executable rather than the archive of a package, which `go build -o` also
/// writes.
fn is_program(file: &Path) -> Result<bool> {
    use std::io::Read;
    let mut magic = Vec::new();
    match fs_err::File::open(file) {
        Ok(file) => file.take(4).read_to_end(&mut magic)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    Ok(magic == b"\x7fELF")
}

/// The first lines of what a compiler said, on one line, without the private folder's path.
///
/// Headings (`# import/path`) are left out: what follows says the same and more.
fn first_lines(output: &str, workspace: &Path) -> String {
    const LINES: usize = 5;
    const CHARACTERS: usize = 1000;
    let workspace = format!("{}/", workspace.display());
    let said: Vec<String> = output
        .lines()
        .map(|line| line.trim_end().replace(&workspace, ""))
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
        .take(LINES)
        .collect();
    if said.is_empty() {
        return "it said nothing".to_owned();
    }
    said.join("; ").chars().filter(|c| !c.is_control() || *c == '\t').take(CHARACTERS).collect()
}

#[cfg(test)]
mod tests;
