//! Malformed input: one line that names the file and the reason, exit code 2, no panic.

use std::path::Path;

use crate::common::{evenkeel, must_fail, must_succeed, run_dirs, small_run, unfinish};

#[track_caller]
fn one_line(stderr: &str, parts: &[&str]) {
    let errors: Vec<&str> = stderr.lines().filter(|line| line.starts_with("error:")).collect();
    assert_eq!(errors.len(), 1, "{stderr}");
    for part in parts {
        assert!(errors[0].contains(part), "{:?} lacks {part:?}", errors[0]);
    }
}

fn idx_images(count: u32, pixels: &[u8]) -> Vec<u8> {
    [&[0, 0, 8, 3][..], &count.to_be_bytes(), &2_u32.to_be_bytes(), &2_u32.to_be_bytes(), pixels].concat()
}

fn idx_labels(labels: &[u8]) -> Vec<u8> {
    [&[0, 0, 8, 1][..], &(labels.len() as u32).to_be_bytes(), labels].concat()
}

/// A valid data set of the user's with four images of 2×2 pixels in two classes.
fn write_idx(folder: &Path) {
    let pixels: Vec<u8> = (0..16).collect();
    for part in ["train", "t10k"] {
        std::fs::write(folder.join(format!("{part}-images-idx3-ubyte")), idx_images(4, &pixels)).unwrap();
        std::fs::write(folder.join(format!("{part}-labels-idx1-ubyte")), idx_labels(&[0, 1, 0, 1])).unwrap();
    }
}

#[test]
fn a_network_that_no_memory_holds_is_refused_with_its_size() {
    let out = tempfile::tempdir().unwrap();
    let hidden = format!("hidden=[{}]", ["100000"; 100].join(","));
    let message = must_fail(small_run(out.path(), &["--seeds", "1"]).args(["--set", &hidden]), 2);
    one_line(
        &message,
        &["MLP with these settings needs at least 15", "GB of memory", "choose a smaller network"],
    );
    assert!(run_dirs(out.path()).is_empty(), "nothing was begun");
}

#[test]
fn idx_files_of_ones_own_run_and_broken_ones_are_named() {
    let (data, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_idx(data.path());
    let setting = format!("data=idx:{}", data.path().display());
    let run = || {
        let arguments =
            ["--seeds", "1", "--optimizers", "sgd", "--set", &setting, "--set", "classes_per_task=1"];
        small_run(out.path(), &arguments)
    };
    must_succeed(&mut run());
    let mut resnet = run();
    one_line(
        &must_fail(resnet.args(["--set", "model=slim-resnet18"]), 2),
        &["square images of at least 25×25", "2×2"],
    );

    let pixels: Vec<u8> = (0..16).collect();
    let images = "train-images-idx3-ubyte";
    let broken: [(&str, Vec<u8>, &str); 4] = [
        (images, idx_images(4, &pixels[..10]), "truncated"),
        (images, idx_labels(&[0; 20]), "wrong magic number"),
        (images, idx_images(3, &pixels[..12]), "4"),
        ("t10k-labels-idx1-ubyte", idx_labels(&[0, 1, 0, 7]), "label 7"),
    ];
    for (file, bytes, reason) in broken {
        write_idx(data.path());
        std::fs::write(data.path().join(file), bytes).unwrap();
        one_line(&must_fail(&mut run(), 2), &[file, reason]);
    }
    std::fs::remove_file(data.path().join(images)).unwrap();
    one_line(&must_fail(&mut run(), 2), &[images]);
}

#[test]
fn mistakes_on_the_command_line_and_in_experiment_files() {
    let out = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&["--optimizers", "sdg"], "there is no optimizer 'sdg'; did you mean 'sgd'?"),
        (&["--seeds", "none"], "seeds 'none'"),
        (&["--set", "batsch=3"], "unknown key 'batsch'; did you mean 'batch'?"),
        (&["--set", "ngm-sgd.gamma=1"], "gamma must be in [0, 1), got 1"),
        (&["--device", "cuda"], "device: 'cuda' is not in this build"),
        (&["--set", "classes_per_task=3"], "10 classes do not divide into tasks of 3"),
        (&["--set", "class_order=[1,2,3]"], "class_order: 3 classes do not divide into tasks of 2"),
        (&["--set", "classes_per_task=10"], "these settings give one task only"),
        (&["--set", "batch=1000000000000"], "batch: must be at most 1000000"),
    ];
    for (arguments, reason) in cases {
        one_line(&must_fail(&mut small_run(out.path(), arguments), 2), &[reason]);
    }
    one_line(&must_fail(evenkeel().args(["run", "split-mnits"]), 2), &["did you mean 'split-mnist'?"]);

    let file = out.path().join("experiment.toml");
    for (text, reason) in [
        (
            "benchmark = 'split-digits'\nitterations = 3",
            "unknown key 'itterations'; did you mean 'iterations'?",
        ),
        ("benchmark = 'split-digits'\nbatch = = 3", "line 2"),
        ("benchmark = 'split-digits'\nbatch = 'many'", "batch: invalid type"),
    ] {
        std::fs::write(&file, text).unwrap();
        one_line(&must_fail(evenkeel().arg("run").arg(&file), 2), &["experiment.toml", reason]);
    }
    one_line(&must_fail(evenkeel().args(["run", "missing.toml"]), 2), &["missing.toml"]);
}

