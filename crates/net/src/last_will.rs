//! The last will of a member: what its guardian needs to release a life that has ended.
//!
//! **Source.** The word is MQTT's: there a broker publishes the last will of a client that is gone
//! without a goodbye. Here a member seals one frame in advance, at the start of each life
//! ([`Protocol::last_will`](bellwether_core::Protocol::last_will)), and leaves it with its
//! guardian.
//!
//! **Assumptions.** Both processes have the same file in memory, and nobody else has it. Whoever
//! has it can release a life that still leads: it is as secret as the key of the group.
//!
//! **Promise.** What was written before the member died is found after its death, whole. A will
//! that was only partly written does not count, and the one before it does: it names a former life,
//! or has other addresses. [`LastWill::told_until`] is never earlier than anything that was told
//! outside.
//!
//! The file has three pages: the end of the lease that was last told outside, by the member and by
//! its guardian, and two places for wills, which are written in turn. A page is written by one
//! call. The two ends have a place each, so that neither process overwrites what the other noted.

use bellwether_core::{Instant, Malformed, Reader, WireWrite};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

/// The most members that are told. In a larger group the voters are, and these tell the others who
/// leads next.
pub(crate) const PLACES_MAX: usize = 64;

/// How often a will is sent again.
pub(crate) const WILL_COPIES: usize = 2;

const PAGE: usize = 4096;
/// Where the member notes what it told, and where its guardian does.
const BY_MEMBER: u64 = 0;
#[cfg_attr(not(feature = "guardian"), allow(dead_code, reason = "only a guardian uses it"))]
const BY_GUARDIAN: u64 = 8;
const CHECKSUM: usize = 8;

/// What is sent for a life that has ended, and from where to where.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Will {
    /// The sealed frame.
    pub(crate) frame: Vec<u8>,
    /// The address of the member's socket.
    pub(crate) listen: SocketAddr,
    /// The addresses of others.
    pub(crate) places: Vec<SocketAddr>,
}

/// Not the frame, which is a secret.
impl fmt::Debug for Will {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { listen, places, .. } = self;
        f.debug_struct("Will")
            .field("listen", listen)
            .field("places", places)
            .finish_non_exhaustive()
    }
}

/// A file in memory that a member and its guardian share, and a descriptor of the member's process.
/// Clones are one. [`Prepared::last_will`](crate::Prepared::last_will) makes it.
#[derive(Clone)]
pub struct LastWill(Arc<Shared>);

struct Shared {
    /// The process that it is the will of.
    process: OwnedFd,
    file: File,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    /// How many wills were written.
    count: u64,
    told: u64,
}

impl fmt::Debug for LastWill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastWill").finish_non_exhaustive()
    }
}

