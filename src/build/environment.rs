//! The go command's whole environment.

use super::c_library::C_COMPILER;
use crate::exec::quoted;
use crate::platform::Platform;
use crate::release::{Minor, Release, check_goamd64};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The environment of a go command, built from nothing: no variable of the caller reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment(BTreeMap<&'static str, OsString>);

/// What decides the environment of a build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings<'a> {
    pub release: &'a Release,
    pub platform: &'a Platform,
    pub goroot: &'a Path,
    pub goamd64: &'a str,
    pub experiments: Option<&'a str>,
    pub cgo: bool,
    pub gocache: &'a Path,
    pub home: &'a Path,
    pub gopath: &'a Path,
    pub temporary: &'a Path,
}

/// Where a build finds the C compiler and what else belongs to the system.
pub(super) const SYSTEM_PATH: &str = "/usr/bin:/bin";

/// The first minor that links cgo programs right where the C compiler makes position-independent
/// executables by default, as all distributions' compilers do today. Before go1.6 the link fails;
/// 1.6 and 1.7 make an executable that is patched while it is loaded.
const FIRST_WITH_PIE_COMPILERS: u64 = 8;
/// The first minor whose go command reads `GOAMD64`.
const FIRST_WITH_GOAMD64: u64 = 18;
/// The first minor whose go command reads `GOEXPERIMENT`; before, it was fixed when the toolchain
/// itself was built, and setting it changes nothing without a word.
const FIRST_WITH_GOEXPERIMENT: u64 = 17;

impl Environment {
    /// The environment in which `settings` are built.
    ///
    /// A variable is set where it exists: an older go command would pass over it, but the record
    /// would claim something that had no effect. `GOFLAGS` and everything else not named here is
    /// absent, and `GOENV=off` keeps it so.
    ///
    /// # Errors
    ///
    /// Why the toolchain cannot do what is asked for, in words.
    pub(super) fn for_build(settings: &Settings<'_>) -> Result<Self, String> {
        let mut variables = BTreeMap::from([
            ("GOROOT", settings.goroot.as_os_str().to_owned()),
            ("HOME", settings.home.as_os_str().to_owned()),
            ("GOPATH", settings.gopath.as_os_str().to_owned()),
            ("TMPDIR", settings.temporary.as_os_str().to_owned()),
            ("PATH", path(settings.goroot)),
            ("LC_ALL", "C".into()),
            // Without a C compiler in PATH go1.20+ would switch it off by itself.
            ("CGO_ENABLED", if settings.cgo { "1" } else { "0" }.into()),
        ]);
        let mut set = |name, value: &OsStr| variables.insert(name, value.to_owned());
        if settings.cgo {
            // What it is anyway; but a toolchain may have another name built in.
            set("CC", C_COMPILER.as_ref());
            // Without the `-g` that it has by default: with it, the random name of a temporary
            // folder gets into the executable, up to go1.12.
            set("CGO_CFLAGS", "-O2".as_ref());
            if let Some(flags) = linker_flags(settings.release) {
                set("CGO_LDFLAGS", flags.as_ref());
            }
        }
        if since(settings.release, 10) {
            set("GOCACHE", settings.gocache.as_os_str());
            set("GOTMPDIR", settings.temporary.as_os_str());
        }
        if since(settings.release, 11) {
            set("GO111MODULE", "on".as_ref());
            // Programs need nothing from the network; nothing may come from it.
            set("GOPROXY", "off".as_ref());
        }
        if since(settings.release, 13) {
            set("GOSUMDB", "off".as_ref());
            // No file of `go env -w`.
            set("GOENV", "off".as_ref());
        }
        if since(settings.release, 18) {
            // No go.work in a folder above the store.
            set("GOWORK", "off".as_ref());
        }
        if since(settings.release, 21) {
            // The toolchain that is measured, not the one a go.mod asks for.
            set("GOTOOLCHAIN", "local".as_ref());
        }
        if let Some(value) = goamd64(settings)? {
            set("GOAMD64", value.as_ref());
        }
        if let Some(words) = experiments(settings)? {
            set("GOEXPERIMENT", words.as_ref());
        }
        Ok(Environment(variables))
    }

