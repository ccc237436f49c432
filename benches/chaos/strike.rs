//! How each fault is made.

use crate::disk;
use crate::flood::Flood;
use crate::lab::clock::now;
use crate::lab::member::BELLWETHER;
use crate::lab::relay::Weather;
use crate::lab::shell;
use crate::plan::{Fault, Kind, Watchers};
use crate::scene::Scene;
use bellwether::core::{Duration, Instant, NodeId};
use bellwether::net::VoterChange;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The guardian and the watchdog, in this order.
const NAMES: [&str; 2] = ["bw-guardian", "bw-watchdog"];

/// Files for processes: their numbers may be another's by the time they are of use.
fn open(pids: Vec<Pid>) -> Vec<OwnedFd> {
    pids.into_iter().filter_map(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).collect()
}

fn send(processes: &[OwnedFd], signal: Signal) {
    for process in processes {
        let _ = pidfd_send_signal(process, signal); // it may have ended
    }
}

impl Scene {
    /// Begins a fault. `alone`: no other one is there, and the judge is told exactly what it is.
    pub(crate) fn strike(&mut self, fault: &Fault, id: u64, alone: bool) -> Instant {
        match fault.kind {
            Kind::Kill(which) => self.kill(id, which),
            Kind::Stop(which) => self.stop(id, which),
            Kind::Machine => self.fail(id),
            Kind::Terminate => {
                self.ended.insert(id);
                self.group.stop(id)
            }
            Kind::Storm => self.again(id),
            Kind::LostState | Kind::OldState => self.forget(id, fault.kind),
            Kind::Cut | Kind::LinkDown | Kind::Deaf | Kind::Mute | Kind::NonTransitive => {
                self.cut(fault, id, alone)
            }
            Kind::Loss => {
                self.cut = true;
                self.at_once(|scene| scene.group.lose(10 + fault.level % 291))
            }
            Kind::Weather => self.at_once(|scene| scene.worsen(fault.level)),
            Kind::FullDisk => {
                self.filled.insert(id);
                self.at_once(|scene| disk::fill(&scene.group.dir(id)))
            }
            Kind::Keys => self.at_once(Self::add_key),
            Kind::Voters => self.at_once(|scene| scene.change_voters(fault.level)),
            Kind::Resign | Kind::Transfer => self.hand_over(fault),
            Kind::Flood => self.at_once(|scene| scene.pour(id, fault.level)),
        }
    }

    fn at_once(&mut self, act: impl FnOnce(&mut Self)) -> Instant {
        let begun = now();
        act(self);
        begun
    }

    fn watchers(&mut self, id: u64, which: Watchers) -> Vec<OwnedFd> {
        let wanted = which.which();
        let named = NAMES.into_iter().zip([wanted[1], wanted[2]]).filter(|(_, wanted)| *wanted);
        let member = self.group.member(id);
        named.flat_map(|(name, _)| open(member.called(name))).collect()
    }

    fn kill(&mut self, id: u64, which: Watchers) -> Instant {
        let others = self.watchers(id, which);
        let begun = now();
        send(&others, Signal::KILL);
        if which.which()[0] {
            self.killed.insert(id);
            self.group.crash(id);
        }
        begun
    }

    fn stop(&mut self, id: u64, which: Watchers) -> Instant {
        let others = self.watchers(id, which);
        let begun = now();
        send(&others, Signal::STOP);
        self.stopped.insert(id, others);
        if which.which()[0] {
            self.paused.insert(id);
            self.group.pause(id);
        }
        begun
    }

    /// What was stopped of this member goes on.
    pub(crate) fn go_on(&mut self, id: u64) {
        if self.paused.remove(&id) {
            self.group.resume(id);
        }
        send(&self.stopped.remove(&id).unwrap_or_default(), Signal::CONT);
    }

