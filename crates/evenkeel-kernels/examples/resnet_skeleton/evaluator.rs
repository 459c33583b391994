//! Slim ResNet-18 in evaluation mode: BatchNorm folded, residual and ReLU in the epilogue.

use crate::network::Profile;
use evenkeel_kernels::{Buffer, ConvShape, Epilogue, PackedWeights, Path, conv};

/// A convolution with its BatchNorm folded in.
pub(crate) struct Folded {
    pub(crate) conv: ConvShape,
    pub(crate) name: String,
    pub(crate) packed: PackedWeights,
    pub(crate) bias: Vec<f32>,
}

impl Folded {
    fn run(
        &self,
        path: Path,
        x: &[f32],
        residual: Option<&[f32]>,
        relu: bool,
        y: &mut [f32],
        profile: &mut Profile,
    ) {
        let (from, to) = (self.conv.input().blocked_len(path), self.conv.output().blocked_len(path));
        let residual = residual.map(|r| &r[..to]);
        let epilogue = Epilogue { bias: Some(&self.bias), residual, relu, accumulate: false };
        profile.time(&self.name, self.conv.flops(), || {
            conv::forward(path, &self.conv, &x[..from], &self.packed, &mut y[..to], epilogue);
        });
    }
}

/// Blocks of images that go through the last two stages together: their maps are small, so several are
/// needed to fill the Winograd kernels' tiles.
pub(crate) const GATHERED: usize = 8;

/// The network in evaluation mode: one block of images at a time through the stem and the first two stages,
/// whose maps then stay in the cache, several through the last two.
pub(crate) struct Evaluator {
    pub(crate) path: Path,
    pub(crate) wide: Vec<Folded>,
    pub(crate) deep: Vec<Folded>,
    pub(crate) images: Buffer,
    pub(crate) gathered: Buffer,
    /// Input, middle and side branch of a residual block, and its output.
    pub(crate) buffers: [Buffer; 4],
}

/// Runs the residual blocks of some layers; the input and then the output are in the first buffer.
fn residual_blocks(path: Path, layers: &[Folded], buffers: &mut [Buffer; 4], profile: &mut Profile) {
    let [x, middle, side, y] = buffers;
    let mut layers = layers.iter();
    while let Some(first) = layers.next() {
        first.run(path, x, None, true, middle, profile);
        let strided = first.conv.input().height != first.conv.output().height;
        if strided {
            layers.next().expect("a shortcut").run(path, x, None, false, side, profile);
        }
        let residual = if strided { &*side } else { &*x };
        layers.next().expect("a second convolution").run(path, middle, Some(residual), true, y, profile);
        std::mem::swap(x, y);
    }
}

impl Evaluator {
    pub(crate) fn run(&mut self, profile: &mut Profile) {
        let path = self.path;
        let image_block = self.wide[0].conv.input().block_len(path);
        let deep_block = self.deep[0].conv.input().block_len(path);
        // A block for every thread.
        let threads = rayon::current_num_threads().min(GATHERED);
        for images in self.images.chunks(GATHERED * image_block) {
            let blocks = images.len() / image_block;
            let parts = self.gathered[..blocks * deep_block].chunks_mut(threads * deep_block);
            for (images, gathered) in images.chunks(threads * image_block).zip(parts) {
                for layer in &mut self.wide {
                    layer.conv = layer.conv.with_batch(images.len() / image_block * path.lanes());
                }
                self.wide[0].run(path, images, None, true, &mut self.buffers[0], profile);
                residual_blocks(path, &self.wide[1..], &mut self.buffers, profile);
                gathered.copy_from_slice(&self.buffers[0][..gathered.len()]);
            }
            for layer in &mut self.deep {
                layer.conv = layer.conv.with_batch(blocks * path.lanes());
            }
            std::mem::swap(&mut self.buffers[0], &mut self.gathered);
            residual_blocks(path, &self.deep, &mut self.buffers, profile);
            std::mem::swap(&mut self.buffers[0], &mut self.gathered);
        }
    }
}
