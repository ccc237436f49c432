//! Conflicts between members, for people to read: whose frames are dropped, and who has another
//! configuration.
//!
//! **Assumptions.** Only authentic frames are put in.
//!
//! **Promise.** No frame is accepted or dropped because of it. Memory is bounded, and a conflict
//! that is not heard of again is forgotten. What it knows of members with another configuration
//! decides whether this member takes part (`Member::goes_on`).

use crate::frame::{BODY_MAX, ConfigDigest, DropReason, Opened};
use crate::peers::Peers;
use crate::report::list;
use crate::settings::readable;
use bellwether_core::{Duration, Instant, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// The body of a beacon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BeaconBody {
    /// The processes whose frames the sender drops.
    #[serde(default)]
    pub(crate) refuses: Vec<Rejection>,
    /// Its member list as text; absent if that does not fit.
    #[serde(default)]
    pub(crate) list: Option<String>,
    /// Its protocol and parameters as text.
    #[serde(default)]
    pub(crate) terms: Option<String>,
    /// Whether the members that agree with it, and were heard lately, could have a leader.
    #[serde(default)]
    pub(crate) stands: Option<bool>,
    /// Whether it takes no part. Those that agree with it then answer, so that it knows of them.
    #[serde(default)]
    pub(crate) withdrawn: bool,
}

/// A process whose frames are dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rejection {
    pub(crate) id: u64,
    /// The incarnation of the process; no other one is meant.
    pub(crate) life: u64,
    /// The name of the reason.
    pub(crate) why: String,
    /// Its address.
    pub(crate) from: SocketAddr,
}

impl BeaconBody {
    /// The bytes of the body. If they do not fit, the longest parts are left out.
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

    /// Reads the body of a beacon. An empty or unreadable one gives the default.
    pub(crate) fn decode(body: &[u8]) -> Self {
        serde_json::from_slice(body).unwrap_or_default()
    }
}

/// All conflicts that one member knows of.
#[derive(Debug, Default)]
pub(crate) struct Disputes {
    /// The processes whose frames this member drops, by address.
    refused: BTreeMap<SocketAddr, (Rejection, Instant)>,
    /// The members that drop this member's frames: why, since when, and when that was last heard.
    refusing: BTreeMap<NodeId, (DropReason, Instant, Instant)>,
    /// The members with another list or other terms.
    others: BTreeMap<NodeId, OtherConfig>,
}

/// The configuration of another member.
#[derive(Clone, Debug)]
struct OtherConfig {
    digest: ConfigDigest,
    from: SocketAddr,
    at: Instant,
    body: BeaconBody,
}

/// The most entries of each kind.
const MOST: usize = 64;
/// The most rejections in a beacon.
const TOLD: usize = 6;
/// A conflict not heard of for this long is over: beacons come twice a second.
const OVER: Duration = Duration::from_secs(3);

impl Disputes {
    /// Notes that frames of a process are dropped.
    pub(crate) fn refuse(
        &mut self,
        why: DropReason,
        frame: &Opened,
        from: SocketAddr,
        now: Instant,
    ) {
        if self.refused.len() < MOST || self.refused.contains_key(&from) {
            let (id, life) = (frame.sender.0, frame.incarnation);
            let rejection = Rejection { id, life, why: why.name().to_owned(), from };
            self.refused.insert(from, (rejection, now));
        }
    }

    /// Notes that another member drops this member's frames.
    pub(crate) fn be_refused(&mut self, by: NodeId, why: DropReason, now: Instant) {
        if self.refusing.len() < MOST || self.refusing.contains_key(&by) {
            let known = self.refusing.entry(by).or_insert((why, now, now));
            let since = if known.0 == why { known.1 } else { now };
            *known = (why, since, now);
        }
    }

    /// Notes that another member has another list or other terms; returns whether that was known.
    /// What it said of them stays known.
    pub(crate) fn differ(&mut self, frame: &Opened, from: SocketAddr, now: Instant) -> bool {
        let (digest, at, full) = (frame.digest, now, self.others.len() >= MOST);
        match self.others.get_mut(&frame.sender) {
            Some(other) if other.digest == digest => {
                (other.from, other.at) = (from, at);
                return true;
            }
            None if full => {}
            _ => {
                let other = OtherConfig { digest, from, at, body: BeaconBody::default() };
                self.others.insert(frame.sender, other);
            }
        }
        false
    }

