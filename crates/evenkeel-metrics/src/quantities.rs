//! What is measured of one seed's curve: one file per quantity, registered in one line below.
//!
//! Tables, comparisons and verdicts of every command are made from this list.

mod per_switch;

use crate::curve::Curve;

/// What a quantity is measured in; it decides which values are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 0 to 100.
    Percent,
    /// At most 1; negative where there is a gain instead of a loss.
    Fraction,
    /// Iterations.
    Iterations,
    /// A loss.
    Nats,
}

/// Which values are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// High ones.
    More,
    /// Low ones.
    Less,
}

/// A number per seed.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    /// Its name in tables.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub definition: &'static str,
    /// What it is measured in.
    pub unit: Unit,
    /// Decimals that are shown.
    pub digits: usize,
    /// Which values are good.
    pub better: Better,
    /// Whether it is one of the four metrics of the paper's tables.
    pub in_paper: bool,
    /// What a seed counts whose training diverged; without such a value it counts nothing, and neither do the other seeds.
    pub worst: Option<f64>,
    /// The number; `None` where the curve does not hold what it needs.
    pub of: fn(&Curve) -> Option<f64>,
}

impl Quantity {
    /// The values that are possible.
    pub fn range(&self) -> [f64; 2] {
        match self.unit {
            Unit::Percent => [0.0, 100.0],
            Unit::Fraction => [f64::NEG_INFINITY, 1.0],
            Unit::Iterations => [0.0, f64::INFINITY],
            Unit::Nats => [f64::NEG_INFINITY, f64::INFINITY],
        }
    }
}

macro_rules! quantities {
    ($($module:ident;)*) => {
        $(mod $module;)*

        /// Every quantity, in the order of tables.
        pub const QUANTITIES: &[Quantity] = &[$($module::QUANTITY),*];
    };
}

quantities! {
    avg_acc;
    avg_min_acc;
    wc_acc;
    avg_sg;
    newest_task;
    all_seen;
    online;
    first_50;
    time_to_learn;
    gap_width;
    recovery;
    recovered;
    loss_spike;
    all_task_min;
    all_task_wc;
    all_task_sg;
    all_task_worst_sg;
}

/// The quantity of that name.
pub fn quantity(name: &str) -> Option<&'static Quantity> {
    QUANTITIES.iter().find(|quantity| quantity.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, curve};

    #[test]
    fn names_are_unique_and_worst_values_possible() {
        for (i, one) in QUANTITIES.iter().enumerate() {
            assert!(QUANTITIES[..i].iter().all(|other| other.name != one.name), "{}", one.name);
            let [low, high] = one.range();
            assert!(one.worst.is_none_or(|worst| (low..=high).contains(&worst)), "{}", one.name);
            let extreme = match one.better {
                Better::More => low,
                Better::Less => high,
            };
            assert!(one.worst.is_none_or(|worst| worst == extreme), "{}", one.name);
        }
    }

    #[test]
    fn a_hand_computed_curve() {
        let curve = curve(&[&[100.0], &[50.0, 60.0], &[30.0, 59.0, 60.0]]);
        let value = |name: &str| (quantity(name).unwrap().of)(&curve);
        assert_close(value("avg-min-ACC").unwrap(), 40.0);
        assert_close(value("avg-SG").unwrap(), 0.5);
        // Below 95 for both iterations of task 2, below 57 for the first of task 3.
        assert_close(value("gap width").unwrap(), 1.5);
        // Open until the end of task 2 (at least two iterations), closed after two in task 3.
        assert_close(value("recovery").unwrap(), 2.0);
        assert_close(value("recovered").unwrap(), 50.0);
        assert_eq!(
            (value("loss spike"), value("newest task"), value("all-task min-ACC")),
            (None, None, None)
        );
        assert_eq!((value("online"), value("first 50"), value("time to learn")), (None, None, None));
    }
}
