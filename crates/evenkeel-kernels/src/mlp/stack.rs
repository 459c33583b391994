//! All layers of a perceptron, group by group.

use super::rows::{ROWS, SparseRows};
use super::tile::{self, Tile, VECTORS};
use crate::buffer::Buffer;
use crate::path::Path;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Groups that go through a layer together: their activations stay in the second-level cache, and each panel of
/// weights is read once for all of them.
const BLOCK: usize = 16;

/// Outputs of the widest tile.
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
            for (p, panel) in packed.panels.chunks_exact_mut((inputs * width).max(1)).enumerate() {
                let first = p * width;
                let used = width.min(outputs - first);
                for (row, to) in weights.chunks_exact(outputs).zip(panel.chunks_exact_mut(width)) {
                    to[..used].copy_from_slice(&row[first..first + used]);
                    to[used..].fill(0.0);
                }
            }
            if i == 0 {
                let mut sums = vec![0.0_f64; outputs];
                for row in weights.chunks_exact(outputs) {
                    for (sum, w) in sums.iter_mut().zip(row) {
                        *sum += f64::from(*w);
                    }
                }
                packed.column_sums.resize(panels * width);
                packed.column_sums.fill(0.0);
                for (to, sum) in packed.column_sums.iter_mut().zip(sums) {
                    *to = sum as f32;
                }
            }
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
    let blocks = x.groups().div_ceil(BLOCK);
    let parts: Vec<Vec<f32>> = (0..blocks)
        .into_par_iter()
        .map(|block| {
            let groups = block * BLOCK..((block + 1) * BLOCK).min(x.groups());
            simd::run(path, Block { x, groups, layers: &layers.layers })
        })
        .collect();
    for (block, part) in parts.iter().enumerate() {
        for (i, group) in part.chunks_exact((ROWS * classes).max(1)).enumerate() {
            for (&row, values) in x.origin(block * BLOCK + i).iter().zip(group.chunks_exact(classes)) {
                if (row as usize) < x.rows() {
                    out[row as usize * classes..][..classes].copy_from_slice(values);
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
}

/// Where a layer's results go: activations for the next layer, or logits.
struct Sink {
    last: bool,
    outputs: usize,
    /// Activations `[group][unit][row]`: how the next layer's tile wants them.
    activations: Vec<[f32; ROWS]>,
    /// Logits `[group][row][class]`.
    logits: Vec<f32>,
}

impl Block<'_> {
    /// Background, scale and ReLU of one tile: group `i`, panel `p`, layer `l`.
    #[inline(always)]
    fn finish<S: Simd>(&self, s: S, tile: Tile<S::V>, (l, p, i): (usize, usize, usize), sink: &mut Sink) {
        let (scale, background) = (s.splat(self.layers[l].scale), s.splat(self.x.background()));
        let mut rows = [[0.0_f32; MAX_WIDTH]; ROWS];
        for (tile, row) in tile.into_iter().zip(&mut rows) {
            for (v, mut sum) in tile.into_iter().enumerate() {
                if l == 0 {
                    let at = (p * VECTORS + v) * S::LANES;
                    sum = s.fma(background, s.get(&self.layers[0].column_sums, at), sum);
                }
                sum = s.mul(sum, scale);
                s.put(if sink.last { sum } else { s.relu(sum) }, row, v * S::LANES);
            }
        }
        let first = p * VECTORS * S::LANES;
        let used = (VECTORS * S::LANES).min(sink.outputs - first);
        if sink.last {
            for (r, row) in rows.iter().enumerate() {
                let at = (i * ROWS + r) * sink.outputs + first;
                sink.logits[at..at + used].copy_from_slice(&row[..used]);
            }
        } else {
            for (c, to) in sink.activations[i * sink.outputs + first..][..used].iter_mut().enumerate() {
                for (to, row) in to.iter_mut().zip(&rows) {
                    *to = row[c];
                }
            }
        }
    }
}

impl Kernel for Block<'_> {
    /// Logits `[group][row][class]`.
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> Vec<f32> {
        let groups = self.groups.len();
        let mut input: Vec<[f32; ROWS]> = Vec::new();
        let mut logits = Vec::new();
        for (l, layer) in self.layers.iter().enumerate() {
            let Packed { inputs, outputs, .. } = *layer;
            let last = l + 1 == self.layers.len();
            let mut sink = Sink {
                last,
                outputs,
                activations: vec![[0.0; ROWS]; if last { 0 } else { groups * outputs }],
                logits: vec![0.0; if last { groups * ROWS * outputs } else { 0 }],
            };
            for (p, panel) in layer.panels.chunks_exact((inputs * VECTORS * S::LANES).max(1)).enumerate() {
                let mut i = 0;
                while i < groups {
                    if l == 0 {
                        let (column, value) = self.x.group(self.groups.start + i);
                        // SAFETY: columns lie below `x.columns()`, which equals `inputs`; the panel has as many rows.
                        let tile = unsafe { tile::sparse(s, column, value, panel) };
                        self.finish(s, tile, (l, p, i), &mut sink);
                        i += 1;
                        continue;
                    }
                    let x = &input[i * inputs..];
                    if S::LANES == 16 && i + 1 < groups {
                        let pair = [&x[..inputs], &x[inputs..2 * inputs]];
                        // SAFETY: the panel has `inputs` rows, and both groups `inputs` units.
                        let [a, b] = unsafe { tile::dense(s, pair, panel) };
                        self.finish(s, a, (l, p, i), &mut sink);
                        self.finish(s, b, (l, p, i + 1), &mut sink);
                        i += 2;
                    } else {
                        // SAFETY: the panel has `inputs` rows, and the group `inputs` units.
                        let [a] = unsafe { tile::dense(s, [&x[..inputs]], panel) };
                        self.finish(s, a, (l, p, i), &mut sink);
                        i += 1;
                    }
                }
            }
            (input, logits) = (sink.activations, sink.logits);
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
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_shape_agrees_with_f64(
            seed: u64,
            rows in 0_usize..30,
            sizes in prop::collection::vec(1_usize..70, 2..5),
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
