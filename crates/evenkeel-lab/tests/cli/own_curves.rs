//! Curves of another program beside ours.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::{evenkeel, flat, must_fail, must_succeed, small_run};

/// A curve of two tasks whose accuracy falls to `low` after the switch.
fn write(path: &Path, low: f64, scale: f64, every: u64) {
    let mut text = "iteration,task,task1_acc\n".to_string();
    for i in 1..=20_u64 {
        let accuracy = if i == 11 { low } else { 90.0 };
        let _ = writeln!(text, "{},{},{}", i * every, 1 + (i - 1) / 10, accuracy * scale);
    }
    std::fs::write(path, text).unwrap();
}

fn metrics(folder: &Path, arguments: &[&str]) -> String {
    let output = must_succeed(evenkeel().current_dir(folder).arg("metrics").args(arguments));
    flat(&String::from_utf8(output.stdout).unwrap())
}

#[test]
fn groups_of_files_are_compared_in_pairs_and_with_runs_as_wholes() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..3_u32 {
        let low = f64::from(seed);
        write(&folder.path().join(format!("mine-{seed}.csv")), 80.0 + low, 1.0, 1);
        write(&folder.path().join(format!("theirs-{seed}.csv")), 50.0 + 1.3 * low, 1.0, 1);
    }
    let groups = ["--group", "mine=mine-*.csv", "--group", "theirs=theirs-*.csv"];
    let summary = metrics(folder.path(), &[&groups[..], &["--format", "json"]].concat());
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["rows"].as_array().unwrap().len(), 2);
    let comparison = &summary["comparisons"][0];
    assert_eq!((&comparison["paired"], &comparison["verdict"]), (&true.into(), &"holds".into()));

    let runs = folder.path().join("runs");
    must_succeed(&mut small_run(&runs, &["--seeds", "3", "--optimizers", "sgd"]));
    let text = metrics(folder.path(), &["--group", "mine=mine-*.csv", "--against", "runs"]);
    assert!(text.contains("SGD (unpaired)") && text.contains("Welch's test"), "{text}");
    let report = folder.path().join("page.html");
    must_succeed(
        evenkeel()
            .current_dir(folder.path())
            .args(["report", "runs", "--group", "mine=mine-*.csv", "-o"])
            .arg(&report),
    );
    let page = std::fs::read_to_string(report).unwrap();
    assert!(page.contains("mine") && page.contains("SGD (unpaired)"));
}

#[test]
fn fractions_seldom_evaluations_and_missing_files_are_spoken_of() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("part-0.csv"), 50.0, 0.01, 1);
    write(&folder.path().join("rare-0.csv"), 50.0, 1.0, 5);
    let fail = |arguments: &[&str]| {
        must_fail(evenkeel().current_dir(folder.path()).arg("metrics").args(arguments), 2)
    };
    assert!(fail(&["--group", "part=part-*.csv"]).contains("add --fraction"));
    assert!(metrics(folder.path(), &["--group", "part=part-*.csv", "--fraction"]).contains("90.00"));
    let rare = metrics(folder.path(), &["--group", "rare=rare-*.csv"]);
    assert!(rare.contains("rare (ρ = 5)") && rare.contains("lower bound"), "{rare}");
    assert!(fail(&["--group", "none=none-*.csv"]).contains("no file matches"));
    assert!(fail(&["--group", "none"]).contains("NAME='PATTERN'"));
}
