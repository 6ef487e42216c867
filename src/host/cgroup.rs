//! What the cgroup of this process limits.

use super::{read_line, read_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A limit's file in a cgroup, and how its values compare.
struct Limit {
    /// The controller's folder of cgroup v1, or "" for v2.
    controller: &'static str,
    file: &'static str,
    /// How much a value allows; `None` if it limits nothing.
    allows: fn(&str) -> Option<f64>,
}

const fn v2(file: &'static str, allows: fn(&str) -> Option<f64>) -> Limit {
    Limit { controller: "", file, allows }
}

const fn v1(
    controller: &'static str,
    file: &'static str,
    allows: fn(&str) -> Option<f64>,
) -> Limit {
    Limit { controller, file, allows }
}

const LIMITS: [Limit; 11] = [
    v2("cpu.max", quota),
    v2("cpuset.cpus.effective", number_of_cpus),
    v2("memory.max", bytes),
    v2("memory.high", bytes),
    v2("memory.swap.max", bytes),
    v2("pids.max", bytes),
    v1("cpu", "cpu.cfs_quota_us", quota),
    v1("cpuset", "cpuset.cpus", number_of_cpus),
    v1("memory", "memory.limit_in_bytes", bytes),
    v1("memory", "memory.memsw.limit_in_bytes", bytes),
    v1("pids", "pids.max", bytes),
];

/// The limits of this process's cgroup, by the name of their file.
///
/// A limit of a group above holds too, so the tightest on the way up is given.
pub(super) fn limits(root: &Path) -> BTreeMap<String, String> {
    let groups = read_text(&root.join("proc/self/cgroup")).unwrap_or_default();
    let mut tightest = BTreeMap::new();
    for limit in &LIMITS {
        let Some(group) = groups.lines().find_map(|line| group(line, limit.controller)) else {
            continue;
        };
        let mount = root.join("sys/fs/cgroup").join(limit.controller);
        let values =
            folders(&mount, group).filter_map(|folder| read_line(&folder.join(limit.file)));
        let known = values.filter_map(|value| Some(((limit.allows)(&value)?, value)));
        // The first of equals: the one nearest to the process.
        if let Some((_, value)) = known.min_by(|a, b| a.0.total_cmp(&b.0)) {
            tightest.insert(limit.file.to_owned(), value);
        }
    }
    tightest
}

/// The group's path, from a line `id:controller,controller:/path` that names the controller.
fn group<'a>(line: &'a str, controller: &str) -> Option<&'a str> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    controllers.split(',').any(|name| name == controller).then_some(path)
}

/// The group's folder below `mount` and all above it, up to the mount itself.
///
/// In a container the path may be the one outside; then only the mount is there, and it is the
/// container's own group.
fn folders(mount: &Path, group: &str) -> impl Iterator<Item = PathBuf> {
    let group = Path::new(group.trim_start_matches('/')).to_owned();
    let mount = mount.to_owned();
    let above: Vec<PathBuf> = group.ancestors().map(|part| mount.join(part)).collect();
    above.into_iter()
}

/// `max`, or a number; v1 writes a number near 2⁶³ for "no limit".
fn bytes(value: &str) -> Option<f64> {
    const UNLIMITED: f64 = 9e18;
    value.parse().ok().filter(|bytes| *bytes < UNLIMITED)
}

/// `max 100000`, `50000 100000`, or, for v1, the quota alone with -1 for none.
fn quota(value: &str) -> Option<f64> {
    let (quota, period) = value.split_once(' ').unwrap_or((value, "100000"));
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota >= 0.0 && period > 0.0).then_some(quota / period)
}

/// How many CPUs a list such as `0-3,8` has.
fn number_of_cpus(list: &str) -> Option<f64> {
    let counts = list.split(',').map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some(f64::from(last.checked_sub(first)?) + 1.0)
    });
    counts.sum()
}
