//! `host.json`: the machine a survey was measured on.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The machine, as far as it bears on what is measured. A field that could not be read is empty,
/// never a guess.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Host {
    /// Version of this file's meaning.
    pub schema: u32,
    pub hostname: Option<String>,
    pub cpu_model: Option<String>,
    /// CPUs this process may run on.
    pub cpus: u32,
    /// `on`, `off`, `notsupported`, as the kernel says.
    pub smt: Option<String>,
    pub governor: Option<String>,
    /// `on` or `off`.
    pub turbo: Option<String>,
    pub microcode: Option<String>,
    /// `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    /// `randomize_va_space`: 0, 1 or 2.
    pub aslr: Option<String>,
    pub kernel: Option<String>,
    pub kernel_command_line: Option<String>,
    pub memory_kib: Option<u64>,
    pub swap_kib: Option<u64>,
    /// What the cgroup of this process limits: file name to value, limits only.
    pub cgroup_limits: BTreeMap<String, String>,
    /// The hypervisor, or `none`.
    pub virtualisation: Option<String>,
    pub operating_system: Option<String>,
    /// First line of `cc --version`.
    pub c_compiler: Option<String>,
    pub c_library: Option<String>,
    /// The file system that holds the store.
    pub disk: Option<MountedDisk>,
    /// Whether the page cache can be dropped between rounds: `yes`, or `no: ` and why not.
    pub drops_page_cache: Option<String>,
}

/// Where a folder is mounted from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MountedDisk {
    pub device: String,
    pub file_system: String,
}

impl Host {
    /// The schema this program writes.
    pub const SCHEMA: u32 = 1;

    /// Whether the page cache is dropped between rounds.
    pub fn page_cache_is_dropped(&self) -> bool {
        self.drops_page_cache.as_deref() == Some("yes")
    }

    /// What makes `other` another machine than `self`, as sentences; rows of two machines are
    /// never mixed in one survey.
    ///
    /// The kernel and its settings count as part of the machine: they change what is measured.
    /// The host's name and free-standing software do not.
    pub fn differences(&self, other: &Host) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, recorded: Option<String>, now: Option<String>| {
            if recorded != now {
                let shown = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
                let (recorded, now) = (shown(recorded), shown(now));
                found.push(format!("{what}: the survey has {recorded}, this machine {now}"));
            }
        };
        compare("CPU", self.cpu_model.clone(), other.cpu_model.clone());
        compare("CPUs", Some(self.cpus.to_string()), Some(other.cpus.to_string()));
        compare("SMT", self.smt.clone(), other.smt.clone());
        compare("governor", self.governor.clone(), other.governor.clone());
        compare("turbo", self.turbo.clone(), other.turbo.clone());
        compare("microcode", self.microcode.clone(), other.microcode.clone());
        compare(
            "transparent huge pages",
            self.transparent_huge_pages.clone(),
            other.transparent_huge_pages.clone(),
        );
        compare("ASLR", self.aslr.clone(), other.aslr.clone());
        compare("kernel", self.kernel.clone(), other.kernel.clone());
        compare(
            "page cache dropped",
            self.drops_page_cache.clone(),
            other.drops_page_cache.clone(),
        );
        compare(
            "memory in KiB",
            self.memory_kib.map(|kib| kib.to_string()),
            other.memory_kib.map(|kib| kib.to_string()),
        );
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_update_makes_another_machine_and_a_new_name_does_not() {
        let before = Host { cpus: 2, kernel: Some("6.1.0".into()), ..Host::default() };
        let renamed = Host { hostname: Some("b".into()), ..before.clone() };
        assert_eq!(before.differences(&renamed), Vec::<String>::new());
        let updated = Host { kernel: Some("6.2.0".into()), ..before.clone() };
        assert_eq!(
            before.differences(&updated),
            ["kernel: the survey has 6.1.0, this machine 6.2.0"]
        );
    }
}
