//! Average pooling against its definition.

mod common;

use common::{DIRECT, blocked, error, garbage, random, unblocked};
use evenkeel_kernels::{BatchShape, InstructionSet, pool};
use proptest::prelude::*;

proptest! {
    #[test]
    fn pooling_agrees_on_random_shapes(
        (n, c) in (1usize..20, 1usize..6),
        (h, w) in (4usize..=13, 4usize..=13),
    ) {
        let shape = BatchShape::new(n, c, h, w);
        let small = pool::pooled(&shape);
        let (x, dy) = (random(1, n * shape.image_len()), random(2, n * small.image_len()));
        let mut y = vec![0.0; dy.len()];
        let mut dx = vec![0.0; x.len()];
        for (i, &x) in x.iter().enumerate() {
            let (plane, row, column) = (i / (h * w), i / w % h / 4, i % w / 4);
            if row < h / 4 && column < w / 4 {
                let at = (plane * (h / 4) + row) * (w / 4) + column;
                y[at] += f64::from(x) / 16.0;
                dx[i] = f64::from(dy[at]) / 16.0;
            }
        }
        for set in InstructionSet::available() {
            let mut actual = garbage(small.blocked_len(set));
            pool::average_pool(set, &shape, &blocked(set, &shape, &x), &mut actual);
            prop_assert!(error(&unblocked(set, &small, &actual), &y) <= DIRECT);
            let mut actual = garbage(shape.blocked_len(set));
            pool::average_pool_backward(set, &shape, &blocked(set, &small, &dy), &mut actual);
            prop_assert!(error(&unblocked(set, &shape, &actual), &dx) <= DIRECT);
        }
    }
}
