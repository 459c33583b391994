//! Mean and spread of a few numbers.

/// Arithmetic mean, `x̄ = Σ x / n`; 0 for no values.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Population standard deviation, `√(Σ (x − x̄)² / n)`; 0 for no values. The paper's ± across seeds.
pub fn population_sd(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { (squared_deviations(values) / values.len() as f64).sqrt() }
}

/// Sample standard deviation, `√(Σ (x − x̄)² / (n − 1))`; `None` for fewer than two values.
pub fn sample_sd(values: &[f64]) -> Option<f64> {
    (values.len() >= 2).then(|| (squared_deviations(values) / (values.len() - 1) as f64).sqrt())
}

fn squared_deviations(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn both_spreads_of_a_known_sample() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_close(mean(&values), 5.0);
        assert_close(population_sd(&values), 2.0);
        assert_close(sample_sd(&values).unwrap(), (32.0_f64 / 7.0).sqrt());
    }

    #[test]
    fn one_value_has_no_sample_deviation() {
        assert_eq!(sample_sd(&[3.0]), None);
        assert_close(population_sd(&[3.0]), 0.0);
    }
}
