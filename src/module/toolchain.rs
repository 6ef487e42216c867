//! The module a Go toolchain is published as, and how its tree differs from a GOROOT.

use std::collections::BTreeSet;

use crate::platform::Platform;
use crate::release::Release;

/// The path of the module that every toolchain is a version of.
pub const PATH: &str = "golang.org/toolchain";

/// The proxy path of the list of all toolchains.
///
/// What the list says is not authenticated: a proxy can hide or invent versions.
pub const LIST_PATH: &str = "golang.org/toolchain/@v/list";

/// The module's `go.mod`, the same for every toolchain. The zip does not hold it.
pub const GO_MOD_TEXT: &str = "module golang.org/toolchain\n";

/// The `h1:` of [`GO_MOD_TEXT`] as checksum databases record it.
pub const GO_MOD_H1: &str = "h1:8wlg68NqwW7eMnI1aABk/C2pDYXj8mrMY4TyRfiLeS0=";

/// What stands before the release in a version of the module.
const VERSION_PREFIX: &str = "v0.0.1-";

/// A release for a platform, as a version of the module `golang.org/toolchain`.
///
/// Displays as `golang.org/toolchain@v0.0.1-go1.27.1.linux-amd64`. All of it is lower case, so
/// the names below need no escaping.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolchainModule {
    pub release: Release,
    pub platform: Platform,
}

impl ToolchainModule {
    /// The module version: `v0.0.1-go1.27.1.linux-amd64`.
    pub fn version(&self) -> String {
        format!("{VERSION_PREFIX}{}.{}", self.release, self.platform)
    }

    /// What every name in the module's zip starts with, and every name its digest covers.
    pub fn zip_prefix(&self) -> String {
        format!("{self}/")
    }

    /// The proxy path of the version's JSON description.
    pub fn info_path(&self) -> String {
        self.proxy_path("info")
    }

    /// The proxy path of the version's `go.mod`.
    pub fn mod_path(&self) -> String {
        self.proxy_path("mod")
    }

    /// The proxy path of the version's zip.
    pub fn zip_path(&self) -> String {
        self.proxy_path("zip")
    }

    fn proxy_path(&self, extension: &str) -> String {
        format!("{PATH}/@v/{}.{extension}", self.version())
    }
}

impl std::fmt::Display for ToolchainModule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{PATH}@{}", self.version())
    }
}

/// One line of a proxy's list, taken apart but not judged.
///
/// `version` is the text between `go` and the platform and may not be a Go version: the real list
/// has `1.9.2rc2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListLine<'a> {
    pub version: &'a str,
    pub os: &'a str,
    pub arch: &'a str,
}

impl<'a> ListLine<'a> {
    /// Reads the first field of a line such as `v0.0.1-go1.27.1.linux-amd64`.
    ///
    /// Returns `None` for lines that name no toolchain. A second field, a time that some proxies
    /// add, is ignored. Any space ends a field, as it does for the go command.
    pub fn parse(line: &'a str) -> Option<Self> {
        let version = line.split_whitespace().next()?;
        let toolchain = version.strip_prefix(VERSION_PREFIX)?.strip_prefix("go")?;
        let (version, platform) = toolchain.rsplit_once('.')?;
        let (os, arch) = platform.split_once('-')?;
        let all_fine = is_word(os) && is_word(arch) && !version.is_empty();
        all_fine.then_some(ListLine { version, os, arch })
    }
}

fn is_word(text: &str) -> bool {
    let lower_or_digit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !text.is_empty() && text.bytes().all(lower_or_digit)
}

/// A file of the module's tree and where its content lies in a GOROOT.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleFile {
    /// The name in the module, without the zip's prefix.
    pub name: String,
    /// The path in the GOROOT, with slashes.
    pub path: String,
}

/// The folders of a distribution that its module leaves out.
const LEFT_OUT: [&str; 5] = ["api", "doc", "misc", "test", ".github"];

/// Returns the name in the module of the file at `path` in a GOROOT, or `None` if the module
/// leaves it out.
///
/// The module has no `api`, `doc`, `misc`, `test` or `.github`, and every `go.mod` of the
/// distribution is called `_go.mod` in it, because a module zip may not hold another module. A
/// top-level `__init__.py` is no part of Go; packagers for Python add it.
///
/// Source: `src/cmd/distpack` of Go 1.22, and the trees of published toolchains.
pub fn module_name(path: &str) -> Option<String> {
    if path == "__init__.py" {
        return None;
    }
    let (top, below) = path.split_once('/').unwrap_or((path, ""));
    if !below.is_empty() && LEFT_OUT.contains(&top) {
        return None;
    }
    match path.rsplit_once('/') {
        Some((folder, "go.mod")) => Some(format!("{folder}/_go.mod")),
        None if path == "go.mod" => Some("_go.mod".to_owned()),
        _ => Some(path.to_owned()),
    }
}

