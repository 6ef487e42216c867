//! A module proxy and a checksum database as static files, made of GOROOTs.
//!
//! ```text
//! DIR/key                                         the database's secret key; never serve it
//! DIR/records                                     what the database has on record, in order
//! DIR/www/golang.org/toolchain/@v/list            what GOPROXY points to
//! DIR/www/golang.org/toolchain/@v/<version>.{info,mod,zip}
//! DIR/www/sumdb/<name>/{supported,latest,lookup/…,tile/…}
//! ```
//!
//! `DIR/www` can be read as it is (`file://`) or put behind any web server. Whoever uses the mirror
//! trusts its key, not the server: a mirror proves that a toolchain is what its maker packed, not
//! that it is what the Go team published.

mod log;
mod pack;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use jiff::Timestamp;

use self::log::MirrorLog;
use crate::module::{self, GO_MOD_TEXT, ToolchainModule, TreeDigest};
use crate::store::durable::{self, FolderLock};
use crate::store::{Goroot, GorootFiles, UnpackedTarball};
use crate::sumdb::VerifierKey;

/// The database's name where none is asked for. It is a name, not an address: the mirror's users
/// read the database through the mirror.
pub const DEFAULT_DATABASE: &str = "sumdb.gosurvey.local";

/// The mode of served files.
const SERVED_MODE: u32 = 0o644;

/// What was asked for beyond the GOROOTs.
#[derive(Clone, Debug, Default)]
pub struct MirrorOptions {
    /// The name of the checksum database: a host, or a host and a path. `None` keeps the name of an
    /// existing mirror, or takes [`DEFAULT_DATABASE`].
    pub database: Option<String>,
}

/// What a mirror has after [`create`], and how to use it.
#[derive(Clone, Debug)]
pub struct MirrorSummary {
    /// The folder to serve.
    pub www: PathBuf,
    /// The key of the mirror's checksum database.
    pub key: VerifierKey,
    /// The toolchains just added.
    pub added: Vec<ToolchainModule>,
    /// Those asked for that were there already, with the same files.
    pub unchanged: Vec<ToolchainModule>,
    /// Symbolic links that lead out of a GOROOT, and were followed.
    pub links_out: Vec<PathBuf>,
}

impl MirrorSummary {
    /// The value of GOPROXY to read the mirror from disk.
    pub fn goproxy_file(&self) -> String {
        format!("file://{}", self.www.display())
    }

    /// The value of GOSUMDB, for a mirror read from disk or through a web server: the key alone, as
    /// the database is read through the proxy.
    pub fn gosumdb(&self) -> String {
        self.key.to_string()
    }
}

/// Makes the mirror in `folder`, or adds to it, from GOROOTs and official release archives
/// (`.tar.gz`).
///
/// The log of the database only grows: what is in the mirror stays, in its order, and keeps its
/// bytes. `on_toolchain` is called with each toolchain before its files are read.
///
/// # Errors
///
/// If something is not a GOROOT, cannot be packed as a module, or is in the mirror with other files;
/// if the mirror is damaged; or if files cannot be read or written. Nothing is added then, not even
/// the toolchains before the one at fault.
pub fn create(
    folder: &Path,
    goroots: &[PathBuf],
    options: &MirrorOptions,
    on_toolchain: &mut dyn FnMut(&ToolchainModule),
) -> anyhow::Result<MirrorSummary> {
    fs_err::create_dir_all(folder)?;
    let folder = fs_err::canonicalize(folder)?;
    let _lock = FolderLock::acquire(&folder.join("lock"))?;
    let www = folder.join("www");
    let mut log = MirrorLog::open(&folder, &www, options.database.as_deref())?;
    let mut summary = MirrorSummary {
        www: www.clone(),
        key: log.key().clone(),
        added: Vec::new(),
        unchanged: Vec::new(),
        links_out: Vec::new(),
    };
    for goroot in goroots {
        add(&folder, goroot, &mut log, &mut summary, on_toolchain)
            .with_context(|| format!("adding {} to the mirror", goroot.display()))?;
    }
    ensure!(!log.is_empty(), "a mirror needs a GOROOT to begin with");
    log.publish()?;
    let list: String = log.versions().map(|version| format!("{version}\n")).collect();
    durable::write_file(&www.join(module::LIST_PATH), list.as_bytes(), SERVED_MODE)?;
    Ok(summary)
}

