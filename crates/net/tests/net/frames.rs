//! Frames as members and their enemies meet them: what passes, what does not and why, and that
//! what does not pass changes nothing.

use bellwether_core::{Entropy, NodeId, Seeded};
use bellwether_net::frame::{
    BODY_MAX, ConfigDigest, Counters, DropReason, DroppedFrame, FRAME_MAX, FrameOpener, Keyring,
    Kind, NotSealed, Opened, Sealer, Session, latest_life,
};
use std::collections::BTreeSet;

/// Header and tag: the length of a frame without a body.
const FRAME_MIN: usize = FRAME_MAX - BODY_MAX;

/// What a member is started with.
#[derive(Clone)]
struct Member {
    group: &'static str,
    id: u64,
    incarnation: u64,
    session: Session,
    digest: ConfigDigest,
    keyring: Keyring,
}

impl Member {
    fn new(id: u8) -> Self {
        Self {
            group: "jobs",
            id: id.into(),
            incarnation: 3,
            session: Session([id; 8]),
            digest: digest(&["1=a", "2=b"], "le-s"),
            keyring: ring("a"),
        }
    }

    fn sealer(&self) -> Sealer {
        let Self { group, id, incarnation, session, digest, keyring } = self;
        Sealer::new(group, NodeId(*id), *incarnation, *session, *digest, keyring)
    }

    fn opener(&self) -> FrameOpener {
        let Self { group, id, incarnation, session, digest, keyring } = self;
        FrameOpener::new(group, NodeId(*id), *incarnation, *session, *digest, keyring)
    }
}

fn digest(members: &[&'static str], terms: &str) -> ConfigDigest {
    let pair = |member: &&'static str| {
        let (id, address) = member.split_once('=').expect("tests write id=address");
        (NodeId(id.parse().expect("tests write id=address")), address)
    };
    ConfigDigest::listed(members.iter().map(pair), terms)
}

/// A ring with one made-up key for each digit.
fn ring(digits: &str) -> Keyring {
    let line = |digit: char| format!("bwk1-{}\n", String::from(digit).repeat(64));
    Keyring::parse(&digits.chars().map(line).collect::<String>()).expect("tests write good keys")
}

fn seal(sealer: &mut Sealer, body: &[u8]) -> Vec<u8> {
    seal_for(None, sealer, body)
}

fn seal_for(receiver: Option<u64>, sealer: &mut Sealer, body: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let receiver = receiver.map(NodeId);
    sealer.seal(Kind::Message, receiver, body, &mut frame).expect("tests write short bodies");
    frame
}

fn anybody(_sender: NodeId) -> Result<(), DropReason> {
    Ok(())
}

fn open(opener: &mut FrameOpener, datagram: &[u8]) -> Result<(Opened, Vec<u8>), DroppedFrame> {
    let mut body = b"left over".to_vec();
    let opened = opener.open(datagram, &anybody, &mut body)?;
    Ok((opened, body))
}

/// All that decides what passes: everything but what was objected to and what may be opened for
/// the telling, which are shown last.
fn decisive(opener: &FrameOpener) -> String {
    let shown = format!("{opener:?}");
    let (decisive, _) = shown.split_once(", objected: ").expect("the opener has this field");
    decisive.to_owned()
}

/// The opener but for what may be opened for the telling.
fn lasting(opener: &FrameOpener) -> String {
    let shown = format!("{opener:?}");
    let (lasting, _) = shown.split_once(", spare: ").expect("the opener has this field");
    lasting.to_owned()
}

/// Why this datagram is refused. Holds each reason to what all of them promise.
fn refused(opener: &mut FrameOpener, datagram: &[u8]) -> DropReason {
    refused_by(&anybody, opener, datagram)
}

fn refused_by(
    admits: &dyn Fn(NodeId) -> Result<(), DropReason>,
    opener: &mut FrameOpener,
    datagram: &[u8],
) -> DropReason {
    opener.refresh(latest_life(0));
    dropped_by(admits, opener, datagram).reason
}

