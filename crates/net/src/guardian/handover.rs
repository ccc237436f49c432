//! The start message of a watchdog and a guardian, as packets of a socket pair: first the length
//! together with the files, then the rest in pieces.
//!
//! **Assumptions.** Packets arrive whole and in order, or not at all: `SOCK_SEQPACKET`.
//!
//! **Promise.** No packet makes the receiver panic.

use super::signals::Mask;
use super::wire::PACKET;
use super::{Plan, Recording};
use crate::address::Address;
use bellwether_core::{Duration, Malformed, NodeId, Reader, WireWrite};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recv, recvmsg, send, sendmsg,
};
use std::ffi::{CStr, OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The most files: the command's standard input, the member's socket, the member's process and its
/// last will, the lock of the cgroup.
const FILES: usize = 5;

/// The role of the started process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Watchdog,
    Guardian,
    /// A guardian of a member that has no command: it keeps the member's last will.
    WithoutCommand,
}

impl Role {
    /// Its process name, of at most 15 bytes.
    pub(super) fn name(self) -> &'static CStr {
        match self {
            Self::Watchdog => c"bw-watchdog",
            Self::Guardian | Self::WithoutCommand => c"bw-guardian",
        }
    }
}

/// The start message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HandOver {
    pub(super) role: Role,
    pub(super) plan: Plan,
    /// The signal mask of the command.
    pub(super) mask: Mask,
    /// The cgroup of the command, if it has one.
    pub(super) cgroup: Option<PathBuf>,
    /// Notes on what the system did not permit so far.
    pub(super) notes: Vec<String>,
    /// Whether the member's process and its last will are among the files.
    pub(super) will: bool,
}

