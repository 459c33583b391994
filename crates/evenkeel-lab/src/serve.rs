//! A small web server for one page: on loopback, read-only, nothing of the file system behind it.
//!
//! One request per connection, within limits of size, time and number, so that no client can stop the others.

#[cfg(fuzzing)]
pub mod fuzzing;

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HOST, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use crate::analysis::own_curves::OwnSource;
use crate::analysis::{Folders, document};

/// Files are looked at no more often than this, however many pages ask.
const FRESH_FOR: Duration = Duration::from_millis(500);

/// Connections at once; more of them wait.
const MOST_CONNECTIONS: usize = 64;

/// A request and its answer may take so long; a client that reads nothing is let go.
const MOST_TIME: Duration = Duration::from_mins(1);

/// The words of a request may take so long to come.
const MOST_TIME_TO_ASK: Duration = Duration::from_secs(10);

/// A request with more bytes before its body is refused.
const MOST_HEADERS: usize = 16 * 1024;

/// The server of the live report.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    pages: Arc<Pages>,
}

/// What is served.
struct Pages {
    port: u16,
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

type Answer = Response<Full<Bytes>>;

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
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let pages = Pages { port: address.port(), dirs, own, against, cache: Mutex::default() };
        Ok(Self { listener, address, pages: Arc::new(pages) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until the process ends.
    pub fn run(self) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
            loop {
                let place = Arc::clone(&places).acquire_owned().await.expect("it is never closed");
                // A connection that fails before it is there (too many open files, say) is tried again a moment later.
                let Ok((stream, _)) = listener.accept().await else {
                    tokio::time::sleep(FRESH_FOR).await;
                    continue;
                };
                let pages = Arc::clone(&self.pages);
                tokio::spawn(async move {
                    converse(pages, stream).await;
                    drop(place);
                });
            }
        })
    }
}

/// Answers the one request of a connection.
async fn converse(pages: Arc<Pages>, stream: impl AsyncRead + AsyncWrite + Unpin) {
    let answer = service_fn(move |request| answer(Arc::clone(&pages), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(MOST_TIME_TO_ASK)
        .max_buf_size(MOST_HEADERS)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answer);
    // A reader that has gone away is no matter of the server.
    let _ = tokio::time::timeout(MOST_TIME, connection).await;
}

async fn answer(pages: Arc<Pages>, request: Request<Incoming>) -> Result<Answer, Infallible> {
    // A page of another site that calls this server by a name of its own (DNS rebinding) gives itself away here.
    if !pages.is_own_host(&request) {
        return Ok(text(StatusCode::FORBIDDEN, "this server answers to its own address only\n".into()));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut refused = text(StatusCode::METHOD_NOT_ALLOWED, "read-only: GET only\n".into());
        refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Ok(refused);
    }
    let (html, make): (bool, fn(&Pages) -> String) = match request.uri().path() {
        "/" => (true, Pages::page),
        "/version" => (false, Pages::version),
        // There is no other path, so none leads out of the folders.
        _ => return Ok(text(StatusCode::NOT_FOUND, "there is only one page here: /\n".into())),
    };
    // On a thread of its own: a large page takes a moment, and one that cannot be made takes nothing else down.
    Ok(match tokio::task::spawn_blocking(move || make(&pages)).await {
        Ok(page) => {
            let mut answer = text(StatusCode::OK, page);
            if html {
                let html = HeaderValue::from_static("text/html; charset=utf-8");
                answer.headers_mut().insert(header::CONTENT_TYPE, html);
            }
            answer
        }
        Err(_) => text(
            StatusCode::INTERNAL_SERVER_ERROR,
            "the page cannot be made from these files; `evenkeel report` on the same folders says more\n"
                .into(),
        ),
    })
}

impl Pages {
    fn is_own_host(&self, request: &Request<Incoming>) -> bool {
        let mut hosts = request.headers().get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let own = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port));
        own.iter().any(|own| host.as_bytes().eq_ignore_ascii_case(own.as_bytes()))
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

fn text(status: StatusCode, body: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
