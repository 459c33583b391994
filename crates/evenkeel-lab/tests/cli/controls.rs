//! `evenkeel run --control`: runs without a switch, and the gap beyond the noise floor.

use std::path::Path;

use serde_json::Value;

use crate::common::{evenkeel, flat, must_fail, must_succeed, run_dirs, small_run};

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Rows of a curve as (iteration, task, accuracy on task 1).
fn rows(dir: &Path) -> Vec<(u64, usize, f64)> {
    let text = std::fs::read_to_string(dir.join("curve.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].parse().unwrap(), cells[1].parse().unwrap(), cells[2].parse().unwrap())
    };
    text.lines().skip(1).map(row).collect()
}

fn gap(rows: &[(u64, usize, f64)], from: u64, to: u64) -> f64 {
    let before = rows.iter().find(|row| row.0 == from).unwrap().2;
    let within = rows.iter().filter(|row| row.0 > from && row.0 <= to);
    let lowest = within.map(|row| row.2).fold(f64::INFINITY, f64::min);
    (before - lowest) / before
}

#[test]
fn a_control_is_its_run_up_to_the_switch_and_the_excess_is_paired_by_seed() {
    let out = tempfile::tempdir().unwrap();
    // Evaluated at every fifth iteration, which does not divide a task of 12: the switch is evaluated all the same.
    let arguments = ["--seeds", "3", "--optimizers", "msgd", "--eval-every", "5", "--set", "lr=0.1"];
    must_succeed(small_run(out.path(), &arguments).arg("--control"));
    let dirs = run_dirs(out.path());
    assert_eq!(dirs.len(), 3 * 5);
    let hold = |dir: &Path| json(&dir.join("run.json"))["spec"]["settings"]["hold"].as_u64();
    let seed = |dir: &Path| json(&dir.join("run.json"))["spec"]["seed"].as_u64().unwrap();
    let real: Vec<_> = dirs.iter().filter(|dir| hold(dir).is_none()).collect();
    let (mut gaps, mut excesses) = (vec![0.0; 4], vec![0.0; 4]);
    for run in &real {
        let run_text = std::fs::read_to_string(run.join("curve.csv")).unwrap();
        for control in dirs.iter().filter(|dir| hold(dir).is_some() && seed(dir) == seed(run)) {
            let last = hold(control).unwrap();
            let (from, to) = (12 * last, 12 * (last + 1));
            let control_rows = rows(control);
            assert_eq!(control_rows.last().unwrap().0, to);
            assert!(control_rows.iter().all(|row| row.1 as u64 <= last));
            // Byte for byte the same until the switch, and another curve after it.
            let until = control_rows.iter().filter(|row| row.0 <= from).count() + 1;
            let control_text = std::fs::read_to_string(control.join("curve.csv")).unwrap();
            let head = |text: &str| text.lines().take(until).map(String::from).collect::<Vec<_>>();
            assert_eq!(head(&run_text), head(&control_text));
            let (sg, floor) = (gap(&rows(run), from, to), gap(&control_rows, from, to));
            gaps[last as usize - 1] += sg / 3.0;
            excesses[last as usize - 1] += (sg - floor) / 3.0;
        }
    }
    let summary = json(&out.path().join("summary.json"));
    assert_eq!(summary["rows"].as_array().unwrap().len(), 1);
    let floors = summary["rows"][0]["noise_floor"].as_array().unwrap();
    let switches: Vec<&str> = floors.iter().map(|floor| floor["switch"].as_str().unwrap()).collect();
    assert_eq!(switches, ["1→2", "2→3", "3→4", "4→5", "all"]);
    for (floor, (sg, excess)) in floors.iter().zip(gaps.iter().zip(&excesses)) {
        assert!((floor["sg"]["mean"].as_f64().unwrap() - sg).abs() < 1e-9, "{floor}");
        let found = floor["excess"]["interval"]["mean"].as_f64().unwrap();
        assert!((found - excess).abs() < 1e-9, "{floor}");
        assert!(
            floor["excess"]["interval"]["ci95"].is_array() && floor["seeds"] == serde_json::json!([0, 1, 2])
        );
    }
    let all = excesses.iter().sum::<f64>() / 4.0;
    assert!((floors[4]["excess"]["interval"]["mean"].as_f64().unwrap() - all).abs() < 1e-9);

    let metrics = must_succeed(evenkeel().arg("metrics").arg(out.path()));
    let text = flat(&String::from_utf8(metrics.stdout).unwrap());
    assert!(text.contains("SG of the control") && text.contains("excess"), "{text}");
    // The dips of a sampled curve are labelled.
    assert!(
        text.contains("Split digits, ρ = 5") && text.contains("Not evaluated after every iteration (ρ = 5)"),
        "{text}"
    );
    let page = out.path().join("page.html");
    must_succeed(evenkeel().arg("report").arg(out.path()).arg("--output").arg(&page));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("SG of the control") && page.contains("12 of them controls without a switch"));
    assert!(page.contains("--control=1,2,3,4"));
}

#[test]
fn one_switch_may_be_controlled_alone_and_a_control_alone_is_named() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "1", "--optimizers", "sgd"];
    must_succeed(small_run(out.path(), &arguments).arg("--control=2"));
    let floors = json(&out.path().join("summary.json"))["rows"][0]["noise_floor"].clone();
    assert_eq!((floors.as_array().unwrap().len(), &floors[0]["switch"]), (1, &Value::from("2→3")));
    let real = run_dirs(out.path())
        .into_iter()
        .find(|dir| json(&dir.join("run.json"))["spec"]["settings"]["hold"].is_null());
    std::fs::remove_dir_all(real.unwrap()).unwrap();
    let alone = evenkeel().arg("metrics").arg(out.path()).output().unwrap();
    let said = [alone.stdout, alone.stderr].concat();
    let said = flat(&String::from_utf8_lossy(&said));
    assert!(said.contains("the run that it belongs to is not here"), "{said}");
    for (control, message) in
        [("--control=5", "no switch after task 5"), ("--control=0", "expected tasks from 1")]
    {
        let error = must_fail(small_run(out.path(), &arguments).arg(control), 2);
        assert!(flat(&error).contains(message), "{error}");
    }
}

#[test]
fn runs_and_controls_that_are_dense_after_a_switch_and_sparse_later_are_counted_and_say_so() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "2", "--optimizers", "msgd", "--set", "eval_schedule=[4,5]"];
    must_succeed(small_run(out.path(), &arguments).arg("--control"));
    let run = run_dirs(out.path())
        .into_iter()
        .find(|dir| json(&dir.join("run.json"))["spec"]["settings"]["hold"].is_null());
    let evaluated: Vec<u64> = rows(&run.unwrap()).iter().map(|row| row.0).take(10).collect();
    assert_eq!(evaluated, [1, 2, 3, 4, 5, 10, 12, 13, 14, 15]);
    let output = must_succeed(evenkeel().arg("metrics").arg(out.path()));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("not counted"));
    let text = flat(&String::from_utf8_lossy(&output.stdout));
    assert!(text.contains("ρ = 1 for 4, then 5") && text.contains("SG of the control"), "{text}");
    let summary = json(&out.path().join("summary.json"));
    assert_eq!(summary["rankings"][0]["rows"][0]["gap"]["n"], 2, "{summary:#}");
}
