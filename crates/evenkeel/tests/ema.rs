//! The average of a model's weights: its definition, its warm-up, buffers, and a record that goes on.

mod device;

use burn::module::{Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use burn::store::ModuleRecord;
use burn::tensor::{Tensor, TensorData};
use device::device;
use evenkeel::ema::{Ema, EmaConfig, EmaError};
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::nn::modulate;

#[derive(Module, Debug)]
struct Network {
    layer: Linear,
    norm: BatchNorm,
}

impl Network {
    fn new() -> Self {
        let device = device();
        Self { layer: LinearConfig::new(2, 3).init(&device), norm: BatchNormConfig::new(3).init(&device) }
    }

    /// The same network with other weights, and running statistics that have seen `x`.
    fn trained(self, weight: f32, x: f32) -> Self {
        let device = device();
        let data = TensorData::new(vec![weight; 6], [2, 3]);
        let weight =
            Param::initialized(self.layer.weight.id, Tensor::from_data(data, &device).require_grad());
        let network = Self { layer: Linear { weight, ..self.layer }, ..self };
        drop(network.norm.forward::<2>(Tensor::ones([4, 3], &device).mul_scalar(x)));
        network
    }

    fn running_mean(&self) -> f32 {
        self.norm.running_mean.value_sync().into_data().try_to_vec::<f32>().unwrap()[0]
    }
}

fn weight(model: &Network) -> f32 {
    model.layer.weight.val().into_data().try_to_vec::<f32>().unwrap()[0]
}

#[test]
fn without_warm_up_it_is_the_recursion() {
    let mut model = Network::new().trained(1.0, 0.0);
    let mut ema = EmaConfig::new(0.75).with_warm_up(false).init(&model).unwrap();
    let mut expected = 1.0;
    for value in [2.0, -1.0, 5.0] {
        model = model.trained(value, 0.0);
        ema.update(&model);
        expected = 0.75 * expected + 0.25 * value;
        assert!((weight(ema.module()) - expected).abs() < 1e-6);
    }
}

#[test]
fn with_warm_up_it_begins_as_the_mean_and_the_initial_weights_do_not_count() {
    let mut model = Network::new().trained(100.0, 0.0);
    let mut ema = EmaConfig::new(0.75).init(&model).unwrap();
    // Means of 1, 2, 3 and 4 until the decay reaches 0.75; then the recursion.
    for (value, mean) in [(1.0, 1.0), (2.0, 1.5), (3.0, 2.0), (4.0, 2.5), (6.5, 3.5)] {
        model = model.trained(value, 0.0);
        ema.update(&model);
        assert!((weight(ema.module()) - mean).abs() < 1e-6, "{} after {value}", weight(ema.module()));
    }
}

#[test]
fn running_statistics_are_averaged_or_copied() {
    for (average_buffers, decay) in [(true, 0.5), (false, 0.0)] {
        let model = Network::new();
        let config = EmaConfig::new(0.5).with_warm_up(false).with_average_buffers(average_buffers);
        let mut ema = config.init(&model).unwrap();
        let before = ema.clone();
        let model = model.trained(1.0, 8.0);
        ema.update(&model);
        let now = model.running_mean();
        assert!(now > 0.1, "the batch has moved them: {now}");
        assert!((ema.module().running_mean() - (1.0 - decay) * now).abs() < 1e-6);
        assert_eq!(before.module().running_mean(), 0.0, "a clone stays what it is");
    }
}

#[test]
fn its_record_goes_on_where_it_stopped() {
    let mut model = Network::new();
    let config = EmaConfig::new(0.9);
    let mut ema = config.init(&model).unwrap();
    for step in 0..4 {
        model = model.trained(step as f32, 1.0);
        ema.update(&model);
    }
    let bytes = ema.clone().into_record().into_bytes().unwrap();
    let record = ModuleRecord::from_bytes(bytes).unwrap();
    let mut resumed: Ema<Network> = config.init(&Network::new()).unwrap().load_record(record);
    assert_eq!((resumed.updates(), resumed.decay()), (4, ema.decay()));
    model = model.trained(7.0, 2.0);
    for ema in [&mut ema, &mut resumed] {
        ema.update(&model);
    }
    assert_eq!(weight(ema.module()), weight(resumed.module()));
    assert_eq!(ema.module().running_mean(), resumed.module().running_mean());
}

#[test]
fn the_average_is_under_the_gain_of_the_model() {
    let gain = Gain::new(GainConfig::new().check().unwrap());
    let model = modulate(Network::new().trained(2.0, 0.0), &gain, "layer").unwrap();
    let mut ema = EmaConfig::new(0.5).init(&model).unwrap();
    ema.update(&model);
    gain.set(3.0);
    assert_eq!(weight(ema.module()), 6.0);
}

#[test]
fn bad_settings_are_refused() {
    let model = Network::new();
    for decay in [1.0, -0.1, f64::NAN] {
        assert!(matches!(EmaConfig::new(decay).init(&model), Err(EmaError::Decay(_))));
    }
    assert_eq!(EmaConfig::new(0.9).init(&model.valid()).err(), Some(EmaError::NothingTrains));
}
