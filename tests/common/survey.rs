//! A bench for surveys: a mirror of the real toolchains on loopback, a store, and the real binary.

use super::go;
use super::server::Server;
use gosurvey::mirror::{self, MirrorOptions};
use gosurvey::release::Release;
use gosurvey::suite::Suite;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// What every test of one test program uses.
pub struct Bench {
    pub releases: Vec<Release>,
    goroots: Vec<PathBuf>,
    mirror: PathBuf,
    server: Server,
    gosumdb: String,
    /// Shared by the tests that do not spoil it, so that toolchains are installed once.
    store: TempDir,
}

/// A results folder of one test, and the suite and store it uses.
pub struct SurveyFolder {
    results: TempDir,
    name: String,
    suite: PathBuf,
    store: PathBuf,
}

/// How a run of the binary ended.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Both streams, for messages of failed tests.
    pub fn all(&self) -> String {
        format!("exit {}\n{}\n{}", self.code, self.out, self.err)
    }
}

/// The bench of this test program; nothing if tests that need Go are waived.
pub fn bench() -> Option<&'static Bench> {
    static BENCH: OnceLock<Option<Bench>> = OnceLock::new();
    BENCH.get_or_init(|| go::goroots().map(Bench::new)).as_ref()
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

impl Bench {
    fn new(goroots: Vec<(Release, PathBuf)>) -> Self {
        // They come sorted by release.
        let releases = goroots.iter().map(|(release, _)| release.clone()).collect();
        // Packing a toolchain takes seconds, so the mirror is kept between test runs; making it
        // again finds it whole and leaves it.
        let mirror = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mirror");
        let roots: Vec<PathBuf> = goroots.into_iter().map(|(_, root)| root).collect();
        let options = MirrorOptions::default();
        let summary = mirror::create(&mirror, &roots, &options, &mut |_| {}).unwrap();
        let server = Server::start(&summary.www);
        Bench {
            releases,
            goroots: roots,
            gosumdb: summary.gosumdb(),
            mirror: summary.www,
            server,
            store: TempDir::new().unwrap(),
        }
    }

    /// The GOROOT of the release at `place` in [`Bench::releases`].
    pub fn goroot(&self, place: usize) -> &Path {
        &self.goroots[place]
    }

    /// A GOROOT like the one at `place`, with one file more, called `another`.
    pub fn goroot_with_another_file(&self, place: usize, content: &str) -> TempDir {
        let goroot = TempDir::new().unwrap();
        for entry in fs::read_dir(self.goroot(place)).unwrap() {
            let entry = entry.unwrap();
            std::os::unix::fs::symlink(entry.path(), goroot.path().join(entry.file_name()))
                .unwrap();
        }
        fs::write(goroot.path().join("another"), content).unwrap();
        goroot
    }

    /// How many programs the suite has at size check.
    pub fn programs(&self) -> usize {
        let manifest = fs::read_to_string(repository().join("programs/suite.toml")).unwrap();
        Suite::parse(&manifest).unwrap().programs.len()
    }

    /// A new results folder.
    pub fn survey(&self, name: &str) -> SurveyFolder {
        SurveyFolder {
            results: TempDir::new().unwrap(),
            name: name.to_owned(),
            suite: repository().to_owned(),
            store: self.store.path().to_owned(),
        }
    }

    pub fn gosurvey<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        survey: &SurveyFolder,
    ) -> Ended {
        self.gosurvey_with(arguments, survey, &[])
    }

    /// Runs the binary with more variables in its environment.
    pub fn gosurvey_with<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        survey: &SurveyFolder,
        variables: &[(&str, &str)],
    ) -> Ended {
        let mut command = self.command(arguments, survey);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Starts the binary and does not wait for it.
    pub fn spawn<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        survey: &SurveyFolder,
    ) -> Child {
        let mut command = self.command(arguments, survey);
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        survey: &SurveyFolder,
    ) -> Command {
        let arguments: Vec<_> = arguments.into_iter().map(|a| a.as_ref().to_owned()).collect();
        let takes_a_survey = ["survey", "build", "check", "run", "report"].map(Into::into);
        let mut command = Command::new(env!("CARGO_BIN_EXE_gosurvey"));
        command
            .args(&arguments)
            .env("GOPROXY", self.server.url())
            .env("GOSUMDB", &self.gosumdb)
            .env("GOSURVEY_STORE", &survey.store);
        if takes_a_survey.contains(&arguments[0]) {
            command.arg("--name").arg(&survey.name).arg("--results").arg(survey.results.path());
            command.arg("--suite").arg(&survey.suite);
        }
        command
    }

    /// A copy of the mirror in which one byte of the oldest toolchain's zip is another.
    pub fn mirror_with_a_flipped_byte(&self) -> (TempDir, Release) {
        // In the same file system, for hard links.
        let copy = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        link_tree(&self.mirror, copy.path());
        let release = self.releases[0].clone();
        let versions = copy.path().join("golang.org/toolchain/@v");
        let zip = fs::read_dir(versions)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.to_string_lossy().ends_with(&format!("-{release}.linux-amd64.zip")))
            .unwrap();
        let mut bytes = fs::read(&zip).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::remove_file(&zip).unwrap();
        fs::write(&zip, bytes).unwrap();
        (copy, release)
    }
}

impl SurveyFolder {
    /// The survey's folder.
    pub fn dir(&self) -> PathBuf {
        self.results.path().join(&self.name)
    }

    pub fn suite(&self) -> &Path {
        &self.suite
    }

    pub fn store(&self) -> &Path {
        &self.store
    }

    /// A copy of the suite that the test may change.
    pub fn with_own_suite(mut self) -> Self {
        self.suite = self.results.path().join("suite");
        for folder in ["programs", "patches", "reference-output"] {
            copy_tree(&repository().join(folder), &self.suite.join(folder));
        }
        self
    }

    /// A store that the test may spoil.
    pub fn with_own_store(mut self) -> Self {
        self.store = self.results.path().join("store");
        self
    }
}

fn link_tree(from: &Path, to: &Path) {
    each_file(from, to, &|from, to| fs::hard_link(from, to).unwrap());
}

fn copy_tree(from: &Path, to: &Path) {
    each_file(from, to, &|from, to| {
        fs::copy(from, to).unwrap();
    });
}

fn each_file(from: &Path, to: &Path, place: &dyn Fn(&Path, &Path)) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => each_file(&entry.path(), &target, place),
            false => place(&entry.path(), &target),
        }
    }
}
