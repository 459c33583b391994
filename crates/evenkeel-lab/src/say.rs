//! Words for the user on stderr, and what stands on a terminal in general.
//!
//! `eprintln!` panics where stderr cannot be written: a closed pipe, a full disk. Words that nobody can read are lost here, and
//! nothing else is.

use std::fmt;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether only errors are said.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only errors are said.
pub(crate) fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether only errors are said.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// `eprintln!` that never fails, and says nothing after `--quiet`.
macro_rules! say {
    ($($words:tt)*) => { $crate::say::line(format_args!($($words)*)) };
}
pub(crate) use say;

/// Writes one line to stderr if it can and may.
pub(crate) fn line(words: fmt::Arguments<'_>) {
    if !is_quiet() {
        error(words);
    }
}

/// Writes one line to stderr if it can, `--quiet` or not.
pub(crate) fn error(words: fmt::Arguments<'_>) {
    let line = printable(&format!("{words}\n"));
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// The text with control characters made visible: a name from a file must not move the cursor or colour the terminal.
pub(crate) fn printable(text: &str) -> String {
    let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if text.chars().all(harmless) {
        return text.to_string();
    }
    text.chars().flat_map(|c| if harmless(c) { vec![c] } else { c.escape_default().collect() }).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn control_characters_become_visible_and_nothing_else_changes() {
        assert_eq!(printable("a\u{1b}[31mb\u{7f}\u{9b}\r"), "a\\u{1b}[31mb\\u{7f}\\u{9b}\\r");
        assert_eq!(printable("two lines\n\tand 1→2 ✓\n"), "two lines\n\tand 1→2 ✓\n");
    }
}
