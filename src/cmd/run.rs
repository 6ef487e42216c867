//! `gosurvey run`: measure every cell in rounds.

use super::cell::{Materials, compare, verdict};
use super::complaint::complaint;
use super::session::Session;
use super::{Env, Outcome, PlanArgs, Stop, StopExt, SurveyArgs, build, check, fetch};
use crate::exec::{Launcher, Runner, Sink, page_cache};
use crate::host::Counters;
use crate::record::{Cell, RunRow};
use crate::schedule::round_order;
use crate::units;
use anyhow::Context;

/// Measure every cell in rounds, each in a random order from the plan's seed
///
/// What is missing before it is done first: toolchains are fetched, programs built and checked.
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
    check::stage(&mut session, env)?;
    stage(&mut session, env)?;
    Ok(session.outcome())
}

/// Measures what of the plan's rounds is not measured yet.
pub fn stage(session: &mut Session, env: &mut Env) -> Result<(), Stop> {
    let mut launcher = Launcher::start().context("cannot start the launcher")?;
    rounds(session, env, &mut launcher)
}

fn rounds(session: &mut Session, env: &mut Env, runner: &mut impl Runner) -> Result<(), Stop> {
    let cells = session.survey.cells();
    let measurable = session.survey.measurable();
    if session.survey.runs_left() == 0 {
        return Ok(());
    }
    let materials = Materials::gather(session, &measurable)?;
    let count = session.survey.runs_left();
    let mut meter = env.progress.stage("run", count as u64);
    for round in 1..=session.plan().rounds {
        let missing = session.survey.unmeasured(round);
        if missing.is_empty() {
            continue;
        }
        freshen_page_cache(session, &materials, env)?;
        let order = round_order(session.plan().seed, round, cells.len());
        for (position, cell) in order.into_iter().map(|index| &cells[index]).enumerate() {
            if !missing.contains(cell) {
                continue;
            }
            env.stop_if_interrupted(session)?;
            meter.remaining(&time_left(session));
            meter.label(&format!("round {round}: {cell}"));
            let place = Place { round, position: position as u32 + 1 };
            let row = measure(session, &materials, runner, cell, place)?;
            if !row.counts() {
                env.progress.message(&format!("round {round}: {cell}: {}", row.error));
            }
            session.record(row)?;
            meter.advance(1);
        }
    }
    meter.finish(&format!("run: {count} of {count} measured"));
    Ok(())
}

/// How long the remaining runs will take, by what their checks took.
fn time_left(session: &Session) -> String {
    units::waiting_time(session.survey.remaining_ns() as f64 / 1e9)
}

/// Makes every round start alike: nothing in the page cache but what the programs read and are.
///
/// Without the permission to drop it (said before the start and recorded), what is in it stays;
/// inputs and binaries are read back all the same, so that no run has to wait for the disk.
fn freshen_page_cache(session: &Session, materials: &Materials, env: &mut Env) -> Result<(), Stop> {
    if session.survey.host.page_cache_is_dropped()
        && let Err(error) = page_cache::drop_page_cache()
    {
        env.progress.message(&format!("the page cache was not dropped before this round: {error}"));
    }
    for file in materials.files() {
        page_cache::read_back(file)?;
    }
    Ok(())
}

/// Where in the survey a run stands; both from 1.
struct Place {
    round: u32,
    position: u32,
}

fn measure(
    session: &Session,
    materials: &Materials,
    runner: &mut impl Runner,
    cell: &Cell,
    place: Place,
) -> Result<RunRow, Stop> {
    let command = materials.command(session, cell)?;
    let sink: Sink = session.plan().sink.parse().context("survey.toml: sink").or_usage()?;
    log::debug!("{}", command.shell_line());
    let before = Counters::read();
    let mut run = runner.run(&command, sink).with_context(|| cell.to_string())?;
    let disturbance = Counters::read().since(&before);
    let comparison = compare(session, cell, &mut run.output)?;
    let expected_bytes = session.workload(&cell.program).expect.bytes;
    let measured = &run.measurement;
    let build =
        session.survey.build(&cell.variant, &cell.program).expect("only built cells are run");
    Ok(RunRow {
        round: place.round,
        position: place.position,
        variant: cell.variant.clone(),
        program: cell.program.clone(),
        size: cell.size.clone(),
        status: measured.outcome,
        elapsed_ns: measured.elapsed_ns,
        user_us: measured.user_us,
        sys_us: measured.sys_us,
        max_rss_kib: measured.max_rss_kib,
        rss_floor_kib: measured.rss_floor_kib,
        minor_faults: measured.minor_faults,
        major_faults: measured.major_faults,
        voluntary_switches: measured.voluntary_switches,
        involuntary_switches: measured.involuntary_switches,
        steal_ticks: disturbance.steal_ticks,
        psi_cpu_some_us: disturbance.psi_cpu_some_us,
        sink: session.plan().sink.clone(),
        output_sha256: comparison.digest.sha256().to_owned(),
        verdict: verdict(&run, &comparison),
        started_at: run.started_at,
        binary_sha256: build.binary_sha256.clone(),
        error: complaint(&command, &run, &disturbance, &comparison, expected_bytes),
    })
}
