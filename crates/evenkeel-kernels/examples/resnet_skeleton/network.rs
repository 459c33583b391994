//! Slim ResNet-18 put together from the kernels, every part timed.

use crate::clock::thread_ms;
use crate::evaluator::{Evaluator, Folded, GATHERED};
use evenkeel_kernels::batch_norm::{self, EPSILON, Gate, MOMENTUM, NormGradient, Normaliser};
use evenkeel_kernels::{Buffer, ConvShape, Epilogue, PackedWeights, Path, Shape, conv, pool};
use std::collections::BTreeMap;

/// Milliseconds and textbook floating-point operations per part.
#[derive(Default)]
pub(crate) struct Profile(BTreeMap<String, (f64, f64)>);

impl Profile {
    pub(crate) fn time<R>(&mut self, part: &str, flops: f64, work: impl FnOnce() -> R) -> R {
        let start = thread_ms();
        let result = work();
        let entry = self.0.entry(part.to_owned()).or_default();
        entry.0 += thread_ms() - start;
        entry.1 += flops;
        result
    }

    /// Prints the best time of every part.
    pub(crate) fn print(profiles: &[Profile], peak: f64) {
        for (part, &(_, flops)) in &profiles[0].0 {
            let ms = super::best(&profiles.iter().map(|p| p.0[part].0).collect::<Vec<_>>());
            let rate = flops / ms / 1e6;
            println!("    {part:<34} {ms:7.1} ms {rate:6.0} GFLOP/s {:5.2} of peak", rate / peak);
        }
    }
}

fn random(seed: u64, len: usize, scale: f32) -> Vec<f32> {
    let mut state = seed.wrapping_add(0x1234_5678_9ABC_DEF1);
    (0..len)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            scale * ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0)
        })
        .collect()
}

/// A convolution and its BatchNorm, with what training keeps of them.
struct Layer {
    conv: ConvShape,
    name: String,
    weights: Vec<f32>,
    gamma: Vec<f32>,
    beta: Vec<f32>,
    running: (Vec<f32>, Vec<f32>),
    forward: PackedWeights,
    backward: PackedWeights,
    z: Buffer,
    normaliser: Option<Normaliser>,
    gradient: Vec<f32>,
}

impl Layer {
    fn new(path: Path, conv: ConvShape) -> Self {
        let (input, output) = (conv.input(), conv.output());
        let fan_in = conv.weight_len() / output.channels;
        let kernel = if fan_in == input.channels { 1 } else { 3 };
        let stride = if input.height == output.height { 1 } else { 2 };
        let name =
            format!("{}→{} @{} {kernel}×{kernel}/{stride}", input.channels, output.channels, output.height);
        Self {
            name,
            weights: random(output.channels as u64, conv.weight_len(), (1.0 / fan_in as f32).sqrt()),
            gamma: vec![1.0; output.channels],
            beta: vec![0.0; output.channels],
            running: (vec![0.0; output.channels], vec![1.0; output.channels]),
            forward: PackedWeights::new(),
            backward: PackedWeights::new(),
            z: Buffer::zeroed(output.blocked_len(path)),
            normaliser: None,
            gradient: vec![0.0; conv.weight_len()],
            conv,
        }
    }

    fn part(&self, pass: &str) -> String {
        format!("{pass} {}", self.name)
    }

    /// Convolution and statistics.
    fn convolve(&mut self, path: Path, x: &[f32], profile: &mut Profile) {
        profile.time("pack", 0.0, || self.forward.pack_forward(path, &self.conv, &self.weights));
        let part = self.part("conv forward");
        let moments = profile.time(&part, self.conv.flops(), || {
            conv::forward_with_moments(path, &self.conv, x, &self.forward, &mut self.z)
        });
        moments.update_running(MOMENTUM, &mut self.running.0, &mut self.running.1);
        self.normaliser = Some(Normaliser::of_batch(&moments, &self.gamma, &self.beta, EPSILON));
    }

