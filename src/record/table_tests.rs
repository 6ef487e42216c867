use super::*;
use crate::measurement::Outcome;
use crate::record::{BuildRow, CheckRow, RunRow, ToolchainRow, Verdict};
use proptest::prelude::*;

fn run_row() -> RunRow {
    RunRow {
        round: 2,
        position: 5,
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

fn file(rows: &[RunRow]) -> String {
    let lines: String = rows.iter().map(line).collect();
    header::<RunRow>() + &lines
}

/// The header is written by hand beside the struct; were it in another order than the fields,
/// every column would carry another's numbers.
fn columns_are_the_fields<T: Table + std::fmt::Debug>(values: &str) {
    let text = header::<T>() + values;
    let rows: Vec<T> = parse(text.as_bytes()).unwrap();
    assert_eq!(line(&rows[0]), values);
}

#[test]
fn columns_stand_in_the_order_of_the_fields() {
    columns_are_the_fields::<RunRow>(
        "1,2,v,p,s,ok,7,8,9,10,11,12,13,14,15,16,17,memory,sha,differs,2026-11-30T18:00:00Z,bin,error\n",
    );
    columns_are_the_fields::<CheckRow>("v,p,s,bin,ok,sha,7,matches,9,error,11\n");
    columns_are_the_fields::<BuildRow>(
        "v,p,built,src,pat,tree,names,bin,9,1 2 3,11,A=b,error,lib,sum\n",
    );
    columns_are_the_fields::<ToolchainRow>(
        "t,installed,r,p,h1:x,src,proven,db,9,10,root,gv,err,why\n",
    );
}

#[test]
fn rows_survive_their_file() {
    assert_eq!(
        parse::<RunRow>(file(&[run_row(), run_row()]).as_bytes()).unwrap(),
        [run_row(), run_row()]
    );
}

#[test]
fn a_column_of_a_later_version_is_passed_over() {
    let text = file(&[run_row()]);
    let (first, rest) = text.split_once('\n').unwrap();
    let later = format!("energy_uj,{first}\n99,{rest}");
    assert_eq!(parse::<RunRow>(later.as_bytes()).unwrap(), [run_row()]);
}

#[test]
fn a_column_that_came_later_than_the_file_is_empty() {
    let columns = ToolchainRow::COLUMNS.len() - ToolchainRow::LATER.len();
    assert_eq!(ToolchainRow::COLUMNS[columns..], *ToolchainRow::LATER, "added at the end");
    let values = "t,installed,r,p,,/usr/local/go,unproven,,,,,gv,";
    let text = format!("{}\n{values}\n", ToolchainRow::COLUMNS[..columns].join(","));
    let rows: Vec<ToolchainRow> = parse(text.as_bytes()).unwrap();
    assert_eq!(line(&rows[0]), format!("{values},\n"));
}

#[test]
fn a_missing_column_is_named() {
    let text = file(&[run_row()]).replace("elapsed_ns", "elapsed");
    let message = parse::<RunRow>(text.as_bytes()).unwrap_err().to_string();
    assert!(message.starts_with("runs.csv: no column \"elapsed_ns\""), "{message}");
}

#[test]
fn a_bad_value_is_named_with_its_line() {
    let text = file(&[run_row(), run_row()]).replacen("1000000007", "fast", 1);
    let message = parse::<RunRow>(text.as_bytes()).unwrap_err().to_string();
    assert!(
        message.starts_with("runs.csv, line 2: ") && message.contains("invalid digit"),
        "{message}"
    );
    let text = file(&[run_row()]).replace("matches", "perhaps");
    let message = parse::<RunRow>(text.as_bytes()).unwrap_err().to_string();
    assert!(message.contains("matches, differs, not compared"), "{message}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse::<RunRow>(&bytes);
    }

    #[test]
    fn any_text_in_a_cell_survives(error in "\\PC*\n?\\PC*") {
        let row = BuildRow {
            variant: "v".into(), program: "p".into(), status: crate::record::BuildStatus::Failed,
            source_sha256: String::new(), patches_sha256: String::new(), tree_sha256: String::new(),
            patches: String::new(), binary_sha256: String::new(), binary_bytes: None,
            build_ns: String::new(), first_build_ns: None, environment: String::new(), error,
            c_library: String::new(), c_library_sha256: String::new(),
        };
        let text = header::<BuildRow>() + &line(&row);
        prop_assert_eq!(parse::<BuildRow>(text.as_bytes()).unwrap(), vec![row]);
    }
}
