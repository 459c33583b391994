//! Where the time of a training step of slim ResNet-18 goes: every kernel of a step at batch 256 on one thread, in the order of the
//! network and on memory of its own, so that caches are as cold as in a run. Prints the median milliseconds of every kind of work, by stage.
//!
//! `cargo run --profile bench --manifest-path bench/kernels/Cargo.toml --example step -- 15`

use std::collections::BTreeMap;
use std::time::Instant;

use evenkeel_kernel_benches::numbers;
use evenkeel_kernels::batch_norm::{self, EPSILON, Gate, NormGradient, Normaliser};
use evenkeel_kernels::conv::{self, Input};
use evenkeel_kernels::{BatchShape, Buffer, ConvShape, Epilogue, InstructionSet, PackedWeights, peak};

const BATCH: usize = 256;

/// One convolution with its BatchNorm, and what it leaves for the backward pass.
struct Layer {
    conv: ConvShape,
    weights: Vec<f32>,
    /// Which activation it reads, which one it adds before the ReLU.
    input: usize,
    residual: Option<usize>,
    relu: bool,
    /// Whether its gradient comes on top of another one of the same input.
    accumulates: bool,
    z: Buffer,
    stage: usize,
    normaliser: Option<Normaliser>,
}

impl Layer {
    /// What it reads: an activation, or what the layer before it gives.
    fn input<'a>(&self, before: Option<&'a Layer>, y: &'a [Buffer]) -> Input<'a> {
        match before {
            Some(Layer { z, normaliser: Some(normaliser), relu, .. }) if self.residual.is_some() => {
                Input::Normalised { z, normaliser, relu: *relu }
            }
            _ => Input::Stored(&y[self.input]),
        }
    }
}

/// Milliseconds by kind of work and stage.
type Times = BTreeMap<(&'static str, usize), f64>;

fn timed<R>(times: &mut Times, kind: &'static str, stage: usize, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *times.entry((kind, stage)).or_default() += start.elapsed().as_secs_f64() * 1e3;
    result
}

/// The layers of the network; layer `i` writes activation `i + 1`, and activation 0 are the images.
fn network(set: InstructionSet) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut add = |input: usize,
                   shape: BatchShape,
                   to: (usize, usize, usize),
                   residual: Option<usize>,
                   relu,
                   stage| {
        let (outputs, kernel, stride) = to;
        let conv = ConvShape::new(shape, outputs, kernel, stride);
        let z = Buffer::zeroed(conv.output().blocked_len(set));
        let deviation = (2.0 / (shape.channels * kernel * kernel) as f32).sqrt();
        let weights = numbers(conv.weight_len()).into_iter().map(|w| w * deviation).collect();
        // Shortcuts, and the first convolution of a block that adds its input.
        let accumulates = kernel == 1 || residual.is_none() && input > 0 && stride == 1;
        layers.push(Layer { conv, weights, input, residual, relu, accumulates, z, stage, normaliser: None });
        (layers.len(), conv.output())
    };
    let (mut x, mut shape) = add(0, BatchShape::new(BATCH, 3, 32, 32), (20, 3, 1), None, true, 0);
    for stage in 1..=4 {
        let outputs = 20 << (stage - 1);
        for block in 0..2 {
            let stride = if stage > 1 && block == 0 { 2 } else { 1 };
            let residual = if stride == 2 { add(x, shape, (outputs, 1, 2), None, false, stage).0 } else { x };
            let (middle, inner) = add(x, shape, (outputs, 3, stride), None, true, stage);
            (x, shape) = add(middle, inner, (outputs, 3, 1), Some(residual), true, stage);
        }
    }
    layers
}

