//! Loss and gradients of a perceptron on a batch that is mostly background.

use super::batch::{COLUMNS, SparseBatch};
use super::cross_entropy::RowSeen;
use super::gradient::{Gradient, RowSum};
use super::listed::Listed;
use super::panels::Layer;
use super::passes::{Passes, Trace, Wide};
use super::rows::ROWS;
use super::transpose::Transpose;
use crate::buffer::Buffer;
use crate::instruction_set::InstructionSet;
use crate::scratch;
use crate::simd;
use rayon::prelude::*;

/// Groups of rows that go through the layers together: a strip of weights is read once for all of them.
const BLOCK: usize = 7;

/// Outputs that one task transposes.
const TRANSPOSED: usize = 16;

/// What a batch says of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Mean cross-entropy.
    pub loss: f64,
    /// Mean entropy of the outputs in nats.
    pub entropy: f64,
    /// Rows whose label has the largest logit.
    pub hits: usize,
}

/// Gradients of the mean cross-entropy of a ReLU perceptron without biases. The memory is kept between steps.
///
/// Groups of similar rows go forward and backward through all layers on their own; then the gradient of each input's weights is
/// computed on its own, from the rows in which that input is not silent. Nothing is multiplied by a pixel of the background or, where
/// that can be, by a unit that is silent.
///
/// ```
/// use evenkeel_kernels::{InstructionSet, mlp::{Layer, SparseBatch, Training}};
///
/// let weights = [1.0, -1.0]; // one input, two classes
/// let layers = [Layer { weights: &weights, inputs: 1, outputs: 2, scale: 1.0 }];
/// let x = SparseBatch::pack(&[0.0, 3.0], 1, 0.0);
/// let mut dw = [0.0; 2];
/// let seen = Training::default().gradients(InstructionSet::active(), &x, &[0, 0], &layers, &mut [&mut dw]);
/// assert_eq!(seen.hits, 2);
/// assert!((seen.loss - (2_f64.ln() + (-6_f64).exp().ln_1p()) / 2.0).abs() < 1e-6);
/// ```
#[derive(Debug, Default)]
pub struct Training {
    layers: Vec<Memory>,
    seen: Vec<RowSeen>,
}

/// Of one layer.
#[derive(Debug, Default)]
struct Memory {
    /// The weights with whole vectors in each row, where the layer's own are not so.
    padded: Buffer,
    transposed: Buffer,
    activations: Buffer,
    errors: Buffer,
}