fn add(
    folder: &Path,
    goroot: &Path,
    log: &mut MirrorLog,
    summary: &mut MirrorSummary,
    on_toolchain: &mut dyn FnMut(&ToolchainModule),
) -> anyhow::Result<()> {
    if !goroot.is_file() {
        return add_goroot(&Goroot::read(goroot)?, None, log, summary, on_toolchain);
    }
    let private = tempfile::Builder::new().prefix(".tmp-").tempdir_in(folder)?;
    let root = private.path().join("tree");
    let unpacked = UnpackedTarball::unpack(goroot, &root, &|| false)?;
    let modified_s = unpacked.version_modified_s();
    add_goroot(&Goroot::read_as(&root, goroot)?, modified_s, log, summary, on_toolchain)
}

/// Adds the toolchain in `goroot`; `modified_s` is the time of its `VERSION` where that on disk is
/// another.
fn add_goroot(
    goroot: &Goroot,
    modified_s: Option<u64>,
    log: &mut MirrorLog,
    summary: &mut MirrorSummary,
    on_toolchain: &mut dyn FnMut(&ToolchainModule),
) -> anyhow::Result<()> {
    let module = goroot.module();
    on_toolchain(&module);
    let released = release_time(goroot, modified_s)?;
    let files = GorootFiles::list(&goroot.root, &module)?;
    summary.links_out.extend(files.links_out.iter().map(|link| goroot.root.join(link)));

    if let Some(logged) = log.h1(&module) {
        let found = files.hash(&|| false)?.digest();
        if found != logged {
            bail!(
                "the mirror has {module} with other files: {logged} there, {found} here; \
                 a log cannot take back what it has said, so make another mirror"
            );
        }
        if !summary.www.join(module.zip_path()).exists() {
            write_module(&summary.www, &module, &files, released)?;
        }
        summary.unchanged.push(module);
        return Ok(());
    }
    let h1 = write_module(&summary.www, &module, &files, released)?;
    log.append(&module, h1);
    summary.added.push(module);
    Ok(())
}

/// Writes what the proxy serves of one toolchain; the zip last, because it is what counts.
fn write_module(
    www: &Path,
    module: &ToolchainModule,
    files: &GorootFiles,
    released: Timestamp,
) -> anyhow::Result<TreeDigest> {
    let info = serde_json::json!({
        "Version": module.version(),
        "Time": released.to_string(),
    });
    let write = |path: String, text: &str| {
        durable::write_file(&www.join(path), text.as_bytes(), SERVED_MODE)
    };
    write(module.info_path(), &info.to_string())?;
    write(module.mod_path(), GO_MOD_TEXT)?;

    let path = www.join(module.zip_path());
    let mut zip = durable::private_file(path.parent().expect("below www"))?;
    let h1 = pack::pack(&files.files, module, zip.as_file_mut())?;
    durable::persist(zip, &path, SERVED_MODE)?;
    Ok(h1)
}

/// When the release was made, by the second line of `VERSION` (from Go 1.21 on) or by its time,
/// which is `modified_s` if the file on disk has another.
fn release_time(goroot: &Goroot, modified_s: Option<u64>) -> anyhow::Result<Timestamp> {
    let line = goroot.version.lines().find_map(|line| line.strip_prefix("time "));
    if let Some(time) = line.and_then(|time| time.trim().parse().ok()) {
        return Ok(time);
    }
    if let Some(seconds) = modified_s {
        return Ok(Timestamp::from_second(i64::try_from(seconds)?)?);
    }
    let modified = fs_err::metadata(goroot.root.join("VERSION"))?.modified()?;
    Ok(Timestamp::from_second(Timestamp::try_from(modified)?.as_second())?)
}
