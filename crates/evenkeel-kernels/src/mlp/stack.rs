//! All layers of a perceptron, group by group.

use super::active::Active;
use super::panels::{PackedLayer, PackedLayers, Panel};
use super::rows::{ROWS, SparseRows};
use super::tile;
use crate::instruction_set::InstructionSet;
use crate::scratch;
use crate::simd::{self, Kernel, Simd};
use crate::tile::with_width;
use rayon::prelude::*;

/// Groups that go through a layer together: their activations stay in the second-level cache, and each panel of
/// weights is read once for all of them.
const BLOCK: usize = 18;

/// Logits `[rows][classes]` of a ReLU perceptron without biases.
///
/// `layers` must have been packed for the same `set`.
pub fn logits(set: InstructionSet, x: &SparseRows, layers: &PackedLayers, out: &mut [f32]) {
    let first = layers.layers.first().expect("packed layers");
    let classes = layers.layers.last().map_or(0, |layer| layer.outputs);
    let lanes = set.lanes();
    assert_eq!(layers.lanes, lanes, "packed for this instruction set");
    assert_eq!(x.columns(), first.inputs, "images fit the first layer");
    assert_eq!(out.len(), x.rows() * classes, "logits of {} rows", x.rows());
    let hidden = layers.layers.iter().rev().skip(1);
    let widest = hidden.map(|layer| layer.outputs.next_multiple_of(lanes)).max().unwrap_or(0);
    let blocks = x.groups().div_ceil(BLOCK);
    let parts: Vec<Vec<f32>> = (0..blocks)
        .into_par_iter()
        .with_max_len(1)
        .map(|block| {
            let groups = block * BLOCK..((block + 1) * BLOCK).min(x.groups());
            scratch::with(2 * groups.len() * ROWS * widest, |scratch| {
                simd::run(set, Block { x, groups, layers: &layers.layers, scratch })
            })
        })
        .collect();
    let stride = classes.next_multiple_of(lanes);
    let groups = parts.iter().flat_map(|part| part.chunks_exact((ROWS * stride).max(1)));
    for (group, origin) in groups.zip(x.origin().chunks_exact(ROWS)) {
        for (i, &row) in origin.iter().enumerate().filter(|(_, row)| (**row as usize) < x.rows()) {
            let row = &mut out[row as usize * classes..][..classes];
            for (to, vectors) in row.chunks_mut(lanes).zip(group.chunks_exact(ROWS * lanes)) {
                to.copy_from_slice(&vectors[i * lanes..][..to.len()]);
            }
        }
    }
}

/// Some groups through all layers.
///
/// Activations lie as `[group][vector of units][row][LANES]`. Images of a group are similar and so are their hidden units: where one of
/// them is silent in all rows, its weights are skipped. Of the paper's hidden units that is a quarter under NGM-SGD, more under MSGD and
/// nine tenths under Adam.
struct Block<'a> {
    x: &'a SparseRows,
    groups: std::ops::Range<usize>,
    layers: &'a [PackedLayer],
    /// For the hidden activations, in two halves.
    scratch: &'a mut [f32],
}

impl Kernel for Block<'_> {
    /// Logits, as activations.
    type Output = Vec<f32>;

    #[inline(always)]
    fn run<S: Simd>(mut self, s: S) -> Vec<f32> {
        let rows = self.groups.len() * ROWS;
        let scratch = std::mem::take(&mut self.scratch);
        // The activations that are read, and those that are written.
        let (mut x, mut y) = scratch.split_at_mut(scratch.len() / 2);
        let mut active = Active::default();
        let mut logits = Vec::new();
        for (l, layer) in self.layers.iter().enumerate() {
            let len = rows * layer.outputs.next_multiple_of(S::LANES);
            let to = if l + 1 < self.layers.len() {
                &mut y[..len]
            } else {
                logits.resize(len, 0.0);
                &mut logits[..]
            };
            if l > 0 {
                active.find(s, x, self.groups.len(), layer.inputs);
            }
            for panel in &layer.panels {
                let (from, vectors) = ((l > 0).then_some((&*x, &active)), panel.vectors);
                with_width!(vectors in [5, 4, 3, 2] or 1, V => self.through::<S, V>(s, l, panel, from, to));
            }
            (x, y) = (y, x);
        }
        logits
    }
}

