//! `bellwether status`: the state of a running member.

use crate::cli::Done;
use crate::cli::commands::members;
use crate::cli::commands::sim::count;
use crate::cli::flags::target::Target;
use crate::cli::output::Rows;
use crate::cli::output::TableOrJson;
use crate::cli::output::change::{millis, names};
use bellwether::net::frame::DropReason;
use bellwether::net::status::{CheckStatus, Hearing, Role, Status};
use clap::Args;
use std::io::{self, Write};

/// Show the state of a running member: role, leader, leases, members, refused datagrams
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Show {
    #[command(flatten)]
    target: Target,
}

const EXAMPLES: &str = "\
Examples:
  bellwether status                       the one member that runs here
  bellwether status web --id 2            of several, this one
  bellwether status web --format json     for scripts: role, leaders, members, traffic, warnings";

impl Show {
    pub(in crate::cli) fn run(&self) -> Done {
        let status = self.target.connect()?.status()?;
        let text = match self.target.format {
            TableOrJson::Table => for_people(&status),
            TableOrJson::Json => serde_json::to_string(&status).map_err(io::Error::from)?,
        };
        writeln!(io::stdout(), "{text}")?;
        Ok(())
    }
}

fn for_people(status: &Status) -> String {
    let mut text = format!("{}\n", headline(status));
    for warning in &status.warnings {
        text += &format!("warning: {warning}\n");
    }
    text.push('\n');
    for (name, fact) in facts(status) {
        text += &format!(" {name:<15} {fact}\n");
    }
    text += &format!("\n{}\n", members::list(status));
    if !status.traffic.refused.is_empty() {
        text += &format!("\n{}\n", refused(status));
    }
    text.trim_end().to_owned()
}

/// The member and its role, as a sentence.
pub(in crate::cli) fn headline(status: &Status) -> String {
    let Status { group, role, leaders, .. } = status;
    let named = |name: &String| format!("{} ({name})", status.id);
    let id = status.name.as_ref().map_or_else(|| status.id.to_string(), named);
    match role {
        Role::Leader => format!("member {id} leads {group}"),
        Role::Follower => format!("member {id} of {group} follows {}", names(leaders)),
        Role::Looking => format!("member {id} of {group} looks for a leader"),
        Role::Withdrawn => format!("member {id} of {group} takes no part"),
    }
}

/// What the program around the election adds: the hand-over, checks, priority and addresses.
fn circumstances(status: &Status) -> Vec<(&'static str, String)> {
    let handing_over = status.handing_over.as_ref().map(|it| ("hand-over", it.to_string()));
    let mut facts: Vec<_> = handing_over.into_iter().collect();
    let counts = |check: &CheckStatus| {
        let runs = check.succeeded + check.failed + check.too_long;
        let bad = [(check.failed, "failed"), (check.too_long, "took too long")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!(", {count} {what}"));
        format!("{check}; {}{}", count(runs, "run", "runs"), bad.collect::<String>())
    };
    facts.extend(status.checks.iter().map(|check| ("check", counts(check))));
    let weighed = status.checks.iter().any(|check| check.weight != 0);
    let priority = status.priority.filter(|priority| *priority > 0 || weighed);
    facts.extend(priority.map(|priority| ("priority", priority.to_string())));
    facts.extend(status.addresses.iter().map(|address| {
        let lasts = format!(", for {}", millis(address.since_ms));
        ("address", address.to_string() + if address.why.is_none() { &lasts } else { "" })
    }));
    facts
}

