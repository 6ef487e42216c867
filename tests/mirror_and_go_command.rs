//! The judge of a mirror is the real go command: it has to accept a mirror of itself, and to refuse
//! it after one flipped byte. And the same real toolchain, packed as a release archive, has to be
//! what the mirror has on record.

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
use gosurvey::store::{Evidence, Goroot, Store, Toolchain};
use server::{Fault, Server};

/// A mirror of the newest real toolchain at hand.
struct World {
    folder: tempfile::TempDir,
    goroot: Goroot,
    module: ToolchainModule,
    mirror: MirrorSummary,
}

impl World {
    /// Makes the mirror, or returns `None` if Go is waived.
    fn new() -> Option<Self> {
        let (_, newest) = go::goroots()?.pop()?;
        let goroot = Goroot::read(&newest).unwrap();
        let module = goroot.module();
        // Packing takes seconds: the mirror of the other tests is used, which is kept between runs.
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mirror");
        let options = MirrorOptions::default();
        let mirror = mirror::create(&place, &[newest], &options, &mut |_| ()).unwrap();
        Some(World { folder: tempfile::tempdir().unwrap(), goroot, module, mirror })
    }

    /// Runs `go mod download -json` for the toolchain with an empty module cache.
    fn go_mod_download(&self, goproxy: &str, gosumdb: &str) -> Result<serde_json::Value, String> {
        let home = tempfile::tempdir_in(self.folder.path()).unwrap();
        let output = Command::new(self.goroot.root.join("bin/go"))
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
        self.with_database(goproxy, |store, proxies, database| {
            store.install(&self.module, proxies, database, &()).unwrap()
        })
    }

    fn take_local(&self, path: &Path) -> Toolchain {
        self.with_database(&self.mirror.goproxy_file(), |store, _, database| {
            store.take_local(path, database, &|| false).unwrap()
        })
    }

    fn with_database(
        &self,
        goproxy: &str,
        get: impl FnOnce(&Store, &Proxies, &ChecksumDatabase<'_>) -> Toolchain,
    ) -> Toolchain {
        let store = Store::open(&self.folder.path().join("store")).unwrap();
        let proxies = Proxies::new(&GoproxyList::parse(goproxy).unwrap());
        let setting = SumdbSetting::parse(&self.mirror.gosumdb()).unwrap();
        get(&store, &proxies, &ChecksumDatabase::new(&proxies, &setting))
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

#[test]
fn a_release_archive_and_a_goroot_are_proven_by_a_mirror_of_the_same_files() {
    let Some(world) = World::new() else { return };
    let archive = world.folder.path().join("go.tar.gz");
    pack_like_a_release(&world.goroot.root, &archive);
    let from_archive = world.take_local(&archive);
    let Evidence::Proven(proven) = &from_archive.evidence else { panic!() };
    let archive = fs_err::canonicalize(archive).unwrap();
    assert_eq!(proven.source, archive.display().to_string());
    assert_ne!(from_archive.root, world.goroot.root);
    check_it_works(&from_archive);

    let in_place = world.take_local(&world.goroot.root);
    assert_eq!(in_place.root, world.goroot.root);
    let Evidence::Proven(here) = &in_place.evidence else { panic!("{:?}", in_place.evidence) };
    assert_eq!(here.h1, proven.h1);
}

/// Packs a GOROOT as Go's authors do: folders and files by name, every `go.mod` under that name.
fn pack_like_a_release(goroot: &Path, archive: &Path) {
    fn add(folder: &Path, name: &Path, tar: &mut tar::Builder<impl std::io::Write>) {
        tar.append_dir(name, folder).unwrap();
        let mut paths: Vec<_> =
            fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = name.join(path.file_name().unwrap());
            match path.is_dir() {
                true => add(&path, &name, tar),
                false if path.ends_with("_go.mod") && path.with_file_name("go.mod").exists() => {}
                false => tar.append_path_with_name(&path, &name).unwrap(),
            }
        }
    }
    let file = std::io::BufWriter::new(fs_err::File::create(archive).unwrap());
    let gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    add(goroot, Path::new("go"), &mut tar);
    tar.into_inner().unwrap().finish().unwrap();
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
