use std::sync::Mutex;

use super::*;

/// A base that answers every path with one thing, and notes that it was asked.
struct Scripted {
    name: &'static str,
    answer: Answer,
    asked: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone, Copy)]
enum Answer {
    Has,
    NotFound,
    Forbidden,
    Down,
    DiskFull,
    Stopped,
}

use Answer::*;

impl Source for Scripted {
    fn read(&self, path: &str, _limit: u64) -> Result<Vec<u8>, FetchError> {
        let url = format!("{}/{path}", self.name);
        self.asked.lock().unwrap().push(url.clone());
        match self.answer {
            Has => Ok(self.name.as_bytes().to_vec()),
            NotFound => Err(FetchError::NotFound { url }),
            Forbidden => Err(FetchError::Refused { url, status: 403 }),
            Down => Err(FetchError::Unavailable { url, reason: "down".to_owned() }),
            Stopped => Err(FetchError::Stopped { url }),
            DiskFull => {
                Err(FetchError::Write { url, source: std::io::ErrorKind::StorageFull.into() })
            }
        }
    }

    fn obtain(
        &self,
        path: &str,
        limit: u64,
        _keep: &Kept,
        _recipient: &dyn Recipient,
    ) -> Result<Obtained, FetchError> {
        let bytes = self.read(path, limit)?.len() as u64;
        Ok(Obtained { file: tempfile::tempfile().unwrap(), bytes, was_kept: false })
    }

    fn describe(&self) -> String {
        self.name.to_owned()
    }
}

/// Builds a list of bases `a`, `b`, … with their answers and separators; `d` is `direct`.
struct Case {
    proxies: Proxies,
    asked: Arc<Mutex<Vec<String>>>,
}

fn list(entries: &[(&'static str, Answer, FallThrough)]) -> Case {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let entry = |&(name, answer, fall_through): &(&'static str, Answer, FallThrough)| {
        let source = Box::new(Scripted { name, answer, asked: Arc::clone(&asked) });
        let base = match name {
            "direct" => Base::Direct(source),
            "off" => Base::Off,
            _ => Base::Proxy(source),
        };
        Entry { base, fall_through }
    };
    let entries = entries.iter().map(entry).collect();
    Case { proxies: Proxies { entries, client: Arc::default() }, asked }
}

impl Case {
    /// Which base served, or the error.
    fn served(&self) -> Result<String, FetchError> {
        self.proxies.read("x", 10).map(|served| served.url)
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

const COMMA: FallThrough = FallThrough::NotFound;
const PIPE: FallThrough = FallThrough::AnyError;

#[test]
fn the_first_that_has_it_serves() {
    let case = list(&[("a", NotFound, COMMA), ("b", Has, COMMA), ("c", Has, COMMA)]);
    assert_eq!(case.served().unwrap(), "b/x");
    assert_eq!(case.asked(), ["a/x", "b/x"]);
}

#[test]
fn after_a_comma_only_not_found_goes_on() {
    for answer in [Forbidden, Down] {
        let case = list(&[("a", answer, COMMA), ("b", Has, COMMA)]);
        assert!(case.served().is_err());
        assert_eq!(case.asked(), ["a/x"]);
    }
}

#[test]
fn after_a_pipe_every_error_of_the_proxy_goes_on() {
    for answer in [NotFound, Forbidden, Down] {
        let case = list(&[("a", answer, PIPE), ("b", Has, COMMA)]);
        assert_eq!(case.served().unwrap(), "b/x");
    }
}

#[test]
fn trouble_on_this_machine_ends_the_list() {
    let case = list(&[("a", DiskFull, PIPE), ("b", Has, COMMA)]);
    assert!(matches!(case.served(), Err(FetchError::Write { .. })));
    assert_eq!(case.asked(), ["a/x"]);
}

#[test]
fn whoever_stops_is_not_led_on_to_the_next() {
    let case = list(&[("a", Stopped, PIPE), ("b", Has, COMMA)]);
    assert!(matches!(case.served(), Err(FetchError::Stopped { .. })));
    assert_eq!(case.asked(), ["a/x"]);
}

#[test]
fn the_gravest_error_is_reported() {
    let report = |entries: &[_]| match list(entries).served().unwrap_err() {
        FetchError::NotFound { url } => format!("not found {url}"),
        FetchError::Refused { url, .. } | FetchError::Unavailable { url, .. } => url,
        error => error.to_string(),
    };
    assert_eq!(report(&[("a", Down, PIPE), ("b", NotFound, COMMA)]), "a/x");
    assert_eq!(report(&[("a", NotFound, COMMA), ("b", Forbidden, COMMA)]), "b/x");
    assert_eq!(report(&[("a", Down, PIPE), ("b", Forbidden, COMMA)]), "b/x", "the last of equals");
    assert_eq!(report(&[("a", Down, PIPE), ("direct", NotFound, COMMA)]), "not found direct/x");
    assert_eq!(report(&[("a", Down, PIPE), ("off", Has, COMMA)]), "a/x");
}

#[test]
fn off_is_told_from_not_found() {
    let error = list(&[("a", NotFound, COMMA), ("off", Has, COMMA)]).served().unwrap_err();
    assert!(matches!(error, FetchError::Off { .. }), "{error}");
}

#[test]
fn the_database_is_read_from_the_first_proxy_that_carries_it() {
    let find = |entries: &[_]| list(entries).proxies.find_database("sum.example");
    assert_eq!(find(&[("a", NotFound, COMMA), ("b", Has, COMMA)]).unwrap(), Some(1));
    assert_eq!(find(&[("a", Down, PIPE), ("b", Has, COMMA)]).unwrap(), Some(1));
    assert_eq!(find(&[("a", NotFound, COMMA), ("b", NotFound, COMMA)]).unwrap(), None);
    assert_eq!(find(&[("a", NotFound, COMMA), ("direct", Has, COMMA)]).unwrap(), None);
    assert_eq!(find(&[("off", Has, COMMA)]).unwrap(), None);
}

#[test]
fn a_proxy_in_trouble_does_not_lead_to_the_database_itself() {
    for answer in [Forbidden, Down] {
        let found = list(&[("a", answer, COMMA), ("direct", Has, COMMA)]);
        assert!(found.proxies.find_database("sum.example").is_err());
        assert_eq!(found.asked(), ["a/sumdb/sum.example/supported"]);
    }
}
