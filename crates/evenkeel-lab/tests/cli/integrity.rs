//! Nothing silently wrong: damaged files are named, results survive a closed or full stderr, and workers that are stopped are told of.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{curves, evenkeel, flat, must_fail, must_succeed, run_dirs, small_run};

const TWO: [&str; 4] = ["--seeds", "3", "--optimizers", "sgd,msgd"];

#[test]
fn a_finished_run_with_a_changed_file_is_named_and_the_others_count() {
    let out = tempfile::tempdir().unwrap();
    let arguments = [&TWO[..], &["--set", "train_acc=true"]].concat();
    must_succeed(&mut small_run(out.path(), &arguments));
    let dir = run_dirs(out.path()).into_iter().find(|dir| is_run(dir, "sgd-seed1")).unwrap();
    for file in ["curve.csv", "extra.csv"] {
        let whole = std::fs::read(dir.join(file)).unwrap();
        let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        // A digit, the last row, everything.
        let digit = whole.iter().rposition(u8::is_ascii_digit).unwrap();
        let mut changed = whole.clone();
        changed[digit] = if whole[digit] == b'7' { b'8' } else { b'7' };
        for damaged in [changed, whole[..last_line].to_vec(), Vec::new()] {
            std::fs::write(dir.join(file), damaged).unwrap();
            let output = evenkeel().arg("metrics").arg(out.path()).output().unwrap();
            let table = flat(&String::from_utf8(output.stdout).unwrap());
            assert_eq!(output.status.code(), Some(1), "{table}");
            for word in ["not counted", "sgd seed 1", file, "was changed", "delete the folder", "--seeds 1"] {
                assert!(table.contains(word), "no '{word}' in {table}");
            }
            let mut report = evenkeel();
            report.arg("report").arg(out.path()).arg("-o").arg(out.path().join("page.html"));
            assert!(must_fail(&mut report, 1).contains("was changed"));
            let mut export = evenkeel();
            export.arg("export").arg(out.path()).arg("--parquet").arg(out.path().join("all.parquet"));
            assert!(must_fail(&mut export, 1).contains("5 curves written"));
            let again = small_run(out.path(), &arguments).output().unwrap();
            assert_eq!(again.status.code(), Some(1));
            assert!(flat(&String::from_utf8_lossy(&again.stdout)).contains("was changed"));
        }
        std::fs::write(dir.join(file), whole).unwrap();
    }
    must_succeed(evenkeel().arg("metrics").arg(out.path()));
    std::fs::remove_file(dir.join("extra.csv")).unwrap();
    assert_eq!(evenkeel().arg("metrics").arg(out.path()).output().unwrap().status.code(), Some(1));

    // What the message says helps.
    let before = curves(out.path());
    std::fs::remove_dir_all(&dir).unwrap();
    must_succeed(&mut small_run(out.path(), &arguments));
    assert_eq!(curves(out.path()), before);
}

