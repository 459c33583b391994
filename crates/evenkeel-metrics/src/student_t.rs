//! Student's t distribution: the quantile behind a 95 % interval, and the tails behind a test.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// Quantile of the standard normal distribution at 0.975.
const Z_975: f64 = 1.959_963_984_540_054;

/// Degrees of freedom from which the expansion around the normal quantile is exact to about 1e-11.
const NEARLY_NORMAL: usize = 20_000;

/// The `t` with `P(|T| ≤ t) = 0.95` for `df` degrees of freedom, `t_{0.975, df}`; `None` for `df = 0`.
///
/// For whole degrees of freedom the distribution function is a finite sum of powers of a cosine (Abramowitz
/// and Stegun, 26.7.3 and 26.7.4), so no gamma function is needed; the quantile follows by bisection.
pub fn t_quantile_95(df: usize) -> Option<f64> {
    if df == 0 {
        return None;
    }
    let nu = df as f64;
    if df >= NEARLY_NORMAL {
        // First terms of the Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5).
        let z2 = Z_975 * Z_975;
        let first = (z2 + 1.0) / (4.0 * nu);
        let second = ((5.0 * z2 + 16.0) * z2 + 3.0) / (96.0 * nu * nu);
        return Some(Z_975 * (1.0 + first + second));
    }
    // In the angle the search interval is bounded whatever the degrees of freedom.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if central_probability(middle, df) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(nu.sqrt() * (0.5 * (low + high)).tan())
}

/// `P(|T| ≥ |t|)` for `df` degrees of freedom: the p-value of a two-sided test. 1 for `df = 0`, where nothing is known.
pub fn two_sided_p(t: f64, df: usize) -> f64 {
    if df == 0 || t.is_nan() {
        return 1.0;
    }
    // More degrees of freedom than this change nothing that could be shown, and the sum has one term for every two.
    let df = df.min(NEARLY_NORMAL);
    let theta = (t.abs() / (df as f64).sqrt()).atan();
    (1.0 - central_probability(theta, df)).clamp(0.0, 1.0)
}

/// `P(T ≤ t)`: the p-value of the one-sided test that the mean is below what `t` measures the distance from.
pub fn lower_tail(t: f64, df: usize) -> f64 {
    let outside = 0.5 * two_sided_p(t, df);
    if df == 0 {
        1.0
    } else if t <= 0.0 {
        outside
    } else {
        1.0 - outside
    }
}

/// `P(|T| ≤ √df · tan θ)`.
fn central_probability(theta: f64, df: usize) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let odd = df % 2 == 1;
    // Even: 1 + (1/2) cos² + (1·3)/(2·4) cos⁴ + … ; odd: cos + (2/3) cos³ + (2·4)/(3·5) cos⁵ + …
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    for step in 0..df / 2 {
        sum += term;
        let (over, under) = if odd { (2 * step + 2, 2 * step + 3) } else { (2 * step + 1, 2 * step + 2) };
        term *= cos * cos * over as f64 / under as f64;
    }
    if odd { FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_printed_tables() {
        let table = [
            (1, 12.706_205),
            (2, 4.302_653),
            (3, 3.182_446),
            (4, 2.776_445),
            (9, 2.262_157),
            (19, 2.093_024),
            (30, 2.042_272),
            (100, 1.983_972),
        ];
        for (df, expected) in table {
            let t = t_quantile_95(df).unwrap();
            assert!((t - expected).abs() < 1e-6, "df {df}: {t} is not {expected}");
        }
    }

    #[test]
    fn falls_with_the_degrees_of_freedom_to_the_normal_quantile() {
        let quantiles: Vec<f64> = (1..300).map(|df| t_quantile_95(df).unwrap()).collect();
        assert!(quantiles.windows(2).all(|pair| pair[0] > pair[1]));
        assert!((t_quantile_95(usize::MAX).unwrap() - Z_975).abs() < 1e-12);
    }

    #[test]
    fn the_expansion_joins_the_exact_sum() {
        let steps: Vec<f64> = (NEARLY_NORMAL - 2..NEARLY_NORMAL + 2)
            .map(|df| t_quantile_95(df).unwrap() - t_quantile_95(df + 1).unwrap())
            .collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-11), "{steps:?}");
    }

    #[test]
    fn tails_agree_with_the_quantile_and_with_each_other() {
        for df in [1, 2, 4, 9, 19, 100] {
            let t = t_quantile_95(df).unwrap();
            assert!((two_sided_p(t, df) - 0.05).abs() < 1e-10, "{df}");
            assert!((lower_tail(-t, df) - 0.025).abs() < 1e-10, "{df}");
            assert!((lower_tail(t, df) - 0.975).abs() < 1e-10, "{df}");
        }
        assert_eq!(
            (two_sided_p(0.0, 5), two_sided_p(f64::INFINITY, 5), two_sided_p(3.0, 0)),
            (1.0, 0.0, 1.0)
        );
    }

    #[test]
    fn zero_degrees_of_freedom_have_no_quantile() {
        assert_eq!(t_quantile_95(0), None);
    }
}
