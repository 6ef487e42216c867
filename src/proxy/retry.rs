//! When a request is worth making again, and after how long.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::FetchError;

/// How long a server is waited for, and how often it is asked again after a passing failure.
///
/// The waits between two attempts double from `first_wait` and are cut short by up to a half at
/// random, so that a hundred cluster nodes turned away at the same moment do not all come back at
/// the same moment. A server's own `Retry-After` is used instead where it gives one; neither exceeds
/// `longest_wait`.
#[derive(Clone, Copy, Debug)]
pub struct RetryPolicy {
    /// How often a request is made at most, the first time included. A download that gets on is
    /// asked for more often: each MiB more than ever before makes the count begin anew.
    pub attempts: u32,
    pub first_wait: Duration,
    pub longest_wait: Duration,
    /// How long to wait for a connection, TLS included.
    pub connect_timeout: Duration,
    /// How long a server may take to answer, and how long it may stay silent, or say next to
    /// nothing (less than 16 KiB in that time), in the middle of an answer. There is no limit on the
    /// whole: a toolchain over a thin line takes as long as it takes, while something still comes.
    pub idle_timeout: Duration,
}

/// How many bytes more than ever before an attempt must bring for the attempts to be counted anew.
///
/// So a server that drops every connection after 10 MiB still serves a toolchain. None can hold us
/// for ever: the count begins anew only for bytes that were not had before, so at most once per MiB
/// of the size allowed; an attempt ends when fewer than [`SLOWEST_BYTES`] come within the idle
/// timeout; and bytes at hand are thrown away, because the server has others now, at most as often
/// as there are attempts.
pub(super) const PROGRESS_BYTES: u64 = 1024 * 1024;

/// How many bytes must come within the idle timeout: in 60 s, less than the slowest modem brought.
pub(super) const SLOWEST_BYTES: u64 = 16 * 1024;

/// How often `is_stopped` is looked at during a wait.
pub(super) const GLANCE: Duration = Duration::from_millis(50);

impl RetryPolicy {
    /// Asks once and takes the answer.
    pub const ONCE: RetryPolicy = RetryPolicy {
        attempts: 1,
        first_wait: Duration::ZERO,
        longest_wait: Duration::ZERO,
        ..RetryPolicy::USUAL
    };

    const USUAL: RetryPolicy = RetryPolicy {
        attempts: 4,
        first_wait: Duration::from_millis(500),
        longest_wait: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(30),
        idle_timeout: Duration::from_secs(60),
    };

    /// How long to wait after the failure of attempt number `attempt`, counted from 1;
    /// `None` if that was the last.
    pub(super) fn wait_after(&self, attempt: u32, asked: Option<Duration>) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let wait = asked.unwrap_or_else(|| {
            let doubled = 2_u32.saturating_pow(attempt.saturating_sub(1));
            self.first_wait.saturating_mul(doubled).mul_f64(1.0 - random_fraction() / 2.0)
        });
        Some(wait.min(self.longest_wait))
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy::USUAL
    }
}

/// A failed attempt, and what may come after it.
#[derive(Debug)]
pub(super) struct Failure {
    pub error: FetchError,
    again: Again,
}

#[derive(Debug)]
enum Again {
    Never,
    /// After a wait, whose length the server may have set.
    Later(Option<Duration>),
}

impl Failure {
    /// A failure that another attempt would meet as well.
    pub fn last(error: FetchError) -> Self {
        Failure { error, again: Again::Never }
    }

    /// A failure that may pass, perhaps after the time `asked` for.
    pub fn passing(error: FetchError, asked: Option<Duration>) -> Self {
        Failure { error, again: Again::Later(asked) }
    }
}

/// The attempts at one request.
pub(super) struct Attempts<'a> {
    policy: RetryPolicy,
    url: &'a str,
    is_stopped: &'a dyn Fn() -> bool,
    made: u32,
}

