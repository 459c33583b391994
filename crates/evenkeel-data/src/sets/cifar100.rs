//! CIFAR-100, whole or cut down to the 60 classes that Domain CIFAR-100 needs.

use super::entry::{Download, Entry, Origin, Packing, files};
use crate::cifar;
use crate::normalize::Normalization;

pub(super) static ENTRY: Entry = Entry {
    name: "cifar100",
    summary: "50,000 + 10,000 photographs, 32×32 RGB, 100 classes in 20 superclasses",
    classes: 100,
    sparse: false,
    // The paper's benchmark uses the values of CIFAR-10.
    normalization: Normalization::cifar10,
    origin: Origin::Download(Download {
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
        read: |files| cifar::cifar100(files[0], files[1]),
    }),
};
