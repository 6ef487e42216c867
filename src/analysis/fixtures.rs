//! Surveys for tests: one that went well, one that did not, and any whatever.

use crate::measurement::Outcome;
use crate::record::{
    BuildRow, BuildStatus, CheckRow, Harness, Host, MissingRelease, Plan, PlannedSuite, RunRow,
    Survey, Threads, ToolchainRow, ToolchainStatus, Verdict,
};
use proptest::prelude::*;

/// A survey of three releases, four programs and three rounds in which everything went well.
pub(crate) fn survey() -> Survey {
    let variants = ["go1.21.13", "go1.24.11", "go1.27.1"];
    let programs = ["n-body", "binary-trees", "fasta", "k-nucleotide"];
    let mut survey = Survey {
        plan: plan(&variants, &programs, 3),
        host: host(),
        toolchains: variants.iter().map(|variant| toolchain(variant)).collect(),
        builds: Vec::new(),
        checks: Vec::new(),
        runs: Vec::new(),
    };
    for (v, variant) in variants.iter().enumerate() {
        for (p, program) in programs.iter().enumerate() {
            survey.builds.push(build(variant, program, 120_000_000 + 1_000_000 * (v + p) as u64));
            survey.checks.push(check(variant, program));
            for round in 1..=3 {
                survey.runs.push(run(variant, program, round, elapsed_ns(v, p, round)));
            }
        }
    }
    survey
}

/// Times that tell something: n-body does not change, binary-trees becomes faster at each step,
/// fasta is noisy, k-nucleotide becomes a little faster at the end.
fn elapsed_ns(variant: usize, program: usize, round: u32) -> u64 {
    let base = [[2_110, 2_112, 2_111], [1_480, 1_210, 980], [702, 688, 711], [1_640, 1_655, 1_590]];
    let wobble = [[3, -2, 1], [-6, 4, 9], [-52, 61, 4], [8, -7, 2]];
    let turn = (round as usize + variant) % 3;
    let ms: i64 = base[program][variant] + wobble[program][turn];
    ms as u64 * 1_000_000 + 1_234
}

pub(crate) fn plan(variants: &[&str], programs: &[&str], rounds: u32) -> Plan {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Plan {
        schema: Plan::SCHEMA,
        name: "demo".into(),
        created_at: "2026-11-30T18:00:00Z".parse().unwrap(),
        command_line: "gosurvey survey --go 1.21,1.24,1.27 --size quick --rounds 3 --name demo"
            .into(),
        go: "1.21,1.24,1.27".into(),
        variants: owned(variants),
        programs: owned(programs),
        extras: Vec::new(),
        size: "quick".into(),
        rounds,
        seed: 7,
        sink: "memory".into(),
        threads: Threads::All,
        environment: vec!["GOMAXPROCS=4".into(), "PATH=".into()],
        goamd64: "v1".into(),
        build_repetitions: 3,
        time_limit_s: 900,
        suite: PlannedSuite { name: "gosurvey".into(), sha256: "5a".repeat(32) },
        harness: Harness {
            version: "0.1.0".into(),
            commit: "0123456789ab".into(),
            launcher_sha256: "c4".repeat(32),
        },
        missing: Vec::new(),
    }
}

pub(crate) fn host() -> Host {
    Host {
        schema: Host::SCHEMA,
        cpu_model: Some("Example CPU @ 2.70GHz".into()),
        cpus: 4,
        smt: Some("off".into()),
        governor: None,
        transparent_huge_pages: Some("madvise".into()),
        aslr: Some("2".into()),
        kernel: Some("6.8.0".into()),
        kernel_command_line: Some("ro quiet".into()),
        memory_kib: Some(16_384_000),
        swap_kib: Some(0),
        virtualisation: Some("kvm".into()),
        operating_system: Some("Example Linux 12".into()),
        c_compiler: Some("cc (Example) 12.2.0".into()),
        c_library: Some("glibc 2.36".into()),
        drops_page_cache: Some("yes".into()),
        ..Host::default()
    }
}

pub(crate) fn toolchain(name: &str) -> ToolchainRow {
    ToolchainRow {
        toolchain: name.into(),
        status: ToolchainStatus::Installed,
        release: name.into(),
        platform: "linux-amd64".into(),
        h1: format!("h1:{}=", "Ab3+/".repeat(9).trim_end_matches('/')),
        source: "https://proxy.example".into(),
        proof: "proven".into(),
        database: "sum.golang.org".into(),
        record_id: Some(24_011_230),
        tree_size: Some(41_532_118),
        root: "cm9vdA==".into(),
        go_version: format!("go version {name} linux/amd64"),
        error: String::new(),
        unproven_because: String::new(),
    }
}

pub(crate) fn build(variant: &str, program: &str, ns: u64) -> BuildRow {
    BuildRow {
        variant: variant.into(),
        program: program.into(),
        status: BuildStatus::Built,
        source_sha256: "01".into(),
        patches_sha256: String::new(),
        tree_sha256: "02".into(),
        patches: String::new(),
        binary_sha256: "03".into(),
        binary_bytes: Some(1_500_000),
        build_ns: format!("{ns} {} {}", ns + 2_000_000, ns - 1_000_000),
        first_build_ns: Some(9_000_000_000),
        environment: "CGO_ENABLED=0".into(),
        error: String::new(),
        c_library: String::new(),
        c_library_sha256: String::new(),
    }
}

