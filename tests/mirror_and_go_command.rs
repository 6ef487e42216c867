//! The judge of a mirror is the real go command: it has to accept a mirror of itself, and to refuse
//! it after one flipped byte.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

#[path = "common/go.rs"]
mod go;
#[path = "common/server.rs"]
mod server;

use std::path::Path;
use std::process::Command;

use gosurvey::mirror::{self, MirrorOptions, MirrorSummary};
use gosurvey::module::{ToolchainModule, TreeDigest};
use gosurvey::proxy::{ChecksumDatabase, GoproxyList, Proxies, SumdbSetting};
use gosurvey::store::{Evidence, Store, Toolchain};
use server::{Fault, Server};

/// A mirror of the newest real toolchain at hand.
struct World {
    folder: tempfile::TempDir,
    toolchain: Toolchain,
    module: ToolchainModule,
    mirror: MirrorSummary,
}

impl World {
    /// Makes the mirror, or returns `None` if Go is waived.
    fn new() -> Option<Self> {
        let (_, newest) = go::goroots()?.pop()?;
        let toolchain = Toolchain::from_goroot(&newest).unwrap();
        let module = ToolchainModule {
            release: toolchain.release.clone(),
            platform: toolchain.platform.clone(),
        };
        // Packing takes seconds: the mirror of the other tests is used, which is kept between runs.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mirror");
        let options = MirrorOptions::default();
        let mirror = mirror::create(&place, &[newest], &options, &mut |_| ()).unwrap();
        Some(World { folder: tempfile::tempdir().unwrap(), toolchain, module, mirror })
    }

    /// Runs `go mod download -json` for the toolchain with an empty module cache.
    fn go_mod_download(&self, goproxy: &str, gosumdb: &str) -> Result<serde_json::Value, String> {
        let home = tempfile::tempdir_in(self.folder.path()).unwrap();
        let output = Command::new(self.toolchain.go())
            .args(["mod", "download", "-json", &self.module.to_string()])
            .current_dir(home.path())
            .env_clear()
            .env("HOME", home.path())
            .env("GOMODCACHE", home.path().join("modules"))
            .env("GOFLAGS", "-modcacherw")
            .env("GOENV", "off")
            .env("GOTOOLCHAIN", "local")
            .env("GOPROXY", goproxy)
            .env("GOSUMDB", gosumdb)
            .output()
            .unwrap();
        let told = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        if !output.status.success() {
            return Err(told);
        }
        Ok(serde_json::from_slice(&output.stdout).expect(&told))
    }

    fn install(&self, goproxy: &str) -> Toolchain {
        let store = Store::open(&self.folder.path().join("store")).unwrap();
        let proxies = Proxies::new(&GoproxyList::parse(goproxy).unwrap());
        let setting = SumdbSetting::parse(&self.mirror.gosumdb()).unwrap();
        let database = ChecksumDatabase::new(&proxies, &setting);
        store.install(&self.module, &proxies, &database, &()).unwrap()
    }
}

#[test]
fn the_go_command_accepts_a_mirror_and_refuses_it_after_one_flipped_byte() {
    let Some(world) = World::new() else { return };
    let server = Server::start(&world.mirror.www);
    let (url, key) = (server.url(), world.mirror.gosumdb());
    let with_address = format!("{key} {url}/sumdb/{}", world.mirror.key.name());
    let lookup = format!("sumdb/{}/lookup/{}", world.mirror.key.name(), world.module);

    let mut sums = Vec::new();
    for gosumdb in [&with_address, &key] {
        server.take_requests();
        let told = world.go_mod_download(&url, gosumdb).unwrap();
        let sum = told["Sum"].as_str().unwrap();
        sums.push(TreeDigest::from_h1(sum).unwrap());
        // It has asked the database; otherwise its acceptance would mean nothing.
        assert!(server.take_requests().contains(&lookup), "{gosumdb}");
    }

    let zip = world.module.zip_path();
    let zip_bytes = fs_err::metadata(world.mirror.www.join(&zip)).unwrap().len() as usize;
    for (path, at) in [(zip.as_str(), zip_bytes / 2), (lookup.as_str(), 120)] {
        server.fault(path, Fault::Flip(at));
        let told = world.go_mod_download(&url, &key).unwrap_err();
        assert!(told.contains(&world.module.version()), "{told}");
        server.heal();
    }

    // What we install has the digest that it found, and works.
    let installed = world.install(&url);
    let Evidence::Proven(proven) = &installed.evidence else { panic!() };
    assert_eq!(sums, [proven.h1, proven.h1]);
    check_it_works(&installed);
}

fn check_it_works(installed: &Toolchain) {
    let release = installed.release.to_string();
    assert!(go(installed, &["version"]).contains(&release));
    let goroot = go(installed, &["env", "GOROOT"]);
    assert_eq!(Path::new(goroot.trim()), installed.root);
    // The standard library is complete: everything it imports is there, in its own module.
    let packages = go(installed, &["list", "-f", "{{with .Error}}{{.}}{{end}}", "std", "cmd"]);
    assert_eq!(packages.trim(), "");
}

fn go(toolchain: &Toolchain, arguments: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(toolchain.go())
        .args(arguments)
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .env("GOENV", "off")
        .env("GOTOOLCHAIN", "local")
        .env("GOROOT", &toolchain.root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