impl LastWill {
    /// An empty one, of this very process.
    ///
    /// # Errors
    /// If the system gives no memory for it, or has no descriptors of processes.
    pub(crate) fn new() -> io::Result<Self> {
        let process = pidfd_open(getpid(), PidfdFlags::empty())?;
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create(c"bellwether-will", flags)?;
        ftruncate(&file, 3 * PAGE as u64)?;
        fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK)?;
        let file = File::from(file);
        // Every page is there from now on: no later write needs memory.
        file.write_all_at(&[0; 3 * PAGE], 0)?;
        Ok(Self(Arc::new(Shared { process, file, written: Mutex::default() })))
    }

    /// Notes that the application or another process was told that this member leads until then.
    /// Call it before that is told. No release is sent earlier. A lease that never ends is no
    /// lease.
    pub fn told(&self, until: Instant) {
        let mut written = self.lock();
        let nanos = until.as_nanos();
        if until == Instant::NEVER || nanos <= written.told {
            return;
        }
        written.told = nanos;
        if self.0.file.write_all_at(&nanos.to_le_bytes(), BY_MEMBER).is_err() {
            // It cannot be kept, so the lease must be.
            let _ = self.put(&mut written, &[]);
        }
    }

    /// Replaces the will.
    pub(crate) fn entrust(&self, will: &Will) -> io::Result<()> {
        self.put(&mut self.lock(), &encode(will))
    }

    /// Takes the will back: nothing is to be sent.
    pub(crate) fn revoke(&self) -> io::Result<()> {
        self.put(&mut self.lock(), &[])
    }

    fn put(&self, written: &mut Written, payload: &[u8]) -> io::Result<()> {
        let mut page = Vec::with_capacity(PAGE);
        page.put_u64(written.count + 1);
        page.put_u64(payload.len() as u64);
        page.extend_from_slice(payload);
        page.extend_from_slice(&checksum(&page));
        if page.len() > PAGE {
            return Err(io::Error::other("the will does not fit its page"));
        }
        written.count += 1;
        self.0.file.write_all_at(&page, place(written.count))
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side of the guardian.
#[cfg_attr(not(feature = "guardian"), allow(dead_code, reason = "only a guardian reads it"))]
impl LastWill {
    /// The will of another process, from [`Self::files`].
    pub(crate) fn given([process, file]: [OwnedFd; 2]) -> Self {
        Self(Arc::new(Shared { process, file: file.into(), written: Mutex::default() }))
    }

    /// What the guardian is given: the process and the file.
    pub(crate) fn files(&self) -> [BorrowedFd<'_>; 2] {
        [self.0.process.as_fd(), self.0.file.as_fd()]
    }

    /// Readable once the process that it is the will of has died.
    pub(crate) fn process(&self) -> BorrowedFd<'_> {
        self.0.process.as_fd()
    }

    /// Notes that the guardian is about to tell somebody that the member leads until then. The next
    /// guardian of the same member finds it, too.
    ///
    /// # Errors
    /// If it cannot be noted; then it must not be told.
    pub(crate) fn told_by_guardian(&self, until: Instant) -> io::Result<()> {
        if until == Instant::NEVER || until <= self.end_at(BY_GUARDIAN)? {
            return Ok(()); // that is no lease, or noted
        }
        self.0.file.write_all_at(&until.as_nanos().to_le_bytes(), BY_GUARDIAN)
    }

    /// The latest end of a lease that was told outside.
    pub(crate) fn told_until(&self) -> io::Result<Instant> {
        Ok(self.end_at(BY_MEMBER)?.max(self.end_at(BY_GUARDIAN)?))
    }

    fn end_at(&self, place: u64) -> io::Result<Instant> {
        let mut nanos = [0; 8];
        self.0.file.read_exact_at(&mut nanos, place)?;
        Ok(Instant::from_nanos(u64::from_le_bytes(nanos)))
    }

    /// The will, unless there is none or it was taken back.
    pub(crate) fn read(&self) -> Option<Will> {
        let slots = [1, 2].map(|count| self.slot(place(count)));
        let (_, payload) = slots.into_iter().flatten().max_by_key(|(count, _)| *count)?;
        decode(&payload).ok()
    }

    /// The number of the will at this place, and the will, if it is whole.
    fn slot(&self, at: u64) -> Option<(u64, Vec<u8>)> {
        let mut page = [0; PAGE];
        self.0.file.read_exact_at(&mut page, at).ok()?;
        let mut head = Reader::new(&page);
        let (count, length) = (head.u64().ok()?, head.u64().ok()?);
        let end = usize::try_from(length).ok()?.checked_add(16)?;
        let sum = page.get(end..end.checked_add(CHECKSUM)?)?;
        (sum == checksum(&page[..end])).then(|| (count, page[16..end].to_vec()))
    }
}

/// Where the will of this number is written.
fn place(count: u64) -> u64 {
    PAGE as u64 * (1 + count % 2)
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&Sha256::digest(bytes)[..CHECKSUM]);
    sum
}

fn encode(will: &Will) -> Vec<u8> {
    let mut out = Vec::new();
    put_address(&mut out, will.listen);
    out.put_list(&will.places, |out, place| put_address(out, *place));
    out.extend_from_slice(&will.frame);
    out
}

fn decode(bytes: &[u8]) -> Result<Will, Malformed> {
    let mut input = Reader::new(bytes);
    let listen = address(&mut input)?;
    let places = input.list(ADDRESS, address)?;
    let start = ADDRESS + 2 + places.len() * ADDRESS;
    let frame = bytes.get(start..).filter(|frame| !frame.is_empty()).ok_or(Malformed)?.to_vec();
    Ok(Will { frame, listen, places })
}

/// The bytes of an address.
const ADDRESS: usize = 1 + 16 + 2 + 4;

fn put_address(out: &mut Vec<u8>, address: SocketAddr) {
    let (ip, scope) = match address {
        SocketAddr::V4(v4) => (v4.ip().to_ipv6_mapped(), 0),
        SocketAddr::V6(v6) => (*v6.ip(), v6.scope_id()),
    };
    out.put_flag(address.is_ipv6());
    out.extend_from_slice(&ip.octets());
    out.extend_from_slice(&address.port().to_le_bytes());
    out.put_u32(scope);
}

fn address(input: &mut Reader<'_>) -> Result<SocketAddr, Malformed> {
    let six = input.flag()?;
    let octets: [u8; 16] = input.bytes(16)?.try_into().map_err(|_| Malformed)?;
    let port = u16::from_le_bytes(input.bytes(2)?.try_into().map_err(|_| Malformed)?);
    let scope = input.u32()?;
    let ip = Ipv6Addr::from(octets);
    if six {
        return Ok(SocketAddrV6::new(ip, port, 0, scope).into());
    }
    let ip: Ipv4Addr = ip.to_ipv4_mapped().ok_or(Malformed)?;
    Ok((IpAddr::V4(ip), port).into())
}

