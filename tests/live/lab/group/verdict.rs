//! What came of it: waiting for a group, holding times against bounds, and the judge.

use super::super::clock::{millis, now, sleep};
use super::super::log::Said;
use super::super::member::{BELLWETHER, Member};
use super::super::shell;
use super::{Group, NAME, PATIENCE};
use bellwether::core::{Duration, Instant};
use serde_json::Value;

/// The invariants that say what comes within κ, rather than what holds at any time.
const IN_TIME: [&str; 6] = [
    "timeliness",
    "bounded-inconsistency",
    "agreement",
    "minimum-leads",
    "everyone-leads",
    "stable-in-logical",
];

/// The invariants that speak of commands.
const COMMANDS: [&str; 2] = ["one-command", "command-within-lease"];

/// The last word of a member.
fn last(said: &[Said], id: u64) -> Option<&Said> {
    said.iter().rev().find(|said| said.id == id)
}

/// Waiting.
impl Group {
    /// Waits for something to be said. Who has ended says nothing more, so if that is one of those
    /// waited for there is no point in it.
    fn wait<T>(&mut self, what: &str, from: &[u64], find: impl Fn(&[Said]) -> Option<T>) -> T {
        let end = now() + PATIENCE;
        loop {
            if let Some(found) = self.log.wait(Duration::from_millis(500), &find) {
                return found;
            }
            let ended = |id: &u64| self.members.get_mut(id).is_none_or(|it| it.ended().is_some());
            if now() > end || from.iter().any(ended) {
                self.give_up(what);
            }
        }
    }

    /// Waits until all of these follow the same one of them, who leads; says who.
    pub(crate) fn settled(&mut self, among: &[u64]) -> u64 {
        self.wait(&format!("no agreement among {among:?}"), among, |said| {
            let leads = |id: &u64| last(said, *id).is_some_and(Said::leads);
            let leader = among.iter().copied().find(leads)?;
            let follows = |id: &u64| last(said, *id).is_some_and(|said| said.leaders == [leader]);
            among.iter().all(follows).then_some(leader)
        })
    }

    /// When this one last began to lead, by its own word.
    pub(crate) fn leads_since(&self, id: u64) -> Instant {
        let said = self.log.since(Instant::ZERO);
        let begun = last(&said, id).filter(|said| said.leads());
        begun.unwrap_or_else(|| panic!("{id} does not lead")).t
    }

    /// Waits until somebody other than this one begins to lead; says who, and how long it took.
    pub(crate) fn replaced(&mut self, former: u64, since: Instant) -> (u64, Duration) {
        self.wait(&format!("nobody replaced {former}"), &[], |said| {
            let begun = |said: &&Said| said.t > since && said.id != former && said.leads();
            said.iter().find(begun).map(|said| (said.id, said.t.since(since)))
        })
    }

    /// Waits until everybody has begun to lead since then; says how long it took.
    pub(crate) fn all_led(&mut self, since: Instant) -> Duration {
        let ids = self.ids();
        self.wait("somebody never led", &ids, |said| {
            let led = |id: &u64| {
                let begun = |said: &&Said| said.t >= since && said.id == *id && said.leads();
                said.iter().find(begun).map(|said| said.t.since(since))
            };
            ids.iter().map(led).max_by_key(|led| led.unwrap_or(Duration::MAX))?
        })
    }

    /// Waits until this one says that it does not lead; says how long it took.
    pub(crate) fn deposed(&mut self, id: u64, since: Instant) -> Duration {
        self.wait(&format!("{id} never said that it leads no more"), &[id], |said| {
            let over = |said: &&Said| said.t > since && said.id == id && !said.leads();
            said.iter().find(over).map(|said| said.t.since(since))
        })
    }

    /// Waits for as long as the group may take to settle, and some more in which it is watched.
    pub(crate) fn calm(&self) {
        sleep(self.kappa() + self.params().lock() * 4);
    }

    /// Everything anybody may want to know.
    pub(crate) fn give_up(&mut self, what: &str) -> ! {
        let mut story = format!("{what}; the last that was said:\n");
        story += &self.log.tail(20);
        for (id, member) in &mut self.members {
            let ended = member.ended();
            story += &format!("member {id}: ended {ended:?}; {}\n", member.complaints());
        }
        panic!("{story}");
    }

