//! What the differences of a few seeds say about a claim.

use serde::{Deserialize, Serialize};

use crate::interval::{FEWEST_SEEDS, Interval};
use crate::student_t::{lower_tail, t_quantile_95, two_sided_p};

/// What a claim says of a number: a difference between two methods on the same seed, or one method's own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// It is negative.
    Less,
    /// It is positive.
    More,
    /// It is below a threshold other than zero: "not clearly more".
    Below(f64),
    /// It is above a threshold other than zero: "not clearly less".
    Above(f64),
    /// It is within ± the margin: two one-sided tests.
    Within(f64),
    /// It is not below minus the margin, in the manner of "competitive": it is within ± the margin, and only a value that is
    /// certainly below contradicts it.
    NotBelow(f64),
}

/// Where the evidence points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Towards the claim.
    For,
    /// Away from it.
    Against,
}

/// Student's test of paired differences `d_s = a_s − b_s` over seeds, or of one number per seed against zero.
///
/// For *less* and *more* (and *below* and *above* a threshold) `p` is that of the two-sided test, and the side of the mean says where it
/// points. For *within* it is twice the
/// smaller of two p-values: of the two one-sided tests for lying inside the margin (the larger of both, as usual), and of the
/// test for lying outside. So one p below 0.05 means the same for every kind of claim.
///
/// ```
/// use evenkeel_metrics::{Direction, Evidence, Side};
///
/// let evidence = Evidence::of(&[1.0, 1.2, 0.8, 1.1, 0.9], Side::More).unwrap();
/// assert_eq!(evidence.direction, Direction::For);
/// assert!(evidence.p.unwrap() < 0.001);
/// assert_eq!(Evidence::of(&[1.0, 1.2], Side::More).unwrap().p, None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What the claim says.
    pub side: Side,
    /// Mean difference with Student's interval; without the margin of an equivalence test.
    pub interval: Interval,
    /// Where it points.
    pub direction: Direction,
    /// Before any adjustment; `None` for fewer than three seeds.
    pub p: Option<f64>,
}

impl Evidence {
    /// Of one number per seed; `None` if there are none or one is not finite.
    pub fn of(differences: &[f64], side: Side) -> Option<Self> {
        let interval = Interval::of(differences)?;
        let (direction, p) = match side {
            Side::Less => (towards(interval.mean < 0.0), two_sided(&interval, 0.0)),
            Side::More => (towards(interval.mean > 0.0), two_sided(&interval, 0.0)),
            Side::Below(threshold) => (towards(interval.mean < threshold), two_sided(&interval, threshold)),
            Side::Above(threshold) => (towards(interval.mean > threshold), two_sided(&interval, threshold)),
            Side::Within(margin) => {
                let outside = below(&interval, -margin).min(above(&interval, margin));
                equivalence(&interval, margin, outside)
            }
            Side::NotBelow(margin) => equivalence(&interval, margin, below(&interval, -margin)),
        };
        Some(Self { side, interval, direction, p: (interval.n >= FEWEST_SEEDS).then_some(p) })
    }
}

