//! Who refuses whom, and who has another idea of the group: for people to read.
//!
//! **Assumptions.** Only what authentic frames say is put in here.
//!
//! **Promise.** It decides nothing: no frame passes or is refused because of it. Memory is bounded,
//! and what was not heard again for a while is forgotten.

use crate::frame::{BODY_MAX, Charter, Opened, Refusal};
use bellwether_core::{Duration, Instant, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// What a beacon says besides that its sender is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Word {
    /// Whom the sender refuses at present.
    #[serde(default)]
    pub(crate) refuses: Vec<Objection>,
    /// Its list as text; absent if that does not fit.
    #[serde(default)]
    pub(crate) list: Option<String>,
    /// Its protocol and parameters as text.
    #[serde(default)]
    pub(crate) terms: Option<String>,
}

/// A process that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Objection {
    pub(crate) id: u64,
    /// In which life it spoke: another one is not meant.
    pub(crate) life: u64,
    /// The reason by its name.
    pub(crate) why: String,
    /// From where it spoke.
    pub(crate) from: SocketAddr,
}

impl Word {
    /// As the body of a beacon; what does not fit is left out, the longest first.
    pub(crate) fn encode(mut self) -> Vec<u8> {
        for _ in 0..3 {
            let bytes = serde_json::to_vec(&self).unwrap_or_default();
            if bytes.len() <= BODY_MAX {
                return bytes;
            }
            match self.list.take() {
                Some(_) => {}
                None => self.refuses.truncate(1),
            }
        }
        Vec::new()
    }

    /// The body of a beacon; one without a word, or with one that we cannot read, says nothing.
    pub(crate) fn decode(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }
}

/// All disputes that one member knows of.
#[derive(Debug, Default)]
pub(crate) struct Disputes {
    /// Whom this member refuses, by where it speaks from.
    refused: BTreeMap<SocketAddr, (Objection, Instant)>,
    /// Who refuses this member: why, since when, and when that was last heard.
    refusing: BTreeMap<NodeId, (Refusal, Instant, Instant)>,
    /// Who has another list or other terms.
    others: BTreeMap<NodeId, Held>,
}

/// What another holds to be the list and the terms.
#[derive(Clone, Debug)]
struct Held {
    charter: Charter,
    from: SocketAddr,
    at: Instant,
    word: Word,
}

/// More than these are not remembered.
const MOST: usize = 64;
/// More refused ones are not told.
const TOLD: usize = 6;
/// What was not heard again for so long is over: beacons come twice a second.
const OVER: Duration = Duration::from_secs(3);

impl Disputes {
    /// A process is refused.
    pub(crate) fn refuse(&mut self, why: Refusal, frame: &Opened, from: SocketAddr, now: Instant) {
        if self.refused.len() < MOST || self.refused.contains_key(&from) {
            let (id, life) = (frame.sender.0, frame.incarnation);
            let objection = Objection { id, life, why: why.name().to_owned(), from };
            self.refused.insert(from, (objection, now));
        }
    }

    /// Another member refuses this one.
    pub(crate) fn be_refused(&mut self, by: NodeId, why: Refusal, now: Instant) {
        if self.refusing.len() < MOST || self.refusing.contains_key(&by) {
            let known = self.refusing.entry(by).or_insert((why, now, now));
            let since = if known.0 == why { known.1 } else { now };
            *known = (why, since, now);
        }
    }

    /// Another member has another list or other terms. What it said of them stays known.
    pub(crate) fn differ(&mut self, frame: &Opened, from: SocketAddr, now: Instant) {
        let (charter, at, full) = (frame.charter, now, self.others.len() >= MOST);
        match self.others.get_mut(&frame.sender) {
            Some(held) if held.charter == charter => (held.from, held.at) = (from, at),
            None if full => {}
            _ => {
                let held = Held { charter, from, at, word: Word::default() };
                self.others.insert(frame.sender, held);
            }
        }
    }

    /// It says which.
    pub(crate) fn explain(&mut self, sender: NodeId, word: Word) {
        if let Some(held) = self.others.get_mut(&sender) {
            held.word = word;
        }
    }

    /// Forgets what is over.
    pub(crate) fn forget(&mut self, now: Instant) {
        self.refused.retain(|_, (_, at)| now.since(*at) <= OVER);
        self.refusing.retain(|_, (_, _, at)| now.since(*at) <= OVER);
        self.others.retain(|_, held| now.since(held.at) <= OVER);
    }

    /// Whom this member refuses, the latest first.
    pub(crate) fn refused(&self) -> Vec<Objection> {
        let mut all: Vec<_> = self.refused.values().collect();
        all.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
        all.into_iter().take(TOLD).map(|(objection, _)| objection.clone()).collect()
    }

