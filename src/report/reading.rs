//! The section that says what the numbers and signs mean.

use super::WIDTH;
use super::markdown::wrapped;
use crate::analysis::{MIN_ROUNDS, ReportModel};

/// Writes the section, as far as it applies to the survey.
pub fn section(model: &ReportModel) -> String {
    let newest = model.newest().unwrap_or("the newest release");
    let notes = [
        "**Cells** are medians over the rounds, in the unit of the column's heading. ± is the \
         distance from the median to the farther bound, as a part of the median. With fewer than \
         six rounds the bounds are the smallest and the greatest round, which is a range and no \
         confidence interval; from six rounds on they are a distribution-free interval of the \
         median at 95 % or more. (n=2) marks a cell with another number of rounds than planned."
            .to_owned(),
        "**Words in a cell** stand where there is no number, and say why. Such a cell enters no mean."
            .to_owned(),
        format!(
            "**Geometric means** are of the ratios to {newest}, over the programs measured on both \
             (as many as the column says, or the mean itself as in \"of 3\") except the suite's \
             extras, taken within each round. Shown is the median of the rounds, with their \
             range or, from six rounds on, its interval. The range says how well these rounds agree \
             about these programs; it says nothing about other programs or machines."
        ),
        format!(
            "**A change** is printed as one only if the ratios of the rounds all lie on one side of \
             1 and the values of both releases do not overlap (from six rounds on, their intervals \
             do not); the numbers in brackets are the range or interval of the ratios, in per cent. \
             \"Within noise\" means that the rounds disagree about the direction. \"Cannot decide\" \
             means that they agree but the values overlap, or that there are fewer than {MIN_ROUNDS} \
             rounds, or that a value is too small to be measured."
        ),
        "**Elapsed time** is what one waits; **CPU time** is user plus system time of all threads, so \
         it exceeds elapsed time where several CPUs work. A release can win one and lose the other: \
         a collector that runs beside the program costs CPU time only."
            .to_owned(),
        "**Threads**: before Go 1.5 a program used one thread unless told otherwise. With policy \
         `all` GOMAXPROCS is set alike for every release; with `native` it is not, and part of any \
         difference to releases before 1.5 is that default."
            .to_owned(),
        "**Peak memory** is the greatest resident set of the program's largest process. ≤ marks a \
         value at what the launcher itself needs, below which none can be seen."
            .to_owned(),
        "**Build time** is that of compiling and linking the program again with the standard library \
         already compiled. Its repetitions follow each other and are not spread over the rounds, so \
         its range misses slow drift of the machine."
            .to_owned(),
    ];
    let notes: String =
        notes.iter().map(|note| wrapped(&format!("- {note}"), WIDTH, "  ")).collect();
    format!("## How to read this\n\n{notes}")
}
