//! Colours that people with any kind of colour vision tell apart (Okabe and Ito's), each with a dash of its own.

use serde::{Deserialize, Serialize};

/// A colour by name; light and dark pages show different shades of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // the names are the documentation
pub enum Color {
    Orange,
    Blue,
    Green,
    Grey,
    Cyan,
    Purple,
    Red,
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

/// All colours of series, in the order in which they are given out.
pub(crate) const COLORS: [Color; 8] = [
    Color::Orange,
    Color::Blue,
    Color::Green,
    Color::Grey,
    Color::Cyan,
    Color::Purple,
    Color::Red,
    Color::Brown,
];

const DASHES: [Dash; 4] = [Dash::Solid, Dash::Dashed, Dash::DashDot, Dash::Dotted];

impl Style {
    /// How many styles there are.
    pub const COUNT: usize = COLORS.len() * DASHES.len();

    /// A style.
    pub const fn new(color: Color, dash: Dash) -> Self {
        Self { color, dash }
    }

    /// The styles in order, all different; neighbours differ in colour and in dash. They begin again after [`COUNT`](Self::COUNT).
    pub const fn nth(index: usize) -> Self {
        let dash = (index + index / COLORS.len()) % DASHES.len();
        Self { color: COLORS[index % COLORS.len()], dash: DASHES[dash] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_style_is_another_one_and_neighbours_differ_in_greyscale_too() {
        for i in 0..Style::COUNT {
            assert!((0..i).all(|j| Style::nth(j) != Style::nth(i)), "{i}");
            assert_ne!(Style::nth(i).dash, Style::nth(i + 1).dash, "{i}");
        }
        assert_eq!(Style::nth(Style::COUNT), Style::nth(0));
    }
}
