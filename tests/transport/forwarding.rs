//! Servers that stand between a client and the server of files: one that speaks TLS, and one of the
//! kind that `HTTP_PROXY` names.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::server::Request;

/// A listener on a free port of 127.0.0.1 that serves each connection in a thread of its own, until
/// it is dropped.
pub struct Listener {
    pub address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Listener {
    pub fn start(serve: impl Fn(TcpStream) -> io::Result<()> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let is_stopping = Arc::new(AtomicBool::new(false));
        let (is_over, serve) = (Arc::clone(&is_stopping), Arc::new(serve));
        let acceptor = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let serve = Arc::clone(&serve);
                // A client that turns away is part of some tests.
                std::thread::spawn(move || serve(stream).ok());
            }
        });
        Listener { address, is_stopping, acceptor: Some(acceptor) }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// Speaks TLS and passes every request on to a server that does not.
pub struct TlsServer {
    listener: Listener,
}

impl TlsServer {
    pub fn start(behind: SocketAddr, config: Arc<ServerConfig>) -> Self {
        let listener = Listener::start(move |stream| {
            let connection =
                ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            let mut stream = StreamOwned::new(connection, stream);
            let answer = ask(behind, &read_head(&mut stream)?)?;
            stream.write_all(&answer)?;
            stream.conn.send_close_notify();
            stream.flush()
        });
        TlsServer { listener }
    }

    pub fn port(&self) -> u16 {
        self.listener.address.port()
    }

    pub fn url(&self) -> String {
        format!("https://localhost:{}", self.port())
    }
}

/// Passes requests on to the one server behind it, whatever host they are for, and notes them.
pub struct ForwardProxy {
    listener: Listener,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl ForwardProxy {
    /// Wants the credentials `user:pass` where `is_guarded`.
    pub fn start(behind: SocketAddr, is_guarded: bool) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let listener = Listener::start(move |stream| {
            let head = read_head(&stream)?;
            let Some(request) = Request::read(head.as_slice())? else { return Ok(()) };
            seen.lock().unwrap().push(request.clone());
            let credentials = request.header("proxy-authorization");
            if is_guarded && credentials != Some("Basic dXNlcjpwYXNz") {
                return (&stream).write_all(
                    b"HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                );
            }
            if request.method == "CONNECT" {
                return tunnel(&stream, behind);
            }
            (&stream).write_all(&ask(behind, &in_short(&head))?)
        });
        ForwardProxy { listener, requests }
    }

    /// The address, with credentials as the variables have them.
    pub fn url(&self, credentials: &str) -> String {
        format!("http://{credentials}{}", self.listener.address)
    }

    /// The requests since the last call, as `METHOD address`.
    pub fn take_requests(&self) -> Vec<String> {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        requests.iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }
}

fn read_head(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    Ok(head)
}

fn ask(behind: SocketAddr, head: &[u8]) -> io::Result<Vec<u8>> {
    let mut server = TcpStream::connect(behind)?;
    server.write_all(head)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    Ok(answer)
}

/// `GET http://host/path` as the host itself is asked: `GET /path`.
fn in_short(head: &[u8]) -> Vec<u8> {
    let head = String::from_utf8_lossy(head);
    let (method, rest) = head.split_once(" http://").unwrap();
    let path = &rest[rest.find('/').unwrap()..];
    format!("{method} {path}").into_bytes()
}

fn tunnel(client: &TcpStream, behind: SocketAddr) -> io::Result<()> {
    let server = TcpStream::connect(behind)?;
    { client }.write_all(b"HTTP/1.1 200 X\r\n\r\n")?;
    let pass = |mut from: &TcpStream, mut to: &TcpStream| {
        let _ = io::copy(&mut from, &mut to);
        to.shutdown(Shutdown::Write)
    };
    std::thread::scope(|scope| {
        scope.spawn(|| pass(client, &server).ok());
        pass(&server, client)
    })
}
