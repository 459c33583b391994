//! Data and curves that users bring: they run, stand beside ours, or are refused with a reason.

use std::path::Path;

use crate::common::{evenkeel, must_fail, must_succeed, run_dirs};

fn fixture(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evenkeel-data/tests/fixtures/features");
    root.join(name).display().to_string()
}

/// A short run on data of the user's.
fn run(out: &Path, data: &str, settings: &[&str]) -> std::process::Command {
    let mut command = evenkeel();
    command.args(["run", "split-digits", "--iterations", "3", "--seeds", "1", "--optimizers", "sgd"]);
    command.args(["--set", "batch=4", "--set", &format!("data={data}"), "--out"]).arg(out);
    for setting in settings {
        command.args(["--set", setting]);
    }
    command
}

#[test]
fn features_of_every_format_train_a_linear_head_and_an_mlp() {
    for name in ["plain.npz", "half.npy", "x.safetensors", "wide.parquet", "only.csv"] {
        for hidden in ["hidden=[]", "hidden=[8]"] {
            let out = tempfile::tempdir().unwrap();
            let data = format!("features:{}", fixture(name));
            must_succeed(&mut run(out.path(), &data, &[hidden, "classes_per_task=1"]));
            must_succeed(&mut run(out.path(), &data, &[hidden, "scenario=task-column"]));
            assert_eq!(run_dirs(out.path()).len(), 2, "{name}");
        }
    }
}

#[test]
fn text_trains_and_permuted_columns_do_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.csv");
    let rows: Vec<String> = (0..20).map(|i| format!("sentence {i},{}\n", ["a", "b"][i % 2])).collect();
    std::fs::write(&file, format!("text,label\n{}", rows.concat())).unwrap();
    let data = format!("text:{}", file.display());
    for settings in [&["classes_per_task=1", "dimension=64"][..], &["scenario=permuted", "permutations=2"]] {
        must_succeed(&mut run(&folder.path().join("out"), &data, settings));
    }
    let stderr = must_fail(&mut run(&folder.path().join("out"), &data, &["scenario=rotated"]), 2);
    assert!(stderr.contains("only images can be rotated"), "{stderr}");
    let stderr = must_fail(&mut run(&folder.path().join("out"), &data, &["crop_padding=2"]), 2);
    assert!(stderr.contains("crop_padding: "), "{stderr}");
}

#[test]
fn options_belong_to_their_format_and_bad_files_are_named() {
    let out = tempfile::tempdir().unwrap();
    let npz = format!("features:{}", fixture("plain.npz"));
    for (data, setting, reason) in [
        (npz.as_str(), "resize=3", "resize: 'features:"),
        ("digits", "dimension=64", "dimension: 'digits' has no such option; it works with text:FILE"),
        (&format!("features:{}", fixture("nan.npz")), "batch=4", "nan.npz: row 6: column 2 is NaN"),
        (&format!("features:{}", fixture("gone.csv")), "batch=4", "gone.csv: is not there"),
    ] {
        let stderr = must_fail(&mut run(out.path(), data, &[setting]), 2);
        assert!(stderr.contains(reason), "{stderr}");
    }
}

#[test]
fn images_of_mixed_sizes_run_once_a_size_is_given() {
    let folder = tempfile::tempdir().unwrap();
    for (class, side) in [("a", 5_u32), ("b", 7)] {
        std::fs::create_dir_all(folder.path().join("photos").join(class)).unwrap();
        for i in 0..4 {
            let path = folder.path().join("photos").join(class).join(format!("{i}.pgm"));
            std::fs::write(path, "ignored").unwrap();
            write_png(&folder.path().join("photos").join(class).join(format!("{i}.png")), side, i);
        }
    }
    let data = format!("folder:{}", folder.path().join("photos").display());
    let out = folder.path().join("out");
    let stderr = must_fail(&mut run(&out, &data, &["classes_per_task=1"]), 2);
    assert!(stderr.contains("such as resize=84"), "{stderr}");
    must_succeed(&mut run(
        &out,
        &data,
        &["classes_per_task=1", "resize=6", "channels=1", "test_fraction=0.25"],
    ));
}

/// A grey square without compression.
fn write_png(path: &Path, side: u32, value: u8) {
    let rows: Vec<u8> = (0..side).flat_map(|_| [vec![0], vec![value * 20; side as usize]].concat()).collect();
    let mut zlib = vec![0x78, 0x01, 0x01];
    zlib.extend((rows.len() as u16).to_le_bytes());
    zlib.extend((!(rows.len() as u16)).to_le_bytes());
    zlib.extend(&rows);
    let (a, b) = rows.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    zlib.extend((b << 16 | a).to_be_bytes());
    let header = [&side.to_be_bytes()[..], &side.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header), (b"IDAT", zlib), (b"IEND", vec![])] {
        png.extend((data.len() as u32).to_be_bytes());
        let body = [&kind[..], &data].concat();
        png.extend(&body);
        png.extend(crc(&body).to_be_bytes());
    }
    std::fs::write(path, png).unwrap();
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}
