//! A group under trial: its members, their workers, and what is wrong with it at the moment.

use crate::disk::{self, Disks};
use crate::flood::Flood;
use crate::lab::clock::{now, sleep};
use crate::lab::group::{Ground, Group, PATIENCE, Shape};
use crate::lab::marks::{self, Overlap, Run};
use crate::lab::network::Family;
use crate::lab::relay::Weather;
use crate::lab::stalls::{Stalls, standstills};
use crate::options::Options;
use crate::plan::GroupPlan;
use crate::worker::{self, Habits};
use bellwether::core::{Duration, Instant};
use bellwether::net::Status;
use bellwether::protocols::choice::Choice;
use bellwether::protocols::local_leader::{Config, Params, Tokens};
use rustix::fd::OwnedFd;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether somebody asked to end the run.
pub(crate) static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What a member's datagrams meet while nothing is wrong.
pub(crate) const FAIR: Weather =
    Weather { seed: 1, delay: Duration::ZERO, jitter: Duration::ZERO, lost: 0, doubled: 0 };

/// The group, and what is to be undone.
pub(crate) struct Scene {
    // What is declared first is dropped first: a folder with a disk in it cannot be removed.
    _disks: Disks,
    pub(crate) group: Group,
    pub(crate) options: Options,
    pub(crate) standstills: &'static Stalls,
    pub(crate) durable: bool,
    pub(crate) relayed: bool,
    /// Guardians and watchdogs that were stopped, by their members.
    pub(crate) stopped: BTreeMap<u64, Vec<OwnedFd>>,
    /// Members that were stopped.
    pub(crate) paused: BTreeSet<u64>,
    /// Members to start again: those that were killed, and those that were told to end.
    pub(crate) killed: BTreeSet<u64>,
    pub(crate) ended: BTreeSet<u64>,
    pub(crate) filled: BTreeSet<u64>,
    pub(crate) cut: bool,
    pub(crate) unsettled: bool,
    pub(crate) flood: Option<Flood>,
    /// Who was struck by a documented exception, and when.
    pub(crate) excepted: Vec<(u64, Instant)>,
    /// Requests that nobody was there to hear, or that were refused.
    pub(crate) refused: u64,
    /// How many vote.
    pub(crate) voters: usize,
    /// The keys of the ring, in order; two while they are rotated.
    pub(crate) keys: Vec<String>,
}

/// A number of processes that take all processors.
pub(crate) fn many() -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    2 * u32::try_from(cores).unwrap_or(1)
}

/// Waits, unless the run is to end.
pub(crate) fn rest(length: Duration) {
    assert!(!INTERRUPTED.load(Ordering::Relaxed), "interrupted");
    sleep(length);
}

impl Scene {
    pub(crate) fn new(options: &Options, plan: &GroupPlan) -> Self {
        let tokens = if plan.durable { Tokens::Durable } else { Tokens::Volatile };
        let ground = match plan.relayed {
            true => Ground::Relayed(Weather { seed: plan.seed, ..FAIR }),
            false => Ground::Listed(Family::V4),
        };
        let members = options.members;
        let shape = Shape { preset: options.preset, tokens, ground, ..Shape::lan(members) };
        let mut group = Group::new(shape);
        if plan.durable && members == 5 {
            // Two observe, so that every change of the voters is possible.
            group.give_flags(&["--voters", "1,2,3"]);
        }
        if !plan.cgroups {
            group.hide_cgroups();
        }
        let disks = Disks::mount(group.ids().into_iter().map(|id| group.dir(id)).collect());
        for id in group.ids() {
            let ahead = plan.clocks.get(id as usize - 1).copied().unwrap_or(0);
            let ahead = Duration::from_secs(ahead);
            if ahead > Duration::ZERO {
                group.give_clock(id, ahead);
            }
            let marks = group.folder().file(&format!("marks-{id}"));
            std::fs::write(&marks, "").expect("the folder can be written");
            let spinners = if options.load { many() } else { 0 };
            let habits = Habits { spinners, stubborn: id % 2 == 0 || options.load, ahead };
            group.give_command(id, worker::command(&marks, habits));
        }
        let keys = std::fs::read_to_string(group.folder().file("key")).unwrap_or_default();
        let keys = keys.lines().filter(|line| !line.starts_with('#'));
        let keys = keys.map(str::to_owned).collect();
        if !plan.relayed {
            group.network().get_ready();
        }
        group.start_all();
        Self {
            _disks: disks,
            group,
            options: options.clone(),
            standstills: standstills(),
            durable: plan.durable,
            relayed: plan.relayed,
            stopped: BTreeMap::new(),
            paused: BTreeSet::new(),
            killed: BTreeSet::new(),
            ended: BTreeSet::new(),
            filled: BTreeSet::new(),
            cut: false,
            unsettled: false,
            flood: None,
            excepted: Vec::new(),
            refused: 0,
            voters: 3,
            keys,
        }
    }

    /// Within this somebody leads once nothing is wrong any more, by these tokens.
    pub(crate) fn kappa(&self) -> Duration {
        let tokens = if self.durable { Tokens::Durable } else { Tokens::Volatile };
        let config = Config { preset: self.options.preset, tokens, ..Config::default() };
        let params = Params::try_from(config).expect("a preset keeps its own rules");
        let members = u32::try_from(self.options.members).expect("groups are small");
        Choice::from(params).time_scales(members).settles
    }

    /// All marks so far.
    pub(crate) fn runs(&self) -> Vec<Run> {
        let file = |id| self.group.folder().file(&format!("marks-{id}"));
        let ids = self.group.ids().into_iter();
        ids.flat_map(|id| marks::runs(id, &file(id))).collect()
    }

