//! All layers of a perceptron, group by group.

use super::rows::{ROWS, SparseRows};
use super::tile::{self, VECTORS};
use crate::buffer::Buffer;
use crate::path::Path;
use crate::scratch;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Groups that go through a layer together: their activations stay in the second-level cache, and each panel of
/// weights is read once for all of them.
const BLOCK: usize = 16;

/// Outputs of the widest panel.
const MAX_WIDTH: usize = VECTORS * 16;

/// One linear layer without bias: weights `[inputs][outputs]`, row-major.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// The weights.
    pub weights: &'a [f32],
    /// Columns of the input.
    pub inputs: usize,
    /// Columns of the output.
    pub outputs: usize,
    /// Multiplies every output: a gain, or 1.
    pub scale: f32,
}

/// Weights of all layers in panels of the path's tile width, packed anew when they change; the memory is kept.
#[derive(Debug, Clone, Default)]
pub struct PackedLayers {
    layers: Vec<Packed>,
}

#[derive(Debug, Clone, Default)]
struct Packed {
    inputs: usize,
    outputs: usize,
    scale: f32,
    /// `[panel][input][VECTORS · LANES]`, the last panel filled up with zeros.
    panels: Buffer,
    /// Sum over the inputs of each output's weights, for the first layer's background.
    column_sums: Buffer,
}

impl PackedLayers {
    /// Nothing packed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Packs the layers for `path`. The first layer's column sums are accumulated in f64.
    pub fn pack(&mut self, path: Path, layers: &[Layer<'_>]) {
        assert!(!layers.is_empty(), "at least one layer");
        for (a, b) in layers.iter().zip(&layers[1..]) {
            assert_eq!(a.outputs, b.inputs, "layers fit each other");
        }
        let width = VECTORS * path.lanes();
        self.layers.resize_with(layers.len(), Packed::default);
        for (i, (packed, layer)) in self.layers.iter_mut().zip(layers).enumerate() {
            let Layer { weights, inputs, outputs, scale } = *layer;
            assert_eq!(weights.len(), inputs * outputs, "weights of {inputs}×{outputs}");
            (packed.inputs, packed.outputs, packed.scale) = (inputs, outputs, scale);
            let panels = outputs.div_ceil(width);
            packed.panels.resize(panels * inputs * width);
            packed.column_sums.resize(panels * width);
            let tasks = packed.panels.par_chunks_mut((inputs * width).max(1));
            tasks.zip(packed.column_sums.par_chunks_mut(width)).enumerate().for_each(|(p, (panel, sums))| {
                let first = p * width;
                let used = width.min(outputs - first);
                let rows = weights.chunks_exact(outputs).map(|row| &row[first..first + used]);
                let mut exact = [0.0_f64; MAX_WIDTH];
                for (row, to) in rows.zip(panel.chunks_exact_mut(width)) {
                    let (to, rest) = to.split_at_mut(used);
                    to.copy_from_slice(row);
                    rest.fill(0.0);
                    if i == 0 {
                        for (sum, w) in exact.iter_mut().zip(row) {
                            *sum += f64::from(*w);
                        }
                    }
                }
                for (to, sum) in sums.iter_mut().zip(exact) {
                    *to = sum as f32;
                }
            });
        }
    }
}

/// Logits `[rows][classes]` of a ReLU perceptron without biases.
///
/// `layers` must have been packed for the same `path`.
pub fn logits(path: Path, x: &SparseRows, layers: &PackedLayers, out: &mut [f32]) {
    let first = layers.layers.first().expect("packed layers");
    let classes = layers.layers.last().map_or(0, |layer| layer.outputs);
    let width = VECTORS * path.lanes();
    assert_eq!(x.columns(), first.inputs, "images fit the first layer");
    assert_eq!(out.len(), x.rows() * classes, "logits of {} rows", x.rows());
    for layer in &layers.layers {
        let panels = layer.outputs.div_ceil(width);
        assert_eq!(layer.panels.len(), panels * layer.inputs * width, "packed for this path");
    }
    let hidden = layers.layers.iter().rev().skip(1);
    let widest = hidden.map(|layer| layer.outputs.next_multiple_of(width)).max().unwrap_or(0);
    let blocks = x.groups().div_ceil(BLOCK);
    let parts: Vec<Vec<f32>> = (0..blocks)
        .into_par_iter()
        .with_max_len(1)
        .map(|block| {
            let groups = block * BLOCK..((block + 1) * BLOCK).min(x.groups());
            scratch::with(2 * groups.len() * ROWS * widest, |scratch| {
                simd::run(path, Block { x, groups, layers: &layers.layers, scratch })
            })
        })
        .collect();
    let stride = classes.next_multiple_of(width);
    for (block, part) in parts.iter().enumerate() {
        for (i, group) in part.chunks_exact((ROWS * stride).max(1)).enumerate() {
            for (&row, values) in x.origin(block * BLOCK + i).iter().zip(group.chunks_exact(stride)) {
                if (row as usize) < x.rows() {
                    out[row as usize * classes..][..classes].copy_from_slice(&values[..classes]);
                }
            }
        }
    }
}

/// Some groups through all layers.
struct Block<'a> {
    x: &'a SparseRows,
    groups: std::ops::Range<usize>,
    layers: &'a [Packed],
    /// For the hidden activations, in two halves.
    scratch: &'a mut [f32],
}

