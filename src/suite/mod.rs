//! A suite: programs with their workloads, inputs, references and patches, as `suite.toml` says.

pub mod fasta;
pub mod mandelbrot;
mod manifest;
pub mod reverse_complement;
mod source;

pub use manifest::SuiteError;
pub(crate) use manifest::{check_digest, check_file_name};
pub use source::{SourceTree, tree_sha256};

use crate::release::Minor;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A set of programs to build, check and measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suite {
    pub name: String,
    pub about: String,
    pub programs: Vec<Program>,
    /// The generated inputs the programs read, and those that are references.
    pub inputs: Vec<Input>,
}

/// One implementation of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub name: String,
    /// The task it solves; several programs may solve one.
    pub task: String,
    /// What it does and by which technique, in a line.
    pub about: String,
    /// Whether it stands beside the suite's rows: measured and shown like any other, but left out
    /// of every geometric mean.
    pub extra: bool,
    /// What it links through cgo; without one it is built without cgo.
    pub c_library: Option<CLibrary>,
    /// In order of application: newest requirement first.
    pub patches: Vec<Patch>,
    pub sizes: BTreeMap<String, Workload>,
}

/// A C library that a program uses through cgo, as manifests write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CLibrary {
    /// As people call it: `GMP`.
    pub name: String,
    /// The header its users include: `gmp.h`.
    pub header: String,
    /// What the linker's `-l` takes: `gmp`.
    pub link: String,
    /// The Debian package with header and library: `libgmp-dev`.
    pub debian: String,
}

/// A change that lets a program compile on old releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// File in `patches/<program>/`.
    pub file: String,
    /// Releases before this minor need it.
    pub before: Minor,
    /// What those releases lack.
    pub why: String,
    /// Digest of the program's tree with this patch and all before it applied. It is part of the
    /// program's identity: a patch that applies elsewhere than it should is refused.
    pub tree_sha256: String,
}

/// A named amount of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Arguments after the program's name.
    pub args: Vec<String>,
    pub stdin: Stdin,
    pub expect: Reference,
    /// A first guess of how long one run takes, until the check has shown it.
    pub about_ms: u64,
}

/// What a program reads on its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    Null,
    /// The output of the fasta task for this N.
    Fasta(u64),
}

/// The expected output of a task at a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub source: ReferenceSource,
    pub sha256: String,
    pub bytes: u64,
}

/// Where a reference's bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceSource {
    /// A file in `reference-output/`.
    File(String),
    /// The harness generates it: the fasta task's output for this N.
    Fasta(u64),
    /// The harness generates it: the mandelbrot task's output for this N.
    Mandelbrot(u64),
    /// The harness generates it: the reverse-complement task's output for the FASTA text of this N.
    ReverseComplement(u64),
}

/// A generated file, known by its digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// It is the output of the fasta task for this N.
    pub fasta: u64,
    pub sha256: String,
    pub bytes: u64,
}

impl Suite {
    /// Finds a program by its name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// What is known of the fasta input for `n`.
    pub fn input(&self, n: u64) -> Option<&Input> {
        self.inputs.iter().find(|input| input.fasta == n)
    }
}

impl Program {
    /// The patches a survey applies to this program for *every* release, given its oldest one.
    ///
    /// Patches are listed newest requirement first, so this is a prefix of the list.
    pub fn patches_for(&self, oldest: Minor) -> &[Patch] {
        let count = self.patches.iter().take_while(|patch| oldest < patch.before).count();
        &self.patches[..count]
    }
}
