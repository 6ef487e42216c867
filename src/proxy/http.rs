//! A proxy reached by HTTP.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::blocking::{Client, Response};
use reqwest::{StatusCode, Url, redirect};

use super::retry::retry_after;
use super::{FetchError, RetryPolicy, Source};

/// How long to wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a connection may stay silent. There is no limit on the whole: a toolchain over a thin
/// line takes as long as it takes, while something still comes.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_REDIRECTS: usize = 10;
/// The size of the pieces in which bodies are read, in bytes.
const PIECE_BYTES: usize = 64 * 1024;

/// The connections shared by all HTTP sources of a list.
///
/// Nothing is created before the first request. What is created holds threads and memory: drop
/// every source and this before anything is measured.
#[derive(Debug, Default)]
pub struct HttpClient {
    retry: RetryPolicy,
    outward: Mutex<Option<Client>>,
    loopback: Mutex<Option<Client>>,
}

impl HttpClient {
    /// Makes a client that tries again as `retry` says.
    pub fn new(retry: RetryPolicy) -> Self {
        HttpClient { retry, ..HttpClient::default() }
    }

    /// The client for `url`: one that goes through the proxies named in the environment
    /// (`HTTPS_PROXY` and so on), or, for this machine itself, one that never does. That is the go
    /// command's rule too.
    fn client_for(&self, url: &Url) -> Result<Client, reqwest::Error> {
        let is_loopback = is_loopback(url);
        let slot = if is_loopback { &self.loopback } else { &self.outward };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*slot {
            return Ok(client.clone());
        }
        let client = build_client(is_loopback)?;
        *slot = Some(client.clone());
        Ok(client)
    }
}

fn build_client(is_loopback: bool) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .user_agent(concat!("gosurvey/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // In the blocking client this bounds each wait (headers, one read), not the whole transfer.
        .timeout(IDLE_TIMEOUT)
        .referer(false)
        .redirect(redirect::Policy::custom(check_redirect));
    if is_loopback { builder.no_proxy().build() } else { builder.build() }
}

fn check_redirect(attempt: redirect::Attempt<'_>) -> redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(format!("more than {MAX_REDIRECTS} redirects"));
    }
    let came_by_https = attempt.previous().iter().any(|url| url.scheme() == "https");
    if came_by_https && attempt.url().scheme() != "https" {
        let target = format!("redirect from https to {}, which is not followed", attempt.url());
        return attempt.error(target);
    }
    attempt.follow()
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|a| a.is_loopback())
}

/// Reads the paths below one `http://` or `https://` URL.
///
/// Only status 200 is an answer; 404 and 410 mean "not found"; a server that is busy or breaks off
/// is asked again a few times. Compression is not offered, so bytes count and hash as they are served.
/// Credentials in the URL are sent to it and never shown.
#[derive(Debug)]
pub struct HttpSource {
    base: Url,
    client: Arc<HttpClient>,
}

impl HttpSource {
    /// Makes a source of `base`, which is not contacted until something is read.
    ///
    /// # Panics
    ///
    /// If `base` is neither http nor https; [`super::GoproxyList::parse`] lets no other through.
    pub fn new(base: Url, client: Arc<HttpClient>) -> Self {
        assert!(matches!(base.scheme(), "http" | "https"), "{base} is not an HTTP URL");
        HttpSource { base, client }
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .expect("an http(s) URL has a path")
            .pop_if_empty()
            .extend(path.split('/'));
        url
    }

    fn transfer(
        &self,
        path: &str,
        limit: u64,
        body: &mut dyn Body,
        on_bytes: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, FetchError> {
        let url = self.url(path);
        let mut attempt = 1;
        loop {
            let failure = match self.attempt(&url, limit, body, on_bytes) {
                Ok(byte_count) => return Ok(byte_count),
                Err(failure) => failure,
            };
            let Some(asked) = failure.again else { return Err(failure.error) };
            let Some(wait) = self.client.retry.wait_after(attempt, asked) else {
                return Err(failure.error);
            };
            log::warn!("{}; attempt {} in {wait:.1?}", failure.error, attempt + 1);
            std::thread::sleep(wait);
            attempt += 1;
        }
    }

    fn attempt(
        &self,
        url: &Url,
        limit: u64,
        body: &mut dyn Body,
        on_bytes: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, Failure> {
        let shown = shown(url);
        let client = self.client.client_for(url).map_err(|e| Failure::last(broken(&shown, &e)))?;
        let response = client.get(url.clone()).send().map_err(|e| {
            // A refused redirect stays refused, an address that cannot be asked stays so.
            let is_final = e.is_redirect() || e.is_builder();
            let error = broken(&shown, &e.without_url());
            if is_final { Failure::last(error) } else { Failure::passing(error, None) }
        })?;
        check_status(&response, &shown)?;
        copy_body(response, &shown, limit, body, on_bytes)
    }
}

impl Source for HttpSource {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let mut bytes = Vec::new();
        self.transfer(path, limit, &mut bytes, &mut |_, _| ())?;
        Ok(bytes)
    }

    fn download(
        &self,
        path: &str,
        limit: u64,
        into: &mut File,
        on_bytes: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, FetchError> {
        self.transfer(path, limit, into, on_bytes)
    }

    fn describe(&self) -> String {
        shown(&self.base).trim_end_matches('/').to_owned()
    }
}

/// Where a body goes; it can be emptied, because a broken transfer starts over.
trait Body {
    fn restart(&mut self) -> io::Result<()>;
    fn append(&mut self, piece: &[u8]) -> io::Result<()>;
}

impl Body for Vec<u8> {
    fn restart(&mut self) -> io::Result<()> {
        self.clear();
        Ok(())
    }

    fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        self.extend_from_slice(piece);
        Ok(())
    }
}

impl Body for File {
    fn restart(&mut self) -> io::Result<()> {
        self.set_len(0)?;
        self.rewind()
    }

