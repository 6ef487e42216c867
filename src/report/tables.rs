//! Releases down, metrics or programs across.

use super::WIDTH;
use super::markdown::Table;
use super::quantity::{column, ratio};
use crate::analysis::{Entry, Metric, MetricModel, Overall, ReportModel};

/// The geometric means of every variant relative to the newest; `None` if there are no two to compare.
///
/// The programs a mean is over stand in the second column, and behind the mean where it is over
/// another number of them.
pub fn means(model: &ReportModel) -> Option<Table> {
    let (_, newest) = model.ends.filter(|(oldest, newest)| oldest != newest)?;
    let mut header = vec!["release".to_owned(), "programs".to_owned()];
    header.extend(model.metrics.iter().map(|metric| metric.metric.to_string()));
    let mut table = Table::of_numbers(header);
    for (place, variant) in model.plan.variants.iter().enumerate() {
        let programs = model.metrics.first().map_or(0, |metric| metric.means[place].programs);
        let mut row = vec![variant.clone(), programs.to_string()];
        row.extend(model.metrics.iter().map(|metric| {
            let mean = &metric.means[place];
            let text = if place == newest { newest_cell(mean) } else { mean_cell(mean) };
            if mean.programs == programs { text } else { format!("{text} of {}", mean.programs) }
        }));
        table.push(row);
    }
    Some(table)
}

fn newest_cell(mean: &Overall) -> String {
    mean.change.as_ref().map_or("–", |_| "1").to_owned()
}

fn mean_cell(mean: &Overall) -> String {
    let Some(change) = &mean.change else {
        return "–".to_owned();
    };
    let mean = ratio(change.ratio);
    if change.rounds == 1 {
        return format!("{mean} (1 round)");
    }
    format!("{mean} ({}–{})", ratio(change.spread.low), ratio(change.spread.high))
}

/// The medians of one metric, cut into as many tables as the width needs.
pub fn medians(model: &ReportModel, metric: &MetricModel) -> Vec<Table> {
    let rounds = match metric.metric {
        Metric::BuildTime => model.plan.build_repetitions,
        _ => model.plan.rounds,
    };
    let mut header = vec!["release".to_owned()];
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (place, program) in model.plan.programs.iter().enumerate() {
        let entries: Vec<&Entry> = metric.cells.iter().map(|row| &row[place]).collect();
        let (scale, cells) = column(metric.metric, &entries, rounds as usize);
        header.push(match scale {
            Some(scale) => format!("{program} ({})", scale.unit),
            None => program.clone(),
        });
        columns.push(cells);
    }
    let mut table = Table::of_numbers(header);
    for (place, variant) in model.plan.variants.iter().enumerate() {
        let cells = columns.iter().map(|column| column[place].clone());
        table.push(std::iter::once(variant.clone()).chain(cells));
    }
    table.split(WIDTH)
}
