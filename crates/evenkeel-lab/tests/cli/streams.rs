//! Every kind of stream, and every key that changes how tasks follow each other, in a run of the real program.

use crate::common::{curves, evenkeel, must_fail, must_succeed, small_run};

/// The task of each row of the only curve below a folder.
fn tasks(out: &std::path::Path) -> Vec<usize> {
    let all = curves(out);
    assert_eq!(all.len(), 1);
    let column = all[0].1.lines().next().unwrap().split(',').position(|name| name == "task").unwrap();
    let task = |line: &str| line.split(',').nth(column).unwrap().parse().unwrap();
    all[0].1.lines().skip(1).map(task).collect()
}

#[test]
fn each_stream_runs_and_has_its_tasks() {
    let cases: [(&[&str], &[usize]); 7] = [
        (&["scenario=permuted", "permutations=3"], &[3, 3, 3]),
        (&["scenario=data-incremental", "parts=[8,1,1]"], &[3, 3, 3]),
        (&["class_order=seed", "classes_per_task=[5,3,2]"], &[3, 3, 3]),
        (&["task_order=[1,2,1]"], &[3, 3, 3]),
        (&["class_order=[0,1,2,3,4,5]", "task_iterations=[4,1,2]"], &[4, 1, 2]),
        (&["class_order=[4,5,6,7]", "drift=2"], &[3, 3]),
        (&["class_order=[4,5,6,7]", "drift=2", "replay=10"], &[3, 3]),
    ];
    for (settings, expected) in cases {
        let out = tempfile::tempdir().unwrap();
        let mut run = evenkeel();
        run.args(["run", "split-digits", "--iterations", "3", "--seeds", "1", "--optimizers", "sgd"]);
        run.args(["--eval-samples", "20", "--set", "hidden=[16]", "--out"]).arg(out.path());
        for setting in settings {
            run.args(["--set", setting]);
        }
        must_succeed(&mut run);
        let found = tasks(out.path());
        let counts: Vec<usize> =
            (1..=expected.len()).map(|task| found.iter().filter(|found| **found == task).count()).collect();
        assert_eq!((counts.as_slice(), found.len()), (expected, expected.iter().sum()), "{settings:?}");
    }
}

#[test]
fn the_first_curve_differs_where_the_drift_is_and_not_before() {
    let curve = |settings: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        let mut run = small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]);
        for setting in settings {
            run.args(["--set", setting]);
        }
        must_succeed(&mut run);
        let lines: Vec<String> = curves(out.path())[0].1.lines().map(String::from).collect();
        lines
    };
    let (sudden, gradual) = (curve(&["class_order=[0,1,2,3]"]), curve(&["class_order=[0,1,2,3]", "drift=5"]));
    assert_eq!(sudden[..13], gradual[..13]);
    assert_ne!(sudden[13..], gradual[13..]);
}

#[test]
fn mistakes_about_tasks_are_named_before_anything_runs() {
    let out = tempfile::tempdir().unwrap();
    let cases: [(&[&str], &str); 7] = [
        (&["task_order=[1,9]"], "task_order: names task 9, but the stream has the tasks 1 to 5"),
        (&["task_order=[]"], "task_order: name 1 to 1000 tasks"),
        (&["task_iterations=[3,3]"], "task_iterations: lists 2 tasks, but the stream has 5"),
        (&["task_iterations=[0]"], "task_iterations: one number per task"),
        (&["drift=0"], "drift: must be from 1"),
        (&["scenario=task-column"], "digits: names no task per example"),
        (&["scenario=data-incremental", "parts=[1,0]"], "parts: 0 is not a positive number"),
    ];
    for (settings, reason) in cases {
        let mut run = small_run(out.path(), &[]);
        for setting in settings {
            run.args(["--set", setting]);
        }
        let stderr = must_fail(&mut run, 2);
        assert!(stderr.contains(reason), "{stderr}");
    }
}
