//! `--set key=value`, `--optimizers` and `--seeds`, a line each.
#![no_main]

use evenkeel_lab::spec::Experiment;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let mut experiment = Experiment::named("split-digits").unwrap();
    for line in text.lines().take(8) {
        let _ = match line.split_once(' ') {
            Some(("seeds", seeds)) => experiment.set_seeds(seeds),
            Some(("optimizers", names)) => {
                experiment.set_optimizers(&names.split(',').map(str::to_owned).collect::<Vec<_>>())
            }
            _ => experiment.set(line),
        };
    }
    experiment.seeds.truncate(2);
    if let Ok(checked) = experiment.check() {
        assert!(checked.expand(None).iter().all(|run| run.check().is_ok()));
    }
});