    fn normalise(
        &self,
        path: Path,
        residual: Option<&[f32]>,
        relu: bool,
        y: &mut [f32],
        profile: &mut Profile,
    ) {
        let shape = self.conv.output();
        let normaliser = self.normaliser.as_ref().expect("a forward pass");
        profile.time("bn forward", 0.0, || {
            batch_norm::normalise(path, &shape, normaliser, &self.z, residual, relu, y);
        });
    }

    /// BatchNorm and convolution backwards: `dy` is gated in place, `dx` gets the gradient of the input.
    fn backwards(
        &mut self,
        path: Path,
        x: &[f32],
        dy: &mut [f32],
        gate: Gate<'_>,
        dx: Option<(&mut [f32], Epilogue<'_>)>,
        profile: &mut Profile,
    ) {
        let shape = self.conv.output();
        let normaliser = self.normaliser.as_ref().expect("a forward pass");
        let sums = profile.time("bn backward sums", 0.0, || {
            batch_norm::backward_sums(path, &shape, normaliser, &self.z, dy, gate)
        });
        let dz = NormGradient { normaliser, sums: &sums, z: &self.z, dy, gate };
        let passes = if dx.is_some() { 2.0 } else { 1.0 };
        if dx.is_some() {
            profile.time("pack", 0.0, || self.backward.pack_backward(path, &self.conv, &self.weights));
        }
        let dx = dx.map(|(dx, epilogue)| (&self.backward, dx, epilogue));
        let part = self.part("bn + conv backward");
        profile.time(&part, passes * self.conv.flops(), || {
            conv::backward(path, &self.conv, x, &dz, &mut self.gradient, dx);
        });
    }

    /// Weights and bias with the BatchNorm folded in, for `batch` images.
    fn folded(&self, path: Path, batch: usize) -> Folded {
        let conv = self.conv.with_batch(batch);
        let normaliser =
            Normaliser::of_running(&self.running.0, &self.running.1, &self.gamma, &self.beta, EPSILON);
        let mut weights = vec![0.0; self.weights.len()];
        normaliser.fold(&self.weights, &mut weights);
        let mut packed = PackedWeights::new();
        packed.pack_forward(path, &conv, &weights);
        Folded { conv, name: self.part("conv eval"), packed, bias: normaliser.shift().to_vec() }
    }
}

struct Block {
    first: Layer,
    second: Layer,
    shortcut: Option<Layer>,
    /// After the first BatchNorm and ReLU.
    middle: Buffer,
    /// The shortcut's BatchNorm output.
    side: Buffer,
    out: Buffer,
}

pub(crate) struct Network {
    path: Path,
    images: Buffer,
    stem: Layer,
    stem_out: Buffer,
    blocks: Vec<Block>,
    pooled: Buffer,
    last: Shape,
}

impl Network {
    pub(crate) fn new(path: Path, batch: usize, size: usize) -> Self {
        let input = Shape::new(batch, 3, size, size);
        let stem = Layer::new(path, ConvShape::three(input, 20, 1));
        let mut shape = stem.conv.output();
        let stem_out = Buffer::zeroed(shape.blocked_len(path));
        let mut blocks = Vec::new();
        for (channels, stride) in [(20, 1), (20, 1), (40, 2), (40, 1), (80, 2), (80, 1), (160, 2), (160, 1)] {
            let first = Layer::new(path, ConvShape::three(shape, channels, stride));
            let shortcut = (stride == 2).then(|| Layer::new(path, ConvShape::one(shape, channels, stride)));
            shape = first.conv.output();
            let second = Layer::new(path, ConvShape::three(shape, channels, 1));
            let side = Buffer::zeroed(if shortcut.is_some() { shape.blocked_len(path) } else { 0 });
            let middle = Buffer::zeroed(shape.blocked_len(path));
            let out = middle.clone();
            blocks.push(Block { first, second, shortcut, middle, side, out });
        }
        let pooled = Buffer::zeroed(pool::pooled(&shape).blocked_len(path));
        let images = Buffer::from(&random(7, input.blocked_len(path), 1.0)[..]);
        Self { path, images, stem, stem_out, blocks, pooled, last: shape }
    }

