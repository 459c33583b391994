//! Light, dark, or whatever the page is.

use std::fmt::Write as _;

use crate::figure::{COLORS, Color, Dash};

/// Colours of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// For paper and light pages.
    Light,
    /// For dark pages.
    Dark,
    /// Light, and dark where the reader's system asks for it. Programs that know nothing of that show it light.
    Auto,
    /// CSS variables of the page that the drawing is part of.
    Page,
}

impl Theme {
    /// Background.
    pub fn paper(self) -> &'static str {
        self.pick("#ffffff", "#14171c", "none")
    }

    /// Text and axes.
    pub fn ink(self) -> &'static str {
        self.pick("#1c1f24", "#e8eaed", "var(--ink)")
    }

    /// Tick labels.
    pub fn soft(self) -> &'static str {
        self.pick("#565c66", "#a9b0ba", "var(--soft)")
    }

    /// Grid lines.
    pub fn grid(self) -> &'static str {
        self.pick("#e3e6ea", "#2b3038", "var(--grid)")
    }

    /// Shaded stretches.
    pub fn shade(self) -> &'static str {
        self.pick("#eceff3", "#20252d", "var(--shade)")
    }

    /// A palette colour.
    pub fn color(self, color: Color) -> &'static str {
        match color {
            Color::Orange => self.pick("#d97706", "#f59e0b", "var(--orange)"),
            Color::Blue => self.pick("#0072b2", "#56a8e8", "var(--blue)"),
            Color::Green => self.pick("#008f68", "#2fc799", "var(--green)"),
            Color::Grey => self.pick("#6b7280", "#aab1bc", "var(--grey)"),
            Color::Cyan => self.pick("#3fa7d6", "#7cd4f5", "var(--cyan)"),
            Color::Purple => self.pick("#a8518a", "#dd8fc2", "var(--purple)"),
            Color::Red => self.pick("#c2410c", "#f4794a", "var(--red)"),
            Color::Brown => self.pick("#7a5c2e", "#c9a66b", "var(--brown)"),
        }
    }

    fn pick(self, light: &'static str, dark: &'static str, page: &'static str) -> &'static str {
        match self {
            Theme::Light | Theme::Auto => light,
            Theme::Dark => dark,
            Theme::Page => page,
        }
    }

    /// What is behind markers.
    pub(crate) fn behind(self) -> &'static str {
        if self == Theme::Page { "var(--paper)" } else { self.paper() }
    }

    /// The CSS variables that [`Theme::Page`] refers to, as declarations.
    pub(crate) fn variables(self) -> String {
        let mut css = format!(
            "--paper:{};--ink:{};--soft:{};--grid:{};--shade:{};",
            self.paper(),
            self.ink(),
            self.soft(),
            self.grid(),
            self.shade()
        );
        for color in COLORS {
            let name = Theme::Page.color(color).trim_start_matches("var(").trim_end_matches(')');
            let _ = write!(css, "{name}:{};", self.color(color));
        }
        css
    }

    /// What makes the light drawing dark where dark is asked for: every colour by its value, so that a program without style sheets
    /// still finds each of them in its place.
    pub(super) fn style(self) -> String {
        if self != Theme::Auto {
            return String::new();
        }
        let all = |theme: Theme| {
            let plain = [theme.paper(), theme.ink(), theme.soft(), theme.grid(), theme.shade()];
            plain.into_iter().chain(COLORS.map(|color| theme.color(color)))
        };
        let mut css = String::from("<style>@media (prefers-color-scheme:dark){");
        for (light, dark) in all(Theme::Light).zip(all(Theme::Dark)) {
            let _ = write!(css, "[fill=\"{light}\"]{{fill:{dark}}}[stroke=\"{light}\"]{{stroke:{dark}}}");
        }
        css + "}</style>\n"
    }
}

/// `stroke-dasharray` of a dash.
pub(crate) fn dash_array(dash: Dash) -> &'static str {
    match dash {
        Dash::Solid => "none",
        Dash::Dashed => "6 3",
        Dash::Dotted => "1.5 2.5",
        Dash::DashDot => "7 2.5 1.5 2.5",
    }
}
