//! `summary.md`, and what of it a terminal shows at the end of a survey.

use super::markdown::{Table, one_line, wrapped};
use super::{WIDTH, changes, evidence, reading, statement, tables};
use crate::analysis::{MetricModel, ReportModel};

/// How many shortfalls a terminal lists.
const SHORTFALLS_SHOWN: usize = 12;

/// Writes `report/summary.md`.
pub fn summary_md(model: &ReportModel) -> String {
    let mut sections = vec![format!("# Survey {}\n", one_line(&model.plan.name)), opening(model)];
    sections.extend(means(model));
    sections.extend(model.metrics.iter().map(|metric| medians(model, metric)));
    sections.extend([
        changes::section(model),
        evidence::shortfalls(model),
        evidence::machine(&model.host),
        evidence::plan(&model.plan, &model.host),
        evidence::provenance(model),
        evidence::reproduction(&model.plan),
        reading::section(model),
    ]);
    sections.retain(|section| !section.is_empty());
    sections.join("\n")
}

/// Writes what a survey says on a terminal when it ends: the headline, the means by release, and
/// what is missing.
pub fn terminal_summary(model: &ReportModel) -> String {
    let mut text = wrapped(&statement::headline(model), WIDTH, "");
    if let (Some(table), Some(newest)) = (tables::means(model), model.newest()) {
        text += &format!("\nGeometric mean relative to {}\n\n{}", one_line(newest), table.plain());
    }
    text += &format!("\n{}\n", statement::completeness(&model.completeness));
    for warning in &model.warnings {
        text += &wrapped(&format!("Mind: {warning}"), WIDTH, "  ");
    }
    if !model.shortfalls.is_empty() {
        text += "Skipped or failed:\n";
        let shown = model.shortfalls.iter().take(SHORTFALLS_SHOWN);
        text.extend(shown.map(|what| format!("  {}\n", one_line(&what.what()))));
        let more = model.shortfalls.len().saturating_sub(SHORTFALLS_SHOWN);
        if more > 0 {
            text += &format!("  and {more} more, which summary.md lists\n");
        }
    }
    text
}

/// The paragraphs under the title.
fn opening(model: &ReportModel) -> String {
    let mut paragraphs = vec![format!("**{}**", statement::headline(model))];
    paragraphs.extend(statement::beside_the_headline(model));
    paragraphs.push(statement::completeness(&model.completeness));
    paragraphs.extend(model.warnings.iter().map(|warning| format!("**Mind:** {warning}")));
    let wrapped: Vec<String> = paragraphs.iter().map(|text| wrapped(text, WIDTH, "")).collect();
    wrapped.join("\n")
}

fn means(model: &ReportModel) -> Option<String> {
    let table = tables::means(model)?.split(WIDTH);
    let newest = model.newest()?;
    let tables: Vec<String> = table.iter().map(Table::markdown).collect();
    Some(format!("## Geometric mean relative to {}\n\n{}", one_line(newest), tables.join("\n")))
}

fn medians(model: &ReportModel, metric: &MetricModel) -> String {
    let title = statement::capitalised(metric.metric);
    let tables: Vec<String> = tables::medians(model, metric).iter().map(Table::markdown).collect();
    format!("## {title}\n\n{}", tables.join("\n"))
}
