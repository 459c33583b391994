//! From verified files to a data set.

use super::cache::Cache;
use super::error::SourceError;
use super::progress::Progress;
use crate::dataset::DataSet;
use crate::sets::{Download, Entry, Origin};

impl Cache {
    /// Loads a data set, fetching files that are missing.
    ///
    /// A corrupt file is an error; [`Cache::fetch`] replaces it.
    pub fn load(&self, set: &Entry, progress: &mut dyn Progress) -> Result<DataSet, SourceError> {
        match &set.origin {
            Origin::Drawn(draw) => Ok(draw()),
            Origin::Provided { read, .. } => Ok(read(&self.provided(set)?)?),
            Origin::Download(download) => self.load_files(set, download, progress),
        }
    }

    fn load_files(
        &self,
        set: &Entry,
        download: &Download,
        progress: &mut dyn Progress,
    ) -> Result<DataSet, SourceError> {
        let folder = self.path(set);
        let missing = download.files.iter().filter(|spec| !folder.join(spec.name).exists());
        self.fetch_files(set, download, missing.collect(), progress)?;

        let mut files: Vec<(&'static str, Vec<u8>)> = Vec::new();
        let mut first: Option<(&'static str, &'static str)> = None;
        for spec in download.files {
            let (content, variant) = self.read_verified(set, spec)?.unwrap_or_default();
            let (first_file, first) = *first.get_or_insert((spec.name, variant));
            if first != variant {
                let (second_file, second) = (spec.name, variant);
                return Err(SourceError::MixedVariants { folder, first_file, first, second_file, second });
            }
            files.push((spec.name, content));
        }
        let files: Vec<_> = files.iter().map(|(name, content)| (*name, content.as_slice())).collect();
        Ok((download.read)(&files)?)
    }
}
