//! Fetzer and Cristian, figures 30 and 31: a model to the letter, and what three lines of the text
//! would do in their place.
//!
//! The protocol of this repository has its own rules, and no switch for these lines. The model is
//! the printed pseudo-code: one group in which all are connected, clocks are exact (ρ = 0), nothing
//! is lost, and no message takes longer than Δ, so that all are fast. An alarm wakes a process at
//! most σ late, as timely processes are woken. Times are in microseconds.

use bellwether_core::{Entropy as _, Seeded};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Δ and σ of section XI.
const DELTA: u64 = 15_000;
const SIGMA: u64 = 30_000;

/// What differs from test to test.
#[derive(Clone, Copy)]
struct Printed {
    /// EP, expires and lockTime.
    period: u64,
    expires: u64,
    lock: u64,
    least_supporters: usize,
    /// A process supports those whose id is smaller, and not itself: the text of section VIII. By
    /// the figure, those whose id is no greater.
    strictly_smaller: bool,
    /// By how much the alarm for the renewal precedes expirationTime − 2Δ: nothing by the text, σ
    /// by the figure.
    ahead: u64,
    /// How long a message takes, and how late an alarm is.
    delay: fn(&mut Seeded) -> u64,
    late: fn(&mut Seeded) -> u64,
}

/// The paper's constants with an EP and an expires that its constraints allow.
const NEIGHBOUR: Printed = Printed {
    period: 200_000,
    expires: 400_000,
    lock: 200_000 - SIGMA - DELTA,
    least_supporters: 1,
    strictly_smaller: false,
    ahead: SIGMA,
    delay: |_| 1_000,
    late: |_| 0,
};

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// An alarm that was set for this time.
    Alive(u64),
    Release(u64),
    Election {
        from: usize,
        request: u64,
        alive: usize,
    },
    Reply {
        from: usize,
        request: u64,
        support: bool,
    },
    Freed {
        from: usize,
        request: u64,
    },
}

#[derive(Default)]
struct Process {
    /// aliveSet, with lastMsg.
    alive: BTreeMap<usize, u64>,
    replies: BTreeSet<usize>,
    targets: BTreeSet<usize>,
    is_leader: bool,
    expiration: u64,
    locked_to: Option<(usize, u64)>,
    locked_until: u64,
    last_request: Option<u64>,
    alive_alarm: Option<u64>,
    release_alarm: Option<u64>,
}

/// What happened.
#[derive(Debug, Default, PartialEq)]
struct Told {
    /// How often a process became leader or renewed its leadership.
    elections: u32,
    /// How often that was when its lease had ended before.
    lapses: u32,
    /// How often another process removed the least one from its alive-set, and the reverse, though
    /// both were there and connected.
    forgot_the_least: u32,
    forgot_a_supporter: u32,
}

struct Model {
    rules: Printed,
    luck: Seeded,
    now: u64,
    processes: Vec<Process>,
    events: BinaryHeap<Reverse<(u64, u64, usize, Event)>>,
    count: u64,
    told: Told,
}

impl Model {
    /// So many processes for so many seconds.
    fn run(rules: Printed, processes: usize, seconds: u64) -> Told {
        let mut model = Self {
            rules,
            luck: Seeded::new(1),
            now: 1,
            processes: (0..processes).map(|_| Process::default()).collect(),
            events: BinaryHeap::new(),
            count: 0,
            told: Told::default(),
        };
        (0..processes).for_each(|me| model.set_alive(me, 1));
        while let Some(Reverse((at, _, me, event))) = model.events.pop() {
            if at > seconds * 1_000_000 {
                break;
            }
            model.now = at;
            model.handle(me, event);
        }
        model.told
    }

    fn push(&mut self, at: u64, to: usize, event: Event) {
        self.count += 1;
        self.events.push(Reverse((at, self.count, to, event)));
    }

