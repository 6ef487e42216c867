//! HTTP as this program speaks it: GET, few redirects, and waits that end.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Client, Response, StatusCode, Url, redirect};
use tokio::runtime::Runtime;

use super::cause::{cause, is_lasting};
use super::retry::{Failure, GLANCE, SLOWEST_BYTES, retry_after};
use super::{FetchError, RetryPolicy};

const MAX_REDIRECTS: usize = 10;

/// The connections shared by all HTTP sources of a list.
///
/// Nothing is created before the first request, and no thread ever is, but for the system's look-ups
/// of host names: the connections are served by whichever thread waits for an answer, and several
/// may at once. What is created holds memory: drop every source and this before anything is
/// measured.
#[derive(Debug, Default)]
pub struct HttpClient {
    policy: RetryPolicy,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    runtime: Option<Arc<Runtime>>,
    outward: Option<Client>,
    loopback: Option<Client>,
}

/// A condition to end a wait, looked at several times a second.
pub(super) type IsStopped<'a> = &'a dyn Fn() -> bool;

/// How a wait ended that did not bring what was waited for.
enum Ended {
    Stopped,
    TimedOut,
}

impl HttpClient {
    /// Makes a client that waits and tries again as `policy` says.
    pub fn new(policy: RetryPolicy) -> Self {
        HttpClient { policy, state: Mutex::default() }
    }

    pub(super) fn policy(&self) -> RetryPolicy {
        self.policy
    }

    /// Asks for `url` once, following redirects, and returns the head of the answer, whatever its
    /// status.
    ///
    /// Credentials in `url` are sent to its own host, port and scheme, until a redirect leads away
    /// from there.
    ///
    /// # Errors
    ///
    /// [`FetchError::Unavailable`] and [`FetchError::Stopped`].
    pub(super) fn get(
        &self,
        url: &Url,
        headers: &[(HeaderName, &str)],
        is_stopped: IsStopped<'_>,
    ) -> Result<Answer, Failure> {
        let shown = shown(url);
        let unavailable = |reason| FetchError::Unavailable { url: shown.clone(), reason };
        let mut target = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let (runtime, client) =
                self.client_for(&target).map_err(|e| Failure::last(unavailable(cause(&e))))?;
            let mut request = client.get(target.clone());
            for (name, value) in headers {
                request = request.header(name, *value);
            }
            let limit = self.policy.idle_timeout;
            let response = match wait(&runtime, limit, is_stopped, request.send()) {
                Ok(Ok(response)) => response,
                Ok(Err(e)) => {
                    // An address that cannot be asked stays so, and a server that cannot prove who
                    // it is, too.
                    let is_final = e.is_builder() || is_lasting(&e);
                    let error = unavailable(self.broken(e));
                    return Err(if is_final {
                        Failure::last(error)
                    } else {
                        Failure::passing(error, None)
                    });
                }
                Err(Ended::Stopped) => {
                    return Err(Failure::last(FetchError::Stopped { url: shown.clone() }));
                }
                Err(Ended::TimedOut) => {
                    let reason = format!("no answer within {limit:?}");
                    return Err(Failure::passing(unavailable(reason), None));
                }
            };
            match next_target(&response, &target) {
                Ok(Some(next)) => target = next,
                Ok(None) => {
                    return Ok(Answer { response, runtime, url: shown, pace: Pace::new(limit) });
                }
                Err(reason) => return Err(Failure::last(unavailable(reason))),
            }
        }
        Err(Failure::last(unavailable(format!("more than {MAX_REDIRECTS} redirects"))))
    }

    /// The client for `url`: one that goes through the proxies named in the environment
    /// (`HTTPS_PROXY` and so on), or, for this machine itself, one that never does. That is the go
    /// command's rule too.
    fn client_for(&self, url: &Url) -> Result<(Arc<Runtime>, Client), reqwest::Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let runtime = state.runtime.get_or_insert_with(|| Arc::new(build_runtime()));
        let slot = if is_loopback(url) { &mut state.loopback } else { &mut state.outward };
        let client = match slot {
            Some(client) => client,
            None => slot.insert(build_client(self.policy.connect_timeout, url)?),
        };
        Ok((Arc::clone(runtime), client.clone()))
    }

    fn broken(&self, error: reqwest::Error) -> String {
        if error.is_timeout() && error.is_connect() {
            return format!("no connection within {:?}", self.policy.connect_timeout);
        }
        cause(&error.without_url())
    }
}

impl Drop for HttpClient {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A look-up of a host name that never ends must not hold up the end of this.
        if let Some(runtime) = state.runtime.take().and_then(Arc::into_inner) {
            runtime.shutdown_background();
        }
    }
}

fn build_runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("only a system out of file descriptors lacks one for this")
}

