//! The launcher at work on a real program (`tests/exec/program.c`).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use fs_err::os::unix::fs::OpenOptionsExt;
use gosurvey::exec::{Command, ExecError, Launcher, Run, Runner, Sink, Stdin, launcher_sha256};
use gosurvey::measurement::Outcome;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::Pid;
use sha2::{Digest, Sha256};

const MIB: u64 = 1 << 20;

/// The measured program, linked statically so that it is as small as programs get.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exec/program.c");
    let compiled = tempfile::NamedTempFile::new_in(folder).unwrap().into_temp_path();
    let status = std::process::Command::new("cc")
        .args(["-static", "-O1", "-o"])
        .args([compiled.as_os_str(), source.as_os_str()])
        .status()
        .expect("these tests need a C compiler named cc");
    assert!(status.success(), "these tests need a C compiler that can link statically");
    // Renamed, because another process may be running the one that is there.
    let program = folder.join("exec-program");
    compiled.persist(&program).unwrap();
    program
});

fn command(args: &[&str]) -> Command {
    Command {
        program: PROGRAM.clone(),
        args: args.iter().map(Into::into).collect(),
        env: Vec::new(),
        cwd: "/".into(),
        stdin: Stdin::Null,
        time_limit: Duration::from_secs(100),
        output_limit: 100 * MIB,
    }
}

fn run(args: &[&str]) -> Run {
    run_command(&command(args))
}

fn run_command(command: &Command) -> Run {
    Launcher::start().unwrap().run(command, Sink::Memory).unwrap()
}

fn text(run: &mut Run) -> String {
    let mut text = String::new();
    run.output.read_to_string(&mut text).unwrap();
    text
}

fn outcome(args: &[&str]) -> Outcome {
    run(args).measurement.outcome
}

/// An error with its causes, as a user sees it; names that differ between machines replaced.
fn message(error: &ExecError) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message += &format!(": {error}");
        cause = error.source();
    }
    message.replace(&*PROGRAM.to_string_lossy(), "PROGRAM")
}

/// A FIFO that measured processes hold open for writing (see `program.c`).
struct Fifo {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Fifo {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fifo");
        nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
        Fifo { _folder: folder, path }
    }

    /// Opens it without waiting for a writer, before the run.
    fn open(&self) -> File {
        fs_err::OpenOptions::new()
            .read(true)
            .custom_flags(nix::libc::O_NONBLOCK)
            .open(&self.path)
            .unwrap()
            .into_file()
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// Asserts that the program held the FIFO and that no process does now. Does not wait for that.
fn assert_released(mut fifo: File, launcher: &Launcher) {
    let mut written = String::new();
    let end = fifo.read_to_string(&mut written);
    assert_eq!(written, format!("{}\n", launcher.process_id()), "what the program announced");
    end.expect("every process that held the FIFO is gone");
}

#[test]
fn an_exit_code_is_an_outcome() {
    assert_eq!(outcome(&["exit", "0"]), Outcome::Exited(0));
    assert_eq!(outcome(&["exit", "3"]), Outcome::Exited(3));
    // Also the one a shell would use for a missing program.
    assert_eq!(outcome(&["exit", "127"]), Outcome::Exited(127));
}

#[test]
fn a_signal_is_an_outcome() {
    assert_eq!(outcome(&["raise", "9"]), Outcome::Signalled(9));
    assert_eq!(outcome(&["raise", "11"]), Outcome::Signalled(11));
}

#[test]
fn the_program_finds_what_it_was_given_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = fs_err::canonicalize(folder.path()).unwrap();
    let mut command = command(&["describe", "", "two words", "ü"]);
    command.env = vec![("B".into(), "2 = two".into()), ("A".into(), String::new())];
    command.cwd = cwd.clone();
    let found = text(&mut run_command(&command));
    insta::assert_snapshot!(found.replace(cwd.to_str().unwrap(), "CWD"), @"
    argument [describe]
    argument []
    argument [two words]
    argument [ü]
    variable [B=2 = two]
    variable [A=]
    directory CWD
    descriptor 0
    descriptor 1
    descriptor 2
    leads its group 1
    is in the launcher's session 1
    has a terminal 0
    dies with its parent by 9
    may write 104857600
    may dump 0
    SigBlk:	0000000000000000
    SigIgn:	0000000000000000
    SigCgt:	0000000000000000
    ");
}

#[test]
fn standard_input_is_the_file_given_or_nothing() {
    let input = tempfile::NamedTempFile::new().unwrap();
    fs_err::write(input.path(), b">ONE Homo sapiens alu\nGGCC\n").unwrap();
    let mut command = command(&["copy"]);
    assert_eq!(text(&mut run_command(&command)), "");
    command.stdin = Stdin::File(input.path().to_owned());
    for _ in 0..2 {
        assert_eq!(text(&mut run_command(&command)), ">ONE Homo sapiens alu\nGGCC\n");
    }
}

#[test]
fn a_large_output_is_kept_byte_for_byte() {
    let length = 64 * MIB;
    let mut run = run(&["write", &length.to_string()]);
    assert_eq!(run.output.len(), length);
    let mut block = vec![0; 1 << 16];
    let mut expected = 0..(length / 4) as u32;
    for _ in 0..length / block.len() as u64 {
        run.output.read_exact(&mut block).unwrap();
        let numbers =
            block.chunks_exact(4).map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()));
        assert!(numbers.eq(expected.by_ref().take(block.len() / 4)));
    }
    assert_eq!(expected.next(), None);
}