#[test]
fn a_finished_run_may_be_compressed_and_is_checked_as_before() {
    let out = tempfile::tempdir().unwrap();
    let arguments = [&TWO[..], &["--set", "train_acc=true"]].concat();
    must_succeed(&mut small_run(out.path(), &arguments));
    let before = must_succeed(evenkeel().arg("metrics").arg(out.path())).stdout;
    let parquet = |to: &Path| must_succeed(evenkeel().arg("export").arg(out.path()).arg("--parquet").arg(to));
    parquet(&out.path().join("plain.parquet"));
    for dir in run_dirs(out.path()) {
        for file in ["curve.csv", "extra.csv"] {
            assert!(Command::new("gzip").arg("-9n").arg(dir.join(file)).status().unwrap().success());
        }
    }
    assert_eq!(must_succeed(evenkeel().arg("metrics").arg(out.path())).stdout, before);
    parquet(&out.path().join("packed.parquet"));
    let bytes = |name: &str| std::fs::read(out.path().join(name)).unwrap();
    assert_eq!(bytes("plain.parquet"), bytes("packed.parquet"));
    // Nothing is done again, and a page is made.
    must_succeed(&mut small_run(out.path(), &arguments));
    assert!(run_dirs(out.path()).iter().all(|dir| !dir.join("curve.csv").exists()));
    must_succeed(evenkeel().arg("report").arg(out.path()).arg("-o").arg(out.path().join("page.html")));

    let dir = run_dirs(out.path()).into_iter().find(|dir| is_run(dir, "sgd-seed1")).unwrap();
    for file in ["curve.csv", "extra.csv"] {
        let packed = dir.join(format!("{file}.gz"));
        let whole = std::fs::read(&packed).unwrap();
        let other = out.path().join("other");
        std::fs::write(&other, "iteration,task,task1_acc\n1,1,99\n").unwrap();
        assert!(Command::new("gzip").arg("-n").arg(&other).status().unwrap().success());
        let other = std::fs::read(out.path().join("other.gz")).unwrap();
        std::fs::remove_file(out.path().join("other.gz")).unwrap();
        for damaged in [&whole[..whole.len() / 2], &other[..], &[]] {
            std::fs::write(&packed, damaged).unwrap();
            let output = evenkeel().arg("metrics").arg(out.path()).output().unwrap();
            let table = flat(&String::from_utf8(output.stdout).unwrap());
            assert_eq!(output.status.code(), Some(1), "{table}");
            assert!(table.contains("sgd seed 1") && table.contains("delete the folder"), "{table}");
        }
        std::fs::write(&packed, whole).unwrap();
    }
}

fn is_run(dir: &Path, name: &str) -> bool {
    dir.file_name().unwrap().to_string_lossy().starts_with(name)
}

#[test]
fn one_description_that_cannot_be_read_hides_no_other_run() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &TWO));
    let dir = run_dirs(out.path()).into_iter().find(|dir| is_run(dir, "sgd-seed1")).unwrap();
    std::fs::write(dir.join("run.json"), "{").unwrap();
    let page = out.path().join("page.html");
    let commands: [(&[&str], &str); 3] = [
        (&["status"], "5 of 5 runs ended"),
        (&["metrics"], "seeds"),
        (&["report", "-o", page.to_str().unwrap()], ""),
    ];
    for (arguments, shown) in commands {
        let output = evenkeel().args(arguments).arg(out.path()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("sgd-seed1") && said.contains("run.json: not a run description"), "{said}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(shown), "{arguments:?}");
    }
    assert!(std::fs::read_to_string(page).unwrap().contains("msgd"));
}

#[test]
fn a_description_with_a_changed_byte_is_refused() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    let path = run_dirs(out.path())[0].join("run.json");
    let whole = std::fs::read(&path).unwrap();
    for i in (0..whole.len()).step_by(7) {
        let mut changed = whole.clone();
        changed[i] ^= 2;
        // White space between words means nothing.
        if whole[i].is_ascii_whitespace() {
            continue;
        }
        std::fs::write(&path, changed).unwrap();
        let message = must_fail(evenkeel().arg("status").arg(out.path()), 2);
        assert!(message.contains("run.json: "), "byte {i}: {message}");
    }
}

