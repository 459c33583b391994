//! What a file says about itself before its bytes.

use serde::{Deserialize, Serialize};

use crate::examples::Examples;
use crate::images::ImageShape;
use crate::load::Loaded;
use crate::numbers::Place;

/// What has to be known before the bytes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) train: u32,
    pub(super) test: u32,
    pub(super) classes: usize,
    pub(super) coarse_classes: Option<usize>,
    pub(super) tasks: Option<usize>,
    pub(super) sha256: Option<String>,
}

/// What the examples are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Kind {
    Images {
        channels: usize,
        height: usize,
        width: usize,
        /// In double precision, which holds every single-precision number exactly and is written and read exactly.
        mean: Vec<f64>,
        std: Vec<f64>,
    },
    Sparse {
        columns: usize,
        rows: u32,
        entries: u64,
    },
    Numbers(Place),
}

impl Header {
    pub(super) fn of(loaded: &Loaded) -> Self {
        let Loaded { data, normalization, sha256 } = loaded;
        let exact = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect();
        let kind = match &**data.train().parts().0 {
            Examples::Images(_) => {
                let ImageShape { channels, height, width } = data.shape();
                let (mean, std) = (exact(normalization.mean()), exact(normalization.std()));
                Kind::Images { channels, height, width, mean, std }
            }
            Examples::Sparse(sparse) => Kind::Sparse {
                columns: sparse.columns(),
                rows: sparse.rows() as u32,
                entries: sparse.entries().len() as u64,
            },
            Examples::Numbers(numbers) => Kind::Numbers(numbers.place().clone()),
        };
        Self {
            name: data.name().to_owned(),
            kind,
            train: data.train().len() as u32,
            test: data.test().len() as u32,
            classes: data.classes(),
            coarse_classes: data.coarse().map(|coarse| coarse.train.classes()),
            tasks: data.tasks().map(|tasks| tasks.tasks),
            sha256: sha256.clone(),
        }
    }

    /// How many bytes follow; checks the numbers, so that nothing overflows or is out of place later.
    pub(super) fn length(&self) -> Result<u64, String> {
        let most = usize::from(u16::MAX) + 1;
        if self.classes.max(self.coarse_classes.unwrap_or(0)) > most {
            return Err(format!("more than {most} classes"));
        }
        let examples = u64::from(self.train) + u64::from(self.test);
        let content = match &self.kind {
            Kind::Images { channels, height, width, mean, .. } => {
                if mean.len() != *channels {
                    return Err(format!("{} means for {channels} channels", mean.len()));
                }
                let image = channels.checked_mul(*height).and_then(|n| n.checked_mul(*width));
                image.and_then(|image| examples.checked_mul(image as u64))
            }
            Kind::Sparse { rows, entries, .. } => {
                entries.checked_mul(8).and_then(|n| n.checked_add(8 * (u64::from(*rows) + 1) + 4 * examples))
            }
            Kind::Numbers(place) => {
                (place.columns as u64).checked_mul(8).and_then(|n| n.checked_add(4 * examples))
            }
        };
        let columns = 1 + u64::from(self.coarse_classes.is_some()) + u64::from(self.tasks.is_some());
        let total = content.and_then(|content| content.checked_add(2 * examples * columns));
        total
            .filter(|total| usize::try_from(*total).is_ok())
            .ok_or_else(|| "more bytes than can be counted".to_owned())
    }
}
