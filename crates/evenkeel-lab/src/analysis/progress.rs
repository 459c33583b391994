//! How far unfinished runs are: those that a process works on now, one by one, and the others counted.

use std::fmt::Write as _;
use std::time::SystemTime;

use evenkeel_report::{Part, Progress};

use crate::store::{Status, StoredRun};
use crate::words::plural;

/// More runs than this are not listed, only counted.
const MOST_PARTS: usize = 24;

/// Iterations of a run that are done, and how many there are in all: 0 where only the data can tell.
pub(crate) fn iterations(run: &StoredRun) -> (u64, u64) {
    let settings = &run.record.spec.settings;
    let recorded = run.record.spec.is_recorded();
    let tasks = match &settings.task_order {
        Some(tasks) if recorded => tasks.len(),
        _ => settings.stream.tasks(evenkeel_data::classes(&settings.data).unwrap_or(0)),
    };
    let total = settings.end_of(tasks);
    if run.record.status == Status::Done && !recorded {
        return (total, total);
    }
    let curve = run.growing_curve().ok();
    let done = curve.and_then(|curve| curve.points().last().map(|point| point.iteration)).unwrap_or(0);
    (done, if run.record.status == Status::Done { done } else { total })
}

/// Seconds that a run which goes on still needs, at its speed so far.
pub(crate) fn seconds_left(run: &StoredRun, (done, total): (u64, u64)) -> Option<f64> {
    // The process that works on it has written the description when it began.
    let begun = run.path.join("run.json").metadata().and_then(|metadata| metadata.modified()).ok()?;
    let here = SystemTime::now().duration_since(begun).ok()?.as_secs_f64();
    let rest = total.checked_sub(done)?;
    (done > 0).then(|| (run.record.seconds + here) / done as f64 * rest as f64)
}

/// A time for people.
pub(crate) fn shown(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..100 => format!("{whole} s"),
        100..6000 => format!("{} min", (whole + 30) / 60),
        _ => format!("{} h {:02} min", whole / 3600, whole % 3600 / 60),
    }
}

/// What goes on among these runs; `None` if all have ended.
pub(super) fn of(runs: &[StoredRun]) -> Option<Progress> {
    let unfinished: Vec<&StoredRun> =
        runs.iter().filter(|run| run.record.status == Status::Unfinished).collect();
    if unfinished.is_empty() {
        return None;
    }
    let (running, others): (Vec<&StoredRun>, Vec<&StoredRun>) =
        unfinished.into_iter().partition(|run| run.is_claimed());
    let (stopped, waiting): (Vec<&StoredRun>, Vec<&StoredRun>) =
        others.into_iter().partition(|run| run.curve_path().exists());
    let mut summary = format!(
        "{} of {} ended",
        runs.len() - running.len() - stopped.len() - waiting.len(),
        plural(runs.len(), "run")
    );
    for (those, word) in
        [(&running, "running"), (&waiting, "waiting"), (&stopped, "stopped (the same command goes on)")]
    {
        if !those.is_empty() {
            let _ = write!(summary, ", {} {word}", those.len());
        }
    }
    let parts = running.iter().take(MOST_PARTS).map(|run| {
        let spec = &run.record.spec;
        let (done, total) = iterations(run);
        let left = seconds_left(run, (done, total));
        Part {
            name: format!("{} seed {}", spec.optimizer.shown(), spec.seed),
            done,
            total,
            note: left.map_or(String::new(), |left| format!("{} left", shown(left))),
        }
    });
    Some(Progress { summary: summary + ".", parts: parts.collect() })
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn times_are_short() {
        assert_eq!([3.4, 99.4, 125.0, 7290.0].map(shown), ["3 s", "99 s", "2 min", "2 h 01 min"]);
    }
}