    fn append(&mut self, piece: &[u8]) -> io::Result<()> {
        self.write_all(piece)
    }
}

/// A failed attempt: the error, and whether to try again (after a wait the server may have set).
struct Failure {
    error: FetchError,
    again: Option<Option<Duration>>,
}

impl Failure {
    fn last(error: FetchError) -> Self {
        Failure { error, again: None }
    }

    fn passing(error: FetchError, asked: Option<Duration>) -> Self {
        Failure { error, again: Some(asked) }
    }
}

fn check_status(response: &Response, shown: &str) -> Result<(), Failure> {
    let url = shown.to_owned();
    let status = response.status();
    match status.as_u16() {
        200 => Ok(()),
        404 | 410 => Err(Failure::last(FetchError::NotFound { url })),
        429 | 500 | 502 | 503 | 504 => {
            let reason = format!("the server answers {}", status_text(status));
            Err(Failure::passing(FetchError::Unavailable { url, reason }, asked_wait(response)))
        }
        status => Err(Failure::last(FetchError::Refused { url, status })),
    }
}

fn asked_wait(response: &Response) -> Option<Duration> {
    let header = response.headers().get(reqwest::header::RETRY_AFTER)?;
    retry_after(header.to_str().ok()?, Timestamp::now())
}

fn status_text(status: StatusCode) -> String {
    format!("{} {}", status.as_str(), status.canonical_reason().unwrap_or_default())
        .trim_end()
        .to_owned()
}

fn copy_body(
    mut response: Response,
    shown: &str,
    limit: u64,
    body: &mut dyn Body,
    on_bytes: &mut dyn FnMut(u64, Option<u64>),
) -> Result<u64, Failure> {
    let url = || shown.to_owned();
    let write = |source| Failure::last(FetchError::Write { url: url(), source });
    let too_large = || Failure::last(FetchError::TooLarge { url: url(), limit });
    let expected = response.content_length();
    if expected.is_some_and(|bytes| bytes > limit) {
        return Err(too_large());
    }
    body.restart().map_err(write)?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut done = 0;
    loop {
        let count = match response.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                let of = expected.map(|bytes| format!(" of {bytes}")).unwrap_or_default();
                let reason = format!("broke off after {done}{of} bytes: {}", root_cause(&e));
                return Err(Failure::passing(FetchError::Unavailable { url: url(), reason }, None));
            }
        };
        done += count as u64;
        if done > limit {
            return Err(too_large());
        }
        body.append(&piece[..count]).map_err(write)?;
        on_bytes(done, expected);
    }
    Ok(done)
}

/// The URL as it may be shown: with `xxxxx` for a password.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    if url.password().is_some() {
        // Cannot fail: a URL that has a password can have another.
        let _ = url.set_password(Some("xxxxx"));
    }
    url.into()
}

fn broken(shown: &str, error: &reqwest::Error) -> FetchError {
    FetchError::Unavailable { url: shown.to_owned(), reason: root_cause(error) }
}

/// The innermost error says what happened ("Connection refused"); those around it, who noticed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(base: &str) -> HttpSource {
        HttpSource::new(base.parse().unwrap(), Arc::new(HttpClient::new(RetryPolicy::ONCE)))
    }

    #[test]
    fn paths_are_put_below_the_base_and_escaped_by_element() {
        let url = |base, path| source(base).url(path).to_string();
        let path = "golang.org/toolchain/@v/list";
        let below = "https://proxy.example/golang.org/toolchain/@v/list";
        assert_eq!(url("https://proxy.example", path), below);
        assert_eq!(url("https://proxy.example/", path), below);
        assert_eq!(url("https://proxy.example/a/b", "x"), "https://proxy.example/a/b/x");
        assert_eq!(
            url("https://proxy.example", "a?b#c/%d"),
            "https://proxy.example/a%3Fb%23c/%25d"
        );
    }

    #[test]
    fn passwords_are_not_shown() {
        let source = source("https://user:secret@proxy.example/go");
        assert_eq!(source.describe(), "https://user:xxxxx@proxy.example/go");
    }

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

    #[test]
    fn a_closed_port_is_unavailable() {
        // Bound and let go at once: nothing listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = source(&format!("http://127.0.0.1:{port}")).read("list", 10).unwrap_err();
        let FetchError::Unavailable { reason, .. } = &error else { panic!("{error:?}") };
        assert!(reason.to_lowercase().contains("refused"), "{reason}");
    }
}