impl HandOver {
    /// Sends the message; blocks until there is room for each piece.
    pub(super) fn send(&self, socket: &OwnedFd, files: &[BorrowedFd<'_>]) -> io::Result<()> {
        let bytes = self.encode()?;
        let length = (bytes.len() as u64).to_le_bytes();
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
        let mut control = SendAncillaryBuffer::new(&mut room);
        control.push(SendAncillaryMessage::ScmRights(files));
        sendmsg(socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
        for piece in bytes.chunks(PACKET) {
            send(socket, piece, SendFlags::NOSIGNAL)?;
        }
        Ok(())
    }

    /// Receives what [`HandOver::send`] sent.
    pub(super) fn receive(socket: &OwnedFd) -> io::Result<(Self, Vec<OwnedFd>)> {
        let mut length = [0; 8];
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
        let mut control = RecvAncillaryBuffer::new(&mut room);
        let mut parts = [IoSliceMut::new(&mut length)];
        let first = recvmsg(socket.as_fd(), &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let files = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        let files: Vec<OwnedFd> = files.flatten().collect();
        let length = usize::try_from(u64::from_le_bytes(length)).map_err(|_| garbled())?;
        if first.bytes != 8 || files.len() < 2 {
            return Err(garbled());
        }
        let (mut bytes, mut buffer) = (Vec::new(), [0; PACKET]);
        while bytes.len() < length {
            match recv(socket, &mut buffer[..], RecvFlags::empty())? {
                (_, 0) => return Err(garbled()),
                (piece, _) => bytes.extend_from_slice(&buffer[..piece]),
            }
        }
        Ok((Self::decode(&bytes).map_err(|_| garbled())?, files))
    }

    pub(super) fn encode(&self) -> io::Result<Vec<u8>> {
        let plan = &self.plan;
        let longest = plan.args.len().max(plan.env.len());
        if longest > usize::from(u16::MAX) {
            let error =
                format!("{longest} arguments or variables are too many; at most 65535 pass");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut out = Vec::new();
        out.put_u8(match self.role {
            Role::Watchdog => 1,
            Role::Guardian => 2,
            Role::WithoutCommand => 3,
        });
        out.put_flag(self.will);
        out.put_u64(self.mask.0);
        let cgroup: &[PathBuf] = self.cgroup.as_slice();
        out.put_list(cgroup, |out, path| put_text(out, path.as_os_str()));
        out.put_list(&self.notes, |out, note| put_text(out, note.as_ref()));
        out.put_u64(plan.margin.as_nanos());
        out.put_u64(plan.grace.as_nanos());
        out.put_u32(plan.stop_signal.cast_unsigned());
        out.put_u32(plan.nice.cast_unsigned());
        put_text(&mut out, &plan.program);
        out.put_list(&plan.args, |out, text| put_text(out, text));
        out.put_list(&plan.env, |out, (name, value)| {
            put_text(out, name);
            put_text(out, value);
        });
        out.put_u64(plan.probe.as_nanos());
        out.put_u64(plan.believed.as_nanos());
        out.put_list(&plan.addresses, |out, address| put_text(out, address.to_string().as_ref()));
        let file: &[PathBuf] = plan.leader_file.as_slice();
        out.put_list(file, |out, path| put_text(out, path.as_os_str()));
        out.put_flag(plan.pass_stdin);
        out.put_list(plan.recording.as_slice(), |out, recording| {
            put_text(out, recording.file.as_os_str());
            put_text(out, recording.group.as_ref());
            out.put_u64(recording.node.0);
            out.put_instant(recording.since);
            out.put_instant(recording.asked);
        });
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let role = match input.u8()? {
            1 => Role::Watchdog,
            2 => Role::Guardian,
            3 => Role::WithoutCommand,
            _ => return Err(Malformed),
        };
        let will = input.flag()?;
        let mask = Mask(input.u64()?);
        let cgroup = input.list(8, text)?.pop().map(PathBuf::from);
        let notes = input.list(8, text)?;
        let plan = Plan {
            margin: Duration::from_nanos(input.u64()?),
            grace: Duration::from_nanos(input.u64()?),
            stop_signal: input.u32()?.cast_signed(),
            nice: input.u32()?.cast_signed(),
            program: text(&mut input)?,
            args: input.list(8, text)?,
            env: input.list(16, |input| Ok((text(input)?, text(input)?)))?,
            probe: Duration::from_nanos(input.u64()?),
            believed: Duration::from_nanos(input.u64()?),
            addresses: input.list(8, address)?,
            leader_file: input.list(8, text)?.pop().map(PathBuf::from),
            pass_stdin: input.flag()?,
            recording: input.list(40, recording)?.pop(),
        };
        let notes = notes.iter().map(|note| note.to_string_lossy().into_owned()).collect();
        input.finish().map(|()| Self { role, plan, mask, cgroup, notes, will })
    }
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

fn address(input: &mut Reader<'_>) -> Result<Address, Malformed> {
    text(input)?.to_str().and_then(|text| text.parse().ok()).ok_or(Malformed)
}

fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is not the start message of a member")
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &OsStr) {
    out.put_u64(text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn text(input: &mut Reader<'_>) -> Result<OsString, Malformed> {
    let length = usize::try_from(input.u64()?).map_err(|_| Malformed)?;
    Ok(OsString::from_vec(input.bytes(length)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Instant;
    use proptest::prelude::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    #[test]
    fn a_plan_longer_than_a_socket_holds_is_handed_over_whole() {
        let plan = Plan {
            program: OsString::from_vec(vec![b'x', 0xff]),
            args: vec!["a b".into(), OsString::new(), "y".repeat(1 << 20).into()],
            margin: Duration::from_millis(3),
            grace: Duration::MAX,
            stop_signal: 2,
            nice: -5,
            env: vec![("BELLWETHER_ID".into(), "1".into())],
            addresses: ["10.0.0.7/24@eth0", "fd00::7/64@eth1"]
                .map(|it| it.parse().unwrap())
                .to_vec(),
            probe: Duration::from_millis(20),
            believed: Duration::from_millis(40),
            leader_file: Some("/run/web.leader".into()),
            pass_stdin: true,
            recording: Some(Recording::beside(
                "a.1.jsonl".as_ref(),
                "flock",
                NodeId(7),
                Instant::from_nanos(9),
            )),
        };
        let given = HandOver {
            role: Role::Guardian,
            plan,
            mask: Mask(7),
            cgroup: Some("/sys/fs/cgroup/x".into()),
            notes: vec!["not permitted".to_owned()],
            will: true,
        };
        let (mine, yours) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        let taken = std::thread::spawn(move || HandOver::receive(&yours));
        let stdin = io::stdin();
        given.send(&mine, &[stdin.as_fd(), mine.as_fd()]).unwrap();
        let (taken, files) = taken.join().unwrap().unwrap();
        assert_eq!((taken, files.len()), (given, 2));
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = HandOver::decode(&bytes);
        }
    }
}
