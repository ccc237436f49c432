//! The account for people and for programs.

use super::Missing;
use crate::cli::commands::sim::count;
use crate::cli::output::Rows;
use crate::cli::output::change::millis;
use bellwether::check::account::{Account, Overlap, Reign};
use bellwether::check::live::{Judgement, Outcome};
use bellwether::core::Duration;
use bellwether::net::clock::written;
use bellwether::protocols::choice::Promise;
use serde_json::{Value, json};

/// The most gaps that people are shown.
const GAPS_SHOWN: usize = 20;

/// What is told.
pub(super) struct ReportText<'a> {
    pub(super) account: &'a Account,
    pub(super) missing: &'a [Missing],
    /// What the judge says of whole traces.
    pub(super) judgement: Option<&'a Judgement>,
}

impl ReportText<'_> {
    /// Whether a promise was certainly broken.
    pub(super) fn violated(&self) -> bool {
        self.account.violated() || self.judgement.is_some_and(Judgement::violated)
    }

    pub(super) fn for_people(&self) -> String {
        let Account { group, protocol, promise, members, .. } = self.account;
        let mut text = format!(
            "{protocol} in group {group}, {}: {} up to {}\nby: {promise}\n",
            count(members.len() as u64, "member", "members"),
            span(self.account.lasted()),
            self.moment(self.account.to),
        );
        for Missing { who, why } in self.absent() {
            text += &format!("missing: member {who}: {why}\n");
        }
        text.push('\n');
        if self.account.reigns.is_empty() {
            let unknown = self.not_known();
            let nobody =
                if self.account.gaps.is_empty() { "nothing is known" } else { "nobody led" };
            return text + nobody + &unknown;
        }
        text += &self.reigns().to_text();
        text += &format!("\n\n{}{}\n{}", self.without(), self.not_known(), self.overlaps());
        for note in &self.account.notes {
            text += &format!("\nnote: {note}");
        }
        text
    }

    fn reigns(&self) -> Rows {
        let row = |reign: &Reign| {
            let from = self.moment(reign.from);
            let how = if reign.own { "" } else { " (as others saw it)" };
            let term = reign.term.map_or_else(String::new, |term| term.to_string());
            let length = span(Duration::from_nanos(reign.to - reign.from));
            let ended = format!("{}{how}", reign.end);
            [json!(reign.leader.0), json!(from), json!(length), json!(term), json!(ended)]
        };
        Rows::of(["leader", "from", "for", "term", "ended"], self.account.reigns.iter().map(row))
    }

    fn without(&self) -> String {
        let gaps = &self.account.gaps;
        let part = self.account.availability().unwrap_or(0.0) * 100.0;
        let known = if self.account.unknown.is_empty() { "" } else { " that is known" };
        let text = format!(
            "nobody led {}, for {} in all; somebody led {part:.3} % of the time{known}",
            count(gaps.len() as u64, "time", "times"),
            span(self.account.without()),
        );
        text + &self.listed(gaps)
    }

    /// When it is not known who led; nothing if it is always known.
    fn not_known(&self) -> String {
        let unknown = &self.account.unknown;
        if unknown.is_empty() {
            return String::new();
        }
        let text = format!(
            "\nnot known who led {}, for {} in all: nobody has a record of that time",
            count(unknown.len() as u64, "time", "times"),
            span(self.account.not_known()),
        );
        text + &self.listed(unknown)
    }

    /// A line for each of these times, up to a limit.
    fn listed(&self, times: &[(u64, u64)]) -> String {
        let mut text = String::new();
        for (from, to) in times.iter().take(GAPS_SHOWN) {
            let length = span(Duration::from_nanos(to - from));
            text += &format!("\n  {} for {length}", self.moment(*from));
        }
        if times.len() > GAPS_SHOWN {
            text += &format!("\n  and {} more: see --format json", times.len() - GAPS_SHOWN);
        }
        text
    }

    fn overlaps(&self) -> String {
        let overlaps = &self.account.overlaps;
        let judged = self.judgement.and_then(|judgement| {
            let mut rulings = judgement.rulings.iter();
            rulings.find(|ruling| ruling.invariant == "never-two")
        });
        let judged = judged.map(|ruling| match &ruling.outcome {
            Outcome::Holds => "; the judge: never-two holds".to_owned(),
            Outcome::Violated { text, .. } => format!("; the judge: never-two is VIOLATED: {text}"),
            Outcome::Undecidable(why) => format!("; the judge: never-two is undecidable: {why}"),
        });
        let judged = judged.unwrap_or_default();
        if overlaps.is_empty() {
            return format!("no two led at once, as far as the records tell{judged}");
        }
        let all = overlaps.iter().map(|overlap| {
            let Overlap { leaders: [one, other], from, to, certain } = overlap;
            let length = span(Duration::from_nanos(to - from));
            let verdict = match (self.account.promise, certain) {
                (Promise::NeverTwo, true) => "VIOLATED: two led at once",
                (Promise::NeverTwo, false) => "perhaps two led at once: the clocks cannot tell",
                _ => "two led at once, which this protocol allows",
            };
            format!("{verdict}: {one} and {other} from {} for {length}", self.moment(*from))
        });
        all.collect::<Vec<_>>().join("\n") + &judged
    }

    /// The members of which there is nothing, with the reasons that are known.
    fn absent(&self) -> Vec<Missing> {
        let mut all = self.missing.to_vec();
        for id in self.account.missing() {
            if !all.iter().any(|missing| missing.who == id.to_string()) {
                let why = "it is not on this machine, or has ended; --http-from asks one elsewhere";
                all.push(Missing { who: id.to_string(), why: why.to_owned() });
            }
        }
        all
    }

    /// A moment for people: the date, or how long after the beginning.
    fn moment(&self, at: u64) -> String {
        match self.account.wall {
            Some(wall) => date(at, wall),
            None => span(Duration::from_nanos(at.saturating_sub(self.account.from))),
        }
    }

    pub(super) fn for_programs(&self) -> Value {
        let account = self.account;
        let seconds = |nanos: u64| Duration::from_nanos(nanos).as_secs_f64();
        let wall = |at: u64| account.wall.map(|wall| date(at, wall));
        let reign = |it: &Reign| {
            json!({
                "leader": it.leader, "from": it.from, "to": it.to, "bound": it.bound,
                "wall_from": wall(it.from), "wall_to": wall(it.to), "term": it.term,
                "end": it.end.name(), "why": it.end.to_string(), "own": it.own,
                "seconds": seconds(it.to - it.from),
            })
        };
        let gap = |(from, to): &(u64, u64)| {
            let (wall, seconds) = (wall(*from), seconds(to - from));
            json!({ "from": from, "to": to, "wall_from": wall, "seconds": seconds })
        };
        let overlap = |it: &Overlap| {
            json!({
                "leaders": it.leaders, "from": it.from, "to": it.to, "certain": it.certain,
                "seconds": seconds(it.to - it.from),
            })
        };
        let absent = |it: Missing| json!({ "member": it.who, "why": it.why });
        json!({
            "group": account.group,
            "protocol": account.protocol,
            "promise": account.promise.name(),
            "from": account.from,
            "to": account.to,
            "seconds": account.lasted().as_secs_f64(),
            "members": account.members.iter().map(|member| member.id).collect::<Vec<_>>(),
            "missing": self.absent().into_iter().map(absent).collect::<Vec<_>>(),
            "reigns": account.reigns.iter().map(reign).collect::<Vec<_>>(),
            "gaps": account.gaps.iter().map(gap).collect::<Vec<_>>(),
            "without_seconds": account.without().as_secs_f64(),
            "unknown": account.unknown.iter().map(gap).collect::<Vec<_>>(),
            "unknown_seconds": account.not_known().as_secs_f64(),
            "availability": account.availability(),
            "overlaps": account.overlaps.iter().map(overlap).collect::<Vec<_>>(),
            "violated": self.violated(),
            "uncertain_seconds": account.uncertain.map(Duration::as_secs_f64),
            "notes": account.notes,
        })
    }
}

/// A length for people.
fn span(length: Duration) -> String {
    millis(length.as_nanos() as f64 / 1e6)
}

fn date(at: u64, wall: i128) -> String {
    written(u64::try_from((i128::from(at) + wall).max(0)).unwrap_or(u64::MAX))
}
