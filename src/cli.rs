//! The command line: parse, dispatch, print how it ended.

use crate::cmd::{self, Env, Outcome, Stop};
use crate::progress;
use clap::{Parser, Subcommand};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How fast did Go really get, release by release, and can the answer be trusted?
///
/// gosurvey downloads Go releases, proves each against the Go checksum database, builds the same
/// programs with each, checks every output byte for byte, measures elapsed time, CPU time and peak
/// memory in interleaved rounds, and reports what the measurements can carry.
///
/// A survey is a folder, results/NAME. Every command but `survey` is one stage of it or looks at
/// it; each can be run alone, stopped at any moment and started again.
#[derive(Parser, Debug)]
#[command(name = "gosurvey", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Environment:
  GOPROXY, GOSUMDB  where toolchains and their proofs come from, as for the go command;
                    GONOSUMDB, GOPRIVATE and GOFLAGS change nothing here
  GOSURVEY_STORE    the store, as --store
  XDG_DATA_HOME     imported suites are in gosurvey/suites below it [default: ~/.local/share]

Exit codes:
  0 done   1 the answer is no (a proof fails, a survey does not match its plan)   2 usage
  3 the environment failed (network, disk, permission)   4 done, but some cells failed
  130 interrupted; the last line says how to go on

Start with:
  gosurvey survey --quick";

#[derive(clap::Args, Debug)]
struct Global {
    /// Folder for downloads, toolchains, inputs and binaries; all of it can be deleted and is
    /// rebuilt [default: gosurvey in the user's cache folder]
    #[arg(long, global = true, value_name = "FOLDER")]
    store: Option<PathBuf>,

    /// Say what is done, with every external command as a line for the shell
    #[arg(short, long, global = true)]
    verbose: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    Survey(cmd::survey::Args),
    Releases(cmd::releases::Args),
    Fetch(cmd::fetch::Args),
    Toolchains(cmd::toolchains::Args),
    Build(cmd::build::Args),
    Check(cmd::check::Args),
    Run(cmd::run::Args),
    Report(cmd::report::Args),
    Mirror(cmd::mirror::Args),
    Import(cmd::import::Args),
}

/// Runs the command and prints how it ended.
pub fn run(cli: Cli) -> ExitCode {
    start_logging(cli.global.verbose);
    let ended = surroundings(&cli.global).and_then(|mut env| dispatch(cli.command, &mut env));
    match ended {
        Ok(outcome) => ExitCode::from(outcome.exit_code()),
        Err(stop) => {
            tell(&stop);
            ExitCode::from(stop.exit_code())
        }
    }
}

fn dispatch(command: Command, env: &mut Env) -> Result<Outcome, Stop> {
    match command {
        Command::Survey(args) => cmd::survey::run(&args, env),
        Command::Releases(args) => cmd::releases::run(&args, env),
        Command::Fetch(args) => cmd::fetch::run(&args, env),
        Command::Toolchains(args) => cmd::toolchains::run(&args, env),
        Command::Build(args) => cmd::build::run(&args, env),
        Command::Check(args) => cmd::check::run(&args, env),
        Command::Run(args) => cmd::run::run(&args, env),
        Command::Report(args) => cmd::report::run(&args, env),
        Command::Mirror(args) => cmd::mirror::run(&args, env),
        Command::Import(args) => cmd::import::run(&args, env),
    }
}

/// Reads the process's surroundings, once and only here.
fn surroundings(global: &Global) -> Result<Env, Stop> {
    let variable = |name: &str| {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place where the environment is read"
        )]
        std::env::var(name).ok().filter(|value| !value.is_empty())
    };
    let own_folder = |xdg: &str, default: &str| {
        variable(xdg)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(default)))
            .map(|folder| folder.join("gosurvey"))
    };
    let cache = own_folder("XDG_CACHE_HOME", ".cache");
    let named = global.store.clone().or_else(|| variable("GOSURVEY_STORE").map(PathBuf::from));
    let store = named.or(cache).ok_or_else(|| {
        Stop::usage(
            "no place for the store: HOME is not set; give --store FOLDER or GOSURVEY_STORE",
        )
    })?;
    Ok(Env {
        goproxy: variable("GOPROXY"),
        gosumdb: variable("GOSUMDB"),
        store: std::path::absolute(store)?,
        own_suites: own_folder("XDG_DATA_HOME", ".local/share").map(|data| data.join("suites")),
        command_line: command_line(),
        out: Box::new(io::stdout()),
        progress: progress::on_standard_error(),
        interrupted: stop_on_signals()?,
    })
}

/// The command line as a shell line.
fn command_line() -> String {
    let quoted = std::env::args().enumerate().map(|(index, arg)| match index {
        0 => "gosurvey".to_owned(),
        _ => crate::exec::quoted(arg.as_ref()),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Once: finish the run in progress, then stop. Twice: stop now. A closed terminal stops nothing.
fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::flag;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registered first, so it sees the flag as it was before this signal set it.
        flag::register_conditional_shutdown(signal, 130, Arc::clone(&interrupted))?;
        flag::register(signal, Arc::clone(&interrupted))?;
    }
    flag::register(SIGHUP, Arc::new(AtomicBool::new(false)))?;
    Ok(interrupted)
}

fn start_logging(verbose: bool) {
    let level = if verbose { log::LevelFilter::Debug } else { log::LevelFilter::Warn };
    env_logger::Builder::new()
        .filter_module("gosurvey", level)
        .format(|to, record| writeln!(to, "{}", record.args()))
        .init();
}

#[expect(clippy::print_stderr, reason = "the last word of a command that failed")]
fn tell(stop: &Stop) {
    match stop {
        Stop::No(error) | Stop::Usage(error) | Stop::Environment(error) => {
            eprintln!("gosurvey: {error:#}");
        }
        Stop::Interrupted(how_to_go_on) => eprintln!("interrupted; {how_to_go_on}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