impl Block<'_> {
    /// Background, scale and ReLU of one tile of layer `l`, and where it goes: `y[at..]` and one row of `stride` after the other.
    #[inline(always)]
    fn finish<S: Simd, const R: usize>(
        &self,
        s: S,
        (l, p): (usize, usize),
        tile: [[S::V; VECTORS]; R],
        y: &mut [f32],
        stride: usize,
    ) {
        let (scale, background) = (s.splat(self.layers[l].scale), s.splat(self.x.background()));
        let relu = l + 1 < self.layers.len();
        for (tile, row) in tile.into_iter().zip(y.chunks_exact_mut(stride)) {
            for (v, mut sum) in tile.into_iter().enumerate() {
                let at = (p * VECTORS + v) * S::LANES;
                if l == 0 {
                    sum = s.fma(background, s.get(&self.layers[0].column_sums, at), sum);
                }
                sum = s.mul(sum, scale);
                s.put(if relu { s.relu(sum) } else { sum }, row, at);
            }
        }
    }
}

impl Block<'_> {
    #[inline(always)]
    fn first_layer<S: Simd>(&self, s: S, panels: &[&[f32]], stride: usize, y: &mut [f32]) {
        let mut p = 0;
        while p < panels.len() {
            let two = S::LANES == 16 && p + 1 < panels.len();
            for (group, y) in self.groups.clone().zip(y.chunks_exact_mut(ROWS * stride)) {
                let (column, value) = self.x.group(group);
                // SAFETY: columns lie below `x.columns()`, which equals the layer's inputs; every panel has as many rows.
                unsafe {
                    if two {
                        let [a, b] = tile::sparse(s, column, value, [panels[p], panels[p + 1]]);
                        self.finish(s, (0, p), a, y, stride);
                        self.finish(s, (0, p + 1), b, y, stride);
                    } else {
                        let [a] = tile::sparse(s, column, value, [panels[p]]);
                        self.finish(s, (0, p), a, y, stride);
                    }
                }
            }
            p += if two { 2 } else { 1 };
        }
    }

    #[inline(always)]
    fn dense_layer<S: Simd>(
        &self,
        s: S,
        l: usize,
        panels: &[&[f32]],
        (x, x_stride): (&[f32], usize),
        (y, stride): (&mut [f32], usize),
    ) {
        let inputs = self.layers[l].inputs;
        for (p, panel) in panels.iter().enumerate() {
            let mut row = 0;
            while row < self.groups.len() * ROWS {
                let (x, y) = (&x[row * x_stride..], &mut y[row * stride..]);
                let two = S::LANES == 16 && x.len() >= 2 * ROWS * x_stride;
                assert!(x.len() >= ROWS * x_stride && x_stride >= inputs);
                // SAFETY: the two lines above; the panel has `inputs` rows.
                unsafe {
                    if two {
                        let tile = tile::dense::<S, { 2 * ROWS }>(s, x, x_stride, inputs, panel);
                        self.finish(s, (l, p), tile, y, stride);
                        row += 2 * ROWS;
                    } else {
                        let tile = tile::dense::<S, ROWS>(s, x, x_stride, inputs, panel);
                        self.finish(s, (l, p), tile, y, stride);
                        row += ROWS;
                    }
                }
            }
        }
    }
}