    /// Whether this member has another configuration.
    pub(crate) fn has_other(&self, id: NodeId) -> bool {
        self.others.contains_key(&id)
    }

    /// The members with this configuration that were heard, and those that their lists name.
    pub(crate) fn camp(&self, digest: ConfigDigest) -> BTreeSet<NodeId> {
        let camp = || self.others.iter().filter(|(_, other)| other.digest == digest);
        let lists = camp().filter_map(|(_, other)| other.body.list.as_ref()?.parse().ok());
        let ids = |peers| match peers {
            Peers::Listed(list) => list.into_keys().collect(),
            _ => Vec::new(),
        };
        lists.flat_map(ids).chain(camp().map(|(id, _)| *id)).collect()
    }

    /// Whether all members with this configuration that were heard say that they could have no
    /// leader.
    pub(crate) fn falls_short(&self, digest: ConfigDigest) -> bool {
        let mut camp = self.others.values().filter(|other| other.digest == digest);
        camp.all(|other| other.body.stands == Some(false))
    }

    /// Notes the list and the terms of such a member.
    pub(crate) fn explain(&mut self, sender: NodeId, body: BeaconBody) {
        if let Some(other) = self.others.get_mut(&sender) {
            other.body = body;
        }
    }

    /// Forgets conflicts that are over.
    pub(crate) fn forget(&mut self, now: Instant) {
        self.refused.retain(|_, (_, at)| now.since(*at) <= OVER);
        self.refusing.retain(|_, (_, _, at)| now.since(*at) <= OVER);
        self.others.retain(|_, other| now.since(other.at) <= OVER);
    }

    /// The processes whose frames this member drops, the latest first.
    pub(crate) fn refused(&self) -> Vec<Rejection> {
        let mut all: Vec<_> = self.refused.values().collect();
        all.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
        all.into_iter().take(TOLD).map(|(rejection, _)| rejection.clone()).collect()
    }

    /// The members that drop this member's frames, in words.
    pub(crate) fn refusing(&self, now: Instant) -> Vec<String> {
        let told = |(by, (why, since, _)): (&NodeId, &(DropReason, Instant, Instant))| {
            let seconds = now.since(*since).as_nanos() as f64 / 1e9;
            format!("member {by} refuses us (for {seconds:.1} s): {why}")
        };
        self.refusing.iter().map(told).collect()
    }

    /// Says which members have another list or other terms than the rest, and how they differ. This
    /// member, `me`, has `mine`, and so have the members that `agree`.
    pub(crate) fn odd(
        &self,
        me: NodeId,
        mine: (ConfigDigest, &BeaconBody),
        agree: &[NodeId],
    ) -> Option<String> {
        let mut camps: BTreeMap<ConfigDigest, Vec<NodeId>> = BTreeMap::new();
        camps.insert(mine.0, agree.iter().copied().filter(|id| *id != me).chain([me]).collect());
        for (id, other) in &self.others {
            camps.get_mut(&mine.0).into_iter().for_each(|camp| camp.retain(|agrees| agrees != id));
            camps.entry(other.digest).or_default().push(*id);
        }
        if camps.len() < 2 {
            return None;
        }
        camps.values_mut().for_each(|camp| camp.sort_unstable());
        let largest = camps.values().map(Vec::len).max().unwrap_or(0);
        let mut first = camps.iter().filter(|(_, camp)| camp.len() == largest);
        let (most, tie) = (first.next()?, first.next());
        let rest = camps.iter().filter(|(digest, _)| *digest != most.0);
        let parts = rest.map(|(digest, camp)| {
            let difference = self.difference((digest, camp), most, mine.1);
            let what = if digest.list == most.0.list { TERMS } else { LIST };
            if tie.is_some() {
                let (one, other) = (list(most.1), list(camp));
                let how = difference.map_or_else(String::new, |(odd, most)| {
                    format!(" ({one}: {most}; {other}: {odd})")
                });
                let (members, have) =
                    if most.1.len() == 1 { ("member", "has") } else { ("members", "have") };
                return format!(
                    "{members} {one} {have} one {}, {other} another{how}: give all the same {}",
                    what.0, what.1
                );
            }
            let who: Vec<String> = camp.iter().map(|id| self.called(*id, me)).collect();
            let (who, rest) = (who.join(" and "), list(most.1));
            let [has, it, they, its] = match camp.len() {
                1 => ["has", "it has", "they have", "its"],
                _ => ["have", "they have", "the others have", "their"],
            };
            let how = difference
                .map_or_else(String::new, |(odd, most)| format!(" ({it} {odd}, {they} {most})"));
            format!("{who} {has} another {} than {rest}{how}: correct {its} {}", what.0, what.1)
        });
        Some(parts.collect::<Vec<String>>().join("; "))
    }

