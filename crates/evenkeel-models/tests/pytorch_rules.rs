//! Twenty steps of the optimizers beyond the paper's against PyTorch (`fixtures/pytorch_rules.py` made the numbers).

mod support;

use evenkeel::optim::{AdamWConfig, LionConfig, NesterovConfig, OptimError, RmsPropConfig, RuleOptimizer};
use support::Fixture;

/// Relative to the largest entry of a layer: one step is exact up to rounding, which twenty steps add up.
const TOLERANCES: [f32; 2] = [2e-6, 1e-4];

#[track_caller]
fn check(case: &str, optimizer: Result<RuleOptimizer, OptimError>) {
    let fixture = Fixture::new(include_str!("fixtures/pytorch_rules.json"));
    assert_eq!(fixture.steps(), 20);
    let deviations = fixture.train(case, optimizer.unwrap());
    println!("{case}: {:.1e} after one step, {:.1e} after twenty", deviations[0], deviations[1]);
    for (deviation, tolerance) in deviations.into_iter().zip(TOLERANCES) {
        assert!(deviation <= tolerance, "{case}: {deviations:?} from PyTorch after 1 and 20 steps");
    }
}

#[test]
fn nesterov() {
    check("nesterov", NesterovConfig::new(0.1).init());
}

#[test]
fn adamw() {
    check("adamw", AdamWConfig::new(0.01).with_weight_decay(0.1).init());
}

#[test]
fn lion() {
    check("lion", LionConfig::new(0.01).with_weight_decay(0.1).init());
}

#[test]
fn rmsprop() {
    let rmsprop = RmsPropConfig::new(0.01);
    check("rmsprop", rmsprop.init());
    check("rmsprop-weight-decay", rmsprop.with_weight_decay(0.1).init());
    let centered = RmsPropConfig::new(0.002).with_momentum(0.9).with_centered(true);
    check("rmsprop-momentum-centered", centered.init());
}
