//! Bringing toolchains to hand, several at once.

use super::Stop;
use crate::module::ToolchainModule;
use crate::platform::Platform;
use crate::progress::{Meter, Progress};
use crate::proxy::{ChecksumDatabase, Proxies, SumdbSetting};
use crate::release::Release;
use crate::store::{InstallError, InstallFailure, Onlooker, Store, Toolchain};
use crate::units;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

/// More connections seldom bring more bytes, and every server that is asked has other clients.
const DEFAULT_JOBS: usize = 4;

/// How many toolchains are fetched at once.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct JobsArgs {
    /// How many toolchains to download at once
    #[arg(long, value_name = "N", default_value_t = JobsArgs::default().jobs)]
    pub jobs: NonZeroUsize,
}

impl Default for JobsArgs {
    fn default() -> Self {
        JobsArgs { jobs: NonZeroUsize::new(DEFAULT_JOBS).expect("not zero") }
    }
}

/// Installs toolchains. It owns its network connections: drop it before anything is measured.
pub struct Fetcher<'a> {
    store: &'a Store,
    proxies: &'a Proxies,
    database: ChecksumDatabase<'a>,
    platform: Platform,
    jobs: NonZeroUsize,
}

impl<'a> Fetcher<'a> {
    pub fn new(
        store: &'a Store,
        proxies: &'a Proxies,
        setting: &'a SumdbSetting,
        jobs: JobsArgs,
    ) -> Self {
        let database = ChecksumDatabase::new(proxies, setting);
        Fetcher { store, proxies, database, platform: Platform::host(), jobs: jobs.jobs }
    }

    /// Installs `releases`, several at once, and hands each to `take` in the order given, as soon
    /// as it and those before it are there, or found not to be published.
    ///
    /// # Errors
    ///
    /// The first failure that is more than the absence of one toolchain, or whatever `take` stops
    /// for. What else is under way is then stopped; what was downloaded is kept.
    pub fn install_all(
        &self,
        releases: &[Release],
        progress: &dyn Progress,
        interrupted: &AtomicBool,
        take: &mut Take<'_>,
    ) -> Result<(), Stop> {
        let downloads = Downloads::new(progress, interrupted, releases.len());
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..self.jobs.get().min(releases.len()) {
                let (sender, downloads, next) = (sender.clone(), &downloads, &next);
                scope.spawn(move || {
                    while let Some(release) = releases.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = self.install(release, downloads);
                        // Nobody listens any more once a failure has ended the fetch.
                        if sender.send((release, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let result = in_order(releases, results, take);
            if result.is_err() {
                downloads.is_over.store(true, Ordering::Relaxed);
            }
            result
        })
    }

    /// Takes a toolchain from disk, a release archive or a GOROOT.
    ///
    /// # Errors
    ///
    /// As [`Store::take_local`].
    pub fn take_local(
        &self,
        path: &Path,
        interrupted: &AtomicBool,
    ) -> Result<Toolchain, InstallError> {
        let is_stopped = || interrupted.load(Ordering::Relaxed);
        self.store.take_local(path, &self.database, &is_stopped)
    }

    fn install(
        &self,
        release: &Release,
        downloads: &Downloads<'_>,
    ) -> Result<Toolchain, InstallError> {
        let module = ToolchainModule { release: release.clone(), platform: self.platform.clone() };
        let download =
            Download { all: downloads, what: release.to_string(), shown: Mutex::new(None) };
        if download.is_stopped() {
            return Err(InstallError::Stopped { module: module.to_string() });
        }
        let result = self.store.install(&module, self.proxies, &self.database, &download);
        download.end(&result);
        result
    }
}

/// Takes one toolchain, or the news that nobody has it.
type Take<'a> = dyn FnMut(&Release, Result<Toolchain, InstallError>) -> Result<(), Stop> + 'a;

type Installed<'r> = (&'r Release, Result<Toolchain, InstallError>);

/// Hands on what comes in any order in the order of `releases`; a failure at once.
fn in_order(
    releases: &[Release],
    results: mpsc::Receiver<Installed<'_>>,
    take: &mut Take<'_>,
) -> Result<(), Stop> {
    let mut waiting: Vec<Installed<'_>> = Vec::new();
    let mut order = releases.iter().peekable();
    for (release, result) in results {
        match result {
            Err(error) if error.failure() != InstallFailure::NotPublished => {
                return Err(stop(error));
            }
            result => waiting.push((release, result)),
        }
        while let Some(place) =
            order.peek().and_then(|next| waiting.iter().position(|(release, _)| release == next))
        {
            let (release, result) = waiting.swap_remove(place);
            order.next();
            take(release, result)?;
        }
    }
    Ok(())
}

/// How a command ends that cannot go on without a toolchain.
pub fn stop(error: InstallError) -> Stop {
    match error.failure() {
        InstallFailure::Refused | InstallFailure::NotPublished | InstallFailure::Unusable => {
            Stop::No(error.into())
        }
        InstallFailure::Environment => Stop::Environment(error.into()),
        InstallFailure::Stopped => Stop::Interrupted(
            "what was downloaded is kept; the same command goes on with it".to_owned(),
        ),
    }
}

/// What is downloaded in one go, as it is shown: a bar for each and one for all.
struct Downloads<'a> {
    progress: &'a dyn Progress,
    interrupted: &'a AtomicBool,
    /// Set when a failure has ended the whole.
    is_over: AtomicBool,
    count: usize,
    total: Mutex<Total>,
}

/// The bar for all. Like the others it appears with the first download, so that nothing is shown
/// where everything is there.
#[derive(Default)]
struct Total {
    meter: Option<Box<dyn Meter>>,
    bytes: u64,
    done: u64,
}

impl<'a> Downloads<'a> {
    fn new(progress: &'a dyn Progress, interrupted: &'a AtomicBool, count: usize) -> Self {
        let (is_over, total) = (AtomicBool::new(false), Mutex::default());
        Downloads { progress, interrupted, is_over, count, total }
    }