fn dropped_by(
    admits: &dyn Fn(NodeId) -> Result<(), DropReason>,
    opener: &mut FrameOpener,
    datagram: &[u8],
) -> DroppedFrame {
    let (all, decides) = (lasting(opener), decisive(opener));
    let mut body = b"left over".to_vec();
    let dropped = opener.open(datagram, admits, &mut body).expect_err("it passed");
    let reason = dropped.reason;
    assert_eq!(body, b"", "{reason}: nothing of it is handed out");
    assert_eq!(decisive(opener), decides, "{reason}");
    let acted_on = matches!(reason, DropReason::OwnId | DropReason::List | DropReason::Terms);
    assert!(!acted_on || dropped.authentic.is_some(), "{reason}: only of an authentic frame");
    if dropped.authentic.is_none() {
        assert_eq!(lasting(opener), all, "{reason}");
    }
    let mut counters = Counters::default();
    counters.count(reason);
    assert_eq!((counters.of(reason), counters.total()), (1, 1));
    dropped
}

#[test]
fn what_is_sealed_is_opened() {
    let (mut sealer, mut opener) = (Member::new(1).sealer(), Member::new(2).opener());
    let mut frame = b"left over".to_vec();
    let lengths = [0, 1, 63, 64, 65, BODY_MAX - 1, BODY_MAX];
    for (sequence, length) in (0..).zip(lengths) {
        let kind = if sequence % 2 == 0 { Kind::Message } else { Kind::Beacon };
        let body = vec![0xa5; length];
        let receiver = [None, Some(NodeId(2))][length % 2];
        assert_eq!(sealer.seal(kind, receiver, &body, &mut frame), Ok(sequence));
        assert_eq!(frame.len(), FRAME_MIN + length);
        let (digest, for_all) = (Member::new(1).digest, receiver.is_none());
        let expected =
            Opened { sender: NodeId(1), incarnation: 3, sequence, for_all, kind, digest };
        assert_eq!(open(&mut opener, &frame), Ok((expected, body)));
    }
    assert_eq!(frame.len(), FRAME_MAX);
}

#[test]
fn a_body_that_does_not_fit_is_refused_with_both_sizes() {
    let mut sealer = Member::new(1).sealer();
    let mut out = b"as before".to_vec();
    let error = sealer.seal(Kind::Message, None, &[0; BODY_MAX + 1], &mut out).unwrap_err();
    assert_eq!(error, NotSealed::TooLong { body: 1137, body_max: 1136 });
    let text = error.to_string();
    assert!(text.contains("1137") && text.contains("1136"), "{text}");
    assert_eq!(out, b"as before");
    assert_eq!(sealer.seal(Kind::Message, None, b"", &mut out), Ok(0), "no number is lost");
}

#[test]
fn no_noise_of_any_length_passes() {
    let mut opener = Member::new(2).opener();
    let ours = seal(&mut Member::new(1).sealer(), b"");
    let mut random = Seeded::new(1);
    for length in 0..=1500 {
        let unless_by_length = |reason| match length {
            _ if length < FRAME_MIN => DropReason::Short,
            _ if length > FRAME_MAX => DropReason::Long,
            _ => reason,
        };
        let mut bytes = vec![0; length];
        assert_eq!(refused(&mut opener, &bytes), unless_by_length(DropReason::Magic));
        bytes.fill_with(|| random.below(256) as u8);
        assert_eq!(refused(&mut opener, &bytes), unless_by_length(DropReason::Magic));
        let known = length.min(16); // from the magic to the group: all that needs no secret
        bytes[..known].copy_from_slice(&ours[..known]);
        let expected = unless_by_length(DropReason::Receiver);
        assert_eq!(refused(&mut opener, &bytes), expected, "chance names no receiver");
        let known = length.min(32); // up to the receiver: for everyone
        bytes[..known].copy_from_slice(&ours[..known]);
        let found = refused(&mut opener, &bytes);
        assert_eq!(found, unless_by_length(DropReason::Forged));
    }
    assert!(open(&mut opener, &ours).is_ok());
}

