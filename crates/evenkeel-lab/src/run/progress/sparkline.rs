//! A curve as wide as a few characters.

use std::fmt;

/// Even, so that one column too many is an odd number of them.
const WIDTH: usize = 12;
const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The course of an accuracy (0 to 100) so far. When it gets too long, neighbours are joined and the lower one stays: a dip
/// is what is looked for.
pub(super) struct Sparkline {
    columns: Vec<f64>,
    /// Values that go into one column now.
    each: usize,
    /// Values in the last column.
    last: usize,
}

impl Sparkline {
    pub(super) fn new() -> Self {
        Self { columns: Vec::with_capacity(WIDTH + 1), each: 1, last: 0 }
    }

    pub(super) fn push(&mut self, value: f64) {
        match self.columns.last_mut() {
            Some(column) if self.last < self.each => {
                *column = column.min(value);
                self.last += 1;
            }
            _ => {
                self.columns.push(value);
                self.last = 1;
            }
        }
        if self.columns.len() > WIDTH {
            // An odd number: the last column, which may still grow, stays by itself.
            let joined =
                self.columns.chunks(2).map(|pair| pair.iter().copied().fold(f64::INFINITY, f64::min));
            self.columns = joined.collect();
            self.each *= 2;
        }
    }
}

impl fmt::Display for Sparkline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = |value: &f64| {
            let step = (value / 100.0 * (LEVELS.len() - 1) as f64).round();
            LEVELS[(step.max(0.0) as usize).min(LEVELS.len() - 1)]
        };
        let text: String = self.columns.iter().map(level).collect();
        write!(f, "{text:>WIDTH$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_narrow_and_keeps_the_dip() {
        for length in [1, 12, 13, 100, 5000] {
            for dip in [0, length / 3, length - 1] {
                let mut line = Sparkline::new();
                for i in 0..length {
                    line.push(if i == dip { 0.0 } else { 100.0 });
                }
                let text = line.to_string();
                assert_eq!(text.chars().count(), WIDTH, "{text}");
                assert_eq!(text.matches('▁').count(), 1, "{length} values, dip at {dip}: {text}");
            }
        }
    }
}
