//! Sentences with labels in CSV or JSON Lines.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use crate::dataset::DataSet;
use crate::files;
use crate::labelled::Labelled;
use crate::options::DataOptions;
use crate::sparse::Sparse;
use crate::table::{Annotations, Column, LABEL, SPLIT, TASK, TableError, csv_problem};
use crate::text::TextOptions;

const TEXT: &str = "text";
const HINT: &str = "each row needs text and label; task and split are optional";

/// Reads `.csv` or `.jsonl` (also `.json`, with one object per line).
pub(crate) fn load(path: &Path, options: &DataOptions) -> Result<DataSet, TableError> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    let error = |problem: String| TableError::new(path, None, problem, "text: takes a .csv or a .jsonl file");
    let file = files::open(path).map_err(|reason| error(reason.to_string()))?;
    let mut rows = Rows::new(options.text());
    match extension.as_deref() {
        Some("csv") => rows.read_csv(path, file)?,
        Some("jsonl" | "json" | "ndjson") => rows.read_lines(path, BufReader::new(file))?,
        _ => return Err(error("is neither CSV nor JSON Lines by its name".to_owned())),
    }
    rows.finish(path, options.test_fraction())
}

/// Rows as they are read.
struct Rows {
    options: TextOptions,
    sparse: Sparse,
    annotations: Annotations,
}

impl Rows {
    fn new(options: TextOptions) -> Self {
        Self { options, sparse: Sparse::new(options.dimension), annotations: Annotations::default() }
    }

    fn push(&mut self, text: &str, label: &str, task: Option<&str>, split: Option<&str>) {
        self.sparse.push(&self.options.hashed(text));
        self.annotations.label.push(label);
        for (column, cell) in [(&mut self.annotations.task, task), (&mut self.annotations.split, split)] {
            if let Some(cell) = cell {
                column.get_or_insert_with(Column::default).push(cell);
            }
        }
    }

    fn read_csv(&mut self, path: &Path, file: File) -> Result<(), TableError> {
        let bad = |row: Option<usize>, problem: String| TableError::new(path, row, problem, HINT);
        let mut reader = csv::ReaderBuilder::new().from_reader(BufReader::new(file));
        let header = reader.headers().map_err(|error| bad(None, error.to_string()))?.clone();
        let at = |name: &str| header.iter().position(|column| column.trim() == name);
        let need = |name: &str| at(name).ok_or_else(|| bad(None, format!("has no column called {name}")));
        let (text, label) = (need(TEXT)?, need(LABEL)?);
        let (task, split) = (at(TASK), at(SPLIT));
        for (row, record) in reader.records().enumerate() {
            let record = record.map_err(|error| bad(Some(row), csv_problem(&error)))?;
            let cell = |at: usize| record.get(at).map(str::trim).filter(|cell| !cell.is_empty());
            let needed = |at: usize, name: &str| {
                cell(at).ok_or_else(|| bad(Some(row), format!("its {name} is missing")))
            };
            let optional = |at: Option<usize>, name: &str| at.map(|at| needed(at, name)).transpose();
            let (task, split) = (optional(task, TASK)?, optional(split, SPLIT)?);
            self.push(needed(text, TEXT)?, needed(label, LABEL)?, task, split);
        }
        Ok(())
    }

    fn read_lines(&mut self, path: &Path, file: impl BufRead) -> Result<(), TableError> {
        let mut first: Option<[bool; 2]> = None;
        for (row, line) in file.lines().enumerate() {
            let bad = |problem: String| TableError::new(path, Some(row), problem, HINT);
            let line = line.map_err(|error| bad(error.to_string()))?;
            if line.trim().is_empty() {
                continue;
            }
            let value: Value =
                serde_json::from_str(&line).map_err(|error| bad(format!("is no JSON: {error}")))?;
            let cell = |name: &str| match value.get(name) {
                Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
                Some(Value::Number(number)) if number.is_i64() || number.is_u64() => Some(number.to_string()),
                _ => None,
            };
            let needed = |name: &str| {
                cell(name)
                    .ok_or_else(|| bad(format!("its {name} is missing, or neither text nor a whole number")))
            };
            let present = [TASK, SPLIT].map(|name| value.get(name).is_some());
            if *first.get_or_insert(present) != present {
                return Err(bad(
                    "has task or split where other rows do not, or the other way round".to_owned()
                ));
            }
            let optional = |name: &str, there: bool| there.then(|| needed(name)).transpose();
            let (task, split) = (optional(TASK, present[0])?, optional(SPLIT, present[1])?);
            self.push(&needed(TEXT)?, &needed(LABEL)?, task.as_deref(), split.as_deref());
        }
        Ok(())
    }

    fn finish(self, path: &Path, test_fraction: f64) -> Result<DataSet, TableError> {
        let rows = self.sparse.rows();
        if rows == 0 {
            return Err(TableError::new(path, None, "holds no row", HINT));
        }
        let all = Labelled::new(self.sparse, vec![0; rows], 1)?;
        self.annotations.assemble(path, format!("text:{}", path.display()), &all, test_fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(name: &str, content: &[u8]) -> Result<DataSet, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        load(&path, &DataOptions::default()).map_err(|error| error.to_string())
    }

    const CSV: &str = "text,label,task,split\nhello there,greet,1,train\nhi,greet,1,test\n\"pay, now\",pay,2,train\npay,pay,2,test\n";

    #[test]
    fn csv_and_json_lines_hold_the_same() {
        let data = read("x.csv", CSV.as_bytes()).unwrap();
        assert_eq!((data.train().labels(), data.test().labels()), (&[0_u16, 1][..], &[0_u16, 1][..]));
        assert_eq!(data.tasks().unwrap().train, [0, 1]);
        let lines = r#"{"text": "hello there", "label": "greet", "task": 1, "split": "train"}
{"text": "hi", "label": "greet", "task": 1, "split": "test"}
{"text": "pay, now", "label": "pay", "task": 2, "split": "train"}

{"text": "pay", "label": "pay", "task": 2, "split": "test"}"#;
        let same = read("x.jsonl", lines.as_bytes()).unwrap();
        assert!((0..2).all(|i| same.train().image(i) == data.train().image(i)));
        assert_eq!(same.tasks(), data.tasks());
    }

    #[test]
    fn mistakes_are_named_with_their_row() {
        let cases: [(&str, &str, &str); 8] = [
            ("x.txt", CSV, "is neither CSV nor JSON Lines"),
            ("x.csv", "text,class\na,b\n", "has no column called label"),
            ("x.csv", "text,label\na,b\nc\n", "row 2: "),
            ("x.csv", "text,label\na,b\nc,\n", "row 2: its label is missing"),
            ("x.csv", "text,label\n", "holds no row"),
            ("x.jsonl", "{\"text\": \"a\"}", "row 1: its label is missing"),
            ("x.jsonl", "{\"text\": \"a\", \"label\": 1.5}", "row 1: its label is missing, or neither"),
            ("x.jsonl", "{\"text\": \"a\", \"label\": 1}\n{", "row 2: is no JSON"),
        ];
        for (name, content, problem) in cases {
            let error = read(name, content.as_bytes()).unwrap_err();
            assert!(error.contains(problem) && error.contains(name) && error.contains("hint: "), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), json: bool) {
            let _ = read(if json { "x.jsonl" } else { "x.csv" }, &bytes);
        }
    }
}
