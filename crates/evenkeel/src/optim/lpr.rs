//! LPR: gradients that leave the outputs of each layer on old examples nearly where they are.

use burn::config::Config;
use burn::tensor::{Tensor, TensorData};

use super::error::not_negative;
use super::state::{StateReader, StateWriter};
use super::vector::Vector;
use super::{
    Feedback, LayerInputs, Method, MethodConfig, NamedOptimizer, NotFinite, OptimError, Rule, RuleOptimizer,
    SgdConfig, WeightLayout,
};
use crate::nn::Modulated;

const KIND: &str = "lpr";

/// SGD on gradients that a layerwise proximal term has turned away from what old examples use. An oracle: it draws from the old data
/// (under replay, from the buffer).
///
/// ```text
/// every T steps, per layer: P = I + ω₀/(c n) ZᵀZ     Z: inputs of the layer for n old examples, in evaluation mode
/// G ← P⁻¹ G for weights [inputs, outputs], G P⁻¹ for [outputs, inputs];  w ← w − α G     c: rows of Z per example
/// ```
///
/// For a convolution Z has a row for each place that its window comes to, the unfolded patch, and c is their number (the authors' β of 1).
/// Layers whose inputs the model does not tell (see [`Feedback::layer_inputs_on_old_tasks`]) are left as they are.
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `lr` | – | `>= 0` | learning rate α |
/// | `omega` | 1 | `>= 0` | ω₀ |
/// | `every` | 30 | `>= 1` | T |
/// | `examples` | 500 | `>= 1` | n |
///
/// ```
/// use evenkeel::optim::{LprConfig, MethodConfig};
/// assert!(LprConfig::new(0.1).check().is_ok() && LprConfig::new(0.1).with_every(0.0).check().is_err());
/// ```
///
/// Reference: Yoo, Chen, Xu, Yang and Yin, *Layerwise proximal replay: a proximal point method for online continual learning* (2024).
#[derive(Config, Debug, PartialEq)]
pub struct LprConfig {
    /// Learning rate α.
    pub lr: f64,
    /// Strength ω₀.
    #[config(default = 1.0)]
    pub omega: f64,
    /// Steps T between new preconditioners.
    #[config(default = 30.0)]
    pub every: f64,
    /// Old examples n.
    #[config(default = 500.0)]
    pub examples: f64,
}

impl MethodConfig for LprConfig {
    const NAMED: &'static [NamedOptimizer] = &[NamedOptimizer::new(
        "lpr",
        "LPR",
        "SGD that keeps each layer's outputs on old examples near where they are",
        |_| Rule::Lpr(LprConfig::new(0.1)),
    )
    .oracle()];

    fn check(&self) -> Result<(), OptimError> {
        not_negative("omega", self.omega)?;
        for (name, value) in [("every", self.every), ("examples", self.examples)] {
            if !(value >= 1.0 && value.fract() == 0.0) {
                return Err(OptimError::Range { name, range: "a whole number >= 1", value });
            }
        }
        SgdConfig::new(self.lr).check()
    }

    fn method<M: Modulated>(&self) -> Result<Box<dyn Method<M>>, OptimError> {
        self.check()?;
        let optimizer = RuleOptimizer::new(KIND, self.lr, SgdConfig::new(self.lr).init()?);
        Ok(Box::new(Lpr { config: self.clone(), optimizer, inverses: Inverses::default(), steps: 0 }))
    }

    fn asks_for_layer_inputs(&self) -> bool {
        true
    }
}

struct Lpr {
    config: LprConfig,
    optimizer: RuleOptimizer,
    inverses: Inverses,
    steps: u64,
}

/// P⁻¹ by the layer's weights, flat.
#[derive(Default)]
struct Inverses {
    /// Of weights `[inputs, outputs]`.
    first: Vector,
    /// Of weights `[outputs, inputs…]`.
    last: Vector,
}

impl Inverses {
    /// A gradient, turned away from what old examples use; `None` for a layer that is left as it is.
    fn turn(&self, id: u64, gradient: &Tensor<1>) -> Option<Tensor<1>> {
        let (inverse, first) = match (self.first.0.get(&id), self.last.0.get(&id)) {
            (Some(inverse), _) => (inverse, true),
            (None, inverse) => (inverse?, false),
        };
        let [length] = gradient.dims();
        let inputs = inverse.dims()[0].isqrt();
        let outputs = length / inputs;
        let inverse = inverse.clone().to_device(&gradient.device()).reshape([inputs, inputs]);
        let gradient = gradient.clone();
        let turned = if first {
            inverse.matmul(gradient.reshape([inputs, outputs]))
        } else {
            gradient.reshape([outputs, inputs]).matmul(inverse)
        };
        Some(turned.reshape([length]))
    }
}

impl Lpr {
    fn inverse(&self, layer: &LayerInputs) -> Tensor<1> {
        let [inputs, _] = layer.products.dims();
        // rows = c n
        let scale = self.config.omega / layer.rows as f64;
        let products = layer.products.to_data();
        let mut p: Vec<f64> = products.iter::<f64>().map(|product| scale * product).collect();
        p.iter_mut().step_by(inputs + 1).for_each(|diagonal| *diagonal += 1.0);
        let inverse: Vec<f32> = inverse(p, inputs).into_iter().map(|value| value as f32).collect();
        Tensor::from_data(TensorData::new(inverse, [inputs * inputs]), &layer.products.device())
    }
}

