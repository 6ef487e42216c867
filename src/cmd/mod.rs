//! The commands: one file each, with its `Args` and its `run`. Only here does I/O meet analysis.

mod ab_patches;
mod announce;
pub mod build;
mod cell;
pub mod check;
mod complaint;
pub mod fetch;
mod fetcher;
pub mod import;
pub mod mirror;
mod outcome;
mod plan;
pub mod releases;
pub mod report;
pub mod run;
mod session;
pub mod survey;
pub mod toolchains;

pub use outcome::{Outcome, Stop, StopExt};
pub use plan::{PlanArgs, SurveyArgs};

use crate::module::{self, limits};
use crate::own_suites::OwnSuites;
use crate::platform::Platform;
use crate::progress::Progress;
use crate::proxy::{GoproxyList, Proxies, SumdbSetting};
use crate::release::Listing;
use anyhow::Context;
use session::Session;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything a command takes from its surroundings, read once by `main`, so that commands can be
/// run by tests.
pub struct Env {
    /// `GOPROXY`, as the go command reads it.
    pub goproxy: Option<String>,
    /// `GOSUMDB`, as the go command reads it.
    pub gosumdb: Option<String>,
    /// Where downloads, toolchains, inputs and binaries are kept.
    pub store: PathBuf,
    /// Where imported suites are; `None` if there is no place for them.
    pub own_suites: Option<PathBuf>,
    /// The command line as typed, for the plan.
    pub command_line: String,
    /// Where answers go.
    pub out: Box<dyn Write>,
    /// Where progress is shown.
    pub progress: Box<dyn Progress>,
    /// Set when the user asks to stop; stages look at it between processes.
    pub interrupted: Arc<AtomicBool>,
}

impl Env {
    /// The proxies of `GOPROXY`.
    ///
    /// # Errors
    ///
    /// [`Stop::Usage`] if the variable cannot be read.
    pub fn proxies(&self) -> Result<Proxies, Stop> {
        let list = GoproxyList::parse(self.goproxy.as_deref().unwrap_or_default()).or_usage()?;
        Ok(Proxies::new(&list))
    }

    /// The checksum database of `GOSUMDB`.
    ///
    /// # Errors
    ///
    /// [`Stop::Usage`] if the variable cannot be read, or switches the database off.
    pub fn database_setting(&self) -> Result<SumdbSetting, Stop> {
        SumdbSetting::parse(self.gosumdb.as_deref().unwrap_or_default()).or_usage()
    }

    /// The suites the user has imported.
    ///
    /// # Errors
    ///
    /// [`Stop::Usage`] if there is no place for them.
    pub fn own_suites(&self) -> Result<OwnSuites, Stop> {
        const NO_PLACE: &str = "no place for imported suites: HOME is not set; set XDG_DATA_HOME";
        let root = self.own_suites.clone().ok_or_else(|| Stop::usage(NO_PLACE))?;
        Ok(OwnSuites::at(root))
    }

    /// What the proxies list of toolchains for this platform.
    ///
    /// # Errors
    ///
    /// [`Stop::Environment`] if none answers or what one answers is no list.
    pub fn listing(&self) -> Result<Listing, Stop> {
        let served = self.proxies()?.read(module::LIST_PATH, limits::LIST_BYTES);
        const NO_LIST: &str = "no list of releases (name another proxy in GOPROXY, or releases in \
                               full in --go: 1.27.1)";
        let served = served.context(NO_LIST)?;
        let body = String::from_utf8_lossy(&served.value);
        let listing = Listing::parse(&body, &Platform::host());
        Ok(listing.with_context(|| served.url.clone()).context(NO_LIST)?)
    }

    /// Ends a stage between two processes if the user asked for that.
    ///
    /// # Errors
    ///
    /// [`Stop::Interrupted`].
    fn stop_if_interrupted(&self, session: &Session) -> Result<(), Stop> {
        if !self.interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(Stop::Interrupted(format!(
            "nothing is lost; go on with:\n  {}",
            session.plan().command_line
        )))
    }
}
