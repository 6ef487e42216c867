//! What the check and the run stage share: a cell's command line, its input, its comparison.

use super::Stop;
use super::session::{Session, variant};
use crate::digest::Digest;
use crate::exec::{Command, Output, Run, Stdin};
use crate::inputs::fasta_input;
use crate::record::{Cell, Verdict};
use crate::release::Variant;
use crate::suite::{self, Workload};
use crate::verify::{self, Comparison};
use anyhow::Context;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::time::Duration;

/// How much more than its reference a program may write before it is stopped: enough to see what
/// it is doing wrong.
const EXCESS_BYTES: u64 = 1 << 20;

/// The inputs and binaries that a set of cells needs, verified.
pub struct Materials {
    inputs: BTreeMap<u64, PathBuf>,
    binaries: BTreeMap<String, PathBuf>,
}

impl Materials {
    /// Makes or verifies every input, verifies every binary against its build's record, and proves
    /// every expected output, so that no run has to wait for it.
    ///
    /// # Errors
    ///
    /// [`Stop::No`] if a binary in the store is not the one that was built.
    pub fn gather(session: &Session, cells: &[Cell]) -> Result<Self, Stop> {
        let mut materials = Materials { inputs: BTreeMap::new(), binaries: BTreeMap::new() };
        for cell in cells {
            let workload = session.workload(&cell.program);
            materials.add_input(session, workload)?;
            session.folder.expected_output(&workload.expect)?;
            materials.add_binary(session, cell)?;
        }
        Ok(materials)
    }

    fn add_input(&mut self, session: &Session, workload: &Workload) -> Result<(), Stop> {
        let suite::Stdin::Fasta(n) = workload.stdin else { return Ok(()) };
        if let Entry::Vacant(place) = self.inputs.entry(n) {
            let input = session.folder.suite.input(n).expect("the suite describes every input");
            place.insert(fasta_input(&session.store, input)?);
        }
        Ok(())
    }

    fn add_binary(&mut self, session: &Session, cell: &Cell) -> Result<(), Stop> {
        let Some(build) = session.survey.build(&cell.variant, &cell.program) else { return Ok(()) };
        let sha256 = &build.binary_sha256;
        if self.binaries.contains_key(sha256) {
            return Ok(());
        }
        let path = session.store.binary(sha256);
        let found = Digest::of(&mut fs_err::File::open(&path)?)?;
        if found.sha256() != sha256 {
            return Err(Stop::no(format!(
                "{}: the binary was built with SHA-256 {sha256}, now it has {}; it is not run: \
                 delete the file and start again",
                path.display(),
                found.sha256()
            )));
        }
        self.binaries.insert(sha256.clone(), path);
        Ok(())
    }

    /// Every file that measured programs read or are.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.inputs.values().chain(self.binaries.values())
    }

    /// The command that runs a cell, in an environment built from nothing.
    pub fn command(&self, session: &Session, cell: &Cell) -> Result<Command, Stop> {
        let workload = session.workload(&cell.program);
        let build =
            session.survey.build(&cell.variant, &cell.program).expect("only built cells are run");
        let stdin = match workload.stdin {
            suite::Stdin::Null => Stdin::Null,
            suite::Stdin::Fasta(n) => Stdin::File(self.inputs[&n].clone()),
        };
        let variant = variant(&cell.variant)?;
        Ok(Command {
            program: self.binaries[&build.binary_sha256].clone(),
            args: workload.args.iter().map(Into::into).collect(),
            env: environment(&session.plan().environment, &variant),
            cwd: "/".into(),
            stdin,
            time_limit: Duration::from_secs(session.plan().time_limit_s),
            output_limit: workload.expect.bytes + EXCESS_BYTES,
        })
    }
}

/// The plan's environment with the variant's settings in place of equal names.
fn environment(planned: &[String], variant: &Variant) -> Vec<(String, String)> {
    let mut environment: BTreeMap<String, String> = planned
        .iter()
        .filter_map(|setting| setting.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    for (name, value) in variant.runtime_variables() {
        environment.insert(name.to_owned(), value.to_owned());
    }
    environment.into_iter().collect()
}

/// Compares what a program wrote with its reference.
///
/// # Errors
///
/// If the expected output cannot be had.
pub fn compare(session: &Session, cell: &Cell, output: &mut Output) -> Result<Comparison, Stop> {
    let reference = &session.workload(&cell.program).expect;
    let expected = session.folder.expected_output(reference)?;
    Ok(verify::compare(&expected, output).context("cannot read a program's output")?)
}

/// What a run that ended like this and wrote this is worth.
pub fn verdict(run: &Run, comparison: &Comparison) -> Verdict {
    match run.measurement.outcome.is_success() {
        true => comparison.verdict(),
        false => Verdict::NotCompared,
    }
}
