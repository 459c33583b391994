//! The dominant Hessian eigenvalue against spectra that are known or computed in full.

mod support;

use burn::module::{Module, Param};
use burn::nn::{BatchNorm, BatchNormConfig, Linear, LinearConfig};
use burn::tensor::activation::{relu, tanh};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use evenkeel::curvature::{Coordinates, CurvatureError, PowerIteration, dominant_eigenvalue, in_f64};
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::nn::{cross_entropy, modulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{dominant, hessian};

const SAMPLES: usize = 8;
const INPUTS: usize = 4;
const CLASSES: usize = 3;

fn gain(g: f64) -> Gain {
    let gain = Gain::new(GainConfig::new().check().unwrap());
    gain.set(g);
    gain
}

fn batch(device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let (x, y) = samples();
    let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let y: Vec<i64> = y.iter().map(|y| *y as i64).collect();
    (
        Tensor::from_data(TensorData::new(x, [SAMPLES, INPUTS]), device),
        Tensor::from_data(TensorData::new(y, [SAMPLES]), device),
    )
}

fn samples() -> (Vec<f64>, Vec<usize>) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let x = (0..SAMPLES * INPUTS).map(|_| f64::from(rng.random_range(-1.5_f32..1.5))).collect();
    (x, (0..SAMPLES).map(|i| i % CLASSES).collect())
}

/// `softmax(f(x·a)·b)`, where `f` is tanh or ReLU.
#[derive(Module, Debug)]
struct Network {
    first: Linear,
    head: Linear,
    #[module(skip)]
    relu: bool,
}

impl Network {
    const HIDDEN: usize = 5;

    fn new(device: &Device) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut layer = |inputs, outputs| {
            let mut layer = LinearConfig::new(inputs, outputs).with_bias(false).init(device);
            let weights: Vec<f32> = (0..inputs * outputs).map(|_| rng.random_range(-1.0..1.0)).collect();
            layer.weight = Param::from_data(TensorData::new(weights, [inputs, outputs]), device);
            layer
        };
        Self { first: layer(INPUTS, Self::HIDDEN), head: layer(Self::HIDDEN, CLASSES), relu: false }
    }

    fn loss(&self) -> Tensor<1> {
        let (x, y) = batch(&self.head.weight.val().device());
        let hidden = self.first.forward(x.cast(self.first.weight.val().dtype()));
        let hidden = if self.relu { relu(hidden) } else { tanh(hidden) };
        cross_entropy(self.head.forward(hidden), y)
    }

    fn weights(&self) -> Vec<f32> {
        [&self.first, &self.head]
            .into_iter()
            .flat_map(|layer| layer.weight.base().into_data().try_to_vec::<f32>().unwrap())
            .collect()
    }

    /// The same loss in f64, as a function of its effective weights.
    fn loss_f64(f: fn(f64) -> f64, weights: &[f64]) -> f64 {
        let (a, b) = weights.split_at(INPUTS * Self::HIDDEN);
        let (x, y) = samples();
        let matvec = |x: &[f64], w: &[f64], outputs: usize| -> Vec<f64> {
            (0..outputs).map(|o| x.iter().enumerate().map(|(i, x)| x * w[i * outputs + o]).sum()).collect()
        };
        let one = |(x, y): (&[f64], &usize)| {
            let hidden: Vec<f64> = matvec(x, a, Self::HIDDEN).into_iter().map(f).collect();
            let logits = matvec(&hidden, b, CLASSES);
            logits.iter().map(|z| z.exp()).sum::<f64>().ln() - logits[*y]
        };
        x.chunks(INPUTS).zip(&y).map(one).sum::<f64>() / SAMPLES as f64
    }
}

/// `L = ½ Σ aᵢ wᵢ²` in coordinates turned by 0.6 in the plane of the first and last, so that no axis is an eigenvector.
fn quadratic_eigenvalue(spectrum: [f32; 4], config: &PowerIteration) -> evenkeel::curvature::Eigenvalue {
    let device = Device::flex().autodiff();
    let w: Param<Tensor<1>> = Param::from_data([0.3, -1.2, 0.8, 2.0], &device);
    let (s, c) = 0.6_f32.sin_cos();
    let turn = Tensor::<2>::from_data(
        [[c, 0., 0., s], [0., 1., 0., 0.], [0., 0., 1., 0.], [-s, 0., 0., c]],
        &device,
    );
    let a = Tensor::<1>::from_data(spectrum, &device);
    let loss = |w: &Param<Tensor<1>>| {
        let turned = w.val().unsqueeze::<2>().matmul(turn.clone()).squeeze_dim::<1>(0);
        (a.clone() * turned.square()).sum().mul_scalar(0.5)
    };
    dominant_eigenvalue(&w, loss, config).unwrap()
}

