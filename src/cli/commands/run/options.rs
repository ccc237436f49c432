//! The settings of a member as flags. A file and the environment use the same names.

use super::checks::Check;
use super::log::Logging;
use crate::cli::commands::protocols::Named;
use crate::cli::flags::{Live, Parameters};
use crate::cli::output::TextOrJson;
use bellwether::core::Duration;
use bellwether::net::address::Address;
use bellwether::net::{FoundingVoters, Peers};
use bellwether::protocols::choice::Entry;
use bellwether_http::Place;
use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
use signal_hook::low_level::signal_name;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The protocol of a member, unless another is chosen.
pub(in crate::cli) const DEFAULT: &str = "local-leader";

/// The priority of a member, as in 4=10.
fn priority(text: &str) -> Result<(u64, u32), String> {
    let pair = text.split_once('=').map(|(id, number)| (id.trim().parse(), number.trim().parse()));
    match pair {
        Some((Ok(id), Ok(priority))) => Ok((id, priority)),
        _ => Err("write the id of a member and its priority, as in 4=10".to_owned()),
    }
}

/// The most characters of a member's name.
const NAME_MAX: usize = 64;

/// The name of a member.
fn name(text: &str) -> Result<String, String> {
    let length = text.chars().count();
    if (1..=NAME_MAX).contains(&length) && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!("a name has 1 to {NAME_MAX} characters that can be printed"))
    }
}

/// Signals that no program can handle, or that only stop a process or let it go on.
const NO_STOP_SIGNALS: [i32; 7] = [SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD];

/// The number of a signal that can ask a command to end.
fn stop_signal(text: &str) -> Result<i32, String> {
    let upper = text.to_ascii_uppercase();
    let is_called = |number: &i32| {
        let name = signal_name(*number).unwrap_or_default();
        !name.is_empty() && (upper == name || Some(upper.as_str()) == name.strip_prefix("SIG"))
            || upper == number.to_string()
    };
    let named = (1..=31).find(is_called).filter(|number| signal_name(*number).is_some());
    match named {
        Some(number) if NO_STOP_SIGNALS.contains(&number) => Err(format!(
            "{} does not ask a program to end; SIGTERM, SIGINT, SIGQUIT and SIGHUP do",
            signal_name(number).unwrap_or(text)
        )),
        Some(number) => Ok(number),
        None => Err("write the name of a signal, as in SIGINT or INT, or its number".to_owned()),
    }
}

