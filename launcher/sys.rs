//! The launcher's few system calls, made directly.
//!
//! Without a C library none has to be installed for static linking, and no start-up code, locale
//! tables or thread memory enlarge the process. The numbers and structures are in `abi.rs`.
//!
//! Source: section 2 of the Linux man pages, `syscall(2)` for the registers.

use core::arch::{asm, naked_asm};
use core::ffi::CStr;

use crate::abi::*;

/// Room for a control message of three descriptors, padded to the kernel's alignment.
#[repr(C)]
struct Rights {
    header: Cmsghdr,
    descriptors: [i32; 4],
}

/// Makes a system call; a negative result is an errno.
///
/// # Safety
///
/// Pointers among the arguments must be valid for what call `number` does with them.
#[cfg(target_arch = "x86_64")]
unsafe fn call(number: usize, [a, b, c, d, e]: [usize; 5]) -> Result<usize, Errno> {
    let result: isize;
    // SAFETY: the kernel keeps all registers but those named here; memory is the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    checked(result)
}

/// Makes a system call; a negative result is an errno.
///
/// # Safety
///
/// Pointers among the arguments must be valid for what call `number` does with them.
#[cfg(target_arch = "aarch64")]
unsafe fn call(number: usize, [a, b, c, d, e]: [usize; 5]) -> Result<usize, Errno> {
    let result: isize;
    // SAFETY: the kernel keeps all registers but those named here; memory is the caller's promise.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a => result,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e,
            options(nostack),
        );
    }
    checked(result)
}

fn checked(result: isize) -> Result<usize, Errno> {
    if result < 0 { Err(Errno(-result as i32)) } else { Ok(result as usize) }
}

/// Makes a system call whose arguments are numbers only, so that no memory is at stake.
fn call_by_value(number: usize, arguments: [usize; 5]) -> Result<usize, Errno> {
    // SAFETY: only calls without pointers come through here.
    unsafe { call(number, arguments) }
}

/// Ends the process at once.
pub fn exit(code: i32) -> ! {
    loop {
        let _ = call_by_value(number::EXIT_GROUP, [code as usize, 0, 0, 0, 0]);
    }
}

