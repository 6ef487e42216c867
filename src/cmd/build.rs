//! `gosurvey build`: compile every program with every toolchain.

use super::session::{Session, variant};
use super::{Env, Outcome, PlanArgs, Stop, SurveyArgs, ab_patches, fetch};
use crate::build::{self, BuildRequest, Folders, InstalledLibrary, find_c_library, knows_goamd64};
use crate::digest::Digest;
use crate::patch::{PatchError, Patched, apply_all};
use crate::record::{BuildRow, BuildStatus};
use crate::release::{Patches, Variant};
use crate::store::Toolchain;
use crate::suite::{Patch, Program};
use anyhow::Context;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// Compile every program with every toolchain, and time the rebuilds
///
/// If one release of the survey needs a patch, all get it, so every release compiles the same text.
/// What is missing before it is done first: toolchains are fetched.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    survey: SurveyArgs,
    #[command(flatten)]
    plan: PlanArgs,

    /// Instead, measure whether the patches for old releases change what one release makes of the
    /// programs (the newest, or the one that --go names): without any against with all of them, in
    /// a survey of its own, whose --name is ab-patches unless another is given. Exit code 1 if they
    /// do
    #[arg(long)]
    ab_patches: bool,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    if args.ab_patches {
        return ab_patches::run(&args.survey, &args.plan, env);
    }
    let mut session = Session::open(&args.survey, &args.plan, env)?;
    fetch::stage(&mut session, env)?;
    stage(&mut session, env)?;
    Ok(session.outcome())
}

/// The go command is stopped after this: a cold build of a whole standard library takes seconds.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Builds what has not been built, and brings back binaries that the store has lost.
///
/// # Errors
///
/// [`Stop::No`] if a binary that had to be built again is not the one that was measured.
pub fn stage(session: &mut Session, env: &mut Env) -> Result<(), Stop> {
    let work = work(session)?;
    if work.is_empty() {
        return Ok(());
    }
    let libraries = CLibraries::of(session, &work)?;
    let count = work.len();
    let mut meter = env.progress.stage("build", count as u64);
    for (program, missing) in libraries.missing() {
        env.progress.message(&format!("{program} is skipped: {missing}"));
    }
    for (variant, program) in work {
        env.stop_if_interrupted(session)?;
        meter.label(&format!("{variant} {program}"));
        let recorded = session.survey.build(&variant.to_string(), &program).cloned();
        let lost = recorded.as_ref().filter(|row| row.status == BuildStatus::Built);
        let repetitions = if lost.is_some() { 0 } else { session.plan().build_repetitions };
        let row = build_cell(session, &libraries, &variant, &program, repetitions)?;
        if let Some(lost) = lost {
            hold_against(lost, &row)?;
        } else if recorded.as_ref() != Some(&row) {
            if !matches!(row.status, BuildStatus::Built | BuildStatus::Skipped) {
                env.progress.message(&format!("{variant} {program}: {}", row.error));
            }
            session.record(row)?;
        }
        meter.advance(1);
    }
    meter.finish(&format!("build: {count} of {count} done"));
    Ok(())
}

/// The C libraries that programs to build need: found, or what is missing.
struct CLibraries(BTreeMap<String, Result<InstalledLibrary, String>>);

impl CLibraries {
    /// Looks for the library of every program in `work`.
    fn of(session: &Session, work: &[(Variant, String)]) -> Result<Self, Stop> {
        let mut libraries = BTreeMap::new();
        for (_, program) in work {
            if let Some(library) = &session.program(program).c_library
                && !libraries.contains_key(program)
            {
                let found = find_c_library(library, &session.store.tmp())?;
                libraries.insert(program.clone(), found);
            }
        }
        Ok(CLibraries(libraries))
    }

    /// The programs that cannot be built here, and what they lack.
    fn missing(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|(program, library)| match library {
            Ok(_) => None,
            Err(missing) => Some((program.as_str(), missing.as_str())),
        })
    }
}

/// What is to be built: everything without a row that settles it, and what the store no longer has
/// intact.
fn work(session: &Session) -> Result<Vec<(Variant, String)>, Stop> {
    let mut work = Vec::new();
    for cell in session.survey.cells() {
        let variant = variant(&cell.variant)?;
        if session.toolchain(&variant).is_none() {
            continue;
        }
        let needed = match session.survey.build(&cell.variant, &cell.program) {
            None => true,
            Some(row) => match row.status {
                BuildStatus::Skipped => true,
                BuildStatus::Built => !is_kept(session, row)?,
                _ => false,
            },
        };
        if needed {
            work.push((variant, cell.program));
        }
    }
    Ok(work)
}

fn is_kept(session: &Session, row: &BuildRow) -> Result<bool, Stop> {
    match fs_err::File::open(session.store.binary(&row.binary_sha256)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        opened => Ok(Digest::of(&mut opened?)?.sha256() == row.binary_sha256),
    }
}

