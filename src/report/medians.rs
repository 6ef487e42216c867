//! `medians.csv`: the tables of medians as one row a cell and metric, for other programs.

use crate::analysis::{Entry, Metric, MetricModel, ReportModel, SpreadKind, Summary};

const COLUMNS: [&str; 13] = [
    "variant",
    "program",
    "size",
    "metric",
    "unit",
    "n",
    "median",
    "min",
    "max",
    "low",
    "high",
    "confidence",
    "note",
];

/// Writes `report/medians.csv`.
///
/// Every cell of the plan has a row for every metric; one without a number has `n` 0, empty
/// numbers, and the reason in `note`, so that it cannot be taken for a zero. `low` and `high` are
/// the confidence interval of the median at the level `confidence`, and empty where there are too
/// few rounds for one. A note `at floor` says that the true value may be anything below.
pub fn medians_csv(model: &ReportModel) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: &[String]| {
        writer.write_record(record).expect("every record is as long, and memory takes it");
    };
    write(&COLUMNS.map(str::to_owned));
    for (variant_place, variant) in model.plan.variants.iter().enumerate() {
        for (program_place, program) in model.plan.programs.iter().enumerate() {
            for MetricModel { metric, cells, .. } in &model.metrics {
                let key = [
                    variant.clone(),
                    program.clone(),
                    model.plan.size.clone(),
                    name(*metric).to_owned(),
                    metric.unit().to_owned(),
                ];
                let values = values(&cells[variant_place][program_place]);
                write(&[key.as_slice(), values.as_slice()].concat());
            }
        }
    }
    let bytes = writer.into_inner().expect("memory takes every byte");
    String::from_utf8(bytes).expect("records are made of text")
}

/// The metric's name in the file.
fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Elapsed => "elapsed",
        Metric::Cpu => "cpu",
        Metric::PeakMemory => "peak_memory",
        Metric::BuildTime => "build",
    }
}

/// The columns from `n` on.
fn values(entry: &Entry) -> [String; 8] {
    let summary = match entry {
        Entry::Measured(summary) => summary,
        Entry::Gap(gap) => {
            let mut values: [String; 8] = Default::default();
            values[0] = "0".to_owned();
            values[7] = gap.to_string();
            return values;
        }
    };
    let Summary { rounds, median, spread, min, max, at_floor } = summary;
    let interval = match spread.kind {
        SpreadKind::Range => [String::new(), String::new(), String::new()],
        SpreadKind::Interval { confidence } => {
            [spread.low.to_string(), spread.high.to_string(), format!("{confidence:.4}")]
        }
    };
    let [low, high, confidence] = interval;
    let note = if *at_floor { "at floor".to_owned() } else { String::new() };
    let [median, min, max] = [median, min, max].map(f64::to_string);
    [rounds.to_string(), median, min, max, low, high, confidence, note]
}
