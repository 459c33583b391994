//! `evenkeel reproduce`: every name makes its page; mistakes are found before the first iteration.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use crate::common::{evenkeel, must_fail, must_succeed, run_dirs};

/// A reproduction on the synthetic digits, small enough for a test: what is computed means nothing, how it is computed does.
fn small(name: &str, benchmark: &str, out: &Path) -> Command {
    let mut command = evenkeel();
    command.args(["reproduce", name, "--quick", "--benchmark", benchmark, "--out"]).arg(out);
    command.args(["--set", "data=digits", "--set", "eval_samples=30", "--set", "batch=16"]);
    let size: &[&str] =
        if benchmark == "split-cifar10" { &["iterations=2"] } else { &["iterations=12", "hidden=[24,16]"] };
    for setting in size {
        command.args(["--set", setting]);
    }
    command
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Page, section, tables and figures are there, complete, and say that they are quick.
fn check_page(name: &str, out: &Path, tables: &[&str], figures: usize) {
    let page = read(&out.join("outcome.md"));
    assert!(page.contains("(quick)") && page.contains("Quick version"), "{name}: {page}");
    let section: evenkeel_report::Section = serde_json::from_str(&read(&out.join("outcome.json"))).unwrap();
    assert_eq!(section.id, name);
    assert!(section.tables.iter().all(|table| table.caption.starts_with("QUICK")));
    assert!(section.tables.iter().all(|table| !table.rows.is_empty()), "{name}: an empty table");
    let found: Vec<&str> = section.tables.iter().map(|table| table.id.as_str()).collect();
    for table in tables {
        assert!(found.contains(table), "{name}: no table {table} in {found:?}");
        assert!(read(&out.join("tables").join(format!("{table}.csv"))).lines().count() > 1);
    }
    assert_eq!(section.figures.len(), figures, "{name}");
    let drawn = std::fs::read_dir(out.join("figures")).unwrap().count();
    assert_eq!(drawn, figures, "{name}");
    let provenance: serde_json::Value = serde_json::from_str(&read(&out.join("provenance.json"))).unwrap();
    assert_eq!(provenance["quick"], true);
    assert_eq!(provenance["lineups"][0]["optimizers"][0]["seeds"], serde_json::json!([0, 1]));
}

#[test]
fn every_mnist_reproduction_makes_its_page() {
    let cases: [(&str, &str, &[&str], usize); 9] = [
        ("mechanism", "split-mnist", &["claims", "switches", "curvature"], 1),
        ("ablations", "split-mnist", &["claims", "mean-curve", "per-seed", "beyond", "compared"], 1),
        ("main", "split-mnist,rotated-mnist", &["claims", "mean-curve", "per-seed", "beyond"], 2),
        ("oracle-reset", "split-mnist", &["claims", "mean-curve", "compared"], 1),
        ("gain-complexity", "split-mnist,rotated-mnist", &["claims", "gain"], 1),
        ("lr-sweep", "split-mnist", &["claims", "learning-rates"], 1),
        ("gain-sweep", "split-mnist", &["claims", "gamma-eta"], 1),
        ("gain-ema", "split-mnist,rotated-mnist", &["claims", "identities", "dynamics"], 2),
        ("replay", "split-mnist", &["claims", "mean-curve", "per-seed"], 1),
    ];
    for (name, benchmark, tables, figures) in cases {
        let out = tempfile::tempdir().unwrap();
        must_succeed(&mut small(name, benchmark, out.path()));
        check_page(name, out.path(), tables, figures);
    }
}

/// What `reproduce` judges is what `metrics` says of the same folder: one analysis.
#[test]
fn a_reproduction_gives_the_intervals_that_metrics_gives_for_its_runs() {
    let out = tempfile::tempdir().unwrap();
    let mut command = evenkeel();
    command
        .args(["reproduce", "main", "--benchmark", "split-mnist", "--seeds", "3", "--out"])
        .arg(out.path());
    for setting in ["data=digits", "eval_samples=30", "batch=16", "iterations=12", "hidden=[24,16]"] {
        command.args(["--set", setting]);
    }
    must_succeed(&mut command);
    let json = must_succeed(evenkeel().arg("metrics").arg(out.path()).args(["--format", "json"]));
    let summary: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let table = |name: &str| -> Vec<HashMap<String, String>> {
        let text = read(&out.path().join("tables").join(format!("{name}.csv")));
        csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
    };
    let mut compared = 0;
    let mut same = |row: &HashMap<String, String>, name: &str, interval: &serde_json::Value| {
        let ends = [&interval["mean"], &interval["ci95"][0], &interval["ci95"][1]];
        for (ending, expected) in ["", " low", " high"].into_iter().zip(ends) {
            let shown: f64 = row[&format!("{name}{ending}")].parse().unwrap();
            assert_eq!(shown, expected.as_f64().unwrap(), "{name}{ending}");
            compared += 1;
        }
    };
    for (row, expected) in table("per-seed").iter().zip(summary["rows"].as_array().unwrap()) {
        for name in ["avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG"] {
            same(row, name, &expected["per_seed"][name]);
        }
    }
    for (row, expected) in table("compared").iter().zip(summary["comparisons"].as_array().unwrap()) {
        let differences = expected["differences"].as_array().unwrap();
        for name in ["avg-ACC", "avg-min-ACC", "avg-SG"] {
            let found = differences.iter().find(|difference| difference["quantity"] == name).unwrap();
            same(row, name, &found["interval"]);
        }
    }
    assert_eq!(compared, 3 * (4 * 4 + 3 * 3), "four optimizers, three comparisons");
}

/// With `--control` the gaps are tested against runs without a switch; without, the page says that they are not.
#[test]
fn controls_decide_what_a_gap_is_beyond_chance() {
    let out = tempfile::tempdir().unwrap();
    let page = |more: &[&str]| {
        let mut command = evenkeel();
        command.args(["reproduce", "main", "--benchmark", "rotated-mnist", "--seeds", "3", "--out"]);
        command.arg(out.path()).args(more);
        for setting in ["data=digits", "eval_samples=30", "batch=16", "iterations=12", "hidden=[24,16]"] {
            command.args(["--set", setting]);
        }
        must_succeed(&mut command);
        let text = read(&out.path().join("claims.csv"));
        let rows: Vec<HashMap<String, String>> =
            csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.unwrap()).collect();
        (rows, read(&out.path().join("outcome.md")))
    };
    let beyond = ["excess SG all", "excess SG 1→2", "excess SG 2→3", "loss spike beyond the control"];
    let (without, text) = page(&[]);
    assert!(without.iter().all(|row| !beyond.contains(&row["quantity"].as_str())));
    assert_eq!(text.matches("no runs without a switch (reproduce --control makes them)").count(), 2 + 4 + 1);
    let (with, text) = page(&["--control"]);
    let tested = |quantity: &str| with.iter().filter(|row| row["quantity"] == quantity).count();
    assert_eq!(beyond.map(tested), [2, 4, 4, 1]);
    assert!(!text.contains("no runs without a switch"));
    assert!(text.contains("reproduce main --seeds 3 --benchmark rotated-mnist --control --set"), "{text}");
    // The number of a claim is the difference that the table of the noise floor shows.
    let table = read(&out.path().join("tables/noise-floor.csv"));
    let rows: Vec<HashMap<String, String>> =
        csv::Reader::from_reader(table.as_bytes()).deserialize().map(|row| row.unwrap()).collect();
    let shown = rows.iter().find(|row| row["optimizer"] == "MSGD" && row["switch"] == "all").unwrap();
    let claim = with.iter().find(|row| row["a"] == "MSGD" && row["quantity"] == "excess SG all").unwrap();
    assert_eq!(shown["excess"].parse::<f64>().unwrap(), claim["mean"].parse::<f64>().unwrap());
    assert!(!rows[0].contains_key("above the floor"), "the page's verdicts are those of its claims");
}

