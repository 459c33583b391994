//! Logs that Avalanche, PyTorch and Weights & Biases wrote become the curve that was measured; tests/fixtures/logs/make.py made them.

use std::path::{Path, PathBuf};

use evenkeel_metrics::{Curve, Point, read_curve};

use crate::common::{evenkeel, must_fail, must_succeed};

fn log(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs").join(name)
}

fn imported(name: &str, arguments: &[&str]) -> Curve {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mine-0.csv");
    must_succeed(evenkeel().arg("import").arg(log(name)).args(arguments).arg("--out").arg(&out));
    read_curve(&out).unwrap()
}

/// The evaluations at these iterations, to as many digits as the log has. Losses and other tasks are compared where the log has them.
#[track_caller]
fn must_agree(found: &Curve, iterations: &[u64], digits: i32) {
    let truth = read_curve(&log("expected.csv")).unwrap();
    let truth: Vec<Point> =
        truth.points().iter().filter(|point| iterations.contains(&point.iteration)).collect();
    assert_eq!(found.points().len(), truth.len());
    let close = |a: f64, b: f64| (a - b).abs() <= 0.51 * 10_f64.powi(-digits);
    for (found, truth) in found.points().iter().zip(truth) {
        assert_eq!((found.iteration, found.task), (truth.iteration, truth.task));
        assert!(close(found.task1_acc / 100.0, truth.task1_acc / 100.0), "{found:?} is not {truth:?}");
        assert!(found.task1_loss.is_none_or(|loss| close(loss, truth.task1_loss.unwrap())), "{found:?}");
        for (found, truth) in found.task_acc.iter().zip(&truth.task_acc) {
            assert!(found.is_none_or(|acc| close(acc / 100.0, truth.unwrap() / 100.0)));
        }
    }
}

fn all() -> Vec<u64> {
    (1..=24).collect()
}

#[test]
fn text_of_avalanche_becomes_the_curve_that_was_measured() {
    for name in ["avalanche-text.txt", "avalanche-interactive.txt"] {
        for arguments in [["--every", "1"], ["--task-iterations", "8"]] {
            let curve = imported(name, &arguments);
            must_agree(&curve, &all(), 4);
            let last = curve.points().last().unwrap();
            assert!(last.task1_loss.is_some() && last.task_acc.iter().flatten().count() == 2);
        }
    }
}

#[test]
fn seldom_evaluations_of_avalanche_stand_where_they_were_made() {
    // After the first update, then every third, and at the end.
    let iterations: Vec<u64> = [0, 8, 16].iter().flat_map(|start| [1, 4, 7, 8].map(|i| start + i)).collect();
    let curve = imported("avalanche-every-3.txt", &["--every", "3", "--task-iterations", "8"]);
    must_agree(&curve, &iterations, 4);
    let curve = imported("avalanche-every-3", &["--task-iterations", "8"]);
    let points: Vec<Point> = curve.points().iter().filter(|point| point.iteration > 0).collect();
    must_agree(&Curve::new(points).unwrap(), &iterations, 6);
}

#[test]
fn csv_of_avalanche_knows_the_ends_of_tasks() {
    for name in ["avalanche-csv", "avalanche-csv/eval_results.csv"] {
        let curve = imported(name, &["--task-iterations", "8"]);
        must_agree(&curve, &[8, 16, 24], 4);
        assert_eq!(curve.interval(), 8);
    }
    // Avalanche writes the accuracy on the experience that it evaluated last: here the third.
    let curve =
        imported("avalanche-csv/training_results.csv", &["--every", "8", "--accuracy", "val_accuracy"]);
    let truth = read_curve(&log("expected.csv")).unwrap();
    let third: Vec<f64> = [7, 15, 23].map(|index| truth.acc_of(3, index).unwrap().round()).to_vec();
    assert_eq!(curve.task1_acc(), third);
}

#[test]
fn event_files_are_read_by_known_names_or_by_those_that_are_given() {
    let curve = imported("avalanche-tensorboard", &["--task-iterations", "8"]);
    // Avalanche also evaluates before the first update.
    assert_eq!(curve.iterations()[0], 0);
    let points: Vec<Point> = curve.points().iter().skip(1).collect();
    must_agree(&Curve::new(points).unwrap(), &all(), 6);

    let names = ["--accuracy", "test/first", "--accuracy", "test/second", "--loss", "test/loss"];
    for when in [["--task", "stream/task"], ["--task-iterations", "8,8,8"]] {
        let arguments = [&names[..], &when, &["--fraction"]].concat();
        let curve = imported("pytorch-tensorboard", &arguments);
        must_agree(&curve, &all(), 6);
        let last = curve.points().last().unwrap();
        assert!(last.task1_loss.is_some() && last.task_acc.len() == 1);
    }
}

