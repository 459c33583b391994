//! The CSV that Weights & Biases exports of a chart: a column of steps, and three columns for each run and metric.

use std::collections::BTreeMap;
use std::path::Path;

use super::{ImportError, LogFormat, LoggedRun, Series, first_line};

/// Between the name of a run and that of a metric.
const DASH: &str = " - ";

pub(super) static FORMAT: LogFormat = LogFormat {
    name: "wandb",
    summary: "CSV export of a chart of Weights & Biases; one curve for each of its runs",
    recognises: |_, head| first_line(head).is_some_and(|line| line.contains(DASH) && line.contains("__MIN")),
    read,
};

/// One run and metric of the chart.
struct Column<'a> {
    run: &'a str,
    metric: &'a str,
    index: usize,
    /// The least and the largest value where the chart shows the mean of several.
    range: [Option<usize>; 2],
}

fn read(path: &Path) -> Result<Vec<LoggedRun>, ImportError> {
    let error = |line: u64, problem: &str| ImportError::new(path, format!("line {line}: {problem}"));
    let bytes = std::fs::read(path).map_err(|error| ImportError::new(path, error.to_string()))?;
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(bytes);
    let header = reader.headers().map_err(|_| error(1, "is not text"))?.clone();
    let columns = columns(&header);
    if columns.is_empty() {
        return Err(error(1, "no column is called 'run - metric'; export the chart as CSV"));
    }
    let mut runs: BTreeMap<&str, LoggedRun> = BTreeMap::new();
    let mut averaged: BTreeMap<&str, usize> = BTreeMap::new();
    for (line, row) in (2..).zip(reader.records()) {
        let row = row.map_err(|_| error(line, "is not text"))?;
        if row.len() != header.len() {
            return Err(error(line, &format!("{} cells, the header has {}", row.len(), header.len())));
        }
        let step: u64 = row[0].parse().map_err(|_| {
            let shown: String = row[0].chars().take(40).collect();
            error(
                line,
                &format!(
                    "{} is {shown:?}, not a whole number; give the chart Step as its x axis",
                    &header[0]
                ),
            )
        })?;
        for column in &columns {
            let number = |index: usize| match &row[index] {
                "" => Ok(None),
                cell => cell.parse::<f64>().map(Some).map_err(|_| {
                    let shown: String = cell.chars().take(40).collect();
                    error(line, &format!("{} is {shown:?}, not a number", &header[index]))
                }),
            };
            let Some(value) = number(column.index)? else { continue };
            for index in column.range.into_iter().flatten() {
                if number(index)?.is_some_and(|other| other != value) {
                    *averaged.entry(column.run).or_default() += 1;
                    break;
                }
            }
            let run = runs.entry(column.run).or_default();
            let series: &mut Series = run.series.entry(column.metric.to_string()).or_default();
            series.insert(step, value);
        }
    }
    if runs.is_empty() {
        return Err(ImportError::new(path, "holds no value"));
    }
    Ok(runs
        .into_iter()
        .map(|(name, mut run)| {
            run.name = name.to_string();
            run.notes.extend(averaged.get(name).map(|count| {
                format!(
                    "{name}: {count} values are means of several (their __MIN and __MAX differ), which hides minima: \
                     its gap is a lower bound. run.history(samples=…) of wandb's API has every value"
                )
            }));
            run
        })
        .collect())
}

/// Every `run - metric`; `__MIN` and `__MAX` belong to the one before them.
fn columns(header: &csv::StringRecord) -> Vec<Column<'_>> {
    let index_of = |name: String| header.iter().position(|other| other == name);
    let is_range = |name: &str| {
        ["__MIN", "__MAX"]
            .iter()
            .any(|end| name.strip_suffix(end).is_some_and(|base| header.iter().any(|other| other == base)))
    };
    let named = header.iter().enumerate().skip(1).filter(|(_, name)| !is_range(name));
    named
        .filter_map(|(index, name)| {
            let (run, metric) = name.rsplit_once(DASH)?;
            let range = ["__MIN", "__MAX"].map(|end| index_of(format!("{name}{end}")));
            Some(Column { run, metric, index, range })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<LoggedRun>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chart.csv");
        std::fs::write(&path, text).unwrap();
        read(&path).map_err(|error| error.problem)
    }

    #[test]
    fn every_run_is_one_and_empty_cells_are_no_values() {
        let runs = read_text(
            "\u{feff}\"Step\",\"a - 1 - acc\",\"a - 1 - acc__MIN\",\"a - 1 - acc__MAX\",\"b - acc\"\n\
             0,0.5,0.5,0.5,\n1,0.6,0.4,0.8,0.25\n",
        )
        .unwrap();
        assert_eq!(runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["a - 1", "b"]);
        assert_eq!(runs[0].series["acc"], Series::from([(0, 0.5), (1, 0.6)]));
        assert_eq!(runs[1].series["acc"], Series::from([(1, 0.25)]));
        assert!(runs[0].notes[0].starts_with("a - 1: 1 values are means") && runs[1].notes.is_empty());
    }

    #[test]
    fn what_is_no_export_is_refused_with_its_line() {
        let head = "Step,a - acc,a - acc__MIN,a - acc__MAX\n";
        for (text, reason) in [
            (
                format!("{head}0.5,1,1,1\n"),
                "line 2: Step is \"0.5\", not a whole number; give the chart Step",
            ),
            (format!("{head}0,1,1,1\n1,high,1,1\n"), "line 3: a - acc is \"high\", not a number"),
            (format!("{head}0,1,1\n"), "line 2: 3 cells, the header has 4"),
            (head.to_string(), "holds no value"),
            ("Step,acc\n0,1\n".to_string(), "line 1: no column is called 'run - metric'"),
        ] {
            let error = read_text(&text).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
    }
}
