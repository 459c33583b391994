//! Event files of TensorBoard: one, or all of a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evenkeel_report::export::tensorboard::{is_event_file, read_scalars};

use super::{ImportError, LogFormat, LoggedRun, Series, name_of};

pub(super) static FORMAT: LogFormat = LogFormat {
    name: "tensorboard",
    summary: "event file of TensorBoard, or a folder with such files (of one run)",
    recognises: |path, head| {
        if path.is_dir() { !event_files(path).is_empty() } else { is_event_file(&head[..head.len().min(12)]) }
    },
    read: |path| {
        let files = if path.is_dir() { event_files(path) } else { vec![path.to_owned()] };
        if files.is_empty() {
            let message = "holds no file events.out.tfevents.*; name the folder of one run";
            return Err(ImportError::new(path, message));
        }
        // A single file has no name worth telling.
        let folder = if path.is_dir() { Some(path) } else { path.parent() };
        let mut run = LoggedRun { name: folder.map(name_of).unwrap_or_default(), ..LoggedRun::default() };
        let mut logged = Logged::new();
        files.iter().try_for_each(|file| add(&mut logged, &mut run.notes, file))?;
        run.series = logged.into_iter().map(|(tag, values)| (tag.clone(), settled(&tag, values))).collect();
        Ok(vec![run])
    },
};

/// In the order of their names, which begin with the time: what a resumed run writes again replaces what was there.
fn event_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.contains("tfevents") && path.is_file()
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_one).collect();
    files.sort();
    files
}

/// All that was logged under a tag at each step, in order.
type Logged = BTreeMap<String, BTreeMap<u64, Vec<f64>>>;

fn add(logged: &mut Logged, notes: &mut Vec<String>, path: &Path) -> Result<(), ImportError> {
    let bytes = std::fs::read(path).map_err(|error| ImportError::new(path, error.to_string()))?;
    let found = read_scalars(&bytes).map_err(|error| ImportError::new(path, error.to_string()))?;
    if found.cut_off {
        notes.push(format!(
            "{}: its last record was never written to its end; what comes before it is read",
            path.display()
        ));
    }
    for scalar in found.scalars {
        let step = u64::try_from(scalar.step).map_err(|_| {
            ImportError::new(path, format!("{} has the step {}, below 0", scalar.tag, scalar.step))
        })?;
        logged.entry(scalar.tag).or_default().entry(step).or_default().push(scalar.value);
    }
    Ok(())
}

/// One value per step, the last that was logged.
///
/// Avalanche counts an update only after its plugins: evaluations at iterations have the number of updates before theirs, all others (before and
/// after an experience) the right one. Where it evaluates at iterations, the first update shows as a second evaluation at step 0.
fn settled(tag: &str, values: BTreeMap<u64, Vec<f64>>) -> Series {
    let at_iterations = tag.contains("/eval_phase/") && values.get(&0).is_some_and(|first| first.len() > 1);
    let end = values.keys().next_back().copied();
    let mut series = Series::new();
    for (step, values) in values {
        let [first, .., last] = values[..] else {
            let step = if at_iterations && Some(step) != end { step + 1 } else { step };
            series.entry(step).or_insert(values[0]);
            continue;
        };
        if !at_iterations {
            series.insert(step, last);
            continue;
        }
        series.entry(step).or_insert(first);
        if Some(step) != end {
            series.insert(step + 1, last);
        }
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(tag: &str, values: &[(u64, &[f64])]) -> Vec<(u64, f64)> {
        let values = values.iter().map(|(step, values)| (*step, values.to_vec())).collect();
        settled(tag, values).into_iter().collect()
    }

    #[test]
    fn the_last_value_of_a_step_counts() {
        assert_eq!(settle("acc", &[(0, &[1.0, 2.0]), (1, &[3.0])]), [(0, 2.0), (1, 3.0)]);
    }

    #[test]
    fn evaluations_of_avalanche_at_iterations_are_one_update_later() {
        let tag = "Top1_Acc_Exp/eval_phase/test_stream/Task000/Exp000";
        // Two updates in each of two experiences; every evaluation says how many updates there were.
        let logged: [(u64, &[f64]); 4] =
            [(0, &[0.0, 1.0]), (1, &[2.0]), (2, &[2.0, 2.0, 3.0]), (4, &[4.0, 4.0])];
        assert_eq!(settle(tag, &logged), [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)]);
        // After epochs they are right.
        let logged: [(u64, &[f64]); 3] = [(0, &[0.0]), (2, &[2.0, 2.0]), (4, &[4.0])];
        assert_eq!(settle(tag, &logged), [(0, 0.0), (2, 2.0), (4, 4.0)]);
    }
}
