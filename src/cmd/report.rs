//! `gosurvey report`: raw rows to statements.

use super::session::Session;
use super::{Env, Outcome, Stop, SurveyArgs};
use crate::journal::{self, write_report};
use crate::record::Survey;
use crate::report::{medians_csv, summary_md, terminal_summary};
use std::io::Write;
use std::path::Path;

/// Write the report of a survey from its rows, whole or not
///
/// Reads the survey's files and nothing else; can be repeated at any time, on any machine.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    survey: SurveyArgs,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let dir = args.survey.results.join(args.survey.name(false));
    let (survey, torn) = journal::read(&dir)?;
    for row in &torn {
        env.progress.message(&row.to_string());
    }
    write(&survey, &dir, env)?;
    Ok(Outcome::Done)
}

/// Writes the report of an open survey and says where it is.
pub fn stage(session: &Session, env: &mut Env) -> Result<Outcome, Stop> {
    write(&session.survey, session.journal.dir(), env)?;
    Ok(session.outcome())
}

fn write(survey: &Survey, dir: &Path, env: &mut Env) -> Result<(), Stop> {
    let model = survey.analyse();
    let summary = summary_md(&model);
    write_report(dir, "summary.md", summary.as_bytes())?;
    write_report(dir, "medians.csv", medians_csv(&model).as_bytes())?;
    write!(env.out, "{}", terminal_summary(&model))?;
    writeln!(env.out, "\nreport: {}", dir.join("report/summary.md").display())?;
    Ok(())
}
