//! The go command's own settings, GOPROXY and GOSUMDB, with its meaning.
//!
//! Source: `cmd/go/internal/modfetch` (`proxy.go` `proxyList`, `sumdb.go` `dbDial`).

use std::path::PathBuf;

use reqwest::Url;

use super::defaults;
use crate::sumdb::VerifierKey;

/// A value of GOPROXY or GOSUMDB that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={value:?}: {reason}")]
pub struct SettingError {
    pub variable: &'static str,
    /// The value, without the credentials that may be in it.
    pub value: String,
    pub reason: String,
}

impl SettingError {
    fn new(variable: &'static str, value: &str, reason: String) -> Self {
        SettingError { variable, value: without_credentials(value), reason }
    }
}

/// Blots out what stands between `://` and the last `@` after it in the URLs of a value.
///
/// That may be more than the credentials, but a password that was not escaped as it should be, and
/// so holds separators, is covered as well.
fn without_credentials(value: &str) -> String {
    let mut shown = String::new();
    for (number, part) in value.split("://").enumerate() {
        let separator = if number == 0 { "" } else { "://" };
        let part = match part.rfind('@') {
            Some(at) if number > 0 => format!("xxxxx{}", &part[at..]),
            _ => part.to_owned(),
        };
        shown = shown + separator + &part;
    }
    shown
}

/// GOPROXY: the bases to ask, in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoproxyList {
    entries: Vec<ProxyEntry>,
}

/// One base of the list and when to go on to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyEntry {
    pub base: ProxyBase,
    pub fall_through: FallThrough,
}

/// Where a base is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyBase {
    /// `http://` or `https://`.
    Http(Url),
    /// `file://`.
    Directory(PathBuf),
    /// `direct`: where the module itself says that it lives.
    Direct,
    /// `off`: nothing may be fetched.
    Off,
}

/// Which error of a base leads on to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FallThrough {
    /// Only "not found": the base is followed by a comma, or by nothing.
    NotFound,
    /// Any: the base is followed by `|`.
    AnyError,
}

impl GoproxyList {
    /// Parses a value of GOPROXY; an empty one stands for [`defaults::GOPROXY`].
    ///
    /// # Errors
    ///
    /// If the list has no entry, or one that is neither `direct`, `off` nor a usable URL.
    pub fn parse(value: &str) -> Result<Self, SettingError> {
        let value = if value.is_empty() { defaults::GOPROXY } else { value };
        let error = |reason| SettingError::new("GOPROXY", value, reason);
        let mut entries = Vec::new();
        for part in value.split_inclusive([',', '|']) {
            let (text, fall_through) = match part.strip_suffix('|') {
                Some(text) => (text, FallThrough::AnyError),
                None => (part.strip_suffix(',').unwrap_or(part), FallThrough::NotFound),
            };
            let text = text.trim();
            if text.is_empty() {
                continue;
            }
            let base = parse_entry(text).map_err(error)?;
            let ends_list = matches!(base, ProxyBase::Direct | ProxyBase::Off);
            entries.push(ProxyEntry { base, fall_through });
            if ends_list {
                break;
            }
        }
        if entries.is_empty() {
            return Err(error("the list has no entry".to_owned()));
        }
        Ok(GoproxyList { entries })
    }

    /// The bases in the order in which they are asked; never empty.
    pub fn entries(&self) -> &[ProxyEntry] {
        &self.entries
    }
}

fn parse_entry(text: &str) -> Result<ProxyBase, String> {
    match text {
        "direct" => return Ok(ProxyBase::Direct),
        "off" => return Ok(ProxyBase::Off),
        _ => {}
    }
    if text.starts_with('/') {
        let text = without_credentials(text);
        return Err(format!("{text:?} is a path; write file://{text}"));
    }
    // A host without a scheme means https; a single word is kept for the go command's own use.
    let lacks_scheme = text.contains(['.', ':', '/']) && !text.contains(":/");
    if lacks_scheme { parse_base(&format!("https://{text}")) } else { parse_base(text) }
}

