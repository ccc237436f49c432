//! The kinds of faults, and sets of them.

/// A kind of fault. Each schedule has a random subset of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Receivers lose messages independently.
    Loss,
    /// All receivers lose the same message.
    SharedLoss,
    /// Losses come in bursts.
    Bursts,
    /// Messages have delays far beyond timely.
    Tails,
    /// Messages arrive twice, the second time much later.
    Duplicates,
    /// Messages are delayed for longer than a lease.
    Reordering,
    /// The group is partitioned into two halves.
    Partition,
    /// Links work in one direction only.
    OneWay,
    /// Two processes that are connected with a third are not connected with each other.
    NonTransitive,
    /// A process crashes and restarts within a lease.
    QuickRestart,
    /// A process crashes for longer than a lease, or for good.
    Crash,
    /// The stored state of a process is lost.
    LostDisk,
    /// A clock restarts at zero.
    Reboot,
    /// A process is paused for less than a lease.
    ShortPause,
    /// A process is paused for longer than a lease.
    LongPause,
    /// A process reacts late, but within σ.
    Slow,
    /// A process reacts later than σ.
    VerySlow,
    /// Clocks drift, by up to and exactly ρ, and change their rate.
    Drift,
    /// Clocks have different offsets.
    Offset,
    /// A process is absent at first.
    Join,
    /// A process leaves, and may return.
    Leave,
    /// A leader is asked to resign.
    Resign,
    /// A process is asked to hold an election.
    Campaign,
    /// Messages are delayed or duplicated by many leases.
    Stragglers,
    /// A process restarts with the number of its last incarnation.
    RepeatedLife,
    /// A process restarts with a number below that of its last incarnation.
    LowerLife,
    /// A leader is asked to hand over to another process.
    Transfer,
    /// Some processes vote, and a leader is asked to change which.
    Members,
    /// A process crashes and is released within two leases, as by its guardian.
    Release,
    /// A leader is asked to change lockTime, or how much clocks drift.
    Lengths,
    /// All processes crash at one moment or within a lease, and restart; some lose their disks.
    AllRestart,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 31] = [
        Self::Loss,
        Self::SharedLoss,
        Self::Bursts,
        Self::Tails,
        Self::Duplicates,
        Self::Reordering,
        Self::Partition,
        Self::OneWay,
        Self::NonTransitive,
        Self::QuickRestart,
        Self::Crash,
        Self::LostDisk,
        Self::Reboot,
        Self::ShortPause,
        Self::LongPause,
        Self::Slow,
        Self::VerySlow,
        Self::Drift,
        Self::Offset,
        Self::Join,
        Self::Leave,
        Self::Resign,
        Self::Campaign,
        Self::Stragglers,
        Self::RepeatedLife,
        Self::LowerLife,
        Self::Transfer,
        Self::Members,
        Self::Release,
        Self::Lengths,
        Self::AllRestart,
    ];

    /// Kinds with a random stream of their own, because they were added later: without them the
    /// schedules are the same as before.
    pub const LATER: [Self; 4] =
        [Self::Campaign, Self::Stragglers, Self::RepeatedLife, Self::LowerLife];

    /// Kinds that were added after those, with a stream of their own again.
    pub const LATEST: [Self; 1] = [Self::Transfer];

    /// Kinds that were added after those, each with a stream of its own.
    pub(crate) const ALONE: [Self; 4] =
        [Self::Members, Self::Release, Self::Lengths, Self::AllRestart];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::SharedLoss => "shared-loss",
            Self::Bursts => "bursts",
            Self::Tails => "tails",
            Self::Duplicates => "duplicates",
            Self::Reordering => "reordering",
            Self::Partition => "partition",
            Self::OneWay => "one-way",
            Self::NonTransitive => "non-transitive",
            Self::QuickRestart => "quick-restart",
            Self::Crash => "crash",
            Self::LostDisk => "lost-disk",
            Self::Reboot => "reboot",
            Self::ShortPause => "short-pause",
            Self::LongPause => "long-pause",
            Self::Slow => "slow",
            Self::VerySlow => "very-slow",
            Self::Drift => "drift",
            Self::Offset => "offset",
            Self::Join => "join",
            Self::Leave => "leave",
            Self::Resign => "resign",
            Self::Campaign => "campaign",
            Self::Stragglers => "stragglers",
            Self::RepeatedLife => "repeated-life",
            Self::LowerLife => "lower-life",
            Self::Transfer => "transfer",
            Self::Members => "members",
            Self::Release => "release",
            Self::Lengths => "lengths",
            Self::AllRestart => "all-restart",
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultKinds(u32);

impl FaultKinds {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// All kinds.
    pub const ALL: Self = Self((1 << FaultKind::ALL.len()) - 1);

    /// The set of these kinds.
    pub const fn of(kinds: &[FaultKind]) -> Self {
        let (mut set, mut index) = (0, 0);
        while index < kinds.len() {
            set |= 1 << kinds[index] as u32;
            index += 1;
        }
        Self(set)
    }

    /// Whether it contains this kind.
    pub fn has(self, kind: FaultKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }

    /// Whether it contains any of these.
    pub fn has_any(self, kinds: &[FaultKind]) -> bool {
        self.0 & Self::of(kinds).0 != 0
    }

    /// Adds this kind.
    pub fn with(self, kind: FaultKind) -> Self {
        Self(self.0 | 1 << kind as u32)
    }

    /// Removes these kinds.
    pub const fn without(self, kinds: &[FaultKind]) -> Self {
        Self(self.0 & !Self::of(kinds).0)
    }
}

/// How often each kind occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences([u64; FaultKind::ALL.len()]);

impl Occurrences {
    /// Counts one more.
    pub fn count(&mut self, kind: FaultKind) {
        self.0[kind as usize] += 1;
    }

    /// The count of this kind.
    pub fn of(&self, kind: FaultKind) -> u64 {
        self.0[kind as usize]
    }

    /// Adds other counts.
    pub fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(mine, others)| *mine += others);
    }

    /// All kinds with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (FaultKind, u64)> {
        FaultKind::ALL.into_iter().zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_place_and_its_name() {
        for (index, kind) in FaultKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert!(FaultKinds::ALL.has(kind) && !FaultKinds::ALL.without(&[kind]).has(kind));
            let same = FaultKind::ALL.iter().filter(|other| other.name() == kind.name());
            assert_eq!(same.count(), 1);
        }
    }
}
