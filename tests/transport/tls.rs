//! Who a server is, as the program itself finds out, and what it says to its user.

use crate::certificates::Authority;
use std::io::Write;

use crate::forwarding::{Listener, TlsServer};

use super::*;

const NOW: (i32, i32) = (2020, 2090);

/// A server that speaks TLS in front of one of files.
struct Secured {
    folder: tempfile::TempDir,
    files: Server,
    front: TlsServer,
    authority: Authority,
}

impl Secured {
    fn new(host: &str, years: (i32, i32)) -> Self {
        let folder = list_folder();
        let files = Server::start(folder.path());
        let authority = Authority::new();
        let front = TlsServer::start(files.address(), authority.vouch_for(host, years));
        Secured { folder, files, front, authority }
    }

    /// Asks for the list of releases at `goproxy`, with the authority trusted.
    fn releases_at(&self, goproxy: &str) -> Said {
        let file = self.authority.write_to(self.folder.path());
        releases(goproxy, &[("SSL_CERT_FILE", &file)])
    }

    fn releases(&self) -> Said {
        self.releases_at(&self.front.url())
    }
}

#[test]
fn an_authority_of_ones_own_is_trusted_by_its_file_alone() {
    let server = Secured::new("localhost", NOW);
    server.releases().assert_success();
    let nobody = Authority::new().write_to(server.folder.path());
    let url = format!("{}/golang.org/toolchain/@v/list: the certificate", server.front.url());
    let parts = [&url, "an authority that this machine does not trust", "SSL_CERT_FILE"];
    releases(&server.front.url(), &[("SSL_CERT_FILE", &nobody)]).assert_failure(&parts);
    assert_eq!(server.files.take_requests().len(), 1, "the other is asked nothing");
}

#[test]
fn a_certificate_for_another_host_is_refused() {
    let server = Secured::new("other.example", NOW);
    server.releases().assert_failure(&[
        "the certificate is for another host: it names ",
        "other.example",
        ", not localhost",
    ]);
    assert_eq!(server.files.take_requests(), [""; 0]);
}

#[test]
fn a_certificate_counts_in_its_time_only() {
    let expired = Secured::new("localhost", (2001, 2002));
    expired.releases().assert_failure(&["the certificate has expired, or the clock"]);
    let early = Secured::new("localhost", (2089, 2090));
    early.releases().assert_failure(&["the certificate is not valid yet, or the clock"]);
}

#[test]
fn no_variable_makes_a_certificate_good() {
    let server = Secured::new("localhost", NOW);
    let list = format!("{}/golang.org/toolchain", server.front.url());
    for (name, value) in
        [("GOINSECURE", "*"), ("GOFLAGS", "-insecure"), ("GONOSUMDB", "*"), ("GOPRIVATE", &list)]
    {
        let nobody = Authority::new().write_to(server.folder.path());
        let variables = [("SSL_CERT_FILE", nobody.as_str()), (name, value)];
        releases(&server.front.url(), &variables).assert_failure(&["authority"]);
    }
}

#[test]
fn a_certificate_that_is_refused_is_not_asked_for_again() {
    let server = Secured::new("other.example", NOW);
    let said = server.releases();
    assert!(!said.error.contains("attempt 2"), "{}", said.error);
}

#[test]
fn https_leads_to_https_alone() {
    let server = Secured::new("localhost", NOW);
    let list = "golang.org/toolchain/@v/list";
    let plain = format!("{}/{list}", server.files.url());
    server.files.fault("to-http/golang.org/toolchain/@v/list", Fault::Redirect(plain.clone()));
    server
        .files
        .fault("to-https/golang.org/toolchain/@v/list", Fault::Redirect(format!("/{list}")));
    server.releases_at(&format!("{}/to-https", server.front.url())).assert_success();
    server.files.take_requests();
    let said = server.releases_at(&format!("{}/to-http", server.front.url()));
    said.assert_failure(&[&format!("redirect from https to {plain}, which is not followed")]);
    assert_eq!(server.files.take_requests(), ["to-http/golang.org/toolchain/@v/list"]);
}

#[test]
fn http_may_lead_to_https() {
    let server = Secured::new("localhost", NOW);
    let list = "golang.org/toolchain/@v/list";
    let secure = Fault::Redirect(format!("{}/{list}", server.front.url()));
    server.files.fault("m/golang.org/toolchain/@v/list", secure);
    server.releases_at(&format!("{}/m", server.files.url())).assert_success();
}

#[test]
fn whoever_does_not_speak_tls_is_told_from_who_does() {
    let plain = Listener::start(|mut stream| {
        let mut hello = [0; 16];
        stream.read_exact(&mut hello)?;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    });
    let url = format!("https://{}", plain.address);
    let server = Secured::new("localhost", NOW);
    server.releases_at(&url).assert_failure(&["does not speak TLS; is it an http address?"]);
}

#[test]
fn without_any_authority_http_still_works_and_https_says_why_not() {
    let server = Secured::new("localhost", NOW);
    let variables = [("SSL_CERT_FILE", "/nonexistent")];
    releases(&server.files.url(), &variables).assert_success();
    let parts = ["no https server can be trusted", "SSL_CERT_FILE", &server.front.url()];
    releases(&server.front.url(), &variables).assert_failure(&parts);
}

#[test]
fn credentials_go_to_the_server_they_are_for() {
    let server = Secured::new("localhost", NOW);
    let goproxy = server.front.url().replace("https://", "https://user:secret@");
    server.releases_at(&goproxy).assert_success();
    let heads = server.files.take_heads();
    assert_eq!(heads[0].header("authorization"), Some("Basic dXNlcjpzZWNyZXQ="));

    server.files.fault("golang.org/toolchain/@v/list", Fault::Status(401, &[]));
    let said = server.releases_at(&goproxy);
    said.assert_failure(&["refused with status 401 (are the credentials in GOPROXY right?)"]);
    assert!(!said.error.contains("secret"), "{}", said.error);
}
