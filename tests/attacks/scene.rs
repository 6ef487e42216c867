//! One attack: a store of its own, a server of its own, the program, and what became of all three.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::log::{database_key, signed};
use crate::server::{Fault, Server};
use crate::snapshot::{Snapshot, copy_tree};
use crate::world::{self, NOW, THEN, WANTED, World};
use crate::zip::Zip;

/// No run takes a tenth of this; one that hangs shall not hang the tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where everything happens. As it comes, it is honest.
pub struct Scene {
    pub world: Arc<World>,
    pub server: Server,
    /// What is given to `--go`.
    pub wanted: String,
    pub goproxy: String,
    pub gosumdb: String,
    pub variables: Vec<(String, String)>,
    /// Where the store is; a copy of [`World::store`].
    pub store: PathBuf,
    folder: tempfile::TempDir,
    /// More servers.
    servers: Vec<Server>,
    /// Addresses and paths of this scene, and how they are written in the list of messages.
    names: Vec<(String, String)>,
}

impl Scene {
    pub fn new(world: &Arc<World>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("store");
        copy_tree(&world.store(), &store);
        fs_err::create_dir(folder.path().join("work")).unwrap();
        let server = Server::start(&world.www());
        Scene {
            world: Arc::clone(world),
            wanted: WANTED.to_owned(),
            goproxy: server.url(),
            gosumdb: database_key().verifier().to_string(),
            variables: Vec::new(),
            names: vec![
                (server.url(), "PROXY".to_owned()),
                (store.display().to_string(), "STORE".to_owned()),
                (folder.path().display().to_string(), "FOLDER".to_owned()),
            ],
            server,
            servers: Vec::new(),
            store,
            folder,
        }
    }

    /// The folder that holds the store and nothing else that a run may touch.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The working directory of the program.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Calls an address or a path by a name that is the same in every run.
    pub fn call(&mut self, what: impl ToString, name: &str) {
        self.names.insert(0, (what.to_string(), name.to_owned()));
    }

    /// Keeps another server going as long as the scene.
    pub fn keep_alive(&mut self, server: Server) {
        self.servers.push(server);
    }

    // The server's lies. Paths are relative to its root.

    pub fn replace(&self, path: &str, content: impl Into<Vec<u8>>) {
        self.server.fault(path, Fault::Replace(content.into()));
    }

    pub fn edit(&self, path: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut content = fs_err::read(self.world.www().join(path)).unwrap();
        edit(&mut content);
        self.replace(path, content);
    }

    pub fn status(&self, path: &str, status: u16) {
        self.server.fault(path, Fault::Status(status, &["Retry-After: 0"]));
    }

    /// Answers the lookup of WANTED.
    pub fn answer(&self, answer: impl Into<Vec<u8>>) {
        self.replace(&world::lookup(WANTED), answer);
    }

    /// Answers the lookup of WANTED with its own record and another note.
    pub fn answer_with_note(&self, note: &str) {
        let record = self.world.log.text(world::WANTED_ID);
        self.answer(crate::log::answer(world::WANTED_ID, record, note));
    }

    /// Serves another zip of WANTED.
    pub fn zip(&self, edit: impl FnOnce(&mut Zip)) {
        let mut zip = world::zip(WANTED);
        edit(&mut zip);
        self.replace(&world::module(WANTED).zip_path(), zip.bytes());
    }

    // The program.

    /// `gosurvey fetch --go WANTED`, with nothing of the tester's own environment.
    pub fn command(store: &Path, goproxy: &str, wanted: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gosurvey"));
        command
            .args(["fetch", "--go", wanted])
            .env_clear()
            .env("GOPROXY", goproxy)
            .env("GOSUMDB", database_key().verifier().to_string())
            .env("GOSURVEY_STORE", store)
            .stdin(Stdio::null());
        command
    }

