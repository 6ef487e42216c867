//! Builds with a go command that is a shell script, so that what it is given can be looked at.

use super::*;
use std::os::unix::fs::PermissionsExt;

struct Bench {
    folder: tempfile::TempDir,
    release: Release,
}

impl Bench {
    /// A store with a toolchain whose go command is `script`; `$LOG` in it is a file to write to.
    fn new(release: &str, script: &str) -> Self {
        let bench =
            Bench { folder: tempfile::tempdir().unwrap(), release: release.parse().unwrap() };
        let script = script.replace("$LOG", bench.path("log").to_str().unwrap());
        let go = bench.path("store/goroot/bin/go");
        fs_err::create_dir_all(go.parent().unwrap()).unwrap();
        fs_err::write(&go, format!("#!/bin/sh\n{script}")).unwrap();
        fs_err::set_permissions(&go, PermissionsExt::from_mode(0o755)).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap().join(name)
    }

    fn build_tree(&self, tree: &SourceTree, goamd64: &str, repetitions: u32) -> Result<Build> {
        let platform = Platform { os: "linux".into(), arch: "amd64".into() };
        build(&BuildRequest {
            release: &self.release,
            platform: &platform,
            goroot: &self.path("store/goroot"),
            program: "n-body",
            tree,
            goamd64,
            experiments: None,
            cgo: false,
            repetitions,
            time_limit: Duration::from_secs(60),
            folders: Folders {
                store: &self.path("store"),
                gocache: &self.path("store/gocache"),
                work: &self.path("store/work"),
                binaries: &self.path("store/binaries"),
            },
        })
    }

    fn build(&self, repetitions: u32) -> Build {
        self.build_tree(&tree(), "v1", repetitions).unwrap()
    }

    fn log(&self) -> String {
        let log = fs_err::read_to_string(self.path("log")).unwrap_or_default();
        log.replace(self.path("store").to_str().unwrap(), "STORE")
    }
}

fn tree() -> SourceTree {
    let files = [("main.go", "package main\n"), ("sub/x.go", "package sub"), ("data.txt", "1\n")];
    SourceTree { files: files.map(|(n, t)| (n.to_owned(), t.as_bytes().to_vec())).into() }
}

