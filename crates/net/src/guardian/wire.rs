//! The messages between member, guardian and watchdog, as packets of a socket pair.
//!
//! **Assumptions.** Packets arrive whole and in order, or not at all: `SOCK_SEQPACKET`.
//!
//! **Promise.** No packet makes either side panic or block: a packet that cannot be sent at once
//! gives [`Sent::Full`], an ended receiver [`Sent::Closed`].
//!
//! Every start of the command is a *run* with a number. A permission is for one run: if it crosses
//! the report that its run has ended, it extends nothing and starts nothing.

use super::Report;
use super::handover::{put_text, text};
use bellwether_core::{Duration, Instant, Malformed, Reader, Term, WireWrite};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::path::PathBuf;

/// The longest packet. Longer plans are sent in pieces.
pub(super) const PACKET: usize = 1 << 14;

/// A request of the member to the guardian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// The run may last until then; start it, with this term, if it does not run.
    Permit { run: u64, until: Instant, term: Option<Term> },
    /// End the run now: the stop signal, and SIGKILL after this time, or earlier if the permission
    /// ends. A later request can only shorten that.
    Stop { run: u64, within: Duration },
    /// Pass a signal on to the command.
    Signal { run: u64, signal: i32 },
    /// From now on this signal asks the command to end.
    StopSignal { signal: i32 },
    /// Ask the neighbours for so long who has the addresses: the member may lead soon.
    Look { within: Duration },
    /// End the command and yourself. The member goes on, or has left: its last will is not sent.
    Dismiss,
}

/// A message of the guardian to the member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The answer to every permission: the run lasts until then unless it is extended.
    Held { run: u64, until: Instant },
    /// A report on the run.
    News { run: u64, report: Report },
    /// The first message: the guardian is ready. Its process id, the cgroup of the command, and
    /// what the system did not permit.
    Ready { pid: u32, cgroup: Option<PathBuf>, notes: Vec<String> },
    /// The scheduling delay of the guardian.
    Late { delay: Duration },
}

/// A message of the guardian to the watchdog: when to kill all unless another message follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadline(pub(super) Instant);

impl Deadline {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_instant(self.0);
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let deadline = Self(input.instant()?);
        input.finish().map(|()| deadline)
    }
}

