//! The whole survey through the real binary, with real Go toolchains served by a mirror on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

mod common;

use common::survey::bench;
use gosurvey::record::{BuildRow, CheckRow, RunRow, ToolchainRow, parse};
use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Enough programs where a test is not about them: the whole suite takes long to build.
const FOUR_PROGRAMS: [&str; 8] = [
    "--program",
    "binary-trees",
    "--program",
    "fasta",
    "--program",
    "k-nucleotide",
    "--program",
    "n-body",
];

/// Every run of a survey, as round, variant and program.
fn keys(results: &Path) -> BTreeSet<(u32, String, String)> {
    rows::<RunRow>(results, "runs.csv")
        .into_iter()
        .map(|row| (row.round, row.variant, row.program))
        .collect()
}

fn rows<T: gosurvey::record::Table>(survey: &Path, file: &str) -> Vec<T> {
    parse(&std::fs::read(survey.join(file)).unwrap()).unwrap()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn from_nothing_to_a_report_and_then_nothing_to_do() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("whole");
    let run =
        bench.gosurvey(["survey", "--go", "all", "--size", "check", "--rounds", "2"], &survey);
    assert_eq!(run.code, 0, "{}", run.all());

    let toolchains: Vec<ToolchainRow> = rows(&survey.dir(), "toolchains.csv");
    assert_eq!(toolchains.len(), bench.releases.len());
    for row in &toolchains {
        assert_eq!(row.proof, "proven");
        assert!(
            row.h1.starts_with("h1:") && row.go_version.starts_with("go version go1."),
            "{row:?}"
        );
    }
    let builds: Vec<BuildRow> = rows(&survey.dir(), "builds.csv");
    for row in &builds {
        assert_eq!(row.build_times_ns().len(), 3, "{row:?}");
        assert!(row.binary_bytes > Some(500_000), "{row:?}");
    }
    let trees: BTreeSet<_> = builds.iter().map(|row| (&row.program, &row.tree_sha256)).collect();
    assert_eq!(trees.len(), bench.programs(), "every release compiles the same text");

    let checks: Vec<CheckRow> = rows(&survey.dir(), "outputs.csv");
    assert!(checks.iter().all(CheckRow::passed), "{checks:#?}");
    let runs: Vec<RunRow> = rows(&survey.dir(), "runs.csv");
    assert_eq!(keys(&survey.dir()).len(), 2 * bench.programs() * bench.releases.len());
    assert_eq!(runs.len(), keys(&survey.dir()).len());
    for row in &runs {
        assert!(
            row.counts() && row.elapsed_ns > 0 && row.max_rss_kib >= row.rss_floor_kib,
            "{row:?}"
        );
    }
    let summary = text(&survey.dir().join("report/summary.md"));
    for release in &bench.releases {
        assert!(summary.contains(&release.to_string()), "{summary}");
    }

    let before = text(&survey.dir().join("runs.csv"));
    let again = bench.gosurvey(["survey"], &survey);
    assert_eq!(again.code, 0, "{}", again.all());
    assert!(again.out.contains("nothing to do"), "{}", again.all());
    assert_eq!(text(&survey.dir().join("runs.csv")), before);
}

#[test]
fn a_killed_survey_ends_with_the_same_runs() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("killed");
    let plan = ["survey", "--go", "newest-2", "--size", "check", "--rounds", "4", "--seed", "7"];
    let arguments = [&plan[..], &FOUR_PROGRAMS].concat();
    // Killed as soon as a few rows are there, again and again; each start goes on.
    for rows_wanted in [1, 5, 11, 20] {
        let mut child = bench.spawn(&arguments, &survey);
        let runs = survey.dir().join("runs.csv");
        while child.try_wait().unwrap().is_none() {
            let lines = std::fs::read_to_string(&runs).map_or(0, |text| text.lines().count());
            if lines > rows_wanted {
                child.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(2));
        }
        child.wait().unwrap();
    }
    let last = bench.gosurvey(&arguments, &survey);
    assert_eq!(last.code, 0, "{}", last.all());
    let runs: Vec<RunRow> = rows(&survey.dir(), "runs.csv");
    assert_eq!(runs.len(), 4 * 4 * 2, "no row twice, none missing");
    assert_eq!(keys(&survey.dir()).len(), runs.len());
    let order = |round: u32| {
        let mut places: Vec<_> = runs
            .iter()
            .filter(|row| row.round == round)
            .map(|row| (row.position, row.cell()))
            .collect();
        places.sort();
        places
    };
    for round in 1..=4 {
        let positions: Vec<u32> = order(round).iter().map(|(position, _)| *position).collect();
        assert_eq!(positions, (1..=8).collect::<Vec<_>>(), "round {round}");
    }
}

