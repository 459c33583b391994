//! Curvature relative to its value before a task switch, over time and over seeds.

/// `R_λ(t) = |λ(t)| / |λ(0)|`: curvature relative to the one immediately before the task switch.
///
/// Reference: Figure 3e of the paper.
///
/// ```
/// assert_eq!(evenkeel::curvature::curvature_ratio(-6.0, 2.0), 3.0);
/// ```
pub fn curvature_ratio(now: f64, before: f64) -> f64 {
    (now / before).abs()
}

/// Mean and standard deviation of the logarithms of positive numbers.
///
/// ```
/// use evenkeel::curvature::GeometricMean;
/// let ratio = GeometricMean { mean: 2.0, log_sd: 2_f64.ln() };
/// assert!((ratio.lower() - 1.0).abs() < 1e-12 && (ratio.upper() - 4.0).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeometricMean {
    /// `exp(mean ln r)`.
    pub mean: f64,
    /// Population standard deviation of `ln r`, in nats.
    pub log_sd: f64,
}

impl GeometricMean {
    /// One standard deviation below the mean, in log space: `mean / e^σ`.
    pub fn lower(&self) -> f64 {
        self.mean * (-self.log_sd).exp()
    }

    /// One standard deviation above the mean, in log space: `mean · e^σ`.
    pub fn upper(&self) -> f64 {
        self.mean * self.log_sd.exp()
    }
}

/// Geometric mean ± one standard deviation in log space, over seeds; `None` if there is no value, or one that is not a
/// positive finite number.
///
/// ```
/// use evenkeel::curvature::geometric_mean;
///
/// let ratio = geometric_mean(&[1.0, 4.0]).unwrap();
/// assert!((ratio.mean - 2.0).abs() < 1e-12);
/// assert!((ratio.lower() - 1.0).abs() < 1e-12 && (ratio.upper() - 4.0).abs() < 1e-12);
/// assert!(geometric_mean(&[1.0, 0.0]).is_none());
/// ```
///
/// Reference: Figure 3e of the paper.
pub fn geometric_mean(ratios: &[f64]) -> Option<GeometricMean> {
    if ratios.is_empty() || ratios.iter().any(|ratio| !(*ratio > 0.0 && ratio.is_finite())) {
        return None;
    }
    let n = ratios.len() as f64;
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / n;
    let variance = ratios.iter().map(|ratio| (ratio.ln() - mean).powi(2)).sum::<f64>() / n;
    Some(GeometricMean { mean: mean.exp(), log_sd: variance.sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_have_no_spread() {
        let ratio = geometric_mean(&[0.25; 5]).unwrap();
        assert!((ratio.mean - 0.25).abs() < 1e-15 && ratio.log_sd == 0.0);
    }

    #[test]
    fn the_mean_of_inverses_is_the_inverse_of_the_mean() {
        let ratios = [0.5, 3.0, 1.7, 8.0];
        let (direct, inverse) =
            (geometric_mean(&ratios).unwrap(), geometric_mean(&ratios.map(f64::recip)).unwrap());
        assert!((direct.mean * inverse.mean - 1.0).abs() < 1e-14);
        assert!((direct.log_sd - inverse.log_sd).abs() < 1e-14);
    }

    #[test]
    fn what_has_no_logarithm_has_no_mean() {
        for ratios in [&[][..], &[1.0, -1.0], &[f64::NAN], &[f64::INFINITY]] {
            assert_eq!(geometric_mean(ratios), None);
        }
    }
}