    /// The process of a worker that ran last.
    pub(crate) fn last_run(&self) -> Option<Run> {
        self.runs().into_iter().max_by_key(|run| run.last)
    }

    /// Whose worker ran last, and when.
    pub(crate) fn runner(&self) -> Option<(u64, Instant)> {
        self.last_run().map(|run| (run.id, run.last))
    }

    /// Whether the worker that runs is in a cgroup that its watchdog made, as the kernel says.
    pub(crate) fn has_cgroup(&self) -> bool {
        let run = self.last_run().expect("somebody leads");
        let all = std::fs::read_to_string(format!("/proc/{}/cgroup", run.pid)).unwrap_or_default();
        let own = all.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
        own.rsplit('/').next().is_some_and(|name| name.starts_with("bellwether-"))
    }

    /// Whose worker runs now, as far as can be seen.
    pub(crate) fn leader(&self) -> Option<u64> {
        let recent = Duration::from_millis(if self.options.load { 1000 } else { 100 });
        self.runner().filter(|(_, last)| now().since(*last) < recent).map(|(id, _)| id)
    }

    /// The first time since then at which a worker of a member other than this one ran; waits.
    pub(crate) fn next_run(&self, since: Instant, not: u64, patience: Duration) -> Option<Instant> {
        let end = now() + patience;
        loop {
            let runs = self.runs().into_iter().filter(|run| run.id != not && run.last >= since);
            if let Some(first) = runs.map(|run| run.first.max(since)).min() {
                return Some(first);
            }
            if now() >= end {
                return None;
            }
            rest(Duration::from_millis(1));
        }
    }

    /// Whether an overlap is that of a worker whose watchers were all struck before.
    pub(crate) fn is_excepted(&self, overlap: &Overlap) -> bool {
        let struck = |id, run: &Run| {
            let within = |at: &Instant| run.first <= *at && *at <= overlap.to;
            self.excepted.iter().any(|(struck, at)| *struck == id && within(at))
        };
        struck(overlap.one.id, &overlap.one) || struck(overlap.other.id, &overlap.other)
    }

    /// What a member says of itself, if it answers.
    pub(crate) fn status(&self, id: u64) -> Option<Status> {
        self.group.reach(id).and_then(|mut client| client.status()).ok()
    }

    /// Waits until one leads and all others follow it, with records of their own; says who leads.
    pub(crate) fn settled(&mut self) -> u64 {
        let end = now() + PATIENCE;
        loop {
            if let Some(leader) = self.leader()
                && self.follow(leader)
            {
                return leader;
            }
            if now() > end {
                let all: Vec<_> = self.group.ids().into_iter().map(|id| self.status(id)).collect();
                self.group.give_up(&format!("the group does not settle: {all:?}"));
            }
            rest(Duration::from_millis(5));
        }
    }

    /// Whether all but the leader follow it. The leader itself is not asked: what it tells of its
    /// lease would delay its last will.
    fn follow(&self, leader: u64) -> bool {
        self.group.without(&[leader]).into_iter().all(|id| {
            let follows = |status: Status| status.leaders == [leader] && !status.no_record;
            self.status(id).is_some_and(follows)
        })
    }

    /// Waits until the list of voters is committed, by the word of whoever leads.
    pub(crate) fn committed(&mut self) {
        let end = now() + PATIENCE;
        loop {
            let status = self.leader().and_then(|leader| self.status(leader));
            let done = |status: &Status| {
                let voters = status.voters.as_ref();
                voters.is_none_or(|voters| voters.committed && voters.invited.is_none())
            };
            if let Some(status) = status.as_ref().filter(|status| done(status)) {
                self.voters = status.voters.as_ref().map_or(self.voters, |list| list.ids.len());
                break;
            }
            if now() > end {
                self.group.give_up(&format!("the list is not committed: {status:?}"));
            }
            rest(Duration::from_millis(5));
        }
        // What it told of its lease is over.
        rest(self.group.params().lock());
    }

    /// There is room again on the disk of this member.
    pub(crate) fn clear_disk(&mut self, id: u64) {
        self.filled.remove(&id);
        disk::clear(&self.group.dir(id));
    }

    /// How often a member said that its state file is not used.
    pub(crate) fn noticed(&mut self) -> usize {
        let ids = self.group.ids().into_iter();
        let said = ids.map(|id| self.group.member(id).complaints());
        said.map(|text| text.matches("its state file is not used").count()).sum()
    }

    /// Has the traces judged, when all members have ended.
    pub(crate) fn judged(self) -> Value {
        let Self { _disks, group, .. } = self;
        drop(_disks);
        group.judge()
    }

    /// Undoes all that is wrong; says when that was done.
    pub(crate) fn heal(&mut self) -> Instant {
        self.flood = None;
        for id in std::mem::take(&mut self.filled) {
            disk::clear(&self.group.dir(id));
        }
        self.group.ids().into_iter().for_each(|id| self.go_on(id));
        if self.relayed {
            self.group.change_weather(FAIR);
        }
        if std::mem::take(&mut self.cut) {
            self.group.heal();
        }
        self.finish_keys();
        for id in std::mem::take(&mut self.ended) {
            self.group.member(id).wait();
            self.group.start(id);
        }
        for id in std::mem::take(&mut self.killed) {
            self.group.restart(id);
        }
        for id in self.group.ids() {
            // A member may have ended because its disk was full.
            if self.group.member(id).ended().is_some() {
                self.group.crash(id);
                self.group.restart(id);
            }
        }
        if std::mem::take(&mut self.unsettled) {
            self.group.all_is_well();
        }
        now()
    }
}
