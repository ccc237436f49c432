//! Which members belong to one group, and who led it before anybody watched: by what members
//! remember.
//!
//! **Assumptions.** Two groups may have one name: in two directories, or here and elsewhere. Their
//! members know each other's addresses, so a group is its name and the addresses of its members.
//!
//! **Promise.** A group is asked for its past when it is first seen and when its leadership has
//! changed, not more often than every [`REST`]. Members that do not answer are left out. Nobody is
//! asked after whoever watches has gone. A group has its number for as long as it has members here,
//! and no other group ever has it. If there are too many, those that were seen first and have no
//! member are forgotten.

use crate::live::Source;
use crate::program::Program;
use bellwether_check::account::{Account, Piece, Reign};
use bellwether_check::live::{Line, Trace};
use bellwether_core::{Duration, Instant};
use bellwether_net::clock::{BootTime, Clock};
use bellwether_net::control::find;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// How long a group rests between two questions for its past.
const REST: Duration = Duration::from_secs(2);
/// How often it is asked after a change: what follows from the change is recorded a moment later.
const ASKS: u32 = 2;
/// The most groups that are remembered, but for those that have members here.
const GROUPS_MAX: usize = 64;
/// The most records of one member: more than its memory holds.
const RECORDS_MAX: usize = 100_000;
/// The most reigns that a page is told, the latest.
const REIGNS_MAX: usize = 100;

/// A group, and what is known of its past.
#[derive(Debug, Default)]
struct Group {
    name: String,
    /// Its members with their addresses, as far as any of them has told.
    places: BTreeSet<String>,
    /// What its members last said of who leads.
    said: String,
    asks: u32,
    /// Not before this.
    next: Option<Instant>,
    /// The answer of the question that is under way.
    answer: Option<Arc<Mutex<Option<Value>>>>,
}

/// The groups that one client has seen.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By number, in the order in which they were seen.
    all: BTreeMap<usize, Group>,
    /// The number of the next one.
    next: usize,
    /// Whether the client has gone.
    over: Arc<AtomicBool>,
}

impl Drop for Groups {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

/// The members that a status names, with their addresses.
fn places(status: &Value) -> BTreeSet<String> {
    let members = status["members"].as_array().into_iter().flatten();
    let placed = members.filter_map(|it| Some(format!("{}@{}", it["id"], it["address"].as_str()?)));
    placed.collect()
}

impl Groups {
    /// The number of the group of a member with this status.
    pub(crate) fn of(&mut self, status: &Value) -> usize {
        let (name, places) = (status["group"].as_str().unwrap_or_default(), places(status));
        let same = |group: &Group| {
            let unknown = places.is_empty() || group.places.is_empty();
            group.name == name && (unknown || !group.places.is_disjoint(&places))
        };
        let known = self.all.iter().find(|(_, group)| same(group)).map(|(number, _)| *number);
        let number = known.unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        let new = || Group { name: name.to_owned(), ..Group::default() };
        self.all.entry(number).or_insert_with(new).places.extend(places);
        number
    }

    /// Forgets the first of those that have no member, if there are too many; these have.
    pub(crate) fn forget(&mut self, here: &BTreeSet<usize>) {
        let mut many = self.all.len().saturating_sub(GROUPS_MAX);
        self.all.retain(|number, _| {
            let kept = many == 0 || here.contains(number);
            many -= usize::from(!kept);
            kept
        });
    }

    /// Asks groups whose leadership has changed, and returns what others have answered since, one
    /// line for each. Members come with the number of their group and their status.
    pub(crate) fn ask<'a>(
        &mut self,
        members: impl Iterator<Item = (&'a Source, usize, &'a Value)>,
        program: &Arc<dyn Program>,
    ) -> Vec<Value> {
        let mut now: BTreeMap<usize, (String, BTreeMap<u64, Source>)> = BTreeMap::new();
        for (source, number, status) in members {
            let (said, sources) = now.entry(number).or_default();
            let id = status["id"].as_u64().unwrap_or_default();
            *said += &format!("{id}:{}:{} ", status["leaders"], status["changes"]);
            // A member that is asked in two ways tells its past once.
            sources.entry(id).or_insert_with(|| source.clone());
        }
        let (time, mut told) = (BootTime.now(), Vec::new());
        for (number, (said, sources)) in now {
            let Some(group) = self.all.get_mut(&number) else { continue };
            if group.said != said {
                (group.said, group.asks) = (said, ASKS);
            }
            if let Some(answer) = &group.answer {
                let mut answered = answer.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(mut line) = answered.take() else { continue };
                drop(answered);
                group.answer = None;
                if line.is_object() {
                    line["group"] = json!(number);
                    told.push(line);
                }
            }
            if group.asks > 0 && group.next.is_none_or(|next| time >= next) {
                (group.asks, group.next) = (group.asks - 1, Some(time + REST));
                group.answer = begin(sources.into_values().collect(), program, &self.over);
            }
        }
        told
    }
}

