//! Runs a go command: timed, bounded, and killed with everything it started.

use super::environment::Environment;
use crate::exec::quoted;
use crate::measurement::Outcome;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What is kept of a command's output; the rest is read and dropped.
const OUTPUT_LIMIT: usize = 64 << 10;
/// How long the output may stay open after the command and its group are gone.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);

/// A command to run.
#[derive(Debug)]
pub(super) struct GoCommand<'a> {
    pub program: &'a Path,
    pub arguments: &'a [OsString],
    pub folder: &'a Path,
    pub environment: &'a Environment,
    /// A file to be its standard input, in place of `/dev/null`.
    pub input: Option<&'a File>,
    pub time_limit: Duration,
}

/// A command that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    pub outcome: Outcome,
    /// From just before the start to the end of the process.
    pub elapsed: Duration,
    /// The beginning of what it wrote to standard output and standard error, as they came.
    pub output: String,
}

impl GoCommand<'_> {
    /// Runs the command and blocks until it has ended.
    ///
    /// # Errors
    ///
    /// If it cannot be started or waited for.
    pub fn run(&self) -> io::Result<Finished> {
        log::debug!("{}", self.shell_line());
        let (reader, writer) = io::pipe()?;
        let input = match self.input {
            Some(file) => Stdio::from(file.try_clone()?),
            None => Stdio::null(),
        };
        let mut command = Command::new(self.program);
        command
            .args(self.arguments)
            .current_dir(self.folder)
            .env_clear()
            .envs(self.environment.variables())
            .stdin(input)
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0);
        let started = Instant::now();
        let child = command.spawn()?;
        // The command holds the pipe's writing end, and the output ends only when all do.
        drop(command);
        let output = Output::collect(reader);
        let (outcome, ended) = wait(child, self.time_limit)?;
        Ok(Finished { outcome, elapsed: ended - started, output: output.take() })
    }

    /// The command as a line that can be pasted into a shell.
    fn shell_line(&self) -> String {
        let environment =
            self.environment.variables().map(|(name, value)| format!("{name}={}", quoted(value)));
        let words = std::iter::once(self.program.as_os_str())
            .chain(self.arguments.iter().map(OsString::as_os_str))
            .map(quoted);
        let words: Vec<String> = environment.chain(words).collect();
        format!("(cd {} && env -i {})", quoted(self.folder.as_os_str()), words.join(" "))
    }
}

/// Waits for `child`, killing its process group after `limit` and in any case once it has ended;
/// says how it ended and when.
fn wait(mut child: Child, limit: Duration) -> io::Result<(Outcome, Instant)> {
    let group = Pid::from_raw(child.id().cast_signed());
    let (ended, end) = mpsc::channel::<()>();
    let timer = thread::spawn(move || {
        let expired = end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if expired {
            kill(group);
        }
        expired
    });
    // The dead child stays unreaped, so that its number cannot pass to another process while the
    // timer may still aim at it.
    let waited = block_until_dead(group);
    let end = Instant::now();
    drop(ended);
    let expired = timer.join().expect("the timer does not panic");
    kill(group);
    let status = child.wait()?;
    waited?;
    let outcome = match (expired, status.code(), status.signal()) {
        (true, ..) => Outcome::TimedOut,
        (false, Some(code), _) => Outcome::Exited(code),
        (false, None, signal) => Outcome::Signalled(signal.unwrap_or(0)),
    };
    Ok((outcome, end))
}

fn block_until_dead(child: Pid) -> io::Result<()> {
    let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
    loop {
        match waitid(Id::Pid(child), flags) {
            Err(Errno::EINTR) => {}
            result => return Ok(result.map(drop)?),
        }
    }
}

fn kill(group: Pid) {
    match killpg(group, Signal::SIGKILL) {
        // Nothing of the group is left.
        Ok(()) | Err(Errno::ESRCH) => {}
        Err(error) => log::warn!("cannot kill process group {group}: {error}"),
    }
}

/// The output of a process, read by a thread of its own so that the process never waits for us.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    finished: Receiver<()>,
}

impl Output {
    fn collect(mut from: PipeReader) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (finish, finished) = mpsc::channel();
        let shared = Arc::clone(&kept);
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                let room = count.min(OUTPUT_LIMIT - kept.len());
                kept.extend_from_slice(&buffer[..room]);
            }
            // The receiver may have given up waiting.
            let _ = finish.send(());
        });
        Output { kept, finished }
    }

    /// What was read. A process that left its group may hold the output open for ever; it is not
    /// waited for.
    fn take(self) -> String {
        let _ = self.finished.recv_timeout(OUTPUT_GRACE);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, time_limit: Duration) -> Finished {
        let environment = Environment::for_version(Path::new("/goroot"));
        let command = GoCommand {
            program: Path::new("/bin/sh"),
            arguments: &["-c".into(), script.into()],
            folder: Path::new("/"),
            environment: &environment,
            input: None,
            time_limit,
        };
        command.run().unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn both_outputs_are_kept_in_order() {
        let finished = shell("echo one; echo two >&2; echo three; exit 3", LONG);
        assert_eq!(finished.outcome, Outcome::Exited(3));
        assert_eq!(finished.output, "one\ntwo\nthree\n");
    }

    #[test]
    fn a_flood_is_read_to_its_end_and_kept_up_to_the_limit() {
        let finished = shell("head -c 10000000 /dev/zero | tr '\\0' x", LONG);
        assert_eq!(finished.outcome, Outcome::Exited(0));
        assert_eq!(finished.output.len(), OUTPUT_LIMIT);
    }

    #[test]
    fn a_signal_is_told_from_an_exit_code() {
        assert_eq!(shell("kill -9 $$", LONG).outcome, Outcome::Signalled(9));
    }

    #[test]
    fn the_time_limit_takes_the_children_too() {
        // The shell waits for its child, and the child holds the output open: were only the shell
        // killed, the output would not end.
        let finished = shell("echo begun; sleep 600; echo over", Duration::from_millis(50));
        assert_eq!(finished.outcome, Outcome::TimedOut);
        assert!(finished.elapsed < LONG);
    }

    #[test]
    fn what_is_left_behind_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("survived");
        let script = format!("(sleep 20; echo >{}) & echo $!", file.display());
        let finished = shell(&script, LONG);
        assert_eq!(finished.outcome, Outcome::Exited(0));
        // Dying takes a moment, and it is not ours to reap.
        let stat = format!("/proc/{}/stat", finished.output.trim());
        while fs_err::read_to_string(&stat).is_ok_and(|stat| !stat.contains(" Z ")) {
            thread::yield_now();
        }
        assert!(!file.exists());
    }

    #[test]
    fn the_logged_line_can_be_pasted() {
        let environment = Environment::for_version(Path::new("/go root"));
        let command = GoCommand {
            program: Path::new("/go root/bin/go"),
            arguments: &["build".into(), "it's".into()],
            folder: Path::new("/w"),
            environment: &environment,
            input: None,
            time_limit: LONG,
        };
        insta::assert_snapshot!(command.shell_line(), @r"(cd /w && env -i GOENV=off GOROOT='/go root' GOTOOLCHAIN=local HOME=/dev/null LC_ALL=C PATH='/go root/bin:/usr/bin:/bin' '/go root/bin/go' build 'it'\''s')");
    }
}