#[test]
fn no_shorter_or_longer_frame_passes() {
    let mut opener = Member::new(2).opener();
    let frame = seal(&mut Member::new(1).sealer(), &[7; 100]);
    for cut in 1..=frame.len() {
        let left = frame.len() - cut;
        let unless_short = |reason| if left < FRAME_MIN { DropReason::Short } else { reason };
        assert_eq!(refused(&mut opener, &frame[..left]), unless_short(DropReason::Forged));
        assert_eq!(refused(&mut opener, &frame[cut..]), unless_short(DropReason::Magic));
    }
    let mut longer = frame.clone();
    while longer.len() < FRAME_MAX {
        longer.push(0);
        assert_eq!(refused(&mut opener, &longer), DropReason::Forged);
    }
    longer.push(0);
    assert_eq!(refused(&mut opener, &longer), DropReason::Long);
    assert!(open(&mut opener, &frame).is_ok());
}

#[test]
fn no_frame_with_a_flipped_bit_passes() {
    let mut opener = Member::new(2).opener();
    let mut frame = seal(&mut Member::new(1).sealer(), b"forty-two");
    for bit in 0..frame.len() * 8 {
        let expected = match bit / 8 {
            0..2 => DropReason::Magic,
            2 => DropReason::Version,
            4..8 => DropReason::Key,
            8..16 => DropReason::Group,
            16..32 => DropReason::Receiver, // for everyone, if both are the same
            _ => DropReason::Forged,
        };
        frame[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(refused(&mut opener, &frame), expected, "bit {bit}");
        frame[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(open(&mut opener, &frame).is_ok());
}

#[test]
fn another_key_or_group_is_refused() {
    let mut opener = Member::new(2).opener();
    let key = Member { keyring: ring("b"), ..Member::new(1) };
    assert_eq!(refused(&mut opener, &seal(&mut key.sealer(), b"")), DropReason::Key);
    let group = Member { group: "jobs2", ..Member::new(1) };
    let mut frame = seal(&mut group.sealer(), b"");
    assert_eq!(refused(&mut opener, &frame), DropReason::Group);
    let ours = seal(&mut Member::new(1).sealer(), b"");
    frame[8..16].copy_from_slice(&ours[8..16]); // even if somebody says it is of this group
    assert_eq!(refused(&mut opener, &frame), DropReason::Key);
    frame[4..8].copy_from_slice(&ours[4..8]); // and sealed with its key
    assert_eq!(refused(&mut opener, &frame), DropReason::Forged);
}

#[test]
fn a_group_with_a_secret_and_one_without_never_hear_each_other() {
    let keyed = Member::new(1);
    let public = Member { keyring: Keyring::insecure(), ..Member::new(2) };
    for (from, to) in [(&keyed, &public), (&public, &keyed)] {
        assert_eq!(refused(&mut to.opener(), &seal(&mut from.sealer(), b"")), DropReason::Key);
    }
    let other = Member { keyring: Keyring::insecure(), ..Member::new(1) };
    assert!(open(&mut other.opener(), &seal(&mut public.sealer(), b"")).is_ok());
}

#[test]
fn the_caller_has_its_say_before_the_window_and_nothing_is_forged_for_it() {
    let mut opener = Member::new(2).opener();
    let mut sealer = Member::new(1).sealer();
    let frame = seal(&mut sealer, b"");
    for reason in [DropReason::Stranger, DropReason::Address] {
        let admits = |sender| if sender == NodeId(1) { Err(reason) } else { Ok(()) };
        assert_eq!(refused_by(&admits, &mut opener, &frame), reason);
    }
    let mut forged = seal(&mut sealer, b"");
    forged[90] ^= 1;
    let admits = |_| Err(DropReason::Address);
    assert_eq!(refused_by(&admits, &mut opener, &forged), DropReason::Forged);
    assert!(open(&mut opener, &frame).is_ok());
}

/// All orders of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut orders = vec![vec![]];
    for thing in 0..count {
        let with_it = |order: &Vec<usize>, place: usize| {
            let mut order = order.clone();
            order.insert(place, thing);
            order
        };
        let each = |order| (0..=thing).map(move |place| with_it(order, place));
        orders = orders.iter().flat_map(each).collect();
    }
    orders
}

#[test]
fn in_whatever_order_frames_come_each_passes_once() {
    let mut sealer = Member::new(1).sealer();
    let frames: Vec<_> = (0..5).map(|number| seal(&mut sealer, &[number])).collect();
    let orders = orders(frames.len());
    assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 120);
    for order in orders {
        let mut opener = Member::new(2).opener();
        for (count, &place) in order.iter().enumerate() {
            let (opened, body) = open(&mut opener, &frames[place]).expect("it is new");
            assert_eq!((opened.sequence, body), (place as u64, vec![place as u8]));
            for &former in &order[..=count] {
                assert_eq!(refused(&mut opener, &frames[former]), DropReason::Replayed);
            }
        }
    }
}

#[test]
fn a_frame_far_behind_the_latest_counts_as_replayed() {
    let mut sealer = Member::new(1).sealer();
    let frames: Vec<_> = (0..=1024).map(|_| seal(&mut sealer, b"")).collect();
    let mut opener = Member::new(2).opener();
    assert!(open(&mut opener, &frames[1024]).is_ok());
    assert_eq!(refused(&mut opener, &frames[0]), DropReason::Replayed);
    assert!(open(&mut opener, &frames[1]).is_ok());
}

#[test]
fn a_life_that_is_over_is_not_heard_again() {
    let former = seal(&mut Member::new(1).sealer(), b"");
    let later = Member { incarnation: 4, session: Session([40; 8]), ..Member::new(1) };
    let (mut later, mut opener) = (later.sealer(), Member::new(2).opener());
    assert!(open(&mut opener, &seal(&mut later, b"")).is_ok());
    assert_eq!(refused(&mut opener, &former), DropReason::FormerLife);
    assert!(open(&mut opener, &seal(&mut later, b"")).is_ok());
}

#[test]
fn the_second_process_of_an_id_and_incarnation_is_refused() {
    let mut one = Member::new(1).sealer();
    let mut other = Member { session: Session([40; 8]), ..Member::new(1) }.sealer();
    let mut opener = Member::new(2).opener();
    assert!(open(&mut opener, &seal(&mut one, b"")).is_ok());
    assert_eq!(refused(&mut opener, &seal(&mut other, b"")), DropReason::IdTwice);
    assert!(open(&mut opener, &seal(&mut one, b"")).is_ok());
}

/// A machine that was restored from a snapshot goes on with the session and the numbers of the
/// original, and says other things.
#[test]
fn a_process_and_its_copy_share_no_nonce() {
    let member = Member::new(1);
    let mut sealers = [member.sealer(), member.sealer(), member.sealer()];
    let rings = [ring("a"), ring("ba")];
    let mut nonces = BTreeSet::new();
    for round in 0..500 {
        for sealer in &mut sealers {
            sealer.set_keyring(&rings[round % 2]); // which does not start the count again
            let frame = seal(sealer, b"");
            assert!(nonces.insert([&frame[64..80], &frame[48..56]].concat()));
        }
    }
    assert_eq!(nonces.len(), 1500);
}

#[test]
fn what_one_member_is_told_is_refused_by_every_other() {
    let mut sealer = Member::new(1).sealer();
    let for_two = seal_for(Some(2), &mut sealer, b"");
    assert_eq!(refused(&mut Member::new(3).opener(), &for_two), DropReason::Receiver);
    // Nor is it made to be for another, or for everyone.
    for receiver in [3_u64, 1] {
        let mut changed = for_two.clone();
        changed[24..32].copy_from_slice(&receiver.to_le_bytes());
        assert_eq!(refused(&mut Member::new(3).opener(), &changed), DropReason::Forged);
    }
    assert!(open(&mut Member::new(2).opener(), &for_two).is_ok());
    let for_all = seal(&mut sealer, b"");
    for id in [2, 3] {
        assert!(open(&mut Member::new(id).opener(), &for_all).is_ok());
    }
    assert_eq!(refused(&mut Member::new(1).opener(), &for_all), DropReason::Own, "nor reflected");
}

#[test]
fn a_life_that_cannot_have_begun_leaves_no_trace() {
    const CENTURY: u64 = 3_155_760_000_000_000_000;
    let wall = 1_900_000_000_000_000_000; // in 2030
    let mut opener = Member::new(2).opener();
    opener.refresh(latest_life(wall));
    let sealer = |incarnation| Member { incarnation, ..Member::new(1) }.sealer();
    for incarnation in [u64::MAX, wall + CENTURY + 1] {
        let dropped = dropped_by(&anybody, &mut opener, &seal(&mut sealer(incarnation), b""));
        assert_eq!(dropped.reason, DropReason::FutureLife);
        let own = Member { incarnation, session: Session([40; 8]), ..Member::new(2) };
        let dropped = dropped_by(&anybody, &mut opener, &seal(&mut own.sealer(), b""));
        assert_eq!(dropped.reason, DropReason::FutureLife, "nor does it make us withdraw");
    }
    assert!(open(&mut opener, &seal(&mut sealer(wall), b"")).is_ok(), "its true life is heard");
    // A member that took the last number there is can still be outlived: time goes on.
    assert!(open(&mut opener, &seal(&mut sealer(wall + CENTURY), b"")).is_ok());
    opener.refresh(latest_life(wall + 1));
    assert!(open(&mut opener, &seal(&mut sealer(wall + CENTURY + 1), b"")).is_ok());
    // A clock that was never set refuses nobody whose clock is.
    let mut unset = Member::new(2).opener();
    unset.refresh(latest_life(0));
    assert!(open(&mut unset, &seal(&mut sealer(wall), b"")).is_ok());
}

#[test]
fn an_authentic_refusal_is_told_from_what_a_header_says() {
    let mut opener = Member::new(2).opener();
    let elsewhere = |_| Err(DropReason::Address);
    let mut sealer = Member::new(1).sealer();
    for left in (0..FrameOpener::SPARE).rev() {
        let frame = seal(&mut sealer, b"");
        let dropped = opener.open(&frame, &elsewhere, &mut Vec::new()).unwrap_err();
        assert_eq!(dropped.reason, DropReason::Address);
        assert_eq!(dropped.authentic.map(|opened| opened.sender), Some(NodeId(1)), "{left} left");
        let again = opener.open(&frame, &elsewhere, &mut Vec::new()).unwrap_err();
        assert_eq!(again, DropReason::Address.into(), "each frame is told of once");
    }
    let frame = seal(&mut sealer, b"");
    let dropped = opener.open(&frame, &elsewhere, &mut Vec::new()).unwrap_err();
    assert_eq!(dropped, DropReason::Address.into(), "no more is opened");
    // What a member acts on is opened all the same.
    let other = Member { digest: digest(&["1=a", "2=c"], "le-s"), ..Member::new(1) };
    let dropped = opener.open(&seal(&mut other.sealer(), b""), &elsewhere, &mut Vec::new());
    let dropped = dropped.unwrap_err();
    assert!(dropped.reason == DropReason::List && dropped.authentic.is_some(), "{dropped:?}");
}

#[test]
fn our_own_frames_are_known_by_their_session() {
    let me = Member::new(2);
    assert_eq!(refused(&mut me.opener(), &seal(&mut me.sealer(), b"")), DropReason::Own);
}

#[test]
fn another_process_with_our_id_is_told_from_a_former_life_of_ours() {
    let mut opener = Member::new(2).opener();
    let namesake =
        |incarnation| Member { incarnation, session: Session([50; 8]), ..Member::new(2) }.sealer();
    assert_eq!(refused(&mut opener, &seal(&mut namesake(2), b"")), DropReason::FormerLife);
    let mut same = namesake(3);
    let kept = seal(&mut same, b"");
    assert_eq!(refused(&mut opener, &kept), DropReason::OwnId);
    assert_eq!(refused(&mut opener, &kept), DropReason::Replayed, "each frame says so once");
    assert_eq!(refused(&mut opener, &seal(&mut same, b"")), DropReason::OwnId);
    assert_eq!(refused(&mut opener, &seal(&mut namesake(9), b"")), DropReason::OwnId);
    assert_eq!(refused(&mut opener, &seal(&mut same, b"")), DropReason::FormerLife);
}

#[test]
fn another_digest_is_refused_and_each_frame_says_so_once() {
    let cases = [
        (digest(&["1=a", "2=b", "3=c"], "le-s"), DropReason::List),
        (digest(&["1=a", "2=b"], "le-m"), DropReason::Terms),
        (digest(&["1=a", "2=c"], "le-m"), DropReason::List),
        (ConfigDigest::open("le-s"), DropReason::List),
    ];
    for (digest, reason) in cases {
        let mut opener = Member::new(2).opener();
        let mut other = Member { digest, ..Member::new(1) }.sealer();
        let kept: Vec<_> = (0..3).map(|_| seal(&mut other, b"")).collect();
        for frame in &kept {
            assert_eq!(refused(&mut opener, frame), reason);
        }
        for frame in &kept {
            assert_eq!(refused(&mut opener, frame), DropReason::Replayed);
        }
        assert_eq!(refused(&mut opener, &seal(&mut other, b"")), reason, "it goes on");

        // Started again with the right digest it is a member, and its past is over.
        let repaired = Member { incarnation: 4, session: Session([40; 8]), ..Member::new(1) };
        assert!(open(&mut opener, &seal(&mut repaired.sealer(), b"")).is_ok());
        assert_eq!(refused(&mut opener, &seal(&mut other, b"")), DropReason::FormerLife);
    }
}

#[test]
fn whoever_has_another_list_is_told_apart_even_if_it_is_in_none_of_ours() {
    let mut opener = Member::new(2).opener();
    let other = Member { digest: digest(&["1=a", "2=b", "9=z"], "le-s"), ..Member::new(9) };
    let stranger = |_| Err(DropReason::Stranger);
    let frame = seal(&mut other.sealer(), b"");
    assert_eq!(refused_by(&stranger, &mut opener, &frame), DropReason::List);
    let same = Member::new(9);
    let frame = seal(&mut same.sealer(), b"");
    assert_eq!(refused_by(&stranger, &mut opener, &frame), DropReason::Stranger);
}

/// The steps of a rotation, as a member's key file goes through them.
const ROTATION: [&str; 4] = ["a", "ab", "ba", "b"];

#[test]
fn keys_rotate_without_a_moment_of_silence() {
    let frame = |digits| {
        let member = Member { keyring: ring(digits), ..Member::new(1) };
        seal(&mut member.sealer(), b"")
    };
    let opener = |digits| Member { keyring: ring(digits), ..Member::new(2) }.opener();
    // Members take a step in any order, as long as all have taken the one before.
    for step in ROTATION.windows(2) {
        for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let opened = open(&mut opener(step[to]), &frame(step[from]));
            assert!(opened.is_ok(), "from {} to {}", step[from], step[to]);
        }
    }
    assert_eq!(refused(&mut opener("a"), &frame("ba")), DropReason::Key, "two steps at once");
}