impl Block<'_> {
    /// All groups through one panel of layer `l`: from the images, or from the active units among the activations.
    #[inline(always)]
    fn through<S: Simd, const V: usize>(
        &self,
        s: S,
        l: usize,
        panel: &Panel,
        from: Option<(&[f32], &Active)>,
        y: &mut [f32],
    ) {
        let layer = &self.layers[l];
        assert!(panel.vectors == V && panel.weights.len() == layer.inputs * V * S::LANES);
        let (scale, background) = (s.splat(layer.scale), s.splat(self.x.background()));
        let units = layer.outputs.next_multiple_of(S::LANES);
        for (i, (group, y)) in self.groups.clone().zip(y.chunks_exact_mut(ROWS * units)).enumerate() {
            let tile = match from {
                None => {
                    let (column, value) = self.x.group(group);
                    // SAFETY: columns lie below `x.columns()`, and the panel has so many rows of `V` vectors.
                    unsafe { tile::strided::<S, V>(s, column, value, &panel.weights, V * S::LANES, 0) }
                }
                Some((x, active)) => {
                    let inputs = layer.inputs.next_multiple_of(S::LANES);
                    let x = &x[i * ROWS * inputs..][..ROWS * inputs];
                    // SAFETY: `find` gives units below `inputs`, of which `x` has every vector and the panel every row.
                    unsafe { tile::active::<S, V>(s, active.of(i), x, &panel.weights) }
                }
            };
            for (r, tile) in tile.into_iter().enumerate() {
                for (v, mut sum) in tile.into_iter().enumerate() {
                    if l == 0 {
                        sum = s.fma(background, s.get(&panel.column_sums, v * S::LANES), sum);
                    }
                    sum = s.mul(sum, scale);
                    let relu = l + 1 < self.layers.len();
                    let at = ((panel.first + v) * ROWS + r) * S::LANES;
                    s.put(if relu { s.relu(sum) } else { sum }, y, at);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::panels::Layer;
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

    /// How large each logit would be if no terms cancelled: what rounding errors are relative to. A logit may be much smaller.
    fn magnitudes(x: &[f32], layers: &[Layer<'_>]) -> Vec<f64> {
        let square = |v: f32| f64::from(v).powi(2);
        let mut rows: Vec<Vec<f64>> =
            x.chunks_exact(layers[0].inputs).map(|row| row.iter().map(|v| square(*v)).collect()).collect();
        for layer in layers {
            for row in &mut rows {
                let mut y = vec![0.0; layer.outputs];
                for (x, w) in row.iter().zip(layer.weights.chunks_exact(layer.outputs)) {
                    for (y, w) in y.iter_mut().zip(w) {
                        *y += x * square(*w) * square(layer.scale);
                    }
                }
                *row = y;
            }
        }
        rows.concat().into_iter().map(f64::sqrt).collect()
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
        let largest = magnitudes(&x, &layers).into_iter().fold(1e-3_f64, f64::max);
        for set in InstructionSet::available() {
            let mut weights = PackedLayers::new();
            weights.pack(set, &layers);
            let mut out = vec![f32::NAN; expected.len()];
            logits(set, &packed, &weights, &mut out);
            for (a, b) in out.iter().zip(&expected) {
                // Sums of up to 784 terms in f32, then two more layers.
                assert!((f64::from(*a) - b).abs() <= 5e-6 * largest, "{set:?}: {a} against {b}");
            }
        }
    }

    #[test]
    fn the_papers_network_agrees_with_f64() {
        // More than one block of groups.
        compare(1, 100, &[784, 400, 400, 10], 1.0);
        compare(2, 13, &[784, 400, 400, 10], 1.7);
    }

    #[test]
    fn logits_that_nearly_cancel_agree_with_f64() {
        compare(9_523_275_091_904_651_050, 7, &[5, 49, 1, 1], 1.517_446_5);
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
        weights.pack(InstructionSet::active(), &layers);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut out = vec![0.0; 500 * 7];
            pool.install(|| logits(InstructionSet::active(), &packed, &weights, &mut out));
            out
        };
        assert_eq!(run(1), run(2));
    }
}
