//! The honest world that every attack changes in one place: a proxy and a checksum database as one
//! folder to serve, and a store that has used them before.
//!
//! ```text
//! record   777        12,345             40,000        70,000
//!          KNOWN      WANTED                │             │
//!          installed  is asked for   head remembered   head served
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gosurvey::module::{GO_MOD_H1, LIST_PATH, PATH, ToolchainModule};
use gosurvey::platform::Platform;
use sha2::{Digest as _, Sha256};

use crate::log::{Log, answer, database_key, signed};
use crate::scene::Scene;
use crate::server::{Fault, Server};
use crate::zip::{Entry, Zip};

/// The toolchain that is installed before the attack.
pub const KNOWN: &str = "1.98.1";
/// The toolchain that is asked for.
pub const WANTED: &str = "1.99.0";

pub const KNOWN_ID: u64 = 777;
pub const WANTED_ID: u64 = 12_345;
/// Records that an honest database would not have taken; see [`hostile_records`].
pub const HOSTILE_IDS: [u64; 6] = [20_000, 20_001, 20_002, 20_003, 20_004, 20_005];
/// Records in the log when KNOWN was installed: the size of the remembered head.
pub const THEN: u64 = 40_000;
/// Records in the log now. Tiles of three levels, not all of them full: 256² = 65,536.
pub const NOW: u64 = 70_000;
/// Records in the log later, when the tile at the end of the lowest level is full.
pub const LATER: u64 = 70_400;

pub struct World {
    folder: tempfile::TempDir,
    pub log: Log,
}

impl World {
    /// The world, made once for all groups that run at the same time.
    pub fn shared() -> Arc<World> {
        static WORLD: Mutex<Weak<World>> = Mutex::new(Weak::new());
        let mut shared = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = shared.upgrade() {
            return world;
        }
        let world = Arc::new(World::make());
        *shared = Arc::downgrade(&world);
        world
    }

    fn make() -> World {
        let mut texts: Vec<String> = (0..LATER).map(filler).collect();
        texts[KNOWN_ID as usize] = record(KNOWN, &zip(KNOWN));
        texts[WANTED_ID as usize] = record(WANTED, &zip(WANTED));
        for (id, text) in HOSTILE_IDS.into_iter().zip(hostile_records()) {
            texts[id as usize] = text;
        }
        let world = World { folder: tempfile::tempdir().unwrap(), log: Log::new(texts) };
        world.write_proxy();
        world.write_database();
        world.use_once();
        world
    }

    /// What is served.
    pub fn www(&self) -> PathBuf {
        self.folder.path().join("www")
    }

