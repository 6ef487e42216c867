//! `gosurvey import`: programs of others as a suite.

use super::{Env, Outcome, Stop, StopExt};
use crate::hex::hex;
use crate::import::{Chosen, LeftOut, Reason, Row, Rows, Taken, apply, choose, licences, manifest};
use crate::own_suites::{Files, Written};
use crate::report::WIDTH;
use crate::report::markdown::{Table, wrapped};
use crate::source_archive::{SourceArchive, SourceArchiveError};
use crate::suite::{ReferenceSource, Suite};
use crate::suite_folder::SuiteFolder;
use crate::verify::Text;
use anyhow::Context;
use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Take in programs of others as a suite of your own
///
/// The suite is written to gosurvey/suites/NAME in your data folder ($XDG_DATA_HOME, else
/// ~/.local/share), where --suite NAME finds it.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Programs(ProgramsArgs),
}

/// Take the Go programs of the Benchmarks Game out of its source archive
///
/// Download benchmarksgame-sourcecode.zip from the game's repository first; nothing is downloaded
/// here, and none of it is part of gosurvey. Taken are the rows that the published survey of Go
/// releases measured, each with the few edits that let go1.2 … go1.27 compile the same text.
#[derive(clap::Args, Debug)]
struct ProgramsArgs {
    /// The archive: a .zip, or a folder with the same in it
    archive: PathBuf,

    /// Name of the suite to make
    #[arg(long, value_name = "NAME", default_value = "benchmarksgame")]
    suite: String,

    /// Also take this program, which stands in for another; may be repeated
    #[arg(long = "with", value_name = "PROGRAM")]
    with: Vec<String>,

    /// Which programs to take and what to change in them, as docs/FORMAT.md says, instead of the
    /// rows of the published survey
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,

    /// Suite whose workloads and expected outputs the programs get
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    workloads: PathBuf,

    /// Replace a suite of this name that has other content
    #[arg(long)]
    replace: bool,
}

pub fn run(args: &Args, env: &mut Env) -> Result<Outcome, Stop> {
    let Command::Programs(args) = &args.command;
    let rows = rows(args)?;
    let workloads = SuiteFolder::load(&args.workloads).context("--workloads").or_usage()?;
    let suites = env.own_suites()?;
    let place = suites.place(&args.suite).or_usage()?;
    let mut archive = SourceArchive::open(&args.archive)?;
    let harvest = harvest(args, &rows, &mut archive, &workloads)?;
    match suites.write(&args.suite, &harvest.files, args.replace)? {
        Written::Refused => Err(Stop::no(format!(
            "{} is there with other content; give --replace, or another name in --suite",
            place.display()
        ))),
        written => {
            harvest.tell(args, &place, written, &mut env.out)?;
            Ok(harvest.outcome())
        }
    }
}

/// A list of rows is a page of text.
const ROWS_BYTES: u64 = 1 << 20;

fn rows(args: &ProgramsArgs) -> Result<Rows, Stop> {
    let rows = match &args.rows {
        None => Rows::benchmarksgame(),
        Some(file) => {
            let mut text = String::new();
            let opened = fs_err::File::open(file).or_usage()?;
            opened
                .take(ROWS_BYTES)
                .read_to_string(&mut text)
                .with_context(|| named(file))
                .or_usage()?;
            Rows::parse(&text).with_context(|| named(file)).or_usage()?
        }
    };
    for name in &args.with {
        if rows.row(name).is_none_or(|row| row.stands_in_for.is_none()) {
            let stand_ins = rows.rows.iter().filter(|row| row.stands_in_for.is_some());
            let stand_ins: Vec<&str> = stand_ins.map(|row| row.program.as_str()).collect();
            return Err(Stop::usage(format!(
                "--with {name}: expected a program that stands in for another: {}",
                stand_ins.join(", ")
            )));
        }
    }
    Ok(rows)
}

fn named(file: &Path) -> String {
    file.display().to_string()
}

/// What comes of an archive.
struct Harvest<'a> {
    taken: Vec<Taken<'a>>,
    left_out: Vec<LeftOut>,
    /// Their paths in the archive.
    licences: Vec<String>,
    /// Of the whole archive, if it is one file.
    archive_sha256: Option<String>,
    files: Files,
}

fn harvest<'a>(
    args: &ProgramsArgs,
    rows: &'a Rows,
    archive: &mut SourceArchive,
    workloads: &SuiteFolder,
) -> Result<Harvest<'a>, Stop> {
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (chosen, mut left_out) = choose(rows, &args.with, &names);
    let mut files = Files::new();
    let mut taken = Vec::new();
    for Chosen { row, file, extra } in chosen {
        let text = archive.read(&file)?;
        let sha256 = hex(&Sha256::digest(&text));
        match sources(row, &text) {
            Ok(sources) => {
                files.extend(sources);
                taken.push(Taken { row, file, sha256, extra });
            }
            Err(reason) => left_out.push(LeftOut { program: row.program.clone(), reason }),
        }
    }
    if taken.is_empty() {
        let text = format!("{}: no program to take\n{}", named(&args.archive), listed(&left_out));
        return Err(Stop::no(text.trim_end()));
    }
    let sources: Vec<&str> = taken.iter().map(|taken| &*taken.file).collect();
    let licences: Vec<String> = licences(&sources, &names).into_iter().map(str::to_owned).collect();
    for name in &licences {
        files.insert(format!("licences/{name}"), archive.read(name)?.into_bytes());
    }
    let like = fs_err::read_to_string(args.workloads.join("programs/suite.toml"))?;
    let (text, suite) = manifest(&args.suite, &rows.about, &taken, &like)
        .with_context(|| args.rows.as_deref().map_or("the shipped rows".to_owned(), named))
        .or_usage()?;
    files.insert("programs/suite.toml".to_owned(), text.into_bytes());
    files.extend(references(&suite, workloads)?);
    let archive_sha256 = archive.sha256().map(str::to_owned);
    Ok(Harvest { taken, left_out, licences, archive_sha256, files })
}

