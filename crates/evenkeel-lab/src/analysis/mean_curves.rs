//! What figures need of a group of seeds: mean and standard error at each iteration.

use evenkeel_metrics::stats::{mean, sample_sd};
use evenkeel_metrics::{Curve, Point};
use evenkeel_report::figure::{Band, Dot, Series};

/// A measurement of a [`Point`], where it was made.
pub(super) type Measure = fn(&Point) -> Option<f64>;

/// The curves of one optimizer, averaged over its seeds.
pub(super) struct MeanCurves {
    pub(super) iterations: Vec<f64>,
    pub(super) accuracy: Averaged,
    pub(super) loss: Averaged,
    pub(super) gain: Averaged,
    pub(super) entropy: Averaged,
    /// Last iteration of each task but the last.
    pub(super) switches: Vec<f64>,
    /// Index of the lowest mean accuracy of each task from the second on.
    pub(super) minima: Vec<usize>,
    /// Highest loss after each switch minus the loss before it: mean and standard deviation over seeds.
    pub(super) loss_spikes: Vec<(f64, f64)>,
}

/// Mean and standard error, NaN where nothing was measured.
pub(super) struct Averaged {
    pub(super) mean: Vec<f64>,
    error: Vec<f64>,
}

impl Averaged {
    fn of(curves: &[Curve], measure: Measure) -> Self {
        let (mut means, mut errors) = (Vec::new(), Vec::new());
        let mut values = Vec::with_capacity(curves.len());
        for i in 0..curves[0].points().len() {
            values.clear();
            values.extend(curves.iter().filter_map(|curve| measure(&curve.points()[i])));
            // A mean over some of the seeds would jump where their number changes.
            let whole = values.len() == curves.len() && values.iter().all(|value| value.is_finite());
            means.push(if whole { mean(&values) } else { f64::NAN });
            let sd = if whole { sample_sd(&values) } else { None };
            errors.push(sd.map_or(f64::NAN, |sd| sd / (values.len() as f64).sqrt()));
        }
        Self { mean: means, error: errors }
    }

    pub(super) fn is_measured(&self) -> bool {
        self.mean.iter().any(|value| value.is_finite())
    }

    /// The curve with its band; the band needs two seeds.
    pub(super) fn series(&self, name: &str, x: &[f64]) -> Series {
        let edge = |sign: f64| self.mean.iter().zip(&self.error).map(|(m, e)| m + sign * e).collect();
        let banded = self.error.iter().any(|error| error.is_finite());
        let band = banded.then(|| Band { low: edge(-1.0), high: edge(1.0) });
        Series { name: name.to_string(), x: x.to_vec(), y: self.mean.clone(), band, ..Series::default() }
    }
}

impl MeanCurves {
    /// Of curves with the same schedule, at least one.
    pub(super) fn of(curves: &[Curve]) -> Self {
        let points = curves[0].points();
        let accuracy = Averaged::of(curves, |point| Some(point.task1_acc));
        let starts: Vec<usize> =
            (1..points.len()).filter(|&i| points[i].task != points[i - 1].task).collect();
        let end = points.len();
        let stretches = || starts.iter().zip(starts.iter().skip(1).chain([&end]));
        let minima = stretches().filter_map(|(&from, &to)| {
            (from..to).min_by(|&a, &b| accuracy.mean[a].total_cmp(&accuracy.mean[b]))
        });
        let loss_spikes = stretches().map(|(&from, &to)| {
            let spike = |curve: &Curve| -> Option<f64> {
                let before = curve.points()[from - 1].task1_loss?;
                let losses = curve.points()[from..to].iter().map(|point| point.task1_loss);
                Some(losses.collect::<Option<Vec<f64>>>()?.into_iter().fold(f64::MIN, f64::max) - before)
            };
            let spikes: Option<Vec<f64>> = curves.iter().map(spike).collect();
            spikes.map_or((f64::NAN, f64::NAN), |all| (mean(&all), sample_sd(&all).unwrap_or(f64::NAN)))
        });
        Self {
            iterations: points.iter().map(|point| point.iteration as f64).collect(),
            minima: minima.collect(),
            loss_spikes: loss_spikes.collect(),
            switches: starts.iter().map(|&i| points[i - 1].iteration as f64).collect(),
            loss: Averaged::of(curves, |point| point.task1_loss),
            gain: Averaged::of(curves, |point| point.gain),
            entropy: Averaged::of(curves, |point| point.entropy),
            accuracy,
        }
    }

    /// A dot at each task's minimum.
    pub(super) fn minimum_dots(&self) -> Vec<Dot> {
        self.minima.iter().map(|&i| Dot::new(self.iterations[i], self.accuracy.mean[i])).collect()
    }
}
