//! Metrics of curves, and everything that `metrics` and `report` say of groups of them.

use std::path::PathBuf;

use evenkeel_lab::analysis::{Folders, Format, OwnCurves, Runs, Summary, document, terminal};
use evenkeel_metrics::{Curve, Metrics, Point, QUANTITIES, read_growing_curve};
use evenkeel_report::{Cell, Document, Table, Theme};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::curves::Arrays;
use crate::frame::{Column, Frame};

/// Metrics of curves, a dictionary each.
#[pyfunction]
pub(crate) fn metrics<'py>(
    py: Python<'py>,
    curves: Vec<(String, Arrays<'py>)>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let measured = |(name, arrays): &(String, Arrays<'py>)| {
        let curve = arrays.curve(name)?;
        let of = Metrics::of(&curve).map_err(|error| PyValueError::new_err(format!("{name}: {error}")))?;
        let result = PyDict::new(py);
        result.set_item("ends", of.ends)?;
        result.set_item("minima", of.minima)?;
        result.set_item("minimum_iterations", of.minimum_iterations)?;
        result.set_item("sg", of.sg)?;
        result.set_item("interval", curve.interval())?;
        let quantities = PyDict::new(py);
        for quantity in QUANTITIES {
            quantities.set_item(quantity.name, (quantity.of)(&curve))?;
        }
        result.set_item("quantities", quantities)?;
        Ok(result)
    };
    curves.iter().map(measured).collect()
}

/// A group of curves: its name, and each curve with its seed.
type Group<'py> = (String, Vec<(u64, Arrays<'py>)>, bool);

/// Runs of folders and groups of curves, analysed together.
#[pyclass(module = "evenkeel._evenkeel", frozen)]
pub(crate) struct Analysis {
    dirs: Vec<PathBuf>,
    own: Vec<OwnCurves>,
    against: Option<String>,
    runs: Runs,
    problems: Vec<String>,
}

#[pymethods]
impl Analysis {
    #[new]
    fn new(
        py: Python<'_>,
        dirs: Vec<PathBuf>,
        groups: Vec<Group<'_>>,
        against: Option<String>,
    ) -> PyResult<Self> {
        if let Some(dir) = dirs.iter().find(|dir| !dir.is_dir()) {
            return Err(PyValueError::new_err(format!("{}: no such folder", dir.display())));
        }
        let own = groups.iter().map(own).collect::<PyResult<Vec<OwnCurves>>>()?;
        let (runs, problems) = py.detach(|| {
            let folders = Folders::read(&dirs);
            (Runs::load(&folders.runs), folders.problems)
        });
        let runs = if own.is_empty() || dirs.is_empty() {
            if dirs.is_empty() { Runs::of_own(own.clone()) } else { runs }
        } else {
            runs.with_own(&dirs[0], own.clone()).map_err(|error| PyValueError::new_err(error.to_string()))?
        };
        let known = |name: &String| runs.lineups.iter().any(|lineup| lineup.reference(Some(name)).is_some());
        if let Some(name) = against.as_ref().filter(|name| !known(name)) {
            return Err(PyValueError::new_err(format!(
                "against={name:?}: no such optimizer among these runs"
            )));
        }
        Ok(Self { dirs, own, against, runs, problems })
    }

