//! Ctrl-C and SIGTERM as a flag.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// The flag of the process, once somebody has asked for it.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// A flag that becomes true at the first signal. The second one ends the process at once. Whoever asks gets the same flag.
pub(super) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    if let Some(flag) = FLAG.get() {
        return Ok(Arc::clone(flag));
    }
    let flag = Arc::clone(FLAG.get_or_init(Arc::default));
    let seen = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(flag)
}
