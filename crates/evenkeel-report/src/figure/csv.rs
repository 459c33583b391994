//! The numbers behind a figure.

use super::{Figure, Plot};

impl Figure {
    /// All points of all panels as CSV, in full precision: `panel,series,x,y,low,high`. In bars and heat maps `x` is the name of the
    /// group or column; in heat maps `series` is that of the row.
    pub fn to_csv(&self) -> String {
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        let mut write = |panel: &str, series: &str, x: &str, y: f64, bounds: Option<(f64, f64)>| {
            let number = |v: f64| if v.is_finite() { v.to_string() } else { String::new() };
            let (low, high) = bounds.map_or_else(Default::default, |(low, high)| (number(low), number(high)));
            writer.write_record([panel, series, x, &number(y), &low, &high]).expect("memory does not fail");
        };
        for panel in &self.panels {
            let title = if panel.title.is_empty() { &panel.y.label } else { &panel.title };
            match &panel.plot {
                Plot::Lines(plot) => {
                    for series in &plot.series {
                        for (i, (x, y)) in series.x.iter().zip(&series.y).enumerate() {
                            let bounds = series
                                .band
                                .as_ref()
                                .and_then(|band| band.low.get(i).copied().zip(band.high.get(i).copied()));
                            write(title, &series.name, &x.to_string(), *y, bounds);
                        }
                    }
                }
                Plot::Bars(plot) => {
                    for series in &plot.series {
                        for (i, (group, value)) in plot.groups.iter().zip(&series.values).enumerate() {
                            let error = series.errors.as_ref().and_then(|e| e.get(i));
                            write(title, &series.name, group, *value, error.map(|e| (value - e, value + e)));
                        }
                    }
                }
                Plot::Scatter(plot) => {
                    for series in &plot.series {
                        for p in &series.points {
                            let bounds = p.y_error.map(|e| (p.y - e, p.y + e));
                            write(title, &series.name, &p.x.to_string(), p.y, bounds);
                        }
                    }
                }
                Plot::Heatmap(plot) => {
                    for (name, row) in plot.y_names.iter().zip(&plot.values) {
                        for (x, value) in plot.x_names.iter().zip(row) {
                            write(title, name, x, *value, None);
                        }
                    }
                }
            }
        }
        let rows = writer.into_inner().expect("memory does not fail");
        "panel,series,x,y,low,high\n".to_string() + &String::from_utf8(rows).expect("text in, text out")
    }
}

#[cfg(test)]
mod tests {
    use crate::svg::tests::every_kind;

    #[test]
    fn every_value_is_a_row() {
        let csv = every_kind().to_csv();
        // Two curves of 50 points, two bars, a point, four cells, the header.
        assert_eq!(csv.lines().count(), 100 + 2 + 1 + 4 + 1);
        assert!(
            csv.contains("\nLines,ngm-sgd,1,51,48,54\n") && csv.contains("\nBars,msgd,1→2,1,0.9,1.1\n"),
            "{csv}"
        );
    }
}
