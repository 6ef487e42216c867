//! Progress on a terminal.

use super::{Meter, Progress};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Bars at the bottom of the terminal, with the lines that stay above them.
#[derive(Debug)]
pub(super) struct Bars(MultiProgress);

impl Bars {
    pub fn new() -> Self {
        Bars(MultiProgress::with_draw_target(ProgressDrawTarget::stderr()))
    }

    fn begin(&self, what: &str, total: Option<u64>, template: &str) -> Bar {
        let style = ProgressStyle::with_template(template).expect("the templates are constants");
        let bar = ProgressBar::hidden().with_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
        bar.set_prefix(what.to_owned());
        match total {
            Some(total) => bar.set_length(total),
            None => bar.unset_length(),
        }
        let bar = self.0.add(bar);
        bar.force_draw();
        Bar { all: self.0.clone(), bar, label: String::new(), remaining: String::new() }
    }
}

const STEPS: &str = "{prefix:<8} {bar:30} {pos}/{len}  {wide_msg}";
const BYTES: &str = "{prefix:<28} {bar:20} {bytes}/{total_bytes}  {bytes_per_sec}  {wide_msg}";
const BYTES_OF_UNKNOWN: &str = "{prefix:<28} {bytes}  {bytes_per_sec}  {wide_msg}";

impl Progress for Bars {
    fn download(&self, what: &str, total_bytes: Option<u64>) -> Box<dyn Meter> {
        let template = if total_bytes.is_some() { BYTES } else { BYTES_OF_UNKNOWN };
        Box::new(self.begin(what, total_bytes, template))
    }

    fn stage(&self, what: &str, total: u64) -> Box<dyn Meter> {
        Box::new(self.begin(what, Some(total), STEPS))
    }

    fn message(&self, line: &str) {
        print_above(&self.0, line);
    }

    fn suspend(&self, print: &mut dyn FnMut()) {
        self.0.suspend(print);
    }
}

/// Writes a line above the bars. A terminal that cannot be written to is no reason to stop.
fn print_above(all: &MultiProgress, line: &str) {
    let _ = all.println(line);
}

#[derive(Debug)]
struct Bar {
    all: MultiProgress,
    bar: ProgressBar,
    label: String,
    remaining: String,
}

impl Bar {
    fn text(&self) -> String {
        match (self.remaining.as_str(), self.label.as_str()) {
            ("", label) => label.to_owned(),
            (remaining, "") => format!("{remaining} left"),
            (remaining, label) => format!("{remaining} left  {label}"),
        }
    }
}

impl Meter for Bar {
    fn label(&mut self, label: &str) {
        label.clone_into(&mut self.label);
        self.bar.set_message(self.text());
        // Drawing is held back when much is drawn; what stands there during a long run must be
        // that run.
        self.bar.force_draw();
    }

    fn advance(&mut self, by: u64) {
        self.bar.inc(by);
    }

    fn remaining(&mut self, time: &str) {
        time.clone_into(&mut self.remaining);
    }

    fn finish(self: Box<Self>, summary: &str) {
        let all = self.all.clone();
        drop(self);
        print_above(&all, summary);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        self.all.remove(&self.bar);
    }
}
