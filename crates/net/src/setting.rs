//! The names of a member's settings, as errors mention them.
//!
//! **Promise.** An error of this crate names a setting, never a flag of a program. A program that
//! has flags, keys of a file or fields of a form for them puts those names in with
//! [`NamesSettings::explain`].

use std::fmt;

/// A setting of a member that an error asks to give or to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// Where the members are: [`Builder::peers`](crate::Builder::peers).
    Peers,
    /// Through which members it joins: [`Builder::join_through`](crate::Builder::join_through).
    Join,
    /// Who votes at first: [`Builder::voters`](crate::Builder::voters).
    Voters,
    /// Who of several members leads first: [`Builder::priority`](crate::Builder::priority).
    Priority,
    /// The priorities that all members know: [`Builder::priorities`](crate::Builder::priorities).
    Priorities,
    /// That this member never leads: [`Builder::witness`](crate::Builder::witness).
    Witness,
    /// Which member this is: [`Builder::id`](crate::Builder::id).
    Id,
    /// Where it listens: [`Builder::listen`](crate::Builder::listen).
    Listen,
    /// Where broadcasts go once for all: [`Builder::multicast`](crate::Builder::multicast).
    Multicast,
    /// The file of the group's keys: [`Builder::keyring`](crate::Builder::keyring).
    Key,
    /// That there are no keys: [`Builder::insecure`](crate::Builder::insecure).
    Insecure,
    /// The directory of the state and of the control socket: [`Builder::dir`](crate::Builder::dir)
    /// and [`Builder::control_dir`](crate::Builder::control_dir).
    Dir,
    /// The file of the trace: [`Builder::record`](crate::Builder::record).
    Record,
    /// A parameter of leases: whether a leader needs a majority.
    Mode,
    /// A parameter of leases: whether fencing tokens grow across restarts.
    Tokens,
    /// That this member has never voted: [`Builder::bootstrap`](crate::Builder::bootstrap).
    Bootstrap,
}

impl Setting {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Peers => "peers",
            Self::Join => "join",
            Self::Voters => "voters",
            Self::Priority => "priority",
            Self::Priorities => "priorities",
            Self::Witness => "witness",
            Self::Id => "id",
            Self::Listen => "listen",
            Self::Multicast => "multicast",
            Self::Key => "key",
            Self::Insecure => "insecure",
            Self::Dir => "dir",
            Self::Record => "record",
            Self::Mode => "mode",
            Self::Tokens => "tokens",
            Self::Bootstrap => "bootstrap",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.name())
    }
}

/// An error whose text names settings. Its `Display` writes them as `Setting` does.
pub trait NamesSettings {
    /// The text of the error, in which `name` says what the reader calls a setting.
    fn explain(&self, name: &dyn Fn(Setting) -> String) -> String;
}