#[test]
fn the_null_sink_keeps_nothing() {
    let run = Launcher::start().unwrap().run(&command(&["write", "100000"]), Sink::Null).unwrap();
    assert_eq!(run.measurement.outcome, Outcome::Exited(0));
    assert!(run.output.is_empty());
}

#[test]
fn output_beyond_the_limit_ends_the_program() {
    let mut command = command(&["write", "1000000"]);
    command.output_limit = 100_000;
    let run = run_command(&command);
    assert_eq!(run.measurement.outcome.to_string(), "signal 25 (SIGXFSZ)");
    assert_eq!(run.output.len(), 100_000);
}

#[test]
fn the_beginning_of_standard_error_is_kept_as_text() {
    assert_eq!(run(&["complain", "1"]).stderr, "oh\u{fffd}no\n");
    let long = run(&["complain", "100000"]);
    assert_eq!(long.stderr.chars().count(), 4096);
    assert!(long.output.is_empty());
}

#[test]
fn cpu_time_is_the_programs_own() {
    let measurement = run(&["spin", "50000"]).measurement;
    assert!(measurement.cpu_us() >= 50_000, "{measurement:?}");
    // One thread cannot use more CPU time than passes; the two clocks may drift a little.
    assert!(measurement.elapsed_ns as f64 * 1.01 >= measurement.cpu_us() as f64 * 1e3);
}

#[test]
fn a_harness_that_held_much_memory_does_not_show() {
    let kib_of_one_mib_program = |launcher: &mut Launcher| {
        let run = launcher.run(&command(&["touch", &MIB.to_string()]), Sink::Memory).unwrap();
        assert_eq!(run.measurement.rss_floor_kib, launcher.rss_floor_kib());
        run.measurement.max_rss_kib
    };
    let mut started_before = Launcher::start().unwrap();
    let mut reports = vec![kib_of_one_mib_program(&mut started_before)];
    let held = vec![1u8; 300 * MIB as usize];
    let mut started_meanwhile = Launcher::start().unwrap();
    reports.push(kib_of_one_mib_program(&mut started_before));
    reports.push(kib_of_one_mib_program(&mut started_meanwhile));
    drop(std::hint::black_box(held));
    let mut started_afterwards = Launcher::start().unwrap();
    for launcher in [&mut started_before, &mut started_meanwhile, &mut started_afterwards] {
        reports.push(kib_of_one_mib_program(launcher));
        assert!(launcher.rss_floor_kib() < 1024);
    }
    let own_peak_kib = status_kib(std::process::id(), "VmHWM");
    assert!(own_peak_kib > 300 * 1024, "this process held only {own_peak_kib} KiB");
    assert!(reports.iter().all(|&kib| kib < 2048), "reported {reports:?} KiB");
}