impl Evidence {
    /// Of two groups of seeds that are no pairs: Welch's test of the difference of their means, `ā − b̄`, which does not assume
    /// equal spread.
    ///
    /// `s² = s_a²/n_a + s_b²/n_b`, with Welch's and Satterthwaite's degrees of freedom rounded down. `n` of the interval is the
    /// smaller of both, and its deviation that of the difference, `s·√n`. Only for *less* and *more*; `None` for another side,
    /// or where a value is not finite.
    ///
    /// ```
    /// use evenkeel_metrics::{Evidence, Side};
    ///
    /// let evidence = Evidence::welch(&[3.0, 4.0, 5.0, 4.0], &[1.0, 2.0, 1.5], Side::More).unwrap();
    /// assert!((evidence.interval.mean - 2.5).abs() < 1e-12 && evidence.p.unwrap() < 0.01);
    /// ```
    pub fn welch(a: &[f64], b: &[f64], side: Side) -> Option<Self> {
        let (a, b) = (Interval::of(a)?, Interval::of(b)?);
        let mean = a.mean - b.mean;
        let direction = match side {
            Side::Less => towards(mean < 0.0),
            Side::More => towards(mean > 0.0),
            _ => return None,
        };
        let n = a.n.min(b.n);
        let errors = a.standard_error().zip(b.standard_error());
        let error = errors.map(|(a, b)| (a * a + b * b).sqrt());
        let df = errors.zip(error).map_or(0, |((ea, eb), error)| {
            let parts = ea.powi(4) / (a.n - 1) as f64 + eb.powi(4) / (b.n - 1) as f64;
            // Seeds that all agree on both sides: the smaller group decides.
            if parts > 0.0 { (error.powi(4) / parts).floor() as usize } else { n - 1 }
        });
        let tested = error.filter(|_| n >= FEWEST_SEEDS);
        let ci95 = tested.zip(t_quantile_95(df)).map(|(error, t)| [mean - t * error, mean + t * error]);
        let statistic = |error: f64| if mean == 0.0 { 0.0 } else { mean / error };
        let interval = Interval { n, mean, sd: error.map(|error| error * (n as f64).sqrt()), ci95 };
        Some(Self { side, interval, direction, p: tested.map(|error| two_sided_p(statistic(error), df)) })
    }
}

fn towards(yes: bool) -> Direction {
    if yes { Direction::For } else { Direction::Against }
}

fn equivalence(interval: &Interval, margin: f64, outside: f64) -> (Direction, f64) {
    let inside = above(interval, -margin).max(below(interval, margin));
    (towards(inside <= outside), (2.0 * inside.min(outside)).min(1.0))
}

/// t statistic of the mean against `value`, and its degrees of freedom.
fn statistic(interval: &Interval, value: f64) -> (f64, usize) {
    let distance = interval.mean - value;
    let error = interval.standard_error().unwrap_or(f64::INFINITY);
    // Seeds that all agree leave no doubt, unless there is nothing to doubt.
    let t = if distance == 0.0 { 0.0 } else { distance / error };
    (t, interval.n.saturating_sub(1))
}

fn two_sided(interval: &Interval, value: f64) -> f64 {
    let (t, df) = statistic(interval, value);
    two_sided_p(t, df)
}

/// p of the one-sided test that the mean is below `value`.
fn below(interval: &Interval, value: f64) -> f64 {
    let (t, df) = statistic(interval, value);
    lower_tail(t, df)
}