fn kind(conv: &ConvShape, names: [&'static str; 4]) -> &'static str {
    let weights = conv.weight_len() / conv.input().channels / conv.output().channels;
    match (weights, conv.input().height == conv.output().height) {
        (1, _) => names[2],
        (_, false) => names[1],
        _ if conv.input().channels == 3 => names[3],
        _ => names[0],
    }
}

fn step(
    set: InstructionSet,
    layers: &mut [Layer],
    packed: &mut PackedWeights,
    y: &mut [Buffer],
    d: &mut [Buffer],
) -> Times {
    let mut times = Times::new();
    for i in 0..layers.len() {
        // Only the second convolution of a block reads what the first one gives: it is normalised there.
        let normalised_later = layers.get(i + 1).is_some_and(|next| next.residual.is_some());
        let (earlier, later) = layers.split_at_mut(i);
        let layer = &mut later[0];
        let (conv, stage) = (layer.conv, layer.stage);
        timed(&mut times, "pack weights", stage, || packed.pack_forward(set, &conv, &layer.weights));
        let names = ["forward 3×3", "forward 3×3 stride 2", "forward 1×1", "forward stem"];
        let moments = timed(&mut times, kind(&conv, names), stage, || {
            let x = layer.input(earlier.last(), y);
            conv::forward_with_moments(set, &conv, x, packed, &mut layer.z)
        });
        let channels = conv.output().channels;
        let normaliser = Normaliser::of_batch(&moments, &vec![1.0; channels], &vec![0.1; channels], EPSILON);
        if !normalised_later {
            let (before, after) = y.split_at_mut(i + 1);
            let residual = layer.residual.map(|r| &before[r][..]);
            timed(&mut times, "normalise", stage, || {
                let y = &mut after[0];
                batch_norm::normalise(set, &conv.output(), &normaliser, &layer.z, residual, layer.relu, y);
            });
        }
        layer.normaliser = Some(normaliser);
    }
    let mut gathered = None;
    for (i, layer) in layers.iter().enumerate().rev() {
        let (conv, stage) = (layer.conv, layer.stage);
        let normaliser = layer.normaliser.as_ref().expect("the forward pass came first");
        let gate = match (layer.residual, layer.relu) {
            (Some(_), _) => Gate::Output(&y[i + 1]),
            (None, true) => Gate::Input,
            _ => Gate::Open,
        };
        let (before, after) = d.split_at_mut(i + 1);
        let dy = &mut after[0];
        let sums = gathered.take().unwrap_or_else(|| {
            timed(&mut times, "backward sums", stage, || {
                batch_norm::backward_sums(set, &conv.output(), normaliser, &layer.z, dy, gate)
            })
        });
        let gradient = NormGradient { normaliser, sums: &sums, z: &layer.z, dy, gate };
        timed(&mut times, "pack weights", stage, || packed.pack_backward(set, &conv, &layer.weights));
        let mut dw = vec![0.0; layer.weights.len()];
        let names = ["backward 3×3", "backward 3×3 stride 2", "backward 1×1", "backward stem"];
        gathered = timed(&mut times, kind(&conv, names), stage, || {
            let epilogue = Epilogue { accumulate: layer.accumulates, ..Epilogue::default() };
            let into = (layer.input > 0).then(|| (&*packed, &mut before[layer.input][..], epilogue));
            let x = layer.input(i.checked_sub(1).map(|before| &layers[before]), y);
            conv::backward(set, &conv, x, &gradient, &mut dw, into)
        });
    }
    times
}

fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(15, |n| n.parse().expect("a number of rounds"));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nothing ran before");
    let set = InstructionSet::active();
    let mut layers = network(set);
    let images = Buffer::from(&numbers(layers[0].conv.input().blocked_len(set))[..]);
    let mut y = vec![images];
    y.extend(layers.iter().map(|layer| layer.z.clone()));
    let mut d: Vec<Buffer> = y.iter().map(|y| Buffer::from(&numbers(y.len())[..])).collect();
    let mut packed = PackedWeights::new();
    let mut all: BTreeMap<(&'static str, usize), Vec<f64>> = BTreeMap::new();
    for round in 0..=rounds {
        // Gradients pile up where the network would overwrite them.
        d.iter_mut().for_each(|d| d.iter_mut().for_each(|v| *v = v.clamp(-1.0, 1.0)));
        let times = step(set, &mut layers, &mut packed, &mut y, &mut d);
        for (key, time) in times.into_iter().filter(|_| round > 0) {
            all.entry(key).or_default().push(time);
        }
    }
    let mut rows: BTreeMap<&str, [[f64; 2]; 5]> = BTreeMap::new();
    for ((kind, stage), mut times) in all {
        times.sort_by(f64::total_cmp);
        rows.entry(kind).or_default()[stage] = [times[times.len() / 2], times[0]];
    }
    println!("{}, {:.0} GFLOP/s at most", set.name(), peak::fma_gflops(set));
    println!(
        "{:24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "ms", "stem", "20@32", "40@16", "80@8", "160@4", "median", "minimum"
    );
    let mut totals = [0.0; 2];
    for (kind, stages) in rows {
        let sum = |which: usize| stages.iter().map(|s| s[which]).sum::<f64>();
        print!("{kind:24}");
        stages.iter().for_each(|s| print!("{:9.2}", s[0]));
        println!("{:9.2}{:9.2}", sum(0), sum(1));
        totals = [totals[0] + sum(0), totals[1] + sum(1)];
    }
    println!("{:69}{:9.2}{:9.2}", "all", totals[0], totals[1]);
}