#[test]
fn peak_memory_is_the_programs_own() {
    let measurement = run(&["touch", &(256 * MIB).to_string()]).measurement;
    let mib = measurement.max_rss_kib / 1024;
    // A few per cent are what the kernel's counts per CPU may miss on a large machine.
    assert!((240..260).contains(&mib), "{mib} MiB");
    assert!(measurement.minor_faults > 0);
}

/// A memory line of `/proc/PID/status`.
fn status_kib(process: u32, line: &str) -> u64 {
    let status = fs_err::read_to_string(format!("/proc/{process}/status")).unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':')).unwrap();
    value.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
fn the_launcher_stays_small() {
    let mut launcher = Launcher::start().unwrap();
    for _ in 0..20 {
        launcher.run(&command(&["write", "1000000"]), Sink::Memory).unwrap();
    }
    let peak_kib = status_kib(launcher.process_id(), "VmHWM");
    assert!(peak_kib < 1024, "{peak_kib} KiB");
}

#[test]
fn a_program_out_of_time_is_killed_with_its_children_and_keeps_its_account() {
    let mut launcher = Launcher::start().unwrap();
    let fifo = Fifo::new();
    let reader = fifo.open();
    let mut command = command(&["hold", fifo.path()]);
    command.time_limit = Duration::from_secs(1);
    let run = launcher.run(&command, Sink::Memory).unwrap();
    assert_eq!(run.measurement.outcome, Outcome::TimedOut);
    assert!(run.measurement.elapsed_ns >= 1_000_000_000);
    assert_released(reader, &launcher);

    let spinning = ["spin", "1000000000"].map(Into::into).to_vec();
    let spinning = Command { args: spinning, time_limit: Duration::from_millis(300), ..command };
    let measurement = launcher.run(&spinning, Sink::Memory).unwrap().measurement;
    assert_eq!(measurement.outcome, Outcome::TimedOut);
    assert!(measurement.cpu_us() > 0, "{measurement:?}");
    assert!(measurement.minor_faults > 0, "{measurement:?}");
}

#[test]
fn the_time_limit_of_one_run_does_not_reach_the_next() {
    let mut launcher = Launcher::start().unwrap();
    let mut short = command(&["exit", "0"]);
    short.time_limit = Duration::from_millis(200);
    launcher.run(&short, Sink::Memory).unwrap();
    let run = launcher.run(&command(&["spin", "400000"]), Sink::Memory).unwrap();
    assert_eq!(run.measurement.outcome, Outcome::Exited(0));
}

#[test]
fn a_child_left_in_the_group_is_ended() {
    assert_left_behind("leave", 1);
}

#[test]
fn a_daemon_in_its_own_session_is_ended_with_its_children() {
    assert_left_behind("daemon", 2);
}

fn assert_left_behind(deed: &str, count: u64) {
    let mut launcher = Launcher::start().unwrap();
    let fifo = Fifo::new();
    let reader = fifo.open();
    let run = launcher.run(&command(&[deed, fifo.path()]), Sink::Memory).unwrap();
    assert_eq!(run.measurement.outcome, Outcome::Exited(0));
    assert_eq!(run.left_behind, count);
    assert_released(reader, &launcher);
}