#[test]
fn an_interrupt_says_how_to_go_on() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("interrupted");
    let plan = ["survey", "--go", "latest", "--size", "check", "--rounds", "500"];
    let mut child = bench.spawn([&plan[..], &FOUR_PROGRAMS].concat(), &survey);
    while std::fs::read_to_string(survey.dir().join("runs.csv")).map_or(0, |t| t.lines().count())
        < 3
    {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        thread::sleep(Duration::from_millis(2));
    }
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(child.id() as i32),
        nix::sys::signal::Signal::SIGINT,
    )
    .unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("go on with") && said.contains("--rounds 500"), "{said}");
    let file = text(&survey.dir().join("runs.csv"));
    assert!(file.ends_with('\n'), "no half-written row");
}

#[test]
fn another_plan_is_refused_and_nothing_changes() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("plans");
    let first = bench.gosurvey(
        ["survey", "--go", "latest", "--size", "check", "--rounds", "1", "--program", "n-body"],
        &survey,
    );
    assert_eq!(first.code, 0, "{}", first.all());
    let before = text(&survey.dir().join("runs.csv"));
    for (arguments, says) in [
        (vec!["survey", "--rounds", "2"], "rounds: the plan says 1, this start says 2"),
        (vec!["survey", "--size", "quick"], "size: the plan says check, this start says quick"),
        (vec!["survey", "--go", "newest-2"], "releases (--go)"),
        (vec!["survey", "--threads", "native"], "threads: the plan says all"),
    ] {
        let run = bench.gosurvey(arguments, &survey);
        assert_eq!(run.code, 1, "{}", run.all());
        assert!(run.err.contains(says), "{}", run.all());
    }
    assert_eq!(text(&survey.dir().join("runs.csv")), before);
}

#[test]
fn another_program_text_is_refused() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("suites").with_own_suite();
    let arguments =
        ["survey", "--go", "latest", "--size", "check", "--rounds", "1", "--program", "n-body"];
    assert_eq!(bench.gosurvey(arguments, &survey).code, 0);
    let source = survey.suite().join("programs/n-body/main.go");
    std::fs::write(&source, text(&source) + "// another\n").unwrap();
    let run = bench.gosurvey(arguments, &survey);
    assert_eq!(run.code, 1, "{}", run.all());
    assert!(run.err.contains("suite: the plan says"), "{}", run.all());
}

#[test]
fn a_lost_or_changed_binary_is_made_again() {
    let Some(bench) = bench() else { return };
    let spoils: [fn(&Path); 2] = [
        |binary| std::fs::remove_file(binary).unwrap(),
        |binary| std::fs::write(binary, b"#!/bin/sh\necho 42\n").unwrap(),
    ];
    for spoil in spoils {
        let survey = bench.survey("binaries").with_own_store();
        let arguments =
            ["--go", "latest", "--size", "check", "--rounds", "1", "--program", "n-body"];
        let built = bench.gosurvey([&["check"], &arguments[..]].concat(), &survey);
        assert_eq!(built.code, 0, "{}", built.all());
        let builds: Vec<BuildRow> = rows(&survey.dir(), "builds.csv");
        spoil(&survey.store().join("binaries").join(&builds[0].binary_sha256));
        let run = bench.gosurvey([&["survey"], &arguments[..]].concat(), &survey);
        assert_eq!(run.code, 0, "{}", run.all());
        assert_eq!(rows::<BuildRow>(&survey.dir(), "builds.csv").len(), 1, "no second row");
        assert!(rows::<RunRow>(&survey.dir(), "runs.csv")[0].counts());
    }
}

