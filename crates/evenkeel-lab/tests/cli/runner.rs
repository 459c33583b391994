//! The runner with real processes: interruption, two runners on one folder, failing disks, diverging runs.

use std::process::Stdio;
use std::time::Duration;

use crate::common::{curves, evenkeel, must_fail, must_succeed, run_dirs, small_run, unfinish};

#[test]
fn two_runners_on_one_folder_give_what_one_gives() {
    let (shared, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["--seeds", "4", "--optimizers", "sgd,msgd", "--set", "iterations=40"];
    let start =
        || small_run(shared.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let (a, b) = (start(), start());
    for runner in [a, b] {
        let output = runner.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    must_succeed(&mut small_run(alone.path(), &arguments));
    assert_eq!(curves(shared.path()).len(), 8);
    assert_eq!(curves(shared.path()), curves(alone.path()));
}

#[test]
fn a_run_that_a_process_works_on_is_not_run_by_another() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(
        out.path(),
        &["--seeds", "1", "--optimizers", "sgd", "--set", "iterations=2000"],
    ));
    let dir = run_dirs(out.path()).remove(0);
    unfinish(&dir);
    let mut first = evenkeel().arg("worker").arg(&dir).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(first.stdout.take().unwrap()), &mut line)
        .unwrap();
    let message = must_fail(evenkeel().arg("worker").arg(&dir), 11);
    assert!(message.contains("another process works on this run"), "{message}");
    assert!(first.try_wait().unwrap().is_none(), "the first worker was done before the second one asked");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_says_how_to_go_on_and_the_same_command_finishes() {
    let (stopped, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["--seeds", "2", "--optimizers", "ngm-sgd", "--set", "iterations=400", "--jobs", "2"];
    let runner =
        small_run(stopped.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // Until both runs have rows, but are far from their end.
    let begun = || {
        let dirs = run_dirs(stopped.path());
        let rows = |dir: &std::path::PathBuf| {
            std::fs::read_to_string(dir.join("curve.csv")).unwrap_or_default().lines().count()
        };
        dirs.len() == 2 && dirs.iter().all(|dir| rows(dir) > 20)
    };
    for _ in 0..600 {
        if begun() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(begun(), "the runs did not get going");
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &runner.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let output = runner.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("The same command goes on where it was."), "{message}");
    for dir in run_dirs(stopped.path()) {
        assert!(dir.join("checkpoint.bin").exists());
    }
    must_succeed(&mut small_run(stopped.path(), &arguments));
    must_succeed(&mut small_run(whole.path(), &arguments));
    assert_eq!(curves(stopped.path()), curves(whole.path()));
}

#[test]
fn a_diverging_run_is_recorded_and_the_others_go_on() {
    let out = tempfile::tempdir().unwrap();
    let output = must_succeed(&mut small_run(
        out.path(),
        &["--seeds", "1", "--optimizers", "sgd,adam", "--set", "sgd.lr=1e30"],
    ));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    // It is counted as the worst value, and its number is shown.
    let row =
        table.lines().find(|line| line.trim_start().starts_with("SGD ") && line.contains("1.000")).unwrap();
    assert_eq!(
        row.split_whitespace().collect::<Vec<_>>(),
        ["SGD", "1", "1", "0.00", "0.00", "0.00", "1.000"]
    );
    assert!(table.contains("Adam"));
    let sgd =
        run_dirs(out.path()).into_iter().find(|dir| dir.to_string_lossy().contains("sgd-seed0")).unwrap();
    let record: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(sgd.join("run.json")).unwrap()).unwrap();
    assert_eq!(record["status"], "diverged");
    assert!(record["reason"].as_str().unwrap().contains("loss is"));
}

#[test]
fn a_folder_that_cannot_be_written_is_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let message = must_fail(&mut small_run(&file.join("runs"), &["--seeds", "1"]), 1);
    assert!(message.contains("cannot use the folder for the results (--out)"), "{message}");
    assert!(message.contains("file/runs"), "{message}");
}

/// A limit on the size of files stands for a full disk: writes fail after so many bytes.
#[cfg(unix)]
#[test]
fn a_full_disk_fails_that_run_and_loses_no_finished_row() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "1", "--optimizers", "sgd", "--set", "iterations=60"];
    let command = small_run(out.path(), &arguments);
    let line: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|argument| format!("'{}'", argument.to_string_lossy()))
        .collect();
    // Blocks of 512 or 1024 bytes, as the shell has it: enough for the description, not for the curve.
    let script = format!("trap '' XFSZ; ulimit -f 8; {}", line.join(" "));
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", &script]).env("EVENKEEL_DATA", std::env::temp_dir().join("evenkeel-test-no-data"));
    let message = must_fail(&mut limited, 1);
    assert!(message.contains("curve.csv: File too large"), "{message}");
    assert!(message.contains("the same command tries them again"), "{message}");
    let rows = std::fs::read_to_string(run_dirs(out.path())[0].join("curve.csv")).unwrap().lines().count();
    assert!(rows > 20, "only {rows} rows survived");

    let whole = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &arguments));
    must_succeed(&mut small_run(whole.path(), &arguments));
    assert_eq!(curves(out.path()), curves(whole.path()));
}

#[test]
fn status_tells_how_far_every_run_is() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &["--seeds", "2", "--optimizers", "sgd"]));
    let output = must_succeed(evenkeel().arg("status").arg(out.path()));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("2 of 2 runs ended"), "{text}");
    // A line for both.
    assert_eq!(text.matches("split-digits").count(), 1, "{text}");
    let output = must_succeed(evenkeel().arg("status").arg(out.path()).arg("--runs"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.matches("split-digits").count(), 2, "{text}");
    let output = must_succeed(evenkeel().arg("status").arg(out.path()).arg("--json"));
    let runs: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&runs[1]["status"], &runs[1]["iteration"]), (&"done".into(), &60.into()));
}
