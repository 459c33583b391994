//! Which instruction set the kernels use, decided at run time.

use std::sync::OnceLock;

/// Environment variable that forces an instruction set: `portable`, `avx2` or `avx512`.
pub const VARIABLE: &str = "EVENKEEL_KERNELS";

/// An instruction set that every kernel of this crate exists for.
///
/// | instruction set | images per block | needs |
/// |---|---|---|
/// | `Portable` | 8 | nothing |
/// | `Avx2` | 8 | AVX2 and FMA |
/// | `Avx512` | 16 | AVX-512 F, DQ and VL, AVX2 and FMA |
///
/// A value of this type is a promise that the CPU can run the instruction set: the only ways to get one check that.
/// All instruction sets compute the same results up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionSet(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// Plain Rust without intrinsics; runs everywhere.
    pub const PORTABLE: InstructionSet = InstructionSet(Kind::Portable);

    /// The instruction set of this process: [`VARIABLE`] if it is set, else the widest that the CPU offers.
    ///
    /// The answer is found once and kept. A forced instruction set that the CPU lacks, or that does not exist, falls
    /// back to [`InstructionSet::PORTABLE`]: whoever forces an instruction set wants a known one, not the next best.
    pub fn active() -> InstructionSet {
        static ACTIVE: OnceLock<InstructionSet> = OnceLock::new();
        *ACTIVE.get_or_init(|| InstructionSet::chosen_by(std::env::var(VARIABLE).ok().as_deref()))
    }

    /// The instruction set that a value of [`VARIABLE`] stands for; `None` or an empty text means the widest.
    pub fn chosen_by(value: Option<&str>) -> InstructionSet {
        match value.map(str::trim) {
            None | Some("") => InstructionSet::available().pop().unwrap_or(InstructionSet::PORTABLE),
            Some(name) => InstructionSet::available()
                .into_iter()
                .find(|set| set.name().eq_ignore_ascii_case(name))
                .unwrap_or(InstructionSet::PORTABLE),
        }
    }

    /// Every instruction set that this CPU can run, narrowest first.
    pub fn available() -> Vec<InstructionSet> {
        #[allow(unused_mut)]
        let mut sets = vec![InstructionSet::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt")
        {
            sets.push(InstructionSet(Kind::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                sets.push(InstructionSet(Kind::Avx512));
            }
        }
        sets
    }

    /// The name that [`VARIABLE`] knows this instruction set by.
    pub fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => "avx512",
        }
    }

    /// Images per block: how many images share one SIMD register.
    pub fn lanes(self) -> usize {
        match self.0 {
            Kind::Portable => 8,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => 8,
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => 16,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_available_set_is_found_by_its_name() {
        for set in InstructionSet::available() {
            assert_eq!(InstructionSet::chosen_by(Some(set.name())), set);
        }
    }

    #[test]
    fn an_unknown_set_falls_back_to_portable() {
        assert_eq!(InstructionSet::chosen_by(Some("sse9")), InstructionSet::PORTABLE);
    }

    #[test]
    fn without_a_choice_the_widest_set_is_taken() {
        assert_eq!(InstructionSet::chosen_by(None), *InstructionSet::available().last().unwrap());
        assert_eq!(InstructionSet::chosen_by(Some("")), InstructionSet::chosen_by(None));
    }
}
