//! States of optimizers in Burn's records: what fits is loaded, everything else is refused.

mod device;

use burn::module::{Module, Param};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::tensor::{Bytes, Tensor};
use device::device;
use evenkeel::optim::{AdamConfig, AdamWConfig, LionConfig, RmsPropConfig, SgdConfig, group, load_state};

fn model(inputs: usize) -> Linear {
    LinearConfig::new(inputs, 3).init(&device())
}

fn after_a_step(optimizer: ModuleOptimizer) -> (ModuleOptimizer, Linear) {
    after_a_step_of(optimizer, model(2))
}

fn after_a_step_of(mut optimizer: ModuleOptimizer, model: Linear) -> (ModuleOptimizer, Linear) {
    let loss = model.forward(Tensor::<2>::ones([1, 2], &device())).square().sum();
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    let model = optimizer.step(0.1, model, gradients);
    (optimizer, model)
}

#[test]
fn a_state_goes_only_to_the_rule_that_made_it() {
    let rmsprop = RmsPropConfig::new(0.1);
    let rules = [
        ("sgd", SgdConfig::new(0.1).init().unwrap()),
        ("momentum", SgdConfig::new(0.1).with_momentum(0.9).init().unwrap()),
        ("adam", AdamConfig::new(0.1).init().unwrap()),
        ("lion", LionConfig::new(0.1).init().unwrap()),
        ("rmsprop", rmsprop.init().unwrap()),
        ("centred", rmsprop.with_centered(true).init().unwrap()),
    ];
    for (saved, optimizer) in &rules {
        let (optimizer, model) = after_a_step(optimizer.clone());
        let state = optimizer.into_bytes().unwrap();
        for (name, rule) in &rules {
            let loaded = load_state(rule.clone(), state.clone(), &model);
            assert_eq!(loaded.is_ok(), saved == name, "the state of {saved} in {name}");
        }
    }
}

#[test]
fn groups_belong_to_a_state() {
    let grouped = |model: &Linear, pattern: &str| {
        let momentum = SgdConfig::new(0.1).with_momentum(0.9).build().unwrap();
        SgdConfig::new(0.1).init().unwrap().with_group(group(model, pattern).unwrap(), momentum, None)
    };
    let model = model(2);
    let (optimizer, model) = after_a_step_of(grouped(&model, "weight"), model);
    let state = optimizer.into_bytes().unwrap();
    assert!(load_state(grouped(&model, "weight"), state.clone(), &model).is_ok());
    let error = load_state(grouped(&model, "bias"), state, &model).err().unwrap().to_string();
    assert!(error.contains("velocity is of no use"), "{error}");
}

#[test]
fn a_state_of_other_parameters_is_refused() {
    let (optimizer, trained) = after_a_step(AdamWConfig::new(0.1).init().unwrap());
    let state = optimizer.into_bytes().unwrap();
    let fresh = || AdamWConfig::new(0.1).init().unwrap();
    assert!(load_state(fresh(), state.clone(), &trained).is_ok());
    let error = load_state(fresh(), state.clone(), &model(2)).err().unwrap().to_string();
    assert!(error.contains("is of no use"), "{error}");
    // The same ids and another width.
    let wider = Linear { weight: Param::initialized(trained.weight.id, model(5).weight.val()), ..trained };
    let error = load_state(fresh(), state, &wider).err().unwrap().to_string();
    assert!(error.contains("is needed"), "{error}");
}

#[test]
fn what_is_not_a_state_is_an_error_and_no_panic() {
    let (optimizer, trained) = after_a_step(AdamConfig::new(0.1).init().unwrap());
    let whole = optimizer.into_bytes().unwrap().to_vec();
    let load = |bytes: &[u8]| {
        load_state(AdamConfig::new(0.1).init().unwrap(), Bytes::from_bytes_vec(bytes.to_vec()), &trained)
    };
    assert!(load(&whole).is_ok());
    for length in (0..whole.len()).step_by(7) {
        assert!(load(&whole[..length]).is_err(), "cut at {length}");
    }
    // A module's record is not an optimizer's.
    assert!(load(&trained.clone().into_record().into_bytes().unwrap()).is_err());
}