    fn called(&self, id: NodeId, me: NodeId) -> String {
        match self.others.get(&id) {
            _ if id == me => format!("this member, {me},"),
            Some(other) => format!("member {id} at {}", other.from),
            None => format!("member {id}"),
        }
    }

    /// What each of two groups of members has and the other has not, if both sent their
    /// configuration.
    fn difference(
        &self,
        odd: (&ConfigDigest, &Vec<NodeId>),
        most: (&ConfigDigest, &Vec<NodeId>),
        mine: &BeaconBody,
    ) -> Option<(String, String)> {
        let body = |camp: &Vec<NodeId>| {
            let of = |id: &NodeId| self.others.get(id).map_or(mine, |other| &other.body);
            camp.iter().map(of).find(|body| body.list.is_some() || body.terms.is_some())
        };
        let text = |body: &BeaconBody| match odd.0.list == most.0.list {
            true => body.terms.as_deref().map(readable),
            false => body.list.clone(),
        };
        let (odd, most) = (text(body(odd.1)?)?, text(body(most.1)?)?);
        Some((without(&odd, &most), without(&most, &odd)))
    }
}

const LIST: (&str, &str) = ("member list", "list");
const TERMS: (&str, &str) = ("protocol or other parameters", "protocol and parameters");

/// The parts of one text that the other does not have.
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

    fn body(list: &str) -> BeaconBody {
        BeaconBody {
            list: Some(list.to_owned()),
            terms: Some("t".to_owned()),
            ..BeaconBody::default()
        }
    }

    const RIGHT: &str = "1=a:1,2=b:1,3=c:1";
    const WRONG: &str = "1=a:1,2=b:2,3=c:1";

    fn digest(text: &str) -> ConfigDigest {
        ConfigDigest { list: text.len() as u32 + u32::from(text == WRONG), terms: 0 }
    }

    /// A beacon of this member.
    fn beacon(sender: NodeId, digest: ConfigDigest) -> Opened {
        let (incarnation, sequence, for_all, kind) = (1, 0, true, Kind::Beacon);
        Opened { sender, incarnation, sequence, for_all, kind, digest }
    }

    /// Receives a beacon of this member with this list.
    fn hear(disputes: &mut Disputes, id: u64, text: &str) {
        disputes.differ(&beacon(NodeId(id), digest(text)), place(id), at(0));
        disputes.explain(NodeId(id), body(text));
    }

    #[test]
    fn the_odd_one_is_named_by_every_member_with_the_difference() {
        let difference = "(it has 2=b:2, they have 2=b:1): correct its list";
        // As 1 sees it, with whom 2 agrees.
        let mut disputes = Disputes::default();
        assert_eq!(disputes.odd(NodeId(1), (digest(RIGHT), &body(RIGHT)), &[NodeId(2)]), None);
        hear(&mut disputes, 3, WRONG);
        let mine = (digest(RIGHT), &body(RIGHT));
        let told = disputes.odd(NodeId(1), mine, &[NodeId(2)]).unwrap();
        let expected = "member 3 at 10.0.0.3:7400 has another member list than 1, 2 ";
        assert_eq!(told, format!("{expected}{difference}"));
        // As 3 sees it.
        let mut disputes = Disputes::default();
        let mine = (digest(WRONG), &body(WRONG));
        hear(&mut disputes, 1, RIGHT);
        let told = disputes.odd(NodeId(3), mine, &[]).unwrap();
        let tied = |one: u64, its: &str, other: u64, has: &str| {
            format!(
                "member {one} has one member list, {other} another ({one}: {its}; {other}: {has}): \
                 give all the same list"
            )
        };
        assert!(
            [tied(1, "2=b:1", 3, "2=b:2"), tied(3, "2=b:2", 1, "2=b:1")].contains(&told),
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
    fn several_odd_ones_are_named_together() {
        let mut disputes = Disputes::default();
        [4, 5].iter().for_each(|id| hear(&mut disputes, *id, WRONG));
        let mine = (digest(RIGHT), &body(RIGHT));
        assert_eq!(
            disputes.odd(NodeId(1), mine, &[NodeId(2), NodeId(3)]).unwrap(),
            "member 4 at 10.0.0.4:7400 and member 5 at 10.0.0.5:7400 have another member list than \
             1, 2, 3 (they have 2=b:2, the others have 2=b:1): correct their list"
        );
    }

    #[test]
    fn other_terms_are_told_from_another_list_with_times_in_seconds() {
        let mut disputes = Disputes::default();
        disputes.differ(&beacon(NodeId(3), ConfigDigest { list: 1, terms: 2 }), place(3), at(0));
        let with = |terms: &str| BeaconBody { terms: Some(terms.into()), ..BeaconBody::default() };
        disputes.explain(NodeId(3), with("x lock=200000000 error=100000"));
        let mine = with("x lock=150000000 error=100000");
        let told =
            disputes.odd(NodeId(1), (ConfigDigest { list: 1, terms: 1 }, &mine), &[NodeId(2)]);
        let told = told.unwrap();
        assert!(told.contains("another protocol or other parameters than 1, 2"), "{told}");
        assert!(told.contains("(it has lock=0.2s, they have lock=0.15s)"), "{told}");
    }

    #[test]
    fn whoever_is_refused_is_told_why_and_for_how_long() {
        let mut disputes = Disputes::default();
        disputes.be_refused(NodeId(2), DropReason::IdTwice, at(0));
        disputes.be_refused(NodeId(2), DropReason::IdTwice, at(2_000));
        let told = disputes.refusing(at(3_000));
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("member 2 refuses us (for 3.0 s): two processes"), "{told:?}");
        disputes.forget(at(5_001));
        assert_eq!(disputes.refusing(at(5_001)), [""; 0]);
    }

    #[test]
    fn a_word_fits_a_beacon_whatever_it_says_and_noise_says_nothing() {
        let rejection = |id| Rejection {
            id,
            life: u64::MAX,
            why: "former-life".into(),
            from: "[fd00:1111:2222:3333:4444:5555:6666:7777]:65535".parse().unwrap(),
        };
        for length in [10, 1_000, 100_000] {
            let refuses = (0..TOLD as u64).map(|n| rejection(u64::MAX - n)).collect();
            let list = Some("x".repeat(length));
            let terms = Some("t".repeat(100));
            let said = BeaconBody { refuses, list, terms, ..BeaconBody::default() };
            let body = said.clone().encode();
            assert!(!body.is_empty() && body.len() <= BODY_MAX, "{length}: {}", body.len());
            assert_eq!(BeaconBody::decode(&body).refuses.first(), said.refuses.first());
        }
        for noise in [&b""[..], b"[]", b"{\"refuses\":7}", &[0xff; 40]] {
            assert_eq!(BeaconBody::decode(noise), BeaconBody::default());
        }
    }

    #[test]
    fn whoever_speaks_from_everywhere_fills_nothing() {
        let mut disputes = Disputes::default();
        for id in 0..1_000 {
            let sender = NodeId(id);
            let frame = beacon(sender, ConfigDigest { list: id as u32, terms: 0 });
            let from = SocketAddr::from(([10, 0, (id / 250) as u8, (id % 250) as u8], 7400));
            disputes.refuse(DropReason::Address, &frame, from, at(0));
            disputes.differ(&frame, from, at(0));
            disputes.be_refused(sender, DropReason::Address, at(0));
        }
        let sizes = (disputes.refused.len(), disputes.others.len(), disputes.refusing.len());
        assert_eq!(sizes, (MOST, MOST, MOST));
        assert_eq!(disputes.refused().len(), TOLD);
    }
}
