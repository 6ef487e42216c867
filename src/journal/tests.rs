use super::*;
use crate::measurement::Outcome;
use crate::record::{
    BuildRow, BuildStatus, Harness, PlannedSuite, RunRow, Threads, Verdict, header, line,
};
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

fn plan() -> Plan {
    Plan {
        schema: Plan::SCHEMA,
        name: "demo".into(),
        created_at: "2026-11-30T18:00:00Z".parse().unwrap(),
        command_line: "gosurvey survey --name demo".into(),
        go: "1.21".into(),
        variants: vec!["go1.21.13".into()],
        programs: vec!["n-body".into()],
        extras: Vec::new(),
        size: "quick".into(),
        rounds: 3,
        seed: 7,
        sink: "memory".into(),
        threads: Threads::All,
        environment: vec!["GOMAXPROCS=2".into()],
        goamd64: "v1".into(),
        build_repetitions: 3,
        time_limit_s: 900,
        suite: PlannedSuite { name: "gosurvey".into(), sha256: "ab".into() },
        harness: Harness {
            version: "0.1.0".into(),
            commit: "unknown".into(),
            launcher_sha256: "cd".into(),
        },
        missing: Vec::new(),
    }
}

fn host() -> Host {
    Host { schema: Host::SCHEMA, cpus: 2, cpu_model: Some("a \"CPU\"".into()), ..Host::default() }
}

fn build_row(variant: &str) -> BuildRow {
    BuildRow {
        variant: variant.into(),
        program: "n-body".into(),
        status: BuildStatus::Failed,
        source_sha256: "aa".into(),
        patches_sha256: String::new(),
        tree_sha256: "bb".into(),
        patches: String::new(),
        binary_sha256: String::new(),
        binary_bytes: None,
        build_ns: "1 2".into(),
        first_build_ns: Some(3),
        environment: "A=b, \"c\"".into(),
        error: "undefined: x".into(),
        c_library: String::new(),
        c_library_sha256: String::new(),
    }
}

fn run_row(position: u32) -> RunRow {
    RunRow {
        round: 1,
        position,
        variant: "go1.21.13".into(),
        program: "n-body".into(),
        size: "quick".into(),
        status: Outcome::Exited(0),
        elapsed_ns: 1_000_000_007,
        user_us: 990_000,
        sys_us: 1_200,
        max_rss_kib: 2_048,
        rss_floor_kib: 548,
        minor_faults: 301,
        major_faults: 0,
        voluntary_switches: 12,
        involuntary_switches: 3,
        steal_ticks: None,
        psi_cpu_some_us: Some(42),
        sink: "memory".into(),
        output_sha256: "ab".into(),
        verdict: Verdict::Matches,
        started_at: "2026-11-30T18:00:00Z".parse().unwrap(),
        binary_sha256: "cd".into(),
        error: String::new(),
    }
}

/// A folder with a survey of the given runs in it, not open.
fn survey(runs: &[RunRow]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(dir.path(), &plan(), &host()).unwrap();
    runs.iter().for_each(|row| journal.append(row).unwrap());
    dir
}

fn error<T>(result: Result<T, JournalError>) -> JournalError {
    result.err().expect("this should fail")
}

#[test]
fn what_is_written_is_read_again() {
    let dir = survey(&[run_row(1)]);
    let (mut journal, survey, _) = Journal::open(dir.path()).unwrap();
    assert_eq!((survey.plan, survey.host, survey.runs.len()), (plan(), host(), 1));
    journal.append(&run_row(2)).unwrap();
    journal.append(&build_row("go1.21.13")).unwrap();
    journal.append(&run_row(3)).unwrap();
    let (survey, torn) = read(dir.path()).unwrap();
    assert_eq!(survey.runs, [run_row(1), run_row(2), run_row(3)]);
    assert_eq!(survey.builds, [build_row("go1.21.13")]);
    assert!(survey.toolchains.is_empty() && survey.checks.is_empty() && torn.is_empty());
    assert!(exists(dir.path()));
}

#[test]
fn a_table_is_its_header_and_its_lines_and_nothing_else() {
    let dir = survey(&[run_row(1), run_row(2)]);
    let text = fs::read_to_string(dir.path().join("runs.csv")).unwrap();
    assert_eq!(text, header::<RunRow>() + &line(&run_row(1)) + &line(&run_row(2)));
}

