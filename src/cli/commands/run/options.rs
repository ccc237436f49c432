//! The settings of a member as flags. A file and the environment use the same names.

use crate::cli::commands::protocols::Named;
use crate::cli::flags::{Live, Parameters};
use bellwether::core::Duration;
use bellwether::net::Peers;
use bellwether::protocols::choice::Entry;
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The protocol of a member, unless another is chosen.
pub(in crate::cli) const DEFAULT: &str = "local-leader";

#[derive(Args, Debug)]
pub(in crate::cli) struct Options {
    /// The group
    pub(super) group: Option<String>,
    /// A file with settings: these flags without their dashes, and a table [params] for the
    /// protocol's. The environment (BELLWETHER_PEERS=...) overrides the file, flags override both
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The members: 1=HOST:PORT,2=HOST:PORT,... | dns:NAME:PORT | multicast:ADDRESS:PORT[@IFACE]
    #[arg(long, value_name = "LIST")]
    pub(super) peers: Option<Peers>,
    /// Which of them this is [default: the one whose address this machine has]
    #[arg(long, value_name = "N")]
    pub(super) id: Option<u64>,
    /// Where to listen [default: the member's address in the list]
    #[arg(long = "listen", value_name = "ADDRESS")]
    pub(super) address: Option<SocketAddr>,
    /// The group's keys, as `bellwether keygen` makes them; read again at SIGHUP
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub(super) key: Option<PathBuf>,
    /// No key: whoever reaches the port can lead the group
    #[arg(long)]
    pub(super) insecure: bool,
    /// The protocol; `bellwether protocols` lists them
    #[arg(long, value_name = "NAME", default_value = DEFAULT)]
    #[arg(value_parser = Named, hide_possible_values = true)]
    pub(super) protocol: &'static Entry,
    /// How fit this member is to lead, where the protocol asks, and for hooks [default: its id]
    #[arg(long, value_name = "N")]
    pub(super) rank: Option<u64>,
    /// The directory for the control socket and the member's state [default: $BELLWETHER_DIR,
    /// $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/bellwether, /run/bellwether or /tmp/bellwether-UID]
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// With durable tokens: my word that this member has never voted in this group, also not before
    /// its state was lost. For the first start of a group of one, or of a member that replaces
    /// another; refused if there is a record of votes
    #[arg(long)]
    pub(super) bootstrap: bool,
    /// Append everything that happens to this file, one JSON record a line; with CMD, its guardian
    /// writes when CMD runs into another one beside it: a.work.jsonl for a.jsonl
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// How to write changes to the standard output [default: text; with CMD they go to the standard
    /// error as text]
    #[arg(long, value_enum)]
    pub(super) format: Option<Format>,
    /// Exit with 124 if it does not lead within this time
    #[arg(long, value_name = "T")]
    pub(super) elected_within: Option<Duration>,
    /// Exit with 75 when it leads no longer, instead of waiting to lead again
    #[arg(long)]
    pub(super) once: bool,
    #[command(flatten)]
    pub(super) hooking: Hooking,
    #[command(flatten)]
    pub(super) commanding: Commanding,
    #[command(flatten)]
    pub(super) params: Parameters<Live>,
    /// The command that runs only while this member leads
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Hooks")]
pub(super) struct Hooking {
    /// A program to call at each change, with: INSTANCE GROUP MASTER|BACKUP|FAULT|STOP RANK.
    /// It runs beside the election, and possibly after another member leads
    #[arg(long, value_name = "HOOK")]
    pub(super) on_change: Vec<PathBuf>,
    /// How long a hook may take before it is killed
    #[arg(long, value_name = "T", default_value = "10s")]
    pub(super) hook_timeout: Duration,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Command")]
pub(super) struct Commanding {
    /// Start CMD again when it exits, instead of leaving the group with its exit code
    #[arg(long)]
    pub(super) restart: bool,
    /// How long CMD has between SIGTERM and SIGKILL [default: a tenth of the lease, or half of
    /// what the renewal leaves of it, if that is less]
    #[arg(long, value_name = "T")]
    pub(super) grace: Option<Duration>,
    /// How long before the end of the lease nothing of CMD may be left [default: as --grace]
    #[arg(long, value_name = "T")]
    pub(super) margin: Option<Duration>,
}

/// How changes are written.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::cli) enum Format {
    /// Sentences
    #[default]
    Text,
    /// One object a line
    Json,
}