#[test]
fn the_frozen_backbone_has_its_page_and_is_frozen_after_task_1() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small("frozen-backbone", "split-cifar10", out.path()));
    check_page("frozen-backbone", out.path(), &["claims", "mean-curve", "training-accuracy"], 1);
    // The same command again computes no run, and gives the same page.
    let before = read(&out.path().join("outcome.json"));
    let again = must_succeed(&mut small("frozen-backbone", "split-cifar10", out.path()));
    assert!(String::from_utf8_lossy(&again.stderr).contains("6 runs, 60 iterations in all, 0 to do"));
    assert_eq!(read(&out.path().join("outcome.json")), before);
    // Up to the end of task 1 there is nothing frozen: the same numbers as without.
    let rows = |name: &str| {
        let dirs = run_dirs(out.path());
        let of = |dir: &Path| dir.file_name().unwrap().to_string_lossy().starts_with(name);
        read(&dirs.iter().find(|dir| of(dir)).unwrap().join("curve.csv"))
    };
    let (frozen, plain) = (rows("msgd-frozen-seed0"), rows("msgd-seed0"));
    let line = |text: &str, i: usize| text.lines().nth(i).unwrap().to_string();
    assert_eq!(line(&frozen, 2), line(&plain, 2));
    assert_ne!(line(&frozen, 4), line(&plain, 4));
}