    /// Who refuses this member, in words.
    pub(crate) fn refusing(&self, now: Instant) -> Vec<String> {
        let told = |(by, (why, since, _)): (&NodeId, &(Refusal, Instant, Instant))| {
            let seconds = now.since(*since).as_nanos() as f64 / 1e9;
            format!("member {by} refuses us (for {seconds:.1} s): {why}")
        };
        self.refusing.iter().map(told).collect()
    }

    /// Which members have another list or other terms than the rest, and how they differ: this
    /// one, `me`, has these, and so have those who `agree`.
    pub(crate) fn odd(
        &self,
        me: NodeId,
        mine: (Charter, &Word),
        agree: &[NodeId],
    ) -> Option<String> {
        let mut camps: BTreeMap<Charter, Vec<NodeId>> = BTreeMap::new();
        camps.insert(mine.0, agree.iter().copied().filter(|id| *id != me).chain([me]).collect());
        for (id, held) in &self.others {
            camps.get_mut(&mine.0).into_iter().for_each(|camp| camp.retain(|agrees| agrees != id));
            camps.entry(held.charter).or_default().push(*id);
        }
        if camps.len() < 2 {
            return None;
        }
        camps.values_mut().for_each(|camp| camp.sort_unstable());
        let largest = camps.values().map(Vec::len).max().unwrap_or(0);
        let mut first = camps.iter().filter(|(_, camp)| camp.len() == largest);
        let (most, tie) = (first.next()?, first.next());
        let rest = camps.iter().filter(|(charter, _)| *charter != most.0);
        let parts = rest.map(|(charter, camp)| {
            let how = self.difference((charter, camp), most, mine.1);
            let what = if charter.list == most.0.list { TERMS } else { LIST };
            if tie.is_some() {
                let (one, other) = (list(most.1), list(camp));
                return format!(
                    "members {one} have one {}, {other} another{how}: give all the same {}",
                    what.0, what.1
                );
            }
            let who: Vec<String> = camp.iter().map(|id| self.called(*id, me)).collect();
            let (who, rest) = (who.join(" and "), list(most.1));
            format!("{who} has another {} than {rest}{how}: correct its {}", what.0, what.1)
        });
        Some(parts.collect::<Vec<String>>().join("; "))
    }

    fn called(&self, id: NodeId, me: NodeId) -> String {
        match self.others.get(&id) {
            _ if id == me => format!("this member, {me},"),
            Some(held) => format!("member {id} at {}", held.from),
            None => format!("member {id}"),
        }
    }

    /// How two camps differ, if both said what they have.
    fn difference(
        &self,
        odd: (&Charter, &Vec<NodeId>),
        most: (&Charter, &Vec<NodeId>),
        mine: &Word,
    ) -> String {
        let word = |camp: &Vec<NodeId>| {
            let of = |id: &NodeId| self.others.get(id).map_or(mine, |held| &held.word);
            camp.iter().map(of).find(|word| word.list.is_some() || word.terms.is_some())
        };
        let (Some(odd_word), Some(most_word)) = (word(odd.1), word(most.1)) else {
            return String::new();
        };
        let texts =
            |word: &Word| if odd.0.list == most.0.list { &word.terms } else { &word.list }.clone();
        let (Some(odd), Some(most)) = (texts(odd_word), texts(most_word)) else {
            return String::new();
        };
        format!(" (it has {}, they have {})", without(&odd, &most), without(&most, &odd))
    }
}

const LIST: (&str, &str) = ("member list", "list");
const TERMS: (&str, &str) = ("protocol or other parameters", "protocol and parameters");

