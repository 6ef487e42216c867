//! The platform a toolchain runs on.

use std::fmt;

/// A GOOS/GOARCH pair, in Go's own words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Platform {
    pub os: String,
    pub arch: String,
}

impl Platform {
    /// The platform this program was compiled for, which is the one it can measure on.
    pub fn host() -> Self {
        let arch = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            "x86" => "386",
            "powerpc64" if cfg!(target_endian = "little") => "ppc64le",
            other => other,
        };
        Platform { os: std::env::consts::OS.to_owned(), arch: arch.to_owned() }
    }
}

impl fmt::Display for Platform {
    /// Writes `linux-amd64`, as in the version of a toolchain module.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.os, self.arch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_as_in_a_toolchain_module_version() {
        let platform = Platform { os: "linux".into(), arch: "arm64".into() };
        assert_eq!(platform.to_string(), "linux-arm64");
    }

    #[test]
    fn host_uses_go_names() {
        assert!(!["x86_64", "aarch64", "x86"].contains(&Platform::host().arch.as_str()));
    }
}
