//! The formats in which users can bring data of their own, as `prefix:DIR` or `prefix:FILE`.
//!
//! A format is one file in this folder with its [`Format`], and one line in the registry below.

use std::path::Path;

use crate::dataset::DataSet;
use crate::load::LoadError;
use crate::options::DataOptions;

/// A layout of files that a user can point at.
#[derive(Debug)]
pub struct Format {
    /// What comes before the colon.
    pub prefix: &'static str,
    /// How it is written in listings: the prefix and a placeholder.
    pub usage: &'static str,
    /// One line for listings.
    pub summary: &'static str,
    /// The keys of [`DataOptions`] that it knows.
    pub options: &'static [&'static str],
    /// Reads the data set at a path.
    pub load: fn(&Path, &DataOptions) -> Result<DataSet, LoadError>,
}

registry! { Format:
    idx;
    folder;
    features;
    text;
}

/// The format and the folder that a name such as `idx:DIR` stands for.
pub fn parse(name: &str) -> Option<(&'static Format, &Path)> {
    let (prefix, folder) = name.split_once(':')?;
    let format = ALL.iter().copied().find(|format| format.prefix == prefix)?;
    Some((format, Path::new(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_prefix_and_refuses_what_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        for format in ALL {
            assert!(format.usage.starts_with(&format!("{}:", format.prefix)) && !format.summary.is_empty());
            let (found, path) = parse(format.usage).unwrap();
            assert_eq!(found.prefix, format.prefix);
            assert!(path == Path::new("DIR") || path == Path::new("FILE"), "{}", format.usage);
            for option in format.options {
                assert!(DataOptions::KEYS.iter().any(|(key, _)| key == option), "{option}");
            }
            for path in [folder.path(), &folder.path().join("gone"), Path::new("")] {
                let error = (format.load)(path, &DataOptions::default()).unwrap_err();
                assert!(error.is_bad_input() && !error.to_string().contains('\n'), "{error}");
            }
        }
        assert!(parse("mnist").is_none() && parse("csv:DIR").is_none());
    }

    #[test]
    fn a_folder_may_have_a_colon_in_its_name() {
        assert_eq!(parse("idx:C:/data").unwrap().1, Path::new("C:/data"));
    }
}
