//! A web server for tests: the files below one folder, over loopback, with faults on request.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// What goes wrong with a path; everything else is served as it is.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Answers with this status and these header lines (`Retry-After: 0`), without a body.
    Status(u16, &'static [&'static str]),
    /// Redirects to this address.
    Redirect(String),
    /// Announces the whole file and hangs up after this many bytes.
    BreakOff(usize),
    /// Announces the whole file and falls silent after this many bytes, without hanging up.
    Stall(usize),
    /// Reads the request and never answers, without hanging up.
    Silence,
    /// Flips the lowest bit of the byte at this offset.
    Flip(usize),
    /// Serves these bytes in place of the file's.
    Replace(Vec<u8>),
    /// Serves these bytes without saying how many there are, ending with the connection.
    Endless(Vec<u8>),
    /// Serves the file in chunks, without saying how long it is.
    Chunked,
    /// The same, hanging up after this many bytes of the body, in the middle of a chunk.
    ChunkedBreakOff(usize),
    /// Serves these bytes in place of the file's, in chunks or not, hanging up after so many.
    Version { content: Vec<u8>, is_chunked: bool, sent: usize },
    /// Answers a request for a range with this `Content-Range`, and the bytes asked for.
    ContentRange(String),
    /// Answers with this `ETag` in place of the right one.
    Tag(&'static str),
}

/// How the server names the version of a file it serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Not at all, and requests for a range are answered with the whole file.
    None,
    /// By a strong `ETag` that changes with the content. Ranges are served.
    Strong,
    /// By a strong one, and ranges are served whatever version they were asked for of, as they must
    /// not be.
    Careless,
    /// By a weak one. Ranges are served, even to those who ask for one by it, as they must not.
    Weak,
}

/// A request as it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// What was asked for: here, a path without a slash before it.
    pub path: String,
    headers: Vec<(String, String)>,
}

impl Request {
    /// Reads the head of a request; `None` if the other side hung up before its end.
    pub fn read(stream: impl Read) -> io::Result<Option<Self>> {
        let mut lines = BufReader::new(stream).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let mut words = first.split(' ');
        let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
        let mut headers = Vec::new();
        loop {
            match lines.next().transpose()? {
                None => return Ok(None),
                Some(line) if line.is_empty() => break,
                Some(line) => {
                    let (name, value) = line.split_once(':').unwrap_or((&line, ""));
                    headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                }
            }
        }
        Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), headers }))
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A server on a free port of 127.0.0.1; it stops when it is dropped.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    root: PathBuf,
    /// The faults still to come on a path; the last one stays.
    faults: Mutex<HashMap<String, Vec<Fault>>>,
    requests: Mutex<Vec<Request>>,
    tags: Mutex<Tags>,
    /// After how many bytes of a body every connection is dropped.
    drops_after: Mutex<Option<usize>>,
    /// Connections that are kept open without a word.
    silent: Mutex<Vec<TcpStream>>,
    is_stopping: AtomicBool,
}

impl Server {
    /// Serves the files below `root`.
    pub fn start(root: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            root: root.to_owned(),
            faults: Mutex::default(),
            requests: Mutex::default(),
            tags: Mutex::new(Tags::None),
            drops_after: Mutex::default(),
            silent: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        });
        let for_acceptor = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || accept(&listener, &for_acceptor));
        Server { address, shared, acceptor: Some(acceptor) }
    }

    /// The address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes every request for `path` (without a slash before it) go wrong.
    pub fn fault(&self, path: &str, fault: Fault) {
        self.faults(path, vec![fault]);
    }

    /// Makes requests for `path` go wrong in turn; the last fault stays.
    pub fn faults(&self, path: &str, faults: Vec<Fault>) {
        self.shared.faults.lock().unwrap().insert(path.to_owned(), faults);
    }

    /// Serves everything as it is again.
    pub fn heal(&self) {
        self.shared.faults.lock().unwrap().clear();
    }

    /// The address as others connect to it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Names versions like this from now on, and serves ranges accordingly.
    pub fn tag(&self, tags: Tags) {
        *self.shared.tags.lock().unwrap() = tags;
    }

    /// Drops every connection after this many bytes of a body.
    pub fn drop_after(&self, byte_count: Option<usize>) {
        *self.shared.drops_after.lock().unwrap() = byte_count;
    }

    /// The paths asked for since the last call, in order.
    pub fn take_requests(&self) -> Vec<String> {
        self.take_heads().into_iter().map(|request| request.path).collect()
    }

    /// How many requests there were since they were last taken.
    pub fn requests(&self) -> usize {
        self.shared.requests.lock().unwrap().len()
    }

    /// The requests since the last call of this or of [`Server::take_requests`], in order.
    pub fn take_heads(&self) -> Vec<Request> {
        std::mem::take(&mut *self.shared.requests.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor, which waits for a connection.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // A client that hangs up early is part of some tests.
        std::thread::spawn(move || shared.serve(&stream).ok());
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let Some(mut request) = Request::read(stream)? else { return Ok(()) };
        request.path = request.path.trim_start_matches('/').replace("%40", "@");
        self.requests.lock().unwrap().push(request.clone());
        let fault = self.next_fault(&request.path);
        if matches!(fault, Some(Fault::Silence)) {
            return self.fall_silent(stream);
        }
        let body = self.read(&request.path);
        let answer = Answer {
            fault: fault.clone(),
            tags: *self.tags.lock().unwrap(),
            drops_after: *self.drops_after.lock().unwrap(),
        };
        answer.send(stream, &request, body)?;
        if matches!(fault, Some(Fault::Stall(_))) { self.fall_silent(stream) } else { Ok(()) }
    }

    /// Keeps the connection until the server ends.
    fn fall_silent(&self, stream: &TcpStream) -> io::Result<()> {
        self.silent.lock().unwrap().push(stream.try_clone()?);
        Ok(())
    }

    fn next_fault(&self, path: &str) -> Option<Fault> {
        let mut faults = self.faults.lock().unwrap();
        let left = faults.get_mut(path)?;
        if left.len() > 1 { Some(left.remove(0)) } else { left.first().cloned() }
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let is_plain = path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
        if is_plain { fs_err::read(self.root.join(path)).ok() } else { None }
    }
}

