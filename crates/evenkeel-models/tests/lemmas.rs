//! What the paper proves about the gain, checked numerically.

use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::entropy::mean_entropy;
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::nn::{Modulated, cross_entropy, modulate};
use evenkeel::optim::{EntropyLrConfig, NgmSgdConfig, SgdConfig};
use evenkeel_models::{GainLinear, Mlp};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SIZES: (usize, [usize; 2], usize) = (7, [6, 5], 4);

fn gain(g: f64) -> Gain {
    let gain = Gain::new(GainConfig::new().check().unwrap());
    gain.set(g);
    gain
}

fn mlp(seed: u64, device: &Device) -> Mlp {
    let (inputs, hidden, outputs) = SIZES;
    let sizes = [inputs, hidden[0], hidden[1], outputs];
    Mlp::new(&sizes, 0.6, 0.6, &mut ChaCha8Rng::seed_from_u64(seed), device)
}

fn batch(seed: u64, device: &Device) -> (Tensor<2>, Tensor<1, Int>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0xBA7C4);
    let x: Vec<f32> = (0..8 * SIZES.0).map(|_| rng.random_range(-1.0..1.0)).collect();
    let y: Vec<i64> = (0..8).map(|_| rng.random_range(0..SIZES.2 as i64)).collect();
    (
        Tensor::from_data(TensorData::new(x, [8, SIZES.0]), device),
        Tensor::from_data(TensorData::new(y, [8]), device),
    )
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

fn gradients(model: &Mlp, seed: u64, device: &Device) -> Vec<f32> {
    let (x, y) = batch(seed, device);
    let gradients = GradientsParams::from_grads(cross_entropy(model.forward(x), y).backward(), model);
    model.layers().flat_map(|layer| values(gradients.get::<2>(layer.weight.id).unwrap())).collect()
}

/// The same network with the gain worked into the weights: effective coordinates.
fn effective(model: &Mlp, g: f64, device: &Device) -> Mlp {
    let scaled =
        |layer: &GainLinear| GainLinear::from_weights(layer.weight.val().mul_scalar(g).into_data(), device);
    Mlp::from_layers(model.hidden.iter().map(scaled).collect(), scaled(&model.output))
}

