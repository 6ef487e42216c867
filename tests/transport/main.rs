//! How things are carried over the network: what breaks off is gone on with where that is safe, and
//! nothing is taken for what it is not. Everything here happens on loopback.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod certificates;
mod forwarding;
mod mixing;
mod proxies;
mod redirects;
mod resuming;
#[path = "../common/server.rs"]
mod server;
mod tls;
mod waiting;

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gosurvey::proxy::{FetchError, GoproxyList, Kept, Obtained, Proxies, Recipient, RetryPolicy};
use server::{Fault, Server, Tags};

/// The path of most downloads here.
const ZIP: &str = "m/@v/v1.zip";
const LIMIT: u64 = 64 * 1024 * 1024;

/// Three attempts without waits between them, and no patience.
const QUICK: RetryPolicy = RetryPolicy {
    attempts: 3,
    first_wait: Duration::ZERO,
    longest_wait: Duration::ZERO,
    connect_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(10),
};

/// A server of one file, and a place to keep what comes of it.
struct World {
    folder: tempfile::TempDir,
    server: Server,
}

impl World {
    /// Serves `content` with strong tags.
    fn of(content: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        put(&folder.path().join("www"), ZIP, content);
        let server = Server::start(&folder.path().join("www"));
        server.tag(Tags::Strong);
        World { folder, server }
    }

    fn serve(&self, content: &[u8]) {
        put(&self.folder.path().join("www"), ZIP, content);
    }

    fn kept_path(&self) -> PathBuf {
        self.folder.path().join("kept")
    }

    fn keep(&self) -> Kept {
        Kept::at(self.kept_path())
    }

    /// The bytes kept so far.
    fn kept(&self) -> Vec<u8> {
        fs_err::read(self.kept_path()).unwrap_or_default()
    }

    /// Everything in the folder besides what is served.
    fn left(&self) -> Vec<String> {
        let entries = fs_err::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != "www").collect();
        names.sort();
        names
    }

    fn obtain(&self) -> Result<Got, FetchError> {
        self.obtain_for(QUICK, &Waiter::default())
    }

    fn obtain_for(&self, policy: RetryPolicy, waiter: &Waiter) -> Result<Got, FetchError> {
        obtain(&proxies(&self.server.url(), policy), &self.keep(), waiter)
    }

    /// Where the requests since the last call wanted the content to begin.
    fn ranges(&self) -> Vec<String> {
        let range = |request: server::Request| request.header("range").unwrap_or("").to_owned();
        self.server.take_heads().into_iter().map(range).collect()
    }
}

fn proxies(goproxy: &str, policy: RetryPolicy) -> Proxies {
    Proxies::with_retry(&GoproxyList::parse(goproxy).unwrap(), policy)
}

/// What was obtained, read.
#[derive(Debug, PartialEq, Eq)]
struct Got {
    content: Vec<u8>,
    was_kept: bool,
    url: String,
}

fn obtain(proxies: &Proxies, keep: &Kept, waiter: &Waiter) -> Result<Got, FetchError> {
    let served = proxies.obtain(ZIP, LIMIT, keep, waiter)?;
    let Obtained { mut file, bytes, was_kept } = served.value;
    let mut content = Vec::new();
    file.read_to_end(&mut content).unwrap();
    assert_eq!(content.len() as u64, bytes);
    Ok(Got { content, was_kept, url: served.url })
}

/// Notes what it is told, and stops a transfer on request.
#[derive(Default)]
struct Waiter {
    begins: Mutex<Vec<(Option<u64>, u64)>>,
    received: Mutex<Vec<u64>>,
    has_no_room: bool,
    /// Stops once this many bytes are at hand.
    stop_at: Option<u64>,
    is_stopped: AtomicBool,
}

impl Waiter {
    fn stopping_at(bytes: u64) -> Self {
        Waiter { stop_at: Some(bytes), ..Waiter::default() }
    }

    fn begins(&self) -> Vec<(Option<u64>, u64)> {
        self.begins.lock().unwrap().clone()
    }

    fn stop(&self) {
        self.is_stopped.store(true, Ordering::SeqCst);
    }
}

impl Recipient for Waiter {
    fn begin(&self, total_bytes: Option<u64>, kept_bytes: u64) -> io::Result<()> {
        self.begins.lock().unwrap().push((total_bytes, kept_bytes));
        if self.has_no_room { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn received(&self, bytes: u64) {
        self.received.lock().unwrap().push(bytes);
        if self.stop_at.is_some_and(|at| bytes >= at) {
            self.stop();
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }
}

/// Bytes that repeat nowhere, so that no part of them can be taken for another.
fn bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn put(root: &Path, path: &str, content: &[u8]) {
    let path = root.join(path);
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content).unwrap();
}

/// A folder that serves a list of releases, for the program itself to ask for.
fn list_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let platform = gosurvey::platform::Platform::host();
    let list = format!("v0.0.1-go1.98.1.{}-{}\n", platform.os, platform.arch);
    put(folder.path(), "golang.org/toolchain/@v/list", list.as_bytes());
    folder
}

/// What `gosurvey releases` says, and whether it succeeded.
struct Said {
    is_success: bool,
    output: String,
    error: String,
}

/// Runs `gosurvey releases` with nothing in its environment but `variables`.
fn releases(goproxy: &str, variables: &[(&str, &str)]) -> Said {
    let store = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_gosurvey"))
        .arg("releases")
        .env_clear()
        .env("GOPROXY", goproxy)
        .env("GOSUMDB", "localhost.localdev/sumdb+00000c67+AcTrnkbUA+TU4heY3hkjiSES/DSQniBqIeQ/YppAUtK6 file:///nonexistent")
        .env("GOSURVEY_STORE", store.path())
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    Said {
        is_success: output.status.success(),
        output: String::from_utf8(output.stdout).unwrap(),
        error: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Said {
    #[track_caller]
    fn assert_success(&self) {
        assert!(
            self.is_success && self.output.contains("go1.98.1"),
            "{}{}",
            self.output,
            self.error
        );
    }

    /// Checks that it failed and says all of this.
    #[track_caller]
    fn assert_failure(&self, parts: &[&str]) {
        assert!(!self.is_success, "{}", self.output);
        for part in parts {
            assert!(self.error.contains(part), "{part:?} is not in: {}", self.error);
        }
    }
}