#[test]
fn a_curve_with_a_hole_or_nonsense_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("curve.csv");
    let cases = [
        ("iteration,task,task1_acc\n1,1,90\n2,1,91\n3,1,\n4,2,80\n", "curve.csv:4: task1_acc is empty"),
        ("iteration,task,task1_acc\n1,1,90\n2,1,91\n3,1,92\n7,2,80\n8,2,90\n", "curve.csv:5:"),
        ("iteration,task\n1,1\n", "task1_acc"),
        ("iteration,task,task1_acc\n1,1,900\n2,2,90\n", "curve.csv:2:"),
        ("", "curve.csv"),
    ];
    for (text, reason) in cases {
        std::fs::write(&file, text).unwrap();
        one_line(&must_fail(evenkeel().arg("metrics").arg(&file), 2), &[reason]);
    }
    one_line(&must_fail(evenkeel().args(["metrics", "missing.csv"]), 2), &["missing.csv"]);
    one_line(&must_fail(evenkeel().arg("metrics").arg(folder.path()), 2), &["holds no runs"]);
    one_line(&must_fail(evenkeel().args(["status", "missing"]), 2), &["missing: no such folder"]);
}

#[test]
fn a_checkpoint_or_description_of_another_run_is_refused() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "2", "--optimizers", "sgd", "--set", "iterations=1000"];
    must_succeed(&mut small_run(out.path(), &arguments));
    let dirs = run_dirs(out.path());
    // As if both runs had been interrupted.
    for dir in &dirs {
        unfinish(dir);
    }
    std::fs::write(dirs[0].join("checkpoint.bin"), b"evenkeel checkpoint 2\n{}\n").unwrap();
    let worker = |dir: &Path| {
        let mut command = evenkeel();
        command.arg("worker").arg(dir);
        command
    };
    one_line(&must_fail(&mut worker(&dirs[0]), 2), &["checkpoint.bin", "not a whole checkpoint"]);

    // A real checkpoint, of the other run: stop a worker of seed 1 and move its checkpoint to seed 0.
    let mut child = worker(&dirs[1])
        .args(["--checkpoint-seconds", "0"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    while !dirs[1].join("checkpoint.bin").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the worker ended without a checkpoint");
    }
    let checkpoint = std::fs::read(dirs[1].join("checkpoint.bin")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(dirs[0].join("checkpoint.bin"), checkpoint).unwrap();
    one_line(&must_fail(&mut worker(&dirs[0]), 2), &["checkpoint.bin", "belongs to run"]);

    // The same through the runner: the worker's verdict on its input is the command's.
    one_line(&must_fail(&mut small_run(out.path(), &arguments), 2), &["checkpoint.bin", "belongs to run"]);

    std::fs::copy(dirs[1].join("run.json"), dirs[0].join("run.json")).unwrap();
    let run = small_run(out.path(), &arguments).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    one_line(&String::from_utf8_lossy(&run.stderr), &["run.json: describes another run"]);
    std::fs::write(dirs[0].join("run.json"), "{").unwrap();
    // Others of its folder are shown, so that it is a failure and not the whole input that is bad.
    let message = must_fail(evenkeel().arg("status").arg(out.path()), 1);
    assert!(message.contains("run.json: not a run description"), "{message}");
}

#[test]
fn data_that_is_not_there_is_one_clear_message() {
    let (empty, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut command = evenkeel();
    command
        .args(["run", "split-mnist", "--out"])
        .arg(out.path())
        .env("EVENKEEL_DATA", empty.path())
        // Nobody answers there, and no npm client is found.
        .env("HTTPS_PROXY", "http://127.0.0.1:9")
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .env_remove("ALL_PROXY")
        .env_remove("NO_PROXY")
        .env("PATH", "");
    let message = must_fail(&mut command, 1);
    one_line(&message, &["train-images-idx3-ubyte", "tried", "EVENKEEL_DATA"]);
}
