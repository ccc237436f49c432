//! The incarnations in traces: from a `begin` to the end, step by step; and the check that they
//! belong to one group.

use super::read::{BadTrace, Line, Trace};
use super::works::Guardian;
use crate::nodes::Nodes;
use bellwether_core::{Event, LifeHeader, NodeId, SimTime};
use bellwether_protocols::choice::Choice;
use std::collections::{BTreeMap, BTreeSet};

/// One incarnation of a process.
#[derive(Clone, Debug)]
pub struct Life<'a> {
    /// Its file.
    pub file: &'a str,
    /// The process.
    pub node: NodeId,
    /// What it started with.
    pub head: &'a LifeHeader,
    /// Its records.
    pub lines: Vec<&'a Line>,
}

impl<'a> Life<'a> {
    /// Its steps: an input and its outputs, at one reading of its clock.
    pub fn steps(&self) -> impl Iterator<Item = &[&'a Line]> {
        let goes_on = |before: &&Line, line: &&Line| {
            before.record.t == line.record.t && !opens(&line.record.event)
        };
        self.lines.chunk_by(goes_on)
    }

    /// When it began.
    pub fn begins(&self) -> SimTime {
        self.lines.first().map_or(SimTime::ZERO, |line| line.record.t)
    }

    /// The time of its last record.
    pub fn ends(&self) -> SimTime {
        self.lines.last().map_or(SimTime::ZERO, |line| line.record.t)
    }

    /// Whether it recorded that it leaves.
    pub fn left(&self) -> bool {
        self.lines.last().is_some_and(|line| line.record.event == Event::Leave)
    }
}

/// Whether a record is an input of a process, not an output.
pub(crate) fn opens(event: &Event) -> bool {
    matches!(
        event,
        Event::Begin(_)
            | Event::Recv { .. }
            | Event::Drop { .. }
            | Event::Timer { .. }
            | Event::Command { .. }
            | Event::Peers { .. }
            | Event::Leave
    )
}

/// The incarnations of all files, in the order of the files.
///
/// # Errors
/// [`BadTrace`] if a process has a record before its `begin`, or time goes back.
pub fn lives(traces: &[Trace]) -> Result<Vec<Life<'_>>, BadTrace> {
    let mut lives: Vec<Life<'_>> = Vec::new();
    for trace in traces {
        // The current incarnation of each process in this file; most files have one process.
        let mut present: BTreeMap<NodeId, usize> = BTreeMap::new();
        for line in &trace.lines {
            // `works.rs` reads the records of guardians.
            if matches!(line.record.event, Event::Guardian(_) | Event::Work { .. }) {
                continue;
            }
            let node = line.record.node;
            let before = present.get(&node).map(|life| (lives[*life].ends(), lives[*life].head));
            let goes_back = |same: bool| before.is_some_and(|(t, _)| same && line.record.t < t);
            let bad = |problem: String| Err(BadTrace::at(&trace.name, line.number, problem));
            if line.record.t == SimTime::NEVER {
                return bad("no clock reads this".to_owned());
            }
            if let Event::Begin(head) = &line.record.event {
                if goes_back(before.is_some_and(|(_, former)| former.boot == head.boot)) {
                    return bad(format!(
                        "process {node} begins again before its former life ended"
                    ));
                }
                present.insert(node, lives.len());
                lives.push(Life { file: &trace.name, node, head, lines: vec![line] });
                continue;
            }
            let Some(life) = present.get(&node) else {
                return bad(format!(
                    "process {node} has not begun; a live trace has a 'begin' first"
                ));
            };
            if goes_back(true) {
                return bad(format!(
                    "{} is earlier than the line before it; the file is not as it was recorded",
                    line.record.t
                ));
            }
            lives[*life].lines.push(line);
        }
    }
    never_at_once(&lives)?;
    Ok(lives)
}

/// Checks that the incarnations of a process do not overlap.
fn never_at_once(lives: &[Life<'_>]) -> Result<(), BadTrace> {
    let mut sorted: Vec<&Life<'_>> = lives.iter().collect();
    sorted.sort_by_key(|life| (life.node, &life.head.boot, life.begins()));
    for pair in sorted.windows(2) {
        let [one, two] = pair else { continue };
        let same = one.node == two.node && one.head.boot == two.head.boot;
        if same && two.begins() < one.ends() {
            let problem = format!(
                "process {} lives twice at once, here and in {}; judge the files apart",
                two.node, one.file
            );
            return Err(BadTrace { place: two.file.to_owned(), problem });
        }
    }
    Ok(())
}

/// A group: its members, and what they have in common.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// The protocol's name.
    pub protocol: &'a str,
    /// The protocol and its parameters.
    pub choice: Choice,
    /// All processes named as members, by id.
    pub ids: Vec<NodeId>,
}

