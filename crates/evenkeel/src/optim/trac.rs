//! TRAC: a parameter-free tuner of how far the weights are from where they began.

use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

use burn::config::Config;

use super::error::not_negative;
use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{
    AdamConfig, Feedback, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer,
};
use crate::nn::Modulated;

const KIND: &str = "trac";

/// Discounts β of the bettors.
const DISCOUNTS: [f64; 6] = [0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999];

/// Keeps a quotient finite before anything was bet.
const EPSILON: f64 = 1e-8;

/// TRAC around Adam.
///
/// ```text
/// w = w₀ + S Δ                          Δ: the offset that Adam has made from w₀
/// h = ⟨Δ, ∂L/∂w⟩;  for each β: v ← β² v + h²,  σ ← β σ − h
/// S = max(0, Σ_β ε erfi(σ/√(2v)) / erfi(1/√2))
/// ```
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate of Adam |
/// | `stake` | 1e-8 | `>= 0` | what each bettor starts with, ε |
///
/// ```
/// use evenkeel::optim::{MethodConfig, TracConfig};
/// assert!(TracConfig::new(0.001).check().is_ok());
/// ```
///
/// Reference: Muppidi, Zhang and Yang, *Fast TRAC: a parameter-free optimizer for lifelong reinforcement learning* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct TracConfig {
    /// Learning rate of Adam.
    pub lr: f64,
    /// Stake ε.
    #[config(default = 1e-8)]
    pub stake: f64,
}

impl MethodConfig for TracConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "trac",
        "TRAC",
        "Adam whose distance from the start is tuned by itself",
        |_| Rule::Trac(TracConfig::new(0.001)),
    )
    .keeps(4)];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("stake", self.stake)?;
        AdamConfig::new(self.lr).check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let base = RuleOptimizer::new(KIND, self.lr, AdamConfig::new(self.lr).init()?);
        Ok(Box::new(Trac { stake: self.stake, base, start: None, offset: None, bets: Default::default() }))
    }
}

/// σ and v of one bettor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Bet {
    sigma: f64,
    v: f64,
}

impl Bet {
    fn learn(&mut self, beta: f64, h: f64) {
        self.v = beta * beta * self.v + h * h;
        self.sigma = beta * self.sigma - h;
    }

    fn scale(self) -> f64 {
        erfi(self.sigma / ((2.0 * self.v).sqrt() + EPSILON)) / erfi(1.0 / SQRT_2)
    }
}

/// `erfi(x) = 2/√π ∫₀ˣ exp(t²) dt`, by its power series, or beyond 6 by its asymptotic one.
fn erfi(x: f64) -> f64 {
    if x.abs() > 6.0 {
        let y = 1.0 / (x * x);
        let series = 1.0 + y * (0.5 + y * (0.75 + y * (1.875 + y * 6.5625)));
        return (x * x).exp() / x * series * FRAC_2_SQRT_PI / 2.0;
    }
    // Terms x²ⁿ⁺¹ / (n! (2n+1)), all of one sign.
    let (mut power, mut sum, mut n) = (x, 0.0, 0.0);
    loop {
        let term = power / (2.0 * n + 1.0);
        sum += term;
        if term.abs() <= 1e-17 * sum.abs() {
            return FRAC_2_SQRT_PI * sum;
        }
        n += 1.0;
        power *= x * x / n;
    }
}

struct Trac {
    stake: f64,
    base: RuleOptimizer,
    start: Option<Vector>,
    offset: Option<Vector>,
    bets: [Bet; DISCOUNTS.len()],
}

impl<M: Modulated> Method<M> for Trac {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let gradients = feedback.gradients(&model)?.of;
        let d = Vector::of_gradients(&model, &gradients);
        let start = self.start.take().unwrap_or_else(|| Vector::of_weights(&model));
        let offset = self.offset.take().unwrap_or_else(|| start.zeros_like());
        let h = offset.dot(&d);
        for (bet, beta) in self.bets.iter_mut().zip(DISCOUNTS) {
            bet.learn(beta, h);
        }
        let scale = self.stake * self.bets.iter().map(|bet| bet.scale()).sum::<f64>().max(0.0);
        // Adam goes on from where it would be at scale 1.
        let base = start.clone().scaled_sum(1.0, 1.0, &offset).into_weights_of(model);
        let base = self.base.step(base, gradients);
        let offset = Vector::of_weights(&base).scaled_sum(1.0, -1.0, &start);
        let model = start.clone().scaled_sum(1.0, scale, &offset).into_weights_of(base);
        (self.start, self.offset) = (Some(start), Some(offset));
        Ok(model)
    }

    fn reset(&mut self) {
        self.base.reset();
        (self.start, self.offset, self.bets) = (None, None, Default::default());
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        let bets: Vec<u8> =
            self.bets.iter().flat_map(|bet| [bet.sigma, bet.v]).flat_map(f64::to_le_bytes).collect();
        StateWriter::new(KIND)
            .part("bets", bets)
            .vector("start", self.start.as_ref())
            .vector("offset", self.offset.as_ref())
            .part("base", self.base.to_bytes()?)
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        let bytes = state.part("bets")?;
        let (numbers, _) = bytes.as_chunks::<8>();
        let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        if numbers.len() != 2 * DISCOUNTS.len() || numbers.iter().any(|number| !number.is_finite()) {
            return Err(OptimError::Record("its bets are not six pairs of numbers".into()));
        }
        self.base.load_bytes(&state.part("base")?)?;
        for (bet, pair) in self.bets.iter_mut().zip(numbers.chunks_exact(2)) {
            *bet = Bet { sigma: pair[0], v: pair[1] };
        }
        (self.start, self.offset) = (state.vector("start")?, state.vector("offset")?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erfi_is_what_tables_say() {
        let known = [
            (0.0, 0.0),
            (0.5, 0.614_952_094_696_510_8),
            (1.0, 1.650_425_758_797_542_8),
            (-2.0, -18.564_802_414_575_55),
            (5.0, 8_298_273_880.676_804),
        ];
        for (x, value) in known {
            assert!((erfi(x) - value).abs() <= 1e-12 * f64::abs(value), "{x}: {} {value}", erfi(x));
        }
        // Both series where they meet.
        let below = erfi(6.0);
        assert!((erfi(6.0 + 1e-12) / below - 1.0).abs() < 2e-6, "{}", erfi(6.0 + 1e-12) / below);
    }
}
