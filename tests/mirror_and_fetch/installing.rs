//! Installing from honest servers, alone and with others, and finding it installed.

use super::*;

#[test]
fn a_toolchain_is_installed_from_disk_and_from_the_web_alike() {
    let world = World::new();
    let server = world.serve();
    for (name, goproxy) in [("from-disk", world.mirror.goproxy_file()), ("from-web", server.url())]
    {
        let store = world.store(name);
        let toolchain = world.install(&store, TWO, &goproxy).unwrap();

        assert_eq!(toolchain.release.to_string(), TWO);
        assert_eq!(contents(&toolchain.root), expected_contents(&world.path(TWO)));
        let Evidence::Proven(proven) = &toolchain.evidence else { panic!("{toolchain:?}") };
        assert_eq!(proven.source, format!("{goproxy}/{}", module(TWO).zip_path()));
        assert_eq!((proven.record_id, proven.tree_size), (1, 2));
        assert_eq!(proven.database, mirror::DEFAULT_DATABASE);
        assert_eq!(store.installed().unwrap(), std::slice::from_ref(&toolchain));

        let output = std::process::Command::new(toolchain.go()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("go version {TWO}\n"));
    }
}

#[test]
fn modes_and_times_are_set_whatever_the_zip_and_the_umask_say() {
    let world = World::new();
    let toolchain =
        world.install(&world.store("store"), TWO, &world.mirror.goproxy_file()).unwrap();
    let platform = Platform::host();
    let compile = format!("pkg/tool/{}_{}/compile", platform.os, platform.arch);
    let programs = ["bin/go", "bin/gofmt", "lib/wasm/go_js_wasm_exec", compile.as_str()];
    for name in contents(&toolchain.root).keys() {
        let metadata = fs_err::metadata(toolchain.root.join(name)).unwrap();
        let mode = if programs.contains(&name.as_str()) { 0o555 } else { 0o444 };
        assert_eq!(metadata.mode() & 0o7777, mode, "mode of {name}");
        assert_eq!(metadata.mtime(), FILE_TIME_S as i64, "time of {name}");
    }
    for folder in ["", "bin", "src/cmd"] {
        let mode = fs_err::metadata(toolchain.root.join(folder)).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o755, "mode of {folder:?}");
    }
}

#[test]
fn an_installed_toolchain_is_proven_again_without_the_network() {
    let world = World::new();
    let store = world.store("store");
    let server = world.serve();
    let url = server.url();
    let first = world.install(&store, ONE, &url).unwrap();
    server.take_requests();
    let second = world.install(&store, ONE, &url).unwrap();
    assert_eq!(first, second);
    assert_eq!(server.take_requests(), [""; 0]);
    drop(server);
    assert_eq!(world.install(&store, ONE, &url).unwrap(), first);
}

#[test]
fn a_download_left_by_who_installed_it_is_removed() {
    let world = World::new();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    world.install(&store, TWO, &goproxy).unwrap();
    let zip = format!("downloads/{TWO}.{}.zip", Platform::host());
    for left in [&[""][..], &[".toml"], &["", ".toml", ".toml.new"]] {
        for ending in left {
            write(store.root().join(format!("{zip}{ending}")), "left");
        }
        world.install(&store, TWO, &goproxy).unwrap();
        assert!(contents(&store.root().join("downloads")).is_empty(), "{left:?}");
    }
}

#[test]
fn an_installed_toolchain_is_not_used_without_proof() {
    let world = World::new();
    let store = world.store("store");
    world.install(&store, ONE, &world.mirror.goproxy_file()).unwrap();
    fs_err::remove_dir_all(store.root().join("sumdb")).unwrap();
    let error = world.install(&store, ONE, "file:///nowhere|off").unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Environment, "{}", chain(&error));
    // It is still there, and good again as soon as it can be proven.
    let again = world.install(&store, ONE, &world.mirror.goproxy_file()).unwrap();
    assert_eq!(contents(&again.root), expected_contents(&world.path(ONE)));
}

#[test]
fn what_nobody_has_is_not_published() {
    let world = World::new();
    let store = world.store("store");
    let not_published = |release: &str| {
        let error = world.install(&store, release, &world.mirror.goproxy_file()).unwrap_err();
        assert_eq!(error.failure(), InstallFailure::NotPublished, "{}", chain(&error));
        error.to_string()
    };
    assert!(not_published("go1.97.3").ends_with("is not published"));
    let hint = not_published("go1.97");
    assert!(hint.contains("first release is go1.97.0"), "{hint}");
    // On record, but gone from the proxy.
    fs_err::remove_file(world.mirror.www.join(module(ONE).zip_path())).unwrap();
    let gone = not_published(ONE);
    assert!(gone.contains("is on record in"), "{gone}");
    assert_nothing_installed(&store);
}

