//! Figures as data: a grid of panels.

mod csv;
mod gaps;
mod palette;
mod thin;

use serde::{Deserialize, Serialize};

pub(crate) use self::palette::COLORS;
pub use self::palette::{Color, Dash, Style};

/// A figure: panels in rows of `columns`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name for links and files.
    pub id: String,
    /// Title above the panels; may be empty.
    pub title: String,
    /// What is seen, below the panels.
    pub caption: String,
    /// Panels a row.
    pub columns: usize,
    /// Stands at the top of a page, beside the other figures that lead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leads: bool,
    /// The panels share one vertical range; the page can give each the range of its own data instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared_range: bool,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

impl Figure {
    /// A figure without panels.
    pub fn new(id: impl Into<String>, title: impl Into<String>, columns: usize) -> Self {
        Self { id: id.into(), title: title.into(), columns, ..Self::default() }
    }
}

/// One pair of axes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Title; may be empty.
    pub title: String,
    /// Horizontal axis. Its range is the zoom.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// How many columns of the figure it takes.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub span: usize,
    /// What is drawn.
    pub plot: Plot,
}

fn one() -> usize {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the signature that serde asks for
fn is_one(span: &usize) -> bool {
    *span == 1
}

impl Panel {
    /// A panel one column wide.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis, plot: impl Into<Plot>) -> Self {
        Self { title: title.into(), x, y, span: 1, plot: plot.into() }
    }

    /// Makes it so many columns wide.
    #[must_use]
    pub fn with_span(mut self, span: usize) -> Self {
        self.span = span;
        self
    }
}

/// An axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// What is measured, with its unit.
    pub label: String,
    /// Logarithmic.
    #[serde(default)]
    pub log: bool,
    /// What is shown; the range of the data if absent.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
}

impl Axis {
    /// A linear axis over the range of the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// Makes it logarithmic.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.log = true;
        self
    }

    /// Shows this range and clips the rest.
    #[must_use]
    pub fn with_range(mut self, low: f64, high: f64) -> Self {
        self.range = Some([low, high]);
        self
    }
}

/// What a panel draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Plot {
    /// Curves.
    Lines(Lines),
    /// Groups of bars with error bars.
    Bars(Bars),
    /// Points with error bars in both directions.
    Scatter(Scatter),
    /// A matrix of numbers.
    Heatmap(Heatmap),
}

impl From<Lines> for Plot {
    fn from(plot: Lines) -> Self {
        Self::Lines(plot)
    }
}

impl From<Bars> for Plot {
    fn from(plot: Bars) -> Self {
        Self::Bars(plot)
    }
}

impl From<Scatter> for Plot {
    fn from(plot: Scatter) -> Self {
        Self::Scatter(plot)
    }
}

impl From<Heatmap> for Plot {
    fn from(plot: Heatmap) -> Self {
        Self::Heatmap(plot)
    }
}

/// Curves over one horizontal axis, with what marks places on it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// The curves.
    pub series: Vec<Series>,
    /// Vertical dashed lines: task switches, the time of the highest gain.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Horizontal dashed lines: a ratio of one, chance level.
    #[serde(default)]
    pub rules: Vec<Mark>,
    /// Shaded stretches of the horizontal axis.
    #[serde(default)]
    pub shades: Vec<Shade>,
}

/// A curve.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Name in the legend. Series of the same name are one entry of the legend.
    pub name: String,
    /// How it looks, if no other series of the figure does so; else the first style that is free.
    #[serde(default)]
    pub style: Option<Style>,
    /// Horizontal positions, increasing.
    #[serde(with = "gaps::numbers")]
    pub x: Vec<f64>,
    /// Values; NaN (`null` in JSON) leaves a gap.
    #[serde(with = "gaps::numbers")]
    pub y: Vec<f64>,
    /// A band around it: mean ± standard error, say.
    #[serde(default)]
    pub band: Option<Band>,
    /// Points to stress: the minimum of each task, the state at a moment.
    #[serde(default)]
    pub dots: Vec<Dot>,
}

/// Lower and upper edge of a band, one pair a point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Lower edge.
    #[serde(with = "gaps::numbers")]
    pub low: Vec<f64>,
    /// Upper edge.
    #[serde(with = "gaps::numbers")]
    pub high: Vec<f64>,
}

/// A stressed point.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dot {
    /// Horizontal position.
    pub x: f64,
    /// Value.
    pub y: f64,
    /// Where an arrow from it points to: a gradient step, say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrow_to: Option<[f64; 2]>,
}

impl Dot {
    /// A point.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, arrow_to: None }
    }
}

/// A line across the panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Where.
    pub at: f64,
    /// What; may be empty.
    #[serde(default)]
    pub label: String,
}

/// A shaded stretch.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shade {
    /// From here.
    pub from: f64,
    /// To here.
    pub to: f64,
    /// What; may be empty.
    #[serde(default)]
    pub label: String,
}

/// Bars side by side in groups.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bars {
    /// Names of the groups, along the horizontal axis.
    pub groups: Vec<String>,
    /// One bar a group each.
    pub series: Vec<BarSeries>,
}

/// The bars of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BarSeries {
    /// Name in the legend.
    pub name: String,
    /// How it looks; by name if absent.
    #[serde(default)]
    pub style: Option<Style>,
    /// Height in each group; NaN (`null` in JSON) for none.
    #[serde(with = "gaps::numbers")]
    pub values: Vec<f64>,
    /// ± in each group.
    #[serde(default, with = "gaps::option")]
    pub errors: Option<Vec<f64>>,
    /// Values to compare with, drawn as a short line across each bar: the paper's.
    #[serde(default, with = "gaps::option")]
    pub reference: Option<Vec<f64>>,
}

/// Points with error bars: trade-offs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scatter {
    /// The clouds.
    pub series: Vec<ScatterSeries>,
    /// Horizontal dashed lines.
    #[serde(default)]
    pub rules: Vec<Mark>,
}

/// The points of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScatterSeries {
    /// Name in the legend.
    pub name: String,
    /// How it looks; by name if absent.
    #[serde(default)]
    pub style: Option<Style>,
    /// The points.
    pub points: Vec<ErrorPoint>,
    /// Joins the points with a line.
    #[serde(default)]
    pub joined: bool,
}

/// A point with its errors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorPoint {
    /// Horizontal position.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// ± horizontally.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x_error: Option<f64>,
    /// ± vertically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y_error: Option<f64>,
    /// Written beside it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
}

/// A matrix of numbers as colours, each with its value written in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heatmap {
    /// Names of the columns, from the left.
    pub x_names: Vec<String>,
    /// Names of the rows, from the top.
    pub y_names: Vec<String>,
    /// One list a row; NaN (`null` in JSON) for none.
    #[serde(with = "gaps::rows")]
    pub values: Vec<Vec<f64>>,
    /// What the colour means.
    pub label: String,
    /// Decimals of the written values.
    pub digits: usize,
    /// Whether low is good; the best cell is framed.
    #[serde(default)]
    pub low_is_good: bool,
    /// How many columns belong together, as the parts of a task do. Such a map runs over time: no cell is the best one, a group has the
    /// name of its last column, and values are written if all of them fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<usize>,
}
