//! The private folder of a build.

use super::era::{Era, go_mod};
use super::{BuildRequest, Folders};
use crate::hex::hex;
use crate::suite::SourceTree;
use anyhow::{Context, Result, ensure};
use fs_err as fs;
use sha2::{Digest, Sha256};
use std::fs::{File, Permissions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

/// A folder that holds one build and nothing else, emptied before and removed after.
///
/// It has the same path for every build in a store. Up to go1.12 the path of a source file is part
/// of the executable, which would otherwise be another one each time it is built. So there is one
/// build at a time in a store, which timing them asks for anyway.
#[derive(Debug)]
pub(super) struct Workspace {
    folder: PathBuf,
    lock: File,
}

impl Workspace {
    /// Waits until no other process builds in this store, and makes an empty workspace.
    pub fn new(folders: &Folders<'_>) -> Result<Self> {
        for folder in [folders.work, folders.gocache, folders.binaries] {
            fs::create_dir_all(folder)?;
        }
        let lock = take_lock(&folders.work.join("build.lock"))?;
        let folder = fs::canonicalize(folders.work)?.join("build");
        remove(&folder)?;
        let workspace = Workspace { folder, lock };
        for folder in [workspace.home(), workspace.gopath(), workspace.temporary()] {
            fs::create_dir_all(folder)?;
        }
        workspace.switch_telemetry_off()?;
        Ok(workspace)
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The lock, an empty file. A go command that has it as its standard input keeps it locked
    /// until it ends, even if this process is killed: its successor will not find the go command
    /// still writing to the workspace.
    pub fn lock(&self) -> &File {
        &self.lock
    }

    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub fn gopath(&self) -> PathBuf {
        self.folder.join("gopath")
    }

    pub fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// The file the go command writes the executable to.
    pub fn output(&self) -> PathBuf {
        self.folder.join("out")
    }

    /// The folder in which `program` is built.
    pub fn source(&self, era: Era, program: &str) -> PathBuf {
        self.folder.join(era.source_folder(program))
    }

    /// Writes the program as its era wants it, with `comment` as the last line of every Go file.
    ///
    /// # Errors
    ///
    /// If a name leads out of the program's folder, if the tree brings a `go.mod` of its own, or
    /// if a file cannot be written.
    pub fn write_source(&self, request: &BuildRequest<'_>, comment: Option<&str>) -> Result<()> {
        let era = Era::of(request.release);
        let folder = self.source(era, request.program);
        fs::create_dir_all(&folder)?;
        write_tree(&folder, request.tree, comment)?;
        if era == Era::Modules {
            fs::write(folder.join("go.mod"), go_mod(request.release, request.program))?;
        }
        Ok(())
    }

    /// Removes the executable of an earlier build; with it there, the go command may find that
    /// there is nothing to do.
    pub fn remove_output(&self) -> Result<()> {
        match fs::remove_file(self.output()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// From go1.23 on the go command counts what it does in files below its home, and starts a
    /// process in the background to sum them up, which would run beside what is measured next.
    fn switch_telemetry_off(&self) -> Result<()> {
        let folder = self.home().join(".config/go/telemetry");
        fs::create_dir_all(&folder)?;
        Ok(fs::write(folder.join("mode"), "off\n")?)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.folder) {
            // The next build removes it, or fails saying why.
            log::warn!("{error:#}");
        }
    }
}

/// Opens and locks a file, made if need be.
fn take_lock(path: &Path) -> Result<File> {
    let cannot = || format!("cannot lock {}", path.display());
    let mut options = fs::OpenOptions::new();
    let lock = options.create(true).read(true).append(true).open(path)?.into_parts().0;
    match lock.try_lock() {
        Ok(()) => return Ok(lock),
        Err(TryLockError::WouldBlock) => {
            log::warn!("waiting for another build in this store ({})", path.display());
        }
        Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
    }
    lock.lock().with_context(cannot)?;
    Ok(lock)
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn write_tree(folder: &Path, tree: &SourceTree, comment: Option<&str>) -> Result<()> {
    for (name, content) in &tree.files {
        let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(plain && !name.is_empty(), "source file {name:?} leads out of its folder");
        ensure!(
            name != "go.mod",
            "a program may not bring its own go.mod; it is written for each release"
        );
        let file = folder.join(name);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut text = content.clone();
        if let Some(comment) = comment.filter(|_| name.ends_with(".go")) {
            text.extend_from_slice(format!("\n// {comment}\n").as_bytes());
        }
        fs::write(file, text)?;
    }
    Ok(())
}

/// Moves the executable `file` into `binaries` under its digest; gives path, digest and size.
pub(super) fn keep_binary(file: &Path, binaries: &Path) -> Result<(PathBuf, String, u64)> {
    let mut from = fs::File::open(file)?;
    let mut to = tempfile::NamedTempFile::new_in(binaries)
        .with_context(|| format!("cannot write to {}", binaries.display()))?;
    let mut digest = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
        to.write_all(&buffer[..count])
            .with_context(|| format!("cannot write {}", to.path().display()))?;
        bytes += count as u64;
    }
    let sha256 = hex(&digest.finalize());
    let path = binaries.join(&sha256);
    to.as_file().set_permissions(Permissions::from_mode(0o755))?;
    to.as_file().sync_all()?;
    to.persist(&path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok((path, sha256, bytes))
}