/// How one request is answered.
struct Answer {
    fault: Option<Fault>,
    tags: Tags,
    drops_after: Option<usize>,
}

impl Answer {
    fn send(
        &self,
        mut stream: &TcpStream,
        request: &Request,
        body: Option<Vec<u8>>,
    ) -> io::Result<()> {
        let mut body = match (body, &self.fault) {
            (_, Some(Fault::Status(status, headers))) => return head(stream, *status, headers),
            (_, Some(Fault::Redirect(target))) => {
                return head(stream, 302, &[&format!("Location: {target}")]);
            }
            (_, Some(Fault::Endless(bytes))) => {
                stream.write_all(b"HTTP/1.1 200 X\r\nConnection: close\r\n\r\n")?;
                return stream.write_all(bytes);
            }
            (_, Some(Fault::Replace(bytes) | Fault::Version { content: bytes, .. })) => {
                bytes.clone()
            }
            (Some(body), _) => body,
            (None, _) => return head(stream, 404, &[]),
        };
        if let Some(Fault::Flip(at)) = self.fault {
            body[at] ^= 1;
        }
        let tag = self.tag_of(&body);
        let mut headers = tag.iter().map(|tag| format!("ETag: {tag}\r\n")).collect::<String>();
        let first = self.first_asked(request, tag.as_deref()).filter(|&at| at < body.len());
        if let Some(first) = first {
            let total = body.len();
            body.drain(..first);
            let range = match &self.fault {
                Some(Fault::ContentRange(range)) => range.clone(),
                _ => format!("bytes {first}-{}/{total}", total - 1),
            };
            headers = headers + "Content-Range: " + &range + "\r\n";
        }
        let status = if first.is_some() { 206 } else { 200 };
        let is_chunked = matches!(
            self.fault,
            Some(
                Fault::Chunked
                    | Fault::ChunkedBreakOff(_)
                    | Fault::Version { is_chunked: true, .. }
            )
        );
        headers += &if is_chunked {
            "Transfer-Encoding: chunked\r\n".to_owned()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let bytes = if is_chunked { chunked(&body) } else { body };
        let sent = self.cut().map_or(bytes.len(), |after| after.min(bytes.len()));
        write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}\r\n")?;
        stream.write_all(&bytes[..sent])
    }

    fn tag_of(&self, body: &[u8]) -> Option<String> {
        let mut hasher = std::hash::DefaultHasher::new();
        body.hash(&mut hasher);
        match (&self.fault, self.tags) {
            (Some(Fault::Tag(tag)), _) => Some((*tag).to_owned()),
            (_, Tags::None) => None,
            (_, Tags::Strong | Tags::Careless) => Some(format!("\"{:x}\"", hasher.finish())),
            (_, Tags::Weak) => Some(format!("W/\"{:x}\"", hasher.finish())),
        }
    }

    /// Where the range begins that is asked for and may be given.
    fn first_asked(&self, request: &Request, tag: Option<&str>) -> Option<usize> {
        let range = request.header("range")?.strip_prefix("bytes=")?;
        let if_range = request.header("if-range");
        let may_be_given = self.tags != Tags::None
            && (if_range.is_none() || if_range == tag || self.tags == Tags::Careless);
        let lies = matches!(self.fault, Some(Fault::ContentRange(_) | Fault::Tag(_)));
        if may_be_given || lies { range.strip_suffix('-')?.parse().ok() } else { None }
    }

    /// After how many bytes of the body, as it is sent, to stop.
    fn cut(&self) -> Option<usize> {
        let by_fault = match self.fault {
            Some(
                Fault::BreakOff(after)
                | Fault::Stall(after)
                | Fault::ChunkedBreakOff(after)
                | Fault::Version { sent: after, .. },
            ) => Some(after),
            _ => None,
        };
        by_fault.into_iter().chain(self.drops_after).min()
    }
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(1000) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        bytes.extend(chunk);
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

fn head(mut stream: &TcpStream, status: u16, headers: &[&str]) -> io::Result<()> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}Content-Length: 0\r\n\r\n")
}
