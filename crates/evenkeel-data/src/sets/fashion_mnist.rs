//! Fashion-MNIST.

use super::entry::{Download, Entry, Origin, Packing, files};
use crate::idx;
use crate::normalize::Normalization;

pub(super) static ENTRY: Entry = Entry {
    name: "fashion-mnist",
    summary: "60,000 + 10,000 pieces of clothing, 28×28 grey",
    classes: 10,
    sparse: true,
    normalization: Normalization::fashion_mnist,
    origin: Origin::Download(Download {
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
        read: |files| idx::data_set("fashion-mnist", [files[0], files[1], files[2], files[3]], 10),
    }),
};