#[test]
fn keys_change_while_members_run_and_no_window_is_forgotten() {
    let (mut sealer, mut opener) = (Member::new(1).sealer(), Member::new(2).opener());
    let mut kept = Vec::new();
    for (number, digits) in (0..).zip(ROTATION) {
        opener.set_keyring(&ring(digits));
        let early = seal(&mut sealer, b"");
        assert_eq!(open(&mut opener, &early).expect("a step behind").0.sequence, 2 * number);
        sealer.set_keyring(&ring(digits));
        let late = seal(&mut sealer, b"");
        assert_eq!(open(&mut opener, &late).expect("in step").0.sequence, 2 * number + 1);
        kept.extend([early, late]);
    }
    assert_eq!(refused(&mut opener, &kept[0]), DropReason::Key, "the old key is gone");
    opener.set_keyring(&ring("ab"));
    for frame in &kept {
        assert_eq!(refused(&mut opener, frame), DropReason::Replayed);
    }
}

#[test]
fn nothing_is_allocated_once_members_know_each_other() {
    let (mut sealer, mut opener) = (Member::new(1).sealer(), Member::new(2).opener());
    let (mut frame, mut body) = (Vec::new(), Vec::new());
    let mut exchange = |count| {
        for _ in 0..count {
            sealer.seal(Kind::Message, None, &[1; BODY_MAX], &mut frame).expect("it fits");
            opener.open(&frame, &anybody, &mut body).expect("it is new");
            opener.open(&frame, &anybody, &mut body).expect_err("it is not");
        }
    };
    exchange(1);
    let used = allocation_counter::measure(|| exchange(3000));
    assert_eq!(used.count_total, 0, "{used:?}");
}

