//! Random numbers that any part of a run can recompute on its own.
//!
//! Every draw comes from a `ChaCha8` generator whose key is a seed and a purpose and whose stream is
//! a counter: the batch of iteration 317 needs no history. Integers and permutations are derived
//! here from raw 64-bit words, so that no release of a random-number crate can change them.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator for `purpose` under `seed`, at position `counter`.
pub(crate) fn generator(seed: u64, purpose: [u8; 8], counter: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&purpose);
    let mut rng = ChaCha8Rng::from_seed(key);
    rng.set_stream(counter);
    rng
}

/// A uniform integer below `n` (0 if `n` is 0), by multiplication: the bias is below `n / 2⁶⁴`.
pub(crate) fn below(rng: &mut impl Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// A uniform number in `[low, high)`.
pub(crate) fn between(rng: &mut impl Rng, low: f32, high: f32) -> f32 {
    let unit = (rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32;
    low + (high - low) * unit
}

/// `n` different integers below `total` (all of them if `n` is larger), in random order.
pub(crate) fn distinct(rng: &mut impl Rng, n: usize, total: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..total).collect();
    let n = n.min(total);
    for i in 0..n {
        let j = i + below(rng, total - i);
        all.swap(i, j);
    }
    all.truncate(n);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_purpose_and_counter_each_change_the_draws() {
        let first = |seed, purpose, counter| generator(seed, purpose, counter).next_u64();
        let base = first(1, *b"batches.", 1);
        assert_eq!(base, first(1, *b"batches.", 1));
        assert_ne!(base, first(2, *b"batches.", 1));
        assert_ne!(base, first(1, *b"priority", 1));
        assert_ne!(base, first(1, *b"batches.", 2));
    }

    #[test]
    fn integers_stay_below_their_bound_and_reach_it() {
        let mut rng = generator(0, *b"testing.", 0);
        let mut seen = [false; 7];
        (0..200).for_each(|_| seen[below(&mut rng, 7)] = true);
        assert_eq!(seen, [true; 7]);
        assert_eq!(below(&mut rng, 1), 0);
    }

    #[test]
    fn distinct_integers_are_distinct() {
        let mut rng = generator(0, *b"testing.", 1);
        let mut some = distinct(&mut rng, 50, 60);
        some.sort_unstable();
        some.dedup();
        assert_eq!(some.len(), 50);
        assert_eq!(distinct(&mut rng, 9, 4).len(), 4);
    }
}
