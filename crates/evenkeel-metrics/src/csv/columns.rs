//! Where in a row each field stands, as the header says.

use std::collections::HashMap;
use std::str::FromStr;

use super::CurveFileFault;
use crate::curve::Point;

/// Index of every known column.
pub(super) struct Columns {
    cells: usize,
    iteration: usize,
    task: usize,
    task1_acc: usize,
    task1_loss: Option<usize>,
    gain: Option<usize>,
    entropy: Option<usize>,
    train_loss: Option<usize>,
    seen_acc: Option<usize>,
    /// Name and index of `acc_2`, `acc_3`, …
    task_acc: Vec<(String, usize)>,
}

impl Columns {
    /// Finds the known columns in a header row.
    pub(super) fn of(header: &::csv::StringRecord) -> Result<Self, CurveFileFault> {
        let mut at = HashMap::new();
        for (index, name) in header.iter().enumerate().filter(|(_, name)| is_known(name)) {
            if at.insert(name, index).is_some() {
                return Err(CurveFileFault::DuplicateColumn(name.to_owned()));
            }
        }
        let optional = |name: &str| at.get(name).copied();
        let required = |name: &'static str| optional(name).ok_or(CurveFileFault::MissingColumn(name));
        let task_acc: Vec<(String, usize)> = (2_usize..)
            .map(|task| format!("acc_{task}"))
            .map_while(|name| optional(&name).map(|index| (name, index)))
            .collect();
        // A lone high number would shift or stretch the list of tasks, so it is refused rather than dropped.
        let beyond =
            at.keys().filter_map(|name| acc_number(name)).filter(|&task| task >= task_acc.len() + 2).min();
        if let Some(task) = beyond {
            return Err(CurveFileFault::AccGap(task));
        }
        Ok(Self {
            cells: header.len(),
            iteration: required("iteration")?,
            task: required("task")?,
            task1_acc: required("task1_acc")?,
            task1_loss: optional("task1_loss"),
            gain: optional("gain"),
            entropy: optional("entropy"),
            train_loss: optional("train_loss"),
            seen_acc: optional("seen_acc"),
            task_acc,
        })
    }

    /// Reads one row.
    pub(super) fn point(&self, row: &::csv::StringRecord) -> Result<Point, CurveFileFault> {
        if row.len() != self.cells {
            return Err(CurveFileFault::CellCount { found: row.len(), expected: self.cells });
        }
        let float = |name, index: Option<usize>| match index {
            Some(index) => cell(row, index, name, "a number"),
            None => Ok(None),
        };
        let missing = |name: &str| CurveFileFault::EmptyCell(name.to_owned());
        let whole = "a whole number";
        Ok(Point {
            iteration: cell(row, self.iteration, "iteration", whole)?.ok_or_else(|| missing("iteration"))?,
            task: cell(row, self.task, "task", whole)?.ok_or_else(|| missing("task"))?,
            task1_acc: float("task1_acc", Some(self.task1_acc))?.ok_or_else(|| missing("task1_acc"))?,
            task1_loss: float("task1_loss", self.task1_loss)?,
            gain: float("gain", self.gain)?,
            entropy: float("entropy", self.entropy)?,
            train_loss: float("train_loss", self.train_loss)?,
            seen_acc: float("seen_acc", self.seen_acc)?,
            task_acc: self
                .task_acc
                .iter()
                .map(|(name, index)| float(name, Some(*index)))
                .collect::<Result<_, _>>()?,
        })
    }
}

fn is_known(name: &str) -> bool {
    let fixed = ["iteration", "task", "task1_acc", "task1_loss", "gain", "entropy", "train_loss", "seen_acc"];
    fixed.contains(&name) || acc_number(name).is_some()
}

/// The `k ≥ 2` of a column `acc_k`; other spellings, such as `acc_02`, are somebody else's column.
fn acc_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("acc_")?;
    let number = digits.parse().ok().filter(|&number: &usize| number >= 2)?;
    (number.to_string() == digits).then_some(number)
}

/// The parsed cell, `None` if it is empty.
fn cell<T: FromStr>(
    row: &::csv::StringRecord,
    index: usize,
    column: &str,
    wanted: &'static str,
) -> Result<Option<T>, CurveFileFault> {
    let text = row.get(index).unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| CurveFileFault::BadCell {
        column: column.to_owned(),
        value: text.chars().take(40).collect(),
        wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_numbers_from_two_name_a_task() {
        assert_eq!(["acc_2", "acc_17"].map(acc_number), [Some(2), Some(17)]);
        assert_eq!(["acc_1", "acc_02", "acc_+2", "acc_", "acc_x", "acc2"].map(acc_number), [None; 6]);
    }

    #[test]
    fn a_huge_task_number_does_not_stretch_the_rows() {
        let header = ::csv::StringRecord::from(vec!["iteration", "task", "task1_acc", "acc_4000000000"]);
        assert!(matches!(Columns::of(&header), Err(CurveFileFault::AccGap(4_000_000_000))));
    }
}
