//! The weights of a perceptron's layers, packed for the register tile.

use super::tile::strips;
use crate::buffer::Buffer;
use crate::instruction_set::InstructionSet;
use crate::simd::{self, Kernel, Simd};
use rayon::prelude::*;

/// Outputs of the widest panel of any instruction set.
const MAX_WIDTH: usize = 5 * 16;

/// One linear layer without bias: weights `[inputs][outputs]`, row-major.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// As many as `inputs · outputs`.
    pub weights: &'a [f32],
    /// Columns of the input.
    pub inputs: usize,
    /// Columns of the output.
    pub outputs: usize,
    /// Multiplies every output: a gain, or 1.
    pub scale: f32,
}

/// Weights of all layers in panels of the instruction set's tile width, packed anew when they change; the memory is kept.
#[derive(Debug, Clone, Default)]
pub struct PackedLayers {
    pub(super) layers: Vec<PackedLayer>,
    /// Lanes of the instruction set that they are packed for.
    pub(super) lanes: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct PackedLayer {
    pub inputs: usize,
    pub outputs: usize,
    pub scale: f32,
    pub panels: Vec<Panel>,
}

/// The weights of some neighbouring outputs.
#[derive(Debug, Clone, Default)]
pub(super) struct Panel {
    /// First vector of outputs, and how many.
    pub first: usize,
    pub vectors: usize,
    /// `[input][vectors · LANES]`, filled up with zeros behind the last output.
    pub weights: Buffer,
    /// Sum over the inputs of each output's weights, for the first layer's background.
    pub column_sums: Buffer,
}

impl PackedLayers {
    /// Nothing packed yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Packs the layers for `set`. The first layer's column sums are accumulated in f64.
    pub fn pack(&mut self, set: InstructionSet, layers: &[Layer<'_>]) {
        assert!(!layers.is_empty(), "at least one layer");
        for (a, b) in layers.iter().zip(&layers[1..]) {
            assert_eq!(a.outputs, b.inputs, "layers fit each other");
        }
        self.lanes = set.lanes();
        self.layers.resize_with(layers.len(), PackedLayer::default);
        for (i, (packed, layer)) in self.layers.iter_mut().zip(layers).enumerate() {
            let Layer { weights, inputs, outputs, scale } = *layer;
            assert_eq!(weights.len(), inputs * outputs, "weights of {inputs}×{outputs}");
            (packed.inputs, packed.outputs, packed.scale) = (inputs, outputs, scale);
            let strips = strips(outputs.div_ceil(set.lanes()), simd::run(set, PanelWidth));
            packed.panels.resize_with(strips.len(), Panel::default);
            for (panel, strip) in packed.panels.iter_mut().zip(strips) {
                (panel.first, panel.vectors) = strip;
            }
            packed.panels.par_iter_mut().for_each(|panel| {
                simd::run(set, Pack { panel, layer, with_sums: i == 0 });
            });
        }
    }
}

/// Vectors of the widest panel.
struct PanelWidth;

impl Kernel for PanelWidth {
    type Output = usize;

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> usize {
        S::STRIP
    }
}

/// Copies the panel's part of the weights, and sums it up in f64 if asked to.
struct Pack<'a> {
    panel: &'a mut Panel,
    layer: &'a Layer<'a>,
    with_sums: bool,
}

impl Kernel for Pack<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        const { assert!(S::STRIP * S::LANES <= MAX_WIDTH) }
        let Self { panel, layer, with_sums } = self;
        let (first, width) = (panel.first * S::LANES, panel.vectors * S::LANES);
        let used = width.min(layer.outputs - first);
        panel.weights.resize(layer.inputs * width);
        panel.column_sums.resize(width);
        let rows = layer.weights.chunks_exact(layer.outputs).map(|row| &row[first..first + used]);
        let mut exact = [0.0_f64; MAX_WIDTH];
        for (row, to) in rows.zip(panel.weights.chunks_exact_mut(width)) {
            let (to, rest) = to.split_at_mut(used);
            to.copy_from_slice(row);
            rest.fill(0.0);
            if with_sums {
                for (sum, w) in exact.iter_mut().zip(row) {
                    *sum += f64::from(*w);
                }
            }
        }
        for (to, sum) in panel.column_sums.iter_mut().zip(exact) {
            *to = sum as f32;
        }
    }
}