#[test]
fn a_chart_of_several_runs_becomes_a_file_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--task-iterations", "8", "--offset", "1", "--fraction", "--out", "mine.csv"];
    must_succeed(evenkeel().current_dir(folder.path()).arg("import").arg(log("wandb.csv")).args(arguments));
    must_agree(&read_curve(&folder.path().join("mine-3.csv")).unwrap(), &all(), 6);
    let metrics = ["metrics", "--group", "mine=mine-*.csv", "--format", "json"];
    let output = must_succeed(evenkeel().current_dir(folder.path()).args(metrics));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["rows"][0]["seeds"], serde_json::json!([3, 4]));
}

#[test]
fn what_evenkeel_exports_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let curve =
        Curve::new((1..=6).map(|i| Point::new(i, 1 + (i as usize - 1) / 3, 10.5 * i as f64)).collect());
    let curve = curve.unwrap();
    let mut bytes = Vec::new();
    evenkeel_report::export::tensorboard::write_events(&mut bytes, &curve, 0.0, 1.0).unwrap();
    let path = folder.path().join("events.out.tfevents.0.evenkeel");
    std::fs::write(&path, &bytes).unwrap();
    let output = must_succeed(evenkeel().arg("import").arg(&path));
    let out = folder.path().join("back.csv");
    std::fs::write(&out, output.stdout).unwrap();
    assert_eq!(read_curve(&out).unwrap(), curve);
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let words = folder.path().join("words.txt");
    std::fs::write(&words, "hello\n").unwrap();
    let events = std::fs::read(log("pytorch-tensorboard/events.out.tfevents.0.fixture")).unwrap();
    let damaged = folder.path().join("damaged");
    let mut bytes = events.clone();
    bytes[200] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let fail =
        |log: &Path, arguments: &[&str]| must_fail(evenkeel().arg("import").arg(log).args(arguments), 2);
    let tb = log("pytorch-tensorboard");
    let first = ["--accuracy", "test/first"];
    let [text, training, chart, gone] = [
        log("avalanche-text.txt"),
        log("avalanche-csv/training_results.csv"),
        log("wandb.csv"),
        folder.path().join("gone"),
    ];
    let cases: [(&Path, &[&str], &str); 15] = [
        (
            &tb,
            &[],
            "which series is the accuracy on the test set of task 1? Say it with --accuracy; there are stream/task",
        ),
        (&tb, &["--accuracy", "first"], "there is no series 'first'"),
        (&tb, &first, "--task-iterations"),
        (&tb, &[first[0], first[1], "--task-iterations", "8"], "add --fraction"),
        (&tb, &[first[0], first[1], "--task", "test/loss"], "tasks are whole numbers"),
        (&tb, &[first[0], first[1], "--task-iterations", "8", "--every", "2"], "this one has steps"),
        (&text, &[], "say with --every"),
        (&training, &["--every", "1"], "there are training_accuracy, training_loss, val_accuracy"),
        (&chart, &["--task-iterations", "8", "--offset", "1", "--fraction"], "2 runs: --out"),
        (&damaged, &[], "damaged at byte"),
        (&words, &[], "--from says which it is: avalanche-csv, avalanche-text, tensorboard, wandb"),
        (&words, &["--from", "wandb"], "line 1: no column is called 'run - metric'"),
        (&words, &["--from", "tensorboard"], "the record at byte 0 is no event"),
        (&empty, &[], "is no log that is known"),
        (&gone, &[], "gone: No such file"),
    ];
    for (path, arguments, reason) in cases {
        let stderr = fail(path, arguments);
        assert!(stderr.starts_with("error: ") && stderr.contains(reason), "{stderr} lacks {reason}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    }
    // A run that was killed: what comes before the last record counts, and it is said.
    let cut = folder.path().join("events.out.tfevents.cut");
    std::fs::write(&cut, &events[..events.len() - 3]).unwrap();
    let output = must_succeed(evenkeel().arg("import").arg(&cut).args([
        "--accuracy",
        "test/first",
        "--task",
        "stream/task",
        "--fraction",
    ]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("never written to its end"));
    let list = must_succeed(evenkeel().arg("import").arg(&tb).arg("--list"));
    assert!(String::from_utf8_lossy(&list.stdout).contains("test/first  24 values, steps 1 to 24"));
}
