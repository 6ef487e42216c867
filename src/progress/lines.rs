//! Progress in a log file or a pipe.

use super::{Meter, Progress};
use crate::units;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// A line when something begins, at every tenth of the way, and when it has ended.
#[derive(Debug)]
pub(super) struct Lines<W>(Arc<Mutex<W>>);

impl<W: Write + Send + 'static> Lines<W> {
    pub fn new(to: W) -> Self {
        Lines(Arc::new(Mutex::new(to)))
    }

    fn begin(&self, what: &str, total: Option<u64>, unit: Unit) -> Box<dyn Meter> {
        let line = match (total, unit) {
            (None, _) => what.to_owned(),
            (Some(total), Unit::Bytes) => format!("{what}: {}", units::bytes(total as f64)),
            (Some(total), Unit::Steps) => format!("{what}: {total}"),
        };
        write_line(&self.0, &line);
        let (what, to) = (what.to_owned(), Arc::clone(&self.0));
        Box::new(Line { to, what, total, done: 0, unit, remaining: String::new() })
    }
}

impl<W: Write + Send + 'static> Progress for Lines<W> {
    fn download(&self, what: &str, total_bytes: Option<u64>) -> Box<dyn Meter> {
        self.begin(what, total_bytes, Unit::Bytes)
    }

    fn stage(&self, what: &str, total: u64) -> Box<dyn Meter> {
        self.begin(what, Some(total), Unit::Steps)
    }

    fn message(&self, line: &str) {
        write_line(&self.0, line);
    }

    fn suspend(&self, print: &mut dyn FnMut()) {
        print();
    }
}

/// Writes a line. A log that cannot be written to is no reason to stop.
fn write_line<W: Write>(to: &Mutex<W>, line: &str) {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(to, "{line}");
}

#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Steps,
}

struct Line<W> {
    to: Arc<Mutex<W>>,
    what: String,
    total: Option<u64>,
    done: u64,
    unit: Unit,
    remaining: String,
}

impl<W: Write + Send> Meter for Line<W> {
    fn label(&mut self, _label: &str) {}

    fn note(&mut self, _label: &str) {}

    fn advance(&mut self, by: u64) {
        let Some(total) = self.total else { return };
        let tenth = |done: u64| done.saturating_mul(10) / total.max(1);
        let before = tenth(self.done);
        self.done = self.done.saturating_add(by);
        // The end has a line of its own.
        if tenth(self.done) == before || self.done >= total {
            return;
        }
        let far = match self.unit {
            Unit::Bytes => format!("{} %", self.done.saturating_mul(100) / total),
            Unit::Steps => format!("{} of {total}", self.done),
        };
        let left = match self.remaining.as_str() {
            "" => String::new(),
            time => format!(", {time} left"),
        };
        write_line(&self.to, &format!("{}: {far}{left}", self.what));
    }

    fn remaining(&mut self, time: &str) {
        time.clone_into(&mut self.remaining);
    }

    fn finish(self: Box<Self>, summary: &str) {
        write_line(&self.to, summary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(show: impl FnOnce(&dyn Progress)) -> String {
        let lines = Lines::new(Vec::new());
        show(&lines);
        let bytes = lines.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_stage_of_many_steps_takes_few_lines() {
        let text = written(|progress| {
            let mut runs = progress.stage("runs", 360);
            for step in 0..360 {
                runs.label("n-body");
                runs.remaining(&format!("{} min", (360 - step) / 6));
                runs.advance(1);
            }
            progress.message("round 3 of 3 done");
            runs.finish("360 runs in 1 h");
        });
        insta::assert_snapshot!(text, @r"
        runs: 360
        runs: 36 of 360, 54 min left
        runs: 72 of 360, 48 min left
        runs: 108 of 360, 42 min left
        runs: 144 of 360, 36 min left
        runs: 180 of 360, 30 min left
        runs: 216 of 360, 24 min left
        runs: 252 of 360, 18 min left
        runs: 288 of 360, 12 min left
        runs: 324 of 360, 6 min left
        round 3 of 3 done
        360 runs in 1 h
        ");
    }

    #[test]
    fn a_stage_of_few_steps_takes_a_line_a_step() {
        let text = written(|progress| {
            let mut builds = progress.stage("builds", 3);
            (0..3).for_each(|_| builds.advance(1));
            builds.finish("3 built");
        });
        insta::assert_snapshot!(text, @r"
        builds: 3
        builds: 1 of 3
        builds: 2 of 3
        3 built
        ");
    }

    #[test]
    fn a_download_of_unknown_size_has_a_beginning_and_an_end() {
        let text = written(|progress| {
            let mut download = progress.download("go1.27.1", None);
            (0..100).for_each(|_| download.advance(1 << 20));
            download.finish("go1.27.1: 100 MiB");
            let mut download = progress.download("go1.21.13", Some(4096));
            download.advance(2048);
            download.advance(2048);
            download.finish("go1.21.13: 4.00 KiB");
            drop(progress.stage("nothing", 0));
        });
        insta::assert_snapshot!(text, @r"
        go1.27.1
        go1.27.1: 100 MiB
        go1.21.13: 4.00 KiB
        go1.21.13: 50 %
        go1.21.13: 4.00 KiB
        nothing: 0
        ");
    }
}