fn assert_close(a: &[f32], b: &[f32], relative: f32) -> Result<(), TestCaseError> {
    prop_assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(1e-6_f32, |m, v| m.max(v.abs()));
    for (a, b) in a.iter().zip(b) {
        prop_assert!((a - b).abs() <= relative * scale, "{} against {}", a, b);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Lemma 1: ∇_w L̃(w) = g ∇_W L(W).
    #[test]
    fn lemma_1_gradients_carry_the_factor_g(seed: u64, g in 1.0..3.0_f64) {
        let device = Device::flex().autodiff();
        let base = mlp(seed, &device);
        let in_effective = gradients(&effective(&base, g, &device), seed, &device);
        let in_base = gradients(&base.with_gain(&gain(g)), seed, &device);
        let expected: Vec<f32> = in_effective.iter().map(|v| v * g as f32).collect();
        assert_close(&in_base, &expected, 1e-5)?;
    }

    /// Lemma 2 and Corollary 1: H_w = g² H_W, so a curvature in effective coordinates is the one in base
    /// coordinates divided by g². Checked on Hessian-vector products of a smooth model (a linear softmax
    /// classifier), by central differences of gradients.
    #[test]
    fn lemma_2_curvature_carries_the_factor_g_squared(seed: u64, g in 1.0..3.0_f64) {
        let device = Device::flex().autodiff();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut random = |scale: f32| -> Vec<f32> {
            (0..SIZES.0 * SIZES.2).map(|_| rng.random_range(-scale..scale)).collect()
        };
        let (w, v) = (random(0.3), random(1.0));
        let shape = [SIZES.0, SIZES.2];
        let gradient = |weights: Vec<f32>, g: f64| {
            let layer = GainLinear::from_weights(TensorData::new(weights, shape), &device);
            let model = Mlp::from_layers(vec![], layer).with_gain(&gain(g));
            gradients(&model, seed, &device)
        };
        // Central difference along v; ε is where truncation and f32 rounding are both small.
        let product = |w: &[f32], g: f64| -> Vec<f32> {
            let shifted = |sign: f32| w.iter().zip(&v).map(|(w, v)| w + sign * 2e-2 * v).collect();
            let (plus, minus) = (gradient(shifted(1.0), g), gradient(shifted(-1.0), g));
            plus.iter().zip(&minus).map(|(p, m)| (p - m) / 4e-2).collect()
        };
        let in_base = product(&w, g);
        let effective: Vec<f32> = w.iter().map(|w| w * g as f32).collect();
        let expected: Vec<f32> = product(&effective, 1.0).iter().map(|h| h * (g * g) as f32).collect();
        assert_close(&in_base, &expected, 5e-3)?;
    }

    /// In a bias-free ReLU net logits scale by g^L: NGM-SGD is plain SGD on a softmax of inverse temperature g^L …
    #[test]
    fn one_step_equals_sgd_at_inverse_temperature_g_to_the_l(seed: u64, g in 1.0..2.0_f64) {
        let device = Device::flex().autodiff();
        let base = mlp(seed, &device);
        let (x, y) = batch(seed, &device);

        let mut ngm = NgmSgdConfig::new(0.1).init().unwrap();
        ngm.gain().set(g);
        let modulated = base.clone().with_gain(ngm.gain());
        let logits = modulated.forward(x.clone());
        let scaled = base.forward(x.clone()).mul_scalar(g.powi(3));
        assert_close(&values(logits.clone()), &values(scaled.clone()), 1e-5)?;
        prop_assert!((mean_entropy(&logits) - mean_entropy(&scaled)).abs() < 1e-5);

        let entropy = mean_entropy(&logits);
        let grads = GradientsParams::from_grads(cross_entropy(logits, y.clone()).backward(), &modulated);
        let modulated = ngm.step(modulated, grads, entropy);

        let mut sgd = SgdConfig::new(0.1).init().unwrap();
        let grads = GradientsParams::from_grads(cross_entropy(scaled, y).backward(), &base);
        let base = sgd.step(0.1, base, grads);
        for (a, b) in modulated.layers().zip(base.layers()) {
            assert_close(&values(a.weight.val()), &values(b.weight.val()), 1e-5)?;
        }
    }

    /// … and the predicted class does not depend on g.
    #[test]
    fn predictions_do_not_depend_on_the_gain(seed: u64, g in 1.0..5.0_f64) {
        let device = Device::flex();
        let base = mlp(seed, &device);
        let (x, _) = batch(seed, &device);
        let plain = base.forward(x.clone());
        let gap = {
            // Rounding may swap two logits that are equal to the last bits; leave such draws out.
            let mut sorted: Vec<f32> = values(plain.clone());
            sorted.chunks_mut(SIZES.2).for_each(|row| row.sort_by(f32::total_cmp));
            sorted.chunks(SIZES.2).map(|r| r[SIZES.2 - 1] - r[SIZES.2 - 2]).fold(f32::MAX, f32::min)
        };
        prop_assume!(gap > 1e-5);
        let modulated = base.with_gain(&gain(g)).forward(x);
        prop_assert_eq!(plain.argmax(1).into_data(), modulated.argmax(1).into_data());
    }

    /// A gradient step of NGM-SGD moves effective weights by −α g² ∂L/∂W, as far as Entropy-LR at q = g.
    #[test]
    fn entropy_lr_moves_as_far_as_the_effective_weights(seed: u64, g in 1.0..2.0_f64) {
        let device = Device::flex().autodiff();
        let base = mlp(seed, &device);
        let (x, y) = batch(seed, &device);

        let plain = effective(&base, g, &device);
        let grads = GradientsParams::from_grads(cross_entropy(plain.forward(x.clone()), y.clone()).backward(), &plain);
        let mut entropy_lr = EntropyLrConfig::new(0.1).with_g0(g).init().unwrap();
        let plain = entropy_lr.step(plain, grads, 0.0);

        let mut ngm = NgmSgdConfig::new(0.1).init().unwrap();
        ngm.gain().set(g);
        let modulated = base.with_gain(ngm.gain());
        let grads = GradientsParams::from_grads(cross_entropy(modulated.forward(x), y).backward(), &modulated);
        let modulated = effective(&ngm.step(modulated, grads, 0.0), g, &device);
        for (a, b) in plain.layers().zip(modulated.layers()) {
            assert_close(&values(a.weight.val()), &values(b.weight.val()), 1e-5)?;
        }
    }

    /// The layer and the modulation of a whole module from outside are the same thing.
    #[test]
    fn a_gain_layer_equals_a_modulated_module(seed: u64, g in 1.0..3.0_f64) {
        let device = Device::flex().autodiff();
        let (base, gain) = (mlp(seed, &device), gain(g));
        let from_outside = modulate(base.clone(), &gain, "weight").unwrap();
        let layers = base.with_gain(&gain);
        let (x, _) = batch(seed, &device);
        assert_close(&values(from_outside.forward(x.clone())), &values(layers.forward(x)), 1e-5)?;
        assert_close(&gradients(&from_outside, seed, &device), &gradients(&layers, seed, &device), 1e-5)?;
    }

    /// With η = 0 and g0 = 1 NGM-SGD is SGD, bit for bit.
    #[test]
    fn without_phasic_gain_it_is_sgd(seed: u64) {
        let device = Device::flex().autodiff();
        let mut ngm = NgmSgdConfig::new(0.1).with_eta(0.0).init().unwrap();
        let mut sgd = SgdConfig::new(0.1).init().unwrap();
        let mut a = mlp(seed, &device).with_gain(ngm.gain());
        let mut b = mlp(seed, &device);
        for step in 0..5 {
            let (x, y) = batch(seed.wrapping_add(step), &device);
            let logits = a.forward(x.clone());
            let entropy = mean_entropy(&logits);
            let grads = GradientsParams::from_grads(cross_entropy(logits, y.clone()).backward(), &a);
            a = ngm.step(a, grads, entropy);
            let grads = GradientsParams::from_grads(cross_entropy(b.forward(x), y).backward(), &b);
            b = sgd.step(0.1, b, grads);
        }
        for (a, b) in a.layers().zip(b.layers()) {
            prop_assert_eq!(values(a.weight.val()), values(b.weight.val()));
        }
    }
}