impl<'a> Group<'a> {
    /// The group of these incarnations.
    ///
    /// # Errors
    /// [`BadTrace`] if there are none, or they differ in group, protocol or configuration.
    pub fn of(lives: &[Life<'a>]) -> Result<Self, BadTrace> {
        let Some(first) = lives.first() else {
            let problem = "no process begins in them: not one record was made".to_owned();
            return Err(BadTrace { place: "the traces".to_owned(), problem });
        };
        let bad = |life: &Life<'_>, problem| BadTrace { place: life.file.to_owned(), problem };
        let read = |head: &LifeHeader| Choice::from_json(&head.protocol, &head.params);
        let choice = read(first.head).map_err(|error| bad(first, error.to_string()))?;
        for life in lives {
            let [one, other] = [first.head, life.head];
            let pairs = [
                ("group", &one.group, &other.group),
                ("protocol", &one.protocol, &other.protocol),
                ("params", &one.params, &other.params),
            ];
            // Members of different releases write the same parameters differently.
            let alike = |what| what == "params" && read(other).as_ref() == Ok(&choice);
            let differ = pairs.iter().find(|(what, one, other)| one != other && !alike(*what));
            if let Some((what, one, other)) = differ {
                let problem = format!(
                    "{what} is '{other}', but '{one}' in {}; judge one group at a time",
                    first.file
                );
                return Err(bad(life, problem));
            }
        }
        let named = |life: &Life<'a>| life.head.members.iter().copied().chain([life.node]);
        let ids: BTreeSet<NodeId> = lives.iter().flat_map(named).collect();
        if ids.len() > Nodes::MAX as usize {
            let (count, most) = (ids.len(), Nodes::MAX);
            let problem = format!("{count} members, but the judge watches {most} at most");
            return Err(bad(first, problem));
        }
        let (name, protocol) = (first.head.group.as_str(), first.head.protocol.as_str());
        Ok(Self { name, protocol, choice, ids: ids.into_iter().collect() })
    }

    /// Checks that these are guardians of this group.
    ///
    /// # Errors
    /// [`BadTrace`] names the first that is not.
    pub(super) fn owns(&self, guardians: &[Guardian<'_>]) -> Result<(), BadTrace> {
        let Some(other) = guardians.iter().find(|one| one.head.group != self.name) else {
            return Ok(());
        };
        let (group, name) = (&other.head.group, self.name);
        let problem = format!("group is '{group}', but '{name}' elsewhere; judge one at a time");
        Err(BadTrace { place: other.file.to_owned(), problem })
    }

    /// Whether texts show members by their ids, not by their index.
    fn by_id(&self) -> bool {
        self.ids.last().is_none_or(|id| id.0 < u64::from(Nodes::MAX))
    }

    /// The index of a member; `None` if it is not one.
    pub(crate) fn number(&self, id: NodeId) -> Option<u32> {
        let place = self.ids.binary_search(&id).ok()?;
        u32::try_from(if self.by_id() { id.0 } else { place as u64 }).ok()
    }

    /// The set of these members by index.
    pub(crate) fn members(&self, numbers: Nodes) -> Vec<NodeId> {
        let meant = |id: &&NodeId| self.number(**id).is_some_and(|one| numbers.contains(one));
        self.ids.iter().filter(meant).copied().collect()
    }

    /// One more than the greatest index.
    pub(crate) fn numbers(&self) -> u32 {
        let last = self.ids.last().and_then(|id| self.number(*id));
        last.map_or(0, |last| last + 1)
    }

    /// Explains the indexes in texts, where they are not ids.
    pub(crate) fn legend(&self) -> String {
        if self.by_id() {
            return String::new();
        }
        let pairs: Vec<String> =
            self.ids.iter().enumerate().map(|(place, id)| format!("{place} is {id}")).collect();
        format!(" ({})", pairs.join(", "))
    }
}
