//! What member and guardian say to each other, as packets of a socket pair.
//!
//! **Assumptions.** Packets arrive whole and in order, or not at all: `SOCK_SEQPACKET`.
//!
//! **Promise.** No packet makes either side panic or block: what cannot be sent at once is
//! [`Sent::Full`], and who has gone is [`Sent::Closed`].
//!
//! Every start of the command is a *run* with a number. A permission is for one run: one that
//! crosses the news that its run has ended extends nothing and starts nothing.

use super::{Plan, Recording, Report};
use bellwether_core::{Duration, Instant, Malformed, NodeId, Reader, Write};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, send, sendmsg,
};
use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The longest packet. Plans are longer and go in pieces.
const PACKET: usize = 4096;

/// What a member asks of the guardian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The run may last until then; start it if it does not run.
    Permit { run: u64, until: Instant },
    /// End the run now.
    Stop { run: u64 },
    /// Pass a signal on to the command.
    Signal { run: u64, signal: i32 },
}

/// What the guardian answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The run lasts until then unless I hear more; the answer to every permission.
    Held { run: u64, until: Instant },
    /// What there is to report of the run.
    News { run: u64, report: Report },
}

impl Request {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Permit { run, until } => {
                head(&mut out, 1, run);
                out.put_instant(until);
            }
            Self::Stop { run } => head(&mut out, 2, run),
            Self::Signal { run, signal } => {
                head(&mut out, 3, run);
                out.put_u32(signal.cast_unsigned());
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let (tag, run) = (input.u8()?, input.u64()?);
        let request = match tag {
            1 => Self::Permit { run, until: input.instant()? },
            2 => Self::Stop { run },
            3 => Self::Signal { run, signal: input.u32()?.cast_signed() },
            _ => return Err(Malformed),
        };
        input.finish().map(|()| request)
    }
}

impl Answer {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Held { run, until } => {
                head(&mut out, 1, *run);
                out.put_instant(*until);
            }
            Self::News { run, report } => {
                let (tag, number) = match report {
                    Report::Started { pid } => (2, *pid),
                    Report::Exited { code } => (3, code.cast_unsigned()),
                    Report::Signalled { signal } => (4, signal.cast_unsigned()),
                    Report::Ended => (5, 0),
                    Report::NotStarted { .. } => (6, 0),
                    Report::Lost => (7, 0),
                };
                head(&mut out, tag, *run);
                out.put_u32(number);
                if let Report::NotStarted { error } = report {
                    let room = PACKET - out.len();
                    out.extend_from_slice(&error.as_bytes()[..error.len().min(room)]);
                }
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let (tag, run) = (input.u8()?, input.u64()?);
        if tag == 1 {
            let held = Self::Held { run, until: input.instant()? };
            return input.finish().map(|()| held);
        }
        let number = input.u32()?;
        let text = bytes.get(1 + 8 + 4..).ok_or(Malformed)?;
        let report = match (tag, text) {
            (2, []) => Report::Started { pid: number },
            (3, []) => Report::Exited { code: number.cast_signed() },
            (4, []) => Report::Signalled { signal: number.cast_signed() },
            (5, []) => Report::Ended,
            (6, text) => Report::NotStarted { error: String::from_utf8_lossy(text).into_owned() },
            (7, []) => Report::Lost,
            _ => return Err(Malformed),
        };
        Ok(Self::News { run, report })
    }
}

fn head(out: &mut Vec<u8>, tag: u8, run: u64) {
    out.put_u8(tag);
    out.put_u64(run);
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Yes,
    Full,
    Closed,
}

/// Sends a packet without waiting.
pub(super) fn post(socket: BorrowedFd<'_>, packet: &[u8]) -> Sent {
    loop {
        match send(socket, packet, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(_) => return Sent::Yes,
            Err(Errno::INTR) => (),
            Err(Errno::AGAIN | Errno::NOBUFS | Errno::NOMEM) => return Sent::Full,
            Err(_) => return Sent::Closed,
        }
    }
}

/// What was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    Packet(Vec<u8>),
    Nothing,
    Closed,
}

/// Takes the next packet without waiting.
pub(super) fn fetch(socket: BorrowedFd<'_>) -> Received {
    let mut buffer = [0; PACKET];
    loop {
        match recv(socket, &mut buffer[..], RecvFlags::DONTWAIT) {
            Ok((_, 0)) => return Received::Closed,
            Ok((length, _)) => return Received::Packet(buffer[..length].to_vec()),
            Err(Errno::INTR) => (),
            Err(Errno::AGAIN) => return Received::Nothing,
            Err(_) => return Received::Closed,
        }
    }
}

