//! What is compared: a toolchain with the settings it builds and runs under.

use super::{Release, ReleaseError};
use std::fmt;
use std::str::FromStr;

/// A toolchain plus build and run settings, written `go1.26.5`, `go1.26.5+nogreenteagc` or
/// `go1.27.1+GOAMD64=v3`. The plain release is the variant with nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    pub toolchain: ToolchainName,
    pub settings: Vec<Setting>,
}

/// Which toolchain a variant uses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ToolchainName {
    /// A published release, to be proven and installed.
    Published(Release),
    /// One from disk, under the name its user gave it.
    Local { name: String },
}

/// One departure from a toolchain's defaults.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Setting {
    /// A word of `GOEXPERIMENT`, such as `nogreenteagc`.
    Experiment(String),
    /// `GOAMD64`, checked here because go1.23 … go1.27 let a misspelt value pass and build for v1.
    GoAmd64(String),
    /// An environment variable of the measured program: `GOGC`, `GODEBUG`, …
    Runtime { name: String, value: String },
    /// `patched` or `unpatched`: all or none of a program's patches, whatever the survey's oldest
    /// release needs.
    Patches(Patches),
}

/// How many of a program's patches a variant takes, if it does not go with its survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Patches {
    All,
    None,
}

/// The text is not a variant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariantError {
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error(
        "{name:?} cannot name a toolchain from disk (letters, digits, '-', '_' and '.', first a \
         letter, and nothing like the name of a release)"
    )]
    Name { name: String },
    #[error(
        "{text:?} is no setting (expected an experiment such as nogreenteagc, or one of {}, patched, \
         unpatched)",
        known()
    )]
    Setting { text: String },
    #[error("GOAMD64={value} does not exist (expected v1, v2, v3 or v4)")]
    GoAmd64 { value: String },
    #[error("{name} is set twice")]
    Twice { name: String },
}

/// Variables that change how a Go program runs and may be varied.
const RUNTIME_VARIABLES: [&str; 4] = ["GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS"];

fn known() -> String {
    format!("GOAMD64=…, {}=…", RUNTIME_VARIABLES.join("=…, "))
}

impl Variant {
    /// The variant with nothing changed.
    pub fn plain(release: Release) -> Self {
        Variant { toolchain: ToolchainName::Published(release), settings: Vec::new() }
    }

    /// `GOEXPERIMENT` for this variant's builds: its experiments, separated by commas.
    pub fn experiments(&self) -> Option<String> {
        let words: Vec<&str> = self
            .settings
            .iter()
            .filter_map(|setting| match setting {
                Setting::Experiment(word) => Some(word.as_str()),
                _ => None,
            })
            .collect();
        (!words.is_empty()).then(|| words.join(","))
    }

    /// `GOAMD64` for this variant's builds, if it sets its own.
    pub fn goamd64(&self) -> Option<&str> {
        self.settings.iter().find_map(|setting| match setting {
            Setting::GoAmd64(value) => Some(value.as_str()),
            _ => None,
        })
    }

    /// What this variant adds to the environment of the measured program.
    pub fn runtime_variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.settings.iter().filter_map(|setting| match setting {
            Setting::Runtime { name, value } => Some((name.as_str(), value.as_str())),
            _ => None,
        })
    }

    /// How many patches this variant takes, if it says so itself.
    pub fn patches(&self) -> Option<Patches> {
        self.settings.iter().find_map(|setting| match setting {
            Setting::Patches(patches) => Some(*patches),
            _ => None,
        })
    }

    /// Parses the settings of a variant, as in `+nogreenteagc+GOGC=200` without the first `+`.
    pub(super) fn parse_settings(texts: &[&str]) -> Result<Vec<Setting>, VariantError> {
        let mut settings: Vec<Setting> = Vec::new();
        for text in texts {
            let setting = parse_setting(text)?;
            if settings.iter().any(|earlier| earlier.key() == setting.key()) {
                return Err(VariantError::Twice { name: setting.key().to_owned() });
            }
            settings.push(setting);
        }
        Ok(settings)
    }
}

impl Setting {
    /// What may be set once only.
    fn key(&self) -> &str {
        match self {
            Setting::Experiment(word) => word,
            Setting::GoAmd64(_) => "GOAMD64",
            Setting::Runtime { name, .. } => name,
            Setting::Patches(_) => "which patches are applied",
        }
    }
}

/// Checks a value of `GOAMD64`.
///
/// # Errors
///
/// [`VariantError::GoAmd64`] unless it is `v1` … `v4`.
pub fn check_goamd64(value: &str) -> Result<(), VariantError> {
    match value {
        "v1" | "v2" | "v3" | "v4" => Ok(()),
        _ => Err(VariantError::GoAmd64 { value: value.to_owned() }),
    }
}

fn parse_setting(text: &str) -> Result<Setting, VariantError> {
    let unknown = || VariantError::Setting { text: text.to_owned() };
    if let Some(patches) = [Patches::All, Patches::None].iter().find(|it| it.to_string() == text) {
        return Ok(Setting::Patches(*patches));
    }
    let Some((name, value)) = text.split_once('=') else {
        let word =
            !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        return word.then(|| Setting::Experiment(text.to_owned())).ok_or_else(unknown);
    };
    if name == "GOAMD64" {
        check_goamd64(value)?;
        return Ok(Setting::GoAmd64(value.to_owned()));
    }
    let plain = !value.is_empty() && value.bytes().all(|b| b.is_ascii_graphic());
    if !RUNTIME_VARIABLES.contains(&name) || !plain {
        return Err(unknown());
    }
    Ok(Setting::Runtime { name: name.to_owned(), value: value.to_owned() })
}

fn parse_toolchain(text: &str) -> Result<ToolchainName, VariantError> {
    match text.parse() {
        Ok(release) => Ok(ToolchainName::Published(release)),
        Err(error) if looks_like_release(text) => Err(error.into()),
        Err(_) => local_name(text),
    }
}

/// Whether `text` should be answered as a release even if it is none.
fn looks_like_release(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) || text.starts_with("go1")
}

/// Checks the name of a toolchain from disk.
pub(super) fn local_name(name: &str) -> Result<ToolchainName, VariantError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let fine = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(plain)
        && name.parse::<Release>().is_err()
        && !looks_like_release(name)
        && !["latest", "all"].contains(&name)
        && !name.starts_with("newest-");
    if !fine {
        return Err(VariantError::Name { name: name.to_owned() });
    }
    Ok(ToolchainName::Local { name: name.to_owned() })
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Self, VariantError> {
        let parts: Vec<&str> = text.split('+').collect();
        Ok(Variant {
            toolchain: parse_toolchain(parts[0])?,
            settings: Variant::parse_settings(&parts[1..])?,
        })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.toolchain)?;
        self.settings.iter().try_for_each(|setting| write!(f, "+{setting}"))
    }
}

impl fmt::Display for ToolchainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolchainName::Published(release) => release.fmt(f),
            ToolchainName::Local { name } => f.write_str(name),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Experiment(word) => f.write_str(word),
            Setting::GoAmd64(value) => write!(f, "GOAMD64={value}"),
            Setting::Runtime { name, value } => write!(f, "{name}={value}"),
            Setting::Patches(patches) => patches.fmt(f),
        }
    }
}

impl fmt::Display for Patches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Patches::All => "patched",
            Patches::None => "unpatched",
        })
    }
}
