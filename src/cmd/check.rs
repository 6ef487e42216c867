//! `gosurvey check`: run every cell once and compare its whole output.

use super::cell::{Materials, compare, verdict};
use super::complaint::complaint;
use super::session::Session;
use super::{Env, Outcome, PlanArgs, Stop, SurveyArgs, build, fetch};
use crate::exec::{Launcher, Runner, Sink};
use crate::host::Counters;
use crate::record::{Cell, CheckRow};
use crate::report::check_matrix;
use anyhow::Context;
use std::io::Write;

/// Run every cell once and compare its whole output with the reference, byte for byte
///
/// What is missing before it is done first: toolchains are fetched, programs built.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    survey: SurveyArgs,
    #[command(flatten)]
    plan: PlanArgs,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let mut session = Session::open(&args.survey, &args.plan, env)?;
    fetch::stage(&mut session, env)?;
    build::stage(&mut session, env)?;
    stage(&mut session, env)?;
    write!(env.out, "{}", check_matrix(&session.survey))?;
    Ok(session.outcome())
}

/// Checks every built cell that has no check of its binary yet.
pub fn stage(session: &mut Session, env: &mut Env) -> Result<(), Stop> {
    let cells = session.survey.unchecked();
    if cells.is_empty() {
        return Ok(());
    }
    let materials = Materials::gather(session, &cells)?;
    let mut launcher = Launcher::start().context("cannot start the launcher")?;
    let count = cells.len();
    let mut meter = env.progress.stage("check", count as u64);
    for cell in cells {
        env.stop_if_interrupted(session)?;
        meter.label(&cell.to_string());
        let row = check(session, &materials, &mut launcher, &cell)?;
        if !row.passed() {
            env.progress.message(&format!("{cell}: {}", row.error));
        }
        session.record(row)?;
        meter.advance(1);
    }
    meter.finish(&format!("check: {count} of {count} outputs compared"));
    Ok(())
}

fn check(
    session: &Session,
    materials: &Materials,
    runner: &mut impl Runner,
    cell: &Cell,
) -> Result<CheckRow, Stop> {
    let command = materials.command(session, cell)?;
    log::debug!("{}", command.shell_line());
    let before = Counters::read();
    let mut run = runner.run(&command, Sink::Memory).with_context(|| cell.to_string())?;
    let disturbance = Counters::read().since(&before);
    let comparison = compare(session, cell, &mut run.output)?;
    let expected_bytes = session.workload(&cell.program).expect.bytes;
    let build =
        session.survey.build(&cell.variant, &cell.program).expect("only built cells are checked");
    Ok(CheckRow {
        variant: cell.variant.clone(),
        program: cell.program.clone(),
        size: cell.size.clone(),
        binary_sha256: build.binary_sha256.clone(),
        status: run.measurement.outcome,
        sha256: comparison.digest.sha256().to_owned(),
        bytes: comparison.digest.bytes(),
        verdict: verdict(&run, &comparison),
        first_difference_offset: comparison.first_difference.as_ref().map(|d| d.offset),
        error: complaint(&command, &run, &disturbance, &comparison, expected_bytes),
        elapsed_ns: run.measurement.elapsed_ns,
    })
}
