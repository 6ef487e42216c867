//! `survey.toml`: what a survey set out to do, written before anything is measured.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The plan of a survey. It is written once and never changed; a survey that is started again must
/// match it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Version of this file's meaning.
    pub schema: u32,
    pub name: String,
    pub created_at: Timestamp,
    /// How the survey was started, as a shell line.
    pub command_line: String,
    /// The `--go` selection as it was asked for.
    pub go: String,
    /// The variants the selection stood for on that day, oldest first.
    pub variants: Vec<String>,
    pub programs: Vec<String>,
    /// Those of `programs` that are measured and shown like any other, but enter no geometric mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extras: Vec<String>,
    pub size: String,
    pub rounds: u32,
    /// The order of every round follows from it.
    pub seed: u64,
    /// Where measured programs write: `memory` or `null`.
    pub sink: String,
    pub threads: Threads,
    /// The whole environment of every measured program, before its variant's own settings.
    pub environment: Vec<String>,
    /// `GOAMD64` for every release that knows it.
    pub goamd64: String,
    /// Rebuilds measured for each cell.
    pub build_repetitions: u32,
    /// After this a run is stopped and recorded as timed out.
    pub time_limit_s: u64,
    pub suite: PlannedSuite,
    pub harness: Harness,
    /// What the selection named and no proxy offers.
    #[serde(default)]
    pub missing: Vec<MissingRelease>,
}

/// The programs a survey measures, by name and content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedSuite {
    pub name: String,
    /// Digest over the manifest, every source and every patch.
    pub sha256: String,
}

/// The program that measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harness {
    pub version: String,
    /// Git commit the program was built from; `unknown` outside a checkout.
    pub commit: String,
    /// Digest of the launcher that starts and times the measured programs.
    pub launcher_sha256: String,
}

/// Part of a selection that could not be resolved to a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MissingRelease {
    pub wanted: String,
    pub reason: String,
}

/// How many threads the measured programs may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// `GOMAXPROCS` set to the number of CPUs for every release, as Go before 1.5 would otherwise
    /// use one thread.
    All,
    /// `GOMAXPROCS` left alone: what each release does by itself.
    Native,
}

/// A file is not a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error("survey.toml: {0}")]
    Malformed(String),
    #[error(
        "survey.toml has schema {found}, this program knows up to {known}; use a newer gosurvey"
    )]
    Schema { found: u32, known: u32 },
}

impl Plan {
    /// The schema this program writes.
    pub const SCHEMA: u32 = 2;

    /// The plan as the text of `survey.toml`.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a plan holds only numbers, texts and lists of them")
    }

    /// # Errors
    ///
    /// [`PlanError`] with the line, if the text is not a plan or is one of a later schema.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }
        let malformed = |error: toml::de::Error| PlanError::Malformed(error.to_string());
        let Versioned { schema } = toml::from_str(text).map_err(malformed)?;
        if schema > Self::SCHEMA {
            return Err(PlanError::Schema { found: schema, known: Self::SCHEMA });
        }
        toml::from_str(text).map_err(malformed)
    }

    /// What of `self` another start of the same survey asks for differently, as sentences.
    ///
    /// Fields that may differ between two starts without changing what is measured (the time, the
    /// command line's spelling) do not count.
    pub fn differences(&self, other: &Plan) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, planned: String, asked: String| {
            if planned != asked {
                found.push(format!("{what}: the plan says {planned}, this start says {asked}"));
            }
        };
        compare("releases (--go)", self.go.clone(), other.go.clone());
        compare("programs", self.programs.join(" "), other.programs.join(" "));
        compare("size", self.size.clone(), other.size.clone());
        compare("rounds", self.rounds.to_string(), other.rounds.to_string());
        compare("seed", self.seed.to_string(), other.seed.to_string());
        compare("sink", self.sink.clone(), other.sink.clone());
        compare("threads", self.threads.to_string(), other.threads.to_string());
        compare("environment", self.environment.join(" "), other.environment.join(" "));
        compare("GOAMD64", self.goamd64.clone(), other.goamd64.clone());
        compare(
            "rebuilds",
            self.build_repetitions.to_string(),
            other.build_repetitions.to_string(),
        );
        compare("time limit in s", self.time_limit_s.to_string(), other.time_limit_s.to_string());
        compare("suite", self.suite.sha256.clone(), other.suite.sha256.clone());
        compare("gosurvey", self.harness.version.clone(), other.harness.version.clone());
        compare(
            "launcher",
            self.harness.launcher_sha256.clone(),
            other.harness.launcher_sha256.clone(),
        );
        found
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Threads::All => "all",
            Threads::Native => "native",
        })
    }
}

impl FromStr for Threads {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Threads::All),
            "native" => Ok(Threads::Native),
            other => Err(format!("{other:?} is no thread policy (expected all or native)")),
        }
    }
}

impl Serialize for Threads {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Threads {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plan() -> Plan {
        Plan {
            schema: Plan::SCHEMA,
            name: "demo".into(),
            created_at: "2026-11-30T18:00:00Z".parse().unwrap(),
            command_line: "gosurvey survey --go 1.21,1.27 --name demo".into(),
            go: "1.21,1.27".into(),
            variants: vec!["go1.21.13".into(), "go1.27.1".into()],
            programs: vec!["n-body".into(), "fasta".into()],
            extras: vec!["fasta".into()],
            size: "quick".into(),
            rounds: 3,
            seed: 7,
            sink: "memory".into(),
            threads: Threads::All,
            environment: vec!["GOMAXPROCS=2".into()],
            goamd64: "v1".into(),
            build_repetitions: 3,
            time_limit_s: 900,
            suite: PlannedSuite { name: "gosurvey".into(), sha256: "ab".into() },
            harness: Harness {
                version: "0.1.0".into(),
                commit: "unknown".into(),
                launcher_sha256: "cd".into(),
            },
            missing: vec![MissingRelease { wanted: "1.2".into(), reason: "not offered".into() }],
        }
    }

    #[test]
    fn a_plan_survives_its_file() {
        assert_eq!(Plan::parse(&plan().to_toml()).unwrap(), plan());
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line() {
        let text = plan().to_toml().replace("rounds = 3", "round = 3");
        let message = Plan::parse(&text).unwrap_err().to_string();
        assert!(message.contains("round") && message.contains("line"), "{message}");
    }

    #[test]
    fn a_later_schema_is_refused_by_number() {
        let text = plan().to_toml().replace("schema = 2", "schema = 3");
        assert!(matches!(Plan::parse(&text), Err(PlanError::Schema { found: 3, known: 2 })));
    }

    #[test]
    fn a_plan_of_the_first_schema_has_no_extras() {
        let text = plan().to_toml().replace("schema = 2", "schema = 1");
        let text = text.replace("extras = [\"fasta\"]\n", "");
        let expected = Plan { schema: 1, extras: Vec::new(), ..plan() };
        assert_eq!(Plan::parse(&text).unwrap(), expected);
    }

    #[test]
    fn another_start_may_differ_in_time_and_spelling_only() {
        let mut other = plan();
        other.created_at = "2026-12-01T00:00:00Z".parse().unwrap();
        other.command_line = "gosurvey survey --name demo --go 1.21,1.27".into();
        assert_eq!(plan().differences(&other), Vec::<String>::new());
        other.rounds = 5;
        other.size = "full".into();
        assert_eq!(
            plan().differences(&other),
            [
                "size: the plan says quick, this start says full",
                "rounds: the plan says 3, this start says 5",
            ]
        );
    }
}