fn facts(status: &Status) -> Vec<(&'static str, String)> {
    let leader = if status.leaders.is_empty() { "none".into() } else { names(&status.leaders) };
    let changes = count(status.changes, "change", "changes");
    let mut facts = vec![
        ("role", format!("{} for {}, {changes}", status.role.name(), millis(status.since_ms))),
        ("leader", leader),
    ];
    facts.extend(circumstances(status));
    if status.no_record {
        let why = "none: it has no record of its votes; `bellwether why` says what it waits for";
        facts.push(("token", why.to_owned()));
    } else if let Some(term) = status.term {
        let kept = if status.term_kept { "" } else { ", not across restarts" };
        facts.push(("token", format!("{term}{kept}")));
    }
    facts.extend(members::voters(status).map(|voters| ("voters", voters)));
    facts.extend(members::partition(status).map(|partition| ("partition", partition)));
    if let Some(left) = status.remaining_ms {
        facts.push(("remaining", millis(left)));
    }
    // For all but observers it is what remains.
    if let Some(end) = status.lease_ends_ms.filter(|end| Some(end + 1.0) < status.remaining_ms) {
        let words = match end > 0.0 {
            true => format!("over in {} at the latest, unless it is renewed", millis(end)),
            false => "over, unless it was renewed since this member heard of it".to_owned(),
        };
        facts.push(("lease", words));
    }
    for (name, length) in [
        ("lease_duration", status.lease_duration_ms),
        ("renew_deadline", status.renew_deadline_ms),
        ("retry_period", status.retry_period_ms),
    ] {
        facts.extend(length.map(|length| (name, millis(length))));
    }
    if let Some(drift_ppm) = status.voters.as_ref().and_then(|list| list.drift_ppm) {
        facts.push(("drift", format!("up to {drift_ppm} ppm")));
    }
    let allowed = status.scheduling_allowed_ms.map(|most| format!(", {} allowed", millis(most)));
    let delay = format!("up to {:.1} ms", status.scheduling_delay_ms);
    facts.push(("woken late", delay + &allowed.unwrap_or_default()));
    let keys = match status.keys.as_slice() {
        [] => String::new(),
        [first, rest @ ..] => {
            let also = rest.iter().map(|key| format!(", accepts {key}")).collect::<String>();
            format!(": sends with {first}{also}")
        }
    };
    let Status { traffic, protocol, promise, .. } = status;
    let datagrams = |number| count(number, "datagram", "datagrams");
    let sum = |number, bytes| format!("{}, {bytes} bytes", datagrams(number));
    facts.extend([
        ("protocol", format!("{protocol}, which promises: {promise}")),
        ("security", format!("{}{keys}", status.security)),
        ("listens", status.listen.clone()),
        ("peers", status.peers.clone()),
        ("sent", sum(traffic.sent, traffic.sent_bytes)),
        ("received", sum(traffic.received, traffic.received_bytes)),
        ("process", format!("{}, version {}", status.pid, status.version)),
    ]);
    let used = datagrams(traffic.multicast);
    let hearing = status.multicast.as_ref().map(|it| format!("{}; {used}", heard(it)));
    facts.extend(hearing.map(|hearing| ("multicast", hearing)));
    if traffic.send_failures > 0 {
        facts.push(("not sent", datagrams(traffic.send_failures)));
    }
    facts
}

/// Whom multicasts reach, and whose arrive.
fn heard(Hearing { group, heard_by, hears }: &Hearing) -> String {
    let ids = |ids: &[u64]| match ids {
        [] => "nobody".to_owned(),
        ids => ids.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    };
    format!("{group}: heard by {}, hears {}", ids(heard_by), ids(hears))
}

/// Why datagrams were refused, with the latest of each reason.
fn refused(status: &Status) -> String {
    let last = |reason: &str| {
        let found = status.refusals.iter().find(|refusal| refusal.reason == reason);
        found.map_or_else(
            || ["-", "-"].map(str::to_owned),
            |last| [millis(last.ago_ms) + " ago", last.from.clone()],
        )
    };
    let rows = status.traffic.refused.iter().map(|(reason, count)| {
        let [ago, from] = last(reason);
        let text = DropReason::named(reason).map_or_else(
            || "a reason of another release; run the same one everywhere".to_owned(),
            |reason| reason.to_string(),
        );
        [reason.clone(), count.to_string(), ago, from, text]
    });
    Rows::of(["refused", "datagrams", "last", "from", "which means"], rows).to_text()
}
