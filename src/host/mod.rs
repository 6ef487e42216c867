//! The machine: what it is, and what disturbed it while a program ran.
//!
//! Everything is read from the kernel's files; a file that is missing or unreadable leaves its
//! field empty and fails nothing.

mod cgroup;
mod counters;
mod mount;

pub use counters::{Counters, Disturbance};

use crate::record::Host;
use fs_err as fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Describes this machine, as far as it bears on measurements.
///
/// `store` is the folder whose disk is described; it need not exist yet.
pub fn observe(store: &Path) -> Host {
    let store = nearest_existing(store);
    Host {
        hostname: nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok()),
        cpus: allowed_cpus(),
        kernel: kernel(),
        c_compiler: first_line_of("cc"),
        c_library: first_line_of("ldd"),
        ..observe_files(Path::new("/"), &store)
    }
}

/// Draws a seed from the kernel's random numbers.
///
/// It is below 2⁶³, the range of numbers in TOML.
///
/// # Errors
///
/// If `/dev/urandom` cannot be read.
pub fn random_seed() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes) >> 1)
}

/// What the files below `root` say.
fn observe_files(root: &Path, store: &Path) -> Host {
    let read = |file: &str| read_line(&root.join(file));
    let processor = read_text(&root.join("proc/cpuinfo")).unwrap_or_default();
    let memory = read_text(&root.join("proc/meminfo")).unwrap_or_default();
    Host {
        schema: Host::SCHEMA,
        cpu_model: first_value(&processor, &["model name", "Model", "cpu"]),
        smt: read("sys/devices/system/cpu/smt/control"),
        governor: read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo: turbo(root),
        microcode: first_value(&processor, &["microcode"]),
        transparent_huge_pages: read("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choices| chosen(&choices)),
        aslr: read("proc/sys/kernel/randomize_va_space"),
        kernel_command_line: read("proc/cmdline"),
        memory_kib: kibibytes(&memory, "MemTotal"),
        swap_kib: kibibytes(&memory, "SwapTotal"),
        cgroup_limits: cgroup::limits(root),
        virtualisation: virtualisation(root, &processor),
        operating_system: operating_system(root),
        disk: mount::disk(root, store),
        drops_page_cache: Some(drops_page_cache(root)),
        ..Host::default()
    }
}

/// The CPUs this process may run on; at least one.
fn allowed_cpus() -> u32 {
    use nix::sched::{CpuSet, sched_getaffinity};
    let allowed = sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap_or_default();
    let count = (0..CpuSet::count()).filter(|cpu| allowed.is_set(*cpu).unwrap_or(false)).count();
    u32::try_from(count.max(1)).unwrap_or(u32::MAX)
}

/// Name, release and version of the kernel, as `uname -srv` says.
fn kernel() -> Option<String> {
    let name = nix::sys::utsname::uname().ok()?;
    let part = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
    Some([part(name.sysname()), part(name.release()), part(name.version())].join(" "))
}

/// The first line of what a program of the system prints when asked for its version.
fn first_line_of(program: &str) -> Option<String> {
    let mut command = Command::new(program);
    // The compiler meant is the one builds use, whatever the caller's PATH has before it.
    command.arg("--version").env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C");
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    line(String::from_utf8_lossy(&output.stdout).lines().next()?)
}

fn turbo(root: &Path) -> Option<String> {
    let read = |file: &str| read_line(&root.join("sys/devices/system/cpu").join(file));
    let on = match (read("intel_pstate/no_turbo"), read("cpufreq/boost")) {
        (Some(no_turbo), _) => no_turbo == "0",
        (None, Some(boost)) => boost == "1",
        (None, None) => return None,
    };
    Some(if on { "on" } else { "off" }.to_owned())
}

/// The hypervisor, or `none`; nothing where the processor does not say whether there is one.
fn virtualisation(root: &Path, processor: &str) -> Option<String> {
    let flags = first_value(processor, &["flags"]);
    let names = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|file| read_line(&root.join("sys/class/dmi/id").join(file)))
        .collect::<Vec<_>>()
        .join(" ");
    let kind = read_line(&root.join("sys/hypervisor/type")).or(line(&names));
    match flags {
        Some(flags) if flags.split(' ').any(|flag| flag == "hypervisor") => {
            Some(kind.unwrap_or_else(|| "unnamed hypervisor".to_owned()))
        }
        Some(_) => Some("none".to_owned()),
        None => None,
    }
}

fn operating_system(root: &Path) -> Option<String> {
    let text = ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|file| read_text(&root.join(file)))?;
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    line(name.trim_matches(['"', '\'']))
}

/// `yes`, or why not.
fn drops_page_cache(root: &Path) -> String {
    let file = root.join("proc/sys/vm/drop_caches");
    match fs::OpenOptions::new().write(true).open(file) {
        Ok(_) => "yes".to_owned(),
        Err(error) => format!("no: {}", error.kind()),
    }
}

/// The choice in brackets: `always [madvise] never`.
fn chosen(choices: &str) -> Option<String> {
    let (_, rest) = choices.split_once('[')?;
    let (choice, _) = rest.split_once(']')?;
    Some(choice.to_owned())
}

/// The value of the first line `key : value` for the first key that has one.
fn first_value(text: &str, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| {
        text.lines().find_map(|text| {
            let (name, value) = text.split_once(':')?;
            (name.trim() == *key).then(|| line(value)).flatten()
        })
    })
}

fn kibibytes(memory: &str, key: &str) -> Option<u64> {
    first_value(memory, &[key])?.strip_suffix("kB")?.trim().parse().ok()
}

/// A file of one line.
fn read_line(path: &Path) -> Option<String> {
    line(&read_text(path)?)
}

/// A text without blanks around it; nothing if nothing is left.
fn line(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn read_text(path: &Path) -> Option<String> {
    // Some hundred processors of a kilobyte each fit.
    const LIMIT: u64 = 4 << 20;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LIMIT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// `path`, or the nearest folder above it that exists, without symbolic links.
fn nearest_existing(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.ancestors().find_map(|above| fs::canonicalize(above).ok()).unwrap_or(path)
}

#[cfg(test)]
mod tests;
