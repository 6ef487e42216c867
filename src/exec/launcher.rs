//! gosurvey's side of the launcher.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::socket::{
    AddressFamily, ControlMessage, MsgFlags, Shutdown, SockFlag, SockType, recv, sendmsg, shutdown,
    socketpair,
};
use sha2::{Digest, Sha256};

use super::output::anonymous_memory;
use super::protocol::{ENDED, FAILED, READY, Reply, Step};
use super::{Command, ExecError, Output, Run, Runner, Sink, Stdin, request};
use crate::hex::hex;
use crate::measurement::{Measurement, Outcome};

/// The launcher's program, as `build.rs` compiled it.
const IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

/// How often the floor is measured at the start; the largest reading counts, because the
/// kernel's count is coarse.
const FLOOR_SAMPLES: usize = 8;

/// How much of a program's standard error is kept, in bytes.
const STDERR_KEPT: u64 = 4096;

/// Returns the SHA-256 of the launcher carried inside, in hexadecimal: which code measured.
pub fn launcher_sha256() -> String {
    hex(&Sha256::digest(IMAGE))
}

/// The running launcher. Runs one program at a time; ends when dropped.
///
/// Should gosurvey die in any way, the launcher notices, ends the program it is running, and ends.
#[derive(Debug)]
pub struct Launcher {
    process: Child,
    socket: OwnedFd,
    rss_floor_kib: u64,
}

impl Launcher {
    /// Starts the launcher and measures the floor it imposes on peak memory.
    ///
    /// # Errors
    ///
    /// [`ExecError::Start`], which on a hardened system is most likely the kernel's refusal to
    /// execute from memory.
    pub fn start() -> Result<Launcher, ExecError> {
        let during = |doing| move |source| ExecError::Start { doing, source };
        let image = sealed_image().map_err(during("its program cannot be put into memory"))?;
        let (socket, theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)
                .map_err(|errno| during("no socket pair")(errno.into()))?;
        let process = std::process::Command::new(format!("/proc/self/fd/{}", image.as_raw_fd()))
            .arg0("gosurvey-launcher")
            .env_clear()
            .current_dir("/")
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(during(
                "it cannot be executed from memory (the kernel setting vm.memfd_noexec must not \
                 be 2, and /proc must be mounted)",
            ))?;
        offer_to_the_kernel(&process);
        let mut launcher = Launcher { process, socket, rss_floor_kib: 0 };
        launcher.await_ready()?;
        for _ in 0..FLOOR_SAMPLES {
            let floor_kib = launcher.measure_floor()?;
            launcher.rss_floor_kib = launcher.rss_floor_kib.max(floor_kib);
        }
        Ok(launcher)
    }

    /// The launcher's process id.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    fn await_ready(&mut self) -> Result<(), ExecError> {
        match self.receive()? {
            Reply { verdict: READY, .. } => Ok(()),
            reply => Err(ExecError::Start {
                doing: "it could not set itself up",
                source: kernel_reason(&reply),
            }),
        }
    }

    /// Measures a child that ends at once, in KiB.
    fn measure_floor(&mut self) -> Result<u64, ExecError> {
        self.send(&request::floor_message(), &[])?;
        match self.receive()? {
            Reply { verdict: ENDED, max_rss_kib, .. } => Ok(max_rss_kib),
            reply => Err(ExecError::Start {
                doing: "it could not start a child",
                source: kernel_reason(&reply),
            }),
        }
    }

    /// Sends a request; it is one packet, so it arrives whole or not at all.
    fn send(&mut self, message: &[u8], streams: &[RawFd]) -> Result<(), ExecError> {
        let parts = [IoSlice::new(message)];
        let rights = [ControlMessage::ScmRights(streams)];
        let control = if streams.is_empty() { &[] } else { &rights[..] };
        let socket = self.socket.as_raw_fd();
        uninterrupted(|| sendmsg::<()>(socket, &parts, control, MsgFlags::MSG_NOSIGNAL, None))
            .map(drop)
            .map_err(|errno| self.connection_error(errno))
    }

    /// Blocks until the launcher replies.
    fn receive(&mut self) -> Result<Reply, ExecError> {
        let mut bytes = [0; Reply::SIZE];
        let socket = self.socket.as_raw_fd();
        match uninterrupted(|| recv(socket, &mut bytes, MsgFlags::empty())) {
            Ok(0) => Err(self.connection_error(Errno::EPIPE)),
            Ok(length) => Reply::from_bytes(&bytes[..length])
                .ok_or_else(|| ExecError::Connection(io::ErrorKind::InvalidData.into())),
            Err(errno) => Err(self.connection_error(errno)),
        }
    }

    fn connection_error(&mut self, errno: Errno) -> ExecError {
        if !matches!(errno, Errno::EPIPE | Errno::ECONNRESET) {
            return ExecError::Connection(errno.into());
        }
        let status = match self.process.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        ExecError::LauncherEnded { status }
    }
}

