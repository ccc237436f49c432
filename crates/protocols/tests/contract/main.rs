//! What every protocol owes the contract, held of every row of the table.
//!
//! | file | what it holds |
//! |---|---|
//! | [`rows`] | every protocol, with its defaults and with each setting below that it knows |
//! | [`twin`] | a process twice, as a node and behind bytes: whatever happens, both do the same |
//! | [`group`] | a group of twins, its clocks, its messages and its story |
//! | [`datagrams`] | no bytes make a protocol panic |
//! | [`pages`] | the docs of a protocol name its own parameters |
//!
//! This file has the properties. A protocol that joins the table is held to them from then on.

mod datagrams;
mod group;
mod pages;
mod rows;
mod twin;

use bellwether_core::harness::{Harness, assert_survives_the_wire};
use bellwether_core::{
    Boot, Candidacy, Command, Duration, Env, Instant, Members, Memory, NodeId, Protocol, Seeded,
    Slots, TimerKind, Visitor, endpoint,
};
use bellwether_protocols::choice::{PROTOCOLS, message_kind, message_kinds};
use bellwether_protocols::detect;
use bellwether_protocols::purpose::MessageKind;
use group::{Clocks, Group};
use rows::{Row, rows};

/// Does the same to every row, and names the one that fails.
fn for_each_row<V: Visitor>(visitor: impl Fn(&Row) -> V, mut each: impl FnMut(&Row, V::Output)) {
    for row in rows() {
        println!("{row}");
        each(&row, row.choice.clone().visit(visitor(&row)));
    }
}

/// Every step of the story is compared in [`twin`].
struct NodesAndEndpointsAgree;

impl Visitor for NodesAndEndpointsAgree {
    type Output = (usize, usize);

    fn visit<P: Protocol>(self, params: P::Params) -> (usize, usize) {
        let mut group = Group::<P>::new(5, params, Clocks::Apart);
        group.story();
        (group.sent(), group.log().len())
    }
}

#[test]
fn a_node_and_an_endpoint_do_the_same_in_every_step() {
    for_each_row(
        |_| NodesAndEndpointsAgree,
        |row, (sent, beliefs)| {
            assert!(sent > 0 && beliefs > 5, "{row}: {sent} messages, {beliefs} beliefs");
        },
    );
}

struct RunsAreRepeated;

impl Visitor for RunsAreRepeated {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let run = || {
            let mut group = Group::<P>::new(4, params.clone(), Clocks::Agree);
            group.story();
            (group.log().to_vec(), group.rebased())
        };
        assert_eq!(run(), run(), "{} has a source of chance that it was not given", P::NAME);
    }
}

#[test]
fn the_same_draws_lead_to_the_same_run() {
    for_each_row(|_| RunsAreRepeated, |_, ()| {});
}

struct DatesDoNotMatter {
    compares_clocks: bool,
}

impl Visitor for DatesDoNotMatter {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let at = |clocks| {
            let mut group = Group::<P>::new(5, params.clone(), clocks);
            group.story();
            group.rebased()
        };
        let early = at(Clocks::Agree);
        assert_eq!(early, at(Clocks::DayLater), "{} keeps an instant from its rebase", P::NAME);
        if !self.compares_clocks {
            assert_eq!(early, at(Clocks::Apart), "{} takes another's instant for its own", P::NAME);
        }
    }
}

#[test]
fn the_same_states_at_different_dates_and_on_different_clocks_coincide() {
    let compares_clocks = |row: &Row| DatesDoNotMatter { compares_clocks: row.compares_clocks() };
    for_each_row(compares_clocks, |_, ()| {});
}

struct MessagesSurvive;

impl Visitor for MessagesSurvive {
    type Output = Vec<&'static str>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<&'static str> {
        let mut group = Group::<P>::new(5, params, Clocks::Apart);
        group.story();
        let samples = group.samples();
        samples.values().flatten().for_each(assert_survives_the_wire);
        samples.keys().copied().collect()
    }
}

#[test]
fn whatever_is_said_survives_the_wire_and_nothing_cut_short_does() {
    for_each_row(|_| MessagesSurvive, |row, kinds| assert!(!kinds.is_empty(), "{row}"));
}

