//! Same spec, same bytes: whatever the threads, and after being killed at any time.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

use crate::common::{curves, evenkeel, must_succeed, run_dirs, small_run, unfinish};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const ALL: &str = "ngm-sgd,msgd,adam,sgd,msgd-reset,adam-reset";

#[test]
fn one_and_two_threads_and_another_number_of_jobs_give_the_same_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let size = ["--seeds", "1", "--optimizers", ALL, "--set", "hidden=[200,100]", "--set", "batch=64"];
    let with = |more: &[&'static str]| [&size[..], more].concat();
    must_succeed(&mut small_run(one.path(), &with(&["--threads", "1", "--jobs", "2"])));
    must_succeed(&mut small_run(two.path(), &with(&["--threads", "2", "--jobs", "1"])));
    assert_eq!(curves(one.path()).len(), 6);
    assert_eq!(curves(one.path()), curves(two.path()));
}

#[test]
fn a_run_killed_at_random_iterations_resumes_to_the_same_bytes() {
    let (whole, killed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // With everything that can be recorded: it has to survive as well.
    let window = r#"curvature={"dense":2,"every":4,"after":10,"steps":2,"batches":1,"batch":16}"#;
    for optimizer in ["ngm-sgd", "adam-reset", "entropy-lr"] {
        let mut arguments = vec!["--seeds", "1", "--optimizers", optimizer];
        arguments.extend(["--set", "train_acc=true", "--set", window]);
        must_succeed(&mut small_run(whole.path(), &arguments));
    }
    // Only described here; the workers are started, and killed, by hand.
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut kills = 0;
    for dir in run_dirs(whole.path()) {
        let run = killed.path().join(dir.file_name().unwrap());
        std::fs::create_dir(&run).unwrap();
        std::fs::copy(dir.join("run.json"), run.join("run.json")).unwrap();
        unfinish(&run);
        loop {
            // A checkpoint after each iteration, or none before the next task: both must do.
            let seconds = if rng.random_bool(0.5) { "0" } else { "1000" };
            let mut worker = evenkeel()
                .arg("worker")
                .arg(&run)
                .args(["--checkpoint-seconds", seconds])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(worker.stdout.take().unwrap()).lines();
            let started = lines.map_while(Result::ok).next().is_some();
            // Sixty iterations take well under a second.
            std::thread::sleep(Duration::from_millis(rng.random_range(0..60)));
            worker.kill().unwrap();
            let status = worker.wait().unwrap();
            if status.success() {
                break;
            }
            kills += usize::from(started);
            assert!(kills < 500, "the run never comes to its end");
        }
    }
    assert!(kills >= 1, "no kill hit a running worker");
    assert_eq!(curves(whole.path()), curves(killed.path()));
    let extra = |dir: std::path::PathBuf| std::fs::read_to_string(dir.join("extra.csv")).unwrap();
    for (whole, killed) in run_dirs(whole.path()).into_iter().zip(run_dirs(killed.path())) {
        assert!(!killed.join("checkpoint.bin").exists());
        let rows = extra(whole);
        // Iterations 12 (the switch), 13, 14, 16, 20.
        assert_eq!(rows.matches("curvature_effective").count(), 5, "{rows}");
        assert_eq!(rows.matches("train_acc").count(), 60);
        assert_eq!(rows, extra(killed));
    }
}

#[test]
fn the_convolutional_network_is_reproducible_too() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let model = ["--seeds", "1", "--optimizers", "ngm-sgd,adam", "--set", "model=slim-resnet18"];
    let smaller = ["--set", "crop_padding=3", "--set", "iterations=2", "--set", "eval_samples=20"];
    let with = |more: &[&'static str]| [&model[..], &smaller, more].concat();
    let run = |out: &std::path::Path, arguments: &[&str]| {
        must_succeed(
            evenkeel().args(["run", "split-digits", "--set", "batch=9", "--out"]).arg(out).args(arguments),
        );
    };
    run(one.path(), &with(&["--threads", "1", "--jobs", "2"]));
    run(two.path(), &with(&["--threads", "2", "--jobs", "1"]));
    assert_eq!(curves(one.path()).len(), 2);
    assert_eq!(curves(one.path()), curves(two.path()));

    // Resume in the middle: weights, BatchNorm's running statistics and momentum come back from the checkpoint.
    let resumed = tempfile::tempdir().unwrap();
    let mut kills = 0;
    for dir in run_dirs(one.path()) {
        let run = resumed.path().join(dir.file_name().unwrap());
        std::fs::create_dir(&run).unwrap();
        std::fs::copy(dir.join("run.json"), run.join("run.json")).unwrap();
        unfinish(&run);
        loop {
            let mut worker = evenkeel()
                .arg("worker")
                .arg(&run)
                .args(["--checkpoint-seconds", "0"])
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let rows = || std::fs::read_to_string(run.join("curve.csv")).unwrap_or_default().lines().count();
            let before = rows();
            // Killed as soon as it has got two rows further.
            while rows() < before + 2 && worker.try_wait().unwrap().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            worker.kill().unwrap();
            if worker.wait().unwrap().success() {
                break;
            }
            kills += 1;
        }
    }
    assert!(kills >= 2, "only {kills} kills");
    assert_eq!(curves(one.path()), curves(resumed.path()));
}

#[test]
fn the_same_seed_pairs_optimizers_and_another_seed_differs() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(
        out.path(),
        &["--seeds", "2", "--optimizers", "ngm-sgd,sgd", "--set", "lr=0.05"],
    ));
    let row = |name: &str| {
        let curves = curves(out.path());
        let (_, text) = curves.iter().find(|(dir, _)| dir.starts_with(name)).unwrap();
        text.lines().nth(1).unwrap().to_string()
    };
    // Before the gain has moved, NGM-SGD at SGD's learning rate is SGD: same weights, same batch, same loss.
    let cells = |row: String| row.split(',').map(ToString::to_string).collect::<Vec<_>>();
    let (ngm, sgd) = (cells(row("ngm-sgd-seed0")), cells(row("sgd-seed0")));
    for column in [2, 5, 6] {
        assert_eq!(ngm[column], sgd[column]);
    }
    assert_ne!(row("sgd-seed0"), row("sgd-seed1"));
}

#[test]
fn the_same_command_again_does_nothing_and_more_seeds_do_only_the_new_ones() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    let modified = || {
        let curve = run_dirs(out.path())[0].join("curve.csv");
        std::fs::metadata(curve).unwrap().modified().unwrap()
    };
    let before = modified();
    let again = must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    assert!(String::from_utf8_lossy(&again.stderr).contains("1 run, 60 iterations in all, 0 to do"));
    let more = must_succeed(&mut small_run(out.path(), &["--seeds", "3", "--optimizers", "sgd"]));
    assert!(String::from_utf8_lossy(&more.stderr).contains("3 runs, 180 iterations in all, 2 to do"));
    assert_eq!(modified(), before);
}