/// Hands the plan and the member's standard input over: first its length together with the file,
/// then the plan in pieces. Waits until there is room for each.
pub(super) fn hand_over(socket: &OwnedFd, plan: &Plan, stdin: BorrowedFd<'_>) -> io::Result<()> {
    let bytes = encode_plan(plan)?;
    let length = (bytes.len() as u64).to_le_bytes();
    let files = [stdin];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut room);
    control.push(SendAncillaryMessage::ScmRights(&files));
    sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    for piece in bytes.chunks(PACKET) {
        send(socket, piece, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// The other end of [`hand_over`].
pub(super) fn take_over(socket: &OwnedFd) -> io::Result<(Plan, OwnedFd)> {
    let mut length = [0; 8];
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut room);
    let mut parts = [IoSliceMut::new(&mut length)];
    let first = recvmsg(socket.as_fd(), &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
    let files = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let stdin = files.flatten().last().filter(|_| first.bytes == 8).ok_or_else(garbled)?;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| garbled())?;
    let (mut bytes, mut buffer) = (Vec::new(), [0; PACKET]);
    while bytes.len() < length {
        match recv(socket, &mut buffer[..], RecvFlags::empty())? {
            (_, 0) => return Err(garbled()),
            (piece, _) => bytes.extend_from_slice(&buffer[..piece]),
        }
    }
    Ok((decode_plan(&bytes).map_err(|_| garbled())?, stdin))
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is no plan of a member")
}

fn encode_plan(plan: &Plan) -> io::Result<Vec<u8>> {
    let longest = plan.args.len().max(plan.env.len());
    if longest > usize::from(u16::MAX) {
        let error = format!("{longest} arguments or variables are too many; at most 65535 pass");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
    }
    let mut out = Vec::new();
    out.put_u64(plan.margin.as_nanos());
    out.put_u64(plan.grace.as_nanos());
    put_text(&mut out, &plan.program);
    out.put_list(&plan.args, |out, text| put_text(out, text));
    out.put_list(&plan.env, |out, (name, value)| {
        put_text(out, name);
        put_text(out, value);
    });
    out.put_list(plan.recording.as_slice(), |out, recording| {
        put_text(out, recording.file.as_os_str());
        put_text(out, recording.group.as_ref());
        out.put_u64(recording.node.0);
        out.put_instant(recording.since);
        out.put_instant(recording.asked);
    });
    Ok(out)
}

fn decode_plan(bytes: &[u8]) -> Result<Plan, Malformed> {
    let mut input = Reader::new(bytes);
    let plan = Plan {
        margin: Duration::from_nanos(input.u64()?),
        grace: Duration::from_nanos(input.u64()?),
        program: text(&mut input)?,
        args: input.list(8, text)?,
        env: input.list(16, |input| Ok((text(input)?, text(input)?)))?,
        recording: input.list(40, recording)?.pop(),
    };
    input.finish().map(|()| plan)
}

fn recording(input: &mut Reader<'_>) -> Result<Recording, Malformed> {
    Ok(Recording {
        file: text(input)?.into(),
        group: text(input)?.into_string().map_err(|_| Malformed)?,
        node: NodeId(input.u64()?),
        since: input.instant()?,
        asked: input.instant()?,
    })
}

fn put_text(out: &mut Vec<u8>, text: &OsStr) {
    out.put_u64(text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn text(input: &mut Reader<'_>) -> Result<OsString, Malformed> {
    let length = usize::try_from(input.u64()?).map_err(|_| Malformed)?;
    Ok(OsString::from_vec(input.bytes(length)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn requests_and_answers_survive_the_wire() {
        let until = Instant::from_nanos(5);
        for request in [
            Request::Permit { run: 1, until },
            Request::Stop { run: 2 },
            Request::Signal { run: 3, signal: 15 },
        ] {
            assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
        let reports = [
            Report::Started { pid: 7 },
            Report::Exited { code: 255 },
            Report::Signalled { signal: 9 },
            Report::Ended,
            Report::NotStarted { error: "no such file".to_owned() },
            Report::Lost,
        ];
        let news = reports.map(|report| Answer::News { run: 9, report });
        for answer in [Answer::Held { run: 4, until }].iter().chain(&news) {
            assert_eq!(Answer::decode(&answer.encode()).as_ref(), Ok(answer));
        }
    }

    #[test]
    fn a_plan_longer_than_a_socket_holds_is_handed_over_whole() {
        let plan = Plan {
            program: OsString::from_vec(vec![b'x', 0xff]),
            args: vec!["a b".into(), OsString::new(), "y".repeat(1 << 20).into()],
            margin: Duration::from_millis(3),
            grace: Duration::MAX,
            env: vec![("BELLWETHER_ID".into(), "1".into())],
            recording: Some(Recording::beside(
                "a.1.jsonl".as_ref(),
                "flock",
                NodeId(7),
                Instant::from_nanos(9),
            )),
        };
        let (mine, yours) = pair();
        let taken = std::thread::spawn(move || take_over(&yours).map(|(plan, _)| plan));
        hand_over(&mine, &plan, io::stdin().as_fd()).unwrap();
        assert_eq!(taken.join().unwrap().unwrap(), plan);
    }

    #[test]
    fn who_has_gone_is_noticed_on_both_ways() {
        let (mine, yours) = pair();
        assert_eq!(fetch(mine.as_fd()), Received::Nothing);
        drop(yours);
        assert_eq!(fetch(mine.as_fd()), Received::Closed);
        assert_eq!(post(mine.as_fd(), b"x"), Sent::Closed);
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Request::decode(&bytes);
            let _ = Answer::decode(&bytes);
            let _ = decode_plan(&bytes);
        }
    }
}