#[test]
fn the_scalar_model_needs_no_data_and_says_that_the_direction_matters() {
    let out = tempfile::tempdir().unwrap();
    let output = must_succeed(evenkeel().args(["reproduce", "two-timescale", "--out"]).arg(out.path()));
    let page = String::from_utf8(output.stdout).unwrap();
    let contradicted: Vec<&str> = page.lines().filter(|line| line.starts_with("Contradicted")).collect();
    assert!(contradicted.iter().any(|line| line.contains("on switch 2→1")), "{contradicted:?}");
    // The paper speaks of the switch 1→2 alone.
    assert!(contradicted.iter().all(|line| line.starts_with("Contradicted (ours")), "{contradicted:?}");
    assert!(out.path().join("claims.csv").is_file() && out.path().join("per-seed.csv").is_file());
    assert_eq!(std::fs::read_dir(out.path().join("figures")).unwrap().count(), 2);
}

#[test]
fn mistakes_are_found_before_the_first_iteration() {
    let out = tempfile::tempdir().unwrap();
    let fail = |arguments: &[&str]| {
        let mut command = evenkeel();
        let stderr = must_fail(command.arg("reproduce").args(arguments).arg("--out").arg(out.path()), 2);
        assert!(run_dirs(out.path()).is_empty(), "{arguments:?} began a run");
        stderr
    };
    assert!(fail(&["ablation"]).contains("there is no result 'ablation'; did you mean 'ablations'?"));
    assert!(
        fail(&["main", "--benchmark", "split-mnits"])
            .contains("there is no benchmark 'split-mnits' in 'main'; did you mean 'split-mnist'?")
    );
    assert!(
        fail(&["main", "--benchmark", "split-mini-imagenet"]).contains("mini-ImageNet cannot be downloaded")
    );
    assert!(fail(&["mechanism", "--seeds", "none"]).contains("seeds 'none'"));
    assert!(
        fail(&["mechanism", "--set", "curvature.evry=2"])
            .contains("unknown key 'curvature.evry'; did you mean 'every'?")
    );
    assert!(fail(&["two-timescale", "--seeds", "3"]).contains("trains nothing"));
    let frozen = evenkeel().args(["run", "split-digits", "--optimizers", "msgd-frozen"]).output().unwrap();
    assert_eq!(frozen.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&frozen.stderr).contains("MLP has no convolutional part"));
    let run = ["run", "split-digits", "--optimizers", "even-keel", "--set"];
    let layers = evenkeel().args(run).arg("even-keel.under_gain=4").output().unwrap();
    assert_eq!(layers.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&layers.stderr)
            .contains("under_gain: must be 1 to 3, the number of layers; got 4")
    );
    let run = ["run", "split-digits", "--optimizers", "sgd", "--set", "sgd.under_gain=1"];
    let without_gain = evenkeel().args(run).output().unwrap();
    assert_eq!(without_gain.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&without_gain.stderr).contains("it puts no layer under a gain"));
}
