//! `gosurvey fetch`: toolchains, each with its proof.

use super::session::Session;
use super::{Env, Outcome, Stop, plan};
use crate::build::go_version;
use crate::module::ToolchainModule;
use crate::platform::Platform;
use crate::progress::{Meter, Progress};
use crate::proxy::{ChecksumDatabase, Proxies, SumdbSetting};
use crate::record::{ToolchainRow, ToolchainStatus};
use crate::release::{Release, Selection, ToolchainName};
use crate::store::{Evidence, InstallError, InstallFailure, Store, Toolchain};
use crate::units;
use anyhow::{Context, Error};
use std::io::Write;
use std::path::Path;

/// Fetch toolchains, prove each against the checksum database, and install them in the store
///
/// A toolchain that is installed already is proven again, without the network where the store
/// remembers enough. What no proxy serves is named and skipped (exit code 4); what cannot be proven
/// ends the command (exit code 1) and is not installed.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Releases to fetch, in the same language as for `survey`
    #[arg(long, value_name = "RELEASES", default_value = "all")]
    go: Selection,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let wanted = plan::look_up(&args.go, env)?;
    let store = Store::open(&env.store).context("cannot open the store")?;
    let proxies = env.proxies()?;
    let setting = env.database_setting()?;
    let fetcher = Fetcher::new(&store, &proxies, &setting);
    let mut outcome = Outcome::Done;
    for (what, reason) in &wanted.missing {
        writeln!(env.out, "{what}: {reason}")?;
        outcome = Outcome::SomeFailed;
    }
    for name in wanted.toolchains() {
        let ToolchainName::Published(release) = name else { continue };
        match fetcher.install(release, env) {
            Ok(toolchain) => writeln!(env.out, "{}", described(&toolchain))?,
            Err(error) if error.failure() == InstallFailure::NotPublished => {
                writeln!(env.out, "{error}")?;
                outcome = Outcome::SomeFailed;
            }
            Err(error) => return Err(stop(error)),
        }
    }
    Ok(outcome)
}

/// Brings every toolchain of the plan to hand, and holds those of an earlier start against what
/// was recorded then.
///
/// # Errors
///
/// [`Stop::No`] if a proof fails or a toolchain is another than before.
pub fn stage(session: &mut Session, env: &mut Env) -> Result<(), Stop> {
    let selection = plan::selection(session.plan())?;
    let local = selection.local();
    let store = session.store.clone();
    let proxies = env.proxies()?;
    let setting = env.database_setting()?;
    let fetcher = Fetcher::new(&store, &proxies, &setting);
    for name in session.toolchain_names()? {
        env.stop_if_interrupted(session)?;
        let recorded = session.survey.toolchain(&name.to_string()).cloned();
        if recorded.as_ref().is_some_and(|row| row.status != ToolchainStatus::Installed) {
            continue;
        }
        let found = match &name {
            ToolchainName::Published(release) => fetcher.find(release, env)?,
            ToolchainName::Local { name } => take_local(name, &local),
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

/// Installs toolchains. The stage owns its network connections, so none is open while programs are
/// measured.
struct Fetcher<'a> {
    store: &'a Store,
    proxies: &'a Proxies,
    database: ChecksumDatabase<'a>,
    platform: Platform,
}

impl<'a> Fetcher<'a> {
    fn new(store: &'a Store, proxies: &'a Proxies, setting: &'a SumdbSetting) -> Self {
        let database = ChecksumDatabase::new(proxies, setting);
        Fetcher { store, proxies, database, platform: Platform::host() }
    }

    fn install(&self, release: &Release, env: &Env) -> Result<Toolchain, InstallError> {
        let module = ToolchainModule { release: release.clone(), platform: self.platform.clone() };
        let mut download =
            Download { progress: &*env.progress, what: release.to_string(), meter: None };
        let installed =
            self.store.install(&module, self.proxies, &self.database, &mut |done, of| {
                download.at(done, of);
            });
        download.end();
        installed
    }

    /// # Errors
    ///
    /// Whatever is more than the absence of this toolchain.
    fn find(&self, release: &Release, env: &Env) -> Result<Found, Stop> {
        match self.install(release, env) {
            Ok(toolchain) => Ok(asked_for_its_version(toolchain)),
            Err(error) if error.failure() == InstallFailure::NotPublished => {
                Ok(Err((ToolchainStatus::NotPublished, error.into())))
            }
            Err(error) => Err(stop(error)),
        }
    }
}

/// A download as it is shown: nothing until its first bytes are there, so that a toolchain that is
/// installed already shows none.
struct Download<'a> {
    progress: &'a dyn Progress,
    what: String,
    meter: Option<(Box<dyn Meter>, u64)>,
}

impl Download<'_> {
    fn at(&mut self, done: u64, total: Option<u64>) {
        let (meter, shown) =
            self.meter.get_or_insert_with(|| (self.progress.download(&self.what, total), 0));
        // A transfer that starts over counts again only what it has not shown yet.
        meter.advance(done.saturating_sub(*shown));
        *shown = done.max(*shown);
        if total == Some(done) {
            meter.label("unpacking and hashing");
        }
    }

    fn end(self) {
        if let Some((meter, shown)) = self.meter {
            meter.finish(&format!("{}: {} fetched", self.what, units::bytes(shown as f64)));
        }
    }
}

fn take_local(name: &str, local: &[(&str, &Path)]) -> Found {
    let path = local.iter().find(|(known, _)| *known == name).map(|(_, path)| path);
    let path = path.context("survey.toml: go names no path for it");
    match path.and_then(|path| Toolchain::from_goroot(path)) {
        Ok(toolchain) => asked_for_its_version(toolchain),
        Err(error) => Err((ToolchainStatus::Failed, error)),
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
        Evidence::Unproven => {
            row.proof = "unproven".to_owned();
            row.source = toolchain.root.display().to_string();
        }
    }
}

/// A survey goes on only with the toolchains it began with.
fn hold_against(recorded: &ToolchainRow, now: &ToolchainRow) -> Result<(), Stop> {
    let identity = |row: &ToolchainRow| {
        [row.release.clone(), row.platform.clone(), row.h1.clone(), row.go_version.clone()]
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

fn stop(error: InstallError) -> Stop {
    match error.failure() {
        InstallFailure::Refused | InstallFailure::NotPublished => Stop::No(error.into()),
        InstallFailure::Environment => Stop::Environment(error.into()),
    }
}

/// One line on a toolchain: where it is and what proves it.
pub fn described(toolchain: &Toolchain) -> String {
    let root = toolchain.root.display();
    match &toolchain.evidence {
        Evidence::Proven(proven) => format!(
            "{}  {}  record {} of {} in {}\n  {root}",
            toolchain.release, proven.h1, proven.record_id, proven.tree_size, proven.database
        ),
        Evidence::Unproven => format!("{}  UNPROVEN\n  {root}", toolchain.release),
    }
}