#[derive(Args, Clone, Debug)]
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
    /// Join a running group through this member instead, and learn the list from it. Needs --id;
    /// for leases from a majority with durable tokens. May be given several times
    #[arg(long = "join", value_name = "HOST:PORT")]
    #[arg(conflicts_with_all = ["peers", "voters", "priorities", "bootstrap"])]
    pub(super) through: Vec<String>,
    /// The members that vote at first: by id, as in 1,2,3 (one alone: 1,); or how many of the best
    /// by --priorities and then by id, as in 5. The others follow. The same for all members; for
    /// leases from a majority [default: all]
    #[arg(long, value_name = "IDS|COUNT")]
    pub(super) voters: Option<FoundingVoters>,
    /// The priorities of members by id, as in 4=10,7=5. The same for all members; for leases from a
    /// majority [default: 0 each]
    #[arg(long, value_name = "ID=N", value_delimiter = ',', value_parser = priority)]
    pub(super) priorities: Vec<(u64, u32)>,
    /// Which of them this is [default: the one whose address this machine has]
    #[arg(long, value_name = "N")]
    pub(super) id: Option<u64>,
    /// A name for this member, for people: status, hooks and HTTP show it beside the id
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(super) name: Option<String>,
    /// Where to listen [default: the member's address in the list]
    #[arg(long = "listen", value_name = "ADDRESS")]
    pub(super) address: Option<SocketAddr>,
    /// Send what is for all members once to this multicast address, and not to each member that
    /// hears it; to any other as without it. For listed members in one network, as in
    /// 239.1.2.3:7401 or [ff02::b311]:7401; each group needs an address or a port of its own
    #[arg(long = "multicast", value_name = "ADDRESS")]
    pub(super) broadcasts: Option<SocketAddr>,
    /// An address that the leader has, and nobody else, as in 10.0.0.100/24@eth0: set and announced
    /// when leadership begins, removed before it ends. Takes CAP_NET_ADMIN and CAP_NET_RAW. May be
    /// given several times
    #[arg(long = "address", value_name = "IP/LEN@INTERFACE", value_delimiter = ',')]
    pub(super) addresses: Vec<Address>,
    /// A health check, as in exec=/usr/bin/check,interval=2s,fall=3: the leader hands over while it
    /// fails, and the member does not lead; with a weight its priority changes instead. It looks at
    /// exec, process, file, interface or http. For leases from a majority; may be given several
    /// times. [[check]] in a file
    #[arg(long = "check", value_name = "KIND=WHAT,...")]
    pub(super) checks: Vec<Check>,
    /// The group's keys, as `bellwether keygen` makes them
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
    /// Of several members that could lead, one with a greater priority comes first; for leases from
    /// a majority [default: what --priorities says, or 0]
    #[arg(long, value_name = "N")]
    pub(super) priority: Option<u32>,
    /// Vote and never lead; for leases from a majority
    #[arg(long, conflicts_with = "priority")]
    pub(super) witness: bool,
    /// The directory for the control socket and the member's state [default: $BELLWETHER_DIR,
    /// $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/bellwether, /run/bellwether or /tmp/bellwether-UID]
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
    /// With durable tokens: assert that this member has never voted in this group, not even before
    /// its state was lost. For the first start of a group of one, or of a member that replaces
    /// another; refused if there is a record of votes
    #[arg(long)]
    pub(super) bootstrap: bool,
    /// Append everything that happens to this file, one JSON record a line. With CMD, its guardian
    /// records when CMD runs in a second file, a.work.jsonl beside a.jsonl
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Whether a guardian releases the members that support this one if it is killed while it
    /// leads: they need not wait for the end of its lease. For leases from a majority
    #[arg(
        long,
        value_enum,
        value_name = "yes|no",
        default_value = "yes",
        hide_possible_values = true
    )]
    pub(super) guardian: Choice,
    /// How to write changes to the standard output [default: text; with CMD they go to the standard
    /// error as text]
    #[arg(long, value_enum)]
    pub(super) format: Option<TextOrJson>,
    /// Exit with 124 if it does not lead within this time
    #[arg(long, value_name = "T")]
    pub(super) elected_within: Option<Duration>,
    /// Exit with 75 when it leads no longer, instead of waiting to lead again
    #[arg(long)]
    pub(super) once: bool,
    #[command(flatten)]
    pub(super) serving: Serving,
    #[command(flatten)]
    pub(super) logging: Logging,
    #[command(flatten)]
    pub(super) hooking: Hooking,
    #[command(flatten)]
    pub(super) commanding: Commanding,
    /// How long a vote binds its voter (lockTime): all other times of the leases follow from it,
    /// and `check-config` shows them. Instead of --preset, --lock and the others
    #[arg(long, value_name = "T", help_heading = "Leases")]
    pub(super) lease: Option<Duration>,
    #[command(flatten)]
    pub(super) params: Parameters<Live>,
    /// The command that runs only while this member leads
    #[arg(last = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "HTTP")]