#[test]
fn a_comma_passes_over_not_found_and_a_bar_over_every_error() {
    let world = World::new();
    let empty = Server::start(&world.path("nothing"));
    let full = world.serve();
    let database = full.url();
    let result = |separator: &str, fault: Option<u16>| {
        empty.heal();
        if let Some(status) = fault {
            empty.fault(&module(TWO).zip_path(), Fault::Status(status, &[]));
        }
        let store = tempfile::tempdir().unwrap();
        let store = Store::open(store.path()).unwrap();
        let goproxy = format!("{}{separator}{database}", empty.url());
        world.install(&store, TWO, &goproxy).map_err(|error| error.failure())
    };
    for status in [404, 410] {
        let Evidence::Proven(proven) = result(",", Some(status)).unwrap().evidence else {
            panic!()
        };
        assert!(proven.source.starts_with(&database), "{}", proven.source);
    }
    for status in [403, 500, 503] {
        assert_eq!(result(",", Some(status)), Err(InstallFailure::Environment), "{status}");
        assert!(result("|", Some(status)).is_ok(), "{status}");
    }
}

#[test]
fn redirects_are_followed_up_to_a_point() {
    let world = World::new();
    let storage = world.serve();
    let proxy = world.serve();
    let path = module(TWO).zip_path();
    proxy.fault(&path, Fault::Redirect(format!("{}/{path}", storage.url())));
    let toolchain = world.install(&world.store("store"), TWO, &proxy.url()).unwrap();
    // The address on record is the one that stays.
    let Evidence::Proven(proven) = toolchain.evidence else { panic!() };
    assert_eq!(proven.source, format!("{}/{path}", proxy.url()));

    proxy.fault(&path, Fault::Redirect(format!("{}/{path}", proxy.url())));
    proxy.take_requests();
    let error = world.install(&world.store("other"), TWO, &proxy.url()).unwrap_err();
    assert!(chain(&error).contains("more than 10 redirects"), "{}", chain(&error));
    let hops = proxy.take_requests().into_iter().filter(|asked| *asked == path).count();
    assert_eq!(hops, 11);
}

#[test]
fn many_who_want_one_toolchain_download_it_once() {
    let world = World::new();
    let server = world.serve();
    let store = world.store("store");
    let toolchains: Vec<Toolchain> = std::thread::scope(|scope| {
        let install = || world.install(&store, TWO, &server.url()).unwrap();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(install)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(toolchains.iter().all(|toolchain| *toolchain == toolchains[0]));
    let path = module(TWO).zip_path();
    let downloads = server.take_requests().into_iter().filter(|asked| *asked == path).count();
    assert_eq!(downloads, 1);
}

#[test]
fn what_dead_processes_left_is_removed_and_trees_without_a_record_are_replaced() {
    let world = World::new();
    let store = world.store("store");
    let name = format!("{TWO}.{}", Platform::host());
    write(store.root().join("tmp/private-dead/tree/bin/go"), "half");
    write(store.root().join(format!("downloads/{name}.zip")), "half");
    write(store.root().join(format!("toolchains/{name}/bin/go")), "planted");
    write(store.root().join("tmp/build/x"), "a build's");
    let store = world.store("store");
    let toolchain = world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap();
    drop(store);
    assert_eq!(contents(&toolchain.root), expected_contents(&world.path(TWO)));
    let left: Vec<_> = contents(&world.path("store/tmp")).into_values().collect();
    assert_eq!(left, ["a build's"]);
    assert!(contents(&world.path("store/downloads")).is_empty());
}

#[test]
fn a_record_that_does_not_fit_the_proof_is_not_believed() {
    let world = World::new();
    let store = world.store("store");
    let toolchain = world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap();
    let record = toolchain.root.with_file_name(format!("{TWO}.{}.toml", Platform::host()));
    let good = fs_err::read_to_string(&record).unwrap();
    let h1 = good.lines().find(|line| line.starts_with("h1 = ")).unwrap();
    let other_h1 = good.replace(h1, &format!("h1 = \"h1:{}=\"", "A".repeat(43)));
    for bad in [other_h1.as_str(), "", "not toml", &good.replace(TWO, ONE)] {
        assert_ne!(bad, good);
        fs_err::write(&record, bad).unwrap();
        let marker = toolchain.root.join("marker");
        fs_err::write(&marker, "of the old tree").unwrap();
        assert_eq!(world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap(), toolchain);
        assert!(!marker.exists(), "the tree was not replaced for record {bad:?}");
    }
}
