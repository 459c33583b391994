//! Curves of another program as groups beside those of runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use evenkeel_metrics::{Curve, CurveFileError, PaperReading, Point, read_curve};
use thiserror::Error;

use super::groups::{Finished, Group, Lineup, Origin};
use super::runs::Runs;
use crate::spec::RunSpec;

/// The name of groups that are given without one.
pub const UNNAMED: &str = "curves";

/// Curve files of one method, one per seed.
#[derive(Debug, Clone)]
pub struct OwnCurves {
    /// The name in tables and figures.
    pub name: String,
    /// The curves with their seeds.
    seeds: Vec<(u64, Curve)>,
    numbered: bool,
}

/// Where curves of another program lie.
#[derive(Debug, Clone)]
pub struct OwnSource {
    /// The name of the group.
    pub name: String,
    /// A pattern such as `mine-*.csv`.
    pub pattern: String,
    /// Whether accuracies lie between 0 and 1.
    pub fraction: bool,
}

impl OwnSource {
    /// The files that the pattern finds, by name.
    pub fn files(&self) -> Result<Vec<PathBuf>, OwnCurvesError> {
        let bad = |reason: String| OwnCurvesError::Pattern { pattern: self.pattern.clone(), reason };
        let found = glob::glob(&self.pattern).map_err(|error| bad(error.to_string()))?;
        let files: Vec<PathBuf> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
        if files.is_empty() { Err(bad("no file matches".to_string())) } else { Ok(files) }
    }

    /// The group.
    pub fn read(&self) -> Result<OwnCurves, OwnCurvesError> {
        OwnCurves::read(&self.name, &self.files()?, self.fraction)
    }
}

/// Why curve files are no group.
#[derive(Debug, Error)]
pub enum OwnCurvesError {
    /// A pattern that finds nothing.
    #[error("{pattern}: {reason}; quote the pattern, so that the shell leaves it as it is")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that is no curve.
    #[error(transparent)]
    File(#[from] CurveFileError),
    /// Accuracies that look like fractions, or do not look like them although it was said.
    #[error("{path}: {problem}", path = path.display())]
    Fraction {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: &'static str,
    },
    /// Two files of one seed.
    #[error("{name}: {first} and {second} are both seed {seed}; one file per seed", first = first.display(), second = second.display())]
    SameSeed {
        /// The group.
        name: String,
        /// A file.
        first: PathBuf,
        /// Another file.
        second: PathBuf,
        /// The number at the end of both names.
        seed: u64,
    },
    /// Curves that were evaluated at different iterations.
    #[error("{name}: {reason}")]
    Unequal {
        /// The group.
        name: String,
        /// What differs.
        reason: String,
    },
    /// Curves beside runs of several protocols.
    #[error("{dir}: holds runs of {protocols} protocols; name the folder of one", dir = dir.display())]
    Protocols {
        /// The folder.
        dir: PathBuf,
        /// How many there are.
        protocols: usize,
    },
}

impl OwnCurves {
    /// Reads the files. With `fraction`, accuracies lie between 0 and 1 and become percent; without it, such accuracies are an
    /// error that asks for it.
    pub fn read(name: &str, files: &[PathBuf], fraction: bool) -> Result<Self, OwnCurvesError> {
        let numbers: Option<Vec<u64>> = files.iter().map(|path| seed_of(path)).collect();
        let numbered = numbers.is_some();
        let numbers = numbers.unwrap_or_else(|| (0..files.len() as u64).collect());
        let mut seeds: Vec<(u64, Curve)> = Vec::with_capacity(files.len());
        for (i, (path, seed)) in files.iter().zip(&numbers).enumerate() {
            if let Some(other) = numbers[..i].iter().position(|other| other == seed) {
                let (first, second) = (files[other].clone(), path.clone());
                return Err(OwnCurvesError::SameSeed { name: name.to_string(), first, second, seed: *seed });
            }
            let curve = in_percent(read_curve(path)?, fraction)
                .map_err(|problem| OwnCurvesError::Fraction { path: path.clone(), problem })?;
            seeds.push((*seed, curve));
        }
        Self::new(name, seeds, numbered)
    }

    /// Curves that are in memory, with their seeds; `numbered` if the seeds mean something, so that they can be pairs.
    pub fn new(name: &str, mut seeds: Vec<(u64, Curve)>, numbered: bool) -> Result<Self, OwnCurvesError> {
        seeds.sort_by_key(|(seed, _)| *seed);
        let curves: Vec<&Curve> = seeds.iter().map(|(_, curve)| curve).collect();
        PaperReading::of(&curves)
            .map_err(|error| OwnCurvesError::Unequal { name: name.to_string(), reason: error.to_string() })?;
        Ok(Self { name: name.to_string(), seeds, numbered })
    }

    fn into_group(self) -> Group {
        let spec = RunSpec::recorded(UNNAMED, &self.name, 0, 1, 0);
        let name = self.name;
        let finished = self
            .seeds
            .into_iter()
            .map(|(seed, curve)| Finished { seed, curve, extras: vec![], seconds: None })
            .collect();
        let origin = Origin::Files { numbered: self.numbered };
        let mut group = Group {
            spec,
            name,
            finished,
            diverged: vec![],
            controls: vec![],
            programs: BTreeSet::new(),
            origin,
        };
        group.say_interval();
        group
    }
}

impl Runs {
    /// These groups alone, the first of them as the reference.
    pub fn of_own(groups: Vec<OwnCurves>) -> Self {
        let mut groups: Vec<Group> = groups.into_iter().map(OwnCurves::into_group).collect();
        let Some(first) = groups.first_mut() else { return Self::default() };
        let (name, settings) = (first.spec.benchmark.clone(), first.spec.settings.clone());
        let lineup = Lineup { benchmark: name.clone(), label: name, settings, groups };
        Self { lineups: vec![lineup], left_out: vec![] }
    }