/// Maps all files of a GOROOT to the module's tree, sorted by name.
///
/// Works on a distribution and on an installed toolchain: where a folder has `_go.mod` and
/// `go.mod`, the second is the copy made on installing and is left out.
pub fn module_files<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<ModuleFile> {
    let paths: BTreeSet<&str> = paths.into_iter().collect();
    let is_copy = |path: &str| {
        let folder = path.strip_suffix("go.mod").filter(|folder| is_folder_prefix(folder));
        folder.is_some_and(|folder| paths.contains(format!("{folder}_go.mod").as_str()))
    };
    let mut files: Vec<ModuleFile> = paths
        .iter()
        .filter(|path| !is_copy(path))
        .filter_map(|path| Some(ModuleFile { name: module_name(path)?, path: (*path).to_owned() }))
        .collect();
    files.sort();
    files
}

/// Whether the file called `name` in the module is a program once installed.
///
/// Zip entries carry modes too, but only since Go 1.21, and the go command ignores them.
///
/// Source: `src/cmd/go/internal/toolchain` of Go 1.27.
pub fn becomes_executable(name: &str) -> bool {
    let Some((folder, file)) = name.rsplit_once('/') else { return false };
    let is_below = |top: &str| folder == top || folder.starts_with(&format!("{top}/"));
    is_below("bin") || is_below("pkg/tool") || (is_below("lib") && is_exec_wrapper(file))
}

/// Whether `file` has the form `go_GOOS_GOARCH_exec`, the program that runs foreign binaries.
fn is_exec_wrapper(file: &str) -> bool {
    let Some(platform) = file.strip_prefix("go_").and_then(|rest| rest.strip_suffix("_exec"))
    else {
        return false;
    };
    let mut inner = platform.chars();
    inner.next().is_some() && inner.next_back().is_some() && inner.as_str().contains('_')
}

/// Lists the copies that make an unpacked module a GOROOT again: each `_go.mod` to the `go.mod`
/// beside it, as (from, to), `src/go.mod` last because the go command takes it for the sign that
/// all are there.
///
/// Returns none if there is no `src/_go.mod`: before Go 1.12 the distribution was no module.
///
/// Source: `src/cmd/go/internal/toolchain` of Go 1.27.
pub fn go_mod_copies<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(String, String)> {
    const SIGN: &str = "src/_go.mod";
    let mut sources: Vec<&str> = names
        .into_iter()
        .filter(|name| name.strip_suffix("_go.mod").is_some_and(is_folder_prefix))
        .collect();
    if !sources.contains(&SIGN) {
        return Vec::new();
    }
    sources.sort_unstable_by_key(|name| (*name == SIGN, *name));
    sources.dedup();
    let copy_of = |name: &str| {
        let folder = &name[..name.len() - "_go.mod".len()];
        (name.to_owned(), format!("{folder}go.mod"))
    };
    sources.into_iter().map(copy_of).collect()
}

