//! What a survey is asked to do: arguments, defaults, and the plan they make.

use super::{Env, Stop, StopExt};
use crate::exec::{Sink, launcher_sha256};
use crate::host::random_seed;
use crate::record::{Harness, MissingRelease, Plan, PlannedSuite, Threads};
use crate::release::{Listing, Release, Selection, ToolchainName, Variant, Wanted, check_goamd64};
use crate::store::local_release;
use crate::suite::{Program, Suite, check_file_name};
use crate::suite_folder::SuiteFolder;
use anyhow::Context;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which survey a command works on.
#[derive(clap::Args, Clone, Debug)]
pub struct SurveyArgs {
    /// Name of the survey; its folder is RESULTS/NAME [default: quick with --quick, else survey]
    #[arg(long)]
    pub name: Option<String>,

    /// Folder that holds the surveys
    #[arg(long, value_name = "FOLDER", default_value = "results")]
    pub results: PathBuf,

    /// Folder with the suite's programs/, patches/ and reference-output/, or the name of an imported
    /// suite
    #[arg(long, value_name = "SUITE", default_value = ".")]
    pub suite: PathBuf,
}

/// What to measure. All of it is recorded in the plan; when a survey is started again, what is not
/// said is taken from the plan and what is said must agree with it.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct PlanArgs {
    /// The two newest minors, size quick, 3 rounds; other options still count
    #[arg(long)]
    pub quick: bool,

    /// Releases to compare, as a comma list: 1.21.13, 1.23 (its latest patch), 1.2..1.27, latest,
    /// newest-2, all, 1.26.5+nogreenteagc, 1.27.1+GOAMD64=v3, tip=/path/to/goroot,
    /// mine=/path/to/go1.27.1.linux-amd64.tar.gz [default: all]
    #[arg(long, value_name = "RELEASES")]
    pub go: Option<Selection>,

    /// Program to measure; may be repeated [default: every program of the suite]
    #[arg(long = "program", value_name = "PROGRAM")]
    pub programs: Vec<String>,

    /// Workload: check (tiny), quick (about a second a run), full (the Benchmarks Game's)
    /// [default: full]
    #[arg(long)]
    pub size: Option<String>,

    /// How often every cell is measured [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub rounds: Option<u32>,

    /// Seed of the random order of every round [default: drawn and recorded]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// GOMAXPROCS of the measured programs: all (the number of CPUs, for every release) or native
    /// (left alone; releases before go1.5 then use one thread) [default: all]
    #[arg(long, value_name = "POLICY")]
    pub threads: Option<Threads>,

    /// GOAMD64 for every release that knows it (go1.18 on) [default: v1]
    #[arg(long, value_name = "LEVEL")]
    pub goamd64: Option<String>,

    /// Timed rebuilds of every cell [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub rebuilds: Option<u32>,

    /// Stop a run after this many seconds and record it as timed out [default: 900]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub time_limit: Option<u64>,
}

impl SurveyArgs {
    /// The survey's name: what was given, or one that the same command gives again.
    pub fn name(&self, quick: bool) -> String {
        let default = if quick { "quick" } else { "survey" };
        self.name.clone().unwrap_or_else(|| default.to_owned())
    }

    /// The suite: a folder, or an imported one where a plain name is no suite's folder.
    ///
    /// # Errors
    ///
    /// [`Stop::Usage`] if there is no such suite, or it is none.
    pub fn suite(&self, env: &Env) -> Result<SuiteFolder, Stop> {
        let is_name = self.suite.to_str().is_some_and(|name| check_file_name(name).is_ok());
        if !is_name || self.suite.join("programs/suite.toml").exists() {
            return SuiteFolder::load(&self.suite).or_usage();
        }
        let name = self.suite.to_string_lossy();
        let own = env.own_suites()?;
        let place = own.place(&name).or_usage()?;
        if own.names().iter().any(|known| *known == name) {
            return SuiteFolder::load(&place).or_usage();
        }
        Err(Stop::usage(format!(
            "no suite {name}: there is neither {name}/programs/suite.toml nor {}; imported suites: \
             {}",
            place.display(),
            if own.names().is_empty() { "none".to_owned() } else { own.names().join(", ") }
        )))
    }
}

/// Makes the plan these arguments ask for. What they leave open is taken from `earlier`, the plan
/// of a survey that is started again, or from the defaults.
///
/// The releases are looked up only for a new selection: a survey that is started again measures
/// what it set out to, whatever has been published since.
///
/// # Errors
///
/// [`Stop::Usage`] if there is nothing to compare or a name is unknown; [`Stop::Environment`] if
/// releases must be looked up and no proxy answers.
pub fn make(
    args: &PlanArgs,
    name: &str,
    folder: &SuiteFolder,
    earlier: Option<&Plan>,
    cpus: u32,
    env: &Env,
) -> Result<Plan, Stop> {
    let mut plan = match earlier {
        Some(plan) => plan.clone(),
        None => defaults(name)?,
    };
    plan.schema = Plan::SCHEMA;
    plan.created_at = Timestamp::now();
    plan.command_line = env.command_line.clone();
    plan.suite = PlannedSuite { name: folder.suite.name.clone(), sha256: folder.sha256.clone() };
    plan.harness = harness();
    args.apply(&mut plan);
    plan.environment = environment(plan.threads, cpus);
    check_goamd64(&plan.goamd64).or_usage()?;
    if plan.programs.is_empty() {
        plan.programs = programs_of_size(&folder.suite, &plan.size);
    }
    check_programs(&plan, &folder.suite)?;
    plan.extras = extras(&plan, &folder.suite);
    if earlier.is_none_or(|earlier| earlier.go != plan.go) {
        resolve(&mut plan, env)?;
    }
    Ok(plan)
}

