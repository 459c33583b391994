//! Which instruction set the kernels use, decided at run time.

use std::sync::OnceLock;

/// Environment variable that forces a path: `portable`, `avx2` or `avx512`.
pub const PATH_VARIABLE: &str = "EVENKEEL_KERNELS";

/// An instruction set that every kernel of this crate exists for.
///
/// | path | images per block | needs |
/// |---|---|---|
/// | `Portable` | 8 | nothing |
/// | `Avx2` | 8 | AVX2 and FMA |
/// | `Avx512` | 16 | AVX-512 F, DQ and VL, AVX2 and FMA |
///
/// A value of this type is a promise that the CPU can run the path: the only ways to get one check that.
/// All paths compute the same results up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Path {
    /// Plain Rust without intrinsics; runs everywhere.
    pub const PORTABLE: Path = Path(Kind::Portable);

    /// The path of this process: [`PATH_VARIABLE`] if it is set, else the widest that the CPU offers.
    ///
    /// The answer is found once and kept. A forced path that the CPU lacks, or that does not exist, falls
    /// back to [`Path::PORTABLE`]: whoever forces a path wants a known one, not the next best.
    pub fn active() -> Path {
        static ACTIVE: OnceLock<Path> = OnceLock::new();
        *ACTIVE.get_or_init(|| Path::chosen_by(std::env::var(PATH_VARIABLE).ok().as_deref()))
    }

    /// The path that a value of [`PATH_VARIABLE`] stands for; `None` or an empty text means the widest.
    pub fn chosen_by(value: Option<&str>) -> Path {
        match value.map(str::trim) {
            None | Some("") => Path::available().pop().unwrap_or(Path::PORTABLE),
            Some(name) => Path::available()
                .into_iter()
                .find(|path| path.name().eq_ignore_ascii_case(name))
                .unwrap_or(Path::PORTABLE),
        }
    }

    /// Every path that this CPU can run, narrowest first.
    pub fn available() -> Vec<Path> {
        #[allow(unused_mut)]
        let mut paths = vec![Path::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("popcnt")
        {
            paths.push(Path(Kind::Avx2));
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                paths.push(Path(Kind::Avx512));
            }
        }
        paths
    }

    /// The name that [`PATH_VARIABLE`] knows this path by.
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
    fn every_available_path_is_found_by_its_name() {
        for path in Path::available() {
            assert_eq!(Path::chosen_by(Some(path.name())), path);
        }
    }

    #[test]
    fn an_unknown_path_falls_back_to_portable() {
        assert_eq!(Path::chosen_by(Some("sse9")), Path::PORTABLE);
    }

    #[test]
    fn without_a_choice_the_widest_path_is_taken() {
        assert_eq!(Path::chosen_by(None), *Path::available().last().unwrap());
        assert_eq!(Path::chosen_by(Some("")), Path::chosen_by(None));
    }
}
