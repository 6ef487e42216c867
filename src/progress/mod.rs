//! How far things are, on standard error.
//!
//! Everything is drawn by the call that reports it, in the thread that makes it. Nothing ticks in
//! the background, so between two calls, and so while a program is measured, nothing is drawn.

mod bars;
mod lines;

use bars::Bars;
use indicatif::ProgressDrawTarget;
use lines::Lines;
use std::io::{self, IsTerminal};

/// Where progress is shown.
pub trait Progress: Send + Sync {
    /// Begins a download; `total_bytes` where the server says how much there is.
    fn download(&self, what: &str, total_bytes: Option<u64>) -> Box<dyn Meter>;

    /// Begins a stage of `total` steps: builds, checks, runs of a round.
    fn stage(&self, what: &str, total: u64) -> Box<dyn Meter>;

    /// Shows a line that stays, above whatever moves.
    fn message(&self, line: &str);

    /// Takes everything that moves off the terminal while `print` writes to it.
    fn suspend(&self, print: &mut dyn FnMut());
}

/// A download or a stage under way. Dropping it unfinished takes it off the terminal.
pub trait Meter: Send {
    /// Says what is being done now; drawn at once.
    fn label(&mut self, label: &str);

    /// Like [`Meter::label`] for what changes often: drawn when drawing is next due.
    fn note(&mut self, label: &str);

    /// Counts bytes or steps as done.
    fn advance(&mut self, by: u64);

    /// Says how long the rest will take, in the caller's words: `12 min`. Shown from the next
    /// [`Meter::advance`] or [`Meter::label`] on.
    fn remaining(&mut self, time: &str);

    /// Ends it and leaves `summary` as a line that stays.
    fn finish(self: Box<Self>, summary: &str);
}

/// Progress for people: bars on a terminal, otherwise a line now and then.
pub fn on_standard_error() -> Box<dyn Progress> {
    if io::stderr().is_terminal() {
        Box::new(Bars::on(ProgressDrawTarget::stderr()))
    } else {
        Box::new(Lines::new(io::stderr()))
    }
}

/// Shows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn download(&self, _what: &str, _total_bytes: Option<u64>) -> Box<dyn Meter> {
        Box::new(Silent)
    }

    fn stage(&self, _what: &str, _total: u64) -> Box<dyn Meter> {
        Box::new(Silent)
    }

    fn message(&self, _line: &str) {}

    fn suspend(&self, print: &mut dyn FnMut()) {
        print();
    }
}

impl Meter for Silent {
    fn label(&mut self, _label: &str) {}

    fn note(&mut self, _label: &str) {}

    fn advance(&mut self, _by: u64) {}

    fn remaining(&mut self, _time: &str) {}

    fn finish(self: Box<Self>, _summary: &str) {}
}