/// A client for `url` and others like it.
fn build_client(connect_timeout: Duration, url: &Url) -> Result<Client, reqwest::Error> {
    let common = || {
        let builder = Client::builder()
            .user_agent(concat!("gosurvey/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect_timeout)
            .referer(false)
            .redirect(redirect::Policy::none());
        if is_loopback(url) { builder.no_proxy() } else { builder }
    };
    common().build().or_else(|error| {
        // A small container may have no certificates of authorities. Whoever needs none gets on
        // without: with an empty list of authorities, none is trusted.
        if url.scheme() == "https" {
            log::warn!(
                "{}: no https server can be trusted; name a file with certificates of authorities \
                 in SSL_CERT_FILE",
                cause(&error)
            );
        }
        common().tls_certs_only([]).build()
    })
}

/// Waits for `future`, at most `limit`, in this thread.
fn wait<F: Future>(
    runtime: &Runtime,
    limit: Duration,
    is_stopped: IsStopped<'_>,
    future: F,
) -> Result<F::Output, Ended> {
    let begin = Instant::now();
    runtime.block_on(async {
        let mut future = pin!(future);
        loop {
            let left = limit.saturating_sub(begin.elapsed());
            match tokio::time::timeout(left.min(GLANCE), &mut future).await {
                Ok(output) => return Ok(output),
                Err(_) if is_stopped() => return Err(Ended::Stopped),
                Err(_) if left <= GLANCE => return Err(Ended::TimedOut),
                Err(_) => {}
            }
        }
    })
}

/// Where a redirect leads; `None` if the answer is none.
fn next_target(response: &Response, asked: &Url) -> Result<Option<Url>, String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get(header::LOCATION);
    let location = location.and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let next = location.and_then(|location| asked.join(location).ok());
    let Some(mut next) = next else {
        return Err("a redirect to nowhere".to_owned());
    };
    if !matches!((asked.scheme(), next.scheme()), (_, "https") | ("http", "http")) {
        let target = shown(&next);
        return Err(format!("redirect from {} to {target}, which is not followed", asked.scheme()));
    }
    let (user, password) = match next.origin() == asked.origin() {
        true => (asked.username(), asked.password()),
        false => ("", None),
    };
    // Cannot fail: an http(s) URL has a host.
    let _ = next.set_username(user);
    let _ = next.set_password(password);
    Ok(Some(next))
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|a| a.is_loopback())
}

/// The URL as it may be shown: with `xxxxx` for a password.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    if url.password().is_some() {
        // Cannot fail: a URL that has a password can have another.
        let _ = url.set_password(Some("xxxxx"));
    }
    url.into()
}

/// The head of an answer, with its body still to come.
pub(super) struct Answer {
    response: Response,
    runtime: Arc<Runtime>,
    url: String,
    pace: Pace,
}

/// Why a body did not come in whole.
pub(super) enum Broken {
    Stopped,
    /// In words.
    Because(String),
}

impl Answer {
    /// The address asked, as it may be shown.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// How many bytes the body has, where the server says it.
    pub fn content_length(&self) -> Option<u64> {
        self.response.content_length()
    }

    /// Passes an answer on whose status is 200, or turns it into the error it stands for.
    pub fn check_status(&self) -> Result<(), Failure> {
        let url = self.url.clone();
        match self.status() {
            200 => Ok(()),
            404 | 410 => Err(Failure::last(FetchError::NotFound { url })),
            429 | 500 | 502 | 503 | 504 => {
                let reason = format!("the server answers {}", status_text(self.response.status()));
                Err(Failure::passing(FetchError::Unavailable { url, reason }, self.asked_wait()))
            }
            status => Err(Failure::last(FetchError::Refused { url, status })),
        }
    }

    fn asked_wait(&self) -> Option<Duration> {
        retry_after(self.header(header::RETRY_AFTER)?, Timestamp::now())
    }

    /// Waits for the next piece of the body; `None` at its end.
    pub fn next_piece(
        &mut self,
        is_stopped: IsStopped<'_>,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, Broken> {
        let limit = self.pace.idle_timeout;
        let begin = Instant::now();
        let waited = wait(&self.runtime, limit, is_stopped, self.response.chunk());
        let because = |reason| Err(Broken::Because(reason));
        let piece = match waited {
            Ok(Ok(piece)) => piece,
            Ok(Err(error)) => return because(cause(&error.without_url())),
            Err(Ended::Stopped) => return Err(Broken::Stopped),
            Err(Ended::TimedOut) => return because(format!("nothing came for {limit:?}")),
        };
        if let Some(piece) = &piece
            && !self.pace.keeps_up(begin.elapsed(), piece.len() as u64)
        {
            return because(format!("fewer than {SLOWEST_BYTES} bytes came in {limit:?}"));
        }
        Ok(piece)
    }
}

fn status_text(status: StatusCode) -> String {
    format!("{} {}", status.as_str(), status.canonical_reason().unwrap_or_default())
        .trim_end()
        .to_owned()
}

/// Tells a body that drips from one that flows; only time spent waiting counts.
struct Pace {
    idle_timeout: Duration,
    waited: Duration,
    bytes: u64,
}

impl Pace {
    fn new(idle_timeout: Duration) -> Self {
        Pace { idle_timeout, waited: Duration::ZERO, bytes: 0 }
    }

    /// Counts a piece; `false` if too little came in too long.
    fn keeps_up(&mut self, waited: Duration, bytes: u64) -> bool {
        self.waited += waited;
        self.bytes += bytes;
        if self.waited < self.idle_timeout {
            return true;
        }
        let keeps_up = self.bytes >= SLOWEST_BYTES;
        *self = Pace::new(self.idle_timeout);
        keeps_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_by_its_names() {
        for (url, expected) in [
            ("http://localhost:8080", true),
            ("http://127.0.0.1", true),
            ("http://127.8.8.8", true),
            ("http://[::1]:80", true),
            ("http://10.0.0.1", false),
            ("https://proxy.golang.org", false),
            ("https://127.0.0.1.example", false),
        ] {
            assert_eq!(is_loopback(&url.parse().unwrap()), expected, "{url}");
        }
    }
}