#[cfg(test)]
#[cfg(feature = "guardian")]
mod tests {
    use super::*;
    use crate::frame::FRAME_MAX;
    use bellwether_core::Duration;
    use proptest::prelude::*;

    fn will(number: u8, places: usize) -> Will {
        let listen = "[fe80::1%7]:7400".parse().unwrap();
        let four = "192.0.2.7:65535".parse().unwrap();
        let places = (0..places).map(|place| if place % 2 == 0 { listen } else { four });
        Will { frame: vec![number; FRAME_MAX], listen, places: places.collect() }
    }

    /// The same file, as the guardian has it.
    fn guardians(own: &LastWill) -> LastWill {
        LastWill::given(own.files().map(|file| file.try_clone_to_owned().unwrap()))
    }

    #[test]
    fn the_latest_will_is_read_until_it_is_taken_back() {
        let own = LastWill::new().unwrap();
        let theirs = guardians(&own);
        assert_eq!(theirs.read(), None);
        for number in 1..5 {
            own.entrust(&will(number, 3)).unwrap();
            assert_eq!(theirs.read(), Some(will(number, 3)));
        }
        own.revoke().unwrap();
        assert_eq!(theirs.read(), None);
        own.entrust(&will(9, 0)).unwrap();
        assert_eq!(theirs.read(), Some(will(9, 0)));
    }

    #[test]
    fn the_largest_will_fits_its_page_and_a_larger_one_is_refused() {
        let own = LastWill::new().unwrap();
        own.entrust(&will(1, PLACES_MAX)).unwrap();
        assert_eq!(guardians(&own).read(), Some(will(1, PLACES_MAX)));
        assert!(own.entrust(&will(2, 3 * PLACES_MAX)).is_err());
        assert_eq!(guardians(&own).read(), Some(will(1, PLACES_MAX)), "the one before it stays");
    }

    #[test]
    fn of_a_torn_will_the_one_before_it_is_read() {
        let own = LastWill::new().unwrap();
        own.entrust(&will(1, 2)).unwrap();
        own.entrust(&will(2, 2)).unwrap();
        own.0.file.write_all_at(b"torn", place(2) + 100).unwrap();
        assert_eq!(guardians(&own).read(), Some(will(1, 2)));
        own.entrust(&will(3, 2)).unwrap();
        assert_eq!(guardians(&own).read(), Some(will(3, 2)));
    }

    #[test]
    fn what_was_told_outside_only_grows() {
        let own = LastWill::new().unwrap();
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        assert_eq!(guardians(&own).told_until().unwrap(), Instant::ZERO);
        for (told, latest) in [(7, 7), (5, 7), (9, 9)] {
            own.told(at(told));
            assert_eq!(guardians(&own).told_until().unwrap(), at(latest));
        }
        own.told(Instant::NEVER);
        assert_eq!(guardians(&own).told_until().unwrap(), at(9), "that is no lease");
    }

    #[test]
    fn what_a_guardian_told_is_kept_for_the_next_one_beside_what_the_member_told() {
        let (own, at) = (LastWill::new().unwrap(), |ms| Instant::ZERO + Duration::from_millis(ms));
        own.told(at(5));
        for (told, latest) in [(3, 5), (8, 8), (7, 8)] {
            guardians(&own).told_by_guardian(at(told)).unwrap();
            assert_eq!(guardians(&own).told_until().unwrap(), at(latest), "{told}");
        }
        own.told(at(6));
        assert_eq!(guardians(&own).told_until().unwrap(), at(8));
        guardians(&own).told_by_guardian(Instant::NEVER).unwrap();
        assert_eq!(guardians(&own).told_until().unwrap(), at(8), "that is no lease");
    }

    #[test]
    fn nothing_shows_the_frame() {
        let own = LastWill::new().unwrap();
        own.entrust(&will(77, 1)).unwrap();
        assert!(!format!("{own:?} {:?}", own.read()).contains("77"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            length in prop_oneof![0..220u64, Just(u64::MAX), Just(u64::MAX - 16), 4000..4100u64],
        ) {
            let _ = decode(&bytes);
            let own = LastWill::new().unwrap();
            let mut page = Vec::new();
            page.put_u64(1);
            page.put_u64(length);
            page.extend_from_slice(&bytes);
            own.0.file.write_all_at(&page, place(1)).unwrap();
            let _ = own.read();
        }
    }
}