#[test]
fn a_row_is_one_line_whatever_its_texts_hold() {
    let dir = survey(&[]);
    let (mut journal, _, _) = Journal::open(dir.path()).unwrap();
    let row = BuildRow { error: "a, \"b\"\r\nc\n\nd\n".into(), ..build_row("go1.2.2") };
    journal.append(&row).unwrap();
    journal.append(&build_row("go1.27.1")).unwrap();
    let text = fs::read_to_string(dir.path().join("builds.csv")).unwrap();
    assert_eq!(text.lines().count(), 3);
    let builds = read(dir.path()).unwrap().0.builds;
    assert_eq!(builds[0].error, "a, \"b\"  c  d ");
    assert_eq!(builds[1], build_row("go1.27.1"));
}

#[test]
fn a_survey_is_not_begun_twice() {
    let dir = survey(&[]);
    assert!(matches!(
        Journal::create(dir.path(), &plan(), &host()),
        Err(JournalError::Exists { .. })
    ));
    fs::remove_file(dir.path().join("survey.toml")).unwrap();
    fs::write(dir.path().join("runs.csv"), "x\n").unwrap();
    let error = error(Journal::create(dir.path(), &plan(), &host()));
    assert!(matches!(error, JournalError::Remains { file: "runs.csv", .. }), "{error}");
}

#[test]
fn a_start_that_was_killed_before_the_plan_was_written_leaves_no_survey() {
    let dir = survey(&[]);
    fs::remove_file(dir.path().join("survey.toml")).unwrap();
    assert!(matches!(Journal::open(dir.path()), Err(JournalError::Missing { .. })));
    Journal::create(dir.path(), &plan(), &host()).unwrap();
}

#[test]
fn one_process_at_a_time_writes() {
    let dir = survey(&[]);
    let (journal, _, _) = Journal::open(dir.path()).unwrap();
    let error = error(Journal::open(dir.path())).to_string();
    assert_eq!(error, format!("another gosurvey is working on {}", dir.path().display()));
    assert!(read(dir.path()).is_ok(), "reading needs no lock");
    drop(journal);
    assert!(Journal::open(dir.path()).is_ok());
}

#[test]
fn a_folder_without_a_survey_is_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(Journal::open(dir.path()), Err(JournalError::Missing { .. })));
    assert!(matches!(read(&dir.path().join("x")), Err(JournalError::Missing { .. })));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "looking leaves no trace");
}

#[test]
fn a_torn_row_is_cut_off_and_told() {
    let dir = survey(&[run_row(1), run_row(2)]);
    let file = dir.path().join("runs.csv");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 9]).unwrap();

    let (seen, _) = read(dir.path()).unwrap();
    assert_eq!(seen.runs, [run_row(1)]);
    assert_eq!(fs::read(&file).unwrap().len(), whole.len() - 9, "reading changes nothing");

    let (mut journal, _, torn) = Journal::open(dir.path()).unwrap();
    let warning = torn[0].to_string();
    assert!(
        warning.starts_with("runs.csv, line 3: the last row was cut short by a crash and is dropped: \"1,2,go1.21.13,"),
        "{warning}"
    );
    journal.append(&run_row(2)).unwrap();
    assert_eq!(fs::read(&file).unwrap(), whole);
}

#[test]
fn a_whole_line_that_is_no_row_is_an_error_and_stays() {
    let dir = survey(&[run_row(1), run_row(2)]);
    let file = dir.path().join("runs.csv");
    let damaged = fs::read_to_string(&file).unwrap().replace("1,1,go1", "1,x,go1");
    fs::write(&file, &damaged).unwrap();
    let message = error(Journal::open(dir.path())).to_string();
    assert!(message.contains("/runs.csv, line 2: field 1: "), "{message}");
    assert_eq!(fs::read_to_string(&file).unwrap(), damaged);
}

