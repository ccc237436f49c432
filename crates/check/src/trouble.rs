//! The kinds of trouble, and sets of them.

/// A kind of trouble. A schedule has some of them and not the others, by coin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// Receivers lose messages, each for itself.
    Loss,
    /// All receivers lose the same message.
    SharedLoss,
    /// Losses come in bursts.
    Bursts,
    /// Messages take far longer than is timely.
    Tails,
    /// Messages arrive twice, the second time much later.
    Duplicates,
    /// Messages are held up for longer than a lease.
    Reordering,
    /// The group falls into two that do not hear each other.
    Partition,
    /// Some hear others that do not hear them.
    OneWay,
    /// Two that hear a third do not hear each other.
    NonTransitive,
    /// A process crashes and is back before a lease is over.
    QuickRestart,
    /// A process crashes and is gone for longer than a lease, or for good.
    Crash,
    /// What a process stored is lost.
    LostDisk,
    /// A clock begins again at nought.
    Reboot,
    /// A process stands still for less than a lease.
    ShortPause,
    /// A process stands still for longer than a lease.
    LongPause,
    /// A process reacts late, but within σ.
    Slow,
    /// A process reacts later than σ.
    VerySlow,
    /// Clocks run fast or slow, up to ρ and exactly at ρ, and change.
    Drift,
    /// Clocks read different things from the beginning.
    Offset,
    /// A process is absent at first.
    Join,
    /// A process leaves, and perhaps comes back.
    Leave,
    /// A leader is asked to resign.
    Resign,
    /// A process is asked to hold an election.
    Campaign,
    /// Messages are held up or doubled for many leases.
    Stragglers,
    /// A process begins again with the number of its former life.
    RepeatedLife,
    /// A process begins again with a number below that of its former life.
    LowerLife,
}

impl Trouble {
    /// All kinds.
    pub const ALL: [Self; 26] = [
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
    ];

    /// Those that are drawn from luck of their own: a regime without them draws the same schedules
    /// as before there were any.
    pub const LATER: [Self; 4] =
        [Self::Campaign, Self::Stragglers, Self::RepeatedLife, Self::LowerLife];

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
        }
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Troubles(u32);

impl Troubles {
    /// None.
    pub const NONE: Self = Self(0);
    /// All.
    pub const ALL: Self = Self((1 << Trouble::ALL.len()) - 1);

    /// These.
    pub const fn of(kinds: &[Trouble]) -> Self {
        let (mut set, mut index) = (0, 0);
        while index < kinds.len() {
            set |= 1 << kinds[index] as u32;
            index += 1;
        }
        Self(set)
    }

    /// Whether this kind is in it.
    pub fn has(self, kind: Trouble) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }

    /// Whether any of these is in it.
    pub fn has_any(self, kinds: &[Trouble]) -> bool {
        self.0 & Self::of(kinds).0 != 0
    }

    /// With this kind too.
    pub fn with(self, kind: Trouble) -> Self {
        Self(self.0 | 1 << kind as u32)
    }

    /// Without these.
    pub const fn without(self, kinds: &[Trouble]) -> Self {
        Self(self.0 & !Self::of(kinds).0)
    }
}

/// How often each kind occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrences([u64; Trouble::ALL.len()]);

impl Occurrences {
    /// Once more.
    pub fn count(&mut self, kind: Trouble) {
        self.0[kind as usize] += 1;
    }

    /// How often this kind did.
    pub fn of(&self, kind: Trouble) -> u64 {
        self.0[kind as usize]
    }

    /// And these.
    pub fn add(&mut self, others: &Self) {
        self.0.iter_mut().zip(others.0).for_each(|(mine, others)| *mine += others);
    }

    /// All kinds and how often they occurred.
    pub fn iter(&self) -> impl Iterator<Item = (Trouble, u64)> {
        Trouble::ALL.into_iter().zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_place_and_its_name() {
        for (index, kind) in Trouble::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
            assert!(Troubles::ALL.has(kind) && !Troubles::ALL.without(&[kind]).has(kind));
            let same = Trouble::ALL.iter().filter(|other| other.name() == kind.name());
            assert_eq!(same.count(), 1);
        }
    }
}
