//! The values of a panel for the script: what the pointer shows.

use serde::Serialize;

use crate::figure::{Lines, Panel};
use crate::svg::{Frame, Legend, Scale};

#[derive(Serialize)]
struct Data<'a> {
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
pub(super) fn panel_data(panel: &Panel, lines: &Lines, frame: &Frame, legend: &Legend) -> String {
    let Scale { low, high, from, to, log } = frame.x;
    let series = lines.series.iter().map(|series| Curve {
        s: legend.find(&series.name).0,
        name: &series.name,
        x: rounded(&series.x),
        y: rounded(&series.y),
        low: series.band.as_ref().map(|band| rounded(&band.low)),
        high: series.band.as_ref().map(|band| rounded(&band.high)),
    });
    let data = Data {
        label: &panel.x.label,
        x: Axis { low, high, from, to, log },
        top: frame.plot.y,
        bottom: frame.plot.bottom(),
        series: series.collect(),
    };
    let json = serde_json::to_string(&data).expect("plain data");
    // `</script>` in a name must not end the element.
    format!("<script type=\"application/json\">{}</script>\n", json.replace('<', "\\u003c"))
}

/// Six digits: more than can be read off, and half as long.
fn rounded(values: &[f64]) -> Vec<Option<f64>> {
    let round =
        |v: &f64| v.is_finite().then(|| format!("{v:.5e}").parse().expect("a number as text is a number"));
    values.iter().map(round).collect()
}
