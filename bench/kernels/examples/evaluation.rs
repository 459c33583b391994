//! Where the time of an evaluation of slim ResNet-18 goes: 1,000 images of 32×32 on one thread, some blocks of images (of as many as a
//! vector has lanes) at a time through the whole network. Prints the median milliseconds of every kind of convolution, by stage.
//!
//! Fifteen rounds, one and eight blocks at a time: the evaluator takes what is faster for each layer.
//!
//! `cargo run --profile bench --manifest-path bench/kernels/Cargo.toml --example evaluation -- 15 1`
//! `cargo run --profile bench --manifest-path bench/kernels/Cargo.toml --example evaluation -- 15 8`

use std::collections::BTreeMap;
use std::time::Instant;

use evenkeel_kernel_benches::numbers;
use evenkeel_kernels::{BatchShape, Buffer, ConvShape, Epilogue, InstructionSet, PackedWeights, conv};

const IMAGES: usize = 1000;

struct Layer {
    conv: ConvShape,
    packed: PackedWeights,
    bias: Vec<f32>,
    /// Which activation it reads, which one it adds, which one it writes.
    places: (usize, Option<usize>, usize),
    relu: bool,
    stage: usize,
}

fn network(set: InstructionSet, batch: usize) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    let mut add = |shape: BatchShape, (outputs, kernel, stride), places, relu, stage| {
        let conv = ConvShape::new(shape, outputs, kernel, stride);
        let deviation = (2.0 / (shape.channels * kernel * kernel) as f32).sqrt();
        let weights: Vec<f32> = numbers(conv.weight_len()).into_iter().map(|w| w * deviation).collect();
        let mut packed = PackedWeights::new();
        packed.pack_forward(set, &conv, &weights);
        layers.push(Layer { conv, packed, bias: vec![0.1; outputs], places, relu, stage });
        conv.output()
    };
    // Activations: 0 the images, 1 what a block reads, 2 its middle, 3 its shortcut, 4 what it writes; 1 and 4 change places.
    let mut shape = add(BatchShape::new(batch, 3, 32, 32), (20, 3, 1), (0, None, 1), true, 0);
    let (mut x, mut y) = (1, 4);
    for stage in 1..=4 {
        let outputs = 20 << (stage - 1);
        for block in 0..2 {
            let stride = if stage > 1 && block == 0 { 2 } else { 1 };
            let middle = add(shape, (outputs, 3, stride), (x, None, 2), true, stage);
            if stride == 2 {
                add(shape, (outputs, 1, 2), (x, None, 3), false, stage);
            }
            let residual = if stride == 2 { 3 } else { x };
            shape = add(middle, (outputs, 3, 1), (2, Some(residual), y), true, stage);
            (x, y) = (y, x);
        }
    }
    layers
}

fn kind(conv: &ConvShape) -> &'static str {
    let taps = conv.weight_len() / conv.input().channels / conv.output().channels;
    match (taps, conv.input().height == conv.output().height) {
        (1, _) => "1×1",
        (_, false) => "3×3 stride 2",
        _ if conv.input().channels == 3 => "stem",
        _ => "3×3",
    }
}

fn main() {
    let number = |at, default| std::env::args().nth(at).map_or(default, |n| n.parse().expect("a number"));
    let (rounds, blocks) = (number(1, 15), number(2, 1));
    let set = InstructionSet::active();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
    pool.install(|| {
        let batch = blocks * set.lanes();
        let layers = network(set, batch);
        let images = Buffer::zeroed(BatchShape::new(IMAGES, 3, 32, 32).blocked_len(set));
        let mut y: Vec<Buffer> = (0..5).map(|_| Buffer::default()).collect();
        let mut all: BTreeMap<(&str, usize), Vec<f64>> = BTreeMap::new();
        let mut totals = Vec::new();
        for _ in 0..rounds {
            let mut times: BTreeMap<(&str, usize), f64> = BTreeMap::new();
            for chunk in images.chunks(batch * 3 * 32 * 32) {
                let count = (chunk.len() / (3 * 32 * 32)).min(batch);
                for layer in &layers {
                    let conv = layer.conv.with_batch(count);
                    let (from, residual, to) = layer.places;
                    let mut out = std::mem::take(&mut y[to]);
                    out.resize(conv.output().blocked_len(set));
                    let epilogue = Epilogue {
                        bias: Some(&layer.bias),
                        residual: residual.map(|r| &y[r][..]),
                        relu: layer.relu,
                        accumulate: false,
                    };
                    let start = Instant::now();
                    let x = if from == 0 { chunk } else { &y[from][..] };
                    conv::forward(set, &conv, x, &layer.packed, &mut out, epilogue);
                    *times.entry((kind(&conv), layer.stage)).or_default() +=
                        start.elapsed().as_secs_f64() * 1e3;
                    y[to] = out;
                }
            }
            totals.push(times.values().sum::<f64>());
            for (key, time) in times {
                all.entry(key).or_default().push(time);
            }
        }
        let median = |values: &mut Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        for ((kind, stage), mut times) in all {
            println!("stage {stage} {kind:14} {:8.2} ms", median(&mut times));
        }
        println!("all                    {:8.2} ms", median(&mut totals));
    });
}