impl Runner for Launcher {
    fn run(&mut self, command: &Command, sink: Sink) -> Result<Run, ExecError> {
        let message = request::run_message(command)?;
        let stdin = open_stdin(command)?;
        let captured = anonymous_memory().map_err(ExecError::Capture)?;
        let stdout = match sink {
            Sink::Memory => captured.try_clone(),
            Sink::Null => open_null(),
        }
        .map_err(ExecError::Capture)?;
        let stderr = anonymous_memory().map_err(ExecError::Capture)?;
        log::debug!("{}", command.shell_line());

        let started_at = jiff::Timestamp::now();
        self.send(&message, &[stdin.as_raw_fd(), stdout.as_raw_fd(), stderr.as_raw_fd()])?;
        let reply = self.receive()?;

        match reply.verdict {
            ENDED => {}
            FAILED => {
                let step = Step::from_number(reply.step);
                return Err(ExecError::failed_step(step, command, kernel_reason(&reply)));
            }
            _ => return Err(ExecError::Connection(io::ErrorKind::InvalidData.into())),
        }
        Ok(Run {
            measurement: measurement(&reply, self.rss_floor_kib),
            output: Output::captured(captured).map_err(ExecError::Capture)?,
            stderr: beginning_of(stderr).map_err(ExecError::Capture)?,
            left_behind: reply.left_behind,
            started_at,
        })
    }

    fn rss_floor_kib(&self) -> u64 {
        self.rss_floor_kib
    }
}

impl Drop for Launcher {
    /// Hangs up, which ends the launcher, and waits for it.
    fn drop(&mut self) {
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Both);
        let _ = self.process.wait();
    }
}

/// Makes the kernel kill the measured program, which inherits this, before anything else where
/// memory runs out; of two that are offered it takes the larger.
fn offer_to_the_kernel(launcher: &Child) {
    let file = format!("/proc/{}/oom_score_adj", launcher.id());
    if let Err(error) = fs_err::write(file, "1000") {
        log::debug!("a program that uses all memory may take others with it: {error}");
    }
}

/// Puts the launcher's program into memory from where it can be executed and not be changed.
fn sealed_image() -> io::Result<File> {
    /// `MFD_EXEC` of Linux 6.3: may be executed even where that is not the default.
    const MFD_EXEC: MFdFlags = MFdFlags::from_bits_retain(0x10);
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let memory = match memfd_create("gosurvey-launcher", flags | MFD_EXEC) {
        Err(Errno::EINVAL) => memfd_create("gosurvey-launcher", flags),
        outcome => outcome,
    };
    let mut image = File::from(memory?);
    image.write_all(IMAGE)?;
    let seals = SealFlag::F_SEAL_WRITE
        | SealFlag::F_SEAL_GROW
        | SealFlag::F_SEAL_SHRINK
        | SealFlag::F_SEAL_SEAL;
    fcntl(&image, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(image)
}

fn uninterrupted<T>(mut system_call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match system_call() {
            Err(Errno::EINTR) => {}
            outcome => return outcome,
        }
    }
}

fn open_stdin(command: &Command) -> Result<File, ExecError> {
    let path = match &command.stdin {
        Stdin::Null => "/dev/null".as_ref(),
        Stdin::File(path) => path.as_path(),
    };
    let opened = fs_err::File::open(path).map(fs_err::File::into_file);
    opened.map_err(|source| ExecError::Stdin { command: command.shell_line(), source })
}

fn open_null() -> io::Result<File> {
    Ok(fs_err::OpenOptions::new().write(true).open("/dev/null")?.into_file())
}

fn kernel_reason(reply: &Reply) -> io::Error {
    io::Error::from_raw_os_error(reply.errno as i32)
}

fn measurement(reply: &Reply, rss_floor_kib: u64) -> Measurement {
    Measurement {
        elapsed_ns: reply.elapsed_ns,
        user_us: reply.user_us,
        sys_us: reply.sys_us,
        max_rss_kib: reply.max_rss_kib,
        rss_floor_kib,
        minor_faults: reply.minor_faults,
        major_faults: reply.major_faults,
        voluntary_switches: reply.voluntary_switches,
        involuntary_switches: reply.involuntary_switches,
        outcome: outcome(reply),
    }
}

fn outcome(reply: &Reply) -> Outcome {
    if reply.timed_out != 0 {
        return Outcome::TimedOut;
    }
    let status = ExitStatus::from_raw(reply.wait_status as i32);
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, signal) => Outcome::Signalled(signal.unwrap_or_default()),
    }
}

/// Reads the first [`STDERR_KEPT`] bytes as text.
fn beginning_of(memory: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    Output::captured(memory)?.take(STDERR_KEPT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
