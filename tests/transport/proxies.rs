//! `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, as the program itself obeys them.
//!
//! The hosts named `*.test` exist nowhere: whoever reaches them does so through the proxy.

use crate::certificates::Authority;
use crate::forwarding::{ForwardProxy, TlsServer};

use super::*;

const LIST: &str = "golang.org/toolchain/@v/list";

/// A server of a list of releases, and a proxy before it that wants `user:pass`.
struct Behind {
    _folder: tempfile::TempDir,
    files: Server,
    proxy: ForwardProxy,
}

impl Behind {
    fn new() -> Self {
        let folder = list_folder();
        let files = Server::start(folder.path());
        let proxy = ForwardProxy::start(files.address(), true);
        Behind { _folder: folder, files, proxy }
    }

    fn proxy_url(&self) -> String {
        self.proxy.url("user:pass@")
    }
}

#[test]
fn http_goes_through_the_proxy_of_its_variable() {
    let world = Behind::new();
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        releases("http://modules.test/go", &[(name, &world.proxy_url())])
            .assert_failure(&["not found"]);
        let said = releases("http://modules.test", &[(name, &world.proxy_url())]);
        said.assert_success();
        let asked = ["GET http://modules.test/go", "GET http://modules.test"];
        let asked = asked.map(|base| format!("{base}/{LIST}"));
        assert_eq!(world.proxy.take_requests(), asked, "{name}");
    }
    let heads = world.files.take_heads();
    assert!(heads.iter().all(|head| head.header("authorization").is_none()));
}

#[test]
fn https_goes_through_a_tunnel_and_is_verified_at_its_end() {
    let folder = list_folder();
    let files = Server::start(folder.path());
    let authority = Authority::new();
    let file = authority.write_to(folder.path());
    let config = authority.vouch_for("modules.test", (2020, 2090));
    let front = TlsServer::start(files.address(), config);
    let proxy = ForwardProxy::start(([127, 0, 0, 1], front.port()).into(), true);
    for name in ["HTTPS_PROXY", "https_proxy"] {
        let variables = [("SSL_CERT_FILE", file.as_str()), (name, &proxy.url("user:pass@"))];
        releases("https://modules.test", &variables).assert_success();
        assert_eq!(proxy.take_requests(), ["CONNECT modules.test:443"], "{name}");
        let said = releases("https://others.test", &variables);
        said.assert_failure(&["certificate is for another host"]);
        proxy.take_requests();
    }
}

#[test]
fn a_proxy_that_wants_other_credentials_is_told_from_a_server() {
    let world = Behind::new();
    for credentials in ["", "user:wrong@"] {
        let url = world.proxy.url(credentials);
        let said = releases("http://modules.test", &[("HTTP_PROXY", &url)]);
        said.assert_failure(&["refused with status 407", "HTTP_PROXY"]);
        let said = releases("https://modules.test", &[("HTTPS_PROXY", &url)]);
        said.assert_failure(&["proxy auth", "https://modules.test"]);
        assert!(!said.error.contains("wrong"), "{}", said.error);
    }
}

#[test]
fn this_machine_is_never_reached_through_a_proxy() {
    let world = Behind::new();
    let proxy = world.proxy_url();
    let variables =
        [("HTTP_PROXY", proxy.as_str()), ("HTTPS_PROXY", &proxy), ("ALL_PROXY", &proxy)];
    let port = world.files.address().port();
    for host in ["127.0.0.1", "localhost", "127.0.0.2"] {
        if host == "127.0.0.2" {
            // Nothing listens there: it is enough that the proxy is not asked.
            releases(&format!("http://{host}:{port}"), &variables).assert_failure(&["refused"]);
        } else {
            releases(&format!("http://{host}:{port}"), &variables).assert_success();
        }
    }
    let folder = list_folder();
    releases(&format!("file://{}", folder.path().display()), &variables).assert_success();
    assert_eq!(world.proxy.take_requests(), [""; 0]);
}

#[test]
fn no_proxy_names_hosts_that_are_reached_directly() {
    let world = Behind::new();
    let proxy = world.proxy_url();
    // An address that leads to this machine without being one of its loopback addresses.
    let goproxy = format!("http://0.0.0.0:{}", world.files.address().port());
    releases(&goproxy, &[("HTTP_PROXY", &proxy)]).assert_success();
    assert_eq!(world.proxy.take_requests().len(), 1);
    for (name, value) in [("NO_PROXY", "0.0.0.0"), ("no_proxy", "x.test, 0.0.0.0/8")] {
        releases(&goproxy, &[("HTTP_PROXY", &proxy), (name, value)]).assert_success();
        assert_eq!(world.proxy.take_requests(), [""; 0], "{name}={value}");
    }
    releases(&goproxy, &[("HTTP_PROXY", &proxy), ("NO_PROXY", "modules.test")]).assert_success();
    assert_eq!(world.proxy.take_requests().len(), 1);
}

#[test]
fn each_hop_of_a_redirect_goes_its_own_way() {
    let world = Behind::new();
    let proxy = world.proxy_url();
    let to = |path: &str, target: String| world.files.fault(path, Fault::Redirect(target));
    let here = world.files.url();
    // From outside to this machine, and from this machine to outside.
    to(&format!("a/{LIST}"), format!("{here}/{LIST}"));
    to(&format!("b/{LIST}"), format!("http://modules.test/{LIST}"));
    releases("http://modules.test/a", &[("HTTP_PROXY", &proxy)]).assert_success();
    assert_eq!(world.proxy.take_requests(), [format!("GET http://modules.test/a/{LIST}")]);
    releases(&format!("{here}/b"), &[("HTTP_PROXY", &proxy)]).assert_success();
    assert_eq!(world.proxy.take_requests(), [format!("GET http://modules.test/{LIST}")]);
}