impl<'a> Attempts<'a> {
    /// Counts attempts at `url`, as it may be shown, as `policy` says; waits end when `is_stopped`.
    pub fn new(policy: RetryPolicy, url: &'a str, is_stopped: &'a dyn Fn() -> bool) -> Self {
        Attempts { policy, url, is_stopped, made: 0 }
    }

    /// Counts anew.
    pub fn renew(&mut self) {
        self.made = 0;
    }

    /// Counts a failed attempt and waits until it is time for another.
    ///
    /// # Errors
    ///
    /// The error of `failure` if there is no use in another, and [`FetchError::Stopped`].
    pub fn wait_after(&mut self, failure: Failure) -> Result<(), FetchError> {
        self.made += 1;
        let Again::Later(asked) = failure.again else { return Err(failure.error) };
        let Some(wait) = self.policy.wait_after(self.made, asked) else {
            return Err(failure.error);
        };
        log::warn!("{}; attempt {} in {wait:.1?}", failure.error, self.made + 1);
        let begin = Instant::now();
        while !(self.is_stopped)() {
            let left = wait.saturating_sub(begin.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(GLANCE));
        }
        Err(FetchError::Stopped { url: self.url.to_owned() })
    }
}

/// Reads a `Retry-After` header: seconds, or the date from which to try again.
///
/// Source: RFC 9110, section 10.2.3.
pub(super) fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = jiff::fmt::rfc2822::parse(header).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or_default())
}

/// A number in `0.0..1.0` that differs from call to call and from process to process.
fn random_fraction() -> f64 {
    // Each `RandomState` carries other keys, seeded by the operating system.
    let bits = RandomState::new().hash_one(()) >> 11;
    bits as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_stay_between_half_and_whole() {
        let policy = RetryPolicy { attempts: 5, ..RetryPolicy::default() };
        for (attempt, longest_ms) in [(1, 500), (2, 1000), (3, 2000), (4, 4000)] {
            let wait = policy.wait_after(attempt, None).unwrap().as_millis();
            assert!((longest_ms / 2..=longest_ms).contains(&wait), "{attempt}: {wait} ms");
        }
        assert_eq!(policy.wait_after(5, None), None);
    }

    #[test]
    fn a_server_may_ask_for_a_wait_but_not_for_a_long_one() {
        let policy = RetryPolicy::default();
        let asked = |seconds| policy.wait_after(1, Some(Duration::from_secs(seconds))).unwrap();
        assert_eq!(asked(7).as_secs(), 7);
        assert_eq!(asked(86_400), policy.longest_wait);
    }

    #[test]
    fn attempts_that_got_on_are_counted_anew() {
        let policy = RetryPolicy { attempts: 2, first_wait: Duration::ZERO, ..RetryPolicy::ONCE };
        let never = || false;
        let mut attempts = Attempts::new(policy, "u", &never);
        let unavailable =
            || FetchError::Unavailable { url: "u".to_owned(), reason: "down".to_owned() };
        let passing = || Failure::passing(unavailable(), None);
        attempts.wait_after(passing()).unwrap();
        attempts.renew();
        attempts.wait_after(passing()).unwrap();
        attempts.wait_after(passing()).unwrap_err();
        attempts.renew();
        attempts.wait_after(Failure::last(unavailable())).unwrap_err();
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now: Timestamp = "2015-10-21T07:27:50Z".parse().unwrap();
        let seconds = |header| retry_after(header, now).map(|d| d.as_secs());
        assert_eq!(seconds("120"), Some(120));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:28:00 GMT"), Some(10));
        assert_eq!(seconds("Wed, 21 Oct 2015 07:00:00 GMT"), Some(0), "a date gone by");
        assert_eq!(seconds("Wed, 99 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(seconds("99999999999999999999999"), None);
        assert_eq!(seconds("-1"), None);
        assert_eq!(seconds("soon"), None);
    }
}
