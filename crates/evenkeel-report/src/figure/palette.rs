//! Colours that people with any kind of colour vision tell apart (Okabe and Ito's), each with a dash of its own.

use serde::{Deserialize, Serialize};

/// A colour by name; light and dark pages show different shades of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Color {
    /// NGM-SGD.
    Orange,
    /// MSGD.
    Blue,
    /// Adam.
    Green,
    /// SGD.
    Grey,
    /// MSGD with a reset or a frozen backbone.
    Cyan,
    /// Adam with a reset; slow weights.
    Purple,
    /// Ablations.
    Red,
    /// Ablations.
    Brown,
}

/// How a line is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dash {
    /// Not at all.
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// Dash, dot.
    DashDot,
}

/// Colour and dash of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Style {
    /// Its colour.
    pub color: Color,
    /// Its dash.
    pub dash: Dash,
}

/// The styles of the paper's optimizers, ablations and weights of the two-timescale model.
const KNOWN: [(&str, Style); 14] = [
    ("ngm-sgd", Style::new(Color::Orange, Dash::Solid)),
    ("msgd", Style::new(Color::Blue, Dash::Dashed)),
    ("adam", Style::new(Color::Green, Dash::DashDot)),
    ("sgd", Style::new(Color::Grey, Dash::Dotted)),
    ("msgd-reset", Style::new(Color::Cyan, Dash::Dashed)),
    ("adam-reset", Style::new(Color::Purple, Dash::DashDot)),
    ("msgd-frozen", Style::new(Color::Cyan, Dash::Dotted)),
    ("tonic", Style::new(Color::Purple, Dash::Dashed)),
    ("instantaneous", Style::new(Color::Cyan, Dash::DashDot)),
    ("entropy-lr", Style::new(Color::Brown, Dash::Dotted)),
    ("gain-modulated", Style::new(Color::Orange, Dash::Solid)),
    ("fast-slow", Style::new(Color::Blue, Dash::Dashed)),
    ("slow", Style::new(Color::Purple, Dash::DashDot)),
    ("target", Style::new(Color::Grey, Dash::Dotted)),
];

/// Those for anything else, in order.
const OTHERS: [Style; 8] = [
    Style::new(Color::Purple, Dash::Dashed),
    Style::new(Color::Cyan, Dash::DashDot),
    Style::new(Color::Brown, Dash::Dotted),
    Style::new(Color::Red, Dash::Solid),
    Style::new(Color::Blue, Dash::Solid),
    Style::new(Color::Green, Dash::Dashed),
    Style::new(Color::Orange, Dash::DashDot),
    Style::new(Color::Grey, Dash::Solid),
];

impl Style {
    /// A style.
    pub const fn new(color: Color, dash: Dash) -> Self {
        Self { color, dash }
    }

    /// The style of one of the paper's optimizers.
    pub fn known(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        KNOWN.iter().find(|(known, _)| *known == lower).map(|(_, style)| *style)
    }

    /// A style for anything else; `index` counts such series in a figure.
    pub fn other(index: usize) -> Self {
        OTHERS[index % OTHERS.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_optimizers_have_the_papers_colours_and_dashes_of_their_own() {
        let styles = ["NGM-SGD", "msgd", "Adam", "sgd"].map(|name| Style::known(name).unwrap());
        assert_eq!(styles.map(|style| style.color), [Color::Orange, Color::Blue, Color::Green, Color::Grey]);
        for (i, a) in styles.iter().enumerate() {
            assert!(styles[..i].iter().all(|b| a.dash != b.dash));
        }
    }
}
