//! A web server for tests: the files below one folder, over loopback, with faults on request.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
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
    /// Flips the lowest bit of the byte at this offset.
    Flip(usize),
    /// Serves these bytes in place of the file's.
    Replace(Vec<u8>),
    /// Serves these bytes without saying how many there are, ending with the connection.
    Endless(Vec<u8>),
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
    requests: Mutex<Vec<String>>,
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

    /// The paths asked for since the last call, in order.
    pub fn take_requests(&self) -> Vec<String> {
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
        let mut lines = BufReader::new(stream).lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let Some(path) = request.split(' ').nth(1).map(|path| path.trim_start_matches('/')) else {
            return Ok(());
        };
        let path = path.replace("%40", "@");
        self.requests.lock().unwrap().push(path.clone());
        let fault = self.next_fault(&path);
        let body = self.read(&path);
        answer(stream, fault, body)
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

fn answer(mut stream: &TcpStream, fault: Option<Fault>, body: Option<Vec<u8>>) -> io::Result<()> {
    let mut body = match (body, &fault) {
        (_, Some(Fault::Status(status, headers))) => return head(stream, *status, headers),
        (_, Some(Fault::Redirect(target))) => {
            return head(stream, 302, &[&format!("Location: {target}")]);
        }
        (_, Some(Fault::Endless(bytes))) => {
            stream.write_all(b"HTTP/1.1 200 X\r\nConnection: close\r\n\r\n")?;
            return stream.write_all(bytes);
        }
        (_, Some(Fault::Replace(bytes))) => bytes.clone(),
        (Some(body), _) => body,
        (None, _) => return head(stream, 404, &[]),
    };
    let length = body.len();
    match fault {
        Some(Fault::BreakOff(after)) => body.truncate(after),
        Some(Fault::Flip(at)) => body[at] ^= 1,
        _ => {}
    }
    write!(stream, "HTTP/1.1 200 X\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n")?;
    stream.write_all(&body)
}

fn head(mut stream: &TcpStream, status: u16, headers: &[&str]) -> io::Result<()> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    write!(stream, "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}Content-Length: 0\r\n\r\n")
}
