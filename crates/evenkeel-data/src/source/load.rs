//! From verified files to a data set.

use super::cache::Cache;
use super::catalogue::Catalogue;
use super::error::SourceError;
use super::progress::Progress;
use crate::dataset::DataSet;
use crate::{cifar, digits, idx};

/// Size and seed of the synthetic digits that `digits` stands for.
const DIGITS: (usize, usize, u64) = (10_000, 2_000, 0);

impl Cache {
    /// Loads a data set, fetching files that are missing.
    ///
    /// A corrupt file is an error; [`Cache::fetch`] replaces it.
    pub fn load(&self, set: Catalogue, progress: &mut dyn Progress) -> Result<DataSet, SourceError> {
        let (train, test, seed) = DIGITS;
        let entry = set.entry();
        let folder = self.folder(entry);
        let missing = set.files().iter().filter(|spec| !folder.join(spec.name).exists());
        self.fetch_files(entry, missing.collect(), progress)?;

        let mut files: Vec<(&'static str, Vec<u8>)> = Vec::new();
        let mut first: Option<(&'static str, &'static str)> = None;
        for spec in set.files() {
            let (content, variant) = self.read_verified(entry, spec)?.unwrap_or_default();
            let (first_file, first) = *first.get_or_insert((spec.name, variant));
            if first != variant {
                let (second_file, second) = (spec.name, variant);
                return Err(SourceError::MixedVariants { folder, first_file, first, second_file, second });
            }
            files.push((spec.name, content));
        }
        let file = |i: usize| (files[i].0, files[i].1.as_slice());
        Ok(match set {
            Catalogue::Mnist | Catalogue::FashionMnist => {
                let train = idx::labelled(file(0), file(1), 10)?;
                DataSet::new(set.name(), train, idx::labelled(file(2), file(3), 10)?)?
            }
            Catalogue::Cifar10 => cifar::cifar10(&[0, 1, 2, 3, 4].map(file), file(5))?,
            Catalogue::Cifar100 => cifar::cifar100(file(0), file(1))?,
            Catalogue::Digits => digits(train, test, seed),
        })
    }
}