#[test]
fn a_wrong_program_is_named_not_measured_and_the_rest_goes_on() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("wrong").with_own_suite();
    let source = survey.suite().join("programs/n-body/main.go");
    let wrong = text(&source).replace("%.9f\\n%.9f\\n", "%.9f\\n%.8f\\n");
    assert_ne!(wrong, text(&source));
    std::fs::write(&source, wrong).unwrap();
    let broken = survey.suite().join("programs/fasta/main.go");
    std::fs::write(&broken, text(&broken) + "\nfunc broken() { return 1 }\n").unwrap();
    let plan = ["survey", "--go", "latest", "--size", "check", "--rounds", "2"];
    let run = bench.gosurvey([&plan[..], &FOUR_PROGRAMS].concat(), &survey);
    assert_eq!(run.code, 4, "{}", run.all());
    assert!(run.err.contains("wrong output: byte 23 (line 2)"), "{}", run.all());
    let measured: BTreeSet<String> = keys(&survey.dir()).into_iter().map(|(_, _, p)| p).collect();
    assert!(!measured.contains("n-body") && !measured.contains("fasta"));
    assert_eq!(measured.len(), 2);
    let summary = text(&survey.dir().join("report/summary.md"));
    assert!(summary.contains("byte 23") && summary.contains("main.go"), "{summary}");
}

#[test]
fn a_release_that_nobody_serves_is_skipped() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("missing");
    let run = bench.gosurvey(
        [
            "survey",
            "--go",
            "1.2,1.21.99,latest",
            "--size",
            "check",
            "--rounds",
            "1",
            "--program",
            "n-body",
        ],
        &survey,
    );
    assert_eq!(run.code, 4, "{}", run.all());
    let toolchains: Vec<ToolchainRow> = rows(&survey.dir(), "toolchains.csv");
    assert_eq!(toolchains.len(), 2);
    assert_eq!(keys(&survey.dir()).len(), 1);
    let summary = text(&survey.dir().join("report/summary.md"));
    assert!(summary.contains("1.21.99") && summary.contains("go1.2"), "{summary}");
}

#[test]
fn one_release_builds_a_program_without_and_with_its_patches() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("ab");
    let arguments =
        ["build", "--ab-patches", "--program", "n-body", "--size", "check", "--rounds", "1"];
    let run = bench.gosurvey(arguments, &survey);
    // One round decides nothing.
    assert_eq!(run.code, 0, "{}", run.all());
    let builds: Vec<BuildRow> = rows(&survey.dir(), "builds.csv");
    let newest = bench.releases.last().unwrap();
    let [plain, patched] = &builds[..] else { panic!("{builds:#?}") };
    assert_eq!(plain.variant, format!("{newest}+unpatched"));
    assert_eq!(patched.variant, format!("{newest}+patched"));
    assert_eq!((plain.patches.as_str(), &plain.tree_sha256), ("", &plain.source_sha256));
    assert!(patched.patches.starts_with("0001-"), "{patched:?}");
    assert_ne!(patched.tree_sha256, plain.tree_sha256);
    assert_eq!(keys(&survey.dir()).len(), 2);
    assert!(run.out.contains("No program's patches change"), "{}", run.all());

    let two = ["build", "--ab-patches", "--go", "newest-2", "--size", "check"];
    let survey = bench.survey("two");
    let refused = bench.gosurvey(two, &survey);
    assert_eq!(refused.code, 2, "{}", refused.all());
    assert!(!survey.dir().exists(), "a survey was begun");
}

#[test]
fn the_callers_environment_changes_nothing() {
    let Some(bench) = bench() else { return };
    let poison = [
        ("GOGC", "1"),
        ("GODEBUG", "gctrace=1"),
        ("GOMAXPROCS", "1"),
        ("GOFLAGS", "-race"),
        ("GOROOT", "/nowhere"),
        ("GOEXPERIMENT", "nonsense"),
        ("GOAMD64", "v9"),
        ("GO111MODULE", "off"),
        ("CGO_ENABLED", "0"),
        ("CGO_CFLAGS", "-nonsense"),
        ("CGO_LDFLAGS", "-lnowhere"),
        ("CC", "/nowhere"),
        ("GOTOOLCHAIN", "go1.99.0"),
    ];
    let programs = ["--program", "fasta", "--program", "pidigits-gmp"];
    let arguments = [&["check", "--go", "latest", "--size", "check"][..], &programs].concat();
    let clean = bench.survey("clean").with_own_store();
    let poisoned = bench.survey("poisoned").with_own_store();
    assert_eq!(bench.gosurvey(&arguments, &clean).code, 0);
    let run = bench.gosurvey_with(&arguments, &poisoned, &poison);
    assert_eq!(run.code, 0, "{}", run.all());
    let binaries = |survey: &Path| {
        let row = |row: BuildRow| (row.program, row.binary_sha256);
        rows::<BuildRow>(survey, "builds.csv").into_iter().map(row).collect::<BTreeSet<_>>()
    };
    assert_eq!(binaries(&clean.dir()), binaries(&poisoned.dir()));
}