impl Training {
    /// Writes the gradient of each layer's weights to `dw` and says what was seen on the way. One label for each row.
    pub fn gradients(
        &mut self,
        set: InstructionSet,
        x: &SparseBatch,
        labels: &[usize],
        layers: &[Layer<'_>],
        dw: &mut [&mut [f32]],
    ) -> Seen {
        let (last, rows) = (layers.last().expect("at least one layer"), x.rows().rows());
        assert_eq!(x.rows().columns(), layers[0].inputs, "rows fit the first layer");
        assert_eq!(labels.len(), rows, "one label for each row");
        assert!(labels.iter().all(|label| *label < last.outputs), "labels of {} classes", last.outputs);
        for (a, b) in layers.iter().zip(&layers[1..]) {
            assert_eq!(a.outputs, b.inputs, "layers fit each other");
        }
        assert_eq!(layers.len(), dw.len(), "a gradient for each layer");
        for (layer, dw) in layers.iter().zip(&*dw) {
            assert!(layer.weights.len() == layer.inputs * layer.outputs && layer.weights.len() == dw.len());
        }
        self.layers.resize_with(layers.len(), Memory::default);
        for (l, (memory, layer)) in self.layers.iter_mut().zip(layers).enumerate() {
            memory.prepare(set, layer, l > 0);
        }
        self.pass(set, x, labels, layers);
        self.differentiate(set, x, layers, dw);
        let mean = |of: fn(&RowSeen) -> f64| self.seen.iter().map(of).sum::<f64>() / rows as f64;
        Seen {
            loss: mean(|seen| seen.loss),
            entropy: mean(|seen| seen.entropy),
            hits: self.seen.iter().filter(|seen| seen.hit).count(),
        }
    }

    /// All groups forward and backward: fills activations, errors and what was seen.
    fn pass(&mut self, set: InstructionSet, x: &SparseBatch, labels: &[usize], layers: &[Layer<'_>]) {
        let positions = x.rows().origin().len();
        self.seen.clear();
        self.seen.resize(positions, RowSeen::default());
        let mut blocks: Vec<Trace<'_>> = self
            .seen
            .chunks_mut(BLOCK * ROWS)
            .map(|seen| Trace { activations: Vec::new(), errors: Vec::new(), seen })
            .collect();
        let mut wide: Vec<Wide<'_>> = Vec::with_capacity(layers.len());
        for (memory, layer) in self.layers.iter_mut().zip(layers) {
            let width = layer.outputs.next_multiple_of(set.lanes());
            memory.activations.resize(positions * width);
            memory.errors.resize(positions * width);
            let Memory { padded, transposed, activations, errors } = memory;
            let rows = BLOCK * ROWS * width;
            let parts = activations.chunks_mut(rows).zip(errors.chunks_mut(rows));
            for (block, (activations, errors)) in blocks.iter_mut().zip(parts) {
                block.activations.push(activations);
                block.errors.push(errors);
            }
            wide.push(Wide {
                forward: if width == layer.outputs { layer.weights } else { padded },
                backward: transposed,
                inputs: layer.inputs,
                outputs: layer.outputs,
                width,
                scale: layer.scale,
            });
        }
        let base = RowSum { rows: wide[0].forward, width: wide[0].width, factor: x.rows().background() };
        let base = simd::run(set, base);
        blocks.into_par_iter().with_max_len(1).enumerate().for_each(|(block, trace)| {
            let groups = block * BLOCK..((block + 1) * BLOCK).min(x.rows().groups());
            simd::run(set, Passes { x: x.rows(), groups, layers: &wide, base: &base, labels, trace });
        });
    }

    /// The gradients of all weights.
    fn differentiate(
        &self,
        set: InstructionSet,
        x: &SparseBatch,
        layers: &[Layer<'_>],
        dw: &mut [&mut [f32]],
    ) {
        let base = simd::run(set, x.gradient_base(&self.layers[0].errors, layers[0].width(set.lanes())));
        let zero = vec![0.0; layers.iter().map(|layer| layer.width(set.lanes())).max().unwrap_or(0)];
        let tasks: Vec<(usize, usize, &mut [f32])> = dw
            .iter_mut()
            .enumerate()
            .flat_map(|(l, dw)| {
                let parts = dw.chunks_mut(COLUMNS * layers[l].outputs).enumerate();
                parts.map(move |(i, dw)| (l, i * COLUMNS, dw))
            })
            .collect();
        tasks.into_par_iter().for_each_init(Listed::default, |listed, (l, first, dw)| {
            let (outputs, width) = (layers[l].outputs, layers[l].width(set.lanes()));
            let count = dw.len() / outputs;
            let (columns, base) = match l.checked_sub(1) {
                None => (x.columns(first), &base[..]),
                Some(before) => {
                    let (inputs, columns) = (&self.layers[before].activations, first..first + count);
                    (listed.list(inputs, layers[before].width(set.lanes()), columns), &zero[..width])
                }
            };
            let (dy, scale) = (&*self.layers[l].errors, layers[l].scale);
            if width == outputs {
                return simd::run(set, Gradient { columns, dy, base, scale, dw });
            }
            scratch::with(count * width, |wide| {
                simd::run(set, Gradient { columns, dy, base, scale, dw: &mut *wide });
                for (to, from) in dw.chunks_exact_mut(outputs).zip(wide.chunks_exact(width)) {
                    to.copy_from_slice(&from[..outputs]);
                }
            });
        });
    }
}

impl Layer<'_> {
    /// Outputs, filled up to whole vectors.
    fn width(&self, lanes: usize) -> usize {
        self.outputs.next_multiple_of(lanes)
    }
}

impl Memory {
    /// The weights as the passes need them: whole vectors, and transposed if there is a way further back.
    fn prepare(&mut self, set: InstructionSet, layer: &Layer<'_>, backward: bool) {
        let (Layer { weights, inputs, outputs, .. }, lanes) = (*layer, set.lanes());
        let width = layer.width(lanes);
        if width != outputs {
            self.padded.resize(inputs * width);
            for (to, from) in self.padded.chunks_exact_mut(width).zip(weights.chunks_exact(outputs)) {
                let (to, rest) = to.split_at_mut(outputs);
                to.copy_from_slice(from);
                rest.fill(0.0);
            }
        }
        if backward {
            let width = inputs.next_multiple_of(lanes);
            self.transposed.resize(outputs * width);
            self.transposed.par_chunks_mut(TRANSPOSED * width).enumerate().for_each(|(i, to)| {
                simd::run(set, Transpose { weights, outputs, first: i * TRANSPOSED, to, width });
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    struct Case {
        x: Vec<f32>,
        background: f32,
        labels: Vec<usize>,
        weights: Vec<Vec<f32>>,
        sizes: Vec<usize>,
    }

    impl Case {
        fn new(seed: u64, rows: usize, sizes: &[usize]) -> Self {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let background = -0.4242;
            let x = (0..rows * sizes[0])
                .map(|_| if rng.random_bool(0.2) { rng.random_range(-0.4..2.8) } else { background })
                .collect();
            let classes = *sizes.last().unwrap();
            let labels = (0..rows).map(|_| rng.random_range(0..classes)).collect();
            let mut weight = |inputs: usize| rng.random_range(-1.0..1.0) / (inputs as f32).sqrt();
            let weights =
                sizes.windows(2).map(|s| (0..s[0] * s[1]).map(|_| weight(s[0])).collect()).collect();
            Self { x, background, labels, weights, sizes: sizes.to_vec() }
        }

        /// A gain that differs from layer to layer.
        fn layers(&self) -> Vec<Layer<'_>> {
            let layers = self.weights.iter().zip(self.sizes.windows(2));
            let scale = |outputs: usize| 1.3 + outputs as f32 / 100.0;
            layers
                .map(|(weights, s)| Layer { weights, inputs: s[0], outputs: s[1], scale: scale(s[1]) })
                .collect()
        }

        fn ours(&self, set: InstructionSet) -> (Seen, Vec<Vec<f32>>) {
            let batch = SparseBatch::pack(&self.x, self.sizes[0], self.background);
            let mut dw: Vec<Vec<f32>> = self.weights.iter().map(|w| vec![f32::NAN; w.len()]).collect();
            let mut slices: Vec<&mut [f32]> = dw.iter_mut().map(Vec::as_mut_slice).collect();
            let seen = Training::default().gradients(set, &batch, &self.labels, &self.layers(), &mut slices);
            (seen, dw)
        }

        /// The definition in f64, row by row: loss, entropy, gradients beside the sums of the magnitudes of their terms, and how near any
        /// hidden unit comes to the kink of its ReLU.
        fn naive(&self) -> (f64, f64, Vec<[Vec<f64>; 2]>, f64) {
            let layers = self.layers();
            let mut dw: Vec<Vec<f64>> = self.weights.iter().map(|w| vec![0.0; w.len()]).collect();
            let mut terms = dw.clone();
            let (mut loss, mut entropy, mut nearest) = (0.0, 0.0, f64::INFINITY);
            let rows = self.labels.len() as f64;
            for (x, &label) in self.x.chunks_exact(self.sizes[0]).zip(&self.labels) {
                let mut inputs: Vec<Vec<f64>> = vec![x.iter().map(|v| f64::from(*v)).collect()];
                for (l, layer) in layers.iter().enumerate() {
                    let y = (0..layer.outputs).map(|o| {
                        let terms = inputs[l].iter().enumerate();
                        let y: f64 =
                            terms.map(|(i, x)| x * f64::from(layer.weights[i * layer.outputs + o])).sum();
                        y * f64::from(layer.scale)
                    });
                    let relu = l + 1 < layers.len();
                    let y: Vec<f64> = y.collect();
                    if relu {
                        nearest = y.iter().fold(nearest, |nearest, y| nearest.min(y.abs()));
                    }
                    inputs.push(y.into_iter().map(|y| if relu { y.max(0.0) } else { y }).collect());
                }
                let logits = inputs.pop().unwrap();
                let total: f64 = logits.iter().map(|z| z.exp()).sum();
                let p: Vec<f64> = logits.iter().map(|z| z.exp() / total).collect();
                loss -= p[label].ln() / rows;
                entropy -= p.iter().map(|p| p * p.ln()).sum::<f64>() / rows;
                let (mut dy, mut sum) = (p.clone(), p);
                dy[label] -= 1.0;
                sum[label] += 1.0;
                for (l, layer) in layers.iter().enumerate().rev() {
                    let scale = f64::from(layer.scale);
                    let (mut dx, mut next) = (vec![0.0; layer.inputs], vec![0.0; layer.inputs]);
                    for (i, x) in inputs[l].iter().enumerate() {
                        for (o, (d, sum)) in dy.iter().zip(&sum).enumerate() {
                            let (at, w) = (i * layer.outputs + o, layer.weights[i * layer.outputs + o]);
                            dw[l][at] += scale * x * d / rows;
                            terms[l][at] += (scale * x).abs() * sum / rows;
                            dx[i] += scale * f64::from(w) * d;
                            next[i] += (scale * f64::from(w)).abs() * sum;
                        }
                        if *x <= 0.0 {
                            (dx[i], next[i]) = (0.0, 0.0);
                        }
                    }
                    (dy, sum) = (dx, next);
                }
            }
            (loss, entropy, dw.into_iter().zip(terms).map(|(dw, terms)| [dw, terms]).collect(), nearest)
        }

        fn compare(&self) {
            let (loss, entropy, expected, _) = self.naive();
            for set in InstructionSet::available() {
                let (seen, dw) = self.ours(set);
                assert!((seen.loss - loss).abs() <= 1e-5 * (1.0 + loss), "{set:?}: {} {loss}", seen.loss);
                assert!((seen.entropy - entropy).abs() <= 1e-5, "{set:?}: {} {entropy}", seen.entropy);
                for (ours, [expected, terms]) in dw.iter().zip(&expected) {
                    // Rounding goes with the largest sum of terms before they cancel, as in p − 1 of a certain prediction.
                    let largest = terms.iter().fold(1e-3_f64, |m, v| m.max(*v));
                    for (a, b) in ours.iter().zip(expected) {
                        assert!((f64::from(*a) - b).abs() <= 1e-5 * largest, "{set:?}: {a} against {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_papers_network_agrees_with_f64() {
        Case::new(1, 128, &[784, 400, 400, 10]).compare();
    }

    #[test]
    fn a_linear_classifier_agrees_with_f64() {
        Case::new(2, 33, &[50, 10]).compare();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]
        #[test]
        fn any_shape_agrees_with_f64(
            seed: u64,
            rows in 1_usize..if cfg!(miri) { 8 } else { 40 },
            sizes in prop::collection::vec(1_usize..if cfg!(miri) { 12 } else { 70 }, 2..5),
        ) {
            let case = Case::new(seed, rows, &sizes);
            // Nearer to the kink, rounding decides whether a unit is silent, and with it gradients of any size.
            prop_assume!(case.naive().3 > 1e-5);
            case.compare();
        }
    }

    #[test]
    fn what_is_infinite_or_not_a_number_is_never_hidden() {
        for (layer, value) in [(0, f32::NAN), (0, f32::INFINITY), (0, 3e38), (1, f32::NAN), (2, f32::NAN)] {
            let mut case = Case::new(4, 20, &[30, 20, 20, 5]);
            case.weights[layer].fill(value);
            for set in InstructionSet::available() {
                let (seen, _) = case.ours(set);
                assert!(!seen.loss.is_finite(), "{set:?}: {value} in layer {layer} gives {seen:?}");
            }
        }
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let case = Case::new(3, 200, &[100, 40, 37, 7]);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| case.ours(InstructionSet::active()))
        };
        assert_eq!(run(1), run(3));
    }
}
