//! The messages between gosurvey and its launcher. Both sides compile this one file.
//!
//! ```text
//! launcher                                                                  gosurvey
//!     ── Reply READY, once, when it has set itself up ──────────────────────────▶
//!     ◀─ Request, its strings, and (RUN only) three descriptors by SCM_RIGHTS ───
//!     ── Reply ENDED or FAILED, after everything of the run is gone ────────────▶
//! ```
//!
//! The carrier is a Unix socket of type `SOCK_SEQPACKET`, so a message is one packet; the launcher's
//! end is its standard input. Numbers are 64 bits in the machine's own byte order: both ends run on
//! the same machine, from one build.
//!
//! After a `RUN` request's fixed part come strings, each ended by a NUL byte: the working directory,
//! the program's path, the arguments (the first is the program's own name), the environment
//! (`NAME=value`). The descriptors become the program's standard input, output and error.

/// The longest request in bytes; a longer one is refused before it is sent.
pub const MESSAGE_LIMIT: usize = 128 * 1024;

/// The most arguments and environment variables together.
pub const STRINGS_LIMIT: usize = 2048;

/// A request to run a program and measure it.
pub const RUN: u64 = 1;
/// A request to measure a child that ends at once, for the peak memory the launcher itself imposes.
pub const FLOOR: u64 = 2;

/// The launcher is set up and waits for requests.
pub const READY: u64 = 1;
/// A process was started and has ended.
pub const ENDED: u64 = 2;
/// [`Reply::step`] went wrong with [`Reply::errno`]; the other fields say nothing.
pub const FAILED: u64 = 3;

/// Declares a message of 64-bit numbers and its form on the wire.
macro_rules! message {
    ($(#[$about:meta])* $name:ident { $($(#[$meaning:meta])* $field:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $name { $($(#[$meaning])* pub $field: u64,)* }

        #[allow(dead_code, reason = "each side writes one message and reads the other")]
        impl $name {
            /// The bytes of the message's fixed part.
            pub const SIZE: usize = size_of::<Self>();

            /// Writes the fields one after the other.
            pub fn to_bytes(self) -> [u8; Self::SIZE] {
                let mut bytes = [0; Self::SIZE];
                for (place, value) in bytes.chunks_exact_mut(8).zip([$(self.$field),*]) {
                    place.copy_from_slice(&value.to_ne_bytes());
                }
                bytes
            }

            /// Reads the fields from the start of `bytes`; `None` if there are too few.
            pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
                let mut numbers = bytes.chunks_exact(8);
                Some(Self {
                    $($field: u64::from_ne_bytes(numbers.next()?.try_into().ok()?),)*
                })
            }
        }
    };
}

message! {
    /// What gosurvey asks for.
    Request {
        /// [`RUN`] or [`FLOOR`].
        kind,
        /// How many of the strings are arguments, the program's own name included.
        arguments,
        /// How many of the strings are environment variables.
        variables,
        /// When the program is killed, in microseconds after its start; 0 means never.
        time_limit_us,
        /// The largest file the program may write, in bytes (`RLIMIT_FSIZE`).
        output_limit,
    }
}

message! {
    /// What the launcher answers.
    Reply {
        /// [`READY`], [`ENDED`] or [`FAILED`].
        verdict,
        /// With [`FAILED`]: what went wrong, a [`Step`].
        step,
        /// With [`FAILED`]: the kernel's reason, an `errno`.
        errno,
        /// How the process ended, as `wait4` encodes it.
        wait_status,
        /// 1 if the launcher killed the program because its time was up.
        timed_out,
        /// How many processes the program left running; they were killed.
        left_behind,
        /// From just before `fork` to just after the blocking wait, `CLOCK_MONOTONIC`.
        elapsed_ns,
        user_us,
        sys_us,
        max_rss_kib,
        minor_faults,
        major_faults,
        voluntary_switches,
        involuntary_switches,
    }
}

/// What the launcher was doing when it failed. The numbers are the form on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Preparing itself, before the first request.
    SetUp = 1,
    /// Reading a request.
    Request = 2,
    /// Starting a child process.
    Fork = 3,
    /// In the child: process group and death signal.
    Group = 4,
    /// In the child: standard input, output and error.
    Descriptors = 5,
    /// In the child: output and core size limits.
    Limits = 6,
    /// In the child: entering the working directory.
    Directory = 7,
    /// In the child: executing the program.
    Execute = 8,
    /// Ending what the program left running.
    CleanUp = 9,
}

impl Step {
    /// Every step, in the order of a run.
    pub const ALL: [Step; 9] = [
        Step::SetUp,
        Step::Request,
        Step::Fork,
        Step::Group,
        Step::Descriptors,
        Step::Limits,
        Step::Directory,
        Step::Execute,
        Step::CleanUp,
    ];

    /// The step with this number on the wire.
    pub fn from_number(number: u64) -> Option<Step> {
        Step::ALL.into_iter().find(|&step| step as u64 == number)
    }
}