/// The shortest time that this took of many tries, in nanoseconds: what a busy machine adds is not
/// the program's.
fn fastest(mut work: impl FnMut()) -> u64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    };
    let tries = (0..2_000).map(|_| {
        let begun = now();
        work();
        now() - begun
    });
    tries.min().unwrap_or(0)
}

/// What it takes to open a frame is what every replay cost before it was looked up by its header.
#[test]
fn a_replay_is_refused_for_a_fraction_of_what_it_takes_to_open_it() {
    let (mut sealer, mut opener) = (Member::new(1).sealer(), Member::new(2).opener());
    let seen = seal_for(Some(2), &mut sealer, &[7; 64]);
    assert!(open(&mut opener, &seen).is_ok());
    let mut forged = seal_for(Some(2), &mut sealer, &[7; 64]);
    *forged.last_mut().expect("it has a tag") ^= 1;
    let other = seal_for(Some(3), &mut sealer, &[7; 64]);
    let mut body = Vec::new();
    let mut time = |frame: &[u8], expected: DropReason| {
        fastest(|| {
            for _ in 0..16 {
                assert_eq!(opener.open(frame, &anybody, &mut body), Err(expected.into()));
            }
        })
    };
    let opened = time(&forged, DropReason::Forged);
    for (frame, reason) in [(&seen, DropReason::Replayed), (&other, DropReason::Receiver)] {
        let unopened = time(frame, reason);
        let ratio = opened as f64 / unopened.max(1) as f64;
        println!(
            "{}: {} ns unopened, {} ns opened, {ratio:.1} times as long",
            reason.name(),
            unopened / 16,
            opened / 16
        );
        assert!(ratio > 2.0, "{reason}: {ratio}");
    }
}

/// What a nonce of its own costs each frame.
#[test]
fn a_drawn_nonce_costs_no_more_than_a_few_times_the_seal() {
    let mut sealer = Member::new(1).sealer();
    let mut frame = Vec::new();
    let sealing = fastest(|| {
        sealer.seal(Kind::Message, None, &[7; 64], &mut frame).expect("it fits");
    });
    let drawing = fastest(|| {
        Session::draw().expect("the machine has randomness");
    });
    println!("a frame is sealed in {sealing} ns, of which about {drawing} ns draw its nonce");
    assert!(sealing < 1_000_000, "a thousand frames a second: {sealing} ns");
}