    pub fn start(&self) -> Child {
        Scene::command(&self.store, &self.goproxy, &self.wanted)
            .current_dir(self.work())
            .env("GOSUMDB", &self.gosumdb)
            .envs(self.variables.iter().cloned())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub fn run(&self) -> Run {
        self.finish(self.start())
    }

    /// Waits for a run to end.
    pub fn finish(&self, mut child: Child) -> Run {
        let status = format!("/proc/{}/status", child.id());
        let (mut peak_kib, started) = (0, Instant::now());
        while child.try_wait().unwrap().is_none() {
            peak_kib = peak_kib.max(peak_memory_kib(&status).unwrap_or(0));
            if started.elapsed() > PATIENCE {
                child.kill().unwrap();
                panic!("still running after {PATIENCE:?}: {:?}", child.wait_with_output());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| self.normalised(&String::from_utf8_lossy(bytes));
        Run {
            exit: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
            err_as_printed: String::from_utf8_lossy(&output.stderr).into_owned(),
            peak_kib,
        }
    }

    // What became of it.

    /// All of the store and what lies around it, but for the lock files, which are there to stay and
    /// hold nothing, and the downloads, which have a check of their own.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.folder(), &["store/locks", "store/downloads"])
    }

    /// As [`Scene::snapshot`], without what is remembered of checksum databases.
    pub fn snapshot_without_memory(&self) -> Snapshot {
        Snapshot::of(self.folder(), &["store/locks", "store/downloads", "store/sumdb"])
    }

    /// The remembered part of the database.
    pub fn memory(&self) -> PathBuf {
        let key = database_key();
        let (name, hash) = (key.verifier().name(), key.verifier().hash());
        self.store.join("sumdb").join(format!("{name}+{hash:08x}"))
    }

    pub fn remembered_head(&self) -> String {
        fs_err::read_to_string(self.memory().join("latest")).unwrap()
    }

    pub fn head_then(&self) -> String {
        signed(&self.world.log.head(THEN))
    }

    pub fn head_now(&self) -> String {
        signed(&self.world.log.head(NOW))
    }

    /// Where a release is installed, if it is.
    pub fn root(&self, release: &str) -> PathBuf {
        self.store.join("toolchains").join(self.folder_name(release))
    }

    /// What the parts of a release in the store are called.
    pub fn folder_name(&self, release: &str) -> String {
        format!("go{release}.{}", world::module(release).platform)
    }

    /// Fails unless a release is installed, with every file as it must be.
    #[track_caller]
    pub fn assert_installed(&self, release: &str) {
        let is_right = world::read_tree(&self.root(release)) == world::installed_files(release);
        assert!(is_right, "go{release} is installed with other files");
    }

    /// Fails if anything lies about that a run with this exit code may not leave behind. After a
    /// failure that may pass, what was downloaded is kept, to go on with the next time.
    #[track_caller]
    pub fn assert_no_litter(&self, exit: i32) {
        let zip = format!("{}.zip", self.folder_name(WANTED));
        for (name, path) in crate::snapshot::files_below(&self.store.join("downloads")) {
            let has_bytes = fs_err::metadata(path).unwrap().len() > 0;
            let is_kept = exit == 3 && has_bytes && name.starts_with(&zip);
            assert!(is_kept, "left in downloads: {name}");
        }
        let left: Vec<_> = fs_err::read_dir(self.store.join("tmp")).unwrap().collect();
        assert!(left.is_empty(), "left in tmp: {left:?}");
        for name in crate::snapshot::files_below(&self.store).keys() {
            assert!(!name.contains(".tmp-"), "left: {name}");
        }
    }

    /// A text without what differs from run to run and from machine to machine.
    fn normalised(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (what, name) in &self.names {
            text = text.replace(what, name);
        }
        let platform = world::module(WANTED).platform.to_string();
        let text = without_hashes(&text.replace(&platform, "PLATFORM"));
        [" KiB", " bytes: ", " belongs to no entry"]
            .iter()
            .fold(text, |text, unit| without_numbers(&text, unit))
    }
}

/// How a run ended.
#[derive(Debug)]
pub struct Run {
    pub exit: i32,
    /// Standard output and error, normalised.
    pub out: String,
    pub err: String,
    pub err_as_printed: String,
    /// The most memory that was seen in use, in KiB.
    pub peak_kib: u64,
}

impl Run {
    /// The one line that says how it ended.
    #[track_caller]
    pub fn message(&self) -> &str {
        let (text, prefix) = match self.exit {
            0 | 4 => (&self.out, ""),
            _ => (&self.err, "gosurvey: "),
        };
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(prefix));
        let message = lines.next().unwrap_or_else(|| panic!("it says nothing: {self:?}"));
        if self.exit == 0 {
            return message;
        }
        assert!(self.exit != 4 || lines.next().is_none(), "more than one line: {self:?}");
        message
    }

    /// What follows the message.
    #[track_caller]
    pub fn details(&self) -> Vec<&str> {
        let lines = self.err.lines().skip_while(|line| !line.starts_with("gosurvey: "));
        lines.skip(1).collect()
    }
}

fn peak_memory_kib(status: &str) -> Option<u64> {
    let status = fs_err::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Numbers the hashes and signatures of a text in their order: those of toolchains differ by platform.
fn without_hashes(text: &str) -> String {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let is_hash = |word: &&str| word.len() >= 44 && word.ends_with('=');
    let mut hashes: Vec<&str> = Vec::new();
    for word in text.split(|c| !is_base64(c)).filter(is_hash) {
        if !hashes.contains(&word) {
            hashes.push(word);
        }
    }
    let number = |(text, n): (String, usize)| text.replace(hashes[n], &format!("HASH{}", n + 1));
    (0..hashes.len()).fold(text.to_owned(), |text, n| number((text, n)))
}

/// Blots out the number before each `unit`: how large a zip is or how full a disk depends on the
/// platform's name and on the file system.
fn without_numbers(text: &str, unit: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut parts: Vec<&str> = text.split(unit).collect();
    let last = parts.pop().unwrap_or_default();
    let blotted = parts.into_iter().map(|part| part.trim_end_matches(is_number).to_owned() + "N");
    blotted.map(|part| part + unit).collect::<String>() + last
}
