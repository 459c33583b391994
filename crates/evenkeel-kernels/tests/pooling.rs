//! Average pooling against its definition.

mod common;

use common::{DIRECT, blocked, error, garbage, random, unblocked};
use evenkeel_kernels::{Path, Shape, pool};
use proptest::prelude::*;

proptest! {
    #[test]
    fn pooling_agrees_on_random_shapes(
        (n, c) in (1usize..20, 1usize..6),
        (h, w) in (4usize..=13, 4usize..=13),
    ) {
        let shape = Shape::new(n, c, h, w);
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
        for path in Path::available() {
            let mut actual = garbage(small.blocked_len(path));
            pool::average_pool(path, &shape, &blocked(path, &shape, &x), &mut actual);
            prop_assert!(error(&unblocked(path, &small, &actual), &y) <= DIRECT);
            let mut actual = garbage(shape.blocked_len(path));
            pool::average_pool_backward(path, &shape, &blocked(path, &small, &dy), &mut actual);
            prop_assert!(error(&unblocked(path, &shape, &actual), &dx) <= DIRECT);
        }
    }
}
