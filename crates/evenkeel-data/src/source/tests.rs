//! Fetching from servers on this machine: nothing here reaches the network.

mod archives;
mod mirrors;
mod toy;