/// Asks these members on a thread of its own.
fn begin(
    sources: Vec<Source>,
    program: &Arc<dyn Program>,
    over: &Arc<AtomicBool>,
) -> Option<Arc<Mutex<Option<Value>>>> {
    let (program, over) = (Arc::clone(program), Arc::clone(over));
    let answer = Arc::new(Mutex::new(None));
    let told = Arc::clone(&answer);
    let work = move || {
        let there = sources.iter().take_while(|_| !over.load(Ordering::Relaxed));
        let pieces: Vec<Piece> =
            there.filter_map(|source| piece(source, program.as_ref())).collect();
        // Members that do not belong together have no past in common.
        let account = Account::of(&pieces, None).ok();
        let line = account.map_or(Value::Null, |account| line(&account));
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    };
    thread::Builder::new().name("lab-past".to_owned()).spawn(work).ok()?;
    Some(answer)
}

/// What one member remembers; nothing if it does not answer.
fn piece(source: &Source, program: &dyn Program) -> Option<Piece> {
    let (dir, group, id) = match source {
        Source::There(url) => return program.remote_past(url).ok(),
        Source::Here(dir, group, id) => (dir, group, *id),
    };
    let mut lines = Vec::new();
    let mut client = find(dir, Some(group), Some(id)).ok()?;
    let mut keep = |record| {
        if lines.len() < RECORDS_MAX {
            lines.push(Line { number: lines.len() + 1, record });
        }
    };
    client.past(None, &mut keep).ok()?;
    Some(Piece { trace: Trace { name: source.key(), lines, torn: 0 }, clock: None })
}

/// The reigns of an account, the latest last, each with how long nobody led before it.
fn line(account: &Account) -> Value {
    let ms = |nanos: i128| nanos as f64 / 1e6;
    let mut over: Option<u64> = None;
    let mut reigns = Vec::new();
    for Reign { leader, from, to, term, end, .. } in &account.reigns {
        let without = over.map(|before| ms(i128::from(from.saturating_sub(before))));
        over = Some(over.unwrap_or(0).max(*to));
        reigns.push(json!({
            "leader": leader,
            "wall_ms": account.wall.map(|wall| ms(i128::from(*from) + wall)),
            "lasted_ms": ms(i128::from(to - from)),
            "without_ms": without,
            "term": term,
            "end": end.name(),
            "why": end.to_string(),
        }));
    }
    reigns.drain(..reigns.len().saturating_sub(REIGNS_MAX));
    json!({ "lab": "past", "name": account.group, "reigns": reigns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(group: &str, addresses: &[&str]) -> Value {
        let member = |(id, address): (usize, &&str)| json!({ "id": id + 1, "address": address });
        let members: Vec<Value> = addresses.iter().enumerate().map(member).collect();
        json!({ "group": group, "members": members })
    }

    #[test]
    fn two_groups_of_one_name_are_told_apart_by_the_addresses_of_their_members() {
        let mut groups = Groups::default();
        let web = status("web", &["10.0.0.1:1", "10.0.0.2:1"]);
        assert_eq!(groups.of(&web), 0);
        assert_eq!(groups.of(&status("web", &["10.9.9.1:1", "10.9.9.2:1"])), 1);
        assert_eq!(groups.of(&status("db", &["10.0.0.1:1"])), 2);
        // Another member of the first one, which knows one more.
        assert_eq!(groups.of(&status("web", &["10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1"])), 0);
        assert_eq!(groups.of(&status("web", &["-", "-", "10.0.0.3:1"])), 0, "by what was learnt");
        assert_eq!(groups.of(&status("web", &[])), 0, "it knows no address");
    }

    #[test]
    fn no_group_has_the_number_of_another_however_many_were_there() {
        let mut groups = Groups::default();
        let web =
            |number: usize| status("web", &[&format!("10.0.{}.{}:1", number / 250, number % 250)]);
        let (first, mut numbers) = (groups.of(&web(0)), BTreeSet::new());
        // One stays, and others come and go.
        for number in 1..=3 * GROUPS_MAX {
            let home = groups.of(&web(number));
            assert!(home != first && numbers.insert(home), "{number}: {home} is another's");
            assert_eq!(groups.of(&web(0)), first, "it is still there");
            groups.forget(&BTreeSet::from([first, home]));
            assert!(groups.all.len() <= GROUPS_MAX, "{}", groups.all.len());
        }
        // Those that have members are all kept.
        let here: BTreeSet<usize> =
            (0..2 * GROUPS_MAX).map(|it| groups.of(&web(1000 + it))).collect();
        groups.forget(&here);
        assert_eq!((here.len(), groups.all.len()), (2 * GROUPS_MAX, 2 * GROUPS_MAX));
    }
}
