//! `gosurvey toolchains`: what is installed, whether it is still that, and making room.

use super::{Env, Outcome, Stop, fetch};
use crate::proxy::SumdbSetting;
use crate::release::{Listing, Release, Selection, ToolchainName};
use crate::store::{Finding, Inspection, Store};
use crate::units;
use anyhow::Context;
use std::io::Write;
use std::sync::atomic::Ordering;

/// How many files of a damaged toolchain are named.
const NAMED_DIFFERENCES: usize = 10;

/// List the toolchains in the store, with the proof each was installed on; verify or prune them
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Hash every installed file again and hold the tree against the checksum database's record,
    /// from remembered proofs, without the network. What is damaged no longer counts as installed
    /// (exit code 1); what cannot be proven without the network is named (exit code 4)
    #[arg(long)]
    verify: bool,

    /// Remove unfinished downloads, trees without a record, and build caches of toolchains that are
    /// not installed; say how much room that makes
    #[arg(long)]
    prune: bool,

    /// With --prune, remove the installed toolchains that are not among these releases, in the same
    /// language as for `survey`, where `1.23` is its latest patch that is installed and `all` the
    /// latest patch of every minor
    #[arg(long, value_name = "RELEASES", requires = "prune")]
    keep: Option<Selection>,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let store = Store::open(&env.store).context("cannot open the store")?;
    if !args.verify && !args.prune {
        return list(&store, env);
    }
    let mut outcome = Ok(Outcome::Done);
    if args.verify {
        outcome = verify(&store, env);
    }
    if args.prune {
        prune(&store, args.keep.as_ref(), env)?;
    }
    outcome
}

fn list(store: &Store, env: &mut Env) -> Result<Outcome, Stop> {
    let toolchains = store.installed().context("cannot read the store")?;
    for toolchain in &toolchains {
        writeln!(env.out, "{}", fetch::described(toolchain))?;
    }
    if toolchains.is_empty() {
        let root = store.root().display();
        writeln!(env.out, "no toolchain is installed in {root}; see gosurvey fetch --help")?;
    }
    Ok(Outcome::Done)
}

fn verify(store: &Store, env: &mut Env) -> Result<Outcome, Stop> {
    let setting: SumdbSetting = env.database_setting()?;
    let modules = store.installed_modules().context("cannot read the store")?;
    let mut damaged = Vec::new();
    let mut outcome = Outcome::Done;
    let mut meter = env.progress.stage("verify", modules.len() as u64);
    for module in &modules {
        if env.interrupted.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted("nothing was changed by that".to_owned()));
        }
        meter.label(&module.release.to_string());
        let inspection = store.inspect(module, &setting).context("cannot read the store")?;
        match &inspection.finding {
            Finding::Intact { .. } => {}
            Finding::Damaged { .. } => damaged.push(module.release.to_string()),
            Finding::Unproven { .. } => outcome = Outcome::SomeFailed,
        }
        let text = described(&inspection);
        let mut written = Ok(());
        env.progress.suspend(&mut || written = writeln!(env.out, "{text}"));
        written?;
        meter.advance(1);
    }
    drop(meter);
    if damaged.is_empty() {
        return Ok(outcome);
    }
    Err(Stop::no(format!(
        "{} damaged and not counted as installed any more; install anew with\n  gosurvey fetch --go {}",
        if damaged.len() == 1 { "one toolchain is" } else { "some toolchains are" },
        damaged.join(",")
    )))
}

fn described(inspection: &Inspection) -> String {
    let release = &inspection.module.release;
    match &inspection.finding {
        Finding::Intact { toolchain, files } => {
            format!("{}\n  intact: {files} files", fetch::described(toolchain))
        }
        Finding::Damaged { differences } => {
            let mut text = format!("{release}  DAMAGED");
            for difference in differences.iter().take(NAMED_DIFFERENCES) {
                text += &format!("\n  {difference}");
            }
            match differences.len().saturating_sub(NAMED_DIFFERENCES) {
                0 => text,
                more => text + &format!("\n  and {more} more"),
            }
        }
        Finding::Unproven { reason } => format!("{release}  NOT PROVEN\n  {reason}"),
    }
}

fn prune(store: &Store, keep: Option<&Selection>, env: &mut Env) -> Result<Outcome, Stop> {
    let kept: Option<Vec<Release>> = match keep {
        Some(selection) => Some(among_installed(selection, store)?),
        None => None,
    };
    let keeps = |release: &Release| kept.as_ref().is_none_or(|kept| kept.contains(release));
    let pruned = store.prune(&keeps).context("cannot prune the store")?;
    for removed in &pruned {
        let freed = units::bytes(removed.freed_bytes as f64);
        writeln!(env.out, "removed {}  {freed}", removed.path.display())?;
    }
    let freed: u64 = pruned.iter().map(|removed| removed.freed_bytes).sum();
    writeln!(env.out, "{} freed", units::bytes(freed as f64))?;
    Ok(Outcome::Done)
}

/// What a selection means where only installed toolchains are on offer.
///
/// # Errors
///
/// [`Stop::Usage`] if something of it is not installed: a slip of the pen must not cost the others.
fn among_installed(selection: &Selection, store: &Store) -> Result<Vec<Release>, Stop> {
    let modules = store.installed_modules().context("cannot read the store")?;
    let installed: Listing = modules.into_iter().map(|module| module.release).collect();
    let wanted = selection.resolve(&installed);
    let published = |name: &&ToolchainName| match name {
        ToolchainName::Published(release) => Some(release.clone()),
        ToolchainName::Local { .. } => None,
    };
    let kept: Vec<Release> = wanted.toolchains().iter().filter_map(published).collect();
    let absent = kept.iter().find(|release| !installed.all().contains(release));
    if let Some(absent) = absent {
        return Err(Stop::usage(format!("--keep {absent}: it is not installed")));
    }
    match wanted.missing.first() {
        Some((what, reason)) => Err(Stop::usage(format!("--keep {what}: {reason}"))),
        None => Ok(kept),
    }
}
