//! What `fuzz/run` reaches of the server: a connection in memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::{Builder, Runtime};

use super::{Pages, converse};

/// A server that listens nowhere, for `127.0.0.1:8080`.
pub struct Unheard {
    pages: Arc<Pages>,
    runtime: Runtime,
}

impl Unheard {
    /// Of the runs in a folder.
    pub fn new(dir: PathBuf) -> Self {
        let pages =
            Pages { port: 8080, dirs: vec![dir], own: vec![], against: None, cache: Mutex::default() };
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime needs nothing");
        Self { pages: Arc::new(pages), runtime }
    }

    /// All that it answers to a client that sends this and no more.
    pub fn answer(&self, request: &[u8]) -> Vec<u8> {
        self.runtime.block_on(async {
            let (mut client, server) = duplex(1 << 16);
            tokio::spawn(converse(Arc::clone(&self.pages), server));
            let mut answer = Vec::new();
            let _ = client.write_all(request).await;
            let _ = client.shutdown().await;
            let _ = client.read_to_end(&mut answer).await;
            answer
        })
    }
}
