//! The launcher: a program of a few kilobytes that starts measured processes for gosurvey.
//!
//! The kernel charges a process with the peak memory of the one it was forked or spawned from, so a
//! program started by gosurvey itself would show gosurvey's peak whenever its own is lower. The
//! launcher is executed once, before anything is measured, and *forks* every measured program from
//! its own few pages (about 40 KiB resident). It blocks in the kernel while a program runs: no poll,
//! no timer tick, no output.
//!
//! It lives in a session of its own, where a terminal's Ctrl-C does not reach it or the programs.
//! It ends when gosurvey does, however that happens: the socket hangs up, which also ends a program
//! that is running.
//!
//! `build.rs` compiles it, and gosurvey carries it inside. `protocol.rs` has the messages.

#![no_std]
#![no_main]

mod abi;
mod memory;
mod protocol;
mod run;
mod signals;
mod sys;

use core::arch::naked_asm;

use abi::{EINVAL, Errno};
use protocol::{FLOOR, MESSAGE_LIMIT, READY, RUN, Reply, Request, STRINGS_LIMIT, Step};
use run::{Failure, Pointers, Program};

/// The connection to gosurvey is standard input.
const SOCKET: i32 = 0;

/// All memory the launcher has besides its stack. Pages that no request reaches stay untouched.
static mut MESSAGE: [u8; MESSAGE_LIMIT] = [0; MESSAGE_LIMIT];
static mut POINTERS: Pointers = [core::ptr::null(); STRINGS_LIMIT + 2];

/// The first instruction: aligns the stack as compiled code expects it and enters [`main`].
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn _start() -> ! {
    #[cfg(target_arch = "x86_64")]
    naked_asm!("xor ebp, ebp", "and rsp, -16", "call {}", "ud2", sym main);
    #[cfg(target_arch = "aarch64")]
    naked_asm!("mov x29, 0", "mov x30, 0", "bl {}", "brk 1", sym main);
}

extern "C" fn main() -> ! {
    let (message, pointers) = (&raw mut MESSAGE, &raw mut POINTERS);
    // SAFETY: the process has one thread and `main` is entered once; signal handlers use neither.
    let (message, pointers) = unsafe { (&mut *message, &mut *pointers) };
    match set_up() {
        Ok(()) => send(Reply { verdict: READY, ..Reply::default() }),
        Err(errno) => {
            send(run::failed((Step::SetUp, errno)));
            sys::exit(1);
        }
    }
    loop {
        let Ok((length @ 1.., streams)) = sys::receive(SOCKET, message) else {
            sys::exit(0);
        };
        let reply = answer(&message[..length], streams, pointers).unwrap_or_else(run::failed);
        streams.into_iter().flatten().for_each(sys::close);
        send(reply);
    }
}

fn set_up() -> Result<(), Errno> {
    sys::set_name(c"gosurvey-launch");
    sys::close_from(3);
    // Refused if it already leads a group, which then is its own all the same.
    let _ = sys::set_session();
    sys::adopt_orphans()?;
    signals::set_up()
}

fn answer(
    message: &[u8],
    streams: Option<[i32; 3]>,
    pointers: &mut Pointers,
) -> Result<Reply, Failure> {
    let unusable = (Step::Request, EINVAL);
    let request = Request::from_bytes(message).ok_or(unusable)?;
    match (request.kind, streams) {
        (FLOOR, None) => Ok(run::floor()),
        (RUN, Some(streams)) => {
            let strings = &message[Request::SIZE..];
            let program = Program::parse(&request, strings, pointers).ok_or(unusable)?;
            Ok(program.run(streams, request.time_limit_us))
        }
        _ => Err(unusable),
    }
}

/// Sends a reply. If nobody is there to receive it, `SIGPIPE` ends the launcher.
fn send(reply: Reply) {
    if sys::write(SOCKET, &reply.to_bytes()).is_err() {
        sys::exit(0);
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::exit(101)
}
