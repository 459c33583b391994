//! What the micro-benchmarks share.

use criterion::Criterion;

/// Makes this thread the only one of the pool that the kernels use.
pub fn on_one_thread() -> Criterion {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nothing ran before");
    Criterion::default()
}

/// `len` numbers in (−1, 1), always the same.
pub fn numbers(len: usize) -> Vec<f32> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Images of 28×28 that are black but for a stroke around the middle: about as many pixels as in MNIST, in as similar places.
pub fn strokes(images: usize) -> Vec<f32> {
    let jitter = numbers(images * 4);
    let mut pixels = vec![0.0; images * 784];
    for (image, jitter) in pixels.chunks_exact_mut(784).zip(jitter.chunks_exact(4)) {
        let (x, y, radius, width) =
            (14.0 + 2.0 * jitter[0], 14.0 + 2.0 * jitter[1], 6.0 + 2.0 * jitter[2], 1.8 + 0.6 * jitter[3]);
        for (i, pixel) in image.iter_mut().enumerate() {
            let distance = ((i % 28) as f32 - x).hypot((i / 28) as f32 - y);
            *pixel = (1.0 - (distance - radius).abs() / width).max(0.0);
        }
    }
    pixels
}
