//! What a row of logits says of its label, and the gradient of its cross-entropy.

/// Of one row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct RowSeen {
    pub loss: f64,
    pub entropy: f64,
    /// Whether the label's logit is the largest: of equal ones the first counts, and NaN never wins.
    pub hit: bool,
}

/// Replaces logits by `factor · ∂loss/∂logits = factor · (softmax − onehot)`. In f64: a batch has few of them.
pub(super) fn differentiate(logits: &mut [f32], label: usize, factor: f64) -> RowSeen {
    let z = logits[label];
    let hit = !z.is_nan() && logits.iter().enumerate().all(|(i, o)| *o < z || (*o == z && i >= label));
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shifted = |z: f32| f64::from(z) - f64::from(max);
    let (mut sum, mut weighted) = (0.0, 0.0);
    for &z in logits.iter() {
        let s = shifted(z);
        let e = s.exp();
        sum += e;
        // e underflows to 0 long before s·e could be anything but 0.
        weighted += if e == 0.0 { 0.0 } else { s * e };
    }
    let seen = RowSeen { loss: sum.ln() - shifted(z), entropy: sum.ln() - weighted / sum, hit };
    for (i, z) in logits.iter_mut().enumerate() {
        let probability = shifted(*z).exp() / sum;
        *z = (factor * (probability - f64::from(u8::from(i == label)))) as f32;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_entropy_and_gradient_are_those_of_the_definition() {
        let logits = [0.5_f32, -1.0, 3.0, 0.0];
        let total: f64 = logits.iter().map(|z| f64::from(*z).exp()).sum();
        let p = logits.map(|z| f64::from(z).exp() / total);
        let mut gradient = logits;
        let seen = differentiate(&mut gradient, 2, 0.25);
        assert!((seen.loss + p[2].ln()).abs() < 1e-12);
        assert!((seen.entropy + p.iter().map(|p| p * p.ln()).sum::<f64>()).abs() < 1e-12);
        assert!(seen.hit);
        for (i, (d, p)) in gradient.into_iter().zip(p).enumerate() {
            let expected = 0.25 * (p - if i == 2 { 1.0 } else { 0.0 });
            assert!((f64::from(d) - expected).abs() < 1e-7, "{d} {expected}");
        }
    }

    #[test]
    fn large_logits_are_fine_and_nan_is_not_hidden() {
        let seen = differentiate(&mut [1000.0, 0.0], 1, 1.0);
        assert!((seen.loss - 1000.0).abs() < 1e-9 && seen.entropy == 0.0 && !seen.hit);
        for logits in [[f32::NAN, 0.0], [0.0, f32::NAN], [f32::INFINITY, 0.0]] {
            let seen = differentiate(&mut logits.clone(), 0, 1.0);
            assert!(seen.loss.is_nan() && seen.entropy.is_nan(), "{logits:?}: {seen:?}");
        }
    }
}
