//! `gosurvey import programs`, through the real binary, on archives of our own programs under the
//! names that the Benchmarks Game's have.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

mod common;

use common::go;
use gosurvey::import::Rows;
use gosurvey::suite::Suite;
use std::ffi::OsStr;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use zip::write::{SimpleFileOptions, ZipWriter};

/// A program of ours and the game's name for its task.
const NBODY: (&str, &str) = ("n-body", "nbody/nbody.go-3.go");
const FASTA: (&str, &str) = ("fasta", "fasta/fasta.go-2.go");

/// A user's folders.
struct User {
    home: TempDir,
}

struct Ended {
    code: i32,
    out: String,
    err: String,
}

impl User {
    fn new() -> Self {
        User { home: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn suite(&self, name: &str) -> PathBuf {
        self.path("data/gosurvey/suites").join(name)
    }

    fn gosurvey(&self, arguments: &[&dyn AsRef<OsStr>]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_gosurvey"))
            .args(arguments.iter().map(AsRef::as_ref))
            .env("GOPROXY", "off")
            .env("GOSUMDB", "")
            .env("HOME", self.home.path())
            .env("XDG_DATA_HOME", self.path("data"))
            .env("GOSURVEY_STORE", self.path("store"))
            .current_dir(repository())
            .output()
            .unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn import(&self, archive: &Path, more: &[&dyn AsRef<OsStr>]) -> Ended {
        let command: [&dyn AsRef<OsStr>; 3] = [&"import", &"programs", &archive];
        self.gosurvey(&[&command[..], more].concat())
    }

    /// Writes a list of rows for `nbody/nbody.go-3.go` and `fasta/fasta.go-2.go`.
    fn rows(&self, nbody: &str) -> PathBuf {
        let row = |program: &str, (like, file): (&str, &str), more: &str| {
            format!(
                "[[row]]\nprogram = \"{program}\"\nabout = \"for tests\"\nfiles = [\"{file}\"]\n\
                 like = \"{like}\"\n{more}\n"
            )
        };
        let rows = row("nbody-3", NBODY, nbody) + &row("fasta-2", FASTA, "");
        let file = self.path("rows.toml");
        fs::write(&file, format!("about = \"for tests\"\n{rows}")).unwrap();
        file
    }

    /// Writes a zip.
    fn zip(&self, files: &[(&str, String)]) -> PathBuf {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        let file = self.path("archive.zip");
        fs::write(&file, writer.finish().unwrap().into_inner()).unwrap();
        file
    }

    /// Every file and folder of the user but the store, to see that nothing was written.
    fn everything(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.home.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push(path);
            }
        }
        found.sort();
        found
    }
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a program of ours, after a line to edit.
fn ours(program: &str) -> String {
    let path = repository().join("programs").join(program).join("main.go");
    format!("// Words of a program.\n{}", fs::read_to_string(path).unwrap())
}

/// A text on one line, however it was wrapped.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The game's archive in small.
fn small_archive() -> Vec<(&'static str, String)> {
    vec![
        ("LICENSE", "of all\n".to_owned()),
        ("nbody/LICENSE", "of one\n".to_owned()),
        ("nbody/nbody.go", "package other\n".to_owned()),
        (NBODY.1, ours(NBODY.0)),
        (FASTA.1, ours(FASTA.0)),
    ]
}

#[test]
fn every_shipped_row_is_like_a_program_of_ours() {
    let manifest = fs::read_to_string(repository().join("programs/suite.toml")).unwrap();
    let suite = Suite::parse(&manifest).unwrap();
    for row in Rows::benchmarksgame().rows {
        let like = suite.program(&row.like);
        let like = like.unwrap_or_else(|| panic!("{} is like no program of ours", row.program));
        if row.left_out.is_none() {
            assert_eq!(row.c_library, like.c_library, "{}", row.program);
        }
    }
}

#[test]
fn an_archive_becomes_a_suite() {
    let user = User::new();
    let archive = user.zip(&small_archive());
    let rows = user
        .rows("[[row.edit]]\nline = 1\nfind = \"Words\"\nreplace = \"Text\"\nwhy = \"tests\"\n");
    let ended = user.import(&archive, &[&"--rows", &rows, &"--suite", &"mine"]);
    assert_eq!((ended.code, ended.err.as_str()), (0, ""), "{}", ended.out);
    assert!(ended.out.contains("nbody-3, line 1: `Words` becomes `Text`: tests"));
    assert!(ended.out.contains("gosurvey survey --suite mine"));
    let suite = user.suite("mine");
    let edited = fs::read_to_string(suite.join("programs/nbody-3/main.go")).unwrap();
    assert_eq!(edited, ours("n-body").replacen("Words", "Text", 1));
    assert_eq!(fs::read_to_string(suite.join("programs/fasta-2/main.go")).unwrap(), ours("fasta"));
    assert_eq!(fs::read_to_string(suite.join("licences/LICENSE")).unwrap(), "of all\n");
    assert_eq!(fs::read_to_string(suite.join("licences/nbody/LICENSE")).unwrap(), "of one\n");
    let reference = Path::new("reference-output/n-body-1000.txt");
    assert_eq!(
        fs::read(suite.join(reference)).unwrap(),
        fs::read(repository().join(reference)).unwrap()
    );

    let again = user.import(&archive, &[&"--rows", &rows, &"--suite", &"mine"]);
    assert_eq!(again.code, 0);
    assert!(again.out.contains("was there already, file by file"), "{}", again.out);
    let other = user.rows("");
    let refused = user.import(&archive, &[&"--rows", &other, &"--suite", &"mine"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("--replace"), "{}", refused.err);
    let replaced = user.import(&archive, &[&"--rows", &other, &"--suite", &"mine", &"--replace"]);
    assert_eq!(replaced.code, 0, "{}", replaced.err);
    assert_eq!(fs::read_to_string(suite.join("programs/nbody-3/main.go")).unwrap(), ours("n-body"));
}

#[test]
fn a_folder_becomes_the_same_suite() {
    let user = User::new();
    let rows = user.rows("");
    let archive = user.zip(&small_archive());
    assert_eq!(user.import(&archive, &[&"--rows", &rows]).code, 0);
    let folder = user.path("unpacked");
    for (name, content) in small_archive() {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    let ended = user.import(&folder, &[&"--rows", &rows]);
    assert!(ended.out.contains("was there already, file by file"), "{}{}", ended.out, ended.err);
}

#[test]
fn what_does_not_fit_is_left_out_and_told() {
    let user = User::new();
    let archive = user.zip(&small_archive());
    let rows = user.rows(
        "sha256 = \"62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73\"\n\
         [[row.edit]]\nline = 2\nfind = \"Words\"\nreplace = \"x\"\nwhy = \"tests\"\n",
    );
    let ended = user.import(&archive, &[&"--rows", &rows]);
    assert_eq!(ended.code, 4, "{}", ended.err);
    assert!(ended.out.contains("left out:\n  nbody-3: edit 1 does not fit"), "{}", ended.out);
    assert!(words(&ended.out).contains("it is on line 1"), "{}", ended.out);
    assert!(!user.suite("benchmarksgame/programs/nbody-3").exists());

    let rows = user
        .rows("sha256 = \"62d1e8d0df7938d2aefda9a37887e0389231ea72c099c29a51afb6edca1bdc73\"\n");
    let ended = user.import(&archive, &[&"--rows", &rows, &"--suite", &"other"]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("another edition than the edits were tried on:\n  nbody-3"));
}

#[test]
fn an_archive_without_the_rows_makes_no_suite() {
    let user = User::new();
    let archive = user.zip(&[("nbody/nbody.go-2.go", ours("n-body"))]);
    let before = user.everything();
    let ended = user.import(&archive, &[]);
    assert_eq!(ended.code, 1);
    assert!(ended.err.contains("no program to take"), "{}", ended.err);
    assert!(ended.err.contains("nbody-3: not in this archive"), "{}", ended.err);
    assert!(words(&ended.err).contains("beside it are nbody.go-2.go"), "{}", ended.err);
    assert_eq!(user.everything(), before);
}

#[test]
fn a_hostile_archive_leaves_nothing_behind() {
    let user = User::new();
    let rows = user.rows("");
    let hostile = [
        ("nbody/../../../../evil.go", "leads out"),
        ("/tmp/evil.go", "leads out"),
        ("nbody\\evil.go", "backslash"),
        ("nbody/nbody.go-3.go/evil.go", "is a file, and a folder"),
    ];
    for (name, complaint) in hostile {
        let mut files = small_archive();
        files.push((name, "package evil\n".to_owned()));
        let archive = user.zip(&files);
        let before = user.everything();
        let ended = user.import(&archive, &[&"--rows", &rows]);
        assert_eq!(ended.code, 1, "{name}: {}", ended.out);
        assert!(ended.err.contains(complaint), "{name}: {}", ended.err);
        assert_eq!(user.everything(), before, "{name}");
    }
    let archive = user.path("archive.zip");
    fs::write(&archive, "<html>404</html>").unwrap();
    let ended = user.import(&archive, &[&"--rows", &rows]);
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(ended.err.contains("not a zip"), "{}", ended.err);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let user = User::new();
    let archive = user.zip(&small_archive());
    let said = |arguments: &[&dyn AsRef<OsStr>]| {
        let ended = user.import(&archive, arguments);
        assert_eq!(ended.code, 2, "{}", ended.err);
        ended.err
    };
    assert!(said(&[&"--with", &"nbody-3"]).contains("pidigits-7, pidigits-8"));
    assert!(said(&[&"--suite", &"../evil"]).contains("not a plain file name"));
    let rows = user.path("rows.toml");
    fs::write(&rows, "about = 1").unwrap();
    assert!(said(&[&"--rows", &rows]).contains("rows.toml"));
    let ended = user.gosurvey(&[&"check", &"--suite", &"nothere"]);
    assert_eq!(ended.code, 2);
    assert!(ended.err.contains("no suite nothere"), "{}", ended.err);
}

#[test]
fn an_imported_program_is_built_and_checked() {
    let Some(goroots) = go::goroots() else { return };
    let user = User::new();
    let archive = user.zip(&small_archive());
    assert_eq!(user.import(&archive, &[&"--rows", &user.rows(""), &"--suite", &"mine"]).code, 0);
    let (_, newest) = goroots.last().unwrap();
    let go = format!("newest={}", newest.display());
    let results = user.path("results");
    let mut command: Vec<&dyn AsRef<OsStr>> = vec![&"check", &"--suite", &"mine", &"--size"];
    command.extend([&"check" as &dyn AsRef<OsStr>, &"--go", &go, &"--program", &"nbody-3"]);
    command.extend([&"--rebuilds" as &dyn AsRef<OsStr>, &"1", &"--name", &"x"]);
    command.extend([&"--results" as &dyn AsRef<OsStr>, &results]);
    let ended = user.gosurvey(&command);
    assert_eq!(ended.code, 0, "{}{}", ended.out, ended.err);
    let outputs = fs::read_to_string(results.join("x/outputs.csv")).unwrap();
    assert!(outputs.contains(",matches,"), "{outputs}");
    let plan = fs::read_to_string(results.join("x/survey.toml")).unwrap();
    assert!(plan.contains("name = \"mine\""), "{plan}");
}