#[test]
fn what_cannot_be_run_is_an_error_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, mode: u32, content: &str| {
        let path = folder.path().join(name);
        fs_err::write(&path, content).unwrap();
        fs_err::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path
    };
    let plain = command(&["exit", "0"]);
    let mut cases = vec![
        Command { program: "/nonexistent/program".into(), ..plain.clone() },
        Command { program: file("plain", 0o644, "echo"), ..plain.clone() },
        Command { program: file("garbage", 0o755, "\x01\x02"), ..plain.clone() },
        Command { program: file("script", 0o755, "#!/nonexistent/sh\n"), ..plain.clone() },
        Command { cwd: "/nonexistent/folder".into(), ..plain.clone() },
    ];
    let absent_input = Stdin::File("/nonexistent/input".into());
    cases.push(Command { stdin: absent_input, ..plain });

    let mut launcher = Launcher::start().unwrap();
    let messages: Vec<String> = cases
        .iter()
        .map(|command| message(&launcher.run(command, Sink::Memory).unwrap_err()))
        .collect();
    let messages = messages.join("\n").replace(folder.path().to_str().unwrap(), "FOLDER");
    insta::assert_snapshot!(messages, @"
    cannot execute /nonexistent/program; the command was (cd / && env -i /nonexistent/program exit 0 </dev/null): No such file or directory (os error 2)
    cannot execute FOLDER/plain; the command was (cd / && env -i FOLDER/plain exit 0 </dev/null): Permission denied (os error 13)
    cannot execute FOLDER/garbage; the command was (cd / && env -i FOLDER/garbage exit 0 </dev/null): Exec format error (os error 8)
    cannot execute FOLDER/script, which exists; its loader or interpreter does not; the command was (cd / && env -i FOLDER/script exit 0 </dev/null): No such file or directory (os error 2)
    cannot enter the working directory /nonexistent/folder; the command was (cd /nonexistent/folder && env -i PROGRAM exit 0 </dev/null): No such file or directory (os error 2)
    cannot open the standard input of (cd / && env -i PROGRAM exit 0 </nonexistent/input): failed to open file `/nonexistent/input`: No such file or directory (os error 2)
    ");
    launcher.run(&command(&["exit", "0"]), Sink::Memory).expect("the launcher still works");
}

#[test]
fn the_digest_is_that_of_the_program_that_measures() {
    let launcher = Launcher::start().unwrap();
    let image = fs_err::read(format!("/proc/{}/exe", launcher.process_id())).unwrap();
    let digest = Sha256::digest(image).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert_eq!(launcher_sha256(), digest);
}

#[test]
fn the_launcher_outlives_the_thread_that_started_it() {
    let start = std::thread::spawn(|| Launcher::start().unwrap());
    let mut launcher = start.join().unwrap();
    let run = launcher.run(&command(&["exit", "0"]), Sink::Memory).unwrap();
    assert_eq!(run.measurement.outcome, Outcome::Exited(0));
}

#[test]
fn dropping_the_launcher_ends_it() {
    let launcher = Launcher::start().unwrap();
    let process = PathBuf::from(format!("/proc/{}", launcher.process_id()));
    assert!(process.exists());
    drop(launcher);
    assert!(!process.exists());
}

#[test]
fn a_lost_launcher_is_an_error_and_takes_the_program_with_it() {
    let fifo = Fifo::new();
    let path = fifo.path().to_owned();
    let betrayal = std::thread::spawn(move || {
        let mut launcher = Launcher::start().unwrap();
        let betrayed = launcher.run(&command(&["betray", &path]), Sink::Memory).unwrap_err();
        let afterwards = launcher.run(&command(&["exit", "0"]), Sink::Memory).unwrap_err();
        [betrayed, afterwards].map(|error| message(&error))
    });
    let mut written = String::new();
    fs_err::File::open(&fifo.path).unwrap().read_to_string(&mut written).unwrap();
    assert!(!written.contains("survived"));
    let [betrayed, afterwards] = betrayal.join().unwrap();
    insta::assert_snapshot!(betrayed, @"the launcher of measured programs has ended (signal: 9 (SIGKILL)); if it was killed for lack of memory, the system log says so; start gosurvey again to continue");
    assert_eq!(betrayed, afterwards);
}

