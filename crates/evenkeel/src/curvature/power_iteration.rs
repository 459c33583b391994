//! Power iteration on Hessian-vector products.

use burn::module::Module;
use burn::tensor::{DType, Tensor};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use thiserror::Error;

use super::Coordinates;
use super::flat::{gradients, parameters, probe, with_values};

/// Why a curvature could not be measured.
///
/// ```
/// use evenkeel::curvature::{CurvatureError, PowerIteration};
/// assert_eq!(PowerIteration::new().with_steps(0).check(), Err(CurvatureError::Steps));
/// ```
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CurvatureError {
    /// No iteration, no estimate.
    #[error("steps must be at least 1")]
    Steps,
    /// The difference step is not a small positive number.
    #[error("step must be in (0, 1), got {0}")]
    Step(f64),
    /// The tolerance of the early stop is negative or NaN.
    #[error("tolerance must be a finite number >= 0, got {0}")]
    Tolerance(f64),
    /// A gain by which nothing can be divided.
    #[error("gain must be a finite number > 0, got {0}")]
    Gain(f64),
    /// The pattern of the modulated parameters is not a regular expression.
    #[error("'{0}' is not a regular expression for parameter paths")]
    Pattern(String),
    /// Effective coordinates of a model that has no modulated parameter would be base coordinates.
    #[error("no trainable weight of rank 2 or more is in the modulated group")]
    NothingMatches,
    /// There is nothing to differentiate with respect to.
    #[error("the model has no parameter that requires gradients")]
    NoParameters,
    /// Weights, loss or gradients overflowed.
    #[error("the Hessian-vector product of iteration {0} is not finite")]
    NotFinite(usize),
}

/// Parameters of [`dominant_eigenvalue`].
///
/// | field | default | range | purpose |
/// |---|---|---|---|
/// | `steps` | 25 | `>= 1` | most iterations, of two gradients each; the paper's number |
/// | `seed` | 0 | – | of the random start vector |
/// | `tolerance` | none | `>= 0` | stops when the estimate changes by at most this much relative to itself |
/// | `step` | by precision: 1e-3 in f32, 1e-8 in f64 | `(0, 1)` | length of the difference step relative to the norm of the weights |
/// | `coordinates` | base | [`Coordinates`] | with respect to which weights |
///
/// ```
/// use evenkeel::curvature::PowerIteration;
/// let until_it_settles = PowerIteration::new().with_steps(200).with_tolerance(1e-4).with_seed(3);
/// assert!(until_it_settles.check().is_ok());
/// ```
#[derive(Debug, Clone)]
pub struct PowerIteration {
    /// Most iterations, each with two gradients.
    pub steps: usize,
    /// Seed of the start vector.
    pub seed: u64,
    /// Relative change of the estimate at which to stop early.
    pub tolerance: Option<f64>,
    /// Difference step relative to the norm of the weights; by the precision of the weights if `None`.
    pub step: Option<f64>,
    /// With respect to which weights the loss is differentiated.
    pub coordinates: Coordinates,
}

impl Default for PowerIteration {
    fn default() -> Self {
        Self { steps: 25, seed: 0, tolerance: None, step: None, coordinates: Coordinates::Base }
    }
}

impl PowerIteration {
    /// The paper's 25 iterations, in base coordinates.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of iterations.
    #[must_use]
    pub fn with_steps(mut self, steps: usize) -> Self {
        self.steps = steps;
        self
    }

    /// Sets the seed of the start vector.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Stops early when the estimate changes by at most `tolerance` relative to itself.
    #[must_use]
    pub fn with_tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = Some(tolerance);
        self
    }

    /// Sets the difference step relative to the norm of the weights.
    #[must_use]
    pub fn with_step(mut self, step: f64) -> Self {
        self.step = Some(step);
        self
    }

    /// Sets the coordinates.
    #[must_use]
    pub fn with_coordinates(mut self, coordinates: Coordinates) -> Self {
        self.coordinates = coordinates;
        self
    }

    /// Checks the ranges without measuring anything.
    pub fn check(&self) -> Result<(), CurvatureError> {
        if self.steps == 0 {
            return Err(CurvatureError::Steps);
        }
        if let Some(step) = self.step.filter(|step| !(*step > 0.0 && *step < 1.0)) {
            return Err(CurvatureError::Step(step));
        }
        match self.tolerance.filter(|tolerance| !(*tolerance >= 0.0 && tolerance.is_finite())) {
            Some(tolerance) => Err(CurvatureError::Tolerance(tolerance)),
            None => Ok(()),
        }
    }
}

/// An estimate of the eigenvalue of largest magnitude.
///
/// ```
/// use evenkeel::curvature::Eigenvalue;
/// let found = Eigenvalue { value: -4.0, iterations: 25, residual: 1e-6 };
/// assert_eq!(found.magnitude(), 4.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Eigenvalue {
    /// The Rayleigh quotient `λ = vᵀHv`, with its sign.
    pub value: f64,
    /// Iterations taken: fewer than asked for if the tolerance was met.
    pub iterations: usize,
    /// `‖Hv − λv‖ / |λ|`: some eigenvalue is within this relative distance of `value`. Zero for a Hessian of zero.
    pub residual: f64,
}

impl Eigenvalue {
    /// `|λ|`: what the paper's curvature is.
    pub fn magnitude(&self) -> f64 {
        self.value.abs()
    }
}

