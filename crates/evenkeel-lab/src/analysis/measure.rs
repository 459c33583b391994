//! A number per seed.

use evenkeel_metrics::{Quantity, quantity};

use super::groups::Finished;

/// How a number comes from what a seed measured.
pub type Of<'a> = Box<dyn Fn(&Finished) -> Option<f64> + 'a>;

/// A number per seed: a registered quantity, or one that a result needs for itself.
pub struct Measure<'a> {
    /// Its name in tables and files.
    pub name: String,
    /// Decimals that are shown.
    pub digits: usize,
    /// The values that are possible.
    pub range: [f64; 2],
    /// What a diverged seed counts.
    pub worst: Option<f64>,
    /// The number; `None` where the run does not hold what it needs.
    pub of: Of<'a>,
}

impl<'a> Measure<'a> {
    /// A measure of a result's own.
    pub fn new(name: impl Into<String>, digits: usize, of: impl Fn(&Finished) -> Option<f64> + 'a) -> Self {
        let range = [f64::NEG_INFINITY, f64::INFINITY];
        Self { name: name.into(), digits, range, worst: None, of: Box::new(of) }
    }

    /// The registered quantity of that name.
    ///
    /// # Panics
    /// If there is none: the names in the code are tested.
    pub fn named(name: &str) -> Measure<'static> {
        quantity(name).unwrap_or_else(|| panic!("there is no quantity '{name}'")).into()
    }
}

impl From<&'static Quantity> for Measure<'static> {
    fn from(quantity: &'static Quantity) -> Self {
        Self {
            name: quantity.name.to_string(),
            digits: quantity.digits,
            range: quantity.range(),
            worst: quantity.worst,
            of: Box::new(|seed| (quantity.of)(&seed.curve)),
        }
    }
}