/// What one text has and the other has not.
fn without(one: &str, other: &str) -> String {
    let parts = |text: &str| -> Vec<String> {
        text.split([',', ' ']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let known = parts(other);
    let own: Vec<String> = parts(one).into_iter().filter(|part| !known.contains(part)).collect();
    match own.len() {
        0 => "nothing else".to_owned(),
        1..=3 => own.join(", "),
        more => format!("{} and {} more", own[..3].join(", "), more - 3),
    }
}

fn list(ids: &[NodeId]) -> String {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Kind;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn place(id: u64) -> SocketAddr {
        format!("10.0.0.{id}:7400").parse().unwrap()
    }

    fn word(list: &str) -> Word {
        Word { list: Some(list.to_owned()), terms: Some("t".to_owned()), ..Word::default() }
    }

    const RIGHT: &str = "1=a:1,2=b:1,3=c:1";
    const WRONG: &str = "1=a:1,2=b:2,3=c:1";

    fn charter(text: &str) -> Charter {
        Charter { list: text.len() as u32 + u32::from(text == WRONG), terms: 0 }
    }

    /// A beacon of this member with this list.
    fn hear(disputes: &mut Disputes, id: u64, text: &str) {
        let (sender, charter) = (NodeId(id), charter(text));
        let frame = Opened { sender, incarnation: 1, sequence: 0, kind: Kind::Beacon, charter };
        disputes.differ(&frame, place(id), at(0));
        disputes.explain(sender, word(text));
    }

    #[test]
    fn the_odd_one_is_named_by_every_member_with_the_difference() {
        let difference = "(it has 2=b:2, they have 2=b:1): correct its list";
        // As 1 sees it, with whom 2 agrees.
        let mut disputes = Disputes::default();
        assert_eq!(disputes.odd(NodeId(1), (charter(RIGHT), &word(RIGHT)), &[NodeId(2)]), None);
        hear(&mut disputes, 3, WRONG);
        let mine = (charter(RIGHT), &word(RIGHT));
        let told = disputes.odd(NodeId(1), mine, &[NodeId(2)]).unwrap();
        let expected = "member 3 at 10.0.0.3:7400 has another member list than 1, 2 ";
        assert_eq!(told, format!("{expected}{difference}"));
        // As 3 sees it.
        let mut disputes = Disputes::default();
        let mine = (charter(WRONG), &word(WRONG));
        hear(&mut disputes, 1, RIGHT);
        let told = disputes.odd(NodeId(3), mine, &[]).unwrap();
        assert!(
            told.starts_with("members 1 have one member list, 3 another")
                || told.starts_with("members 3 have one member list, 1 another"),
            "{told}"
        );
        hear(&mut disputes, 2, RIGHT);
        let told = disputes.odd(NodeId(3), mine, &[]).unwrap();
        let expected = "this member, 3, has another member list than 1, 2 ";
        assert_eq!(told, format!("{expected}{difference}"));
        disputes.forget(at(9_000));
        assert_eq!(disputes.odd(NodeId(3), mine, &[]), None);
    }

    #[test]
    fn other_terms_are_told_from_another_list() {
        let mut disputes = Disputes::default();
        let charter = Charter { list: 1, terms: 2 };
        let sender = NodeId(3);
        let frame = Opened { sender, incarnation: 1, sequence: 0, kind: Kind::Beacon, charter };
        disputes.differ(&frame, place(3), at(0));
        disputes.explain(sender, Word { terms: Some("x lock=2".into()), ..Word::default() });
        let mine = Word { terms: Some("x lock=1".into()), ..Word::default() };
        let told = disputes.odd(NodeId(1), (Charter { list: 1, terms: 1 }, &mine), &[NodeId(2)]);
        let told = told.unwrap();
        assert!(told.contains("another protocol or other parameters than 1, 2"), "{told}");
        assert!(told.contains("(it has lock=2, they have lock=1)"), "{told}");
    }

    #[test]
    fn whoever_is_refused_is_told_why_and_for_how_long() {
        let mut disputes = Disputes::default();
        disputes.be_refused(NodeId(2), Refusal::IdTwice, at(0));
        disputes.be_refused(NodeId(2), Refusal::IdTwice, at(2_000));
        let told = disputes.refusing(at(3_000));
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("member 2 refuses us (for 3.0 s): two processes"), "{told:?}");
        disputes.forget(at(5_001));
        assert_eq!(disputes.refusing(at(5_001)), [""; 0]);
    }

    #[test]
    fn a_word_fits_a_beacon_whatever_it_says_and_noise_says_nothing() {
        let objection = |id| Objection {
            id,
            life: u64::MAX,
            why: "former-life".into(),
            from: "[fd00:1111:2222:3333:4444:5555:6666:7777]:65535".parse().unwrap(),
        };
        for length in [10, 1_000, 100_000] {
            let refuses = (0..TOLD as u64).map(|n| objection(u64::MAX - n)).collect();
            let list = Some("x".repeat(length));
            let said = Word { refuses, list, terms: Some("t".repeat(100)) };
            let body = said.clone().encode();
            assert!(!body.is_empty() && body.len() <= BODY_MAX, "{length}: {}", body.len());
            assert_eq!(Word::decode(&body).refuses.first(), said.refuses.first());
        }
        for noise in [&b""[..], b"[]", b"{\"refuses\":7}", &[0xff; 40]] {
            assert_eq!(Word::decode(noise), Word::default());
        }
    }

    #[test]
    fn whoever_speaks_from_everywhere_fills_nothing() {
        let mut disputes = Disputes::default();
        for id in 0..1_000 {
            let charter = Charter { list: id as u32, terms: 0 };
            let sender = NodeId(id);
            let frame = Opened { sender, incarnation: 1, sequence: 0, kind: Kind::Beacon, charter };
            let from = SocketAddr::from(([10, 0, (id / 250) as u8, (id % 250) as u8], 7400));
            disputes.refuse(Refusal::Address, &frame, from, at(0));
            disputes.differ(&frame, from, at(0));
            disputes.be_refused(sender, Refusal::Address, at(0));
        }
        let sizes = (disputes.refused.len(), disputes.others.len(), disputes.refusing.len());
        assert_eq!(sizes, (MOST, MOST, MOST));
        assert_eq!(disputes.refused().len(), TOLD);
    }
}