#[test]
fn the_spectrum_of_a_quadratic_is_found_with_its_sign() {
    for (spectrum, expected) in [([10.0, 3.0, -2.0, 0.5], 10.0), ([1.0, 3.0, -8.0, 0.5], -8.0)] {
        for seed in 0..5 {
            let found = quadratic_eigenvalue(spectrum, &PowerIteration::new().with_seed(seed));
            assert!((found.value - expected).abs() < 1e-3 * expected.abs(), "{found:?}");
            assert!((found.magnitude() - expected.abs()).abs() < 1e-3 * expected.abs());
            assert!(found.residual < 1e-3 && found.iterations == 25, "{found:?}");
        }
    }
}

#[test]
fn a_tolerance_stops_early_and_the_seed_decides_the_rest() {
    let config = PowerIteration::new().with_steps(100).with_tolerance(1e-3);
    let found = quadratic_eigenvalue([10.0, 3.0, -2.0, 0.5], &config);
    assert!(found.iterations < 20 && (found.value - 10.0).abs() < 0.02, "{found:?}");
    let one = PowerIteration::new().with_steps(1);
    let first = quadratic_eigenvalue([10.0, 3.0, -2.0, 0.5], &one);
    assert_eq!(first, quadratic_eigenvalue([10.0, 3.0, -2.0, 0.5], &one));
    assert_ne!(first.value, quadratic_eigenvalue([10.0, 3.0, -2.0, 0.5], &one.with_seed(1)).value);
}

#[test]
fn a_loss_without_curvature_has_eigenvalue_zero() {
    let device = Device::flex().autodiff();
    let w: Param<Tensor<1>> = Param::from_data([0.0, 0.0], &device);
    let found = dominant_eigenvalue(&w, |w| w.val().sum(), &PowerIteration::new()).unwrap();
    assert_eq!((found.value, found.residual), (0.0, 0.0));
}

#[test]
fn it_agrees_with_the_full_hessian_of_a_small_network() {
    let model = Network::new(&Device::flex().autodiff());
    let weights: Vec<f64> = model.weights().iter().map(|w| f64::from(*w)).collect();
    let exact = dominant(&hessian(|w| Network::loss_f64(f64::tanh, w), &weights));
    let config = PowerIteration::new().with_steps(200).with_tolerance(1e-6);
    let found = dominant_eigenvalue(&model, Network::loss, &config).unwrap();
    assert!((found.value - exact).abs() < 1e-3 * exact.abs(), "{found:?} against {exact}");
    // The paper's 25 iterations are close, and say how close.
    let paper = dominant_eigenvalue(&model, Network::loss, &PowerIteration::new()).unwrap();
    assert!(
        (paper.value - exact).abs() <= paper.residual.max(1e-3) * exact.abs(),
        "{paper:?} against {exact}"
    );
}

#[test]
fn in_f64_it_agrees_with_the_hessian_between_the_kinks_of_a_relu_network() {
    let model = Network { relu: true, ..Network::new(&Device::flex().autodiff()) };
    let weights: Vec<f64> = model.weights().iter().map(|w| f64::from(*w)).collect();
    let exact = dominant(&hessian(|w| Network::loss_f64(|h| h.max(0.0), w), &weights));
    let config = PowerIteration::new().with_steps(200).with_tolerance(1e-7);
    let found = dominant_eigenvalue(&in_f64(&model), Network::loss, &config).unwrap();
    assert!((found.value - exact).abs() < 1e-5 * exact.abs(), "{found:?} against {exact}");
    assert_eq!(model.first.weight.val().dtype(), DType::F32);
}

#[test]
fn corollary_1_base_curvature_is_g_squared_times_effective_curvature() {
    let g = 1.7;
    let plain = Network::new(&Device::flex().autodiff());
    let effective: Vec<f64> = plain.weights().iter().map(|w| g * f64::from(*w)).collect();
    let exact = dominant(&hessian(|w| Network::loss_f64(f64::tanh, w), &effective));
    let model = modulate(plain, &gain(g), ".*").unwrap();
    let config = PowerIteration::new().with_steps(200).with_tolerance(1e-6);
    let in_base = dominant_eigenvalue(&model, Network::loss, &config).unwrap().value;
    let config = config.with_coordinates(Coordinates::effective(g, ".*").unwrap());
    let in_effective = dominant_eigenvalue(&model, Network::loss, &config).unwrap().value;
    assert!((in_base / in_effective / (g * g) - 1.0).abs() < 1e-3);
    assert!((in_effective - exact).abs() < 1e-3 * exact.abs(), "{in_effective} against {exact}");
}

