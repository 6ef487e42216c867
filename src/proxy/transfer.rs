//! One download over HTTP: gone on with where that is safe, begun anew where it is not.
//!
//! The danger is a file put together from two versions. So bytes are added to others only if the
//! server itself says, by a strong validator, that both are of one version; and the address asked is
//! always the one first asked, since redirects lead to addresses that expire.
//!
//! Source: RFC 9110, sections 8.8.3 (ETag), 13.1.5 (If-Range), 14 (Range), 15.3.7 (206).

use reqwest::Url;
use reqwest::header;

use super::client::{Answer, Broken, HttpClient, shown};
use super::kept::{Origin, Partial};
use super::retry::{Attempts, Failure, PROGRESS_BYTES};
use super::{FetchError, Kept, Obtained, Recipient};

/// The longest validator that is remembered, in bytes.
const MAX_ETAG_BYTES: usize = 1024;

/// What is asked for and who waits for it.
pub(super) struct Order<'a> {
    pub client: &'a HttpClient,
    pub url: Url,
    /// The most bytes it may have.
    pub limit: u64,
    pub keep: &'a Kept,
    pub recipient: &'a dyn Recipient,
}

/// Carries out an order.
///
/// # Errors
///
/// Any [`FetchError`].
pub(super) fn obtain(order: &Order<'_>) -> Result<Obtained, FetchError> {
    let url = shown(&order.url);
    let write = |source| FetchError::Write { url: url.clone(), source };
    let obtained = order.run(&url);
    let leaves_nothing_of_use = match &obtained {
        Ok(_) => false,
        Err(FetchError::TooLarge { .. }) => true,
        Err(_) => !order.keep.is_of_use().map_err(write)?,
    };
    if leaves_nothing_of_use {
        order.keep.discard().map_err(write)?;
    }
    obtained
}

impl Order<'_> {
    fn run(&self, url: &str) -> Result<Obtained, FetchError> {
        let write = |source| FetchError::Write { url: url.to_owned(), source };
        let mut transfer = Transfer::new(self).map_err(write)?;
        transfer.complete()?;
        let Transfer { partial, earlier_bytes, .. } = transfer;
        let bytes = partial.bytes();
        let file = partial.into_file().map_err(write)?;
        Ok(Obtained { file, bytes, was_kept: earlier_bytes > 0 })
    }
}

/// A download under way.
struct Transfer<'a> {
    order: &'a Order<'a>,
    /// The address, as it may be shown.
    url: String,
    /// The address, as it is noted: without credentials.
    noted_url: String,
    partial: Partial,
    /// How many of the bytes at hand an earlier call left.
    earlier_bytes: u64,
    /// The most bytes that were ever at hand.
    most_bytes: u64,
    /// How often bytes at hand were thrown away.
    start_overs: u32,
    /// The size the recipient was told last.
    told: Option<Option<u64>>,
}

impl<'a> Transfer<'a> {
    fn new(order: &'a Order<'a>) -> std::io::Result<Self> {
        let noted_url = without_credentials(&order.url);
        let partial = order.keep.open(&noted_url)?;
        let bytes = partial.bytes();
        Ok(Transfer {
            order,
            url: shown(&order.url),
            noted_url,
            partial,
            earlier_bytes: bytes,
            most_bytes: bytes,
            start_overs: 0,
            told: None,
        })
    }

    fn complete(&mut self) -> Result<(), FetchError> {
        let recipient = self.order.recipient;
        let (url, is_stopped) = (self.url.clone(), || recipient.is_stopped());
        let mut attempts = Attempts::new(self.order.client.policy(), &url, &is_stopped);
        loop {
            let Err(failure) = self.attempt() else { return Ok(()) };
            if self.got_on() {
                attempts.renew();
            }
            attempts.wait_after(failure)?;
        }
    }

    /// Whether there is so much more at hand than ever before that a server cannot go on like this
    /// for long.
    fn got_on(&mut self) -> bool {
        let got_on = self.partial.bytes() >= self.most_bytes.saturating_add(PROGRESS_BYTES);
        self.most_bytes = self.most_bytes.max(self.partial.bytes());
        got_on
    }

    fn attempt(&mut self) -> Result<(), Failure> {
        if self.partial.is_whole() && self.partial.bytes() > 0 {
            return self.take_whole();
        }
        if let Some(tag) = self.usable_tag() {
            let answer = self.ask(Some(&tag))?;
            match answer.status() {
                206 if self.continues(&answer, &tag) => return self.go_on(answer),
                // Other bytes than those at hand belong to, or none after them.
                206 | 416 => {}
                _ => return self.begin(answer),
            }
            self.start_over("the server has something else now")?;
        }
        let answer = self.ask(None)?;
        self.begin(answer)
    }