#[test]
fn one_flipped_byte_is_refused_with_both_hashes() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("flipped").with_own_store();
    let (mirror, release) = bench.mirror_with_a_flipped_byte();
    let run = bench.gosurvey_with(
        ["fetch", "--go", &release.version()],
        &survey,
        &[("GOPROXY", &format!("file://{}", mirror.path().display()))],
    );
    assert_eq!(run.code, 1, "{}", run.all());
    assert_eq!(run.err.matches("h1:").count(), 2, "{}", run.all());
    assert!(run.err.contains("nothing was installed"), "{}", run.all());
    assert_eq!(bench.gosurvey(["toolchains"], &survey).out.matches("h1:").count(), 0);
    let honest = bench.gosurvey(["fetch", "--go", &release.version()], &survey);
    assert_eq!(honest.code, 0, "{}", honest.all());
}

#[test]
fn a_toolchain_from_disk_stands_by_its_age_and_is_proven_by_its_files() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("local");
    let goroot = bench.goroot(0);
    let go = format!("latest,mine={}", goroot.display());
    let run = bench.gosurvey(
        ["survey", "--go", &go, "--size", "check", "--rounds", "1", "--program", "n-body"],
        &survey,
    );
    assert_eq!(run.code, 0, "{}", run.all());
    let toolchains: Vec<ToolchainRow> = rows(&survey.dir(), "toolchains.csv");
    let proofs: Vec<_> = toolchains.iter().map(|row| (&*row.toolchain, &*row.proof)).collect();
    let newest = bench.releases.last().unwrap().to_string();
    assert_eq!(proofs, [("mine", "proven"), (&*newest, "proven")]);
    assert_eq!(toolchains[0].source, goroot.canonicalize().unwrap().display().to_string());
    assert!(!text(&survey.dir().join("report/summary.md")).contains("UNPROVEN"));
}

#[test]
fn a_toolchain_of_other_files_is_called_unproven_and_held_to_its_digest() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("unproven");
    let goroot = bench.goroot_with_another_file(0, "once");
    let go = format!("mine={}", goroot.path().display());
    let arguments = ["--go", &*go, "--size", "check", "--rounds", "1", "--program", "n-body"];
    let built = bench.gosurvey([&["build"], &arguments[..]].concat(), &survey);
    assert_eq!(built.code, 0, "{}", built.all());
    let toolchains: Vec<ToolchainRow> = rows(&survey.dir(), "toolchains.csv");
    let row = &toolchains[0];
    assert_eq!((&*row.toolchain, &*row.proof), ("mine", "unproven"));
    assert!(row.h1.starts_with("h1:"), "{row:?}");
    assert!(row.unproven_because.contains(&format!("this tree is {}", row.h1)), "{row:?}");

    let another = goroot.path().join("another");
    std::fs::write(&another, "twice").unwrap();
    let changed = bench.gosurvey([&["survey"], &arguments[..]].concat(), &survey);
    assert_eq!(changed.code, 1, "{}", changed.all());
    assert!(
        changed.err.contains("another than the one this survey began with"),
        "{}",
        changed.all()
    );
    std::fs::write(&another, "once").unwrap();
    let run = bench.gosurvey([&["survey"], &arguments[..]].concat(), &survey);
    assert_eq!(run.code, 0, "{}", run.all());
    let summary = text(&survey.dir().join("report/summary.md"));
    let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        summary.contains("mine is UNPROVEN") && summary.contains("this tree is h1:"),
        "{summary}"
    );

    let fetched = bench.gosurvey(["fetch", "--go", &*go], &survey);
    assert_eq!(fetched.code, 0, "{}", fetched.all());
    assert!(
        fetched.out.contains("mine = ") && fetched.out.contains("UNPROVEN: "),
        "{}",
        fetched.all()
    );
}
