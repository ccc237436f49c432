//! Datagrams: as they come, and authentic ones that nobody would send.

use bellwether::core::NodeId;
use bellwether_net::frame::{
    BODY_MAX, ConfigDigest, DropReason, FRAME_MAX, FrameOpener, Keyring, Kind, Sealer, Session,
};

const GROUP: &str = "g";

fn keyring() -> Keyring {
    Keyring::parse(&format!("bwk1-{}\n", "5".repeat(64))).expect("it is well formed")
}

fn digest(list: u8, terms: u8) -> ConfigDigest {
    let members = [(NodeId(1), "a:1"), (NodeId(2), if list == 0 { "b:1" } else { "b:2" })];
    ConfigDigest::listed(members, if terms == 0 { "terms" } else { "others" })
}

/// Member 2, in its third incarnation.
fn opener(keyring: &Keyring) -> FrameOpener {
    let mut opener = FrameOpener::new(GROUP, NodeId(2), 3, Session([2; 8]), digest(0, 0), keyring);
    opener.refresh(1 << 60);
    opener
}

fn admits(sender: NodeId) -> Result<(), DropReason> {
    match sender.0 % 8 {
        0 | 1 => Ok(()),
        2 => Err(DropReason::Address),
        3 => Err(DropReason::Elsewhere),
        4 => Err(DropReason::Moved),
        _ => Err(DropReason::Stranger),
    }
}

/// A datagram.
pub(super) fn raw(bytes: &[u8]) -> bool {
    let keyring = keyring();
    let mut opener = opener(&keyring);
    let mut body = vec![7; 3];
    let opened = opener.open(bytes, &admits, &mut body);
    assert!(body.len() <= BODY_MAX);
    if let Err(dropped) = &opened {
        assert!(body.is_empty() || dropped.authentic.is_some(), "what is dropped has no body");
        return dropped.reason > DropReason::Key; // it got past the first checks
    }
    let again = opener.open(bytes, &admits, &mut body).map_err(|dropped| dropped.reason);
    assert_eq!(again, Err(DropReason::Replayed), "a frame is accepted once");
    true
}

fn seal(order: &[u8; ORDER], body: &[u8], keyring: &Keyring) -> Vec<u8> {
    let [kind, sender, receiver, life, session, list, terms, skipped] = *order;
    let kinds = [
        Kind::Message,
        Kind::Beacon,
        Kind::Join,
        Kind::Book,
        Kind::Hearing,
        Kind::Acknowledging,
        Kind::Keys,
    ];
    let lives = [1, 2, 3, 4, 5, 1 << 60, (1 << 60) + 1, u64::MAX];
    let life = lives[usize::from(life) % lives.len()];
    let session = Session([session % 4; 8]);
    let (list, terms) = (list % 2, terms % 2);
    let mut sealer = Sealer::new(
        GROUP,
        NodeId(u64::from(sender % 8)),
        life,
        session,
        digest(list, terms),
        keyring,
    );
    let mut frame = Vec::new();
    for _ in 0..skipped % 4 {
        sealer.seal(Kind::Message, None, &[], &mut frame).expect("it is short");
    }
    let receiver = Some(receiver % 4).filter(|id| *id > 0).map(|id| NodeId(id.into()));
    let kind = kinds[usize::from(kind) % kinds.len()];
    sealer.seal(kind, receiver, &body[..body.len().min(BODY_MAX)], &mut frame).expect("it fits");
    assert!(frame.len() <= FRAME_MAX);
    frame
}

/// The bytes that say what a frame is like.
const ORDER: usize = 8;
/// The bytes of a body.
const BODY: usize = 8;

/// Authentic frames of all kinds, one after the other, each twice: whatever a member says, no frame
/// is accepted twice, and no two processes with one id are heard.
pub(super) fn sealed(bytes: &[u8]) -> bool {
    let keyring = keyring();
    let mut opener = opener(&keyring);
    let (mut body, mut any) = (Vec::new(), false);
    let mut heard: Vec<(u64, u64)> = Vec::new();
    for part in bytes.chunks(ORDER + BODY).take(16) {
        let Some((order, said)) = part.split_first_chunk::<ORDER>() else { break };
        let frame = seal(order, said, &keyring);
        if let Ok(opened) = opener.open(&frame, &admits, &mut body) {
            any = true;
            assert_eq!(body, said, "the body that was sealed");
            let (sender, life) = (opened.sender.0, opened.incarnation);
            if opened.kind != Kind::Join {
                assert!(life <= 1 << 60, "a life that cannot have begun");
                assert!(admits(opened.sender).is_ok() && opened.digest == digest(0, 0));
                let later = heard.iter().any(|(id, known)| *id == sender && *known > life);
                assert!(!later, "a former life was heard");
                heard.push((sender, life));
            }
            let again = opener.open(&frame, &admits, &mut body);
            assert_eq!(again.map_err(|dropped| dropped.reason), Err(DropReason::Replayed));
        }
    }
    any
}

/// Frames of member 1, to all and to member 2.
pub(super) fn raw_seeds() -> Vec<Vec<u8>> {
    let keyring = keyring();
    let orders = [[0, 1, 0, 2, 1, 0, 0, 0], [0, 1, 2, 2, 1, 0, 0, 3], [1, 1, 2, 2, 1, 1, 0, 0]];
    let more = [[2, 7, 2, 1, 3, 1, 1, 0], [3, 1, 0, 2, 1, 0, 0, 1], [0, 2, 0, 4, 1, 0, 0, 0]];
    orders.iter().chain(&more).map(|order| seal(order, b"a message", &keyring)).collect()
}

/// What is said about frames.
pub(super) fn sealed_seeds() -> Vec<Vec<u8>> {
    let frame = |order: [u8; ORDER]| [&order[..], b"8 bytes!"].concat();
    let first = frame([0, 1, 0, 2, 1, 0, 0, 0]);
    let later = frame([0, 1, 0, 4, 2, 0, 0, 0]);
    vec![first.clone(), later.clone(), [first.clone(), later, first].concat()]
}
