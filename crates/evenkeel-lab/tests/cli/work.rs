//! Described runs, and any number of `evenkeel work` on them.

use std::process::Stdio;

use crate::common::{curves, evenkeel, must_fail, must_succeed, run_dirs, small_run};

#[test]
fn two_workers_on_one_folder_do_what_was_described() {
    let (shared, alone) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["--seeds", "3", "--optimizers", "sgd,ngm-sgd"];
    must_succeed(small_run(shared.path(), &arguments).arg("--describe"));
    assert_eq!(run_dirs(shared.path()).len(), 6);
    assert!(run_dirs(shared.path()).iter().all(|dir| !dir.join("curve.csv").exists()));

    let start = || {
        evenkeel()
            .arg("work")
            .arg(shared.path())
            .args(["--jobs", "1"])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for worker in [start(), start()] {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    must_succeed(&mut small_run(alone.path(), &arguments));
    assert_eq!(curves(shared.path()), curves(alone.path()));
    let summary =
        |folder: &tempfile::TempDir| std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    assert_eq!(summary(&shared), summary(&alone));
    assert!(run_dirs(shared.path()).iter().all(|dir| !dir.join("lease.json").exists()));
}

#[test]
fn a_folder_keeps_the_kernels_that_it_was_described_for() {
    let (pinned, forced) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arguments = ["--seeds", "1", "--optimizers", "sgd"];
    must_succeed(small_run(pinned.path(), &arguments).args(["--describe", "--kernels", "portable"]));
    must_succeed(evenkeel().arg("work").arg(pinned.path()));
    must_succeed(small_run(forced.path(), &arguments).env("EVENKEEL_KERNELS", "portable"));
    assert_eq!(curves(pinned.path()), curves(forced.path()));
    let record = std::fs::read_to_string(run_dirs(pinned.path())[0].join("run.json")).unwrap();
    assert!(record.contains(r#""kernels": "portable""#), "{record}");

    let message = must_fail(small_run(pinned.path(), &arguments).args(["--kernels", "abacus"]), 2);
    assert!(message.contains("this processor has portable"), "{message}");
}

#[test]
fn kernels_that_this_processor_lacks_are_refused_with_the_way_out() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]).arg("--describe"));
    let path = run_dirs(out.path())[0].join("run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record["machine"]["kernels"] = "sve4".into();
    record.as_object_mut().unwrap().remove("sha256");
    std::fs::write(&path, serde_json::to_vec(&record).unwrap()).unwrap();
    let message = must_fail(evenkeel().arg("work").arg(out.path()), 2);
    assert!(message.contains("'sve4'") && message.contains("--kernels"), "{message}");
}

#[test]
fn a_dry_submission_prints_the_scripts_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("runs");
    let output = must_succeed(
        evenkeel()
            .args([
                "submit",
                "slurm",
                "split-digits",
                "--tasks",
                "7",
                "--time",
                "02:00:00",
                "--dry-run",
                "--out",
            ])
            .arg(&out),
    );
    let scripts = String::from_utf8(output.stdout).unwrap();
    assert!(
        scripts.contains("#SBATCH --array=1-7") && scripts.contains("#SBATCH --time=02:00:00"),
        "{scripts}"
    );
    assert!(!out.exists());
    must_fail(evenkeel().args(["submit", "slurm", "split-digits", "--partition", "a\nrm -rf b"]), 2);
}
