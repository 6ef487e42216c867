//! What reaches the launcher while it is blocked: the alarm, and the end of gosurvey.
//!
//! Nothing watches or polls. The handler ends the measured program, which wakes the blocked wait.

use core::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};

use crate::abi::*;
use crate::{SOCKET, sys};

/// The measured program while it may be signalled: from its start until it is reaped. Else 0.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// Whether a run is under way, from before the program's start to after the clean-up.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// Whether the alarm went off in this run.
static TIME_IS_UP: AtomicBool = AtomicBool::new(false);
/// Whether the launcher must end.
static MUST_END: AtomicBool = AtomicBool::new(false);

/// Gives all signals their default meaning (a shell or gosurvey may have had some ignored, which
/// the measured programs would inherit) and sets up the launcher's own.
pub fn set_up() -> Result<(), Errno> {
    SIGNALS.for_each(sys::reset_signal);
    for signal in [SIGALRM, SIGIO, SIGTERM] {
        sys::handle_signal(signal, on_signal)?;
    }
    sys::unblock_signals();
    sys::signal_activity(SOCKET, sys::process_id())
}

extern "C" fn on_signal(signal: i32) {
    match signal {
        SIGALRM => TIME_IS_UP.store(true, SeqCst),
        SIGIO if !sys::is_hung_up(SOCKET) => return,
        _ => MUST_END.store(true, SeqCst),
    }
    if MUST_END.load(SeqCst) && !RUNNING.load(SeqCst) {
        sys::exit(0);
    }
    kill_program();
}

/// Kills the program and its process group, if there is one now.
///
/// The program has not been reaped, so neither number can have passed to somebody else. It gets a
/// signal of its own because it may have left its group.
fn kill_program() {
    let program = PROGRAM.load(SeqCst);
    if program > 0 {
        let _ = sys::kill(-program, SIGKILL);
        let _ = sys::kill(program, SIGKILL);
    }
}

/// Begins a run: from here on the handler leaves the launcher alive to clean up.
pub fn begin_run() {
    TIME_IS_UP.store(false, SeqCst);
    RUNNING.store(true, SeqCst);
}

/// Names the program that alarm and hang-up end, and sets the alarm.
pub fn guard(program: i32, time_limit_us: u64) {
    PROGRAM.store(program, SeqCst);
    sys::set_alarm(time_limit_us);
    if MUST_END.load(SeqCst) {
        // The signal came before there was a program to kill.
        kill_program();
    }
}

/// Ends the guard over a program that has ended but is not yet reaped: kills what is left of its
/// group, and says whether the alarm went off.
pub fn release() -> bool {
    sys::set_alarm(0);
    kill_program();
    PROGRAM.store(0, SeqCst);
    TIME_IS_UP.load(SeqCst)
}

/// Ends a run, and the launcher with it if that was asked for meanwhile.
pub fn end_run() {
    RUNNING.store(false, SeqCst);
    if MUST_END.load(SeqCst) {
        sys::exit(0);
    }
}