/// `work` on every row, on all threads if there are more.
fn each_row(rows: &mut [f64], n: usize, work: impl Fn(usize, &mut [f64]) + Sync) {
    #[cfg(feature = "flex")]
    {
        use rayon::prelude::*;
        rows.par_chunks_mut(n).enumerate().for_each(|(i, row)| work(i, row));
    }
    #[cfg(not(feature = "flex"))]
    rows.chunks_mut(n).enumerate().for_each(|(i, row)| work(i, row));
}

/// The inverse of a symmetric positive definite matrix, by Cholesky's factorisation `A = L Lᵀ`.
fn inverse(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    // L into the lower triangle, column by column.
    for j in 0..n {
        let (above, below) = a.split_at_mut((j + 1) * n);
        let row = &mut above[j * n..];
        let diagonal = (row[j] - row[..j].iter().map(|l| l * l).sum::<f64>()).sqrt();
        row[j] = diagonal;
        let row = &*row;
        each_row(below, n, |_, other| {
            let product: f64 = other[..j].iter().zip(&row[..j]).map(|(a, b)| a * b).sum();
            other[j] = (other[j] - product) / diagonal;
        });
    }
    // Each column of the inverse: L y = e, Lᵀ x = y.
    let mut inverse = vec![0.0; n * n];
    each_row(&mut inverse, n, |column, x| {
        x[column] = 1.0;
        for i in column..n {
            let row = &a[i * n..=i * n + i];
            let known: f64 = row[column..i].iter().zip(&x[column..i]).map(|(l, x)| l * x).sum();
            x[i] = (x[i] - known) / row[i];
        }
        for i in (0..n).rev() {
            let row = &a[i * n..=i * n + i];
            x[i] /= row[i];
            let solved = x[i];
            for (x, l) in x[..i].iter_mut().zip(row) {
                *x -= l * solved;
            }
        }
    });
    inverse
}

impl<M: Modulated> Method<M> for Lpr {
    fn step(&mut self, model: M, feedback: &mut dyn Feedback<M>) -> Result<M, NotFinite> {
        let gradients = feedback.gradients(&model)?.of;
        if self.steps as f64 % self.config.every == 0.0
            && let Some(layers) = feedback.layer_inputs_on_old_tasks(&model, self.config.examples as usize)
        {
            self.inverses = Inverses::default();
            for layer in layers {
                let inverse = self.inverse(&layer);
                let of = match layer.weights {
                    WeightLayout::InputsFirst => &mut self.inverses.first,
                    WeightLayout::InputsLast => &mut self.inverses.last,
                };
                of.0.insert(layer.parameter.val(), inverse);
            }
        }
        self.steps += 1;
        if self.inverses.first.0.is_empty() && self.inverses.last.0.is_empty() {
            return Ok(self.optimizer.step(model, gradients));
        }
        let mut d = Vector::of_gradients(&model, &gradients);
        for (id, gradient) in &mut d.0 {
            if let Some(turned) = self.inverses.turn(*id, gradient) {
                *gradient = turned;
            }
        }
        let d = d.into_gradients(&model);
        Ok(self.optimizer.step(model, d))
    }

    fn reset(&mut self) {
        self.optimizer.reset();
        (self.inverses, self.steps) = (Inverses::default(), 0);
    }

    fn save(&self) -> Result<Vec<u8>, OptimError> {
        StateWriter::new(KIND)
            .number("steps", self.steps as f64)
            .vector("inverses", Some(&self.inverses.first))
            .vector("inverses_of_convolutions", Some(&self.inverses.last))
            .part("optimizer", self.optimizer.to_bytes()?)
            .finish()
    }

    fn load(&mut self, state: &[u8]) -> Result<(), OptimError> {
        let state = StateReader::open(KIND, state)?;
        self.optimizer.load_bytes(&state.part("optimizer")?)?;
        self.inverses = Inverses {
            first: state.vector("inverses")?.unwrap_or_default(),
            last: state.vector("inverses_of_convolutions")?.unwrap_or_default(),
        };
        self.steps = state.number("steps")? as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gradient_is_turned_on_the_side_of_the_inputs() {
        use burn::tensor::Device;
        let device = Device::flex();
        // Two inputs, and three outputs.
        let of = |values: &[f32]| Tensor::<1>::from_data(values, &device);
        let vector = |id| Vector([(id, of(&[1.0, 2.0, 2.0, 5.0]))].into());
        let inverses = Inverses { first: vector(1), last: vector(2) };
        let turned = |id, gradient: &[f32]| {
            inverses.turn(id, &of(gradient)).map(|d| d.into_data().try_to_vec::<f32>().unwrap())
        };
        assert_eq!(turned(1, &[1.0, 0.0, 2.0, 0.0, 1.0, 1.0]), Some(vec![1.0, 2.0, 4.0, 2.0, 5.0, 9.0]));
        assert_eq!(turned(2, &[1.0, 0.0, 0.0, 1.0, 2.0, 1.0]), Some(vec![1.0, 2.0, 2.0, 5.0, 4.0, 9.0]));
        assert_eq!(turned(3, &[1.0]), None);
    }

    #[test]
    fn the_inverse_times_the_matrix_is_the_identity() {
        let n = 7;
        let b = |i: usize, j: usize| ((i * 5 + j * 3) % 11) as f64 / 11.0 - 0.4;
        let a: Vec<f64> = (0..n * n)
            .map(|at| (0..n).map(|k| b(at / n, k) * b(at % n, k)).sum::<f64>() + f64::from(at % (n + 1) == 0))
            .collect();
        let found = inverse(a.clone(), n);
        for i in 0..n {
            for j in 0..n {
                let product: f64 = (0..n).map(|k| found[i * n + k] * a[k * n + j]).sum();
                assert!((product - f64::from(i == j)).abs() < 1e-12, "{i} {j}: {product}");
            }
        }
    }
}
