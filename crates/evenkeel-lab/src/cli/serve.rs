//! `evenkeel serve`: the report in a browser, while runs go on.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;

use super::groups::Groups;
use super::output::print;
use super::report::must_be_folders;
use crate::say::say;
use crate::serve::Server;

/// Show the report of some folders in a browser; new points appear while runs go on.
///
/// Only programs on this computer can connect, and only to read: the page and nothing else of the file system is served.
/// Ctrl-C ends it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    evenkeel serve runs/split-mnist\n  \
    evenkeel serve runs --port 0        on any free port; stdout has the address")]
pub(super) struct Args {
    /// Folders that `evenkeel run` or `evenkeel reproduce` writes.
    #[arg(required_unless_present = "groups", value_name = "DIR")]
    dirs: Vec<PathBuf>,
    #[command(flatten)]
    groups: Groups,
    /// The optimizer that the others are compared with [default: the first of `evenkeel list` that ran].
    #[arg(long, value_name = "NAME")]
    against: Option<String>,
    /// Port on 127.0.0.1; 0 for any that is free.
    #[arg(long, value_name = "N", default_value_t = 8750)]
    port: u16,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    must_be_folders(&args.dirs)?;
    let sources = args.groups.sources();
    // Files may still come: the page shows them then.
    for error in sources.iter().filter_map(|source| source.read().err()) {
        say!("note: {error}");
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let server = Server::bind(address, args.dirs.clone(), sources, args.against.clone())
        .map_err(|error| anyhow::anyhow!("cannot listen on {address}: {error}; try another --port"))?;
    print(&format!("http://{}/\n", server.address()))?;
    say!("open this address in a browser; Ctrl-C ends it");
    server.run()?;
    Ok(ExitCode::SUCCESS)
}