/// Reads `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    let mut now = Timespec::default();
    // SAFETY: `now` is a timespec. The call cannot fail for this clock.
    let _ =
        unsafe { call(number::CLOCK_GETTIME, [CLOCK_MONOTONIC, &raw mut now as usize, 0, 0, 0]) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Starts a copy of this process; 0 in the copy. Not `vfork`, whose child would inherit a peak.
pub fn fork() -> Result<i32, Errno> {
    // SAFETY: without flags this is `fork`: the child gets its own copy of all memory.
    let pid = unsafe { call(number::CLONE, [SIGCHLD as usize, 0, 0, 0, 0]) }?;
    Ok(pid as i32)
}

pub fn process_id() -> i32 {
    call_by_value(number::GETPID, [0; 5]).map_or(0, |pid| pid as i32)
}

pub fn parent_id() -> i32 {
    call_by_value(number::GETPPID, [0; 5]).map_or(0, |pid| pid as i32)
}

/// Sends a signal to a process, or to a whole group given as a negative number.
pub fn kill(target: i32, signal: i32) -> Result<(), Errno> {
    call_by_value(number::KILL, [target as usize, signal as usize, 0, 0, 0]).map(drop)
}

/// Blocks until child `pid` has ended, and leaves it unreaped.
pub fn await_end(pid: i32) -> Result<(), Errno> {
    wait_unreaped(P_PID, pid)
}

/// Blocks until any child has ended, and leaves it unreaped.
pub fn await_any_end() -> Result<(), Errno> {
    wait_unreaped(P_ALL, 0)
}

fn wait_unreaped(which: usize, pid: i32) -> Result<(), Errno> {
    loop {
        let arguments = [which, pid as usize, 0, WEXITED | WNOWAIT, 0];
        match call_by_value(number::WAITID, arguments) {
            Err(EINTR) => {}
            outcome => return outcome.map(drop),
        }
    }
}

/// Reaps child `pid`, which has ended.
pub fn reap(pid: i32) -> Result<(u32, Rusage), Errno> {
    wait4(pid, 0).map(|(_, status, usage)| (status, usage))
}

/// Reaps any child that has ended, without blocking: its wait status, or `None` if all that exist
/// are alive.
pub fn reap_any() -> Result<Option<u32>, Errno> {
    wait4(-1, WNOHANG).map(|(pid, status, _)| (pid != 0).then_some(status))
}

fn wait4(pid: i32, options: usize) -> Result<(usize, u32, Rusage), Errno> {
    let mut status = 0u32;
    let mut usage = Rusage::default();
    let arguments = [pid as usize, &raw mut status as usize, options, &raw mut usage as usize, 0];
    // SAFETY: `status` and `usage` are what the call fills.
    let reaped = unsafe { call(number::WAIT4, arguments) }?;
    Ok((reaped, status, usage))
}

pub fn set_process_group(pid: i32, group: i32) -> Result<(), Errno> {
    call_by_value(number::SETPGID, [pid as usize, group as usize, 0, 0, 0]).map(drop)
}

pub fn set_session() -> Result<(), Errno> {
    call_by_value(number::SETSID, [0; 5]).map(drop)
}

/// Has the kernel send this process `signal` when its parent ends.
pub fn die_with_parent(signal: i32) -> Result<(), Errno> {
    call_by_value(number::PRCTL, [PR_SET_PDEATHSIG, signal as usize, 0, 0, 0]).map(drop)
}

/// Makes orphaned descendants children of this process instead of the system's first.
pub fn adopt_orphans() -> Result<(), Errno> {
    call_by_value(number::PRCTL, [PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0]).map(drop)
}

/// Names this process in process listings (at most 15 bytes are shown).
pub fn set_name(name: &CStr) {
    // SAFETY: the name is NUL-terminated.
    let _ = unsafe { call(number::PRCTL, [PR_SET_NAME, name.as_ptr() as usize, 0, 0, 0]) };
}

/// Sends this process `SIGALRM` after so many microseconds, once; 0 calls that off.
pub fn set_alarm(after_us: u64) {
    let after =
        Timeval { tv_sec: (after_us / 1_000_000) as i64, tv_usec: (after_us % 1_000_000) as i64 };
    let timer = Itimerval { it_interval: Timeval::default(), it_value: after };
    // SAFETY: `timer` is read only. With a normalised time the call cannot fail.
    let _ = unsafe { call(number::SETITIMER, [ITIMER_REAL, &raw const timer as usize, 0, 0, 0]) };
}

/// Sets a resource limit, soft and hard.
pub fn limit(resource: i32, value: u64) -> Result<(), Errno> {
    let limit = Rlimit { rlim_cur: value, rlim_max: value };
    // SAFETY: `limit` is read only.
    unsafe { call(number::PRLIMIT64, [0, resource as usize, &raw const limit as usize, 0, 0]) }
        .map(drop)
}

pub fn change_directory(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path is NUL-terminated.
    unsafe { call(number::CHDIR, [path.as_ptr() as usize, 0, 0, 0, 0]) }.map(drop)
}

/// Replaces this process by a program; returns only on failure.
///
/// # Safety
///
/// `arguments` and `environment` must be arrays of NUL-terminated strings, ended by a null pointer.
pub unsafe fn execute(
    program: &CStr,
    arguments: *const *const u8,
    environment: *const *const u8,
) -> Errno {
    let pointers = [program.as_ptr() as usize, arguments as usize, environment as usize, 0, 0];
    // SAFETY: the caller's promise.
    unsafe { call(number::EXECVE, pointers) }.err().unwrap_or(EINVAL)
}

/// Makes a pipe: its end to read from, its end to write to. Neither outlives an `execve`.
pub fn pipe() -> Result<(i32, i32), Errno> {
    let mut ends = [0i32; 2];
    // SAFETY: the call fills two descriptors.
    unsafe { call(number::PIPE2, [&raw mut ends as usize, O_CLOEXEC, 0, 0, 0]) }?;
    Ok((ends[0], ends[1]))
}

pub fn open_for_reading(path: &CStr) -> Result<i32, Errno> {
    let arguments = [AT_FDCWD as usize, path.as_ptr() as usize, O_RDONLY | O_CLOEXEC, 0, 0];
    // SAFETY: the path is NUL-terminated.
    unsafe { call(number::OPENAT, arguments) }.map(|descriptor| descriptor as i32)
}

/// Reads once, up to the size of `buffer`.
pub fn read(descriptor: i32, buffer: &mut [u8]) -> Result<usize, Errno> {
    let arguments = [descriptor as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0];
    // SAFETY: the call writes inside `buffer`.
    unsafe { call(number::READ, arguments) }
}

/// Writes once.
pub fn write(descriptor: i32, bytes: &[u8]) -> Result<usize, Errno> {
    // SAFETY: the call reads inside `bytes`.
    unsafe {
        call(number::WRITE, [descriptor as usize, bytes.as_ptr() as usize, bytes.len(), 0, 0])
    }
}

pub fn close(descriptor: i32) {
    let _ = call_by_value(number::CLOSE, [descriptor as usize, 0, 0, 0, 0]);
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: i32) {
    if call_by_value(number::CLOSE_RANGE, [first as usize, u32::MAX as usize, 0, 0, 0]).is_ok() {
        return;
    }
    // Before Linux 5.9. Descriptors are handed out lowest first, so this bound leaves nothing real.
    for descriptor in first..65_536 {
        close(descriptor);
    }
}

/// Makes `to` a copy of `from`, closing what `to` was. They must differ.
pub fn duplicate(from: i32, to: i32) -> Result<(), Errno> {
    call_by_value(number::DUP3, [from as usize, to as usize, 0, 0, 0]).map(drop)
}

/// Asks for `SIGIO` whenever something happens on the socket, a hang-up included.
pub fn signal_activity(socket: i32, receiver: i32) -> Result<(), Errno> {
    let socket = socket as usize;
    call_by_value(number::FCNTL, [socket, F_SETOWN, receiver as usize, 0, 0])?;
    let flags = call_by_value(number::FCNTL, [socket, F_GETFL, 0, 0, 0])?;
    call_by_value(number::FCNTL, [socket, F_SETFL, flags | O_ASYNC, 0, 0]).map(drop)
}

/// Whether the other end of the socket is closed.
pub fn is_hung_up(socket: i32) -> bool {
    let mut poll = Pollfd { fd: socket, events: 0, revents: 0 };
    let at_once = Timespec::default();
    let arguments = [&raw mut poll as usize, 1, &raw const at_once as usize, 0, 0];
    // SAFETY: one pollfd, one timespec, no signal mask.
    let ready = unsafe { call(number::PPOLL, arguments) };
    ready == Ok(1) && poll.revents & POLLHUP != 0
}

/// Receives one message, and the descriptors that came with it if they are three.
///
/// A length of 0 means that the other end is closed.
pub fn receive(socket: i32, buffer: &mut [u8]) -> Result<(usize, Option<[i32; 3]>), Errno> {
    let mut part = Iovec { iov_base: buffer.as_mut_ptr(), iov_len: buffer.len() };
    let mut rights = Rights {
        header: Cmsghdr { cmsg_len: 0, cmsg_level: 0, cmsg_type: 0 },
        descriptors: [-1; 4],
    };
    let mut message = Msghdr {
        msg_name: core::ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: &raw mut part,
        msg_iovlen: 1,
        msg_control: (&raw mut rights).cast(),
        msg_controllen: size_of::<Rights>(),
        msg_flags: 0,
    };
    let arguments = [socket as usize, &raw mut message as usize, MSG_CMSG_CLOEXEC, 0, 0];
    // SAFETY: the header describes `buffer` and `rights`, which outlive the call.
    let length = unsafe { call(number::RECVMSG, arguments) }?;
    let Cmsghdr { cmsg_len, cmsg_level, cmsg_type } = rights.header;
    let has_three = (cmsg_level, cmsg_type) == (SOL_SOCKET, SCM_RIGHTS)
        && cmsg_len == size_of::<Cmsghdr>() + size_of::<[i32; 3]>();
    let [stdin, stdout, stderr, _] = rights.descriptors;
    Ok((length, has_three.then_some([stdin, stdout, stderr])))
}

/// Lets every signal through.
pub fn unblock_signals() {
    let none = 0u64;
    // SAFETY: the mask is 8 bytes, as stated by the last argument.
    let _ = unsafe {
        call(
            number::RT_SIGPROCMASK,
            [SIG_SETMASK, &raw const none as usize, 0, size_of::<u64>(), 0],
        )
    };
}

/// Gives `signal` its default meaning back. Does nothing for those that have no other.
pub fn reset_signal(signal: i32) {
    let _ =
        set_action(signal, &Sigaction { sa_handler: 0, sa_flags: 0, sa_restorer: 0, sa_mask: 0 });
}

/// Has `handler` called on `signal`, with all signals held back meanwhile; interrupted system
/// calls start again.
pub fn handle_signal(signal: i32, handler: extern "C" fn(i32)) -> Result<(), Errno> {
    let action = Sigaction {
        sa_handler: handler as usize,
        sa_flags: SA_RESTART | if cfg!(target_arch = "x86_64") { SA_RESTORER } else { 0 },
        sa_restorer: return_from_signal as *const () as usize,
        sa_mask: u64::MAX,
    };
    set_action(signal, &action)
}

fn set_action(signal: i32, action: &Sigaction) -> Result<(), Errno> {
    let arguments = [signal as usize, core::ptr::from_ref(action) as usize, 0, size_of::<u64>(), 0];
    // SAFETY: the action is read only; its handler is a function of this program that touches
    // atomics and makes system calls, which is safe at any instant.
    unsafe { call(number::RT_SIGACTION, arguments) }.map(drop)
}

/// Where a handler returns to. ARM has this in the kernel's own page and ignores it.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn return_from_signal() -> ! {
    naked_asm!("mov eax, {}", "syscall", const number::RT_SIGRETURN)
}

#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn return_from_signal() -> ! {
    naked_asm!("mov x8, {}", "svc 0", const number::RT_SIGRETURN)
}