    fn send(&mut self, from: usize, to: usize, event: Event) {
        let delay = if from == to { 0 } else { (self.rules.delay)(&mut self.luck) };
        assert!(delay <= DELTA, "all messages are fast");
        self.push(self.now + delay, to, event);
    }

    fn broadcast(&mut self, from: usize, event: &Event) {
        (0..self.processes.len()).for_each(|to| self.send(from, to, event.clone()));
    }

    /// An alarm in the past wakes the process at once.
    fn wakes(&mut self, alarm: u64) -> u64 {
        let late = (self.rules.late)(&mut self.luck);
        assert!(late <= SIGMA, "processes are timely");
        alarm.max(self.now) + late
    }

    fn set_alive(&mut self, me: usize, alarm: u64) {
        self.processes[me].alive_alarm = Some(alarm);
        let at = self.wakes(alarm);
        self.push(at, me, Event::Alive(alarm));
    }

    fn set_release(&mut self, me: usize, alarm: u64) {
        self.processes[me].release_alarm = Some(alarm);
        let at = self.wakes(alarm);
        self.push(at, me, Event::Release(alarm));
    }

    /// PurgeAliveSet.
    fn purge(&mut self, me: usize) -> u64 {
        let (now, expires) = (self.now, self.rules.expires);
        let process = &mut self.processes[me];
        let is_out = |last: u64| now >= last + expires;
        let out: Vec<usize> = process
            .alive
            .iter()
            .filter(|(_, last)| is_out(**last))
            .map(|(other, _)| *other)
            .collect();
        for other in out {
            process.alive.remove(&other);
            self.told.forgot_the_least += u32::from(other == 0 && me != 0);
            self.told.forgot_a_supporter += u32::from(other != 0 && me == 0);
        }
        let smaller = process.alive.range(..me).map(|(_, last)| last + expires);
        smaller.max().unwrap_or(now).max(now)
    }

    /// UpdateAliveSet of a fast message.
    fn update(&mut self, me: usize, sender: usize) {
        self.processes[me].alive.insert(sender, self.now);
        self.purge(me);
    }

    /// CheckIfLeader.
    fn check(&mut self, me: usize) {
        let Printed { period, lock, ahead, least_supporters, .. } = self.rules;
        let process = &mut self.processes[me];
        let Some(request) = process.last_request.take() else { return };
        let all = process.replies.iter().eq(process.alive.keys());
        let least = process.replies.first() == Some(&me);
        let enough = process.replies.len() >= least_supporters;
        if process.targets.contains(&me) && all && least && enough {
            self.told.elections += 1;
            self.told.lapses += u32::from(process.is_leader && self.now >= process.expiration);
            process.is_leader = true;
            process.expiration = request + lock;
            let renewal = process.expiration.saturating_sub(2 * DELTA + ahead);
            self.set_alive(me, renewal);
        } else {
            let release = !process.replies.is_empty();
            self.set_alive(me, request + period - SIGMA);
            if release {
                self.broadcast(me, &Event::Freed { from: me, request });
            }
        }
    }

    fn handle(&mut self, me: usize, event: Event) {
        match event {
            Event::Alive(alarm) if self.processes[me].alive_alarm == Some(alarm) => self.ask(me),
            Event::Release(alarm) if self.processes[me].release_alarm == Some(alarm) => {
                self.processes[me].release_alarm = None;
                self.check(me);
            }
            Event::Alive(_) | Event::Release(_) => {}
            Event::Election { from, request, alive } => self.vote(me, from, request, alive),
            Event::Reply { from, request, support } => {
                self.update(me, from);
                let now = self.now;
                let process = &mut self.processes[me];
                if support && process.last_request == Some(request) {
                    process.replies.insert(from);
                    let leads = process.is_leader && now < process.expiration;
                    if process.replies == process.targets && leads {
                        process.release_alarm = None;
                        self.check(me);
                    }
                }
            }
            Event::Freed { from, request } => {
                let process = &mut self.processes[me];
                if process.locked_to == Some((from, request)) {
                    process.locked_until = 0;
                }
            }
        }
    }