    /// What `summary.json` says.
    fn summary(&self) -> PyResult<String> {
        let summary = Summary::of(&self.runs, self.against.as_deref());
        serde_json::to_string(&summary).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What `evenkeel metrics` prints.
    fn text(&self) -> String {
        terminal::render(&self.runs, self.against.as_deref(), Format::Table)
    }

    /// Whether there is nothing that counts.
    fn is_empty(&self) -> bool {
        self.runs.lineups.is_empty()
    }

    /// What could not be read.
    fn problems(&self) -> Vec<String> {
        let left_out = self.runs.left_out.iter().filter(|run| run.damaged).map(|run| run.reason.clone());
        self.problems.iter().cloned().chain(left_out).collect()
    }

    /// The page that `evenkeel report` writes.
    fn html(&self, py: Python<'_>, title: &str) -> String {
        py.detach(|| self.document(title).to_html())
    }

    /// Id, title and drawing of each figure.
    fn figures(&self, py: Python<'_>, dark: bool) -> Vec<(String, String, String)> {
        let theme = if dark { Theme::Dark } else { Theme::Light };
        py.detach(|| {
            let document = self.document("");
            let figures = document.sections.iter().flat_map(|section| &section.figures);
            figures.map(|f| (f.id.clone(), f.title.clone(), f.thinned(2400).to_svg(theme))).collect()
        })
    }

    /// Caption, names of the columns and cells of each table, as they are shown.
    #[allow(clippy::type_complexity)] // a table as plain Python objects
    fn tables(&self, py: Python<'_>) -> Vec<(String, Vec<String>, Vec<Vec<String>>)> {
        py.detach(|| {
            let document = self.document("");
            let tables = document.sections.iter().flat_map(|s| s.ranking.iter().chain(&s.tables));
            let table = |table: &Table| {
                let rows = table.rows.iter().map(|row| row.iter().map(Cell::shown).collect());
                (table.caption.clone(), table.columns.clone(), rows.collect())
            };
            tables.map(table).collect()
        })
    }

    /// Every point of every run of the folders and of every group, finished or not.
    fn curves(&self, py: Python<'_>) -> PyResult<Frame> {
        let mut rows = Rows::default();
        py.detach(|| {
            for run in Folders::read(&self.dirs).runs {
                let spec = &run.record.spec;
                if let Ok(curve) = read_growing_curve(&run.curve_path()) {
                    rows.add([&spec.benchmark, &spec.optimizer.name], spec.seed, &curve);
                }
            }
            for lineup in Runs::of_own(self.own.clone()).lineups {
                for group in &lineup.groups {
                    for seed in &group.finished {
                        rows.add([&lineup.benchmark, &group.spec.optimizer.name], seed.seed, &seed.curve);
                    }
                }
            }
        });
        rows.frame()
    }
}

impl Analysis {
    fn document(&self, title: &str) -> Document {
        document(title, Folders::read(&self.dirs).with_own(self.own.clone()), self.against.as_deref())
    }
}

fn own((name, seeds, numbered): &Group<'_>) -> PyResult<OwnCurves> {
    let curve =
        |(seed, arrays): &(u64, Arrays<'_>)| Ok((*seed, arrays.curve(&format!("{name}, seed {seed}"))?));
    let curves = seeds.iter().map(curve).collect::<PyResult<Vec<(u64, Curve)>>>()?;
    OwnCurves::new(name, curves, *numbered).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Points as columns.
#[derive(Default)]
struct Rows {
    words: [Vec<String>; 2],
    whole: [Vec<i64>; 3],
    points: Vec<Point>,
}

impl Rows {
    fn add(&mut self, words: [&str; 2], seed: u64, curve: &Curve) {
        for point in curve.points().iter() {
            for (column, word) in self.words.iter_mut().zip(words) {
                column.push(word.to_string());
            }
            let whole = [seed as i64, point.iteration as i64, point.task as i64];
            self.whole.iter_mut().zip(whole).for_each(|(column, value)| column.push(value));
            self.points.push(point);
        }
    }

    fn frame(self) -> PyResult<Frame> {
        let [benchmark, optimizer] = self.words;
        let [seed, iteration, task] = self.whole;
        let points = &self.points;
        let numbers = |of: &dyn Fn(&Point) -> Option<f64>| Column::Numbers(points.iter().map(of).collect());
        let mut columns = vec![
            ("benchmark".to_string(), Column::Words(benchmark)),
            ("optimizer".to_string(), Column::Words(optimizer)),
            ("seed".to_string(), Column::Whole(seed)),
            ("iteration".to_string(), Column::Whole(iteration)),
            ("task".to_string(), Column::Whole(task)),
            ("task1_acc".to_string(), numbers(&|point| Some(point.task1_acc))),
            ("task1_loss".to_string(), numbers(&|point| point.task1_loss)),
            ("gain".to_string(), numbers(&|point| point.gain)),
            ("entropy".to_string(), numbers(&|point| point.entropy)),
            ("train_loss".to_string(), numbers(&|point| point.train_loss)),
            ("seen_acc".to_string(), numbers(&|point| point.seen_acc)),
        ];
        let tasks = points.iter().map(|point| point.task_acc.len() + 1).max().unwrap_or(1);
        for task in 2..=tasks {
            columns.push((format!("acc_{task}"), numbers(&|point| point.acc_of(task))));
        }
        Frame::new(columns)
    }
}
