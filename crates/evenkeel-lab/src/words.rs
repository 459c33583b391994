//! Counts and lists of numbers in words.

/// Sorted numbers as people write them: 0–4, 7.
pub(crate) fn ranges(numbers: &[u64]) -> String {
    let stretches = numbers.chunk_by(|a, b| a + 1 == *b);
    let shown = stretches.map(|stretch| match stretch {
        [one] => one.to_string(),
        [one, two] => format!("{one}, {two}"),
        [first, .., last] => format!("{first}–{last}"),
        [] => String::new(),
    });
    shown.collect::<Vec<_>>().join(", ")
}

/// A count with its noun.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_stand_together() {
        assert_eq!(ranges(&[0, 1, 2, 3, 7, 9, 10]), "0–3, 7, 9, 10");
        assert_eq!([plural(1, "run"), plural(2, "run")], ["1 run", "2 runs"]);
    }
}
