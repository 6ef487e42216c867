//! An open survey: its plan, its evidence so far, and what the stages need to go on.

use super::{Env, Outcome, PlanArgs, Stop, StopExt, SurveyArgs, plan};
use crate::host;
use crate::journal::{self, Journal, JournalError};
use crate::record::{
    BuildRow, BuildStatus, CheckRow, Plan, RunRow, Survey, Table, ToolchainRow, ToolchainStatus,
};
use crate::release::{ToolchainName, Variant, distinct_toolchains};
use crate::store::{Store, Toolchain};
use crate::suite::{Program, Workload};
use crate::suite_folder::SuiteFolder;
use anyhow::Context;
use std::collections::BTreeMap;
use std::path::Path;

/// A survey that this process works on; no other can while it lives.
pub struct Session {
    /// What is on disk, kept in step with it by [`Session::record`].
    pub survey: Survey,
    pub folder: SuiteFolder,
    pub store: Store,
    pub journal: Journal,
    /// Toolchains at hand, by [`ToolchainName`]; filled by the fetch stage.
    pub toolchains: BTreeMap<String, Toolchain>,
}

impl Session {
    /// Opens the survey these arguments name, or makes it and writes its plan.
    ///
    /// # Errors
    ///
    /// [`Stop::No`] if the survey is there and its plan or its machine is another one: rows of two
    /// plans or two machines are never mixed.
    pub fn open(survey: &SurveyArgs, args: &PlanArgs, env: &mut Env) -> Result<Self, Stop> {
        let folder = survey.suite(env)?;
        let name = survey.name(args.quick);
        journal::check_name(&name)?;
        let dir = survey.results.join(&name);
        let store = Store::open(&env.store).context("cannot open the store")?;
        let host = host::observe(store.root());
        let (journal, survey) = if journal::exists(&dir) {
            let (journal, survey, torn) = Journal::open(&dir)?;
            for row in &torn {
                env.progress.message(&row.to_string());
            }
            let asked = plan::make(args, &name, &folder, Some(&survey.plan), host.cpus, env)?;
            refuse(&dir, "plan", &survey.plan.differences(&asked))?;
            refuse(&dir, "machine", &survey.host.differences(&host))?;
            (journal, survey)
        } else {
            let plan = plan::make(args, &name, &folder, None, host.cpus, env)?;
            (Journal::create(&dir, &plan, &host)?, Survey::new(plan, host))
        };
        Ok(Session { survey, folder, store, journal, toolchains: BTreeMap::new() })
    }

    pub fn plan(&self) -> &Plan {
        &self.survey.plan
    }

    /// Puts a row on disk and among the survey's.
    pub fn record<T: Recorded>(&mut self, row: T) -> Result<(), Stop> {
        self.journal.append(&row)?;
        T::rows(&mut self.survey).push(row);
        Ok(())
    }

    /// The variants of the plan, in its order.
    ///
    /// # Errors
    ///
    /// [`Stop::Usage`] if somebody edited the plan.
    pub fn variants(&self) -> Result<Vec<Variant>, Stop> {
        self.plan().variants.iter().map(|text| variant(text)).collect()
    }

    /// The distinct toolchains of the plan, in its order.
    pub fn toolchain_names(&self) -> Result<Vec<ToolchainName>, Stop> {
        Ok(distinct_toolchains(&self.variants()?).into_iter().cloned().collect())
    }

    /// A program of the plan. The plan was held against the suite when the session was opened.
    pub fn program(&self, name: &str) -> &Program {
        self.folder.suite.program(name).expect("the plan names only programs of its suite")
    }

    /// What a program of the plan does at the plan's size.
    pub fn workload(&self, program: &str) -> &Workload {
        &self.program(program).sizes[&self.plan().size]
    }

    /// The toolchain of a variant, if it was had.
    pub fn toolchain(&self, variant: &Variant) -> Option<&Toolchain> {
        self.toolchains.get(&variant.toolchain.to_string())
    }

    /// How a command ends that did what could be done of this survey so far.
    pub fn outcome(&self) -> Outcome {
        let survey = &self.survey;
        let failed = !survey.plan.missing.is_empty()
            || survey.toolchains.iter().any(|row| row.status != ToolchainStatus::Installed)
            || survey.cells().iter().any(|cell| {
                let build = survey.build(&cell.variant, &cell.program);
                build.is_some_and(|row| row.status != BuildStatus::Built)
            })
            || survey.checks.iter().any(|row| !row.passed())
            || survey.runs.iter().any(|row| !row.counts());
        if failed { Outcome::SomeFailed } else { Outcome::Done }
    }
}

/// A variant of the plan.
pub fn variant(text: &str) -> Result<Variant, Stop> {
    text.parse::<Variant>().context("survey.toml: variants").or_usage()
}

/// A row that knows its place in a survey.
pub trait Recorded: Table + Sized {
    fn rows(survey: &mut Survey) -> &mut Vec<Self>;
}

impl Recorded for ToolchainRow {
    fn rows(survey: &mut Survey) -> &mut Vec<Self> {
        &mut survey.toolchains
    }
}

impl Recorded for BuildRow {
    fn rows(survey: &mut Survey) -> &mut Vec<Self> {
        &mut survey.builds
    }
}

impl Recorded for CheckRow {
    fn rows(survey: &mut Survey) -> &mut Vec<Self> {
        &mut survey.checks
    }
}

impl Recorded for RunRow {
    fn rows(survey: &mut Survey) -> &mut Vec<Self> {
        &mut survey.runs
    }
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Io(_) | JournalError::Locked { .. } => Stop::Environment(error.into()),
            JournalError::Name { .. } | JournalError::Missing { .. } => Stop::Usage(error.into()),
            _ => Stop::No(error.into()),
        }
    }
}

fn refuse(dir: &Path, what: &str, differences: &[String]) -> Result<(), Stop> {
    if differences.is_empty() {
        return Ok(());
    }
    Err(Stop::no(format!(
        "{} was made with another {what}; give this one another --name\n  {}",
        dir.display(),
        differences.join("\n  ")
    )))
}