    /// A machine that fails: everything of the member is gone. What could start something is
    /// stopped first, then the command is killed, and those that would look after it last.
    fn fail(&mut self, id: u64) -> Instant {
        let begun = now();
        self.killed.insert(id);
        self.group.member(id).signal(Signal::STOP);
        let watchers = self.watchers(id, Watchers::GuardianWatchdog);
        send(&watchers, Signal::STOP);
        let lives = |pid: &Pid| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
            let state = stat.ok().and_then(|stat| stat.rsplit(") ").next()?.chars().next());
            let comm = std::fs::read_to_string(format!("/proc/{}/comm", pid.as_raw_nonzero()));
            let watches = comm.is_ok_and(|comm| NAMES.contains(&comm.trim_end()));
            state.is_some_and(|state| state != 'Z' && state != 'X') && !watches
        };
        for _ in 0..1000 {
            let mut started = self.group.member(id).started();
            started.retain(lives);
            if started.is_empty() {
                break;
            }
            send(&open(started), Signal::KILL);
        }
        send(&watchers, Signal::KILL);
        self.group.crash(id);
        begun
    }

    /// One step of a restart storm.
    pub(crate) fn again(&mut self, id: u64) -> Instant {
        let begun = self.group.crash(id);
        self.group.restart(id);
        begun
    }

    /// The member is killed, and its state is lost or older when it starts again.
    fn forget(&mut self, id: u64, kind: Kind) -> Instant {
        self.killed.insert(id);
        let begun = self.group.crash(id);
        let dir = self.group.dir(id);
        if kind == Kind::LostState {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().filter_map(Result::ok) {
                let _ = std::fs::remove_file(entry.path());
            }
        } else {
            let old = self.group.folder().file(&format!("old-{id}"));
            let _ = std::fs::copy(old, state(&dir, id)); // there may be none yet
        }
        begun
    }

    /// Keeps copies of all state files, to be put back later.
    pub(crate) fn keep_states(&self) {
        for id in self.group.ids() {
            let old = self.group.folder().file(&format!("old-{id}"));
            let _ = std::fs::copy(state(&self.group.dir(id), id), old);
        }
    }

    fn cut(&mut self, fault: &Fault, id: u64, alone: bool) -> Instant {
        self.cut = true;
        let others = self.group.without(&[id]);
        let other = others[(fault.level % others.len() as u64) as usize];
        if alone {
            return match fault.kind {
                Kind::Cut => self.group.cut_silently(id),
                Kind::LinkDown => self.group.link_down(id),
                Kind::Deaf => self.group.cut_one_way(&others, &[id]),
                Kind::Mute => self.group.cut_one_way(&[id], &others),
                _ => self.group.cut_between(&[id], &[other]),
            };
        }
        let begun = now();
        let network = self.group.network();
        match fault.kind {
            Kind::Cut => network.cut_silently(id),
            Kind::LinkDown => network.link_down(id),
            Kind::Deaf => others.iter().for_each(|from| network.cut_one_way(*from, id)),
            Kind::Mute => others.iter().for_each(|to| network.cut_one_way(id, *to)),
            _ => {
                network.cut_one_way(id, other);
                network.cut_one_way(other, id);
            }
        }
        begun
    }

    fn worsen(&mut self, level: u64) {
        let (delta, lock) = (self.group.params().delta(), self.group.params().lock());
        let hundredths = |length: Duration, count: u64| {
            Duration::from_nanos(length.as_nanos() / 100 * (count % 100))
        };
        self.group.change_weather(Weather {
            seed: level,
            delay: hundredths(delta * 2, level),
            jitter: hundredths(lock, level / 100),
            lost: level / 10_000 % 100,
            doubled: level / 1_000_000 % 300,
        });
    }

    fn pour(&mut self, id: u64, level: u64) {
        let namespace = (!self.relayed).then(|| self.group.network().namespace(id));
        self.flood = Some(Flood::start(namespace, self.group.places(), level));
    }

    /// Whoever runs the worker now and can answer.
    fn asked(&self) -> Option<u64> {
        let leader = self.leader()?;
        let deaf = self.paused.contains(&leader) || self.killed.contains(&leader);
        (!deaf && !self.ended.contains(&leader)).then_some(leader)
    }

    fn hand_over(&mut self, fault: &Fault) -> Instant {
        let begun = now();
        let Some(leader) = self.asked() else {
            self.refused += 1;
            return begun;
        };
        let others = self.group.without(&[leader]);
        let to = others[(fault.level % others.len() as u64) as usize];
        let done = self.group.reach(leader).and_then(|mut client| match fault.kind {
            Kind::Resign => client.resign(),
            _ => client.transfer(to),
        });
        self.refused += u64::from(done.is_err());
        begun
    }

    /// Adds, removes or replaces a voter, so that at least two of three or three of five vote.
    /// A refusal changes nothing.
    fn change_voters(&mut self, level: u64) {
        let changed = self.asked().and_then(|leader| {
            let change = self.drawn_change(leader, level)?;
            self.group.reach(leader).and_then(|mut it| it.change_voters(change, None)).ok()
        });
        self.refused += u64::from(changed.is_none());
    }

    fn drawn_change(&self, leader: u64, level: u64) -> Option<VoterChange> {
        let voters = self.status(leader)?.voters?;
        let pick = |ids: &[u64]| NodeId(ids[(level / 2 % ids.len() as u64) as usize]);
        let observers = self.group.without(&voters.ids);
        let removable: Vec<u64> = voters.ids.iter().copied().filter(|id| *id != leader).collect();
        let least = self.options.members as usize / 2 + 1;
        Some(match (observers.is_empty(), voters.ids.len() > least, level % 2) {
            (_, true, 0) if !removable.is_empty() => VoterChange::Remove(pick(&removable)),
            (false, _, 1) if !removable.is_empty() && level % 4 == 1 => {
                VoterChange::Replace { old: pick(&removable), new: pick(&observers) }
            }
            (false, _, _) => VoterChange::Add(pick(&observers)),
            (true, _, _) if !removable.is_empty() => VoterChange::Remove(pick(&removable)),
            _ => return None,
        })
    }
}

/// The three steps of "Keys" in docs/running.md; any two members understand each other at each.
impl Scene {
    fn add_key(&mut self) {
        let fresh = self.group.folder().file("fresh");
        let _ = std::fs::remove_file(&fresh);
        shell::must(&[BELLWETHER, "keygen", &fresh], "");
        let text = std::fs::read_to_string(&fresh).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        self.keys.extend(lines.map(str::to_owned));
        self.write_keys();
    }

    /// The second key is used from now on.
    pub(crate) fn switch_keys(&mut self) {
        self.keys.reverse();
        self.write_keys();
    }

    /// The old key goes.
    pub(crate) fn finish_keys(&mut self) {
        if self.keys.len() > 1 {
            self.keys.truncate(1);
            self.write_keys();
        }
    }

    fn write_keys(&mut self) {
        let (path, text) = (self.group.folder().file("key"), self.keys.join("\n") + "\n");
        std::fs::write(&path, text).expect("the folder can be written");
        for id in self.group.ids() {
            // One that has just been started may not know the signal yet, and has read the keys.
            let there = self.group.member(id).ended().is_none();
            if there && self.group.reach(id).is_ok() {
                self.group.member(id).signal(Signal::HUP);
            }
        }
    }
}

fn state(dir: &str, id: u64) -> String {
    format!("{dir}/{}.{id}.state", crate::lab::group::NAME)
}
