//! Whether a program's C library is installed, and which one it is.
//!
//! The go command would find out too, but says it in the words of whichever release runs it, once
//! for each of them. Here it is asked once, and the answer names the package that is missing.

use super::environment::SYSTEM_PATH;
use crate::digest::Digest;
use crate::suite::CLibrary;
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The C compiler that every release calls, by the name the go command gives it.
pub(super) const C_COMPILER: &str = "gcc";

/// A C library as it is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledLibrary {
    /// Its file's own name, which tells the version: `libgmp.so.10.4.1`.
    pub file: String,
    pub sha256: String,
}

/// Finds the library, by letting the C compiler build a program with it.
///
/// `Err` in the answer says what is missing, and the packages to install.
///
/// # Errors
///
/// If no temporary folder can be made in `work`, or the library's file cannot be read.
pub fn find_c_library(
    library: &CLibrary,
    work: &Path,
) -> Result<std::result::Result<InstalledLibrary, String>> {
    fs_err::create_dir_all(work)?;
    let folder = tempfile::tempdir_in(work)
        .with_context(|| format!("cannot write in {}", work.display()))?;
    let compiler = Compiler { path: SYSTEM_PATH, output: folder.path().join("probe") };
    if let Some(missing) = compiler.missing(library) {
        return Ok(Err(missing));
    }
    Ok(Ok(compiler.installed(library)?))
}

/// A C compiler on the search path of every build.
struct Compiler<'a> {
    path: &'a str,
    /// Where it writes the programs it is tried with.
    output: PathBuf,
}

impl Compiler<'_> {
    /// What keeps a program from using `library`; nothing if nothing does.
    fn missing(&self, library: &CLibrary) -> Option<String> {
        let CLibrary { name, header, link, debian } = library;
        let install = |packages: &str| {
            format!("on Debian and Ubuntu: apt-get install {packages}, then start again")
        };
        if let Err(said) = self.compile("int main(void) { return 0; }\n", &[]) {
            let packages = format!("gcc libc6-dev {debian}");
            return Some(format!("no working C compiler ({said}); {}", install(&packages)));
        }
        // Some headers must not be included without further ado, so this only asks for it.
        let asks = format!("#if !__has_include(<{header}>)\n#error no {header}\n#endif\n");
        if self.compile(&format!("{asks}int main(void) {{ return 0; }}\n"), &[]).is_err() {
            return Some(format!(
                "the C library {name} is not installed (no header {header}); {}",
                install(debian)
            ));
        }
        let linked = self.compile("int main(void) { return 0; }\n", &[&format!("-l{link}")]);
        linked.err().map(|said| {
            format!("the C library {name} cannot be linked ({said}); {}", install(debian))
        })
    }

    /// Compiles and links a program; `Err` is the first line of what the compiler said.
    fn compile(&self, program: &str, libraries: &[&str]) -> std::result::Result<(), String> {
        let mut command = self.command();
        command.args(["-x", "c", "-", "-o"]).arg(&self.output).args(libraries);
        let ended = run(command, program).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("no {C_COMPILER} in {}", self.path),
            _ => format!("{C_COMPILER}: {error}"),
        })?;
        if ended.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        Err(said.lines().next().unwrap_or("it said nothing").to_owned())
    }

    /// The file that `-l` stands for.
    fn installed(&self, library: &CLibrary) -> Result<InstalledLibrary> {
        for ending in ["so", "a"] {
            let mut command = self.command();
            command.arg(format!("-print-file-name=lib{}.{ending}", library.link));
            let said = run(command, "").with_context(|| format!("cannot run {C_COMPILER}"))?;
            let path = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim_end());
            // A bare name means that there is none.
            if !path.is_absolute() {
                continue;
            }
            let path = fs_err::canonicalize(path)?;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let digest = Digest::of(&mut fs_err::File::open(&path)?)?;
            return Ok(InstalledLibrary { file, sha256: digest.sha256().to_owned() });
        }
        bail!("{C_COMPILER} links -l{} but does not say where it is", library.link)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(C_COMPILER);
        command.env_clear().env("PATH", self.path).env("LC_ALL", "C");
        command
    }
}

fn run(mut command: Command, input: &str) -> std::io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A compiler that ends without reading says why itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    child.wait_with_output()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn library(header: &str, link: &str) -> CLibrary {
        CLibrary {
            name: "GMP".into(),
            header: header.into(),
            link: link.into(),
            debian: "libgmp-dev".into(),
        }
    }

    fn missing(header: &str, link: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        find_c_library(&library(header, link), folder.path()).unwrap().unwrap_err()
    }

    #[test]
    fn the_c_library_of_every_system_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let found = find_c_library(&library("math.h", "m"), folder.path()).unwrap().unwrap();
        assert!(found.file.starts_with("libm"), "{}", found.file);
        assert_eq!(found.sha256.len(), 64);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        insta::assert_snapshot!(
            missing("no-such-header.h", "m"),
            @"the C library GMP is not installed (no header no-such-header.h); on Debian and Ubuntu: apt-get install libgmp-dev, then start again"
        );
        insta::assert_snapshot!(
            missing("math.h", "no-such-library"),
            @"the C library GMP cannot be linked (/usr/bin/ld: cannot find -lno-such-library: No such file or directory); on Debian and Ubuntu: apt-get install libgmp-dev, then start again"
        );
    }

    /// A folder with a C compiler that is this script, or none.
    fn with_compiler(script: Option<&str>) -> String {
        let folder = tempfile::tempdir().unwrap();
        if let Some(script) = script {
            let file = folder.path().join(C_COMPILER);
            fs_err::write(&file, script).unwrap();
            fs_err::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        }
        let path = folder.path().to_str().unwrap();
        let compiler = Compiler { path, output: folder.path().join("probe") };
        compiler.missing(&library("gmp.h", "gmp")).unwrap().replace(path, "PATH")
    }

    #[test]
    fn a_missing_or_broken_compiler_is_named_with_its_packages() {
        insta::assert_snapshot!(
            with_compiler(None),
            @"no working C compiler (no gcc in PATH); on Debian and Ubuntu: apt-get install gcc libc6-dev libgmp-dev, then start again"
        );
        insta::assert_snapshot!(
            with_compiler(Some("#!/bin/sh\necho 'cannot find crt1.o' >&2\nexit 1\n")),
            @"no working C compiler (cannot find crt1.o); on Debian and Ubuntu: apt-get install gcc libc6-dev libgmp-dev, then start again"
        );
    }
}
