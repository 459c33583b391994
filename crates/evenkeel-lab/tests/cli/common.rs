//! Helpers for tests of the real program as a real process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program, with a data cache of its own and no network.
pub(crate) fn evenkeel() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_evenkeel"));
    command.env("EVENKEEL_DATA", std::env::temp_dir().join("evenkeel-test-no-data")).env("NO_COLOR", "1");
    command
}

/// A small experiment on the synthetic digits: an iteration takes a few milliseconds.
pub(crate) fn small_run(out: &Path, extra: &[&str]) -> Command {
    let mut command = evenkeel();
    command
        .args(["run", "split-digits", "--iterations", "12", "--eval-samples", "60"])
        .args(["--set", "hidden=[24,16]", "--set", "batch=16", "--out"])
        .arg(out)
        .args(extra);
    command
}

/// Runs it and panics with its messages if it fails.
#[track_caller]
pub(crate) fn must_succeed(command: &mut Command) -> Output {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs it, expects this exit code, and gives the lines on stderr that are errors.
#[track_caller]
pub(crate) fn must_fail(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("the program starts");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{command:?}\n{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

/// Folders of runs below `out`, sorted.
pub(crate) fn run_dirs(out: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(out).expect("the folder is there");
    let mut dirs: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    dirs.sort();
    dirs
}

/// Takes back that a run has ended, as if its process had been killed a moment before.
pub(crate) fn unfinish(dir: &Path) {
    let path = dir.join("run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(record["status"], "done");
    record["status"] = "unfinished".into();
    for key in ["files", "sha256"] {
        record.as_object_mut().unwrap().remove(key);
    }
    std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
}

/// The words of a text without its lines: where they break is a matter of the terminal.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Names and contents of all curves below `out`.
pub(crate) fn curves(out: &Path) -> Vec<(String, String)> {
    let name = |dir: &PathBuf| dir.file_name().unwrap().to_string_lossy().into_owned();
    run_dirs(out)
        .iter()
        .map(|dir| (name(dir), std::fs::read_to_string(dir.join("curve.csv")).unwrap()))
        .collect()
}
