//! Text as numbers: hashed character n-grams.
//!
//! A text is lower-cased, every run of white space becomes one space, and one space is put before and after it. Each run of
//! `n` characters of the result, for every `n` of a range, is an n-gram. Its hash is FNV-1a (64 bits) of its UTF-8 bytes; with
//! `dimension` columns it adds `+1` (or `−1`, if the highest bit of the hash is set, so that collisions cancel on average) to
//! column `1 + (hash mod 2⁶³) mod (dimension − 1)`. Column 0 stays empty. Last, the row is scaled to the length
//! `√dimension`, which is the length of a row of standardised numbers.
//!
//! Nothing is learnt from the data: the same text gives the same numbers, whatever else is in the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How text becomes numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextOptions {
    /// Columns of the result.
    pub dimension: usize,
    /// The shortest and the longest n-gram, in characters.
    pub ngrams: [usize; 2],
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { dimension: 4096, ngrams: [2, 4] }
    }
}

impl TextOptions {
    /// What is wrong with the options, as key and reason.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if !(2..=1 << 16).contains(&self.dimension) {
            return Err(("dimension", "must be from 2 to 65536".to_owned()));
        }
        let [shortest, longest] = self.ngrams;
        if shortest == 0 || longest < shortest || longest > 16 {
            return Err((
                "ngrams",
                "give the shortest and the longest, such as [2, 4]; at most 16".to_owned(),
            ));
        }
        Ok(())
    }

    /// The entries of a text that are not zero, by ascending column.
    ///
    /// ```
    /// use evenkeel_data::text::TextOptions;
    ///
    /// let entries = TextOptions::default().hashed("What is my balance?");
    /// assert!(entries.iter().all(|(column, _)| (1..4096).contains(column)));
    /// assert_eq!(entries, TextOptions::default().hashed("what is  my BALANCE?"));
    /// ```
    pub fn hashed(&self, text: &str) -> Vec<(u32, f32)> {
        let mut clean = String::with_capacity(text.len() + 2);
        clean.push(' ');
        for word in text.split_whitespace() {
            clean.extend(word.chars().flat_map(char::to_lowercase));
            clean.push(' ');
        }
        let ends: Vec<usize> = clean.char_indices().map(|(at, _)| at).chain([clean.len()]).collect();
        let mut counts: BTreeMap<u32, f32> = BTreeMap::new();
        for n in self.ngrams[0]..=self.ngrams[1] {
            for window in ends.windows(n + 1) {
                let hash = fnv1a(&clean.as_bytes()[window[0]..window[n]]);
                let column = 1 + (hash & (u64::MAX >> 1)) % (self.dimension as u64 - 1);
                let sign = if hash >> 63 == 1 { -1.0 } else { 1.0 };
                *counts.entry(column as u32).or_default() += sign;
            }
        }
        counts.retain(|_, count| *count != 0.0);
        let squares: f32 = counts.values().map(|count| count * count).sum();
        let scale = if squares > 0.0 { (self.dimension as f32 / squares).sqrt() } else { 0.0 };
        counts.into_iter().map(|(column, count)| (column, count * scale)).collect()
    }
}

/// FNV-1a with 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hash_is_the_published_one() {
        // Test vectors of the FNV page: "", "a", "foobar".
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn one_n_gram_lands_in_its_column() {
        let options = TextOptions { dimension: 101, ngrams: [3, 3] };
        // " a " is the only 3-gram of "A".
        let hash = fnv1a(b" a ");
        let (column, value) = options.hashed("A")[0];
        assert_eq!(u64::from(column), 1 + (hash & (u64::MAX >> 1)) % 100);
        assert_eq!(value.abs(), 101_f32.sqrt());
        assert_eq!(value < 0.0, hash >> 63 == 1);
        assert!(options.hashed("").is_empty());
    }

    #[test]
    fn options_out_of_range_are_named() {
        let key = |dimension, ngrams| TextOptions { dimension, ngrams }.check().unwrap_err().0;
        assert_eq!([key(1, [2, 4]), key(100_000, [2, 4])], ["dimension"; 2]);
        assert_eq!([key(64, [0, 4]), key(64, [3, 2]), key(64, [2, 17])], ["ngrams"; 3]);
    }

    proptest! {
        #[test]
        fn any_text_has_its_length_and_its_columns(text: String, dimension in 2_usize..300, shortest in 1_usize..4) {
            let options = TextOptions { dimension, ngrams: [shortest, shortest + 2] };
            let entries = options.hashed(&text);
            prop_assert!(entries.is_sorted_by(|a, b| a.0 < b.0));
            prop_assert!(entries.iter().all(|(column, _)| (1..dimension as u32).contains(column)));
            let squares: f32 = entries.iter().map(|(_, value)| value * value).sum();
            prop_assert!(entries.is_empty() || (squares - dimension as f32).abs() < 1e-3 * dimension as f32);
        }
    }
}
