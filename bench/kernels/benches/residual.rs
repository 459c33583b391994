//! Convolutions and BatchNorm of slim ResNet-18 at batch 256, on one thread.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use evenkeel_kernel_benches::{numbers, on_one_thread};
use evenkeel_kernels::batch_norm::{Moments, Normaliser, normalise};
use evenkeel_kernels::{BatchShape, Buffer, ConvShape, Epilogue, InstructionSet, PackedWeights, conv};

const BATCH: usize = 256;

/// The convolutions of the network: inputs, outputs, side of the image, stride, side of the kernel.
const CONVOLUTIONS: [(usize, usize, usize, usize, usize); 10] = [
    (3, 20, 32, 1, 3),
    (20, 20, 32, 1, 3),
    (20, 40, 32, 2, 3),
    (40, 40, 16, 1, 3),
    (40, 80, 16, 2, 3),
    (80, 80, 8, 1, 3),
    (80, 160, 8, 2, 3),
    (160, 160, 4, 1, 3),
    (20, 40, 32, 2, 1),
    (80, 160, 8, 2, 1),
];

fn convolutions(c: &mut Criterion) {
    let set = InstructionSet::active();
    for (inputs, outputs, side, stride, kernel) in CONVOLUTIONS {
        let input = BatchShape::new(BATCH, inputs, side, side);
        let shape = ConvShape::new(input, outputs, kernel, stride);
        let weights = numbers(shape.weight_len());
        let (mut ahead, mut back) = (PackedWeights::new(), PackedWeights::new());
        ahead.pack_forward(set, &shape, &weights);
        back.pack_backward(set, &shape, &weights);
        let x = Buffer::from(numbers(input.blocked_len(set)).as_slice());
        let mut y = Buffer::from(numbers(shape.output().blocked_len(set)).as_slice());
        let mut dx = Buffer::zeroed(x.len());
        let mut dw = vec![0.0; weights.len()];
        let name = format!("{kernel}×{kernel} {inputs}→{outputs} @{side} stride {stride}");
        let mut group = c.benchmark_group(name);
        group.sample_size(20).throughput(Throughput::Elements(shape.flops() as u64));
        group.bench_function("forward", |b| {
            b.iter(|| conv::forward(set, &shape, &x, &ahead, &mut y, Epilogue::default()));
        });
        group.bench_function("backward data", |b| {
            b.iter(|| conv::backward_data(set, &shape, &y, &back, &mut dx, Epilogue::default()));
        });
        group.bench_function("backward weights", |b| {
            b.iter(|| conv::backward_weights(set, &shape, &x, &y, &mut dw));
        });
        group.finish();
    }
}

fn batch_norm(c: &mut Criterion) {
    let set = InstructionSet::active();
    let mut group = c.benchmark_group("BatchNorm with residual and ReLU");
    for (channels, side) in [(20, 32), (160, 4)] {
        let shape = BatchShape::new(BATCH, channels, side, side);
        let z = Buffer::from(numbers(shape.blocked_len(set)).as_slice());
        let mut y = Buffer::zeroed(z.len());
        let (gamma, beta) = (vec![1.0; channels], vec![0.0; channels]);
        let normaliser = Normaliser::of_batch(&Moments::of(set, &shape, &z), &gamma, &beta, 1e-5);
        group.throughput(Throughput::Bytes(4 * z.len() as u64));
        group.bench_function(format!("moments, {channels} channels"), |b| {
            b.iter(|| Moments::of(set, &shape, &z));
        });
        group.bench_function(format!("normalise, {channels} channels"), |b| {
            b.iter(|| normalise(set, &shape, &normaliser, &z, Some(&z), true, &mut y));
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = on_one_thread();
    targets = convolutions, batch_norm
}
criterion_main!(benches);