    /// The store that has KNOWN and remembers the head of [`THEN`]; to be copied.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// The answer to a lookup with the head that the log had at `size` records.
    pub fn answer(&self, id: u64, size: u64) -> Vec<u8> {
        answer(id, self.log.text(id), &signed(&self.log.head(size)))
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.www().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    fn write_proxy(&self) {
        let mut list = String::new();
        for release in [KNOWN, WANTED] {
            let module = module(release);
            list += &format!("{}\n", module.version());
            self.write(&module.info_path(), format!("{{\"Version\":\"{}\"}}", module.version()));
            self.write(&module.mod_path(), "module golang.org/toolchain\n");
            self.write(&module.zip_path(), zip(release).bytes());
        }
        self.write(LIST_PATH, list);
    }

    fn write_database(&self) {
        self.write(&database("supported"), "");
        self.write(&lookup(KNOWN), self.answer(KNOWN_ID, NOW));
        self.write(&lookup(WANTED), self.answer(WANTED_ID, NOW));
        for size in [THEN, NOW] {
            for (path, tile) in self.log.tiles(size) {
                self.write(&database(&path), tile);
            }
        }
    }

    /// Installs KNOWN as users do, while the log is still small.
    fn use_once(&self) {
        let server = Server::start(&self.www());
        server.fault(&lookup(KNOWN), Fault::Replace(self.answer(KNOWN_ID, THEN)));
        let run = Scene::command(&self.store(), &server.url(), KNOWN).output().unwrap();
        assert!(run.status.success(), "{run:?}");
    }
}

pub fn module(release: &str) -> ToolchainModule {
    ToolchainModule { release: release.parse().unwrap(), platform: Platform::host() }
}

/// Where something of the database is served.
pub fn database(path: &str) -> String {
    format!("sumdb/{}/{path}", database_key().verifier().name())
}

/// Where the lookup of a release is answered.
pub fn lookup(release: &str) -> String {
    database(&format!("lookup/{PATH}@{}", module(release).version()))
}

/// The files of a small GOROOT, as the module has them.
pub fn files(release: &str) -> BTreeMap<String, Vec<u8>> {
    let Platform { os, arch } = Platform::host();
    let files = [
        ("LICENSE".to_owned(), b"Anybody may use this.\n".repeat(20)),
        ("VERSION".to_owned(), format!("go{release}\ntime 2026-02-03T04:05:06Z\n").into_bytes()),
        ("bin/go".to_owned(), format!("#!/bin/sh\necho go version go{release}\n").into_bytes()),
        ("lib/noise".to_owned(), noise()),
        (format!("pkg/tool/{os}_{arch}/compile"), b"a compiler".to_vec()),
        ("src/_go.mod".to_owned(), b"module std\n".to_vec()),
        ("src/cmd/_go.mod".to_owned(), b"module cmd\n".to_vec()),
        ("src/x.go".to_owned(), format!("package x // {release}\n").into_bytes()),
    ];
    files.into_iter().collect()
}

/// The GOROOT that is installed of it.
pub fn installed_files(release: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(release);
    for folder in ["src", "src/cmd"] {
        let go_mod = files[&format!("{folder}/_go.mod")].clone();
        files.insert(format!("{folder}/go.mod"), go_mod);
    }
    files
}

/// The honest zip of a release.
pub fn zip(release: &str) -> Zip {
    let prefix = module(release).zip_prefix();
    let entries = files(release).into_iter();
    let entries = entries.map(|(name, content)| Entry::new(format!("{prefix}{name}"), content));
    Zip { entries: entries.collect(), ..Zip::default() }
}

/// The record of a release whose zip is `zip`.
pub fn record(release: &str, zip: &Zip) -> String {
    let version = module(release).version();
    format!("{PATH} {version} {}\n{PATH} {version}/go.mod {GO_MOD_H1}\n", h1(zip))
}

/// Records of WANTED that are in the log and must not be believed, but for the last, which must not
/// be satisfied.
fn hostile_records() -> [String; 6] {
    let [honest, evil] = [zip(WANTED), evil_zip()].map(|zip| record(WANTED, &zip));
    let (line, go_mod_line) = honest.split_once('\n').unwrap();
    [
        evil.lines().next().unwrap().to_owned() + "\n" + &honest,
        honest.replace(" h1:", " h2:"),
        honest.replacen("=\n", "\n", 1),
        go_mod_line.to_owned(),
        format!("{line}\n"),
        evil,
    ]
}

/// A zip of WANTED with something else in it.
pub fn evil_zip() -> Zip {
    let mut zip = zip(WANTED);
    zip.entry("src/x.go").content = b"package evil\n".to_vec();
    zip
}

/// The digest of a zip's files, by the letter of the format.
pub fn h1(zip: &Zip) -> String {
    let mut lines: Vec<(&[u8], String)> = Vec::new();
    for entry in &zip.entries {
        let hash: String =
            Sha256::digest(&entry.content).iter().map(|byte| format!("{byte:02x}")).collect();
        let name = String::from_utf8_lossy(&entry.name);
        lines.push((&entry.name, format!("{hash}  {name}\n")));
    }
    lines.sort();
    let text: String = lines.into_iter().map(|(_, line)| line).collect();
    format!("h1:{}", STANDARD.encode(Sha256::digest(text)))
}

/// A record that no test asks for.
pub fn filler(id: u64) -> String {
    let h1 = STANDARD.encode(Sha256::digest(id.to_le_bytes()));
    format!("example.test/m{id} v1.0.0 h1:{h1}\nexample.test/m{id} v1.0.0/go.mod h1:{h1}\n")
}

/// Bytes that do not compress.
fn noise() -> Vec<u8> {
    static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let block = |n: u32| <[u8; 32]>::from(Sha256::digest(n.to_le_bytes()));
        (0..6_000).flat_map(block).collect()
    });
    NOISE.clone()
}

pub fn read_tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    crate::snapshot::files_below(root)
        .into_iter()
        .map(|(name, path)| (name, fs_err::read(path).unwrap()))
        .collect()
}
