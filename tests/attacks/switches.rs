//! Settings and files that switch proofs off elsewhere. Nothing switches them off here.

use crate::case::{Case, check, misused, refused};
use crate::log::{answer, database_key, impostor};
use crate::world::{WANTED, WANTED_ID, evil_zip, h1, module, record};
use gosurvey::module::GO_MOD_H1;

/// Serves another zip than the one on record, with a variable set that would let it pass.
fn with_variable(name: &'static str, variable: &'static str, value: &'static str) -> Case {
    refused(name, move |scene| {
        scene.replace(&module(WANTED).zip_path(), evil_zip().bytes());
        scene.variables.push((variable.to_owned(), value.to_owned()));
    })
    .after_the_proof()
}

fn with_gosumdb(name: &'static str, gosumdb: &'static str) -> Case {
    misused(name, move |scene| gosumdb.clone_into(&mut scene.gosumdb))
}

/// What vouches for the other zip in a folder that a go command would look into.
fn go_sum() -> String {
    let version = module(WANTED).version();
    let path = "golang.org/toolchain";
    format!("{path} {version} {}\n{path} {version}/go.mod {GO_MOD_H1}\n", h1(&evil_zip()))
}

#[test]
fn switches() {
    check(
        "switches",
        vec![
            with_gosumdb("GOSUMDB=off", "off"),
            with_gosumdb("GOSUMDB=on", "on"),
            with_gosumdb("GOSUMDB=sum.example.test, a name without a key", "sum.example.test"),
            misused("GOSUMDB with a key hash that is not the key's", |scene| {
                let key = database_key().verifier().to_string();
                let hash = format!("{:08x}", database_key().verifier().hash());
                scene.gosumdb = key.replace(&hash, "00000000");
            }),
            refused("GOSUMDB with another key of the name", |scene| {
                scene.gosumdb = impostor().verifier().to_string();
            }),
            with_variable("GONOSUMDB=*", "GONOSUMDB", "*"),
            with_variable("GONOSUMDB=golang.org/toolchain", "GONOSUMDB", "golang.org/toolchain"),
            with_variable("GOPRIVATE=*", "GOPRIVATE", "*"),
            with_variable("GONOSUMCHECK=1", "GONOSUMCHECK", "1"),
            with_variable("GONOPROXY=*", "GONOPROXY", "*"),
            with_variable("GOINSECURE=*", "GOINSECURE", "*"),
            with_variable("GOFLAGS=-insecure", "GOFLAGS", "-insecure"),
            with_variable("GOFLAGS=-mod=mod", "GOFLAGS", "-mod=mod"),
            with_variable("GOTOOLCHAIN=local", "GOTOOLCHAIN", "local"),
            refused("GONOSUMDB=* with a forged record", |scene| {
                scene.replace(&module(WANTED).zip_path(), evil_zip().bytes());
                let forged = record(WANTED, &evil_zip());
                scene.answer(answer(WANTED_ID, &forged, &scene.head_now()));
                scene.variables.push(("GONOSUMDB".to_owned(), "*".to_owned()));
            }),
            refused("CVE-2026-94447: a go.sum that vouches for the other zip", |scene| {
                scene.replace(&module(WANTED).zip_path(), evil_zip().bytes());
                fs_err::write(scene.work().join("go.sum"), go_sum()).unwrap();
                fs_err::write(scene.work().join("go.work.sum"), go_sum()).unwrap();
                let go_mod = format!("module x\n\ngo 1.99.0\n\ntoolchain go{WANTED}\n");
                fs_err::write(scene.work().join("go.mod"), go_mod).unwrap();
            })
            .after_the_proof(),
            refused("CVE-2026-94447: a go.sum, and no record in the database", |scene| {
                scene.replace(&module(WANTED).zip_path(), evil_zip().bytes());
                scene.status(&crate::world::lookup(WANTED), 404);
                fs_err::write(scene.work().join("go.sum"), go_sum()).unwrap();
            }),
        ],
    );
}
