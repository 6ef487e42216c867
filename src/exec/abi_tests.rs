//! Compares the launcher's own declarations of the kernel's interface with the `libc` crate's.

use std::mem::{offset_of, size_of};

use nix::libc;

#[expect(dead_code, reason = "signals, flags and a structure that the `libc` crate does not have")]
#[path = "../../launcher/abi.rs"]
mod abi;

#[test]
fn system_call_numbers_are_right() {
    use abi::number::*;
    let pairs = [
        (READ, libc::SYS_read),
        (WRITE, libc::SYS_write),
        (CLOSE, libc::SYS_close),
        (RT_SIGACTION, libc::SYS_rt_sigaction),
        (RT_SIGPROCMASK, libc::SYS_rt_sigprocmask),
        (RT_SIGRETURN, libc::SYS_rt_sigreturn),
        (SETITIMER, libc::SYS_setitimer),
        (GETPID, libc::SYS_getpid),
        (RECVMSG, libc::SYS_recvmsg),
        (CLONE, libc::SYS_clone),
        (EXECVE, libc::SYS_execve),
        (WAIT4, libc::SYS_wait4),
        (KILL, libc::SYS_kill),
        (FCNTL, libc::SYS_fcntl),
        (CHDIR, libc::SYS_chdir),
        (SETPGID, libc::SYS_setpgid),
        (GETPPID, libc::SYS_getppid),
        (SETSID, libc::SYS_setsid),
        (PRCTL, libc::SYS_prctl),
        (CLOCK_GETTIME, libc::SYS_clock_gettime),
        (EXIT_GROUP, libc::SYS_exit_group),
        (WAITID, libc::SYS_waitid),
        (OPENAT, libc::SYS_openat),
        (PPOLL, libc::SYS_ppoll),
        (DUP3, libc::SYS_dup3),
        (PIPE2, libc::SYS_pipe2),
        (PRLIMIT64, libc::SYS_prlimit64),
        (CLOSE_RANGE, libc::SYS_close_range),
    ];
    for (ours, theirs) in pairs {
        assert_eq!(ours as i64, theirs);
    }
}

#[test]
fn constants_are_right() {
    let pairs = [
        (i64::from(abi::ESRCH.0), i64::from(libc::ESRCH)),
        (i64::from(abi::EINTR.0), i64::from(libc::EINTR)),
        (i64::from(abi::ECHILD.0), i64::from(libc::ECHILD)),
        (i64::from(abi::EINVAL.0), i64::from(libc::EINVAL)),
        (i64::from(abi::SIGKILL), i64::from(libc::SIGKILL)),
        (i64::from(abi::SIGALRM), i64::from(libc::SIGALRM)),
        (i64::from(abi::SIGTERM), i64::from(libc::SIGTERM)),
        (i64::from(abi::SIGCHLD), i64::from(libc::SIGCHLD)),
        (i64::from(abi::SIGIO), i64::from(libc::SIGIO)),
        (i64::from(abi::RLIMIT_FSIZE), libc::RLIMIT_FSIZE as i64),
        (i64::from(abi::RLIMIT_CORE), libc::RLIMIT_CORE as i64),
        (i64::from(abi::SOL_SOCKET), i64::from(libc::SOL_SOCKET)),
        (i64::from(abi::SCM_RIGHTS), i64::from(libc::SCM_RIGHTS)),
        (abi::MSG_CMSG_CLOEXEC as i64, i64::from(libc::MSG_CMSG_CLOEXEC)),
        (i64::from(abi::POLLHUP), i64::from(libc::POLLHUP)),
        (abi::O_RDONLY as i64, i64::from(libc::O_RDONLY)),
        (abi::O_ASYNC as i64, i64::from(libc::O_ASYNC)),
        (abi::O_CLOEXEC as i64, i64::from(libc::O_CLOEXEC)),
        (abi::AT_FDCWD as i64, i64::from(libc::AT_FDCWD)),
        (abi::F_GETFL as i64, i64::from(libc::F_GETFL)),
        (abi::F_SETFL as i64, i64::from(libc::F_SETFL)),
        (abi::F_SETOWN as i64, i64::from(libc::F_SETOWN)),
        (abi::SA_RESTART as i64, i64::from(libc::SA_RESTART)),
        (abi::SIG_SETMASK as i64, i64::from(libc::SIG_SETMASK)),
        (abi::PR_SET_PDEATHSIG as i64, i64::from(libc::PR_SET_PDEATHSIG)),
        (abi::PR_SET_NAME as i64, i64::from(libc::PR_SET_NAME)),
        (abi::PR_SET_CHILD_SUBREAPER as i64, i64::from(libc::PR_SET_CHILD_SUBREAPER)),
        (abi::P_ALL as i64, i64::from(libc::P_ALL)),
        (abi::P_PID as i64, i64::from(libc::P_PID)),
        (abi::WNOHANG as i64, i64::from(libc::WNOHANG)),
        (abi::WEXITED as i64, i64::from(libc::WEXITED)),
        (abi::WNOWAIT as i64, i64::from(libc::WNOWAIT)),
        (abi::ITIMER_REAL as i64, i64::from(libc::ITIMER_REAL)),
        (abi::CLOCK_MONOTONIC as i64, i64::from(libc::CLOCK_MONOTONIC)),
    ];
    for (ours, theirs) in pairs {
        assert_eq!(ours, theirs);
    }
}

/// Asserts that fields lie where the C library's lie, and that the whole is as large.
macro_rules! same_layout {
    ($ours:ident, $theirs:ident, $($field:ident),*) => {
        $(assert_eq!(offset_of!(abi::$ours, $field), offset_of!(libc::$theirs, $field));)*
        assert_eq!(size_of::<abi::$ours>(), size_of::<libc::$theirs>());
    };
}

#[test]
fn structures_are_right() {
    same_layout!(Timeval, timeval, tv_sec, tv_usec);
    same_layout!(Timespec, timespec, tv_sec, tv_nsec);
    same_layout!(Itimerval, itimerval, it_interval, it_value);
    same_layout!(Rlimit, rlimit, rlim_cur, rlim_max);
    same_layout!(Pollfd, pollfd, fd, events, revents);
    same_layout!(Iovec, iovec, iov_base, iov_len);
    same_layout!(
        Msghdr,
        msghdr,
        msg_name,
        msg_iov,
        msg_iovlen,
        msg_control,
        msg_controllen,
        msg_flags
    );
    same_layout!(Cmsghdr, cmsghdr, cmsg_len, cmsg_level, cmsg_type);
    same_layout!(
        Rusage, rusage, ru_utime, ru_stime, ru_maxrss, ru_minflt, ru_majflt, ru_nvcsw, ru_nivcsw
    );
}