/// The `--go` selection of a plan.
///
/// # Errors
///
/// [`Stop::Usage`] if the plan holds none, because somebody edited it.
pub fn selection(plan: &Plan) -> Result<Selection, Stop> {
    plan.go.parse::<Selection>().context("survey.toml: go").or_usage()
}

impl PlanArgs {
    fn apply(&self, plan: &mut Plan) {
        if self.quick {
            plan.go = "newest-2".to_owned();
            plan.size = "quick".to_owned();
            plan.rounds = 3;
        }
        if let Some(go) = &self.go {
            plan.go = go.to_string();
        }
        if !self.programs.is_empty() {
            plan.programs = self.programs.clone();
        }
        set(&mut plan.size, &self.size);
        set(&mut plan.rounds, &self.rounds);
        set(&mut plan.seed, &self.seed);
        set(&mut plan.threads, &self.threads);
        set(&mut plan.goamd64, &self.goamd64);
        set(&mut plan.build_repetitions, &self.rebuilds);
        set(&mut plan.time_limit_s, &self.time_limit);
    }
}

fn set<T: Clone>(field: &mut T, asked: &Option<T>) {
    if let Some(asked) = asked {
        *field = asked.clone();
    }
}

fn defaults(name: &str) -> Result<Plan, Stop> {
    Ok(Plan {
        schema: Plan::SCHEMA,
        name: name.to_owned(),
        created_at: Timestamp::now(),
        command_line: String::new(),
        go: "all".to_owned(),
        variants: Vec::new(),
        programs: Vec::new(),
        extras: Vec::new(),
        size: "full".to_owned(),
        rounds: 5,
        seed: random_seed().context("cannot draw a seed")?,
        sink: Sink::Memory.to_string(),
        threads: Threads::All,
        environment: Vec::new(),
        goamd64: "v1".to_owned(),
        build_repetitions: 3,
        time_limit_s: 900,
        suite: PlannedSuite { name: String::new(), sha256: String::new() },
        harness: harness(),
        missing: Vec::new(),
    })
}

fn harness() -> Harness {
    Harness {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("GOSURVEY_COMMIT").to_owned(),
        launcher_sha256: launcher_sha256(),
    }
}

/// The whole environment of every measured program: nothing of the caller's leaks in.
fn environment(threads: Threads, cpus: u32) -> Vec<String> {
    match threads {
        Threads::All => vec![format!("GOMAXPROCS={cpus}")],
        Threads::Native => Vec::new(),
    }
}

fn programs_of_size(suite: &Suite, size: &str) -> Vec<String> {
    let has_size = |program: &&Program| program.sizes.contains_key(size);
    suite.programs.iter().filter(has_size).map(|program| program.name.clone()).collect()
}

/// The programs of a plan that the suite keeps out of its means; all of them count where there is
/// nothing else to count.
fn extras(plan: &Plan, suite: &Suite) -> Vec<String> {
    let is_extra = |name: &&String| suite.program(name).is_some_and(|program| program.extra);
    let extras: Vec<String> = plan.programs.iter().filter(is_extra).cloned().collect();
    if extras.len() == plan.programs.len() { Vec::new() } else { extras }
}

fn check_programs(plan: &Plan, suite: &Suite) -> Result<(), Stop> {
    let known = || {
        suite.programs.iter().map(|program| program.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    for name in &plan.programs {
        let Some(program) = suite.program(name) else {
            return Err(Stop::usage(format!(
                "no program {name} in the suite (it has {})",
                known()
            )));
        };
        if !program.sizes.contains_key(&plan.size) {
            let sizes: Vec<&str> = program.sizes.keys().map(String::as_str).collect();
            let sizes = sizes.join(", ");
            return Err(Stop::usage(format!("{name} has no size {} (it has {sizes})", plan.size)));
        }
    }
    match plan.programs.is_empty() {
        true => Err(Stop::usage(format!("no program of the suite has a size {}", plan.size))),
        false => Ok(()),
    }
}

/// Finds out which variants a selection means today.
///
/// # Errors
///
/// [`Stop::Environment`] if a proxy's list is needed and none is to be had.
pub fn look_up(go: &Selection, env: &Env) -> Result<Wanted, Stop> {
    let listing = match go.needs_listing() {
        true => env.listing()?,
        false => Listing::default(),
    };
    Ok(go.resolve(&listing))
}

/// The releases that toolchains from disk say they are, so that they stand among the published ones
/// by age. What cannot be read stands first; the fetch stage says why.
fn local_releases(selection: &Selection) -> BTreeMap<&str, Release> {
    let release = |(name, path)| Some((name, local_release(path).ok()?));
    selection.local().into_iter().filter_map(release).collect()
}

fn resolve(plan: &mut Plan, env: &Env) -> Result<(), Stop> {
    let selection = selection(plan)?;
    let mut wanted = look_up(&selection, env)?;
    let local = local_releases(&selection);
    wanted.variants.sort_by_key(|variant| match &variant.toolchain {
        ToolchainName::Published(release) => Some(release.clone()),
        ToolchainName::Local { name } => local.get(name.as_str()).cloned(),
    });
    plan.variants = wanted.variants.iter().map(Variant::to_string).collect();
    plan.missing = wanted
        .missing
        .into_iter()
        .map(|(wanted, reason)| MissingRelease { wanted, reason })
        .collect();
    if plan.variants.is_empty() {
        let reasons: String = plan
            .missing
            .iter()
            .map(|missing| format!("\n  {}: {}", missing.wanted, missing.reason))
            .collect();
        return Err(Stop::usage(format!("--go {}: nothing to measure{reasons}", plan.go)));
    }
    Ok(())
}
