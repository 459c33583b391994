//! A small web server for one page: on loopback, read-only, nothing of the file system behind it.

use std::error::Error;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tiny_http::{Header, Method, Request, Response, StatusCode};

use crate::analysis::own_curves::OwnSource;
use crate::analysis::{Folders, document};

/// Files are looked at no more often than this, however many pages ask.
const FRESH_FOR: Duration = Duration::from_millis(500);

/// Requests are answered side by side, so that one slow reader does not stop the others.
const THREADS: usize = 4;

/// The server of the live report.
pub struct Server {
    http: tiny_http::Server,
    address: SocketAddr,
    dirs: Vec<PathBuf>,
    /// Curves of other programs.
    own: Vec<OwnSource>,
    /// The optimizer that the others are compared with.
    against: Option<String>,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    looked: Option<Instant>,
    version: String,
    /// The page of a version, made when somebody asks for it.
    page: Option<(String, String)>,
}

impl Server {
    /// Listens on `address`, which must be one of this computer only.
    pub fn bind(
        address: SocketAddr,
        dirs: Vec<PathBuf>,
        own: Vec<OwnSource>,
        against: Option<String>,
    ) -> Result<Self, Box<dyn Error + Send + Sync>> {
        if !address.ip().is_loopback() {
            return Err("only loopback addresses are allowed".into());
        }
        let http = tiny_http::Server::http(address)?;
        let address = http.server_addr().to_ip().ok_or("no address")?;
        Ok(Self { http, address, dirs, own, against, cache: Mutex::default() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until the process ends.
    pub fn run(&self) {
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for request in self.http.incoming_requests() {
                        // A reader that has gone away is no matter of the server.
                        let answer = self.answer(&request);
                        let _ = request.respond(answer);
                    }
                });
            }
        });
    }

    fn answer(&self, request: &Request) -> Response<std::io::Cursor<Vec<u8>>> {
        // A page of another site that calls this server by a name of its own (DNS rebinding) gives itself away here.
        if !self.is_own_host(request) {
            return text(403, "this server answers to its own address only\n");
        }
        if !matches!(request.method(), Method::Get | Method::Head) {
            return text(405, "read-only: GET only\n").with_header(header("Allow", "GET, HEAD"));
        }
        match request.url().split('?').next().unwrap_or_default() {
            "/" => {
                let page = self.page();
                let mut response = text(200, &page);
                response.add_header(header("Content-Type", "text/html; charset=utf-8"));
                response
            }
            "/version" => text(200, &self.version()),
            // There is no other path, so none leads out of the folders.
            _ => text(404, "there is only one page here: /\n"),
        }
    }

    fn is_own_host(&self, request: &Request) -> bool {
        let mut hosts = request.headers().iter().filter(|header| header.field.equiv("Host"));
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let port = self.address.port();
        let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
        own.iter().any(|own| host.value.as_str().eq_ignore_ascii_case(own))
    }

    fn version(&self) -> String {
        let mut cache = lock(&self.cache);
        self.look(&mut cache);
        cache.version.clone()
    }

    /// Looks at the files if the last look is too long ago.
    fn look(&self, cache: &mut Cache) {
        if cache.looked.is_none_or(|looked| looked.elapsed() >= FRESH_FOR) {
            cache.version = Folders::read_with(&self.dirs, &self.own).version();
            cache.looked = Some(Instant::now());
        }
    }

    fn page(&self) -> String {
        let mut cache = lock(&self.cache);
        self.look(&mut cache);
        if let Some((version, page)) = &cache.page
            && *version == cache.version
        {
            return page.clone();
        }
        // A point that is added in the meantime gives another version: the page asks again.
        let version = cache.version.clone();
        let page =
            document("evenkeel, live", Folders::read_with(&self.dirs, &self.own), self.against.as_deref())
                .to_live_html(&version);
        cache.page = Some((version, page.clone()));
        page
    }
}

fn lock(cache: &Mutex<Cache>) -> std::sync::MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn text(status: u16, body: &str) -> Response<std::io::Cursor<Vec<u8>>> {
    let mut response = Response::from_data(body.as_bytes()).with_status_code(StatusCode(status));
    for (name, value) in [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ] {
        response.add_header(header(name, value));
    }
    response
}

fn header(name: &str, value: &str) -> Header {
    Header::from_bytes(name, value).expect("the headers are part of the program")
}
