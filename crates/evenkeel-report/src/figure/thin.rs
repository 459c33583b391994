//! Fewer points for drawing, without losing a dip.

use std::collections::BTreeSet;

use super::{Band, Figure, Panel, Plot, Series};

impl Figure {
    /// The figure with at most about `points` points a curve: only what is shown, and of every stretch its first, last,
    /// lowest and highest point.
    #[must_use]
    pub fn thinned(&self, points: usize) -> Self {
        Self { panels: self.panels.iter().map(|panel| panel.thinned(points)).collect(), ..self.clone() }
    }
}

impl Panel {
    fn thinned(&self, points: usize) -> Self {
        let mut panel = self.clone();
        if let Plot::Lines(lines) = &mut panel.plot {
            for series in &mut lines.series {
                *series = series.cropped(self.x.range).thinned(points);
            }
        }
        panel
    }
}

impl Series {
    /// The points within a range, and one more on each side so that lines run to the edge.
    fn cropped(&self, range: Option<[f64; 2]>) -> Self {
        let Some([low, high]) = range else { return self.clone() };
        let first = self.x.partition_point(|x| *x < low).saturating_sub(1);
        let last = (self.x.partition_point(|x| *x <= high) + 1).min(self.x.len());
        self.picked(&(first..last).collect::<Vec<_>>())
    }

    fn thinned(&self, points: usize) -> Self {
        let n = self.x.len();
        if n <= points.max(8) {
            return self.clone();
        }
        // Up to six points a stretch: its ends, the extremes of the curve, those of the band.
        let stretches = (points / 6).max(1);
        let mut kept = BTreeSet::new();
        for k in 0..stretches {
            let range = k * n / stretches..(k + 1) * n / stretches;
            kept.extend([range.start, range.end - 1]);
            let mut keep = |values: &[f64]| {
                let finite = || range.clone().filter(|&i| values.get(i).is_some_and(|v| v.is_finite()));
                kept.extend(finite().min_by(|&a, &b| values[a].total_cmp(&values[b])));
                kept.extend(finite().max_by(|&a, &b| values[a].total_cmp(&values[b])));
            };
            keep(&self.y);
            if let Some(band) = &self.band {
                keep(&band.low);
                keep(&band.high);
            }
        }
        self.picked(&kept.into_iter().collect::<Vec<_>>())
    }

    fn picked(&self, indices: &[usize]) -> Self {
        let pick =
            |values: &[f64]| -> Vec<f64> { indices.iter().filter_map(|&i| values.get(i).copied()).collect() };
        let band = self.band.as_ref().map(|band| Band { low: pick(&band.low), high: pick(&band.high) });
        Self {
            name: self.name.clone(),
            style: self.style,
            x: pick(&self.x),
            y: pick(&self.y),
            band,
            dots: self.dots.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Lines};

    fn series(dip_at: usize) -> Series {
        let x: Vec<f64> = (0..100_000).map(f64::from).collect();
        let mut y: Vec<f64> = x.iter().map(|x| 90.0 + (x * 0.7).sin()).collect();
        y[dip_at] = 3.25;
        let mut low: Vec<f64> = y.iter().map(|y| y - 1.0).collect();
        low[dip_at + 1] = -7.0;
        let high = y.iter().map(|y| y + 1.0).collect();
        Series { x, y, band: Some(Band { low, high }), ..Series::default() }
    }

    #[test]
    fn a_dip_of_one_point_survives_anywhere() {
        for dip_at in [0, 1, 49_999, 50_000, 77_777, 99_998] {
            let thin = series(dip_at).thinned(900);
            assert!(thin.x.len() <= 900, "{}", thin.x.len());
            let at = thin.y.iter().position(|y| *y == 3.25).expect("the dip is kept");
            assert_eq!(thin.x[at], dip_at as f64);
            assert!(thin.band.unwrap().low.contains(&-7.0));
            assert_eq!((thin.x[0], *thin.x.last().unwrap()), (0.0, 99_999.0));
        }
    }

    #[test]
    fn a_zoom_keeps_every_point_of_its_range() {
        let plot = Lines { series: vec![series(500)], ..Lines::default() };
        let panel = Panel::new("", Axis::new("").with_range(490.0, 510.0), Axis::new(""), plot);
        let Plot::Lines(lines) = panel.thinned(900).plot else { unreachable!() };
        assert_eq!((lines.series[0].x[0], lines.series[0].x.len()), (489.0, 23));
    }

    #[test]
    fn an_empty_series_stays_empty() {
        assert_eq!(Series::default().cropped(Some([0.0, 1.0])).thinned(10), Series::default());
    }
}