fn is_folder_prefix(text: &str) -> bool {
    text.is_empty() || text.ends_with('/')
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::module::{TreeListing, check_entries, escape_path, escape_version};

    fn toolchain() -> ToolchainModule {
        ToolchainModule {
            release: "go1.27.1".parse().unwrap(),
            platform: Platform { os: "linux".into(), arch: "amd64".into() },
        }
    }

    #[test]
    fn names_of_a_toolchain() {
        let toolchain = toolchain();
        assert_eq!(toolchain.version(), "v0.0.1-go1.27.1.linux-amd64");
        assert_eq!(toolchain.zip_prefix(), "golang.org/toolchain@v0.0.1-go1.27.1.linux-amd64/");
        assert_eq!(
            toolchain.info_path(),
            "golang.org/toolchain/@v/v0.0.1-go1.27.1.linux-amd64.info"
        );
        assert_eq!(toolchain.mod_path(), "golang.org/toolchain/@v/v0.0.1-go1.27.1.linux-amd64.mod");
        assert_eq!(toolchain.zip_path(), "golang.org/toolchain/@v/v0.0.1-go1.27.1.linux-amd64.zip");
    }

    #[test]
    fn names_need_no_escape() {
        assert_eq!(escape_path(PATH).unwrap(), PATH);
        let version = toolchain().version();
        assert_eq!(escape_version(&version).unwrap(), version);
        assert_eq!(LIST_PATH, format!("{PATH}/@v/list"));
    }

    #[test]
    fn releases_before_1_21_have_no_patch_zero() {
        let release: Release = "go1.20.0".parse().unwrap();
        assert_eq!(
            ToolchainModule { release, ..toolchain() }.version(),
            "v0.0.1-go1.20.linux-amd64"
        );
    }

    #[test]
    fn go_mod_h1_is_the_digest_of_the_text() {
        let mut listing = TreeListing::new();
        listing.add("go.mod", Sha256::digest(GO_MOD_TEXT).into()).unwrap();
        assert_eq!(listing.digest().to_h1(), GO_MOD_H1);
    }

    #[test]
    fn list_lines_are_taken_apart() {
        let parse = |line| ListLine::parse(line).map(|l| (l.version, l.os, l.arch));
        assert_eq!(parse("v0.0.1-go1.27.1.linux-amd64"), Some(("1.27.1", "linux", "amd64")));
        assert_eq!(parse("v0.0.1-go1.9.2rc2.linux-386"), Some(("1.9.2rc2", "linux", "386")));
        assert_eq!(
            parse("v0.0.1-go1.4beta1.darwin-amd64 2014-10-30T00:00:00Z\r"),
            Some(("1.4beta1", "darwin", "amd64"))
        );
        for other in [
            "",
            " ",
            "<html>",
            "v0.0.1",
            "v0.0.1-go",
            "v0.0.1-go1.27.1",
            "v0.0.1-go.linux-amd64",
            "v0.0.2-go1.27.1.linux-amd64",
            "v0.0.1-1.27.1.linux-amd64",
            "v0.0.1-go1.27.1.linux",
            "v0.0.1-go1.27.1.linux-",
            "v0.0.1-go1.27.1.-amd64",
            "v0.0.1-go1.27.1.linux-amd64-x",
            "v0.0.1-go1.27.1.../amd64",
        ] {
            assert_eq!(parse(other), None, "{other:?}");
        }
    }

    #[test]
    fn the_module_leaves_folders_out_and_renames_go_mod() {
        let name = |path| module_name(path).unwrap_or_default();
        assert_eq!(name("VERSION"), "VERSION");
        assert_eq!(name("src/api/x.go"), "src/api/x.go");
        assert_eq!(name("apiary/x"), "apiary/x");
        assert_eq!(name("src/go.mod"), "src/_go.mod");
        assert_eq!(name("src/cmd/vet/testdata/a/go.mod"), "src/cmd/vet/testdata/a/_go.mod");
        assert_eq!(name("src/go.mod.txt"), "src/go.mod.txt");
        assert_eq!(name("go.mod"), "_go.mod");
        assert_eq!(name("src/__init__.py"), "src/__init__.py");
        for path in
            ["api/go1.txt", "doc/a", "misc/wasm/x/go.mod", "test/a/b", ".github/x", "__init__.py"]
        {
            assert_eq!(module_name(path), None, "{path}");
        }
    }

    #[test]
    fn an_installed_toolchain_maps_to_the_same_module_as_its_distribution() {
        let distribution = ["VERSION", "api/x", "src/go.mod", "src/go.sum", "src/a/xgo.mod"];
        let installed = ["VERSION", "src/_go.mod", "src/go.mod", "src/go.sum", "src/a/xgo.mod"];
        let names = |paths: &[&str]| -> Vec<String> {
            module_files(paths.iter().copied()).into_iter().map(|file| file.name).collect()
        };
        assert_eq!(names(&distribution), ["VERSION", "src/_go.mod", "src/a/xgo.mod", "src/go.sum"]);
        assert_eq!(names(&distribution), names(&installed));
        assert!(check_entries("", names(&distribution).iter().map(String::as_str)).is_ok());

        let source = |paths: &[&str]| {
            let files = module_files(paths.iter().copied());
            files.into_iter().find(|file| file.name == "src/_go.mod").map(|file| file.path)
        };
        assert_eq!(source(&distribution).unwrap(), "src/go.mod");
        assert_eq!(source(&installed).unwrap(), "src/_go.mod");
    }

    #[test]
    fn programs_become_executable_and_nothing_else() {
        for name in [
            "bin/go",
            "bin/gofmt",
            "pkg/tool/linux_amd64/compile",
            "lib/wasm/go_js_wasm_exec",
            "lib/wasm/go_wasip1_wasm_exec",
        ] {
            assert!(becomes_executable(name), "{name}");
        }
        for name in [
            "VERSION",
            "bin",
            "binary/x",
            "src/make.bash",
            "src/bin/x",
            "pkg/toolbox/x",
            "pkg/linux_amd64/fmt.a",
            "lib/wasm/wasm_exec.js",
            "lib/go__exec",
            "lib/go_a_exec",
            "lib/go__a_exec",
            "lib/go_a__exec",
            "src/go_js_wasm_exec",
        ] {
            assert!(!becomes_executable(name), "{name}");
        }
    }

    #[test]
    fn src_go_mod_is_copied_last() {
        let names =
            ["src/_go.mod", "src/cmd/_go.mod", "src/x/a_go.mod", "src/a/_go.mod", "src/_go.mod"];
        let targets: Vec<_> = go_mod_copies(names).into_iter().map(|(_, to)| to).collect();
        assert_eq!(targets, ["src/a/go.mod", "src/cmd/go.mod", "src/go.mod"]);
        assert_eq!(go_mod_copies(["src/a/_go.mod"]), []);
    }
}
