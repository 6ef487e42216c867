//! Numbers and structures of the Linux system call interface, for 64-bit x86 and ARM.
//!
//! A unit test of gosurvey compares all of them with the `libc` crate's.
//!
//! Source: Linux `include/uapi` and the system call tables under `arch`.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the launcher knows Linux on 64-bit x86 and ARM only");

/// The kernel's reason for refusing a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

pub const ESRCH: Errno = Errno(3);
pub const EINTR: Errno = Errno(4);
pub const ECHILD: Errno = Errno(10);
pub const EINVAL: Errno = Errno(22);

pub const SIGKILL: i32 = 9;
pub const SIGALRM: i32 = 14;
pub const SIGTERM: i32 = 15;
pub const SIGCHLD: i32 = 17;
pub const SIGIO: i32 = 29;
pub const SIGNALS: core::ops::RangeInclusive<i32> = 1..=64;

pub const RLIMIT_FSIZE: i32 = 1;
pub const RLIMIT_CORE: i32 = 4;

#[cfg(target_arch = "x86_64")]
pub mod number {
    pub const READ: usize = 0;
    pub const WRITE: usize = 1;
    pub const CLOSE: usize = 3;
    pub const RT_SIGACTION: usize = 13;
    pub const RT_SIGPROCMASK: usize = 14;
    pub const RT_SIGRETURN: usize = 15;
    pub const SETITIMER: usize = 38;
    pub const GETPID: usize = 39;
    pub const RECVMSG: usize = 47;
    pub const CLONE: usize = 56;
    pub const EXECVE: usize = 59;
    pub const WAIT4: usize = 61;
    pub const KILL: usize = 62;
    pub const FCNTL: usize = 72;
    pub const CHDIR: usize = 80;
    pub const SETPGID: usize = 109;
    pub const GETPPID: usize = 110;
    pub const SETSID: usize = 112;
    pub const PRCTL: usize = 157;
    pub const CLOCK_GETTIME: usize = 228;
    pub const EXIT_GROUP: usize = 231;
    pub const WAITID: usize = 247;
    pub const OPENAT: usize = 257;
    pub const PPOLL: usize = 271;
    pub const DUP3: usize = 292;
    pub const PIPE2: usize = 293;
    pub const PRLIMIT64: usize = 302;
    pub const CLOSE_RANGE: usize = 436;
}

#[cfg(target_arch = "aarch64")]
pub mod number {
    pub const DUP3: usize = 24;
    pub const FCNTL: usize = 25;
    pub const CHDIR: usize = 49;
    pub const OPENAT: usize = 56;
    pub const CLOSE: usize = 57;
    pub const PIPE2: usize = 59;
    pub const READ: usize = 63;
    pub const WRITE: usize = 64;
    pub const PPOLL: usize = 73;
    pub const EXIT_GROUP: usize = 94;
    pub const WAITID: usize = 95;
    pub const SETITIMER: usize = 103;
    pub const CLOCK_GETTIME: usize = 113;
    pub const KILL: usize = 129;
    pub const RT_SIGACTION: usize = 134;
    pub const RT_SIGPROCMASK: usize = 135;
    pub const RT_SIGRETURN: usize = 139;
    pub const SETPGID: usize = 154;
    pub const SETSID: usize = 157;
    pub const PRCTL: usize = 167;
    pub const GETPID: usize = 172;
    pub const GETPPID: usize = 173;
    pub const RECVMSG: usize = 212;
    pub const CLONE: usize = 220;
    pub const EXECVE: usize = 221;
    pub const WAIT4: usize = 260;
    pub const PRLIMIT64: usize = 261;
    pub const CLOSE_RANGE: usize = 436;
}

pub const SOL_SOCKET: i32 = 1;
pub const SCM_RIGHTS: i32 = 1;
pub const MSG_CMSG_CLOEXEC: usize = 0x4000_0000;
pub const POLLHUP: i16 = 0x10;
pub const O_RDONLY: usize = 0;
pub const O_ASYNC: usize = 0o20_000;
pub const O_CLOEXEC: usize = 0o2_000_000;
pub const AT_FDCWD: isize = -100;
pub const F_GETFL: usize = 3;
pub const F_SETFL: usize = 4;
pub const F_SETOWN: usize = 8;
pub const SA_RESTORER: u64 = 0x0400_0000;
pub const SA_RESTART: u64 = 0x1000_0000;
pub const SIG_SETMASK: usize = 2;
pub const PR_SET_PDEATHSIG: usize = 1;
pub const PR_SET_NAME: usize = 15;
pub const PR_SET_CHILD_SUBREAPER: usize = 36;
pub const P_ALL: usize = 0;
pub const P_PID: usize = 1;
pub const WNOHANG: usize = 1;
pub const WEXITED: usize = 4;
pub const WNOWAIT: usize = 0x0100_0000;
pub const ITIMER_REAL: usize = 0;
pub const CLOCK_MONOTONIC: usize = 1;

/// A duration as the kernel's timers take it.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Timeval {
    pub tv_sec: i64,
    pub tv_usec: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Timespec {
    pub tv_sec: i64,
    pub tv_nsec: i64,
}

#[repr(C)]
pub struct Itimerval {
    pub it_interval: Timeval,
    pub it_value: Timeval,
}

/// What the kernel charged to a process and to the descendants it waited for.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Rusage {
    pub ru_utime: Timeval,
    pub ru_stime: Timeval,
    pub ru_maxrss: i64,
    pub ru_ixrss: i64,
    pub ru_idrss: i64,
    pub ru_isrss: i64,
    pub ru_minflt: i64,
    pub ru_majflt: i64,
    pub ru_nswap: i64,
    pub ru_inblock: i64,
    pub ru_oublock: i64,
    pub ru_msgsnd: i64,
    pub ru_msgrcv: i64,
    pub ru_nsignals: i64,
    pub ru_nvcsw: i64,
    pub ru_nivcsw: i64,
}

#[repr(C)]
pub struct Rlimit {
    pub rlim_cur: u64,
    pub rlim_max: u64,
}

#[repr(C)]
pub struct Pollfd {
    pub fd: i32,
    pub events: i16,
    pub revents: i16,
}

#[repr(C)]
pub struct Iovec {
    pub iov_base: *mut u8,
    pub iov_len: usize,
}

#[repr(C)]
pub struct Msghdr {
    pub msg_name: *mut u8,
    pub msg_namelen: u32,
    pub msg_iov: *mut Iovec,
    pub msg_iovlen: usize,
    pub msg_control: *mut u8,
    pub msg_controllen: usize,
    pub msg_flags: i32,
}

#[repr(C)]
pub struct Cmsghdr {
    pub cmsg_len: usize,
    pub cmsg_level: i32,
    pub cmsg_type: i32,
}

/// `struct sigaction` of the kernel, which is not the C library's.
#[repr(C)]
pub struct Sigaction {
    pub sa_handler: usize,
    pub sa_flags: u64,
    pub sa_restorer: usize,
    pub sa_mask: u64,
}