pub(crate) fn check(variant: &str, program: &str) -> CheckRow {
    CheckRow {
        variant: variant.into(),
        program: program.into(),
        size: "quick".into(),
        binary_sha256: "03".into(),
        status: Outcome::Exited(0),
        sha256: "04".into(),
        bytes: 26,
        verdict: Verdict::Matches,
        first_difference_offset: None,
        error: String::new(),
        elapsed_ns: 1_000_000_000,
    }
}

pub(crate) fn run(variant: &str, program: &str, round: u32, elapsed_ns: u64) -> RunRow {
    RunRow {
        round,
        position: 1,
        variant: variant.into(),
        program: program.into(),
        size: "quick".into(),
        status: Outcome::Exited(0),
        elapsed_ns,
        user_us: elapsed_ns / 1_000,
        sys_us: 12_000,
        max_rss_kib: if program == "n-body" { 560 } else { elapsed_ns / 40_000 },
        rss_floor_kib: 548,
        minor_faults: 300,
        major_faults: 0,
        voluntary_switches: 10,
        involuntary_switches: 3,
        steal_ticks: None,
        psi_cpu_some_us: None,
        sink: "memory".into(),
        output_sha256: "04".into(),
        verdict: Verdict::Matches,
        started_at: "2026-11-30T18:00:00Z".parse().unwrap(),
        binary_sha256: "03".into(),
        error: String::new(),
    }
}

/// The survey with what goes wrong in practice: a release that is not offered, a program that does
/// not build on one release, and a run that takes too long.
pub(crate) fn troubled_survey() -> Survey {
    let mut survey = survey();
    survey.plan.go = "1.2,1.21,1.24,1.27".into();
    survey.plan.missing.push(MissingRelease {
        wanted: "1.2".into(),
        reason: "https://proxy.example lists no release of this minor".into(),
    });
    let failing = |row: &&mut BuildRow| row.variant == "go1.21.13" && row.program == "k-nucleotide";
    let row = survey.builds.iter_mut().find(failing).unwrap();
    row.status = BuildStatus::Failed;
    row.build_ns = String::new();
    row.binary_sha256 = String::new();
    row.error =
        "go build: exit 1\n./main.go:12:2: undefined: maps.Clone\n\tnote: `maps` | 1.21".into();
    let gone = |variant: &str, program: &str| variant == "go1.21.13" && program == "k-nucleotide";
    survey.checks.retain(|row| !gone(&row.variant, &row.program));
    survey.runs.retain(|row| !gone(&row.variant, &row.program));
    let slow =
        |row: &&mut RunRow| row.variant == "go1.24.11" && row.program == "fasta" && row.round == 2;
    let row = survey.runs.iter_mut().find(slow).unwrap();
    row.status = Outcome::TimedOut;
    row.verdict = Verdict::NotCompared;
    survey
}

/// A survey of rows that contradict the plan, each other and sense.
pub(crate) fn any_survey() -> impl Strategy<Value = Survey> {
    let name =
        || prop_oneof![Just("a"), Just("go1.4"), Just("go1.21.0+x=|`"), Just("\u{1b}[2J\n# b")];
    let asked = (
        proptest::collection::vec(name(), 0..4),
        proptest::collection::vec(name(), 0..4),
        prop_oneof![0..5_u32, Just(u32::MAX)],
    );
    let number = || prop_oneof![Just(0), 1..5_u64, 900_000_000..1_100_000_000_u64, any::<u64>()];
    let status = || {
        prop_oneof![
            4 => Just(Outcome::Exited(0)),
            1 => Just(Outcome::TimedOut),
            1 => Just(Outcome::Signalled(9)),
        ]
    };
    let verdict = || {
        prop_oneof![
            4 => Just(Verdict::Matches),
            1 => Just(Verdict::Differs),
            1 => Just(Verdict::NotCompared),
        ]
    };
    let one_run = (name(), name(), 0..5_u32, status(), verdict(), [number(), number(), number()])
        .prop_map(|(variant, program, round, status, verdict, [ns, us, kib])| RunRow {
            status,
            verdict,
            user_us: us,
            sys_us: ns,
            max_rss_kib: kib,
            rss_floor_kib: us,
            ..run(variant, program, round, ns)
        });
    let one_build = (name(), name(), any::<bool>(), "\\PC{0,30}\n?\\PC{0,30}").prop_map(
        |(variant, program, built, text)| BuildRow {
            status: if built { BuildStatus::Built } else { BuildStatus::PatchRejected },
            build_ns: text.clone(),
            error: text,
            ..build(variant, program, 5_000_000)
        },
    );
    let one_check =
        (name(), name(), status(), verdict()).prop_map(|(variant, program, status, verdict)| {
            CheckRow { status, verdict, ..check(variant, program) }
        });
    let one_toolchain =
        (name(), any::<bool>(), any::<bool>()).prop_map(|(name, had, proven)| ToolchainRow {
            status: if had { ToolchainStatus::Installed } else { ToolchainStatus::Failed },
            proof: if proven { "proven".into() } else { "|".into() },
            ..toolchain(name)
        });
    (
        asked,
        proptest::collection::vec(one_run, 0..60),
        proptest::collection::vec(one_build, 0..10),
        proptest::collection::vec(one_check, 0..10),
        proptest::collection::vec(one_toolchain, 0..6),
    )
        .prop_map(|((variants, programs, rounds), runs, builds, checks, toolchains)| Survey {
            plan: plan(&variants, &programs, rounds),
            host: Host::default(),
            toolchains,
            builds,
            checks,
            runs,
        })
}