    /// What an earlier call brought in whole needs no request.
    fn take_whole(&mut self) -> Result<(), Failure> {
        let bytes = self.partial.bytes();
        if bytes > self.order.limit {
            return Err(self.too_large());
        }
        self.tell(Some(bytes))?;
        self.order.recipient.received(bytes);
        self.check_stopped()
    }

    /// The validator with which to ask for the rest, if that can be asked for at all.
    fn usable_tag(&self) -> Option<String> {
        let tag = self.partial.origin()?.etag.as_deref()?;
        (self.partial.bytes() > 0 && is_strong(tag)).then(|| tag.to_owned())
    }

    /// Asks for all, or for what is missing of the version with this `tag`.
    fn ask(&self, tag: Option<&str>) -> Result<Answer, Failure> {
        self.check_stopped()?;
        let range = format!("bytes={}-", self.partial.bytes());
        let headers = match tag {
            Some(tag) => vec![(header::RANGE, range.as_str()), (header::IF_RANGE, tag)],
            None => Vec::new(),
        };
        let recipient = self.order.recipient;
        self.order.client.get(&self.order.url, &headers, &|| recipient.is_stopped())
    }

    /// Whether a 206 is the rest of what is at hand, all of it.
    fn continues(&self, answer: &Answer, tag: &str) -> bool {
        let range = answer.header(header::CONTENT_RANGE).and_then(ContentRange::parse);
        let Some(range) = range else { return false };
        let noted = self.partial.origin().and_then(|origin| origin.total_bytes);
        let first = self.partial.bytes();
        answer.header(header::ETAG) == Some(tag)
            && range.first == first
            && range.last.checked_add(1) == Some(range.total)
            && noted.is_none_or(|noted| noted == range.total)
            && answer
                .content_length()
                .is_none_or(|length| Some(length) == range.total.checked_sub(first))
    }

    fn go_on(&mut self, answer: Answer) -> Result<(), Failure> {
        let range = answer.header(header::CONTENT_RANGE).and_then(ContentRange::parse);
        let total = range.map(|range| range.total);
        if total.is_some_and(|total| total > self.order.limit) {
            return Err(self.too_large());
        }
        self.tell(total)?;
        if let Some(total) = total {
            self.partial.set_total(total).map_err(|e| self.write(e))?;
        }
        self.copy(answer)
    }

    /// Takes an answer to a request for all.
    fn begin(&mut self, answer: Answer) -> Result<(), Failure> {
        answer.check_status()?;
        let total_bytes = answer.content_length();
        if total_bytes.is_some_and(|total| total > self.order.limit) {
            return Err(self.too_large());
        }
        self.start_over("the server begins anew")?;
        self.tell(total_bytes)?;
        let etag = answer.header(header::ETAG).filter(|tag| is_strong(tag)).map(str::to_owned);
        let origin = Origin { url: self.noted_url.clone(), etag, total_bytes };
        self.partial.begin(origin).map_err(|e| self.write(e))?;
        self.copy(answer)
    }

    /// Throws away what is at hand.
    fn start_over(&mut self, why: &str) -> Result<(), Failure> {
        if self.partial.bytes() == 0 {
            return Ok(());
        }
        self.start_overs += 1;
        if self.start_overs > self.order.client.policy().attempts {
            let reason = format!("began anew {} times without an end", self.start_overs - 1);
            return Err(Failure::last(self.unavailable(reason)));
        }
        log::info!("{}: {why}; {} bytes are fetched again", self.url, self.partial.bytes());
        self.earlier_bytes = 0;
        self.partial.empty().map_err(|e| self.write(e))
    }

    fn tell(&mut self, total_bytes: Option<u64>) -> Result<(), Failure> {
        if self.told == Some(total_bytes) {
            return Ok(());
        }
        self.told = Some(total_bytes);
        let kept_bytes = self.partial.bytes();
        self.order.recipient.begin(total_bytes, kept_bytes).map_err(|e| self.write(e))
    }

    fn copy(&mut self, mut answer: Answer) -> Result<(), Failure> {
        let recipient = self.order.recipient;
        recipient.received(self.partial.bytes());
        loop {
            let piece = match answer.next_piece(&|| recipient.is_stopped()) {
                Ok(Some(piece)) => piece,
                Ok(None) => return self.end(),
                Err(Broken::Stopped) => return Err(self.stopped()),
                Err(Broken::Because(reason)) => return Err(self.broke_off(&reason)),
            };
            self.take(piece.as_ref())?;
            self.check_stopped()?;
        }
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let bytes = self.partial.bytes().saturating_add(piece.len() as u64);
        if bytes > self.order.limit {
            return Err(self.too_large());
        }
        if self.total_bytes().is_some_and(|total| bytes > total) {
            let reason = "more came than the server said it would send";
            self.start_over(reason)?;
            return Err(Failure::passing(self.unavailable(reason.to_owned()), None));
        }
        self.partial.append(piece).map_err(|e| self.write(e))?;
        self.order.recipient.received(bytes);
        Ok(())
    }

