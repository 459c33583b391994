//! Shannon entropy of `softmax(logits)` in nats: `H = −Σ π ln π`.

use burn::tensor::Tensor;

/// Entropy in nats of one row of logits, over all its entries (classes not yet seen included).
///
/// With `s = z − max z`, `H = ln Σ eˢ − Σ s eˢ / Σ eˢ`: no probability is ever divided by zero nor its logarithm
/// taken, so logits of any finite size are fine. A row with NaN or infinity gives NaN.
///
/// ```
/// use evenkeel::entropy::entropy;
///
/// assert!((entropy(&[0.0, 0.0, 0.0, 0.0]) - 4_f64.ln()).abs() < 1e-12); // uniform
/// assert_eq!(entropy(&[1e30, 0.0]), 0.0); // certain
/// ```
pub fn entropy(logits: &[f32]) -> f64 {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if !max.is_finite() || logits.iter().any(|z| !z.is_finite()) {
        return f64::NAN;
    }
    let (mut sum, mut weighted) = (0.0, 0.0);
    for z in logits {
        let s = f64::from(*z) - f64::from(max);
        let e = s.exp();
        sum += e;
        // e underflows to 0 long before s·e could be anything but 0.
        weighted += if e == 0.0 { 0.0 } else { s * e };
    }
    sum.ln() - weighted / sum
}

/// Mean entropy over a batch of logits, `[batch, classes]`: the signal that drives the gain.
pub fn mean_entropy(logits: &Tensor<2>) -> f64 {
    let [batch, classes] = logits.dims();
    let data = logits.to_data();
    let rows = data.as_slice::<f32>().expect("logits are f32");
    rows.chunks_exact(classes).map(entropy).sum::<f64>() / batch as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::Device;
    use proptest::prelude::*;

    #[test]
    fn non_finite_logits_give_nan() {
        assert!(entropy(&[f32::NAN, 0.0]).is_nan());
        assert!(entropy(&[f32::INFINITY, 0.0]).is_nan());
    }

    #[test]
    fn the_batch_mean_is_the_mean_of_the_rows() {
        let logits = Tensor::<2>::from_data([[0.0, 0.0], [50.0, -50.0]], &Device::flex());
        assert!((mean_entropy(&logits) - 2_f64.ln() / 2.0).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn it_equals_the_definition(z in prop::collection::vec(-20.0..20.0_f32, 1..30)) {
            let total: f64 = z.iter().map(|z| f64::from(*z).exp()).sum();
            let direct: f64 = z.iter().map(|z| f64::from(*z).exp() / total).map(|p| -p * p.ln()).sum();
            prop_assert!((entropy(&z) - direct).abs() < 1e-9);
        }

        #[test]
        fn it_is_within_its_bounds_for_logits_of_any_size(z in prop::collection::vec(-1e38..1e38_f32, 1..30)) {
            let h = entropy(&z);
            prop_assert!(h >= -1e-12 && h <= (z.len() as f64).ln() + 1e-12);
        }

        #[test]
        fn a_shift_of_all_logits_changes_nothing(z in prop::collection::vec(-8.0..8.0_f32, 2..30), shift in -64_i8..64) {
            let shifted: Vec<f32> = z.iter().map(|z| z + f32::from(shift)).collect();
            prop_assert!((entropy(&z) - entropy(&shifted)).abs() < 1e-4);
        }
    }
}
