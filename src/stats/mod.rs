//! Mathematics of samples: order statistics, intervals, means.
//!
//! This module sees only numbers. What they measure, which of them belong together and what may be
//! said about them is decided in `analysis`.

mod sample;

pub use sample::{Interval, Sample};
