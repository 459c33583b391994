//! Downloads.

use std::io::Read;

use super::sources::Sources;
use crate::error::one_line;

/// Opens `url`: the announced length, and the body.
pub(super) fn open(url: &str, sources: &Sources) -> Result<(Option<u64>, impl Read + use<>), String> {
    // A server on this very machine is not behind the proxy that the environment may name.
    let proxy = if url.starts_with("http://127.0.0.1:") { None } else { ureq::Proxy::try_from_env() };
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .proxy(proxy)
        .timeout_resolve(Some(sources.connect_timeout))
        .timeout_connect(Some(sources.connect_timeout))
        .timeout_recv_response(Some(sources.stall_timeout))
        .timeout_per_read(Some(sources.stall_timeout))
        // Files are compressed already, and a decoded body would not have the announced length.
        .accept_encoding("identity")
        .build()
        .into();
    let body = agent.get(url).call().map_err(|e| one_line(&e))?.into_body();
    Ok((body.content_length(), body.into_reader()))
}