/// Writes what the go command was given, then acts as one that built `/bin/true`. The file after
/// `-o` is the only argument that is an absolute path.
const LOGGING: &str = r#"
{ pwd; echo "go $*"; env | grep -v ^PWD= | grep -v ^_= | LC_ALL=C sort; } >>$LOG
for argument in "$@"; do
    case $argument in
    /*) test ! -e "$argument" || exit 9; cp /bin/true "$argument" ;;
    esac
done
"#;

#[test]
fn the_go_command_gets_this_and_nothing_else() {
    let bench = Bench::new("1.27.1", LOGGING);
    bench.build(0).outcome.unwrap();
    insta::assert_snapshot!(bench.log(), @r"
    STORE/work/build/src
    go build -trimpath -buildvcs=false -o STORE/work/build/out .
    CGO_ENABLED=0
    GO111MODULE=on
    GOAMD64=v1
    GOCACHE=STORE/gocache
    GOENV=off
    GOPATH=STORE/work/build/gopath
    GOPROXY=off
    GOROOT=STORE/goroot
    GOSUMDB=off
    GOTMPDIR=STORE/work/build/tmp
    GOTOOLCHAIN=local
    GOWORK=off
    HOME=STORE/work/build/home
    LC_ALL=C
    PATH=STORE/goroot/bin:/usr/bin:/bin
    TMPDIR=STORE/work/build/tmp
    ");
}

#[test]
fn the_gopath_era_gets_its_own_layout() {
    let bench = Bench::new("1.4.3", LOGGING);
    bench.build(0).outcome.unwrap();
    insta::assert_snapshot!(bench.log(), @r"
    STORE/work/build/gopath/src/gosurvey.example/n-body
    go build -o STORE/work/build/out gosurvey.example/n-body
    CGO_ENABLED=0
    GOPATH=STORE/work/build/gopath
    GOROOT=STORE/goroot
    HOME=STORE/work/build/home
    LC_ALL=C
    PATH=STORE/goroot/bin:/usr/bin:/bin
    TMPDIR=STORE/work/build/tmp
    ");
}

#[test]
fn a_binary_is_kept_under_its_digest_and_nothing_else_is() {
    let bench = Bench::new("1.27.1", LOGGING);
    let build = bench.build(2);
    let binary = build.outcome.unwrap();
    let content = fs_err::read("/bin/true").unwrap();
    assert_eq!(fs_err::read(&binary.path).unwrap(), content);
    assert_eq!(binary.bytes, content.len() as u64);
    assert_eq!(binary.path, bench.path("store/binaries").join(&binary.sha256));
    assert_eq!(binary.build_ns.len(), 2);
    let mode = fs_err::metadata(&binary.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let count = |folder: &str| fs_err::read_dir(bench.path(folder)).unwrap().count();
    assert_eq!(count("store/binaries"), 1);
    assert!(!bench.path("store/work/build").exists());
    assert!(build.environment.contains(" GOROOT=$STORE/goroot "), "{}", build.environment);
    assert!(build.environment.contains(" HOME=$WORK/home "), "{}", build.environment);
}

#[test]
fn every_rebuild_compiles_a_text_never_seen_and_finds_no_executable() {
    // The script ends with 9 when the output of the build before is still there.
    let script =
        format!("cat main.go sub/x.go data.txt >>$LOG.source; echo == >>$LOG.source\n{LOGGING}");
    let bench = Bench::new("1.27.1", &script);
    bench.build(2).outcome.unwrap();
    let plain = "package main\npackage sub1\n".to_owned();
    let seen = fs_err::read_to_string(bench.path("log.source")).unwrap();
    let texts: Vec<&str> = seen.split("==\n").collect();
    assert_eq!(texts[0], plain, "the first build, whose binary is kept, is of the plain text");
    for (text, repetition) in [(texts[1], 1), (texts[2], 2)] {
        let lines: Vec<&str> = text.lines().collect();
        let comment = format!("// gosurvey: rebuild {repetition} at 2");
        assert!(lines[2].starts_with(&comment) && lines[4].starts_with(&comment), "{text}");
        assert_eq!((lines[0], lines[3], lines[5]), ("package main", "package sub", "1"));
    }
    bench.build(1).outcome.unwrap();
    let again = fs_err::read_to_string(bench.path("log.source")).unwrap();
    assert_ne!(again.split("==\n").nth(4), Some(texts[1]), "not even in another survey");
}

#[test]
fn telemetry_is_off_before_the_go_command_starts() {
    let bench =
        Bench::new("1.27.1", &format!("cat $HOME/.config/go/telemetry/mode >$LOG.mode\n{LOGGING}"));
    bench.build(0).outcome.unwrap();
    assert_eq!(fs_err::read_to_string(bench.path("log.mode")).unwrap(), "off\n");
}

fn failure(release: &str, script: &str, repetitions: u32) -> BuildFailure {
    Bench::new(release, script).build(repetitions).outcome.unwrap_err()
}

#[test]
fn a_compile_error_is_told_on_one_line_without_private_paths() {
    let script =
        "echo '# gosurvey.example/n-body'; echo \"$PWD/main.go:3:2: x declared and not used\" >&2
        echo; printf './main.go:4:2: undefined: \\033[1my\\n'; exit 1";
    let failure = failure("1.27.1", script, 3);
    assert_eq!(failure.status, BuildStatus::Failed);
    insta::assert_snapshot!(failure, @"build: go build: exit 1: src/main.go:3:2: x declared and not used; ./main.go:4:2: undefined: [1my");
}

#[test]
fn a_long_complaint_is_cut() {
    let failure = failure("1.27.1", "yes 'error: x' | head -n 100000; exit 2", 0);
    assert_eq!(failure.reason.matches("error: x").count(), 5);
    let script = "head -c 5000 /dev/zero | tr '\\0' x; exit 2";
    assert!(self::failure("1.27.1", script, 0).reason.len() < 1100);
}

#[test]
fn a_rebuild_that_fails_is_a_failure() {
    let script = format!("test ! -e $LOG || {{ echo 'disk full'; exit 1; }}\n{LOGGING}");
    let failure = failure("1.27.1", &script, 2);
    assert_eq!(failure.to_string(), "rebuild 1: go build: exit 1: disk full");
}

#[test]
fn a_package_that_is_no_program_is_a_failure() {
    let archive = r#"for argument in "$@"; do case $argument in /*) echo '!<arch>' >"$argument" ;; esac; done"#;
    for script in [archive, "true"] {
        let failure = failure("1.27.1", script, 0);
        assert_eq!(failure.to_string(), "go build left no program; is the package not main?");
    }
}

#[test]
fn a_go_command_that_does_not_start_is_a_failure() {
    let bench = Bench::new("1.27.1", "");
    fs_err::remove_file(bench.path("store/goroot/bin/go")).unwrap();
    let reason = bench.build(0).outcome.unwrap_err().reason;
    assert!(reason.contains("cannot run ") && reason.contains("No such file"), "{reason}");
}

#[test]
fn what_the_release_does_not_know_is_unsupported_and_nothing_is_run() {
    let bench = Bench::new("1.17.13", LOGGING);
    let failure = bench.build_tree(&tree(), "v3", 1).unwrap().outcome.unwrap_err();
    assert_eq!(failure.status, BuildStatus::Unsupported);
    assert_eq!(bench.log(), "");
}

#[test]
fn a_tree_that_leads_out_of_its_folder_or_brings_a_go_mod_is_an_error() {
    let bench = Bench::new("1.27.1", LOGGING);
    for name in ["../x.go", "/x.go", "a/../../x.go", "", "go.mod"] {
        let tree = SourceTree { files: [(name.to_owned(), Vec::new())].into() };
        assert!(bench.build_tree(&tree, "v1", 0).is_err(), "{name:?}");
    }
    assert_eq!(bench.log(), "");
}

#[test]
fn a_workspace_left_by_a_killed_process_is_emptied() {
    let bench = Bench::new("1.27.1", &format!("ls >$LOG.files\n{LOGGING}"));
    fs_err::create_dir_all(bench.path("store/work/build/src")).unwrap();
    fs_err::write(bench.path("store/work/build/src/stale.go"), "package main").unwrap();
    bench.build(0).outcome.unwrap();
    assert_eq!(
        fs_err::read_to_string(bench.path("log.files")).unwrap(),
        "data.txt\ngo.mod\nmain.go\nsub\n"
    );
}

#[test]
fn a_go_command_that_outlives_its_gosurvey_keeps_the_store_locked() {
    let bench = Bench::new("1.27.1", &format!("readlink /proc/$$/fd/0 >$LOG.input\n{LOGGING}"));
    bench.build(0).outcome.unwrap();
    let input = fs_err::read_to_string(bench.path("log.input")).unwrap();
    assert_eq!(Path::new(input.trim()), bench.path("store/work/build.lock"));
}

#[test]
fn builds_in_one_store_wait_for_one_another() {
    let script = format!("mkdir $LOG.busy || exit 1\n{LOGGING}\nrmdir $LOG.busy");
    let bench = Bench::new("1.27.1", &script);
    std::thread::scope(|scope| {
        let builds: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.build(3))).collect();
        for build in builds {
            build.join().unwrap().outcome.unwrap();
        }
    });
}

#[test]
fn a_toolchain_says_its_version() {
    let bench = Bench::new("1.27.1", "echo go version go1.27.1 linux/amd64");
    assert_eq!(go_version(&bench.path("store/goroot")).unwrap(), "go version go1.27.1 linux/amd64");
    for script in
        ["echo something else", "echo go version go1.27.1 linux/amd64; exit 1", "kill -4 $$"]
    {
        let bench = Bench::new("1.27.1", script);
        let message = go_version(&bench.path("store/goroot")).unwrap_err().to_string();
        assert!(message.contains("is it a toolchain for this machine?"), "{message}");
    }
}