    /// Textbook operations of a forward pass.
    pub(crate) fn flops(&self) -> f64 {
        let layers = self.blocks.iter().flat_map(|b| [Some(&b.first), Some(&b.second), b.shortcut.as_ref()]);
        self.stem.conv.flops() + layers.flatten().map(|l| l.conv.flops()).sum::<f64>()
    }

    pub(crate) fn train(&mut self, profile: &mut Profile) {
        let path = self.path;
        self.stem.convolve(path, &self.images, profile);
        self.stem.normalise(path, None, true, &mut self.stem_out, profile);
        let mut x: &[f32] = &self.stem_out;
        for block in &mut self.blocks {
            block.first.convolve(path, x, profile);
            block.first.normalise(path, None, true, &mut block.middle, profile);
            block.second.convolve(path, &block.middle, profile);
            let residual = if let Some(shortcut) = &mut block.shortcut {
                shortcut.convolve(path, x, profile);
                shortcut.normalise(path, None, false, &mut block.side, profile);
                &block.side
            } else {
                x
            };
            block.second.normalise(path, Some(residual), true, &mut block.out, profile);
            x = &block.out;
        }
        profile.time("pool", 0.0, || pool::average_pool(path, &self.last, x, &mut self.pooled));

        // The gradient of a loss: any numbers will do.
        let mut dy = Buffer::zeroed(x.len());
        profile.time("pool", 0.0, || pool::average_pool_backward(path, &self.last, &self.pooled, &mut dy));
        let (mut dmiddle, mut dx) = (Buffer::default(), Buffer::default());
        for index in (0..self.blocks.len()).rev() {
            let (before, rest) = self.blocks.split_at_mut(index);
            let block = &mut rest[0];
            let x: &[f32] = before.last().map_or(&self.stem_out, |b| &b.out);
            dmiddle.resize(dy.len());
            dx.resize(x.len());
            let (gate, none) = (Gate::Output(&block.out), Epilogue::default());
            block.second.backwards(path, &block.middle, &mut dy, gate, Some((&mut dmiddle, none)), profile);
            if let Some(shortcut) = &mut block.shortcut {
                shortcut.backwards(path, x, &mut dy, Gate::Open, Some((&mut dx, none)), profile);
                let add = Epilogue { accumulate: true, ..none };
                block.first.backwards(path, x, &mut dmiddle, Gate::Input, Some((&mut dx, add)), profile);
            } else {
                let add = Epilogue { residual: Some(&dy), ..none };
                block.first.backwards(path, x, &mut dmiddle, Gate::Input, Some((&mut dx, add)), profile);
            }
            std::mem::swap(&mut dy, &mut dx);
        }
        self.stem.backwards(path, &self.images, &mut dy, Gate::Input, None, profile);
    }

    /// The network with folded BatchNorm for `count` images.
    pub(crate) fn evaluator(&self, count: usize) -> Evaluator {
        let path = self.path;
        let fold = |layers: &mut Vec<Folded>, blocks: &[Block], batch: usize| {
            for block in blocks {
                layers.push(block.first.folded(path, batch));
                layers.extend(block.shortcut.as_ref().map(|s| s.folded(path, batch)));
                layers.push(block.second.folded(path, batch));
            }
        };
        let mut wide = vec![self.stem.folded(path, path.lanes())];
        fold(&mut wide, &self.blocks[..4], path.lanes());
        let mut deep = Vec::new();
        fold(&mut deep, &self.blocks[4..], GATHERED * path.lanes());
        let longest = |layers: &[Folded]| {
            layers.iter().map(|l| l.conv.output().blocked_len(path)).max().expect("a layer")
        };
        let len = (GATHERED * longest(&wide)).max(longest(&deep)).max(deep[0].conv.input().blocked_len(path));
        let image = wide[0].conv.input().image_len();
        let images = Buffer::from(&random(9, count.next_multiple_of(path.lanes()) * image, 1.0)[..]);
        let buffers = [(); 4].map(|()| Buffer::zeroed(len));
        Evaluator { path, wide, deep, images, gathered: Buffer::zeroed(len), buffers }
    }
}
