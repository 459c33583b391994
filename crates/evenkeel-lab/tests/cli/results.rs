//! What comes out: the summary, the tables, and the same metrics for curves of another program.

use crate::common::{curves, evenkeel, must_succeed, run_dirs, small_run};
use std::fmt::Write as _;

use serde_json::Value;

#[test]
fn the_summary_has_the_documented_shape_and_metrics_agree_with_it() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &["--seeds", "3", "--optimizers", "ngm-sgd,msgd"]));
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(out.path().join("summary.json")).unwrap()).unwrap();
    let rows = summary["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (row, optimizer) in rows.iter().zip(["ngm-sgd", "msgd"]) {
        assert_eq!(row["benchmark"], "split-digits");
        assert_eq!(row["optimizer"], optimizer);
        assert_eq!(row["seeds"], serde_json::json!([0, 1, 2]));
        for (metric, name) in [
            ("avg_acc", "avg-ACC"),
            ("avg_min_acc", "avg-min-ACC"),
            ("wc_acc", "WC-ACC"),
            ("avg_sg", "avg-SG"),
        ] {
            let reading = &row["mean_curve"][metric];
            assert!(reading["mean"].is_f64() && reading["pm"].is_f64(), "{metric}");
            let per_seed = &row["per_seed"][name];
            assert!(per_seed["mean"].is_f64() && per_seed["sd"].is_f64(), "{metric}");
            let ci: [f64; 2] = serde_json::from_value(per_seed["ci95"].clone()).unwrap();
            assert!(
                ci[0] <= per_seed["mean"].as_f64().unwrap() && per_seed["mean"].as_f64().unwrap() <= ci[1]
            );
        }
        assert_eq!(row["mean_curve"]["sg_per_transition"].as_array().unwrap().len(), 4);
        assert!(
            row["per_seed"]["newest task"]["mean"].is_f64() && row["per_seed"]["all seen"]["mean"].is_f64()
        );
        assert!(!row["programs"][0]["commit"].as_str().unwrap().is_empty());
        assert_eq!(row["paper"], Value::Null);
    }

    let json = must_succeed(evenkeel().arg("metrics").arg(out.path()).args(["--format", "json"]));
    assert_eq!(serde_json::from_slice::<Value>(&json.stdout).unwrap(), summary);

    let csv = must_succeed(evenkeel().arg("metrics").arg(out.path()).args(["--format", "csv"]));
    let mut reader = csv::Reader::from_reader(&csv.stdout[..]);
    let column = reader.headers().unwrap().iter().position(|name| name == "mean-curve avg-min-ACC").unwrap();
    let first = reader.records().next().unwrap().unwrap();
    assert_eq!(
        first[column].parse::<f64>().unwrap(),
        rows[0]["mean_curve"]["avg_min_acc"]["mean"].as_f64().unwrap()
    );

    let markdown = must_succeed(evenkeel().arg("metrics").arg(out.path()).args(["--format", "markdown"]));
    let markdown = String::from_utf8(markdown.stdout).unwrap();
    assert!(markdown.contains("| optimizer "), "{markdown}");
}

#[test]
fn curves_of_another_program_give_the_same_metrics() {
    let (out, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    must_succeed(&mut small_run(out.path(), &["--seeds", "2", "--optimizers", "sgd"]));
    let mut files = Vec::new();
    for (i, (_, text)) in curves(out.path()).iter().enumerate() {
        // Only what is required, in another order.
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let mut lines = String::from("task1_acc,iteration,task\n");
        for record in reader.records() {
            let record = record.unwrap();
            writeln!(lines, "{},{},{}", &record[2], &record[0], &record[1]).unwrap();
        }
        let path = foreign.path().join(format!("seed{i}.csv"));
        std::fs::write(&path, lines).unwrap();
        files.push(path);
    }
    let ours: Value =
        serde_json::from_str(&std::fs::read_to_string(out.path().join("summary.json")).unwrap()).unwrap();
    let theirs = must_succeed(evenkeel().arg("metrics").args(&files).args(["--format", "json"]));
    let theirs: Value = serde_json::from_slice(&theirs.stdout).unwrap();
    assert_eq!(ours["rows"][0]["mean_curve"], theirs["rows"][0]["mean_curve"]);
    for key in ["avg-ACC", "avg-min-ACC", "WC-ACC", "avg-SG", "gap width"] {
        assert_eq!(ours["rows"][0]["per_seed"][key], theirs["rows"][0]["per_seed"][key], "{key}");
    }
    assert_eq!(theirs["rows"][0]["per_seed"]["all seen"], Value::Null);
}

#[test]
fn the_curve_has_its_columns_and_task_ends_have_every_seen_task() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(
        out.path(),
        &["--seeds", "1", "--optimizers", "ngm-sgd", "--eval-every", "5"],
    ));
    let (_, text) = &curves(out.path())[0];
    let mut lines = text.lines();
    let header =
        "iteration,task,task1_acc,task1_loss,gain,entropy,train_loss,seen_acc,acc_2,acc_3,acc_4,acc_5";
    assert_eq!(lines.next(), Some(header));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    // Every fifth iteration, and the ends of tasks of 12.
    let iterations: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(iterations[..6], ["5", "10", "12", "15", "20", "24"]);
    let end = rows.iter().find(|row| row[0] == "36").unwrap();
    assert!(
        end[7..10].iter().all(|cell| cell.parse::<f64>().is_ok())
            && end[10..].iter().all(|cell| cell.is_empty())
    );
    assert!(rows.iter().find(|row| row[0] == "35").unwrap()[7].is_empty());
    assert!(end[4].parse::<f64>().unwrap() > 1.0);
}

