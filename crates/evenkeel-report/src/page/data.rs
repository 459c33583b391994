//! The values of a panel for the script: what the pointer shows.

use serde::Serialize;

use crate::figure::{Lines, Panel, Plot};
use crate::svg::{Frame, Legend, Scale};

/// The numbers of a panel without curves, as its CSV has them.
#[derive(Serialize)]
struct Rows<'a> {
    title: &'a str,
    rows: Vec<Row<'a>>,
}

/// Series, position, value, lower and upper bound.
#[derive(Serialize)]
struct Row<'a>(&'a str, String, Option<f64>, Option<f64>, Option<f64>);

#[derive(Serialize)]
struct Data<'a> {
    title: &'a str,
    label: &'a str,
    x: Axis,
    top: f64,
    bottom: f64,
    series: Vec<Curve<'a>>,
}

#[derive(Serialize)]
struct Axis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

#[derive(Serialize)]
struct Curve<'a> {
    s: usize,
    name: &'a str,
    x: Vec<Option<f64>>,
    y: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Vec<Option<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Vec<Option<f64>>>,
}

/// A script element with the data, which no browser runs.
pub(super) fn panel_data(panel: &Panel, frame: &Frame, legend: &Legend) -> String {
    let json = match &panel.plot {
        Plot::Lines(lines) => serde_json::to_string(&curves(panel, lines, frame, legend)),
        _ => serde_json::to_string(&rows(panel)),
    };
    // `</script>` in a name must not end the element.
    let json = json.expect("plain data").replace('<', "\\u003c");
    format!("<script type=\"application/json\">{json}</script>\n")
}

fn rows(panel: &Panel) -> Rows<'_> {
    let finite = |value: f64| value.is_finite().then_some(value);
    let rows = panel.values().into_iter().map(|value| {
        let (low, high) = value.bounds.unzip();
        Row(value.series, value.x, finite(value.y), low.and_then(finite), high.and_then(finite))
    });
    Rows { title: panel.name(), rows: rows.collect() }
}

fn curves<'a>(panel: &'a Panel, lines: &'a Lines, frame: &Frame, legend: &Legend) -> Data<'a> {
    let Scale { low, high, from, to, log } = frame.x;
    let series = lines.series.iter().map(|series| Curve {
        s: legend.find(&series.name).0,
        name: &series.name,
        x: rounded(&series.x),
        y: rounded(&series.y),
        low: series.band.as_ref().map(|band| rounded(&band.low)),
        high: series.band.as_ref().map(|band| rounded(&band.high)),
    });
    Data {
        title: panel.name(),
        label: &panel.x.label,
        x: Axis { low, high, from, to, log },
        top: frame.plot.y,
        bottom: frame.plot.bottom(),
        series: series.collect(),
    }
}

/// Six digits: more than can be read off, and half as long.
fn rounded(values: &[f64]) -> Vec<Option<f64>> {
    let round =
        |v: &f64| v.is_finite().then(|| format!("{v:.5e}").parse().expect("a number as text is a number"));
    values.iter().map(round).collect()
}
