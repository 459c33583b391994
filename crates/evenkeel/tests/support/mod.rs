//! A Hessian by second differences and a symmetric eigenvalue solver, in f64.

/// All second derivatives of `f` at `x`, by central differences.
pub(crate) fn hessian(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<Vec<f64>> {
    let h = 1e-4;
    let at = |i: usize, di: f64, j: usize, dj: f64| {
        let mut x = x.to_vec();
        x[i] += di;
        x[j] += dj;
        f(&x)
    };
    let entry =
        |i, j| (at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h) + at(i, -h, j, -h)) / (4.0 * h * h);
    (0..x.len()).map(|i| (0..x.len()).map(|j| entry(i, j)).collect()).collect()
}

/// The eigenvalue of largest magnitude of a symmetric matrix, by Jacobi rotations.
pub(crate) fn dominant(matrix: &[Vec<f64>]) -> f64 {
    let n = matrix.len();
    let mut a = matrix.to_vec();
    for _sweep in 0..50 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                let (above, below) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut below[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    (0..n).map(|i| a[i][i]).fold(0.0, |best: f64, value| if value.abs() > best.abs() { value } else { best })
}
