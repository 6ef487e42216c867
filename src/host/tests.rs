use super::*;
use std::collections::BTreeMap;

/// A machine made of files.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(files: &[(&str, &str)]) -> Self {
        let machine = Machine(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = machine.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        machine
    }

    fn observe(&self) -> Host {
        observe_files(self.0.path(), Path::new("/srv/store"))
    }
}

#[test]
fn a_machine_is_described_by_its_files() {
    let machine = Machine::new(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Xeon (R) @ 3.00GHz\nmicrocode\t: 0x2b\nflags\t\t: fpu \
             sse2 hypervisor avx2\n\nprocessor\t: 1\nmodel name\t: other\n",
        ),
        ("proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\nSwapTotal:  0 kB\n"),
        ("proc/cmdline", "root=/dev/vda ro quiet\n"),
        ("proc/sys/kernel/randomize_va_space", "2\n"),
        ("proc/sys/vm/drop_caches", ""),
        ("sys/devices/system/cpu/smt/control", "notsupported\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
        ("sys/class/dmi/id/product_name", "m7i.large\n"),
        ("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
        (
            "proc/self/mountinfo",
            "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
             30 21 0:26 / /srv rw - tmpfs none rw\n\
             31 30 254:16 / /srv rw,noatime - xfs /dev/my\\040disk rw\n\
             32 21 0:27 / /sr rw - tmpfs none rw\n",
        ),
    ]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&machine.observe()).unwrap(), @r#"
    {
      "schema": 1,
      "hostname": null,
      "cpu_model": "Xeon (R) @ 3.00GHz",
      "cpus": 0,
      "smt": "notsupported",
      "governor": "performance",
      "turbo": "off",
      "microcode": "0x2b",
      "transparent_huge_pages": "madvise",
      "aslr": "2",
      "kernel": null,
      "kernel_command_line": "root=/dev/vda ro quiet",
      "memory_kib": 16384000,
      "swap_kib": 0,
      "cgroup_limits": {},
      "virtualisation": "Amazon EC2 m7i.large",
      "operating_system": "Debian GNU/Linux 12 (bookworm)",
      "c_compiler": null,
      "c_library": null,
      "disk": {
        "device": "/dev/my disk",
        "file_system": "xfs"
      },
      "drops_page_cache": "yes"
    }
    "#);
}

#[test]
fn an_empty_machine_leaves_every_field_empty() {
    let expected = Host {
        schema: Host::SCHEMA,
        drops_page_cache: Some("no: entity not found".to_owned()),
        ..Host::default()
    };
    assert_eq!(Machine::new(&[]).observe(), expected);
}

#[test]
fn bare_metal_is_told_from_not_knowing() {
    let virtualisation =
        |cpuinfo| Machine::new(&[("proc/cpuinfo", cpuinfo)]).observe().virtualisation;
    assert_eq!(virtualisation("flags\t: fpu\n").as_deref(), Some("none"));
    assert_eq!(virtualisation("flags: fpu hypervisor\n").as_deref(), Some("unnamed hypervisor"));
    assert_eq!(virtualisation("Features\t: fp asimd\n"), None);
}

#[test]
fn boost_is_read_where_there_is_no_pstate() {
    let turbo =
        |text| Machine::new(&[("sys/devices/system/cpu/cpufreq/boost", text)]).observe().turbo;
    assert_eq!(turbo("1\n").as_deref(), Some("on"));
    assert_eq!(turbo("0\n").as_deref(), Some("off"));
}

fn limits(files: &[(&str, &str)]) -> BTreeMap<String, String> {
    Machine::new(files).observe().cgroup_limits
}

fn expected(limits: &[(&str, &str)]) -> BTreeMap<String, String> {
    limits.iter().map(|(file, value)| ((*file).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn the_tightest_limit_on_the_way_up_counts() {
    let found = limits(&[
        ("proc/self/cgroup", "0::/user.slice/job\n"),
        ("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/user.slice/job/memory.max", "8000000000\n"),
        ("sys/fs/cgroup/user.slice/job/memory.high", "max\n"),
        ("sys/fs/cgroup/user.slice/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/user.slice/memory.max", "4000000000\n"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-3,8\n"),
    ]);
    let expected = expected(&[
        ("cpu.max", "50000 100000"),
        ("cpuset.cpus.effective", "0-3,8"),
        ("memory.max", "4000000000"),
    ]);
    assert_eq!(found, expected);
}

#[test]
fn version_1_has_a_folder_for_each_controller() {
    let found = limits(&[
        ("proc/self/cgroup", "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/x\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"),
        ("sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "-1\n"),
    ]);
    assert_eq!(found, expected(&[("memory.limit_in_bytes", "2147483648")]));
}

#[test]
fn this_machine_can_be_observed() {
    let host = observe(Path::new("/a/store/that/is/not/there"));
    assert!(host.cpus >= 1 && host.kernel.is_some() && host.disk.is_some(), "{host:?}");
}

#[test]
fn seeds_differ_and_fit_a_toml_number() {
    let (one, two) = (random_seed().unwrap(), random_seed().unwrap());
    assert_ne!(one, two);
    assert!(i64::try_from(one).is_ok() && i64::try_from(two).is_ok());
}