/// Parses the URL of a proxy or of a checksum database.
fn parse_base(text: &str) -> Result<ProxyBase, String> {
    let expected = "expected a URL with https, http or file";
    let parsed = Url::parse(text);
    let text = without_credentials(text);
    let url = parsed.map_err(|e| format!("{text:?} is not a URL ({e}); {expected}"))?;
    match url.scheme() {
        "file" => file_path(&url).ok_or_else(|| {
            format!("{text:?} has more than a path; write it like file:///srv/mirror/www")
        }),
        "http" if !url.username().is_empty() || url.password().is_some() => {
            Err("credentials are sent over https only, and an http URL has some".to_owned())
        }
        "http" | "https" => Ok(ProxyBase::Http(url)),
        scheme => Err(format!("{text:?} has the scheme {scheme:?}; {expected}")),
    }
}

fn file_path(url: &Url) -> Option<ProxyBase> {
    if url.query().is_some() || url.fragment().is_some() {
        return None;
    }
    url.to_file_path().ok().map(ProxyBase::Directory)
}

/// GOSUMDB: the checksum database that proves toolchains, by its key.
#[derive(Clone, Debug)]
pub struct SumdbSetting {
    key: VerifierKey,
    base: Option<ProxyBase>,
}

impl SumdbSetting {
    /// Parses a value of GOSUMDB: a known name, a key, or either followed by a URL; an empty one
    /// stands for [`defaults::GOSUMDB`].
    ///
    /// # Errors
    ///
    /// If the value is malformed, or `off`: without a database nothing can be proven, and nothing
    /// unproven is installed.
    pub fn parse(value: &str) -> Result<Self, SettingError> {
        let value = if value.trim().is_empty() { defaults::GOSUMDB } else { value };
        let error = |reason| SettingError::new("GOSUMDB", value, reason);
        let meant = look_up(defaults::DATABASE_ALIASES, value.trim()).unwrap_or(value);
        let mut fields = meant.split_whitespace();
        let (first, second, third) = (fields.next(), fields.next(), fields.next());
        let name_or_key = first.unwrap_or_default();
        if name_or_key == "off" {
            return Err(error(
                "toolchains cannot be proven without a checksum database, and none is installed \
                 unproven; unset GOSUMDB, or set it to the key of your mirror"
                    .to_owned(),
            ));
        }
        if third.is_some() {
            return Err(error(
                "too many words; expected a name or key, and perhaps a URL".to_owned(),
            ));
        }
        let key = look_up(defaults::KNOWN_DATABASES, name_or_key).unwrap_or(name_or_key);
        let key: VerifierKey = key.parse().map_err(|e| {
            // The word is not repeated: it may be a part of a URL with credentials.
            error(format!(
                "neither a known database ({}) nor a key like name+hash+base64: {e}",
                defaults::GOSUMDB
            ))
        })?;
        check_database_name(key.name()).map_err(error)?;
        let base = second.map(parse_base).transpose().map_err(error)?;
        Ok(SumdbSetting { key, base })
    }

    /// The key that signs the database's tree heads.
    pub fn key(&self) -> &VerifierKey {
        &self.key
    }

    /// The database's name, `sum.golang.org`.
    pub fn name(&self) -> &str {
        self.key.name()
    }

    /// A signed head that the database is known to have had, so that even a first use has something
    /// to hold the database to.
    pub fn known_head(&self) -> Option<&'static str> {
        let known_key = look_up(defaults::KNOWN_DATABASES, self.name())?;
        (self.key.to_string() == known_key).then(|| look_up(defaults::KNOWN_HEADS, self.name()))?
    }

    /// The address given in the setting; it replaces both the proxies' copies and the database's own.
    pub(super) fn base(&self) -> Option<&ProxyBase> {
        self.base.as_ref()
    }

    /// The database's own address, `https://` and its name.
    pub(super) fn own_address(&self) -> Url {
        own_address(self.name()).expect("the name was checked when the setting was parsed")
    }
}

