//! What a command has to say goes to stdout in one piece.

use std::io::Write as _;

use crate::say::printable;

/// Writes to stdout. A reader that has gone away is an error that [`super::error::report`] knows to be none.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(printable(text).as_bytes())?;
    stdout.flush()?;
    Ok(())
}
