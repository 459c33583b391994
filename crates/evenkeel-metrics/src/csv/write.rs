//! Writing curve files row by row.

use std::io::{self, Write};

use crate::curve::Point;

/// Writes the header row of a run with `tasks` tasks (`K`), every known column included.
pub fn write_header(w: &mut impl Write, tasks: usize) -> io::Result<()> {
    w.write_all(b"iteration,task,task1_acc,task1_loss,gain,entropy,train_loss,seen_acc")?;
    for task in 2..=tasks {
        write!(w, ",acc_{task}")?;
    }
    writeln!(w)
}

/// Writes one row below a header of as many `tasks`.
///
/// Floats get the fewest digits that read back as the same bits; only the sign and payload of a NaN are lost.
/// What was not measured stays empty. A point with accuracies for more than `tasks` tasks is an
/// [`InvalidInput`](io::ErrorKind::InvalidInput) error, since the header has no place for them.
pub fn write_point(w: &mut impl Write, point: &Point, tasks: usize) -> io::Result<()> {
    let others = tasks.saturating_sub(1);
    if point.task_acc.len() > others {
        let message = format!("accuracies of {} tasks in a file for {tasks}", point.task_acc.len() + 1);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    write!(w, "{},{},{}", point.iteration, point.task, point.task1_acc)?;
    let named = [point.task1_loss, point.gain, point.entropy, point.train_loss, point.seen_acc];
    let padded = point.task_acc.iter().copied().chain(std::iter::repeat(None)).take(others);
    for value in named.into_iter().chain(padded) {
        match value {
            Some(value) => write!(w, ",{value}")?,
            None => w.write_all(b",")?,
        }
    }
    writeln!(w)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_header_names_every_task_but_the_first() {
        let common = "iteration,task,task1_acc,task1_loss,gain,entropy,train_loss,seen_acc";
        assert_eq!(written(|w| write_header(w, 1)), format!("{common}\n"));
        assert_eq!(written(|w| write_header(w, 3)), format!("{common},acc_2,acc_3\n"));
    }

    #[test]
    fn rows_match_the_header() {
        let mut point = Point::new(7, 1, 98.0);
        assert_eq!(written(|w| write_point(w, &point, 1)), "7,1,98,,,,,\n");
        (point.gain, point.train_loss) = (Some(0.1), Some(f64::NAN));
        point.task_acc = vec![Some(12.5)];
        assert_eq!(written(|w| write_point(w, &point, 3)), "7,1,98,,0.1,,NaN,,12.5,\n");
    }

    #[test]
    fn accuracies_without_a_column_are_refused() {
        let point = Point { task_acc: vec![None, None], ..Point::new(1, 1, 1.0) };
        let error = write_point(&mut Vec::new(), &point, 2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
