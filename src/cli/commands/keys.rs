//! `bellwether keys`: which keys the members of a running group have, and how these change.

use crate::cli::Done;
use crate::cli::failure::{Failure, with_flags};
use crate::cli::flags::target::Target;
use crate::cli::output::{Rows, TableOrJson};
use bellwether::net::control::ClientError;
use bellwether::net::keys::{BadKeyStep, KeyId, KeyReport, KeyStep, MemberKeys};
use clap::{Args, Subcommand};
use std::io::{self, Write};

/// List the keys of all members of a running group, by their short names; or change them
#[derive(Args, Debug)]
#[command(disable_help_subcommand = true, after_help = EXAMPLES)]
pub(in crate::cli) struct Keys {
    #[command(flatten)]
    target: Target,
    #[command(subcommand)]
    step: Option<Step>,
}

const EXAMPLES: &str = "\
A rotation is three commands on the machine of any member:
  bellwether keys web install             all members get a new key, and accept it; prints its name
  bellwether keys web use 5d2c90ab        all send with it, if all have it
  bellwether keys web remove 1f00c7e2     all forget the old one, if nobody sends with it

Each member changes its key file first, so that a restart keeps it. A step is refused, with the \
names of the members, if one of them does not answer or cannot take it. Whoever has a key of the \
group can read the new one: to shut somebody out, change the files by hand and reload.";

#[derive(Subcommand, Debug)]
enum Step {
    /// Show which keys each member has; it sends with the first
    List,
    /// Give all members a new key, which they accept from then on
    Install {
        /// Not a new one, but this, which the asked member has: for members that were away
        key: Option<KeyId>,
    },
    /// Have all members send with this key, if all have it
    Use {
        /// Its short name
        key: KeyId,
        /// Leave out members that do not answer: they will not understand the others
        #[arg(long)]
        force: bool,
    },
    /// Have all members forget this key, if none sends with it
    Remove {
        /// Its short name
        key: KeyId,
        /// Leave out members that do not answer: if they send with it, nobody understands them
        #[arg(long)]
        force: bool,
    },
}

impl Keys {
    pub(in crate::cli) fn run(&self) -> Done {
        let (step, force) = match self.step {
            None | Some(Step::List) => (KeyStep::List, false),
            Some(Step::Install { key }) => (KeyStep::Install(key), false),
            Some(Step::Use { key, force }) => (KeyStep::Use(key), force),
            Some(Step::Remove { key, force }) => (KeyStep::Remove(key), force),
        };
        // A member that is stopped would let the caller wait for long.
        self.target.connect()?.status()?;
        let report = self.target.connect()?.keys(step, force).map_err(not_taken)?;
        let mut out = io::stdout().lock();
        match self.target.format {
            TableOrJson::Json => {
                let text = serde_json::to_string(&report).map_err(io::Error::from)?;
                writeln!(out, "{text}")?;
            }
            TableOrJson::Table => {
                if let Some(done) = done(self.step.as_ref(), &report) {
                    writeln!(out, "{done}\n")?;
                }
                writeln!(out, "{}", table(&report.members))?;
            }
        }
        let silent: Vec<String> =
            report.members.iter().filter(|it| it.keys.is_empty()).map(name).collect();
        match (step, silent.as_slice()) {
            (KeyStep::List, _) | (_, []) => Ok(()),
            (KeyStep::Install(_), silent) => Err(Failure::Io(format!(
                "{} did not answer and cannot be told: install key {} again once {}",
                silent.join(", "),
                report.key.map(|key| key.to_string()).unwrap_or_default(),
                if silent.len() == 1 { "it runs" } else { "they run" }
            ))),
            // Whoever forces a step knows that, and is told whom it leaves out.
            (_, silent) => {
                let _ = writeln!(io::stderr(), "bellwether: left out: {}", silent.join(", "));
                Ok(())
            }
        }
    }
}

/// Why a step was not taken, with the flag that would leave members out.
fn not_taken(why: ClientError) -> Failure {
    match &why {
        ClientError::Keys(bad @ BadKeyStep::Silent { .. }) => {
            Failure::Io(format!("{} (--force)", with_flags(bad)))
        }
        _ => why.into(),
    }
}

fn name(member: &MemberKeys) -> String {
    format!("member {}", member.id)
}

/// What was done, in words.
fn done(step: Option<&Step>, report: &KeyReport) -> Option<String> {
    let key = report.key?;
    Some(match step? {
        Step::List => return None,
        Step::Install { .. } => {
            format!("key {key} is installed: members accept it, and do not use it yet")
        }
        Step::Use { .. } => format!("members send with key {key}"),
        Step::Remove { .. } => format!("key {key} is removed"),
    })
}

fn table(members: &[MemberKeys]) -> String {
    let row = |member: &MemberKeys| {
        let names = |keys: &[KeyId]| {
            let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
            if names.is_empty() { "-".to_owned() } else { names.join(", ") }
        };
        let (sends, accepts) = member.keys.split_at(member.keys.len().min(1));
        let why = member.why.clone().unwrap_or_default();
        [member.id.to_string(), names(sends), names(accepts), why]
    };
    Rows::of(["member", "sends with", "also accepts", "note"], members.iter().map(row)).to_text()
}
