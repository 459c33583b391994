//! CLINC150: sentences that people say to an assistant, in 150 intents of ten domains.
//!
//! From "An Evaluation Dataset for Intent Classification and Out-of-Scope Prediction" (Larson et al., 2019), under CC BY 3.0.
//! The sentences that are out of scope are left out. Classes are numbered domain by domain, in the order of `domains.json`, so
//! that fifteen classes per task are one domain per task.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::entry::{Download, Entry, Origin, Packing, files};
use crate::dataset::DataSet;
use crate::error::{FormatError, Problem};
use crate::files::NamedBytes;
use crate::labelled::Labelled;
use crate::normalize::Normalization;
use crate::sparse::Sparse;
use crate::text::TextOptions;

const CLASSES: usize = 150;

pub(super) static ENTRY: Entry = Entry {
    name: "clinc150",
    summary: "15,000 + 4,500 sentences, 150 intents in ten domains; hashed character n-grams in 4,096 columns",
    classes: CLASSES,
    sparse: true,
    normalization: Normalization::none,
    origin: Origin::Download(Download {
        files: files! {
            "data_full.json": "original" 2_495_390 "36923c3705a59e08fe9c3883d8bc2dd966ef93e22cb78ac41171782a698d56e0";
            "domains.json": "original" 3_818 "b947b579d3b8e74b06f93b01083d8efaff2888b43a3e362533bd88a6e1211b3a";
        },
        packing: Packing::Plain,
        mirrors: &["https://raw.githubusercontent.com/clinc/oos-eval/master/data/"],
        system_folder: None,
        package: None,
        read: |files| read(files[0], files[1]),
    }),
};

#[derive(Deserialize)]
struct Sentences {
    train: Vec<(String, String)>,
    test: Vec<(String, String)>,
}

/// Domains with their intents, in the order of the file.
struct Domains(Vec<(String, Vec<String>)>);

impl<'de> Deserialize<'de> for Domains {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Domains;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("domains with their intents")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Domains, A::Error> {
                let mut domains = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    domains.push(entry);
                }
                Ok(Domains(domains))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

fn read(sentences: NamedBytes<'_>, domains: NamedBytes<'_>) -> Result<DataSet, FormatError> {
    let decoded = |name: &str, error: serde_json::Error| {
        FormatError::new(name, Problem::Undecodable(error.to_string()))
    };
    let Domains(in_order) = serde_json::from_slice(domains.1).map_err(|error| decoded(domains.0, error))?;
    let intents = in_order.into_iter().flat_map(|(_, intents)| intents);
    let class: HashMap<String, u16> = intents.zip(0_u16..).collect();
    if class.len() != CLASSES {
        let problem = format!("{} intents instead of {CLASSES}", class.len());
        return Err(FormatError::new(domains.0, Problem::Inconsistent(problem)));
    }
    let parts: Sentences =
        serde_json::from_slice(sentences.1).map_err(|error| decoded(sentences.0, error))?;
    let options = TextOptions::default();
    let mut rows = Sparse::new(options.dimension);
    let mut labels = Vec::new();
    for (text, intent) in parts.train.iter().chain(&parts.test) {
        rows.push(&options.hashed(text));
        labels.push(*class.get(intent).ok_or_else(|| {
            let problem = format!("no domain has the intent '{intent}'");
            FormatError::new(sentences.0, Problem::Inconsistent(problem))
        })?);
    }
    let all = Labelled::new(rows, labels, CLASSES)?;
    let (train, test): (Vec<usize>, Vec<usize>) = (0..all.len()).partition(|row| *row < parts.train.len());
    DataSet::new("clinc150", all.select(&train), all.select(&test))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domains() -> String {
        let domain = |d: usize| {
            let intents: Vec<String> = (0..15).map(|i| format!("\"intent{}\"", 15 * d + i)).collect();
            // Names in an order that sorting would change.
            format!("\"{}\": [{}]", 9 - d, intents.join(", "))
        };
        format!("{{{}}}", (0..10).map(domain).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn classes_are_numbered_by_domain_in_the_order_of_the_file() {
        let sentences = r#"{"oos_train": [], "train": [["pay it", "intent149"], ["stop", "intent3"]], "val": [],
            "test": [["pay", "intent0"]]}"#;
        let data = read(("s", sentences.as_bytes()), ("d", domains().as_bytes())).unwrap();
        assert_eq!(
            (data.train().labels(), data.test().labels(), data.classes()),
            (&[149, 3][..], &[0][..], 150)
        );
        assert_eq!(data.shape().len(), 4096);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let unknown = r#"{"train": [["x", "oos"]], "test": []}"#;
        let error = read(("s", unknown.as_bytes()), ("d", domains().as_bytes())).unwrap_err().to_string();
        assert_eq!(error, "s: its parts disagree: no domain has the intent 'oos'");
        let error = read(("s", b"{}"), ("d", br#"{"a": ["b"]}"#)).unwrap_err().to_string();
        assert_eq!(error, "d: its parts disagree: 1 intents instead of 150");
    }
}
