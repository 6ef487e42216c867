//! Findings as words.

use crate::analysis::{
    Change, Completeness, Doubt, Finding, MIN_ROUNDS, Metric, Overall, ReportModel, Spread,
    SpreadKind,
};
use crate::report::quantity::ratio;
use crate::units;

/// Says in one sentence what the survey found, with the range of the rounds.
pub fn headline(model: &ReportModel) -> String {
    let Some(newest) = model.newest() else {
        return "There is nothing to compare: no run counts.".to_owned();
    };
    let Some((oldest, newest)) = model.compared() else {
        return format!("There is nothing to compare: only {newest} was measured.");
    };
    let Overall { programs, change } = overall(model, Metric::Elapsed);
    let Some(change) = change else {
        return format!(
            "{newest} and {oldest} cannot be compared: {}.",
            match programs {
                0 => "no program was measured on both".to_owned(),
                _ => format!("no round has all of their {} in common", count(*programs, "program")),
            }
        );
    };
    let mean = format!("geometric mean of {}", count(*programs, "program"));
    let range = range(change);
    let ratio = ratio(change.ratio);
    match change.finding {
        Finding::Changed if change.ratio < 1.0 => {
            format!("{newest} takes {ratio} of {oldest}'s time ({mean}, {range}).")
        }
        Finding::Changed => {
            format!("{newest} takes {ratio} times {oldest}'s time ({mean}, {range}).")
        }
        Finding::WithinNoise => format!(
            "{newest} and {oldest} cannot be told apart: the {mean} is {ratio} of the time, within \
             noise ({range})."
        ),
        Finding::Undecided(doubt) => format!(
            "It cannot be decided whether {newest} and {oldest} differ: {} ({mean} {ratio} of the \
             time, {range}).",
            match doubt {
                Doubt::TooFewRounds => {
                    format!(
                        "that takes {MIN_ROUNDS} complete rounds, the survey has {}",
                        change.rounds
                    )
                }
                Doubt::ValuesOverlap =>
                    "the rounds agree, but the times of both overlap".to_owned(),
                Doubt::AtFloor => "the values are too small to be told".to_owned(),
            }
        ),
    }
}

/// Says what the other metrics did, for the line after the headline; `None` if there is nothing to
/// compare.
pub fn beside_the_headline(model: &ReportModel) -> Option<String> {
    model.compared()?;
    let others = [Metric::Cpu, Metric::PeakMemory, Metric::BuildTime];
    let say = |metric: Metric| {
        let Overall { programs, change } = overall(model, metric);
        let change = change_cell(Some(change.as_ref()?));
        Some(format!("{}: {change}, {}.", capitalised(metric), count(*programs, "program")))
    };
    let parts: Vec<String> = others.into_iter().filter_map(say).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// Writes a change for a table; `None` is one without a common round.
pub fn change_cell(change: Option<&Change>) -> String {
    let Some(change) = change else {
        return "not on both".to_owned();
    };
    let Spread { low, high, .. } = change.spread;
    let range = format!("{}…{}", percent(low), percent(high));
    match change.finding {
        Finding::Changed => format!("{} % ({range})", percent(change.ratio)),
        Finding::WithinNoise => format!("within noise ({range})"),
        Finding::Undecided(Doubt::TooFewRounds) => {
            format!("cannot decide: {}", count(change.rounds, "round"))
        }
        Finding::Undecided(Doubt::ValuesOverlap) => format!("cannot decide ({range})"),
        Finding::Undecided(Doubt::AtFloor) => "cannot decide: too small".to_owned(),
    }
}

/// Says how much of the plan is there.
pub fn completeness(completeness: &Completeness) -> String {
    let Completeness { planned, counting, failed, blocked } = *completeness;
    if planned == 0 {
        return "The plan has no runs.".to_owned();
    }
    if counting == planned {
        return format!("All {planned} planned runs were made, and every output was verified.");
    }
    let mut parts = vec![format!("{counting} count")];
    let others = [
        (failed, "failed"),
        (blocked, "cannot be made"),
        (completeness.outstanding(), "are still to be made"),
    ];
    parts.extend(
        others.iter().filter(|(runs, _)| *runs > 0).map(|(runs, what)| format!("{runs} {what}")),
    );
    let start = match completeness.outstanding() {
        0 => "Of",
        _ => "The survey is not finished: of",
    };
    format!("{start} {planned} planned runs {}.", parts.join(", "))
}

/// Writes a metric's name for the start of a sentence.
pub fn capitalised(metric: Metric) -> String {
    let name = metric.to_string();
    name[..1].to_uppercase() + &name[1..]
}

/// Writes `1 program`, `4 programs`.
pub fn count(number: usize, noun: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{s}")
}

/// Says what the bounds of a spread are.
fn range(change: &Change) -> String {
    let Spread { low, high, kind } = change.spread;
    let bounds = format!("{}–{}", ratio(low), ratio(high));
    match kind {
        SpreadKind::Range if change.rounds == 1 => "one round".to_owned(),
        SpreadKind::Range => format!("rounds ranged {bounds}"),
        SpreadKind::Interval { confidence } => {
            format!("{:.0} % interval {bounds}", 100.0 * confidence)
        }
    }
}

fn overall(model: &ReportModel, metric: Metric) -> &Overall {
    const NOTHING: &Overall = &Overall { programs: 0, change: None };
    model.metrics.iter().find(|m| m.metric == metric).map_or(NOTHING, |m| &m.overall)
}

/// Writes a ratio as a change in per cent, without the sign of per cent.
fn percent(ratio: f64) -> String {
    units::change(ratio).trim_end_matches(" %").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::survey;

    fn headline_with(finding: Finding, value: f64, rounds: usize) -> String {
        let mut model = survey().analyse();
        let change = model.metrics[0].overall.change.as_mut().unwrap();
        *change = Change { finding, ratio: value, rounds, ..change.clone() };
        (change.spread.low, change.spread.high) = (value * 0.99, value * 1.02);
        headline(&model)
    }

    #[test]
    fn the_headline_claims_what_was_found_and_no_more() {
        let headlines = [
            headline_with(Finding::Changed, 0.877, 3),
            headline_with(Finding::Changed, 1.3, 3),
            headline_with(Finding::WithinNoise, 0.995, 3),
            headline_with(Finding::Undecided(Doubt::TooFewRounds), 0.877, 2),
            headline_with(Finding::Undecided(Doubt::TooFewRounds), 0.877, 1),
            headline_with(Finding::Undecided(Doubt::ValuesOverlap), 0.95, 3),
        ];
        insta::assert_snapshot!(headlines.join("\n"), @r"
        go1.27.1 takes 0.877 of go1.21.13's time (geometric mean of 4 programs, rounds ranged 0.868–0.895).
        go1.27.1 takes 1.300 times go1.21.13's time (geometric mean of 4 programs, rounds ranged 1.287–1.326).
        go1.27.1 and go1.21.13 cannot be told apart: the geometric mean of 4 programs is 0.995 of the time, within noise (rounds ranged 0.985–1.015).
        It cannot be decided whether go1.27.1 and go1.21.13 differ: that takes 3 complete rounds, the survey has 2 (geometric mean of 4 programs 0.877 of the time, rounds ranged 0.868–0.895).
        It cannot be decided whether go1.27.1 and go1.21.13 differ: that takes 3 complete rounds, the survey has 1 (geometric mean of 4 programs 0.877 of the time, one round).
        It cannot be decided whether go1.27.1 and go1.21.13 differ: the rounds agree, but the times of both overlap (geometric mean of 4 programs 0.950 of the time, rounds ranged 0.941–0.969).
        ");
    }
}