    /// The environment in which a toolchain of any release says who it is.
    pub(super) fn for_version(goroot: &Path) -> Self {
        Environment(BTreeMap::from([
            ("GOROOT", goroot.as_os_str().to_owned()),
            // No folder can be made below it, so go1.23+ keeps no counters and starts no helper
            // that would.
            ("HOME", "/dev/null".into()),
            ("PATH", path(goroot)),
            ("LC_ALL", "C".into()),
            ("GOENV", "off".into()),
            ("GOTOOLCHAIN", "local".into()),
        ]))
    }

    /// The variables, sorted by name.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &OsStr)> {
        self.0.iter().map(|(name, value)| (*name, value.as_os_str()))
    }

    /// The variables as `NAME=value`, separated by blanks and sorted by name (a value with a blank
    /// is quoted as for the shell), with every folder of
    /// `names` replaced by its name, the first that fits winning.
    pub(super) fn to_text(&self, names: &[(&Path, &str)]) -> String {
        let texts = self.0.iter().map(|(name, value)| {
            let value = names.iter().fold(value.to_string_lossy().into_owned(), |value, pair| {
                value.replace(&*pair.0.to_string_lossy(), pair.1)
            });
            format!("{name}={}", if value.contains(' ') { quoted(value.as_ref()) } else { value })
        });
        texts.collect::<Vec<_>>().join(" ")
    }
}

/// Whether `release` is of go1.`minor` or a later one.
pub(super) fn since(release: &Release, minor: u64) -> bool {
    release.minor() >= Minor { major: 1, minor }
}

/// What the linker of a cgo program must be told.
fn linker_flags(release: &Release) -> Option<&'static str> {
    if since(release, FIRST_WITH_PIE_COMPILERS) {
        return None;
    }
    // Go1.2 compiles with `-g` whatever it is told; the linker can take out what comes of it.
    Some(if since(release, 3) { "-no-pie" } else { "-no-pie -Wl,-S" })
}

fn path(goroot: &Path) -> OsString {
    let mut path = goroot.join("bin").into_os_string();
    path.push(":");
    path.push(SYSTEM_PATH);
    path
}

/// Whether a release's go command knows `GOAMD64` on this platform; the others build what is now
/// called v1.
pub fn knows_goamd64(release: &Release, platform: &Platform) -> bool {
    platform.arch == "amd64" && since(release, FIRST_WITH_GOAMD64)
}

/// `GOAMD64` for the go command, if it knows the variable.
///
/// The value is checked here: go1.23 … go1.27 let a misspelt one pass, build for v1, and record
/// the misspelling in the executable.
fn goamd64<'a>(settings: &Settings<'a>) -> Result<Option<&'a str>, String> {
    check_goamd64(settings.goamd64).map_err(|error| error.to_string())?;
    let known = knows_goamd64(settings.release, settings.platform);
    match settings.goamd64 {
        value if known => Ok(Some(value)),
        "v1" => Ok(None),
        value => Err(format!(
            "{} on {} has no GOAMD64 ({value} asked for; go1.{FIRST_WITH_GOAMD64} on amd64 is the \
             first that has)",
            settings.release, settings.platform
        )),
    }
}