pub(super) struct Serving {
    /// Answer HTTP at this address, as in 127.0.0.1:7480, or at a Unix socket, as in
    /// unix:/run/web.http: health checks, metrics, events; /v1/resign and /v1/transfer
    #[arg(long, value_name = "ADDRESS|unix:PATH")]
    pub(super) http: Option<Place>,
    /// The file with the token that requests which change something must show, as in
    /// `Authorization: Bearer TOKEN`. Nobody else may be able to read it. Without it such requests
    /// are answered at a Unix socket alone
    #[arg(long, value_name = "FILE")]
    pub(super) http_token: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Hooks")]
pub(super) struct Hooking {
    /// A program to call at each change, with: INSTANCE GROUP MASTER|BACKUP|FAULT|STOP RANK. Hooks
    /// of two members may overlap if a lease is lost: a former leader's may still run when the next
    /// leader's does
    #[arg(long, value_name = "HOOK")]
    pub(super) on_change: Vec<PathBuf>,
    /// How long a hook may take before it is killed
    #[arg(long, value_name = "T", default_value = "10s")]
    pub(super) hook_timeout: Duration,
    /// How often a hook that fails is called again while the state lasts, after 0.5 s, 1 s, 2 s and
    /// so on, up to 10 s
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(super) hook_retry: u32,
    /// A named pipe that is told each state in a line, as keepalived does: GROUP "NAME"
    /// MASTER|BACKUP|FAULT|STOP RANK. It is made if it is not there
    #[arg(long, value_name = "PATH")]
    pub(super) notify_fifo: Option<PathBuf>,
    /// A file that is there only while this member leads, with its token and when it goes unless
    /// the lease is renewed. In a folder in memory, as /run
    #[arg(long, value_name = "PATH")]
    pub(super) leader_file: Option<PathBuf>,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Command")]
pub(super) struct Commanding {
    /// The command as a line for /bin/sh, instead of -- CMD
    #[arg(long, value_name = "LINE")]
    pub(super) shell: Option<String>,
    /// Whether CMD has this member's standard input; otherwise it reads nothing
    #[arg(
        long,
        value_enum,
        value_name = "yes|no",
        default_value = "yes",
        hide_possible_values = true
    )]
    pub(super) pass_stdin: Choice,
    /// Start CMD again when it exits, instead of leaving the group with its exit code
    #[arg(long)]
    pub(super) restart: bool,
    /// How long CMD has to end when leadership is handed over as planned: at SIGTERM to this
    /// member, resign, transfer and preempt. Until then this member goes on leading; at the end of
    /// this time CMD gets SIGKILL. A second SIGTERM or SIGINT ends CMD at once [default: 10s]
    #[arg(long, value_name = "T")]
    pub(super) stop_timeout: Option<Duration>,
    /// The signal that asks CMD to end, by its name or number
    #[arg(long, value_name = "SIGNAL", default_value = "SIGTERM", value_parser = stop_signal)]
    pub(super) stop_signal: i32,
    /// How long CMD has between that signal and SIGKILL when the lease is lost [default: a tenth of
    /// the lease, or half of the time left of a lease when it is renewed, if that is less]
    #[arg(long, value_name = "T")]
    pub(super) grace: Option<Duration>,
    /// The time between SIGKILL and the end of the lease [default: as --grace]
    #[arg(long, value_name = "T")]
    pub(super) margin: Option<Duration>,
}

/// Whether something is wanted.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// It is
    #[value(aliases = ["true", "on"])]
    Yes,
    /// It is not
    #[value(aliases = ["false", "off"])]
    No,
}

#[cfg(test)]
mod tests {
    use super::stop_signal;

    #[test]
    fn a_stop_signal_has_a_name_or_a_number_and_can_be_handled() {
        for (text, number) in
            [("SIGTERM", 15), ("TERM", 15), ("sigint", 2), ("quit", 3), ("10", 10), ("SIGHUP", 1)]
        {
            assert_eq!(stop_signal(text), Ok(number), "{text}");
        }
        for text in ["", "0", "32", "-1", "SIG", "SIGNAL", "TERMINATE", "1.5"] {
            assert!(stop_signal(text).unwrap_err().contains("the name of a signal"), "{text}");
        }
        for text in ["SIGKILL", "9", "STOP", "SIGCONT"] {
            assert!(stop_signal(text).unwrap_err().contains("SIGTERM, SIGINT"), "{text}");
        }
    }
}
