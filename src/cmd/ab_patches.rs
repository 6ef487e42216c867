//! `gosurvey build --ab-patches`: do the patches for old releases change what is measured?
//!
//! A survey like any other, of two variants of one release: `+unpatched` and `+patched`.

use super::plan::look_up;
use super::session::Session;
use super::{Env, Outcome, PlanArgs, Stop, SurveyArgs, build, check, fetch, report, run as rounds};
use crate::analysis::{Change, Finding, Metric, ReportModel};
use crate::release::Selection;
use crate::report::changes;
use crate::suite_folder::SuiteFolder;
use std::io::Write;

pub fn run(survey: &SurveyArgs, plan: &PlanArgs, env: &mut Env) -> Result<Outcome, Stop> {
    let name = survey.name.clone().unwrap_or_else(|| "ab-patches".to_owned());
    let survey = SurveyArgs { name: Some(name), ..survey.clone() };
    refuse_several(plan, env)?;
    let mut session = Session::open(&survey, &both_texts(&survey, plan)?, env)?;
    fetch::stage(&mut session, env)?;
    build::stage(&mut session, env)?;
    check::stage(&mut session, env)?;
    rounds::stage(&mut session, env)?;
    let outcome = report::stage(&session, env)?;
    let model = session.survey.analyse();
    write!(env.out, "\n{}", changes::section(&model))?;
    let changed = changed(&model);
    if changed.is_empty() {
        writeln!(env.out, "\nNo program's patches change both its elapsed and its CPU time.")?;
        return Ok(outcome);
    }
    Err(Stop::no(format!(
        "the patches change what {} takes, in elapsed and in CPU time; if more --rounds under \
         another --name say the same, write patches that cost nothing",
        changed.join(" and ")
    )))
}

/// Refuses a selection of several releases, before a survey of it is begun.
fn refuse_several(plan: &PlanArgs, env: &Env) -> Result<(), Stop> {
    let Some(go) = &plan.go else { return Ok(()) };
    match look_up(go, env)?.toolchains().len() {
        0 | 1 => Ok(()),
        _ => Err(Stop::usage(
            "--ab-patches compares two texts built by one release; name one in --go, as in \
             --go 1.27",
        )),
    }
}

/// The plan asked for, with its release twice, and without the programs that have no patch.
fn both_texts(survey: &SurveyArgs, plan: &PlanArgs) -> Result<PlanArgs, Stop> {
    let latest = || "latest".parse::<Selection>().expect("a selection");
    let go = plan.go.clone().unwrap_or_else(latest).unpatched_and_patched();
    let mut plan = PlanArgs { go: Some(go), ..plan.clone() };
    if plan.programs.is_empty() {
        let suite = SuiteFolder::load(&survey.suite).map_err(Stop::Usage)?.suite;
        let patched = suite.programs.iter().filter(|program| !program.patches.is_empty());
        plan.programs = patched.map(|program| program.name.clone()).collect();
    }
    Ok(plan)
}

/// The programs that both take more, or both less, elapsed and CPU time with their patches.
///
/// Both are asked because with a dozen programs one alone is called changed by luck too often.
fn changed(model: &ReportModel) -> Vec<&str> {
    let direction = |change: Option<&Change>| {
        let change = change.filter(|change| change.finding == Finding::Changed)?;
        Some(change.ratio > 1.0)
    };
    let of = |metric: Metric, place: usize| {
        let model = model.metrics.iter().find(|model| model.metric == metric)?;
        direction(model.changes.get(place)?.as_ref())
    };
    let programs = model.plan.programs.iter().enumerate();
    let agrees = |place: usize| {
        let elapsed = of(Metric::Elapsed, place);
        elapsed.is_some() && elapsed == of(Metric::Cpu, place)
    };
    programs.filter(|(place, _)| agrees(*place)).map(|(_, program)| program.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::survey;

    #[test]
    fn a_program_is_called_changed_if_both_its_times_say_so() {
        let mut survey = survey();
        assert_eq!(changed(&survey.analyse()), ["binary-trees", "k-nucleotide"]);
        for row in &mut survey.runs {
            // The CPU time no longer tells, the elapsed time still does.
            row.user_us = 1_000_000 + u64::from(row.round);
        }
        assert_eq!(changed(&survey.analyse()), [""; 0]);
    }
}
