//! Text in SVG and HTML: escaped, measured, shortened.

/// Text that is shown as it is, in an element or an attribute. Control characters, which XML forbids, become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\n' | '\t' => escaped.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// About how wide text is in DejaVu Sans, which is wider than most: what fits in it fits in others.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' | '→' => 0.92,
        c if c.is_uppercase() => 0.70,
        _ => 0.62,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// The text, cut off with an ellipsis where it is wider than `limit`.
pub(super) fn shortened(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_string();
    }
    let mut short = String::new();
    for c in text.chars() {
        if width(&short, size) + size > limit {
            break;
        }
        short.push(c);
    }
    short.trim_end().to_string() + "…"
}

/// Bold text and its size: smaller where it is too long, and cut off where that does not suffice.
pub(super) fn fitted(text: &str, size: f64, limit: f64) -> (f64, String) {
    const BOLD: f64 = 1.14;
    let fitting = limit / (width(text, 1.0) * BOLD).max(1e-9);
    let size = size.min(fitting.max(size * 0.7));
    (size, shortened(text, size * BOLD, limit))
}

/// A number for people: as few digits as tell it from its neighbours.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_string();
    }
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_string()
    } else if !(1e-4..1e7).contains(&magnitude) {
        format!("{value:.3e}")
    } else {
        // Five significant digits, and no zeros behind them.
        let decimals = (4 - magnitude.log10().floor() as i32).clamp(0, 8) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_do_not_pass() {
        assert_eq!(
            escape("<script>\"a\"&'b'\u{0}\u{1b}"),
            "&lt;script&gt;&quot;a&quot;&amp;&#39;b&#39;\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn long_text_is_cut_to_its_limit() {
        let short = shortened("a rather long title for so small a panel", 10.0, 100.0);
        assert!(short.ends_with('…') && width(&short, 10.0) <= 110.0, "{short}");
        assert_eq!(shortened("short", 10.0, 100.0), "short");
        assert_eq!(fitted("short", 10.0, 100.0), (10.0, "short".to_string()));
        let title = "a title a little too long";
        let (size, title) = fitted(title, 10.0, 0.85 * width(title, 10.0));
        assert!(size < 10.0 && size > 7.0 && !title.contains('…'), "{size} {title}");
    }

    #[test]
    fn numbers_are_short_and_exact_enough() {
        let shown = [97.13948, 0.0269, 1000.0, 0.0, 1e-9, 123_456.7, f64::NAN].map(number);
        assert_eq!(shown, ["97.139", "0.0269", "1000", "0", "1.000e-9", "123457", "–"]);
    }
}