/// The Hessian eigenvalue of largest magnitude of `loss` at the weights of `model`, by power iteration.
///
/// ```text
/// λ ← vᵀ H v,    v ← H v / ‖H v‖,    H v ≈ (∇L(w + εv) − ∇L(w − εv)) / 2ε
/// ```
///
/// The gradients are differenced because autodiff is first-order. Their step is `ε = step · ‖w‖ / ‖v‖` (‖w‖ = 1 if all
/// weights are zero), so it moves with the scale of the weights. In f32 the default 1e-3 keeps the rounding of a weight, 6e-8
/// of itself, four digits below the step, and the truncation of the order of `step²`.
///
/// A network with kinks (ReLU) needs more care than the rounding: each kink that a step crosses adds `1/ε` times a jump.
/// The step of f32 crosses many and averages over them; a shorter one crosses few and is noisy. In f64 ([`in_f64`]) the
/// default 1e-8 crosses practically none, and the result is the Hessian that second-order autodiff gives. For the paper's
/// MLP on 640 images of Split MNIST's task 1, f32 was within 0.01, 5.5 and 1.5 % of it before, 5 and 200 iterations after the
/// first switch (SGD, one seed), where f64 with steps of 1e-8 and 1e-9 agreed to 8 digits.
///
/// [`in_f64`]: super::in_f64
///
/// All parameters that require gradients take part, in visiting order. The given model is not touched: the loss is called
/// on copies, with dropout off and normalisation layers on their running statistics. The loss has to be a deterministic
/// function of the weights; use fixed batches, as the paper does.
///
/// ```
/// use burn::{module::Param, tensor::{Device, Tensor}};
/// use evenkeel::curvature::{PowerIteration, dominant_eigenvalue};
///
/// // L = ½ (w₁² − 4 w₂²): the Hessian has the eigenvalues 1 and −4.
/// let device = Device::flex().autodiff();
/// let model: Param<Tensor<1>> = Param::from_data([0.5, 0.2], &device);
/// let a = Tensor::<1>::from_data([0.5, -2.0], &device);
/// let loss = |w: &Param<Tensor<1>>| (a.clone() * w.val().square()).sum();
/// let found = dominant_eigenvalue(&model, loss, &PowerIteration::new())?;
/// assert!((found.value + 4.0).abs() < 1e-3 && found.magnitude() > 0.0);
/// # Ok::<(), evenkeel::curvature::CurvatureError>(())
/// ```
///
/// Reference: Figure 3e of the paper and its footnote.
pub fn dominant_eigenvalue<M: Module>(
    model: &M,
    loss: impl Fn(&M) -> Tensor<1>,
    config: &PowerIteration,
) -> Result<Eigenvalue, CurvatureError> {
    config.check()?;
    let model = probe(model);
    let (layout, weights) = parameters(&model);
    if weights.is_empty() {
        return Err(CurvatureError::NoParameters);
    }
    let diagonal = config.coordinates.diagonal(&layout)?;
    let gradient = |weights: &[f64]| {
        let model = with_values(model.clone(), weights);
        gradients(&model, &loss(&model).backward())
    };
    let f64_weights = layout.iter().all(|parameter| parameter.dtype == DType::F64);
    let step = config.step.unwrap_or(if f64_weights { 1e-8 } else { 1e-3 });
    let scale = Some(norm(&weights)).filter(|norm| *norm > 0.0).unwrap_or(1.0);
    // D⁻¹ H D⁻¹ v; in base coordinates D is the identity.
    let product = |v: &[f64]| -> Vec<f64> {
        let u: Vec<f64> = v.iter().zip(&diagonal).map(|(v, d)| v / d).collect();
        let epsilon = step * scale / norm(&u);
        let moved =
            |epsilon: f64| -> Vec<f64> { weights.iter().zip(&u).map(|(w, u)| w + epsilon * u).collect() };
        let (plus, minus) = (gradient(&moved(epsilon)), gradient(&moved(-epsilon)));
        plus.iter().zip(minus).zip(&diagonal).map(|((p, m), d)| (p - m) / (2.0 * epsilon * d)).collect()
    };

    let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
    let start: Vec<f64> = (0..weights.len()).map(|_| StandardNormal.sample(&mut rng)).collect();
    let mut v = unit(&start);
    let mut found = Eigenvalue { value: 0.0, iterations: 0, residual: 0.0 };
    for iteration in 1..=config.steps {
        let hv = product(&v);
        let length = norm(&hv);
        if !length.is_finite() {
            return Err(CurvatureError::NotFinite(iteration));
        }
        if length == 0.0 {
            return Ok(Eigenvalue { value: 0.0, iterations: iteration, residual: 0.0 });
        }
        let value = dot(&v, &hv);
        let distance = v.iter().zip(&hv).map(|(v, hv)| (hv - value * v).powi(2)).sum::<f64>().sqrt();
        let change = (value - found.value).abs() / value.abs();
        found = Eigenvalue { value, iterations: iteration, residual: distance / value.abs() };
        if config.tolerance.is_some_and(|tolerance| iteration > 1 && change <= tolerance) {
            break;
        }
        v = unit(&hv);
    }
    Ok(found)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

fn unit(v: &[f64]) -> Vec<f64> {
    let length = norm(v);
    v.iter().map(|v| v / length).collect()
}