    /// The body is at its end: is that all?
    fn end(&mut self) -> Result<(), Failure> {
        let bytes = self.partial.bytes();
        match self.total_bytes() {
            Some(total) if total != bytes => Err(self.broke_off("the body ends here")),
            Some(_) => Ok(()),
            None => self.partial.set_total(bytes).map_err(|e| self.write(e)),
        }
    }

    fn total_bytes(&self) -> Option<u64> {
        self.partial.origin()?.total_bytes
    }

    fn check_stopped(&self) -> Result<(), Failure> {
        if self.order.recipient.is_stopped() { Err(self.stopped()) } else { Ok(()) }
    }

    fn stopped(&self) -> Failure {
        Failure::last(FetchError::Stopped { url: self.url.clone() })
    }

    fn broke_off(&self, reason: &str) -> Failure {
        let of = self.total_bytes().map(|bytes| format!(" of {bytes}")).unwrap_or_default();
        let reason = format!("broke off after {}{of} bytes: {reason}", self.partial.bytes());
        Failure::passing(self.unavailable(reason), None)
    }

    fn unavailable(&self, reason: String) -> FetchError {
        FetchError::Unavailable { url: self.url.clone(), reason }
    }

    fn too_large(&self) -> Failure {
        Failure::last(FetchError::TooLarge { url: self.url.clone(), limit: self.order.limit })
    }

    fn write(&self, source: std::io::Error) -> Failure {
        Failure::last(FetchError::Write { url: self.url.clone(), source })
    }
}

fn without_credentials(url: &Url) -> String {
    let mut url = url.clone();
    // Cannot fail: an http(s) URL has a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// Whether a validator is strong: the same tag, the same bytes.
fn is_strong(tag: &str) -> bool {
    let inner = tag.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let is_tag_byte = |byte: u8| byte == 0x21 || (0x23..=0x7e).contains(&byte);
    tag.len() <= MAX_ETAG_BYTES && inner.is_some_and(|inner| inner.bytes().all(is_tag_byte))
}

/// `Content-Range: bytes first-last/total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentRange {
    first: u64,
    last: u64,
    total: u64,
}

impl ContentRange {
    /// Parses a range whose total is known; others are no help.
    fn parse(header: &str) -> Option<Self> {
        let (unit, range) = header.trim().split_once(' ')?;
        let (range, total) = range.split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let number = |text: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            is_plain.then(|| text.parse().ok())?
        };
        let range =
            ContentRange { first: number(first)?, last: number(last)?, total: number(total)? };
        (unit.eq_ignore_ascii_case("bytes") && range.first <= range.last).then_some(range)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn strong_tags_are_told_from_others() {
        for (tag, expected) in [
            ("\"abc\"", true),
            ("\"\"", true),
            ("\"!#~\"", true),
            ("W/\"abc\"", false),
            ("w/\"abc\"", false),
            ("abc", false),
            ("\"", false),
            ("", false),
            ("\"a\"b\"", false),
            ("\"a b\"", false),
            ("\"a\nb\"", false),
        ] {
            assert_eq!(is_strong(tag), expected, "{tag:?}");
        }
        let long = |length: usize| format!("\"{}\"", "x".repeat(length - 2));
        assert!(is_strong(&long(MAX_ETAG_BYTES)) && !is_strong(&long(MAX_ETAG_BYTES + 1)));
    }

    #[test]
    fn ranges_without_a_total_are_no_help() {
        assert_eq!(
            ContentRange::parse("bytes 5-9/10"),
            Some(ContentRange { first: 5, last: 9, total: 10 })
        );
        for header in
            ["bytes 5-9/*", "bytes */10", "bytes 9-5/10", "bytes 5-9", "bytes=5-9/10", "5-9/10", ""]
        {
            assert_eq!(ContentRange::parse(header), None, "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn ranges_are_read_as_they_are_written(first: u64, more: u64, total: u64) {
            let last = first.saturating_add(more);
            let range = ContentRange { first, last, total };
            prop_assert_eq!(ContentRange::parse(&format!("bytes {first}-{last}/{total}")), Some(range));
        }

        #[test]
        fn no_header_makes_it_panic(text: String, near in "[bB]ytes [0-9*+-]{0,25}/[0-9*]{0,25}") {
            for header in [text, near] {
                let _ = ContentRange::parse(&header);
                let _ = is_strong(&header);
            }
        }
    }
}