    fn total(&self) -> MutexGuard<'_, Total> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows that a download begins, or that so many more bytes are there. One alone needs no sum.
    fn add(&self, bytes: u64) {
        if self.count < 2 {
            return;
        }
        let mut total = self.total();
        total.bytes += bytes;
        let label = units::bytes(total.bytes as f64);
        let done = total.done;
        let meter = total.meter.get_or_insert_with(|| {
            let mut meter = self.progress.stage("fetch", self.count as u64);
            meter.advance(done);
            meter
        });
        meter.note(&label);
    }

    fn end_one(&self) {
        let mut total = self.total();
        total.done += 1;
        if let Some(meter) = &mut total.meter {
            meter.advance(1);
        }
    }
}

/// One toolchain of [`Downloads`].
struct Download<'a> {
    all: &'a Downloads<'a>,
    what: String,
    shown: Mutex<Option<Shown>>,
}

struct Shown {
    meter: Box<dyn Meter>,
    bytes: u64,
    fetched_bytes: u64,
}

impl Download<'_> {
    fn shown(&self) -> MutexGuard<'_, Option<Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(self, result: &Result<Toolchain, InstallError>) {
        self.all.end_one();
        let shown = self.shown.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (Some(shown), Ok(_)) = (shown, result) {
            let fetched = units::bytes(shown.fetched_bytes as f64);
            shown.meter.finish(&format!("{}: {fetched} fetched", self.what));
        }
    }
}

impl Onlooker for Download<'_> {
    fn downloads(&self, total_bytes: Option<u64>, kept_bytes: u64) {
        let mut shown = self.shown();
        if shown.is_some() {
            return;
        }
        self.all.add(kept_bytes);
        let mut meter = self.all.progress.download(&self.what, total_bytes);
        meter.advance(kept_bytes);
        *shown = Some(Shown { meter, bytes: kept_bytes, fetched_bytes: 0 });
    }

    fn received(&self, bytes: u64) {
        if let Some(shown) = &mut *self.shown() {
            // A transfer that starts over counts again only what it has not shown yet.
            let more = bytes.saturating_sub(shown.bytes);
            shown.bytes += more;
            shown.fetched_bytes += more;
            shown.meter.advance(more);
            self.all.add(more);
        }
    }

    fn unpacks(&self) {
        if let Some(shown) = &mut *self.shown() {
            shown.meter.label("unpacking and hashing");
        }
    }

    fn is_stopped(&self) -> bool {
        self.all.interrupted.load(Ordering::Relaxed) || self.all.is_over.load(Ordering::Relaxed)
    }
}
