//! One measured process: born, waited for, accounted, and cleaned up after.

use core::ffi::CStr;

use crate::abi::*;
use crate::protocol::{ENDED, FAILED, Reply, Request, STRINGS_LIMIT, Step};
use crate::{signals, sys};

/// A failed step and the kernel's reason.
pub type Failure = (Step, Errno);

/// Pointers to the argument strings, a null, pointers to the environment strings, a null.
pub type Pointers = [*const u8; STRINGS_LIMIT + 2];

/// A program to run. Its strings lie in the message it came with.
pub struct Program<'message> {
    directory: &'message CStr,
    path: &'message CStr,
    arguments: &'message [*const u8],
    environment: &'message [*const u8],
    output_limit: u64,
}

impl<'message> Program<'message> {
    /// Finds the strings of a request in what follows its fixed part.
    pub fn parse(
        request: &Request,
        mut strings: &'message [u8],
        pointers: &'message mut Pointers,
    ) -> Option<Self> {
        let mut next = || {
            let string = CStr::from_bytes_until_nul(strings).ok()?;
            strings = &strings[string.count_bytes() + 1..];
            Some(string)
        };
        let (directory, path) = (next()?, next()?);
        let count = |number| usize::try_from(number).ok().filter(|&n| n <= STRINGS_LIMIT);
        let (arguments, variables) = (count(request.arguments)?, count(request.variables)?);
        let used = pointers.get_mut(..arguments + variables + 2)?;
        used.fill(core::ptr::null());
        let (argument_places, variable_places) = used.split_at_mut(arguments + 1);
        for place in &mut argument_places[..arguments] {
            *place = next()?.as_ptr().cast();
        }
        for place in &mut variable_places[..variables] {
            *place = next()?.as_ptr().cast();
        }
        Some(Program {
            directory,
            path,
            arguments: argument_places,
            environment: variable_places,
            output_limit: request.output_limit,
        })
    }

    /// Runs the program on these standard streams and measures it.
    pub fn run(&self, streams: [i32; 3], time_limit_us: u64) -> Reply {
        let launcher = sys::process_id();
        measured(time_limit_us, || self.become_program(streams, launcher))
    }

    /// In the child: turns it into the program. Returns only if that fails.
    fn become_program(&self, streams: [i32; 3], launcher: i32) -> Failure {
        let prepared = in_own_group(launcher)
            .and_then(|()| at(Step::Descriptors, connect(streams)))
            .and_then(|()| at(Step::Limits, sys::limit(RLIMIT_FSIZE, self.output_limit)))
            .and_then(|()| at(Step::Limits, sys::limit(RLIMIT_CORE, 0)))
            .and_then(|()| at(Step::Directory, sys::change_directory(self.directory)));
        if let Err(failure) = prepared {
            return failure;
        }
        // SAFETY: `parse` filled both with pointers to NUL-terminated strings of the message, and
        // the last place of each is null.
        let reason =
            unsafe { sys::execute(self.path, self.arguments.as_ptr(), self.environment.as_ptr()) };
        (Step::Execute, reason)
    }
}

/// Measures a child that ends at once: what it peaks at is the least any program is charged with.
pub fn floor() -> Reply {
    measured(0, || sys::exit(0))
}

fn at<T>(step: Step, result: Result<T, Errno>) -> Result<T, Failure> {
    result.map_err(|errno| (step, errno))
}

/// In the child: makes it a process group, so that it can be ended with all it starts, and ties
/// its life to the launcher's.
fn in_own_group(launcher: i32) -> Result<(), Failure> {
    at(Step::Group, sys::set_process_group(0, 0))?;
    at(Step::Group, sys::die_with_parent(SIGKILL))?;
    if sys::parent_id() != launcher {
        // The launcher ended before the line above could notice.
        sys::exit(0);
    }
    Ok(())
}

/// In the child: puts the streams in their places. All other descriptors close on `execve`, and
/// none of the streams has a number below 3, because the launcher keeps those taken.
fn connect(streams: [i32; 3]) -> Result<(), Errno> {
    for (place, stream) in (0..).zip(streams) {
        sys::duplicate(stream, place)?;
    }
    Ok(())
}

