//! The sections that say what the numbers stand on: failures, machine, plan, toolchains.

use super::WIDTH;
use super::markdown::{Table, code, code_block, one_line, prose, shortened, wrapped};
use crate::analysis::{ReportModel, Shortfall};
use crate::record::{Host, Plan, Threads, ToolchainRow, ToolchainStatus};
use crate::units;

/// How much of a reason is shown; the rest is in the CSV files.
const REASON_CHARACTERS: usize = 240;

/// Lists what was skipped or failed, and why.
pub fn shortfalls(model: &ReportModel) -> String {
    let mut text = String::from("## Skipped and failed\n\n");
    if model.shortfalls.is_empty() {
        text += "Nothing.\n";
        return text;
    }
    text.extend(model.shortfalls.iter().map(|shortfall| bullet(&shortfall_line(shortfall))));
    text
}

fn shortfall_line(shortfall: &Shortfall) -> String {
    let what = prose(&shortfall.what());
    match shortened(shortfall.reason(), REASON_CHARACTERS) {
        reason if reason.is_empty() => what,
        reason => format!("{what}: {}", code(&reason)),
    }
}

/// Describes the machine; what could not be read says so.
pub fn machine(host: &Host) -> String {
    let known = |value: &Option<String>| value.as_deref().map_or("unknown".into(), prose);
    let memory = |kib: Option<u64>| match kib {
        Some(0) => "none".to_owned(),
        Some(kib) => units::kibibytes(kib as f64),
        None => "unknown".to_owned(),
    };
    let disk = match &host.disk {
        Some(disk) => format!("{} on {}", prose(&disk.file_system), prose(&disk.device)),
        None => "unknown".to_owned(),
    };
    let limits: Vec<String> =
        host.cgroup_limits.iter().map(|(file, value)| prose(&format!("{file} {value}"))).collect();
    let limits = if limits.is_empty() { "none".to_owned() } else { limits.join(", ") };
    let facts = [
        format!("CPU: {}, {} usable, SMT {}", known(&host.cpu_model), host.cpus, known(&host.smt)),
        format!(
            "clock: governor {}, turbo {}; microcode {}",
            known(&host.governor),
            known(&host.turbo),
            known(&host.microcode)
        ),
        format!(
            "memory: {}, swap {}; transparent huge pages {}, ASLR {}",
            memory(host.memory_kib),
            memory(host.swap_kib),
            known(&host.transparent_huge_pages),
            known(&host.aslr)
        ),
        format!("cgroup limits: {limits}"),
        format!(
            "system: {}, kernel {}, virtualisation {}",
            known(&host.operating_system),
            known(&host.kernel),
            known(&host.virtualisation)
        ),
        format!(
            "kernel command line: {}",
            host.kernel_command_line.as_deref().map_or("unknown".into(), code)
        ),
        format!("C: {}; {}", known(&host.c_compiler), known(&host.c_library)),
        format!("disk: {disk}"),
    ];
    section("Machine", &facts)
}

/// Describes what was to be measured, and how.
pub fn plan(plan: &Plan, host: &Host) -> String {
    let page_cache = host.drops_page_cache.as_deref().map_or("unknown".into(), prose);
    let facts = [
        format!("releases: {}", prose(&plan.variants.join(", "))),
        format!("programs: {}, size {}", prose(&plan.programs.join(", ")), prose(&plan.size)),
        format!("rounds: {}, each in its own random order; seed {}", plan.rounds, plan.seed),
        format!("threads: {} ({})", plan.threads, threads(plan)),
        format!("environment of measured programs: {}", code(&plan.environment.join(" "))),
        format!("GOAMD64: {}", prose(&plan.goamd64)),
        format!("output of measured programs: {}", prose(&plan.sink)),
        format!("page cache dropped between rounds: {page_cache}"),
        format!("rebuilds for build time: {}", plan.build_repetitions),
        format!("time limit of a run: {} s", plan.time_limit_s),
        format!("suite: {}, SHA-256 {}", prose(&plan.suite.name), prose(&plan.suite.sha256)),
        format!(
            "harness: gosurvey {}, commit {}, launcher SHA-256 {}",
            prose(&plan.harness.version),
            prose(&plan.harness.commit),
            prose(&plan.harness.launcher_sha256)
        ),
    ];
    section("Plan", &facts)
}

fn threads(plan: &Plan) -> &'static str {
    match plan.threads {
        Threads::All => "GOMAXPROCS set alike for every release",
        Threads::Native => "GOMAXPROCS left to each release",
    }
}

/// Says of every toolchain that was used what proves it to be what Go's authors published.
pub fn provenance(model: &ReportModel) -> String {
    let installed = |row: &&ToolchainRow| row.status == ToolchainStatus::Installed;
    let mut table = Table::of_texts(["toolchain", "hash of its files", "proof"]);
    let mut any = false;
    for row in model.toolchains.iter().filter(installed) {
        any = true;
        let hash = if row.h1.is_empty() { "none" } else { &row.h1 };
        table.push([row.toolchain.as_str(), hash, &proof(row)]);
    }
    let body = if any { table.markdown() } else { "No toolchain was used.\n".to_owned() };
    format!("## Provenance\n\n{body}")
}

fn proof(row: &ToolchainRow) -> String {
    if row.proof != "proven" {
        return format!("UNPROVEN, taken from {}", row.source);
    }
    let number = |value: Option<u64>| value.map_or("?".to_owned(), |number| number.to_string());
    let (record, size) = (number(row.record_id), number(row.tree_size));
    format!("{}: record {record} of {size}", row.database)
}

/// Tells how to do it again.
pub fn reproduction(plan: &Plan) -> String {
    let meaning = format!(
        "On {} {} stood for {}. The same seed gives the same order of runs; it is in `survey.toml`. \
         This page follows from the files of the survey alone.",
        plan.created_at.strftime("%Y-%m-%d"),
        code(&plan.go),
        prose(&plan.variants.join(", ")),
    );
    let command = code_block(&one_line(&plan.command_line));
    format!("## How to reproduce\n\n{command}\n{}", wrapped(&meaning, WIDTH, ""))
}

fn section(title: &str, facts: &[String]) -> String {
    let facts: String = facts.iter().map(|fact| bullet(fact)).collect();
    format!("## {title}\n\n{facts}")
}

fn bullet(text: &str) -> String {
    wrapped(&format!("- {text}"), WIDTH, "  ")
}
