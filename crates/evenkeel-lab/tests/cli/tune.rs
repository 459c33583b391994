//! `evenkeel tune`: the search as a process, what it leaves, and that the same command does not search again.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{curves, evenkeel, flat, must_fail, must_succeed, run_dirs};

fn small_tune(out: &Path, extra: &[&str]) -> Command {
    let mut command = evenkeel();
    command
        .args([
            "tune",
            "split-digits",
            "--iterations",
            "8",
            "--eval-samples",
            "60",
            "--optimizers",
            "ngm-sgd,sgd",
        ])
        .args(["--set", "hidden=[24,16]", "--set", "batch=16", "--seeds", "2", "--out"])
        .arg(out)
        .args(extra);
    command
}

fn result(out: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(out.join("tune.json")).unwrap()).unwrap()
}

#[test]
fn a_grid_chooses_by_its_score_and_the_file_runs_on_other_seeds() {
    let out = tempfile::tempdir().unwrap();
    // 1e30 diverges: it is the worst, and it is shown.
    let over = ["--over", "lr=0.01,0.1,1e30"];
    let printed = must_succeed(&mut small_tune(out.path(), &over));
    assert_eq!(run_dirs(out.path()).len(), 2 * 3 * 2);
    let tuned = result(out.path());
    assert_eq!(tuned["seeds"], serde_json::json!([1000, 1001]));
    assert_eq!(tuned["budget"], serde_json::json!({ "trials": 3, "runs": 6 }));
    for searched in tuned["optimizers"].as_array().unwrap() {
        let trials = searched["trials"].as_array().unwrap();
        let score = |trial: &Value| trial["score"]["mean"].as_f64().unwrap();
        let best = trials.iter().max_by(|a, b| score(a).total_cmp(&score(b))).unwrap();
        assert_eq!((&best["values"], &best["chosen"]), (&searched["chosen"], &Value::Bool(true)));
        for trial in trials {
            let expected = trial["all_seen"]["mean"].as_f64().unwrap()
                - 100.0 * trial["avg_sg"]["mean"].as_f64().unwrap();
            assert!((score(trial) - expected).abs() < 1e-9);
        }
        let diverged = &trials[2];
        assert_eq!((score(diverged), &diverged["diverged"]), (-100.0, &Value::from(2)), "{diverged}");
    }
    let text = flat(&String::from_utf8(printed.stdout).unwrap());
    assert!(text.contains("Chosen: NGM-SGD lr=") && text.contains("1 trial diverged"), "{text}");
    let page = std::fs::read_to_string(out.path().join("tune.html")).unwrap();
    assert!(page.contains("Response to lr") && page.contains("Tuning seeds 1000, 1001"));

    // Nothing is done twice, not even by another search with values in common.
    let before = curves(out.path());
    let again = must_succeed(&mut small_tune(out.path(), &over));
    assert!(
        flat(&String::from_utf8_lossy(&again.stderr)).contains("12 runs, 480 iterations in all, 0 to do")
    );
    assert_eq!(curves(out.path()), before);

    let compared = tempfile::tempdir().unwrap();
    let file = out.path().join("tuned.toml");
    must_succeed(evenkeel().arg("run").arg(&file).args(["--seeds", "0..1", "--out"]).arg(compared.path()));
    let specs: Vec<Value> = run_dirs(compared.path())
        .iter()
        .map(|dir| serde_json::from_slice(&std::fs::read(dir.join("run.json")).unwrap()).unwrap())
        .collect();
    for (searched, run) in tuned["optimizers"].as_array().unwrap().iter().zip(&specs) {
        let (optimizer, settings) = (&run["spec"]["optimizer"], &run["spec"]["settings"]);
        assert_eq!(optimizer["name"], searched["name"]);
        assert_eq!(optimizer["rule"]["lr"], searched["chosen"]["lr"]);
        assert_eq!((&settings["eval_all_tasks"], &settings["batch"]), (&Value::Bool(true), &Value::from(16)));
    }
}

#[test]
fn a_random_search_with_halving_spends_its_seeds_on_the_best() {
    let out = tempfile::tempdir().unwrap();
    let arguments =
        ["--search", "random", "--trials", "4", "--over", "lr=0.001..0.1:log", "--halving", "--json"];
    let printed = must_succeed(&mut small_tune(out.path(), &arguments));
    // Four trials on the first seed, the better two on the second.
    assert_eq!(run_dirs(out.path()).len(), 2 * (4 + 2));
    let tuned = result(out.path());
    assert_eq!(serde_json::from_slice::<Value>(&printed.stdout).unwrap(), tuned);
    assert_eq!(tuned["rounds"]["seeds"], serde_json::json!([1, 2]));
    for searched in tuned["optimizers"].as_array().unwrap() {
        let trials = searched["trials"].as_array().unwrap();
        let rounds: Vec<u64> = trials.iter().map(|trial| trial["round"].as_u64().unwrap()).collect();
        assert_eq!(rounds.iter().filter(|round| **round == 2).count(), 2, "{rounds:?}");
        let chosen = trials.iter().find(|trial| trial["chosen"] == true).unwrap();
        assert_eq!(chosen["round"], 2);
        for trial in trials {
            assert!((0.001..=0.1).contains(&trial["values"]["lr"].as_f64().unwrap()));
        }
    }
}

#[test]
fn an_unfair_or_mistaken_search_is_refused_before_anything_runs() {
    let out = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (
            &["--over", "lr=0.1,0.2", "--over", "ngm-sgd.eta=0.1,0.2"][..],
            "the numbers of trials differ (4 of ngm-sgd, 2 of sgd)",
        ),
        (&["--over", "etta=1,2"], "did you mean 'eta'?"),
        (&["--over", "lr=-1,0.1"], "lr must be"),
        (&["--over", "lr=0.1..1"], "say how many values a grid has"),
        (&["--gap-weight", "-1"], "must be at least 0"),
        (&["--halving", "--seeds", "1"], "--halving needs at least two seeds"),
    ] {
        let mut command = small_tune(out.path(), &[]);
        // clap takes the last of two --seeds only if told so: the helper's own stands first.
        let arguments: Vec<&str> = arguments.to_vec();
        if arguments.contains(&"--seeds") {
            command = evenkeel();
            command.args(["tune", "split-digits", "--out"]).arg(out.path());
        }
        let error = must_fail(command.args(&arguments), 2);
        assert!(flat(&error).contains(message), "{arguments:?}: {error}");
    }
    assert_eq!(run_dirs(out.path()).len(), 0);
    let unequal = ["--over", "lr=0.1", "--over", "ngm-sgd.eta=0.1,0.2", "--unequal", "--seeds", "1000..1001"];
    let mut command = evenkeel();
    command.args([
        "tune",
        "split-digits",
        "--iterations",
        "4",
        "--eval-samples",
        "40",
        "--set",
        "hidden=[8]",
    ]);
    command.args(["--set", "batch=8", "--optimizers", "ngm-sgd,sgd", "--out"]).arg(out.path()).args(unequal);
    let printed = must_succeed(&mut command);
    assert!(flat(&String::from_utf8_lossy(&printed.stdout)).contains("different numbers of trials"));
    assert_eq!(result(out.path())["budget"], Value::Null);
}
