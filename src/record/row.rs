//! The rows of a survey's CSV files, one type a file.

use super::Cell;
use super::table::Table;
use crate::measurement::Outcome;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::str::FromStr;

/// What became of a toolchain the plan asked for: a row of `toolchains.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolchainRow {
    /// `go1.21.13`, or the name given to a toolchain from disk.
    pub toolchain: String,
    #[serde(with = "as_text")]
    pub status: ToolchainStatus,
    /// The release the toolchain says it is; empty if it was not had.
    pub release: String,
    pub platform: String,
    /// `h1:` hash of the module tree; empty if the toolchain was not had or its tree cannot be a
    /// module.
    pub h1: String,
    /// Where the module zip, the release archive or the GOROOT came from.
    pub source: String,
    /// `proven` or `unproven`.
    pub proof: String,
    /// The checksum database the proof comes from.
    pub database: String,
    pub record_id: Option<u64>,
    pub tree_size: Option<u64>,
    /// Root hash of the signed tree head, base64.
    pub root: String,
    /// What `go version` printed.
    pub go_version: String,
    /// Why the toolchain was not had; empty if it was.
    pub error: String,
    /// Why a toolchain that was had is unproven, as the end of a sentence; empty if it is proven.
    #[serde(default)]
    pub unproven_because: String,
}

/// One cell's build: a row of `builds.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildRow {
    pub variant: String,
    pub program: String,
    #[serde(with = "as_text")]
    pub status: BuildStatus,
    /// Digest of the program's source tree before any patch.
    pub source_sha256: String,
    /// Digest of the patches applied, in order; empty if none.
    pub patches_sha256: String,
    /// Digest of the tree that was compiled.
    pub tree_sha256: String,
    /// The names of the patches applied, separated by blanks.
    pub patches: String,
    pub binary_sha256: String,
    pub binary_bytes: Option<u64>,
    /// Elapsed time of every repetition of the rebuild, in nanoseconds, separated by blanks.
    pub build_ns: String,
    /// Elapsed time of the first build, which may also compile the standard library.
    pub first_build_ns: Option<u64>,
    /// Environment of the go command, as `NAME=value` separated by blanks; paths are relative to
    /// the store.
    pub environment: String,
    /// What failed, and the first lines of what the compiler said.
    pub error: String,
    /// File name of the C library the program links, with its version: `libgmp.so.10.4.1`; empty
    /// if it needs none.
    #[serde(default)]
    pub c_library: String,
    /// Digest of that file, which is as much a part of what is measured as the binary.
    #[serde(default)]
    pub c_library_sha256: String,
}

impl BuildRow {
    /// Takes `self` for the row that holds on its cell, unless an earlier one does: the first that
    /// is not [`BuildStatus::Skipped`], or the last if all are.
    pub fn succeed<'a>(&'a self, earlier: &mut Option<&'a BuildRow>) {
        if earlier.is_none_or(|row| row.status == BuildStatus::Skipped) {
            *earlier = Some(self);
        }
    }
}

/// One cell's output compared in full before it is measured: a row of `outputs.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRow {
    pub variant: String,
    pub program: String,
    pub size: String,
    /// The binary that was checked; a check holds for it alone.
    pub binary_sha256: String,
    #[serde(with = "as_text")]
    pub status: Outcome,
    pub sha256: String,
    pub bytes: u64,
    #[serde(with = "as_text")]
    pub verdict: Verdict,
    pub first_difference_offset: Option<u64>,
    /// What is wrong, in words; empty if nothing is.
    pub error: String,
    /// Of this one run; only good for estimating how long the rounds will take.
    pub elapsed_ns: u64,
}

/// One measured process: a row of `runs.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// From 1.
    pub round: u32,
    /// Place in the round's order, from 1.
    pub position: u32,
    pub variant: String,
    pub program: String,
    pub size: String,
    #[serde(with = "as_text")]
    pub status: Outcome,
    pub elapsed_ns: u64,
    pub user_us: u64,
    pub sys_us: u64,
    pub max_rss_kib: u64,
    /// What `max_rss_kib` cannot go below; a value at it means "at most".
    pub rss_floor_kib: u64,
    pub minor_faults: u64,
    pub major_faults: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// Ticks (usually of 10 ms) stolen from the whole machine by its hypervisor during the run.
    pub steal_ticks: Option<u64>,
    /// Time in which some task of the whole machine waited for a CPU during the run.
    pub psi_cpu_some_us: Option<u64>,
    /// Where the program's standard output went.
    pub sink: String,
    pub output_sha256: String,
    #[serde(with = "as_text")]
    pub verdict: Verdict,
    pub started_at: Timestamp,
    pub binary_sha256: String,
    /// What is wrong, in words; empty if nothing is.
    #[serde(default)]
    pub error: String,
}

/// Whether an output is the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is the reference's.
    Matches,
    /// It is not; the row or its neighbour in `outputs.csv` says where.
    Differs,
    /// The run did not end well, so its output was not compared.
    NotCompared,
}