/// Runs one of the ignored tests below in a process of its own.
fn own_process(test: &str) -> std::process::Command {
    let mut process = std::process::Command::new(std::env::current_exe().unwrap());
    process.args([test, "--exact", "--ignored", "--nocapture"]);
    process.stdout(std::process::Stdio::null());
    process
}

#[test]
fn killing_gosurvey_ends_launcher_and_program() {
    // The orphaned launcher becomes a child of this process, which can then wait for it.
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(KILLED_HARNESS_FIFO);
    let _ = fs_err::remove_file(&path);
    nix::unistd::mkfifo(&path, Mode::S_IRWXU).unwrap();
    let mut harness = own_process("harness_to_be_killed").spawn().unwrap();

    let mut fifo = fs_err::File::open(&path).unwrap();
    let mut announced = [0; 32];
    let length = fifo.read(&mut announced).unwrap();
    let launcher: i32 = std::str::from_utf8(&announced[..length]).unwrap().trim().parse().unwrap();
    harness.kill().unwrap();
    harness.wait().unwrap();

    let mut last_words = String::new();
    fifo.read_to_string(&mut last_words).unwrap();
    assert_eq!(last_words, "", "the program and its child were killed");
    let ended = nix::sys::wait::waitpid(Pid::from_raw(launcher), None).unwrap();
    assert_eq!(ended, nix::sys::wait::WaitStatus::Exited(Pid::from_raw(launcher), 0));
}

const KILLED_HARNESS_FIFO: &str = "exec-killed-harness";

#[test]
#[ignore = "part of killing_gosurvey_ends_launcher_and_program"]
fn harness_to_be_killed() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(KILLED_HARNESS_FIFO);
    run(&["hold", path.to_str().unwrap()]);
}

#[test]
fn many_runs_leave_nothing_open_and_nobody_behind() {
    // Alone in its process, because the other tests open files too.
    let status = own_process("two_hundred_runs").status().unwrap();
    assert!(status.success());
}

#[test]
#[ignore = "part of many_runs_leave_nothing_open_and_nobody_behind"]
fn two_hundred_runs() {
    let mut launcher = Launcher::start().unwrap();
    let open_files =
        |process: u32| fs_err::read_dir(format!("/proc/{process}/fd")).unwrap().count();
    let processes = [launcher.process_id(), std::process::id()];
    let before = processes.map(open_files);
    let missing = Command { program: "/nonexistent".into(), ..command(&[]) };
    for round in 0..100 {
        let code = (round % 7).to_string();
        launcher.run(&command(&["exit", &code]), Sink::Memory).unwrap();
        launcher.run(&missing, Sink::Null).unwrap_err();
    }
    assert_eq!(processes.map(open_files), before);
    let id = launcher.process_id();
    let children = fs_err::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    assert_eq!(children, "");
}

#[test]
fn a_terminated_launcher_cleans_up() {
    let fifo = Fifo::new();
    let path = fifo.path().to_owned();
    let terminated = std::thread::spawn(move || {
        let mut launcher = Launcher::start().unwrap();
        launcher.run(&command(&["hold", &path]), Sink::Memory).unwrap_err()
    });
    let mut reader = fs_err::File::open(&fifo.path).unwrap();
    let mut announced = [0; 32];
    let length = reader.read(&mut announced).unwrap();
    let launcher = std::str::from_utf8(&announced[..length]).unwrap().trim().parse().unwrap();
    nix::sys::signal::kill(Pid::from_raw(launcher), Signal::SIGTERM).unwrap();
    let mut last_words = String::new();
    reader.read_to_string(&mut last_words).unwrap();
    assert_eq!(last_words, "", "the program and its child were killed");
    assert!(matches!(terminated.join().unwrap(), ExecError::LauncherEnded { .. }));
}
