//! What people read in a terminal: it fits 80 columns, it gives the answer, and it does not pass over a slip in silence.

use crate::common::{evenkeel, flat, must_fail, must_succeed, run_dirs, small_run, unfinish};

/// Every command with help.
const COMMANDS: [&[&str]; 19] = [
    &[],
    &["run"],
    &["tune"],
    &["reproduce"],
    &["status"],
    &["metrics"],
    &["report"],
    &["serve"],
    &["export"],
    &["data"],
    &["data", "list"],
    &["data", "fetch"],
    &["data", "verify"],
    &["data", "path"],
    &["list"],
    &["bench"],
    &["completions"],
    &["man"],
    &["worker"],
];

#[track_caller]
fn fits(text: &[u8], what: &str) {
    let text = String::from_utf8_lossy(text);
    for line in text.lines() {
        // A folder's name is as long as it is; this test's lie deep below the temporary folder.
        let length = line.chars().count();
        assert!(
            length <= 80 || line.contains(std::env::temp_dir().to_str().unwrap()),
            "{what}: {length}: {line}"
        );
    }
}

#[test]
fn no_line_is_longer_than_80_characters() {
    let out = tempfile::tempdir().unwrap();
    let long = "split-digits-with-a-rather-long-name-of-a-variant";
    let file = out.path().join("experiment.toml");
    let text = format!(
        "benchmark = 'split-digits'\noptimizers = ['ngm-sgd', 'sgd', '{long}']\nseeds = 3\niterations = 12\n\
         eval_samples = 60\nhidden = [24, 16]\nbatch = 16\neval_all_tasks = true\n[optimizer.{long}]\nbase = 'adam'\n"
    );
    std::fs::write(&file, text).unwrap();
    let folder = out.path().join("runs");
    let run = must_succeed(evenkeel().arg("run").arg(&file).arg("--out").arg(&folder));
    fits(&run.stdout, "run");
    fits(&run.stderr, "run");
    unfinish(&run_dirs(&folder)[0]);
    for arguments in [&["metrics"][..], &["status"], &["status", "--runs"]] {
        let output = must_succeed(evenkeel().arg(arguments[0]).arg(&folder).args(&arguments[1..]));
        fits(&output.stdout, &arguments.join(" "));
    }
    for arguments in [&["list"][..], &["reproduce", "--list"], &["data", "list"], &[]] {
        fits(&must_succeed(evenkeel().args(arguments)).stdout, &arguments.join(" "));
    }
    for command in COMMANDS {
        for help in ["-h", "--help"] {
            let output = must_succeed(evenkeel().args(command).arg(help));
            fits(&output.stdout, &format!("{} {help}", command.join(" ")));
        }
    }
}

#[test]
fn a_run_ends_with_the_answer() {
    let out = tempfile::tempdir().unwrap();
    let arguments = ["--seeds", "3", "--optimizers", "ngm-sgd,msgd"];
    let run = must_succeed(&mut small_run(out.path(), &arguments));
    let text = flat(&String::from_utf8(run.stdout).unwrap());
    assert!(
        text.contains("has the smallest stability gap (avg-SG ") && text.contains(", 3 seeds): "),
        "{text}"
    );
    let json = must_succeed(small_run(out.path(), &arguments).args(["--json", "--quiet"]));
    assert!(json.stderr.is_empty(), "{}", String::from_utf8_lossy(&json.stderr));
    let summary: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let verdict = summary["rankings"][0]["verdict"].as_str().unwrap();
    assert!(text.contains(verdict), "{verdict} is not in {text}");
}

#[test]
fn a_dry_run_says_what_it_would_cost_and_leaves_nothing() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("runs");
    let plan = |extra: &[&str]| {
        let output = must_succeed(small_run(&folder, &["--seeds", "2", "--optimizers", "sgd"]).args(extra));
        flat(&String::from_utf8(output.stdout).unwrap())
    };
    let text = plan(&["--dry-run"]);
    assert!(text.contains("2 runs, 2 to do: sgd with seeds 0, 1; 60 iterations each"), "{text}");
    assert!(text.contains(" of disk; by a few iterations that were run now"), "{text}");
    assert!(!folder.exists());
    plan(&[]);
    assert!(plan(&["--dry-run"]).contains("2 runs, 0 to do"));
    let mnist = must_succeed(evenkeel().args(["run", "split-mnist", "--dry-run"]));
    assert!(
        flat(&String::from_utf8_lossy(&mnist.stdout))
            .contains("mnist is not here: it would be fetched first")
    );
}

#[test]
fn slips_are_spoken_of() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(&mut small_run(&out.path().join("runs"), &["--seeds", "1", "--optimizers", "sgd"]));
    let export = must_fail(evenkeel().arg("export").arg(out.path().join("runs")), 2);
    assert!(export.contains("nothing to write: name --parquet"), "{export}");
    let twice =
        must_succeed(&mut small_run(&out.path().join("runs"), &["--seeds", "1", "--optimizers", "sgd,sgd"]));
    assert!(String::from_utf8_lossy(&twice.stderr).contains("note: --optimizers names sgd twice"));
    let kernels = must_fail(evenkeel().arg("list").env("EVENKEEL_KERNELS", "avx1"), 2);
    assert!(
        kernels.contains("EVENKEEL_KERNELS=avx1: this processor has no such kernels; there are: "),
        "{kernels}"
    );
    let key = must_fail(evenkeel().args(["run", "split-digits", "--set", "zzz=1"]), 2);
    assert!(key.contains("unknown key 'zzz'; the nearest of ") && key.len() < 160, "{key}");
    let curve = out.path().join("curve.csv");
    std::fs::write(&curve, "iteration,task,task1_acc\n1,0,90\n2,1,90\n").unwrap();
    let order = must_fail(evenkeel().arg("metrics").arg(&curve), 2);
    assert_eq!(order.matches("cannot follow").count(), 1, "{order}");
}

#[test]
fn manual_pages_are_written() {
    let out = tempfile::tempdir().unwrap();
    must_succeed(evenkeel().arg("man").arg(out.path()));
    let page = std::fs::read_to_string(out.path().join("evenkeel-run.1")).unwrap();
    assert!(page.contains(".TH evenkeel-run") && page.contains("dry\\-run"), "{page}");
}