/// The files of a program in the suite, its edits applied.
fn sources(row: &Row, text: &str) -> Result<Files, Reason> {
    let edited = apply(text, &row.edits).map_err(|(place, error)| {
        Reason::Unfit(format!(
            "edit {} does not fit this edition of the program: {error}; correct the edit in a list \
             of your own and give it with --rows",
            place + 1
        ))
    })?;
    let path = |name: &str| format!("programs/{}/{name}", row.program);
    let added = row.added.iter().map(|added| (path(&added.name), added.text.clone().into_bytes()));
    Ok([(path(Row::MAIN_FILE), edited.into_bytes())].into_iter().chain(added).collect())
}

/// The reference files that the suite's workloads name.
fn references(suite: &Suite, from: &SuiteFolder) -> Result<Files, Stop> {
    let workloads = suite.programs.iter().flat_map(|program| program.sizes.values());
    let mut files = Files::new();
    for reference in workloads.map(|workload| &workload.expect) {
        if let ReferenceSource::File(name) = &reference.source {
            let mut content = Vec::new();
            from.expected_output(reference)?.text().write_to(&mut content)?;
            files.insert(format!("reference-output/{name}"), content);
        }
    }
    Ok(files)
}

fn listed(left_out: &[LeftOut]) -> String {
    left_out.iter().map(|row| entry(&format!("{}: {}", row.program, row.reason))).collect()
}

/// A line of a list, wrapped.
fn entry(text: &str) -> String {
    const INDENT: &str = "  ";
    format!("{INDENT}{}", wrapped(text, WIDTH - 2 * INDENT.len(), "    "))
}

impl Harvest<'_> {
    fn outcome(&self) -> Outcome {
        match self.left_out.iter().any(|row| row.reason.is_shortfall()) {
            true => Outcome::SomeFailed,
            false => Outcome::Done,
        }
    }

    fn tell(
        &self,
        args: &ProgramsArgs,
        place: &Path,
        written: Written,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let sha256 = self.archive_sha256.as_ref();
        let sha256 = sha256.map_or(String::new(), |sha256| format!(" (SHA-256 {sha256})"));
        let table = self.table();
        write!(out, "taken from {}{sha256}:\n\n{table}", args.archive.display())?;
        let parts = [
            ("changed, for every release alike", self.edits()),
            ("another edition than the edits were tried on", self.other_editions()),
            ("left out", listed(&self.left_out)),
        ];
        for (title, text) in parts {
            if !text.is_empty() {
                write!(out, "\n{title}:\n{text}")?;
            }
        }
        let is_there = match written {
            Written::New => "the suite is in",
            Written::Replaced => "the suite replaces the one that was in",
            _ => "the suite was there already, file by file, in",
        };
        let name = &args.suite;
        writeln!(
            out,
            "\n{}\n{is_there} {}\n\nTo measure it:\n  gosurvey survey --suite {name} --name {name}",
            self.licence_line(),
            place.display()
        )?;
        out.flush()
    }

    fn table(&self) -> String {
        let mut table = Table::of_texts(["program", "file", "SHA-256", "edits"]);
        for Taken { row, file, sha256, .. } in &self.taken {
            table.push([&row.program, file, sha256, &row.edits.len().to_string()]);
        }
        table.plain()
    }

    fn edits(&self) -> String {
        let mut text = String::new();
        for row in self.taken.iter().map(|taken| taken.row) {
            for edit in &row.edits {
                text += &entry(&format!("{}, {edit}", row.program));
            }
            for added in &row.added {
                text += &entry(&format!("{}, {} added: {}", row.program, added.name, added.why));
            }
        }
        text
    }

    fn other_editions(&self) -> String {
        let other = |taken: &&Taken<'_>| {
            taken.row.sha256.as_ref().is_some_and(|expected| *expected != taken.sha256)
        };
        let line = |taken: &Taken<'_>| {
            let expected = taken.row.sha256.as_deref().unwrap_or_default();
            format!("  {}: expected SHA-256 {expected}\n", taken.row.program)
        };
        self.taken.iter().filter(other).map(line).collect()
    }

    fn licence_line(&self) -> String {
        match self.licences.len() {
            0 => {
                "no licence file is in the archive; the programs stay under the one they came with"
            }
            1 => "the archive's licence is in the suite's folder licences",
            _ => "the archive's licences are in the suite's folder licences",
        }
        .to_owned()
    }
}

impl From<SourceArchiveError> for Stop {
    fn from(error: SourceArchiveError) -> Self {
        match error {
            SourceArchiveError::Refused { .. } => Stop::No(error.into()),
            SourceArchiveError::Read(_) => Stop::Environment(error.into()),
        }
    }
}
