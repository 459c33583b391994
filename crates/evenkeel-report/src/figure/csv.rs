//! The numbers behind a figure.

use super::{Figure, Panel, Plot};

/// One number of a panel.
pub(crate) struct Value<'a> {
    /// The curve, the bars of one name, the row of a heat map.
    pub(crate) series: &'a str,
    /// Where: a number, or the name of a group or column.
    pub(crate) x: String,
    /// The number.
    pub(crate) y: f64,
    /// Its band or error bar.
    pub(crate) bounds: Option<(f64, f64)>,
}

impl Panel {
    /// Its name in files.
    pub(crate) fn name(&self) -> &str {
        if self.title.is_empty() { &self.y.label } else { &self.title }
    }

    /// Every number that it shows.
    pub(crate) fn values(&self) -> Vec<Value<'_>> {
        let mut values = Vec::new();
        match &self.plot {
            Plot::Lines(plot) => {
                for series in &plot.series {
                    for (i, (x, y)) in series.x.iter().zip(&series.y).enumerate() {
                        let bounds = series
                            .band
                            .as_ref()
                            .and_then(|band| band.low.get(i).copied().zip(band.high.get(i).copied()));
                        values.push(Value { series: &series.name, x: x.to_string(), y: *y, bounds });
                    }
                }
            }
            Plot::Bars(plot) => {
                for series in &plot.series {
                    for (i, (group, y)) in plot.groups.iter().zip(&series.values).enumerate() {
                        let error = series.errors.as_ref().and_then(|errors| errors.get(i));
                        let bounds = error.map(|error| (y - error, y + error));
                        values.push(Value { series: &series.name, x: group.clone(), y: *y, bounds });
                    }
                }
            }
            Plot::Scatter(plot) => {
                for series in &plot.series {
                    values.extend(series.points.iter().map(|p| Value {
                        series: &series.name,
                        x: p.x.to_string(),
                        y: p.y,
                        bounds: p.y_error.map(|error| (p.y - error, p.y + error)),
                    }));
                }
            }
            Plot::Heatmap(plot) => {
                for (name, row) in plot.y_names.iter().zip(&plot.values) {
                    let cells = plot.x_names.iter().zip(row);
                    values.extend(cells.map(|(x, y)| Value {
                        series: name,
                        x: x.clone(),
                        y: *y,
                        bounds: None,
                    }));
                }
            }
        }
        values
    }
}

impl Figure {
    /// All points of all panels as CSV, in full precision: `panel,series,x,y,low,high`. In bars and heat maps `x` is the name of the
    /// group or column; in heat maps `series` is that of the row.
    pub fn to_csv(&self) -> String {
        let number = |v: f64| if v.is_finite() { v.to_string() } else { String::new() };
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        for panel in &self.panels {
            for Value { series, x, y, bounds } in panel.values() {
                let (low, high) =
                    bounds.map_or_else(Default::default, |(low, high)| (number(low), number(high)));
                writer
                    .write_record([panel.name(), series, &x, &number(y), &low, &high])
                    .expect("memory does not fail");
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