    /// What a member answers on its own socket: the command, and the words after it.
    pub(crate) fn ask(&self, command: &str, id: u64, words: &[&str]) -> Result<String, String> {
        let (dir, id) = (self.dir(id), id.to_string());
        let mut all = vec![BELLWETHER, command, NAME, "--id", &id, "--dir", &dir];
        all.extend(words);
        shell::attempt(&all, "")
    }
}

/// Judging.
impl Group {
    /// Holds a measured time against a bound. What the machine itself was late in that time is
    /// allowed for.
    pub(crate) fn assert_within(&self, what: &str, took: Duration, bound: Duration, from: Instant) {
        let stalls = self.stalls.total_between(from, from + took);
        let text = format!(
            "{what}: {:.1} ms; bound {:.1} ms, and the machine stalled for {:.1} ms meanwhile",
            millis(took),
            millis(bound),
            millis(stalls)
        );
        println!("{text}");
        assert!(took <= bound + stalls, "{text}\n{}", self.log.tail(20));
    }

    /// Nobody began to lead since then, unless the machine stalled for longer than a lease can
    /// bear: a leader asks every P, and lockTime − P is what is left.
    pub(crate) fn assert_unchanged(&self, what: &str, since: Instant) {
        let (reigns, stalls) = (self.log.reigns(since), self.stalls.total(since));
        let room = self.params().lock().saturating_sub(self.params().renew());
        assert!(
            reigns == 0 || stalls > room,
            "{what}: {reigns} began to lead, though the machine stalled for {:.1} ms only\n{}",
            millis(stalls),
            self.log.tail(20)
        );
    }

    /// Ends all members and has what they recorded lived again, which must give the same, and
    /// judged, which must find nothing wrong.
    ///
    /// What is to come in time is promised for machines that react within σ. Where this one was
    /// later than that, only what must hold at any time is insisted on.
    pub(crate) fn judge(mut self) -> Value {
        self.members.values_mut().for_each(Member::kill);
        let works = self.lives.keys().filter(|id| self.commands.contains_key(id));
        let works = works.map(|id| self.work(*id));
        let traces: Vec<String> =
            self.lives.keys().map(|id| self.trace(*id)).chain(works).collect();
        let court = |words: &[&str], traces: &[String]| {
            let all = [BELLWETHER].into_iter().chain(words.iter().copied());
            let all: Vec<&str> = all.chain(traces.iter().map(String::as_str)).collect();
            shell::run(&all, "").unwrap_or_else(|error| panic!("the judge: {error}"))
        };
        let replay = court(&["replay"], &traces);
        assert!(replay.status.success(), "replayed, it is not the same: {replay:?}");
        let faults = ["--faults", self.faults.path(), "--trace"];
        let check =
            court(&[["check", "--format", "json"], faults].concat(), &self.on_one_clock(&traces));
        let verdict: Value = serde_json::from_slice(&check.stdout)
            .unwrap_or_else(|error| panic!("the judge: {error}: {check:?}"));
        let broken: Vec<_> = verdict["violations"].as_array().into_iter().flatten().collect();
        for violation in &broken {
            let at = Instant::from_nanos(violation["at"].as_u64().expect("it has a time"));
            // What came too late did so within this; what stalled earlier excuses nothing.
            let stall = self.stalls.longest(at - self.kappa() * 2);
            let in_time = violation["invariant"].as_str().is_some_and(|it| IN_TIME.contains(&it));
            let excused = in_time && stall > self.params().sigma();
            assert!(excused, "the longest stall was {stall}; the judge: {verdict}");
            println!("excused by a stall of {stall}: {violation}");
        }
        assert!(check.status.success() || !broken.is_empty(), "the judge: {check:?}");
        verdict
    }

    /// The same, where nothing may remain undecided.
    pub(crate) fn acquit(self) {
        self.acquitted();
    }

    /// The same, with the rulings.
    pub(crate) fn acquitted(self) -> Value {
        // A guardian that does not get its turn records the end of the command late.
        let half_margin = Duration::from_nanos(self.params().lease().as_nanos() / 20);
        let (stalls, begun) = (self.stalls, self.begun);
        let verdict = self.judge();
        let longest = stalls.longest(begun);
        let invariants = verdict["invariants"].as_object().expect("invariants have names");
        for (invariant, ruling) in invariants {
            let undecided = ruling["verdict"] == "undecidable";
            let excused = COMMANDS.contains(&invariant.as_str()) && longest > half_margin;
            assert!(!undecided || excused, "{invariant}: {}", ruling["note"]);
        }
        verdict
    }
}