#[test]
fn whatever_is_said_is_for_something_and_for_the_same_in_every_protocol() {
    let looked_up = |row: &Row, kinds: Vec<&str>| {
        let entry = PROTOCOLS.iter().find(|entry| entry.name == row.name).expect("a row");
        let own = entry.family.messages().iter();
        let named: Vec<_> = own.filter(|kind| kinds.contains(&kind.name)).collect();
        let layer = |kind: &&str| detect::MESSAGES.iter().any(|known| known.name == *kind);
        for kind in kinds.into_iter().filter(|kind| !layer(kind)) {
            assert!(named.iter().any(|known| known.name == kind), "{row}: {kind} is not named");
        }
        for (place, kind) in named.iter().enumerate() {
            let same = |other: &&&MessageKind| {
                (other.purpose, other.variety) == (kind.purpose, kind.variety)
            };
            assert!(
                named[..place].iter().find(same).is_none(),
                "{row}: {kind:?} looks like another"
            );
        }
    };
    for_each_row(|_| MessagesSurvive, looked_up);
    message_kinds().for_each(|kind| assert_eq!(message_kind(kind.name), Some(kind)));
}

struct TimersHaveSlots;

impl Visitor for TimersHaveSlots {
    type Output = ();

    fn visit<P: Protocol>(self, _params: P::Params) {
        for slot in 0..<<P::Timer as TimerKind>::Slots as Slots>::LEN {
            assert_eq!(P::Timer::at(slot).slot(), slot, "{}", P::NAME);
        }
    }
}

#[test]
fn every_kind_of_timer_has_the_slot_that_it_is_found_in() {
    for_each_row(|_| TimersHaveSlots, |_, ()| {});
}

struct IsOnDemand;

impl Visitor for IsOnDemand {
    type Output = bool;

    fn visit<P: Protocol>(self, _params: P::Params) -> bool {
        P::ON_DEMAND
    }
}

#[test]
fn the_type_and_the_profile_agree_on_who_begins_an_election() {
    let agree =
        |row: &Row, on_demand| assert_eq!(on_demand, row.choice.profile().on_demand, "{row}");
    for_each_row(|_| IsOnDemand, agree);
}

const COMMANDS: [Command; 5] = [
    Command::Campaign,
    Command::Resign,
    Command::Transfer(NodeId(2)),
    Command::Leave,
    Command::Rank(9),
];

struct RefusalsAreFree;

impl Visitor for RefusalsAreFree {
    type Output = Vec<Command>;

    /// Gives every command to a process that has just begun; those it refused.
    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Command> {
        let peers = Members::from_iter([2, 3].map(NodeId));
        let refused = |command: &Command| {
            let (boot, luck) = (Boot::first(NodeId(1)), Seeded::new(7));
            let start = Instant::ZERO;
            // A harness fails if a process changes and refuses.
            let mut process =
                Harness::<P, _>::begin(boot, params.clone(), peers.clone(), start, luck);
            process.command(*command).is_err()
        };
        COMMANDS.into_iter().filter(refused).collect()
    }
}

#[test]
fn a_refused_command_changes_nothing() {
    for_each_row(
        |_| RefusalsAreFree,
        |row, refused| {
            // Nobody leads here, so nobody can hand over; and everybody may leave.
            let transfer = Command::Transfer(NodeId(2));
            assert!(refused.contains(&transfer), "{row}: who does not lead hands nothing over");
            assert!(
                !refused.contains(&Command::Leave),
                "{row}: on_command must accept Leave, if only with Ok(())"
            );
        },
    );
}

struct AnyMemoryWillDo;

impl Visitor for AnyMemoryWillDo {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let peers = Members::from_iter([2, 3].map(NodeId));
        let garbage = [[0xff; 64].as_slice(), &[], &[0; 3]];
        let kept = garbage.into_iter().map(Memory::Kept);
        for memory in kept.chain([Memory::First, Memory::Lost]) {
            for (incarnation, rank) in [(1, 0), (2, u64::MAX), (u64::MAX, 1 << 63)] {
                let mut luck = Seeded::new(incarnation);
                let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut luck };
                let candidacy = Candidacy { priority: rank as u32, witness: incarnation == 2 };
                let boot = Boot { me: NodeId(1), incarnation, rank, candidacy, memory };
                let mut process = endpoint::<P>(boot, &mut env, params.clone());
                for _ in 0..20 {
                    env.now = process.poll_timeout().min(env.now + Duration::from_secs(1));
                    process.timeout(&mut env);
                    assert!(process.leadership(env.now).until > env.now);
                }
            }
        }
    }
}

#[test]
fn whatever_is_left_of_a_former_life_a_process_begins() {
    for_each_row(|_| AnyMemoryWillDo, |_, ()| {});
}

#[test]
fn the_table_is_whole_and_every_setting_is_known_to_somebody() {
    let (rows, plain) = (rows(), |row: &&Row| row.setting == "{}");
    assert_eq!(rows.iter().filter(plain).count(), PROTOCOLS.len());
    for setting in rows::SETTINGS {
        assert!(rows.iter().any(|row| row.setting == *setting), "{setting}");
    }
}