/// How a build ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildStatus {
    Built,
    /// The go command failed.
    Failed,
    /// A patch does not apply or does not give the tree the suite names.
    PatchRejected,
    /// The toolchain cannot do what the variant asks for.
    Unsupported,
    /// This machine lacks what the program needs. It may be installed, so the row says only how
    /// things were; a later one takes its place.
    Skipped,
}

/// How the search for a toolchain ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolchainStatus {
    Installed,
    /// No proxy serves it for this platform.
    NotPublished,
    /// It is there but does not run, or could not be had for another reason.
    Failed,
}

/// Gives an enum its one text form, for files and for people.
macro_rules! text_form {
    ($type:ident { $($variant:ident = $text:literal),+ $(,)? }) => {
        impl Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text),+ })
            }
        }
        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(format!(
                        "{other:?} is none of: {}", [$($text),+].join(", ")
                    )),
                }
            }
        }
    };
}

text_form!(Verdict { Matches = "matches", Differs = "differs", NotCompared = "not compared" });
text_form!(BuildStatus {
    Built = "built",
    Failed = "failed",
    PatchRejected = "patch rejected",
    Unsupported = "unsupported",
    Skipped = "skipped",
});
text_form!(ToolchainStatus {
    Installed = "installed",
    NotPublished = "not published",
    Failed = "failed",
});

impl Table for ToolchainRow {
    const FILE: &'static str = "toolchains.csv";
    const COLUMNS: &'static [&'static str] = &[
        "toolchain",
        "status",
        "release",
        "platform",
        "h1",
        "source",
        "proof",
        "database",
        "record_id",
        "tree_size",
        "root",
        "go_version",
        "error",
        "unproven_because",
    ];
    const LATER: &'static [&'static str] = &["unproven_because"];
}

impl Table for BuildRow {
    const FILE: &'static str = "builds.csv";
    const COLUMNS: &'static [&'static str] = &[
        "variant",
        "program",
        "status",
        "source_sha256",
        "patches_sha256",
        "tree_sha256",
        "patches",
        "binary_sha256",
        "binary_bytes",
        "build_ns",
        "first_build_ns",
        "environment",
        "error",
        "c_library",
        "c_library_sha256",
    ];
    const LATER: &'static [&'static str] = &["c_library", "c_library_sha256"];
}

impl Table for CheckRow {
    const FILE: &'static str = "outputs.csv";
    const COLUMNS: &'static [&'static str] = &[
        "variant",
        "program",
        "size",
        "binary_sha256",
        "status",
        "sha256",
        "bytes",
        "verdict",
        "first_difference_offset",
        "error",
        "elapsed_ns",
    ];
}

impl Table for RunRow {
    const FILE: &'static str = "runs.csv";
    const COLUMNS: &'static [&'static str] = &[
        "round",
        "position",
        "variant",
        "program",
        "size",
        "status",
        "elapsed_ns",
        "user_us",
        "sys_us",
        "max_rss_kib",
        "rss_floor_kib",
        "minor_faults",
        "major_faults",
        "voluntary_switches",
        "involuntary_switches",
        "steal_ticks",
        "psi_cpu_some_us",
        "sink",
        "output_sha256",
        "verdict",
        "started_at",
        "binary_sha256",
        "error",
    ];
    const LATER: &'static [&'static str] = &["error"];
}

impl ToolchainRow {
    /// The row of a toolchain of which nothing else is known.
    pub fn bare(toolchain: &str, status: ToolchainStatus, error: String) -> Self {
        ToolchainRow {
            toolchain: toolchain.to_owned(),
            status,
            release: String::new(),
            platform: String::new(),
            h1: String::new(),
            source: String::new(),
            proof: String::new(),
            database: String::new(),
            record_id: None,
            tree_size: None,
            root: String::new(),
            go_version: String::new(),
            error,
            unproven_because: String::new(),
        }
    }
}

impl BuildRow {
    /// The elapsed time of every repetition, in nanoseconds.
    pub fn build_times_ns(&self) -> Vec<u64> {
        self.build_ns.split(' ').filter_map(|text| text.parse().ok()).collect()
    }
}

impl CheckRow {
    pub fn cell(&self) -> Cell {
        Cell {
            variant: self.variant.clone(),
            program: self.program.clone(),
            size: self.size.clone(),
        }
    }

    /// Whether the cell may be measured.
    pub fn passed(&self) -> bool {
        self.status == Outcome::Exited(0) && self.verdict == Verdict::Matches
    }
}

impl RunRow {
    pub fn cell(&self) -> Cell {
        Cell {
            variant: self.variant.clone(),
            program: self.program.clone(),
            size: self.size.clone(),
        }
    }

    /// User plus system time, in nanoseconds.
    pub fn cpu_ns(&self) -> u64 {
        self.user_us.saturating_add(self.sys_us).saturating_mul(1_000)
    }

    /// Whether the run counts as a measurement: it ended well and printed what it should.
    pub fn counts(&self) -> bool {
        self.status == Outcome::Exited(0) && self.verdict == Verdict::Matches
    }
}

/// Stores a value by its text form.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::fmt::Display;
    use std::str::FromStr;

    pub fn serialize<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
