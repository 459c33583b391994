//! The data sets that have a name.
//!
//! A data set is one file in this folder with its [`Entry`], and one line in the registry below. Everything that lists,
//! fetches, verifies or loads data sets goes through the entries.
//!
//! ```
//! use evenkeel_data::sets;
//!
//! let mnist = sets::named("mnist").unwrap();
//! assert_eq!((mnist.classes, mnist.files().len()), (10, 4));
//! ```

mod entry;

pub use self::entry::{Conversion, Convert, Download, Entry, FileSpec, Origin, Package, Packing, Variant};
use crate::source::SourceError;

registry! { Entry:
    mnist;
    fashion_mnist;
    cifar10;
    cifar100;
    digits;
    mini_imagenet;
    clinc150;
}

/// The data set of this name.
pub fn named(name: &str) -> Option<&'static Entry> {
    ALL.iter().copied().find(|entry| entry.name == name)
}

/// The data set of this name, or an error that says which there are.
pub fn find(name: &str) -> Result<&'static Entry, SourceError> {
    named(name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
        SourceError::UnknownName { name: name.to_owned(), known: known.join(", ") }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_list_the_known() {
        for entry in ALL {
            assert_eq!(find(entry.name).unwrap().name, entry.name);
            assert_eq!(entry.to_string(), entry.name);
        }
        let error = find("minst").unwrap_err().to_string();
        assert!(error.contains("minst") && ALL.iter().all(|entry| error.contains(entry.name)), "{error}");
    }

    #[test]
    fn every_entry_is_well_formed() {
        let names: BTreeSet<&str> = ALL.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ALL.len());
        for entry in ALL {
            assert!(entry.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
            assert!(!entry.summary.is_empty() && entry.classes > 1, "{entry}");
            assert!(matches!((entry.normalization)().mean().len(), 0 | 1 | 3), "{entry}");
            let Origin::Download(download) = &entry.origin else { continue };
            assert!(!download.files.is_empty() && !download.mirrors.is_empty(), "{entry}");
            assert!(download.mirrors.iter().all(|mirror| mirror.ends_with('/')), "{entry}");
            assert!(download.package.is_none_or(|package| package.spec.contains('@')), "{entry}");
        }
    }

    #[test]
    fn checksums_are_well_formed_and_distinct() {
        let files = ALL.iter().flat_map(|entry| entry.files());
        let sums: Vec<_> = files.flat_map(|file| file.variants).map(|variant| variant.sha256).collect();
        let hexadecimal = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        assert!(sums.iter().all(|s| s.len() == 64 && s.bytes().all(hexadecimal)));
        assert_eq!(sums.iter().collect::<BTreeSet<_>>().len(), sums.len());
    }

    #[test]
    fn files_that_are_not_what_they_should_be_are_refused_without_a_panic() {
        for entry in ALL {
            let Origin::Download(download) = &entry.origin else { continue };
            for content in [&b""[..], b"something else", &[0; 5000]] {
                let files: Vec<_> = download.files.iter().map(|spec| (spec.name, content)).collect();
                assert!((download.read)(&files).is_err(), "{entry}");
            }
            if let Some(Package { convert: Some(convert), .. }) = download.package {
                for spec in download.files {
                    let sides = vec![b"[1, 2".to_vec(); convert.sides.len()];
                    assert!((convert.convert)(spec.name, b"no picture", &sides).is_err());
                    assert!((convert.convert)(spec.name, b"no picture", &[]).is_err());
                }
            }
        }
    }

    #[test]
    fn what_is_drawn_has_the_classes_that_are_announced() {
        for entry in ALL {
            if let Origin::Drawn(draw) = entry.origin {
                let data = draw();
                assert_eq!((data.name(), data.classes()), (entry.name, entry.classes));
                assert_eq!(data.shape().channels, (entry.normalization)().mean().len());
            }
        }
    }
}
