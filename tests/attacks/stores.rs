//! Stores that are full, read-only, shared, littered, or left by a process that was killed.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::case::{accepted, broken, check};
use crate::golden;
use crate::scene::{Run, Scene};
use crate::server::Fault;
use crate::snapshot::{Snapshot, copy_tree};
use crate::world::{self, KNOWN, WANTED, World, evil_zip, module};

/// A private folder that was left by a process that is gone, with half a tree in it.
fn litter(scene: &Scene) -> PathBuf {
    let path = scene.store.join("tmp/private-abc123");
    fs_err::create_dir_all(path.join("tree/bin")).unwrap();
    fs_err::write(path.join("tree/bin/go"), "half a go command").unwrap();
    path
}

/// A kept download of WANTED, with a note that fits it.
fn keep_download(scene: &Scene, zip: &[u8], total_bytes: usize) {
    let path = scene.store.join("downloads").join(scene.folder_name(WANTED) + ".zip");
    fs_err::write(&path, zip).unwrap();
    let url = format!("{}/{}", scene.server.url(), module(WANTED).zip_path());
    let note = format!("url = \"{url}\"\netag = '\"1\"'\nbytes = {total_bytes}\n");
    fs_err::write(path.with_extension("zip.toml"), note).unwrap();
}

#[test]
fn stores() {
    check(
        "stores",
        vec![
            accepted("left by a killed run: a half unpacked tree", |scene| {
                litter(scene);
            }),
            accepted("left by a killed run: half a zip, without a note", |scene| {
                let name = scene.folder_name(WANTED) + ".zip";
                fs_err::write(scene.store.join("downloads").join(name), "half a zip").unwrap();
            }),
            accepted("kept download: half of another zip", |scene| {
                let zip = evil_zip().bytes();
                keep_download(scene, &zip[..zip.len() / 2], zip.len());
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("kept download: all of another zip", |scene| {
                let zip = evil_zip().bytes();
                keep_download(scene, &zip, zip.len());
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("kept download: no zip", |scene| keep_download(scene, b"no zip", 6))
                .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("kept download: longer than its note says", |scene| {
                keep_download(scene, &evil_zip().bytes(), 10);
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("left by a killed run: a lock file", |scene| {
                let lock = format!("locks/{}.lock", scene.folder_name(WANTED));
                fs_err::write(scene.store.join(lock), "").unwrap();
            }),
            accepted("a tree in the final place, without a record", |scene| {
                let tree = litter(scene).join("tree");
                fs_err::rename(tree, scene.root(WANTED)).unwrap();
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("an evil tree in the final place, with a record of its digest", |scene| {
                let tree = litter(scene).join("tree");
                fs_err::rename(tree, scene.root(WANTED)).unwrap();
                let (known, wanted) = (scene.folder_name(KNOWN), scene.folder_name(WANTED));
                let toolchains = scene.store.join("toolchains");
                let known = fs_err::read_to_string(toolchains.join(known + ".toml")).unwrap();
                let honest = world::h1(&world::zip(KNOWN));
                let evil = known.replace(KNOWN, WANTED).replace(&honest, &world::h1(&evil_zip()));
                fs_err::write(toolchains.join(wanted + ".toml"), evil).unwrap();
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("a record in the final place, without a tree", |scene| {
                let wanted = scene.folder_name(WANTED) + ".toml";
                let record = "module = \"golang.org/toolchain@v0.0.1\"\n";
                fs_err::write(scene.store.join("toolchains").join(wanted), record).unwrap();
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            accepted("a link to elsewhere in the final place", |scene| {
                let elsewhere = scene.work().join("elsewhere");
                fs_err::create_dir(&elsewhere).unwrap();
                fs_err::write(elsewhere.join("precious"), "not ours").unwrap();
                symlink(&elsewhere, scene.root(WANTED)).unwrap();
            })
            .then(|scene, _| {
                scene.assert_installed(WANTED);
                assert!(!scene.root(WANTED).is_symlink());
                assert!(scene.work().join("elsewhere/precious").exists(), "not ours to remove");
            }),
            broken("the store is a file", |scene| {
                scene.variables.push((
                    "GOSURVEY_STORE".to_owned(),
                    scene.work().join("file").display().to_string(),
                ));
                fs_err::write(scene.work().join("file"), "").unwrap();
            })
            .then(|scene, _| fs_err::remove_file(scene.work().join("file")).unwrap())
            .recovers_elsewhere(),
        ],
    );
}

/// A small file system of its own, as long as it lives.
struct Mount(PathBuf);

impl Mount {
    /// Mounts one at `place`, or says that this user may not.
    #[expect(clippy::print_stderr, reason = "a test that could not run says so")]
    fn at(place: &Path, options: &str) -> Option<Mount> {
        fs_err::create_dir_all(place).unwrap();
        let what = ["-t", "tmpfs", "-o", options, "none"];
        if mount_succeeds(Command::new("mount").args(what).arg(place)) {
            return Some(Mount(place.to_owned()));
        }
        eprintln!("SKIPPED: this user cannot mount a tmpfs, so no disk was full or read-only");
        None
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(mount_succeeds(Command::new("mount").args(["-o", &options]).arg(&self.0)));
    }
}

fn mount_succeeds(mount: &mut Command) -> bool {
    mount.output().is_ok_and(|output| output.status.success())
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// A scene whose store is on a file system of its own.
fn on_small_disk(world: &Arc<World>, options: &str) -> Option<(Mount, Scene)> {
    let mut scene = Scene::new(world);
    let place = scene.folder().join("disk");
    let mount = Mount::at(&place, options)?;
    let store = place.join("store");
    copy_tree(&world.store(), &store);
    scene.call(store.display(), "STORE");
    scene.store = store;
    Some((mount, scene))
}

/// Runs, checks what every case checks, makes room, and runs again.
fn fails_and_recovers(scene: &Scene, make_room: impl FnOnce()) -> Run {
    let look = || Snapshot::of(&scene.store, &["locks", "sumdb", "downloads", "filler"]);
    let before = look();
    let run = scene.run();
    assert_eq!(run.exit, 3, "{run:?}");
    assert_eq!(run.details(), [""; 0], "{run:?}");
    assert_eq!(before.changes_to(&look()), "");
    scene.assert_no_litter(3);
    make_room();
    scene.server.heal();
    let again = scene.run();
    assert_eq!(again.exit, 0, "{again:?}");
    scene.assert_installed(WANTED);
    scene.assert_installed(KNOWN);
    scene.assert_no_litter(0);
    run
}

#[test]
fn disks() {
    let world = World::shared();
    let mut lines = Vec::new();
    // The zip has 188 KiB, its files a little more.
    for (name, free_kib, is_length_said) in [
        ("disk full, known from the zip's length", 500, true),
        ("disk full while downloading, the length not said", 100, false),
        ("disk full, known from the zip's directory", 300, false),
    ] {
        let Some((_mount, scene)) = on_small_disk(&world, "size=4m") else { return };
        if !is_length_said {
            let zip = module(WANTED).zip_path();
            scene.server.fault(&zip, Fault::Endless(world::zip(WANTED).bytes()));
        }
        let filler = scene.store.join("filler");
        fill(&filler, free_kib);
        let run = fails_and_recovers(&scene, || fs_err::remove_file(&filler).unwrap());
        lines.push(golden::line(name, run.exit, run.message()));
    }
    let Some((mount, scene)) = on_small_disk(&world, "size=4m") else { return };
    mount.remount("ro");
    let run = fails_and_recovers(&scene, || mount.remount("rw"));
    lines.push(golden::line("read-only file system", run.exit, run.message()));
    golden::check("disks", &lines);
}

/// There is room, and then there is none: a file system of few files.
#[test]
fn a_disk_that_fills_up_while_unpacking_is_named_and_left_clean() {
    let world = World::shared();
    let Some((mount, scene)) = on_small_disk(&world, "size=8m,nr_inodes=1000") else { return };
    // What the run needs before it unpacks, and a part of what it unpacks.
    let free_files = 30;
    let used = 1000 - free_files_at(&scene.store);
    mount.remount(&format!("nr_inodes={}", used + free_files));
    let run = fails_and_recovers(&scene, || mount.remount("nr_inodes=1000"));
    assert!(run.message().contains("STORE/tmp/"), "{run:?}");
    assert!(run.message().contains("No space left on device"), "{run:?}");
}

fn free_files_at(folder: &Path) -> u64 {
    nix::sys::statvfs::statvfs(folder).unwrap().files_available()
}

/// A file of a toolchain that is installed already is shared only if it still is that file.
#[test]
fn a_tampered_neighbour_does_not_spoil_what_is_installed_beside_it() {
    let world = World::shared();
    let scene = Scene::new(&world);
    for name in ["LICENSE", "lib/noise"] {
        let shared = scene.root(KNOWN).join(name);
        let honest = fs_err::metadata(&shared).unwrap();
        let mut content = fs_err::read(&shared).unwrap();
        content[7] ^= 1;
        fs_err::set_permissions(&shared, PermissionsExt::from_mode(0o644)).unwrap();
        fs_err::write(&shared, content).unwrap();
        let file = fs_err::File::open(&shared).unwrap();
        file.file().set_modified(honest.modified().unwrap()).unwrap();
        fs_err::set_permissions(&shared, honest.permissions()).unwrap();
    }
    let run = scene.run();
    assert_eq!(run.exit, 0, "{run:?}");
    scene.assert_installed(WANTED);
}

/// Fills a file until so much of its file system is left.
fn fill(filler: &Path, free_kib: u64) {
    fs_err::write(filler, "").unwrap();
    let folder = filler.parent().unwrap();
    let file = fs_err::OpenOptions::new().append(true).open(filler).unwrap();
    let mut file = std::io::BufWriter::with_capacity(1, file);
    while free_kib_at(folder) > free_kib {
        std::io::Write::write_all(&mut file, &[0; 4096]).unwrap();
    }
}

fn free_kib_at(folder: &Path) -> u64 {
    let statistics = nix::sys::statvfs::statvfs(folder).unwrap();
    statistics.blocks_available() * statistics.fragment_size() / 1024
}

#[test]
fn a_store_that_may_not_be_written_is_named() {
    let world = World::shared();
    let scene = Scene::new(&world);
    if nix::unistd::geteuid().is_root() {
        // Nothing is forbidden to root; the read-only file system above is root's case.
        return;
    }
    let downloads = scene.store.join("downloads");
    fs_err::set_permissions(&downloads, PermissionsExt::from_mode(0o555)).unwrap();
    let run = scene.run();
    assert_eq!(run.exit, 3, "{run:?}");
    assert!(run.message().contains("STORE/downloads"), "{run:?}");
    fs_err::set_permissions(&downloads, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(scene.run().exit, 0);
}

#[test]
fn of_two_processes_one_downloads_and_both_have_it() {
    let world = World::shared();
    let scene = Scene::new(&world);
    let children: Vec<_> = (0..4).map(|_| scene.start()).collect();
    for child in children {
        let run = scene.finish(child);
        assert_eq!(run.exit, 0, "{run:?}");
    }
    let zip = module(WANTED).zip_path();
    let downloads = scene.server.take_requests().into_iter().filter(|path| *path == zip).count();
    assert_eq!(downloads, 1);
    scene.assert_installed(WANTED);
    scene.assert_no_litter(0);
}

#[test]
fn a_run_that_is_killed_leaves_nothing_that_the_next_does_not_clear() {
    const KILLS: u32 = 25;
    let world = World::shared();
    let started = Instant::now();
    assert_eq!(Scene::new(&world).run().exit, 0);
    let whole = started.elapsed();

    let scene = Scene::new(&world);
    let known = Snapshot::of(&scene.root(KNOWN), &[]);
    let mut kills = 0;
    for number in 0..KILLS {
        let mut child = scene.start();
        // Spread over the whole run; what is hit is left to the scheduler, as in life.
        std::thread::sleep(whole * number / KILLS);
        child.kill().unwrap();
        let was_killed = child.wait().unwrap().code().is_none();
        kills += u32::from(was_killed);
        if scene.root(WANTED).exists() {
            // What has its final name is whole; take it away to begin anew.
            scene.assert_installed(WANTED);
            fs_err::remove_dir_all(scene.root(WANTED)).unwrap();
        }
        assert_eq!(known.changes_to(&Snapshot::of(&scene.root(KNOWN), &[])), "");
    }
    assert!(kills > KILLS / 4, "only {kills} of {KILLS} runs were killed");
    std::thread::sleep(Duration::from_millis(50));

    let run = scene.run();
    assert_eq!(run.exit, 0, "{run:?}");
    scene.assert_installed(WANTED);
    scene.assert_no_litter(0);
}
