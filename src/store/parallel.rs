//! The same work on many things, on all cores.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// How many threads there are at most, whatever the machine: each holds a file in memory.
const THREADS: usize = 8;

/// Calls `work` with every number below `count` and returns the results in that order.
///
/// Each thread has what `equip` gives it. Which thread does what is not determined.
///
/// # Errors
///
/// The error of one call that failed; what is not begun by then is left undone.
pub(super) fn on_all_cores<E, T: Send>(
    count: usize,
    equip: impl Fn() -> E + Sync,
    work: impl Fn(&mut E, usize) -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let take_turns = || {
        let mut equipment = equip();
        let mut done = Vec::new();
        loop {
            let turn = next.fetch_add(1, Ordering::Relaxed);
            if turn >= count || has_failed.load(Ordering::Relaxed) {
                return Ok(done);
            }
            match work(&mut equipment, turn) {
                Ok(result) => done.push((turn, result)),
                Err(error) => {
                    has_failed.store(true, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS).min(count);
    let mut results = thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(take_turns)).collect();
        let mut all = Vec::with_capacity(count);
        for thread in started {
            // A thread that panicked has said so itself; what it did not do must not pass for done.
            all.append(
                &mut thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?,
            );
        }
        io::Result::Ok(all)
    })?;
    results.sort_unstable_by_key(|(turn, _)| *turn);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_each_thing_is_done_once() {
        for count in [0, 1, 1000] {
            let calls = AtomicUsize::new(0);
            let results = on_all_cores(
                count,
                || (),
                |(), turn| {
                    calls.fetch_add(1, Ordering::Relaxed);
                    Ok(turn * 2)
                },
            );
            assert_eq!(results.unwrap(), (0..count).map(|turn| turn * 2).collect::<Vec<_>>());
            assert_eq!(calls.into_inner(), count);
        }
    }

    #[test]
    fn a_failure_is_returned_and_ends_the_work() {
        let calls = AtomicUsize::new(0);
        let result = on_all_cores(
            1_000_000,
            || (),
            |(), turn| {
                calls.fetch_add(1, Ordering::Relaxed);
                if turn == 7 { Err(io::Error::other("seven")) } else { Ok(()) }
            },
        );
        assert_eq!(result.unwrap_err().to_string(), "seven");
        assert!(calls.into_inner() < 1_000_000);
    }
}
