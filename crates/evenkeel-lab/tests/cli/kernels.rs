//! Speed does not cost quality: every instruction set gives the same metrics within what seeds differ by.

use serde_json::Value;

use crate::common::{evenkeel, must_succeed, run_dirs};

const METRICS: [&str; 3] = ["avg-ACC", "avg-min-ACC", "avg-SG"];

/// Mean and SD over seeds of each optimizer's metrics, after a small run on the given kernels.
fn metrics(kernels: &str) -> Vec<(String, f64, f64)> {
    let out = tempfile::tempdir().unwrap();
    let mut command = evenkeel();
    command.args([
        "run",
        "split-digits",
        "--iterations",
        "60",
        "--seeds",
        "3",
        "--optimizers",
        "ngm-sgd,msgd",
    ]);
    command.args(["--set", "hidden=[64,48]", "--eval-samples", "200", "--out"]).arg(out.path());
    must_succeed(command.env("EVENKEEL_KERNELS", kernels));
    for dir in run_dirs(out.path()) {
        let record = std::fs::read_to_string(dir.join("run.json")).unwrap();
        assert!(record.contains(&format!("\"{kernels}\"")), "{record}");
    }
    let summary = std::fs::read_to_string(out.path().join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let mut all = Vec::new();
    for row in summary["rows"].as_array().unwrap() {
        for metric in METRICS {
            let value = &row["per_seed"][metric];
            let name = format!("{} {metric}", row["optimizer"]);
            all.push((name, value["mean"].as_f64().unwrap(), value["sd"].as_f64().unwrap()));
        }
    }
    assert_eq!(all.len(), 6);
    all
}

#[test]
fn portable_kernels_train_as_well_as_the_fastest() {
    let fastest = evenkeel_kernels::InstructionSet::available().pop().unwrap().name();
    for ((name, portable, sd), (_, fast, _)) in metrics("portable").iter().zip(&metrics(fastest)) {
        assert!((portable - fast).abs() <= *sd, "{name}: {portable} (SD {sd}) portable, {fast} {fastest}");
    }
}
