//! How a release wants a program laid out and named.

use super::environment::since;
use crate::release::Release;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How the go command finds a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to go1.10: below `$GOPATH/src`, by its import path.
    Gopath,
    /// From go1.11 on: in the folder of its `go.mod`.
    Modules,
}

impl Era {
    pub fn of(release: &Release) -> Self {
        if since(release, 11) { Era::Modules } else { Era::Gopath }
    }

    /// Where the program's files go, relative to the private folder.
    pub(super) fn source_folder(self, program: &str) -> PathBuf {
        match self {
            Era::Gopath => Path::new("gopath/src").join(import_path(program)),
            Era::Modules => PathBuf::from("src"),
        }
    }

    /// The arguments of the go command that build `program` into the file `output`.
    ///
    /// In a module the package is named by its folder, never by its files: given files, the go
    /// command passes over the language version of `go.mod`.
    pub(super) fn arguments(
        self,
        release: &Release,
        program: &str,
        output: &Path,
    ) -> Vec<OsString> {
        let mut arguments = vec!["build".into()];
        if since(release, 13) {
            // The same text gives the same executable wherever it is built.
            arguments.push("-trimpath".into());
        }
        if since(release, 18) {
            // The store may lie in somebody's repository; its commit is not the program's.
            arguments.push("-buildvcs=false".into());
        }
        arguments.extend(["-o".into(), output.into()]);
        arguments.push(match self {
            Era::Gopath => import_path(program).into(),
            Era::Modules => ".".into(),
        });
        arguments
    }
}

/// The `go.mod` of `program` for `release`: its language version is the release's own.
pub(super) fn go_mod(release: &Release, program: &str) -> String {
    format!("module {}\n\ngo {}\n", import_path(program), release.minor())
}

/// The program's import path, the same in both eras. Its domain keeps a program from being taken
/// for a package of the standard library.
fn import_path(program: &str) -> String {
    format!("gosurvey.example/{program}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(release: &str) -> String {
        let release = release.parse().unwrap();
        let era = Era::of(&release);
        let arguments = era.arguments(&release, "n-body", Path::new("/w/out"));
        let folder = era.source_folder("n-body");
        format!("{}: go {}", folder.display(), arguments.join(" ".as_ref()).display())
    }

    #[test]
    fn each_era_is_asked_in_its_own_way() {
        let lines = ["1.2.2", "1.10.8", "1.11.13", "1.13.4", "1.27.1"].map(line).join("\n");
        insta::assert_snapshot!(lines, @r"
        gopath/src/gosurvey.example/n-body: go build -o /w/out gosurvey.example/n-body
        gopath/src/gosurvey.example/n-body: go build -o /w/out gosurvey.example/n-body
        src: go build -o /w/out .
        src: go build -trimpath -o /w/out .
        src: go build -trimpath -buildvcs=false -o /w/out .
        ");
    }

    #[test]
    fn the_language_version_is_the_minor() {
        let go_mod = |release: &str| go_mod(&release.parse().unwrap(), "n-body");
        assert_eq!(go_mod("1.21.13"), "module gosurvey.example/n-body\n\ngo 1.21\n");
        assert_eq!(go_mod("1.27rc1"), "module gosurvey.example/n-body\n\ngo 1.27\n");
    }
}
