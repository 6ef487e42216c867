//! Zips that must not be unpacked. The database vouches for the honest zip all the while; most of
//! these have the very files of it, and so the very digest: only the zip's own rules can tell.

use crate::case::{Case, accepted, broken, check, refused, unpublished};
use crate::scene::Scene;
use crate::server::Fault;
use crate::world::{self, WANTED, module};
use crate::zip::{Entry, STORED, Zip, zip64_end, zip64_extra};

fn hostile(name: &'static str, edit: impl Fn(&mut Zip) + Send + Sync + 'static) -> Case {
    refused(name, move |scene| scene.zip(&edit)).after_the_proof()
}

fn harmless(name: &'static str, edit: impl Fn(&mut Zip) + Send + Sync + 'static) -> Case {
    accepted(name, move |scene| scene.zip(&edit)).then(|scene, _| scene.assert_installed(WANTED))
}

/// Gives an entry another name below the module's prefix.
fn named(name: &'static str, to: &'static str) -> Case {
    hostile(name, move |zip| {
        zip.entry("src/x.go").name = format!("{}{to}", prefix()).into_bytes();
    })
}

/// Adds an entry of this name below the module's prefix.
fn with(name: &'static str, added: &'static [&'static str]) -> Case {
    hostile(name, move |zip| {
        for added in added {
            zip.entries.push(Entry::new(format!("{}{added}", prefix()), "more"));
        }
    })
}

fn of_mode(name: &'static str, mode: u32) -> Case {
    hostile(name, move |zip| zip.entry("src/x.go").attributes = mode << 16)
}

fn prefix() -> String {
    module(WANTED).zip_prefix()
}

fn served(scene: &Scene, edit: impl FnOnce(&mut Vec<u8>)) {
    scene.edit(&module(WANTED).zip_path(), edit);
}

#[test]
fn zip_names() {
    check(
        "zip names",
        vec![
            hostile("no prefix", |zip| zip.entry("src/x.go").name = b"src/x.go".to_vec()),
            hostile("prefix of another version", |zip| {
                let known = module(world::KNOWN).zip_prefix();
                zip.entry("src/x.go").name = format!("{known}src/x.go").into_bytes();
            }),
            hostile("prefix without its slash", |zip| {
                zip.entry("src/x.go").name =
                    format!("{}x.go", prefix().trim_end_matches('/')).into();
            }),
            hostile("absolute path", |zip| zip.entry("src/x.go").name = b"/tmp/x.go".to_vec()),
            named("absolute path after the prefix", "/tmp/x.go"),
            hostile("path that climbs before the prefix", |zip| {
                zip.entry("src/x.go").name = format!("../{}x.go", prefix()).into_bytes();
            }),
            named("path that climbs after the prefix", "../../../escaped"),
            named("path that climbs and comes back", "src/../src/x.go"),
            named("element .", "src/./x.go"),
            named("elements of three dots", "src/.../x.go"),
            named("empty element", "src//x.go"),
            named("empty name", ""),
            named("backslash", "src\\x.go"),
            named("backslashes that climb", "..\\..\\escaped"),
            named("NUL", "src/x.go\0.txt"),
            named("line feed", "src/x.go\n0"),
            named("DEL", "src/x\u{7f}.go"),
            named("drive letter", "C:/x.go"),
            named("stream of another file", "src/x.go:stream"),
            named("question mark", "src/x?.go"),
            named("direction override", "src/x\u{202e}og.go"),
            named("trailing dot", "src/x.go."),
            named("device name", "src/nul"),
            named("device name with an extension", "src/Com1.go"),
            hostile("not UTF-8", |zip| {
                zip.entry("src/x.go").name = [prefix().as_bytes(), b"src/\xff.go"].concat();
            }),
            named("go.mod at the root", "go.mod"),
            named("go.mod below", "src/go.mod"),
            named("GO.MOD", "src/GO.MOD"),
            with("folder entry", &["src/empty/"]),
            with("two entries of one name", &["src/x.go"]),
            with("names that differ in case only", &["src/X.go"]),
            with("folders that differ in case only", &["SRC/y.go"]),
            with("names that differ in case only, beyond ASCII", &["src/k.s", "src/\u{212a}.s"]),
            with("file and folder of one name", &["src/x.go/y.go"]),
            with("folder and file of one name", &["src/cmd"]),
        ],
    );
}

#[test]
fn zip_entries() {
    check(
        "zip entries",
        vec![
            of_mode("symbolic link", 0o120_777),
            of_mode("folder by its mode", 0o040_755),
            of_mode("character device", 0o020_666),
            of_mode("block device", 0o060_666),
            of_mode("named pipe", 0o010_644),
            of_mode("socket", 0o140_644),
            of_mode("setuid", 0o104_755),
            of_mode("setgid", 0o102_755),
            of_mode("sticky", 0o101_755),
            hostile("encrypted", |zip| zip.entry("src/x.go").flags = 1),
            hostile("strongly encrypted", |zip| zip.entry("src/x.go").flags = 1 | 1 << 6),
            hostile("bzip2", |zip| zip.entry("src/x.go").method = 12),
            hostile("method that nobody knows", |zip| zip.entry("src/x.go").method = 0x4242),
            hostile("bomb by its declared size", |zip| {
                zip.entry("src/x.go").size = Some(600 << 20);
            })
            .then(|_, run| assert!(run.peak_kib < 100 << 10, "{} KiB", run.peak_kib)),
            hostile("bomb by all declared sizes together", |zip| {
                for entry in &mut zip.entries {
                    entry.size = Some(100 << 20);
                }
            }),
            hostile("bomb: more bytes than declared", |zip| {
                let entry = zip.entry("src/x.go");
                entry.size = Some(entry.content.len() as u32);
                entry.content = vec![0; 64 << 20];
            })
            .then(|_, run| assert!(run.peak_kib < 100 << 10, "{} KiB", run.peak_kib)),
            hostile("fewer bytes than declared", |zip| zip.entry("src/x.go").size = Some(1000)),
            hostile("checksum wrong", |zip| zip.entry("src/x.go").crc = Some(1)),
            hostile("packed size beyond the end of the file", |zip| {
                zip.entry("src/x.go").packed_size = Some(1 << 30);
            }),
            hostile("packed size of one byte", |zip| zip.entry("src/x.go").packed_size = Some(1)),
            hostile("name differs between the two headers", |zip| {
                let other = format!("{}src/y.go", prefix());
                zip.entry("src/x.go").local_name = Some(other.into_bytes());
            }),
            hostile("name differs, in length too", |zip| {
                zip.entry("src/x.go").local_name = Some(b"../../escaped".to_vec());
            }),
            hostile("size differs between the two headers", |zip| {
                zip.entry("src/x.go").local_size = Some(7);
            }),
            hostile("method differs between the two headers", |zip| {
                zip.entry("src/x.go").local_method = Some(STORED);
            }),
            hostile("two entries share one body", |zip| {
                let mut twin = zip.entry("src/x.go").clone();
                twin.name = format!("{}src/y.go", prefix()).into_bytes();
                (twin.is_bodiless, twin.offset) = (true, Some(offset_of(zip, "src/x.go")));
                zip.entries.push(twin);
            }),
            hostile("an entry inside the body of another", |zip| {
                let inner = Entry::new(format!("{}src/y.go", prefix()), "package inner\n");
                let body = Zip { entries: vec![inner.clone()], ..Zip::default() }.bytes();
                let outer = zip.entry("lib/noise");
                (outer.method, outer.content) = (STORED, body);
                let name_bytes = outer.name.len() as u32;
                let offset = offset_of(zip, "lib/noise") + 30 + name_bytes;
                zip.entries.push(Entry { is_bodiless: true, offset: Some(offset), ..inner });
            }),
            hostile("an entry that begins nowhere", |zip| {
                zip.entry("src/x.go").offset = Some(1 << 30);
            }),
            hostile("an entry that begins in the directory", |zip| {
                let (start, _) = zip.directory();
                zip.entry("src/x.go").offset = Some(start);
            }),
            hostile("64-bit size in an extra field", |zip| {
                let entry = zip.entry("src/x.go");
                (entry.size, entry.packed_size) = (Some(u32::MAX), Some(u32::MAX));
                entry.extra = zip64_extra(1 << 40, 20);
            }),
        ],
    );
}

/// Where the body of an entry begins.
fn offset_of(zip: &Zip, name: &str) -> u32 {
    let before = zip.entries.iter().take_while(|entry| !entry.name.ends_with(name.as_bytes()));
    let part = Zip { entries: before.cloned().collect(), ..zip.clone() };
    part.directory().0
}

#[test]
fn zip_shapes() {
    check(
        "zip shapes",
        vec![
            refused("an HTML page with status 200", |scene| {
                served(scene, |zip| *zip = b"<html><body>please log in</body></html>".to_vec());
            })
            .after_the_proof(),
            refused("empty", |scene| served(scene, Vec::clear)).after_the_proof(),
            refused("cut in the middle, with its length to match", |scene| {
                served(scene, |zip| zip.truncate(zip.len() / 2));
            })
            .after_the_proof(),
            refused("one bit of a file flipped", |scene| {
                served(scene, |zip| {
                    let noise = zip.windows(9).position(|window| window == b"lib/noise").unwrap();
                    zip[noise + 1000] ^= 1;
                });
            })
            .after_the_proof(),
            refused("another toolchain's zip", |scene| {
                let known = scene.world.www().join(module(world::KNOWN).zip_path());
                served(scene, |zip| *zip = fs_err::read(known).unwrap());
            })
            .after_the_proof(),
            hostile("a file with other content", |zip| {
                zip.entry("src/x.go").content = b"package evil\n".to_vec();
            })
            .then(|_, run| {
                // What is on record, and what came: both are shown.
                for part in ["h1:HASH1", "h1:HASH2"] {
                    assert!(run.message().contains(part), "{run:?}");
                }
            }),
            hostile("a file more", |zip| {
                zip.entries.push(Entry::new(format!("{}src/z.go", prefix()), "package z\n"));
            }),
            hostile("a file less", |zip| {
                zip.entries.pop();
            }),
            hostile("no files", |zip| zip.entries.clear()),
            hostile("bytes before the first entry", |zip| zip.before = b"#!/bin/sh\n".to_vec()),
            hostile("bytes between the entries and the directory", |zip| {
                zip.gap = b"something unlisted".to_vec();
            }),
            hostile("64-bit end record with another directory than the plain one", |zip| {
                let (start, bytes) = zip.directory();
                let (start, bytes) = (u64::from(start), u64::from(bytes));
                zip.before_end = zip64_end(0, 0, 0, start + bytes);
                zip.directory_bytes = Some(bytes as u32 + zip.before_end.len() as u32);
            }),
            hostile("something between the directory and the end record", |zip| {
                zip.before_end = b"something unlisted".to_vec();
                zip.directory_bytes = Some(zip.directory().1 + zip.before_end.len() as u32);
            }),
            hostile("bytes between two entries", |zip| {
                zip.entries[2].padding = b"something unlisted".to_vec();
            }),
            hostile("another zip before it", |zip| zip.before = zip.bytes()),
            hostile("bytes after the end", |zip| zip.after = b"more".to_vec()),
            hostile("another zip after it", |zip| zip.after = zip.bytes()),
            hostile("a comment", |zip| zip.comment = b"hello".to_vec()),
            hostile("a comment that is an end record", |zip| {
                zip.comment = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
            }),
            hostile("an unlisted entry", |zip| {
                let entry = Entry::new(format!("{}src/hidden.go", prefix()), "package hidden\n");
                zip.entries.push(Entry { is_unlisted: true, ..entry });
            }),
            hostile("directory that begins elsewhere", |zip| {
                zip.directory_start = Some(zip.directory().0 + 1);
            }),
            hostile("directory longer than announced", |zip| {
                zip.directory_bytes = Some(zip.directory().1 - 1);
            }),
            hostile("more entries announced than there are", |zip| {
                zip.announced_entries = Some(zip.entries.len() as u16 + 1);
            }),
            hostile("fewer entries announced than there are", |zip| {
                zip.announced_entries = Some(zip.entries.len() as u16 - 1);
            }),
            hostile("spread over disks", |zip| zip.disk = 1),
            hostile("65,535 entries", |zip| fill(zip, 0xffff)),
            hostile("70,000 entries, of which 4,464 announced", |zip| {
                fill(zip, 70_000);
                zip.announced_entries = Some((70_000 % 0x1_0000) as u16);
            }),
            hostile("64-bit end record", |zip| {
                let (start, bytes) = zip.directory();
                let count = zip.entries.len() as u64;
                let (start, bytes) = (u64::from(start), u64::from(bytes));
                zip.before_end = zip64_end(count, bytes, start, start + bytes);
                zip.announced_entries = Some(0xffff);
                (zip.directory_start, zip.directory_bytes) = (Some(u32::MAX), Some(u32::MAX));
            }),
            harmless("packed otherwise: stored, in another order, another mode", |zip| {
                zip.entries.reverse();
                for entry in &mut zip.entries {
                    (entry.method, entry.attributes) = (STORED, 0);
                }
            }),
            harmless("packed as Go packs: sizes after the bodies", |zip| {
                for entry in &mut zip.entries {
                    entry.is_streamed = true;
                }
            }),
            harmless("executable by its mode", |zip| {
                for entry in &mut zip.entries {
                    entry.attributes = 0o100_777 << 16;
                }
            })
            .then(|scene, _| {
                use std::os::unix::fs::PermissionsExt;
                let mode = |name: &str| {
                    let path = scene.root(WANTED).join(name);
                    fs_err::metadata(path).unwrap().permissions().mode() & 0o7777
                };
                assert_eq!((mode("src/x.go"), mode("bin/go")), (0o444, 0o555));
            }),
        ],
    );
}

/// Adds empty entries until there are so many.
fn fill(zip: &mut Zip, count: usize) {
    for number in zip.entries.len()..count {
        zip.entries
            .push(Entry { method: STORED, ..Entry::new(format!("{}x/{number}", prefix()), "") });
    }
}

#[test]
fn zip_transfers() {
    let zip = module(WANTED).zip_path();
    let fault = move |fault: Fault| {
        let zip = zip.clone();
        move |scene: &mut Scene| scene.server.fault(&zip, fault.clone())
    };
    let status = |status| fault(Fault::Status(status, &["Retry-After: 0"]));
    check(
        "zip transfers",
        vec![
            unpublished("404", status(404)).after_the_proof(),
            unpublished("410", status(410)).after_the_proof(),
            broken("401", status(401)).after_the_proof(),
            broken("403", status(403)).after_the_proof(),
            broken("418", status(418)).after_the_proof(),
            broken("206, which was not asked for", status(206)).after_the_proof(),
            broken("429, 429, 429, 429", status(429)).after_the_proof(),
            broken("500, 500, 500, 500", status(500)).after_the_proof(),
            broken("503, 503, 503, 503", status(503)).after_the_proof(),
            broken("truncated, again and again", fault(Fault::BreakOff(100_000))).after_the_proof(),
            refused("announced as larger than 500 MiB", |scene| {
                let address = crate::flood::serve(Some(600 << 20));
                scene.call(&address, "FLOOD");
                scene.server.fault(&module(WANTED).zip_path(), Fault::Redirect(address));
            })
            .after_the_proof(),
            refused("endless, without a length", |scene| {
                let address = crate::flood::serve(None);
                scene.call(&address, "FLOOD");
                scene.server.fault(&module(WANTED).zip_path(), Fault::Redirect(address));
            })
            .after_the_proof()
            .then(|_, run| assert!(run.peak_kib < 100 << 10, "{} KiB", run.peak_kib)),
        ],
    );
}