#[test]
fn a_table_of_other_columns_is_not_appended_to() {
    let dir = survey(&[run_row(1)]);
    let file = dir.path().join("runs.csv");
    let text = fs::read_to_string(&file).unwrap().replace(",error\n", ",error,newer\n");
    let text = text.replace(",cd,\n", ",cd,,1\n");
    fs::write(&file, &text).unwrap();
    let (mut journal, survey, _) = Journal::open(dir.path()).unwrap();
    assert_eq!(survey.runs, [run_row(1)], "columns of a later version are passed over");
    let error = error(journal.append(&run_row(2)));
    assert!(matches!(error, JournalError::Header { .. }), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn plan_and_host_are_named_when_they_are_damaged() {
    let dir = survey(&[]);
    fs::write(dir.path().join("host.json"), "{").unwrap();
    let message = error(read(dir.path())).to_string();
    assert!(message.contains("host.json: ") && message.contains("line 1"), "{message}");
    fs::write(dir.path().join("survey.toml"), "schema = 3").unwrap();
    assert!(error(read(dir.path())).to_string().contains("schema 3"));
}

#[test]
fn names_are_one_plain_folder_name() {
    for name in ["demo", "2026-11-30", "a.b_c+d", &"x".repeat(100)] {
        check_name(name).unwrap();
    }
    for name in ["", ".", "..", ".x", "a/b", "/a", "-x", "a b", "ä", "a\n", &"x".repeat(101)] {
        assert!(matches!(check_name(name), Err(JournalError::Name { .. })), "{name}");
    }
}

#[test]
fn a_report_is_replaced_whole() {
    let dir = survey(&[]);
    write_report(dir.path(), "summary.md", b"one").unwrap();
    write_report(dir.path(), "summary.md", b"2").unwrap();
    let folder = dir.path().join("report");
    assert_eq!(fs::read(folder.join("summary.md")).unwrap(), b"2");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no private files are left");
    let mode = fs::metadata(folder.join("summary.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
    for name in ["", ".", "../x", "a/b", ".hidden"] {
        assert!(write_report(dir.path(), name, b"").is_err(), "{name}");
    }
}

#[test]
fn a_file_cut_anywhere_resumes_with_exactly_its_whole_rows() {
    let rows = [run_row(1), run_row(2)];
    let dir = survey(&rows);
    let file = dir.path().join("runs.csv");
    let whole = fs::read(&file).unwrap();
    for length in 0..=whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        let newlines = whole[..length].iter().filter(|byte| **byte == b'\n').count();
        let complete = newlines.saturating_sub(1);
        let (mut journal, survey, torn) = Journal::open(dir.path()).unwrap();
        assert_eq!(survey.runs, rows[..complete], "cut to {length} bytes");
        let is_torn = length > 0 && whole[length - 1] != b'\n';
        assert_eq!(torn.len(), usize::from(is_torn), "cut to {length} bytes");
        if let Some(next) = rows.get(complete) {
            journal.append(next).unwrap();
        }
        let rows_now = read(dir.path()).unwrap().0.runs;
        assert_eq!(rows_now, rows[..rows.len().min(complete + 1)], "cut to {length} bytes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_of_any_text_survive_a_cut(
        texts in prop::collection::vec("[a-z\",\n\r é\u{2028}]{0,12}", 1..5),
        cut in 0.0..1.0,
    ) {
        let rows: Vec<BuildRow> =
            texts.iter().map(|text| BuildRow { error: text.clone(), ..build_row("v") }).collect();
        let dir = survey(&[]);
        let (mut journal, _, _) = Journal::open(dir.path()).unwrap();
        rows.iter().for_each(|row| journal.append(row).unwrap());
        drop(journal);
        let file = dir.path().join("builds.csv");
        let whole = fs::read(&file).unwrap();
        let length = (whole.len() as f64 * cut) as usize;
        fs::write(&file, &whole[..length]).unwrap();

        let (mut journal, survey, _) = Journal::open(dir.path()).unwrap();
        let complete = survey.builds.len();
        prop_assert_eq!(complete, whole[..length].iter().filter(|b| **b == b'\n').count().saturating_sub(1));
        rows[complete..].iter().for_each(|row| journal.append(row).unwrap());
        prop_assert_eq!(fs::read(&file).unwrap(), whole);
    }

    #[test]
    fn any_bytes_are_rows_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let dir = survey(&[]);
        fs::write(dir.path().join("runs.csv"), &bytes).unwrap();
        let _ = read(dir.path());
    }
}