    /// When aliveAC wakes a process.
    fn ask(&mut self, me: usize) {
        let next = self.purge(me);
        let now = self.now;
        let process = &mut self.processes[me];
        process.alive_alarm = None;
        process.last_request = Some(now);
        process.replies.clear();
        process.targets = process.alive.keys().copied().collect();
        let (alive, least) = (process.alive.len(), process.alive.keys().next().copied());
        if least.is_none_or(|least| me <= least) {
            self.broadcast(me, &Event::Election { from: me, request: now, alive });
            self.set_release(me, now + 2 * DELTA);
        } else {
            self.set_alive(me, next);
        }
    }

    /// When an Election-message is delivered.
    fn vote(&mut self, me: usize, from: usize, request: u64, alive: usize) {
        self.update(me, from);
        let (now, lock) = (self.now, self.rules.lock);
        let smaller = if self.rules.strictly_smaller { from < me } else { from <= me };
        let process = &mut self.processes[me];
        let free = process.locked_until < now
            || process.locked_to.is_some_and(|(holder, _)| holder == from);
        let support = free && process.alive.keys().next() == Some(&from) && smaller;
        if support {
            (process.locked_to, process.locked_until) = (Some((from, request)), now + lock);
        }
        if from != me || alive <= 1 {
            self.send(me, from, Event::Reply { from: me, request, support });
        } else if support && process.last_request == Some(request) {
            process.replies.insert(me);
        }
    }
}

/// Section VIII, against figure 31 and (LS).
#[test]
fn if_a_supporter_demands_a_smaller_id_than_its_own_nobody_ever_leads() {
    for processes in 1..=5 {
        let text = Printed { strictly_smaller: true, ..NEIGHBOUR };
        assert_eq!(Model::run(text, processes, 20).elections, 0, "{processes} processes");
        let figure = Model::run(NEIGHBOUR, processes, 20);
        assert!(figure.elections > 100 && figure.lapses == 0, "{processes}: {figure:?}");
    }
}

/// Sections VIII and X, against figure 31.
#[test]
fn a_renewal_alarm_that_leaves_no_room_for_sigma_lets_every_lease_lapse() {
    let text = Printed { ahead: 0, ..NEIGHBOUR };
    let prompt = Model::run(text, 4, 20);
    assert!(prompt.elections > 100 && prompt.lapses == 0, "in time it does no harm: {prompt:?}");
    let late = |rules| Model::run(Printed { late: |_| SIGMA, ..rules }, 4, 20);
    let (text, figure) = (late(text), late(NEIGHBOUR));
    println!("by the text {text:?}, by the figure {figure:?}");
    assert_eq!(text.lapses, text.elections - 1, "each renewal comes too late: {text:?}");
    assert!(figure.elections > 100 && figure.lapses == 0, "{figure:?}");
}

/// Section XI, against section IX-C. Three of seven processes ask for a majority that is not there,
/// so that requests are as far apart as they may be, EP. Delays are 0 or Δ, and alarms are in time
/// or late by σ.
#[test]
fn with_an_expires_of_about_the_period_connected_processes_forget_each_other() {
    let told = |more: u64| {
        let rules = Printed {
            expires: NEIGHBOUR.period + more,
            least_supporters: 4,
            delay: |luck| [0, DELTA][luck.below(2) as usize],
            late: |luck| [0, SIGMA][luck.below(2) as usize],
            ..NEIGHBOUR
        };
        let told = Model::run(rules, 3, 600);
        println!("expires = EP + {more}: {told:?}");
        (told.forgot_the_least, told.forgot_a_supporter)
    };
    let (least, supporter) = told(2_000);
    assert!(least > 10 && supporter > 10, "about EP: {least} and {supporter}");
    let (least, supporter) = told(DELTA + 1_000);
    assert!(least == 0 && supporter > 10, "EP + Δ, and not 2Δ: {least} and {supporter}");
    assert_eq!(told(2 * DELTA + 1_000), (0, 0), "EP + 2Δ");
}