fn build_cell(
    session: &Session,
    libraries: &CLibraries,
    variant: &Variant,
    name: &str,
    repetitions: u32,
) -> Result<BuildRow, Stop> {
    let program = session.program(name);
    let toolchain = session.toolchain(variant).expect("only cells with a toolchain are built");
    let mut row = BuildRow {
        variant: variant.to_string(),
        program: name.to_owned(),
        status: BuildStatus::Built,
        source_sha256: session.folder.source(program).sha256(),
        patches_sha256: String::new(),
        tree_sha256: String::new(),
        patches: String::new(),
        binary_sha256: String::new(),
        binary_bytes: None,
        build_ns: String::new(),
        first_build_ns: None,
        environment: String::new(),
        error: String::new(),
        c_library: String::new(),
        c_library_sha256: String::new(),
    };
    match libraries.0.get(name) {
        None => {}
        Some(Ok(library)) => {
            row.c_library = library.file.clone();
            row.c_library_sha256 = library.sha256.clone();
        }
        Some(Err(missing)) => {
            row.status = BuildStatus::Skipped;
            row.error = missing.clone();
            return Ok(row);
        }
    }
    let patches = patches(session, variant, program);
    let patched = match patched(session, program, patches) {
        Ok(patched) => patched,
        Err(error) => {
            row.status = BuildStatus::PatchRejected;
            row.error = error.to_string();
            return Ok(row);
        }
    };
    row.patches = patches.iter().map(|patch| patch.file.as_str()).collect::<Vec<_>>().join(" ");
    row.patches_sha256 = patched.patches_sha256.clone();
    row.tree_sha256 = patched.tree.sha256();
    let built = compile(session, variant, toolchain, program, &patched, repetitions)?;
    row.environment = built.environment;
    match built.outcome {
        Ok(binary) => {
            row.binary_sha256 = binary.sha256;
            row.binary_bytes = Some(binary.bytes);
            row.first_build_ns = Some(binary.first_build_ns);
            row.build_ns = binary.build_ns.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        }
        Err(failure) => {
            row.status = failure.status;
            row.error = failure.reason;
        }
    }
    Ok(row)
}

fn compile(
    session: &Session,
    variant: &Variant,
    toolchain: &Toolchain,
    program: &Program,
    patched: &Patched,
    repetitions: u32,
) -> Result<build::Build, Stop> {
    let store = &session.store;
    let experiments = variant.experiments();
    let request = BuildRequest {
        release: &toolchain.release,
        platform: &toolchain.platform,
        goroot: &toolchain.root,
        program: &program.name,
        tree: &patched.tree,
        goamd64: goamd64(session, variant, toolchain),
        experiments: experiments.as_deref(),
        cgo: program.c_library.is_some(),
        repetitions,
        time_limit: TIME_LIMIT,
        folders: Folders {
            store: store.root(),
            gocache: &store.gocache(&variant.toolchain),
            work: &store.tmp(),
            binaries: &store.binaries(),
        },
    };
    Ok(build::build(&request).with_context(|| format!("{variant} {}", program.name))?)
}

/// A variant's own `GOAMD64`, else the plan's for a release that knows it.
fn goamd64<'a>(session: &'a Session, variant: &'a Variant, toolchain: &Toolchain) -> &'a str {
    match variant.goamd64() {
        Some(own) => own,
        None if knows_goamd64(&toolchain.release, &toolchain.platform) => &session.plan().goamd64,
        None => "v1",
    }
}

/// The patches of a program that a variant takes. Unless it says itself, these are the same for
/// every release: those that the oldest toolchain of the survey needs.
fn patches<'a>(session: &Session, variant: &Variant, program: &'a Program) -> &'a [Patch] {
    let oldest = || session.toolchains.values().map(|toolchain| toolchain.release.minor()).min();
    match variant.patches() {
        Some(Patches::All) => &program.patches,
        Some(Patches::None) => &[],
        None => oldest().map(|oldest| program.patches_for(oldest)).unwrap_or_default(),
    }
}

fn patched(session: &Session, program: &Program, patches: &[Patch]) -> Result<Patched, PatchError> {
    let patches: Vec<_> =
        patches.iter().map(|patch| (patch, session.folder.patch(program, &patch.file))).collect();
    apply_all(session.folder.source(program), &patches)
}

/// A survey goes on only with the binaries it began with.
fn hold_against(recorded: &BuildRow, now: &BuildRow) -> Result<(), Stop> {
    if recorded.binary_sha256 == now.binary_sha256 {
        return Ok(());
    }
    Err(Stop::no(format!(
        "{} {}: the store lost the binary this survey measured, and building it again gave another \
         one; give another --name\n  recorded {}\n  now      {}",
        recorded.variant,
        recorded.program,
        recorded.binary_sha256,
        if now.error.is_empty() { &now.binary_sha256 } else { &now.error }
    )))
}
