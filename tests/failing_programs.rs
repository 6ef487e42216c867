//! Programs that fail in every way there is, through the real binary: each is reported as what it is,
//! and the survey goes on.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

mod common;

use common::survey::{SurveyFolder, bench};
use gosurvey::digest::Digest;
use gosurvey::record::{CheckRow, RunRow, Table, parse};
use std::fmt::Write as _;
use std::fs;

/// The output that is expected of all of them.
const EXPECTED: &str = "one\ntwo\nthree\n";

/// Name and body of `main`.
const PROGRAMS: [(&str, &str); 9] = [
    ("good", r#"os.Stdout.WriteString("one\ntwo\nthree\n")"#),
    ("wrong-byte", r#"os.Stdout.WriteString("one\ntwo\nthrea\n")"#),
    ("short", r#"os.Stdout.WriteString("one\ntwo\n")"#),
    ("silent", ""),
    ("endless", r#"for { os.Stdout.WriteString("one\ntwo\nthree\n") }"#),
    ("stuck", "for { runtime.Gosched() }"),
    ("panicking", r#"panic("no")"#),
    ("killed", "syscall.Kill(os.Getpid(), syscall.SIGTERM); select {}"),
    // More than any machine has. Nothing of it is ever touched, so no other process is in danger.
    ("greedy", "huge := make([]byte, 1<<40); os.Stdout.Write(huge[:1])"),
];

/// Makes a suite of them in the survey's own copy of the suite.
fn make_suite(survey: &SurveyFolder) {
    let root = survey.suite();
    let digest = Digest::of(&mut EXPECTED.as_bytes()).unwrap();
    let mut manifest = "name = \"failing\"\nabout = \"fails in every way\"\n".to_owned();
    fs::remove_dir_all(root.join("programs")).unwrap();
    for (name, body) in PROGRAMS {
        let folder = root.join("programs").join(name);
        fs::create_dir_all(&folder).unwrap();
        let packages = ["os", "runtime", "syscall"];
        let uses = packages.map(|package| format!("import {package:?}\n")).concat();
        let keep = "var _ = os.Args\nvar _ = runtime.GC\nvar _ = syscall.Getpid\n";
        let text = format!("package main\n\n{uses}\n{keep}\nfunc main() {{\n{body}\n}}\n");
        fs::write(folder.join("main.go"), text).unwrap();
        write!(
            manifest,
            "[[program]]\nname = {name:?}\ntask = {name:?}\nabout = \"fails\"\n\
             [program.size.check]\nargs = []\n\
             expect = {{ file = \"expected.txt\", sha256 = {:?}, bytes = {} }}\n",
            digest.sha256(),
            digest.bytes(),
        )
        .unwrap();
    }
    fs::write(root.join("programs/suite.toml"), manifest).unwrap();
    fs::write(root.join("reference-output/expected.txt"), EXPECTED).unwrap();
}

fn rows<T: Table>(survey: &SurveyFolder, file: &str) -> Vec<T> {
    parse(&fs::read(survey.dir().join(file)).unwrap()).unwrap()
}

#[test]
fn every_failure_is_reported_as_what_it_is_and_the_survey_goes_on() {
    let Some(bench) = bench() else { return };
    let survey = bench.survey("failing").with_own_suite();
    make_suite(&survey);
    let arguments =
        ["survey", "--go", "latest", "--size", "check", "--rounds", "2", "--time-limit", "2"];
    let run = bench.gosurvey(arguments, &survey);
    assert_eq!(run.code, 4, "{}", run.all());

    let checks: Vec<CheckRow> = rows(&survey, "outputs.csv");
    let (greedy, others) = checks.split_last().unwrap();
    assert!(greedy.error.contains("out of memory"), "{greedy:?}");
    let told: Vec<String> = others
        .iter()
        .map(|row| format!("{}: {}, {}: {}", row.program, row.status, row.verdict, row.error))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    good: ok, matches: 
    wrong-byte: ok, differs: wrong output: byte 12 (line 3): expected "three\n", found "threa\n"
    short: ok, differs: wrong output: byte 8 (line 3): the output ends here, "three\n" is missing
    silent: ok, differs: wrote nothing, expected are 14 bytes
    endless: timed out, not compared: wrote too much: it was stopped after 1048590 bytes, expected are 14
    stuck: timed out, not compared: did not end within 2 s and was stopped
    panicking: exit 2, not compared: ended with exit 2: panic: no | goroutine 1 [running]: | main.main()
    killed: signal 15 (SIGTERM), not compared: was killed by signal 15 (SIGTERM)
    "#);

    // What failed its check is not measured; the good one is, in every round.
    let measured: Vec<_> = rows::<RunRow>(&survey, "runs.csv")
        .into_iter()
        .map(|row| (row.round, row.program))
        .collect();
    assert_eq!(measured, [(1, "good".to_owned()), (2, "good".to_owned())]);

    let matrix = bench.gosurvey(["check"], &survey);
    assert_eq!(matrix.code, 4, "{}", matrix.all());
    for row in checks.iter().filter(|row| !row.passed()) {
        assert!(matrix.out.contains(&row.program), "{}", matrix.all());
    }
    let again = bench.gosurvey(["survey"], &survey);
    assert!(again.out.contains("nothing to do"), "{}", again.all());
}
