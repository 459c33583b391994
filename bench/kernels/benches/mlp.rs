//! Kernels of the perceptron, on one thread.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evenkeel_kernel_benches::{numbers, on_one_thread, strokes};
use evenkeel_kernels::InstructionSet;
use evenkeel_kernels::mlp::{Layer, PackedLayers, SparseBatch, SparseRows, Training, logits};

const SIZES: [usize; 4] = [784, 400, 400, 10];

fn weights() -> Vec<Vec<f32>> {
    SIZES.windows(2).map(|s| numbers(s[0] * s[1])).collect()
}

fn layers(weights: &[Vec<f32>]) -> Vec<Layer<'_>> {
    let layers = weights.iter().zip(SIZES.windows(2));
    layers.map(|(weights, s)| Layer { weights, inputs: s[0], outputs: s[1], scale: 1.0 }).collect()
}

fn evaluation(c: &mut Criterion) {
    let set = InstructionSet::active();
    let weights = weights();
    let layers = layers(&weights);
    let mut packed = PackedLayers::new();
    packed.pack(set, &layers);
    let mut group = c.benchmark_group("mlp evaluation");
    group.bench_function("pack the weights", |b| b.iter(|| packed.pack(set, &layers)));
    // Twice the images must take twice the time.
    for images in [1000, 2000, 4000] {
        let x = SparseRows::pack(&strokes(images), SIZES[0], 0.0);
        let mut out = vec![0.0; images * SIZES[3]];
        group.throughput(Throughput::Elements(images as u64));
        group.bench_function(format!("{images} images"), |b| b.iter(|| logits(set, &x, &packed, &mut out)));
    }
    group.finish();
}

fn first_layer(c: &mut Criterion) {
    let set = InstructionSet::active();
    let (rows, w) = (128, numbers(SIZES[0] * SIZES[1]));
    let x = strokes(rows);
    let batch = SparseBatch::pack(&x, SIZES[0], 0.0);
    let (mut y, mut dw) = (vec![0.0; rows * SIZES[1]], vec![0.0; w.len()]);
    let mut group = c.benchmark_group("mlp first layer, batch 128");
    group.bench_function("pack the batch", |b| b.iter(|| SparseBatch::pack(&x, SIZES[0], 0.0)));
    group.bench_function("product", |b| b.iter(|| batch.product(set, &w, &mut y)));
    group.bench_function("gradient", |b| b.iter(|| batch.gradient(set, &y, &mut dw)));
    group.finish();
}

fn training(c: &mut Criterion) {
    let set = InstructionSet::active();
    let weights = weights();
    let layers = layers(&weights);
    let x = strokes(128);
    let labels: Vec<usize> = (0..128).map(|i| i % 10).collect();
    let mut gradients: Vec<Vec<f32>> = weights.iter().map(|w| vec![0.0; w.len()]).collect();
    let mut dw: Vec<&mut [f32]> = gradients.iter_mut().map(Vec::as_mut_slice).collect();
    let (mut training, batch) = (Training::default(), SparseBatch::pack(&x, SIZES[0], 0.0));
    let mut step = |b: &mut criterion::Bencher<'_>| {
        b.iter(|| training.gradients(set, &batch, &labels, &layers, &mut dw));
    };
    c.bench_function("mlp gradients, batch 128", &mut step);
}

criterion_group! {
    name = benches;
    config = on_one_thread();
    targets = evaluation, first_layer, training
}
criterion_main!(benches);