#[test]
fn a_curve_that_was_changed_before_its_checkpoint_is_not_continued() {
    let out = tempfile::tempdir().unwrap();
    let arguments =
        ["--seeds", "1", "--optimizers", "sgd", "--set", "iterations=400", "--set", "train_acc=true"];
    let mut runner = small_run(out.path(), &arguments);
    runner.args(["--checkpoint-seconds", "0"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut runner = runner.spawn().unwrap();
    let checkpoint = |out: &Path| run_dirs(out).first().map(|dir| dir.join("checkpoint.bin"));
    wait_until(|| checkpoint(out.path()).is_some_and(|path| path.exists()));
    signal("INT", runner.id());
    assert_eq!(runner.wait().unwrap().code(), Some(130));
    let dir = run_dirs(out.path()).remove(0);
    for file in ["curve.csv", "extra.csv"] {
        let path = dir.join(file);
        let whole = std::fs::read(&path).unwrap();
        for i in [0, whole.len() / 3, whole.len() / 2] {
            let mut changed = whole.clone();
            changed[i] ^= 1;
            std::fs::write(&path, changed).unwrap();
            let message = must_fail(&mut small_run(out.path(), &arguments), 2);
            assert!(
                message.contains(&format!("{file}: differs from what its checkpoint has seen")),
                "{message}"
            );
            assert!(message.contains("delete checkpoint.bin"), "{message}");
        }
        std::fs::write(&path, whole).unwrap();
    }
    must_succeed(&mut small_run(out.path(), &arguments));
    let undisturbed = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(undisturbed.path(), &arguments));
    assert_eq!(curves(out.path()), curves(undisturbed.path()));
}

#[test]
fn a_name_in_a_file_leads_nowhere_else() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    let dir = run_dirs(out.path()).remove(0);
    for benchmark in ["../../../outside", "/tmp/evenkeel-outside", "..", "a/../../b"] {
        let mut record: Value =
            serde_json::from_slice(&std::fs::read(dir.join("run.json")).unwrap()).unwrap();
        record["spec"]["benchmark"] = benchmark.into();
        record["status"] = "unfinished".into();
        let spec: evenkeel_lab::spec::RunSpec = serde_json::from_value(record["spec"].clone()).unwrap();
        record["id"] = spec.id().into();
        for key in ["files", "sha256"] {
            record.as_object_mut().unwrap().remove(key);
        }
        std::fs::write(dir.join("run.json"), serde_json::to_vec(&record).unwrap()).unwrap();
        let room = tempfile::tempdir().unwrap();
        let inside = room.path().join("a/b/c/tb");
        must_succeed(evenkeel().arg("export").arg(out.path()).arg("--tensorboard").arg(&inside));
        let mut found = Vec::new();
        files_below(room.path(), &mut found);
        assert_eq!(found.len(), 1, "{benchmark}: {found:?}");
        assert!(found[0].starts_with(&inside), "{benchmark}: {found:?}");
        assert!(!Path::new("/tmp/evenkeel-outside").exists());
    }
}

fn files_below(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files_below(&path, found) } else { found.push(path) }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_survive_a_stderr_that_cannot_be_written() {
    let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
    for closed in [true, false] {
        let out = tempfile::tempdir().unwrap();
        let mut command = small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd,nesterov"]);
        command.stdout(Stdio::piped()).stderr(if closed { Stdio::piped() } else { full() });
        let mut child = command.spawn().unwrap();
        drop(child.stderr.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "closed: {closed}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("Nesterov"));
        assert!(out.path().join("summary.json").is_file());
    }
    // An error that nobody can read is still an exit code.
    let mut refused = evenkeel();
    refused.args(["run", "no-such-benchmark"]).stderr(full());
    assert_eq!(refused.status().unwrap().code(), Some(2));
}

fn wait_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_mins(1), "it does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{name}"), &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// The processes that a process has started.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
    let lists = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_alone_is_told_to_stop_is_a_failure_with_a_name() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "1", "--optimizers", "sgd", "--set", "iterations=2000"];
    let runner =
        small_run(out.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(|| run_dirs(out.path()).first().is_some_and(|dir| dir.join("curve.csv").exists()));
    signal("TERM", children(runner.id())[0]);
    let output = runner.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("sgd-seed0") && message.contains("was told to stop"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_stands_still_does_not_hold_up_the_end() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "1", "--optimizers", "sgd", "--set", "iterations=2000"];
    let runner =
        small_run(out.path(), &arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until(|| run_dirs(out.path()).first().is_some_and(|dir| dir.join("curve.csv").exists()));
    signal("STOP", children(runner.id())[0]);
    signal("INT", runner.id());
    let output = runner.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
}