impl Kernel for Block<'_> {
    /// Logits `[group][row][classes, filled up to whole panels]`.
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) -> Vec<f32> {
        let rows = self.groups.len() * ROWS;
        let scratch = std::mem::take(&mut self.scratch);
        // Activations `[group][row][units, filled up to whole panels]`: those that are read, and those that are written.
        let (mut x, mut y) = scratch.split_at_mut(scratch.len() / 2);
        let mut x_stride = 0;
        let mut logits = Vec::new();
        for (l, layer) in self.layers.iter().enumerate() {
            let stride = layer.outputs.next_multiple_of(VECTORS * S::LANES);
            let last = l + 1 == self.layers.len();
            let to = if last {
                logits.resize(rows * stride, 0.0);
                &mut logits[..]
            } else {
                &mut y[..rows * stride]
            };
            let panels: Vec<&[f32]> =
                layer.panels.chunks_exact((layer.inputs * VECTORS * S::LANES).max(1)).collect();
            if l == 0 {
                self.first_layer(s, &panels, stride, to);
            } else {
                self.dense_layer(s, l, &panels, (&x[..rows * x_stride], x_stride), (to, stride));
            }
            (x, y) = (y, x);
            x_stride = stride;
        }
        logits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// The definition, in f64.
    fn naive(x: &[f32], layers: &[Layer<'_>]) -> Vec<f64> {
        let mut rows: Vec<Vec<f64>> =
            x.chunks_exact(layers[0].inputs).map(|row| row.iter().map(|v| f64::from(*v)).collect()).collect();
        for (l, layer) in layers.iter().enumerate() {
            for row in &mut rows {
                let mut y = vec![0.0; layer.outputs];
                for (x, w) in row.iter().zip(layer.weights.chunks_exact(layer.outputs)) {
                    for (y, w) in y.iter_mut().zip(w) {
                        *y += x * f64::from(*w);
                    }
                }
                let relu = l + 1 < layers.len();
                *row = y
                    .iter()
                    .map(|y| y * f64::from(layer.scale))
                    .map(|y| if relu { y.max(0.0) } else { y })
                    .collect();
            }
        }
        rows.concat()
    }

    fn case(seed: u64, rows: usize, sizes: &[usize]) -> (Vec<f32>, Vec<Vec<f32>>, f32) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let background = -0.4242;
        let x = (0..rows * sizes[0])
            .map(|_| if rng.random_bool(0.2) { rng.random_range(-0.4..2.8) } else { background })
            .collect();
        let weights = sizes
            .windows(2)
            .map(|s| (0..s[0] * s[1]).map(|_| rng.random_range(-1.0..1.0) / (s[0] as f32).sqrt()).collect())
            .collect();
        (x, weights, background)
    }

    /// A gain that differs from layer to layer.
    fn layers<'a>(weights: &'a [Vec<f32>], sizes: &[usize], scale: f32) -> Vec<Layer<'a>> {
        let layer = |(weights, s): (&'a Vec<f32>, &[usize])| Layer {
            weights,
            inputs: s[0],
            outputs: s[1],
            scale: scale + s[1] as f32 / 100.0,
        };
        weights.iter().zip(sizes.windows(2)).map(layer).collect()
    }

    fn compare(seed: u64, rows: usize, sizes: &[usize], scale: f32) {
        let (x, weights, background) = case(seed, rows, sizes);
        let layers = layers(&weights, sizes, scale);
        let expected = naive(&x, &layers);
        let packed = SparseRows::pack(&x, sizes[0], background);
        let largest = expected.iter().fold(1e-3_f64, |m, v| m.max(v.abs()));
        for path in Path::available() {
            let mut weights = PackedLayers::new();
            weights.pack(path, &layers);
            let mut out = vec![f32::NAN; expected.len()];
            logits(path, &packed, &weights, &mut out);
            for (a, b) in out.iter().zip(&expected) {
                // Sums of up to 784 terms in f32, then two more layers.
                assert!((f64::from(*a) - b).abs() <= 5e-6 * largest, "{path:?}: {a} against {b}");
            }
        }
    }

    #[test]
    fn the_papers_network_agrees_with_f64() {
        compare(1, 50, &[784, 400, 400, 10], 1.0);
        compare(2, 13, &[784, 400, 400, 10], 1.7);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]
        #[test]
        fn any_shape_agrees_with_f64(
            seed: u64,
            rows in 0_usize..if cfg!(miri) { 8 } else { 30 },
            sizes in prop::collection::vec(1_usize..if cfg!(miri) { 12 } else { 70 }, 2..5),
            scale in 1.0_f32..3.0,
        ) {
            compare(seed, rows, &sizes, scale);
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let sizes = [100, 40, 7];
        let (x, weights, background) = case(3, 500, &sizes);
        let layers = layers(&weights, &sizes, 1.3);
        let packed = SparseRows::pack(&x, sizes[0], background);
        let mut weights = PackedLayers::new();
        weights.pack(Path::active(), &layers);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; 500 * 7];
            pool.install(|| logits(Path::active(), &packed, &weights, &mut out));
            out
        };
        assert_eq!(run(1), run(2));
    }
}