#[test]
fn every_task_at_every_iteration_gives_the_all_task_metrics() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "2", "--optimizers", "sgd", "--set", "eval_all_tasks=true"];
    must_succeed(&mut small_run(out.path(), &arguments));
    let json = must_succeed(evenkeel().arg("metrics").arg(out.path()).args(["--format", "json"]));
    let summary: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!(summary["rows"][0]["per_seed"]["all-task WC-ACC"]["mean"].is_f64());
}

#[test]
fn an_experiment_file_with_replay_and_a_variant_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tonic.toml");
    let text = "benchmark = 'split-digits'\nseeds = 1\niterations = 8\nbatch = 16\nhidden = [16]\neval_samples = 50\n\
                replay = 100\nclass_order = [9, 8, 7, 6, 5, 4]\noptimizers = ['ngm-sgd', 'tonic']\n\
                [optimizer.tonic]\nbase = 'ngm-sgd'\neta = 0\n";
    std::fs::write(&file, text).unwrap();
    // Without --out the results lie in runs/ and the file's name.
    must_succeed(evenkeel().current_dir(folder.path()).arg("run").arg(&file));
    let out = folder.path().join("runs/tonic");
    assert_eq!(run_dirs(&out).len(), 2);
    let (_, tonic) = curves(&out).into_iter().find(|(name, _)| name.starts_with("tonic")).unwrap();
    assert_eq!(tonic.lines().count(), 1 + 3 * 8);
    for row in tonic.lines().skip(1) {
        assert_eq!(row.split(',').nth(4), Some("1"));
    }
}

#[test]
fn every_subcommand_has_help_and_lists_and_completions_work() {
    for command in ["run", "tune", "status", "metrics", "data", "list", "bench", "completions", "worker"] {
        let help = must_succeed(evenkeel().args([command, "--help"]));
        assert!(String::from_utf8_lossy(&help.stdout).contains("Usage: evenkeel"));
    }
    let list = String::from_utf8(must_succeed(evenkeel().arg("list")).stdout).unwrap();
    for name in [
        "split-mnist",
        "rotated-mnist",
        "split-fashion",
        "split-digits",
        "ngm-sgd",
        "adam-reset",
        "beta2=0.999",
    ] {
        assert!(list.contains(name), "{name}");
    }
    let completions = must_succeed(evenkeel().args(["completions", "bash"]));
    assert!(String::from_utf8_lossy(&completions.stdout).contains("_evenkeel"));
    let data = String::from_utf8(must_succeed(evenkeel().args(["data", "list"])).stdout).unwrap();
    assert!(
        data.contains("mnist          not here") && data.contains("digits         made on the spot"),
        "{data}"
    );
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    for arguments in [&["list"][..], &["data", "list"], &["completions", "zsh"], &["--help"]] {
        let mut child =
            evenkeel().args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        assert!(output.status.success(), "{arguments:?}: {:?}", output.status);
    }
}

/// Every interval of a folder, as one command after the other shows it.
#[test]
fn every_command_gives_the_same_interval_and_none_has_one_for_two_seeds() {
    let (out, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (seeds, with_interval) in [("2", false), ("4", true)] {
        let run = must_succeed(&mut small_run(out.path(), &["--seeds", seeds, "--optimizers", "msgd,sgd"]));
        let metrics = must_succeed(evenkeel().arg("metrics").arg(out.path()));
        let page = made.path().join("report.html");
        let tables = made.path().join("tables");
        must_succeed(
            evenkeel().arg("report").arg(out.path()).arg("-o").arg(&page).arg("--tables").arg(&tables),
        );
        let read =
            |table: &str| std::fs::read_to_string(tables.join(format!("split-digits-{table}.md"))).unwrap();
        let summary: Value =
            serde_json::from_str(&std::fs::read_to_string(out.path().join("summary.json")).unwrap()).unwrap();
        let own = &summary["rows"][0]["per_seed"]["avg-min-ACC"];
        let difference = &summary["comparisons"][0]["differences"];
        let difference =
            difference.as_array().unwrap().iter().find(|d| d["quantity"] == "avg-min-ACC").unwrap();
        let texts = [
            String::from_utf8(run.stdout).unwrap(),
            String::from_utf8(metrics.stdout).unwrap(),
            read("per-seed") + &read("compared"),
        ];
        let number = |value: &Value| value.as_f64().unwrap();
        if !with_interval {
            assert!(own["ci95"].is_null() && difference["interval"]["ci95"].is_null());
            assert!(difference["p"].is_null() && summary["comparisons"][0]["verdict"] == "not-tested");
            // A bracket between digits would be an interval.
            assert!(texts.iter().all(|text| !text.contains(" [")), "{texts:?}");
            continue;
        }
        let ci = &difference["interval"]["ci95"];
        let shown = format!(
            "{:+.2} [{:+.2}, {:+.2}]",
            number(&difference["interval"]["mean"]),
            number(&ci[0]),
            number(&ci[1])
        );
        let own = format!(
            "{:.2} [{:.2}, {:.2}]",
            number(&own["mean"]),
            number(&own["ci95"][0]),
            number(&own["ci95"][1])
        );
        for text in &texts {
            assert!(text.contains(&shown) && text.contains(&own), "{shown} and {own} are not in {text}");
        }
        let page = std::fs::read_to_string(page).unwrap();
        let page = page.replace("<span class=\"ci\">", "");
        assert!(page.contains(&shown) && page.contains(&own), "the page");
        let other = must_succeed(evenkeel().arg("metrics").arg(out.path()).args(["--against", "sgd"]));
        assert!(String::from_utf8(other.stdout).unwrap().contains("SGD minus the others"));
    }
}