/// Forks, runs `child` in the copy, blocks until that has ended, and leaves nothing of it behind.
///
/// The clock runs from before the fork to after the wait. `child` returns only a failure, which
/// comes through a pipe that a successful `execve` closes, so that it cannot be mistaken for
/// anything the program does itself. The pipe is read after the wait.
fn measured(time_limit_us: u64, child: impl FnOnce() -> Failure) -> Reply {
    signals::begin_run();
    let reply = measure(time_limit_us, child).unwrap_or_else(failed);
    signals::end_run();
    reply
}

fn measure(time_limit_us: u64, child: impl FnOnce() -> Failure) -> Result<Reply, Failure> {
    let (failures, failure_sink) = at(Step::Fork, sys::pipe())?;
    let start_ns = sys::monotonic_ns();
    let program = match sys::fork() {
        Ok(0) => report_failure(failure_sink, child()),
        outcome => outcome,
    };
    let program = program.map_err(|errno| {
        sys::close(failures);
        sys::close(failure_sink);
        (Step::Fork, errno)
    })?;
    // The child does the same. Whoever comes first, the group exists before anybody signals it.
    let _ = sys::set_process_group(program, program);
    signals::guard(program, time_limit_us);
    let ended = sys::await_end(program);
    let elapsed_ns = sys::monotonic_ns() - start_ns;

    let time_is_up = signals::release();
    sys::close(failure_sink);
    let failure = received_failure(failures);
    sys::close(failures);
    let (wait_status, usage) = at(Step::CleanUp, ended.and_then(|()| sys::reap(program)))?;
    let left_behind = at(Step::CleanUp, end_orphans())?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    Ok(Reply {
        verdict: ENDED,
        wait_status: u64::from(wait_status),
        // A program that ended by itself just before its time was up has not timed out.
        timed_out: u64::from(time_is_up && was_killed(wait_status)),
        left_behind,
        elapsed_ns,
        user_us: microseconds(usage.ru_utime),
        sys_us: microseconds(usage.ru_stime),
        max_rss_kib: usage.ru_maxrss as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
        ..Reply::default()
    })
}

/// The answer to a request that came to nothing.
pub fn failed((step, Errno(errno)): Failure) -> Reply {
    Reply { verdict: FAILED, step: step as u64, errno: errno as u64, ..Reply::default() }
}

fn microseconds(time: Timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

/// Whether a wait status says "ended by SIGKILL".
fn was_killed(wait_status: u32) -> bool {
    wait_status & 0x7f == SIGKILL as u32
}

/// In the child: sends the failure to the launcher and ends.
fn report_failure(sink: i32, (step, Errno(errno)): Failure) -> ! {
    let _ = sys::write(sink, &[step as u8, errno as u8]);
    sys::exit(127)
}

/// The failure the child sent, if it did. All writing ends are closed by now, so this cannot block.
fn received_failure(failures: i32) -> Option<Failure> {
    let mut bytes = [0; 2];
    if sys::read(failures, &mut bytes) != Ok(bytes.len()) {
        return None;
    }
    let [step, errno] = bytes;
    Some((Step::from_number(u64::from(step))?, Errno(i32::from(errno))))
}

/// Kills and reaps every process the program left, and returns how many were still running.
///
/// Orphans become children of the launcher (it is a "child subreaper"), also those that moved to
/// a session of their own. Ending one may orphan its children in turn, hence the loop.
fn end_orphans() -> Result<u64, Errno> {
    let mut killed = 0;
    loop {
        match sys::reap_any() {
            Err(ECHILD) => return Ok(killed),
            Err(errno) => return Err(errno),
            Ok(Some(wait_status)) => killed += u64::from(was_killed(wait_status)),
            Ok(None) => {
                kill_children()?;
                sys::await_any_end()?;
            }
        }
    }
}

/// Sends `SIGKILL` to the children the kernel lists, at least one.
fn kill_children() -> Result<(), Errno> {
    let list = sys::open_for_reading(c"/proc/thread-self/children")?;
    let mut buffer = [0; 1024];
    let length = sys::read(list, &mut buffer);
    sys::close(list);
    let mut outcome = Err(ESRCH);
    let mut child = 0;
    for &byte in &buffer[..length?] {
        match byte {
            // A number is complete only with the space after it: one cut off at the end of the
            // buffer is somebody else's.
            b' ' if child > 0 => {
                outcome = sys::kill(child, SIGKILL).or(outcome);
                child = 0;
            }
            digit => child = child * 10 + i32::from(digit.wrapping_sub(b'0')),
        }
    }
    outcome
}