#[test]
fn lemma_2_holds_where_only_the_head_is_modulated() {
    let g = 2.5;
    let plain = Network::new(&Device::flex().autodiff());
    let head = INPUTS * Network::HIDDEN;
    let effective: Vec<f64> = plain
        .weights()
        .iter()
        .enumerate()
        .map(|(i, w)| f64::from(*w) * if i < head { 1.0 } else { g })
        .collect();
    let exact = dominant(&hessian(|w| Network::loss_f64(f64::tanh, w), &effective));
    let model = modulate(plain, &gain(g), "^head\\.").unwrap();
    let config = PowerIteration::new().with_steps(300).with_tolerance(1e-6);
    let in_base = dominant_eigenvalue(&model, Network::loss, &config).unwrap().value;
    let config = config.with_coordinates(Coordinates::effective(g, "^head\\.").unwrap());
    let found = dominant_eigenvalue(&model, Network::loss, &config).unwrap().value;
    assert!((found - exact).abs() < 1e-3 * exact.abs(), "{found} against {exact}");
    // Not a common factor here.
    assert!((in_base / found / (g * g) - 1.0).abs() > 0.05);
}

/// A layer with running statistics and one that is frozen.
#[derive(Module, Debug)]
struct Normalised {
    frozen: Linear,
    norm: BatchNorm,
    head: Linear,
}

#[test]
fn the_model_is_left_alone_and_only_trainable_parameters_count() {
    let device = Device::flex().autodiff();
    let frozen = LinearConfig::new(INPUTS, 5).with_bias(false).init(&device).no_grad();
    let head = LinearConfig::new(5, CLASSES).with_bias(false).init(&device);
    let model = Normalised { frozen, norm: BatchNormConfig::new(5).init(&device), head };
    let (x, y) = batch(&device);
    let loss = |model: &Normalised| {
        let features = model.norm.forward(model.frozen.forward(x.clone()));
        cross_entropy(model.head.forward(features), y.clone())
    };
    let bytes = |model: &Normalised| model.clone().into_record().into_bytes().unwrap().to_vec();
    let before = bytes(&model);
    let found = dominant_eigenvalue(&model, loss, &PowerIteration::new()).unwrap();
    assert!(found.magnitude() > 0.0);
    assert_eq!(bytes(&model), before);
    assert!(model.norm.training.is_enabled() && model.head.weight.is_require_grad());
    // The same from a validation copy, whose parameters are off the tape.
    assert_eq!(dominant_eigenvalue(&model.valid(), loss, &PowerIteration::new()).unwrap(), found);

    // Frozen and rank-1 parameters are under no gain.
    let power = PowerIteration::new();
    for pattern in ["^frozen", "^norm"] {
        let coordinates = Coordinates::effective(2.0, pattern).unwrap();
        let result = dominant_eigenvalue(&model, loss, &power.clone().with_coordinates(coordinates));
        assert_eq!(result, Err(CurvatureError::NothingMatches));
    }
    assert_eq!(dominant_eigenvalue(&model.no_grad(), loss, &power), Err(CurvatureError::NoParameters));
}

#[test]
fn bad_parameters_are_refused() {
    let device = Device::flex().autodiff();
    let w: Param<Tensor<1>> = Param::from_data([1.0], &device);
    let power = PowerIteration::new();
    let cases = [
        (power.clone().with_steps(0), "steps must be at least 1"),
        (power.clone().with_step(0.0), "step must be in (0, 1), got 0"),
        (power.clone().with_step(f64::NAN), "step must be in (0, 1), got NaN"),
        (power.clone().with_tolerance(-1.0), "tolerance must be a finite number >= 0, got -1"),
    ];
    for (config, message) in cases {
        let error = dominant_eigenvalue(&w, |w| w.val().square().sum(), &config).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(Coordinates::effective(0.0, ".*").unwrap_err(), CurvatureError::Gain(0.0));
    assert_eq!(Coordinates::effective(1.0, "(").unwrap_err(), CurvatureError::Pattern("(".into()));
    let overflow = dominant_eigenvalue(&w, |w| w.val().mul_scalar(1e30).square().sum(), &power);
    assert_eq!(overflow, Err(CurvatureError::NotFinite(1)));
}
