//! The section on how each program went from the oldest to the newest release.

use super::WIDTH;
use super::markdown::{Table, one_line, wrapped};
use super::statement::change_cell;
use crate::analysis::{Change, ReportModel, false_change_chance};

/// Writes the section; empty if there are no two variants to compare.
pub fn section(model: &ReportModel) -> String {
    let Some((oldest, newest)) = model.compared() else {
        return String::new();
    };
    let title = one_line(&format!("Change from {oldest} to {newest}"));
    let mut text = format!("## {title}\n\n");
    let parts: Vec<String> = table(model).split(WIDTH).iter().map(Table::markdown).collect();
    text += &parts.join("\n");
    if let Some(caution) = caution(model) {
        text += &format!("\n{}", wrapped(&caution, WIDTH, ""));
    }
    text
}

fn table(model: &ReportModel) -> Table {
    let metrics = model.metrics.iter().map(|metric| metric.metric.to_string());
    let mut table = Table::of_numbers(std::iter::once("program".to_owned()).chain(metrics));
    let cells = |place: usize| {
        model.metrics.iter().map(move |metric| change_cell(metric.changes[place].as_ref()))
    };
    let (extras, counting): (Vec<_>, Vec<_>) = (model.plan.programs.iter().enumerate())
        .partition(|(_, program)| model.plan.extras.contains(program));
    for (place, program) in counting {
        table.push(std::iter::once(program.clone()).chain(cells(place)));
    }
    let overall = model.metrics.iter().map(|metric| change_cell(metric.overall.change.as_ref()));
    table.push(std::iter::once("geometric mean".to_owned()).chain(overall));
    let programs = model.metrics.iter().map(|metric| metric.overall.programs.to_string());
    table.push(std::iter::once("programs in it".to_owned()).chain(programs));
    for (place, program) in extras {
        table.push(std::iter::once(format!("{program} (not in it)")).chain(cells(place)));
    }
    table
}

/// Says how many of the table's changes chance alone would make; `None` if none can be called.
fn caution(model: &ReportModel) -> Option<String> {
    let changes: Vec<&Change> =
        model.metrics.iter().flat_map(|metric| metric.changes.iter().flatten()).collect();
    let expected: f64 = changes.iter().map(|change| false_change_chance(change.rounds)).sum();
    let rounds = model.plan.rounds as usize;
    let one_in = 1.0 / false_change_chance(rounds);
    (expected > 0.0 && one_in.is_finite()).then(|| {
        format!(
            "Two equal releases are called changed by the luck of {rounds} rounds with a chance of \
             up to 1 in {one_in:.0}. If nothing had changed at all, that would be up to \
             {expected:.1} of the {} comparisons of programs above; the means are no exception.",
            changes.len()
        )
    })
}
