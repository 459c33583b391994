//! An experiment file, and every check before a run.
#![no_main]

use evenkeel_lab::spec::Plan;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(plan) = Plan::parse(text, "fuzzed.toml") else { return };
    for mut experiment in plan.parts {
        experiment.seeds.truncate(2);
        for run in experiment.check().expect("a plan is checked").expand(None) {
            let _ = (run.check(), run.folder());
        }
    }
});