/// A database's name becomes part of URLs and of file names, so it is a host and perhaps a path.
fn check_database_name(name: &str) -> Result<(), String> {
    let written = own_address(name).map(|url| url.to_string());
    let expected = format!("https://{name}");
    let is_address = written.is_some_and(|w| w.strip_suffix('/').unwrap_or(&w) == expected);
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_/:".contains(&b));
    let is_clean = name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
    if is_address && is_plain && is_clean {
        return Ok(());
    }
    Err(format!("the database name {name:?} is not a host, or a host and a path"))
}

fn own_address(name: &str) -> Option<Url> {
    Url::parse(&format!("https://{name}")).ok()
}

fn look_up<'a>(table: &[(&str, &'a str)], name: &str) -> Option<&'a str> {
    table.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    const MIRROR_KEY: &str =
        "localhost.localdev/sumdb+00000c67+AcTrnkbUA+TU4heY3hkjiSES/DSQniBqIeQ/YppAUtK6";

    fn list(value: &str) -> Vec<String> {
        let list = GoproxyList::parse(value).unwrap();
        let show = |entry: &ProxyEntry| {
            let base = match &entry.base {
                ProxyBase::Http(url) => url.to_string(),
                ProxyBase::Directory(path) => path.display().to_string(),
                ProxyBase::Direct => "direct".to_owned(),
                ProxyBase::Off => "off".to_owned(),
            };
            match entry.fall_through {
                FallThrough::NotFound => base,
                FallThrough::AnyError => base + " |",
            }
        };
        list.entries().iter().map(show).collect()
    }

    fn goproxy_error(value: &str) -> String {
        GoproxyList::parse(value).unwrap_err().to_string()
    }

    fn gosumdb_error(value: &str) -> String {
        SumdbSetting::parse(value).unwrap_err().to_string()
    }

    #[test]
    fn separators_belong_to_the_entry_before_them() {
        let expected = ["https://a.example/", "http://b.example/x |", "/srv/m", "direct"];
        assert_eq!(list("https://a.example,http://b.example/x|file:///srv/m,direct"), expected);
    }

    #[test]
    fn blanks_and_empty_entries_are_skipped() {
        assert_eq!(list(" ,, https://a.example |, ,"), ["https://a.example/ |"]);
    }

    #[test]
    fn direct_and_off_end_the_list() {
        assert_eq!(list("https://a.example,direct,not a URL"), ["https://a.example/", "direct"]);
        assert_eq!(list("off,https://a.example"), ["off"]);
    }

    #[test]
    fn a_host_alone_means_https() {
        assert_eq!(list("proxy.example"), ["https://proxy.example/"]);
        assert_eq!(list("localhost:8080/go"), ["https://localhost:8080/go"]);
    }

    #[test]
    fn empty_is_the_default() {
        assert_eq!(list(""), ["https://proxy.golang.org/", "direct"]);
        assert_eq!(SumdbSetting::parse("").unwrap().name(), "sum.golang.org");
    }

    #[test]
    fn file_urls_are_unescaped() {
        assert_eq!(list("file:///srv/go%20mirror"), ["/srv/go mirror"]);
    }

    #[test]
    fn unusable_lists_say_why() {
        assert_snapshot!(goproxy_error(" , |"), @r#"GOPROXY=" , |": the list has no entry"#);
        assert_snapshot!(goproxy_error("/srv/mirror"), @r#"GOPROXY="/srv/mirror": "/srv/mirror" is a path; write file:///srv/mirror"#);
        assert_snapshot!(goproxy_error("ftp://a.example"), @r#"GOPROXY="ftp://a.example": "ftp://a.example" has the scheme "ftp"; expected a URL with https, http or file"#);
        assert_snapshot!(goproxy_error("noproxy"), @r#"GOPROXY="noproxy": "noproxy" is not a URL (relative URL without a base); expected a URL with https, http or file"#);
        assert_snapshot!(goproxy_error("file://host/srv"), @r#"GOPROXY="file://host/srv": "file://host/srv" has more than a path; write it like file:///srv/mirror/www"#);
    }

    #[test]
    fn credentials_are_not_sent_in_the_clear_nor_repeated() {
        let error = goproxy_error("https://b.example,http://user:secret@a.example/x");
        assert_snapshot!(error, @r#"GOPROXY="https://b.example,http://xxxxx@a.example/x": credentials are sent over https only, and an http URL has some"#);
        assert_eq!(list("https://user:secret@a.example").len(), 1);
    }

    /// Found by the fuzz target `settings`.
    #[test]
    fn no_error_repeats_credentials() {
        let url = "https://user:secret@a.example/x";
        assert_snapshot!(gosumdb_error(url), @r#"GOSUMDB="https://xxxxx@a.example/x": neither a known database (sum.golang.org) nor a key like name+hash+base64: expected name+hash+base64 with a hash of 8 hexadecimal digits"#);
        for value in [
            url.to_owned(),
            format!("{url} on"),
            format!("on {url} x"),
            format!("/{url}"),
            format!("x{url}"),
            "ftp://user:sec ret@a.example".to_owned(),
            "ftp://user:sec/ret@a.example".to_owned(),
        ] {
            for error in [goproxy_error(&format!("{value},ftp://b")), gosumdb_error(&value)] {
                let is_silent = !error.contains("sec") && !error.contains("ret@");
                assert!(is_silent, "{value}: {error}");
            }
        }
    }

    #[test]
    fn a_database_is_a_name_or_a_key_and_perhaps_a_url() {
        let setting = |value| SumdbSetting::parse(value).unwrap();
        assert_eq!(setting("sum.golang.org").base(), None);
        assert_eq!(setting(MIRROR_KEY).name(), "localhost.localdev/sumdb");
        let own = setting(MIRROR_KEY).own_address();
        assert_eq!(own.as_str(), "https://localhost.localdev/sumdb");
        let base = setting("sum.golang.org  file:///srv/www/sumdb/sum.golang.org").base().cloned();
        assert_eq!(base, Some(ProxyBase::Directory("/srv/www/sumdb/sum.golang.org".into())));
    }

    #[test]
    fn the_alias_is_the_same_database_at_another_address() {
        let setting = SumdbSetting::parse("sum.golang.google.cn").unwrap();
        assert_eq!(setting.name(), "sum.golang.org");
        let url = "https://sum.golang.google.cn".parse().unwrap();
        assert_eq!(setting.base(), Some(&ProxyBase::Http(url)));
    }

    #[test]
    fn unusable_databases_say_why() {
        assert_snapshot!(gosumdb_error("off"), @r#"GOSUMDB="off": toolchains cannot be proven without a checksum database, and none is installed unproven; unset GOSUMDB, or set it to the key of your mirror"#);
        assert_snapshot!(gosumdb_error("a b c"), @r#"GOSUMDB="a b c": too many words; expected a name or key, and perhaps a URL"#);
        for value in ["on", "sum.golang.org+033de0ae", "example.org", "https://sum.golang.org"] {
            let error = gosumdb_error(value);
            assert!(error.contains("neither a known database"), "{error}");
        }
    }

    #[test]
    fn database_names_stay_inside_urls_and_folders() {
        for name in ["sum.golang.org", "localhost:8080", "localhost.localdev/sumdb"] {
            assert_eq!(check_database_name(name), Ok(()));
        }
        for name in
            ["", "/", "a/", "/a", "a//b", "a/../b", "..", "a/.b", "a b", "a?b", "u@a", "é", "A%2f"]
        {
            assert!(check_database_name(name).is_err(), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn no_setting_makes_it_panic(value in any::<String>(), words in "[a-z:/.|,+@ ]{0,40}") {
            for text in [value, words] {
                let _ = GoproxyList::parse(&text);
                let _ = SumdbSetting::parse(&text);
            }
        }
    }
}
