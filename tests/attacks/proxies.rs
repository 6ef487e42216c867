//! Proxies that hide, invent, refuse, or speak another language; and what a GOPROXY list makes of it.

use gosurvey::module::LIST_PATH;

use crate::case::{Case, accepted, broken, check, refused, unpublished};
use crate::scene::Scene;
use crate::server::{Fault, Server};
use crate::world::{KNOWN, WANTED, database, evil_zip, lookup, module};

/// Asks for the latest patch of WANTED's minor, for which the list of versions is needed.
fn ask_for_minor(scene: &mut Scene) {
    scene.wanted = "1.99".to_owned();
}

/// The list of versions is this.
fn listing(list: impl AsRef<[u8]> + Send + Sync + 'static) -> impl Fn(&mut Scene) {
    move |scene| {
        ask_for_minor(scene);
        scene.replace(LIST_PATH, list.as_ref());
    }
}

fn list_status(status: u16) -> impl Fn(&mut Scene) {
    move |scene| {
        ask_for_minor(scene);
        scene.status(LIST_PATH, status);
    }
}

#[test]
fn lists() {
    let known = module(KNOWN).version();
    let invented = module("1.99.7");
    let (in_list, known_line) = (format!("{}\n", invented.version()), format!("{known}\n"));
    check(
        "lists",
        vec![
            broken(
                "an HTML page with status 200",
                listing("<html><body>please log in</body></html>"),
            ),
            broken("empty", listing("")),
            broken("not text", listing([0xff; 100])),
            broken("endless", listing("v0.0.1-go1.99.0.linux-amd64\n".repeat(200_000))),
            broken("404", list_status(404)),
            broken("403", list_status(403)),
            broken("500, 500, 500, 500", list_status(500)),
            unpublished("hides the release", listing(known_line)),
            unpublished("has the language version only", |scene| {
                ask_for_minor(scene);
                let module = module(WANTED).version().replace("go1.99.0", "go1.99");
                scene.replace(LIST_PATH, format!("{module}\n"));
            }),
            unpublished("names that climb out of the store", |scene| {
                ask_for_minor(scene);
                let platform = module(WANTED).platform;
                scene.replace(LIST_PATH, format!("v0.0.1-go1.99.0/../../x.{platform}\n"));
            }),
            unpublished("invents a release that nobody has", listing(in_list.clone())),
            refused("invents a release and serves it", move |scene| {
                ask_for_minor(scene);
                scene.replace(LIST_PATH, in_list.as_bytes());
                scene.replace(&invented.info_path(), "{}");
                scene.replace(&invented.zip_path(), evil_zip().bytes());
            }),
            accepted("holds lines that are no versions", |scene| {
                ask_for_minor(scene);
                scene.edit(LIST_PATH, |list| {
                    list.extend(b"\n\0\xff go1.99.9\nv0.0.1-go1.9.2rc2.x\n")
                });
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
        ],
    );
}

/// There is no record; the description of the version, which tells "unheard of", is this.
fn without_record(name: &'static str, info: &'static str) -> Case {
    refused(name, move |scene| {
        scene.status(&lookup(WANTED), 404);
        scene.replace(&module(WANTED).info_path(), info.as_bytes());
    })
}

/// A second server, as honest as the first, after this separator in GOPROXY.
fn with_second(scene: &mut Scene, separator: char) -> Server {
    let second = Server::start(&scene.world.www());
    scene.call(second.url(), "SECOND");
    scene.goproxy = format!("{}{separator}{}", scene.goproxy, second.url());
    second
}

/// What the second server is asked must not be the zip.
fn zip_only_from_first(
    name: &'static str,
    arrange: impl Fn(&Scene) + Send + Sync + 'static,
) -> Case {
    refused(name, move |scene| {
        let second = with_second(scene, '|');
        // If it were asked, it would break the case by failing otherwise.
        second.fault(&module(WANTED).zip_path(), Fault::Status(418, &[]));
        scene.keep_alive(second);
        arrange(scene);
    })
    .after_the_proof()
}

#[test]
fn proxies() {
    check(
        "proxies",
        vec![
            unpublished("nobody has it", |scene| {
                scene.status(&lookup(WANTED), 404);
                scene.status(&module(WANTED).info_path(), 404);
                scene.status(&module(WANTED).zip_path(), 404);
            }),
            without_record(
                "no record, and .info of another version",
                "{\"Version\":\"v0.0.1-go1.98.1\"}",
            ),
            without_record("no record, and .info an HTML page", "<html>please log in</html>"),
            without_record("no record, and .info empty", ""),
            refused("no record, and .info endless", |scene| {
                scene.status(&lookup(WANTED), 404);
                scene.replace(&module(WANTED).info_path(), vec![b' '; 70_000]);
            }),
            broken("no record, and .info 403", |scene| {
                scene.status(&lookup(WANTED), 404);
                scene.status(&module(WANTED).info_path(), 403);
            }),
            accepted(".info of another version beside a record, not read", |scene| {
                scene.replace(&module(WANTED).info_path(), "{\"Version\":\"v0.0.1-go1.98.1\"}");
            }),
            broken("nobody listens", |scene| {
                let port =
                    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
                scene.goproxy = format!("http://{port}");
                scene.call(scene.goproxy.clone(), "NOBODY");
            }),
            broken("the database's supported: 403", |scene| {
                scene.status(&database("supported"), 403);
            }),
            broken("the database's supported: 500, 500, 500, 500", |scene| {
                scene.status(&database("supported"), 500);
            }),
            broken("403 for the zip, and a good proxy after a comma", |scene| {
                let second = with_second(scene, ',');
                scene.keep_alive(second);
                scene.status(&module(WANTED).zip_path(), 403);
            })
            .after_the_proof(),
            accepted("404 for the zip, and a good proxy after a comma", |scene| {
                let second = with_second(scene, ',');
                scene.keep_alive(second);
                scene.status(&module(WANTED).zip_path(), 404);
            }),
            accepted("403 for the zip, and a good proxy after a bar", |scene| {
                let second = with_second(scene, '|');
                scene.keep_alive(second);
                scene.status(&module(WANTED).zip_path(), 403);
            }),
            zip_only_from_first("a wrong zip, and a good proxy after a bar", |scene| {
                scene.replace(&module(WANTED).zip_path(), evil_zip().bytes());
            }),
            zip_only_from_first("an HTML page for a zip, and a good proxy after a bar", |scene| {
                scene.replace(&module(WANTED).zip_path(), "<html>please log in</html>");
            }),
            refused("a forged lookup, and a good proxy after a bar", |scene| {
                let second = with_second(scene, '|');
                scene.keep_alive(second);
                scene.answer("<html>please log in</html>");
            }),
            refused("no lookup, and a good proxy after a bar", |scene| {
                let second = with_second(scene, '|');
                scene.keep_alive(second);
                scene.status(&lookup(WANTED), 404);
            }),
        ],
    );
}
