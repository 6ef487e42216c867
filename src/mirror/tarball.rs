//! An official release archive, unpacked as a GOROOT for the time of packing it.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, bail, ensure};
use flate2::read::GzDecoder;
use fs_err::File;
use tar::EntryType;

use crate::module::{limits, module_name};

/// The folder that everything in a release archive is in.
const TOP: &str = "go";

/// Unpacks `go1.X.linux-amd64.tar.gz` into the folder `root`, without what a module leaves out.
///
/// # Errors
///
/// If the archive is damaged, too large, or holds anything but files and folders below `go/`.
pub fn unpack(archive: &Path, root: &Path) -> anyhow::Result<()> {
    let file = io::BufReader::new(File::open(archive)?);
    let mut tar = tar::Archive::new(GzDecoder::new(file));
    let shown = archive.display();
    let mut total_bytes = 0;
    for entry in tar.entries().with_context(|| format!("{shown} is no tar archive"))? {
        let mut entry = entry.with_context(|| format!("{shown} is no gzipped tar archive"))?;
        let path = entry.path()?.into_owned();
        let kind = entry.header().entry_type();
        if matches!(kind, EntryType::Directory | EntryType::XGlobalHeader) {
            continue;
        }
        let Some(place) = place_of(&path)? else { continue };
        ensure!(
            matches!(kind, EntryType::Regular | EntryType::Continuous),
            "{shown}: {} is neither a file nor a folder",
            path.display()
        );
        total_bytes += entry.size();
        if total_bytes > limits::UNPACKED_BYTES {
            bail!("{shown} unpacks to more than the {} bytes of a module", limits::UNPACKED_BYTES);
        }
        let place = root.join(place);
        fs_err::create_dir_all(place.parent().expect("a path below the root has a parent"))?;
        let mut file = File::create_new(&place)?;
        io::copy(&mut entry, &mut file)
            .with_context(|| format!("{shown}: cannot unpack {}", path.display()))?;
        let modified = Duration::from_secs(entry.header().mtime()?);
        file.file().set_modified(SystemTime::UNIX_EPOCH + modified)?;
    }
    Ok(())
}

/// Where an entry goes below the root; `None` if the module leaves it out.
fn place_of(path: &Path) -> anyhow::Result<Option<PathBuf>> {
    let below = path
        .strip_prefix(TOP)
        .ok()
        .filter(|below| below.components().all(|part| matches!(part, Component::Normal(_))));
    let Some(below) = below.and_then(Path::to_str).filter(|below| !below.is_empty()) else {
        bail!("{} is not below {TOP}/, where a release archive has all its files", path.display());
    };
    Ok(module_name(below).map(|_| PathBuf::from(below)))
}