fn experiments<'a>(settings: &Settings<'a>) -> Result<Option<&'a str>, String> {
    match settings.experiments {
        Some(words) if !since(settings.release, FIRST_WITH_GOEXPERIMENT) => Err(format!(
            "{} does not read GOEXPERIMENT ({words} asked for; go1.{FIRST_WITH_GOEXPERIMENT} is \
             the first that does)",
            settings.release
        )),
        words => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings<'a>(release: &'a Release, platform: &'a Platform) -> Settings<'a> {
        Settings {
            release,
            platform,
            goroot: Path::new("/s/toolchains/go"),
            goamd64: "v1",
            experiments: None,
            cgo: false,
            gocache: Path::new("/s/gocache/go"),
            home: Path::new("/s/work/build/home"),
            gopath: Path::new("/s/work/build/gopath"),
            temporary: Path::new("/s/work/build/tmp"),
        }
    }

    fn amd64() -> Platform {
        Platform { os: "linux".into(), arch: "amd64".into() }
    }

    fn text(release: &str) -> String {
        let (release, platform) = (release.parse().unwrap(), amd64());
        Environment::for_build(&settings(&release, &platform))
            .unwrap()
            .to_text(&[(Path::new("/s/work/build"), "$WORK"), (Path::new("/s"), "$STORE")])
            .replace(' ', "\n")
    }

    #[test]
    fn the_newest_releases_get_everything() {
        insta::assert_snapshot!(text("1.27.1"), @r"
        CGO_ENABLED=0
        GO111MODULE=on
        GOAMD64=v1
        GOCACHE=$STORE/gocache/go
        GOENV=off
        GOPATH=$WORK/gopath
        GOPROXY=off
        GOROOT=$STORE/toolchains/go
        GOSUMDB=off
        GOTMPDIR=$WORK/tmp
        GOTOOLCHAIN=local
        GOWORK=off
        HOME=$WORK/home
        LC_ALL=C
        PATH=$STORE/toolchains/go/bin:/usr/bin:/bin
        TMPDIR=$WORK/tmp
        ");
    }

    #[test]
    fn the_oldest_release_gets_what_it_knows() {
        insta::assert_snapshot!(text("1.2.2"), @r"
        CGO_ENABLED=0
        GOPATH=$WORK/gopath
        GOROOT=$STORE/toolchains/go
        HOME=$WORK/home
        LC_ALL=C
        PATH=$STORE/toolchains/go/bin:/usr/bin:/bin
        TMPDIR=$WORK/tmp
        ");
    }

    #[test]
    fn each_variable_comes_with_the_release_that_knows_it() {
        let first = |variable: &str| {
            (2..28).find(|minor| text(&format!("1.{minor}.1")).contains(variable)).unwrap()
        };
        let firsts = ["GOCACHE=", "GO111MODULE=", "GOENV=", "GOAMD64=", "GOWORK=", "GOTOOLCHAIN="];
        assert_eq!(firsts.map(first), [10, 11, 13, 18, 18, 21]);
    }

    #[test]
    fn a_setting_the_toolchain_would_pass_over_is_refused() {
        let platform = amd64();
        let arm64 = Platform { os: "linux".into(), arch: "arm64".into() };
        let (old, new): (Release, Release) = ("1.16.8".parse().unwrap(), "1.27.1".parse().unwrap());
        let refused = |settings: Settings<'_>| Environment::for_build(&settings).unwrap_err();

        let v3 = refused(Settings { goamd64: "v3", ..settings(&old, &platform) });
        assert!(v3.contains("go1.16.8 on linux-amd64 has no GOAMD64 (v3 asked for"), "{v3}");
        refused(Settings { goamd64: "v3", ..settings(&new, &arm64) });
        refused(Settings { goamd64: "V3", ..settings(&new, &platform) });
        let words = Some("nogreenteagc");
        let experiment = refused(Settings { experiments: words, ..settings(&old, &platform) });
        assert!(experiment.contains("go1.16.8 does not read GOEXPERIMENT"), "{experiment}");
    }

    #[test]
    fn settings_reach_the_releases_that_know_them() {
        let (release, platform) = ("1.26.6".parse().unwrap(), amd64());
        let settings = Settings {
            goamd64: "v3",
            experiments: Some("nogreenteagc"),
            cgo: true,
            ..settings(&release, &platform)
        };
        let text = Environment::for_build(&settings).unwrap().to_text(&[]);
        for part in ["GOAMD64=v3 ", "GOEXPERIMENT=nogreenteagc ", "CGO_ENABLED=1 ", "CC=gcc "] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn only_cgo_before_1_8_is_told_not_to_link_position_independently() {
        let text = |release: &str, cgo| {
            let (release, platform) = (release.parse().unwrap(), amd64());
            let settings = Settings { cgo, ..settings(&release, &platform) };
            Environment::for_build(&settings).unwrap().to_text(&[])
        };
        assert!(text("1.2.2", true).contains("CGO_LDFLAGS='-no-pie -Wl,-S' "));
        for old in ["1.3.3", "1.7.6"] {
            assert!(text(old, true).contains("CGO_LDFLAGS=-no-pie "));
            assert!(!text(old, false).contains("CGO_LDFLAGS"));
        }
        assert!(!text("1.8.7", true).contains("CGO_LDFLAGS"));
    }
}
