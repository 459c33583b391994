//! Shannon entropy of `softmax(logits)` in nats: `H = −Σ π ln π`.

use burn::tensor::activation::log_softmax;
use burn::tensor::{DType, Tensor};

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
    of_row(logits.iter().map(|z| f64::from(*z)))
}

fn of_row(logits: impl Iterator<Item = f64> + Clone) -> f64 {
    let max = logits.clone().fold(f64::NEG_INFINITY, f64::max);
    if !max.is_finite() || logits.clone().any(|z| !z.is_finite()) {
        return f64::NAN;
    }
    let (mut sum, mut weighted) = (0.0, 0.0);
    for z in logits {
        let s = z - max;
        let e = s.exp();
        sum += e;
        // e underflows to 0 long before s·e could be anything but 0.
        weighted += if e == 0.0 { 0.0 } else { s * e };
    }
    sum.ln() - weighted / sum
}

/// Mean entropy over a batch of logits, `[batch, classes]`: the signal that drives the gain.
///
/// Logits may be of any float type. On the CPU the sum is taken in `f64`; on other devices it is
/// [`mean_entropy_tensor`], of which a single number comes back to the host.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use evenkeel::entropy::mean_entropy;
///
/// let logits = Tensor::<2>::from_data([[0.0, 0.0], [50.0, -50.0]], &Device::flex());
/// assert!((mean_entropy(&logits) - 2_f64.ln() / 2.0).abs() < 1e-12);
/// assert!((mean_entropy(&logits.cast(DType::F16)) - 2_f64.ln() / 2.0).abs() < 1e-12);
/// ```
pub fn mean_entropy(logits: &Tensor<2>) -> f64 {
    if !on_cpu(logits) {
        return mean_entropy_tensor(logits.clone()).into_data().iter::<f64>().sum();
    }
    let [batch, classes] = logits.dims();
    let data = logits.to_data();
    let sum: f64 = if let Ok(rows) = data.as_slice::<f32>() {
        rows.chunks_exact(classes).map(entropy).sum()
    } else {
        let values: Vec<f64> = data.iter::<f64>().collect();
        values.chunks_exact(classes).map(|row| of_row(row.iter().copied())).sum()
    };
    sum / batch as f64
}

/// [`mean_entropy`] by Burn's operations, which stays on the device of the logits; in `f64` for logits of `f64`, else in `f32`.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use evenkeel::entropy::mean_entropy_tensor;
///
/// let uniform = Tensor::<2>::zeros([8, 4], &Device::flex());
/// assert!((mean_entropy_tensor(uniform).into_scalar::<f32>() - 4_f32.ln()).abs() < 1e-6);
/// ```
pub fn mean_entropy_tensor(logits: Tensor<2>) -> Tensor<1> {
    let logits = if logits.dtype() == DType::F64 { logits } else { logits.cast(DType::F32) };
    let log_p = log_softmax(logits.detach(), 1);
    (log_p.clone().exp() * log_p).sum_dim(1).mean().neg()
}

/// Whether reading the logits costs no copy from a device.
fn on_cpu(logits: &Tensor<2>) -> bool {
    #[cfg(feature = "flex")]
    return crate::cpu::flex(logits.clone()).is_some();
    #[cfg(not(feature = "flex"))]
    {
        let _ = logits;
        false
    }
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

    #[test]
    fn logits_of_every_float_type_are_taken() {
        let logits = Tensor::<2>::from_data([[0.5, -1.0, 3.0], [2.0, 2.0, -4.0]], &Device::flex());
        let expected = mean_entropy(&logits);
        for dtype in [DType::F64, DType::F16, DType::BF16] {
            assert_eq!(mean_entropy(&logits.clone().cast(dtype)), expected, "{dtype:?}");
            let tensor = mean_entropy_tensor(logits.clone().cast(dtype));
            let here: f64 = tensor.into_data().iter::<f64>().sum();
            assert!((here - expected).abs() < 1e-6, "{dtype:?}: {here} {expected}");
        }
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