impl Request {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self {
            Self::Permit { run, until, term } => {
                head(&mut out, 1, *run);
                out.put_instant(*until);
                out.put_u64(term.map_or(0, Term::number));
            }
            Self::Stop { run, within } => {
                head(&mut out, 2, *run);
                out.put_u64(within.as_nanos());
            }
            Self::Signal { run, signal } => {
                head(&mut out, 3, *run);
                out.put_u32(signal.cast_unsigned());
            }
            Self::Dismiss => head(&mut out, 4, 0),
            Self::StopSignal { signal } => {
                head(&mut out, 5, 0);
                out.put_u32(signal.cast_unsigned());
            }
            Self::Look { within } => {
                head(&mut out, 6, 0);
                out.put_u64(within.as_nanos());
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let (tag, run) = (input.u8()?, input.u64()?);
        let request = match tag {
            1 => Self::Permit { run, until: input.instant()?, term: Term::new(input.u64()?) },
            2 => Self::Stop { run, within: Duration::from_nanos(input.u64()?) },
            3 => Self::Signal { run, signal: input.u32()?.cast_signed() },
            4 => Self::Dismiss,
            5 => Self::StopSignal { signal: input.u32()?.cast_signed() },
            6 => Self::Look { within: Duration::from_nanos(input.u64()?) },
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
            Self::Ready { pid, cgroup, notes } => {
                head(&mut out, 8, 0);
                out.put_u32(*pid);
                let cgroup: &[PathBuf] = cgroup.as_slice();
                out.put_list(cgroup, |out, path| put_text(out, path.as_os_str()));
                out.put_list(notes, |out, note| put_text(out, note.as_ref()));
            }
            Self::Late { delay } => {
                head(&mut out, 9, 0);
                out.put_u64(delay.as_nanos());
            }
            Self::News { run, report } => {
                let (tag, number) = match report {
                    Report::Started { pid } => (2, *pid),
                    Report::Exited { code } => (3, code.cast_unsigned()),
                    Report::Signalled { signal } => (4, signal.cast_unsigned()),
                    Report::Ended => (5, 0),
                    Report::NotStarted { .. } => (6, 0),
                    Report::Lost => (7, 0),
                    Report::AddressTaken => (10, 0),
                    Report::AddressInUse { .. } => (11, 0),
                    Report::AddressFailed { .. } => (12, 0),
                    Report::AddressRestored { .. } => (13, 0),
                    Report::Unended { .. } => (14, 0),
                };
                head(&mut out, tag, *run);
                out.put_u32(number);
                if let Report::NotStarted { error: text }
                | Report::AddressInUse { who: text }
                | Report::AddressFailed { error: text }
                | Report::AddressRestored { which: text }
                | Report::Unended { what: text } = report
                {
                    let room = PACKET - out.len();
                    out.extend_from_slice(&text.as_bytes()[..text.len().min(room)]);
                }
            }
        }
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let (tag, run) = (input.u8()?, input.u64()?);
        let own = match tag {
            1 => Some(Self::Held { run, until: input.instant()? }),
            8 => {
                let pid = input.u32()?;
                let cgroup = input.list(8, text)?.pop().map(PathBuf::from);
                let notes = input.list(8, text)?;
                let notes = notes.iter().map(|note| note.to_string_lossy().into_owned()).collect();
                Some(Self::Ready { pid, cgroup, notes })
            }
            9 => Some(Self::Late { delay: Duration::from_nanos(input.u64()?) }),
            _ => None,
        };
        if let Some(own) = own {
            return input.finish().map(|()| own);
        }
        let number = input.u32()?;
        let text = bytes.get(1 + 8 + 4..).ok_or(Malformed)?;
        let written = || String::from_utf8_lossy(text).into_owned();
        let report = match (tag, text) {
            (2, []) => Report::Started { pid: number },
            (3, []) => Report::Exited { code: number.cast_signed() },
            (4, []) => Report::Signalled { signal: number.cast_signed() },
            (5, []) => Report::Ended,
            (6, _) => Report::NotStarted { error: written() },
            (7, []) => Report::Lost,
            (10, []) => Report::AddressTaken,
            (11, _) => Report::AddressInUse { who: written() },
            (12, _) => Report::AddressFailed { error: written() },
            (13, _) => Report::AddressRestored { which: written() },
            (14, _) => Report::Unended { what: written() },
            _ => return Err(Malformed),
        };
        Ok(Self::News { run, report })
    }
}

fn head(out: &mut Vec<u8>, tag: u8, run: u64) {
    out.put_u8(tag);
    out.put_u64(run);
}

/// The result of sending a packet.
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

/// The result of receiving a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Received {
    Packet(Vec<u8>),
    Nothing,
    Closed,
}

/// Receives the next packet without waiting.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rustix::fd::{AsFd, OwnedFd};
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn requests_and_answers_survive_the_wire() {
        let until = Instant::from_nanos(5);
        for request in [
            Request::Permit { run: 1, until, term: None },
            Request::Permit { run: 1, until, term: Term::new(7) },
            Request::Stop { run: 2, within: Duration::from_secs(10) },
            Request::Signal { run: 3, signal: 15 },
            Request::StopSignal { signal: 2 },
            Request::Look { within: Duration::from_millis(30) },
            Request::Dismiss,
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
            Report::AddressTaken,
            Report::AddressInUse { who: "somebody".to_owned() },
            Report::AddressFailed { error: "no such device".to_owned() },
            Report::AddressRestored { which: "10.0.0.7/24@eth0".to_owned() },
            Report::Unended { what: "a process".to_owned() },
        ];
        let news = reports.map(|report| Answer::News { run: 9, report });
        let others = [
            Answer::Held { run: 4, until },
            Answer::Ready { pid: 3, cgroup: Some("/c".into()), notes: vec!["n".to_owned()] },
            Answer::Ready { pid: 3, cgroup: None, notes: Vec::new() },
            Answer::Late { delay: Duration::from_millis(3) },
        ];
        assert_eq!(Deadline::decode(&Deadline(until).encode()), Ok(Deadline(until)));
        for answer in others.iter().chain(&news) {
            assert_eq!(Answer::decode(&answer.encode()).as_ref(), Ok(answer));
        }
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
            let _ = Deadline::decode(&bytes);
        }
    }
}
