//! Twenty steps of the optimizers beyond the paper's against PyTorch (`fixtures/pytorch_rules.py` made the numbers).

mod support;

use burn::optim::ModuleOptimizer;
use evenkeel::optim::{AdamWConfig, LionConfig, NesterovConfig, OptimError, RmsPropConfig};
use support::Fixture;

/// Relative to the largest entry of a layer: one step is exact up to rounding, which twenty steps add up.
const TOLERANCES: [f32; 2] = [2e-6, 1e-4];

#[track_caller]
fn check(case: &str, lr: f64, optimizer: Result<ModuleOptimizer, OptimError>) {
    let fixture = Fixture::new(include_str!("fixtures/pytorch_rules.json"));
    assert_eq!(fixture.steps(), 20);
    let deviations = fixture.train(case, lr, optimizer.unwrap());
    println!("{case}: {:.1e} after one step, {:.1e} after twenty", deviations[0], deviations[1]);
    for (deviation, tolerance) in deviations.into_iter().zip(TOLERANCES) {
        assert!(deviation <= tolerance, "{case}: {deviations:?} from PyTorch after 1 and 20 steps");
    }
}

#[test]
fn nesterov() {
    check("nesterov", 0.1, NesterovConfig::new(0.1).init());
}

#[test]
fn adamw() {
    check("adamw", 0.01, AdamWConfig::new(0.01).with_weight_decay(0.1).init());
}

#[test]
fn lion() {
    check("lion", 0.01, LionConfig::new(0.01).with_weight_decay(0.1).init());
}

#[test]
fn rmsprop() {
    let rmsprop = RmsPropConfig::new(0.01);
    check("rmsprop", 0.01, rmsprop.init());
    check("rmsprop-weight-decay", 0.01, rmsprop.with_weight_decay(0.1).init());
    let centered = RmsPropConfig::new(0.002).with_momentum(0.9).with_centered(true);
    check("rmsprop-momentum-centered", 0.002, centered.init());
}
