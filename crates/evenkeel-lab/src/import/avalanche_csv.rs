//! What Avalanche's `CSVLogger` writes: the accuracy on every experience after each one, and a validation after each epoch.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ImportError, LogFormat, LoggedRun, When, first_line, name_of};

const EVAL: &str = "eval_exp,training_exp,eval_accuracy,eval_loss,forgetting";
const TRAINING: &str = "training_exp,epoch,training_accuracy,val_accuracy,training_loss,val_loss";

pub(super) static FORMAT: LogFormat = LogFormat {
    name: "avalanche-csv",
    summary: "folder or file of Avalanche's CSVLogger: eval_results.csv, training_results.csv",
    recognises: |path, head| {
        path.join("eval_results.csv").is_file() || matches!(first_line(head), Some(EVAL | TRAINING))
    },
    read: |path| {
        let mut run = if path.is_dir() { read(&path.join("eval_results.csv")) } else { read(path) }?;
        run.name = name_of(path);
        Ok(vec![run])
    },
};

fn read(path: &Path) -> Result<LoggedRun, ImportError> {
    let error = |line: u64, problem: &str| ImportError::new(path, format!("line {line}: {problem}"));
    let bytes = std::fs::read(path).map_err(|error| ImportError::new(path, error.to_string()))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&bytes[..]);
    let header = reader.headers().map_err(|_| error(1, "is not text"))?.clone();
    let of_epochs = match first_line(&bytes) {
        Some(EVAL) => false,
        Some(TRAINING) => true,
        _ => return Err(error(1, &format!("is neither '{EVAL}' nor '{TRAINING}'"))),
    };
    let mut run = LoggedRun { fraction: true, ..LoggedRun::default() };
    let mut counted = BTreeMap::new();
    // Epochs of each task so far; how many it has is known at the end.
    let mut epochs: BTreeMap<u64, u64> = BTreeMap::new();
    for (line, row) in (2..).zip(reader.records()) {
        let row = row.map_err(|_| error(line, "is not text"))?;
        if row.len() != header.len() {
            return Err(error(line, &format!("{} cells, the header has {}", row.len(), header.len())));
        }
        let number = |index: usize, what: &str| {
            row[index].parse::<u64>().ok().filter(|number| *number < u64::from(u32::MAX)).ok_or_else(|| {
                error(line, &format!("{what} is {:?}, not a whole number", shortened(&row[index])))
            })
        };
        let (task, step, prefix) = if of_epochs {
            let task = number(0, "training_exp")? + 1;
            epochs.insert(task, number(1, "epoch")? + 1);
            (task, counted.len() as u64 + 1, String::new())
        } else if &row[1] == "None" {
            // Evaluated before any training.
            continue;
        } else {
            let task = number(1, "training_exp")? + 1;
            (task, task, format!("/Exp{:03}", number(0, "eval_exp")?))
        };
        let when = if of_epochs { When::Epochs(epochs[&task], 0) } else { When::End };
        counted.insert(step, (task as usize, when));
        for index in 2..row.len() {
            let value: f64 = row[index].parse().map_err(|_| {
                error(line, &format!("{} is {:?}, not a number", &header[index], shortened(&row[index])))
            })?;
            run.series.entry(format!("{}{prefix}", &header[index])).or_default().insert(step, value);
        }
    }
    if counted.is_empty() {
        return Err(ImportError::new(path, "holds no evaluation"));
    }
    for (task, when) in counted.values_mut() {
        if let When::Epochs(_, all) = when {
            *all = epochs[&(*task as u64)];
        }
    }
    run.counted = Some(counted);
    Ok(run)
}

fn shortened(cell: &str) -> String {
    cell.chars().take(40).collect()
}
