//! How fast inputs are made and verified, references generated, and outputs compared.
//!
//!     cargo bench --bench streams -- [FOLDER] [N]
//!
//! Works in FOLDER (on the disk to measure; by default the one for temporary files) with the FASTA text of
//! N (by default 100,000,000, a gigabyte). Figures are the best of three, in the order in which a survey
//! comes to them; CPU time, of all threads, is the better figure where other work shares the machine. Peak
//! memory is the process's own up to there; the compared output is held by the system.

#![allow(clippy::print_stdout, reason = "it reports")]
#![allow(clippy::unwrap_used, reason = "a benchmark may end on what it did not expect")]

use gosurvey::digest::Digester;
use gosurvey::inputs::fasta_input;
use gosurvey::store::Store;
use gosurvey::suite::Input;
use gosurvey::suite::fasta::{fasta_bytes, write_fasta};
use gosurvey::suite::mandelbrot::write_mandelbrot;
use gosurvey::suite_folder::{ExpectedOutput, ReferenceText};
use gosurvey::verify::{Text, compare};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use std::fs::File;
use std::io::{Seek, Write, sink};
use std::path::PathBuf;
use std::time::Instant;

const ROUNDS: usize = 3;
const LARGEST_PICTURE: u64 = 16_000;

fn main() {
    // `cargo bench` adds an option of its own.
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let folder = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let n = arguments.next().map_or(100_000_000, |n| n.parse().expect("N is a number"));
    println!("fasta {n}: {} MB", fasta_bytes(n) / 1_000_000);
    inputs(folder, n);
    comparison(n);
    report("draw mandelbrot 16000", None, || {
        write_mandelbrot(LARGEST_PICTURE, &mut sink()).unwrap()
    });
}

fn inputs(folder: PathBuf, n: u64) {
    let input = describe(n);
    let folder = tempfile::tempdir_in(folder).unwrap();
    let store = Store::open(folder.path()).unwrap();
    let make_or_verify = || fasta_input(&store, &input).unwrap();
    report("make the input, flushed to disk", Some(n), || {
        let _ = fs_err::remove_file(store.inputs().join(format!("fasta-{n}.txt")));
        make_or_verify();
    });
    report("verify the input", Some(n), || {
        make_or_verify();
    });
}

fn comparison(n: u64) {
    let text = ReferenceText::ReverseComplement(n);
    report("generate reverse-complement", Some(n), || text.write_to(&mut sink()).unwrap());
    let mut output = File::from(memfd_create("output", MFdFlags::MFD_CLOEXEC).unwrap());
    text.write_to(&mut output).unwrap();
    let mut proven = None;
    report("prove reverse-complement (once)", Some(n), || {
        proven = Some(ExpectedOutput::new(ReferenceText::ReverseComplement(n)).unwrap());
    });
    let expected = proven.expect("it was proven a few times");
    report("compare an equal output", Some(n), || {
        output.rewind().unwrap();
        assert_eq!(compare(&expected, &output).unwrap().first_difference, None);
    });
    output.write_all(b"!").unwrap();
    report("compare one that goes on too long", Some(n), || {
        output.rewind().unwrap();
        let difference = compare(&expected, &output).unwrap().first_difference.unwrap();
        assert_eq!(difference.offset, fasta_bytes(n));
    });
}

/// What a manifest would say of the input.
fn describe(n: u64) -> Input {
    let mut digester = Digester::default();
    write_fasta(n, &mut digester).unwrap();
    let digest = digester.finish();
    Input { fasta: n, sha256: digest.sha256().to_owned(), bytes: digest.bytes() }
}

/// Does `work` some times and prints the best; `n` if it goes over a text of N.
fn report(what: &str, n: Option<u64>, mut work: impl FnMut()) {
    let (mut best_elapsed_s, mut best_cpu_s) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        let (start, start_cpu_s) = (Instant::now(), cpu_s());
        work();
        best_elapsed_s = best_elapsed_s.min(start.elapsed().as_secs_f64());
        best_cpu_s = best_cpu_s.min(cpu_s() - start_cpu_s);
    }
    let speed = |seconds: f64| match n {
        Some(n) => format!("{:6.0} MB/s", fasta_bytes(n) as f64 / 1e6 / seconds),
        None => String::new(),
    };
    println!(
        "{what:<34} {best_elapsed_s:5.2} s {:<11}  CPU {best_cpu_s:5.2} s {:<11} {:>4} MiB",
        speed(best_elapsed_s),
        speed(best_cpu_s),
        peak_memory_kib() / 1024
    );
}

/// CPU time of this process and its threads so far.
fn cpu_s() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let seconds = |time: TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    seconds(usage.user_time()) + seconds(usage.system_time())
}

/// The most memory this process ever had resident.
fn peak_memory_kib() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
