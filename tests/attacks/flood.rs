//! A server that never stops sending.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

/// Serves one request with zeros until the client hangs up, announcing `length` bytes or nothing.
/// Returns the address.
pub fn serve(length: Option<u64>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = BufReader::new(&stream).lines();
        request.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
        let length = length.map(|bytes| format!("Content-Length: {bytes}\r\n"));
        let head =
            format!("HTTP/1.1 200 X\r\n{}Connection: close\r\n\r\n", length.unwrap_or_default());
        let piece = vec![0; 1 << 20];
        let mut going = stream.write_all(head.as_bytes()).is_ok();
        while going {
            going = stream.write_all(&piece).is_ok();
        }
    });
    format!("http://{address}")
}
