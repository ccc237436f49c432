//! `bellwether lab`: the laboratory, in a browser.
//!
//! | file | what it holds |
//! |---|---|
//! | `forms` | what a page makes its forms of |
//! | `answers` | what the server asks this program |
//! | `real_group` | the five processes that a page can act on |
//! | `browser` | how the page is opened |

mod answers;
mod browser;
mod forms;
mod real_group;

use crate::cli::Done;
use crate::cli::commands::report::http::Url;
use crate::cli::failure::Failure;
use crate::cli::runtime_dir;
use answers::Answers;
use bellwether::lab::{Asked, Lab, Settings};
use bellwether_http::Token;
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The usual port. An address that somebody shared opens again while it stays the same.
const PORT: u16 = 7490;
/// How often signals are looked for.
const GLANCE: Duration = Duration::from_millis(50);

/// See elections in a browser: play a run and break it, measure, judge, watch a live group
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Laboratory {
    /// The address to answer at. One that other machines reach needs --token-file
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// The port; 0 for any that is free [default: 7490, or any that is free if another process has
    /// it]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The file with the token that browsers must show [default: drawn at random, and part of the
    /// address that is printed]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A name, beside addresses and localhost, that browsers reach it by; may be given several
    /// times
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Show the live member that answers HTTP at this address; may be given several times
    #[arg(long, value_name = "URL")]
    member: Vec<Url>,
    /// The directory of the live members of this machine
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The longest that one request of a page may take
    #[arg(long, value_name = "TIME", default_value = "10min")]
    time_limit: bellwether::core::Duration,
    /// Begin with five real processes that can be killed, paused and asked to resign
    #[arg(long)]
    demo: bool,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
}

/// The words of a page's flags for this command, for fuzzers.
///
/// # Errors
/// Which flag is not for a page, in one line.
pub(in crate::cli) fn spell_flags(command: &str, asked: Asked<'_>) -> Result<String, String> {
    answers::spell(command, asked)
}

const EXAMPLES: &str = "\
Examples:
  bellwether lab
  bellwether lab --demo                               five real processes, and a button to kill each
  bellwether lab --no-open --port 7490                then open the address that it prints
  bellwether lab --member http://10.0.0.2:7480        and the live members of this machine
  bellwether lab --listen 10.0.0.1 --token-file lab.token

It answers this machine alone unless --listen says otherwise, and only who has the token: the
address that it prints has it. Ctrl-C ends it, and everything that it started.";

impl Laboratory {
    pub(in crate::cli) fn run(&self) -> Done {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted))
                .map_err(|error| Failure::Io(format!("cannot catch signals: {error}")))?;
        }
        let answers = Answers::new(runtime_dir::all_of_process(self.dir.as_deref()));
        let lab = self.start(&Arc::new(answers))?;
        let url = lab.url();
        let hint = match self.token_file {
            Some(_) => "add #token=TOKEN to that address, with the token of the file\n",
            None => "",
        };
        let mut out = io::stdout();
        let said = format!("the laboratory answers at {url}\n{hint}Ctrl-C ends it\n");
        // In one piece: who reads the address alone still has a laboratory.
        out.write_all(said.as_bytes()).and_then(|()| out.flush())?;
        let _opened = (!self.no_open).then(|| browser::open(&url));
        while !interrupted.load(Ordering::Relaxed) {
            std::thread::sleep(GLANCE);
        }
        drop(lab);
        Ok(())
    }

    /// Starts to answer at the port that was chosen, or else at the usual one or any that is free.
    fn start(&self, answers: &Arc<Answers>) -> Result<Lab, Failure> {
        let usual = self.settings(self.port.unwrap_or(PORT))?;
        match Lab::start(usual, answers.clone()) {
            Err(bad) if bad.is_taken() && self.port.is_none() => {
                Lab::start(self.settings(0)?, answers.clone())
            }
            started => started,
        }
        .map_err(|bad| Failure::Io(bad.to_string()))
    }

    fn settings(&self, port: u16) -> Result<Settings, Failure> {
        if !self.listen.is_loopback() && self.token_file.is_none() {
            return Err(Failure::usage(format!(
                "--listen {}: other machines reach that address, so it needs --token-file; write a \
                 token (openssl rand -hex 32 > lab.token; chmod 600 lab.token), or leave --listen \
                 out",
                self.listen
            )));
        }
        let token = match &self.token_file {
            None => None,
            Some(path) => Some(Token::read(path).map_err(|bad| Failure::Config(bad.to_string()))?),
        };
        Ok(Settings {
            listen: SocketAddr::new(self.listen, port),
            token,
            hosts: self.host.clone(),
            members: self.member.iter().map(ToString::to_string).collect(),
            demo: self.demo,
            time_limit: self.time_limit,
        })
    }
}