/// p of the one-sided test that the mean is above `value`.
fn above(interval: &Interval, value: f64) -> f64 {
    let (t, df) = statistic(interval, value);
    lower_tail(-t, df)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn welch_agrees_with_a_computation_by_hand() {
        // Means 20.5 and 15; s² = 35/3 of 4 values, and 4 of 3.
        let (a, b) = ([17.0, 19.0, 21.0, 25.0], [13.0, 15.0, 17.0]);
        let evidence = Evidence::welch(&a, &b, Side::More).unwrap();
        let error = (35.0_f64 / 12.0 + 4.0 / 3.0).sqrt();
        let df = (error.powi(4) / ((35.0_f64 / 12.0).powi(2) / 3.0 + (4.0_f64 / 3.0).powi(2) / 2.0)).floor();
        assert_eq!(df, 4.0);
        // t = 5.5 / 2.0616 = 2.668; with 4 degrees of freedom p = 0.0559, and the 0.975 quantile is 2.7764.
        assert!((evidence.p.unwrap() - 0.0559).abs() < 2e-4, "{evidence:?}");
        let [low, high] = evidence.interval.ci95.unwrap();
        assert!((low - (5.5 - 2.7764 * error)).abs() < 1e-3 && (high - (5.5 + 2.7764 * error)).abs() < 1e-3);
        assert_eq!((evidence.interval.n, evidence.direction), (3, Direction::For));
    }

    #[test]
    fn welch_needs_three_seeds_on_both_sides_and_a_plain_side() {
        assert_eq!(Evidence::welch(&[1.0, 2.0, 3.0], &[1.0, 2.0], Side::Less).unwrap().p, None);
        assert_eq!(Evidence::welch(&[1.0], &[2.0], Side::Less).unwrap().interval.ci95, None);
        assert!(Evidence::welch(&[1.0; 3], &[2.0; 3], Side::Within(1.0)).is_none());
        assert!(Evidence::welch(&[1.0; 3], &[f64::NAN; 3], Side::Less).is_none());
        let certain = Evidence::welch(&[1.0; 3], &[2.0; 3], Side::Less).unwrap();
        assert_eq!((certain.p, certain.direction), (Some(0.0), Direction::For));
    }

    #[test]
    fn the_sign_of_the_mean_says_where_it_points() {
        let values = [1.0, 1.2, 0.8, 1.1, 0.9];
        assert_eq!(Evidence::of(&values, Side::More).unwrap().direction, Direction::For);
        let against = Evidence::of(&values, Side::Less).unwrap();
        assert_eq!(against.direction, Direction::Against);
        assert_eq!(against.p, Evidence::of(&values, Side::More).unwrap().p);
    }

    #[test]
    fn p_is_the_tables() {
        // t = 2 with 4 degrees of freedom: p = 0.11611652...
        let values: Vec<f64> =
            [-1.0, -0.5, 0.0, 0.5, 1.0].map(|x: f64| x + 2.0 * 0.625_f64.sqrt() / 5_f64.sqrt()).into();
        assert_close(Evidence::of(&values, Side::More).unwrap().p.unwrap(), 0.116_116_523_516_815_6);
    }

    #[test]
    fn close_means_within_the_margin_on_both_sides() {
        let close = [0.1, -0.1, 0.05, 0.0, -0.05];
        let evidence = Evidence::of(&close, Side::Within(1.0)).unwrap();
        assert_eq!(evidence.direction, Direction::For);
        assert!(evidence.p.unwrap() < 1e-4);
        assert_close(evidence.interval.mean, 0.0);
        let far = [3.1, 2.9, 3.05, 3.0, 2.95];
        let evidence = Evidence::of(&far, Side::Within(1.0)).unwrap();
        assert_eq!((evidence.direction, evidence.p.unwrap() < 1e-4), (Direction::Against, true));
        // Better than competitive is no contradiction.
        let better = Evidence::of(&far, Side::NotBelow(1.0)).unwrap();
        assert!(better.p.unwrap() > 0.9);
        let worse = Evidence::of(&far.map(|x: f64| -x), Side::NotBelow(1.0)).unwrap();
        assert_eq!((worse.direction, worse.p.unwrap() < 1e-4), (Direction::Against, true));
        let wide = Evidence::of(&[3.0, -3.0, 2.0, -2.0, 0.1], Side::Within(1.0)).unwrap();
        assert!(wide.p.unwrap() > 0.2);
    }

    #[test]
    fn a_threshold_moves_the_test_and_not_the_evidence() {
        let values = [0.02, 0.03, 0.01, 0.02];
        let evidence = Evidence::of(&values, Side::Below(0.05)).unwrap();
        assert_eq!((evidence.direction, evidence.p.unwrap() < 0.01), (Direction::For, true));
        assert_close(evidence.interval.mean, 0.02);
        assert_eq!(Evidence::of(&values, Side::Above(0.05)).unwrap().direction, Direction::Against);
    }

    #[test]
    fn seeds_that_all_agree_leave_no_doubt() {
        assert_eq!(Evidence::of(&[1.0; 4], Side::More).unwrap().p, Some(0.0));
        assert_eq!(Evidence::of(&[0.0; 4], Side::More).unwrap().p, Some(1.0));
    }
}
