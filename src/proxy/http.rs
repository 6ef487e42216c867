//! A proxy reached by HTTP.

use std::sync::Arc;

use reqwest::Url;

use super::client::{Broken, HttpClient, shown};
use super::retry::{Attempts, Failure};
use super::transfer::{self, Order};
use super::{FetchError, Kept, Obtained, Recipient, Source};

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
}

impl Source for HttpSource {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let url = self.url(path);
        let (shown, never) = (shown(&url), || false);
        let mut attempts = Attempts::new(self.client.policy(), &shown, &never);
        loop {
            match read_once(&self.client, &url, limit) {
                Ok(bytes) => return Ok(bytes),
                Err(failure) => attempts.wait_after(failure)?,
            }
        }
    }

    fn obtain(
        &self,
        path: &str,
        limit: u64,
        keep: &Kept,
        recipient: &dyn Recipient,
    ) -> Result<Obtained, FetchError> {
        let url = self.url(path);
        transfer::obtain(&Order { client: &self.client, url, limit, keep, recipient })
    }

    fn describe(&self) -> String {
        shown(&self.base).trim_end_matches('/').to_owned()
    }
}

fn read_once(client: &HttpClient, url: &Url, limit: u64) -> Result<Vec<u8>, Failure> {
    let never = || false;
    let mut answer = client.get(url, &[], &never)?;
    answer.check_status()?;
    let url = answer.url().to_owned();
    let too_large = || Failure::last(FetchError::TooLarge { url: url.clone(), limit });
    let total = answer.content_length();
    if total.is_some_and(|bytes| bytes > limit) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    loop {
        match answer.next_piece(&never) {
            Ok(None) => return Ok(bytes),
            Ok(Some(piece)) => bytes.extend_from_slice(piece.as_ref()),
            Err(Broken::Stopped) => return Err(Failure::last(FetchError::Stopped { url })),
            Err(Broken::Because(reason)) => {
                let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
                let reason = format!("broke off after {}{of} bytes: {reason}", bytes.len());
                return Err(Failure::passing(FetchError::Unavailable { url, reason }, None));
            }
        }
        if bytes.len() as u64 > limit {
            return Err(too_large());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::RetryPolicy;

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
    fn a_closed_port_is_unavailable() {
        // Bound and let go at once: nothing listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = source(&format!("http://127.0.0.1:{port}")).read("list", 10).unwrap_err();
        let FetchError::Unavailable { reason, .. } = &error else { panic!("{error:?}") };
        assert!(reason.to_lowercase().contains("refused"), "{reason}");
    }
}
