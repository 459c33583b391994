//! From data to pixels.

use super::markup;

/// One direction of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Scale {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) log: bool,
}

impl Scale {
    /// The range of the data, widened a little; or exactly the range that was asked for.
    pub(super) fn new(
        data: impl Iterator<Item = f64>,
        range: Option<[f64; 2]>,
        log: bool,
        padding: f64,
        (from, to): (f64, f64),
    ) -> Self {
        let usable = |v: &f64| v.is_finite() && (!log || *v > 0.0);
        let transform = |v: f64| if log { v.log10() } else { v };
        if let Some([low, high]) = range.filter(|[low, high]| usable(low) && usable(high) && low < high) {
            return Self { low: transform(low), high: transform(high), from, to, log };
        }
        let (mut low, mut high) = data
            .filter(usable)
            .map(transform)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let margin = if high > low { (high - low) * padding } else { (low.abs() * 0.05).max(0.5) };
        Self { low: low - margin, high: high + margin, from, to, log }
    }

    /// Position of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// Whether a value is shown.
    pub(super) fn shows(&self, value: f64) -> bool {
        let slack = (self.high - self.low) * 1e-9;
        let value = if self.log { value.log10() } else { value };
        value >= self.low - slack && value <= self.high + slack
    }

    /// About `count` round values with their labels.
    pub(super) fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.log {
            return self.log_ticks();
        }
        let rough = (self.high - self.low) / count.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 10.0) as usize;
        let first = (self.low / step - 1e-9).ceil();
        let count = ((self.high / step + 1e-9).floor() - first).clamp(0.0, 30.0) as usize;
        (0..=count)
            .map(|i| {
                let value = (first + i as f64) * step;
                let label = format!("{:.decimals$}", if value == 0.0 { 0.0 } else { value });
                (value, if label.starts_with('-') { label.replacen('-', "−", 1) } else { label })
            })
            .collect()
    }

    fn log_ticks(&self) -> Vec<(f64, String)> {
        let decades = self.high - self.low;
        let steps: &[f64] = if decades < 1.2 {
            &[1.0, 2.0, 3.0, 5.0, 7.0]
        } else if decades < 3.0 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let every = if decades > 8.0 { 2 } else { 1 };
        let mut ticks = Vec::new();
        for power in (self.low.floor() as i32..=self.high.ceil() as i32).step_by(every) {
            for step in steps {
                let value = step * 10f64.powi(power);
                if self.shows(value) {
                    let short = format!("{step}e{power}");
                    ticks.push((value, if (-3..4).contains(&power) { markup::number(value) } else { short }));
                }
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(low: f64, high: f64, log: bool) -> Scale {
        Scale::new([low, high].into_iter(), Some([low, high]), log, 0.0, (0.0, 100.0))
    }

    #[test]
    fn ticks_are_round_and_within() {
        let labels = |low, high, log| -> Vec<String> {
            scale(low, high, log).ticks(5).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(0.0, 1000.0, false), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(labels(-0.11, 0.21, false), ["−0.1", "0.0", "0.1", "0.2"]);
        assert_eq!(labels(0.001, 10.0, true), ["0.001", "0.01", "0.1", "1", "10"]);
        assert_eq!(labels(1e-9, 2e-9, false).len(), 6);
    }

    #[test]
    fn no_data_and_constant_data_still_have_a_scale() {
        for data in [vec![], vec![f64::NAN], vec![3.0, 3.0], vec![0.0]] {
            let scale = Scale::new(data.into_iter(), None, false, 0.05, (0.0, 100.0));
            assert!(scale.low < scale.high && scale.at(1.0).is_finite());
        }
        assert!(Scale::new([-1.0, 0.0].into_iter(), None, true, 0.05, (0.0, 1.0)).ticks(4).len() < 40);
    }
}
