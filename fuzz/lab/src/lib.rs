//! What the targets of imports share.

use std::path::Path;

use evenkeel_lab::import::curve::curve_of;
use evenkeel_lab::import::{Roles, Timeline, read};

/// Reads a log and makes curves of it as `evenkeel import` does; the bits of `how` stand for what a user says.
pub fn import(format: &str, log: &Path, how: u8) {
    let said = |bit: u8| how >> bit & 1 == 1;
    let Ok(runs) = read(log, (!said(0)).then_some(format)) else { return };
    let task_iterations = match how >> 1 & 3 {
        0 => vec![],
        1 => vec![10],
        2 => vec![1_000_000_000],
        _ => vec![1, 5, 1_000_000_000],
    };
    let every = said(3).then_some(if said(4) { 1 } else { 1_000_000_000 });
    let timeline = Timeline { task_iterations, every, offset: u64::from(said(5)) };
    for run in &runs {
        let Ok(roles) = Roles::default().complete(run, log) else { continue };
        let _ = curve_of(log, run, &roles, &timeline, said(6));
    }
}
