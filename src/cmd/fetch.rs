//! `gosurvey fetch`: toolchains, each with its proof.

use super::fetcher::{Fetcher, JobsArgs, stop};
use super::session::Session;
use super::{Env, Outcome, Stop, plan};
use crate::build::go_version;
use crate::record::{ToolchainRow, ToolchainStatus};
use crate::release::{Release, Selection, ToolchainName};
use crate::store::{Evidence, InstallError, InstallFailure, Store, Toolchain};
use anyhow::{Context, Error};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::atomic::AtomicBool;

/// Fetch toolchains, prove each against the checksum database, and install them in the store
///
/// A toolchain that is installed already is proven again, without the network where the store
/// remembers enough. An official release archive on disk (mine=/path/to/go1.27.1.linux-amd64.tar.gz)
/// is proven and installed like a download; a GOROOT is used where it lies, proven or not. What no proxy serves is named and skipped (exit code 4); what cannot be proven
/// ends the command (exit code 1) and is not installed. After an interruption the same command goes
/// on where it stopped.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Releases to fetch, in the same language as for `survey`
    #[arg(long, value_name = "RELEASES", default_value = "all")]
    go: Selection,

    #[command(flatten)]
    jobs: JobsArgs,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let wanted = plan::look_up(&args.go, env)?;
    let store = Store::open(&env.store).context("cannot open the store")?;
    let proxies = env.proxies()?;
    let setting = env.database_setting()?;
    let fetcher = Fetcher::new(&store, &proxies, &setting, args.jobs);
    let mut outcome = Outcome::Done;
    for (what, reason) in &wanted.missing {
        writeln!(env.out, "{what}: {reason}")?;
        outcome = Outcome::SomeFailed;
    }
    let releases = published(wanted.toolchains());
    let Env { out, progress, interrupted, .. } = env;
    fetcher.install_all(&releases, &**progress, interrupted, &mut |_, result| {
        let line = match result {
            Ok(toolchain) => described(&toolchain),
            Err(not_published) => {
                outcome = Outcome::SomeFailed;
                format!("{:#}", Error::from(not_published))
            }
        };
        let mut written = Ok(());
        progress.suspend(&mut || written = writeln!(out, "{line}"));
        Ok(written?)
    })?;
    for name in local(wanted.toolchains()) {
        match take_local(name, &args.go, &fetcher, interrupted)? {
            Ok(toolchain) => writeln!(out, "{name} = {}", described(&toolchain))?,
            Err(error) => {
                outcome = Outcome::SomeFailed;
                writeln!(out, "{name}: {error:#}")?;
            }
        }
    }
    Ok(outcome)
}

fn published<'a>(names: impl IntoIterator<Item = &'a ToolchainName>) -> Vec<Release> {
    let release = |name: &ToolchainName| match name {
        ToolchainName::Published(release) => Some(release.clone()),
        ToolchainName::Local { .. } => None,
    };
    names.into_iter().filter_map(release).collect()
}

fn local(names: Vec<&ToolchainName>) -> impl Iterator<Item = &str> {
    names.into_iter().filter_map(|name| match name {
        ToolchainName::Published(_) => None,
        ToolchainName::Local { name } => Some(name.as_str()),
    })
}

/// Brings every toolchain of the plan to hand, and holds those of an earlier start against what
/// was recorded then.
///
/// # Errors
///
/// [`Stop::No`] if a proof fails or a toolchain is another than before.
pub fn stage(session: &mut Session, env: &mut Env) -> Result<(), Stop> {
    let selection = plan::selection(session.plan())?;
    let store = session.store.clone();
    let proxies = env.proxies()?;
    let setting = env.database_setting()?;
    let fetcher = Fetcher::new(&store, &proxies, &setting, JobsArgs::default());
    let names: Vec<ToolchainName> = session.toolchain_names()?;
    let is_wanted = |name: &&ToolchainName| {
        let recorded = session.survey.toolchain(&name.to_string());
        recorded.is_none_or(|row| row.status == ToolchainStatus::Installed)
    };
    let wanted: Vec<&ToolchainName> = names.iter().filter(is_wanted).collect();
    let mut installed = BTreeMap::new();
    let releases = published(wanted.iter().copied());
    fetcher.install_all(&releases, &*env.progress, &env.interrupted, &mut |release, result| {
        installed.insert(release.clone(), result);
        Ok(())
    })?;
    for name in wanted.into_iter().cloned().collect::<Vec<_>>() {
        env.stop_if_interrupted(session)?;
        let recorded = session.survey.toolchain(&name.to_string()).cloned();
        let found = match &name {
            ToolchainName::Published(release) => {
                found(installed.remove(release).expect("every published release was asked for"))
            }
            ToolchainName::Local { name } => {
                let taken = take_local(name, &selection, &fetcher, &env.interrupted)?;
                taken
                    .map_err(|error| (ToolchainStatus::Failed, error))
                    .and_then(asked_for_its_version)
            }
        };
        let row = row(&name, &found);
        if let Ok((toolchain, _)) = found {
            session.toolchains.insert(name.to_string(), toolchain);
        }
        match recorded {
            Some(recorded) => hold_against(&recorded, &row)?,
            None => {
                if row.status != ToolchainStatus::Installed {
                    env.progress.message(&format!("{name}: {}", row.error));
                }
                session.record(row)?;
            }
        }
    }
    Ok(())
}

/// A toolchain with what `go version` says of it, or why there is none.
type Found = Result<(Toolchain, String), (ToolchainStatus, Error)>;

