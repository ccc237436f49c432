//! Why a datagram was dropped: exactly one reason each, counted, with what to do.

use bellwether_core::Unheard;
use std::fmt;

/// The reasons, in the order of the checks; see the [module](super). A frame that is opened and not
/// authentic is `Forged`, whatever its header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// Too short for a frame.
    Short,
    /// Longer than any frame.
    Long,
    /// It does not begin like a frame.
    Magic,
    /// A frame of another version of the format.
    Version,
    /// A frame of another group.
    Group,
    /// Sealed with a key that is not in the keyring.
    Key,
    /// A frame for another member.
    Receiver,
    /// Our own frame came back.
    Own,
    /// A frame of an earlier incarnation of its sender.
    FormerLife,
    /// Another process has the id and the incarnation of a known sender.
    IdTwice,
    /// A frame that was received before, or is too old to tell.
    Replayed,
    /// A copy of a last will that was received. Wills are sent several times.
    WillCopy,
    /// A frame of an incarnation that cannot have begun yet.
    FutureLife,
    /// Another process uses our id.
    OwnId,
    /// The sender has another member list.
    List,
    /// The sender has another protocol or other parameters.
    Terms,
    /// The sender is not in the member list. Decided by the caller.
    Stranger,
    /// The sender is in the list, with another address. Decided by the caller.
    Address,
    /// The sender is in the list by a name, which has another address. Decided by the caller.
    Elsewhere,
    /// The sender's name moved, or its id was used elsewhere, a moment ago. Decided by the caller.
    Moved,
    /// Sealed with none of our keys, or changed in transit.
    Forged,
    /// An authentic frame of an unknown kind.
    Kind,
    /// The protocol cannot read the body. Decided by the caller.
    Malformed,
    /// The message carries a term or an incarnation that cannot have been reached yet. Decided by
    /// the caller.
    FutureTerm,
    /// The kernel dropped it: more came than the member read. Counted by the kernel.
    Unread,
}

impl DropReason {
    /// All reasons, in order.
    pub const ALL: [Self; 25] = [
        Self::Short,
        Self::Long,
        Self::Magic,
        Self::Version,
        Self::Group,
        Self::Key,
        Self::Receiver,
        Self::Own,
        Self::FormerLife,
        Self::IdTwice,
        Self::Replayed,
        Self::WillCopy,
        Self::FutureLife,
        Self::OwnId,
        Self::List,
        Self::Terms,
        Self::Stranger,
        Self::Address,
        Self::Elsewhere,
        Self::Moved,
        Self::Forged,
        Self::Kind,
        Self::Malformed,
        Self::FutureTerm,
        Self::Unread,
    ];

    /// Its name in counters and traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
            Self::Magic => "magic",
            Self::Version => "version",
            Self::Group => "group",
            Self::Key => "key",
            Self::Receiver => "receiver",
            Self::Own => "own",
            Self::FormerLife => "former-life",
            Self::IdTwice => "id-twice",
            Self::Replayed => "replayed",
            Self::WillCopy => "will-copy",
            Self::FutureLife => "future-life",
            Self::OwnId => "own-id",
            Self::List => "list",
            Self::Terms => "terms",
            Self::Stranger => "stranger",
            Self::Address => "address",
            Self::Elsewhere => "elsewhere",
            Self::Moved => "moved",
            Self::Forged => "forged",
            Self::Kind => "kind",
            Self::Malformed => "malformed",
            Self::FutureTerm => "future-term",
            Self::Unread => "unread",
        }
    }

    /// The reason with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Short => "too short for a frame; look for other programs that use this port",
            Self::Long => "longer than any frame; look for other programs that use this port",
            Self::Magic => "not a frame; look for other programs that use this port",
            Self::Version => "a frame of another version; run the same release on all members",
            Self::Group => "a frame of another group; give each group its own port or address",
            Self::Key => "sealed with an unknown key; give all members the same key file",
            Self::Forged => "not authentic: forged or damaged in transit; look for its source",
            Self::Kind => "a frame of an unknown kind; run the same release on all members",
            Self::Receiver => {
                "a frame for another member; somebody on the network redirects it to this one"
            }
            Self::Own => "our own frame came back; harmless, usual with multicast",
            Self::FormerLife => {
                "from an earlier incarnation of the sender; late or replayed, \
                 or two processes share an id: give each its own"
            }
            Self::IdTwice => "two processes share an id and an incarnation; give each its own id",
            Self::Replayed => "seen before or too old to tell; a duplicate, or somebody replays",
            Self::WillCopy => "a copy of a last will; harmless, each is sent several times",
            Self::FutureLife => {
                "an incarnation that cannot have begun yet; set the clock of the sender's machine, \
                 or delete its state file, and start it again"
            }
            Self::OwnId => "another process uses our id; give each process its own",
            Self::Stranger => {
                "the sender is not in the member list; add it on all members or stop it"
            }
            Self::Address => {
                "a listed id sends from another address; correct the list on all members, \
                 or stop the process that took the id"
            }
            Self::Elsewhere => {
                "a listed id sends from an address that its name does not have; let the name \
                 resolve to the same address on all members, or stop the process that took the id"
            }
            Self::Moved => {
                "the name of the sender moved, or its id was used elsewhere, a moment ago; \
                 it is heard again when its promises from there are over"
            }
            Self::List => "the sender has another member list; give all members the same",
            Self::Terms => {
                "the sender has another protocol or other parameters; give all members the same"
            }
            Self::Malformed => {
                "the protocol cannot read the message; run the same release on all members"
            }
            Self::FutureTerm => {
                "a term or an incarnation that cannot have been reached yet; stop the sender: it \
                 would use up the numbers of the group"
            }
            Self::Unread => {
                "more came than this member could read, and the kernel dropped it; look for the \
                 source of a flood, or give the machine more processor time"
            }
        })
    }
}

impl std::error::Error for DropReason {}

impl From<Unheard> for DropReason {
    fn from(unheard: Unheard) -> Self {
        match unheard {
            Unheard::Malformed => Self::Malformed,
            Unheard::Future => Self::FutureTerm,
        }
    }
}

/// Counts the dropped datagrams by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters([u64; DropReason::ALL.len()]);

impl Counters {
    /// Counts one more.
    pub fn count(&mut self, reason: DropReason) {
        self.0[reason as usize] += 1;
    }

    /// Sets how many there were for this reason.
    pub fn set(&mut self, reason: DropReason, count: u64) {
        self.0[reason as usize] = count;
    }

    /// How many there were for this reason.
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// All reasons with their counts, zeros too.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().zip(self.0)
    }

    /// How many datagrams were dropped in all.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_reason_is_listed_once_in_order_and_has_its_own_words() {
        for (index, reason) in DropReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
        let names: BTreeSet<_> = DropReason::ALL.into_iter().map(DropReason::name).collect();
        let sentences: BTreeSet<_> = DropReason::ALL.iter().map(ToString::to_string).collect();
        assert_eq!((names.len(), sentences.len()), (DropReason::ALL.len(), DropReason::ALL.len()));
        for name in names {
            assert_eq!(DropReason::named(name).map(DropReason::name), Some(name));
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
        }
    }

    #[test]
    fn each_counter_counts_its_own() {
        let mut counters = Counters::default();
        for (times, reason) in DropReason::ALL.into_iter().enumerate() {
            (0..times).for_each(|_| counters.count(reason));
        }
        for (times, (reason, count)) in counters.iter().enumerate() {
            assert_eq!((count, counters.of(reason)), (times as u64, times as u64));
        }
        assert_eq!(counters.total(), (0..DropReason::ALL.len() as u64).sum::<u64>());
    }
}
