//! What the differences of a few seeds say about a claim.

use serde::{Deserialize, Serialize};

use crate::interval::{FEWEST_SEEDS, Interval};
use crate::student_t::{lower_tail, two_sided_p};

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
