//! Looking after what is installed: verifying it, making room, storing the same file once.

use std::process::{Command, Output};

use super::*;

/// Runs `gosurvey toolchains` on the store called `store`, with no network to reach.
fn toolchains(world: &World, store: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gosurvey"))
        .arg("toolchains")
        .args(args)
        .env_clear()
        .env("GOSURVEY_STORE", world.path(store))
        .env("GOPROXY", "off")
        .env("GOSUMDB", world.mirror.gosumdb())
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A world with both toolchains installed in the store "store".
fn installed() -> (World, Toolchain, Toolchain) {
    let world = World::new();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    let [one, two] = [ONE, TWO].map(|release| world.install(&store, release, &goproxy).unwrap());
    (world, one, two)
}

/// Changes a file that is there for reading only.
fn overwrite(path: &Path, content: &str) {
    fs_err::remove_file(path).unwrap();
    fs_err::write(path, content).unwrap();
}

#[test]
fn what_is_as_it_was_installed_is_intact_without_the_network() {
    let (world, ..) = installed();
    let output = toolchains(&world, "store", &["--verify"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    // Twelve files of the module and two go.mod of their own.
    assert_eq!(lines.matches("intact: 13 files").count(), 2, "{lines}");
}

#[test]
fn every_kind_of_difference_is_found_named_and_mended() {
    let (world, ..) = installed();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 7] = [
        ("src/x.go has another content", |root| overwrite(&root.join("src/x.go"), "package y\n")),
        ("src/go.mod has another content", |root| overwrite(&root.join("src/go.mod"), "module x")),
        ("LICENSE is missing", |root| fs_err::remove_file(root.join("LICENSE")).unwrap()),
        ("src/cmd/go.mod is missing", |root| {
            fs_err::remove_file(root.join("src/cmd/go.mod")).unwrap();
        }),
        ("src/y.go does not belong there", |root| write(root.join("src/y.go"), "package x\n")),
        ("doc/z does not belong there", |root| write(root.join("doc/z"), "")),
        ("src/x.go is neither a file nor a folder", |root| {
            fs_err::rename(root.join("src/x.go"), root.join("src/moved.go")).unwrap();
            symlink("moved.go", root.join("src/x.go")).unwrap();
        }),
    ];
    for (expected, harm) in harms {
        let two = world.install(&store, TWO, &goproxy).unwrap();
        harm(&two.root);
        let output = toolchains(&world, "store", &["--verify"]);
        let (found, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{expected}: {found}");
        assert!(found.contains(expected), "{expected}: {found}");
        assert!(error.contains(&format!("gosurvey fetch --go {TWO}")), "{error}");
        let left: Vec<String> =
            store.installed().unwrap().iter().map(|left| left.release.to_string()).collect();
        assert_eq!(left, [ONE], "{expected}");
    }
    let two = world.install(&store, TWO, &goproxy).unwrap();
    assert_eq!(contents(&two.root), expected_contents(&world.path(TWO)));
    assert_eq!(toolchains(&world, "store", &["--verify"]).status.code(), Some(0));
}

#[test]
fn a_lost_or_forged_list_of_files_lets_no_change_through() {
    let (world, _, two) = installed();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    let list = two.root.with_file_name(format!("{TWO}.{}.files", Platform::host()));
    let good = fs_err::read_to_string(&list).unwrap();

    fs_err::remove_file(&list).unwrap();
    assert_eq!(toolchains(&world, "store", &["--verify"]).status.code(), Some(0));
    assert_eq!(fs_err::read_to_string(&list).unwrap(), good, "it is made again");

    for list_text in ["", "nonsense", &good.replace(&good[..64], &"0".repeat(64))] {
        overwrite(&two.root.join("LICENSE"), "other");
        fs_err::write(&list, list_text).unwrap();
        let output = toolchains(&world, "store", &["--verify"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        assert!(text(&output.stdout).contains("some file is not as it was"));
        world.install(&store, TWO, &goproxy).unwrap();
    }
}

#[test]
fn what_cannot_be_proven_without_the_network_is_named() {
    let (world, ..) = installed();
    fs_err::remove_dir_all(world.path("store/sumdb")).unwrap();
    let output = toolchains(&world, "store", &["--verify"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("NOT PROVEN"), "{}", text(&output.stdout));
    assert_eq!(world.store("store").installed().unwrap().len(), 2);
}

#[test]
fn files_of_two_releases_are_stored_once_and_outlive_each_other() {
    let (world, one, two) = installed();
    let links = |toolchain: &Toolchain, name: &str| {
        fs_err::metadata(toolchain.root.join(name)).unwrap().nlink()
    };
    for (name, expected) in [("LICENSE", 2), ("src/go.mod", 1), ("src/_go.mod", 2), ("VERSION", 1)]
    {
        assert_eq!(links(&one, name), expected, "{name}");
        assert_eq!(links(&two, name), expected, "{name}");
    }
    let output = toolchains(&world, "store", &["--prune", "--keep", TWO]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!one.root.exists());
    assert_eq!(contents(&two.root), expected_contents(&world.path(TWO)));
    assert_eq!(links(&two, "LICENSE"), 1);
}

#[test]
fn a_file_that_was_changed_since_is_not_shared() {
    let world = World::new();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    let one = world.install(&store, ONE, &goproxy).unwrap();
    let license = one.root.join("LICENSE");
    let content = fs_err::read_to_string(&license).unwrap();
    overwrite(&license, &content.replacen("some", "same", 1));
    fs_err::set_permissions(&license, PermissionsExt::from_mode(0o444)).unwrap();
    let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(FILE_TIME_S);
    fs_err::File::open(&license).unwrap().file().set_modified(time).unwrap();

    let two = world.install(&store, TWO, &goproxy).unwrap();
    assert_eq!(contents(&two.root), expected_contents(&world.path(TWO)));
    assert_eq!(fs_err::metadata(two.root.join("src/_go.mod")).unwrap().nlink(), 2);
}

#[test]
fn pruning_removes_what_nobody_needs_and_says_how_much() {
    let (world, one, two) = installed();
    let store = world.path("store");
    let name = |release: &str| format!("{release}.{}", Platform::host());
    for path in [
        format!("downloads/{}.zip", name("go1.97.1")),
        format!("toolchains/{}/bin/go", name("go1.97.1")),
        format!("toolchains/{}.files", name("go1.97.2")),
        "gocache/go1.97.1/00/a".to_owned(),
        "tmp/build/x".to_owned(),
    ] {
        write(store.join(path), &"x".repeat(10_000));
    }
    write(store.join(format!("gocache/{TWO}/00/a")), "kept");
    let output = toolchains(&world, "store", &["--prune"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().count(), 6, "{lines}");
    assert!(lines.ends_with(" KiB freed\n"), "{lines}");
    assert!(contents(&store.join("downloads")).is_empty());
    assert!(!store.join("tmp/build").exists());
    assert_eq!(
        contents(&store.join("gocache")).into_keys().collect::<Vec<_>>(),
        [format!("{TWO}/00/a")]
    );
    assert_eq!(contents(&one.root), expected_contents(&world.path(ONE)));
    assert_eq!(contents(&two.root), expected_contents(&world.path(TWO)));
    assert_eq!(text(&toolchains(&world, "store", &["--prune"]).stdout), "0 B freed\n");
}

#[test]
fn what_is_to_be_kept_must_be_there() {
    let (world, one, two) = installed();
    for keep in ["1.97.1", "1.97", "1.98,1.97"] {
        let output = toolchains(&world, "store", &["--prune", "--keep", keep]);
        assert_eq!(output.status.code(), Some(2), "{keep}: {}", text(&output.stderr));
    }
    assert!(one.root.exists() && two.root.exists());
}