fn found(installed: Result<Toolchain, InstallError>) -> Found {
    match installed {
        Ok(toolchain) => asked_for_its_version(toolchain),
        Err(not_published) => Err((ToolchainStatus::NotPublished, not_published.into())),
    }
}

/// Takes the toolchain that `selection` calls `name`; an error if there is none where it says.
fn take_local(
    name: &str,
    selection: &Selection,
    fetcher: &Fetcher<'_>,
    interrupted: &AtomicBool,
) -> Result<Result<Toolchain, Error>, Stop> {
    let Some((_, path)) = selection.local().into_iter().find(|(known, _)| *known == name) else {
        return Ok(Err(Error::msg("survey.toml: go names no path for it")));
    };
    match fetcher.take_local(path, interrupted) {
        Ok(toolchain) => Ok(Ok(toolchain)),
        Err(error) if error.failure() == InstallFailure::Unusable => Ok(Err(error.into())),
        Err(error) => Err(stop(error)),
    }
}

fn asked_for_its_version(toolchain: Toolchain) -> Found {
    match go_version(&toolchain.root) {
        Ok(version) => Ok((toolchain, version)),
        Err(error) => Err((ToolchainStatus::Failed, error)),
    }
}

fn row(name: &ToolchainName, found: &Found) -> ToolchainRow {
    let name = name.to_string();
    match found {
        Ok((toolchain, version)) => {
            let mut row = ToolchainRow::bare(&name, ToolchainStatus::Installed, String::new());
            row.release = toolchain.release.to_string();
            row.platform = toolchain.platform.to_string();
            row.go_version = version.clone();
            add_evidence(&mut row, toolchain);
            row
        }
        Err((status, error)) => ToolchainRow::bare(&name, *status, format!("{error:#}")),
    }
}

fn add_evidence(row: &mut ToolchainRow, toolchain: &Toolchain) {
    match &toolchain.evidence {
        Evidence::Proven(proven) => {
            row.proof = "proven".to_owned();
            row.h1 = proven.h1.to_h1();
            row.source = proven.source.clone();
            row.database = proven.database.clone();
            row.record_id = Some(proven.record_id);
            row.tree_size = Some(proven.tree_size);
            row.root = proven.tree_root.clone();
        }
        Evidence::Unproven { h1, reason } => {
            row.proof = "unproven".to_owned();
            row.h1 = h1.map(|h1| h1.to_h1()).unwrap_or_default();
            row.source = toolchain.root.display().to_string();
            row.unproven_because = reason.clone();
        }
    }
}

/// A survey goes on only with the toolchains it began with. Whether one is proven may differ: a
/// checksum database that could not be asked before may be there now.
fn hold_against(recorded: &ToolchainRow, now: &ToolchainRow) -> Result<(), Stop> {
    // Earlier versions took no digest of a GOROOT, and recorded no reason.
    let has_no_digest = recorded.proof == "unproven" && recorded.unproven_because.is_empty();
    let identity = |row: &ToolchainRow| {
        let h1 = if has_no_digest { String::new() } else { row.h1.clone() };
        [row.release.clone(), row.platform.clone(), h1, row.go_version.clone()]
    };
    if now.status == ToolchainStatus::Installed && identity(recorded) == identity(now) {
        return Ok(());
    }
    let shown = |row: &ToolchainRow| match row.status {
        ToolchainStatus::Installed => identity(row).join(" "),
        status => format!("{status}: {}", row.error),
    };
    Err(Stop::no(format!(
        "{}: the toolchain is another than the one this survey began with; give another --name\n  \
         recorded {}\n  now      {}",
        recorded.toolchain,
        shown(recorded),
        shown(now)
    )))
}

/// One line on a toolchain: where it is and what proves it.
pub fn described(toolchain: &Toolchain) -> String {
    let root = toolchain.root.display();
    match &toolchain.evidence {
        Evidence::Proven(proven) => format!(
            "{}  {}  record {} of {} in {}\n  {root}",
            toolchain.release, proven.h1, proven.record_id, proven.tree_size, proven.database
        ),
        Evidence::Unproven { reason, .. } => {
            format!("{}  UNPROVEN: {reason}\n  {root}", toolchain.release)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(proof: &str, h1: &str, because: &str) -> ToolchainRow {
        let mut row = ToolchainRow::bare("mine", ToolchainStatus::Installed, String::new());
        row.proof = proof.to_owned();
        row.h1 = h1.to_owned();
        row.unproven_because = because.to_owned();
        row
    }

    #[test]
    fn a_toolchain_is_the_same_by_its_digest_proven_or_not() {
        let offline = row("unproven", "h1:a", "the database could not be asked");
        let proven = row("proven", "h1:a", "");
        hold_against(&offline, &offline).unwrap();
        hold_against(&offline, &proven).unwrap();
        hold_against(&proven, &offline).unwrap();
        let changed = row("unproven", "h1:b", "the database could not be asked");
        for recorded in [&offline, &proven] {
            let Err(Stop::No(error)) = hold_against(recorded, &changed) else { panic!() };
            let text = error.to_string();
            assert!(text.contains("h1:a") && text.contains("h1:b"), "{text}");
        }
        let no_module = row("unproven", "", "the tree cannot be a module");
        hold_against(&no_module, &no_module).unwrap();
        assert!(hold_against(&no_module, &proven).is_err());
    }

    #[test]
    fn a_survey_of_an_earlier_version_goes_on_without_the_digest() {
        let earlier = row("unproven", "", "");
        hold_against(&earlier, &row("unproven", "h1:a", "no record of it")).unwrap();
        let mut other = row("proven", "h1:a", "");
        other.go_version = "go version go1.99.1".to_owned();
        assert!(hold_against(&earlier, &other).is_err());
    }
}
