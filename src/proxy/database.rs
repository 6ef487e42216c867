//! The checksum database as GOPROXY and GOSUMDB lead to it.

use std::sync::{Mutex, PoisonError};

use super::{FetchError, Proxies, ProxyBase, Source, SumdbSetting};
use crate::sumdb::{Database, ReadError, VerifierKey};

/// Reads a checksum database: at the address in GOSUMDB, else through the first proxy that carries
/// it, else at its own address.
///
/// Which it is, is found out at the first read and kept. Once a proxy says that it carries the
/// database, nothing but that proxy is asked: whoever may not reach the database itself must not
/// be led to it by an error.
pub struct ChecksumDatabase<'a> {
    proxies: &'a Proxies,
    setting: &'a SumdbSetting,
    route: Mutex<Option<Route>>,
}

/// Where the database is read.
#[derive(Clone)]
enum Route {
    /// Below `sumdb/<name>/` of the proxy at this place in the list.
    Proxy(usize),
    Own(std::sync::Arc<dyn Source>),
}

impl<'a> ChecksumDatabase<'a> {
    /// Prepares to read the database of `setting`; nothing is contacted yet.
    pub fn new(proxies: &'a Proxies, setting: &'a SumdbSetting) -> Self {
        ChecksumDatabase { proxies, setting, route: Mutex::new(None) }
    }

    /// The database and its key.
    pub fn setting(&self) -> &'a SumdbSetting {
        self.setting
    }

    /// The key that signs the database's heads.
    pub fn key(&self) -> &'a VerifierKey {
        self.setting.key()
    }

    fn route(&self) -> Result<Route, FetchError> {
        let mut route = self.route.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*route {
            return Ok(known.clone());
        }
        let found = self.find_route()?;
        *route = Some(found.clone());
        Ok(found)
    }

    fn find_route(&self) -> Result<Route, FetchError> {
        let own = |base: &ProxyBase| {
            let source = self.proxies.source_of(base).expect("a URL or a directory can be read");
            Route::Own(source.into())
        };
        if let Some(base) = self.setting.base() {
            return Ok(own(base));
        }
        match self.proxies.find_database(self.setting.name())? {
            Some(place) => Ok(Route::Proxy(place)),
            None => Ok(own(&ProxyBase::Http(self.setting.own_address()))),
        }
    }

    fn fetch(&self, path: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        match self.route()? {
            Route::Own(source) => source.read(path, limit),
            Route::Proxy(place) => {
                let source = self.proxies.source_at(place).expect("it was found there");
                source.read(&format!("sumdb/{}/{path}", self.setting.name()), limit)
            }
        }
    }
}

impl Database for ChecksumDatabase<'_> {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.fetch(path, limit).map_err(|error| match error {
            FetchError::NotFound { .. } => ReadError::NotFound,
            FetchError::TooLarge { .. } => ReadError::TooLarge,
            other => ReadError::Unavailable(other.to_string()),
        })
    }

    fn address(&self) -> Option<String> {
        let route = self.route.lock().unwrap_or_else(PoisonError::into_inner);
        match route.as_ref()? {
            Route::Own(source) => Some(source.describe()),
            Route::Proxy(place) => {
                let base = self.proxies.source_at(*place)?.describe();
                Some(format!("{base}/sumdb/{}", self.setting.name()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::proxy::GoproxyList;

    fn put(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    fn setting(rest: &str) -> SumdbSetting {
        let signer = crate::sumdb::SignerKey::from_seed("db.example", &[7; 32]).unwrap();
        SumdbSetting::parse(&format!("{} {rest}", signer.verifier())).unwrap()
    }

    fn read(goproxy: &str, setting: &SumdbSetting, path: &str) -> Result<Vec<u8>, ReadError> {
        let proxies = Proxies::new(&GoproxyList::parse(goproxy).unwrap());
        ChecksumDatabase::new(&proxies, setting).read(path, 100)
    }

    #[test]
    fn is_read_below_the_first_proxy_that_carries_it() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "b/sumdb/db.example/supported", "");
        put(folder.path(), "b/sumdb/db.example/latest", "from b");
        put(folder.path(), "c/sumdb/db.example/latest", "from c");
        let at = |name: &str| format!("file://{}", folder.path().join(name).display());
        let goproxy = [at("a"), at("b"), at("c")].join(",");
        assert_eq!(read(&goproxy, &setting(""), "latest").unwrap(), b"from b");
        assert_eq!(read(&goproxy, &setting(""), "lookup/x"), Err(ReadError::NotFound));
    }

    #[test]
    fn an_address_in_the_setting_replaces_the_proxies() {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "b/sumdb/db.example/supported", "");
        put(folder.path(), "own/latest", "its own");
        let at = |name: &str| format!("file://{}", folder.path().join(name).display());
        assert_eq!(read(&at("b"), &setting(&at("own")), "latest").unwrap(), b"its own");
    }

    #[test]
    fn is_asked_itself_where_no_proxy_carries_it() {
        // Nothing listens at that name, which cannot be resolved: the error shows who was asked.
        let setting = setting("");
        let proxies = Proxies::with_retry(
            &GoproxyList::parse("off").unwrap(),
            crate::proxy::RetryPolicy::ONCE,
        );
        let database = ChecksumDatabase::new(&proxies, &setting);
        assert!(
            matches!(database.find_route().unwrap(), Route::Own(source) if source.describe() == "https://db.example")
        );
    }
}
