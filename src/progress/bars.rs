//! Progress on a terminal.

use super::{Meter, Progress};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Bars at the bottom of the terminal, with the lines that stay above them.
#[derive(Debug)]
pub(super) struct Bars(MultiProgress);

impl Bars {
    pub fn on(target: ProgressDrawTarget) -> Self {
        Bars(MultiProgress::with_draw_target(target))
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

// Each fits a terminal of 80 columns.
const STEPS: &str = "{prefix:<6} {bar:16} {pos}/{len}  {wide_msg}";
const BYTES: &str = "{prefix:<16} {bar:16} {bytes}/{total_bytes}  {bytes_per_sec}  {msg}";
const BYTES_OF_UNKNOWN: &str = "{prefix:<16} {bytes}  {bytes_per_sec}  {msg}";

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
    fn note(&mut self, label: &str) {
        label.clone_into(&mut self.label);
        self.bar.set_message(self.text());
    }

    fn label(&mut self, label: &str) {
        self.note(label);
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

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::TermLike;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// A terminal that remembers what was written to it.
    #[derive(Clone, Debug, Default)]
    struct Recorder(Arc<Mutex<String>>);

    impl Recorder {
        fn bars(&self) -> Bars {
            Bars::on(ProgressDrawTarget::term_like_with_hz(Box::new(self.clone()), 20))
        }

        /// What was written since it was last asked.
        fn written(&self) -> String {
            std::mem::take(&mut self.0.lock().unwrap())
        }

        fn write(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }
    }

    impl TermLike for Recorder {
        fn width(&self) -> u16 {
            80
        }
        fn move_cursor_up(&self, _lines: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_down(&self, _lines: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_right(&self, _columns: usize) -> io::Result<()> {
            Ok(())
        }
        fn move_cursor_left(&self, _columns: usize) -> io::Result<()> {
            Ok(())
        }
        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write(text).and_then(|()| self.write("\n"))
        }
        fn write_str(&self, text: &str) -> io::Result<()> {
            self.write(text)
        }
        fn clear_line(&self) -> io::Result<()> {
            self.write("<clear>")
        }
        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_done_now_is_drawn_at_once_however_much_was_drawn_before() {
        let terminal = Recorder::default();
        let bars = terminal.bars();
        let mut runs = bars.stage("run", 1000);
        for run in 0..500 {
            runs.remaining("12 min");
            runs.label(&format!("cell {run}"));
            let drawn = terminal.written();
            assert!(drawn.contains(&format!("{run}/1000  12 min left  cell {run}")), "{drawn}");
            runs.advance(1);
        }
    }

    #[test]
    fn what_is_finished_leaves_its_summary_and_no_bar() {
        let terminal = Recorder::default();
        let bars = terminal.bars();
        let mut download = bars.download("go1.27.1", Some(100));
        download.advance(100);
        terminal.written();
        download.finish("go1.27.1: 100 B");
        let drawn = terminal.written();
        assert!(drawn.contains("go1.27.1: 100 B"), "{drawn}");
        bars.message("next");
        assert!(!terminal.written().contains("100 B"), "the bar is drawn no more");
    }

    #[test]
    fn a_line_stands_above_the_bars_and_they_make_way_for_others() {
        let terminal = Recorder::default();
        let bars = terminal.bars();
        let mut builds = bars.stage("build", 3);
        builds.label("n-body");
        terminal.written();
        bars.message("a warning");
        let drawn = terminal.written();
        let (line, bar) = (drawn.find("a warning"), drawn.find("n-body"));
        assert!(line.is_some() && line < bar, "{drawn}");
        bars.suspend(&mut || {
            let drawn = terminal.written();
            assert!(drawn.contains("<clear>") && !drawn.contains("n-body"), "{drawn}");
        });
        assert!(terminal.written().contains("n-body"));
    }
}
