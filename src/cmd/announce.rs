//! What is said before a survey starts: what will be done, on what machine, how long it will take,
//! what is missing.

use super::session::Session;
use super::{Env, Stop};
use crate::record::{Host, Threads, ToolchainStatus};
use crate::units;
use std::io::Write;

/// Prints the plan, and how much of it is done already.
pub fn plan(session: &Session, env: &mut Env) -> Result<(), Stop> {
    write!(env.out, "{}", text(session))?;
    env.out.flush()?;
    Ok(())
}

fn text(session: &Session) -> String {
    let plan = session.plan();
    let cells = session.survey.cells().len();
    let mut lines = vec![format!(
        "survey {}: {} × {}, size {}, {} = {} runs, in {}",
        plan.name,
        counted(plan.variants.len(), "variant"),
        counted(plan.programs.len(), "program"),
        plan.size,
        counted(plan.rounds as usize, "round"),
        cells * plan.rounds as usize,
        session.journal.dir().display(),
    )];
    let mut say = |what: &str, text: String| lines.push(format!("  {what:<10} {text}"));
    say("variants", plan.variants.join(" "));
    say("programs", plan.programs.join(" "));
    say("machine", machine(&session.survey.host));
    say("threads", threads(session));
    for missing in &plan.missing {
        say("missing", format!("{}: {}", missing.wanted, missing.reason));
    }
    for row in &session.survey.toolchains {
        if row.status != ToolchainStatus::Installed {
            say("missing", format!("{}: {}", row.toolchain, row.error));
        }
    }
    let host = &session.survey.host;
    if let Some(permission) =
        host.drops_page_cache.as_ref().filter(|_| !host.page_cache_is_dropped())
    {
        say("page cache", format!("is not dropped between rounds: {permission}"));
    }
    if !session.survey.runs.is_empty() {
        say("done", counted(session.survey.runs.len(), "run"));
    }
    let left = seconds_left(session);
    if left > 0.0 {
        say("time", format!("about {} from now", units::waiting_time(left)));
    }
    lines.join("\n") + "\n"
}

/// A guess of what is left, before the checks have shown it: fetch and build by experience, runs
/// by what the suite says of its sizes.
fn seconds_left(session: &Session) -> f64 {
    const FETCH_S: f64 = 10.0;
    const FIRST_BUILD_S: f64 = 6.0;
    const REBUILD_S: f64 = 0.3;
    const BETWEEN_RUNS_S: f64 = 0.05;
    let survey = &session.survey;
    let plan = session.plan();
    let toolchains = plan.variants.len().saturating_sub(survey.toolchains.len()) as f64;
    let builds = survey.cells().len().saturating_sub(survey.builds.len()) as f64;
    let rebuilds = builds * f64::from(plan.build_repetitions + 1);
    let runs: f64 = survey
        .cells()
        .iter()
        .filter(|cell| {
            survey.build(&cell.variant, &cell.program).is_none_or(|row| row.error.is_empty())
        })
        .map(|cell| {
            let done = survey.runs.iter().filter(|row| row.cell() == *cell).count() as f64;
            let (each, checks) = match survey.check(cell) {
                Some(check) => (check.elapsed_ns as f64 / 1e9, 0.0),
                None => (session.workload(&cell.program).about_ms as f64 / 1e3, 1.0),
            };
            (f64::from(plan.rounds) - done + checks) * (each + BETWEEN_RUNS_S)
        })
        .sum();
    toolchains * (FETCH_S + FIRST_BUILD_S) + rebuilds * REBUILD_S + runs
}

fn machine(host: &Host) -> String {
    let mut parts = vec![host.cpu_model.clone().unwrap_or_else(|| "unknown CPU".to_owned())];
    parts.push(counted(host.cpus as usize, "CPU"));
    parts.extend(host.memory_kib.map(|kib| units::kibibytes(kib as f64)));
    parts.extend(host.kernel.as_deref().map(short_kernel));
    parts.extend(host.virtualisation.clone().filter(|what| what != "none"));
    parts.join(", ")
}

/// `Linux 6.1.0-18-amd64 #1 SMP …` without what follows the release.
fn short_kernel(kernel: &str) -> String {
    kernel.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
}

fn threads(session: &Session) -> String {
    match session.plan().threads {
        Threads::All => format!("{} for every release", session.plan().environment.join(" ")),
        Threads::Native => "left to each release (one before go1.5)".to_owned(),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
