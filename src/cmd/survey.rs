//! `gosurvey survey`: every stage in order.

use super::session::Session;
use super::{
    Env, Outcome, PlanArgs, Stop, SurveyArgs, announce, build, check, fetch, report, run as rounds,
};
use std::io::Write;

/// Run a whole survey: fetch, build, check, run, report
///
/// Started again on the same name it continues where it was, after any kind of end; a finished
/// survey is left as it is. Rows of another plan, machine, toolchain, binary or input are never
/// mixed in: the command refuses and says what differs.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    survey: SurveyArgs,
    #[command(flatten)]
    plan: PlanArgs,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let mut session = Session::open(&args.survey, &args.plan, env)?;
    announce::plan(&session, env)?;
    if session.survey.is_finished() {
        writeln!(env.out, "nothing to do: the survey is finished")?;
        return report::stage(&session, env);
    }
    fetch::stage(&mut session, env)?;
    build::stage(&mut session, env)?;
    check::stage(&mut session, env)?;
    rounds::stage(&mut session, env)?;
    report::stage(&session, env)
}