    /// These groups in front of the runs of a folder, the first of them as the reference.
    pub fn with_own(self, dir: &Path, groups: Vec<OwnCurves>) -> Result<Self, OwnCurvesError> {
        match self.lineups.len() {
            1 => Ok(self.beside(groups)),
            protocols => Err(OwnCurvesError::Protocols { dir: dir.to_owned(), protocols }),
        }
    }

    /// These groups in front of those of the first protocol; alone if there is none.
    #[must_use]
    pub fn beside(mut self, groups: Vec<OwnCurves>) -> Self {
        match self.lineups.first_mut() {
            Some(lineup) => drop(lineup.groups.splice(0..0, groups.into_iter().map(OwnCurves::into_group))),
            None => self.lineups = Self::of_own(groups).lineups,
        }
        self
    }
}

/// What a reader must know of a group that was not evaluated after every iteration.
pub(super) fn sparse_note(group: &Group) -> Option<String> {
    let interval = group.finished.first()?.curve.interval();
    let own = matches!(group.origin, Origin::Files { .. });
    (own && interval > 1).then(|| {
        format!(
            "{}: evaluated every {interval} iterations. A deeper minimum may lie between two evaluations: its gap is a lower bound.",
            group.name
        )
    })
}

/// The number at the end of a file's name: `mine-3.csv` is seed 3.
fn seed_of(path: &Path) -> Option<u64> {
    number_at_end(&path.file_stem()?.to_string_lossy())
}

/// The number at the end of a name.
pub(crate) fn number_at_end(name: &str) -> Option<u64> {
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name[before.len()..].parse().ok()
}

/// With `fraction`, the accuracies lie between 0 and 1 and become percent. It is an error if they do not look as it is said.
pub(crate) fn in_percent(curve: Curve, fraction: bool) -> Result<Curve, &'static str> {
    let accuracies = |point: Point| {
        let others = point.task_acc.into_iter().flatten().chain(point.seen_acc);
        others.fold(point.task1_acc, f64::max)
    };
    let most = curve.points().iter().map(accuracies).fold(0.0, f64::max);
    match (fraction, most > 1.0) {
        (false, true) => Ok(curve),
        // A curve that never leaves zero is the same in both.
        (false, false) if most == 0.0 => Ok(curve),
        (false, false) => Err(
            "no accuracy is above 1. If they lie between 0 and 1, add --fraction; accuracies are in percent",
        ),
        (true, true) => Err("has accuracies above 1, which are no fractions; leave --fraction away"),
        (true, false) => Ok(curve.scaled(100.0).expect("no fraction is above 1")),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn write(dir: &Path, name: &str, scale: f64, every: u64) -> PathBuf {
        let mut text = "iteration,task,task1_acc\n".to_string();
        for i in 1..=20 {
            let accuracy = if i == 11 { 60.0 } else { 90.0 };
            let _ = writeln!(text, "{},{},{}", i * every, 1 + (i - 1) / 10, accuracy * scale);
        }
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn fractions_are_asked_about_and_become_percent() {
        let dir = tempfile::tempdir().unwrap();
        let files = [write(dir.path(), "a0.csv", 0.01, 1)];
        let error = OwnCurves::read("a", &files, false).unwrap_err().to_string();
        assert!(error.contains("a0.csv: no accuracy is above 1") && error.contains("--fraction"), "{error}");
        let own = OwnCurves::read("a", &files, true).unwrap();
        assert!((own.seeds[0].1.points().at(0).task1_acc - 90.0).abs() < 1e-9);
        let percent = [write(dir.path(), "b0.csv", 1.0, 1)];
        assert!(OwnCurves::read("b", &percent, false).is_ok());
        assert!(
            OwnCurves::read("b", &percent, true).unwrap_err().to_string().contains("leave --fraction away")
        );
    }

    #[test]
    fn seeds_pair_by_their_number_among_files_only() {
        let dir = tempfile::tempdir().unwrap();
        let group = |name: &str, files: &[&str]| {
            let files: Vec<PathBuf> = files.iter().map(|file| write(dir.path(), file, 1.0, 1)).collect();
            OwnCurves::read(name, &files, false).unwrap().into_group()
        };
        let (a, b) = (group("a", &["a-0.csv", "a-1.csv"]), group("b", &["b-1.csv", "b-2.csv"]));
        assert!(a.pairs_with(&b));
        assert_eq!(b.seed_list(), [1, 2]);
        let (far, plain) = (group("far", &["far-7.csv"]), group("plain", &["plain.csv"]));
        assert!(!a.pairs_with(&far) && !a.pairs_with(&plain));
        let ours = Group { origin: Origin::Runs, ..b.clone() };
        assert!(!a.pairs_with(&ours));
        let twice = [dir.path().join("a-0.csv"), write(dir.path(), "x0.csv", 1.0, 1)];
        assert!(OwnCurves::read("a", &twice, false).unwrap_err().to_string().contains("are both seed 0"));
    }

    #[test]
    fn a_curve_that_was_evaluated_seldom_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let files = [write(dir.path(), "a0.csv", 1.0, 5)];
        let group = OwnCurves::read("a", &files, false).unwrap().into_group();
        assert_eq!(group.name, "a (ρ = 5)");
        assert!(sparse_note(&group).unwrap().contains("lower bound"));
    }
}
