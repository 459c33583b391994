//! What every registered network must do: nothing here names one.

use burn::module::{ParamId, list_param_ids};
use burn::optim::{GradientsParams, SgdConfig};
use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::nn::modulate;
use evenkeel_models::state_dict::Values;
use evenkeel_models::{Architecture, Evaluator, Frozen, InputShape, ModelSpec, Visit};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SHAPE: InputShape = InputShape { channels: 3, height: 32, width: 32 };
const OUTPUTS: usize = 5;
const IMAGES: usize = 3;

fn all() -> impl Iterator<Item = ModelSpec> {
    ModelSpec::NAMES.iter().map(|name| ModelSpec::named(name).unwrap())
}

#[test]
fn names_defaults_and_files_agree() {
    for (name, spec) in ModelSpec::NAMES.iter().zip(all()) {
        assert_eq!(spec.name(), *name);
        assert!(!spec.shown().is_empty() && !spec.summary().is_empty());
        assert_eq!(spec.check(), Ok(()));
        assert_eq!(spec.accepts(SHAPE), Ok(()));
        let bare = format!(r#"{{"kind": "{name}"}}"#);
        assert_eq!(serde_json::from_str::<ModelSpec>(&bare).unwrap(), spec);
        let written = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<ModelSpec>(&written).unwrap(), spec);
        let unknown = format!(r#"{{"kind": "{name}", "no_such_key": 1}}"#);
        let error = serde_json::from_str::<ModelSpec>(&unknown).unwrap_err().to_string();
        assert!(error.contains("no_such_key"), "{error}");
    }
    assert_eq!(ModelSpec::named("no-such-network"), None);
}

struct Conforms;

impl Visit for Conforms {
    type Output = ();

    fn visit<N: Architecture>(self, config: &N::Config) {
        let device = Device::flex().autodiff();
        let gain = Gain::new(GainConfig::new().check().unwrap());
        gain.set(1.5);
        let make = || N::init(config, SHAPE, OUTPUTS, &mut ChaCha8Rng::seed_from_u64(1), &device);
        let network = make().with_gain(&gain);
        assert_eq!((make().gain(), network.gain()), (1.0, 1.5));
        // What is counted before it is there is what is there, biases and other small parts aside.
        let (counted, there) = (N::size(config, SHAPE, OUTPUTS).weights, make().num_params() as f64);
        assert!((counted / there - 1.0).abs() < 0.05, "{counted} weights counted, {there} there");
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let pixels: Vec<f32> = (0..IMAGES * SHAPE.len()).map(|_| rng.random_range(-1.0..1.0)).collect();
        let x = Tensor::<2>::from_data(TensorData::new(pixels.clone(), [IMAGES, SHAPE.len()]), &device);
        let values = |tensor: Tensor<2>| tensor.into_data().try_to_vec::<f32>().unwrap();

        // The same generator gives the same network; the pattern of the modulated weights is what `with_gain` modulates.
        let still = values(network.forward_still(x.clone(), SHAPE));
        let from_outside = modulate(make(), &gain, &make().modulated()).unwrap();
        assert_close(&values(from_outside.forward_still(x.clone(), SHAPE)), &still);

        // The evaluator says the same, whatever happens to the gain after the snapshot.
        let snapshot = N::Evaluator::snapshot(&network, SHAPE);
        gain.set(9.0);
        let images = N::Evaluator::pack(&pixels, SHAPE, 0.0);
        assert_close(&N::Evaluator::default().logits(snapshot, &images), &still);

        // Without a gain, but with the gain in its weights, it is the network of the state dict.
        gain.set(1.5);
        assert!(network.state_dict().tensors.len() > 1);
        for tensor in network.state_dict().tensors {
            let size = match &tensor.values {
                Values::F32(values) => values.len(),
                Values::I64(values) => values.len(),
            };
            assert_eq!(size, tensor.shape.iter().product::<usize>(), "{}", tensor.name);
        }

        // Training mode, and what is trained if only the head is.
        assert_eq!(network.forward(x.clone(), SHAPE).dims(), [IMAGES, OUTPUTS]);
        if let Some(frozen) = network.freeze_backbone(SHAPE) {
            assert!(N::backbone().is_some(), "what is frozen is the backbone");
            keeps_its_features(&*frozen, &network, &x);
        }
        assert_eq!(network.fully_modulated(), N::backbone().is_none());
        let record = network.clone().into_record().into_bytes().unwrap();
        let record = burn::store::ModuleRecord::from_bytes(record).unwrap();
        let other = N::init(config, SHAPE, OUTPUTS, &mut ChaCha8Rng::seed_from_u64(3), &device);
        let loaded = other.with_gain(&gain).load_record(record);
        assert_eq!(values(loaded.forward_still(x.clone(), SHAPE)), values(network.forward_still(x, SHAPE)));
    }
}

/// Frozen features are those of evaluation mode, pass no gradient on, and stay when the backbone of the network is trained on.
fn keeps_its_features<N: Architecture>(frozen: &dyn Frozen<N>, network: &N, x: &Tensor<2>) {
    let values = |tensor: Tensor<2>| tensor.into_data().try_to_vec::<f32>().unwrap();
    let logits = frozen.forward(network, x.clone());
    assert_close(&values(logits.clone()), &values(network.forward_still(x.clone(), SHAPE)));
    let head = GradientsParams::from_grads(logits.clone().powi_scalar(2).sum().backward(), network);
    assert_eq!(head.len(), 1, "only the head is trained");

    let backbone: Vec<ParamId> =
        list_param_ids(network).into_iter().filter(|id| head.get::<2>(*id).is_none()).collect();
    let mut gradients = network.forward(x.clone(), SHAPE).powi_scalar(2).sum().backward();
    let gradients = GradientsParams::from_params(&mut gradients, network, &backbone);
    let trained = SgdConfig::new().init().step(0.1, network.clone(), gradients);
    let moved = values(trained.forward_still(x.clone(), SHAPE));
    assert_ne!(moved, values(network.forward_still(x.clone(), SHAPE)), "the backbone moved");
    assert_eq!(values(frozen.forward(&trained, x.clone())), values(logits), "its frozen features did not");
}

#[track_caller]
fn assert_close(ours: &[f32], expected: &[f32]) {
    assert_eq!(ours.len(), expected.len());
    let largest = expected.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
    for (a, b) in ours.iter().zip(expected) {
        assert!((a - b).abs() <= 1e-4 * largest, "{a} against {b}");
    }
}

#[test]
fn every_network_keeps_its_promises() {
    for spec in all() {
        spec.visit(Conforms);
    }
}
