//! A data set of two tiny files, and servers that serve it well or badly.

use std::collections::HashMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};
use tempfile::TempDir;

use super::super::cache::Cache;
use super::super::sources::Sources;
use crate::files::sha256;
use crate::normalize::Normalization;
use crate::sets::{Download, Entry, FileSpec, Origin, Package, Packing, Variant};

pub(super) const ONE: &[u8] = b"the first file";
pub(super) const TWO: &[u8] = b"and the second";

/// The data set `toy` with the files `one` and `two`.
pub(super) fn entry(packing: Packing) -> Entry {
    let origin = Origin::Download(download(packing));
    Entry { name: "toy", summary: "", classes: 1, sparse: false, normalization: Normalization::mnist, origin }
}

pub(super) fn download(packing: Packing) -> Download {
    let file = |name, content: &[u8]| {
        let sha256: &'static str = sha256(content).leak();
        let variant = Variant { label: "original", size: content.len() as u64, sha256 };
        FileSpec { name, variants: Box::leak(Box::new([variant])) }
    };
    Download {
        files: Box::leak(Box::new([file("one", ONE), file("two", TWO)])),
        packing,
        mirrors: &["http://127.0.0.1:9/"],
        system_folder: None,
        package: Some(Package { spec: "toy@1.0.0", convert: None }),
        read: |_| Ok(crate::digits(1, 1, 0)),
    }
}

pub(super) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    gzip(&builder.into_inner().unwrap())
}

/// A cache in a new folder that asks these mirrors and nothing else, with short time-outs.
pub(super) fn cache(mirrors: &[&str]) -> (TempDir, Cache) {
    let folder = TempDir::new().unwrap();
    let sources = Sources {
        mirrors: Some(mirrors.iter().map(|&mirror| mirror.to_owned()).collect()),
        npm: None,
        connect_timeout: Duration::from_secs(2),
        stall_timeout: Duration::from_millis(300),
        ..Sources::default()
    };
    let cache = Cache::at(folder.path()).with_sources(sources);
    (folder, cache)
}

/// The names in the folder of the toy data set, sorted; temporary ones included.
pub(super) fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path().join("toy")).unwrap();
    let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Serves these files and answers 404 to everything else.
pub(super) fn server(files: &[(&str, &[u8])]) -> String {
    let files: HashMap<String, Vec<u8>> =
        files.iter().map(|(name, content)| (format!("/{name}"), content.to_vec())).collect();
    let server = tiny_http::Server::http("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", server.server_addr());
    thread::spawn(move || {
        for request in server.incoming_requests() {
            let _ = match files.get(request.url()) {
                Some(content) => request.respond(tiny_http::Response::from_data(content.clone())),
                None => request.respond(tiny_http::Response::empty(404)),
            };
        }
    });
    address
}

/// Answers every request with `bytes`, then hangs up, or keeps silent if it `stalls`.
pub(super) fn raw_server(bytes: Vec<u8>, stalls: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let _ = connection.read(&mut [0; 4096]);
            let _ = connection.write_all(&bytes);
            if stalls {
                thread::sleep(Duration::from_secs(30));
            }
        }
    });
    address
}
