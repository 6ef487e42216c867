//! A GOPROXY list at work: ask each base in turn, as far as its errors allow.

use std::sync::Arc;

use super::{
    DirectorySource, FallThrough, FetchError, GoproxyList, HttpClient, HttpSource, Kept, Obtained,
    ProxyBase, Recipient, RetryPolicy, Source, defaults,
};

/// How much of `sumdb/<name>/supported` is read; only that it is there counts.
const SUPPORTED_BYTES: u64 = 4 * 1024;

/// The bases of a GOPROXY list, ready to be read.
///
/// Nothing is contacted before the first read. HTTP connections live as long as this value: drop it
/// before anything is measured.
pub struct Proxies {
    entries: Vec<Entry>,
    client: Arc<HttpClient>,
}

struct Entry {
    base: Base,
    fall_through: FallThrough,
}

enum Base {
    Proxy(Box<dyn Source>),
    /// Told apart because its errors weigh more, and because it carries no checksum database.
    Direct(Box<dyn Source>),
    Off,
}

/// What was fetched, and the address that served it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served<T> {
    pub value: T,
    pub url: String,
}

/// How much an error says to the one who asked: of several, the gravest is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gravity {
    NotFound,
    Proxy,
    Direct,
}

impl Proxies {
    /// Prepares to read the bases of `list`, trying again as often as is usual.
    pub fn new(list: &GoproxyList) -> Self {
        Proxies::with_retry(list, RetryPolicy::default())
    }

    /// Prepares to read the bases of `list`, trying again as `retry` says.
    pub fn with_retry(list: &GoproxyList, retry: RetryPolicy) -> Self {
        let client = Arc::new(HttpClient::new(retry));
        let prepare = |base: &ProxyBase| match (source_of(base, &client), base) {
            (None, _) => Base::Off,
            (Some(source), ProxyBase::Direct) => Base::Direct(source),
            (Some(source), _) => Base::Proxy(source),
        };
        let entries = list.entries().iter();
        let entries = entries
            .map(|entry| Entry { base: prepare(&entry.base), fall_through: entry.fall_through })
            .collect();
        Proxies { entries, client }
    }

    /// Reads `path` from the first base that has it.
    ///
    /// # Errors
    ///
    /// The gravest error of the bases asked: one from `direct` before one from a proxy before "not
    /// found". Which errors lead on to the next base is the list's own rule ([`FallThrough`]).
    ///
    /// Source: `TryProxies` of the go command.
    pub fn read(&self, path: &str, limit: u64) -> Result<Served<Vec<u8>>, FetchError> {
        self.fetch(path, |source| source.read(path, limit))
    }

    /// Brings `path` to hand from the first base that has it; see [`Source::obtain`].
    ///
    /// What `keep` holds is used only for the base it came from: the next base starts over. A body
    /// that came in whole but turns out to be wrong is not this function's to judge: the next base
    /// is asked only when a transfer fails.
    ///
    /// # Errors
    ///
    /// As [`Proxies::read`], and [`FetchError::Write`] and [`FetchError::Stopped`], after which no
    /// other base is asked.
    pub fn obtain(
        &self,
        path: &str,
        limit: u64,
        keep: &Kept,
        recipient: &dyn Recipient,
    ) -> Result<Served<Obtained>, FetchError> {
        self.fetch(path, |source| source.obtain(path, limit, keep, recipient))
    }

    /// Finds the first proxy that carries the checksum database `name`, by the file that says so.
    ///
    /// Returns its place in the list, or `None` if the database is to be asked itself.
    ///
    /// # Errors
    ///
    /// If a proxy fails in a way that the list does not pass over: to go on to the database itself
    /// might be just what whoever broke the answer wants.
    ///
    /// Source: <https://go.dev/ref/mod#checksum-database>; `initBase` of the go command.
    pub(super) fn find_database(&self, name: &str) -> Result<Option<usize>, FetchError> {
        let path = format!("sumdb/{name}/supported");
        let found = self.in_turn(|place, base| match base {
            Base::Proxy(source) => source.read(&path, SUPPORTED_BYTES).map(|_| place),
            Base::Direct(_) | Base::Off => Err(FetchError::Off { path: path.clone() }),
        });
        match found {
            Ok(place) => Ok(Some(place)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The base at `place` in the list, if it is one that can be read.
    pub(super) fn source_at(&self, place: usize) -> Option<&dyn Source> {
        match &self.entries.get(place)?.base {
            Base::Proxy(source) | Base::Direct(source) => Some(source.as_ref()),
            Base::Off => None,
        }
    }

    /// Makes a source of another address that shares this list's connections.
    pub(super) fn source_of(&self, base: &ProxyBase) -> Option<Box<dyn Source>> {
        source_of(base, &self.client)
    }

    fn fetch<T>(
        &self,
        path: &str,
        mut from: impl FnMut(&dyn Source) -> Result<T, FetchError>,
    ) -> Result<Served<T>, FetchError> {
        self.in_turn(|_, base| {
            let source = match base {
                Base::Proxy(source) | Base::Direct(source) => source,
                Base::Off => return Err(FetchError::Off { path: path.to_owned() }),
            };
            let value = from(source.as_ref())?;
            Ok(Served { value, url: format!("{}/{path}", source.describe()) })
        })
    }

    /// Calls `ask` with the bases and their places until one succeeds or its error ends the list.
    fn in_turn<T>(
        &self,
        mut ask: impl FnMut(usize, &Base) -> Result<T, FetchError>,
    ) -> Result<T, FetchError> {
        let mut gravest: Option<(Gravity, FetchError)> = None;
        for (place, entry) in self.entries.iter().enumerate() {
            let error = match ask(place, &entry.base) {
                Ok(value) => return Ok(value),
                Err(error) if error.is_local() => return Err(error),
                Err(error) => error,
            };
            let goes_on = error.is_not_found() || entry.fall_through == FallThrough::AnyError;
            let gravity = gravity(&entry.base, &error);
            if gravest.as_ref().is_none_or(|(before, _)| gravity >= *before) {
                gravest = Some((gravity, error));
            }
            if !goes_on {
                break;
            }
        }
        let (_, error) = gravest.expect("a GOPROXY list has at least one entry");
        Err(error)
    }
}

fn gravity(base: &Base, error: &FetchError) -> Gravity {
    match base {
        Base::Direct(_) => Gravity::Direct,
        _ if error.is_not_found() => Gravity::NotFound,
        _ => Gravity::Proxy,
    }
}

fn source_of(base: &ProxyBase, client: &Arc<HttpClient>) -> Option<Box<dyn Source>> {
    let http = |url| -> Box<dyn Source> { Box::new(HttpSource::new(url, Arc::clone(client))) };
    match base {
        ProxyBase::Http(url) => Some(http(url.clone())),
        ProxyBase::Directory(path) => Some(Box::new(DirectorySource::new(path))),
        ProxyBase::Direct => Some(http(defaults::DIRECT.parse().expect("a valid constant"))),
        ProxyBase::Off => None,
    }
}

#[cfg(test)]
mod tests;
